// SPDX-License-Identifier: Apache-2.0

/// The registers per QP of mrc_tx_segment: each machine of it writes its own, all read them as they
/// are before this cycle's writes. Combinational reads; write effect at the end of the cycle. A
/// context reaches head, hrow, idx and psn by way of `fresh`: until the first packet is sent they
/// are those of the context, so that Emit alone writes the register file. It does not hold what
/// only one machine knows.
module mrc_tx_segment_regs
  import mrc_pkg::*;
  import mrc_tx_segment_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned NumWqes = 24,
    parameter int unsigned Reads = 7,
    localparam int unsigned QpW = $clog2(NumQps),
    localparam int unsigned IdxW = $clog2(NumWqes)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [Reads-1:0][QpW-1:0] raddr_i,
    output qp_regs_t [Reads-1:0] regs_o,
    input intake_wr_t intake_i,
    input progress_wr_t progress_i,
    input emit_wr_t emit_i,
    input logic parks_i,  // of the QP of emit_i: the controller has refused it
    input cfg_wr_t cfg_i,
    output logic [NumQps-1:0] sends_o  // it has something to send, and its turn will come
);

  typedef struct packed {
    logic [15:0] msn;
    logic [IdxW-1:0] number;
    logic [23:0] sq_psn;
    logic [2:0] mtu;
    logic [7:0] mpr_max;
    logic [7:0] profile;
    logic [7:0] max_wimm;
    logic ts;
    logic cc;
    logic [7:0] dest;
  } context_t;

  logic [NumQps-1:0] failed_q, failed_d, fresh_q, fresh_d;
  logic [NumQps-1:0] active_q, active_d, held_q, held_d;
  logic [NumQps-1:0] parked_q, parked_d;
  logic [QpW-1:0] cfg_qp, emit_qp;
  assign cfg_qp = cfg_i.qp[QpW-1:0];
  assign emit_qp = emit_i.qp[QpW-1:0];

  always_comb begin
    failed_d = failed_q;
    fresh_d = fresh_q;
    active_d = active_q;
    held_d = held_q;
    parked_d = parked_q;
    if (emit_i.hold) begin
      held_d[emit_qp] = 1'b1;
    end
    if (progress_i.release_held) begin
      held_d[progress_i.c1_qp[QpW-1:0]] = 1'b0;
    end
    if (emit_i.inactive) begin
      active_d[emit_qp] = 1'b0;
    end
    if (emit_i.inactive || emit_i.we) begin
      parked_d[emit_qp] = 1'b0;
    end
    if (parks_i) begin
      parked_d[emit_qp] = 1'b1;
    end
    if (intake_i.go) begin
      active_d[intake_i.qp[QpW-1:0]] = 1'b1;
    end
    if (progress_i.go) begin
      active_d[progress_i.qp[QpW-1:0]] = 1'b1;
    end
    if (emit_i.we) begin
      fresh_d[emit_qp] = 1'b0;
    end
    if (cfg_i.ctx_we) begin
      failed_d[cfg_qp] = 1'b0;
      held_d[cfg_qp] = 1'b0;
      fresh_d[cfg_qp] = 1'b1;
    end
    if (progress_i.fail) begin
      failed_d[progress_i.qp[QpW-1:0]] = 1'b1;
    end
    if (cfg_i.fail) begin
      failed_d[cfg_qp] = 1'b1;
    end
  end

  assign sends_o = active_q & ~parked_q;

  logic unused_ok;
  assign unused_ok = &{1'b0, cfg_i, intake_i, progress_i, emit_i};

  logic [Reads-1:0] rts;
  logic [Reads-1:0][15:0] tail, una_msn;
  logic [Reads-1:0][31:0] window;
  logic [Reads-1:0][71+IdxW:0] sent;
  logic [Reads-1:0][7:0] wout;
  context_t [Reads-1:0] ctx;
  context_t ctx_wdata;

  mrc_rf_reset #(
      .Width(1),
      .Depth(NumQps),
      .Reads(Reads)
  ) u_rts (
      .clk_i,
      .rst_ni,
      .raddr_i,
      .rdata_o(rts),
      .we_i(cfg_i.state_we),
      .waddr_i(cfg_qp),
      .wdata_i(cfg_i.row.state == QpStateRts)
  );

  mrc_rf_nr1w #(
      .Width(16),
      .Depth(NumQps),
      .Reads(Reads)
  ) u_tail (
      .clk_i,
      .raddr_i,
      .rdata_o(tail),
      .we_i(intake_i.we),
      .waddr_i(intake_i.qp[QpW-1:0]),
      .wdata_i(intake_i.tail)
  );

  mrc_rf_nr1w #(
      .Width(16),
      .Depth(NumQps),
      .Reads(Reads)
  ) u_una_msn (
      .clk_i,
      .raddr_i,
      .rdata_o(una_msn),
      .we_i(progress_i.msn_we),
      .waddr_i(progress_i.qp[QpW-1:0]),
      .wdata_i(progress_i.una_msn)
  );

  mrc_rf_nr1w #(
      .Width(32),
      .Depth(NumQps),
      .Reads(Reads)
  ) u_window (
      .clk_i,
      .raddr_i,
      .rdata_o(window),
      .we_i(progress_i.una_we),
      .waddr_i(progress_i.qp[QpW-1:0]),
      .wdata_i({progress_i.una, progress_i.mpr})
  );

  mrc_rf_nr1w #(
      .Width(72 + IdxW),
      .Depth(NumQps),
      .Reads(Reads)
  ) u_sent (
      .clk_i,
      .raddr_i,
      .rdata_o(sent),
      .we_i(emit_i.we),
      .waddr_i(emit_qp),
      .wdata_i({emit_i.head, emit_i.hrow[IdxW-1:0], emit_i.idx, emit_i.psn, emit_i.wsent})
  );

  // Immediates completed so far. No completion is under way while a context is written.
  mrc_rf_nr1w #(
      .Width(8),
      .Depth(NumQps),
      .Reads(Reads)
  ) u_wout (
      .clk_i,
      .raddr_i,
      .rdata_o(wout),
      .we_i(cfg_i.ctx_we || progress_i.wout_we),
      .waddr_i(cfg_i.ctx_we ? cfg_qp : progress_i.c1_qp[QpW-1:0]),
      .wdata_i(cfg_i.ctx_we ? 8'd0 : progress_i.wout)
  );

  mrc_rf_nr1w #(
      .Width($bits(context_t)),
      .Depth(NumQps),
      .Reads(Reads)
  ) u_ctx (
      .clk_i,
      .raddr_i,
      .rdata_o(ctx),
      .we_i(cfg_i.ctx_we),
      .waddr_i(cfg_qp),
      .wdata_i(ctx_wdata)
  );

  assign ctx_wdata = '{
          msn: cfg_i.row.msn,
          number: cfg_i.number[IdxW-1:0],
          sq_psn: cfg_i.row.sq_psn,
          mtu: cfg_i.row.mtu,
          mpr_max: cfg_i.row.mpr,
          profile: cfg_i.row.profile,
          max_wimm: cfg_i.row.max_wimm,
          ts: cfg_i.row.ts,
          cc: cfg_i.row.cc,
          dest: cfg_i.row.dest
      };

  for (genvar i = 0; i < Reads; i++) begin : gen_read
    always_comb begin
      regs_o[i].rts = rts[i];
      regs_o[i].active = active_q[raddr_i[i]];
      regs_o[i].failed = failed_q[raddr_i[i]];
      regs_o[i].fresh = fresh_q[raddr_i[i]];
      regs_o[i].held = held_q[raddr_i[i]];
      regs_o[i].wout = wout[i];
      regs_o[i].tail = tail[i];
      regs_o[i].una_msn = una_msn[i];
      {regs_o[i].una, regs_o[i].mpr} = window[i];
      regs_o[i].hrow = '0;
      {regs_o[i].head, regs_o[i].hrow[IdxW-1:0], regs_o[i].idx, regs_o[i].psn, regs_o[i].wsent} =
          regs_o[i].fresh ? {ctx[i].msn, ctx[i].number, 24'd0, ctx[i].sq_psn, 8'd0} : sent[i];
      regs_o[i].mtu = ctx[i].mtu;
      regs_o[i].mpr_max = ctx[i].mpr_max;
      regs_o[i].profile = ctx[i].profile;
      regs_o[i].max_wimm = ctx[i].max_wimm;
      regs_o[i].ts = ctx[i].ts;
      regs_o[i].cc = ctx[i].cc;
      regs_o[i].dest = ctx[i].dest;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      failed_q <= '0;
      fresh_q <= '0;
      active_q <= '0;
      held_q <= '0;
      parked_q <= '0;
    end else begin
      failed_q <= failed_d;
      fresh_q <= fresh_d;
      active_q <= active_d;
      held_q <= held_d;
      parked_q <= parked_d;
    end
  end

endmodule
