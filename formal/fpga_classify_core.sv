// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// One frame of any bytes, given to mrc_fpga_classify and, word by word, to the core's mrc_rx_lane:
/// what the lane finds to be a packet is what the classifier gives to a lane. No address is foreign
/// here. Its checksum (formal/any_crc.sv) is any.
module formal_fpga_classify_core
  import mrc_pkg::*;
(
    input logic clk_i,
    input rx_lane_csr_t csr_i,
    input logic want_i,
    input logic [511:0] tdata_i,
    input logic [63:0] tkeep_i,
    input logic tlast_i,
    input logic tuser_i
);
  `MRC_RESET

  // Registers that stand.
  logic [15:0] udp_port_q;
  logic udp_only_q;
  rx_lane_csr_t csr;
  always_ff @(posedge clk_i) begin
    udp_port_q <= udp_port_q;
    udp_only_q <= udp_only_q;
  end
  always_comb begin
    csr = csr_i;
    csr.udp_port = udp_port_q;
    csr.udp_only = udp_only_q;
  end

  // Words with a cycle between them, since each may be two beats; none behind the last.
  logic tvalid_i, over_q, high_q, high_last_q;
  logic [255:0] high_data_q;
  logic [31:0] high_keep_q;
  logic [1:0] words_q;
  logic [7:0] next_q;
  assign tvalid_i = rst_ni && want_i && !high_q && !over_q;
  `MRC_GIVEN(keep_from_below, tkeep_i[0] && (tkeep_i & (tkeep_i + 64'd1)) == '0
             && (tlast_i || tkeep_i[63]))

  logic reset_o, side_tvalid_o, tlast_o, tuser_o, mrc_o, off_o, stray_o;
  logic [0:0] tvalid_o;
  logic [511:0] tdata_o;
  logic [63:0] tkeep_o;
  mrc_fpga_classify #(
      .NumPlanes(1)
  ) dut (
      .mac_i('0),
      .ip_i('0),
      .usid_i('0),
      .udp_port_i(udp_port_q),
      .udp_only_i(udp_only_q),
      .promisc_i(1'b1),
      .side_i(1'b1),
      .reset_i(1'b0),
      .*
  );

  logic desc_valid_o, verdict_ready_o, line_valid_o, lane_q, side_q;
  rxdesc_t desc_o;
  line_t line_o;
  rx_lane_pulses_t pulses_o;
  mrc_rx_lane #(
      .PortBytes(32),
      .HostBytes(64),
      .LaneFifo(2),
      .RxBufWords(512)
  ) u_lane (
      .clk_i,
      .rst_ni,
      .bug_i('0),
      .csr_i(csr),
      .tick_i('0),
      .rx_tvalid_i(tvalid_i || high_q),
      .rx_tdata_i(high_q ? high_data_q : tdata_i[255:0]),
      .rx_tkeep_i(high_q ? high_keep_q : tkeep_i[31:0]),
      .rx_tlast_i(high_q ? high_last_q : tlast_i && !tkeep_i[32]),
      .rx_tuser_i(1'b0),
      .desc_valid_o,
      .desc_ready_i(1'b0),
      .desc_o,
      .verdict_valid_i(1'b0),
      .verdict_ready_o,
      .verdict_i('0),
      .line_valid_o,
      .line_ready_i(1'b0),
      .line_o
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {over_q, high_q, lane_q, side_q} <= '0;
      words_q <= '0;
    end else begin
      over_q <= over_q || (tvalid_i && tlast_i);
      high_q <= tvalid_i && tkeep_i[32];
      lane_q <= lane_q || tvalid_o[0];
      side_q <= side_q || side_tvalid_o;
      words_q <= (words_q == 2'd3) ? words_q : words_q + 2'(tvalid_i);
    end
  end
  always_ff @(posedge clk_i) begin
    high_data_q <= tdata_i[511:256];
    high_keep_q <= tkeep_i[63:32];
    high_last_q <= tlast_i;
    if (tvalid_i && words_q == '0) begin
      next_q <= tdata_i[8*20+:8];
    end
  end

  logic foreign;
  assign foreign = desc_o.err == RxErrEncap || desc_o.err == RxErrUdp;
  `MRC_PROVE(packets_to_lane, !(desc_valid_o && desc_o.err == RxErrNone) || (lane_q && !side_q))
  `MRC_PROVE(foreign_aside, !(desc_valid_o && foreign) || (side_q && !lane_q))
  `MRC_PROVE(one_way, !desc_valid_o || lane_q != side_q)
  `MRC_COVER(packets_to_lane, desc_valid_o && desc_o.err == RxErrNone && next_q == 8'd43
             && words_q == 2'd3)
  `MRC_COVER(plain, desc_valid_o && desc_o.err == RxErrNone && next_q == 8'd17 && udp_only_q
             && udp_port_q == 16'd4242)
  `MRC_COVER(outer, desc_valid_o && desc_o.err == RxErrNone && next_q == 8'd41
             && desc_o.trim == TrimTrimmed)
  `MRC_COVER(foreign_aside, desc_valid_o && desc_o.err == RxErrUdp && next_q == 8'd43)
  `MRC_COVER(one_way, desc_valid_o && desc_o.err == RxErrLength && lane_q)
endmodule
