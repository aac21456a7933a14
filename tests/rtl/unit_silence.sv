// SPDX-License-Identifier: Apache-2.0

/// mrc_tx_inflight_silence of unit_top, for four QPs.
module unit_silence (
    input logic clk_i,
    input logic rst_ni,
    input logic quiet_wait_i,
    input logic quiet_visit_i,
    input logic quiet_acked_i,
    input logic quiet_sends_i,
    input logic quiet_query_i,
    input logic [11:0] quiet_now_i,
    input logic [11:0] quiet_last_i,
    input logic [1:0] quiet_qp_i,
    input logic [17:0] quiet_trip_i,
    input logic quiet_trims_i,
    input logic [2:0] quiet_queries_i,
    output logic quiet_ready_o,
    output logic quiet_silent_o
);

  mrc_tx_inflight_silence #(
      .NumQps(4)
  ) u_silence (
      .clk_i,
      .rst_ni,
      .bug_i(8'd0),
      .now_i(quiet_now_i),
      .silence_wait_i(quiet_wait_i),
      .visit_on_i(1'b1),
      .visit_i(quiet_visit_i),
      .vis_qp_i(quiet_qp_i),
      .trip_i(quiet_trip_i),
      .trims_i(quiet_trims_i),
      .queries_i(quiet_queries_i),
      .all_acked_i(quiet_acked_i),
      .sends_i(quiet_sends_i),
      .last_i(quiet_last_i),
      .query_i(quiet_query_i),
      .ready_o(quiet_ready_o),
      .silent_o(quiet_silent_o)
  );

endmodule
