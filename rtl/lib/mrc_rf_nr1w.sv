// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Register file with Reads combinational read ports and one write port that takes effect at the
/// end of the cycle; no forwarding. Not reset. As mrc_rf_1r1w, for the few tables that several
/// machines look into at a time.
module mrc_rf_nr1w #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 16,
    parameter int unsigned Reads = 3,
    localparam int unsigned AddrW = (Depth > 1) ? $clog2(Depth) : 1
) (
    input logic clk_i,
    input logic [Reads-1:0][AddrW-1:0] raddr_i,
    output logic [Reads-1:0][Width-1:0] rdata_o,
    input logic we_i,
    input logic [AddrW-1:0] waddr_i,
    input logic [Width-1:0] wdata_i
);

  logic [Width-1:0] mem_q[0:Depth-1];

  for (genvar i = 0; i < Reads; i++) begin : gen_read
    assign rdata_o[i] = mem_q[raddr_i[i]];
  end

  always_ff @(posedge clk_i) begin
    if (we_i) begin
      mem_q[waddr_i] <= wdata_i;
    end
  end

  `MRC_ASSERT_CLK_IF(WritesARow, we_i, 32'(waddr_i) < Depth,
      "a row is written that does not exist")

endmodule
