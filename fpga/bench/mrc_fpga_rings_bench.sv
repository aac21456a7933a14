// SPDX-License-Identifier: Apache-2.0

/// mrc_fpga_rings for a core of preset tiny, with two completion rings and few reads and writes
/// under way, so that a bench reaches every limit. The bench is host, memory and core.
module mrc_fpga_rings_bench (
    input logic clk_i,
    input logic rst_ni,
    input logic w_go_i,
    input logic [10:0] w_word_i,
    input logic [31:0] w_data_i,
    input logic [3:0] w_strb_i,
    output logic w_done_o,
    output logic w_err_o,
    input logic r_go_i,
    input logic [10:0] r_word_i,
    output logic r_done_o,
    output logic r_err_o,
    output logic [31:0] r_data_o,
    output logic wqe_valid_o,
    input logic wqe_ready_i,
    output logic [275:0] wqe_o,
    input logic cqe_valid_i,
    output logic cqe_ready_o,
    input logic [139:0] cqe_i,
    output logic [1:0] irq_o,
    output logic error_o,
    output logic idle_o,
    output logic m_axi_arvalid_o,
    input logic m_axi_arready_i,
    output logic m_axi_arid_o,
    output logic [63:0] m_axi_araddr_o,
    output logic [7:0] m_axi_arlen_o,
    output logic [2:0] m_axi_arsize_o,
    output logic [1:0] m_axi_arburst_o,
    input logic m_axi_rvalid_i,
    output logic m_axi_rready_o,
    input logic [511:0] m_axi_rdata_i,
    input logic [1:0] m_axi_rresp_i,
    input logic m_axi_rlast_i,
    output logic m_axi_awvalid_o,
    input logic m_axi_awready_i,
    output logic m_axi_awid_o,
    output logic [63:0] m_axi_awaddr_o,
    output logic [7:0] m_axi_awlen_o,
    output logic [2:0] m_axi_awsize_o,
    output logic [1:0] m_axi_awburst_o,
    output logic m_axi_wvalid_o,
    input logic m_axi_wready_i,
    output logic [511:0] m_axi_wdata_o,
    output logic [63:0] m_axi_wstrb_o,
    output logic m_axi_wlast_o,
    input logic m_axi_bvalid_i,
    output logic m_axi_bready_o,
    input logic [1:0] m_axi_bresp_i
);

  mrc_fpga_rings #(
      .NumQps(4),
      .WqeDepth(8),
      .NumWqes(24),
      .NumCqs(2),
      .Reads(4),
      .Writes(4),
      .Next(32'h5000)
  ) u_rings (
      .*
  );

endmodule
