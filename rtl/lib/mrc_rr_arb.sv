// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Round-robin arbiter. The grant is combinational: the first request after the one granted last,
/// in rising order modulo N; the one granted last comes last. The order moves on only in a cycle
/// with take_i (the owner raises it when it uses the grant). After reset request 0 comes first.
module mrc_rr_arb #(
    parameter int unsigned N = 2,
    localparam int unsigned IdxW = (N > 1) ? $clog2(N) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [N-1:0] req_i,
    input logic take_i,
    output logic [N-1:0] gnt_o,
    output logic [IdxW-1:0] idx_o,
    output logic any_o
);

  if (N == 0) begin : gen_bad_n
    $error("%m: N must be at least 1");
  end

  // Ones above the place granted last; all zeros after reset stands for "last was N-1".
  logic [N-1:0] above_q, above_d;
  logic [N-1:0] high, pick;

  assign high = req_i & above_q;
  assign pick = (high != '0) ? high : req_i;
  assign gnt_o = pick & (~pick + N'(1));
  assign any_o = req_i != '0;

  always_comb begin
    idx_o = '0;
    for (int unsigned i = 0; i < N; i++) begin
      if (gnt_o[i]) begin
        idx_o = IdxW'(i);
      end
    end
  end

  // gnt is one-hot: gnt - 1 are the ones below it, and neither those nor itself remain.
  assign above_d = (take_i && any_o) ? ~(gnt_o | (gnt_o - N'(1))) : above_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      above_q <= '0;
    end else begin
      above_q <= above_d;
    end
  end

  `MRC_ONE_HOT0(GrantsOne, gnt_o, "two requests are granted")
  `MRC_ASSERT(GrantsARequest, (gnt_o & ~req_i) == '0 && any_o == (gnt_o != '0),
      "the grant is of no request, or there is none for a request")

endmodule
