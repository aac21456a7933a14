// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_ram_1r1w, by one row, which is any.
module formal_ram_1r1w #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 8,
    localparam int unsigned AddrW = $clog2(Depth)
) (
    input logic clk_i,
    input logic re_i,
    input logic [AddrW-1:0] raddr_i,
    input logic we_i,
    input logic [AddrW-1:0] waddr_i,
    input logic [Width-1:0] wdata_i
);
  `MRC_RESET

  logic [Width-1:0] rdata_o;
  mrc_ram_1r1w #(.Width(Width), .Depth(Depth)) dut (.*);

  logic [AddrW-1:0] row_q;
  always_ff @(posedge clk_i) row_q <= row_q;
  logic known_q, read_q, held_q;
  logic [Width-1:0] word_q, want_q, before_q;
  logic collided_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      known_q <= 1'b0;
      read_q <= 1'b0;
      held_q <= 1'b0;
      collided_q <= 1'b0;
    end else begin
      known_q <= known_q || (we_i && waddr_i == row_q);
      read_q <= known_q && re_i && raddr_i == row_q;
      held_q <= !re_i;
      collided_q <= we_i && waddr_i == raddr_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (we_i && waddr_i == row_q) word_q <= wdata_i;
    want_q <= word_q;
    before_q <= rdata_o;
  end

  `MRC_PROVE(old_word, !read_q || rdata_o == want_q)
  `MRC_PROVE(held, !held_q || rdata_o == before_q)
  `MRC_COVER(old_word, read_q && collided_q && word_q != want_q)
  `MRC_COVER(held, held_q && before_q != '0)
  `MRC_HELP(kept, !known_q || dut.mem_q[row_q] == word_q)
endmodule
