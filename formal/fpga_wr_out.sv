// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_wr_out with bursts and beats that come when they like, and a memory that does what it
/// likes with AW, W and B. One burst is followed, which nothing steers: its word is 1, its QP too,
/// and its first beat is 1 too; all others are 0.
module formal_fpga_wr_out #(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned MaxBeats = 2,
    localparam int unsigned Depth = 2,
    localparam int unsigned WordBytes = 2
) (
    input logic clk_i,
    input logic want_i,
    input logic [0:0] burst_beats_i,
    input logic burst_end_i,
    input logic [0:0] burst_plane_i,
    input logic follow_i,
    input logic awready_i,
    input logic wready_i,
    input logic bvalid_i,
    input logic [1:0] bresp_i
);
  `MRC_RESET

  logic burst_push_i, burst_room_o, awvalid_o, wvalid_o, wlast_o, bready_o;
  logic done_o, fail_o, stray_o, idle_o, mark;
  logic [1:0] burst_word_i;
  logic [0:0] burst_qp_i, fail_qp_o;
  logic [NumPlanes-1:0] beat_valid_i, beat_pop_o;
  logic [NumPlanes-1:0][15:0] beat_data_i;
  logic [NumPlanes-1:0][1:0] beat_strb_i;
  logic [2:0] awaddr_o;
  logic [7:0] awlen_o;
  logic [15:0] wdata_o;
  logic [1:0] wstrb_o;

  mrc_fpga_wr_out #(
      .WordBytes(WordBytes),
      .NumPlanes(NumPlanes),
      .MaxBeats(MaxBeats),
      .AddrW(3),
      .QpW(1),
      .BurstDepth(Depth),
      .MaxBursts(Depth)
  ) dut (
      .*
  );

  // Beats inside, per plane, and how many of them come before the followed burst's first.
  logic [NumPlanes-1:0][3:0] inside_q, inside_d;
  logic [3:0] before_q, before_d;
  // Bursts that are not answered and came before the followed one; whether it has come, was issued,
  // had its first beat sent, its last, its answer; its beats and plane, and whether it ends.
  logic [2:0] ahead_q;
  logic came_q, issued_q, sent_q, ends_q, plane_q, answered_q, beats_q;
  // Bursts that are inside and not issued; issued and not answered. Beats of the burst on W so far.
  logic [2:0] pushed_q, out_q;
  logic [1:0] at_q;
  logic aw, w, b;

  assign mark = burst_push_i && follow_i && !came_q;
  assign burst_push_i = want_i && burst_room_o && rst_ni && inside_q[burst_plane_i] < 4'd8;
  assign burst_word_i = mark ? 2'd1 : 2'd0;
  assign burst_qp_i = mark;
  assign aw = awvalid_o && awready_i;
  assign w = wvalid_o && wready_i;
  assign b = bvalid_i && bready_o;

  always_comb begin
    inside_d = inside_q;
    before_d = before_q;
    for (int unsigned p = 0; p < NumPlanes; p++) begin
      if (beat_pop_o[p]) begin
        inside_d[p] = inside_d[p] - 4'd1;
        if (came_q && plane_q == 1'(p) && before_q != '0) before_d = before_q - 4'd1;
      end
    end
    if (mark) before_d = inside_d[burst_plane_i];
    if (burst_push_i) inside_d[burst_plane_i] = inside_d[burst_plane_i] + 4'(burst_beats_i) + 4'd1;
  end
  for (genvar p = 0; p < NumPlanes; p++) begin : gen_beats
    assign beat_valid_i[p] = inside_q[p] != '0;
    assign beat_data_i[p] = 16'(came_q && !sent_q && plane_q == 1'(p) && before_q == '0);
    assign beat_strb_i[p] = '1;
  end

  logic pop_first, held_aw_q, held_w_q;
  logic [10:0] held_aw_data_q;
  logic [16:0] held_w_data_q;
  assign pop_first = came_q && !sent_q && before_q == '0 && beat_pop_o[plane_q];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {inside_q, before_q, ahead_q, came_q, issued_q, sent_q, answered_q} <= '0;
      {pushed_q, out_q, at_q, held_aw_q, held_w_q} <= '0;
    end else begin
      inside_q <= inside_d;
      before_q <= before_d;
      came_q <= came_q || mark;
      issued_q <= issued_q || (aw && awaddr_o != '0);
      sent_q <= sent_q || pop_first;
      answered_q <= answered_q || (b && !stray_o && came_q && ahead_q == '0);
      ahead_q <= mark ? out_q + pushed_q - 3'(b && !stray_o)
          : ahead_q - 3'(b && !stray_o && ahead_q != '0);
      pushed_q <= pushed_q + 3'(burst_push_i) - 3'(dut.issue);
      out_q <= out_q + 3'(dut.issue) - 3'(b && !stray_o);
      at_q <= w ? (wlast_o ? '0 : at_q + 2'd1) : at_q;
      held_aw_q <= awvalid_o && !awready_i;
      held_w_q <= wvalid_o && !wready_i;
    end
  end
  always_ff @(posedge clk_i) begin
    if (mark) {beats_q, plane_q, ends_q} <= {burst_beats_i, burst_plane_i, burst_end_i};
    held_aw_data_q <= {awaddr_o, awlen_o};
    held_w_data_q <= {wdata_o, wlast_o};
  end

  `MRC_PROVE(aw_stays, !held_aw_q || (awvalid_o && {awaddr_o, awlen_o} == held_aw_data_q))
  `MRC_PROVE(w_stays, !held_w_q || (wvalid_o && {wdata_o, wlast_o} == held_w_data_q))
  `MRC_PROVE(aw_as_pushed, !(awvalid_o && awaddr_o != '0)
      || (came_q && !issued_q && awaddr_o == 3'd2 && awlen_o == 8'(beats_q)))
  `MRC_PROVE(first_beat_first, !(wvalid_o && wdata_o != '0) || at_q == '0)
  `MRC_PROVE(last_is_reported, !(wvalid_o && wdata_o != '0) || wlast_o == !beats_q)
  `MRC_PROVE(fails_as_its_own, !(fail_o && fail_qp_o == 1'b1)
      || (came_q && ahead_q == '0 && !answered_q && bresp_i[1]))
  `MRC_PROVE(its_failure_reported, !(b && !stray_o && came_q && ahead_q == '0 && !answered_q)
      || (fail_o == bresp_i[1] && (!fail_o || fail_qp_o == 1'b1) && done_o == ends_q))
  `MRC_PROVE(stray_reported, stray_o == (bvalid_i && out_q == '0))
  `MRC_PROVE(bounded, 32'(out_q) <= Depth)
  `MRC_PROVE(idle_is_idle, !idle_o || {pushed_q, out_q, awvalid_o, wvalid_o} == '0)
  `MRC_COVER(aw_stays, held_aw_q && wvalid_o)
  `MRC_COVER(w_stays, held_w_q && at_q == 2'd1)
  `MRC_COVER(aw_as_pushed, awvalid_o && awaddr_o == 3'd2 && awlen_o == 8'd1 && out_q == 3'd2)
  `MRC_COVER(first_beat_first, wvalid_o && wdata_o != '0 && beats_q && plane_q && !ends_q)
  `MRC_COVER(fails_as_its_own, fail_o && fail_qp_o == 1'b1 && pushed_q != '0)
  `MRC_COVER(its_failure_reported, answered_q && ends_q)
  `MRC_COVER(stray_reported, stray_o && pushed_q != '0)
  `MRC_COVER(idle_is_idle, idle_o && answered_q)
  `MRC_COVER(bounded, out_q == 3'd2 && pushed_q == 3'd2)
endmodule
