// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// A stream whose words wait at random: a FIFO of two words, behind which Share of 64 words wait 1
/// to 31 cycles more before they are offered; one that does not wait comes a cycle later than
/// without. No input reaches an output in the same cycle. For tests: tools/stalled_rtl.py puts one
/// into each stream between two blocks. Seed, from which all that is random follows, is not 0.
module mrc_stall #(
    parameter type T = logic [7:0],
    parameter logic [31:0] Seed = 32'd1,
    parameter logic [5:0] Share = 6'd16
) (
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    output logic ready_o,
    input T data_i,
    output logic valid_o,
    input logic ready_i,
    output T data_o
);

  if (Seed == 32'd0) begin : gen_bad_seed
    $error("%m: Seed must not be 0");
  end

  logic some;
  logic [1:0] unused_count;
  logic [4:0] wait_q, wait_d;
  logic [31:0] lfsr_q;

  mrc_fifo #(
      .T(T),
      .Depth(2)
  ) u_fifo (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o,
      .data_i,
      .valid_o(some),
      .ready_i(ready_i && wait_q == 5'd0),
      .data_o,
      .count_o(unused_count)
  );

  assign valid_o = some && wait_q == 5'd0;

  always_comb begin
    wait_d = wait_q;
    if (some && wait_q != 5'd0) begin
      wait_d = wait_q - 5'd1;
    end else if (valid_o && ready_i && lfsr_q[5:0] < Share) begin
      wait_d = lfsr_q[12:8];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_q <= 5'd0;
      lfsr_q <= Seed;
    end else begin
      wait_q <= wait_d;
      lfsr_q <= {1'b0, lfsr_q[31:1]} ^ (lfsr_q[0] ? 32'h80200003 : 32'd0);
    end
  end

  `MRC_STABLE(Offer, valid_o, ready_i, data_o, $bits(T))

endmodule
