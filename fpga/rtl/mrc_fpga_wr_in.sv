// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// What the writers of both skins begin with: lines of packets are taken while there is room, cut
/// into bursts (mrc_fpga_wr_cut), and their beats wait in a FIFO per plane. take_o says that a
/// packet's last line is taken. Latency: one cycle to the cutter, one to a FIFO's head. It does not
/// issue bursts: that is mrc_fpga_wr_out. Contracts: docs/design/boards/host.md,
/// docs/design/boards/host_b.md.
module mrc_fpga_wr_in #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned BeatDepth = 128,
    parameter int unsigned MaxBeats = 64,
    parameter int unsigned AddrW = 64,
    parameter int unsigned QpW = 19,  // qp_index_t
    parameter int unsigned PageBits = 12,
    parameter bit Packed = 0,
    localparam int unsigned OffW = $clog2(WordBytes),
    localparam int unsigned WordW = AddrW - OffW,
    localparam int unsigned BeatW = (MaxBeats > 1) ? $clog2(MaxBeats) : 1,
    localparam int unsigned PlaneW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1,
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
    // No line waits for the cutter.
    output logic empty_o,

    output logic burst_push_o,
    input logic burst_room_i,
    output logic [WordW-1:0] burst_word_o,
    output logic [BeatW-1:0] burst_beats_o,
    output logic burst_end_o,
    output logic [PlaneW-1:0] burst_plane_o,
    output logic [QpW-1:0] burst_qp_o,
    output logic [OffW-1:0] burst_off_o,
    output logic [OffW:0] burst_tail_o,
    // The heads of the planes' queues of beats.
    output logic [NumPlanes-1:0] beat_valid_o,
    input logic [NumPlanes-1:0] beat_pop_i,
    output logic [NumPlanes-1:0][DataW-1:0] beat_data_o,
    output logic [NumPlanes-1:0][WordBytes-1:0] beat_strb_o
);

  if (BeatDepth < MaxBeats) begin : gen_bad_depth
    $error("%m: BeatDepth must be at least MaxBeats, or a burst would wait for room for itself");
  end

  typedef struct packed {
    logic [AddrW-1:0] addr;
    logic [OffW:0] len;
    logic last;
    logic [PlaneW-1:0] plane;
    logic [QpW-1:0] qp;
    logic [DataW-1:0] data;
  } line_t;

  line_t line;
  logic in_room, line_valid, line_ready;
  logic [NumPlanes-1:0] beat_push, beat_room;
  logic [DataW-1:0] beat_data;
  logic [WordBytes-1:0] beat_strb;
  logic [1:0] unused_count;
  logic [NumPlanes-1:0][$clog2(BeatDepth+1)-1:0] unused_counts;

  // Ready depends on registers alone.
  assign host_wr_ready_o = in_room && room_i;
  assign take_o = host_wr_valid_i && host_wr_ready_o && host_wr_last_i;
  assign empty_o = !line_valid;

  mrc_fifo #(
      .T(line_t),
      .Depth(2)
  ) u_line (
      .clk_i,
      .rst_ni,
      .valid_i(host_wr_valid_i && room_i),
      .ready_o(in_room),
      .data_i({host_wr_addr_i, host_wr_len_i[OffW:0], host_wr_last_i, host_wr_plane_i[PlaneW-1:0],
               host_wr_qp_i, host_wr_data_i}),
      .valid_o(line_valid),
      .ready_i(line_ready),
      .data_o(line),
      .count_o(unused_count)
  );

  mrc_fpga_wr_cut #(
      .WordBytes(WordBytes),
      .NumPlanes(NumPlanes),
      .MaxBeats(MaxBeats),
      .AddrW(AddrW),
      .PageBits(PageBits),
      .Packed(Packed)
  ) u_cut (
      .clk_i,
      .rst_ni,
      .line_valid_i(line_valid),
      .line_ready_o(line_ready),
      .line_addr_i(line.addr),
      .line_len_i(line.len),
      .line_last_i(line.last),
      .line_plane_i(line.plane),
      .line_data_i(line.data),
      .beat_room_i(beat_room),
      .burst_room_i,
      .beat_push_o(beat_push),
      .beat_data_o(beat_data),
      .beat_strb_o(beat_strb),
      .burst_push_o,
      .burst_word_o,
      .burst_beats_o,
      .burst_end_o,
      .burst_off_o,
      .burst_tail_o
  );

  assign burst_plane_o = line.plane;
  assign burst_qp_o = line.qp;

  for (genvar p = 0; p < NumPlanes; p++) begin : gen_plane
    mrc_fifo_ram #(
        .Width(DataW + WordBytes),
        .Depth(BeatDepth)
    ) u_beats (
        .clk_i,
        .rst_ni,
        .valid_i(beat_push[p]),
        .ready_o(beat_room[p]),
        .data_i({beat_data, beat_strb}),
        .valid_o(beat_valid_o[p]),
        .ready_i(beat_pop_i[p]),
        .data_o({beat_data_o[p], beat_strb_o[p]}),
        .count_o(unused_counts[p])
    );
  end

  logic unused_bits;
  assign unused_bits = ^{host_wr_len_i, host_wr_plane_i, unused_count, unused_counts};

  `MRC_NEVER_FULL(Beats, beat_push != '0, (beat_push & ~beat_room) == '0)
  `MRC_ASSERT(KnownPlane, !host_wr_valid_i || 32'(host_wr_plane_i) < NumPlanes,
      "a line of a plane that there is not")

endmodule
