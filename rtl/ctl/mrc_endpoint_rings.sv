// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Rings of QPs in mrc_endpoint: next and prev of docs/design/blocks/ctl/endpoint.md. Each ring is
/// the QPs that lead to one destination. It knows no destinations. One operation per cycle; reads
/// are combinational, writes take effect at the end of the cycle.
module mrc_endpoint_rings #(
    parameter int unsigned NumQps = 4,
    localparam int unsigned QpW = $clog2(NumQps)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [QpW-1:0] at_i,  // QP that is looked at
    output logic [QpW-1:0] next_o,  // the one behind it
    output logic alone_o,  // nobody else is in its ring

    // The operation.
    input logic leave_i,  // at_i leaves its ring
    input logic alone_i,  // new_i is a ring of its own
    input logic enter_i,  // new_i enters behind at_i; the same again with
    input logic link_i,  // in the next cycle closes the ring
    input logic [QpW-1:0] new_i
);

  logic [QpW-1:0] prev, next_at, next_d, prev_at, prev_d;
  logic parts, next_we, prev_we;

  assign alone_o = next_o == at_i;
  assign parts = leave_i && !alone_o;  // from others, who stay
  assign next_we = parts || alone_i || enter_i || link_i;
  assign prev_we = next_we;

  always_comb begin
    next_at = new_i;
    next_d = next_o;
    prev_at = new_i;
    prev_d = at_i;
    if (parts) begin
      next_at = prev;
      prev_at = next_o;
      prev_d = prev;
    end
    if (alone_i) begin
      next_d = new_i;
      prev_d = new_i;
    end
    if (link_i) begin
      next_at = at_i;
      next_d = new_i;
      prev_at = next_o;
      prev_d = new_i;
    end
  end

  mrc_rf_1r1w #(
      .Width(QpW),
      .Depth(NumQps)
  ) u_next (
      .clk_i,
      .raddr_i(at_i),
      .rdata_o(next_o),
      .we_i(next_we),
      .waddr_i(next_at),
      .wdata_i(next_d)
  );

  mrc_rf_1r1w #(
      .Width(QpW),
      .Depth(NumQps)
  ) u_prev (
      .clk_i,
      .raddr_i(at_i),
      .rdata_o(prev),
      .we_i(prev_we),
      .waddr_i(prev_at),
      .wdata_i(prev_d)
  );

  // ---- what always holds

  `MRC_ONE_HOT0(OneOperation, {leave_i, alone_i, enter_i, link_i},
      "two operations on the rings in one cycle")
  `MRC_ASSERT_IF(EntersAnother, enter_i || link_i, new_i != at_i,
      "a QP enters a ring behind itself")

`ifdef MRC_ASSERT_ON
  // Where it is looked at.
  logic [QpW-1:0] back, forth;
  assign back = u_prev.mem_q[next_o];
  assign forth = u_next.mem_q[prev];
  `MRC_ASSERT_IF(ClosedBehind, leave_i || enter_i || link_i, back == at_i,
      "the QP behind one in a ring does not have it before itself")
  `MRC_ASSERT_IF(ClosedBefore, leave_i || enter_i || link_i, forth == at_i,
      "the QP before one in a ring does not have it behind itself")
`endif

endmodule
