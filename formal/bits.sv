// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_bits in three levels of words of two bits, beside a bit per number: whoever is looked for is
/// in, or not, like its bit; a register file whose rows read Reset until they are written; and
/// flags that two sides change.
module formal_bits (
    input logic clk_i,
    input logic clear_i,
    input logic set_i,
    input logic [2:0] set_idx_i,
    input logic [1:0][2:0] idx_i,
    input logic [7:0] wdata_i,
    input logic [2:0][1:0] flag_row_i,
    input logic [1:0] a_port_i,
    input logic [1:0] a_set_i,
    input logic [1:0] a_clear_i,
    input logic [1:0] b_port_i,
    input logic [1:0] b_set_i,
    input logic [1:0] b_clear_i
);
  `MRC_RESET

  logic [1:0] in_o;
  mrc_bits #(.N(8), .Reads(2), .Word(2)) dut (.*);

  logic [7:0] flat_q;
  logic cleared_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      flat_q <= '0;
      cleared_q <= 1'b0;
    end else begin
      if (clear_i) flat_q <= '0;
      if (set_i) flat_q[set_idx_i] <= 1'b1;
      cleared_q <= cleared_q || (clear_i && set_i && flat_q[6:4] == 3'b101);
    end
  end

  logic [7:0] tree;
  for (genvar i = 0; i < 8; i++) begin : gen_tree
    assign tree[i] = dut.top_q[i/4] && dut.gen_level[1].word_q[i/4][(i/2)%2]
        && dut.gen_level[2].word_q[i/2][i%2];
  end

  `MRC_PROVE(as_flat, in_o == {flat_q[idx_i[1]], flat_q[idx_i[0]]})
  `MRC_COVER(as_flat, cleared_q && flat_q == 8'hB4 && in_o == 2'b01)
  `MRC_HELP(tree, tree == flat_q)
  // A word that counts is not empty: a bit leaves with all the others only.
  for (genvar i = 0; i < 2; i++) begin : gen_top
    `MRC_HELP(top, !dut.top_q[i] || flat_q[4*i+:4] != 4'd0)
  end
  for (genvar i = 0; i < 4; i++) begin : gen_middle
    `MRC_HELP(middle, !(dut.top_q[i/2] && dut.gen_level[1].word_q[i/2][i%2])
              || flat_q[2*i+:2] != 2'd0)
  end

  // ---- rows with a reset

  logic [1:0][7:0] rows;
  mrc_rf_reset #(.Width(8), .Depth(8), .Reads(2), .Reset(8'h3C)) u_rf (
      .raddr_i(idx_i), .rdata_o(rows), .we_i(set_i), .waddr_i(set_idx_i), .*
  );

  logic [7:0][7:0] row_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) row_q <= {8{8'h3C}};
    else if (set_i) row_q[set_idx_i] <= wdata_i;
  end

  `MRC_PROVE(row, rows == {row_q[idx_i[1]], row_q[idx_i[0]]})
  `MRC_COVER(row, rows == {8'h3C, 8'h01} && row_q[6] == 8'h02)
  for (genvar i = 0; i < 8; i++) begin : gen_row
    `MRC_HELP(row, row_q[i] == (u_rf.u_written.top_q[i] ? u_rf.u_rows.mem_q[i] : 8'h3C))
  end

  // ---- flags of two sides

  logic [1:0] a_port, b_port;  // three ports: there is no fourth
  logic [2:0][1:0] flags;
  assign a_port = (a_port_i == 2'd3) ? 2'd0 : a_port_i;
  assign b_port = (b_port_i == 2'd3) ? 2'd0 : b_port_i;
  mrc_flags #(.Width(2), .Depth(4), .Reads(3)) u_flags (
      .raddr_i(flag_row_i), .flags_o(flags), .a_port_i(a_port), .b_port_i(b_port), .*
  );

  logic [3:0][1:0] flag_q, flag_d;
  logic [1:0] a_row, b_row;
  assign a_row = flag_row_i[a_port];
  assign b_row = flag_row_i[b_port];
  always_comb begin
    flag_d = flag_q;
    flag_d[a_row] = (flag_d[a_row] & ~a_clear_i) | a_set_i;
    flag_d[b_row] = (flag_d[b_row] & ~b_clear_i) | b_set_i;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) flag_q <= '0;
    else flag_q <= flag_d;
  end

  `MRC_PROVE(flags, flags == {flag_q[flag_row_i[2]], flag_q[flag_row_i[1]], flag_q[flag_row_i[0]]})
  `MRC_COVER(flags, flag_q == 8'h4E && a_row == b_row && a_port != b_port && a_clear_i == 2'd3
             && b_set_i == 2'd1)
  for (genvar i = 0; i < 4; i++) begin : gen_flag
    logic [1:0] a_is, b_is;
    assign a_is = u_flags.u_a.u_written.top_q[i] ? u_flags.u_a.u_rows.mem_q[i] : 2'd0;
    assign b_is = u_flags.u_b.u_written.top_q[i] ? u_flags.u_b.u_rows.mem_q[i] : 2'd0;
    `MRC_HELP(flag, flag_q[i] == (a_is ^ b_is))
  end
endmodule
