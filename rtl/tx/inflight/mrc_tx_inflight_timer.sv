// SPDX-License-Identifier: Apache-2.0

/// The retransmission timer of mrc_tx_inflight (docs/blocks/tx/inflight/tx_inflight.md): what a visit of a QP
/// finds, what the walk over the blocks of a QP whose oldest mark is an interval old does to one of
/// them, and what is written there once the controller has been told of all losses (their EVs are told
/// one by one, as the packets are sent again). Combinational; what it says means something only with
/// visit_i, walk_i or told_i, which it does not choose itself, and is 0 otherwise.
module mrc_tx_inflight_timer
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
(
    input logic [7:0] bug_i,
    input logic [31:0] tick_i,

    // A visit.
    input logic visit_i,
    input logic visit_live_i,
    input logic visit_armed_i,
    input logic visit_flies_i,  // bytes of it are in flight
    input qp_t visit_c_i,
    input out_t visit_out_i,
    input logic may_ask_i,  // for the peer's state
    output visit_t visit_o,

    // Block block_i of the walk, or of what is told behind it.
    input logic walk_i,
    input logic told_i,
    input logic [19:0] block_i,
    input qp_t c_i,
    input logic [23:0] rtx_lo_i,
    input logic [23:0] lim_i,  // PSN after the newest when the walk began
    input win_t row_i,
    input logic any_i,  // so far: whether some were lost, the first of them, the oldest, or spared
    input logic [23:0] first_i,
    input logic old_i,
    input logic seen_i,  // a packet that is not reported was in an earlier block
    input logic [23:0] low_i,  // the lowest of them
    input logic spared_i,
    input logic past_i,  // the oldest mark was in an earlier block
    output walk_t walk_o
);

  // ---- visit

  logic idle, done, armed, late;
  logic [31:0] age;

  always_comb begin
    visit_o = '0;
    idle = 1'b0;
    done = 1'b0;
    armed = 1'b0;
    late = 1'b0;
    age = 32'd0;
    if (visit_i) begin
      idle = visit_c_i.una == visit_out_i.nxt;
      done = idle && visit_c_i.msn_done == visit_out_i.msn_sent;
      armed = visit_live_i && (!done || visit_flies_i);
      age = tick_i - visit_c_i.start;
      late = armed && visit_armed_i && !done
          && (age & ({{31{1'b1}}, 1'b0} << visit_c_i.retry.shift)) != 32'd0;
      // What still flies is left to the SACK for a moment.
      visit_o.drift = armed && visit_armed_i && done && age[31:3] != 29'd0;
      visit_o.armed = armed;
      visit_o.restart = armed && !visit_armed_i;
      visit_o.step = late && visit_c_i.cnt != 2'd0;
      // The first step since something moved.
      visit_o.ask = late && visit_c_i.cnt == 2'd3 && may_ask_i;
      if (late && visit_c_i.cnt == 2'd0) begin
        visit_o.fail = idle && visit_c_i.retry.exhausted;
        visit_o.dup = idle && !visit_c_i.retry.exhausted;
        visit_o.walk = !idle;
      end
    end
  end

  // ---- walk

  logic [15:0] missing, out, aged, spare, lost;
  logic mark, any, old, last, fail, good;
  win_t win;

  // The walk begins at una, and no mark is before that.
  assign mark = block_i == c_i.marks[0][23:4];

  always_comb begin
    for (int unsigned i = 0; i < 16; i++) begin
      aged[i] = row_i.age[i] != 3'd0;
    end
  end

  always_comb begin
    missing = 16'd0;
    out = 16'd0;
    spare = 16'd0;
    lost = 16'd0;
    win = '0;
    if (walk_i) begin
      missing = from(block_i, c_i.una) & below(block_i, lim_i) & ~row_i.sacked;
      out = missing & ~row_i.pend;
      spare = out & aged;
      lost = past_i ? 16'd0 : out & ~aged & below(block_i, c_i.marks[0]);
      win = row_i;
      win.pend = row_i.pend | lost;
      win.mute = row_i.mute & row_i.pend;
      win.nacked = row_i.nacked & row_i.pend;
      for (int unsigned i = 0; i < 16; i++) begin
        win.age[i] = row_i.age[i] - {2'd0, spare[i]};
      end
    end else if (told_i) begin
      win = row_i;
      if (bug_i != BugLossToldTwice) begin
        win.nacked = row_i.nacked | row_i.pend;
      end
    end
  end

  assign any = any_i || lost != 16'd0;
  assign old = old_i || (!seen_i && (lost & lowest_bit(missing)) != 16'd0);
  assign last = !psn_before({block_i + 20'd1, 4'd0}, lim_i);
  assign fail = walk_i && last && old && c_i.retry.exhausted;
  assign good = walk_i && last && !fail;

  assign walk_o = '{
          win: win,
          any: any,
          old: old,
          seen: seen_i || missing != 16'd0,
          spared: spared_i || spare != 16'd0,
          past: past_i || mark,
          first: any_i ? first_i : {block_i, lowest(lost)},
          low: seen_i ? low_i : {block_i, lowest(missing)},
          more: !last,
          fail: fail,
          good: good,
          mark: good && any,
          // The first one of this block lies before rtx_lo if any of it does.
          back: any_i ? psn_before(first_i, rtx_lo_i)
              : psn_before({block_i, 4'd0}, rtx_lo_i) && (lost & below(block_i, rtx_lo_i)) != 16'd0
      };

  logic unused_ok;
  assign unused_ok = &{1'b0, visit_c_i, visit_out_i, c_i};

endmodule
