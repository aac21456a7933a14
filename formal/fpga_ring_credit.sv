// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_ring_credit with who asks for descriptors, in any order and number, and a core as
/// tx_segment.md has it: Intake takes or refuses them in the order in which they were asked for, a
/// row comes back one cycle after una_msn has gone on, and the completion not before it; QP_CTX
/// forgets without completions. QPs get known, and each then owns an empty row. One QP is followed.
module formal_fpga_ring_credit #(
    parameter int unsigned WqeDepth = 3,
    parameter int unsigned NumWqes = 10,
    localparam int unsigned NumQps = 4,
    localparam int unsigned Pool = NumWqes - NumQps,
    // Descriptors that are asked for at a time.
    localparam int unsigned Reads = 2,
    localparam int unsigned QpW = 2
) (
    input logic clk_i,
    input logic [QpW-1:0] follow_i,
    input logic want_take_i,
    input logic [QpW-1:0] take_qp_i,
    // What happens to the oldest descriptor that is asked for: thrown away, refused, taken.
    input logic want_drop_i,
    input logic want_refuse_i,
    input logic want_accept_i,
    input logic want_complete_i,
    input logic silent_i,
    input logic [QpW-1:0] complete_qp_i,
    input logic want_back_i,
    input logic [QpW-1:0] back_qp_i,
    input logic want_forget_i,
    input logic [QpW-1:0] forget_qp_i,
    input logic know_i,
    input logic [QpW-1:0] know_qp_i
);
  `MRC_RESET

  localparam int unsigned CntW = 4;
  localparam int unsigned FreeW = $clog2(Pool + 1);

  logic take_i, drop_i, back_i, forget_i, stray_o, refuse, accept, pop, complete;
  logic [QpW-1:0] drop_qp_i, follow_q;
  logic [NumQps-1:0] may_o, some_o;
  logic [NumQps-1:0][1:0] held_o;
  logic [FreeW-1:0] free_o;

  mrc_fpga_ring_credit #(
      .NumQps(NumQps),
      .WqeDepth(WqeDepth),
      .NumWqes(NumWqes)
  ) dut (
      .*
  );

  // Asked for, oldest first; with the core; their completions on the way back; forgotten.
  logic [Reads-1:0][QpW-1:0] requested_q, requested_d;
  logic [CntW-1:0] n_q, n_d;
  logic [NumQps-1:0][CntW-1:0] core_q, core_d, coming_q, coming_d, lost_q, lost_d, count;
  logic [NumQps-1:0] known_q;
  // A row on its way to the pool.
  logic c1_q, c1_silent_q;
  logic [QpW-1:0] c1_qp_q;

  // Rows of the pool that are on offer, and what the core has or will have of those asked for
  // before number k.
  logic [CntW-1:0] rows, used, known, all;
  logic [NumQps-1:0][CntW-1:0] waiting;
  logic [Reads-1:0][CntW-1:0] ahead, its;

  assign take_i = want_take_i && may_o[take_qp_i] && 32'(n_q) < Reads && rst_ni;
  assign drop_i = want_drop_i && n_q != '0;
  assign drop_qp_i = requested_q[0];
  assign refuse = !want_drop_i && want_refuse_i && n_q != '0;
  assign accept = !want_drop_i && !want_refuse_i && want_accept_i && n_q != '0
      && known_q[requested_q[0]];
  assign pop = drop_i || refuse || accept;
  assign complete = want_complete_i && core_q[complete_qp_i] != '0;
  assign back_i = want_back_i && coming_q[back_qp_i] != '0;
  // The answer to a marker: nothing of the QP is anywhere, but for what was forgotten.
  assign forget_i = want_forget_i && !back_i && count[forget_qp_i] == lost_q[forget_qp_i]
      && !(take_i && take_qp_i == forget_qp_i);

  always_comb begin
    requested_d = requested_q;
    n_d = n_q;
    core_d = core_q;
    coming_d = coming_q;
    lost_d = lost_q;
    if (pop) begin
      requested_d = requested_q >> QpW;
      n_d = n_q - 4'd1;
    end
    if (refuse) coming_d[requested_q[0]] = coming_d[requested_q[0]] + 4'd1;
    if (accept) core_d[requested_q[0]] = core_d[requested_q[0]] + 4'd1;
    for (int unsigned k = 0; k < Reads; k++) begin
      if (take_i && CntW'(k) == n_d) requested_d[k] = take_qp_i;
    end
    n_d = n_d + CntW'(take_i);
    if (complete) core_d[complete_qp_i] = core_d[complete_qp_i] - 4'd1;
    if (c1_q && c1_silent_q) lost_d[c1_qp_q] = lost_d[c1_qp_q] + 4'd1;
    if (c1_q && !c1_silent_q) coming_d[c1_qp_q] = coming_d[c1_qp_q] + 4'd1;
    if (back_i) coming_d[back_qp_i] = coming_d[back_qp_i] - 4'd1;
    if (forget_i) lost_d[forget_qp_i] = '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {requested_q, n_q, core_q, coming_q, lost_q, known_q, c1_q} <= '0;
    end else begin
      requested_q <= requested_d;
      n_q <= n_d;
      core_q <= core_d;
      coming_q <= coming_d;
      lost_q <= lost_d;
      c1_q <= complete;
      // The first context of a QP waits for a row.
      if (know_i && rows != '0) known_q[know_qp_i] <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    c1_silent_q <= silent_i;
    c1_qp_q <= complete_qp_i;
    follow_q <= follow_i;
  end
  `MRC_GIVEN(same_qp, !rst_ni || follow_i == follow_q)

  always_comb begin
    known = '0;
    used = CntW'(c1_q);
    all = '0;
    waiting = '0;
    for (int unsigned q = 0; q < NumQps; q++) begin
      known = known + CntW'(known_q[q]);
      used = used + core_q[q];
      for (int unsigned k = 0; k < Reads; k++) begin
        if (CntW'(k) < n_q && requested_q[k] == QpW'(q)) waiting[q] = waiting[q] + 4'd1;
      end
      count[q] = waiting[q] + core_q[q] + coming_q[q] + lost_q[q]
          + CntW'(c1_q && c1_qp_q == QpW'(q));
      all = all + count[q];
    end
    rows = CntW'(NumWqes) - known - used;
    for (int unsigned k = 0; k < Reads; k++) begin
      ahead[k] = used + CntW'(k);
      its[k] = core_q[requested_q[k]];
      for (int unsigned j = 0; j < k; j++) begin
        if (requested_q[j] == requested_q[k]) its[k] = its[k] + 4'd1;
      end
    end
  end

  function automatic logic has_room(logic [CntW-1:0] free, logic [CntW-1:0] held);
    return free != '0 && held < CntW'(WqeDepth) && (32'(free) > NumWqes / 4 || held < 4'd2);
  endfunction

  // Intake's rule at the oldest, and of each behind it when its turn comes.
  `MRC_PROVE(room, n_q == '0 || has_room(rows, core_q[requested_q[0]]))
  `MRC_PROVE(held, held_o[follow_i] == count[follow_i][1:0] && count[follow_i] <= 4'(WqeDepth))
  `MRC_PROVE(free, CntW'(free_o) + all == CntW'(Pool))
  `MRC_PROVE(may, may_o[follow_i] == has_room(CntW'(free_o), count[follow_i]))
  `MRC_PROVE(some, some_o[follow_i] == (count[follow_i] != '0))
  `MRC_COVER(room, n_q != '0 && core_q[requested_q[0]] == 4'd1 && rows == 4'd1 && known_q == '1)
  `MRC_COVER(held, held_o[follow_i] == 2'd3 && lost_q[follow_i] == 4'd1)
  `MRC_COVER(free, free_o == '0 && n_q == 4'd1)
  `MRC_COVER(may, !may_o[follow_i] && held_o[follow_i] == 2'd3 && free_o == FreeW'(3))
  `MRC_COVER(some, !some_o[follow_i] && all == 4'd3)

  logic [Reads-1:0] fit;
  for (genvar k = 0; k < Reads; k++) begin : gen_fit
    assign fit[k] = CntW'(k) >= n_q || has_room(CntW'(Pool) - ahead[k], its[k]);
  end
  logic [NumQps-1:0] exact;
  for (genvar q = 0; q < NumQps; q++) begin : gen_exact
    assign exact[q] = CntW'(held_o[q]) == count[q] && core_q[q] <= 4'(WqeDepth)
        && coming_q[q] <= 4'(WqeDepth) && lost_q[q] <= 4'(WqeDepth);
  end
  `MRC_HELP(fit, fit == '1)
  `MRC_HELP(exact, exact == '1)
  `MRC_HELP(requested, 32'(n_q) <= Reads)
  `MRC_HELP(no_stray, !stray_o)
endmodule
