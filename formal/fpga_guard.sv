// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_guard between a caller that asks one at a time and a core that is ready, and answers,
/// when it likes, and that is in reset now and then (cut_i). What the core reads is the word's
/// number: so an answer says whose it is.
module formal_fpga_guard #(
    parameter int unsigned WaitCycles = 3,
    localparam int unsigned AddrW = 5
) (
    input logic clk_i,
    input logic cut_i,
    input logic w_want_i,
    input logic [AddrW-3:0] w_word_i,
    input logic [3:0] w_strb_i,
    input logic r_want_i,
    input logic [AddrW-3:0] r_word_i,
    input logic m_axil_awready_i,
    input logic m_axil_wready_i,
    input logic m_axil_bvalid_i,
    input logic [1:0] m_axil_bresp_i,
    input logic m_axil_arready_i,
    input logic m_axil_rvalid_i,
    input logic [1:0] m_axil_rresp_i
);
  `MRC_RESET

  logic w_go_i, w_done_o, w_err_o, r_go_i, r_done_o, r_err_o;
  logic [31:0] w_data_i, r_data_o, m_axil_wdata_o, m_axil_rdata_i;
  logic [1:0] owed_o, late_o, refused_o;
  logic m_axil_awvalid_o, m_axil_wvalid_o, m_axil_bready_o, m_axil_arvalid_o, m_axil_rready_o;
  logic [AddrW-1:0] m_axil_awaddr_o, m_axil_araddr_o;
  logic [3:0] m_axil_wstrb_o;

  mrc_fpga_guard #(
      .AddrW(AddrW),
      .WaitCycles(WaitCycles)
  ) dut (
      .*
  );

  logic w_pending_q, r_pending_q, aw, w, b, ar, r, cut_q;
  // What the access that is under way asks, and what the core has taken last.
  logic [AddrW-3:0] w_word_q, r_word_q, aw_at_q, w_at_q, ar_at_q;
  // Offered and not taken in the cycle before; of what was begun, AW and W were taken.
  logic aw_held_q, w_held_q, ar_held_q, aw_gone_q, w_gone_q, ar_gone_q, b_q, r_q;
  logic [AddrW-1:0] awaddr_q, araddr_q;
  logic [35:0] wdata_q;

  assign w_go_i = w_want_i && !w_pending_q && rst_ni;
  assign r_go_i = r_want_i && !r_pending_q && rst_ni;
  assign w_data_i = 32'(w_word_i);
  assign aw = m_axil_awvalid_o && m_axil_awready_i;
  assign w = m_axil_wvalid_o && m_axil_wready_i;
  assign b = m_axil_bvalid_i && m_axil_bready_o;
  assign ar = m_axil_arvalid_o && m_axil_arready_i;
  assign r = m_axil_rvalid_i && m_axil_rready_o;
  assign m_axil_rdata_i = 32'(ar_at_q) + 32'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {w_pending_q, r_pending_q, aw_held_q, w_held_q, ar_held_q} <= '0;
      {aw_gone_q, w_gone_q, ar_gone_q, b_q, r_q, cut_q} <= '0;
    end else begin
      w_pending_q <= w_go_i || (w_pending_q && !w_done_o);
      r_pending_q <= r_go_i || (r_pending_q && !r_done_o);
      cut_q <= cut_i;
      aw_held_q <= m_axil_awvalid_o && !aw && !cut_i;
      w_held_q <= m_axil_wvalid_o && !w && !cut_i;
      ar_held_q <= m_axil_arvalid_o && !ar && !cut_i;
      aw_gone_q <= (aw_gone_q || aw) && !b && !cut_i;
      w_gone_q <= (w_gone_q || w) && !b && !cut_i;
      ar_gone_q <= (ar_gone_q || ar) && !r && !cut_i;
      b_q <= b && !owed_o[0];
      r_q <= r && !owed_o[1];
    end
  end
  always_ff @(posedge clk_i) begin
    if (w_go_i) w_word_q <= w_word_i;
    if (r_go_i) r_word_q <= r_word_i;
    if (aw) aw_at_q <= m_axil_awaddr_o[AddrW-1:2];
    if (w) w_at_q <= m_axil_wdata_o[AddrW-3:0];
    if (ar) ar_at_q <= m_axil_araddr_o[AddrW-1:2];
    awaddr_q <= m_axil_awaddr_o;
    wdata_q <= {m_axil_wdata_o, m_axil_wstrb_o};
    araddr_q <= m_axil_araddr_o;
  end

  `MRC_PROVE(aw_stays, !aw_held_q || (m_axil_awvalid_o && m_axil_awaddr_o == awaddr_q))
  `MRC_PROVE(w_stays, !w_held_q
      || (m_axil_wvalid_o && {m_axil_wdata_o, m_axil_wstrb_o} == wdata_q))
  `MRC_PROVE(ar_stays, !ar_held_q || (m_axil_arvalid_o && m_axil_araddr_o == araddr_q))
  `MRC_PROVE(w_once, !(m_axil_awvalid_o && aw_gone_q) && !(m_axil_wvalid_o && w_gone_q))
  `MRC_PROVE(r_once, !(m_axil_arvalid_o && ar_gone_q))
  `MRC_PROVE(b_after_both, !b || (aw_gone_q && w_gone_q))
  `MRC_PROVE(w_own, !(w_done_o && !w_err_o) || (b_q && aw_at_q == w_word_q && w_at_q == w_word_q))
  `MRC_PROVE(r_own, !(r_done_o && !r_err_o) || (r_q && r_data_o == 32'(r_word_q) + 32'd1))
  `MRC_PROVE(r_nothing_else, !(r_done_o && r_err_o) || r_q || r_data_o == 32'd0)
  `MRC_PROVE(quiet, !cut_q || {m_axil_awvalid_o, m_axil_wvalid_o, m_axil_arvalid_o, m_axil_bready_o,
                               m_axil_rready_o} == '0)
  `MRC_COVER(quiet, cut_i && ar_gone_q && m_axil_awvalid_o && owed_o != '0)
  `MRC_COVER(aw_stays, aw_held_q && owed_o[0])
  `MRC_COVER(w_stays, w_held_q && aw_gone_q && owed_o[0])
  `MRC_COVER(ar_stays, ar_held_q && owed_o[1])
  `MRC_COVER(w_once, m_axil_awvalid_o && w_gone_q)
  `MRC_COVER(r_once, ar_gone_q && refused_o[1])
  `MRC_COVER(w_own, w_done_o && !w_err_o && w_word_q == '1)
  `MRC_COVER(r_own, r_done_o && !r_err_o && r_word_q == '1)
  `MRC_COVER(r_nothing_else, r_done_o && r_err_o && ar_gone_q)
endmodule
