// SPDX-License-Identifier: Apache-2.0

/// The read side of skin B as it is joined for a DMA that fills a RAM: 8 slots, 10 descriptors.
module mrc_fpga_dma_rd_bench (
    input logic clk_i,
    input logic rst_ni,
    input logic host_rd_valid_i,
    output logic host_rd_ready_o,
    input logic [63:0] host_rd_addr_i,
    input logic [7:0] host_rd_len_i,
    input logic [3:0] host_rd_plane_i,
    input logic [18:0] host_rd_qp_i,
    output logic host_rsp_valid_o,
    output logic [3:0] host_rsp_plane_o,
    output logic [511:0] host_rsp_data_o,
    output logic host_rsp_err_o,
    output logic [18:0] host_rsp_qp_o,
    output logic stray_o,
    output logic idle_o,

    output logic desc_valid_o,
    input logic desc_ready_i,
    output logic [63:0] desc_addr_o,
    output logic [15:0] desc_len_o,
    output logic [2:0] desc_tag_o,
    output logic [8:0] desc_ram_addr_o,
    input logic [1:0] write_valid_i,
    input logic [1:0][1:0] write_row_i,
    input logic [1:0][63:0] write_be_i,
    input logic [1:0][511:0] write_data_i,
    input logic status_valid_i,
    input logic [2:0] status_tag_i,
    input logic status_err_i
);

  logic desc_valid, desc_ready, rsp_valid, rsp_err, stray_rd, stray_ram;
  logic [63:0] desc_addr;
  logic [15:0] desc_len;
  logic [511:0] rsp_data;

  mrc_fpga_dma_rd #(
      .NumPlanes(2),
      .Pending(10),
      .LenW(16)
  ) u_rd (
      .desc_valid_o(desc_valid),
      .desc_ready_i(desc_ready),
      .desc_addr_o(desc_addr),
      .desc_len_o(desc_len),
      .rsp_valid_i(rsp_valid),
      .rsp_data_i(rsp_data),
      .rsp_err_i(rsp_err),
      .stray_o(stray_rd),
      .*
  );

  mrc_fpga_dma_rd_ram #(
      .Slots(8)
  ) u_ram (
      .desc_valid_i(desc_valid),
      .desc_ready_o(desc_ready),
      .desc_addr_i(desc_addr),
      .desc_len_i(desc_len),
      .rsp_valid_o(rsp_valid),
      .rsp_data_o(rsp_data),
      .rsp_err_o(rsp_err),
      .stray_o(stray_ram),
      .*
  );

  assign stray_o = stray_rd || stray_ram;

endmodule
