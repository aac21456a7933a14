// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_merge by colours: a word is 0, but for one 1 on each input and, later, one 2. The order of
/// colours that come out is the order of words, whatever words are.
module formal_merge #(
    parameter int unsigned N = 2
) (
    input logic clk_i,
    input logic [N-1:0] valid_i,
    input logic [N-1:0] one_i,
    input logic [N-1:0] two_i,
    input logic ready_i
);
  `MRC_RESET

  logic [N-1:0] ready_o;
  logic [N-1:0][1:0] data_i;
  logic [1:0] data_o;
  logic valid_o;

  mrc_merge #(
      .T(logic [1:0]),
      .N(N)
  ) dut (
      .*
  );

  // The coloured words all come by input k, which is any.
  logic [$clog2(N)-1:0] k_q;
  always_ff @(posedge clk_i) k_q <= k_q;
  logic sent1_q, sent2_q, came1_q, came2_q;
  logic [2:0] inside_q, own_q, waits_q;
  logic push, own_push, own_pop, pop;
  for (genvar i = 0; i < N; i++) begin : gen_colour
    assign data_i[i] = (k_q != i) ? 2'd0 : (!sent1_q && one_i[i]) ? 2'd1
                       : (sent1_q && !sent2_q && two_i[i]) ? 2'd2 : 2'd0;
  end
  assign own_push = valid_i[k_q] && ready_o[k_q];
  assign own_pop = dut.take && dut.gnt[k_q];
  assign push = own_push && data_i[k_q] != 2'd0;
  assign pop = valid_o && ready_i && data_o != 2'd0;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {sent1_q, sent2_q, came1_q, came2_q} <= '0;
      inside_q <= '0;
      own_q <= '0;
      waits_q <= '0;
    end else begin
      sent1_q <= sent1_q || (push && data_i[k_q] == 2'd1);
      sent2_q <= sent2_q || (push && data_i[k_q] == 2'd2);
      came1_q <= came1_q || (pop && data_o == 2'd1);
      came2_q <= came2_q || (pop && data_o == 2'd2);
      inside_q <= inside_q + 3'(push) - 3'(pop);
      own_q <= own_q + 3'(own_push) - 3'(own_pop);
      if (own_pop || !dut.head_v[k_q]) begin
        waits_q <= '0;
      end else if (dut.take) begin
        waits_q <= waits_q + 3'd1;
      end
    end
  end

  `MRC_PROVE(order, !(valid_o && data_o == 2'd2) || came1_q)
  `MRC_PROVE(once, !(valid_o && data_o != 2'd0) || !((data_o == 2'd1) ? came1_q : came2_q))
  `MRC_PROVE(none_invented, !(valid_o && data_o != 2'd0) || ((data_o == 2'd1) ? sent1_q : sent2_q))
  `MRC_PROVE(fair, waits_q < 3'(N))
  `MRC_PROVE(room, !(own_q == 3'd0) || ready_o[k_q])
  `MRC_COVER(order, valid_o && data_o == 2'd2 && k_q == '1)
  `MRC_COVER(once, came1_q && came2_q && valid_o)
  `MRC_COVER(none_invented, sent2_q && inside_q == 3'd2)
  `MRC_COVER(fair, waits_q == 3'(N - 1))
  `MRC_COVER(room, own_q == 3'd2 && valid_i[k_q])
endmodule
