// SPDX-License-Identifier: Apache-2.0

/// A NIC for a shell: the core of preset fpga100, or of tiny for benches, with its registers on
/// AXI4-Lite (mrc_fpga_map), host memory on AXI4 (mrc_fpga_host), and a lane per plane, each in the
/// clocks of its MAC (mrc_fpga_nic). Flat names and plain vectors at the boundary: plane p has the
/// p-th slice of each lane pin, wqe and cqe are packed as docs/generated/streams.md says. All but
/// the lanes is in clk_i. rst_ni may come from anywhere, and resets the memory's bus too; the core
/// alone is reset by register. It has no MAC, no memory, no rings of work requests.
/// Contract: docs/boards/top.md.
module mrc_fpga_top
  import mrc_pkg::*;
#(
    parameter bit Tiny = 0,
    parameter logic [31:0] BuildId = 32'd0,
    localparam int unsigned NumPlanes = 2,
    localparam int unsigned PortBytes = Tiny ? 16 : 32,
    localparam int unsigned HostBytes = Tiny ? 32 : 64,
    localparam int unsigned NumQps = Tiny ? 4 : 16,
    localparam int unsigned WordBytes = 64,
    localparam int unsigned IdW = 1
) (
    input logic clk_i,
    input logic rst_ni,
    output logic irq_o,

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

    input logic wqe_valid_i,
    output logic wqe_ready_o,
    input logic [$bits(wqe_t)-1:0] wqe_data_i,
    output logic cqe_valid_o,
    input logic cqe_ready_i,
    output logic [$bits(cqe_t)-1:0] cqe_data_o,

    output logic m_axi_awvalid_o,
    input logic m_axi_awready_i,
    output logic [IdW-1:0] m_axi_awid_o,
    output logic [63:0] m_axi_awaddr_o,
    output logic [7:0] m_axi_awlen_o,
    output logic [2:0] m_axi_awsize_o,
    output logic [1:0] m_axi_awburst_o,
    output logic m_axi_wvalid_o,
    input logic m_axi_wready_i,
    output logic [HostBytes*8-1:0] m_axi_wdata_o,
    output logic [HostBytes-1:0] m_axi_wstrb_o,
    output logic m_axi_wlast_o,
    input logic m_axi_bvalid_i,
    output logic m_axi_bready_o,
    input logic [IdW-1:0] m_axi_bid_i,
    input logic [1:0] m_axi_bresp_i,
    output logic m_axi_arvalid_o,
    input logic m_axi_arready_i,
    output logic [IdW-1:0] m_axi_arid_o,
    output logic [63:0] m_axi_araddr_o,
    output logic [7:0] m_axi_arlen_o,
    output logic [2:0] m_axi_arsize_o,
    output logic [1:0] m_axi_arburst_o,
    input logic m_axi_rvalid_i,
    output logic m_axi_rready_o,
    input logic [IdW-1:0] m_axi_rid_i,
    input logic [HostBytes*8-1:0] m_axi_rdata_i,
    input logic [1:0] m_axi_rresp_i,
    input logic m_axi_rlast_i,

    input logic [NumPlanes-1:0] lane_link_up_i,
    input logic [NumPlanes-1:0] lane_rx_clk_i,
    input logic [NumPlanes-1:0] lane_rx_reset_i,
    input logic [NumPlanes-1:0] lane_rx_tvalid_i,
    input logic [NumPlanes*WordBytes*8-1:0] lane_rx_tdata_i,
    input logic [NumPlanes*WordBytes-1:0] lane_rx_tkeep_i,
    input logic [NumPlanes-1:0] lane_rx_tlast_i,
    input logic [NumPlanes-1:0] lane_rx_tuser_i,
    input logic [NumPlanes-1:0] lane_tx_clk_i,
    input logic [NumPlanes-1:0] lane_tx_reset_i,
    output logic [NumPlanes-1:0] lane_tx_tvalid_o,
    input logic [NumPlanes-1:0] lane_tx_tready_i,
    output logic [NumPlanes*WordBytes*8-1:0] lane_tx_tdata_o,
    output logic [NumPlanes*WordBytes-1:0] lane_tx_tkeep_o,
    output logic [NumPlanes-1:0] lane_tx_tlast_o,
    output logic [NumPlanes-1:0] lane_tx_tuser_o
);

  logic rst_n, core_rst_n;

  mrc_fpga_reset u_reset (
      .clk_i,
      .rst_ni,
      .rst_no(rst_n)
  );

  // ---- registers

  logic m_axil_awvalid, m_axil_awready, m_axil_wvalid, m_axil_wready, m_axil_bvalid, m_axil_bready;
  logic m_axil_arvalid, m_axil_arready, m_axil_rvalid, m_axil_rready;
  logic [15:0] m_axil_awaddr, m_axil_araddr;
  logic [31:0] m_axil_wdata, m_axil_rdata, clear;
  logic [3:0] m_axil_wstrb;
  logic [2:0] state;
  logic [1:0] m_axil_bresp, m_axil_rresp;
  logic hold_we, hold_to, hold, run;
  logic [NumPlanes*320-1:0] lane_counts;
  logic [NumPlanes-1:0] link_up;
  logic [255:0] host_regs;

  assign run = state[0];

  mrc_fpga_map #(
      .NumPlanes(NumPlanes),
      .PortBytes(PortBytes),
      .HostBytes(HostBytes),
      .BuildId(BuildId)
  ) u_map (
      .rst_ni(rst_n),
      .m_axil_awvalid_o(m_axil_awvalid),
      .m_axil_awready_i(m_axil_awready),
      .m_axil_awaddr_o(m_axil_awaddr),
      .m_axil_wvalid_o(m_axil_wvalid),
      .m_axil_wready_i(m_axil_wready),
      .m_axil_wdata_o(m_axil_wdata),
      .m_axil_wstrb_o(m_axil_wstrb),
      .m_axil_bvalid_i(m_axil_bvalid),
      .m_axil_bready_o(m_axil_bready),
      .m_axil_bresp_i(m_axil_bresp),
      .m_axil_arvalid_o(m_axil_arvalid),
      .m_axil_arready_i(m_axil_arready),
      .m_axil_araddr_o(m_axil_araddr),
      .m_axil_rvalid_i(m_axil_rvalid),
      .m_axil_rready_o(m_axil_rready),
      .m_axil_rdata_i(m_axil_rdata),
      .m_axil_rresp_i(m_axil_rresp),
      .lane_counts_i(lane_counts),
      .link_up_i(link_up),
      .hold_we_o(hold_we),
      .hold_o(hold_to),
      .hold_i(hold),
      .state_i(state),
      .clear_o(clear),
      .host_i(host_regs),
      .*
  );

  // ---- core and lanes

  logic core_wqe_ready, core_cqe_valid, core_cqe_ready;
  logic host_wr_valid, host_wr_ready, host_wr_last, host_rd_valid, host_rd_ready, host_rsp_valid;
  logic [63:0] host_wr_addr;
  logic [7:0] host_wr_len;
  logic [3:0] host_wr_plane, host_rsp_plane;
  logic [15:0] host_wr_qp;
  logic [HostBytes*8-1:0] host_wr_data, host_rsp_data;
  rdreq_t host_rd;
  logic host_rsp_err, host_fail_valid, host_fail_ready;
  qperr_t host_fail;
  cqe_t core_cqe, cqe;

  mrc_fpga_nic #(
      .Tiny(Tiny)
  ) u_nic (
      .rst_ni(core_rst_n),
      .s_axil_awvalid_i(m_axil_awvalid),
      .s_axil_awready_o(m_axil_awready),
      .s_axil_awaddr_i(m_axil_awaddr),
      .s_axil_wvalid_i(m_axil_wvalid),
      .s_axil_wready_o(m_axil_wready),
      .s_axil_wdata_i(m_axil_wdata),
      .s_axil_wstrb_i(m_axil_wstrb),
      .s_axil_bvalid_o(m_axil_bvalid),
      .s_axil_bready_i(m_axil_bready),
      .s_axil_bresp_o(m_axil_bresp),
      .s_axil_arvalid_i(m_axil_arvalid),
      .s_axil_arready_o(m_axil_arready),
      .s_axil_araddr_i(m_axil_araddr),
      .s_axil_rvalid_o(m_axil_rvalid),
      .s_axil_rready_i(m_axil_rready),
      .s_axil_rdata_o(m_axil_rdata),
      .s_axil_rresp_o(m_axil_rresp),
      .wqe_valid_i(wqe_valid_i && run),
      .wqe_ready_o(core_wqe_ready),
      .wqe_i(wqe_data_i),
      .cqe_valid_o(core_cqe_valid),
      .cqe_ready_i(core_cqe_ready),
      .cqe_o(core_cqe),
      .host_rd_valid_o(host_rd_valid),
      .host_rd_ready_i(host_rd_ready),
      .host_rd_o(host_rd),
      .host_rsp_valid_i(host_rsp_valid),
      .host_rsp_plane_i(host_rsp_plane),
      .host_rsp_data_i(host_rsp_data),
      .host_rsp_err_i(host_rsp_err),
      .host_fail_valid_i(host_fail_valid),
      .host_fail_ready_o(host_fail_ready),
      .host_fail_i(host_fail),
      .host_wr_valid_o(host_wr_valid),
      .host_wr_ready_i(host_wr_ready),
      .host_wr_addr_o(host_wr_addr),
      .host_wr_len_o(host_wr_len),
      .host_wr_last_o(host_wr_last),
      .host_wr_plane_o(host_wr_plane),
      .host_wr_qp_o(host_wr_qp),
      .host_wr_data_o(host_wr_data),
      .lane_counts_o(lane_counts),
      .link_up_o(link_up),
      .*
  );

  // A core in reset would take a work request and forget it.
  assign wqe_ready_o = core_wqe_ready && run;

  // ---- host memory

  mrc_fpga_host #(
      .WordBytes(HostBytes),
      .NumPlanes(NumPlanes),
      .NumQps(NumQps)
  ) u_host (
      .rst_ni(rst_n),
      .core_rst_no(core_rst_n),
      .hold_we_i(hold_we),
      .hold_i(hold_to),
      .hold_o(hold),
      .state_o(state),
      .clear_i(clear[NumQps-1:0]),
      .regs_o(host_regs),
      .host_wr_valid_i(host_wr_valid),
      .host_wr_ready_o(host_wr_ready),
      .host_wr_addr_i(host_wr_addr),
      .host_wr_len_i(host_wr_len),
      .host_wr_last_i(host_wr_last),
      .host_wr_plane_i(host_wr_plane),
      .host_wr_qp_i(host_wr_qp),
      .host_wr_data_i(host_wr_data),
      .host_rd_valid_i(host_rd_valid),
      .host_rd_ready_o(host_rd_ready),
      .host_rd_i(host_rd),
      .host_rsp_valid_o(host_rsp_valid),
      .host_rsp_plane_o(host_rsp_plane),
      .host_rsp_data_o(host_rsp_data),
      .host_rsp_err_o(host_rsp_err),
      .host_fail_valid_o(host_fail_valid),
      .host_fail_ready_i(host_fail_ready),
      .host_fail_o(host_fail),
      .cqe_valid_i(core_cqe_valid),
      .cqe_ready_o(core_cqe_ready),
      .cqe_i(core_cqe),
      .cqe_o(cqe),
      .*
  );

  assign cqe_data_o = cqe;

  logic unused_bits;
  assign unused_bits = ^{m_axi_bid_i, clear};

endmodule
