// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_tx_inflight_looks for four QPs, whose visits come in any order and of which any comes and
/// leaves. Whoever is to be visited when a plane goes down is looked at before it is over, or
/// leaves; nobody twice.
module formal_tx_inflight_looks
  import mrc_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input logic anew_i,
    input logic may_i,
    input logic comes_i,
    input logic [1:0] come_qp_i,
    input logic visit_i,
    input logic [1:0] visit_qp_i,
    input logic leaves_i,
    input logic open_i,
    input logic done_i
);
  `MRC_RESET

  logic on_q, take_o, at_on_o, none_left_o;
  logic [1:0] at_o;
  mrc_tx_inflight_looks #(
      .NumQps(4)
  ) dut (
      .bug_i(8'(Bug)),
      .on_i(on_q),
      .*
  );

  // Who is to be visited, who must be looked at, and who was.
  logic [3:0] watched_q, watched_d, must_q, must_d, seen_q;
  logic stood_q;
  logic [1:0] stood_at_q;
  logic over;
  assign over = none_left_o && !at_on_o && may_i;
  always_comb begin
    watched_d = watched_q;
    must_d = must_q;
    if (comes_i) watched_d[come_qp_i] = 1'b1;
    if (visit_i && leaves_i) begin
      watched_d[visit_qp_i] = 1'b0;
      must_d[visit_qp_i] = 1'b0;
    end
    if (dut.looks) must_d[visit_qp_i] = 1'b0;
    if (anew_i) must_d = watched_d;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      on_q <= 1'b0;
      watched_q <= '0;
      must_q <= '0;
      seen_q <= '0;
      stood_q <= 1'b0;
    end else begin
      on_q <= anew_i || (on_q && !over);
      watched_q <= watched_d;
      must_q <= must_d;
      if (dut.looks) seen_q[visit_qp_i] <= 1'b1;
      if (anew_i) seen_q <= '0;
      stood_q <= at_on_o && !done_i;
    end
  end
  always_ff @(posedge clk_i) stood_at_q <= at_o;

  `MRC_GIVEN(comes_anew, !comes_i || !watched_q[come_qp_i])
  `MRC_GIVEN(visits_who_is_there, !visit_i || watched_q[visit_qp_i])
  `MRC_GIVEN(one_is_at, !done_i || at_on_o)

  logic [3:0] open;
  logic [2:0] left, count;
  assign open = watched_q & ~dut.u_looked.top_q;
  assign left = 3'(open[0]) + 3'(open[1]) + 3'(open[2]) + 3'(open[3]);
  assign count = 3'(watched_q[0]) + 3'(watched_q[1]) + 3'(watched_q[2]) + 3'(watched_q[3]);

  `MRC_PROVE(none_lost, on_q || must_q == '0)
  `MRC_COVER(none_lost, on_q && over && seen_q == 4'hF)
  `MRC_PROVE(left, !on_q || dut.left_q == left)
  `MRC_COVER(left, on_q && comes_i && visit_i && leaves_i && at_on_o)
  `MRC_PROVE(once, !(dut.looks && seen_q[visit_qp_i]))
  `MRC_COVER(once, visit_i && seen_q[visit_qp_i] && !at_on_o && may_i)
  `MRC_PROVE(taken, !(visit_i && must_q[visit_qp_i] && !at_on_o && may_i) || dut.looks)
  `MRC_COVER(taken, visit_i && must_q[visit_qp_i] && dut.left_q == 3'd1 && take_o)
  `MRC_PROVE(stands, !stood_q || (at_on_o && at_o == stood_at_q))
  `MRC_COVER(stands, stood_q && anew_i)

  `MRC_HELP(must, (must_q & ~open) == '0)
  `MRC_HELP(seen, !on_q || seen_q == dut.u_looked.top_q)
  `MRC_HELP(count, dut.count_q == count)
endmodule
