// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_tx_fetch while the host takes reads: how long one of any lane waits.
module formal_tx_fetch
  import mrc_pkg::*;
#(
    parameter int unsigned NumPlanes = 2
) (
    input logic clk_i,
    input logic [NumPlanes-1:0] rdreq_valid_i,
    input rdreq_t [NumPlanes-1:0] rdreq_i,
    input logic rdreq_ready_i
);
  `MRC_RESET

  logic [NumPlanes-1:0] rdreq_ready_o;
  logic rdreq_valid_o;
  rdreq_t rdreq_o;
  mrc_tx_fetch #(
      .NumPlanes(NumPlanes)
  ) dut (
      .*
  );

  localparam int unsigned CntW = $clog2(NumPlanes + 2);
  logic [$clog2(NumPlanes)-1:0] k_q;  // any lane
  always_ff @(posedge clk_i) k_q <= k_q;
  logic [CntW-1:0] count;
  formal_wait #(
      .Most(NumPlanes)
  ) u_wait (
      .clk_i,
      .rst_ni,
      .waits_i(rdreq_valid_i[k_q] && !rdreq_ready_o[k_q] && rdreq_ready_i),
      .others_i(1'b0),
      .count_o(count)
  );
  `MRC_PROVE(taken, count <= CntW'(NumPlanes))
  `MRC_COVER(taken, count == CntW'(NumPlanes) && k_q == '1)
endmodule
