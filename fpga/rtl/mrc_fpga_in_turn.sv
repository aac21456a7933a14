// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// N numbers, handed out one behind the other, whose answers come in any order and leave in theirs.
/// issue_i takes id_o, the next number, while there is room: N at most are open. An answer may come
/// from the cycle behind that on; it is told as turn_* when it is the oldest one's, from the cycle
/// behind the one in which it came, until take_i, which frees the number. One of each per cycle.
/// An answer to a number that is not open, or has its answer, is stray_o and nothing else.
/// Contract: docs/design/boards/host_b.md.
module mrc_fpga_in_turn #(
    parameter int unsigned N = 16,
    localparam int unsigned IdW = $clog2(N)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic issue_i,
    output logic room_o,
    output logic [IdW-1:0] id_o,
    input logic came_i,
    input logic [IdW-1:0] came_id_i,
    input logic came_err_i,
    output logic stray_o,
    output logic turn_valid_o,
    output logic [IdW-1:0] turn_id_o,
    output logic turn_err_o,
    input logic take_i
);

  if (N < 2 || N != 2 ** IdW) begin : gen_bad_number
    $error("%m: N must be a power of two, at least 2");
  end

  // Numbers that were handed out and taken back: the last bit is a lap.
  logic [IdW:0] issued_q, taken_q, open;
  logic [N-1:0] came_q, came_d, err_q;
  logic [IdW-1:0] behind;
  logic known;

  assign open = issued_q - taken_q;
  assign room_o = open != (IdW + 1)'(N);
  assign id_o = issued_q[IdW-1:0];
  assign turn_id_o = taken_q[IdW-1:0];
  assign turn_valid_o = came_q[turn_id_o];
  assign turn_err_o = err_q[turn_id_o];
  // Places behind the oldest.
  assign behind = came_id_i - turn_id_o;
  assign known = (IdW + 1)'(behind) < open && !came_q[came_id_i];
  assign stray_o = came_i && !known;

  always_comb begin
    came_d = came_q;
    if (take_i) begin
      came_d[turn_id_o] = 1'b0;
    end
    if (came_i && known) begin
      came_d[came_id_i] = 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      issued_q <= '0;
      taken_q <= '0;
      came_q <= '0;
    end else begin
      issued_q <= issued_q + (IdW + 1)'(issue_i);
      taken_q <= taken_q + (IdW + 1)'(take_i);
      came_q <= came_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (came_i && known) begin
      err_q[came_id_i] <= came_err_i;
    end
  end

  `MRC_ASSERT(IssuesWithRoom, !issue_i || room_o, "a number is handed out, and all are open")
  `MRC_ASSERT(TakesAnAnswer, !take_i || turn_valid_o, "a number is taken back without its answer")

endmodule
