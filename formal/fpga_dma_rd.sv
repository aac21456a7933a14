// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_dma_rd and a DMA that answers descriptors in their order, when it likes. A byte of
/// memory is its address; what lies behind a descriptor's bytes in its beat is arbitrary.
module formal_fpga_dma_rd #(
    parameter int unsigned Pending = 2,
    parameter int unsigned PageBits = 3,
    localparam int unsigned WordBytes = 4,
    localparam int unsigned AddrW = 5,
    localparam int unsigned OffW = 2,
    localparam int unsigned Max = 6
) (
    input logic clk_i,
    input logic host_rd_valid_i,
    input logic [AddrW-1:0] host_rd_addr_i,
    input logic [OffW:0] len_i,
    input logic host_rd_qp_i,
    input logic rd_plane_i,
    input logic desc_take_i,
    input logic give_i,
    input logic rsp_err_i,
    input logic [WordBytes*8-1:0] behind_i
);
  `MRC_RESET

  logic host_rd_ready_o, host_rsp_valid_o, host_rsp_err_o, host_rsp_qp_o, stray_o, idle_o;
  logic [3:0] host_rd_plane_i, host_rsp_plane_o;
  logic [7:0] host_rd_len_i;
  logic [WordBytes*8-1:0] host_rsp_data_o, rsp_data_i;
  logic desc_valid_o, desc_ready_i, rsp_valid_i;
  logic [AddrW-1:0] desc_addr_o;
  logic [OffW:0] desc_len_o;

  mrc_fpga_dma_rd #(
      .WordBytes(WordBytes),
      .NumPlanes(2),
      .Pending(Pending),
      .LenW(OffW + 1),
      .AddrW(AddrW),
      .PageBits(PageBits),
      .QpW(1)
  ) dut (
      .*
  );

  // Requests without their line, and descriptors without their beat, oldest first.
  typedef struct packed {
    logic [AddrW-1:0] addr;
    logic [OffW:0] len;
    logic qp;
    logic plane;
  } req_t;
  typedef struct packed {
    logic [AddrW-1:0] addr;
    logic [OffW:0] len;
  } desc_t;
  req_t [Max:0] reqs_q, reqs_d;
  desc_t [Max:0] descs_q, descs_d;
  logic [2:0] n_reqs_q, n_reqs_d, n_descs_q, n_descs_d;
  logic req, desc, rsp, held_q;
  logic [AddrW+OffW:0] held_desc_q;
  // Of the line that comes next: bytes that came, and that one came with an error.
  logic [OffW:0] got_q, got_d, sum;
  logic bad_q, bad_d, err_q, given_q;
  req_t now;

  assign host_rd_plane_i = 4'(rd_plane_i);
  assign host_rd_len_i = 8'(len_i);
  assign req = host_rd_valid_i && host_rd_ready_o;
  assign desc_ready_i = desc_take_i && 32'(n_descs_q) < Max;
  assign desc = desc_valid_o && desc_ready_i;
  assign rsp_valid_i = give_i && n_descs_q != '0 && rst_ni;
  assign rsp = host_rsp_valid_o;
  for (genvar i = 0; i < WordBytes; i++) begin : gen_byte
    logic [AddrW-1:0] at;
    assign at = descs_q[0].addr + AddrW'(i);
    assign rsp_data_i[8*i+:8] = ((OffW + 1)'(i) < descs_q[0].len) ? 8'(at) : behind_i[8*i+:8];
  end

  always_comb begin
    reqs_d = reqs_q;
    n_reqs_d = n_reqs_q;
    if (rsp) begin
      reqs_d = reqs_q >> $bits(req_t);
      n_reqs_d = n_reqs_q - 3'd1;
    end
    for (int unsigned k = 0; k < Max; k++) begin
      if (req && 3'(k) == n_reqs_d) begin
        reqs_d[k] = {host_rd_addr_i, len_i, host_rd_qp_i, rd_plane_i};
      end
    end
    n_reqs_d = n_reqs_d + 3'(req);
    descs_d = descs_q;
    n_descs_d = n_descs_q;
    if (rsp_valid_i) begin
      descs_d = descs_q >> $bits(desc_t);
      n_descs_d = n_descs_q - 3'd1;
    end
    for (int unsigned k = 0; k < Max; k++) begin
      if (desc && 3'(k) == n_descs_d) descs_d[k] = {desc_addr_o, desc_len_o};
    end
    n_descs_d = n_descs_d + 3'(desc);
  end

  // The oldest request of which not all bytes have come is behind one whose line leaves now.
  assign now = rsp ? reqs_q[1] : reqs_q[0];
  assign sum = got_q + descs_q[0].len;
  assign got_d = !rsp_valid_i ? got_q : (sum == now.len) ? '0 : sum;
  assign bad_d = !rsp_valid_i ? bad_q : (sum != now.len) && (bad_q || rsp_err_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {reqs_q, descs_q, n_reqs_q, n_descs_q, held_q, got_q, bad_q, given_q} <= '0;
    end else begin
      reqs_q <= reqs_d;
      descs_q <= descs_d;
      n_reqs_q <= n_reqs_d;
      n_descs_q <= n_descs_d;
      held_q <= desc_valid_o && !desc_ready_i;
      got_q <= got_d;
      bad_q <= bad_d;
      given_q <= given_q || rsp;
    end
  end
  always_ff @(posedge clk_i) begin
    held_desc_q <= {desc_addr_o, desc_len_o};
    err_q <= bad_q || rsp_err_i;
  end

  `MRC_GIVEN(has_bytes, len_i != '0 && len_i <= (OffW + 1)'(WordBytes))

  logic [WordBytes-1:0] right;
  for (genvar i = 0; i < WordBytes; i++) begin : gen_right
    logic [AddrW-1:0] at;
    assign at = reqs_q[0].addr + AddrW'(i);
    assign right[i] = (OffW + 1)'(i) >= reqs_q[0].len || host_rsp_data_o[8*i+:8] == 8'(at);
  end
  logic [AddrW-1:0] desc_end;
  assign desc_end = desc_addr_o + AddrW'(desc_len_o) - AddrW'(1);

  `MRC_PROVE(desc_stays, !held_q || (desc_valid_o && {desc_addr_o, desc_len_o} == held_desc_q))
  `MRC_PROVE(in_a_page, !desc_valid_o || (desc_len_o != '0 && 32'(desc_len_o) <= WordBytes
      && desc_addr_o[AddrW-1:PageBits] == desc_end[AddrW-1:PageBits]))
  `MRC_PROVE(requested, !rsp || n_reqs_q != '0)
  `MRC_PROVE(its_bytes, !rsp || right == '1)
  `MRC_PROVE(its_errors, !rsp || host_rsp_err_o == err_q)
  `MRC_PROVE(its_qp, !rsp
      || {host_rsp_qp_o, host_rsp_plane_o} == {reqs_q[0].qp, 3'd0, reqs_q[0].plane})
  `MRC_PROVE(no_stray, !stray_o)
  `MRC_PROVE(idle_is_idle, !idle_o || {n_reqs_q, n_descs_q, desc_valid_o} == '0)
  `MRC_COVER(desc_stays, held_q && desc_len_o == 3'd3)
  `MRC_COVER(in_a_page, desc_valid_o && desc_len_o == 3'd1 && n_descs_q == 3'd1)
  `MRC_COVER(requested, rsp && n_reqs_q == 3'd3)
  `MRC_COVER(its_bytes, rsp && reqs_q[0].len == 3'd4 && reqs_q[0].addr[2:0] == 3'd7)
  `MRC_COVER(its_errors, rsp && host_rsp_err_o && n_reqs_q > 3'd1)
  `MRC_COVER(its_qp, rsp && reqs_q[0].qp && n_reqs_q > 3'd1 && !reqs_q[1].qp)
  `MRC_COVER(no_stray, rsp_valid_i && n_descs_q == 3'd1 && n_reqs_q == 3'd1)
  `MRC_COVER(idle_is_idle, idle_o && given_q)
endmodule
