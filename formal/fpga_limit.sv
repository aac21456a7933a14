// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_limit between a caller that asks one at a time and another side that answers when it
/// likes, or never, or without having been asked, and forgets now and then what it was asked.
module formal_fpga_limit #(
    parameter int unsigned WaitCycles = 3
) (
    input logic clk_i,
    input logic want_i,
    input logic cut_i,
    input logic answer_i,
    input logic err_i
);
  `MRC_RESET

  logic go_i, start_o, done_o, err_o, owed_o, late_o, refused_o;

  mrc_fpga_limit #(
      .WaitCycles(WaitCycles)
  ) dut (
      .*
  );

  // An access is under way, for so many cycles; what was handed on has no answer yet (out_q), and
  // is of this access (mine_q); this access had its answer in the cycle before, with err.
  logic pending_q, out_q, mine_q, came_q, came_err_q, reported_q, late_q, cut_q, refused_q;
  logic [2:0] since_q;
  assign go_i = want_i && !pending_q && rst_ni;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {pending_q, out_q, mine_q, came_q, reported_q, late_q, cut_q, refused_q} <= '0;
      since_q <= '0;
    end else begin
      pending_q <= go_i || (pending_q && !done_o);
      since_q <= (go_i || !pending_q) ? '0 : since_q + 3'd1;
      out_q <= start_o || (out_q && !answer_i && !cut_i);
      mine_q <= start_o || (mine_q && !done_o);
      came_q <= out_q && mine_q && !done_o && answer_i;
      reported_q <= late_o || refused_o || cut_i;
      late_q <= (late_o || (late_q && !(out_q && answer_i))) && !cut_i;
      cut_q <= cut_i;
      refused_q <= refused_o;
    end
  end
  always_ff @(posedge clk_i) came_err_q <= err_i;

  `MRC_PROVE(in_time, !pending_q || done_o || 32'(since_q) < WaitCycles)
  `MRC_PROVE(once, !done_o || pending_q)
  `MRC_PROVE(own_answer, !(done_o && !reported_q) || (came_q && err_o == came_err_q))
  `MRC_PROVE(reported, !(done_o && reported_q) || err_o)
  `MRC_PROVE(one_out, !(start_o && out_q))
  `MRC_PROVE(owed, owed_o == late_q)
  `MRC_PROVE(cut_reported, !(done_o && cut_q) || err_o)
  `MRC_PROVE(cut_off, !(cut_i && start_o) && !(cut_q && pending_q && !done_o))
  `MRC_COVER(in_time, pending_q && 32'(since_q) == WaitCycles && !err_o)
  `MRC_COVER(once, done_o && since_q == '0 && reported_q)
  `MRC_COVER(own_answer, done_o && !reported_q && !err_o)
  `MRC_COVER(one_out, go_i && out_q)
  `MRC_COVER(owed, late_q && answer_i && refused_o)
  `MRC_COVER(reported, done_o && reported_q && out_q)
  `MRC_COVER(again, start_o && came_q)
  `MRC_COVER(cut_off, cut_q && pending_q && mine_q && !came_q && since_q == 3'd1)
  `MRC_COVER(cut_reported, done_o && cut_q && since_q == 3'd1 && !refused_q)
  `MRC_COVER(forgotten, cut_i && owed_o)
endmodule
