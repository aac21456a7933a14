// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_cq_mux while the host takes completions: how long one of either side waits.
module formal_cq_mux
  import mrc_pkg::*;
(
    input logic clk_i,
    input logic [1:0] cqe_valid_i,
    input cqe_t cqe0_i,
    input cqe_t cqe1_i,
    input logic cqe_ready_i
);
  `MRC_RESET

  logic [1:0] cqe_ready_o;
  logic cqe_valid_o;
  cqe_t [1:0] cqe_i;
  cqe_t cqe_o;
  assign cqe_i = {cqe1_i, cqe0_i};
  mrc_cq_mux dut (.*);

  localparam int unsigned Most = 2;
  logic k_q;  // either input
  always_ff @(posedge clk_i) k_q <= k_q;
  logic [1:0] count;
  formal_wait #(
      .Most(Most)
  ) u_wait (
      .clk_i,
      .rst_ni,
      .waits_i(cqe_valid_i[k_q] && !cqe_ready_o[k_q] && cqe_ready_i),
      .others_i(1'b0),
      .count_o(count)
  );
  `MRC_PROVE(taken, count <= 2'(Most))
  `MRC_COVER(taken, count == 2'(Most) && k_q)
endmodule
