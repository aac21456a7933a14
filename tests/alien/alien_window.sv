// SPDX-License-Identifier: Apache-2.0
// The alien's window: what has arrived of each queue pair. One operation a cycle, its answer behind
// the edge. The window is a shift register that always begins at the next PSN: nothing wraps.
module alien_window #(
    parameter int unsigned Qps  = 4,
    parameter int unsigned Span = 128
) (
    input  logic            clk,
    input  logic            rst_n,
    input  logic [     1:0] op,       // 0 nothing, 1 begin at psn, 2 look, 3 take psn
    input  logic [     1:0] qp,
    input  logic [    23:0] psn,
    output logic [     1:0] verdict,  // 0 new, 1 below the window, 2 here already, 3 beyond
    output logic [    23:0] cack,     // the PSN up to which everything is here
    output logic [Span-1:0] beyond,   // bit i: cack + 1 + i is here
    output logic [     7:0] count     // bits of it
);
  logic [    23:0] next[Qps];
  logic [Span-1:0] here[Qps];

  logic [    23:0] distance;
  logic [     1:0] judged;
  logic [Span-1:0] with_it, moved;
  logic [    23:0] run;
  always_comb begin
    distance = psn - next[qp];
    if (distance < 24'(Span)) judged = here[qp][distance[$clog2(Span)-1:0]] ? 2'd2 : 2'd0;
    else judged = distance[23] ? 2'd1 : 2'd3;
    with_it = here[qp];
    if (op == 2'd3 && judged == 2'd0) with_it[distance[$clog2(Span)-1:0]] = 1'b1;
    run = '0;
    for (int i = Span - 1; i >= 0; i--) run = with_it[i] ? run + 1 : '0;
    moved = run >= 24'(Span) ? '0 : with_it >> run;
  end

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      for (int q = 0; q < Qps; q++) begin
        next[q] <= '0;
        here[q] <= '0;
      end
    end else begin
      case (op)
        2'd1: begin
          next[qp] <= psn;
          here[qp] <= '0;
        end
        2'd2, 2'd3: begin
          verdict <= judged;
          next[qp] <= next[qp] + run;
          here[qp] <= moved;
          cack <= next[qp] + run - 1;
          beyond <= moved;
          count <= 8'($countones(moved));
        end
        default: ;
      endcase
    end
  end
endmodule
