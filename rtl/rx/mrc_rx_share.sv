// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Watches what arrives, sees incasts, and says what SACKs write to shut and open the windows of
/// those who send. It holds nobody up. Contract: docs/blocks/rx/rx_share.md.
module mrc_rx_share
  import mrc_pkg::*;
#(
    parameter int unsigned NumQps = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input rx_share_csr_t csr_i,
    input logic [31:0] tick_i,
    input cfg_t cfg_i,
    output logic cfg_ack_o,
    input logic came_valid_i,
    output logic came_ready_o,
    input came_t came_i,
    output logic arm_o,
    output logic [3:0] gen_o,
    output logic drained_o,
    output logic [NumQps-1:0] fat_o
);
endmodule
