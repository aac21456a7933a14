// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_rx_track as a pipeline: cack goes on and never back, a verdict hands on what the packet
/// said, each packet with payload gets one verdict. Two QPs, two planes, windows of 128 PSNs, two
/// rows. What the rows hold is formal/rx_track_rows.sv.
module formal_rx_track
    `include "rx_track_dut.svh"

  // ---- what comes

  // Packets come for QPs that were set up; csr checks the window.
  logic [1:0] set_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      set_q <= '0;
    end else if (dut.cfg_init) begin
      set_q[dut.cfg_qp] <= 1'b1;
    end
  end
  `MRC_GIVEN(qp_is_set_up, !rxpkt_valid_i || set_q[rxpkt_i.qp[0]])
  `MRC_GIVEN(window_in_range, !dut.cfg_init || dut.cfg_ctx.mpr_dest == 8'd1)
  `MRC_GIVEN(plane_in_range, rxpkt_i.plane <= 4'd1)
  `MRC_GIVEN(buffer_has_payload,
             !rxpkt_i.buf_valid || (rxpkt_i.trim == TrimNone && !rxpkt_i.probe))

  // A table write stands until it is acknowledged.
  logic req_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      req_q <= 1'b0;
    end else begin
      req_q <= cfg_i.req && !dut.cfg_ack_d;
    end
  end
  `MRC_GIVEN(table_stands, !req_q || cfg_i.req)

  // ---- cack

  logic k_q;  // any QP
  always_ff @(posedge clk_i) k_q <= k_q;
  logic begun_q, anew_q;
  seq_t seq;
  assign seq = seq_t'(dut.u_seq.mem_q[k_q]);
  logic [23:0] before_q, step;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      begun_q <= 1'b0;
    end else begin
      begun_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    anew_q <= dut.cfg_init && dut.cfg_qp == k_q;
    before_q <= seq.cack1;
  end
  assign step = seq.cack1 - before_q;
  `MRC_PROVE(cack_goes_on, !begun_q || anew_q || step <= 24'd64)
  `MRC_COVER(cack_goes_on, begun_q && !anew_q && step == 24'd2 && before_q[5:0] == 6'd62)
  // What a SACK says is as of its last cycle.
  `MRC_PROVE(sack_is_now, dut.u_sack.state_q != 3'd3
                          || dut.u_sack.seq_q == dut.u_seq.mem_q[dut.u_sack.a_q.qp[0]])
  `MRC_COVER(sack_is_now, dut.u_sack.state_q == 3'd3 && begun_q && !anew_q && step == 24'd1
                          && dut.u_sack.a_q.qp[0] == k_q)

  // ---- verdicts

  // Any plane, QP, length and address that no packet has which may be written: no verdict has them.
  logic [96:0] other_q;
  always_ff @(posedge clk_i) other_q <= other_q;
  function automatic logic same(rxpkt_t p);
    return p.syndrome == 8'd0 && !p.err && !p.drop && p.trim == TrimNone && p.buf_valid
        && {p.plane, p.qp, p.plen, p.haddr} == other_q;
  endfunction
  `MRC_GIVEN(none_has_them, !rxpkt_valid_i || !same(rxpkt_i))
  `MRC_PROVE(unchanged, !(verdict_valid_o && verdict_o.place)
                        || {verdict_o.plane, verdict_o.qp, verdict_o.plen, verdict_o.addr}
                           != other_q)
  `MRC_COVER(unchanged, verdict_valid_o && verdict_o.place && verdict_o.plane == 4'd1
                        && verdict_o.addr[63:60] == 4'hA && verdict_o.plen == 13'd77
                        && other_q[63:0] == verdict_o.addr)

  // Packets with payload that came on a plane, which is any, and have no verdict yet.
  logic plane_q;
  always_ff @(posedge clk_i) plane_q <= plane_q;
  function automatic logic owed(rxpkt_t p);
    return p.buf_valid && p.plane[0] == plane_q;
  endfunction
  logic [7:0] owed_q;
  logic [2:0] held;
  logic comes, reported;
  assign comes = rxpkt_valid_i && rxpkt_ready_o && owed(rxpkt_i);
  assign reported = verdict_valid_o && verdict_ready_i && verdict_o.plane[0] == plane_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owed_q <= '0;
    end else begin
      owed_q <= owed_q + 8'(comes) - 8'(reported);
    end
  end
  logic [1:0] slot;  // of the input FIFO: a packet is in it
  assign slot = (dut.u_rxpkt.count_q == 2'd2) ? 2'd3
      : (dut.u_rxpkt.count_q == 2'd1) ? 2'd1 << dut.u_rxpkt.rptr_q : 2'd0;
  assign held = 3'(slot[0] && owed(dut.u_rxpkt.mem_q[0]))
      + 3'(slot[1] && owed(dut.u_rxpkt.mem_q[1]))
      + 3'(dut.m_valid_q && !dut.m_again_q && owed(dut.m_p_q))
      + 3'(dut.t_valid_q && !dut.t_again_q && owed(dut.t_p_q))
      + 3'(dut.x_valid_q && dut.x_q.what != WhatDone && owed(dut.x_q.p))
      + 3'(verdict_valid_o && verdict_o.plane[0] == plane_q);
  `MRC_PROVE(one_verdict, owed_q == 8'(held))
  `MRC_COVER(one_verdict, owed_q == 8'd4 && reported)
  `MRC_PROVE(never_two, !reported || owed_q != 8'd0)
  `MRC_COVER(never_two, reported && owed_q == 8'd1 && verdict_o.place && dut.adv_valid)

  // ---- covers of the RTL's assertions

  `MRC_COVER(in_window, dut.take && !dut.stuck && dut.rel == 24'd127)
  `MRC_COVER(takes_new, dut.take && !dut.stuck && !dut.in_order && dut.row.rcv != 64'd0)
  `MRC_COVER(takes_a_row, dut.row_take)
  `MRC_COVER(both_answer, dut.u_sack.state_q == 3'd3 && dut.post_resp_load)
  `MRC_COVER(held, verdict_valid_o && !verdict_ready_i && dut.x_valid_q)

  // ---- what the induction needs

  `MRC_HELP(input_fifo, dut.u_rxpkt.count_q <= 2'd2
            && dut.u_rxpkt.wptr_q == (dut.u_rxpkt.rptr_q ^ dut.u_rxpkt.count_q[0]))
  `MRC_HELP(adv_fifo, dut.u_adv.count_q <= 3'd1
            && dut.u_adv.wptr_q == dut.u_adv.rptr_q + dut.u_adv.count_q[1:0])
  `MRC_HELP(req_fifo, dut.u_sack.u_req.count_q <= 3'd4
            && dut.u_sack.u_req.wptr_q == dut.u_sack.u_req.rptr_q + dut.u_sack.u_req.count_q[1:0])
  for (genvar i = 0; i < 2; i++) begin : gen_slot
    `MRC_HELP(known, !slot[i] || set_q[dut.u_rxpkt.mem_q[i].qp[0]])
    `MRC_HELP(other, !slot[i] || !same(dut.u_rxpkt.mem_q[i]))
    `MRC_HELP(payload, !slot[i] || !dut.u_rxpkt.mem_q[i].buf_valid
              || (dut.u_rxpkt.mem_q[i].trim == TrimNone && !dut.u_rxpkt.mem_q[i].probe))
    set_t set;
    assign set = set_t'(dut.u_set.mem_q[i]);
    `MRC_HELP(mpr, !set_q[i] || (set.mpr == 8'd1 && set.mpr_dest == 8'd1))
  end
  `MRC_HELP(adv_known, !dut.adv_valid || set_q[dut.adv.p.qp[0]])
  `MRC_HELP(m_known, !dut.m_valid_q || set_q[dut.m_p_q.qp[0]])
  `MRC_HELP(t_known, !dut.t_valid_q || (set_q[dut.t_p_q.qp[0]] && dut.t_set_q.mpr == 8'd1
                                        && dut.t_set_q.mpr_dest == 8'd1))
  `MRC_HELP(m_other, !dut.m_valid_q || dut.m_again_q || !same(dut.m_p_q))
  `MRC_HELP(t_other, !dut.t_valid_q || dut.t_again_q || !same(dut.t_p_q))
  `MRC_HELP(x_other, !dut.x_valid_q || dut.x_q.what == WhatDone || !same(dut.x_q.p))
  `MRC_HELP(m_payload, !dut.m_valid_q || !dut.m_p_q.buf_valid
            || (dut.m_p_q.trim == TrimNone && !dut.m_p_q.probe))
  `MRC_HELP(t_payload, !dut.t_valid_q || !dut.t_p_q.buf_valid
            || (dut.t_p_q.trim == TrimNone && !dut.t_p_q.probe))
  `MRC_HELP(x_payload, !dut.x_valid_q || !dut.x_q.p.buf_valid
            || (dut.x_q.p.trim == TrimNone && !dut.x_q.p.probe))
  `MRC_HELP(adv_payload, !dut.adv_valid || !dut.adv.p.buf_valid
            || (dut.adv.p.trim == TrimNone && !dut.adv.p.probe))
  `MRC_HELP(x_what, !dut.x_valid_q || (dut.x_q.what != 4'd14 && dut.x_q.what != 4'd15))
  `MRC_HELP(x_gives, !dut.x_valid_q || !dut.x_q.p.buf_valid || (dut.x_q.what != WhatProbe
            && dut.x_q.what != WhatTrim && dut.x_q.what != WhatFull))
  // Only what may be written is taken.
  `MRC_HELP(x_take, !dut.x_valid_q || dut.x_q.what != WhatTake || (dut.x_q.p.syndrome == 8'd0
            && !dut.x_q.p.err && !dut.x_q.p.drop && dut.x_q.p.trim == TrimNone))
  `MRC_HELP(t_seq, !dut.t_valid_q || dut.t_seq_q == dut.u_seq.mem_q[dut.t_p_q.qp[0]])
  `MRC_HELP(t_lower, !dut.t_valid_q || dut.t_lower_q == ~({64{1'b1}} << dut.t_at_q[5:0]))
  `MRC_HELP(t_at, !dut.t_valid_q || dut.t_again_q || dut.t_at_q == dut.t_p_q.psn)
  `MRC_HELP(m_at, !dut.m_valid_q || dut.m_again_q || dut.m_at_q == dut.m_p_q.psn)
  // Without an entry there are no bits.
  `MRC_HELP(w_row, !((dut.m_valid_q && dut.m_fwd_q) || (dut.t_valid_q && dut.t_fwd_q))
            || dut.w_entry_q.valid || dut.w_row_q.rcv == 64'd0)
  `MRC_HELP(init_alone, !dut.init_on_q || (!dut.m_valid_q && !dut.t_valid_q && !dut.x_valid_q
            && !dut.adv_valid && cfg_i.req && !dut.cfg_ack_q && req_q))

  // ---- while all outputs are taken and no table is written, a packet waits Most cycles at most

  localparam int unsigned Most = 12;
  logic [4:0] wait_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_q <= '0;
    end else if (rxpkt_valid_i && !rxpkt_ready_o && verdict_ready_i && resp_ready_i
                 && ackev_ready_i && ord_ready_i && came_ready_i && qperr_ready_i && hold_ok_i
                 && !cfg_i.req) begin
      wait_q <= wait_q + 5'(wait_q != '1);
    end else begin
      wait_q <= '0;
    end
  end
  `MRC_PROVE(taken, wait_q <= 5'(Most))
  `MRC_COVER(taken, wait_q == 5'd1)
endmodule
