// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_fails with reads and writes that fail when they like, and a core that takes reports
/// when it likes. QP 1 is followed: what is to be told of it, as of two cycles before an offer,
/// since an offer is loaded in the cycle before it is seen, from what has failed until then.
module formal_fpga_fails
  import mrc_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    localparam int unsigned QpW = 2
) (
    input logic clk_i,
    input logic rd_fail_i,
    input logic [QpW-1:0] rd_qp_i,
    input logic wr_fail_i,
    input logic [QpW-1:0] wr_qp_i,
    input logic host_fail_ready_i
);
  `MRC_RESET

  logic host_fail_valid_o;
  qperr_t host_fail_o;

  mrc_fpga_fails #(
      .NumQps(NumQps)
  ) dut (
      .*
  );

  // Failures of QP 1 in the cycle before; it is to be told, and of what; reports taken since, and
  // cycles without one on offer; the offer of the cycle before.
  logic rd_q, wr_q, owed_q, owed_d, write_q, write_d, held_q, fresh;
  logic [2:0] taken_q;
  logic [1:0] stands_q;
  qperr_t held_fail_q;

  assign fresh = host_fail_valid_o && !held_q && host_fail_o.qp == qp_index_t'(1);
  always_comb begin
    owed_d = owed_q && !fresh;
    write_d = write_q;
    if ((rd_q || wr_q) && !owed_d) begin
      owed_d = 1'b1;
      write_d = wr_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {rd_q, wr_q, owed_q, write_q, held_q, taken_q, stands_q} <= '0;
    end else begin
      rd_q <= rd_fail_i && rd_qp_i == 2'd1;
      wr_q <= wr_fail_i && wr_qp_i == 2'd1;
      owed_q <= owed_d;
      write_q <= write_d;
      held_q <= host_fail_valid_o && !host_fail_ready_i;
      taken_q <= !(owed_q && !fresh) ? '0
          : taken_q + 3'(host_fail_valid_o && host_fail_ready_i && taken_q != '1);
      stands_q <= (owed_q && !host_fail_valid_o) ? stands_q + 2'(stands_q != '1) : '0;
    end
  end
  always_ff @(posedge clk_i) held_fail_q <= host_fail_o;

  `MRC_PROVE(failed, !fresh || owed_q)
  `MRC_PROVE(reason, !fresh
      || host_fail_o.status == (write_q ? CqStatusHostWrite : CqStatusHostRead))
  `MRC_PROVE(in_turn, 32'(taken_q) <= NumQps)
  `MRC_PROVE(offered, stands_q == '0)
  `MRC_PROVE(stays, !held_q || (host_fail_valid_o && host_fail_o == held_fail_q))
  `MRC_COVER(failed, fresh && rd_q)
  `MRC_COVER(reason, fresh && write_q && rd_q)
  `MRC_COVER(in_turn, 32'(taken_q) == NumQps - 1)
  `MRC_COVER(offered, owed_q && fresh && !held_q)
  `MRC_COVER(stays, held_q && owed_q)
endmodule
