// SPDX-License-Identifier: Apache-2.0
/// The block and what stands in its place, side by side, at random: prints in how many cycles the
/// outputs of each differ from those of the block.
module sample_top
  import sample_pkg::*;
;
  logic clk = 0, rst_n = 0;
  logic [1:0] valid, row;
  word_t [1:0] drawn;
  word_t words[0:1];
  logic [3:0][$bits(word_t)+11:0] outputs;
  int differ[1:3];

  // An unpacked array that a process writes: Verilator 5.006 does not look at it.
  assign words[0] = drawn[0];
  assign words[1] = drawn[1];

`define SAMPLE(Name, Index) \
  Name u_``Name ( \
      .clk_i(clk), \
      .rst_ni(rst_n), \
      .bug_i(8'd0), \
      .valid_i(valid), \
      .word_i(words), \
      .row_i(row), \
      .word_o(outputs[Index][22:12]), \
      .sum_o(outputs[Index][11:4]), \
      .count_o(outputs[Index][3:0]) \
  );
  `SAMPLE(sample_block, 0)
  `SAMPLE(good, 1)
  `SAMPLE(wrong, 2)
  `SAMPLE(mutants, 3)

  initial begin
    for (int cycle = 0; cycle < 2000; cycle++) begin
      rst_n = cycle > 3;
      valid = 2'($urandom);
      row = 2'($urandom);
      drawn[0] = $bits(word_t)'($urandom);
      drawn[1] = $bits(word_t)'($urandom);
      #1;
      for (int k = 1; k < 4; k++) begin
        if (cycle > 100 && outputs[k] != outputs[0]) differ[k]++;
      end
      clk = 1;
      #1;
      clk = 0;
    end
    $display("differ %0d %0d %0d", differ[1], differ[2], differ[3]);
    $finish;
  end
endmodule
