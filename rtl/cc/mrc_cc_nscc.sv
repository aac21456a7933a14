// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Network-signal congestion control: one window per destination, shared by the QPs that go there.
/// Answers one request per cycle (how many bytes may go?) a cycle after it came to the head, or
/// takes back what was granted and not used, except while an event is counted or stored or a table
/// written; works off one event at a time, in 3 to 59 cycles. It paces nothing and keeps no
/// packets: who was refused asks again after resume. Contract: docs/design/blocks/cc/cc_nscc.md.
module mrc_cc_nscc
  import mrc_pkg::*;
  import mrc_cc_nscc_pkg::*;
#(
    parameter int unsigned NumDests = 4,
    parameter int unsigned NumCcProfiles = 2,
    parameter int unsigned MulDsp = 0
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,

    input logic ev_valid_i,
    output logic ev_ready_o,
    input ccev_t ev_i,
    input logic req_valid_i,
    output logic req_ready_o,
    input ccreq_t req_i,
    input logic rtxreq_valid_i,
    output logic rtxreq_ready_o,
    input ccreq_t rtxreq_i,
    input logic ret_valid_i,
    output logic ret_ready_o,
    input ccret_t ret_i,

    output logic ans_valid_o,
    input logic ans_ready_i,
    output ccans_t ans_o,
    output logic rans_valid_o,
    input logic rans_ready_i,
    output ccans_t rans_o,
    output logic resume_valid_o,
    input logic resume_ready_i,
    output ccresume_t resume_o,

    input logic [31:0] tick_i,
    output cc_nscc_pulses_t pulses_o,

    input cfg_t cfg_i,
    output logic cfg_ack_o
);

  localparam int unsigned CcW = $clog2(NumDests);
  localparam int unsigned ProfW = $clog2(NumCcProfiles);
  if (NumDests < 2 || NumDests > 65536 || (NumDests & (NumDests - 1)) != 0)
  begin : gen_bad_num_dests
    $error("%m: NumDests = %0d, must be a power of two, 2 to 65536", NumDests);
  end
  if (NumCcProfiles < 2 || NumCcProfiles > 256 || (NumCcProfiles & (NumCcProfiles - 1)) != 0)
  begin : gen_bad_num_profiles
    $error("%m: NumCcProfiles = %0d, must be a power of two, 2 to 256", NumCcProfiles);
  end

  // ---- inputs

  logic ev_v, ev_pop, req_v, req_pop, rtxreq_v, rtxreq_pop, ret_v, ret_pop;
  ccev_t ev_head;
  ccreq_t req_head, rtxreq_head;
  ccret_t ret_head;
  logic [4:0] ev_count;
  logic [2:0][1:0] unused_counts;

  mrc_fifo #(
      .T(ccev_t),
      .Depth(16)
  ) u_ev (
      .clk_i,
      .rst_ni,
      .valid_i(ev_valid_i),
      .ready_o(ev_ready_o),
      .data_i(ev_i),
      .valid_o(ev_v),
      .ready_i(ev_pop),
      .data_o(ev_head),
      .count_o(ev_count)
  );

  mrc_fifo #(
      .T(ccreq_t),
      .Depth(2)
  ) u_req (
      .clk_i,
      .rst_ni,
      .valid_i(req_valid_i),
      .ready_o(req_ready_o),
      .data_i(req_i),
      .valid_o(req_v),
      .ready_i(req_pop),
      .data_o(req_head),
      .count_o(unused_counts[0])
  );

  mrc_fifo #(
      .T(ccreq_t),
      .Depth(2)
  ) u_rtxreq (
      .clk_i,
      .rst_ni,
      .valid_i(rtxreq_valid_i),
      .ready_o(rtxreq_ready_o),
      .data_i(rtxreq_i),
      .valid_o(rtxreq_v),
      .ready_i(rtxreq_pop),
      .data_o(rtxreq_head),
      .count_o(unused_counts[1])
  );

  mrc_fifo #(
      .T(ccret_t),
      .Depth(2)
  ) u_ret (
      .clk_i,
      .rst_ni,
      .valid_i(ret_valid_i),
      .ready_o(ret_ready_o),
      .data_i(ret_i),
      .valid_o(ret_v),
      .ready_i(ret_pop),
      .data_o(ret_head),
      .count_o(unused_counts[2])
  );

  // ---- registers

  state_e state_q, state_d;
  logic [4:0] cnt_q, cnt_d;  // cycles spent in this state
  ccev_t e_q;  // the event
  logic [CcW-1:0] cc_q, cc_d;  // its controller, or the one being started
  logic [ProfW-1:0] pidx_q, pidx_d;  // the controller's profile
  logic [31:0] now_q;
  logic [31:0] since_q, since_d;  // how long ago what the next state looks at was
  ctx_t s_q, s_d;
  kept_t kept_q, kept_d;
  logic on;  // of the controller that is asked
  logic [1:0] waits;  // somebody waits: of that one, of cc_q
  logic cfg_ack_q, cfg_ack_d;
  logic md_inc_q, md_inc_d, qa_inc_q, qa_inc_d, hold_inc_q, hold_inc_d;

  // ---- what the cycle does

  logic op_cfg, cfg_profile, cfg_ctx, req_slot, rtxreq_first;
  logic ans_free, rans_free, resume_free;
  logic [CcW-1:0] cfg_cc;
  tbl_cc_ctx_t cfg_row;
  tbl_cc_profile_t cfg_prof;

  assign op_cfg = state_q == StIdle && cfg_i.req && !cfg_ack_q;
  assign cfg_profile = op_cfg && cfg_i.tbl == CfgTableCcProfile;
  assign cfg_ctx = op_cfg && cfg_i.tbl == CfgTableCcCtx;
  assign cfg_cc = cfg_i.index[CcW-1:0];
  assign cfg_row = tbl_cc_ctx_t'(cfg_i.data[31:0]);
  assign cfg_prof = tbl_cc_profile_t'(cfg_i.data);
  assign ev_pop = state_q == StIdle && !op_cfg && ev_v && resume_free;
  assign req_slot = !op_cfg && state_q != StCount && state_q != StStore && state_q != StInit;
  assign rtxreq_first = rtxreq_v && rans_free;
  assign ret_pop = req_slot && ret_v;
  assign rtxreq_pop = req_slot && !ret_v && rtxreq_first;
  assign req_pop = req_slot && !ret_v && !rtxreq_first && req_v && ans_free;

  // In a hurry the round trip of an Ack without mark and penalty is not looked at.
  ccev_t taken;
  always_comb begin
    taken = ev_head;
    if (ev_count >= 5'd8 && ev_head.kind == CcEventAck && !ev_head.ecn && ev_head.pen == 7'd0) begin
      taken.rtt_valid = 1'b0;
    end
  end

  // ---- memories

  logic [CcW-1:0] acc;  // controller that is asked
  ccreq_t requested;
  logic [ProfW-1:0] req_prof, ev_prof;
  logic [13:0] req_mtu;
  logic [2:0] req_shift;
  words_t w, cfg_words;
  ctx_t row;
  logic ctx_we, infl_we, cwin_we, want_we;
  logic [28:0] infl, infl_wdata;
  logic [27:0] cwin, cwin_wdata;
  logic [15:0] want;
  logic [CcW-1:0] infl_addr;

  always_comb begin
    requested = req_head;
    if (rtxreq_first) begin
      requested = '{cc: rtxreq_head.cc, min: rtxreq_head.bytes, bytes: rtxreq_head.bytes};
    end
    if (ret_v) begin
      requested = '{cc: ret_head.cc, min: 16'd0, bytes: ret_head.bytes};
    end
  end

  assign acc = requested.cc[CcW-1:0];
  assign cfg_words = '{
          enable: cfg_prof.enable,
          disable_qa: cfg_prof.disable_qa,
          md_resets_fast: cfg_prof.md_resets_fast,
          nack_any_reason: cfg_prof.nack_any_reason,
          nack_sample_cfg: cfg_prof.nack_sample_cfg,
          nack_rtt: cfg_prof.nack_rtt,
          qa_gate: cfg_prof.qa_gate,
          mtu: cfg_prof.mtu,
          base_rtt: cfg_prof.base_rtt,
          adjust_period: cfg_prof.adjust_period,
          near_zero: cfg_prof.near_zero,
          qa_threshold: cfg_prof.qa_threshold,
          wnd_rate: cfg_prof.wnd_rate,
          max_cwnd: cfg_prof.max_cwnd,
          target: cfg_prof.target,
          adjust_bytes: cfg_prof.adjust_bytes,
          fi_scale: cfg_prof.fi_scale,
          alpha: cfg_prof.alpha,
          ewma_weight: cfg_prof.ewma_weight,
          fi: cfg_prof.fi,
          eta: cfg_prof.eta,
          gamma: cfg_prof.gamma,
          max_md_jump: cfg_prof.max_md_jump
      };
  // Asking pauses in the three states in which the machine needs the flight.
  assign infl_addr = req_slot ? acc : cc_q;

  mrc_ram_1r1w #(
      .Width($bits(ctx_t)),
      .Depth(NumDests)
  ) u_ctx (
      .clk_i,
      .re_i(ev_pop),
      .raddr_i(ev_head.cc[CcW-1:0]),
      .rdata_o(row),
      .we_i(ctx_we),
      .waddr_i(cc_q),
      .wdata_i(s_d)
  );

  mrc_rf_1r1w #(
      .Width(29),
      .Depth(NumDests)
  ) u_infl (
      .clk_i,
      .raddr_i(infl_addr),
      .rdata_o(infl),
      .we_i(infl_we),
      .waddr_i(infl_addr),
      .wdata_i(infl_wdata)
  );

  mrc_rf_1r1w #(
      .Width(28),
      .Depth(NumDests)
  ) u_cwin (
      .clk_i,
      .raddr_i(acc),
      .rdata_o(cwin),
      .we_i(cwin_we),
      .waddr_i(cc_q),
      .wdata_i(cwin_wdata)
  );

  mrc_rf_1r1w #(
      .Width(16),
      .Depth(NumDests)
  ) u_want (
      .clk_i,
      .raddr_i(cc_q),
      .rdata_o(want),
      .we_i(want_we),
      .waddr_i(acc),
      .wdata_i(requested.min)
  );

  mrc_rf_2r1w #(
      .Width(ProfW),
      .Depth(NumDests)
  ) u_prof (
      .clk_i,
      .raddr0_i(acc),
      .rdata0_o(req_prof),
      .raddr1_i(ev_head.cc[CcW-1:0]),
      .rdata1_o(ev_prof),
      .we_i(cfg_ctx),
      .waddr_i(cfg_cc),
      .wdata_i(cfg_row.profile[ProfW-1:0])
  );

  mrc_rf_1r1w #(
      .Width($bits(words_t)),
      .Depth(NumCcProfiles)
  ) u_words (
      .clk_i,
      .raddr_i(pidx_q),
      .rdata_o(w),
      .we_i(cfg_profile),
      .waddr_i(cfg_i.index[ProfW-1:0]),
      .wdata_i(cfg_words)
  );

  // The askers' copy of the two words they need.
  mrc_rf_1r1w #(
      .Width(17),
      .Depth(NumCcProfiles)
  ) u_mtu (
      .clk_i,
      .raddr_i(req_prof),
      .rdata_o({req_shift, req_mtu}),
      .we_i(cfg_profile),
      .waddr_i(cfg_i.index[ProfW-1:0]),
      .wdata_i({cfg_prof.ar_shift, cfg_words.mtu})
  );

  // ---- asking

  logic requesting, req_ok, req_part, refused;
  logic [29:0] req_sum, req_free;
  logic [27:0] req_share;
  ccans_t answer;

  assign requesting = rtxreq_pop || req_pop;

  always_comb begin
    req_sum = '0;
    req_free = '0;
    req_share = '0;
    req_ok = 1'b0;
    req_part = 1'b0;
    answer = '0;
    if (requesting || ret_pop) begin
      req_sum = {infl[28], infl} + ({14'd0, requested.bytes} ^ {30{ret_pop}}) + {29'd0, ret_pop};
      req_free = {2'd0, cwin} - {infl[28], infl};
      req_share = (req_shift == 3'd0) ? 28'd0 : cwin >> req_shift;
      req_ok = !on || !short_of(cwin, infl, requested.min, 28'd0);
      // With req_ok: all that is free, and that is not all that was asked for.
      req_part = req_pop && on && short_of(cwin, infl, requested.bytes, 28'd0);
      answer.cc = requested.cc;
      if (req_ok) begin
        answer.bytes = req_part ? req_free[15:0] : requested.bytes;
      end
      // Less than a packet, or than a share of the window, is left.
      if (req_part) begin
        answer.last = req_ok && (req_mtu != 14'd0 || req_share != 28'd0);
      end else begin
        answer.last = req_pop && on && req_ok
            && (short_of(cwin, infl, requested.bytes, {14'd0, req_mtu})
            || short_of(cwin, infl, requested.bytes, req_share));
      end
    end
  end

  assign refused = requesting && !req_ok;
  assign want_we = req_pop && refused;

  // ---- the multiplier: operands at the end of a state's first cycle, product of its second

  logic mul_state, mul_load, mul_step, last;
  logic [MulAW-1:0] mul_a;
  logic [MulBW-1:0] mul_b;
  logic [MulAW+MulBW-1:0] p;
  logic avg_up;
  logic [39:0] avg_x, avg_diff;
  logic [23:0] gain_gap;

  always_comb begin
    unique case (state_q)
      StInit, StPen, StWnd, StAvg, StFair, StFast, StGain, StGain2, StMdCut, StMdMul:
      mul_state = 1'b1;
      default: mul_state = 1'b0;
    endcase
  end

  assign mul_load = mul_state && cnt_q == 5'd0;
  assign mul_step = mul_state && cnt_q == 5'd1;
  assign last = cnt_q == MulLast;

  assign avg_x = {kept_q.x, 24'd0};
  assign avg_up = avg_x >= s_q.avg;
  assign gain_gap = w.target - {kept_q.delay, 8'd0};
  assign avg_diff = avg_up ? avg_x - s_q.avg : s_q.avg - avg_x;

  logic [43:0] quot;  // ratio is this, still in the divider's register

  mrc_cc_mul #(
      .AWidth(MulAW),
      .BWidth(MulBW),
      .Dsp(MulDsp != 0)
  ) u_mul (
      .clk_i,
      .load_i(mul_load),
      .a_i(mul_a),
      .b_i(mul_b),
      .step_i(mul_step),
      .p_o(p)
  );

  always_comb begin
    mul_a = '0;
    mul_b = '0;
    if (mul_load) begin
      unique case (state_q)
        StInit: begin
          mul_a = MulAW'(w.wnd_rate);
          mul_b = MulBW'(w.base_rtt);
        end
        StPen: begin
          mul_a = MulAW'(e_q.bytes);
          mul_b = MulBW'(e_q.pen);
        end
        StWnd: begin
          mul_a = MulAW'(w.wnd_rate);
          mul_b = MulBW'(s_q.base_rtt);
        end
        StAvg: begin
          mul_a = MulAW'(avg_diff);
          mul_b = MulBW'(w.ewma_weight);
        end
        StFair: begin
          mul_a = MulAW'(w.fi);
          mul_b = MulBW'(e_q.bytes);
        end
        StFast: begin
          mul_a = MulAW'(w.fi_scale);
          mul_b = MulBW'(e_q.bytes);
        end
        StGain: begin
          mul_a = MulAW'(w.alpha);
          mul_b = MulBW'(gain_gap);
        end
        StGain2: begin
          mul_a = kept_q.tmp;
          mul_b = MulBW'(e_q.bytes);
        end
        StMdCut: begin
          mul_a = MulAW'(w.gamma);
          mul_b = MulBW'(quot[27:0]);
        end
        default: begin  // StMdMul
          mul_a = MulAW'(s_q.cwnd);
          mul_b = kept_q.tmp[MulBW-1:0];
        end
      endcase
    end
  end

  // ---- the divider: loaded in the cycle before its state (Choose, Due), then two bits per cycle

  logic div_load, div_step;
  logic [43:0] div_rem, div_low, div_den;
  logic [39:0] avg_over;

  assign div_load = state_q == StChoose || state_q == StDue;
  assign div_step = state_q == StMdDiv || state_q == StAdjDiv;
  assign avg_over = s_q.avg - {w.target, 16'd0};

  always_comb begin
    div_rem = '0;
    div_low = '0;
    div_den = '0;
    if (state_q == StChoose) begin
      div_rem = {4'd0, avg_over};
      div_den = {4'd0, s_q.avg};
    end else if (state_q == StDue) begin
      div_rem = s_q.inc[63:20];
      div_low = {s_q.inc[19:0], 24'd0};
      div_den = s_q.cwnd;
    end
  end

  mrc_cc_div #(
      .Width(44)
  ) u_div (
      .clk_i,
      .load_i(div_load),
      .rem_i(div_rem),
      .low_i(div_low),
      .den_i(div_den),
      .step_i(div_step),
      .quot_o(quot)
  );

  // ---- the machine

  state_e state_rule;
  logic waiting_fits, resume_load;

  // Count: what flies without the event's bytes.
  logic [28:0] flight;
  always_comb begin
    flight = '0;
    if (state_q == StCount) begin
      flight = sat29({infl[28], infl} - {2'd0, e_q.bytes});
    end
  end

  mrc_cc_nscc_rules u_rules (
      .bug_i,
      .tick_i,
      .state_i(state_q),
      .cnt_i(cnt_q),
      .e_i(e_q),
      .w_i(w),
      .row_i(row),
      .flight_i(flight),
      .now_i(now_q),
      .since_i(since_q),
      .avg_up_i(avg_up),
      .p_i(p),
      .quot_i(quot),
      .s_i(s_q),
      .kept_i(kept_q),
      .state_o(state_rule),
      .s_o(s_d),
      .kept_o(kept_d)
  );

  always_comb begin
    state_d = state_rule;
    cc_d = cc_q;
    pidx_d = pidx_q;
    if (cfg_ctx) begin
      cc_d = cfg_cc;
      pidx_d = cfg_row.profile[ProfW-1:0];
      state_d = StInit;
    end else if (ev_pop) begin
      cc_d = ev_head.cc[CcW-1:0];
      pidx_d = ev_prof;
      state_d = StCount;
    end
  end

  // Qa, Choose, Due and Adj find the difference in a register. None of the three times changes in
  // the state before.
  always_comb begin
    since_d = since_q;
    if (state_q != StIdle) begin
      since_d = now_q - ((state_q == StAvg) ? s_q.qa_start
          : (state_q == StQa) ? s_q.last_dec : s_q.last_adjust);
    end
  end

  // ---- writes

  logic init_end;
  assign init_end = state_q == StInit && last;
  assign waiting_fits = state_q == StStore && waits[1]
      && !short_of(s_q.cwnd[43:16], infl, want, 28'd0);
  // Bug 94: nobody is told.
  assign resume_load = waiting_fits && bug_i != BugNoWake;

  assign ctx_we = init_end || state_q == StStore;
  assign cwin_we = ctx_we;
  assign cwin_wdata = init_end ? s_d.cwnd[43:16] : s_q.cwnd[43:16];

  always_comb begin
    infl_we = ret_pop || (requesting && req_ok);
    infl_wdata = req_part ? {1'b0, cwin} : sat29(req_sum);
    if (init_end) begin
      infl_we = 1'b1;
      infl_wdata = '0;
    end else if (state_q == StCount) begin
      infl_we = e_q.kind != CcEventSend;
      infl_wdata = flight;
    end
  end

  mrc_rf_reset #(
      .Width(1),
      .Depth(NumDests)
  ) u_on (
      .clk_i,
      .rst_ni,
      .raddr_i(acc),
      .rdata_o(on),
      .we_i(init_end),
      .waddr_i(cc_q),
      .wdata_i(w.enable)
  );

  mrc_flags #(
      .Width(1),
      .Depth(NumDests),
      .Reads(2)
  ) u_waits (
      .clk_i,
      .rst_ni,
      .raddr_i({cc_q, acc}),
      .flags_o(waits),
      .a_port_i(1'b0),
      .a_set_i(req_pop && !req_ok),
      .a_clear_i(req_pop),
      .b_port_i(1'b1),
      .b_set_i(1'b0),
      .b_clear_i(init_end || waiting_fits)
  );

  assign cnt_d = (state_d == state_q && state_q != StIdle) ? cnt_q + 5'd1 : 5'd0;

  // ---- outputs

  ccresume_t resume_d;
  assign resume_d.cc = e_q.cc;

  mrc_out_reg #(
      .T(ccans_t)
  ) u_ans (
      .clk_i,
      .rst_ni,
      .load_i(req_pop),
      .data_i(answer),
      .free_o(ans_free),
      .valid_o(ans_valid_o),
      .ready_i(ans_ready_i),
      .data_o(ans_o)
  );

  mrc_out_reg #(
      .T(ccans_t)
  ) u_rans (
      .clk_i,
      .rst_ni,
      .load_i(rtxreq_pop),
      .data_i(answer),
      .free_o(rans_free),
      .valid_o(rans_valid_o),
      .ready_i(rans_ready_i),
      .data_o(rans_o)
  );

  mrc_out_reg #(
      .T(ccresume_t)
  ) u_resume (
      .clk_i,
      .rst_ni,
      .load_i(resume_load),
      .data_i(resume_d),
      .free_o(resume_free),
      .valid_o(resume_valid_o),
      .ready_i(resume_ready_i),
      .data_o(resume_o)
  );

  assign md_inc_d = state_q == StStore && kept_q.md;
  assign qa_inc_d = state_q == StStore && kept_q.qa;
  assign hold_inc_d = refused;
  assign pulses_o = '{md: md_inc_q, qa: qa_inc_q, hold: hold_inc_q};
  // A CC_CTX write ends with Init; everything else is done in its one cycle.
  assign cfg_ack_d = cfg_i.req
      && (cfg_ack_q || (op_cfg && !cfg_ctx) || init_end);
  assign cfg_ack_o = cfg_ack_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      cnt_q <= 5'd0;
      cfg_ack_q <= 1'b0;
      md_inc_q <= 1'b0;
      qa_inc_q <= 1'b0;
      hold_inc_q <= 1'b0;
    end else begin
      state_q <= state_d;
      cnt_q <= cnt_d;
      cfg_ack_q <= cfg_ack_d;
      md_inc_q <= md_inc_d;
      qa_inc_q <= qa_inc_d;
      hold_inc_q <= hold_inc_d;
    end
  end

  always_ff @(posedge clk_i) begin
    cc_q <= cc_d;
    pidx_q <= pidx_d;
    s_q <= s_d;
    kept_q <= kept_d;
    since_q <= since_d;
    if (ev_pop) begin
      e_q <= taken;
      now_q <= tick_i;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, waits[0], unused_counts, cfg_i.index, cfg_row.rsvd8,
                       cfg_prof.rsvd505, cfg_prof.rsvd473, cfg_prof.rsvd420, cfg_prof.rsvd356,
                       cfg_prof.rsvd220, cfg_prof.rsvd184, cfg_prof.rsvd156, cfg_prof.rsvd30,
                       cfg_prof.rsvd6, req_free[29:16], rtxreq_head.min};

  // ---- what always holds

  `MRC_POPS_A_WORD(Ev, ev_pop, ev_v)
  `MRC_POPS_A_WORD(Rtxreq, rtxreq_pop, rtxreq_v)
  `MRC_POPS_A_WORD(Req, req_pop, req_v)
  `MRC_ONE_HOT0(OneRequest, {ret_pop, rtxreq_pop, req_pop},
      "two who ask are served in one cycle")
  `MRC_ASSERT(StateInRange, state_q <= StStore,
      "no such state")
  `MRC_ASSERT_IF(CfgWhenIdle, op_cfg, state_q == StIdle,
      "a table is written in the middle of an event")
  `MRC_ASSERT(MulOrDone, !(mul_load && mul_step),
      "the multiplier is loaded and steps")
  `MRC_ASSERT(FewCycles, cnt_q < 5'd31,
      "a state lasts too long")

endmodule
