// SPDX-License-Identifier: Apache-2.0

/// Stands for mrc_ram_1r1w where a harness asks which words are read, not what is in them: each
/// word is its own address. What has at most four words is the memory itself.
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
  if (Depth <= 4) begin : gen_words
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
  end else begin : gen_addresses
    logic [AddrW-1:0] at_q;
    assign rdata_o = Width'(at_q);
    always_ff @(posedge clk_i) begin
      if (re_i) begin
        at_q <= raddr_i;
      end
    end
  end
endmodule
