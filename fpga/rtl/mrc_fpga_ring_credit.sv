// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Credit for the core's rows of work requests: how many of each QP are held, and who may have one
/// more, by the rules of Intake (docs/design/blocks/tx/segment/tx_segment.md, room). What may be
/// taken now may be taken later: others only give back. Outputs are of registers only; an event
/// counts in the next cycle. It does not know which work requests are held. Contract:
/// docs/design/boards/rings.md.
module mrc_fpga_ring_credit #(
    parameter int unsigned NumQps = 16,
    parameter int unsigned WqeDepth = 64,
    parameter int unsigned NumWqes = 192,
    localparam int unsigned Pool = NumWqes - NumQps,
    localparam int unsigned QpW = (NumQps > 1) ? $clog2(NumQps) : 1,
    localparam int unsigned HeldW = $clog2(WqeDepth + 1),
    localparam int unsigned FreeW = $clog2(Pool + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    // A descriptor is asked for; one of those is thrown away.
    input logic take_i,
    input logic [QpW-1:0] take_qp_i,
    input logic drop_i,
    input logic [QpW-1:0] drop_qp_i,
    // A work request of the QP has completed; or the core has none of the QP any more.
    input logic back_i,
    input logic [QpW-1:0] back_qp_i,
    input logic forget_i,
    input logic [QpW-1:0] forget_qp_i,
    output logic [NumQps-1:0] may_o,
    output logic [NumQps-1:0] some_o,
    output logic [NumQps-1:0][HeldW-1:0] held_o,
    output logic [FreeW-1:0] free_o,
    // back_i of a QP of which nothing is held; nothing else comes of it.
    output logic stray_o
);

  if (WqeDepth < 2 || NumWqes <= NumQps) begin : gen_bad_rows
    $error("%m: WqeDepth must be at least 2, NumWqes more than NumQps");
  end

  logic [NumQps-1:0][HeldW-1:0] held_q, held_d;
  logic [FreeW-1:0] free_q, free_d;
  logic back, many;

  assign many = 32'(free_q) > NumWqes / 4;
  assign back = back_i && some_o[back_qp_i];
  assign stray_o = back_i && !some_o[back_qp_i];
  assign free_d = free_q - FreeW'(take_i) + FreeW'(drop_i) + FreeW'(back)
      + (forget_i ? FreeW'(held_q[forget_qp_i]) : '0);

  for (genvar q = 0; q < NumQps; q++) begin : gen_qp
    assign some_o[q] = held_q[q] != '0;
    assign may_o[q] = (many && held_q[q] != HeldW'(WqeDepth))
        || (free_q != '0 && held_q[q] < HeldW'(2));
    assign held_d[q] = (forget_i && forget_qp_i == QpW'(q)) ? '0
        : held_q[q] + HeldW'(take_i && take_qp_i == QpW'(q))
        - HeldW'(drop_i && drop_qp_i == QpW'(q)) - HeldW'(back && back_qp_i == QpW'(q));
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q <= '0;
      free_q <= FreeW'(Pool);
    end else begin
      held_q <= held_d;
      free_q <= free_d;
    end
  end

  assign held_o = held_q;
  assign free_o = free_q;

  `MRC_ASSERT(TakesWhatItMay, !take_i || may_o[take_qp_i], "a place is taken that there is not")
  `MRC_ASSERT(DropsWhatIsHeld, !drop_i || some_o[drop_qp_i], "what nobody holds is thrown away")
  `MRC_ASSERT(ForgetsAlone, !forget_i || !((take_i && take_qp_i == forget_qp_i)
      || (drop_i && drop_qp_i == forget_qp_i) || (back && back_qp_i == forget_qp_i)),
      "a QP is forgotten in a cycle in which one of its work requests comes or goes")
  `MRC_ASSERT(WithinPool, 32'(free_q) <= Pool, "more is free than there is")

endmodule
