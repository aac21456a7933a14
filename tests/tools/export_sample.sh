#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: export_sample.sh SOURCE
# Exports the sample module and runs it in Icarus: what was written must be read back, and counted.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
"$1/tools/export_verilog.py" --top clean -o "$scratch" tests/tools/rtl/clean.sv
cat >"$scratch/bench.v" <<'BENCH'
module bench;
  reg clk = 0, rst_n = 0, we = 0;
  reg [3:0] addr = 0;
  reg [7:0] data = 0;
  wire [7:0] q, count;
  integer i, bad = 0;
  clean dut (.clk_i(clk), .rst_ni(rst_n), .we_i(we), .addr_i(addr), .data_i(data), .data_o(q), .count_o(count));
  always #5 clk = ~clk;
  initial begin
    @(negedge clk) rst_n = 1;
    we = 1;
    for (i = 0; i < 16; i = i + 1) begin
      addr = i; data = 8'h40 + 3 * i; @(negedge clk);
    end
    we = 0;
    for (i = 0; i < 16; i = i + 1) begin
      addr = i; @(negedge clk);
      if (q !== 8'h40 + 3 * i) bad = bad + 1;
    end
    if (bad == 0 && count === 8'd16) $display("right");
    else $display("wrong: %0d words, count %0d", bad, count);
    $finish;
  end
endmodule
BENCH
iverilog -g2005 -o "$scratch/run" "$scratch/bench.v" "$scratch/clean.v"
[ "$(vvp -n "$scratch/run" | grep -v finish)" = right ]
