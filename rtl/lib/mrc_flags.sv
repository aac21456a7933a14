// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Rows of flags, 0 after reset, that two sides change in one cycle: a and b, each in a row that it
/// reads. Reads combinational read ports; a side names the port that has its row. Changes take
/// effect at the end of the cycle. A flag that a side sets and clears is set; where both sides
/// change the same flag, b counts.
///
/// Each side has a register file of its own, and a flag is 1 where the two differ: who changes it
/// changes its own. One side alone is a mrc_rf_reset.
module mrc_flags #(
    parameter int unsigned Width = 1,
    parameter int unsigned Depth = 16,
    parameter int unsigned Reads = 2,
    localparam int unsigned AddrW = (Depth > 1) ? $clog2(Depth) : 1,
    localparam int unsigned PortW = (Reads > 1) ? $clog2(Reads) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [Reads-1:0][AddrW-1:0] raddr_i,
    output logic [Reads-1:0][Width-1:0] flags_o,
    input logic [PortW-1:0] a_port_i,
    input logic [Width-1:0] a_set_i,
    input logic [Width-1:0] a_clear_i,
    input logic [PortW-1:0] b_port_i,
    input logic [Width-1:0] b_set_i,
    input logic [Width-1:0] b_clear_i
);

  logic [Reads-1:0][Width-1:0] a_rows, b_rows;
  logic [AddrW-1:0] a_addr, b_addr;
  logic [Width-1:0] a_change, b_change;  // flags that become something else

  assign a_addr = raddr_i[a_port_i];
  assign b_addr = raddr_i[b_port_i];
  assign flags_o = a_rows ^ b_rows;

  always_comb begin
    b_change = (b_set_i & ~flags_o[b_port_i]) | (b_clear_i & ~b_set_i & flags_o[b_port_i]);
    a_change = (a_set_i & ~flags_o[a_port_i]) | (a_clear_i & ~a_set_i & flags_o[a_port_i]);
    if (a_addr == b_addr) begin
      a_change &= ~(b_set_i | b_clear_i);
    end
  end

  mrc_rf_reset #(
      .Width(Width),
      .Depth(Depth),
      .Reads(Reads)
  ) u_a (
      .clk_i,
      .rst_ni,
      .raddr_i,
      .rdata_o(a_rows),
      .we_i((a_set_i | a_clear_i) != '0),
      .waddr_i(a_addr),
      .wdata_i(a_rows[a_port_i] ^ a_change)
  );

  mrc_rf_reset #(
      .Width(Width),
      .Depth(Depth),
      .Reads(Reads)
  ) u_b (
      .clk_i,
      .rst_ni,
      .raddr_i,
      .rdata_o(b_rows),
      .we_i((b_set_i | b_clear_i) != '0),
      .waddr_i(b_addr),
      .wdata_i(b_rows[b_port_i] ^ b_change)
  );

endmodule
