// SPDX-License-Identifier: Apache-2.0

/// A NIC for a shell with a DMA: the core of preset fpga100, or of tiny for benches, its registers
/// on AXI4-Lite and a lane per plane, each in the clocks of its MAC (mrc_fpga_front), and host
/// memory by descriptors, with streams or, with Ram, with RAMs (mrc_fpga_host_dma). Flat names and
/// plain vectors at the boundary, as those of mrc_fpga_top. All but the lanes is in clk_i. rst_ni
/// may come from anywhere, and resets the DMA too; the core alone is reset by register. Work
/// requests and completions are pins: rings, generator and recorder are on AXI4, and stay with
/// mrc_fpga_top. It has no MAC, no memory, no DMA. Contract: docs/design/boards/top.md,
/// docs/design/boards/host_b.md.
module mrc_fpga_top_dma
  import mrc_pkg::*;
#(
    parameter bit Tiny = 0,
    parameter logic [31:0] BuildId = 32'd0,
    parameter int unsigned NumPorts = 0,
    parameter bit Ram = 0,
    localparam int unsigned NumPlanes = 2,
    localparam int unsigned NumMacs = (NumPorts == 0) ? NumPlanes : NumPorts,
    localparam int unsigned HostBytes = Tiny ? 32 : 64,
    localparam int unsigned NumQps = Tiny ? 4 : 16,
    localparam int unsigned WordBytes = 64,
    localparam int unsigned MaxBeats = 64,
    localparam int unsigned MaxDescs = 16,
    localparam int unsigned Pending = 128,
    localparam int unsigned Segs = 2,
    localparam int unsigned LenW = Ram ? 16 : 28,
    localparam int unsigned WrIdW = $clog2(MaxDescs),
    localparam int unsigned WrRamW = $clog2(MaxDescs * MaxBeats * HostBytes),
    localparam int unsigned WrRowW = $clog2(MaxDescs * MaxBeats / Segs),
    localparam int unsigned RdTagW = $clog2(Pending),
    localparam int unsigned RdRamW = $clog2(Pending * HostBytes),
    localparam int unsigned RdRowW = $clog2(Pending / Segs)
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

    // Writes: descriptors, and their bytes as a stream; with Ram the stream is dead, and rows of a
    // RAM are read, by segment. Statuses come in any order.
    output logic wr_desc_valid_o,
    input logic wr_desc_ready_i,
    output logic [63:0] wr_desc_addr_o,
    output logic [LenW-1:0] wr_desc_len_o,
    output logic [WrIdW-1:0] wr_desc_id_o,
    output logic wr_desc_last_o,
    output logic [WrRamW-1:0] wr_desc_ram_addr_o,
    output logic wr_data_valid_o,
    input logic wr_data_ready_i,
    output logic [HostBytes*8-1:0] wr_data_o,
    output logic [HostBytes-1:0] wr_data_keep_o,
    output logic wr_data_last_o,
    input logic [Segs-1:0] wr_read_valid_i,
    output logic [Segs-1:0] wr_read_ready_o,
    input logic [Segs*WrRowW-1:0] wr_read_row_i,
    output logic [Segs-1:0] wr_row_valid_o,
    input logic [Segs-1:0] wr_row_ready_i,
    output logic [Segs*HostBytes*8-1:0] wr_row_data_o,
    input logic wr_status_valid_i,
    input logic [WrIdW-1:0] wr_status_id_i,
    input logic wr_status_err_i,
    // Reads: descriptors, and an answer of one beat to each, in their order; with Ram answers are
    // dead, rows of a RAM are written, by segment, and statuses come in any order.
    output logic rd_desc_valid_o,
    input logic rd_desc_ready_i,
    output logic [63:0] rd_desc_addr_o,
    output logic [LenW-1:0] rd_desc_len_o,
    output logic [RdTagW-1:0] rd_desc_tag_o,
    output logic [RdRamW-1:0] rd_desc_ram_addr_o,
    input logic rd_data_valid_i,
    input logic [HostBytes*8-1:0] rd_data_i,
    input logic rd_data_err_i,
    input logic [Segs-1:0] rd_write_valid_i,
    input logic [Segs*RdRowW-1:0] rd_write_row_i,
    input logic [Segs*HostBytes-1:0] rd_write_be_i,
    input logic [Segs*HostBytes*8-1:0] rd_write_data_i,
    input logic rd_status_valid_i,
    input logic [RdTagW-1:0] rd_status_tag_i,
    input logic rd_status_err_i,

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

  logic rst_n, core_rst_n;
  logic [2:0] state;
  logic [31:0] clear;
  logic hold_we, hold_to, hold;
  logic [255:0] host_regs;
  logic core_cqe_valid, core_cqe_ready;
  logic host_wr_valid, host_wr_ready, host_wr_last, host_rd_valid, host_rd_ready, host_rsp_valid;
  logic [63:0] host_wr_addr;
  logic [7:0] host_wr_len;
  logic [3:0] host_wr_plane, host_rsp_plane;
  qp_index_t host_wr_qp;
  logic [HostBytes*8-1:0] host_wr_data, host_rsp_data;
  rdreq_t host_rd;
  logic host_rsp_err, host_fail_valid, host_fail_ready;
  qperr_t host_fail;
  cqe_t core_cqe, gate_cqe;

  // The block of the rings, which is not there.
  logic unused_w_go, unused_r_go;
  logic [10:0] unused_w_word, unused_r_word;
  logic [31:0] unused_w_data;
  logic [3:0] unused_w_strb;
  logic unused_gen_go;
  // The recorder is left out: it writes to AXI4.
  logic [4:0] unused_rec_flags;
  logic [63:0] unused_rec_addr;
  logic [7:0] unused_rec_len;
  logic [2:0] unused_rec_size;
  logic [1:0] unused_rec_burst;
  logic [HostBytes*8-1:0] unused_rec_data;
  logic [HostBytes-1:0] unused_rec_strb;

  mrc_fpga_front #(
      .Tiny(Tiny),
      .BuildId(BuildId),
      .NumPorts(NumPorts)
  ) u_front (
      .rst_no(rst_n),
      .core_rst_ni(core_rst_n),
      .hold_we_o(hold_we),
      .hold_o(hold_to),
      .hold_i(hold),
      .state_i(state),
      .clear_o(clear),
      .host_regs_i(host_regs),
      .ring_w_go_o(unused_w_go),
      .ring_w_done_i(1'b0),
      .ring_w_err_i(1'b0),
      .ring_r_go_o(unused_r_go),
      .ring_r_done_i(1'b0),
      .ring_r_err_i(1'b0),
      .ring_r_data_i('0),
      .ring_cut_i(1'b0),
      .gen_w_go_o(unused_gen_go),
      .gen_w_good_i(1'b0),
      .gen_r_good_i(1'b0),
      .gen_r_data_i('0),
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
      .block_w_word_o(unused_w_word),
      .block_w_data_o(unused_w_data),
      .block_w_strb_o(unused_w_strb),
      .block_r_word_o(unused_r_word),
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
      .*
  );

  mrc_fpga_host_dma #(
      .Ram(Ram),
      .WordBytes(HostBytes),
      .NumPlanes(NumPlanes),
      .NumQps(NumQps),
      .MaxBeats(MaxBeats),
      .MaxDescs(MaxDescs),
      .Pending(Pending),
      .Segs(Segs),
      .LenW(LenW)
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
      .cqe_o(gate_cqe),
      .*
  );

  assign cqe_data_o = gate_cqe;

  logic unused_bits;
  assign unused_bits = ^{clear, unused_w_go, unused_r_go, unused_w_word, unused_r_word,
                         unused_w_data, unused_w_strb};

endmodule
