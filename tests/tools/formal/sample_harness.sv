// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// Properties of the sample: one that holds, one that is false, one that says nothing, one that no
/// bug breaks, one that needs a helper for its induction.
module formal_sample (
    input logic clk_i,
    input logic go_i
);
  `MRC_RESET
  logic [3:0] n_o;
  sample dut (.*);
  `MRC_PROVE(holds, n_o < 4'd10)
  `MRC_PROVE(wrong, n_o < 4'd9)
  `MRC_PROVE(vacuous, n_o != 4'd12)
  `MRC_PROVE(toothless, n_o == n_o)
  `MRC_PROVE(no_induction, n_o != 4'd13)
  `MRC_COVER(holds, n_o == 4'd9)
  `MRC_COVER(never, n_o == 4'd12)
endmodule
