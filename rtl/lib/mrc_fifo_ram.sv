// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// First-in first-out queue by the rule of mrc_fifo, for depths whose words belong into a memory
/// with synchronous read: the word behind the head is read while the head is popped, and a word
/// that is the head as soon as it is written waits in a register. Throughput: one word per cycle.
/// It does not reset its data.
module mrc_fifo_ram #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 16,
    localparam int unsigned PtrW = (Depth > 1) ? $clog2(Depth) : 1,
    localparam int unsigned CntW = $clog2(Depth + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    output logic ready_o,
    input logic [Width-1:0] data_i,
    output logic valid_o,
    input logic ready_i,
    output logic [Width-1:0] data_o,
    output logic [CntW-1:0] count_o
);

  if (Depth < 2) begin : gen_bad_depth
    $error("%m: Depth must be at least 2");
  end

  logic [PtrW-1:0] wptr_q, wptr_d, rptr_q, rptr_d, rptr_next;
  logic [CntW-1:0] count_q, count_d;
  logic push, pop, fresh_q, fresh_d, fresh_load;
  logic [Width-1:0] fresh_data_q, rdata;

  assign ready_o = count_q != CntW'(Depth);
  assign valid_o = count_q != '0;
  assign data_o = fresh_q ? fresh_data_q : rdata;
  assign count_o = count_q;
  assign push = valid_i && ready_o;
  assign pop = valid_o && ready_i;
  assign rptr_next = (rptr_q == PtrW'(Depth - 1)) ? '0 : rptr_q + PtrW'(1);

  // The word that is pushed is the head of the next cycle: the memory would give it a cycle late.
  assign fresh_load = push && (count_q == '0 || (pop && count_q == CntW'(1)));

  mrc_ram_1r1w #(
      .Width(Width),
      .Depth(Depth)
  ) u_mem (
      .clk_i,
      .re_i(pop),
      .raddr_i(rptr_next),
      .rdata_o(rdata),
      .we_i(push),
      .waddr_i(wptr_q),
      .wdata_i(data_i)
  );

  always_comb begin
    wptr_d = wptr_q;
    rptr_d = rptr_q;
    count_d = count_q;
    fresh_d = fresh_q;
    if (push) begin
      wptr_d = (wptr_q == PtrW'(Depth - 1)) ? '0 : wptr_q + PtrW'(1);
    end
    if (pop) begin
      rptr_d = rptr_next;
      fresh_d = 1'b0;
    end
    if (fresh_load) begin
      fresh_d = 1'b1;
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
      fresh_q <= 1'b0;
    end else begin
      wptr_q <= wptr_d;
      rptr_q <= rptr_d;
      count_q <= count_d;
      fresh_q <= fresh_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (fresh_load) begin
      fresh_data_q <= data_i;
    end
  end

  if (Depth + 1 < 2 ** CntW) begin : gen_range
    `MRC_ASSERT(CountInRange, count_q <= CntW'(Depth), "more words than the FIFO has places")
  end
  `MRC_ASSERT(PointersApart, (rptr_q == wptr_q) == (count_q == '0 || count_q == CntW'(Depth)),
      "the pointers meet, and the FIFO is neither empty nor full")
  `MRC_ASSERT_IF(FreshIsAWord, fresh_q, count_q != '0,
      "an empty FIFO has a fresh word")

endmodule
