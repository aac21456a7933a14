// SPDX-License-Identifier: Apache-2.0
// The exported Verilog of tiny against recorded pins (recorder.c). +pins=FILE names the record, +cycles=N how many.
// Inputs are driven as recorded, x where they mean nothing; whatever output means something must be equal to its last
// bit. All begins as X: the reset and what the NIC writes itself must end that.
`timescale 1ps / 1ps
module icarus_bench;
  reg clk = 0;
  integer file, fields, cycle, cycles, plane, bad = 0, received = 0, sent = 0, written = 0, completed = 0;
  reg [8*4096-1:0] name;

  reg rst_n;
  reg [7:0] bug;
  reg [1:0] link_up;
  reg awvalid, wvalid, bready, arvalid, rready;
  reg [15:0] awaddr, araddr;
  reg [31:0] wdata;
  reg [3:0] wstrb;
  reg wqe_valid, cqe_ready, host_rd_ready, host_rsp_valid, host_rsp_err, host_fail_valid, host_wr_ready;
  reg [275:0] wqe;
  reg [3:0] host_rsp_plane;
  reg [255:0] host_rsp_data;
  reg [26:0] host_fail;
  reg [1:0] tx_tready, rx_tvalid, rx_tlast, rx_tuser;
  reg [255:0] rx_tdata;
  reg [31:0] rx_tkeep;

  // What the record says, and what the NIC does.
  reg w_awready, w_wready, w_bvalid, w_arready, w_rvalid, w_irq, w_wqe_ready, w_cqe_valid, w_host_rd_valid;
  reg w_host_fail_ready, w_host_wr_valid, w_host_wr_last;
  reg [1:0] w_bresp, w_rresp, w_tx_tvalid, w_tx_tlast;
  reg [31:0] w_rdata, w_tx_tkeep;
  reg [139:0] w_cqe;
  reg [94:0] w_host_rd;
  reg [63:0] w_host_wr_addr;
  reg [7:0] w_host_wr_len;
  reg [3:0] w_host_wr_plane;
  reg [18:0] w_host_wr_qp;
  reg [255:0] w_host_wr_data, w_tx_tdata;
  wire awready, wready, bvalid, arready, rvalid, irq, wqe_ready, cqe_valid, host_rd_valid;
  wire host_fail_ready, host_wr_valid, host_wr_last;
  wire [1:0] bresp, rresp, tx_tvalid, tx_tlast;
  wire [31:0] rdata, tx_tkeep;
  wire [139:0] cqe;
  wire [94:0] host_rd;
  wire [63:0] host_wr_addr;
  wire [7:0] host_wr_len;
  wire [3:0] host_wr_plane;
  wire [18:0] host_wr_qp;
  wire [255:0] host_wr_data, tx_tdata;

  mrc_nic_tiny dut (
      .clk_i(clk), .rst_ni(rst_n), .bug_i(bug), .link_up_i(link_up), .irq_o(irq),
      .s_axil_awvalid_i(awvalid), .s_axil_awready_o(awready), .s_axil_awaddr_i(awaddr),
      .s_axil_wvalid_i(wvalid), .s_axil_wready_o(wready), .s_axil_wdata_i(wdata), .s_axil_wstrb_i(wstrb),
      .s_axil_bvalid_o(bvalid), .s_axil_bready_i(bready), .s_axil_bresp_o(bresp),
      .s_axil_arvalid_i(arvalid), .s_axil_arready_o(arready), .s_axil_araddr_i(araddr),
      .s_axil_rvalid_o(rvalid), .s_axil_rready_i(rready), .s_axil_rdata_o(rdata), .s_axil_rresp_o(rresp),
      .wqe_valid_i(wqe_valid), .wqe_ready_o(wqe_ready), .wqe_i(wqe),
      .cqe_valid_o(cqe_valid), .cqe_ready_i(cqe_ready), .cqe_o(cqe),
      .host_rd_valid_o(host_rd_valid), .host_rd_ready_i(host_rd_ready), .host_rd_o(host_rd),
      .host_rsp_valid_i(host_rsp_valid), .host_rsp_plane_i(host_rsp_plane), .host_rsp_data_i(host_rsp_data),
      .host_rsp_err_i(host_rsp_err),
      .host_fail_valid_i(host_fail_valid), .host_fail_ready_o(host_fail_ready), .host_fail_i(host_fail),
      .host_wr_valid_o(host_wr_valid), .host_wr_ready_i(host_wr_ready), .host_wr_addr_o(host_wr_addr),
      .host_wr_len_o(host_wr_len), .host_wr_last_o(host_wr_last), .host_wr_plane_o(host_wr_plane),
      .host_wr_qp_o(host_wr_qp), .host_wr_data_o(host_wr_data),
      .tx_tvalid_o(tx_tvalid), .tx_tready_i(tx_tready), .tx_tdata_o(tx_tdata), .tx_tkeep_o(tx_tkeep),
      .tx_tlast_o(tx_tlast),
      .rx_tvalid_i(rx_tvalid), .rx_tdata_i(rx_tdata), .rx_tkeep_i(rx_tkeep), .rx_tlast_i(rx_tlast),
      .rx_tuser_i(rx_tuser));

  // Of a pin that means nothing the record has x, in all of its bits.
  task compare;
    input [8*16-1:0] pin;
    input [255:0] is, was;
    if (was[0] !== 1'bx && is !== was) begin
      bad = bad + 1;
      if (bad <= 20) $display("cycle %0d: %0s is %0h, recorded %0h", cycle, pin, is, was);
    end
  endtask

  // What memories have to say (for_icarus.py).
  task wrong;
    input [8*128-1:0] what;
    begin
      bad = bad + 1;
      if (bad <= 20) $display("cycle %0d: %0s", cycle, what);
    end
  endtask

  initial begin
    if (!$value$plusargs("pins=%s", name) || !$value$plusargs("cycles=%d", cycles)) cycles = 0;
    file = $fopen(name, "r");
    for (cycle = 0; cycle < cycles; cycle = cycle + 1) begin
      fields = $fscanf(file, {
          "%h %h %b %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %b %b %h %h %b %b ",
          "%h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %b %h %h %b "},
          rst_n, bug, link_up, awvalid, awaddr, wvalid, wdata, wstrb, bready, arvalid, araddr, rready, wqe_valid, wqe,
          cqe_ready, host_rd_ready, host_rsp_valid, host_rsp_plane, host_rsp_data, host_rsp_err, host_fail_valid,
          host_fail, host_wr_ready, tx_tready, rx_tvalid, rx_tdata, rx_tkeep, rx_tlast, rx_tuser,
          w_awready, w_wready, w_bvalid, w_bresp, w_arready, w_rvalid, w_rdata, w_rresp, w_irq, w_wqe_ready,
          w_cqe_valid, w_cqe, w_host_rd_valid, w_host_rd, w_host_fail_ready, w_host_wr_valid, w_host_wr_addr,
          w_host_wr_len, w_host_wr_last, w_host_wr_plane, w_host_wr_qp, w_host_wr_data, w_tx_tvalid, w_tx_tdata,
          w_tx_tkeep, w_tx_tlast);
      if (fields !== 55) begin
        $display("cycle %0d: the record has %0d fields of 55", cycle, fields);
        $finish;
        cycles = 0;
      end else begin
        #1000;
        compare("awready", awready, w_awready);
        compare("wready", wready, w_wready);
        compare("bvalid", bvalid, w_bvalid);
        compare("bresp", bresp, w_bresp);
        compare("arready", arready, w_arready);
        compare("rvalid", rvalid, w_rvalid);
        compare("rdata", rdata, w_rdata);
        compare("rresp", rresp, w_rresp);
        compare("irq", irq, w_irq);
        compare("wqe_ready", wqe_ready, w_wqe_ready);
        compare("cqe_valid", cqe_valid, w_cqe_valid);
        compare("cqe", cqe, w_cqe);
        compare("host_rd_valid", host_rd_valid, w_host_rd_valid);
        compare("host_rd", host_rd, w_host_rd);
        compare("host_fail_ready", host_fail_ready, w_host_fail_ready);
        compare("host_wr_valid", host_wr_valid, w_host_wr_valid);
        compare("host_wr_addr", host_wr_addr, w_host_wr_addr);
        compare("host_wr_len", host_wr_len, w_host_wr_len);
        compare("host_wr_last", host_wr_last, w_host_wr_last);
        compare("host_wr_plane", host_wr_plane, w_host_wr_plane);
        compare("host_wr_qp", host_wr_qp, w_host_wr_qp);
        compare("host_wr_data", host_wr_data, w_host_wr_data);
        compare("tx_tvalid", tx_tvalid, w_tx_tvalid);
        for (plane = 0; plane < 2; plane = plane + 1) begin
          compare("tx_tdata", tx_tdata[128*plane+:128], w_tx_tdata[128*plane+:128]);
          compare("tx_tkeep", tx_tkeep[16*plane+:16], w_tx_tkeep[16*plane+:16]);
          compare("tx_tlast", tx_tlast[plane], w_tx_tlast[plane]);
          if (tx_tvalid[plane] && tx_tready[plane]) sent = sent + 1;
          if (rx_tvalid[plane]) received = received + 1;
        end
        if (host_wr_valid && host_wr_ready) written = written + 1;
        if (cqe_valid && cqe_ready) completed = completed + 1;
        clk = 1;
        #1000 clk = 0;
      end
    end
    if (fields === 55)
      $display("%0d cycles, %0d beats received, %0d sent, %0d lines written, %0d completions, %0d differences", cycle,
               received, sent, written, completed, bad);
    $finish;
  end
endmodule
