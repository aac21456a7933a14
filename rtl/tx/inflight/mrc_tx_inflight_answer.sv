// SPDX-License-Identifier: Apache-2.0

/// NACKs and ACKs in mrc_tx_inflight (docs/blocks/tx/inflight/tx_inflight.md, Nack and Ack): whether one counts,
/// and what follows for the window. Combinational; what it says means something only with nack_i or
/// ack_i. It changes nothing itself.
module mrc_tx_inflight_answer
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
(
    input logic [7:0] bug_i,
    input logic nack_i,
    input logic ack_i,
    input ctl_t ctl_i,
    input logic [23:0] after_i,  // PSN after psn
    input qp_t c_i,
    input logic [23:0] rtx_lo_i,
    input logic [23:0] nxt_i,
    input logic [15:0] msn_sent_i,
    input logic owned_i,
    input win_t win_i,

    output answer_t answer_o
);

  // ---- NACK

  logic in, event_, reported, oldest, counted, nack_fail, nack_counts, nack_mark, nack_takes;
  win_t win;
  logic [15:0] here;
  assign here = 16'd1 << ctl_i.psn[3:0];
  assign in = psn_in(ctl_i.psn, c_i.una, nxt_i);
  assign event_ = ctl_i.reason == 8'h19;
  assign reported = (win_i.sacked & here) != 16'd0;
  // The oldest packet that is not reported is una, unless an ACK has moved una to a packet that a
  // SACK had reported before: then it is the one that the timer has found.
  assign oldest = ctl_i.psn == c_i.una || ctl_i.psn == c_i.low;
  assign counted = oldest && in && !reported && ctl_i.reason inside {8'h06, 8'h07, 8'h0A, 8'h0B};
  assign nack_fail = nack_i && (event_ || (counted && c_i.retry.exhausted));
  assign nack_counts = nack_i && !nack_fail && counted;
  // What a gap or the timer has found before, its EV not told yet, was trimmed, not lost.
  assign nack_mark = nack_i && !nack_fail && in && !reported
      && (win_i.pend & win_i.mute & here) == 16'd0;
  assign nack_takes = nack_mark && (win_i.pend & win_i.nacked & here) == 16'd0;

  always_comb begin
    win = win_i;
    win.mute = win_i.mute | here;
    win.nacked = win_i.nacked | here;
    win.pend = win_i.pend | ((bug_i == BugNackPlusOne) ? {here[14:0], here[15]} : here);
  end

  // ---- ACK

  logic good, nak, old, ack_ok;
  logic [23:0] una;
  logic [15:0] ahead, left;  // messages from the oldest to it, from it to the newest
  assign good = ctl_i.reason[7:5] == 3'b000;
  assign nak = ctl_i.reason[7:5] == 3'b011;
  assign old = psn_before(after_i, c_i.una);
  assign ahead = ctl_i.msn - c_i.msn_done;
  assign left = msn_sent_i - ctl_i.msn;

  always_comb begin
    ack_ok = 1'b0;
    if (good) begin
      ack_ok = ack_i && (old || after_i == nxt_i || psn_in(after_i, c_i.una, nxt_i))
          && !ahead[15] && !left[15];
    end else if (nak) begin
      ack_ok = ack_i && !ahead[15] && (!left[15] || left == 16'hFFFF);
    end
  end

  assign una = (good && !old) ? after_i : c_i.una;

  assign answer_o = '{
          nack_fail: nack_fail,
          nack_event: event_,
          nack_counts: nack_counts,
          nack_mark: nack_mark,
          nack_takes: nack_takes,
          nack_back: psn_before(ctl_i.psn, rtx_lo_i),
          nack_trimmed: nack_i && ctl_i.reason == 8'h01 && owned_i,
          win: win,
          ack_ok: ack_ok,
          ack_nak: ack_ok && nak,
          ack_changed: ack_ok && (una != c_i.una || ctl_i.msn != c_i.msn_done),
          una: una,
          rtx_lo: psn_before(rtx_lo_i, una) ? una : rtx_lo_i,
          top: psn_before(c_i.top, una) ? una : c_i.top
      };

  logic unused_ok;
  assign unused_ok = &{1'b0, ctl_i, c_i, ahead};

endmodule
