// SPDX-License-Identifier: Apache-2.0

/// What is on its way, what arrived, what to send again (docs/blocks/tx/inflight/tx_inflight.md): keeps the window
/// of PSNs sent and not yet acknowledged of each QP in blocks of 16 from a pool that all QPs share,
/// works through SACK, NACK and ACK, infers losses, runs the retransmission timer, orders
/// retransmissions from tx_segment, and tells tx_path which EV lost what, tx_probe which probe was
/// answered, ack_gen which EV has just worked and which QP has heard nothing for a while, and the
/// congestion controller of the destination what has left the network. Packets just sent are recorded
/// one per cycle (mrc_tx_inflight_record), beside the main machine, which does one operation at a time: a SACK
/// takes 4 cycles and one per block, a NACK 3, an ACK 2, a retransmission 4 to 7 and the controller's
/// answer. It does not limit the window nor ask the pool whether it has a block: tx_segment keeps both.
module mrc_tx_inflight
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned NumBlocks = 20,
    parameter int unsigned NumWqes = 24,
    parameter int unsigned MaxMpr = 128
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,

    input logic rec_valid_i,
    output logic rec_ready_o,
    input rec_t rec_i,
    input logic ctl_valid_i,
    output logic ctl_ready_o,
    input ctl_t ctl_i,
    input logic rans_valid_i,
    output logic rans_ready_o,
    input ccans_t rans_i,

    output logic retx_valid_o,
    input logic retx_ready_i,
    output retx_t retx_o,
    output logic upd_valid_o,
    input logic upd_ready_i,
    output upd_t upd_o,
    output logic fb_valid_o,
    input logic fb_ready_i,
    output fb_t fb_o,
    output logic pres_valid_o,
    input logic pres_ready_i,
    output pres_t pres_o,
    output logic stateq_valid_o,
    input logic stateq_ready_i,
    output stateq_t stateq_o,
    output logic ccev_valid_o,
    input logic ccev_ready_i,
    output ccev_t ccev_o,
    output logic rask_valid_o,
    input logic rask_ready_i,
    output ccask_t rask_o,
    output logic okev_valid_o,
    input logic okev_ready_i,
    output okev_t okev_o,
    output logic qperr_valid_o,
    input logic qperr_ready_i,
    output qperr_t qperr_o,

    input logic [14:0] reorder_i,
    input logic same_ev_i,
    input logic rtt_rtx_i,
    input logic tsr_us_i,
    input logic [1:0] nominal_i,  // nominal_e
    input logic state_silent_i,
    input logic [31:0] tick_i,
    output logic rtx_inc_o,
    output logic rto_inc_o,
    output logic state_inc_o,
    output logic fail_inc_o,
    output logic freed_o,  // a block is free again

    input logic cfg_req_i,
    input logic [3:0] cfg_table_i,
    input logic [15:0] cfg_index_i,
    input logic [511:0] cfg_data_i,
    output logic cfg_ack_o
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned BlkW = $clog2(NumBlocks);

  if (NumQps < 2 || NumQps != 2 ** $clog2(NumQps) || MaxMpr < 128 || MaxMpr != 2 ** $clog2(MaxMpr)
      || NumPlanes == 0 || (NumPlanes & (NumPlanes - 1)) != 0)
  begin : gen_bad_params
    $error("%m: NumQps, MaxMpr (at least 128) and NumPlanes must be powers of two");
  end
  if (NumBlocks <= NumQps || NumBlocks > 16384) begin : gen_bad_num_blocks
    $error("%m: NumBlocks = %0d, must be more than NumQps, 16384 at most", NumBlocks);
  end
  if (NumWqes < 2 || NumWqes > 65536) begin : gen_bad_num_wqes
    $error("%m: NumWqes = %0d, must be 2 to 65536", NumWqes);
  end

  // ---- inputs

  logic rec_v, ctl_v, rans_v, rec_pop, ctl_pop, rans_pop;
  rec_t rec;
  ctl_t ctl;
  ccans_t rans;
  logic [2:0][1:0] unused_counts;

  mrc_fifo #(
      .T(rec_t),
      .Depth(2)
  ) u_rec (
      .clk_i,
      .rst_ni,
      .valid_i(rec_valid_i),
      .ready_o(rec_ready_o),
      .data_i(rec_i),
      .valid_o(rec_v),
      .ready_i(rec_pop),
      .data_o(rec),
      .count_o(unused_counts[0])
  );

  mrc_fifo #(
      .T(ctl_t),
      .Depth(2)
  ) u_ctl (
      .clk_i,
      .rst_ni,
      .valid_i(ctl_valid_i),
      .ready_o(ctl_ready_o),
      .data_i(ctl_i),
      .valid_o(ctl_v),
      .ready_i(ctl_pop),
      .data_o(ctl),
      .count_o(unused_counts[1])
  );

  mrc_fifo #(
      .T(ccans_t),
      .Depth(2)
  ) u_rans (
      .clk_i,
      .rst_ni,
      .valid_i(rans_valid_i),
      .ready_o(rans_ready_o),
      .data_i(rans_i),
      .valid_o(rans_v),
      .ready_i(rans_pop),
      .data_o(rans),
      .count_o(unused_counts[2])
  );

  // ---- registers of the main machine

  logic rtx_inc_q, rto_inc_q, rto_inc_d, state_inc_q, fail_inc_q;
  rec_t rec_q;
  ctl_t ctl_q;
  logic [23:0] next_q, after_q, end_q;  // PSN after its cack, its psn; last one of its bitmap
  logic [QpW-1:0] qp_now, qp_next;  // QP of the operation
  state_e state;
  now_t now;

  logic idle, at_rec;
  assign idle = state == StIdle;
  assign at_rec = state == StRec;

  tbl_qp_ctx_t cfg_ctx;
  logic [QpW-1:0] cfg_qp;
  assign cfg_ctx = cfg_data_i;
  assign cfg_qp = cfg_index_i[QpW-1:0];

  // ---- the choice of an Idle cycle

  op_t op;
  logic rec_mine, refused, list_push, list_pop, rq_push;
  logic retx_free, upd_free, fb_free, pres_free, ccev_free, rask_free, okev_free, qperr_free;
  logic stateq_free;
  logic live, held, cc, dup, cfg_live, cfg_held, cfg_inq, cfg_cc, visit_live, visit_armed, visit_cc;
  logic ctl_live;
  logic [QpW-1:0] own_qp, visit_qp, list_qp, rq_qp, rec_qp;

  mrc_tx_inflight_choice #(
      .NumQps(NumQps)
  ) u_choice (
      .clk_i,
      .rst_ni,
      .idle_i(idle),
      .cfg_req_i,
      .cfg_table_i,
      .cfg_rts_i(cfg_ctx.state == QpStateRts),
      .cfg_held_i(cfg_held),
      .cfg_live_i(cfg_live),
      .cfg_inq_i(cfg_inq),
      .cfg_ack_o,
      .op_o(op),
      .rec_valid_i(rec_v && !rec_mine),
      .ctl_valid_i(ctl_v),
      .retx_free_i(retx_free),
      .upd_free_i(upd_free),
      .fb_free_i(fb_free),
      .pres_free_i(pres_free),
      .ccev_free_i(ccev_free),
      .rask_free_i(rask_free),
      .okev_free_i(okev_free),
      .qperr_free_i(qperr_free),
      .refused_i(refused),
      .visit_qp_o(visit_qp),
      .qp_i(own_qp),
      .list_push_i(list_push),
      .list_pop_i(list_pop),
      .list_qp_o(list_qp),
      .rq_push_i(rq_push),
      .rq_qp_o(rq_qp)
  );

  assign ctl_pop = op.ctl;
  assign rans_pop = state == StRetxW;

  // ---- Record, beside the main machine

  qp_t a, v, t, c;
  out_t a_out, v_out, out;
  logic [27:0] t_fsent;
  logic [23:0] rtx_lo, list_lo, list_nxt;
  logic [19:0] base, rq_base, base_next;
  logic rec_live, rec_held, rec_fresh, rec_kept, rec_cc, rec_stop, rec_busy;
  logic rec_go, rec_begins, rec_take, rec_reuse;
  logic [19:0] rec_base;
  logic [BlkW-1:0] rec_block, offer, cur;

  assign rec_qp = rec.qp[QpW-1:0];
  assign rec_pop = op.rec || rec_go;
  assign rec_stop = at_rec || (op.ctx_new && rec_qp == cfg_qp);
  assign rec_busy = state inside {StCtl1, StRow, StScan, StRetxW, StSame1, StWalk, StTold,
                                  StReclaim};

  mrc_tx_inflight_record #(
      .NumQps(NumQps),
      .NumBlocks(NumBlocks),
      .MaxMpr(MaxMpr)
  ) u_record (
      .clk_i,
      .rst_ni,
      .rec_valid_i(rec_v),
      .rec_i(rec),
      .live_i(rec_live),
      .held_i(rec_held),
      .fresh_i(rec_fresh),
      .kept_i(rec_kept),
      .cc_i(rec_cc),
      .base_i(rec_base),
      .stop_i(rec_stop),
      .busy_i(rec_busy),
      .offer_i(offer),
      .mine_o(rec_mine),
      .go_o(rec_go),
      .begins_o(rec_begins),
      .take_o(rec_take),
      .reuse_o(rec_reuse),
      .block_o(rec_block),
      .clear_i(op.ctx_new),
      .clear_qp_i(cfg_qp),
      .a_next_qp_i(qp_next),
      .a_qp_i(qp_now),
      .a_una_i(a.una),
      .a_msn_i(a.msn_done),
      .a_o(a_out),
      .a_cur_o(cur),
      .v_qp_i(visit_qp),
      .v_una_i(v.una),
      .v_msn_i(v.msn_done),
      .v_o(v_out),
      .t_qp_i(cfg_qp),
      .t_fsent_o(t_fsent),
      .l_qp_i(list_qp),
      .l_una_i(list_lo),  // of a QP that has sent nothing, una as well
      .l_nxt_o(list_nxt)
  );

  // ---- the operations

  win_t win, win_d;
  sent_t sent;
  logic [BlkW-1:0] map_num, win_num, sent_num;
  logic [23:0] nxt, newest;
  logic owned, is_sack;
  sack_t sack;
  answer_t answer;
  scan_t scan;
  visit_t visit;
  walk_t walk;
  logic [27:0] a_fly, fly, packet_bytes, packet_fgone, sack_bytes, sack_fgone;
  logic [7:0] packet_credit, sack_credit;
  logic [19:0] sack_owed, early_owed;
  logic [13:0] size;
  logic fail, give_back, all_gone, walk_told, granted, scan_again, give, reclaim_end;

  assign nxt = a_out.nxt;
  assign newest = nxt - 24'd1;
  assign is_sack = ctl_q.kind == CtlKindSack;
  assign owned = held && psn_in(at_rec ? rec_q.psn : ctl_q.psn, {base, 4'd0}, nxt);

  mrc_tx_inflight_sack u_sack (
      .clk_i,
      .bug_i,
      .reorder_i,
      .same_ev_i,
      .ctl0_i(state == StCtl0),
      .ctl1_i(state == StCtl1),
      .row_i(state == StRow),
      .done_i(state == StDone),
      .same1_i(state == StSame1),
      .ctl_i(ctl_q),
      .next_i(next_q),
      .after_i(after_q),
      .end_i(end_q),
      .c_i(a),
      .rtx_lo_i(rtx_lo),
      .nxt_i(nxt),
      .owned_i(owned),
      .block_i(now.block),
      .win_i(win),
      .sent_i(sent),
      .sack_o(sack)
  );

  mrc_tx_inflight_answer u_answer (
      .bug_i,
      .nack_i(state == StCtl1 && !is_sack),
      .ack_i(state == StAck),
      .ctl_i(ctl_q),
      .after_i(after_q),
      .c_i(a),
      .rtx_lo_i(rtx_lo),
      .nxt_i(nxt),
      .msn_sent_i(a_out.msn_sent),
      .owned_i(owned),
      .win_i(win),
      .answer_o(answer)
  );

  mrc_tx_inflight_scan u_scan (
      .bug_i,
      .tick_i,
      .scan_i(state == StScan),
      .c_i(a),
      .rtx_lo_i(rtx_lo),
      .lim_i(now.lim),
      .win_i(win),
      .refused_i(now.p[3:0]),
      .scan_o(scan)
  );
  assign scan_again = state == StScan && !scan.found && !scan.more && dup;

  mrc_tx_inflight_timer u_timer (
      .bug_i,
      .tick_i,
      .visit_i(op.visit),
      .visit_live_i(visit_live),
      .visit_armed_i(visit_armed),
      .visit_flies_i(v_out.fsent != v.fgone),
      .visit_c_i(v),
      .visit_out_i(v_out),
      .may_ask_i(stateq_free && !state_silent_i),
      .visit_o(visit),
      .walk_i(state == StWalk),
      .told_i(state == StTold),
      .block_i(now.block),
      .c_i(a),
      .rtx_lo_i(rtx_lo),
      .lim_i(now.lim),
      .row_i(win),
      .any_i(now.any),
      .first_i(now.first),
      .old_i(now.old),
      .seen_i(now.seen),
      .low_i(now.low),
      .spared_i(now.spared),
      .past_i(now.past),
      .walk_o(walk)
  );

  assign size = at_rec ? rec_q.size : sent.size;

  mrc_tx_inflight_flight u_account (
      .clk_i,
      .fsent_i(a_out.fsent),
      .fgone_i(a.fgone),
      .credit_i(a.credit),
      .owed_i(a.owed),
      .fly_o(a_fly),
      .size_i(size),
      .packet_bytes_o(packet_bytes),
      .packet_fgone_o(packet_fgone),
      .packet_credit_o(packet_credit),
      .early_i(idle),
      .early_fsent_i(v_out.fsent),
      .early_fgone_i(v.fgone),
      .early_owed_i(v.owed),
      .early_owed_o(early_owed),
      .sum_i(state == StCtl1),
      .all_i(sack.una == nxt),
      .whole_i(sack.whole),
      .rcvd_i(sack.rcvd),
      .canc_i(sack.canc),
      .mtu_i(a.mtu),
      .ts_i(a.ts),
      .nominal_i,
      .sack_bytes_o(sack_bytes),
      .sack_fgone_o(sack_fgone),
      .sack_credit_o(sack_credit),
      .sack_owed_o(sack_owed)
  );

  assign granted = state == StRetxW && rans_v && rans.bytes != 16'd0;
  assign refused = state == StRetxW && rans_v && rans.bytes == 16'd0;
  assign fail = visit.fail || walk.fail || answer.nack_fail;
  // At the end of a QP, and once more behind its last block for what Record still took in.
  assign give_back = fail || answer.ack_nak || op.ctx || op.ended || (reclaim_end && !live);
  // Nothing sent within an interval is out: whatever the account says, all of it is lost.
  assign walk_told = walk.good && cc && a_out.fsent != a.fgone && a.marks[0] == nxt && !walk.spared;
  assign all_gone = visit.drift || visit.dup || walk_told;

  // ---- the QPs

  // Whose registers are written: in Idle those of a table row or of a visit.
  logic own_cc;
  always_comb begin
    own_qp = qp_now;
    own_cc = cc;
    c = a;
    out = a_out;
    fly = a_fly;
    if (op.ctx || op.ended) begin
      own_qp = cfg_qp;
      own_cc = cfg_cc;
      c = t;
      out.fsent = t_fsent;
      fly = t_fsent - t.fgone;
    end else if (idle) begin
      own_qp = visit_qp;
      own_cc = visit_cc;
      c = v;
      out = v_out;
      fly = v_out.fsent - v.fgone;
    end
  end

  mrc_tx_inflight_qps #(
      .NumQps(NumQps)
  ) u_qps (
      .clk_i,
      .rst_ni,
      .bug_i,
      .tick_i,
      .a_qp_i(qp_now),
      .visit_qp_i(visit_qp),
      .cfg_qp_i(cfg_qp),
      .list_qp_i(list_qp),
      .rq_qp_i(rq_qp),
      .rec_qp_i(rec_qp),
      .a_o(a),
      .visit_o(v),
      .cfg_o(t),
      .rtx_lo_o(rtx_lo),
      .base_o(base),
      .list_lo_o(list_lo),
      .rq_base_o(rq_base),
      .a_live_o(live),
      .a_held_o(held),
      .a_cc_o(cc),
      .a_dup_o(dup),
      .cfg_live_o(cfg_live),
      .cfg_held_o(cfg_held),
      .cfg_inq_o(cfg_inq),
      .cfg_cc_o(cfg_cc),
      .visit_live_o(visit_live),
      .visit_armed_o(visit_armed),
      .visit_cc_o(visit_cc),
      .ctl_live_o(ctl_live),
      .ctl_qp_i(ctl.qp[QpW-1:0]),
      .rec_live_o(rec_live),
      .rec_held_o(rec_held),
      .rec_fresh_o(rec_fresh),
      .rec_kept_o(rec_kept),
      .rec_cc_o(rec_cc),
      .rec_base_o(rec_base),
      .rec_go_i(rec_go),
      .rec_begins_i(rec_begins),
      .rec_reuse_i(rec_reuse),
      .rec_block_i(rec.psn[23:4]),
      .state_i(state),
      .op_i(op),
      .cfg_ctx_i(cfg_ctx),
      .own_qp_i(own_qp),
      .c_i(c),
      .out_i(out),
      .a_out_i(a_out),
      .cc_i(own_cc),
      .rec_i(rec_q),
      .ctl_i(ctl_q),
      .sack_i(sack),
      .answer_i(answer),
      .scan_i(scan),
      .visit_i(visit),
      .walk_i(walk),
      .give_back_i(give_back),
      .all_gone_i(all_gone),
      .granted_i(granted),
      .refused_i(refused),
      .again_i(scan_again),
      .again_q_i(now.again),
      .loss_i(now.loss),
      .p_i(now.p),
      .size_i(size),
      .packet_fgone_i(packet_fgone),
      .sack_fgone_i(sack_fgone),
      .packet_credit_i(packet_credit),
      .sack_credit_i(sack_credit),
      .sack_owed_i(sack_owed),
      .early_owed_i(early_owed),
      .list_push_o(list_push),
      .list_pop_o(list_pop),
      .rq_push_o(rq_push),
      .give_o(give),
      .freed_o,
      .reclaim_end_o(reclaim_end),
      .base_next_o(base_next)
  );

  // ---- memories

  logic map_re, win_re, win_we, sent_re;
  logic [QpW-1:0] map_qp;
  logic [19:0] map_block;
  logic [3:0] sent_pos;

  mrc_tx_inflight_ports #(
      .NumQps(NumQps),
      .NumBlocks(NumBlocks)
  ) u_ports (
      .bug_i,
      .state_i(state),
      .op_i(op),
      .rec_head_i(rec),
      .ctl_head_i(ctl),
      .list_qp_i(list_qp),
      .list_lo_i(list_lo),
      .visit_qp_i(visit_qp),
      .visit_una_i(v.una),
      .rq_qp_i(rq_qp),
      .rq_base_i(rq_base),
      .qp_i(qp_now),
      .is_sack_i(is_sack),
      .psn_i(ctl_q.psn),
      .block_i(now.block),
      .una_i(a.una),
      .rtx_lo_i(rtx_lo),
      .newest_i(newest),
      .cur_i(cur),
      .sack_i(sack),
      .answer_i(answer),
      .scan_i(scan),
      .walk_i(walk),
      .again_i(scan_again),
      .refused_i(refused && !now.again),
      .reclaim_end_i(reclaim_end),
      .base_next_i(base_next),
      .map_re_o(map_re),
      .map_qp_o(map_qp),
      .map_block_o(map_block),
      .map_i(map_num),
      .win_re_o(win_re),
      .win_i(win),
      .win_num_i(win_num),
      .win_we_o(win_we),
      .win_o(win_d),
      .sent_re_o(sent_re),
      .sent_num_o(sent_num),
      .sent_pos_o(sent_pos)
  );

  mrc_tx_inflight_blocks #(
      .NumQps(NumQps),
      .NumBlocks(NumBlocks),
      .NumWqes(NumWqes),
      .MaxMpr(MaxMpr)
  ) u_blocks (
      .clk_i,
      .rst_ni,
      .offer_o(offer),
      .take_i(rec_take),
      .begin_i(rec_go && rec_begins),
      .begin_qp_i(rec_qp),
      .begin_block_i(rec.psn[23:4]),
      .begin_num_i(rec_block),
      .sent_i(rec_go),
      .sent_rec_i(rec),
      .map_re_i(map_re),
      .map_qp_i(map_qp),
      .map_block_i(map_block),
      .map_o(map_num),
      .win_re_i(win_re),
      .win_o(win),
      .win_num_o(win_num),
      .win_we_i(win_we),
      .win_i(win_d),
      .rec_re_i(sent_re),
      .rec_num_i(sent_num),
      .rec_pos_i(sent_pos),
      .rec_o(sent),
      .rec_we_i(at_rec && !rec_q.voided && live && owned),
      .rec_i(rec_q),
      .give_i(give)
  );

  // ---- the state

  mrc_tx_inflight_state #(
      .NumQps(NumQps)
  ) u_state (
      .clk_i,
      .rst_ni,
      .op_i(op),
      .rec_qp_i(rec_qp),
      .ctl_qp_i(ctl.qp[QpW-1:0]),
      .ctl_kind_i(ctl.kind),
      .ctl_live_i(ctl_live),
      .list_qp_i(list_qp),
      .list_nxt_i(list_nxt),
      .visit_qp_i(visit_qp),
      .visit_una_i(v.una),
      .visit_nxt_i(v_out.nxt),
      .rq_qp_i(rq_qp),
      .live_i(live),
      .cc_i(cc),
      .is_sack_i(is_sack),
      .una_i(a.una),
      .newest_i(newest),
      .sack_i(sack),
      .scan_i(scan),
      .visit_i(visit),
      .walk_i(walk),
      .told_i(walk_told),
      .again_i(scan_again),
      .answered_i(rans_v),
      .reclaim_end_i(reclaim_end),
      .state_o(state),
      .now_o(now),
      .qp_o(qp_now),
      .qp_next_o(qp_next)
  );

  // ---- outputs

  logic retx_load;

  mrc_tx_inflight_tell #(
      .NumPlanes(NumPlanes)
  ) u_tell (
      .clk_i,
      .rst_ni,
      .state_i(state),
      .qp_i({{(16 - QpW) {1'b0}}, own_qp}),
      .c_i(c),
      .live_i(live),
      .cc_i(own_cc),
      .rec_i(rec_q),
      .ctl_i(ctl_q),
      .sent_i(sent),
      .p_i(now.p),
      .loss_i(now.loss),
      .blame_i(now.blame),
      .granted_i(granted),
      .fail_i(fail),
      .give_back_i(give_back),
      .all_gone_i(all_gone),
      .fly_i(fly),
      .packet_bytes_i(packet_bytes),
      .sack_bytes_i(sack_bytes),
      .sack_i(sack),
      .answer_i(answer),
      .visit_i(visit),
      .rtt_rtx_i,
      .tsr_us_i,
      .tick_i,
      .retx_load_o(retx_load),
      .retx_free_o(retx_free),
      .upd_free_o(upd_free),
      .fb_free_o(fb_free),
      .pres_free_o(pres_free),
      .stateq_free_o(stateq_free),
      .ccev_free_o(ccev_free),
      .rask_free_o(rask_free),
      .okev_free_o(okev_free),
      .qperr_free_o(qperr_free),
      .retx_valid_o,
      .retx_ready_i,
      .retx_o,
      .upd_valid_o,
      .upd_ready_i,
      .upd_o,
      .fb_valid_o,
      .fb_ready_i,
      .fb_o,
      .pres_valid_o,
      .pres_ready_i,
      .pres_o,
      .stateq_valid_o,
      .stateq_ready_i,
      .stateq_o,
      .ccev_valid_o,
      .ccev_ready_i,
      .ccev_o,
      .rask_valid_o,
      .rask_ready_i,
      .rask_o,
      .okev_valid_o,
      .okev_ready_i,
      .okev_o,
      .qperr_valid_o,
      .qperr_ready_i,
      .qperr_o
  );

  assign rto_inc_d = visit.dup || walk.mark;
  assign rtx_inc_o = rtx_inc_q;
  assign rto_inc_o = rto_inc_q;
  assign state_inc_o = state_inc_q;
  assign fail_inc_o = fail_inc_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rtx_inc_q <= 1'b0;
      rto_inc_q <= 1'b0;
      state_inc_q <= 1'b0;
      fail_inc_q <= 1'b0;
    end else begin
      rtx_inc_q <= retx_load;
      rto_inc_q <= rto_inc_d;
      state_inc_q <= visit.ask;
      fail_inc_q <= fail;
    end
  end

  always_ff @(posedge clk_i) begin
    if (op.rec) begin
      rec_q <= rec;
    end
    if (op.ctl) begin
      ctl_q <= ctl;
      next_q <= ctl.cack + 24'd1;
      after_q <= ctl.psn + 24'd1;
      end_q <= ctl.base + 24'd63;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, unused_counts, cfg_index_i, rans, c, out, v, t, op};

endmodule
