// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fpga_tx_in before a FIFO of Depth words that anybody reads, or nobody.
module formal_fpga_tx_in #(
    parameter int unsigned MaxWords = 2,
    parameter int unsigned Depth = 4,
    parameter int unsigned WaitCycles = 3,
    localparam int unsigned CntW = 4
) (
    input logic clk_i,
    input logic up_i,
    input logic tvalid_i,
    input logic [15:0] tdata_i,
    input logic [1:0] tkeep_i,
    input logic tlast_i,
    input logic pop_i
);
  `MRC_RESET

  logic [CntW-1:0] free_i, level_q;
  logic tready_o, push_o, err_o, last_o, frame_o, drop_o, long_o;
  logic [1:0] end_o;
  logic [31:0] data_o;

  mrc_fpga_tx_in #(
      .WordBytes(4),
      .PortBytes(2),
      .MaxWords(MaxWords),
      .CntW(CntW),
      .WaitCycles(WaitCycles)
  ) dut (
      .*
  );

  // A frame of the core that has begun; how long its beat has waited; words of a frame so far.
  logic inside_q;
  logic [3:0] waits_q;
  logic [2:0] words_q;
  assign free_i = CntW'(Depth) - level_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      level_q <= '0;
      inside_q <= 1'b0;
      waits_q <= '0;
      words_q <= '0;
    end else begin
      level_q <= level_q + CntW'(push_o) - CntW'(pop_i && level_q != '0);
      inside_q <= (tvalid_i && tready_o) ? !tlast_i : inside_q;
      waits_q <= (tvalid_i && !tready_o) ? waits_q + 4'(waits_q != '1) : '0;
      words_q <= (push_o && last_o) ? '0 : words_q + 3'(push_o);
    end
  end

  `MRC_PROVE(never_held, 32'(waits_q) <= WaitCycles + 1)
  `MRC_PROVE(whole, !inside_q || tready_o)
  `MRC_PROVE(bounded, 32'(words_q) < MaxWords)
  `MRC_COVER(never_held, 32'(waits_q) == WaitCycles + 1)
  `MRC_COVER(whole, inside_q && level_q == CntW'(2))
  `MRC_COVER(bounded, push_o && last_o && err_o)
  `MRC_COVER(filled, push_o && 32'(free_i) <= MaxWords)
endmodule
