// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Register file whose rows read Reset until they are written. Reads combinational read ports, one
/// write port that takes effect at the end of the cycle; no forwarding. What a register with a
/// reset per row would do, without one: which rows were written is a mrc_bits.
module mrc_rf_reset #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 16,
    parameter int unsigned Reads = 1,
    parameter logic [Width-1:0] Reset = {Width{1'b0}},
    localparam int unsigned AddrW = (Depth > 1) ? $clog2(Depth) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [Reads-1:0][AddrW-1:0] raddr_i,
    output logic [Reads-1:0][Width-1:0] rdata_o,
    input logic we_i,
    input logic [AddrW-1:0] waddr_i,
    input logic [Width-1:0] wdata_i
);

  logic [Reads-1:0] written;
  logic [Reads-1:0][Width-1:0] row;

  mrc_bits #(
      .N(Depth),
      .Reads(Reads)
  ) u_written (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .set_i(we_i),
      .set_idx_i(waddr_i),
      .idx_i(raddr_i),
      .in_o(written)
  );

  mrc_rf_nr1w #(
      .Width(Width),
      .Depth(Depth),
      .Reads(Reads)
  ) u_rows (
      .clk_i,
      .raddr_i,
      .rdata_o(row),
      .we_i,
      .waddr_i,
      .wdata_i
  );

  for (genvar i = 0; i < Reads; i++) begin : gen_read
    assign rdata_o[i] = written[i] ? row[i] : Reset;
  end

endmodule
