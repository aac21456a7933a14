// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_wr_cut, Packed, with lines as the contract says: per plane the lines of a packet follow
/// each other, all but its last full. A byte's data are its address. Of each plane it is kept how
/// far its packet has been handed on; so every byte is there once if each beat has the bytes behind
/// that, and the last one reaches the packet's end.
module formal_fpga_wr_pack #(
    parameter int unsigned WordBytes = 4,
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned MaxBeats = 3,
    parameter int unsigned PageBits = 4,
    localparam int unsigned AddrW = 6,
    localparam int unsigned OffW = 2,
    localparam int unsigned WordW = AddrW - OffW,
    localparam int unsigned BeatW = 2,
    localparam int unsigned PlaneW = 1
) (
    input logic clk_i,
    input logic line_valid_i,
    input logic [AddrW-1:0] addr_i,
    input logic [OffW:0] len_i,
    input logic line_last_i,
    input logic [PlaneW-1:0] line_plane_i,
    input logic [NumPlanes-1:0] beat_room_i,
    input logic burst_room_i
);
  `MRC_RESET

  logic line_ready_o, burst_push_o, burst_end_o;
  logic [AddrW-1:0] line_addr_i;
  logic [OffW:0] line_len_i, burst_tail_o;
  logic [WordBytes*8-1:0] line_data_i, beat_data_o;
  logic [NumPlanes-1:0] beat_push_o;
  logic [WordBytes-1:0] beat_strb_o;
  logic [WordW-1:0] burst_word_o;
  logic [BeatW-1:0] burst_beats_o;
  logic [OffW-1:0] burst_off_o;

  mrc_fpga_wr_cut #(
      .WordBytes(WordBytes),
      .NumPlanes(NumPlanes),
      .MaxBeats(MaxBeats),
      .AddrW(AddrW),
      .PageBits(PageBits),
      .Packed(1'b1)
  ) dut (
      .*
  );

  // Of each plane: a packet has begun, and goes on there; so far it was handed on; a piece has
  // begun there and has so many beats. begun_q: the line on offer has given a beat, and is not
  // taken.
  logic [NumPlanes-1:0] inside_q, open_q;
  logic [NumPlanes-1:0][AddrW-1:0] next_q, at_q, start_q;
  logic [NumPlanes-1:0][BeatW-1:0] beats_q;
  logic begun_q, held_q, push;
  logic [AddrW+OffW+1+PlaneW:0] held_line_q, line;
  logic [AddrW-1:0] at, start, left, last_byte;
  logic [OffW:0] n;

  assign line_addr_i = inside_q[line_plane_i] ? next_q[line_plane_i] : addr_i;
  assign line_len_i = line_last_i ? len_i : (OffW + 1)'(WordBytes);
  assign line = {line_addr_i, line_len_i, line_last_i, line_plane_i};
  for (genvar i = 0; i < WordBytes; i++) begin : gen_byte
    logic [AddrW-1:0] here;
    assign here = line_addr_i + AddrW'(i);
    assign line_data_i[8*i+:8] = 8'(here);
  end

  assign push = beat_push_o != '0;
  assign at = (inside_q[line_plane_i] || begun_q) ? at_q[line_plane_i] : line_addr_i;
  assign start = open_q[line_plane_i] ? start_q[line_plane_i] : at;
  always_comb begin
    n = '0;
    for (int unsigned i = 0; i < WordBytes; i++) n = n + (OffW + 1)'(beat_strb_o[i]);
  end
  // Bytes that came and were not handed on, behind this beat.
  assign left = line_addr_i + AddrW'(line_len_i) - at - AddrW'(n);
  assign last_byte = at + AddrW'(n) - AddrW'(1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {inside_q, open_q, next_q, at_q, start_q, beats_q, begun_q, held_q} <= '0;
    end else begin
      held_q <= line_valid_i && !line_ready_o;
      begun_q <= (begun_q || push) && !line_ready_o;
      if (line_valid_i && line_ready_o) begin
        inside_q[line_plane_i] <= !line_last_i;
        next_q[line_plane_i] <= line_addr_i + AddrW'(WordBytes);
      end
      if (push) begin
        at_q[line_plane_i] <= at + AddrW'(n);
        start_q[line_plane_i] <= start;
        open_q[line_plane_i] <= !burst_push_o;
        beats_q[line_plane_i] <= burst_push_o ? '0 : beats_q[line_plane_i] + BeatW'(1);
      end
    end
  end
  always_ff @(posedge clk_i) held_line_q <= line;

  `MRC_GIVEN(stays, !held_q || (line_valid_i && line == held_line_q))
  `MRC_GIVEN(has_bytes, len_i != '0 && len_i <= (OffW + 1)'(WordBytes))

  logic [WordBytes-1:0] right;
  for (genvar i = 0; i < WordBytes; i++) begin : gen_right
    logic [AddrW-1:0] here;
    assign here = at + AddrW'(i);
    assign right[i] = !beat_strb_o[i] || beat_data_o[8*i+:8] == 8'(here);
  end

  `MRC_PROVE(packed_low, !push || (beat_strb_o[0] && (beat_strb_o & (beat_strb_o + 1'b1)) == '0))
  `MRC_PROVE(follows, !push || right == '1)
  `MRC_PROVE(full, !push || burst_push_o || n == (OffW + 1)'(WordBytes))
  `MRC_PROVE(all_of_it, !(push && burst_push_o && burst_end_o) || left == '0)
  `MRC_PROVE(not_beyond, !push || left < AddrW'(WordBytes))
  `MRC_PROVE(piece_is_its_beats, !burst_push_o || (push && {burst_word_o, burst_off_o} == start
      && burst_beats_o == beats_q[line_plane_i] && burst_tail_o == n))
  `MRC_PROVE(in_a_page, !push || start[AddrW-1:PageBits] == last_byte[AddrW-1:PageBits])
  `MRC_PROVE(one_plane, !push || beat_push_o == (NumPlanes'(1) << line_plane_i))
  `MRC_PROVE(with_room, (beat_push_o & ~beat_room_i) == '0 && (!burst_push_o || burst_room_i))
  `MRC_PROVE(bounded, 32'(beats_q[line_plane_i]) < MaxBeats)
  `MRC_PROVE(ends, (line_valid_i && line_ready_o && line_last_i) == (burst_push_o && burst_end_o))
  `MRC_COVER(packed_low, push && n == 3'd2 && !burst_end_o)
  `MRC_COVER(follows, push && begun_q && inside_q[line_plane_i] && n == 3'd2)
  `MRC_COVER(all_of_it, push && burst_end_o && at[OffW-1:0] == '0 && line_addr_i[OffW-1:0] == 2'd3)
  `MRC_COVER(piece_is_its_beats, burst_push_o && !burst_end_o && burst_beats_o == 2'd2
      && burst_off_o == 2'd1)
  `MRC_COVER(in_a_page, push && n == 3'd1 && !burst_end_o && beats_q[line_plane_i] != '0)
  `MRC_COVER(one_plane, push && line_plane_i == 1'b1 && inside_q == '1)
  `MRC_COVER(bounded, burst_push_o && !burst_end_o && burst_beats_o == 2'd2)
endmodule
