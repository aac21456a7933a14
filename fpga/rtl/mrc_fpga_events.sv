// SPDX-License-Identifier: Apache-2.0

/// Events of one clock, counted in another: event_i in a cycle of src_clk_i adds one to count_o, of
/// CountW bits, in dst_clk_i. None is lost while fewer than 2^Width happen within four cycles of
/// dst_clk_i. count_o wraps around.
module mrc_fpga_events #(
    parameter int unsigned Width = 8,
    parameter int unsigned CountW = 32
) (
    input logic src_clk_i,
    input logic src_rst_ni,
    input logic event_i,
    input logic dst_clk_i,
    input logic dst_rst_ni,
    output logic [CountW-1:0] count_o
);

  logic [Width-1:0] now, before_q, more;
  logic [CountW-1:0] count_q, count_d;

  mrc_fpga_gray #(
      .Width(Width)
  ) u_gray (
      .src_clk_i,
      .src_rst_ni,
      .inc_i(event_i),
      .dst_clk_i,
      .dst_rst_ni,
      .dst_count_o(now)
  );

  assign more = now - before_q;
  assign count_d = count_q + CountW'(more);
  assign count_o = count_q;

  always_ff @(posedge dst_clk_i or negedge dst_rst_ni) begin
    if (!dst_rst_ni) begin
      before_q <= '0;
      count_q <= '0;
    end else begin
      before_q <= now;
      count_q <= count_d;
    end
  end

endmodule
