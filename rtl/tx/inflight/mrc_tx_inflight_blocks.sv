// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// The blocks of 16 PSNs that all QPs share in mrc_tx_inflight
/// (docs/design/blocks/tx/inflight/tx_inflight.md): the pool of their numbers, which block of which
/// QP has which number (map), the state of each (win), when its packets went (stamps) and what was
/// sent (recs). Map and window are read one behind the other: a number read is the address of the
/// window row read next, with its stamps, and stays the number of that row. Two machines write
/// here; they see to it that they never do so in the same cycle.
module mrc_tx_inflight_blocks
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned NumBlocks = 20,
    parameter int unsigned NumWqes = 24,
    parameter int unsigned MaxMpr = 128,
    localparam int unsigned QpW = $clog2(NumQps),
    localparam int unsigned BlkW = $clog2(NumBlocks)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input stamp_t now_i,

    // Record: a new block, and a packet of it.
    output logic [BlkW-1:0] offer_o,
    input logic take_i,
    input logic begin_i,
    input logic [QpW-1:0] begin_qp_i,
    input logic [19:0] begin_block_i,
    input logic [BlkW-1:0] begin_num_i,
    input logic sent_i,
    input rec_t sent_rec_i,

    // The main machine. Number of a QP's block:
    input logic map_re_i,
    input logic [QpW-1:0] map_qp_i,
    input logic [19:0] map_block_i,
    output logic [BlkW-1:0] map_o,
    // Row of the block whose number was read, and its stamps; writing the row again, or a stamp:
    input logic win_re_i,
    output win_t win_o,
    output stamps_t stamps_o,
    output logic [BlkW-1:0] win_num_o,
    input logic win_we_i,
    input win_t win_i,
    input logic stamp_we_i,
    input logic [3:0] stamp_pos_i,
    // Record of a packet; writing one again, in the block whose number was read:
    input logic rec_re_i,
    input logic [BlkW-1:0] rec_num_i,
    input logic [3:0] rec_pos_i,
    output sent_t rec_o,
    input logic rec_we_i,
    input rec_t rec_i,
    // The block whose number was read goes back to the pool:
    input logic give_i
);

  localparam int unsigned Blocks = MaxMpr / 16;  // of one QP, at most
  localparam int unsigned BW = $clog2(Blocks);
  localparam int unsigned RowW = $clog2(NumWqes);
  localparam int unsigned RecW = 71 + RowW;

  logic [BlkW-1:0] num_q;
  logic unused_pool_valid;
  logic [$clog2(NumBlocks+1)-1:0] unused_pool_free;

  mrc_pool #(
      .N(NumBlocks)
  ) u_pool (
      .clk_i,
      .rst_ni,
      .valid_o(unused_pool_valid),
      .ready_i(take_i),
      .data_o(offer_o),
      .valid_i(give_i),
      .data_i(map_o),
      .free_o(unused_pool_free)
  );

  mrc_ram_1r1w #(
      .Width(BlkW),
      .Depth(NumQps * Blocks)
  ) u_map (
      .clk_i,
      .re_i(map_re_i),
      .raddr_i({map_qp_i, map_block_i[BW-1:0]}),
      .rdata_o(map_o),
      .we_i(begin_i),
      .waddr_i({begin_qp_i, begin_block_i[BW-1:0]}),
      .wdata_i(begin_num_i)
  );

  mrc_ram_1r1w #(
      .Width($bits(win_t)),
      .Depth(NumBlocks)
  ) u_win (
      .clk_i,
      .re_i(win_re_i),
      .raddr_i(map_o),
      .rdata_o(win_o),
      .we_i(win_we_i || begin_i),
      .waddr_i(win_we_i ? num_q : begin_num_i),
      .wdata_i(win_we_i ? win_i : '0)
  );

  rec_t rec;
  logic [RecW-1:0] rec_bits;
  assign rec = rec_we_i ? rec_i : sent_rec_i;

  mrc_ram_1r1w #(
      .Width(RecW),
      .Depth(NumBlocks * 16)
  ) u_recs (
      .clk_i,
      .re_i(rec_re_i),
      .raddr_i({rec_num_i, rec_pos_i}),
      .rdata_o(rec_bits),
      .we_i(rec_we_i || sent_i),
      .waddr_i({rec_we_i ? map_o : begin_num_i, rec.psn[3:0]}),
      .wdata_i({rec.msn, rec.idx, rec.ev_idx, rec.size, rec.rtx, rec.row[RowW-1:0]})
  );

  // Each packet has a memory for its stamp: one is written, all of a row are read.
  logic stamp_we;
  logic [BlkW-1:0] stamp_num;
  logic [3:0] stamp_pos;
  assign stamp_we = sent_i || ((stamp_we_i || rec_we_i) && bug_i != BugTimeOfTheFirst);
  assign stamp_pos = stamp_we_i ? stamp_pos_i : rec.psn[3:0];
  always_comb begin
    stamp_num = begin_num_i;
    if (stamp_we_i) begin
      stamp_num = num_q;
    end else if (rec_we_i) begin
      stamp_num = map_o;
    end
  end

  for (genvar i = 0; i < 16; i++) begin : gen_stamp
    mrc_ram_1r1w #(
        .Width($bits(stamp_t)),
        .Depth(NumBlocks)
    ) u_stamp (
        .clk_i,
        .re_i(win_re_i),
        .raddr_i(map_o),
        .rdata_o(stamps_o[i]),
        .we_i(stamp_we && stamp_pos == 4'(i)),
        .waddr_i(stamp_num),
        .wdata_i(now_i)
    );
  end

  always_comb begin
    rec_o = '0;
    {rec_o.msn, rec_o.idx, rec_o.ev_idx, rec_o.size, rec_o.rtx, rec_o.row[RowW-1:0]} = rec_bits;
  end

  assign win_num_o = num_q;

  always_ff @(posedge clk_i) begin
    if (win_re_i) begin
      num_q <= map_o;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, begin_block_i[19:BW], map_block_i[19:BW], rec.qp, rec.psn[23:4],
                       rec.row, rec.last, rec.voided};

  // ---- what always holds

  `MRC_ASSERT(OneRowWritten, !(win_we_i && begin_i),
      "two rows are written in one cycle")
  `MRC_ASSERT(OneRecordWritten, !(rec_we_i && sent_i),
      "two records are written in one cycle")
  `MRC_ONE_HOT0(OneStampWritten, {stamp_we_i, rec_we_i, sent_i},
      "two stamps are written in one cycle")
  `MRC_ASSERT_IF(BeginsWithANumber, begin_i, 32'(begin_num_i) < NumBlocks,
      "a block without a number begins")

  `MRC_ASSERT_IF(ReportedForGood, win_we_i, (win_o.sacked & ~win_i.sacked) == 16'd0,
      "a packet that was reported is no longer")
  `MRC_ASSERT_IF(ReportedDoesNotWait, win_we_i, (win_i.sacked & win_i.pend) == 16'd0,
      "a packet that was reported waits to be sent again")
  `MRC_ASSERT_IF(MarksWhatWaits, win_we_i, ((win_i.nacked | win_i.mute) & ~win_i.pend) == 16'd0,
      "nacked or mute of a packet that does not wait")
`ifdef MRC_ASSERT_ON
  logic held_q[0:NumBlocks-1];  // QPs have them
  always_ff @(posedge clk_i) begin
    if (give_i) begin
      held_q[map_o] <= 1'b0;
    end
    if (begin_i) begin
      held_q[begin_num_i] <= 1'b1;
    end
  end

  `MRC_ASSERT_IF(WritesAHeldRow, win_we_i, held_q[num_q],
      "a row is written of a block that no QP has")
  `MRC_ASSERT_IF(StampsAHeldBlock, stamp_we_i, held_q[num_q],
      "a stamp is written of a block that no QP has")
  `MRC_ASSERT_IF(RecordsInAHeldBlock, sent_i && !begin_i, held_q[begin_num_i],
      "a packet is recorded in a block that no QP has")
  `MRC_ASSERT_IF(RecordsAgainInAHeldBlock, rec_we_i, held_q[map_o],
      "a packet is recorded again in a block that no QP has")
`endif

endmodule
