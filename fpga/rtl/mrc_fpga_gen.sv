// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// A traffic generator in place of a host: it posts WRITEs of a set of QPs from a few registers
/// (the first half of block MRCG), QP by QP in turn, never more open than allowed, and takes all
/// completions. It counts what ended well, what failed (the first is kept), and cycles. It looks
/// at no byte (mrc_fpga_fill does). A write acts in the cycle of w_go_i, a read is combinational.
/// One work request per cycle. While the core is in reset (run_i 0) it neither posts nor counts; a
/// run that was under way is over. Contract: docs/design/boards/first_run.md.
module mrc_fpga_gen
  import mrc_pkg::*;
#(
    parameter int unsigned NumQps = 16,
    parameter int unsigned HostBytes = 64,
    // Bits of counters; CYCLES has twice as many.
    parameter int unsigned CountW = 32
) (
    input logic clk_i,
    input logic rst_ni,
    input logic run_i,

    input logic w_go_i,
    input logic [9:0] w_word_i,
    input logic [31:0] w_data_i,
    input logic [3:0] w_strb_i,
    output logic w_good_o,
    input logic [9:0] r_word_i,
    output logic r_good_o,
    output logic [31:0] r_data_o,

    output logic wqe_valid_o,
    input logic wqe_ready_i,
    output wqe_t wqe_o,
    input logic cqe_valid_i,
    output logic cqe_ready_o,
    input cqe_t cqe_i
);

  localparam int unsigned QpW = (NumQps > 1) ? $clog2(NumQps) : 1;
  localparam int unsigned OpenW = 16;

  typedef enum logic [9:0] {
    WordShape = 10'h004,
    WordControl = 10'h005,
    WordQps = 10'h006,
    WordOp = 10'h007,
    WordLaddrLo = 10'h008,
    WordLaddrHi = 10'h009,
    WordRaddrLo = 10'h00a,
    WordRaddrHi = 10'h00b,
    WordRkey = 10'h00c,
    WordLength = 10'h00d,
    WordStride = 10'h00e,
    WordLap = 10'h00f,
    WordCount = 10'h010,
    WordLimit = 10'h011,
    WordPosted = 10'h014,
    WordGood = 10'h015,
    WordFailed = 10'h016,
    WordFirst = 10'h017,
    WordFirstId = 10'h018,
    WordOpen = 10'h019,
    WordCyclesLo = 10'h01a,
    WordCyclesHi = 10'h01b,
    WordRecv = 10'h01c,
    WordRecvFailed = 10'h01d,
    WordStrays = 10'h01e
  } word_e;

  typedef struct packed {
    logic there;
    logic [15:0] qp;
    logic [7:0] status;
    logic [31:0] id;
  } failure_t;

  if (NumQps < 1 || NumQps > 32) begin : gen_bad_qps
    $error("%m: NumQps must be 1 to 32");
  end
  if (CountW < 2 || CountW > 32) begin : gen_bad_count
    $error("%m: CountW must be 2 to 32");
  end

  // ---- what a run is

  logic [NumQps-1:0] qps_q;
  logic with_imm_q;
  logic [63:0] laddr_q, raddr_q;
  logic [31:0] rkey_q, length_q, stride_q, lap_q, count_q;
  logic [OpenW-1:0] limit_q;

  // ---- a run: posts, on offer, open; its number; where it is

  logic run_q, run_d, valid_q, valid_d, early_q, early_d, busy, begins, forgets, clears, load;
  logic last_of_lap, last_of_run;
  logic [OpenW-1:0] open_q, open_d;
  logic [7:0] era_q, era_d;
  logic [QpW-1:0] qp_q, qp_d;
  logic [31:0] at_q, at_d;
  logic [63:0] l_q, l_d, r_q, r_d;
  wqe_t wqe_q, wqe_d;

  // ---- what is counted

  logic own, good, failed, recv, recv_failed, stray;
  logic [CountW-1:0] posted_q, good_q, failed_q, recv_q, recv_failed_q, strays_q;
  logic [CountW-1:0] posted_d, good_d, failed_d, recv_d, recv_failed_d, strays_d;
  logic [2*CountW-1:0] age_q, age_d, cycles_q, cycles_d;
  failure_t first_q, first_d;

  /// The next QP of the set behind this one, in a circle.
  function automatic logic [QpW-1:0] next_qp(logic [NumQps-1:0] set, logic [QpW-1:0] qp);
    next_qp = qp;
    for (int unsigned i = NumQps; i > 0; i--) begin
      if (set[i-1]) begin
        next_qp = QpW'(i - 1);
      end
    end
    for (int unsigned i = NumQps; i > 0; i--) begin
      if (set[i-1] && QpW'(i - 1) > qp) begin
        next_qp = QpW'(i - 1);
      end
    end
  endfunction

  // ---- registers

  logic w_config, w_control, r_config, may_begin;

  assign busy = run_q || valid_q || open_q != '0;
  assign w_config = w_word_i >= WordQps && w_word_i <= WordLimit;
  assign r_config = r_word_i >= WordShape && r_word_i <= WordLimit;
  assign may_begin = run_i && qps_q != '0 && limit_q != '0 && !w_data_i[1];
  assign w_control = w_word_i == WordControl && (!w_data_i[0] || may_begin)
      && (!busy || w_data_i[2:0] == 3'd0 || w_data_i[2:0] == 3'd2);
  assign w_good_o = w_strb_i == 4'hf && (w_control || (w_config && !busy));
  assign r_good_o = r_config || (r_word_i >= WordPosted && r_word_i <= WordStrays);
  assign begins = w_go_i && w_good_o && w_word_i == WordControl && w_data_i[0];
  assign forgets = w_go_i && w_good_o && w_word_i == WordControl && w_data_i[1];
  assign clears = w_go_i && w_good_o && w_word_i == WordControl && (w_data_i[0] || w_data_i[2]);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {qps_q, with_imm_q, laddr_q, raddr_q, rkey_q, length_q, stride_q, lap_q, count_q} <= '0;
      limit_q <= '0;
    end else if (w_go_i && w_good_o) begin
      unique case (w_word_i)
        WordQps: qps_q <= w_data_i[NumQps-1:0];
        WordOp: with_imm_q <= w_data_i[0];
        WordLaddrLo: laddr_q[31:0] <= w_data_i;
        WordLaddrHi: laddr_q[63:32] <= w_data_i;
        WordRaddrLo: raddr_q[31:0] <= w_data_i;
        WordRaddrHi: raddr_q[63:32] <= w_data_i;
        WordRkey: rkey_q <= w_data_i;
        WordLength: length_q <= w_data_i;
        WordStride: stride_q <= w_data_i;
        WordLap: lap_q <= w_data_i;
        WordCount: count_q <= w_data_i;
        WordLimit: limit_q <= w_data_i[OpenW-1:0];
        default: ;
      endcase
    end
  end

  always_comb begin
    r_data_o = 32'd0;
    unique case (r_word_i)
      WordShape: r_data_o = {8'd0, 8'(HostBytes), 16'(NumQps)};
      WordControl: r_data_o = {29'd0, early_q, busy, run_q};
      WordQps: r_data_o = 32'(qps_q);
      WordOp: r_data_o = {31'd0, with_imm_q};
      WordLaddrLo: r_data_o = laddr_q[31:0];
      WordLaddrHi: r_data_o = laddr_q[63:32];
      WordRaddrLo: r_data_o = raddr_q[31:0];
      WordRaddrHi: r_data_o = raddr_q[63:32];
      WordRkey: r_data_o = rkey_q;
      WordLength: r_data_o = length_q;
      WordStride: r_data_o = stride_q;
      WordLap: r_data_o = lap_q;
      WordCount: r_data_o = count_q;
      WordLimit: r_data_o = 32'(limit_q);
      WordPosted: r_data_o = 32'(posted_q);
      WordGood: r_data_o = 32'(good_q);
      WordFailed: r_data_o = 32'(failed_q);
      WordFirst: r_data_o = {first_q.qp, 7'd0, first_q.there, first_q.status};
      WordFirstId: r_data_o = first_q.id;
      WordOpen: r_data_o = 32'(open_q);
      WordCyclesLo: r_data_o = 32'(cycles_q);
      WordCyclesHi: r_data_o = 32'(64'(cycles_q) >> 32);
      WordRecv: r_data_o = 32'(recv_q);
      WordRecvFailed: r_data_o = 32'(recv_failed_q);
      WordStrays: r_data_o = 32'(strays_q);
      default: ;
    endcase
  end

  // ---- posting

  assign load = run_q && run_i && !(w_go_i && w_good_o && w_word_i == WordControl)
      && open_q < limit_q && (!valid_q || wqe_ready_i);
  assign last_of_lap = at_q + 32'd1 == lap_q;
  assign last_of_run = 32'(posted_q) + 32'd1 == count_q;
  assign wqe_valid_o = valid_q;
  assign wqe_o = wqe_q;

  always_comb begin
    wqe_d = '{
        qp: qp_index_t'(qp_q),
        wr_id: {era_q, 24'(posted_q)},
        laddr: l_q,
        raddr: r_q,
        rkey: rkey_q,
        length: length_q,
        imm_valid: with_imm_q,
        imm: {era_q, 24'(posted_q)}
    };
    run_d = run_q;
    valid_d = load || (valid_q && !wqe_ready_i);
    open_d = open_q + OpenW'(load) - OpenW'(own);
    era_d = era_q;
    early_d = early_q;
    qp_d = qp_q;
    at_d = at_q;
    l_d = l_q;
    r_d = r_q;
    if (load) begin
      run_d = !last_of_run;
      qp_d = next_qp(qps_q, qp_q);
      at_d = last_of_lap ? 32'd0 : at_q + 32'd1;
      l_d = last_of_lap ? laddr_q : l_q + 64'(stride_q);
      r_d = last_of_lap ? raddr_q : r_q + 64'(stride_q);
    end
    if (w_go_i && w_good_o && w_word_i == WordControl) begin
      run_d = w_data_i[0];
    end
    if (begins) begin
      era_d = era_q + 8'd1;
      early_d = 1'b0;
      qp_d = next_qp(qps_q, '1);
      at_d = 32'd0;
      l_d = laddr_q;
      r_d = raddr_q;
    end
    if (forgets || !run_i) begin
      run_d = 1'b0;
      open_d = '0;
      early_d = early_q || busy;
    end
    if (!run_i) begin
      valid_d = 1'b0;
    end
  end

  // ---- completions: always taken

  assign cqe_ready_o = 1'b1;
  assign own = run_i && cqe_valid_i && !cqe_i.recv && open_q != '0 && cqe_i.wr_id[31:24] == era_q;
  assign good = own && cqe_i.status == CqStatusOk;
  assign failed = own && cqe_i.status != CqStatusOk;
  assign recv = run_i && cqe_valid_i && cqe_i.recv && cqe_i.status == CqStatusOk;
  assign recv_failed = run_i && cqe_valid_i && cqe_i.recv && cqe_i.status != CqStatusOk;
  assign stray = run_i && cqe_valid_i && !cqe_i.recv && !own;

  always_comb begin
    posted_d = (clears ? '0 : posted_q) + CountW'(load);
    good_d = (clears ? '0 : good_q) + CountW'(good);
    failed_d = (clears ? '0 : failed_q) + CountW'(failed);
    recv_d = (clears ? '0 : recv_q) + CountW'(recv);
    recv_failed_d = (clears ? '0 : recv_failed_q) + CountW'(recv_failed);
    strays_d = (clears ? '0 : strays_q) + CountW'(stray);
    age_d = clears ? '0 : age_q + (2 * CountW)'(busy);
    cycles_d = clears ? '0 : own ? age_q : cycles_q;
    first_d = clears ? '0 : first_q;
    if (failed && !first_d.there) begin
      first_d = '{there: 1'b1, qp: cqe_i.qp[15:0], status: cqe_i.status, id: cqe_i.wr_id};
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {run_q, valid_q, early_q, open_q, era_q} <= '0;
      {posted_q, good_q, failed_q, recv_q, recv_failed_q, strays_q} <= '0;
      {age_q, cycles_q, first_q} <= '0;
    end else begin
      run_q <= run_d;
      valid_q <= valid_d;
      early_q <= early_d;
      open_q <= open_d;
      era_q <= era_d;
      posted_q <= posted_d;
      good_q <= good_d;
      failed_q <= failed_d;
      recv_q <= recv_d;
      recv_failed_q <= recv_failed_d;
      strays_q <= strays_d;
      age_q <= age_d;
      cycles_q <= cycles_d;
      first_q <= first_d;
    end
  end

  always_ff @(posedge clk_i) begin
    qp_q <= qp_d;
    at_q <= at_d;
    l_q <= l_d;
    r_q <= r_d;
    if (load) begin
      wqe_q <= wqe_d;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{cqe_i.imm, cqe_i.length, cqe_i.msn};

  `MRC_ASSERT(OpenInLimit, open_q <= limit_q, "more is open than allowed")

endmodule
