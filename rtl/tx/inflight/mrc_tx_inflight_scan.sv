// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Retransmissions in mrc_tx_inflight (docs/design/blocks/tx/inflight/tx_inflight.md, Retx0 to
/// RetxW): the search for the next packet to send again, one block of 16 PSNs per cycle, the one
/// rtx_lo points into; what becomes of that packet's row and of the QP, and of both if the
/// controller refuses it. With leave_i the same search is for what is lost and still in flight: it
/// is reported, and stays where it is. It keeps what it has found, and chooses no state itself.
module mrc_tx_inflight_scan
  import mrc_pkg::*;
  import mrc_math_pkg::*;
  import mrc_tx_inflight_pkg::*;
(
    input logic clk_i,
    input logic [7:0] bug_i,
    input logic [31:0] tick_i,
    input logic time_wait_i,
    input logic lost_stays_i,

    input state_e state_i,
    input view_t cur_i,
    input logic [23:0] nxt_i,
    input logic [23:0] rtx_lo_i,
    input logic [23:0] lim_i,  // PSN after the newest when the search began
    input leave_t leave_i,
    input win_t win_i,
    input logic [13:0] size_i,  // RetxW: of the packet found
    input taken_t taken_i,  // by the packet
    input logic rans_valid_i,
    input logic [15:0] rans_bytes_i,

    output scan_steps_t steps_o,
    output scan_t scan_o,
    output mem_t mem_o,
    output change_t change_o
);

  localparam logic [1:0] LastStep = 2'd3;  // blocks looked at in one turn, less one

  // What was found: kept until the controller has answered.
  logic [23:0] p_q, p_d;
  logic loss_q, loss_d, blame_q, blame_d;
  logic again_q, again_d;  // it is the newest packet, for the sake of its ACK
  logic [1:0] steps_q, steps_d;

  logic at_scan, at_retx0, at_retx1, at_retxw;
  assign at_retx0 = state_i == StRetx0;
  assign at_scan = state_i == StScan;
  assign at_retx1 = state_i == StRetx1;
  assign at_retxw = state_i == StRetxW;

  // ---- Scan

  logic [15:0] waiting, pick;
  logic [3:0] position;
  logic [23:0] lo, next, behind, newest;
  logic [19:0] block, block1;
  logic found, more, over;
  assign lo = leave_i.on ? leave_i.at : rtx_lo_i;
  assign block = lo[23:4];
  assign block1 = block + 20'd1;
  assign next = {block1, 4'd0};
  assign newest = nxt_i - 24'd1;

  always_comb begin
    waiting = 16'd0;
    if (at_scan) begin
      waiting = win_i.pend & ~win_i.sacked & ({16{1'b1}} << lo[3:0]) & below(block, lim_i)
          & ~(leave_i.on ? win_i.nacked : 16'd0);
    end
  end

  assign found = waiting != 16'd0;
  assign pick = lowest_bit(waiting);
  assign position = lowest(waiting);
  assign more = psn_before(next, lim_i);
  assign behind = {(position == 4'd15) ? block1 : block, position + 4'd1};
  assign again_d = at_scan && !found && !more && cur_i.is.dup && !leave_i.on;
  assign over = (at_retx0 && !cur_i.is.live) || (at_scan && !found && !more && !again_d);

  // The block without that packet. The timer spares it for about an interval: three steps, and one
  // more late in the one that runs; the next cnt of them look at nothing. If it went again before
  // and the timer has not found it since, the timer runs on.
  win_t win;
  logic [31:0] since;
  logic late;
  logic [2:0] age;
  always_comb begin
    since = tick_i - cur_i.row.start;
    late = (since & ({32{1'b1}} << cur_i.row.retry.shift)) != 32'd0;
    age = (late ? 3'd5 : 3'd4) - {1'b0, cur_i.row.cnt};
    if (bug_i == BugRtxNotSpared) begin
      age = 3'd0;
    end
    win = win_i;
    if (leave_i.on) begin
      win.mute = win_i.mute | pick;
      win.nacked = win_i.nacked | pick;
    end else begin
      win.pend = win_i.pend & ~pick;
      win.rtxd = win_i.rtxd | pick;
      win.mute = win_i.mute & ~pick;
      win.nacked = win_i.nacked & ~pick;
      for (int unsigned i = 0; i < 16; i++) begin
        if (pick[i] && (win_i.age[i] == 3'd0 || bug_i == BugAgeRenewed)) begin
          win.age[i] = age;
        end
      end
    end
  end

  // ---- RetxW

  logic granted, refused, put_back, leave;
  assign granted = at_retxw && rans_valid_i && rans_bytes_i != 16'd0;
  assign refused = at_retxw && rans_valid_i && rans_bytes_i == 16'd0;
  assign put_back = refused && bug_i != BugRefusedRtxForgotten;
  assign leave = put_back && !again_q && cur_i.is.stays && !lost_stays_i && bug_i != BugLostStays;

  // The block as it was before (the memory still shows it), its loss told.
  win_t back;
  logic [15:0] notified;
  assign notified = 16'd1 << p_q[3:0];
  always_comb begin
    back = win_i;
    back.mute = win_i.mute | notified;
    back.nacked = win_i.nacked | notified;
  end

  logic passed;
  logic [23:0] at;
  assign passed = at_retx0 && leave_i.on && psn_before(leave_i.at, rtx_lo_i);
  always_comb begin
    at = found ? behind : next;
    if (leave) begin
      at = p_q;
    end
    if (passed) begin
      at = rtx_lo_i;
    end
  end

  assign steps_o = '{
          send: found || again_d,
          stop: !more || steps_q == LastStep,
          granted: granted,
          refused: refused,
          leave: leave,
          left: leave_i.on && over,
          passed: passed,
          at_we: leave || passed || (leave_i.on && at_scan && (found || more)),
          at: at
      };
  assign scan_o = '{p: p_q, loss: loss_q, blame: blame_q};

  // ---- what becomes of the QP

  always_comb begin
    change_o = '0;
    change_o.turn = at_scan && (found || again_d) && !leave_i.on;
    change_o.delist = over && !leave_i.on;
    change_o.dup_clear = (over && !leave_i.on) || again_d;
    change_o.stays_clear = leave;
    if (at_scan && !leave_i.on) begin
      change_o.rtx_lo_we = 1'b1;
      if (found) begin
        change_o.rtx_lo = behind;
      end else begin
        change_o.rtx_lo = more ? next : nxt_i;
      end
    end
    if (at_retx1) begin
      change_o.we = cur_i.is.cc && loss_q;
      change_o.row = cur_i.row;
      change_o.row.fgone = taken_i.fgone;
      change_o.row.credit = taken_i.credit;
    end
    if (at_retxw) begin
      change_o.we = granted;
      change_o.row = cur_i.row;
      change_o.row.fgone = cur_i.row.fgone - {14'd0, size_i};
      change_o.dup_set = put_back && again_q;
      change_o.rtx_lo_we = put_back && !again_q;
      change_o.rtx_lo = p_q;
    end
  end

  // ---- memories

  always_comb begin
    mem_o = '0;
    unique case (state_i)
      StRetx0: begin
        mem_o.map_re = 1'b1;
        mem_o.map_block = block1;
        mem_o.win_re = 1'b1;
      end
      StScan: begin
        mem_o.map_re = !found && more;
        mem_o.map_block = block + 20'd2;
        mem_o.win_re = !found && more;
        mem_o.win_we = found;
        mem_o.win = win;
        mem_o.sent_re = found || again_d;
        mem_o.sent_of = found ? SentOfWin : SentOfNewest;
        mem_o.sent_pos = found ? position : newest[3:0];
      end
      StRetx1: begin
        mem_o.stamp_we = !again_q && !time_wait_i && !leave_i.on;
        mem_o.stamp_pos = mem_o.stamp_we ? p_q[3:0] : 4'd0;
      end
      StRetxW: begin
        mem_o.win_we = put_back && !again_q;
        mem_o.win = back;
      end
      default: ;
    endcase
  end

  always_comb begin
    p_d = p_q;
    loss_d = loss_q;
    blame_d = blame_q;
    steps_d = steps_q;
    if (at_retx0) begin
      steps_d = 2'd0;
    end
    if (at_scan) begin
      p_d = found ? {block, position} : newest;
      loss_d = found && (pick & win_i.nacked) == 16'd0;
      blame_d = found && (pick & win_i.mute) == 16'd0;
      steps_d = steps_q + 2'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    p_q <= p_d;
    loss_q <= loss_d;
    blame_q <= blame_d;
    steps_q <= steps_d;
    if (at_scan) begin
      again_q <= again_d;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, taken_i.bytes};

  // ---- what always holds

`ifdef MRC_ASSERT_ON
  logic [2:0] looks_q;  // blocks looked at in this turn
  always_ff @(posedge clk_i) begin
    if (at_retx0) begin
      looks_q <= 3'd0;
    end else if (at_scan) begin
      looks_q <= looks_q + 3'd1;
    end
  end

  `MRC_ASSERT_CLK_IF(AtMostFourBlocks, at_scan, looks_q <= {1'b0, LastStep},
      "a search looks at a fifth block in one turn")
`endif
  `MRC_ASSERT_CLK_IF(ScansTheLiving, at_scan || at_retx1 || at_retxw, cur_i.is.live,
      "a packet of a QP that is over is sent again")
  `MRC_ASSERT_CLK_IF(ScansTheWindow, at_scan,
      lo == lim_i || psn_in(lo, cur_i.row.una, lim_i),
      "a search leaves the window")
  `MRC_ONE_HOT0_CLK(FindsOne, pick,
      "two packets are found at once")
  `MRC_ASSERT_CLK_IF(FoundWaits, at_scan, (pick & ~(win_i.pend & ~win_i.sacked)) == 16'd0,
      "a packet is found that does not wait")
  `MRC_ASSERT_CLK_IF(LeavesOnce, at_scan && leave_i.on, (pick & win_i.nacked) == 16'd0,
      "a packet leaves the flight that has left it")
  `MRC_ASSERT_CLK_IF(LeavesAFlight, at_scan && leave_i.on, cur_i.is.cc,
      "what a QP without a controller has lost leaves a flight")
  `MRC_ASSERT_CLK_IF(SparedFourSteps, at_scan, age <= 3'd5,
      "a packet is spared for more than four steps")
  `MRC_ASSERT_CLK_IF(SendsWhatIsOut, at_retx1 || at_retxw,
      again_q || psn_in(p_q, cur_i.row.una, lim_i),
      "a packet is sent again that is not out")
  `MRC_ASSERT_CLK_IF(AgainNotifiesNobody, at_retx1 && again_q, !(loss_q || blame_q),
      "a packet that goes again for the sake of its ACK is told as lost")
  `MRC_ASSERT_CLK_IF(RequestsWithController, at_retxw, cur_i.is.cc,
      "a QP without a controller waits for one")
  `MRC_ASSERT_CLK_IF(AnswerIsAwaited, rans_valid_i, at_retxw,
      "the controller answers what nobody has asked")
  `MRC_ASSERT_CLK_IF(BlockAsItWas, refused, again_q || (win_i.pend & notified) != 16'd0,
      "a block is put back in which the packet did not wait")

endmodule
