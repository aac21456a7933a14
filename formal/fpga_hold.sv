// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_hold with software that writes what it likes, and a skin that is idle when it likes.
module formal_fpga_hold #(
    parameter int unsigned WaitCycles = 3
) (
    input logic clk_i,
    input logic hold_we_i,
    input logic hold_i,
    input logic idle_i
);
  `MRC_RESET

  logic core_rst_no, skin_rst_no, hold_o, run_o, drain_o, late_o;

  mrc_fpga_hold #(
      .WaitCycles(WaitCycles)
  ) dut (
      .*
  );

  // The cycle before, and that there was one; the core has run at some time; cycles of the drain.
  logic was_q, core_q, skin_q, hold_q, idle_q, ran_q;
  logic [2:0] drain_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {was_q, core_q, skin_q, hold_q, idle_q, ran_q, drain_q} <= '0;
    end else begin
      was_q <= 1'b1;
      core_q <= core_rst_no;
      ran_q <= ran_q || core_rst_no;
      skin_q <= skin_rst_no;
      hold_q <= hold_o;
      idle_q <= idle_i;
      drain_q <= (skin_rst_no && !core_rst_no) ? drain_q + 3'(drain_q != '1) : '0;
    end
  end

  `MRC_PROVE(begins_clean, !(core_rst_no && !core_q) || (!skin_q && skin_rst_no))
  `MRC_PROVE(drained, !(!skin_rst_no && skin_q) || (idle_q && !core_q))
  `MRC_PROVE(held, !(hold_o && core_rst_no))
  `MRC_PROVE(lets_go, !(was_q && !core_q && !skin_q && !hold_o) || core_rst_no)
  `MRC_PROVE(late, late_o == (drain_o && 32'(drain_q) >= WaitCycles))
  `MRC_COVER(begins_clean, core_rst_no && !core_q && ran_q)
  `MRC_COVER(drained, !skin_rst_no && skin_q && 32'(drain_q) == WaitCycles + 1)
  `MRC_COVER(held, hold_o && !skin_rst_no)
  `MRC_COVER(lets_go, core_rst_no && !core_q && idle_q)
  `MRC_COVER(late, late_o && !hold_o)
endmodule
