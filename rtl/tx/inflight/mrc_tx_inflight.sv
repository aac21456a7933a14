// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// What is on its way, what arrived, what to send again
/// (docs/design/blocks/tx/inflight/tx_inflight.md): keeps the window of PSNs sent and not yet
/// acknowledged of each QP in blocks of 16 from a pool that all QPs share, works through SACK, NACK
/// and ACK, infers losses, runs the retransmission timer, orders retransmissions from tx_segment,
/// and tells tx_path which EV lost what, tx_probe which probe was answered, ack_gen which EV has
/// just worked and which QP has heard nothing for a while, and the congestion controller of the
/// destination what has left the network. A port that falls, here or at the peer, loses what was
/// given to its plane at once; a SACK that answers what was sent long after a packet loses that
/// packet (mrc_tx_inflight_time); who has sent nothing for longer than a round trip asks its peer
/// (mrc_tx_inflight_silence). Packets just sent are recorded one per cycle
/// (mrc_tx_inflight_record), beside the main machine, which does one operation at a time: a SACK
/// takes 4 cycles and one per block, a NACK 3, an ACK 2, each of them one less behind another
/// answer, a retransmission 4 to 7 and the controller's answer. It does not limit the window nor
/// ask the pool whether it has a block: tx_segment keeps both.
module mrc_tx_inflight
  import mrc_pkg::*;
  import mrc_math_pkg::*;
  import mrc_tx_inflight_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned NumBlocks = 20,
    parameter int unsigned NumWqes = 24,
    parameter int unsigned MaxMpr = 128,
    parameter int unsigned NumDests = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input tx_inflight_csr_t csr_i,

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
    output logic rtxreq_valid_o,
    input logic rtxreq_ready_i,
    output ccreq_t rtxreq_o,
    output logic okev_valid_o,
    input logic okev_ready_i,
    output okev_t okev_o,
    output logic qperr_valid_o,
    input logic qperr_ready_i,
    output qperr_t qperr_o,

    input logic [NumPlanes-1:0] port_up_i,
    output qp_index_t visit_qp_o,  // the QP whose visit is next
    input logic sends_i,  // it has more to send, and its turn will come
    input logic [31:0] tick_i,
    output tx_inflight_pulses_t pulses_o,
    output logic freed_o,  // a block is free again
    output logic rec_done_o,  // the head of rec has been popped
    output logic ctl_done_o,  // that of ctl

    input cfg_t cfg_i,
    output logic cfg_ack_o
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned BlkW = $clog2(NumBlocks);
  localparam int unsigned DestW = $clog2(NumDests);

  if (NumQps < 2 || NumQps != 2 ** $clog2(NumQps) || MaxMpr < 128 || MaxMpr != 2 ** $clog2(MaxMpr)
      || NumPlanes < 2 || NumPlanes != 2 ** $clog2(NumPlanes))
  begin : gen_bad_params
    $error("%m: NumQps, MaxMpr (at least 128) and NumPlanes must be powers of two, 2 at least");
  end
  if (NumBlocks <= NumQps || NumBlocks > 262144) begin : gen_bad_num_blocks
    $error("%m: NumBlocks = %0d, must be more than NumQps, 262144 at most", NumBlocks);
  end
  if (NumDests < 2 || NumDests > 4096 || NumDests != 2 ** DestW) begin : gen_bad_dests
    $error("%m: NumDests must be a power of two, 2 to 4096");
  end
  if (NumWqes < 2 || NumWqes > 262144) begin : gen_bad_num_wqes
    $error("%m: NumWqes = %0d, must be 2 to 262144", NumWqes);
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

  // ---- the main machine

  state_e state;
  op_t op;
  mem_t mem, idle_mem, reclaim_mem, sack_mem, answer_mem, scan_mem, timer_mem, ports_mem;
  change_t change, record_change, sack_change, answer_change, scan_change, timer_change,
      ports_change;
  outputs_t free;
  lists_t lists;
  logic [QpW-1:0] cur_qp, next_qp, vis_qp, cfg_qp, sel_qp, list_qp, rq_qp, rec_qp, ctl_qp;
  logic [QpW-1:0] ports_qp;
  logic rec_mine, reclaim_end, over, stay;
  rec_t job;
  msg_t msg;
  logic [19:0] block;
  logic [23:0] lim;
  leave_t leave;
  tbl_qp_ctx_t ctx;

  // The QP of the operation, of the next visit, of the table row; and the one of them that this
  // cycle changes.
  view_t cur, vis, cfg, sel;
  out_t cur_out, vis_out;
  logic [27:0] cfg_fsent, sel_fsent, sel_fly;
  logic [23:0] rtx_lo, list_lo, list_nxt;
  logic [19:0] base, rq_base, rec_base;
  flags_t rec_is;
  logic ctl_live;

  sack_steps_t sack_steps;
  scan_steps_t scan_steps;
  timer_steps_t timer_steps;
  ports_steps_t ports_steps;
  sack_t sack;
  answer_t answer;
  scan_t scan;
  sent_t sent;
  timer_t timer;
  ports_t ports;
  taken_t packet, drained;  // by one packet, by a SACK
  logic [19:0] owed_left, early_owed;
  logic [27:0] cur_fly;
  recording_t recording;
  overdue_t overdue;
  logic visit_on, busy, vis_ready, silent, vis_comes, vis_leaves, vis_open;
  stamp_t vis_last;

  assign ctx = cfg_i.data;
  assign cfg_qp = cfg_i.index[QpW-1:0];
  assign rec_qp = rec.qp[QpW-1:0];
  assign ctl_qp = ctl.qp[QpW-1:0];

  mrc_tx_inflight_fsm #(
      .NumQps(NumQps)
  ) u_fsm (
      .clk_i,
      .rst_ni,
      .bug_i,
      .cfg_req_i(cfg_i.req),
      .cfg_table_i(cfg_i.tbl),
      .cfg_rts_i(ctx.state == QpStateRts),
      .cfg_qp_i(cfg_qp),
      .cfg_is_i(cfg.is),
      .cfg_ack_o,
      .free_i(free),
      .ports_i(ports_steps),
      .ports_qp_i(ports_qp),
      .rec_valid_i(rec_v && !rec_mine),
      .rec_i(rec),
      .ctl_valid_i(ctl_v),
      .ctl_i(ctl),
      .ctl_live_i(ctl_live),
      .list_i({list_lo, list_nxt}),
      .vis_i({vis.row.una, vis_out.nxt}),
      .next_visit_i({visit_on, vis_ready}),
      .rq_base_i(rq_base),
      .list_qp_o(list_qp),
      .vis_qp_i(vis_qp),
      .rq_qp_o(rq_qp),
      .op_o(op),
      .mem_o(idle_mem),
      .is_i(cur.is),
      .size_i(sent.size),
      .una_i(cur.row.una),
      .sack_i(sack_steps),
      .scan_i(scan_steps),
      .timer_i(timer_steps),
      .reclaim_end_i(reclaim_end),
      .state_o(state),
      .stay_o(stay),
      .qp_o(cur_qp),
      .qp_next_o(next_qp),
      .rec_o(job),
      .msg_o(msg),
      .block_o(block),
      .lim_o(lim),
      .leave_o(leave),
      .push_qp_i(sel_qp),
      .lists_i(lists)
  );

  assign rec_pop = op.rec || recording.go;
  assign ctl_pop = op.ctl;
  assign rans_pop = state == StRetxW;

  logic rec_done_q, ctl_done_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rec_done_q <= 1'b0;
      ctl_done_q <= 1'b0;
    end else begin
      rec_done_q <= rec_pop;
      ctl_done_q <= ctl_pop;
    end
  end

  assign rec_done_o = rec_done_q;
  assign ctl_done_o = ctl_done_q;

  // ---- the QPs

  always_comb begin
    sel_qp = cur_qp;
    sel = cur;
    sel_fsent = cur_out.fsent;
    sel_fly = cur_fly;
    if (op.ctx || op.ended) begin
      sel_qp = cfg_qp;
      sel = cfg;
      sel_fsent = cfg_fsent;
      sel_fly = cfg_fsent - cfg.row.fgone;
    end else if (state == StIdle) begin
      sel_qp = vis_qp;
      sel = vis;
      sel_fsent = vis_out.fsent;
      sel_fly = vis_out.fsent - vis.row.fgone;
    end
  end

  assign change = record_change | sack_change | answer_change | scan_change | timer_change
      | ports_change;

  logic give;

  mrc_tx_inflight_qps #(
      .NumQps(NumQps),
      .NumDests(NumDests)
  ) u_qps (
      .clk_i,
      .rst_ni,
      .bug_i,
      .tick_i,
      .cur_qp_i(cur_qp),
      .cur_o(cur),
      .rtx_lo_o(rtx_lo),
      .base_o(base),
      .vis_qp_i(vis_qp),
      .vis_o(vis),
      .cfg_qp_i(cfg_qp),
      .cfg_o(cfg),
      .list_qp_i(list_qp),
      .list_lo_o(list_lo),
      .rq_qp_i(rq_qp),
      .rq_base_o(rq_base),
      .rec_qp_i(rec_qp),
      .rec_is_o(rec_is),
      .rec_base_o(rec_base),
      .ctl_qp_i(ctl_qp),
      .ctl_live_o(ctl_live),
      .recording_i(recording),
      .rec_block_i(rec.psn[23:4]),
      .state_i(state),
      .op_i(op),
      .ctx_i(ctx),
      .change_i(change),
      .sel_qp_i(sel_qp),
      .sel_i(sel),
      .sel_fsent_i(sel_fsent),
      .cur_nxt_i(cur_out.nxt),
      .over_o(over),
      .lists_o(lists),
      .mem_o(reclaim_mem),
      .give_o(give),
      .freed_o,
      .reclaim_end_o(reclaim_end)
  );

  mrc_tx_inflight_visits #(
      .NumQps(NumQps)
  ) u_visits (
      .clk_i,
      .rst_ni,
      .bug_i,
      .record_i(recording.go),
      .record_qp_i(rec_qp),
      .visit_i(op.visit),
      .stays_i(busy || vis.is.dup),
      .comes_o(vis_comes),
      .leaves_o(vis_leaves),
      .visit_on_o(visit_on),
      .visit_qp_o(vis_qp)
  );

  assign visit_qp_o = qp_index_t'(vis_qp);

  // ---- the operations

  win_t win;
  stamps_t stamps;
  logic [BlkW-1:0] offer, rec_block, map_num, win_num, newest_num;
  logic owned, again, whole, sack_own;
  logic [23:0] sack_una, rcvd;
  logic [6:0] canc;

  assign owned = cur.is.held
      && psn_in((state == StRec) ? job.psn : msg.ctl.psn, {base, 4'd0}, cur_out.nxt);

  mrc_tx_inflight_record #(
      .NumQps(NumQps),
      .NumBlocks(NumBlocks),
      .MaxMpr(MaxMpr)
  ) u_record (
      .clk_i,
      .rst_ni,
      .now_i(tick_i[11:0]),
      .time_wait_i(csr_i.time_wait),
      .state_i(state),
      .rec_valid_i(rec_v),
      .rec_i(rec),
      .is_i(rec_is),
      .base_i(rec_base),
      .offer_i(offer),
      .mine_o(rec_mine),
      .recording_o(recording),
      .block_o(rec_block),
      .answer_i(op.ctl),
      .answer_qp_i(ctl_qp),
      .answer_block_i(ctl.psn[23:4]),
      .ctl0_block_i(msg.ctl.psn[23:4]),
      .clear_i(op.ctx_new),
      .clear_qp_i(cfg_qp),
      .next_qp_i(next_qp),
      .cur_qp_i(cur_qp),
      .cur_una_i(cur.row.una),
      .cur_msn_i(cur.row.msn_done),
      .cur_o(cur_out),
      .newest_o(newest_num),
      .vis_qp_i(vis_qp),
      .vis_una_i(vis.row.una),
      .vis_msn_i(vis.row.msn_done),
      .vis_o(vis_out),
      .vis_last_o(vis_last),
      .cfg_qp_i(cfg_qp),
      .cfg_fsent_o(cfg_fsent),
      .list_qp_i(list_qp),
      .list_una_i(list_lo),  // of a QP that has sent nothing, una as well
      .list_nxt_o(list_nxt),
      .job_i(job),
      .cur_is_i(cur.is),
      .cur_row_i(cur.row),
      .owned_i(owned),
      .packet_fgone_i(packet.fgone),
      .again_o(again),
      .change_o(record_change)
  );

  mrc_tx_inflight_sack u_sack (
      .clk_i,
      .bug_i,
      .tick_i,
      .reorder_i(csr_i.reorder),
      .same_ev_i(csr_i.same_ev),
      .state_i(state),
      .stay_i(stay),
      .msg_i(msg),
      .cur_i(cur),
      .nxt_i(cur_out.nxt),
      .rtx_lo_i(rtx_lo),
      .base_i(base),
      .owned_i(owned),
      .block_i(block),
      .win_i(win),
      .sent_i(sent),
      .taken_i(drained),
      .owed_left_i(owed_left),
      .overdue_i(overdue),
      .steps_o(sack_steps),
      .sack_o(sack),
      .whole_o(whole),
      .una_o(sack_una),
      .own_o(sack_own),
      .rcvd_o(rcvd),
      .canc_o(canc),
      .mem_o(sack_mem),
      .change_o(sack_change)
  );

  mrc_tx_inflight_time u_time (
      .clk_i,
      .tick_i(tick_i[15:0]),
      .tsr_us_i(csr_i.tsr_us),
      .time_wait_i(csr_i.time_wait),
      .state_i(state),
      .stay_i(stay),
      .ctl_i(msg.ctl),
      .ts_i(cur.row.ts),
      .trip_i(cur.row.trip),
      .trims_i(cur.row.trims),
      .una_was_i(cur.row.una),
      .una_i(sack_una),
      .own_i(sack_own),
      .sacked_i(win.sacked),
      .rtxd_i(win.rtxd),
      .copy_i(sent.rtx),
      .stamps_i(stamps),
      .overdue_o(overdue)
  );

  mrc_tx_inflight_answer u_answer (
      .bug_i,
      .tick_i,
      .state_i(state),
      .stay_i(stay),
      .msg_i(msg),
      .cur_i(cur),
      .nxt_i(cur_out.nxt),
      .msn_sent_i(cur_out.msn_sent),
      .rtx_lo_i(rtx_lo),
      .base_i(base),
      .owned_i(owned),
      .win_i(win),
      .sent_rtx_i(sent.rtx),
      .taken_i(packet),
      .trip_i(overdue.trip),
      .trims_i(overdue.trims),
      .answer_o(answer),
      .mem_o(answer_mem),
      .change_o(answer_change)
  );

  mrc_tx_inflight_scan u_scan (
      .clk_i,
      .bug_i,
      .tick_i,
      .time_wait_i(csr_i.time_wait),
      .lost_stays_i(csr_i.lost_stays),
      .state_i(state),
      .cur_i(cur),
      .nxt_i(cur_out.nxt),
      .rtx_lo_i(rtx_lo),
      .lim_i(lim),
      .leave_i(leave),
      .win_i(win),
      .size_i(sent.size),
      .taken_i(packet),
      .rans_valid_i(rans_v),
      .rans_bytes_i(rans.bytes),
      .steps_o(scan_steps),
      .scan_o(scan),
      .mem_o(scan_mem),
      .change_o(scan_change)
  );

  mrc_tx_inflight_silence #(
      .NumQps(NumQps)
  ) u_silence (
      .clk_i,
      .rst_ni,
      .bug_i,
      .now_i(tick_i[11:0]),
      .silence_wait_i(csr_i.silence_wait),
      .visit_on_i(visit_on),
      .visit_i(op.visit),
      .vis_qp_i(vis_qp),
      .trip_i(vis.row.trip),
      .trims_i(vis.row.trims),
      .queries_i(vis.row.queries),
      .all_acked_i(vis.row.una == vis_out.nxt),
      .sends_i,
      .last_i(vis_last),
      .query_i(timer.query),
      .ready_o(vis_ready),
      .silent_o(silent)
  );

  mrc_tx_inflight_timer u_timer (
      .clk_i,
      .bug_i,
      .tick_i,
      .visit_i(op.visit),
      .vis_i(vis),
      .vis_out_i(vis_out),
      .silent_i(silent),
      .silence_wait_i(csr_i.silence_wait),
      .time_wait_i(csr_i.time_wait),
      .may_query_i(free.stateq && !csr_i.state_silent),
      .state_i(state),
      .cur_i(cur),
      .nxt_i(cur_out.nxt),
      .fsent_i(cur_out.fsent),
      .rtx_lo_i(rtx_lo),
      .lim_i(lim),
      .block_i(block),
      .win_i(win),
      .early_owed_i(early_owed),
      .busy_o(busy),
      .open_o(vis_open),
      .steps_o(timer_steps),
      .timer_o(timer),
      .mem_o(timer_mem),
      .change_o(timer_change)
  );

  mrc_tx_inflight_ports #(
      .NumPlanes(NumPlanes),
      .NumQps(NumQps),
      .NumDests(NumDests)
  ) u_ports (
      .clk_i,
      .rst_ni,
      .bug_i,
      .port_wait_i(csr_i.port_wait),
      .state_silent_i(csr_i.state_silent),
      .port_up_i,
      .peer_i(cfg_i.index[DestW-1:0]),
      .mask_i(cfg_i.data[NumPlanes-1:0]),
      .row_i(op.peer),
      .waits_i(cfg_ack_o),
      .ctx_i(op.ctx_new),
      .state_i(state),
      .comes_i(vis_comes),
      .come_qp_i(rec_qp),
      .visit_i(op.visit),
      .visit_qp_i(vis_qp),
      .leaves_i(vis_leaves),
      .open_i(vis_open),
      .visit_dest_i(vis.row.dest),
      .at_o(ports_qp),
      .cur_i(cur),
      .out_i(cur_out),
      .rtx_lo_i(rtx_lo),
      .win_i(win),
      .sent_i(sent),
      .taken_i(packet),
      .steps_o(ports_steps),
      .ports_o(ports),
      .mem_o(ports_mem),
      .change_o(ports_change)
  );

  mrc_tx_inflight_flight u_flight (
      .clk_i,
      .nominal_i(csr_i.nominal),
      .fsent_i(cur_out.fsent),
      .fgone_i(cur.row.fgone),
      .credit_i(cur.row.credit),
      .owed_i(cur.row.owed),
      .mtu_i(cur.row.mtu),
      .ts_i(cur.row.ts),
      .size_i((state == StRec) ? job.size : sent.size),
      .early_i(state == StIdle),
      .vis_fsent_i(vis_out.fsent),
      .vis_fgone_i(vis.row.fgone),
      .vis_owed_i(vis.row.owed),
      .sum_i(state == StCtl1),
      .all_i(sack_una == cur_out.nxt),
      .whole_i(whole),
      .rcvd_i(rcvd),
      .canc_i(canc),
      .fly_o(cur_fly),
      .packet_o(packet),
      .sack_o(drained),
      .sack_owed_o(owed_left),
      .early_owed_o(early_owed)
  );

  // ---- memories

  logic [BlkW-1:0] sent_num;

  assign mem = idle_mem | reclaim_mem | sack_mem | answer_mem | scan_mem | timer_mem | ports_mem;

  always_comb begin
    sent_num = map_num;
    unique case (mem.sent_of)
      SentOfWin: sent_num = win_num;
      SentOfNewest: sent_num = newest_num;
      default: sent_num = map_num;
    endcase
  end

  mrc_tx_inflight_blocks #(
      .NumQps(NumQps),
      .NumBlocks(NumBlocks),
      .NumWqes(NumWqes),
      .MaxMpr(MaxMpr)
  ) u_blocks (
      .clk_i,
      .rst_ni,
      .bug_i,
      .now_i(tick_i[11:0]),
      .offer_o(offer),
      .take_i(recording.take),
      .begin_i(recording.go && recording.begins),
      .begin_qp_i(rec_qp),
      .begin_block_i(rec.psn[23:4]),
      .begin_num_i(rec_block),
      .sent_i(recording.go),
      .sent_rec_i(rec),
      .map_re_i(mem.map_re),
      .map_qp_i(next_qp),
      .map_block_i(mem.map_block),
      .map_o(map_num),
      .win_re_i(mem.win_re),
      .win_o(win),
      .stamps_o(stamps),
      .win_num_o(win_num),
      .win_we_i(mem.win_we),
      .win_i(mem.win),
      .stamp_we_i(mem.stamp_we),
      .stamp_pos_i(mem.stamp_pos),
      .rec_re_i(mem.sent_re),
      .rec_num_i(sent_num),
      .rec_pos_i(mem.sent_pos),
      .rec_o(sent),
      .rec_we_i(again),
      .rec_i(job),
      .give_i(give)
  );

  // ---- outputs

  outputs_t valid, ready;
  words_t words;
  logic retx_load;

  mrc_tx_inflight_report #(
      .NumPlanes(NumPlanes)
  ) u_report (
      .clk_i,
      .rst_ni,
      .rtt_rtx_i(csr_i.rtt_rtx),
      .tsr_us_i(csr_i.tsr_us),
      .loss_shrinks_i(csr_i.loss_shrinks),
      .tick_i(tick_i[15:0]),
      .state_i(state),
      .qp_i(qp_index_t'(sel_qp)),
      .sel_i(sel),
      .fly_i(sel_fly),
      .rec_i(job),
      .ctl_i(msg.ctl),
      .sent_i(sent),
      .sack_i(sack),
      .answer_i(answer),
      .scan_i(scan),
      .granted_i(scan_steps.granted),
      .leave_i(leave.on),
      .timer_i(timer),
      .ports_i(ports),
      .packet_bytes_i(packet.bytes),
      .sack_bytes_i(drained.bytes),
      .fail_i(change.fail),
      .over_i(over),
      .landed_i(change.landed),
      .retx_load_o(retx_load),
      .free_o(free),
      .valid_o(valid),
      .ready_i(ready),
      .words_o(words)
  );

  assign ready = '{
          retx: retx_ready_i,
          upd: upd_ready_i,
          fb: fb_ready_i,
          pres: pres_ready_i,
          stateq: stateq_ready_i,
          ccev: ccev_ready_i,
          rtxreq: rtxreq_ready_i,
          okev: okev_ready_i,
          qperr: qperr_ready_i
      };
  assign retx_valid_o = valid.retx;
  assign retx_o = words.retx;
  assign upd_valid_o = valid.upd;
  assign upd_o = words.upd;
  assign fb_valid_o = valid.fb;
  assign fb_o = words.fb;
  assign pres_valid_o = valid.pres;
  assign pres_o = words.pres;
  assign stateq_valid_o = valid.stateq;
  assign stateq_o = words.stateq;
  assign ccev_valid_o = valid.ccev;
  assign ccev_o = words.ccev;
  assign rtxreq_valid_o = valid.rtxreq;
  assign rtxreq_o = words.rtxreq;
  assign okev_valid_o = valid.okev;
  assign okev_o = words.okev;
  assign qperr_valid_o = valid.qperr;
  assign qperr_o = words.qperr;

  // ---- counters

  logic rtx_inc_q, rto_inc_q, rto_inc_d, state_inc_q, fail_inc_q;
  assign rto_inc_d = timer.dup || timer.lost;
  assign pulses_o = '{rtx: rtx_inc_q, rto: rto_inc_q, state: state_inc_q, fail: fail_inc_q};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rtx_inc_q <= 1'b0;
      rto_inc_q <= 1'b0;
      state_inc_q <= 1'b0;
      fail_inc_q <= 1'b0;
    end else begin
      rtx_inc_q <= retx_load;
      rto_inc_q <= rto_inc_d;
      state_inc_q <= timer.query || ports.query;
      fail_inc_q <= change.fail;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, unused_counts, cfg_i.index, rans.cc, rans.last};

  // ---- what always holds

  `MRC_POPS_A_WORD(Rec, rec_pop, rec_v)
  `MRC_POPS_A_WORD(Ctl, ctl_pop, ctl_v)

  `MRC_ONE_HOT0(OneChanges,
      {record_change != '0, sack_change != '0, answer_change != '0, scan_change != '0,
       timer_change != '0, ports_change != '0},
      "two operations change a QP in one cycle")
  `MRC_ONE_HOT0(OneUsesTheMemories,
      {idle_mem != '0, reclaim_mem != '0, sack_mem != '0, answer_mem != '0, scan_mem != '0,
       timer_mem != '0, ports_mem != '0},
      "two operations use the memories in one cycle")
  `MRC_ASSERT_IF(AnswerIsQuiet, !(state inside {StCtl0, StCtl1, StAck}),
      {answer_change, answer_mem} == '0,
      "a NACK or an ACK changes something in another state")
  `MRC_ASSERT_IF(StayIsQuiet, stay, {op, change, mem, answer.changed, answer.nak} == '0,
      "something happens while an answer waits for the outputs")
  `MRC_ASSERT_IF(NoEndBeginsAnAnswer, op.ctl, !over,
      "an answer begins in the cycle in which a QP ends")
  `MRC_ASSERT_IF(NackOfTheWindow, answer.takes, psn_in(msg.ctl.psn, cur.row.una, cur_out.nxt),
      "a NACK is about a packet that is not out")
  `MRC_ASSERT_IF(NackIsGone, answer.takes && cur.is.cc, answer_change.row.fgone == packet.fgone,
      "the controller hears of a packet that does not leave the flight")
  `MRC_ASSERT_IF(AckOfTheWindow, answer.changed,
      answer.una == cur_out.nxt || psn_in(answer.una, cur.row.una, cur_out.nxt),
      "an ACK moves una back, or beyond what was sent")

endmodule
