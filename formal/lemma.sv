// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// Arithmetic that lemmas of several blocks are put together with.
module formal_lemma (
    input logic clk_i,
    input logic [63:0] off_i,
    input logic [63:0] length_i,
    input logic [12:0] n_i,
    input logic [63:0] va_i,
    input logic [63:0] start_i,
    input logic [63:0] addr_i
);
  `MRC_RESET
  logic fits;
  assign fits = off_i <= length_i && 64'(n_i) <= length_i - off_i;
  `MRC_PROVE(region, !fits || {1'b0, off_i} + 65'(n_i) <= {1'b0, length_i})
  `MRC_COVER(region, fits && off_i != 64'd0 && n_i != 13'd0 && off_i + 64'(n_i) == length_i)

  // A region as rx_check keeps it, start + length and addr - start: the same as length and addr.
  logic in_region;
  assign in_region = va_i >= start_i
                  && {1'b0, va_i} + 65'(n_i) <= {1'b0, start_i} + {1'b0, length_i};
  `MRC_PROVE(inside, !in_region || (va_i - start_i <= length_i
                                 && 64'(n_i) <= length_i - (va_i - start_i)))
  `MRC_PROVE(address, va_i + (addr_i - start_i) == addr_i + (va_i - start_i))
  `MRC_COVER(inside, in_region && va_i != start_i && n_i != 13'd0
                     && va_i - start_i + 64'(n_i) == length_i && va_i[63] && !start_i[63])
  `MRC_COVER(address, va_i > start_i && addr_i < start_i && addr_i != 64'd0)
endmodule
