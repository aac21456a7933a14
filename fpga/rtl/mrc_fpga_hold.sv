// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// The core's reset while the bus of the host's memory lives on. Held by software (hold_we_i,
/// hold_i) the core is in reset at once; the skin goes on until it owes and awaits nothing
/// (idle_i), then it is in reset too; both are let go together, when hold_o is 0. So the core that
/// begins gets no answer to what was asked before. There is no limit to the wait, late_o tells of
/// it. core_rst_no and skin_rst_no are registers. Contract: docs/design/boards/top.md.
module mrc_fpga_hold #(
    parameter int unsigned WaitCycles = 10000,
    localparam int unsigned WaitW = $clog2(WaitCycles + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic hold_we_i,
    input logic hold_i,
    input logic idle_i,
    output logic core_rst_no,
    output logic skin_rst_no,
    output logic hold_o,
    output logic run_o,
    // The skin goes on without the core: since WaitCycles cycles or more.
    output logic drain_o,
    output logic late_o
);

  if (WaitCycles < 2) begin : gen_bad_wait
    $error("%m: WaitCycles must be at least 2");
  end

  // run_q and skin_q drive logic, their twins drive resets alone.
  logic run_q, run_d, skin_q, skin_d, core_rst_nq, skin_rst_nq;
  logic hold_q, hold_d;
  logic [WaitW-1:0] wait_q, wait_d;

  always_comb begin
    hold_d = hold_we_i ? hold_i : hold_q;
    run_d = run_q;
    skin_d = skin_q;
    if (run_q) begin
      run_d = !hold_d;
    end else if (skin_q) begin
      skin_d = !idle_i;
    end else if (!hold_d) begin
      run_d = 1'b1;
      skin_d = 1'b1;
    end
    wait_d = wait_q;
    if (!drain_o) begin
      wait_d = '0;
    end else if (!late_o) begin
      wait_d = wait_q + WaitW'(1);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q <= 1'b0;
      skin_q <= 1'b0;
      core_rst_nq <= 1'b0;
      skin_rst_nq <= 1'b0;
      hold_q <= 1'b0;
      wait_q <= '0;
    end else begin
      run_q <= run_d;
      skin_q <= skin_d;
      core_rst_nq <= run_d;
      skin_rst_nq <= skin_d;
      hold_q <= hold_d;
      wait_q <= wait_d;
    end
  end

  assign core_rst_no = core_rst_nq;
  assign skin_rst_no = skin_rst_nq;
  assign hold_o = hold_q;
  assign run_o = run_q;
  assign drain_o = skin_q && !run_q;
  assign late_o = drain_o && wait_q == WaitW'(WaitCycles);

  `MRC_ASSERT(SkinOfACore, skin_q || !run_q, "the core runs and its skin is in reset")

endmodule
