// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Two masters on one bus of AXI4: addresses in turn, beats of W in the order of their addresses, B
/// and R by the upper bit of the id, which says whose they are. Each channel towards memory has a
/// FIFO of 2, so one cycle of latency; a beat and an address per cycle; B and R pass as they are. A
/// master waits for one burst of the other at most. Masters offer the beats of what they have
/// asked for, in its order. It does not look at sizes, which both have alike. Contract:
/// docs/design/boards/top.md.
module mrc_fpga_axi_mux #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned AddrW = 64,
    // Of a master's ids.
    parameter int unsigned IdW = 1,
    // Bursts whose beats have not all come.
    parameter int unsigned Bursts = 16,
    localparam int unsigned DataW = WordBytes * 8
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [1:0] s_awvalid_i,
    output logic [1:0] s_awready_o,
    input logic [1:0][IdW-1:0] s_awid_i,
    input logic [1:0][AddrW-1:0] s_awaddr_i,
    input logic [1:0][7:0] s_awlen_i,
    input logic [1:0] s_wvalid_i,
    output logic [1:0] s_wready_o,
    input logic [1:0][DataW-1:0] s_wdata_i,
    input logic [1:0][WordBytes-1:0] s_wstrb_i,
    input logic [1:0] s_wlast_i,
    output logic [1:0] s_bvalid_o,
    input logic [1:0] s_bready_i,
    input logic [1:0] s_arvalid_i,
    output logic [1:0] s_arready_o,
    input logic [1:0][IdW-1:0] s_arid_i,
    input logic [1:0][AddrW-1:0] s_araddr_i,
    input logic [1:0][7:0] s_arlen_i,
    output logic [1:0] s_rvalid_o,
    input logic [1:0] s_rready_i,

    output logic m_awvalid_o,
    input logic m_awready_i,
    output logic [IdW:0] m_awid_o,
    output logic [AddrW-1:0] m_awaddr_o,
    output logic [7:0] m_awlen_o,
    output logic m_wvalid_o,
    input logic m_wready_i,
    output logic [DataW-1:0] m_wdata_o,
    output logic [WordBytes-1:0] m_wstrb_o,
    output logic m_wlast_o,
    input logic m_bvalid_i,
    output logic m_bready_o,
    input logic [IdW:0] m_bid_i,
    output logic m_arvalid_o,
    input logic m_arready_i,
    output logic [IdW:0] m_arid_o,
    output logic [AddrW-1:0] m_araddr_o,
    output logic [7:0] m_arlen_o,
    input logic m_rvalid_i,
    output logic m_rready_o,
    input logic [IdW:0] m_rid_i
);

  typedef struct packed {
    logic who;
    logic [IdW-1:0] id;
    logic [AddrW-1:0] addr;
    logic [7:0] len;
  } addr_t;

  typedef struct packed {
    logic [DataW-1:0] data;
    logic [WordBytes-1:0] strb;
    logic last;
  } beat_t;

  addr_t aw_d, aw, ar_d, ar;
  beat_t w;
  logic [1:0] aw_gnt, ar_gnt, unused_aws, unused_ars, unused_ws;
  logic aw_who, ar_who, aw_any, ar_any, aw_room, ar_room, w_room, aw_take, ar_take, w_take;
  logic turn_room, turn_valid, turn;
  logic [$clog2(Bursts+1)-1:0] unused_turns;

  // ---- addresses

  mrc_rr_arb #(
      .N(2)
  ) u_aw_turn (
      .clk_i,
      .rst_ni,
      .req_i(s_awvalid_i),
      .take_i(aw_take),
      .gnt_o(aw_gnt),
      .idx_o(aw_who),
      .any_o(aw_any)
  );

  assign aw_take = aw_any && aw_room && turn_room;
  assign s_awready_o = (aw_room && turn_room) ? aw_gnt : '0;
  assign aw_d = '{
          who: aw_who,
          id: s_awid_i[aw_who],
          addr: s_awaddr_i[aw_who],
          len: s_awlen_i[aw_who]
      };

  mrc_fifo #(
      .T(addr_t),
      .Depth(2)
  ) u_aw (
      .clk_i,
      .rst_ni,
      .valid_i(aw_take),
      .ready_o(aw_room),
      .data_i(aw_d),
      .valid_o(m_awvalid_o),
      .ready_i(m_awready_i),
      .data_o(aw),
      .count_o(unused_aws)
  );

  assign m_awid_o = {aw.who, aw.id};
  assign m_awaddr_o = aw.addr;
  assign m_awlen_o = aw.len;

  mrc_rr_arb #(
      .N(2)
  ) u_ar_turn (
      .clk_i,
      .rst_ni,
      .req_i(s_arvalid_i),
      .take_i(ar_take),
      .gnt_o(ar_gnt),
      .idx_o(ar_who),
      .any_o(ar_any)
  );

  assign ar_take = ar_any && ar_room;
  assign s_arready_o = ar_room ? ar_gnt : '0;
  assign ar_d = '{
          who: ar_who,
          id: s_arid_i[ar_who],
          addr: s_araddr_i[ar_who],
          len: s_arlen_i[ar_who]
      };

  mrc_fifo #(
      .T(addr_t),
      .Depth(2)
  ) u_ar (
      .clk_i,
      .rst_ni,
      .valid_i(ar_take),
      .ready_o(ar_room),
      .data_i(ar_d),
      .valid_o(m_arvalid_o),
      .ready_i(m_arready_i),
      .data_o(ar),
      .count_o(unused_ars)
  );

  assign m_arid_o = {ar.who, ar.id};
  assign m_araddr_o = ar.addr;
  assign m_arlen_o = ar.len;

  // ---- beats, in the order of their addresses

  mrc_fifo #(
      .T(logic),
      .Depth(Bursts)
  ) u_turns (
      .clk_i,
      .rst_ni,
      .valid_i(aw_take),
      .ready_o(turn_room),
      .data_i(aw_who),
      .valid_o(turn_valid),
      .ready_i(w_take && s_wlast_i[turn]),
      .data_o(turn),
      .count_o(unused_turns)
  );

  assign w_take = turn_valid && s_wvalid_i[turn] && w_room;
  assign s_wready_o[0] = turn_valid && !turn && w_room;
  assign s_wready_o[1] = turn_valid && turn && w_room;

  mrc_fifo #(
      .T(beat_t),
      .Depth(2)
  ) u_w (
      .clk_i,
      .rst_ni,
      .valid_i(w_take),
      .ready_o(w_room),
      .data_i({s_wdata_i[turn], s_wstrb_i[turn], s_wlast_i[turn]}),
      .valid_o(m_wvalid_o),
      .ready_i(m_wready_i),
      .data_o(w),
      .count_o(unused_ws)
  );

  assign m_wdata_o = w.data;
  assign m_wstrb_o = w.strb;
  assign m_wlast_o = w.last;

  // ---- answers

  assign s_bvalid_o = {m_bvalid_i && m_bid_i[IdW], m_bvalid_i && !m_bid_i[IdW]};
  assign m_bready_o = s_bready_i[m_bid_i[IdW]];
  assign s_rvalid_o = {m_rvalid_i && m_rid_i[IdW], m_rvalid_i && !m_rid_i[IdW]};
  assign m_rready_o = s_rready_i[m_rid_i[IdW]];

  logic unused_bits;
  assign unused_bits = ^{m_bid_i[IdW-1:0], m_rid_i[IdW-1:0]};

endmodule
