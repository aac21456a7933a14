// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Whose visit is next (docs/design/blocks/tx/inflight/tx_inflight.md, Who is visited): the QPs
/// that may be busy, one after the other. Record puts a QP in. Its visit puts it in again, or takes
/// it out. A QP that comes waits in a FIFO of its own for a cycle without a visit. It does not know
/// when a visit may be, nor who stays.
module mrc_tx_inflight_visits
  import mrc_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    localparam int unsigned QpW = $clog2(NumQps)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input logic record_i,  // Record of record_qp_i
    input logic [QpW-1:0] record_qp_i,
    input logic visit_i,  // Visit of visit_qp_o
    input logic stays_i,  // it is busy, or its copy for an ACK waits
    output logic comes_o,  // record_qp_i is to be visited from now on
    output logic leaves_o,  // visit_qp_o, if it is visited now, is visited no more
    output logic visit_on_o,
    output logic [QpW-1:0] visit_qp_o
);

  logic visit_on_q, visit_on_d;
  logic [QpW-1:0] visit_qp_q, visit_qp_d;
  logic watched, watched_next, again, comes, load;  // of Record's QP, of visit_qp_q
  logic come_v, come_ready, come_pop, ring_v, ring_ready;
  logic [QpW-1:0] come_qp, ring_qp;
  logic [$clog2(NumQps+1)-1:0] come_count, ring_count;

  mrc_flags #(
      .Width(1),
      .Depth(NumQps),
      .Reads(2)
  ) u_watched (
      .clk_i,
      .rst_ni,
      .raddr_i({record_qp_i, visit_qp_q}),
      .flags_o({watched, watched_next}),
      .a_port_i(1'b0),
      .a_set_i(1'b0),
      .a_clear_i(visit_i && !again),
      .b_port_i(1'b1),
      .b_set_i(comes),
      .b_clear_i(1'b0)
  );

  // What Record of this cycle makes busy stays, whatever the visit finds.
  // Bug 121: it leaves.
  assign again = stays_i
      || (record_i && record_qp_i == visit_qp_q && bug_i != BugVisitForgets);
  assign comes = record_i && !watched;
  assign comes_o = comes;
  assign leaves_o = !again;
  assign come_pop = come_v && !visit_i;
  assign load = (visit_i || !visit_on_q) && ring_v;

  mrc_fifo_ram #(
      .Width(QpW),
      .Depth(NumQps)
  ) u_come (
      .clk_i,
      .rst_ni,
      .valid_i(comes),
      .ready_o(come_ready),
      .data_i(record_qp_i),
      .valid_o(come_v),
      .ready_i(come_pop),
      .data_o(come_qp),
      .count_o(come_count)
  );

  mrc_fifo_ram #(
      .Width(QpW),
      .Depth(NumQps)
  ) u_ring (
      .clk_i,
      .rst_ni,
      .valid_i(visit_i ? again : come_v),
      .ready_o(ring_ready),
      .data_i(visit_i ? visit_qp_q : come_qp),
      .valid_o(ring_v),
      .ready_i(load),
      .data_o(ring_qp),
      .count_o(ring_count)
  );

  always_comb begin
    visit_on_d = visit_on_q && !visit_i;
    visit_qp_d = visit_qp_q;
    if (load) begin
      visit_on_d = 1'b1;
      visit_qp_d = ring_qp;
    end
  end

  assign visit_on_o = visit_on_q;
  assign visit_qp_o = visit_qp_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      visit_on_q <= 1'b0;
      visit_qp_q <= '0;
    end else begin
      visit_on_q <= visit_on_d;
      visit_qp_q <= visit_qp_d;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, come_count, ring_count, come_ready, ring_ready, watched_next};

  // ---- what always holds

  `MRC_ASSERT_IF(VisitsWhoIsThere, visit_i, visit_on_q, "a QP is visited, and there is none")
  `MRC_ASSERT_IF(ThatOneIsWatched, visit_on_q, watched_next,
      "a QP is visited that is not watched")
  `MRC_ASSERT_IF(RoomToCome, comes, come_ready, "more QPs come than there are")
  `MRC_ASSERT_IF(RoomInTheRing, visit_i ? again : come_v, ring_ready,
      "more QPs stand in the ring than there are")

endmodule
