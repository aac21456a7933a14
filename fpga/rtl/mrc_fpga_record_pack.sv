// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Events of mrc_fpga_record_take as words of a record, in bursts of BurstWords: header, events
/// whole, the end, zeros up to a burst's end. Begun by arm_i, for a region of size_i blocks of 4096
/// bytes. An event for which there is no room, the end's room kept, ends the record, and what comes
/// behind is forgotten. A word per cycle; words wait in a FIFO of WordDepth. It does not look at
/// what memory answers. Contract: docs/design/boards/record.md.
module mrc_fpga_record_pack
  import mrc_pkg::*;
#(
    parameter int unsigned HostBytes = 64,
    parameter int unsigned NumQps = 16,
    parameter logic [31:0] BuildId = 32'd0,
    parameter int unsigned WindowLog2 = 10,
    parameter int unsigned CycleW = 48,
    parameter int unsigned WordDepth = 64,
    parameter int unsigned BurstWords = 16,
    // Of the number of a block.
    parameter int unsigned BlockW = 52,
    parameter int unsigned SizeW = 32,
    // Words in a block.
    parameter int unsigned BlockWords = 4096 / HostBytes,
    localparam int unsigned NumPlanes = 2,
    localparam int unsigned PortBytes = HostBytes / 2,
    localparam int unsigned PinsW = 16 + 16 * NumPlanes,
    localparam int unsigned BusW = 72 + $bits(qperr_t),
    localparam int unsigned WqeW = $bits(wqe_t),
    localparam int unsigned DataW = HostBytes * 8,
    localparam int unsigned HalfW = PortBytes * 8,
    localparam int unsigned BlockLog2 = $clog2(BlockWords),
    localparam int unsigned WordW = BlockW + BlockLog2,
    localparam int unsigned CountW = SizeW + BlockLog2
) (
    input logic clk_i,
    input logic rst_ni,

    input logic arm_i,
    input logic [BlockW-1:0] base_i,
    input logic [SizeW-1:0] size_i,
    // Nothing more is to be written than what is in the FIFO and in bursts.
    output logic idle_o,
    // The region was full, in which cycle.
    output logic full_o,
    output logic [CycleW-1:0] full_cycle_o,

    input logic event_valid_i,
    output logic event_ready_o,
    input logic event_end_i,
    input logic [2:0] event_why_i,
    input logic [CycleW-1:0] event_cycle_i,
    input logic [PinsW-1:0] event_pins_i,
    input logic event_has_bus_i,
    input logic [BusW-1:0] event_bus_i,
    input logic event_has_wqe_i,
    input logic [WqeW-1:0] event_wqe_i,
    input logic event_has_digest_i,
    input logic [31:0] event_digest_i,
    input logic [DataW-1:0] event_rsp_i,
    input logic [NumPlanes-1:0][HalfW-1:0] event_rx_i,

    // A burst whose words are all in the FIFO.
    output logic burst_push_o,
    input logic burst_room_i,
    output logic [WordW-1:0] burst_word_o,
    output logic word_valid_o,
    input logic word_pop_i,
    output logic [DataW-1:0] word_data_o
);

  localparam logic [7:0] Mark = 8'hA7;
  localparam logic [2:0] WhyFull = 3'd3;
  localparam logic [7:0] Major = 8'd2;
  localparam logic [7:0] Minor = 8'd0;
  localparam int unsigned WqeWords = (WqeW + DataW - 1) / DataW;
  localparam int unsigned PartW = $clog2(WqeWords + 1);
  localparam int unsigned BurstW = $clog2(BurstWords);

  if (PortBytes != 16 && PortBytes != 32) begin : gen_bad_bytes
    $error("%m: HostBytes must be 32 or 64");
  end
  if (BurstWords < 2 || BlockWords % BurstWords != 0 || 2 ** BurstW != BurstWords
      || WordDepth < 2 * BurstWords) begin : gen_bad_burst
    $error("%m: BurstWords must be a power of two that divides a block, WordDepth twice that");
  end

  typedef enum logic [2:0] {
    StIdle,
    StHeader,
    StA,
    StB,
    StC,
    StD,
    StE,
    StFill
  } state_e;

  state_e state_q, state_d, first_d;
  logic [PartW-1:0] part_q, part_d;
  // Words that are written, and that may be: with the end.
  logic [CountW-1:0] count_q, count_d, size_q;
  logic [BlockW-1:0] base_q;
  // The record has ended for want of room: what comes is forgotten, up to the end.
  logic full_q, full_d;
  logic [CycleW-1:0] full_cycle_q;

  // ---- the event at the head

  logic rsp, two, has_b, cut, drop, is_end, room, word_push, word_room;
  logic [NumPlanes-1:0] rx;
  logic [3:0] words;
  logic [PinsW-1:0] pins;

  assign rx = {event_pins_i[16+16*1+2], event_pins_i[16+2]};
  assign two = rx == '1;
  assign rsp = event_pins_i[8];
  assign has_b = event_has_bus_i || two;
  assign words = 4'd1 + 4'(has_b) + 4'(rsp) + (event_has_wqe_i ? 4'(WqeWords) : 4'd0)
      + 4'(event_has_digest_i);
  // Two words are kept for the end.
  assign room = size_q - count_q >= CountW'(words) + CountW'(2);
  // Without room an end is written in the place of the event, which stays at the head meanwhile.
  assign cut = state_q == StA && !event_end_i && !full_q && !room;
  assign drop = state_q == StA && full_q;
  assign is_end = event_end_i || full_q || cut;
  assign pins = is_end ? '0 : event_pins_i;

  // ---- its words

  logic [127:0] head;
  logic [95:0] digest;
  logic [WqeWords-1:0][DataW-1:0] wqe_words;
  // Without the checks.
  logic [HalfW-1:0] low, high;
  logic [31:0] low_check, high_check, low_q, high_q;
  logic [DataW-1:0] word;
  logic push, last;

  assign wqe_words = (WqeWords * DataW)'(event_wqe_i);
  assign head = 128'({
    pins,
    event_cycle_i[15:0],
    4'd0,
    is_end,
    is_end || event_has_digest_i,
    !is_end && event_has_wqe_i,
    !is_end && event_has_bus_i,
    Mark
  });
  // The end in the place of an event has no digest.
  assign digest = {
    full_q ? 32'd0 : event_digest_i,
    7'd0,
    !full_q,
    full_q ? 8'(WhyFull) : event_end_i ? 8'(event_why_i) : 8'd0,
    48'(event_cycle_i)
  };

  always_comb begin
    low = '0;
    high = '0;
    push = 1'b0;
    unique case (state_q)
      StHeader: begin
        low = HalfW'({
          BuildId,
          16'(NumQps),
          8'(WindowLog2),
          8'(HostBytes),
          8'(PortBytes),
          8'(NumPlanes),
          Minor,
          Major,
          8'h58,
          8'h43,
          8'h52,
          8'h4d
        });
        push = 1'b1;
      end
      StA: begin
        low = HalfW'(head);
        high = is_end ? '0 : rx[0] ? event_rx_i[0] : rx[1] ? event_rx_i[1] : '0;
        push = event_valid_i && !drop;
      end
      StB: begin
        low = event_has_bus_i ? HalfW'(event_bus_i) : '0;
        high = two ? event_rx_i[1] : '0;
        push = 1'b1;
      end
      StC: begin
        {high, low} = event_rsp_i;
        push = 1'b1;
      end
      StD: begin
        for (int unsigned i = 0; i < WqeWords; i++) begin
          if (32'(part_q) == i) begin
            {high, low} = wqe_words[i];
          end
        end
        push = 1'b1;
      end
      StE: begin
        low = HalfW'(digest);
        push = 1'b1;
      end
      StFill: begin
        push = count_q[BurstW-1:0] != '0;
      end
      default: begin
      end
    endcase
  end

  // What an event has behind its word A, from a word on.
  always_comb begin
    first_d = StA;
    if (is_end || event_has_digest_i) begin
      first_d = StE;
    end
    if (!is_end) begin
      if (event_has_wqe_i && state_q != StD) begin
        first_d = StD;
      end
      if (rsp && (state_q == StA || state_q == StB)) begin
        first_d = StC;
      end
      if (has_b && state_q == StA) begin
        first_d = StB;
      end
    end
  end

  always_comb begin
    state_d = state_q;
    part_d = '0;
    last = 1'b0;
    full_d = full_q;
    unique case (state_q)
      StIdle: begin
        if (arm_i) begin
          state_d = StHeader;
          full_d = 1'b0;
        end
      end
      StHeader: begin
        if (word_push) begin
          state_d = StA;
        end
      end
      StA, StB, StC: begin
        if (word_push) begin
          state_d = first_d;
          last = first_d == StA;
          full_d = full_q || cut;
        end else if (drop && event_valid_i) begin
          last = 1'b1;
          state_d = event_end_i ? StFill : StA;
        end
      end
      StD: begin
        part_d = part_q;
        if (word_push) begin
          part_d = part_q + PartW'(1);
          if (32'(part_q) == WqeWords - 1) begin
            state_d = first_d;
            last = first_d == StA;
          end
        end
      end
      StE: begin
        if (word_push) begin
          // Of a cut record the end that it was cut for is still to come.
          last = !full_q;
          state_d = (event_end_i && !full_q) ? StFill : StA;
        end
      end
      default: begin
        if (!push) begin
          state_d = StIdle;
        end
      end
    endcase
  end

  assign event_ready_o = last;

  // ---- checks, of all halves so far

  mrc_crc32 #(
      .Bytes(PortBytes)
  ) u_low (
      .en_i(push),
      .data_i({low[HalfW-1:32], low[31:0] ^ low_q}),
      .crc_o(low_check)
  );
  mrc_crc32 #(
      .Bytes(PortBytes)
  ) u_high (
      .en_i(push),
      .data_i({high[HalfW-1:32], high[31:0] ^ high_q}),
      .crc_o(high_check)
  );

  always_comb begin
    word = {high, low};
    if (state_q == StE) begin
      word[96+:32] = low_check;
      word[HalfW+:32] = high_check;
    end
  end

  // ---- words, and bursts when their last word is there

  logic ends_burst;
  logic [$clog2(WordDepth+1)-1:0] unused_count;

  assign ends_burst = count_q[BurstW-1:0] == '1;
  assign word_push = push && word_room && (!ends_burst || burst_room_i);
  assign count_d = count_q + CountW'(word_push);
  assign burst_push_o = word_push && ends_burst;
  assign burst_word_o = {base_q, BlockLog2'(0)} + WordW'({count_q[CountW-1:BurstW], BurstW'(0)});

  mrc_fifo_ram #(
      .Width(DataW),
      .Depth(WordDepth)
  ) u_words (
      .clk_i,
      .rst_ni,
      .valid_i(word_push),
      .ready_o(word_room),
      .data_i(word),
      .valid_o(word_valid_o),
      .ready_i(word_pop_i),
      .data_o(word_data_o),
      .count_o(unused_count)
  );

  assign idle_o = state_q == StIdle;
  assign full_o = full_q;
  assign full_cycle_o = full_cycle_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      part_q <= '0;
      full_q <= 1'b0;
      count_q <= '0;
    end else begin
      state_q <= state_d;
      part_q <= part_d;
      full_q <= full_d;
      count_q <= (state_q == StIdle) ? '0 : count_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (state_q == StIdle) begin
      low_q <= '1;
      high_q <= '1;
      base_q <= base_i;
      size_q <= {size_i, BlockLog2'(0)};
    end else if (word_push) begin
      low_q <= low_check;
      high_q <= high_check;
    end
    if (full_d && !full_q) begin
      full_cycle_q <= event_cycle_i;
    end
  end

  `MRC_ASSERT(InsideTheRegion, state_q == StIdle || count_q <= size_q,
      "more words than the region has")
  `MRC_ASSERT(RoomForTheEnd, state_q != StA || full_q || size_q - count_q >= CountW'(2),
      "there is no room for the end")
  `MRC_POPS_A_WORD(Events, event_ready_o, event_valid_i)

endmodule
