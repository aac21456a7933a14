// SPDX-License-Identifier: Apache-2.0

/// mrc_fpga_lane with small FIFOs, so that a bench fills them: frames of up to 6 words.
module mrc_fpga_lane_bench (
    input logic clk_i,
    input logic rst_ni,
    output logic link_up_o,
    input logic tvalid_i,
    output logic tready_o,
    input logic [255:0] tdata_i,
    input logic [31:0] tkeep_i,
    input logic tlast_i,
    output logic tvalid_o,
    output logic [255:0] tdata_o,
    output logic [31:0] tkeep_o,
    output logic tlast_o,
    output logic tuser_o,
    output logic [9:0][31:0] counts_o,
    input logic link_up_i,
    input logic rx_clk_i,
    input logic rx_reset_i,
    input logic s_tvalid_i,
    input logic [511:0] s_tdata_i,
    input logic [63:0] s_tkeep_i,
    input logic s_tlast_i,
    input logic s_tuser_i,
    input logic tx_clk_i,
    input logic tx_reset_i,
    output logic m_tvalid_o,
    input logic m_tready_i,
    output logic [511:0] m_tdata_o,
    output logic [63:0] m_tkeep_o,
    output logic m_tlast_o,
    output logic m_tuser_o
);

  mrc_fpga_lane #(
      .MaxWords(6),
      .RxDepth(16),
      .TxDepth(16),
      .WaitCycles(100)
  ) u_lane (
      .*
  );

endmodule
