// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// The functions of mrc_math_pkg and mrc_addr_pkg against their definitions, at full width.
module formal_math (
    input logic clk_i,
    input logic [23:0] a_i,
    input logic [23:0] b_i,
    input logic [23:0] c_i,
    input logic [63:0] x_i,
    input logic equal_i,
    input logic [127:0] ip_i,
    input logic [6:0] lsb_i,
    input logic [2:0] plane_i
);
  import mrc_math_pkg::*;
  import mrc_addr_pkg::*;
  `MRC_RESET

  // The distance from a to b is what must be added to a to get b, modulo 2^24.
  logic [23:0] ab, ac;
  assign ab = b_i - a_i;
  assign ac = c_i - a_i;
  `MRC_PROVE(psn_before, psn_before(a_i, b_i) == (ab > 24'd0 && ab < 24'h800000))
  `MRC_PROVE(psn_total, a_i == b_i
                        || ab == 24'h800000 || (psn_before(a_i, b_i) != psn_before(b_i, a_i)))
  `MRC_PROVE(psn_in, ac >= 24'h800000 || psn_in(b_i, a_i, c_i) == (ab < ac))
  `MRC_COVER(psn_before, psn_before(a_i, b_i) && b_i < a_i)
  `MRC_COVER(psn_total, psn_before(b_i, a_i) && b_i > a_i)
  `MRC_COVER(psn_in, ac < 24'h800000 && psn_in(b_i, a_i, c_i) && c_i < a_i)

  // a < b + c, told by the top bit of the difference: a is within 2^23 of the sum.
  logic [23:0] sum, less;
  assign sum = b_i + c_i;
  assign less = a_i - sum;
  `MRC_PROVE(lt_sum, less == 24'h800000
                     || lt_sum(a_i, b_i, c_i, equal_i) == (less[23] || (equal_i && less == 24'd0)))
  `MRC_COVER(lt_sum, lt_sum(a_i, b_i, c_i, 1'b0) && sum < b_i)

  logic [3:0] place;
  logic [4:0] ones16;
  always_comb begin
    place = '0;
    ones16 = '0;
    for (int unsigned i = 16; i > 0; i--) begin
      if (x_i[i-1]) place = 4'(i - 1);
      ones16 += 5'(x_i[i-1]);
    end
  end
  `MRC_PROVE(lowest, x_i[15:0] == '0 || lowest(x_i[15:0]) == place)
  `MRC_PROVE(lowest_bit, x_i[15:0] == '0 || lowest_bit(x_i[15:0]) == (16'd1 << place))
  `MRC_PROVE(ones, ones(x_i[15:0]) == ones16)
  `MRC_COVER(lowest, x_i[15:0] == 16'h8000)
  `MRC_COVER(ones, ones(x_i[15:0]) == 5'd16)

  // Sums kept as two numbers.
  logic [32:0] p, q, r;
  pair_t cs, rest, two;
  assign p = 33'({a_i, x_i[8:0]});
  assign q = 33'({b_i, x_i[17:9]});
  assign r = 33'({c_i, x_i[26:18]});
  assign cs = carry_save(p, q, r);
  assign rest = pair_less(cs, x_i[59:27]);
  assign two = less_two(p, q, r);
  `MRC_PROVE(pair_sum, pair_sum(cs, equal_i) == 33'(p + q + r + 33'(equal_i)))
  `MRC_PROVE(pair_less, pair_sum(rest, 1'b0) == 33'(p + q + r - x_i[59:27]))
  `MRC_PROVE(less_two, pair_sum(two, 1'b1) == 33'(p - q - r))
  `MRC_COVER(pair_sum, pair_sum(cs, 1'b1) == 33'd0 && p != 33'd0 && q != 33'd0 && r != 33'd0)

  logic [127:0] at;
  assign at = at_plane(ip_i, 1'b1, lsb_i, plane_i);
  `MRC_PROVE(at_plane, lsb_i > 7'd125 || ((at >> lsb_i) & 128'd7) == 128'(plane_i))
  `MRC_PROVE(at_plane_rest, ((at ^ ip_i) & ~(128'd7 << lsb_i)) == '0)
  // Our own on one plane is our own on all, and what is kept of an address is so, too.
  // (Planes are told apart outside of the assertion: what a function keeps is undriven in reset.)
  logic [127:0] other, other_0, ip_0;
  assign other = {ip_i[127:64], x_i};
  assign other_0 = at_plane(other, equal_i, lsb_i, 3'd0);
  assign ip_0 = at_plane(ip_i, equal_i, lsb_i, 3'd0);
  `MRC_PROVE(is_own, is_own(other, ip_i, equal_i, lsb_i) == (other_0 == ip_0))
  `MRC_COVER(is_own, is_own(other, ip_i, equal_i, lsb_i) && lsb_i == 7'd3 && ip_i[5:3] == 3'd5
             && other[5:3] == 3'd2)
  `MRC_PROVE(address_fold, address_fold(at, 1'b1, lsb_i) == address_fold(ip_i, 1'b1, lsb_i))
  `MRC_COVER(at_plane, lsb_i == 7'd64 && plane_i == 3'd5 && ip_i == '1)
endmodule
