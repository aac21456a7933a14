// SPDX-License-Identifier: Apache-2.0

/// What is on its way, what arrived, what to send again (docs/blocks/tx_inflight.md): keeps the
/// window of PSNs sent and not yet acknowledged of each QP, works through SACK, NACK and ACK,
/// infers losses, runs the retransmission timer, orders retransmissions from tx_segment, and tells
/// tx_path which EV lost what, tx_probe which probe was answered, ack_gen which EV has just worked,
/// and the congestion controller of the destination what has left the network. One operation at a
/// time of two cycles (ACK, NACK, record), three (SACK, retransmission; up to five with the same-EV
/// rule, and the controller's answer on top) or one per 64 PSNs (timer expiry). It does not limit
/// the window: tx_segment keeps it within MaxMpr.
module mrc_tx_inflight
  import mrc_pkg::*;
  import mrc_tx_window_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned MaxMpr = 128,
    parameter int unsigned TickCycles = 128
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,

    input logic rec_valid_i,
    output logic rec_ready_o,
    input rec_t rec_i,
    input logic ctl_valid_i,
    output logic ctl_ready_o,
    input ctl_t ctl_i,
    input logic rans_valid_i,
    output logic rans_ready_o,
    input ccans_t rans_i,

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
    output qperr_t qperr_o,

    input logic [14:0] reorder_i,
    input logic same_ev_i,
    input logic rtt_rtx_i,
    input logic tsr_us_i,
    input logic payload_bytes_i,
    output logic rtx_inc_o,
    output logic rto_inc_o,
    output logic fail_inc_o,

    input logic cfg_req_i,
    input logic [3:0] cfg_table_i,
    input logic [15:0] cfg_index_i,
    input logic [511:0] cfg_data_i,
    output logic cfg_ack_o
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned MprW = $clog2(MaxMpr);
  localparam int unsigned Rows = MaxMpr / 64;
  localparam int unsigned RowW = $clog2(Rows);
  localparam int unsigned TickW = $clog2(TickCycles);

  // ccev_t.kind
  localparam logic [1:0] CcAck = 2'd0;
  localparam logic [1:0] CcNack = 2'd1;
  localparam logic [1:0] CcLoss = 2'd2;

  if (NumQps < 2 || NumQps != 2 ** QpW || MaxMpr < 128 || MaxMpr != 2 ** MprW
      || TickCycles < 2 || TickCycles != 2 ** TickW || NumPlanes == 0
      || (NumPlanes & (NumPlanes - 1)) != 0)
  begin : gen_bad_params
    $error("%m: NumQps, MaxMpr (at least 128), TickCycles and NumPlanes must be powers of two");
  end

  typedef enum logic [3:0] {
    StIdle,
    StInit,
    StRec,
    StSack0,
    StSack1,
    StSame0,
    StSame1,
    StNack,
    StAck,
    StRetx0,
    StRetx1,
    StRetxW,
    StWalk
  } state_e;

  typedef struct packed {
    logic [15:0] msn;
    logic [23:0] idx;
    logic [15:0] ev_idx;
    logic [13:0] size;
    logic rtx;
  } sent_t;

  typedef struct packed {
    logic [23:0] una;
    logic [23:0] nxt;
    logic [23:0] hi;
    logic [15:0] msn_done;
    logic [15:0] msn_sent;
    logic [23:0] rtx_lo;
    logic dup;
    logic [31:0] tmr_start;
    logic [23:0] tmr_psn;
    logic [5:0] retry;
    logic [27:0] fly;  // bytes this QP has in its controller's flight
    logic [23:0] rcvdl;
    logic [7:0] mprv;
    logic [4:0] timeout;
    logic [2:0] retry_linear;
    logic [4:0] retry_exp;
    logic [7:0] dest;
    logic ts;
    logic dyn_mpr;
    logic [2:0] mtu;
  } qp_t;

  // What is left to take of a QP's flight.
  function automatic logic [27:0] least(logic [27:0] fly, logic [30:0] bytes);
    return (bytes < {3'd0, fly}) ? bytes[27:0] : fly;
  endfunction

  // ---- inputs

  logic rec_v, ctl_v, rans_v, rec_pop, ctl_pop, rans_pop;
  rec_t rec;
  ctl_t ctl;
  ccans_t rans;
  logic [2:0][1:0] unused_counts;

  mrc_fifo #(
      .T(rec_t),
      .Depth(2)
  ) u_rec (
      .clk_i,
      .rst_ni,
      .valid_i(rec_valid_i),
      .ready_o(rec_ready_o),
      .data_i(rec_i),
      .valid_o(rec_v),
      .ready_i(rec_pop),
      .data_o(rec),
      .count_o(unused_counts[0])
  );

  mrc_fifo #(
      .T(ctl_t),
      .Depth(2)
  ) u_ctl (
      .clk_i,
      .rst_ni,
      .valid_i(ctl_valid_i),
      .ready_o(ctl_ready_o),
      .data_i(ctl_i),
      .valid_o(ctl_v),
      .ready_i(ctl_pop),
      .data_o(ctl),
      .count_o(unused_counts[1])
  );

  mrc_fifo #(
      .T(ccans_t),
      .Depth(2)
  ) u_rans (
      .clk_i,
      .rst_ni,
      .valid_i(rans_valid_i),
      .ready_o(rans_ready_o),
      .data_i(rans_i),
      .valid_o(rans_v),
      .ready_i(rans_pop),
      .data_o(rans),
      .count_o(unused_counts[2])
  );

  // ---- registers

  state_e state_q, state_d;
  logic cfg_ack_q, cfg_ack_d;
  logic [NumQps-1:0] live_q, live_d;
  logic [NumQps-1:0] rtx_q, rtx_d;  // the QP is in the list
  logic [NumQps-1:0] cc_q, cc_d;  // congestion control by the controller of its destination
  logic rtx_inc_q, rtx_inc_d, rto_inc_q, rto_inc_d, fail_inc_q, fail_inc_d;
  logic [TickW-1:0] tick_div_q, tick_div_d;
  logic [31:0] tick_q, tick_d;
  logic [3:0] div_q, div_d;
  logic visit_due_q, visit_due_d;
  logic hold_q, hold_d;  // a retransmission was refused a moment ago
  logic [QpW-1:0] visit_qp_q, visit_qp_d;

  rec_t rec_q;
  ctl_t ctl_q;
  logic [15:0] qp_q, qp_d;  // QP of the operation
  logic [RowW-1:0] init_cnt_q, init_cnt_d;
  logic [23:0] una_keep_q, hi_keep_q;
  logic any_q, any_d;
  logic [23:0] first_q, first_d;
  logic [15:0] ev_keep_q;
  logic rtx_keep_q;
  logic [6:0] canc_q;
  logic loss_q, loss_d;
  logic dup_q, dup_d;  // the retransmission at hand is the one of dup
  logic [23:0] p_q, p_d;
  logic [23:0] w_q, w_d;

  tbl_qp_ctx_t cfg_ctx;
  logic [QpW-1:0] cfg_qp;
  assign cfg_ctx = cfg_data_i;
  assign cfg_qp = cfg_index_i[QpW-1:0];

  // ---- time

  assign tick_div_d = tick_div_q + TickW'(1);
  assign tick_d = (tick_div_q == TickW'(TickCycles - 1)) ? tick_q + 32'd1 : tick_q;
  assign div_d = div_q + 4'd1;

  // ---- QPs that have something to retransmit

  logic list_push, list_pop, list_v;
  logic [15:0] list_in, list_head;
  logic unused_list_ready;
  logic [$clog2(2*NumQps+1)-1:0] unused_list_count;

  // Twice as deep as there are QPs, so that a full list can be pushed in the cycle in which it is
  // popped: a FIFO is not ready then.
  mrc_fifo #(
      .T(logic [15:0]),
      .Depth(2 * NumQps)
  ) u_list (
      .clk_i,
      .rst_ni,
      .valid_i(list_push),
      .ready_o(unused_list_ready),
      .data_i(list_in),
      .valid_o(list_v),
      .ready_i(list_pop),
      .data_o(list_head),
      .count_o(unused_list_count)
  );

  // ---- the choice of the cycle

  logic retx_free, upd_free, fb_free, pres_free, ccev_free, rask_free, okev_free, qperr_free;
  logic idle, op_cfg, op_rec, op_ctl, op_retx, op_visit;
  logic [3:0] arb_req, arb_gnt;
  logic [1:0] unused_arb_idx;
  logic arb_any, ctl_live, rec_live;

  assign idle = state_q == StIdle;
  // A new context and a new state may give bytes back to the controller.
  assign op_cfg = idle && cfg_req_i && !cfg_ack_q
      && (ccev_free || !(cfg_table_i inside {CfgTableQpCtx, CfgTableQpState}));
  assign arb_req = {
    visit_due_q && upd_free && ccev_free && qperr_free,
    list_v && retx_free && fb_free && rask_free && ccev_free && !hold_q,
    ctl_v && upd_free && fb_free && pres_free && ccev_free && okev_free && qperr_free,
    rec_v && (ccev_free || (rec_live && !rec.voided))
  };

  mrc_rr_arb #(
      .N(4)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i(arb_req),
      .take_i(idle && !op_cfg && arb_any),
      .gnt_o(arb_gnt),
      .idx_o(unused_arb_idx),
      .any_o(arb_any)
  );

  assign op_rec = idle && !op_cfg && arb_gnt[0];
  assign op_ctl = idle && !op_cfg && arb_gnt[1];
  assign op_retx = idle && !op_cfg && arb_gnt[2];
  assign op_visit = idle && !op_cfg && arb_gnt[3];
  assign rec_pop = op_rec;
  assign ctl_pop = op_ctl;
  assign rans_pop = state_q == StRetxW;
  assign ctl_live = live_q[ctl.qp[QpW-1:0]];
  assign rec_live = live_q[rec.qp[QpW-1:0]];

  // ---- memories

  logic [QpW-1:0] qp, qp_waddr;
  qp_t c, c_d;
  logic c_we, live, cc;

  always_comb begin
    if (!idle) begin
      qp = qp_q[QpW-1:0];
    end else if (op_cfg) begin
      qp = cfg_qp;
    end else if (op_visit) begin
      qp = visit_qp_q;
    end else begin
      qp = list_head[QpW-1:0];
    end
  end

  assign live = live_q[qp];
  assign cc = cc_q[qp];

  mrc_rf_1r1w #(
      .Width($bits(qp_t)),
      .Depth(NumQps)
  ) u_qp (
      .clk_i,
      .raddr_i(qp),
      .rdata_o(c),
      .we_i(c_we),
      .waddr_i(qp_waddr),
      .wdata_i(c_d)
  );

  logic win_re, win_we;
  logic [QpW-1:0] win_rqp, win_wqp;
  logic [RowW-1:0] win_rrow, win_wrow;
  win_t win, win_d;

  mrc_ram_1r1w #(
      .Width($bits(win_t)),
      .Depth(NumQps * Rows)
  ) u_win (
      .clk_i,
      .re_i(win_re),
      .raddr_i({win_rqp, win_rrow}),
      .rdata_o(win),
      .we_i(win_we),
      .waddr_i({win_wqp, win_wrow}),
      .wdata_i(win_d)
  );

  logic sent_re, sent_we;
  logic [QpW-1:0] sent_rqp;
  logic [MprW-1:0] sent_rslot;
  sent_t sent, sent_d;

  mrc_ram_1r1w #(
      .Width($bits(sent_t)),
      .Depth(NumQps * MaxMpr)
  ) u_recs (
      .clk_i,
      .re_i(sent_re),
      .raddr_i({sent_rqp, sent_rslot}),
      .rdata_o(sent),
      .we_i(sent_we),
      .waddr_i({rec_q.qp[QpW-1:0], rec_q.psn[MprW-1:0]}),
      .wdata_i(sent_d)
  );

  // Of a packet that was not sent after all, or for whose QP nobody waits, nothing is remembered.
  assign sent_we = state_q == StRec && live && !rec_q.voided;
  assign sent_d = '{
          msn: rec_q.msn,
          idx: rec_q.idx,
          ev_idx: rec_q.ev_idx,
          size: rec_q.size,
          rtx: rec_q.rtx
      };

  // ---- SACK: the row of the bitmap's base, then the row after it

  logic sack0, sack1, sack_valid, sack_write;
  logic [23:0] sack_una1, sack_una, sack_hi;
  win_t sack_row;
  logic sack_lost, sack_any;
  logic [23:0] sack_lost_psn, sack_first;
  logic [6:0] sack_canc;

  assign sack0 = state_q == StSack0;
  assign sack1 = state_q == StSack1;
  assign sack_una1 = ctl_q.cack + 24'd1;
  assign sack_valid = 24'(sack_una1 - c.una) <= 24'(c.nxt - c.una)
      || psn_before(sack_una1, c.una);
  assign sack_write = (sack0 && sack_valid) || (sack1 && ctl_q.base[5:0] != 6'd0);

  always_comb begin
    if (sack1) begin
      sack_una = una_keep_q;
      sack_hi = hi_keep_q;
    end else begin
      sack_una = psn_before(sack_una1, c.una) ? c.una : sack_una1;
      if (bug_i == 8'd10) begin
        sack_una = psn_before(ctl_q.cack, c.una) ? c.una : ctl_q.cack;
      end
      sack_hi = c.hi;
      if (!ctl_q.pr && 24'(ctl_q.psn - c.una) < 24'(c.nxt - c.una) && psn_before(c.hi, ctl_q.psn))
      begin
        sack_hi = ctl_q.psn;
      end
    end
  end

  mrc_tx_sackrow u_sackrow (
      .bug_i,
      .low_i(sack0),
      .high_i(sack1),
      .base_i(ctl_q.base),
      .bitmap_i(ctl_q.bitmap),
      .ooo_i(ctl_q.ooo),
      .reorder_i,
      .una_i(sack_una),
      .hi_i(sack_hi),
      .nxt_i(c.nxt),
      .row_i(win),
      .row_o(sack_row),
      .lost_o(sack_lost),
      .first_o(sack_lost_psn),
      .canc_o(sack_canc)
  );

  assign sack_any = sack_lost || (sack1 && any_q);
  assign sack_first = (sack1 && any_q) ? first_q : sack_lost_psn;

  // What a SACK says once its rows are worked through.
  logic psn_sent, sack_recent, sack_moved, sack_mpr, same_go, same_mark;
  logic [23:0] psn_age, rcvd_new;
  assign psn_age = c.nxt - ctl_q.psn;
  assign psn_sent = psn_age != 24'd0 && psn_age <= 24'(MaxMpr);
  assign sack_recent = sack1 && !ctl_q.pr && psn_sent;
  assign sack_moved = sack1 && una_keep_q != c.una;
  assign sack_mpr = sack1 && c.dyn_mpr && ctl_q.mpr != 8'd0 && ctl_q.mpr != c.mprv
      && !psn_before(sack_una1, c.una);
  assign rcvd_new = ctl_q.rcvd - c.rcvdl;
  // The packet at the window's edge is lost if one sent later on the same EV has arrived.
  assign same_go = sack_recent && same_ev_i && !rtx_keep_q && una_keep_q != c.nxt
      && psn_before(una_keep_q, ctl_q.psn);
  assign same_mark = state_q == StSame1 && !win.sacked[c.una[5:0]] && !win.pend[c.una[5:0]]
      && !win.rtxd[c.una[5:0]];

  // ---- retries: the timer and the NACKs that are no trimming share one counter

  logic exhausted;
  logic [5:0] retry_next, retry_shift, rto_shift;
  assign exhausted = {1'b0, c.retry} >= 7'(c.retry_linear) + 7'(c.retry_exp)
      && c.retry_exp != 5'd25;
  assign retry_next = (c.retry == 6'd63) ? 6'd63 : c.retry + 6'd1;
  assign retry_shift = (c.retry > 6'(c.retry_linear)) ? c.retry - 6'(c.retry_linear) : 6'd0;
  assign rto_shift = (7'(c.timeout) + 7'(retry_shift) > 7'd27) ? 6'd27
                                                             : 6'(c.timeout) + retry_shift;

  logic visit_fail, nack_fail;
  logic [7:0] fail_status;
  assign fail_status = (state_q == StNack && ctl_q.reason == 8'h19) ? CqStatusRemEvent
                                                                    : CqStatusRetryExceeded;

  // ---- NACK

  logic nack_mark, nack_counts, nack_in;
  assign nack_in = 24'(ctl_q.psn - c.una) < 24'(c.nxt - c.una);
  assign nack_counts = nack_in && ctl_q.psn == c.una
      && ctl_q.reason inside {8'h06, 8'h07, 8'h0A, 8'h0B};
  assign nack_fail = state_q == StNack
      && (ctl_q.reason == 8'h19 || (nack_counts && exhausted));
  assign nack_mark = state_q == StNack && !nack_fail && nack_in
      && !win.sacked[ctl_q.psn[5:0]] && !win.pend[ctl_q.psn[5:0]];

  // ---- ACK

  logic ack_good, ack_nak, ack_ok, ack_changed;
  logic ack_fail;  // a NAK ends the QP
  logic [15:0] ack_msn_ahead;
  logic [23:0] ack_una1, ack_una;
  assign ack_good = ctl_q.reason[7:5] == 3'b000;
  assign ack_nak = ctl_q.reason[7:5] == 3'b011;
  assign ack_una1 = ctl_q.psn + 24'd1;
  assign ack_msn_ahead = ctl_q.msn - c.msn_done;
  always_comb begin
    ack_ok = 1'b0;
    if (ack_good) begin
      ack_ok = (24'(ack_una1 - c.una) <= 24'(c.nxt - c.una) || psn_before(ack_una1, c.una))
          && ack_msn_ahead <= 16'(c.msn_sent - c.msn_done);
    end else if (ack_nak) begin
      ack_ok = ack_msn_ahead <= 16'(c.msn_sent + 16'd1 - c.msn_done);
    end
  end
  assign ack_una = (ack_good && !psn_before(ack_una1, c.una)) ? ack_una1 : c.una;
  assign ack_fail = state_q == StAck && ack_ok && ack_nak;
  assign ack_changed = ack_una != c.una || ctl_q.msn != c.msn_done;

  // ---- retransmission order

  logic retx0, retx_found, retx_more, retx_late;
  logic [23:0] retx_next;
  logic [63:0] retx_cand;
  logic [5:0] retx_bit;
  assign retx0 = state_q == StRetx0;
  assign retx_next = {c.rtx_lo[23:6] + 18'd1, 6'd0};
  assign retx_more = 24'(retx_next - c.una) < 24'(c.nxt - c.una);
  always_comb begin
    retx_cand = 64'd0;
    if (retx0) begin
      retx_cand = win.pend & ~win.sacked & range({c.rtx_lo[23:6], 6'd0}, c.rtx_lo, c.nxt);
    end
  end
  assign retx_late = tick_q - c.tmr_start >= (32'd2 << rto_shift);
  assign retx_found = retx_cand != 64'd0;
  assign retx_bit = lowest(retx_cand);

  // ---- timer: a visit, and the walk over the window after an expiry

  logic outstanding, walk_end, walk_fail, visit_late, visit_expired, visit_drift, walk_more, walk_any;
  logic [31:0] visit_age;
  logic [63:0] walk_cand, walk_new;  // lost; sent again a moment ago: they get the next interval too
  logic walk_fresh, fresh_q, fresh_d;
  logic [23:0] walk_next, walk_first;
  assign visit_age = tick_q - c.tmr_start;
  assign outstanding = c.una != c.nxt || c.msn_done != c.msn_sent;
  assign visit_late = live && visit_age >= (32'd8 << rto_shift);
  assign visit_expired = visit_late && outstanding;
  assign visit_drift = op_visit && visit_late && !outstanding && cc && c.fly != 28'd0;
  assign visit_fail = op_visit && visit_expired && c.una == c.nxt && exhausted;
  assign walk_next = {w_q[23:6] + 18'd1, 6'd0};
  assign walk_more = 24'(walk_next - c.una) < 24'(c.nxt - c.una);
  always_comb begin
    walk_cand = 64'd0;
    walk_new = 64'd0;
    if (state_q == StWalk) begin
      walk_cand = range(w_q, c.una, c.tmr_psn) & range(w_q, c.una, c.nxt)
          & ~(win.sacked | win.pend | win.nacked);
      walk_new = win.nacked & ~(win.pend | win.sacked) & range(w_q, c.una, c.nxt);
    end
  end
  assign walk_fresh = fresh_q || walk_new != 64'd0;
  assign walk_any = any_q || walk_cand != 64'd0;
  assign walk_end = state_q == StWalk && !walk_more;
  // Something was lost that did not wait already: a retry.
  assign walk_fail = walk_end && walk_any && exhausted;
  assign walk_first = any_q ? first_q : {w_q[23:6], lowest(walk_cand)};

  // ---- congestion control: what leaves the flight, and what the controller hears of it

  logic retx_load, retx_refused;
  assign retx_load = (state_q == StRetx1 && !cc) || (state_q == StRetxW && rans_v && rans.ok);
  assign retx_refused = state_q == StRetxW && rans_v && !rans.ok;

  logic [13:0] nom;  // nominal size of a full packet
  logic [20:0] canc_bytes;
  logic [30:0] sack_bytes;
  logic [27:0] sack_left;
  assign nom = (14'd256 << c.mtu) + (payload_bytes_i ? 14'd0 : {11'd0, c.ts, 2'd0} + 14'd84);

  assign canc_bytes = {14'd0, canc_q + sack_canc} * {7'd0, nom};

  // Bytes newly received, without those of packets that had left the flight as lost.
  always_comb begin
    sack_bytes = 31'd0;
    if (sack1 && cc && !rcvd_new[23]) begin
      sack_bytes = {rcvd_new[22:0], 8'd0};
      sack_bytes = (sack_bytes > {10'd0, canc_bytes}) ? sack_bytes - {10'd0, canc_bytes} : 31'd0;
    end
    sack_left = (una_keep_q == c.nxt) ? c.fly : least(c.fly, sack_bytes);
  end

  logic ccev_load, give_back;
  ccev_t ccev_d;
  logic [27:0] fly_d;
  logic [15:0] rtt;
  assign rtt = tsr_us_i ? {tick_q[15:3] - ctl_q.ts[12:0], 3'd0} : tick_q[15:0] - ctl_q.ts;
  assign give_back = visit_fail || walk_fail || nack_fail || ack_fail
      || (op_cfg && (cfg_table_i == CfgTableQpCtx
                     || (cfg_table_i == CfgTableQpState && cfg_ctx.state != QpStateRts)));

  always_comb begin
    ccev_load = 1'b0;
    ccev_d = '0;
    ccev_d.cc = {8'd0, c.dest};
    ccev_d.kind = CcNack;
    fly_d = c.fly;
    if (cc) begin
      unique case (state_q)
        StRec: begin
          // Without live it was asked for and sent, but never counted here.
          ccev_load = live ? rec_q.voided : !rec_q.voided && !rec_q.rtx;
          ccev_d.bytes = live ? least(c.fly, {17'd0, rec_q.size}) : {14'd0, rec_q.size};
          if (live && rec_q.voided) begin
            fly_d = c.fly - ccev_d.bytes;
          end else if (live && !rec_q.rtx) begin
            fly_d = c.fly + {14'd0, rec_q.size};
          end
        end
        StSack1: begin
          ccev_load = 1'b1;
          ccev_d.kind = CcAck;
          ccev_d.bytes = sack_left;
          ccev_d.ecn = ctl_q.m == 2'd1;
          ccev_d.rtt_valid = sack_recent && c.ts && (!rtx_keep_q || rtt_rtx_i);
          ccev_d.rtt = ccev_d.rtt_valid ? rtt : 16'd0;
          ccev_d.pen = ctl_q.pen;
          ccev_d.restore = ctl_q.restore;
          fly_d = c.fly - sack_left;
        end
        StNack: begin
          ccev_load = nack_mark;
          ccev_d.bytes = least(c.fly, {17'd0, sent.size});
          ccev_d.rtt_valid = c.ts && (!sent.rtx || rtt_rtx_i);
          ccev_d.rtt = ccev_d.rtt_valid ? rtt : 16'd0;
          ccev_d.reason = ctl_q.reason;
          if (nack_mark && bug_i != 8'd37) begin
            fly_d = c.fly - ccev_d.bytes;
          end
        end
        StRetx1: begin
          ccev_load = loss_q;
          ccev_d.kind = CcLoss;
          ccev_d.bytes = least(c.fly, {17'd0, sent.size});
          if (loss_q) begin
            fly_d = c.fly - ccev_d.bytes;
          end
        end
        StRetxW: begin
          if (retx_load) begin
            fly_d = c.fly + {14'd0, sent.size};
          end
        end
        default: ;
      endcase
      // The QP has ended, everything of it has arrived, or is lost: nothing of it is in flight any more.
      if (give_back || visit_drift || (walk_end && c.tmr_psn == c.nxt && !walk_fresh) || (state_q == StAck && ack_ok && ack_good && ack_una == c.nxt))
      begin
        ccev_load = c.fly != 28'd0;
        ccev_d = '0;
        ccev_d.cc = {8'd0, c.dest};
        ccev_d.kind = give_back ? CcNack : (walk_end ? CcLoss : CcAck);
        ccev_d.bytes = c.fly;
        fly_d = 28'd0;
      end
    end
  end

  // ---- window rows

  always_comb begin
    win_re = 1'b0;
    win_rqp = qp_q[QpW-1:0];
    win_rrow = walk_next[6+:RowW];
    if (idle) begin
      win_re = op_rec || op_ctl || op_retx || op_visit;
      if (op_rec) begin
        win_rqp = rec.qp[QpW-1:0];
        win_rrow = rec.psn[6+:RowW];
      end else if (op_ctl) begin
        win_rqp = ctl.qp[QpW-1:0];
        win_rrow = (ctl.kind == CtlKindSack) ? ctl.base[6+:RowW] : ctl.psn[6+:RowW];
      end else begin
        win_rqp = qp;
        win_rrow = op_visit ? c.una[6+:RowW] : c.rtx_lo[6+:RowW];
      end
    end else if (sack0) begin
      win_re = 1'b1;
      win_rrow = ctl_q.base[6+:RowW] + RowW'(1);
    end else if (state_q == StWalk) begin
      win_re = walk_more;
    end else if (state_d == StSame1) begin
      win_re = 1'b1;
      win_rrow = c.una[6+:RowW];
    end
  end

  always_comb begin
    win_we = 1'b0;
    win_wqp = qp_q[QpW-1:0];
    win_wrow = init_cnt_q;
    win_d = '0;
    unique case (state_q)
      StInit: win_we = 1'b1;
      StRec: begin
        win_we = sent_we && !rec_q.rtx;
        win_wrow = rec_q.psn[6+:RowW];
        win_d = win & ~{4{64'd1 << rec_q.psn[5:0]}};
      end
      StSack0, StSack1: begin
        win_we = sack_write;
        win_wrow = ctl_q.base[6+:RowW] + (sack1 ? RowW'(1) : RowW'(0));
        win_d = sack_row;
      end
      StSame1: begin
        win_we = same_mark;
        win_wrow = c.una[6+:RowW];
        win_d = win;
        win_d.pend = win.pend | (64'd1 << c.una[5:0]);
      end
      StNack: begin
        win_we = nack_mark;
        win_wrow = ctl_q.psn[6+:RowW];
        win_d = win;
        win_d.nacked = win.nacked | (64'd1 << ctl_q.psn[5:0]);
        win_d.pend = win.pend | (64'd1 << ctl_q.psn[5:0]);
        if (bug_i == 8'd8) begin
          win_d.pend = win.pend | (64'd1 << 6'(ctl_q.psn[5:0] + 6'd1));
        end
      end
      StRetx0: begin
        win_we = retx_found && live;
        win_wrow = c.rtx_lo[6+:RowW];
        win_d = win;
        // Without pend: sent again late in this interval of the timer.
        win_d.nacked = (win.nacked & ~(64'd1 << retx_bit)) | ({63'd0, retx_late} << retx_bit);
        win_d.pend = win.pend & ~(64'd1 << retx_bit);
        win_d.rtxd = win.rtxd | (64'd1 << retx_bit);
      end
      StRetxW: begin
        // Refused: the row is again as it was before (the memory still shows it), its loss told.
        win_we = retx_refused && !dup_q && bug_i != 8'd36;
        win_wrow = p_q[6+:RowW];
        win_d = win;
        win_d.nacked = win.nacked | (64'd1 << p_q[5:0]);
      end
      StWalk: begin
        win_we = 1'b1;
        win_wrow = w_q[6+:RowW];
        win_d = win;
        win_d.pend = win.pend | walk_cand;
        win_d.nacked = win.nacked & win.pend;
      end
      default: ;
    endcase
  end

  always_comb begin
    sent_re = 1'b0;
    sent_rqp = qp;
    sent_rslot = p_d[MprW-1:0];
    if (idle) begin
      sent_re = op_ctl;
      sent_rqp = ctl.qp[QpW-1:0];
      sent_rslot = ctl.psn[MprW-1:0];
    end else if (state_d == StRetx1) begin
      sent_re = 1'b1;
    end else if (state_d == StSame0) begin
      sent_re = 1'b1;
      sent_rslot = una_keep_q[MprW-1:0];
    end
  end

  // ---- next state

  // A QP that has something to retransmit from first on enters the list, if it is not in it.
  logic mark;
  logic [23:0] mark_first, lo;

  always_comb begin
    mark = 1'b0;
    mark_first = ctl_q.psn;
    lo = c.rtx_lo;
    if (sack1) begin
      mark = sack_any;
      mark_first = sack_first;
      if (psn_before(c.rtx_lo, una_keep_q)) begin
        lo = una_keep_q;  // never behind the window
      end
    end else if (state_q == StSame1) begin
      mark = same_mark;
      mark_first = c.una;
    end else if (state_q == StNack) begin
      mark = nack_mark;
    end else if (state_q == StWalk) begin
      mark = walk_any && !walk_more && !walk_fail;
      mark_first = walk_first;
    end
  end

  always_comb begin
    state_d = state_q;
    c_we = 1'b0;
    c_d = c;
    qp_waddr = qp;
    qp_d = qp_q;
    live_d = live_q;
    cc_d = cc_q;
    rtx_d = rtx_q;
    list_push = 1'b0;
    list_pop = 1'b0;
    list_in = qp_q;
    init_cnt_d = init_cnt_q;
    any_d = any_q;
    fresh_d = fresh_q;
    first_d = first_q;
    p_d = p_q;
    loss_d = loss_q;
    dup_d = dup_q;
    hold_d = hold_q;
    w_d = w_q;
    rto_inc_d = 1'b0;
    fail_inc_d = visit_fail || walk_fail || nack_fail;
    visit_due_d = visit_due_q;
    visit_qp_d = visit_qp_q;

    if (mark) begin
      if (!rtx_q[qp]) begin
        list_push = 1'b1;
        rtx_d[qp] = 1'b1;
      end
    end
    c_d.rtx_lo = (mark && psn_before(mark_first, lo)) ? mark_first : lo;
    c_d.fly = fly_d;

    unique case (state_q)
      StIdle: begin
        any_d = 1'b0;
        fresh_d = 1'b0;
        init_cnt_d = '0;
        if (op_cfg) begin
          qp_waddr = cfg_qp;
          qp_d = {{(16 - QpW) {1'b0}}, cfg_qp};
          if (cfg_table_i == CfgTableQpCtx) begin
            c_we = 1'b1;
            c_d = '{
                una: cfg_ctx.sq_psn,
                nxt: cfg_ctx.sq_psn,
                hi: cfg_ctx.sq_psn - 24'd1,
                msn_done: cfg_ctx.msn,
                msn_sent: cfg_ctx.msn,
                rtx_lo: cfg_ctx.sq_psn,
                dup: 1'b0,
                tmr_start: tick_q,
                tmr_psn: cfg_ctx.sq_psn,
                retry: 6'd0,
                fly: 28'd0,
                rcvdl: 24'd0,
                mprv: 8'd0,
                timeout: cfg_ctx.timeout,
                retry_linear: cfg_ctx.retry_linear,
                retry_exp: cfg_ctx.retry_exp,
                dest: cfg_ctx.dest,
                ts: cfg_ctx.ts,
                dyn_mpr: cfg_ctx.dyn_mpr,
                mtu: cfg_ctx.mtu
            };
            live_d[cfg_qp] = cfg_ctx.state == QpStateRts;
            cc_d[cfg_qp] = cfg_ctx.cc;
            state_d = StInit;
          end else if (cfg_table_i == CfgTableQpState && cfg_ctx.state != QpStateRts) begin
            c_we = cc;
            live_d[cfg_qp] = 1'b0;
          end
        end else if (op_rec) begin
          qp_d = rec.qp;
          state_d = StRec;
        end else if (op_ctl) begin
          qp_d = ctl.qp;
          if (ctl_live) begin
            unique case (ctl.kind)
              CtlKindSack: state_d = StSack0;
              CtlKindNack: state_d = StNack;
              CtlKindAck: state_d = StAck;
              default: state_d = StIdle;
            endcase
          end
        end else if (op_retx) begin
          qp_d = list_head;
          state_d = StRetx0;
        end else if (op_visit) begin
          qp_d = {{(16 - QpW) {1'b0}}, visit_qp_q};
          visit_due_d = 1'b0;
          visit_qp_d = visit_qp_q + QpW'(1);
          c_we = visit_fail || visit_drift;
          if (visit_fail) begin
            live_d[visit_qp_q] = 1'b0;
          end else if (visit_expired) begin
            if (c.una == c.nxt) begin
              c_we = 1'b1;
              c_d.retry = retry_next;
              c_d.dup = 1'b1;
              c_d.tmr_start = tick_q;
              c_d.tmr_psn = c.nxt;
              if (!rtx_q[visit_qp_q]) begin
                list_push = 1'b1;
                list_in = qp_d;
                rtx_d[visit_qp_q] = 1'b1;
              end
              rto_inc_d = 1'b1;
            end else begin
              w_d = {c.una[23:6], 6'd0};
              state_d = StWalk;
            end
          end
        end
      end
      StInit: begin
        init_cnt_d = init_cnt_q + RowW'(1);
        if (init_cnt_q == RowW'(Rows - 1)) begin
          state_d = StIdle;
        end
      end
      StRec: begin
        c_we = live;
        if (sent_we && !rec_q.rtx) begin
          c_d.nxt = rec_q.psn + 24'd1;
          if (rec_q.last) begin
            c_d.msn_sent = rec_q.msn + 16'd1;
          end
          if (!outstanding) begin
            c_d.tmr_start = tick_q;
            c_d.tmr_psn = rec_q.psn + 24'd1;
          end
        end
        state_d = StIdle;
      end
      StSack0: begin
        any_d = sack_any;
        first_d = sack_first;
        state_d = sack_valid ? StSack1 : StIdle;
      end
      StSack1: begin
        c_we = 1'b1;
        c_d.una = una_keep_q;
        c_d.hi = psn_before(hi_keep_q, una_keep_q - 24'd1) ? una_keep_q - 24'd1 : hi_keep_q;
        if (una_keep_q != c.una) begin
          if (bug_i != 8'd33) begin
            c_d.retry = 6'd0;
          end
          c_d.tmr_start = tick_q;
          c_d.tmr_psn = c.nxt;
        end
        if (sack_mpr) begin
          c_d.mprv = ctl_q.mpr;
        end
        if (!rcvd_new[23]) begin
          c_d.rcvdl = ctl_q.rcvd;
        end
        state_d = same_go ? StSame0 : StIdle;
      end
      StSame0: begin
        state_d = (sent.ev_idx == ev_keep_q || bug_i == 8'd38) ? StSame1 : StIdle;
      end
      StSame1: begin
        c_we = same_mark;
        state_d = StIdle;
      end
      StNack: begin
        c_we = nack_fail || nack_mark || nack_counts;
        if (nack_fail) begin
          live_d[qp] = 1'b0;
        end else begin
          if (nack_counts) begin
            c_d.retry = retry_next;
          end
        end
        state_d = StIdle;
      end
      StAck: begin
        if (ack_ok) begin
          c_we = 1'b1;
          c_d.una = ack_una;
          if (psn_before(c.rtx_lo, ack_una)) begin
            c_d.rtx_lo = ack_una;
          end
          if (psn_before(c.hi, ack_una - 24'd1)) begin
            c_d.hi = ack_una - 24'd1;
          end
          if (ack_good) begin
            c_d.msn_done = ctl_q.msn;
          end else begin
            live_d[qp] = 1'b0;
          end
          if (ack_changed) begin
            if (bug_i != 8'd33) begin
              c_d.retry = 6'd0;
            end
            c_d.tmr_start = tick_q;
            c_d.tmr_psn = c.nxt;
          end
        end
        state_d = StIdle;
      end
      StRetx0: begin
        state_d = StIdle;
        dup_d = 1'b0;
        if (!live) begin
          c_we = 1'b1;
          c_d.dup = 1'b0;
          rtx_d[qp] = 1'b0;
          list_pop = 1'b1;
        end else if (retx_found) begin
          c_we = 1'b1;
          p_d = {c.rtx_lo[23:6], retx_bit};
          loss_d = !win.nacked[retx_bit];
          c_d.rtx_lo = p_d + 24'd1;
          list_pop = 1'b1;
          list_push = 1'b1;
          state_d = StRetx1;
        end else if (retx_more) begin
          c_we = 1'b1;
          c_d.rtx_lo = retx_next;
        end else begin
          c_we = 1'b1;
          c_d.rtx_lo = c.nxt;
          list_pop = 1'b1;
          if (c.dup) begin
            c_d.dup = 1'b0;
            p_d = c.nxt - 24'd1;
            loss_d = 1'b0;
            dup_d = 1'b1;
            list_push = 1'b1;
            state_d = StRetx1;
          end else begin
            rtx_d[qp] = 1'b0;
          end
        end
      end
      StRetx1: begin
        c_we = cc && loss_q;
        state_d = cc ? StRetxW : StIdle;
      end
      StRetxW: begin
        if (rans_v) begin
          c_we = 1'b1;
          state_d = StIdle;
        end
        if (retx_refused) begin
          hold_d = 1'b1;
          if (dup_q) begin
            c_d.dup = bug_i != 8'd36;
          end else if (bug_i != 8'd36) begin
            c_d.rtx_lo = p_q;
          end
        end
      end
      StWalk: begin
        any_d = walk_any;
        fresh_d = walk_fresh;
        first_d = walk_first;
        if (walk_more) begin
          w_d = walk_next;
        end else begin
          c_we = 1'b1;
          state_d = StIdle;
          if (walk_fail) begin
            live_d[qp] = 1'b0;
          end else begin
            c_d.tmr_start = tick_q;
            c_d.tmr_psn = c.nxt;
            rto_inc_d = 1'b1;
            if (walk_any) begin
              c_d.retry = retry_next;
            end
          end
        end
      end
      default: state_d = StIdle;
    endcase

    if (div_q == 4'd15) begin
      visit_due_d = 1'b1;
      hold_d = 1'b0;
    end
  end

  // ---- outputs

  logic upd_load, fb_load, pres_load, okev_load, qperr_load;
  retx_t retx_d;
  upd_t upd_d;
  fb_t fb_d;
  pres_t pres_d;
  ccask_t rask_d;
  okev_t okev_d;
  qperr_t qperr_d;
  logic [15:0] fail_qp;

  assign retx_d = '{
          qp: qp_q,
          psn: p_q,
          msn: sent.msn,
          idx: sent.idx,
          avoid_ev: sent.ev_idx,
          size: sent.size
      };
  assign rtx_inc_d = retx_load;
  assign rask_d = '{cc: {8'd0, c.dest}, bytes: {2'd0, sent.size}};

  assign fail_qp = visit_fail ? {{(16 - QpW) {1'b0}}, visit_qp_q} : (walk_fail ? qp_q : ctl_q.qp);
  assign qperr_load = visit_fail || walk_fail || nack_fail || ack_fail;
  assign qperr_d = '{qp: fail_qp, status: ack_fail ? ctl_q.reason : fail_status};

  always_comb begin
    upd_load = sack_moved || sack_mpr;
    upd_d = '{
        qp: ctl_q.qp,
        una: una_keep_q,
        ack: 1'b0,
        msn: 16'd0,
        syndrome: 8'd0,
        mpr: sack_mpr ? ctl_q.mpr : 8'd0
    };
    if (state_q == StAck) begin
      upd_load = ack_ok && (ack_changed || ack_nak);
      upd_d = '{
          qp: ctl_q.qp,
          una: ack_una,
          ack: 1'b1,
          msn: ctl_q.msn,
          syndrome: ctl_q.reason,
          mpr: 8'd0
      };
    end
    if (visit_fail || walk_fail || nack_fail) begin
      upd_load = 1'b1;
      upd_d = '{
          qp: fail_qp,
          una: c.una,
          ack: 1'b1,
          msn: c.msn_done,
          syndrome: fail_status,
          mpr: 8'd0
      };
    end
  end

  always_comb begin
    fb_load = sack_recent && ctl_q.m != 2'd0;
    fb_d = '{qp: ctl_q.qp, ev_idx: ev_keep_q, entropy: ctl_q.entropy, kind: {1'b0, ctl_q.m}};
    if (state_q == StNack) begin
      fb_load = ctl_q.reason == 8'h01 && psn_sent;
      fb_d.ev_idx = sent.ev_idx;
      fb_d.kind = 3'd1;
    end else if (state_q == StRetx1) begin
      // A gap or the timer: one loss is enough to take the EV out of use.
      fb_load = loss_q;
      fb_d = '{qp: qp_q, ev_idx: sent.ev_idx, entropy: 32'd0, kind: 3'd3};
    end
  end

  assign pres_load = sack1 && ctl_q.pr;
  assign pres_d = '{qp: ctl_q.qp, id: ctl_q.psn[15:0], m: ctl_q.m};

  // Sent once, arrived, not marked: what this EV is good for the other way is known.
  assign okev_load = sack_recent && ctl_q.m == 2'd0 && !rtx_keep_q;
  assign okev_d = '{
          dest: {8'd0, c.dest},
          plane: ev_keep_q[3:0] & 4'(NumPlanes - 1),
          ev: ctl_q.entropy
      };

  mrc_out_reg #(
      .T(retx_t)
  ) u_retx (
      .clk_i,
      .rst_ni,
      .load_i(retx_load),
      .data_i(retx_d),
      .free_o(retx_free),
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
      .data_i(upd_d),
      .free_o(upd_free),
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
      .data_i(fb_d),
      .free_o(fb_free),
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
      .data_i(pres_d),
      .free_o(pres_free),
      .valid_o(pres_valid_o),
      .ready_i(pres_ready_i),
      .data_o(pres_o)
  );

  mrc_out_reg #(
      .T(ccev_t)
  ) u_ccev (
      .clk_i,
      .rst_ni,
      .load_i(ccev_load),
      .data_i(ccev_d),
      .free_o(ccev_free),
      .valid_o(ccev_valid_o),
      .ready_i(ccev_ready_i),
      .data_o(ccev_o)
  );

  mrc_out_reg #(
      .T(ccask_t)
  ) u_rask (
      .clk_i,
      .rst_ni,
      .load_i(state_q == StRetx1 && cc),
      .data_i(rask_d),
      .free_o(rask_free),
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
      .data_i(okev_d),
      .free_o(okev_free),
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
      .data_i(qperr_d),
      .free_o(qperr_free),
      .valid_o(qperr_valid_o),
      .ready_i(qperr_ready_i),
      .data_o(qperr_o)
  );

  assign rtx_inc_o = rtx_inc_q;
  assign rto_inc_o = rto_inc_q;
  assign fail_inc_o = fail_inc_q;
  assign cfg_ack_d = cfg_req_i && (cfg_ack_q || (op_cfg && cfg_table_i != CfgTableQpCtx)
      || (state_q == StInit && init_cnt_q == RowW'(Rows - 1)));
  assign cfg_ack_o = cfg_ack_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      cfg_ack_q <= 1'b0;
      live_q <= '0;
      rtx_q <= '0;
      cc_q <= '0;
      rtx_inc_q <= 1'b0;
      rto_inc_q <= 1'b0;
      fail_inc_q <= 1'b0;
      tick_div_q <= '0;
      tick_q <= 32'd0;
      div_q <= 4'd0;
      visit_due_q <= 1'b0;
      hold_q <= 1'b0;
      visit_qp_q <= '0;
    end else begin
      state_q <= state_d;
      cfg_ack_q <= cfg_ack_d;
      live_q <= live_d;
      rtx_q <= rtx_d;
      cc_q <= cc_d;
      rtx_inc_q <= rtx_inc_d;
      rto_inc_q <= rto_inc_d;
      fail_inc_q <= fail_inc_d;
      tick_div_q <= tick_div_d;
      tick_q <= tick_d;
      div_q <= div_d;
      visit_due_q <= visit_due_d;
      hold_q <= hold_d;
      visit_qp_q <= visit_qp_d;
    end
  end

  always_ff @(posedge clk_i) begin
    qp_q <= qp_d;
    init_cnt_q <= init_cnt_d;
    any_q <= any_d;
    fresh_q <= fresh_d;
    first_q <= first_d;
    p_q <= p_d;
    loss_q <= loss_d;
    dup_q <= dup_d;
    w_q <= w_d;
    if (op_rec) begin
      rec_q <= rec;
    end
    if (op_ctl) begin
      ctl_q <= ctl;
    end
    if (sack0) begin
      una_keep_q <= sack_una;
      hi_keep_q <= sack_hi;
      ev_keep_q <= sent.ev_idx;
      rtx_keep_q <= sent.rtx;
      canc_q <= sack_canc;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, unused_counts, unused_arb_idx, unused_list_ready, unused_list_count,
                       cfg_index_i, cfg_ctx, ctl_q.kind, rans.cc, rans.last};

endmodule
