// SPDX-License-Identifier: Apache-2.0

/// SACKs in mrc_tx_inflight (docs/blocks/tx/inflight/tx_inflight.md, Ctl0 to Same1): which blocks of the window
/// one speaks of, what it does to each of them, and what it says once they are worked through. It
/// keeps what is known of the SACK from state to state; registers of the QP, memories and outputs are
/// the main machine's.
module mrc_tx_inflight_sack
  import mrc_pkg::*;
  import mrc_tx_inflight_pkg::*;
(
    input logic clk_i,
    input logic [7:0] bug_i,
    input logic [14:0] reorder_i,
    input logic same_ev_i,

    // The state: ctl0, ctl1 and done with a SACK, row once per block.
    input logic ctl0_i,
    input logic ctl1_i,
    input logic row_i,
    input logic done_i,
    input logic same1_i,
    input ctl_t ctl_i,
    input logic [23:0] next_i,  // PSN after cack
    input logic [23:0] after_i,  // PSN after psn
    input logic [23:0] end_i,  // the bitmap's last PSN
    input qp_t c_i,
    input logic [23:0] rtx_lo_i,
    input logic [23:0] nxt_i,
    input logic owned_i,  // psn's block is held
    input logic [19:0] block_i,  // of the row
    input win_t win_i,
    input sent_t sent_i,

    output sack_t sack_o
);

  logic [23:0] una_q, una_d, top_q, top_d, rcvd_q, ahead, beyond, behind;
  logic [23:0] brought_q, judge_q, judge_d;  // PSN after the packet that brought it; that gaps are judged by
  logic before_una, over, in_flight;
  logic own_q, none_q, none_d, old, old_q;
  logic [19:0] last_q, last_d, first_block_q, first_block_d;
  logic [15:0] ev_idx_q, first_row_q, first_row_d, row_lost;
  logic rtx_q, any_q, any_d;
  logic [6:0] canc_q, canc_d;
  logic [4:0] row_canc;
  win_t win;

  // ---- Ctl0

  assign old = psn_before(next_i, c_i.una);

  always_comb begin
    una_d = old ? c_i.una : next_i;
    if (bug_i == BugUnaOffByOne) begin
      una_d = psn_before(ctl_i.cack, c_i.una) ? c_i.una : ctl_i.cack;
    end
    in_flight = !ctl_i.pr && psn_in(ctl_i.psn, c_i.una, nxt_i);
    top_d = c_i.top;
    if (in_flight && psn_before(c_i.top, after_i)) begin
      top_d = after_i;
    end
  end

  // Comparisons with una' are made for both it may be.
  assign before_una = old ? psn_before(ctl_i.base, c_i.una) : psn_before(ctl_i.base, next_i);
  assign over = old ? psn_before(end_i, c_i.una) : psn_before(end_i, next_i);
  assign behind = nxt_i - 24'd1;
  assign ahead = ctl_i.base - nxt_i;
  assign beyond = end_i - nxt_i;
  assign last_d = beyond[23] ? end_i[23:4] : behind[23:4];
  assign none_d = una_d == nxt_i || !ahead[23] || over;

  // ---- Ctl1, Row

  // One that a newer SACK has overtaken does not know of what is above.
  assign judge_d = (rcvd_q[23] && bug_i != BugOldSackJudges) ? brought_q : top_q;

  mrc_tx_inflight_sackrow u_row (
      .bug_i,
      .valid_i(row_i),
      .block_i,
      .base_i(ctl_i.base[6:0]),
      .bitmap_i(ctl_i.bitmap),
      .ooo_i(ctl_i.ooo),
      .reorder_i,
      .una_i(una_q),
      .top_i(judge_q),
      .nxt_i,
      .row_i(win_i),
      .row_o(win),
      .lost_o(row_lost),
      .canc_o(row_canc)
  );

  always_comb begin
    any_d = any_q;
    first_block_d = first_block_q;
    first_row_d = first_row_q;
    canc_d = canc_q;
    if (ctl1_i) begin
      any_d = 1'b0;
      canc_d = 7'd0;
    end else if (row_i) begin
      canc_d = canc_q + {2'd0, row_canc};
      any_d = any_q || row_lost != 16'd0;
      if (!any_q) begin
        first_block_d = block_i;
        first_row_d = row_lost;
      end
    end
  end

  // ---- what it says

  logic recent;
  logic [23:0] first, lo;
  logic [3:0] bit_una;
  assign recent = done_i && !ctl_i.pr && own_q;
  assign first = {first_block_q, lowest(first_row_q)};
  assign bit_una = c_i.una[3:0];

  // Never behind the window, which is where the first lost one is.
  always_comb begin
    lo = rtx_lo_i;
    if (psn_before(rtx_lo_i, una_q)) begin
      lo = una_q;
    end else if (any_q && psn_before(first, rtx_lo_i)) begin
      lo = first;
    end
  end

  assign sack_o = '{
          valid: old || next_i == nxt_i || psn_in(next_i, c_i.una, nxt_i),
          whole: next_i == nxt_i,
          block: before_una ? una_d[23:4] : ctl_i.base[23:4],
          none: none_q,
          last: block_i == last_q,
          win: win,
          una: una_q,
          top: psn_before(top_q, una_q) ? una_q : top_q,
          moved: done_i && una_q != c_i.una,
          new_mpr: done_i && c_i.dyn_mpr && ctl_i.mpr != 8'd0 && ctl_i.mpr != c_i.mprv && !old_q,
          recent: recent,
          rtx: rtx_q,
          ev_idx: ev_idx_q,
          lost: done_i && any_q,
          rtx_lo: lo,
          rcvd: rcvd_q,
          rcvd_new: done_i && !rcvd_q[23],
          canc: canc_q,
          same: recent && same_ev_i && !rtx_q && !old_q && una_q != nxt_i
          && psn_before(una_q, ctl_i.psn),
          same_lost: same1_i && (sent_i.ev_idx == ev_idx_q || bug_i == BugSameEvAny)
          && !win_i.sacked[bit_una] && !win_i.pend[bit_una] && !win_i.rtxd[bit_una]
      };

  always_ff @(posedge clk_i) begin
    if (ctl0_i) begin
      una_q <= una_d;
      top_q <= top_d;
      brought_q <= in_flight ? after_i : una_d;
      own_q <= owned_i;
      old_q <= old;
      none_q <= none_d;
      last_q <= last_d;
      rcvd_q <= ctl_i.rcvd - c_i.rcvdl;
    end
    if (ctl1_i) begin
      judge_q <= judge_d;
      ev_idx_q <= sent_i.ev_idx;
      rtx_q <= sent_i.rtx;
    end
    any_q <= any_d;
    first_block_q <= first_block_d;
    first_row_q <= first_row_d;
    canc_q <= canc_d;
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, ctl_i, c_i, sent_i, win_i, ahead, beyond, behind};

endmodule
