// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// The gate of completions: one of a received message leaves when all packets are done that were
/// taken before it came, and says if a write of its QP has failed. In order, one per cycle;
/// latency two cycles. Packets are done in the order in which they were taken. It does not look at
/// memory: take_i, done_i and fail_i come from who writes. Contract: docs/design/boards/host.md.
module mrc_fpga_gate
  import mrc_pkg::*;
#(
    parameter int unsigned Depth = 16,
    parameter int unsigned MaxOpen = 256,
    parameter int unsigned NumQps = 16,
    localparam int unsigned QpW = (NumQps > 1) ? $clog2(NumQps) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic take_i,
    output logic room_o,
    input logic done_i,
    input logic fail_i,
    input logic [QpW-1:0] fail_qp_i,
    input logic [NumQps-1:0] clear_i,
    output logic [NumQps-1:0] failed_o,
    input logic cqe_valid_i,
    output logic cqe_ready_o,
    input cqe_t cqe_i,
    output logic cqe_valid_o,
    input logic cqe_ready_i,
    output cqe_t cqe_o
);

  localparam int unsigned Range = (MaxOpen > Depth + 2) ? MaxOpen : Depth + 2;
  localparam int unsigned CntW = $clog2(Range) + 1;
  localparam int unsigned PtrW = $clog2(Depth);

  if (Depth < 2 || Depth != 2 ** PtrW) begin : gen_bad_depth
    $error("%m: Depth must be a power of two, at least 2");
  end
  if (MaxOpen < 2 || MaxOpen != 2 ** $clog2(MaxOpen)) begin : gen_bad_open
    $error("%m: MaxOpen must be a power of two, at least 2");
  end

  // Packets taken and done so far, as differences: both wrap around.
  logic [CntW-1:0] taken_q, taken_d, done_q, done_d, open, snap, ahead;
  // Completions that came, that have passed the gate, that have left: the last bit is a lap.
  logic [PtrW:0] came_q, passed_q, left_q, waiting;
  logic [NumQps-1:0] failed_q, failed_d;
  logic push, pass, pop, waits;
  logic recv;

  assign open = taken_q - done_q;
  assign room_o = open < CntW'(MaxOpen);
  assign taken_d = taken_q + CntW'(take_i);
  assign done_d = done_q + CntW'(done_i);

  assign waiting = came_q - left_q;
  assign cqe_ready_o = waiting != (PtrW + 1)'(Depth);
  assign push = cqe_valid_i && cqe_ready_o;
  assign waits = came_q != passed_q;
  // 0 or more: all packets of before are done.
  assign ahead = done_q - snap;
  assign pass = waits && (!recv || !ahead[CntW-1]);
  assign cqe_valid_o = passed_q != left_q;
  assign pop = cqe_valid_o && cqe_ready_i;

  mrc_rf_1r1w #(
      .Width(CntW + 1),
      .Depth(Depth)
  ) u_snap (
      .clk_i,
      .raddr_i(passed_q[PtrW-1:0]),
      .rdata_o({recv, snap}),
      .we_i(push),
      .waddr_i(came_q[PtrW-1:0]),
      .wdata_i({cqe_i.recv, taken_d})
  );

  cqe_t head;

  mrc_rf_1r1w #(
      .Width($bits(cqe_t)),
      .Depth(Depth)
  ) u_cqe (
      .clk_i,
      .raddr_i(left_q[PtrW-1:0]),
      .rdata_o(head),
      .we_i(push),
      .waddr_i(came_q[PtrW-1:0]),
      .wdata_i(cqe_i)
  );

  // A failure that comes while the completion is on offer changes it no more.
  logic report_q, report_d, head_failed, held_q;
  assign head_failed = head.recv && head.status == CqStatusOk && failed_q[head.qp[QpW-1:0]];
  assign report_d = held_q ? report_q : head_failed;

  always_comb begin
    cqe_o = head;
    if (report_d) begin
      cqe_o.status = CqStatusRemOp;
    end
    failed_d = failed_q & ~clear_i;
    if (fail_i) begin
      failed_d[fail_qp_i] = 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      taken_q <= '0;
      done_q <= '0;
      came_q <= '0;
      passed_q <= '0;
      left_q <= '0;
      failed_q <= '0;
      held_q <= 1'b0;
    end else begin
      taken_q <= taken_d;
      done_q <= done_d;
      came_q <= came_q + (PtrW + 1)'(push);
      passed_q <= passed_q + (PtrW + 1)'(pass);
      left_q <= left_q + (PtrW + 1)'(pop);
      failed_q <= failed_d;
      held_q <= cqe_valid_o && !cqe_ready_i;
    end
  end

  always_ff @(posedge clk_i) begin
    report_q <= report_d;
  end

  assign failed_o = failed_q;

  `MRC_ASSERT(TakesWithRoom, !take_i || room_o, "a packet is taken, and too many are open")
  `MRC_ASSERT(DoneIsOpen, !done_i || open != '0, "a packet is done that was not taken")
  // What is compared is at most MaxOpen behind, or Depth + 1 ahead.
  `MRC_ASSERT(NoWrap, !waits || !recv || (ahead <= CntW'(Depth + 1))
      || (-ahead <= CntW'(MaxOpen)), "a completion is compared with counters that have gone round")
  `MRC_ASSERT(PassesInTurn, (came_q - passed_q) <= waiting && waiting <= (PtrW + 1)'(Depth),
      "completions leave before they have passed, or more came than there is room for")

endmodule
