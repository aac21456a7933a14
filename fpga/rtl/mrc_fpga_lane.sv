// SPDX-License-Identifier: Apache-2.0

/// A lane between a MAC with its two clocks and the core: mrc_fpga_rx, mrc_fpga_tx, and the resets
/// and levels that cross. rst_ni is the core's reset, already in clk_i; the MAC's own resets
/// (tx_reset_i, rx_reset_i, levels in the MAC's clocks, 1 means reset) cut frames and clear
/// nothing. link_up_i may come from any clock.
module mrc_fpga_lane #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned PortBytes = 32,
    parameter int unsigned MaxWords = 70,
    parameter int unsigned RxDepth = 512,
    parameter int unsigned TxDepth = 256,
    parameter int unsigned WaitCycles = 2500
) (
    input logic clk_i,
    input logic rst_ni,
    output logic link_up_o,
    input logic tvalid_i,
    output logic tready_o,
    input logic [PortBytes*8-1:0] tdata_i,
    input logic [PortBytes-1:0] tkeep_i,
    input logic tlast_i,
    output logic tvalid_o,
    output logic [PortBytes*8-1:0] tdata_o,
    output logic [PortBytes-1:0] tkeep_o,
    output logic tlast_o,
    output logic tuser_o,
    output logic [9:0][31:0] counts_o,

    input logic link_up_i,
    input logic rx_clk_i,
    input logic rx_reset_i,
    input logic s_tvalid_i,
    input logic [WordBytes*8-1:0] s_tdata_i,
    input logic [WordBytes-1:0] s_tkeep_i,
    input logic s_tlast_i,
    input logic s_tuser_i,
    input logic tx_clk_i,
    input logic tx_reset_i,
    output logic m_tvalid_o,
    input logic m_tready_i,
    output logic [WordBytes*8-1:0] m_tdata_o,
    output logic [WordBytes-1:0] m_tkeep_o,
    output logic m_tlast_o,
    output logic m_tuser_o
);

  logic rx_rst_n, tx_rst_n;

  mrc_fpga_reset u_rx_reset (
      .clk_i(rx_clk_i),
      .rst_ni,
      .rst_no(rx_rst_n)
  );
  mrc_fpga_reset u_tx_reset (
      .clk_i(tx_clk_i),
      .rst_ni,
      .rst_no(tx_rst_n)
  );
  mrc_fpga_sync u_link (
      .clk_i,
      .rst_ni,
      .d_i(link_up_i),
      .q_o(link_up_o)
  );

  mrc_fpga_rx #(
      .WordBytes(WordBytes),
      .PortBytes(PortBytes),
      .MaxWords(MaxWords),
      .Depth(RxDepth)
  ) u_rx (
      .mac_clk_i(rx_clk_i),
      .mac_rst_ni(rx_rst_n),
      .mac_reset_i(rx_reset_i),
      .s_tvalid_i,
      .s_tdata_i,
      .s_tkeep_i,
      .s_tlast_i,
      .s_tuser_i,
      .clk_i,
      .rst_ni,
      .tvalid_o,
      .tdata_o,
      .tkeep_o,
      .tlast_o,
      .tuser_o,
      .cnt_frames_o(counts_o[0]),
      .cnt_full_o(counts_o[1]),
      .cnt_long_o(counts_o[2]),
      .cnt_cut_o(counts_o[3]),
      .cnt_bad_o(counts_o[4])
  );

  mrc_fpga_tx #(
      .WordBytes(WordBytes),
      .PortBytes(PortBytes),
      .MaxWords(MaxWords),
      .Depth(TxDepth),
      .WaitCycles(WaitCycles)
  ) u_tx (
      .clk_i,
      .rst_ni,
      .up_i(link_up_o),
      .tvalid_i,
      .tready_o,
      .tdata_i,
      .tkeep_i,
      .tlast_i,
      .mac_clk_i(tx_clk_i),
      .mac_rst_ni(tx_rst_n),
      .mac_reset_i(tx_reset_i),
      .m_tvalid_o,
      .m_tready_i,
      .m_tdata_o,
      .m_tkeep_o,
      .m_tlast_o,
      .m_tuser_o,
      .cnt_frames_o(counts_o[5]),
      .cnt_drop_o(counts_o[6]),
      .cnt_long_o(counts_o[7]),
      .cnt_cut_o(counts_o[8]),
      .cnt_flush_o(counts_o[9])
  );

endmodule
