// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Output register of a stream: what is loaded in cycle t is offered from t+1 until it is taken.
/// free_o says that it is empty or emptied in this cycle; the owner loads only then, which is
/// asserted. free_o depends on ready_i and is meant for the inside of the owning block, not for a
/// port.
module mrc_out_reg #(
    parameter type T = logic [7:0]
) (
    input logic clk_i,
    input logic rst_ni,
    input logic load_i,
    input T data_i,
    output logic free_o,
    output logic valid_o,
    input logic ready_i,
    output T data_o
);

  T data_q;
  logic valid_q, valid_d;

  assign free_o = !valid_q || ready_i;
  assign valid_o = valid_q;
  assign data_o = data_q;
  assign valid_d = load_i || (valid_q && !ready_i);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else begin
      valid_q <= valid_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      data_q <= data_i;
    end
  end

  `MRC_ASSERT_IF(LoadsWhenFree, load_i, free_o,
      "a word that nobody has taken is overwritten")

endmodule
