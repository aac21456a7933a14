// SPDX-License-Identifier: Apache-2.0

/// Two ports with three lanes behind them, planes 0 and 2 on port 0, plane 1 on port 1; small
/// FIFOs, so that a bench fills them: frames of up to 6 words. The bench is the MACs, the core and
/// the shell's NIC.
module mrc_fpga_ports_bench (
    input logic clk_i,
    input logic rst_ni,
    input logic [1:0][47:0] mac_i,
    input logic [2:0][127:0] ip_i,
    input logic [2:0][47:0] usid_i,
    input logic [15:0] udp_port_i,
    input logic udp_only_i,
    input logic promisc_i,
    input logic side_i,
    output logic [1:0][12:0][31:0] counts_o,
    output logic [2:0][9:0][31:0] lane_counts_o,

    input logic [2:0] tvalid_i,
    output logic [2:0] tready_o,
    input logic [2:0][255:0] tdata_i,
    input logic [2:0][31:0] tkeep_i,
    input logic [2:0] tlast_i,
    output logic [2:0] tvalid_o,
    output logic [2:0][255:0] tdata_o,
    output logic [2:0][31:0] tkeep_o,
    output logic [2:0] tlast_o,
    output logic [2:0] tuser_o,
    output logic [1:0] side_rx_tvalid_o,
    input logic [1:0] side_rx_tready_i,
    output logic [1:0][511:0] side_rx_tdata_o,
    output logic [1:0][63:0] side_rx_tkeep_o,
    output logic [1:0] side_rx_tlast_o,
    output logic [1:0] side_rx_tuser_o,
    input logic [1:0] side_tx_tvalid_i,
    output logic [1:0] side_tx_tready_o,
    input logic [1:0][511:0] side_tx_tdata_i,
    input logic [1:0][63:0] side_tx_tkeep_i,
    input logic [1:0] side_tx_tlast_i,

    input logic [1:0] link_up_i,
    input logic [1:0] rx_clk_i,
    input logic [1:0] rx_reset_i,
    input logic [1:0] s_tvalid_i,
    input logic [1:0][511:0] s_tdata_i,
    input logic [1:0][63:0] s_tkeep_i,
    input logic [1:0] s_tlast_i,
    input logic [1:0] s_tuser_i,
    input logic [1:0] tx_clk_i,
    input logic [1:0] tx_reset_i,
    output logic [1:0] m_tvalid_o,
    input logic [1:0] m_tready_i,
    output logic [1:0][511:0] m_tdata_o,
    output logic [1:0][63:0] m_tkeep_o,
    output logic [1:0] m_tlast_o,
    output logic [1:0] m_tuser_o
);

  logic [2:0] link_up, rx_clk, rx_reset, rx_tvalid, rx_tlast, rx_tuser, unused_link_up;
  logic [2:0] tx_clk, tx_reset, tx_tvalid, tx_tready, tx_tlast, tx_tuser;
  logic [2:0][511:0] rx_tdata, tx_tdata;
  logic [2:0][63:0] rx_tkeep, tx_tkeep;

  mrc_fpga_ports #(
      .NumPlanes(3),
      .NumPorts(2),
      .MaxWords(6),
      .SideRxDepth(16),
      .SideTxDepth(16),
      .WaitCycles(100)
  ) u_ports (
      .lane_link_up_o(link_up),
      .lane_rx_clk_o(rx_clk),
      .lane_rx_reset_o(rx_reset),
      .lane_rx_tvalid_o(rx_tvalid),
      .lane_rx_tdata_o(rx_tdata),
      .lane_rx_tkeep_o(rx_tkeep),
      .lane_rx_tlast_o(rx_tlast),
      .lane_rx_tuser_o(rx_tuser),
      .lane_tx_clk_o(tx_clk),
      .lane_tx_reset_o(tx_reset),
      .lane_tx_tvalid_i(tx_tvalid),
      .lane_tx_tready_o(tx_tready),
      .lane_tx_tdata_i(tx_tdata),
      .lane_tx_tkeep_i(tx_tkeep),
      .lane_tx_tlast_i(tx_tlast),
      .lane_tx_tuser_i(tx_tuser),
      .*
  );

  for (genvar p = 0; p < 3; p++) begin : gen_lane
    mrc_fpga_lane #(
        .MaxWords(6),
        .RxDepth(32),
        .TxDepth(16),
        .WaitCycles(100)
    ) u_lane (
        .clk_i,
        .rst_ni,
        .link_up_o(unused_link_up[p]),
        .tvalid_i(tvalid_i[p]),
        .tready_o(tready_o[p]),
        .tdata_i(tdata_i[p]),
        .tkeep_i(tkeep_i[p]),
        .tlast_i(tlast_i[p]),
        .tvalid_o(tvalid_o[p]),
        .tdata_o(tdata_o[p]),
        .tkeep_o(tkeep_o[p]),
        .tlast_o(tlast_o[p]),
        .tuser_o(tuser_o[p]),
        .counts_o(lane_counts_o[p]),
        .link_up_i(link_up[p]),
        .rx_clk_i(rx_clk[p]),
        .rx_reset_i(rx_reset[p]),
        .s_tvalid_i(rx_tvalid[p]),
        .s_tdata_i(rx_tdata[p]),
        .s_tkeep_i(rx_tkeep[p]),
        .s_tlast_i(rx_tlast[p]),
        .s_tuser_i(rx_tuser[p]),
        .tx_clk_i(tx_clk[p]),
        .tx_reset_i(tx_reset[p]),
        .m_tvalid_o(tx_tvalid[p]),
        .m_tready_i(tx_tready[p]),
        .m_tdata_o(tx_tdata[p]),
        .m_tkeep_o(tx_tkeep[p]),
        .m_tlast_o(tx_tlast[p]),
        .m_tuser_o(tx_tuser[p])
    );
  end

endmodule
