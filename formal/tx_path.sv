// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_tx_path while its outputs are taken, lanes have room and no table is written: how long what
/// comes waits, whatever ports do. Two QPs, two planes, two groups, one of which may be backups.
module formal_tx_path
  import mrc_pkg::*;
(
    input logic clk_i,
    input tx_path_csr_t csr_i,
    input logic pkt_valid_i,
    input pkt_t pkt_i,
    input logic fb_valid_i,
    input fb_t fb_i,
    input logic pfb_valid_i,
    input fb_t pfb_i,
    input logic [1:0] lane_room_i,
    input logic [1:0] port_up_i,
    input logic [15:0] tick_i,
    input logic path_ready_i,
    input logic rec_ready_i,
    input logic evev_ready_i,
    input logic bad_ready_i,
    input cfg_t cfg_i
);
  `MRC_RESET

  logic pkt_ready_o, fb_ready_o, pfb_ready_o, path_valid_o, rec_valid_o, evev_valid_o, bad_valid_o;
  logic cfg_ack_o;
  path_t path_o;
  rec_t rec_o;
  evev_t evev_o;
  badev_t bad_o;
  tx_path_pulses_t pulses_o;
  mrc_tx_path #(
      .NumPlanes(2),
      .NumQps(2),
      .EvsPerQp(4),
      .NumProfiles(2),
      .NumDests(2)
  ) dut (
      .bug_i(8'd0),
      .*
  );

  // A table write stands until it is acknowledged.
  logic req_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      req_q <= 1'b0;
    end else begin
      req_q <= cfg_i.req && !cfg_ack_o;
    end
  end
  `MRC_GIVEN(table_stands, !req_q || cfg_i.req)
  // A second copy walks once more.
  `MRC_GIVEN(one_copy, csr_i.one_copy)

  logic runs;
  assign runs = path_ready_i && rec_ready_i && evev_ready_i && bad_ready_i && lane_room_i == 2'b11
      && !cfg_i.req;

  localparam int unsigned MostPkt = 17;
  localparam int unsigned MostFb = 16;
  logic [4:0] pkt_count, fb_count, pfb_count;
  formal_wait #(
      .Most(MostPkt)
  ) u_pkt (
      .clk_i,
      .rst_ni,
      .waits_i(pkt_valid_i && !pkt_ready_o && runs),
      .others_i(1'b0),
      .count_o(pkt_count)
  );
  formal_wait #(
      .Most(MostFb)
  ) u_fb (
      .clk_i,
      .rst_ni,
      .waits_i(fb_valid_i && !fb_ready_o && runs),
      .others_i(1'b0),
      .count_o(fb_count)
  );
  formal_wait #(
      .Most(MostFb)
  ) u_pfb (
      .clk_i,
      .rst_ni,
      .waits_i(pfb_valid_i && !pfb_ready_o && runs),
      .others_i(1'b0),
      .count_o(pfb_count)
  );
  `MRC_PROVE(pkt, pkt_count <= 5'(MostPkt))
  `MRC_COVER(pkt, pkt_count == 5'(MostPkt))
  `MRC_PROVE(fb, fb_count <= 5'(MostFb))
  `MRC_COVER(fb, fb_count == 5'(MostFb))
  `MRC_PROVE(pfb, pfb_count <= 5'(MostFb))
  `MRC_COVER(pfb, pfb_count == 5'(MostFb))
endmodule
