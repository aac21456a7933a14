// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_turns, lowest first in words of two bits, fair in words of four and in one word, beside a
/// bit per number: one that waits is on offer after all that are before it, none is lost, none
/// comes twice.
module formal_turns (
    input logic clk_i,
    input logic set_i,
    input logic [2:0] set_idx_i,
    input logic take_i
);
  `MRC_RESET

  logic low_any, fair_any, one_any;
  logic [2:0] low_idx, fair_idx, one_idx;
  mrc_turns #(.N(8), .Word(2)) u_low (
      .any_o(low_any), .idx_o(low_idx), .take_i(take_i && low_any), .*
  );
  mrc_turns #(.N(8), .Fair(1'b1), .Word(4)) u_fair (
      .any_o(fair_any), .idx_o(fair_idx), .take_i(take_i && fair_any), .*
  );
  mrc_turns #(.N(8), .Fair(1'b1)) u_one (
      .any_o(one_any), .idx_o(one_idx), .take_i(take_i && one_any), .*
  );

  // The same in words: who waits, and whose turn is first.
  logic [7:0] low_q, fair_q;
  logic [2:0] from_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      low_q <= '0;
      fair_q <= '0;
      from_q <= '0;
    end else begin
      if (take_i && low_any) low_q[low_idx] <= 1'b0;
      if (take_i && fair_any) begin
        fair_q[fair_idx] <= 1'b0;
        from_q <= fair_idx + 3'd1;
      end
      if (set_i) begin
        low_q[set_idx_i] <= 1'b1;
        fair_q[set_idx_i] <= 1'b1;
      end
    end
  end

  logic [7:0] turned;  // fair_q from from_q on
  assign turned = 8'({fair_q, fair_q} >> from_q);

  `MRC_PROVE(lowest, low_any == (low_q != '0) && (!low_any || (low_q[low_idx]
             && (low_q & ~(8'hFF << low_idx)) == '0)))
  `MRC_PROVE(fair, fair_any == (fair_q != '0) && (!fair_any || (fair_q[fair_idx]
             && (turned & ~(8'hFF << (fair_idx - from_q))) == '0)))
  `MRC_PROVE(one_word, one_any == fair_any && (!one_any || one_idx == fair_idx))
  `MRC_COVER(lowest, low_q == 8'hC8 && low_idx == 3'd3 && take_i)
  `MRC_COVER(fair, fair_q == 8'h8D && from_q == 3'd4 && set_i && take_i && set_idx_i == fair_idx)
  `MRC_COVER(one_word, fair_q == 8'h28 && from_q == 3'd4 && take_i)
endmodule
