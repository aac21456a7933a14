// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_rr_arb: fair to any requester, and as the rule says with the place granted last.
module formal_rr_arb #(
    parameter int unsigned N = 8,
    localparam int unsigned IdxW = $clog2(N)
) (
    input logic clk_i,
    input logic [N-1:0] req_i,
    input logic take_i
);
  `MRC_RESET

  logic [N-1:0] gnt_o;
  logic [IdxW-1:0] idx_o;
  logic any_o;
  mrc_rr_arb #(.N(N)) dut (.*);

  // Any requester: how many others were served while it asked.
  logic [IdxW-1:0] k_q;
  always_ff @(posedge clk_i) k_q <= k_q;
  logic [IdxW:0] waits_q;
  logic [IdxW-1:0] last_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q <= '0;
      last_q <= IdxW'(N - 1);
    end else begin
      if (!req_i[k_q] || (take_i && gnt_o[k_q])) begin
        waits_q <= '0;
      end else if (take_i) begin
        waits_q <= waits_q + (IdxW + 1)'(1);
      end
      if (take_i && any_o) begin
        last_q <= idx_o;
      end
    end
  end

  // The rule: the first request behind the place granted last.
  logic [IdxW-1:0] first;
  always_comb begin
    first = '0;
    for (int unsigned i = N; i > 0; i--) begin
      if (req_i[IdxW'(32'(last_q) + i)]) begin
        first = IdxW'(32'(last_q) + i);
      end
    end
  end

  `MRC_PROVE(fair, waits_q < (IdxW + 1)'(N))
  `MRC_PROVE(by_the_rule, !any_o || (gnt_o == (N'(1) << first)))
  `MRC_PROVE(index, !any_o || gnt_o[idx_o])
  `MRC_HELP(above, dut.above_q == ~((N'(2) << last_q) - N'(1)))
  `MRC_COVER(fair, waits_q == (IdxW + 1)'(N - 1))
  `MRC_COVER(by_the_rule, any_o && first < last_q && last_q != '1)
  `MRC_COVER(index, any_o && idx_o == IdxW'(N - 1))
endmodule
