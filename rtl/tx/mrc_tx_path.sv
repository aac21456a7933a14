// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// An entropy value for each packet (docs/blocks/tx/tx_path.md): walks the EV set of the QP group
/// by group, one EV per plane in each, in an order that changes each pass, and takes the next GOOD
/// EV whose lane has room, on a plane whose port is up here and at the peer. A packet per cycle, of
/// one QP as of many, three cycles after it came; one cycle more for each group that it finds used
/// up. On feedback, between packets, it marks an EV SKIP, takes a bad one out of use and a backup
/// EV of the same plane in, or the other way round: two cycles, and two per backup group looked at.
/// A packet that finds no usable EV gets no path: only its record goes on, as if it were sent. It
/// fills EV profiles by itself (EV_GEN: one row per cycle, or one in 32). It neither counts losses
/// nor probes EVs.
module mrc_tx_path
  import mrc_pkg::*;
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
    output logic skip_inc_o,
    output logic bad_inc_o,
    output logic floor_inc_o,
    output logic nopath_inc_o,

    input logic cfg_req_i,
    input logic [3:0] cfg_table_i,
    input logic [15:0] cfg_index_i,
    input logic [511:0] cfg_data_i,
    output logic cfg_ack_o
);

  localparam int unsigned Groups = EvsPerQp / NumPlanes;
  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned EvW = $clog2(EvsPerQp);
  localparam int unsigned PlaneW = $clog2(NumPlanes);
  localparam int unsigned GroupW = $clog2(Groups);
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

  typedef enum logic [3:0] {
    StIdle,
    StInit,
    StDeny,
    StGen,
    StFb,
    StFind,
    StTest,
    StJudge,
    StScrub
  } state_e;

  // Where the walk of a QP stands.
  typedef struct packed {
    logic [GroupW-1:0] grp;
    logic [15:0] lfsr;
  } place_t;

  // What QP_CTX says of a QP.
  typedef struct packed {
    logic [7:0] profile;
    logic [GroupW-1:0] backup;  // groups at the end of the set
    logic [DestW-1:0] dest;
  } ctx_t;

  typedef logic [NumPlanes-1:0][2:0] row_t;

  localparam logic [15:0] NoEv = 16'hFFFF;

  // Planes whose number has bit l set.
  function automatic logic [PlaneW-1:0][NumPlanes-1:0] upper_planes();
    logic [PlaneW-1:0][NumPlanes-1:0] masks;
    for (int unsigned l = 0; l < PlaneW; l++) begin
      for (int unsigned j = 0; j < NumPlanes; j++) begin
        masks[l][j] = ((j >> l) & 1) == 1;
      end
    end
    return masks;
  endfunction

  localparam logic [PlaneW-1:0][NumPlanes-1:0] Upper = upper_planes();

  // For each plane: does x hold a plane that comes before it, in the order k ^ key, k = 0, 1, ...?
  // Two planes are told apart by the highest bit in which they differ: with l that bit, the other
  // one is in the neighbouring block of 2^l planes, and comes first if bit l of this plane is not
  // the key's. So a plane asks its neighbour block of each size; no scan.
  function automatic logic [NumPlanes-1:0] any_before(logic [NumPlanes-1:0] x,
                                                      logic [PlaneW-1:0] key);
    logic [NumPlanes-1:0] blocks, other, seen;
    blocks = x;
    seen = '0;
    for (int unsigned l = 0; l < PlaneW; l++) begin
      other = ((blocks << (1 << l)) & Upper[l]) | ((blocks >> (1 << l)) & ~Upper[l]);
      seen |= other & (key[l] ? ~Upper[l] : Upper[l]);
      blocks |= other;
    end
    return seen;
  endfunction

  // The number of the only plane in x.
  function automatic logic [PlaneW-1:0] plane_of(logic [NumPlanes-1:0] x);
    logic [PlaneW-1:0] plane;
    for (int unsigned l = 0; l < PlaneW; l++) begin
      plane[l] = |(x & Upper[l]);
    end
    return plane;
  endfunction

  function automatic logic [15:0] lfsr_next(logic [15:0] x);
    return {1'b0, x[15:1]} ^ (x[0] ? 16'hB400 : 16'h0000);
  endfunction

  function automatic logic [31:0] xorshift(logic [31:0] x);
    logic [31:0] y;
    y = x ^ (x << 13);
    y = y ^ (y >> 17);
    return y ^ (y << 5);
  endfunction

  // Marked, once or twice.
  function automatic logic skipped(logic [2:0] st);
    return st == 3'(EvSkip) || st == 3'(EvSkip2);
  endfunction

  // In use: what the QP's count of active EVs counts.
  function automatic logic in_use(logic [2:0] st);
    return st == 3'(EvGood) || skipped(st);
  endfunction

  // The part of the pass key that turns the groups; the low part turns the planes.
  function automatic logic [GroupW-1:0] key_hi(logic [15:0] x);
    return GroupW'(x >> PlaneW);
  endfunction

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

  state_e state_q, state_d;
  logic cfg_ack_q, cfg_ack_d;
  logic skip_inc_q, skip_inc_d, bad_inc_q, bad_inc_d, floor_inc_q, floor_inc_d;
  logic nopath_inc_q, nopath_inc_d;

  // The packet that walks, w, and the one that leaves, e.
  logic w_valid_q, w_valid_d, e_valid_q, e_valid_d;
  pkt_t w_pkt_q, e_pkt_q;
  logic [7:0] w_profile_q;
  logic [NumPlanes-1:0] w_pmask_q;  // of its destination: tables wait until w is empty
  logic [GroupW-1:0] w_grp_q, w_grp_d;
  logic [15:0] w_lfsr_q, w_lfsr_d;
  logic [NumPlanes-1:0] w_u_q, w_u_d;
  logic [GroupW-1:0] w_group_q, w_group_d;  // the group as addressed: turned by the key
  logic restored_q, restored_d;
  logic [EvW-1:0] restored_idx_q, restored_idx_d;
  logic whole_q, whole_d;  // this walk has been there since its pass began
  logic avoid_on_q, avoid_on_d;
  logic [EvW-1:0] e_idx_q;
  logic e_nopath_q;

  fb_t fb_q;
  logic [GroupW-1:0] op_backup_q;  // of the QP that an operation is about
  logic [DestW-1:0] op_dest_q;
  logic [8:0] op_active_q;
  row_t keep_q;  // the row of an EV that failed, as it was before
  logic [GroupW-1:0] f_q, f_d;  // backup group looked at
  logic revive_q, revive_d;
  logic found_q, found_d;
  logic [QpW-1:0] init_qp_q, init_qp_d;
  logic [GroupW-1:0] init_cnt_q, init_cnt_d;

  logic [EvW-1:0] gen_row_q, gen_row_d;
  logic [4:0] gen_bit_q, gen_bit_d;
  logic [31:0] gen_num_q, gen_num_d;  // the number of the row
  logic [31:0] gen_rest_q, gen_rest_d;  // its bits not used yet
  logic [31:0] gen_out_q, gen_out_d;
  logic [NumDests-1:0][NumPlanes-1:0] pmask_q;  // planes the peer's ports can receive on

  tbl_qp_ctx_t cfg_ctx;
  tbl_ev_state_t cfg_ev_state;
  tbl_ev_gen_t cfg_gen;
  logic [QpW-1:0] cfg_qp;
  logic [GroupW-1:0] cfg_backup;
  assign cfg_ctx = cfg_data_i;
  assign cfg_ev_state = cfg_data_i[$bits(tbl_ev_state_t)-1:0];
  assign cfg_gen = cfg_data_i[$bits(tbl_ev_gen_t)-1:0];
  assign cfg_qp = cfg_index_i[QpW-1:0];
  assign cfg_backup = GroupW'(cfg_ctx.backup);

  logic path_free, rec_free, evev_free, bad_free;
  logic idle, cfg_now, op_cfg, op_fb, op_scrub, op_go;
  logic emit, e_go, walk_end, pkt_go;
  logic [2:0] arb_req, arb_gnt;
  logic arb_any, ev_free;
  logic [1:0] unused_arb_idx;

  assign emit = e_valid_q && rec_free && (path_free || e_nopath_q);
  assign e_go = !e_valid_q || emit;

  assign idle = state_q == StIdle;
  assign cfg_now = cfg_req_i && !cfg_ack_q;
  assign op_go = idle && !w_valid_q && e_go;
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
  assign pkt_pop = pkt_go && (!w_valid_q || walk_end);

  // ---- scrub: one EV after the other, when there is nothing else to do

  logic [5:0] scrub_div_q;
  logic scrub_due_q, scrub_due_d;
  logic [QpW+EvW-1:0] scrub_q, scrub_d, scrub_keep_q;
  logic [NumQps-1:0] known_q;  // QPs that have had a QP_CTX: the others' memories are empty
  logic scrub_known, scrub_bad;
  assign op_scrub = op_go && !cfg_now && !arb_any && scrub_due_q && bad_free;
  assign scrub_known = known_q[scrub_q[EvW+:QpW]];
  assign scrub_due_d = (scrub_div_q == 6'd63) || (scrub_due_q && !op_scrub);
  assign scrub_d = scrub_q + (QpW + EvW)'(1);

  // ---- what is kept per QP: read for the packet at the head, and for the operation that begins

  logic [QpW-1:0] op_qp;
  place_t place, place_d;
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
      op_qp = scrub_q[EvW+:QpW];
    end
  end

  mrc_rf_1r1w #(
      .Width($bits(place_t)),
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
  logic [NumPlanes-1:0] w_ok, op_ok;
  assign w_ok = port_up_i & w_pmask_q;
  assign op_ok = port_up_i
                 & ((bug_i == BugPeerPortsIgnored) ? {NumPlanes{1'b1}} : pmask_q[op_dest_q]);

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

  // ---- one look at a group: all planes at once, the order is in any_before

  logic [PlaneW-1:0] key_lo;
  row_t look_row;
  logic [NumPlanes-1:0] act, mark, mark2, out, avoid, good, cand, no_room;
  logic [NumPlanes-1:0] passed, hit, first_mark, restore, look_u;
  logic look_changed, group_done, avoid_here, restored_here;

  assign key_lo = w_lfsr_q[PlaneW-1:0];
  // The EV to avoid, and the one that this walk has restored (another pass comes to it again).
  assign avoid_here = avoid_on_q && w_pkt_q.avoid_ev[15:PlaneW] == (16 - PlaneW)'(w_group_q);
  assign restored_here = restored_q && restored_idx_q[PlaneW+:GroupW] == w_group_q;

  always_comb begin
    act = '0;
    mark = '0;
    mark2 = '0;
    out = '0;
    avoid = '0;
    good = '0;
    cand = '0;
    no_room = '0;
    passed = '0;
    hit = '0;
    first_mark = '0;
    restore = '0;
    look_u = w_u_q;
    look_row = evst_row;
    if (w_valid_q) begin
      if (!w_pkt_q.voided) begin
        act = ~w_u_q & w_ok;
      end
      for (int unsigned j = 0; j < NumPlanes; j++) begin
        // Bug 5: a mark means nothing. Bug 45: neither does the controller's word.
        mark[j] = evst_row[j] == 3'(EvSkip) && bug_i != BugSkipIgnored;
        mark2[j] = evst_row[j] == 3'(EvSkip2) && bug_i != BugSkipIgnored;
        out[j] = evst_row[j] == 3'(EvBad) || evst_row[j] == 3'(EvStandby)
            || (evst_row[j] == 3'(EvDenied) && bug_i != BugDeniedEvUsed);
        avoid[j] = (avoid_here && w_pkt_q.avoid_ev[PlaneW-1:0] == PlaneW'(j))
            || (restored_here && restored_idx_q[PlaneW-1:0] == PlaneW'(j));
      end
      good = act & ~(mark | mark2 | out | avoid);
      cand = good & lane_room_i;
      no_room = good & ~lane_room_i;
      // Nobody looks beyond the choice.
      passed = any_before(cand, key_lo);
      hit = cand & ~passed;
      mark &= act;
      mark2 &= act & ~passed;
      first_mark = restored_q ? '0 : mark & ~any_before(mark, key_lo);
      restore = first_mark & ~passed;
      look_u = w_u_q | (act & ~passed & ~no_room);
      for (int unsigned j = 0; j < NumPlanes; j++) begin
        if (mark2[j]) begin
          look_row[j] = 3'(EvSkip);
        end else if (restore[j]) begin
          look_row[j] = 3'(EvGood);
        end
      end
    end
  end

  assign look_changed = |(mark2 | restore);
  // With a choice made: nothing is left in this group (look_u | ~w_ok is all ones).
  assign group_done = !(|(act & (passed | no_room)));

  // ---- what follows from it

  logic w_dead, found, exhausted, last_group, seen_all, whole_set;
  logic restored_ok, restored_room, use_restored, chosen;
  logic none_usable, choose, give_up, walk_next, walk_writes;
  logic [PlaneW-1:0] restored_plane;
  logic [EvW-1:0] chosen_idx, look_restored_idx;

  assign w_dead = w_pkt_q.voided || w_ok == '0;
  assign found = |cand;
  assign exhausted = w_valid_q && !w_dead && good == '0;
  // This is the last group of a pass that this walk has seen from its beginning.
  assign last_group = w_grp_q == GroupW'(Groups - 1);
  assign seen_all = whole_q && last_group;
  assign whole_set = exhausted && seen_all;
  // What was restored, in this group (exhausted: the whole of it is seen, so the first mark is)
  // or before. Whose plane fell in the meantime is not waited for.
  assign restored_plane = restored_idx_q[PlaneW-1:0];
  assign restored_ok = restored_q ? w_ok[restored_plane] : first_mark != '0;
  assign restored_room = restored_q ? lane_room_i[restored_plane]
      : (first_mark & lane_room_i) != '0;
  assign look_restored_idx = restored_q ? restored_idx_q : {w_group_q, plane_of(first_mark)};
  assign use_restored = whole_set && restored_ok && restored_room;
  assign chosen = found || use_restored;
  assign chosen_idx = whole_set ? look_restored_idx : {w_group_q, plane_of(hit)};
  assign none_usable = whole_set && !restored_ok && !avoid_on_q;
  assign walk_next = exhausted && !(seen_all && (restored_ok || !avoid_on_q));

  assign choose = chosen && e_go;
  assign give_up = none_usable && e_go;
  assign walk_writes = choose || give_up;
  assign walk_end = walk_writes || (w_valid_q && w_dead && e_go);

  // Where the QP's next packet begins: here, or in the next group. Both are there before it is
  // known which of them it is.
  logic advance, group_stays, same_qp;
  place_t next_place;
  logic [GroupW-1:0] next_group, pkt_group;
  logic [NumPlanes-1:0] left_u;
  assign next_place.grp = w_grp_q + GroupW'(1);
  assign next_place.lfsr =
      (last_group && bug_i != BugWalkKeyStuck) ? lfsr_next(w_lfsr_q) : w_lfsr_q;
  assign next_group = next_place.grp ^ key_hi(next_place.lfsr);
  assign group_stays = next_group == w_group_q;
  assign advance = chosen && group_done;
  assign left_u = advance ? '0 : look_u;
  // A packet that ends here without a walk leaves the QP's place alone.
  assign same_qp = w_valid_q && !w_dead && pkt.qp[QpW-1:0] == w_pkt_q.qp[QpW-1:0];

  always_comb begin
    pkt_group = place.grp ^ key_hi(place.lfsr);
    if (same_qp) begin
      pkt_group = advance ? next_group : w_group_q;
    end
  end

  // ---- the stages

  always_comb begin
    w_valid_d = pkt_pop || (w_valid_q && !walk_end);
    e_valid_d = walk_end || (e_valid_q && !emit);
    w_grp_d = w_grp_q;
    w_lfsr_d = w_lfsr_q;
    w_u_d = w_u_q;
    w_group_d = w_group_q;
    restored_d = restored_q;
    restored_idx_d = restored_idx_q;
    whole_d = whole_q;
    avoid_on_d = avoid_on_q;
    if (walk_next) begin
      w_grp_d = next_place.grp;
      w_lfsr_d = next_place.lfsr;
      w_u_d = '0;
      w_group_d = next_group;
      restored_d = restored_q || first_mark != '0;
      restored_idx_d = look_restored_idx;
      if (last_group) begin
        whole_d = 1'b1;
      end
      if (seen_all) begin
        avoid_on_d = 1'b0;
      end
    end else if (pkt_pop) begin
      w_group_d = pkt_group;
      {w_grp_d, w_lfsr_d} = place;
      w_u_d = used;
      whole_d = place.grp == '0 && used == '0;
      if (same_qp) begin
        // Whoever ends a walk without going on has used something of the group.
        whole_d = advance && last_group;
        {w_grp_d, w_lfsr_d} = advance ? next_place : {w_grp_q, w_lfsr_q};
        if (bug_i != BugEvStuck) begin
          w_u_d = left_u;
        end
      end
      // Bug 62: a walk that begins in the middle of a pass takes it for the whole set.
      if (bug_i == BugWalkEndsEarly) begin
        whole_d = 1'b1;
      end
      restored_d = 1'b0;
      avoid_on_d = pkt.rtx;
    end
  end

  // ---- what feedback does to an EV, and which backup EV takes its place or leaves it

  logic fb_now, fb_match, fb_in_use, fb_mark, fb_fail, fb_revive;
  logic test_fail, test_revive, test_last, more_active, judge_keep, judge_bad;
  logic [PlaneW-1:0] fb_plane, test_plane;
  logic [GroupW-1:0] fb_group, backup_first;
  logic [2:0] fb_state, test_state;
  assign fb_plane = fb_q.ev_idx[PlaneW-1:0];
  assign fb_group = fb_q.ev_idx[PlaneW+:GroupW];
  assign fb_now = state_q == StFb;
  assign fb_match = evval == fb_q.entropy;
  assign fb_state = evst_row[fb_plane];
  assign fb_in_use = in_use(fb_state);
  assign fb_mark = fb_now && fb_q.kind == 3'd1 && fb_match
      && (fb_state == 3'(EvGood) || (csr_i.skip_twice && fb_state == 3'(EvSkip)));
  // A loss on a plane without ports says nothing about the EV.
  assign fb_fail = fb_now && ((fb_q.kind == 3'd2 && fb_match)
      || (fb_q.kind == 3'd3 && op_ok[fb_plane])) && fb_in_use;
  assign fb_revive = fb_now && (fb_q.kind == 3'd4 || fb_q.kind == 3'd5)
      && fb_state == 3'(EvBad);
  assign backup_first = GroupW'(Groups) - op_backup_q;

  // Bug 29: an EV of the next plane takes the place of the bad one.
  assign test_plane =
      (bug_i == BugBackupOfNextPlane && !revive_q) ? fb_plane + PlaneW'(1) : fb_plane;
  assign test_state = evst_row[test_plane];
  assign test_fail = state_q == StTest && !revive_q && test_state == 3'(EvStandby);
  assign test_revive = state_q == StTest && revive_q && f_q != fb_group
      && in_use(test_state);
  assign test_last = f_q == GroupW'(Groups - 1);
  assign more_active = (fb_revive && op_backup_q == '0)
      || (state_q == StTest && revive_q && !test_revive && test_last);

  // The floor: without a replacement the EV stays while too few would be left.
  assign judge_keep = state_q == StJudge && !found_q && op_active_q <= csr_i.ev_min_active;
  assign judge_bad = state_q == StJudge && !judge_keep;

  // ---- EVs that the controller denies, profiles that fill themselves

  logic deny, undeny, deny_active, gen_write, gen_last;
  logic [EvW-1:0] deny_idx;
  logic [2:0] deny_state;
  assign deny_idx = cfg_ev_state.ev_idx[EvW-1:0];
  assign deny_state = evst_row[deny_idx[PlaneW-1:0]];
  assign deny = state_q == StDeny && cfg_ev_state.deny && deny_state != 3'(EvDenied);
  assign deny_active = deny && in_use(deny_state);
  assign undeny = state_q == StDeny && !cfg_ev_state.deny && deny_state == 3'(EvDenied);
  assign gen_write = state_q == StGen && (!cfg_gen.mode || gen_bit_q == 5'd31);
  assign gen_last = gen_write && gen_row_q == EvW'(EvsPerQp - 1);

  always_comb begin
    gen_row_d = gen_row_q;
    gen_bit_d = gen_bit_q;
    gen_num_d = gen_num_q;
    gen_rest_d = gen_rest_q;
    gen_out_d = gen_out_q;
    if (idle) begin
      gen_row_d = '0;
      gen_bit_d = 5'd0;
      gen_num_d = cfg_gen.seed;
      gen_rest_d = cfg_gen.seed;
    end else if (state_q == StGen) begin
      gen_row_d = gen_write ? gen_row_q + EvW'(1) : gen_row_q;
      if (!cfg_gen.mode) begin
        gen_num_d = xorshift(gen_num_q);
        // Bits that do not travel are not random: no mark would find its EV.
        gen_out_d = (cfg_gen.mask == 32'd0) ? gen_num_d
            : (gen_num_d & cfg_gen.mask) | (cfg_gen.init & ~cfg_gen.mask);
      end else begin
        gen_bit_d = gen_bit_q + 5'd1;
        gen_out_d[gen_bit_q] = cfg_gen.mask[gen_bit_q] ? gen_rest_q[0] : cfg_gen.init[gen_bit_q];
        gen_rest_d = cfg_gen.mask[gen_bit_q] ? gen_rest_q >> 1 : gen_rest_q;
        if (gen_write) begin
          // Bug 46: the numbers go on beyond max_val.
          gen_num_d = (gen_num_q == cfg_gen.max_val && bug_i != BugGeneratedEvRunsOn) ? 32'd0
              : gen_num_q + 32'd1;
          gen_rest_d = gen_num_d;
        end
      end
    end
  end

  always_comb begin
    state_d = state_q;
    init_qp_d = init_qp_q;
    init_cnt_d = init_cnt_q;
    f_d = f_q;
    revive_d = revive_q;
    found_d = found_q;
    unique case (state_q)
      StIdle: begin
        if (op_cfg) begin
          if (cfg_table_i == CfgTableQpCtx) begin
            init_qp_d = cfg_qp;
            init_cnt_d = '0;
            state_d = StInit;
          end else if (cfg_table_i == CfgTableEvState) begin
            state_d = StDeny;
          end else if (cfg_table_i == CfgTableEvGen) begin
            state_d = StGen;
          end
        end else if (op_fb) begin
          state_d = StFb;
        end else if (op_scrub && scrub_known) begin
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
        if (gen_last) begin
          state_d = StIdle;
        end
      end
      StFb: begin
        state_d = StIdle;
        f_d = backup_first;
        revive_d = fb_revive;
        found_d = 1'b0;
        if (fb_fail) begin
          state_d = (op_backup_q == '0) ? StJudge : StFind;
        end else if (fb_revive && op_backup_q != '0) begin
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

  logic set_ctx;
  assign set_ctx = op_cfg && cfg_table_i == CfgTableQpCtx;

  // Bug 6: used is not written back.
  assign place_we = set_ctx || walk_writes;
  assign used_we = set_ctx || (walk_writes && bug_i != BugEvStuck);
  assign place_waddr = w_valid_q ? w_pkt_q.qp[QpW-1:0] : cfg_qp;
  assign used_d = w_valid_q ? left_u : '0;

  always_comb begin
    if (!w_valid_q) begin
      place_d = '{grp: '0, lfsr: 16'hACE1 ^ {{(16 - QpW) {1'b0}}, cfg_qp}};
    end else if (advance) begin
      place_d = next_place;
    end else begin
      place_d = '{grp: w_grp_q, lfsr: w_lfsr_q};
    end
  end

  assign ctx_we = set_ctx;
  assign ctx_d = '{
          profile: cfg_ctx.profile,
          backup: cfg_backup,
          dest: cfg_ctx.dest[DestW-1:0]
      };

  logic less_active;
  assign less_active = deny_active || (judge_bad && !found_q);
  assign active_we = set_ctx || more_active || undeny || less_active;
  assign active_waddr = (idle || state_q == StDeny) ? cfg_qp : fb_q.qp[QpW-1:0];

  always_comb begin
    if (idle) begin
      active_d = 9'(EvsPerQp) - (9'(cfg_backup) << PlaneW);
    end else begin
      active_d = op_active_q + (less_active ? 9'h1FF : 9'h001);
    end
  end

  // ---- EV states

  always_comb begin
    evst_re = 1'b1;
    evst_raddr = {pkt.qp[QpW-1:0], pkt_group};
    if (walk_next) begin
      evst_raddr = {w_pkt_q.qp[QpW-1:0], next_group};
    end else if (state_q == StFind) begin
      evst_raddr = {fb_q.qp[QpW-1:0], f_q};
    end else if (cfg_now) begin
      evst_re = op_cfg && cfg_table_i == CfgTableEvState;
      evst_raddr = {cfg_qp, deny_idx[PlaneW+:GroupW]};
    end else if (arb_gnt[1]) begin
      evst_re = pkt_pop;
    end else if (arb_any) begin
      evst_re = op_fb;
      evst_raddr = {fb.qp[QpW-1:0], fb.ev_idx[PlaneW+:GroupW]};
    end else begin
      evst_re = op_scrub && scrub_known;
      evst_raddr = {scrub_q[EvW+:QpW], scrub_q[PlaneW+:GroupW]};
    end
  end

  // Only the walk writes in the cycle of a read: the row that it goes on with, or that the next
  // packet of the QP begins with, can be the one that it leaves.
  logic fwd_d, walk_row_we;
  assign walk_row_we = look_changed && (walk_writes || walk_next);
  assign fwd_d = walk_row_we && ((walk_next || advance) ? group_stays : 1'b1)
      && (walk_next || (pkt_pop && same_qp));

  always_comb begin
    evst_we = 1'b0;
    evst_waddr = {w_pkt_q.qp[QpW-1:0], w_group_q};
    evst_wdata = look_row;
    if (state_q == StInit) begin
      evst_we = 1'b1;
      evst_waddr = {init_qp_q, init_cnt_q};
      evst_wdata = (8'(init_cnt_q) + 8'(cfg_backup) < 8'(Groups)) ? {NumPlanes{3'(EvGood)}}
          : {NumPlanes{3'(EvStandby)}};
    end else if (fb_now) begin
      evst_we = fb_mark || fb_fail || fb_revive;
      evst_waddr = {fb_q.qp[QpW-1:0], fb_group};
      evst_wdata = evst_row;
      if (fb_fail) begin
        evst_wdata[fb_plane] = 3'(EvBad);
      end else if (fb_revive && fb_q.kind == 3'd4) begin
        evst_wdata[fb_plane] = 3'(EvGood);
      end else begin
        // What is marked again, or comes back marked.
        evst_wdata[fb_plane] = (fb_mark && fb_state == 3'(EvSkip)) ? 3'(EvSkip2) : 3'(EvSkip);
      end
    end else if (state_q == StDeny) begin
      evst_we = deny || undeny;
      evst_waddr = {cfg_qp, deny_idx[PlaneW+:GroupW]};
      evst_wdata = evst_row;
      evst_wdata[deny_idx[PlaneW-1:0]] = deny ? 3'(EvDenied) : 3'(EvGood);
    end else if (state_q == StTest) begin
      evst_we = test_fail || test_revive;
      evst_waddr = {fb_q.qp[QpW-1:0], f_q};
      evst_wdata = evst_row;
      evst_wdata[test_plane] = revive_q ? 3'(EvStandby) : 3'(EvGood);
    end else if (state_q == StJudge) begin
      evst_we = judge_keep;
      evst_waddr = {fb_q.qp[QpW-1:0], fb_group};
      evst_wdata = keep_q;
    end else begin
      evst_we = walk_row_we;
    end
  end

  // ---- EV values

  logic [7+EvW:0] evval_wide;
  logic [15+EvW:0] gen_wide;
  assign gen_wide = {cfg_index_i, gen_row_q};

  always_comb begin
    if (w_valid_q) begin
      evval_wide = {w_profile_q, chosen_idx};
    end else if (arb_any) begin
      evval_wide = {op_ctx.profile, fb.ev_idx[EvW-1:0]};
    end else begin
      evval_wide = {op_ctx.profile, scrub_q[EvW-1:0]};
    end
  end

  assign evval_re = op_fb || (op_scrub && scrub_known) || choose;
  assign evval_raddr = evval_wide[ValW-1:0];
  assign evval_we = (op_cfg && cfg_table_i == CfgTableEv) || gen_write;
  assign evval_waddr = gen_write ? gen_wide[ValW-1:0] : cfg_index_i[ValW-1:0];
  assign evval_wdata = gen_write ? gen_out_d : cfg_data_i[31:0];

  // ---- outputs

  path_t path_d;
  rec_t rec_d;

  assign path_d = '{
          pkt: e_pkt_q,
          ev: evval,
          ev_idx: {{(16 - EvW) {1'b0}}, e_idx_q},
          plane: {{(4 - PlaneW) {1'b0}}, e_idx_q[PlaneW-1:0]}
      };
  assign rec_d = '{
          qp: e_pkt_q.qp,
          psn: e_pkt_q.psn,
          msn: e_pkt_q.msn,
          row: e_pkt_q.row,
          idx: e_pkt_q.idx,
          ev_idx: e_nopath_q ? NoEv : {{(16 - EvW) {1'b0}}, e_idx_q},
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
      .load_i(emit),
      .data_i(rec_d),
      .free_o(rec_free),
      .valid_o(rec_valid_o),
      .ready_i(rec_ready_i),
      .data_o(rec_o)
  );

  evev_t evev_d;
  badev_t bad_d;
  logic [EvW-1:0] fb_idx;
  assign fb_idx = fb_q.ev_idx[EvW-1:0];

  assign evev_d = '{
          qp: fb_q.qp,
          ev_idx: {{(12 - EvW) {1'b0}}, fb_idx},
          state: fb_now ? 3'(EvGood) : 3'(EvBad),
          floor: judge_keep
      };
  // The value has been read for the comparison; no other one since then.
  assign scrub_bad = state_q == StScrub && evst_row[scrub_keep_q[PlaneW-1:0]] == 3'(EvBad);
  assign bad_d = '{
          qp: scrub_bad ? {{(16 - QpW) {1'b0}}, scrub_keep_q[EvW+:QpW]} : fb_q.qp,
          ev_idx: {{(16 - EvW) {1'b0}}, scrub_bad ? scrub_keep_q[EvW-1:0] : fb_idx},
          ev: evval
      };

  mrc_out_reg #(
      .T(evev_t)
  ) u_evev (
      .clk_i,
      .rst_ni,
      .load_i(fb_revive || state_q == StJudge),
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
      .load_i(judge_bad || scrub_bad),
      .data_i(bad_d),
      .free_o(bad_free),
      .valid_o(bad_valid_o),
      .ready_i(bad_ready_i),
      .data_o(bad_o)
  );

  assign skip_inc_d = fb_mark;
  assign bad_inc_d = judge_bad;
  assign floor_inc_d = judge_keep;
  assign nopath_inc_d = emit && e_nopath_q && !e_pkt_q.voided;
  assign skip_inc_o = skip_inc_q;
  assign bad_inc_o = bad_inc_q;
  assign floor_inc_o = floor_inc_q;
  assign nopath_inc_o = nopath_inc_q;
  assign cfg_ack_d = cfg_req_i && (cfg_ack_q || (op_cfg && cfg_table_i != CfgTableQpCtx
      && cfg_table_i != CfgTableEvState && cfg_table_i != CfgTableEvGen)
      || state_q == StDeny || gen_last
      || (state_q == StInit && init_cnt_q == GroupW'(Groups - 1)));
  assign cfg_ack_o = cfg_ack_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      w_valid_q <= 1'b0;
      e_valid_q <= 1'b0;
      cfg_ack_q <= 1'b0;
      skip_inc_q <= 1'b0;
      bad_inc_q <= 1'b0;
      floor_inc_q <= 1'b0;
      nopath_inc_q <= 1'b0;
      scrub_div_q <= 6'd0;
      scrub_due_q <= 1'b0;
      scrub_q <= '0;
      known_q <= '0;
    end else begin
      scrub_div_q <= scrub_div_q + 6'd1;
      scrub_due_q <= scrub_due_d;
      if (op_scrub) begin
        scrub_q <= scrub_d;
      end
      if (set_ctx) begin
        known_q[cfg_qp] <= 1'b1;
      end
      state_q <= state_d;
      w_valid_q <= w_valid_d;
      e_valid_q <= e_valid_d;
      cfg_ack_q <= cfg_ack_d;
      skip_inc_q <= skip_inc_d;
      bad_inc_q <= bad_inc_d;
      floor_inc_q <= floor_inc_d;
      nopath_inc_q <= nopath_inc_d;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pmask_q <= '1;
    end else if (op_cfg && cfg_table_i == CfgTablePeerPorts) begin
      pmask_q[cfg_index_i[DestW-1:0]] <= cfg_data_i[NumPlanes-1:0];
    end
  end

  always_ff @(posedge clk_i) begin
    w_grp_q <= w_grp_d;
    w_lfsr_q <= w_lfsr_d;
    w_u_q <= w_u_d;
    w_group_q <= w_group_d;
    restored_q <= restored_d;
    restored_idx_q <= restored_idx_d;
    whole_q <= whole_d;
    avoid_on_q <= avoid_on_d;
    init_qp_q <= init_qp_d;
    init_cnt_q <= init_cnt_d;
    f_q <= f_d;
    revive_q <= revive_d;
    found_q <= found_d;
    gen_row_q <= gen_row_d;
    gen_bit_q <= gen_bit_d;
    gen_num_q <= gen_num_d;
    gen_rest_q <= gen_rest_d;
    gen_out_q <= gen_out_d;
    if (fb_now) begin
      keep_q <= evst_row;
    end
    if (pkt_pop) begin
      w_pkt_q <= pkt;
      w_profile_q <= pkt_ctx.profile;
      w_pmask_q <= (bug_i == BugPeerPortsIgnored) ? {NumPlanes{1'b1}} : pmask_q[pkt_ctx.dest];
    end
    if (walk_end) begin
      e_pkt_q <= w_pkt_q;
      e_idx_q <= chosen_idx;
      e_nopath_q <= !chosen;
    end
    if (evst_re) begin
      fwd_q <= fwd_d;
    end
    if (walk_row_we) begin
      fwd_row_q <= look_row;
    end
    if (op_fb || op_cfg) begin
      op_backup_q <= op_ctx.backup;
      op_dest_q <= op_ctx.dest;
      op_active_q <= op_active;
    end
    if (op_scrub) begin
      scrub_keep_q <= scrub_q;
    end
    if (op_fb) begin
      fb_q <= fb;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, unused_counts, unused_arb_idx, cfg_index_i, cfg_ctx, cfg_ev_state,
      cfg_gen, pkt_ctx, evval_wide, gen_wide, fb_q};

  // ---- what always holds

  `MRC_POPS_A_WORD(Fb, fb_pop, fb_v)
  `MRC_POPS_A_WORD(Pfb, pfb_pop, pfb_v)
  `MRC_POPS_A_WORD(Pkt, pkt_pop, pkt_v)
  `MRC_ONE_HOT0(OneOperation, {fb_pop, pfb_pop, pkt_pop, op_cfg, op_scrub},
      "two operations in one cycle")
  `MRC_ASSERT(StateInRange, state_q <= StScrub,
      "no such state")
  `MRC_ASSERT(WalkOrWork, idle || !w_valid_q,
      "a packet walks under an operation")
  `MRC_ONE_HOT0(OneChoice, hit,
      "two EVs are chosen")
  `MRC_ASSERT(ChosenIsUp, !choose || w_ok[chosen_idx[PlaneW-1:0]],
      "an EV of a plane that is down is chosen")
  `MRC_ASSERT(ChosenHasRoom, !choose || lane_room_i[chosen_idx[PlaneW-1:0]],
      "an EV of a lane without room is chosen")
  `MRC_ASSERT(ChosenInUse, !(choose && found) || in_use(evst_row[chosen_idx[PlaneW-1:0]]),
      "an EV that is not in use is chosen")
  `MRC_ASSERT(ChosenUnused, !(choose && found) || !w_u_q[chosen_idx[PlaneW-1:0]],
      "an EV is chosen twice in a pass")
  `MRC_ASSERT(EndsOneWay, !(choose && give_up),
      "a walk has an EV and none")
  `MRC_ASSERT(WalksOnOrEnds, !(walk_next && walk_end),
      "a walk goes on and ends")
  `MRC_ONE_HOT0(OneFeedback, {fb_mark, fb_fail, fb_revive},
      "feedback does two things")
  `MRC_ASSERT(GroupInRange, !w_valid_q || 32'(w_grp_q) < Groups,
      "a group that there is not")
  `MRC_ASSERT(VoidedHasNoPath, !(emit && e_pkt_q.voided) || e_nopath_q,
      "a packet that is not sent has a path")

endmodule
