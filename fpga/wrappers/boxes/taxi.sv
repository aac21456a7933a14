// SPDX-License-Identifier: Apache-2.0
// What mrc_fpga_taxi meets of taxi, as far as names, widths and directions go: interfaces, a DMA
// and a MAC without anything inside, and a top in which they are connected, for lint alone. Written
// from the interfaces of https://github.com/fpganinja/taxi at 2f2fe728, of which nothing is here.
// See docs/design/boards/wrappers.md.
// verilator lint_off DECLFILENAME
// verilator lint_off UNUSED
// verilator lint_off UNDRIVEN

interface taxi_axil_if #(
    parameter DATA_W = 32,
    parameter ADDR_W = 32,
    parameter STRB_W = DATA_W / 8,
    parameter AWUSER_W = 1,
    parameter WUSER_W = 1,
    parameter BUSER_W = 1,
    parameter ARUSER_W = 1,
    parameter RUSER_W = 1
) ();
  logic [ADDR_W-1:0] awaddr, araddr;
  logic [2:0] awprot, arprot;
  logic [AWUSER_W-1:0] awuser;
  logic [ARUSER_W-1:0] aruser;
  logic [DATA_W-1:0] wdata, rdata;
  logic [STRB_W-1:0] wstrb;
  logic [WUSER_W-1:0] wuser;
  logic [BUSER_W-1:0] buser;
  logic [RUSER_W-1:0] ruser;
  logic [1:0] bresp, rresp;
  logic awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
  modport wr_mst(
      output awaddr, awprot, awuser, awvalid, wdata, wstrb, wuser, wvalid, bready,
      input awready, wready, bresp, buser, bvalid
  );
  modport rd_mst(
      output araddr, arprot, aruser, arvalid, rready,
      input arready, rdata, rresp, ruser, rvalid
  );
  modport wr_slv(
      input awaddr, awprot, awuser, awvalid, wdata, wstrb, wuser, wvalid, bready,
      output awready, wready, bresp, buser, bvalid
  );
  modport rd_slv(
      input araddr, arprot, aruser, arvalid, rready,
      output arready, rdata, rresp, ruser, rvalid
  );
endinterface

interface taxi_axis_if #(
    parameter DATA_W = 8,
    parameter KEEP_W = (DATA_W + 7) / 8,
    parameter ID_W = 8,
    parameter DEST_W = 8,
    parameter USER_W = 1
) ();
  logic [DATA_W-1:0] tdata;
  logic [KEEP_W-1:0] tkeep, tstrb;
  logic [ID_W-1:0] tid;
  logic [DEST_W-1:0] tdest;
  logic [USER_W-1:0] tuser;
  logic tlast, tvalid, tready;
  modport src(output tdata, tkeep, tstrb, tid, tdest, tuser, tlast, tvalid, input tready);
  modport snk(input tdata, tkeep, tstrb, tid, tdest, tuser, tlast, tvalid, output tready);
endinterface

interface taxi_dma_desc_if #(
    parameter SRC_ADDR_W = 64,
    parameter SRC_SEL_W = 2,
    parameter SRC_ASID_W = 4,
    parameter DST_ADDR_W = 64,
    parameter DST_SEL_W = 2,
    parameter DST_ASID_W = 4,
    parameter IMM_W = 32,
    parameter LEN_W = 16,
    parameter TAG_W = 8,
    parameter ID_W = 1,
    parameter DEST_W = 1,
    parameter USER_W = 1
) ();
  logic [SRC_ADDR_W-1:0] req_src_addr;
  logic [SRC_SEL_W-1:0] req_src_sel;
  logic [SRC_ASID_W-1:0] req_src_asid;
  logic [DST_ADDR_W-1:0] req_dst_addr;
  logic [DST_SEL_W-1:0] req_dst_sel;
  logic [DST_ASID_W-1:0] req_dst_asid;
  logic [IMM_W-1:0] req_imm;
  logic [LEN_W-1:0] req_len, sts_len;
  logic [TAG_W-1:0] req_tag, sts_tag;
  logic [ID_W-1:0] req_id, sts_id;
  logic [DEST_W-1:0] req_dest, sts_dest;
  logic [USER_W-1:0] req_user, sts_user;
  logic [3:0] sts_error;
  logic req_imm_en, req_valid, req_ready, sts_valid;
  modport req_src(
      output req_src_addr, req_src_sel, req_src_asid, req_dst_addr, req_dst_sel, req_dst_asid,
      output req_imm, req_imm_en, req_len, req_tag, req_id, req_dest, req_user, req_valid,
      input req_ready
  );
  modport req_snk(
      input req_src_addr, req_src_sel, req_src_asid, req_dst_addr, req_dst_sel, req_dst_asid,
      input req_imm, req_imm_en, req_len, req_tag, req_id, req_dest, req_user, req_valid,
      output req_ready
  );
  modport sts_src(output sts_len, sts_tag, sts_id, sts_dest, sts_user, sts_error, sts_valid);
  modport sts_snk(input sts_len, sts_tag, sts_id, sts_dest, sts_user, sts_error, sts_valid);
endinterface

