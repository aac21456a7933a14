// SPDX-License-Identifier: Apache-2.0

/// Multiplier of cc_nscc: unsigned, operands at the end of the cycle of load_i, the product at the
/// end of the next, which has step_i. With Dsp it is written as a product, for what has multipliers
/// of its own. Else b_i is recoded to digits -2 .. 2 before the register, and the multiples of a_i
/// are added in a tree of 4:2 compressors.
/// Contract: docs/design/blocks/cc/cc_nscc.md.
module mrc_cc_mul #(
    parameter int unsigned AWidth = 54,
    parameter int unsigned BWidth = 29,
    parameter bit Dsp = 0
) (
    input logic clk_i,
    input logic load_i,
    input logic [AWidth-1:0] a_i,
    input logic [BWidth-1:0] b_i,
    input logic step_i,
    output logic [AWidth+BWidth-1:0] p_o
);

  localparam int unsigned PWidth = AWidth + BWidth;

  typedef logic [PWidth-1:0] row_t;

  logic [AWidth-1:0] a_q;
  row_t p_q, p_d;

  assign p_o = p_q;

  if (Dsp) begin : gen_dsp
    logic [BWidth-1:0] b_q;

    assign p_d = row_t'(a_q) * row_t'(b_q);

    always_ff @(posedge clk_i) begin
      if (load_i) begin
        b_q <= b_i;
      end
    end
  end else begin : gen_gates
    localparam int unsigned NumDigits = BWidth / 2 + 1;
    // One per digit, one for what completes negative multiples.
    localparam int unsigned NumRows = 16;

    if (NumDigits >= NumRows || AWidth < 2 * NumDigits) begin : gen_bad_params
      $error("%m: BWidth must be at most 29, AWidth at least as large");
    end

    typedef struct packed {
      row_t sum;
      row_t carry;
    } pair_t;

    function automatic pair_t three(row_t a, row_t b, row_t c);
      return '{sum: a ^ b ^ c, carry: ((a & b) | (c & (a ^ b))) << 1};
    endfunction

    function automatic pair_t four(row_t a, row_t b, row_t c, row_t d);
      pair_t first;
      first = three(a, b, c);
      return three(first.sum, d, first.carry);
    endfunction

    logic [NumDigits-1:0] one_q, one_d, two_q, two_d, neg_q, neg_d;
    logic [2*NumDigits:0] b;
    row_t [NumRows-1:0] rows;
    pair_t [3:0] eight;
    pair_t [1:0] quarter;
    pair_t last;

    assign b = (2 * NumDigits + 1)'({b_i, 1'b0});

    always_comb begin
      for (int unsigned i = 0; i < NumDigits; i++) begin
        one_d[i] = b[2*i+1] ^ b[2*i];
        two_d[i] = (b[2*i+2] ^ b[2*i+1]) && !one_d[i];
        neg_d[i] = b[2*i+2];
      end
    end

    // A multiple is AWidth + 1 bits and a sign s above them. Instead of a row that is filled up
    // with s, !s in that place and -1 there in the last row: the same modulo 2^PWidth. The last row
    // also has the ones that make negative multiples of complements.
    always_comb begin
      rows = '0;
      eight = '0;
      quarter = '0;
      last = '0;
      p_d = '0;
      if (step_i) begin
        for (int unsigned i = 0; i < NumDigits; i++) begin
          rows[i] = row_t'({
              !neg_q[i],
              (({1'b0, a_q} & {(AWidth+1) {one_q[i]}}) | ({a_q, 1'b0} & {(AWidth+1) {two_q[i]}}))
              ^ {(AWidth+1) {neg_q[i]}}
          }) << (2 * i);
          rows[NumRows-1] = rows[NumRows-1] - (row_t'(1) << (AWidth + 1 + 2 * i));
        end
        for (int unsigned i = 0; i < NumDigits; i++) begin
          rows[NumRows-1][2*i] = neg_q[i];
        end
        for (int unsigned i = 0; i < 4; i++) begin
          eight[i] = four(rows[4*i], rows[4*i+1], rows[4*i+2], rows[4*i+3]);
        end
        for (int unsigned i = 0; i < 2; i++) begin
          quarter[i] = four(eight[2*i].sum, eight[2*i].carry, eight[2*i+1].sum, eight[2*i+1].carry);
        end
        last = four(quarter[0].sum, quarter[0].carry, quarter[1].sum, quarter[1].carry);
        p_d = last.sum + last.carry;
      end
    end

    always_ff @(posedge clk_i) begin
      if (load_i) begin
        one_q <= one_d;
        two_q <= two_d;
        neg_q <= neg_d;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      a_q <= a_i;
    end
    if (step_i) begin
      p_q <= p_d;
    end
  end

endmodule
