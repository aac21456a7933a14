// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_tx_segment_emit: what is sent when a QP is granted its turn is inside the window, and no
/// more than congestion control granted; what is left goes back. Of immediates one too many waits.
/// Rows, answers and what the registers of a QP hold are any; in-flight blocks come back only when
/// they are out.
module formal_tx_segment_emit
  import mrc_pkg::*;
  import mrc_tx_segment_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input logic ans_valid_i,
    input ccans_t ans_i,
    input logic pkt_ready_i,
    input logic park_ready_i,
    input logic ret_ready_i,
    input logic push_free_i,
    input logic hold_i,
    input logic freed_i,
    input logic [1:0] nominal_i,
    input logic [15:0] ar_gap_i,
    input logic row_valid_i,
    input fetched_t row_i,
    input logic orders_i,
    input logic again_valid_i,
    input again_t again_i,
    input qp_regs_t again_regs_i,
    input qp_regs_t next_regs_i,
    input intake_wr_t intake_wr_i,
    input progress_wr_t progress_wr_i,
    input cfg_wr_t cfg_wr_i,
    input logic c1_valid_i,
    input qp_index_t c1_qp_i
);
  `MRC_RESET

  localparam int unsigned NumBlocks = 6;
  logic ans_ready_o, pkt_valid_o, park_valid_o, ret_valid_o, push_load_o, end_o;
  logic next_qp_o;
  logic [3:0] rows_count_o;
  qp_index_t qp_o;
  pkt_t pkt_o;
  grant_t park_o;
  ccret_t ret_o;
  sched_t push_o;
  emit_wr_t wr_o;
  logic order_done_o, again_full_o, parks_o;
  mrc_tx_segment_emit #(
      .NumQps(2),
      .MaxMpr(256),
      .NumBlocks(NumBlocks)
  ) dut (
      .bug_i(8'(Bug)),
      .*
  );

  `MRC_GIVEN(freed_when_out, !freed_i || 32'(dut.credit_q) != NumBlocks)
  `MRC_GIVEN(rows_have_room, !row_valid_i || rows_count_o < 4'd8)
  `MRC_GIVEN(one_order, !again_valid_i || !again_full_o)
  // A QP does not change its way of congestion control in a burst.
  logic cc_q;
  always_ff @(posedge clk_i) if (dut.valid_q) cc_q <= dut.regs_q.cc;
  `MRC_GIVEN(cc_stays, !dut.on_q || !dut.valid_q || dut.regs_q.cc == cc_q)
  `MRC_GIVEN(mtu_in_range, !dut.valid_q || dut.regs_q.mtu <= 3'd4)

  // ---- the window

  logic [24:0] behind;
  assign behind = {1'b0, dut.out_psns} + 25'd1;
  `MRC_PROVE(window, !dut.sent || behind <= {10'd0, dut.regs_q.mpr, 7'd0})
  `MRC_COVER(window, dut.sent && dut.regs_q.mpr == 8'd1 && behind == 25'd128)
  `MRC_PROVE(blocks, !dut.sent || dut.regs_q.psn[23:4] - dut.regs_q.una[23:4] < 20'd16)
  `MRC_COVER(blocks, dut.sent && dut.regs_q.mpr == 8'd2
                     && dut.regs_q.psn[23:4] - dut.regs_q.una[23:4] == 20'd15)
  `MRC_PROVE(able_only, !dut.sent || (dut.regs_q.rts && !dut.regs_q.failed))
  `MRC_COVER(able_only, dut.drop && !dut.regs_q.rts)

  // ---- immediates: one more than may be on their way is held back, and not in a cycle in which
  // one completes

  logic imm;
  logic [7:0] out_imms;
  assign imm = dut.sent && dut.regs_q.idx == 24'd0 && dut.row_q.work.imm_valid;
  assign out_imms = dut.regs_q.wsent - dut.regs_q.wout;
  `MRC_PROVE(imms, !imm || out_imms != dut.regs_q.max_wimm)
  `MRC_COVER(imms, imm && dut.regs_q.max_wimm == 8'd3 && out_imms == 8'd2)
  `MRC_PROVE(held, !wr_o.hold || (out_imms == dut.regs_q.max_wimm && wr_o.inactive && push_load_o
             && !push_o.more && !(c1_valid_i && c1_qp_i[0] == dut.row_q.qp[0])))
  `MRC_COVER(held, wr_o.hold && dut.on_q && c1_valid_i)

  // ---- the grant of the controller

  // What was granted and is neither sent nor given back.
  logic [17:0] rest_q, rest_d;
  logic grants;
  assign grants = dut.ans_pop;
  always_comb begin
    rest_d = grants ? {2'd0, dut.ans.bytes} : rest_q;
    if (dut.sent && dut.regs_q.cc) begin
      rest_d = rest_d - {4'd0, dut.size};
    end
    if (dut.ret_load) begin
      rest_d = rest_d - {2'd0, dut.ret_d.bytes};
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rest_q <= '0;
    end else begin
      rest_q <= rest_d;
    end
  end
  `MRC_PROVE(no_more, !rest_d[17])
  `MRC_COVER(no_more, dut.sent && dut.regs_q.cc && dut.on_q && rest_d == 18'd0)
  `MRC_PROVE(all_back, dut.on_q || rest_q == 18'd0)
  `MRC_COVER(all_back, dut.ret_load && dut.on_q && dut.ret_d.bytes == 16'd77)
  `MRC_HELP(rest, !dut.on_q || (cc_q ? rest_q == {1'b0, dut.left_q} && !dut.left_q[16]
                                     : rest_q == 18'd0))
  `MRC_HELP(on, !dut.on_q || dut.used_n_q != 4'd0)

  // ---- bursts and blocks

  logic [4:0] long_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      long_q <= '0;
    end else if (dut.end_o) begin
      long_q <= '0;
    end else begin
      long_q <= long_q + 5'(dut.sent);
    end
  end
  `MRC_PROVE(burst, !dut.sent || long_q < 5'd16)
  `MRC_COVER(burst, dut.sent && long_q == 5'd3)
  `MRC_HELP(long, dut.on_q ? long_q == {1'b0, dut.used_n_q} : long_q == 5'd0)
  `MRC_COVER(last_block, dut.spend && 32'(dut.credit_q) < 32'd3)
  `MRC_HELP(answers, !dut.ans_behind_valid_q || dut.ans_valid_q)
  `MRC_HELP(rows, (!dut.behind_v || dut.valid_q) && dut.u_rows.count_q <= 3'd7)
endmodule
