// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Watches what arrives, sees incasts, and says what SACKs write to shut and open the windows of
/// those who send. A word per cycle: A finds what a packet's messages add, B counts it for its QP
/// and for the epoch, C for all QPs together, and levels for mrc_rx_track follow from the sums. It
/// holds nobody up, and writes no SACK. Contract: docs/design/blocks/rx/rx_share.md.
module mrc_rx_share
  import mrc_pkg::*;
#(
    parameter int unsigned NumQps = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input rx_share_csr_t csr_i,
    input logic [31:0] tick_i,
    input cfg_t cfg_i,
    output logic cfg_ack_o,
    input logic came_valid_i,
    output logic came_ready_o,
    input came_t came_i,
    output logic arm_o,  // windows are to be saved
    output logic [3:0] gen_o,  // which incast it is
    output logic drained_o,  // windows may be restored
    input qp_index_t post_qp_i,
    output logic fat_o  // that QP has had more than its share
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned TotalW = 32 + QpW;

  if (NumQps < 2 || NumQps > 131072 || (NumQps & (NumQps - 1)) != 0) begin : gen_bad_num_qps
    $error("%m: NumQps = %0d, must be a power of two, 2 to 131072", NumQps);
  end

  typedef struct packed {
    logic [23:0] now;  // bytes of the last epoch in which it sent
    logic [31:0] left;  // bytes to come
  } row_t;

  // Between A and B.
  typedef struct packed {
    logic [QpW-1:0] qp;
    logic [12:0] bytes;
    logic trimmed;
    logic [35:0] adds;  // bytes of the messages that have begun
    logic idle;  // all that have begun are here
  } b_t;

  // Between B and C.
  typedef struct packed {
    logic [QpW-1:0] qp;
    logic first;  // in this epoch
    logic [23:0] last;  // bytes of the epoch before
    logic [25:0] last3;  // three times that
    logic [32:0] delta;  // signed
  } c_t;

  // a + b + c as a sum of two, which is added once at the end.
  typedef logic [1:0][35:0] pair_t;

  function automatic pair_t two_of_three(logic [35:0] a, logic [35:0] b, logic [35:0] c);
    logic [35:0] carry;
    carry = (a & b) | (a & c) | (b & c);
    return {carry << 1, a ^ b ^ c};
  endfunction

  // ---- input, configuration

  came_t came, head;  // msn: plus one, so that nothing waits for that where it leaves
  logic head_valid, pop, cfg_ack_q, cfg_ack_d, cfg_wait, cfg_do, cfg_init;
  logic [1:0] unused_count;
  logic [QpW-1:0] cfg_qp;
  tbl_qp_ctx_t cfg_ctx;
  logic b_valid_q, c_valid_q, c_valid_d;
  b_t b_q, b_d;
  c_t c_q, c_d;

  always_comb begin
    came = came_i;
    came.msn = came_i.msn + 16'd1;
  end

  mrc_fifo #(
      .T(came_t),
      .Depth(2)
  ) u_came (
      .clk_i,
      .rst_ni,
      .valid_i(came_valid_i),
      .ready_o(came_ready_o),
      .data_i(came),
      .valid_o(head_valid),
      .ready_i(pop),
      .data_o(head),
      .count_o(unused_count)
  );

  assign cfg_ctx = tbl_qp_ctx_t'(cfg_i.data);
  assign cfg_qp = cfg_i.index[QpW-1:0];
  assign cfg_wait = cfg_i.req && !cfg_ack_q;
  assign cfg_do = cfg_wait && !b_valid_q && !c_valid_q;
  // The responder works since Rtr: the step to Rts must not touch what it knows.
  assign cfg_init = cfg_do && cfg_i.tbl == CfgTableQpCtx && cfg_ctx.state != QpStateRts;
  assign cfg_ack_d = cfg_do || (cfg_ack_q && cfg_i.req);
  assign cfg_ack_o = cfg_ack_q;
  assign pop = head_valid && !cfg_wait;

  // ---- A: messages that begin

  logic [15:0] top, ahead;
  logic [31:0] length;
  logic [3:0][35:0] rows;
  pair_t three, all;
  logic [35:0] adds, most;
  logic newer;

  mrc_rf_1r1w #(
      .Width(16),
      .Depth(NumQps)
  ) u_top (
      .clk_i,
      .raddr_i(head.qp[QpW-1:0]),
      .rdata_o(top),
      .we_i(cfg_init || (pop && newer)),
      .waddr_i(cfg_init ? cfg_qp : head.qp[QpW-1:0]),
      .wdata_i(cfg_init ? cfg_ctx.msn : head.msn)
  );

  assign ahead = head.msn - top;
  assign newer = !head.trimmed && ahead != 16'd0 && !ahead[15];

  // The low bits of the difference come first: their product and that of 15 stand beside the rest.
  assign length = pop ? head.length : 32'd0;
  assign most = {length, 4'd0} - {4'd0, length};

  always_comb begin
    for (int unsigned i = 0; i < 4; i++) begin
      rows[i] = ahead[i] ? 36'(length) << i : 36'd0;
    end
  end

  assign three = two_of_three(rows[0], rows[1], rows[2]);
  assign all = two_of_three(three[0], three[1], rows[3]);

  always_comb begin
    adds = 36'd0;
    if (newer) begin
      adds = (ahead[14:4] != 11'd0) ? most : all[0] + all[1];
    end
  end

  // Both comparisons stand beside the difference that asks which of them holds.
  assign b_d = '{
          qp: head.qp[QpW-1:0],
          bytes: head.plen,
          trimmed: head.trimmed,
          adds: adds,
          idle: newer ? head.emsn == head.msn : head.emsn == top
      };

  // ---- epochs

  logic [31:0] epoch, epoch_q;
  logic ends, follows;

  assign epoch = tick_i >> csr_i.share_epoch;
  assign ends = epoch != epoch_q;
  assign follows = epoch == epoch_q + 32'd1;

  // ---- B: the QP

  // Two sets of QPs: those that sent in this epoch, side_q's, and in the one before. When one ends
  // the older is emptied, and they change places.
  logic side_q, side_d;
  logic [1:0] sent;
  logic cfg_known;  // it has been set up
  logic [QpW-1:0] row_qp;
  row_t row, row_d;
  logic [36:0] diff;  // signed
  logic [37:0] left_sum;  // signed
  logic [24:0] now_sum;
  logic first, was;

  assign row_qp = b_valid_q ? b_q.qp : cfg_qp;

  mrc_rf_1r1w #(
      .Width($bits(row_t)),
      .Depth(NumQps)
  ) u_row (
      .clk_i,
      .raddr_i(row_qp),
      .rdata_o(row),
      .we_i(cfg_init || b_valid_q),
      .waddr_i(row_qp),
      .wdata_i(row_d)
  );

  assign diff = {1'b0, b_q.adds} - 37'(b_q.bytes);
  assign left_sum = 38'(row.left) + 38'(b_q.adds) - 38'(b_q.bytes);
  assign now_sum = {1'b0, row.now} + 25'(b_q.bytes);
  assign first = ends || !sent[side_q];
  assign was = ends ? follows && sent[side_q] : sent[~side_q];
  assign side_d = side_q ^ ends;

  for (genvar i = 0; i < 2; i++) begin : gen_side
    mrc_bits #(
        .N(NumQps)
    ) u_sent (
        .clk_i,
        .rst_ni,
        .clear_i(ends && (side_q != 1'(i) || !follows)),
        .set_i(b_valid_q && side_d == 1'(i)),
        .set_idx_i(b_q.qp),
        .idx_i(b_q.qp),
        .in_o(sent[i])
    );
  end

  mrc_bits #(
      .N(NumQps)
  ) u_known (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .set_i(cfg_init),
      .set_idx_i(cfg_qp),
      .idx_i(cfg_qp),
      .in_o(cfg_known)
  );

  // The change of left is known without waiting for the new one.
  always_comb begin
    row_d = '0;
    c_d.qp = row_qp;
    c_d.first = 1'b0;
    c_d.last = 24'd0;
    c_d.last3 = 26'd0;
    c_d.delta = 33'd0 - {1'b0, row.left};
    if (b_valid_q) begin
      c_d.first = first;
      if (first) begin
        row_d.now = 24'(b_q.bytes);
        if (was) begin
          c_d.last = row.now;
          c_d.last3 = {1'b0, row.now, 1'b0} + {2'd0, row.now};
        end
      end else begin
        row_d.now = now_sum[24] ? 24'hFFFFFF : now_sum[23:0];
      end
      if (!b_q.idle && !left_sum[37]) begin
        if (left_sum[36:32] != 5'd0) begin
          row_d.left = 32'hFFFFFFFF;
          c_d.delta = {1'b0, ~row.left};
        end else begin
          row_d.left = left_sum[31:0];
          c_d.delta = diff[32:0];
        end
      end
    end else if (!cfg_known) begin
      // Its row has never been written.
      c_d.delta = 33'd0;
    end
  end

  assign c_valid_d = b_valid_q || cfg_init;

  // ---- B: the epoch

  logic [QpW:0] qps_q, qps_d, qps_last_q;
  logic [31:0] sum_q, sum_d;
  logic [34:0] sum7_last_q;  // sum_last, times 7
  logic [32:0] sum_more;
  logic [7:0] trims_q, trims_d, trims_last_q;
  logic [1:0] warm_q;
  logic many_now, many_last;

  assign sum_more = {1'b0, sum_q} + 33'(b_q.bytes);
  assign many_now = 20'(qps_q) >= 20'(csr_i.share_least);
  assign many_last = 20'(qps_last_q) >= 20'(csr_i.share_least);

  always_comb begin
    qps_d = qps_q;
    sum_d = sum_q;
    trims_d = trims_q;
    if (ends) begin
      qps_d = '0;
      sum_d = 32'd0;
      trims_d = 8'd0;
    end
    if (b_valid_q) begin
      if (ends) begin
        qps_d = (QpW + 1)'(1);
        sum_d = 32'(b_q.bytes);
        trims_d = 8'(b_q.trimmed);
      end else begin
        qps_d = qps_q + (QpW + 1)'(first);
        sum_d = sum_more[32] ? 32'hFFFFFFFF : sum_more[31:0];
        trims_d = trims_q + 8'(b_q.trimmed && trims_q != 8'hFF);
      end
    end
  end

  // ---- C: all QPs together

  logic [TotalW-1:0] total_q;
  logic [TotalW:0] total_sum;  // signed
  logic above;  // last * qps_last * 4 > 7 * sum_last
  logic c_fat;

  assign total_sum = {1'b0, total_q} + {{QpW{c_q.delta[32]}}, c_q.delta};
  // a > b is a + ~b not below 0. The product has a part for two bits of qps_last, added in turn.
  localparam int unsigned MoreW = (QpW < 8) ? 36 : QpW + 28;
  localparam int unsigned Parts = (QpW + 2) / 2;
  logic [2*Parts-1:0] qps_last;
  logic [MoreW-1:0] part, sums, carries, held, more;
  assign qps_last = (2 * Parts)'(qps_last_q);

  always_comb begin
    sums = ~MoreW'(sum7_last_q);
    carries = '0;
    part = '0;
    held = '0;
    for (int unsigned i = 0; i < Parts; i++) begin
      part = qps_last[2*i] ? MoreW'(c_q.last) << (2 * i + 2) : '0;
      if (qps_last[2*i+1]) begin
        part = (qps_last[2*i] ? MoreW'(c_q.last3) : MoreW'(c_q.last) << 1) << (2 * i + 2);
      end
      held = sums;
      sums = held ^ carries ^ part;
      carries = ((held & carries) | (held & part) | (carries & part)) << 1;
    end
  end

  assign more = sums + carries;
  assign above = !more[MoreW-1];
  assign c_fat = c_valid_q && c_q.first && !ends && above;

  // Who was judged in this epoch, and what came of it.
  logic judged, fat;
  logic [QpW-1:0] fat_qp;
  assign fat_qp = cfg_init ? cfg_qp : c_q.qp;

  mrc_bits #(
      .N(NumQps)
  ) u_judged (
      .clk_i,
      .rst_ni,
      .clear_i(ends),
      .set_i(c_fat || cfg_init),
      .set_idx_i(fat_qp),
      .idx_i(post_qp_i[QpW-1:0]),
      .in_o(judged)
  );

  mrc_rf_1r1w #(
      .Width(1),
      .Depth(NumQps)
  ) u_fat (
      .clk_i,
      .raddr_i(post_qp_i[QpW-1:0]),
      .rdata_o(fat),
      .we_i(c_fat || cfg_init),
      .waddr_i(fat_qp),
      .wdata_i(!cfg_init)
  );

  // ---- levels

  logic full_q, is_full, incast, arm_q, arm_d, drained_q, drained_d, penal_q, penal_d;
  logic [3:0] gen_q, gen_d;

  assign is_full = total_q >= TotalW'(csr_i.share_drain);
  assign incast = csr_i.share_enable && is_full && (many_now || many_last);
  // Bug 75: windows are never saved.
  assign arm_d = incast && (trims_q != 8'd0 || trims_last_q != 8'd0)
      && bug_i != BugShareNeverSaves;
  assign drained_d = csr_i.share_enable && !is_full;
  assign penal_d = incast && (total_q >> 3) >= TotalW'(csr_i.share_drain)
      && warm_q == 2'd3 && trims_last_q >= csr_i.share_trims;

  always_comb begin
    gen_d = gen_q;
    if (is_full && !full_q) begin
      gen_d = (gen_q == 4'd15) ? 4'd1 : gen_q + 4'd1;
    end
  end

  assign arm_o = arm_q;
  assign gen_o = gen_q;
  assign drained_o = drained_q;
  assign fat_o = penal_q && judged && fat;

  // ---- registers

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cfg_ack_q <= 1'b0;
      b_valid_q <= 1'b0;
      c_valid_q <= 1'b0;
      total_q <= '0;
      qps_q <= '0;
      sum_q <= 32'd0;
      trims_q <= 8'd0;
      full_q <= 1'b0;
      arm_q <= 1'b0;
      gen_q <= 4'd1;
      drained_q <= 1'b0;
      penal_q <= 1'b0;
    end else begin
      cfg_ack_q <= cfg_ack_d;
      b_valid_q <= pop;
      c_valid_q <= c_valid_d;
      if (c_valid_q) begin
        total_q <= total_sum[TotalW-1:0];
      end
      qps_q <= qps_d;
      sum_q <= sum_d;
      trims_q <= trims_d;
      full_q <= is_full;
      arm_q <= arm_d;
      gen_q <= gen_d;
      drained_q <= drained_d;
      penal_q <= penal_d;
    end
  end

  // What changes with the epoch. Of two assignments the later one wins.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      epoch_q <= 32'd0;
      side_q <= 1'b0;
      qps_last_q <= '0;
      sum7_last_q <= 35'd0;
      trims_last_q <= 8'd0;
      warm_q <= 2'd0;
    end else begin
      if (ends) begin
        epoch_q <= epoch;
        qps_last_q <= follows ? qps_q : '0;
        sum7_last_q <= follows ? {sum_q, 3'd0} - {3'd0, sum_q} : 35'd0;
        trims_last_q <= follows ? trims_q : 8'd0;
        warm_q <= (follows && many_now) ? warm_q + 2'(warm_q != 2'd3) : 2'd0;
      end
      side_q <= side_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (pop) begin
      b_q <= b_d;
    end
    if (c_valid_d) begin
      c_q <= c_d;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{unused_count, post_qp_i, head.qp, cfg_i.index, cfg_ctx.srv6, cfg_ctx.dip,
                         cfg_ctx.mpr_dest, cfg_ctx.dest, cfg_ctx.dmac, cfg_ctx.rqmsn,
                         cfg_ctx.max_wimm_dest, cfg_ctx.rq_psn, cfg_ctx.max_wimm, cfg_ctx.sq_psn,
                         cfg_ctx.retry_exp, cfg_ctx.timeout, cfg_ctx.pkey,
                         cfg_ctx.retry_linear, cfg_ctx.backup, cfg_ctx.dqpn, cfg_ctx.profile,
                         cfg_ctx.mpr, cfg_ctx.rsvd13, cfg_ctx.cc, cfg_ctx.dyn_mpr,
                         cfg_ctx.svc_time, cfg_ctx.trim_nack, cfg_ctx.ts, cfg_ctx.encap,
                         cfg_ctx.mtu, total_sum[TotalW],
                         more[MoreW-2:0], diff[36:33]};

  // ---- what always holds

  `MRC_POPS_A_WORD(Came, pop, head_valid)
  `MRC_ASSERT_IF(TotalInRange, c_valid_q, !total_sum[TotalW],
      "what is left of all QPs is below 0, or beyond its width")
  `MRC_ASSERT(GenInRange, gen_q != 4'd0,
      "no such generation")
  `MRC_ASSERT_IF(ArmsWhenFull, arm_q, full_q && !drained_q,
      "windows are saved when there is no incast")
  `MRC_ASSERT_IF(FatWhenFull, fat_o, full_q,
      "a QP is shrunk when there is no incast")
  `MRC_ASSERT(QpsInRange, qps_q <= (QpW + 1)'(NumQps) && qps_last_q <= (QpW + 1)'(NumQps),
      "a QP is counted twice")
  `MRC_ASSERT_IF(CfgAlone, cfg_init, !b_valid_q && !c_valid_q,
      "a QP is started under its packets")

endmodule
