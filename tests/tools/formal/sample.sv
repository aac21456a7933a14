// SPDX-License-Identifier: Apache-2.0
/// Counts to 9 and begins anew: for the test of mrc prove.
module sample (
    input logic clk_i,
    input logic rst_ni,
    input logic go_i,
    output logic [3:0] n_o
);
  logic [3:0] n_q;
  assign n_o = n_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      n_q <= '0;
    end else if (go_i) begin
      n_q <= (n_q == 4'd9) ? 4'd0 : n_q + 4'd1;
    end
  end
endmodule
