// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// What mrc_tx_inflight tells the blocks around it in each cycle
/// (docs/design/blocks/tx/inflight/tx_inflight.md): orders of retransmissions, progress, news about
/// EVs, answered probes, events and requests for the congestion controller, ended QPs. The choice
/// of the operation, or an answer's stay in its first state, has seen to it that what is loaded is
/// free; only a visit's question for a peer's state asks (free_o.stateq) when it comes up.
module mrc_tx_inflight_report
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
#(
    parameter int unsigned NumPlanes = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic rtt_rtx_i,
    input logic tsr_us_i,
    input logic loss_shrinks_i,  // a loss is congestion
    input logic [15:0] tick_i,  // low bits

    // The cycle of the main machine. sel: the QP that it changes.
    input state_e state_i,
    input qp_index_t qp_i,
    input view_t sel_i,
    input logic [27:0] fly_i,  // of sel
    input rec_t rec_i,
    input ctl_t ctl_i,
    input sent_t sent_i,
    input sack_t sack_i,
    input answer_t answer_i,
    input scan_t scan_i,
    input logic granted_i,  // the controller takes the retransmission
    input logic leave_i,  // what Retx1 has found leaves the flight, and waits
    input timer_t timer_i,
    input ports_t ports_i,
    input logic [27:0] packet_bytes_i,
    input logic [27:0] sack_bytes_i,
    input logic fail_i,  // Fail
    input logic over_i,  // sel is over
    input logic landed_i,  // nothing of it is in flight any more, for another reason

    output logic retx_load_o,
    output outputs_t free_o,
    output outputs_t valid_o,
    input outputs_t ready_i,
    output words_t words_o
);

  logic retx_load, upd_load, fb_load, pres_load, ccev_load, rtxreq_load, okev_load, qperr_load;
  retx_t retx;
  upd_t upd;
  fb_t fb;
  pres_t pres;
  stateq_t stateq;
  ccev_t ccev;
  ccreq_t rtxreq;
  okev_t okev;
  qperr_t qperr;
  logic at_done, at_nack;
  logic [7:0] fail_status;
  logic [15:0] rtt;

  assign at_done = state_i == StDone;
  assign at_nack = state_i == StCtl1 && ctl_i.kind == CtlKindNack;
  assign fail_status = (at_nack && answer_i.event_) ? CqStatusRemEvent : CqStatusRetryExceeded;
  assign rtt = ticks_since(tick_i, ctl_i.ts, tsr_us_i);

  // ---- congestion controller

  always_comb begin
    ccev_load = 1'b0;
    ccev = '0;
    ccev.cc = sel_i.row.dest;
    ccev.kind = CcEventNack;
    if (sel_i.is.cc) begin
      unique case (state_i)
        StRec: begin
          if (rec_i.voided) begin
            ccev_load = sel_i.is.live;
            ccev.bytes = packet_bytes_i;
          end else begin
            // Asked for and sent, but nobody waits for it.
            ccev_load = !sel_i.is.live && !rec_i.rtx;
            ccev.bytes = {14'd0, rec_i.size};
          end
        end
        StDone: begin
          ccev_load = 1'b1;
          ccev.kind = CcEventAck;
          ccev.bytes = sack_bytes_i;
          ccev.ecn = ctl_i.m == MarkSkipOnce;
          ccev.rtt_valid = sack_i.recent && sel_i.row.ts && (!sack_i.rtx || rtt_rtx_i);
          ccev.rtt = ccev.rtt_valid ? rtt : 16'd0;
          ccev.pen = ctl_i.pen;
          ccev.restore = ctl_i.restore;
        end
        StCtl1: begin
          ccev_load = answer_i.takes;
          ccev.bytes = packet_bytes_i;
          ccev.rtt_valid = sel_i.row.ts && (!sent_i.rtx || rtt_rtx_i);
          ccev.rtt = ccev.rtt_valid ? rtt : 16'd0;
          ccev.reason = ctl_i.reason;
        end
        StRetx1: begin
          ccev_load = scan_i.loss;
          ccev.kind = loss_shrinks_i ? CcEventLoss : CcEventNack;
          ccev.bytes = packet_bytes_i;
        end
        StPort3: begin
          ccev_load = ports_i.loses;
          ccev.bytes = {10'd0, ports_i.bytes};
        end
        default: ;
      endcase
      if (over_i || landed_i) begin
        ccev_load = fly_i != 28'd0;
        ccev = '0;
        ccev.cc = sel_i.row.dest;
        // What is in flight of a QP whose ACK is missing: earlier copies sent for the sake of it.
        ccev.kind = CcEventAck;
        if (over_i || timer_i.dup) begin
          ccev.kind = CcEventNack;
        end else if (state_i == StWalk) begin
          ccev.kind = CcEventLoss;
        end
        ccev.bytes = fly_i;
      end
    end
  end

  // What counts for no bytes needs no leave: a grant of 0 means refused.
  logic requests;
  assign requests = sel_i.is.cc && sent_i.size != '0;
  assign rtxreq_load = state_i == StRetx1 && requests && !leave_i;
  assign rtxreq = '{
          cc: sel_i.row.dest,
          min: {2'd0, sent_i.size},
          bytes: {2'd0, sent_i.size}
      };

  // ---- tx_segment, csr

  assign retx_load = (state_i == StRetx1 && !requests && !leave_i) || granted_i;
  assign retx = '{
          qp: qp_i,
          psn: scan_i.p,
          msn: sent_i.msn,
          row: sent_i.row,
          idx: sent_i.idx,
          avoid_ev: sent_i.ev_idx,
          size: sent_i.size,
          lost: scan_i.loss,
          two: scan_i.loss && !sel_i.row.trims
      };

  always_comb begin
    upd_load = sack_i.moved || sack_i.new_mpr || answer_i.changed || answer_i.nak || fail_i;
    upd = '{
        qp: qp_i,
        una: at_done ? sack_i.una : answer_i.una,
        ack: !at_done,
        msn: at_done ? 16'd0 : ctl_i.msn,
        syndrome: at_done ? 8'd0 : ctl_i.reason,
        mpr: sack_i.new_mpr ? ctl_i.mpr : 8'd0
    };
    if (fail_i) begin
      upd.una = sel_i.row.una;
      upd.msn = sel_i.row.msn_done;
      upd.syndrome = fail_status;
    end
  end

  assign qperr_load = fail_i || answer_i.nak;
  assign qperr = '{qp: qp_i, status: fail_i ? fail_status : ctl_i.reason};

  // ---- tx_path, tx_probe, ack_gen

  always_comb begin
    // 3 is reserved: nothing is known of the EV.
    fb_load = sack_i.recent && (ctl_i.m == MarkSkipOnce || ctl_i.m == MarkAlwaysSkip);
    fb = '{
        qp: qp_i,
        ev_idx: sack_i.ev_idx,
        entropy: ctl_i.entropy,
        kind: (ctl_i.m == MarkAlwaysSkip) ? FbKindAlwaysSkip : FbKindSkipOnce
    };
    if (at_nack) begin
      fb_load = answer_i.trimmed;
      fb.ev_idx = sent_i.ev_idx;
      fb.kind = FbKindSkipOnce;
    end else if (state_i == StRetx1) begin
      // A gap or the timer: one loss is enough to take the EV out of use.
      fb_load = scan_i.blame;
      fb = '{qp: qp_i, ev_idx: sent_i.ev_idx, entropy: 32'd0, kind: FbKindLoss};
    end
  end

  assign pres_load = at_done && ctl_i.pr;
  assign pres = '{qp: qp_i, id: ctl_i.psn[15:0], m: ctl_i.m};

  logic stateq_load;
  assign stateq_load = timer_i.query || ports_i.query;
  assign stateq = '{qp: qp_i};

  // Sent once, arrived, not marked: what this EV is good for the other way is known.
  assign okev_load = sack_i.recent && ctl_i.m == MarkNone && !sack_i.rtx;
  assign okev = '{
          dest: sel_i.row.dest,
          plane: sack_i.ev_idx[3:0] & 4'(NumPlanes - 1),
          ev: ctl_i.entropy
      };

  // ---- output registers

  assign retx_load_o = retx_load;

  mrc_out_reg #(
      .T(retx_t)
  ) u_retx (
      .clk_i,
      .rst_ni,
      .load_i(retx_load),
      .data_i(retx),
      .free_o(free_o.retx),
      .valid_o(valid_o.retx),
      .ready_i(ready_i.retx),
      .data_o(words_o.retx)
  );

  mrc_out_reg #(
      .T(upd_t)
  ) u_upd (
      .clk_i,
      .rst_ni,
      .load_i(upd_load),
      .data_i(upd),
      .free_o(free_o.upd),
      .valid_o(valid_o.upd),
      .ready_i(ready_i.upd),
      .data_o(words_o.upd)
  );

  mrc_out_reg #(
      .T(fb_t)
  ) u_fb (
      .clk_i,
      .rst_ni,
      .load_i(fb_load),
      .data_i(fb),
      .free_o(free_o.fb),
      .valid_o(valid_o.fb),
      .ready_i(ready_i.fb),
      .data_o(words_o.fb)
  );

  mrc_out_reg #(
      .T(pres_t)
  ) u_pres (
      .clk_i,
      .rst_ni,
      .load_i(pres_load),
      .data_i(pres),
      .free_o(free_o.pres),
      .valid_o(valid_o.pres),
      .ready_i(ready_i.pres),
      .data_o(words_o.pres)
  );

  mrc_out_reg #(
      .T(stateq_t)
  ) u_stateq (
      .clk_i,
      .rst_ni,
      .load_i(stateq_load),
      .data_i(stateq),
      .free_o(free_o.stateq),
      .valid_o(valid_o.stateq),
      .ready_i(ready_i.stateq),
      .data_o(words_o.stateq)
  );

  mrc_out_reg #(
      .T(ccev_t)
  ) u_ccev (
      .clk_i,
      .rst_ni,
      .load_i(ccev_load),
      .data_i(ccev),
      .free_o(free_o.ccev),
      .valid_o(valid_o.ccev),
      .ready_i(ready_i.ccev),
      .data_o(words_o.ccev)
  );

  mrc_out_reg #(
      .T(ccreq_t)
  ) u_rtxreq (
      .clk_i,
      .rst_ni,
      .load_i(rtxreq_load),
      .data_i(rtxreq),
      .free_o(free_o.rtxreq),
      .valid_o(valid_o.rtxreq),
      .ready_i(ready_i.rtxreq),
      .data_o(words_o.rtxreq)
  );

  mrc_out_reg #(
      .T(okev_t)
  ) u_okev (
      .clk_i,
      .rst_ni,
      .load_i(okev_load),
      .data_i(okev),
      .free_o(free_o.okev),
      .valid_o(valid_o.okev),
      .ready_i(ready_i.okev),
      .data_o(words_o.okev)
  );

  mrc_out_reg #(
      .T(qperr_t)
  ) u_qperr (
      .clk_i,
      .rst_ni,
      .load_i(qperr_load),
      .data_i(qperr),
      .free_o(free_o.qperr),
      .valid_o(valid_o.qperr),
      .ready_i(ready_i.qperr),
      .data_o(words_o.qperr)
  );

  logic unused_ok;
  assign unused_ok = &{1'b0, rec_i.qp, rec_i.psn, rec_i.msn, rec_i.row, rec_i.idx, rec_i.ev_idx,
                       rec_i.last, ctl_i.qp, ctl_i.psn[23:16], ctl_i.cack, ctl_i.base,
                       ctl_i.bitmap, ctl_i.ooo, ctl_i.rcvd, timer_i.lost};

  // ---- what always holds

