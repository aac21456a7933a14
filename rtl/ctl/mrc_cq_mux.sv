// SPDX-License-Identifier: Apache-2.0

/// Merges the completions of sender (0) and receiver (1), round robin
/// (docs/design/blocks/ctl/cq_mux.md).
module mrc_cq_mux
  import mrc_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input logic [1:0] cqe_valid_i,
    output logic [1:0] cqe_ready_o,
    input cqe_t [1:0] cqe_i,

    output logic cqe_valid_o,
    input logic cqe_ready_i,
    output cqe_t cqe_o
);

  mrc_merge #(
      .T(cqe_t),
      .N(2)
  ) u_merge (
      .clk_i,
      .rst_ni,
      .valid_i(cqe_valid_i),
      .ready_o(cqe_ready_o),
      .data_i(cqe_i),
      .valid_o(cqe_valid_o),
      .ready_i(cqe_ready_i),
      .data_o(cqe_o)
  );

endmodule
