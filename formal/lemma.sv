// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// Arithmetic that lemmas of several blocks are put together with.
module formal_lemma (
    input logic clk_i,
    input logic [63:0] off_i,
    input logic [63:0] length_i,
    input logic [12:0] n_i
);
  `MRC_RESET
  logic fits;
  assign fits = off_i <= length_i && 64'(n_i) <= length_i - off_i;
  `MRC_PROVE(region, !fits || {1'b0, off_i} + 65'(n_i) <= {1'b0, length_i})
  `MRC_COVER(region, fits && off_i != 64'd0 && n_i != 13'd0 && off_i + 64'(n_i) == length_i)
endmodule
