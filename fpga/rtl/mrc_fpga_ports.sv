// SPDX-License-Identifier: Apache-2.0

/// The ports of a board between MACs and lanes: plane p is on port PlanePort[p]. See
/// docs/design/boards/classify.md. Flat vectors: port k and plane p have the k-th and p-th slice;
/// lane_* are the pins of mrc_fpga_nic, its clocks among them.
module mrc_fpga_ports #(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumPorts = 2,
    parameter logic [7:0][3:0] PlanePort = {
        4'(7 % NumPorts),
        4'(6 % NumPorts),
        4'(5 % NumPorts),
        4'(4 % NumPorts),
        4'(3 % NumPorts),
        4'(2 % NumPorts),
        4'(1 % NumPorts),
        4'd0
    },
    parameter int unsigned MaxWords = 70,
    parameter int unsigned SideRxDepth = 256,
    parameter int unsigned SideTxDepth = 256,
    parameter int unsigned WaitCycles = 2500,
    localparam int unsigned WordBytes = 64,
    localparam int unsigned NumCounts = 13
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [NumPorts*48-1:0] mac_i,
    input logic [NumPlanes*128-1:0] ip_i,
    input logic [NumPlanes*48-1:0] usid_i,
    input logic [15:0] udp_port_i,
    input logic udp_only_i,
    input logic promisc_i,
    input logic side_i,
    output logic [NumPorts*NumCounts*32-1:0] counts_o,

    output logic [NumPorts-1:0] side_rx_tvalid_o,
    input logic [NumPorts-1:0] side_rx_tready_i,
    output logic [NumPorts*WordBytes*8-1:0] side_rx_tdata_o,
    output logic [NumPorts*WordBytes-1:0] side_rx_tkeep_o,
    output logic [NumPorts-1:0] side_rx_tlast_o,
    output logic [NumPorts-1:0] side_rx_tuser_o,
    input logic [NumPorts-1:0] side_tx_tvalid_i,
    output logic [NumPorts-1:0] side_tx_tready_o,
    input logic [NumPorts*WordBytes*8-1:0] side_tx_tdata_i,
    input logic [NumPorts*WordBytes-1:0] side_tx_tkeep_i,
    input logic [NumPorts-1:0] side_tx_tlast_i,

    input logic [NumPorts-1:0] link_up_i,
    input logic [NumPorts-1:0] rx_clk_i,
    input logic [NumPorts-1:0] rx_reset_i,
    input logic [NumPorts-1:0] s_tvalid_i,
    input logic [NumPorts*WordBytes*8-1:0] s_tdata_i,
    input logic [NumPorts*WordBytes-1:0] s_tkeep_i,
    input logic [NumPorts-1:0] s_tlast_i,
    input logic [NumPorts-1:0] s_tuser_i,
    input logic [NumPorts-1:0] tx_clk_i,
    input logic [NumPorts-1:0] tx_reset_i,
    output logic [NumPorts-1:0] m_tvalid_o,
    input logic [NumPorts-1:0] m_tready_i,
    output logic [NumPorts*WordBytes*8-1:0] m_tdata_o,
    output logic [NumPorts*WordBytes-1:0] m_tkeep_o,
    output logic [NumPorts-1:0] m_tlast_o,
    output logic [NumPorts-1:0] m_tuser_o,

    output logic [NumPlanes-1:0] lane_link_up_o,
    output logic [NumPlanes-1:0] lane_rx_clk_o,
    output logic [NumPlanes-1:0] lane_rx_reset_o,
    output logic [NumPlanes-1:0] lane_rx_tvalid_o,
    output logic [NumPlanes*WordBytes*8-1:0] lane_rx_tdata_o,
    output logic [NumPlanes*WordBytes-1:0] lane_rx_tkeep_o,
    output logic [NumPlanes-1:0] lane_rx_tlast_o,
    output logic [NumPlanes-1:0] lane_rx_tuser_o,
    output logic [NumPlanes-1:0] lane_tx_clk_o,
    output logic [NumPlanes-1:0] lane_tx_reset_o,
    input logic [NumPlanes-1:0] lane_tx_tvalid_i,
    output logic [NumPlanes-1:0] lane_tx_tready_o,
    input logic [NumPlanes*WordBytes*8-1:0] lane_tx_tdata_i,
    input logic [NumPlanes*WordBytes-1:0] lane_tx_tkeep_i,
    input logic [NumPlanes-1:0] lane_tx_tlast_i,
    input logic [NumPlanes-1:0] lane_tx_tuser_i
);

  if (NumPlanes < 1 || NumPlanes > 8 || NumPorts < 1 || NumPorts > 8) begin : gen_bad_number
    $error("%m: NumPlanes = %0d and NumPorts = %0d must be 1 to 8", NumPlanes, NumPorts);
  end
  for (genvar p = 0; p < NumPlanes; p++) begin : gen_check
    if (32'(PlanePort[p]) >= NumPorts) begin : gen_bad_port
      $error("%m: plane %0d is on port %0d, which there is not", p, PlanePort[p]);
    end
  end

  function automatic logic [NumPlanes-1:0] planes_of(int unsigned port);
    for (int unsigned p = 0; p < NumPlanes; p++) begin
      planes_of[p] = 32'(PlanePort[p]) == port;
    end
  endfunction

  logic [NumPorts-1:0] rx_reset, rx_last, rx_user;
  logic [NumPorts-1:0][NumPlanes-1:0] rx_valid, tx_ready;
  logic [NumPorts-1:0][WordBytes*8-1:0] rx_data;
  logic [NumPorts-1:0][WordBytes-1:0] rx_keep;

  for (genvar k = 0; k < NumPorts; k++) begin : gen_port
    mrc_fpga_port #(
        .NumPlanes(NumPlanes),
        .Planes(planes_of(k)),
        .MaxWords(MaxWords),
        .SideRxDepth(SideRxDepth),
        .SideTxDepth(SideTxDepth),
        .WaitCycles(WaitCycles)
    ) u_port (
        .clk_i,
        .rst_ni,
        .mac_i(mac_i[k*48+:48]),
        .ip_i,
        .usid_i,
        .udp_port_i,
        .udp_only_i,
        .promisc_i,
        .side_i,
        .counts_o(counts_o[k*NumCounts*32+:NumCounts*32]),
        .side_rx_tvalid_o(side_rx_tvalid_o[k]),
        .side_rx_tready_i(side_rx_tready_i[k]),
        .side_rx_tdata_o(side_rx_tdata_o[k*WordBytes*8+:WordBytes*8]),
        .side_rx_tkeep_o(side_rx_tkeep_o[k*WordBytes+:WordBytes]),
        .side_rx_tlast_o(side_rx_tlast_o[k]),
        .side_rx_tuser_o(side_rx_tuser_o[k]),
        .side_tx_tvalid_i(side_tx_tvalid_i[k]),
        .side_tx_tready_o(side_tx_tready_o[k]),
        .side_tx_tdata_i(side_tx_tdata_i[k*WordBytes*8+:WordBytes*8]),
        .side_tx_tkeep_i(side_tx_tkeep_i[k*WordBytes+:WordBytes]),
        .side_tx_tlast_i(side_tx_tlast_i[k]),
        .link_up_i(link_up_i[k]),
        .rx_clk_i(rx_clk_i[k]),
        .rx_reset_i(rx_reset_i[k]),
        .s_tvalid_i(s_tvalid_i[k]),
        .s_tdata_i(s_tdata_i[k*WordBytes*8+:WordBytes*8]),
        .s_tkeep_i(s_tkeep_i[k*WordBytes+:WordBytes]),
        .s_tlast_i(s_tlast_i[k]),
        .s_tuser_i(s_tuser_i[k]),
        .tx_clk_i(tx_clk_i[k]),
        .tx_reset_i(tx_reset_i[k]),
        .m_tvalid_o(m_tvalid_o[k]),
        .m_tready_i(m_tready_i[k]),
        .m_tdata_o(m_tdata_o[k*WordBytes*8+:WordBytes*8]),
        .m_tkeep_o(m_tkeep_o[k*WordBytes+:WordBytes]),
        .m_tlast_o(m_tlast_o[k]),
        .m_tuser_o(m_tuser_o[k]),
        .lane_rx_reset_o(rx_reset[k]),
        .lane_rx_tvalid_o(rx_valid[k]),
        .lane_rx_tdata_o(rx_data[k]),
        .lane_rx_tkeep_o(rx_keep[k]),
        .lane_rx_tlast_o(rx_last[k]),
        .lane_rx_tuser_o(rx_user[k]),
        .lane_tx_tvalid_i,
        .lane_tx_tready_o(tx_ready[k]),
        .lane_tx_tdata_i,
        .lane_tx_tkeep_i,
        .lane_tx_tlast_i,
        .lane_tx_tuser_i
    );
  end

  for (genvar p = 0; p < NumPlanes; p++) begin : gen_lane
    localparam int unsigned Port = 32'(PlanePort[p]);
    assign lane_link_up_o[p] = link_up_i[Port];
    assign lane_rx_clk_o[p] = rx_clk_i[Port];
    assign lane_rx_reset_o[p] = rx_reset[Port];
    assign lane_rx_tvalid_o[p] = rx_valid[Port][p];
    assign lane_rx_tdata_o[p*WordBytes*8+:WordBytes*8] = rx_data[Port];
    assign lane_rx_tkeep_o[p*WordBytes+:WordBytes] = rx_keep[Port];
    assign lane_rx_tlast_o[p] = rx_last[Port];
    assign lane_rx_tuser_o[p] = rx_user[Port];
    assign lane_tx_clk_o[p] = tx_clk_i[Port];
    assign lane_tx_reset_o[p] = tx_reset_i[Port];
    assign lane_tx_tready_o[p] = tx_ready[Port][p];
  end

endmodule
