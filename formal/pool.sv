// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_pool: each number is with one owner or in the pool. Owners give back what they have.
module formal_pool #(
    parameter int unsigned N = 4,
    localparam int unsigned IdxW = $clog2(N),
    localparam int unsigned CntW = $clog2(N + 1)
) (
    input logic clk_i,
    input logic ready_i,
    input logic valid_i,
    input logic [IdxW-1:0] data_i
);
  `MRC_RESET

  logic valid_o;
  logic [IdxW-1:0] data_o;
  logic [CntW-1:0] free_o;
  mrc_pool #(.N(N)) dut (.*);

  logic [N-1:0] out_q;
  logic [CntW-1:0] count;
  logic cycled_q;
  logic take;
  assign take = valid_o && ready_i;
  always_comb begin
    count = '0;
    for (int unsigned i = 0; i < N; i++) begin
      count += CntW'(out_q[i]);
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_q <= '0;
      cycled_q <= 1'b0;
    end else begin
      for (int unsigned i = 0; i < N; i++) begin
        out_q[i] <= (out_q[i] || (take && data_o == IdxW'(i))) && !(valid_i && data_i == IdxW'(i));
      end
      cycled_q <= cycled_q || (valid_i && data_i == IdxW'(N - 1));
    end
  end
  `MRC_GIVEN(comes_back_when_out, !valid_i || out_q[data_i])
  `MRC_GIVEN(taken_when_there, !ready_i || valid_o)

  `MRC_PROVE(once, !take || !out_q[data_o])
  `MRC_PROVE(none_lost, valid_o == (count != CntW'(N)))
  `MRC_PROVE(count, free_o == CntW'(N) - count)
  `MRC_COVER(once, take && cycled_q && count == CntW'(N - 1))
  `MRC_COVER(none_lost, cycled_q && count == CntW'(N))
  `MRC_COVER(count, cycled_q && take && valid_i)
endmodule
