// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Losses by time, in mrc_tx_inflight (docs/design/blocks/tx/inflight/tx_inflight.md, Losses by
/// time). A SACK that answers a question, or a packet that has arrived, returns when that was
/// sent. What was sent before it by more than three quarters of a round trip is old. The round trip
/// is the longest one of late of the QP (trip), or the SACK's own, whichever is longer. With a QP
/// without time stamps the window's stamp of the packet stands for what a SACK or NACK returns, if
/// it was sent once. The SACK's own round trip then counts from the next one on. A copy of what was
/// reported before tells nothing; any other copy tells of copies alone, as it goes in a class of
/// higher priority. It keeps what is known of the answer from Ctl0 to Same1, and says what trip is
/// from then on. It neither knows what is missing nor chooses a state; what it says means something
/// in the states that overdue_t names.
module mrc_tx_inflight_time
  import mrc_pkg::*;
  import mrc_math_pkg::*;
  import mrc_tx_inflight_pkg::*;
(
    input logic clk_i,
    input logic [15:0] tick_i,  // low bits
    input logic tsr_us_i,
    input logic time_wait_i,

    // The answer, and its QP.
    input state_e state_i,
    input logic stay_i,  // Ctl0: it waits
    input ctl_t ctl_i,
    input logic ts_i,
    input logic [17:0] trip_i,
    input logic trims_i,  // that is of a trim
    input logic [23:0] una_was_i,
    // Ctl1: una' of a SACK; whether psn's block is there, and of that what was reported before;
    // whether psn's record is of a copy. Ctl1, Row, Same1: what of the block was sent again.
    input logic [23:0] una_i,
    input logic own_i,
    input logic [15:0] sacked_i,
    input logic [15:0] rtxd_i,
    input logic copy_i,
    // Ctl1, Row, Same1: the block's.
    input stamps_t stamps_i,

    output overdue_t overdue_o
);

  localparam logic [9:0] Most = 10'd1023;  // ticks of a round trip, or more: nothing is known
  localparam logic [9:0] MostOfTrim = 10'd1022;
  localparam logic [15:0] NoProbe = 16'hFFFF;  // a SACK that nobody has asked for

  logic at_ctl0, at_ctl1, at_done, at_look, is_sack, is_trim;
  assign at_ctl0 = state_i == StCtl0 && !stay_i;
  assign at_ctl1 = state_i == StCtl1;
  assign at_done = state_i == StDone;
  assign at_look = state_i == StRow || state_i == StSame1;
  assign is_sack = ctl_i.kind == CtlKindSack;
  assign is_trim = ctl_i.kind == CtlKindNack
      && ctl_i.reason inside {NackReasonTrimmed, NackReasonTrimmedLasthop};

  // ---- Ctl0: how long the answer took; Ctl1, if it returns no time: by when psn was sent

  logic by_sent, once;
  logic [3:0] pos;
  logic [9:0] took_q, took_d;
  logic [15:0] since;
  stamp_t sent, sent_ago;
  assign by_sent = !ts_i && !(is_sack && ctl_i.pr);
  assign pos = ctl_i.psn[3:0];
  // The copy that goes for a missing ACK has no bit of rtxd.
  assign once = at_ctl1 && own_i && !rtxd_i[pos] && !copy_i;
  always_comb begin
    since = 16'd0;
    sent = '0;
    sent_ago = '0;
    took_d = took_q;
    if (at_ctl0 && !by_sent) begin
      // Of the ticks that a stamp in us may mean the first one: it took no longer than that.
      since = tick_i - (tsr_us_i ? {ctl_i.ts[12:0], 3'd0} : ctl_i.ts);
      took_d = (since[15:10] != 6'd0) ? Most : since[9:0];
    end else if (at_ctl1 && by_sent) begin
      sent = stamps_i[pos];
      sent_ago = tick_i[11:0] - sent;
      took_d = (sent_ago[11:10] != 2'd0) ? Most : sent_ago[9:0];
    end
  end

  // ---- Ctl1: whether it tells time, and what is old

  logic gives_time_q, gives_time_d, knows_q, knows_d, in_bitmap, arrived, twice;
  logic [23:0] place;  // of psn in the bitmap
  always_comb begin
    place = 24'd0;
    in_bitmap = 1'b0;
    arrived = 1'b0;
    twice = 1'b0;
    gives_time_d = 1'b0;
    if (at_ctl1 && is_sack) begin
      place = ctl_i.psn - ctl_i.base;
      in_bitmap = place[23:6] == 18'd0 && ctl_i.bitmap[place[5:0]];
      arrived = psn_before(ctl_i.psn, una_i)
          || (own_i && (sacked_i[pos] || in_bitmap));
      // Of what was reported before, a copy may have been trimmed, and have overtaken a queue.
      twice = own_i && !once && (psn_before(ctl_i.psn, una_was_i) || sacked_i[pos]);
      gives_time_d = ctl_i.pr ? ctl_i.psn[15:0] != NoProbe : arrived && !twice && (ts_i || once);
    end
  end

  // Both bounds stand side by side, that of the answer's own round trip and that of trip; the
  // longer one holds; by_sent that of trip. To take spare and one more away is to add ~spare.
  logic by_trip, in_time;
  logic [9:0] ticks, spare_took, spare_trip;
  logic [17:0] bound;  // a quarter of trip, if that is of a trim, and this answers a question
  stamp_t stamp, limit_q, limit_d;
  assign bound = (trims_i && ctl_i.pr) ? {2'd0, trip_i[17:2]} : trip_i;
  always_comb begin
    stamp = '0;
    ticks = 10'd0;
    by_trip = 1'b0;
    in_time = 1'b0;
    spare_took = 10'd0;
    spare_trip = 10'd0;
    limit_d = '0;
    knows_d = 1'b0;
    if (at_ctl1 && is_sack && !time_wait_i) begin
      stamp = tsr_us_i ? {ctl_i.ts[8:0], 3'd0} : ctl_i.ts[11:0];
      if (by_sent) begin
        stamp = sent;
      end
      ticks = bound[17:8] + {9'd0, bound[7:0] != 8'd0};
      by_trip = by_sent || bound > {took_q, 8'd0};
      spare_took = took_q - {2'd0, took_q[9:2]};
      spare_trip = ticks - {2'd0, ticks[9:2]};
      limit_d = by_trip ? stamp + ~{2'd0, spare_trip} : stamp + ~{2'd0, spare_took};
      in_time = !by_sent || (trip_i != 18'd0 && took_d != Most);
      knows_d = gives_time_d && (by_trip ? ticks : took_q) != Most && in_time;
    end
  end

  // ---- Row, Same1: what was sent at the limit, or before

  logic again_q, again_d;  // it answers a copy, or what may be one
  assign again_d = !ctl_i.pr && !once;

  logic [15:0] old;
  stamps_t behind;
  always_comb begin
    old = 16'd0;
    behind = '0;
    if (at_look && knows_q) begin
      for (int unsigned i = 0; i < 16; i++) begin
        behind[i] = limit_q - stamps_i[i];
        old[i] = !behind[i][11] && (rtxd_i[i] || !again_q);
      end
    end
  end

  // ---- Done, or Ctl1 of a NACK: the round trip of late

  logic [9:0] eightfold;
  logic [17:0] kept, trip;
  logic trims;
  always_comb begin
    eightfold = 10'd0;
    kept = trip_i;
    trip = trip_i;
    trims = trims_i;
    if (at_done && gives_time_q) begin
      kept = trip_i - {8'd0, trip_i[17:8]};
      trip = (took_q > kept[17:8]) ? {took_q, 8'd0} : kept;
      trims = trims_i && took_q <= kept[17:8];
    end else if (at_ctl1 && is_trim && (ts_i || once)) begin
      eightfold = (took_d[9:7] != 3'd0) ? MostOfTrim : {took_d[6:0], 3'd0};
      trip = (eightfold > trip_i[17:8]) ? {eightfold, 8'd0} : trip_i;
      trims = trims_i || eightfold > trip_i[17:8];
    end
  end

  assign overdue_o = '{knows: knows_q, old: old, gives_time: gives_time_q,
                       trip: trip, trims: trims};

  always_ff @(posedge clk_i) begin
    took_q <= took_d;
    if (at_ctl1) begin
      gives_time_q <= gives_time_d;
      knows_q <= knows_d;
      limit_q <= limit_d;
      again_q <= again_d;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, ctl_i.qp, ctl_i.cack, ctl_i.ooo, ctl_i.m, ctl_i.entropy, ctl_i.msn,
                       ctl_i.rcvd, ctl_i.pen, ctl_i.restore, ctl_i.mpr, ctl_i.ts, behind};

  // ---- what always holds

`ifdef MRC_ASSERT_ON
  logic [11:0] spare;
  assign spare = stamp - limit_d - 12'd1;
`endif

  `MRC_ASSERT_CLK_IF(TripInRange, at_ctl1 || at_done,
      trip_i <= {Most, 8'd0} && trip <= {Most, 8'd0},
      "a QP's round trip of late is longer than any")
  `MRC_ASSERT_CLK_IF(KnowsByTime, (at_look || at_done) && knows_q, gives_time_q,
      "a SACK knows what is old, and does not tell time")
  `MRC_ASSERT_CLK_IF(TimeOfOneCopy, at_ctl1 && gives_time_d && by_sent,
      own_i && !rtxd_i[pos] && !copy_i,
      "a SACK that returns no time tells when a packet was sent that was sent again")
  `MRC_ASSERT_CLK_IF(CopiesTimeCopies, at_look && again_q, (old & ~rtxd_i) == 16'd0,
      "a copy tells of what was sent once")
  `MRC_ASSERT_CLK_IF(KnowsARoundTrip, knows_d && by_sent, trip_i != 18'd0,
      "a SACK that returns no time knows what is old before any round trip is known")
  `MRC_ASSERT_CLK_IF(LongestHolds, knows_d,
      (by_sent || {spare, 2'd0} >= 14'd3 * {4'd0, took_q})
          && {spare, 10'd0} >= 22'd3 * {4'd0, bound} && spare < 12'd768,
      "what was sent three quarters of a round trip before what a SACK answers is old")
  `MRC_ASSERT_CLK_IF(TrimIsPatient, at_ctl1 && is_trim, trip >= trip_i,
      "after a trim a packet may be late by less than before")

endmodule
