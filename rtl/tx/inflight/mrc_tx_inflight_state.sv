// SPDX-License-Identifier: Apache-2.0

/// The state of mrc_tx_inflight's main machine and what an operation keeps from cycle to cycle
/// (docs/blocks/tx/inflight/tx_inflight.md): where a search or a walk stands, what was found. It does no arithmetic of
/// its own; a SACK's values are kept in mrc_tx_inflight_sack.
module mrc_tx_inflight_state
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    localparam int unsigned QpW = $clog2(NumQps)
) (
    input logic clk_i,
    input logic rst_ni,

    // Idle: the choice, and whom it is about.
    input op_t op_i,
    input logic [QpW-1:0] rec_qp_i,
    input logic [QpW-1:0] ctl_qp_i,
    input logic [1:0] ctl_kind_i,
    input logic ctl_live_i,
    input logic [QpW-1:0] list_qp_i,
    input logic [23:0] list_nxt_i,
    input logic [QpW-1:0] visit_qp_i,
    input logic [23:0] visit_una_i,
    input logic [23:0] visit_nxt_i,
    input logic [QpW-1:0] rq_qp_i,

    // The operation.
    input logic live_i,
    input logic cc_i,
    input logic is_sack_i,
    input logic [23:0] una_i,
    input logic [23:0] newest_i,  // PSN of the newest packet
    input sack_t sack_i,
    input scan_t scan_i,
    input visit_t visit_i,
    input walk_t walk_i,
    input logic told_i,  // the walk's end: the controller is told of all that is lost
    input logic again_i,  // nothing was found, the newest packet goes again
    input logic answered_i,  // the controller has answered
    input logic reclaim_end_i,

    output state_e state_o,
    output now_t now_o,
    output logic [QpW-1:0] qp_o,
    output logic [QpW-1:0] qp_next_o  // in the next cycle
);

  state_e state_q, state_d;
  now_t now_q, now_d;
  logic [QpW-1:0] qp_q, qp_d;
  logic [1:0] steps_q, steps_d;

  always_comb begin
    state_d = state_q;
    now_d = now_q;
    qp_d = qp_q;
    steps_d = steps_q;

    unique case (state_q)
      StIdle: begin
        steps_d = 2'd0;
        now_d.any = 1'b0;
        now_d.old = 1'b0;
        now_d.seen = 1'b0;
        now_d.spared = 1'b0;
        now_d.past = 1'b0;
        now_d.block = visit_una_i[23:4];
        // What Record begins from now on has no row of map that is read below.
        now_d.lim = op_i.retx ? list_nxt_i : visit_nxt_i;
        if (op_i.rec) begin
          qp_d = rec_qp_i;
          state_d = StRec;
        end
        if (op_i.ctl) begin
          qp_d = ctl_qp_i;
          if (ctl_live_i) begin
            unique case (ctl_kind_i)
              CtlKindSack, CtlKindNack: state_d = StCtl0;
              CtlKindAck: state_d = StAck;
              default: state_d = StIdle;
            endcase
          end
        end
        if (op_i.retx) begin
          qp_d = list_qp_i;
          state_d = StRetx0;
        end
        if (op_i.visit) begin
          qp_d = visit_qp_i;
          state_d = visit_i.walk ? StWalk0 : StIdle;
        end
        if (op_i.reclaim) begin
          qp_d = rq_qp_i;
          state_d = StReclaim;
        end
      end
      StReclaim: state_d = reclaim_end_i ? StIdle : StReclaim;
      StCtl0: begin
        now_d.block = sack_i.block;
        state_d = (is_sack_i && !sack_i.valid) ? StIdle : StCtl1;
      end
      StCtl1: begin
        if (is_sack_i) begin
          state_d = sack_i.none ? StDone : StRow;
        end else begin
          state_d = StIdle;
        end
      end
      StRow: begin
        now_d.block = now_q.block + 20'd1;
        state_d = sack_i.last ? StDone : StRow;
      end
      StDone: state_d = sack_i.same ? StSame0 : StIdle;
      StSame0: state_d = StSame1;
      StRetx0: state_d = live_i ? StScan : StIdle;
      StScan: begin
        steps_d = steps_q + 2'd1;
        now_d.p = scan_i.found ? scan_i.psn : newest_i;
        now_d.loss = scan_i.found && scan_i.loss;
        now_d.blame = scan_i.found && scan_i.blame;
        now_d.again = again_i;
        if (scan_i.found || again_i) begin
          state_d = StRetx1;
        end else if (!scan_i.more || steps_q == 2'd3) begin
          state_d = StIdle;
        end
      end
      StRetx1: state_d = cc_i ? StRetxW : StIdle;
      StRetxW: state_d = answered_i ? StIdle : StRetxW;
      StWalk0: state_d = StWalk;
      StWalk: begin
        now_d.block = walk_i.more ? now_q.block + 20'd1 : una_i[23:4];
        now_d.any = walk_i.any;
        now_d.first = walk_i.first;
        now_d.low = walk_i.low;
        now_d.old = walk_i.old;
        now_d.seen = walk_i.seen;
        now_d.spared = walk_i.spared;
        now_d.past = walk_i.past;
        if (!walk_i.more) begin
          state_d = told_i ? StTold0 : StIdle;
        end
      end
      StTold0: state_d = StTold;
      StTold: begin
        now_d.block = now_q.block + 20'd1;
        state_d = walk_i.more ? StTold : StIdle;
      end
      default: state_d = StIdle;
    endcase
  end

  assign state_o = state_q;
  assign now_o = now_q;
  assign qp_o = qp_q;
  assign qp_next_o = qp_d;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      state_q <= state_d;
    end
  end

  always_ff @(posedge clk_i) begin
    now_q <= now_d;
    qp_q <= qp_d;
    steps_q <= steps_d;
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, sack_i, scan_i, visit_i, walk_i, op_i, visit_una_i, una_i};

endmodule
