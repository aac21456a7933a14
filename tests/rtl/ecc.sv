// SPDX-License-Identifier: Apache-2.0

/// For tests: mrc_ecc of words of 64, 57, 24 and 1 bits, with wrong bits; and mrc_ram_ecc with a
/// code and without, two words of the code long.
module ecc (
    input logic clk_i,
    input logic rst_ni,
    input logic [63:0] word_i,
    input logic [71:0] flip_i,  // of a word: first its data, then its code
    output logic [3:0][63:0] word_o,
    output logic [3:0] fixed_o,
    output logic [3:0] bad_o,

    input logic [14:0] inject_i,
    input logic re_i,
    input logic [2:0] raddr_i,
    input logic we_i,
    input logic [2:0] waddr_i,
    input logic [87:0] wdata_i,
    output logic [87:0] rdata_o,
    output logic ram_fixed_o,
    output logic ram_bad_o,
    output logic [87:0] plain_o,
    output logic plain_says_o
);

  localparam int unsigned Widths[4] = '{64, 57, 24, 1};

  for (genvar i = 0; i < 4; i++) begin : gen_width
    localparam int unsigned W = Widths[i];
    logic [7:0] code;
    logic [W-1:0] word;

    mrc_ecc #(
        .Width(W)
    ) u_ecc (
        .word_i(word_i[W-1:0]),
        .code_o(code),
        .read_i(word_i[W-1:0] ^ flip_i[W-1:0]),
        .read_code_i(code ^ flip_i[W+:8]),
        .word_o(word),
        .fixed_o(fixed_o[i]),
        .bad_o(bad_o[i])
    );
    assign word_o[i] = 64'(word);
  end

  logic plain_fixed, plain_bad;

  mrc_ram_ecc #(
      .Width(88),
      .Depth(5),
      .Ecc(1),
      .Memory(8'd2)
  ) u_ram (
      .clk_i,
      .rst_ni,
      .inject_i,
      .re_i,
      .raddr_i,
      .rdata_o,
      .fixed_o(ram_fixed_o),
      .bad_o(ram_bad_o),
      .we_i,
      .waddr_i,
      .wdata_i
  );

  mrc_ram_ecc #(
      .Width(88),
      .Depth(5),
      .Memory(8'd2)
  ) u_plain (
      .clk_i,
      .rst_ni,
      .inject_i,
      .re_i,
      .raddr_i,
      .rdata_o(plain_o),
      .fixed_o(plain_fixed),
      .bad_o(plain_bad),
      .we_i,
      .waddr_i,
      .wdata_i
  );

  assign plain_says_o = plain_fixed || plain_bad;

endmodule
