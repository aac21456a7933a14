// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// What a port reports, in mrc_tx_inflight (docs/design/blocks/tx/inflight/tx_inflight.md, What a
/// port reports): while a plane is down, our own port or (by PEER_PORTS) the peer's, what was given
/// to it and is not reported is lost, and leaves the flight at once; and each QP with something
/// open asks its peer for its state. The visits bring those QPs by (mrc_tx_inflight_looks). Each is
/// looked at from its newest block of 16 PSNs on: a block takes four cycles and one per PSN that is
/// out, and ends the turn. It keeps how far it is, and chooses no state itself; all it says to the
/// QP and to the memories is zero in other states. What is in flight it knows from the window and
/// the records alone: no bit per packet.
module mrc_tx_inflight_ports
  import mrc_pkg::*;
  import mrc_math_pkg::*;
  import mrc_tx_inflight_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned NumDests = 4,
    localparam int unsigned QpW = $clog2(NumQps),
    localparam int unsigned DestW = $clog2(NumDests)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input logic port_wait_i,
    input logic state_silent_i,
    input logic [NumPlanes-1:0] port_up_i,

    // PEER_PORTS: the row at the bus; it is carried out. QP_CTX is carried out.
    input logic [DestW-1:0] peer_i,
    input logic [NumPlanes-1:0] mask_i,
    input logic row_i,
    input logic waits_i,  // a table write that is done here is not yet done everywhere
    input logic ctx_i,

    // Who is visited: who comes, and at a visit whether it leaves and whether something is open.
    input logic comes_i,
    input logic [QpW-1:0] come_qp_i,
    input logic visit_i,
    input logic [QpW-1:0] visit_qp_i,
    input logic leaves_i,
    input logic open_i,
    input logic [15:0] visit_dest_i,

    // The QP of the operation: in Seek and behind it the one that is at.
    input state_e state_i,
    output logic [QpW-1:0] at_o,
    input view_t cur_i,
    input out_t out_i,
    input logic [23:0] rtx_lo_i,
    input win_t win_i,
    input sent_t sent_i,
    input taken_t taken_i,  // by the packet

    output ports_steps_t steps_o,
    output ports_t ports_o,
    output mem_t mem_o,
    output change_t change_o
);

  localparam logic [5:0] Soon = 6'd63;

  logic [NumPlanes-1:0] up_q, down_q;
  logic mid_q, mid_d, own_q, own_d, said_q, said_d;
  logic [19:0] block_q, block_d;
  logic [5:0] soon_q, soon_d;
  logic [DestW-1:0] peer_q;
  logic [15:0] rest_q, rest_d, lost_q, lost_d;
  logic [17:0] gone_q;  // of fgone, before the block

  logic seek, port1, port2, port3;
  assign seek = state_i == StSeek;
  assign port1 = state_i == StPort1;
  assign port2 = state_i == StPort2;
  assign port3 = state_i == StPort3;

  // ---- what is down, and who is meant

  logic fell, says, anew, to_peer, meant;
  logic [NumPlanes-1:0] gone;
  assign fell = (up_q & ~port_up_i) != '0 && !port_wait_i;
  // Peers tell their ports one behind the other: the row waits until the one before is done.
  assign says = !port_wait_i && mask_i != '1;
  assign anew = row_i && says;

  // ---- who is looked at

  logic at_on, none_left, take, at_done;
  mrc_tx_inflight_looks #(
      .NumQps(NumQps)
  ) u_looks (
      .clk_i,
      .rst_ni,
      .bug_i,
      .anew_i(anew || fell),
      .on_i(own_q || said_q),
      .may_i(soon_q == 6'd0),
      .comes_i,
      .come_qp_i,
      .visit_i,
      .visit_qp_i,
      .leaves_i,
      .open_i(open_i && (own_q || (said_q && visit_dest_i[DestW-1:0] == peer_q))),
      .take_o(take),
      .done_i(at_done),
      .at_on_o(at_on),
      .at_o,
      .none_left_o(none_left)
  );
  assign to_peer = said_q && cur_i.row.dest[DestW-1:0] == peer_q;
  assign meant = own_q || to_peer;
  assign gone = ~port_up_i | (to_peer ? down_q : '0);

  // ---- Seek

  logic all_acked, past, look, open, query;
  logic [19:0] una_block, ahead, newest, start;
  assign una_block = cur_i.row.una[23:4];
  assign all_acked = cur_i.row.una == out_i.nxt;
  // A block that was to be looked at next may have been acknowledged meanwhile; the newest is not
  // behind una if anything is out.
  assign ahead = block_q - una_block;
  assign past = mid_q && ahead[19];
  assign newest = (out_i.nxt[3:0] == 4'd0) ? out_i.nxt[23:4] - 20'd1 : out_i.nxt[23:4];
  assign start = mid_q ? block_q : newest;
  assign open = cur_i.is.live && !(all_acked && cur_i.row.msn_done == out_i.msn_sent);
  assign look = seek && cur_i.is.live && meant && !all_acked && !past;
  assign query = seek && open && meant && !mid_q && !state_silent_i;

  // ---- Port1: what is out

  logic [15:0] out;
  always_comb begin
    out = 16'd0;
    if (port1) begin
      out = from(block_q, cur_i.row.una) & below(block_q, out_i.nxt)
          & ~win_i.sacked & ~win_i.pend;
    end
  end

  // ---- Port2: the lowest PSN of the rest

  logic [15:0] here;
  logic of_plane, waits, is_lost;
  assign here = lowest_bit(rest_q);
  assign of_plane = sent_i.ev_idx != 16'hFFFF
      && gone[sent_i.ev_idx[$clog2(NumPlanes)-1:0]];
  // Chosen to go again: the record is still that of the packet before.
  assign waits = (win_i.rtxd & here) != 16'd0 && !sent_i.rtx;
  assign is_lost = port2 && of_plane && !waits;

  always_comb begin
    rest_d = rest_q;
    lost_d = lost_q;
    if (port1) begin
      rest_d = out;
      lost_d = 16'd0;
    end else if (port2) begin
      rest_d = rest_q & ~here;
      lost_d = is_lost ? lost_q | here : lost_q;
    end
  end

  // ---- Port3: what was lost

  logic loses;
  logic [23:0] first;
  win_t win;
  assign loses = port3 && lost_q != 16'd0;
  assign first = {block_q, lowest(lost_q)};
  always_comb begin
    win = win_i;
    win.pend = win_i.pend | lost_q;
    win.nacked = win_i.nacked | lost_q;
    win.mute = win_i.mute | lost_q;
  end

  // ---- the block before, or the next QP

  logic block_end, next_block;
  assign block_end = (port1 && out == 16'd0) || port3;
  assign next_block = block_end && block_q != una_block && bug_i != BugPortsNewestOnly;
  assign at_done = (seek && !look) || (block_end && !next_block);

  always_comb begin
    block_d = block_q;
    mid_d = mid_q;
    own_d = own_q;
    said_d = said_q;
    soon_d = (soon_q == 6'd0 || waits_i) ? soon_q : soon_q - 6'd1;
    if (seek) begin
      block_d = start;
    end
    if (next_block) begin
      block_d = block_q - 20'd1;
      mid_d = 1'b1;
    end
    if (at_done || take) begin
      mid_d = 1'b0;
    end
    if (none_left && !at_on && soon_q == 6'd0) begin
      own_d = 1'b0;
      said_d = 1'b0;
    end
    if (ctx_i) begin
      mid_d = 1'b0;
    end
    if (anew) begin
      said_d = 1'b1;
    end
    if (fell) begin
      own_d = 1'b1;
    end
    if (anew || fell) begin
      soon_d = Soon;
    end
  end

  assign steps_o = '{
          hold: says && said_q,
          due: at_on && soon_q == 6'd0,
          look: look,
          none: out == 16'd0,
          last: rest_d == 16'd0
      };

  // What left the flight of it, by the bytes that are gone: at most 16 packets of 14 bits.
  assign ports_o = '{query: query, loses: loses, bytes: cur_i.row.fgone[17:0] - gone_q};

  // ---- what becomes of the QP

  always_comb begin
    change_o = '0;
    if (port2) begin
      change_o.we = is_lost && cur_i.is.cc;
      change_o.row = cur_i.row;
      change_o.row.fgone = taken_i.fgone;
      change_o.row.credit = taken_i.credit;
    end
    if (port3) begin
      change_o.enlist = loses;
      change_o.rtx_lo_we = loses && psn_before(first, rtx_lo_i);
      change_o.rtx_lo = first;
    end
  end

  // ---- memories

  always_comb begin
    mem_o = '0;
    unique case (state_i)
      StSeek: begin
        mem_o.map_re = look;
        mem_o.map_block = start;
      end
      StPort0: mem_o.win_re = 1'b1;
      StPort1: begin
        mem_o.sent_re = out != 16'd0;
        mem_o.sent_pos = lowest(out);
      end
      StPort2: begin
        mem_o.sent_re = rest_d != 16'd0;
        mem_o.sent_pos = lowest(rest_d);
      end
      StPort3: begin
        mem_o.win_we = loses;
        mem_o.win = win;
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      up_q <= '0;
      mid_q <= 1'b0;
      own_q <= 1'b0;
      said_q <= 1'b0;
      soon_q <= 6'd0;
    end else begin
      up_q <= port_up_i;
      mid_q <= mid_d;
      own_q <= own_d;
      said_q <= said_d;
      soon_q <= soon_d;
    end
  end

  always_ff @(posedge clk_i) begin
    block_q <= block_d;
    rest_q <= rest_d;
    lost_q <= lost_d;
    if (anew) begin
      peer_q <= peer_i;
      down_q <= ~mask_i;
    end
    if (port1) begin
      gone_q <= cur_i.row.fgone[17:0];
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, cur_i.is.fresh, cur_i.is.held, cur_i.is.kept, cur_i.is.armed,
                       cur_i.is.inq, cur_i.is.dup, cur_i.row.dest, out_i.fsent, ahead[18:0],
                       sent_i.msn, sent_i.row, sent_i.idx, sent_i.ev_idx, sent_i.size,
                       taken_i.bytes, visit_dest_i};

  // ---- what always holds

`ifdef MRC_ASSERT_ON
  logic [4:0] packets_q;  // PSNs of this block likewise
  logic [19:0] out_ahead;
  assign out_ahead = out_i.nxt[23:4] - block_q;
  always_ff @(posedge clk_i) begin
    packets_q <= port2 ? packets_q + 5'd1 : 5'd0;
  end

  `MRC_ASSERT_IF(AtMostSixteenPackets, port2, packets_q <= 5'd15 && rest_q != 16'd0,
      "a block has a seventeenth packet, or no more")
  `MRC_ASSERT_IF(LooksAtTheWindow, port1 || port2 || port3,
      20'(block_q - una_block) < 20'h80000 && out_ahead < 20'h80000,
      "a block is looked at that is not in the window")
`endif
  `MRC_ASSERT_IF(OthersAreQuiet, !seek && !port1 && !port2 && !port3 && state_i != StPort0,
      {change_o, mem_o, steps_o.look, ports_o.query, ports_o.loses} == '0,
      "a port tells something in another's state")
  `MRC_ASSERT_IF(SomebodyIsAt, seek || port1 || port2 || port3, at_on,
      "a QP is looked at, and none is at")
  `MRC_ASSERT_IF(MeansSomebody, at_on, own_q || said_q,
      "a QP is to be looked at, and nothing is down")
  `MRC_ASSERT_IF(NotifiedOnce, anew, !said_q,
      "what a peer said is forgotten before it is done")
  `MRC_ASSERT_IF(LooksAtTheLiving, port1 || port2 || port3,
      cur_i.is.live && !all_acked && meant,
      "a port tells of a QP with nothing out, or that is not meant")
  `MRC_ASSERT_IF(LosesWhatIsOut, loses, (lost_q & (win_i.sacked | win_i.pend)) == 16'd0,
      "a packet is lost that was reported or waits already")
  `MRC_ASSERT_IF(FirstIsOut, loses, psn_in(first, cur_i.row.una, out_i.nxt),
      "a packet is lost that was not out")
  `MRC_ASSERT_IF(NoControllerNoBytes, loses && !cur_i.is.cc, ports_o.bytes == 18'd0,
      "a packet leaves a flight that nobody controls")

endmodule
