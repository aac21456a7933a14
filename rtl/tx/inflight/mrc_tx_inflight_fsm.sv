// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// The main machine of mrc_tx_inflight (docs/design/blocks/tx/inflight/tx_inflight.md): its state,
/// what an Idle cycle does (a table write, or one of six kinds of operation in turn, each only if
/// the outputs that it may need are free), when an answer that ends begins the next one without a
/// cycle in Idle (that one then waits for the outputs itself, in its first state), and what all
/// operations keep from cycle to cycle: whose QP, which packet, which block. It holds the list of
/// QPs with something to send again and that of QPs with blocks to give back, and the pace of the
/// timer's visits; one without a QP keeps its turn, so that answers without end let packets be
/// recorded. When a retransmission is refused it may keep its QP for a while, which goes before the
/// list: what that QP has lost leaves the flight. The operations themselves say when they are over.
module mrc_tx_inflight_fsm
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    localparam int unsigned QpW = $clog2(NumQps)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,

    // What waits.
    input logic cfg_req_i,
    input logic [3:0] cfg_table_i,
    input logic cfg_rts_i,  // the row's state is Rts
    input logic [QpW-1:0] cfg_qp_i,
    input flags_t cfg_is_i,
    output logic cfg_ack_o,
    input outputs_t free_i,
    input ports_steps_t ports_i,
    input logic [QpW-1:0] ports_qp_i,  // whom they look at
    input logic rec_valid_i,  // a head that is not for Record
    input rec_t rec_i,
    input logic ctl_valid_i,
    input ctl_t ctl_i,
    input logic ctl_live_i,
    input span_t list_i,  // of list_qp_o, from rtx_lo on
    input span_t vis_i,  // of the next visit, from una on
    input next_visit_t next_visit_i,
    input logic [19:0] rq_base_i,  // base of the head of rq
    output logic [QpW-1:0] list_qp_o,  // who sends again next, or has losses leave the flight
    input logic [QpW-1:0] vis_qp_i,
    output logic [QpW-1:0] rq_qp_o,
    output op_t op_o,
    output mem_t mem_o,

    // The operation.
    input flags_t is_i,  // its QP
    input logic [13:0] size_i,  // in Retx1: of the packet to be sent again
    input logic [23:0] una_i,
    input sack_steps_t sack_i,
    input scan_steps_t scan_i,
    input timer_steps_t timer_i,
    input logic reclaim_end_i,
    output state_e state_o,
    output logic stay_o,  // an answer waits for the outputs: nothing happens in this cycle
    output logic [QpW-1:0] qp_o,
    output logic [QpW-1:0] qp_next_o,  // in the next cycle
    output rec_t rec_o,
    output msg_t msg_o,
    output logic [19:0] block_o,  // of a SACK's row, of the walk, of what is told
    output logic [23:0] lim_o,  // PSN after the newest when the search or the walk began
    output leave_t leave_o,

    input logic [QpW-1:0] push_qp_i,
    input lists_t lists_i
);

  state_e state_q, state_d;
  logic [QpW-1:0] qp_q, qp_d;
  logic [19:0] block_q, block_d;
  logic [23:0] lim_q, lim_d;
  rec_t rec_q;
  msg_t msg_q;
  logic cfg_ack_q, cfg_ack_d;
  logic [3:0] div_q, div_d;
  logic visit_due_q, visit_due_d, visit_turn, hold_q, hold_d;
  logic [1:0] chain_q, chain_d;
  logic idle;
  assign idle = state_q == StIdle;

  // What leave_qp has lost leaves the flight.
  leave_t leave_q, leave_d;
  logic [QpW-1:0] leave_qp_q;

  // ---- lists

  logic list_v, rq_v, list_ready, rq_ready;
  logic [QpW-1:0] list_head;
  logic [$clog2(NumQps+2)-1:0] list_count, rq_count;

  // Deeper by one than there are QPs, so that a full one can be pushed in the cycle in which it is
  // popped: a FIFO is not ready then.
  mrc_fifo_ram #(
      .Width(QpW),
      .Depth(NumQps + 1)
  ) u_list (
      .clk_i,
      .rst_ni,
      .valid_i(lists_i.push),
      .ready_o(list_ready),
      .data_i(push_qp_i),
      .valid_o(list_v),
      .ready_i(lists_i.pop),
      .data_o(list_head),
      .count_o(list_count)
  );

  assign list_qp_o = leave_q.on ? leave_qp_q : list_head;

  mrc_fifo_ram #(
      .Width(QpW),
      .Depth(NumQps + 1)
  ) u_rq (
      .clk_i,
      .rst_ni,
      .valid_i(lists_i.rq_push),
      .ready_o(rq_ready),
      .data_i(push_qp_i),
      .valid_o(rq_v),
      .ready_i(op_o.reclaim),
      .data_o(rq_qp_o),
      .count_o(rq_count)
  );

  // ---- choice

  // A new context and a new state may give bytes back to the controller. A context waits until the
  // blocks of the QP are given back; once that is under way the others go on. So they do while what
  // a peer says of its ports waits.
  logic cfg_now, is_ctx, is_state, is_peer, ctx, state, other, op_cfg, unused_any;
  logic [5:0] req, gnt;
  logic [2:0] unused_idx;

  assign cfg_now = idle && cfg_req_i && !cfg_ack_q;
  assign is_ctx = cfg_table_i == CfgTableQpCtx;
  assign is_state = cfg_table_i == CfgTableQpState;
  assign is_peer = cfg_table_i == CfgTablePeerPorts;
  assign ctx = cfg_now && is_ctx && free_i.ccev
      && (!cfg_is_i.held || cfg_is_i.live || !cfg_is_i.inq);
  assign state = cfg_now && is_state && free_i.ccev;
  assign other = cfg_now && !is_ctx && !is_state && !(is_peer && ports_i.hold);
  assign op_cfg = ctx || state || other;

  logic answer_free;
  assign answer_free = free_i.upd && free_i.fb && free_i.pres && free_i.ccev && free_i.okev
      && free_i.qperr;

  assign req = {
    ports_i.due && free_i.ccev && free_i.stateq,
    rq_v && free_i.ccev,
    visit_due_q && next_visit_i.ready && free_i.upd && free_i.ccev && free_i.qperr,
    (leave_q.on || (list_v && !hold_q)) && free_i.retx && free_i.fb && free_i.rtxreq && free_i.ccev,
    ctl_valid_i && answer_free,
    rec_valid_i && free_i.ccev
  };

  mrc_rr_arb #(
      .N(6)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i(req),
      .take_i(idle && !op_cfg),
      .gnt_o(gnt),
      .idx_o(unused_idx),
      .any_o(unused_any)
  );

  // ---- behind an answer

  // The next answer begins in the last cycle of one, if nothing else waits but a visit or
  // what a port reports. It may find an output taken that the one before it has loaded.
  logic alone, nak, behind, stay;
  assign alone = ctl_valid_i && chain_q != 2'd3 && !(cfg_req_i && !cfg_ack_q) && !list_v && !rq_v
      && !rec_valid_i;
  assign nak = msg_q.ctl.reason[7:5] == AethClassNak;
  assign stay = state_q inside {StCtl0, StAck} && !answer_free && bug_i != BugAnswerDoesNotWait;
  assign behind = alone
      && ((state_q == StDone && !sack_i.look) || (state_q == StAck && !stay && !nak));

  always_comb begin
    chain_d = chain_q;
    if (idle) begin
      chain_d = 2'd0;
    end else if (behind) begin
      chain_d = chain_q + 2'd1;
    end
  end

  always_comb begin
    op_o = '0;
    op_o.ctx = ctx;
    op_o.ctx_new = ctx && !cfg_is_i.held;
    op_o.ended = state && !cfg_rts_i;
    op_o.other = other || (state && cfg_rts_i);
    op_o.peer = other && is_peer;
    visit_turn = 1'b0;
    if (idle && !op_cfg) begin
      {op_o.ports, op_o.reclaim, visit_turn, op_o.retx, op_o.ctl, op_o.rec} = gnt;
    end
    op_o.visit = visit_turn && next_visit_i.on;
    if (behind) begin
      op_o.ctl = 1'b1;
    end
  end

  assign cfg_ack_d = cfg_req_i && (cfg_ack_q || op_o.ctx_new || state || other);
  assign cfg_ack_o = cfg_ack_q;
  assign div_d = div_q + 4'd1;

  always_comb begin
    visit_due_d = visit_due_q;
    hold_d = hold_q;
    if (visit_turn) begin
      visit_due_d = 1'b0;
    end
    if (scan_i.refused) begin
      hold_d = 1'b1;
    end
    if (div_q[1:0] == 2'd3) begin
      visit_due_d = 1'b1;
    end
    if (div_q == 4'd15) begin
      hold_d = 1'b0;
    end
  end

  always_comb begin
    leave_d = leave_q;
    if (scan_i.at_we) begin
      leave_d.at = scan_i.at;
    end
    if (scan_i.leave) begin
      leave_d.on = 1'b1;
    end
    if (scan_i.left || (op_o.ctx_new && cfg_qp_i == leave_qp_q)) begin
      leave_d.on = 1'b0;
    end
  end

  // Of the QP that is chosen, the number of the block that the operation begins with.
  always_comb begin
    mem_o = '0;
    if (idle || behind) begin
      mem_o.map_re = op_o.rec || op_o.ctl || op_o.retx || op_o.visit || op_o.reclaim;
      mem_o.map_block = ctl_i.psn[23:4];
      if (op_o.rec) begin
        mem_o.map_block = rec_i.psn[23:4];
      end
      if (op_o.retx) begin
        mem_o.map_block = leave_q.on ? leave_q.at[23:4] : list_i.lo[23:4];
      end
      if (op_o.visit) begin
        mem_o.map_block = vis_i.lo[23:4];
      end
      if (op_o.reclaim) begin
        mem_o.map_block = rq_base_i;
      end
    end
  end

  // ---- state

  logic is_sack;
  state_e begun;  // where an answer begins, if one does
  assign is_sack = msg_q.ctl.kind == CtlKindSack;

  always_comb begin
    begun = StIdle;
    if (op_o.ctl && ctl_live_i) begin
      unique case (ctl_i.kind)
        CtlKindSack, CtlKindNack, CtlKindReturned: begun = StCtl0;
        CtlKindAck: begun = StAck;
        default: begun = StIdle;
      endcase
    end
  end

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      StIdle: begin
        state_d = begun;
        if (op_o.rec) begin
          state_d = StRec;
        end
        if (op_o.retx) begin
          state_d = StRetx0;
        end
        if (timer_i.walk) begin
          state_d = StWalk0;
        end
        if (op_o.reclaim) begin
          state_d = StReclaim;
        end
        if (op_o.ports) begin
          state_d = StSeek;
        end
      end
      StReclaim: state_d = reclaim_end_i ? StIdle : StReclaim;
      StCtl0: begin
        if (!stay) begin
          state_d = (is_sack && !sack_i.valid) ? StIdle : StCtl1;
        end
      end
      StCtl1: begin
        state_d = StIdle;
        if (is_sack) begin
          state_d = sack_i.none ? StDone : StRow;
        end
      end
      StRow: state_d = sack_i.last ? StDone : StRow;
      StDone: state_d = sack_i.look ? StSame0 : begun;
      StSame0: state_d = StSame1;
      StAck: state_d = stay ? StAck : begun;
      StRetx0: state_d = (is_i.live && !scan_i.passed) ? StScan : StIdle;
      StScan: begin
        if (scan_i.send) begin
          state_d = StRetx1;
        end else if (scan_i.stop) begin
          state_d = StIdle;
        end
      end
      StRetx1: state_d = (is_i.cc && size_i != '0 && !leave_q.on) ? StRetxW : StIdle;
      StRetxW: state_d = (scan_i.granted || scan_i.refused) ? StIdle : StRetxW;
      StWalk0: state_d = StWalk;
      StWalk: begin
        if (!timer_i.more) begin
          state_d = timer_i.notified ? StNotified0 : StIdle;
        end
      end
      StNotified0: state_d = StNotified;
      StNotified: state_d = timer_i.more ? StNotified : StIdle;
      StSeek: state_d = ports_i.look ? StPort0 : StIdle;
      StPort0: state_d = StPort1;
      StPort1: state_d = ports_i.none ? StIdle : StPort2;
      StPort2: state_d = ports_i.last ? StPort3 : StPort2;
      default: state_d = StIdle;
    endcase
  end

  always_comb begin
    qp_d = qp_q;
    if (op_o.rec) begin
      qp_d = rec_i.qp[QpW-1:0];
    end
    if (op_o.ctl) begin
      qp_d = ctl_i.qp[QpW-1:0];
    end
    if (op_o.retx) begin
      qp_d = list_qp_o;
    end
    if (op_o.visit) begin
      qp_d = vis_qp_i;
    end
    if (op_o.reclaim) begin
      qp_d = rq_qp_o;
    end
    if (op_o.ports) begin
      qp_d = ports_qp_i;
    end
  end

  always_comb begin
    block_d = block_q;
    lim_d = lim_q;
    unique case (state_q)
      StIdle: begin
        block_d = vis_i.lo[23:4];
        // The reads of map end at lim. Record may begin rows behind it from now on.
        lim_d = op_o.retx ? list_i.nxt : vis_i.nxt;
      end
      StCtl0: block_d = sack_i.block;
      StRow, StNotified: block_d = block_q + 20'd1;
      StWalk: block_d = timer_i.more ? block_q + 20'd1 : una_i[23:4];
      default: ;
    endcase
  end

  assign state_o = state_q;
  assign stay_o = stay;
  assign qp_o = qp_q;
  assign qp_next_o = qp_d;
  assign rec_o = rec_q;
  assign msg_o = msg_q;
  assign block_o = block_q;
  assign lim_o = lim_q;
  assign leave_o = leave_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      cfg_ack_q <= 1'b0;
      div_q <= 4'd0;
      chain_q <= 2'd0;
      visit_due_q <= 1'b0;
      hold_q <= 1'b0;
      leave_q <= '0;
    end else begin
      state_q <= state_d;
      cfg_ack_q <= cfg_ack_d;
      div_q <= div_d;
      chain_q <= chain_d;
      visit_due_q <= visit_due_d;
      hold_q <= hold_d;
      leave_q <= leave_d;
    end
  end

  always_ff @(posedge clk_i) begin
    qp_q <= qp_d;
    block_q <= block_d;
    lim_q <= lim_d;
    if (scan_i.leave) begin
      leave_qp_q <= qp_q;
    end
    if (op_o.rec) begin
      rec_q <= rec_i;
    end
    if (op_o.ctl) begin
      msg_q.ctl <= ctl_i;
      msg_q.cack1 <= ctl_i.cack + 24'd1;
      msg_q.psn1 <= ctl_i.psn + 24'd1;
      msg_q.last <= ctl_i.base + 24'd63;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, cfg_is_i.fresh, cfg_is_i.kept, cfg_is_i.armed, cfg_is_i.dup,
                       cfg_is_i.stays, cfg_is_i.cc, is_i.fresh, is_i.held, is_i.kept, is_i.armed,
                       is_i.inq, is_i.stays, is_i.dup, vis_i.lo[3:0], una_i[3:0]};

  // ---- what always holds

  `MRC_NEVER_FULL(List, lists_i.push, list_ready)
  `MRC_POPS_A_WORD(List, lists_i.pop, list_v)
  `MRC_NEVER_FULL(Rq, lists_i.rq_push, rq_ready)
  `MRC_POPS_A_WORD(Rq, op_o.reclaim, rq_v)
  `MRC_ONE_HOT0(OneOperation,
      {op_cfg, op_o.rec, op_o.ctl, op_o.retx, op_o.visit, op_o.reclaim, op_o.ports},
      "two operations in one cycle")
  `MRC_ASSERT_IF(LeavesWhoIsListed, leave_q.on, list_v,
      "what is lost leaves the flight, and nothing waits to go again")
  `MRC_ASSERT_IF(LeavesOneByOne, scan_i.leave, !leave_q.on,
      "a retransmission is refused while what is lost leaves the flight")
  `MRC_ASSERT(ListedOnce, 32'(list_count) <= NumQps,
      "a QP is in the list twice")
  `MRC_ASSERT(QueuedOnce, 32'(rq_count) <= NumQps,
      "a QP is in the queue twice")
  `MRC_ASSERT_IF(BeginsWhenIdle,
      op_cfg || op_o.rec || op_o.retx || op_o.visit || op_o.reclaim || op_o.ports, idle,
      "an operation begins in the middle of another")
  `MRC_ASSERT_IF(BeginsBehindAnAnswer, op_o.ctl,
      idle || (state_d inside {StIdle, StCtl0, StAck}
          && (state_q == StDone || (state_q == StAck && !stay))),
      "an answer begins before another operation has ended")
  `MRC_ASSERT_IF(NothingBehindANak, op_o.ctl, state_q != StAck || !nak,
      "an answer begins behind one that may end its QP")
  `MRC_ASSERT_IF(NobodyElseWaits, op_o.ctl,
      idle || !(list_v || rq_v || rec_valid_i || (cfg_req_i && !cfg_ack_q)),
      "an answer goes before what should have its turn")
  `MRC_ASSERT_IF(StaysBehindAnAnswer, stay, chain_q != 2'd0,
      "an answer begun in Idle waits for an output")
  `MRC_ASSERT_IF(AnswersWhenFree,
      state_q inside {StCtl1, StRow, StDone} || (state_q == StAck && !stay), answer_free,
      "an answer goes on while an output is taken")
`ifdef MRC_ASSERT_ON
  logic [2:0] answers_q;  // begun since the last cycle in Idle, and in it
  always_ff @(posedge clk_i) begin
    if (idle) begin
      answers_q <= {2'd0, op_o.ctl};
    end else if (op_o.ctl) begin
      answers_q <= answers_q + 3'd1;
    end
  end

  `MRC_ASSERT_IF(AtMostThreeBehind, !idle, answers_q <= 3'd4,
      "a fourth answer goes behind one")
`endif
  `MRC_ASSERT(StateInRange, state_q <= StPort3,
      "no such state")
  `MRC_ASSERT_IF(OfALivingQp, op_o.ctl && ctl_live_i, 32'(ctl_i.qp) < NumQps,
      "a packet of no QP")

endmodule
