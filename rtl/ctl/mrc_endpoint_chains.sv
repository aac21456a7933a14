// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Chains of destinations in mrc_endpoint: first, after, f and g of
/// docs/design/blocks/ctl/endpoint.md. Each chain is the destinations of one bucket. It knows no
/// addresses. One destination is looked at, dest_o: start_i and go_on_i walk along a chain, jump_i
/// goes to any. Reads are combinational, writes take effect at the end of the cycle.
module mrc_endpoint_chains #(
    parameter int unsigned NumDests = 4,
    localparam int unsigned DestW = $clog2(NumDests)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [DestW-1:0] bucket_i,
    output logic any_o,  // the bucket has a chain
    output logic [DestW-1:0] dest_o,  // looked at
    output logic last_o,  // nothing is behind it
    output logic [DestW-1:0] next_o,  // looked at in the next cycle

    // What is looked at next.
    input logic start_i,  // the first of the bucket
    input logic go_on_i,  // the one behind
    input logic jump_i,
    input logic [DestW-1:0] jump_dest_i,

    // The operation.
    input logic put_i,  // dest_o enters the bucket's chain, as its first
    input logic out_i,  // dest_o, to which a walk along that chain has come, leaves it
    input logic clear_i  // the bucket has no chain any more
);

  typedef struct packed {
    logic any;
    logic [DestW-1:0] dest;
  } link_t;

  link_t first, after, first_d;
  logic [DestW-1:0] f_q, f_d, g_q;  // g_q: the one before f_q
  logic at_first;

  assign any_o = first.any;
  assign dest_o = f_q;
  assign last_o = !after.any;
  assign next_o = f_d;
  assign at_first = f_q == first.dest;

  always_comb begin
    f_d = f_q;
    if (start_i) begin
      f_d = first.dest;
    end
    if (go_on_i) begin
      f_d = after.dest;
    end
    if (jump_i) begin
      f_d = jump_dest_i;
    end
  end

  always_comb begin
    first_d = after;
    if (put_i) begin
      first_d = '{any: 1'b1, dest: f_q};
    end
    if (clear_i) begin
      first_d = '0;
    end
  end

  mrc_rf_reset #(
      .Width($bits(link_t)),
      .Depth(NumDests)
  ) u_first (
      .clk_i,
      .rst_ni,
      .raddr_i(bucket_i),
      .rdata_o(first),
      .we_i(put_i || clear_i || (out_i && at_first)),
      .waddr_i(bucket_i),
      .wdata_i(first_d)
  );

  mrc_rf_1r1w #(
      .Width($bits(link_t)),
      .Depth(NumDests)
  ) u_after (
      .clk_i,
      .raddr_i(f_q),
      .rdata_o(after),
      .we_i(put_i || (out_i && !at_first)),
      .waddr_i(put_i ? f_q : g_q),
      .wdata_i(put_i ? first : after)
  );

  always_ff @(posedge clk_i) begin
    f_q <= f_d;
    if (go_on_i) begin
      g_q <= f_q;
    end
  end

  // ---- what always holds

  `MRC_ONE_HOT0(OneOperation, {put_i, out_i, clear_i},
      "two operations on the chains in one cycle")
  `MRC_ONE_HOT0(OneLook, {start_i, go_on_i, jump_i},
      "two destinations are to be looked at")
  `MRC_ASSERT_IF(GoesOnToAnother, go_on_i, after.any,
      "a walk goes on behind the end of a chain")
  `MRC_ASSERT_IF(LeavesAChain, out_i, first.any,
      "a destination leaves a bucket that has no chain")

endmodule
