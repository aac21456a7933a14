// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// The units of the RTL that stand alone, behind simple ports, for the tests beside this file. Each
/// has inputs and outputs of its own; what is instantiated several times takes the same data.
module unit_top
  import mrc_math_pkg::*;
  import mrc_rx_track_pkg::*;
  import mrc_tx_inflight_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    // FIFOs of depth 1, 2, 3, 5; those of mrc_fifo_ram of 2, 3, 4, 5
    input logic [3:0] fifo_valid_i,
    input logic [3:0] fifo_ready_i,
    input logic [7:0] fifo_data_i,
    output logic [3:0] fifo_ready_o,
    output logic [3:0] fifo_valid_o,
    output logic [3:0][7:0] fifo_data_o,
    output logic [3:0][7:0] fifo_count_o,
    output logic [3:0] fram_ready_o,
    output logic [3:0] fram_valid_o,
    output logic [3:0][7:0] fram_data_o,
    output logic [3:0][7:0] fram_count_o,

    // pools of 2, 3, 8
    input logic [2:0] pool_take_i,
    input logic [2:0] pool_give_i,
    input logic [7:0] pool_data_i,
    output logic [2:0] pool_valid_o,
    output logic [2:0][7:0] pool_data_o,
    output logic [2:0][7:0] pool_free_o,

    // memories of 5 rows
    input logic ram_re_i,
    input logic ram_we_i,
    input logic [2:0][2:0] ram_raddr_i,
    input logic [2:0] ram_waddr_i,
    input logic [7:0] ram_wdata_i,
    output logic [7:0] ram_o,
    output logic [7:0] rf1_o,
    output logic [1:0][7:0] rf2_o,
    output logic [2:0][7:0] rfn_o,

    // a stream of three
    input logic [2:0] merge_valid_i,
    output logic [2:0] merge_ready_o,
    input logic [2:0][7:0] merge_data_i,
    output logic merge_valid_o,
    input logic merge_ready_i,
    output logic [7:0] merge_data_o,

    // an output register, and what keeps to the rule of streams
    input logic reg_load_i,
    input logic [7:0] reg_data_i,
    output logic reg_free_o,
    output logic reg_valid_o,
    input logic reg_ready_i,
    output logic [7:0] reg_data_o,
    input logic held_valid_i,
    input logic held_ready_i,
    input logic [7:0] held_data_i,

    // arbiters of 1, 2, 3, 5
    input logic [4:0] arb_req_i,
    input logic arb_take_i,
    output logic [3:0][4:0] arb_gnt_o,
    output logic [3:0][7:0] arb_idx_o,
    output logic [3:0] arb_any_o,

    // 4 ticks in 165 cycles, 3 in 7, 1 in 2, 5 in 5, 1 in 1
    output logic [4:0] tick_o,

    // CRC of 16, 32, 96 bytes
    input logic [2:0] crc_en_i,
    input logic [767:0] crc_data_i,
    output logic [2:0][31:0] crc_o,

    // divider of 6 and of 44 bits, multiplier of 6 x 4, 8 x 5 and 54 x 29
    input logic div_load_i,
    input logic div_step_i,
    input logic [43:0] div_rem_i,
    input logic [43:0] div_low_i,
    input logic [43:0] div_den_i,
    output logic [5:0] div_small_o,
    output logic [43:0] div_o,
    input logic mul_load_i,
    input logic mul_step_i,
    input logic [53:0] mul_a_i,
    input logic [28:0] mul_b_i,
    output logic [9:0] mul_small_o,
    output logic [12:0] mul_middle_o,
    output logic [82:0] mul_o,
    output logic [82:0] mul_dsp_o,

    // arithmetic on PSNs and on 16 bits
    input logic [23:0] math_a_i,
    input logic [23:0] math_b_i,
    input logic [23:0] math_c_i,
    output logic math_before_o,
    output logic math_in_o,
    output logic [15:0] math_lowest_bit_o,
    output logic [3:0] math_lowest_o,
    output logic [4:0] math_ones_o,
    output logic math_less_o,
    output logic math_not_more_o,

    // bits of a row of rx_track
    input logic [63:0] row_i,
    output logic [63:0] row_run_o,
    output logic [5:0] row_place_o,
    output logic [5:0] row_top_o,
    output logic [6:0] row_ones_o,

    // a SACK and a block of tx_inflight
    input logic sackrow_valid_i,
    input logic [19:0] sackrow_block_i,
    input logic [6:0] sackrow_base_i,
    input logic [63:0] sackrow_bitmap_i,
    input logic [14:0] sackrow_ooo_i,
    input logic [14:0] sackrow_reorder_i,
    input logic [23:0] sackrow_una_i,
    input logic [23:0] sackrow_hi1_i,
    input logic [23:0] sackrow_nxt_i,
    input logic [23:0] sackrow_lim_i,
    input logic [15:0] sackrow_old_i,
    input logic [15:0] sackrow_mute_i,
    input logic [15:0] sackrow_nacked_i,
    input logic [15:0] sackrow_rtxd_i,
    input logic [15:0] sackrow_pend_i,
    input logic [15:0] sackrow_sacked_i,
    output logic [15:0] sackrow_mute_o,
    output logic [15:0] sackrow_nacked_o,
    output logic [15:0] sackrow_rtxd_o,
    output logic [15:0] sackrow_pend_o,
    output logic [15:0] sackrow_sacked_o,
    output logic [15:0] sackrow_lost_o,
    output logic [4:0] sackrow_canc_o,

    // losses by time
    input logic [2:0] time_at_i,  // Ctl0, Ctl1, Row, Done, Same1; 0: nowhere
    input logic time_stay_i, time_us_i, time_wait_i, time_pr_i, time_ts_i, time_own_i, time_copy_i,
    input logic time_trims_i,
    input logic [2:0] time_kind_i,
    input logic [7:0] time_reason_i,
    input logic [23:0] time_psn_i, time_base_i, time_una_i, time_was_i,
    input logic [63:0] time_bitmap_i,
    input logic [15:0] time_tick_i, time_returned_i, time_sacked_i, time_rtxd_i,
    input logic [17:0] time_trip_i,
    input logic [191:0] time_stamps_i,
    output logic time_knows_o,
    output logic [15:0] time_old_o,
    output logic [17:0] time_trip_o,
    output logic time_trims_o,

    // when a QP asks
    input logic quiet_wait_i, quiet_visit_i, quiet_acked_i, quiet_sends_i,
    input logic quiet_query_i, quiet_trims_i,
    input logic [11:0] quiet_now_i, quiet_last_i,
    input logic [1:0] quiet_qp_i,
    input logic [17:0] quiet_trip_i,
    input logic [2:0] quiet_queries_i,
    output logic quiet_ready_o, quiet_silent_o,

    // the account of the flight
    input logic [1:0] nominal_i,
    input logic [27:0] flight_fsent_i,
    input logic [27:0] flight_fgone_i,
    input logic [7:0] flight_credit_i,
    input logic [19:0] flight_owed_i,
    input logic [2:0] flight_mtu_i,
    input logic flight_ts_i,
    input logic [13:0] flight_size_i,
    input logic flight_early_i,
    input logic flight_sum_i,
    input logic flight_all_i,
    input logic flight_whole_i,
    input logic [23:0] flight_rcvd_i,
    input logic [6:0] flight_canc_i,
    output logic [27:0] flight_fly_o,
    output logic [27:0] flight_packet_bytes_o,
    output logic [27:0] flight_packet_fgone_o,
    output logic [7:0] flight_packet_credit_o,
    output logic [27:0] flight_sack_bytes_o,
    output logic [27:0] flight_sack_fgone_o,
    output logic [7:0] flight_sack_credit_o,
    output logic [19:0] flight_sack_owed_o,
    output logic [19:0] flight_early_owed_o,

    // the search for a packet to send again; in one of Retx0, Scan, Retx1, RetxW (bits 0 to 3)
    input logic [3:0] scan_at_i,
    input logic [31:0] scan_tick_i,
    input logic scan_time_wait_i,
    input logic scan_lost_stays_i,
    input logic scan_stays_i,
    input logic scan_leave_i,
    input logic [23:0] scan_leave_at_i,
    input logic scan_live_i,
    input logic scan_dup_i,
    input logic scan_cc_i,
    input logic [31:0] scan_start_i,
    input logic [4:0] scan_shift_i,
    input logic [1:0] scan_cnt_i,
    input logic [23:0] scan_una_i,
    input logic [23:0] scan_nxt_i,
    input logic [23:0] scan_lo_i,
    input logic [23:0] scan_lim_i,
    input logic [47:0] scan_age_i,
    input logic [15:0] scan_mute_i,
    input logic [15:0] scan_nacked_i,
    input logic [15:0] scan_rtxd_i,
    input logic [15:0] scan_pend_i,
    input logic [15:0] scan_sacked_i,
    input logic [13:0] scan_size_i,
    input logic [27:0] scan_fgone_i,
    input logic [27:0] scan_taken_fgone_i,
    input logic [7:0] scan_taken_credit_i,
    input logic scan_rans_valid_i,
    input logic [15:0] scan_rans_bytes_i,
    output logic scan_send_o,
    output logic scan_stop_o,
    output logic scan_granted_o,
    output logic scan_refused_o,
    output logic scan_leave_o,
    output logic scan_left_o,
    output logic scan_passed_o,
    output logic scan_at_we_o,
    output logic [23:0] scan_at_o,
    output logic [23:0] scan_p_o,
    output logic scan_loss_o,
    output logic scan_blame_o,
    output logic scan_map_re_o,
    output logic [19:0] scan_map_block_o,
    output logic scan_win_re_o,
    output logic scan_win_we_o,
    output logic [47:0] scan_age_o,
    output logic [15:0] scan_mute_o,
    output logic [15:0] scan_nacked_o,
    output logic [15:0] scan_rtxd_o,
    output logic [15:0] scan_pend_o,
    output logic [15:0] scan_sacked_o,
    output logic scan_sent_re_o,
    output logic scan_stamp_we_o,
    output logic [3:0] scan_stamp_pos_o,
    output logic scan_sent_newest_o,
    output logic [3:0] scan_sent_pos_o,
    output logic scan_we_o,
    output logic [27:0] scan_fgone_o,
    output logic [7:0] scan_credit_o,
    output logic scan_lo_we_o,
    output logic [23:0] scan_lo_o,
    output logic scan_turn_o,
    output logic scan_delist_o,
    output logic scan_dup_set_o,
    output logic scan_dup_clear_o,
    output logic scan_quiet_o  // it says nothing at all
);

  logic [0:0] fifo_count_0;
  logic [1:0] fram_count_0;
  assign fifo_count_o[0] = 8'(fifo_count_0);
  assign fram_count_o[0] = 8'(fram_count_0);
  mrc_fifo #(
      .T(logic [7:0]),
      .Depth(1)
  ) u_fifo_0 (
      .clk_i,
      .rst_ni,
      .valid_i(fifo_valid_i[0]),
      .ready_o(fifo_ready_o[0]),
      .data_i(fifo_data_i),
      .valid_o(fifo_valid_o[0]),
      .ready_i(fifo_ready_i[0]),
      .data_o(fifo_data_o[0]),
      .count_o(fifo_count_0)
  );
  mrc_fifo_ram #(
      .Width(8),
      .Depth(2)
  ) u_fram_0 (
      .clk_i,
      .rst_ni,
      .valid_i(fifo_valid_i[0]),
      .ready_o(fram_ready_o[0]),
      .data_i(fifo_data_i),
      .valid_o(fram_valid_o[0]),
      .ready_i(fifo_ready_i[0]),
      .data_o(fram_data_o[0]),
      .count_o(fram_count_0)
  );

  logic [1:0] fifo_count_1;
  logic [1:0] fram_count_1;
  assign fifo_count_o[1] = 8'(fifo_count_1);
  assign fram_count_o[1] = 8'(fram_count_1);
  mrc_fifo #(
      .T(logic [7:0]),
      .Depth(2)
  ) u_fifo_1 (
      .clk_i,
      .rst_ni,
      .valid_i(fifo_valid_i[1]),
      .ready_o(fifo_ready_o[1]),
      .data_i(fifo_data_i),
      .valid_o(fifo_valid_o[1]),
      .ready_i(fifo_ready_i[1]),
      .data_o(fifo_data_o[1]),
      .count_o(fifo_count_1)
  );
  mrc_fifo_ram #(
      .Width(8),
      .Depth(3)
  ) u_fram_1 (
      .clk_i,
      .rst_ni,
      .valid_i(fifo_valid_i[1]),
      .ready_o(fram_ready_o[1]),
      .data_i(fifo_data_i),
      .valid_o(fram_valid_o[1]),
      .ready_i(fifo_ready_i[1]),
      .data_o(fram_data_o[1]),
      .count_o(fram_count_1)
  );

  logic [1:0] fifo_count_2;
  logic [2:0] fram_count_2;
  assign fifo_count_o[2] = 8'(fifo_count_2);
  assign fram_count_o[2] = 8'(fram_count_2);
  mrc_fifo #(
      .T(logic [7:0]),
      .Depth(3)
  ) u_fifo_2 (
      .clk_i,
      .rst_ni,
      .valid_i(fifo_valid_i[2]),
      .ready_o(fifo_ready_o[2]),
      .data_i(fifo_data_i),
      .valid_o(fifo_valid_o[2]),
      .ready_i(fifo_ready_i[2]),
      .data_o(fifo_data_o[2]),
      .count_o(fifo_count_2)
  );
  mrc_fifo_ram #(
      .Width(8),
      .Depth(4)
  ) u_fram_2 (
      .clk_i,
      .rst_ni,
      .valid_i(fifo_valid_i[2]),
      .ready_o(fram_ready_o[2]),
      .data_i(fifo_data_i),
      .valid_o(fram_valid_o[2]),
      .ready_i(fifo_ready_i[2]),
      .data_o(fram_data_o[2]),
      .count_o(fram_count_2)
  );

  logic [2:0] fifo_count_3;
  logic [2:0] fram_count_3;
  assign fifo_count_o[3] = 8'(fifo_count_3);
  assign fram_count_o[3] = 8'(fram_count_3);
  mrc_fifo #(
      .T(logic [7:0]),
      .Depth(5)
  ) u_fifo_3 (
      .clk_i,
      .rst_ni,
      .valid_i(fifo_valid_i[3]),
      .ready_o(fifo_ready_o[3]),
      .data_i(fifo_data_i),
      .valid_o(fifo_valid_o[3]),
      .ready_i(fifo_ready_i[3]),
      .data_o(fifo_data_o[3]),
      .count_o(fifo_count_3)
  );
  mrc_fifo_ram #(
      .Width(8),
      .Depth(5)
  ) u_fram_3 (
      .clk_i,
      .rst_ni,
      .valid_i(fifo_valid_i[3]),
      .ready_o(fram_ready_o[3]),
      .data_i(fifo_data_i),
      .valid_o(fram_valid_o[3]),
      .ready_i(fifo_ready_i[3]),
      .data_o(fram_data_o[3]),
      .count_o(fram_count_3)
  );

  logic [0:0] pool_data_0;
  logic [1:0] pool_free_0;
  assign pool_data_o[0] = 8'(pool_data_0);
  assign pool_free_o[0] = 8'(pool_free_0);
  mrc_pool #(
      .N(2)
  ) u_pool_0 (
      .clk_i,
      .rst_ni,
      .valid_o(pool_valid_o[0]),
      .ready_i(pool_take_i[0]),
      .data_o(pool_data_0),
      .valid_i(pool_give_i[0]),
      .data_i(pool_data_i[0:0]),
      .free_o(pool_free_0)
  );

  logic [1:0] pool_data_1;
  logic [1:0] pool_free_1;
  assign pool_data_o[1] = 8'(pool_data_1);
  assign pool_free_o[1] = 8'(pool_free_1);
  mrc_pool #(
      .N(3)
  ) u_pool_1 (
      .clk_i,
      .rst_ni,
      .valid_o(pool_valid_o[1]),
      .ready_i(pool_take_i[1]),
      .data_o(pool_data_1),
      .valid_i(pool_give_i[1]),
      .data_i(pool_data_i[1:0]),
      .free_o(pool_free_1)
  );

  logic [2:0] pool_data_2;
  logic [3:0] pool_free_2;
  assign pool_data_o[2] = 8'(pool_data_2);
  assign pool_free_o[2] = 8'(pool_free_2);
  mrc_pool #(
      .N(8)
  ) u_pool_2 (
      .clk_i,
      .rst_ni,
      .valid_o(pool_valid_o[2]),
      .ready_i(pool_take_i[2]),
      .data_o(pool_data_2),
      .valid_i(pool_give_i[2]),
      .data_i(pool_data_i[2:0]),
      .free_o(pool_free_2)
  );

  mrc_tick #(
      .Cycles(165),
      .Parts(4)
  ) u_tick_0 (
      .clk_i,
      .rst_ni,
      .tick_o(tick_o[0])
  );

  mrc_tick #(
      .Cycles(7),
      .Parts(3)
  ) u_tick_1 (
      .clk_i,
      .rst_ni,
      .tick_o(tick_o[1])
  );

  mrc_tick #(
      .Cycles(2),
      .Parts(1)
  ) u_tick_2 (
      .clk_i,
      .rst_ni,
      .tick_o(tick_o[2])
  );

  mrc_tick #(
      .Cycles(5),
      .Parts(5)
  ) u_tick_3 (
      .clk_i,
      .rst_ni,
      .tick_o(tick_o[3])
  );

  mrc_tick #(
      .Cycles(1),
      .Parts(1)
  ) u_tick_4 (
      .clk_i,
      .rst_ni,
      .tick_o(tick_o[4])
  );

  logic [0:0] arb_gnt_0;
  logic [0:0] arb_idx_0;
  assign arb_gnt_o[0] = {4'd0, arb_gnt_0};
  assign arb_idx_o[0] = 8'(arb_idx_0);
  mrc_rr_arb #(
      .N(1)
  ) u_arb_0 (
      .clk_i,
      .rst_ni,
      .req_i(arb_req_i[0:0]),
      .take_i(arb_take_i),
      .gnt_o(arb_gnt_0),
      .idx_o(arb_idx_0),
      .any_o(arb_any_o[0])
  );

  logic [1:0] arb_gnt_1;
  logic [0:0] arb_idx_1;
  assign arb_gnt_o[1] = {3'd0, arb_gnt_1};
  assign arb_idx_o[1] = 8'(arb_idx_1);
  mrc_rr_arb #(
      .N(2)
  ) u_arb_1 (
      .clk_i,
      .rst_ni,
      .req_i(arb_req_i[1:0]),
      .take_i(arb_take_i),
      .gnt_o(arb_gnt_1),
      .idx_o(arb_idx_1),
      .any_o(arb_any_o[1])
  );

  logic [2:0] arb_gnt_2;
  logic [1:0] arb_idx_2;
  assign arb_gnt_o[2] = {2'd0, arb_gnt_2};
  assign arb_idx_o[2] = 8'(arb_idx_2);
  mrc_rr_arb #(
      .N(3)
  ) u_arb_2 (
      .clk_i,
      .rst_ni,
      .req_i(arb_req_i[2:0]),
      .take_i(arb_take_i),
      .gnt_o(arb_gnt_2),
      .idx_o(arb_idx_2),
      .any_o(arb_any_o[2])
  );

  logic [4:0] arb_gnt_3;
  logic [2:0] arb_idx_3;
  assign arb_gnt_o[3] = arb_gnt_3;
  assign arb_idx_o[3] = 8'(arb_idx_3);
  mrc_rr_arb #(
      .N(5)
  ) u_arb_3 (
      .clk_i,
      .rst_ni,
      .req_i(arb_req_i[4:0]),
      .take_i(arb_take_i),
      .gnt_o(arb_gnt_3),
      .idx_o(arb_idx_3),
      .any_o(arb_any_o[3])
  );

  mrc_crc32 #(
      .Bytes(16)
  ) u_crc_0 (
      .en_i(crc_en_i[0]),
      .data_i(crc_data_i[127:0]),
      .crc_o(crc_o[0])
  );

  mrc_crc32 #(
      .Bytes(32)
  ) u_crc_1 (
      .en_i(crc_en_i[1]),
      .data_i(crc_data_i[255:0]),
      .crc_o(crc_o[1])
  );

  mrc_crc32 #(
      .Bytes(96)
  ) u_crc_2 (
      .en_i(crc_en_i[2]),
      .data_i(crc_data_i[767:0]),
      .crc_o(crc_o[2])
  );
  mrc_ram_1r1w #(
      .Width(8),
      .Depth(5)
  ) u_ram (
      .clk_i,
      .re_i(ram_re_i),
      .raddr_i(ram_raddr_i[0]),
      .rdata_o(ram_o),
      .we_i(ram_we_i),
      .waddr_i(ram_waddr_i),
      .wdata_i(ram_wdata_i)
  );

  mrc_rf_1r1w #(
      .Width(8),
      .Depth(5)
  ) u_rf1 (
      .clk_i,
      .raddr_i(ram_raddr_i[0]),
      .rdata_o(rf1_o),
      .we_i(ram_we_i),
      .waddr_i(ram_waddr_i),
      .wdata_i(ram_wdata_i)
  );

  mrc_rf_2r1w #(
      .Width(8),
      .Depth(5)
  ) u_rf2 (
      .clk_i,
      .raddr0_i(ram_raddr_i[0]),
      .rdata0_o(rf2_o[0]),
      .raddr1_i(ram_raddr_i[1]),
      .rdata1_o(rf2_o[1]),
      .we_i(ram_we_i),
      .waddr_i(ram_waddr_i),
      .wdata_i(ram_wdata_i)
  );

  mrc_rf_nr1w #(
      .Width(8),
      .Depth(5),
      .Reads(3)
  ) u_rfn (
      .clk_i,
      .raddr_i(ram_raddr_i),
      .rdata_o(rfn_o),
      .we_i(ram_we_i),
      .waddr_i(ram_waddr_i),
      .wdata_i(ram_wdata_i)
  );

  mrc_merge #(
      .T(logic [7:0]),
      .N(3)
  ) u_merge (
      .clk_i,
      .rst_ni,
      .valid_i(merge_valid_i),
      .ready_o(merge_ready_o),
      .data_i(merge_data_i),
      .valid_o(merge_valid_o),
      .ready_i(merge_ready_i),
      .data_o(merge_data_o)
  );

  mrc_out_reg #(
      .T(logic [7:0])
  ) u_reg (
      .clk_i,
      .rst_ni,
      .load_i(reg_load_i),
      .data_i(reg_data_i),
      .free_o(reg_free_o),
      .valid_o(reg_valid_o),
      .ready_i(reg_ready_i),
      .data_o(reg_data_o)
  );

  `MRC_STABLE(Held, held_valid_i, held_ready_i, held_data_i, 8)

  mrc_cc_div #(
      .Width(6)
  ) u_div_small (
      .clk_i,
      .load_i(div_load_i),
      .rem_i(div_rem_i[5:0]),
      .low_i(div_low_i[5:0]),
      .den_i(div_den_i[5:0]),
      .step_i(div_step_i),
      .quot_o(div_small_o)
  );

  mrc_cc_div #(
      .Width(44)
  ) u_div (
      .clk_i,
      .load_i(div_load_i),
      .rem_i(div_rem_i),
      .low_i(div_low_i),
      .den_i(div_den_i),
      .step_i(div_step_i),
      .quot_o(div_o)
  );

  mrc_cc_mul #(
      .AWidth(6),
      .BWidth(4)
  ) u_mul_small (
      .clk_i,
      .load_i(mul_load_i),
      .a_i(mul_a_i[5:0]),
      .b_i(mul_b_i[3:0]),
      .step_i(mul_step_i),
      .p_o(mul_small_o)
  );

  mrc_cc_mul #(
      .AWidth(8),
      .BWidth(5)
  ) u_mul_middle (
      .clk_i,
      .load_i(mul_load_i),
      .a_i(mul_a_i[7:0]),
      .b_i(mul_b_i[4:0]),
      .step_i(mul_step_i),
      .p_o(mul_middle_o)
  );

  mrc_cc_mul #(
      .AWidth(54),
      .BWidth(29)
  ) u_mul (
      .clk_i,
      .load_i(mul_load_i),
      .a_i(mul_a_i),
      .b_i(mul_b_i),
      .step_i(mul_step_i),
      .p_o(mul_o)
  );

  mrc_cc_mul #(
      .AWidth(54),
      .BWidth(29),
      .Dsp(1)
  ) u_mul_dsp (
      .clk_i,
      .load_i(mul_load_i),
      .a_i(mul_a_i),
      .b_i(mul_b_i),
      .step_i(mul_step_i),
      .p_o(mul_dsp_o)
  );

  assign row_run_o = run_of(row_i);
  assign row_place_o = place_of(row_i);
  assign row_top_o = top_one(row_i);
  assign row_ones_o = ones64(row_i);

  win_t block, block_sacked;
  assign block = '{
          age: '0,
          mute: sackrow_mute_i,
          nacked: sackrow_nacked_i,
          rtxd: sackrow_rtxd_i,
          pend: sackrow_pend_i,
          sacked: sackrow_sacked_i
      };
  assign sackrow_mute_o = block_sacked.mute;
  assign sackrow_nacked_o = block_sacked.nacked;
  assign sackrow_rtxd_o = block_sacked.rtxd;
  assign sackrow_pend_o = block_sacked.pend;
  assign sackrow_sacked_o = block_sacked.sacked;

  mrc_tx_inflight_sackrow u_sackrow (
      .bug_i(8'd0),
      .valid_i(sackrow_valid_i),
      .block_i(sackrow_block_i),
      .base_i(sackrow_base_i),
      .bitmap_i(sackrow_bitmap_i),
      .ooo_i(sackrow_ooo_i),
      .reorder_i(sackrow_reorder_i),
      .una_i(sackrow_una_i),
      .hi1_i(sackrow_hi1_i),
      .nxt_i(sackrow_nxt_i),
      .lim_i(sackrow_lim_i),
      .old_i(sackrow_old_i),
      .row_i(block),
      .row_o(block_sacked),
      .lost_o(sackrow_lost_o),
      .canc_o(sackrow_canc_o)
  );

  unit_time u_time (.*);

  unit_silence u_silence (.*);

  unit_flight u_flight (.*);

  state_e scan_state;
  view_t scan_cur;
  taken_t scan_taken;
  scan_steps_t scan_steps;
  scan_t scan;
  mem_t scan_mem;
  change_t scan_change;

  always_comb begin
    scan_state = StIdle;
    unique case (scan_at_i)
      4'd1: scan_state = StRetx0;
      4'd2: scan_state = StScan;
      4'd4: scan_state = StRetx1;
      4'd8: scan_state = StRetxW;
      default: scan_state = StIdle;
    endcase
    scan_cur = '0;
    scan_cur.is.live = scan_live_i;
    scan_cur.is.dup = scan_dup_i;
    scan_cur.is.cc = scan_cc_i;
    scan_cur.is.stays = scan_stays_i;
    scan_cur.row.una = scan_una_i;
    scan_cur.row.start = scan_start_i;
    scan_cur.row.cnt = scan_cnt_i;
    scan_cur.row.retry.shift = scan_shift_i;
    scan_cur.row.fgone = scan_fgone_i;
    scan_taken = '0;
    scan_taken.fgone = scan_taken_fgone_i;
    scan_taken.credit = scan_taken_credit_i;
  end

  mrc_tx_inflight_scan u_scan (
      .clk_i,
      .bug_i(8'd0),
      .tick_i(scan_tick_i),
      .time_wait_i(scan_time_wait_i),
      .lost_stays_i(scan_lost_stays_i),
      .state_i(scan_state),
      .cur_i(scan_cur),
      .nxt_i(scan_nxt_i),
      .rtx_lo_i(scan_lo_i),
      .lim_i(scan_lim_i),
      .leave_i({scan_leave_i, scan_leave_at_i}),
      .win_i('{
          age: scan_age_i,
          mute: scan_mute_i,
          nacked: scan_nacked_i,
          rtxd: scan_rtxd_i,
          pend: scan_pend_i,
          sacked: scan_sacked_i
      }),
      .size_i(scan_size_i),
      .taken_i(scan_taken),
      .rans_valid_i(scan_rans_valid_i),
      .rans_bytes_i(scan_rans_bytes_i),
      .steps_o(scan_steps),
      .scan_o(scan),
      .mem_o(scan_mem),
      .change_o(scan_change)
  );

  assign scan_send_o = scan_steps.send;
  assign scan_stop_o = scan_steps.stop;
  assign scan_granted_o = scan_steps.granted;
  assign scan_refused_o = scan_steps.refused;
  assign scan_leave_o = scan_steps.leave;
  assign scan_left_o = scan_steps.left;
  assign scan_passed_o = scan_steps.passed;
  assign scan_at_we_o = scan_steps.at_we;
  assign scan_at_o = scan_steps.at;
  assign scan_p_o = scan.p;
  assign scan_loss_o = scan.loss;
  assign scan_blame_o = scan.blame;
  assign scan_map_re_o = scan_mem.map_re;
  assign scan_map_block_o = scan_mem.map_block;
  assign scan_win_re_o = scan_mem.win_re;
  assign scan_win_we_o = scan_mem.win_we;
  assign scan_age_o = scan_mem.win.age;
  assign scan_mute_o = scan_mem.win.mute;
  assign scan_nacked_o = scan_mem.win.nacked;
  assign scan_rtxd_o = scan_mem.win.rtxd;
  assign scan_pend_o = scan_mem.win.pend;
  assign scan_sacked_o = scan_mem.win.sacked;
  assign scan_sent_re_o = scan_mem.sent_re;
  assign scan_stamp_we_o = scan_mem.stamp_we;
  assign scan_stamp_pos_o = scan_mem.stamp_pos;
  assign scan_sent_newest_o = scan_mem.sent_of == SentOfNewest;
  assign scan_sent_pos_o = scan_mem.sent_pos;
  assign scan_we_o = scan_change.we;
  assign scan_fgone_o = scan_change.row.fgone;
  assign scan_credit_o = scan_change.row.credit;
  assign scan_lo_we_o = scan_change.rtx_lo_we;
  assign scan_lo_o = scan_change.rtx_lo;
  assign scan_turn_o = scan_change.turn;
  assign scan_delist_o = scan_change.delist;
  assign scan_dup_set_o = scan_change.dup_set;
  assign scan_dup_clear_o = scan_change.dup_clear;
  assign scan_quiet_o = {scan_change, scan_mem} == '0;

  assign math_before_o = psn_before(math_a_i, math_b_i);
  assign math_in_o = psn_in(math_a_i, math_b_i, math_c_i);
  assign math_lowest_bit_o = lowest_bit(math_a_i[15:0]);
  assign math_lowest_o = lowest(math_a_i[15:0]);
  assign math_ones_o = mrc_math_pkg::ones(math_a_i[15:0]);
  assign math_less_o = lt_sum(math_a_i, math_b_i, math_c_i, 1'b0);
  assign math_not_more_o = lt_sum(math_a_i, math_b_i, math_c_i, 1'b1);

endmodule
