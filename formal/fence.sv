// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fence between blocks that take, hold and pass on words when they like. One word of each
/// chain, be it any, is marked and followed: an order of retransmission or a new packet with its
/// record and its frame; an answer; a received packet with its payload and its order of completion.
/// When a fence has ended, no marked word is inside that was inside when it began.
module formal_fence
  import mrc_pkg::*;
#(
    parameter int unsigned Bug = 0,
    parameter int unsigned LaneFifo = 4,
    parameter int unsigned TxLaneFifo = 4
) (
    input logic clk_i,
    input logic go_i,
    // What a register is loaded with, what leaves a queue, what a FIFO takes.
    input logic retx_load_i,
    input logic retx_take_i,
    input logic order_pop_i,
    input logic order_makes_i,  // a packet of it
    input logic new_i,  // a packet of no order
    input logic pkt_take_i,
    input logic emit_i,
    input logic emit_path_i,  // it has one
    input logic emit_plane_i,
    input logic rec_pop_i,
    input logic path_take_i,
    input logic [1:0] beat_i,  // the last one of a frame
    input logic ctl_load_i,
    input logic ctl_take_i,
    input logic ctl_pop_i,
    input logic rxpkt_load_i,
    input logic rxpkt_load_plane_i,
    input logic rxpkt_load_buf_i,
    input logic rxpkt_take_i,
    input logic post_i,
    input logic post_again_i,  // the marked packet goes on in another pass
    input logic again_ends_i,
    input logic goes_on_i,
    input logic [1:0] place_i,
    input logic ord_load_i,
    input logic ord_take_i,
    input logic ord_pop_i,
    input logic mark_tx_i,
    input logic mark_ctl_i,
    input logic mark_rx_i,
    input logic mark_ord_i  // the marked packet brings one
);
  `MRC_RESET

  // ---- what is inside, as blocks know it: words behind a register, and what they tell

  logic retx_q, pkt_q, path_q, path_plane_q, ctl_q, rxpkt_q, rxpkt_plane_q, rxpkt_buf_q, ord_q;
  logic order_done_q, rec_done_q, ctl_done_q, posted_q, ord_done_q, done_q, done_plane_q;
  logic [1:0] data_done_q;
  logic [3:0] orders_q;  // in tx_segment
  logic [2:0] walk_q;  // in tx_path
  logic [1:0] recs_q;  // on their way to tx_inflight
  logic [1:0][3:0] lane_q;
  logic [1:0] ctls_q, ords_q;
  logic [2:0] track_q;
  logic [1:0][3:0] place_q;

  logic retx_moves, order_pop, pkt_free, pkt_load, pkt_moves, emit, emit_path, rec_pop;
  logic path_moves, ctl_moves, ctl_pop, rx_moves, post, ord_load, ord_free, ord_moves, ord_pop;
  logic path_free, x_again;
  logic [1:0] beat, place;

  assign retx_moves = retx_q && retx_take_i && orders_q != 4'd10;
  assign pkt_free = !pkt_q || pkt_moves;
  assign order_pop = order_pop_i && orders_q != '0 && pkt_free;
  assign pkt_load = order_pop ? order_makes_i : new_i && pkt_free;
  assign pkt_moves = pkt_q && pkt_take_i && walk_q != 3'd4;
  assign path_free = !path_q || path_moves;
  assign emit = emit_i && walk_q != '0 && recs_q != 2'd3 && path_free;
  assign emit_path = emit && emit_path_i;
  assign rec_pop = rec_pop_i && recs_q != '0;
  assign path_moves = path_q && path_take_i && 32'(lane_q[path_plane_q]) != TxLaneFifo + 6;
  assign beat[0] = beat_i[0] && lane_q[0] != '0;
  assign beat[1] = beat_i[1] && lane_q[1] != '0;
  assign ctl_moves = ctl_q && ctl_take_i && ctls_q != 2'd2;
  assign ctl_pop = ctl_pop_i && ctls_q != '0;
  assign rx_moves = rxpkt_q && rxpkt_take_i && track_q != 3'd5
      && !(rxpkt_buf_q && 32'(place_q[rxpkt_plane_q]) == LaneFifo + 11);
  assign ord_free = !ord_q || ord_moves;
  assign post = post_i && track_q != '0 && ord_free;
  assign ord_moves = ord_q && ord_take_i && ords_q != 2'd2;
  assign ord_pop = ord_pop_i && ords_q != '0;
  // One packet is done in a cycle.
  assign place[0] = place_i[0] && place_q[0] != '0;
  assign place[1] = place_i[1] && place_q[1] != '0 && !(place_i[0] && place_q[0] != '0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {retx_q, pkt_q, path_q, ctl_q, rxpkt_q, ord_q} <= '0;
      {order_done_q, rec_done_q, ctl_done_q, posted_q, ord_done_q, done_q, data_done_q} <= '0;
      {orders_q, walk_q, recs_q, lane_q, ctls_q, ords_q, track_q, place_q} <= '0;
    end else begin
      retx_q <= (retx_q && !retx_moves) || retx_load_i;
      pkt_q <= (pkt_q && !pkt_moves) || pkt_load;
      path_q <= (path_q && !path_moves) || emit_path;
      ctl_q <= (ctl_q && !ctl_moves) || ctl_load_i;
      rxpkt_q <= (rxpkt_q && !rx_moves) || rxpkt_load_i;
      ord_q <= (ord_q && !ord_moves) || ord_load;
      order_done_q <= order_pop;
      rec_done_q <= rec_pop;
      ctl_done_q <= ctl_pop;
      posted_q <= post;
      ord_done_q <= ord_pop;
      data_done_q <= beat;
      done_q <= place != '0;
      orders_q <= orders_q + 4'(retx_moves) - 4'(order_pop);
      walk_q <= walk_q + 3'(pkt_moves) - 3'(emit);
      recs_q <= recs_q + 2'(emit) - 2'(rec_pop);
      ctls_q <= ctls_q + 2'(ctl_moves) - 2'(ctl_pop);
      track_q <= track_q + 3'(rx_moves) - 3'(post);
      ords_q <= ords_q + 2'(ord_moves) - 2'(ord_pop);
      for (int p = 0; p < 2; p++) begin
        lane_q[p] <= lane_q[p] + 4'(path_moves && path_plane_q == 1'(p)) - 4'(beat[p]);
        place_q[p] <= place_q[p]
            + 4'(rx_moves && rxpkt_buf_q && rxpkt_plane_q == 1'(p)) - 4'(place[p]);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (emit_path) path_plane_q <= emit_plane_i;
    if (rxpkt_load_i) {rxpkt_plane_q, rxpkt_buf_q} <= {rxpkt_load_plane_i, rxpkt_load_buf_i};
    done_plane_q <= place[1];
  end
  `MRC_GIVEN(retx_waits, !retx_load_i || !retx_q || retx_moves)
  `MRC_GIVEN(ctl_waits, !ctl_load_i || !ctl_q || ctl_moves)
  `MRC_GIVEN(rxpkt_waits, !rxpkt_load_i || !rxpkt_q || rx_moves)

  logic [31:0] owed_o;
  mrc_fence #(
      .NumPlanes(2),
      .LaneFifo(LaneFifo),
      .TxLaneFifo(TxLaneFifo)
  ) dut (
      .bug_i(8'(Bug)),
      .retx_valid_i(retx_q),
      .retx_ready_i(retx_moves),
      .order_done_i(order_done_q),
      .pkt_valid_i(pkt_q),
      .pkt_ready_i(pkt_moves),
      .rec_done_i(rec_done_q),
      .path_valid_i(path_q),
      .path_ready_i(path_moves),
      .path_plane_i({3'd0, path_plane_q}),
      .data_done_i(data_done_q),
      .ctl_valid_i(ctl_q),
      .ctl_ready_i(ctl_moves),
      .ctl_done_i(ctl_done_q),
      .rxpkt_valid_i(rxpkt_q),
      .rxpkt_ready_i(rx_moves),
      .rxpkt_plane_i({3'd0, rxpkt_plane_q}),
      .rxpkt_buf_valid_i(rxpkt_buf_q),
      .posted_i(posted_q),
      .ord_valid_i(ord_q),
      .ord_ready_i(ord_moves),
      .ord_done_i(ord_done_q),
      .done_valid_i(done_q),
      .done_plane_i({3'd0, done_plane_q}),
      .*
  );

  // ---- a marked word of each chain: in a register, or so many words from a queue's front (1)

  logic tx_marked_q, m_retx_q, m_pkt_q, m_path_q, m_plane_q;
  logic ctl_marked_q, m_ctl_q, rx_marked_q, m_rxpkt_q, m_again_q, m_ord_q, m_rx_plane_q;
  logic [3:0] m_orders_q, m_lane_q, m_place_q;
  logic [2:0] m_walk_q, m_track_q;
  logic [1:0] m_recs_q, m_ctls_q, m_ords_q;
  logic m_pops, m_emits, m_posts, m_brings, mark_retx, mark_new, mark_ctl, mark_rx;

  assign mark_retx = retx_load_i && mark_tx_i && !tx_marked_q;
  assign mark_new = pkt_load && !order_pop && mark_tx_i && !tx_marked_q && !mark_retx;
  assign mark_ctl = ctl_load_i && mark_ctl_i && !ctl_marked_q;
  assign mark_rx = rxpkt_load_i && mark_rx_i && !rx_marked_q;
  assign m_pops = order_pop && m_orders_q == 4'd1;
  assign m_emits = emit && m_walk_q == 3'd1;
  assign m_posts = post && m_track_q == 3'd1;
  // Posted for good, after one pass or more; others may bring an order of completion, too.
  assign x_again = m_again_q && again_ends_i && ord_free && !post;
  assign m_brings = ((m_posts && !post_again_i) || x_again) && mark_ord_i;
  assign ord_load = m_brings || (ord_load_i && ord_free && !m_posts && !x_again);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {tx_marked_q, m_retx_q, m_pkt_q, m_path_q, ctl_marked_q, m_ctl_q} <= '0;
      {rx_marked_q, m_rxpkt_q, m_again_q, m_ord_q} <= '0;
      {m_orders_q, m_lane_q, m_place_q, m_walk_q, m_track_q, m_recs_q, m_ctls_q, m_ords_q} <= '0;
    end else begin
      tx_marked_q <= tx_marked_q || mark_retx || mark_new;
      ctl_marked_q <= ctl_marked_q || mark_ctl;
      rx_marked_q <= rx_marked_q || mark_rx;
      m_retx_q <= (m_retx_q && !retx_moves) || mark_retx;
      m_pkt_q <= (m_pkt_q && !pkt_moves) || mark_new || (m_pops && order_makes_i);
      m_path_q <= (m_path_q && !path_moves) || (m_emits && emit_path);
      m_ctl_q <= (m_ctl_q && !ctl_moves) || mark_ctl;
      m_rxpkt_q <= (m_rxpkt_q && !rx_moves) || mark_rx;
      m_again_q <= (m_again_q && !x_again) || (m_posts && post_again_i);
      m_ord_q <= (m_ord_q && !ord_moves) || m_brings;
      m_orders_q <= (m_retx_q && retx_moves) ? orders_q + 4'd1 - 4'(order_pop)
          : m_orders_q - 4'(order_pop && m_orders_q != '0);
      m_walk_q <= (m_pkt_q && pkt_moves) ? walk_q + 3'd1 - 3'(emit)
          : m_walk_q - 3'(emit && m_walk_q != '0);
      m_recs_q <= m_emits ? recs_q + 2'd1 - 2'(rec_pop) : m_recs_q - 2'(rec_pop && m_recs_q != '0);
      m_lane_q <= (m_path_q && path_moves) ? lane_q[m_plane_q] + 4'd1 - 4'(beat[m_plane_q])
          : m_lane_q - 4'(beat[m_plane_q] && m_lane_q != '0);
      m_ctls_q <= (m_ctl_q && ctl_moves) ? ctls_q + 2'd1 - 2'(ctl_pop)
          : m_ctls_q - 2'(ctl_pop && m_ctls_q != '0);
      m_track_q <= (m_rxpkt_q && rx_moves) ? track_q + 3'd1 - 3'(post)
          : m_track_q - 3'(post && m_track_q != '0);
      m_place_q <= (m_rxpkt_q && rx_moves && rxpkt_buf_q)
          ? place_q[m_rx_plane_q] + 4'd1 - 4'(place[m_rx_plane_q])
          : m_place_q - 4'(place[m_rx_plane_q] && m_place_q != '0);
      m_ords_q <= (m_ord_q && ord_moves) ? ords_q + 2'd1 - 2'(ord_pop)
          : m_ords_q - 2'(ord_pop && m_ords_q != '0);
    end
  end
  always_ff @(posedge clk_i) begin
    if (m_emits && emit_path) m_plane_q <= emit_plane_i;
    if (mark_rx) m_rx_plane_q <= rxpkt_load_plane_i;
  end
  `MRC_GIVEN(goes_on, goes_on_i || !m_again_q)

  // ---- inside, and was so when the newest fence began

  logic front, core, lanes;
  assign front = dut.state_q == 2'd1;
  assign core = dut.state_q == 2'd2;
  assign lanes = dut.state_q == 2'd3;
  logic tx_in, ctl_in, judged_in, payload_in, busy;
  logic [1:0] owed_tx, owed_rx;
  logic tx_old_q, ctl_old_q, rx_old_q, tx_was_q, rx_was_q;
  assign tx_in = m_retx_q || m_pkt_q || m_path_q || m_orders_q != '0 || m_walk_q != '0
      || m_recs_q != '0 || m_lane_q != '0;
  assign ctl_in = m_ctl_q || m_ctls_q != '0;
  assign judged_in = m_rxpkt_q || m_again_q || m_ord_q || m_track_q != '0 || m_ords_q != '0;
  assign payload_in = (m_rxpkt_q && rxpkt_buf_q) || m_place_q != '0;
  assign busy = owed_o[CsrFenceBusyLsb];
  assign owed_tx = owed_o[CsrFenceTxLsb+:2];
  assign owed_rx = owed_o[CsrFenceRxLsb+:2];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {tx_old_q, ctl_old_q, rx_old_q, tx_was_q, rx_was_q} <= '0;
    end else begin
      tx_was_q <= tx_in && !go_i && tx_old_q;
      rx_was_q <= (judged_in || payload_in) && !go_i && rx_old_q;
      if (go_i) begin
        tx_old_q <= tx_in;
        ctl_old_q <= ctl_in;
        rx_old_q <= judged_in || payload_in;
      end
    end
  end

  `MRC_PROVE(sent, busy || !tx_old_q || !tx_in)
  `MRC_COVER(sent, busy && tx_old_q && !tx_in && tx_was_q && m_plane_q)
  `MRC_PROVE(answered, busy || !ctl_old_q || !ctl_in)
  `MRC_COVER(answered, busy && ctl_old_q && m_ctls_q == 2'd2)
  `MRC_PROVE(judged, busy || !rx_old_q || !judged_in)
  `MRC_COVER(judged, busy && rx_old_q && m_ords_q != '0 && !payload_in)
  `MRC_PROVE(placed, busy || !rx_old_q || !payload_in)
  `MRC_COVER(placed, busy && rx_old_q && payload_in && m_rx_plane_q && lanes)
  // Which port: a fence that is in the lanes shows the port of the marked packet, and that of the
  // marked payload at any time.
  `MRC_PROVE(names_port, !lanes || !tx_old_q || !tx_in
      || owed_tx[m_plane_q])
  `MRC_COVER(names_port, lanes && tx_old_q && m_lane_q != '0 && m_plane_q)
  `MRC_PROVE(names_payload, !busy || !rx_old_q || m_place_q == '0
      || owed_rx[m_rx_plane_q])
  `MRC_COVER(names_payload, busy && rx_old_q && m_place_q == 4'd1 && m_rx_plane_q)

  // ---- a fence ends: so many cycles after it began in which each word that stands moves, each
  // stage that is not empty lets a word out, and nothing goes on

  localparam int unsigned Front = 13;  // what each state may take
  localparam int unsigned Core = Front + 11;
  localparam int unsigned Lanes = Core + 1 + TxLaneFifo + 9;
  localparam int unsigned Placed = LaneFifo + 14;
  logic [7:0] steps_q;
  logic all_move;
  assign all_move = !goes_on_i && (!retx_q || retx_moves) && (!pkt_q || pkt_moves)
      && (!path_q || path_moves) && (!ctl_q || ctl_moves) && (!rxpkt_q || rx_moves)
      && (!ord_q || ord_moves) && (order_done_q || dut.u_orders.n_q == '0)
      && (ctl_done_q || dut.u_answers.n_q == '0) && (posted_q || dut.u_tracked.n_q == '0)
      && (rec_done_q || dut.u_packets.n_q == '0) && (ord_done_q || dut.u_ordered.n_q == '0)
      && (data_done_q[0] || dut.gen_plane[0].u_sent.n_q == '0)
      && (data_done_q[1] || dut.gen_plane[1].u_sent.n_q == '0)
      && ((done_q && !done_plane_q) || dut.gen_plane[0].u_placed.n_q == '0)
      && ((done_q && done_plane_q) || dut.gen_plane[1].u_placed.n_q == '0);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      steps_q <= '0;
    end else if (go_i) begin
      steps_q <= '0;
    end else if (busy && all_move) begin
      steps_q <= steps_q + 8'd1;
    end
  end
  `MRC_PROVE(ends, 32'(steps_q) <= (Lanes > Placed ? Lanes : Placed) + 1)
  `MRC_COVER(ends, !busy && steps_q == 8'd7)

  // Steps that a stage needs at most to owe nothing.
  function automatic logic [7:0] needs(logic [7:0] left, logic [7:0] n);
    return left + 8'(left > n);
  endfunction
  logic [7:0] needs_orders, needs_answers, needs_tracked, needs_packets, needs_ordered;
  logic [1:0][7:0] needs_sent, needs_placed;
  assign needs_orders = needs(8'(dut.u_orders.left_q), 8'(dut.u_orders.n_q));
  assign needs_answers = needs(8'(dut.u_answers.left_q), 8'(dut.u_answers.n_q));
  assign needs_tracked = needs(8'(dut.u_tracked.left_q), 8'(dut.u_tracked.n_q));
  assign needs_packets = needs(8'(dut.u_packets.left_q), 8'(dut.u_packets.n_q));
  assign needs_ordered = needs(8'(dut.u_ordered.left_q), 8'(dut.u_ordered.n_q));
  for (genvar p = 0; p < 2; p++) begin : gen_needs
    assign needs_sent[p] =
        needs(8'(dut.gen_plane[p].u_sent.left_q), 8'(dut.gen_plane[p].u_sent.n_q));
    assign needs_placed[p] =
        needs(8'(dut.gen_plane[p].u_placed.left_q), 8'(dut.gen_plane[p].u_placed.n_q));
    `MRC_HELP(steps_placed, !busy || needs_placed[p] == 8'd0
        || 32'(steps_q) + 32'(needs_placed[p]) <= Placed)
    `MRC_HELP(steps_sent, !lanes || 32'(steps_q) + 32'(needs_sent[p]) <= Lanes)
  end
  `MRC_HELP(steps_front, !front || (32'(steps_q) + 32'(needs_orders) <= Front
      && 32'(steps_q) + 32'(needs_answers) <= Front && 32'(steps_q) + 32'(needs_tracked) <= Front))
  `MRC_HELP(steps_core, !core || (32'(steps_q) + 32'(needs_packets) <= Core
      && 32'(steps_q) + 32'(needs_ordered) <= Core))
  `MRC_HELP(steps_lanes, !lanes || 32'(steps_q) <= Lanes)

  // ---- helpers: what stages count, and where the marked words stand among what is left

  `MRC_HELP(orders, dut.u_orders.n_q == orders_q + 4'(order_done_q) && orders_q <= 4'd10)
  `MRC_HELP(packets,
      5'(dut.u_packets.n_q) == 5'(walk_q) + 5'(recs_q) + 5'(rec_done_q) && walk_q <= 3'd4)
  `MRC_HELP(answers, 4'(dut.u_answers.n_q) == 4'(ctls_q) + 4'(ctl_done_q) && ctls_q <= 2'd2)
  `MRC_HELP(tracked, 4'(dut.u_tracked.n_q) == 4'(track_q) + 4'(posted_q) && track_q <= 3'd5)
  `MRC_HELP(ordered, 4'(dut.u_ordered.n_q) == 4'(ords_q) + 4'(ord_done_q) && ords_q <= 2'd2)
  `MRC_HELP(left, dut.u_orders.left_q <= dut.u_orders.n_q + 4'(retx_q)
      && dut.u_answers.left_q <= dut.u_answers.n_q + 3'(ctl_q)
      && dut.u_tracked.left_q <= dut.u_tracked.n_q + 3'(rxpkt_q)
      && dut.u_packets.left_q <= dut.u_packets.n_q + 4'(pkt_q)
      && dut.u_ordered.left_q <= dut.u_ordered.n_q + 3'(ord_q))
  for (genvar p = 0; p < 2; p++) begin : gen_help
    `MRC_HELP(sent, 6'(dut.gen_plane[p].u_sent.n_q) == 6'(lane_q[p]) + 6'(data_done_q[p])
        && 32'(lane_q[p]) <= TxLaneFifo + 6)
    `MRC_HELP(placed, 6'(dut.gen_plane[p].u_placed.n_q)
        == 6'(place_q[p]) + 6'(done_q && done_plane_q == 1'(p)) && 32'(place_q[p]) <= LaneFifo + 11)
    `MRC_HELP(left, 6'(dut.gen_plane[p].u_placed.left_q) <= 6'(dut.gen_plane[p].u_placed.n_q)
            + 6'(rxpkt_q && rxpkt_buf_q && rxpkt_plane_q == 1'(p))
        && 6'(dut.gen_plane[p].u_sent.left_q) <= 6'(dut.gen_plane[p].u_sent.n_q)
            + 6'(path_q && path_plane_q == 1'(p)))
  end

  `MRC_HELP(m_orders, m_orders_q <= orders_q && (!m_retx_q || retx_q) && (!m_pkt_q || pkt_q))
  `MRC_HELP(m_walk, m_walk_q <= walk_q && m_recs_q <= recs_q && (!m_path_q || path_q))
  `MRC_HELP(m_plane, !m_path_q || path_plane_q == m_plane_q)
  `MRC_HELP(m_lane, m_lane_q <= lane_q[m_plane_q])
  `MRC_HELP(m_ctls, m_ctls_q <= ctls_q && (!m_ctl_q || ctl_q))
  `MRC_HELP(m_rx,
      m_track_q <= track_q && (!m_rxpkt_q || rxpkt_q) && m_ords_q <= ords_q && (!m_ord_q || ord_q))
  `MRC_HELP(m_rx_plane, !m_rxpkt_q || rxpkt_plane_q == m_rx_plane_q)
  `MRC_HELP(m_place, m_place_q <= place_q[m_rx_plane_q])
  `MRC_HELP(m_tx_marked, tx_marked_q || !(tx_in || tx_old_q))
  `MRC_HELP(m_ctl_marked, ctl_marked_q || !(ctl_in || ctl_old_q))
  `MRC_HELP(m_rx_marked, rx_marked_q || !(judged_in || payload_in || rx_old_q))
  `MRC_HELP(m_tx_once, 3'(m_retx_q) + 3'(m_orders_q != '0) + 3'(m_pkt_q) + 3'(m_walk_q != '0)
      + 3'(m_recs_q != '0 || m_path_q || m_lane_q != '0) <= 3'd1 && !(m_path_q && m_lane_q != '0))
  `MRC_HELP(m_rx_once, 3'(m_rxpkt_q) + 3'(m_track_q != '0) + 3'(m_again_q) + 3'(m_ord_q)
      + 3'(m_ords_q != '0) <= 3'd1 && !(m_rxpkt_q && m_place_q != '0))
  `MRC_HELP(m_ctl_once, !(m_ctl_q && m_ctls_q != '0))

  logic [1:0][5:0] sent_left, placed_left;
  assign sent_left = {6'(dut.gen_plane[1].u_sent.left_q), 6'(dut.gen_plane[0].u_sent.left_q)};
  assign placed_left = {6'(dut.gen_plane[1].u_placed.left_q), 6'(dut.gen_plane[0].u_placed.left_q)};
  `MRC_HELP(left_retx, !(tx_old_q && m_retx_q) || (front
      && 6'(dut.u_orders.left_q) == 6'(orders_q) + 6'(order_done_q) + 6'd1))
  `MRC_HELP(left_orders, !(tx_old_q && m_orders_q != '0) || (front
      && 6'(dut.u_orders.left_q) >= 6'(m_orders_q) + 6'(order_done_q)))
  `MRC_HELP(left_pkt, !(tx_old_q && m_pkt_q) || front || (core
      && 6'(dut.u_packets.left_q) == 6'(walk_q) + 6'(recs_q) + 6'(rec_done_q) + 6'd1))
  `MRC_HELP(left_walk, !(tx_old_q && m_walk_q != '0) || front || (core
      && 6'(dut.u_packets.left_q) >= 6'(m_walk_q) + 6'(recs_q) + 6'(rec_done_q)))
  `MRC_HELP(left_recs, !(tx_old_q && m_recs_q != '0) || front || (core
      && 6'(dut.u_packets.left_q) >= 6'(m_recs_q) + 6'(rec_done_q)))
  `MRC_HELP(left_path, !(tx_old_q && m_path_q) || front || core || (lanes
      && sent_left[m_plane_q] == 6'(lane_q[m_plane_q]) + 6'(data_done_q[m_plane_q]) + 6'd1))
  `MRC_HELP(left_lane, !(tx_old_q && m_lane_q != '0) || front || core || (lanes
      && sent_left[m_plane_q] >= 6'(m_lane_q) + 6'(data_done_q[m_plane_q])))
  `MRC_HELP(left_ctl, !(ctl_old_q && m_ctl_q) || (front
      && 6'(dut.u_answers.left_q) == 6'(ctls_q) + 6'(ctl_done_q) + 6'd1))
  `MRC_HELP(left_ctls, !(ctl_old_q && m_ctls_q != '0) || (front
      && 6'(dut.u_answers.left_q) >= 6'(m_ctls_q) + 6'(ctl_done_q)))
  `MRC_HELP(left_rxpkt, !(rx_old_q && m_rxpkt_q) || (front
      && 6'(dut.u_tracked.left_q) == 6'(track_q) + 6'(posted_q) + 6'd1))
  `MRC_HELP(left_track, !(rx_old_q && m_track_q != '0) || (front
      && 6'(dut.u_tracked.left_q) >= 6'(m_track_q) + 6'(posted_q)))
  `MRC_HELP(left_again, !(rx_old_q && m_again_q) || front)
  `MRC_HELP(left_ord, !(rx_old_q && m_ord_q) || front || (core
      && 6'(dut.u_ordered.left_q) == 6'(ords_q) + 6'(ord_done_q) + 6'd1))
  `MRC_HELP(left_ords, !(rx_old_q && m_ords_q != '0) || front || (core
      && 6'(dut.u_ordered.left_q) >= 6'(m_ords_q) + 6'(ord_done_q)))
  `MRC_HELP(left_payload, !(rx_old_q && m_rxpkt_q && rxpkt_buf_q) || (busy
      && placed_left[m_rx_plane_q] == 6'(place_q[m_rx_plane_q])
          + 6'(done_q && done_plane_q == m_rx_plane_q) + 6'd1))
  `MRC_HELP(left_place, !(rx_old_q && m_place_q != '0) || (busy
      && placed_left[m_rx_plane_q] >= 6'(m_place_q) + 6'(done_q && done_plane_q == m_rx_plane_q)))

endmodule
