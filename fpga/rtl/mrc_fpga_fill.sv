// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Fills a piece of memory with a pattern, or holds it against the pattern, word by word over AXI4:
/// the second half of block MRCG. What a word should be follows from SEED and its place in the
/// piece, so a word in a wrong place shows. Bursts of one beat, MaxOpen of them under way at most;
/// what an answer costs is one cycle, B and R are always taken. One job at a time. While run_i is 0
/// it asks for nothing more; what was asked is awaited, then idle_o is 1, and the job goes on when
/// run_i is 1 again. Contract: docs/design/boards/first_run.md.
module mrc_fpga_fill #(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned MaxOpen = 32,
    // Bits of counters.
    parameter int unsigned CountW = 32,
    localparam int unsigned DataW = WordBytes * 8
) (
    input logic clk_i,
    input logic rst_ni,
    input logic run_i,
    output logic idle_o,

    input logic w_go_i,
    input logic [9:0] w_word_i,
    input logic [31:0] w_data_i,
    input logic [3:0] w_strb_i,
    output logic w_good_o,
    input logic [9:0] r_word_i,
    output logic r_good_o,
    output logic [31:0] r_data_o,

    output logic m_axi_awvalid_o,
    input logic m_axi_awready_i,
    output logic [63:0] m_axi_awaddr_o,
    output logic m_axi_wvalid_o,
    input logic m_axi_wready_i,
    output logic [DataW-1:0] m_axi_wdata_o,
    input logic m_axi_bvalid_i,
    output logic m_axi_bready_o,
    input logic [1:0] m_axi_bresp_i,
    output logic m_axi_arvalid_o,
    input logic m_axi_arready_i,
    output logic [63:0] m_axi_araddr_o,
    input logic m_axi_rvalid_i,
    output logic m_axi_rready_o,
    input logic [DataW-1:0] m_axi_rdata_i,
    input logic [1:0] m_axi_rresp_i
);

  localparam int unsigned Lanes = WordBytes / 8;
  localparam int unsigned AlignW = $clog2(WordBytes);
  localparam int unsigned OpenW = $clog2(MaxOpen + 1);

  typedef enum logic [9:0] {
    WordAddrLo = 10'h040,
    WordAddrHi = 10'h041,
    WordWords = 10'h042,
    WordSeed = 10'h043,
    WordJob = 10'h044,
    WordBad = 10'h045,
    WordBadLo = 10'h046,
    WordBadHi = 10'h047,
    WordErrors = 10'h048,
    WordStrays = 10'h049
  } word_e;

  typedef enum logic [1:0] {
    JobNone = 2'd0,
    JobFill = 2'd1,
    JobCheck = 2'd2
  } job_e;

  if (WordBytes < 8 || (WordBytes & (WordBytes - 1)) != 0) begin : gen_bad_word
    $error("%m: WordBytes must be a power of two, and at least 8");
  end
  if (CountW < 2 || CountW > 32) begin : gen_bad_count
    $error("%m: CountW must be 2 to 32");
  end

  /// Word number n of the piece, eight bytes by eight: three shifts, so no two values of a seed are
  /// alike.
  function automatic logic [DataW-1:0] pattern(logic [31:0] seed, logic [31:0] n);
    logic [63:0] x;
    for (int unsigned i = 0; i < Lanes; i++) begin
      x = {seed, n * 32'(Lanes) + 32'(i)};
      x = x ^ (x << 13);
      x = x ^ (x >> 7);
      pattern[64*i+:64] = x ^ (x << 17);
    end
  endfunction

  logic [63:AlignW] addr_q, at_q, at_d, bad_at_q, bad_at_d;
  logic [31:0] words_q, seed_q, left_q, left_d, requested_q, requested_d, came_q, came_d;
  job_e job_q, job_d;
  logic [OpenW-1:0] open_q, open_d;
  logic aw_q, aw_d, w_q, w_d, ar_q, ar_d, busy, begins, req, may, b_came, r_came, differs, stray_b;
  logic stray_r;
  logic [63:AlignW] aw_at_q, ar_at_q;
  logic [DataW-1:0] wdata_q;
  logic [CountW-1:0] bad_q, bad_d, errors_q, errors_d, strays_q, strays_d;

  // ---- registers

  assign busy = job_q != JobNone;
  assign w_good_o = w_strb_i == 4'hf && w_word_i >= WordAddrLo && w_word_i <= WordJob && !busy
      && (w_word_i != WordJob || w_data_i == 32'd1 || w_data_i == 32'd2);
  assign r_good_o = r_word_i >= WordAddrLo && r_word_i <= WordStrays;
  assign begins = w_go_i && w_good_o && w_word_i == WordJob;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {addr_q, words_q, seed_q} <= '0;
    end else if (w_go_i && w_good_o) begin
      unique case (w_word_i)
        WordAddrLo: addr_q[31:AlignW] <= w_data_i[31:AlignW];
        WordAddrHi: addr_q[63:32] <= w_data_i;
        WordWords: words_q <= w_data_i;
        WordSeed: seed_q <= w_data_i;
        default: ;
      endcase
    end
  end

  always_comb begin
    r_data_o = 32'd0;
    unique case (r_word_i)
      WordAddrLo: r_data_o = {addr_q[31:AlignW], AlignW'(0)};
      WordAddrHi: r_data_o = addr_q[63:32];
      WordWords: r_data_o = words_q;
      WordSeed: r_data_o = seed_q;
      WordJob: r_data_o = 32'(job_q);
      WordBad: r_data_o = 32'(bad_q);
      WordBadLo: r_data_o = {bad_at_q[31:AlignW], AlignW'(0)};
      WordBadHi: r_data_o = bad_at_q[63:32];
      WordErrors: r_data_o = 32'(errors_q);
      WordStrays: r_data_o = 32'(strays_q);
      default: ;
    endcase
  end

  // ---- a job

  assign b_came = m_axi_bvalid_i && job_q == JobFill && open_q != '0;
  assign r_came = m_axi_rvalid_i && job_q == JobCheck && open_q != '0;
  assign stray_b = m_axi_bvalid_i && !b_came;
  assign stray_r = m_axi_rvalid_i && !r_came;
  assign may = run_i && left_q != 32'd0 && open_q < OpenW'(MaxOpen);
  assign req = may && (job_q == JobFill ? (!aw_q || m_axi_awready_i) && (!w_q || m_axi_wready_i)
      : !ar_q || m_axi_arready_i);
  assign differs = r_came && !m_axi_rresp_i[1] && m_axi_rdata_i != pattern(seed_q, came_q);
  assign idle_o = !aw_q && !w_q && !ar_q && open_q == '0;

  always_comb begin
    job_d = job_q;
    left_d = left_q - 32'(req);
    requested_d = requested_q + 32'(req);
    came_d = came_q + 32'(b_came || r_came);
    at_d = at_q + (64 - AlignW)'(req);
    open_d = open_q + OpenW'(req) - OpenW'(b_came || r_came);
    aw_d = (req && job_q == JobFill) || (aw_q && !m_axi_awready_i);
    w_d = (req && job_q == JobFill) || (w_q && !m_axi_wready_i);
    ar_d = (req && job_q == JobCheck) || (ar_q && !m_axi_arready_i);
    bad_d = bad_q + CountW'(differs);
    bad_at_d = (differs && bad_q == '0) ? addr_q + (64 - AlignW)'(came_q) : bad_at_q;
    errors_d = errors_q + CountW'((b_came && m_axi_bresp_i[1]) || (r_came && m_axi_rresp_i[1]));
    strays_d = strays_q + CountW'(stray_b) + CountW'(stray_r);
    if (busy && left_q == 32'd0 && idle_o) begin
      job_d = JobNone;
    end
    if (begins) begin
      job_d = w_data_i[0] ? JobFill : JobCheck;
      left_d = words_q;
      {requested_d, came_d, bad_d, bad_at_d, errors_d} = '0;
      at_d = addr_q;
    end
  end

  assign m_axi_awvalid_o = aw_q;
  assign m_axi_awaddr_o = {aw_at_q, AlignW'(0)};
  assign m_axi_wvalid_o = w_q;
  assign m_axi_wdata_o = wdata_q;
  assign m_axi_bready_o = 1'b1;
  assign m_axi_arvalid_o = ar_q;
  assign m_axi_araddr_o = {ar_at_q, AlignW'(0)};
  assign m_axi_rready_o = 1'b1;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      job_q <= JobNone;
      {aw_q, w_q, ar_q, open_q, left_q, requested_q, came_q} <= '0;
      {bad_q, bad_at_q, errors_q, strays_q} <= '0;
    end else begin
      job_q <= job_d;
      aw_q <= aw_d;
      w_q <= w_d;
      ar_q <= ar_d;
      open_q <= open_d;
      left_q <= left_d;
      requested_q <= requested_d;
      came_q <= came_d;
      bad_q <= bad_d;
      bad_at_q <= bad_at_d;
      errors_q <= errors_d;
      strays_q <= strays_d;
    end
  end

  always_ff @(posedge clk_i) begin
    at_q <= at_d;
    if (req) begin
      aw_at_q <= at_q;
      ar_at_q <= at_q;
      wdata_q <= pattern(seed_q, requested_q);
    end
  end

  logic unused_bits;
  assign unused_bits = ^{m_axi_bresp_i[0], m_axi_rresp_i[0]};

  `MRC_ASSERT(OpenInRange, 32'(open_q) <= MaxOpen, "more is asked for than can be awaited")

endmodule
