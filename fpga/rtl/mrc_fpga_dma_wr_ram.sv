// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Behind mrc_fpga_dma_wr, for a DMA that drains a RAM: a piece's beats go into the RAM, at its
/// id's place, and its descriptor to the DMA when all of them are there. The stream is always
/// taken: an id comes again when its piece has been written, so nothing is overwritten. Latency: a
/// descriptor is offered one cycle after its last beat; a row is read in one cycle. Throughput: a
/// beat per cycle, a descriptor per cycle. It sees no status. Contract:
/// docs/design/boards/host_b.md.
module mrc_fpga_dma_wr_ram #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned MaxBeats = 64,
    parameter int unsigned MaxDescs = 16,
    parameter int unsigned Segs = 2,
    parameter int unsigned LenW = 16,
    parameter int unsigned AddrW = 64,
    localparam int unsigned DataW = WordBytes * 8,
    localparam int unsigned OffW = $clog2(WordBytes),
    localparam int unsigned IdW = $clog2(MaxDescs),
    localparam int unsigned BeatW = $clog2(MaxBeats),
    localparam int unsigned SegW = $clog2(Segs),
    localparam int unsigned WordW = IdW + BeatW,
    localparam int unsigned RowW = WordW - SegW,
    localparam int unsigned RamW = WordW + OffW
) (
    input logic clk_i,
    input logic rst_ni,
    input logic desc_valid_i,
    output logic desc_ready_o,
    input logic [AddrW-1:0] desc_addr_i,
    input logic [LenW-1:0] desc_len_i,
    input logic [IdW-1:0] desc_id_i,
    input logic data_valid_i,
    output logic data_ready_o,
    input logic [DataW-1:0] data_i,
    input logic data_last_i,

    output logic desc_valid_o,
    input logic desc_ready_i,
    output logic [AddrW-1:0] desc_addr_o,
    output logic [LenW-1:0] desc_len_o,
    output logic [IdW-1:0] desc_id_o,
    output logic [RamW-1:0] desc_ram_addr_o,
    // The RAM's rows, by segment.
    input logic [Segs-1:0] read_valid_i,
    output logic [Segs-1:0] read_ready_o,
    input logic [Segs-1:0][RowW-1:0] read_row_i,
    output logic [Segs-1:0] row_valid_o,
    input logic [Segs-1:0] row_ready_i,
    output logic [Segs-1:0][DataW-1:0] row_data_o,
    // No descriptor is inside, and no row is on offer.
    output logic idle_o
);

  // Descriptors that wait for their last beat: as many as beats are on their way, of one each.
  localparam int unsigned Waiting = 4;

  if (MaxBeats < 2 || MaxBeats != 2 ** BeatW || MaxDescs < 2 || MaxDescs != 2 ** IdW)
  begin : gen_bad_pieces
    $error("%m: MaxBeats and MaxDescs must be powers of two, at least 2");
  end
  if (Segs < 2 || Segs != 2 ** SegW || Segs > MaxBeats) begin : gen_bad_segs
    $error("%m: Segs must be a power of two, 2 to MaxBeats");
  end

  typedef struct packed {
    logic [AddrW-1:0] addr;
    logic [LenW-1:0] len;
    logic [IdW-1:0] id;
  } desc_t;

  // Where the next beat goes, and pieces that are whole and whose descriptor has not gone.
  logic [IdW-1:0] id_q, id_d;
  logic [BeatW-1:0] beat_q, beat_d;
  logic [IdW:0] whole_q, whole_d;
  logic [WordW-1:0] word;
  logic [Segs-1:0] row_valid_q, row_valid_d, read;
  logic ends, waits, whole, go;
  desc_t desc;
  logic [$clog2(Waiting+1)-1:0] unused_count;

  // A descriptor is taken before its beats, so that those of the next piece follow at once.
  mrc_fifo #(
      .T(desc_t),
      .Depth(Waiting)
  ) u_descs (
      .clk_i,
      .rst_ni,
      .valid_i(desc_valid_i),
      .ready_o(desc_ready_o),
      .data_i({desc_addr_i, desc_len_i, desc_id_i}),
      .valid_o(waits),
      .ready_i(whole && desc_ready_i),
      .data_o(desc),
      .count_o(unused_count)
  );

  assign data_ready_o = 1'b1;
  assign ends = data_valid_i && data_last_i;
  assign whole = whole_q != '0;
  assign desc_valid_o = waits && whole;
  assign go = desc_valid_o && desc_ready_i;
  assign desc_addr_o = desc.addr;
  assign desc_len_o = desc.len;
  assign desc_id_o = desc.id;
  assign desc_ram_addr_o = {desc.id, {(BeatW + OffW) {1'b0}}};

  assign word = {id_q, beat_q};
  assign id_d = ends ? id_q + IdW'(1) : id_q;
  assign beat_d = !data_valid_i ? beat_q : ends ? '0 : beat_q + BeatW'(1);
  assign whole_d = whole_q + (IdW + 1)'(ends) - (IdW + 1)'(go);

  for (genvar s = 0; s < Segs; s++) begin : gen_seg
    mrc_ram_1r1w #(
        .Width(DataW),
        .Depth(2 ** RowW)
    ) u_rows (
        .clk_i,
        .re_i(read[s]),
        .raddr_i(read_row_i[s]),
        .rdata_o(row_data_o[s]),
        .we_i(data_valid_i && word[SegW-1:0] == SegW'(s)),
        .waddr_i(word[WordW-1:SegW]),
        .wdata_i(data_i)
    );
  end

  // A row stays until it is taken: the RAM holds it.
  assign read_ready_o = ~row_valid_q | row_ready_i;
  assign read = read_valid_i & read_ready_o;
  assign row_valid_d = read | (row_valid_q & ~row_ready_i);
  assign row_valid_o = row_valid_q;
  assign idle_o = !waits && row_valid_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      id_q <= '0;
      beat_q <= '0;
      whole_q <= '0;
      row_valid_q <= '0;
    end else begin
      id_q <= id_d;
      beat_q <= beat_d;
      whole_q <= whole_d;
      row_valid_q <= row_valid_d;
    end
  end

  logic unused_bits;
  assign unused_bits = ^unused_count;

  `MRC_ASSERT(PiecesFit, whole_q <= (IdW + 1)'(MaxDescs),
      "more pieces are in the RAM than it has places")
  `MRC_ASSERT(BeatsFit, !data_valid_i || data_last_i || beat_q != BeatW'(MaxBeats - 1),
      "a piece has more beats than its place")
  `MRC_ASSERT(IdsInTurn, !desc_valid_o || desc_id_o == IdW'((IdW + 1)'(id_q) - whole_q),
      "a descriptor's id is not that of the oldest piece in the RAM")

endmodule
