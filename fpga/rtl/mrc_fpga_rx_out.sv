// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// The core's side of a lane's reception: a word of WordBytes becomes beats of PortBytes, as many
/// as it has bytes for. The core takes every beat. Latency: one cycle; a beat per cycle.
module mrc_fpga_rx_out #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned PortBytes = 32,
    localparam int unsigned LenW = $clog2(WordBytes),
    localparam int unsigned PortW = $clog2(PortBytes),
    localparam int unsigned Beats = WordBytes / PortBytes,
    localparam int unsigned BeatW = (Beats > 1) ? $clog2(Beats) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    output logic ready_o,
    input logic [WordBytes*8-1:0] data_i,
    input logic [LenW-1:0] end_i,
    input logic err_i,
    input logic last_i,
    output logic tvalid_o,
    output logic [PortBytes*8-1:0] tdata_o,
    output logic [PortBytes-1:0] tkeep_o,
    output logic tlast_o,
    output logic tuser_o
);

  if (Beats * PortBytes != WordBytes || PortBytes < 2) begin : gen_bad_bytes
    $error("%m: WordBytes must be a multiple of PortBytes");
  end

  logic [BeatW-1:0] beat_q, beat_d, beat_last;
  logic [Beats-1:0][PortBytes*8-1:0] parts;
  logic [PortBytes*8-1:0] tdata_q;
  logic [PortBytes-1:0] tkeep_q, tkeep_d;
  logic tvalid_q, tlast_q, tuser_q, word_done, tlast_d;

  assign parts = data_i;
  if (Beats > 1) begin : gen_beats
    assign beat_last = end_i[LenW-1:PortW];
  end else begin : gen_beat
    assign beat_last = '0;
  end
  assign word_done = valid_i && beat_q == beat_last;
  assign ready_o = beat_q == beat_last;
  assign tlast_d = word_done && last_i;

  always_comb begin
    beat_d = beat_q;
    if (word_done) begin
      beat_d = '0;
    end else if (valid_i) begin
      beat_d = beat_q + BeatW'(1);
    end
    tkeep_d = '1;
    for (int unsigned i = 0; i < PortBytes; i++) begin
      if (tlast_d && PortW'(i) > end_i[PortW-1:0]) begin
        tkeep_d[i] = 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tvalid_q <= 1'b0;
      tlast_q <= 1'b0;
      tuser_q <= 1'b0;
      beat_q <= '0;
    end else begin
      tvalid_q <= valid_i;
      tlast_q <= tlast_d;
      tuser_q <= tlast_d && err_i;
      beat_q <= beat_d;
    end
  end

  always_ff @(posedge clk_i) begin
    tdata_q <= parts[beat_q];
    tkeep_q <= tkeep_d;
  end

  assign tvalid_o = tvalid_q;
  assign tdata_o = tdata_q;
  assign tkeep_o = tkeep_q;
  assign tlast_o = tlast_q;
  assign tuser_o = tuser_q;

  `MRC_ASSERT(FullWords, !valid_i || last_i || end_i == '1,
      "a word that is not the last is not full")

endmodule
