// SPDX-License-Identifier: Apache-2.0
// What mrc_opennic_322mhz uses of the shell and what is around it: names and widths, for lint.

/// The shell's reset pair for a plugin: a reset for each clock, and when it is done.
module generic_reset #(
    parameter int NUM_INPUT_CLK = 1
) (
    input logic mod_rstn,
    output logic mod_rst_done,
    input logic [NUM_INPUT_CLK-1:0] clk,
    output logic [NUM_INPUT_CLK-1:0] rstn
);
endmodule

/// The shell's AXI4-Lite between two clocks.
module axi_lite_clock_converter (
    input logic s_axi_aclk,
    input logic s_axi_aresetn,
    input logic [31:0] s_axi_awaddr,
    input logic [2:0] s_axi_awprot,
    input logic s_axi_awvalid,
    output logic s_axi_awready,
    input logic [31:0] s_axi_wdata,
    input logic [3:0] s_axi_wstrb,
    input logic s_axi_wvalid,
    output logic s_axi_wready,
    output logic [1:0] s_axi_bresp,
    output logic s_axi_bvalid,
    input logic s_axi_bready,
    input logic [31:0] s_axi_araddr,
    input logic [2:0] s_axi_arprot,
    input logic s_axi_arvalid,
    output logic s_axi_arready,
    output logic [31:0] s_axi_rdata,
    output logic [1:0] s_axi_rresp,
    output logic s_axi_rvalid,
    input logic s_axi_rready,
    input logic m_axi_aclk,
    input logic m_axi_aresetn,
    output logic [31:0] m_axi_awaddr,
    output logic [2:0] m_axi_awprot,
    output logic m_axi_awvalid,
    input logic m_axi_awready,
    output logic [31:0] m_axi_wdata,
    output logic [3:0] m_axi_wstrb,
    output logic m_axi_wvalid,
    input logic m_axi_wready,
    input logic [1:0] m_axi_bresp,
    input logic m_axi_bvalid,
    output logic m_axi_bready,
    output logic [31:0] m_axi_araddr,
    output logic [2:0] m_axi_arprot,
    output logic m_axi_arvalid,
    input logic m_axi_arready,
    input logic [31:0] m_axi_rdata,
    input logic [1:0] m_axi_rresp,
    input logic m_axi_rvalid,
    output logic m_axi_rready
);
endmodule

/// The user box: a plugin in it, with pins as wide as the shell's, and those that are to be added.
module opennic_box #(
    parameter int NUM_CMAC_PORT = 2
) (
    input logic s_axil_awvalid,
    input logic [31:0] s_axil_awaddr,
    output logic s_axil_awready,
    input logic s_axil_wvalid,
    input logic [31:0] s_axil_wdata,
    output logic s_axil_wready,
    output logic s_axil_bvalid,
    output logic [1:0] s_axil_bresp,
    input logic s_axil_bready,
    input logic s_axil_arvalid,
    input logic [31:0] s_axil_araddr,
    output logic s_axil_arready,
    output logic s_axil_rvalid,
    output logic [31:0] s_axil_rdata,
    output logic [1:0] s_axil_rresp,
    input logic s_axil_rready,
    input logic [NUM_CMAC_PORT-1:0] s_axis_adap_tx_322mhz_tvalid,
    input logic [512*NUM_CMAC_PORT-1:0] s_axis_adap_tx_322mhz_tdata,
    input logic [64*NUM_CMAC_PORT-1:0] s_axis_adap_tx_322mhz_tkeep,
    input logic [NUM_CMAC_PORT-1:0] s_axis_adap_tx_322mhz_tlast,
    input logic [NUM_CMAC_PORT-1:0] s_axis_adap_tx_322mhz_tuser_err,
    output logic [NUM_CMAC_PORT-1:0] s_axis_adap_tx_322mhz_tready,
    output logic [NUM_CMAC_PORT-1:0] m_axis_adap_rx_322mhz_tvalid,
    output logic [512*NUM_CMAC_PORT-1:0] m_axis_adap_rx_322mhz_tdata,
    output logic [64*NUM_CMAC_PORT-1:0] m_axis_adap_rx_322mhz_tkeep,
    output logic [NUM_CMAC_PORT-1:0] m_axis_adap_rx_322mhz_tlast,
    output logic [NUM_CMAC_PORT-1:0] m_axis_adap_rx_322mhz_tuser_err,
    output logic [NUM_CMAC_PORT-1:0] m_axis_cmac_tx_tvalid,
    output logic [512*NUM_CMAC_PORT-1:0] m_axis_cmac_tx_tdata,
    output logic [64*NUM_CMAC_PORT-1:0] m_axis_cmac_tx_tkeep,
    output logic [NUM_CMAC_PORT-1:0] m_axis_cmac_tx_tlast,
    output logic [NUM_CMAC_PORT-1:0] m_axis_cmac_tx_tuser_err,
    input logic [NUM_CMAC_PORT-1:0] m_axis_cmac_tx_tready,
    input logic [NUM_CMAC_PORT-1:0] s_axis_cmac_rx_tvalid,
    input logic [512*NUM_CMAC_PORT-1:0] s_axis_cmac_rx_tdata,
    input logic [64*NUM_CMAC_PORT-1:0] s_axis_cmac_rx_tkeep,
    input logic [NUM_CMAC_PORT-1:0] s_axis_cmac_rx_tlast,
    input logic [NUM_CMAC_PORT-1:0] s_axis_cmac_rx_tuser_err,
    input logic mod_rstn,
    output logic mod_rst_done,
    input logic axil_aclk,
    input logic [NUM_CMAC_PORT-1:0] cmac_clk,

    // The core's clock, 250 MHz; links and resets of the CMACs, the latter in their clocks.
    input logic core_clk,
    input logic [NUM_CMAC_PORT-1:0] cmac_link_up,
    input logic [NUM_CMAC_PORT-1:0] cmac_reset,
    output logic irq,
    output logic [3:0] ring_irq,

    // Card memory, in core_clk, reset with core_rstn.
    output logic core_rstn,
    output logic m_axi_awvalid,
    input logic m_axi_awready,
    output logic [1:0] m_axi_awid,
    output logic [63:0] m_axi_awaddr,
    output logic [7:0] m_axi_awlen,
    output logic [2:0] m_axi_awsize,
    output logic [1:0] m_axi_awburst,
    output logic m_axi_wvalid,
    input logic m_axi_wready,
    output logic [511:0] m_axi_wdata,
    output logic [63:0] m_axi_wstrb,
    output logic m_axi_wlast,
    input logic m_axi_bvalid,
    output logic m_axi_bready,
    input logic [1:0] m_axi_bid,
    input logic [1:0] m_axi_bresp,
    output logic m_axi_arvalid,
    input logic m_axi_arready,
    output logic [1:0] m_axi_arid,
    output logic [63:0] m_axi_araddr,
    output logic [7:0] m_axi_arlen,
    output logic [2:0] m_axi_arsize,
    output logic [1:0] m_axi_arburst,
    input logic m_axi_rvalid,
    output logic m_axi_rready,
    input logic [1:0] m_axi_rid,
    input logic [511:0] m_axi_rdata,
    input logic [1:0] m_axi_rresp,
    input logic m_axi_rlast
);

  mrc_opennic_322mhz #(
      .NUM_CMAC_PORT(NUM_CMAC_PORT)
  ) u_plugin (
      .*
  );

endmodule
