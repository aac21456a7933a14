// SPDX-License-Identifier: Apache-2.0
/// What blocks have: structs, an array of them, a table, registers with and without reset, a bug.
package sample_pkg;
  typedef struct packed {
    logic [2:0] kind;
    logic [7:0] size;
  } word_t;
endpackage

module sample_block
  import sample_pkg::*;
#(
    parameter int unsigned Ways = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input logic [Ways-1:0] valid_i,
    input word_t word_i[0:Ways-1],
    input logic [1:0] row_i,
    output word_t word_o,
    output logic [7:0] sum_o,
    output logic [3:0] count_o
);

  word_t table_q[0:3];
  word_t chosen;
  logic [7:0] sum_q;
  logic [3:0] count_q;

  always_comb begin
    chosen = word_i[Ways-1];
    for (int k = int'(Ways) - 1; k >= 0; k--) begin
      if (valid_i[k]) begin
        chosen = word_i[k];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      sum_q <= '0;
    end else if ((valid_i != '0 || valid_i[0] || valid_i[1]) && bug_i != 8'd1) begin
      count_q <= count_q + 4'd1;
      sum_q <= sum_q + chosen.size;
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i != '0) begin
      table_q[row_i] <= chosen;
    end
  end

  assign word_o = table_q[row_i];
  assign sum_o = sum_q;
  assign count_o = count_q;

endmodule
