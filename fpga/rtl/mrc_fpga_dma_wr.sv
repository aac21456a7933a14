// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Host writes by descriptor and stream: lines of packets are gathered per plane and written by
/// pieces, one descriptor each, whose statuses come in any order. take_o says that a packet's last
/// line was taken, done_o that all of the oldest such packet is answered, for mrc_fpga_gate.
/// Latency: a piece is offered two cycles after its last line came to the head of the input; done_o
/// one cycle after the status. Throughput: a line per cycle, but for one cycle at the end of a
/// packet that has one beat more than lines. It sets no time limit. Contract:
/// docs/design/boards/host_b.md.
module mrc_fpga_dma_wr #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned BeatDepth = 128,
    parameter int unsigned MaxBeats = 64,
    parameter int unsigned PieceDepth = 16,
    parameter int unsigned MaxDescs = 16,
    parameter int unsigned LenW = 28,
    parameter int unsigned AddrW = 64,
    parameter int unsigned PageBits = 12,
    localparam int unsigned QpW = 19,  // qp_index_t
    localparam int unsigned DataW = WordBytes * 8,
    localparam int unsigned IdW = $clog2(MaxDescs)
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
    // No piece is inside, and no status is awaited; lines of a packet without an end may be.
    output logic idle_o,

    output logic desc_valid_o,
    input logic desc_ready_i,
    output logic [AddrW-1:0] desc_addr_o,
    output logic [LenW-1:0] desc_len_o,
    output logic [IdW-1:0] desc_id_o,
    // The piece ends its packet.
    output logic desc_last_o,
    output logic data_valid_o,
    input logic data_ready_i,
    output logic [DataW-1:0] data_o,
    output logic [WordBytes-1:0] data_keep_o,
    output logic data_last_o,
    input logic status_valid_i,
    input logic [IdW-1:0] status_id_i,
    input logic status_err_i
);

  localparam int unsigned OffW = $clog2(WordBytes);
  localparam int unsigned WordW = AddrW - OffW;
  localparam int unsigned BeatW = (MaxBeats > 1) ? $clog2(MaxBeats) : 1;
  localparam int unsigned PlaneW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1;
  localparam int unsigned PieceW = $clog2(MaxBeats * WordBytes + 1);

  if (LenW < PieceW) begin : gen_bad_length
    $error("%m: LenW is too small for a piece of MaxBeats beats");
  end

  // What mrc_fpga_wr_out hands on as a burst's address.
  typedef struct packed {
    logic [AddrW-1:0] addr;
    logic [PieceW-1:0] len;
    logic last;
  } piece_t;

  piece_t piece, desc;
  logic in_empty, out_idle, piece_push, piece_room, piece_end, issue;
  logic turn_valid, turn_err, turn_take, turn_room, unrequested;
  logic [NumPlanes-1:0] beat_valid, beat_pop;
  logic [NumPlanes-1:0][DataW-1:0] head_data;
  logic [NumPlanes-1:0][WordBytes-1:0] head_keep;
  logic [WordW-1:0] piece_word;
  logic [BeatW-1:0] piece_beats;
  logic [PlaneW-1:0] piece_plane;
  logic [QpW-1:0] piece_qp;
  logic [OffW-1:0] piece_off, desc_zeros;
  logic [OffW:0] piece_tail;
  logic [IdW-1:0] unused_turn;
  logic [7:0] unused_len;

  mrc_fpga_wr_in #(
      .WordBytes(WordBytes),
      .NumPlanes(NumPlanes),
      .BeatDepth(BeatDepth),
      .MaxBeats(MaxBeats),
      .AddrW(AddrW),
      .QpW(QpW),
      .PageBits(PageBits),
      .Packed(1'b1)
  ) u_in (
      .empty_o(in_empty),
      .burst_push_o(piece_push),
      .burst_room_i(piece_room),
      .burst_word_o(piece_word),
      .burst_beats_o(piece_beats),
      .burst_end_o(piece_end),
      .burst_plane_o(piece_plane),
      .burst_qp_o(piece_qp),
      .burst_off_o(piece_off),
      .burst_tail_o(piece_tail),
      .beat_valid_o(beat_valid),
      .beat_pop_i(beat_pop),
      .beat_data_o(head_data),
      .beat_strb_o(head_keep),
      .*
  );

  assign piece.addr = {piece_word, piece_off};
  assign piece.len = (PieceW'(piece_beats) << OffW) + PieceW'(piece_tail);
  assign piece.last = piece_end;

  mrc_fpga_wr_out #(
      .WordBytes(WordBytes),
      .NumPlanes(NumPlanes),
      .MaxBeats(MaxBeats),
      .AddrW($bits(piece_t) + OffW),
      .QpW(QpW),
      .BurstDepth(PieceDepth),
      .MaxBursts(MaxDescs)
  ) u_out (
      .clk_i,
      .rst_ni,
      .burst_push_i(piece_push),
      .burst_room_o(piece_room),
      .burst_word_i(piece),
      .burst_beats_i(piece_beats),
      .burst_end_i(piece_end),
      .burst_plane_i(piece_plane),
      .burst_qp_i(piece_qp),
      .beat_valid_i(beat_valid),
      .beat_pop_o(beat_pop),
      .beat_data_i(head_data),
      .beat_strb_i(head_keep),
      .awvalid_o(desc_valid_o),
      .awready_i(desc_ready_i),
      .awaddr_o({desc, desc_zeros}),
      .awlen_o(unused_len),
      .wvalid_o(data_valid_o),
      .wready_i(data_ready_i),
      .wdata_o(data_o),
      .wstrb_o(data_keep_o),
      .wlast_o(data_last_o),
      .bvalid_i(turn_valid),
      .bready_o(turn_take),
      .bresp_i({turn_err, 1'b0}),
      .done_o,
      .fail_o,
      .fail_qp_o,
      .stray_o(unrequested),
      .idle_o(out_idle)
  );

  assign desc_addr_o = desc.addr;
  assign desc_len_o = LenW'(desc.len);
  assign desc_last_o = desc.last;
  assign issue = desc_valid_o && desc_ready_i;
  // A number that is open is of a piece that is owed its status.
  assign idle_o = out_idle && in_empty;

  mrc_fpga_in_turn #(
      .N(MaxDescs)
  ) u_turns (
      .clk_i,
      .rst_ni,
      .issue_i(issue),
      .room_o(turn_room),
      .id_o(desc_id_o),
      .came_i(status_valid_i),
      .came_id_i(status_id_i),
      .came_err_i(status_err_i),
      .stray_o,
      .turn_valid_o(turn_valid),
      .turn_id_o(unused_turn),
      .turn_err_o(turn_err),
      .take_i(turn_valid && turn_take)
  );

  logic unused_bits;
  assign unused_bits = ^{desc_zeros, turn_room, unrequested, unused_turn, unused_len};

  `MRC_NEVER_FULL(Turns, issue, turn_room)
  `MRC_ASSERT(TurnsAreOwed, !unrequested, "a status came in its turn, and no piece is owed one")

endmodule
