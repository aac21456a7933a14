// SPDX-License-Identifier: Apache-2.0

/// A reset for the registers of clk_i: it begins at once, whether clk_i runs or not, and ends at an
/// edge of clk_i, two edges after rst_ni has ended.
module mrc_fpga_reset (
    input logic clk_i,
    input logic rst_ni,
    output logic rst_no
);

  (* ASYNC_REG = "TRUE" *) logic [1:0] bridge_q;

  assign rst_no = bridge_q[1];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bridge_q <= '0;
    end else begin
      bridge_q <= {bridge_q[0], 1'b1};
    end
  end

endmodule
