// SPDX-License-Identifier: Apache-2.0
// One direction of one port as the judge hears it: AXI4-Stream of 512 bits, a frame from the
// Ethernet header on, without FCS. tuser with tlast: the frame is bad.
interface mrc_ref_axis_if (
    input logic clk,
    input logic rst_n
);
  logic         tvalid;
  logic         tready;
  logic [511:0] tdata;
  logic [ 63:0] tkeep;
  logic         tlast;
  logic         tuser;
endinterface
