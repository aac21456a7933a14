// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Hands out the numbers 0 to N-1, first those given back, then those never used. The number on
/// offer is data_o, taken in a cycle with valid_o and ready_i; valid_i gives data_i back, and it is
/// on offer in the next cycle at the earliest. One taken and one given per cycle. In simulation it
/// asserts that a number which is given back was out; hardware does not notice.
module mrc_pool #(
    parameter int unsigned N = 16,
    localparam int unsigned IdxW = (N > 1) ? $clog2(N) : 1,
    localparam int unsigned CntW = $clog2(N + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    output logic valid_o,
    input logic ready_i,
    output logic [IdxW-1:0] data_o,
    input logic valid_i,
    input logic [IdxW-1:0] data_i,
    output logic [CntW-1:0] free_o
);

  if (N < 2) begin : gen_bad_n
    $error("%m: N must be at least 2");
  end

  logic [CntW-1:0] fresh_q, fresh_d, free_q, free_d, back_count;
  logic take, give, back_valid, back_ready;
  logic [IdxW-1:0] back;

  mrc_fifo_ram #(
      .Width(IdxW),
      .Depth(N)
  ) u_back (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o(back_ready),
      .data_i,
      .valid_o(back_valid),
      .ready_i(take),
      .data_o(back),
      .count_o(back_count)
  );

  assign valid_o = back_valid || fresh_q != CntW'(N);
  assign data_o = back_valid ? back : fresh_q[IdxW-1:0];
  assign free_o = free_q;
  assign take = valid_o && ready_i;
  assign give = valid_i && back_ready;

  always_comb begin
    fresh_d = fresh_q;
    free_d = free_q;
    if (take && !back_valid) begin
      fresh_d = fresh_q + CntW'(1);
    end
    if (take && !give) begin
      free_d = free_q - CntW'(1);
    end else if (give && !take) begin
      free_d = free_q + CntW'(1);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fresh_q <= '0;
      free_q <= CntW'(N);
    end else begin
      fresh_q <= fresh_d;
      free_q <= free_d;
    end
  end

`ifdef MRC_ASSERT_ON
  // The numbers that are out. The bit of a number that was never taken means nothing.
  logic out_q[0:N-1];
  always_ff @(posedge clk_i) begin
    if (take) begin
      out_q[data_o] <= 1'b1;
    end
    if (give) begin
      out_q[data_i] <= 1'b0;
    end
  end

  `MRC_ASSERT_IF(GivenOnce, valid_i, CntW'(data_i) < fresh_q && out_q[data_i],
      "a number is given back that is not out")
  `MRC_ASSERT_IF(TakenOnce, take && back_valid, !out_q[data_o],
      "a number is handed out twice")
`endif
  `MRC_NEVER_FULL(Back, valid_i, back_ready)
  `MRC_ASSERT_IF(TakesANumber, ready_i, valid_o,
      "a number is taken that is not there")
  `MRC_ASSERT(NoneLost, free_q == CntW'(N) - fresh_q + back_count,
      "the count of free numbers is off")

endmodule
