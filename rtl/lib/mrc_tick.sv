// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Ticks at any clock: Parts of them in Cycles cycles, exactly. From reset on there were
/// floor(n * Parts / Cycles) after n cycles, so ticks are floor(Cycles / Parts) cycles apart, or
/// one more. tick_o is a function of registers. Two of them with one reset and the same parameters
/// tick in the same cycles.
module mrc_tick #(
    parameter int unsigned Cycles = 128,
    parameter int unsigned Parts = 1,
    localparam int unsigned AccW = (Cycles > 1) ? $clog2(Cycles) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    output logic tick_o
);

  if (Parts < 1 || Parts > Cycles) begin : gen_bad_parts
    $error("%m: Parts = %0d, must be 1 to Cycles = %0d", Parts, Cycles);
  end

  // What is left of a tick, in parts of Cycles.
  logic [AccW-1:0] acc_q, acc_d;
  logic [AccW:0] sum;

  assign sum = {1'b0, acc_q} + (AccW + 1)'(Parts);
  assign tick_o = sum >= (AccW + 1)'(Cycles);
  assign acc_d = tick_o ? AccW'(sum - (AccW + 1)'(Cycles)) : AccW'(sum);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      acc_q <= '0;
    end else begin
      acc_q <= acc_d;
    end
  end

  `MRC_ASSERT(LessThanATick, 32'(acc_q) < Cycles, "a tick is left out")

endmodule
