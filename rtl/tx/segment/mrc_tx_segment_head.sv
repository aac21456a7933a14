// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Input FIFO of depth 2 of mrc_tx_segment, by the rule of mrc_fifo, that holds the registers of
/// its head's QP too: they are read while the head comes up and kept up to date, so that what is
/// done with the head starts from registers.
module mrc_tx_segment_head
  import mrc_pkg::*;
  import mrc_tx_segment_pkg::*;
#(
    parameter type T = grant_t,
    parameter int unsigned NumQps = 4,
    localparam int unsigned QpW = $clog2(NumQps)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    output logic ready_o,
    input T data_i,
    output logic valid_o,
    input logic ready_i,
    output T data_o,
    output qp_regs_t regs_o,

    // Registers of the QP that may be the next head's.
    output logic [QpW-1:0] next_qp_o,
    input qp_regs_t next_regs_i,
    input intake_wr_t intake_wr_i,
    input progress_wr_t progress_wr_i,
    input emit_wr_t emit_wr_i,
    input cfg_wr_t cfg_wr_i
);

  logic head_valid_q, head_valid_d, behind_valid_q, behind_valid_d, push, advance;
  T head_q, behind_q, next;
  qp_regs_t regs_q, regs_d;

  assign ready_o = !behind_valid_q;  // never without a head
  assign valid_o = head_valid_q;
  assign data_o = head_q;
  assign regs_o = regs_q;

  assign push = valid_i && ready_o;
  assign advance = ready_i || !head_valid_q;
  assign head_valid_d = !advance || behind_valid_q || push;
  assign behind_valid_d = !advance && (behind_valid_q || push);
  assign next = behind_valid_q ? behind_q : data_i;
  assign next_qp_o = next.qp[QpW-1:0];
  assign regs_d = advance
      ? written(next_regs_i, qp_index_t'(next_qp_o), intake_wr_i, progress_wr_i, emit_wr_i,
                cfg_wr_i)
      : written(regs_q, qp_index_t'(head_q.qp[QpW-1:0]), intake_wr_i, progress_wr_i, emit_wr_i,
                cfg_wr_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      head_valid_q <= 1'b0;
      behind_valid_q <= 1'b0;
    end else begin
      head_valid_q <= head_valid_d;
      behind_valid_q <= behind_valid_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (advance) begin
      head_q <= next;
    end
    if (push) begin
      behind_q <= data_i;
    end
    if (head_valid_d) begin
      regs_q <= regs_d;
    end
  end

  // ---- what always holds

  `MRC_ASSERT_IF(InOrder, behind_valid_q, head_valid_q,
      "a word waits behind no head")
  `MRC_POPS_A_WORD(Head, ready_i, valid_o)

endmodule
