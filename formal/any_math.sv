// SPDX-License-Identifier: Apache-2.0

/// Stand for mrc_cc_mul and mrc_cc_div where a harness does not ask how windows change: any.
module mrc_cc_mul #(
    parameter int unsigned AWidth = 54,
    parameter int unsigned BWidth = 29,
    parameter bit Dsp = 1'b0
) (
    input logic clk_i,
    input logic load_i,
    input logic [AWidth-1:0] a_i,
    input logic [BWidth-1:0] b_i,
    input logic step_i,
    output logic [AWidth+BWidth-1:0] p_o
);
  assign p_o = 'x;
endmodule

module mrc_cc_div #(
    parameter int unsigned Width = 44
) (
    input logic clk_i,
    input logic load_i,
    input logic [Width-1:0] rem_i,
    input logic [Width-1:0] low_i,
    input logic [Width-1:0] den_i,
    input logic step_i,
    output logic [Width-1:0] quot_o
);
  assign quot_o = 'x;
endmodule
