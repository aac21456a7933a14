// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_ring_done with completions for either ring, memory that has room and answers in order
/// when it likes, and a host that writes any register at any time. One ring is followed: what the
/// host and the memory know of it.
module formal_fpga_ring_done #(
    parameter int unsigned IdxW = 3,
    localparam int unsigned NumCqs = 2,
    localparam int unsigned WordW = 3,
    localparam int unsigned Depth = 4
) (
    input logic clk_i,
    input logic follow_i,
    input logic w_act_i,
    input logic w_ring_i,
    input logic [2:0] w_reg_i,
    input logic [31:0] w_data_i,
    input logic r_ring_i,
    input logic [2:0] r_reg_i,
    input logic cqe_valid_i,
    input logic cqe_cq_i,
    input logic want_room_i,
    input logic want_done_i,
    input logic fails_i
);
  `MRC_RESET

  logic w_err_o, cqe_pop_o, put_o, room_i, put_half_o, put_phase_o, done_i, fail_i, done_cq_i;
  logic error_o, follow_q;
  logic [31:0] r_data_o;
  logic [WordW-1:0] put_word_o;
  logic [NumCqs-1:0] irq_o;

  mrc_fpga_ring_done #(
      .NumCqs(NumCqs),
      .IdxW(IdxW),
      .WordW(WordW)
  ) dut (
      .w_act_i(w_act_i && rst_ni),
      .cqe_valid_i(cqe_valid_i && rst_ni),
      .*
  );

  // Entries that memory has and has not acknowledged, oldest first: their ring.
  logic [Depth-1:0] owed_q, owed_d;
  logic [2:0] n_q, n_d;
  // Of the ring: what the host has set, and counts of entries given, acknowledged, taken.
  logic open_q, open_d, armed_q, fired_q;
  logic [1:0] size_log_q;
  logic [WordW-1:0] base_q;
  logic [IdxW-1:0] given_q, given_d, acked_q, acked_d, taken_q, taken_d, size, slot;
  logic write, mine, acked, opens;

  assign room_i = want_room_i && 32'(n_q) < Depth;
  assign done_i = want_done_i && n_q != '0 && rst_ni;
  assign fail_i = done_i && fails_i;
  assign done_cq_i = owed_q[0];
  assign mine = put_o && cqe_cq_i == follow_i;
  assign acked = done_i && done_cq_i == follow_i;
  assign write = w_act_i && rst_ni && w_ring_i == follow_i && !w_err_o;
  assign opens = write && w_reg_i == 3'd3 && w_data_i[0];
  assign size = IdxW'(1) << size_log_q;
  assign slot = given_q & (size - IdxW'(1));

  always_comb begin
    owed_d = owed_q >> done_i;
    n_d = n_q - 3'(done_i);
    for (int unsigned k = 0; k < Depth; k++) begin
      if (put_o && 3'(k) == n_d) owed_d[k] = cqe_cq_i;
    end
    n_d = n_d + 3'(put_o);
    given_d = given_q + IdxW'(mine);
    acked_d = acked_q + IdxW'(acked);
    taken_d = (write && w_reg_i == 3'd4) ? w_data_i[IdxW-1:0] : taken_q;
    open_d = (write && w_reg_i == 3'd3) ? w_data_i[0] : open_q;
    if (opens) {given_d, acked_d, taken_d} = '0;
  end

  logic more, arms, lost_q, jump_q;
  logic [IdxW-1:0] unread;
  assign unread = acked_q - taken_q;
  assign more = !unread[IdxW-1] && unread != '0;
  assign arms = write && w_reg_i == 3'd7;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {owed_q, n_q, given_q, acked_q, taken_q, open_q, size_log_q, base_q} <= '0;
      {armed_q, fired_q, lost_q, jump_q} <= '0;
    end else begin
      owed_q <= owed_d;
      n_q <= n_d;
      given_q <= given_d;
      acked_q <= acked_d;
      taken_q <= taken_d;
      open_q <= open_d;
      if (write && w_reg_i == 3'd2) size_log_q <= w_data_i[1:0];
      if (write && w_reg_i == 3'd0) base_q <= w_data_i[6+:WordW];
      armed_q <= arms ? w_data_i[0] : armed_q && !more;
      fired_q <= !arms && (fired_q || (armed_q && more));
      lost_q <= cqe_valid_i && cqe_pop_o && !put_o && cqe_cq_i == follow_i;
      jump_q <= w_act_i && w_ring_i == follow_i && w_reg_i == 3'd4 && w_err_o && open_q;
    end
  end
  always_ff @(posedge clk_i) follow_q <= follow_i;
  `MRC_GIVEN(same_ring, !rst_ni || follow_i == follow_q)

  logic [3:0] err;
  assign err = dut.ring_q[follow_i].err;

  `MRC_PROVE(in_turn, !mine || (put_word_o == base_q + WordW'(slot >> 1)
      && put_half_o == slot[0] && put_phase_o == ((given_q & size) == '0)))
  `MRC_PROVE(not_overwritten, !mine || (open_q && given_q - taken_q < size))
  `MRC_PROVE(once, put_o == (cqe_pop_o && dut.ring_q[cqe_cq_i].open)
      && (!cqe_pop_o || cqe_valid_i))
  `MRC_PROVE(none_lost, !(cqe_valid_i && rst_ni && cqe_pop_o && cqe_cq_i == follow_i && open_q)
      || put_o)
  `MRC_PROVE(goes_on, !(cqe_valid_i && rst_ni && cqe_cq_i == follow_i && open_q && room_i
      && given_q - taken_q != size) || put_o)
  `MRC_PROVE(lost_reported, !lost_q || err[3])
  `MRC_PROVE(jump_reported, !jump_q || err[0])
  `MRC_PROVE(host_in_range, !open_q || given_q - taken_q <= size)
  `MRC_PROVE(interrupt, irq_o[follow_i] == fired_q)
  `MRC_PROVE(opened_at_rest, !opens || given_q == acked_q)
  `MRC_COVER(in_turn, mine && size == 3'd2 && given_q == 3'd3 && base_q == '1)
  `MRC_COVER(not_overwritten, mine && given_q - taken_q == 3'd1 && size == 3'd2)
  `MRC_COVER(once, cqe_valid_i && !cqe_pop_o && room_i && rst_ni)
  `MRC_COVER(none_lost, cqe_valid_i && cqe_pop_o && cqe_cq_i == follow_i && open_q)
  `MRC_COVER(goes_on, mine && given_q - taken_q == 3'd1)
  `MRC_COVER(lost_reported, lost_q)
  `MRC_COVER(jump_reported, jump_q && given_q == 3'd2)
  `MRC_COVER(host_in_range, size == 3'd2 && given_q == 3'd1 && taken_q == 3'd7)
  `MRC_COVER(interrupt, fired_q && acked_q == 3'd1 && given_q == 3'd2)
  `MRC_COVER(opened_at_rest, opens && n_q != '0)

  // Of both rings: what is owed, by their counts; and no ring is larger than its indices allow.
  logic [NumCqs-1:0] owed, sized;
  logic [NumCqs-1:0][2:0] its_owed;
  for (genvar c = 0; c < NumCqs; c++) begin : gen_owed
    always_comb begin
      its_owed[c] = '0;
      for (int unsigned k = 0; k < Depth; k++) begin
        if (3'(k) < n_q && owed_q[k] == 1'(c)) its_owed[c] = its_owed[c] + 3'd1;
      end
    end
    assign owed[c] = IdxW'(its_owed[c]) == dut.ring_q[c].producer - dut.ring_q[c].written;
    assign sized[c] = dut.ring_q[c].size_log <= 4'd1;
  end
  `MRC_HELP(owed, 32'(n_q) <= Depth && owed == '1)
  `MRC_HELP(sized, sized == '1)
  `MRC_HELP(same, dut.ring_q[follow_i].producer == given_q
      && dut.ring_q[follow_i].written == acked_q && dut.ring_q[follow_i].consumer == taken_q
      && dut.ring_q[follow_i].open == open_q && dut.ring_q[follow_i].armed == armed_q
      && dut.ring_q[follow_i].size_log == 4'(size_log_q)
      && dut.ring_q[follow_i].base[6+:WordW] == base_q)
endmodule
