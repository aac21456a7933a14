// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_endpoint while all that it says is taken and no table is written: how long what comes waits.
/// Two QPs, four destinations, two planes; ticks are any.
module formal_endpoint
  import mrc_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input endpoint_csr_t csr_i,
    input logic eprx_valid_i,
    input eprx_t eprx_i,
    input logic want_valid_i,
    input want_t want_i,
    input logic evp_valid_i,
    input evp_t evp_i,
    input logic req_ready_i,
    input logic resp_ready_i,
    input logic okev_ready_i,
    input logic pmask_ready_i,
    input logic evr_ready_i,
    input logic pans_ready_i,
    input logic [1:0] port_up_i,
    input logic [31:0] tick_i,
    input cfg_t cfg_i
);
  `MRC_RESET

  logic eprx_ready_o, want_ready_o, evp_ready_o, req_valid_o, resp_valid_o, okev_valid_o;
  logic pmask_valid_o, evr_valid_o, pans_valid_o, cfg_ack_o;
  ctlpkt_t req_o;
  resp_t resp_o;
  okev_t okev_o;
  pmask_t pmask_o;
  evr_t evr_o;
  pans_t pans_o;
  endpoint_pulses_t pulses_o;
  mrc_endpoint #(
      .NumPlanes(2),
      .NumQps(2),
      .NumDests(4)
  ) dut (
      .bug_i(8'(Bug)),
      .*
  );

  // tx_header need not take requests: they are sent when there is room. Packets of peers come as
  // fast as they like.
  logic runs;
  assign runs = resp_ready_i && okev_ready_i && pmask_ready_i && evr_ready_i && pans_ready_i
      && !cfg_i.req;

  localparam int unsigned MostRx = 6;
  logic [2:0] eprx_count;
  formal_wait #(
      .Most(MostRx)
  ) u_eprx (
      .clk_i,
      .rst_ni,
      .waits_i(eprx_valid_i && !eprx_ready_o && runs),
      .others_i(1'b0),
      .count_o(eprx_count)
  );
  `MRC_PROVE(eprx, eprx_count <= 3'(MostRx))
  `MRC_COVER(eprx, eprx_count == 3'(MostRx) && req_valid_o && !req_ready_i)

  // A lender that leaves, and then a packet of a peer.
  localparam int unsigned Most = 9;
  logic [3:0] evp_count;
  formal_wait #(
      .Most(Most)
  ) u_evp (
      .clk_i,
      .rst_ni,
      .waits_i(evp_valid_i && !evp_ready_o && runs),
      .others_i(1'b0),
      .count_o(evp_count)
  );
  `MRC_PROVE(evp, evp_count <= 4'(Most))
  `MRC_COVER(evp, evp_count == 4'(Most))

  // It is taken, or what goes before it is. The probe of a reverse path that is out does not count.
  logic [3:0] want_count;
  formal_wait #(
      .Most(Most)
  ) u_want (
      .clk_i,
      .rst_ni,
      .waits_i(want_valid_i && !want_ready_o && runs && !dut.op_evp),
      .others_i(dut.rp_q.busy),
      .count_o(want_count)
  );
  `MRC_PROVE(want, want_count <= 4'(Most))
  `MRC_COVER(want, want_count == 4'd1)

  // That probe ends when its time is over.
  logic [3:0] over_count;
  formal_wait #(
      .Most(Most)
  ) u_over (
      .clk_i,
      .rst_ni,
      .waits_i(dut.rp_q.busy && !dut.rp_late[31] && runs && !dut.op_evp && !dut.op_cp_over),
      .others_i(1'b0),
      .count_o(over_count)
  );
  `MRC_PROVE(over, over_count <= 4'(Most))
  `MRC_COVER(over, over_count == 4'd3)

  // So with destinations: they hear of our ports.
  logic [3:0] visit_count;
  formal_wait #(
      .Most(Most)
  ) u_visit (
      .clk_i,
      .rst_ni,
      .waits_i(dut.visit_due_q && dut.hurry_q == '0 && runs && !dut.op_visit && !dut.op_evp
          && !dut.op_want && !dut.op_cp_over && !dut.op_rp_over && !dut.op_cp_send
          && !dut.op_rp_send),
      .others_i(1'b0),
      .count_o(visit_count)
  );
  `MRC_PROVE(visit, visit_count <= 4'(Most))
  `MRC_COVER(visit, visit_count == 4'd6)
endmodule
