// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_ring_send with a host that writes any register at any time, a memory that answers in
/// order when it likes, or fails, and a core that takes and completes what it likes, in any order.
/// One ring is followed. The host puts the index into each descriptor that it posts; memory answers
/// with what is there when it answers: a slot that is used again too early shows. Ring q begins at
/// word 4 * q.
module formal_fpga_ring_send #(
    parameter int unsigned WqeDepth = 2,
    parameter int unsigned NumWqes = 6,
    parameter int unsigned Reads = 2,
    parameter int unsigned IdxW = 3,
    localparam int unsigned NumQps = 2,
    localparam int unsigned Pool = NumWqes - NumQps,
    localparam int unsigned WordW = 3,
    localparam int unsigned FreeW = $clog2(Pool + 1)
) (
    input logic clk_i,
    input logic follow_i,
    input logic want_write_i,
    input logic w_ring_i,
    input logic [2:0] w_reg_i,
    input logic [IdxW-1:0] w_value_i,
    input logic want_read_i,
    input logic r_ring_i,
    input logic [2:0] r_reg_i,
    input logic req_ready_i,
    input logic want_rsp_i,
    input logic rsp_err_i,
    input logic wqe_ready_i,
    input logic want_back_i,
    input logic want_answer_i,
    input logic answer_good_i,
    input logic done_qp_i,
    input logic look_qp_i
);
  `MRC_RESET

  logic w_req_i, w_act_o, w_err_o, r_req_i, r_act_o, req_valid_o, rsp_valid_i, wqe_valid_o;
  logic wqe_marker_o, wqe_qp_o, back_i, answer_i, look_cq_o, stray_o, error_o;
  logic [31:0] w_data_i, r_data_o;
  logic [WordW-1:0] req_word_o;
  logic [IdxW-1:0] rsp_data_i, wqe_data_o, look_idx_o;
  logic [FreeW-1:0] free_o;

  mrc_fpga_ring_send #(
      .NumQps(NumQps),
      .WqeDepth(WqeDepth),
      .NumWqes(NumWqes),
      .NumCqs(1),
      .Reads(Reads),
      .DataW(IdxW),
      .IdxW(IdxW),
      .WordW(WordW)
  ) dut (
      .*
  );

  // ---- the host's bus: what it asks stays until it is done

  logic w_held_q, r_held_q;
  logic [4:0] w_was_q;
  logic [31:0] w_data_q;
  assign w_req_i = (want_write_i || w_held_q) && rst_ni;
  assign r_req_i = (want_read_i || r_held_q) && rst_ni;
  assign w_data_i = (w_reg_i == 3'd0) ? {23'd0, w_ring_i, 8'd0} : 32'(w_value_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {w_held_q, r_held_q} <= '0;
    end else begin
      w_held_q <= w_req_i && !w_act_o;
      r_held_q <= r_req_i && !r_act_o;
    end
  end
  always_ff @(posedge clk_i) begin
    w_was_q <= {w_ring_i, w_reg_i, r_ring_i};
    w_data_q <= 32'(w_value_i);
  end
  `MRC_GIVEN(write_stays, !w_held_q || (w_was_q[4:1] == {w_ring_i, w_reg_i}
      && w_data_q == 32'(w_value_i)))
  `MRC_GIVEN(read_stays, !r_held_q || w_was_q[0] == r_ring_i)

  logic follow_q;
  always_ff @(posedge clk_i) follow_q <= follow_i;
  `MRC_GIVEN(same_ring, !rst_ni || follow_i == follow_q)

  // ---- memory: what each ring's slots say, and what is asked for, oldest first

  logic [NumQps-1:0][1:0][IdxW-1:0] slots_q, slots_d;
  logic [Reads-1:0][WordW-1:0] requested_q, requested_d;
  logic [1:0] n_q, n_d;
  logic req, rsp, w_ok, posts;
  // As the host knows the rings.
  logic [NumQps-1:0][IdxW-1:0] producer_q, producer_d;
  logic [NumQps-1:0] size_q, size_d, based_q;

  assign req = req_valid_o && req_ready_i;
  assign rsp = want_rsp_i && n_q != '0 && rst_ni;
  assign rsp_valid_i = rsp;
  assign rsp_data_i = slots_q[requested_q[0][2]][requested_q[0][0]];
  assign w_ok = w_act_o && !w_err_o;
  assign posts = w_ok && w_reg_i == 3'd4;

  for (genvar q = 0; q < NumQps; q++) begin : gen_host
    logic [IdxW-1:0] fresh;
    assign fresh = w_value_i - producer_q[q];
    assign producer_d[q] = (w_ring_i != 1'(q)) ? producer_q[q]
        : posts ? w_value_i : (w_ok && w_reg_i == 3'd3 && w_value_i[0]) ? '0 : producer_q[q];
    assign size_d[q] = (w_ok && w_reg_i == 3'd2 && w_ring_i == 1'(q)) ? w_value_i[0] : size_q[q];
    for (genvar s = 0; s < 2; s++) begin : gen_slot
      // The index that the slot gets: the last or the last but one of those that are posted.
      logic [IdxW-1:0] last;
      assign last = (size_q[q] && (w_value_i[0] == 1'(s))) ? w_value_i - IdxW'(2)
          : w_value_i - IdxW'(1);
      assign slots_d[q][s] = (posts && w_ring_i == 1'(q) && (size_q[q] || s == 0)
          && IdxW'(w_value_i - last) <= fresh) ? last : slots_q[q][s];
    end
  end

  always_comb begin
    requested_d = rsp ? requested_q >> WordW : requested_q;
    n_d = n_q - 2'(rsp);
    for (int unsigned k = 0; k < Reads; k++) begin
      if (req && 2'(k) == n_d) requested_d[k] = req_word_o;
    end
    n_d = n_d + 2'(req);
  end

  // ---- the core: work requests that it has of each QP; markers that wait for their answer

  logic [NumQps-1:0][2:0] core_q, core_d;
  logic [NumQps-1:0] marker_q, marker_d;
  logic take;
  assign take = wqe_valid_o && wqe_ready_i && rst_ni;
  assign back_i = want_back_i && core_q[done_qp_i] != '0 && rst_ni;
  assign answer_i = want_answer_i && !back_i && marker_q[done_qp_i] && rst_ni;
  for (genvar q = 0; q < NumQps; q++) begin : gen_core
    logic its;
    assign its = done_qp_i == 1'(q);
    assign core_d[q] = (answer_i && answer_good_i && its) ? '0
        : core_q[q] + 3'(take && !wqe_marker_o && wqe_qp_o == 1'(q)) - 3'(back_i && its);
    assign marker_d[q] = (take && wqe_marker_o && wqe_qp_o == 1'(q))
        || (marker_q[q] && !(answer_i && its));
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {slots_q, requested_q, n_q, producer_q, size_q, based_q, core_q, marker_q} <= '0;
    end else begin
      slots_q <= slots_d;
      requested_q <= requested_d;
      n_q <= n_d;
      producer_q <= producer_d;
      size_q <= size_d;
      core_q <= core_d;
      marker_q <= marker_d;
      if (w_ok && w_reg_i == 3'd0) based_q[w_ring_i] <= 1'b1;
    end
  end
  // A ring is opened when its base and size were written.
  logic [NumQps-1:0] configured_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) configured_q <= '0;
    else if (w_ok && w_reg_i == 3'd2) configured_q[w_ring_i] <= 1'b1;
  end
  `MRC_GIVEN(set_up, !(w_req_i && w_reg_i == 3'd3) || (configured_q[w_ring_i] && based_q[w_ring_i]))

  // ---- the followed ring

  logic mine, held_q, fresh, opened_q, opens, was_open_q;
  logic [IdxW-1:0] expect_q, expect_d;
  logic [IdxW+1:0] was_q;
  logic [2:0] total;
  assign mine = wqe_valid_o && !wqe_marker_o && wqe_qp_o == follow_i;
  assign fresh = mine && !held_q;
  assign opens = w_ok && w_reg_i == 3'd3 && w_ring_i == follow_i && w_value_i[0];
  assign expect_d = opens ? '0 : expect_q + IdxW'(fresh);
  always_comb begin
    total = '0;
    for (int unsigned q = 0; q < NumQps; q++) total = total + core_q[q];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {held_q, expect_q, opened_q, was_open_q} <= '0;
    end else begin
      held_q <= wqe_valid_o && !wqe_ready_i;
      expect_q <= expect_d;
      opened_q <= opened_q || opens;
      was_open_q <= dut.open_q[follow_i];
    end
  end
  always_ff @(posedge clk_i) was_q <= {wqe_marker_o, wqe_qp_o, wqe_data_o};

  // What is held of the ring: asked for and not come, waiting, on offer, with the core.
  logic [2:0] waiting;
  logic [Reads-1:0] its;
  for (genvar k = 0; k < Reads; k++) begin : gen_its
    logic [0:0] at;
    assign at = 1'(dut.u_tags.rptr_q) + 1'(k);
    assign its[k] = 32'(k) < 32'(dut.u_tags.count_q) && !dut.u_tags.mem_q[at].marker
        && dut.u_tags.mem_q[at].qp == follow_i;
  end
  assign waiting = 3'(its[0]) + 3'(its[1]) + 3'(mine);

  logic [IdxW-1:0] size;
  assign size = size_q[follow_i] ? IdxW'(2) : IdxW'(1);

  `MRC_PROVE(in_order, !fresh || wqe_data_o == expect_q)
  `MRC_PROVE(posted, !fresh || expect_q != producer_q[follow_i])
  `MRC_PROVE(stays, !held_q || (wqe_valid_o
      && {wqe_marker_o, wqe_qp_o, (wqe_marker_o ? was_q[IdxW-1:0] : wqe_data_o)} == was_q))
  `MRC_PROVE(closed, !fresh || was_open_q)
  `MRC_PROVE(consumer, !opened_q || opens || dut.u_consumer.mem_q[follow_i] == expect_d)
  `MRC_PROVE(room, !(wqe_valid_o && !wqe_marker_o)
      || (core_q[wqe_qp_o] < 3'(WqeDepth) && 32'(total) < Pool
          && (Pool - 32'(total) > NumWqes / 4 || core_q[wqe_qp_o] < 3'd2)))
  `MRC_PROVE(held, 3'(dut.held[follow_i]) == waiting + core_q[follow_i])
  `MRC_PROVE(host_in_range, !dut.open_q[follow_i] || producer_q[follow_i] - expect_q <= size)
  `MRC_PROVE(no_stray, !stray_o)
  `MRC_PROVE(opened_at_rest, !opens || waiting == '0)
  `MRC_PROVE(marker_alone, !(wqe_valid_o && wqe_marker_o && wqe_qp_o == follow_i)
      || (dut.opening_q[follow_i] && its == '0))
  `MRC_COVER(in_order, fresh && expect_q == 3'd2 && size == 3'd2)
  `MRC_COVER(stays, held_q && mine && n_q == 2'd1)
  `MRC_COVER(closed, mine && held_q && !dut.open_q[follow_i])
  `MRC_COVER(consumer, opened_q && expect_q == 3'd2)
  `MRC_COVER(room, wqe_valid_o && !wqe_marker_o && core_q[wqe_qp_o] == 3'd1 && total == 3'd2)
  `MRC_COVER(held, core_q[follow_i] == 3'd1 && its[0])
  `MRC_COVER(host_in_range, producer_q[follow_i] - expect_q == 3'd2 && expect_q == 3'd1)
  `MRC_COVER(no_stray, answer_i && !answer_good_i)
  `MRC_COVER(opened_at_rest, opens && opened_q && core_q[follow_i] != '0)
  `MRC_COVER(marker_alone, marker_q[follow_i] && answer_i && answer_good_i)
endmodule
