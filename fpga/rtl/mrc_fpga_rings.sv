// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Rings of work requests and completions in host memory, for a host that is a CPU: a send ring per
/// QP, completion rings with interrupts, registers with doorbells, on AXI4 of 512 bits, or of 256:
/// then a descriptor is read by two bursts of one beat. The core's input of work requests never
/// stands for want of a place in the core. Throughput: a work request per two cycles, a completion
/// per cycle. It has no time limit for memory. Contract:
/// docs/design/boards/rings.md.
module mrc_fpga_rings
  import mrc_pkg::*;
#(
    parameter int unsigned WordBytes = 64,
    parameter int unsigned NumQps = 16,
    parameter int unsigned WqeDepth = 64,
    parameter int unsigned NumWqes = 192,
    parameter int unsigned NumCqs = 4,
    parameter int unsigned Reads = 32,
    parameter int unsigned Writes = 16,
    parameter logic [31:0] Next = 32'd0,
    localparam int unsigned DataW = WordBytes * 8
) (
    input logic clk_i,
    input logic rst_ni,

    // Registers, go and done.
    input logic w_go_i,
    input logic [10:0] w_word_i,
    input logic [31:0] w_data_i,
    input logic [3:0] w_strb_i,
    output logic w_done_o,
    output logic w_err_o,
    input logic r_go_i,
    input logic [10:0] r_word_i,
    output logic r_done_o,
    output logic r_err_o,
    output logic [31:0] r_data_o,

    // The core's work requests; its completions as the gate lets them through.
    output logic wqe_valid_o,
    input logic wqe_ready_i,
    output wqe_t wqe_o,
    input logic cqe_valid_i,
    output logic cqe_ready_o,
    input cqe_t cqe_i,
    output logic [NumCqs-1:0] irq_o,
    output logic error_o,
    // Nothing is asked of memory, or awaited.
    output logic idle_o,

    output logic m_axi_arvalid_o,
    input logic m_axi_arready_i,
    output logic m_axi_arid_o,
    output logic [63:0] m_axi_araddr_o,
    output logic [7:0] m_axi_arlen_o,
    output logic [2:0] m_axi_arsize_o,
    output logic [1:0] m_axi_arburst_o,
    input logic m_axi_rvalid_i,
    output logic m_axi_rready_o,
    input logic [DataW-1:0] m_axi_rdata_i,
    input logic [1:0] m_axi_rresp_i,
    input logic m_axi_rlast_i,
    output logic m_axi_awvalid_o,
    input logic m_axi_awready_i,
    output logic m_axi_awid_o,
    output logic [63:0] m_axi_awaddr_o,
    output logic [7:0] m_axi_awlen_o,
    output logic [2:0] m_axi_awsize_o,
    output logic [1:0] m_axi_awburst_o,
    output logic m_axi_wvalid_o,
    input logic m_axi_wready_i,
    output logic [DataW-1:0] m_axi_wdata_o,
    output logic [WordBytes-1:0] m_axi_wstrb_o,
    output logic m_axi_wlast_o,
    input logic m_axi_bvalid_i,
    output logic m_axi_bready_o,
    input logic [1:0] m_axi_bresp_i
);

  // Words of a descriptor, which is as long as two entries.
  localparam int unsigned Parts = 64 / WordBytes;
  localparam int unsigned OffW = $clog2(WordBytes);
  localparam int unsigned EntryW = 256;
  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned CqW = (NumCqs > 1) ? $clog2(NumCqs) : 1;
  localparam int unsigned FreeW = $clog2(NumWqes - NumQps + 1);
  localparam int unsigned IdxW = 16;
  localparam logic [31:0] IdRings = 32'h4d52_4352;  // MRCR
  localparam logic [31:0] BlockVersion = 32'h0000_0100;
  localparam logic [31:0] BlockBytes = 32'h2000;

  if (WordBytes != 32 && WordBytes != 64) begin : gen_bad_word
    $error("%m: WordBytes must be 32 or 64");
  end
  if (NumQps < 2 || NumQps > 128 || NumCqs < 1 || NumCqs > 16) begin : gen_bad_rings
    $error("%m: NumQps must be 2 to 128, NumCqs 1 to 16");
  end
  if (NumWqes - NumQps > 65535 || WqeDepth > 4096) begin : gen_bad_credit
    $error("%m: NumWqes or WqeDepth is more than a core has");
  end

  typedef enum logic [2:0] {
    WordId = 3'd0,
    WordVersion = 3'd1,
    WordSize = 3'd2,
    WordNext = 3'd3,
    WordShape = 3'd4,
    WordLimits = 3'd5,
    WordStatus = 3'd6,
    WordFree = 3'd7
  } word_e;

  // A descriptor as the core wants it, but for its QP.
  typedef struct packed {
    logic imm_valid;
    logic [31:0] wr_id;
    logic [63:0] laddr;
    logic [63:0] raddr;
    logic [31:0] rkey;
    logic [31:0] length;
    logic [31:0] imm;
  } work_t;

  typedef struct packed {
    logic half;
    logic [EntryW-1:0] entry;
  } beat_t;

  // ---- registers: which of the three a word belongs to

  logic w_sq, w_cq, w_own, w_known, w_wait_q, w_wait_d, w_act, w_bad, w_end, w_done_q, w_err_q;
  logic r_sq, r_cq, r_own, r_wait_q, r_wait_d, r_end, r_done_q, r_err_q;
  logic w_sq_act, w_sq_err, w_cq_err, r_sq_act;
  logic [31:0] r_sq_data, r_cq_data, r_own_data, r_data, r_data_q;

  assign w_sq = w_word_i[10] && 32'(w_word_i[9:3]) < NumQps;
  assign w_cq = w_word_i[10:7] == 4'd1 && 32'(w_word_i[6:3]) < NumCqs;
  assign w_own = w_word_i == {8'd0, WordStatus};
  assign r_sq = r_word_i[10] && 32'(r_word_i[9:3]) < NumQps;
  assign r_cq = r_word_i[10:7] == 4'd1 && 32'(r_word_i[6:3]) < NumCqs;
  assign r_own = r_word_i[10:3] == 8'd0;

  assign w_known = (w_sq || w_cq || w_own) && w_strb_i == '1;
  assign w_act = w_wait_q && w_known;
  assign w_end = w_wait_q && (!w_known || !w_sq || w_sq_act);
  assign w_bad = !w_known || (w_sq && w_sq_err) || (w_cq && w_cq_err);
  assign w_wait_d = w_go_i || (w_wait_q && !w_end);
  assign r_end = r_wait_q && (!r_sq || r_sq_act);
  assign r_wait_d = r_go_i || (r_wait_q && !r_end);

  // ---- send rings

  logic req_valid, req_ready, rsp_valid, rsp_err, marker, back, answer, cqe_head, cqe_pop;
  logic [57:0] req_word;
  logic [511:0] rsp_data;
  logic [QpW-1:0] wqe_qp;
  logic [IdxW-1:0] consumer;
  logic [CqW-1:0] cq;
  logic [FreeW-1:0] free;
  logic stray, bus, rd_stray, wr_stray, sq_error, cq_error;
  work_t read, work;
  cqe_t cqe;

  assign read = '{
          imm_valid: rsp_data[32],
          wr_id: rsp_data[31:0],
          laddr: rsp_data[127:64],
          raddr: rsp_data[191:128],
          rkey: rsp_data[223:192],
          length: rsp_data[255:224],
          imm: rsp_data[287:256]
      };

  mrc_fpga_ring_send #(
      .NumQps(NumQps),
      .WqeDepth(WqeDepth),
      .NumWqes(NumWqes),
      .NumCqs(NumCqs),
      .Reads(Reads),
      .DataW($bits(work_t)),
      .IdxW(IdxW)
  ) u_send (
      .clk_i,
      .rst_ni,
      .w_req_i(w_act && w_sq),
      .w_ring_i(w_word_i[3+:QpW]),
      .w_reg_i(w_word_i[2:0]),
      .w_data_i,
      .w_act_o(w_sq_act),
      .w_err_o(w_sq_err),
      .r_req_i(r_wait_q && r_sq),
      .r_ring_i(r_word_i[3+:QpW]),
      .r_reg_i(r_word_i[2:0]),
      .r_act_o(r_sq_act),
      .r_data_o(r_sq_data),
      .req_valid_o(req_valid),
      .req_ready_i(req_ready),
      .req_word_o(req_word),
      .rsp_valid_i(rsp_valid),
      .rsp_err_i(rsp_err),
      .rsp_data_i(read),
      .wqe_valid_o,
      .wqe_ready_i,
      .wqe_marker_o(marker),
      .wqe_qp_o(wqe_qp),
      .wqe_data_o(work),
      .back_i(back),
      .answer_i(answer),
      .answer_good_i(cqe.status == CqStatusLocState),
      .done_qp_i(cqe.qp[QpW-1:0]),
      .look_qp_i(cqe.qp[QpW-1:0]),
      .look_idx_o(consumer),
      .look_cq_o(cq),
      .free_o(free),
      .stray_o(stray),
      .error_o(sq_error)
  );

  // No QP of a board has this bit in its number: the NIC refuses the work request of a marker.
  localparam int unsigned MarkerBit = $bits(qp_index_t) - 1;

  always_comb begin
    wqe_o = '{
        qp: qp_index_t'(wqe_qp),
        imm_valid: work.imm_valid,
        wr_id: work.wr_id,
        laddr: work.laddr,
        raddr: work.raddr,
        rkey: work.rkey,
        length: work.length,
        imm: work.imm
    };
    if (marker) begin
      wqe_o = '0;
      wqe_o.qp = qp_index_t'(wqe_qp);
      wqe_o.qp[MarkerBit] = 1'b1;
    end
  end

  logic [3:0] unused_plane;
  logic rd_idle, wr_idle, unused_rd_qp, rd_valid, rd_ready, line_valid, line_err;
  logic [63:0] rd_addr;
  logic [DataW-1:0] line;

  if (Parts == 1) begin : gen_whole
    assign rd_valid = req_valid;
    assign req_ready = rd_ready;
    assign rd_addr = {req_word, 6'd0};
    assign rsp_valid = line_valid;
    assign rsp_err = line_err;
    assign rsp_data = line;
  end else begin : gen_halves
    // The upper half is asked for, and comes, behind the lower one.
    logic upper_q, came_q, err_q;
    logic [DataW-1:0] lower_q;

    assign rd_valid = req_valid;
    assign req_ready = rd_ready && upper_q;
    assign rd_addr = {req_word, upper_q, {OffW{1'b0}}};
    assign rsp_valid = line_valid && came_q;
    assign rsp_err = line_err || err_q;
    assign rsp_data = {line, lower_q};

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        upper_q <= 1'b0;
        came_q <= 1'b0;
      end else begin
        upper_q <= upper_q ^ (rd_valid && rd_ready);
        came_q <= came_q ^ line_valid;
      end
    end
    always_ff @(posedge clk_i) begin
      if (line_valid) begin
        lower_q <= line;
        err_q <= line_err;
      end
    end
  end

  mrc_fpga_axi_rd #(
      .WordBytes(WordBytes),
      .NumPlanes(1),
      .Pending(Reads * Parts),
      .QpW(1)
  ) u_rd (
      .host_rd_valid_i(rd_valid),
      .host_rd_ready_o(rd_ready),
      .host_rd_addr_i(rd_addr),
      .host_rd_len_i(8'(WordBytes)),
      .host_rd_plane_i(4'd0),
      .host_rd_qp_i(1'b0),
      .host_rsp_valid_o(line_valid),
      .host_rsp_plane_o(unused_plane),
      .host_rsp_data_o(line),
      .host_rsp_err_o(line_err),
      .host_rsp_qp_o(unused_rd_qp),
      .stray_o(rd_stray),
      .idle_o(rd_idle),
      .m_axi_rid_i(1'b0),
      .*
  );

  // ---- completion rings: markers end here

  logic is_marker, entry_pop, put, half, phase, done, fail, beat_room, burst_room;
  logic beat_valid, beat_pop;
  logic [63-OffW:0] burst_word;
  logic [WordBytes-1:0] beat_strb;
  logic [57:0] put_word;
  logic [CqW-1:0] done_cq;
  beat_t beat;
  logic [1:0] unused_cqes;
  logic [$clog2(Writes+1)-1:0] unused_beats;

  mrc_fifo #(
      .T(cqe_t),
      .Depth(2)
  ) u_cqe (
      .clk_i,
      .rst_ni,
      .valid_i(cqe_valid_i),
      .ready_o(cqe_ready_o),
      .data_i(cqe_i),
      .valid_o(cqe_head),
      .ready_i(cqe_pop),
      .data_o(cqe),
      .count_o(unused_cqes)
  );

  assign is_marker = !cqe.recv && cqe.qp[MarkerBit];
  assign cqe_pop = cqe_head && (is_marker || entry_pop);
  assign answer = cqe_pop && is_marker;
  assign back = cqe_pop && !cqe.recv && !is_marker;

  mrc_fpga_ring_done #(
      .NumCqs(NumCqs),
      .IdxW(IdxW)
  ) u_done (
      .clk_i,
      .rst_ni,
      .w_act_i(w_act && w_cq),
      .w_ring_i(w_word_i[3+:CqW]),
      .w_reg_i(w_word_i[2:0]),
      .w_data_i,
      .w_err_o(w_cq_err),
      .r_ring_i(r_word_i[3+:CqW]),
      .r_reg_i(r_word_i[2:0]),
      .r_data_o(r_cq_data),
      .cqe_valid_i(cqe_head && !is_marker),
      .cqe_cq_i(cq),
      .cqe_pop_o(entry_pop),
      .put_o(put),
      .room_i(beat_room && burst_room),
      .put_word_o(put_word),
      .put_half_o(half),
      .put_phase_o(phase),
      .done_i(done),
      .fail_i(fail),
      .done_cq_i(done_cq),
      .irq_o,
      .error_o(cq_error)
  );

  mrc_fifo #(
      .T(beat_t),
      .Depth(Writes)
  ) u_beats (
      .clk_i,
      .rst_ni,
      .valid_i(put),
      .ready_o(beat_room),
      .data_i({half, 31'd0, phase, 64'd0, consumer, 7'd0, cqe.recv, cqe.status, cqe.qp[15:0],
               cqe.msn, cqe.length, cqe.imm, cqe.wr_id}),
      .valid_o(beat_valid),
      .ready_i(beat_pop),
      .data_o(beat),
      .count_o(unused_beats)
  );

  if (Parts == 1) begin : gen_entry_of_two
    assign burst_word = put_word;
    assign beat_strb = {{32{beat.half}}, {32{!beat.half}}};
  end else begin : gen_entry_alone
    assign burst_word = {put_word, half};
    assign beat_strb = '1;
  end

  mrc_fpga_wr_out #(
      .WordBytes(WordBytes),
      .NumPlanes(1),
      .MaxBeats(1),
      .QpW(CqW),
      .BurstDepth(Writes),
      .MaxBursts(Writes)
  ) u_wr (
      .clk_i,
      .rst_ni,
      .burst_push_i(put),
      .burst_room_o(burst_room),
      .burst_word_i(burst_word),
      .burst_beats_i(1'b0),
      .burst_end_i(1'b1),
      .burst_plane_i(1'b0),
      .burst_qp_i(cq),
      .beat_valid_i(beat_valid),
      .beat_pop_o(beat_pop),
      .beat_data_i({2 / Parts{beat.entry}}),
      .beat_strb_i(beat_strb),
      .awvalid_o(m_axi_awvalid_o),
      .awready_i(m_axi_awready_i),
      .awaddr_o(m_axi_awaddr_o),
      .awlen_o(m_axi_awlen_o),
      .wvalid_o(m_axi_wvalid_o),
      .wready_i(m_axi_wready_i),
      .wdata_o(m_axi_wdata_o),
      .wstrb_o(m_axi_wstrb_o),
      .wlast_o(m_axi_wlast_o),
      .bvalid_i(m_axi_bvalid_i),
      .bready_o(m_axi_bready_o),
      .bresp_i(m_axi_bresp_i),
      .done_o(done),
      .fail_o(fail),
      .fail_qp_o(done_cq),
      .stray_o(wr_stray),
      .idle_o(wr_idle)
  );

  assign m_axi_awid_o = 1'b0;
  assign m_axi_awsize_o = 3'(OffW);
  assign idle_o = rd_idle && wr_idle;
  assign m_axi_awburst_o = 2'b01;

  // ---- registers of the block

  logic [1:0] status_q, status_d;

  assign bus = rd_stray || wr_stray;
  always_comb begin
    status_d = status_q;
    if (w_act && w_own) begin
      status_d = status_q & ~w_data_i[1:0];
    end
    status_d = status_d | {bus, stray};
  end

  always_comb begin
    unique case (r_word_i[2:0])
      WordId: r_own_data = IdRings;
      WordVersion: r_own_data = BlockVersion;
      WordSize: r_own_data = BlockBytes;
      WordNext: r_own_data = Next;
      WordShape: r_own_data = {8'd0, 8'(NumCqs), 16'(NumQps)};
      WordLimits: r_own_data = {16'(NumWqes - NumQps), 16'(WqeDepth)};
      WordStatus: r_own_data = {30'd0, status_q};
      default: r_own_data = 32'(free);
    endcase
    r_data = r_sq ? r_sq_data : r_cq ? r_cq_data : r_own ? r_own_data : 32'd0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      w_wait_q <= 1'b0;
      w_done_q <= 1'b0;
      r_wait_q <= 1'b0;
      r_done_q <= 1'b0;
      status_q <= '0;
    end else begin
      w_wait_q <= w_wait_d;
      w_done_q <= w_end;
      r_wait_q <= r_wait_d;
      r_done_q <= r_end;
      status_q <= status_d;
    end
  end

  always_ff @(posedge clk_i) begin
    w_err_q <= w_bad;
    r_err_q <= !(r_sq || r_cq || r_own);
    r_data_q <= r_data;
  end

  assign w_done_o = w_done_q;
  assign w_err_o = w_err_q;
  assign r_done_o = r_done_q;
  assign r_err_o = r_err_q;
  assign r_data_o = r_data_q;
  assign error_o = sq_error || cq_error || status_q != '0;

  logic unused_bits;
  assign unused_bits = ^{rsp_data, cqe.qp, beat.half, unused_plane, unused_cqes, unused_beats};

endmodule
