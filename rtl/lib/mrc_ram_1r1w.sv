// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Memory with one synchronous read port and one write port: address and re_i in cycle t, data in
/// t+1, held until the next read. A read of the row that is written in the same cycle gives the old
/// word; one of a row that does not exist any word. Not reset: the owner initialises what it looks
/// at. Stands for an SRAM macro or a block RAM.
module mrc_ram_1r1w #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 16,
    localparam int unsigned AddrW = (Depth > 1) ? $clog2(Depth) : 1
) (
    input logic clk_i,
    input logic re_i,
    input logic [AddrW-1:0] raddr_i,
    output logic [Width-1:0] rdata_o,
    input logic we_i,
    input logic [AddrW-1:0] waddr_i,
    input logic [Width-1:0] wdata_i
);

  logic [Width-1:0] mem_q[0:Depth-1];
  logic [Width-1:0] rdata_q;

  assign rdata_o = rdata_q;

  always_ff @(posedge clk_i) begin
    if (we_i) begin
      mem_q[waddr_i] <= wdata_i;
    end
    if (re_i) begin
      rdata_q <= mem_q[raddr_i];
    end
  end

  `MRC_ASSERT_CLK_IF(WritesARow, we_i, 32'(waddr_i) < Depth,
      "a row is written that does not exist")

endmodule
