// SPDX-License-Identifier: Apache-2.0

/// What mrc_cc_nscc and its rules share (docs/design/blocks/cc/cc_nscc.md): states, the words of a
/// profile, the row of a controller and what a state makes of it, what is kept of an event, and
/// arithmetic that stops at a limit.
package mrc_cc_nscc_pkg;

  import mrc_pkg::*;
  import mrc_math_pkg::*;

  localparam int unsigned MulAW = 54;
  localparam int unsigned MulBW = 29;

  // Cycles of a state, minus one.
  localparam logic [4:0] MulLast = 5'd2;
  localparam logic [4:0] MdDivLast = 5'd13;
  localparam logic [4:0] AdjDivLast = 5'd21;

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

  /// What the machine keeps of an event from state to state
  typedef struct packed {
    logic [27:0] fly;
    logic [15:0] x;
    logic [15:0] delay;
    logic limited;
    logic congestion;
    logic md;  // this event had a decrease, a quick adapt
    logic qa;
    logic [MulAW-1:0] tmp;  // g between Gain and Gain2, f between MdCut and MdMul
  } kept_t;

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

  // a < infl + b + c, without waiting for the sum.
  function automatic logic short_of(logic [27:0] a, logic [28:0] infl, logic [15:0] b,
                                    logic [27:0] c);
    pair_t less;
    logic [32:0] sum;
    less = less_two({5'd0, a}, {{4{infl[28]}}, infl}, {17'd0, b});
    sum = pair_sum(pair_less(less, {5'd0, c}), 1'b1);
    return sum >= 33'h1_0000_0000;
  endfunction

  // ---- what a state makes of the controller's row

  function automatic ctx_t of_init(logic [43:0] wnd, logic [15:0] base_rtt, logic [31:0] tick);
    ctx_t s;
    s = '0;
    s.cwnd = wnd;
    s.max_wnd = wnd;
    s.base_rtt = base_rtt;
    s.last_adjust = tick;
    s.last_dec = tick;
    s.mode = ModeStart;
    return s;
  endfunction

  function automatic ctx_t of_count(ctx_t row, logic [1:0] kind, logic [27:0] bytes,
                                    logic restore, logic [13:0] mtu);
    ctx_t s;
    s = row;
    if (kind == CcEventAck) begin
      s.ignored = sat28(row.ignored, bytes);
      s.received = sat28(row.received, bytes);
      s.achieved = sat28(row.achieved, bytes);
      if (restore && row.saved) begin
        s.cwnd = row.saved_cwnd;
        s.saved = 1'b0;
        s.mode = ModeHold;
      end
    end else if (kind != CcEventNack) begin
      s.cwnd = cut(row.cwnd, bytes, mtu);
      s.ignored = sat28(row.ignored, bytes);
      s.mode = ModeLoss;
    end
    return s;
  endfunction

  // penalty: bytes
  function automatic ctx_t of_pen(ctx_t row, logic [27:0] fly, logic [27:0] penalty,
                                  logic [13:0] mtu, logic [7:0] bug);
    ctx_t s;
    s = row;
    s.mode = ModeLimited;
    // Bug 91: the penalty saves cwnd each time.
    if (!row.saved || bug == BugPenaltySavesAgain) begin
      s.saved_cwnd = row.cwnd;
      s.saved = 1'b1;
    end
    s.cwnd = cut((row.cwnd < {fly, 16'd0}) ? row.cwnd : {fly, 16'd0}, penalty, mtu);
    return s;
  endfunction

  // part: by how much the average moves, in units of 2^-28. Nearest, halves up, of the signed
  // product: a half moves a falling average less.
  function automatic ctx_t of_avg(ctx_t row, logic [1:0] kind, logic [27:0] bytes, logic up,
                                  logic [67:0] part);
    ctx_t s;
    s = row;
    if (up) begin
      s.avg = row.avg + part[67:28] + 40'(part[27]);
    end else begin
      s.avg = row.avg - (part[67:28] + 40'(part[27] && part[26:0] != 27'd0));
    end
    if (kind == CcEventNack) begin
      s.ignored = sat28(row.ignored, bytes);
      s.trigger = 1'b1;
    end
    return s;
  endfunction

  // len: of the next round, if this one is due.
  function automatic ctx_t of_qa(ctx_t row, logic [1:0] kind, logic [27:0] bytes,
                                 logic [27:0] fly, logic due, logic quick, logic quiet,
                                 logic [31:0] now, logic [16:0] len, logic [13:0] mtu,
                                 logic [7:0] bug);
    ctx_t s;
    s = row;
    if (due) begin
      s.achieved = 28'd0;
      s.qa_armed = 1'b1;
      s.qa_start = now;
      s.qa_len = len;
    end
    if (quick) begin
      s.cwnd = {(row.achieved < {14'd0, mtu}) ? {14'd0, mtu} : row.achieved, 16'd0};
      // Bug 93: the flight before the event.
      s.to_ignore = (bug == BugIgnoreOneMore) ? sat28(fly, bytes) : fly;
      s.ignored = 28'd0;
      s.trigger = 1'b0;
    end
    if (quick || quiet) begin
      s.inc = 64'd0;
      s.received = 28'd0;
      s.mode = quick ? ModeQuickAdapt : ModeIgnore;
    end else if (kind == CcEventNack) begin
      s.cwnd = cut(row.cwnd, bytes, mtu);
      s.mode = ModeLoss;
    end
    return s;
  endfunction

  function automatic ctx_t of_fast(ctx_t row, logic [51:0] more, logic up);
    ctx_t s;
    logic [52:0] cwnd;
    s = row;
    cwnd = 53'(row.cwnd) + 53'(more) + 53'(up);
    s.cwnd = (cwnd < 53'(row.max_wnd)) ? cwnd[43:0] : row.max_wnd;
    return s;
  endfunction

  function automatic ctx_t of_adj(ctx_t row, logic [43:0] quot, logic due, logic [35:0] eta,
                                  logic [31:0] now);
    ctx_t s;
    logic [45:0] a, b, c, plain, all;
    s = row;
    a = 46'(row.cwnd);
    b = 46'(quot);
    c = 46'(eta);
    // Both sums side by side: whether it is due is known late. Three numbers cost one adder.
    plain = a + b;
    all = (a ^ b ^ c) + (((a & b) | (a & c) | (b & c)) << 1);
    plain = (plain < 46'(row.max_wnd)) ? plain : 46'(row.max_wnd);
    all = (all < 46'(row.max_wnd)) ? all : 46'(row.max_wnd);
    s.cwnd = due ? all[43:0] : plain[43:0];
    if (due) begin
      s.last_adjust = now;
    end
    s.inc = 64'd0;
    s.received = 28'd0;
    return s;
  endfunction

  function automatic ctx_t of_md(ctx_t row, logic [44:0] product, logic up, logic [43:0] least,
                                 logic [31:0] now);
    ctx_t s;
    logic [44:0] cwnd;
    s = row;
    cwnd = product + 45'(up);
    s.cwnd = (cwnd < {1'b0, least}) ? least : cwnd[43:0];
    s.last_dec = now;
    return s;
  endfunction

endpackage
