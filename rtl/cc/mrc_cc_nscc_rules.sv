// SPDX-License-Identifier: Apache-2.0

/// What one event makes of a controller, state by state (docs/design/blocks/cc/cc_nscc.md, from
/// Count to Adj, and Init): the next state, the controller's row, what is kept until the next
/// state. Combinational. It has no memory, neither multiplies nor divides, and knows nothing of
/// asking.
module mrc_cc_nscc_rules
  import mrc_pkg::*;
  import mrc_cc_nscc_pkg::*;
(
    input logic [7:0] bug_i,
    input logic [31:0] tick_i,

    input state_e state_i,
    input logic [4:0] cnt_i,  // cycles spent in this state
    input ccev_t e_i,
    input words_t w_i,
    input ctx_t row_i,  // Count: as it was stored
    input logic [28:0] flight_i,  // Count: without the event's bytes
    input logic [31:0] now_i,
    input logic [31:0] since_i,  // how long ago what this state looks at was
    input logic avg_up_i,  // Avg: the average rises
    input logic [MulAW+MulBW-1:0] p_i,  // the product, in a state's last cycle
    input logic [43:0] quot_i,
    input ctx_t s_i,
    input kept_t kept_i,

    output state_e state_o,
    output ctx_t s_o,
    output kept_t kept_o
);

  logic last;
  logic [43:0] p_wnd, least;
  assign last = cnt_i == MulLast;
  assign p_wnd = clamp_wnd(p_i[47:0], w_i.mtu, w_i.max_cwnd);
  assign least = {14'd0, w_i.mtu, 16'd0};  // a window of one packet

  // ---- what the states find

  // Rtt
  logic [15:0] r, base;
  logic fell, congestion;
  always_comb begin
    r = '0;
    fell = 1'b0;
    base = s_i.base_rtt;
    congestion = 1'b0;
    if (state_i == StRtt) begin
      r = (e_i.rtt == 16'd0) ? 16'd1 : e_i.rtt;
      fell = e_i.rtt_valid && (e_i.kind == CcEventAck || w_i.nack_rtt) && r < s_i.base_rtt;
      if (fell) begin
        base = r;
      end
      // Reason 0 is no NACK: bytes that are given back.
      congestion = e_i.kind == CcEventAck || e_i.reason == NackReasonTrimmed
          || e_i.reason == NackReasonTrimmedLasthop
          || (w_i.nack_any_reason && e_i.reason != 8'd0);
    end
  end

  // Qa
  logic quick, quiet, qa_due;
  always_comb begin
    quick = 1'b0;
    quiet = 1'b0;
    qa_due = 1'b0;
    if (state_i == StQa && !w_i.disable_qa) begin
      quiet = s_i.ignored < s_i.to_ignore && (e_i.ecn || e_i.kind == CcEventNack);
      qa_due = !quiet && (!s_i.qa_armed || since_i >= {15'd0, s_i.qa_len});
      quick = qa_due && s_i.qa_armed
          && (s_i.trigger || e_i.kind == CcEventNack || kept_i.delay > w_i.qa_threshold)
          && {s_i.achieved, 16'd0} < (s_i.max_wnd >> w_i.qa_gate);
    end
  end

  // Choose
  logic late, steady, near_zero, fast, decrease;
  logic [27:0] fi_sum;
  logic fi_full;  // more than the window
  always_comb begin
    late = 1'b0;
    steady = 1'b0;
    near_zero = 1'b0;
    fi_sum = '0;
    fi_full = 1'b0;
    decrease = 1'b0;
    if (state_i == StChoose) begin
      late = {kept_i.delay, 8'd0} >= w_i.target;
      steady = !e_i.ecn && !kept_i.limited;
      near_zero = kept_i.delay < w_i.near_zero;
      fi_sum = sat28(s_i.fi_count, e_i.bytes);
      // fi_sum > cwnd in whole bytes, without waiting for the sum, which stops at all ones.
      fi_full = s_i.cwnd[43:16] != 28'hfff_ffff
          && short_of(s_i.cwnd[43:16], {1'b0, s_i.fi_count}, 16'd0, e_i.bytes);
      // Bug 92: after half a base_rtt already.
      decrease = e_i.ecn && late && s_i.avg > {w_i.target, 16'd0}
          && (since_i > {16'd0, s_i.base_rtt}
              || (bug_i == BugDecreaseTooSoon && since_i >= {17'd0, s_i.base_rtt[15:1]}));
    end
  end
  assign fast = steady && !late && near_zero && (s_i.increasing || fi_full);

  // Due, Adj
  logic adj_time;
  assign adj_time = since_i >= {16'd0, w_i.adjust_period};

  // MdCut
  logic [28:0] md_cut, md_f, md_jump;
  always_comb begin
    md_cut = '0;
    md_f = '0;
    md_jump = '0;
    if (state_i == StMdCut) begin
      md_cut = p_i[52:24] + 29'(p_i[23]);
      md_f = (md_cut > 29'h1000_0000) ? 29'd0 : 29'h1000_0000 - md_cut;
      md_jump = {w_i.max_md_jump, 4'd0};
    end
  end

  // ---- the next state

  always_comb begin
    state_o = state_i;
    unique case (state_i)
      StIdle: ;
      StInit: state_o = last ? StIdle : StInit;
      StCount: begin
        if (e_i.kind == CcEventSend || !w_i.enable) begin
          state_o = StIdle;
        end else if (e_i.kind == CcEventAck) begin
          state_o = e_i.rtt_valid ? StRtt : StStore;
          if (e_i.pen != 7'd0) begin
            state_o = StPen;
          end
        end else begin
          state_o = (e_i.kind == CcEventNack) ? StRtt : StStore;
        end
      end
      StPen: begin
        if (last) begin
          state_o = e_i.rtt_valid ? StRtt : StStore;
        end
      end
      StRtt: begin
        state_o = congestion ? StAvg : StStore;
        if (fell) begin
          state_o = StWnd;
        end
      end
      StWnd: begin
        if (last) begin
          state_o = kept_i.congestion ? StAvg : StStore;
        end
      end
      StAvg: state_o = last ? StQa : StAvg;
      StQa: state_o = (quick || quiet || e_i.kind == CcEventNack) ? StStore : StChoose;
      StChoose: begin
        state_o = StDue;
        if (steady) begin
          if (late) begin
            state_o = StFair;
          end else begin
            state_o = fast ? StFast : StGain;
          end
        end else if (decrease) begin
          state_o = StMdDiv;
        end
      end
      StFair, StFast, StGain2, StMdMul: begin
        if (last) begin
          state_o = StDue;
        end
      end
      StGain: state_o = last ? StGain2 : StGain;
      StMdDiv: state_o = (cnt_i == MdDivLast) ? StMdCut : StMdDiv;
      StMdCut: state_o = last ? StMdMul : StMdCut;
      StDue: state_o = (adj_time || s_i.received > w_i.adjust_bytes) ? StAdjDiv : StStore;
      StAdjDiv: state_o = (cnt_i == AdjDivLast) ? StAdj : StAdjDiv;
      StAdj: state_o = StStore;
      default: state_o = StIdle;  // StStore
    endcase
  end

  // ---- what is kept

  always_comb begin
    kept_o = kept_i;
    unique case (state_i)
      StIdle: begin
        kept_o.limited = 1'b0;
        kept_o.md = 1'b0;
        kept_o.qa = 1'b0;
      end
      StCount: kept_o.fly = flight_i[28] ? 28'd0 : flight_i[27:0];
      StPen: begin
        if (last) begin
          kept_o.limited = 1'b1;
        end
      end
      StRtt: begin
        if (e_i.kind == CcEventAck) begin
          kept_o.x = r - base;
          kept_o.delay = r - base;
        end else begin
          kept_o.x = w_i.nack_sample_cfg ? w_i.base_rtt : base;
          kept_o.delay = 16'd0;
        end
        kept_o.congestion = congestion;
      end
      StQa: begin
        if (quick) begin
          kept_o.qa = 1'b1;
        end
      end
      StChoose: begin
        if (decrease) begin
          kept_o.md = 1'b1;
        end
      end
      StGain: begin
        if (last) begin
          kept_o.tmp = p_i[59:6] + 54'(p_i[5]);
        end
      end
      StMdCut: begin
        if (last) begin
          kept_o.tmp = (md_f < md_jump) ? MulAW'(md_jump) : MulAW'(md_f);
        end
      end
      default: ;
    endcase
  end

  // ---- the controller's row

  logic [17:0] target_up;
  assign target_up = 18'(({1'b0, w_i.target} + 25'd255) >> 8);

  always_comb begin
    s_o = s_i;
    unique case (state_i)
      StCount: s_o = of_count(row_i, e_i.kind, e_i.bytes, e_i.restore && e_i.pen == 7'd0, w_i.mtu);
      StRtt: s_o.base_rtt = base;
      StQa: begin
        s_o = of_qa(s_i, e_i.kind, e_i.bytes, kept_i.fly, qa_due, quick, quiet, now_i,
                    17'({2'd0, s_i.base_rtt} + target_up), w_i.mtu, bug_i);
      end
      StChoose: begin
        s_o.mode = kept_i.limited ? ModeLimited : ModeHold;
        if (steady && late) begin
          s_o.mode = ModeFair;
        end else if (steady) begin
          s_o.increasing = fast;
          s_o.mode = fast ? ModeFast : ModeProportional;
          s_o.fi_count = near_zero ? fi_sum : 28'd0;
        end else if (e_i.ecn && late) begin
          if (w_i.md_resets_fast) begin
            s_o.increasing = 1'b0;
            s_o.fi_count = 28'd0;
          end
          if (decrease) begin
            s_o.mode = ModeDecrease;
          end
        end
      end
      default: begin
        if (last) begin
          unique case (state_i)
            StInit: s_o = of_init(p_wnd, w_i.base_rtt, tick_i);
            StPen: s_o = of_pen(s_i, kept_i.fly, p_i[34:7], w_i.mtu, bug_i);
            StWnd: s_o.max_wnd = p_wnd;
            StAvg: s_o = of_avg(s_i, e_i.kind, e_i.bytes, avg_up_i, p_i[67:0]);
            StFair: s_o.inc = add_inc(s_i.inc, 71'(p_i[63:4]) + 71'(p_i[3]));
            StFast: s_o = of_fast(s_i, p_i[59:8], p_i[7]);
            StGain2: begin
              // Bug 90: shifted by a bit too few.
              s_o.inc = add_inc(s_i.inc, (bug_i == BugGainDoubled) ? p_i[81:11]
                                         : 71'(p_i[81:12]) + 71'(p_i[11]));
            end
            StMdMul: s_o = of_md(s_i, p_i[72:28], p_i[27], least, now_i);
            default: ;
          endcase
        end
      end
    endcase
    // The longest sum: nothing stands behind it.
    if (state_i == StAdj) begin
      s_o = of_adj(s_i, quot_i, adj_time, w_i.eta, now_i);
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, p_i[82], e_i.cc, w_i.wnd_rate, w_i.fi_scale, w_i.alpha,
                       w_i.ewma_weight, w_i.fi, w_i.gamma};

endmodule
