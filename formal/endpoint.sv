// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_endpoint while all that it says is taken and no table is written: how long what comes waits,
/// and how long the lists are busy after a table row or a new IP_PLANE. Two QPs, two destinations,
/// two planes; ticks are any.
module formal_endpoint
  import mrc_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input endpoint_csr_t csr_i,
    input logic eprx_valid_i,
    input eprx_t eprx_i,
    input logic want_valid_i,
    input want_t want_i,
    input logic evp_valid_i,
    input evp_t evp_i,
    input logic req_ready_i,
    input logic resp_ready_i,
    input logic okev_ready_i,
    input logic pmask_ready_i,
    input logic evr_ready_i,
    input logic pans_ready_i,
    input logic [1:0] port_up_i,
    input logic [31:0] tick_i,
    input cfg_t cfg_i
);
  `MRC_RESET

  logic eprx_ready_o, want_ready_o, evp_ready_o, req_valid_o, resp_valid_o, okev_valid_o;
  logic pmask_valid_o, evr_valid_o, pans_valid_o, cfg_ack_o;
  ctlpkt_t req_o;
  resp_t resp_o;
  okev_t okev_o;
  pmask_t pmask_o;
  evr_t evr_o;
  pans_t pans_o;
  endpoint_pulses_t pulses_o;
  mrc_endpoint #(
      .NumPlanes(2),
      .NumQps(2),
      .NumDests(2)
  ) dut (
      .bug_i(8'(Bug)),
      .*
  );

  // tx_header need not take requests: they are sent when there is room. Packets of peers come as
  // fast as they like.
  logic runs;
  assign runs = resp_ready_i && okev_ready_i && pmask_ready_i && evr_ready_i && pans_ready_i
      && !cfg_i.req && !dut.stale && !dut.lists_busy;

  logic idle, finds, sends, turn;
  assign idle = dut.state_q == 2'd0;
  assign finds = dut.state_q == 2'd1;
  assign sends = dut.state_q == 2'd2;
  assign turn = dut.turn_q;
  `MRC_HELP(counts, dut.u_eprx.count_q <= 5'd16 && dut.u_want.count_q <= 5'd16
      && dut.u_evp.count_q <= 2'd2)
  `MRC_HELP(states, idle || (!dut.lists_busy && (finds ? turn : sends && !turn)))

  // Of the lists, by their number.
  logic leaves, joins, links, unchains, chains, clears, again;
  assign leaves = dut.u_lists.state_q == 3'd1;
  assign joins = dut.u_lists.state_q == 3'd2;
  assign links = dut.u_lists.state_q == 3'd3;
  assign unchains = dut.u_lists.state_q == 3'd4;
  assign chains = dut.u_lists.state_q == 3'd5;
  assign clears = dut.u_lists.state_q == 3'd6;
  assign again = dut.u_lists.state_q == 3'd7;

  // Whether the second destination of a chain is looked at, at which it ends.
  logic second_q;
  always_ff @(posedge clk_i) begin
    if (dut.u_lists.u_chains.start_i) second_q <= 1'b0;
    else if (dut.u_lists.u_chains.go_on_i) second_q <= 1'b1;
  end
  `MRC_GIVEN(chain_ends, !((finds || unchains) && second_q) || dut.find_last)
  `MRC_GIVEN(finds_who_goes, !(unchains && dut.find_last) || dut.u_lists.out)

  // What peers send: one that is looked up, one operation of all else, and its turn.
  localparam int unsigned MostRx = 4;
  logic [2:0] eprx_count;
  formal_wait #(
      .Most(MostRx)
  ) u_eprx (
      .clk_i,
      .rst_ni,
      .waits_i(eprx_valid_i && !eprx_ready_o && runs),
      .others_i(1'b0),
      .count_o(eprx_count)
  );
  `MRC_PROVE(eprx, eprx_count <= 3'(MostRx))
  `MRC_COVER(eprx, eprx_count == 3'(MostRx) && req_valid_o && !req_ready_i)
  `MRC_HELP(eprx_room, !(finds && !second_q) || eprx_ready_o)
  `MRC_HELP(eprx_left, eprx_ready_o || (finds ? eprx_count == 3'd0
      : sends ? eprx_count <= 3'd2 : turn ? eprx_count <= 3'd1 : eprx_count <= 3'd3))

  // Of the others each waits for what is being sent, and one packet of a peer.
  localparam int unsigned Most = 5;
  logic [2:0] left;  // at the most, of what waits
  assign left = finds ? (second_q ? 3'd3 : 3'd2) : sends ? 3'd0 : turn ? 3'd4 : 3'd1;
  logic [2:0] evp_count;
  formal_wait #(
      .Most(Most)
  ) u_evp (
      .clk_i,
      .rst_ni,
      .waits_i(evp_valid_i && !evp_ready_o && runs),
      .others_i(1'b0),
      .count_o(evp_count)
  );
  `MRC_PROVE(evp, evp_count <= 3'(Most))
  `MRC_COVER(evp, evp_count == 3'(Most))
  `MRC_HELP(evp_left, evp_ready_o || evp_count <= left)

  // It is taken, or what goes before it is. The probe of a reverse path that is out does not count.
  logic [2:0] want_count;
  formal_wait #(
      .Most(Most)
  ) u_want (
      .clk_i,
      .rst_ni,
      .waits_i(want_valid_i && !want_ready_o && runs && !dut.op_evp),
      .others_i(dut.rp_q.busy),
      .count_o(want_count)
  );
  `MRC_PROVE(want, want_count <= 3'(Most))
  `MRC_COVER(want, want_count == 3'd1)
  `MRC_HELP(want_left, want_ready_o || (want_count <= (dut.rp_q.busy ? 3'd0 : left)))

  // That probe ends when its time is over.
  logic [2:0] over_count;
  formal_wait #(
      .Most(Most)
  ) u_over (
      .clk_i,
      .rst_ni,
      .waits_i(dut.rp_q.busy && !dut.rp_late[31] && runs && !dut.op_evp && !dut.op_cp_over),
      .others_i(1'b0),
      .count_o(over_count)
  );
  `MRC_PROVE(over, over_count <= 3'(Most))
  `MRC_COVER(over, over_count == 3'd3)
  `MRC_HELP(over_left, !dut.rp_q.busy || over_count <= left)

  // So with destinations: they hear of our ports.
  localparam int unsigned MostVisit = 4;
  logic [2:0] visit_count;
  formal_wait #(
      .Most(MostVisit)
  ) u_visit (
      .clk_i,
      .rst_ni,
      .waits_i(dut.visit_on && (dut.hurry ? dut.req_free : dut.visit_due_q) && runs
          && !dut.op_visit && !dut.op_evp
          && !dut.op_want && !dut.op_cp_over && !dut.op_rp_over && !dut.op_cp_send
          && !dut.op_rp_send),
      .others_i(1'b0),
      .count_o(visit_count)
  );
  `MRC_PROVE(visit, visit_count <= 3'(MostVisit))
  `MRC_COVER(visit, visit_count == 3'd3)
  `MRC_HELP(visit_left, visit_count <= left)

  // The lists.
  localparam int unsigned MostBusy = 8;
  logic [3:0] busy_count;
  formal_wait #(
      .Most(MostBusy)
  ) u_busy (
      .clk_i,
      .rst_ni,
      .waits_i(dut.lists_busy),
      .others_i(1'b0),
      .count_o(busy_count)
  );
  `MRC_PROVE(lists, busy_count <= 4'(MostBusy))
  `MRC_COVER(lists, busy_count == 4'd7)
  `MRC_HELP(joins_on, dut.u_lists.join_on_q ? dut.lists_busy && !clears && !again
      : !joins && !links && !(unchains && dut.u_lists.moves_q))
  `MRC_HELP(then_moves, !links || (dut.u_lists.moves_q && (dut.u_lists.then_q == 3'd0
      || dut.u_lists.then_q == 3'd4 || dut.u_lists.then_q == 3'd5)))
  logic [3:0] busy_left;
  always_comb begin
    busy_left = 4'd0;
    if (unchains) busy_left = (dut.u_lists.moves_q ? 4'd5 : 4'd1) + 4'(second_q);
    if (joins) busy_left = 4'd3;
    if (links) busy_left = 4'd4;
    if (chains) busy_left = dut.u_lists.join_on_q ? 4'd7 : dut.looked_dest[0] ? 4'd5 : 4'd3;
    if (clears) busy_left = 4'(dut.looked_dest);
    if (again) busy_left = dut.looked_dest[0] ? 4'd4 : 4'd2;
  end
  `MRC_HELP(busy_left, !dut.lists_busy || busy_count <= busy_left)
endmodule
