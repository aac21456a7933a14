// SPDX-License-Identifier: Apache-2.0

/// The search for the next packet to send again in mrc_tx_inflight (docs/blocks/tx/inflight/tx_inflight.md, Scan):
/// one block of 16 PSNs, the one rtx_lo points into. Combinational; what it says means something only
/// with scan_i. Whether the QP's turn is over is for the main machine to say.
module mrc_tx_inflight_scan
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
(
    input logic [7:0] bug_i,
    input logic [31:0] tick_i,
    input logic scan_i,
    input qp_t c_i,
    input logic [23:0] rtx_lo_i,
    input logic [23:0] lim_i,  // PSN after the newest when the search began
    input win_t win_i,

    input logic [3:0] refused_i,  // RetxW: position of what was found
    output scan_t scan_o
);

  logic [15:0] found, pick;
  logic [3:0] position;
  logic [23:0] next;
  win_t win, refused;
  logic [15:0] told;
  logic [31:0] since;
  logic late;
  logic [2:0] age;

  always_comb begin
    found = 16'd0;
    if (scan_i) begin
      found = win_i.pend & ~win_i.sacked & ({16{1'b1}} << rtx_lo_i[3:0])
          & below(rtx_lo_i[23:4], lim_i);
    end
  end

  assign pick = lowest_bit(found);
  assign position = lowest(found);
  assign next = {rtx_lo_i[23:4] + 20'd1, 4'd0};

  // Spared for about an interval: three steps of the timer, and one more late in the one that runs;
  // the next cnt of them look at nothing.
  always_comb begin
    since = tick_i - c_i.start;
    late = (since & ({32{1'b1}} << c_i.retry.shift)) != 32'd0;
    age = (late ? 3'd4 : 3'd3) - {1'b0, c_i.cnt};
    if (bug_i == BugRtxNotSpared) begin
      age = 3'd0;
    end
    win = win_i;
    win.pend = win_i.pend & ~pick;
    win.rtxd = win_i.rtxd | pick;
    win.mute = win_i.mute & ~pick;
    win.nacked = win_i.nacked & ~pick;
    for (int unsigned i = 0; i < 16; i++) begin
      if (pick[i]) begin
        win.age[i] = age;
      end
    end
  end

  assign told = 16'd1 << refused_i;

  always_comb begin
    refused = win_i;
    refused.mute = win_i.mute | told;
    refused.nacked = win_i.nacked | told;
  end

  assign scan_o = '{
          found: found != 16'd0,
          psn: {rtx_lo_i[23:4], position},
          after: {(position == 4'd15) ? next[23:4] : rtx_lo_i[23:4], position + 4'd1},
          loss: (pick & win_i.nacked) == 16'd0,
          blame: (pick & win_i.mute) == 16'd0,
          win: win,
          more: psn_before(next, lim_i),
          next: next,
          refused: refused
      };

  logic unused_ok;
  assign unused_ok = &{1'b0, c_i};

endmodule
