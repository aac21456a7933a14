// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_gate with packets that are taken and done when they like, and a host that takes
/// completions when it likes, or never. One packet is followed (rest_q: so many are still to be
/// done until it is), and completions by colours in their imm: 1 is the first receive completion
/// that comes with or behind that packet, 2 any one behind it; all others are 0.
module formal_fpga_gate
  import mrc_pkg::*;
#(
    parameter int unsigned Depth = 4,
    parameter int unsigned MaxOpen = 4,
    localparam int unsigned NumQps = 2,
    localparam int unsigned QpW = 1
) (
    input logic clk_i,
    input logic want_take_i,
    input logic want_done_i,
    input logic follow_i,
    input logic fail_i,
    input logic [QpW-1:0] fail_qp_i,
    input logic [NumQps-1:0] clear_i,
    input logic cqe_valid_i,
    input logic recv_i,
    input logic qp_i,
    input logic one_i,
    input logic two_i,
    input logic cqe_ready_i
);
  `MRC_RESET

  logic take_i, room_o, done_i, cqe_ready_o, cqe_valid_o, push, pop;
  logic [NumQps-1:0] failed_o;
  cqe_t cqe_i, cqe_o;

  mrc_fpga_gate #(
      .Depth(Depth),
      .MaxOpen(MaxOpen),
      .NumQps(NumQps)
  ) dut (
      .*
  );

  logic [2:0] open_q, rest_q;
  logic [1:0] color;
  logic followed_q, sent1_q, sent2_q, left1_q, left2_q;
  logic [2:0] inside_q;
  logic [3:0] stands_q;
  // Of QP 1: a write of it has failed; the completion on offer was on offer in the cycle before.
  logic failed_q, held_q;
  cqe_t held_cqe_q;

  assign take_i = want_take_i && 32'(open_q) < MaxOpen && rst_ni;
  assign done_i = want_done_i && open_q != '0;
  assign push = cqe_valid_i && cqe_ready_o && rst_ni;
  assign pop = cqe_valid_o && cqe_ready_i;
  // The packet that is followed is taken in this cycle, or was.
  logic now;
  assign now = take_i && follow_i && !followed_q;
  assign color = ((followed_q || now) && !sent1_q && one_i && recv_i) ? 2'd1
      : (sent1_q && !sent2_q && two_i) ? 2'd2 : 2'd0;

  always_comb begin
    cqe_i = '0;
    cqe_i.recv = recv_i;
    cqe_i.qp = qp_index_t'(qp_i);
    cqe_i.imm = 32'(color);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {followed_q, sent1_q, sent2_q, left1_q, left2_q, failed_q, held_q} <= '0;
      {open_q, rest_q, inside_q, stands_q} <= '0;
    end else begin
      open_q <= open_q + 3'(take_i) - 3'(done_i);
      followed_q <= followed_q || now;
      rest_q <= now ? open_q + 3'd1 - 3'(done_i) : rest_q - 3'(done_i && rest_q != '0);
      sent1_q <= sent1_q || (push && color == 2'd1);
      sent2_q <= sent2_q || (push && color == 2'd2);
      left1_q <= left1_q || (pop && cqe_o.imm[1:0] == 2'd1);
      left2_q <= left2_q || (pop && cqe_o.imm[1:0] == 2'd2);
      inside_q <= inside_q + 3'(push) - 3'(pop);
      stands_q <= (open_q == '0 && inside_q != '0 && !cqe_valid_o) ? stands_q + 4'd1 : '0;
      failed_q <= (fail_i && fail_qp_i) || (failed_q && !clear_i[1]);
      held_q <= cqe_valid_o && !cqe_ready_i;
    end
  end
  always_ff @(posedge clk_i) held_cqe_q <= cqe_o;

  `MRC_PROVE(behind_its_data, !(cqe_valid_o && cqe_o.imm[1:0] == 2'd1) || rest_q == '0)
  `MRC_PROVE(order, !(cqe_valid_o && cqe_o.imm[1:0] == 2'd2) || left1_q)
  `MRC_PROVE(once, !(cqe_valid_o && cqe_o.imm[1:0] != 2'd0)
      || !((cqe_o.imm[1:0] == 2'd1) ? left1_q : left2_q))
  `MRC_PROVE(none_invented, !cqe_valid_o || inside_q != '0)
  `MRC_PROVE(room, room_o == (32'(open_q) < MaxOpen))
  `MRC_PROVE(full_is_full, cqe_ready_o == (32'(inside_q) < Depth))
  `MRC_PROVE(passes, 32'(stands_q) <= 1)
  `MRC_PROVE(stays, !held_q || (cqe_valid_o && cqe_o == held_cqe_q))
  `MRC_PROVE(says_failed, !(cqe_valid_o && !held_q && cqe_o.qp[0])
      || cqe_o.status == ((failed_q && cqe_o.recv) ? CqStatusRemOp : CqStatusOk))
  `MRC_COVER(behind_its_data, cqe_valid_o && cqe_o.imm[1:0] == 2'd1 && open_q == 3'd2)
  `MRC_COVER(order, cqe_valid_o && cqe_o.imm[1:0] == 2'd2)
  `MRC_COVER(once, left1_q && left2_q)
  `MRC_COVER(room, !room_o)
  `MRC_COVER(full_is_full, !cqe_ready_o && cqe_valid_o)
  `MRC_COVER(passes, stands_q != '0)
  `MRC_COVER(stays, held_q && failed_q && cqe_o.status == CqStatusOk && cqe_o.qp[0] && cqe_o.recv)
  `MRC_COVER(says_failed, cqe_valid_o && cqe_o.status == CqStatusRemOp)

  // Of the completion number k of those that have not passed: how far packets are done beyond what
  // it waits for, below 0 while it waits.
  localparam int unsigned CntW = $clog2((MaxOpen > Depth + 2) ? MaxOpen : Depth + 2) + 1;
  localparam int unsigned PtrW = $clog2(Depth);
  logic [PtrW:0] unpassed;
  assign unpassed = dut.came_q - dut.passed_q;
  logic [Depth:0][7:0] ahead;
  logic [Depth-1:0] falling, in_time;
  for (genvar k = 0; k < Depth; k++) begin : gen_ahead
    logic [PtrW-1:0] at;
    logic [CntW-1:0] by;
    assign at = dut.passed_q[PtrW-1:0] + PtrW'(k);
    assign by = dut.done_q - dut.u_snap.mem_q[at][CntW-1:0];
    assign ahead[k] = (k < 32'(unpassed)) ? {{(8 - CntW) {by[CntW-1]}}, by} : -8'(open_q);
    assign falling[k] = $signed(ahead[k]) >= $signed(ahead[k+1]);
    assign in_time[k] = k >= 32'(unpassed) || $signed(ahead[k] + 8'(k)) < $signed(8'(Depth));
  end
  assign ahead[Depth] = -8'(open_q);
  `MRC_HELP(falling, falling == '1)
  `MRC_HELP(in_time, in_time == '1)
  `MRC_HELP(open, dut.open == CntW'(open_q) && 32'(open_q) <= MaxOpen)
  `MRC_HELP(inside, dut.waiting == (PtrW + 1)'(inside_q) && unpassed <= dut.waiting)
  `MRC_HELP(offered, stands_q == '0 || cqe_valid_o)
  `MRC_COVER(laps, held_q && dut.ahead[dut.CntW-1] && dut.waits && dut.done_q < dut.snap)
endmodule
