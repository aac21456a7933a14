// SPDX-License-Identifier: Apache-2.0

/// Stands for mrc_ram_1r1w where a harness asks which words are read, not what is in them: each
/// word is its own address.
module mrc_ram_1r1w #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 2,
    localparam int unsigned AddrW = $clog2(Depth)
) (
    input logic clk_i,
    input logic re_i,
    input logic [AddrW-1:0] raddr_i,
    output logic [Width-1:0] rdata_o,
    input logic we_i,
    input logic [AddrW-1:0] waddr_i,
    input logic [Width-1:0] wdata_i
);
  logic [AddrW-1:0] at_q;
  assign rdata_o = Width'(at_q);
  always_ff @(posedge clk_i) begin
    if (re_i) begin
      at_q <= raddr_i;
    end
  end
endmodule
