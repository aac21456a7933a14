// SPDX-License-Identifier: Apache-2.0

/// What mrc_tx_inflight does next (docs/blocks/tx/inflight/tx_inflight.md, Idle): a table write, or one of five kinds
/// of operation in turn, each only if the outputs it may need are free. It holds the list of QPs with
/// something to send again and that of QPs with blocks to give back, and the pace of the timer's visits.
module mrc_tx_inflight_choice
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    localparam int unsigned QpW = $clog2(NumQps)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic idle_i,
    input logic cfg_req_i,
    input logic [3:0] cfg_table_i,
    input logic cfg_rts_i,  // the row's state is Rts
    // Of the QP of the row: holds blocks; and it has to be ended first.
    input logic cfg_held_i,
    input logic cfg_live_i,
    input logic cfg_inq_i,
    output logic cfg_ack_o,
    output op_t op_o,

    input logic rec_valid_i,  // a head that is not for Record
    input logic ctl_valid_i,
    input logic retx_free_i,
    input logic upd_free_i,
    input logic fb_free_i,
    input logic pres_free_i,
    input logic ccev_free_i,
    input logic rask_free_i,
    input logic okev_free_i,
    input logic qperr_free_i,

    input logic refused_i,  // a retransmission: none is tried for a moment
    output logic [QpW-1:0] visit_qp_o,

    input logic [QpW-1:0] qp_i,  // what is pushed
    input logic list_push_i,
    input logic list_pop_i,
    output logic [QpW-1:0] list_qp_o,
    input logic rq_push_i,
    output logic [QpW-1:0] rq_qp_o
);

  logic cfg_ack_q, cfg_ack_d;
  logic [3:0] div_q, div_d;
  logic visit_due_q, visit_due_d, hold_q, hold_d;
  logic [QpW-1:0] visit_qp_q, visit_qp_d;

  logic list_v, rq_v, unused_list_ready, unused_rq_ready;
  logic [$clog2(NumQps+2)-1:0] unused_list_count, unused_rq_count;

  // Deeper by one than there are QPs, so that a full one can be pushed in the cycle in which it is
  // popped: a FIFO is not ready then.
  mrc_fifo_ram #(
      .Width(QpW),
      .Depth(NumQps + 1)
  ) u_list (
      .clk_i,
      .rst_ni,
      .valid_i(list_push_i),
      .ready_o(unused_list_ready),
      .data_i(qp_i),
      .valid_o(list_v),
      .ready_i(list_pop_i),
      .data_o(list_qp_o),
      .count_o(unused_list_count)
  );

  mrc_fifo_ram #(
      .Width(QpW),
      .Depth(NumQps + 1)
  ) u_rq (
      .clk_i,
      .rst_ni,
      .valid_i(rq_push_i),
      .ready_o(unused_rq_ready),
      .data_i(qp_i),
      .valid_o(rq_v),
      .ready_i(op_o.reclaim),
      .data_o(rq_qp_o),
      .count_o(unused_rq_count)
  );

  // A new context and a new state may give bytes back to the controller. A context waits until the
  // blocks of the QP are given back; once that is under way the others go on.
  logic cfg_now, is_ctx, is_state, ctx, state, other, op_cfg, unused_any;
  logic [4:0] req, gnt;
  logic [2:0] unused_idx;

  assign cfg_now = idle_i && cfg_req_i && !cfg_ack_q;
  assign is_ctx = cfg_table_i == CfgTableQpCtx;
  assign is_state = cfg_table_i == CfgTableQpState;
  assign ctx = cfg_now && is_ctx && ccev_free_i && (!cfg_held_i || cfg_live_i || !cfg_inq_i);
  assign state = cfg_now && is_state && ccev_free_i;
  assign other = cfg_now && !is_ctx && !is_state;
  assign op_cfg = ctx || state || other;

  assign req = {
    rq_v && ccev_free_i,
    visit_due_q && upd_free_i && ccev_free_i && qperr_free_i,
    list_v && retx_free_i && fb_free_i && rask_free_i && ccev_free_i && !hold_q,
    ctl_valid_i && upd_free_i && fb_free_i && pres_free_i && ccev_free_i && okev_free_i
        && qperr_free_i,
    rec_valid_i && ccev_free_i
  };

  mrc_rr_arb #(
      .N(5)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i(req),
      .take_i(idle_i && !op_cfg),
      .gnt_o(gnt),
      .idx_o(unused_idx),
      .any_o(unused_any)
  );

  always_comb begin
    op_o = '0;
    op_o.ctx = ctx;
    op_o.ctx_new = ctx && !cfg_held_i;
    op_o.ended = state && !cfg_rts_i;
    op_o.other = other || (state && cfg_rts_i);
    if (idle_i && !op_cfg) begin
      {op_o.reclaim, op_o.visit, op_o.retx, op_o.ctl, op_o.rec} = gnt;
    end
  end

  assign cfg_ack_d = cfg_req_i && (cfg_ack_q || op_o.ctx_new || state || other);
  assign cfg_ack_o = cfg_ack_q;
  assign visit_qp_o = visit_qp_q;
  assign div_d = div_q + 4'd1;

  always_comb begin
    visit_due_d = visit_due_q;
    visit_qp_d = visit_qp_q;
    hold_d = hold_q;
    if (op_o.visit) begin
      visit_due_d = 1'b0;
      visit_qp_d = visit_qp_q + QpW'(1);
    end
    if (refused_i) begin
      hold_d = 1'b1;
    end
    if (div_q[1:0] == 2'd3) begin
      visit_due_d = 1'b1;
    end
    if (div_q == 4'd15) begin
      hold_d = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cfg_ack_q <= 1'b0;
      div_q <= 4'd0;
      visit_due_q <= 1'b0;
      visit_qp_q <= '0;
      hold_q <= 1'b0;
    end else begin
      cfg_ack_q <= cfg_ack_d;
      div_q <= div_d;
      visit_due_q <= visit_due_d;
      visit_qp_q <= visit_qp_d;
      hold_q <= hold_d;
    end
  end

endmodule
