// SPDX-License-Identifier: Apache-2.0

/// Queue of the QPs that may send (docs/blocks/tx_segment.md): one FIFO, first come first served,
/// which makes round robin by packet because a QP with more to send is pushed again behind the
/// others. Latency one cycle. It does not check that a QP is in it once only: tx_segment sees to it.
module mrc_tx_sched
  import mrc_pkg::*;
#(
    parameter int unsigned NumQps = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic push_valid_i,
    output logic push_ready_o,
    input grant_t push_i,
    output logic grant_valid_o,
    input logic grant_ready_i,
    output grant_t grant_o
);

  logic [$clog2(NumQps+1)-1:0] unused_count;

  mrc_fifo #(
      .T(grant_t),
      .Depth(NumQps)
  ) u_queue (
      .clk_i,
      .rst_ni,
      .valid_i(push_valid_i),
      .ready_o(push_ready_o),
      .data_i(push_i),
      .valid_o(grant_valid_o),
      .ready_i(grant_ready_i),
      .data_o(grant_o),
      .count_o(unused_count)
  );

endmodule
