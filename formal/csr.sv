// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_csr between software, a host and blocks that report what they like, and blocks that
/// acknowledge table writes when they like, or never. What software did is kept from the pins
/// alone.
module formal_csr
  import mrc_pkg::*;
#(
    parameter int unsigned Bug = 0,
    parameter int unsigned NumQps = 2,
    parameter int unsigned NumDests = 2,
    parameter int unsigned NumAcks = 2
) (
    input logic clk_i,
    input logic [1:0] port_up_i,
    input logic [31:0] fence_i,
    input axil_req_t axil_i,
    input nic_pulses_t pulses_i,
    input logic evev_valid_i,
    input evev_t evev_i,
    input logic pmask_valid_i,
    input pmask_t pmask_i,
    input logic [4:0] qperr_valid_i,
    input qperr_t [4:0] qperr_i,
    input logic evp_ready_i,
    input logic evr_valid_i,
    input evr_t evr_i,
    input logic [NumAcks-1:0] cfg_ack_i
);
  `MRC_RESET

  axil_rsp_t axil_o;
  logic evev_ready_o, pmask_ready_o, evp_valid_o, evr_ready_o, irq_o;
  logic [4:0] qperr_ready_o;
  evp_t evp_o;
  logic [31:0] tick_o;
  logic fence_go_o;
  cfg_t cfg_o;
  nic_csr_t csr_o;

  mrc_csr #(
      .NumPlanes(2),
      .NumQps(NumQps),
      .NumDests(NumDests),
      .TickCycles(2),
      .NumAcks(NumAcks)
  ) dut (
      .bug_i(8'(Bug)),
      .*
  );

  // ---- the bus: what has come, and whether it was there in the cycle before

  logic aw_q, w_q, both_q, r_q, aw, w, b, ar, r, go;
  logic [13:0] awaddr_q;
  logic [31:0] wdata_q;
  logic [3:0] wstrb_q;

  assign aw = axil_i.awvalid && axil_o.awready;
  assign w = axil_i.wvalid && axil_o.wready;
  assign b = axil_o.bvalid && axil_i.bready;
  assign ar = axil_i.arvalid && axil_o.arready;
  assign r = axil_o.rvalid && axil_i.rready;
  assign go = aw_q && w_q && !both_q;  // the write

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {aw_q, w_q, both_q, r_q} <= '0;
    end else begin
      aw_q <= (aw_q || aw) && !b;
      w_q <= (w_q || w) && !b;
      both_q <= aw_q && w_q && !b;
      r_q <= (r_q || ar) && !r;
    end
  end
  always_ff @(posedge clk_i) begin
    if (aw) awaddr_q <= axil_i.awaddr[15:2];
    if (w) {wdata_q, wstrb_q} <= {axil_i.wdata, axil_i.wstrb};
  end

  `MRC_PROVE(w_taken, axil_o.awready == !aw_q && axil_o.wready == !w_q)
  `MRC_PROVE(w_answered, axil_o.bvalid == both_q)
  `MRC_COVER(w_answered, b && cfg_o.req && cfg_ack_i == '0)
  `MRC_PROVE(r_answered, axil_o.rvalid == r_q && axil_o.arready == !r_q)
  `MRC_COVER(r_answered, r && cfg_o.req && cfg_ack_i == '0)

  `MRC_HELP(both, !both_q || (aw_q && w_q))
  `MRC_HELP(address, !aw_q || dut.awaddr_q == awaddr_q)
  `MRC_HELP(data, !w_q || {dut.wdata_q, dut.wstrb_q} == {wdata_q, wstrb_q})

  // ---- a command: what its write came to, and what is refused until it has ended

  logic was_cmd, was_held, was_busy_q, was_cmd_q, was_held_q;
  logic b_held_q;
  logic [1:0] bresp_q;

  assign was_cmd = awaddr_q == CsrTblCmd[15:2];
  assign was_held = was_cmd || awaddr_q == CsrQpAttr[15:2]
      || (awaddr_q >= CsrTblData0[15:2] && awaddr_q < CsrTblData0[15:2] + 14'd16);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {was_busy_q, was_cmd_q, was_held_q, b_held_q} <= '0;
    end else begin
      was_busy_q <= dut.busy_q;
      was_cmd_q <= go && was_cmd;
      was_held_q <= go && was_held;
      b_held_q <= axil_o.bvalid && !b;
    end
  end
  always_ff @(posedge clk_i) begin
    bresp_q <= axil_o.bresp;
  end

  `MRC_PROVE(refused, !(was_held_q && was_busy_q) || axil_o.bresp == 2'd2)
  `MRC_COVER(refused, was_held_q && was_busy_q && !was_cmd_q)
  `MRC_PROVE(taken, !(was_cmd_q && !was_busy_q) || (dut.busy_q && axil_o.bresp == 2'd0))
  `MRC_COVER(taken, was_cmd_q && !was_busy_q && cfg_o.req)
  `MRC_PROVE(b_stays, !b_held_q || (axil_o.bvalid && axil_o.bresp == bresp_q))
  `MRC_COVER(b_stays, b_held_q && axil_o.bresp == 2'd0)
  `MRC_COVER(ends, was_busy_q && !dut.busy_q)
  `MRC_COVER(own_ends, dut.tstate_q == 2'd2 && dut.int_q && cfg_ack_i == '0)
  `MRC_COVER(fails, was_busy_q && !dut.busy_q && dut.cmd_status_q != 16'd0)

  `MRC_HELP(known_state, dut.tstate_q != 2'd3)

  // While no QP has failed and the blocks acknowledge in the cycle behind the request, a command
  // is busy for Most cycles at most, however many masks come: those of an error that is told
  // already, of a mask and its own.

  localparam int unsigned Most = 14;
  logic [3:0] wait_q;
  logic [NumAcks-1:0] ack_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_q <= '0;
      ack_q <= '0;
    end else begin
      ack_q <= {NumAcks{cfg_o.req}};
      if (dut.busy_q && !dut.notify_any && cfg_ack_i == ack_q) begin
        wait_q <= wait_q + 4'(wait_q != '1);
      end else begin
        wait_q <= '0;
      end
    end
  end
  `MRC_PROVE(in_time, wait_q <= 4'(Most))
  `MRC_COVER(in_time, wait_q == 4'd10)

  // ---- what blocks report waits while a command is judged, which is one cycle

  logic stuck, stuck_q;
  assign stuck = (dut.pmask_v && !dut.pmask_pop) || (dut.qperr_v != '0 && dut.qperr_pop == '0);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stuck_q <= 1'b0;
    end else begin
      stuck_q <= stuck;
    end
  end
  `MRC_PROVE(reports_taken, !(stuck && stuck_q))
  `MRC_COVER(reports_taken, stuck && dut.pmask_v && dut.qperr_v != '0)

  // ---- a QP that the host gives up, and one that cannot fail: any but INIT, RTR and RTS

  localparam int unsigned CntQpErr = 32'(CsrCntQpErr - CsrCntTx0) / 4;
  logic [31:0] errs, errs_q;
  assign errs = dut.u_regs.cnt_q[CntQpErr];
  logic fails_q, idle_q, err_qp_q, host_q;
  logic [7:0] err_status_q;
  logic [NumQps-1:0][10:0] qps_q;
  logic [2:0] err_state;
  logic may_fail;
  assign err_state = dut.error_state;
  logic [NumQps-1:0] notify;  // QPs that wait in u_notify
  assign notify = dut.u_notify.any_q[0]
      ? dut.u_notify.set_q[0] ^ (dut.u_notify.taken_q[0] ? dut.u_notify.take_q[0] : '0) : '0;
  logic [NumQps-1:0][10:0] qps;  // what u_qp has
  for (genvar i = 0; i < NumQps; i++) begin : gen_qp
    assign qps[i] = dut.u_qp.u_written.top_q[i] ? dut.u_qp.u_rows.mem_q[i] : 11'd0;
  end
  assign may_fail = dut.qperr.qp[15:1] == '0 && err_state != 3'(QpStateReset)
      && err_state < 3'(QpStateError);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {fails_q, idle_q, host_q} <= '0;
    end else begin
      fails_q <= dut.qperr_pop != '0 && may_fail;
      idle_q <= dut.qperr_pop != '0 && !may_fail;
      host_q <= dut.qperr_pop[4];
    end
  end
  always_ff @(posedge clk_i) begin
    err_qp_q <= dut.qperr.qp[0];
    err_status_q <= dut.qperr.status;
    qps_q <= qps;
  end

  `MRC_PROVE(qp_fails, !fails_q || (qps[err_qp_q] == {err_status_q, 3'(QpStateError)}
             && errs == errs_q + 32'd1
             && notify[err_qp_q]))
  `MRC_COVER(qp_fails, fails_q && host_q && err_qp_q && err_status_q == 8'(CqStatusHostWrite))
  `MRC_PROVE(qp_fails_once, !idle_q || (qps == qps_q && errs == errs_q))
  `MRC_COVER(qp_fails_once, idle_q && host_q && qps_q[0][2:0] == 3'(QpStateInit))
  `MRC_PROVE(host_last, !dut.qperr_pop[4] || dut.qperr_v[3:0] == '0)
  `MRC_COVER(host_last, dut.qperr_pop == 5'd1 && dut.qperr_v == '1)

  // ---- interrupts: what has come shows in other registers too

  // One EV probe is under way, and ends once.
  `MRC_GIVEN(one_answer, !evr_valid_i || (dut.evp_state_q == 2'd1 && !dut.evr_v))
  `MRC_HELP(one_answer, dut.u_evr.count_q == '0
            || (dut.u_evr.count_q == 2'd1 && dut.evp_state_q == 2'd1))

  logic [31:0] drops_q;
  logic [1:0] evp_q;
  logic evq, r_irq_q, pin_q;
  logic [4:0] enable_q, bits, was_q, clear_q, came;

  assign evq = dut.u_evq.count_q != '0;
  assign bits = dut.irq_bits;
  assign came = {dut.evq_drop_q != drops_q, evp_q == 2'd1 && dut.evp_state_q != 2'd1,
                 was_busy_q && !dut.busy_q, errs != errs_q, evq};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {errs_q, drops_q, evp_q, r_irq_q, pin_q, enable_q, was_q, clear_q} <= '0;
    end else begin
      errs_q <= errs;
      drops_q <= dut.evq_drop_q;
      evp_q <= dut.evp_state_q;
      was_q <= bits;
      clear_q <= '0;
      if (go && wstrb_q[0]) begin
        if (awaddr_q == CsrIrq[15:2]) clear_q <= wdata_q[4:0];
        if (awaddr_q == CsrIrqEnable[15:2]) enable_q <= wdata_q[4:0];
      end
      pin_q <= (bits & enable_q) != '0;
      r_irq_q <= ar && axil_i.araddr[15:2] == CsrIrq[15:2];
    end
  end

  `MRC_HELP(enable, enable_q == dut.own.irq_enable)
  // Neither lost nor invented: it has come, or was there and was not cleared.
  `MRC_PROVE(irq_kept, bits[4:1] == (came[4:1] | (was_q[4:1] & ~clear_q[4:1])))
  `MRC_PROVE(irq_evq, bits[0] == evq)
  `MRC_COVER(irq_evq, evq && clear_q[0] && bits[0])
  `MRC_PROVE(irq_pin, irq_o == pin_q)
  `MRC_COVER(irq_pin, irq_o && bits == '0)
  `MRC_PROVE(irq_read, !r_irq_q
             || {axil_o.rresp, axil_o.rdata} == {2'd0, 27'd0, was_q})
  `MRC_COVER(irq_read, r_irq_q && was_q[2:1] == '1)
  `MRC_COVER(irq_kept, came[2] && was_q[2] && clear_q[2] && bits[2])
  `MRC_COVER(irq_qp_err, came[1])
  `MRC_COVER(irq_evp, came[3] && clear_q[3])
  `MRC_COVER(irq_cleared, was_q[2] && !bits[2])
endmodule
