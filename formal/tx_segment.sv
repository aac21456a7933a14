// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_tx_segment while its outputs are taken and no table is written: how long what comes waits.
/// Two QPs with two work requests each of a pool of four.
module formal_tx_segment
  import mrc_pkg::*;
  import mrc_tx_segment_pkg::*;
(
    input logic clk_i,
    input tx_segment_csr_t csr_i,
    input logic wqe_valid_i,
    input wqe_t wqe_i,
    input logic grant_valid_i,
    input grant_t grant_i,
    input logic retx_valid_i,
    input retx_t retx_i,
    input logic upd_valid_i,
    input upd_t upd_i,
    input logic ans_valid_i,
    input ccans_t ans_i,
    input logic pkt_ready_i,
    input logic push_ready_i,
    input logic park_ready_i,
    input logic req_ready_i,
    input logic ret_ready_i,
    input logic cqe_ready_i,
    input logic qperr_ready_i,
    input logic freed_i,
    input qp_index_t visit_qp_i,
    input cfg_t cfg_i
);
  `MRC_RESET

  logic wqe_ready_o, grant_ready_o, retx_ready_o, upd_ready_o, ans_ready_o, pkt_valid_o;
  logic push_valid_o, park_valid_o, req_valid_o, ret_valid_o, cqe_valid_o, order_done_o, cfg_ack_o;
  logic qperr_valid_o;
  logic sends_o;
  pkt_t pkt_o;
  sched_t push_o;
  grant_t park_o;
  ccreq_t req_o;
  ccret_t ret_o;
  cqe_t cqe_o;
  qperr_t qperr_o;
  mrc_tx_segment #(
      .NumQps(2),
      .WqeDepth(2),
      .NumWqes(4),
      .NumBlocks(4),
      .MaxMpr(128)
  ) dut (
      .bug_i(8'd0),
      .*
  );

  // ---- Progress: a work request completes in a cycle, or the update is taken; the one that may
  // let a held QP go completes alone

  localparam int unsigned MostUpd = 3;
  logic [2:0] upd_count;
  formal_wait #(
      .Most(MostUpd)
  ) u_upd (
      .clk_i,
      .rst_ni,
      .waits_i(upd_valid_i && !upd_ready_o && cqe_ready_i && !cfg_i.req),
      .others_i(dut.u_complete.issue || dut.u_complete.c1_held),
      .count_o(upd_count)
  );
  `MRC_PROVE(upd, upd_count <= 3'(MostUpd))
  `MRC_COVER(upd, upd_count == 3'(MostUpd))

  // ---- Intake: there is room, no update is taken, nobody is woken; who is refused waits for
  // completions, and for csr if that ends the QP

  localparam int unsigned MostWqe = 1;
  logic [1:0] wqe_count;
  logic wqe_others;
  assign wqe_others = dut.u_intake.bad ? !dut.idle || !dut.cq_room || dut.done_load
          || (dut.u_intake.ends_qp_now && !dut.qperr_free)
      : !dut.u_intake.room || dut.upd_pop || dut.progress_wr.go;
  formal_wait #(
      .Most(MostWqe)
  ) u_wqe (
      .clk_i,
      .rst_ni,
      .waits_i(wqe_valid_i && !wqe_ready_o && !cfg_i.req),
      .others_i(wqe_others),
      .count_o(wqe_count)
  );
  `MRC_PROVE(wqe, wqe_count <= 2'(MostWqe))
  `MRC_COVER(wqe, wqe_count == 2'(MostWqe))

  // ---- Fetch: rows of another grant, and eight of them ahead, are Emit's to end. An order takes
  // three cycles to become a packet.

  localparam int unsigned MostFetch = 1;
  localparam int unsigned MostOrder = 2;
  logic [1:0] grant_count, retx_count;
  logic eight;
  assign eight = dut.u_fetch.ahead == 5'd8;
  formal_wait #(
      .Most(MostOrder)
  ) u_retx (
      .clk_i,
      .rst_ni,
      .waits_i(retx_valid_i && !retx_ready_o && pkt_ready_i && !cfg_i.req),
      .others_i(1'b0),
      .count_o(retx_count)
  );
  formal_wait #(
      .Most(MostFetch)
  ) u_grant (
      .clk_i,
      .rst_ni,
      .waits_i(grant_valid_i && !grant_ready_o && req_ready_i && !cfg_i.req),
      .others_i(eight || dut.u_fetch.retx_pop || !dut.u_fetch.req_room
                || (dut.u_fetch.row_act && dut.u_fetch.busy_q)),
      .count_o(grant_count)
  );
  `MRC_PROVE(retx, retx_count <= 2'(MostOrder))
  `MRC_COVER(retx, retx_count == 2'(MostOrder))
  `MRC_PROVE(grant, grant_count <= 2'(MostFetch))
  `MRC_COVER(grant, grant_count == 2'(MostFetch))

  // ---- Emit: a row leaves or a packet is sent, unless the row waits for its answer, for orders,
  // or for what completes in this cycle; one cycle may go to Progress and Intake, for their turn at
  // tx_sched (hold)

  localparam int unsigned MostRow = 1;
  logic [1:0] row_count;
  logic runs, waits_for_ans, waits_for_end;
  assign runs = pkt_ready_i && push_ready_i && park_ready_i && ret_ready_i && !cfg_i.req;
  assign waits_for_ans = dut.u_emit.begin_row && dut.u_emit.requested && !dut.u_emit.ans_v;
  assign waits_for_end = dut.u_emit.may_end && dut.u_emit.willing
      && (dut.u_emit.on_q || dut.u_emit.can);
  formal_wait #(
      .Most(MostRow)
  ) u_row (
      .clk_i,
      .rst_ni,
      .waits_i(dut.u_emit.valid_q && !dut.u_emit.pop && !dut.u_emit.sent && !waits_for_ans && runs),
      .others_i(waits_for_end || dut.u_emit.orders),
      .count_o(row_count)
  );
  `MRC_PROVE(row, row_count <= 2'(MostRow))
  `MRC_COVER(row, row_count == 2'(MostRow))

  localparam int unsigned MostAns = 1;
  logic [1:0] ans_count;
  formal_wait #(
      .Most(MostAns)
  ) u_ans (
      .clk_i,
      .rst_ni,
      .waits_i(ans_valid_i && !ans_ready_o && dut.u_emit.valid_q && runs),
      .others_i(dut.hold || waits_for_end || dut.u_emit.orders
                || (!dut.u_emit.ans_pop && (dut.u_emit.pop || dut.u_emit.sent))),
      .count_o(ans_count)
  );
  `MRC_PROVE(ans, ans_count <= 2'(MostAns))
  `MRC_COVER(ans, ans_count == 2'(MostAns))
endmodule
