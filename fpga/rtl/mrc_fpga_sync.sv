// SPDX-License-Identifier: Apache-2.0

/// What another clock drives, seen in this one two to three edges later: a chain of Stages
/// registers. A bus of more than one bit must change one bit at a time (a gray code). It does not
/// look at short pulses: what is shorter than a cycle of clk_i may be missed.
module mrc_fpga_sync #(
    parameter int unsigned Width = 1,
    parameter int unsigned Stages = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [Width-1:0] d_i,
    output logic [Width-1:0] q_o
);

  if (Stages < 2) begin : gen_bad_stages
    $error("%m: Stages must be at least 2");
  end

  (* ASYNC_REG = "TRUE" *) logic [Stages-1:0][Width-1:0] meta_q;

  assign q_o = meta_q[Stages-1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      meta_q <= '0;
    end else begin
      meta_q <= {meta_q[Stages-2:0], d_i};
    end
  end

endmodule
