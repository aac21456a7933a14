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
  assign on = dut.on;
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
  // Who waits, by controller; who was refused in the cycle before.
  logic [1:0] noted;
  logic refused_q, asked_q;
  for (genvar i = 0; i < 2; i++) begin : gen_noted
    assign noted[i] = (dut.u_waits.u_a.u_written.top_q[i] && dut.u_waits.u_a.u_rows.mem_q[i])
        ^ (dut.u_waits.u_b.u_written.top_q[i] && dut.u_waits.u_b.u_rows.mem_q[i]);
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      refused_q <= 1'b0;
      asked_q <= 1'b0;
    end else begin
      refused_q <= dut.ask_pop && !dut.ask_ok;
      asked_q <= dut.acc;
    end
  end
  `MRC_PROVE(refused_waits, !refused_q || noted[asked_q])
  `MRC_COVER(refused, dut.ask_pop && !dut.ask_ok)
  // Whoever waits is told when what it wants fits.
  `MRC_PROVE(woken, !(dut.state_q == StStore && dut.waits[1]
                      && dut.u_waits.b_clear_i && !dut.ask_pop) || dut.wake_load)
  `MRC_COVER(woken, dut.state_q == StStore && dut.waits[1] && dut.u_waits.b_clear_i)
  `MRC_COVER(held, wake_valid_o && !wake_ready_i && dut.ev_v && dut.state_q == StIdle)

  `MRC_HELP(wake_is_free, dut.state_q == StIdle || dut.state_q == StInit || !wake_valid_o)

  // ---- how long those who ask wait, while their answers are taken and no table is written,
  // whatever event is worked off

  logic quiet;
  assign quiet = !cfg_i.req && dut.state_q != StInit;

  // Nobody is served in Count and Store, two cycles in a row at most.
  localparam int unsigned MostPause = 2;
  logic [1:0] pause_count;
  formal_wait #(
      .Most(MostPause)
  ) u_pause (
      .clk_i,
      .rst_ni,
      .waits_i(!dut.ask_slot && quiet),
      .others_i(1'b0),
      .count_o(pause_count)
  );
  `MRC_PROVE(pauses, pause_count <= 2'(MostPause))
  `MRC_COVER(pauses, pause_count == 2'(MostPause) && dut.ask_v && dut.ret_v)

  localparam int unsigned MostRet = 3;
  localparam int unsigned Most = 1;
  logic [2:0] ret_count;
  logic [1:0] ask_count, rask_count;
  formal_wait #(
      .Most(MostRet)
  ) u_ret (
      .clk_i,
      .rst_ni,
      .waits_i(ret_valid_i && !ret_ready_o && quiet),
      .others_i(1'b0),
      .count_o(ret_count)
  );
  formal_wait #(
      .Most(Most)
  ) u_rask (
      .clk_i,
      .rst_ni,
      .waits_i(rask_valid_i && !rask_ready_o && rans_ready_i && quiet),
      .others_i(!dut.ask_slot || dut.ret_pop),
      .count_o(rask_count)
  );
  formal_wait #(
      .Most(Most)
  ) u_ask (
      .clk_i,
      .rst_ni,
      .waits_i(ask_valid_i && !ask_ready_o && ans_ready_i && quiet),
      .others_i(!dut.ask_slot || dut.ret_pop || dut.rask_pop),
      .count_o(ask_count)
  );
  `MRC_PROVE(ret, ret_count <= 3'(MostRet))
  `MRC_COVER(ret, ret_count == 3'd2 && ans_valid_o && !ans_ready_i)
  `MRC_PROVE(rask, rask_count <= 2'(Most))
  `MRC_COVER(rask, rask_count == 2'(Most) && ans_valid_o && !ans_ready_i)
  `MRC_PROVE(taken, ask_count <= 2'(Most))
  `MRC_COVER(taken, ask_count == 2'(Most) && rans_valid_o && !rans_ready_i)

  // ---- how long an event is worked off, whoever asks: cycles behind the one in which it is taken

  localparam int unsigned MostEvent = 58;
  logic [5:0] busy_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= '0;
    end else if (dut.state_d == StIdle || dut.state_d == StInit) begin
      busy_q <= '0;
    end else begin
      busy_q <= busy_q + 6'(busy_q != '1);
    end
  end
  `MRC_PROVE(event_ends, busy_q <= 6'(MostEvent))
  `MRC_COVER(event_ends, busy_q == 6'(MostEvent))
  // The next one is taken as soon as no wake waits for tx_sched.
  `MRC_PROVE(event_begins, !(dut.ev_v && dut.state_q == StIdle && !cfg_i.req && wake_ready_i)
             || dut.ev_pop)
  `MRC_COVER(event_begins, dut.ev_pop && wake_valid_o && dut.ev_count == 5'd2)

  // Cycles from the beginning of an event to that of a state, at most, and its last cycle.
  function automatic logic [5:0] begins(state_e state);
    unique case (state)
      StCount: return 6'd1;
      StPen: return 6'd2;
      StRtt: return 6'd5;
      StWnd: return 6'd6;
      StAvg: return 6'd9;
      StQa: return 6'd12;
      StChoose: return 6'd13;
      StFair, StFast, StGain, StMdDiv: return 6'd14;
      StGain2: return 6'd17;
      StMdCut: return 6'd28;
      StMdMul: return 6'd31;
      StDue: return 6'd34;
      StAdjDiv: return 6'd35;
      StAdj: return 6'd57;
      StStore: return 6'd58;
      default: return 6'd0;
    endcase
  endfunction
  function automatic logic [4:0] last_of(state_e state);
    unique case (state)
      StInit, StPen, StWnd, StAvg, StFair, StFast, StGain, StGain2, StMdCut, StMdMul: return 5'd2;
      StMdDiv: return 5'd13;
      StAdjDiv: return 5'd21;
      default: return 5'd0;
    endcase
  endfunction
  `MRC_HELP(event_states, busy_q <= begins(dut.state_q) + 6'(dut.cnt_q))
  `MRC_HELP(event_counts, dut.cnt_q <= last_of(dut.state_q))
  `MRC_HELP(event_in_range, dut.state_q <= StStore)

  // ---- wakes are three cycles apart

  logic [1:0] woke_q;  // tx_sched took one in the cycle before, in the one before that
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      woke_q <= '0;
    end else begin
      woke_q <= {woke_q[0], wake_valid_o && wake_ready_i};
    end
  end
  `MRC_PROVE(wakes_apart, !wake_valid_o || woke_q == '0)
  `MRC_COVER(wakes_apart, woke_q[1] && dut.wake_load)
  `MRC_HELP(woke, !woke_q[0] || dut.state_q == StIdle || dut.state_q == StInit
            || dut.state_q == StCount)
endmodule
