// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_dma_wr with packets of two planes, and a DMA that takes descriptors and beats and gives
/// statuses as it likes, also such as nobody awaits. What is looked at is when it says to be idle.
module formal_fpga_dma_wr #(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned MaxBeats = 2,
    localparam int unsigned WordBytes = 2,
    localparam int unsigned AddrW = 4,
    localparam int unsigned LenW = 3
) (
    input logic clk_i,
    input logic host_wr_valid_i,
    input logic [AddrW-1:0] start_i,
    input logic one_i,
    input logic host_wr_last_i,
    input logic plane_i,
    input logic [1:0] qp_i,
    input logic [15:0] host_wr_data_i,
    input logic room_i,
    input logic desc_ready_i,
    input logic data_ready_i,
    input logic status_valid_i,
    input logic [0:0] status_id_i,
    input logic status_err_i
);
  `MRC_RESET

  logic host_wr_ready_o, take_o, done_o, fail_o, stray_o, idle_o;
  logic desc_valid_o, desc_last_o, data_valid_o, data_last_o;
  logic [AddrW-1:0] host_wr_addr_i, desc_addr_o;
  logic [7:0] host_wr_len_i;
  logic [3:0] host_wr_plane_i;
  logic [18:0] host_wr_qp_i, fail_qp_o;
  logic [15:0] data_o;
  logic [LenW-1:0] desc_len_o;
  logic [0:0] desc_id_o;
  logic [1:0] data_keep_o;

  mrc_fpga_dma_wr #(
      .WordBytes(WordBytes),
      .NumPlanes(NumPlanes),
      .BeatDepth(2),
      .MaxBeats(MaxBeats),
      .PieceDepth(2),
      .MaxDescs(2),
      .LenW(LenW),
      .AddrW(AddrW),
      .PageBits(2)
  ) dut (
      .*
  );

  // Lines of a packet follow each other, all but the last full.
  logic [NumPlanes-1:0] inside_q;
  logic [NumPlanes-1:0][AddrW-1:0] next_q;
  // Packets that were taken and are not done; descriptors that were taken and have no status; beats
  // of descriptors that were taken, less those that came on the stream, which may be ahead.
  logic [3:0] packets_q, descs_q;
  logic [5:0] beats_q;
  logic line, desc, beat, done_q;

  assign host_wr_addr_i = inside_q[plane_i] ? next_q[plane_i] : start_i;
  assign host_wr_len_i = (host_wr_last_i && one_i) ? 8'd1 : 8'd2;
  assign host_wr_plane_i = 4'(plane_i);
  assign host_wr_qp_i = 19'(qp_i);
  assign line = host_wr_valid_i && host_wr_ready_o;
  assign desc = desc_valid_o && desc_ready_i;
  assign beat = data_valid_o && data_ready_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {inside_q, packets_q, descs_q, beats_q, done_q} <= '0;
    end else begin
      if (line) inside_q[plane_i] <= !host_wr_last_i;
      packets_q <= packets_q + 4'(take_o) - 4'(done_o);
      descs_q <= descs_q + 4'(desc) - 4'(status_valid_i && !stray_o);
      beats_q <= beats_q + (desc ? 6'((desc_len_o + LenW'(1)) >> 1) : '0) - 6'(beat);
      done_q <= done_q || done_o;
    end
  end
  always_ff @(posedge clk_i) begin
    if (line) next_q[plane_i] <= host_wr_addr_i + AddrW'(2);
  end

  `MRC_PROVE(idle_is_idle, !idle_o
      || {packets_q, descs_q, beats_q, desc_valid_o, data_valid_o} == '0)
  `MRC_PROVE(awaited, stray_o || !status_valid_i || descs_q != '0)
  `MRC_PROVE(done_was_taken, !done_o || packets_q != '0)
  `MRC_COVER(idle_is_idle, idle_o && done_q)
  `MRC_COVER(awaited, status_valid_i && !stray_o && descs_q == 4'd2)
  `MRC_COVER(done_was_taken, done_o && packets_q == 4'd2)
endmodule
