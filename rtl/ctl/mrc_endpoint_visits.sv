// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Which destination mrc_endpoint visits next (docs/design/blocks/ctl/endpoint.md, Load): known,
/// place, count, at, left, queue and queued. All that have a lender stand side by side in known: a
/// port that changes has each of them visited once. Who may still be owed an update stands in the
/// queue. One operation per cycle; what changes takes effect at its end. It does not know what a
/// destination is owed, nor when a visit may be.
module mrc_endpoint_visits
  import mrc_pkg::*;
#(
    parameter int unsigned NumDests = 4,
    localparam int unsigned DestW = $clog2(NumDests)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input logic changed_i,  // a port
    input logic port_wait_i,

    // Tables and the lists. Nothing is loaded while they may change who is known.
    input logic stop_i,
    input logic [DestW-1:0] new_i,  // destination of a table row
    input logic know_i,  // it has a lender now
    input logic owe_i,  // an update is due to it
    input logic forget_i,  // gone_i has no lender any more
    input logic [DestW-1:0] gone_i,

    // The next visit.
    output logic visit_on_o,
    output logic [DestW-1:0] visit_o,
    output logic hurry_o,  // it does not wait for its time
    input logic visit_i,
    input logic due_i  // behind the visit an update is due to visit_o
);

  localparam int unsigned CntW = DestW + 1;

  logic [CntW-1:0] count_q, count_d, left_q, left_d;
  logic [DestW-1:0] at_q, at_d, at_next, visit_q, visit_d;
  logic visit_on_q, visit_on_d, walk_q, walk_d, hurry_q, hurry_d;

  // ---- who has a lender

  logic [DestW-1:0] known_at, known_last, gone_place, last;
  logic moves;
  assign last = DestW'(count_q - CntW'(1));
  assign moves = know_i || forget_i;

  mrc_rf_2r1w #(
      .Width(DestW),
      .Depth(NumDests)
  ) u_known (
      .clk_i,
      .raddr0_i(at_q),
      .rdata0_o(known_at),
      .raddr1_i(last),
      .rdata1_o(known_last),
      .we_i(moves),
      .waddr_i(know_i ? count_q[DestW-1:0] : gone_place),
      .wdata_i(know_i ? new_i : known_last)
  );

  mrc_rf_1r1w #(
      .Width(DestW),
      .Depth(NumDests)
  ) u_place (
      .clk_i,
      .raddr_i(gone_i),
      .rdata_o(gone_place),
      .we_i(moves),
      .waddr_i(know_i ? new_i : known_last),
      .wdata_i(know_i ? count_q[DestW-1:0] : gone_place)
  );

  always_comb begin
    count_d = count_q;
    if (know_i) begin
      count_d = count_q + CntW'(1);
    end
    if (forget_i) begin
      count_d = count_q - CntW'(1);
    end
  end

  // ---- who may be owed an update

  logic push, queue_ready, queue_v, pop, queued, queued_new;
  logic [DestW-1:0] queue_dest;
  logic [$clog2(NumDests+1)-1:0] queue_count;

  // Bug 125: who is visited because a port has changed, is visited no more.
  assign push = (owe_i && !queued_new)
      || (visit_i && due_i && (!walk_q || (!queued && bug_i != BugWalkedIsForgotten)));

  mrc_fifo_ram #(
      .Width(DestW),
      .Depth(NumDests)
  ) u_queue (
      .clk_i,
      .rst_ni,
      .valid_i(push),
      .ready_o(queue_ready),
      .data_i(owe_i ? new_i : visit_q),
      .valid_o(queue_v),
      .ready_i(pop),
      .data_o(queue_dest),
      .count_o(queue_count)
  );

  // It is in the queue, or is visit_q, taken from there.
  mrc_rf_reset #(
      .Width(1),
      .Depth(NumDests),
      .Reads(2)
  ) u_queued (
      .clk_i,
      .rst_ni,
      .raddr_i({new_i, visit_q}),
      .rdata_o({queued_new, queued}),
      .we_i(push || (visit_i && !walk_q)),
      .waddr_i(owe_i ? new_i : visit_q),
      .wdata_i(push)
  );

  // ---- the next one

  logic load, place;
  assign load = (!visit_on_q || visit_i) && !stop_i;
  assign place = load && left_q != '0;
  assign pop = load && left_q == '0 && queue_v;
  assign at_next = (at_q == last) ? '0 : at_q + DestW'(1);

  always_comb begin
    visit_on_d = visit_on_q;
    visit_d = visit_q;
    walk_d = walk_q;
    if (load) begin
      visit_on_d = place || pop;
    end
    if (place) begin
      visit_d = known_at;
      walk_d = 1'b1;
    end
    if (pop) begin
      visit_d = queue_dest;
      walk_d = 1'b0;
    end
  end

  always_comb begin
    at_d = at_q;
    left_d = left_q;
    hurry_d = hurry_q && !(load && !place);
    if (place) begin
      at_d = at_next;
      left_d = left_q - CntW'(1);
    end
    if (know_i && left_q != '0) begin
      left_d = left_q + CntW'(1);
    end
    // Another one stands in the place of the one that goes: all are visited once more.
    if (forget_i && at_q == last) begin
      at_d = '0;
    end
    if (forget_i && left_q != '0) begin
      left_d = count_d;
    end
    if (changed_i) begin
      left_d = count_d;
      hurry_d = !port_wait_i;
    end
  end

  assign visit_on_o = visit_on_q;
  assign visit_o = visit_q;
  assign hurry_o = hurry_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      at_q <= '0;
      left_q <= '0;
      hurry_q <= 1'b0;
      visit_on_q <= 1'b0;
    end else begin
      count_q <= count_d;
      at_q <= at_d;
      left_q <= left_d;
      hurry_q <= hurry_d;
      visit_on_q <= visit_on_d;
    end
  end

  always_ff @(posedge clk_i) begin
    visit_q <= visit_d;
    walk_q <= walk_d;
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, queue_count, queue_ready};

  // ---- what always holds

  `MRC_ONE_HOT0(OneOperation, {know_i || owe_i, forget_i, visit_i},
      "two operations on the lists of visits in one cycle")
  `MRC_ASSERT_IF(StopsTheLoad, know_i || owe_i || forget_i, stop_i,
      "a destination comes or goes while the next one is loaded")
  `MRC_ASSERT_IF(VisitsWhoIsThere, visit_i, visit_on_q,
      "a destination is visited, and there is none")
  `MRC_ASSERT_IF(RoomInTheQueue, push, queue_ready,
      "more destinations wait for a visit than there are")
  `MRC_ASSERT_IF(ComesFromTheQueue, visit_on_q && !walk_q, queued,
      "a destination is visited out of the queue that was not in it")
  `MRC_ASSERT(KnowsEachOnce, 32'(count_q) <= NumDests && left_q <= count_q,
      "more destinations have a lender, or are to be visited, than there are")
  `MRC_ASSERT_IF(PlaceOfAKnown, count_q != '0, CntW'(at_q) < count_q,
      "the place that is next has no destination")
  `MRC_ASSERT_IF(ForgetsAKnown, forget_i, count_q != '0 && CntW'(gone_place) < count_q,
      "a destination goes that has no place")
`ifdef MRC_ASSERT_ON
  logic [DestW-1:0] there;
  assign there = u_known.mem_q[gone_place];
  `MRC_ASSERT_IF(StandsInItsPlace, forget_i, there == gone_i,
      "another destination stands in the place of the one that goes")
`endif

endmodule
