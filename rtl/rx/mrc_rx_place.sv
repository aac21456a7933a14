// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Merges the lanes' lines into the host's write port, round robin, one line per cycle
/// (docs/design/blocks/rx/rx_place.md), and reports when the last line of a packet was taken by the
/// host, or a packet was discarded (a line of length 0). While the host takes nothing, nothing is
/// done: what counts done packets never overtakes data that wait here. A line leaves with the
/// number of its plane. It does not align: the host takes any byte address.
module mrc_rx_place
  import mrc_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned HostBytes = 128
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,

    input logic [NumPlanes-1:0] line_valid_i,
    output logic [NumPlanes-1:0] line_ready_o,
    // Unpacked: the simulator moves single elements of it.
    input line_t line_i[0:NumPlanes-1],

    output logic line_valid_o,
    input logic line_ready_i,
    output line_t line_o,

    output logic done_valid_o,
    output logic [3:0] done_plane_o
);

  localparam int unsigned IdxW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1;

  // A line as far as the host is wide: what stands above it is 0.
  typedef struct packed {
    logic [63:0] addr;
    logic [7:0] len;
    logic last;
    logic [3:0] plane;
    qp_index_t qp;
    logic [HostBytes*8-1:0] data;
  } kept_t;

  function automatic kept_t kept_of(line_t line);
    return '{
        addr: line.addr,
        len: line.len,
        last: line.last,
        plane: line.plane,
        qp: line.qp,
        data: line.data[HostBytes*8-1:0]
    };
  endfunction

  function automatic line_t line_of(kept_t kept);
    return '{
        addr: kept.addr,
        len: kept.len,
        last: kept.last,
        plane: kept.plane,
        qp: kept.qp,
        data: 1024'(kept.data)
    };
  endfunction

  logic [NumPlanes-1:0] head_v, empty, can, gnt;
  kept_t head[0:NumPlanes-1];
  kept_t line_d, line_q;
  logic any, out_free, handshake, fin, take, take_empty, load;
  logic [IdxW-1:0] idx;
  logic [3:0] done_plane_q, done_plane_d;
  logic done_valid_q, done_valid_d;

  for (genvar i = 0; i < NumPlanes; i++) begin : gen_in
    logic [1:0] count_unused;
    mrc_fifo #(
        .T(kept_t),
        .Depth(2)
    ) u_in (
        .clk_i,
        .rst_ni,
        .valid_i(line_valid_i[i]),
        .ready_o(line_ready_o[i]),
        .data_i(kept_of(line_i[i])),
        .valid_o(head_v[i]),
        .ready_i(take && gnt[i]),
        .data_o(head[i]),
        .count_o(count_unused)
    );
    // Bug 101: a packet that was discarded is written as a line of no bytes.
    assign empty[i] = head[i].len == 8'd0 && bug_i != BugEmptyWrite;
    // Bug 58: a discarded packet is done while data ahead of it wait for the host.
    assign can[i] = head_v[i] && (out_free || (empty[i] && bug_i == BugDoneOutOfTurn))
                    && !(empty[i] && fin);
  end

  assign handshake = line_valid_o && line_ready_i;
  assign fin = handshake && line_o.last && bug_i != BugDoneTooEarly;

  mrc_rr_arb #(
      .N(NumPlanes)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i(can),
      .take_i(take),
      .gnt_o(gnt),
      .idx_o(idx),
      .any_o(any)
  );

  assign take = any;
  assign take_empty = any && empty[idx];
  assign load = any && !empty[idx];

  always_comb begin
    line_d = head[idx];
    // Bug 66: the register keeps the plane that it has.
    line_d.plane = (bug_i == BugPlaneStuck) ? line_o.plane : 4'(idx);
  end

  mrc_out_reg #(
      .T(kept_t)
  ) u_out (
      .clk_i,
      .rst_ni,
      .load_i(load),
      .data_i(line_d),
      .free_o(out_free),
      .valid_o(line_valid_o),
      .ready_i(line_ready_i),
      .data_o(line_q)
  );

  assign line_o = line_of(line_q);

  always_comb begin
    done_valid_d = 1'b0;
    done_plane_d = done_plane_q;
    if (take_empty) begin
      done_valid_d = 1'b1;
      done_plane_d = 4'(idx);
    end
    if (fin) begin
      done_valid_d = 1'b1;
      done_plane_d = line_o.plane;
    end
    if (bug_i == BugDoneTooEarly && load && head[idx].last) begin
      done_valid_d = 1'b1;
      done_plane_d = 4'(idx);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      done_valid_q <= 1'b0;
    end else begin
      done_valid_q <= done_valid_d;
    end
  end

  always_ff @(posedge clk_i) begin
    done_plane_q <= done_plane_d;
  end

  assign done_valid_o = done_valid_q;
  assign done_plane_o = done_plane_q;

  // ---- what always holds

  `MRC_ASSERT_IF(DoneIsLast, done_valid_d, take_empty || fin,
      "a packet is done before the host took its last line")
  `MRC_ASSERT(DoneOnce, !(take_empty && fin),
      "two packets are done in one cycle")
  `MRC_ASSERT_IF(PlaneOfALine, line_valid_o, 32'(line_o.plane) < NumPlanes,
      "a line of no plane")
  `MRC_ASSERT_IF(HostGetsBytes, line_valid_o, line_o.len != 8'd0,
      "the host is told of a packet that was discarded")
  `MRC_ASSERT_IF(LaneNamesNoPlane, take, head[idx].plane == 4'd0,
      "a lane names a plane")
  `MRC_ASSERT_IF(WaitsForRoom, take, out_free,
      "a packet passes the one ahead of it")
  `MRC_ASSERT_IF(LoadsALine, load, 32'(head[idx].len) <= HostBytes,
      "a line is longer than it can be")

`ifdef MRC_ASSERT_ON
  // Of each plane: a packet has begun and not ended, its QP, and where its next line goes.
  logic [NumPlanes-1:0] open_q;
  qp_index_t qp_q[0:NumPlanes-1];
  logic [63:0] next_q[0:NumPlanes-1];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q <= '0;
    end else if (load) begin
      open_q[idx] <= !line_d.last;
    end
  end
  always_ff @(posedge clk_i) begin
    if (load) begin
      qp_q[idx] <= line_d.qp;
      next_q[idx] <= line_d.addr + 64'(line_d.len);
    end
  end

  `MRC_ASSERT_IF(PacketOfOneQp, load && open_q[idx], line_d.qp == qp_q[idx],
      "a packet has lines of two QPs")
  `MRC_ASSERT_IF(PacketWithoutGap, load && open_q[idx], line_d.addr == next_q[idx],
      "a packet has a gap, or another one stands in it")
  `MRC_ASSERT(PacketEnds, !(take_empty && open_q[idx]),
      "a packet is discarded that has lines")
`endif

endmodule
