// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Fetch of mrc_tx_segment: fetches the rows of retransmissions, one ahead of Emit, and of granted
/// bursts, up to eight ahead, one per cycle, and asks the congestion controller for each burst. F0
/// reads the row, f1 asks and works out the message's last packet; a row is there two cycles after
/// its order or grant came to the head. It does not look at windows beyond "can it send at all".
module mrc_tx_segment_fetch
  import mrc_pkg::*;
  import mrc_tx_segment_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned NumWqes = 24,
    parameter int unsigned MaxMpr = 128,
    localparam int unsigned QpW = $clog2(NumQps),
    localparam int unsigned IdxW = $clog2(NumWqes)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,

    input logic grant_valid_i,
    output logic grant_ready_o,
    input grant_t grant_i,
    input logic retx_valid_i,
    output logic retx_ready_o,
    input retx_t retx_i,
    output logic req_valid_o,
    input logic req_ready_i,
    output ccreq_t req_o,

    input logic [1:0] nominal_i,  // nominal_e

    // Registers of the QP granted next, and of the QP that comes to f1.
    output logic [QpW-1:0] next_qp_o,
    input qp_regs_t next_regs_i,
    output logic [QpW-1:0] f1_qp_o,
    input qp_regs_t f1_regs_i,
    input intake_wr_t intake_wr_i,
    input progress_wr_t progress_wr_i,
    input emit_wr_t emit_wr_i,
    input cfg_wr_t cfg_wr_i,

    // WQEs taken.
    input logic take_i,
    input logic [IdxW-1:0] take_row_i,
    input work_t take_work_i,

    // The burst of this QP has ended: no more rows of it.
    input logic end_i,
    input qp_index_t end_qp_i,
    input logic [3:0] rows_count_i,
    output logic row_valid_o,
    output fetched_t row_o,
    output logic orders_o,  // one is here
    input logic again_full_i,  // Emit has one
    output logic again_valid_o,
    output again_t again_o,
    output qp_regs_t again_regs_o  // as they are in this cycle
);

  logic grant_v, grant_pop, retx_v, retx_pop, req_free, requests, waits_q, waits_d;
  grant_t grant;
  retx_t retx;
  ccreq_t req_d, waits_req_q;
  qp_regs_t grant_regs;
  logic [1:0] unused_count;

  mrc_tx_segment_head #(
      .T(grant_t),
      .NumQps(NumQps)
  ) u_grant (
      .clk_i,
      .rst_ni,
      .valid_i(grant_valid_i),
      .ready_o(grant_ready_o),
      .data_i(grant_i),
      .valid_o(grant_v),
      .ready_i(grant_pop),
      .data_o(grant),
      .regs_o(grant_regs),
      .next_qp_o,
      .next_regs_i,
      .intake_wr_i,
      .progress_wr_i,
      .emit_wr_i,
      .cfg_wr_i
  );

  mrc_fifo #(
      .T(retx_t),
      .Depth(2)
  ) u_retx (
      .clk_i,
      .rst_ni,
      .valid_i(retx_valid_i),
      .ready_o(retx_ready_o),
      .data_i(retx_i),
      .valid_o(retx_v),
      .ready_i(retx_pop),
      .data_o(retx),
      .count_o(unused_count)
  );

  // A request waits beside its register, so that f1 never does.
  mrc_out_reg #(
      .T(ccreq_t)
  ) u_req (
      .clk_i,
      .rst_ni,
      .load_i((requests || waits_q) && req_free),
      .data_i(waits_q ? waits_req_q : req_d),
      .free_o(req_free),
      .valid_o(req_valid_o),
      .ready_i(req_ready_i),
      .data_o(req_o)
  );

  typedef struct packed {
    logic retx;
    logic first;
    logic last_row;
    logic none;  // there was no row to read
    qp_index_t qp;
    logic [15:0] msn;
    pool_row_t number;
    retx_t order;
  } entry_t;

  logic f1_valid_q, f1_valid_d;
  entry_t f1_q, f1_d;
  work_t work;
  qp_regs_t regs_q, regs_d;  // of the QP in f1, up to date
  logic busy_q, busy_d;
  qp_index_t qp_q, qp_d;
  logic [15:0] msn_q, msn_d;
  logic [3:0] left_q, left_d;  // rows after the one read next
  pool_row_t next_q, next_d;  // the row after the one read last for the grant
  pool_row_t number_q, number_d;  // the row read last (injected bug 3 only, as the next one)
  logic second_q, second_d;  // the next row is the second of its grant

  // ---- F0

  // An order goes first. A burst begins when there will be room for its request.
  logic act, row_act, f1_retx, f1_requests, req_room;
  logic [4:0] ahead;
  logic [15:0] held;
  logic [3:0] more_rows;
  assign f1_retx = f1_valid_q && f1_q.retx;
  assign f1_requests = f1_valid_q && f1_q.first && regs_q.cc;
  assign req_room = !waits_q && (!f1_requests || req_free);
  assign ahead = {1'b0, rows_count_i} + {4'd0, f1_valid_q && !f1_q.retx};
  assign retx_pop = retx_v && !again_full_i && !f1_retx;
  assign row_act = !retx_pop && ahead < 5'd8 && (busy_q || (grant_v && req_room));
  assign act = retx_pop || row_act;
  assign grant_pop = row_act && !busy_q;
  assign held = grant_regs.tail - grant_regs.head;
  // Rows of this burst beyond the first: at most 15.
  assign more_rows = (held[15:4] != 12'd0) ? 4'd15 : (held == 16'd0) ? 4'd0 : held[3:0] - 4'd1;

  // The row in f1 names the next one itself.
  assign next_d = (f1_valid_q && !f1_q.retx) ? work.next : next_q;

  always_comb begin
    f1_d.retx = 1'b0;
    f1_d.first = 1'b0;
    f1_d.last_row = left_q == 4'd0;
    f1_d.none = 1'b0;
    f1_d.qp = qp_q;
    f1_d.msn = msn_q;
    f1_d.number = (bug_i == BugWrongRow && second_q) ? number_q : next_d;
    f1_d.order = retx;
    if (retx_pop) begin
      f1_d.retx = 1'b1;
      f1_d.qp = retx.qp;
      f1_d.msn = retx.msn;
      f1_d.number = retx.row;
    end else if (!busy_q) begin
      f1_d.first = 1'b1;
      f1_d.last_row = more_rows == 4'd0;
      f1_d.none = held == 16'd0;
      f1_d.qp = grant.qp;
      f1_d.msn = grant_regs.head;
      f1_d.number = grant_regs.hrow;
    end
  end

  always_comb begin
    busy_d = busy_q;
    qp_d = qp_q;
    msn_d = msn_q;
    left_d = left_q;
    second_d = second_q;
    number_d = number_q;
    if (row_act) begin
      number_d = f1_d.number;
      if (busy_q) begin
        msn_d = msn_q + 16'd1;
        left_d = left_q - 4'd1;
        second_d = 1'b0;
        busy_d = left_q != 4'd0;
      end else begin
        qp_d = grant.qp;
        msn_d = grant_regs.head + 16'd1;
        left_d = more_rows - 4'd1;
        second_d = 1'b1;
        busy_d = more_rows != 4'd0;
      end
    end
    if (end_i && busy_q && qp_q[QpW-1:0] == end_qp_i[QpW-1:0]) begin
      busy_d = 1'b0;
    end
  end

  // ---- f1

  localparam int unsigned WorkW = $bits(work_t) - $bits(pool_row_t) + IdxW;

  logic [WorkW-1:0] work_data;
  assign work = work_t'($bits(work_t)'(work_data));

  mrc_ram_1r1w #(
      .Width(WorkW),
      .Depth(NumWqes)
  ) u_work (
      .clk_i,
      .re_i(act),
      .raddr_i(f1_d.number[IdxW-1:0]),
      .rdata_o(work_data),
      .we_i(take_i),
      .waddr_i(take_row_i),
      .wdata_i(take_work_i[WorkW-1:0])
  );

  // The registers of f1's QP are kept up to date here, so that f1 need not read them first.
  assign f1_qp_o = f1_d.qp[QpW-1:0];
  assign regs_d =
      written(f1_regs_i, qp_index_t'(f1_qp_o), intake_wr_i, progress_wr_i, emit_wr_i, cfg_wr_i);

  logic dead;
  assign dead = f1_q.none || !(regs_q.rts && !regs_q.failed && !regs_q.held
      && regs_q.head != regs_q.tail
      && window_open(regs_q.psn, regs_q.una, regs_q.mpr, 20'(MaxMpr / 16),
                     bug_i == BugTxWindowPlusOne));
  assign requests = f1_requests && !dead;
  assign waits_d = (requests || waits_q) && !req_free;
  assign f1_valid_d = act;

  // The message's last packet: its index, its payload, its UDP length + 40.
  logic [31:0] below_end;
  logic [12:0] mtu_len, low;
  logic [23:0] last_idx;
  logic [12:0] last_plen;
  logic [13:0] last_size, last_bytes, full_bytes;
  logic [10:0] words;
  logic empty;
  logic [4:0] extra;
  assign mtu_len = mtu_bytes(regs_q.mtu);
  assign below_end = work.length - 32'd1;
  assign low = work.length[12:0] & (mtu_len - 13'd1);
  // A message of no bytes has one packet, of no bytes.
  assign empty = work.length == 32'd0;
  assign last_plen = (low == 13'd0 && !empty) ? mtu_len : low;
  assign last_idx = empty ? 24'd0 : 24'(below_end[31:8] >> regs_q.mtu);
  assign words = last_plen[12:2];
  // 84 and what else there is, in words; the padding makes one of a part of one.
  assign extra = 5'd21 + {4'd0, regs_q.ts} + {4'd0, work.imm_valid};
  assign last_size = {1'b0, words + {6'd0, extra} + {10'd0, last_plen[1:0] != 2'd0}, 2'd0};

  assign full_bytes = full_size(regs_q.mtu, regs_q.ts, nominal_i);
  assign last_bytes = end_size(last_plen, last_size, nominal_i);

  logic at_last;
  logic [13:0] next_bytes;
  assign at_last = regs_q.idx == last_idx;
  assign next_bytes = at_last ? last_bytes : full_bytes;
  // A burst asks for eight full packets.
  assign req_d = '{
          cc: regs_q.dest,
          min: {2'd0, next_bytes[13:1], next_bytes[0] || next_bytes == 14'd0},
          bytes: {full_bytes[12:0], 3'd0}
      };

  assign row_valid_o = f1_valid_q && !f1_q.retx;
  assign row_o = '{
          first: f1_q.first,
          last_row: f1_q.last_row,
          dead: dead,
          qp: f1_q.qp,
          msn: f1_q.msn,
          number: f1_q.number,
          work: work,
          last_idx: last_idx,
          last_plen: last_plen,
          last_size: last_size
      };
  assign orders_o = retx_v || f1_retx;
  assign again_valid_o = f1_retx;
  assign again_o = '{order: f1_q.order, work: work, last_idx: last_idx, last_plen: last_plen};
  assign again_regs_o = regs_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      f1_valid_q <= 1'b0;
      busy_q <= 1'b0;
      waits_q <= 1'b0;
    end else begin
      f1_valid_q <= f1_valid_d;
      busy_q <= busy_d;
      waits_q <= waits_d;
    end
  end

  always_ff @(posedge clk_i) begin
    qp_q <= qp_d;
    msn_q <= msn_d;
    left_q <= left_d;
    second_q <= second_d;
    next_q <= next_d;
    number_q <= number_d;
    if (requests) begin
      waits_req_q <= req_d;
    end
    if (act) begin
      f1_q <= f1_d;
      regs_q <= regs_d;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, unused_count, grant_regs.rts, grant_regs.active, grant_regs.failed,
                       grant_regs.fresh, grant_regs.una_msn, grant_regs.una, grant_regs.mpr,
                       grant_regs.idx, grant_regs.psn, grant_regs.mtu, grant_regs.mpr_max,
                       grant_regs.profile, grant_regs.max_wimm, grant_regs.ts, grant_regs.cc,
                       grant_regs.dest, grant_regs.held, grant_regs.wsent, grant_regs.wout,
                       end_qp_i, below_end[7:0], take_work_i.next};

  // ---- what always holds

  `MRC_POPS_A_WORD(Retx, retx_pop, retx_v)
  `MRC_POPS_A_WORD(Grant, grant_pop, grant_v)
  `MRC_ONE_HOT0(OneSource, {retx_pop, grant_pop},
      "two orders in one cycle")
  `MRC_ASSERT(RowsInRange, ahead <= 5'd8,
      "more rows under way than there is room for")
  `MRC_ASSERT_IF(OneWaits, requests, !waits_q,
      "a burst asks while another one waits to")
  `MRC_ASSERT_IF(OneOrder, again_valid_o, !again_full_i,
      "an order comes while Emit has one")
  `MRC_ASSERT_IF(AnotherRow, row_act && busy_q && second_q, f1_d.number != number_q,
      "the second row of a grant is its first")
  `MRC_ASSERT_IF(RequestsForLiving, requests, !dead,
      "somebody asks who cannot send")
  `MRC_ASSERT_IF(MovesARow, row_valid_o, 32'(f1_q.number) < NumWqes || f1_q.none,
      "a row that there is not")

endmodule
