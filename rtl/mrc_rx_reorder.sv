// SPDX-License-Identifier: Apache-2.0

/// Delivers WRITE-with-immediate completions in RQMSN order, after every earlier packet has arrived
/// and has been written to host memory. One order event at a time: one cycle, and two per
/// completion it releases and two for the test that ends the row. A peer that has more immediates
/// outstanding than it may is an error of the QP. It neither places data nor acknowledges.
/// Contract: docs/blocks/rx_reorder.md.
module mrc_rx_reorder
  import mrc_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    parameter int unsigned MaxWimm = 32
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input logic cfg_req_i,
    input logic [3:0] cfg_table_i,
    input logic [15:0] cfg_index_i,
    input logic [511:0] cfg_data_i,
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
    output qperr_t qperr_o
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned EntW = $clog2(MaxWimm);
  localparam int unsigned PlaneW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1;

  if (NumQps < 2 || (NumQps & (NumQps - 1)) != 0 || MaxWimm < 2 || (MaxWimm & (MaxWimm - 1)) != 0)
  begin : gen_bad_tables
    $error("%m: NumQps = %0d and MaxWimm = %0d must be powers of two, at least 2", NumQps, MaxWimm);
  end

  typedef enum logic [1:0] {
    StIdle,
    StInit,
    StRead,
    StTest
  } state_e;

  typedef struct packed {
    logic valid;
    logic [31:0] imm;
    logic [31:0] length;
    logic [23:0] psn;
  } ent_t;

  typedef struct packed {
    cqe_t cqe;
    logic [NumPlanes-1:0][7:0] snap;
  } hold_t;

  typedef struct packed {
    logic [15:0] exp;
    logic [7:0] wimm;
  } qp_t;

  // ---- input, registers, memories

  state_e state_q, state_d;
  ord_t head, o_q;
  logic head_valid, pop;
  logic [1:0] unused_ord_count;
  logic cfg_ack_q, cfg_ack_d, cfg_do, cfg_init;
  tbl_qp_ctx_t cfg_ctx;
  logic [QpW-1:0] cfg_qp, init_qp_q, qp;
  logic [EntW-1:0] init_q, init_d;
  qp_t s, s_d;
  logic s_we;
  logic [QpW-1:0] s_waddr;
  ent_t ent, ent_d;
  logic ent_re, ent_we;
  logic [QpW+EntW-1:0] ent_raddr, ent_waddr;

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

  assign cfg_ctx = tbl_qp_ctx_t'(cfg_data_i);
  assign cfg_qp = cfg_index_i[QpW-1:0];
  assign cfg_do = state_q == StIdle && cfg_req_i && !cfg_ack_q;
  // The responder works since Rtr: the step to Rts must not touch what it knows.
  assign cfg_init = cfg_do && cfg_table_i == CfgTableQpCtx && cfg_ctx.state != QpStateRts;
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

  mrc_ram_1r1w #(
      .Width($bits(ent_t)),
      .Depth(NumQps * MaxWimm)
  ) u_ents (
      .clk_i,
      .re_i(ent_re),
      .raddr_i(ent_raddr),
      .rdata_o(ent),
      .we_i(ent_we),
      .waddr_i(ent_waddr),
      .wdata_i(ent_d)
  );

  // ---- completions that wait until the lanes have written what came before

  logic hold_push, hold_ready, hold_valid, hold_go, placed, cqe_free;
  hold_t hold_d, hold;
  // A completion waits for the data of its packets, several hundred cycles.
  localparam int unsigned HoldDepth = 4 * NumPlanes;
  logic [$clog2(HoldDepth+1)-1:0] unused_hold_count;
  logic [NumPlanes-1:0][7:0] done_q, done_d;

  mrc_fifo #(
      .T(hold_t),
      .Depth(HoldDepth)
  ) u_hold (
      .clk_i,
      .rst_ni,
      .valid_i(hold_push),
      .ready_o(hold_ready),
      .data_i(hold_d),
      .valid_o(hold_valid),
      .ready_i(hold_go),
      .data_o(hold),
      .count_o(unused_hold_count)
  );

  always_comb begin
    placed = 1'b1;
    if (hold_valid) begin
      for (int unsigned p = 0; p < NumPlanes; p++) begin
        if (done_q[p] - hold.snap[p] >= 8'd128) begin
          placed = 1'b0;
        end
      end
    end
  end

  assign hold_go = hold_valid && cqe_free && placed;

  always_comb begin
    done_d = done_q;
    if (done_valid_i) begin
      done_d[done_plane_i[PlaneW-1:0]] = done_q[done_plane_i[PlaneW-1:0]] + 8'd1;
    end
  end

  mrc_out_reg #(
      .T(cqe_t)
  ) u_cqe (
      .clk_i,
      .rst_ni,
      .load_i(hold_go),
      .data_i(hold.cqe),
      .free_o(cqe_free),
      .valid_o(cqe_valid_o),
      .ready_i(cqe_ready_i),
      .data_o(cqe_o)
  );

  // ---- the peer has more outstanding than it may

  logic qperr_load, qperr_free;
  qperr_t qperr_d;

  assign qperr_d = '{qp: head.qp, status: CqStatusWimmOverrun};

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

  // ---- state machine

  logic [15:0] ahead;
  logic [23:0] past;
  logic in_row;

  assign ahead = head.rqmsn - s.exp;
  // Bug 43: one more than agreed is accepted.
  assign in_row = ahead < {8'd0, s.wimm} || (bug_i == 8'd43 && ahead == {8'd0, s.wimm});
  assign past = o_q.cack - ent.psn;

  always_comb begin
    state_d = state_q;
    cfg_ack_d = cfg_ack_q && cfg_req_i;
    init_d = init_q;
    pop = 1'b0;
    s_we = 1'b0;
    s_waddr = qp;
    s_d.exp = s.exp + 16'd1;
    s_d.wimm = s.wimm;
    ent_re = 1'b0;
    ent_raddr = {qp, s.exp[EntW-1:0]};
    ent_we = 1'b0;
    ent_waddr = {qp, s.exp[EntW-1:0]};
    ent_d = '0;
    hold_push = 1'b0;
    hold_d.snap = o_q.snap[NumPlanes*8-1:0];
    hold_d.cqe.qp = o_q.qp;
    hold_d.cqe.recv = 1'b1;
    hold_d.cqe.status = CqStatusOk;
    hold_d.cqe.wr_id = 32'd0;
    hold_d.cqe.imm = ent.imm;
    hold_d.cqe.length = ent.length;
    hold_d.cqe.msn = s.exp;
    qperr_load = 1'b0;

    unique case (state_q)
      StIdle: begin
        if (cfg_do) begin
          if (cfg_init) begin
            s_we = 1'b1;
            s_waddr = cfg_qp;
            s_d.exp = cfg_ctx.rqmsn;
            s_d.wimm = cfg_ctx.max_wimm_dest;
            init_d = '0;
            state_d = StInit;
          end else begin
            cfg_ack_d = 1'b1;
          end
        end else if (head_valid && hold_ready && qperr_free) begin
          pop = 1'b1;
          if (head.imm_valid) begin
            if (in_row) begin
              ent_we = 1'b1;
              ent_waddr = {qp, head.rqmsn[EntW-1:0]};
              ent_d = '{valid: 1'b1, imm: head.imm, length: head.length, psn: head.psn};
            end else if (!ahead[15]) begin
              hold_push = 1'b1;
              hold_d.snap = head.snap[NumPlanes*8-1:0];
              hold_d.cqe.qp = head.qp;
              hold_d.cqe.status = CqStatusWimmOverrun;
              hold_d.cqe.imm = head.imm;
              hold_d.cqe.length = head.length;
              hold_d.cqe.msn = head.rqmsn;
              qperr_load = 1'b1;
            end
          end
          if (head.adv) begin
            state_d = StRead;
          end
        end
      end

      StInit: begin
        ent_we = 1'b1;
        ent_waddr = {init_qp_q, init_q};
        init_d = init_q + EntW'(1);
        if (init_q == EntW'(MaxWimm - 1)) begin
          cfg_ack_d = 1'b1;
          state_d = StIdle;
        end
      end

      StRead: begin
        ent_re = 1'b1;
        state_d = StTest;
      end

      StTest: begin
        // Bug 26: an immediate does not wait for the data before it.
        if (ent.valid && (!past[23] || bug_i == 8'd26)) begin
          if (hold_ready) begin
            hold_push = 1'b1;
            ent_we = 1'b1;
            s_we = 1'b1;
            state_d = StRead;
          end
        end else begin
          state_d = StIdle;
        end
      end

      default: state_d = StIdle;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      cfg_ack_q <= 1'b0;
      init_q <= '0;
      done_q <= '0;
    end else begin
      state_q <= state_d;
      cfg_ack_q <= cfg_ack_d;
      init_q <= init_d;
      done_q <= done_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (pop) begin
      o_q <= head;
    end
    if (cfg_do) begin
      init_qp_q <= cfg_qp;
    end
  end

  assign cfg_ack_o = cfg_ack_q;

  logic unused_bits;
  assign unused_bits = ^{unused_ord_count, unused_hold_count, cfg_index_i, cfg_ctx, o_q,
      done_plane_i, head.snap, past};

endmodule
