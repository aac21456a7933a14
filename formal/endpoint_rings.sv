// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_endpoint_rings as mrc_endpoint_lists uses it, whatever comes: the QPs that lead to one
/// destination, and no others, follow each other in a closed ring. Four QPs, four destinations.
module formal_endpoint_rings (
    input logic clk_i,
    input logic [1:0] at_i,
    input logic leave_i,
    input logic alone_i,
    input logic enter_i,
    input logic link_i,
    input logic [1:0] new_i,
    input logic [1:0] dest_i
);
  `MRC_RESET

  logic [1:0] next_o;
  logic alone_o;
  mrc_endpoint_rings #(
      .NumQps(4)
  ) dut (
      .*
  );

  // Where each QP leads to.
  logic [3:0] in_q, in_d;
  logic [3:0][1:0] dest_q, dest_d;
  always_comb begin
    in_d = in_q;
    dest_d = dest_q;
    if (alone_i || link_i) begin
      in_d[new_i] = 1'b1;
      dest_d[new_i] = alone_i ? dest_i : dest_q[at_i];
    end
    if (leave_i) in_d[at_i] = 1'b0;
  end
  logic entered_q;  // and link_i is to follow
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_q <= '0;
      entered_q <= 1'b0;
    end else begin
      in_q <= in_d;
      entered_q <= enter_i;
    end
  end
  logic [1:0] at_q, new_q;
  always_ff @(posedge clk_i) begin
    dest_q <= dest_d;
    at_q <= at_i;
    new_q <= new_i;
  end

  // What mrc_endpoint_lists asks for.
  logic [3:0] there;
  for (genvar i = 0; i < 4; i++) begin : gen_there
    assign there[i] = in_q[i] && dest_q[i] == dest_i;
  end
  logic [3:0] ops;
  assign ops = {leave_i, alone_i, enter_i, link_i};
  `MRC_GIVEN(one_operation, (ops & (ops - 4'd1)) == '0)
  `MRC_GIVEN(links_what_entered, link_i == entered_q)
  `MRC_GIVEN(the_same, !link_i || (at_i == at_q && new_i == new_q))
  `MRC_GIVEN(looks_at_a_member, !(leave_i || enter_i) || in_q[at_i])
  `MRC_GIVEN(another_comes, !(alone_i || enter_i) || !in_q[new_i])
  `MRC_GIVEN(comes_as_first, !alone_i || there == '0)

  // A way around from each QP, as many steps as there are QPs.
  logic [3:0][1:0] next, prev;
  for (genvar i = 0; i < 4; i++) begin : gen_links
    assign next[i] = dut.u_next.mem_q[i];
    assign prev[i] = dut.u_prev.mem_q[i];
  end

  logic [3:0][3:0] met;
  logic [3:0] home;
  always_comb begin
    logic [1:0] at;
    for (int unsigned i = 0; i < 4; i++) begin
      met[i] = '0;
      home[i] = 1'b0;
      at = 2'(i);
      for (int unsigned k = 0; k < 4; k++) begin
        if (!home[i]) begin
          at = next[at];
          met[i][at] = 1'b1;
          home[i] = at == 2'(i);
        end
      end
    end
  end

  logic [3:0] members, strangers, both_ways;
  for (genvar i = 0; i < 4; i++) begin : gen_qp
    logic [3:0] with_it;
    for (genvar k = 0; k < 4; k++) begin : gen_other
      assign with_it[k] = in_q[k] && dest_q[k] == dest_q[i];
    end
    assign members[i] = !in_q[i] || (home[i] && (with_it & ~met[i]) == '0);
    assign strangers[i] = !in_q[i] || (met[i] & ~with_it) == '0;
    assign both_ways[i] = !in_q[i] || (prev[next[i]] == 2'(i) && next[prev[i]] == 2'(i));
  end

  `MRC_PROVE(all_members, &members)
  `MRC_PROVE(no_stranger, &strangers)
  `MRC_PROVE(both_ways, &both_ways)
  `MRC_COVER(all_members, in_q == 4'hF && dest_q[0] == dest_q[1] && dest_q[0] == dest_q[2]
      && dest_q[0] == dest_q[3])
  `MRC_COVER(no_stranger, in_q == 4'hF && dest_q[0] == dest_q[1] && dest_q[2] == dest_q[3]
      && dest_q[0] != dest_q[2])
  `MRC_COVER(closed, link_i && next_o != at_i)

  // Who has entered stands before the one behind, and is not seen from there yet.
  `MRC_HELP(entered, !entered_q || (in_q[at_q] && !in_q[new_q] && next[new_q] == next[at_q]
      && prev[new_q] == at_q))
endmodule
