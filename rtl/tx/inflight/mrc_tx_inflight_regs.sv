// SPDX-License-Identifier: Apache-2.0

/// The registers per QP that the main machine of mrc_tx_inflight writes (docs/blocks/tx/inflight/tx_inflight.md).
/// Read in the same cycle at several places: for the state at hand (a), for the visit (v), for the
/// table row (t), for the head of the list (l), for the QP that has blocks to give back (r) and for the packet that Record
/// looks at (p). Writes take effect at the end of the cycle. Not reset.
module mrc_tx_inflight_regs
  import mrc_tx_inflight_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    localparam int unsigned QpW = $clog2(NumQps)
) (
    input logic clk_i,

    input logic [QpW-1:0] a_qp_i,
    output qp_t a_c_o,
    output logic [23:0] a_rtx_lo_o,
    output logic [19:0] a_base_o,
    input logic [QpW-1:0] v_qp_i,
    output qp_t v_c_o,
    input logic [QpW-1:0] t_qp_i,
    output qp_t t_c_o,
    input logic [QpW-1:0] l_qp_i,
    output logic [23:0] l_rtx_lo_o,
    input logic [QpW-1:0] r_qp_i,
    output logic [19:0] r_base_o,
    input logic [QpW-1:0] p_qp_i,
    output logic [19:0] p_base_o,

    input logic [QpW-1:0] qp_i,  // of c and rtx_lo
    input logic c_we_i,
    input qp_t c_i,
    input logic rtx_lo_we_i,
    input logic [23:0] rtx_lo_i,
    input logic base_we_i,
    input logic [QpW-1:0] base_qp_i,
    input logic [19:0] base_i
);

  mrc_rf_nr1w #(
      .Width($bits(qp_t)),
      .Depth(NumQps),
      .Reads(3)
  ) u_c (
      .clk_i,
      .raddr_i({t_qp_i, v_qp_i, a_qp_i}),
      .rdata_o({t_c_o, v_c_o, a_c_o}),
      .we_i(c_we_i),
      .waddr_i(qp_i),
      .wdata_i(c_i)
  );

  mrc_rf_2r1w #(
      .Width(24),
      .Depth(NumQps)
  ) u_rtx_lo (
      .clk_i,
      .raddr0_i(a_qp_i),
      .rdata0_o(a_rtx_lo_o),
      .raddr1_i(l_qp_i),
      .rdata1_o(l_rtx_lo_o),
      .we_i(rtx_lo_we_i),
      .waddr_i(qp_i),
      .wdata_i(rtx_lo_i)
  );

  logic [2:0][19:0] base;
  assign {p_base_o, r_base_o, a_base_o} = base;

  mrc_rf_nr1w #(
      .Width(20),
      .Depth(NumQps),
      .Reads(3)
  ) u_base (
      .clk_i,
      .raddr_i({p_qp_i, r_qp_i, a_qp_i}),
      .rdata_o(base),
      .we_i(base_we_i),
      .waddr_i(base_qp_i),
      .wdata_i(base_i)
  );

endmodule
