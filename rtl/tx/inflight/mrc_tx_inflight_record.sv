// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// What was sent, in mrc_tx_inflight (docs/design/blocks/tx/inflight/tx_inflight.md, Record and
/// Rec). Record remembers a packet just sent, one per cycle beside the main machine, and begins a
/// block for it where its PSN needs one. It owns what is known of the newest packet of each QP. The
/// memories and the pool are its neighbours': it says what to write. A head that is no packet sent
/// for the first time on a living QP is left to the main machine, and is its state Rec.
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
    input logic [11:0] now_i,  // low bits of the tick
    input logic time_wait_i,
    input state_e state_i,

    // Record: the head of rec, and what is known of its QP.
    input logic rec_valid_i,
    input rec_t rec_i,
    input flags_t is_i,
    input logic [19:0] base_i,
    input logic [BlkW-1:0] offer_i,  // the pool's
    output logic mine_o,  // the head is for Record
    output recording_t recording_o,
    output logic [BlkW-1:0] block_o,  // where it is recorded

    // An answer begins, of this QP and block; Ctl0: that of the answer.
    input logic answer_i,
    input logic [QpW-1:0] answer_qp_i,
    input logic [19:0] answer_block_i,
    input logic [19:0] ctl0_block_i,
    // QP_CTX: nothing is sent yet.
    input logic clear_i,
    input logic [QpW-1:0] clear_qp_i,

    // What the others read: the main machine (and whose it will be in the next cycle), a visit, the
    // table row, the head of the list. As long as nothing is sent, the answer is what the QP begins
    // with: una, msn_done.
    input logic [QpW-1:0] next_qp_i,
    input logic [QpW-1:0] cur_qp_i,
    input logic [23:0] cur_una_i,
    input logic [15:0] cur_msn_i,
    output out_t cur_o,
    output logic [BlkW-1:0] newest_o,  // the block of its newest packet
    input logic [QpW-1:0] vis_qp_i,
    input logic [23:0] vis_una_i,
    input logic [15:0] vis_msn_i,
    output out_t vis_o,
    output logic [11:0] vis_last_o,  // when a packet of it was recorded last
    input logic [QpW-1:0] cfg_qp_i,
    output logic [27:0] cfg_fsent_o,
    input logic [QpW-1:0] list_qp_i,
    input logic [23:0] list_una_i,
    output logic [23:0] list_nxt_o,

    // Rec: the packet, its QP, whether its record is there.
    input rec_t job_i,
    input flags_t cur_is_i,
    input qp_t cur_row_i,
    input logic owned_i,
    input logic [27:0] packet_fgone_i,
    output logic again_o,  // it is recorded anew
    output change_t change_o
);

  localparam int unsigned Blocks = MaxMpr / 16;  // of one QP, at most

  // ---- Record

  logic [QpW-1:0] qp;
  logic clean, far, begins, busy, read, stop, go;
  logic [19:0] ahead;
  logic [BlkW-1:0] newest;

  // Something is sent since QP_CTX: the registers below mean something.
  logic [5:0] sent;
  logic cur_clean_q, cur_clean_d;

  mrc_flags #(
      .Width(1),
      .Depth(NumQps),
      .Reads(6)
  ) u_sent (
      .clk_i,
      .rst_ni,
      .raddr_i({clear_qp_i, next_qp_i, list_qp_i, cfg_qp_i, vis_qp_i, qp}),
      .flags_o(sent),
      .a_port_i(3'd0),
      .a_set_i(go),
      .a_clear_i(1'b0),
      .b_port_i(3'd5),
      .b_set_i(1'b0),
      .b_clear_i(clear_i)
  );

  assign qp = rec_i.qp[QpW-1:0];
  assign clean = !sent[0];

  assign mine_o = rec_valid_i && !rec_i.voided && !rec_i.rtx && is_i.live;
  assign begins = rec_i.psn[3:0] == 4'd0 || is_i.fresh;
  assign ahead = rec_i.psn[23:4] - base_i;
  assign far = is_i.held && !is_i.kept && ahead >= 20'(Blocks);
  // Rec records a packet, Retx1 writes a stamp.
  assign stop = state_i == StRec || (state_i == StRetx1 && !time_wait_i)
      || (clear_i && qp == clear_qp_i);
  // The main machine may write a row, or gives a block back.
  assign busy = state_i inside {StCtl1, StRow, StScan, StRetxW, StSame1, StWalk, StNotified,
                               StPort3,
                                StReclaim};
  // An answer about this very block has read the map, which must stay true.
  assign read = (answer_i && qp == answer_qp_i && rec_i.psn[23:4] == answer_block_i)
      || (state_i == StCtl0 && qp == cur_qp_i && rec_i.psn[23:4] == ctl0_block_i);
  assign go = mine_o && !stop && !(begins && (busy || read || far));
  assign recording_o = '{
          go: go,
          begins: begins,
          take: go && begins && !is_i.kept,
          reuse: go && begins && is_i.kept
      };
  assign block_o = (begins && !is_i.kept) ? offer_i : newest;

  // ---- Rec

  logic voided, stray;
  assign voided = state_i == StRec && job_i.voided;
  // A packet sent for a QP that is over: tx_segment has counted its block.
  assign stray = state_i == StRec && !job_i.voided && !cur_is_i.live && !job_i.rtx;
  assign again_o = state_i == StRec && !job_i.voided && cur_is_i.live && owned_i;

  always_comb begin
    change_o = '0;
    if (voided && cur_is_i.live && cur_is_i.cc) begin
      change_o.we = 1'b1;
      change_o.row = cur_row_i;
      change_o.row.fgone = packet_fgone_i;
    end
    change_o.unfresh = stray;
    change_o.freed = stray && (job_i.psn[3:0] == 4'd0 || cur_is_i.fresh);
  end

  // ---- registers

  logic [2:0][23:0] nxt;
  logic [1:0][15:0] msn_sent;
  logic [3:0][27:0] fsent;
  logic [27:0] size;
  assign size = is_i.cc ? {14'd0, rec_i.size} : 28'd0;

  mrc_rf_nr1w #(
      .Width(24),
      .Depth(NumQps),
      .Reads(3)
  ) u_nxt (
      .clk_i,
      .raddr_i({list_qp_i, vis_qp_i, cur_qp_i}),
      .rdata_o(nxt),
      .we_i(go),
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
      .raddr_i({vis_qp_i, cur_qp_i}),
      .rdata_o(msn_sent),
      .we_i(go && (rec_i.last || clean)),
      .waddr_i(qp),
      .wdata_i(rec_i.msn + {15'd0, rec_i.last})
  );

  mrc_rf_nr1w #(
      .Width(28),
      .Depth(NumQps),
      .Reads(4)
  ) u_fsent (
      .clk_i,
      .raddr_i({qp, cfg_qp_i, vis_qp_i, cur_qp_i}),
      .rdata_o(fsent),
      .we_i(go),
      .waddr_i(qp),
      .wdata_i((clean ? 28'd0 : fsent[3]) + size)
  );

  mrc_rf_2r1w #(
      .Width(BlkW),
      .Depth(NumQps)
  ) u_newest (
      .clk_i,
      .raddr0_i(cur_qp_i),
      .rdata0_o(newest_o),
      .raddr1_i(qp),
      .rdata1_o(newest),
      .we_i(recording_o.take),
      .waddr_i(qp),
      .wdata_i(offer_i)
  );

  // Rec records one while Record stops.
  mrc_rf_1r1w #(
      .Width(12),
      .Depth(NumQps)
  ) u_last (
      .clk_i,
      .raddr_i(vis_qp_i),
      .rdata_o(vis_last_o),
      .we_i(go || again_o),
      .waddr_i(again_o ? cur_qp_i : qp),
      .wdata_i(now_i)
  );

  always_comb begin
    cur_o = '{nxt: nxt[0], msn_sent: msn_sent[0], fsent: fsent[0]};
    if (cur_clean_q) begin
      cur_o = '{nxt: cur_una_i, msn_sent: cur_msn_i, fsent: 28'd0};
    end
    vis_o = '{nxt: nxt[1], msn_sent: msn_sent[1], fsent: fsent[1]};
    if (!sent[1]) begin
      vis_o = '{nxt: vis_una_i, msn_sent: vis_msn_i, fsent: 28'd0};
    end
    cfg_fsent_o = sent[2] ? fsent[2] : 28'd0;
    list_nxt_o = sent[3] ? nxt[2] : list_una_i;
  end

  always_comb begin
    cur_clean_d = !sent[4];
    if (go && qp == next_qp_i) begin
      cur_clean_d = 1'b0;
    end
    if (clear_i && clear_qp_i == next_qp_i) begin
      cur_clean_d = 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cur_clean_q <= 1'b1;
    end else begin
      cur_clean_q <= cur_clean_d;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, sent[5], rec_i.qp[$bits(qp_index_t)-1:QpW], rec_i.row, rec_i.idx,
                       rec_i.ev_idx, is_i.armed, is_i.inq, is_i.dup, is_i.stays, cur_is_i.held,
                       cur_is_i.kept, cur_is_i.armed, cur_is_i.inq, cur_is_i.dup, cur_is_i.stays,
                       job_i.qp, job_i.msn, job_i.row, job_i.idx, job_i.ev_idx, job_i.last,
                       job_i.size};

  // ---- what always holds

`ifdef MRC_ASSERT_ON
  logic [23:0] expected_q[0:NumQps-1];  // nxt
  always_ff @(posedge clk_i) begin
    if (go) begin
      expected_q[qp] <= rec_i.psn + 24'd1;
    end
  end

  `MRC_ASSERT_IF(InOrder, go, clean || rec_i.psn == expected_q[qp],
      "a packet is recorded out of order")
`endif
  `MRC_ASSERT_IF(OfAQp, rec_valid_i, 32'(rec_i.qp) < NumQps,
      "a packet of no QP")
  `MRC_ASSERT_IF(HasABlock, go, begins || is_i.held,
      "a packet is recorded for a QP without blocks")
  `MRC_ASSERT_IF(KeptIsFull, go && is_i.kept, begins,
      "a packet goes into a block that is full")
  `MRC_ASSERT(RecordsOne, !(go && again_o),
      "two packets are recorded in one cycle")
  `MRC_ASSERT_IF(FirstIsForRecord, state_i == StRec && cur_is_i.live, job_i.voided || job_i.rtx,
      "the main machine has a packet that is for Record")

endmodule
