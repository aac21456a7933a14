// SPDX-License-Identifier: Apache-2.0

/// Divider of cc_nscc: restoring, unsigned, two quotient bits in every cycle of step_i after load_i
/// (not both at once). load_i brings the dividend, whose upper half is rem_i, and the divisor.
/// Where rem_i >= den_i the quotient does not fit and comes out as all ones. The dividend's low
/// bits leave quot_o at the top while the quotient enters below. Contract:
/// docs/design/blocks/cc/cc_nscc.md, Divider.
module mrc_cc_div #(
    parameter int unsigned Width = 44
) (
    input logic clk_i,
    input logic load_i,
    input logic [Width-1:0] rem_i,
    input logic [Width-1:0] low_i,
    input logic [Width-1:0] den_i,
    input logic step_i,
    output logic [Width-1:0] quot_o
);

  logic all_q, all_d;
  logic [Width-1:0] quot_q, quot_d, rem_q, rem_d, den_q, den_d;
  logic [Width+1:0] den3_q, den3_d, four;
  // Four less one, two, three divisors; the top bit is the sign.
  logic [Width+2:0] less1, less2, less3;

  assign quot_o = quot_q;

  // All multiples are compared side by side, so that a cycle has one subtraction.
  always_comb begin
    quot_d = quot_q;
    rem_d = rem_q;
    den_d = den_q;
    den3_d = den3_q;
    all_d = all_q;
    four = '0;
    less1 = '0;
    less2 = '0;
    less3 = '0;
    if (load_i) begin
      rem_d = rem_i;
      den_d = den_i;
      den3_d = {2'd0, den_i} + {1'b0, den_i, 1'b0};
      quot_d = low_i;
      all_d = rem_i >= den_i;
    end else if (step_i) begin
      four = {rem_q, quot_q[Width-1-:2]};
      less1 = {1'b0, four} - {3'd0, den_q};
      less2 = {1'b0, four} - {2'd0, den_q, 1'b0};
      less3 = {1'b0, four} - {1'b0, den3_q};
      if (!less2[Width+2]) begin
        rem_d = less3[Width+2] ? less2[Width-1:0] : less3[Width-1:0];
      end else begin
        rem_d = less1[Width+2] ? four[Width-1:0] : less1[Width-1:0];
      end
      quot_d = {quot_q[Width-3:0], {2{all_q}}};
      quot_d[1] = all_q || !less2[Width+2];
      quot_d[0] = all_q || (less2[Width+2] ? !less1[Width+2] : !less3[Width+2]);
    end
  end

  always_ff @(posedge clk_i) begin
    quot_q <= quot_d;
    rem_q <= rem_d;
    den_q <= den_d;
    den3_q <= den3_d;
    all_q <= all_d;
  end

  logic unused_bits;
  assign unused_bits = ^{four, less1, less2, less3};

endmodule
