// SPDX-License-Identifier: Apache-2.0

/// A NIC for a shell with memory on a bus: the core of preset fpga100, or of tiny for benches, its
/// registers on AXI4-Lite and a lane per plane, each in the clocks of its MAC (mrc_fpga_front), and
/// host memory on AXI4 (mrc_fpga_host). Flat names and plain vectors at the boundary: MAC k has the
/// k-th slice of each lane pin, wqe and cqe are packed as docs/reference/generated/streams.md says.
/// All but the lanes is in clk_i. rst_ni may come from anywhere, and resets the memory's bus too;
/// the core alone is reset by register. With Rings work requests and completions are in host memory
/// (mrc_fpga_rings), with Gen they are those of a traffic generator (mrc_fpga_gen), beside which
/// mrc_fpga_fill writes and checks patterns in that memory; the pins wqe and cqe are dead then. Not
/// both. With NumPorts planes are divided among so
/// many MACs (mrc_fpga_ports), whose other frames go to the side ports; with 0 a plane is a MAC,
/// and the side ports are dead. With Record the core's pins are recorded into a memory of its own
/// (mrc_fpga_record, m_rec). It has no MAC, no memory.
/// Contract: docs/design/boards/top.md.
module mrc_fpga_top
  import mrc_pkg::*;
