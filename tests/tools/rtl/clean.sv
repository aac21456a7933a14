// SPDX-License-Identifier: Apache-2.0
/// Sample for the tests of `mrc lint` and the export: a counter with a small memory, nothing wrong.
module clean (
    input  logic       clk_i,
    input  logic       rst_ni,
    input  logic       we_i,
    input  logic [3:0] addr_i,
    input  logic [7:0] data_i,
    output logic [7:0] data_o,
    output logic [7:0] count_o
);
  logic [7:0] mem_q[0:15];
  logic [7:0] data_q, count_q, count_d;

  assign data_o  = data_q;
  assign count_o = count_q;

  always_comb begin
    count_d = count_q;
    if (we_i) count_d = count_q + 8'd1;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= count_d;
  end

  always_ff @(posedge clk_i) begin
    if (we_i) mem_q[addr_i] <= data_i;
    data_q <= mem_q[addr_i];
  end
endmodule
