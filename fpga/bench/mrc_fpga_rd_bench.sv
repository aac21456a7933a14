// SPDX-License-Identifier: Apache-2.0

/// mrc_fpga_axi_rd for two planes, four requests of each of which may be awaited.
module mrc_fpga_rd_bench (
    input logic clk_i,
    input logic rst_ni,
    input logic host_rd_valid_i,
    output logic host_rd_ready_o,
    input logic [63:0] host_rd_addr_i,
    input logic [7:0] host_rd_len_i,
    input logic [3:0] host_rd_plane_i,
    output logic host_rsp_valid_o,
    output logic [3:0] host_rsp_plane_o,
    output logic [511:0] host_rsp_data_o,
    output logic host_rsp_err_o,
    output logic stray_o,
    output logic m_axi_arvalid_o,
    input logic m_axi_arready_i,
    output logic m_axi_arid_o,
    output logic [63:0] m_axi_araddr_o,
    output logic [7:0] m_axi_arlen_o,
    output logic [2:0] m_axi_arsize_o,
    output logic [1:0] m_axi_arburst_o,
    input logic m_axi_rvalid_i,
    output logic m_axi_rready_o,
    input logic m_axi_rid_i,
    input logic [511:0] m_axi_rdata_i,
    input logic [1:0] m_axi_rresp_i,
    input logic m_axi_rlast_i
);

  mrc_fpga_axi_rd #(
      .NumPlanes(2),
      .Pending(4)
  ) u_rd (
      .*
  );

endmodule
