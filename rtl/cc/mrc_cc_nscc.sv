// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Network-signal congestion control: one window per destination, shared by the QPs that go there.
/// Answers one ask per cycle (how many bytes may go?) in the cycle after it came to the head, or
/// takes back what was granted and not used, except while an event is counted or stored or a table
/// written; works off one event at a time, in 3 to 59 cycles. It paces nothing and keeps no
/// packets: a refused asker asks again after the wake. Contract: docs/blocks/cc/cc_nscc.md.
module mrc_cc_nscc
  import mrc_pkg::*;
#(
    parameter int unsigned NumDests = 4,
    parameter int unsigned NumCcProfiles = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,

    input logic ev_valid_i,
    output logic ev_ready_o,
    input ccev_t ev_i,
    input logic ask_valid_i,
    output logic ask_ready_o,
    input ccask_t ask_i,
    input logic rask_valid_i,
    output logic rask_ready_o,
    input ccask_t rask_i,
    input logic ret_valid_i,
    output logic ret_ready_o,
    input ccret_t ret_i,

    output logic ans_valid_o,
    input logic ans_ready_i,
    output ccans_t ans_o,
    output logic rans_valid_o,
    input logic rans_ready_i,
    output ccans_t rans_o,
    output logic wake_valid_o,
    input logic wake_ready_i,
    output ccwake_t wake_o,

    input logic [31:0] tick_i,
    output logic md_inc_o,
    output logic qa_inc_o,
    output logic hold_inc_o,

    input logic cfg_req_i,
    input logic [3:0] cfg_table_i,
    input logic [15:0] cfg_index_i,
    input logic [511:0] cfg_data_i,
    output logic cfg_ack_o
);

  localparam int unsigned CcW = $clog2(NumDests);
  localparam int unsigned ProfW = $clog2(NumCcProfiles);
  localparam int unsigned MulAW = 54;
  localparam int unsigned MulBW = 29;

  // Cycles of a state, minus one.
  localparam logic [4:0] MulLast = 5'd2;
  localparam logic [4:0] MdDivLast = 5'd13;
  localparam logic [4:0] AdjDivLast = 5'd21;

  if (NumDests < 2 || NumDests > 65536 || (NumDests & (NumDests - 1)) != 0)
  begin : gen_bad_num_dests
    $error("%m: NumDests = %0d, must be a power of two, 2 to 65536", NumDests);
  end
  if (NumCcProfiles < 2 || NumCcProfiles > 256 || (NumCcProfiles & (NumCcProfiles - 1)) != 0)
  begin : gen_bad_num_profiles
    $error("%m: NumCcProfiles = %0d, must be a power of two, 2 to 256", NumCcProfiles);
  end

  typedef enum logic [4:0] {
    StIdle,
    StInit,
    StCount,
    StPen,
    StRtt,
    StWnd,
    StAvg,
    StQa,
    StChoose,
    StFair,
    StFast,
    StGain,
    StGain2,
    StMdDiv,
    StMdCut,
    StMdMul,
    StDue,
    StAdjDiv,
    StAdj,
    StStore
  } state_e;

  localparam logic [1:0] KindAck = 2'd0;
  localparam logic [1:0] KindNack = 2'd1;
  localparam logic [1:0] KindNone = 2'd3;

  localparam logic [3:0] ModeStart = 4'd1;
  localparam logic [3:0] ModeHold = 4'd2;
  localparam logic [3:0] ModeLimited = 4'd3;
  localparam logic [3:0] ModeFair = 4'd4;
  localparam logic [3:0] ModeProportional = 4'd5;
  localparam logic [3:0] ModeFast = 4'd6;
  localparam logic [3:0] ModeDecrease = 4'd7;
  localparam logic [3:0] ModeIgnore = 4'd8;
  localparam logic [3:0] ModeQuickAdapt = 4'd9;
  localparam logic [3:0] ModeLoss = 4'd10;

  // The words of a CC_PROFILE row, its reserved bits left out.
  typedef struct packed {
    logic enable;
    logic disable_qa;
    logic md_resets_fast;
    logic nack_any_reason;
    logic nack_sample_cfg;
    logic nack_rtt;
    logic [4:0] qa_gate;
    logic [13:0] mtu;  // bytes
    logic [15:0] base_rtt;  // ticks
    logic [15:0] adjust_period;  // ticks
    logic [15:0] near_zero;  // ticks
    logic [15:0] qa_threshold;  // ticks
    logic [31:0] wnd_rate;  // UQ16.16 bytes/tick
    logic [27:0] max_cwnd;  // bytes
    logic [23:0] target;  // UQ16.8 ticks
    logic [27:0] adjust_bytes;
    logic [31:0] fi_scale;  // UQ8.24
    logic [35:0] alpha;  // UQ18.18 bytes/tick
    logic [27:0] ewma_weight;  // UQ0.28
    logic [35:0] fi;  // UQ24.12 bytes
    logic [35:0] eta;  // UQ20.16 bytes
    logic [24:0] gamma;  // UQ1.24
    logic [24:0] max_md_jump;  // UQ1.24
  } words_t;

  // A row of ctx.
  typedef struct packed {
    logic [43:0] cwnd;  // UQ28.16 bytes
    logic [43:0] saved_cwnd;
    logic saved;
    logic [43:0] max_wnd;
    logic [63:0] inc;  // UQ56.8 bytes^2
    logic [39:0] avg;  // UQ16.24 ticks
    logic [27:0] received;  // bytes
    logic [27:0] achieved;
    logic [27:0] ignored;
    logic [27:0] to_ignore;
    logic [27:0] fi_count;
    logic increasing;
    logic trigger;
    logic qa_armed;
    logic [15:0] base_rtt;  // ticks
    logic [31:0] last_adjust;
    logic [31:0] last_dec;
    logic [31:0] qa_start;
    logic [16:0] qa_len;
    logic [3:0] mode;
  } ctx_t;

  function automatic logic [27:0] sat28(logic [27:0] a, logic [27:0] b);
    logic [28:0] sum;
    sum = {1'b0, a} + {1'b0, b};
    return sum[28] ? 28'hfff_ffff : sum[27:0];
  endfunction

  function automatic logic [28:0] sat29(logic [29:0] v);
    if (v[29] != v[28]) begin
      return v[29] ? 29'h1000_0000 : 29'h0fff_ffff;
    end
    return v[28:0];
  endfunction

  // Window c less b bytes, not below one packet.
  function automatic logic [43:0] cut(logic [43:0] c, logic [27:0] b, logic [13:0] mtu);
    logic [43:0] floor;
    logic [44:0] diff;
    floor = {14'd0, mtu, 16'd0};
    diff = {1'b0, c} - {1'b0, b, 16'd0};
    return (diff[44] || diff[43:0] < floor) ? floor : diff[43:0];
  endfunction

  // The product base_rtt x wnd_rate between one packet and max_cwnd.
  function automatic logic [43:0] clamp_wnd(logic [47:0] product, logic [13:0] mtu,
                                            logic [27:0] max_cwnd);
    logic [47:0] v;
    v = (product < {18'd0, mtu, 16'd0}) ? {18'd0, mtu, 16'd0} : product;
    return (v > {4'd0, max_cwnd, 16'd0}) ? {max_cwnd, 16'd0} : v[43:0];
  endfunction

  function automatic logic [63:0] add_inc(logic [63:0] inc, logic [70:0] b);
    logic [71:0] sum;
    sum = {8'd0, inc} + {1'b0, b};
    return (sum[71:64] != 8'd0) ? 64'hffff_ffff_ffff_ffff : sum[63:0];
  endfunction

  // a < infl + b + c: one carry-save step per operand, then a single adder, of which only the sign
  // counts.
  function automatic logic short_of(logic [27:0] a, logic [28:0] infl, logic [15:0] b,
                                    logic [27:0] c);
    logic [30:0] x, y, z, s1, k1, s2, k2, sum;
    x = {3'd0, a};
    y = ~{{2{infl[28]}}, infl};
    z = ~{15'd0, b};
    s1 = x ^ y ^ z;
    k1 = (((x & y) | (x & z) | (y & z)) << 1) | 31'd1;
    z = ~{3'd0, c};
    s2 = s1 ^ k1 ^ z;
    k2 = (((s1 & k1) | (s1 & z) | (k1 & z)) << 1) | 31'd1;
    sum = s2 + k2 + 31'd1;
    return sum >= 31'h4000_0000;
  endfunction

  // ---- inputs

  logic ev_v, ev_pop, ask_v, ask_pop, rask_v, rask_pop, ret_v, ret_pop;
  ccev_t ev_head;
  ccask_t ask_head, rask_head;
  ccret_t ret_head;
  logic [4:0] unused_ev_count;
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
      .count_o(unused_ev_count)
  );

  mrc_fifo #(
      .T(ccask_t),
      .Depth(2)
  ) u_ask (
      .clk_i,
      .rst_ni,
      .valid_i(ask_valid_i),
      .ready_o(ask_ready_o),
      .data_i(ask_i),
      .valid_o(ask_v),
      .ready_i(ask_pop),
      .data_o(ask_head),
      .count_o(unused_counts[0])
  );

  mrc_fifo #(
      .T(ccask_t),
      .Depth(2)
  ) u_rask (
      .clk_i,
      .rst_ni,
      .valid_i(rask_valid_i),
      .ready_o(rask_ready_o),
      .data_i(rask_i),
      .valid_o(rask_v),
      .ready_i(rask_pop),
      .data_o(rask_head),
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
  logic [27:0] fly_q, fly_d;
  logic [15:0] x_q, x_d, delay_q, delay_d;
  logic limited_q, limited_d, congestion_q, congestion_d;
  logic md_q, md_d, qa_q, qa_d;  // this event had a decrease, a quick adapt
  logic [MulAW-1:0] tmp_q, tmp_d;  // g between Gain and Gain2, f between MdCut and MdMul
  logic [NumDests-1:0] on_q, on_d, wait_q, wait_d;
  logic cfg_ack_q, cfg_ack_d;
  logic md_inc_q, md_inc_d, qa_inc_q, qa_inc_d, hold_inc_q, hold_inc_d;

  // ---- what the cycle does

  logic op_cfg, cfg_profile, cfg_ctx, ask_slot, rask_first;
  logic ans_free, rans_free, wake_free;
  logic [CcW-1:0] cfg_cc;
  tbl_cc_ctx_t cfg_row;
  tbl_cc_profile_t cfg_prof;

  assign op_cfg = state_q == StIdle && cfg_req_i && !cfg_ack_q;
  assign cfg_profile = op_cfg && cfg_table_i == CfgTableCcProfile;
  assign cfg_ctx = op_cfg && cfg_table_i == CfgTableCcCtx;
  assign cfg_cc = cfg_index_i[CcW-1:0];
  assign cfg_row = tbl_cc_ctx_t'(cfg_data_i[31:0]);
  assign cfg_prof = tbl_cc_profile_t'(cfg_data_i);
  assign ev_pop = state_q == StIdle && !op_cfg && ev_v && wake_free;
  assign ask_slot = !op_cfg && state_q != StCount && state_q != StStore && state_q != StInit;
  assign rask_first = rask_v && rans_free;
  assign ret_pop = ask_slot && ret_v;
  assign rask_pop = ask_slot && !ret_v && rask_first;
  assign ask_pop = ask_slot && !ret_v && !rask_first && ask_v && ans_free;

  // ---- memories

  logic [CcW-1:0] acc;  // controller that is asked
  ccask_t asked;
  logic [ProfW-1:0] ask_prof, ev_prof;
  logic [13:0] ask_mtu;
  logic [2:0] ask_shift;
  words_t w, cfg_words;
  ctx_t row;
  logic ctx_we, infl_we, cwin_we, want_we;
  logic [28:0] infl, infl_wdata;
  logic [27:0] cwin, cwin_wdata;
  logic [15:0] want;
  logic [CcW-1:0] infl_addr;

  always_comb begin
    asked = ask_head;
    if (rask_first) begin
      asked = '{cc: rask_head.cc, min: rask_head.bytes, bytes: rask_head.bytes};
    end
    if (ret_v) begin
      asked = '{cc: ret_head.cc, min: 16'd0, bytes: ret_head.bytes};
    end
  end

  assign acc = asked.cc[CcW-1:0];
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
  assign infl_addr = ask_slot ? acc : cc_q;

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
      .wdata_i(asked.min)
  );

  mrc_rf_2r1w #(
      .Width(ProfW),
      .Depth(NumDests)
  ) u_prof (
      .clk_i,
      .raddr0_i(acc),
      .rdata0_o(ask_prof),
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
      .waddr_i(cfg_index_i[ProfW-1:0]),
      .wdata_i(cfg_words)
  );

  // The askers' copy of the two words they need.
  mrc_rf_1r1w #(
      .Width(17),
      .Depth(NumCcProfiles)
  ) u_mtu (
      .clk_i,
      .raddr_i(ask_prof),
      .rdata_o({ask_shift, ask_mtu}),
      .we_i(cfg_profile),
      .waddr_i(cfg_index_i[ProfW-1:0]),
      .wdata_i({cfg_prof.ar_shift, cfg_words.mtu})
  );

  // ---- asking

  logic asking, ask_ok, ask_part, refused;
  logic [29:0] ask_sum, ask_free;
  logic [27:0] ask_share;
  ccans_t answer;

  assign asking = rask_pop || ask_pop;

  always_comb begin
    ask_sum = '0;
    ask_free = '0;
    ask_share = '0;
    ask_ok = 1'b0;
    ask_part = 1'b0;
    answer = '0;
    if (asking || ret_pop) begin
      ask_sum = {infl[28], infl} + ({14'd0, asked.bytes} ^ {30{ret_pop}}) + {29'd0, ret_pop};
      ask_free = {2'd0, cwin} - {infl[28], infl};
      ask_share = (ask_shift == 3'd0) ? 28'd0 : cwin >> ask_shift;
      ask_ok = !on_q[acc] || !short_of(cwin, infl, asked.min, 28'd0);
      // With ask_ok: all that is free, and that is not all that was asked for.
      ask_part = ask_pop && on_q[acc] && short_of(cwin, infl, asked.bytes, 28'd0);
      answer.cc = asked.cc;
      if (ask_ok) begin
        answer.bytes = ask_part ? ask_free[15:0] : asked.bytes;
      end
      // Less than a packet, or than a share of the window, is left.
      if (ask_part) begin
        answer.last = ask_ok && (ask_mtu != 14'd0 || ask_share != 28'd0);
      end else begin
        answer.last = ask_pop && on_q[acc] && ask_ok
            && (short_of(cwin, infl, asked.bytes, {14'd0, ask_mtu})
            || short_of(cwin, infl, asked.bytes, ask_share));
      end
    end
  end

  assign refused = asking && !ask_ok;
  assign want_we = ask_pop && refused;

  // ---- the multiplier: operands at the end of a state's first cycle, product of its second

  logic mul_state, mul_load, mul_step, last;
  logic [MulAW-1:0] mul_a;
  logic [MulBW-1:0] mul_b;
  logic [MulAW+MulBW-1:0] p;
  logic avg_up;
  logic [39:0] avg_x, avg_diff;
  logic [23:0] gain_gap;
  logic [43:0] p_wnd;

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

  assign avg_x = {x_q, 24'd0};
  assign avg_up = avg_x >= s_q.avg;
  assign gain_gap = w.target - {delay_q, 8'd0};
  assign avg_diff = avg_up ? avg_x - s_q.avg : s_q.avg - avg_x;

  logic [43:0] quot;  // ratio is this, still in the divider's register

  mrc_cc_mul #(
      .AWidth(MulAW),
      .BWidth(MulBW)
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
          mul_a = tmp_q;
          mul_b = MulBW'(e_q.bytes);
        end
        StMdCut: begin
          mul_a = MulAW'(w.gamma);
          mul_b = MulBW'(quot[27:0]);
        end
        default: begin  // StMdMul
          mul_a = MulAW'(s_q.cwnd);
          mul_b = tmp_q[MulBW-1:0];
        end
      endcase
    end
  end

  assign p_wnd = clamp_wnd(p[47:0], w.mtu, w.max_cwnd);

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

  logic [29:0] flight;
  logic [28:0] flight_sat;
  logic [15:0] r;
  logic fell, congestion;
  logic [17:0] target_up;
  logic quick, quiet;
  logic late;
  logic [27:0] fi_sum;
  logic fi_full;  // more than the window
  logic [28:0] md_cut, md_f, md_jump;
  logic [43:0] pen_cwnd;
  logic [44:0] md_cwnd;
  logic [52:0] fast_cwnd;
  logic [45:0] adj_cwnd;
  logic adj_time, waiting_fits, wake_load;

  always_comb begin
    state_d = state_q;
    cc_d = cc_q;
    pidx_d = pidx_q;
    s_d = s_q;
    fly_d = fly_q;
    x_d = x_q;
    delay_d = delay_q;
    limited_d = limited_q;
    congestion_d = congestion_q;
    md_d = md_q;
    qa_d = qa_q;
    tmp_d = tmp_q;
    since_d = since_q;
    ctx_we = 1'b0;
    cwin_we = 1'b0;
    cwin_wdata = s_q.cwnd[43:16];
    infl_we = ret_pop || (asking && ask_ok);
    infl_wdata = ask_part ? {1'b0, cwin} : sat29(ask_sum);
    wait_d = wait_q;
    on_d = on_q;
    wake_load = 1'b0;
    flight = '0;
    flight_sat = '0;
    r = '0;
    fell = 1'b0;
    congestion = 1'b0;
    target_up = '0;
    quick = 1'b0;
    quiet = 1'b0;
    late = 1'b0;
    fi_sum = '0;
    fi_full = 1'b0;
    md_cut = '0;
    md_f = '0;
    md_jump = '0;
    pen_cwnd = '0;
    md_cwnd = '0;
    fast_cwnd = '0;
    adj_cwnd = '0;
    adj_time = 1'b0;
    waiting_fits = 1'b0;

    if (ask_pop) begin
      wait_d[acc] = !ask_ok;
    end

    // Qa, Choose, Due and Adj find the difference in a register. None of the three times changes in
    // the state before.
    if (state_q != StIdle) begin
      since_d = now_q - ((state_q == StAvg) ? s_q.qa_start
          : (state_q == StQa) ? s_q.last_dec : s_q.last_adjust);
    end

    unique case (state_q)
      StIdle: begin
        limited_d = 1'b0;
        md_d = 1'b0;
        qa_d = 1'b0;
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

      StInit: begin
        if (last) begin
          s_d = '0;
          s_d.cwnd = p_wnd;
          s_d.max_wnd = p_wnd;
          s_d.base_rtt = w.base_rtt;
          s_d.last_adjust = tick_i;
          s_d.last_dec = tick_i;
          s_d.mode = ModeStart;
          ctx_we = 1'b1;
          cwin_we = 1'b1;
          cwin_wdata = p_wnd[43:16];
          infl_we = 1'b1;
          infl_wdata = '0;
          on_d[cc_q] = w.enable;
          wait_d[cc_q] = 1'b0;
          state_d = StIdle;
        end
      end

      StCount: begin
        s_d = row;
        flight = {infl[28], infl} - {2'd0, e_q.bytes};
        flight_sat = sat29(flight);
        infl_we = e_q.kind != KindNone;
        infl_wdata = flight_sat;
        fly_d = flight_sat[28] ? 28'd0 : flight_sat[27:0];
        if (e_q.kind == KindNone || !w.enable) begin
          state_d = StIdle;
        end else if (e_q.kind == KindAck) begin
          s_d.ignored = sat28(row.ignored, e_q.bytes);
          s_d.received = sat28(row.received, e_q.bytes);
          s_d.achieved = sat28(row.achieved, e_q.bytes);
          if (e_q.pen != 7'd0) begin
            state_d = StPen;
          end else begin
            if (e_q.restore && row.saved) begin
              s_d.cwnd = row.saved_cwnd;
              s_d.saved = 1'b0;
              s_d.mode = ModeHold;
            end
            state_d = e_q.rtt_valid ? StRtt : StStore;
          end
        end else if (e_q.kind == KindNack) begin
          state_d = StRtt;
        end else begin
          s_d.cwnd = cut(row.cwnd, e_q.bytes, w.mtu);
          s_d.ignored = sat28(row.ignored, e_q.bytes);
          s_d.mode = ModeLoss;
          state_d = StStore;
        end
      end

      StPen: begin
        if (last) begin
          limited_d = 1'b1;
          s_d.mode = ModeLimited;
          // Bug 91: the penalty saves cwnd each time.
          if (!s_q.saved || bug_i == BugPenaltySavesAgain) begin
            s_d.saved_cwnd = s_q.cwnd;
            s_d.saved = 1'b1;
          end
          pen_cwnd = (s_q.cwnd < {fly_q, 16'd0}) ? s_q.cwnd : {fly_q, 16'd0};
          s_d.cwnd = cut(pen_cwnd, p[34:7], w.mtu);
          state_d = e_q.rtt_valid ? StRtt : StStore;
        end
      end

      StRtt: begin
        r = (e_q.rtt == 16'd0) ? 16'd1 : e_q.rtt;
        fell = e_q.rtt_valid && (e_q.kind == KindAck || w.nack_rtt) && r < s_q.base_rtt;
        if (fell) begin
          s_d.base_rtt = r;
        end
        if (e_q.kind == KindAck) begin
          x_d = r - s_d.base_rtt;
          delay_d = x_d;
        end else begin
          x_d = w.nack_sample_cfg ? w.base_rtt : s_d.base_rtt;
          delay_d = 16'd0;
        end
        // Reason 0 is no NACK: bytes that are given back.
        congestion = e_q.kind == KindAck || e_q.reason == 8'h01 || e_q.reason == 8'h02
            || (w.nack_any_reason && e_q.reason != 8'd0);
        congestion_d = congestion;
        if (fell) begin
          state_d = StWnd;
        end else begin
          state_d = congestion ? StAvg : StStore;
        end
      end

      StWnd: begin
        if (last) begin
          s_d.max_wnd = p_wnd;
          state_d = congestion_q ? StAvg : StStore;
        end
      end

      StAvg: begin
        if (last) begin
          // Nearest, halves up, of the signed product: a half moves a falling average less.
          if (avg_up) begin
            s_d.avg = s_q.avg + p[67:28] + 40'(p[27]);
          end else begin
            s_d.avg = s_q.avg - (p[67:28] + 40'(p[27] && p[26:0] != 27'd0));
          end
          if (e_q.kind == KindNack) begin
            s_d.ignored = sat28(s_q.ignored, e_q.bytes);
            s_d.trigger = 1'b1;
          end
          state_d = StQa;
        end
      end

      StQa: begin
        if (!w.disable_qa) begin
          if (s_q.ignored < s_q.to_ignore && (e_q.ecn || e_q.kind == KindNack)) begin
            quiet = 1'b1;
            s_d.mode = ModeIgnore;
          end else if (!s_q.qa_armed || since_q >= {15'd0, s_q.qa_len}) begin
            quick = s_q.qa_armed
                && (s_q.trigger || e_q.kind == KindNack || delay_q > w.qa_threshold)
                && {s_q.achieved, 16'd0} < (s_q.max_wnd >> w.qa_gate);
            if (quick) begin
              s_d.cwnd = {(s_q.achieved < {14'd0, w.mtu}) ? {14'd0, w.mtu} : s_q.achieved, 16'd0};
              // Bug 93: the flight before the event.
              s_d.to_ignore = (bug_i == BugIgnoreOneMore) ? sat28(fly_q, e_q.bytes) : fly_q;
              s_d.ignored = 28'd0;
              s_d.trigger = 1'b0;
              s_d.mode = ModeQuickAdapt;
              qa_d = 1'b1;
            end
            s_d.achieved = 28'd0;
            s_d.qa_armed = 1'b1;
            s_d.qa_start = now_q;
            target_up = 18'(({1'b0, w.target} + 25'd255) >> 8);
            s_d.qa_len = 17'({2'd0, s_q.base_rtt} + target_up);
          end
        end
        if (quick || quiet) begin
          s_d.inc = 64'd0;
          s_d.received = 28'd0;
          state_d = StStore;
        end else if (e_q.kind == KindNack) begin
          s_d.cwnd = cut(s_q.cwnd, e_q.bytes, w.mtu);
          s_d.mode = ModeLoss;
          state_d = StStore;
        end else begin
          state_d = StChoose;
        end
      end

      StChoose: begin
        late = {delay_q, 8'd0} >= w.target;
        s_d.mode = limited_q ? ModeLimited : ModeHold;
        state_d = StDue;
        if (!e_q.ecn && !limited_q) begin
          if (late) begin
            s_d.mode = ModeFair;
            state_d = StFair;
          end else begin
            s_d.increasing = 1'b0;
            s_d.mode = ModeProportional;
            state_d = StGain;
            if (delay_q < w.near_zero) begin
              fi_sum = sat28(s_q.fi_count, e_q.bytes);
              // fi_sum > cwnd in whole bytes, without waiting for the sum, which stops at all ones.
              fi_full = s_q.cwnd[43:16] != 28'hfff_ffff
                  && short_of(s_q.cwnd[43:16], {1'b0, s_q.fi_count}, 16'd0, e_q.bytes);
              s_d.fi_count = fi_sum;
              if (s_q.increasing || fi_full) begin
                s_d.increasing = 1'b1;
                s_d.mode = ModeFast;
                state_d = StFast;
              end
            end else begin
              s_d.fi_count = 28'd0;
            end
          end
        end else if (e_q.ecn && late) begin
          if (w.md_resets_fast) begin
            s_d.increasing = 1'b0;
            s_d.fi_count = 28'd0;
          end
          // Bug 92: after half a base_rtt already.
          if ((since_q > {16'd0, s_q.base_rtt}
                  || (bug_i == BugDecreaseTooSoon && since_q >= {17'd0, s_q.base_rtt[15:1]}))
              && s_q.avg > {w.target, 16'd0}) begin
            s_d.mode = ModeDecrease;
            md_d = 1'b1;
            state_d = StMdDiv;
          end
        end
      end

      StFair: begin
        if (last) begin
          s_d.inc = add_inc(s_q.inc, 71'(p[63:4]) + 71'(p[3]));
          state_d = StDue;
        end
      end

      StFast: begin
        if (last) begin
          fast_cwnd = 53'(s_q.cwnd) + 53'(p[59:8]) + 53'(p[7]);
          s_d.cwnd = (fast_cwnd < 53'(s_q.max_wnd)) ? fast_cwnd[43:0] : s_q.max_wnd;
          state_d = StDue;
        end
      end

      StGain: begin
        if (last) begin
          tmp_d = p[59:6] + 54'(p[5]);
          state_d = StGain2;
        end
      end

      StGain2: begin
        if (last) begin
          // Bug 90: shifted by a bit too few.
          s_d.inc = add_inc(
              s_q.inc, (bug_i == BugGainDoubled) ? p[81:11] : 71'(p[81:12]) + 71'(p[11]));
          state_d = StDue;
        end
      end

      StMdDiv: begin
        if (cnt_q == MdDivLast) begin
          state_d = StMdCut;
        end
      end

      StMdCut: begin
        if (last) begin
          md_cut = p[52:24] + 29'(p[23]);
          md_f = (md_cut > 29'h1000_0000) ? 29'd0 : 29'h1000_0000 - md_cut;
          md_jump = {w.max_md_jump, 4'd0};
          tmp_d = (md_f < md_jump) ? MulAW'(md_jump) : MulAW'(md_f);
          state_d = StMdMul;
        end
      end

      StMdMul: begin
        if (last) begin
          md_cwnd = p[72:28] + 45'(p[27]);
          s_d.cwnd = (md_cwnd < {15'd0, w.mtu, 16'd0}) ? {14'd0, w.mtu, 16'd0} : md_cwnd[43:0];
          s_d.last_dec = now_q;
          state_d = StDue;
        end
      end

      StDue: begin
        adj_time = since_q >= {16'd0, w.adjust_period};
        state_d = (adj_time || s_q.received > w.adjust_bytes) ? StAdjDiv : StStore;
      end

      StAdjDiv: begin
        if (cnt_q == AdjDivLast) begin
          state_d = StAdj;
        end
      end

      StAdj: begin
        adj_time = since_q >= {16'd0, w.adjust_period};
        adj_cwnd = 46'(s_q.cwnd) + 46'(quot);
        if (adj_time) begin
          adj_cwnd = adj_cwnd + 46'(w.eta);
          s_d.last_adjust = now_q;
        end
        s_d.cwnd = (adj_cwnd < 46'(s_q.max_wnd)) ? adj_cwnd[43:0] : s_q.max_wnd;
        s_d.inc = 64'd0;
        s_d.received = 28'd0;
        state_d = StStore;
      end

      default: begin  // StStore
        ctx_we = 1'b1;
        cwin_we = 1'b1;
        waiting_fits = wait_q[cc_q] && !short_of(s_q.cwnd[43:16], infl, want, 28'd0);
        if (waiting_fits) begin
          wait_d[cc_q] = 1'b0;
          // Bug 94: nobody is told.
          wake_load = bug_i != BugNoWake;
        end
        state_d = StIdle;
      end
    endcase
  end

  assign cnt_d = (state_d == state_q && state_q != StIdle) ? cnt_q + 5'd1 : 5'd0;

  // ---- outputs

  ccwake_t wake_d;
  assign wake_d.cc = e_q.cc;

  mrc_out_reg #(
      .T(ccans_t)
  ) u_ans (
      .clk_i,
      .rst_ni,
      .load_i(ask_pop),
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
      .load_i(rask_pop),
      .data_i(answer),
      .free_o(rans_free),
      .valid_o(rans_valid_o),
      .ready_i(rans_ready_i),
      .data_o(rans_o)
  );

  mrc_out_reg #(
      .T(ccwake_t)
  ) u_wake (
      .clk_i,
      .rst_ni,
      .load_i(wake_load),
      .data_i(wake_d),
      .free_o(wake_free),
      .valid_o(wake_valid_o),
      .ready_i(wake_ready_i),
      .data_o(wake_o)
  );

  assign md_inc_d = state_q == StStore && md_q;
  assign qa_inc_d = state_q == StStore && qa_q;
  assign hold_inc_d = refused;
  assign md_inc_o = md_inc_q;
  assign qa_inc_o = qa_inc_q;
  assign hold_inc_o = hold_inc_q;
  // A CC_CTX write ends with Init; everything else is done in its one cycle.
  assign cfg_ack_d = cfg_req_i
      && (cfg_ack_q || (op_cfg && !cfg_ctx) || (state_q == StInit && last));
  assign cfg_ack_o = cfg_ack_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      cnt_q <= 5'd0;
      on_q <= '0;
      wait_q <= '0;
      cfg_ack_q <= 1'b0;
      md_inc_q <= 1'b0;
      qa_inc_q <= 1'b0;
      hold_inc_q <= 1'b0;
    end else begin
      state_q <= state_d;
      cnt_q <= cnt_d;
      on_q <= on_d;
      wait_q <= wait_d;
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
    fly_q <= fly_d;
    x_q <= x_d;
    delay_q <= delay_d;
    limited_q <= limited_d;
    congestion_q <= congestion_d;
    md_q <= md_d;
    qa_q <= qa_d;
    tmp_q <= tmp_d;
    since_q <= since_d;
    if (ev_pop) begin
      e_q <= ev_head;
      now_q <= tick_i;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, unused_ev_count, unused_counts, cfg_index_i, cfg_row, cfg_prof, p,
                       ask_free[29:16], rask_head};

  // ---- what always holds

  `MRC_POPS_A_WORD(Ev, ev_pop, ev_v)
  `MRC_POPS_A_WORD(Rask, rask_pop, rask_v)
  `MRC_POPS_A_WORD(Ask, ask_pop, ask_v)
  `MRC_ONE_HOT0(OneAsks, {ret_pop, rask_pop, ask_pop},
      "two who ask are served in one cycle")
  `MRC_ASSERT(StateInRange, state_q <= StStore,
      "no such state")
  `MRC_ASSERT(CfgWhenIdle, !op_cfg || state_q == StIdle,
      "a table is written in the middle of an event")
  `MRC_ASSERT(MulOrDone, !(mul_load && mul_step),
      "the multiplier is loaded and steps")
  `MRC_ASSERT(FewCycles, cnt_q < 5'd31,
      "a state lasts too long")

endmodule
