// SPDX-License-Identifier: Apache-2.0

/// Skin B as it is joined for a shell with streams, with small queues, so that a bench fills them:
/// pieces of up to 16 beats, 4 open, 4 completions, 8 open packets, 4 QPs. The bench is the core,
/// the shell and the host.
module mrc_fpga_dma_bench
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
    output logic [27:0] desc_len_o,
    output logic [1:0] desc_id_o,
    output logic desc_last_o,
    output logic data_valid_o,
    input logic data_ready_i,
    output logic [511:0] data_o,
    output logic [63:0] data_keep_o,
    output logic data_last_o,
    input logic status_valid_i,
    input logic [1:0] status_id_i,
    input logic status_err_i
);

  logic room, take, done, fail;
  logic [18:0] fail_qp;

  mrc_fpga_dma_wr #(
      .NumPlanes(2),
      .BeatDepth(32),
      .MaxBeats(16),
      .PieceDepth(4),
      .MaxDescs(4)
  ) u_wr (
      .room_i(room),
      .take_o(take),
      .done_o(done),
      .fail_o(fail),
      .fail_qp_o(fail_qp),
      .*
  );

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
  assign unused_bits = ^fail_qp[18:2];

endmodule