#(
    parameter bit Tiny = 0,
    parameter logic [31:0] BuildId = 32'd0,
    parameter bit Rings = 0,
    parameter bit Gen = 0,
    parameter int unsigned NumCqs = 4,
    parameter int unsigned NumPorts = 0,
    parameter bit Record = 0,
    localparam int unsigned NumPlanes = 2,
    localparam int unsigned NumMacs = (NumPorts == 0) ? NumPlanes : NumPorts,
    localparam int unsigned HostBytes = Tiny ? 32 : 64,
    localparam int unsigned NumQps = Tiny ? 4 : 16,
    localparam int unsigned WordBytes = 64,
    localparam int unsigned SkinIdW = 1,
    localparam bit Shared = Rings || Gen,
    localparam int unsigned IdW = Shared ? SkinIdW + 1 : SkinIdW
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

  if (Rings && Gen) begin : gen_bad_kind
    $error("%m: Rings and Gen exclude each other");
  end

  logic rst_n, core_rst_n, skin_rst_n;
  logic [2:0] state;
  logic [31:0] clear;
  logic hold_we, hold_to, hold;
  logic [255:0] host_regs;
  logic ring_w_go, ring_w_done, ring_w_err, ring_r_go, ring_r_done, ring_r_err;
  logic [10:0] block_w_word, block_r_word;
  logic [31:0] block_w_data, ring_r_data, gen_r_data;
  logic [3:0] block_w_strb;
  logic gen_w_go, gen_w_good, gen_r_good;
  logic core_cqe_valid, core_cqe_ready, post_valid, post_ready;
  logic host_wr_valid, host_wr_ready, host_wr_last, host_rd_valid, host_rd_ready, host_rsp_valid;
  logic [63:0] host_wr_addr;
  logic [7:0] host_wr_len;
  logic [3:0] host_wr_plane, host_rsp_plane;
  qp_index_t host_wr_qp;
  logic [HostBytes*8-1:0] host_wr_data, host_rsp_data;
  rdreq_t host_rd;
  logic host_rsp_err, host_fail_valid, host_fail_ready;
  qperr_t host_fail;
  wqe_t post;
  cqe_t core_cqe;

  mrc_fpga_front #(
      .Tiny(Tiny),
      .BuildId(BuildId),
      .Rings(Rings),
      .Gen(Gen),
      .NumPorts(NumPorts),
      .Record(Record)
  ) u_front (
      .rst_no(rst_n),
      .core_rst_ni(core_rst_n),
      .hold_we_o(hold_we),
      .hold_o(hold_to),
      .hold_i(hold),
      .state_i(state),
      .clear_o(clear),
      .host_regs_i(host_regs),
      .ring_w_go_o(ring_w_go),
      .ring_w_done_i(ring_w_done),
      .ring_w_err_i(ring_w_err),
      .ring_r_go_o(ring_r_go),
      .ring_r_done_i(ring_r_done),
      .ring_r_err_i(ring_r_err),
      .ring_r_data_i(ring_r_data),
      .ring_cut_i(!skin_rst_n),
      .block_w_word_o(block_w_word),
      .block_w_data_o(block_w_data),
      .block_w_strb_o(block_w_strb),
      .block_r_word_o(block_r_word),
      .gen_w_go_o(gen_w_go),
      .gen_w_good_i(gen_w_good),
      .gen_r_good_i(gen_r_good),
      .gen_r_data_i(gen_r_data),
      .wqe_valid_i(post_valid),
      .wqe_ready_o(post_ready),
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
      .*
  );

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

  // ---- work requests and completions: rings in that memory, a generator, or pins

  // Who else is on the bus.
  logic r_awvalid, r_awready, r_awid, r_wvalid, r_wready, r_wlast, r_bvalid, r_bready;
  logic r_arvalid, r_arready, r_arid, r_rvalid, r_rready;
  logic [63:0] r_awaddr, r_araddr;
  logic [7:0] r_awlen, r_arlen;
  logic [HostBytes*8-1:0] r_wdata;
  logic [HostBytes-1:0] r_wstrb;

  if (Rings) begin : gen_rings
    logic [2:0] unused_awsize, unused_arsize;
    logic [1:0] unused_awburst, unused_arburst;

    mrc_fpga_rings #(
        .WordBytes(HostBytes),
        .NumQps(NumQps),
        .WqeDepth(Tiny ? 8 : 64),
        .NumWqes(Tiny ? 24 : 192),
        .NumCqs(NumCqs),
        // The ports' block, or the recorder's, stands behind the two pages of the rings.
        .Next((NumPorts == 0 && !Record) ? 32'd0 : 32'(NumPlanes + 6) * 32'h1000)
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

    assign wqe_ready_o = 1'b0;
    assign cqe_valid_o = 1'b0;
    assign cqe_data_o = '0;

    assign {gen_w_good, gen_r_good, gen_r_data} = '0;

    logic unused_pins;
    assign unused_pins = ^{wqe_valid_i, wqe_data_i, cqe_ready_i, gen_w_go};
  end else if (Gen) begin : gen_gen
    logic of_gen_w, of_gen_r, of_fill_w, of_fill_r;
    logic [31:0] gen_data, fill_data;

    mrc_fpga_gen #(
        .NumQps(NumQps),
        .HostBytes(HostBytes)
    ) u_gen (
        .clk_i,
        .rst_ni(rst_n),
        .run_i(state[0]),
        .w_go_i(gen_w_go),
        .w_word_i(block_w_word[9:0]),
        .w_data_i(block_w_data),
        .w_strb_i(block_w_strb),
        .w_good_o(of_gen_w),
        .r_word_i(block_r_word[9:0]),
        .r_good_o(of_gen_r),
        .r_data_o(gen_data),
        .wqe_valid_o(post_valid),
        .wqe_ready_i(post_ready),
        .wqe_o(post),
        .cqe_valid_i(gate_valid),
        .cqe_ready_o(gate_ready),
        .cqe_i(gate_cqe)
    );

    mrc_fpga_fill #(
        .WordBytes(HostBytes)
    ) u_fill (
        .clk_i,
        .rst_ni(rst_n),
        .run_i(state[0]),
        .idle_o(others_idle),
        .w_go_i(gen_w_go),
        .w_word_i(block_w_word[9:0]),
        .w_data_i(block_w_data),
        .w_strb_i(block_w_strb),
        .w_good_o(of_fill_w),
        .r_word_i(block_r_word[9:0]),
        .r_good_o(of_fill_r),
        .r_data_o(fill_data),
        .m_axi_awvalid_o(r_awvalid),
        .m_axi_awready_i(r_awready),
        .m_axi_awaddr_o(r_awaddr),
        .m_axi_wvalid_o(r_wvalid),
        .m_axi_wready_i(r_wready),
        .m_axi_wdata_o(r_wdata),
        .m_axi_bvalid_i(r_bvalid),
        .m_axi_bready_o(r_bready),
        .m_axi_bresp_i,
        .m_axi_arvalid_o(r_arvalid),
        .m_axi_arready_i(r_arready),
        .m_axi_araddr_o(r_araddr),
        .m_axi_rvalid_i(r_rvalid),
        .m_axi_rready_o(r_rready),
        .m_axi_rdata_i,
        .m_axi_rresp_i
    );

    // Bursts of one whole beat, of one id; what neither has reads as 0.
    assign {r_awid, r_arid, r_awlen, r_arlen} = '0;
    assign {r_wstrb, r_wlast} = '1;
    assign gen_w_good = of_gen_w || of_fill_w;
    assign gen_r_good = of_gen_r || of_fill_r;
    assign gen_r_data = gen_data | fill_data;

    assign wqe_ready_o = 1'b0;
    assign cqe_valid_o = 1'b0;
    assign cqe_data_o = '0;
    assign ring_irq_o = '0;
    assign ring_error_o = 1'b0;
    assign {ring_w_done, ring_w_err, ring_r_done, ring_r_err, ring_r_data} = '0;

    logic unused_pins;
    assign unused_pins = ^{wqe_valid_i, wqe_data_i, cqe_ready_i, ring_w_go, ring_r_go};
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
    assign {gen_w_good, gen_r_good, gen_r_data} = '0;
    assign {r_awvalid, r_awid, r_awaddr, r_awlen, r_wvalid, r_wdata, r_wstrb, r_wlast} = '0;
    assign {r_bready, r_arvalid, r_arid, r_araddr, r_arlen, r_rready} = '0;

    logic unused_regs;
    assign unused_regs = ^{ring_w_go, ring_r_go, gen_w_go};
  end

  // ---- the bus

  if (Shared) begin : gen_mux
    // Ids of the skin are those of before, those of the others begin with 1.
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
  end else begin : gen_bus
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
    assign {r_awready, r_wready, r_bvalid, r_arready, r_rvalid} = '0;

    logic unused_bus;
    assign unused_bus = ^{m_axi_bid_i, r_awvalid, r_awid, r_awaddr, r_awlen, r_wvalid, r_wdata,
                          r_wstrb, r_wlast, r_bready, r_arvalid, r_arid, r_araddr, r_arlen,
                          r_rready, r_awready, r_wready, r_bvalid, r_arready, r_rvalid};
  end

  logic unused_bits;
  assign unused_bits = ^{clear, block_w_word, block_w_data, block_w_strb, block_r_word};

endmodule
