// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Post of mrc_rx_track (docs/design/blocks/rx/track/rx_track.md): what each verdict of Track makes
/// of the packet that leaves the stages. It gives the buffer back or has it placed, owes ACK, NACK,
/// NAK or SACK, and changes what the QP knows. The outputs follow in the same cycle; it waits for
/// nothing: post_i says that all of them are free. It does not look at rows.
module mrc_rx_track_post
  import mrc_pkg::*;
  import mrc_math_pkg::*;
  import mrc_probe_pkg::*;
  import mrc_rx_track_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    localparam int unsigned PlaneW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input rx_track_csr_t csr_i,
    input logic post_i,  // the packet leaves
    input stage_x_t x_i,
    // Of rx_share: what SACKs say about windows.
    input logic arm_i,
    input logic [3:0] gen_i,
    input logic drained_i,
    input logic fat_i,  // the packet's QP has had more than its share
    // What the QP knows from now on, with post_i.
    output report_t report_o,
    output own_t own_o,
    output logic verdict_load_o,
    output verdict_t verdict_o,
    output logic resp_load_o,
    output resp_t resp_o,
    output logic ackev_load_o,
    output ackev_t ackev_o,
    output logic ord_load_o,
    output ord_t ord_o,
    output logic came_load_o,
    output came_t came_o,
    output logic qperr_load_o,
    output qperr_t qperr_o,
    // A SACK to write.
    output logic req_o,
    output req_t req_data_o,
    output rx_track_pulses_t pulses_o
);

  logic no_pay, x_trimmed, give, req_wish, req, nack, resp_load;
  logic ooo_left;
  logic [21:0] trig_sum, trig_add;
  logic [20:0] trig;
  logic [NumPlanes-1:0][11:0] issued_q, issued_d;
  nack_reason_e nack_reason;
  logic dup_inc_q, dup_inc_d, oor_inc_q, oor_inc_d, trim_inc_q, trim_inc_d;
  logic nores_inc_q, nores_inc_d;

  assign no_pay = x_i.p.trim != TrimNone;
  assign x_trimmed = x_i.p.trim == TrimTrimmed || x_i.p.trim == TrimLastHop;
  assign ooo_left = x_i.ooo != 16'd0;
  assign trig_add = (x_i.what == WhatTake) ? 22'(x_i.load) : 22'd0;
  assign trig_sum = {1'b0, x_i.own.trig} + trig_add;
  assign trig = trig_sum[21] ? 21'h1FFFFF : trig_sum[20:0];

  // sack_trigger <= trig + trig_add, without waiting for the sum.
  logic trig_full;
  assign trig_full = lt_sum({4'd0, csr_i.sack_trigger}, {3'd0, x_i.own.trig}, {2'd0, trig_add},
      1'b1);

  // tpsn is in the window, or was a moment ago, as long as tmiss: signs tell who is before whom.
  logic [23:0] to_trim, past_trim;
  logic older_trim;

  assign to_trim = x_i.p.psn - x_i.own.tpsn;
  assign past_trim = x_i.own.tpsn - x_i.cack1;
  assign older_trim = x_i.own.tmiss && to_trim[23];

  // A sender saves its window once in each incast, and has it back behind it.
  logic save_sent, save, restore;
  logic [6:0] pen;

  assign save_sent = x_i.own.armed == gen_i;
  assign save = csr_i.share_enable && arm_i && !save_sent;
  assign restore = csr_i.share_enable && drained_i && save_sent;

  always_comb begin
    pen = 7'd0;
    if (save) begin
      pen = 7'd1;
    end else if (csr_i.share_enable && fat_i) begin
      pen = csr_i.share_pen;
    end
  end

  // A packet asks for a SACK when its last pass is done.
  assign req_wish = trig_full || x_i.p.ackreq || x_i.p.rtx || x_i.p.ce
      || (x_i.own.ar && !ooo_left) || x_i.own.tmiss || save;

  always_comb begin
    give = 1'b0;
    req = 1'b0;
    nack = 1'b0;
    resp_load = 1'b0;
    ackev_load_o = 1'b0;
    ord_load_o = 1'b0;
    came_load_o = 1'b0;
    qperr_load_o = 1'b0;
    dup_inc_d = 1'b0;
    oor_inc_d = 1'b0;
    trim_inc_d = 1'b0;
    nores_inc_d = 1'b0;
    nack_reason = NackReasonUnexpEvent;
    report_o = x_i.report;
    own_o = x_i.own;
    if (post_i) begin
      unique case (x_i.what)
        WhatDiscard: give = 1'b1;
        WhatNak: begin
          give = 1'b1;
          resp_load = 1'b1;
        end
        WhatOver: begin
          give = 1'b1;
          own_o.nsyn = {3'b011, csr_i.nak_invalid[4:0]};
          own_o.npsn = x_i.cack1;
          resp_load = 1'b1;
        end
        WhatEvent: begin
          give = 1'b1;
          nack = !csr_i.err_silent;
        end
        WhatProbe: begin
          ackev_load_o = x_i.report.ackv && !csr_i.ack_with_sack;
          req = 1'b1;
        end
        WhatDup: begin
          req = 1'b1;
          if (no_pay) begin
            trim_inc_d = x_trimmed;
          end else begin
            give = 1'b1;
            dup_inc_d = 1'b1;
            ackev_load_o = x_i.below && x_i.report.ackv && !csr_i.ack_with_sack;
          end
        end
        WhatRefuse: begin
          give = !no_pay;
          trim_inc_d = x_trimmed;
          // Within the largest window: the window has shrunk since the peer sent.
          nores_inc_d = x_i.recorded;
          oor_inc_d = !x_i.recorded;
          nack = x_i.recorded || !csr_i.oor_drop;
          // Bug 41: a window that has shrunk is not told apart.
          nack_reason = (x_i.recorded && bug_i != BugNoBitmapAsOor) ? NackReasonNoBitmap
              : NackReasonPsnOorWindow;
        end
        WhatTrim: begin
          trim_inc_d = 1'b1;
          came_load_o = csr_i.share_enable;
          nack = x_i.trim_nack;
          nack_reason = (x_i.p.trim == TrimTrimmed) ? NackReasonTrimmed : NackReasonTrimmedLasthop;
          // A NACK says nothing of what has arrived.
          if (!csr_i.trim_silent) begin
            req = x_i.own.trig != 21'd0 || save;
            own_o.tmiss = 1'b1;
            if (!older_trim) begin
              own_o.tpsn = x_i.p.psn;
            end
          end
        end
        WhatFull: begin
          nores_inc_d = 1'b1;
          nack = 1'b1;
          nack_reason = (x_i.p.trim == TrimNoBuffer) ? NackReasonNoPktBuffer
              : NackReasonNoResource;
        end
        WhatNoImm: begin
          give = 1'b1;
          nores_inc_d = 1'b1;
          nack = 1'b1;
          nack_reason = NackReasonNoResource;
        end
        WhatNoRow: begin
          give = 1'b1;
          nores_inc_d = 1'b1;
          nack = 1'b1;
          nack_reason = NackReasonNoBitmap;
        end
        WhatFatal: begin
          give = 1'b1;
          own_o.nsyn = x_i.p.syndrome;
          own_o.npsn = x_i.p.psn;
          resp_load = 1'b1;
          qperr_load_o = 1'b1;
        end
        default: begin
          // Take, and Done: the rest of what goes on is left to the next pass.
          give = x_i.what == WhatTake;
          if (x_i.what == WhatTake) begin
            report_o.rcvd = x_i.report.rcvd + 32'(x_i.p.size);
          end
          own_o.trig = trig;
          came_load_o = csr_i.share_enable && (x_i.what == WhatTake || x_i.l != 7'd0);
          if (x_i.l != 7'd0) begin
            report_o.emsn = x_i.report.emsn + 16'(x_i.l);
            report_o.ackv = 1'b1;
            report_o.ackpsn = x_i.ackpsn;
          end
          if (!x_i.goes_on) begin
            ord_load_o = x_i.p.imm_valid || x_i.moved;
            ackev_load_o = x_i.acked && !csr_i.ack_with_sack;
            req = req_wish;
            own_o.ar = ooo_left && (x_i.own.ar || x_i.p.ackreq);
            own_o.tmiss = x_i.own.tmiss && !past_trim[23];
          end
        end
      endcase
      if (req) begin
        own_o.trig = 21'd0;
        if (save) begin
          own_o.armed = gen_i;
        end
      end
    end
  end

  assign req_o = req;
  assign resp_load_o = resp_load || nack;
  assign verdict_load_o = give && x_i.p.buf_valid;

  always_comb begin
    verdict_o = '0;
    verdict_o.plane = x_i.p.plane;
    if (x_i.what == WhatTake) begin
      verdict_o.place = 1'b1;
      verdict_o.qp = x_i.p.qp;
      verdict_o.addr = x_i.p.haddr;
      verdict_o.plen = x_i.p.plen;
    end
  end

  always_comb begin
    issued_d = issued_q;
    if (verdict_load_o) begin
      issued_d[x_i.p.plane[PlaneW-1:0]] = issued_q[x_i.p.plane[PlaneW-1:0]] + 12'd1;
    end
  end

  always_comb begin
    resp_o = '0;
    if (resp_load_o) begin
      resp_o.qp = x_i.p.qp;
      resp_o.plane = x_i.p.plane;
      if (nack) begin
        resp_o.kind = CtlKindNack;
        resp_o.psn = x_i.p.psn;
        resp_o.entropy = x_i.p.entropy;
        // Bug 24: the time stamp is lost.
        resp_o.ts = (bug_i == BugTimestampZero) ? 16'd0 : x_i.p.ts;
        resp_o.tsv = x_i.p.tsv;
        resp_o.at = x_i.p.at;
        resp_o.reason = nack_reason;
      end else begin
        // A NAK, or the one that was sent already: it cannot be lost for good.
        resp_o.kind = CtlKindAck;
        resp_o.psn = own_o.npsn;
        resp_o.reason = own_o.nsyn;
        resp_o.msn = x_i.report.emsn;
      end
    end
  end

  // What a probe or a duplicate brings is told once more.
  assign ackev_o = '{qp: x_i.p.qp, plane: x_i.p.plane, psn: report_o.ackpsn, msn: report_o.emsn,
                     again: x_i.what == WhatProbe || x_i.what == WhatDup};

  always_comb begin
    ord_o = '0;
    if (ord_load_o) begin
      ord_o.qp = x_i.p.qp;
      ord_o.imm_valid = x_i.p.imm_valid;
      ord_o.adv = x_i.moved;
      ord_o.cack = x_i.cack1 - 24'd1;
      ord_o.snap = 96'(issued_d);
      if (x_i.p.imm_valid) begin
        ord_o.rqmsn = x_i.p.rqmsn;
        ord_o.imm = x_i.p.imm;
        ord_o.length = x_i.p.dmalen;
        ord_o.psn = x_i.p.psn;
      end
    end
  end

  always_comb begin
    came_o = '0;
    if (came_load_o) begin
      came_o.qp = x_i.p.qp;
      came_o.trimmed = x_i.what == WhatTrim;
      came_o.msn = x_i.p.msn;
      came_o.emsn = report_o.emsn;
      if (x_i.what == WhatTake) begin
        came_o.plen = x_i.p.plen;
      end
      if (x_i.what != WhatTrim) begin
        came_o.length = x_i.p.dmalen;
      end
    end
  end

  assign qperr_o = '{qp: x_i.p.qp, status: x_i.p.syndrome};

  // A trimmed packet asks like a probe, with an id that no probe has.
  logic as_probe;
  assign as_probe = x_i.what == WhatTrim;
  assign req_data_o = '{
          qp: x_i.p.qp,
          plane: x_i.p.plane,
          psn: as_probe ? {8'd0, NoProbeId} : x_i.p.psn,
          ackreq: x_i.p.ackreq && !as_probe,
          ce: x_i.p.ce && !as_probe,
          probe: x_i.p.probe || as_probe,
          entropy: x_i.p.entropy,
          ts: x_i.p.ts,
          tsv: x_i.p.tsv,
          at: x_i.p.at,
          pen: pen,
          restore: restore
      };

  // ---- registers

  assign pulses_o = '{dup: dup_inc_q, oor: oor_inc_q, trim: trim_inc_q, nores: nores_inc_q};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      issued_q <= '0;
      dup_inc_q <= 1'b0;
      oor_inc_q <= 1'b0;
      trim_inc_q <= 1'b0;
      nores_inc_q <= 1'b0;
    end else begin
      issued_q <= issued_d;
      dup_inc_q <= dup_inc_d;
      oor_inc_q <= oor_inc_d;
      trim_inc_q <= trim_inc_d;
      nores_inc_q <= nores_inc_d;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{csr_i.sack_base_self, csr_i.nak_invalid[7:5], x_i.p.drop, x_i.p.err,
                         x_i.p.last, to_trim[22:0], past_trim[22:0]};

  // ---- what always holds

  `MRC_ASSERT_IF(PlaneInRange, verdict_load_o, 32'(x_i.p.plane) < NumPlanes,
      "a verdict for no plane")
  `MRC_ASSERT_IF(PlacesBytes, verdict_load_o && verdict_o.place, verdict_o.plen != 13'd0,
      "a packet without payload is placed")
  `MRC_ASSERT_IF(ArmedOnce, save && req, own_o.armed != x_i.own.armed,
      "a sender is told to save its window a second time")
  `MRC_ASSERT_IF(SavesOrRestores, req, !(req_data_o.restore && save),
      "a window is saved and restored")
  `MRC_ONE_HOT0(OneCount, {dup_inc_d, trim_inc_d, oor_inc_d},
      "a packet counts twice")

endmodule
