// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// An entropy value for each packet (docs/design/blocks/tx/tx_path.md): walks the EV set of the QP
/// group by group, one EV per plane in each, in an order that changes each pass, and takes the next
/// GOOD EV whose lane has room, on a plane whose port is up here and at the peer. A packet per
/// cycle, of one QP as of many, three cycles after it came; one cycle more for each group that it
/// finds used up. On feedback, between packets, it marks an EV SKIP, takes a bad one out of use and
/// a backup EV of the same plane in, or the other way round: two cycles, and two per backup group
/// looked at. A packet that finds no usable EV gets no path: only its record goes on, as if it were
/// sent. What was lost when its QP has nothing else to send goes twice, on two other planes: two
/// paths, a cycle more, and one record behind both. It fills EV profiles by itself (EV_GEN: one row
/// per cycle, or one in 32). With EV_CTL.loss_share it weighs a loss by what other planes of the QP
/// lose. It does not probe EVs.
module mrc_tx_path
  import mrc_pkg::*;
  import mrc_tx_path_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned EvsPerQp = 16,
    parameter int unsigned NumProfiles = 2,
    parameter int unsigned NumDests = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input tx_path_csr_t csr_i,

    input logic pkt_valid_i,
    output logic pkt_ready_o,
    input pkt_t pkt_i,
    input logic fb_valid_i,
    output logic fb_ready_o,
    input fb_t fb_i,
    input logic pfb_valid_i,
    output logic pfb_ready_o,
    input fb_t pfb_i,
    input logic [NumPlanes-1:0] lane_room_i,
    input logic [NumPlanes-1:0] port_up_i,
    input logic [15:0] tick_i,

    output logic path_valid_o,
    input logic path_ready_i,
    output path_t path_o,
    output logic rec_valid_o,
    input logic rec_ready_i,
    output rec_t rec_o,
    output logic evev_valid_o,
    input logic evev_ready_i,
    output evev_t evev_o,
    output logic bad_valid_o,
    input logic bad_ready_i,
    output badev_t bad_o,
    output tx_path_pulses_t pulses_o,

    input cfg_t cfg_i,
    output logic cfg_ack_o
);

  localparam int unsigned Groups = EvsPerQp / NumPlanes;
  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned EvW = $clog2(EvsPerQp);
  localparam int unsigned PlaneW = $clog2(NumPlanes);
  localparam int unsigned GroupW = $clog2(Groups);
  localparam int unsigned PlaceW = GroupW + 16;
  localparam int unsigned RowW = 3 * NumPlanes;
  localparam int unsigned ValW = $clog2(NumProfiles * EvsPerQp);
  localparam int unsigned DestW = $clog2(NumDests);

  if (NumPlanes < 2 || NumPlanes != 2 ** PlaneW || EvsPerQp != 2 ** EvW || Groups < 2)
  begin : gen_bad_evs
    $error("%m: NumPlanes and EvsPerQp must be powers of two, with at least two EVs per plane");
  end
  if (NumQps < 2 || NumQps != 2 ** QpW || NumProfiles * EvsPerQp != 2 ** ValW || NumDests < 2
      || NumDests != 2 ** DestW)
  begin : gen_bad_params
    $error("%m: NumQps, NumProfiles and NumDests must be powers of two");
  end

  // What QP_CTX says of a QP.
  typedef struct packed {
    logic [5:0] profile;
    logic [GroupW-1:0] backup;  // groups at the end of the set
    logic [DestW-1:0] dest;
  } ctx_t;

  typedef logic [NumPlanes-1:0][2:0] row_t;

  // ---- inputs

  logic pkt_v, fb_v, pfb_v, pkt_pop, fb_pop, pfb_pop;
  pkt_t pkt;
  fb_t ifb, pfb, fb;
  logic [2:0][1:0] unused_counts;

  mrc_fifo #(
      .T(pkt_t),
      .Depth(2)
  ) u_pkt (
      .clk_i,
      .rst_ni,
      .valid_i(pkt_valid_i),
      .ready_o(pkt_ready_o),
      .data_i(pkt_i),
      .valid_o(pkt_v),
      .ready_i(pkt_pop),
      .data_o(pkt),
      .count_o(unused_counts[0])
  );

  mrc_fifo #(
      .T(fb_t),
      .Depth(2)
  ) u_fb (
      .clk_i,
      .rst_ni,
      .valid_i(fb_valid_i),
      .ready_o(fb_ready_o),
      .data_i(fb_i),
      .valid_o(fb_v),
      .ready_i(fb_pop),
      .data_o(ifb),
      .count_o(unused_counts[1])
  );

  mrc_fifo #(
      .T(fb_t),
      .Depth(2)
  ) u_pfb (
      .clk_i,
      .rst_ni,
      .valid_i(pfb_valid_i),
      .ready_o(pfb_ready_o),
      .data_i(pfb_i),
      .valid_o(pfb_v),
      .ready_i(pfb_pop),
      .data_o(pfb),
      .count_o(unused_counts[2])
  );

  // ---- registers and memories

  logic cfg_ack_q, cfg_ack_d;
  logic skip_inc_q, skip_inc_d, bad_inc_q, bad_inc_d, floor_inc_q, floor_inc_d;
  logic nopath_inc_q, nopath_inc_d;

  // The packet that leaves: stage e.
  logic e_valid_q, e_valid_d;
  pkt_t e_pkt_q;
  logic [EvW-1:0] e_idx_q;
  logic e_nopath_q;
  logic e_half_q, e_copy_q;  // a copy of it follows; it is that copy
  logic [EvW-1:0] e_first_q;  // on which the first one went

  logic [DestW-1:0] op_dest_q;  // of the QP that an operation is about

  // Turns of SKIP by time: an EV that is marked in one is due two turns later.
  logic [1:0] turn_q, due_turn;
  logic [15:0] turn_since_q;
  logic timed, turn_ends;
  logic [2:0] tag, due;
  assign timed = csr_i.skip_mode[1];
  assign turn_ends = tick_i - turn_since_q >= csr_i.skip_ticks;
  assign tag = timed ? tag_of(turn_q) : 3'(EvSkip);
  // Bug 109: due in the next turn.
  assign due_turn = (bug_i == BugSkipTooShort) ? turn_after(turn_after(turn_q))
      : turn_after(turn_q);
  assign due = tag_of(due_turn);

  tbl_qp_ctx_t cfg_ctx;
  tbl_ev_state_t cfg_ev_state;
  tbl_ev_gen_t cfg_gen;
  logic [QpW-1:0] cfg_qp;
  logic [GroupW-1:0] cfg_backup;
  assign cfg_ctx = cfg_i.data;
  assign cfg_ev_state = cfg_i.data[$bits(tbl_ev_state_t)-1:0];
  assign cfg_gen = cfg_i.data[$bits(tbl_ev_gen_t)-1:0];
  assign cfg_qp = cfg_i.index[QpW-1:0];
  assign cfg_backup = GroupW'(cfg_ctx.backup);

  logic path_free, rec_free, evev_free, bad_free;
  logic idle, cfg_now, op_cfg, op_fb, op_scrub, op_go;
  state_e state;
  logic emit, e_go, pkt_go;
  logic w_valid, walk_next, walk_end, walk_writes, chosen, choose, copy, copy_next, follows;
  logic [2:0] arb_req, arb_gnt;
  logic arb_any, ev_free;
  logic [1:0] unused_arb_idx;

  assign emit = e_valid_q && (rec_free || e_half_q) && (path_free || e_nopath_q);
  assign e_go = !e_valid_q || emit;

  assign idle = state == StIdle;
  assign cfg_now = cfg_i.req && !cfg_ack_q;
  assign op_go = idle && !w_valid && e_go;
  assign op_cfg = cfg_now && op_go;
  assign ev_free = evev_free && bad_free;
  assign arb_req = {pfb_v && ev_free, pkt_v, fb_v && ev_free};

  mrc_rr_arb #(
      .N(3)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i(arb_req),
      .take_i(pkt_pop || fb_pop || pfb_pop),
      .gnt_o(arb_gnt),
      .idx_o(unused_arb_idx),
      .any_o(arb_any)
  );

  // Feedback on a packet that had no path has no EV to act on.
  assign fb = arb_gnt[2] ? pfb : ifb;
  assign fb_pop = op_go && !cfg_now && arb_gnt[0];
  assign pfb_pop = op_go && !cfg_now && arb_gnt[2];
  assign op_fb = (fb_pop || pfb_pop) && fb.ev_idx != NoEv;
  assign pkt_go = idle && !cfg_now && arb_gnt[1];
  assign pkt_pop = pkt_go && (!w_valid || (walk_end && !copy_next));

  // ---- scrub: EVs of those QPs that have one out of use, when there is nothing else to do

  logic [5:0] scrub_div_q;
  logic scrub_due_q, scrub_due_d;
  logic scrub_any, scrub_bad;
  logic [QpW-1:0] scrub_qp;
  logic [EvW-1:0] scrub_ev;
  assign op_scrub = op_go && !cfg_now && !arb_any && scrub_due_q && scrub_any && bad_free;
  assign scrub_due_d = (scrub_div_q == 6'd63) || (scrub_due_q && !op_scrub);

  // ---- what is kept per QP: read for the packet at the head, and for the operation that begins

  logic [QpW-1:0] op_qp;
  logic [PlaceW-1:0] place, place_d;
  logic place_we, used_we, ctx_we, active_we;
  logic [NumPlanes-1:0] used, used_d;
  ctx_t pkt_ctx, op_ctx, ctx_d;
  logic [8:0] op_active, active_d;
  logic [QpW-1:0] place_waddr, active_waddr;

  always_comb begin
    if (cfg_now) begin
      op_qp = cfg_qp;
    end else if (arb_any) begin
      op_qp = fb.qp[QpW-1:0];
    end else begin
      op_qp = scrub_qp;
    end
  end

  mrc_rf_1r1w #(
      .Width(PlaceW),
      .Depth(NumQps)
  ) u_place (
      .clk_i,
      .raddr_i(pkt.qp[QpW-1:0]),
      .rdata_o(place),
      .we_i(place_we),
      .waddr_i(place_waddr),
      .wdata_i(place_d)
  );

  mrc_rf_1r1w #(
      .Width(NumPlanes),
      .Depth(NumQps)
  ) u_used (
      .clk_i,
      .raddr_i(pkt.qp[QpW-1:0]),
      .rdata_o(used),
      .we_i(used_we),
      .waddr_i(place_waddr),
      .wdata_i(used_d)
  );

  mrc_rf_2r1w #(
      .Width($bits(ctx_t)),
      .Depth(NumQps)
  ) u_ctx (
      .clk_i,
      .raddr0_i(pkt.qp[QpW-1:0]),
      .rdata0_o(pkt_ctx),
      .raddr1_i(op_qp),
      .rdata1_o(op_ctx),
      .we_i(ctx_we),
      .waddr_i(cfg_qp),
      .wdata_i(ctx_d)
  );

  mrc_rf_1r1w #(
      .Width(9),
      .Depth(NumQps)
  ) u_active (
      .clk_i,
      .raddr_i(op_qp),
      .rdata_o(op_active),
      .we_i(active_we),
      .waddr_i(active_waddr),
      .wdata_i(active_d)
  );

  // Own port and the peer's are up. Bug 44: the peer's do not matter.
  logic [1:0][NumPlanes-1:0] pmask;  // planes the peer's ports can receive on
  logic [NumPlanes-1:0] pkt_mask, op_ok;
  assign pkt_mask = (bug_i == BugPeerPortsIgnored) ? {NumPlanes{1'b1}} : pmask[0];
  assign op_ok = port_up_i & ((bug_i == BugPeerPortsIgnored) ? {NumPlanes{1'b1}} : pmask[1]);

  mrc_rf_reset #(
      .Width(NumPlanes),
      .Depth(NumDests),
      .Reads(2),
      .Reset({NumPlanes{1'b1}})
  ) u_pmask (
      .clk_i,
      .rst_ni,
      .raddr_i({op_dest_q, pkt_ctx.dest}),
      .rdata_o(pmask),
      .we_i(op_cfg && cfg_i.tbl == CfgTablePeerPorts),
      .waddr_i(cfg_i.index[DestW-1:0]),
      .wdata_i(cfg_i.data[NumPlanes-1:0])
  );

  logic evst_re, evst_we;
  logic [QpW+GroupW-1:0] evst_raddr, evst_waddr;
  row_t evst_rdata, evst_row, evst_wdata;
  logic fwd_q;  // the row was written in the cycle in which it was read
  row_t fwd_row_q;
  assign evst_row = fwd_q ? fwd_row_q : evst_rdata;

  mrc_ram_1r1w #(
      .Width(RowW),
      .Depth(NumQps * Groups)
  ) u_evst (
      .clk_i,
      .re_i(evst_re),
      .raddr_i(evst_raddr),
      .rdata_o(evst_rdata),
      .we_i(evst_we),
      .waddr_i(evst_waddr),
      .wdata_i(evst_wdata)
  );

  logic evval_re, evval_we;
  logic [ValW-1:0] evval_raddr, evval_waddr;
  logic [31:0] evval, evval_wdata;

  mrc_ram_1r1w #(
      .Width(32),
      .Depth(NumProfiles * EvsPerQp)
  ) u_evval (
      .clk_i,
      .re_i(evval_re),
      .raddr_i(evval_raddr),
      .rdata_o(evval),
      .we_i(evval_we),
      .waddr_i(evval_waddr),
      .wdata_i(evval_wdata)
  );
  // ---- the packet that walks: stage w

  pkt_t w_pkt;
  logic [5:0] w_profile;
  logic [EvW-1:0] chosen_idx, first_idx;
  logic [PlaceW-1:0] walk_place;
  logic [NumPlanes-1:0] left_u;
  logic [GroupW-1:0] w_group, next_group, pkt_group;
  logic walk_row_we, row_again;
  row_t walk_row;

  mrc_tx_path_walk #(
      .NumPlanes(NumPlanes),
      .NumQps(NumQps),
      .EvsPerQp(EvsPerQp)
  ) u_walk (
      .clk_i,
      .rst_ni,
      .bug_i,
      .lane_room_i,
      .port_up_i,
      .any_plane_i(csr_i.any_plane),
      .one_copy_i(csr_i.one_copy),
      .timed_i(timed),
      .due_i(due),
      .bad_waits_i(csr_i.bad_waits),
      .take_i(pkt_pop),
      .pkt_i(pkt),
      .place_i(place),
      .used_i(used),
      .profile_i(pkt_ctx.profile),
      .pmask_i(pkt_mask),
      .row_i(evst_row),
      .e_go_i(e_go),
      .valid_o(w_valid),
      .pkt_o(w_pkt),
      .profile_o(w_profile),
      .next_o(walk_next),
      .end_o(walk_end),
      .chosen_o(chosen),
      .choose_o(choose),
      .chosen_idx_o(chosen_idx),
      .copy_o(copy),
      .first_idx_o(first_idx),
      .again_o(copy_next),
      .follows_o(follows),
      .writes_o(walk_writes),
      .place_o(walk_place),
      .used_o(left_u),
      .group_o(w_group),
      .next_group_o(next_group),
      .pkt_group_o(pkt_group),
      .row_we_o(walk_row_we),
      .row_o(walk_row),
      .row_again_o(row_again)
  );

  assign e_valid_d = walk_end || (e_valid_q && !emit);

  // ---- operations

  logic set_ctx, set_ev_state, set_gen;
  logic op_row_we, cfg_done, evev_load, bad_load;
  logic [QpW+GroupW-1:0] find_addr, op_row_addr;
  row_t op_row;
  evev_t evev_d;
  badev_t bad_d;
  logic gen_write, gen_last;
  logic [EvW-1:0] gen_row, deny_idx;
  logic [31:0] gen_value;
  assign set_ctx = op_cfg && cfg_i.tbl == CfgTableQpCtx;
  assign set_ev_state = op_cfg && cfg_i.tbl == CfgTableEvState;
  assign set_gen = op_cfg && cfg_i.tbl == CfgTableEvGen;
  assign deny_idx = cfg_ev_state.ev_idx[EvW-1:0];

  logic loss, loss_counts;
  logic [QpW-1:0] loss_qp;
  logic [PlaneW-1:0] loss_plane;

  mrc_tx_path_scrub #(
      .NumQps(NumQps),
      .EvsPerQp(EvsPerQp)
  ) u_scrub (
      .clk_i,
      .rst_ni,
      .bug_i,
      .any_o(scrub_any),
      .qp_o(scrub_qp),
      .ev_o(scrub_ev),
      .go_i(op_scrub),
      .look_i(state == StScrub),
      .bad_i(scrub_bad),
      .join_i(bad_inc_d),
      .join_qp_i(loss_qp)
  );

  mrc_tx_path_world #(
      .NumPlanes(NumPlanes),
      .NumQps(NumQps)
  ) u_world (
      .clk_i,
      .bug_i,
      .loss_share_i(csr_i.loss_share),
      .epoch_i(tick_i[13:10]),
      .clear_i(set_ctx),
      .clear_qp_i(cfg_qp),
      .loss_i(loss),
      .qp_i(loss_qp),
      .plane_i(loss_plane),
      .counts_o(loss_counts)
  );

  mrc_tx_path_op #(
      .NumPlanes(NumPlanes),
      .NumQps(NumQps),
      .EvsPerQp(EvsPerQp)
  ) u_op (
      .clk_i,
      .rst_ni,
      .bug_i,
      .csr_i,
      .tag_i(tag),
      .init_i(set_ctx),
      .deny_i(set_ev_state),
      .gen_i(set_gen),
      .fb_go_i(op_fb),
      .fb_i(fb),
      .scrub_go_i(op_scrub),
      .scrub_i({scrub_qp, scrub_ev}),
      .scrub_bad_o(scrub_bad),
      .backup_i(op_ctx.backup),
      .active_i(op_active),
      .cfg_qp_i(cfg_qp),
      .cfg_backup_i(cfg_backup),
      .cfg_ev_i(deny_idx),
      .cfg_deny_i(cfg_ev_state.deny),
      .gen_last_i(gen_last),
      .row_i(evst_row),
      .value_i(evval),
      .plane_ok_i(op_ok),
      .loss_counts_i(loss_counts),
      .state_o(state),
      .loss_o(loss),
      .loss_qp_o(loss_qp),
      .loss_plane_o(loss_plane),
      .cfg_done_o(cfg_done),
      .find_addr_o(find_addr),
      .row_we_o(op_row_we),
      .row_addr_o(op_row_addr),
      .row_o(op_row),
      .active_we_o(active_we),
      .active_qp_o(active_waddr),
      .active_o(active_d),
      .evev_load_o(evev_load),
      .evev_o(evev_d),
      .bad_load_o(bad_load),
      .bad_o(bad_d),
      .skip_o(skip_inc_d),
      .bad_inc_o(bad_inc_d),
      .floor_o(floor_inc_d)
  );

  mrc_tx_path_gen #(
      .EvsPerQp(EvsPerQp)
  ) u_gen (
      .clk_i,
      .bug_i,
      .idle_i(idle),
      .run_i(state == StGen),
      .cfg_i(cfg_gen),
      .write_o(gen_write),
      .row_o(gen_row),
      .value_o(gen_value),
      .last_o(gen_last)
  );

  // ---- what is kept per QP: written

  // Bug 6: used is not written back.
  assign place_we = set_ctx || walk_writes;
  assign used_we = set_ctx || (walk_writes && bug_i != BugEvStuck);
  assign place_waddr = w_valid ? w_pkt.qp[QpW-1:0] : cfg_qp;
  assign used_d = w_valid ? left_u : '0;
  assign place_d = w_valid ? walk_place
      : {{GroupW{1'b0}}, 16'hACE1 ^ {1'b0, 15'(cfg_qp)}};

  assign ctx_we = set_ctx;
  assign ctx_d = '{
          profile: cfg_ctx.profile,
          backup: cfg_backup,
          dest: cfg_ctx.dest[DestW-1:0]
      };

  // ---- EV states

  always_comb begin
    evst_re = 1'b1;
    evst_raddr = {pkt.qp[QpW-1:0], pkt_group};
    if (walk_next) begin
      evst_raddr = {w_pkt.qp[QpW-1:0], next_group};
    end else if (copy_next) begin
      evst_re = follows;
      evst_raddr = {w_pkt.qp[QpW-1:0], pkt_group};
    end else if (state == StFind) begin
      evst_raddr = find_addr;
    end else if (cfg_now) begin
      evst_re = set_ev_state;
      evst_raddr = {cfg_qp, deny_idx[PlaneW+:GroupW]};
    end else if (arb_gnt[1]) begin
      evst_re = pkt_pop;
    end else if (arb_any) begin
      evst_re = op_fb;
      evst_raddr = {fb.qp[QpW-1:0], fb.ev_idx[PlaneW+:GroupW]};
    end else begin
      evst_re = op_scrub;
      evst_raddr = {scrub_qp, scrub_ev[PlaneW+:GroupW]};
    end
  end

  assign evst_we = idle ? walk_row_we : op_row_we;
  assign evst_waddr = idle ? {w_pkt.qp[QpW-1:0], w_group} : op_row_addr;
  assign evst_wdata = idle ? walk_row : op_row;

  // ---- EV values

  logic [5+EvW:0] evval_wide;
  logic [CsrTblCmdIndexWidth-1+EvW:0] gen_wide;
  assign gen_wide = {cfg_i.index, gen_row};

  always_comb begin
    if (w_valid) begin
      evval_wide = {w_profile, chosen_idx};
    end else if (arb_any) begin
      evval_wide = {op_ctx.profile, fb.ev_idx[EvW-1:0]};
    end else begin
      evval_wide = {op_ctx.profile, scrub_ev};
    end
  end

  assign evval_re = op_fb || op_scrub || choose;
  assign evval_raddr = evval_wide[ValW-1:0];
  assign evval_we = (op_cfg && cfg_i.tbl == CfgTableEv) || gen_write;
  assign evval_waddr = gen_write ? gen_wide[ValW-1:0] : cfg_i.index[ValW-1:0];
  assign evval_wdata = gen_write ? gen_value : cfg_i.data[31:0];

  // ---- outputs

  path_t path_d;
  rec_t rec_d;
  logic [EvW-1:0] rec_idx;

  assign path_d = '{
          pkt: e_pkt_q,
          ev: evval,
          ev_idx: {{(16 - EvW) {1'b0}}, e_idx_q},
          plane: {{(4 - PlaneW) {1'b0}}, e_idx_q[PlaneW-1:0]}
      };
  assign rec_idx = e_copy_q ? e_first_q : e_idx_q;
  assign rec_d = '{
          qp: e_pkt_q.qp,
          psn: e_pkt_q.psn,
          msn: e_pkt_q.msn,
          row: e_pkt_q.row,
          idx: e_pkt_q.idx,
          ev_idx: (e_nopath_q && !e_copy_q) ? NoEv : {{(16 - EvW) {1'b0}}, rec_idx},
          rtx: e_pkt_q.rtx,
          last: e_pkt_q.last,
          size: e_pkt_q.size,
          voided: e_nopath_q && e_pkt_q.voided
      };

  mrc_out_reg #(
      .T(path_t)
  ) u_path (
      .clk_i,
      .rst_ni,
      .load_i(emit && !e_nopath_q),
      .data_i(path_d),
      .free_o(path_free),
      .valid_o(path_valid_o),
      .ready_i(path_ready_i),
      .data_o(path_o)
  );

  mrc_out_reg #(
      .T(rec_t)
  ) u_rec (
      .clk_i,
      .rst_ni,
      .load_i(emit && !e_half_q),
      .data_i(rec_d),
      .free_o(rec_free),
      .valid_o(rec_valid_o),
      .ready_i(rec_ready_i),
      .data_o(rec_o)
  );

  mrc_out_reg #(
      .T(evev_t)
  ) u_evev (
      .clk_i,
      .rst_ni,
      .load_i(evev_load),
      .data_i(evev_d),
      .free_o(evev_free),
      .valid_o(evev_valid_o),
      .ready_i(evev_ready_i),
      .data_o(evev_o)
  );

  mrc_out_reg #(
      .T(badev_t)
  ) u_bad (
      .clk_i,
      .rst_ni,
      .load_i(bad_load),
      .data_i(bad_d),
      .free_o(bad_free),
      .valid_o(bad_valid_o),
      .ready_i(bad_ready_i),
      .data_o(bad_o)
  );

  assign nopath_inc_d = emit && e_nopath_q && !e_copy_q && !e_pkt_q.voided;
  assign pulses_o = '{skip: skip_inc_q, bad: bad_inc_q, floor: floor_inc_q, nopath: nopath_inc_q};
  assign cfg_ack_d = cfg_i.req && (cfg_ack_q || (op_cfg && cfg_i.tbl != CfgTableQpCtx
      && cfg_i.tbl != CfgTableEvState && cfg_i.tbl != CfgTableEvGen)
      || cfg_done);
  assign cfg_ack_o = cfg_ack_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      e_valid_q <= 1'b0;
      cfg_ack_q <= 1'b0;
      skip_inc_q <= 1'b0;
      bad_inc_q <= 1'b0;
      floor_inc_q <= 1'b0;
      nopath_inc_q <= 1'b0;
      scrub_div_q <= 6'd0;
      scrub_due_q <= 1'b0;
      turn_q <= 2'd0;
      turn_since_q <= 16'd0;
    end else begin
      if (turn_ends) begin
        turn_q <= turn_after(turn_q);
        turn_since_q <= tick_i;
      end
      scrub_div_q <= scrub_div_q + 6'd1;
      scrub_due_q <= scrub_due_d;
      e_valid_q <= e_valid_d;
      cfg_ack_q <= cfg_ack_d;
      skip_inc_q <= skip_inc_d;
      bad_inc_q <= bad_inc_d;
      floor_inc_q <= floor_inc_d;
      nopath_inc_q <= nopath_inc_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (walk_end) begin
      e_pkt_q <= w_pkt;
      e_idx_q <= chosen_idx;
      e_nopath_q <= !chosen;
      e_half_q <= follows;
      e_copy_q <= copy;
      e_first_q <= first_idx;
    end
    if (evst_re) begin
      fwd_q <= row_again;
    end
    if (walk_row_we) begin
      fwd_row_q <= walk_row;
    end
    if (op_fb) begin
      op_dest_q <= op_ctx.dest;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, unused_counts, unused_arb_idx, cfg_i.index, cfg_ctx.srv6,
                       cfg_ctx.dip, cfg_ctx.mpr_dest, cfg_ctx.dmac, cfg_ctx.rqmsn, cfg_ctx.msn,
                       cfg_ctx.max_wimm_dest, cfg_ctx.rq_psn, cfg_ctx.max_wimm, cfg_ctx.sq_psn,
                       cfg_ctx.retry_exp, cfg_ctx.timeout, cfg_ctx.pkey,
                       cfg_ctx.retry_linear, cfg_ctx.dqpn, cfg_ctx.mpr, cfg_ctx.rsvd13,
                       cfg_ctx.cc, cfg_ctx.dyn_mpr, cfg_ctx.svc_time, cfg_ctx.trim_nack,
                       cfg_ctx.ts, cfg_ctx.encap, cfg_ctx.mtu, cfg_ctx.state, cfg_ev_state.rsvd17,
                       pkt_ctx.backup, evval_wide, gen_wide};

  // ---- what always holds

  `MRC_POPS_A_WORD(Fb, fb_pop, fb_v)
  `MRC_POPS_A_WORD(Pfb, pfb_pop, pfb_v)
  `MRC_POPS_A_WORD(Pkt, pkt_pop, pkt_v)
  `MRC_ONE_HOT0(OneOperation, {fb_pop, pfb_pop, pkt_pop, op_cfg, op_scrub},
      "two operations in one cycle")
  `MRC_ASSERT_IF(WalkOrWork, !idle, !w_valid,
      "a packet walks under an operation")
  `MRC_ASSERT_IF(NoEvIsZero, gen_write, gen_value != 32'd0,
      "an EV of 0 is generated")
  `MRC_ASSERT(TurnInRange, turn_q != 2'd3,
      "a turn that there is not")
  `MRC_ASSERT_IF(CopyIsBehind, e_valid_q && e_half_q, !e_nopath_q && !e_copy_q && w_valid && copy,
      "a packet's record waits for a copy that there is not")
  `MRC_ASSERT_IF(CopyElsewhere, emit && e_copy_q && !e_nopath_q,
      e_idx_q[PlaneW-1:0] != e_first_q[PlaneW-1:0],
      "a copy goes on the plane of the first one")
  `MRC_ASSERT_IF(VoidedHasNoPath, emit && e_pkt_q.voided, e_nopath_q,
      "a packet that is not sent has a path")

endmodule
