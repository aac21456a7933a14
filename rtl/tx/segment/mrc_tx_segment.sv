// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// From work requests to packets (docs/design/blocks/tx/segment/tx_segment.md): holds the WQEs of
/// all QPs in one pool until they complete, cuts them into packets, sends a packet again on order
/// of tx_inflight, and completes WQEs. Machines side by side: Intake, Progress with Complete,
/// Fetch, Emit, and cfg; a WQE, an update or completion, a row and a packet per cycle. A grant is a
/// burst of up to 16 packets or 32768 bytes. It decides neither when to retransmit (tx_inflight)
/// nor on which path (tx_path).
module mrc_tx_segment
  import mrc_pkg::*;
  import mrc_tx_segment_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned WqeDepth = 8,
    parameter int unsigned NumWqes = 24,
    parameter int unsigned NumBlocks = 20,
    parameter int unsigned MaxMpr = 128,
    parameter int unsigned NumDests = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input tx_segment_csr_t csr_i,

    input logic wqe_valid_i,
    output logic wqe_ready_o,
    input wqe_t wqe_i,
    input logic grant_valid_i,
    output logic grant_ready_o,
    input grant_t grant_i,
    input logic retx_valid_i,
    output logic retx_ready_o,
    input retx_t retx_i,
    input logic upd_valid_i,
    output logic upd_ready_o,
    input upd_t upd_i,
    input logic ans_valid_i,
    output logic ans_ready_o,
    input ccans_t ans_i,

    output logic pkt_valid_o,
    input logic pkt_ready_i,
    output pkt_t pkt_o,
    output logic push_valid_o,
    input logic push_ready_i,
    output sched_t push_o,
    output logic park_valid_o,
    input logic park_ready_i,
    output grant_t park_o,
    output logic req_valid_o,
    input logic req_ready_i,
    output ccreq_t req_o,
    output logic ret_valid_o,
    input logic ret_ready_i,
    output ccret_t ret_o,
    output logic cqe_valid_o,
    input logic cqe_ready_i,
    output cqe_t cqe_o,
    output logic qperr_valid_o,
    input logic qperr_ready_i,
    output qperr_t qperr_o,

    // One block of in-flight records is free again.
    input logic freed_i,
    // An order of retransmission has become a packet, or nothing.
    output logic order_done_o,
    // Of QP visit_qp: it has something to send, and its turn will come.
    input qp_index_t visit_qp_i,
    output logic sends_o,

    input cfg_t cfg_i,
    output logic cfg_ack_o
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned IdxW = $clog2(NumWqes);

  if (NumQps < 2 || NumQps > 131072 || NumQps != 2 ** QpW) begin : gen_bad_num_qps
    $error("%m: NumQps must be a power of two, 2 to 131072");
  end
  if (WqeDepth < 2 || WqeDepth > 4096 || NumWqes <= NumQps || NumWqes > 262144) begin : gen_bad_wqes
    $error("%m: WqeDepth must be 2 to 4096, NumWqes more than NumQps");
  end
  if (NumBlocks <= NumQps || MaxMpr < 128 || (MaxMpr & (MaxMpr - 1)) != 0) begin : gen_bad_blocks
    $error("%m: NumBlocks must be more than NumQps, MaxMpr a power of two from 128 on");
  end

  // ---- the QPs' registers, read by the machines

  logic [Reads-1:0][QpW-1:0] raddr;
  qp_regs_t [Reads-1:0] regs;
  intake_wr_t intake_wr;
  progress_wr_t progress_wr;
  emit_wr_t emit_wr;
  logic emit_parks, release_go;
  qp_index_t wqe_qp, upd_qp, emit_qp;
  logic [QpW-1:0] head_qp;
  cfg_wr_t cfg_wr;

  mrc_tx_segment_regs #(
      .NumQps(NumQps),
      .NumWqes(NumWqes),
      .NumDests(NumDests)
  ) u_regs (
      .clk_i,
      .rst_ni,
      .raddr_i(raddr),
      .regs_o(regs),
      .intake_i(intake_wr),
      .wqe_qp_i(wqe_qp[QpW-1:0]),
      .progress_i(progress_wr),
      .release_go_i(release_go),
      .head_qp_i(head_qp),
      .emit_i(emit_wr),
      .parks_i(emit_parks),
      .cfg_i(cfg_wr),
      .sends_qp_i(visit_qp_i[QpW-1:0]),
      .sends_o
  );

  logic emit_end, upd_pop, upd_head, done_load, idle, cq_room;
  logic take, refuse, give, offer;
  logic [IdxW-1:0] take_row, give_idx, offer_row, cfg_erow;
  work_t take_work;
  done_row_t take_done;
  cqe_t refuse_cqe;
  logic c1_valid, qperr_free, qperr_load;
  qp_index_t c1_qp;

  // ---- cfg: waits until completion work is done, which belongs to the QP as it was. A QP that is
  // still in tx_sched is stopped and leaves it by itself; work requests it has left are forgotten.

  logic cfg_ack_q, cfg_ack_d, cfg_own, cfg_due, cfg_acts, cfg_is_ctx, cfg_stop, cfg_left;
  logic cfg_known;  // the QP has had a context: it owns an empty row
  logic cfg_forget, cfg_load;
  done_t load_done;
  tbl_qp_ctx_t cfg_row;
  logic [QpW-1:0] cfg_qp;
  assign cfg_row = cfg_i.data;
  assign cfg_qp = cfg_i.index[QpW-1:0];
  assign raddr[RdCfg] = cfg_qp;
  assign cfg_is_ctx = cfg_i.tbl == CfgTableQpCtx;
  assign cfg_own = cfg_is_ctx || cfg_i.tbl == CfgTableQpState;
  assign cfg_due = cfg_i.req && !cfg_ack_q && cfg_own && idle && !upd_head;
  // The first context waits for a row.
  assign cfg_acts = cfg_due && (!cfg_is_ctx || cfg_known || offer);
  assign cfg_stop = cfg_acts && cfg_is_ctx && regs[RdCfg].active;
  assign cfg_left = cfg_known && regs[RdCfg].una_msn != regs[RdCfg].tail;
  assign cfg_forget = cfg_acts && cfg_is_ctx && !cfg_stop && cfg_left;

  mrc_bits #(
      .N(NumQps)
  ) u_known (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .set_i(cfg_wr.ctx_we),
      .set_idx_i(cfg_qp),
      .idx_i(cfg_qp),
      .in_o(cfg_known)
  );

  always_comb begin
    cfg_wr.ctx_we = cfg_acts && cfg_is_ctx && !cfg_stop && !cfg_left;
    cfg_wr.fail = cfg_acts && !cfg_is_ctx && cfg_row.state == QpStateError;
    cfg_wr.state_we = cfg_stop || cfg_wr.ctx_we || (cfg_acts && !cfg_is_ctx);
    cfg_wr.qp = qp_index_t'(cfg_qp);
    cfg_wr.number = cfg_known ? pool_row_t'(cfg_erow) : pool_row_t'(offer_row);
    cfg_wr.row = cfg_row;
    if (cfg_stop) begin
      cfg_wr.row.state = QpStateReset;
    end
    cfg_load = cfg_forget || (cfg_wr.fail && cfg_left);
    load_done = '0;
    load_done.qp = qp_index_t'(cfg_qp);
    load_done.silent = cfg_forget;
    load_done.flush = !cfg_forget;
  end

  assign cfg_ack_d = cfg_i.req
      && (cfg_ack_q || !cfg_own || cfg_wr.ctx_we || (cfg_acts && !cfg_is_ctx));
  assign cfg_ack_o = cfg_ack_q;

  // ---- Intake

  mrc_tx_segment_intake #(
      .NumQps(NumQps),
      .WqeDepth(WqeDepth),
      .NumWqes(NumWqes),
      .MaxMpr(MaxMpr)
  ) u_intake (
      .clk_i,
      .rst_ni,
      .bug_i,
      .wqe_valid_i,
      .wqe_ready_o,
      .wqe_i,
      .cfg_acts_i(cfg_acts),
      .cfg_i(cfg_wr),
      .cfg_take_i(cfg_wr.ctx_we && !cfg_known),
      .offer_o(offer),
      .offer_row_o(offer_row),
      .cfg_qp_i(cfg_qp),
      .cfg_erow_o(cfg_erow),
      .qp_o(wqe_qp),
      .next_qp_o(raddr[RdWqe]),
      .next_regs_i(regs[RdWqe]),
      .progress_wr_i(progress_wr),
      .emit_wr_i(emit_wr),
      .zero_length_i(csr_i.zero_length),
      .wimm_over_i(csr_i.wimm_over),
      .completing_i(!idle || !cq_room),
      .done_load_i(done_load),
      .upd_pop_i(upd_pop),
      .upd_qp_i(upd_qp),
      .give_i(give),
      .give_idx_i(give_idx),
      .wr_o(intake_wr),
      .take_o(take),
      .take_row_o(take_row),
      .take_work_o(take_work),
      .take_done_o(take_done),
      .refuse_o(refuse),
      .refuse_cqe_o(refuse_cqe),
      .qperr_free_i(qperr_free),
      .qperr_load_o(qperr_load)
  );

  mrc_out_reg #(
      .T(qperr_t)
  ) u_qperr (
      .clk_i,
      .rst_ni,
      .load_i(qperr_load),
      .data_i('{qp: wqe_qp, status: CqStatusWimmOverrun}),
      .free_o(qperr_free),
      .valid_o(qperr_valid_o),
      .ready_i(qperr_ready_i),
      .data_o(qperr_o)
  );

  // ---- Progress, Complete

  mrc_tx_segment_complete #(
      .NumQps(NumQps),
      .NumWqes(NumWqes),
      .MaxMpr(MaxMpr)
  ) u_complete (
      .clk_i,
      .rst_ni,
      .bug_i,
      .upd_valid_i,
      .upd_ready_o,
      .upd_i,
      .cqe_valid_o,
      .cqe_ready_i,
      .cqe_o,
      .cfg_i(cfg_wr),
      .load_i(cfg_load),
      .load_done_i(load_done),
      .done_qp_o(raddr[RdDone]),
      .done_regs_i(regs[RdDone]),
      .next_qp_o(raddr[RdUpd]),
      .next_regs_i(regs[RdUpd]),
      .intake_wr_i(intake_wr),
      .emit_wr_i(emit_wr),
      .wr_o(progress_wr),
      .release_go_o(release_go),
      .head_qp_o(head_qp),
      .upd_qp_o(upd_qp),
      .upd_pop_o(upd_pop),
      .done_load_o(done_load),
      .take_i(take),
      .take_row_i(take_row),
      .take_done_i(take_done),
      .refuse_i(refuse),
      .refuse_cqe_i(refuse_cqe),
      .give_o(give),
      .give_idx_o(give_idx),
      .upd_head_o(upd_head),
      .c1_valid_o(c1_valid),
      .c1_qp_o(c1_qp),
      .idle_o(idle),
      .cq_room_o(cq_room)
  );

  // ---- Fetch, Emit

  logic row_valid, push_free, emit_push, hold;
  logic [3:0] rows_count;
  fetched_t row;
  logic orders, again_full, again_valid;
  again_t again;
  qp_regs_t again_regs;
  sched_t emit_push_data;

  mrc_tx_segment_fetch #(
      .NumQps(NumQps),
      .NumWqes(NumWqes),
      .MaxMpr(MaxMpr)
  ) u_fetch (
      .clk_i,
      .rst_ni,
      .bug_i,
      .grant_valid_i,
      .grant_ready_o,
      .grant_i,
      .retx_valid_i,
      .retx_ready_o,
      .retx_i,
      .req_valid_o,
      .req_ready_i,
      .req_o,
      .nominal_i(csr_i.nominal),
      .next_qp_o(raddr[RdGrant]),
      .next_regs_i(regs[RdGrant]),
      .f1_qp_o(raddr[RdF1]),
      .f1_regs_i(regs[RdF1]),
      .intake_wr_i(intake_wr),
      .progress_wr_i(progress_wr),
      .emit_wr_i(emit_wr),
      .cfg_wr_i(cfg_wr),
      .take_i(take),
      .take_row_i(take_row),
      .take_work_i(take_work),
      .end_i(emit_end),
      .end_qp_i(emit_qp),
      .rows_count_i(rows_count),
      .row_valid_o(row_valid),
      .row_o(row),
      .orders_o(orders),
      .again_full_i(again_full),
      .again_valid_o(again_valid),
      .again_o(again),
      .again_regs_o(again_regs)
  );

  mrc_tx_segment_emit #(
      .NumQps(NumQps),
      .MaxMpr(MaxMpr),
      .NumBlocks(NumBlocks)
  ) u_emit (
      .clk_i,
      .rst_ni,
      .bug_i,
      .ans_valid_i,
      .ans_ready_o,
      .ans_i,
      .pkt_valid_o,
      .pkt_ready_i,
      .pkt_o,
      .park_valid_o,
      .park_ready_i,
      .park_o,
      .ret_valid_o,
      .ret_ready_i,
      .ret_o,
      .push_free_i(push_free),
      .hold_i(hold),
      .push_load_o(emit_push),
      .push_o(emit_push_data),
      .freed_i,
      .order_done_o,
      .nominal_i(csr_i.nominal),
      .ar_gap_i(csr_i.ar_gap),
      .row_valid_i(row_valid),
      .row_i(row),
      .rows_count_o(rows_count),
      .orders_i(orders),
      .again_valid_i(again_valid),
      .again_i(again),
      .again_regs_i(again_regs),
      .again_full_o(again_full),
      .next_qp_o(raddr[RdEmit]),
      .next_regs_i(regs[RdEmit]),
      .intake_wr_i(intake_wr),
      .progress_wr_i(progress_wr),
      .cfg_wr_i(cfg_wr),
      .c1_valid_i(c1_valid),
      .c1_qp_i(c1_qp),
      .wr_o(emit_wr),
      .parks_o(emit_parks),
      .qp_o(emit_qp),
      .end_o(emit_end)
  );

  // ---- who gets into the scheduler

  logic go_v, go_now, turn_q, turn_d, go_ready;
  qp_index_t go_qp;
  logic [QpW-1:0] go_row;
  logic [$clog2(NumQps+1)-1:0] unused_go_count;

  mrc_fifo_ram #(
      .Width(QpW),
      .Depth(NumQps)
  ) u_go (
      .clk_i,
      .rst_ni,
      .valid_i(progress_wr.go || intake_wr.go),
      .ready_o(go_ready),
      .data_i(progress_wr.go ? upd_qp[QpW-1:0] : wqe_qp[QpW-1:0]),
      .valid_o(go_v),
      .ready_i(go_now),
      .data_o(go_row),
      .count_o(unused_go_count)
  );

  // turn: Emit was the last to push.
  assign hold = turn_q && go_v && push_free;
  assign go_qp = qp_index_t'(go_row);
  assign go_now = push_free && go_v && (turn_q || !emit_push);

  always_comb begin
    turn_d = turn_q;
    if (emit_push) begin
      turn_d = 1'b1;
    end else if (go_now) begin
      turn_d = 1'b0;
    end
  end

  sched_t push_d;
  assign push_d = go_now ? '{qp: go_qp, more: 1'b1} : emit_push_data;

  mrc_out_reg #(
      .T(sched_t)
  ) u_push (
      .clk_i,
      .rst_ni,
      .load_i(emit_push || go_now),
      .data_i(push_d),
      .free_o(push_free),
      .valid_o(push_valid_o),
      .ready_i(push_ready_i),
      .data_o(push_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cfg_ack_q <= 1'b0;
      turn_q <= 1'b0;
    end else begin
      cfg_ack_q <= cfg_ack_d;
      turn_q <= turn_d;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, visit_qp_i, cfg_i.index, go_ready, unused_go_count};

  // ---- what always holds

  `MRC_NEVER_FULL(Go, progress_wr.go || intake_wr.go, go_ready)
  `MRC_POPS_A_WORD(Go, go_now, go_v)
  `MRC_ONE_HOT0(OnePush, {emit_push, go_now},
      "two push into the scheduler")
  `MRC_ONE_HOT0(OneGo, {progress_wr.go, intake_wr.go},
      "two QPs begin in one cycle")

endmodule
