// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Host reads on AXI4: a request of up to WordBytes bytes at any address becomes one burst of one
/// or two beats, or two of one beat where it crosses a boundary of 2^PageBits bytes; the id is the
/// plane. Beats of planes may come in any order and mixed; of a plane they come in the order of
/// requests. The line leaves one cycle after its last beat. Throughput: a request per cycle, one
/// per two where two bursts are needed. It does not gather requests, sets no time limit, and hands
/// on what an error brought. Contract: docs/design/boards/host.md.
module mrc_fpga_axi_rd #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned Pending = 64,
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

    output logic m_axi_arvalid_o,
    input logic m_axi_arready_i,
    output logic [PlaneW-1:0] m_axi_arid_o,
    output logic [AddrW-1:0] m_axi_araddr_o,
    output logic [7:0] m_axi_arlen_o,
    output logic [2:0] m_axi_arsize_o,
    output logic [1:0] m_axi_arburst_o,
    input logic m_axi_rvalid_i,
    output logic m_axi_rready_o,
    input logic [PlaneW-1:0] m_axi_rid_i,
    input logic [DataW-1:0] m_axi_rdata_i,
    input logic [1:0] m_axi_rresp_i,
    input logic m_axi_rlast_i
);

  localparam int unsigned WordW = AddrW - OffW;

  typedef struct packed {
    logic [PlaneW-1:0] plane;
    logic [WordW-1:0] word;
    logic two;
  } ar_t;

  // What is awaited: where the line begins in its first beat, whether there is a second, and whose
  // it is.
  typedef struct packed {
    logic [OffW-1:0] off;
    logic two;
    logic [QpW-1:0] qp;
  } wait_t;

  ar_t ar_d, ar;
  logic part_valid, part_more, wide, rest, ar_free, load;
  logic [AddrW-1:0] part_addr;
  logic [OffW:0] part_len;
  logic [PlaneW-1:0] part_plane;
  logic [QpW-1:0] part_qp;
  logic [OffW-1:0] part_at;

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

  logic [NumPlanes-1:0] wait_room, wait_valid, wait_pop, got_q, got_d, bad_q, bad_d;
  wait_t [NumPlanes-1:0] wait_head;
  logic [NumPlanes-1:0][$clog2(Pending+1)-1:0] unused_waits;

  // The part lies in two words.
  assign wide = (OffW + 2)'(part_addr[OffW-1:0]) + (OffW + 2)'(part_len)
      > (OffW + 2)'(WordBytes);
  assign rest = part_at != '0;
  // The place for the answer is taken with the first burst.
  assign load = part_valid && ar_free && (rest || wait_room[part_plane]);
  assign ar_d = '{plane: part_plane, word: part_addr[AddrW-1:OffW], two: wide};

  mrc_out_reg #(
      .T(ar_t)
  ) u_ar (
      .clk_i,
      .rst_ni,
      .load_i(load),
      .data_i(ar_d),
      .free_o(ar_free),
      .valid_o(m_axi_arvalid_o),
      .ready_i(m_axi_arready_i),
      .data_o(ar)
  );

  assign m_axi_arid_o = ar.plane;
  assign m_axi_araddr_o = {ar.word, {OffW{1'b0}}};
  assign m_axi_arlen_o = {7'd0, ar.two};
  assign m_axi_arsize_o = 3'(OffW);
  assign m_axi_arburst_o = 2'b01;

  for (genvar p = 0; p < NumPlanes; p++) begin : gen_plane
    mrc_fifo #(
        .T(wait_t),
        .Depth(Pending)
    ) u_wait (
        .clk_i,
        .rst_ni,
        .valid_i(load && !rest && part_plane == PlaneW'(p)),
        .ready_o(wait_room[p]),
        .data_i({part_addr[OffW-1:0], wide || part_more, part_qp}),
        .valid_o(wait_valid[p]),
        .ready_i(wait_pop[p]),
        .data_o(wait_head[p]),
        .count_o(unused_waits[p])
    );
  end

  // ---- answers: the first of two beats is kept, per plane

  logic [NumPlanes-1:0][DataW-1:0] first_q;
  logic known, whole, bad, valid_q, err_q;
  logic [PlaneW-1:0] plane_q;
  logic [QpW-1:0] qp_q;
  logic [DataW-1:0] data_q, upper, lower;
  wait_t head;

  assign known = m_axi_rvalid_i && wait_valid[m_axi_rid_i];
  assign head = wait_head[m_axi_rid_i];
  assign whole = known && (!head.two || got_q[m_axi_rid_i]);
  assign bad = m_axi_rresp_i[1] || bad_q[m_axi_rid_i];
  assign lower = head.two ? first_q[m_axi_rid_i] : m_axi_rdata_i;
  assign upper = m_axi_rdata_i;

  always_comb begin
    wait_pop = '0;
    got_d = got_q;
    bad_d = bad_q;
    if (known) begin
      wait_pop[m_axi_rid_i] = whole;
      got_d[m_axi_rid_i] = !whole;
      bad_d[m_axi_rid_i] = !whole && bad;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      got_q <= '0;
      bad_q <= '0;
      valid_q <= 1'b0;
    end else begin
      got_q <= got_d;
      bad_q <= bad_d;
      valid_q <= whole;
    end
  end

  always_ff @(posedge clk_i) begin
    if (known && !whole) begin
      first_q[m_axi_rid_i] <= m_axi_rdata_i;
    end
    plane_q <= m_axi_rid_i;
    qp_q <= head.qp;
    data_q <= DataW'({upper, lower} >> {head.off, 3'd0});
    err_q <= bad;
  end

  assign m_axi_rready_o = 1'b1;
  assign host_rsp_valid_o = valid_q;
  assign host_rsp_plane_o = 4'(plane_q);
  assign host_rsp_data_o = data_q;
  assign host_rsp_err_o = err_q;
  assign host_rsp_qp_o = qp_q;
  assign stray_o = m_axi_rvalid_i && !wait_valid[m_axi_rid_i];
  assign idle_o = !part_valid && !m_axi_arvalid_o && wait_valid == '0 && !valid_q;

  logic unused_bits;
  assign unused_bits = ^{m_axi_rresp_i[0], m_axi_rlast_i, unused_waits};

  `MRC_ASSERT(BeatsAreWhole, !(|(got_q & ~wait_valid)), "a first beat came of nothing")

endmodule
