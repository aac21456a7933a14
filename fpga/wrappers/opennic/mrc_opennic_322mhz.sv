// SPDX-License-Identifier: Apache-2.0

/// mrc_fpga_top as a plugin of OpenNIC's user box at 322 MHz: between the CMACs and the shell's own
/// NIC. Frames of MRC are the core's; all others go to the shell's NIC and come from it, by the
/// side port. Pins with the shell's names are those of its plugin p2p_322mhz; the others are what
/// the shell does not give a plugin, and whoever builds it adds: the core's clock, links, memory.
/// The shell's NIC has no ready where it receives, so frames cross towards it whole. Nothing here
/// was tried on hardware. Contract: docs/design/boards/opennic.md.
module mrc_opennic_322mhz #(
    parameter int NUM_CMAC_PORT = 2,
    parameter logic [31:0] BuildId = 32'd0,
    // One of them: the generator of a first run, or rings that a host's CPU fills in card memory.
    parameter bit Gen = 1,
    parameter bit Rings = 0,
    localparam int unsigned HostBytes = 64,
    localparam int unsigned IdW = (Gen || Rings) ? 2 : 1,
    localparam int unsigned NumCqs = 4
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
    output logic [NumCqs-1:0] ring_irq,

    // Card memory, in core_clk, reset with core_rstn.
    output logic core_rstn,
    output logic m_axi_awvalid,
    input logic m_axi_awready,
    output logic [IdW-1:0] m_axi_awid,
    output logic [63:0] m_axi_awaddr,
    output logic [7:0] m_axi_awlen,
    output logic [2:0] m_axi_awsize,
    output logic [1:0] m_axi_awburst,
    output logic m_axi_wvalid,
    input logic m_axi_wready,
    output logic [HostBytes*8-1:0] m_axi_wdata,
    output logic [HostBytes-1:0] m_axi_wstrb,
    output logic m_axi_wlast,
    input logic m_axi_bvalid,
    output logic m_axi_bready,
    input logic [IdW-1:0] m_axi_bid,
    input logic [1:0] m_axi_bresp,
    output logic m_axi_arvalid,
    input logic m_axi_arready,
    output logic [IdW-1:0] m_axi_arid,
    output logic [63:0] m_axi_araddr,
    output logic [7:0] m_axi_arlen,
    output logic [2:0] m_axi_arsize,
    output logic [1:0] m_axi_arburst,
    input logic m_axi_rvalid,
    output logic m_axi_rready,
    input logic [IdW-1:0] m_axi_rid,
    input logic [HostBytes*8-1:0] m_axi_rdata,
    input logic [1:0] m_axi_rresp,
    input logic m_axi_rlast
);

  localparam int unsigned Ports = unsigned'(NUM_CMAC_PORT);
  // Words between clocks of the side port: a power of two, more than a largest frame has (70).
  localparam int unsigned SideDepth = 128;
  localparam int unsigned FreeW = $clog2(SideDepth) + 1;

  if (NUM_CMAC_PORT < 1 || NUM_CMAC_PORT > 2) begin : gen_bad_ports
    $error("%m: NUM_CMAC_PORT must be 1 or 2");
  end

  // ---- resets: the shell's pair, for its registers and for the core

  logic axil_rstn;

  generic_reset #(
      .NUM_INPUT_CLK(2)
  ) u_reset (
      .mod_rstn(mod_rstn),
      .mod_rst_done(mod_rst_done),
      .clk({core_clk, axil_aclk}),
      .rstn({core_rstn, axil_rstn})
  );

  // ---- registers, in the core's clock

  logic c_awvalid, c_awready, c_wvalid, c_wready, c_bvalid, c_bready;
  logic c_arvalid, c_arready, c_rvalid, c_rready;
  logic [31:0] c_awaddr, c_araddr, c_wdata, c_rdata;
  logic [3:0] c_wstrb;
  logic [2:0] unused_awprot, unused_arprot;
  logic [1:0] c_bresp, c_rresp;

  axi_lite_clock_converter u_axil (
      .s_axi_aclk(axil_aclk),
      .s_axi_aresetn(axil_rstn),
      .s_axi_awaddr(s_axil_awaddr),
      .s_axi_awprot(3'd0),
      .s_axi_awvalid(s_axil_awvalid),
      .s_axi_awready(s_axil_awready),
      .s_axi_wdata(s_axil_wdata),
      .s_axi_wstrb(4'hf),
      .s_axi_wvalid(s_axil_wvalid),
      .s_axi_wready(s_axil_wready),
      .s_axi_bresp(s_axil_bresp),
      .s_axi_bvalid(s_axil_bvalid),
      .s_axi_bready(s_axil_bready),
      .s_axi_araddr(s_axil_araddr),
      .s_axi_arprot(3'd0),
      .s_axi_arvalid(s_axil_arvalid),
      .s_axi_arready(s_axil_arready),
      .s_axi_rdata(s_axil_rdata),
      .s_axi_rresp(s_axil_rresp),
      .s_axi_rvalid(s_axil_rvalid),
      .s_axi_rready(s_axil_rready),
      .m_axi_aclk(core_clk),
      .m_axi_aresetn(core_rstn),
      .m_axi_awaddr(c_awaddr),
      .m_axi_awprot(unused_awprot),
      .m_axi_awvalid(c_awvalid),
      .m_axi_awready(c_awready),
      .m_axi_wdata(c_wdata),
      .m_axi_wstrb(c_wstrb),
      .m_axi_wvalid(c_wvalid),
      .m_axi_wready(c_wready),
      .m_axi_bresp(c_bresp),
      .m_axi_bvalid(c_bvalid),
      .m_axi_bready(c_bready),
      .m_axi_araddr(c_araddr),
      .m_axi_arprot(unused_arprot),
      .m_axi_arvalid(c_arvalid),
      .m_axi_arready(c_arready),
      .m_axi_rdata(c_rdata),
      .m_axi_rresp(c_rresp),
      .m_axi_rvalid(c_rvalid),
      .m_axi_rready(c_rready)
  );

  // ---- the side port, to the shell's NIC and back

  logic [Ports-1:0] to_valid, to_ready, to_last, to_user;
  logic [Ports*512-1:0] to_data;
  logic [Ports*64-1:0] to_keep;
  logic [Ports-1:0] from_valid, from_ready, from_last;
  logic [Ports*512-1:0] from_data;
  logic [Ports*64-1:0] from_keep;
  logic core_rst_n;
  logic [Ports-1:0] cmac_rst_n;

  mrc_fpga_reset u_core_reset (
      .clk_i(core_clk),
      .rst_ni(core_rstn),
      .rst_no(core_rst_n)
  );

  for (genvar p = 0; p < Ports; p++) begin : gen_side
    logic [FreeW-1:0] to_free, from_free;

    mrc_fpga_reset u_cmac_reset (
        .clk_i(cmac_clk[p]),
        .rst_ni(core_rstn),
        .rst_no(cmac_rst_n[p])
    );

    // Towards the shell a frame goes when all of it has come, since nobody there can wait.
    assign to_ready[p] = to_free != '0;
    mrc_fpga_afifo #(
        .Width(577),
        .Depth(SideDepth),
        .ByFrames(1'b1)
    ) u_to_shell (
        .wclk_i(core_clk),
        .wrst_ni(core_rst_n),
        .push_i(to_valid[p] && to_ready[p]),
        .last_i(to_last[p]),
        .data_i({to_user[p], to_keep[64*p+:64], to_data[512*p+:512]}),
        .free_o(to_free),
        .rclk_i(cmac_clk[p]),
        .rrst_ni(cmac_rst_n[p]),
        .valid_o(m_axis_adap_rx_322mhz_tvalid[p]),
        .ready_i(1'b1),
        .last_o(m_axis_adap_rx_322mhz_tlast[p]),
        .data_o({
          m_axis_adap_rx_322mhz_tuser_err[p],
          m_axis_adap_rx_322mhz_tkeep[64*p+:64],
          m_axis_adap_rx_322mhz_tdata[512*p+:512]
        })
    );

    assign s_axis_adap_tx_322mhz_tready[p] = from_free != '0;
    mrc_fpga_afifo #(
        .Width(576),
        .Depth(SideDepth)
    ) u_from_shell (
        .wclk_i(cmac_clk[p]),
        .wrst_ni(cmac_rst_n[p]),
        .push_i(s_axis_adap_tx_322mhz_tvalid[p] && s_axis_adap_tx_322mhz_tready[p]),
        .last_i(s_axis_adap_tx_322mhz_tlast[p]),
        .data_i({
          s_axis_adap_tx_322mhz_tkeep[64*p+:64], s_axis_adap_tx_322mhz_tdata[512*p+:512]
        }),
        .free_o(from_free),
        .rclk_i(core_clk),
        .rrst_ni(core_rst_n),
        .valid_o(from_valid[p]),
        .ready_i(from_ready[p]),
        .last_o(from_last[p]),
        .data_o({from_keep[64*p+:64], from_data[512*p+:512]})
    );
  end

  // ---- the NIC

  logic unused_wqe_ready, unused_cqe_valid, unused_ring_error;
  logic [$bits(mrc_pkg::cqe_t)-1:0] unused_cqe;

  // The recorder is left out: it wants a memory of its own.
  logic [4:0] unused_rec_flags;
  logic [63:0] unused_rec_addr;
  logic [7:0] unused_rec_len;
  logic [2:0] unused_rec_size;
  logic [1:0] unused_rec_burst;
  logic [HostBytes*8-1:0] unused_rec_data;
  logic [HostBytes-1:0] unused_rec_strb;

  mrc_fpga_top #(
      .BuildId(BuildId),
      .Gen(Gen),
      .Rings(Rings),
      .NumCqs(NumCqs),
      .NumPorts(Ports)
  ) u_top (
      .clk_i(core_clk),
      .rst_ni(core_rstn),
      .irq_o(irq),
      .m_rec_awvalid_o(unused_rec_flags[0]),
      .m_rec_awready_i(1'b0),
      .m_rec_awid_o(unused_rec_flags[1]),
      .m_rec_awaddr_o(unused_rec_addr),
      .m_rec_awlen_o(unused_rec_len),
      .m_rec_awsize_o(unused_rec_size),
      .m_rec_awburst_o(unused_rec_burst),
      .m_rec_wvalid_o(unused_rec_flags[2]),
      .m_rec_wready_i(1'b0),
      .m_rec_wdata_o(unused_rec_data),
      .m_rec_wstrb_o(unused_rec_strb),
      .m_rec_wlast_o(unused_rec_flags[3]),
      .m_rec_bvalid_i(1'b0),
      .m_rec_bready_o(unused_rec_flags[4]),
      .m_rec_bresp_i(2'd0),
      .s_axil_awvalid_i(c_awvalid),
      .s_axil_awready_o(c_awready),
      .s_axil_awaddr_i(c_awaddr[15:0]),
      .s_axil_wvalid_i(c_wvalid),
      .s_axil_wready_o(c_wready),
      .s_axil_wdata_i(c_wdata),
      .s_axil_wstrb_i(c_wstrb),
      .s_axil_bvalid_o(c_bvalid),
      .s_axil_bready_i(c_bready),
      .s_axil_bresp_o(c_bresp),
      .s_axil_arvalid_i(c_arvalid),
      .s_axil_arready_o(c_arready),
      .s_axil_araddr_i(c_araddr[15:0]),
      .s_axil_rvalid_o(c_rvalid),
      .s_axil_rready_i(c_rready),
      .s_axil_rdata_o(c_rdata),
      .s_axil_rresp_o(c_rresp),
      .wqe_valid_i(1'b0),
      .wqe_ready_o(unused_wqe_ready),
      .wqe_data_i('0),
      .cqe_valid_o(unused_cqe_valid),
      .cqe_ready_i(1'b1),
      .cqe_data_o(unused_cqe),
      .ring_irq_o(ring_irq),
      .ring_error_o(unused_ring_error),
      .m_axi_awvalid_o(m_axi_awvalid),
      .m_axi_awready_i(m_axi_awready),
      .m_axi_awid_o(m_axi_awid),
      .m_axi_awaddr_o(m_axi_awaddr),
      .m_axi_awlen_o(m_axi_awlen),
      .m_axi_awsize_o(m_axi_awsize),
      .m_axi_awburst_o(m_axi_awburst),
      .m_axi_wvalid_o(m_axi_wvalid),
      .m_axi_wready_i(m_axi_wready),
      .m_axi_wdata_o(m_axi_wdata),
      .m_axi_wstrb_o(m_axi_wstrb),
      .m_axi_wlast_o(m_axi_wlast),
      .m_axi_bvalid_i(m_axi_bvalid),
      .m_axi_bready_o(m_axi_bready),
      .m_axi_bid_i(m_axi_bid),
      .m_axi_bresp_i(m_axi_bresp),
      .m_axi_arvalid_o(m_axi_arvalid),
      .m_axi_arready_i(m_axi_arready),
      .m_axi_arid_o(m_axi_arid),
      .m_axi_araddr_o(m_axi_araddr),
      .m_axi_arlen_o(m_axi_arlen),
      .m_axi_arsize_o(m_axi_arsize),
      .m_axi_arburst_o(m_axi_arburst),
      .m_axi_rvalid_i(m_axi_rvalid),
      .m_axi_rready_o(m_axi_rready),
      .m_axi_rid_i(m_axi_rid),
      .m_axi_rdata_i(m_axi_rdata),
      .m_axi_rresp_i(m_axi_rresp),
      .m_axi_rlast_i(m_axi_rlast),
      .side_rx_tvalid_o(to_valid),
      .side_rx_tready_i(to_ready),
      .side_rx_tdata_o(to_data),
      .side_rx_tkeep_o(to_keep),
      .side_rx_tlast_o(to_last),
      .side_rx_tuser_o(to_user),
      .side_tx_tvalid_i(from_valid),
      .side_tx_tready_o(from_ready),
      .side_tx_tdata_i(from_data),
      .side_tx_tkeep_i(from_keep),
      .side_tx_tlast_i(from_last),
      .lane_link_up_i(cmac_link_up),
      .lane_rx_clk_i(cmac_clk),
      .lane_rx_reset_i(cmac_reset),
      .lane_rx_tvalid_i(s_axis_cmac_rx_tvalid),
      .lane_rx_tdata_i(s_axis_cmac_rx_tdata),
      .lane_rx_tkeep_i(s_axis_cmac_rx_tkeep),
      .lane_rx_tlast_i(s_axis_cmac_rx_tlast),
      .lane_rx_tuser_i(s_axis_cmac_rx_tuser_err),
      .lane_tx_clk_i(cmac_clk),
      .lane_tx_reset_i(cmac_reset),
      .lane_tx_tvalid_o(m_axis_cmac_tx_tvalid),
      .lane_tx_tready_i(m_axis_cmac_tx_tready),
      .lane_tx_tdata_o(m_axis_cmac_tx_tdata),
      .lane_tx_tkeep_o(m_axis_cmac_tx_tkeep),
      .lane_tx_tlast_o(m_axis_cmac_tx_tlast),
      .lane_tx_tuser_o(m_axis_cmac_tx_tuser_err)
  );

  logic unused_bits;
  assign unused_bits = ^{c_awaddr[31:16], c_araddr[31:16], s_axis_adap_tx_322mhz_tuser_err};

endmodule
