// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// When a QP asks for its peer's state, in mrc_tx_inflight
/// (docs/design/blocks/tx/inflight/tx_inflight.md, Silence). It asks when it has sent nothing for
/// nine eighths of its longest round trip of late, and has not asked for as long. That is twice as
/// much while it has more to send; from the second question on it doubles, up to 1791 ticks. Before
/// its first round trip it is 64 ticks. Kept is when each QP has asked last, and how long the QP
/// whose visit is next keeps quiet. Two registers lie between its round trip and the comparison, so
/// a visit waits until they are of its QP. Whether anything is missing the timer knows.
module mrc_tx_inflight_silence
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    localparam int unsigned QpW = $clog2(NumQps)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input stamp_t now_i,  // low bits of the tick
    input logic silence_wait_i,

    // The QP whose visit is next, or is now, if there is one.
    input logic visit_on_i,
    input logic visit_i,
    input logic [QpW-1:0] vis_qp_i,
    input logic [17:0] trip_i,
    input logic trims_i,  // that is of a trim: a quarter of it counts
    input logic [2:0] queries_i,
    input logic all_acked_i,
    input logic sends_i,  // it has more to send, and its turn will come
    input stamp_t last_i,  // a packet of it was recorded
    input logic query_i,  // a visit: it asks

    output logic ready_o,  // the visit may be, or nobody is to be visited
    output logic silent_o
);

  // Seven times 256, less 1: two stamps that come round must both look old for long enough.
  localparam stamp_t Most = 12'd1791;
  localparam logic [10:0] Unknown = 11'd64;  // of a QP that has yet to know a round trip

  logic [1:0] steady_q, steady_d;
  logic [9:0] longest;
  logic [17:0] trip;
  logic [10:0] bound_q, bound_d;
  logic [3:0] doubled_q, doubled_d;
  logic [2:0] again;
  logic none_q, first_q;
  logic [18:0] grown;
  stamp_t pause_q, pause_d, since, sent_ago, query_age;

  mrc_rf_1r1w #(
      .Width(12),
      .Depth(NumQps)
  ) u_since (
      .clk_i,
      .raddr_i(vis_qp_i),
      .rdata_o(since),
      .we_i(query_i),
      .waddr_i(vis_qp_i),
      .wdata_i(now_i)
  );

  always_comb begin
    steady_d = steady_q;
    if (visit_i || !visit_on_i) begin
      steady_d = 2'd0;
    end else if (steady_q != 2'd2) begin
      steady_d = steady_q + 2'd1;
    end
  end

  // trip is 1023 ticks at most.
  assign trip = trims_i ? {2'd0, trip_i[17:2]} : trip_i;
  assign longest = trip[17:8] + {9'd0, trip[7:0] != 8'd0};
  always_comb begin
    bound_d = {1'b0, longest} + {4'd0, longest[9:3]} + 11'd1;
    if (trip_i == 18'd0) begin
      bound_d = Unknown;
    end
  end
  assign again = (queries_i == 3'd0) ? 3'd0 : queries_i - 3'd1;
  assign doubled_d = {1'b0, again} + {3'd0, all_acked_i} + {3'd0, sends_i};

  assign grown = {8'd0, bound_q} << doubled_q;
  assign pause_d = (grown[18:11] != 8'd0 || grown[10:8] == 3'd7) ? Most : grown[11:0];

  assign sent_ago = now_i - last_i;
  assign query_age = now_i - since;
  assign silent_o = !silence_wait_i && sent_ago >= pause_q
      && (first_q || query_age >= pause_q || bug_i == BugAsksWithoutEnd);
  assign ready_o = !visit_on_i || silence_wait_i || steady_q == 2'd2;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      steady_q <= 2'd0;
    end else begin
      steady_q <= steady_d;
    end
  end

  always_ff @(posedge clk_i) begin
    bound_q <= bound_d;
    doubled_q <= doubled_d;
    none_q <= queries_i == 3'd0;
    pause_q <= pause_d;
    first_q <= none_q;
  end

  // ---- what always holds

`ifdef MRC_ASSERT_ON
  logic [1:0][QpW-1:0] qp_q;  // of a cycle, and of two before
  always_ff @(posedge clk_i) begin
    qp_q <= {qp_q[0], vis_qp_i};
  end

  `MRC_ASSERT_IF(PauseOfItsQp, visit_i && !silence_wait_i, qp_q == {2{vis_qp_i}},
      "a visit judges by another QP's round trip")
`endif
  `MRC_ASSERT_IF(KeepsQuiet, query_i && !silence_wait_i, pause_q >= 12'd2,
      "a QP asks as soon as it has sent something")
  `MRC_ASSERT(PauseInRange, pause_d <= Most,
      "a QP keeps quiet for so long that its two stamps may never look old together")
  `MRC_ASSERT_IF(QueriesInAVisit, query_i, visit_i,
      "a question is noted without a visit")

endmodule
