// SPDX-License-Identifier: Apache-2.0
/// Sample for the tests of `mrc state`: one memory or register per class, all sizes easy to work
/// out.
module state #(
    parameter int unsigned NumQps = 4,
    parameter int unsigned EvsPerQp = 8,
    parameter int unsigned NumProfiles = 2,
    parameter int unsigned NumBlocks = 8
) (
    input logic clk_i,
    input logic rst_ni,
    input logic we_i,
    input logic [15:0] addr_i,
    input logic [31:0] data_i,
    output logic [31:0] data_o,
    output logic [$clog2(NumQps)-1:0] qp_o
);
  // Per QP: a context, 3 bits per EV, one bit in a register. Per block of 16 packets: 16 records.
  logic [9:0] ctx_q[0:NumQps-1];
  logic [2:0] evst_q[0:NumQps*EvsPerQp-1];
  logic [NumQps-1:0] busy_q;
  logic [31:0] evval_q[0:NumProfiles*EvsPerQp-1];
  logic [4:0] recs_q[0:NumBlocks*16-1];
  logic [31:0] data_q;
  // The number of a QP: grows with the logarithm only, so it is fixed.
  logic [$clog2(NumQps)-1:0] qp_q;

  assign data_o = data_q;
  assign qp_o = qp_q;

  // Words that a small set of QPs does without.
  logic in_set;
  if (NumQps >= 32) begin : gen_words
    logic [7:0] word_q[0:NumQps/8-1];
    assign in_set = word_q[addr_i[$clog2(NumQps)-1:3]][addr_i[2:0]];
    always_ff @(posedge clk_i) begin
      if (we_i) word_q[addr_i[$clog2(NumQps)-1:3]] <= data_i[7:0];
    end
  end else begin : gen_no_words
    assign in_set = 1'b0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= '0;
    else busy_q <= busy_q ^ NumQps'(addr_i);
  end

  always_ff @(posedge clk_i) begin
    if (we_i) begin
      ctx_q[addr_i[$clog2(NumQps)-1:0]] <= data_i[9:0];
      evst_q[addr_i[$clog2(NumQps*EvsPerQp)-1:0]] <= data_i[2:0];
      evval_q[addr_i[$clog2(NumProfiles*EvsPerQp)-1:0]] <= data_i;
      recs_q[addr_i[$clog2(NumBlocks*16)-1:0]] <= data_i[4:0];
    end
    qp_q <= addr_i[$clog2(NumQps)-1:0];
    data_q <= {evval_q[addr_i[$clog2(NumProfiles*EvsPerQp)-1:0]][31:18],
               ctx_q[addr_i[$clog2(NumQps)-1:0]],
               evst_q[addr_i[$clog2(NumQps*EvsPerQp)-1:0]],
               recs_q[addr_i[$clog2(NumBlocks*16)-1:0]]}
              ^ 32'(busy_q) ^ 32'(in_set);
  end
endmodule
