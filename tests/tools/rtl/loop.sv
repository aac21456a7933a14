// SPDX-License-Identifier: Apache-2.0
/// Sample for the tests of `mrc lint`: two instances feed each other without a register.
module loop_half (
    input  logic a_i,
    input  logic b_i,
    output logic y_o
);
  assign y_o = a_i ^ b_i;
endmodule

module loop (
    input  logic a_i,
    output logic y_o
);
  logic x;
  loop_half u_first (
      .a_i,
      .b_i(y_o),
      .y_o(x)
  );
  loop_half u_second (
      .a_i,
      .b_i(x),
      .y_o
  );
endmodule
