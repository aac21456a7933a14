// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_endpoint_visits as mrc_endpoint uses it, whatever comes: each destination that is owed an
/// update is visited, in its turn, and stands nowhere twice. Four destinations.
module formal_endpoint_visits
  import mrc_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input logic changed_i,
    input logic port_wait_i,
    input logic other_i,  // a table row that nobody comes by, or a QP leaves and its lender stays
    input logic [1:0] new_i,
    input logic know_i,
    input logic owe_i,
    input logic forget_i,
    input logic [1:0] gone_i,
    input logic visit_i,
    input logic done_i,  // the one that is visited is given up
    input logic answer_i,  // this one has answered
    input logic [1:0] answer_dest_i,
    input logic [1:0] any_i
);
  `MRC_RESET

  localparam int unsigned N = 4;
  logic [3:0] valid_q, valid_d, owed_q, owed_d;
  logic visit_on_o, hurry_o, due, stop;
  logic [1:0] visit_o;
  assign due = valid_q[visit_o] && owed_q[visit_o] && !done_i;
  assign stop = know_i || owe_i || forget_i || other_i;
  mrc_endpoint_visits #(
      .NumDests(N)
  ) dut (
      .bug_i(8'(Bug)),
      .stop_i(stop),
      .due_i(due),
      .*
  );

  // ---- what mrc_endpoint asks for

  logic [2:0] ops;
  assign ops = {know_i || owe_i, forget_i, visit_i};
  `MRC_GIVEN(one_operation, (ops & (ops - 3'd1)) == '0 && !(visit_i && (other_i || answer_i)))
  `MRC_GIVEN(knows_another, !know_i || !valid_q[new_i])
  `MRC_GIVEN(owes_a_known, !owe_i || know_i || valid_q[new_i])
  `MRC_GIVEN(forgets_a_known, !forget_i || valid_q[gone_i])
  `MRC_GIVEN(visits_who_is_there, !visit_i || visit_on_o)

  // ---- who is there, and what is owed

  always_comb begin
    valid_d = valid_q;
    if (know_i) valid_d[new_i] = 1'b1;
    if (forget_i) valid_d[gone_i] = 1'b0;
    owed_d = owed_q;
    if (owe_i) owed_d[new_i] = 1'b1;
    if (forget_i) owed_d[gone_i] = 1'b0;
    if (visit_i && done_i) owed_d[visit_o] = 1'b0;
    if (answer_i) owed_d[answer_dest_i] = 1'b0;
    if (changed_i) owed_d = valid_d;
  end

  // One destination, whichever it is: visits of others while it is owed something, since it was
  // visited, or a destination went.
  logic [1:0] one_q;
  logic chosen_q, nobody_q, mode_q, ports_q;
  logic [4:0] others_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      owed_q <= '0;
      chosen_q <= 1'b0;
      nobody_q <= 1'b0;
      mode_q <= 1'b0;
      ports_q <= 1'b0;
      others_q <= '0;
    end else begin
      valid_q <= valid_d;
      owed_q <= owed_d;
      chosen_q <= 1'b1;
      if (!chosen_q) one_q <= any_i;
      // Somebody is owed something in this cycle, nobody is to be visited, and nothing is in the
      // way.
      nobody_q <= owed_q != '0 && !visit_on_o && !stop;
      if (changed_i) mode_q <= !port_wait_i;
      ports_q <= ports_q || changed_i;
      if (forget_i || !owed_q[one_q] || (visit_i && visit_o == one_q)) others_q <= '0;
      else if (visit_i && others_q != '1) others_q <= others_q + 5'd1;
    end
  end

  // ---- where everybody stands

  logic [3:0] queued, in_queue, walks, known_right, place_right, none_lost;
  logic [3:0][2:0] ahead;  // in the queue
  logic [3:0][2:0] steps;  // to its place, as if all places were taken
  logic [2:0] count, left;
  logic [1:0] at;
  logic twice;
  assign count = dut.count_q;
  assign left = dut.left_q;
  assign at = dut.at_q;

  always_comb begin
    in_queue = '0;
    ahead = '0;
    twice = 1'b0;
    for (int unsigned i = 0; i < N; i++) begin
      logic [1:0] dest;
      dest = dut.u_queue.u_mem.mem_q[2'(dut.u_queue.rptr_q + 2'(i))];
      if (3'(i) < dut.u_queue.count_q) begin
        twice = twice || in_queue[dest];
        in_queue[dest] = 1'b1;
        ahead[dest] = 3'(i);
      end
    end
  end

  for (genvar d = 0; d < N; d++) begin : gen_dest
    logic [1:0] place;
    logic [2:0] to_place;
    assign place = dut.u_place.mem_q[d];
    assign queued[d] = dut.u_queued.u_written.top_q[d] && dut.u_queued.u_rows.mem_q[d];
    assign steps[d] = (place >= at) ? 3'(place) - 3'(at) : 3'(N) - 3'(at) + 3'(place);
    assign to_place = (place >= at) ? 3'(place) - 3'(at) : count - 3'(at) + 3'(place);
    assign walks[d] = valid_q[d] && to_place < left;
    assign place_right[d] = !valid_q[d]
        || (3'(place) < count && dut.u_known.mem_q[place] == 2'(d));
    assign known_right[d] = 3'(d) >= count
        || (valid_q[dut.u_known.mem_q[d]] && dut.u_place.mem_q[dut.u_known.mem_q[d]] == 2'(d));
    assign none_lost[d] = !owed_q[d] || (valid_q[d] && (queued[d] || walks[d]
        || (visit_on_o && visit_o == 2'(d))));
  end

  // ---- properties

  logic from_queue, pending;
  assign from_queue = visit_on_o && !dut.walk_q;
  `MRC_PROVE(none_lost, &none_lost)
  `MRC_COVER(none_lost, owed_q == 4'hF && left == 3'd2 && forget_i)
  `MRC_PROVE(once, !twice && !(from_queue && in_queue[visit_o]))
  `MRC_COVER(once, dut.u_queue.count_q == 3'd4)
  `MRC_PROVE(known, (&place_right) && (&known_right))
  `MRC_COVER(known, forget_i && count == 3'd4 && dut.gone_place == 2'd1)
  `MRC_PROVE(somebody, !nobody_q || visit_on_o)
  `MRC_COVER(somebody, nobody_q)
  `MRC_PROVE(hurries, !(ports_q && (left != '0 || (visit_on_o && dut.walk_q)))
      || hurry_o == mode_q)
  `MRC_COVER(hurries, hurry_o && visit_on_o && dut.walk_q && visit_i)

  // In its turn: those on the way around come first. The others wait for what is left of it, for
  // those in front of them in the queue, and for a way around that a port begins.
  logic [4:0] left_of_it;
  assign pending = visit_on_o && visit_o != one_q;
  always_comb begin
    if (visit_on_o && visit_o == one_q) left_of_it = '0;
    else if (walks[one_q]) left_of_it = 5'(steps[one_q]) + 5'(pending);
    else left_of_it = 5'(N) + 5'(left) + 5'(N) - 5'(count) + 5'(ahead[one_q]) + 5'(pending);
  end
  `MRC_PROVE(turn, !chosen_q || others_q <= 5'(3 * N))
  `MRC_COVER(turn, chosen_q && others_q == 5'd5 && visit_i && visit_o == one_q)
  `MRC_HELP(turn_left, !chosen_q || !owed_q[one_q] || others_q + left_of_it <= 5'(3 * N))

  // ---- what the induction needs besides

  `MRC_HELP(counts, count == 3'(valid_q[0]) + 3'(valid_q[1]) + 3'(valid_q[2]) + 3'(valid_q[3])
      && left <= count && (count == '0 ? at == '0 : 3'(at) < count))
  `MRC_HELP(queued, queued == (in_queue | (from_queue ? 4'd1 << visit_o : 4'd0)))
  `MRC_HELP(pointers, dut.u_queue.count_q <= 3'd4
      && dut.u_queue.wptr_q == 2'(dut.u_queue.rptr_q + 2'(dut.u_queue.count_q)))
  `MRC_HELP(head, dut.u_queue.count_q == '0
      || dut.queue_dest == dut.u_queue.u_mem.mem_q[dut.u_queue.rptr_q])
  `MRC_HELP(others, others_q == '0 || chosen_q)
  `MRC_HELP(before_a_port, ports_q || (left == '0 && !(visit_on_o && dut.walk_q)))
  `MRC_HELP(nobody, !nobody_q || chosen_q)
endmodule
