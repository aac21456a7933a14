// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_tx_path_walk: which EV a packet takes, and which one its copy. Rows, planes that are up,
/// lanes with room and what is kept of the QP are any, and may change in every cycle. Two planes,
/// eight EVs.
module formal_tx_path_walk
  import mrc_pkg::*;
  import mrc_tx_path_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input logic [1:0] lane_room_i,
    input logic [1:0] port_up_i,
    input logic take_i,
    input pkt_t pkt_i,
    input logic [17:0] place_i,
    input logic [1:0] used_i,
    input logic [5:0] profile_i,
    input logic [1:0] pmask_i,
    input logic [1:0][2:0] row_i,
    input logic e_go_i,
    input logic any_plane_i,
    input logic one_copy_i,
    input logic timed_i,
    input logic [2:0] due_i,
    input logic bad_waits_i
);
  `MRC_RESET

  logic valid_o, next_o, end_o, chosen_o, choose_o, writes_o, row_we_o, row_again_o;
  logic copy_o, again_o, follows_o, begins;
  pkt_t pkt_o;
  logic [5:0] profile_o;
  logic [2:0] chosen_idx_o, first_idx_o;
  logic [17:0] place_o;
  logic [1:0] used_o, group_o, next_group_o, pkt_group_o;
  logic [1:0][2:0] row_o;
  mrc_tx_path_walk #(
      .NumPlanes(2),
      .NumQps(2),
      .EvsPerQp(8)
  ) dut (
      .bug_i(8'(Bug)),
      .*
  );
  `MRC_GIVEN(takes_when_free, !take_i || !valid_o || (end_o && !follows_o))
  `MRC_GIVEN(rows_of_states, row_i[0] <= 3'(EvSkip3) && row_i[1] <= 3'(EvSkip3))
  `MRC_GIVEN(a_mark_is_due, is_skip(due_i))
  `MRC_GIVEN(two_of_what_is_lost, !pkt_i.two || (pkt_i.rtx && pkt_i.lost))

  // ---- what is taken

  logic plane;
  assign plane = chosen_idx_o[0];
  `MRC_PROVE(takes_good, !(choose_o && dut.found) || (row_i[plane] == 3'(EvGood)
             && chosen_idx_o[2:1] == group_o))
  `MRC_COVER(takes_good, choose_o && dut.found && row_i[plane ^ 1'b1] == 3'(EvGood) && plane)
  `MRC_PROVE(plane_is_up, !choose_o || (port_up_i[plane] && dut.w_pmask_q[plane]
                                        && lane_room_i[plane]))
  `MRC_COVER(plane_is_up, choose_o && !dut.w_pmask_q[plane ^ 1'b1])
  `MRC_PROVE(avoids, !(choose_o && dut.found && dut.avoid_on_q)
             || pkt_o.avoid_ev != {13'd0, chosen_idx_o})
  `MRC_COVER(avoids, choose_o && dut.found && dut.avoid_on_q
                     && pkt_o.avoid_ev == {13'd0, chosen_idx_o ^ 3'd1})
  `MRC_COVER(once_in_a_group, choose_o && dut.found && dut.w_u_q != 2'd0)
  `MRC_PROVE(voided_has_none, !(chosen_o && pkt_o.voided))
  `MRC_COVER(voided_has_none, end_o && pkt_o.voided)

  // ---- what is restored: a mark that becomes GOOD

  logic [1:0] restores;
  logic [2:0] count_q, count_d, idx_q;
  for (genvar j = 0; j < 2; j++) begin : gen_plane
    assign restores[j] = row_we_o && is_skip(row_i[j]) && row_o[j] == 3'(EvGood);
  end
  assign begins = take_i || follows_o;  // a walk
  assign count_d = count_q + 3'(restores[0]) + 3'(restores[1]);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
    end else if (begins) begin
      count_q <= '0;
    end else if (count_q < 3'd4) begin
      count_q <= count_d;
    end
  end
  always_ff @(posedge clk_i) begin
    if (restores != 2'd0) begin
      idx_q <= {group_o, restores[1]};
    end
  end
  `MRC_PROVE(restores_one, count_d <= 3'd1)
  `MRC_PROVE(restores_due, !(timed_i && row_we_o)
             || ((row_o[0] == row_i[0] || row_i[0] == due_i)
                 && (row_o[1] == row_i[1] || row_i[1] == due_i)))
  `MRC_COVER(restores_due, timed_i && restores == 2'd1 && row_i[1] == 3'(EvSkip3))
  `MRC_COVER(restores_one, count_q == 3'd1 && next_o && row_i[0] == 3'(EvSkip))
  // Without a good one it is that which was restored, and only after the whole set.
  logic came_back;
  assign came_back = count_q == 3'd1 ? dut.w_ok[idx_q[0]] : restores != 2'd0;
  `MRC_PROVE(or_restored, !(choose_o && !dut.found && came_back) || (dut.whole_q
             && (count_q == 3'd1 ? chosen_idx_o == idx_q
                                 : restores != 2'd0 && chosen_idx_o == {group_o, restores[1]})))
  `MRC_COVER(or_restored, choose_o && !dut.found && count_q == 3'd1 && idx_q[2:1] != group_o)
  // Without that one it is what was passed over: a mark that was not due or, if there was none, an
  // EV that was bad.
  logic [1:0] early, bad;
  logic [7:0] passed_q, bad_q, met;
  for (genvar j = 0; j < 2; j++) begin : gen_passed
    assign early[j] = timed_i && dut.act[j] && is_skip(row_i[j]) && row_i[j] != due_i;
    assign bad[j] = !bad_waits_i && dut.act[j] && row_i[j] == 3'(EvBad);
  end
  for (genvar j = 0; j < 8; j++) begin : gen_met
    assign met[j] = (group_o == 2'(j / 2) && (early[j%2] || bad[j%2])) || passed_q[j] || bad_q[j];
  end
  always_ff @(posedge clk_i) begin
    if (begins) begin
      passed_q <= '0;
      bad_q <= '0;
    end else if (next_o) begin
      for (int unsigned j = 0; j < 2; j++) begin
        passed_q[{group_o, 1'(j)}] <= passed_q[{group_o, 1'(j)}] || early[j];
        bad_q[{group_o, 1'(j)}] <= bad_q[{group_o, 1'(j)}] || bad[j];
      end
    end
  end
  logic takes_spare, met_mark;
  assign takes_spare = choose_o && !dut.found && !came_back;
  assign met_mark = passed_q != 8'd0 || early != 2'd0;
  `MRC_PROVE(or_marked, !(takes_spare && met_mark)
             || (dut.whole_q && !dut.avoid_on_q && (passed_q[chosen_idx_o]
                 || (chosen_idx_o[2:1] == group_o && early[plane]))))
  `MRC_COVER(or_marked, takes_spare && passed_q != 8'd0 && bad_q != 8'd0
                        && dut.spare_idx_q[2:1] != group_o)
  `MRC_PROVE(or_bad, !(takes_spare && !met_mark)
             || (dut.whole_q && !dut.avoid_on_q && met[chosen_idx_o]))
  `MRC_COVER(or_bad, takes_spare && !met_mark && chosen_idx_o[2:1] != group_o)
  `MRC_PROVE(bad_waits, !(takes_spare && met == 8'd0))
  `MRC_COVER(bad_waits, takes_spare && bad_waits_i && row_i[0] == 3'(EvBad)
                        && row_i[1] == 3'(EvBad))
  // Without an EV it leaves only if it has met none of these, or the plane of one of them fell.
  logic [1:0] met_planes;
  assign met_planes = met[7:6] | met[5:4] | met[3:2] | met[1:0];
  `MRC_PROVE(or_none, !(end_o && !choose_o && !copy_o && (met_planes & ~dut.w_ok) == 2'd0)
             || met == 8'd0)
  `MRC_COVER(or_none, end_o && !choose_o && !copy_o && met != 8'd0 && dut.w_up != 2'd0)
  `MRC_PROVE(only_marks_change, !row_we_o
             || ((row_o[0] == row_i[0] || is_skip(row_i[0]))
                 && (row_o[1] == row_i[1] || is_skip(row_i[1]))))
  `MRC_COVER(only_marks_change, row_we_o && row_i[0] == 3'(EvSkip2) && row_i[1] == 3'(EvBad))

  // ---- copies

  logic sent_q;  // with an EV already
  logic ordered_q;  // a copy, when that one was taken
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sent_q <= 1'b0;
    end else begin
      sent_q <= !take_i && (sent_q || choose_o);
    end
  end
  always_ff @(posedge clk_i) begin
    if (choose_o && !sent_q) begin
      ordered_q <= pkt_o.two && pkt_o.rtx && !one_copy_i;
    end
  end
  `MRC_PROVE(copy_elsewhere, !(choose_o && copy_o)
             || (plane != pkt_o.avoid_ev[0] && plane != first_idx_o[0]))
  `MRC_COVER(copy_elsewhere, choose_o && copy_o && first_idx_o[2:1] != group_o)
  `MRC_PROVE(two_at_most, !(sent_q && follows_o))
  `MRC_COVER(two_at_most, sent_q && end_o && !choose_o)
  `MRC_PROVE(copy_if_ordered, !(sent_q && choose_o) || ordered_q)
  `MRC_COVER(copy_if_ordered, sent_q && choose_o && one_copy_i)
  `MRC_HELP(copy, !valid_o || (copy_o == sent_q && (!copy_o || (ordered_q && !dut.avoid_on_q
            && dut.barred_q == ((2'd1 << pkt_o.avoid_ev[0]) | (2'd1 << first_idx_o[0]))))))
  `MRC_HELP(avoids, !valid_o || !dut.avoid_on_q || pkt_o.rtx)
  `MRC_HELP(two, !valid_o || !pkt_o.two || (pkt_o.rtx && pkt_o.lost))

  `MRC_HELP(restored, !valid_o || (dut.restored_q == (count_q == 3'd1) && count_q <= 3'd1
            && (!dut.restored_q || dut.restored_idx_q == idx_q)))
  `MRC_HELP(goes_nowhere, !valid_o || !pkt_o.voided || dut.spare_q == 2'd0)
  `MRC_HELP(spare, !valid_o || dut.spare_q == 2'd0 && passed_q == 8'd0 && bad_q == 8'd0
            || dut.spare_q == 2'd1 && passed_q == 8'd0 && bad_q[dut.spare_idx_q]
            || dut.spare_q == 2'd2 && passed_q[dut.spare_idx_q])
endmodule
