// SPDX-License-Identifier: Apache-2.0

/// mrc_tx_inflight_flight of unit_top, its structs field by field.
module unit_flight
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
(
    input logic clk_i,
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
    output logic [19:0] flight_early_owed_o
);

  taken_t taken_packet, taken_sack;
  assign flight_packet_bytes_o = taken_packet.bytes;
  assign flight_packet_fgone_o = taken_packet.fgone;
  assign flight_packet_credit_o = taken_packet.credit;
  assign flight_sack_bytes_o = taken_sack.bytes;
  assign flight_sack_fgone_o = taken_sack.fgone;
  assign flight_sack_credit_o = taken_sack.credit;

  mrc_tx_inflight_flight u_flight (
      .clk_i,
      .nominal_i,
      .fsent_i(flight_fsent_i),
      .fgone_i(flight_fgone_i),
      .credit_i(flight_credit_i),
      .owed_i(flight_owed_i),
      .mtu_i(flight_mtu_i),
      .ts_i(flight_ts_i),
      .size_i(flight_size_i),
      .early_i(flight_early_i),
      .vis_fsent_i(flight_fsent_i),
      .vis_fgone_i(flight_fgone_i),
      .vis_owed_i(flight_owed_i),
      .sum_i(flight_sum_i),
      .all_i(flight_all_i),
      .whole_i(flight_whole_i),
      .rcvd_i(flight_rcvd_i),
      .canc_i(flight_canc_i),
      .fly_o(flight_fly_o),
      .packet_o(taken_packet),
      .sack_o(taken_sack),
      .sack_owed_o(flight_sack_owed_o),
      .early_owed_o(flight_early_owed_o)
  );

endmodule
