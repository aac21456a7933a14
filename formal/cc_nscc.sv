// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_cc_nscc where it is asked: what it grants fits into the window as it is in that cycle. How
/// windows change is any (formal/any_math.sv): a window that becomes smaller ends grants, it takes
/// none back. Two controllers, two profiles.
module formal_cc_nscc
  import mrc_pkg::*;
  import mrc_cc_nscc_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input logic ev_valid_i,
    input ccev_t ev_i,
    input logic ask_valid_i,
    input ccask_t ask_i,
    input logic rask_valid_i,
    input ccask_t rask_i,
    input logic ret_valid_i,
    input ccret_t ret_i,
    input logic ans_ready_i,
    input logic rans_ready_i,
    input logic wake_ready_i,
    input logic [31:0] tick_i,
    input cfg_t cfg_i
);
  `MRC_RESET

  logic ev_ready_o, ask_ready_o, rask_ready_o, ret_ready_o, ans_valid_o, rans_valid_o;
  logic wake_valid_o, cfg_ack_o;
  ccans_t ans_o, rans_o;
  ccwake_t wake_o;
  cc_nscc_pulses_t pulses_o;
  mrc_cc_nscc #(
      .NumDests(2),
      .NumCcProfiles(2)
  ) dut (
      .bug_i(8'(Bug)),
      .*
  );

  // ---- the cycle of an ask

  logic on, granted;
  logic signed [31:0] flight, total;
  assign on = dut.on_q[dut.acc];
  assign granted = dut.asking && dut.ask_ok && dut.answer.bytes != 16'd0;
  assign flight = 32'($signed(dut.infl));
  assign total = flight + $signed({16'd0, dut.answer.bytes});
  `MRC_PROVE(within_window, !(granted && on) || total <= $signed({4'd0, dut.cwin}))
  `MRC_COVER(within_window, granted && on && dut.ask_part && flight > 32'sd0)
  `MRC_PROVE(counted, !(granted && on) || (dut.infl_we && dut.infl_addr == dut.acc
             && dut.infl_wdata == total[28:0]))
  `MRC_COVER(counted, granted && on && !dut.ask_part && dut.rask_pop)
  `MRC_PROVE(refused_gets_none, !(dut.asking && !dut.ask_ok)
             || (dut.answer.bytes == 16'd0 && !dut.infl_we))
  `MRC_PROVE(refused_waits, !(dut.ask_pop && !dut.ask_ok) || dut.wait_d[dut.acc])
  `MRC_COVER(refused, dut.ask_pop && !dut.ask_ok)
  // Whoever waits is told when what it wants fits.
  `MRC_PROVE(woken, !(dut.state_q == StStore && dut.wait_q[dut.cc_q]
                      && !dut.wait_d[dut.cc_q] && !dut.ask_pop) || dut.wake_load)
  `MRC_COVER(woken, dut.state_q == StStore && dut.wait_q[dut.cc_q] && !dut.wait_d[dut.cc_q])
  `MRC_COVER(held, wake_valid_o && !wake_ready_i && dut.ev_v && dut.state_q == StIdle)

  `MRC_HELP(wake_is_free, dut.state_q == StIdle || dut.state_q == StInit || !wake_valid_o)

  // ---- while answers and wakes are taken, no table is written and nobody else asks or gives
  // back, an ask waits Most cycles at most, whatever event is worked off

  localparam int unsigned Most = 16;
  logic [4:0] wait_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_q <= '0;
    end else if (ask_valid_i && !ask_ready_o && ans_ready_i && rans_ready_i && wake_ready_i
                 && !cfg_i.req && dut.state_q != StInit && !rask_valid_i && !ret_valid_i) begin
      wait_q <= wait_q + 5'(wait_q != '1);
    end else begin
      wait_q <= '0;
    end
  end
  `MRC_PROVE(taken, wait_q <= 5'(Most))
  `MRC_COVER(taken, wait_q == 5'd1)
endmodule
