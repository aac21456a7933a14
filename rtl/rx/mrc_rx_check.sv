// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Decides whether a received packet may touch anything: takes the lanes' descriptors in turn,
/// checks ICRC, QP, state, P_Key, length and memory region, sends WRITEs and probes to rx_track,
/// control packets to tx_inflight and endpoint packets to endpoint, and counts what it refuses.
/// Packets of our own that came back go to tx_inflight, or no further. Two stages, one packet per
/// cycle. It keeps no packet and no sequence numbers. Contract: docs/design/blocks/rx/rx_check.md.
module mrc_rx_check
  import mrc_pkg::*;
  import mrc_addr_pkg::*;
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
  localparam int unsigned HighW = 24 - QpW;
  localparam int unsigned MrW = $clog2(NumMrs);
  localparam int unsigned PlaneW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1;
  // Behind the METH, in front of the RETH.
  localparam int unsigned MethBits = 8 * MethBytes;
  localparam int unsigned TsethBits = 8 * TsethBytes;
  localparam int unsigned WriteBits = 8 * (RethBytes + ImmdtBytes);

  if (NumQps < 2 || (NumQps & (NumQps - 1)) != 0 || NumMrs < 2 || (NumMrs & (NumMrs - 1)) != 0)
  begin : gen_bad_tables
    $error("%m: NumQps = %0d and NumMrs = %0d must be powers of two, at least 2", NumQps, NumMrs);
  end

  typedef struct packed {
    logic [2:0] mtu;
    logic [15:0] pkey;
    logic no_imm;  // it takes no immediates
  } qp_t;

  // To whom a QP sends.
  typedef struct packed {
    logic [23:0] dqpn;
    logic [15:0] fold;  // of the peer's address
  } peer_t;

  // A region as packets ask for it: compared with sums that need no row, so that the row is read,
  // compared, and added to beside each other.
  typedef struct packed {
    logic [31:0] rkey;
    logic [63:0] va;
    logic [64:0] behind;  // va + length
    logic [63:0] delta;   // from va to the address in host memory
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

  logic [1:0][2:0] state;  // of the packet's QP, of that whose packet came back
  logic mr_valid;
  tbl_qp_ctx_t cfg_ctx;
  tbl_mr_t cfg_mr;
  tbl_qp_qpn_t cfg_qpn;
  logic cfg_qp_we, cfg_state_we, cfg_mr_we, cfg_qpn_we, cfg_high_we;
  logic [QpW-1:0] cfg_qp, qp;
  logic [MrW-1:0] cfg_mr_row, mr_row;
  qp_t qp_row;
  logic [HighW-1:0] high;
  mr_t mr, mr_wdata;
  logic rev_valid;
  logic cfg_rev_we;
  logic [15:0] cfg_fold;
  logic [QpW-1:0] cfg_key, back_key, back_qp;
  peer_t back_peer;

  assign cfg_ctx = tbl_qp_ctx_t'(cfg_i.data);
  assign cfg_mr = tbl_mr_t'(cfg_i.data[$bits(tbl_mr_t)-1:0]);
  assign cfg_qpn = cfg_i.data[$bits(tbl_qp_qpn_t)-1:0];
  assign cfg_qp = cfg_i.index[QpW-1:0];
  assign cfg_mr_row = cfg_i.index[MrW-1:0];
  assign cfg_qp_we = cfg_do && cfg_i.tbl == CfgTableQpCtx;
  assign cfg_state_we = cfg_do && cfg_i.tbl == CfgTableQpState;
  assign cfg_mr_we = cfg_do && cfg_i.tbl == CfgTableMr;
  assign cfg_qpn_we = cfg_do && cfg_i.tbl == CfgTableQpQpn;
  assign cfg_high_we = cfg_qpn_we || (cfg_qp_we
      && (cfg_ctx.state == QpStateReset || cfg_ctx.state == QpStateInit));
  assign cfg_rev_we = cfg_qp_we && cfg_ctx.state != QpStateReset;
  assign cfg_key = cfg_ctx.dqpn[QpW-1:0] ^ QpW'(cfg_fold);

  always_comb begin
    cfg_fold = 16'd0;
    if (cfg_qp_we) begin
      cfg_fold = address_fold(cfg_ctx.dip, csr_i.ip_plane_enable, csr_i.ip_plane_lsb);
    end
  end

  assign mr_wdata = '{
          rkey: cfg_mr.rkey,
          va: cfg_mr.va,
          behind: {1'b0, cfg_mr.va} + {1'b0, cfg_mr.length},
          delta: cfg_mr.addr - cfg_mr.va
      };
  assign cfg_ack_o = cfg_ack_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cfg_ack_q <= 1'b0;
    end else begin
      cfg_ack_q <= cfg_i.req && (cfg_ack_q || cfg_do);
    end
  end

  // QP_STATE has the state where QP_CTX has it.
  mrc_rf_reset #(
      .Width(3),
      .Depth(NumQps),
      .Reads(2)
  ) u_state (
      .clk_i,
      .rst_ni,
      .raddr_i({back_qp, qp}),
      .rdata_o(state),
      .we_i(cfg_qp_we || cfg_state_we),
      .waddr_i(cfg_qp),
      .wdata_i(cfg_ctx.state)
  );

  mrc_rf_reset #(
      .Width(1),
      .Depth(NumMrs)
  ) u_mr_valid (
      .clk_i,
      .rst_ni,
      .raddr_i(mr_row),
      .rdata_o(mr_valid),
      .we_i(cfg_mr_we),
      .waddr_i(cfg_mr_row),
      .wdata_i(cfg_mr.valid)
  );

  mrc_bits #(
      .N(NumQps)
  ) u_rev_valid (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .set_i(cfg_rev_we),
      .set_idx_i(cfg_key),
      .idx_i(back_key),
      .in_o(rev_valid)
  );

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

  // Upper bits of its QPN. Before the first row of a QP they mean nothing, and nobody receives.
  mrc_rf_1r1w #(
      .Width(HighW),
      .Depth(NumQps)
  ) u_high (
      .clk_i,
      .raddr_i(qp),
      .rdata_o(high),
      .we_i(cfg_high_we),
      .waddr_i(cfg_qp),
      .wdata_i(cfg_qpn_we ? cfg_qpn.high[HighW-1:0] : '0)
  );

  // Which QP sends to a number at an address; and where that QP sends in truth.
  mrc_rf_1r1w #(
      .Width(QpW),
      .Depth(NumQps)
  ) u_rev (
      .clk_i,
      .raddr_i(back_key),
      .rdata_o(back_qp),
      .we_i(cfg_rev_we),
      .waddr_i(cfg_key),
      .wdata_i(cfg_qp)
  );

  mrc_rf_1r1w #(
      .Width($bits(peer_t)),
      .Depth(NumQps)
  ) u_peer (
      .clk_i,
      .raddr_i(back_qp),
      .rdata_o(back_peer),
      .we_i(cfg_qp_we),
      .waddr_i(cfg_qp),
      .wdata_i({cfg_ctx.dqpn, cfg_fold})
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
      .wdata_i(mr_wdata)
  );

  // An offset in the width of a PSN.
  function automatic logic [23:0] extended(logic [15:0] x);
    return {{8{x[15]}}, x};
  endfunction

  // ---- stage B

  logic [8*ExtBytes-1:0] ext;
  logic [WriteBits-1:0] write;
  hdr_meth_t meth;
  hdr_tseth_t tseth;
  hdr_reth_t reth;
  hdr_immdt_t immdt;
  hdr_peth_t peth;
  hdr_seth_t seth;
  hdr_cc_state_t cc_state;
  hdr_neth_t neth;
  hdr_aeth_t aeth;
  hdr_erth_t erth;
  hdr_eeth_t eeth;
  logic [64:0] end_va;
  logic is_data, is_ctl, is_probe, is_ep_req, is_ep_resp, is_ep, trimmed, no_pay, whole_mtu;
  logic imm_op, named, qp_rts, qp_err;
  logic [23:0] n;  // QPN without QpnBase
  logic [15:0] mtu;
  logic [2:0] qp_state;
  logic [7:0] syndrome;
  logic drop_parse_d, drop_icrc_d, drop_qp_d, drop_pkey_d, drop_len_d, access_d, returned_d, drop;
  logic drop_parse_q, drop_icrc_q, drop_qp_q, drop_pkey_q, drop_len_q, access_q, returned_q;
  logic rxpkt_free, rxpkt_load, ctl_free, ctl_load, eprx_free, eprx_load;
  rxpkt_t rxpkt_d;
  ctl_t ctl_d;
  eprx_t eprx_d;
  logic [13:0] size;
  logic no_bytes, empty, zero_drop, came_back, back_known;
  logic [127:0] back_ip;
  logic [15:0] back_fold;

  assign b_take = a_valid_q && rxpkt_free && ctl_free && eprx_free;

  assign ext = d_q.ext;
  // Trimmed on the way, then the ICRC cannot hold; or the lane itself lost the payload; or trimmed
  // and sent back.
  assign trimmed = d_q.trim == TrimTrimmed || d_q.trim == TrimLastHop;
  assign came_back = d_q.trim == TrimReturned;
  assign no_pay = d_q.trim != TrimNone;
  assign is_data = d_q.opcode >= OpcodeWriteFirst && d_q.opcode <= OpcodeWriteOnlyImm;
  assign is_ctl = d_q.opcode == OpcodeSack || d_q.opcode == OpcodeNack || d_q.opcode == OpcodeAck;
  assign is_probe = d_q.opcode == OpcodeProbeRequest;
  assign is_ep_req = d_q.opcode == OpcodeEndpointRequest;
  assign is_ep_resp = d_q.opcode == OpcodeEndpointResponse;
  assign is_ep = (is_ep_req || is_ep_resp) && d_q.dqp == 24'(EndpointDqp) && !trimmed;
  assign imm_op = d_q.opcode == OpcodeWriteLastImm || d_q.opcode == OpcodeWriteOnlyImm;
  assign whole_mtu = d_q.opcode == OpcodeWriteFirst || d_q.opcode == OpcodeWriteMiddle;
  assign n = d_q.dqp - 24'(QpnBase);
  assign qp = n[QpW-1:0];
  assign named = d_q.dqp >= 24'(QpnBase) && n[23:QpW] == high;
  assign qp_state = state[0];
  // Bug 40: a QP in Error is taken for one in Rts.
  assign qp_err = qp_state == QpStateError && bug_i != BugErrorStateReceives;
  assign qp_rts = qp_state == QpStateRts
                  || (qp_state == QpStateError && bug_i == BugErrorStateReceives);
  assign mtu = 16'd256 << qp_row.mtu;

  // RETH and ImmDt follow the METH, or the TSETH.
  assign write = d_q.ts ? ext[MethBits+TsethBits+:WriteBits] : ext[MethBits+:WriteBits];
  assign meth = meth_of(ext[0+:MethBits]);
  assign tseth = tseth_of(ext[MethBits+:TsethBits]);
  assign reth = reth_of(write[0+:8*RethBytes]);
  assign immdt = immdt_of(write[8*RethBytes+:8*ImmdtBytes]);
  assign mr_row = reth.r_key[8+:MrW];
  // Bug 19: the bounds check looks at the first byte only.
  assign end_va = {1'b0, reth.va} + ((bug_i == BugBoundsFirstByte) ? 65'd0 : 65'(d_q.plen));
  assign no_bytes = d_q.plen == 13'd0 || reth.dma_length == 32'd0;
  assign empty = (d_q.opcode == OpcodeWriteOnly || d_q.opcode == OpcodeWriteOnlyImm)
      && d_q.plen == 13'd0 && reth.dma_length == 32'd0 && csr_i.zero_length == ZeroLengthLegal;
  assign zero_drop = csr_i.zero_length != ZeroLengthLegal && csr_i.zero_length != ZeroLengthNak;

  // Whose packet came back: of the QP that sends to the number that it names, at the address that
  // the lane has put behind. Worked out while the stage waits too.
  always_comb begin
    back_ip = 128'd0;
    if (a_valid_q && came_back) begin
      for (int unsigned i = 0; i < 16; i++) begin
        back_ip[8*(15-i)+:8] = ext[8*(ErthBytes+i)+:8];
      end
    end
  end

  assign back_fold = address_fold(back_ip, csr_i.ip_plane_enable, csr_i.ip_plane_lsb);
  assign back_key = d_q.dqp[QpW-1:0] ^ QpW'(back_fold);
  assign back_known = csr_i.returned == ReturnedLearn && rev_valid
      && state[1] == QpStateRts && back_peer == {d_q.dqp, back_fold};

  always_comb begin
    drop_parse_d = 1'b0;
    drop_icrc_d = 1'b0;
    drop_qp_d = 1'b0;
    drop_pkey_d = 1'b0;
    drop_len_d = 1'b0;
    returned_d = 1'b0;
    eprx_load = 1'b0;
    if (b_take) begin
      if (d_q.err != RxErrNone) begin
        drop_parse_d = 1'b1;
      end else if (came_back) begin
        returned_d = is_data;
        drop_qp_d = !is_data;
      end else if (!trimmed && !d_q.icrc_ok) begin
        drop_icrc_d = 1'b1;
      end else if (is_ep) begin
        eprx_load = 1'b1;
      end else if (!(is_data || is_ctl || is_probe) || !named || (!is_data && trimmed) ||
                   !(qp_rts || (!is_ctl && (qp_state == QpStateRtr || qp_err)))) begin
        drop_qp_d = 1'b1;
      end else if (d_q.pkey[14:0] != qp_row.pkey[14:0] && bug_i != BugPkeyUnchecked) begin
        // Bug 20: P_Key is not checked.
        drop_pkey_d = 1'b1;
      end else if (is_data && !no_pay &&
                   ((whole_mtu ? {3'd0, d_q.plen} != mtu : {3'd0, d_q.plen} > mtu) ||
                    (zero_drop && no_bytes))) begin
        drop_len_d = 1'b1;
      end
    end
  end

  assign drop = drop_icrc_d || drop_qp_d || drop_pkey_d || drop_len_d;
  assign rxpkt_load = b_take && !drop_parse_d && !eprx_load && !returned_d
      && (drop ? d_q.buf_valid : !is_ctl);
  assign ctl_load = b_take && !drop_parse_d && !drop && (returned_d ? back_known : is_ctl);

  always_comb begin
    syndrome = 8'd0;
    access_d = 1'b0;
    if (rxpkt_load && !drop && is_data && !no_pay) begin
      // Bug 99: the region of a WRITE of no bytes is looked at.
      if ((no_bytes && !empty) || (imm_op && qp_row.no_imm)) begin
        syndrome = {AethClassNak, csr_i.nak_invalid[4:0]};
      end else if (empty && bug_i != BugEmptyRkeyChecked) begin
        syndrome = 8'd0;
      end else if (!mr_valid || mr.rkey != reth.r_key || reth.va < mr.va ||
                   end_va > mr.behind) begin
        syndrome = {AethClassNak, csr_i.nak_access[4:0]};
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

  assign peth = peth_of(ext[0+:8*PethBytes]);

  always_comb begin
    rxpkt_d = '0;
    if (rxpkt_load) begin
      rxpkt_d.plane = plane_q;
      rxpkt_d.drop = drop;
      rxpkt_d.buf_valid = d_q.buf_valid && !(is_probe && !drop);
      if (!drop && is_probe) begin
        rxpkt_d.probe = 1'b1;
        rxpkt_d.qp = qp_index_t'(qp);
        rxpkt_d.psn = {8'd0, peth.probe_id};
        rxpkt_d.ce = d_q.ce;
        rxpkt_d.ts = peth.tx_timestamp16;
        rxpkt_d.tsv = 1'b1;
        rxpkt_d.at = d_q.at;
        rxpkt_d.err = qp_err;
        rxpkt_d.entropy = d_q.entropy;
      end else if (!drop) begin
        rxpkt_d.qp = qp_index_t'(qp);
        rxpkt_d.psn = d_q.psn;
        rxpkt_d.ackreq = d_q.ackreq;
        rxpkt_d.rtx = d_q.rtx;
        rxpkt_d.ce = d_q.ce;
        rxpkt_d.trim = d_q.trim;
        rxpkt_d.ts = d_q.ts ? tseth.tx_timestamp16 : 16'd0;
        rxpkt_d.tsv = d_q.ts;
        rxpkt_d.at = d_q.at;
        rxpkt_d.err = qp_err;
        rxpkt_d.entropy = d_q.entropy;
        rxpkt_d.rqmsn = meth.rqmsn;
        rxpkt_d.msn = meth.msn;
        rxpkt_d.last = d_q.opcode >= OpcodeWriteLast;
        if (!no_pay) begin
          rxpkt_d.imm_valid = imm_op;
          rxpkt_d.imm = imm_op ? immdt.value : 32'd0;
          rxpkt_d.plen = d_q.plen;
          rxpkt_d.size = size;
          rxpkt_d.dmalen = reth.dma_length;
          rxpkt_d.haddr = (syndrome == 8'd0 && !empty) ? reth.va + mr.delta : 64'd0;
          rxpkt_d.syndrome = syndrome;
        end
      end
    end
  end

  assign seth = seth_of(ext[0+:8*SethBytes]);
  assign cc_state = cc_state_of(ext[8*SethBytes+:8*CcStateBytes]);
  assign neth = neth_of(ext[0+:8*NethBytes]);
  assign aeth = aeth_of(ext[0+:8*AethBytes]);

  always_comb begin
    ctl_d = '0;
    if (ctl_load) begin
      ctl_d.qp = qp_index_t'(qp);
      if (came_back) begin
        ctl_d.kind = CtlKindReturned;
        ctl_d.qp = qp_index_t'(back_qp);
        ctl_d.psn = d_q.psn;
        ctl_d.m = {1'b0, d_q.rtx};
        ctl_d.entropy = d_q.entropy;
      end else if (d_q.opcode == OpcodeSack) begin
        ctl_d.kind = CtlKindSack;
        // An answer to a probe carries the probe's id instead of an offset.
        ctl_d.psn = seth.pr ? {8'd0, seth.ack_psn_offset}
                            : seth.cack_psn + extended(seth.ack_psn_offset);
        ctl_d.cack = seth.cack_psn;
        ctl_d.base = seth.cack_psn + extended(seth.sack_offset);
        ctl_d.bitmap = seth.sack_bitmap;
        ctl_d.ooo = cc_state.ooo_count;
        ctl_d.mpr = seth.mpr;
        ctl_d.ts = cc_state.tx_timestamp16;
        ctl_d.restore = cc_state.restore_cwnd;
        ctl_d.pen = cc_state.rcv_cwnd_pen;
        ctl_d.rcvd = cc_state.rcvd_bytes;
        ctl_d.m = seth.m;
        ctl_d.pr = seth.pr;
        ctl_d.entropy = seth.entropy;
      end else if (d_q.opcode == OpcodeNack) begin
        ctl_d.kind = CtlKindNack;
        ctl_d.psn = neth.nack_psn;
        ctl_d.entropy = neth.entropy;
        ctl_d.reason = neth.reason;
        ctl_d.ts = neth.tx_timestamp16;
      end else begin
        ctl_d.kind = CtlKindAck;
        ctl_d.psn = d_q.psn;
        ctl_d.reason = aeth.syndrome;
        ctl_d.msn = aeth.msn[15:0];
      end
    end
  end

  assign eeth = eeth_of(ext[0+:8*EethBytes]);
  assign erth = erth_of(ext[0+:8*ErthBytes]);

  always_comb begin
    eprx_d = '0;
    if (eprx_load) begin
      eprx_d.resp = is_ep_resp;
      eprx_d.id = d_q.psn[15:0];
      eprx_d.plane = plane_q;
      eprx_d.tsv = 1'b1;
      eprx_d.at = d_q.at;
      if (is_ep_resp) begin
        eprx_d.op = eeth.op;
        eprx_d.ts = eeth.tx_timestamp16;
      end else begin
        eprx_d.op = erth.op;
        eprx_d.mask = erth.port_status_mask;
        eprx_d.ts = erth.tx_timestamp16;
        // Behind the request's header the lane has put the requestor's address.
        for (int unsigned i = 0; i < 16; i++) begin
          eprx_d.sip[8*(15-i)+:8] = ext[8*(ErthBytes+i)+:8];
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
      returned_q <= 1'b0;
    end else begin
      drop_parse_q <= drop_parse_d;
      drop_icrc_q <= drop_icrc_d;
      drop_qp_q <= drop_qp_d;
      drop_pkey_q <= drop_pkey_d;
      drop_len_q <= drop_len_d;
      access_q <= access_d;
      returned_q <= returned_d;
    end
  end

  assign pulses_o = '{
      drop_parse: drop_parse_q, drop_icrc: drop_icrc_q, drop_qp: drop_qp_q,
      drop_pkey: drop_pkey_q, drop_len: drop_len_q, access: access_q, returned: returned_q
  };

  logic unused_bits;
  assign unused_bits = ^{unused_counts, cfg_i.index, cfg_ctx.srv6, cfg_ctx.mpr_dest,
                         cfg_ctx.dest, cfg_ctx.dmac, cfg_ctx.rqmsn, cfg_ctx.msn,
                         cfg_ctx.rq_psn, cfg_ctx.max_wimm, cfg_ctx.sq_psn,
                         cfg_ctx.retry_exp, cfg_ctx.timeout, cfg_ctx.retry_linear,
                         cfg_ctx.backup, cfg_ctx.profile, cfg_ctx.mpr,
                         cfg_ctx.rsvd13, cfg_ctx.cc, cfg_ctx.dyn_mpr, cfg_ctx.svc_time,
                         cfg_ctx.trim_nack, cfg_ctx.ts, cfg_ctx.encap, cfg_mr.rsvd33, cfg_qpn};

  // Fields of received headers that say nothing to this NIC.
  logic unused_fields;
  assign unused_fields = ^{tseth.tsr, tseth.reserved2_6, tseth.ftype,
                           peth.reserved0, peth.vendor_info, peth.reserved6, peth.spdcid,
                           peth.dpdcid, peth.tsr, peth.reserved14_6, peth.ftype,
                           seth.type_, seth.next_header, seth.reserved1_4, seth.reserved1_0,
                           seth.spdcid, seth.dpdcid, seth.reserved12, seth.cc_type, seth.cc_flags,
                           cc_state.reserved2,
                           neth.type_, neth.next_header, neth.reserved1_6, neth.vendor_info,
                           neth.spdcid, neth.dpdcid, neth.reserved12, neth.cc_type, neth.cc_flags,
                           neth.reserved17, aeth.msn[23:16],
                           erth.reserved0, erth.reserved1, erth.reserved2, erth.vendor_info,
                           erth.reserved8, erth.tsr, erth.reserved14_6, erth.ftype,
                           eeth.reserved0, eeth.reserved1, eeth.reserved1_1, eeth.reserved2,
                           eeth.reserved10, eeth.reserved18, eeth.reserved26, eeth.reserved30};

  // A NAK begins with 011 whatever the register says.
  logic unused_nak;
  assign unused_nak = &{1'b0, csr_i.nak_invalid[7:5], csr_i.nak_access[7:5]};

  // ---- what always holds

  `MRC_ASSERT_IF(TakesFromOne, a_load, (gnt & head_valid) != '0,
      "a descriptor is taken that there is not")
  `MRC_ASSERT_IF(CfgWhenEmpty, cfg_do, !a_valid_q,
      "a table is written while a packet is judged")
  `MRC_ASSERT_IF(LeavesWhenThere, b_take, a_valid_q,
      "nothing leaves the stage")
  `MRC_ASSERT_IF(EmptyHasNoPlace, rxpkt_load && !drop && empty && !no_pay,
      rxpkt_d.haddr == 64'd0 && !rxpkt_d.buf_valid,
      "a WRITE of no bytes has an address, or payload that waits")
  `MRC_ASSERT_IF(ReturnedToNoResponder, rxpkt_load, !came_back,
      "a packet of our own that came back is taken for the peer's")

endmodule
