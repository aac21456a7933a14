// SPDX-License-Identifier: Apache-2.0

/// One look at a group of EVs, one per plane (docs/design/blocks/tx/tx_path.md, the walk through a
/// group): which EV a packet takes, and what the look leaves of the group. Combinational; it looks
/// at all planes at once, the order is in any_before. It keeps nothing and knows neither QP nor
/// pass.
module mrc_tx_path_look
  import mrc_pkg::*;
  import mrc_tx_path_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    localparam int unsigned PlaneW = $clog2(NumPlanes)
) (
    input logic [7:0] bug_i,
    input logic on_i,  // there is a packet
    input logic [NumPlanes-1:0][2:0] row_i,  // states of the group's EVs
    input logic [NumPlanes-1:0] act_i,  // planes that are up and not used yet in this group
    input logic [NumPlanes-1:0] avoid_i,  // EVs that this packet does not take
    input logic [NumPlanes-1:0] room_i,  // lanes that have room
    input logic [PlaneW-1:0] key_i,  // turns the order of the planes
    input logic restored_i,  // the packet has restored an EV already
    input logic timed_i,  // a mark lasts for a time:
    input logic [2:0] due_i,  // only EVs in this state may be restored
    input logic bad_waits_i,  // an ASSUMED_BAD EV is no spare

    output logic usable_o,  // an EV can be taken, now or when its lane has room
    output logic found_o,  // an EV is taken
    output logic [NumPlanes-1:0] take_o,  // which
    output logic done_o,  // with found_o: no plane of the group is left for the next packet
    output logic [NumPlanes-1:0] used_o,  // planes that the look uses up
    output logic [NumPlanes-1:0] mark_o,  // the first marked EV, if none has been restored
    output logic [NumPlanes-1:0] spare_o,  // taken if nothing is in use, of the whole set:
    output logic later_o,  // the first marked EV whose time is not over; else the first bad one
    output logic [NumPlanes-1:0][2:0] row_o,
    output logic changed_o  // row_o is not row_i
);

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
  // The highest bit in which two planes differ tells them apart: with l that bit, the other
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

  logic [NumPlanes-1:0] mark, mark2, later, bad, out, good, cand, no_room, passed, restore;

  always_comb begin
    mark = '0;
    mark2 = '0;
    later = '0;
    bad = '0;
    out = '0;
    good = '0;
    cand = '0;
    no_room = '0;
    passed = '0;
    take_o = '0;
    mark_o = '0;
    spare_o = '0;
    restore = '0;
    used_o = '0;
    row_o = row_i;
    if (on_i) begin
      for (int unsigned j = 0; j < NumPlanes; j++) begin
        // Bug 5: a mark means nothing. Bug 45: neither does the controller's word.
        if (bug_i != BugSkipIgnored && is_skip(row_i[j])) begin
          mark[j] = timed_i ? row_i[j] == due_i : row_i[j] != 3'(EvSkip2);
          mark2[j] = !timed_i && row_i[j] == 3'(EvSkip2);
          later[j] = timed_i && row_i[j] != due_i;
        end
        // Bug 129: a bad one is no spare, whatever the register says.
        bad[j] = row_i[j] == 3'(EvBad) && !bad_waits_i && bug_i != BugBadEvWaits;
        out[j] = row_i[j] == 3'(EvBad) || row_i[j] == 3'(EvStandby)
            || (row_i[j] == 3'(EvDenied) && bug_i != BugDeniedEvUsed);
      end
      good = act_i & ~(mark | mark2 | later | out | avoid_i);
      later &= act_i;
      bad &= act_i;
      // Both firsts are found side by side.
      spare_o = (later != '0) ? later & ~any_before(later, key_i) : bad & ~any_before(bad, key_i);
      cand = good & room_i;
      no_room = good & ~room_i;
      // The look ends at the EV that is taken: planes behind it stay as they are.
      passed = any_before(cand, key_i);
      take_o = cand & ~passed;
      mark &= act_i;
      mark2 &= act_i & ~passed;
      mark_o = restored_i ? '0 : mark & ~any_before(mark, key_i);
      restore = mark_o & ~passed;
      used_o = act_i & ~passed & ~no_room;
      for (int unsigned j = 0; j < NumPlanes; j++) begin
        if (mark2[j]) begin
          row_o[j] = 3'(EvSkip);
        end else if (restore[j]) begin
          row_o[j] = 3'(EvGood);
        end
      end
    end
  end

  assign usable_o = good != '0;
  assign found_o = |cand;
  assign later_o = |later;
  assign done_o = !(|(act_i & (passed | no_room)));
  assign changed_o = |(mark2 | restore);

endmodule
