// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_dma_wr_ram with pieces as mrc_fpga_dma_wr makes them, whose beats come when they like,
/// also before their descriptor, and a DMA that asks for rows and takes them as it likes.
module formal_fpga_dma_wr_ram #(
    parameter int unsigned MaxBeats = 2,
    parameter int unsigned MaxDescs = 2,
    localparam int unsigned WordBytes = 2,
    localparam int unsigned Segs = 2
) (
    input logic clk_i,
    input logic want_desc_i,
    input logic want_data_i,
    input logic [15:0] data_i,
    input logic data_last_i,
    input logic [3:0] desc_addr_i,
    input logic desc_ready_i,
    input logic [Segs-1:0] read_valid_i,
    input logic [Segs-1:0][0:0] read_row_i,
    input logic [Segs-1:0] row_ready_i
);
  `MRC_RESET

  logic desc_valid_i, desc_ready_o, data_valid_i, data_ready_o, desc_valid_o, idle_o;
  logic [3:0] desc_addr_o;
  logic [2:0] desc_len_i, desc_len_o, desc_ram_addr_o;
  logic [0:0] desc_id_i, desc_id_o;
  logic [Segs-1:0] read_ready_o, row_valid_o;
  logic [Segs-1:0][15:0] row_data_o;

  mrc_fpga_dma_wr_ram #(
      .WordBytes(WordBytes),
      .MaxBeats(MaxBeats),
      .MaxDescs(MaxDescs),
      .Segs(Segs),
      .LenW(3),
      .AddrW(4)
  ) dut (
      .*
  );

  // Descriptors that came, pieces whose last beat came, descriptors that went: differences count.
  logic [2:0] came_q, whole_q, gone_q;
  logic beat_q;
  logic [Segs-1:0][1:0] rows_q;
  logic [Segs-1:0] held_q;
  logic [Segs-1:0][15:0] held_data_q;
  logic took_q;
  logic [2:0] more_descs, more_beats, open;

  // A piece's place is free when its descriptor has gone: the DMA's status comes behind that.
  assign more_descs = came_q - gone_q;
  assign more_beats = whole_q - gone_q;
  assign open = came_q - whole_q;
  assign desc_valid_i = want_desc_i && 32'(more_descs) < MaxDescs && rst_ni;
  assign data_valid_i = want_data_i && 32'(more_beats) < MaxDescs && rst_ni;
  assign desc_id_i = came_q[0];
  assign desc_len_i = 3'd1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {came_q, whole_q, gone_q, beat_q, rows_q, held_q, took_q} <= '0;
    end else begin
      came_q <= came_q + 3'(desc_valid_i && desc_ready_o);
      whole_q <= whole_q + 3'(data_valid_i && data_last_i);
      gone_q <= gone_q + 3'(desc_valid_o && desc_ready_i);
      if (data_valid_i) beat_q <= !data_last_i;
      for (int unsigned s = 0; s < Segs; s++) begin
        rows_q[s] <= rows_q[s] + 2'(read_valid_i[s] && read_ready_o[s])
            - 2'(row_valid_o[s] && row_ready_i[s]);
      end
      held_q <= row_valid_o & ~row_ready_i;
      took_q <= took_q || row_valid_o != '0;
    end
  end
  always_ff @(posedge clk_i) begin
    held_data_q <= row_data_o;
  end

  // A piece has two beats at most.
  `MRC_GIVEN(short, !data_valid_i || data_last_i || !beat_q)

  logic [Segs-1:0] stays;
  for (genvar s = 0; s < Segs; s++) begin : gen_stays
    assign stays[s] = !held_q[s] || (row_valid_o[s] && row_data_o[s] == held_data_q[s]);
  end

  `MRC_PROVE(rows_stay, stays == '1)
  `MRC_PROVE(rows_requested, (row_valid_o[0] == (rows_q[0] != '0))
      && (row_valid_o[1] == (rows_q[1] != '0)))
  `MRC_PROVE(whole_first, !desc_valid_o || (more_beats != '0 && !more_beats[2]))
  `MRC_PROVE(idle_is_idle, !idle_o || {rows_q, more_descs, desc_valid_o, row_valid_o} == '0)
  `MRC_COVER(rows_stay, held_q == '1)
  `MRC_COVER(rows_requested, rows_q[0] == 2'd1 && rows_q[1] == '0)
  `MRC_COVER(whole_first, desc_valid_o && gone_q == 3'd1 && open == '0)
  `MRC_COVER(idle_is_idle, idle_o && took_q && gone_q == 3'd2)
endmodule
