// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Intake of mrc_tx_segment: takes work requests into the shared pool, one per cycle, and refuses
/// those of a QP that cannot have them. A WQE is written to the QP's empty row and names the row
/// that is empty now. It keeps neither the rows (Fetch, Complete) nor what other machines know of
/// the QP (mrc_tx_segment_regs).
module mrc_tx_segment_intake
  import mrc_pkg::*;
  import mrc_tx_segment_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned WqeDepth = 8,
    parameter int unsigned NumWqes = 24,
    parameter int unsigned MaxMpr = 128,
    localparam int unsigned QpW = $clog2(NumQps),
    localparam int unsigned IdxW = $clog2(NumWqes)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,

    input logic wqe_valid_i,
    output logic wqe_ready_o,
    input wqe_t wqe_i,

    // cfg acts: Intake stands still, and its writes are those of the context. A QP's first context
    // takes its empty row from the pool; later ones find it.
    input logic cfg_acts_i,
    input cfg_wr_t cfg_i,
    input logic cfg_take_i,
    output logic offer_o,
    output logic [IdxW-1:0] offer_row_o,
    input logic [QpW-1:0] cfg_qp_i,
    output logic [IdxW-1:0] cfg_erow_o,

    // The QP of the WQE at the head; registers of that and of the next one.
    output qp_index_t qp_o,
    output logic [QpW-1:0] next_qp_o,
    input qp_regs_t next_regs_i,
    input progress_wr_t progress_wr_i,
    input emit_wr_t emit_wr_i,
    input logic [1:0] zero_length_i,  // zero_length_e
    input logic [1:0] wimm_over_i,  // wimm_over_e

    // What Progress and Complete do in this cycle.
    input logic completing_i,
    input logic done_load_i,
    input logic upd_pop_i,
    input qp_index_t upd_qp_i,
    input logic give_i,
    input logic [IdxW-1:0] give_idx_i,

    output intake_wr_t wr_o,
    // A WQE taken: its row and what is kept of it.
    output logic take_o,
    output logic [IdxW-1:0] take_row_o,
    output work_t take_work_o,
    output done_row_t take_done_o,
    // A WQE refused.
    output logic refuse_o,
    output cqe_t refuse_cqe_o,
    // Its QP goes to ERROR.
    input logic qperr_free_i,
    output logic qperr_load_o
);

  logic wqe_v, wqe_pop, pool_v, early, accept;
  wqe_t wqe;
  qp_regs_t regs;
  logic [IdxW-1:0] pool_row;
  logic [$clog2(NumWqes+1)-1:0] pool_free;

  mrc_tx_segment_head #(
      .T(wqe_t),
      .NumQps(NumQps)
  ) u_wqe (
      .clk_i,
      .rst_ni,
      .valid_i(wqe_valid_i),
      .ready_o(wqe_ready_o),
      .data_i(wqe_i),
      .valid_o(wqe_v),
      .ready_i(wqe_pop),
      .data_o(wqe),
      .regs_o(regs),
      .next_qp_o,
      .next_regs_i,
      .intake_wr_i(wr_o),
      .progress_wr_i,
      .emit_wr_i,
      .cfg_wr_i(cfg_i)
  );

  mrc_pool #(
      .N(NumWqes)
  ) u_pool (
      .clk_i,
      .rst_ni,
      .valid_o(pool_v),
      .ready_i(accept || cfg_take_i),
      .data_o(pool_row),
      .valid_i(give_i),
      .data_i(give_idx_i),
      .free_o(pool_free)
  );

  assign offer_o = pool_v;
  assign offer_row_o = pool_row;

  // The empty row, the next RQMSN, and WRITEs with immediate taken so far.
  logic [QpW-1:0] wqe_qp, wr_qp;
  logic [IdxW-1:0] erow;
  logic [15:0] rqmsn;
  logic [7:0] win;
  logic [23:0] unused_cfg_own;
  logic [IdxW+23:0] own_wdata;

  mrc_rf_2r1w #(
      .Width(IdxW + 24),
      .Depth(NumQps)
  ) u_own (
      .clk_i,
      .raddr0_i(wqe_qp),
      .rdata0_o({erow, rqmsn, win}),
      .raddr1_i(cfg_qp_i),
      .rdata1_o({cfg_erow_o, unused_cfg_own}),
      .we_i(wr_o.we),
      .waddr_i(wr_qp),
      .wdata_i(own_wdata)
  );

  assign wqe_qp = wqe.qp[QpW-1:0];
  assign wr_qp = cfg_acts_i ? cfg_i.qp[QpW-1:0] : wqe_qp;
  assign qp_o = wqe.qp;

  // ---- refused or taken

  logic bad_state, bad_length, overrun, bad, room, same_qp, can, refuse, may, active, ends_qp_now;
  logic [15:0] held;
  assign bad_state = !regs.rts || regs.failed;
  assign bad_length = wqe.length == 32'd0 && zero_length_i != ZeroLengthLegal;
  // With Wait Emit holds the message back.
  assign overrun = wqe.imm_valid && (regs.max_wimm == 8'd0
      || (wimm_over_i != WimmOverWait && 8'(win - regs.wout) == regs.max_wimm));
  assign ends_qp_now = overrun && !bad_state && !bad_length && wimm_over_i[1];
  assign bad = bad_state || bad_length || overrun;
  // The last quarter of the pool is for QPs that have next to nothing.
  assign held = regs.tail - regs.una_msn;
  assign room = pool_v && held < 16'(WqeDepth)
      && (32'(pool_free) > NumWqes / 4 || held[15:1] == 15'd0);
  assign may = wqe_v && !cfg_acts_i;
  // Completions of a QP keep their order, and only one source loads the completion work.
  assign refuse = may && bad && !completing_i && !done_load_i && (!ends_qp_now || qperr_free_i);
  // An update of this QP in this cycle sees it without this WQE, and this WQE would not see the
  // update: nobody would put the QP into the queue.
  assign same_qp = upd_pop_i && upd_qp_i[QpW-1:0] == wqe_qp;
  assign early = may && !bad && room && !same_qp;
  assign accept = early && !progress_wr_i.go;
  assign wqe_pop = refuse || accept;

  logic counted;
  assign counted = wqe.imm_valid
      && !(bug_i == BugEmptyNotCounted && wqe.length == 32'd0);

  logic [15:0] tail_next;
  assign tail_next = regs.tail + 16'd1;
  assign can = !regs.held && regs.head != tail_next
      && window_open(regs.psn, regs.una, regs.mpr, 20'(MaxMpr / 16), bug_i == BugTxWindowPlusOne);
  assign active = regs.active && !(emit_wr_i.inactive && emit_wr_i.qp == qp_index_t'(wqe_qp));

  assign take_o = accept;
  assign take_row_o = erow;
  assign take_work_o = '{
          next: pool_row_t'(pool_row),
          imm_valid: wqe.imm_valid,
          laddr: wqe.laddr,
          raddr: wqe.raddr,
          rkey: wqe.rkey,
          length: wqe.length,
          imm: wqe.imm,
          rqmsn: rqmsn
      };
  assign take_done_o = '{
          next: pool_row_t'(pool_row),
          wr_id: wqe.wr_id,
          length: wqe.length,
          imm_valid: wqe.imm_valid
      };

  always_comb begin
    own_wdata = {pool_row, rqmsn + 16'(counted), win + 8'(wqe.imm_valid)};
    wr_o.qp = qp_index_t'(wr_qp);
    wr_o.tail = tail_next;
    if (cfg_acts_i) begin
      own_wdata = {cfg_i.number[IdxW-1:0], cfg_i.row.rqmsn, 8'd0};
      wr_o.tail = cfg_i.row.msn;
    end
    wr_o.we = cfg_i.ctx_we || accept;
    wr_o.go = accept && can && !active;
  end

  assign refuse_o = refuse;
  assign qperr_load_o = refuse && ends_qp_now;

  always_comb begin
    refuse_cqe_o.qp = wqe.qp;
    refuse_cqe_o.recv = 1'b0;
    refuse_cqe_o.status = CqStatusWimmOverrun;
    if (regs.failed) begin
      refuse_cqe_o.status = CqStatusFlushed;
    end else if (bad_state) begin
      refuse_cqe_o.status = CqStatusLocState;
    end else if (bad_length) begin
      refuse_cqe_o.status = CqStatusLocLength;
    end
    refuse_cqe_o.wr_id = wqe.wr_id;
    refuse_cqe_o.imm = 32'd0;
    refuse_cqe_o.length = 32'd0;
    refuse_cqe_o.msn = 16'd0;
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, unused_cfg_own, regs.fresh, regs.hrow, regs.idx, regs.mtu,
                       regs.mpr_max, regs.profile, regs.ts, regs.cc, regs.dest, regs.wsent,
                       upd_qp_i};

  // ---- what always holds

  `MRC_POPS_A_WORD(Wqe, wqe_pop, wqe_v)
  `MRC_ONE_HOT0(RefusedOrTaken, {refuse, accept},
      "a WQE is refused and taken")
  `MRC_ASSERT_IF(TakesARow, accept, pool_v,
      "a row is taken that there is not")
  `MRC_ASSERT_IF(WithinDepth, accept, held < 16'(WqeDepth),
      "a QP holds more WQEs than it may")
  `MRC_ASSERT_IF(SomeImmediates, accept && wqe.imm_valid, regs.max_wimm != 8'd0,
      "an immediate of a QP that may send none")
  `MRC_ASSERT_IF(LivingTakes, accept, regs.rts && !regs.failed,
      "a QP takes a WQE that cannot send")

endmodule
