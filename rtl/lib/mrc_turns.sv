// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Numbers below N that wait for their turn, each once: in a cycle one joins, and one leaves, which
/// stays if it joins in that cycle. On offer is the lowest; with Fair 1 the first of from,
/// from + 1, and so on (modulo N), where from is the one behind the number that left last, and 0
/// after reset. A number that joins is on offer in the next cycle at the earliest.
///
/// Who waits stands in words of Word bits, of which any_q says whether somebody in them waits: the
/// search goes through any_q, then through one word. Who joins changes a bit of set_q, who leaves
/// the same bit of take_q, so each has one write port; a number waits if its two bits differ. While
/// nobody of a word waits its row of set_q means nothing, and that of take_q before it was written.
module mrc_turns #(
    parameter int unsigned N = 16,
    parameter bit Fair = 1'b0,
    parameter int unsigned Word = 64,
    localparam int unsigned IdxW = (N > 1) ? $clog2(N) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic set_i,
    input logic [IdxW-1:0] set_idx_i,
    output logic any_o,
    output logic [IdxW-1:0] idx_o,
    input logic take_i
);

  localparam int unsigned Bits = (N < Word) ? N : Word;
  localparam int unsigned Words = N / Bits;
  localparam int unsigned BitW = $clog2(Bits);
  localparam int unsigned WordW = (Words > 1) ? $clog2(Words) : 1;

  if (N < 2 || N != 2 ** IdxW || Word < 2 || Word != 2 ** $clog2(Word)) begin : gen_bad_params
    $error("%m: N and Word must be powers of two, at least 2");
  end

  typedef logic [WordW-1:0] row_t;
  typedef logic [Bits-1:0] word_t;
  typedef logic [Words-1:0] words_t;

  function automatic row_t row_of(logic [IdxW-1:0] idx);
    return (Words > 1) ? row_t'((IdxW + 1)'(idx) >> BitW) : '0;
  endfunction

  // The lowest one alone, its place, and all places above it, in log2 steps.
  localparam int unsigned Most = (Bits > Words) ? Bits : Words;
  localparam int unsigned MostW = $clog2(Most);
  typedef logic [Most-1:0] most_t;

  // Places of which bit b is 1.
  function automatic logic [MostW-1:0][Most-1:0] places();
    logic [MostW-1:0][Most-1:0] found;
    for (int unsigned b = 0; b < MostW; b++) begin
      for (int unsigned i = 0; i < Most; i++) begin
        found[b][i] = ((i >> b) & 1) != 0;
      end
    end
    return found;
  endfunction
  localparam logic [MostW-1:0][Most-1:0] Ones = places();

  function automatic most_t lowest(most_t x);
    most_t y;
    y = x << 1;
    for (int unsigned k = 0; k < MostW; k++) begin
      y = y | (y << (1 << k));
    end
    return x & ~y;
  endfunction

  function automatic logic [IdxW-1:0] place(most_t one);
    logic [IdxW-1:0] found;
    found = '0;
    for (int unsigned b = 0; b < MostW; b++) begin
      found[b] = (one & Ones[b]) != '0;
    end
    return found;
  endfunction

  words_t any_q, any_d;
  words_t taken_q;  // take_q has a row
  word_t set_q[0:2**WordW-1];  // of one word row 1 is idle: a memory of one row has no address
  word_t take_q[0:2**WordW-1];

  // ---- the first: in the word of from, or in the first word behind it, or in the first of all

  logic [IdxW-1:0] from_q;
  row_t from_row, next_row, row;
  word_t from_take, from_word, rest, next_take, next_word, bits, pick, word, take;
  words_t behind, choice;
  logic here;

  assign any_o = any_q != '0;
  assign from_row = Fair ? row_of(from_q) : '0;
  assign from_take = taken_q[from_row] ? take_q[from_row] : '0;
  assign from_word = any_q[from_row] ? set_q[from_row] ^ from_take : '0;
  assign rest = from_word & ({Bits{1'b1}} << from_q[BitW-1:0]);
  assign here = Fair && rest != '0;

  assign behind = Fair ? any_q & words_t'(({(Words + 1){1'b1}} << 1) << from_row) : '0;
  assign choice = (behind != '0) ? behind : any_q;

  always_comb begin
    next_row = '0;
    pick = '0;
    idx_o = '0;
    if (any_o) begin
      next_row = (Words > 1) ? row_t'(place(lowest(most_t'(choice)))) : '0;
      pick = word_t'(lowest(most_t'(bits)));
      idx_o = IdxW'((IdxW + 1)'(row) << BitW) | place(most_t'(pick));
    end
  end

  assign next_take = taken_q[next_row] ? take_q[next_row] : '0;
  assign next_word = set_q[next_row] ^ next_take;

  assign row = here ? from_row : next_row;
  assign word = here ? from_word : next_word;
  assign take = here ? from_take : next_take;
  assign bits = here ? rest : next_word;

  // ---- who joins: its bit changes unless it waits, and goes on waiting

  row_t set_row;
  word_t set_bit, set_take, set_old;
  assign set_row = row_of(set_idx_i);
  assign set_bit = word_t'(1) << set_idx_i[BitW-1:0];
  assign set_take = taken_q[set_row] ? take_q[set_row] : '0;
  assign set_old = any_q[set_row] ? set_q[set_row] : set_take;

  always_comb begin
    any_d = any_q;
    if (take_i) begin
      any_d[row] = (word & ~pick) != '0;
    end
    if (set_i) begin
      any_d[set_row] = 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      any_q <= '0;
      taken_q <= '0;
      from_q <= '0;
    end else begin
      any_q <= any_d;
      if (take_i) begin
        taken_q[row] <= 1'b1;
        from_q <= Fair ? idx_o + IdxW'(1) : '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (set_i && (((set_old ^ set_take) & set_bit) == '0 || (take_i && idx_o == set_idx_i))) begin
      set_q[set_row] <= set_old ^ set_bit;
    end
    if (take_i) begin
      take_q[row] <= take ^ pick;
    end
  end

  `MRC_ASSERT_IF(PicksOne, any_o, pick != '0 && (pick & (pick - word_t'(1))) == '0,
      "no number is on offer, or two at once")
  `MRC_ASSERT_IF(TakesANumber, take_i, any_o,
      "a number is taken that is not there")

endmodule
