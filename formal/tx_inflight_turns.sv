// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// The main machine of mrc_tx_inflight and what records packets beside it, while all outputs are
/// taken and no table is written: how long an answer and a packet wait. What the operations find is
/// any, but they look at no more blocks than the page says. Two QPs, windows of 128 PSNs.
module formal_tx_inflight_turns
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
(
    input logic clk_i,
    input flags_t cfg_is_i,
    input flags_t is_i,
    input logic [13:0] size_i,
    input flags_t rec_is_i,
    input logic stateq_free_i,
    input logic rec_valid_i,
    input rec_t rec_i,
    input logic ctl_valid_i,
    input ctl_t ctl_i,
    input logic ctl_live_i,
    input logic [23:0] list_lo_i,
    input logic [23:0] vis_una_i,
    input logic visit_on_i,
    input logic silence_wait_i,
    input logic vis_qp_i,
    input logic [19:0] rq_base_i,
    input logic [23:0] una_i,
    input sack_steps_t sack_i,
    input scan_steps_t scan_i,
    input timer_steps_t timer_i,
    input ports_steps_t ports_i,
    input logic ports_qp_i,
    input logic reclaim_end_i,
    input logic push_qp_i,
    input lists_t lists_i,
    input logic [19:0] rec_base_i,
    input logic [1:0] offer_i,
    input logic rans_valid_i,
    input logic [11:0] now_i,
    input logic time_wait_i
);
  `MRC_RESET

  localparam int unsigned MaxMpr = 128;
  localparam int unsigned Blocks = MaxMpr / 16;

  outputs_t free;
  always_comb begin
    free = '1;
    free.stateq = stateq_free_i;
  end

  logic cfg_ack, list_qp, rq_qp, stay, qp, next_qp, mine, again;
  op_t op;
  mem_t mem;
  state_e state;
  rec_t job;
  msg_t msg;
  logic [19:0] block;
  logic [23:0] lim, list_nxt;
  leave_t leave;
  out_t cur_out, vis_out;
  recording_t recording;
  logic [27:0] cfg_fsent;
  stamp_t vis_last;
  logic [1:0] rec_block, newest;
  change_t change;

  logic vis_ready;
  mrc_tx_inflight_fsm #(
      .NumQps(2)
  ) dut (
      .clk_i,
      .rst_ni,
      .bug_i(8'd0),
      .cfg_req_i(1'b0),
      .cfg_table_i(4'd0),
      .cfg_rts_i(1'b0),
      .cfg_qp_i(1'b0),
      .cfg_is_i,
      .cfg_ack_o(cfg_ack),
      .free_i(free),
      .ports_i,
      .ports_qp_i,
      .rec_valid_i(rec_valid_i && !mine),
      .rec_i,
      .ctl_valid_i,
      .ctl_i,
      .ctl_live_i,
      .list_i({list_lo_i, list_nxt}),
      .vis_i({vis_una_i, vis_out.nxt}),
      .next_visit_i({visit_on_i, vis_ready}),
      .rq_base_i,
      .list_qp_o(list_qp),
      .vis_qp_i,
      .rq_qp_o(rq_qp),
      .op_o(op),
      .mem_o(mem),
      .is_i,
      .size_i,
      .una_i,
      .sack_i,
      .scan_i,
      .timer_i,
      .reclaim_end_i,
      .state_o(state),
      .stay_o(stay),
      .qp_o(qp),
      .qp_next_o(next_qp),
      .rec_o(job),
      .msg_o(msg),
      .block_o(block),
      .lim_o(lim),
      .leave_o(leave),
      .push_qp_i,
      .lists_i
  );

  mrc_tx_inflight_record #(
      .NumQps(2),
      .NumBlocks(4),
      .MaxMpr(MaxMpr)
  ) u_record (
      .clk_i,
      .rst_ni,
      .now_i,
      .time_wait_i,
      .state_i(state),
      .rec_valid_i,
      .rec_i,
      .is_i(rec_is_i),
      .base_i(rec_base_i),
      .offer_i,
      .mine_o(mine),
      .recording_o(recording),
      .block_o(rec_block),
      .answer_i(op.ctl),
      .answer_qp_i(ctl_i.qp[0]),
      .answer_block_i(ctl_i.psn[23:4]),
      .ctl0_block_i(msg.ctl.psn[23:4]),
      .clear_i(1'b0),
      .clear_qp_i(1'b0),
      .next_qp_i(next_qp),
      .cur_qp_i(qp),
      .cur_una_i(una_i),
      .cur_msn_i(16'd0),
      .cur_o(cur_out),
      .newest_o(newest),
      .vis_qp_i,
      .vis_una_i,
      .vis_msn_i(16'd0),
      .vis_o(vis_out),
      .vis_last_o(vis_last),
      .cfg_qp_i(1'b0),
      .cfg_fsent_o(cfg_fsent),
      .list_qp_i(list_qp),
      .list_una_i(list_lo_i),
      .list_nxt_o(list_nxt),
      .job_i(job),
      .cur_is_i(is_i),
      .cur_row_i('0),
      .owned_i(1'b0),
      .packet_fgone_i(28'd0),
      .again_o(again),
      .change_o(change)
  );

  // ---- what operations look at: so many blocks at most

  logic [3:0] looks_q;  // cycles in this state before this one
  state_e before_q;
  logic [3:0] looks;
  assign looks = (state == before_q) ? looks_q : 4'd0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      looks_q <= '0;
      before_q <= StIdle;
    end else begin
      looks_q <= looks + 4'd1;
      before_q <= state;
    end
  end
  `MRC_GIVEN(sack_of_five, !(state == StRow && looks == 4'd4) || sack_i.last)
  `MRC_GIVEN(scan_of_four, !(state == StScan && looks == 4'd3) || scan_i.send || scan_i.stop)
  `MRC_GIVEN(walk_of_a_window, !((state == StWalk || state == StNotified)
             && looks == 4'(Blocks - 1))
             || !timer_i.more)
  `MRC_GIVEN(reclaim_of_a_window, !(state == StReclaim && looks == 4'(Blocks - 1))
             || reclaim_end_i)
  `MRC_GIVEN(ports_of_a_block, !(state == StPort2 && looks == 4'd15) || ports_i.last)
  // The controller answers a question, and decides one way.
  `MRC_GIVEN(one_way, !(scan_i.granted && scan_i.refused))
  `MRC_GIVEN(answers, (scan_i.granted || scan_i.refused) == (state == StRetxW && rans_valid_i))
  `MRC_GIVEN(walks_in_a_visit, !timer_i.walk || op.visit)
  // A step of a QP's timer is longer than all that is looked at here.
  logic [1:0] walked_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) walked_q <= '0;
    else if (timer_i.walk) walked_q[vis_qp_i] <= 1'b1;
  end
  `MRC_GIVEN(one_walk_each, !(timer_i.walk && walked_q[vis_qp_i]))
  `MRC_GIVEN(ends_in_reclaim, !reclaim_end_i || state == StReclaim)

  // A visit waits for what it is judged by for two cycles behind another one. Who is to be visited
  // next is so until the visit.
  logic silent, stands_q;
  mrc_tx_inflight_silence #(
      .NumQps(2)
  ) u_silence (
      .clk_i,
      .rst_ni,
      .bug_i(8'd0),
      .now_i,
      .silence_wait_i,
      .visit_on_i,
      .visit_i(op.visit),
      .vis_qp_i,
      .trip_i('0),
      .trims_i(1'b0),
      .queries_i('0),
      .all_acked_i(1'b0),
      .sends_i(1'b0),
      .last_i('0),
      .query_i(1'b0),
      .ready_o(vis_ready),
      .silent_o(silent)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stands_q <= 1'b0;
    end else begin
      stands_q <= visit_on_i && !op.visit;
    end
  end
  `MRC_GIVEN(visit_stands, !stands_q || visit_on_i)
  `MRC_GIVEN(busy, visit_on_i)

  // It answers nothing else, and is not asked for a packet that counts for no bytes. Its answer is
  // taken at once: the machine waits for it.
  logic requested_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      requested_q <= 1'b0;
    end else begin
      requested_q <= (state == StRetx1 && is_i.cc && size_i != '0 && !leave.on)
          || (requested_q && !rans_valid_i);
    end
  end
  `MRC_GIVEN(answers_a_question, !rans_valid_i || requested_q)
  `MRC_PROVE(rans, !rans_valid_i || state == StRetxW)
  `MRC_COVER(rans, rans_valid_i && scan_i.refused && rec_valid_i && ctl_valid_i)

  // A QP stays as it is while its packet waits.
  rec_t rec_q;
  flags_t rec_is_q;
  logic waits_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q <= 1'b0;
    end else begin
      waits_q <= rec_valid_i && !op.rec && !recording.go;
    end
  end
  always_ff @(posedge clk_i) begin
    rec_q <= rec_i;
    rec_is_q <= rec_is_i;
  end
  `MRC_GIVEN(head_stays, !waits_q || (rec_valid_i && rec_i == rec_q))
  `MRC_GIVEN(qp_stays, !waits_q || (rec_is_i.live == rec_is_q.live
             && rec_is_i.fresh == rec_is_q.fresh))

  // ---- while the controller has answered what it was asked

  logic requested;
  assign requested = state == StRetxW && !rans_valid_i;

  // What a port reports, from the grant on.
  localparam logic [4:0] MostPorts = 5'd21;
  logic [4:0] ports_count_q, ports_count;
  always_comb begin
    ports_count = 5'd0;
    if (op.ports) begin
      ports_count = 5'd1;
    end else if (state inside {StSeek, StPort0, StPort1, StPort2, StPort3}) begin
      ports_count = ports_count_q + 5'd1;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ports_count_q <= '0;
    end else begin
      ports_count_q <= ports_count;
    end
  end
  `MRC_PROVE(ports, ports_count <= MostPorts)
  `MRC_COVER(ports, ports_count == MostPorts)

  localparam int unsigned MostCtl = 69;
  logic [6:0] ctl_count, rec_count, record_count;
  formal_wait #(
      .Most(MostCtl)
  ) u_ctl (
      .clk_i,
      .rst_ni,
      .waits_i(ctl_valid_i && !op.ctl),
      .others_i(requested),
      .count_o(ctl_count)
  );
  `MRC_PROVE(ctl, ctl_count <= 7'(MostCtl))
  `MRC_COVER(ctl, ctl_count == 7'(MostCtl))

  // A packet for the main machine: a retransmission, or of a QP that is over.
  localparam int unsigned MostRec = 69;
  formal_wait #(
      .Most(MostRec)
  ) u_rec (
      .clk_i,
      .rst_ni,
      .waits_i(rec_valid_i && !mine && !op.rec),
      .others_i(requested),
      .count_o(rec_count)
  );
  `MRC_PROVE(rec, rec_count <= 7'(MostRec))
  `MRC_COVER(rec, rec_count == 7'(MostRec))

  // Any other, unless its block is not given back yet. A port's report holds none up but in Port3.
  localparam int unsigned MostRecord = 40;
  formal_wait #(
      .Most(MostRecord)
  ) u_first (
      .clk_i,
      .rst_ni,
      .waits_i(rec_valid_i && mine && !recording.go && !u_record.far),
      .others_i(requested),
      .count_o(record_count)
  );
  `MRC_PROVE(first, record_count <= 7'(MostRecord))
  `MRC_COVER(first, record_count == 7'(MostRecord))
endmodule
