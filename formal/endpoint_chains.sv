// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_endpoint_chains as mrc_endpoint_lists uses it, whatever comes: each destination that was put
/// into a chain and has not left it is met on a walk along that chain, and on no other. Four
/// destinations, four buckets.
module formal_endpoint_chains (
    input logic clk_i,
    input logic [1:0] bucket_i,
    input logic start_i,
    input logic go_on_i,
    input logic jump_i,
    input logic [1:0] jump_dest_i,
    input logic put_i,
    input logic out_i,
    input logic clear_i
);
  `MRC_RESET

  logic any_o, last_o;
  logic [1:0] dest_o, next_o;
  mrc_endpoint_chains #(
      .NumDests(4)
  ) dut (
      .*
  );

  // Where each destination belongs.
  logic [3:0] in_q, in_d;
  logic [3:0][1:0] home_q, home_d;
  always_comb begin
    in_d = in_q;
    home_d = home_q;
    if (put_i) begin
      in_d[dest_o] = 1'b1;
      home_d[dest_o] = bucket_i;
    end
    if (out_i) in_d[dest_o] = 1'b0;
    if (clear_i) begin
      for (int unsigned d = 0; d < 4; d++) if (home_q[d] == bucket_i) in_d[d] = 1'b0;
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) in_q <= '0;
    else in_q <= in_d;
  end
  always_ff @(posedge clk_i) home_q <= home_d;

  // A walk along a chain that nothing has changed since.
  logic walks_q;
  logic [1:0] along_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) walks_q <= 1'b0;
    else if (put_i || out_i || clear_i || jump_i) walks_q <= 1'b0;
    else if (start_i) walks_q <= any_o;
  end
  always_ff @(posedge clk_i) if (start_i) along_q <= bucket_i;

  // What mrc_endpoint_lists asks for.
  logic [2:0] ops, looks;
  assign ops = {put_i, out_i, clear_i};
  assign looks = {start_i, go_on_i, jump_i};
  `MRC_GIVEN(one_operation, (ops & (ops - 3'd1)) == '0)
  `MRC_GIVEN(one_look, (looks & (looks - 3'd1)) == '0)
  `MRC_GIVEN(looks_along, !go_on_i || (walks_q && !last_o && !put_i && !out_i && !clear_i))
  `MRC_GIVEN(puts_another, !put_i || !in_q[dest_o])
  `MRC_GIVEN(leaves_its_chain, !out_i || (walks_q && bucket_i == along_q))

  // The links as they stand.
  logic [3:0] first_any, after_any;
  logic [3:0][1:0] first_dest, after_dest;
  for (genvar i = 0; i < 4; i++) begin : gen_links
    assign first_any[i] = dut.u_first.u_written.top_q[i] && dut.u_first.u_rows.mem_q[i][2];
    assign first_dest[i] = dut.u_first.u_rows.mem_q[i][1:0];
    assign after_any[i] = dut.u_after.mem_q[i][2];
    assign after_dest[i] = dut.u_after.mem_q[i][1:0];
  end

  // A walk along each chain, as many steps as there are destinations.
  logic [3:0][3:0] met;
  logic [3:0] ends;
  always_comb begin
    logic on;
    logic [1:0] at;
    for (int unsigned b = 0; b < 4; b++) begin
      met[b] = '0;
      on = first_any[b];
      at = first_dest[b];
      for (int unsigned k = 0; k < 4; k++) begin
        if (on) begin
          met[b][at] = 1'b1;
          on = after_any[at];
          at = after_dest[at];
        end
      end
      ends[b] = !on;
    end
  end

  logic [3:0] none_lost, in_no_other;
  for (genvar d = 0; d < 4; d++) begin : gen_dest
    assign none_lost[d] = !in_q[d] || met[home_q[d]][d];
    for (genvar b = 0; b < 4; b++) begin : gen_bucket
      logic strange;
      assign strange = met[b][d] && !(in_q[d] && home_q[d] == 2'(b));
    end
    assign in_no_other[d] = !gen_bucket[0].strange && !gen_bucket[1].strange
        && !gen_bucket[2].strange && !gen_bucket[3].strange;
  end

  `MRC_PROVE(none_lost, &none_lost)
  `MRC_PROVE(in_no_other, &in_no_other)
  `MRC_PROVE(ends, &ends)
  `MRC_PROVE(looks_at_a_member, !walks_q || (in_q[dest_o] && home_q[dest_o] == along_q))
  `MRC_COVER(none_lost, in_q == 4'hF && home_q[0] == home_q[1] && home_q[0] == home_q[2]
      && home_q[0] == home_q[3])
  `MRC_COVER(in_no_other, in_q == 4'hF && home_q[0] == home_q[1] && home_q[2] == home_q[3]
      && home_q[0] != home_q[2])
  `MRC_COVER(left_from_between, out_i && walks_q && dest_o != first_dest[along_q] && !last_o)

  `MRC_HELP(before_it, !walks_q || (first_any[along_q] && first_dest[along_q] == dest_o)
      || (in_q[dut.g_q] && home_q[dut.g_q] == along_q && after_any[dut.g_q]
          && after_dest[dut.g_q] == dest_o))
endmodule
