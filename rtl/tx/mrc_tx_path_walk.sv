// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Stage w of mrc_tx_path (docs/design/blocks/tx/tx_path.md, Walk): the packet that walks through
/// the EV set of its QP, a group per cycle, until it takes an EV or no EV is left. What was lost at
/// the end of a message walks once more as soon as it has taken one: a copy, on two planes less. It
/// says which row to read next, which row to write and where the QP's next packet begins. It has no
/// memory of QPs and EVs, and does not decide which packet comes.
module mrc_tx_path_walk
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
    input logic [NumPlanes-1:0] lane_room_i,
    input logic [NumPlanes-1:0] port_up_i,
    input logic any_plane_i,  // a retransmission takes any
    input logic one_copy_i,  // what was lost goes again once
    input logic timed_i,  // a mark lasts for a time,
    input logic [2:0] due_i,  // which is over for EVs in this state
    input logic bad_waits_i,  // no packet goes on an ASSUMED_BAD EV

    // The packet that may come, and what is kept of its QP.
    input logic take_i,
    input pkt_t pkt_i,
    input logic [GroupW+15:0] place_i,  // group and pass
    input logic [NumPlanes-1:0] used_i,
    input logic [5:0] profile_i,
    input logic [NumPlanes-1:0] pmask_i,  // of its destination: tables wait until w is empty

    // The row that was read, and whether stage e can take the packet.
    input logic [NumPlanes-1:0][2:0] row_i,
    input logic e_go_i,

    // The packet that walks, and how this cycle ends for it.
    output logic valid_o,
    output pkt_t pkt_o,
    output logic [5:0] profile_o,
    output logic next_o,  // into the next group
    output logic end_o,  // it leaves
    output logic chosen_o,  // with an EV
    output logic choose_o,  // both
    output logic [EvW-1:0] chosen_idx_o,
    output logic copy_o,  // it is a copy:
    output logic [EvW-1:0] first_idx_o,  // of what went on this EV
    output logic again_o,  // with an EV, and a copy of it is next
    output logic follows_o,  // both
    output logic writes_o,  // place_o and used_o are the QP's

    output logic [GroupW+15:0] place_o,
    output logic [NumPlanes-1:0] used_o,
    output logic [GroupW-1:0] group_o,  // as addressed: turned by the key
    output logic [GroupW-1:0] next_group_o,
    output logic [GroupW-1:0] pkt_group_o,  // in which the packet that may come or a copy begins
    output logic row_we_o,
    output logic [NumPlanes-1:0][2:0] row_o,
    output logic row_again_o  // the row that is written is also read in this cycle
);

  // Where the walk of a QP stands.
  typedef struct packed {
    logic [GroupW-1:0] grp;
    logic [15:0] lfsr;
  } place_t;

  // An EV that was passed over, and is taken if the whole set has none in use. A mark whose time is
  // not over goes before an ASSUMED_BAD EV: that one works.
  typedef enum logic [1:0] {
    SpareNone = 2'd0,
    SpareBad = 2'd1,
    SpareLater = 2'd2
  } spare_e;

  function automatic logic [15:0] lfsr_next(logic [15:0] x);
    return {1'b0, x[15:1]} ^ (x[0] ? 16'hB400 : 16'h0000);
  endfunction

  // The part of the pass key that turns the groups; the low part turns the planes.
  function automatic logic [GroupW-1:0] key_hi(logic [15:0] x);
    return GroupW'(x >> PlaneW);
  endfunction

  // The number of the only plane in x.
  function automatic logic [PlaneW-1:0] plane_of(logic [NumPlanes-1:0] x);
    logic [PlaneW-1:0] plane;
    plane = '0;
    for (int unsigned j = 0; j < NumPlanes; j++) begin
      plane |= x[j] ? PlaneW'(j) : '0;
    end
    return plane;
  endfunction

  // ---- registers

  logic w_valid_q, w_valid_d;
  pkt_t w_pkt_q;
  logic [5:0] w_profile_q;
  logic [NumPlanes-1:0] w_pmask_q;
  place_t w_place_q, w_place_d;
  logic [NumPlanes-1:0] w_u_q, w_u_d;
  logic [GroupW-1:0] w_group_q, w_group_d;
  logic restored_q, restored_d;
  logic [EvW-1:0] restored_idx_q, restored_idx_d;
  spare_e spare_q, spare_d;  // the first of its kind
  logic [EvW-1:0] spare_idx_q, spare_idx_d;
  logic whole_q, whole_d;  // this walk has been there since its pass began
  logic avoid_on_q, avoid_on_d;
  logic [NumPlanes-1:0] barred_q, barred_d;  // the plane that has lost it, if another is up
  logic copy_q, copy_d;
  logic [EvW-1:0] first_idx_q;

  // ---- one look at the group

  // Own port and the peer's are up.
  logic [NumPlanes-1:0] w_up, w_ok, act, avoid, hit, look_u, first_mark, first_spare;
  logic avoid_here, restored_here, usable, found, group_done, look_later, look_changed;
  assign w_up = port_up_i & w_pmask_q;
  assign w_ok = w_up & ~barred_q;
  assign act = w_pkt_q.voided ? '0 : ~w_u_q & w_ok;
  // The EV to avoid, and the one that this walk has restored (another pass comes to it again).
  assign avoid_here = avoid_on_q && w_pkt_q.avoid_ev[15:PlaneW] == (16 - PlaneW)'(w_group_q);
  assign restored_here = restored_q && restored_idx_q[PlaneW+:GroupW] == w_group_q;

  always_comb begin
    avoid = '0;
    if (w_valid_q) begin
      for (int unsigned j = 0; j < NumPlanes; j++) begin
        avoid[j] = (avoid_here && w_pkt_q.avoid_ev[PlaneW-1:0] == PlaneW'(j))
            || (restored_here && restored_idx_q[PlaneW-1:0] == PlaneW'(j));
      end
    end
  end

  mrc_tx_path_look #(
      .NumPlanes(NumPlanes)
  ) u_look (
      .bug_i,
      .on_i(w_valid_q),
      .row_i,
      .act_i(act),
      .avoid_i(avoid),
      .room_i(lane_room_i),
      .key_i(w_place_q.lfsr[PlaneW-1:0]),
      .restored_i(restored_q),
      .timed_i,
      .due_i,
      .bad_waits_i,
      .usable_o(usable),
      .found_o(found),
      .take_o(hit),
      .done_o(group_done),
      .used_o(look_u),
      .mark_o(first_mark),
      .spare_o(first_spare),
      .later_o(look_later),
      .row_o,
      .changed_o(look_changed)
  );

  // ---- what follows from it

  logic w_dead, no_room, twice, again, follows, exhausted, last_group, seen_all, whole_set;
  logic restored_ok, restored_room, use_restored, chosen;
  logic spare_stays, spare_ok, spare_room, use_spare;
  logic none_usable, choose, give_up, walk_next, walk_writes, walk_end;
  logic [PlaneW-1:0] restored_plane, spare_plane;
  logic [EvW-1:0] chosen_idx, look_restored_idx, look_spare_idx;
  spare_e look_spare;

  assign w_dead = w_pkt_q.voided || (w_up & ~(barred_q & {NumPlanes{copy_q}})) == '0;
  // A copy waits for no lane.
  assign no_room = w_valid_q && copy_q && usable && !found;
  assign twice = w_pkt_q.two && !one_copy_i && !copy_q && avoid_on_q;
  assign again = found && twice;
  assign exhausted = w_valid_q && !w_dead && !usable;
  // This is the last group of a pass that this walk has seen from its beginning.
  assign last_group = w_place_q.grp == GroupW'(Groups - 1);
  assign seen_all = whole_q && last_group;
  assign whole_set = exhausted && seen_all;
  // The EV that the walk restored, in this group (exhausted: the whole of it is seen, so the first
  // mark is) or before. The packet does not wait for a plane that fell in the meantime.
  assign restored_plane = restored_idx_q[PlaneW-1:0];
  assign restored_ok = restored_q ? w_ok[restored_plane] : first_mark != '0;
  assign restored_room = restored_q ? lane_room_i[restored_plane]
      : (first_mark & lane_room_i) != '0;
  assign look_restored_idx = restored_q ? restored_idx_q : {w_group_q, plane_of(first_mark)};
  assign use_restored = whole_set && !copy_q && restored_ok && restored_room;
  // With nothing else in use it is the spare one, of this group or of one before: its state stays.
  assign spare_stays = spare_q == SpareLater || (spare_q == SpareBad && !look_later);
  assign spare_plane = spare_idx_q[PlaneW-1:0];
  assign spare_ok = spare_stays ? w_ok[spare_plane] : first_spare != '0;
  assign spare_room = spare_stays ? lane_room_i[spare_plane] : (first_spare & lane_room_i) != '0;
  assign look_spare_idx = spare_stays ? spare_idx_q : {w_group_q, plane_of(first_spare)};
  assign use_spare = whole_set && !copy_q && !restored_ok && !avoid_on_q && spare_ok && spare_room;
  assign chosen = found || use_restored || use_spare;

  always_comb begin
    look_spare = spare_q;
    if (!spare_stays && first_spare != '0) begin
      look_spare = look_later ? SpareLater : SpareBad;
    end
  end

  always_comb begin
    chosen_idx = {w_group_q, plane_of(hit)};
    if (whole_set) begin
      chosen_idx = restored_ok ? look_restored_idx : look_spare_idx;
    end
  end

  // A copy takes nothing but what is GOOD.
  assign none_usable = whole_set && (copy_q || (!restored_ok && !avoid_on_q && !spare_ok));
  assign walk_next = exhausted && !(seen_all && (restored_ok || !avoid_on_q));

  assign choose = chosen && e_go_i;
  assign give_up = none_usable && e_go_i;
  assign walk_writes = choose || give_up;
  assign walk_end = walk_writes || (w_valid_q && (w_dead || no_room) && e_go_i);
  assign follows = again && e_go_i;

  // Where the QP's next packet begins: here, or in the next group. Both are computed before it is
  // known which of them it is.
  logic advance, group_stays, same_qp;
  place_t place, next_place;
  logic [GroupW-1:0] next_group, pkt_group;
  logic [NumPlanes-1:0] left_u;
  assign place = place_i;
  assign next_place.grp = w_place_q.grp + GroupW'(1);
  assign next_place.lfsr = (last_group && bug_i != BugWalkKeyStuck)
      ? lfsr_next(w_place_q.lfsr) : w_place_q.lfsr;
  assign next_group = next_place.grp ^ key_hi(next_place.lfsr);
  assign group_stays = next_group == w_group_q;
  // With an EV taken and the group done, used planes and planes that are down are all there are.
  assign advance = chosen && group_done;
  assign left_u = advance ? '0 : w_u_q | look_u;
  // A packet that ends here without a walk, or a copy without room, leaves the QP's place alone.
  assign same_qp = w_valid_q && !w_dead && !no_room && pkt_i.qp[QpW-1:0] == w_pkt_q.qp[QpW-1:0];

  always_comb begin
    pkt_group = place.grp ^ key_hi(place.lfsr);
    if (same_qp || again) begin
      pkt_group = advance ? next_group : w_group_q;
    end
  end

  // Bug 118: it goes on any plane. Bug 123: a copy may go where the packet was lost.
  logic [NumPlanes-1:0] lost_on, copy_barred;
  logic bars;
  assign lost_on = NumPlanes'(1) << pkt_i.avoid_ev[PlaneW-1:0];
  assign bars = pkt_i.rtx && pkt_i.lost && !any_plane_i && bug_i != BugAnyPlaneAgain
      && (port_up_i & pmask_i & ~lost_on) != '0;
  assign copy_barred = (bug_i == BugCopyWhereLost)
      ? hit : hit | (NumPlanes'(1) << w_pkt_q.avoid_ev[PlaneW-1:0]);

  // ---- the stage

  always_comb begin
    w_valid_d = take_i || follows || (w_valid_q && !walk_end);
    w_place_d = w_place_q;
    w_u_d = w_u_q;
    w_group_d = w_group_q;
    restored_d = restored_q;
    restored_idx_d = restored_idx_q;
    spare_d = spare_q;
    spare_idx_d = spare_idx_q;
    whole_d = whole_q;
    avoid_on_d = avoid_on_q;
    barred_d = barred_q;
    copy_d = copy_q;
    if (walk_next) begin
      w_place_d = next_place;
      w_u_d = '0;
      w_group_d = next_group;
      restored_d = restored_q || first_mark != '0;
      restored_idx_d = look_restored_idx;
      spare_d = look_spare;
      spare_idx_d = look_spare_idx;
      if (last_group) begin
        whole_d = 1'b1;
      end
      if (seen_all) begin
        avoid_on_d = 1'b0;
        barred_d = '0;
      end
    end else if (follows) begin
      w_group_d = pkt_group;
      w_place_d = advance ? next_place : w_place_q;
      w_u_d = left_u;
      whole_d = advance && last_group;
      restored_d = 1'b0;
      spare_d = SpareNone;
      avoid_on_d = 1'b0;
      barred_d = copy_barred;
      copy_d = 1'b1;
    end else if (take_i) begin
      w_group_d = pkt_group;
      w_place_d = place;
      w_u_d = used_i;
      whole_d = place.grp == '0 && used_i == '0;
      if (same_qp) begin
        // A walk that ends in its group has used something of it.
        whole_d = advance && last_group;
        w_place_d = advance ? next_place : w_place_q;
        if (bug_i != BugEvStuck) begin
          w_u_d = left_u;
        end
      end
      // Bug 62: a walk that begins in the middle of a pass takes it for the whole set.
      if (bug_i == BugWalkEndsEarly) begin
        whole_d = 1'b1;
      end
      restored_d = 1'b0;
      spare_d = SpareNone;
      avoid_on_d = pkt_i.rtx;
      barred_d = bars ? lost_on : '0;
      copy_d = 1'b0;
    end
  end

  // ---- outputs

  assign valid_o = w_valid_q;
  assign pkt_o = w_pkt_q;
  assign profile_o = w_profile_q;
  assign next_o = walk_next;
  assign end_o = walk_end;
  assign chosen_o = chosen;
  assign choose_o = choose;
  assign chosen_idx_o = chosen_idx;
  assign copy_o = copy_q;
  assign first_idx_o = first_idx_q;
  assign again_o = again;
  assign follows_o = follows;
  assign writes_o = walk_writes;
  assign place_o = advance ? next_place : w_place_q;
  assign used_o = left_u;
  assign group_o = w_group_q;
  assign next_group_o = next_group;
  assign pkt_group_o = pkt_group;
  assign row_we_o = look_changed && (walk_writes || walk_next);
  // The walk alone writes in the cycle of a read. It may leave the row with which it goes on, or
  // with which its copy or the next packet of the QP begins.
  assign row_again_o = row_we_o && ((walk_next || advance) ? group_stays : 1'b1)
      && (walk_next || again || (take_i && same_qp));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      w_valid_q <= 1'b0;
    end else begin
      w_valid_q <= w_valid_d;
    end
  end

  always_ff @(posedge clk_i) begin
    w_place_q <= w_place_d;
    w_u_q <= w_u_d;
    w_group_q <= w_group_d;
    restored_q <= restored_d;
    restored_idx_q <= restored_idx_d;
    spare_q <= spare_d;
    spare_idx_q <= spare_idx_d;
    whole_q <= whole_d;
    avoid_on_q <= avoid_on_d;
    barred_q <= barred_d;
    copy_q <= copy_d;
    if (follows) begin
      first_idx_q <= chosen_idx;
    end
    if (take_i) begin
      w_pkt_q <= pkt_i;
      w_profile_q <= profile_i;
      w_pmask_q <= pmask_i;
    end
  end

  // ---- what always holds

  `MRC_ONE_HOT0(OneChoice, hit,
      "two EVs are chosen")
  `MRC_ASSERT_IF(ChosenIsUp, choose, w_ok[chosen_idx[PlaneW-1:0]],
      "an EV of a plane that is down is chosen")
  `MRC_ASSERT_IF(ChosenHasRoom, choose, lane_room_i[chosen_idx[PlaneW-1:0]],
      "an EV of a lane without room is chosen")
  `MRC_ASSERT_IF(ChosenInUse, choose && found, in_use(row_i[chosen_idx[PlaneW-1:0]]),
      "an EV that is not in use is chosen")
  `MRC_ASSERT_IF(ChosenUnused, choose && found, !w_u_q[chosen_idx[PlaneW-1:0]],
      "an EV is chosen twice in a pass")
  `MRC_ASSERT_IF(OneCopy, follows, !take_i && w_pkt_q.rtx && w_pkt_q.lost,
      "another packet comes with a copy, or one that was not lost has one")
  `MRC_ASSERT(EndsOneWay, !(choose && give_up),
      "a walk has an EV and none")
  `MRC_ASSERT(WalksOnOrEnds, !(walk_next && walk_end),
      "a walk goes on and ends")
  `MRC_ASSERT_IF(GroupInRange, w_valid_q, 32'(w_place_q.grp) < Groups,
      "a group that there is not")

endmodule
