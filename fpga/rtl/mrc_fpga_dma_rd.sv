// SPDX-License-Identifier: Apache-2.0

/// Host reads by descriptor and stream: a request of up to WordBytes bytes at any address becomes
/// one descriptor, or two where it crosses a boundary of 2^PageBits bytes. Answers come in the
/// order of descriptors, a beat each, its bytes from below, and are always taken. The line leaves
/// one cycle after its last beat. Throughput: a request per cycle, one per two where two
/// descriptors are needed. It does not gather requests, sets no time limit, and hands on what an
/// error brought. Contract: docs/design/boards/host_b.md.
module mrc_fpga_dma_rd #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned Pending = 128,
    parameter int unsigned LenW = 28,
    parameter int unsigned AddrW = 64,
    parameter int unsigned PageBits = 12,
    parameter int unsigned QpW = 19,  // qp_index_t
    localparam int unsigned DataW = WordBytes * 8,
    localparam int unsigned OffW = $clog2(WordBytes),
    localparam int unsigned PlaneW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic host_rd_valid_i,
    output logic host_rd_ready_o,
    input logic [AddrW-1:0] host_rd_addr_i,
    input logic [7:0] host_rd_len_i,
    input logic [3:0] host_rd_plane_i,
    input logic [QpW-1:0] host_rd_qp_i,
    output logic host_rsp_valid_o,
    output logic [3:0] host_rsp_plane_o,
    output logic [DataW-1:0] host_rsp_data_o,
    // With host_rsp_valid_o: a beat of the line came with an error.
    output logic host_rsp_err_o,
    output logic [QpW-1:0] host_rsp_qp_o,
    output logic stray_o,
    // No request is inside, and no answer is awaited.
    output logic idle_o,

    output logic desc_valid_o,
    input logic desc_ready_i,
    output logic [AddrW-1:0] desc_addr_o,
    output logic [LenW-1:0] desc_len_o,
    input logic rsp_valid_i,
    input logic [DataW-1:0] rsp_data_i,
    input logic rsp_err_i
);

  if (LenW <= OffW) begin : gen_bad_length
    $error("%m: LenW is too small for a line");
  end

  typedef struct packed {
    logic [AddrW-1:0] addr;
    logic [OffW:0] len;
  } desc_t;

  // What is awaited: whose line, that it has one more beat, and where in its line the beat begins.
  typedef struct packed {
    logic [PlaneW-1:0] plane;
    logic [QpW-1:0] qp;
    logic more;
    logic [OffW-1:0] at;
  } wait_t;

  desc_t desc;
  wait_t head;
  logic part_valid, part_more, desc_free, load, wait_room, wait_valid;
  logic [AddrW-1:0] part_addr;
  logic [OffW:0] part_len;
  logic [PlaneW-1:0] part_plane;
  logic [QpW-1:0] part_qp;
  logic [OffW-1:0] part_at;
  logic [$clog2(Pending+1)-1:0] unused_waits;

  // ---- requests

  mrc_fpga_rd_in #(
      .WordBytes(WordBytes),
      .NumPlanes(NumPlanes),
      .AddrW(AddrW),
      .PageBits(PageBits),
      .QpW(QpW)
  ) u_in (
      .part_valid_o(part_valid),
      .part_take_i(load),
      .part_addr_o(part_addr),
      .part_len_o(part_len),
      .part_plane_o(part_plane),
      .part_qp_o(part_qp),
      .part_at_o(part_at),
      .part_more_o(part_more),
      .*
  );

  assign load = part_valid && desc_free && wait_room;

  mrc_out_reg #(
      .T(desc_t)
  ) u_desc (
      .clk_i,
      .rst_ni,
      .load_i(load),
      .data_i({part_addr, part_len}),
      .free_o(desc_free),
      .valid_o(desc_valid_o),
      .ready_i(desc_ready_i),
      .data_o(desc)
  );

  assign desc_addr_o = desc.addr;
  assign desc_len_o = LenW'(desc.len);

  mrc_fifo #(
      .T(wait_t),
      .Depth(Pending)
  ) u_wait (
      .clk_i,
      .rst_ni,
      .valid_i(load),
      .ready_o(wait_room),
      .data_i({part_plane, part_qp, part_more, part_at}),
      .valid_o(wait_valid),
      .ready_i(rsp_valid_i),
      .data_o(head),
      .count_o(unused_waits)
  );

  // ---- answers: the second of two beats goes behind the first

  logic known, whole, valid_q, err_q, bad_q;
  logic [PlaneW-1:0] plane_q;
  logic [QpW-1:0] qp_q;
  logic [DataW-1:0] data_q, moved, line;

  assign known = rsp_valid_i && wait_valid;
  assign whole = known && !head.more;
  assign moved = rsp_data_i << {head.at, 3'd0};

  // Bytes below head.at are there already.
  always_comb begin
    for (int unsigned i = 0; i < WordBytes; i++) begin
      line[8*i+:8] = (OffW'(i) < head.at) ? data_q[8*i+:8] : moved[8*i+:8];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      bad_q <= 1'b0;
    end else begin
      valid_q <= whole;
      if (known) begin
        bad_q <= head.more && rsp_err_i;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (known) begin
      data_q <= line;
    end
    plane_q <= head.plane;
    qp_q <= head.qp;
    err_q <= rsp_err_i || bad_q;
  end

  assign host_rsp_valid_o = valid_q;
  assign host_rsp_plane_o = 4'(plane_q);
  assign host_rsp_data_o = data_q;
  assign host_rsp_err_o = err_q;
  assign host_rsp_qp_o = qp_q;
  assign stray_o = rsp_valid_i && !wait_valid;
  assign idle_o = !part_valid && !desc_valid_o && !wait_valid && !valid_q;

  logic unused_bits;
  assign unused_bits = ^unused_waits;

endmodule
