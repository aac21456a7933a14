// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

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
    parameter int unsigned NumDests = 4,
    localparam int unsigned QpW = $clog2(NumQps),
    localparam int unsigned IdxW = $clog2(NumWqes),
    localparam int unsigned DestW = $clog2(NumDests)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [Reads-1:0][QpW-1:0] raddr_i,
    output qp_regs_t [Reads-1:0] regs_o,
    input intake_wr_t intake_i,
    input logic [QpW-1:0] wqe_qp_i,  // who goes on with its go
    input progress_wr_t progress_i,
    input logic release_go_i,  // with its go: of c1_qp, or else of head_qp
    input logic [QpW-1:0] head_qp_i,
    input emit_wr_t emit_i,
    input logic parks_i,  // of the QP of emit_i: the controller has refused it
    input cfg_wr_t cfg_i,
    input logic [QpW-1:0] sends_qp_i,
    output logic sends_o  // of that QP: it has something to send, and its turn will come
);

  typedef struct packed {
    logic [15:0] msn;
    logic [IdxW-1:0] number;
    logic [23:0] sq_psn;
    logic [2:0] mtu;
    logic [7:0] mpr_max;
    logic [5:0] profile;
    logic [7:0] max_wimm;
    logic ts;
    logic cc;
    logic [DestW-1:0] dest;
  } context_t;

  logic [QpW-1:0] cfg_qp, emit_qp;
  assign cfg_qp = cfg_i.qp[QpW-1:0];
  assign emit_qp = emit_i.qp[QpW-1:0];

  // ---- flags

  // Behind the ports of the machines: those that write elsewhere than they read, and sends.
  localparam int unsigned Ports = Reads + 4;
  localparam int unsigned WrEmit = Reads;
  localparam int unsigned WrWqe = Reads + 1;
  localparam int unsigned WrUpd = Reads + 2;
  localparam int unsigned RdSends = Reads + 3;
  typedef logic [$clog2(Ports)-1:0] port_t;

  logic [Ports-1:0][QpW-1:0] active_qp;
  logic [Ports-1:0] active;
  logic [WrEmit:0][1:0] waits;  // held, fresh
  logic [Reads-1:0] failed;
  logic parked;
  port_t go_port;
  logic [2:0] waits_port;

  assign active_qp = {sends_qp_i, head_qp_i, wqe_qp_i, emit_qp, raddr_i};

  always_comb begin
    go_port = port_t'(WrUpd);
    if (intake_i.go) begin
      go_port = port_t'(WrWqe);
    end else if (release_go_i) begin
      go_port = port_t'(RdDone);
    end
  end

  mrc_flags #(
      .Width(1),
      .Depth(NumQps),
      .Reads(Ports)
  ) u_active (
      .clk_i,
      .rst_ni,
      .raddr_i(active_qp),
      .flags_o(active),
      .a_port_i(port_t'(WrEmit)),
      .a_set_i(1'b0),
      .a_clear_i(emit_i.inactive),
      .b_port_i(go_port),
      .b_set_i(intake_i.go || progress_i.go),
      .b_clear_i(1'b0)
  );

  // A context comes while nothing completes.
  assign waits_port = cfg_i.ctx_we ? 3'(RdCfg) : 3'(RdDone);

  mrc_flags #(
      .Width(2),
      .Depth(NumQps),
      .Reads(WrEmit + 1)
  ) u_waits (
      .clk_i,
      .rst_ni,
      .raddr_i({emit_qp, raddr_i}),
      .flags_o(waits),
      .a_port_i(3'(WrEmit)),
      .a_set_i({emit_i.hold, 1'b0}),
      .a_clear_i({1'b0, emit_i.we}),
      .b_port_i(waits_port),
      .b_set_i({1'b0, cfg_i.ctx_we}),
      .b_clear_i({progress_i.release_held || cfg_i.ctx_we, 1'b0})
  );

  mrc_rf_reset #(
      .Width(1),
      .Depth(NumQps),
      .Reads(Reads)
  ) u_failed (
      .clk_i,
      .rst_ni,
      .raddr_i,
      .rdata_o(failed),
      .we_i(cfg_i.ctx_we || cfg_i.fail || progress_i.fail),
      .waddr_i(progress_i.fail ? progress_i.qp[QpW-1:0] : cfg_qp),
      .wdata_i(!cfg_i.ctx_we)
  );

  mrc_rf_reset #(
      .Width(1),
      .Depth(NumQps)
  ) u_parked (
      .clk_i,
      .rst_ni,
      .raddr_i(sends_qp_i),
      .rdata_o(parked),
      .we_i(emit_i.inactive || emit_i.we || parks_i),
      .waddr_i(emit_qp),
      .wdata_i(parks_i)
  );

  assign sends_o = active[RdSends] && !parked;

  logic unused_ok;
  assign unused_ok = &{1'b0, cfg_i, intake_i, progress_i, emit_i, active, waits[WrEmit]};

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
          dest: cfg_i.row.dest[DestW-1:0]
      };

  for (genvar i = 0; i < Reads; i++) begin : gen_read
    always_comb begin
      regs_o[i].rts = rts[i];
      regs_o[i].active = active[i];
      regs_o[i].failed = failed[i];
      {regs_o[i].held, regs_o[i].fresh} = waits[i];
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
      regs_o[i].dest = 16'(ctx[i].dest);
    end
  end

  // ---- what always holds

  `MRC_ONE_HOT0(OneFails, {progress_i.fail, cfg_i.ctx_we || cfg_i.fail},
      "a QP fails while a table is written")
  `MRC_ONE_HOT0(OneReleases, {progress_i.release_held, cfg_i.ctx_we},
      "an immediate completes while a context is written")
  `MRC_ASSERT_IF(ReleasesAnother, release_go_i, progress_i.go,
      "a QP goes on that does not begin")

endmodule
