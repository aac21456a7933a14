// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_tx_sched while no table is written: how long what comes waits. Two QPs, two destinations.
module formal_tx_sched
  import mrc_pkg::*;
(
    input logic clk_i,
    input logic push_valid_i,
    input sched_t push_i,
    input logic park_valid_i,
    input grant_t park_i,
    input logic resume_valid_i,
    input ccresume_t resume_i,
    input logic grant_ready_i,
    input cfg_t cfg_i
);
  `MRC_RESET

  logic push_ready_o, park_ready_o, resume_ready_o, grant_valid_o, cfg_ack_o;
  grant_t grant_o;
  mrc_tx_sched #(
      .NumQps(2),
      .NumDests(2)
  ) dut (
      .bug_i(8'd0),
      .*
  );

  // A table write stands until it is acknowledged.
  logic req_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      req_q <= 1'b0;
    end else begin
      req_q <= cfg_i.req && !cfg_ack_o;
    end
  end
  `MRC_GIVEN(table_stands, !req_q || cfg_i.req)

  // A park waits for nothing.
  `MRC_PROVE(park, !(park_valid_i && !park_ready_o && !cfg_i.req))
  `MRC_COVER(park, park_valid_i && dut.park_pop && dut.resume_v && dut.push_v && !grant_ready_i)

  // A resume lets parks pass, a push both; whether tx_segment takes grants does not matter.
  localparam int unsigned Most = 1;
  logic [1:0] resume_count, push_count;
  formal_wait #(
      .Most(Most)
  ) u_resume (
      .clk_i,
      .rst_ni,
      .waits_i(resume_valid_i && !resume_ready_o && !cfg_i.req),
      .others_i(dut.park_pop),
      .count_o(resume_count)
  );
  formal_wait #(
      .Most(Most)
  ) u_push (
      .clk_i,
      .rst_ni,
      .waits_i(push_valid_i && !push_ready_o && !cfg_i.req),
      .others_i(dut.park_pop || dut.resume_pop),
      .count_o(push_count)
  );
  `MRC_PROVE(resume, resume_count <= 2'(Most))
  `MRC_COVER(resume, resume_count == 2'(Most) && dut.push_v)
  `MRC_PROVE(push, push_count <= 2'(Most))
  `MRC_COVER(push, push_count == 2'(Most) && dut.resume_v)
endmodule
