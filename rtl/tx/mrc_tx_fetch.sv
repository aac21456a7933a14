// SPDX-License-Identifier: Apache-2.0

/// Collects the lanes' host reads, round robin, one per cycle (docs/design/blocks/tx/tx_fetch.md).
/// It keeps no credits: lanes reserve room before they ask.
module mrc_tx_fetch
  import mrc_pkg::*;
#(
    parameter int unsigned NumPlanes = 2
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [NumPlanes-1:0] rdreq_valid_i,
    output logic [NumPlanes-1:0] rdreq_ready_o,
    input rdreq_t [NumPlanes-1:0] rdreq_i,

    output logic rdreq_valid_o,
    input logic rdreq_ready_i,
    output rdreq_t rdreq_o
);

  mrc_merge #(
      .T(rdreq_t),
      .N(NumPlanes)
  ) u_merge (
      .clk_i,
      .rst_ni,
      .valid_i(rdreq_valid_i),
      .ready_o(rdreq_ready_o),
      .data_i(rdreq_i),
      .valid_o(rdreq_valid_o),
      .ready_i(rdreq_ready_i),
      .data_o(rdreq_o)
  );

endmodule
