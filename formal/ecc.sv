// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_ecc: any word, stored with any one or any two bits wrong, of its data or of its code.
module formal_ecc #(
    parameter int unsigned Width = 64
) (
    input logic clk_i,
    input logic [Width-1:0] word_i,
    input logic [6:0] first_i,
    input logic [6:0] second_i,
    input logic [1:0] wrong_i
);
  `MRC_RESET

  localparam logic [6:0] Bits = 7'(Width + 8);
  `MRC_GIVEN(two_places, first_i < Bits && second_i < Bits && first_i != second_i)
  `MRC_GIVEN(two_at_most, wrong_i != 2'd3)

  logic [Width+7:0] flip;
  always_comb begin
    flip = '0;
    for (int unsigned i = 0; i < Width + 8; i++) begin
      flip[i] = (wrong_i != 2'd0 && first_i == 7'(i)) || (wrong_i == 2'd2 && second_i == 7'(i));
    end
  end

  logic [7:0] code_o;
  logic [Width-1:0] word_o;
  logic fixed_o, bad_o;
  mrc_ecc #(
      .Width(Width)
  ) dut (
      .read_i(word_i ^ flip[Width-1:0]),
      .read_code_i(code_o ^ flip[Width+7:Width]),
      .*
  );

  `MRC_PROVE(corrected, wrong_i == 2'd2 || word_o == word_i)
  `MRC_PROVE(detected, bad_o == (wrong_i == 2'd2))
  `MRC_PROVE(told, fixed_o == (wrong_i == 2'd1))
  `MRC_COVER(corrected, wrong_i == 2'd1 && first_i == 7'(Width - 1))
  `MRC_COVER(detected, wrong_i == 2'd2 && first_i == 7'd0 && second_i == Bits - 7'd1)
  `MRC_COVER(told, wrong_i == 2'd1 && first_i == Bits - 7'd1)
endmodule
