// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// First-in first-out queue of Depth words of type T; the first word falls through.
/// ready_o is "not full", valid_o is "not empty", both functions of registers only: a full FIFO
/// does not take a word even while one is popped. A word pushed in cycle t is at the head in t+1 at
/// the earliest. Throughput: one word per cycle for Depth >= 2. It does not reset its data.
module mrc_fifo #(
    parameter type T = logic [7:0],
    parameter int unsigned Depth = 2,
    localparam int unsigned PtrW = (Depth > 1) ? $clog2(Depth) : 1,
    localparam int unsigned CntW = $clog2(Depth + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    output logic ready_o,
    input T data_i,
    output logic valid_o,
    input logic ready_i,
    output T data_o,
    output logic [CntW-1:0] count_o
);

  if (Depth == 0) begin : gen_bad_depth
    $error("%m: Depth must be at least 1");
  end

  T mem_q[0:Depth-1];
  logic [PtrW-1:0] wptr_q, wptr_d, rptr_q, rptr_d;
  logic [CntW-1:0] count_q, count_d;
  logic push, pop;

  assign ready_o = count_q != CntW'(Depth);
  assign valid_o = count_q != '0;
  assign data_o = mem_q[rptr_q];
  assign count_o = count_q;
  assign push = valid_i && ready_o;
  assign pop = valid_o && ready_i;

  always_comb begin
    wptr_d = wptr_q;
    rptr_d = rptr_q;
    count_d = count_q;
    if (push) begin
      wptr_d = (wptr_q == PtrW'(Depth - 1)) ? '0 : wptr_q + PtrW'(1);
    end
    if (pop) begin
      rptr_d = (rptr_q == PtrW'(Depth - 1)) ? '0 : rptr_q + PtrW'(1);
    end
    if (push && !pop) begin
      count_d = count_q + CntW'(1);
    end else if (pop && !push) begin
      count_d = count_q - CntW'(1);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wptr_q <= '0;
      rptr_q <= '0;
      count_q <= '0;
    end else begin
      wptr_q <= wptr_d;
      rptr_q <= rptr_d;
      count_q <= count_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      mem_q[wptr_q] <= data_i;
    end
  end

  if (Depth + 1 < 2 ** CntW) begin : gen_range
    `MRC_ASSERT(CountInRange, count_q <= CntW'(Depth), "more words than the FIFO has places")
  end
  `MRC_ASSERT(PointersApart, (rptr_q == wptr_q) == (count_q == '0 || count_q == CntW'(Depth)),
      "the pointers meet, and the FIFO is neither empty nor full")

endmodule
