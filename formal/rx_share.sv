// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_rx_share: what is left of all QPs is the sum of what is left of each, nothing is when what
/// has begun is here, and what comes does not wait. Two QPs.
module formal_rx_share
  import mrc_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input rx_share_csr_t csr_i,
    input logic [31:0] tick_i,
    input qp_index_t post_qp_i,
    input cfg_t cfg_i,
    input logic came_valid_i,
    input came_t came_i
);
  `MRC_RESET

  logic cfg_ack_o, came_ready_o, arm_o, drained_o;
  logic [3:0] gen_o;
  logic fat_o;
  mrc_rx_share #(
      .NumQps(2)
  ) dut (
      .bug_i(8'(Bug)),
      .*
  );

  // ---- what comes: of QPs that are set up; a table write stands until it is acknowledged

  logic req_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      req_q <= 1'b0;
    end else begin
      req_q <= cfg_i.req && !cfg_ack_o;
    end
  end
  `MRC_GIVEN(table_stands, !req_q || cfg_i.req)
  `MRC_GIVEN(qp_is_set_up, !came_valid_i || dut.u_known.top_q[came_i.qp[0]])

  // ---- bytes that are left

  logic [1:0][55:0] row;
  logic [33:0] sum, total;
  assign row[0] = dut.u_row.mem_q[0];
  assign row[1] = dut.u_row.mem_q[1];
  assign sum = 34'(dut.u_known.top_q[0] ? row[0][31:0] : 32'd0)
      + 34'(dut.u_known.top_q[1] ? row[1][31:0] : 32'd0);
  assign total = {1'b0, dut.total_q}
      + (dut.c_valid_q ? {dut.c_q.delta[32], dut.c_q.delta} : 34'd0);
  `MRC_PROVE(sum_of_all, total == sum)
  `MRC_COVER(sum_of_all, dut.c_valid_q && dut.total_q != '0 && dut.c_q.delta[32]
             && row[0][31:0] != 32'd0 && row[1][31:0] != 32'd0 && (&dut.u_known.top_q))

  logic k_q, idle_q;  // any QP; all that it has begun is here
  always_ff @(posedge clk_i) k_q <= k_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      idle_q <= 1'b0;
    end else begin
      idle_q <= dut.b_valid_q && dut.b_q.idle && dut.b_q.qp == k_q;
    end
  end
  `MRC_PROVE(none_left, !idle_q || row[k_q][31:0] == 32'd0)
  `MRC_COVER(none_left, idle_q && dut.c_q.delta[32])

  // ---- levels

  logic arms_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      arms_q <= 1'b0;
    end else begin
      arms_q <= csr_i.share_enable && 34'(dut.total_q) >= 34'(csr_i.share_drain)
          && (dut.trims_q != 8'd0 || dut.trims_last_q != 8'd0)
          && (8'(dut.qps_q) >= csr_i.share_least || 8'(dut.qps_last_q) >= csr_i.share_least);
    end
  end
  `MRC_PROVE(saves, arm_o == arms_q)
  `MRC_COVER(saves, arm_o && csr_i.share_least == 8'd2)
  `MRC_COVER(generation, gen_o == 4'd2)

  // ---- what comes waits for tables only

  `MRC_PROVE(came, !(came_valid_i && !came_ready_o && !cfg_i.req))
  `MRC_COVER(came, came_valid_i && !came_ready_o && cfg_ack_o)

  // ---- what the induction needs

  `MRC_HELP(input_fifo, dut.u_came.count_q <= 2'd2
            && dut.u_came.wptr_q == (dut.u_came.rptr_q ^ dut.u_came.count_q[0]))
  for (genvar i = 0; i < 2; i++) begin : gen_slot
    logic in;
    assign in = dut.u_came.count_q == 2'd2
        || (dut.u_came.count_q == 2'd1 && dut.u_came.rptr_q == 1'(i));
    `MRC_HELP(known, !in || dut.u_known.top_q[dut.u_came.mem_q[i].qp[0]])
  end
  `MRC_HELP(b_known, !dut.b_valid_q || dut.u_known.top_q[dut.b_q.qp])
  `MRC_HELP(full_when_waits, dut.u_came.count_q != 2'd2 || dut.cfg_wait || cfg_i.req)
  logic [1:0] sent;  // QPs that sent in this epoch
  assign sent = dut.side_q ? dut.gen_side[1].u_sent.top_q : dut.gen_side[0].u_sent.top_q;
  `MRC_HELP(counted, dut.qps_q == 2'(sent[0]) + 2'(sent[1]))
endmodule
