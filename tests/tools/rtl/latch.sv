// SPDX-License-Identifier: Apache-2.0
/// Sample for the tests of `mrc lint`: q_o keeps its value while en_i is low, which is a latch.
module latch (
    input  logic en_i,
    input  logic d_i,
    output logic q_o
);
  always_latch begin
    if (en_i) q_o = d_i;
  end
endmodule
