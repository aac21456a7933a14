// SPDX-License-Identifier: Apache-2.0

/// Memory with a write port in one clock and a read port in another: address and re_i in a cycle of
/// rclk_i, data in the next, held until the next read. A row that is written while it is read gives
/// anything; the owner never does that. Stands for a block RAM in simple dual port.
module mrc_fpga_ram #(
    parameter int unsigned Width = 32,
    parameter int unsigned Depth = 16,
    localparam int unsigned AddrW = (Depth > 1) ? $clog2(Depth) : 1
) (
    input logic wclk_i,
    input logic we_i,
    input logic [AddrW-1:0] waddr_i,
    input logic [Width-1:0] wdata_i,
    input logic rclk_i,
    input logic re_i,
    input logic [AddrW-1:0] raddr_i,
    output logic [Width-1:0] rdata_o
);

  logic [Width-1:0] mem_q[0:Depth-1];
  logic [Width-1:0] rdata_q;

  assign rdata_o = rdata_q;

  always_ff @(posedge wclk_i) begin
    if (we_i) begin
      mem_q[waddr_i] <= wdata_i;
    end
  end

  always_ff @(posedge rclk_i) begin
    if (re_i) begin
      rdata_q <= mem_q[raddr_i];
    end
  end

endmodule
