// SPDX-License-Identifier: Apache-2.0
/// Sample for the tests of `mrc lint`: the upper half of a_i gets lost without a cast.
module narrow (
    input  logic [7:0] a_i,
    output logic [3:0] y_o
);
  assign y_o = a_i;
endmodule