`ifdef MRC_ASSERT_ON
  // What the choice of the operation, or an answer's stay, has seen to be free.
  outputs_t load, checked;
  assign load = '{
          retx: retx_load,
          upd: upd_load,
          fb: fb_load,
          pres: pres_load,
          stateq: stateq_load,
          ccev: ccev_load,
          rtxreq: rtxreq_load,
          okev: okev_load,
          qperr: qperr_load
      };
  always_comb begin
    checked = '0;
    unique case (state_i)
      StIdle: begin
        checked.upd = 1'b1;
        checked.ccev = 1'b1;
        checked.qperr = 1'b1;
        checked.stateq = free_o.stateq;  // the visit looks itself
      end
      StRec, StReclaim: checked.ccev = 1'b1;
      StCtl1, StDone, StAck: begin
        checked.upd = 1'b1;
        checked.fb = 1'b1;
        checked.pres = 1'b1;
        checked.ccev = 1'b1;
        checked.okev = 1'b1;
        checked.qperr = 1'b1;
      end
      StRetx1, StRetxW: begin
        checked.retx = 1'b1;
        checked.fb = 1'b1;
        checked.rtxreq = 1'b1;
        checked.ccev = 1'b1;
      end
      StWalk: begin
        checked.upd = 1'b1;
        checked.ccev = 1'b1;
        checked.qperr = 1'b1;
      end
      StSeek: checked.stateq = 1'b1;
      StPort3: checked.ccev = 1'b1;
      default: ;
    endcase
  end

  `MRC_ASSERT(LoadsWhatWasChecked, (load & ~checked) == '0,
      "an output is loaded that the choice has not looked at")
`endif
  // A packet that was asked for and sent for a QP that is over: its QP has given all back. What was
  // lost with a port has left the flight packet by packet.
  `MRC_ASSERT_IF(WithinTheFlight, ccev_load,
      (state_i == StRec && !rec_i.voided) || state_i == StPort3 || ccev.bytes <= fly_i,
      "the controller hears of more bytes than fly")
  `MRC_ASSERT_IF(NoControllerNoFlight, sel_i.is.live, sel_i.is.cc || fly_i == 28'd0,
      "a QP without a controller has bytes in a flight")
  `MRC_ONE_HOT0(OneNewsOfAnEv, {fb_load, okev_load, pres_load},
      "one packet brings two kinds of news about its EV")
  `MRC_ONE_HOT0(OneReasonToUpdate,
      {fail_i, sack_i.moved || sack_i.new_mpr, answer_i.changed || answer_i.nak},
      "progress and an end in one cycle")
  `MRC_ASSERT_IF(FailsTheLiving, fail_i, sel_i.is.live,
      "a QP fails that is over")
  `MRC_ASSERT_IF(EndIsReported, qperr_load, upd_load,
      "tx_segment does not hear of the end of a QP")

endmodule
