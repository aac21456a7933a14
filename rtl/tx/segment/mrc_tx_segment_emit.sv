// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Emit of mrc_tx_segment: turns rows into packets, one per cycle: what goes again before all else,
/// and the rows of a grant as a burst that ends after 16 packets, 32768 bytes, with the window,
/// with the blocks of in-flight records or with what the congestion controller granted. The oldest
/// row and the registers of its QP stand in registers, so that a packet is decided on in one cycle.
/// It fetches nothing and knows of no other QP.
module mrc_tx_segment_emit
  import mrc_pkg::*;
  import mrc_tx_segment_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned MaxMpr = 128,
    parameter int unsigned NumBlocks = 20,
    localparam int unsigned QpW = $clog2(NumQps)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,

    input logic ans_valid_i,
    output logic ans_ready_o,
    input ccans_t ans_i,
    output logic pkt_valid_o,
    input logic pkt_ready_i,
    output pkt_t pkt_o,
    output logic park_valid_o,
    input logic park_ready_i,
    output grant_t park_o,
    output logic ret_valid_o,
    input logic ret_ready_i,
    output ccret_t ret_o,
    // To the shared output `push`; hold_i: it is Progress's or Intake's turn.
    input logic push_free_i,
    input logic hold_i,
    output logic push_load_o,
    output sched_t push_o,

    input logic freed_i,
    output logic order_done_o,
    input logic [1:0] nominal_i,  // nominal_e
    input logic [15:0] ar_gap_i,

    input logic row_valid_i,
    input fetched_t row_i,
    output logic [3:0] rows_count_o,
    // Orders of retransmission: one is on its way here; it comes.
    input logic orders_i,
    input logic again_valid_i,
    input again_t again_i,
    input qp_regs_t again_regs_i,  // of its QP, as they are in this cycle
    output logic again_full_o,

    // Registers of the QP of the row after the oldest.
    output logic [QpW-1:0] next_qp_o,
    input qp_regs_t next_regs_i,
    input intake_wr_t intake_wr_i,
    input progress_wr_t progress_wr_i,
    input cfg_wr_t cfg_wr_i,
    // A work request of this QP is about to complete.
    input logic c1_valid_i,
    input qp_index_t c1_qp_i,
    output emit_wr_t wr_o,
    output logic parks_o,  // with wr_o.qp: the controller has refused it

    // In this cycle the burst of the QP ends.
    output qp_index_t qp_o,
    output logic end_o
);

  localparam int unsigned CreditW = $clog2(NumBlocks + 1);

  // ---- ans: an mrc_fifo of depth 2 whose head is a register

  logic ans_v, ans_pop, ans_advance, ans_push;
  logic ans_valid_q, ans_valid_d, ans_behind_valid_q, ans_behind_valid_d;
  ccans_t ans, ans_q, ans_behind_q;
  assign ans_ready_o = !ans_behind_valid_q;
  assign ans_v = ans_valid_q;
  assign ans = ans_q;
  assign ans_push = ans_valid_i && ans_ready_o;
  assign ans_advance = ans_pop || !ans_valid_q;
  assign ans_valid_d = !ans_advance || ans_behind_valid_q || ans_push;
  assign ans_behind_valid_d = !ans_advance && (ans_behind_valid_q || ans_push);

  // ---- rows: the oldest in row_q, seven behind it

  logic valid_q, valid_d, behind_v, behind_push, behind_pop, advance, pop, behind_ready;
  logic [2:0] behind_count;
  fetched_t row_q, behind, next_row;
  qp_regs_t regs_q, regs_d;

  mrc_fifo #(
      .T(fetched_t),
      .Depth(7)
  ) u_rows (
      .clk_i,
      .rst_ni,
      .valid_i(behind_push),
      .ready_o(behind_ready),
      .data_i(row_i),
      .valid_o(behind_v),
      .ready_i(behind_pop),
      .data_o(behind),
      .count_o(behind_count)
  );

  assign advance = pop || !valid_q;
  assign behind_pop = advance;
  assign behind_push = row_valid_i && (behind_v || !advance);
  assign valid_d = advance ? (behind_v || row_valid_i) : 1'b1;
  assign next_row = behind_v ? behind : row_i;
  assign next_qp_o = next_row.qp[QpW-1:0];
  assign rows_count_o = {1'b0, behind_count} + {3'd0, valid_q};
  assign regs_d = advance
      ? written(next_regs_i, qp_index_t'(next_qp_o), intake_wr_i, progress_wr_i, wr_o, cfg_wr_i)
      : written(regs_q, qp_index_t'(row_q.qp[QpW-1:0]), intake_wr_i, progress_wr_i, wr_o, cfg_wr_i);
  assign qp_o = row_q.qp;

  // ---- an order of retransmission

  logic again_valid_q, again_valid_d, do_retx, orders;
  again_t again_q;
  logic [QpW-1:0] again_qp;
  qp_regs_t again_regs_q, again_regs_d, again_regs;
  assign again_full_o = again_valid_q;
  assign orders = again_valid_q || orders_i;  // what is new waits
  assign again_valid_d = again_valid_i || (again_valid_q && !do_retx);
  assign again_qp = again_valid_i ? again_i.order.qp[QpW-1:0] : again_q.order.qp[QpW-1:0];
  assign again_regs = again_valid_i ? again_regs_i : again_regs_q;
  assign again_regs_d =
      written(again_regs, qp_index_t'(again_qp), intake_wr_i, progress_wr_i, wr_o, cfg_wr_i);

  // ---- the QP and its window

  logic [23:0] out_psns, mpr_top;
  logic [19:0] out_blocks;
  logic sendable, can, room_next, blocks_next, begins, has_block;
  assign out_psns = regs_q.psn - regs_q.una;
  assign out_blocks = regs_q.psn[23:4] - regs_q.una[23:4];
  assign sendable = regs_q.rts && !regs_q.failed;
  assign can = sendable && !regs_q.held && regs_q.head != regs_q.tail
      && window_open(regs_q.psn, regs_q.una, regs_q.mpr, 20'(MaxMpr / 16),
                     bug_i == BugTxWindowPlusOne);
  // The packet after this one, given that this one can be sent.
  assign mpr_top = {9'd0, regs_q.mpr, 7'd0} - 24'd1;
  assign room_next =
      (bug_i == BugTxWindowPlusOne) ? out_psns[23:7] < {9'd0, regs_q.mpr} : out_psns != mpr_top;
  assign blocks_next = regs_q.psn[3:0] != 4'd15 || out_blocks != 20'(MaxMpr / 16 - 1);

  logic [CreditW-1:0] credit_q, credit_d;
  logic spend;
  assign begins = regs_q.psn[3:0] == 4'd0 || regs_q.fresh;
  // The last NumQps blocks are for QPs that have little out.
  assign has_block = !begins || credit_q > CreditW'(NumQps)
      || (credit_q != '0 && out_psns[23:4] == 20'd0);

  always_comb begin
    credit_d = credit_q;
    if (freed_i && !spend) begin
      credit_d = credit_q + CreditW'(1);
    end else if (spend && !freed_i) begin
      credit_d = credit_q - CreditW'(1);
    end
  end

  // ---- segmentation, of the order if there is one

  logic [23:0] seg_idx, last_idx;
  logic [31:0] off;
  logic seg_first, seg_last;
  logic [2:0] mtu;
  logic [12:0] mtu_len, last_plen, seg_plen;
  logic [13:0] full, last_size, size;
  logic [7:0] opcode;
  work_t work;
  assign seg_idx = again_valid_q ? again_q.order.idx : regs_q.idx;
  assign last_idx = again_valid_q ? again_q.last_idx : row_q.last_idx;
  assign last_plen = again_valid_q ? again_q.last_plen : row_q.last_plen;
  assign work = again_valid_q ? again_q.work : row_q.work;
  assign mtu = again_valid_q ? again_regs_q.mtu : regs_q.mtu;
  assign off = {seg_idx, 8'd0} << mtu;
  assign seg_first = seg_idx == 24'd0;
  assign seg_last = seg_idx == last_idx;
  assign mtu_len = mtu_bytes(mtu);
  assign seg_plen = seg_last ? last_plen : mtu_len;
  assign full = full_size(regs_q.mtu, regs_q.ts, nominal_i);
  assign last_size = end_size(row_q.last_plen, row_q.last_size, nominal_i);
  assign size = seg_last ? last_size : full;

  always_comb begin
    if (seg_last) begin
      if (work.imm_valid) begin
        opcode = seg_first ? OpcodeWriteOnlyImm : OpcodeWriteLastImm;
      end else begin
        opcode = seg_first ? OpcodeWriteOnly : OpcodeWriteLast;
      end
    end else begin
      opcode = seg_first ? OpcodeWriteFirst : OpcodeWriteMiddle;
    end
  end

  // ---- immediates on their way: a message with another one waits

  logic begins_imm, over, may_end;
  logic [7:0] imms_out, imms_max;
  assign begins_imm = regs_q.idx == 24'd0 && row_q.work.imm_valid;
  assign imms_out = regs_q.wsent - regs_q.wout;
  assign imms_max = regs_q.max_wimm + 8'(bug_i == BugOneTooManySent);
  assign over = begins_imm && imms_out == imms_max;
  // What completes now may be what it waits for.
  assign may_end = over && c1_valid_i && c1_qp_i[QpW-1:0] == row_q.qp[QpW-1:0];

  // ---- the burst

  logic on_q, on_d, lastf_q, lastf_d, lastf, begin_row;
  logic [3:0] used_n_q, used_n_d, used_n;
  logic [14:0] used_b_q, used_b_d, used_b;
  logic [15:0] used_b_next;
  logic [16:0] left_q, left_d, left, left_last, left_full;
  logic covers_last, covers_full, covers, few_last, few_full, few;

  // The row that begins a burst brings the answer of the controller along.
  assign begin_row = row_q.first && !on_q;

  always_comb begin
    lastf = lastf_q;
    left = left_q;
    used_n = used_n_q;
    used_b = used_b_q;
    if (begin_row) begin
      lastf = ans.last;
      left = {1'b0, ans.bytes};
      used_n = 4'd0;
      used_b = 15'd0;
    end
  end

  assign used_b_next = {1'b0, used_b} + {3'd0, seg_plen};

  // What is left after the packet, for a last and for a full one side by side; `few`: less than one
  // full packet is left.
  assign left_last = left - {3'd0, last_size};
  assign left_full = left - {3'd0, full};
  assign covers_last = left >= {3'd0, last_size};
  assign covers_full = left >= {3'd0, full};
  assign few_last = left < {3'd0, last_size} + {3'd0, full};
  assign few_full = left < {2'd0, full, 1'b0};
  assign covers = seg_last ? covers_last : covers_full;
  assign few = seg_last ? few_last : few_full;

  logic pkt_free, park_free, ret_free, requested, refused, grudged, fire, willing, able;
  logic do_skip, do_first, do_on, do_send;
  logic sent, more, more_msg, burst_end, drop, full_burst, idle_turn;
  logic retx_go, retx_void, ret_load, park_load, left_any, inactive, order_done_q;
  ccret_t ret_d;

  assign requested = regs_q.cc && !row_q.dead;
  assign do_retx = again_valid_q && pkt_free;
  assign do_skip = !do_retx && valid_q && !row_q.first && !on_q;
  assign do_first = !orders && valid_q && begin_row && pkt_free && push_free_i && park_free
      && ret_free && !hold_i && (!requested || ans_v) && !(may_end && willing && can);
  assign do_on = !orders && valid_q && on_q && pkt_free && push_free_i
      && ret_free && !hold_i && !may_end;
  assign ans_pop = do_first && requested;

  // Retransmissions. tx_inflight has accounted for them and hears of those that are not sent.
  assign retx_go = do_retx && again_regs_q.rts && !again_regs_q.failed
      && !msn_before(again_q.order.msn, again_regs_q.una_msn);
  assign retx_void = do_retx && !retx_go && again_regs_q.cc;

  // First row: dropped, parked, or sent. Bug 34: a refused QP sends one packet all the same.
  // Whether the QP can send and what follows come late: they are brought in last.
  assign fire = do_first || do_on;
  assign refused = requested && ans.bytes == 16'd0;
  assign grudged = refused && begin_row && bug_i == BugRefusedQpSends;
  assign willing = on_q || (!row_q.dead && (!refused || grudged));
  assign able = has_block && (!regs_q.cc || covers || grudged);
  assign drop = do_first && (row_q.dead || !can);
  assign parks_o = park_load;
  assign park_load = do_first && !row_q.dead && refused && !grudged && can;

  // Send.
  assign do_send = fire && willing && (on_q || can);
  assign sent = fire && willing && able && can && !over;
  assign spend = sent && begins;
  assign more_msg = seg_last ? 16'(regs_q.head + 16'd1) != regs_q.tail : 1'b1;
  assign more = more_msg && room_next && blocks_next;
  assign full_burst = used_n == 4'd15 || used_b_next[15] || (seg_last && row_q.last_row);
  assign burst_end = do_send && (!can || over || !able || !more || full_burst);
  assign end_o = burst_end;
  // A grant of which nothing was sent goes back: the QP goes round once more, for another one that
  // was refused for it and stands in its list by then.
  assign idle_turn = do_first && requested && left != 17'd0 && (!can || (willing && over));
  assign inactive = fire && !idle_turn && (!can || (willing && (over || (able && !more))));
  assign pop = do_skip || drop || park_load || burst_end || (do_send && seg_last);

  always_comb begin
    on_d = on_q;
    if (do_send) begin
      on_d = !burst_end;
    end
    used_n_d = used_n_q;
    used_b_d = used_b_q;
    left_d = left_q;
    lastf_d = lastf_q;
    if (sent) begin
      used_n_d = used_n + 4'd1;
      used_b_d = used_b_next[14:0];
      lastf_d = lastf;
      left_d = grudged ? 17'd0 : seg_last ? left_last : left_full;
    end
  end

  // What is left of the grant goes back when the burst ends.
  always_comb begin
    left_any = left != 17'd0;
    ret_d.cc = regs_q.dest;
    ret_d.bytes = left[15:0];
    if (sent) begin
      left_any = !grudged && left != {3'd0, size};
      ret_d.bytes = left_d[15:0];
    end
  end

  assign ret_load = ((burst_end && regs_q.cc) || (drop && requested)) && left_any
                    && bug_i != BugRestOfGrantKept;
  assign push_load_o = burst_end || drop;
  assign push_o = '{qp: row_q.qp, more: !inactive};

  always_comb begin
    wr_o.we = sent;
    wr_o.inactive = inactive;
    wr_o.hold = do_send && can && over;
    wr_o.wsent = regs_q.wsent + 8'(begins_imm);
    wr_o.qp = qp_index_t'(row_q.qp[QpW-1:0]);
    wr_o.head = regs_q.head;
    wr_o.hrow = regs_q.hrow;
    wr_o.idx = regs_q.idx + 24'd1;
    wr_o.psn = regs_q.psn + 24'd1;
    if (seg_last) begin
      wr_o.head = regs_q.head + 16'd1;
      wr_o.hrow = row_q.work.next;
      wr_o.idx = 24'd0;
    end
  end

  // ---- packets

  // Packets that ask for a SACK only because nothing follows: a gap apart.
  logic [15:0] argap_q, argap_d;
  always_comb begin
    argap_d = (argap_q == 16'd0) ? 16'd0 : argap_q - 16'd1;
    if (sent && !more_msg && argap_q == 16'd0) begin
      argap_d = ar_gap_i;
    end
  end

  pkt_t pkt_d;
  grant_t park_d;
  assign park_d.qp = row_q.qp;

  always_comb begin
    pkt_d.qp = row_q.qp;
    pkt_d.psn = regs_q.psn;
    pkt_d.msn = regs_q.head;
    pkt_d.row = row_q.number;
    pkt_d.rqmsn = work.imm_valid ? work.rqmsn : 16'd0;
    pkt_d.opcode = opcode;
    pkt_d.va = work.raddr + {32'd0, off};
    pkt_d.rkey = work.rkey;
    pkt_d.dmalen = work.length;
    pkt_d.imm = work.imm_valid ? work.imm : 32'd0;
    pkt_d.laddr = work.laddr + {32'd0, off};
    pkt_d.plen = seg_plen;
    pkt_d.rtx = 1'b0;
    pkt_d.ackreq = (!more && (more_msg || argap_q == 16'd0))
                   || (regs_q.cc && lastf && (few || grudged));
    pkt_d.last = seg_last;
    pkt_d.idx = seg_idx;
    pkt_d.profile = 8'(regs_q.profile);
    pkt_d.avoid_ev = 16'd0;
    pkt_d.lost = 1'b0;
    pkt_d.two = 1'b0;
    pkt_d.size = size;
    pkt_d.voided = 1'b0;
    if (again_valid_q) begin
      pkt_d.qp = again_q.order.qp;
      pkt_d.psn = again_q.order.psn;
      pkt_d.msn = again_q.order.msn;
      pkt_d.row = again_q.order.row;
      pkt_d.profile = 8'(again_regs_q.profile);
      pkt_d.rtx = bug_i != BugRetxWithoutRtx;
      pkt_d.ackreq = 1'b0;
      pkt_d.avoid_ev = again_q.order.avoid_ev;
      pkt_d.lost = again_q.order.lost;
      // Bug 124: the QP may have more to send.
      pkt_d.two = again_q.order.two && (!again_regs_q.active || bug_i == BugTwoWithMore);
      pkt_d.size = again_q.order.size;
    end
    if (retx_void) begin
      pkt_d = '0;
      pkt_d.qp = again_q.order.qp;
      pkt_d.psn = again_q.order.psn;
      pkt_d.msn = again_q.order.msn;
      pkt_d.idx = again_q.order.idx;
      pkt_d.size = again_q.order.size;
      pkt_d.rtx = 1'b1;
      pkt_d.voided = 1'b1;
    end
  end

  mrc_out_reg #(
      .T(pkt_t)
  ) u_pkt (
      .clk_i,
      .rst_ni,
      .load_i(retx_go || retx_void || sent),
      .data_i(pkt_d),
      .free_o(pkt_free),
      .valid_o(pkt_valid_o),
      .ready_i(pkt_ready_i),
      .data_o(pkt_o)
  );

  mrc_out_reg #(
      .T(grant_t)
  ) u_park (
      .clk_i,
      .rst_ni,
      .load_i(park_load),
      .data_i(park_d),
      .free_o(park_free),
      .valid_o(park_valid_o),
      .ready_i(park_ready_i),
      .data_o(park_o)
  );

  mrc_out_reg #(
      .T(ccret_t)
  ) u_ret (
      .clk_i,
      .rst_ni,
      .load_i(ret_load),
      .data_i(ret_d),
      .free_o(ret_free),
      .valid_o(ret_valid_o),
      .ready_i(ret_ready_i),
      .data_o(ret_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      again_valid_q <= 1'b0;
      on_q <= 1'b0;
      ans_valid_q <= 1'b0;
      ans_behind_valid_q <= 1'b0;
      credit_q <= CreditW'(NumBlocks);
      argap_q <= 16'd0;
      order_done_q <= 1'b0;
    end else begin
      ans_valid_q <= ans_valid_d;
      ans_behind_valid_q <= ans_behind_valid_d;
      valid_q <= valid_d;
      again_valid_q <= again_valid_d;
      on_q <= on_d;
      credit_q <= credit_d;
      argap_q <= argap_d;
      order_done_q <= do_retx;
    end
  end

  always_ff @(posedge clk_i) begin
    used_n_q <= used_n_d;
    used_b_q <= used_b_d;
    left_q <= left_d;
    lastf_q <= lastf_d;
    if (ans_advance) begin
      ans_q <= ans_behind_valid_q ? ans_behind_q : ans_i;
    end
    if (ans_push) begin
      ans_behind_q <= ans_i;
    end
    if (advance) begin
      row_q <= next_row;
    end
    if (valid_d) begin
      regs_q <= regs_d;
    end
    if (again_valid_i) begin
      again_q <= again_i;
    end
    if (again_valid_d) begin
      again_regs_q <= again_regs_d;
    end
  end

  assign order_done_o = order_done_q;

  logic unused_ok;
  assign unused_ok = &{1'b0, behind_ready, ans.cc, c1_qp_i, work.next};

  // ---- what always holds

  `MRC_NEVER_FULL(Rows, behind_push, behind_ready)
  `MRC_POPS_A_WORD(Ans, ans_pop, ans_v)
  `MRC_POPS_A_WORD(Row, pop, valid_q)
  `MRC_ASSERT_IF(AnsInOrder, ans_behind_valid_q, ans_valid_q,
      "a word waits behind no head")
  `MRC_ASSERT_IF(OneOrder, again_valid_i, !again_valid_q,
      "an order comes while there is one")
  `MRC_ASSERT_IF(RowsInOrder, behind_v, valid_q,
      "a row waits behind none")
  `MRC_ONE_HOT0(OneStep, {do_retx, do_skip, do_first, do_on},
      "two steps in one cycle")
  `MRC_ASSERT_IF(SendsInWindow, sent, out_psns < {9'd0, regs_q.mpr, 7'd0},
      "a packet outside of the window is sent")
  `MRC_ASSERT_IF(SendsItsOwn, sent, regs_q.head != regs_q.tail,
      "a packet of no work is sent")
  `MRC_ASSERT_IF(SendsWithinGrant, sent && regs_q.cc, left >= {3'd0, size},
      "more is sent than the controller granted")
  `MRC_ASSERT_IF(ReturnsTheRest, burst_end && regs_q.cc && left_any, ret_load,
      "the rest of a grant is kept")
  `MRC_ASSERT_IF(BlockFree, spend, credit_q != '0,
      "a block is used that there is not")
  `MRC_ASSERT(CreditInRange, 32'(credit_q) <= NumBlocks,
      "more blocks than there are")
  `MRC_ASSERT_IF(RetxSaysSo, retx_go || retx_void, pkt_d.rtx,
      "a retransmission does not say so")
  `MRC_ASSERT_IF(BurstInRange, sent, used_n != 4'd15 || burst_end,
      "a burst is longer than 16 packets")
  `MRC_ASSERT_IF(PayloadOfAPacket, sent,
      (seg_plen != 13'd0 || work.length == 32'd0) && seg_plen <= mtu_len,
      "a packet without payload of a message with some, or beyond the MTU")
  `MRC_ASSERT_IF(WithinWimm, sent && begins_imm, imms_out < regs_q.max_wimm,
      "more immediates than agreed")
  `MRC_ASSERT_IF(HoldsTheLiving, wr_o.hold, sendable && (inactive || (ret_load && idle_turn)),
      "a QP is held that cannot send, or stays in tx_sched")
  `MRC_ASSERT_IF(IndexInRange, sent, seg_idx <= last_idx,
      "a packet behind the end of its message")
  `MRC_ASSERT_IF(WorkOfTheHead, sent && begin_row, row_q.msn == regs_q.head,
      "a burst begins with other work than the oldest")

endmodule
