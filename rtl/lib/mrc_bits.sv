// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// A set of numbers below N, empty after reset: N bits of which a cycle sets one, and clear_i takes
/// all out in one cycle; the number that is set in that cycle stays. Reads combinational looks,
/// which see the end of the cycle before.
///
/// A tree of words of Word bits. The words of its lowest level have a bit per number; each word of
/// a level has a bit in the level above, 0 while what stands in it means nothing. So only the top
/// level, at most Word bits, is registers with a reset, and a look takes a word of each level, side
/// by side. The words stand here, not in a mrc_rf_nr1w: the look at the number that is set must not
/// hang on the others. Nothing leaves alone: that is a row of mrc_rf_reset.
module mrc_bits #(
    parameter int unsigned N = 16,
    parameter int unsigned Reads = 1,
    parameter int unsigned Word = 64,
    localparam int unsigned IdxW = (N > 1) ? $clog2(N) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic clear_i,
    input logic set_i,
    input logic [IdxW-1:0] set_idx_i,
    input logic [Reads-1:0][IdxW-1:0] idx_i,
    output logic [Reads-1:0] in_o
);

  localparam int unsigned WordW = $clog2(Word);
  localparam int unsigned Levels = (IdxW + WordW - 1) / WordW;
  localparam int unsigned Top = 2 ** (IdxW - (Levels - 1) * WordW);  // bits of the top level

  if (Word < 2 || Word != 2 ** WordW || N < 2) begin : gen_bad_params
    $error("%m: N must be at least 2, Word a power of two");
  end

  logic [Top-1:0] top_q;
  logic [Reads-1:0][Levels-1:0] found;  // the bit of each level, the top one at 0
  logic [Levels-1:0] set_found;  // the same for the number that is set

  for (genvar r = 0; r < Reads; r++) begin : gen_top
    assign found[r][0] = top_q[idx_i[r][IdxW-1:(Levels-1)*WordW]];
    assign in_o[r] = &found[r];
  end
  assign set_found[0] = top_q[set_idx_i[IdxW-1:(Levels-1)*WordW]];

  for (genvar level = 1; level < Levels; level++) begin : gen_level
    localparam int unsigned Low = (Levels - 1 - level) * WordW;  // bits of a number below
    localparam int unsigned Words = 2 ** (IdxW - Low - WordW);
    logic [Word-1:0] word_q[0:Words-1];
    logic [Word-1:0] set_word, old;

    for (genvar r = 0; r < Reads; r++) begin : gen_read
      logic [Word-1:0] word;
      assign word = word_q[idx_i[r][IdxW-1:Low+WordW]];
      assign found[r][level] = word[idx_i[r][Low+:WordW]];
    end

    assign set_word = word_q[set_idx_i[IdxW-1:Low+WordW]];
    assign set_found[level] = set_word[set_idx_i[Low+:WordW]];
    assign old = ((&set_found[level-1:0]) && !clear_i) ? set_word : '0;

    always_ff @(posedge clk_i) begin
      if (set_i) begin
        word_q[set_idx_i[IdxW-1:Low+WordW]] <= old | (Word'(1) << set_idx_i[Low+:WordW]);
      end
    end
  end

  logic unused_lowest;
  assign unused_lowest = set_found[Levels-1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      top_q <= '0;
    end else begin
      if (clear_i) begin
        top_q <= '0;
      end
      if (set_i) begin
        top_q[set_idx_i[IdxW-1:(Levels-1)*WordW]] <= 1'b1;
      end
    end
  end

  if (N < 2 ** IdxW) begin : gen_range
    `MRC_ASSERT_IF(SetsANumber, set_i, 32'(set_idx_i) < N,
        "a number is set that does not exist")
  end

endmodule
