// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_record_take with pins that do what they like, a core that is held and let go at any
/// time, and whoever takes events at any time. A reader of the events stands beside it: what it
/// knows of the pins of a cycle is held against what they were, from the core's first cycle to the
/// end of the record. Wide pins have a bit that moves.
module formal_fpga_record_take
  import mrc_pkg::*;
#(
    localparam int unsigned HostBytes = 2,
    localparam int unsigned CycleW = 17,
    localparam int unsigned WindowLog2 = 4
) (
    input logic clk_i,
    input logic arm_i,
    input logic stop_i,
    input logic full_i,
    input logic failed_i,
    input logic run_i,
    input logic [1:0] link_up_i,
    input logic awvalid_i,
    input logic [1:0] awaddr_some_i,
    input logic wvalid_i,
    input logic [1:0] wdata_some_i,
    input logic bready_i,
    input logic arvalid_i,
    input logic [1:0] araddr_some_i,
    input logic rready_i,
    input logic wqe_valid_i,
    input logic [1:0] wqe_some_i,
    input logic cqe_ready_i,
    input logic host_rd_ready_i,
    input logic host_rsp_valid_i,
    input logic host_rsp_plane_some_i,
    input logic [HostBytes*8-1:0] host_rsp_data_i,
    input logic host_rsp_err_i,
    input logic host_fail_valid_i,
    input logic [1:0] host_fail_some_i,
    input logic host_wr_ready_i,
    input logic [1:0] tx_tready_i,
    input logic [1:0] rx_tvalid_i,
    input logic [1:0][7:0] rx_tdata_i,
    input logic [1:0][0:0] rx_tkeep_i,
    input logic [1:0] rx_tlast_i,
    input logic [1:0] rx_tuser_i,
    input logic event_ready_i
);
  `MRC_RESET

  logic [15:0] awaddr_i, araddr_i;
  logic [31:0] wdata_i;
  logic [3:0] wstrb_i;
  wqe_t wqe_i;
  qperr_t host_fail_i;
  logic [3:0] host_rsp_plane_i;
  logic idle_o, armed_o, takes_o, arm, run;
  logic [2:0] why_o, event_why_o;
  logic [CycleW-1:0] cycles_o, event_cycle_o;
  logic event_valid_o, event_end_o, event_has_bus_o, event_has_wqe_o, event_has_digest_o;
  logic [47:0] event_pins_o;
  logic [71+$bits(qperr_t):0] event_bus_o;
  logic [$bits(wqe_t)-1:0] event_wqe_o;
  logic [31:0] event_digest_o;
  logic [HostBytes*8-1:0] event_rsp_o;
  logic [1:0][7:0] event_rx_o;

  assign awaddr_i = {awaddr_some_i[1], 14'd0, awaddr_some_i[0]};
  assign araddr_i = {araddr_some_i[1], 14'd0, araddr_some_i[0]};
  assign wdata_i = {wdata_some_i[1], 31'd0};
  assign wstrb_i = {3'd0, wdata_some_i[0]};
  assign wqe_i = {wqe_some_i[1], ($bits(wqe_t) - 2)'(0), wqe_some_i[0]};
  assign host_fail_i = {host_fail_some_i[1], ($bits(qperr_t) - 2)'(0), host_fail_some_i[0]};
  assign host_rsp_plane_i = {3'd0, host_rsp_plane_some_i};
  // As mrc_fpga_record_regs arms it.
  assign arm = arm_i && idle_o && !run;
  assign run = run_i && rst_ni;

  mrc_fpga_record_take #(
      .HostBytes(HostBytes),
      .WindowLog2(WindowLog2),
      .CycleW(CycleW),
      .Depth(2)
  ) dut (
      .arm_i(arm),
      .run_i(run),
      .awready_i('0),
      .wready_i('0),
      .bvalid_i('0),
      .bresp_i('0),
      .arready_i('0),
      .rvalid_i('0),
      .rdata_i('0),
      .rresp_i('0),
      .irq_i('0),
      .wqe_ready_i('0),
      .cqe_valid_i('0),
      .cqe_i('0),
      .host_rd_valid_i('0),
      .host_rd_i('0),
      .host_fail_ready_i('0),
      .host_wr_valid_i('0),
      .host_wr_addr_i('0),
      .host_wr_len_i('0),
      .host_wr_last_i('0),
      .host_wr_plane_i('0),
      .host_wr_qp_i('0),
      .host_wr_data_i('0),
      .tx_tvalid_i('0),
      .tx_tdata_i('0),
      .tx_tkeep_i('0),
      .tx_tlast_i('0),
      .*
  );

  // The cycle before: its pins, as the core saw them.
  typedef struct packed {
    logic [1:0] tuser, tlast, tvalid, tready, link_up;
    logic [1:0] ones;
    logic rsp_plane, wr_ready, fail_valid, rsp_err, rsp_valid, rd_ready, cqe_ready, wqe_valid;
    logic rready, arvalid, bready, wvalid, awvalid;
  } plain_t;
  plain_t was_q, now;
  logic [1:0] awaddr_q, wdata_q, araddr_q, wqe_q, fail_q;
  logic [HostBytes*8-1:0] rsp_q;
  logic [1:0][7:0] rx_q;
  logic run_q;

  assign now = '{
          tuser: rx_tuser_i & rx_tvalid_i,
          tlast: rx_tlast_i & rx_tvalid_i,
          tvalid: rx_tvalid_i,
          tready: tx_tready_i,
          link_up: link_up_i,
          ones: {rx_tkeep_i[1][0] && rx_tvalid_i[1], rx_tkeep_i[0][0] && rx_tvalid_i[0]},
          rsp_plane: host_rsp_plane_some_i && host_rsp_valid_i,
          wr_ready: host_wr_ready_i,
          fail_valid: host_fail_valid_i,
          rsp_err: host_rsp_err_i && host_rsp_valid_i,
          rsp_valid: host_rsp_valid_i,
          rd_ready: host_rd_ready_i,
          cqe_ready: cqe_ready_i,
          wqe_valid: wqe_valid_i,
          rready: rready_i,
          arvalid: arvalid_i,
          bready: bready_i,
          wvalid: wvalid_i,
          awvalid: awvalid_i
      };

  // What an event says, put together as the record's format does.
  function automatic plain_t plain_of(logic [47:0] pins);
    plain_of = '{
        tuser: {pins[36], pins[20]},
        tlast: {pins[35], pins[19]},
        tvalid: {pins[34], pins[18]},
        tready: {pins[33], pins[17]},
        link_up: {pins[32], pins[16]},
        ones: {pins[40], pins[24]},
        rsp_plane: pins[12],
        wr_ready: pins[11],
        fail_valid: pins[10],
        rsp_err: pins[9],
        rsp_valid: pins[8],
        rd_ready: pins[7],
        cqe_ready: pins[6],
        wqe_valid: pins[5],
        rready: pins[4],
        arvalid: pins[3],
        bready: pins[2],
        wvalid: pins[1],
        awvalid: pins[0]
    };
  endfunction

  // The reader: what it knows, with the event of this cycle if there is one.
  logic push;
  plain_t known_q, known;
  logic [71+$bits(qperr_t):0] bus_q, bus;
  logic [1:0] work_q, work;
  assign push = dut.push && dut.room;
  assign known = push ? plain_of(dut.event_d.pins) : known_q;
  assign bus = (push && dut.event_d.has_bus) ? dut.event_d.bus : bus_q;
  assign work = (push && dut.event_d.has_wqe)
      ? {dut.event_d.wqe[$bits(wqe_t)-1], dut.event_d.wqe[0]} : work_q;

  // A record: it is armed; the core has had so many cycles since; its end has come.
  logic armed_q, begun_q, over_q, in_record, end_push;
  logic [CycleW-1:0] count_q;
  assign in_record = armed_q && (run_q || begun_q);
  assign end_push = dut.push_end;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {armed_q, begun_q, over_q, count_q, run_q} <= '0;
    end else begin
      run_q <= run;
      if (arm) begin
        {armed_q, begun_q, over_q, count_q} <= {1'b1, {CycleW + 2{1'b0}}};
      end else begin
        if (end_push) over_q <= 1'b1;
        if (dut.ends || !armed_q) begin
          armed_q <= 1'b0;
        end else if (in_record) begin
          begun_q <= 1'b1;
          count_q <= count_q + CycleW'(1);
        end
      end
    end
  end
  always_ff @(posedge clk_i) begin
    was_q <= now;
    {awaddr_q, wdata_q, araddr_q} <= {awaddr_some_i, wdata_some_i, araddr_some_i};
    {wqe_q, fail_q, rsp_q, rx_q} <= {wqe_some_i, host_fail_some_i, host_rsp_data_i, rx_tdata_i};
    if (arm) begin
      bus_q <= '0;
      work_q <= '0;
    end else begin
      known_q <= known;
      bus_q <= bus;
      work_q <= work;
    end
  end

  logic reads;
  assign reads = in_record && !dut.ends;

  `MRC_PROVE(pins_as_seen, !reads || known == was_q)
  `MRC_PROVE(bus_as_seen, !reads
      || ((!was_q.awvalid || {bus[15], bus[0]} == awaddr_q)
          && (!was_q.arvalid || {bus[31], bus[16]} == araddr_q)
          && (!was_q.wvalid || {bus[63], bus[64]} == wdata_q)
          && (!was_q.fail_valid || {bus[95], bus[72]} == fail_q)))
  `MRC_PROVE(work_as_seen, !(reads && was_q.wqe_valid) || work == wqe_q)
  `MRC_PROVE(data_as_seen, !(reads && (was_q.rsp_valid || was_q.tvalid != '0))
      || (push && (!was_q.rsp_valid || dut.event_d.rsp == rsp_q)
          && (!was_q.tvalid[0] || dut.event_d.rx[0] == rx_q[0])
          && (!was_q.tvalid[1] || dut.event_d.rx[1] == rx_q[1])))
  `MRC_PROVE(from_the_first, !(armed_q && run_q && !begun_q) || dut.ends
      || (push && dut.event_d.cycle == '0))
  `MRC_PROVE(numbered, !(push || end_push) || dut.event_d.cycle == count_q)
  `MRC_PROVE(each_window, !(reads && count_q[WindowLog2-1:0] == '0) || push)
  `MRC_PROVE(none_outside, !push || in_record)
  `MRC_PROVE(one_end, !end_push || (!over_q && !armed_q))
  `MRC_PROVE(held_ends, !(begun_q && armed_q && !run_q) || dut.ends)
  `MRC_PROVE(room_is_fast, !(dut.ends && dut.why_d == 3'd4) || !dut.room)
  `MRC_COVER(pins_as_seen, reads && !push && was_q.wqe_valid && was_q.link_up == 2'd2)
  `MRC_COVER(bus_as_seen, reads && !push && was_q.awvalid && was_q.fail_valid && awaddr_q == 2'd2)
  `MRC_COVER(work_as_seen, reads && !push && was_q.wqe_valid && wqe_q == 2'd3)
  `MRC_COVER(data_as_seen, reads && was_q.rsp_valid && was_q.tvalid == 2'd3)
  `MRC_COVER(from_the_first, armed_q && run_q && !begun_q && push)
  `MRC_COVER(numbered, end_push && count_q == CycleW'(3))
  `MRC_COVER(each_window, reads && count_q == CycleW'(16))
  `MRC_COVER(none_outside, push && begun_q)
  `MRC_COVER(one_end, end_push && dut.why_q == 3'd2)
  `MRC_COVER(held_ends, begun_q && armed_q && !run_q)
  `MRC_COVER(room_is_fast, dut.ends && dut.why_d == 3'd4)
  `MRC_COVER(filled, push && dut.u_events.count_q == 2'd1)
endmodule
