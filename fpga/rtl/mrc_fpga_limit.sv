// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// A time limit between who asks and who may never answer: each go is answered by one done, at
/// most WaitCycles + 1 cycles later. start_o hands a go on; the answer to it, if it comes in time,
/// becomes done in the next cycle. If not, done comes with err (late_o), and the answer is owed:
/// when it comes it goes to nobody. A go while one is owed is not handed on (refused_o) and done
/// with err in the next cycle. With cut_i the other side has forgotten what it was asked: what
/// waits is done with err, nothing is owed, and every go is refused. The caller asks one at a time.
/// It does not carry data: an answer's are in the cycle of answer_i. Contract:
/// docs/design/boards/axil.md.
module mrc_fpga_limit #(
    parameter int unsigned WaitCycles = 10000,
    localparam int unsigned WaitW = $clog2(WaitCycles + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic go_i,
    output logic start_o,
    input logic cut_i,
    input logic answer_i,
    input logic err_i,
    output logic done_o,
    output logic err_o,
    output logic owed_o,
    output logic late_o,
    output logic refused_o
);

  if (WaitCycles < 2) begin : gen_bad_wait
    $error("%m: WaitCycles must be at least 2");
  end

  logic busy_q, busy_d, owed_q, owed_d, done_q, done_d, err_q, err_d, answer;
  logic [WaitW-1:0] wait_q, wait_d;

  assign start_o = go_i && !busy_q && !cut_i;
  assign refused_o = go_i && (busy_q || cut_i);
  assign answer = busy_q && answer_i;
  assign late_o = busy_q && !owed_q && !answer && wait_q == WaitW'(WaitCycles - 1);

  always_comb begin
    busy_d = start_o || (busy_q && !answer && !cut_i);
    owed_d = (late_o || (owed_q && !answer)) && !cut_i;
    done_d = refused_o || late_o || ((answer || cut_i) && busy_q && !owed_q);
    err_d = refused_o || late_o || cut_i || err_i;
    wait_d = start_o ? '0 : (wait_q == WaitW'(WaitCycles - 1)) ? wait_q : wait_q + WaitW'(1);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      owed_q <= 1'b0;
      done_q <= 1'b0;
    end else begin
      busy_q <= busy_d;
      owed_q <= owed_d;
      done_q <= done_d;
    end
  end

  always_ff @(posedge clk_i) begin
    err_q <= err_d;
    wait_q <= wait_d;
  end

  assign done_o = done_q;
  assign err_o = err_q;
  assign owed_o = owed_q;

  `MRC_ASSERT(OneByOne, !refused_o || owed_q || cut_i,
      "another access is asked for before one is done")
  `MRC_ASSERT(OwesWhatWasRequested, !owed_q || busy_q, "an answer is owed that nobody waits for")

endmodule
