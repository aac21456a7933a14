// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Merges N streams of one type, round robin, at most one word per cycle: an input FIFO of two
/// words each, an arbiter, an output register. Latency 2 cycles.
module mrc_merge #(
    parameter type T = logic [7:0],
    parameter int unsigned N = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [N-1:0] valid_i,
    output logic [N-1:0] ready_o,
    input T [N-1:0] data_i,
    output logic valid_o,
    input logic ready_i,
    output T data_o
);

  localparam int unsigned IdxW = (N > 1) ? $clog2(N) : 1;

  logic [N-1:0] head_v, gnt;
  T [N-1:0] head;
  logic out_free, any, take;
  logic [IdxW-1:0] idx;

  for (genvar i = 0; i < N; i++) begin : gen_in
    logic [1:0] count_unused;
    mrc_fifo #(
        .T(T),
        .Depth(2)
    ) u_in (
        .clk_i,
        .rst_ni,
        .valid_i(valid_i[i]),
        .ready_o(ready_o[i]),
        .data_i(data_i[i]),
        .valid_o(head_v[i]),
        .ready_i(take && gnt[i]),
        .data_o(head[i]),
        .count_o(count_unused)
    );
  end

  mrc_rr_arb #(
      .N(N)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i(head_v),
      .take_i(take),
      .gnt_o(gnt),
      .idx_o(idx),
      .any_o(any)
  );

  assign take = any && out_free;

  mrc_out_reg #(
      .T(T)
  ) u_out (
      .clk_i,
      .rst_ni,
      .load_i(take),
      .data_i(head[idx]),
      .free_o(out_free),
      .valid_o,
      .ready_i,
      .data_o
  );

  `MRC_ASSERT_IF(OneLeaves, take, head_v[idx],
      "the word that leaves is of an empty input")

endmodule
