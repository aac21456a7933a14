// SPDX-License-Identifier: Apache-2.0

/// mrc_fpga_map for two planes with a short limit and counters that wrap around soon. The bench is
/// the shell and the core.
module mrc_fpga_map_bench (
    input logic clk_i,
    input logic rst_ni,

    input logic s_axil_awvalid_i,
    output logic s_axil_awready_o,
    input logic [15:0] s_axil_awaddr_i,
    input logic s_axil_wvalid_i,
    output logic s_axil_wready_o,
    input logic [31:0] s_axil_wdata_i,
    input logic [3:0] s_axil_wstrb_i,
    output logic s_axil_bvalid_o,
    input logic s_axil_bready_i,
    output logic [1:0] s_axil_bresp_o,
    input logic s_axil_arvalid_i,
    output logic s_axil_arready_o,
    input logic [15:0] s_axil_araddr_i,
    output logic s_axil_rvalid_o,
    input logic s_axil_rready_i,
    output logic [31:0] s_axil_rdata_o,
    output logic [1:0] s_axil_rresp_o,

    output logic m_axil_awvalid_o,
    input logic m_axil_awready_i,
    output logic [15:0] m_axil_awaddr_o,
    output logic m_axil_wvalid_o,
    input logic m_axil_wready_i,
    output logic [31:0] m_axil_wdata_o,
    output logic [3:0] m_axil_wstrb_o,
    input logic m_axil_bvalid_i,
    output logic m_axil_bready_o,
    input logic [1:0] m_axil_bresp_i,
    output logic m_axil_arvalid_o,
    input logic m_axil_arready_i,
    output logic [15:0] m_axil_araddr_o,
    input logic m_axil_rvalid_i,
    output logic m_axil_rready_o,
    input logic [31:0] m_axil_rdata_i,
    input logic [1:0] m_axil_rresp_i,

    input logic [639:0] lane_counts_i,
    input logic [1:0] link_up_i
);

  mrc_fpga_map #(
      .NumPlanes(2),
      .PortBytes(32),
      .HostBytes(64),
      .WaitCycles(40),
      .CountW(4),
      .BuildId(32'h2026_0042)
  ) u_map (
      .*
  );

endmodule
