// SPDX-License-Identifier: Apache-2.0

/// What the tops of both skins begin with: the core of preset fpga100, or of tiny for benches, with
/// its registers on AXI4-Lite (mrc_fpga_map) and a lane per plane, each in the clocks of its MAC
/// (mrc_fpga_nic), by parameter behind ports that planes share (mrc_fpga_ports). Host, work
/// requests and completions have the core's pins, in clk_i; whoever stands behind them says when
/// the core is in reset (core_rst_ni, a register) and runs (state_i). While it does not run nothing
/// of wqe is taken. rst_no is rst_ni in clk_i. With Record the core's pins are recorded, by m_rec.
/// Contract: docs/design/boards/top.md.
module mrc_fpga_front
  import mrc_pkg::*;
#(
    parameter bit Tiny = 0,
    parameter logic [31:0] BuildId = 32'd0,
    parameter bit Rings = 0,
    parameter bit Gen = 0,
    parameter int unsigned NumPorts = 0,
    parameter bit Record = 0,
    localparam int unsigned NumPlanes = 2,
    localparam int unsigned NumMacs = (NumPorts == 0) ? NumPlanes : NumPorts,
    localparam int unsigned PortBytes = Tiny ? 16 : 32,
    localparam int unsigned HostBytes = Tiny ? 32 : 64,
    localparam int unsigned WordBytes = 64
) (
    input logic clk_i,
    input logic rst_ni,
    output logic rst_no,
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

    // The core's reset, and what it is asked: mrc_fpga_hold, behind these pins.
    input logic core_rst_ni,
    output logic hold_we_o,
    output logic hold_o,
    input logic hold_i,
    input logic [2:0] state_i,
    output logic [31:0] clear_o,
    // The words of block MRCH, from its word 4 on.
    input logic [255:0] host_regs_i,
    // Registers of the rings.
    output logic ring_w_go_o,
    input logic ring_w_done_i,
    input logic ring_w_err_i,
    output logic ring_r_go_o,
    input logic ring_r_done_i,
    input logic ring_r_err_i,
    input logic [31:0] ring_r_data_i,
    input logic ring_cut_i,
    output logic [10:0] block_w_word_o,
    output logic [31:0] block_w_data_o,
    output logic [3:0] block_w_strb_o,
    output logic [10:0] block_r_word_o,
    // Registers of the generator, answered in the same cycle.
    output logic gen_w_go_o,
    input logic gen_w_good_i,
    input logic gen_r_good_i,
    input logic [31:0] gen_r_data_i,

    input logic wqe_valid_i,
    output logic wqe_ready_o,
    input wqe_t wqe_i,
    output logic cqe_valid_o,
    input logic cqe_ready_i,
    output cqe_t cqe_o,
    output logic host_rd_valid_o,
    input logic host_rd_ready_i,
    output rdreq_t host_rd_o,
    input logic host_rsp_valid_i,
    input logic [3:0] host_rsp_plane_i,
    input logic [HostBytes*8-1:0] host_rsp_data_i,
    input logic host_rsp_err_i,
    input logic host_fail_valid_i,
    output logic host_fail_ready_o,
    input qperr_t host_fail_i,
    output logic host_wr_valid_o,
    input logic host_wr_ready_i,
    output logic [63:0] host_wr_addr_o,
    output logic [7:0] host_wr_len_o,
    output logic host_wr_last_o,
    output logic [3:0] host_wr_plane_o,
    output qp_index_t host_wr_qp_o,
    output logic [HostBytes*8-1:0] host_wr_data_o,

    output logic m_rec_awvalid_o,
    input logic m_rec_awready_i,
    output logic m_rec_awid_o,
    output logic [63:0] m_rec_awaddr_o,
    output logic [7:0] m_rec_awlen_o,
    output logic [2:0] m_rec_awsize_o,
    output logic [1:0] m_rec_awburst_o,
    output logic m_rec_wvalid_o,
    input logic m_rec_wready_i,
    output logic [HostBytes*8-1:0] m_rec_wdata_o,
    output logic [HostBytes-1:0] m_rec_wstrb_o,
    output logic m_rec_wlast_o,
    input logic m_rec_bvalid_i,
    output logic m_rec_bready_o,
    input logic [1:0] m_rec_bresp_i,

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

  mrc_fpga_reset u_reset (
      .clk_i,
      .rst_ni,
      .rst_no
  );

  // ---- registers

  logic m_axil_awvalid, m_axil_awready, m_axil_wvalid, m_axil_wready, m_axil_bvalid, m_axil_bready;
  logic m_axil_arvalid, m_axil_arready, m_axil_rvalid, m_axil_rready;
  logic [15:0] m_axil_awaddr, m_axil_araddr;
  logic [31:0] m_axil_wdata, m_axil_rdata;
  logic [3:0] m_axil_wstrb;
  logic [1:0] m_axil_bresp, m_axil_rresp;
  logic run, core_wqe_ready;
  logic [NumPlanes*320-1:0] lane_counts;
  logic [NumPlanes-1:0] link_up;
  logic port_w_go, port_w_good, port_r_good;
  logic [31:0] port_r_data, rec_r_data;
  logic rec_w_go, rec_w_good, rec_r_good;

  assign run = state_i[0];

  mrc_fpga_map #(
      .NumPlanes(NumPlanes),
      .PortBytes(PortBytes),
      .HostBytes(HostBytes),
      .BuildId(BuildId),
      .Rings(Rings),
      .Ports(NumPorts != 0),
      .Gen(Gen),
      .Record(Record)
  ) u_map (
      .rst_ni(rst_no),
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
      .host_i(host_regs_i),
      .port_w_go_o(port_w_go),
      .port_w_good_i(port_w_good),
      .port_r_good_i(port_r_good),
      .port_r_data_i(port_r_data),
      .rec_w_go_o(rec_w_go),
      .rec_w_good_i(rec_w_good),
      .rec_r_good_i(rec_r_good),
      .rec_r_data_i(rec_r_data),
      .*
  );

  // ---- core and lanes

  // The pins of planes.
  logic [NumPlanes-1:0] p_link_up, p_rx_clk, p_rx_reset, p_rx_tvalid, p_rx_tlast, p_rx_tuser;
  logic [NumPlanes-1:0] p_tx_clk, p_tx_reset, p_tx_tvalid, p_tx_tready, p_tx_tlast, p_tx_tuser;
  logic [NumPlanes*WordBytes*8-1:0] p_rx_tdata, p_tx_tdata;
  logic [NumPlanes*WordBytes-1:0] p_rx_tkeep, p_tx_tkeep;

  mrc_fpga_nic #(
      .Tiny(Tiny),
      .Record(Record),
      .BuildId(BuildId)
  ) u_nic (
      .rst_ni(core_rst_ni),
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
      .rec_rst_ni(rst_no),
      .run_i(run),
      .rec_w_go_i(rec_w_go),
      .rec_w_word_i(block_w_word_o[9:0]),
      .rec_w_data_i(block_w_data_o),
      .rec_w_strb_i(block_w_strb_o),
      .rec_w_good_o(rec_w_good),
      .rec_r_word_i(block_r_word_o[9:0]),
      .rec_r_good_o(rec_r_good),
      .rec_r_data_o(rec_r_data),
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
  assign wqe_ready_o = core_wqe_ready && run;

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
        .rst_ni(rst_no),
        .w_go_i(port_w_go),
        .w_word_i(block_w_word_o[9:0]),
        .w_data_i(block_w_data_o),
        .w_strb_i(block_w_strb_o),
        .w_good_o(port_w_good),
        .r_word_i(block_r_word_o[9:0]),
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
        .rst_ni(core_rst_ni),
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

endmodule
