// SPDX-License-Identifier: Apache-2.0

/// Writer and gate of skin A as they are joined, with small queues, so that a bench fills them:
/// bursts of up to 16 beats, 4 completions, 8 open packets, 4 QPs. The bench is the core, the
/// memory and the host.
module mrc_fpga_host_bench
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
    input logic [15:0] host_wr_qp_i,
    input logic [511:0] host_wr_data_i,
    input logic cqe_valid_i,
    output logic cqe_ready_o,
    input logic [136:0] cqe_i,
    output logic cqe_valid_o,
    input logic cqe_ready_i,
    output logic [136:0] cqe_o,
    input logic clear_i,
    input logic [1:0] clear_qp_i,
    output logic [3:0] failed_o,
    output logic stray_o,

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

  logic room, take, done, fail;
  logic [15:0] fail_qp;

  mrc_fpga_axi_wr #(
      .NumPlanes(2),
      .BeatDepth(32),
      .MaxBeats(16),
      .BurstDepth(4),
      .MaxBursts(4)
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
  assign unused_bits = ^fail_qp[15:2];

endmodule
