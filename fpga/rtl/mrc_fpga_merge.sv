// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Sends frames of NumIn streams to a MAC, whole and in turn. Streams have no gap inside a frame,
/// and in a reset of the MAC they end what they have begun (mrc_fpga_tx_out). A frame waits for
/// NumIn - 1 others at most. There is no register on the way: a word is taken when the MAC takes
/// it. Throughput: a word per cycle, also from frame to frame while streams have some; a stream
/// that begins to offer while no other does is sent a cycle later.
module mrc_fpga_merge #(
    parameter int unsigned NumIn = 3,
    parameter int unsigned WordBytes = 64,
    localparam int unsigned IdxW = (NumIn > 1) ? $clog2(NumIn) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic mac_reset_i,
    input logic [NumIn-1:0] tvalid_i,
    output logic [NumIn-1:0] tready_o,
    input logic [NumIn-1:0][WordBytes*8-1:0] tdata_i,
    input logic [NumIn-1:0][WordBytes-1:0] tkeep_i,
    input logic [NumIn-1:0] tlast_i,
    input logic [NumIn-1:0] tuser_i,
    output logic m_tvalid_o,
    input logic m_tready_i,
    output logic [WordBytes*8-1:0] m_tdata_o,
    output logic [WordBytes-1:0] m_tkeep_o,
    output logic m_tlast_o,
    output logic m_tuser_o
);

  // Whose turn it is; inside_q: the MAC has taken a word of its frame, and not the last.
  logic [NumIn-1:0] sel_q, sel_d, others, gnt;
  logic [IdxW-1:0] idx_q, idx_d, gnt_idx;
  logic inside_q, inside_d, taken, ends, move, any;

  assign m_tvalid_o = tvalid_i[idx_q];
  assign m_tdata_o = tdata_i[idx_q];
  assign m_tkeep_o = tkeep_i[idx_q];
  assign m_tlast_o = tlast_i[idx_q];
  assign m_tuser_o = tuser_i[idx_q];
  assign tready_o = m_tready_i ? sel_q : '0;

  // What a stream offers behind its last word is not known in this cycle: another goes first.
  assign taken = m_tvalid_o && m_tready_i;
  assign ends = taken && m_tlast_o;
  assign others = tvalid_i & ~sel_q;
  assign move = ends || (!inside_q && !m_tvalid_o);

  mrc_rr_arb #(
      .N(NumIn)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i(others),
      .take_i(move),
      .gnt_o(gnt),
      .idx_o(gnt_idx),
      .any_o(any)
  );

  assign sel_d = (move && any) ? gnt : sel_q;
  assign idx_d = (move && any) ? gnt_idx : idx_q;
  assign inside_d = !mac_reset_i && (taken ? !m_tlast_o : inside_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sel_q <= NumIn'(1);
      idx_q <= '0;
      inside_q <= 1'b0;
    end else begin
      sel_q <= sel_d;
      idx_q <= idx_d;
      inside_q <= inside_d;
    end
  end

  `MRC_ASSERT(NoGap, !inside_q || m_tvalid_o || mac_reset_i, "a frame that is sent has a gap")

endmodule
