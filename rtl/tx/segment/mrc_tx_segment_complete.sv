// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Progress and Complete of mrc_tx_segment: takes what tx_inflight tells of a QP, and completes or
/// forgets its work requests in order, one per cycle: read the row, then (c1) give it back, go on
/// to the next and queue the completion. Refusals of Intake share that queue.
module mrc_tx_segment_complete
  import mrc_pkg::*;
  import mrc_math_pkg::*;
  import mrc_tx_segment_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned NumWqes = 24,
    parameter int unsigned MaxMpr = 128,
    localparam int unsigned QpW = $clog2(NumQps),
    localparam int unsigned IdxW = $clog2(NumWqes)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,

    input logic upd_valid_i,
    output logic upd_ready_o,
    input upd_t upd_i,
    output logic cqe_valid_o,
    input logic cqe_ready_i,
    output cqe_t cqe_o,

    input cfg_wr_t cfg_i,
    // Flush, or forget, what a QP has: from cfg or Intake, only while idle_o is 1.
    input logic load_i,
    input done_t load_done_i,

    // Registers of the QP that is completed, and of the QP of the next update.
    output logic [QpW-1:0] done_qp_o,
    input qp_regs_t done_regs_i,
    output logic [QpW-1:0] next_qp_o,
    input qp_regs_t next_regs_i,
    input intake_wr_t intake_wr_i,
    input emit_wr_t emit_wr_i,
    output progress_wr_t wr_o,
    // Who goes on with wr_o.go: c1_qp of it, or else the QP of the update.
    output logic release_go_o,
    output logic [QpW-1:0] head_qp_o,
    output qp_index_t upd_qp_o,
    output logic upd_pop_o,
    output logic done_load_o,

    // WQEs taken and refused.
    input logic take_i,
    input logic [IdxW-1:0] take_row_i,
    input done_row_t take_done_i,
    input logic refuse_i,
    input cqe_t refuse_cqe_i,
    output logic give_o,
    output logic [IdxW-1:0] give_idx_o,

    output logic upd_head_o,
    // A work request is about to complete, of this QP.
    output logic c1_valid_o,
    output qp_index_t c1_qp_o,
    // No completion is under way / room in cq for a refusal.
    output logic idle_o,
    output logic cq_room_o
);

  typedef struct packed {
    qp_index_t qp;
    logic [15:0] msn;
    logic [IdxW-1:0] number;
    cq_status_e status;
    logic silent;
  } issue_t;

  logic upd_v;
  upd_t upd;
  qp_regs_t regs;

  mrc_tx_segment_head #(
      .T(upd_t),
      .NumQps(NumQps)
  ) u_upd (
      .clk_i,
      .rst_ni,
      .valid_i(upd_valid_i),
      .ready_o(upd_ready_o),
      .data_i(upd_i),
      .valid_o(upd_v),
      .ready_i(upd_pop_o),
      .data_o(upd),
      .regs_o(regs),
      .next_qp_o,
      .next_regs_i,
      .intake_wr_i,
      .progress_wr_i(wr_o),
      .emit_wr_i,
      .cfg_wr_i(cfg_i)
  );

  logic busy_q, busy_d, c1_valid_q;
  done_t done_q, done_d;
  issue_t c1_q, c1_d;
  logic [2:0] cq_count;
  logic [3:0] under_way;
  logic step, issue, is_none, c1_held;

  assign upd_head_o = upd_v;
  assign idle_o = !busy_q && !c1_valid_q;
  assign cq_room_o = cq_count != 3'd4;
  assign under_way = {1'b0, cq_count} + {3'd0, c1_valid_q};
  // done_q still names c1's QP: its registers are done_regs_i.
  assign c1_held = c1_valid_q && done_regs_i.held;
  assign upd_pop_o = upd_v && !busy_q && !c1_held;
  assign step = busy_q && under_way < 4'd4 && !c1_held;
  assign upd_qp_o = c1_held ? c1_q.qp : upd.qp;
  assign head_qp_o = upd.qp[QpW-1:0];
  assign c1_valid_o = c1_valid_q;
  assign c1_qp_o = c1_q.qp;
  assign done_qp_o = done_q.qp[QpW-1:0];

  // ---- issue

  logic ends, refused, is_last, is_ok;
  logic [15:0] msn_next;
  assign msn_next = done_regs_i.una_msn + 16'd1;
  assign ends = ends_qp(done_q.syndrome) && !done_q.flush && !done_q.silent;
  assign is_ok = !done_q.flush && !done_q.silent && !ends;
  assign is_none = done_regs_i.una_msn == done_regs_i.tail;
  assign refused = ends && done_regs_i.una_msn == done_q.msn;
  // Bug 32: one too early.
  assign is_last = (bug_i == BugFlushStopsEarly ? msn_next + 16'd1 : msn_next) == done_regs_i.tail;
  assign issue = step && !is_none;

  // The oldest row of the QP; c1 is about to go on to the next.
  logic [QpW-1:0] c1_qp;
  logic [IdxW-1:0] urow_file, urow;
  done_row_t row;
  assign c1_qp = c1_q.qp[QpW-1:0];
  assign urow = (c1_valid_q && c1_qp == done_qp_o) ? row.next[IdxW-1:0] : urow_file;

  always_comb begin
    c1_d.qp = done_q.qp;
    c1_d.msn = done_regs_i.una_msn;
    c1_d.number = urow;
    c1_d.silent = done_q.silent;
    c1_d.status = CqStatusOk;
    if (done_q.flush) begin
      c1_d.status = CqStatusFlushed;
    end else if (refused) begin
      c1_d.status = cq_status_e'(done_q.syndrome);
    end
  end

  // ---- updates

  logic [15:0] upd_ahead;
  logic upd_good, upd_keep, upd_open;
  logic [7:0] mpr_new;
  assign upd_ahead = upd.msn - regs.una_msn;
  assign upd_good = upd.syndrome[7:5] == 3'b000 && upd_ahead != 16'd0 && !upd_ahead[15];
  assign done_load_o = upd_pop_o && upd.ack
      && (upd_good || (ends_qp(upd.syndrome) && !regs.failed));
  assign upd_keep = psn_before(upd.una, regs.una);

  always_comb begin
    mpr_new = regs.mpr;
    if (upd.mpr != 8'd0) begin
      mpr_new = (upd.mpr < regs.mpr_max) ? upd.mpr : regs.mpr_max;
    end
    // Both windows side by side: which una it is comes late.
    upd_open = 1'b0;
    if (upd_v) begin
      upd_open = upd_keep
          ? window_open(regs.psn, regs.una, mpr_new, 20'(MaxMpr / 16), bug_i == BugTxWindowPlusOne)
          : window_open(regs.psn, upd.una, mpr_new, 20'(MaxMpr / 16), bug_i == BugTxWindowPlusOne);
    end
  end

  logic active;
  assign active = regs.active
      && !(emit_wr_i.inactive && emit_wr_i.qp == qp_index_t'(upd.qp[QpW-1:0]));

  // ---- an immediate completes whose QP is held: it goes on

  logic c1_imm, c1_active, release_go;
  assign c1_active = done_regs_i.active
      && !(emit_wr_i.inactive && emit_wr_i.qp == qp_index_t'(done_qp_o));
  assign release_go = c1_held && c1_imm && !c1_q.silent && done_regs_i.rts && !done_regs_i.failed
      && done_regs_i.head != done_regs_i.tail && !c1_active && bug_i != BugHeldForGood
      && window_open(done_regs_i.psn, done_regs_i.una, done_regs_i.mpr, 20'(MaxMpr / 16),
                     bug_i == BugTxWindowPlusOne);

  assign release_go_o = release_go;

  // ---- completion work and the QP's registers

  always_comb begin
    busy_d = busy_q;
    done_d = done_q;
    if (step) begin
      if (is_none) begin
        busy_d = 1'b0;
      end else if (is_ok) begin
        busy_d = msn_next != done_q.msn;
      end else if (!ends || refused) begin
        busy_d = !is_last;
        done_d.flush = !done_q.silent;
      end
    end else if (done_load_o) begin
      busy_d = 1'b1;
      done_d = '{
          qp: upd.qp,
          msn: upd.syndrome[7] ? regs.una_msn : upd.msn,
          syndrome: upd.syndrome,
          flush: 1'b0,
          silent: 1'b0
      };
    end else if (load_i) begin
      busy_d = 1'b1;
      done_d = load_done_i;
    end
  end

  always_comb begin
    wr_o.msn_we = issue || cfg_i.ctx_we;
    wr_o.una_we = upd_pop_o || cfg_i.ctx_we;
    wr_o.fail = step && ends && (is_none || refused);
    wr_o.go = release_go || (upd_pop_o && regs.rts && !regs.failed && !regs.held
              && regs.head != regs.tail && upd_open && !active);
    wr_o.qp = (busy_q || c1_held) ? qp_index_t'(done_qp_o) : qp_index_t'(upd.qp[QpW-1:0]);
    wr_o.wout_we = c1_valid_q && c1_imm;
    wr_o.release_held = c1_valid_q && c1_imm && !c1_q.silent;
    wr_o.c1_qp = qp_index_t'(done_qp_o);
    wr_o.wout = done_regs_i.wout + 8'd1;
    wr_o.una_msn = msn_next;
    wr_o.una = upd_keep ? regs.una : upd.una;
    wr_o.mpr = mpr_new;
    if (cfg_i.ctx_we) begin
      wr_o.qp = cfg_i.qp;
      wr_o.una_msn = cfg_i.row.msn;
      wr_o.una = cfg_i.row.sq_psn;
      wr_o.mpr = cfg_i.row.mpr;
    end
  end

  // ---- c1

  localparam int unsigned RowW = $bits(done_row_t) - $bits(pool_row_t) + IdxW;

  logic [RowW-1:0] row_data;
  assign row = done_row_t'($bits(done_row_t)'(row_data));
  assign c1_imm = row.imm_valid;
  assign give_o = c1_valid_q;
  assign give_idx_o = c1_q.number;

  mrc_ram_1r1w #(
      .Width(RowW),
      .Depth(NumWqes)
  ) u_done (
      .clk_i,
      .re_i(issue),
      .raddr_i(urow),
      .rdata_o(row_data),
      .we_i(take_i),
      .waddr_i(take_row_i),
      .wdata_i(take_done_i[RowW-1:0])
  );

  mrc_rf_1r1w #(
      .Width(IdxW),
      .Depth(NumQps)
  ) u_urow (
      .clk_i,
      .raddr_i(done_qp_o),
      .rdata_o(urow_file),
      .we_i(cfg_i.ctx_we || c1_valid_q),
      .waddr_i(cfg_i.ctx_we ? cfg_i.qp[QpW-1:0] : c1_qp),
      .wdata_i(cfg_i.ctx_we ? cfg_i.number[IdxW-1:0] : row.next[IdxW-1:0])
  );

  // ---- cq

  logic cq_push, cq_ready;
  cqe_t cq_data;
  assign cq_push = refuse_i || (c1_valid_q && !c1_q.silent);

  always_comb begin
    cq_data.qp = c1_q.qp;
    cq_data.recv = 1'b0;
    cq_data.status = c1_q.status;
    cq_data.wr_id = row.wr_id;
    cq_data.imm = 32'd0;
    cq_data.length = row.length;
    cq_data.msn = c1_q.msn;
    if (refuse_i) begin
      cq_data = refuse_cqe_i;
    end
  end

  mrc_fifo #(
      .T(cqe_t),
      .Depth(4)
  ) u_cq (
      .clk_i,
      .rst_ni,
      .valid_i(cq_push),
      .ready_o(cq_ready),
      .data_i(cq_data),
      .valid_o(cqe_valid_o),
      .ready_i(cqe_ready_i),
      .data_o(cqe_o),
      .count_o(cq_count)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      c1_valid_q <= 1'b0;
    end else begin
      busy_q <= busy_d;
      c1_valid_q <= issue;
    end
  end

  always_ff @(posedge clk_i) begin
    done_q <= done_d;
    if (issue) begin
      c1_q <= c1_d;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, cq_ready, regs.fresh, regs.hrow, regs.idx, regs.mtu, regs.profile,
                       regs.max_wimm, regs.ts, regs.cc, regs.dest, regs.wsent, regs.wout,
                       done_regs_i.fresh, done_regs_i.hrow, done_regs_i.idx, done_regs_i.mtu,
                       done_regs_i.mpr_max, done_regs_i.profile, done_regs_i.max_wimm,
                       done_regs_i.ts, done_regs_i.cc, done_regs_i.dest, done_regs_i.wsent,
                       take_done_i.next};

  // ---- what always holds

  `MRC_NEVER_FULL(Cq, cq_push, cq_ready)
  `MRC_ASSERT(OneCompletes, !(refuse_i && c1_valid_q && !c1_q.silent),
      "two completions in one cycle")
  `MRC_ASSERT_IF(OneQpCompletes, c1_valid_q, c1_qp == done_qp_o,
      "a completion of another QP than the one whose registers are read")
  `MRC_ASSERT_IF(IssuesWithRoom, issue, cq_count <= 3'd3,
      "a completion begins without room for it")

endmodule
