// SPDX-License-Identifier: Apache-2.0
/// Sample for the tests of `mrc depth`: paths whose gates can be counted by hand. A parity of n
/// bits is a tree of exclusive ors: ceil(log2(n)) gates, and no other circuit of two-input gates is
/// shallower, because each of the n bits matters.
module depth (
    input logic clk_i,
    input logic [63:0] a_i,
    input logic [3:0] row_i,
    input logic we_i,
    input logic [15:0] data_i,
    output logic out_o,
    output logic q_o
);
  logic [63:0] a_q;
  logic [15:0] table_q[0:15];
  logic parity64_q, parity8_q, read_q;
  logic [15:0] row;

  assign row = table_q[row_i];
  assign out_o = a_i[0] & a_i[1] & a_i[2];  // 2 gates
  assign q_o = parity64_q ^ parity8_q ^ read_q;

  always_ff @(posedge clk_i) begin
    a_q <= a_i;
    parity64_q <= ^a_q;  // 6 gates
    parity8_q <= ^a_q[7:0];  // 3 gates, within the former
    read_q <= ^row;  // 4 gates after the table, 4 more through 16 rows
    if (we_i) table_q[row_i] <= data_i;
  end
endmodule
