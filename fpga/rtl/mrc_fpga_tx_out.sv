// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// The MAC's side of a lane's transmission: frames that are whole leave without a gap. A reset of
/// the MAC ends the frame that has begun (cut_o): the rest of it is skipped. What is whole while
/// the MAC is in reset is thrown away (flush_o): it would be old when the link is back. No frame
/// begins in its middle. Latency: one cycle.
module mrc_fpga_tx_out #(
    parameter int unsigned WordBytes = 64,
    localparam int unsigned LenW = $clog2(WordBytes)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic mac_reset_i,
    input logic valid_i,
    output logic ready_o,
    input logic [WordBytes*8-1:0] data_i,
    input logic [LenW-1:0] end_i,
    input logic err_i,
    input logic last_i,
    output logic tvalid_o,
    input logic tready_i,
    output logic [WordBytes*8-1:0] tdata_o,
    output logic [WordBytes-1:0] tkeep_o,
    output logic tlast_o,
    output logic tuser_o,
    output logic cut_o,
    output logic flush_o
);

  // inside_q: the next word of the FIFO is not the first of a frame. skip_q: nor is it sent.
  logic inside_q, inside_d, skip_q, skip_d, valid_q, valid_d, pop, load, discard;
  logic [WordBytes*8-1:0] data_q;
  logic [WordBytes-1:0] keep_q, keep_d;
  logic last_q, user_q;

  assign discard = mac_reset_i || skip_q;
  assign ready_o = discard || !valid_q || tready_i;
  assign pop = valid_i && ready_o;
  assign load = pop && !discard;
  assign cut_o = mac_reset_i && (valid_q || (inside_q && !skip_q));
  assign flush_o = pop && discard && !inside_q;

  always_comb begin
    inside_d = pop ? !last_i : inside_q;
    skip_d = discard && inside_d;
    valid_d = !mac_reset_i && (load || (valid_q && !tready_i));
    for (int unsigned i = 0; i < WordBytes; i++) begin
      keep_d[i] = LenW'(i) <= end_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      skip_q <= 1'b0;
      valid_q <= 1'b0;
    end else begin
      inside_q <= inside_d;
      skip_q <= skip_d;
      valid_q <= valid_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      data_q <= data_i;
      keep_q <= keep_d;
      last_q <= last_i;
      user_q <= last_i && err_i;
    end
  end

  assign tvalid_o = valid_q;
  assign tdata_o = data_q;
  assign tkeep_o = keep_q;
  assign tlast_o = last_q;
  assign tuser_o = user_q;

  `MRC_ASSERT(SkipsFrames, !skip_q || inside_q, "a whole frame is skipped without a reset")

endmodule
