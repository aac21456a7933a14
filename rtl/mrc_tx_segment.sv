// SPDX-License-Identifier: Apache-2.0

/// From work requests to packets (docs/blocks/tx_segment.md): holds the WQEs of each QP until they
/// complete, cuts them into packets, sends a packet again on order of tx_inflight, and completes
/// WQEs. One operation at a time: a packet every second cycle at most, a WQE or an update every
/// cycle. A QP with congestion control asks for each new packet; the block waits for the answer,
/// and a refused QP is parked. It decides neither when to retransmit (tx_inflight) nor on which
/// path (tx_path).
module mrc_tx_segment
  import mrc_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned WqeDepth = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,

    input logic wqe_valid_i,
    output logic wqe_ready_o,
    input wqe_t wqe_i,
    input logic grant_valid_i,
    output logic grant_ready_o,
    input grant_t grant_i,
    input logic retx_valid_i,
    output logic retx_ready_o,
    input retx_t retx_i,
    input logic upd_valid_i,
    output logic upd_ready_o,
    input upd_t upd_i,
    input logic ans_valid_i,
    output logic ans_ready_o,
    input ccans_t ans_i,

    output logic pkt_valid_o,
    input logic pkt_ready_i,
    output pkt_t pkt_o,
    output logic push_valid_o,
    input logic push_ready_i,
    output sched_t push_o,
    output logic park_valid_o,
    input logic park_ready_i,
    output grant_t park_o,
    output logic ask_valid_o,
    input logic ask_ready_i,
    output ccask_t ask_o,
    output logic cqe_valid_o,
    input logic cqe_ready_i,
    output cqe_t cqe_o,
    output logic qperr_valid_o,
    input logic qperr_ready_i,
    output qperr_t qperr_o,

    input logic payload_bytes_i,

    input logic cfg_req_i,
    input logic [3:0] cfg_table_i,
    input logic [15:0] cfg_index_i,
    input logic [511:0] cfg_data_i,
    output logic cfg_ack_o
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned SlotW = $clog2(WqeDepth);

  if (NumQps < 2 || NumQps != 2 ** QpW || WqeDepth < 2 || WqeDepth != 2 ** SlotW)
  begin : gen_bad_params
    $error("%m: NumQps and WqeDepth must be powers of two, at least 2");
  end

  typedef enum logic [2:0] {
    StIdle,
    StComplete,
    StRetx,
    StNew,
    StWait
  } state_e;

  // A WQE in the ring: everything but its QP, and the RQMSN it was given.
  typedef struct packed {
    logic imm_valid;
    logic [31:0] wr_id;
    logic [63:0] laddr;
    logic [63:0] raddr;
    logic [31:0] rkey;
    logic [31:0] length;
    logic [31:0] imm;
    logic [15:0] rqmsn;
  } row_t;

  typedef struct packed {
    logic [2:0] mtu;
    logic [7:0] mpr_max;
    logic [7:0] profile;
    logic [7:0] max_wimm;
    logic ts;
    logic cc;
    logic [7:0] dest;
    logic [7:0] mpr;
    logic [7:0] wimm;  // WRITEs with immediate in the ring
    logic [15:0] head;
    logic [15:0] tail;
    logic [15:0] una_msn;
    logic [15:0] rqmsn;
    logic [23:0] idx;
    logic [23:0] psn;
    logic [23:0] una;
    logic failed;
  } qp_t;

  typedef struct packed {
    logic [15:0] qp;
    logic [15:0] msn;
    logic [7:0] syndrome;
    logic flush;  // nothing but flushing is left
  } done_t;

  function automatic logic psn_before(logic [23:0] a, logic [23:0] b);
    logic [23:0] d;
    d = b - a;
    return d != 24'd0 && !d[23];
  endfunction

  function automatic logic msn_before(logic [15:0] a, logic [15:0] b);
    logic [15:0] d;
    d = b - a;
    return d != 16'd0 && !d[15];
  endfunction

  function automatic logic window_open(logic [23:0] psn, logic [23:0] una, logic [7:0] mpr,
                                       logic one_more);
    logic [23:0] d, limit;
    d = psn - una;
    limit = {9'd0, mpr, 7'd0};
    return d < limit || (one_more && d == limit);
  endfunction

  // ---- inputs

  logic wqe_v, grant_v, retx_v, upd_v, ans_v;
  logic wqe_pop, grant_pop, retx_pop, upd_pop, ans_pop;
  wqe_t wqe;
  grant_t grant;
  retx_t retx;
  upd_t upd;
  ccans_t ans;
  logic [4:0][1:0] unused_counts;

  mrc_fifo #(
      .T(wqe_t),
      .Depth(2)
  ) u_wqe (
      .clk_i,
      .rst_ni,
      .valid_i(wqe_valid_i),
      .ready_o(wqe_ready_o),
      .data_i(wqe_i),
      .valid_o(wqe_v),
      .ready_i(wqe_pop),
      .data_o(wqe),
      .count_o(unused_counts[0])
  );

  mrc_fifo #(
      .T(grant_t),
      .Depth(2)
  ) u_grant (
      .clk_i,
      .rst_ni,
      .valid_i(grant_valid_i),
      .ready_o(grant_ready_o),
      .data_i(grant_i),
      .valid_o(grant_v),
      .ready_i(grant_pop),
      .data_o(grant),
      .count_o(unused_counts[1])
  );

  mrc_fifo #(
      .T(retx_t),
      .Depth(2)
  ) u_retx (
      .clk_i,
      .rst_ni,
      .valid_i(retx_valid_i),
      .ready_o(retx_ready_o),
      .data_i(retx_i),
      .valid_o(retx_v),
      .ready_i(retx_pop),
      .data_o(retx),
      .count_o(unused_counts[2])
  );

  mrc_fifo #(
      .T(upd_t),
      .Depth(2)
  ) u_upd (
      .clk_i,
      .rst_ni,
      .valid_i(upd_valid_i),
      .ready_o(upd_ready_o),
      .data_i(upd_i),
      .valid_o(upd_v),
      .ready_i(upd_pop),
      .data_o(upd),
      .count_o(unused_counts[3])
  );

  mrc_fifo #(
      .T(ccans_t),
      .Depth(2)
  ) u_ans (
      .clk_i,
      .rst_ni,
      .valid_i(ans_valid_i),
      .ready_o(ans_ready_o),
      .data_i(ans_i),
      .valid_o(ans_v),
      .ready_i(ans_pop),
      .data_o(ans),
      .count_o(unused_counts[4])
  );

  // ---- registers and memories

  state_e state_q, state_d;
  logic cfg_ack_q, cfg_ack_d;
  logic [NumQps-1:0] rts_q, rts_d;  // of the QP's state only this matters here
  logic [NumQps-1:0] active_q, active_d;  // the QP is in tx_sched, or its grant on the way
  logic busy_q, busy_d;
  done_t done_q, done_d;
  retx_t hold_q;  // of a grant only its qp
  logic single_q, single_d;  // the packet cut last was a whole message (injected bug 3 only)

  tbl_qp_ctx_t cfg_ctx;
  logic [QpW-1:0] cfg_qp;
  assign cfg_ctx = cfg_data_i;
  assign cfg_qp = cfg_index_i[QpW-1:0];

  logic pkt_free, push_free, park_free, ask_free, cqe_free, qperr_free;
  logic op_cfg, op_stop, op_cmp, op_upd, op_wqe, op_retx, op_grant;

  // One operation, one QP. The second read port serves the ring address of a grant while the first
  // one looks whether the WQE at the head has room.
  logic [QpW-1:0] qp_raddr, qp_waddr, grant_qp;
  qp_t qp, grant_ctx, qp_d;
  logic qp_we;

  mrc_rf_2r1w #(
      .Width($bits(qp_t)),
      .Depth(NumQps)
  ) u_qp (
      .clk_i,
      .raddr0_i(qp_raddr),
      .rdata0_o(qp),
      .raddr1_i(grant_qp),
      .rdata1_o(grant_ctx),
      .we_i(qp_we),
      .waddr_i(qp_waddr),
      .wdata_i(qp_d)
  );

  logic ring_re, ring_we;
  logic [QpW+SlotW-1:0] ring_raddr, ring_waddr;
  row_t row, ring_wdata;

  mrc_ram_1r1w #(
      .Width($bits(row_t)),
      .Depth(NumQps * WqeDepth)
  ) u_ring (
      .clk_i,
      .re_i(ring_re),
      .raddr_i(ring_raddr),
      .rdata_o(row),
      .we_i(ring_we),
      .waddr_i(ring_waddr),
      .wdata_i(ring_wdata)
  );

  // ---- the choice of the cycle

  logic rts, may_send;  // may_send: leaves out that there must be something to send, and room
  assign rts = rts_q[qp_raddr];
  assign may_send = rts && !qp.failed;

  logic idle, wqe_room, cfg_due;
  assign idle = state_q == StIdle;
  // Contexts and states wait until completion work is done: it belongs to the QP as it was. A QP
  // that is still in tx_sched is stopped and leaves it by itself before it gets its new context.
  assign cfg_due = idle && cfg_req_i && !cfg_ack_q
      && !(cfg_table_i inside {CfgTableQpCtx, CfgTableQpState} && (busy_q || upd_v));
  assign op_stop = cfg_due && cfg_table_i == CfgTableQpCtx && active_q[cfg_qp];
  assign op_cfg = cfg_due && !op_stop;
  assign op_cmp = idle && !op_cfg && busy_q && cqe_free;
  assign op_upd = idle && !op_cfg && !op_cmp && upd_v && !busy_q && push_free;
  // A WQE that is refused anyway needs no room.
  assign wqe_room = (qp.tail - qp.una_msn) < 16'(WqeDepth) || !may_send;
  assign op_wqe = idle && !op_cfg && !op_cmp && !op_upd && wqe_v && push_free && cqe_free
      && qperr_free && !busy_q && wqe_room;
  assign op_retx = idle && !op_cfg && !op_cmp && !op_upd && !op_wqe && retx_v && pkt_free;
  assign op_grant = idle && !op_cfg && !op_cmp && !op_upd && !op_wqe && !op_retx && grant_v
      && pkt_free && push_free && ask_free && park_free;

  assign upd_pop = op_upd;
  assign wqe_pop = op_wqe;
  assign retx_pop = op_retx;
  assign grant_pop = op_grant;
  assign ans_pop = state_q == StWait;
  assign grant_qp = grant.qp[QpW-1:0];

  always_comb begin
    if (idle) begin
      if (op_cfg) begin
        qp_raddr = cfg_qp;
      end else if (op_cmp) begin
        qp_raddr = done_q.qp[QpW-1:0];
      end else if (op_upd) begin
        qp_raddr = upd.qp[QpW-1:0];
      end else begin
        qp_raddr = wqe.qp[QpW-1:0];
      end
    end else if (state_q == StComplete) begin
      qp_raddr = done_q.qp[QpW-1:0];
    end else begin
      qp_raddr = hold_q.qp[QpW-1:0];
    end
  end

  // ---- segmentation

  logic [31:0] off, rem, mtu_bytes;
  logic [23:0] seg_idx;
  logic seg_first, seg_last, retx_go, retx_void, new_can, send, more;
  logic [12:0] seg_plen;
  logic [7:0] seg_opcode;
  logic [13:0] seg_size;
  pkt_t pkt_d;
  logic pkt_load;

  assign mtu_bytes = 32'd256 << qp.mtu;
  assign seg_idx = (state_q == StRetx) ? hold_q.idx : qp.idx;
  assign off = ({8'd0, seg_idx} << 8) << qp.mtu;
  assign rem = row.length - off;
  assign seg_first = seg_idx == 24'd0;
  assign seg_last = rem <= mtu_bytes;
  assign seg_plen = seg_last ? rem[12:0] : mtu_bytes[12:0];

  always_comb begin
    if (seg_last) begin
      if (row.imm_valid) begin
        seg_opcode = seg_first ? 8'hCB : 8'hC9;
      end else begin
        seg_opcode = seg_first ? 8'hCA : 8'hC8;
      end
    end else begin
      seg_opcode = seg_first ? 8'hC6 : 8'hC7;
    end
  end

  // Nominal size: UDP length + 40, or the payload alone.
  always_comb begin
    seg_size = {1'b0, seg_plen};
    if (!payload_bytes_i) begin
      seg_size = {1'b0, seg_plen} + {12'd0, 2'd0 - seg_plen[1:0]} + 14'd84;
      seg_size = seg_size + {11'd0, qp.ts, 2'd0};
      seg_size = seg_size + {11'd0, seg_last && row.imm_valid, 2'd0};
    end
  end

  assign retx_go = state_q == StRetx && may_send && !msn_before(hold_q.msn, qp.una_msn);
  // tx_inflight has accounted for the retransmission and hears that it is not sent.
  assign retx_void = state_q == StRetx && !retx_go && qp.cc;
  assign new_can = may_send && qp.head != qp.tail
      && window_open(qp.psn, qp.una, qp.mpr, bug_i == 8'd1);
  assign send = (state_q == StNew && new_can && !qp.cc)
      || (state_q == StWait && ans_v && (ans.ok || bug_i == 8'd34));
  assign pkt_load = retx_go || retx_void || send;

  logic [15:0] head_next;
  logic [23:0] psn_next;
  assign head_next = seg_last ? qp.head + 16'd1 : qp.head;
  assign psn_next = qp.psn + 24'd1;
  assign more = head_next != qp.tail && window_open(psn_next, qp.una, qp.mpr, bug_i == 8'd1);

  always_comb begin
    pkt_d.qp = hold_q.qp;
    pkt_d.psn = qp.psn;
    pkt_d.msn = qp.head;
    pkt_d.rqmsn = row.imm_valid ? row.rqmsn : 16'd0;
    pkt_d.va = row.raddr + {32'd0, off};
    pkt_d.rkey = row.rkey;
    pkt_d.dmalen = row.length;
    pkt_d.imm = row.imm_valid ? row.imm : 32'd0;
    pkt_d.laddr = row.laddr + {32'd0, off};
    pkt_d.plen = seg_plen;
    pkt_d.rtx = 1'b0;
    pkt_d.ackreq = !more || (qp.cc && ans.last);
    pkt_d.last = seg_last;
    pkt_d.idx = seg_idx;
    pkt_d.profile = qp.profile;
    pkt_d.avoid_ev = 16'd0;
    pkt_d.opcode = seg_opcode;
    pkt_d.size = seg_size;
    pkt_d.voided = 1'b0;
    if (state_q == StRetx) begin
      pkt_d.psn = hold_q.psn;
      pkt_d.msn = hold_q.msn;
      pkt_d.rtx = bug_i != 8'd2;
      pkt_d.ackreq = 1'b0;
      pkt_d.avoid_ev = hold_q.avoid_ev;
      pkt_d.size = hold_q.size;
    end
    if (retx_void) begin
      pkt_d = '0;
      pkt_d.qp = hold_q.qp;
      pkt_d.psn = hold_q.psn;
      pkt_d.msn = hold_q.msn;
      pkt_d.idx = hold_q.idx;
      pkt_d.size = hold_q.size;
      pkt_d.rtx = 1'b1;
      pkt_d.voided = 1'b1;
    end
  end

  // ---- ring

  logic [15:0] ring_rmsn;

  always_comb begin
    if (op_cmp) begin
      ring_raddr = {done_q.qp[QpW-1:0], qp.una_msn[SlotW-1:0]};
    end else if (op_retx) begin
      ring_raddr = {retx.qp[QpW-1:0], retx.msn[SlotW-1:0]};
    end else begin
      ring_raddr = {grant_qp, ring_rmsn[SlotW-1:0]};
    end
  end

  always_comb begin
    ring_rmsn = grant_ctx.head;
    if (bug_i == 8'd3 && single_q && grant_qp == hold_q.qp[QpW-1:0]) begin
      ring_rmsn = grant_ctx.head - 16'd1;
    end
  end

  assign ring_re = op_cmp || op_retx || op_grant;
  assign ring_waddr = {wqe.qp[QpW-1:0], qp.tail[SlotW-1:0]};
  assign ring_wdata = '{
          imm_valid: wqe.imm_valid,
          wr_id: wqe.wr_id,
          laddr: wqe.laddr,
          raddr: wqe.raddr,
          rkey: wqe.rkey,
          length: wqe.length,
          imm: wqe.imm,
          rqmsn: qp.rqmsn
      };

  // ---- next state of the QP, completions, pushes

  logic wqe_bad_state, wqe_bad_length, wqe_overrun, wqe_good;
  assign wqe_bad_state = !may_send;
  assign wqe_bad_length = wqe.length == 32'd0 || wqe.length > 32'h8000_0000;
  // One immediate more than may be incomplete ends the QP.
  assign wqe_overrun = op_wqe && !wqe_bad_state && !wqe_bad_length && wqe.imm_valid
      && qp.wimm == qp.max_wimm;
  assign wqe_good = op_wqe && !wqe_bad_state && !wqe_bad_length && !wqe_overrun;
  assign ring_we = wqe_good;

  // A syndrome that ends the QP: a remote NAK, or the window gave up.
  function automatic logic ends_qp(logic [7:0] syndrome);
    return syndrome[7:5] == 3'b011 || syndrome == CqStatusRetryExceeded
        || syndrome == CqStatusRemEvent;
  endfunction

  logic ends, cmp_none, cmp_refused;
  logic [15:0] una_msn_next;
  assign ends = ends_qp(done_q.syndrome) && !done_q.flush;
  assign cmp_none = ends && qp.una_msn == qp.tail;  // nothing is left to blame
  assign cmp_refused = ends && !cmp_none && qp.una_msn == done_q.msn;
  assign una_msn_next = qp.una_msn + 16'd1;

  logic push_load, park_load, ask_load, cqe_load;
  sched_t push_d;
  cqe_t cqe_d;
  logic [15:0] upd_msn_ahead;
  assign upd_msn_ahead = upd.msn - qp.una_msn;

  always_comb begin
    qp_d = qp;
    qp_we = 1'b0;
    qp_waddr = qp_raddr;
    push_load = 1'b0;
    push_d.qp = hold_q.qp;
    push_d.more = 1'b1;
    park_load = 1'b0;
    ask_load = 1'b0;
    active_d = active_q;
    busy_d = busy_q;
    done_d = done_q;
    rts_d = rts_q;
    single_d = single_q;
    state_d = StIdle;
    if (op_stop) begin
      rts_d[cfg_qp] = 1'b0;
    end
    unique case (state_q)
      StIdle: begin
        if (op_cfg) begin
          qp_waddr = cfg_qp;
          if (cfg_table_i == CfgTableQpCtx) begin
            qp_we = 1'b1;
            qp_d = '{
                mtu: cfg_ctx.mtu,
                mpr_max: cfg_ctx.mpr,
                profile: cfg_ctx.profile,
                max_wimm: cfg_ctx.max_wimm,
                ts: cfg_ctx.ts,
                cc: cfg_ctx.cc,
                dest: cfg_ctx.dest,
                mpr: cfg_ctx.mpr,
                wimm: 8'd0,
                head: cfg_ctx.msn,
                tail: cfg_ctx.msn,
                una_msn: cfg_ctx.msn,
                rqmsn: cfg_ctx.rqmsn,
                idx: 24'd0,
                psn: cfg_ctx.sq_psn,
                una: cfg_ctx.sq_psn,
                failed: 1'b0
            };
            rts_d[cfg_qp] = cfg_ctx.state == QpStateRts;
          end else if (cfg_table_i == CfgTableQpState) begin
            rts_d[cfg_qp] = cfg_ctx.state == QpStateRts;
            if (cfg_ctx.state == QpStateError) begin
              qp_we = 1'b1;
              qp_d.failed = 1'b1;
              if (qp.una_msn != qp.tail) begin
                busy_d = 1'b1;
                done_d = '{qp: 16'(cfg_qp), msn: 16'd0, syndrome: 8'd0, flush: 1'b1};
              end
            end
          end
        end else if (op_cmp) begin
          state_d = StComplete;
        end else if (op_upd) begin
          qp_we = 1'b1;
          push_d.qp = upd.qp;
          if (!psn_before(upd.una, qp.una)) begin
            qp_d.una = upd.una;
          end
          if (upd.mpr != 8'd0) begin
            qp_d.mpr = (upd.mpr < qp.mpr_max) ? upd.mpr : qp.mpr_max;
          end
          if (upd.ack && ((upd.syndrome[7:5] == 3'b000 && upd_msn_ahead != 16'd0
              && !upd_msn_ahead[15]) || (ends_qp(upd.syndrome) && !qp.failed))) begin
            busy_d = 1'b1;
            done_d = '{
                qp: upd.qp,
                msn: upd.syndrome[7] ? qp.una_msn : upd.msn,
                syndrome: upd.syndrome,
                flush: 1'b0
            };
          end
          if (!active_q[qp_raddr] && may_send && qp.head != qp.tail
              && window_open(qp.psn, qp_d.una, qp_d.mpr, bug_i == 8'd1)) begin
            push_load = 1'b1;
            active_d[qp_raddr] = 1'b1;
          end
        end else if (op_wqe) begin
          push_d.qp = wqe.qp;
          if (wqe_overrun) begin
            qp_we = 1'b1;
            qp_d.failed = 1'b1;
            if (qp.una_msn != qp.tail) begin
              busy_d = 1'b1;
              done_d = '{qp: wqe.qp, msn: 16'd0, syndrome: 8'd0, flush: 1'b1};
            end
          end else if (wqe_good) begin
            qp_we = 1'b1;
            qp_d.tail = qp.tail + 16'd1;
            if (wqe.imm_valid) begin
              qp_d.rqmsn = qp.rqmsn + 16'd1;
              qp_d.wimm = qp.wimm + 8'd1;
            end
            if (!active_q[qp_raddr] && qp.head != qp_d.tail
                && window_open(qp.psn, qp.una, qp.mpr, bug_i == 8'd1)) begin
              push_load = 1'b1;
              active_d[qp_raddr] = 1'b1;
            end
          end
        end else if (op_retx) begin
          single_d = 1'b0;
          state_d = StRetx;
        end else if (op_grant) begin
          state_d = StNew;
        end
      end
      StComplete: begin
        qp_we = 1'b1;
        if (cmp_none) begin
          qp_d.failed = 1'b1;
          busy_d = 1'b0;
        end else begin
          qp_d.una_msn = una_msn_next;
          if (row.imm_valid) begin
            qp_d.wimm = qp.wimm - 8'd1;
          end
          if (cmp_refused) begin
            qp_d.failed = 1'b1;
            done_d.flush = 1'b1;
          end
          if (cmp_refused || done_q.flush) begin
            busy_d = una_msn_next != qp.tail;
            if (bug_i == 8'd32 && una_msn_next + 16'd1 == qp.tail) begin
              busy_d = 1'b0;
            end
          end else if (!ends && una_msn_next == done_q.msn) begin
            busy_d = 1'b0;
          end
        end
      end
      StRetx: ;
      StNew: begin
        single_d = 1'b0;
        if (!new_can) begin
          active_d[qp_raddr] = 1'b0;
          push_load = 1'b1;
          push_d.more = 1'b0;
        end else if (qp.cc) begin
          ask_load = 1'b1;
          state_d = StWait;
        end
      end
      StWait: begin
        if (!ans_v) begin
          state_d = StWait;
        end else if (!send) begin
          park_load = 1'b1;
        end
      end
      default: ;
    endcase

    if (send) begin
      qp_we = 1'b1;
      qp_d.psn = psn_next;
      qp_d.head = head_next;
      qp_d.idx = seg_last ? 24'd0 : qp.idx + 24'd1;
      active_d[qp_raddr] = more;
      push_load = 1'b1;
      push_d.more = more;
      single_d = seg_first && seg_last;
    end
  end

  always_comb begin
    cqe_d.qp = wqe.qp;
    cqe_d.recv = 1'b0;
    cqe_d.status = CqStatusLocLength;
    if (qp.failed) begin
      cqe_d.status = CqStatusFlushed;
    end else if (wqe_bad_state) begin
      cqe_d.status = CqStatusLocState;
    end else if (wqe_overrun) begin
      cqe_d.status = CqStatusWimmOverrun;
    end
    cqe_d.wr_id = wqe.wr_id;
    cqe_d.imm = 32'd0;
    cqe_d.length = 32'd0;
    cqe_d.msn = 16'd0;
    cqe_load = op_wqe && !wqe_good;
    if (state_q == StComplete) begin
      cqe_d.qp = done_q.qp;
      cqe_d.status = CqStatusOk;
      if (done_q.flush) begin
        cqe_d.status = CqStatusFlushed;
      end else if (cmp_refused) begin
        cqe_d.status = done_q.syndrome;
      end
      cqe_d.wr_id = row.wr_id;
      cqe_d.length = row.length;
      cqe_d.msn = qp.una_msn;
      cqe_load = !cmp_none;
    end
  end

  assign cfg_ack_d = cfg_req_i && (cfg_ack_q || op_cfg);
  assign cfg_ack_o = cfg_ack_q;

  // ---- outputs

  grant_t park_d;
  ccask_t ask_d;
  qperr_t qperr_d;
  assign park_d = '{qp: hold_q.qp};
  assign ask_d = '{cc: {8'd0, qp.dest}, bytes: {2'd0, seg_size}};
  assign qperr_d = '{qp: wqe.qp, status: CqStatusWimmOverrun};

  mrc_out_reg #(
      .T(pkt_t)
  ) u_pkt (
      .clk_i,
      .rst_ni,
      .load_i(pkt_load),
      .data_i(pkt_d),
      .free_o(pkt_free),
      .valid_o(pkt_valid_o),
      .ready_i(pkt_ready_i),
      .data_o(pkt_o)
  );

  mrc_out_reg #(
      .T(sched_t)
  ) u_push (
      .clk_i,
      .rst_ni,
      .load_i(push_load),
      .data_i(push_d),
      .free_o(push_free),
      .valid_o(push_valid_o),
      .ready_i(push_ready_i),
      .data_o(push_o)
  );

  mrc_out_reg #(
      .T(grant_t)
  ) u_park (
      .clk_i,
      .rst_ni,
      .load_i(park_load),
      .data_i(park_d),
      .free_o(park_free),
      .valid_o(park_valid_o),
      .ready_i(park_ready_i),
      .data_o(park_o)
  );

  mrc_out_reg #(
      .T(ccask_t)
  ) u_ask (
      .clk_i,
      .rst_ni,
      .load_i(ask_load),
      .data_i(ask_d),
      .free_o(ask_free),
      .valid_o(ask_valid_o),
      .ready_i(ask_ready_i),
      .data_o(ask_o)
  );

  mrc_out_reg #(
      .T(qperr_t)
  ) u_qperr (
      .clk_i,
      .rst_ni,
      .load_i(wqe_overrun),
      .data_i(qperr_d),
      .free_o(qperr_free),
      .valid_o(qperr_valid_o),
      .ready_i(qperr_ready_i),
      .data_o(qperr_o)
  );

  mrc_out_reg #(
      .T(cqe_t)
  ) u_cqe (
      .clk_i,
      .rst_ni,
      .load_i(cqe_load),
      .data_i(cqe_d),
      .free_o(cqe_free),
      .valid_o(cqe_valid_o),
      .ready_i(cqe_ready_i),
      .data_o(cqe_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      cfg_ack_q <= 1'b0;
      rts_q <= '0;
      active_q <= '0;
      busy_q <= 1'b0;
      single_q <= 1'b0;
    end else begin
      state_q <= state_d;
      cfg_ack_q <= cfg_ack_d;
      rts_q <= rts_d;
      active_q <= active_d;
      busy_q <= busy_d;
      single_q <= single_d;
    end
  end

  always_ff @(posedge clk_i) begin
    done_q <= done_d;
    if (op_retx) begin
      hold_q <= retx;
    end else if (op_grant) begin
      hold_q.qp <= grant.qp;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, unused_counts, cfg_index_i, cfg_ctx, mtu_bytes, ring_rmsn, grant_ctx,
                       ans.cc};

endmodule
