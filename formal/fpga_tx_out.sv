// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_tx_out behind a FIFO that has no gap inside a frame. A byte of the data says which word
/// is the first of a frame.
module formal_fpga_tx_out (
    input logic clk_i,
    input logic mac_reset_i,
    input logic valid_i,
    input logic [14:0] rest_i,
    input logic [0:0] end_i,
    input logic err_i,
    input logic last_i,
    input logic tready_i
);
  `MRC_RESET

  logic ready_o, tvalid_o, tlast_o, tuser_o, cut_o, flush_o, first_q;
  logic [15:0] data_i, tdata_o;
  logic [1:0] tkeep_o;
  assign data_i = {rest_i, first_q};

  mrc_fpga_tx_out #(
      .WordBytes(2)
  ) dut (
      .*
  );

  // inside_q: the MAC has taken a word of a frame and not its last.
  logic inside_q, held_q;
  logic [15:0] held_data_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
      inside_q <= 1'b0;
      held_q <= 1'b0;
    end else begin
      first_q <= (valid_i && ready_o) ? last_i : first_q;
      inside_q <= !mac_reset_i && ((tvalid_o && tready_i) ? !tlast_o : inside_q);
      held_q <= tvalid_o && !tready_i && !mac_reset_i;
    end
  end
  always_ff @(posedge clk_i) held_data_q <= tdata_o;

  `MRC_GIVEN(no_gap, !rst_ni || first_q || valid_i)
  `MRC_PROVE(no_gap, !inside_q || tvalid_o)
  `MRC_PROVE(begins_first, !tvalid_o || tdata_o[0] == !inside_q)
  `MRC_PROVE(stays, !held_q || (tvalid_o && tdata_o == held_data_q))
  `MRC_PROVE(cut_counted, !(mac_reset_i && inside_q) || cut_o)
  `MRC_COVER(no_gap, inside_q && tvalid_o && tlast_o)
  `MRC_COVER(begins_first, dut.skip_q && !mac_reset_i)
  `MRC_COVER(stays, held_q && inside_q)
  `MRC_COVER(cut_counted, mac_reset_i && inside_q)
endmodule
