// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// The retransmission timer of mrc_tx_inflight (docs/design/blocks/tx/inflight/tx_inflight.md, The
/// timer): what a visit of a QP finds, what the walk over the blocks of a QP whose oldest mark is
/// an interval old does to one of them, what is written there once the controller has been told of
/// all losses (their EVs are told one by one, as the packets are sent again), and what becomes of
/// the QP. It keeps what the walk has found, and chooses no state itself; all it says is zero in
/// other states.
module mrc_tx_inflight_timer
  import mrc_pkg::*;
  import mrc_math_pkg::*;
  import mrc_tx_inflight_pkg::*;
(
    input logic clk_i,
    input logic [7:0] bug_i,
    input logic [31:0] tick_i,

    // A visit.
    input logic visit_i,
    input view_t vis_i,
    input out_t vis_out_i,
    input logic silent_i,  // nothing was sent for long, nor asked
    input logic silence_wait_i,
    input logic time_wait_i,
    input logic may_query_i,  // for the peer's state

    // Block block_i of the walk, or of what is told behind it.
    input state_e state_i,
    input view_t cur_i,
    input logic [23:0] nxt_i,
    input logic [27:0] fsent_i,
    input logic [23:0] rtx_lo_i,
    input logic [23:0] lim_i,  // PSN after the newest when the walk began
    input logic [19:0] block_i,
    input win_t win_i,
    input logic [19:0] early_owed_i,  // a visit: if all that flies leaves the flight

    output logic busy_o,  // a visit: something is open, or bytes still fly
    output logic open_o,  // a visit: something is open
    output timer_steps_t steps_o,
    output timer_t timer_o,
    output mem_t mem_o,
    output change_t change_o
);

  logic at_walk, at_notified;
  assign at_walk = state_i == StWalk;
  assign at_notified = state_i == StNotified;

  // ---- visit

  logic all_acked, done, armed, restarts, late, drift, step, quarter, silent, query, quiet;
  logic fail_visit, dup, walk;
  logic [31:0] age;
  logic [1:0] step_mark;
  assign step_mark = 2'd0 - vis_i.row.cnt;

  always_comb begin
    all_acked = 1'b0;
    done = 1'b0;
    armed = 1'b0;
    restarts = 1'b0;
    drift = 1'b0;
    step = 1'b0;
    quarter = 1'b0;
    silent = 1'b0;
    quiet = 1'b0;
    fail_visit = 1'b0;
    dup = 1'b0;
    walk = 1'b0;
    late = 1'b0;
    age = 32'd0;
    if (visit_i) begin
      all_acked = vis_i.row.una == vis_out_i.nxt;
      done = all_acked && vis_i.row.msn_done == vis_out_i.msn_sent;
      armed = vis_i.is.live && (!done || vis_out_i.fsent != vis_i.row.fgone);
      age = tick_i - vis_i.row.start;
      late = armed && vis_i.is.armed && !done
          && (age & ({{31{1'b1}}, 1'b0} << vis_i.row.retry.shift)) != 32'd0;
      // What still flies is left to the SACK for a moment.
      drift = armed && vis_i.is.armed && done && age[31:3] != 29'd0;
      restarts = armed && !vis_i.is.armed;
      step = late && vis_i.row.cnt != 2'd0;
      // The first step since something moved.
      quarter = late && vis_i.row.cnt == 2'd3 && silence_wait_i;
      silent = silent_i && armed && vis_i.is.armed && !done && !(late && vis_i.row.cnt == 2'd0);
      quiet = !armed;
      if (late && vis_i.row.cnt == 2'd0) begin
        fail_visit = all_acked && vis_i.row.retry.exhausted;
        dup = all_acked && !vis_i.row.retry.exhausted;
        walk = !all_acked;
      end
    end
  end

  assign busy_o = armed;
  assign open_o = visit_i && vis_i.is.live && !done;
  assign query = (quarter || silent) && may_query_i;

  // ---- one block of the walk, or of what is told

  // Up to the block before, and with this one.
  logic any_q, any_d, any;  // some were lost
  logic old_q, old_d, old;  // the oldest was
  logic seen_q, seen_d, seen;  // some packet is not reported
  logic spared_q, spared_d, spared;
  logic past_q, past_d, past;  // the oldest mark is behind us
  logic [23:0] first_q, first;  // the first lost
  logic [23:0] low_q, low;  // the lowest PSN not reported, if seen

  logic [15:0] missing, out, aged, spare, lost, again;
  win_t win;

  always_comb begin
    for (int unsigned i = 0; i < 16; i++) begin
      aged[i] = win_i.age[i][2:1] != 2'd0;
      // Bug 117: the EV of a copy that has just left is to blame.
      again[i] = win_i.age[i][0] && !time_wait_i && bug_i != BugYoungCopyBlamed;
    end
  end

  always_comb begin
    missing = 16'd0;
    out = 16'd0;
    spare = 16'd0;
    lost = 16'd0;
    win = '0;
    if (at_walk) begin
      missing = from(block_i, cur_i.row.una) & below(block_i, lim_i) & ~win_i.sacked;
      out = missing & ~win_i.pend;
      spare = out & aged;
      lost = past_q ? 16'd0 : out & ~aged & below(block_i, cur_i.row.marks[0]);
      win = win_i;
      win.pend = win_i.pend | lost;
      win.mute = (win_i.mute & win_i.pend) | (lost & again);
      win.nacked = win_i.nacked & win_i.pend;
      for (int unsigned i = 0; i < 16; i++) begin
        win.age[i] = lost[i] ? 3'd0 : win_i.age[i] - {2'd0, spare[i]};
      end
    end else if (at_notified) begin
      win = win_i;
      if (bug_i != BugLossToldTwice) begin
        win.nacked = win_i.nacked | win_i.pend;
      end
    end
  end

  assign any = any_q || lost != 16'd0;
  assign old = old_q || (!seen_q && (lost & lowest_bit(missing)) != 16'd0);
  assign seen = seen_q || missing != 16'd0;
  assign spared = spared_q || spare != 16'd0;
  // The walk begins at una, and no mark is before that.
  assign past = past_q || (at_walk && block_i == cur_i.row.marks[0][23:4]);
  assign first = any_q ? first_q : {block_i, lowest(lost)};
  assign low = seen_q ? low_q : {block_i, lowest(missing)};

  // ---- the end of the walk

  logic last, fail_walk, good, marked, back, notified;
  assign last = !psn_before({block_i + 20'd1, 4'd0}, lim_i);
  assign fail_walk = at_walk && last && old && cur_i.row.retry.exhausted;
  assign good = at_walk && last && !fail_walk;
  assign marked = good && any;
  // The first one of this block lies before rtx_lo if any of it does.
  assign back = any_q ? psn_before(first_q, rtx_lo_i)
      : psn_before({block_i, 4'd0}, rtx_lo_i) && (lost & below(block_i, rtx_lo_i)) != 16'd0;
  // Nothing sent within an interval is out: whatever the account says, all of it is lost.
  assign notified = good && cur_i.is.cc && fsent_i != cur_i.row.fgone
      && cur_i.row.marks[0] == nxt_i && !spared;

  assign steps_o = '{walk: walk, more: !last, notified: notified};
  assign timer_o = '{query: query, dup: dup, lost: marked};

  // ---- what becomes of the QP

  always_comb begin
    change_o = '0;
    change_o.fail = fail_visit || fail_walk;
    change_o.landed = drift || dup || notified;
    change_o.enlist = dup || marked;
    change_o.stays_set = marked;
    if (visit_i) begin
      change_o.armed_we = 1'b1;
      change_o.armed = armed;
      change_o.dup_set = dup;
      change_o.we = restarts || step || drift || dup || query || quiet;
      change_o.row = dup ? retried(vis_i.row) : vis_i.row;
      if (restarts || dup) begin
        change_o.row = restart(change_o.row, vis_out_i.nxt, tick_i);
      end
      if (step) begin
        change_o.row.start = tick_i;
        change_o.row.marks[step_mark] = vis_out_i.nxt;
        change_o.row.cnt = vis_i.row.cnt - 2'd1;
      end
      if (drift) begin
        change_o.row.owed = early_owed_i;
      end
      if (quiet) begin
        change_o.row.queries = 3'd0;
      end else if (query && vis_i.row.queries != 3'd7) begin
        change_o.row.queries = vis_i.row.queries + 3'd1;
      end
    end else if (at_walk) begin
      change_o.we = last;
      change_o.row = (good && old) ? retried(cur_i.row) : cur_i.row;
      if (seen) begin
        change_o.row.low = low;
      end
      if (good) begin
        change_o.row.start = tick_i;
        change_o.row.marks = {nxt_i, cur_i.row.marks[3:1]};
      end
      change_o.rtx_lo_we = marked && back;
      change_o.rtx_lo = first;
    end
  end

  // ---- memories

  always_comb begin
    mem_o = '0;
    unique case (state_i)
      StWalk0, StNotified0: begin
        mem_o.map_re = 1'b1;
        mem_o.map_block = block_i + 20'd1;
        mem_o.win_re = 1'b1;
      end
      StWalk: begin
        mem_o.map_re = 1'b1;
        mem_o.map_block = last ? cur_i.row.una[23:4] : block_i + 20'd2;
        mem_o.win_re = !last;
        mem_o.win_we = 1'b1;
        mem_o.win = win;
      end
      StNotified: begin
        mem_o.map_re = !last;
        mem_o.map_block = block_i + 20'd2;
        mem_o.win_re = !last;
        mem_o.win_we = 1'b1;
        mem_o.win = win;
      end
      default: ;
    endcase
  end

  assign {any_d, old_d, seen_d, spared_d, past_d} =
      (state_i == StIdle) ? 5'd0 : {any, old, seen, spared, past};

  always_ff @(posedge clk_i) begin
    any_q <= any_d;
    old_q <= old_d;
    seen_q <= seen_d;
    spared_q <= spared_d;
    past_q <= past_d;
    if (at_walk) begin
      first_q <= first;
      low_q <= low;
    end
  end

  // ---- what always holds

`ifdef MRC_ASSERT_ON
  logic [3:0][23:0] since_una;  // of the marks
  logic [23:0] lim_since_una;
  logic [19:0] una_block, lim_block;
  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begin
      since_una[i] = cur_i.row.marks[i] - cur_i.row.una;
    end
  end
  assign lim_since_una = lim_i - cur_i.row.una;
  assign una_block = cur_i.row.una[23:4];
  assign lim_block = lim_i[23:4] - {19'd0, lim_i[3:0] == 4'd0};

  `MRC_ASSERT_CLK_IF(WalkInWindow, at_walk || at_notified,
      block_i - una_block <= lim_block - una_block,
      "a walk leaves the window")
  // The walk begins at una, and no mark is before that.
  `MRC_ASSERT_CLK_IF(MarksInOrder, at_walk,
      since_una[0] <= since_una[1] && since_una[1] <= since_una[2] && since_una[2] <= since_una[3]
          && since_una[3] <= lim_since_una,
      "a mark is before una or before an older one")

  logic out_q, out_now;  // in the blocks walked over, some packet does not wait to be sent again
  assign out_now = out_q || (missing & ~win.pend) != 16'd0;
  always_ff @(posedge clk_i) begin
    out_q <= at_walk && out_now;
  end

  `MRC_ASSERT_CLK_IF(NothingIsOut, notified, !out_now,
      "the controller is told that nothing is out, and something is")
`endif
  `MRC_ASSERT_CLK_IF(OtherStatesAreQuiet, !visit_i,
      at_walk || at_notified || state_i inside {StWalk0, StNotified0}
          || {change_o, mem_o, timer_o, steps_o.walk, steps_o.notified} == '0,
      "the timer says something in another's state")
  `MRC_ONE_HOT0_CLK(OneOutcome, {restarts, step, drift, fail_visit, dup, walk},
      "a visit has two outcomes")
  `MRC_ASSERT_CLK_IF(QueriesWhileOut, query, visit_i && !done && !fail_visit && !dup && !walk,
      "a peer is asked for its state, and nothing is missing or the timer finds it")
  `MRC_ASSERT_CLK_IF(WalksAWindow, at_walk,
      cur_i.is.live && cur_i.row.una != lim_i && cur_i.row.cnt == 2'd0,
      "a walk over nothing, or too early")
  `MRC_ASSERT_CLK_IF(OldestIsSome, at_walk && old, any && seen,
      "the oldest packet is lost, and none is")
  `MRC_ASSERT_CLK_IF(FirstIsOut, marked, psn_in(first, cur_i.row.una, lim_i),
      "a packet is lost that was not out")
  `MRC_ASSERT_CLK_IF(LowIsOut, at_walk && seen, psn_in(low, cur_i.row.una, lim_i),
      "a packet that was not out is not reported")
  `MRC_ASSERT_CLK(SparesTheAged, (lost & aged) == 16'd0,
      "what is spared is lost")
  `MRC_ASSERT_CLK_IF(NotifiedIsAll, at_notified, (win.pend & ~win.nacked) == 16'd0,
      "a loss is told again that was told with all others")

endmodule
