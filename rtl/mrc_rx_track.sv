// SPDX-License-Identifier: Apache-2.0

/// Knows per QP which PSNs are here: decides for each checked WRITE whether its payload is placed,
/// advances cack over contiguous PSNs, owes the sender ACK, SACK and NACK, answers reliability
/// probes, and says when a QP fails. One packet at a time: two cycles for a discarded one, three
/// and one per bitmap row passed for a new one, three more for a SACK, and one for an ACK after it.
/// It moves no payload and orders no completions. Contract: docs/blocks/rx_track.md.
module mrc_rx_track
  import mrc_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned MaxMpr = 128
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input logic sack_base_self_i,
    input logic oor_drop_i,
    input logic err_silent_i,
    input logic ack_with_sack_i,
    input logic [19:0] sack_trigger_i,
    input logic cfg_req_i,
    input logic [3:0] cfg_table_i,
    input logic [15:0] cfg_index_i,
    input logic [511:0] cfg_data_i,
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
    output logic ord_valid_o,
    input logic ord_ready_i,
    output ord_t ord_o,
    output logic qperr_valid_o,
    input logic qperr_ready_i,
    output qperr_t qperr_o,
    output logic dup_inc_o,
    output logic oor_inc_o,
    output logic trim_inc_o,
    output logic nores_inc_o
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned Rows = MaxMpr / 64;
  localparam int unsigned RowW = (Rows > 1) ? $clog2(Rows) : 1;
  localparam int unsigned AddrW = QpW + RowW;
  localparam int unsigned PlaneW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1;

  if (NumQps < 2 || (NumQps & (NumQps - 1)) != 0) begin : gen_bad_num_qps
    $error("%m: NumQps = %0d, must be a power of two, at least 2", NumQps);
  end
  if (MaxMpr < 128 || (MaxMpr & (MaxMpr - 1)) != 0) begin : gen_bad_max_mpr
    $error("%m: MaxMpr = %0d, must be a power of two, at least 128", MaxMpr);
  end

  typedef enum logic [3:0] {
    StIdle,
    StInit,
    StTrack,
    StAdv,
    StPost,
    StSack0,
    StSack1,
    StSack2,
    StAckAfter
  } state_e;

  typedef struct packed {
    logic [23:0] cack;
    logic [23:0] lowun;
    logic [23:0] max;
    logic [31:0] rcvd;
    logic [20:0] trig;
    logic ar;
    logic [15:0] ooo;
    logic [15:0] emsn;
    logic [7:0] mpr;
    logic [7:0] mpr_dest;
    logic trim_nack;
    logic dyn;
    logic ackv;
    logic [23:0] ackpsn;
    logic failed;
    logic [7:0] nsyn;
    logic [23:0] npsn;
  } qp_t;

  function automatic logic after(logic [23:0] a, logic [23:0] b);
    logic [23:0] d;
    d = a - b;
    return d != 24'd0 && !d[23];
  endfunction

  function automatic logic [6:0] ones(logic [63:0] x);
    logic [63:0] s;
    s = x - ((x >> 1) & 64'h5555555555555555);
    s = (s & 64'h3333333333333333) + ((s >> 2) & 64'h3333333333333333);
    s = (s + (s >> 4)) & 64'h0F0F0F0F0F0F0F0F;
    s = s + (s >> 8);
    s = s + (s >> 16);
    s = s + (s >> 32);
    return s[6:0];
  endfunction

  // Index of the highest one.
  function automatic logic [5:0] top_one(logic [63:0] x);
    logic [63:0] r;
    logic [5:0] i;
    r = x;
    i = 6'd0;
    if (r[63:32] != 32'd0) begin
      i[5] = 1'b1;
      r = r >> 32;
    end
    if (r[31:16] != 16'd0) begin
      i[4] = 1'b1;
      r = r >> 16;
    end
    if (r[15:8] != 8'd0) begin
      i[3] = 1'b1;
      r = r >> 8;
    end
    if (r[7:4] != 4'd0) begin
      i[2] = 1'b1;
      r = r >> 4;
    end
    if (r[3:2] != 2'd0) begin
      i[1] = 1'b1;
      r = r >> 2;
    end
    i[0] = r[1];
    return i;
  endfunction

  // ---- input, registers, memories

  state_e state_q, state_d;
  rxpkt_t head, p_q;
  logic head_valid, pop;
  logic [1:0] unused_count;
  logic cfg_ack_q, cfg_ack_d, cfg_do, cfg_init, cfg_shrink, init_last;
  logic [RowW-1:0] init_q, init_d;
  logic [QpW-1:0] cfg_qp, init_qp_q, qp;
  tbl_qp_ctx_t cfg_ctx;
  logic [7:0] cfg_mpr;
  qp_t s, s_d, s_init;
  logic s_we;
  logic [QpW-1:0] s_waddr;
  logic [127:0] row;
  logic row_re, row_we;
  logic [AddrW-1:0] row_raddr, row_waddr;
  logic [127:0] row_wdata;
  logic [NumPlanes-1:0][7:0] issued_q, issued_d;
  logic [23:0] base_q, base_d;
  logic self_q, self_d;
  logic [63:0] low_q, low_d;
  logic acked_q, acked_d, adv_q, adv_d;
  logic [23:0] ackpsn_w_q, ackpsn_w_d;
  logic dup_inc_q, dup_inc_d, oor_inc_q, oor_inc_d, trim_inc_q, trim_inc_d;
  logic nores_inc_q, nores_inc_d;

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
      .ready_i(pop),
      .data_o(head),
      .count_o(unused_count)
  );

  assign cfg_ctx = tbl_qp_ctx_t'(cfg_data_i);
  assign cfg_qp = cfg_index_i[QpW-1:0];
  assign cfg_do = state_q == StIdle && cfg_req_i && !cfg_ack_q;
  // The responder works since Rtr: the step to Rts must not touch what it knows.
  assign cfg_init = cfg_do && cfg_table_i == CfgTableQpCtx && cfg_ctx.state != QpStateRts;
  assign cfg_shrink = cfg_do && cfg_table_i == CfgTableQpMpr;

  always_comb begin
    qp = p_q.qp[QpW-1:0];
    if (cfg_do) begin
      qp = cfg_qp;
    end else if (state_q == StIdle) begin
      qp = head.qp[QpW-1:0];
    end
  end

  mrc_rf_1r1w #(
      .Width($bits(qp_t)),
      .Depth(NumQps)
  ) u_qp (
      .clk_i,
      .raddr_i(qp),
      .rdata_o(s),
      .we_i(s_we),
      .waddr_i(s_waddr),
      .wdata_i(s_d)
  );

  mrc_ram_1r1w #(
      .Width(128),
      .Depth(NumQps * Rows)
  ) u_bits (
      .clk_i,
      .re_i(row_re),
      .raddr_i(row_raddr),
      .rdata_o(row),
      .we_i(row_we),
      .waddr_i(row_waddr),
      .wdata_i(row_wdata)
  );

  always_comb begin
    s_init = '0;
    s_init.cack = cfg_ctx.rq_psn - 24'd1;
    s_init.max = cfg_ctx.rq_psn - 24'd1;
    s_init.lowun = cfg_ctx.rq_psn;
    s_init.emsn = cfg_ctx.msn;
    s_init.mpr = cfg_ctx.mpr_dest;
    s_init.mpr_dest = cfg_ctx.mpr_dest;
    s_init.trim_nack = cfg_ctx.trim_nack;
    s_init.dyn = cfg_ctx.dyn_mpr;
  end

  // The window that QP_MPR asks for: at least 1, at most what the peer may ever use.
  logic [7:0] want_mpr, new_mpr;

  assign cfg_mpr = cfg_data_i[7:0];
  assign want_mpr = (cfg_mpr == 8'd0) ? 8'd1 : cfg_mpr;
  assign new_mpr = (want_mpr < s.mpr_dest) ? want_mpr : s.mpr_dest;

  // ---- outputs

  logic verdict_load, verdict_free, resp_load, resp_free, ord_load, ord_free;
  logic qperr_load, qperr_free;
  verdict_t verdict_d;
  resp_t resp_d;
  ord_t ord_d;
  qperr_t qperr_d;

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

  // ---- where the packet is

  logic [23:0] cack1, rel;
  logic inwin, below, recorded, dup, oor, no_bitmap, here, in_order, no_pay, trimmed;
  logic [5:0] pbit;

  assign cack1 = s.cack + 24'd1;
  assign rel = p_q.psn - cack1;
  assign pbit = p_q.psn[5:0];
  assign below = rel[23];
  // Bug 21: the window is one PSN too long.
  assign inwin = rel < {9'd0, s.mpr, 7'd0} + ((bug_i == 8'd21) ? 24'd1 : 24'd0);
  assign here = row[{1'b0, pbit}];
  // Bug 22: what is here already above cack is taken for new.
  assign recorded = rel < {9'd0, s.mpr_dest, 7'd0};
  assign dup = below || (recorded && here && bug_i != 8'd22);
  assign oor = !inwin && !dup;
  // Outside because the window has shrunk meanwhile, not by the peer's fault.
  assign no_bitmap = oor && recorded;
  assign in_order = rel == 24'd0;
  assign no_pay = p_q.trim != TrimNone;
  // On its way, not by the lane.
  assign trimmed = p_q.trim == TrimTrimmed || p_q.trim == TrimLastHop;

  // ---- advance: the run of ones from bit a_from upward of the row a_rcv, a_last

  logic a_on;
  logic [5:0] a_from, a_top;
  logic [63:0] a_rcv, a_last, a_below, a_hole, a_run, a_lasts;
  logic [6:0] a_n, a_l;
  logic [23:0] a_cack, a_max, a_ackpsn;
  logic [15:0] a_ooo;
  logic a_more;

  assign a_on = state_q == StAdv || (state_q == StTrack && in_order);

  always_comb begin
    a_from = 6'd0;
    a_rcv = row[63:0];
    a_last = row[127:64];
    if (state_q == StTrack) begin
      a_from = pbit;
      a_rcv[pbit] = 1'b1;
      a_last[pbit] = p_q.last;
    end
  end

  always_comb begin
    a_below = 64'd0;
    a_hole = 64'd0;
    a_run = 64'd0;
    a_lasts = 64'd0;
    a_n = 7'd0;
    a_l = 7'd0;
    a_top = 6'd0;
    if (a_on) begin
      a_below = (64'd1 << a_from) - 64'd1;
      // Bug 25: the last bit of a row is never passed.
      a_hole = ~(a_rcv | a_below) | ((bug_i == 8'd25) ? 64'h8000000000000000 : 64'd0);
      a_run = ((a_hole & (~a_hole + 64'd1)) - 64'd1) & ~a_below;
      a_lasts = a_last & a_run;
      a_n = ones(a_run);
      a_l = ones(a_lasts);
      a_top = top_one(a_lasts);
    end
  end

  assign a_cack = s.cack + 24'(a_n);
  // The PSN of the row's bit a_top: cack + 1 is at a_from.
  assign a_ackpsn = cack1 + {18'd0, a_top - a_from};
  assign a_ooo = s.ooo + 16'(state_q == StTrack) - 16'(a_n);
  assign a_max = (state_q == StTrack && after(p_q.psn, s.max)) ? p_q.psn : s.max;
  assign a_more = a_run[63] && a_ooo != 16'd0;

  // ---- what a SACK says

  logic [23:0] top, cyc, over;
  logic [63:0] sack_bits;
  logic [5:0] sack_shift;
  logic sack, self;

  assign top = s.max - s.cack;
  assign cyc = (s.lowun - cack1 < top) ? s.lowun : cack1;
  assign self = !p_q.probe && sack_base_self_i && (p_q.ackreq || p_q.ce) && !rel[23];
  assign over = s.max + 24'd1 - base_q;
  assign sack_shift = base_q[5:0];
  assign sack = s.trig >= {1'b0, sack_trigger_i} || p_q.ackreq || p_q.rtx || p_q.ce ||
      (s.ar && s.ooo == 16'd0);

  always_comb begin
    sack_bits = 64'd0;
    if (state_q == StSack2) begin
      sack_bits = 64'({row[63:0], low_q} >> sack_shift);
      // Bug 23: shifted by one.
      if (bug_i == 8'd23) begin
        sack_bits = sack_bits >> 1;
      end
      if (over < 24'd64) begin
        sack_bits = sack_bits & ~(64'hFFFFFFFFFFFFFFFF << over[5:0]);
      end
    end
  end

  // ---- state machine

  logic give, give_place, row_next;
  logic [3:0] give_plane;
  logic give_buf;
  logic [23:0] row_psn;
  logic [21:0] trig_sum;
  logic [15:0] snap_ts;

  assign trig_sum = {1'b0, s.trig} + ((p_q.plen < 13'd1024) ? 22'd1024 : 22'(p_q.plen));
  // Bug 24: the time stamp is lost.
  assign snap_ts = (bug_i == 8'd24) ? 16'd0 : p_q.ts;
  assign init_last = init_q == RowW'(Rows - 1);

  always_comb begin
    state_d = state_q;
    cfg_ack_d = cfg_ack_q && cfg_req_i;
    init_d = init_q;
    pop = 1'b0;
    s_d = s;
    s_we = 1'b0;
    s_waddr = qp;
    row_next = 1'b0;
    row_psn = p_q.psn;
    row_we = 1'b0;
    row_waddr = {qp, p_q.psn[6+:RowW]};
    row_wdata = {a_last, a_rcv};
    give = 1'b0;
    give_place = 1'b0;
    resp_load = 1'b0;
    ord_load = 1'b0;
    acked_d = acked_q;
    adv_d = adv_q;
    ackpsn_w_d = ackpsn_w_q;
    base_d = base_q;
    self_d = self_q;
    low_d = low_q;
    dup_inc_d = 1'b0;
    oor_inc_d = 1'b0;
    trim_inc_d = 1'b0;
    nores_inc_d = 1'b0;
    qperr_load = 1'b0;

    unique case (state_q)
      StIdle: begin
        row_psn = head.psn;
        acked_d = 1'b0;
        adv_d = 1'b0;
        if (cfg_do) begin
          if (cfg_init) begin
            s_we = 1'b1;
            s_d = s_init;
            init_d = '0;
            state_d = StInit;
          end else begin
            // Bug 42: the window does not shrink.
            if (cfg_shrink && !(bug_i == 8'd42 && new_mpr < s.mpr)) begin
              s_we = 1'b1;
              s_d.mpr = new_mpr;
            end
            cfg_ack_d = 1'b1;
          end
        end else if (head_valid && verdict_free && resp_free && ord_free && qperr_free) begin
          pop = 1'b1;
          if (head.drop) begin
            give = 1'b1;
          end else if (s.failed) begin
            give = 1'b1;
            resp_load = 1'b1;
          end else if (head.err) begin
            give = 1'b1;
            resp_load = !err_silent_i;
          end else if (head.probe) begin
            resp_load = s.ackv && !ack_with_sack_i;
            state_d = StSack0;
          end else begin
            row_next = 1'b1;
            state_d = StTrack;
          end
        end
      end

      StInit: begin
        row_we = 1'b1;
        row_waddr = {init_qp_q, init_q};
        row_wdata = 128'd0;
        init_d = init_q + RowW'(1);
        if (init_last) begin
          cfg_ack_d = 1'b1;
          state_d = StIdle;
        end
      end

      StTrack: begin
        if (oor) begin
          trim_inc_d = trimmed;
          oor_inc_d = !no_bitmap;
          nores_inc_d = no_bitmap;
          give = !no_pay;
          resp_load = no_bitmap || !oor_drop_i;
          state_d = StIdle;
        end else if (no_pay) begin
          trim_inc_d = trimmed;
          if (dup) begin
            state_d = StSack0;
          end else begin
            nores_inc_d = !trimmed;
            resp_load = !trimmed || s.trim_nack;
            state_d = StIdle;
          end
        end else if (dup) begin
          dup_inc_d = 1'b1;
          give = 1'b1;
          resp_load = below && s.ackv && !ack_with_sack_i;
          state_d = StSack0;
        end else if (p_q.syndrome != 8'd0) begin
          give = 1'b1;
          if (in_order) begin
            s_we = 1'b1;
            s_d.failed = 1'b1;
            s_d.nsyn = p_q.syndrome;
            s_d.npsn = p_q.psn;
            resp_load = 1'b1;
            qperr_load = 1'b1;
          end
          state_d = StIdle;
        end else begin
          give = 1'b1;
          give_place = 1'b1;
          s_we = 1'b1;
          s_d.rcvd = s.rcvd + 32'(p_q.size);
          s_d.trig = trig_sum[21] ? 21'h1FFFFF : trig_sum[20:0];
          s_d.max = a_max;
          row_we = 1'b1;
          if (!in_order) begin
            s_d.ooo = s.ooo + 16'd1;
            state_d = StPost;
          end
        end
      end

      StPost: begin
        ord_load = p_q.imm_valid || adv_q;
        resp_load = acked_q && !ack_with_sack_i;
        s_we = 1'b1;
        if (acked_q) begin
          s_d.ackv = 1'b1;
          s_d.ackpsn = ackpsn_w_q;
        end
        s_d.ar = s.ooo != 16'd0 && (s.ar || p_q.ackreq);
        state_d = sack ? StSack0 : StIdle;
      end

      StSack0: begin
        s_we = 1'b1;
        s_d.trig = 21'd0;
        self_d = self;
        base_d = self ? p_q.psn : cyc;
        row_next = 1'b1;
        row_psn = base_d;
        state_d = StSack1;
      end

      StSack1: begin
        low_d = row[63:0];
        row_next = 1'b1;
        row_psn = base_q + 24'd64;
        state_d = StSack2;
      end

      StSack2: begin
        if (resp_free) begin
          resp_load = 1'b1;
          if (!self_q) begin
            s_we = 1'b1;
            s_d.lowun = base_q + 24'd64;
          end
          state_d = (ack_with_sack_i && s.ackv) ? StAckAfter : StIdle;
        end
      end

      StAckAfter: begin
        if (resp_free) begin
          resp_load = 1'b1;
          state_d = StIdle;
        end
      end

      // StAdv: all below.
      default: ;
    endcase

    // The run that starts at cack + 1, in Track and in each row after it.
    if (state_q == StAdv || (state_q == StTrack && give_place && in_order)) begin
      s_we = 1'b1;
      row_waddr = {qp, cack1[6+:RowW]};
      row_wdata = {a_last & ~a_run, a_rcv & ~a_run};
      row_we = state_q == StTrack || a_n != 7'd0;
      s_d.cack = a_cack;
      s_d.ooo = a_ooo;
      s_d.emsn = s.emsn + 16'(a_l);
      s_d.max = after(a_cack, a_max) ? a_cack : a_max;
      if (a_n != 7'd0) begin
        adv_d = 1'b1;
      end
      if (a_l != 7'd0) begin
        acked_d = 1'b1;
        ackpsn_w_d = a_ackpsn;
      end
      if (a_more) begin
        row_next = 1'b1;
        row_psn = a_cack + 24'd1;
        state_d = StAdv;
      end else begin
        state_d = StPost;
      end
    end
  end

  assign row_re = row_next;
  assign row_raddr = {qp, row_psn[6+:RowW]};

  // ---- what is loaded into the outputs

  assign give_plane = (state_q == StIdle) ? head.plane : p_q.plane;
  assign give_buf = (state_q == StIdle) ? head.buf_valid : p_q.buf_valid;
  assign verdict_load = give && give_buf;

  always_comb begin
    verdict_d.plane = give_plane;
    verdict_d.place = give_place;
    verdict_d.addr = give_place ? p_q.haddr : 64'd0;
    verdict_d.plen = give_place ? p_q.plen : 13'd0;
  end

  always_comb begin
    issued_d = issued_q;
    if (verdict_load) begin
      issued_d[give_plane[PlaneW-1:0]] = issued_q[give_plane[PlaneW-1:0]] + 8'd1;
    end
  end

  // Why a packet in Track is NACKed.
  nack_reason_e nack_reason;

  always_comb begin
    unique case (p_q.trim)
      TrimTrimmed: nack_reason = NackReasonTrimmed;
      TrimLastHop: nack_reason = NackReasonTrimmedLasthop;
      TrimNoBuffer: nack_reason = NackReasonNoPktBuffer;
      default: nack_reason = NackReasonNoResource;
    endcase
    if (oor) begin
      // Bug 41: a window that has shrunk is not told apart.
      nack_reason = (no_bitmap && bug_i != 8'd41) ? NackReasonNoBitmap : NackReasonPsnOorWindow;
    end
  end

  always_comb begin
    resp_d = '0;
    if (resp_load) begin
      resp_d.qp = p_q.qp;
      resp_d.plane = p_q.plane;
      unique case (state_q)
        StIdle: begin
          resp_d.qp = head.qp;
          resp_d.plane = head.plane;
          if (!s.failed && head.err) begin
            resp_d.kind = CtlKindNack;
            resp_d.psn = head.psn;
            resp_d.entropy = head.entropy;
            resp_d.ts = (bug_i == 8'd24) ? 16'd0 : head.ts;
            resp_d.tsv = head.tsv;
            resp_d.at = head.at;
            resp_d.reason = NackReasonUnexpEvent;
          end else begin
            resp_d.kind = CtlKindAck;
            resp_d.psn = s.failed ? s.npsn : s.ackpsn;
            resp_d.reason = s.failed ? s.nsyn : AethSyndromeAck;
            resp_d.msn = s.emsn;
          end
        end
        StTrack: begin
          if (oor || no_pay) begin
            resp_d.kind = CtlKindNack;
            resp_d.psn = p_q.psn;
            resp_d.entropy = p_q.entropy;
            resp_d.ts = snap_ts;
            resp_d.tsv = p_q.tsv;
            resp_d.at = p_q.at;
            resp_d.reason = nack_reason;
          end else begin
            resp_d.kind = CtlKindAck;
            resp_d.psn = below ? s.ackpsn : p_q.psn;
            resp_d.reason = below ? AethSyndromeAck : p_q.syndrome;
            resp_d.msn = s.emsn;
          end
        end
        StPost: begin
          resp_d.kind = CtlKindAck;
          resp_d.psn = ackpsn_w_q;
          resp_d.reason = AethSyndromeAck;
          resp_d.msn = s.emsn;
        end
        StAckAfter: begin
          resp_d.kind = CtlKindAck;
          resp_d.psn = s.ackpsn;
          resp_d.reason = AethSyndromeAck;
          resp_d.msn = s.emsn;
        end
        default: begin
          resp_d.kind = CtlKindSack;
          resp_d.psn = p_q.psn;
          resp_d.cack = s.cack;
          resp_d.base = base_q;
          resp_d.bitmap = sack_bits;
          resp_d.ooo = s.ooo[14:0];
          resp_d.pr = p_q.probe;
          resp_d.m = p_q.ce ? MarkSkipOnce : MarkNone;
          resp_d.entropy = p_q.entropy;
          resp_d.ts = snap_ts;
          resp_d.tsv = p_q.tsv;
          resp_d.at = p_q.at;
          resp_d.mpr = s.dyn ? s.mpr : 8'd0;
          resp_d.rcvd = 24'((s.rcvd + 32'd255) >> 8);
        end
      endcase
    end
  end

  always_comb begin
    ord_d = '0;
    if (ord_load) begin
      ord_d.qp = p_q.qp;
      ord_d.imm_valid = p_q.imm_valid;
      ord_d.adv = adv_q;
      ord_d.cack = s.cack;
      ord_d.snap = 64'(issued_q);
      if (p_q.imm_valid) begin
        ord_d.rqmsn = p_q.rqmsn;
        ord_d.imm = p_q.imm;
        ord_d.length = p_q.dmalen;
        ord_d.psn = p_q.psn;
      end
    end
  end

  assign qperr_d = '{qp: p_q.qp, status: p_q.syndrome};

  // ---- registers

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      cfg_ack_q <= 1'b0;
      init_q <= '0;
      issued_q <= '0;
      dup_inc_q <= 1'b0;
      oor_inc_q <= 1'b0;
      trim_inc_q <= 1'b0;
      nores_inc_q <= 1'b0;
    end else begin
      state_q <= state_d;
      cfg_ack_q <= cfg_ack_d;
      init_q <= init_d;
      issued_q <= issued_d;
      dup_inc_q <= dup_inc_d;
      oor_inc_q <= oor_inc_d;
      trim_inc_q <= trim_inc_d;
      nores_inc_q <= nores_inc_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (pop) begin
      p_q <= head;
    end
    if (cfg_do) begin
      init_qp_q <= cfg_qp;
    end
    acked_q <= acked_d;
    adv_q <= adv_d;
    ackpsn_w_q <= ackpsn_w_d;
    base_q <= base_d;
    self_q <= self_d;
    low_q <= low_d;
  end

  assign cfg_ack_o = cfg_ack_q;
  assign dup_inc_o = dup_inc_q;
  assign oor_inc_o = oor_inc_q;
  assign trim_inc_o = trim_inc_q;
  assign nores_inc_o = nores_inc_q;

  logic unused_bits;
  assign unused_bits = ^{unused_count, cfg_index_i, cfg_ctx, p_q.msn, p_q.drop, p_q.err, row_psn};

endmodule
