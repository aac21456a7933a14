// SPDX-License-Identifier: Apache-2.0

/// Trees of gates of which Verilator 5.006 makes wrong code with its -O3 alone
/// (docs/design/gates.md).
module trees (
    input logic [23:0] a_i,
    input logic [23:0] b_i,
    output logic always_wrong_o,
    output logic sometimes_wrong_o
);

  assign always_wrong_o =
      ~((~b_i[22] & b_i[9]) ^ (~b_i[22] & ~a_i[4])) ^ (~a_i[13] ^ ~(~a_i[15] & ~b_i[7]));
  assign sometimes_wrong_o =
      ~((~((~a_i[2] | ~a_i[21]) | (a_i[11] ^ ~a_i[13]))
         | ((a_i[2] & a_i[11]) & (~b_i[15] ^ ~a_i[22])))
        & (((~b_i[9] & b_i[23]) & ~(~a_i[14] & ~b_i[11]))
           | (~(b_i[8] & a_i[8]) & (~b_i[21] & a_i[9]))));

endmodule
