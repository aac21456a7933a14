// SPDX-License-Identifier: Apache-2.0

/// Counts the cycles in a row in which a word waits, up to Most + 1, for bounds on how long it may.
/// Cycles with others_i, in which somebody else gets his turn, are not counted.
module formal_wait #(
    parameter int unsigned Most = 1,
    localparam int unsigned W = $clog2(Most + 2)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic waits_i,
    input logic others_i,
    output logic [W-1:0] count_o
);
  logic [W-1:0] count_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
    end else if (!waits_i) begin
      count_q <= '0;
    end else if (!others_i && count_q != W'(Most + 1)) begin
      count_q <= count_q + W'(1);
    end
  end
  assign count_o = count_q;
endmodule
