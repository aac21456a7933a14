// SPDX-License-Identifier: Apache-2.0

/// A counter of one clock, read in another: it counts inc_i, and dst_count_o follows three to four
/// edges of dst_clk_i later. It never shows a value that the counter did not have, and never
/// goes back: one bit of the gray code changes per step. It wraps around at 2^Width. Both resets
/// must come from one source; they may end at different times.
module mrc_fpga_gray #(
    parameter int unsigned Width = 8
) (
    input logic src_clk_i,
    input logic src_rst_ni,
    input logic inc_i,
    input logic dst_clk_i,
    input logic dst_rst_ni,
    output logic [Width-1:0] dst_count_o
);

  logic [Width-1:0] count_q, count_d, gray_q, seen, dst_count_q, dst_count_d;

  assign count_d = count_q + Width'(inc_i);
  assign dst_count_o = dst_count_q;

  always_ff @(posedge src_clk_i or negedge src_rst_ni) begin
    if (!src_rst_ni) begin
      count_q <= '0;
      gray_q <= '0;
    end else begin
      count_q <= count_d;
      gray_q <= count_d ^ (count_d >> 1);
    end
  end

  mrc_fpga_sync #(
      .Width(Width)
  ) u_sync (
      .clk_i(dst_clk_i),
      .rst_ni(dst_rst_ni),
      .d_i(gray_q),
      .q_o(seen)
  );

  for (genvar i = 0; i < Width; i++) begin : gen_binary
    assign dst_count_d[i] = ^(seen >> i);
  end

  always_ff @(posedge dst_clk_i or negedge dst_rst_ni) begin
    if (!dst_rst_ni) begin
      dst_count_q <= '0;
    end else begin
      dst_count_q <= dst_count_d;
    end
  end

endmodule
