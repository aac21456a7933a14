// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_rx_reorder: completions of a QP, which is any, come in the order of RQMSNs, each once, with
/// the immediate that was sent so, not before their packets and not before their data; what was
/// delivered leaves in its order. Two QPs, two planes, four immediates each, a pool of 16.
module formal_rx_reorder
  import mrc_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input cfg_t cfg_i,
    input logic ord_valid_i,
    input ord_t ord_i,
    input logic done_valid_i,
    input logic done_plane_i,
    input qp_index_t track_qp_i,
    input logic cqe_ready_i,
    input logic qperr_ready_i,
    input logic mark_i
);
  `MRC_RESET

  logic cfg_ack_o, ord_ready_o, cqe_valid_o, qperr_valid_o, imm_ok_o, hold_ok_o;
  logic over_o;
  cqe_t cqe_o;
  qperr_t qperr_o;
  logic ord_done_o;
  rx_reorder_pulses_t unused_pulses;
  mrc_rx_reorder #(
      .NumPlanes(2),
      .NumQps(2),
      .MaxWimm(4),
      .NumImms(16)
  ) dut (
      .bug_i(8'(Bug)),
      .csr_i('0),
      .pulses_o(unused_pulses),
      .done_plane_i({3'd0, done_plane_i}),
      .*
  );

  // ---- any QP, once set up

  logic k_q, set_q, sets;
  always_ff @(posedge clk_i) k_q <= k_q;
  assign sets = dut.cfg_init && dut.cfg_qp == k_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      set_q <= 1'b0;
    end else begin
      set_q <= set_q || sets;
    end
  end
  `MRC_GIVEN(set_up_once, !sets || !set_q)
  `MRC_GIVEN(set_up_first, !ord_valid_i || ord_i.qp[0] != k_q || set_q)
  `MRC_GIVEN(others_too, !ord_valid_i || dut.u_known.top_q[ord_i.qp[0]])
  `MRC_GIVEN(agreed, !dut.cfg_init || dut.cfg_ctx.max_wimm_dest <= 8'd4)
  // A table write stands as it is until it is acknowledged.
  logic req_q;
  logic [CsrTblCmdIndexWidth-1:0] index_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      req_q <= 1'b0;
    end else begin
      req_q <= cfg_i.req && !dut.cfg_ack_d;
    end
  end
  always_ff @(posedge clk_i) index_q <= cfg_i.index;
  `MRC_GIVEN(table_stands, !req_q || (cfg_i.req && cfg_i.index == index_q))
  // An immediate is its own RQMSN: what it is steers nothing.
  `MRC_GIVEN(says_its_number, !ord_i.imm_valid || ord_i.imm[15:0] == ord_i.rqmsn)

  logic delivers, mine;
  assign delivers = dut.hold_push && dut.hold_d.cqe.status == 8'(CqStatusOk);
  assign mine = delivers && dut.hold_d.cqe.qp[0] == k_q;
  logic [15:0] next_q;
  always_ff @(posedge clk_i) begin
    if (sets) begin
      next_q <= dut.cfg_ctx.rqmsn;
    end else if (mine) begin
      next_q <= next_q + 16'd1;
    end
  end
  `MRC_PROVE(in_order, !mine || dut.hold_d.cqe.msn == next_q)
  `MRC_COVER(in_order, mine && dut.state_q == 3'd5 && next_q == 16'd0)
  `MRC_PROVE(own_immediate, !mine || dut.hold_d.cqe.imm[15:0] == next_q)
  `MRC_COVER(own_immediate, mine && dut.state_q == 3'd5 && dut.s.cnt == 8'd2)
  // cack has come to the packet.
  logic [23:0] at_once, later;
  assign at_once = dut.head.cack - dut.head.psn;
  assign later = dut.o_q.cack - dut.ent.psn;
  `MRC_PROVE(behind_its_packet, !delivers || (dut.state_q == 3'd0 ? !at_once[23] : !later[23]))
  `MRC_COVER(behind_its_packet, delivers && dut.state_q == 3'd0 && at_once == 24'd0)

  // ---- what was delivered: one, which is any

  logic [11:0] ahead_0, ahead_1;
  assign ahead_0 = dut.done_q[0] - dut.hold.snap[0];
  assign ahead_1 = dut.done_q[1] - dut.hold.snap[1];
  `MRC_PROVE(behind_its_data, !dut.hold_go || (!ahead_0[11] && !ahead_1[11]))
  `MRC_COVER(behind_its_data, dut.hold_go && dut.hold.snap[0] == 12'd1
                              && dut.hold.snap[1] == 12'd1)

  logic mark, marked_q, leaves;
  logic [4:0] ahead_q;
  cqe_t word_q;
  assign mark = dut.hold_push && mark_i && !marked_q;
  assign leaves = marked_q && ahead_q == 5'd0 && dut.placed_go;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      marked_q <= 1'b0;
      ahead_q <= '0;
    end else if (mark) begin
      marked_q <= 1'b1;
      ahead_q <= 5'(dut.held_q) - 5'(dut.placed_go);
    end else if (leaves) begin
      marked_q <= 1'b0;
    end else if (marked_q && dut.placed_go) begin
      ahead_q <= ahead_q - 5'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (mark) begin
      word_q <= dut.hold_d.cqe;
    end
  end
  `MRC_PROVE(leaves_in_turn, !leaves || dut.placed == word_q)
  `MRC_COVER(leaves_in_turn, leaves && word_q.msn == 16'd2 && dut.hold_valid)
  `MRC_COVER(full, dut.held_q == 4'd8 && dut.placed_go)
  `MRC_COVER(agreed, dut.pop && dut.head.imm_valid && dut.in_row && dut.ahead == 16'd3)

  // ---- what the induction needs

  logic [31:0] row;
  assign row = dut.u_qp.mem_q[k_q];
  `MRC_HELP(next, !set_q || row[31:16] == next_q)
  `MRC_HELP(ord_fifo, dut.u_ord.count_q <= 2'd2
            && dut.u_ord.wptr_q == (dut.u_ord.rptr_q ^ dut.u_ord.count_q[0]))
  `MRC_HELP(hold_fifo, dut.u_hold.count_q <= 4'd8
            && dut.u_hold.wptr_q == dut.u_hold.rptr_q + dut.u_hold.count_q[2:0])
  `MRC_HELP(held, dut.held_q <= 4'd8)
  `MRC_HELP(placed_fifo, dut.u_placed.count_q <= 4'd8
            && dut.u_placed.wptr_q == dut.u_placed.rptr_q + dut.u_placed.count_q[2:0])
  for (genvar i = 0; i < 2; i++) begin : gen_ord
    logic in;
    assign in = dut.u_ord.count_q == 2'd2
        || (dut.u_ord.count_q == 2'd1 && dut.u_ord.rptr_q == 1'(i));
    `MRC_HELP(set, !in || dut.u_ord.mem_q[i].qp[0] != k_q || set_q)
  end
  `MRC_HELP(set, dut.state_q == 3'd0 || dut.state_q == 3'd1 || dut.o_q.qp[0] != k_q || set_q)
  // It is still in hold, or already in placed.
  logic [2:0] in_hold, in_placed;
  assign in_placed = dut.u_placed.rptr_q + ahead_q[2:0];
  assign in_hold = dut.u_hold.rptr_q + 3'(ahead_q - 5'(dut.u_placed.count_q));
  `MRC_HELP(ahead, !marked_q || ahead_q < 5'(dut.held_q))
  `MRC_HELP(kept, !marked_q || ((ahead_q < 5'(dut.u_placed.count_q))
            ? dut.u_placed.mem_q[in_placed] == word_q
            : dut.u_hold.mem_q[in_hold].cqe == word_q))

  // ---- while completions and errors are taken, data written and no table, an order waits Most
  // cycles at most

  localparam int unsigned Most = 20;
  logic [4:0] wait_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_q <= '0;
    end else if (ord_valid_i && !ord_ready_o && cqe_ready_i && qperr_ready_i && !cfg_i.req
                 && (!dut.hold_valid || dut.written)) begin
      wait_q <= wait_q + 5'(wait_q != '1);
    end else begin
      wait_q <= '0;
    end
  end
  `MRC_PROVE(taken, wait_q <= 5'(Most))
  `MRC_COVER(taken, wait_q == 5'd1)
endmodule
