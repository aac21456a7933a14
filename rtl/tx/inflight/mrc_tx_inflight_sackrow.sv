// SPDX-License-Identifier: Apache-2.0

/// What one SACK does to one block of 16 PSNs of the window
/// (docs/design/blocks/tx/inflight/tx_inflight.md, Row): which packets it reports, which of them
/// were given up already, which gaps count as lost, and which
/// packets because they are old. Combinational; its outputs mean something only with
/// valid_i, and are 0 otherwise so that nothing toggles. It neither checks the SACK nor knows the
/// timer.
module mrc_tx_inflight_sackrow
  import mrc_pkg::*;
  import mrc_math_pkg::*;
  import mrc_tx_inflight_pkg::*;
(
    input logic [7:0] bug_i,
    input logic valid_i,
    input logic [19:0] block_i,  // in the window, at most 4 behind the bitmap's first
    input logic [6:0] base_i,  // low bits
    input logic [63:0] bitmap_i,
    input logic [14:0] ooo_i,
    input logic [14:0] reorder_i,
    input logic [23:0] una_i,  // una': as the SACK says, not yet written
    input logic [23:0] hi1_i,  // PSN after the highest one that it knows of
    input logic [23:0] nxt_i,
    input logic [23:0] lim_i,  // what is in front of it is older than the SACK
    input logic [15:0] old_i,  // was sent too long before what the SACK answers
    input win_t row_i,

    output win_t row_o,
    output logic [15:0] lost_o,
    output logic [4:0] canc_o  // packets given up because of a NACK that have arrived all the same
);

  // Of the bitmap, moved to where its blocks begin, the 16 bits of one block; block -1 is none.
  function automatic logic [15:0] piece(logic [63:0] bitmap, logic [3:0] shift, logic [2:0] number);
    logic [79:0] moved;
    moved = {16'd0, bitmap} << shift;
    unique case (number)
      3'd0: return moved[15:0];
      3'd1: return moved[31:16];
      3'd2: return moved[47:32];
      3'd3: return moved[63:48];
      3'd4: return moved[79:64];
      default: return 16'd0;
    endcase
  endfunction

  logic [2:0] number;  // of the block, from the one of the bitmap's base on
  logic [32:0] tolerance;
  logic [32:0] limit;  // hi1 - tolerance - the block's first PSN: what is below is late enough
  logic [15:0] spoken, mask, got, sacked, pend, passed, aged;

  assign number = block_i[2:0] - base_i[6:4];

  always_comb begin
    spoken = 16'd0;
    mask = 16'd0;
    got = 16'd0;
    sacked = 16'd0;
    pend = 16'd0;
    limit = 33'd0;
    tolerance = 33'd0;
    passed = 16'd0;
    aged = 16'd0;
    lost_o = 16'd0;
    row_o = '0;
    canc_o = 5'd0;
    if (valid_i) begin
      spoken = piece({64{1'b1}}, base_i[3:0], number);
      mask = from(block_i, una_i) & below(block_i, nxt_i);
      got = piece(bitmap_i, base_i[3:0], number) & mask;
      if (bug_i == BugSecondRowIgnored && number == 3'd1) begin
        got = 16'd0;
      end
      sacked = row_i.sacked | got;
      pend = row_i.pend & ~sacked;
      tolerance = (bug_i == BugNoReorderTolerance) ? 33'd1 : {18'd0, reorder_i};
      limit = pair_sum(less_two({9'd0, hi1_i}, tolerance, {9'd0, block_i, 4'd0}), 1'b1);
      if (ooo_i >= reorder_i && !limit[23]) begin
        passed = (limit[22:4] != 19'd0) ? {16{1'b1}} : ~({16{1'b1}} << limit[3:0]);
      end
      aged = old_i & below(block_i, lim_i);
      if (bug_i == BugTimeFirstCopyOnly) begin
        aged = aged & ~row_i.rtxd;
      end
      lost_o = ((passed & ~row_i.rtxd) | aged) & mask & spoken & ~(sacked | pend);
      canc_o = ones(row_i.pend & row_i.nacked & got & ~row_i.sacked);
      row_o = '{
          age: row_i.age,
          mute: row_i.mute & ~sacked,
          nacked: row_i.nacked & ~sacked,
          rtxd: row_i.rtxd,
          pend: pend | lost_o,
          sacked: sacked
      };
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, limit[32:24]};

endmodule
