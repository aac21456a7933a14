// SPDX-License-Identifier: Apache-2.0

/// A NIC for a shell: the core of preset fpga100, or of tiny for benches, with its registers on
/// AXI4-Lite (mrc_fpga_map), host memory on AXI4 (mrc_fpga_host), and a lane per plane, each in the
/// clocks of its MAC (mrc_fpga_nic). Flat names and plain vectors at the boundary: MAC k has the
/// k-th slice of each lane pin, wqe and cqe are packed as docs/generated/streams.md says. All but
/// the lanes is in clk_i. rst_ni may come from anywhere, and resets the memory's bus too; the core
/// alone is reset by register. With Rings work requests and completions are in host memory
/// (mrc_fpga_rings), and the pins wqe and cqe are dead. With NumPorts planes are divided among so
/// many MACs (mrc_fpga_ports), whose other frames go to the side ports; with 0 a plane is a MAC,
/// and the side ports are dead. It has no MAC, no memory.
/// Contract: docs/boards/top.md.
module mrc_fpga_top
  import mrc_pkg::*;
#(
    parameter bit Tiny = 0,
    parameter logic [31:0] BuildId = 32'd0,
    parameter bit Rings = 0,
    parameter int unsigned NumCqs = 4,
    parameter int unsigned NumPorts = 0,
    localparam int unsigned NumPlanes = 2,
    localparam int unsigned NumMacs = (NumPorts == 0) ? NumPlanes : NumPorts,
    localparam int unsigned PortBytes = Tiny ? 16 : 32,
    localparam int unsigned HostBytes = Tiny ? 32 : 64,
    localparam int unsigned NumQps = Tiny ? 4 : 16,
    localparam int unsigned WordBytes = 64,
    localparam int unsigned SkinIdW = 1,
    localparam int unsigned IdW = Rings ? SkinIdW + 1 : SkinIdW
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
    output logic [NumCqs-1:0] ring_irq_o,
    output logic ring_error_o,

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

    output logic [NumMacs-1:0] side_rx_tvalid_o,
    input logic [NumMacs-1:0] side_rx_tready_i,
    output logic [NumMacs*WordBytes*8-1:0] side_rx_tdata_o,
    output logic [NumMacs*WordBytes-1:0] side_rx_tkeep_o,
    output logic [NumMacs-1:0] side_rx_tlast_o,
    output logic [NumMacs-1:0] side_rx_tuser_o,
    input logic [NumMacs-1:0] side_tx_tvalid_i,
    output logic [NumMacs-1:0] side_tx_tready_o,
    input logic [NumMacs*WordBytes*8-1:0] side_tx_tdata_i,
    input logic [NumMacs*WordBytes-1:0] side_tx_tkeep_i,
    input logic [NumMacs-1:0] side_tx_tlast_i,

    input logic [NumMacs-1:0] lane_link_up_i,
    input logic [NumMacs-1:0] lane_rx_clk_i,
    input logic [NumMacs-1:0] lane_rx_reset_i,
    input logic [NumMacs-1:0] lane_rx_tvalid_i,
    input logic [NumMacs*WordBytes*8-1:0] lane_rx_tdata_i,
    input logic [NumMacs*WordBytes-1:0] lane_rx_tkeep_i,
    input logic [NumMacs-1:0] lane_rx_tlast_i,
    input logic [NumMacs-1:0] lane_rx_tuser_i,
    input logic [NumMacs-1:0] lane_tx_clk_i,
    input logic [NumMacs-1:0] lane_tx_reset_i,
    output logic [NumMacs-1:0] lane_tx_tvalid_o,
    input logic [NumMacs-1:0] lane_tx_tready_i,
    output logic [NumMacs*WordBytes*8-1:0] lane_tx_tdata_o,
    output logic [NumMacs*WordBytes-1:0] lane_tx_tkeep_o,
    output logic [NumMacs-1:0] lane_tx_tlast_o,
    output logic [NumMacs-1:0] lane_tx_tuser_o
);

  logic rst_n, core_rst_n, skin_rst_n;

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
  logic ring_w_go, ring_w_done, ring_w_err, ring_r_go, ring_r_done, ring_r_err;
  logic [10:0] block_w_word, block_r_word;
  logic [31:0] block_w_data, ring_r_data;
  logic [3:0] block_w_strb;
  logic port_w_go, port_w_good, port_r_good;
  logic [31:0] port_r_data;

  assign run = state[0];

  mrc_fpga_map #(
      .NumPlanes(NumPlanes),
      .PortBytes(PortBytes),
      .HostBytes(HostBytes),
      .BuildId(BuildId),
      .Rings(Rings),
      .Ports(NumPorts != 0)
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
      .ring_w_go_o(ring_w_go),
      .block_w_word_o(block_w_word),
      .block_w_data_o(block_w_data),
      .block_w_strb_o(block_w_strb),
      .ring_w_done_i(ring_w_done),
      .ring_w_err_i(ring_w_err),
      .ring_r_go_o(ring_r_go),
      .block_r_word_o(block_r_word),
      .ring_r_done_i(ring_r_done),
      .ring_r_err_i(ring_r_err),
      .ring_r_data_i(ring_r_data),
      .ring_cut_i(!skin_rst_n),
      .port_w_go_o(port_w_go),
      .port_w_good_i(port_w_good),
      .port_r_good_i(port_r_good),
      .port_r_data_i(port_r_data),
      .*
  );

  // ---- core and lanes

  logic core_wqe_ready, core_cqe_valid, core_cqe_ready, post_valid, post_ready;
  logic host_wr_valid, host_wr_ready, host_wr_last, host_rd_valid, host_rd_ready, host_rsp_valid;
  logic [63:0] host_wr_addr;
  logic [7:0] host_wr_len;
  logic [3:0] host_wr_plane, host_rsp_plane;
  logic [15:0] host_wr_qp;
  logic [HostBytes*8-1:0] host_wr_data, host_rsp_data;
  rdreq_t host_rd;
  logic host_rsp_err, host_fail_valid, host_fail_ready;
  qperr_t host_fail;
  wqe_t post;
  cqe_t core_cqe;
  // The pins of planes.
  logic [NumPlanes-1:0] p_link_up, p_rx_clk, p_rx_reset, p_rx_tvalid, p_rx_tlast, p_rx_tuser;
  logic [NumPlanes-1:0] p_tx_clk, p_tx_reset, p_tx_tvalid, p_tx_tready, p_tx_tlast, p_tx_tuser;
  logic [NumPlanes*WordBytes*8-1:0] p_rx_tdata, p_tx_tdata;
  logic [NumPlanes*WordBytes-1:0] p_rx_tkeep, p_tx_tkeep;

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
      .wqe_valid_i(post_valid && run),
      .wqe_ready_o(core_wqe_ready),
      .wqe_i(post),
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
      .lane_link_up_i(p_link_up),
      .lane_rx_clk_i(p_rx_clk),
      .lane_rx_reset_i(p_rx_reset),
      .lane_rx_tvalid_i(p_rx_tvalid),
      .lane_rx_tdata_i(p_rx_tdata),
      .lane_rx_tkeep_i(p_rx_tkeep),
      .lane_rx_tlast_i(p_rx_tlast),
      .lane_rx_tuser_i(p_rx_tuser),
      .lane_tx_clk_i(p_tx_clk),
      .lane_tx_reset_i(p_tx_reset),
      .lane_tx_tvalid_o(p_tx_tvalid),
      .lane_tx_tready_i(p_tx_tready),
      .lane_tx_tdata_o(p_tx_tdata),
      .lane_tx_tkeep_o(p_tx_tkeep),
      .lane_tx_tlast_o(p_tx_tlast),
      .lane_tx_tuser_o(p_tx_tuser),
      .*
  );

  // A core in reset would take a work request and forget it.
  assign post_ready = core_wqe_ready && run;

  // ---- planes: of ports, or each a MAC

  if (NumPorts != 0) begin : gen_ports
    logic [NumPorts*13*32-1:0] counts;
    logic [NumPorts*48-1:0] mac;
    logic [NumPlanes*128-1:0] ip;
    logic [NumPlanes*48-1:0] usid;
    logic [15:0] udp_port;
    logic udp_only, promisc, side;

    mrc_fpga_port_regs #(
        .NumPlanes(NumPlanes),
        .NumPorts(NumPorts)
    ) u_regs (
        .clk_i,
        .rst_ni(rst_n),
        .w_go_i(port_w_go),
        .w_word_i(block_w_word[9:0]),
        .w_data_i(block_w_data),
        .w_strb_i(block_w_strb),
        .w_good_o(port_w_good),
        .r_word_i(block_r_word[9:0]),
        .r_good_o(port_r_good),
        .r_data_o(port_r_data),
        .counts_i(counts),
        .mac_o(mac),
        .ip_o(ip),
        .usid_o(usid),
        .udp_port_o(udp_port),
        .udp_only_o(udp_only),
        .promisc_o(promisc),
        .side_o(side)
    );

    // In reset with the lanes: a frame that a lane cuts would never end in the merger.
    mrc_fpga_ports #(
        .NumPlanes(NumPlanes),
        .NumPorts(NumPorts)
    ) u_ports (
        .clk_i,
        .rst_ni(core_rst_n),
        .mac_i(mac),
        .ip_i(ip),
        .usid_i(usid),
        .udp_port_i(udp_port),
        .udp_only_i(udp_only),
        .promisc_i(promisc),
        .side_i(side),
        .counts_o(counts),
        .link_up_i(lane_link_up_i),
        .rx_clk_i(lane_rx_clk_i),
        .rx_reset_i(lane_rx_reset_i),
        .s_tvalid_i(lane_rx_tvalid_i),
        .s_tdata_i(lane_rx_tdata_i),
        .s_tkeep_i(lane_rx_tkeep_i),
        .s_tlast_i(lane_rx_tlast_i),
        .s_tuser_i(lane_rx_tuser_i),
        .tx_clk_i(lane_tx_clk_i),
        .tx_reset_i(lane_tx_reset_i),
        .m_tvalid_o(lane_tx_tvalid_o),
        .m_tready_i(lane_tx_tready_i),
        .m_tdata_o(lane_tx_tdata_o),
        .m_tkeep_o(lane_tx_tkeep_o),
        .m_tlast_o(lane_tx_tlast_o),
        .m_tuser_o(lane_tx_tuser_o),
        .lane_link_up_o(p_link_up),
        .lane_rx_clk_o(p_rx_clk),
        .lane_rx_reset_o(p_rx_reset),
        .lane_rx_tvalid_o(p_rx_tvalid),
        .lane_rx_tdata_o(p_rx_tdata),
        .lane_rx_tkeep_o(p_rx_tkeep),
        .lane_rx_tlast_o(p_rx_tlast),
        .lane_rx_tuser_o(p_rx_tuser),
        .lane_tx_clk_o(p_tx_clk),
        .lane_tx_reset_o(p_tx_reset),
        .lane_tx_tvalid_i(p_tx_tvalid),
        .lane_tx_tready_o(p_tx_tready),
        .lane_tx_tdata_i(p_tx_tdata),
        .lane_tx_tkeep_i(p_tx_tkeep),
        .lane_tx_tlast_i(p_tx_tlast),
        .lane_tx_tuser_i(p_tx_tuser),
        .*
    );
  end else begin : gen_macs
    assign p_link_up = lane_link_up_i;
    assign p_rx_clk = lane_rx_clk_i;
    assign p_rx_reset = lane_rx_reset_i;
    assign p_rx_tvalid = lane_rx_tvalid_i;
    assign p_rx_tdata = lane_rx_tdata_i;
    assign p_rx_tkeep = lane_rx_tkeep_i;
    assign p_rx_tlast = lane_rx_tlast_i;
    assign p_rx_tuser = lane_rx_tuser_i;
    assign p_tx_clk = lane_tx_clk_i;
    assign p_tx_reset = lane_tx_reset_i;
    assign lane_tx_tvalid_o = p_tx_tvalid;
    assign p_tx_tready = lane_tx_tready_i;
    assign lane_tx_tdata_o = p_tx_tdata;
    assign lane_tx_tkeep_o = p_tx_tkeep;
    assign lane_tx_tlast_o = p_tx_tlast;
    assign lane_tx_tuser_o = p_tx_tuser;

    assign {side_rx_tvalid_o, side_rx_tdata_o, side_rx_tkeep_o, side_rx_tlast_o} = '0;
    assign {side_rx_tuser_o, side_tx_tready_o} = '0;
    assign {port_w_good, port_r_good, port_r_data} = '0;

    logic unused_side;
    assign unused_side = ^{side_rx_tready_i, side_tx_tvalid_i, side_tx_tdata_i, side_tx_tkeep_i,
                           side_tx_tlast_i, port_w_go};
  end

  // ---- host memory: the skin's bus, and what comes through its gate

  logic gate_valid, gate_ready, others_idle;
  cqe_t gate_cqe;
  logic a_awvalid, a_awready, a_wvalid, a_wready, a_wlast, a_bvalid, a_bready;
  logic a_arvalid, a_arready, a_rvalid, a_rready;
  logic [SkinIdW-1:0] a_awid, a_arid;
  logic [63:0] a_awaddr, a_araddr;
  logic [7:0] a_awlen, a_arlen;
  logic [HostBytes*8-1:0] a_wdata;
  logic [HostBytes-1:0] a_wstrb;

  mrc_fpga_host #(
      .WordBytes(HostBytes),
      .NumPlanes(NumPlanes),
      .NumQps(NumQps)
  ) u_host (
      .rst_ni(rst_n),
      .core_rst_no(core_rst_n),
      .skin_rst_no(skin_rst_n),
      .idle_i(others_idle),
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
      .cqe_valid_o(gate_valid),
      .cqe_ready_i(gate_ready),
      .cqe_o(gate_cqe),
      .m_axi_awvalid_o(a_awvalid),
      .m_axi_awready_i(a_awready),
      .m_axi_awid_o(a_awid),
      .m_axi_awaddr_o(a_awaddr),
      .m_axi_awlen_o(a_awlen),
      .m_axi_wvalid_o(a_wvalid),
      .m_axi_wready_i(a_wready),
      .m_axi_wdata_o(a_wdata),
      .m_axi_wstrb_o(a_wstrb),
      .m_axi_wlast_o(a_wlast),
      .m_axi_bvalid_i(a_bvalid),
      .m_axi_bready_o(a_bready),
      .m_axi_arvalid_o(a_arvalid),
      .m_axi_arready_i(a_arready),
      .m_axi_arid_o(a_arid),
      .m_axi_araddr_o(a_araddr),
      .m_axi_arlen_o(a_arlen),
      .m_axi_rvalid_i(a_rvalid),
      .m_axi_rready_o(a_rready),
      .m_axi_rid_i(m_axi_rid_i[SkinIdW-1:0]),
      .*
  );

  // ---- work requests and completions: rings in that memory, or pins

  if (Rings) begin : gen_rings
    logic r_awvalid, r_awready, r_awid, r_wvalid, r_wready, r_wlast, r_bvalid, r_bready;
    logic r_arvalid, r_arready, r_arid, r_rvalid, r_rready;
    logic [63:0] r_awaddr, r_araddr;
    logic [7:0] r_awlen, r_arlen;
    logic [HostBytes*8-1:0] r_wdata;
    logic [HostBytes-1:0] r_wstrb;
    logic [2:0] unused_awsize, unused_arsize;
    logic [1:0] unused_awburst, unused_arburst;

    mrc_fpga_rings #(
        .WordBytes(HostBytes),
        .NumQps(NumQps),
        .WqeDepth(Tiny ? 8 : 64),
        .NumWqes(Tiny ? 24 : 192),
        .NumCqs(NumCqs),
        // The ports' block stands behind the two pages of the rings.
        .Next(NumPorts == 0 ? 32'd0 : 32'(NumPlanes + 6) * 32'h1000)
    ) u_rings (
        .clk_i,
        .rst_ni(skin_rst_n),
        .w_go_i(ring_w_go),
        .w_word_i(block_w_word),
        .w_data_i(block_w_data),
        .w_strb_i(block_w_strb),
        .w_done_o(ring_w_done),
        .w_err_o(ring_w_err),
        .r_go_i(ring_r_go),
        .r_word_i(block_r_word),
        .r_done_o(ring_r_done),
        .r_err_o(ring_r_err),
        .r_data_o(ring_r_data),
        .wqe_valid_o(post_valid),
        .wqe_ready_i(post_ready),
        .wqe_o(post),
        .cqe_valid_i(gate_valid),
        .cqe_ready_o(gate_ready),
        .cqe_i(gate_cqe),
        .irq_o(ring_irq_o),
        .error_o(ring_error_o),
        .idle_o(others_idle),
        .m_axi_arvalid_o(r_arvalid),
        .m_axi_arready_i(r_arready),
        .m_axi_arid_o(r_arid),
        .m_axi_araddr_o(r_araddr),
        .m_axi_arlen_o(r_arlen),
        .m_axi_arsize_o(unused_arsize),
        .m_axi_arburst_o(unused_arburst),
        .m_axi_rvalid_i(r_rvalid),
        .m_axi_rready_o(r_rready),
        .m_axi_rdata_i,
        .m_axi_rresp_i,
        .m_axi_rlast_i,
        .m_axi_awvalid_o(r_awvalid),
        .m_axi_awready_i(r_awready),
        .m_axi_awid_o(r_awid),
        .m_axi_awaddr_o(r_awaddr),
        .m_axi_awlen_o(r_awlen),
        .m_axi_awsize_o(unused_awsize),
        .m_axi_awburst_o(unused_awburst),
        .m_axi_wvalid_o(r_wvalid),
        .m_axi_wready_i(r_wready),
        .m_axi_wdata_o(r_wdata),
        .m_axi_wstrb_o(r_wstrb),
        .m_axi_wlast_o(r_wlast),
        .m_axi_bvalid_i(r_bvalid),
        .m_axi_bready_o(r_bready),
        .m_axi_bresp_i
    );

    // Ids of the skin are those of before, those of the rings begin with 1.
    mrc_fpga_axi_mux #(
        .WordBytes(HostBytes),
        .IdW(SkinIdW)
    ) u_mux (
        .clk_i,
        .rst_ni(rst_n),
        .s_awvalid_i({r_awvalid, a_awvalid}),
        .s_awready_o({r_awready, a_awready}),
        .s_awid_i({r_awid, a_awid}),
        .s_awaddr_i({r_awaddr, a_awaddr}),
        .s_awlen_i({r_awlen, a_awlen}),
        .s_wvalid_i({r_wvalid, a_wvalid}),
        .s_wready_o({r_wready, a_wready}),
        .s_wdata_i({r_wdata, a_wdata}),
        .s_wstrb_i({r_wstrb, a_wstrb}),
        .s_wlast_i({r_wlast, a_wlast}),
        .s_bvalid_o({r_bvalid, a_bvalid}),
        .s_bready_i({r_bready, a_bready}),
        .s_arvalid_i({r_arvalid, a_arvalid}),
        .s_arready_o({r_arready, a_arready}),
        .s_arid_i({r_arid, a_arid}),
        .s_araddr_i({r_araddr, a_araddr}),
        .s_arlen_i({r_arlen, a_arlen}),
        .s_rvalid_o({r_rvalid, a_rvalid}),
        .s_rready_i({r_rready, a_rready}),
        .m_awvalid_o(m_axi_awvalid_o),
        .m_awready_i(m_axi_awready_i),
        .m_awid_o(m_axi_awid_o),
        .m_awaddr_o(m_axi_awaddr_o),
        .m_awlen_o(m_axi_awlen_o),
        .m_wvalid_o(m_axi_wvalid_o),
        .m_wready_i(m_axi_wready_i),
        .m_wdata_o(m_axi_wdata_o),
        .m_wstrb_o(m_axi_wstrb_o),
        .m_wlast_o(m_axi_wlast_o),
        .m_bvalid_i(m_axi_bvalid_i),
        .m_bready_o(m_axi_bready_o),
        .m_bid_i(m_axi_bid_i),
        .m_arvalid_o(m_axi_arvalid_o),
        .m_arready_i(m_axi_arready_i),
        .m_arid_o(m_axi_arid_o),
        .m_araddr_o(m_axi_araddr_o),
        .m_arlen_o(m_axi_arlen_o),
        .m_rvalid_i(m_axi_rvalid_i),
        .m_rready_o(m_axi_rready_o),
        .m_rid_i(m_axi_rid_i)
    );

    assign wqe_ready_o = 1'b0;
    assign cqe_valid_o = 1'b0;
    assign cqe_data_o = '0;

    logic unused_pins;
    assign unused_pins = ^{wqe_valid_i, wqe_data_i, cqe_ready_i};
  end else begin : gen_pins
    assign post_valid = wqe_valid_i;
    assign wqe_ready_o = post_ready;
    assign post = wqe_data_i;
    assign cqe_valid_o = gate_valid;
    assign gate_ready = cqe_ready_i;
    assign cqe_data_o = gate_cqe;
    assign ring_irq_o = '0;
    assign ring_error_o = 1'b0;
    assign others_idle = 1'b1;
    assign {ring_w_done, ring_w_err, ring_r_done, ring_r_err, ring_r_data} = '0;

    assign m_axi_awvalid_o = a_awvalid;
    assign a_awready = m_axi_awready_i;
    assign m_axi_awid_o = a_awid;
    assign m_axi_awaddr_o = a_awaddr;
    assign m_axi_awlen_o = a_awlen;
    assign m_axi_wvalid_o = a_wvalid;
    assign a_wready = m_axi_wready_i;
    assign m_axi_wdata_o = a_wdata;
    assign m_axi_wstrb_o = a_wstrb;
    assign m_axi_wlast_o = a_wlast;
    assign a_bvalid = m_axi_bvalid_i;
    assign m_axi_bready_o = a_bready;
    assign m_axi_arvalid_o = a_arvalid;
    assign a_arready = m_axi_arready_i;
    assign m_axi_arid_o = a_arid;
    assign m_axi_araddr_o = a_araddr;
    assign m_axi_arlen_o = a_arlen;
    assign a_rvalid = m_axi_rvalid_i;
    assign m_axi_rready_o = a_rready;

    logic unused_regs;
    assign unused_regs = ^{m_axi_bid_i, ring_w_go, ring_r_go};
  end

  logic unused_bits;
  assign unused_bits = ^{clear, block_w_word, block_w_data, block_w_strb, block_r_word};

endmodule
