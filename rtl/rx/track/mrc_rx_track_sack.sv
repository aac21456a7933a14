// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Writes the SACKs that mrc_rx_track asks for, one per four cycles, from its own copies of the map
/// and the rows; it reads what the stages know per QP in the cycle in which it needs it. It waits
/// for the outputs, which the stages use first. Queue of four. It decides nothing about packets.
/// Contract: docs/design/blocks/rx/track/rx_track.md.
module mrc_rx_track_sack
  import mrc_pkg::*;
  import mrc_rx_track_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned MaxMpr = 128,
    parameter int unsigned NumRxRows = 6,
    localparam int unsigned QpW = $clog2(NumQps),
    localparam int unsigned SlotW = (MaxMpr > 64) ? $clog2(MaxMpr / 64) : 1,
    localparam int unsigned AddrW = QpW + SlotW,
    localparam int unsigned IdxW = $clog2(NumRxRows)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input logic sack_base_self_i,
    input logic ack_with_sack_i,
    // A SACK to write.
    input logic req_valid_i,
    output logic req_ready_o,
    input req_t req_i,
    output logic idle_o,
    // Both memories are written with the stages' copies.
    input logic map_we_i,
    input logic [AddrW-1:0] map_waddr_i,
    input logic [IdxW:0] map_wdata_i,
    input logic rows_we_i,
    input logic [IdxW-1:0] rows_waddr_i,
    input logic [63:0] rows_wdata_i,
    // A QP starts anew.
    input logic init_i,
    input logic [QpW-1:0] init_qp_i,
    input logic [23:0] init_psn_i,
    // What is known of the QP at hand.
    output logic [QpW-1:0] qp_o,
    input seq_t seq_i,
    // It is written in this cycle.
    input logic seq_we_i,
    input seq_t seq_new_i,
    input report_t report_i,
    input set_t set_i,
    // The outputs are free and not used by the stages.
    input logic resp_go_i,
    output logic resp_load_o,
    output resp_t resp_o,
    input logic ackev_go_i,
    output logic ackev_load_o,
    output ackev_t ackev_o
);

  typedef enum logic [2:0] {
    StIdle,
    StSack1,
    StSack2,
    StSack3,
    StSackAck
  } state_e;

  state_e state_q, state_d;
  req_t head, a_q;
  logic head_valid, pop;
  logic [2:0] unused_count;

  mrc_fifo #(
      .T(req_t),
      .Depth(4)
  ) u_req (
      .clk_i,
      .rst_ni,
      .valid_i(req_valid_i),
      .ready_o(req_ready_o),
      .data_i(req_i),
      .valid_o(head_valid),
      .ready_i(pop),
      .data_o(head),
      .count_o(unused_count)
  );

  assign pop = state_q == StIdle && head_valid;
  assign idle_o = state_q == StIdle && !head_valid;
  assign qp_o = (state_q == StIdle) ? head.qp[QpW-1:0] : a_q.qp[QpW-1:0];

  // ---- where the bitmap starts

  logic [23:0] lowun, cyc, base, base_q, rel;
  logic self, self_q, lowun_we, window;

  mrc_rf_1r1w #(
      .Width(24),
      .Depth(NumQps)
  ) u_lowun (
      .clk_i,
      .raddr_i(qp_o),
      .rdata_o(lowun),
      .we_i(init_i || lowun_we),
      .waddr_i(init_i ? init_qp_i : qp_o),
      .wdata_i(init_i ? init_psn_i : base_q + 24'd64)
  );

  // dist(lowun, cack1) < dist(max1, cack1), by three comparisons side by side instead of two
  // differences
  // and one.
  assign window = (lowun < seq_i.max1) ^ (lowun < seq_i.cack1) ^ (seq_i.max1 < seq_i.cack1);
  assign cyc = window ? lowun : seq_i.cack1;
  assign rel = head.psn - seq_i.cack1;
  assign self = !head.probe && sack_base_self_i && (head.ackreq || head.ce) && !rel[23];
  assign base = self ? head.psn : cyc;

  // ---- the memories

  logic map_re, rows_re, low_valid_q, high_valid_q;
  logic [AddrW-1:0] map_raddr;
  logic [IdxW:0] entry;
  logic [63:0] row, low_q, low_d;
  logic [23:0] base_next;

  assign base_next = base_q + 24'd64;
  assign map_re = pop || state_q == StSack1;
  assign map_raddr = (state_q == StIdle) ? {qp_o, base[6+:SlotW]} : {qp_o, base_next[6+:SlotW]};
  assign rows_re = (state_q == StSack1 || state_q == StSack2) && entry[IdxW];
  assign low_d = low_valid_q ? row : 64'd0;

  mrc_ram_1r1w #(
      .Width(IdxW + 1),
      .Depth(2 ** AddrW)
  ) u_map (
      .clk_i,
      .re_i(map_re),
      .raddr_i(map_raddr),
      .rdata_o(entry),
      .we_i(map_we_i),
      .waddr_i(map_waddr_i),
      .wdata_i(map_wdata_i)
  );

  mrc_ram_1r1w #(
      .Width(64),
      .Depth(NumRxRows)
  ) u_rows (
      .clk_i,
      .re_i(rows_re),
      .raddr_i(entry[IdxW-1:0]),
      .rdata_o(row),
      .we_i(rows_we_i),
      .waddr_i(rows_waddr_i),
      .wdata_i(rows_wdata_i)
  );

  // ---- the bitmap

  logic [63:0] high, bitmap;
  logic [23:0] over;
  // What the register file holds of the QP at hand.
  seq_t seq_q;

  assign high = high_valid_q ? row : 64'd0;
  assign over = seq_q.max1 - base_q;

  always_comb begin
    bitmap = 64'd0;
    if (state_q == StSack3 && !over[23]) begin
      bitmap = 64'({high, low_q} >> base_q[5:0]);
      // Bug 23: shifted by one.
      if (bug_i == BugBitmapShifted) begin
        bitmap = bitmap >> 1;
      end
      if (over[22:6] == 17'd0) begin
        bitmap = bitmap & ~({64{1'b1}} << over[5:0]);
      end
    end
  end

  // ---- state machine

  always_comb begin
    state_d = state_q;
    resp_load_o = 1'b0;
    ackev_load_o = 1'b0;
    lowun_we = 1'b0;
    unique case (state_q)
      StIdle: begin
        if (head_valid) begin
          state_d = StSack1;
        end
      end
      StSack1: state_d = StSack2;
      StSack2: state_d = StSack3;
      StSack3: begin
        if (resp_go_i) begin
          resp_load_o = 1'b1;
          lowun_we = !self_q;
          state_d = (ack_with_sack_i && report_i.ackv) ? StSackAck : StIdle;
        end
      end
      StSackAck: begin
        if (ackev_go_i) begin
          ackev_load_o = 1'b1;
          state_d = StIdle;
        end
      end
      default: state_d = StIdle;
    endcase
  end

  always_comb begin
    resp_o = '0;
    if (state_q == StSack3) begin
      resp_o.kind = CtlKindSack;
      resp_o.qp = a_q.qp;
      resp_o.plane = a_q.plane;
      resp_o.psn = a_q.psn;
      resp_o.cack = seq_q.cack1 - 24'd1;
      resp_o.base = base_q;
      resp_o.bitmap = bitmap;
      resp_o.ooo = seq_q.ooo[14:0];
      resp_o.m = a_q.ce ? MarkSkipOnce : MarkNone;
      resp_o.pr = a_q.probe;
      resp_o.entropy = a_q.entropy;
      // Bug 24: the time stamp is lost.
      resp_o.ts = (bug_i == BugTimestampZero) ? 16'd0 : a_q.ts;
      resp_o.tsv = a_q.tsv;
      resp_o.at = a_q.at;
      resp_o.mpr = set_i.dyn ? set_i.mpr : 8'd0;
      resp_o.rcvd = 24'((report_i.rcvd + 32'd255) >> 8);
      resp_o.pen = a_q.pen;
      resp_o.restore = a_q.restore;
    end
  end

  assign ackev_o = '{qp: a_q.qp, plane: a_q.plane, psn: report_i.ackpsn, msn: report_i.emsn,
                     again: a_q.probe};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      state_q <= state_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (pop) begin
      a_q <= head;
      base_q <= base;
      self_q <= self;
    end
    if (state_q != StIdle || head_valid) begin
      seq_q <= seq_we_i ? seq_new_i : seq_i;
    end
    if (state_q == StSack1) begin
      low_valid_q <= entry[IdxW];
    end
    if (state_q == StSack2) begin
      low_q <= low_d;
      high_valid_q <= entry[IdxW];
    end
  end

  logic unused_bits;
  assign unused_bits = ^{unused_count, a_q.ackreq, seq_q.failed, set_i.mpr_dest, set_i.trim_nack,
                         rel, base_next};

  // ---- what always holds

  `MRC_POPS_A_WORD(Req, pop, head_valid)
  `MRC_ASSERT(StateInRange, state_q <= StSackAck,
      "no such state")
  `MRC_ONE_HOT0(OneLoad, {resp_load_o, ackev_load_o},
      "two words leave in one cycle")
  `MRC_ASSERT_IF(ReadsAnEntry, rows_re, entry[IdxW],
      "a row is read that there is not")
  `MRC_ASSERT_IF(IdleWhenInit, init_i, idle_o,
      "a QP is started under its SACK")

endmodule
