// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// The register files with 1, 2 and 3 read ports, by one row, which is any: a read gives what was
/// written last, at every port.
module formal_rf #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 8,
    localparam int unsigned AddrW = $clog2(Depth)
) (
    input logic clk_i,
    input logic [2:0][AddrW-1:0] raddr_i,
    input logic we_i,
    input logic [AddrW-1:0] waddr_i,
    input logic [Width-1:0] wdata_i
);
  `MRC_RESET

  logic [Width-1:0] one, two0, two1;
  logic [2:0][Width-1:0] many;
  mrc_rf_1r1w #(.Width(Width), .Depth(Depth)) u_one (
      .raddr_i(raddr_i[0]), .rdata_o(one), .*
  );
  mrc_rf_2r1w #(.Width(Width), .Depth(Depth)) u_two (
      .raddr0_i(raddr_i[0]), .rdata0_o(two0), .raddr1_i(raddr_i[1]), .rdata1_o(two1), .*
  );
  mrc_rf_nr1w #(.Width(Width), .Depth(Depth), .Reads(3)) u_many (
      .rdata_o(many), .*
  );

  logic [AddrW-1:0] row_q;
  always_ff @(posedge clk_i) row_q <= row_q;
  logic known_q;
  logic [Width-1:0] word_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) known_q <= 1'b0;
    else known_q <= known_q || (we_i && waddr_i == row_q);
  end
  always_ff @(posedge clk_i) if (we_i && waddr_i == row_q) word_q <= wdata_i;

  logic [2:0] hit;
  for (genvar i = 0; i < 3; i++) begin : gen_hit
    assign hit[i] = known_q && raddr_i[i] == row_q;
  end
  `MRC_PROVE(one, !hit[0] || one == word_q)
  `MRC_PROVE(two, (!hit[0] || two0 == word_q) && (!hit[1] || two1 == word_q))
  `MRC_PROVE(many, (!hit[0] || many[0] == word_q) && (!hit[1] || many[1] == word_q)
                   && (!hit[2] || many[2] == word_q))
  `MRC_COVER(written_twice, hit == 3'd7 && word_q == 8'h5A && we_i && waddr_i == row_q)
  `MRC_HELP(kept, !known_q || (u_one.mem_q[row_q] == word_q && u_two.mem_q[row_q] == word_q
                               && u_many.mem_q[row_q] == word_q))
endmodule
