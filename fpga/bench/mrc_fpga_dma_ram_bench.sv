// SPDX-License-Identifier: Apache-2.0

/// The write side of skin B as it is joined for a DMA that drains a RAM, as small as that of
/// mrc_fpga_dma_bench.
module mrc_fpga_dma_ram_bench
  import mrc_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic host_wr_valid_i,
    output logic host_wr_ready_o,
    input logic [63:0] host_wr_addr_i,
    input logic [7:0] host_wr_len_i,
    input logic host_wr_last_i,
    input logic [3:0] host_wr_plane_i,
    input logic [18:0] host_wr_qp_i,
    input logic [511:0] host_wr_data_i,
    input logic cqe_valid_i,
    output logic cqe_ready_o,
    input logic [139:0] cqe_i,
    output logic cqe_valid_o,
    input logic cqe_ready_i,
    output logic [139:0] cqe_o,
    input logic [3:0] clear_i,
    output logic [3:0] failed_o,
    output logic stray_o,
    output logic idle_o,

    output logic desc_valid_o,
    input logic desc_ready_i,
    output logic [63:0] desc_addr_o,
    output logic [15:0] desc_len_o,
    output logic [1:0] desc_id_o,
    output logic [11:0] desc_ram_addr_o,
    input logic [1:0] read_valid_i,
    output logic [1:0] read_ready_o,
    input logic [1:0][4:0] read_row_i,
    output logic [1:0] row_valid_o,
    input logic [1:0] row_ready_i,
    output logic [1:0][511:0] row_data_o,
    input logic status_valid_i,
    input logic [1:0] status_id_i,
    input logic status_err_i
);

  logic room, take, done, fail, wr_idle, ram_idle, desc_valid, desc_ready, desc_last;
  logic data_valid, data_ready, data_last;
  logic [18:0] fail_qp;
  logic [15:0] desc_len;
  logic [63:0] desc_addr, data_keep;
  logic [1:0] desc_id;
  logic [511:0] data;

  mrc_fpga_dma_wr #(
      .NumPlanes(2),
      .BeatDepth(32),
      .MaxBeats(16),
      .PieceDepth(4),
      .MaxDescs(4),
      .LenW(16)
  ) u_wr (
      .room_i(room),
      .take_o(take),
      .done_o(done),
      .fail_o(fail),
      .fail_qp_o(fail_qp),
      .idle_o(wr_idle),
      .desc_valid_o(desc_valid),
      .desc_ready_i(desc_ready),
      .desc_addr_o(desc_addr),
      .desc_len_o(desc_len),
      .desc_id_o(desc_id),
      .desc_last_o(desc_last),
      .data_valid_o(data_valid),
      .data_ready_i(data_ready),
      .data_o(data),
      .data_keep_o(data_keep),
      .data_last_o(data_last),
      .*
  );

  mrc_fpga_dma_wr_ram #(
      .MaxBeats(16),
      .MaxDescs(4)
  ) u_ram (
      .desc_valid_i(desc_valid),
      .desc_ready_o(desc_ready),
      .desc_addr_i(desc_addr),
      .desc_len_i(desc_len),
      .desc_id_i(desc_id),
      .data_valid_i(data_valid),
      .data_ready_o(data_ready),
      .data_i(data),
      .data_last_i(data_last),
      .idle_o(ram_idle),
      .*
  );

  assign idle_o = wr_idle && ram_idle;

  mrc_fpga_gate #(
      .Depth(4),
      .MaxOpen(8),
      .NumQps(4)
  ) u_gate (
      .take_i(take),
      .room_o(room),
      .done_i(done),
      .fail_i(fail),
      .fail_qp_i(fail_qp[1:0]),
      .*
  );

  logic unused_bits;
  assign unused_bits = ^{fail_qp[18:2], desc_last, data_keep};

endmodule
