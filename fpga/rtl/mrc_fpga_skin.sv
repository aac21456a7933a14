// SPDX-License-Identifier: Apache-2.0

/// What both skins have beside a writer and a reader: the gate of completions, the core's reset,
/// which ends when nothing is on its way to memory or back, what tells the core of failures, and
/// what is counted. regs_o are the words of block MRCH, from its word 4 on; what is counted
/// outlives the core. It knows no bus: writer and reader say what they take and what is done.
/// Contract: docs/design/boards/host.md, docs/design/boards/top.md.
module mrc_fpga_skin
  import mrc_pkg::*;
#(
    parameter int unsigned NumQps = 16,
    parameter int unsigned CqeDepth = 16,
    parameter int unsigned MaxOpen = 256,
    parameter int unsigned WaitCycles = 10000,
    parameter int unsigned CountW = 32,
    localparam int unsigned NumRegs = 8,
    localparam int unsigned QpW = (NumQps > 1) ? $clog2(NumQps) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    output logic core_rst_no,
    // Reset of writer and reader, and of whatever else asks memory for this core; idle_i: none of
    // them has anything to ask, or awaits anything.
    output logic skin_rst_no,
    input logic idle_i,
    input logic hold_we_i,
    input logic hold_i,
    output logic hold_o,
    // {late, drain, run} of mrc_fpga_hold.
    output logic [2:0] state_o,
    input logic [NumQps-1:0] clear_i,
    output logic [NumRegs*32-1:0] regs_o,

    // The writer, as mrc_fpga_gate has it.
    input logic take_i,
    output logic room_o,
    input logic done_i,
    input logic wr_fail_i,
    input logic [QpW-1:0] wr_fail_qp_i,
    input logic wr_stray_i,
    // The reader: a request taken, a line that leaves, its failure and QP.
    input logic rd_take_i,
    input logic rd_done_i,
    input logic rd_err_i,
    input logic [QpW-1:0] rd_qp_i,
    input logic rd_stray_i,

    output logic host_fail_valid_o,
    input logic host_fail_ready_i,
    output qperr_t host_fail_o,
    input logic cqe_valid_i,
    output logic cqe_ready_o,
    input cqe_t cqe_i,
    output logic cqe_valid_o,
    input logic cqe_ready_i,
    output cqe_t cqe_o
);

  if (NumQps > 32) begin : gen_bad_qps
    $error("%m: NumQps must be 32 at most: QP_FAILED has a bit for each");
  end
  if (CountW < 2 || CountW > 32) begin : gen_bad_count
    $error("%m: CountW must be 2 to 32");
  end

  logic run, drain, late, rd_fail;
  logic [NumQps-1:0] qp_failed;

  mrc_fpga_hold #(
      .WaitCycles(WaitCycles)
  ) u_hold (
      .run_o(run),
      .drain_o(drain),
      .late_o(late),
      .*
  );

  assign state_o = {late, drain, run};

  mrc_fpga_gate #(
      .Depth(CqeDepth),
      .MaxOpen(MaxOpen),
      .NumQps(NumQps)
  ) u_gate (
      .rst_ni(skin_rst_no),
      .fail_i(wr_fail_i),
      .fail_qp_i(wr_fail_qp_i),
      .failed_o(qp_failed),
      .*
  );

  assign rd_fail = rd_done_i && rd_err_i;

  mrc_fpga_fails #(
      .NumQps(NumQps)
  ) u_fails (
      .rst_ni(skin_rst_no),
      .rd_fail_i(rd_fail),
      .wr_qp_i(wr_fail_qp_i),
      .*
  );

  // ---- what is counted

  typedef struct packed {
    logic [CountW-1:0] strays, rd_failed, rd_done, rd_taken, wr_failed, wr_done, wr_taken;
  } counts_t;

  counts_t counts_q, counts_d;

  always_comb begin
    counts_d.wr_taken = counts_q.wr_taken + CountW'(take_i);
    counts_d.wr_done = counts_q.wr_done + CountW'(done_i);
    counts_d.wr_failed = counts_q.wr_failed + CountW'(wr_fail_i);
    counts_d.rd_taken = counts_q.rd_taken + CountW'(rd_take_i);
    counts_d.rd_done = counts_q.rd_done + CountW'(rd_done_i);
    counts_d.rd_failed = counts_q.rd_failed + CountW'(rd_fail);
    counts_d.strays = counts_q.strays + CountW'(wr_stray_i) + CountW'(rd_stray_i);
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      counts_q <= '0;
    end else begin
      counts_q <= counts_d;
    end
  end

  assign regs_o = {
    32'(counts_q.strays),
    32'(counts_q.rd_failed),
    32'(counts_q.rd_done),
    32'(counts_q.rd_taken),
    32'(counts_q.wr_failed),
    32'(counts_q.wr_done),
    32'(counts_q.wr_taken),
    32'(qp_failed)
  };

endmodule
