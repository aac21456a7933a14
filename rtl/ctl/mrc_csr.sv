// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Registers of the NIC on AXI4-Lite and the counters (both in mrc_csr_regs), the queue of EV
/// events, the interrupts, the states of the QPs, and the broadcast of table rows to the blocks, by
/// software or by the NIC itself (a peer's port mask, a QP in error). One write and one read at a
/// time, each answered whatever the blocks do. A write to TBL_CMD is a command: taken at once,
/// judged in its turn, and CMD_STATUS says when every block has taken the row. Wrong addresses,
/// writes to read-only registers and to those of a command that is not done get SLVERR. Masks and
/// errors are taken in every cycle but that in which a command is judged, whatever a table write
/// waits for; of a peer the newest mask is broadcast, not each. It does not look at rows of other
/// tables than QP_CTX and QP_STATE, and it has room for one command. Contract:
/// docs/design/blocks/ctl/csr.md, registers: cmodel/spec/csr.yaml.
module mrc_csr
  import mrc_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned EvsPerQp = 16,
    parameter int unsigned MaxMpr = 128,
    parameter int unsigned WqeDepth = 8,
    parameter int unsigned NumProfiles = 2,
    parameter int unsigned NumDests = 4,
    parameter int unsigned MaxWimm = 32,
    parameter int unsigned TickCycles = 128,
    parameter int unsigned TickParts = 1,
    parameter int unsigned NumAcks = 12,
    localparam int unsigned NumQperrs = 5
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input logic [NumPlanes-1:0] port_up_i,
    input axil_req_t axil_i,
    output axil_rsp_t axil_o,
    input nic_pulses_t pulses_i,
    input logic evev_valid_i,
    output logic evev_ready_o,
    input evev_t evev_i,
    input logic pmask_valid_i,
    output logic pmask_ready_o,
    input pmask_t pmask_i,
    // tx_inflight, rx_track, rx_reorder, tx_segment, the host.
    input logic [NumQperrs-1:0] qperr_valid_i,
    output logic [NumQperrs-1:0] qperr_ready_o,
    input qperr_t [NumQperrs-1:0] qperr_i,
    output logic evp_valid_o,
    input logic evp_ready_i,
    output evp_t evp_o,
    input logic evr_valid_i,
    output logic evr_ready_o,
    input evr_t evr_i,
    output logic [31:0] tick_o,
    output logic irq_o,
    output logic fence_go_o,
    input logic [31:0] fence_i,
    output cfg_t cfg_o,
    input logic [NumAcks-1:0] cfg_ack_i,
    output nic_csr_t csr_o
);

  localparam logic [1:0] RespOkay = 2'd0;
  localparam logic [1:0] RespSlvErr = 2'd2;
  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned DestW = $clog2(NumDests);

  if (NumQps < 2 || NumQps != 2 ** QpW || NumDests < 2 || NumDests != 2 ** DestW)
  begin : gen_bad_params
    $error("%m: NumQps and NumDests must be powers of two, at least 2");
  end
  if (MaxWimm < 1 || MaxWimm > 255 || MaxMpr < 128 || NumPlanes > MaxPlanes) begin : gen_bad_sizes
    $error("%m: MaxWimm must be 1 to 255, MaxMpr at least 128, NumPlanes at most 8");
  end

  csr_csr_t own;
  csr_status_t status;
  logic [511:0] tbl_data;
  assign tbl_data = own.tbl_data;

  // ---- what blocks and host report: port masks of peers, QPs in error

  logic pmask_v, pmask_pop;
  pmask_t pmask;
  logic [NumQperrs-1:0] qperr_v, qperr_pop;
  qperr_t [NumQperrs-1:0] qperr_head;
  qperr_t qperr;
  logic [NumQperrs:0][1:0] unused_counts;

  mrc_fifo #(
      .T(pmask_t),
      .Depth(2)
  ) u_pmask (
      .clk_i,
      .rst_ni,
      .valid_i(pmask_valid_i),
      .ready_o(pmask_ready_o),
      .data_i(pmask_i),
      .valid_o(pmask_v),
      .ready_i(pmask_pop),
      .data_o(pmask),
      .count_o(unused_counts[NumQperrs])
  );

  for (genvar i = 0; i < NumQperrs; i++) begin : gen_qperr
    mrc_fifo #(
        .T(qperr_t),
        .Depth(2)
    ) u_qperr (
        .clk_i,
        .rst_ni,
        .valid_i(qperr_valid_i[i]),
        .ready_o(qperr_ready_o[i]),
        .data_i(qperr_i[i]),
        .valid_o(qperr_v[i]),
        .ready_i(qperr_pop[i]),
        .data_o(qperr_head[i]),
        .count_o(unused_counts[i])
    );
  end

  always_comb begin
    qperr = qperr_head[0];
    for (int unsigned i = NumQperrs; i > 0; i--) begin
      if (qperr_v[i-1]) begin
        qperr = qperr_head[i-1];
      end
    end
  end

  // ---- write: what it may do

  logic aw_full_q, aw_full_d, w_full_q, w_full_d, aw_take, w_take;
  logic [13:0] awaddr_q;
  logic [31:0] wdata_q, wvalue;
  logic [3:0] wstrb_q;
  logic bvalid_q, bvalid_d, w_go, w_hit, w_cmd, w_held, w_evp, w_evp_busy, w_irq, w_fence, w_store;
  logic [1:0] bresp_q, bresp_d;
  logic busy_q, busy_d, cmd_take, cmd_end;

  assign aw_take = axil_i.awvalid && !aw_full_q;
  assign w_take = axil_i.wvalid && !w_full_q;
  assign w_go = aw_full_q && w_full_q && !bvalid_q;
  assign w_cmd = awaddr_q == CsrTblCmd[15:2];
  assign w_evp = w_hit && awaddr_q == CsrEvpCmd[15:2];
  assign w_irq = awaddr_q == CsrIrq[15:2];
  assign w_fence = awaddr_q == CsrFence[15:2];
  // What a command consists of stays while it is busy. Bug 67: not so TBL_DATA.
  assign w_held = busy_q && (w_cmd || awaddr_q == CsrQpAttr[15:2]
      || (awaddr_q[13:4] == CsrTblData0[15:6] && bug_i != BugDataWhileBusy));
  assign w_store = w_go && w_hit && !w_held && !w_evp_busy;
  assign cmd_take = w_store && w_cmd;

  // ---- table writes: who is next

  typedef enum logic [1:0] {
    TIdle,
    TCfg,
    TCfgEnd
  } tstate_e;

  tstate_e tstate_q, tstate_d;
  logic cfg_req_q, cfg_req_d, cmd_go;
  logic take_pmask, take_qperr, error_qp;
  logic notify_any, heard_any, go_notify, go_heard;
  logic [QpW-1:0] notify_qp;
  logic [DestW-1:0] heard_dest;
  logic turn_q, turn_d;  // software's command goes before the next mask
  logic int_q, int_d;  // the table write under way is the NIC's own
  cfg_table_e int_table_q;
  logic [CsrTblCmdIndexWidth-1:0] int_index_q;
  logic [7:0] int_value_q;

  assign go_notify = tstate_q == TIdle && notify_any;
  assign go_heard = tstate_q == TIdle && !notify_any && heard_any && !(turn_q && busy_q);
  assign cmd_go = tstate_q == TIdle && !notify_any && (turn_q || !heard_any) && busy_q;
  assign turn_d = go_heard || (turn_q && !cmd_go);
  assign take_pmask = pmask_v && !cmd_go;
  assign take_qperr = qperr_v != '0 && !cmd_go;
  assign pmask_pop = take_pmask;
  assign qperr_pop = take_qperr ? qperr_v & (~qperr_v + NumQperrs'(1)) : '0;

  // ---- states of the QPs, and what a table write may do to them

  localparam logic [11:0] NeedInit = (12'd1 << QpAttrEvProfile) | (12'd1 << QpAttrCcProfile);
  localparam logic [11:0] NeedRtr = (12'd1 << QpAttrPath) | (12'd1 << QpAttrRqPsn)
      | (12'd1 << QpAttrMaxWimmDest) | (12'd1 << QpAttrMprDest) | (12'd1 << QpAttrCaps);
  localparam logic [11:0] NeedRts = (12'd1 << QpAttrSqPsn) | (12'd1 << QpAttrMaxWimm)
      | (12'd1 << QpAttrMpr) | (12'd1 << QpAttrTimeout) | (12'd1 << QpAttrRetryCnt);

  function automatic logic beyond(logic [7:0] x, int unsigned top);
    return x == 8'd0 || 32'(x) > top;
  endfunction

  // {cq_status_e, qp_state_e} of QPs: of the command, of what a block reports, of QP_SEL.
  logic [2:0][10:0] qp_row;
  logic [1:0][NumPlanes-1:0] peer;  // of the mask that is broadcast, of QP_SEL
  tbl_qp_ctx_t ctx;
  logic [3:0] cmd_table;
  logic [CsrTblCmdIndexWidth-1:0] cmd_index;
  logic [2:0] cmd_target, cmd_state;
  logic [11:0] missing, cmd_detail;
  cmd_code_e cmd_code;
  logic bad_index, bad_move, bad_value, cmd_good, cmd_moves;
  qp_attr_e bad_attr;
  logic [15:0] cmd_status_q;  // {detail, code}

  assign ctx = tbl_data;
  assign cmd_table = own.tbl_table;
  assign cmd_index = own.tbl_index;
  assign cmd_target = ctx.state;
  assign cmd_state = qp_row[0][2:0];

  always_comb begin
    bad_index = 1'b0;
    bad_move = 1'b0;
    missing = 12'd0;
    bad_value = 1'b0;
    bad_attr = QpAttrEvProfile;
    if (cmd_go) begin
      unique case (cmd_table)
        CfgTableQpCtx: begin
          bad_index = 32'(cmd_index) >= NumQps;
          unique case (cmd_target)
            QpStateReset: begin
            end
            QpStateInit: begin
              bad_move = cmd_state != QpStateReset && cmd_state != QpStateInit;
              missing = NeedInit & ~own.qp_attr;
              bad_value = 1'b1;
              if (32'(ctx.profile) >= NumProfiles || 32'(ctx.backup) >= EvsPerQp / NumPlanes) begin
                bad_attr = QpAttrEvProfile;
              end else if (32'(ctx.dest) >= NumDests) begin
                bad_attr = QpAttrCcProfile;
              end else begin
                bad_value = 1'b0;
              end
            end
            QpStateRtr: begin
              bad_move = cmd_state != QpStateInit;
              missing = NeedRtr & ~own.qp_attr;
              bad_value = 1'b1;
              if (ctx.mtu > 3'd4) begin
                bad_attr = QpAttrPath;
              end else if (32'(ctx.max_wimm_dest) > MaxWimm) begin
                bad_attr = QpAttrMaxWimmDest;
              end else if (beyond(ctx.mpr_dest, MaxMpr / 128)) begin
                bad_attr = QpAttrMprDest;
              end else begin
                bad_value = 1'b0;
              end
            end
            QpStateRts: begin
              // Bug 52: from any state.
              bad_move = cmd_state != QpStateRtr && bug_i != BugErrorToRts;
              missing = NeedRts & ~own.qp_attr;
              bad_value = 1'b1;
              if (32'(ctx.max_wimm) > MaxWimm) begin
                bad_attr = QpAttrMaxWimm;
              end else if (beyond(ctx.mpr, MaxMpr / 128)) begin
                bad_attr = QpAttrMpr;
              end else if (ctx.timeout > 5'd24) begin
                bad_attr = QpAttrTimeout;
              end else if (ctx.retry_exp > 5'd25) begin
                bad_attr = QpAttrRetryCnt;
              end else begin
                bad_value = 1'b0;
              end
            end
            default: bad_move = 1'b1;
          endcase
        end
        CfgTableQpState: begin
          bad_index = 32'(cmd_index) >= NumQps;
          bad_move = cmd_target != QpStateReset
              && !(cmd_target == QpStateError && cmd_state != QpStateReset);
        end
        CfgTableQpMpr, CfgTableEvState, CfgTableQpClass, CfgTableQpQpn:
        bad_index = 32'(cmd_index) >= NumQps;
        CfgTableEv, CfgTableMr, CfgTableCcProfile, CfgTableCcCtx, CfgTableEvGen,
            CfgTablePeerPorts: begin
        end
        default: bad_index = 1'b1;
      endcase
    end
  end

  always_comb begin
    cmd_code = CmdCodeOk;
    cmd_detail = 12'd0;
    if (bad_index) begin
      cmd_code = CmdCodeBadIndex;
    end else if (bad_move) begin
      cmd_code = CmdCodeBadTransition;
      cmd_detail = {9'd0, cmd_state};
    end else if (missing != 12'd0) begin
      cmd_code = CmdCodeMissingAttr;
      cmd_detail = missing;
    end else if (bad_value) begin
      cmd_code = CmdCodeBadValue;
      cmd_detail = {8'd0, bad_attr};
    end
  end

  assign cmd_good = cmd_go && cmd_code == CmdCodeOk;
  assign cmd_moves = cmd_good && (cmd_table == CfgTableQpCtx || cmd_table == CfgTableQpState);

  logic [2:0] error_state;
  assign error_state = qp_row[1][2:0];
  // The host may name a QP that there is not. Bug 71: what it says changes nothing.
  assign error_qp = take_qperr && 32'(qperr.qp) < NumQps
      && (error_state == QpStateInit || error_state == QpStateRtr || error_state == QpStateRts)
      && !(bug_i == BugHostFailIgnored && qperr_pop[NumQperrs-1]);

  logic [DestW-1:0] peer_idx;
  logic [NumPlanes-1:0] peer_mask;
  logic peer_we;
  assign peer_we = take_pmask || (cmd_good && cmd_table == CfgTablePeerPorts);
  assign peer_idx = take_pmask ? pmask.dest[DestW-1:0] : cmd_index[DestW-1:0];
  assign peer_mask = take_pmask ? pmask.mask[NumPlanes-1:0] : tbl_data[NumPlanes-1:0];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cmd_status_q <= 16'd0;
    end else if (cmd_take) begin
      cmd_status_q <= 16'd0;
    end else if (cmd_go) begin
      cmd_status_q <= {cmd_detail, cmd_code};
    end
  end

  mrc_rf_reset #(
      .Width(11),
      .Depth(NumQps),
      .Reads(3)
  ) u_qp (
      .clk_i,
      .rst_ni,
      .raddr_i({own.qp_sel[QpW-1:0], qperr.qp[QpW-1:0], cmd_index[QpW-1:0]}),
      .rdata_o(qp_row),
      .we_i(cmd_moves || error_qp),
      .waddr_i(take_qperr ? qperr.qp[QpW-1:0] : cmd_index[QpW-1:0]),
      .wdata_i(take_qperr ? {qperr.status, QpStateError} : {8'd0, cmd_target})
  );

  mrc_rf_reset #(
      .Width(NumPlanes),
      .Depth(NumDests),
      .Reads(2),
      .Reset({NumPlanes{1'b1}})
  ) u_peer (
      .clk_i,
      .rst_ni,
      .raddr_i({own.qp_sel[DestW-1:0], heard_dest}),
      .rdata_o(peer),
      .we_i(peer_we),
      .waddr_i(peer_idx),
      .wdata_i(peer_mask)
  );

  // ---- what the blocks are to hear: QPs in error, lowest first, and masks of peers in turn

  mrc_turns #(
      .N(NumQps)
  ) u_notify (
      .clk_i,
      .rst_ni,
      .set_i(error_qp),
      .set_idx_i(qperr.qp[QpW-1:0]),
      .any_o(notify_any),
      .idx_o(notify_qp),
      .take_i(go_notify)
  );

  // A mask that comes while the one before it is broadcast is broadcast too.
  mrc_turns #(
      .N(NumDests),
      .Fair(1'b1)
  ) u_heard (
      .clk_i,
      .rst_ni,
      .set_i(take_pmask),
      .set_idx_i(pmask.dest[DestW-1:0]),
      .any_o(heard_any),
      .idx_o(heard_dest),
      .take_i(go_heard)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      turn_q <= 1'b0;
    end else begin
      turn_q <= turn_d;
    end
  end

  // ---- one EV probe of the controller at a time

  localparam logic [1:0] EvpBusy = 2'd1;
  logic evp_load, evp_free, evr_v;
  evp_t evp_d;
  evr_t evr;
  logic [1:0] evp_state_q, evp_state_d, unused_evr_count;
  logic [15:0] evp_rtt_q, evp_rtt_d;

  mrc_fifo #(
      .T(evr_t),
      .Depth(2)
  ) u_evr (
      .clk_i,
      .rst_ni,
      .valid_i(evr_valid_i),
      .ready_o(evr_ready_o),
      .data_i(evr_i),
      .valid_o(evr_v),
      .ready_i(1'b1),
      .data_o(evr),
      .count_o(unused_evr_count)
  );

  assign w_evp_busy = w_evp && evp_state_q == EvpBusy;
  assign evp_load = w_store && w_evp;
  assign evp_d = '{
          dest: wvalue[CsrEvpCmdDestLsb+:CsrEvpCmdDestWidth],
          plane: wvalue[CsrEvpCmdPlaneLsb+:CsrEvpCmdPlaneWidth],
          ev: own.evp_ev,
          tc_valid: wvalue[CsrEvpCmdTcValidLsb],
          tc: wvalue[CsrEvpCmdTcLsb+:CsrEvpCmdTcWidth]
      };

  always_comb begin
    evp_state_d = evp_state_q;
    evp_rtt_d = evp_rtt_q;
    if (evp_load) begin
      evp_state_d = EvpBusy;
      evp_rtt_d = 16'd0;
    end else if (evr_v) begin
      evp_state_d = evr.answered ? 2'd2 : 2'd3;
      evp_rtt_d = evr.rtt;
    end
  end

  mrc_out_reg #(
      .T(evp_t)
  ) u_evp (
      .clk_i,
      .rst_ni,
      .load_i(evp_load),
      .data_i(evp_d),
      .free_o(evp_free),
      .valid_o(evp_valid_o),
      .ready_i(evp_ready_i),
      .data_o(evp_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      evp_state_q <= 2'd0;
      evp_rtt_q <= 16'd0;
    end else begin
      evp_state_q <= evp_state_d;
      evp_rtt_q <= evp_rtt_d;
    end
  end

  // ---- write: the bus

  assign aw_full_d = aw_take || (aw_full_q && !(bvalid_q && axil_i.bready));
  assign w_full_d = w_take || (w_full_q && !(bvalid_q && axil_i.bready));
  assign bvalid_d = w_go || (bvalid_q && !axil_i.bready);

  always_comb begin
    bresp_d = bresp_q;
    if (w_go) begin
      bresp_d = (w_store || w_irq || w_fence) ? RespOkay : RespSlvErr;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_full_q <= 1'b0;
      w_full_q <= 1'b0;
      bvalid_q <= 1'b0;
    end else begin
      aw_full_q <= aw_full_d;
      w_full_q <= w_full_d;
      bvalid_q <= bvalid_d;
    end
  end

  always_ff @(posedge clk_i) begin
    bresp_q <= bresp_d;
    if (aw_take) begin
      awaddr_q <= axil_i.awaddr[15:2];
    end
    if (w_take) begin
      wdata_q <= axil_i.wdata;
      wstrb_q <= axil_i.wstrb;
    end
  end

  assign axil_o.awready = !aw_full_q;
  assign axil_o.wready = !w_full_q;
  assign axil_o.bvalid = bvalid_q;
  assign axil_o.bresp = bresp_q;

  // ---- table writes: the broadcast

  always_comb begin
    tstate_d = tstate_q;
    cfg_req_d = cfg_req_q;
    int_d = int_q;
    cmd_end = 1'b0;
    unique case (tstate_q)
      TIdle: begin
        if (go_notify || go_heard) begin
          int_d = 1'b1;
          cfg_req_d = 1'b1;
          tstate_d = TCfg;
        end else if (cmd_good) begin
          cfg_req_d = 1'b1;
          tstate_d = TCfg;
        end else begin
          cmd_end = cmd_go;
        end
      end
      TCfg: begin
        if (&cfg_ack_i) begin
          cfg_req_d = 1'b0;
          tstate_d = TCfgEnd;
        end
      end
      TCfgEnd: begin
        if (cfg_ack_i == '0) begin
          cmd_end = !int_q;
          int_d = 1'b0;
          tstate_d = TIdle;
        end
      end
      default: tstate_d = TIdle;
    endcase
  end

  // Bug 69: a command is done when the first block has taken it.
  assign busy_d = cmd_take || (busy_q && !cmd_end && !(bug_i == BugDoneAtFirstAck
      && tstate_q == TCfg && !int_q && cfg_ack_i != '0));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tstate_q <= TIdle;
      cfg_req_q <= 1'b0;
      int_q <= 1'b0;
      busy_q <= 1'b0;
    end else begin
      tstate_q <= tstate_d;
      cfg_req_q <= cfg_req_d;
      int_q <= int_d;
      busy_q <= busy_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (go_notify) begin
      int_table_q <= CfgTableQpState;
      int_index_q <= CsrTblCmdIndexWidth'(notify_qp);
      int_value_q <= {5'd0, QpStateError};
    end else if (go_heard) begin
      int_table_q <= CfgTablePeerPorts;
      int_index_q <= CsrTblCmdIndexWidth'(heard_dest);
      int_value_q <= 8'(peer[0]);
    end
  end

  // ---- EV events: a full queue loses them, it never stops tx_path

  logic evev_v, evq_ready, evq_v, evq_pop;
  evev_t evev, evq;
  logic [31:0] evq_drop_q, evq_word;
  logic [1:0] unused_evev_count;
  logic [4:0] unused_evq_count;

  mrc_fifo #(
      .T(evev_t),
      .Depth(2)
  ) u_evev (
      .clk_i,
      .rst_ni,
      .valid_i(evev_valid_i),
      .ready_o(evev_ready_o),
      .data_i(evev_i),
      .valid_o(evev_v),
      .ready_i(1'b1),
      .data_o(evev),
      .count_o(unused_evev_count)
  );

  mrc_fifo #(
      .T(evev_t),
      .Depth(16)
  ) u_evq (
      .clk_i,
      .rst_ni,
      .valid_i(evev_v),
      .ready_o(evq_ready),
      .data_i(evev),
      .valid_o(evq_v),
      .ready_i(evq_pop),
      .data_o(evq),
      .count_o(unused_evq_count)
  );

  assign evq_word = !evq_v ? 32'd0 : {1'b1, evq.qp[CsrEvqQpWidth-1:0], evq.floor, evq.state,
      evq.ev_idx[CsrEvqEvIdxWidth-1:0]};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      evq_drop_q <= 32'd0;
    end else if (evev_v && !evq_ready) begin
      evq_drop_q <= evq_drop_q + 32'd1;
    end
  end

  // ---- interrupts

  logic [4:1] irq_set, irq_clear, irq_held_q, irq_held_d;
  logic [4:0] irq_bits;
  logic irq_q;

  assign irq_set = {evev_v && !evq_ready, evr_v, cmd_end, error_qp};
  assign irq_bits = {irq_held_q, evq_v};

  always_comb begin
    irq_clear = 4'd0;
    if (w_go && w_irq && wstrb_q[0]) begin
      irq_clear = wdata_q[4:1];
    end
    // Bug 68: what comes in the cycle of the clearing goes with it.
    if (bug_i == BugIrqLost) begin
      irq_held_d = (irq_held_q | irq_set) & ~irq_clear;
    end else begin
      irq_held_d = (irq_held_q & ~irq_clear) | irq_set;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      irq_held_q <= '0;
      irq_q <= 1'b0;
    end else begin
      irq_held_q <= irq_held_d;
      irq_q <= (irq_bits & own.irq_enable) != 5'd0;
    end
  end

  assign irq_o = irq_q;

  // ---- fences

  logic fence_go_q;
  logic [31:0] fence_word;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fence_go_q <= 1'b0;
    end else begin
      fence_go_q <= w_go && w_fence && wstrb_q[0] && wdata_q[CsrFenceBusyLsb];
    end
  end

  always_comb begin
    fence_word = fence_i;
    if (fence_go_q) begin
      fence_word[CsrFenceBusyLsb] = 1'b1;
      fence_word[CsrFenceCoreLsb] = 1'b1;
    end
  end

  assign fence_go_o = fence_go_q;

  // ---- read

  logic rvalid_q, rvalid_d, ar_take;
  logic [31:0] rdata_q, rdata_d;
  logic [1:0] rresp_q;
  logic r_hit;
  logic [13:0] ar_word;

  assign ar_take = axil_i.arvalid && !rvalid_q;
  assign rvalid_d = ar_take || (rvalid_q && !axil_i.rready);
  assign ar_word = axil_i.araddr[15:2];
  assign evq_pop = ar_take && ar_word == CsrEvq[15:2];

  assign status = '{
          caps0: {24'(NumQps), 4'($clog2(WqeDepth)), 4'(NumPlanes)},
          caps1: {16'(EvsPerQp), 16'(MaxMpr)},
          evq: evq_word,
          evq_drop: evq_drop_q,
          qp_info: {16'd0, qp_row[2][10:3], 5'd0, qp_row[2][2:0]},
          cmd_status: {busy_q, 3'd0, cmd_status_q[15:4], 12'd0, cmd_status_q[3:0]},
          evp_res: {evp_rtt_q, 14'd0, evp_state_q},
          ports: 32'(port_up_i),
          peer_info: 32'(peer[1]),
          irq: 32'(irq_bits),
          fence: fence_word
      };

  mrc_csr_regs u_regs (
      .clk_i,
      .rst_ni,
      .w_word_i(awaddr_q),
      .w_data_i(wdata_q),
      .w_strb_i(wstrb_q),
      .w_store_i(w_store),
      .w_hit_o(w_hit),
      .w_value_o(wvalue),
      .r_take_i(ar_take),
      .r_word_i(ar_word),
      .status_i(status),
      .r_hit_o(r_hit),
      .r_data_o(rdata_d),
      .pulses_i,
      .error_qp_i(error_qp),
      .own_o(own),
      .csr_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rvalid_q <= 1'b0;
    end else begin
      rvalid_q <= rvalid_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (ar_take) begin
      rdata_q <= rdata_d;
      rresp_q <= r_hit ? RespOkay : RespSlvErr;
    end
  end

  assign axil_o.arready = !rvalid_q;
  assign axil_o.rvalid = rvalid_q;
  assign axil_o.rdata = rdata_q;
  assign axil_o.rresp = rresp_q;

  // ---- what the blocks see

  logic tick;
  logic [31:0] tick_q;
  assign tick_o = tick_q;

  mrc_tick #(
      .Cycles(TickCycles),
      .Parts(TickParts)
  ) u_tick (
      .clk_i,
      .rst_ni,
      .tick_o(tick)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tick_q <= 32'd0;
    end else begin
      tick_q <= tick_q + 32'(tick);
    end
  end

  assign cfg_o.req = cfg_req_q;
  assign cfg_o.index = int_q ? int_index_q : own.tbl_index;
  assign cfg_o.tbl = int_q ? int_table_q : own.tbl_table;
  assign cfg_o.data = int_q ? {504'd0, int_value_q} : tbl_data;

  logic unused_bits;
  assign unused_bits = ^{axil_i.awaddr[1:0], axil_i.araddr[1:0], wvalue, unused_evev_count,
                         unused_evq_count, unused_evr_count, unused_counts, evp_free, ctx.srv6,
                         ctx.dip, ctx.dmac, ctx.rqmsn, ctx.msn, ctx.rq_psn, ctx.sq_psn,
                         ctx.pkey, ctx.retry_linear, ctx.dqpn, ctx.rsvd13, ctx.cc,
                         ctx.dyn_mpr, ctx.svc_time, ctx.trim_nack, ctx.ts, ctx.encap};

  // ---- what always holds

  `MRC_POPS_A_WORD(Pmask, pmask_pop, pmask_v)
  `MRC_ASSERT(QperrPopsAWord, (qperr_pop & ~qperr_v) == '0,
      "an empty FIFO is popped")
  `MRC_ONE_HOT0(OneQperr, qperr_pop,
      "two errors are taken in one cycle")
  `MRC_ASSERT_IF(ReportsTaken, !cmd_go,
      (pmask_pop || !pmask_v) && (qperr_pop != '0 || qperr_v == '0),
      "what a block or the host reports waits, and not for a command")
  `MRC_ASSERT_IF(NoReportInACommand, cmd_go, !(pmask_pop || qperr_pop != '0),
      "a block's report and a command write in one cycle")
  `MRC_ONE_HOT0(OneWrites, {go_notify, go_heard, cmd_go},
      "two want to write tables in one cycle")
  `MRC_ASSERT_IF(SomeoneWrites, tstate_q == TIdle,
      go_notify || go_heard || cmd_go || !(notify_any || heard_any || busy_q),
      "a table write waits, and nothing is done")
`ifdef MRC_ASSERT_ON
  logic [NumQps-1:0] errors_q, notified_q;  // QPs in Error; those of which the blocks have heard
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      /* verilator lint_off WIDTHCONCAT */  // a bit per QP
      errors_q <= '0;
      notified_q <= '1;
      /* verilator lint_on WIDTHCONCAT */
    end else begin
      if (cmd_moves) begin
        errors_q[cmd_index[QpW-1:0]] <= cmd_target == QpStateError;
      end
      if (go_notify) begin
        notified_q[notify_qp] <= 1'b1;
      end
      if (error_qp) begin
        errors_q[qperr.qp[QpW-1:0]] <= 1'b1;
        notified_q[qperr.qp[QpW-1:0]] <= 1'b0;
      end
    end
  end

  `MRC_ASSERT_IF(NotifiesAnError, notify_any, errors_q[notify_qp] && !notified_q[notify_qp],
      "the blocks are told of a QP that has not failed")
  `MRC_ASSERT_IF(NotifiedOnce, error_qp, notified_q[qperr.qp[QpW-1:0]],
      "a QP fails again before the blocks have heard of it")
`endif
  `MRC_ASSERT_IF(OnlyFromRtr, cmd_good && cmd_table == CfgTableQpCtx && cmd_target == QpStateRts,
      cmd_state == QpStateRtr,
      "a QP goes to RTS, and not from RTR")
  `MRC_ASSERT_IF(KnownState, cmd_moves, cmd_target <= QpStateError,
      "a QP goes into a state that there is not")
  `MRC_ASSERT_IF(ErrorOfALivingQp, error_qp, error_state != QpStateReset,
      "a QP in RESET goes to ERROR")
  `MRC_ASSERT_IF(ErrorOfAQp, error_qp, 32'(qperr.qp) < NumQps,
      "a QP fails that there is not")
  `MRC_ASSERT_IF(QpInRange, cmd_moves, 32'(cmd_index) < NumQps,
      "a QP is written that there is not")
  `MRC_ASSERT_IF(AnswersAWrite, bvalid_q, aw_full_q && w_full_q,
      "a write is answered that has not come")
  `MRC_ASSERT(CfgWhileRequested, cfg_req_q == (tstate_q == TCfg),
      "a table write goes on that nobody asked for, or stands that was asked for")
  `MRC_ASSERT_IF(BusyToTheEnd, tstate_q != TIdle, int_q || busy_q,
      "a command counts as done, and the blocks are still at it")
  `MRC_ASSERT_IF(OwnOfTheNic, tstate_q == TIdle, !int_q,
      "nothing is under way, and it is the NIC's own")
  `MRC_ASSERT_IF(SilentWhileBusy, busy_q, cmd_status_q == 16'd0,
      "a command that is not done has an outcome")
  `MRC_STABLE(CommandStays, busy_q, cmd_end,
      {own.tbl_table, own.tbl_index, own.qp_attr, own.tbl_data},
      4 + CsrTblCmdIndexWidth + 12 + 512)
  `MRC_STABLE(RowStays, cfg_req_q, &cfg_ack_i, {cfg_o.tbl, cfg_o.index, cfg_o.data},
      4 + CsrTblCmdIndexWidth + 512)
  `MRC_ASSERT_IF(AnswersAProbe, evr_v, evp_state_q == EvpBusy,
      "an EV probe ends that is not under way")

`ifdef MRC_ASSERT_ON
  logic [4:1] irq_set_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      irq_set_q <= '0;
    end else begin
      irq_set_q <= irq_set;
    end
  end
`endif
  `MRC_ASSERT_IF(FenceIsAnswered, fence_go_q, bvalid_q,
      "a fence begins that software did not ask for")
  `MRC_ASSERT(KeepsWhatComes, (irq_set_q & ~irq_held_q) == 4'd0,
      "an interrupt is lost in the cycle in which it comes")

endmodule
