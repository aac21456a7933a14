// SPDX-License-Identifier: Apache-2.0
// The ports of formal/rx_track.sv and formal/rx_track_rows.sv, and their dut.

  import mrc_pkg::*;
  import mrc_rx_track_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input rx_track_csr_t csr_i,
    input logic imm_ok_i,
    input logic hold_ok_i,
    input logic over_i,
    input logic arm_i,
    input logic [3:0] gen_i,
    input logic drained_i,
    input logic fat_i,
    input cfg_t cfg_i,
    input logic rxpkt_valid_i,
    input rxpkt_t rxpkt_i,
    input logic verdict_ready_i,
    input logic resp_ready_i,
    input logic ackev_ready_i,
    input logic ord_ready_i,
    input logic came_ready_i,
    input logic qperr_ready_i
);
  `MRC_RESET

  logic cfg_ack_o, rxpkt_ready_o, verdict_valid_o, resp_valid_o, ackev_valid_o, ord_valid_o;
  logic came_valid_o, qperr_valid_o;
  verdict_t verdict_o;
  resp_t resp_o;
  ackev_t ackev_o;
  ord_t ord_o;
  came_t came_o;
  qperr_t qperr_o;
  rx_track_pulses_t pulses_o;
  logic posted_o, goes_on_o;
  logic [15:0] track_qp_o, post_qp_o;
  mrc_rx_track #(
      .NumPlanes(2),
      .NumQps(2),
      .MaxMpr(128),
      .NumRxRows(2)
  ) dut (
      .bug_i(8'(Bug)),
      .*
  );
