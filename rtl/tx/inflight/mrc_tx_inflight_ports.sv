// SPDX-License-Identifier: Apache-2.0

/// What the main machine of mrc_tx_inflight reads and writes in the memories of the blocks in each
/// cycle (docs/blocks/tx/inflight/tx_inflight.md, mrc_tx_inflight_blocks). Combinational.
module mrc_tx_inflight_ports
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned NumBlocks = 20,
    localparam int unsigned QpW = $clog2(NumQps),
    localparam int unsigned BlkW = $clog2(NumBlocks)
) (
    input logic [7:0] bug_i,
    input state_e state_i,
    input op_t op_i,

    // Heads that an Idle cycle may choose, and where their QPs stand.
    input rec_t rec_head_i,
    input ctl_t ctl_head_i,
    input logic [QpW-1:0] list_qp_i,
    input logic [23:0] list_lo_i,
    input logic [QpW-1:0] visit_qp_i,
    input logic [23:0] visit_una_i,
    input logic [QpW-1:0] rq_qp_i,
    input logic [19:0] rq_base_i,

    // The operation.
    input logic [QpW-1:0] qp_i,
    input logic is_sack_i,
    input logic [23:0] psn_i,  // of the SACK or NACK
    input logic [19:0] block_i,
    input logic [23:0] una_i,
    input logic [23:0] rtx_lo_i,
    input logic [23:0] newest_i,  // PSN and block of the newest packet
    input logic [BlkW-1:0] cur_i,
    input sack_t sack_i,
    input answer_t answer_i,
    input scan_t scan_i,
    input walk_t walk_i,
    input logic again_i,  // nothing was found, the newest packet goes again
    input logic refused_i,  // what was found is not to be sent now
    input logic reclaim_end_i,
    input logic [19:0] base_next_i,

    output logic map_re_o,
    output logic [QpW-1:0] map_qp_o,
    output logic [19:0] map_block_o,
    input logic [BlkW-1:0] map_i,
    output logic win_re_o,
    input win_t win_i,
    input logic [BlkW-1:0] win_num_i,
    output logic win_we_o,
    output win_t win_o,
    output logic sent_re_o,
    output logic [BlkW-1:0] sent_num_o,
    output logic [3:0] sent_pos_o
);

  always_comb begin
    map_re_o = 1'b0;
    map_qp_o = qp_i;
    map_block_o = block_i + 20'd1;
    unique case (state_i)
      StIdle: begin
        map_re_o = op_i.rec || op_i.ctl || op_i.retx || op_i.visit || op_i.reclaim;
        map_qp_o = ctl_head_i.qp[QpW-1:0];
        map_block_o = ctl_head_i.psn[23:4];
        if (op_i.rec) begin
          map_qp_o = rec_head_i.qp[QpW-1:0];
          map_block_o = rec_head_i.psn[23:4];
        end
        if (op_i.retx) begin
          map_qp_o = list_qp_i;
          map_block_o = list_lo_i[23:4];
        end
        if (op_i.visit) begin
          map_qp_o = visit_qp_i;
          map_block_o = visit_una_i[23:4];
        end
        if (op_i.reclaim) begin
          map_qp_o = rq_qp_i;
          map_block_o = rq_base_i;
        end
      end
      StReclaim: begin
        map_re_o = !reclaim_end_i;
        map_block_o = base_next_i;
      end
      StCtl0: begin
        map_re_o = is_sack_i;
        map_block_o = sack_i.block;
      end
      StCtl1, StWalk0, StTold0: map_re_o = 1'b1;
      StRow: begin
        map_re_o = !sack_i.last;
        map_block_o = block_i + 20'd2;
      end
      StDone: begin
        map_re_o = 1'b1;
        map_block_o = sack_i.una[23:4];
      end
      StRetx0: begin
        map_re_o = 1'b1;
        map_block_o = rtx_lo_i[23:4] + 20'd1;
      end
      StScan: begin
        map_re_o = !scan_i.found && scan_i.more;
        map_block_o = rtx_lo_i[23:4] + 20'd2;
      end
      StWalk: begin
        map_re_o = 1'b1;
        map_block_o = walk_i.more ? block_i + 20'd2 : una_i[23:4];
      end
      StTold: begin
        map_re_o = walk_i.more;
        map_block_o = block_i + 20'd2;
      end
      default: ;
    endcase
  end

  always_comb begin
    win_re_o = 1'b0;
    win_we_o = 1'b0;
    win_o = win_i;
    sent_re_o = 1'b0;
    sent_num_o = map_i;
    sent_pos_o = psn_i[3:0];
    unique case (state_i)
      StCtl0: begin
        win_re_o = 1'b1;
        sent_re_o = 1'b1;
      end
      StCtl1: begin
        win_re_o = is_sack_i;
        win_we_o = answer_i.nack_mark;
        win_o = answer_i.win;
      end
      StRow: begin
        win_re_o = !sack_i.last;
        win_we_o = 1'b1;
        win_o = sack_i.win;
      end
      StSame0: begin
        win_re_o = 1'b1;
        sent_re_o = 1'b1;
        sent_pos_o = una_i[3:0];
      end
      StSame1: begin
        win_we_o = sack_i.same_lost;
        win_o.pend = win_i.pend | (16'd1 << una_i[3:0]);
      end
      StRetx0, StWalk0, StTold0: win_re_o = 1'b1;
      StScan: begin
        win_re_o = !scan_i.found && scan_i.more;
        win_we_o = scan_i.found;
        win_o = scan_i.win;
        sent_re_o = scan_i.found || again_i;
        sent_num_o = scan_i.found ? win_num_i : cur_i;
        sent_pos_o = scan_i.found ? scan_i.psn[3:0] : newest_i[3:0];
      end
      StRetxW: begin
        // The row is again as it was before (the memory still shows it), its loss told.
        win_we_o = refused_i && bug_i != BugRefusedRtxForgotten;
        win_o = scan_i.refused;
      end
      StWalk, StTold: begin
        win_re_o = walk_i.more;
        win_we_o = 1'b1;
        win_o = walk_i.win;
      end
      default: ;
    endcase
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, op_i, rec_head_i, ctl_head_i, sack_i, answer_i, scan_i, walk_i, psn_i,
                       una_i, rtx_lo_i, newest_i, list_lo_i, visit_una_i};

endmodule
