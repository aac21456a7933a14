// SPDX-License-Identifier: Apache-2.0

/// The core of preset fpga100, or of tiny for benches, with a lane per plane, each in the clocks of
/// its MAC. Plane p has the p-th slice of each lane pin. Registers and host have the core's pins
/// (docs/design/blocks/nic.md), in clk_i. rst_ni is in clk_i already; in each other clock it ends
/// by itself. With Record the core's pins are recorded (mrc_fpga_record, whose reset is
/// rec_rst_ni): registers by go and good, memory by m_rec; else these pins are dead. It has no bus
/// of a shell: that is mrc_fpga_top.
module mrc_fpga_nic
  import mrc_pkg::*;
#(
    parameter bit Tiny = 0,
    parameter bit Record = 0,
    parameter logic [31:0] BuildId = 32'd0,
    localparam int unsigned NumPlanes = 2,
    localparam int unsigned PortBytes = Tiny ? 16 : 32,
    localparam int unsigned HostBytes = Tiny ? 32 : 64,
    localparam int unsigned WordBytes = 64
) (
    input logic clk_i,
    input logic rst_ni,
    output logic irq_o,

    input logic s_axil_awvalid_i,
    output logic s_axil_awready_o,
    input logic [15:0] s_axil_awaddr_i,
    input logic s_axil_wvalid_i,
    output logic s_axil_wready_o,
    input logic [31:0] s_axil_wdata_i,
    input logic [3:0] s_axil_wstrb_i,
    output logic s_axil_bvalid_o,
    input logic s_axil_bready_i,
    output logic [1:0] s_axil_bresp_o,
    input logic s_axil_arvalid_i,
    output logic s_axil_arready_o,
    input logic [15:0] s_axil_araddr_i,
    output logic s_axil_rvalid_o,
    input logic s_axil_rready_i,
    output logic [31:0] s_axil_rdata_o,
    output logic [1:0] s_axil_rresp_o,

    input logic wqe_valid_i,
    output logic wqe_ready_o,
    input wqe_t wqe_i,
    output logic cqe_valid_o,
    input logic cqe_ready_i,
    output cqe_t cqe_o,
    output logic host_rd_valid_o,
    input logic host_rd_ready_i,
    output rdreq_t host_rd_o,
    input logic host_rsp_valid_i,
    input logic [3:0] host_rsp_plane_i,
    input logic [HostBytes*8-1:0] host_rsp_data_i,
    input logic host_rsp_err_i,
    input logic host_fail_valid_i,
    output logic host_fail_ready_o,
    input qperr_t host_fail_i,
    output logic host_wr_valid_o,
    input logic host_wr_ready_i,
    output logic [63:0] host_wr_addr_o,
    output logic [7:0] host_wr_len_o,
    output logic host_wr_last_o,
    output logic [3:0] host_wr_plane_o,
    output qp_index_t host_wr_qp_o,
    output logic [HostBytes*8-1:0] host_wr_data_o,

    // The recorder. run_i: the core is not in reset.
    input logic rec_rst_ni,
    input logic run_i,
    input logic rec_w_go_i,
    input logic [9:0] rec_w_word_i,
    input logic [31:0] rec_w_data_i,
    input logic [3:0] rec_w_strb_i,
    output logic rec_w_good_o,
    input logic [9:0] rec_r_word_i,
    output logic rec_r_good_o,
    output logic [31:0] rec_r_data_o,
    output logic m_rec_awvalid_o,
    input logic m_rec_awready_i,
    output logic m_rec_awid_o,
    output logic [63:0] m_rec_awaddr_o,
    output logic [7:0] m_rec_awlen_o,
    output logic [2:0] m_rec_awsize_o,
    output logic [1:0] m_rec_awburst_o,
    output logic m_rec_wvalid_o,
    input logic m_rec_wready_i,
    output logic [HostBytes*8-1:0] m_rec_wdata_o,
    output logic [HostBytes-1:0] m_rec_wstrb_o,
    output logic m_rec_wlast_o,
    input logic m_rec_bvalid_i,
    output logic m_rec_bready_o,
    input logic [1:0] m_rec_bresp_i,

    output logic [NumPlanes*320-1:0] lane_counts_o,
    output logic [NumPlanes-1:0] link_up_o,
    input logic [NumPlanes-1:0] lane_link_up_i,
    input logic [NumPlanes-1:0] lane_rx_clk_i,
    input logic [NumPlanes-1:0] lane_rx_reset_i,
    input logic [NumPlanes-1:0] lane_rx_tvalid_i,
    input logic [NumPlanes*WordBytes*8-1:0] lane_rx_tdata_i,
    input logic [NumPlanes*WordBytes-1:0] lane_rx_tkeep_i,
    input logic [NumPlanes-1:0] lane_rx_tlast_i,
    input logic [NumPlanes-1:0] lane_rx_tuser_i,
    input logic [NumPlanes-1:0] lane_tx_clk_i,
    input logic [NumPlanes-1:0] lane_tx_reset_i,
    output logic [NumPlanes-1:0] lane_tx_tvalid_o,
    input logic [NumPlanes-1:0] lane_tx_tready_i,
    output logic [NumPlanes*WordBytes*8-1:0] lane_tx_tdata_o,
    output logic [NumPlanes*WordBytes-1:0] lane_tx_tkeep_o,
    output logic [NumPlanes-1:0] lane_tx_tlast_o,
    output logic [NumPlanes-1:0] lane_tx_tuser_o
);

  logic [NumPlanes-1:0] tx_tvalid, tx_tready, tx_tlast;
  logic [NumPlanes-1:0] rx_tvalid, rx_tlast, rx_tuser;
  logic [NumPlanes-1:0][PortBytes*8-1:0] tx_tdata, rx_tdata;
  logic [NumPlanes-1:0][PortBytes-1:0] tx_tkeep, rx_tkeep;

  if (Tiny) begin : gen_tiny
    mrc_nic_tiny u_core (
        .bug_i('0),
        .link_up_i(link_up_o),
        .tx_tvalid_o(tx_tvalid),
        .tx_tready_i(tx_tready),
        .tx_tdata_o(tx_tdata),
        .tx_tkeep_o(tx_tkeep),
        .tx_tlast_o(tx_tlast),
        .rx_tvalid_i(rx_tvalid),
        .rx_tdata_i(rx_tdata),
        .rx_tkeep_i(rx_tkeep),
        .rx_tlast_i(rx_tlast),
        .rx_tuser_i(rx_tuser),
        // verilator lint_off PINCONNECTEMPTY
        .obs_core_o(),
        .obs_lane_o(),
        // verilator lint_on PINCONNECTEMPTY
        .*
    );
  end else begin : gen_fpga100
    mrc_nic_fpga100 u_core (
        .bug_i('0),
        .link_up_i(link_up_o),
        .tx_tvalid_o(tx_tvalid),
        .tx_tready_i(tx_tready),
        .tx_tdata_o(tx_tdata),
        .tx_tkeep_o(tx_tkeep),
        .tx_tlast_o(tx_tlast),
        .rx_tvalid_i(rx_tvalid),
        .rx_tdata_i(rx_tdata),
        .rx_tkeep_i(rx_tkeep),
        .rx_tlast_i(rx_tlast),
        .rx_tuser_i(rx_tuser),
        // verilator lint_off PINCONNECTEMPTY
        .obs_core_o(),
        .obs_lane_o(),
        // verilator lint_on PINCONNECTEMPTY
        .*
    );
  end

  for (genvar p = 0; p < NumPlanes; p++) begin : gen_lane
    mrc_fpga_lane #(
        .WordBytes(WordBytes),
        .PortBytes(PortBytes)
    ) u_lane (
        .clk_i,
        .rst_ni,
        .link_up_o(link_up_o[p]),
        .tvalid_i(tx_tvalid[p]),
        .tready_o(tx_tready[p]),
        .tdata_i(tx_tdata[p]),
        .tkeep_i(tx_tkeep[p]),
        .tlast_i(tx_tlast[p]),
        .tvalid_o(rx_tvalid[p]),
        .tdata_o(rx_tdata[p]),
        .tkeep_o(rx_tkeep[p]),
        .tlast_o(rx_tlast[p]),
        .tuser_o(rx_tuser[p]),
        .counts_o(lane_counts_o[p*320+:320]),
        .link_up_i(lane_link_up_i[p]),
        .rx_clk_i(lane_rx_clk_i[p]),
        .rx_reset_i(lane_rx_reset_i[p]),
        .s_tvalid_i(lane_rx_tvalid_i[p]),
        .s_tdata_i(lane_rx_tdata_i[p*WordBytes*8+:WordBytes*8]),
        .s_tkeep_i(lane_rx_tkeep_i[p*WordBytes+:WordBytes]),
        .s_tlast_i(lane_rx_tlast_i[p]),
        .s_tuser_i(lane_rx_tuser_i[p]),
        .tx_clk_i(lane_tx_clk_i[p]),
        .tx_reset_i(lane_tx_reset_i[p]),
        .m_tvalid_o(lane_tx_tvalid_o[p]),
        .m_tready_i(lane_tx_tready_i[p]),
        .m_tdata_o(lane_tx_tdata_o[p*WordBytes*8+:WordBytes*8]),
        .m_tkeep_o(lane_tx_tkeep_o[p*WordBytes+:WordBytes]),
        .m_tlast_o(lane_tx_tlast_o[p]),
        .m_tuser_o(lane_tx_tuser_o[p])
    );
  end

  if (Record) begin : gen_record
    mrc_fpga_record #(
        .HostBytes(HostBytes),
        .NumQps(Tiny ? 4 : 16),
        .BuildId(BuildId)
    ) u_record (
        .rst_ni(rec_rst_ni),
        .w_go_i(rec_w_go_i),
        .w_word_i(rec_w_word_i),
        .w_data_i(rec_w_data_i),
        .w_strb_i(rec_w_strb_i),
        .w_good_o(rec_w_good_o),
        .r_word_i(rec_r_word_i),
        .r_good_o(rec_r_good_o),
        .r_data_o(rec_r_data_o),
        .m_axi_awvalid_o(m_rec_awvalid_o),
        .m_axi_awready_i(m_rec_awready_i),
        .m_axi_awid_o(m_rec_awid_o),
        .m_axi_awaddr_o(m_rec_awaddr_o),
        .m_axi_awlen_o(m_rec_awlen_o),
        .m_axi_awsize_o(m_rec_awsize_o),
        .m_axi_awburst_o(m_rec_awburst_o),
        .m_axi_wvalid_o(m_rec_wvalid_o),
        .m_axi_wready_i(m_rec_wready_i),
        .m_axi_wdata_o(m_rec_wdata_o),
        .m_axi_wstrb_o(m_rec_wstrb_o),
        .m_axi_wlast_o(m_rec_wlast_o),
        .m_axi_bvalid_i(m_rec_bvalid_i),
        .m_axi_bready_o(m_rec_bready_o),
        .m_axi_bresp_i(m_rec_bresp_i),
        .link_up_i(link_up_o),
        .awvalid_i(s_axil_awvalid_i),
        .awready_i(s_axil_awready_o),
        .awaddr_i(s_axil_awaddr_i),
        .wvalid_i(s_axil_wvalid_i),
        .wready_i(s_axil_wready_o),
        .wdata_i(s_axil_wdata_i),
        .wstrb_i(s_axil_wstrb_i),
        .bvalid_i(s_axil_bvalid_o),
        .bready_i(s_axil_bready_i),
        .bresp_i(s_axil_bresp_o),
        .arvalid_i(s_axil_arvalid_i),
        .arready_i(s_axil_arready_o),
        .araddr_i(s_axil_araddr_i),
        .rvalid_i(s_axil_rvalid_o),
        .rready_i(s_axil_rready_i),
        .rdata_i(s_axil_rdata_o),
        .rresp_i(s_axil_rresp_o),
        .irq_i(irq_o),
        .wqe_ready_i(wqe_ready_o),
        .cqe_valid_i(cqe_valid_o),
        .cqe_i(cqe_o),
        .host_rd_valid_i(host_rd_valid_o),
        .host_rd_i(host_rd_o),
        .host_fail_ready_i(host_fail_ready_o),
        .host_wr_valid_i(host_wr_valid_o),
        .host_wr_addr_i(host_wr_addr_o),
        .host_wr_len_i(host_wr_len_o),
        .host_wr_last_i(host_wr_last_o),
        .host_wr_plane_i(host_wr_plane_o),
        .host_wr_qp_i(host_wr_qp_o),
        .host_wr_data_i(host_wr_data_o),
        .tx_tvalid_i(tx_tvalid),
        .tx_tready_i(tx_tready),
        .tx_tdata_i(tx_tdata),
        .tx_tkeep_i(tx_tkeep),
        .tx_tlast_i(tx_tlast),
        .rx_tvalid_i(rx_tvalid),
        .rx_tdata_i(rx_tdata),
        .rx_tkeep_i(rx_tkeep),
        .rx_tlast_i(rx_tlast),
        .rx_tuser_i(rx_tuser),
        .*
    );
  end else begin : gen_no_record
    assign {rec_w_good_o, rec_r_good_o, rec_r_data_o} = '0;
    assign {m_rec_awvalid_o, m_rec_awid_o, m_rec_awaddr_o, m_rec_awlen_o, m_rec_awsize_o} = '0;
    assign {m_rec_awburst_o, m_rec_wvalid_o, m_rec_wdata_o, m_rec_wstrb_o, m_rec_wlast_o} = '0;
    assign m_rec_bready_o = 1'b0;

    logic unused_record;
    assign unused_record = ^{rec_rst_ni, run_i, rec_w_go_i, rec_w_word_i, rec_w_data_i,
                             rec_w_strb_i, rec_r_word_i, m_rec_awready_i, m_rec_wready_i,
                             m_rec_bvalid_i, m_rec_bresp_i, BuildId};
  end

endmodule
