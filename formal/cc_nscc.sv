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
    input logic req_valid_i,
    input ccreq_t req_i,
    input logic rtxreq_valid_i,
    input ccreq_t rtxreq_i,
    input logic ret_valid_i,
    input ccret_t ret_i,
    input logic ans_ready_i,
    input logic rans_ready_i,
    input logic resume_ready_i,
    input logic [31:0] tick_i,
    input cfg_t cfg_i
);
  `MRC_RESET

  logic ev_ready_o, req_ready_o, rtxreq_ready_o, ret_ready_o, ans_valid_o, rans_valid_o;
  logic resume_valid_o, cfg_ack_o;
  ccans_t ans_o, rans_o;
  ccresume_t resume_o;
  cc_nscc_pulses_t pulses_o;
  mrc_cc_nscc #(
      .NumDests(2),
      .NumCcProfiles(2)
  ) dut (
      .bug_i(8'(Bug)),
      .*
  );

  // ---- the cycle of a request

  logic on, granted;
  logic signed [31:0] flight, total;
  assign on = dut.on;
  assign granted = dut.requesting && dut.req_ok && dut.answer.bytes != 16'd0;
  assign flight = 32'($signed(dut.infl));
  assign total = flight + $signed({16'd0, dut.answer.bytes});
  `MRC_PROVE(within_window, !(granted && on) || total <= $signed({4'd0, dut.cwin}))
  `MRC_COVER(within_window, granted && on && dut.req_part && flight > 32'sd0)
  `MRC_PROVE(counted, !(granted && on) || (dut.infl_we && dut.infl_addr == dut.acc
             && dut.infl_wdata == total[28:0]))
  `MRC_COVER(counted, granted && on && !dut.req_part && dut.rtxreq_pop)
  `MRC_PROVE(refused_gets_none, !(dut.requesting && !dut.req_ok)
             || (dut.answer.bytes == 16'd0 && !dut.infl_we))
  // Who waits, by controller; who was refused in the cycle before.
  logic [1:0] noted;
  logic refused_q, requested_q;
  for (genvar i = 0; i < 2; i++) begin : gen_noted
    assign noted[i] = (dut.u_waits.u_a.u_written.top_q[i] && dut.u_waits.u_a.u_rows.mem_q[i])
        ^ (dut.u_waits.u_b.u_written.top_q[i] && dut.u_waits.u_b.u_rows.mem_q[i]);
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      refused_q <= 1'b0;
      requested_q <= 1'b0;
    end else begin
      refused_q <= dut.req_pop && !dut.req_ok;
      requested_q <= dut.acc;
    end
  end
  `MRC_PROVE(refused_waits, !refused_q || noted[requested_q])
  `MRC_COVER(refused, dut.req_pop && !dut.req_ok)
  // Whoever waits is told when what it wants fits.
  `MRC_PROVE(woken, !(dut.state_q == StStore && dut.waits[1]
                      && dut.u_waits.b_clear_i && !dut.req_pop) || dut.resume_load)
  `MRC_COVER(woken, dut.state_q == StStore && dut.waits[1] && dut.u_waits.b_clear_i)
  `MRC_COVER(held, resume_valid_o && !resume_ready_i && dut.ev_v && dut.state_q == StIdle)

  `MRC_HELP(resume_is_free, dut.state_q == StIdle || dut.state_q == StInit || !resume_valid_o)

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
      .waits_i(!dut.req_slot && quiet),
      .others_i(1'b0),
      .count_o(pause_count)
  );
  `MRC_PROVE(pauses, pause_count <= 2'(MostPause))
  `MRC_COVER(pauses, pause_count == 2'(MostPause) && dut.req_v && dut.ret_v)

  localparam int unsigned MostRet = 3;
  localparam int unsigned Most = 1;
  logic [2:0] ret_count;
  logic [1:0] req_count, rtxreq_count;
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
  ) u_rtxreq (
      .clk_i,
      .rst_ni,
      .waits_i(rtxreq_valid_i && !rtxreq_ready_o && rans_ready_i && quiet),
      .others_i(!dut.req_slot || dut.ret_pop),
      .count_o(rtxreq_count)
  );
  formal_wait #(
      .Most(Most)
  ) u_req (
      .clk_i,
      .rst_ni,
      .waits_i(req_valid_i && !req_ready_o && ans_ready_i && quiet),
      .others_i(!dut.req_slot || dut.ret_pop || dut.rtxreq_pop),
      .count_o(req_count)
  );
  `MRC_PROVE(ret, ret_count <= 3'(MostRet))
  `MRC_COVER(ret, ret_count == 3'd2 && ans_valid_o && !ans_ready_i)
  `MRC_PROVE(rtxreq, rtxreq_count <= 2'(Most))
  `MRC_COVER(rtxreq, rtxreq_count == 2'(Most) && ans_valid_o && !ans_ready_i)
  `MRC_PROVE(taken, req_count <= 2'(Most))
  `MRC_COVER(taken, req_count == 2'(Most) && rans_valid_o && !rans_ready_i)

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
  // The next one is taken as soon as no resume waits for tx_sched.
  `MRC_PROVE(event_begins, !(dut.ev_v && dut.state_q == StIdle && !cfg_i.req && resume_ready_i)
             || dut.ev_pop)
  `MRC_COVER(event_begins, dut.ev_pop && resume_valid_o && dut.ev_count == 5'd2)

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

  // ---- resumes are three cycles apart

  logic [1:0] woke_q;  // tx_sched took one in the cycle before, in the one before that
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      woke_q <= '0;
    end else begin
      woke_q <= {woke_q[0], resume_valid_o && resume_ready_i};
    end
  end
  `MRC_PROVE(resumes_apart, !resume_valid_o || woke_q == '0)
  `MRC_COVER(resumes_apart, woke_q[1] && dut.resume_load)
  `MRC_HELP(woke, !woke_q[0] || dut.state_q == StIdle || dut.state_q == StInit
            || dut.state_q == StCount)
endmodule
