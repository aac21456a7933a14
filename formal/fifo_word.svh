// SPDX-License-Identifier: Apache-2.0
// What formal/fifo.sv and formal/fifo_ram.sv prove of their FIFO dut.

  // The marked word: how many are before it, and where it stands.
  logic marked_q;
  logic [CntW-1:0] ahead_q;
  logic [Width-1:0] word_q;
  logic push, pop, mark, leaves;
  assign push = valid_i && ready_o;
  assign pop = valid_o && ready_i;
  assign mark = push && mark_i && !marked_q;
  assign leaves = marked_q && ahead_q == '0 && pop;

  // The same counted from outside.
  logic [CntW-1:0] inside_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      marked_q <= 1'b0;
      ahead_q <= '0;
      inside_q <= '0;
    end else begin
      inside_q <= inside_q + CntW'(push) - CntW'(pop);
      if (mark) begin
        marked_q <= 1'b1;
        ahead_q <= count_o - CntW'(pop);
      end else if (leaves) begin
        marked_q <= 1'b0;
      end else if (marked_q && pop) begin
        ahead_q <= ahead_q - CntW'(1);
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (mark) begin
      word_q <= data_i;
    end
  end

  `MRC_PROVE(order, !(marked_q && ahead_q == '0) || (valid_o && data_o == word_q))
  `MRC_PROVE(none_lost, count_o == inside_q)
  `MRC_PROVE(full_is_full, ready_o == (inside_q != CntW'(Depth)))
  `MRC_COVER(order, leaves && word_q != '0)
  `MRC_COVER(none_lost, inside_q == CntW'(Depth) && pop)
  `MRC_COVER(full_is_full, inside_q == CntW'(Depth) && valid_i)
  `MRC_COVER(wrapped, dut.wptr_q < dut.rptr_q && dut.rptr_q != '0)

  // Places are counted from the head, modulo Depth.
  logic [PtrW:0] place, tail;
  assign place = (PtrW + 1)'(dut.rptr_q) + (PtrW + 1)'(ahead_q);
  assign tail = (PtrW + 1)'(dut.rptr_q) + (PtrW + 1)'(dut.count_q);
  logic [PtrW-1:0] at;
  assign at = (place >= (PtrW + 1)'(Depth)) ? PtrW'(place - (PtrW + 1)'(Depth)) : PtrW'(place);
  `MRC_HELP(pointers, 32'(dut.wptr_q) < Depth && 32'(dut.rptr_q) < Depth
                      && 32'(dut.count_q) <= Depth)
  `MRC_HELP(tail, 32'(dut.wptr_q) == ((32'(tail) >= Depth) ? 32'(tail) - Depth : 32'(tail)))
  `MRC_HELP(ahead, !marked_q || ahead_q < count_o)
