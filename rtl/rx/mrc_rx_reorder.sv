// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Delivers WRITE-with-immediate completions in RQMSN order, after every earlier packet has arrived
/// and has been written to host memory. An order event per cycle while immediates come in order;
/// one that waits for an earlier one takes a cycle more, and is delivered in three. The immediates
/// that wait share one pool; with few entries left imm_ok_o asks rx_track to refuse what would have
/// to wait. A peer that has more immediates outstanding than it may is an error of the QP. So is a
/// row of map or ents that its code cannot correct; nothing of such a row is used. rx_reorder
/// neither places data nor acknowledges. Contract: docs/design/blocks/rx/rx_reorder.md.
module mrc_rx_reorder
  import mrc_pkg::*;
  import mrc_math_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned MaxWimm = 32,
    parameter int unsigned NumImms = 16,
    parameter int unsigned Ecc = 0
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input rx_reorder_csr_t csr_i,
    input cfg_t cfg_i,
    output logic cfg_ack_o,
    input logic ord_valid_i,
    output logic ord_ready_o,
    input ord_t ord_i,
    input logic done_valid_i,
    input logic [3:0] done_plane_i,
    output logic cqe_valid_o,
    input logic cqe_ready_i,
    output cqe_t cqe_o,
    output logic qperr_valid_o,
    input logic qperr_ready_i,
    output qperr_t qperr_o,
    output logic imm_ok_o,
    input qp_index_t track_qp_i,
    output logic over_o,  // that QP's peer had more immediates outstanding than it may
    output logic hold_ok_o,
    output logic ord_done_o,  // the head of ord has been popped
    output rx_reorder_pulses_t pulses_o
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned SlotW = $clog2(MaxWimm);
  localparam int unsigned IdxW = $clog2(NumImms);
  localparam int unsigned FreeW = $clog2(NumImms + 1);
  localparam int unsigned PlaneW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1;
  // Entries that are left for what is on its way from rx_track when it is told.
  localparam int unsigned Spare = 8;

  if (NumQps < 2 || (NumQps & (NumQps - 1)) != 0 || MaxWimm < 2 || (MaxWimm & (MaxWimm - 1)) != 0)
  begin : gen_bad_tables
    $error("%m: NumQps = %0d and MaxWimm = %0d must be powers of two, at least 2", NumQps, MaxWimm);
  end
  if (NumImms <= Spare) begin : gen_bad_num_imms
    $error("%m: NumImms = %0d, must be more than %0d", NumImms, Spare);
  end

  typedef enum logic [2:0] {
    StIdle,
    StInit,
    StPut,
    StRead,
    StTest,
    StEnt
  } state_e;

  typedef struct packed {
    logic valid;
    logic [IdxW-1:0] idx;
  } entry_t;

  typedef struct packed {
    logic [31:0] imm;
    logic [31:0] length;
    logic [23:0] psn;
  } ent_t;

  typedef struct packed {
    cqe_t cqe;
    logic [NumPlanes-1:0][11:0] snap;
  } hold_t;

  typedef struct packed {
    logic [15:0] exp;
    logic [7:0] wimm;
    logic [7:0] cnt;
  } qp_t;

  // ---- input, registers, memories

  state_e state_q, state_d;
  ord_t head, o_q;
  logic head_valid, pop, more, more_q;
  logic [1:0] unused_ord_count;
  logic cfg_ack_q, cfg_ack_d, cfg_do, cfg_init;
  tbl_qp_ctx_t cfg_ctx;
  logic [QpW-1:0] cfg_qp, qp;
  logic [SlotW-1:0] init_q, init_d;
  logic cfg_known;
  qp_t s, s_d;
  logic s_we;
  logic [QpW-1:0] s_waddr;
  logic map_re, map_we, ents_re, ents_we;
  logic [QpW+SlotW-1:0] map_raddr, map_waddr;
  entry_t entry, map_wdata;
  ent_t ent;
  logic [IdxW-1:0] ents_waddr, pool_idx;
  logic pool_valid, pool_take, pool_give;
  logic [FreeW-1:0] pool_free;
  logic imm_ok_q;
  logic ord_done_q;
  rx_reorder_pulses_t pulses_q, pulses_d;

  mrc_fifo #(
      .T(ord_t),
      .Depth(2)
  ) u_ord (
      .clk_i,
      .rst_ni,
      .valid_i(ord_valid_i),
      .ready_o(ord_ready_o),
      .data_i(ord_i),
      .valid_o(head_valid),
      .ready_i(pop),
      .data_o(head),
      .count_o(unused_ord_count)
  );

  assign cfg_ctx = tbl_qp_ctx_t'(cfg_i.data);
  assign cfg_qp = cfg_i.index[QpW-1:0];
  assign cfg_do = state_q == StIdle && cfg_i.req && !cfg_ack_q;
  // The responder works since Rtr: the step to Rts must not touch what it knows.
  assign cfg_init = cfg_do && cfg_i.tbl == CfgTableQpCtx && cfg_ctx.state != QpStateRts;
  assign qp = (state_q == StIdle) ? head.qp[QpW-1:0] : o_q.qp[QpW-1:0];

  mrc_rf_1r1w #(
      .Width($bits(qp_t)),
      .Depth(NumQps)
  ) u_qp (
      .clk_i,
      .raddr_i(qp),
      .rdata_o(s),
      .we_i(s_we),
      .waddr_i(s_waddr),
      .wdata_i(s_d)
  );

  mrc_pool #(
      .N(NumImms)
  ) u_pool (
      .clk_i,
      .rst_ni,
      .valid_o(pool_valid),
      .ready_i(pool_take),
      .data_o(pool_idx),
      .valid_i(pool_give),
      .data_i(entry.idx),
      .free_o(pool_free)
  );

  logic map_fixed, map_bad, ents_fixed, ents_bad;

  mrc_ram_ecc #(
      .Width($bits(entry_t)),
      .Depth(NumQps * MaxWimm),
      .Ecc(Ecc),
      .Memory(EccMemoryRxReorderMap)
  ) u_map (
      .clk_i,
      .rst_ni,
      .inject_i(csr_i.ecc_inject),
      .fixed_o(map_fixed),
      .bad_o(map_bad),
      .re_i(map_re),
      .raddr_i(map_raddr),
      .rdata_o(entry),
      .we_i(map_we),
      .waddr_i(map_waddr),
      .wdata_i(map_wdata)
  );

  mrc_ram_ecc #(
      .Width($bits(ent_t)),
      .Depth(NumImms),
      .Ecc(Ecc),
      .Memory(EccMemoryRxReorderEnts)
  ) u_ents (
      .clk_i,
      .rst_ni,
      .inject_i(csr_i.ecc_inject),
      .fixed_o(ents_fixed),
      .bad_o(ents_bad),
      .re_i(ents_re),
      .raddr_i(entry.idx),
      .rdata_o(ent),
      .we_i(ents_we),
      .waddr_i(ents_waddr),
      .wdata_i({o_q.imm, o_q.length, o_q.psn})
  );

  // ---- completions that wait until the lanes have written what came before, then for the host

  logic hold_push, hold_ready, hold_valid, hold_go, written, placed_valid, placed_go, cqe_free;
  hold_t hold_d, hold;
  cqe_t placed;
  // A completion waits for the data of its packets, several hundred cycles.
  localparam int unsigned HoldDepth = 4 * NumPlanes;
  localparam int unsigned HeldW = $clog2(HoldDepth + 1);
  // Completions in both queues: HoldDepth at most, so that neither is full when a word comes. What
  // is written leaves hold at once, so that its counters are looked at before they come round.
  logic [HeldW-1:0] held_q, held_d, hold_count, placed_count;
  logic hold_room, placed_room;
  logic [NumPlanes-1:0][11:0] done_q, done_d;

  mrc_fifo #(
      .T(hold_t),
      .Depth(HoldDepth)
  ) u_hold (
      .clk_i,
      .rst_ni,
      .valid_i(hold_push),
      .ready_o(hold_room),
      .data_i(hold_d),
      .valid_o(hold_valid),
      .ready_i(hold_go),
      .data_o(hold),
      .count_o(hold_count)
  );

  always_comb begin
    written = 1'b1;
    if (hold_valid) begin
      for (int unsigned p = 0; p < NumPlanes; p++) begin
        if (done_q[p] - hold.snap[p] >= 12'd2048) begin
          written = 1'b0;
        end
      end
    end
  end

  // Bug 103: a WRITE of no bytes does not wait for the data of those before it.
  assign hold_go = hold_valid
      && (written || (hold.cqe.length == 32'd0 && bug_i == BugEmptyOvertakes));

  always_comb begin
    done_d = done_q;
    if (done_valid_i) begin
      done_d[done_plane_i[PlaneW-1:0]] = done_q[done_plane_i[PlaneW-1:0]] + 12'd1;
    end
  end

  mrc_fifo #(
      .T(cqe_t),
      .Depth(HoldDepth)
  ) u_placed (
      .clk_i,
      .rst_ni,
      .valid_i(hold_go),
      .ready_o(placed_room),
      .data_i(hold.cqe),
      .valid_o(placed_valid),
      .ready_i(placed_go),
      .data_o(placed),
      .count_o(placed_count)
  );

  assign placed_go = placed_valid && cqe_free;
  assign hold_ready = held_q != HeldW'(HoldDepth);

  always_comb begin
    held_d = held_q;
    if (hold_push && !placed_go) begin
      held_d = held_q + HeldW'(1);
    end else if (placed_go && !hold_push) begin
      held_d = held_q - HeldW'(1);
    end
  end

  mrc_out_reg #(
      .T(cqe_t)
  ) u_cqe (
      .clk_i,
      .rst_ni,
      .load_i(placed_go),
      .data_i(placed),
      .free_o(cqe_free),
      .valid_o(cqe_valid_o),
      .ready_i(cqe_ready_i),
      .data_o(cqe_o)
  );

  // ---- the peer has more outstanding than it may, or a row is bad

  logic qperr_load, qperr_free, over_set, broken;
  qperr_t qperr_d;

  assign qperr_load = over_set || broken;
  assign qperr_d = broken ? '{qp: o_q.qp, status: CqStatusEccError}
                          : '{qp: head.qp, status: CqStatusWimmOverrun};

  mrc_out_reg #(
      .T(qperr_t)
  ) u_qperr (
      .clk_i,
      .rst_ni,
      .load_i(qperr_load),
      .data_i(qperr_d),
      .free_o(qperr_free),
      .valid_o(qperr_valid_o),
      .ready_i(qperr_ready_i),
      .data_o(qperr_o)
  );

  mrc_rf_reset #(
      .Width(1),
      .Depth(NumQps)
  ) u_over (
      .clk_i,
      .rst_ni,
      .raddr_i(track_qp_i[QpW-1:0]),
      .rdata_o(over_o),
      .we_i(cfg_init || over_set),
      .waddr_i(cfg_init ? cfg_qp : head.qp[QpW-1:0]),
      .wdata_i(!cfg_init)
  );

  // ---- state machine

  logic [15:0] ahead;
  logic [23:0] past, head_past;
  logic in_row, behind, reached, next_up;

  assign ahead = head.rqmsn - s.exp;
  assign behind = ahead[15];
  // rqmsn < exp + wimm, without waiting for the sum.
  // Bug 43: one more than agreed is accepted.
  assign in_row = !behind && lt_sum({head.rqmsn, 8'd0}, {s.exp, 8'd0}, {8'd0, s.wimm, 8'd0},
                                    bug_i == BugWimmPlusOne);
  // Bug 26: an immediate does not wait for the data before it.
  assign head_past = head.cack - head.psn;
  assign next_up = head.rqmsn == s.exp && (!head_past[23] || bug_i == BugImmediateOvertakes);
  assign past = o_q.cack - ent.psn;
  assign reached = !past[23] || bug_i == BugImmediateOvertakes;
  assign more = head.adv && s.cnt != 8'd0;

  always_comb begin
    state_d = state_q;
    cfg_ack_d = cfg_ack_q && cfg_i.req;
    init_d = init_q;
    pop = 1'b0;
    s_we = 1'b0;
    s_waddr = qp;
    s_d = s;
    map_re = 1'b0;
    map_raddr = {qp, s.exp[SlotW-1:0]};
    map_we = 1'b0;
    map_waddr = {qp, s.exp[SlotW-1:0]};
    map_wdata = '0;
    ents_re = 1'b0;
    ents_we = 1'b0;
    ents_waddr = entry.idx;
    pool_take = 1'b0;
    pool_give = 1'b0;
    hold_push = 1'b0;
    hold_d.snap = o_q.snap[NumPlanes*12-1:0];
    hold_d.cqe.qp = o_q.qp;
    hold_d.cqe.recv = 1'b1;
    hold_d.cqe.status = CqStatusOk;
    hold_d.cqe.wr_id = 32'd0;
    hold_d.cqe.imm = ent.imm;
    hold_d.cqe.length = ent.length;
    hold_d.cqe.msn = s.exp;
    over_set = 1'b0;
    broken = 1'b0;
    pulses_d = '0;

    unique case (state_q)
      StIdle: begin
        if (cfg_do) begin
          if (cfg_init) begin
            s_we = 1'b1;
            s_waddr = cfg_qp;
            s_d.exp = cfg_ctx.rqmsn;
            s_d.wimm = cfg_ctx.max_wimm_dest;
            s_d.cnt = 8'd0;
            map_re = 1'b1;
            map_raddr = {cfg_qp, SlotW'(0)};
            init_d = '0;
            state_d = StInit;
          end else begin
            cfg_ack_d = 1'b1;
          end
        end else if (head_valid && hold_ready && qperr_free) begin
          pop = 1'b1;
          hold_d.snap = head.snap[NumPlanes*12-1:0];
          hold_d.cqe.qp = head.qp;
          hold_d.cqe.imm = head.imm;
          hold_d.cqe.length = head.length;
          if (more) begin
            state_d = StRead;
          end
          if (head.imm_valid && !behind) begin
            if (!in_row) begin
              hold_push = 1'b1;
              hold_d.cqe.status = CqStatusWimmOverrun;
              hold_d.cqe.msn = head.rqmsn;
              over_set = 1'b1;
            end else if (next_up) begin
              hold_push = 1'b1;
              s_we = 1'b1;
              s_d.exp = s.exp + 16'd1;
              state_d = (s.cnt != 8'd0) ? StRead : StIdle;
            end else begin
              map_re = 1'b1;
              map_raddr = {qp, head.rqmsn[SlotW-1:0]};
              state_d = StPut;
            end
          end
        end
      end

      StInit: begin
        // Nobody knows whose the entry of a bad row is: it is lost until reset.
        pool_give = entry.valid && cfg_known && !map_bad;
        pulses_d = '{ecc_fix: map_fixed && cfg_known, ecc_bad: map_bad && cfg_known};
        map_we = 1'b1;
        map_waddr = {cfg_qp, init_q};
        init_d = init_q + SlotW'(1);
        map_re = 1'b1;
        map_raddr = {cfg_qp, init_d};
        if (init_q == SlotW'(MaxWimm - 1)) begin
          cfg_ack_d = 1'b1;
          state_d = StIdle;
        end
      end

      StPut: begin
        pulses_d = '{ecc_fix: map_fixed, ecc_bad: map_bad};
        broken = map_bad;
        // An RQMSN that is here already is replaced.
        ents_we = entry.valid && !map_bad;
        if (!entry.valid && !map_bad && pool_valid) begin
          pool_take = 1'b1;
          ents_we = 1'b1;
          ents_waddr = pool_idx;
          map_we = 1'b1;
          map_waddr = {qp, o_q.rqmsn[SlotW-1:0]};
          map_wdata = '{valid: 1'b1, idx: pool_idx};
          s_we = 1'b1;
          s_d.cnt = s.cnt + 8'd1;
        end
        state_d = more_q ? StRead : StIdle;
      end

      StRead: begin
        map_re = 1'b1;
        state_d = StTest;
      end

      StTest: begin
        if (!map_bad || qperr_free) begin
          pulses_d = '{ecc_fix: map_fixed, ecc_bad: map_bad};
          broken = map_bad;
          ents_re = entry.valid && !map_bad;
          state_d = (entry.valid && !map_bad) ? StEnt : StIdle;
        end
      end

      StEnt: begin
        if (ents_bad) begin
          broken = qperr_free;
          pulses_d.ecc_bad = qperr_free;
          state_d = qperr_free ? StIdle : StEnt;
        end else if (!reached) begin
          pulses_d.ecc_fix = ents_fixed;
          state_d = StIdle;
        end else if (hold_ready) begin
          pulses_d.ecc_fix = ents_fixed;
          hold_push = 1'b1;
          map_we = 1'b1;
          pool_give = 1'b1;
          s_we = 1'b1;
          s_d.exp = s.exp + 16'd1;
          s_d.cnt = s.cnt - 8'd1;
          state_d = (s.cnt != 8'd1) ? StRead : StIdle;
        end
      end

      default: state_d = StIdle;
    endcase
  end

  mrc_bits #(
      .N(NumQps)
  ) u_known (
      .clk_i,
      .rst_ni,
      .clear_i(1'b0),
      .set_i(state_q == StInit && cfg_ack_d),
      .set_idx_i(cfg_qp),
      .idx_i(cfg_qp),
      .in_o(cfg_known)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      cfg_ack_q <= 1'b0;
      init_q <= '0;
      done_q <= '0;
      held_q <= '0;
      imm_ok_q <= 1'b1;
      ord_done_q <= 1'b0;
      pulses_q <= '0;
    end else begin
      state_q <= state_d;
      cfg_ack_q <= cfg_ack_d;
      init_q <= init_d;
      done_q <= done_d;
      held_q <= held_d;
      imm_ok_q <= pool_free > FreeW'(Spare);
      ord_done_q <= pop;
      pulses_q <= pulses_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (pop) begin
      o_q <= head;
      more_q <= more;
    end
  end

  assign cfg_ack_o = cfg_ack_q;
  assign imm_ok_o = imm_ok_q;
  assign hold_ok_o = hold_ready;
  assign ord_done_o = ord_done_q;
  assign pulses_o = pulses_q;

  logic unused_bits;
  assign unused_bits = ^{unused_ord_count, hold_count, hold_room, placed_count, placed_room,
                         track_qp_i, cfg_i.index, cfg_ctx.srv6, cfg_ctx.dip, cfg_ctx.mpr_dest,
                         cfg_ctx.dest, cfg_ctx.dmac, cfg_ctx.msn, cfg_ctx.rq_psn, cfg_ctx.max_wimm,
                         cfg_ctx.sq_psn, cfg_ctx.retry_exp, cfg_ctx.timeout,
                         cfg_ctx.pkey, cfg_ctx.retry_linear, cfg_ctx.backup, cfg_ctx.dqpn,
                         cfg_ctx.profile, cfg_ctx.mpr, cfg_ctx.rsvd13, cfg_ctx.cc,
                         cfg_ctx.dyn_mpr, cfg_ctx.svc_time, cfg_ctx.trim_nack, cfg_ctx.ts,
                         cfg_ctx.encap, cfg_ctx.mtu, o_q.imm_valid, o_q.adv, done_plane_i, ahead,
                         past, head_past};

  // ---- what always holds

  `MRC_NEVER_FULL(Hold, hold_push, hold_room)
  `MRC_NEVER_FULL(Placed, hold_go, placed_room)
  `MRC_POPS_A_WORD(Ord, pop, head_valid)
  `MRC_ASSERT(HeldCount, 32'(held_q) == 32'(hold_count) + 32'(placed_count),
      "completions got lost between the queues")
  `MRC_ASSERT(StateInRange, state_q <= StEnt,
      "no such state")
  `MRC_ASSERT_IF(WithinWimm, pop && head.imm_valid && !behind && in_row, ahead < 16'(s.wimm),
      "more immediates than agreed")
  `MRC_ASSERT_IF(CountInRange, state_q != StIdle, state_q == StInit || 32'(s.cnt) <= MaxWimm,
      "more immediates wait than there is room for")
  `MRC_ASSERT_IF(CountNotBelow0, state_q == StEnt && pool_give, s.cnt != 8'd0,
      "the count of immediates goes below 0")
  `MRC_ASSERT_IF(GivesAnEntry, pool_give, entry.valid,
      "an entry is given back that there is not")
  `MRC_ASSERT_IF(TakesFree, pool_take, !entry.valid,
      "an entry is taken over another one")
  `MRC_ASSERT_IF(DonePlane, done_valid_i, 32'(done_plane_i) < NumPlanes,
      "data of no plane are done")
  `MRC_ASSERT_IF(InitOfAQp, state_q == StInit, cfg_i.req,
      "a QP is started that nobody asked for")

endmodule
