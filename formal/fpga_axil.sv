// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_axil between a shell that does what it likes (it may even withdraw what it offered) and
/// blocks that answer when they like, or never.
module formal_fpga_axil #(
    parameter int unsigned AddrW = 5
) (
    input logic clk_i,
    input logic s_axil_awvalid_i,
    input logic [AddrW-1:0] s_axil_awaddr_i,
    input logic s_axil_wvalid_i,
    input logic [31:0] s_axil_wdata_i,
    input logic [3:0] s_axil_wstrb_i,
    input logic s_axil_bready_i,
    input logic s_axil_arvalid_i,
    input logic [AddrW-1:0] s_axil_araddr_i,
    input logic s_axil_rready_i,
    input logic w_answer_i,
    input logic w_err_i,
    input logic r_answer_i,
    input logic r_err_i,
    input logic [31:0] r_data_i
);
  `MRC_RESET

  logic s_axil_awready_o, s_axil_wready_o, s_axil_bvalid_o, s_axil_arready_o, s_axil_rvalid_o;
  logic [1:0] s_axil_bresp_o, s_axil_rresp_o;
  logic [31:0] s_axil_rdata_o, w_data_o;
  logic [3:0] w_strb_o;
  logic w_go_o, w_done_i, r_go_o, r_done_i;
  logic [AddrW-3:0] w_word_o, r_word_o;

  mrc_fpga_axil #(
      .AddrW(AddrW)
  ) dut (
      .*
  );

  // Of the write: what has come, whether it was begun, whether it is done, with which outcome.
  logic aw_q, w_q, w_gone_q, w_done_q, w_err_q;
  logic [AddrW-3:0] awaddr_q, araddr_q;
  logic [31:0] wdata_q, rdata_q;
  logic [3:0] wstrb_q;
  logic ar_q, r_gone_q, r_done_q, r_err_q;
  logic aw, w, b, ar, r;

  assign aw = s_axil_awvalid_i && s_axil_awready_o;
  assign w = s_axil_wvalid_i && s_axil_wready_o;
  assign b = s_axil_bvalid_o && s_axil_bready_i;
  assign ar = s_axil_arvalid_i && s_axil_arready_o;
  assign r = s_axil_rvalid_o && s_axil_rready_i;
  assign w_done_i = w_gone_q && !w_done_q && w_answer_i;
  assign r_done_i = r_gone_q && !r_done_q && r_answer_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_q, w_q, w_gone_q, w_done_q, ar_q, r_gone_q, r_done_q} <= '0;
    end else begin
      aw_q <= (aw_q || aw) && !b;
      w_q <= (w_q || w) && !b;
      w_gone_q <= (w_gone_q || w_go_o) && !b;
      w_done_q <= (w_done_q || w_done_i) && !b;
      ar_q <= (ar_q || ar) && !r;
      r_gone_q <= (r_gone_q || r_go_o) && !r;
      r_done_q <= (r_done_q || r_done_i) && !r;
    end
  end
  always_ff @(posedge clk_i) begin
    if (aw) awaddr_q <= s_axil_awaddr_i[AddrW-1:2];
    if (w) {wdata_q, wstrb_q} <= {s_axil_wdata_i, s_axil_wstrb_i};
    if (w_done_i) w_err_q <= w_err_i;
    if (ar) araddr_q <= s_axil_araddr_i[AddrW-1:2];
    if (r_done_i) {r_err_q, rdata_q} <= {r_err_i, r_data_i};
  end

  `MRC_PROVE(w_taken, s_axil_awready_o == !aw_q && s_axil_wready_o == !w_q)
  `MRC_PROVE(w_begun, w_go_o == (aw_q && w_q && !w_gone_q))
  `MRC_PROVE(w_as_sent, !(w_gone_q || w_go_o)
      || {w_word_o, w_data_o, w_strb_o} == {awaddr_q, wdata_q, wstrb_q})
  `MRC_PROVE(w_answered, s_axil_bvalid_o == w_done_q)
  `MRC_PROVE(w_outcome, !s_axil_bvalid_o || s_axil_bresp_o == {w_err_q, 1'b0})
  `MRC_PROVE(r_taken, s_axil_arready_o == !ar_q)
  `MRC_PROVE(r_begun, r_go_o == (ar_q && !r_gone_q))
  `MRC_PROVE(r_as_sent, !(r_gone_q || r_go_o) || r_word_o == araddr_q)
  `MRC_PROVE(r_answered, s_axil_rvalid_o == r_done_q)
  `MRC_PROVE(r_outcome, !s_axil_rvalid_o
      || {s_axil_rresp_o, s_axil_rdata_o} == {r_err_q, 1'b0, rdata_q})
  `MRC_COVER(w_first, w_q && !aw_q)
  `MRC_COVER(aw_first, w_go_o && awaddr_q == '1)
  `MRC_COVER(w_error, b && s_axil_bresp_o == 2'd2)
  `MRC_COVER(r_error, r && s_axil_rresp_o == 2'd2 && w_gone_q && !w_done_q)
  `MRC_COVER(r_good, r && s_axil_rresp_o == 2'd0 && s_axil_rdata_o == '1)
endmodule
