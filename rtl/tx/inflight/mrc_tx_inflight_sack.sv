// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// SACKs in mrc_tx_inflight (docs/design/blocks/tx/inflight/tx_inflight.md, Ctl0 to Same1): which
/// blocks of the window one speaks of, what it does to each of them and to the QP, and what it says
/// once they are worked through. It keeps what is known of the SACK from state to state, and
/// chooses no state itself.
module mrc_tx_inflight_sack
  import mrc_pkg::*;
  import mrc_math_pkg::*;
  import mrc_tx_inflight_pkg::*;
(
    input logic clk_i,
    input logic [7:0] bug_i,
    input logic [31:0] tick_i,
    input logic [14:0] reorder_i,
    input logic same_ev_i,

    input state_e state_i,
    input logic stay_i,  // Ctl0: it waits
    input msg_t msg_i,
    input view_t cur_i,
    input logic [23:0] nxt_i,
    input logic [23:0] rtx_lo_i,
    input logic [19:0] base_i,
    input logic owned_i,  // the record of psn is there
    input logic [19:0] block_i,  // Row
    input win_t win_i,
    input sent_t sent_i,
    input taken_t taken_i,  // Done: by the SACK, and what is owed then
    input logic [19:0] owed_left_i,
    input overdue_t overdue_i,  // by time

    output sack_steps_t steps_o,
    output sack_t sack_o,
    output logic whole_o,  // it acknowledges everything sent
    output logic [23:0] una_o,  // una', from Ctl1 on
    output logic own_o,  // of a NACK, too: the record of psn was there in Ctl0
    output logic [23:0] rcvd_o,  // newly received, in units of 256 bytes; from Ctl1 on
    output logic [6:0] canc_o,  // Done: packets given up that have arrived all the same
    output mem_t mem_o,
    output change_t change_o
);

  logic mine, at_ctl0, at_ctl1, at_row, at_done, at_same1;
  assign mine = msg_i.ctl.kind == CtlKindSack;
  assign at_ctl0 = state_i == StCtl0 && mine && !stay_i;
  assign at_ctl1 = state_i == StCtl1 && mine;
  assign at_row = state_i == StRow;
  assign at_done = state_i == StDone;
  assign at_same1 = state_i == StSame1;

  logic [23:0] una_q, una_d, hi1_q, hi1_d, rcvd_q;
  logic [23:0] brought1_q;  // PSN after the packet that brought it
  logic [23:0] judge1_q, judge1_d;  // PSN after the one that gaps are judged by
  logic [23:0] lim_q;  // nxt: what was sent when it began
  logic own_q, none_q, none_d, old, old_q, rtx_q, any_q, any_d;
  logic beyond_q, beyond_d;  // una' is missing, and the bitmap does not speak of it
  logic same_q, time_q;
  logic [19:0] last_q, last_d, first_block_q, first_block_d;
  logic [15:0] ev_idx_q, first_row_q, first_row_d, row_lost;
  logic [6:0] canc_q, canc_d;

  // ---- Ctl0

  logic [23:0] una, newest, ahead, beyond;
  logic before_una, over, in_flight, valid;
  logic [19:0] block;
  assign una = cur_i.row.una;
  assign old = psn_before(msg_i.cack1, una);

  always_comb begin
    una_d = old ? una : msg_i.cack1;
    if (bug_i == BugUnaOffByOne) begin
      una_d = psn_before(msg_i.ctl.cack, una) ? una : msg_i.ctl.cack;
    end
    in_flight = !msg_i.ctl.pr && psn_in(msg_i.ctl.psn, una, nxt_i);
    hi1_d = cur_i.row.hi1;
    if (in_flight && psn_before(cur_i.row.hi1, msg_i.psn1)) begin
      hi1_d = msg_i.psn1;
    end
  end

  // Comparisons with una' are made for both it may be.
  assign before_una = old ? psn_before(msg_i.ctl.base, una)
      : psn_before(msg_i.ctl.base, msg_i.cack1);
  assign over = old ? psn_before(msg_i.last, una) : psn_before(msg_i.last, msg_i.cack1);
  assign newest = nxt_i - 24'd1;
  assign ahead = msg_i.ctl.base - nxt_i;
  assign beyond = msg_i.last - nxt_i;
  assign last_d = beyond[23] ? msg_i.last[23:4] : newest[23:4];
  assign none_d = una_d == nxt_i || !ahead[23] || over;
  assign valid = old || msg_i.cack1 == nxt_i || psn_in(msg_i.cack1, una, nxt_i);
  assign block = before_una ? una_d[23:4] : msg_i.ctl.base[23:4];

  // ---- Ctl1, Row

  win_t row;
  logic [4:0] row_canc;
  logic last;
  assign last = block_i == last_q;

  // One that a newer SACK has overtaken does not know of what is above.
  assign judge1_d = (rcvd_q[23] && bug_i != BugOldSackJudges) ? brought1_q : hi1_q;

  mrc_tx_inflight_sackrow u_row (
      .bug_i,
      .valid_i(at_row),
      .block_i,
      .base_i(msg_i.ctl.base[6:0]),
      .bitmap_i(msg_i.ctl.bitmap),
      .ooo_i(msg_i.ctl.ooo),
      .reorder_i,
      .una_i(una_q),
      .hi1_i(judge1_q),
      .nxt_i,
      .lim_i(lim_q),
      .old_i(overdue_i.old),
      .row_i(win_i),
      .row_o(row),
      .lost_o(row_lost),
      .canc_o(row_canc)
  );

  always_comb begin
    any_d = any_q;
    first_block_d = first_block_q;
    first_row_d = first_row_q;
    canc_d = canc_q;
    if (at_ctl1) begin
      any_d = 1'b0;
      canc_d = 7'd0;
    end else if (at_row) begin
      canc_d = canc_q + {2'd0, row_canc};
      any_d = any_q || row_lost != 16'd0;
      if (!any_q) begin
        first_block_d = block_i;
        first_row_d = row_lost;
      end
    end
  end

  // cack is the last that has arrived in turn, so the next is missing.
  logic [23:0] una_place;
  always_comb begin
    una_place = 24'd0;
    beyond_d = 1'b0;
    if (at_ctl1) begin
      una_place = una_q - msg_i.ctl.base;
      beyond_d = !old_q && una_q != lim_q && una_place[23:6] != 18'd0;
    end
  end

  // ---- Done, Same1: what it says

  logic recent, moved, new_mpr, same, by_time, here, same_lost, time_lost, una_lost;
  logic [23:0] first, lo;
  logic [3:0] bit_una;
  assign recent = at_done && !msg_i.ctl.pr && own_q;
  assign moved = at_done && una_q != una;
  assign new_mpr = at_done && cur_i.row.dyn_mpr && msg_i.ctl.mpr != 8'd0
      && msg_i.ctl.mpr != cur_i.row.mprv && !old_q;
  assign first = {first_block_q, lowest(first_row_q)};
  assign bit_una = una[3:0];
  assign here = at_same1 && !win_i.sacked[bit_una] && !win_i.pend[bit_una];
  assign same_lost = here && same_q && (sent_i.ev_idx == ev_idx_q || bug_i == BugSameEvAny)
      && !win_i.rtxd[bit_una];
  assign time_lost = here && time_q && overdue_i.old[bit_una];
  assign una_lost = same_lost || time_lost;

  // Never behind the window, which is where the first lost one is.
  always_comb begin
    lo = rtx_lo_i;
    if (psn_before(rtx_lo_i, una_q)) begin
      lo = una_q;
    end else if (any_q && psn_before(first, rtx_lo_i)) begin
      lo = first;
    end
  end

  assign same = recent && same_ev_i && !rtx_q && !old_q && una_q != nxt_i
      && psn_before(una_q, msg_i.ctl.psn);
  assign by_time = at_done && overdue_i.knows && beyond_q;
  assign steps_o = '{valid: valid, block: block, none: none_q, last: last, look: same || by_time};
  assign sack_o = '{
          moved: moved,
          una: una_q,
          new_mpr: new_mpr,
          recent: recent,
          rtx: rtx_q,
          ev_idx: ev_idx_q
      };
  assign whole_o = msg_i.cack1 == nxt_i;
  assign una_o = una_q;
  assign own_o = own_q;
  assign rcvd_o = rcvd_q;
  assign canc_o = canc_q;

  // ---- what becomes of the QP

  always_comb begin
    change_o = '0;
    if (at_done) begin
      change_o.we = 1'b1;
      change_o.row = moved ? progress(cur_i.row, nxt_i, tick_i, bug_i) : cur_i.row;
      change_o.row.una = una_q;
      change_o.row.hi1 = psn_before(hi1_q, una_q) ? una_q : hi1_q;
      change_o.row.trip = overdue_i.trip;
      change_o.row.trims = overdue_i.trims;
      if (moved && !msg_i.ctl.pr) begin
        change_o.row.queries = 3'd0;
      end else if (overdue_i.gives_time && cur_i.row.queries != 3'd0) begin
        change_o.row.queries = 3'd1;
      end
      if (new_mpr) begin
        change_o.row.mprv = msg_i.ctl.mpr;
      end
      if (!rcvd_q[23]) begin
        change_o.row.rcvdl = msg_i.ctl.rcvd;
      end
      if (cur_i.is.cc) begin
        change_o.row.fgone = taken_i.fgone;
        change_o.row.credit = taken_i.credit;
        change_o.row.owed = owed_left_i;
      end
      change_o.rtx_lo_we = 1'b1;
      change_o.rtx_lo = lo;
      change_o.enlist = any_q;
      change_o.stays_set = any_q;
      change_o.moved = moved && una_q[23:4] != base_i;
    end else if (una_lost) begin
      change_o.rtx_lo_we = 1'b1;
      change_o.rtx_lo = una;
      change_o.enlist = 1'b1;
      change_o.stays_set = 1'b1;
    end
  end

  // ---- memories

  always_comb begin
    mem_o = '0;
    unique case (state_i)
      StCtl0: begin
        mem_o.map_re = at_ctl0;
        mem_o.map_block = at_ctl0 ? block : 20'd0;
        mem_o.win_re = at_ctl0;
        mem_o.sent_re = at_ctl0;
        mem_o.sent_pos = at_ctl0 ? msg_i.ctl.psn[3:0] : 4'd0;
      end
      StCtl1: begin
        mem_o.map_re = mine;
        mem_o.map_block = mine ? block_i + 20'd1 : 20'd0;
        mem_o.win_re = mine;
      end
      StRow: begin
        mem_o.map_re = !last;
        mem_o.map_block = block_i + 20'd2;
        mem_o.win_re = !last;
        mem_o.win_we = 1'b1;
        mem_o.win = row;
      end
      StDone: begin
        mem_o.map_re = steps_o.look;
        mem_o.map_block = steps_o.look ? una_q[23:4] : 20'd0;
      end
      StSame0: begin
        mem_o.win_re = 1'b1;
        mem_o.sent_re = 1'b1;
        mem_o.sent_pos = bit_una;
      end
      StSame1: begin
        mem_o.win_we = una_lost;
        mem_o.win = win_i;
        mem_o.win.pend = win_i.pend | (16'd1 << bit_una);
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (at_ctl0) begin
      una_q <= una_d;
      hi1_q <= hi1_d;
      brought1_q <= in_flight ? msg_i.psn1 : una_d;
      old_q <= old;
      lim_q <= nxt_i;
      none_q <= none_d;
      last_q <= last_d;
      rcvd_q <= msg_i.ctl.rcvd - cur_i.row.rcvdl;
    end
    if (state_i == StCtl0 && !stay_i) begin
      own_q <= owned_i;
    end
    if (at_ctl1) begin
      judge1_q <= judge1_d;
      ev_idx_q <= sent_i.ev_idx;
      rtx_q <= sent_i.rtx;
      beyond_q <= beyond_d;
    end
    if (at_done) begin
      same_q <= same;
      time_q <= by_time;
    end
    any_q <= any_d;
    first_block_q <= first_block_d;
    first_row_q <= first_row_d;
    canc_q <= canc_d;
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, taken_i.bytes, sent_i.msn, sent_i.row, sent_i.idx, sent_i.size,
                       ahead[22:0], beyond[22:0], newest[3:0], una_place[5:0]};

  // ---- what always holds

  `MRC_ASSERT_CLK_IF(RowsOfASack, at_row || at_done || state_i == StSame0 || at_same1, mine,
      "an answer that is no SACK is in a SACK's state")
  `MRC_ASSERT_CLK_IF(AtMostFiveRows, at_row, last_q - block_i <= 20'd4,
      "a SACK speaks of more than five blocks")
  `MRC_ASSERT_CLK_IF(RowOfTheBitmap, at_row, block_i - msg_i.ctl.base[23:4] <= 20'd4,
      "the bitmap does not speak of this block")
  `MRC_ASSERT_CLK_IF(RowOfTheWindow, at_row, block_i - una_q[23:4] <= newest[23:4] - una_q[23:4],
      "the window does not have this block")
  `MRC_ASSERT_CLK_IF(RowIsQuiet, !at_row, {row, row_lost, row_canc} == '0,
      "a SACK changes a block in another state than Row")
  `MRC_ASSERT_CLK(LostOnce,
      (row_lost & (win_i.sacked | win_i.pend | (win_i.rtxd & ~overdue_i.old))) == 16'd0,
      "a gap counts as lost again")
  `MRC_ASSERT_CLK_IF(AgedAgain, at_row, (row_lost & win_i.rtxd) == 16'd0 || overdue_i.knows,
      "what was sent again is lost, and time tells nothing")
  `MRC_ASSERT_CLK_IF(CancelsAtMost64, at_done, canc_q <= 7'd64,
      "a SACK cancels more losses than it has bits")
  `MRC_ASSERT_CLK_IF(UnaOnlyForward, at_done, una_q == nxt_i || psn_in(una_q, una, nxt_i),
      "a SACK moves una back, or beyond what was sent")
  `MRC_ASSERT_CLK_IF(FirstIsOut, at_done && any_q, psn_in(first, una_q, nxt_i),
      "a packet is lost that was not out")
  `MRC_ASSERT_CLK_IF(LoNotBehind, at_done, lo == nxt_i || psn_in(lo, una_q, nxt_i),
      "rtx_lo falls behind the window")
  `MRC_ASSERT_CLK_IF(TakenIsGone, at_done && cur_i.is.cc,
      taken_i.fgone == cur_i.row.fgone + taken_i.bytes,
      "the controller hears of other bytes than those that leave the flight")
  `MRC_ASSERT_CLK_IF(OwedOnlyLess, at_done && cur_i.is.cc, owed_left_i <= cur_i.row.owed,
      "a SACK makes the debt larger")
  `MRC_ASSERT_CLK_IF(SameLooksAtUna, at_same1, una == una_q,
      "another packet is looked at than una")
  `MRC_ASSERT_CLK_IF(LooksForAReason, at_same1, same_q || time_q,
      "una is looked at, and nobody has asked")
  `MRC_ASSERT_CLK_IF(OldUnaIsOut, time_lost, una != lim_q && psn_in(una, una, nxt_i),
      "by time a packet is lost that was not out")
  `MRC_ASSERT_CLK_IF(OldUnaAgain, time_lost && win_i.rtxd[bit_una], !same_lost,
      "a packet that was sent again is lost because of its EV")

endmodule
