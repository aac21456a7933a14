// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// What mrc_rx_track remembers: of any PSN of any QP, it is placed once at most, and while it is in
/// the window it counts as received if and only if it was. Two QPs, windows of 128 PSNs, two rows
/// of 64, so that PSNs share rows, rows are shared by QPs, and there are fewer than are wanted.
module formal_rx_track_rows
    `include "rx_track_dut.svh"

  // ---- what comes: for QPs that are set up, with the window that there is room for

  logic req_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      req_q <= 1'b0;
    end else begin
      req_q <= cfg_i.req && !dut.cfg_ack_d;
    end
  end
  logic [528:0] cfg_q;
  always_ff @(posedge clk_i) cfg_q <= {cfg_i.tbl, cfg_i.index, cfg_i.data[508:0]};
  `MRC_GIVEN(table_stands, !req_q
             || (cfg_i.req && {cfg_i.tbl, cfg_i.index, cfg_i.data[508:0]} == cfg_q))
  `MRC_GIVEN(qp_is_set_up, !rxpkt_valid_i || dut.u_known.top_q[rxpkt_i.qp[0]])
  `MRC_GIVEN(window_in_range, !dut.cfg_init || dut.cfg_ctx.mpr_dest == 8'd1)

  // ---- any PSN of any QP

  logic k_q;
  logic [23:0] s_q;
  always_ff @(posedge clk_i) begin
    k_q <= k_q;
    s_q <= s_q;
  end
  seq_t seq;
  logic [23:0] rel, rel_q;
  logic live, takes, placed_q, here, wraps;
  logic [1:0] entry;
  logic [127:0] row;
  assign seq = seq_t'(dut.u_seq.mem_q[k_q]);
  assign rel = s_q - seq.cack1;
  assign live = dut.u_known.top_q[k_q] && !(dut.init_on_q && dut.cfg_qp == k_q);
  assign takes = dut.take && !dut.stuck && dut.t_p_q.qp[0] == k_q && dut.t_p_q.psn == s_q;
  assign entry = dut.u_map.mem_q[{k_q, s_q[6]}];
  assign row = dut.u_rows.mem_q[entry[0]];
  assign here = entry[1] && row[s_q[5:0]];
  // 2^23 PSNs after it, its number is one of a PSN to come.
  assign wraps = rel_q[23] && !rel[23];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      placed_q <= 1'b0;
    end else if (dut.cfg_init && dut.cfg_qp == k_q) begin
      placed_q <= 1'b0;
    end else if (takes) begin
      placed_q <= 1'b1;
    end else if (wraps) begin
      placed_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) rel_q <= rel;
  logic placed;
  assign placed = placed_q && !wraps;

  `MRC_PROVE(once, !(takes && placed))
  `MRC_PROVE(received_iff, !(live && rel < 24'd128) || here == placed)
  `MRC_PROVE(passed_or_here, !(live && placed) || rel[23] || (rel < 24'd128 && here))
  `MRC_COVER(once, dut.t_valid_q && !dut.t_again_q && dut.t_p_q.qp[0] == k_q
                   && dut.t_p_q.psn == s_q && placed && !rel[23] && rel != 24'd0)
  `MRC_COVER(received, live && rel < 24'd128 && here && s_q[6] != seq.cack1[6])
  `MRC_COVER(passed, live && placed && rel[23] && dut.adv_valid)

  // ---- rows: a number is in one entry or with the pool

  logic [3:0] valid;
  logic [3:0] idx;
  for (genvar i = 0; i < 4; i++) begin : gen_entry
    assign valid[i] = dut.u_map.mem_q[i][1] && dut.u_known.top_q[i / 2];
    assign idx[i] = dut.u_map.mem_q[i][0];
    logic [127:0] bits;  // a message's end is only noted where something was received
    assign bits = dut.u_rows.mem_q[idx[i]];
    `MRC_HELP(ends, !valid[i] || (bits[127:64] & ~bits[63:0]) == 64'd0)
  end
  logic [1:0] out, back;  // how often a number is in an entry; whether it is back
  for (genvar j = 0; j < 2; j++) begin : gen_row
    logic [3:0] has;
    logic [1:0] at;
    for (genvar i = 0; i < 4; i++) begin : gen_has
      assign has[i] = valid[i] && idx[i] == 1'(j);
    end
    assign at[0] = dut.u_pool.u_back.count_q != 2'd0
        && dut.u_pool.u_back.u_mem.mem_q[dut.u_pool.u_back.rptr_q] == 1'(j);
    assign at[1] = dut.u_pool.u_back.count_q == 2'd2
        && dut.u_pool.u_back.u_mem.mem_q[~dut.u_pool.u_back.rptr_q] == 1'(j);
    assign out[j] = has != 4'd0;
    assign back[j] = at != 2'd0;
    `MRC_HELP(one_entry, (has & (has - 4'd1)) == 4'd0 && at != 2'd3)
    `MRC_HELP(one_place, 2'(out[j]) + 2'(back[j]) + 2'(2'(j) >= dut.u_pool.fresh_q) == 2'd1)
  end
  `MRC_PROVE(rows_apart, !dut.pool_valid || !out[dut.pool_idx])
  `MRC_COVER(rows_apart, out[0] && dut.pool_valid && dut.u_pool.u_back.wptr_q)

  // ---- what the induction needs

  `MRC_HELP(back_fifo, dut.u_pool.u_back.count_q <= 2'd2
            && dut.u_pool.u_back.wptr_q == (dut.u_pool.u_back.rptr_q
                                            ^ dut.u_pool.u_back.count_q[0]))
  `MRC_HELP(back_head, dut.u_pool.u_back.count_q == 2'd0
            || dut.u_pool.u_back.data_o
               == dut.u_pool.u_back.u_mem.mem_q[dut.u_pool.u_back.rptr_q])
  `MRC_HELP(fresh, dut.u_pool.fresh_q <= 2'd2)
  `MRC_HELP(input_fifo, dut.u_rxpkt.count_q <= 2'd2
            && dut.u_rxpkt.wptr_q == (dut.u_rxpkt.rptr_q ^ dut.u_rxpkt.count_q[0]))
  `MRC_HELP(adv_fifo, dut.u_adv.count_q <= 3'd1
            && dut.u_adv.wptr_q == dut.u_adv.rptr_q + dut.u_adv.count_q[1:0])
  for (genvar i = 0; i < 2; i++) begin : gen_slot
    logic in;
    assign in = dut.u_rxpkt.count_q == 2'd2
        || (dut.u_rxpkt.count_q == 2'd1 && dut.u_rxpkt.rptr_q == 1'(i));
    `MRC_HELP(known, !in || dut.u_known.top_q[dut.u_rxpkt.mem_q[i].qp[0]])
    set_t set;
    assign set = set_t'(dut.u_set.mem_q[i]);
    `MRC_HELP(mpr, !(dut.u_known.top_q[i] || (dut.init_on_q && dut.cfg_qp == 1'(i)))
              || (set.mpr == 8'd1 && set.mpr_dest == 8'd1))
  end
  `MRC_HELP(adv_known, !dut.adv_valid || dut.u_known.top_q[dut.adv.p.qp[0]])
  `MRC_HELP(m_known, !dut.m_valid_q || dut.u_known.top_q[dut.m_p_q.qp[0]])
  `MRC_HELP(t_known, !dut.t_valid_q || (dut.u_known.top_q[dut.t_p_q.qp[0]]
            && dut.t_set_q.mpr == 8'd1
                                        && dut.t_set_q.mpr_dest == 8'd1))
  `MRC_HELP(t_seq, !dut.t_valid_q || dut.t_seq_q == dut.u_seq.mem_q[dut.t_p_q.qp[0]])
  `MRC_HELP(t_lower, !dut.t_valid_q || dut.t_lower_q == ~({64{1'b1}} << dut.t_at_q[5:0]))
  `MRC_HELP(t_at, !dut.t_valid_q || dut.t_again_q || dut.t_at_q == dut.t_p_q.psn)
  `MRC_HELP(m_at, !dut.m_valid_q || dut.m_again_q || dut.m_at_q == dut.m_p_q.psn)
  // What goes on begins with a row.
  `MRC_HELP(adv_at, !dut.adv_valid || dut.adv.at[5:0] == 6'd0)
  `MRC_HELP(m_row, !(dut.m_valid_q && dut.m_again_q) || dut.m_at_q[5:0] == 6'd0)
  `MRC_HELP(t_begins, !(dut.t_valid_q && dut.t_again_q) || dut.t_at_q[5:0] == 6'd0)
  // The stages have what the memories hold.
  `MRC_HELP(m_entry, !dut.m_valid_q || dut.m_entry == dut.u_map.mem_q[dut.m_addr])
  `MRC_HELP(t_entry, !dut.t_valid_q || dut.entry == dut.u_map.mem_q[dut.t_addr])
  `MRC_HELP(t_row, !dut.t_valid_q
            || dut.row == (dut.entry.valid ? dut.u_rows.mem_q[dut.entry.idx] : 128'd0))
  `MRC_HELP(w_row, !((dut.m_valid_q && dut.m_fwd_q) || (dut.t_valid_q && dut.t_fwd_q))
            || dut.w_entry_q.valid || dut.w_row_q == 128'd0)
  `MRC_HELP(not_yet, live || !placed_q)
  // A QP that begins anew: entries are given back one after the other.
  `MRC_HELP(init_alone, !dut.init_on_q || (!dut.m_valid_q && !dut.t_valid_q && !dut.x_valid_q
            && !dut.adv_valid && cfg_i.req && !dut.cfg_ack_q && req_q))
  `MRC_HELP(init_reads, !dut.init_on_q
            || dut.map_rdata == dut.u_map.mem_q[{dut.cfg_qp, dut.init_q}])
  `MRC_HELP(init_done, !(dut.init_on_q && dut.init_q == 1'b1)
            || !dut.u_map.mem_q[{dut.cfg_qp, 1'b0}][1])
  `MRC_HELP(init_index, !dut.init_on_q || {cfg_i.tbl, cfg_i.index, cfg_i.data[508:0]} == cfg_q)
endmodule
