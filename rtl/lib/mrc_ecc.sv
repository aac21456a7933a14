// SPDX-License-Identifier: Apache-2.0

/// A code of eight bits for a word of at most 64: it corrects any one wrong bit of the 72 and
/// detects any two (SECDED). Each data bit counts in three or five bits of the code, no two in the
/// same ones (Hsiao). So one wrong bit leaves an odd number of them wrong, two an even number,
/// never none. What three and more wrong bits become it does not say. No register: code_o is of
/// word_i, word_o of read_i and read_code_i. Contract: docs/design/blocks/conventions.md.
module mrc_ecc #(
    parameter int unsigned Width = 64
) (
    input logic [Width-1:0] word_i,
    output logic [7:0] code_o,
    input logic [Width-1:0] read_i,
    input logic [7:0] read_code_i,
    output logic [Width-1:0] word_o,
    output logic fixed_o,  // one bit was wrong; the word is right
    output logic bad_o     // more were; the word is any
);

  if (Width < 1 || Width > 64) begin : gen_bad_width
    $error("%m: Width = %0d, must be 1 to 64", Width);
  end

  // The data bits that each bit of the code is the parity of: 26 of 64.
  localparam logic [7:0][63:0] Rows = {
      64'hf8949525152494a4, 64'he6532492a292a494, 64'h9d2a4a5454945292, 64'h76a4928a8a499252,
      64'hcb5151295252494a, 64'h5b8a2546292a4a49, 64'hb52528d145492529, 64'h2f48ca28a8a52925
  };

  logic [7:0] syndrome;
  for (genvar r = 0; r < 8; r++) begin : gen_row
    assign code_o[r] = ^(word_i & Rows[r][Width-1:0]);
    assign syndrome[r] = ^(read_i & Rows[r][Width-1:0]) ^ read_code_i[r];
  end

  // The bit whose column the syndrome is. A syndrome with one bit is the code's own bit.
  logic [Width-1:0] wrong;
  logic own;
  for (genvar i = 0; i < int'(Width); i++) begin : gen_bit
    localparam logic [7:0] Column = {
        Rows[7][i], Rows[6][i], Rows[5][i], Rows[4][i],
        Rows[3][i], Rows[2][i], Rows[1][i], Rows[0][i]
    };
    assign wrong[i] = syndrome == Column;
  end

  assign own = syndrome != 8'd0 && (syndrome & (syndrome - 8'd1)) == 8'd0;
  assign word_o = read_i ^ wrong;
  assign fixed_o = wrong != '0 || own;
  assign bad_o = syndrome != 8'd0 && !fixed_o;

endmodule
