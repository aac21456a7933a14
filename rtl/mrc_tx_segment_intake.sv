// SPDX-License-Identifier: Apache-2.0

/// Intake of mrc_tx_segment: takes work requests into rows of the shared pool, one per cycle, and
/// refuses those of a QP that cannot have them. It keeps neither the rows (Fetch, Complete) nor what
/// other machines know of the QP (mrc_tx_segment_regs).
module mrc_tx_segment_intake
  import mrc_pkg::*;
  import mrc_tx_segment_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned WqeDepth = 4,
    parameter int unsigned NumWqes = 14,
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

    // cfg acts: Intake stands still, and its writes are those of the context.
    input logic cfg_acts_i,
    input cfg_wr_t cfg_i,

    // The QP of the WQE at the head, and its registers (those of cfg's QP while cfg acts).
    output logic [15:0] qp_o,
    input qp_regs_t regs_i,
    input logic active_i,
    input logic [7:0] wout_i,

    // What Progress and Complete do in this cycle.
    input logic completing_i,
    input logic done_load_i,
    input logic upd_pop_i,
    input logic [15:0] upd_qp_i,
    input logic go_taken_i,
    input logic give_i,
    input logic [IdxW-1:0] give_idx_i,

    output intake_wr_t wr_o,
    // A WQE taken: its row, its number and what is kept of it.
    output logic take_o,
    output logic [15:0] take_msn_o,
    output logic [IdxW-1:0] take_idx_o,
    output work_t take_work_o,
    output done_row_t take_done_o,
    output logic go_o,
    // A WQE refused.
    output logic refuse_o,
    output cqe_t refuse_cqe_o,
    output logic flush_o,
    input logic qperr_free_i,
    output logic qperr_load_o
);

  logic wqe_v, wqe_pop, pool_v, early, accept;
  wqe_t wqe;
  logic [1:0] unused_count;
  logic [$clog2(NumWqes+1)-1:0] unused_free;

  mrc_fifo #(
      .T(wqe_t),
      .Depth(2)
  ) u_wqe (
      .clk_i,
      .rst_ni,
      .valid_i(wqe_valid_i),
      .ready_o(wqe_ready_o),
      .data_i(wqe_i),
      .valid_o(wqe_v),
      .ready_i(wqe_pop),
      .data_o(wqe),
      .count_o(unused_count)
  );

  mrc_pool #(
      .N(NumWqes)
  ) u_pool (
      .clk_i,
      .rst_ni,
      .valid_o(pool_v),
      .ready_i(accept),
      .data_o(take_idx_o),
      .valid_i(give_i),
      .data_i(give_idx_i),
      .free_o(unused_free)
  );

  // Next RQMSN, and WRITEs with immediate taken so far.
  logic [QpW-1:0] wqe_qp, wr_qp;
  logic [15:0] rqmsn;
  logic [7:0] win;
  logic own_we;
  logic [23:0] own_wdata;

  mrc_rf_1r1w #(
      .Width(24),
      .Depth(NumQps)
  ) u_own (
      .clk_i,
      .raddr_i(wqe_qp),
      .rdata_o({rqmsn, win}),
      .we_i(own_we),
      .waddr_i(wr_qp),
      .wdata_i(own_wdata)
  );

  assign wqe_qp = wqe.qp[QpW-1:0];
  assign wr_qp = cfg_acts_i ? cfg_i.qp[QpW-1:0] : wqe_qp;
  assign qp_o = wqe.qp;

  // ---- refused or taken

  logic bad_state, bad_length, overrun, bad, room, same_qp, can, refuse, may;
  assign bad_state = !regs_i.rts || regs_i.failed;
  assign bad_length = wqe.length == 32'd0 || wqe.length > 32'h8000_0000;
  assign overrun = wqe.imm_valid && 8'(win - wout_i) == regs_i.max_wimm;
  assign bad = bad_state || bad_length || overrun;
  assign room = 16'(regs_i.tail - regs_i.una_msn) < 16'(WqeDepth);
  assign may = wqe_v && qperr_free_i && !cfg_acts_i;
  // Completions of a QP keep their order, and only one source loads the completion work.
  assign refuse = may && bad && !completing_i && !done_load_i;
  // An update of this QP in this cycle sees it without this WQE, and this WQE would not see the
  // update: nobody would put the QP into the queue.
  assign same_qp = upd_pop_i && upd_qp_i[QpW-1:0] == wqe_qp;
  assign early = may && !bad && room && pool_v && !same_qp;
  assign accept = early && !go_taken_i;
  assign wqe_pop = refuse || accept;

  logic [15:0] tail_next;
  assign tail_next = regs_i.tail + 16'd1;
  assign can = regs_i.head != tail_next
      && window_open(regs_i.psn, regs_i.una, regs_i.mpr, 20'(MaxMpr / 16), bug_i == 8'd1);
  assign go_o = accept && can && !active_i;

  assign take_o = accept;
  assign take_msn_o = regs_i.tail;
  assign take_work_o = '{
          imm_valid: wqe.imm_valid,
          laddr: wqe.laddr,
          raddr: wqe.raddr,
          rkey: wqe.rkey,
          length: wqe.length,
          imm: wqe.imm,
          rqmsn: rqmsn
      };
  assign take_done_o = '{wr_id: wqe.wr_id, length: wqe.length, imm_valid: wqe.imm_valid};

  assign own_we = cfg_i.ctx_we || (accept && wqe.imm_valid);

  always_comb begin
    own_wdata = {rqmsn + 16'd1, win + 8'd1};
    wr_o.qp = 16'(wr_qp);
    wr_o.tail = tail_next;
    if (cfg_acts_i) begin
      own_wdata = {cfg_i.row.rqmsn, 8'd0};
      wr_o.tail = cfg_i.row.msn;
    end
    wr_o.we = cfg_i.ctx_we || accept;
    wr_o.fail = qperr_load_o;
  end

  assign refuse_o = refuse;
  assign qperr_load_o = refuse && !bad_state && !bad_length;
  assign flush_o = qperr_load_o && regs_i.una_msn != regs_i.tail;

  always_comb begin
    refuse_cqe_o.qp = wqe.qp;
    refuse_cqe_o.recv = 1'b0;
    refuse_cqe_o.status = CqStatusWimmOverrun;
    if (regs_i.failed) begin
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
  assign unused_ok = &{1'b0, unused_count, unused_free, regs_i, cfg_i, upd_qp_i};

endmodule
