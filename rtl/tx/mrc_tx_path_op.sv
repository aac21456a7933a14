// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// The operations of mrc_tx_path (docs/design/blocks/tx/tx_path.md), one at a time, while no packet
/// walks: Init and Deny for the tables, Fb, Find, Test and Judge on feedback, Scrub, and the time
/// that Gen takes. It says which row of EV states to read and to write, what becomes of the QP's
/// count of active EVs, and what the controller and tx_probe hear of it. It has no memory, and does
/// not decide which operation begins.
module mrc_tx_path_op
  import mrc_pkg::*;
  import mrc_tx_path_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned EvsPerQp = 16,
    localparam int unsigned Groups = EvsPerQp / NumPlanes,
    localparam int unsigned QpW = $clog2(NumQps),
    localparam int unsigned EvW = $clog2(EvsPerQp),
    localparam int unsigned PlaneW = $clog2(NumPlanes),
    localparam int unsigned GroupW = $clog2(Groups)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input tx_path_csr_t csr_i,
    input logic [2:0] tag_i,  // state of an EV that is marked now

    // An operation begins, in Idle.
    input logic init_i,
    input logic deny_i,
    input logic gen_i,
    input logic fb_go_i,
    input fb_t fb_i,
    input logic scrub_go_i,
    input logic [QpW+EvW-1:0] scrub_i,  // QP and EV
    // What is kept of its QP.
    input logic [GroupW-1:0] backup_i,
    input logic [8:0] active_i,

    // The table that is written, as long as it takes.
    input logic [QpW-1:0] cfg_qp_i,
    input logic [GroupW-1:0] cfg_backup_i,
    input logic [EvW-1:0] cfg_ev_i,
    input logic cfg_deny_i,
    input logic gen_last_i,

    // What was read, and the planes of which both ports are up.
    input logic [NumPlanes-1:0][2:0] row_i,
    input logic [31:0] value_i,
    input logic [NumPlanes-1:0] plane_ok_i,
    input logic loss_counts_i,  // a loss says something about its EV

    output state_e state_o,
    output logic loss_o,  // feedback is a loss of the EV of loss_qp_o, on loss_plane_o
    output logic [QpW-1:0] loss_qp_o,  // and the QP whose EV goes out of use
    output logic [PlaneW-1:0] loss_plane_o,
    output logic cfg_done_o,
    output logic [QpW+GroupW-1:0] find_addr_o,
    output logic row_we_o,
    output logic [QpW+GroupW-1:0] row_addr_o,
    output logic [NumPlanes-1:0][2:0] row_o,
    output logic active_we_o,
    output logic [QpW-1:0] active_qp_o,
    output logic [8:0] active_o,
    output logic evev_load_o,
    output evev_t evev_o,
    output logic bad_load_o,
    output badev_t bad_o,
    output logic scrub_bad_o,  // Scrub: the EV is out of use
    output logic skip_o,
    output logic bad_inc_o,
    output logic floor_o
);

  state_e state_q, state_d;
  fb_t fb_q;
  logic [GroupW-1:0] backup_q;  // groups at the end of the set
  logic [8:0] active_q;
  logic [NumPlanes-1:0][2:0] keep_q;  // the row of an EV that failed, as it was before
  logic [GroupW-1:0] f_q, f_d;  // the backup group that Find reads and Test judges
  logic revive_q, revive_d;
  logic found_q, found_d;
  logic [QpW-1:0] init_qp_q, init_qp_d;
  logic [GroupW-1:0] init_cnt_q, init_cnt_d;
  logic [QpW+EvW-1:0] scrub_q;

  logic idle;
  logic [QpW-1:0] fb_qp;
  assign idle = state_q == StIdle;
  assign fb_qp = fb_q.qp[QpW-1:0];

  // ---- what feedback does to an EV, and which backup EV takes its place or leaves it

  logic fb_now, fb_match, fb_mark, fb_loss, fb_fail, fb_revive;
  logic test_fail, test_revive, test_last, more_active, judge_keep, judge_bad;
  logic [EvW-1:0] fb_idx;
  logic [PlaneW-1:0] fb_plane, test_plane;
  logic [GroupW-1:0] fb_group, backup_first;
  logic [2:0] fb_state, test_state;
  assign fb_idx = fb_q.ev_idx[EvW-1:0];
  assign fb_plane = fb_idx[PlaneW-1:0];
  assign fb_group = fb_idx[EvW-1:PlaneW];
  assign fb_now = state_q == StFb;
  assign fb_match = value_i == fb_q.entropy;
  assign fb_state = row_i[fb_plane];
  assign fb_mark = fb_now && fb_q.kind == FbKindSkipOnce && fb_match
      && (fb_state == 3'(EvGood) || (csr_i.skip_mode == SkipModeTwice && is_skip(fb_state)
                                     && fb_state != 3'(EvSkip2)));
  // A loss on a plane without ports says nothing about the EV.
  assign fb_loss = fb_now && fb_q.kind == FbKindLoss && plane_ok_i[fb_plane] && in_use(fb_state);
  assign fb_fail = (fb_now && fb_q.kind == FbKindAlwaysSkip && fb_match && in_use(fb_state))
      || (fb_loss && loss_counts_i);
  assign fb_revive = fb_now && (fb_q.kind == FbKindRevivedGood || fb_q.kind == FbKindRevivedSkip)
      && fb_state == 3'(EvBad);
  assign backup_first = GroupW'(Groups) - backup_q;

  // Bug 29: an EV of the next plane takes the place of the bad one.
  assign test_plane = (bug_i == BugBackupOfNextPlane && !revive_q)
      ? fb_plane + PlaneW'(1) : fb_plane;
  assign test_state = row_i[test_plane];
  assign test_fail = state_q == StTest && !revive_q && test_state == 3'(EvStandby);
  assign test_revive = state_q == StTest && revive_q && f_q != fb_group
      && in_use(test_state);
  assign test_last = f_q == GroupW'(Groups - 1);
  assign more_active = (fb_revive && backup_q == '0)
      || (state_q == StTest && revive_q && !test_revive && test_last);

  // The floor: without a replacement the EV stays while too few would be left.
  assign judge_keep = state_q == StJudge && !found_q && active_q <= csr_i.ev_min_active;
  assign judge_bad = state_q == StJudge && !judge_keep;

  // ---- EVs that the controller denies

  logic deny, undeny, deny_active;
  logic [PlaneW-1:0] deny_plane;
  logic [2:0] deny_state;
  assign deny_plane = cfg_ev_i[PlaneW-1:0];
  assign deny_state = row_i[deny_plane];
  assign deny = state_q == StDeny && cfg_deny_i && deny_state != 3'(EvDenied);
  assign deny_active = deny && in_use(deny_state);
  assign undeny = state_q == StDeny && !cfg_deny_i && deny_state == 3'(EvDenied);

  // ---- the next state

  always_comb begin
    state_d = state_q;
    init_qp_d = init_qp_q;
    init_cnt_d = init_cnt_q;
    f_d = f_q;
    revive_d = revive_q;
    found_d = found_q;
    unique case (state_q)
      StIdle: begin
        if (init_i) begin
          init_qp_d = cfg_qp_i;
          init_cnt_d = '0;
          state_d = StInit;
        end else if (deny_i) begin
          state_d = StDeny;
        end else if (gen_i) begin
          state_d = StGen;
        end else if (fb_go_i) begin
          state_d = StFb;
        end else if (scrub_go_i) begin
          state_d = StScrub;
        end
      end
      StInit: begin
        init_cnt_d = init_cnt_q + GroupW'(1);
        if (init_cnt_q == GroupW'(Groups - 1)) begin
          state_d = StIdle;
        end
      end
      StDeny, StScrub: state_d = StIdle;
      StGen: begin
        if (gen_last_i) begin
          state_d = StIdle;
        end
      end
      StFb: begin
        state_d = StIdle;
        f_d = backup_first;
        revive_d = fb_revive;
        found_d = 1'b0;
        if (fb_fail) begin
          state_d = (backup_q == '0) ? StJudge : StFind;
        end else if (fb_revive && backup_q != '0) begin
          state_d = StFind;
        end
      end
      StFind: state_d = StTest;
      StTest: begin
        found_d = test_fail;
        if (test_fail) begin
          state_d = StJudge;
        end else if (test_revive) begin
          state_d = StIdle;
        end else if (test_last) begin
          state_d = revive_q ? StIdle : StJudge;
        end else begin
          f_d = f_q + GroupW'(1);
          state_d = StFind;
        end
      end
      StJudge: state_d = StIdle;
      default: state_d = StIdle;
    endcase
  end

  // ---- the row of EV states

  always_comb begin
    row_we_o = 1'b0;
    row_addr_o = {fb_qp, fb_group};
    row_o = row_i;
    unique case (state_q)
      StInit: begin
        row_we_o = 1'b1;
        row_addr_o = {init_qp_q, init_cnt_q};
        row_o = (8'(init_cnt_q) + 8'(cfg_backup_i) < 8'(Groups)) ? {NumPlanes{3'(EvGood)}}
            : {NumPlanes{3'(EvStandby)}};
      end
      StFb: begin
        row_we_o = fb_mark || fb_fail || fb_revive;
        if (fb_fail) begin
          row_o[fb_plane] = 3'(EvBad);
        end else if (fb_revive && fb_q.kind == FbKindRevivedGood) begin
          row_o[fb_plane] = 3'(EvGood);
        end else begin
          // An EV that is marked again, or revives with a mark.
          row_o[fb_plane] = (fb_mark && fb_state != 3'(EvGood)) ? 3'(EvSkip2) : tag_i;
        end
      end
      StDeny: begin
        row_we_o = deny || undeny;
        row_addr_o = {cfg_qp_i, cfg_ev_i[EvW-1:PlaneW]};
        row_o[deny_plane] = deny ? 3'(EvDenied) : 3'(EvGood);
      end
      StTest: begin
        row_we_o = test_fail || test_revive;
        row_addr_o = {fb_qp, f_q};
        row_o[test_plane] = revive_q ? 3'(EvStandby) : 3'(EvGood);
      end
      StJudge: begin
        row_we_o = judge_keep;
        row_o = keep_q;
      end
      default: ;
    endcase
  end

  // ---- the count of active EVs

  logic less_active;
  assign less_active = deny_active || (judge_bad && !found_q);
  assign active_we_o = init_i || more_active || undeny || less_active;
  assign active_qp_o = (idle || state_q == StDeny) ? cfg_qp_i : fb_qp;

  always_comb begin
    if (idle) begin
      active_o = 9'(EvsPerQp) - (9'(cfg_backup_i) << PlaneW);
    end else begin
      active_o = active_q + (less_active ? 9'h1FF : 9'h001);
    end
  end

  // ---- outputs

  logic scrub_bad;
  assign scrub_bad_o = scrub_bad;
  // The value was read for the comparison, and no other one since then.
  assign scrub_bad = state_q == StScrub && row_i[scrub_q[PlaneW-1:0]] == 3'(EvBad);
  assign evev_load_o = fb_revive || state_q == StJudge;
  assign evev_o = '{
          qp: fb_q.qp,
          ev_idx: {{(12 - EvW) {1'b0}}, fb_idx},
          state: fb_now ? 3'(EvGood) : 3'(EvBad),
          floor: judge_keep
      };
  assign bad_load_o = judge_bad || scrub_bad;
  assign bad_o = '{
          qp: scrub_bad ? qp_index_t'(scrub_q[EvW+:QpW]) : fb_q.qp,
          ev_idx: {{(16 - EvW) {1'b0}}, scrub_bad ? scrub_q[EvW-1:0] : fb_idx},
          ev: value_i
      };
  assign state_o = state_q;
  assign loss_o = fb_loss;
  assign loss_qp_o = fb_qp;
  assign loss_plane_o = fb_plane;
  assign cfg_done_o = state_q == StDeny || gen_last_i
      || (state_q == StInit && init_cnt_q == GroupW'(Groups - 1));
  assign find_addr_o = {fb_qp, f_q};
  assign skip_o = fb_mark;
  assign bad_inc_o = judge_bad;
  assign floor_o = judge_keep;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      state_q <= state_d;
    end
  end

  always_ff @(posedge clk_i) begin
    init_qp_q <= init_qp_d;
    init_cnt_q <= init_cnt_d;
    f_q <= f_d;
    revive_q <= revive_d;
    found_q <= found_d;
    if (fb_now) begin
      keep_q <= row_i;
    end
    if (fb_go_i || deny_i) begin
      backup_q <= backup_i;
      active_q <= active_i;
    end
    if (scrub_go_i) begin
      scrub_q <= scrub_i;
    end
    if (fb_go_i) begin
      fb_q <= fb_i;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, fb_q.ev_idx[15:EvW], csr_i.skip_ticks, csr_i.any_plane,
                       csr_i.loss_share, csr_i.one_copy, csr_i.bad_waits};

  // ---- what always holds

  `MRC_ASSERT(StateInRange, state_q <= StScrub,
      "no such state")
  `MRC_ONE_HOT0(OneFeedback, {fb_mark, fb_fail, fb_revive},
      "feedback does two things")

endmodule
