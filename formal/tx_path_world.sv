// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_tx_path_world: which losses of a QP, which is any, count. Two QPs, four planes. The clock
/// and EV_CTL.loss_share are any; where losses are counted up, the register stands.
module formal_tx_path_world
  import mrc_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input logic [2:0] loss_share_i,
    input logic [3:0] epoch_i,
    input logic clear_i,
    input logic clear_qp_i,
    input logic loss_i,
    input logic qp_i,
    input logic [1:0] plane_i
);
  `MRC_RESET

  logic counts_o;
  mrc_tx_path_world #(
      .NumPlanes(4),
      .NumQps(2)
  ) dut (
      .bug_i(8'(Bug)),
      .*
  );

  // ---- any QP, once set up

  logic k_q, set_q, sets, loss;
  always_ff @(posedge clk_i) k_q <= k_q;
  assign sets = clear_i && clear_qp_i == k_q;
  assign loss = loss_i && qp_i == k_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      set_q <= 1'b0;
    end else begin
      set_q <= set_q || sets;
    end
  end
  `MRC_GIVEN(one_at_a_time, !clear_i || !loss_i)
  `MRC_GIVEN(set_up_first, !loss || set_q)

  logic [15:0] row;
  logic [3:0] row_epoch, row_now, row_last, row_spared;
  assign row = dut.u_planes.mem_q[k_q];
  assign {row_epoch, row_now, row_last, row_spared} = row;

  // ---- what was lost since then: planes, and the epoch of the newest loss

  logic on, any_q;
  logic [3:0] seen_q, epoch_q, own, age;
  assign on = loss_share_i != 3'd0;
  assign own = 4'd1 << plane_i;
  assign age = epoch_i - epoch_q;
  always_ff @(posedge clk_i) begin
    if (sets) begin
      seen_q <= 4'd0;
      any_q <= 1'b0;
    end else if (loss && on) begin
      seen_q <= seen_q | own;
      any_q <= 1'b1;
      epoch_q <= epoch_i;
    end
  end
  `MRC_PROVE(no_share, !loss || on || counts_o)
  `MRC_COVER(no_share, loss && !on && (seen_q & ~own) == 4'hE)
  `MRC_PROVE(few_others, !loss || $countones(seen_q & ~own) >= 2 || counts_o)
  `MRC_COVER(few_others, loss && on && seen_q == (own | 4'd2) && !own[1])
  `MRC_PROVE(forgets, !(loss && any_q) || age <= 4'd1 || counts_o)
  `MRC_COVER(forgets, loss && on && any_q && age == 4'd2 && seen_q == 4'hF)

  // Two planes lose in an epoch. A third one that loses in it is in a bad world.
  logic [3:0] now_q;
  always_ff @(posedge clk_i) begin
    if (sets) begin
      now_q <= 4'd0;
    end else if (loss && on) begin
      now_q <= (any_q && age == 4'd0) ? now_q | own : own;
    end
  end

  // ---- how many in a row do not count, while the register stands

  logic [2:0] share_q;
  logic stands_q;
  logic [4:0] run_q, most;
  assign most = 5'd1 << ((share_q > 3'd4) ? 3'd4 : share_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stands_q <= 1'b0;
    end else if (sets) begin
      stands_q <= 1'b1;
    end else if (loss_share_i != share_q) begin
      stands_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (sets) begin
      share_q <= loss_share_i;
      run_q <= 5'd0;
    end else if (loss) begin
      run_q <= counts_o ? 5'd0 : run_q + 5'd1;
    end
  end
  logic stands;
  assign stands = set_q && stands_q && loss_share_i == share_q;
  `MRC_PROVE(in_time, !(loss && stands) || run_q < most - 5'd1 || counts_o)
  `MRC_COVER(in_time, loss && stands && share_q == 3'd2 && run_q == 5'd3)
  // And as few as that count: in a bad world, with nothing spared before.
  `MRC_PROVE(spares, !(loss && stands && on && any_q && age == 4'd0)
             || $countones(now_q & ~own) < 2 || row_spared == 4'(most - 5'd1) || !counts_o)
  `MRC_COVER(spares, loss && stands && on && !counts_o && now_q == 4'd3 && plane_i == 2'd2)

  // ---- what the induction needs

  `MRC_HELP(planes, !set_q || ((row_now | row_last) & ~seen_q) == 4'd0)
  `MRC_HELP(none_yet, !set_q || any_q || (seen_q == 4'd0 && row_spared == 4'd0))
  `MRC_HELP(epoch, !(set_q && any_q) || row_epoch == epoch_q)
  `MRC_HELP(now, !(set_q && any_q) || row_now == now_q)
  `MRC_HELP(run, !(set_q && stands_q) || run_q <= 5'(row_spared))
  `MRC_HELP(spared, !(set_q && stands_q) || 5'(row_spared) < most)
endmodule
