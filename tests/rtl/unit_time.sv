// SPDX-License-Identifier: Apache-2.0

/// mrc_tx_inflight_time of unit_top, its structs field by field.
module unit_time
  import mrc_tx_inflight_pkg::*;
(
    input logic clk_i,
    input logic [2:0] time_at_i,  // Ctl0, Ctl1, Row, Done, Same1; 0: nowhere
    input logic time_stay_i,
    input logic [15:0] time_tick_i,
    input logic time_us_i,
    input logic time_wait_i,
    input logic [2:0] time_kind_i,
    input logic [7:0] time_reason_i,
    input logic time_pr_i,
    input logic [23:0] time_psn_i,
    input logic [23:0] time_base_i,
    input logic [63:0] time_bitmap_i,
    input logic [15:0] time_returned_i,
    input logic time_ts_i,
    input logic [17:0] time_trip_i,
    input logic time_trims_i,
    input logic [23:0] time_una_i,
    input logic [23:0] time_was_i,
    input logic time_own_i,
    input logic [15:0] time_sacked_i,
    input logic [15:0] time_rtxd_i,
    input logic time_copy_i,
    input logic [191:0] time_stamps_i,
    output logic time_knows_o,
    output logic [15:0] time_old_o,
    output logic [17:0] time_trip_o,
    output logic time_trims_o
);

  state_e time_state;
  mrc_pkg::ctl_t time_ctl;
  overdue_t time_overdue;

  always_comb begin
    time_state = StIdle;
    unique case (time_at_i)
      3'd1: time_state = StCtl0;
      3'd2: time_state = StCtl1;
      3'd3: time_state = StRow;
      3'd4: time_state = StDone;
      3'd5: time_state = StSame1;
      default: time_state = StIdle;
    endcase
    time_ctl = '0;
    time_ctl.kind = time_kind_i;
    time_ctl.reason = time_reason_i;
    time_ctl.pr = time_pr_i;
    time_ctl.psn = time_psn_i;
    time_ctl.base = time_base_i;
    time_ctl.bitmap = time_bitmap_i;
    time_ctl.ts = time_returned_i;
  end

  mrc_tx_inflight_time u_time (
      .clk_i,
      .tick_i(time_tick_i),
      .tsr_us_i(time_us_i),
      .time_wait_i,
      .state_i(time_state),
      .stay_i(time_stay_i),
      .ctl_i(time_ctl),
      .ts_i(time_ts_i),
      .trip_i(time_trip_i),
      .trims_i(time_trims_i),
      .una_was_i(time_was_i),
      .una_i(time_una_i),
      .own_i(time_own_i),
      .sacked_i(time_sacked_i),
      .rtxd_i(time_rtxd_i),
      .copy_i(time_copy_i),
      .stamps_i(time_stamps_i),
      .overdue_o(time_overdue)
  );

  assign time_knows_o = time_overdue.knows;
  assign time_old_o = time_overdue.old;
  assign time_trip_o = time_overdue.trip;
  assign time_trims_o = time_overdue.trims;

endmodule
