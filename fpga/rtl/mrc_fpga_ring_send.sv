// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Send rings: descriptors that the host has posted are read from memory and offered to the core in
/// the order in which they were asked for; one is asked for only with credit for its place in the
/// core. The rows of the rings have one port: in each cycle one of these has it, the first that
/// wants to: a descriptor is asked for, one is thrown away, a register is written, one is read.
/// Throughput: a descriptor per two cycles. It does not look into descriptors, and sets no time
/// limit. Contract: docs/design/boards/rings.md.
module mrc_fpga_ring_send #(
    parameter int unsigned NumQps = 16,
    parameter int unsigned WqeDepth = 64,
    parameter int unsigned NumWqes = 192,
    parameter int unsigned NumCqs = 4,
    parameter int unsigned Reads = 32,
    parameter int unsigned DataW = 257,
    parameter int unsigned IdxW = 16,
    // Of an address in units of descriptors.
    parameter int unsigned WordW = 58,
    localparam int unsigned QpW = (NumQps > 1) ? $clog2(NumQps) : 1,
    localparam int unsigned CqW = (NumCqs > 1) ? $clog2(NumCqs) : 1,
    localparam int unsigned FreeW = $clog2(NumWqes - NumQps + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    // Registers: what is asked stays until the cycle in which it is done.
    input logic w_req_i,
    input logic [QpW-1:0] w_ring_i,
    input logic [2:0] w_reg_i,
    input logic [31:0] w_data_i,
    output logic w_act_o,
    output logic w_err_o,
    input logic r_req_i,
    input logic [QpW-1:0] r_ring_i,
    input logic [2:0] r_reg_i,
    output logic r_act_o,
    output logic [31:0] r_data_o,

    // Memory: answers come in the order of requests, there is room for them.
    output logic req_valid_o,
    input logic req_ready_i,
    output logic [WordW-1:0] req_word_o,
    input logic rsp_valid_i,
    input logic rsp_err_i,
    input logic [DataW-1:0] rsp_data_i,

    // The core.
    output logic wqe_valid_o,
    input logic wqe_ready_i,
    output logic wqe_marker_o,
    output logic [QpW-1:0] wqe_qp_o,
    output logic [DataW-1:0] wqe_data_o,
    // A work request has completed; a marker was answered, and says that nothing is held any more.
    input logic back_i,
    input logic answer_i,
    input logic answer_good_i,
    input logic [QpW-1:0] done_qp_i,

    // What an entry of the QP's completion needs.
    input logic [QpW-1:0] look_qp_i,
    output logic [IdxW-1:0] look_idx_o,
    output logic [CqW-1:0] look_cq_o,

    output logic [FreeW-1:0] free_o,
    output logic stray_o,
    output logic error_o
);

  localparam int unsigned HeldW = $clog2(WqeDepth + 1);
  localparam int unsigned SizeW = 4;
  localparam int unsigned LoW = (WordW > 26) ? 26 : WordW;
  localparam int unsigned HiW = (WordW > 26) ? WordW - 26 : 1;
  localparam int unsigned OffW = 6;

  if (NumQps < 2 || IdxW > 16) begin : gen_bad_qps
    $error("%m: NumQps must be at least 2, IdxW at most 16");
  end

  typedef enum logic [2:0] {
    RegBaseLo = 3'd0,
    RegBaseHi = 3'd1,
    RegConfig = 3'd2,
    RegControl = 3'd3,
    RegProducer = 3'd4,
    RegConsumer = 3'd5,
    RegStatus = 3'd6,
    RegHeld = 3'd7
  } reg_e;

  localparam int unsigned ErrJump = 0;
  localparam int unsigned ErrRead = 1;
  localparam int unsigned ErrOff = 2;
  localparam int unsigned ErrLive = 3;

  // What was asked for, in order.
  typedef struct packed {
    logic marker;
    logic [QpW-1:0] qp;
  } tag_t;

  typedef struct packed {
    logic err;
    logic [DataW-1:0] data;
  } rsp_t;

  typedef struct packed {
    tag_t tag;
    logic [DataW-1:0] data;
  } out_t;

  // ---- who has the port of the rows

  logic issue_q, issue_d, pick_marker_q, req, drop, w_act, r_act;
  logic [QpW-1:0] pick_q, seat;
  tag_t head;

  assign w_act = w_req_i && !issue_q && !drop;
  assign r_act = r_req_i && !issue_q && !drop && !w_req_i;
  assign w_act_o = w_act;
  assign r_act_o = r_act;

  always_comb begin
    seat = r_ring_i;
    if (issue_q) begin
      seat = pick_q;
    end else if (drop) begin
      seat = head.qp;
    end else if (w_req_i) begin
      seat = w_ring_i;
    end
  end

  // ---- a ring: open, or on its way there (its marker has gone out); posted: the host has posted
  // more than was asked for; used: it was opened once, and its indices mean something

  logic [NumQps-1:0] open_q, open_d, opening_q, opening_d, requested_q, requested_d;
  logic [NumQps-1:0] posted_q, posted_d, used_q, used_d;
  logic [NumQps-1:0][3:0] err_q, err_d;
  logic [NumQps-1:0][CqW-1:0] cq_q, cq_d;

  logic [LoW-1:0] base_lo;
  logic [HiW-1:0] base_hi;
  logic [SizeW-1:0] size_log;
  logic [IdxW-1:0] producer, next, consumer, size, slot, next_wdata;
  logic base_lo_we, base_hi_we, config_we, producer_we, opens, next_we, consumer_we;
  logic load;

  assign size = IdxW'(1) << size_log;
  assign slot = next & (size - IdxW'(1));

  mrc_rf_1r1w #(
      .Width(LoW),
      .Depth(NumQps)
  ) u_base_lo (
      .clk_i,
      .raddr_i(seat),
      .rdata_o(base_lo),
      .we_i(base_lo_we),
      .waddr_i(seat),
      .wdata_i(w_data_i[OffW+:LoW])
  );

  mrc_rf_1r1w #(
      .Width(HiW),
      .Depth(NumQps)
  ) u_base_hi (
      .clk_i,
      .raddr_i(seat),
      .rdata_o(base_hi),
      .we_i(base_hi_we),
      .waddr_i(seat),
      .wdata_i(w_data_i[HiW-1:0])
  );

  mrc_rf_1r1w #(
      .Width(SizeW),
      .Depth(NumQps)
  ) u_size (
      .clk_i,
      .raddr_i(seat),
      .rdata_o(size_log),
      .we_i(config_we),
      .waddr_i(seat),
      .wdata_i(w_data_i[SizeW-1:0])
  );

  mrc_rf_1r1w #(
      .Width(IdxW),
      .Depth(NumQps)
  ) u_producer (
      .clk_i,
      .raddr_i(seat),
      .rdata_o(producer),
      .we_i(producer_we || opens),
      .waddr_i(seat),
      .wdata_i(opens ? '0 : w_data_i[IdxW-1:0])
  );

  // Index of the next descriptor to ask for.
  mrc_rf_1r1w #(
      .Width(IdxW),
      .Depth(NumQps)
  ) u_next (
      .clk_i,
      .raddr_i(seat),
      .rdata_o(next),
      .we_i(next_we),
      .waddr_i(seat),
      .wdata_i(next_wdata)
  );

  // Index behind the newest that left for the core.
  logic [IdxW-1:0] left, looked;

  mrc_rf_nr1w #(
      .Width(IdxW),
      .Depth(NumQps),
      .Reads(3)
  ) u_consumer (
      .clk_i,
      .raddr_i({look_qp_i, head.qp, seat}),
      .rdata_o({looked, left, consumer}),
      .we_i(consumer_we),
      .waddr_i(opens ? seat : head.qp),
      .wdata_i(opens ? '0 : left + IdxW'(1))
  );

  assign consumer_we = opens || (load && !head.marker);
  assign look_idx_o = used_q[look_qp_i] ? looked : '0;
  assign look_cq_o = cq_q[look_qp_i];

  // ---- credit

  logic [NumQps-1:0] may, some;
  logic [NumQps-1:0][HeldW-1:0] held;
  logic answer, no_place;

  assign answer = answer_i && requested_q[done_qp_i];

  mrc_fpga_ring_credit #(
      .NumQps(NumQps),
      .WqeDepth(WqeDepth),
      .NumWqes(NumWqes)
  ) u_credit (
      .clk_i,
      .rst_ni,
      .take_i(req && !pick_marker_q),
      .take_qp_i(pick_q),
      .drop_i(drop),
      .drop_qp_i(head.qp),
      .back_i,
      .back_qp_i(done_qp_i),
      .forget_i(answer && answer_good_i),
      .forget_qp_i(done_qp_i),
      .may_o(may),
      .some_o(some),
      .held_o(held),
      .free_o,
      .stray_o(no_place)
  );

  assign stray_o = no_place || (answer_i && !requested_q[done_qp_i]);

  // ---- whose turn it is: picked in one cycle, asked for in the next

  logic [NumQps-1:0] wants, unused_gnt;
  logic [QpW-1:0] turn;
  logic any, pick, req_free, tag_room;

  assign wants = (open_q & posted_q & may) | (opening_q & ~requested_q);
  assign pick = !issue_q && !w_req_i && any && req_free && tag_room;
  assign issue_d = pick;

  mrc_rr_arb #(
      .N(NumQps)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i(wants),
      .take_i(pick),
      .gnt_o(unused_gnt),
      .idx_o(turn),
      .any_o(any)
  );

  // The ring may have failed meanwhile.
  assign req = issue_q && (pick_marker_q || open_q[pick_q]);

  mrc_out_reg #(
      .T(logic [WordW-1:0])
  ) u_req (
      .clk_i,
      .rst_ni,
      .load_i(req && !pick_marker_q),
      .data_i(WordW'({base_hi, base_lo}) + WordW'(slot)),
      .free_o(req_free),
      .valid_o(req_valid_o),
      .ready_i(req_ready_i),
      .data_o(req_word_o)
  );

  // ---- what was asked for comes, and leaves or is thrown away

  logic head_valid, tag_valid, rsp_valid, rsp_room, good, pop, out_free;
  rsp_t rsp;
  out_t out;
  logic [$clog2(Reads+1)-1:0] unused_tags, unused_rsps;

  mrc_fifo #(
      .T(tag_t),
      .Depth(Reads)
  ) u_tags (
      .clk_i,
      .rst_ni,
      .valid_i(req),
      .ready_o(tag_room),
      .data_i({pick_marker_q, pick_q}),
      .valid_o(tag_valid),
      .ready_i(pop),
      .data_o(head),
      .count_o(unused_tags)
  );

  mrc_fifo #(
      .T(rsp_t),
      .Depth(Reads)
  ) u_rsps (
      .clk_i,
      .rst_ni,
      .valid_i(rsp_valid_i),
      .ready_o(rsp_room),
      .data_i({rsp_err_i, rsp_data_i}),
      .valid_o(rsp_valid),
      .ready_i(pop && !head.marker),
      .data_o(rsp),
      .count_o(unused_rsps)
  );

  assign head_valid = tag_valid && (head.marker || rsp_valid);
  assign good = head.marker || (open_q[head.qp] && !rsp.err);
  assign drop = head_valid && !good && !issue_q;
  assign load = head_valid && good && out_free && !w_act;
  assign pop = load || drop;

  mrc_out_reg #(
      .T(out_t)
  ) u_out (
      .clk_i,
      .rst_ni,
      .load_i(load),
      .data_i({head, rsp.data}),
      .free_o(out_free),
      .valid_o(wqe_valid_o),
      .ready_i(wqe_ready_i),
      .data_o(out)
  );

  assign wqe_marker_o = out.tag.marker;
  assign wqe_qp_o = out.tag.qp;
  assign wqe_data_o = out.data;

  // ---- registers

  logic busy, closed, fits, is_off, jumps;
  logic [IdxW-1:0] posts, room;

  assign closed = !open_q[seat] && !opening_q[seat];
  assign busy = used_q[seat] && (next != consumer
      || (wqe_valid_o && !out.tag.marker && out.tag.qp == seat));
  assign posts = w_data_i[IdxW-1:0] - producer;
  assign room = size - (producer - consumer);
  assign fits = posts <= room && w_data_i[31:IdxW] == '0;

  always_comb begin
    base_lo_we = 1'b0;
    base_hi_we = 1'b0;
    config_we = 1'b0;
    producer_we = 1'b0;
    opens = 1'b0;
    is_off = 1'b0;
    jumps = 1'b0;
    w_err_o = 1'b0;
    unique case (w_reg_i)
      RegBaseLo: begin
        base_lo_we = w_act && closed;
        w_err_o = !closed;
      end
      RegBaseHi: begin
        base_hi_we = w_act && closed;
        w_err_o = !closed;
      end
      RegConfig: begin
        w_err_o = !closed || 32'(w_data_i[SizeW-1:0]) > IdxW - 2 || 32'(w_data_i[15:8]) >= NumCqs;
        config_we = w_act && !w_err_o;
      end
      RegControl: begin
        w_err_o = w_data_i[0] ? !closed || busy : opening_q[seat];
        opens = w_act && !w_err_o && w_data_i[0];
      end
      RegProducer: begin
        is_off = w_act && !open_q[seat];
        jumps = w_act && open_q[seat] && !fits;
        producer_we = w_act && open_q[seat] && fits;
        w_err_o = !open_q[seat] || !fits;
      end
      RegStatus: ;
      default: w_err_o = 1'b1;
    endcase
  end

  always_comb begin
    next_we = (req && !pick_marker_q) || drop || opens;
    next_wdata = next + IdxW'(1);
    if (!issue_q) begin
      next_wdata = drop ? next - IdxW'(1) : '0;
    end
  end

  always_comb begin
    open_d = open_q;
    opening_d = opening_q;
    requested_d = requested_q;
    posted_d = posted_q;
    used_d = used_q;
    err_d = err_q;
    cq_d = cq_q;
    if (req && pick_marker_q) begin
      requested_d[pick_q] = 1'b1;
    end
    if (req && !pick_marker_q && next + IdxW'(1) == producer) begin
      posted_d[pick_q] = 1'b0;
    end
    if (producer_we) begin
      posted_d[seat] = w_data_i[IdxW-1:0] != next;
    end
    if (config_we) begin
      cq_d[seat] = w_data_i[8+:CqW];
    end
    if (w_act && w_reg_i == RegControl && !w_err_o) begin
      open_d[seat] = opens && !some[seat];
      opening_d[seat] = opens && some[seat];
      requested_d[seat] = 1'b0;
      posted_d[seat] = 1'b0;
      used_d[seat] = used_q[seat] || opens;
    end
    if (answer) begin
      open_d[done_qp_i] = answer_good_i;
      opening_d[done_qp_i] = 1'b0;
      requested_d[done_qp_i] = 1'b0;
    end
    if (drop) begin
      open_d[head.qp] = 1'b0;
    end
    if (w_act && w_reg_i == RegStatus) begin
      err_d[seat] = err_q[seat] & ~w_data_i[3:0];
    end
    if (drop && open_q[head.qp]) begin
      err_d[head.qp][ErrRead] = 1'b1;
    end
    if (answer && !answer_good_i) begin
      err_d[done_qp_i][ErrLive] = 1'b1;
    end
    if (jumps) begin
      err_d[seat][ErrJump] = 1'b1;
    end
    if (is_off) begin
      err_d[seat][ErrOff] = 1'b1;
    end
  end

  always_comb begin
    r_data_o = 32'd0;
    unique case (r_reg_i)
      RegBaseLo: r_data_o[OffW+:LoW] = base_lo;
      RegBaseHi: r_data_o[HiW-1:0] = base_hi;
      RegConfig: r_data_o = {16'd0, 8'(cq_q[seat]), 8'(size_log)};
      RegControl: r_data_o = {29'd0, busy, opening_q[seat], open_q[seat]};
      RegProducer: r_data_o = used_q[seat] ? 32'(producer) : 32'd0;
      RegConsumer: r_data_o = used_q[seat] ? 32'(consumer) : 32'd0;
      RegStatus: r_data_o = {28'd0, err_q[seat]};
      default: r_data_o = 32'(held[seat]);
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      issue_q <= 1'b0;
      open_q <= '0;
      opening_q <= '0;
      requested_q <= '0;
      posted_q <= '0;
      used_q <= '0;
      err_q <= '0;
      cq_q <= '0;
    end else begin
      issue_q <= issue_d;
      open_q <= open_d;
      opening_q <= opening_d;
      requested_q <= requested_d;
      posted_q <= posted_d;
      used_q <= used_d;
      err_q <= err_d;
      cq_q <= cq_d;
    end
  end

  always_ff @(posedge clk_i) begin
    pick_q <= turn;
    pick_marker_q <= opening_q[turn];
  end

  assign error_o = err_q != '0;

  logic unused_bits;
  assign unused_bits = ^{w_data_i, unused_gnt, unused_tags, unused_rsps};

  `MRC_NEVER_FULL(Tags, req, tag_room)
  `MRC_NEVER_FULL(Rsps, rsp_valid_i, rsp_room)
  `MRC_ASSERT(OpenOrOpening, (open_q & opening_q) == '0 && (requested_q & ~opening_q) == '0,
      "a ring is open and opening, or its marker is out and it is not opening")
  `MRC_ASSERT(RequestsPosted, !(req && !pick_marker_q) || next != producer,
      "a descriptor is asked for that nobody has posted")

endmodule
