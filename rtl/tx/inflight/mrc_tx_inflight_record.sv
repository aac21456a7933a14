// SPDX-License-Identifier: Apache-2.0

/// The Record machine of mrc_tx_inflight (docs/blocks/tx/inflight/tx_inflight.md): remembers a packet just sent,
/// one per cycle, and begins a block for it where its PSN needs one. It owns what is known of the
/// newest packet of each QP. The memories and the pool are its neighbours': it says what to write.
/// A head that is no packet sent for the first time on a living QP is left to the main machine.
module mrc_tx_inflight_record
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned NumBlocks = 20,
    parameter int unsigned MaxMpr = 128,
    localparam int unsigned QpW = $clog2(NumQps),
    localparam int unsigned BlkW = $clog2(NumBlocks)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic rec_valid_i,
    input rec_t rec_i,
    // Of the QP of rec_i.
    input logic live_i,
    input logic held_i,
    input logic fresh_i,
    input logic kept_i,
    input logic cc_i,
    input logic [19:0] base_i,
    input logic stop_i,  // nothing is recorded in this cycle
    input logic busy_i,  // no block is begun in this cycle
    input logic [BlkW-1:0] offer_i,  // the pool's

    output logic mine_o,  // the head is for Record
    output logic go_o,  // it is recorded (and popped) in this cycle
    output logic begins_o,  // with go_o: as the first of its block
    output logic take_o,  // whose number comes from the pool
    output logic reuse_o,  // or is the one that the QP has kept
    output logic [BlkW-1:0] block_o,

    input logic clear_i,  // QP_CTX: nothing is sent yet
    input logic [QpW-1:0] clear_qp_i,

    // What the main machine reads: a for its states (and whose they will be in the next cycle), v for
    // visits, t for the table row, l for the head of the list. As long as nothing is sent, the answer
    // is what the QP begins with.
    input logic [QpW-1:0] a_next_qp_i,
    input logic [QpW-1:0] a_qp_i,
    input logic [23:0] a_una_i,
    input logic [15:0] a_msn_i,
    output out_t a_o,
    output logic [BlkW-1:0] a_cur_o,
    input logic [QpW-1:0] v_qp_i,
    input logic [23:0] v_una_i,
    input logic [15:0] v_msn_i,
    output out_t v_o,
    input logic [QpW-1:0] t_qp_i,
    output logic [27:0] t_fsent_o,
    input logic [QpW-1:0] l_qp_i,
    input logic [23:0] l_una_i,
    output logic [23:0] l_nxt_o
);

  localparam int unsigned Blocks = MaxMpr / 16;  // of one QP, at most

  logic [QpW-1:0] qp;
  logic clean, far;
  logic [19:0] ahead;
  logic [BlkW-1:0] cur;

  // Nothing is sent since QP_CTX: the registers below mean nothing yet.
  logic [NumQps-1:0] clean_q, clean_d;
  logic a_clean_q, a_clean_d;

  assign qp = rec_i.qp[QpW-1:0];
  assign clean = clean_q[qp];

  assign mine_o = rec_valid_i && !rec_i.voided && !rec_i.rtx && live_i;
  assign begins_o = rec_i.psn[3:0] == 4'd0 || fresh_i;
  assign ahead = rec_i.psn[23:4] - base_i;
  assign far = held_i && !kept_i && ahead >= 20'(Blocks);
  assign go_o = mine_o && !stop_i && !(begins_o && (busy_i || far));
  assign reuse_o = go_o && begins_o && kept_i;
  assign take_o = go_o && begins_o && !kept_i;
  assign block_o = (begins_o && !kept_i) ? offer_i : cur;

  // ---- registers

  logic [2:0][23:0] nxt;
  logic [1:0][15:0] msn_sent;
  logic [3:0][27:0] fsent;
  logic [27:0] size;
  assign size = cc_i ? {14'd0, rec_i.size} : 28'd0;

  mrc_rf_nr1w #(
      .Width(24),
      .Depth(NumQps),
      .Reads(3)
  ) u_nxt (
      .clk_i,
      .raddr_i({l_qp_i, v_qp_i, a_qp_i}),
      .rdata_o(nxt),
      .we_i(go_o),
      .waddr_i(qp),
      .wdata_i(rec_i.psn + 24'd1)
  );

  // The first packet of a QP begins the message that the QP begins with.
  mrc_rf_nr1w #(
      .Width(16),
      .Depth(NumQps),
      .Reads(2)
  ) u_msn_sent (
      .clk_i,
      .raddr_i({v_qp_i, a_qp_i}),
      .rdata_o(msn_sent),
      .we_i(go_o && (rec_i.last || clean)),
      .waddr_i(qp),
      .wdata_i(rec_i.msn + {15'd0, rec_i.last})
  );

  mrc_rf_nr1w #(
      .Width(28),
      .Depth(NumQps),
      .Reads(4)
  ) u_fsent (
      .clk_i,
      .raddr_i({qp, t_qp_i, v_qp_i, a_qp_i}),
      .rdata_o(fsent),
      .we_i(go_o),
      .waddr_i(qp),
      .wdata_i((clean ? 28'd0 : fsent[3]) + size)
  );

  mrc_rf_2r1w #(
      .Width(BlkW),
      .Depth(NumQps)
  ) u_cur (
      .clk_i,
      .raddr0_i(a_qp_i),
      .rdata0_o(a_cur_o),
      .raddr1_i(qp),
      .rdata1_o(cur),
      .we_i(take_o),
      .waddr_i(qp),
      .wdata_i(offer_i)
  );

  always_comb begin
    a_o = '{nxt: nxt[0], msn_sent: msn_sent[0], fsent: fsent[0]};
    if (a_clean_q) begin
      a_o = '{nxt: a_una_i, msn_sent: a_msn_i, fsent: 28'd0};
    end
    v_o = '{nxt: nxt[1], msn_sent: msn_sent[1], fsent: fsent[1]};
    if (clean_q[v_qp_i]) begin
      v_o = '{nxt: v_una_i, msn_sent: v_msn_i, fsent: 28'd0};
    end
    t_fsent_o = clean_q[t_qp_i] ? 28'd0 : fsent[2];
    l_nxt_o = clean_q[l_qp_i] ? l_una_i : nxt[2];
  end

  always_comb begin
    clean_d = clean_q;
    if (go_o) begin
      clean_d[qp] = 1'b0;
    end
    if (clear_i) begin
      clean_d[clear_qp_i] = 1'b1;
    end
  end

  always_comb begin
    a_clean_d = clean_q[a_next_qp_i];
    if (go_o && qp == a_next_qp_i) begin
      a_clean_d = 1'b0;
    end
    if (clear_i && clear_qp_i == a_next_qp_i) begin
      a_clean_d = 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      clean_q <= {NumQps{1'b1}};
      a_clean_q <= 1'b1;
    end else begin
      clean_q <= clean_d;
      a_clean_q <= a_clean_d;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, rec_i.qp, rec_i.row, rec_i.idx, rec_i.ev_idx};

endmodule
