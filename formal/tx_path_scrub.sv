// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_tx_path_scrub for four QPs of four EVs, by one EV that goes out of use, whichever it is. It
/// is offered again and again, in its turn, until it comes back. Others go and come as they
/// like.
module formal_tx_path_scrub
  import mrc_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input logic go_i,
    input logic bad_i,
    input logic join_i,
    input logic [1:0] join_qp_i,
    input logic [1:0] any_qp_i,
    input logic [1:0] any_ev_i,
    input logic goes_i,  // it is the one that goes out of use
    input logic comes_i  // it comes back
);
  `MRC_RESET

  logic any_o, look_q;
  logic [1:0] qp_o, ev_o;
  mrc_tx_path_scrub #(
      .NumQps(4),
      .EvsPerQp(4)
  ) dut (
      .bug_i(8'(Bug)),
      .look_i(look_q),
      .*
  );

  logic chosen_q, out_q, here_q;
  logic [1:0] one_qp_q, one_ev_q;
  logic [4:0] looks_q;  // at other EVs, since it went out of use or was offered
  logic offered;
  assign offered = look_q && here_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      chosen_q <= 1'b0;
      out_q <= 1'b0;
      look_q <= 1'b0;
      here_q <= 1'b0;
      looks_q <= '0;
    end else begin
      chosen_q <= 1'b1;
      look_q <= go_i;
      here_q <= chosen_q && qp_o == one_qp_q && ev_o == one_ev_q;
      if (join_i && join_qp_i == one_qp_q && goes_i && chosen_q) out_q <= 1'b1;
      else if (comes_i) out_q <= 1'b0;
      if (!out_q || offered) looks_q <= '0;
      else if (look_q && looks_q != '1) looks_q <= looks_q + 5'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (!chosen_q) begin
      one_qp_q <= any_qp_i;
      one_ev_q <= any_ev_i;
    end
  end

  logic [2:0] ops;
  assign ops = {go_i, look_q, join_i};
  `MRC_GIVEN(one_operation, (ops & (ops - 3'd1)) == '0)
  `MRC_GIVEN(looks_at_one, !go_i || any_o)
  `MRC_GIVEN(it_is_out, !(offered && out_q) || bad_i)
  `MRC_GIVEN(comes_alone, !comes_i || !(go_i || look_q))

  logic waits, round;
  logic [3:0] waiting;
  assign waiting = dut.u_bads.any_q[0]
      ? dut.u_bads.set_q[0] ^ (dut.u_bads.taken_q[0] ? dut.u_bads.take_q[0] : 4'd0) : 4'd0;
  assign waits = waiting[one_qp_q];
  assign round = dut.qp_q == one_qp_q && (dut.on_q || look_q)
      && (dut.bad_q || offered || (dut.on_q && dut.ev_q <= one_ev_q));
  `MRC_PROVE(none_lost, !out_q || waits || round)
  `MRC_COVER(none_lost, out_q && !waits && dut.on_q && dut.ev_q > one_ev_q)
  `MRC_PROVE(turn, looks_q <= 5'd15)
  `MRC_COVER(turn, out_q && offered && looks_q == 5'd9)
  // Looks at others that are still to come, at the most.
  logic [1:0] turns;
  logic [4:0] left;
  assign turns = one_qp_q - dut.u_bads.from_q;
  always_comb begin
    left = (dut.on_q ? 5'd4 - 5'(dut.ev_q) : 5'd0) + {1'b0, turns, 2'd0} + 5'(one_ev_q);
    if (dut.on_q && dut.qp_q == one_qp_q && dut.ev_q <= one_ev_q) begin
      left = 5'(one_ev_q) - 5'(dut.ev_q);
    end
  end
  `MRC_HELP(left, !out_q || offered || looks_q + 5'(look_q) + left <= 5'd15)
  `MRC_HELP(from, !(dut.on_q || look_q) || dut.u_bads.from_q == 2'(dut.qp_q + 2'd1))
  `MRC_HELP(out, chosen_q || !(out_q || any_o || look_q))
  `MRC_HELP(here, !here_q || chosen_q)
  `MRC_HELP(looked_at, !look_q || (here_q == (chosen_q && dut.qp_q == one_qp_q
      && dut.ev_q == 2'(one_ev_q + 2'd1)) && dut.on_q == (dut.ev_q != 2'd0)))
  `MRC_HELP(in_a_round, !dut.on_q || dut.ev_q != 2'd0)
endmodule
