// SPDX-License-Identifier: Apache-2.0

/// Skin A, joined: the core's host pins on one side, AXI4 on the other, and between what both skins
/// have (mrc_fpga_skin): the gate of completions, the core's reset, the registers of block MRCH. It
/// does not gather reads. Contract: docs/design/boards/host.md, docs/design/boards/top.md.
module mrc_fpga_host
  import mrc_pkg::*;
#(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 16,
    parameter int unsigned CqeDepth = 16,
    parameter int unsigned MaxOpen = 256,
    parameter int unsigned BeatDepth = 128,
    parameter int unsigned MaxBeats = 64,
    parameter int unsigned BurstDepth = 16,
    parameter int unsigned MaxBursts = 32,
    parameter int unsigned Pending = 64,
    parameter int unsigned WaitCycles = 10000,
    parameter int unsigned CountW = 32,
    localparam int unsigned DataW = WordBytes * 8,
    localparam int unsigned NumRegs = 8,
    localparam int unsigned IdW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    output logic core_rst_no,
    // Reset of the skin, and of whatever else is on the bus for this core; idle_i: that has nothing
    // to ask of memory and awaits nothing.
    output logic skin_rst_no,
    input logic idle_i,
    input logic hold_we_i,
    input logic hold_i,
    output logic hold_o,
    // {late, drain, run} of mrc_fpga_hold.
    output logic [2:0] state_o,
    input logic [NumQps-1:0] clear_i,
    output logic [NumRegs*32-1:0] regs_o,

    input logic host_wr_valid_i,
    output logic host_wr_ready_o,
    input logic [63:0] host_wr_addr_i,
    input logic [7:0] host_wr_len_i,
    input logic host_wr_last_i,
    input logic [3:0] host_wr_plane_i,
    input qp_index_t host_wr_qp_i,
    input logic [DataW-1:0] host_wr_data_i,
    input logic host_rd_valid_i,
    output logic host_rd_ready_o,
    input rdreq_t host_rd_i,
    output logic host_rsp_valid_o,
    output logic [3:0] host_rsp_plane_o,
    output logic [DataW-1:0] host_rsp_data_o,
    output logic host_rsp_err_o,
    output logic host_fail_valid_o,
    input logic host_fail_ready_i,
    output qperr_t host_fail_o,
    input logic cqe_valid_i,
    output logic cqe_ready_o,
    input cqe_t cqe_i,

    output logic cqe_valid_o,
    input logic cqe_ready_i,
    output cqe_t cqe_o,

    output logic m_axi_awvalid_o,
    input logic m_axi_awready_i,
    output logic [IdW-1:0] m_axi_awid_o,
    output logic [63:0] m_axi_awaddr_o,
    output logic [7:0] m_axi_awlen_o,
    output logic [2:0] m_axi_awsize_o,
    output logic [1:0] m_axi_awburst_o,
    output logic m_axi_wvalid_o,
    input logic m_axi_wready_i,
    output logic [DataW-1:0] m_axi_wdata_o,
    output logic [WordBytes-1:0] m_axi_wstrb_o,
    output logic m_axi_wlast_o,
    input logic m_axi_bvalid_i,
    output logic m_axi_bready_o,
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
    input logic [DataW-1:0] m_axi_rdata_i,
    input logic [1:0] m_axi_rresp_i,
    input logic m_axi_rlast_i
);

  localparam int unsigned QpW = (NumQps > 1) ? $clog2(NumQps) : 1;

  logic wr_idle, rd_idle, room, take, done, wr_fail, wr_stray, rd_stray;
  qp_index_t wr_fail_qp;
  logic [QpW-1:0] rd_qp;

  mrc_fpga_skin #(
      .NumQps(NumQps),
      .CqeDepth(CqeDepth),
      .MaxOpen(MaxOpen),
      .WaitCycles(WaitCycles),
      .CountW(CountW)
  ) u_skin (
      .idle_i(wr_idle && rd_idle && idle_i),
      .take_i(take),
      .room_o(room),
      .done_i(done),
      .wr_fail_i(wr_fail),
      .wr_fail_qp_i(wr_fail_qp[QpW-1:0]),
      .wr_stray_i(wr_stray),
      .rd_take_i(host_rd_valid_i && host_rd_ready_o),
      .rd_done_i(host_rsp_valid_o),
      .rd_err_i(host_rsp_err_o),
      .rd_qp_i(rd_qp),
      .rd_stray_i(rd_stray),
      .*
  );

  mrc_fpga_axi_wr #(
      .WordBytes(WordBytes),
      .NumPlanes(NumPlanes),
      .BeatDepth(BeatDepth),
      .MaxBeats(MaxBeats),
      .BurstDepth(BurstDepth),
      .MaxBursts(MaxBursts)
  ) u_wr (
      .rst_ni(skin_rst_no),
      .room_i(room),
      .take_o(take),
      .done_o(done),
      .fail_o(wr_fail),
      .fail_qp_o(wr_fail_qp),
      .stray_o(wr_stray),
      .idle_o(wr_idle),
      .*
  );

  mrc_fpga_axi_rd #(
      .WordBytes(WordBytes),
      .NumPlanes(NumPlanes),
      .Pending(Pending),
      .QpW(QpW)
  ) u_rd (
      .rst_ni(skin_rst_no),
      .host_rd_addr_i(host_rd_i.addr),
      .host_rd_len_i(host_rd_i.len),
      .host_rd_plane_i(host_rd_i.plane),
      .host_rd_qp_i(host_rd_i.qp[QpW-1:0]),
      .host_rsp_qp_o(rd_qp),
      .stray_o(rd_stray),
      .idle_o(rd_idle),
      .*
  );

  assign m_axi_awid_o = '0;

  logic unused_bits;
  assign unused_bits = ^{wr_fail_qp, host_rd_i.qp};

endmodule
