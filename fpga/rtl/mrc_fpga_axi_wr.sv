// SPDX-License-Identifier: Apache-2.0

/// Host writes on AXI4: lines of packets are gathered per plane and written by bursts. take_o says
/// that a packet's last line was taken, done_o that all of the oldest such packet is acknowledged,
/// for mrc_fpga_gate. Latency: a burst is offered two cycles after its last line came to the head
/// of the input. Throughput: a line per cycle, but for one cycle at the end of a packet whose last
/// line spills into one more beat. It sets no time limit. Contract: docs/design/boards/host.md.
module mrc_fpga_axi_wr #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned BeatDepth = 128,
    parameter int unsigned MaxBeats = 64,
    parameter int unsigned BurstDepth = 16,
    parameter int unsigned MaxBursts = 32,
    parameter int unsigned PageBits = 12,
    localparam int unsigned AddrW = 64,
    localparam int unsigned QpW = 19,  // qp_index_t
    localparam int unsigned DataW = WordBytes * 8
) (
    input logic clk_i,
    input logic rst_ni,
    input logic host_wr_valid_i,
    output logic host_wr_ready_o,
    input logic [AddrW-1:0] host_wr_addr_i,
    input logic [7:0] host_wr_len_i,
    input logic host_wr_last_i,
    input logic [3:0] host_wr_plane_i,
    input logic [QpW-1:0] host_wr_qp_i,
    input logic [DataW-1:0] host_wr_data_i,
    input logic room_i,
    output logic take_o,
    output logic done_o,
    output logic fail_o,
    output logic [QpW-1:0] fail_qp_o,
    output logic stray_o,
    // No burst is inside, and no answer is awaited; lines of a packet without an end may be.
    output logic idle_o,

    output logic m_axi_awvalid_o,
    input logic m_axi_awready_i,
    output logic [AddrW-1:0] m_axi_awaddr_o,
    output logic [7:0] m_axi_awlen_o,
    output logic [2:0] m_axi_awsize_o,
    output logic [1:0] m_axi_awburst_o,
    output logic m_axi_wvalid_o,
    input logic m_axi_wready_i,
    output logic [DataW-1:0] m_axi_wdata_o,
    output logic [WordBytes-1:0] m_axi_wstrb_o,
    output logic m_axi_wlast_o,
    input logic m_axi_bvalid_i,
    output logic m_axi_bready_o,
    input logic [1:0] m_axi_bresp_i
);

  localparam int unsigned OffW = $clog2(WordBytes);
  localparam int unsigned WordW = AddrW - OffW;
  localparam int unsigned BeatW = (MaxBeats > 1) ? $clog2(MaxBeats) : 1;
  localparam int unsigned PlaneW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1;

  logic in_empty, out_idle, burst_push, burst_room, burst_end;
  logic [NumPlanes-1:0] beat_valid, beat_pop;
  logic [NumPlanes-1:0][DataW-1:0] head_data;
  logic [NumPlanes-1:0][WordBytes-1:0] head_strb;
  logic [WordW-1:0] burst_word;
  logic [BeatW-1:0] burst_beats;
  logic [PlaneW-1:0] burst_plane;
  logic [QpW-1:0] burst_qp;
  logic [OffW-1:0] unused_off;
  logic [OffW:0] unused_tail;

  mrc_fpga_wr_in #(
      .WordBytes(WordBytes),
      .NumPlanes(NumPlanes),
      .BeatDepth(BeatDepth),
      .MaxBeats(MaxBeats),
      .AddrW(AddrW),
      .QpW(QpW),
      .PageBits(PageBits)
  ) u_in (
      .empty_o(in_empty),
      .burst_push_o(burst_push),
      .burst_room_i(burst_room),
      .burst_word_o(burst_word),
      .burst_beats_o(burst_beats),
      .burst_end_o(burst_end),
      .burst_plane_o(burst_plane),
      .burst_qp_o(burst_qp),
      .burst_off_o(unused_off),
      .burst_tail_o(unused_tail),
      .beat_valid_o(beat_valid),
      .beat_pop_i(beat_pop),
      .beat_data_o(head_data),
      .beat_strb_o(head_strb),
      .*
  );

  mrc_fpga_wr_out #(
      .WordBytes(WordBytes),
      .NumPlanes(NumPlanes),
      .MaxBeats(MaxBeats),
      .AddrW(AddrW),
      .QpW(QpW),
      .BurstDepth(BurstDepth),
      .MaxBursts(MaxBursts)
  ) u_out (
      .clk_i,
      .rst_ni,
      .burst_push_i(burst_push),
      .burst_room_o(burst_room),
      .burst_word_i(burst_word),
      .burst_beats_i(burst_beats),
      .burst_end_i(burst_end),
      .burst_plane_i(burst_plane),
      .burst_qp_i(burst_qp),
      .beat_valid_i(beat_valid),
      .beat_pop_o(beat_pop),
      .beat_data_i(head_data),
      .beat_strb_i(head_strb),
      .awvalid_o(m_axi_awvalid_o),
      .awready_i(m_axi_awready_i),
      .awaddr_o(m_axi_awaddr_o),
      .awlen_o(m_axi_awlen_o),
      .wvalid_o(m_axi_wvalid_o),
      .wready_i(m_axi_wready_i),
      .wdata_o(m_axi_wdata_o),
      .wstrb_o(m_axi_wstrb_o),
      .wlast_o(m_axi_wlast_o),
      .bvalid_i(m_axi_bvalid_i),
      .bready_o(m_axi_bready_o),
      .bresp_i(m_axi_bresp_i),
      .done_o,
      .fail_o,
      .fail_qp_o,
      .stray_o,
      .idle_o(out_idle)
  );

  assign idle_o = out_idle && in_empty;

  assign m_axi_awsize_o = 3'(OffW);
  assign m_axi_awburst_o = 2'b01;

  logic unused_bits;
  assign unused_bits = ^{unused_off, unused_tail};

endmodule
