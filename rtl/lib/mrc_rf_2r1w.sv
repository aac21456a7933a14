// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Register file with two combinational read ports and one write port that takes effect at the end
/// of the cycle; no forwarding. Not reset. As mrc_rf_1r1w, for the few tables read at two places.
module mrc_rf_2r1w #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 16,
    localparam int unsigned AddrW = (Depth > 1) ? $clog2(Depth) : 1
) (
    input logic clk_i,
    input logic [AddrW-1:0] raddr0_i,
    output logic [Width-1:0] rdata0_o,
    input logic [AddrW-1:0] raddr1_i,
    output logic [Width-1:0] rdata1_o,
    input logic we_i,
    input logic [AddrW-1:0] waddr_i,
    input logic [Width-1:0] wdata_i
);

  logic [Width-1:0] mem_q[0:Depth-1];

  assign rdata0_o = mem_q[raddr0_i];
  assign rdata1_o = mem_q[raddr1_i];

  always_ff @(posedge clk_i) begin
    if (we_i) begin
      mem_q[waddr_i] <= wdata_i;
    end
  end

  `MRC_ASSERT_CLK_IF(WritesARow, we_i, 32'(waddr_i) < Depth,
      "a row is written that does not exist")

endmodule
