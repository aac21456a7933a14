// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Knows per QP which PSNs are here: decides for each checked WRITE whether its payload is placed,
/// advances cack over contiguous PSNs, owes the sender ACK, SACK and NACK, answers reliability
/// probes, and says when a QP fails. A packet per cycle, four cycles from the input queue to the
/// outputs (fetch, read the map, decide, tell); a run of PSNs that ends a row goes on in a pass of
/// its own. SACKs are written beside (mrc_rx_track_sack). It moves no payload and orders no
/// completions. Contract: docs/design/blocks/rx/track/rx_track.md.
module mrc_rx_track
  import mrc_pkg::*;
  import mrc_math_pkg::*;
  import mrc_probe_pkg::*;
  import mrc_rx_track_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned MaxMpr = 128,
    parameter int unsigned NumRxRows = 6
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input rx_track_csr_t csr_i,
    input logic imm_ok_i,
    input logic hold_ok_i,
    output qp_index_t track_qp_o,
    input logic over_i,  // of rx_reorder: one immediate too many of that QP
    // Of rx_share: what SACKs say about windows.
    input logic arm_i,
    input logic [3:0] gen_i,
    input logic drained_i,
    output qp_index_t post_qp_o,
    input logic fat_i,  // that QP has had more than its share
    input cfg_t cfg_i,
    output logic cfg_ack_o,
    input logic rxpkt_valid_i,
    output logic rxpkt_ready_o,
    input rxpkt_t rxpkt_i,
    output logic verdict_valid_o,
    input logic verdict_ready_i,
    output verdict_t verdict_o,
    output logic resp_valid_o,
    input logic resp_ready_i,
    output resp_t resp_o,
    output logic ackev_valid_o,
    input logic ackev_ready_i,
    output ackev_t ackev_o,
    output logic ord_valid_o,
    input logic ord_ready_i,
    output ord_t ord_o,
    output logic came_valid_o,
    input logic came_ready_i,
    output came_t came_o,
    output logic qperr_valid_o,
    input logic qperr_ready_i,
    output qperr_t qperr_o,
    output rx_track_pulses_t pulses_o,
    output logic posted_o,  // a packet has passed Post for the first time
    output logic goes_on_o  // packets are between two passes
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned Slots = MaxMpr / 64;
  localparam int unsigned SlotW = (Slots > 1) ? $clog2(Slots) : 1;
  localparam int unsigned AddrW = QpW + SlotW;
  localparam int unsigned IdxW = $clog2(NumRxRows);

  if (NumQps < 2 || (NumQps & (NumQps - 1)) != 0) begin : gen_bad_num_qps
    $error("%m: NumQps = %0d, must be a power of two, at least 2", NumQps);
  end
  if (MaxMpr < 128 || (MaxMpr & (MaxMpr - 1)) != 0) begin : gen_bad_max_mpr
    $error("%m: MaxMpr = %0d, must be a power of two, at least 128", MaxMpr);
  end
  if (NumRxRows < 2) begin : gen_bad_num_rx_rows
    $error("%m: NumRxRows = %0d, must be at least 2", NumRxRows);
  end

  // Where a row of 64 PSNs is kept.
  typedef struct packed {
    logic valid;
    logic [IdxW-1:0] idx;
  } entry_t;

  // A packet whose cack goes on at `at`, the first PSN of the next row.
  typedef struct packed {
    rxpkt_t p;
    logic [23:0] at;
    logic acked;
    logic moved;
  } adv_t;

  // ---- input, the packets that go on

  rxpkt_t head;
  logic head_valid, head_pop, adv_valid, adv_push, adv_pop, adv_ready;
  logic [1:0] unused_head_count;
  logic [2:0] unused_adv_count;
  adv_t adv, adv_d;

  mrc_fifo #(
      .T(rxpkt_t),
      .Depth(2)
  ) u_rxpkt (
      .clk_i,
      .rst_ni,
      .valid_i(rxpkt_valid_i),
      .ready_o(rxpkt_ready_o),
      .data_i(rxpkt_i),
      .valid_o(head_valid),
      .ready_i(head_pop),
      .data_o(head),
      .count_o(unused_head_count)
  );

  // While it has a head that goes first, and the stages hold three at most.
  mrc_fifo #(
      .T(adv_t),
      .Depth(4)
  ) u_adv (
      .clk_i,
      .rst_ni,
      .valid_i(adv_push),
      .ready_o(adv_ready),
      .data_i(adv_d),
      .valid_o(adv_valid),
      .ready_i(adv_pop),
      .data_o(adv),
      .count_o(unused_adv_count)
  );

  // ---- stage registers

  logic stuck;
  logic m_valid_q, t_valid_q, x_valid_q, m_valid_d;
  rxpkt_t m_p_q, t_p_q;
  stage_x_t x_q;
  logic m_again_q, t_again_q;
  logic m_acked_q, t_acked_q, x_acked_d;
  logic m_moved_q, t_moved_q, x_moved_d;
  logic [23:0] m_at_q, t_at_q;
  logic [63:0] t_lower_q;  // the bits of the row below the PSN's
  // Track wrote this packet's row in the cycle in which the packet read the memory.
  logic m_fwd_q, t_fwd_q;
  logic [AddrW-1:0] m_addr, t_addr;

  assign m_addr = {m_p_q.qp[QpW-1:0], m_at_q[6+:SlotW]};
  assign t_addr = {t_p_q.qp[QpW-1:0], t_at_q[6+:SlotW]};

  // ---- configuration

  tbl_qp_ctx_t cfg_ctx;
  logic cfg_ack_q, cfg_ack_d, cfg_wait, cfg_do, cfg_init, cfg_shrink, sack_idle;
  logic init_on_q, init_on_d, init_last;
  logic [SlotW-1:0] init_q, init_d;
  logic [QpW-1:0] cfg_qp;
  logic cfg_known;
  logic [7:0] cfg_mpr, want_mpr, new_mpr;
  set_t m_set, set_d, t_set_q, sack_set;
  logic set_we;

  assign cfg_ctx = tbl_qp_ctx_t'(cfg_i.data);
  assign cfg_qp = cfg_i.index[QpW-1:0];
  assign cfg_wait = cfg_i.req && !cfg_ack_q;
  assign cfg_do = cfg_wait && !init_on_q && !m_valid_q && !t_valid_q && !x_valid_q && !adv_valid
      && sack_idle;
  // The responder works since Rtr: the step to Rts must not touch what it knows.
  assign cfg_init = cfg_do && cfg_i.tbl == CfgTableQpCtx && cfg_ctx.state != QpStateRts;
  assign cfg_shrink = cfg_do && cfg_i.tbl == CfgTableQpMpr;
  assign init_last = init_q == SlotW'(Slots - 1);

  // The window that QP_MPR asks for: at least 1, at most what the peer may ever use.
  assign cfg_mpr = cfg_i.data[7:0];
  assign want_mpr = (cfg_mpr == 8'd0) ? 8'd1 : cfg_mpr;
  assign new_mpr = (want_mpr < m_set.mpr_dest) ? want_mpr : m_set.mpr_dest;

  always_comb begin
    set_we = cfg_init;
    set_d.mpr = cfg_ctx.mpr_dest;
    set_d.mpr_dest = cfg_ctx.mpr_dest;
    set_d.trim_nack = cfg_ctx.trim_nack;
    set_d.dyn = cfg_ctx.dyn_mpr;
    // Bug 42: the window does not shrink.
    if (cfg_shrink && !(bug_i == BugMprNeverShrinks && new_mpr < m_set.mpr)) begin
      set_we = 1'b1;
      set_d = m_set;
      set_d.mpr = new_mpr;
    end
  end

  always_comb begin
    cfg_ack_d = cfg_ack_q && cfg_i.req;
    init_on_d = init_on_q;
    init_d = init_q;
    if (cfg_do) begin
      init_d = '0;
      init_on_d = cfg_init;
      cfg_ack_d = !cfg_init;
    end
    if (init_on_q) begin
      init_d = init_q + SlotW'(1);
      if (init_last) begin
        init_on_d = 1'b0;
        cfg_ack_d = 1'b1;
      end
    end
  end

  // ---- what is known per QP. Each group has one writer besides cfg, which runs alone.

  logic [QpW-1:0] sack_qp;
  seq_t m_seq, t_seq_q, t_seq_d, seq_d, sack_seq, seq_w, seq_init;
  report_t t_report, report_d, sack_report, report_w, report_init;
  own_t t_own, own_d, own_w;
  logic seq_we, post;

  mrc_rf_2r1w #(
      .Width($bits(set_t)),
      .Depth(NumQps)
  ) u_set (
      .clk_i,
      .raddr0_i(m_valid_q ? m_p_q.qp[QpW-1:0] : cfg_qp),
      .rdata0_o(m_set),
      .raddr1_i(sack_qp),
      .rdata1_o(sack_set),
      .we_i(set_we),
      .waddr_i(cfg_qp),
      .wdata_i(set_d)
  );

  always_comb begin
    seq_init = '0;
    seq_init.cack1 = cfg_ctx.rq_psn;
    seq_init.max1 = cfg_ctx.rq_psn;
    report_init = '0;
    report_init.emsn = cfg_ctx.msn;
    seq_w = cfg_init ? seq_init : seq_d;
    report_w = cfg_init ? report_init : report_d;
    own_w = cfg_init ? '0 : own_d;
  end

  mrc_rf_2r1w #(
      .Width($bits(seq_t)),
      .Depth(NumQps)
  ) u_seq (
      .clk_i,
      .raddr0_i(m_p_q.qp[QpW-1:0]),
      .rdata0_o(m_seq),
      .raddr1_i(sack_qp),
      .rdata1_o(sack_seq),
      .we_i(cfg_init || seq_we),
      .waddr_i(cfg_init ? cfg_qp : t_p_q.qp[QpW-1:0]),
      .wdata_i(seq_w)
  );

  mrc_rf_2r1w #(
      .Width($bits(report_t)),
      .Depth(NumQps)
  ) u_report (
      .clk_i,
      .raddr0_i(t_p_q.qp[QpW-1:0]),
      .rdata0_o(t_report),
      .raddr1_i(sack_qp),
      .rdata1_o(sack_report),
      .we_i(cfg_init || post),
      .waddr_i(cfg_init ? cfg_qp : x_q.p.qp[QpW-1:0]),
      .wdata_i(report_w)
  );

  mrc_rf_1r1w #(
      .Width($bits(own_t)),
      .Depth(NumQps)
  ) u_own (
      .clk_i,
      .raddr_i(t_p_q.qp[QpW-1:0]),
      .rdata_o(t_own),
      .we_i(cfg_init || post),
      .waddr_i(cfg_init ? cfg_qp : x_q.p.qp[QpW-1:0]),
      .wdata_i(own_w)
  );

  // ---- the rows: which numbers are free, where the row of a slot is, what is in it

  logic row_take, row_give, pool_valid, pool_give, map_re, map_we, rows_re, rows_we;
  logic t_map_we, t_rows_we;
  logic [IdxW-1:0] pool_idx, rows_waddr;
  logic [$clog2(NumRxRows+1)-1:0] unused_free;
  logic [AddrW-1:0] map_raddr, map_waddr;
  logic [IdxW-1:0] pool_back;
  entry_t map_rdata, map_wdata, m_entry;
  row_t rows_rdata, row_n;

  mrc_pool #(
      .N(NumRxRows)
  ) u_pool (
      .clk_i,
      .rst_ni,
      .valid_o(pool_valid),
      .ready_i(row_take),
      .data_o(pool_idx),
      .valid_i(pool_give),
      .data_i(pool_back),
      .free_o(unused_free)
  );

  mrc_ram_1r1w #(
      .Width($bits(entry_t)),
      .Depth(2 ** AddrW)
  ) u_map (
      .clk_i,
      .re_i(map_re),
      .raddr_i(map_raddr),
      .rdata_o(map_rdata),
      .we_i(map_we),
      .waddr_i(map_waddr),
      .wdata_i(map_wdata)
  );

  mrc_ram_1r1w #(
      .Width($bits(row_t)),
      .Depth(NumRxRows)
  ) u_rows (
      .clk_i,
      .re_i(rows_re),
      .raddr_i(m_entry.idx),
      .rdata_o(rows_rdata),
      .we_i(rows_we),
      .waddr_i(rows_waddr),
      .wdata_i(row_n)
  );

  // ---- Fetch

  logic [23:0] f_at;
  logic [QpW-1:0] f_qp;
  logic [AddrW-1:0] f_addr;

  // A packet that goes on is first, also while cfg waits for the stages to be empty.
  assign adv_pop = !stuck && adv_valid;
  assign head_pop = !stuck && !adv_valid && head_valid && !cfg_wait;
  assign m_valid_d = adv_pop || head_pop;
  assign f_at = adv_valid ? adv.at : head.psn;
  assign f_qp = adv_valid ? adv.p.qp[QpW-1:0] : head.qp[QpW-1:0];
  assign f_addr = {f_qp, f_at[6+:SlotW]};

  always_comb begin
    map_re = m_valid_d;
    map_raddr = f_addr;
    if (cfg_init) begin
      map_re = 1'b1;
      map_raddr = {cfg_qp, SlotW'(0)};
    end else if (init_on_q) begin
      map_re = 1'b1;
      map_raddr = {cfg_qp, init_d};
    end
  end

  always_ff @(posedge clk_i) begin
    if (m_valid_d) begin
      m_p_q <= adv_valid ? adv.p : head;
      m_again_q <= adv_valid;
      m_acked_q <= adv_valid && adv.acked;
      m_moved_q <= adv_valid && adv.moved;
      m_at_q <= f_at;
      m_fwd_q <= t_valid_q && t_addr == f_addr;
    end
  end

  // ---- Map

  entry_t t_entry_q, w_entry_q, entry, entry_n;
  row_t w_row_q, row;

  assign m_entry = m_fwd_q ? w_entry_q : map_rdata;
  assign rows_re = m_valid_q && !stuck && m_entry.valid;
  assign t_seq_d = (seq_we && t_p_q.qp[QpW-1:0] == m_p_q.qp[QpW-1:0]) ? seq_d : m_seq;

  always_ff @(posedge clk_i) begin
    if (m_valid_q && !stuck) begin
      t_p_q <= m_p_q;
      t_again_q <= m_again_q;
      t_acked_q <= m_acked_q;
      t_moved_q <= m_moved_q;
      t_at_q <= m_at_q;
      t_lower_q <= ~({64{1'b1}} << m_at_q[5:0]);
      t_entry_q <= m_entry;
      t_fwd_q <= t_valid_q && t_addr == m_addr;
      t_seq_q <= t_seq_d;
      t_set_q <= m_set;
    end
  end

  // ---- Track: where the packet is

  logic inwin, below, recorded, dup, oor, here, in_order, trimmed, take, touch;
  logic over, fails;
  logic [23:0] rel;
  logic [63:0] one;
  what_e what;

  assign entry = t_fwd_q ? w_entry_q : t_entry_q;

  always_comb begin
    row = '0;
    if (t_fwd_q) begin
      row = w_row_q;
    end else if (t_entry_q.valid) begin
      row = rows_rdata;
    end
  end

  assign one = ((t_lower_q << 1) | 64'd1) & ~t_lower_q;
  assign rel = t_p_q.psn - t_seq_q.cack1;
  assign below = rel[23];
  // Bug 21: the window is one PSN too long.
  assign inwin = !below && lt_sum(t_p_q.psn, t_seq_q.cack1, {9'd0, t_set_q.mpr, 7'd0},
                                  bug_i == BugRxWindowPlusOne);
  assign recorded = !below && lt_sum(t_p_q.psn, t_seq_q.cack1, {9'd0, t_set_q.mpr_dest, 7'd0},
                                     1'b0);
  assign here = (row.rcv & one) != 64'd0;
  // Bug 22: what is here already above cack is taken for new.
  assign dup = below || (recorded && here && bug_i != BugDuplicateUnchecked);
  assign oor = !inwin && !dup;
  assign in_order = t_p_q.psn == t_seq_q.cack1;
  // Bug 96: the peer hears nothing of its immediate too many.
  assign {track_qp_o, post_qp_o} = {t_p_q.qp, x_q.p.qp};
  assign over = over_i && bug_i != BugOverrunUnanswered;
  // On its way, not by the lane.
  assign trimmed = t_p_q.trim == TrimTrimmed || t_p_q.trim == TrimLastHop;

  always_comb begin
    what = WhatTake;
    if (t_again_q) begin
      what = WhatDone;
    end else if (t_p_q.drop) begin
      what = WhatDiscard;
    end else if (t_seq_q.failed) begin
      what = WhatNak;
    end else if (over) begin
      what = WhatOver;
    end else if (t_p_q.err) begin
      what = WhatEvent;
    end else if (t_p_q.probe) begin
      what = WhatProbe;
    end else if (oor) begin
      what = WhatRefuse;
    end else if (dup) begin
      what = WhatDup;
    end else if (t_p_q.trim != TrimNone) begin
      what = trimmed ? WhatTrim : WhatFull;
    end else if (t_p_q.syndrome != 8'd0) begin
      what = in_order ? WhatFatal : WhatDiscard;
    end else if (!in_order && t_p_q.imm_valid && !imm_ok_i) begin
      what = WhatNoImm;
    end else if (!in_order && !entry.valid && !pool_valid) begin
      what = WhatNoRow;
    end
  end

  assign fails = t_valid_q && (what == WhatFatal || what == WhatOver);
  assign take = t_valid_q && what == WhatTake;

  // ---- Track: advance over the run of ones that starts where cack ends

  logic a_on, a_full, a_moves, a_tops, goes_on;
  logic [63:0] rcv, last, run, run_end, lasts, left;
  logic [6:0] a_l, a_place;
  logic [23:0] a_cack1, a_ackpsn, ahead;
  logic [15:0] ooo, ooo_top;
  logic [7:0] ooo_low;

  // A pass of its own has nothing left to do when others have moved cack past its row meanwhile.
  assign a_on = t_valid_q && (t_again_q ? t_at_q == t_seq_q.cack1 : in_order);
  assign touch = take || (a_on && t_again_q);

  always_comb begin
    rcv = row.rcv;
    last = row.last;
    if (t_valid_q && !t_again_q) begin
      rcv = rcv | one;
      last = t_p_q.last ? (last | one) : (last & ~one);
    end
  end

  always_comb begin
    run = 64'd0;
    run_end = 64'd0;
    lasts = 64'd0;
    a_full = 1'b0;
    a_l = 7'd0;
    a_place = {1'b0, t_at_q[5:0]};
    a_ackpsn = t_at_q;
    if (a_on) begin
      run = run_of(rcv | t_lower_q);
      run_end = ~run & ((run << 1) | 64'd1);
      a_full = run[63];
      a_place = {a_full, place_of(run_end)};
      run = run & ~t_lower_q;
      lasts = last & run;
      if (lasts != 64'd0) begin
        a_l = ones64(lasts);
        a_ackpsn = {t_at_q[23:6], top_one(lasts)};
      end
    end
  end

  // A packet that is next in order moves cack by itself.
  assign a_moves = !t_again_q || row.rcv[0];
  assign a_cack1 = a_full ? {t_at_q[23:6] + 18'd1, 6'd0} : {t_at_q[23:6], a_place[5:0]};
  // The run takes n = a_place - at modulo 64 PSNs out of ooo: ooo_top adds at, ooo_low subtracts
  // a_place.
  assign ooo_top = t_seq_q.ooo + 16'(!t_again_q) + {10'd0, t_at_q[5:0]};
  assign ooo_low = {1'b0, ooo_top[6:0]} - {1'b0, a_place};
  assign ooo = {ooo_low[7] ? ooo_top[15:7] - 9'd1 : ooo_top[15:7], ooo_low[6:0]};
  // Bug 25: a run that ends a row does not go on.
  assign goes_on = touch && a_on && a_full && ooo_top != 16'd64 && bug_i != BugCackShort;
  // Does cack pass max? max1 is this far into the row.
  assign ahead = t_seq_q.max1 - {t_at_q[23:6], 6'd0};
  assign a_tops = ahead[23] || (ahead[22:7] == 16'd0 && a_place > ahead[6:0]);

  // ---- Track: what is written

  logic [23:0] past;

  assign past = t_p_q.psn - t_seq_q.max1;

  always_comb begin
    seq_d = t_seq_q;
    if (touch) begin
      if (a_on) begin
        seq_d.cack1 = a_cack1;
        seq_d.ooo = ooo;
        if (a_tops) begin
          seq_d.max1 = a_cack1;
        end
      end else begin
        seq_d.ooo = t_seq_q.ooo + 16'd1;
        // psn is after max: it is at most a window away.
        if (!past[23]) begin
          seq_d.max1 = t_p_q.psn + 24'd1;
        end
      end
    end
    if (fails) begin
      seq_d.failed = 1'b1;
    end
  end

  assign seq_we = t_valid_q && !stuck && (touch || fails);

  // A row without ones needs no memory.
  assign left = rcv & ~run;

  always_comb begin
    row_n = row;
    entry_n = entry;
    row_take = 1'b0;
    row_give = 1'b0;
    t_map_we = 1'b0;
    t_rows_we = 1'b0;
    if (touch && !stuck) begin
      row_n.rcv = left;
      row_n.last = last & ~run;
      if (left == 64'd0) begin
        if (entry.valid) begin
          row_give = 1'b1;
          // Bug 53: the entry stays.
          if (bug_i != BugRowGivenBackStays) begin
            t_map_we = 1'b1;
            entry_n.valid = 1'b0;
          end
        end
      end else if (!entry.valid) begin
        row_take = 1'b1;
        t_map_we = 1'b1;
        t_rows_we = 1'b1;
        entry_n = '{valid: 1'b1, idx: pool_idx};
      end else begin
        t_rows_we = a_moves;
      end
    end
  end

  assign rows_we = t_rows_we;
  assign rows_waddr = entry_n.idx;
  assign map_we = t_map_we || init_on_q;
  assign map_waddr = init_on_q ? {cfg_qp, init_q} : t_addr;
  assign map_wdata = init_on_q ? '0 : entry_n;
  mrc_bits #(
      .N(NumQps)
  ) u_known (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .set_i(init_on_q && init_last),
      .set_idx_i(cfg_qp),
      .idx_i(cfg_qp),
      .in_o(cfg_known)
  );

  assign pool_give = row_give || (init_on_q && map_rdata.valid && cfg_known);
  assign pool_back = init_on_q ? map_rdata.idx : entry.idx;

  assign x_acked_d = t_acked_q || (touch && a_on && lasts != 64'd0);
  assign x_moved_d = t_moved_q || (touch && a_on && a_moves);
  assign adv_push = goes_on && !stuck;
  assign adv_d = '{p: t_p_q, at: a_cack1, acked: x_acked_d, moved: x_moved_d};

  logic same_x;

  assign same_x = post && x_q.p.qp[QpW-1:0] == t_p_q.qp[QpW-1:0];

  always_ff @(posedge clk_i) begin
    if (t_valid_q && !stuck) begin
      w_row_q <= row_n;
      w_entry_q <= entry_n;
      x_q <= '{
          p: t_p_q,
          what: what,
          cack1: seq_d.cack1,
          ooo: seq_d.ooo,
          load: (t_p_q.plen < 13'd1024) ? 13'd1024 : t_p_q.plen,
          l: (touch && a_on) ? a_l : 7'd0,
          ackpsn: a_ackpsn,
          acked: x_acked_d,
          moved: x_moved_d,
          goes_on: goes_on,
          below: below,
          recorded: recorded,
          trim_nack: t_set_q.trim_nack,
          report: same_x ? report_d : t_report,
          own: same_x ? own_d : t_own
      };
    end
  end

  // ---- outputs

  logic verdict_load, verdict_free, resp_load, resp_free, ackev_load, ackev_free;
  logic ord_load, ord_free, came_load, came_free, qperr_load, qperr_free, req_ready;
  verdict_t verdict_d;
  resp_t resp_d, post_resp, sack_resp;
  ackev_t ackev_d, post_ackev, sack_ackev;
  ord_t ord_d;
  came_t came_d;
  qperr_t qperr_d;
  logic post_resp_load, sack_resp_load, post_ackev_load, sack_ackev_load;

  mrc_out_reg #(
      .T(verdict_t)
  ) u_verdict (
      .clk_i,
      .rst_ni,
      .load_i(verdict_load),
      .data_i(verdict_d),
      .free_o(verdict_free),
      .valid_o(verdict_valid_o),
      .ready_i(verdict_ready_i),
      .data_o(verdict_o)
  );

  mrc_out_reg #(
      .T(resp_t)
  ) u_resp (
      .clk_i,
      .rst_ni,
      .load_i(resp_load),
      .data_i(resp_d),
      .free_o(resp_free),
      .valid_o(resp_valid_o),
      .ready_i(resp_ready_i),
      .data_o(resp_o)
  );

  mrc_out_reg #(
      .T(ackev_t)
  ) u_ackev (
      .clk_i,
      .rst_ni,
      .load_i(ackev_load),
      .data_i(ackev_d),
      .free_o(ackev_free),
      .valid_o(ackev_valid_o),
      .ready_i(ackev_ready_i),
      .data_o(ackev_o)
  );

  mrc_out_reg #(
      .T(ord_t)
  ) u_ord (
      .clk_i,
      .rst_ni,
      .load_i(ord_load),
      .data_i(ord_d),
      .free_o(ord_free),
      .valid_o(ord_valid_o),
      .ready_i(ord_ready_i),
      .data_o(ord_o)
  );

  mrc_out_reg #(
      .T(came_t)
  ) u_came (
      .clk_i,
      .rst_ni,
      .load_i(came_load),
      .data_i(came_d),
      .free_o(came_free),
      .valid_o(came_valid_o),
      .ready_i(came_ready_i),
      .data_o(came_o)
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

  // ---- Post

  logic may_post, sack_req;
  req_t req_d;

  assign may_post = verdict_free && resp_free && ackev_free && ord_free && qperr_free && came_free
                    && req_ready && hold_ok_i;
  assign stuck = x_valid_q && !may_post;
  assign post = x_valid_q && may_post;

  mrc_rx_track_post #(
      .NumPlanes(NumPlanes)
  ) u_post (
      .clk_i,
      .rst_ni,
      .bug_i,
      .csr_i,
      .post_i(post),
      .x_i(x_q),
      .arm_i,
      .gen_i,
      .drained_i,
      .fat_i,
      .report_o(report_d),
      .own_o(own_d),
      .verdict_load_o(verdict_load),
      .verdict_o(verdict_d),
      .resp_load_o(post_resp_load),
      .resp_o(post_resp),
      .ackev_load_o(post_ackev_load),
      .ackev_o(post_ackev),
      .ord_load_o(ord_load),
      .ord_o(ord_d),
      .came_load_o(came_load),
      .came_o(came_d),
      .qperr_load_o(qperr_load),
      .qperr_o(qperr_d),
      .req_o(sack_req),
      .req_data_o(req_d),
      .pulses_o
  );

  // ---- SACKs

  mrc_rx_track_sack #(
      .NumQps(NumQps),
      .MaxMpr(MaxMpr),
      .NumRxRows(NumRxRows)
  ) u_sack (
      .clk_i,
      .rst_ni,
      .bug_i,
      .sack_base_self_i(csr_i.sack_base_self),
      .ack_with_sack_i(csr_i.ack_with_sack),
      .req_valid_i(sack_req),
      .req_ready_o(req_ready),
      .req_i(req_d),
      .idle_o(sack_idle),
      .map_we_i(map_we),
      .map_waddr_i(map_waddr),
      .map_wdata_i(map_wdata),
      .rows_we_i(rows_we),
      .rows_waddr_i(rows_waddr),
      .rows_wdata_i(row_n.rcv),
      .init_i(cfg_init),
      .init_qp_i(cfg_qp),
      .init_psn_i(cfg_ctx.rq_psn),
      .qp_o(sack_qp),
      .seq_i(sack_seq),
      .seq_we_i(seq_we && t_p_q.qp[QpW-1:0] == sack_qp),
      .seq_new_i(seq_d),
      .report_i(sack_report),
      .set_i(sack_set),
      .resp_go_i(resp_free && !post_resp_load),
      .resp_load_o(sack_resp_load),
      .resp_o(sack_resp),
      .ackev_go_i(ackev_free && !post_ackev_load),
      .ackev_load_o(sack_ackev_load),
      .ackev_o(sack_ackev)
  );

  assign resp_load = post_resp_load || sack_resp_load;
  assign resp_d = sack_resp_load ? sack_resp : post_resp;
  assign ackev_load = post_ackev_load || sack_ackev_load;
  assign ackev_d = sack_ackev_load ? sack_ackev : post_ackev;

  // ---- registers

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      m_valid_q <= 1'b0;
      t_valid_q <= 1'b0;
      x_valid_q <= 1'b0;
    end else if (!stuck) begin
      m_valid_q <= m_valid_d;
      t_valid_q <= m_valid_q;
      x_valid_q <= t_valid_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cfg_ack_q <= 1'b0;
      init_on_q <= 1'b0;
      init_q <= '0;
    end else begin
      cfg_ack_q <= cfg_ack_d;
      init_on_q <= init_on_d;
      init_q <= init_d;
    end
  end

  assign cfg_ack_o = cfg_ack_q;

  logic posted_q, x_again;
  assign x_again = x_q.what == WhatDone;
  assign posted_o = posted_q;
  assign goes_on_o = adv_valid || (m_valid_q && m_again_q) || (t_valid_q && t_again_q)
      || (x_valid_q && x_again);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      posted_q <= 1'b0;
    end else begin
      posted_q <= post && !x_again;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{unused_head_count, unused_adv_count, adv_ready, unused_free, cfg_i.index,
                         cfg_ctx.srv6, cfg_ctx.dip, cfg_ctx.dest, cfg_ctx.dmac, cfg_ctx.rqmsn,
                         cfg_ctx.max_wimm_dest, cfg_ctx.max_wimm, cfg_ctx.sq_psn, 
                         cfg_ctx.retry_exp, cfg_ctx.timeout, cfg_ctx.pkey, cfg_ctx.retry_linear,
                         cfg_ctx.backup, cfg_ctx.dqpn, cfg_ctx.profile, cfg_ctx.mpr,
                         cfg_ctx.rsvd13, cfg_ctx.cc, cfg_ctx.svc_time, cfg_ctx.ts, cfg_ctx.encap,
                         cfg_ctx.mtu, t_set_q.dyn, rel[22:0], past[22:0]};

  // ---- what always holds

  `MRC_NEVER_FULL(Adv, adv_push, adv_ready)
  `MRC_ASSERT_IF(TakesInWindow, take, stuck || rel < {9'd0, t_set_q.mpr, 7'd0},
      "a packet outside of the window is taken")
  `MRC_ASSERT_IF(TakesNew, take, stuck || (row.rcv & one) == 64'd0,
      "a packet that is here is taken")
  `MRC_ASSERT_IF(TakesARow, row_take, pool_valid,
      "a row is taken that there is not")
  `MRC_ASSERT_IF(GivesARow, row_give, entry.valid,
      "a row is given back that there is not")
  `MRC_ONE_HOT0(RowOnce, {row_take, row_give},
      "a row is taken and another given back")
  `MRC_ASSERT_IF(CfgAlone, cfg_do, !(m_valid_q || t_valid_q || x_valid_q || adv_valid),
      "a table is written under a packet")
  `MRC_ASSERT_IF(InitAlone, init_on_q, !(m_valid_q || t_valid_q || x_valid_q),
      "a QP is started under its packets")
  `MRC_ASSERT_IF(WhatInRange, x_valid_q, x_q.what <= WhatDone,
      "no such verdict")
  `MRC_ASSERT_IF(VerdictOfAQp, verdict_load, 32'(verdict_d.qp) < NumQps,
      "a verdict for a QP that there is not")
  `MRC_ASSERT_IF(WindowInRange, t_valid_q, 32'(t_set_q.mpr_dest) <= MaxMpr / 128,
      "a window larger than the memory")
  `MRC_ASSERT_IF(WindowNot0, take, t_set_q.mpr != 8'd0,
      "a window of 0")
  `MRC_ASSERT_IF(WindowWithinOwn, take, t_set_q.mpr <= t_set_q.mpr_dest,
      "the window is larger than the peer may use")
  `MRC_ASSERT_IF(OneOfARow, t_valid_q, one != 64'd0 || t_again_q,
      "a packet has no place in its row")
  `MRC_ASSERT(AnswersOnce, !(sack_resp_load && post_resp_load),
      "two answers in one cycle")
  `MRC_ASSERT(AcksOnce, !(sack_ackev_load && post_ackev_load),
      "two acknowledgements in one cycle")
  `MRC_ONE_HOT0(OneFromFetch, {adv_pop, head_pop},
      "two packets go into the stages")

endmodule
