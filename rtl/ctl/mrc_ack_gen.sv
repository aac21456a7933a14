// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Turns what the responder and endpoint owe into control packets: SACK, NACK, ACK and endpoint
/// responses with their extension header bytes, on the plane the cause came from while that is up
/// on both sides, on an entropy value that has worked there lately. One per cycle. Semantic ACKs
/// come a gap apart, each QP in its turn, and what completes meanwhile is acknowledged together.
/// Where it has no fresh value it asks endpoint for a probe. The question for a peer's state
/// becomes two reliability probes, one behind the other, which go out as SACKs about data do. It
/// queues sixteen responses of rx_track and merges none of these. Contract:
/// docs/design/blocks/ctl/ack_gen.md.
module mrc_ack_gen
  import mrc_pkg::*;
  import mrc_probe_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned NumDests = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input ack_gen_csr_t csr_i,
    input logic [NumPlanes-1:0] port_up_i,
    input logic [31:0] tick_i,
    input cfg_t cfg_i,
    output logic cfg_ack_o,
    input logic resp_valid_i,
    output logic resp_ready_o,
    input resp_t resp_i,
    input logic ackev_valid_i,
    output logic ackev_ready_o,
    input ackev_t ackev_i,
    input logic eresp_valid_i,
    output logic eresp_ready_o,
    input resp_t eresp_i,
    input logic okev_valid_i,
    output logic okev_ready_o,
    input okev_t okev_i,
    input logic eokev_valid_i,
    output logic eokev_ready_o,
    input okev_t eokev_i,
    input logic stateq_valid_i,
    output logic stateq_ready_o,
    input stateq_t stateq_i,
    output logic ctlpkt_valid_o,
    input logic ctlpkt_ready_i,
    output ctlpkt_t ctlpkt_o,
    output logic want_valid_o,
    input logic want_ready_i,
    output want_t want_o
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned PlaneW = $clog2(NumPlanes);
  localparam int unsigned DestW = $clog2(NumDests);

  if (NumPlanes < 2 || NumPlanes > MaxPlanes || NumPlanes != 2 ** PlaneW || NumQps < 2
      || NumQps != 2 ** QpW || NumDests < 2 || NumDests > 4096 || NumDests != 2 ** DestW)
  begin : gen_bad_params
    $error("%m: NumPlanes, NumQps and NumDests must be powers of two, at least 2");
  end

  typedef struct packed {
    logic [15:0] dqpn;  // low bits
    logic [DestW-1:0] dest;
    logic svc_time;
  } qp_t;

  // The newest acknowledgement a QP owes.
  typedef struct packed {
    logic [3:0] plane;
    logic [23:0] psn;
    logic [15:0] msn;
    logic again;  // it is repeated
  } oack_t;

  // ---- inputs

  logic resp_v, eresp_v, ackev_v, go, load, resp_pop, eresp_pop, free, want_free;
  logic cfg_do, cfg_we, cfg_qpn_we, cfg_high_we, cfg_ack_q;
  logic okev_v, eokev_v, okev_pop, eokev_pop, ok_now;
  logic stateq_v, stateq_pop, state_turn, eresp_first, resp_first, again_q, again_d, one_probe;
  logic [4:0] unused_count;
  logic [4:0][1:0] unused_counts;
  resp_t resp, eresp, rest, r;
  stateq_t stateq;
  ackev_t ackev;
  okev_t okev, eokev, ok;
  ctlpkt_t out;
  hdr_seth_t seth;
  hdr_cc_state_t cc_state;
  hdr_neth_t neth;
  hdr_eeth_t eeth;
  hdr_aeth_t aeth;
  tbl_qp_ctx_t cfg_ctx;
  tbl_qp_qpn_t cfg_qpn;
  localparam int unsigned HighW = (QpW < 16) ? 16 - QpW : 1;  // 65 536 QPs need none

  logic [HighW-1:0] high;
  qp_t qp;
  logic [PlaneW-1:0] plane;
  logic [15:0] spdcid, dpdcid, ack_off, sack_off, held, service, ts, probe_id;
  logic [23:0] rcvd;

  mrc_fifo #(
      .T(resp_t),
      .Depth(16)
  ) u_resp (
      .clk_i,
      .rst_ni,
      .valid_i(resp_valid_i),
      .ready_o(resp_ready_o),
      .data_i(resp_i),
      .valid_o(resp_v),
      .ready_i(resp_pop),
      .data_o(resp),
      .count_o(unused_count)
  );

  mrc_fifo #(
      .T(resp_t),
      .Depth(2)
  ) u_eresp (
      .clk_i,
      .rst_ni,
      .valid_i(eresp_valid_i),
      .ready_o(eresp_ready_o),
      .data_i(eresp_i),
      .valid_o(eresp_v),
      .ready_i(eresp_pop),
      .data_o(eresp),
      .count_o(unused_counts[0])
  );

  mrc_fifo #(
      .T(okev_t),
      .Depth(2)
  ) u_okev (
      .clk_i,
      .rst_ni,
      .valid_i(okev_valid_i),
      .ready_o(okev_ready_o),
      .data_i(okev_i),
      .valid_o(okev_v),
      .ready_i(okev_pop),
      .data_o(okev),
      .count_o(unused_counts[1])
  );

  mrc_fifo #(
      .T(okev_t),
      .Depth(2)
  ) u_eokev (
      .clk_i,
      .rst_ni,
      .valid_i(eokev_valid_i),
      .ready_o(eokev_ready_o),
      .data_i(eokev_i),
      .valid_o(eokev_v),
      .ready_i(eokev_pop),
      .data_o(eokev),
      .count_o(unused_counts[2])
  );

  mrc_fifo #(
      .T(ackev_t),
      .Depth(2)
  ) u_ackev (
      .clk_i,
      .rst_ni,
      .valid_i(ackev_valid_i),
      .ready_o(ackev_ready_o),
      .data_i(ackev_i),
      .valid_o(ackev_v),
      .ready_i(!cfg_do),
      .data_o(ackev),
      .count_o(unused_counts[3])
  );

  mrc_fifo #(
      .T(stateq_t),
      .Depth(2)
  ) u_stateq (
      .clk_i,
      .rst_ni,
      .valid_i(stateq_valid_i),
      .ready_o(stateq_ready_o),
      .data_i(stateq_i),
      .valid_o(stateq_v),
      .ready_i(stateq_pop),
      .data_o(stateq),
      .count_o(unused_counts[4])
  );

  assign cfg_ctx = tbl_qp_ctx_t'(cfg_i.data);
  assign cfg_do = cfg_i.req && !cfg_ack_q;
  assign cfg_we = cfg_do && cfg_i.tbl == CfgTableQpCtx;
  assign cfg_qpn = cfg_i.data[$bits(tbl_qp_qpn_t)-1:0];
  assign cfg_qpn_we = cfg_do && cfg_i.tbl == CfgTableQpQpn;
  assign cfg_high_we = cfg_qpn_we || (cfg_we
      && (cfg_ctx.state == QpStateReset || cfg_ctx.state == QpStateInit));
  assign go = free && !cfg_do;
  // Between the two probes of a question nothing else goes.
  assign eresp_first = eresp_v && !again_q;
  assign resp_first = resp_v && !again_q;
  assign eresp_pop = go && eresp_first;
  assign resp_pop = go && !eresp_first && !again_q;
  assign state_turn = !eresp_first && !resp_first && stateq_v;
  // Bug 114: one probe serves.
  assign one_probe = csr_i.silence_wait || bug_i == BugOneProbe;
  assign stateq_pop = go && state_turn && (again_q || one_probe);
  assign again_d = (go && state_turn) ? !again_q && !one_probe : again_q;
  assign ok_now = !cfg_do && (okev_v || eokev_v);
  assign okev_pop = !cfg_do && okev_v;
  assign eokev_pop = !cfg_do && !okev_v && eokev_v;
  assign ok = okev_v ? okev : eokev;
  assign cfg_ack_o = cfg_ack_q;

  mrc_rf_1r1w #(
      .Width($bits(qp_t)),
      .Depth(NumQps)
  ) u_qp (
      .clk_i,
      .raddr_i(r.qp[QpW-1:0]),
      .rdata_o(qp),
      .we_i(cfg_we),
      .waddr_i(cfg_i.index[QpW-1:0]),
      .wdata_i({cfg_ctx.dqpn[15:0], cfg_ctx.dest[DestW-1:0], cfg_ctx.svc_time})
  );

  // Upper bits of its QPN, of those that are sent.
  mrc_rf_1r1w #(
      .Width(HighW),
      .Depth(NumQps)
  ) u_high (
      .clk_i,
      .raddr_i(r.qp[QpW-1:0]),
      .rdata_o(high),
      .we_i(cfg_high_we),
      .waddr_i(cfg_i.index[QpW-1:0]),
      .wdata_i(cfg_qpn_we ? cfg_qpn.high[HighW-1:0] : '0)
  );

  // ---- acknowledgements: the QPs that owe one take turns

  // Of a QP: it has something to tell; it is in the queue.
  typedef struct packed {
    logic due;
    logic owed;
  } owes_t;
  owes_t [2:0] owes;  // of the head of the queue, of ackev, of the table
  owes_t leave_clear;
  logic [15:0] gap_q, gap_d;
  logic [QpW-1:0] oq_qp, ackev_qp;
  logic oq_valid, oq_push, oq_pop, oack_turn, oack_we, oq_ready;
  logic [$clog2(NumQps+2)-1:0] oq_count;
  oack_t oack, oack_d;

  assign ackev_qp = ackev.qp[QpW-1:0];
  // Bug 54: who is in the queue already is not told anything newer.
  assign oack_we = !cfg_do && ackev_v && !(bug_i == BugNewerAckForgotten && owes[1].owed);
  assign oack_d = '{plane: ackev.plane, psn: ackev.psn, msn: ackev.msn, again: ackev.again};
  assign oack_turn = oq_valid && gap_q == 16'd0;
  assign oq_pop = go && !eresp_v && !resp_v && !stateq_v && oack_turn;
  // One whose turn is now gets another.
  assign oq_push = oack_we && (!owes[1].owed || (oq_pop && oq_qp == ackev_qp));

  // Nothing of an old connection goes out.
  assign leave_clear = '{
          due: oq_pop || (cfg_we && cfg_ctx.state != QpStateRts),
          owed: oq_pop
      };

  mrc_flags #(
      .Width($bits(owes_t)),
      .Depth(NumQps),
      .Reads(3)
  ) u_owes (
      .clk_i,
      .rst_ni,
      .raddr_i({cfg_i.index[QpW-1:0], ackev_qp, oq_qp}),
      .flags_o(owes),
      .a_port_i(cfg_do ? 2'd2 : 2'd0),
      .a_set_i('0),
      .a_clear_i(leave_clear),
      .b_port_i(2'd1),
      .b_set_i({oack_we, oack_we}),
      .b_clear_i('0)
  );

  mrc_rf_1r1w #(
      .Width($bits(oack_t)),
      .Depth(NumQps)
  ) u_oack (
      .clk_i,
      .raddr_i(oq_qp),
      .rdata_o(oack),
      .we_i(oack_we),
      .waddr_i(ackev_qp),
      .wdata_i(oack_d)
  );

  // A QP is in it once, and once more while its turn is now.
  mrc_fifo_ram #(
      .Width(QpW),
      .Depth(NumQps + 1)
  ) u_oq (
      .clk_i,
      .rst_ni,
      .valid_i(oq_push),
      .ready_o(oq_ready),
      .data_i(ackev_qp),
      .valid_o(oq_valid),
      .ready_i(oq_pop),
      .data_o(oq_qp),
      .count_o(oq_count)
  );

  assign load = go && (eresp_v || resp_v || stateq_v || (oack_turn && owes[0].due));

  always_comb begin
    gap_d = gap_q;
    if (!cfg_do && gap_q != 16'd0) begin
      gap_d = gap_q - 16'd1;
    end
    if (oq_pop && owes[0].due) begin
      gap_d = csr_i.ack_gap;
    end
  end

  always_comb begin
    // What is behind eresp and resp. A question for the peer's state finds its way like an ACK that
    // came on plane 0.
    rest = '0;
    rest.kind = CtlKindAck;
    rest.qp = stateq_v ? stateq.qp : qp_index_t'(oq_qp);
    if (!stateq_v) begin
      rest.plane = oack.plane;
      rest.psn = oack.psn;
      rest.reason = AethSyndromeAck;
      rest.msn = oack.msn;
      // Bug 116: it goes in turn, whatever it is repeated for.
      rest.pr = oack.again && bug_i != BugRepeatsInTurn;
    end
    r = rest;
    if (eresp_first) begin
      r = eresp;
    end else if (resp_first) begin
      r = resp;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      gap_q <= 16'd0;
    end else begin
      gap_q <= gap_d;
    end
  end

  // ---- the plane

  logic [NumPlanes-1:0] pmask;  // planes the peer's ports can receive on
  // One-hot from the second on.
  logic [NumPlanes-1:0] both_up, low_up, low_both, requested, on_plane;
  logic [NumPlanes-1:0] turn_q, turn_d, passed;  // one-hot
  logic [NumPlanes-1:0] behind, low_behind;  // of both_up: at the turn, and behind it
  logic data_ack, in_turn, any_turn;
  assign both_up = port_up_i & pmask;
  // SACKs about data, ACKs and questions for the peer's state (kind Ack) take the planes in turn;
  // not what answers a probe, or is repeated (pr).
  assign data_ack = (r.kind == CtlKindAck || r.kind == CtlKindSack) && !r.pr;
  assign in_turn = data_ack && !csr_i.ack_plane;
  // A question's probes take the planes that are left: a turn at another one is the next one's.
  assign any_turn = state_turn && (!csr_i.ack_plane || !csr_i.silence_wait) && both_up != '0;
  assign behind = both_up & ~(turn_q - NumPlanes'(1));
  assign low_behind = behind & ~(behind - NumPlanes'(1));
  assign passed = any_turn ? on_plane : turn_q;
  assign turn_d = (load && data_ack) ? (passed << 1) | (passed >> (NumPlanes - 1)) : turn_q;
  // Each of the four answers is found beside the others and beside what asks which of them holds.
  assign low_up = (port_up_i == '0) ? NumPlanes'(1) : port_up_i & ~(port_up_i - NumPlanes'(1));
  assign low_both = both_up & ~(both_up - NumPlanes'(1));
  assign requested = NumPlanes'(1) << r.plane[PlaneW-1:0];

  always_comb begin
    on_plane = low_both;
    if (any_turn) begin
      on_plane = (behind != '0) ? low_behind : low_both;
    end else if (in_turn && (both_up & turn_q) != '0) begin
      on_plane = turn_q;
    end else if ((both_up & requested) != '0) begin
      on_plane = requested;
    end else if (both_up == '0) begin
      on_plane = low_up;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      turn_q <= NumPlanes'(1);
    end else begin
      turn_q <= turn_d;
    end
  end

  always_comb begin
    plane = '0;
    for (int unsigned p = 0; p < NumPlanes; p++) begin
      plane |= on_plane[p] ? PlaneW'(p) : '0;
    end
  end

  // ---- reverse paths: per destination and plane the value that worked last

  logic [NumPlanes-1:0][31:0] rev, row_ev;
  logic [31:0] epoch_q, ev;
  logic epoch, want_load;
  // Of the destination, by plane: a value has worked; in this interval; one was asked for in this
  // interval, which counts no more once one has worked.
  logic [NumPlanes-1:0] valid_row, fresh_row, wanted_row, want_row;
  logic [PlaneW-1:0] ok_plane;
  logic [DestW-1:0] ok_dest;
  want_t want;

  assign ok_plane = ok.plane[PlaneW-1:0];
  assign ok_dest = ok.dest[DestW-1:0];
  assign epoch = !cfg_do && (tick_i - epoch_q) >= 32'(csr_i.ep_interval);

  for (genvar p = 0; p < NumPlanes; p++) begin : gen_rev
    logic ok_here;
    assign ok_here = ok_now && ok_plane == PlaneW'(p);

    mrc_rf_1r1w #(
        .Width(32),
        .Depth(NumDests)
    ) u_rev (
        .clk_i,
        .raddr_i(qp.dest),
        .rdata_o(rev[p]),
        .we_i(ok_here),
        .waddr_i(ok_dest),
        .wdata_i(ok.ev)
    );

    mrc_bits #(
        .N(NumDests)
    ) u_valid (
        .clk_i,
        .rst_ni,
        .clear_i(1'b0),
        .set_i(ok_here),
        .set_idx_i(ok_dest),
        .idx_i(qp.dest),
        .in_o(valid_row[p])
    );

    mrc_bits #(
        .N(NumDests)
    ) u_fresh (
        .clk_i,
        .rst_ni,
        .clear_i(epoch),
        .set_i(ok_here),
        .set_idx_i(ok_dest),
        .idx_i(qp.dest),
        .in_o(fresh_row[p])
    );

    mrc_bits #(
        .N(NumDests)
    ) u_wanted (
        .clk_i,
        .rst_ni,
        .clear_i(epoch),
        .set_i(want_load && on_plane[p]),
        .set_idx_i(qp.dest),
        .idx_i(qp.dest),
        .in_o(wanted_row[p])
    );
  end

  // The row of the destination and the plane are found side by side; the plane picks from the row.
  assign want_row = ~fresh_row & ~wanted_row;

  always_comb begin
    row_ev = '0;
    ev = '0;
    if (load) begin
      for (int unsigned p = 0; p < NumPlanes; p++) begin
        row_ev[p] = (csr_i.rev_fixed || !valid_row[p]) ? csr_i.rev_ev[p] : rev[p];
        // Bug 48: what works on plane 0 goes to all of them.
        if (bug_i == BugReverseEvOfPlane0) begin
          row_ev[p] = (csr_i.rev_fixed || !valid_row[0]) ? csr_i.rev_ev[p] : rev[0];
        end
        ev |= on_plane[p] ? row_ev[p] : '0;
      end
    end
  end

  // Answers to probes do not count: two quiet NICs would probe each other for ever.
  assign want_load = load && r.kind == CtlKindSack && !r.pr && csr_i.rev_probe && !csr_i.rev_fixed
      && (want_row & on_plane) != '0 && want_free;
  assign want = '{dest: 16'(qp.dest), plane: 4'(plane)};

  mrc_out_reg #(
      .T(want_t)
  ) u_want (
      .clk_i,
      .rst_ni,
      .load_i(want_load),
      .data_i(want),
      .free_o(want_free),
      .valid_o(want_valid_o),
      .ready_i(want_ready_i),
      .data_o(want_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      epoch_q <= 32'd0;
    end else if (epoch) begin
      epoch_q <= tick_i;
    end
  end

  mrc_rf_reset #(
      .Width(NumPlanes),
      .Depth(NumDests),
      .Reset({NumPlanes{1'b1}})
  ) u_pmask (
      .clk_i,
      .rst_ni,
      .raddr_i(qp.dest),
      .rdata_o(pmask),
      .we_i(cfg_do && cfg_i.tbl == CfgTablePeerPorts),
      .waddr_i(cfg_i.index[DestW-1:0]),
      .wdata_i(cfg_i.data[NumPlanes-1:0])
  );

  // ---- the packet

  assign spdcid = csr_i.pdcid_zero ? 16'd0 : 16'({high, r.qp[QpW-1:0]}) + 16'(QpnBase);
  assign dpdcid = csr_i.pdcid_zero ? 16'd0 : qp.dqpn;
  // An answer to a probe has the probe's id there.
  assign ack_off = r.pr ? r.psn[15:0] : 16'(r.psn - r.cack);
  // Bug 27: the bitmap seems to start one PSN lower.
  assign sack_off = 16'(r.base - r.cack) - ((bug_i == BugSackBase) ? 16'd1 : 16'd0);
  // Bug 28: rounded down.
  assign rcvd = r.rcvd - ((bug_i == BugRcvdBytesDown) ? 24'd1 : 24'd0);
  // Bug 59: the id of answers that nobody asked for.
  assign probe_id = (bug_i == BugStateProbeId) ? NoProbeId : StateProbeId;
  assign held = tick_i[15:0] - r.at;
  assign service = csr_i.tsr_us ? {3'd0, held[15:3]} : held;
  assign ts = r.ts + ((qp.svc_time && r.tsv) ? service : 16'd0);

  always_comb begin
    seth = '0;
    cc_state = '0;
    neth = '0;
    eeth = '0;
    aeth = '0;
    out = '0;
    if (load) begin
      out.qp = r.qp;
      out.plane = 4'(plane);
      out.ev = ev;
      if (r.kind == CtlKindSack) begin
        seth.m = r.m;
        seth.pr = r.pr;
        seth.ack_psn_offset = ack_off;
        seth.entropy = r.entropy;
        seth.spdcid = spdcid;
        seth.dpdcid = dpdcid;
        seth.cack_psn = r.cack;
        seth.mpr = r.mpr;
        seth.sack_offset = sack_off;
        seth.sack_bitmap = r.bitmap;
        cc_state.tx_timestamp16 = ts;
        cc_state.ooo_count = r.ooo;
        cc_state.rcvd_bytes = rcvd;
        cc_state.restore_cwnd = r.restore;
        cc_state.rcv_cwnd_pen = r.pen;
        out.opcode = OpcodeSack;
        out.psn = r.cack;
        out.ext_len = 8'(SethBytes + CcStateBytes);
        out.ext[0+:8*(SethBytes+CcStateBytes)] = {
          bytes_of_cc_state(cc_state), bytes_of_seth(seth)
        };
      end else if (r.kind == CtlKindNack) begin
        neth.reason = r.reason;
        neth.entropy = r.entropy;
        neth.spdcid = spdcid;
        neth.dpdcid = dpdcid;
        neth.nack_psn = r.psn;
        neth.cc_type = 4'(NethCcType);
        neth.tx_timestamp16 = ts;
        out.opcode = OpcodeNack;
        out.psn = r.psn;
        out.ext_len = 8'(NethBytes);
        out.ext[0+:8*NethBytes] = bytes_of_neth(neth);
      end else if (r.kind == CtlKindEndpoint) begin
        // One source has the op two bits higher.
        {eeth.reserved1, eeth.op, eeth.reserved1_1} =
            csr_i.eeth_op_high ? {r.reason[3:0], 4'd0} : {r.reason[5:0], 2'd0};
        eeth.tx_timestamp16 = ts;
        out.opcode = OpcodeEndpointResponse;
        out.psn = r.psn;
        out.ext_len = 8'(EethBytes);
        out.ext[0+:8*EethBytes] = bytes_of_eeth(eeth);
      end else if (state_turn) begin
        out.opcode = OpcodeProbeRequest;
        out.ext_len = 8'(PethBytes);
        out.ext[8*PethBytes-1:0] = peth(probe_id, spdcid, dpdcid, tick_i[18:0], csr_i.tsr_us);
      end else begin
        aeth.syndrome = r.reason;
        aeth.msn = {8'd0, r.msn};
        out.opcode = OpcodeAck;
        out.psn = r.psn;
        out.ext_len = 8'(AethBytes);
        out.ext[0+:8*AethBytes] = bytes_of_aeth(aeth);
      end
    end
  end

  mrc_out_reg #(
      .T(ctlpkt_t)
  ) u_ctlpkt (
      .clk_i,
      .rst_ni,
      .load_i(load),
      .data_i(out),
      .free_o(free),
      .valid_o(ctlpkt_valid_o),
      .ready_i(ctlpkt_ready_i),
      .data_o(ctlpkt_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cfg_ack_q <= 1'b0;
      again_q <= 1'b0;
    end else begin
      cfg_ack_q <= cfg_i.req;
      again_q <= again_d;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{owes[2], unused_count, unused_counts, oq_ready, oq_count, cfg_i.index,
                         cfg_qpn,
                         cfg_ctx.srv6, cfg_ctx.dip, cfg_ctx.mpr_dest, cfg_ctx.dmac, cfg_ctx.rqmsn,
                         cfg_ctx.msn, cfg_ctx.max_wimm_dest, cfg_ctx.rq_psn, cfg_ctx.max_wimm,
                         cfg_ctx.sq_psn, cfg_ctx.retry_exp, cfg_ctx.timeout,
                         cfg_ctx.pkey, cfg_ctx.retry_linear, cfg_ctx.backup, cfg_ctx.profile,
                         cfg_ctx.mpr, cfg_ctx.rsvd13, cfg_ctx.cc, cfg_ctx.dyn_mpr,
                         cfg_ctx.trim_nack, cfg_ctx.ts, cfg_ctx.encap, cfg_ctx.mtu};

  // ---- what always holds

  `MRC_NEVER_FULL(Oq, oq_push, oq_ready)
  `MRC_POPS_A_WORD(Oq, oq_pop, oq_valid)
  `MRC_POPS_A_WORD(Stateq, stateq_pop, stateq_v)
  `MRC_ASSERT(OwedIsQueued, oq_count <= ($bits(oq_count))'(NumQps),
      "a QP is in the queue twice")
  `MRC_ASSERT(TurnIsOne, turn_q != '0 && (turn_q & (turn_q - 1'b1)) == '0,
      "the turn is at no plane, or at two")
  `MRC_ASSERT_IF(QueriesWhereItIsHeard, load && any_turn, (on_plane & both_up) != '0,
      "a question leaves on a plane that is not up at both ends, while one is")
  `MRC_ASSERT_IF(LeavesOnOne, load, on_plane != '0 && (on_plane & (on_plane - 1'b1)) == '0,
      "a packet leaves on no plane, or on two")
  `MRC_ASSERT_IF(UpWhenSome, load, port_up_i == '0 || (on_plane & port_up_i) != '0,
      "a packet leaves on a plane whose port is down")
  `MRC_ASSERT_IF(LoadsAKind, load, eresp_v || resp_v || stateq_v || oq_valid,
      "a packet of nothing")
  `MRC_ASSERT_IF(AgainQueriesOnce, again_q, stateq_v,
      "the second probe of no question")
  `MRC_ONE_HOT0(OneSource, {eresp_pop, resp_pop && resp_v, go && state_turn, oq_pop},
      "two answers leave in one cycle")
  `MRC_ONE_HOT0(OneOk, {okev_pop, eokev_pop},
      "two values are written in one cycle")

endmodule
