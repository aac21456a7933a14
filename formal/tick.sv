// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_tick, period by period of Cycles cycles: after n of them there were floor(n * Parts /
/// Cycles) ticks, and at the end of each there were Parts, so that the next one begins as the first
/// did.
module formal_tick #(
    parameter int unsigned Cycles = 7,
    parameter int unsigned Parts = 3
) (
    input logic clk_i
);
  `MRC_RESET

  logic tick_o;
  mrc_tick #(
      .Cycles(Cycles),
      .Parts(Parts)
  ) dut (
      .*
  );

  localparam int unsigned Short = Cycles / Parts;
  localparam int unsigned Long = (Cycles + Parts - 1) / Parts;
  localparam int unsigned Width = 2 * $clog2(Cycles + 1);  // products fit

  // Cycles and ticks of this period; cycles since the last tick.
  logic [Width-1:0] n_q, ticks_q, since_q, owed, apart;
  logic last, ticked_q;
  assign last = n_q == Width'(Cycles - 1);
  assign owed = n_q * Width'(Parts) - ticks_q * Width'(Cycles);
  assign apart = since_q + Width'(1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {n_q, ticks_q, since_q} <= '0;
      ticked_q <= 1'b0;
    end else begin
      n_q <= last ? '0 : n_q + Width'(1);
      ticks_q <= last ? '0 : ticks_q + Width'(tick_o);
      since_q <= tick_o ? '0 : apart;
      ticked_q <= ticked_q || tick_o;
    end
  end

  `MRC_PROVE(floor, ticks_q * Width'(Cycles) <= n_q * Width'(Parts) && owed < Width'(Cycles))
  `MRC_PROVE(all, !last || (tick_o && ticks_q == Width'(Parts - 1)))
  `MRC_PROVE(apart, (!tick_o || !ticked_q || apart >= Width'(Short)) && apart <= Width'(Long)
             && (tick_o || apart < Width'(Long)))
  `MRC_COVER(floor, last && ticks_q == Width'(Parts - 1))
  `MRC_COVER(all, last && ticked_q)
  `MRC_COVER(apart, tick_o && ticked_q && apart == Width'(Long))
  `MRC_HELP(owed, Width'(dut.acc_q) == owed && n_q < Width'(Cycles) && ticks_q < Width'(Parts))
  `MRC_HELP(since, since_q < Width'(Long) && Width'(dut.acc_q) >= since_q * Width'(Parts)
            && Width'(dut.acc_q) - since_q * Width'(Parts) < Width'(Parts))
endmodule
