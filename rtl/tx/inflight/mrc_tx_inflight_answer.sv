// SPDX-License-Identifier: Apache-2.0

/// NACKs, packets that came back, and ACKs in mrc_tx_inflight
/// (docs/design/blocks/tx/inflight/tx_inflight.md, Nack, Returned and Ack): whether one counts, and
/// what follows for the window and the QP. Combinational; all it says is zero in other states.
module mrc_tx_inflight_answer
  import mrc_pkg::*;
  import mrc_math_pkg::*;
  import mrc_tx_inflight_pkg::*;
(
    input logic [7:0] bug_i,
    input logic [31:0] tick_i,

    input state_e state_i,
    input logic stay_i,  // Ctl0, Ack: it waits
    input msg_t msg_i,
    input view_t cur_i,
    input logic [23:0] nxt_i,
    input logic [15:0] msn_sent_i,
    input logic [23:0] rtx_lo_i,
    input logic [19:0] base_i,
    input logic owned_i,  // the record of psn is there
    input win_t win_i,
    input logic sent_rtx_i,  // of the record of psn
    input taken_t taken_i,  // by the packet
    input logic [17:0] trip_i,  // of the QP from now on, as the next one
    input logic trims_i,

    output answer_t answer_o,
    output mem_t mem_o,
    output change_t change_o
);

  logic is_nack, is_back, at_nack, at_back, at_ack;
  assign is_nack = msg_i.ctl.kind != CtlKindSack;
  assign is_back = msg_i.ctl.kind == CtlKindReturned;
  assign at_nack = state_i == StCtl1 && is_nack && !is_back;
  assign at_back = state_i == StCtl1 && is_back;
  assign at_ack = state_i == StAck && !stay_i;

  logic [23:0] una_before;
  assign una_before = cur_i.row.una;

  // ---- NACK

  logic in, event_, reported, oldest, counted, nack_fail, nack_counts, nack_mark, nack_takes;
  win_t win;
  logic [15:0] here;
  assign here = 16'd1 << msg_i.ctl.psn[3:0];
  assign in = psn_in(msg_i.ctl.psn, una_before, nxt_i);
  assign event_ = msg_i.ctl.reason == NackReasonUnexpEvent;
  assign reported = (win_i.sacked & here) != 16'd0;
  // The oldest packet that is not reported is una, unless an ACK has moved una to a packet that a
  // SACK had reported before: then it is the one that the timer has found.
  assign oldest = msg_i.ctl.psn == una_before || msg_i.ctl.psn == cur_i.row.low;
  assign counted = oldest && in && !reported
      && msg_i.ctl.reason inside {NackReasonNoBitmap, NackReasonNoPktBuffer,
                                  NackReasonNoResource, NackReasonPsnOorWindow};
  assign nack_fail = at_nack && (event_ || (counted && cur_i.row.retry.exhausted));
  assign nack_counts = at_nack && !nack_fail && counted;
  // A gap or the timer may have found this packet lost before. As long as its EV has not heard of
  // it: the packet was trimmed, not lost.
  assign nack_mark = at_nack && !nack_fail && in && !reported
      && (win_i.pend & win_i.mute & here) == 16'd0;
  assign nack_takes = nack_mark && (win_i.pend & win_i.nacked & here) == 16'd0;

  // A packet that came back is lost, if it is the copy that is out. Its EV is told when it is sent
  // again, as after a gap.
  logic back_mark;
  assign back_mark = at_back && in && !reported && (win_i.pend & here) == 16'd0
      && (sent_rtx_i == msg_i.ctl.m[0] || bug_i == BugReturnedStale);

  always_comb begin
    win = win_i;
    if (!is_back) begin
      win.mute = win_i.mute | here;
      win.nacked = win_i.nacked | here;
      for (int unsigned i = 0; i < 16; i++) begin
        if (here[i]) begin
          win.age[i] = 3'd0;
        end
      end
    end
    win.pend = win_i.pend | ((bug_i == BugNackPlusOne) ? {here[14:0], here[15]} : here);
  end

  // ---- ACK

  logic good, nak, old, ack_ok, changed;
  logic [23:0] una;
  logic [15:0] ahead, left;  // messages from the oldest to it, from it to the newest
  assign good = msg_i.ctl.reason[7:5] == AethClassAck;
  assign nak = msg_i.ctl.reason[7:5] == AethClassNak;
  assign old = psn_before(msg_i.psn1, una_before);
  assign ahead = msg_i.ctl.msn - cur_i.row.msn_done;
  assign left = msn_sent_i - msg_i.ctl.msn;

  always_comb begin
    ack_ok = 1'b0;
    if (good) begin
      ack_ok = at_ack && !ahead[15] && !left[15]
          && (old || msg_i.psn1 == nxt_i || psn_in(msg_i.psn1, una_before, nxt_i));
    end else if (nak) begin
      ack_ok = at_ack && !ahead[15] && (!left[15] || left == 16'hFFFF);
    end
  end

  assign una = (good && !old) ? msg_i.psn1 : una_before;
  assign changed = ack_ok && (una != una_before || msg_i.ctl.msn != cur_i.row.msn_done);

  assign answer_o = '{
          event_: event_,
          takes: nack_takes,
          trimmed: at_nack && msg_i.ctl.reason == NackReasonTrimmed && owned_i,
          changed: changed,
          nak: ack_ok && nak,
          una: una
      };

  // ---- what becomes of the QP

  always_comb begin
    change_o = '0;
    change_o.fail = nack_fail;
    if (at_nack || at_back) begin
      change_o.we = 1'b1;
      change_o.row = cur_i.row;
      if (nack_counts) begin
        change_o.row = retried(cur_i.row);
      end
      change_o.row.trip = trip_i;
      change_o.row.trims = trims_i;
      if (nack_takes && cur_i.is.cc && bug_i != BugNackKeepsFlight) begin
        change_o.row.fgone = taken_i.fgone;
        change_o.row.credit = taken_i.credit;
      end
      change_o.rtx_lo_we = (nack_mark || back_mark) && psn_before(msg_i.ctl.psn, rtx_lo_i);
      change_o.rtx_lo = msg_i.ctl.psn;
      change_o.enlist = nack_mark || back_mark;
      change_o.stays_set = back_mark;
    end else if (at_ack) begin
      change_o.we = ack_ok;
      change_o.row = changed ? progress(cur_i.row, nxt_i, tick_i, bug_i) : cur_i.row;
      change_o.row.una = una;
      change_o.row.hi1 = psn_before(cur_i.row.hi1, una) ? una : cur_i.row.hi1;
      if (!nak) begin
        change_o.row.msn_done = msg_i.ctl.msn;
      end
      change_o.rtx_lo_we = ack_ok;
      change_o.rtx_lo = psn_before(rtx_lo_i, una) ? una : rtx_lo_i;
      change_o.moved = changed && una[23:4] != base_i;
      change_o.over = ack_ok && nak;
    end
  end

  // ---- memories

  always_comb begin
    mem_o = '0;
    if (state_i == StCtl0 && is_nack && !stay_i) begin
      mem_o.win_re = 1'b1;
      mem_o.sent_re = 1'b1;
      mem_o.sent_pos = msg_i.ctl.psn[3:0];
    end
    if (at_nack || at_back) begin
      mem_o.win_we = nack_mark || back_mark;
      mem_o.win = win;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, taken_i.bytes, msg_i.cack1, msg_i.last, ahead[14:0]};

endmodule
