// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_tx_inflight_visits for two QPs, of which Record makes any busy and anything ends one: who is
/// busy is visited, in his turn, and nobody else more than once.
module formal_tx_inflight_visits (
    input logic clk_i,
    input logic record_i,
    input logic record_qp_i,
    input logic visit_i,
    input logic done_i,  // this one has nothing open any more
    input logic done_qp_i,
    input logic any_i
);
  `MRC_RESET

  logic [1:0] busy_q, in_q;  // who is busy; who is to be visited
  logic visit_on;
  logic visit_qp;
  mrc_tx_inflight_visits #(
      .NumQps(2)
  ) dut (
      .clk_i,
      .rst_ni,
      .bug_i(8'd0),
      .record_i,
      .record_qp_i,
      .visit_i,
      .stays_i(busy_q[visit_qp]),
      .visit_on_o(visit_on),
      .visit_qp_o(visit_qp)
  );

  // One QP, whichever it is.
  logic one_q;
  logic chosen_q;
  logic [1:0] visits_q;  // of the last two cycles
  logic stands_q;  // somebody was to be visited, and was not yet
  logic [2:0] others_q;  // visits of others since it came, or was visited
  logic [1:0] nobody_q;  // cycles without anybody to visit, and somebody is in
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= '0;
      in_q <= '0;
      chosen_q <= 1'b0;
      visits_q <= '0;
      others_q <= '0;
      nobody_q <= '0;
      stands_q <= 1'b0;
    end else begin
      chosen_q <= 1'b1;
      if (!chosen_q) one_q <= any_i;
      visits_q <= {visits_q[0], visit_i};
      stands_q <= visit_on && !visit_i;
      if (visit_i && !busy_q[visit_qp]) in_q[visit_qp] <= 1'b0;
      if (done_i) busy_q[done_qp_i] <= 1'b0;
      if (record_i) begin
        busy_q[record_qp_i] <= 1'b1;
        in_q[record_qp_i] <= 1'b1;
      end
      if (!in_q[one_q] || (visit_i && visit_qp == one_q)) others_q <= '0;
      else if (visit_i && others_q != 3'd7) others_q <= others_q + 3'd1;
      if (in_q == '0 || visit_on) nobody_q <= '0;
      else if (nobody_q != 2'd3) nobody_q <= nobody_q + 2'd1;
    end
  end

  `MRC_GIVEN(who_is_there, !visit_i || visit_on)
  `MRC_GIVEN(not_three_in_a_row, !(visit_i && visits_q == 2'b11))

  `MRC_PROVE(watched, !visit_on || in_q[visit_qp])
  `MRC_PROVE(somebody, nobody_q <= 2'd2)
  `MRC_PROVE(stands, !stands_q || visit_on)
  `MRC_COVER(stands, stands_q && record_i)
  `MRC_PROVE(turn, !chosen_q || others_q <= 3'd3)
  `MRC_COVER(watched, visit_i && record_i && record_qp_i == visit_qp && !busy_q[visit_qp])
  `MRC_COVER(somebody, nobody_q == 2'd2)
  `MRC_COVER(turn, chosen_q && others_q == 3'd1 && visit_i && visit_qp == one_q)
endmodule
