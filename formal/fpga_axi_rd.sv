// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_axi_rd and a memory that answers the beats of a plane in their order, when it likes.
/// One plane is looked at (plane_i, always the same); a byte of memory is its address. The other
/// plane's data are arbitrary.
module formal_fpga_axi_rd #(
    parameter int unsigned Pending = 2,
    parameter int unsigned PageBits = 3,
    localparam int unsigned WordBytes = 4,
    localparam int unsigned AddrW = 5,
    localparam int unsigned OffW = 2,
    localparam int unsigned WordW = AddrW - OffW,
    localparam int unsigned MaxReqs = 6,
    localparam int unsigned MaxBeats = 6
) (
    input logic clk_i,
    input logic plane_i,
    input logic host_rd_valid_i,
    input logic [AddrW-1:0] host_rd_addr_i,
    input logic [OffW:0] len_i,
    input logic host_rd_qp_i,
    input logic rd_plane_i,
    input logic ar_take_i,
    input logic r_give_i,
    input logic m_axi_rid_i,
    input logic [WordBytes*8-1:0] other_data_i,
    input logic [1:0] m_axi_rresp_i,
    input logic m_axi_rlast_i
);
  `MRC_RESET

  logic host_rd_ready_o, host_rsp_valid_o, host_rsp_err_o, host_rsp_qp_o, stray_o, idle_o;
  logic [3:0] host_rd_plane_i, host_rsp_plane_o;
  logic [7:0] host_rd_len_i, m_axi_arlen_o;
  logic [WordBytes*8-1:0] host_rsp_data_o, m_axi_rdata_i, mine_data;
  logic m_axi_arvalid_o, m_axi_arready_i, m_axi_arid_o, m_axi_rvalid_i, m_axi_rready_o;
  logic [AddrW-1:0] m_axi_araddr_o;
  logic [2:0] m_axi_arsize_o;
  logic [1:0] m_axi_arburst_o;

  mrc_fpga_axi_rd #(
      .WordBytes(WordBytes),
      .NumPlanes(2),
      .Pending(Pending),
      .AddrW(AddrW),
      .PageBits(PageBits),
      .QpW(1)
  ) dut (
      .*
  );

  // Requests of the plane without answer and beats that the memory owes it, oldest first.
  typedef struct packed {
    logic [AddrW-1:0] addr;
    logic [OffW:0] len;
    logic qp;
  } req_t;
  req_t [MaxReqs:0] reqs_q, reqs_d;
  logic [MaxBeats+1:0][WordW-1:0] beats_q, beats_d;
  logic [2:0] n_reqs_q, n_reqs_d;
  logic [3:0] n_beats_q, n_beats_d, other_q, other_d;
  logic req, ar, r, mine, held_q, plane_q;
  logic [AddrW+8:0] held_ar_q;
  // Of the line that comes next: a beat has come with an error.
  logic bad_q, bad_d, first_q, first_d, err_q, given_q;

  assign host_rd_plane_i = 4'(rd_plane_i);
  assign host_rd_len_i = 8'(len_i);
  assign req = host_rd_valid_i && host_rd_ready_o && rd_plane_i == plane_i;
  assign m_axi_arready_i = ar_take_i && 32'(n_beats_q) < MaxBeats - 1 && other_q < 4'd12;
  assign ar = m_axi_arvalid_o && m_axi_arready_i;
  assign m_axi_rvalid_i = r_give_i && rst_ni
      && ((m_axi_rid_i == plane_i) ? n_beats_q != '0 : other_q != '0);
  assign r = m_axi_rvalid_i && m_axi_rready_o;
  assign mine = r && m_axi_rid_i == plane_i;
  for (genvar i = 0; i < WordBytes; i++) begin : gen_byte
    assign mine_data[8*i+:8] = {3'd0, beats_q[0], OffW'(i)};
  end
  assign m_axi_rdata_i = (m_axi_rid_i == plane_i) ? mine_data : other_data_i;

  logic rsp;
  assign rsp = host_rsp_valid_o && host_rsp_plane_o == 4'(plane_i);

  always_comb begin
    reqs_d = reqs_q;
    n_reqs_d = n_reqs_q;
    if (rsp) begin
      reqs_d = reqs_q >> $bits(req_t);
      n_reqs_d = n_reqs_q - 3'd1;
    end
    for (int unsigned k = 0; k < MaxReqs; k++) begin
      if (req && 3'(k) == n_reqs_d) reqs_d[k] = {host_rd_addr_i, len_i, host_rd_qp_i};
    end
    n_reqs_d = n_reqs_d + 3'(req);
    beats_d = beats_q;
    n_beats_d = n_beats_q;
    other_d = other_q;
    if (mine) begin
      beats_d = beats_q >> WordW;
      n_beats_d = n_beats_q - 4'd1;
    end
    for (int unsigned k = 0; k < MaxBeats; k++) begin
      if (ar && m_axi_arid_o == plane_i && 4'(k) == n_beats_d) begin
        beats_d[k] = m_axi_araddr_o[AddrW-1:OffW];
        beats_d[k+1] = m_axi_araddr_o[AddrW-1:OffW] + WordW'(1);
      end
    end
    if (ar && m_axi_arid_o == plane_i) n_beats_d = n_beats_d + 4'(m_axi_arlen_o[0]) + 4'd1;
    if (r && !mine) other_d = other_d - 4'd1;
    if (ar && m_axi_arid_o != plane_i) other_d = other_d + 4'(m_axi_arlen_o[0]) + 4'd1;
  end

  // Of the oldest line that was not whole in the cycle before: its request is behind one that
  // leaves in this cycle.
  req_t now;
  logic two;
  assign now = rsp ? reqs_q[1] : reqs_q[0];
  assign two = 4'(now.addr[OffW-1:0]) + 4'(now.len) > 4'(WordBytes);
  assign first_d = mine ? two && !first_q : first_q;
  assign bad_d = mine ? (two && !first_q && (bad_q || m_axi_rresp_i[1])) : bad_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {reqs_q, beats_q, n_reqs_q, n_beats_q, other_q, held_q, bad_q, first_q, given_q} <= '0;
    end else begin
      reqs_q <= reqs_d;
      beats_q <= beats_d;
      n_reqs_q <= n_reqs_d;
      n_beats_q <= n_beats_d;
      other_q <= other_d;
      held_q <= m_axi_arvalid_o && !m_axi_arready_i;
      bad_q <= bad_d;
      first_q <= first_d;
      given_q <= given_q || rsp;
    end
  end
  always_ff @(posedge clk_i) begin
    plane_q <= plane_i;
    held_ar_q <= {m_axi_araddr_o, m_axi_arlen_o, m_axi_arid_o};
    err_q <= bad_q || m_axi_rresp_i[1];
  end

  `MRC_GIVEN(same_plane, !rst_ni || plane_i == plane_q)
  `MRC_GIVEN(has_bytes, len_i != '0 && len_i <= (OffW + 1)'(WordBytes))

  logic [WordBytes-1:0] right;
  for (genvar i = 0; i < WordBytes; i++) begin : gen_right
    logic [AddrW-1:0] at;
    assign at = reqs_q[0].addr + AddrW'(i);
    assign right[i] = (OffW + 1)'(i) >= reqs_q[0].len || host_rsp_data_o[8*i+:8] == {3'd0, at};
  end
  logic [AddrW-1:0] ar_end;
  assign ar_end = m_axi_araddr_o + (m_axi_arlen_o[0] ? AddrW'(WordBytes) : '0);

  `MRC_PROVE(ar_stays, !held_q
      || (m_axi_arvalid_o && {m_axi_araddr_o, m_axi_arlen_o, m_axi_arid_o} == held_ar_q))
  `MRC_PROVE(in_a_page, !m_axi_arvalid_o || (m_axi_arlen_o <= 8'd1
      && m_axi_araddr_o[AddrW-1:PageBits] == ar_end[AddrW-1:PageBits]))
  `MRC_PROVE(requested, !rsp || n_reqs_q != '0)
  `MRC_PROVE(its_bytes, !rsp || right == '1)
  `MRC_PROVE(its_errors, !rsp || host_rsp_err_o == err_q)
  `MRC_PROVE(its_qp, !rsp || host_rsp_qp_o == reqs_q[0].qp)
  `MRC_PROVE(no_stray, !stray_o)
  `MRC_PROVE(idle_is_idle, !idle_o || {n_reqs_q, n_beats_q, other_q} == '0)
  `MRC_COVER(ar_stays, held_q && m_axi_arlen_o == 8'd1)
  `MRC_COVER(in_a_page, m_axi_arvalid_o && m_axi_arlen_o == 8'd1)
  `MRC_COVER(requested, rsp && n_reqs_q == 3'd3)
  `MRC_COVER(its_bytes, rsp && reqs_q[0].len == 3'd4 && reqs_q[0].addr[2:0] == 3'd7)
  `MRC_COVER(its_errors, rsp && host_rsp_err_o && n_reqs_q > 3'd1)
  `MRC_COVER(its_qp, rsp && reqs_q[0].qp && n_reqs_q > 3'd1 && !reqs_q[1].qp)
  `MRC_COVER(idle_is_idle, idle_o && given_q)
  `MRC_COVER(no_stray, mine && n_beats_q == 4'd1 && n_reqs_q == 3'd1)
endmodule
