// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_record_pack with events that come when they like, of whatever parts, up to an end; with
/// bursts and words that are taken when whoever writes them likes; in regions of any size. What an
/// event consists of carries colours. A list of the words that are right is made beside it, from
/// the contract.
module formal_fpga_record_pack
  import mrc_pkg::*;
#(
    localparam int unsigned HostBytes = 32,
    localparam int unsigned CycleW = 17,
    localparam int unsigned BlockW = 3,
    localparam int unsigned SizeW = 2,
    localparam int unsigned BlockWords = 8,
    localparam int unsigned BurstWords = 2
) (
    input logic clk_i,
    input logic want_arm_i,
    input logic [BlockW-1:0] base_i,
    input logic [SizeW-1:0] size_i,
    input logic want_event_i,
    input logic want_end_i,
    input logic [2:0] why_i,
    input logic [1:0] cycle_i,
    input logic has_bus_i,
    input logic has_wqe_i,
    input logic has_digest_i,
    input logic has_rsp_i,
    input logic [1:0] has_rx_i,
    input logic burst_room_i,
    input logic want_pop_i
);
  `MRC_RESET

  localparam int unsigned WordW = BlockW + 3;
  // States of the RTL.
  localparam logic [2:0] StHeader = 3'd1;
  localparam logic [2:0] StFill = 3'd7;

  logic arm_i, idle_o, full_o, event_valid_i, event_ready_o, event_end_i, event_has_bus_i;
  logic event_has_wqe_i, event_has_digest_i, burst_push_o, word_valid_o, word_pop_i;
  logic [2:0] event_why_i;
  logic [CycleW-1:0] full_cycle_o, event_cycle_i;
  logic [47:0] event_pins_i;
  logic [71+$bits(qperr_t):0] event_bus_i;
  logic [$bits(wqe_t)-1:0] event_wqe_i;
  logic [31:0] event_digest_i;
  logic [255:0] event_rsp_i, word_data_o;
  logic [1:0][127:0] event_rx_i;
  logic [WordW-1:0] burst_word_o;

  mrc_fpga_record_pack #(
      .HostBytes(HostBytes),
      .NumQps(4),
      .WindowLog2(4),
      .CycleW(CycleW),
      .WordDepth(4),
      .BurstWords(BurstWords),
      .BlockW(BlockW),
      .SizeW(SizeW),
      .BlockWords(BlockWords)
  ) dut (
      .*
  );

  // A record under way: its region; whether its end is still to come. An event on offer stays.
  logic [BlockW-1:0] base_q;
  logic [SizeW-1:0] size_q;
  logic open_q, held_q;
  typedef struct packed {
    logic ends;
    logic [2:0] why;
    logic [1:0] cycle;
    logic bus, wqe, digest, rsp;
    logic [1:0] rx;
  } what_t;
  what_t what, held_what_q;

  // As mrc_fpga_record_regs arms it: in a region that there is.
  assign arm_i = want_arm_i && idle_o && !open_q && rst_ni && size_i != '0
      && 4'(base_i) + 4'(size_i) <= 4'd8;
  assign event_valid_i = (want_event_i || held_q) && open_q;
  assign what = held_q ? held_what_q : want_end_i ? what_t'{
          ends: 1'b1,
          why: (why_i == '0) ? 3'd1 : why_i,
          cycle: cycle_i,
          digest: 1'b1,
          bus: 1'b0,
          wqe: 1'b0,
          rsp: 1'b0,
          rx: '0
      } : what_t'{
          ends: 1'b0,
          why: '0,
          cycle: cycle_i,
          bus: has_bus_i,
          wqe: has_wqe_i,
          digest: has_digest_i,
          rsp: has_rsp_i,
          rx: has_rx_i
      };
  assign event_end_i = what.ends;
  assign event_why_i = what.why;
  assign event_cycle_i = CycleW'(what.cycle);
  assign event_has_bus_i = what.bus;
  assign event_has_wqe_i = what.wqe;
  assign event_has_digest_i = what.digest;
  assign event_pins_i = 48'({what.rx[1], 15'd0, what.rx[0], 9'd0, what.rsp, 8'd0});
  assign event_bus_i = (72 + $bits(qperr_t))'(1);
  assign event_wqe_i = {1'b1, ($bits(wqe_t) - 2)'(0), 1'b1};
  assign event_digest_i = 32'd3;
  assign event_rsp_i = {128'd5, 128'd4};
  assign event_rx_i = {128'd7, 128'd6};
  assign word_pop_i = word_valid_o && want_pop_i;

  // ---- the words that are right: a number in this event, of those that it has

  logic [2:0] at_q;
  logic a_q, in_event;
  logic [255:0] want;
  logic [4:0][255:0] parts;
  logic [4:0] there;
  logic [31:0] low;
  logic two, cut_q, ended_q;
  assign two = what.rx == 2'd3;
  // The flags in the head, and the upper half of A.
  assign low = {16'(what.cycle), 4'd0, what.ends, what.digest, what.wqe, what.bus, 8'hA7};
  assign parts[0] = {
    what.rx[0] ? 128'd6 : what.rx[1] ? 128'd7 : 128'd0,
    48'd0,
    what.ends ? 48'd0 : event_pins_i,
    low
  };
  assign parts[1] = {two ? 128'd7 : 128'd0, what.bus ? 128'd1 : 128'd0};
  assign parts[2] = {128'd5, 128'd4};
  assign parts[3] = 256'd1;
  assign parts[4] = {127'd0, 1'b0, 32'd0, 32'd3, 7'd0, 1'b1, 5'd0, what.why, 48'(what.cycle)};
  assign there = {what.digest, what.wqe, what.rsp, what.bus || two, 1'b1};

  // The next part behind at_q; the second word of a work request is 16 bits more.
  logic second_q, w;
  logic [255:0] pushed;
  assign w = dut.word_push;
  // Without the checks.
  assign pushed = {dut.high, dut.low};
  assign in_event = w && dut.state_q != StHeader && dut.state_q != StFill;
  always_comb begin
    want = '0;
    for (int unsigned i = 0; i < 5; i++) begin
      if (at_q == 3'(i)) want = second_q ? {239'd0, 1'b1, 16'd0} : parts[i];
    end
  end
  logic [2:0] next;
  logic more;
  always_comb begin
    next = 3'd0;
    more = 1'b0;
    for (int i = 4; i > 0; i--) begin
      if (3'(i) > at_q && there[i]) begin
        next = 3'(i);
        more = 1'b1;
      end
    end
  end

  // Words, bursts so far; words of the FIFO that no burst has named yet.
  logic [5:0] words_q;
  logic [4:0] bursts_q;
  logic cut;
  // The event has no room, with two words for the end: the end comes in its place.
  assign cut = !cut_q && !what.ends && at_q == '0 && event_valid_i && !ended_q
      && {size_q, 3'd0} - 5'(words_q) < 5'(there[1]) + 5'(there[2]) + 5'({there[3], 1'b0})
          + 5'(there[4]) + 5'd3;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {open_q, held_q, at_q, second_q, words_q, bursts_q, cut_q, ended_q} <= '0;
    end else begin
      held_q <= event_valid_i && !event_ready_o;
      if (arm_i) begin
        {open_q, words_q, bursts_q, at_q, second_q, cut_q, ended_q} <= {1'b1, 17'd0};
      end else begin
        if (event_valid_i && event_ready_o && what.ends) open_q <= 1'b0;
        words_q <= words_q + 6'(w);
        bursts_q <= bursts_q + 5'(burst_push_o);
        if (in_event && !cut_q && !cut) begin
          second_q <= at_q == 3'd3 && !second_q;
          if (at_q != 3'd3 || second_q) at_q <= more ? next : '0;
          if (what.ends && at_q == 3'd4) ended_q <= 1'b1;
        end
        if (in_event && cut) cut_q <= 1'b1;
        // The second word of the end in the place of an event.
        if (in_event && cut_q) ended_q <= 1'b1;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    held_what_q <= what;
    if (arm_i) {base_q, size_q} <= {base_i, size_i};
  end

  `MRC_PROVE(inside, !burst_push_o
      || (burst_word_o >= {base_q, 3'd0}
          && 7'(burst_word_o) + 7'(BurstWords) <= {1'b0, base_q, 3'd0} + 7'({size_q, 3'd0})))
  `MRC_PROVE(in_order, !burst_push_o || burst_word_o == {base_q, 3'd0} + WordW'({bursts_q, 1'b0}))
  `MRC_PROVE(with_its_words, !burst_push_o || words_q + 6'(w) == {bursts_q, 1'b0} + 6'd2)
  `MRC_PROVE(as_they_are, !(in_event && !cut_q && !cut)
      || (event_valid_i && !ended_q && pushed == want))
  `MRC_PROVE(whole, !(event_valid_i && event_ready_o && !cut_q)
      || (in_event && !more && (at_q != 3'd3 || second_q)))
  `MRC_PROVE(cut_is_reported, !(in_event && (cut || cut_q)) || (!ended_q && (cut
      ? pushed == 256'({16'(what.cycle), 8'h0C, 8'hA7})
      : pushed == 256'({8'd3, 48'(what.cycle)}) && full_o)))
  `MRC_PROVE(ends_once, !(in_event && ended_q))
  `MRC_PROVE(ends, !(idle_o && words_q != '0) || ended_q)
  `MRC_PROVE(zeros_behind, !(w && dut.state_q == StFill) || (ended_q && pushed == '0
      && words_q < {1'b0, size_q, 3'd0}))
  `MRC_COVER(inside, burst_push_o && bursts_q == 5'd7 && size_q == 2'd2)
  `MRC_COVER(in_order, burst_push_o && bursts_q == 5'd3 && base_q == 3'd5)
  `MRC_COVER(with_its_words, burst_push_o && bursts_q == 5'd1)
  `MRC_COVER(as_they_are, in_event && !cut_q && !cut && at_q == 3'd4 && there == 5'd31)
  `MRC_COVER(whole, event_valid_i && event_ready_o && !cut_q && at_q == 3'd3)
  `MRC_COVER(cut_is_reported, in_event && cut_q)
  `MRC_COVER(ends_once, ended_q && cut_q && event_valid_i && what.ends)
  `MRC_COVER(ends, idle_o && words_q != '0 && !open_q && size_q == 2'd1)
  `MRC_COVER(zeros_behind, w && dut.state_q == StFill)
  `MRC_COVER(last_word, ended_q && 6'(words_q) == {1'b0, size_q, 3'd0})
endmodule
