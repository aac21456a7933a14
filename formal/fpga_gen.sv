// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_gen with software that writes any register at any time, a core that takes work requests
/// when it likes, is in reset when it likes, and completions of any kind in any cycle.
module formal_fpga_gen
  import mrc_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned CountW = 32
) (
    input logic clk_i,
    input logic run_i,
    input logic w_go_i,
    input logic [9:0] w_word_i,
    input logic [31:0] w_data_i,
    input logic wqe_ready_i,
    input logic cqe_valid_i,
    input cqe_t cqe_i
);
  `MRC_RESET

  typedef struct packed {
    logic there;
    logic [7:0] status;
    logic [31:0] id;
  } failure_t;

  logic w_good_o, r_good_o, wqe_valid_o, cqe_ready_o;
  logic [31:0] r_data_o;
  wqe_t wqe_o;

  mrc_fpga_gen #(
      .NumQps(NumQps),
      .CountW(CountW)
  ) dut (
      .w_strb_i(4'hf),
      .r_word_i(10'd0),
      .*
  );

  localparam logic [9:0] Control = 10'h005;

  // Written to CONTROL in this cycle; a work request that was not on offer in the cycle before.
  logic control, begins, forgets, clears, fresh, own;
  // Of the cycle before: on offer and not taken. Since the last begin: work requests that were put
  // on offer, and those that have not completed. No run is on.
  logic held_q, over_q;
  wqe_t held_wqe_q;
  logic [31:0] posted_q, open_q, posted, open;
  // Counters of the cycle before, 0 if they were cleared in it; whether a completion came in it, or
  // one of the run; whether the run was cut in it.
  logic [31:0] was_posted_q, was_open_q;
  logic [4:0][31:0] was_q, is;
  logic came_q, own_q, cuts_q;
  failure_t first_q;

  assign control = w_go_i && w_good_o && w_word_i == Control;
  assign begins = control && w_data_i[0];
  assign forgets = control && w_data_i[1];
  assign clears = begins || (control && w_data_i[2]);
  assign fresh = wqe_valid_o && !held_q;
  assign posted = posted_q + 32'(fresh);
  assign open = open_q + 32'(fresh);
  assign own = run_i && cqe_valid_i && cqe_ready_o && !cqe_i.recv && open != 0
      && cqe_i.wr_id[31:24] == dut.era_q;

  assign is = {dut.strays_q, dut.recv_failed_q, dut.recv_q, dut.failed_q, dut.good_q};

  /// Which counters have gone up by one, if the others have not changed.
  logic [4:0] up;
  logic up_or_same;
  always_comb begin
    up_or_same = 1'b1;
    for (int unsigned i = 0; i < 5; i++) begin
      up[i] = is[i] != was_q[i];
      up_or_same = up_or_same && (!up[i] || is[i] == was_q[i] + 1);
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {held_q, over_q, posted_q, open_q, first_q} <= {1'b0, 1'b1, 105'd0};
      {was_posted_q, was_open_q, was_q, came_q, own_q, cuts_q} <= '0;
    end else begin
      held_q <= wqe_valid_o && !wqe_ready_i && run_i;
      over_q <= (over_q || control || !run_i) && !begins;
      posted_q <= clears ? '0 : posted;
      open_q <= (forgets || !run_i) ? '0 : open - 32'(own);
      was_posted_q <= clears ? '0 : dut.posted_q;
      was_open_q <= 32'(dut.open_q);
      was_q <= clears ? '0 : is;
      came_q <= run_i && cqe_valid_i && cqe_ready_o;
      own_q <= own;
      cuts_q <= forgets || !run_i;
      if (clears) begin
        first_q <= '0;
      end else if (own && cqe_i.status != CqStatusOk && !first_q.there) begin
        first_q <= {1'b1, cqe_i.status, cqe_i.wr_id};
      end
    end
  end
  always_ff @(posedge clk_i) held_wqe_q <= wqe_o;

  `MRC_PROVE(limit, open <= 32'(dut.limit_q))
  `MRC_PROVE(stop, !fresh || !over_q)
  `MRC_PROVE(stays, !held_q || (wqe_valid_o && wqe_o == held_wqe_q))
  `MRC_PROVE(count, dut.count_q == 0 || !dut.busy || over_q || posted <= dut.count_q)
  `MRC_PROVE(number, !fresh || wqe_o.wr_id == {dut.era_q, posted_q[23:0]})
  `MRC_PROVE(of_the_set, !fresh || dut.qps_q[wqe_o.qp[1:0]])
  `MRC_PROVE(together, !fresh || wqe_o.laddr - dut.laddr_q == wqe_o.raddr - dut.raddr_q)
  `MRC_PROVE(all_counted, up_or_same && (up & (up - 5'd1)) == 5'd0 && (up != 5'd0) == came_q)
  `MRC_PROVE(balance, cuts_q || (dut.posted_q - was_posted_q <= 1 && own_q == (up[0] || up[1])
      && 32'(dut.open_q) == was_open_q + (dut.posted_q - was_posted_q) - 32'(own_q)))
  `MRC_PROVE(first, first_q == {dut.first_q.there, dut.first_q.status, dut.first_q.id})

  `MRC_HELP(open, 32'(dut.open_q) == open)
  `MRC_HELP(posted, dut.posted_q == posted)
  `MRC_HELP(runs, !dut.run_q || (!over_q && dut.qps_q[dut.qp_q] && dut.limit_q != 0))
  `MRC_HELP(to_go, !dut.run_q || dut.count_q == 0 || posted < dut.count_q)
  `MRC_HELP(idle, dut.busy || open == 0)
  `MRC_HELP(held, !held_q || dut.valid_q)

  `MRC_COVER(limit, open == 2 && open == 32'(dut.limit_q))
  `MRC_COVER(stop, over_q && wqe_valid_o && posted_q != 0)
  `MRC_COVER(stays, held_q)
  `MRC_COVER(count, dut.count_q == 2 && !over_q && dut.busy && posted == 2)
  `MRC_COVER(number, fresh && posted_q[0])
  `MRC_COVER(of_the_set, fresh && posted_q[0] && dut.qps_q != '1)
  `MRC_COVER(together, fresh && posted_q[0] && wqe_o.laddr != dut.laddr_q)
  `MRC_COVER(all_counted, came_q && dut.good_q == 1 && dut.recv_q == 1 && dut.strays_q == 1)
  `MRC_COVER(balance, own_q && posted == 2 && dut.failed_q == 1 && dut.open_q == 1)
  `MRC_COVER(first, first_q.there && dut.failed_q == 2)
endmodule
