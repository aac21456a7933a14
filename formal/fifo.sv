// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_fifo, by one word: any word that is pushed may be marked. It must leave when those before it
/// have left, as it was.
module formal_fifo #(
    parameter int unsigned Depth = 8,
    parameter int unsigned Width = 8,
    localparam int unsigned PtrW = (Depth > 1) ? $clog2(Depth) : 1,
    localparam int unsigned CntW = $clog2(Depth + 1)
) (
    input logic clk_i,
    input logic valid_i,
    input logic ready_i,
    input logic [Width-1:0] data_i,
    input logic mark_i
);
  `MRC_RESET

  logic ready_o, valid_o;
  logic [Width-1:0] data_o;
  logic [CntW-1:0] count_o;

  mrc_fifo #(
      .T(logic [Width-1:0]),
      .Depth(Depth)
  ) dut (
      .*
  );

  `include "fifo_word.svh"
  `MRC_HELP(kept, !marked_q || dut.mem_q[at] == word_q)
endmodule
