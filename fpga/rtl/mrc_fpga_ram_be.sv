// SPDX-License-Identifier: Apache-2.0

/// mrc_ram_1r1w whose writes have byte enables: a byte without one keeps what it has. A read of a
/// row that is written in the same cycle gives the old one. Stands for a block RAM.
module mrc_fpga_ram_be #(
    parameter int unsigned Bytes = 64,
    parameter int unsigned Depth = 16,
    localparam int unsigned AddrW = (Depth > 1) ? $clog2(Depth) : 1
) (
    input logic clk_i,
    input logic re_i,
    input logic [AddrW-1:0] raddr_i,
    output logic [Bytes*8-1:0] rdata_o,
    input logic we_i,
    input logic [AddrW-1:0] waddr_i,
    input logic [Bytes-1:0] be_i,
    input logic [Bytes*8-1:0] wdata_i
);

  logic [Bytes*8-1:0] mem_q[0:Depth-1];
  logic [Bytes*8-1:0] row_q;

  assign rdata_o = row_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < Bytes; i++) begin
      if (we_i && be_i[i]) begin
        mem_q[waddr_i][8*i+:8] <= wdata_i[8*i+:8];
      end
    end
    if (re_i) begin
      row_q <= mem_q[raddr_i];
    end
  end

endmodule
