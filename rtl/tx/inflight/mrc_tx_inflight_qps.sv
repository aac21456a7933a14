// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// What mrc_tx_inflight knows of each QP but for its newest packet
/// (docs/design/blocks/tx/inflight/tx_inflight.md): the registers that the main machine writes,
/// flags, and which QP is in which list. The operations say what is to change; here it is written
/// down. A table row and the end of a QP are carried out here, and so is Reclaim: the blocks that a
/// QP gives back, one per cycle. Registers are read in the same cycle for several QPs: that of the
/// operation (cur), of the next visit (vis), of the table row (cfg), of the heads of list, rq, rec
/// and ctl. Writes take effect at the end of the cycle.
module mrc_tx_inflight_qps
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned NumDests = 4,
    localparam int unsigned QpW = $clog2(NumQps)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input logic [31:0] tick_i,

    input logic [QpW-1:0] cur_qp_i,
    output view_t cur_o,
    output logic [23:0] rtx_lo_o,
    output logic [19:0] base_o,
    input logic [QpW-1:0] vis_qp_i,
    output view_t vis_o,
    input logic [QpW-1:0] cfg_qp_i,
    output view_t cfg_o,
    input logic [QpW-1:0] list_qp_i,
    output logic [23:0] list_lo_o,
    input logic [QpW-1:0] rq_qp_i,
    output logic [19:0] rq_base_o,
    input logic [QpW-1:0] rec_qp_i,
    output flags_t rec_is_o,
    output logic [19:0] rec_base_o,
    input logic [QpW-1:0] ctl_qp_i,
    output logic ctl_live_o,

    // Record.
    input recording_t recording_i,
    input logic [19:0] rec_block_i,

    // The cycle of the main machine: sel is the QP that it changes, one of cur, vis and cfg.
    input state_e state_i,
    input op_t op_i,
    input tbl_qp_ctx_t ctx_i,
    input change_t change_i,
    input logic [QpW-1:0] sel_qp_i,
    input view_t sel_i,
    input logic [27:0] sel_fsent_i,
    input logic [23:0] cur_nxt_i,
    output logic over_o,  // sel is over: its bytes go back to the controller
    output lists_t lists_o,

    // Reclaim.
    output mem_t mem_o,
    output logic give_o,  // the block whose number was read goes back to the pool
    output logic freed_o,
    output logic reclaim_end_o
);

  // Flags that the main machine alone writes, and those that Record writes, too.
  typedef struct packed {
    logic live;
    logic armed;
    logic dup;
    logic stays;
    logic cc;
  } main_t;

  typedef struct packed {
    logic fresh;
    logic held;
    logic kept;
  } both_t;

  logic freed_q, freed_d;

  // ---- registers

  localparam int unsigned NotKept = 16 - $clog2(NumDests);  // bits of dest
  localparam int unsigned RowW = $bits(qp_t) - NotKept;

  qp_t [2:0] rows;
  logic [2:0][RowW-1:0] kept;
  qp_t row_d;
  logic row_we, rtx_lo_we, base_we;
  logic [23:0] rtx_lo_d;
  logic [2:0][19:0] bases;
  logic [19:0] base_d;

  mrc_rf_nr1w #(
      .Width(RowW),
      .Depth(NumQps),
      .Reads(3)
  ) u_row (
      .clk_i,
      .raddr_i({cfg_qp_i, vis_qp_i, cur_qp_i}),
      .rdata_o(kept),
      .we_i(row_we),
      .waddr_i(sel_qp_i),
      .wdata_i(row_d[RowW-1:0])
  );

  for (genvar i = 0; i < 3; i++) begin : gen_row
    assign rows[i] = qp_t'({{NotKept{1'b0}}, kept[i]});
  end

  // No packet that waits to be sent again is before rtx_lo.
  mrc_rf_2r1w #(
      .Width(24),
      .Depth(NumQps)
  ) u_rtx_lo (
      .clk_i,
      .raddr0_i(cur_qp_i),
      .rdata0_o(rtx_lo_o),
      .raddr1_i(list_qp_i),
      .rdata1_o(list_lo_o),
      .we_i(rtx_lo_we),
      .waddr_i(sel_qp_i),
      .wdata_i(rtx_lo_d)
  );

  mrc_rf_nr1w #(
      .Width(20),
      .Depth(NumQps),
      .Reads(3)
  ) u_base (
      .clk_i,
      .raddr_i({rec_qp_i, rq_qp_i, cur_qp_i}),
      .rdata_o(bases),
      .we_i(base_we),
      .waddr_i((state_i == StReclaim) ? cur_qp_i : rec_qp_i),
      .wdata_i(base_d)
  );

  assign {rec_base_o, rq_base_o, base_o} = bases;

  main_t [4:0] main;
  main_t main_d;
  logic main_we, rtx, rtx_we;

  mrc_rf_reset #(
      .Width($bits(main_t)),
      .Depth(NumQps),
      .Reads(5)
  ) u_main (
      .clk_i,
      .rst_ni,
      .raddr_i({ctl_qp_i, rec_qp_i, cfg_qp_i, vis_qp_i, cur_qp_i}),
      .rdata_o(main),
      .we_i(main_we),
      .waddr_i(sel_qp_i),
      .wdata_i(main_d)
  );

  // The QP is in list.
  mrc_rf_reset #(
      .Width(1),
      .Depth(NumQps)
  ) u_rtx (
      .clk_i,
      .rst_ni,
      .raddr_i(sel_qp_i),
      .rdata_o(rtx),
      .we_i(rtx_we),
      .waddr_i(sel_qp_i),
      .wdata_i(!change_i.delist)
  );

  // The QP is in rq.
  logic [2:0] inq;
  logic inq_we;

  mrc_rf_reset #(
      .Width(1),
      .Depth(NumQps),
      .Reads(3)
  ) u_inq (
      .clk_i,
      .rst_ni,
      .raddr_i({cfg_qp_i, vis_qp_i, cur_qp_i}),
      .rdata_o(inq),
      .we_i(inq_we),
      .waddr_i(op_i.reclaim ? rq_qp_i : sel_qp_i),
      .wdata_i(!op_i.reclaim)
  );

  both_t [3:0] both;
  both_t main_set, main_clear, rec_set, rec_clear;

  mrc_flags #(
      .Width($bits(both_t)),
      .Depth(NumQps),
      .Reads(4)
  ) u_both (
      .clk_i,
      .rst_ni,
      .raddr_i({rec_qp_i, cfg_qp_i, vis_qp_i, cur_qp_i}),
      .flags_o(both),
      .a_port_i(op_i.ctx_new ? 2'd2 : 2'd0),
      .a_set_i(main_set),
      .a_clear_i(main_clear),
      .b_port_i(2'd3),
      .b_set_i(rec_set),
      .b_clear_i(rec_clear)
  );

  flags_t cur_is, vis_is, cfg_is;
  assign cur_is = '{
          live: main[0].live,
          fresh: both[0].fresh,
          held: both[0].held,
          inq: inq[0],
          armed: main[0].armed,
          dup: main[0].dup,
          stays: main[0].stays,
          cc: main[0].cc,
          default: 1'b0
      };
  assign vis_is = '{
          live: main[1].live,
          held: both[1].held,
          inq: inq[1],
          armed: main[1].armed,
          dup: main[1].dup,
          stays: main[1].stays,
          cc: main[1].cc,
          default: 1'b0
      };
  assign cfg_is = '{
          live: main[2].live,
          held: both[2].held,
          inq: inq[2],
          armed: main[2].armed,
          dup: main[2].dup,
          stays: main[2].stays,
          cc: main[2].cc,
          default: 1'b0
      };
  assign rec_is_o = '{
          live: main[3].live,
          fresh: both[3].fresh,
          held: both[3].held,
          kept: both[3].kept,
          cc: main[3].cc,
          default: 1'b0
      };
  assign cur_o = '{is: cur_is, row: rows[0]};
  assign vis_o = '{is: vis_is, row: rows[1]};
  assign cfg_o = '{is: cfg_is, row: rows[2]};
  assign ctl_live_o = main[4].live;

  // ---- Reclaim

  logic reclaim_end;
  logic [19:0] end_block, newest, base_next;
  assign newest = (cur_nxt_i[3:0] == 4'd0) ? cur_nxt_i[23:4] - 20'd1 : cur_nxt_i[23:4];
  // The newest packet may have to be sent again for the sake of its ACK.
  always_comb begin
    if (!cur_is.live) begin
      end_block = (cur_nxt_i[3:0] == 4'd0) ? cur_nxt_i[23:4] : cur_nxt_i[23:4] + 20'd1;
    end else begin
      end_block = (rows[0].una == cur_nxt_i) ? newest : rows[0].una[23:4];
    end
  end
  assign base_next = base_o + 20'd1;
  assign give_o = state_i == StReclaim && base_o != end_block;
  assign reclaim_end = state_i == StReclaim && (base_o == end_block || base_next == end_block);
  assign reclaim_end_o = reclaim_end;
  assign freed_d = give_o || recording_i.reuse || change_i.freed;
  assign freed_o = freed_q;

  always_comb begin
    if (state_i == StReclaim) begin
      base_we = give_o && !(bug_i == BugBlockGivenTwice && reclaim_end);
      base_d = base_next;
    end else begin
      base_we = recording_i.go && (rec_is_o.fresh || recording_i.reuse);
      base_d = rec_block_i;
    end
  end

  always_comb begin
    mem_o = '0;
    if (state_i == StReclaim) begin
      mem_o.map_re = !reclaim_end;
      mem_o.map_block = base_next;
    end
  end

  // ---- changes

  // At the end of a QP, and once more behind its last block for what Record still took in.
  logic over;
  assign over = change_i.fail || change_i.over || op_i.ctx || op_i.ended
      || (reclaim_end && !cur_is.live);
  assign over_o = over;

  assign row_we = over || change_i.we || change_i.landed;

  always_comb begin
    row_d = change_i.we ? change_i.row : sel_i.row;
    if (sel_i.is.cc && (over || change_i.landed)) begin
      row_d.fgone = sel_fsent_i;
    end
    if (op_i.ctx_new) begin
      row_d = '{
          dest: ctx_i.dest,
          una: ctx_i.sq_psn,
          hi1: ctx_i.sq_psn,
          msn_done: ctx_i.msn,
          start: tick_i,
          marks: {4{ctx_i.sq_psn}},
          cnt: 2'd3,
          low: ctx_i.sq_psn,
          retry: retry_of(6'd0, ctx_i.retry_linear, ctx_i.retry_exp, ctx_i.timeout),
          fgone: 28'd0,
          credit: 8'd0,
          owed: 20'd0,
          rcvdl: 24'd0,
          trip: 18'd0,
          trims: 1'b0,
          queries: 3'd0,
          mprv: 8'd0,
          timeout: ctx_i.timeout,
          retry_linear: ctx_i.retry_linear,
          retry_exp: ctx_i.retry_exp,
          ts: ctx_i.ts,
          dyn_mpr: ctx_i.dyn_mpr,
          mtu: ctx_i.mtu
      };
    end
  end

  assign rtx_lo_we = change_i.rtx_lo_we || op_i.ctx_new;
  assign rtx_lo_d = op_i.ctx_new ? ctx_i.sq_psn : change_i.rtx_lo;

  // A QP is in each list at most once, but for the head of list that goes to the end.
  logic reclaim;
  assign reclaim = (over && !op_i.ctx_new && state_i != StReclaim) || change_i.moved;
  assign lists_o = '{
          push: change_i.turn || (change_i.enlist && !rtx),
          pop: change_i.turn || change_i.delist,
          rq_push: reclaim && sel_i.is.held && !sel_i.is.inq
      };

  // ---- flags

  assign main_we = over || change_i.armed_we || change_i.dup_set || change_i.dup_clear
      || change_i.stays_set || change_i.stays_clear || op_i.ctx_new;
  assign rtx_we = change_i.enlist || change_i.delist;

  always_comb begin
    main_d.live = sel_i.is.live && !over;
    main_d.armed = change_i.armed_we ? change_i.armed : sel_i.is.armed;
    main_d.dup = (sel_i.is.dup || change_i.dup_set) && !change_i.dup_clear;
    main_d.stays = (sel_i.is.stays || change_i.stays_set) && !change_i.stays_clear;
    main_d.cc = sel_i.is.cc;
    if (op_i.ctx_new) begin
      main_d.live = ctx_i.state == QpStateRts;
      main_d.armed = 1'b0;
      main_d.dup = 1'b0;
      main_d.stays = 1'b0;
      main_d.cc = ctx_i.cc;
    end
  end

  assign inq_we = lists_o.rq_push || op_i.reclaim;

  // The main machine at QP_CTX (of cfg), in Rec and at the end of Reclaim (of cur).
  always_comb begin
    main_set = '0;
    main_set.fresh = op_i.ctx_new;
    main_set.held = reclaim_end && cur_is.live;
    main_set.kept = main_set.held && rows[0].una == cur_nxt_i && cur_nxt_i[3:0] == 4'd0;
    main_clear = '0;
    main_clear.fresh = change_i.unfresh;
    main_clear.held = reclaim_end;
    main_clear.kept = reclaim_end;
  end

  always_comb begin
    rec_set = '0;
    rec_set.held = recording_i.go && recording_i.begins;
    rec_clear = '0;
    rec_clear.fresh = rec_set.held;
    rec_clear.kept = rec_set.held;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      freed_q <= 1'b0;
    end else begin
      freed_q <= freed_d;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, recording_i.take, op_i.other, op_i.peer, op_i.ports, op_i.visit,
                       op_i.retx, op_i.ctl, op_i.rec, ctx_i.srv6, ctx_i.dip, ctx_i.mpr_dest,
                       ctx_i.dmac, ctx_i.rqmsn, ctx_i.max_wimm_dest, ctx_i.rq_psn, ctx_i.max_wimm,
                       ctx_i.pkey, row_d, ctx_i.backup, ctx_i.dqpn, ctx_i.profile, ctx_i.mpr,
                       ctx_i.rsvd13, ctx_i.svc_time, ctx_i.trim_nack, ctx_i.encap};

  // ---- what always holds

  `MRC_ASSERT(FreshHoldsNothing,
      !(both[0].fresh && both[0].held) && !(both[3].fresh && both[3].held),
      "a QP that has sent nothing holds blocks")
  `MRC_ASSERT(KeptIsHeld, (!both[0].kept || both[0].held) && (!both[3].kept || both[3].held),
      "a QP keeps a block that it does not hold")
  `MRC_ASSERT(QueuedHolds, (!inq[0] || both[0].held) && (!inq[2] || both[2].held),
      "a QP waits to give blocks back and has none")
  `MRC_ONE_HOT0(JoinsOrLeaves, {lists_o.rq_push, op_i.reclaim},
      "a QP joins the queue while another leaves it")
  `MRC_ASSERT_IF(GivesWhatItHolds, give_o, cur_is.held,
      "a QP gives back a block that it does not hold")
  `MRC_ASSERT_IF(UnaOnlyForward, change_i.we, 24'(change_i.row.una - sel_i.row.una) < 24'h800000,
      "una moves back")
  `MRC_ASSERT_IF(MsnOnlyForward, change_i.we,
      16'(change_i.row.msn_done - sel_i.row.msn_done) < 16'h8000,
      "msn_done moves back")
  `MRC_ASSERT_IF(DelistsTheListed, change_i.turn || change_i.delist, rtx,
      "a QP leaves the list that is not in it")

endmodule
