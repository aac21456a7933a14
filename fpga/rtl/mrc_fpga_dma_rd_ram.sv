// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Behind mrc_fpga_dma_rd, for a DMA that fills a RAM and answers in any order: a descriptor gets a
/// slot of the RAM, whose number is its tag; when it is the oldest and filled, its line leaves.
/// Lines leave in the order of descriptors, one per cycle, two cycles after their status. The RAM
/// is written at any time; nothing is overwritten that waits, if the DMA writes what it was asked
/// for. Contract: docs/design/boards/host_b.md.
module mrc_fpga_dma_rd_ram #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned Slots = 128,
    parameter int unsigned Segs = 2,
    parameter int unsigned LenW = 16,
    parameter int unsigned AddrW = 64,
    localparam int unsigned DataW = WordBytes * 8,
    localparam int unsigned OffW = $clog2(WordBytes),
    localparam int unsigned TagW = $clog2(Slots),
    localparam int unsigned SegW = $clog2(Segs),
    localparam int unsigned RowW = TagW - SegW,
    localparam int unsigned RamW = TagW + OffW
) (
    input logic clk_i,
    input logic rst_ni,
    input logic desc_valid_i,
    output logic desc_ready_o,
    input logic [AddrW-1:0] desc_addr_i,
    input logic [LenW-1:0] desc_len_i,
    output logic rsp_valid_o,
    output logic [DataW-1:0] rsp_data_o,
    output logic rsp_err_o,
    output logic stray_o,

    output logic desc_valid_o,
    input logic desc_ready_i,
    output logic [AddrW-1:0] desc_addr_o,
    output logic [LenW-1:0] desc_len_o,
    output logic [TagW-1:0] desc_tag_o,
    output logic [RamW-1:0] desc_ram_addr_o,
    // The RAM's rows, by segment: always taken.
    input logic [Segs-1:0] write_valid_i,
    input logic [Segs-1:0][RowW-1:0] write_row_i,
    input logic [Segs-1:0][WordBytes-1:0] write_be_i,
    input logic [Segs-1:0][DataW-1:0] write_data_i,
    input logic status_valid_i,
    input logic [TagW-1:0] status_tag_i,
    input logic status_err_i
);

  if (Segs < 2 || Segs != 2 ** SegW || Slots <= Segs) begin : gen_bad_segs
    $error("%m: Segs must be a power of two, at least 2, and Slots more");
  end

  logic room, leaves, leaves_q, err, err_q;
  logic [TagW-1:0] slot;
  logic [SegW-1:0] seg_q;
  logic [Segs-1:0][DataW-1:0] row;

  assign desc_valid_o = desc_valid_i && room;
  assign desc_ready_o = desc_ready_i && room;
  assign desc_addr_o = desc_addr_i;
  assign desc_len_o = desc_len_i;
  assign desc_ram_addr_o = {desc_tag_o, {OffW{1'b0}}};

  mrc_fpga_in_turn #(
      .N(Slots)
  ) u_turns (
      .clk_i,
      .rst_ni,
      .issue_i(desc_valid_o && desc_ready_i),
      .room_o(room),
      .id_o(desc_tag_o),
      .came_i(status_valid_i),
      .came_id_i(status_tag_i),
      .came_err_i(status_err_i),
      .stray_o,
      .turn_valid_o(leaves),
      .turn_id_o(slot),
      .turn_err_o(err),
      .take_i(leaves)
  );

  for (genvar s = 0; s < Segs; s++) begin : gen_seg
    mrc_fpga_ram_be #(
        .Bytes(WordBytes),
        .Depth(2 ** RowW)
    ) u_rows (
        .clk_i,
        .re_i(leaves),
        .raddr_i(slot[TagW-1:SegW]),
        .rdata_o(row[s]),
        .we_i(write_valid_i[s]),
        .waddr_i(write_row_i[s]),
        .be_i(write_be_i[s]),
        .wdata_i(write_data_i[s])
    );
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      leaves_q <= 1'b0;
    end else begin
      leaves_q <= leaves;
    end
  end

  always_ff @(posedge clk_i) begin
    seg_q <= slot[SegW-1:0];
    err_q <= err;
  end

  assign rsp_valid_o = leaves_q;
  assign rsp_data_o = row[seg_q];
  assign rsp_err_o = err_q;

endmodule
