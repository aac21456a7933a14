// SPDX-License-Identifier: Apache-2.0

/// Arithmetic that several blocks share: PSNs modulo 2^24, the bits of a word, and sums of more
/// than two numbers. All functions are pure and without loops over wide words.
///
/// A sum of three numbers costs one adder more than one of two if it is written as a + b + c. Here
/// the numbers are kept as two (a pair: sum and carry, modulo 2^33), and added once at the end. To
/// subtract x is to add ~x and one; the carry of a pair is even, so that this one finds its place
/// in bit 0.
package mrc_math_pkg;

  // ---- PSNs

  /// a is before b: b is less than half the PSN space behind it.
  function automatic logic psn_before(logic [23:0] a, logic [23:0] b);
    logic [23:0] d;
    d = b - a;
    return a != b && d < 24'h800000;
  endfunction

  /// p is in [a, b). b is less than half the PSN space behind a. The two differences stand side by
  /// side, which is half as deep as comparing distances.
  function automatic logic psn_in(logic [23:0] p, logic [23:0] a, logic [23:0] b);
    logic [23:0] d, e;
    d = p - a;
    e = p - b;
    return d < 24'h800000 && e >= 24'h800000;
  endfunction

  // ---- bits of a word

  /// The lowest one alone.
  function automatic logic [15:0] lowest_bit(logic [15:0] x);
    logic [15:0] y;
    y = {x[14:0], 1'b0};
    y = y | {y[14:0], 1'b0};
    y = y | {y[13:0], 2'd0};
    y = y | {y[11:0], 4'd0};
    y = y | {y[7:0], 8'd0};
    return x & ~y;
  endfunction

  /// Place of the lowest one. Means nothing if there is none.
  function automatic logic [3:0] lowest(logic [15:0] x);
    logic [3:0] n;
    logic [7:0] a;
    logic [3:0] b;
    n[3] = x[7:0] == 8'd0;
    a = n[3] ? x[15:8] : x[7:0];
    n[2] = a[3:0] == 4'd0;
    b = n[2] ? a[7:4] : a[3:0];
    n[1] = b[1:0] == 2'd0;
    n[0] = (n[1] ? b[3:2] : b[1:0]) == 2'b10;
    return n;
  endfunction

  /// Number of ones, by adding neighbours.
  function automatic logic [4:0] ones(logic [15:0] x);
    logic [15:0] y;
    y = (x & 16'h5555) + ((x >> 1) & 16'h5555);
    y = (y & 16'h3333) + ((y >> 2) & 16'h3333);
    y = (y & 16'h0F0F) + ((y >> 4) & 16'h0F0F);
    return 5'(y[12:8]) + 5'(y[4:0]);
  endfunction

  /// Number of ones in 64 bits: halves are added to each other, all lanes at once; d[k] is digit k
  /// of each lane.
  function automatic logic [6:0] ones64(logic [63:0] x);
    logic [6:0][63:0] d;
    logic [63:0] other, carry, half;
    d = '0;
    d[0] = x;
    for (int unsigned level = 0; level < 6; level++) begin
      carry = 64'd0;
      for (int unsigned k = 0; k <= level; k++) begin
        other = d[k] >> (32 >> level);
        half = d[k] ^ other;
        d[k] = half ^ carry;
        carry = (~half & other) | (half & carry);
      end
      d[level+1] = carry;
    end
    return {d[6][0], d[5][0], d[4][0], d[3][0], d[2][0], d[1][0], d[0][0]};
  endfunction

  // ---- sums of several numbers

  typedef logic [1:0][32:0] pair_t;

  /// a + b + c as a pair.
  function automatic pair_t carry_save(logic [32:0] a, logic [32:0] b, logic [32:0] c);
    logic [32:0] carry;
    carry = (a & b) | (a & c) | (b & c);
    return {carry << 1, a ^ b ^ c};
  endfunction

  /// p - x as a pair.
  function automatic pair_t pair_less(pair_t p, logic [32:0] x);
    pair_t r;
    r = carry_save(p[0], p[1], ~x);
    r[1][0] = 1'b1;
    return r;
  endfunction

  /// a - b - c - 1 as a pair. The one that lacks is given to pair_sum as its carry.
  function automatic pair_t less_two(logic [32:0] a, logic [32:0] b, logic [32:0] c);
    pair_t r;
    r = carry_save(a, ~b, ~c);
    r[1][0] = 1'b1;
    return r;
  endfunction

  /// The pair's sum and a carry, by one adder: a bit below each number brings the carry in.
  function automatic logic [32:0] pair_sum(pair_t p, logic carry);
    logic [33:0] sum;
    sum = {p[0], 1'b1} + {p[1], carry};
    return 33'(sum >> 1);
  endfunction

  /// a < b + c; with equal also a = b + c. All three are counted modulo 2^24, and a is less than
  /// 2^23 away from b + c. What is counted modulo a smaller power of two is shifted up to bit 23.
  /// Nothing waits for the sum.
  function automatic logic lt_sum(logic [23:0] a, logic [23:0] b, logic [23:0] c, logic equal);
    logic [23:0] sum, carry;
    logic [24:0] less;
    sum = a ^ ~b ^ ~c;
    carry = ((a & ~b) | (a & ~c) | (~b & ~c)) << 1;
    less = {sum, 1'b1} + {carry | 24'd1, !equal};
    return less >= 25'h1000000;
  endfunction

endpackage
