// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Queue of the QPs that may send, and per destination a list of the QPs whose congestion window
/// was full (docs/design/blocks/tx/tx_sched.md). First come first served in the queue, which makes
/// round robin by packet because a QP with more to send is pushed again behind the others; a
/// refused QP is the first of its list to be woken. One step per cycle, two cycles from an input to
/// the grant. It does not check that a QP is in it once only: tx_segment sees to it.
module mrc_tx_sched
  import mrc_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned NumDests = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,

    input logic push_valid_i,
    output logic push_ready_o,
    input sched_t push_i,
    input logic park_valid_i,
    output logic park_ready_o,
    input grant_t park_i,
    input logic resume_valid_i,
    output logic resume_ready_o,
    input ccresume_t resume_i,

    output logic grant_valid_o,
    input logic grant_ready_i,
    output grant_t grant_o,

    input cfg_t cfg_i,
    output logic cfg_ack_o
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned DestW = $clog2(NumDests);

  if (NumQps < 2 || NumQps != 2 ** QpW || NumDests < 2 || NumDests > 4096 || NumDests != 2 ** DestW)
  begin : gen_bad_params
    $error("%m: NumQps and NumDests must be powers of two, at least 2, NumDests at most 4096");
  end

  typedef struct packed {
    logic [QpW-1:0] head;
    logic [QpW-1:0] tail;
  } list_t;

  typedef struct packed {
    logic some;  // a QP waits
    logic woken;  // a resume found nobody waiting
  } waits_t;

  // ---- inputs

  logic push_v, park_v, resume_v, push_pop, park_pop, resume_pop;
  sched_t push;
  grant_t park;
  ccresume_t resume;
  logic [2:0][1:0] unused_counts;

  mrc_fifo #(
      .T(sched_t),
      .Depth(2)
  ) u_push (
      .clk_i,
      .rst_ni,
      .valid_i(push_valid_i),
      .ready_o(push_ready_o),
      .data_i(push_i),
      .valid_o(push_v),
      .ready_i(push_pop),
      .data_o(push),
      .count_o(unused_counts[0])
  );

  mrc_fifo #(
      .T(grant_t),
      .Depth(2)
  ) u_park (
      .clk_i,
      .rst_ni,
      .valid_i(park_valid_i),
      .ready_o(park_ready_o),
      .data_i(park_i),
      .valid_o(park_v),
      .ready_i(park_pop),
      .data_o(park),
      .count_o(unused_counts[1])
  );

  mrc_fifo #(
      .T(ccresume_t),
      .Depth(2)
  ) u_resume (
      .clk_i,
      .rst_ni,
      .valid_i(resume_valid_i),
      .ready_o(resume_ready_o),
      .data_i(resume_i),
      .valid_o(resume_v),
      .ready_i(resume_pop),
      .data_o(resume),
      .count_o(unused_counts[2])
  );

  // ---- the choice of the cycle

  tbl_qp_ctx_t cfg_ctx;
  logic cfg_ack_q, cfg_ack_d, op_cfg;
  assign cfg_ctx = cfg_i.data;
  assign op_cfg = cfg_i.req && !cfg_ack_q;
  assign park_pop = park_v && !op_cfg;
  assign resume_pop = resume_v && !op_cfg && !park_v;
  assign push_pop = push_v && !op_cfg && !park_v && !resume_v;

  assign cfg_ack_d = cfg_i.req;
  assign cfg_ack_o = cfg_ack_q;

  // ---- the QP, its destination, and that destination's list

  logic [QpW-1:0] qp, list_next, next_waddr, next_wdata;
  logic [DestW-1:0] qp_dest, dest;
  waits_t waits, waits_d;
  list_t list, list_d;
  logic list_we, next_we, alone;

  assign qp = park_v ? park.qp[QpW-1:0] : push.qp[QpW-1:0];
  assign dest = (resume_v && !park_v) ? resume.cc[DestW-1:0] : qp_dest;
  assign alone = list.head == list.tail;

  mrc_rf_1r1w #(
      .Width(DestW),
      .Depth(NumQps)
  ) u_dest (
      .clk_i,
      .raddr_i(qp),
      .rdata_o(qp_dest),
      .we_i(op_cfg && cfg_i.tbl == CfgTableQpCtx),
      .waddr_i(cfg_i.index[QpW-1:0]),
      .wdata_i(cfg_ctx.dest[DestW-1:0])
  );

  mrc_rf_reset #(
      .Width($bits(waits_t)),
      .Depth(NumDests)
  ) u_waits (
      .clk_i,
      .rst_ni,
      .raddr_i(dest),
      .rdata_o(waits),
      .we_i(park_pop || resume_pop || push_pop),
      .waddr_i(dest),
      .wdata_i(waits_d)
  );

  mrc_rf_1r1w #(
      .Width($bits(list_t)),
      .Depth(NumDests)
  ) u_list (
      .clk_i,
      .raddr_i(dest),
      .rdata_o(list),
      .we_i(list_we),
      .waddr_i(dest),
      .wdata_i(list_d)
  );

  mrc_rf_1r1w #(
      .Width(QpW),
      .Depth(NumQps)
  ) u_next (
      .clk_i,
      .raddr_i(list.head),
      .rdata_o(list_next),
      .we_i(next_we),
      .waddr_i(next_waddr),
      .wdata_i(next_wdata)
  );

  // ---- one step

  logic run_push;
  logic [QpW-1:0] run_qp;

  always_comb begin
    waits_d = waits;
    list_we = 1'b0;
    list_d = list;
    next_we = 1'b0;
    next_waddr = qp;
    next_wdata = list.head;
    run_push = 1'b0;
    run_qp = qp;
    if (park_pop) begin
      if (waits.woken) begin
        waits_d.woken = 1'b0;
        run_push = 1'b1;
      end else begin
        // In front: the window was full for it first.
        next_we = 1'b1;
        list_we = 1'b1;
        list_d.head = qp;
        if (!waits.some) begin
          list_d.tail = qp;
        end
        waits_d.some = 1'b1;
      end
    end else if (resume_pop && !waits.some) begin
      waits_d.woken = bug_i != BugWakeForgotten;
    end else if (resume_pop || (push_pop && waits.some)) begin
      run_push = 1'b1;
      run_qp = list.head;
      list_we = 1'b1;
      list_d.head = list_next;
      if (push_pop && push.more) begin
        // Behind the others, and the first of them gets its turn.
        next_we = 1'b1;
        next_waddr = list.tail;
        next_wdata = qp;
        list_d.tail = qp;
        if (alone) begin
          list_d.head = qp;
        end
      end else if (alone) begin
        waits_d.some = 1'b0;
        list_we = 1'b0;
      end
    end else if (push_pop) begin
      run_push = push.more;
    end
  end

  // ---- QPs that may send

  grant_t run_d;
  logic run_ready;
  logic [$clog2(NumQps+1)-1:0] unused_count;
  assign run_d.qp = qp_index_t'(run_qp);

  mrc_fifo #(
      .T(grant_t),
      .Depth(NumQps)
  ) u_run (
      .clk_i,
      .rst_ni,
      .valid_i(run_push),
      .ready_o(run_ready),
      .data_i(run_d),
      .valid_o(grant_valid_o),
      .ready_i(grant_ready_i),
      .data_o(grant_o),
      .count_o(unused_count)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cfg_ack_q <= 1'b0;
    end else begin
      cfg_ack_q <= cfg_ack_d;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, unused_counts, run_ready, unused_count, cfg_i.index, cfg_ctx.srv6,
                       cfg_ctx.dip, cfg_ctx.mpr_dest, cfg_ctx.dmac, cfg_ctx.rqmsn, cfg_ctx.msn,
                       cfg_ctx.max_wimm_dest, cfg_ctx.rq_psn, cfg_ctx.max_wimm, cfg_ctx.sq_psn,
                       cfg_ctx.retry_exp, cfg_ctx.timeout, cfg_ctx.pkey,
                       cfg_ctx.retry_linear, cfg_ctx.backup, cfg_ctx.dqpn, cfg_ctx.profile,
                       cfg_ctx.mpr, cfg_ctx.rsvd13, cfg_ctx.cc, cfg_ctx.dyn_mpr, cfg_ctx.svc_time,
                       cfg_ctx.trim_nack, cfg_ctx.ts, cfg_ctx.encap, cfg_ctx.mtu, cfg_ctx.state};

  // ---- what always holds

  `MRC_NEVER_FULL(Run, run_push, run_ready)
  `MRC_ONE_HOT0(OneOperation, {op_cfg, park_pop, resume_pop, push_pop},
      "two operations in one cycle")
  `MRC_ASSERT_IF(ListOfSome, list_we && (resume_pop || push_pop), waits.some,
      "a QP is taken from an empty list")
  `MRC_ASSERT(WokenNobody, !(waits.some && waits.woken),
      "a destination was woken with nobody there, and somebody waits")
  `MRC_ASSERT_IF(RunInRange, run_push, 32'(run_qp) < NumQps,
      "a QP that there is not may send")
  `MRC_ASSERT_IF(ParkedInRange, park_v, 32'(park.qp) < NumQps,
      "a QP that there is not waits")

endmodule
