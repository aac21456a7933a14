// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_afifo, its clocks having edges as they like, by colours: a word is 0, but for a 1
/// and, later, a 2. The order of colours that come out is the order of words.
module formal_fpga_afifo #(
    parameter int unsigned Depth = 4,
    parameter bit ByFrames = 1'b0,
    localparam int unsigned CntW = $clog2(Depth) + 1
) (
    input logic wclk_i,
    input logic rclk_i,
    input logic want_i,
    input logic one_i,
    input logic two_i,
    input logic last_i,
    input logic ready_i
);
  logic rst_ni = 1'b0;
  always_ff @(posedge wclk_i) rst_ni <= 1'b1;

  logic push_i, valid_o, last_o, sent1_q, sent2_q, came1_q, came2_q, inside_q;
  logic [1:0] data_i, data_o;
  logic [CntW-1:0] free_o;

  mrc_fpga_afifo #(
      .Width(2),
      .Depth(Depth),
      .ByFrames(ByFrames)
  ) dut (
      .wrst_ni(rst_ni),
      .rrst_ni(rst_ni),
      .*
  );

  assign push_i = want_i && free_o != '0 && rst_ni;
  assign data_i = (!sent1_q && one_i) ? 2'd1 : (sent1_q && !sent2_q && two_i) ? 2'd2 : 2'd0;

  always_ff @(posedge wclk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {sent1_q, sent2_q} <= '0;
    end else begin
      sent1_q <= sent1_q || (push_i && data_i == 2'd1);
      sent2_q <= sent2_q || (push_i && data_i == 2'd2);
    end
  end
  always_ff @(posedge rclk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {came1_q, came2_q, inside_q} <= '0;
    end else begin
      came1_q <= came1_q || (valid_o && ready_i && data_o == 2'd1);
      came2_q <= came2_q || (valid_o && ready_i && data_o == 2'd2);
      inside_q <= (valid_o && ready_i) ? !last_o : inside_q;
    end
  end

  `MRC_PROVE(order, !(valid_o && data_o == 2'd2) || came1_q)
  `MRC_PROVE(once, !(valid_o && data_o != 2'd0) || !((data_o == 2'd1) ? came1_q : came2_q))
  `MRC_PROVE(none_invented, !(valid_o && data_o != 2'd0) || ((data_o == 2'd1) ? sent1_q : sent2_q))
  `MRC_PROVE(no_gap, !ByFrames || !inside_q || valid_o)
  `MRC_COVER(order, valid_o && data_o == 2'd2)
  `MRC_COVER(once, came1_q && came2_q)
  `MRC_COVER(none_invented, sent2_q && free_o == '0)
  `MRC_COVER(no_gap, inside_q && valid_o && last_o)
endmodule
