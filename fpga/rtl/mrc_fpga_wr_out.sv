// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Bursts whose beats are all inside go out on AW and W of AXI4, in their order and with one id;
/// answers are counted against them. Latency: two cycles to AW, three to W; a beat per cycle, also
/// from one burst to the next. B is always taken. It does not look at strobes or addresses.
/// Contract: docs/design/boards/host.md.
module mrc_fpga_wr_out #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned MaxBeats = 64,
    parameter int unsigned AddrW = 64,
    parameter int unsigned QpW = 19,  // qp_index_t
    parameter int unsigned BurstDepth = 16,
    parameter int unsigned MaxBursts = 32,
    localparam int unsigned OffW = $clog2(WordBytes),
    localparam int unsigned WordW = AddrW - OffW,
    localparam int unsigned BeatW = (MaxBeats > 1) ? $clog2(MaxBeats) : 1,
    localparam int unsigned PlaneW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1,
    localparam int unsigned DataW = WordBytes * 8
) (
    input logic clk_i,
    input logic rst_ni,
    input logic burst_push_i,
    output logic burst_room_o,
    input logic [WordW-1:0] burst_word_i,
    input logic [BeatW-1:0] burst_beats_i,
    input logic burst_end_i,
    input logic [PlaneW-1:0] burst_plane_i,
    input logic [QpW-1:0] burst_qp_i,
    // The heads of the planes' queues of beats.
    input logic [NumPlanes-1:0] beat_valid_i,
    output logic [NumPlanes-1:0] beat_pop_o,
    input logic [NumPlanes-1:0][DataW-1:0] beat_data_i,
    input logic [NumPlanes-1:0][WordBytes-1:0] beat_strb_i,

    output logic awvalid_o,
    input logic awready_i,
    output logic [AddrW-1:0] awaddr_o,
    output logic [7:0] awlen_o,
    output logic wvalid_o,
    input logic wready_i,
    output logic [DataW-1:0] wdata_o,
    output logic [WordBytes-1:0] wstrb_o,
    output logic wlast_o,
    input logic bvalid_i,
    output logic bready_o,
    input logic [1:0] bresp_i,

    output logic done_o,
    output logic fail_o,
    output logic [QpW-1:0] fail_qp_o,
    output logic stray_o,
    // Nothing is inside, and no answer is awaited.
    output logic idle_o
);

  typedef struct packed {
    logic [WordW-1:0] word;
    logic [BeatW-1:0] beats;
    logic ends;
    logic [PlaneW-1:0] plane;
    logic [QpW-1:0] qp;
  } burst_t;

  typedef struct packed {
    logic [WordW-1:0] word;
    logic [BeatW-1:0] beats;
  } aw_t;

  typedef struct packed {
    logic [PlaneW-1:0] plane;
    logic [BeatW-1:0] beats;
  } turn_t;

  typedef struct packed {
    logic ends;
    logic [QpW-1:0] qp;
  } owed_t;

  typedef struct packed {
    logic [DataW-1:0] data;
    logic [WordBytes-1:0] strb;
    logic last;
  } w_t;

  burst_t next;
  aw_t aw;
  turn_t turn;
  owed_t owed;
  w_t w_d, w;
  logic next_valid, issue, aw_free, turn_room, turn_valid, turn_pop, owed_room, owed_valid;
  logic w_load, w_free, b_take;
  logic [BeatW-1:0] sent_q, sent_d;
  logic [$clog2(BurstDepth+1)-1:0] unused_bursts;
  logic [$clog2(MaxBursts+1)-1:0] unused_turns, unused_owed;

  // ---- a burst is issued: its address, its turn on W, its answer

  mrc_fifo #(
      .T(burst_t),
      .Depth(BurstDepth)
  ) u_bursts (
      .clk_i,
      .rst_ni,
      .valid_i(burst_push_i),
      .ready_o(burst_room_o),
      .data_i({burst_word_i, burst_beats_i, burst_end_i, burst_plane_i, burst_qp_i}),
      .valid_o(next_valid),
      .ready_i(issue),
      .data_o(next),
      .count_o(unused_bursts)
  );

  assign issue = next_valid && aw_free && turn_room && owed_room;

  mrc_out_reg #(
      .T(aw_t)
  ) u_aw (
      .clk_i,
      .rst_ni,
      .load_i(issue),
      .data_i({next.word, next.beats}),
      .free_o(aw_free),
      .valid_o(awvalid_o),
      .ready_i(awready_i),
      .data_o(aw)
  );

  mrc_fifo #(
      .T(turn_t),
      .Depth(MaxBursts)
  ) u_turns (
      .clk_i,
      .rst_ni,
      .valid_i(issue),
      .ready_o(turn_room),
      .data_i({next.plane, next.beats}),
      .valid_o(turn_valid),
      .ready_i(turn_pop),
      .data_o(turn),
      .count_o(unused_turns)
  );

  mrc_fifo #(
      .T(owed_t),
      .Depth(MaxBursts)
  ) u_owed (
      .clk_i,
      .rst_ni,
      .valid_i(issue),
      .ready_o(owed_room),
      .data_i({next.ends, next.qp}),
      .valid_o(owed_valid),
      .ready_i(b_take),
      .data_o(owed),
      .count_o(unused_owed)
  );

  assign awaddr_o = {aw.word, {OffW{1'b0}}};
  assign awlen_o = 8'(aw.beats);

  // ---- beats in their turn

  assign w_load = turn_valid && w_free && beat_valid_i[turn.plane];
  assign turn_pop = w_load && w_d.last;
  assign sent_d = !w_load ? sent_q : w_d.last ? '0 : sent_q + BeatW'(1);

  always_comb begin
    w_d.data = beat_data_i[0];
    w_d.strb = beat_strb_i[0];
    w_d.last = sent_q == turn.beats;
    beat_pop_o = '0;
    for (int unsigned p = 0; p < NumPlanes; p++) begin
      if (turn.plane == PlaneW'(p)) begin
        w_d.data = beat_data_i[p];
        w_d.strb = beat_strb_i[p];
        beat_pop_o[p] = w_load;
      end
    end
  end

  mrc_out_reg #(
      .T(w_t)
  ) u_w (
      .clk_i,
      .rst_ni,
      .load_i(w_load),
      .data_i(w_d),
      .free_o(w_free),
      .valid_o(wvalid_o),
      .ready_i(wready_i),
      .data_o(w)
  );

  assign wdata_o = w.data;
  assign wstrb_o = w.strb;
  assign wlast_o = w.last;

  // ---- answers

  assign bready_o = 1'b1;
  assign b_take = bvalid_i && owed_valid;
  assign done_o = b_take && owed.ends;
  assign fail_o = b_take && bresp_i[1];
  assign fail_qp_o = owed.qp;
  assign stray_o = bvalid_i && !owed_valid;
  assign idle_o = !next_valid && !awvalid_o && !turn_valid && !wvalid_o && !owed_valid;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sent_q <= '0;
    end else begin
      sent_q <= sent_d;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{bresp_i[0], unused_bursts, unused_turns, unused_owed};

  `MRC_NEVER_FULL(Bursts, burst_push_i, burst_room_o)
  `MRC_ASSERT(BeatsAreInside, !(turn_valid && w_free) || beat_valid_i[turn.plane],
      "a burst is issued, and not all of its beats are inside")

endmodule
