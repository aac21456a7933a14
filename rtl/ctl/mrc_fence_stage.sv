// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// A stage of mrc_fence: how many words are inside, and how many of those that were inside when it
/// was taken are still there. Words come out in the order in which they went in; it sees none of
/// them. Most words are inside at once, at most. Contract: docs/design/blocks/ctl/fence.md.
module mrc_fence_stage #(
    parameter int unsigned Most = 3
) (
    input logic clk_i,
    input logic rst_ni,

    input logic stands_i,  // a word is offered to the stage
    input logic moves_i,  // and taken
    input logic done_i,  // a word has come out
    input logic take_i,
    output logic some_o,  // words are inside
    output logic owes_o  // and some of those that were inside at take_i
);

  localparam int unsigned W = $clog2(Most + 2);

  logic [W-1:0] n_q, n_d, left_q, left_d;

  assign n_d = n_q + W'(moves_i) - W'(done_i);
  assign left_d = take_i ? n_q + W'(stands_i) - W'(done_i) : left_q - W'(done_i && owes_o);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      n_q <= '0;
      left_q <= '0;
    end else begin
      n_q <= n_d;
      left_q <= left_d;
    end
  end

  assign some_o = n_q != '0;
  assign owes_o = left_q != '0;

  // ---- what always holds

  `MRC_ASSERT(HoldsSoMany, 32'(n_q) <= Most, "more words are inside a stage than it has places")
  `MRC_ASSERT_IF(DoneIsInside, done_i, some_o,
      "a word comes out of a stage that is empty")
  `MRC_ASSERT(OwesWhatIsInside, left_q <= n_q + W'(stands_i),
      "a fence waits for more words than are there")
  `MRC_ASSERT_IF(MovesWhatStands, moves_i, stands_i,
      "a word moves that was not offered")

endmodule
