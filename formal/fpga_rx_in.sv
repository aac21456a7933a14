// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_rx_in before a FIFO of Depth words that anybody reads: what it pushes is frames that
/// end, and there is room for all of it.
module formal_fpga_rx_in #(
    parameter int unsigned MaxWords = 3,
    parameter int unsigned Depth = 5,
    localparam int unsigned CntW = 4
) (
    input logic clk_i,
    input logic mac_reset_i,
    input logic valid_i,
    input logic [15:0] data_i,
    input logic [1:0] keep_i,
    input logic last_i,
    input logic user_i,
    input logic pop_i
);
  `MRC_RESET

  logic [CntW-1:0] free_i, level_q;
  logic push_o, err_o, last_o, frame_o, full_o, long_o, cut_o, bad_o;
  logic [0:0] end_o;
  logic [15:0] data_o;

  mrc_fpga_rx_in #(
      .WordBytes(2),
      .MaxWords(MaxWords),
      .CntW(CntW)
  ) dut (
      .*
  );

  // The FIFO; a frame that has begun and not ended; resets as the states see them.
  logic open_q, reset_q;
  logic [1:0] words_q;
  assign free_i = CntW'(Depth) - level_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      level_q <= '0;
      open_q <= 1'b0;
      words_q <= '0;
      reset_q <= 1'b0;
    end else begin
      level_q <= level_q + CntW'(push_o) - CntW'(pop_i && level_q != '0);
      open_q <= push_o ? !last_o : open_q;
      words_q <= (push_o && last_o) ? '0 : words_q + 2'(push_o);
      reset_q <= dut.reset_q;
    end
  end

  `MRC_PROVE(closed, !reset_q || !open_q)
  `MRC_PROVE(bounded, 32'(words_q) < MaxWords)
  `MRC_PROVE(cut_is_bad, !(cut_o || long_o) || (push_o && last_o && err_o))
  `MRC_PROVE(counted, !(push_o && last_o) || frame_o != (cut_o || long_o))
  `MRC_COVER(closed, reset_q && words_q == '0 && level_q == CntW'(2))
  `MRC_COVER(bounded, words_q == 2'(MaxWords - 1) && push_o && !cut_o && frame_o)
  `MRC_COVER(cut_is_bad, cut_o && words_q == 2'(MaxWords - 1))
  `MRC_COVER(counted, long_o)
  `MRC_COVER(filled, push_o && free_i == CntW'(1))
endmodule
