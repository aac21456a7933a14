// SPDX-License-Identifier: Apache-2.0

/// mrc_fpga_top_dma for Coyote v2: host memory by send queues, completion queues and host streams
/// of a vFPGA, packets by the stream of the CMAC, which both planes share. Names are translated;
/// registers have 8 bytes each; the interrupt becomes a notification when it rises; statuses get
/// the ids of their descriptors back, in order. It does not see a write that the shell never
/// acknowledges. Neither tried on hardware nor with Coyote itself. Contract:
/// docs/design/boards/wrappers.md.
module mrc_fpga_coyote
  import mrc_pkg::*;
#(
    parameter logic [31:0] BuildId = 32'd0,
    localparam int unsigned WordBytes = 64,
    localparam int unsigned DataW = WordBytes * 8,
    localparam int unsigned MaxDescs = 16
) (
    input logic aclk,
    input logic aresetn,

    AXI4L.s axi_ctrl,
    metaIntf.m notify,
    metaIntf.m sq_rd,
    metaIntf.m sq_wr,
    metaIntf.s cq_rd,
    metaIntf.s cq_wr,
    AXI4SR.s axis_host_recv,
    AXI4SR.m axis_host_send,

    // The stream of the CMAC, in its clock.
    input logic rclk,
    input logic rresetn,
    input logic net_link_up,
    AXI4S.s axis_net_rx,
    AXI4S.m axis_net_tx,

    // Frames of others, in aclk.
    AXI4S.m axis_side_rx,
    AXI4S.s axis_side_tx,

    input logic wqe_valid,
    output logic wqe_ready,
    input logic [$bits(wqe_t)-1:0] wqe_data,
    output logic cqe_valid,
    input logic cqe_ready,
    output logic [$bits(cqe_t)-1:0] cqe_data
);

  logic irq, wr_valid, wr_ready, id_room, id_valid;
  logic [63:0] wr_addr, rd_addr;
  logic [27:0] wr_len, rd_len;
  logic [3:0] wr_id, id;
  logic [4:0] unused_ids;
  logic [31:0] rdata;
  logic [1:0] unused_read_ready, unused_row_valid;
  logic [15:0] unused_wr_ram;
  logic [12:0] unused_rd_ram;
  logic [6:0] unused_tag;
  logic [2*DataW-1:0] unused_rows;
  logic unused_last, unused_net_user, unused_side_user;

  mrc_fpga_top_dma #(
      .BuildId(BuildId),
      .NumPorts(1)
  ) u_top (
      .clk_i(aclk),
      .rst_ni(aresetn),
      .irq_o(irq),
      .s_axil_awvalid_i(axi_ctrl.awvalid),
      .s_axil_awready_o(axi_ctrl.awready),
      .s_axil_awaddr_i(axi_ctrl.awaddr[16:1]),
      .s_axil_wvalid_i(axi_ctrl.wvalid),
      .s_axil_wready_o(axi_ctrl.wready),
      .s_axil_wdata_i(axi_ctrl.wdata[31:0]),
      .s_axil_wstrb_i(axi_ctrl.wstrb[3:0]),
      .s_axil_bvalid_o(axi_ctrl.bvalid),
      .s_axil_bready_i(axi_ctrl.bready),
      .s_axil_bresp_o(axi_ctrl.bresp),
      .s_axil_arvalid_i(axi_ctrl.arvalid),
      .s_axil_arready_o(axi_ctrl.arready),
      .s_axil_araddr_i(axi_ctrl.araddr[16:1]),
      .s_axil_rvalid_o(axi_ctrl.rvalid),
      .s_axil_rready_i(axi_ctrl.rready),
      .s_axil_rdata_o(rdata),
      .s_axil_rresp_o(axi_ctrl.rresp),
      .wqe_valid_i(wqe_valid),
      .wqe_ready_o(wqe_ready),
      .wqe_data_i(wqe_data),
      .cqe_valid_o(cqe_valid),
      .cqe_ready_i(cqe_ready),
      .cqe_data_o(cqe_data),
      .wr_desc_valid_o(wr_valid),
      .wr_desc_ready_i(wr_ready),
      .wr_desc_addr_o(wr_addr),
      .wr_desc_len_o(wr_len),
      .wr_desc_id_o(wr_id),
      .wr_desc_last_o(unused_last),
      .wr_desc_ram_addr_o(unused_wr_ram),
      .wr_data_valid_o(axis_host_send.tvalid),
      .wr_data_ready_i(axis_host_send.tready),
      .wr_data_o(axis_host_send.tdata),
      .wr_data_keep_o(axis_host_send.tkeep),
      .wr_data_last_o(axis_host_send.tlast),
      .wr_read_valid_i('0),
      .wr_read_ready_o(unused_read_ready),
      .wr_read_row_i('0),
      .wr_row_valid_o(unused_row_valid),
      .wr_row_ready_i('0),
      .wr_row_data_o(unused_rows),
      .wr_status_valid_i(cq_wr.valid && id_valid),
      .wr_status_id_i(id),
      .wr_status_err_i(1'b0),
      .rd_desc_valid_o(sq_rd.valid),
      .rd_desc_ready_i(sq_rd.ready),
      .rd_desc_addr_o(rd_addr),
      .rd_desc_len_o(rd_len),
      .rd_desc_tag_o(unused_tag),
      .rd_desc_ram_addr_o(unused_rd_ram),
      .rd_data_valid_i(axis_host_recv.tvalid),
      .rd_data_i(axis_host_recv.tdata),
      .rd_data_err_i(1'b0),
      .rd_write_valid_i('0),
      .rd_write_row_i('0),
      .rd_write_be_i('0),
      .rd_write_data_i('0),
      .rd_status_valid_i(1'b0),
      .rd_status_tag_i('0),
      .rd_status_err_i(1'b0),
      .side_rx_tvalid_o(axis_side_rx.tvalid),
      .side_rx_tready_i(axis_side_rx.tready),
      .side_rx_tdata_o(axis_side_rx.tdata),
      .side_rx_tkeep_o(axis_side_rx.tkeep),
      .side_rx_tlast_o(axis_side_rx.tlast),
      .side_rx_tuser_o(unused_side_user),
      .side_tx_tvalid_i(axis_side_tx.tvalid),
      .side_tx_tready_o(axis_side_tx.tready),
      .side_tx_tdata_i(axis_side_tx.tdata),
      .side_tx_tkeep_i(axis_side_tx.tkeep),
      .side_tx_tlast_i(axis_side_tx.tlast),
      .lane_link_up_i(net_link_up),
      .lane_rx_clk_i(rclk),
      .lane_rx_reset_i(!rresetn),
      .lane_rx_tvalid_i(axis_net_rx.tvalid),
      .lane_rx_tdata_i(axis_net_rx.tdata),
      .lane_rx_tkeep_i(axis_net_rx.tkeep),
      .lane_rx_tlast_i(axis_net_rx.tlast),
      .lane_rx_tuser_i(1'b0),
      .lane_tx_clk_i(rclk),
      .lane_tx_reset_i(!rresetn),
      .lane_tx_tvalid_o(axis_net_tx.tvalid),
      .lane_tx_tready_i(axis_net_tx.tready),
      .lane_tx_tdata_o(axis_net_tx.tdata),
      .lane_tx_tkeep_o(axis_net_tx.tkeep),
      .lane_tx_tlast_o(axis_net_tx.tlast),
      .lane_tx_tuser_o(unused_net_user)
  );

  // Register n stands at 8 n: software of Coyote writes 8 bytes at once.
  assign axi_ctrl.rdata = {32'd0, rdata};

  // ---- descriptors; the last of a request is what asks for its acknowledgement

  lynxTypes::req_t wr_req, rd_req;

  always_comb begin
    wr_req = '0;
    wr_req.opcode = 5'(lynxTypes::LOCAL_WRITE);
    wr_req.strm = 2'(lynxTypes::STRM_HOST);
    wr_req.pid = wr_addr[48+:lynxTypes::PID_BITS];
    wr_req.last = 1'b1;
    wr_req.vaddr = wr_addr[lynxTypes::VADDR_BITS-1:0];
    wr_req.len = wr_len;
    rd_req = '0;
    rd_req.opcode = 5'(lynxTypes::LOCAL_READ);
    rd_req.strm = 2'(lynxTypes::STRM_HOST);
    rd_req.pid = rd_addr[48+:lynxTypes::PID_BITS];
    rd_req.last = 1'b1;
    rd_req.vaddr = rd_addr[lynxTypes::VADDR_BITS-1:0];
    rd_req.len = rd_len;
  end

  assign sq_wr.valid = wr_valid && id_room;
  assign wr_ready = sq_wr.ready && id_room;
  assign sq_wr.data = wr_req;
  assign sq_rd.data = rd_req;
  assign axis_host_send.tid = '0;
  assign axis_host_recv.tready = 1'b1;
  assign cq_rd.ready = 1'b1;
  assign cq_wr.ready = 1'b1;

  // An acknowledgement has no id: it is of the oldest descriptor. There are MaxDescs at most.
  mrc_fifo #(
      .T(logic [3:0]),
      .Depth(MaxDescs)
  ) u_ids (
      .clk_i(aclk),
      .rst_ni(aresetn),
      .valid_i(wr_valid && sq_wr.ready),
      .ready_o(id_room),
      .data_i(wr_id),
      .valid_o(id_valid),
      .ready_i(cq_wr.valid),
      .data_o(id),
      .count_o(unused_ids)
  );

  // ---- a notification when the interrupt rises

  logic irq_q, report_q;
  lynxTypes::irq_not_t note;

  always_ff @(posedge aclk or negedge aresetn) begin
    if (!aresetn) begin
      irq_q <= 1'b0;
      report_q <= 1'b0;
    end else begin
      irq_q <= irq;
      report_q <= (irq && !irq_q) || (report_q && !notify.ready);
    end
  end

  always_comb begin
    note = '0;
    note.value = 32'd1;
  end

  assign notify.valid = report_q;
  assign notify.data = note;
  assign axis_net_rx.tready = 1'b1;

  logic unused_bits;
  assign unused_bits = ^{unused_last, unused_wr_ram, unused_rd_ram, unused_tag, unused_read_ready,
                         unused_row_valid, unused_rows, unused_ids, unused_side_user,
                         unused_net_user, wr_addr, rd_addr, axis_host_recv.tkeep,
                         axis_host_recv.tlast, axis_host_recv.tid, cq_rd.valid, cq_rd.data,
                         cq_wr.data};

endmodule
