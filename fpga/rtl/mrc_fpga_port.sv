// SPDX-License-Identifier: Apache-2.0

/// One port of a board: a MAC with two clocks on one side, the lanes of its planes and a side port
/// for all other frames on the other. See docs/design/boards/classify.md. Lanes are in the MAC's
/// clocks, registers, side port and counters in clk_i. Only lanes of Planes are looked at, or given
/// words.
module mrc_fpga_port #(
    parameter int unsigned NumPlanes = 2,
    parameter logic [NumPlanes-1:0] Planes = '1,
    parameter int unsigned MaxWords = 70,
    parameter int unsigned SideRxDepth = 256,
    parameter int unsigned SideTxDepth = 256,
    parameter int unsigned WaitCycles = 2500,
    localparam int unsigned WordBytes = 64
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [47:0] mac_i,
    input logic [NumPlanes-1:0][127:0] ip_i,
    input logic [NumPlanes-1:0][47:0] usid_i,
    input logic [15:0] udp_port_i,
    input logic udp_only_i,
    input logic promisc_i,
    input logic side_i,
    output logic [12:0][31:0] counts_o,
    output logic side_rx_tvalid_o,
    input logic side_rx_tready_i,
    output logic [WordBytes*8-1:0] side_rx_tdata_o,
    output logic [WordBytes-1:0] side_rx_tkeep_o,
    output logic side_rx_tlast_o,
    output logic side_rx_tuser_o,
    input logic side_tx_tvalid_i,
    output logic side_tx_tready_o,
    input logic [WordBytes*8-1:0] side_tx_tdata_i,
    input logic [WordBytes-1:0] side_tx_tkeep_i,
    input logic side_tx_tlast_i,

    input logic link_up_i,
    input logic rx_clk_i,
    input logic rx_reset_i,
    input logic s_tvalid_i,
    input logic [WordBytes*8-1:0] s_tdata_i,
    input logic [WordBytes-1:0] s_tkeep_i,
    input logic s_tlast_i,
    input logic s_tuser_i,
    input logic tx_clk_i,
    input logic tx_reset_i,
    output logic m_tvalid_o,
    input logic m_tready_i,
    output logic [WordBytes*8-1:0] m_tdata_o,
    output logic [WordBytes-1:0] m_tkeep_o,
    output logic m_tlast_o,
    output logic m_tuser_o,

    output logic lane_rx_reset_o,
    output logic [NumPlanes-1:0] lane_rx_tvalid_o,
    output logic [WordBytes*8-1:0] lane_rx_tdata_o,
    output logic [WordBytes-1:0] lane_rx_tkeep_o,
    output logic lane_rx_tlast_o,
    output logic lane_rx_tuser_o,
    input logic [NumPlanes-1:0] lane_tx_tvalid_i,
    output logic [NumPlanes-1:0] lane_tx_tready_o,
    input logic [NumPlanes-1:0][WordBytes*8-1:0] lane_tx_tdata_i,
    input logic [NumPlanes-1:0][WordBytes-1:0] lane_tx_tkeep_i,
    input logic [NumPlanes-1:0] lane_tx_tlast_i,
    input logic [NumPlanes-1:0] lane_tx_tuser_i
);

  localparam int unsigned LenW = $clog2(WordBytes);
  localparam int unsigned CntW = $clog2(SideRxDepth) + 1;

  if (SideRxDepth < MaxWords) begin : gen_bad_depth
    $error("%m: SideRxDepth must take a largest frame, MaxWords words");
  end

  logic rx_rst_n, tx_rst_n, link_up;

  mrc_fpga_reset u_rx_reset (
      .clk_i(rx_clk_i),
      .rst_ni,
      .rst_no(rx_rst_n)
  );
  mrc_fpga_reset u_tx_reset (
      .clk_i(tx_clk_i),
      .rst_ni,
      .rst_no(tx_rst_n)
  );
  mrc_fpga_sync u_link (
      .clk_i,
      .rst_ni,
      .d_i(link_up_i),
      .q_o(link_up)
  );

  // ---- registers: as they stood in one cycle of clk_i, as often as there is room

  typedef struct packed {
    logic [47:0] mac;
    logic [NumPlanes-1:0][127:0] ip;
    logic [NumPlanes-1:0][47:0] usid;
    logic [15:0] udp_port;
    logic udp_only;
    logic promisc;
    logic side;
  } config_t;
  config_t config_now, config_come, config_q;
  logic config_valid, unused_config_last;
  logic [2:0] config_free;

  assign config_now = '{
      mac: mac_i,
      ip: ip_i,
      usid: usid_i,
      udp_port: udp_port_i,
      udp_only: udp_only_i,
      promisc: promisc_i,
      side: side_i
  };

  mrc_fpga_afifo #(
      .Width($bits(config_t)),
      .Depth(4)
  ) u_config (
      .wclk_i(clk_i),
      .wrst_ni(rst_ni),
      .push_i(config_free != '0),
      .last_i(1'b1),
      .data_i(config_now),
      .free_o(config_free),
      .rclk_i(rx_clk_i),
      .rrst_ni(rx_rst_n),
      .valid_o(config_valid),
      .ready_i(1'b1),
      .last_o(unused_config_last),
      .data_o(config_come)
  );

  always_ff @(posedge rx_clk_i or negedge rx_rst_n) begin
    if (!rx_rst_n) begin
      config_q <= '0;
    end else if (config_valid) begin
      config_q <= config_come;
    end
  end

  // ---- reception

  logic side_valid, side_push, side_in_err, side_in_last, side_has, side_ready, side_err, side_last;
  logic [WordBytes*8-1:0] side_in_data, side_data;
  logic [LenW-1:0] side_in_end, side_end;
  logic [CntW-1:0] side_free;
  logic [7:0] events;
  logic [1:0] unused_side_events;

  mrc_fpga_classify #(
      .NumPlanes(NumPlanes),
      .Planes(Planes)
  ) u_classify (
      .clk_i(rx_clk_i),
      .rst_ni(rx_rst_n),
      .mac_i(config_q.mac),
      .ip_i(config_q.ip),
      .usid_i(config_q.usid),
      .udp_port_i(config_q.udp_port),
      .udp_only_i(config_q.udp_only),
      .promisc_i(config_q.promisc),
      .side_i(config_q.side),
      .reset_i(rx_reset_i),
      .tvalid_i(s_tvalid_i),
      .tdata_i(s_tdata_i),
      .tkeep_i(s_tkeep_i),
      .tlast_i(s_tlast_i),
      .tuser_i(s_tuser_i),
      .reset_o(lane_rx_reset_o),
      .tvalid_o(lane_rx_tvalid_o),
      .side_tvalid_o(side_valid),
      .tdata_o(lane_rx_tdata_o),
      .tkeep_o(lane_rx_tkeep_o),
      .tlast_o(lane_rx_tlast_o),
      .tuser_o(lane_rx_tuser_o),
      .mrc_o(events[0]),
      .off_o(events[1]),
      .stray_o(events[2])
  );

  mrc_fpga_rx_in #(
      .WordBytes(WordBytes),
      .MaxWords(MaxWords),
      .CntW(CntW)
  ) u_side_in (
      .clk_i(rx_clk_i),
      .rst_ni(rx_rst_n),
      .mac_reset_i(lane_rx_reset_o),
      .valid_i(side_valid),
      .data_i(lane_rx_tdata_o),
      .keep_i(lane_rx_tkeep_o),
      .last_i(lane_rx_tlast_o),
      .user_i(lane_rx_tuser_o),
      .free_i(side_free),
      .push_o(side_push),
      .data_o(side_in_data),
      .end_o(side_in_end),
      .err_o(side_in_err),
      .last_o(side_in_last),
      .frame_o(events[3]),
      .full_o(events[4]),
      .long_o(events[5]),
      .cut_o(events[6]),
      .bad_o(events[7])
  );

  mrc_fpga_afifo #(
      .Width(WordBytes * 8 + LenW + 1),
      .Depth(SideRxDepth),
      .ByFrames(1'b1)
  ) u_side_fifo (
      .wclk_i(rx_clk_i),
      .wrst_ni(rx_rst_n),
      .push_i(side_push),
      .last_i(side_in_last),
      .data_i({side_in_err, side_in_end, side_in_data}),
      .free_o(side_free),
      .rclk_i(clk_i),
      .rrst_ni(rst_ni),
      .valid_o(side_has),
      .ready_i(side_ready),
      .last_o(side_last),
      .data_o({side_err, side_end, side_data})
  );

  mrc_fpga_tx_out #(
      .WordBytes(WordBytes)
  ) u_side_out (
      .clk_i,
      .rst_ni,
      .mac_reset_i(1'b0),
      .valid_i(side_has),
      .ready_o(side_ready),
      .data_i(side_data),
      .end_i(side_end),
      .err_i(side_err),
      .last_i(side_last),
      .tvalid_o(side_rx_tvalid_o),
      .tready_i(side_rx_tready_i),
      .tdata_o(side_rx_tdata_o),
      .tkeep_o(side_rx_tkeep_o),
      .tlast_o(side_rx_tlast_o),
      .tuser_o(side_rx_tuser_o),
      .cut_o(unused_side_events[0]),
      .flush_o(unused_side_events[1])
  );

  for (genvar i = 0; i < 8; i++) begin : gen_count
    mrc_fpga_events u_count (
        .src_clk_i(rx_clk_i),
        .src_rst_ni(rx_rst_n),
        .event_i(events[i]),
        .dst_clk_i(clk_i),
        .dst_rst_ni(rst_ni),
        .count_o(counts_o[i])
    );
  end

  // ---- transmission: the streams of the planes of this port in rising order, then the side port

  function automatic int unsigned planes_below(int unsigned plane);
    planes_below = 0;
    for (int unsigned p = 0; p < plane; p++) begin
      planes_below = planes_below + 32'(Planes[p]);
    end
  endfunction
  localparam int unsigned NumOwn = planes_below(NumPlanes);
  logic [NumOwn:0] tvalid, tready, tlast, tuser;
  logic [NumOwn:0][WordBytes*8-1:0] tdata;
  logic [NumOwn:0][WordBytes-1:0] tkeep;

  for (genvar p = 0; p < NumPlanes; p++) begin : gen_plane
    if (Planes[p]) begin : gen_own
      localparam int unsigned Of = planes_below(p);
      assign tvalid[Of] = lane_tx_tvalid_i[p];
      assign tdata[Of] = lane_tx_tdata_i[p];
      assign tkeep[Of] = lane_tx_tkeep_i[p];
      assign tlast[Of] = lane_tx_tlast_i[p];
      assign tuser[Of] = lane_tx_tuser_i[p];
      assign lane_tx_tready_o[p] = tready[Of];
    end else begin : gen_other
      logic unused_lane;
      assign unused_lane = ^{lane_tx_tvalid_i[p], lane_tx_tdata_i[p], lane_tx_tkeep_i[p],
                             lane_tx_tlast_i[p], lane_tx_tuser_i[p]};
      assign lane_tx_tready_o[p] = 1'b0;
    end
  end

  // The MAC is never shown a hole: a word that is not the last counts as full.
  mrc_fpga_tx #(
      .WordBytes(WordBytes),
      .PortBytes(WordBytes),
      .MaxWords(MaxWords),
      .Depth(SideTxDepth),
      .WaitCycles(WaitCycles)
  ) u_side_tx (
      .clk_i,
      .rst_ni,
      .up_i(link_up),
      .tvalid_i(side_tx_tvalid_i),
      .tready_o(side_tx_tready_o),
      .tdata_i(side_tx_tdata_i),
      .tkeep_i(side_tx_tlast_i ? side_tx_tkeep_i : '1),
      .tlast_i(side_tx_tlast_i),
      .mac_clk_i(tx_clk_i),
      .mac_rst_ni(tx_rst_n),
      .mac_reset_i(tx_reset_i),
      .m_tvalid_o(tvalid[NumOwn]),
      .m_tready_i(tready[NumOwn]),
      .m_tdata_o(tdata[NumOwn]),
      .m_tkeep_o(tkeep[NumOwn]),
      .m_tlast_o(tlast[NumOwn]),
      .m_tuser_o(tuser[NumOwn]),
      .cnt_frames_o(counts_o[8]),
      .cnt_drop_o(counts_o[9]),
      .cnt_long_o(counts_o[10]),
      .cnt_cut_o(counts_o[11]),
      .cnt_flush_o(counts_o[12])
  );

  mrc_fpga_merge #(
      .NumIn(NumOwn + 1),
      .WordBytes(WordBytes)
  ) u_merge (
      .clk_i(tx_clk_i),
      .rst_ni(tx_rst_n),
      .mac_reset_i(tx_reset_i),
      .tvalid_i(tvalid),
      .tready_o(tready),
      .tdata_i(tdata),
      .tkeep_i(tkeep),
      .tlast_i(tlast),
      .tuser_i(tuser),
      .m_tvalid_o,
      .m_tready_i,
      .m_tdata_o,
      .m_tkeep_o,
      .m_tlast_o,
      .m_tuser_o
  );

endmodule
