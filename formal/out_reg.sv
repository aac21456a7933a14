// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_out_reg against what its comment says.
module formal_out_reg #(
    parameter int unsigned Width = 8
) (
    input logic clk_i,
    input logic load_i,
    input logic ready_i,
    input logic [Width-1:0] data_i
);
  `MRC_RESET

  logic free_o, valid_o;
  logic [Width-1:0] data_o;

  mrc_out_reg #(
      .T(logic [Width-1:0])
  ) dut (
      .*
  );
  `MRC_GIVEN(loads_when_free, !load_i || free_o)

  logic loaded_q, held_q;
  logic [Width-1:0] data_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      loaded_q <= 1'b0;
      held_q <= 1'b0;
    end else begin
      loaded_q <= load_i;
      held_q <= valid_o && !ready_i;
    end
  end
  always_ff @(posedge clk_i) begin
    data_q <= load_i ? data_i : data_o;
  end

  `MRC_PROVE(offered_next, !loaded_q || (valid_o && data_o == data_q))
  `MRC_PROVE(stays, !held_q || (valid_o && data_o == data_q))
  `MRC_PROVE(none_twice, loaded_q || held_q || !valid_o)
  `MRC_COVER(offered_next, loaded_q && data_q != '0)
  `MRC_COVER(stays, held_q && loaded_q == 1'b0 && data_q != '0)
  `MRC_COVER(none_twice, !valid_o && data_q != '0)
endmodule
