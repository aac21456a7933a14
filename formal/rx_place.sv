// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_rx_place: no packet is done before its data are with the host. One last line of one plane
/// is coloured (address 1, all others 0): as many packets of its plane as were before it may be
/// done, and then it must have been taken before its own done is told. What the host sees of a line
/// is its plane (each lane has a QP of its own) and stays as it is until the line is taken.
module formal_rx_place
  import mrc_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input logic [1:0] line_valid_i,
    input logic [1:0] last_i,
    input logic [1:0] empty_i,
    input logic mark_i,
    input logic line_ready_i
);
  `MRC_RESET

  logic [1:0] line_ready_o;
  line_t line_i[0:1];
  line_t line_o;
  logic line_valid_o, done_valid_o;
  logic [3:0] done_plane_o;
  mrc_rx_place #(
      .NumPlanes(2)
  ) dut (
      .bug_i(8'(Bug)),
      .*
  );

  logic k_q;
  always_ff @(posedge clk_i) k_q <= k_q;
  logic mark, marked_q, taken_q, ends, done;
  logic [2:0] before_q;  // of plane k: ended, and not yet done
  logic [2:0] ahead_q;   // the same when the mark was set
  for (genvar i = 0; i < 2; i++) begin : gen_line
    always_comb begin
      line_i[i] = '0;
      line_i[i].len = empty_i[i] ? 8'd0 : 8'd64;
      line_i[i].last = last_i[i] || empty_i[i];
      line_i[i].qp = qp_index_t'(i) + qp_index_t'(5);
      line_i[i].addr = 64'(mark && k_q == 1'(i));
    end
  end
  assign mark = mark_i && !marked_q && last_i[k_q] && !empty_i[k_q];
  assign ends = line_valid_i[k_q] && line_ready_o[k_q] && (last_i[k_q] || empty_i[k_q]);
  assign done = done_valid_o && done_plane_o == 4'(k_q);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      marked_q <= 1'b0;
      taken_q <= 1'b0;
      before_q <= '0;
      ahead_q <= '0;
    end else begin
      before_q <= before_q + 3'(ends) - 3'(done);
      marked_q <= marked_q || (mark && ends);
      taken_q <= taken_q || (line_valid_o && line_ready_i && line_o.addr[0]);
      if (mark && ends) begin
        ahead_q <= before_q - 3'(done);
      end else if (marked_q && done && ahead_q != 3'd7) begin
        ahead_q <= ahead_q - 3'd1;
      end
    end
  end

  logic waits_q;  // a line was offered and not taken
  logic [$bits(qp_index_t)+4:0] shown, shown_q;
  assign shown = {line_o.last, line_o.plane, line_o.qp};
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waits_q <= 1'b0;
    end else begin
      waits_q <= line_valid_o && !line_ready_i;
    end
  end
  always_ff @(posedge clk_i) shown_q <= shown;

  // With ahead_q = 0 the next done of plane k is the coloured packet's.
  `MRC_PROVE(done_after_data, !(done && marked_q && ahead_q == 3'd0) || taken_q)
  `MRC_PROVE(none_done_twice, before_q != 3'd7 && !(done && before_q == 3'd0))
  `MRC_COVER(done_after_data, done && marked_q && ahead_q == 3'd0 && taken_q)
  `MRC_COVER(none_done_twice, done && before_q == 3'd3)
  `MRC_PROVE(names_its_plane,
             !line_valid_o || qp_index_t'(line_o.plane) + qp_index_t'(5) == line_o.qp)
  `MRC_COVER(names_its_plane, line_valid_o && line_o.plane == 4'd1)
  `MRC_PROVE(stays_until_taken, !waits_q || (line_valid_o && shown == shown_q))
  `MRC_COVER(stays_until_taken, waits_q && line_valid_o && line_ready_i && line_o.plane == 4'd1)

  // ---- while the host takes lines and none of them ends a packet, a line waits Most cycles at
  // most; one without bytes waits, too, in each cycle that ends a packet of another plane

  localparam int unsigned Most = 3;
  logic [3:0] wait_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_q <= '0;
    end else if (line_valid_i[k_q] && !line_ready_o[k_q] && line_ready_i && !dut.fin) begin
      wait_q <= wait_q + 4'(wait_q != '1);
    end else begin
      wait_q <= '0;
    end
  end
  `MRC_PROVE(taken, wait_q <= 4'(Most))
  `MRC_COVER(taken, wait_q == 4'd1)
endmodule
