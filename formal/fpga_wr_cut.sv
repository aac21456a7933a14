// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_wr_cut with lines as the contract says: per plane the lines of a packet follow each
/// other, all but its last full. A byte's data are its address, so that it says where it belongs;
/// one address (at_i, always the same) is followed through packets.
module formal_fpga_wr_cut #(
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
    input logic burst_room_i,
    input logic [AddrW-1:0] at_i
);
  `MRC_RESET

  logic line_ready_o, burst_push_o, burst_end_o;
  logic [AddrW-1:0] line_addr_i;
  logic [OffW:0] line_len_i, burst_tail_o;
  logic [OffW-1:0] burst_off_o;
  logic [WordBytes*8-1:0] line_data_i, beat_data_o;
  logic [NumPlanes-1:0] beat_push_o;
  logic [WordBytes-1:0] beat_strb_o;
  logic [WordW-1:0] burst_word_o;
  logic [BeatW-1:0] burst_beats_o;

  mrc_fpga_wr_cut #(
      .WordBytes(WordBytes),
      .NumPlanes(NumPlanes),
      .MaxBeats(MaxBeats),
      .AddrW(AddrW),
      .PageBits(PageBits)
  ) dut (
      .*
  );

  // Of each plane: a packet has begun, and goes on there; a burst has begun at a word and has so
  // many beats; the followed byte is part of the packet so far, and has been written so often.
  logic [NumPlanes-1:0] inside_q, want_q, open_q;
  logic [NumPlanes-1:0][AddrW-1:0] next_q;
  logic [NumPlanes-1:0][WordW-1:0] first_q;
  logic [NumPlanes-1:0][BeatW-1:0] beats_q;
  logic [NumPlanes-1:0][1:0] wrote_q;
  // begun_q: the first beat of the line on offer was pushed, and the line is not taken.
  logic begun_q;
  logic [WordW-1:0] word;
  logic push, held_q, in_line, in_beat, want;
  logic [1:0] wrote;
  logic [AddrW+OffW+1+PlaneW:0] held_line_q, line;
  logic [AddrW-1:0] at_q;

  assign line_addr_i = inside_q[line_plane_i] ? next_q[line_plane_i] : addr_i;
  assign line_len_i = line_last_i ? len_i : (OffW + 1)'(WordBytes);
  assign line = {line_addr_i, line_len_i, line_last_i, line_plane_i};
  for (genvar i = 0; i < WordBytes; i++) begin : gen_byte
    assign line_data_i[8*i+:8] = 8'(line_addr_i + AddrW'(i));
  end

  assign push = beat_push_o != '0;
  assign word = line_addr_i[AddrW-1:OffW] + WordW'(begun_q);
  assign in_line = at_i - line_addr_i < AddrW'(line_len_i);
  assign in_beat = push && at_i[AddrW-1:OffW] == word && beat_strb_o[at_i[OffW-1:0]];
  assign want = (inside_q[line_plane_i] && want_q[line_plane_i]) || in_line;
  assign wrote = ((inside_q[line_plane_i] || begun_q) ? wrote_q[line_plane_i] : 2'd0)
      + 2'(in_beat);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {inside_q, want_q, open_q, next_q, first_q, beats_q, wrote_q} <= '0;
      {held_q, begun_q} <= '0;
    end else begin
      held_q <= line_valid_i && !line_ready_o;
      begun_q <= (begun_q || push) && !line_ready_o;
      if (line_valid_i && line_ready_o) begin
        inside_q[line_plane_i] <= !line_last_i;
        next_q[line_plane_i] <= line_addr_i + AddrW'(WordBytes);
        want_q[line_plane_i] <= want;
      end
      if (push) begin
        wrote_q[line_plane_i] <= wrote;
        open_q[line_plane_i] <= !burst_push_o;
        beats_q[line_plane_i] <= burst_push_o ? '0 : beats_q[line_plane_i] + BeatW'(1);
        if (!open_q[line_plane_i]) first_q[line_plane_i] <= word;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    held_line_q <= line;
    at_q <= at_i;
  end

  `MRC_GIVEN(stays, !held_q || (line_valid_i && line == held_line_q))
  `MRC_GIVEN(has_bytes, len_i != '0 && len_i <= (OffW + 1)'(WordBytes))
  `MRC_GIVEN(same_at, !rst_ni || at_i == at_q)
  // A packet is no longer than the address space but a word.
  logic [NumPlanes-1:0][2:0] lines_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lines_q <= '0;
    end else if (line_valid_i && line_ready_o) begin
      lines_q[line_plane_i] <= line_last_i ? '0 : lines_q[line_plane_i] + 3'd1;
    end
  end
  `MRC_GIVEN(short, lines_q[line_plane_i] < 3'd6 || line_last_i)

  logic [AddrW-1:0] beat_at;
  assign beat_at = {word, at_i[OffW-1:0]};
  logic [WordW-1:0] first;
  assign first = open_q[line_plane_i] ? first_q[line_plane_i] : word;

  logic [WordBytes*8-1:0] shifted;
  assign shifted = beat_data_o >> {at_i[OffW-1:0], 3'd0};

  `MRC_PROVE(in_place, !(push && beat_strb_o[at_i[OffW-1:0]]) || shifted[AddrW-1:0] == beat_at)
  `MRC_PROVE(written_once, !(push && burst_push_o && burst_end_o) || wrote == 2'(want))
  `MRC_PROVE(nothing_else, !in_beat || want)
  `MRC_PROVE(one_plane, !push || beat_push_o == (NumPlanes'(1) << line_plane_i))
  `MRC_PROVE(with_room, (beat_push_o & ~beat_room_i) == '0 && (!burst_push_o || burst_room_i))
  `MRC_PROVE(burst_is_its_beats, !burst_push_o
      || (push && burst_word_o == first && burst_beats_o == beats_q[line_plane_i]))
  `MRC_PROVE(in_a_page, !burst_push_o
      || first[WordW-1:PageBits-OffW] == word[WordW-1:PageBits-OffW])
  `MRC_PROVE(bounded, 32'(beats_q[line_plane_i]) < MaxBeats)
  `MRC_PROVE(ends, (line_valid_i && line_ready_o && line_last_i) == (burst_push_o && burst_end_o))
  `MRC_COVER(in_place, push && beat_strb_o == '1 && line_addr_i[OffW-1:0] == 2'd3)
  `MRC_COVER(written_once, push && burst_end_o && want && wrote == 2'd1 && lines_q[0] == 3'd3)
  `MRC_COVER(one_plane, push && line_plane_i == 1'b1 && inside_q == '1)
  `MRC_COVER(burst_is_its_beats, burst_push_o && burst_beats_o == 2'd2 && burst_end_o)
  `MRC_COVER(in_a_page, burst_push_o && !burst_end_o && burst_beats_o == 2'd0)
  `MRC_COVER(bounded, burst_push_o && !burst_end_o && burst_beats_o == 2'd2)
endmodule
