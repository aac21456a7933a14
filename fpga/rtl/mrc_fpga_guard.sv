// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// AXI4-Lite to the core, with a time limit for each direction (mrc_fpga_limit): what was offered
/// stays until it is taken, also when its time is over, and what comes too late goes to nobody. A
/// core that is in reset (cut_i) is asked nothing.
/// Latency: two cycles more than the core's. Contract: docs/design/boards/axil.md.
module mrc_fpga_guard #(
    parameter int unsigned AddrW = 16,
    parameter int unsigned WaitCycles = 10000
) (
    input logic clk_i,
    input logic rst_ni,

    input logic w_go_i,
    input logic [AddrW-3:0] w_word_i,
    input logic [31:0] w_data_i,
    input logic [3:0] w_strb_i,
    output logic w_done_o,
    output logic w_err_o,
    input logic r_go_i,
    input logic [AddrW-3:0] r_word_i,
    output logic r_done_o,
    output logic r_err_o,
    output logic [31:0] r_data_o,
    // Bit 0: write, bit 1: read.
    output logic [1:0] owed_o,
    output logic [1:0] late_o,
    output logic [1:0] refused_o,
    // The core is in reset: what it was asked is forgotten, and nothing is asked.
    input logic cut_i,

    output logic m_axil_awvalid_o,
    input logic m_axil_awready_i,
    output logic [AddrW-1:0] m_axil_awaddr_o,
    output logic m_axil_wvalid_o,
    input logic m_axil_wready_i,
    output logic [31:0] m_axil_wdata_o,
    output logic [3:0] m_axil_wstrb_o,
    input logic m_axil_bvalid_i,
    output logic m_axil_bready_o,
    input logic [1:0] m_axil_bresp_i,
    output logic m_axil_arvalid_o,
    input logic m_axil_arready_i,
    output logic [AddrW-1:0] m_axil_araddr_o,
    input logic m_axil_rvalid_i,
    output logic m_axil_rready_o,
    input logic [31:0] m_axil_rdata_i,
    input logic [1:0] m_axil_rresp_i
);

  // wait_q: an answer is awaited, in time or not.
  logic awvalid_q, wvalid_q, arvalid_q, b_wait_q, r_wait_q;
  logic w_start, r_start, b_take, r_take;
  logic [AddrW-3:0] awaddr_q, araddr_q;
  logic [31:0] wdata_q, word_q;
  logic [3:0] wstrb_q;

  // An answer counts when all that it answers has been taken.
  assign m_axil_bready_o = b_wait_q && !awvalid_q && !wvalid_q;
  assign m_axil_rready_o = r_wait_q && !arvalid_q;
  assign b_take = m_axil_bvalid_i && m_axil_bready_o;
  assign r_take = m_axil_rvalid_i && m_axil_rready_o;

  mrc_fpga_limit #(
      .WaitCycles(WaitCycles)
  ) u_write (
      .clk_i,
      .rst_ni,
      .go_i(w_go_i),
      .start_o(w_start),
      .cut_i,
      .answer_i(b_take),
      .err_i(m_axil_bresp_i != 2'd0),
      .done_o(w_done_o),
      .err_o(w_err_o),
      .owed_o(owed_o[0]),
      .late_o(late_o[0]),
      .refused_o(refused_o[0])
  );

  mrc_fpga_limit #(
      .WaitCycles(WaitCycles)
  ) u_read (
      .clk_i,
      .rst_ni,
      .go_i(r_go_i),
      .start_o(r_start),
      .cut_i,
      .answer_i(r_take),
      .err_i(m_axil_rresp_i != 2'd0),
      .done_o(r_done_o),
      .err_o(r_err_o),
      .owed_o(owed_o[1]),
      .late_o(late_o[1]),
      .refused_o(refused_o[1])
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      awvalid_q <= 1'b0;
      wvalid_q <= 1'b0;
      arvalid_q <= 1'b0;
      b_wait_q <= 1'b0;
      r_wait_q <= 1'b0;
    end else begin
      awvalid_q <= w_start || (awvalid_q && !m_axil_awready_i && !cut_i);
      wvalid_q <= w_start || (wvalid_q && !m_axil_wready_i && !cut_i);
      arvalid_q <= r_start || (arvalid_q && !m_axil_arready_i && !cut_i);
      b_wait_q <= w_start || (b_wait_q && !b_take && !cut_i);
      r_wait_q <= r_start || (r_wait_q && !r_take && !cut_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (w_start) begin
      awaddr_q <= w_word_i;
      wdata_q <= w_data_i;
      wstrb_q <= w_strb_i;
    end
    if (r_start) begin
      araddr_q <= r_word_i;
    end
    // What comes too late is nobody's.
    word_q <= (r_take && !owed_o[1]) ? m_axil_rdata_i : 32'd0;
  end

  assign m_axil_awvalid_o = awvalid_q;
  assign m_axil_awaddr_o = {awaddr_q, 2'd0};
  assign m_axil_wvalid_o = wvalid_q;
  assign m_axil_wdata_o = wdata_q;
  assign m_axil_wstrb_o = wstrb_q;
  assign m_axil_arvalid_o = arvalid_q;
  assign m_axil_araddr_o = {araddr_q, 2'd0};
  assign r_data_o = word_q;

endmodule
