// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// What the readers of both skins begin with: requests of up to WordBytes bytes at any address wait
/// in a FIFO of 2, and leave as one part, or two where they cross a boundary of 2^PageBits bytes.
/// Latency: one cycle. One part per cycle, it is the owner's to take. Contracts:
/// docs/design/boards/host.md, docs/design/boards/host_b.md.
module mrc_fpga_rd_in #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned AddrW = 64,
    parameter int unsigned PageBits = 12,
    parameter int unsigned QpW = 19,  // qp_index_t
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

    output logic part_valid_o,
    input logic part_take_i,
    output logic [AddrW-1:0] part_addr_o,
    output logic [OffW:0] part_len_o,
    output logic [PlaneW-1:0] part_plane_o,
    output logic [QpW-1:0] part_qp_o,
    // Bytes of the request in front of this part: 0 in its first one.
    output logic [OffW-1:0] part_at_o,
    // Another part of the request comes.
    output logic part_more_o
);

  if (WordBytes != 2 ** OffW || WordBytes < 2 || PageBits <= OffW || PageBits > AddrW)
  begin : gen_bad_word
    $error("%m: WordBytes must be a power of two, at least 2, and PageBits above its log2");
  end

  typedef struct packed {
    logic [AddrW-1:0] addr;
    logic [OffW:0] len;
    logic [PlaneW-1:0] plane;
    logic [QpW-1:0] qp;
  } req_t;

  req_t req;
  logic split, half_q, half_d;
  logic [OffW+1:0] end_at;
  logic [OffW:0] first;
  logic [1:0] unused_count;

  mrc_fifo #(
      .T(req_t),
      .Depth(2)
  ) u_req (
      .clk_i,
      .rst_ni,
      .valid_i(host_rd_valid_i),
      .ready_o(host_rd_ready_o),
      .data_i({host_rd_addr_i, host_rd_len_i[OffW:0], host_rd_plane_i[PlaneW-1:0], host_rd_qp_i}),
      .valid_o(part_valid_o),
      .ready_i(part_take_i && !part_more_o),
      .data_o(req),
      .count_o(unused_count)
  );

  assign end_at = (OffW + 2)'(req.addr[OffW-1:0]) + (OffW + 2)'(req.len);
  assign split = end_at > (OffW + 2)'(WordBytes) && (&req.addr[PageBits-1:OffW]);
  // Bytes in front of the boundary.
  assign first = (OffW + 1)'(WordBytes) - (OffW + 1)'(req.addr[OffW-1:0]);

  assign part_addr_o = half_q ? req.addr + AddrW'(first) : req.addr;
  assign part_len_o = half_q ? req.len - first : split ? first : req.len;
  assign part_plane_o = req.plane;
  assign part_qp_o = req.qp;
  assign part_at_o = half_q ? first[OffW-1:0] : '0;
  assign part_more_o = split && !half_q;
  assign half_d = (part_valid_o && part_take_i) ? part_more_o : half_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      half_q <= 1'b0;
    end else begin
      half_q <= half_d;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{host_rd_len_i, host_rd_plane_i, unused_count};

  `MRC_ASSERT(KnownPlane, !host_rd_valid_i || 32'(host_rd_plane_i) < NumPlanes,
      "a request of a plane that there is not")
  `MRC_ASSERT(HasBytes, !host_rd_valid_i || (host_rd_len_i != 8'd0
      && 32'(host_rd_len_i) <= WordBytes), "a request has no bytes, or too many")

endmodule
