// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_fill with software that writes any register at any time and a memory that takes and
/// answers when it likes, each burst once, with any bytes. Words of eight bytes.
module formal_fpga_fill #(
    parameter int unsigned MaxOpen = 2
) (
    input logic clk_i,
    input logic run_i,
    input logic w_go_i,
    input logic [9:0] w_word_i,
    input logic [31:0] w_data_i,
    input logic m_axi_awready_i,
    input logic m_axi_wready_i,
    input logic m_axi_bvalid_i,
    input logic [1:0] m_axi_bresp_i,
    input logic m_axi_arready_i,
    input logic m_axi_rvalid_i,
    input logic [63:0] m_axi_rdata_i,
    input logic [1:0] m_axi_rresp_i
);
  `MRC_RESET

  logic idle_o, w_good_o, r_good_o, m_axi_awvalid_o, m_axi_wvalid_o, m_axi_bready_o;
  logic m_axi_arvalid_o, m_axi_rready_o;
  logic [31:0] r_data_o;
  logic [63:0] m_axi_awaddr_o, m_axi_wdata_o, m_axi_araddr_o;

  mrc_fpga_fill #(
      .WordBytes(8),
      .MaxOpen(MaxOpen)
  ) dut (
      .w_strb_i(4'hf),
      .r_word_i(10'd0),
      .*
  );

  localparam logic [9:0] Job = 10'h044;

  /// The three shifts bit by bit.
  function automatic logic [63:0] expected(logic [31:0] seed, logic [31:0] n);
    logic [63:0] x, y, z;
    for (int i = 0; i < 64; i++) begin
      x[i] = i < 32 ? n[i % 32] : seed[i % 32];
      if (i >= 13) x[i] = x[i] ^ (i - 13 < 32 ? n[(i - 13) % 32] : seed[(i - 13) % 32]);
    end
    for (int i = 0; i < 64; i++) y[i] = i + 7 < 64 ? x[i] ^ x[(i + 7) % 64] : x[i];
    for (int i = 0; i < 64; i++) z[i] = i >= 17 ? y[i] ^ y[(i + 47) % 64] : y[i];
    return z;
  endfunction

  logic begins, busy_q, fill_q, aw_q, w_q, ar_q, differs;
  // Of this job: addresses and beats that were taken, answers that have come; words that differ.
  logic [31:0] aws_q, ws_q, ars_q, bs_q, rs_q, bad_q;
  logic [63:0] awaddr_q, wdata_q, araddr_q, bad_at_q;
  logic aw_new, ar_new, run_q;

  assign begins = w_go_i && w_good_o && w_word_i == Job;
  assign differs = m_axi_rvalid_i && !m_axi_rresp_i[1]
      && m_axi_rdata_i != expected(dut.seed_q, rs_q);
  assign aw_new = m_axi_awvalid_o && !aw_q;
  assign ar_new = m_axi_arvalid_o && !ar_q;

  // A burst is answered once, when its address and its beat were taken.
  `MRC_GIVEN(b_requested, !m_axi_bvalid_i || (bs_q != aws_q && bs_q != ws_q))
  `MRC_GIVEN(r_requested, !m_axi_rvalid_i || rs_q != ars_q)

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {busy_q, fill_q, aw_q, w_q, ar_q, run_q} <= '0;
      {aws_q, ws_q, ars_q, bs_q, rs_q, bad_q, bad_at_q} <= '0;
    end else begin
      run_q <= run_i;
      aw_q <= m_axi_awvalid_o && !m_axi_awready_i;
      w_q <= m_axi_wvalid_o && !m_axi_wready_i;
      ar_q <= m_axi_arvalid_o && !m_axi_arready_i;
      aws_q <= aws_q + 32'(m_axi_awvalid_o && m_axi_awready_i);
      ws_q <= ws_q + 32'(m_axi_wvalid_o && m_axi_wready_i);
      ars_q <= ars_q + 32'(m_axi_arvalid_o && m_axi_arready_i);
      bs_q <= bs_q + 32'(m_axi_bvalid_i);
      rs_q <= rs_q + 32'(m_axi_rvalid_i);
      bad_q <= bad_q + 32'(differs);
      if (differs && bad_q == 0) begin
        bad_at_q <= {dut.addr_q, 3'd0} + {29'd0, rs_q, 3'd0};
      end
      busy_q <= dut.busy;
      if (begins) begin
        fill_q <= w_data_i[0];
        {aws_q, ws_q, ars_q, bs_q, rs_q, bad_q, bad_at_q} <= '0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    awaddr_q <= m_axi_awaddr_o;
    wdata_q <= m_axi_wdata_o;
    araddr_q <= m_axi_araddr_o;
  end

  `MRC_PROVE(stays, (!aw_q || (m_axi_awvalid_o && m_axi_awaddr_o == awaddr_q))
      && (!w_q || (m_axi_wvalid_o && m_axi_wdata_o == wdata_q))
      && (!ar_q || (m_axi_arvalid_o && m_axi_araddr_o == araddr_q)))
  `MRC_PROVE(aw_in_order, !m_axi_awvalid_o
      || m_axi_awaddr_o == {dut.addr_q, 3'd0} + {29'd0, aws_q, 3'd0})
  `MRC_PROVE(w_in_order, !m_axi_wvalid_o || m_axi_wdata_o == expected(dut.seed_q, ws_q))
  `MRC_PROVE(ar_in_order, !m_axi_arvalid_o
      || m_axi_araddr_o == {dut.addr_q, 3'd0} + {29'd0, ars_q, 3'd0})
  `MRC_PROVE(reported, dut.bad_q == bad_q && {dut.bad_at_q, 3'd0} == bad_at_q)
  `MRC_PROVE(idle, !idle_o || (!m_axi_awvalid_o && !m_axi_wvalid_o && !m_axi_arvalid_o
      && bs_q == aws_q && bs_q == ws_q && rs_q == ars_q))
  `MRC_PROVE(whole, !busy_q || dut.busy
      || (fill_q ? bs_q == dut.words_q && ws_q == dut.words_q : rs_q == dut.words_q))
  `MRC_PROVE(paused, run_q || (!aw_new && !ar_new))
  `MRC_PROVE(open, aws_q - bs_q <= 32'(MaxOpen) && ars_q - rs_q <= 32'(MaxOpen))

  `MRC_COVER(stays, aw_q)
  `MRC_COVER(aw_in_order, m_axi_awvalid_o && aws_q == 2)
  `MRC_COVER(w_in_order, m_axi_wvalid_o && ws_q == 2)
  `MRC_COVER(ar_in_order, m_axi_arvalid_o && ars_q == 2)
  `MRC_COVER(reported, bad_q == 2 && rs_q == 3)
  `MRC_COVER(idle, idle_o && dut.busy && dut.left_q != 0 && rs_q == 1)
  `MRC_COVER(whole, busy_q && !dut.busy && dut.words_q == 2)
  `MRC_COVER(paused, !run_q && dut.left_q == 1)
  `MRC_COVER(open, ars_q - rs_q == 32'(MaxOpen))
endmodule
