// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Says when what was inside the NIC as software began a fence has left it: watches streams between
/// blocks, counts what goes into a stage and what comes out, and takes the stages one behind the
/// other. It stops nobody, looks into no packet, and knows no QPs: it waits for the packets of all.
/// A fence that is begun anew forgets the one before. Contract: docs/design/blocks/ctl/fence.md.
module mrc_fence
  import mrc_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned LaneFifo = 4,
    parameter int unsigned TxLaneFifo = 16,
    parameter int unsigned Slack = 0  // words that queues between the blocks hold besides
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,

    input logic go_i,
    output logic [31:0] owed_o,

    // Streams that are watched, and what tells that their words are done with.
    input logic retx_valid_i,
    input logic retx_ready_i,
    input logic order_done_i,
    input logic pkt_valid_i,
    input logic pkt_ready_i,
    input logic rec_done_i,
    input logic path_valid_i,
    input logic path_ready_i,
    input logic [3:0] path_plane_i,
    input logic [NumPlanes-1:0] data_done_i,
    input logic ctl_valid_i,
    input logic ctl_ready_i,
    input logic ctl_done_i,
    input logic rxpkt_valid_i,
    input logic rxpkt_ready_i,
    input logic [3:0] rxpkt_plane_i,
    input logic rxpkt_buf_valid_i,
    input logic posted_i,
    input logic goes_on_i,
    input logic ord_valid_i,
    input logic ord_ready_i,
    input logic ord_done_i,
    input logic done_valid_i,
    input logic [3:0] done_plane_i
);

  typedef enum logic [1:0] {
    StIdle,
    StFront,
    StCore,
    StLanes
  } state_e;

  state_e state_q, state_d;
  logic take_front, take_core, take_lanes;
  logic orders_owes, answers_owes, tracked_owes, packets_owes, ordered_owes;
  logic [4:0] unused_some;
  logic [NumPlanes-1:0] placed_owes, unused_placed, sent_some, sent_owes;

  mrc_fence_stage #(
      .Most(11 + Slack)
  ) u_orders (
      .clk_i,
      .rst_ni,
      .stands_i(retx_valid_i),
      .moves_i(retx_valid_i && retx_ready_i),
      .done_i(order_done_i),
      .take_i(take_front),
      .some_o(unused_some[0]),
      .owes_o(orders_owes)
  );

  mrc_fence_stage #(
      .Most(3 + Slack)
  ) u_answers (
      .clk_i,
      .rst_ni,
      .stands_i(ctl_valid_i),
      .moves_i(ctl_valid_i && ctl_ready_i),
      .done_i(ctl_done_i),
      .take_i(take_front),
      .some_o(unused_some[1]),
      .owes_o(answers_owes)
  );

  mrc_fence_stage #(
      .Most(6 + Slack)
  ) u_tracked (
      .clk_i,
      .rst_ni,
      .stands_i(rxpkt_valid_i),
      .moves_i(rxpkt_valid_i && rxpkt_ready_i),
      .done_i(posted_i),
      .take_i(take_front),
      .some_o(unused_some[2]),
      .owes_o(tracked_owes)
  );

  mrc_fence_stage #(
      .Most(8 + Slack)
  ) u_packets (
      .clk_i,
      .rst_ni,
      .stands_i(pkt_valid_i),
      .moves_i(pkt_valid_i && pkt_ready_i),
      .done_i(rec_done_i),
      .take_i(take_core),
      .some_o(unused_some[3]),
      .owes_o(packets_owes)
  );

  mrc_fence_stage #(
      .Most(3 + Slack)
  ) u_ordered (
      .clk_i,
      .rst_ni,
      .stands_i(ord_valid_i),
      .moves_i(ord_valid_i && ord_ready_i),
      .done_i(ord_done_i),
      .take_i(take_core),
      .some_o(unused_some[4]),
      .owes_o(ordered_owes)
  );

  for (genvar p = 0; p < int'(NumPlanes); p++) begin : gen_plane
    logic comes, goes;
    assign comes = rxpkt_valid_i && rxpkt_buf_valid_i && rxpkt_plane_i == 4'(p);
    assign goes = path_valid_i && path_plane_i == 4'(p);

    mrc_fence_stage #(
        .Most(LaneFifo + 12 + Slack)
    ) u_placed (
        .clk_i,
        .rst_ni,
        .stands_i(comes),
        .moves_i(comes && rxpkt_ready_i),
        .done_i(done_valid_i && done_plane_i == 4'(p)),
        .take_i(take_front),
        .some_o(unused_placed[p]),
        .owes_o(placed_owes[p])
    );

    mrc_fence_stage #(
        .Most(TxLaneFifo + 7 + Slack)
    ) u_sent (
        .clk_i,
        .rst_ni,
        .stands_i(goes),
        .moves_i(goes && path_ready_i),
        .done_i(data_done_i[p]),
        .take_i(take_lanes),
        .some_o(sent_some[p]),
        .owes_o(sent_owes[p])
    );
  end

  assign take_front = go_i;

  always_comb begin
    state_d = state_q;
    take_core = 1'b0;
    take_lanes = 1'b0;
    if (go_i) begin
      state_d = StFront;
    end else begin
      unique case (state_q)
        StFront: begin
          if (!orders_owes && !answers_owes && !tracked_owes && !goes_on_i) begin
            take_core = 1'b1;
            state_d = StCore;
          end
        end
        StCore: begin
          if (!packets_owes && !ordered_owes) begin
            take_lanes = 1'b1;
            state_d = StLanes;
          end
        end
        StLanes: begin
          if (sent_owes == '0 && placed_owes == '0) begin
            state_d = StIdle;
          end
        end
        default: ;
      endcase
    end
    // Bug 74: what is in front of the lanes is not waited for before they are taken.
    if (bug_i == BugFenceLanesFirst) begin
      take_lanes = go_i;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
    end else begin
      state_q <= state_d;
    end
  end

  logic busy, core;
  logic [NumPlanes-1:0] tx, rx;
  assign busy = state_q != StIdle;
  assign core = state_q == StFront || state_q == StCore;
  assign tx = core ? sent_some : (state_q == StLanes) ? sent_owes : '0;
  assign rx = busy ? placed_owes : '0;

  always_comb begin
    owed_o = 32'd0;
    owed_o[CsrFenceBusyLsb] = busy;
    owed_o[CsrFenceCoreLsb] = core;
    owed_o[CsrFenceTxLsb+:NumPlanes] = tx;
    owed_o[CsrFenceRxLsb+:NumPlanes] = rx;
  end

endmodule
