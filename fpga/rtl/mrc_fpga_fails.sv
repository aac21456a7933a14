// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Tells the core which QPs must fail, since a read or a write of theirs has failed. One failure of
/// each QP is kept until the core takes it, the first; so there is always room. QPs take turns.
/// Latency two cycles, one per cycle. It does not know what the core does with it. Contract:
/// docs/design/boards/host.md.
module mrc_fpga_fails
  import mrc_pkg::*;
#(
    parameter int unsigned NumQps = 16,
    localparam int unsigned QpW = (NumQps > 1) ? $clog2(NumQps) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic rd_fail_i,
    input logic [QpW-1:0] rd_qp_i,
    input logic wr_fail_i,
    input logic [QpW-1:0] wr_qp_i,
    output logic host_fail_valid_o,
    input logic host_fail_ready_i,
    output qperr_t host_fail_o
);

  // The QP is to be told; what has failed was a write.
  logic [NumQps-1:0] owed_q, owed_d, write_q, write_d, gnt;
  logic [QpW-1:0] idx;
  logic any, free, load;
  qperr_t next;

  mrc_rr_arb #(
      .N(NumQps)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i(owed_q),
      .take_i(load),
      .gnt_o(gnt),
      .idx_o(idx),
      .any_o(any)
  );

  assign load = any && free;
  assign next = '{
          qp: qp_index_t'(idx),
          status: write_q[idx] ? CqStatusHostWrite : CqStatusHostRead
      };

  mrc_out_reg #(
      .T(qperr_t)
  ) u_out (
      .clk_i,
      .rst_ni,
      .load_i(load),
      .data_i(next),
      .free_o(free),
      .valid_o(host_fail_valid_o),
      .ready_i(host_fail_ready_i),
      .data_o(host_fail_o)
  );

  always_comb begin
    owed_d = load ? owed_q & ~gnt : owed_q;
    write_d = write_q;
    if (wr_fail_i && !owed_d[wr_qp_i]) begin
      owed_d[wr_qp_i] = 1'b1;
      write_d[wr_qp_i] = 1'b1;
    end
    if (rd_fail_i && !owed_d[rd_qp_i]) begin
      owed_d[rd_qp_i] = 1'b1;
      write_d[rd_qp_i] = 1'b0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owed_q <= '0;
    end else begin
      owed_q <= owed_d;
    end
  end

  always_ff @(posedge clk_i) begin
    write_q <= write_d;
  end

endmodule
