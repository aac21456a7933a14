// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_gray with two clocks that have edges as they like. What crosses changes by one bit at
/// most in any step; what arrives was counted, and never goes back.
module formal_fpga_gray #(
    parameter int unsigned Width = 4
) (
    input logic src_clk_i,
    input logic dst_clk_i,
    input logic inc_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge src_clk_i) rst_ni <= 1'b1;

  logic [Width-1:0] dst_count_o;
  mrc_fpga_gray #(
      .Width(Width)
  ) dut (
      .src_clk_i,
      .src_rst_ni(rst_ni),
      .inc_i,
      .dst_clk_i,
      .dst_rst_ni(rst_ni),
      .dst_count_o
  );

  // The word on the crossing before the last edge of its clock.
  logic [Width-1:0] before_q, flips, seen_q, moved, behind;
  always_ff @(posedge src_clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      before_q <= '0;
    end else begin
      before_q <= dut.gray_q;
    end
  end
  assign flips = before_q ^ dut.gray_q;

  // How far the count has gone, with one bit more, while it has not gone round.
  logic [Width:0] total_q;
  always_ff @(posedge src_clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      total_q <= '0;
    end else if (!total_q[Width]) begin
      total_q <= total_q + (Width + 1)'(inc_i);
    end
  end
  always_ff @(posedge dst_clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      seen_q <= '0;
    end else begin
      seen_q <= dst_count_o;
    end
  end
  assign moved = dst_count_o - seen_q;
  assign behind = dut.count_q - dst_count_o;

  `MRC_PROVE(one_bit, (flips & (flips - Width'(1))) == '0)
  `MRC_PROVE(was_counted, total_q[Width] || (Width + 1)'(dst_count_o) <= total_q)
  `MRC_PROVE(never_back, total_q[Width] || dst_count_o >= seen_q)
  `MRC_COVER(one_bit, flips[1])
  `MRC_COVER(was_counted, !total_q[Width] && dst_count_o == Width'(3) && behind == '0)
  `MRC_COVER(never_back, !total_q[Width] && moved == Width'(2))
endmodule
