// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Who is looked at because a plane went down
/// (docs/design/blocks/tx/inflight/tx_inflight_ports.md, Who is looked at): the visits bring those
/// by that may have something open. A bit per QP says who has been looked at, a number how many are
/// left. One QP at a time is at. It does not know what is down, nor what is looked at.
module mrc_tx_inflight_looks
  import mrc_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    localparam int unsigned QpW = $clog2(NumQps)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input logic anew_i,  // a plane went down: nobody has been looked at
    input logic on_i,  // QPs are to be looked at,
    input logic may_i,  // and one may be taken
    input logic comes_i,  // this one is to be visited from now on
    input logic [QpW-1:0] come_qp_i,
    input logic visit_i,
    input logic [QpW-1:0] visit_qp_i,
    input logic leaves_i,  // visit_qp_i, at its visit: it is visited no more
    input logic open_i,  // it has something open, and is meant
    output logic take_o,  // it is at from now on
    input logic done_i,  // at has been looked at
    output logic at_on_o,
    output logic [QpW-1:0] at_o,
    output logic none_left_o
);

  localparam int unsigned CntW = QpW + 1;

  logic [CntW-1:0] count_q, count_d, left_q, left_d;
  logic at_on_q, at_on_d, looked_come, looked_visit, counts, looks, leaves;
  logic [QpW-1:0] at_q;

  assign counts = on_i && comes_i && !looked_come;
  assign looks = on_i && visit_i && !looked_visit && !at_on_q && may_i;
  assign leaves = on_i && visit_i && !looked_visit && !looks && leaves_i;
  assign take_o = looks && open_i;

  // Bug 127: it counts for all planes that go down.
  mrc_bits #(
      .N(NumQps),
      .Reads(2)
  ) u_looked (
      .clk_i,
      .rst_ni,
      .clear_i(anew_i && bug_i != BugLookedForGood),
      .set_i(looks && !anew_i),
      .set_idx_i(visit_qp_i),
      .idx_i({come_qp_i, visit_qp_i}),
      .in_o({looked_come, looked_visit})
  );

  always_comb begin
    count_d = count_q + CntW'(comes_i) - CntW'(visit_i && leaves_i);
    left_d = left_q + CntW'(counts) - CntW'(looks || leaves);
    if (anew_i) begin
      left_d = count_d;
    end
    at_on_d = (at_on_q || take_o) && !done_i;
  end

  assign at_on_o = at_on_q;
  assign at_o = at_q;
  assign none_left_o = left_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      left_q <= '0;
      at_on_q <= 1'b0;
    end else begin
      count_q <= count_d;
      left_q <= left_d;
      at_on_q <= at_on_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take_o) begin
      at_q <= visit_qp_i;
    end
  end

  // ---- what always holds

  `MRC_ASSERT(CountsEach, 32'(count_q) <= NumQps,
      "more QPs are to be visited than there are")
  `MRC_ASSERT_IF(LeftAreThere, on_i, left_q <= count_q,
      "more QPs are to be looked at than are visited")
  `MRC_ASSERT_IF(EndsWhatIsAt, done_i, at_on_q,
      "a QP has been looked at that was not at")

endmodule
