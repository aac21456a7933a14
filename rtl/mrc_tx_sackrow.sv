// SPDX-License-Identifier: Apache-2.0

/// What one SACK does to one row of 64 PSNs of the window (docs/blocks/tx_inflight.md, Sack0 and
/// Sack1): which packets it reports, which of them were given up already, which gaps count as lost.
/// Combinational; its outputs mean something only with low_i (the row of the bitmap's base) or
/// high_i (the row after it), and are 0 otherwise so that nothing toggles. It neither checks the
/// SACK nor knows the timer.
module mrc_tx_sackrow
  import mrc_tx_window_pkg::*;
(
    input logic [7:0] bug_i,
    input logic low_i,
    input logic high_i,
    input logic [23:0] base_i,
    input logic [63:0] bitmap_i,
    input logic [14:0] ooo_i,
    input logic [14:0] reorder_i,
    input logic [23:0] una_i,  // una' and hi': as the SACK says, not yet written
    input logic [23:0] hi_i,
    input logic [23:0] nxt_i,
    input win_t row_i,

    output win_t row_o,
    output logic lost_o,
    output logic [23:0] first_o,  // first lost PSN, with lost_o
    output logic [6:0] canc_o  // packets given up because of a NACK that have arrived all the same
);

  logic [23:0] p0, limit;  // p0: first PSN of the row
  logic [5:0] shift;
  logic [63:0] part, spoken, mask, got, sacked, pend, lost;

  assign p0 = {high_i ? base_i[23:6] + 18'd1 : base_i[23:6], 6'd0};
  assign shift = base_i[5:0];
  assign limit = (bug_i == 8'd9) ? hi_i : hi_i - {9'd0, reorder_i} + 24'd1;

  always_comb begin
    part = 64'd0;
    spoken = 64'd0;
    mask = 64'd0;
    got = 64'd0;
    sacked = 64'd0;
    pend = 64'd0;
    lost = 64'd0;
    row_o = '0;
    canc_o = 7'd0;
    if (low_i || high_i) begin
      spoken = {64{1'b1}} << shift;
      part = bitmap_i << shift;
      if (high_i) begin
        spoken = ~spoken;
        part = (bitmap_i >> 1) >> ~shift;  // by 64 - shift in all
        if (bug_i == 8'd7) begin
          part = 64'd0;
        end
      end
      mask = range(p0, una_i, nxt_i);
      got = part & mask;
      sacked = row_i.sacked | got;
      pend = row_i.pend & ~sacked;
      if (ooo_i >= reorder_i && psn_before(una_i, limit)) begin
        lost = range(p0, una_i, limit) & mask & spoken & ~(sacked | pend | row_i.rtxd);
      end
      canc_o = ones(row_i.pend & row_i.nacked & got & ~row_i.sacked);
      row_o = '{
          nacked: row_i.nacked & ~sacked,
          rtxd: row_i.rtxd,
          pend: pend | lost,
          sacked: sacked
      };
    end
  end

  assign lost_o = lost != 64'd0;
  assign first_o = {p0[23:6], lowest(lost)};

endmodule
