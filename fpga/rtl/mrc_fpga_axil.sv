// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// AXI4-Lite of a shell: takes AW and W in any order, begins an access with one cycle of go, waits
/// for done, and offers B or R until it is taken. One write and one read at a time, neither of
/// which waits for the other. Latency: go comes one cycle after the last of AW and W (or AR), B or
/// R one cycle after done. It knows no addresses, and sets no time limit: whoever is asked answers.
/// Contract: docs/design/boards/axil.md.
module mrc_fpga_axil #(
    parameter int unsigned AddrW = 16
) (
    input logic clk_i,
    input logic rst_ni,

    input logic s_axil_awvalid_i,
    output logic s_axil_awready_o,
    input logic [AddrW-1:0] s_axil_awaddr_i,
    input logic s_axil_wvalid_i,
    output logic s_axil_wready_o,
    input logic [31:0] s_axil_wdata_i,
    input logic [3:0] s_axil_wstrb_i,
    output logic s_axil_bvalid_o,
    input logic s_axil_bready_i,
    output logic [1:0] s_axil_bresp_o,
    input logic s_axil_arvalid_i,
    output logic s_axil_arready_o,
    input logic [AddrW-1:0] s_axil_araddr_i,
    output logic s_axil_rvalid_o,
    input logic s_axil_rready_i,
    output logic [31:0] s_axil_rdata_o,
    output logic [1:0] s_axil_rresp_o,

    output logic w_go_o,
    output logic [AddrW-3:0] w_word_o,
    output logic [31:0] w_data_o,
    output logic [3:0] w_strb_o,
    input logic w_done_i,
    input logic w_err_i,
    output logic r_go_o,
    output logic [AddrW-3:0] r_word_o,
    input logic r_done_i,
    input logic r_err_i,
    input logic [31:0] r_data_i
);

  localparam logic [1:0] RespOkay = 2'd0;
  localparam logic [1:0] RespSlvErr = 2'd2;

  // What the shell has sent is kept until its answer is taken.
  logic aw_full_q, aw_full_d, w_full_q, w_full_d, w_busy_q, w_busy_d, bvalid_q, bvalid_d;
  logic ar_full_q, ar_full_d, r_busy_q, r_busy_d, rvalid_q, rvalid_d;
  logic aw_take, w_take, b_give, ar_take, r_give;
  logic [AddrW-3:0] awaddr_q, araddr_q;
  logic [31:0] wdata_q, word_q;
  logic [3:0] wstrb_q;
  logic berr_q, rerr_q;

  assign aw_take = s_axil_awvalid_i && !aw_full_q;
  assign w_take = s_axil_wvalid_i && !w_full_q;
  assign b_give = bvalid_q && s_axil_bready_i;
  assign ar_take = s_axil_arvalid_i && !ar_full_q;
  assign r_give = rvalid_q && s_axil_rready_i;
  assign w_go_o = aw_full_q && w_full_q && !w_busy_q && !bvalid_q;
  assign r_go_o = ar_full_q && !r_busy_q && !rvalid_q;

  always_comb begin
    aw_full_d = (aw_full_q || aw_take) && !b_give;
    w_full_d = (w_full_q || w_take) && !b_give;
    w_busy_d = w_go_o || (w_busy_q && !w_done_i);
    bvalid_d = (w_busy_q && w_done_i) || (bvalid_q && !b_give);
    ar_full_d = (ar_full_q || ar_take) && !r_give;
    r_busy_d = r_go_o || (r_busy_q && !r_done_i);
    rvalid_d = (r_busy_q && r_done_i) || (rvalid_q && !r_give);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_full_q <= 1'b0;
      w_full_q <= 1'b0;
      w_busy_q <= 1'b0;
      bvalid_q <= 1'b0;
      ar_full_q <= 1'b0;
      r_busy_q <= 1'b0;
      rvalid_q <= 1'b0;
    end else begin
      aw_full_q <= aw_full_d;
      w_full_q <= w_full_d;
      w_busy_q <= w_busy_d;
      bvalid_q <= bvalid_d;
      ar_full_q <= ar_full_d;
      r_busy_q <= r_busy_d;
      rvalid_q <= rvalid_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (aw_take) begin
      awaddr_q <= s_axil_awaddr_i[AddrW-1:2];
    end
    if (w_take) begin
      wdata_q <= s_axil_wdata_i;
      wstrb_q <= s_axil_wstrb_i;
    end
    if (w_busy_q && w_done_i) begin
      berr_q <= w_err_i;
    end
    if (ar_take) begin
      araddr_q <= s_axil_araddr_i[AddrW-1:2];
    end
    if (r_busy_q && r_done_i) begin
      rerr_q <= r_err_i;
      word_q <= r_data_i;
    end
  end

  assign s_axil_awready_o = !aw_full_q;
  assign s_axil_wready_o = !w_full_q;
  assign s_axil_bvalid_o = bvalid_q;
  assign s_axil_bresp_o = berr_q ? RespSlvErr : RespOkay;
  assign s_axil_arready_o = !ar_full_q;
  assign s_axil_rvalid_o = rvalid_q;
  assign s_axil_rdata_o = word_q;
  assign s_axil_rresp_o = rerr_q ? RespSlvErr : RespOkay;
  assign w_word_o = awaddr_q;
  assign w_data_o = wdata_q;
  assign w_strb_o = wstrb_q;
  assign r_word_o = araddr_q;

  logic unused_bits;
  assign unused_bits = ^{s_axil_awaddr_i[1:0], s_axil_araddr_i[1:0]};

  `MRC_ASSERT(WriteIsWhole, !(w_busy_q || bvalid_q) || (aw_full_q && w_full_q),
      "a write is done without its address or its data")
  `MRC_ASSERT(ReadIsWhole, !(r_busy_q || rvalid_q) || ar_full_q,
      "a read is done without its address")

endmodule
