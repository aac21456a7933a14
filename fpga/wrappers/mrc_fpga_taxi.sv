// SPDX-License-Identifier: Apache-2.0

/// mrc_fpga_top_dma for shells that are built of taxi: its DMA (taxi_dma_if_pcie_us or its like at
/// 512 bits), and one taxi_eth_mac_100g_us that both planes share. Names are translated, and
/// nothing else is done. clk is the clock of the DMA, and of the core; rst resets the DMA, too.
/// The number of the address space is in bits 63:48 of an address. Neither tried on hardware nor
/// with taxi itself. Contract: docs/design/boards/wrappers.md.
module mrc_fpga_taxi
  import mrc_pkg::*;
#(
    parameter logic [31:0] BuildId = 32'd0,
    localparam int unsigned Segs = 2,
    localparam int unsigned WordBytes = 64,
    localparam int unsigned DataW = WordBytes * 8,
    localparam int unsigned WrRowW = 9,
    localparam int unsigned RdRowW = 6
) (
    input logic clk,
    input logic rst,
    output logic irq,

    taxi_axil_if.wr_slv s_axil_wr,
    taxi_axil_if.rd_slv s_axil_rd,

    taxi_dma_desc_if.req_src rd_desc_req,
    taxi_dma_desc_if.sts_snk rd_desc_sts,
    taxi_dma_desc_if.req_src wr_desc_req,
    taxi_dma_desc_if.sts_snk wr_desc_sts,
    taxi_dma_ram_if.wr_slv dma_ram_wr,
    taxi_dma_ram_if.rd_slv dma_ram_rd,

    // The MAC: its clocks, resets out and streams.
    input logic rx_clk,
    input logic rx_rst,
    input logic rx_status,
    taxi_axis_if.snk s_axis_rx,
    input logic tx_clk,
    input logic tx_rst,
    taxi_axis_if.src m_axis_tx,
    taxi_axis_if.snk s_axis_tx_cpl,

    // Frames of others, in clk.
    taxi_axis_if.src m_axis_side_rx,
    taxi_axis_if.snk s_axis_side_tx,

    input logic wqe_valid,
    output logic wqe_ready,
    input logic [$bits(wqe_t)-1:0] wqe_data,
    output logic cqe_valid,
    input logic cqe_ready,
    output logic [$bits(cqe_t)-1:0] cqe_data
);

  logic [63:0] wr_addr, rd_addr;
  logic [15:0] wr_len, rd_len, wr_ram;
  logic [12:0] rd_ram;
  logic [3:0] wr_id;
  logic [6:0] rd_tag;
  logic [Segs*WrRowW-1:0] read_row;
  logic [Segs*RdRowW-1:0] write_row;
  logic [Segs-1:0] wr_done_q;
  logic unused_last, unused_data_valid, unused_data_last;
  logic [DataW-1:0] unused_data;
  logic [WordBytes-1:0] unused_keep;

  mrc_fpga_top_dma #(
      .BuildId(BuildId),
      .NumPorts(1),
      .Ram(1'b1)
  ) u_top (
      .clk_i(clk),
      .rst_ni(!rst),
      .irq_o(irq),
      .s_axil_awvalid_i(s_axil_wr.awvalid),
      .s_axil_awready_o(s_axil_wr.awready),
      .s_axil_awaddr_i(s_axil_wr.awaddr[15:0]),
      .s_axil_wvalid_i(s_axil_wr.wvalid),
      .s_axil_wready_o(s_axil_wr.wready),
      .s_axil_wdata_i(s_axil_wr.wdata),
      .s_axil_wstrb_i(s_axil_wr.wstrb),
      .s_axil_bvalid_o(s_axil_wr.bvalid),
      .s_axil_bready_i(s_axil_wr.bready),
      .s_axil_bresp_o(s_axil_wr.bresp),
      .s_axil_arvalid_i(s_axil_rd.arvalid),
      .s_axil_arready_o(s_axil_rd.arready),
      .s_axil_araddr_i(s_axil_rd.araddr[15:0]),
      .s_axil_rvalid_o(s_axil_rd.rvalid),
      .s_axil_rready_i(s_axil_rd.rready),
      .s_axil_rdata_o(s_axil_rd.rdata),
      .s_axil_rresp_o(s_axil_rd.rresp),
      .wqe_valid_i(wqe_valid),
      .wqe_ready_o(wqe_ready),
      .wqe_data_i(wqe_data),
      .cqe_valid_o(cqe_valid),
      .cqe_ready_i(cqe_ready),
      .cqe_data_o(cqe_data),
      .wr_desc_valid_o(wr_desc_req.req_valid),
      .wr_desc_ready_i(wr_desc_req.req_ready),
      .wr_desc_addr_o(wr_addr),
      .wr_desc_len_o(wr_len),
      .wr_desc_id_o(wr_id),
      .wr_desc_last_o(unused_last),
      .wr_desc_ram_addr_o(wr_ram),
      .wr_data_valid_o(unused_data_valid),
      .wr_data_ready_i(1'b0),
      .wr_data_o(unused_data),
      .wr_data_keep_o(unused_keep),
      .wr_data_last_o(unused_data_last),
      .wr_read_valid_i(dma_ram_rd.rd_cmd_valid),
      .wr_read_ready_o(dma_ram_rd.rd_cmd_ready),
      .wr_read_row_i(read_row),
      .wr_row_valid_o(dma_ram_rd.rd_resp_valid),
      .wr_row_ready_i(dma_ram_rd.rd_resp_ready),
      .wr_row_data_o(dma_ram_rd.rd_resp_data),
      .wr_status_valid_i(wr_desc_sts.sts_valid),
      .wr_status_id_i(wr_desc_sts.sts_tag[3:0]),
      .wr_status_err_i(wr_desc_sts.sts_error != '0),
      .rd_desc_valid_o(rd_desc_req.req_valid),
      .rd_desc_ready_i(rd_desc_req.req_ready),
      .rd_desc_addr_o(rd_addr),
      .rd_desc_len_o(rd_len),
      .rd_desc_tag_o(rd_tag),
      .rd_desc_ram_addr_o(rd_ram),
      .rd_data_valid_i(1'b0),
      .rd_data_i('0),
      .rd_data_err_i(1'b0),
      .rd_write_valid_i(dma_ram_wr.wr_cmd_valid),
      .rd_write_row_i(write_row),
      .rd_write_be_i(dma_ram_wr.wr_cmd_be),
      .rd_write_data_i(dma_ram_wr.wr_cmd_data),
      .rd_status_valid_i(rd_desc_sts.sts_valid),
      .rd_status_tag_i(rd_desc_sts.sts_tag[6:0]),
      .rd_status_err_i(rd_desc_sts.sts_error != '0),
      .side_rx_tvalid_o(m_axis_side_rx.tvalid),
      .side_rx_tready_i(m_axis_side_rx.tready),
      .side_rx_tdata_o(m_axis_side_rx.tdata),
      .side_rx_tkeep_o(m_axis_side_rx.tkeep),
      .side_rx_tlast_o(m_axis_side_rx.tlast),
      .side_rx_tuser_o(m_axis_side_rx.tuser[0]),
      .side_tx_tvalid_i(s_axis_side_tx.tvalid),
      .side_tx_tready_o(s_axis_side_tx.tready),
      .side_tx_tdata_i(s_axis_side_tx.tdata),
      .side_tx_tkeep_i(s_axis_side_tx.tkeep),
      .side_tx_tlast_i(s_axis_side_tx.tlast),
      .lane_link_up_i(rx_status),
      .lane_rx_clk_i(rx_clk),
      .lane_rx_reset_i(rx_rst),
      .lane_rx_tvalid_i(s_axis_rx.tvalid),
      .lane_rx_tdata_i(s_axis_rx.tdata),
      .lane_rx_tkeep_i(s_axis_rx.tkeep),
      .lane_rx_tlast_i(s_axis_rx.tlast),
      .lane_rx_tuser_i(s_axis_rx.tuser[0]),
      .lane_tx_clk_i(tx_clk),
      .lane_tx_reset_i(tx_rst),
      .lane_tx_tvalid_o(m_axis_tx.tvalid),
      .lane_tx_tready_i(m_axis_tx.tready),
      .lane_tx_tdata_o(m_axis_tx.tdata),
      .lane_tx_tkeep_o(m_axis_tx.tkeep),
      .lane_tx_tlast_o(m_axis_tx.tlast),
      .lane_tx_tuser_o(m_axis_tx.tuser[0])
  );

  // ---- descriptors: an address of the host is 48 bits and the number of a space

  assign wr_desc_req.req_src_addr = $bits(wr_desc_req.req_src_addr)'(wr_ram);
  assign wr_desc_req.req_src_sel = '0;
  assign wr_desc_req.req_src_asid = '0;
  assign wr_desc_req.req_dst_addr = {16'd0, wr_addr[47:0]};
  assign wr_desc_req.req_dst_sel = '0;
  assign wr_desc_req.req_dst_asid = $bits(wr_desc_req.req_dst_asid)'(wr_addr[63:48]);
  assign wr_desc_req.req_imm = '0;
  assign wr_desc_req.req_imm_en = 1'b0;
  assign wr_desc_req.req_len = wr_len;
  assign wr_desc_req.req_tag = $bits(wr_desc_req.req_tag)'(wr_id);
  assign wr_desc_req.req_id = '0;
  assign wr_desc_req.req_dest = '0;
  assign wr_desc_req.req_user = '0;

  assign rd_desc_req.req_src_addr = {16'd0, rd_addr[47:0]};
  assign rd_desc_req.req_src_sel = '0;
  assign rd_desc_req.req_src_asid = $bits(rd_desc_req.req_src_asid)'(rd_addr[63:48]);
  assign rd_desc_req.req_dst_addr = $bits(rd_desc_req.req_dst_addr)'(rd_ram);
  assign rd_desc_req.req_dst_sel = '0;
  assign rd_desc_req.req_dst_asid = '0;
  assign rd_desc_req.req_imm = '0;
  assign rd_desc_req.req_imm_en = 1'b0;
  assign rd_desc_req.req_len = rd_len;
  assign rd_desc_req.req_tag = $bits(rd_desc_req.req_tag)'(rd_tag);
  assign rd_desc_req.req_id = '0;
  assign rd_desc_req.req_dest = '0;
  assign rd_desc_req.req_user = '0;

  // ---- RAMs: always written, done a cycle later

  for (genvar s = 0; s < Segs; s++) begin : gen_seg
    assign read_row[s*WrRowW+:WrRowW] = dma_ram_rd.rd_cmd_addr[s][WrRowW-1:0];
    assign write_row[s*RdRowW+:RdRowW] = dma_ram_wr.wr_cmd_addr[s][RdRowW-1:0];
  end

  assign dma_ram_wr.wr_cmd_ready = '1;
  assign dma_ram_wr.wr_done = wr_done_q;

  always_ff @(posedge clk) begin
    wr_done_q <= rst ? '0 : dma_ram_wr.wr_cmd_valid;
  end

  // ---- what a stream has besides, and nobody needs

  assign s_axil_wr.buser = '0;
  assign s_axil_rd.ruser = '0;
  assign m_axis_tx.tstrb = m_axis_tx.tkeep;
  assign m_axis_tx.tid = '0;
  assign m_axis_tx.tdest = '0;
  assign m_axis_side_rx.tstrb = m_axis_side_rx.tkeep;
  assign m_axis_side_rx.tid = '0;
  assign m_axis_side_rx.tdest = '0;
  assign s_axis_rx.tready = 1'b1;
  assign s_axis_tx_cpl.tready = 1'b1;

  logic unused_bits;
  assign unused_bits = ^{unused_last, unused_data_valid, unused_data, unused_keep, unused_data_last,
                         wr_addr[63:48], rd_addr[63:48], s_axis_side_tx.tuser};

endmodule
