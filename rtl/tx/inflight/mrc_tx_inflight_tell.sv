// SPDX-License-Identifier: Apache-2.0

/// What mrc_tx_inflight tells the blocks around it in each cycle (docs/blocks/tx/inflight/tx_inflight.md): orders of
/// retransmissions, progress, news about EVs, answered probes, events and requests for the congestion
/// controller, ended QPs. The choice of the cycle has seen to it that what is loaded is free; only the
/// question for a peer's state asks (stateq_free_o) when it comes up.
module mrc_tx_inflight_tell
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
#(
    parameter int unsigned NumPlanes = 2
) (
    input logic clk_i,
    input logic rst_ni,

    // The cycle of the main machine.
    input state_e state_i,
    input logic [15:0] qp_i,
    input qp_t c_i,
    input logic live_i,
    input logic cc_i,
    input rec_t rec_i,
    input ctl_t ctl_i,
    input sent_t sent_i,
    input logic [23:0] p_i,
    input logic loss_i,
    input logic blame_i,
    input logic granted_i,  // the controller takes the retransmission
    input logic fail_i,  // Fail
    input logic give_back_i,  // the QP has ended
    input logic all_gone_i,  // nothing of it is in flight any more, for another reason
    input logic [27:0] fly_i,
    input logic [27:0] packet_bytes_i,
    input logic [27:0] sack_bytes_i,
    input sack_t sack_i,
    input answer_t answer_i,
    input visit_t visit_i,

    input logic rtt_rtx_i,
    input logic tsr_us_i,
    input logic [31:0] tick_i,

    output logic retx_load_o,
    output logic retx_free_o,
    output logic upd_free_o,
    output logic fb_free_o,
    output logic pres_free_o,
    output logic stateq_free_o,
    output logic ccev_free_o,
    output logic rask_free_o,
    output logic okev_free_o,
    output logic qperr_free_o,

    output logic retx_valid_o,
    input logic retx_ready_i,
    output retx_t retx_o,
    output logic upd_valid_o,
    input logic upd_ready_i,
    output upd_t upd_o,
    output logic fb_valid_o,
    input logic fb_ready_i,
    output fb_t fb_o,
    output logic pres_valid_o,
    input logic pres_ready_i,
    output pres_t pres_o,
    output logic stateq_valid_o,
    input logic stateq_ready_i,
    output stateq_t stateq_o,
    output logic ccev_valid_o,
    input logic ccev_ready_i,
    output ccev_t ccev_o,
    output logic rask_valid_o,
    input logic rask_ready_i,
    output ccask_t rask_o,
    output logic okev_valid_o,
    input logic okev_ready_i,
    output okev_t okev_o,
    output logic qperr_valid_o,
    input logic qperr_ready_i,
    output qperr_t qperr_o
);

  // ccev_t.kind
  localparam logic [1:0] CcAck = 2'd0;
  localparam logic [1:0] CcNack = 2'd1;
  localparam logic [1:0] CcLoss = 2'd2;

  logic upd_load, fb_load, pres_load, ccev_load, rask_load, okev_load, qperr_load;
  retx_t retx;
  upd_t upd;
  fb_t fb;
  pres_t pres;
  stateq_t stateq;
  ccev_t ccev;
  ccask_t rask;
  okev_t okev;
  qperr_t qperr;
  logic at_done, at_nack;
  logic [7:0] fail_status;
  logic [15:0] rtt;

  assign at_done = state_i == StDone;
  assign at_nack = state_i == StCtl1 && ctl_i.kind == CtlKindNack;
  assign fail_status = (at_nack && answer_i.nack_event) ? CqStatusRemEvent : CqStatusRetryExceeded;
  assign rtt = tsr_us_i ? {tick_i[15:3] - ctl_i.ts[12:0], 3'd0} : tick_i[15:0] - ctl_i.ts;

  // ---- congestion controller

  always_comb begin
    ccev_load = 1'b0;
    ccev = '0;
    ccev.cc = {8'd0, c_i.dest};
    ccev.kind = CcNack;
    if (cc_i) begin
      unique case (state_i)
        StRec: begin
          if (rec_i.voided) begin
            ccev_load = live_i;
            ccev.bytes = packet_bytes_i;
          end else begin
            // Asked for and sent, but nobody waits for it.
            ccev_load = !live_i && !rec_i.rtx;
            ccev.bytes = {14'd0, rec_i.size};
          end
        end
        StDone: begin
          ccev_load = 1'b1;
          ccev.kind = CcAck;
          ccev.bytes = sack_bytes_i;
          ccev.ecn = ctl_i.m == 2'd1;
          ccev.rtt_valid = sack_i.recent && c_i.ts && (!sack_i.rtx || rtt_rtx_i);
          ccev.rtt = ccev.rtt_valid ? rtt : 16'd0;
          ccev.pen = ctl_i.pen;
          ccev.restore = ctl_i.restore;
        end
        StCtl1: begin
          ccev_load = answer_i.nack_takes;
          ccev.bytes = packet_bytes_i;
          ccev.rtt_valid = c_i.ts && (!sent_i.rtx || rtt_rtx_i);
          ccev.rtt = ccev.rtt_valid ? rtt : 16'd0;
          ccev.reason = ctl_i.reason;
        end
        StRetx1: begin
          ccev_load = loss_i;
          ccev.kind = CcLoss;
          ccev.bytes = packet_bytes_i;
        end
        default: ;
      endcase
      if (give_back_i || all_gone_i) begin
        ccev_load = fly_i != 28'd0;
        ccev = '0;
        ccev.cc = {8'd0, c_i.dest};
        // What is in flight of a QP whose ACK is missing: earlier copies sent for the sake of it.
        ccev.kind = CcAck;
        if (give_back_i || visit_i.dup) begin
          ccev.kind = CcNack;
        end else if (state_i == StWalk) begin
          ccev.kind = CcLoss;
        end
        ccev.bytes = fly_i;
      end
    end
  end

  assign rask_load = state_i == StRetx1 && cc_i;
  assign rask = '{cc: {8'd0, c_i.dest}, min: {2'd0, sent_i.size}, bytes: {2'd0, sent_i.size}};

  // ---- tx_segment, csr

  assign retx_load_o = (state_i == StRetx1 && !cc_i) || granted_i;
  assign retx = '{
          qp: qp_i,
          psn: p_i,
          msn: sent_i.msn,
          row: sent_i.row,
          idx: sent_i.idx,
          avoid_ev: sent_i.ev_idx,
          size: sent_i.size
      };

  always_comb begin
    upd_load = sack_i.moved || sack_i.new_mpr || answer_i.ack_changed || answer_i.ack_nak || fail_i;
    upd = '{
        qp: qp_i,
        una: at_done ? sack_i.una : answer_i.una,
        ack: !at_done,
        msn: at_done ? 16'd0 : ctl_i.msn,
        syndrome: at_done ? 8'd0 : ctl_i.reason,
        mpr: sack_i.new_mpr ? ctl_i.mpr : 8'd0
    };
    if (fail_i) begin
      upd.una = c_i.una;
      upd.msn = c_i.msn_done;
      upd.syndrome = fail_status;
    end
  end

  assign qperr_load = fail_i || answer_i.ack_nak;
  assign qperr = '{qp: qp_i, status: fail_i ? fail_status : ctl_i.reason};

  // ---- tx_path, tx_probe, ack_gen

  always_comb begin
    // 3 is reserved: nothing is known of the EV.
    fb_load = sack_i.recent && (ctl_i.m == 2'd1 || ctl_i.m == 2'd2);
    fb = '{qp: qp_i, ev_idx: sack_i.ev_idx, entropy: ctl_i.entropy, kind: {1'b0, ctl_i.m}};
    if (at_nack) begin
      fb_load = answer_i.nack_trimmed;
      fb.ev_idx = sent_i.ev_idx;
      fb.kind = 3'd1;
    end else if (state_i == StRetx1) begin
      // A gap or the timer: one loss is enough to take the EV out of use.
      fb_load = blame_i;
      fb = '{qp: qp_i, ev_idx: sent_i.ev_idx, entropy: 32'd0, kind: 3'd3};
    end
  end

  assign pres_load = at_done && ctl_i.pr;
  assign pres = '{qp: qp_i, id: ctl_i.psn[15:0], m: ctl_i.m};

  assign stateq = '{qp: qp_i};

  // Sent once, arrived, not marked: what this EV is good for the other way is known.
  assign okev_load = sack_i.recent && ctl_i.m == 2'd0 && !sack_i.rtx;
  assign okev = '{
          dest: {8'd0, c_i.dest},
          plane: sack_i.ev_idx[3:0] & 4'(NumPlanes - 1),
          ev: ctl_i.entropy
      };

  // ---- output registers

  mrc_out_reg #(
      .T(retx_t)
  ) u_retx (
      .clk_i,
      .rst_ni,
      .load_i(retx_load_o),
      .data_i(retx),
      .free_o(retx_free_o),
      .valid_o(retx_valid_o),
      .ready_i(retx_ready_i),
      .data_o(retx_o)
  );

  mrc_out_reg #(
      .T(upd_t)
  ) u_upd (
      .clk_i,
      .rst_ni,
      .load_i(upd_load),
      .data_i(upd),
      .free_o(upd_free_o),
      .valid_o(upd_valid_o),
      .ready_i(upd_ready_i),
      .data_o(upd_o)
  );

  mrc_out_reg #(
      .T(fb_t)
  ) u_fb (
      .clk_i,
      .rst_ni,
      .load_i(fb_load),
      .data_i(fb),
      .free_o(fb_free_o),
      .valid_o(fb_valid_o),
      .ready_i(fb_ready_i),
      .data_o(fb_o)
  );

  mrc_out_reg #(
      .T(pres_t)
  ) u_pres (
      .clk_i,
      .rst_ni,
      .load_i(pres_load),
      .data_i(pres),
      .free_o(pres_free_o),
      .valid_o(pres_valid_o),
      .ready_i(pres_ready_i),
      .data_o(pres_o)
  );

  mrc_out_reg #(
      .T(stateq_t)
  ) u_stateq (
      .clk_i,
      .rst_ni,
      .load_i(visit_i.ask),
      .data_i(stateq),
      .free_o(stateq_free_o),
      .valid_o(stateq_valid_o),
      .ready_i(stateq_ready_i),
      .data_o(stateq_o)
  );

  mrc_out_reg #(
      .T(ccev_t)
  ) u_ccev (
      .clk_i,
      .rst_ni,
      .load_i(ccev_load),
      .data_i(ccev),
      .free_o(ccev_free_o),
      .valid_o(ccev_valid_o),
      .ready_i(ccev_ready_i),
      .data_o(ccev_o)
  );

  mrc_out_reg #(
      .T(ccask_t)
  ) u_rask (
      .clk_i,
      .rst_ni,
      .load_i(rask_load),
      .data_i(rask),
      .free_o(rask_free_o),
      .valid_o(rask_valid_o),
      .ready_i(rask_ready_i),
      .data_o(rask_o)
  );

  mrc_out_reg #(
      .T(okev_t)
  ) u_okev (
      .clk_i,
      .rst_ni,
      .load_i(okev_load),
      .data_i(okev),
      .free_o(okev_free_o),
      .valid_o(okev_valid_o),
      .ready_i(okev_ready_i),
      .data_o(okev_o)
  );

  mrc_out_reg #(
      .T(qperr_t)
  ) u_qperr (
      .clk_i,
      .rst_ni,
      .load_i(qperr_load),
      .data_i(qperr),
      .free_o(qperr_free_o),
      .valid_o(qperr_valid_o),
      .ready_i(qperr_ready_i),
      .data_o(qperr_o)
  );

  logic unused_ok;
  assign unused_ok = &{1'b0, c_i, rec_i, ctl_i, sack_i, answer_i, visit_i, tick_i};

endmodule
