// SPDX-License-Identifier: Apache-2.0

/// What mrc_tx_inflight knows of each QP but for its newest packet (docs/blocks/tx/inflight/tx_inflight.md), and what
/// becomes of it in each cycle of the main machine. The operations say what they found; here it is
/// written down, the QP is put into the lists, and its blocks are counted as it gives them back.
module mrc_tx_inflight_qps
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    localparam int unsigned QpW = $clog2(NumQps)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input logic [31:0] tick_i,

    // The QPs that are looked at: of the state at hand, of the next visit, of the table row, of the
    // heads of list, rq and rec.
    input logic [QpW-1:0] a_qp_i,
    input logic [QpW-1:0] visit_qp_i,
    input logic [QpW-1:0] cfg_qp_i,
    input logic [QpW-1:0] list_qp_i,
    input logic [QpW-1:0] rq_qp_i,
    input logic [QpW-1:0] rec_qp_i,
    output qp_t a_o,
    output qp_t visit_o,
    output qp_t cfg_o,
    output logic [23:0] rtx_lo_o,
    output logic [19:0] base_o,
    output logic [23:0] list_lo_o,
    output logic [19:0] rq_base_o,
    output logic a_live_o,
    output logic a_held_o,
    output logic a_cc_o,
    output logic a_dup_o,
    output logic cfg_live_o,
    output logic cfg_held_o,
    output logic cfg_inq_o,
    output logic cfg_cc_o,
    output logic visit_live_o,
    output logic visit_armed_o,
    output logic visit_cc_o,
    output logic ctl_live_o,
    input logic [QpW-1:0] ctl_qp_i,

    // Record.
    output logic rec_live_o,
    output logic rec_held_o,
    output logic rec_fresh_o,
    output logic rec_kept_o,
    output logic rec_cc_o,
    output logic [19:0] rec_base_o,
    input logic rec_go_i,
    input logic rec_begins_i,
    input logic rec_reuse_i,
    input logic [19:0] rec_block_i,

    // The cycle of the main machine. own: the QP it writes, c and out what is known of it.
    input state_e state_i,
    input op_t op_i,
    input tbl_qp_ctx_t cfg_ctx_i,
    input logic [QpW-1:0] own_qp_i,
    input qp_t c_i,
    input out_t out_i,
    input out_t a_out_i,
    input logic cc_i,
    input rec_t rec_i,
    input ctl_t ctl_i,
    input sack_t sack_i,
    input answer_t answer_i,
    input scan_t scan_i,
    input visit_t visit_i,
    input walk_t walk_i,
    input logic give_back_i,
    input logic all_gone_i,
    input logic granted_i,
    input logic refused_i,
    input logic again_i,  // Scan: the newest packet goes again
    input logic again_q_i,  // RetxW: that is the one
    input logic loss_i,
    input logic [23:0] p_i,
    input logic [13:0] size_i,
    input logic [27:0] packet_fgone_i,
    input logic [27:0] sack_fgone_i,
    input logic [7:0] packet_credit_i,
    input logic [7:0] sack_credit_i,
    input logic [19:0] sack_owed_i,
    input logic [19:0] early_owed_i,

    output logic list_push_o,
    output logic list_pop_o,
    output logic rq_push_o,
    output logic give_o,
    output logic freed_o,
    output logic reclaim_end_o,
    output logic [19:0] base_next_o
);

  logic [NumQps-1:0] live_q, live_d, fresh_q, fresh_d, held_q, held_d, kept_q, kept_d;
  logic [NumQps-1:0] armed_q, armed_d, rtx_q, rtx_d, inq_q, inq_d, dup_q, dup_d, cc_q, cc_d;
  logic freed_q, freed_d;

  qp_t c_d;
  logic [23:0] rtx_lo_d, nxt;
  logic [19:0] base_d;
  logic c_we, rtx_lo_we, base_we, live, stray;

  mrc_tx_inflight_regs #(
      .NumQps(NumQps)
  ) u_regs (
      .clk_i,
      .a_qp_i,
      .a_c_o(a_o),
      .a_rtx_lo_o(rtx_lo_o),
      .a_base_o(base_o),
      .v_qp_i(visit_qp_i),
      .v_c_o(visit_o),
      .t_qp_i(cfg_qp_i),
      .t_c_o(cfg_o),
      .l_qp_i(list_qp_i),
      .l_rtx_lo_o(list_lo_o),
      .r_qp_i(rq_qp_i),
      .r_base_o(rq_base_o),
      .p_qp_i(rec_qp_i),
      .p_base_o(rec_base_o),
      .qp_i(own_qp_i),
      .c_we_i(c_we),
      .c_i(c_d),
      .rtx_lo_we_i(rtx_lo_we),
      .rtx_lo_i(rtx_lo_d),
      .base_we_i(base_we),
      .base_qp_i((state_i == StReclaim) ? a_qp_i : rec_qp_i),
      .base_i(base_d)
  );

  assign a_live_o = live_q[a_qp_i];
  assign a_held_o = held_q[a_qp_i];
  assign a_cc_o = cc_q[a_qp_i];
  assign a_dup_o = dup_q[a_qp_i];
  assign cfg_live_o = live_q[cfg_qp_i];
  assign cfg_held_o = held_q[cfg_qp_i];
  assign cfg_inq_o = inq_q[cfg_qp_i];
  assign cfg_cc_o = cc_q[cfg_qp_i];
  assign visit_live_o = live_q[visit_qp_i];
  assign visit_armed_o = armed_q[visit_qp_i];
  assign visit_cc_o = cc_q[visit_qp_i];
  assign ctl_live_o = live_q[ctl_qp_i];
  assign rec_live_o = live_q[rec_qp_i];
  assign rec_held_o = held_q[rec_qp_i];
  assign rec_fresh_o = fresh_q[rec_qp_i];
  assign rec_kept_o = kept_q[rec_qp_i];
  assign rec_cc_o = cc_q[rec_qp_i];

  assign live = a_live_o;
  assign nxt = out_i.nxt;
  // A packet sent for a QP that is over: tx_segment has counted its block.
  assign stray = state_i == StRec && !rec_i.voided && !live && !rec_i.rtx;

  // ---- blocks given back

  logic reclaim, reclaim_end;
  logic [19:0] end_block;
  logic [23:0] nxt_a;
  logic [19:0] newest;  // block
  assign nxt_a = a_out_i.nxt;
  assign newest = (nxt_a[3:0] == 4'd0) ? nxt_a[23:4] - 20'd1 : nxt_a[23:4];
  // The newest packet may have to be sent again for the sake of its ACK.
  always_comb begin
    if (!live) begin
      end_block = (nxt_a[3:0] == 4'd0) ? nxt_a[23:4] : nxt_a[23:4] + 20'd1;
    end else begin
      end_block = (a_o.una == nxt_a) ? newest : a_o.una[23:4];
    end
  end
  assign base_next_o = base_o + 20'd1;
  assign give_o = state_i == StReclaim && base_o != end_block;
  assign reclaim_end = state_i == StReclaim && (base_o == end_block || base_next_o == end_block);
  assign reclaim_end_o = reclaim_end;
  assign freed_d = give_o || rec_reuse_i
      || (stray && (rec_i.psn[3:0] == 4'd0 || fresh_q[a_qp_i]));
  assign freed_o = freed_q;

  always_comb begin
    if (state_i == StReclaim) begin
      base_we = give_o && !(bug_i == BugBlockGivenTwice && reclaim_end);
      base_d = base_next_o;
    end else begin
      base_we = rec_go_i && (rec_fresh_o || rec_reuse_i);
      base_d = rec_block_i;
    end
  end

  // The QP has ended, or the window has left its oldest block.
  assign reclaim = (give_back_i && !op_i.ctx_new && state_i != StReclaim)
      || (sack_i.moved && sack_i.una[23:4] != base_o)
      || (answer_i.ack_changed && answer_i.una[23:4] != base_o);
  assign rq_push_o = reclaim && held_q[own_qp_i] && !inq_q[own_qp_i];

  // ---- registers

  logic progress, restart;
  logic [5:0] retries;
  logic [1:0] step_mark;
  assign retries = (c_i.retry.count == 6'd63) ? 6'd63 : c_i.retry.count + 6'd1;
  assign step_mark = 2'd0 - c_i.cnt;
  assign progress = sack_i.moved || answer_i.ack_changed;
  assign restart = progress || visit_i.restart || visit_i.dup;

  always_comb begin
    c_d = c_i;
    c_we = give_back_i || visit_i.restart || visit_i.step || visit_i.dup || visit_i.drift
        || walk_i.good || answer_i.ack_ok || answer_i.nack_counts
        || state_i inside {StRec, StCtl1, StDone, StRetx1, StRetxW};

    if (progress && bug_i != BugRetryNotReset) begin
      c_d.retry = retry_of(6'd0, c_i.retry_linear, c_i.retry_exp, c_i.timeout);
    end else if (answer_i.nack_counts || visit_i.dup || (walk_i.good && walk_i.old)) begin
      c_d.retry = retry_of(retries, c_i.retry_linear, c_i.retry_exp, c_i.timeout);
    end
    if (state_i == StDone) begin
      c_d.una = sack_i.una;
      c_d.top = sack_i.top;
    end else if (state_i == StAck) begin
      c_d.una = answer_i.una;
      c_d.top = answer_i.top;
    end
    if (sack_i.new_mpr) begin
      c_d.mprv = ctl_i.mpr;
    end
    if (sack_i.rcvd_new) begin
      c_d.rcvdl = ctl_i.rcvd;
    end
    if (answer_i.ack_ok && !answer_i.ack_nak) begin
      c_d.msn_done = ctl_i.msn;
    end
    if (restart || visit_i.step || walk_i.good) begin
      c_d.start = tick_i;
    end
    if (restart) begin
      c_d.marks = {4{nxt}};
      c_d.cnt = 2'd3;
    end else if (walk_i.good) begin
      c_d.marks = {nxt, c_i.marks[3:1]};
    end else if (visit_i.step) begin
      c_d.marks[step_mark] = nxt;
      c_d.cnt = c_i.cnt - 2'd1;
    end

    if ((walk_i.good || walk_i.fail) && walk_i.seen) begin
      c_d.low = walk_i.low;
    end

    if (cc_i) begin
      unique case (state_i)
        StRec: begin
          if (rec_i.voided && live) begin
            c_d.fgone = packet_fgone_i;
          end
        end
        StDone: begin
          c_d.fgone = sack_fgone_i;
          c_d.credit = sack_credit_i;
          c_d.owed = sack_owed_i;
        end
        StCtl1: begin
          if (answer_i.nack_takes && bug_i != BugNackKeepsFlight) begin
            c_d.fgone = packet_fgone_i;
            c_d.credit = packet_credit_i;
          end
        end
        StRetx1: begin
          if (loss_i) begin
            c_d.fgone = packet_fgone_i;
            c_d.credit = packet_credit_i;
          end
        end
        StRetxW: begin
          if (granted_i) begin
            c_d.fgone = c_i.fgone - {14'd0, size_i};
          end
        end
        default: ;
      endcase
      if (give_back_i || all_gone_i) begin
        c_d.fgone = out_i.fsent;
      end
      if (visit_i.drift) begin
        c_d.owed = early_owed_i;
      end
    end

    if (op_i.ctx_new) begin
      c_d = '{
          una: cfg_ctx_i.sq_psn,
          top: cfg_ctx_i.sq_psn,
          msn_done: cfg_ctx_i.msn,
          start: tick_i,
          marks: {4{cfg_ctx_i.sq_psn}},
          cnt: 2'd3,
          low: cfg_ctx_i.sq_psn,
          retry: retry_of(6'd0, cfg_ctx_i.retry_linear, cfg_ctx_i.retry_exp, cfg_ctx_i.timeout),
          fgone: 28'd0,
          credit: 8'd0,
          owed: 20'd0,
          rcvdl: 24'd0,
          mprv: 8'd0,
          timeout: cfg_ctx_i.timeout,
          retry_linear: cfg_ctx_i.retry_linear,
          retry_exp: cfg_ctx_i.retry_exp,
          dest: cfg_ctx_i.dest,
          ts: cfg_ctx_i.ts,
          dyn_mpr: cfg_ctx_i.dyn_mpr,
          mtu: cfg_ctx_i.mtu
      };
    end
  end

  // No packet that waits to be sent again is before rtx_lo.
  always_comb begin
    rtx_lo_we = 1'b0;
    rtx_lo_d = rtx_lo_o;
    unique case (state_i)
      StIdle: begin
        rtx_lo_we = op_i.ctx_new;
        rtx_lo_d = cfg_ctx_i.sq_psn;
      end
      StDone: begin
        rtx_lo_we = 1'b1;
        rtx_lo_d = sack_i.rtx_lo;
      end
      StSame1: begin
        rtx_lo_we = sack_i.same_lost;
        rtx_lo_d = c_i.una;
      end
      StCtl1: begin
        rtx_lo_we = answer_i.nack_mark && answer_i.nack_back;
        rtx_lo_d = ctl_i.psn;
      end
      StAck: begin
        rtx_lo_we = answer_i.ack_ok;
        rtx_lo_d = answer_i.rtx_lo;
      end
      StScan: begin
        rtx_lo_we = 1'b1;
        if (scan_i.found) begin
          rtx_lo_d = scan_i.after;
        end else begin
          rtx_lo_d = scan_i.more ? scan_i.next : nxt;
        end
      end
      StRetxW: begin
        rtx_lo_we = refused_i && !again_q_i && bug_i != BugRefusedRtxForgotten;
        rtx_lo_d = p_i;
      end
      StWalk: begin
        rtx_lo_we = walk_i.mark && walk_i.back;
        rtx_lo_d = walk_i.first;
      end
      default: ;
    endcase
  end

  // ---- flags and lists

  logic mark, over;
  // The QP has something to send again, and enters the list if it is not in it.
  assign mark = sack_i.lost || sack_i.same_lost || answer_i.nack_mark || walk_i.mark || visit_i.dup;
  // The head of the list has nothing to send again.
  assign over = (state_i == StRetx0 && !live)
      || (state_i == StScan && !scan_i.found && !scan_i.more && !again_i);
  assign list_pop_o = over || (state_i == StScan && (scan_i.found || again_i));
  assign list_push_o = (state_i == StScan && (scan_i.found || again_i))
      || (mark && !rtx_q[own_qp_i]);

  always_comb begin
    live_d = live_q;
    fresh_d = fresh_q;
    held_d = held_q;
    kept_d = kept_q;
    armed_d = armed_q;
    rtx_d = rtx_q;
    inq_d = inq_q;
    dup_d = dup_q;
    cc_d = cc_q;

    if (give_back_i) begin
      live_d[own_qp_i] = 1'b0;
    end
    if (rq_push_o) begin
      inq_d[own_qp_i] = 1'b1;
    end
    if (op_i.reclaim) begin
      inq_d[rq_qp_i] = 1'b0;
    end
    if (mark) begin
      rtx_d[own_qp_i] = 1'b1;
    end
    if (over) begin
      rtx_d[a_qp_i] = 1'b0;
    end
    if (op_i.visit) begin
      armed_d[visit_qp_i] = visit_i.armed;
    end
    if (visit_i.dup) begin
      dup_d[visit_qp_i] = 1'b1;
    end
    if (over || again_i) begin
      dup_d[a_qp_i] = 1'b0;
    end
    if (refused_i && again_q_i && bug_i != BugRefusedRtxForgotten) begin
      dup_d[a_qp_i] = 1'b1;
    end
    if (stray) begin
      fresh_d[a_qp_i] = 1'b0;
    end
    if (reclaim_end) begin
      held_d[a_qp_i] = live;
      kept_d[a_qp_i] = live && a_o.una == nxt_a && nxt_a[3:0] == 4'd0;
    end
    if (rec_go_i && rec_begins_i) begin
      fresh_d[rec_qp_i] = 1'b0;
      held_d[rec_qp_i] = 1'b1;
      kept_d[rec_qp_i] = 1'b0;
    end
    if (op_i.ctx_new) begin
      live_d[own_qp_i] = cfg_ctx_i.state == QpStateRts;
      fresh_d[own_qp_i] = 1'b1;
      armed_d[own_qp_i] = 1'b0;
      dup_d[own_qp_i] = 1'b0;
      cc_d[own_qp_i] = cfg_ctx_i.cc;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      live_q <= '0;
      fresh_q <= '0;
      held_q <= '0;
      kept_q <= '0;
      armed_q <= '0;
      rtx_q <= '0;
      inq_q <= '0;
      dup_q <= '0;
      cc_q <= '0;
      freed_q <= 1'b0;
    end else begin
      live_q <= live_d;
      fresh_q <= fresh_d;
      held_q <= held_d;
      kept_q <= kept_d;
      armed_q <= armed_d;
      rtx_q <= rtx_d;
      inq_q <= inq_d;
      dup_q <= dup_d;
      cc_q <= cc_d;
      freed_q <= freed_d;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, cfg_ctx_i, rec_i, ctl_i, op_i, sack_i, answer_i, scan_i, visit_i,
                       walk_i, out_i, a_out_i};

endmodule
