// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Whether a loss says something about its EV (docs/design/blocks/tx/tx_path.md, a loss in a bad
/// world): per QP it keeps which planes lost of late, and how many losses did not count. While half
/// of the other planes lose too, one loss of 2^loss_share counts. With loss_share 0 each does, and
/// the register file is neither read nor written, but for the QP's setup. The answer is there in
/// the cycle in which the loss is; it does not decide what a loss is.
module mrc_tx_path_world
  import mrc_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4,
    localparam int unsigned QpW = $clog2(NumQps),
    localparam int unsigned PlaneW = $clog2(NumPlanes)
) (
    input logic clk_i,
    input logic [7:0] bug_i,
    input logic [2:0] loss_share_i,
    input logic [3:0] epoch_i,

    // A QP is set up: nothing is known of its planes.
    input logic clear_i,
    input logic [QpW-1:0] clear_qp_i,

    // A loss of a QP on a plane.
    input logic loss_i,
    input logic [QpW-1:0] qp_i,
    input logic [PlaneW-1:0] plane_i,
    output logic counts_o
);

  typedef struct packed {
    logic [3:0] epoch;  // of `now`
    logic [NumPlanes-1:0] now;  // planes that lost in this epoch
    logic [NumPlanes-1:0] last;  // and in the one before
    logic [3:0] spared;  // losses that did not count, modulo 2^loss_share
  } world_t;

  logic on;
  world_t world, world_d;
  assign on = loss_share_i != 3'd0;

  mrc_rf_1r1w #(
      .Width($bits(world_t)),
      .Depth(NumQps)
  ) u_planes (
      .clk_i,
      .raddr_i(on ? qp_i : {QpW{1'b0}}),
      .rdata_o(world),
      .we_i(clear_i || (loss_i && on)),
      .waddr_i(clear_i ? clear_qp_i : qp_i),
      .wdata_i(clear_i ? world_t'('0) : world_d)
  );

  logic [3:0] age, last_spared, spared;
  logic [NumPlanes-1:0] own, now, last, others;
  logic bad_world;
  logic [PlaneW:0] count;

  assign age = epoch_i - world.epoch;
  assign now = (age == 4'd0) ? world.now : '0;

  always_comb begin
    own = '0;
    own[plane_i] = 1'b1;
    last = '0;
    if (age == 4'd0) begin
      last = world.last;
    end else if (age == 4'd1) begin
      last = world.now;
    end
    // Bug 122: its own losses make the world of a plane bad.
    others = (now | last) & ((bug_i == BugWorldOfOnePlane) ? {NumPlanes{1'b1}} : ~own);
    count = '0;
    for (int unsigned j = 0; j < NumPlanes; j++) begin
      count = count + (PlaneW + 1)'(others[j]);
    end
    unique case (loss_share_i)
      3'd0: last_spared = 4'd0;
      3'd1: last_spared = 4'd1;
      3'd2: last_spared = 4'd3;
      3'd3: last_spared = 4'd7;
      default: last_spared = 4'd15;
    endcase
  end

  // Half of all planes, of which own is none: so there are some.
  assign bad_world = count >= (PlaneW + 1)'(NumPlanes / 2);
  assign spared = (world.spared + 4'd1) & last_spared;
  // With loss_share 0 nothing is spared.
  assign counts_o = !bad_world || spared == 4'd0;
  assign world_d = '{
          epoch: epoch_i,
          now: now | own,
          last: last,
          spared: bad_world ? spared : world.spared
      };

  // ---- what always holds

  `MRC_ASSERT_CLK_IF(OneWriter, clear_i, !loss_i,
      "a QP is set up while a loss is weighed")
  `MRC_ASSERT_CLK_IF(AloneItCounts, loss_i && on && others == '0, counts_o,
      "no other plane has lost, and the loss does not count")

endmodule
