// SPDX-License-Identifier: Apache-2.0

/// Writes what a core's pins are, cycle by cycle, into memory, with digests of what the core
/// answers, so that a model can do the same afterwards. Registers (block MRCX) by go and good, an
/// AXI4 master that only writes, with id 0, and the pins, which it looks at and does not drive: it
/// holds nobody, and what it cannot take ends the record. Contract: docs/design/boards/record.md.
module mrc_fpga_record
  import mrc_pkg::*;
#(
    parameter int unsigned HostBytes = 64,
    parameter int unsigned NumQps = 16,
    parameter logic [31:0] BuildId = 32'd0,
    parameter int unsigned WindowLog2 = 10,
    parameter int unsigned CycleW = 48,
    parameter int unsigned Depth = 512,
    parameter int unsigned WordDepth = 64,
    parameter int unsigned BurstWords = 16,
    parameter int unsigned MaxBursts = 32,
    parameter int unsigned CountW = 32,
    localparam int unsigned NumPlanes = 2,
    localparam int unsigned PortBytes = HostBytes / 2
) (
    input logic clk_i,
    input logic rst_ni,

    input logic w_go_i,
    input logic [9:0] w_word_i,
    input logic [31:0] w_data_i,
    input logic [3:0] w_strb_i,
    output logic w_good_o,
    input logic [9:0] r_word_i,
    output logic r_good_o,
    output logic [31:0] r_data_o,

    output logic m_axi_awvalid_o,
    input logic m_axi_awready_i,
    output logic m_axi_awid_o,
    output logic [63:0] m_axi_awaddr_o,
    output logic [7:0] m_axi_awlen_o,
    output logic [2:0] m_axi_awsize_o,
    output logic [1:0] m_axi_awburst_o,
    output logic m_axi_wvalid_o,
    input logic m_axi_wready_i,
    output logic [HostBytes*8-1:0] m_axi_wdata_o,
    output logic [HostBytes-1:0] m_axi_wstrb_o,
    output logic m_axi_wlast_o,
    input logic m_axi_bvalid_i,
    output logic m_axi_bready_o,
    input logic [1:0] m_axi_bresp_i,

    // The core is not in reset in this cycle; its pins.
    input logic run_i,
    input logic [NumPlanes-1:0] link_up_i,
    input logic awvalid_i,
    input logic awready_i,
    input logic [15:0] awaddr_i,
    input logic wvalid_i,
    input logic wready_i,
    input logic [31:0] wdata_i,
    input logic [3:0] wstrb_i,
    input logic bvalid_i,
    input logic bready_i,
    input logic [1:0] bresp_i,
    input logic arvalid_i,
    input logic arready_i,
    input logic [15:0] araddr_i,
    input logic rvalid_i,
    input logic rready_i,
    input logic [31:0] rdata_i,
    input logic [1:0] rresp_i,
    input logic irq_i,
    input logic wqe_valid_i,
    input logic wqe_ready_i,
    input wqe_t wqe_i,
    input logic cqe_valid_i,
    input logic cqe_ready_i,
    input cqe_t cqe_i,
    input logic host_rd_valid_i,
    input logic host_rd_ready_i,
    input rdreq_t host_rd_i,
    input logic host_rsp_valid_i,
    input logic [3:0] host_rsp_plane_i,
    input logic [HostBytes*8-1:0] host_rsp_data_i,
    input logic host_rsp_err_i,
    input logic host_fail_valid_i,
    input logic host_fail_ready_i,
    input qperr_t host_fail_i,
    input logic host_wr_valid_i,
    input logic host_wr_ready_i,
    input logic [63:0] host_wr_addr_i,
    input logic [7:0] host_wr_len_i,
    input logic host_wr_last_i,
    input logic [3:0] host_wr_plane_i,
    input qp_index_t host_wr_qp_i,
    input logic [HostBytes*8-1:0] host_wr_data_i,
    input logic [NumPlanes-1:0] tx_tvalid_i,
    input logic [NumPlanes-1:0] tx_tready_i,
    input logic [NumPlanes-1:0][PortBytes*8-1:0] tx_tdata_i,
    input logic [NumPlanes-1:0][PortBytes-1:0] tx_tkeep_i,
    input logic [NumPlanes-1:0] tx_tlast_i,
    input logic [NumPlanes-1:0] rx_tvalid_i,
    input logic [NumPlanes-1:0][PortBytes*8-1:0] rx_tdata_i,
    input logic [NumPlanes-1:0][PortBytes-1:0] rx_tkeep_i,
    input logic [NumPlanes-1:0] rx_tlast_i,
    input logic [NumPlanes-1:0] rx_tuser_i
);

  localparam int unsigned BlockW = 52;
  localparam int unsigned SizeW = 32;
  localparam int unsigned WordW = 64 - $clog2(HostBytes);
  localparam int unsigned BurstLog2 = $clog2(BurstWords * HostBytes);
  localparam logic [2:0] WhyFull = 3'd3;

  logic arm, stop, take_idle, armed, takes, pack_idle, out_idle, full, failed;
  logic [2:0] take_why;
  logic [CycleW-1:0] take_cycles, full_cycle;
  logic [BlockW-1:0] base;
  logic [SizeW-1:0] size;
  logic [1:0] state;

  // Bursts that memory has taken before the first that failed.
  logic [63-BurstLog2:0] good_q;
  logic [CountW-1:0] failed_q, strays_q;

  assign state = armed ? 2'd1 : takes ? 2'd2
      : (take_idle && pack_idle && out_idle) ? 2'd0 : 2'd3;
  assign failed = failed_q != '0;

  mrc_fpga_record_regs #(
      .HostBytes(HostBytes),
      .WindowLog2(WindowLog2),
      .CycleW(CycleW),
      .BurstWords(BurstWords)
  ) u_regs (
      .arm_o(arm),
      .stop_o(stop),
      .base_o(base),
      .size_o(size),
      .state_i(state),
      // What was taken may not have fit.
      .why_i(full ? WhyFull : take_why),
      .bytes_i({good_q, BurstLog2'(0)}),
      .cycles_i(full ? full_cycle : take_cycles),
      .failed_i(32'(failed_q)),
      .strays_i(32'(strays_q)),
      .*
  );

  // ---- what is new, in events

  logic event_valid, event_ready, event_end, event_has_bus, event_has_wqe, event_has_digest;
  logic [2:0] event_why;
  logic [CycleW-1:0] event_cycle;
  logic [15+16*NumPlanes:0] event_pins;
  logic [71+$bits(qperr_t):0] event_bus;
  logic [$bits(wqe_t)-1:0] event_wqe;
  logic [31:0] event_digest;
  logic [HostBytes*8-1:0] event_rsp;
  logic [NumPlanes-1:0][PortBytes*8-1:0] event_rx;

  mrc_fpga_record_take #(
      .HostBytes(HostBytes),
      .WindowLog2(WindowLog2),
      .CycleW(CycleW),
      .Depth(Depth)
  ) u_take (
      .arm_i(arm),
      .stop_i(stop),
      .full_i(full),
      .failed_i(failed),
      .idle_o(take_idle),
      .armed_o(armed),
      .takes_o(takes),
      .why_o(take_why),
      .cycles_o(take_cycles),
      .event_valid_o(event_valid),
      .event_ready_i(event_ready),
      .event_end_o(event_end),
      .event_why_o(event_why),
      .event_cycle_o(event_cycle),
      .event_pins_o(event_pins),
      .event_has_bus_o(event_has_bus),
      .event_bus_o(event_bus),
      .event_has_wqe_o(event_has_wqe),
      .event_wqe_o(event_wqe),
      .event_has_digest_o(event_has_digest),
      .event_digest_o(event_digest),
      .event_rsp_o(event_rsp),
      .event_rx_o(event_rx),
      .*
  );

  // ---- words, in bursts

  logic burst_push, burst_room, word_valid, word_pop;
  logic [WordW-1:0] burst_word;
  logic [HostBytes*8-1:0] word_data;

  mrc_fpga_record_pack #(
      .HostBytes(HostBytes),
      .NumQps(NumQps),
      .BuildId(BuildId),
      .WindowLog2(WindowLog2),
      .CycleW(CycleW),
      .WordDepth(WordDepth),
      .BurstWords(BurstWords),
      .BlockW(BlockW),
      .SizeW(SizeW)
  ) u_pack (
      .clk_i,
      .rst_ni,
      .arm_i(arm),
      .base_i(base),
      .size_i(size),
      .idle_o(pack_idle),
      .full_o(full),
      .full_cycle_o(full_cycle),
      .event_valid_i(event_valid),
      .event_ready_o(event_ready),
      .event_end_i(event_end),
      .event_why_i(event_why),
      .event_cycle_i(event_cycle),
      .event_pins_i(event_pins),
      .event_has_bus_i(event_has_bus),
      .event_bus_i(event_bus),
      .event_has_wqe_i(event_has_wqe),
      .event_wqe_i(event_wqe),
      .event_has_digest_i(event_has_digest),
      .event_digest_i(event_digest),
      .event_rsp_i(event_rsp),
      .event_rx_i(event_rx),
      .burst_push_o(burst_push),
      .burst_room_i(burst_room),
      .burst_word_o(burst_word),
      .word_valid_o(word_valid),
      .word_pop_i(word_pop),
      .word_data_o(word_data)
  );

  logic done, fail, stray, unused_qp;

  mrc_fpga_wr_out #(
      .WordBytes(HostBytes),
      .NumPlanes(1),
      .MaxBeats(BurstWords),
      .QpW(1),
      .BurstDepth(4),
      .MaxBursts(MaxBursts)
  ) u_out (
      .clk_i,
      .rst_ni,
      .burst_push_i(burst_push),
      .burst_room_o(burst_room),
      .burst_word_i(burst_word),
      .burst_beats_i('1),
      .burst_end_i(1'b1),
      .burst_plane_i(1'b0),
      .burst_qp_i(1'b0),
      .beat_valid_i(word_valid),
      .beat_pop_o(word_pop),
      .beat_data_i(word_data),
      .beat_strb_i('1),
      .awvalid_o(m_axi_awvalid_o),
      .awready_i(m_axi_awready_i),
      .awaddr_o(m_axi_awaddr_o),
      .awlen_o(m_axi_awlen_o),
      .wvalid_o(m_axi_wvalid_o),
      .wready_i(m_axi_wready_i),
      .wdata_o(m_axi_wdata_o),
      .wstrb_o(m_axi_wstrb_o),
      .wlast_o(m_axi_wlast_o),
      .bvalid_i(m_axi_bvalid_i),
      .bready_o(m_axi_bready_o),
      .bresp_i(m_axi_bresp_i),
      .done_o(done),
      .fail_o(fail),
      .fail_qp_o(unused_qp),
      .stray_o(stray),
      .idle_o(out_idle)
  );

  assign m_axi_awid_o = 1'b0;
  assign m_axi_awsize_o = 3'($clog2(HostBytes));
  assign m_axi_awburst_o = 2'b01;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      good_q <= '0;
      failed_q <= '0;
      strays_q <= '0;
    end else if (arm) begin
      good_q <= '0;
      failed_q <= '0;
      strays_q <= '0;
    end else begin
      if (done && !fail && !failed) begin
        good_q <= good_q + 1'b1;
      end
      // Where it stops it does not become 0 again.
      if (fail && failed_q != '1) begin
        failed_q <= failed_q + CountW'(1);
      end
      strays_q <= strays_q + CountW'(stray);
    end
  end

endmodule