interface taxi_dma_ram_if #(
    parameter SEGS = 2,
    parameter SEG_ADDR_W = 10,
    parameter SEG_DATA_W = 128,
    parameter SEG_BE_W = SEG_DATA_W / 8,
    parameter SEL_W = 2
) ();
  logic [SEGS-1:0][SEL_W-1:0] wr_cmd_sel, rd_cmd_sel;
  logic [SEGS-1:0][SEG_ADDR_W-1:0] wr_cmd_addr, rd_cmd_addr;
  logic [SEGS-1:0][SEG_DATA_W-1:0] wr_cmd_data, rd_resp_data;
  logic [SEGS-1:0][SEG_BE_W-1:0] wr_cmd_be;
  logic [SEGS-1:0] wr_cmd_valid, wr_cmd_ready, wr_done;
  logic [SEGS-1:0] rd_cmd_valid, rd_cmd_ready, rd_resp_valid, rd_resp_ready;
  modport wr_mst(
      output wr_cmd_sel, wr_cmd_addr, wr_cmd_data, wr_cmd_be, wr_cmd_valid,
      input wr_cmd_ready, wr_done
  );
  modport rd_mst(
      output rd_cmd_sel, rd_cmd_addr, rd_cmd_valid, rd_resp_ready,
      input rd_cmd_ready, rd_resp_data, rd_resp_valid
  );
  modport wr_slv(
      input wr_cmd_sel, wr_cmd_addr, wr_cmd_data, wr_cmd_be, wr_cmd_valid,
      output wr_cmd_ready, wr_done
  );
  modport rd_slv(
      input rd_cmd_sel, rd_cmd_addr, rd_cmd_valid, rd_resp_ready,
      output rd_cmd_ready, rd_resp_data, rd_resp_valid
  );
endinterface

module taxi_dma_if_pcie_us (
    input logic clk,
    input logic rst,
    taxi_dma_desc_if.req_snk rd_desc_req,
    taxi_dma_desc_if.sts_src rd_desc_sts,
    taxi_dma_desc_if.req_snk wr_desc_req,
    taxi_dma_desc_if.sts_src wr_desc_sts,
    taxi_dma_ram_if.wr_mst dma_ram_wr,
    taxi_dma_ram_if.rd_mst dma_ram_rd
);
endmodule

module taxi_eth_mac_100g_us (
    output logic rx_clk,
    output logic rx_rst_out,
    output logic tx_clk,
    output logic tx_rst_out,
    taxi_axis_if.snk s_axis_tx,
    taxi_axis_if.src m_axis_tx_cpl,
    taxi_axis_if.src m_axis_rx,
    output logic rx_status
);
endmodule

module mrc_fpga_taxi_box
  import mrc_pkg::*;
(
    input logic clk,
    input logic rst,
    output logic irq,
    input logic wqe_valid,
    output logic wqe_ready,
    input logic [$bits(wqe_t)-1:0] wqe_data,
    output logic cqe_valid,
    input logic cqe_ready,
    output logic [$bits(cqe_t)-1:0] cqe_data
);

  logic rx_clk, rx_rst, rx_status, tx_clk, tx_rst;

  taxi_axil_if #(.ADDR_W(16)) axil ();
  taxi_dma_desc_if rd_desc ();
  taxi_dma_desc_if wr_desc ();
  taxi_dma_ram_if #(.SEG_DATA_W(512)) ram ();
  taxi_axis_if #(.DATA_W(512)) rx ();
  taxi_axis_if #(.DATA_W(512)) tx ();
  taxi_axis_if #(.DATA_W(96), .KEEP_W(1)) tx_cpl ();
  taxi_axis_if #(.DATA_W(512)) side_rx ();
  taxi_axis_if #(.DATA_W(512)) side_tx ();

  taxi_dma_if_pcie_us u_dma (
      .clk,
      .rst,
      .rd_desc_req(rd_desc),
      .rd_desc_sts(rd_desc),
      .wr_desc_req(wr_desc),
      .wr_desc_sts(wr_desc),
      .dma_ram_wr(ram),
      .dma_ram_rd(ram)
  );

  taxi_eth_mac_100g_us u_mac (
      .rx_clk,
      .rx_rst_out(rx_rst),
      .tx_clk,
      .tx_rst_out(tx_rst),
      .s_axis_tx(tx),
      .m_axis_tx_cpl(tx_cpl),
      .m_axis_rx(rx),
      .rx_status
  );

  mrc_fpga_taxi u_nic (
      .s_axil_wr(axil),
      .s_axil_rd(axil),
      .rd_desc_req(rd_desc),
      .rd_desc_sts(rd_desc),
      .wr_desc_req(wr_desc),
      .wr_desc_sts(wr_desc),
      .dma_ram_wr(ram),
      .dma_ram_rd(ram),
      .s_axis_rx(rx),
      .m_axis_tx(tx),
      .s_axis_tx_cpl(tx_cpl),
      .m_axis_side_rx(side_rx),
      .s_axis_side_tx(side_tx),
      .*
  );

endmodule
// verilator lint_on UNDRIVEN
// verilator lint_on UNUSED
// verilator lint_on DECLFILENAME
