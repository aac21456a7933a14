// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_in_turn with numbers that are handed out, answered and taken back when it likes, and
/// answers that nobody waits for. One number's life is followed (marked); which numbers are open,
/// and which have their answer, is kept apart.
module formal_fpga_in_turn #(
    parameter int unsigned N = 4,
    localparam int unsigned IdW = 2
) (
    input logic clk_i,
    input logic want_i,
    input logic mark_i,
    input logic came_i,
    input logic [IdW-1:0] came_id_i,
    input logic came_err_i,
    input logic want_take_i
);
  `MRC_RESET

  logic issue_i, room_o, stray_o, turn_valid_o, turn_err_o, take_i;
  logic [IdW-1:0] id_o, turn_id_o;

  mrc_fpga_in_turn #(
      .N(N)
  ) dut (
      .*
  );

  logic [N-1:0] open_q, open_d, answered_q, answered_d;
  logic [IdW:0] count_q, ahead_q;
  // The followed number: it was handed out, has its answer and its error, was taken back.
  logic marked_q, has_q, bad_q, gone_q, mark, first, answer;
  logic [IdW-1:0] number_q;

  assign issue_i = want_i && room_o && rst_ni;
  assign take_i = want_take_i && turn_valid_o;
  assign mark = issue_i && mark_i && !marked_q;
  assign answer = came_i && open_q[came_id_i] && !answered_q[came_id_i];
  // It is the oldest that is open.
  assign first = marked_q && !gone_q && ahead_q == '0;

  always_comb begin
    open_d = open_q;
    answered_d = answered_q;
    if (answer) answered_d[came_id_i] = 1'b1;
    if (take_i) {open_d[turn_id_o], answered_d[turn_id_o]} = '0;
    if (issue_i) open_d[id_o] = 1'b1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {open_q, answered_q, count_q, ahead_q, marked_q, has_q, bad_q, gone_q, number_q} <= '0;
    end else begin
      open_q <= open_d;
      answered_q <= answered_d;
      count_q <= count_q + (IdW + 1)'(issue_i) - (IdW + 1)'(take_i);
      marked_q <= marked_q || mark;
      ahead_q <= mark ? count_q - (IdW + 1)'(take_i)
          : ahead_q - (IdW + 1)'(take_i && ahead_q != '0);
      gone_q <= gone_q || (first && take_i);
      if (mark) number_q <= id_o;
      if (answer && marked_q && !gone_q && came_id_i == number_q) begin
        has_q <= 1'b1;
        bad_q <= came_err_i;
      end
    end
  end

  `MRC_PROVE(room, room_o == (32'(count_q) < N))
  `MRC_PROVE(free_numbers, !issue_i || !open_q[id_o])
  `MRC_PROVE(in_turn, !first || (turn_id_o == number_q && turn_valid_o == has_q))
  `MRC_PROVE(its_error, !(first && turn_valid_o) || turn_err_o == bad_q)
  `MRC_PROVE(stray_reported, stray_o == (came_i && !answer))
  `MRC_PROVE(none_of_nothing, !turn_valid_o || count_q != '0)
  `MRC_COVER(room, !room_o && want_i)
  `MRC_COVER(free_numbers, issue_i && count_q == 3'd3 && turn_id_o == 2'd2)
  `MRC_COVER(in_turn, first && turn_valid_o && number_q == 2'd1 && answered_q == 4'b1010)
  `MRC_COVER(its_error, first && turn_valid_o && bad_q)
  `MRC_COVER(stray_reported, stray_o && answered_q[came_id_i] && count_q == 3'd4)
endmodule
