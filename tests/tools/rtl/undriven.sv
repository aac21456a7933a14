// SPDX-License-Identifier: Apache-2.0
/// Sample for the tests of `mrc lint`: nobody drives x.
module undriven (
    input  logic a_i,
    output logic y_o
);
  logic x;
  assign y_o = a_i & x;
endmodule
