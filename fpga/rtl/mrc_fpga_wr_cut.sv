// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Lines of packets become beats, and bursts of beats: a beat per cycle. A burst ends with its
/// packet, at a boundary of 2^PageBits bytes, or with MaxBeats beats; burst_o comes with its last
/// beat. Beats are words of memory, with strobes: a line at an odd address leaves bytes for the
/// next line's beat, per plane, or for one more beat at the end of its packet. Packed, they begin
/// with the burst's first byte: they are the lines up to a boundary, and words of memory behind it.
/// No latency: it has no queue of its own. It believes that lines of a packet follow each other.
/// Contract: docs/design/boards/host.md, Packed: docs/design/boards/host_b.md.
module mrc_fpga_wr_cut #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned MaxBeats = 64,
    parameter int unsigned AddrW = 64,
    parameter int unsigned PageBits = 12,
    parameter bit Packed = 0,
    localparam int unsigned OffW = $clog2(WordBytes),
    localparam int unsigned WordW = AddrW - OffW,
    localparam int unsigned BeatW = (MaxBeats > 1) ? $clog2(MaxBeats) : 1,
    localparam int unsigned PlaneW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic line_valid_i,
    output logic line_ready_o,
    input logic [AddrW-1:0] line_addr_i,
    input logic [OffW:0] line_len_i,
    input logic line_last_i,
    input logic [PlaneW-1:0] line_plane_i,
    input logic [WordBytes*8-1:0] line_data_i,
    // Bit p: there is room for a beat of plane p.
    input logic [NumPlanes-1:0] beat_room_i,
    input logic burst_room_i,
    output logic [NumPlanes-1:0] beat_push_o,
    output logic [WordBytes*8-1:0] beat_data_o,
    output logic [WordBytes-1:0] beat_strb_o,
    output logic burst_push_o,
    output logic [WordW-1:0] burst_word_o,
    // Beats but one.
    output logic [BeatW-1:0] burst_beats_o,
    output logic burst_end_o,
    // Packed: the first byte's place in that word, and the bytes of the last beat.
    output logic [OffW-1:0] burst_off_o,
    output logic [OffW:0] burst_tail_o
);

  localparam int unsigned PageW = PageBits - OffW;

  if (WordBytes != 2 ** OffW || WordBytes < 2) begin : gen_bad_word
    $error("%m: WordBytes must be a power of two, at least 2");
  end
  if (PageBits <= OffW || PageBits > AddrW || MaxBeats < 1 || MaxBeats > 64) begin : gen_bad_burst
    $error("%m: PageBits must be above log2 WordBytes, MaxBeats 1 to 64");
  end

  // Of each plane: the bytes of its packet's last line that belong into the next beat; beats of
  // the burst that has begun; a boundary lies behind, and its line reached beyond. more_q: the last
  // line on offer has given its first beat.
  logic [NumPlanes-1:0][WordBytes*8-1:0] rest_q;
  logic [NumPlanes-1:0] rest_valid_q, rest_valid_d, crossed_q, crossed_d;
  logic [NumPlanes-1:0][BeatW-1:0] beats_q, beats_d;
  logic more_q, more_d;

  logic [OffW-1:0] off;
  logic [OffW+1:0] end_at;
  logic [WordBytes*8-1:0] turned, rest;
  logic [WordBytes-1:0] strb;
  logic go, spills, words, page_end, over, take, close, ends, room;
  logic [WordW-1:0] word;
  logic [BeatW-1:0] beats;

  assign off = line_addr_i[OffW-1:0];
  assign end_at = (OffW + 2)'(off) + (OffW + 2)'(line_len_i);
  assign spills = end_at > (OffW + 2)'(WordBytes);
  assign words = !Packed || crossed_q[line_plane_i];
  // The line has bytes that its first beat does not take.
  assign over = spills && (words || page_end);

  // Byte i of the line goes to place i + off of its beat, modulo WordBytes.
  always_comb begin
    turned = line_data_i;
    for (int unsigned b = 0; b < OffW; b++) begin
      if (off[b]) begin
        turned = (turned << (8 << b)) | (turned >> (8 * WordBytes - (8 << b)));
      end
    end
  end

  always_comb begin
    rest = rest_q[0];
    beats = beats_q[0];
    room = beat_room_i[0];
    for (int unsigned p = 1; p < NumPlanes; p++) begin
      if (line_plane_i == PlaneW'(p)) begin
        rest = rest_q[p];
        beats = beats_q[p];
        room = beat_room_i[p];
      end
    end
  end

  always_comb begin
    for (int unsigned i = 0; i < WordBytes; i++) begin
      if (more_q) begin
        strb[i] = (OffW + 2)'(i + WordBytes) < end_at;
      end else if (!words) begin
        strb[i] = (OffW + 1)'(i) < line_len_i
            && (!page_end || (OffW + 2)'(i) + (OffW + 2)'(off) < (OffW + 2)'(WordBytes));
      end else if (OffW'(i) < off) begin
        strb[i] = rest_valid_q[line_plane_i];
      end else begin
        strb[i] = (OffW + 2)'(i) < end_at;
      end
      if (!more_q && !words) begin
        beat_data_o[8*i+:8] = line_data_i[8*i+:8];
      end else begin
        beat_data_o[8*i+:8] = (!more_q && OffW'(i) < off) ? rest[8*i+:8] : turned[8*i+:8];
      end
    end
  end

  assign go = line_valid_i && room && burst_room_i;
  assign take = go && (more_q || !line_last_i || !over);
  assign ends = take && line_last_i;
  assign word = line_addr_i[AddrW-1:OffW] + WordW'(more_q);
  assign page_end = &word[PageW-1:0];
  assign close = ends || page_end || beats == BeatW'(MaxBeats - 1);

  assign line_ready_o = take;
  assign beat_strb_o = strb;
  assign burst_push_o = go && close;
  assign burst_word_o = word - WordW'(beats);
  assign burst_beats_o = beats;
  assign burst_end_o = ends;
  assign burst_off_o = (more_q || words) ? '0 : off;

  always_comb begin
    if (more_q) begin
      burst_tail_o = (OffW + 1)'(end_at - (OffW + 2)'(WordBytes));
    end else if (over) begin
      burst_tail_o = (OffW + 1)'(WordBytes) - (OffW + 1)'(burst_off_o);
    end else begin
      burst_tail_o = words ? (OffW + 1)'(end_at) : line_len_i;
    end
  end

  always_comb begin
    rest_valid_d = rest_valid_q;
    beats_d = beats_q;
    crossed_d = crossed_q;
    beat_push_o = '0;
    more_d = more_q;
    if (go) begin
      more_d = !take;
      beat_push_o[line_plane_i] = 1'b1;
      beats_d[line_plane_i] = close ? '0 : beats + BeatW'(1);
      rest_valid_d[line_plane_i] = !line_last_i;
      crossed_d[line_plane_i] = !line_last_i && (words || over);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rest_valid_q <= '0;
      crossed_q <= '0;
      beats_q <= '0;
      more_q <= 1'b0;
    end else begin
      rest_valid_q <= rest_valid_d;
      crossed_q <= crossed_d;
      beats_q <= beats_d;
      more_q <= more_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (go) begin
      rest_q[line_plane_i] <= turned;
    end
  end

  `MRC_ASSERT(LinesHaveBytes, !line_valid_i || (line_len_i != '0
      && line_len_i <= (OffW + 1)'(WordBytes)), "a line has no bytes, or too many")
  `MRC_ASSERT(FullButTheLast, !line_valid_i || line_last_i
      || line_len_i == (OffW + 1)'(WordBytes), "a line that is not its packet's last is not full")

endmodule
