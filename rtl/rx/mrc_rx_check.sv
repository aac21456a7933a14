// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Decides whether a received packet may touch anything: takes the lanes' descriptors in turn,
/// checks ICRC, QP, state, P_Key, length and memory region, sends WRITEs and probes to rx_track,
/// control packets to tx_inflight and endpoint packets to endpoint, and counts what it refuses. Two
/// stages, one packet per cycle. It keeps no packet and no sequence numbers. Contract:
/// docs/blocks/rx/rx_check.md.
module mrc_rx_check
  import mrc_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned NumMrs = 8
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input rx_check_csr_t csr_i,
    input cfg_t cfg_i,
    output logic cfg_ack_o,
    input logic [NumPlanes-1:0] desc_valid_i,
    output logic [NumPlanes-1:0] desc_ready_o,
    // Unpacked: the simulator moves single elements of it.
    input rxdesc_t desc_i[0:NumPlanes-1],
    output logic rxpkt_valid_o,
    input logic rxpkt_ready_i,
    output rxpkt_t rxpkt_o,
    output logic ctl_valid_o,
    input logic ctl_ready_i,
    output ctl_t ctl_o,
    output logic eprx_valid_o,
    input logic eprx_ready_i,
    output eprx_t eprx_o,
    output rx_check_pulses_t pulses_o
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned MrW = $clog2(NumMrs);
  localparam int unsigned PlaneW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1;
  // QPN of the endpoint packets (mrc.md section 2).
  localparam logic [23:0] EndpointQpn = 24'd2;

  if (NumQps < 2 || (NumQps & (NumQps - 1)) != 0 || NumMrs < 2 || (NumMrs & (NumMrs - 1)) != 0)
  begin : gen_bad_tables
    $error("%m: NumQps = %0d and NumMrs = %0d must be powers of two, at least 2", NumQps, NumMrs);
  end

  typedef struct packed {
    logic [2:0] mtu;
    logic [15:0] pkey;
    logic no_imm;  // it takes no immediates
  } qp_t;

  typedef struct packed {
    logic [31:0] rkey;
    logic [63:0] va;
    logic [63:0] length;
    logic [63:0] addr;
  } mr_t;

  // ---- stage A: one of the lanes' descriptors

  logic [NumPlanes-1:0] head_valid, gnt;
  rxdesc_t head[0:NumPlanes-1];
  logic [PlaneW-1:0] idx;
  logic any, a_free, a_load, a_valid_q, b_take, cfg_wait, cfg_do, cfg_ack_q;
  rxdesc_t d_q;
  logic [3:0] plane_q;
  logic [NumPlanes-1:0][1:0] unused_counts;

  for (genvar p = 0; p < int'(NumPlanes); p++) begin : gen_in
    mrc_fifo #(
        .T(rxdesc_t),
        .Depth(2)
    ) u_desc (
        .clk_i,
        .rst_ni,
        .valid_i(desc_valid_i[p]),
        .ready_o(desc_ready_o[p]),
        .data_i(desc_i[p]),
        .valid_o(head_valid[p]),
        .ready_i(a_load && gnt[p]),
        .data_o(head[p]),
        .count_o(unused_counts[p])
    );
  end

  mrc_rr_arb #(
      .N(NumPlanes)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i(head_valid),
      .take_i(a_load),
      .gnt_o(gnt),
      .idx_o(idx),
      .any_o(any)
  );

  // A table write stops the intake until it is done, so that stage A drains.
  assign cfg_wait = cfg_i.req && !cfg_ack_q;
  assign cfg_do = cfg_wait && !a_valid_q;
  assign a_free = !a_valid_q || b_take;
  assign a_load = a_free && any && !cfg_wait;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      a_valid_q <= 1'b0;
    end else begin
      a_valid_q <= a_load || (a_valid_q && !b_take);
    end
  end

  always_ff @(posedge clk_i) begin
    if (a_load) begin
      d_q <= head[idx];
      plane_q <= 4'(idx);
    end
  end

  // ---- tables

  logic [NumQps-1:0][2:0] state_q;
  logic [NumMrs-1:0] mr_valid_q;
  tbl_qp_ctx_t cfg_ctx;
  tbl_mr_t cfg_mr;
  logic cfg_qp_we, cfg_state_we, cfg_mr_we;
  logic [QpW-1:0] cfg_qp, qp;
  logic [MrW-1:0] cfg_mr_row, mr_row;
  qp_t qp_row;
  mr_t mr;

  assign cfg_ctx = tbl_qp_ctx_t'(cfg_i.data);
  assign cfg_mr = tbl_mr_t'(cfg_i.data[$bits(tbl_mr_t)-1:0]);
  assign cfg_qp = cfg_i.index[QpW-1:0];
  assign cfg_mr_row = cfg_i.index[MrW-1:0];
  assign cfg_qp_we = cfg_do && cfg_i.tbl == CfgTableQpCtx;
  assign cfg_state_we = cfg_do && cfg_i.tbl == CfgTableQpState;
  assign cfg_mr_we = cfg_do && cfg_i.tbl == CfgTableMr;
  assign cfg_ack_o = cfg_ack_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cfg_ack_q <= 1'b0;
    end else begin
      cfg_ack_q <= cfg_i.req && (cfg_ack_q || cfg_do);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= '0;
      mr_valid_q <= '0;
    end else begin
      // QP_STATE has the state where QP_CTX has it.
      if (cfg_qp_we || cfg_state_we) begin
        state_q[cfg_qp] <= cfg_ctx.state;
      end
      if (cfg_mr_we) begin
        mr_valid_q[cfg_mr_row] <= cfg_mr.valid;
      end
    end
  end

  mrc_rf_1r1w #(
      .Width($bits(qp_t)),
      .Depth(NumQps)
  ) u_qp (
      .clk_i,
      .raddr_i(qp),
      .rdata_o(qp_row),
      .we_i(cfg_qp_we),
      .waddr_i(cfg_qp),
      .wdata_i({cfg_ctx.mtu, cfg_ctx.pkey, cfg_ctx.max_wimm_dest == 8'd0})
  );

  mrc_rf_1r1w #(
      .Width($bits(mr_t)),
      .Depth(NumMrs)
  ) u_mr (
      .clk_i,
      .raddr_i(mr_row),
      .rdata_o(mr),
      .we_i(cfg_mr_we),
      .waddr_i(cfg_mr_row),
      .wdata_i({cfg_mr.rkey, cfg_mr.va, cfg_mr.length, cfg_mr.addr})
  );

  // ---- stage B

  logic [287:0] ext;
  logic [159:0] reth;
  logic [63:0] va, mr_off;
  logic [31:0] rkey, dmalen, imm;
  logic is_data, is_ctl, is_probe, is_ep_req, is_ep_resp, is_ep, pr, trimmed, no_pay, whole_mtu;
  logic imm_op, in_qps, qp_rts, qp_err;
  logic [23:0] qi;
  logic [15:0] mtu;
  logic [2:0] qp_state;
  logic [7:0] syndrome;
  logic [23:0] psn_at, off_at, base_at;
  logic drop_parse_d, drop_icrc_d, drop_qp_d, drop_pkey_d, drop_len_d, access_d, drop;
  logic drop_parse_q, drop_icrc_q, drop_qp_q, drop_pkey_q, drop_len_q, access_q;
  logic rxpkt_free, rxpkt_load, ctl_free, ctl_load, eprx_free, eprx_load;
  rxpkt_t rxpkt_d;
  ctl_t ctl_d;
  eprx_t eprx_d;
  logic [13:0] size;
  logic no_bytes;

  assign b_take = a_valid_q && rxpkt_free && ctl_free && eprx_free;

  assign ext = d_q.ext;
  // Trimmed on the way, then the ICRC cannot hold; or the lane itself lost the payload.
  assign trimmed = d_q.trim == TrimTrimmed || d_q.trim == TrimLastHop;
  assign no_pay = d_q.trim != TrimNone;
  assign is_data = d_q.opcode >= OpcodeWriteFirst && d_q.opcode <= OpcodeWriteOnlyImm;
  assign is_ctl = d_q.opcode == OpcodeSack || d_q.opcode == OpcodeNack || d_q.opcode == OpcodeAck;
  assign is_probe = d_q.opcode == OpcodeProbeRequest;
  assign is_ep_req = d_q.opcode == OpcodeEndpointRequest;
  assign is_ep_resp = d_q.opcode == OpcodeEndpointResponse;
  assign is_ep = (is_ep_req || is_ep_resp) && d_q.dqp == EndpointQpn && !trimmed;
  assign imm_op = d_q.opcode == OpcodeWriteLastImm || d_q.opcode == OpcodeWriteOnlyImm;
  assign whole_mtu = d_q.opcode == OpcodeWriteFirst || d_q.opcode == OpcodeWriteMiddle;
  assign qi = d_q.dqp - 24'(QpnBase);
  // Numbers below QpnBase wrap around to large ones.
  assign in_qps = qi < 24'(NumQps);
  assign qp = qi[QpW-1:0];
  assign qp_state = state_q[qp];
  // Bug 40: a QP in Error is taken for one in Rts.
  assign qp_err = qp_state == QpStateError && bug_i != BugErrorStateReceives;
  assign qp_rts = qp_state == QpStateRts
                  || (qp_state == QpStateError && bug_i == BugErrorStateReceives);
  assign mtu = 16'd256 << qp_row.mtu;

  // RETH and ImmDt follow the METH, or the TSETH.
  assign reth = d_q.ts ? ext[8*8+:160] : ext[4*8+:160];
  assign va = {reth[0+:8], reth[8+:8], reth[16+:8], reth[24+:8],
      reth[32+:8], reth[40+:8], reth[48+:8], reth[56+:8]};
  assign rkey = {reth[64+:8], reth[72+:8], reth[80+:8], reth[88+:8]};
  assign dmalen = {reth[96+:8], reth[104+:8], reth[112+:8], reth[120+:8]};
  assign imm = {reth[128+:8], reth[136+:8], reth[144+:8], reth[152+:8]};
  assign mr_row = rkey[8+:MrW];
  assign mr_off = va - mr.va;
  assign no_bytes = d_q.plen == 13'd0 || dmalen == 32'd0;

  always_comb begin
    drop_parse_d = 1'b0;
    drop_icrc_d = 1'b0;
    drop_qp_d = 1'b0;
    drop_pkey_d = 1'b0;
    drop_len_d = 1'b0;
    eprx_load = 1'b0;
    if (b_take) begin
      if (d_q.err != RxErrNone) begin
        drop_parse_d = 1'b1;
      end else if (!trimmed && !d_q.icrc_ok) begin
        drop_icrc_d = 1'b1;
      end else if (is_ep) begin
        eprx_load = 1'b1;
      end else if (!(is_data || is_ctl || is_probe) || !in_qps || (!is_data && trimmed) ||
                   !(qp_rts || (!is_ctl && (qp_state == QpStateRtr || qp_err)))) begin
        drop_qp_d = 1'b1;
      end else if (d_q.pkey[14:0] != qp_row.pkey[14:0] && bug_i != BugPkeyUnchecked) begin
        // Bug 20: P_Key is not checked.
        drop_pkey_d = 1'b1;
      end else if (is_data && !no_pay &&
                   ((whole_mtu ? {3'd0, d_q.plen} != mtu : {3'd0, d_q.plen} > mtu) ||
                    (csr_i.zero_drop && no_bytes))) begin
        drop_len_d = 1'b1;
      end
    end
  end

  assign drop = drop_icrc_d || drop_qp_d || drop_pkey_d || drop_len_d;
  assign rxpkt_load = b_take && !drop_parse_d && !eprx_load && (drop ? d_q.buf_valid : !is_ctl);
  assign ctl_load = b_take && !drop_parse_d && !drop && is_ctl;

  always_comb begin
    syndrome = 8'd0;
    access_d = 1'b0;
    if (rxpkt_load && !drop && is_data && !no_pay) begin
      if (no_bytes || (imm_op && qp_row.no_imm)) begin
        syndrome = {3'b011, csr_i.nak_invalid[4:0]};
      end else if (!mr_valid_q[mr_row] || mr.rkey != rkey || va < mr.va || mr_off > mr.length ||
                   (64'(d_q.plen) > mr.length - mr_off && bug_i != BugBoundsFirstByte)) begin
        // Bug 19: the bounds check looks at the first byte only.
        syndrome = {3'b011, csr_i.nak_access[4:0]};
        access_d = 1'b1;
      end
    end
  end

  // What counts beside the payload: all headers from the inner IP header on, pad and ICRC; or less.
  logic [13:0] around;
  always_comb begin
    unique case (csr_i.nominal)
      NominalPayload: around = 14'd0;
      NominalPayload40: around = 14'd40;
      default:
      around = 14'd84 + 14'(d_q.pad) + {11'd0, d_q.ts, 2'b00} + {11'd0, imm_op, 2'b00};
    endcase
  end
  assign size = {1'b0, d_q.plen} + around;

  always_comb begin
    rxpkt_d = '0;
    if (rxpkt_load) begin
      rxpkt_d.plane = plane_q;
      rxpkt_d.drop = drop;
      rxpkt_d.buf_valid = d_q.buf_valid && !(is_probe && !drop);
      if (!drop && is_probe) begin
        rxpkt_d.probe = 1'b1;
        rxpkt_d.qp = qi[15:0];
        rxpkt_d.psn = {8'd0, ext[4*8+:8], ext[5*8+:8]};
        rxpkt_d.ce = d_q.ce;
        rxpkt_d.ts = {ext[12*8+:8], ext[13*8+:8]};
        rxpkt_d.tsv = 1'b1;
        rxpkt_d.at = d_q.at;
        rxpkt_d.err = qp_err;
        rxpkt_d.entropy = d_q.entropy;
      end else if (!drop) begin
        rxpkt_d.qp = qi[15:0];
        rxpkt_d.psn = d_q.psn;
        rxpkt_d.ackreq = d_q.ackreq;
        rxpkt_d.rtx = d_q.rtx;
        rxpkt_d.ce = d_q.ce;
        rxpkt_d.trim = d_q.trim;
        rxpkt_d.ts = d_q.ts ? {ext[4*8+:8], ext[5*8+:8]} : 16'd0;
        rxpkt_d.tsv = d_q.ts;
        rxpkt_d.at = d_q.at;
        rxpkt_d.err = qp_err;
        rxpkt_d.entropy = d_q.entropy;
        rxpkt_d.rqmsn = {ext[0*8+:8], ext[1*8+:8]};
        rxpkt_d.msn = {ext[2*8+:8], ext[3*8+:8]};
        rxpkt_d.last = d_q.opcode >= OpcodeWriteLast;
        if (!no_pay) begin
          rxpkt_d.imm_valid = imm_op;
          rxpkt_d.imm = imm_op ? imm : 32'd0;
          rxpkt_d.plen = d_q.plen;
          rxpkt_d.size = size;
          rxpkt_d.dmalen = dmalen;
          rxpkt_d.haddr = (syndrome == 8'd0) ? mr.addr + mr_off : 64'd0;
          rxpkt_d.syndrome = syndrome;
        end
      end
    end
  end

  assign pr = ext[1*8+1];
  assign psn_at = {ext[13*8+:8], ext[14*8+:8], ext[15*8+:8]};
  assign off_at = {{8{ext[2*8+7]}}, ext[2*8+:8], ext[3*8+:8]};
  assign base_at = {{8{ext[18*8+7]}}, ext[18*8+:8], ext[19*8+:8]};

  always_comb begin
    ctl_d = '0;
    if (ctl_load) begin
      ctl_d.qp = qi[15:0];
      if (d_q.opcode == OpcodeSack) begin
        ctl_d.kind = CtlKindSack;
        // An answer to a probe carries the probe's id instead of an offset.
        ctl_d.psn = pr ? {8'd0, off_at[15:0]} : psn_at + off_at;
        ctl_d.cack = psn_at;
        ctl_d.base = psn_at + base_at;
        ctl_d.bitmap = {ext[20*8+:8], ext[21*8+:8], ext[22*8+:8], ext[23*8+:8],
            ext[24*8+:8], ext[25*8+:8], ext[26*8+:8], ext[27*8+:8]};
        ctl_d.ooo = {ext[30*8+:7], ext[31*8+:8]};
        ctl_d.mpr = ext[17*8+:8];
        ctl_d.ts = {ext[28*8+:8], ext[29*8+:8]};
        ctl_d.restore = ext[32*8+7];
        ctl_d.pen = ext[32*8+:7];
        ctl_d.rcvd = {ext[33*8+:8], ext[34*8+:8], ext[35*8+:8]};
        ctl_d.m = ext[1*8+5+:2];
        ctl_d.pr = pr;
        ctl_d.entropy = {ext[4*8+:8], ext[5*8+:8], ext[6*8+:8], ext[7*8+:8]};
      end else if (d_q.opcode == OpcodeNack) begin
        ctl_d.kind = CtlKindNack;
        ctl_d.psn = psn_at;
        ctl_d.entropy = {ext[4*8+:8], ext[5*8+:8], ext[6*8+:8], ext[7*8+:8]};
        ctl_d.reason = ext[2*8+:8];
        ctl_d.ts = {ext[18*8+:8], ext[19*8+:8]};
      end else begin
        ctl_d.kind = CtlKindAck;
        ctl_d.psn = d_q.psn;
        ctl_d.reason = ext[0*8+:8];
        ctl_d.msn = {ext[2*8+:8], ext[3*8+:8]};
      end
    end
  end

  always_comb begin
    eprx_d = '0;
    if (eprx_load) begin
      eprx_d.resp = is_ep_resp;
      eprx_d.id = d_q.psn[15:0];
      eprx_d.plane = plane_q;
      eprx_d.tsv = 1'b1;
      eprx_d.at = d_q.at;
      if (is_ep_resp) begin
        eprx_d.op = ext[1*8+2+:2];
        eprx_d.ts = {ext[28*8+:8], ext[29*8+:8]};
      end else begin
        eprx_d.op = ext[1*8+:2];
        eprx_d.mask = {ext[4*8+:8], ext[5*8+:8], ext[6*8+:8], ext[7*8+:8]};
        eprx_d.ts = {ext[12*8+:8], ext[13*8+:8]};
        for (int unsigned i = 0; i < 16; i++) begin
          eprx_d.sip[8*(15-i)+:8] = ext[8*(16+i)+:8];
        end
      end
    end
  end

  mrc_out_reg #(
      .T(rxpkt_t)
  ) u_rxpkt (
      .clk_i,
      .rst_ni,
      .load_i(rxpkt_load),
      .data_i(rxpkt_d),
      .free_o(rxpkt_free),
      .valid_o(rxpkt_valid_o),
      .ready_i(rxpkt_ready_i),
      .data_o(rxpkt_o)
  );

  mrc_out_reg #(
      .T(ctl_t)
  ) u_ctl (
      .clk_i,
      .rst_ni,
      .load_i(ctl_load),
      .data_i(ctl_d),
      .free_o(ctl_free),
      .valid_o(ctl_valid_o),
      .ready_i(ctl_ready_i),
      .data_o(ctl_o)
  );

  mrc_out_reg #(
      .T(eprx_t)
  ) u_eprx (
      .clk_i,
      .rst_ni,
      .load_i(eprx_load),
      .data_i(eprx_d),
      .free_o(eprx_free),
      .valid_o(eprx_valid_o),
      .ready_i(eprx_ready_i),
      .data_o(eprx_o)
  );

  // ---- counters' pulses

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      drop_parse_q <= 1'b0;
      drop_icrc_q <= 1'b0;
      drop_qp_q <= 1'b0;
      drop_pkey_q <= 1'b0;
      drop_len_q <= 1'b0;
      access_q <= 1'b0;
    end else begin
      drop_parse_q <= drop_parse_d;
      drop_icrc_q <= drop_icrc_d;
      drop_qp_q <= drop_qp_d;
      drop_pkey_q <= drop_pkey_d;
      drop_len_q <= drop_len_d;
      access_q <= access_d;
    end
  end

  assign pulses_o.drop_parse = drop_parse_q;
  assign pulses_o.drop_icrc = drop_icrc_q;
  assign pulses_o.drop_qp = drop_qp_q;
  assign pulses_o.drop_pkey = drop_pkey_q;
  assign pulses_o.drop_len = drop_len_q;
  assign pulses_o.access = access_q;

  logic unused_bits;
  assign unused_bits = ^{unused_counts, cfg_i.index, cfg_ctx.srv6, cfg_ctx.dip, cfg_ctx.mpr_dest,
                         cfg_ctx.dest, cfg_ctx.dmac, cfg_ctx.rqmsn, cfg_ctx.msn,
                         cfg_ctx.rq_psn, cfg_ctx.max_wimm, cfg_ctx.sq_psn,
                         cfg_ctx.rsvd90, cfg_ctx.retry_exp, cfg_ctx.timeout, cfg_ctx.retry_linear,
                         cfg_ctx.backup, cfg_ctx.dqpn, cfg_ctx.profile, cfg_ctx.mpr,
                         cfg_ctx.rsvd13, cfg_ctx.cc, cfg_ctx.dyn_mpr, cfg_ctx.svc_time,
                         cfg_ctx.trim_nack, cfg_ctx.ts, cfg_ctx.encap, cfg_mr.rsvd33};

  // A NAK begins with 011 whatever the register says.
  logic unused_nak;
  assign unused_nak = &{1'b0, csr_i.nak_invalid[7:5], csr_i.nak_access[7:5]};

  // ---- what always holds

  `MRC_ASSERT(TakesFromOne, !a_load || (gnt & head_valid) != '0,
      "a descriptor is taken that there is not")
  `MRC_ASSERT(CfgWhenEmpty, !cfg_do || !a_valid_q,
      "a table is written while a packet is judged")
  `MRC_ASSERT(LeavesWhenThere, !b_take || a_valid_q,
      "nothing leaves the stage")

endmodule
