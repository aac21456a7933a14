// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Whose EVs mrc_tx_path offers to tx_probe again (docs/design/blocks/tx/tx_path.md, Scrub): QPs
/// that have an EV out of use have their rounds in turn. A QP joins when one of its EVs goes bad,
/// and at the end of a round that has found one. It does not know when a look may be.
module mrc_tx_path_scrub
  import mrc_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned EvsPerQp = 16,
    localparam int unsigned QpW = $clog2(NumQps),
    localparam int unsigned EvW = $clog2(EvsPerQp)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    output logic any_o,  // there is an EV to look at: this one
    output logic [QpW-1:0] qp_o,
    output logic [EvW-1:0] ev_o,
    input logic go_i,  // it is read now,
    input logic look_i,  // and looked at in the next cycle:
    input logic bad_i,  // it is out of use
    input logic join_i,  // an EV of this QP goes out of use
    input logic [QpW-1:0] join_qp_i
);

  logic on_q, on_d, bad_q, bad_d, waits, again;
  logic [QpW-1:0] qp_q, next_qp;
  logic [EvW-1:0] ev_q;

  // Bug 128: a QP has one round, whatever that finds.
  assign again = look_i && !on_q && (bad_q || bad_i) && bug_i != BugOneRound;

  mrc_turns #(
      .N(NumQps),
      .Fair(1'b1)
  ) u_bads (
      .clk_i,
      .rst_ni,
      .set_i(join_i || again),
      .set_idx_i(join_i ? join_qp_i : qp_q),
      .any_o(waits),
      .idx_o(next_qp),
      .take_i(go_i && !on_q)
  );

  assign any_o = on_q || waits;
  assign qp_o = on_q ? qp_q : next_qp;
  assign ev_o = on_q ? ev_q : '0;

  always_comb begin
    on_d = on_q;
    bad_d = bad_q || (look_i && bad_i);
    if (go_i) begin
      on_d = ev_o != EvW'(EvsPerQp - 1);
      bad_d = bad_q && on_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      on_q <= 1'b0;
    end else begin
      on_q <= on_d;
    end
  end

  always_ff @(posedge clk_i) begin
    bad_q <= bad_d;
    if (go_i) begin
      qp_q <= qp_o;
      ev_q <= ev_o + EvW'(1);
    end
  end

  // ---- what always holds

  `MRC_ASSERT_IF(LooksAtOne, go_i, any_o,
      "an EV is looked at, and no QP has one out of use")
  `MRC_ONE_HOT0(OneOperation, {go_i, look_i, join_i},
      "two operations on the rounds of the scrub in one cycle")

endmodule
