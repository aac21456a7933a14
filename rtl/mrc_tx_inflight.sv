// SPDX-License-Identifier: Apache-2.0

/// What is on its way, what arrived, what to send again (docs/blocks/tx_inflight.md): keeps the window
/// of PSNs sent and not yet acknowledged of each QP, works through SACK, NACK and ACK, infers losses,
/// runs the retransmission timer, orders retransmissions from tx_segment, and tells tx_path which EV
/// lost what, tx_probe which probe was answered. One operation at a time
/// of two cycles (ACK, NACK, record), three (SACK, retransmission) or one per 64 PSNs (timer expiry).
/// It does not count retries and does not limit the window: tx_segment keeps it within MaxMpr.
module mrc_tx_inflight
  import mrc_pkg::*;
#(
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

    input logic [4:0] rto_i,
    input logic [14:0] reorder_i,
    input logic [2:0] retry_linear_i,
    input logic [4:0] retry_exp_i,
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

  if (NumQps < 2 || NumQps != 2 ** QpW || MaxMpr < 128 || MaxMpr != 2 ** MprW
      || TickCycles < 2 || TickCycles != 2 ** TickW)
  begin : gen_bad_params
    $error("%m: NumQps, MaxMpr (at least 128) and TickCycles must be powers of two");
  end

  typedef enum logic [3:0] {
    StIdle,
    StInit,
    StRec,
    StSack0,
    StSack1,
    StNack,
    StAck,
    StRetx0,
    StRetx1,
    StWalk
  } state_e;

  typedef struct packed {
    logic [63:0] nacked;  // waits because of a NACK: not lost
    logic [63:0] rtxd;
    logic [63:0] pend;
    logic [63:0] sacked;
  } win_t;

  typedef struct packed {
    logic [15:0] msn;
    logic [23:0] idx;
    logic [15:0] ev_idx;
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
  } qp_t;

  function automatic logic psn_before(logic [23:0] a, logic [23:0] b);
    logic [23:0] d;
    d = b - a;
    return d != 24'd0 && !d[23];
  endfunction

  // Bits below position n; all of them from 64 on.
  function automatic logic [63:0] below(logic [24:0] n);
    return (n >= 25'd64) ? {64{1'b1}} : ~({64{1'b1}} << n[5:0]);
  endfunction

  // Mask of the bits i with p0+i in [a, b), b at most half the PSN space after a.
  function automatic logic [63:0] range(logic [23:0] p0, logic [23:0] a, logic [23:0] b);
    logic [23:0] from;
    logic [24:0] to;
    from = a - p0;
    to = {1'b0, from} + {1'b0, 24'(b - a)};
    if (from < 24'd64) begin
      return below(to) & ~below({1'b0, from});
    end
    // The range begins behind this word, or before it: then it has wrapped when it gets here.
    return to[24] ? below({1'b0, to[23:0]}) : 64'd0;
  endfunction

  // Number of zeros below the lowest one.
  function automatic logic [5:0] lowest(logic [63:0] x);
    logic [5:0] n;
    logic [31:0] a;
    logic [15:0] b;
    logic [7:0] c;
    logic [3:0] d;
    n[5] = x[31:0] == 32'd0;
    a = n[5] ? x[63:32] : x[31:0];
    n[4] = a[15:0] == 16'd0;
    b = n[4] ? a[31:16] : a[15:0];
    n[3] = b[7:0] == 8'd0;
    c = n[3] ? b[15:8] : b[7:0];
    n[2] = c[3:0] == 4'd0;
    d = n[2] ? c[7:4] : c[3:0];
    n[1] = d[1:0] == 2'd0;
    n[0] = n[1] ? d[3:2] == 2'b10 : !d[0];
    return n;
  endfunction

  // ---- inputs

  logic rec_v, ctl_v, rec_pop, ctl_pop;
  rec_t rec;
  ctl_t ctl;
  logic [1:0][1:0] unused_counts;

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

  // ---- registers

  state_e state_q, state_d;
  logic cfg_ack_q, cfg_ack_d;
  logic [NumQps-1:0] live_q, live_d;
  logic [NumQps-1:0] rtx_q, rtx_d;  // the QP is in the list
  logic rtx_inc_q, rtx_inc_d, rto_inc_q, rto_inc_d, fail_inc_q, fail_inc_d;
  logic [TickW-1:0] tick_div_q, tick_div_d;
  logic [31:0] tick_q, tick_d;
  logic [3:0] div_q, div_d;
  logic visit_due_q, visit_due_d;
  logic [QpW-1:0] visit_qp_q, visit_qp_d;

  rec_t rec_q;
  ctl_t ctl_q;
  logic [15:0] qp_q, qp_d;  // QP of the operation
  logic [RowW-1:0] init_cnt_q, init_cnt_d;
  logic [23:0] una_keep_q, hi_keep_q;
  logic any_q, any_d;
  logic [23:0] first_q, first_d;
  logic [15:0] ev_keep_q;
  logic loss_q, loss_d;
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

  logic retx_free, upd_free, fb_free, pres_free;
  logic idle, op_cfg, op_rec, op_ctl, op_retx, op_visit;
  logic [3:0] arb_req, arb_gnt;
  logic [1:0] unused_arb_idx;
  logic arb_any, ctl_live;

  assign idle = state_q == StIdle;
  assign op_cfg = idle && cfg_req_i && !cfg_ack_q;
  assign arb_req = {
    visit_due_q && upd_free,
    list_v && retx_free && fb_free,
    ctl_v && upd_free && fb_free && pres_free,
    rec_v
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
  assign ctl_live = live_q[ctl.qp[QpW-1:0]];

  // ---- memories

  logic [QpW-1:0] qp, qp_waddr;
  qp_t c, c_d;
  logic c_we;

  always_comb begin
    if (!idle) begin
      qp = qp_q[QpW-1:0];
    end else if (op_visit) begin
      qp = visit_qp_q;
    end else begin
      qp = list_head[QpW-1:0];
    end
  end

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

  logic sent_re;
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
      .we_i(state_q == StRec),
      .waddr_i({rec_q.qp[QpW-1:0], rec_q.psn[MprW-1:0]}),
      .wdata_i(sent_d)
  );

  assign sent_d = '{msn: rec_q.msn, idx: rec_q.idx, ev_idx: rec_q.ev_idx};

  // ---- SACK: the row of the bitmap's base, then the row after it

  logic sack0, sack1, sack_valid, sack_write;
  logic [23:0] sack_una1, sack_p, sack_una, sack_hi, sack_limit;
  logic [5:0] sack_shift;
  logic [63:0] sack_part, sack_mask, sack_got, sack_cover, sack_sacked, sack_pend, sack_lost;
  logic sack_any;
  logic [23:0] sack_first;

  assign sack0 = state_q == StSack0;
  assign sack1 = state_q == StSack1;
  assign sack_una1 = ctl_q.cack + 24'd1;
  assign sack_valid = 24'(sack_una1 - c.una) <= 24'(c.nxt - c.una) || psn_before(sack_una1, c.una);
  assign sack_shift = ctl_q.base[5:0];
  assign sack_write = (sack0 && sack_valid) || (sack1 && sack_shift != 6'd0);

  always_comb begin
    if (sack1) begin
      sack_p = {ctl_q.base[23:6] + 18'd1, 6'd0};
      sack_una = una_keep_q;
      sack_hi = hi_keep_q;
    end else begin
      sack_p = {ctl_q.base[23:6], 6'd0};
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

  assign sack_limit = (bug_i == 8'd9) ? sack_hi : sack_hi - {9'd0, reorder_i} + 24'd1;

  always_comb begin
    sack_part = 64'd0;
    sack_cover = 64'd0;
    sack_mask = 64'd0;
    sack_got = 64'd0;
    sack_sacked = 64'd0;
    sack_pend = 64'd0;
    sack_lost = 64'd0;
    if (sack0 || sack1) begin
      sack_cover = {64{1'b1}} << sack_shift;
      sack_part = ctl_q.bitmap << sack_shift;
      if (sack1) begin
        sack_cover = ~sack_cover;
        sack_part = (ctl_q.bitmap >> 1) >> ~sack_shift;  // by 64 - shift in all
        if (bug_i == 8'd7) begin
          sack_part = 64'd0;
        end
      end
      sack_mask = range(sack_p, sack_una, c.nxt);
      sack_got = sack_part & sack_mask;
      sack_sacked = win.sacked | sack_got;
      sack_pend = win.pend & ~sack_sacked;
      if (ctl_q.ooo >= reorder_i && psn_before(sack_una, sack_limit)) begin
        sack_lost = range(sack_p, sack_una, sack_limit) & sack_mask & sack_cover
            & ~(sack_sacked | sack_pend | win.rtxd);
      end
    end
  end

  always_comb begin
    sack_any = sack_lost != 64'd0;
    sack_first = {sack_p[23:6], lowest(sack_lost)};
    if (sack1 && any_q) begin
      sack_any = 1'b1;
      sack_first = first_q;
    end
  end

  // ---- retries: the timer and the NACKs that are no trimming share one counter

  logic exhausted;
  logic [5:0] retry_next, retry_shift, rto_shift;
  assign exhausted = {1'b0, c.retry} >= 7'(retry_linear_i) + 7'(retry_exp_i)
      && retry_exp_i != 5'd25;
  assign retry_next = (c.retry == 6'd63) ? 6'd63 : c.retry + 6'd1;
  assign retry_shift = (c.retry > 6'(retry_linear_i)) ? c.retry - 6'(retry_linear_i) : 6'd0;
  assign rto_shift = (7'(rto_i) + 7'(retry_shift) > 7'd27) ? 6'd27 : 6'(rto_i) + retry_shift;

  logic visit_fail, nack_fail;
  logic [7:0] fail_status;
  assign fail_status = (state_q == StNack && ctl_q.reason == 8'h19) ? CqStatusRemEvent
                                                                    : CqStatusRetryExceeded;

  // ---- NACK

  logic nack_mark, nack_counts, nack_in, psn_sent;
  logic [23:0] psn_age;
  assign psn_age = c.nxt - ctl_q.psn;
  assign psn_sent = psn_age != 24'd0 && psn_age <= 24'(MaxMpr);
  assign nack_in = 24'(ctl_q.psn - c.una) < 24'(c.nxt - c.una);
  assign nack_counts = nack_in && ctl_q.psn == c.una && ctl_q.reason inside {8'h06, 8'h07, 8'h0A, 8'h0B};
  assign nack_fail = state_q == StNack
      && (ctl_q.reason == 8'h19 || (nack_counts && exhausted));
  assign nack_mark = state_q == StNack && !nack_fail && nack_in
      && !win.sacked[ctl_q.psn[5:0]] && !win.pend[ctl_q.psn[5:0]];

  // ---- ACK

  logic ack_good, ack_nak, ack_ok, ack_changed;
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
  assign ack_changed = ack_una != c.una || ctl_q.msn != c.msn_done;

  // ---- retransmission order

  logic retx0, retx_found, retx_more;
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
  assign retx_found = retx_cand != 64'd0;
  assign retx_bit = lowest(retx_cand);

  // ---- timer: a visit, and the walk over the window after an expiry

  logic visit_expired, walk_more, walk_any;
  logic [31:0] visit_age;
  logic [63:0] walk_cand;
  logic [23:0] walk_next, walk_first;
  assign visit_age = tick_q - c.tmr_start;
  assign visit_expired = live_q[visit_qp_q] && (c.una != c.nxt || c.msn_done != c.msn_sent)
      && visit_age >= (32'd8 << rto_shift);
  assign visit_fail = op_visit && visit_expired && exhausted;
  assign walk_next = {w_q[23:6] + 18'd1, 6'd0};
  assign walk_more = 24'(walk_next - c.una) < 24'(c.nxt - c.una);
  always_comb begin
    walk_cand = 64'd0;
    if (state_q == StWalk) begin
      walk_cand = range(w_q, c.una, c.tmr_psn) & range(w_q, c.una, c.nxt)
          & ~(win.sacked | win.pend);
    end
  end
  assign walk_any = any_q || walk_cand != 64'd0;
  assign walk_first = any_q ? first_q : {w_q[23:6], lowest(walk_cand)};

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
        win_we = !rec_q.rtx;
        win_wrow = rec_q.psn[6+:RowW];
        win_d = win & ~{4{64'd1 << rec_q.psn[5:0]}};
      end
      StSack0, StSack1: begin
        win_we = sack_write;
        win_wrow = sack_p[6+:RowW];
        win_d = '{
            nacked: win.nacked & ~sack_sacked,
            rtxd: win.rtxd,
            pend: sack_pend | sack_lost,
            sacked: sack_sacked
        };
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
        win_we = retx_found && live_q[qp];
        win_wrow = c.rtx_lo[6+:RowW];
        win_d = win;
        win_d.nacked = win.nacked & ~(64'd1 << retx_bit);
        win_d.pend = win.pend & ~(64'd1 << retx_bit);
        win_d.rtxd = win.rtxd | (64'd1 << retx_bit);
      end
      StWalk: begin
        win_we = 1'b1;
        win_wrow = w_q[6+:RowW];
        win_d = win;
        win_d.pend = win.pend | walk_cand;
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
    end else if (state_q == StNack) begin
      mark = nack_mark;
    end else if (state_q == StWalk) begin
      mark = walk_any && !walk_more;
      mark_first = walk_first;
    end
  end

  logic outstanding;
  assign outstanding = c.una != c.nxt || c.msn_done != c.msn_sent;

  always_comb begin
    state_d = state_q;
    c_we = 1'b0;
    c_d = c;
    qp_waddr = qp;
    qp_d = qp_q;
    live_d = live_q;
    rtx_d = rtx_q;
    list_push = 1'b0;
    list_pop = 1'b0;
    list_in = qp_q;
    init_cnt_d = init_cnt_q;
    any_d = any_q;
    first_d = first_q;
    p_d = p_q;
    loss_d = loss_q;
    w_d = w_q;
    rto_inc_d = 1'b0;
    fail_inc_d = visit_fail || nack_fail;
    visit_due_d = visit_due_q;
    visit_qp_d = visit_qp_q;

    if (mark) begin
      if (!rtx_q[qp]) begin
        list_push = 1'b1;
        rtx_d[qp] = 1'b1;
      end
    end
    c_d.rtx_lo = (mark && psn_before(mark_first, lo)) ? mark_first : lo;

    unique case (state_q)
      StIdle: begin
        any_d = 1'b0;
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
                retry: 6'd0
            };
            live_d[cfg_qp] = cfg_ctx.state == QpStateRts;
            state_d = StInit;
          end else if (cfg_table_i == CfgTableQpState) begin
            live_d[cfg_qp] = cfg_ctx.state == QpStateRts;
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
          if (visit_fail) begin
            live_d[visit_qp_q] = 1'b0;
          end else if (visit_expired) begin
            c_we = 1'b1;
            c_d.retry = retry_next;
            if (c.una == c.nxt) begin
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
        if (!rec_q.rtx) begin
          c_we = 1'b1;
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
        state_d = StIdle;
      end
      StNack: begin
        if (nack_fail) begin
          live_d[qp] = 1'b0;
        end else begin
          c_we = nack_mark || nack_counts;
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
        if (!live_q[qp]) begin
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
            list_push = 1'b1;
            state_d = StRetx1;
          end else begin
            rtx_d[qp] = 1'b0;
          end
        end
      end
      StRetx1: state_d = StIdle;
      StWalk: begin
        any_d = walk_any;
        first_d = walk_first;
        if (walk_more) begin
          w_d = walk_next;
        end else begin
          c_we = 1'b1;
          c_d.tmr_start = tick_q;
          c_d.tmr_psn = c.nxt;
          rto_inc_d = 1'b1;
          state_d = StIdle;
        end
      end
      default: state_d = StIdle;
    endcase

    if (div_q == 4'd15) begin
      visit_due_d = 1'b1;
    end
  end

  // ---- outputs

  logic upd_load, fb_load, pres_load;
  retx_t retx_d;
  upd_t upd_d;
  fb_t fb_d;
  pres_t pres_d;

  assign retx_d = '{
          qp: qp_q,
          psn: p_q,
          msn: sent.msn,
          idx: sent.idx,
          avoid_ev: sent.ev_idx
      };
  assign rtx_inc_d = state_q == StRetx1;

  always_comb begin
    upd_load = sack1 && una_keep_q != c.una;
    upd_d = '{qp: ctl_q.qp, una: una_keep_q, ack: 1'b0, msn: 16'd0, syndrome: 8'd0};
    if (state_q == StAck) begin
      upd_load = ack_ok && (ack_changed || ack_nak);
      upd_d = '{
          qp: ctl_q.qp,
          una: ack_una,
          ack: 1'b1,
          msn: ctl_q.msn,
          syndrome: ctl_q.reason
      };
    end
    if (visit_fail || nack_fail) begin
      upd_load = 1'b1;
      upd_d = '{
          qp: visit_fail ? {{(16 - QpW) {1'b0}}, visit_qp_q} : ctl_q.qp,
          una: c.una,
          ack: 1'b1,
          msn: c.msn_done,
          syndrome: fail_status
      };
    end
  end

  always_comb begin
    fb_load = sack1 && ctl_q.m != 2'd0 && !ctl_q.pr && psn_sent;
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

  mrc_out_reg #(
      .T(retx_t)
  ) u_retx (
      .clk_i,
      .rst_ni,
      .load_i(state_q == StRetx1),
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
      rtx_inc_q <= 1'b0;
      rto_inc_q <= 1'b0;
      fail_inc_q <= 1'b0;
      tick_div_q <= '0;
      tick_q <= 32'd0;
      div_q <= 4'd0;
      visit_due_q <= 1'b0;
      visit_qp_q <= '0;
    end else begin
      state_q <= state_d;
      cfg_ack_q <= cfg_ack_d;
      live_q <= live_d;
      rtx_q <= rtx_d;
      rtx_inc_q <= rtx_inc_d;
      rto_inc_q <= rto_inc_d;
      fail_inc_q <= fail_inc_d;
      tick_div_q <= tick_div_d;
      tick_q <= tick_d;
      div_q <= div_d;
      visit_due_q <= visit_due_d;
      visit_qp_q <= visit_qp_d;
    end
  end

  always_ff @(posedge clk_i) begin
    qp_q <= qp_d;
    init_cnt_q <= init_cnt_d;
    any_q <= any_d;
    first_q <= first_d;
    p_q <= p_d;
    loss_q <= loss_d;
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
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, unused_counts, unused_arb_idx, unused_list_ready, unused_list_count,
                       cfg_index_i, cfg_ctx, ctl_q.kind};

endmodule
