// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_ack_gen while tx_header takes its packets and no table is written: how long what comes
/// waits, whatever endpoint does with wants. Two QPs, two destinations, two planes.
module formal_ack_gen
  import mrc_pkg::*;
(
    input logic clk_i,
    input ack_gen_csr_t csr_i,
    input logic [1:0] port_up_i,
    input logic [31:0] tick_i,
    input cfg_t cfg_i,
    input logic resp_valid_i,
    input resp_t resp_i,
    input logic ackev_valid_i,
    input ackev_t ackev_i,
    input logic eresp_valid_i,
    input resp_t eresp_i,
    input logic okev_valid_i,
    input okev_t okev_i,
    input logic eokev_valid_i,
    input okev_t eokev_i,
    input logic stateq_valid_i,
    input stateq_t stateq_i,
    input logic ctlpkt_ready_i,
    input logic want_ready_i
);
  `MRC_RESET

  logic resp_ready_o, ackev_ready_o, eresp_ready_o, okev_ready_o, eokev_ready_o, stateq_ready_o;
  logic ctlpkt_valid_o, want_valid_o, cfg_ack_o;
  ctlpkt_t ctlpkt_o;
  want_t want_o;
  mrc_ack_gen #(
      .NumPlanes(2),
      .NumQps(2),
      .NumDests(2)
  ) dut (
      .bug_i(8'd0),
      .*
  );

  // ---- what is taken whatever tx_header does

  localparam int unsigned Most = 1;
  logic [1:0] ackev_count, okev_count, eokev_count;
  formal_wait #(
      .Most(Most)
  ) u_ackev (
      .clk_i,
      .rst_ni,
      .waits_i(ackev_valid_i && !ackev_ready_o && !cfg_i.req),
      .others_i(1'b0),
      .count_o(ackev_count)
  );
  formal_wait #(
      .Most(Most)
  ) u_okev (
      .clk_i,
      .rst_ni,
      .waits_i(okev_valid_i && !okev_ready_o && !cfg_i.req),
      .others_i(1'b0),
      .count_o(okev_count)
  );
  formal_wait #(
      .Most(Most)
  ) u_eokev (
      .clk_i,
      .rst_ni,
      .waits_i(eokev_valid_i && !eokev_ready_o && !cfg_i.req),
      .others_i(dut.okev_pop),
      .count_o(eokev_count)
  );
  logic stands;
  assign stands = ctlpkt_valid_o && !ctlpkt_ready_i;
  `MRC_PROVE(ackev, ackev_count <= 2'(Most))
  `MRC_COVER(ackev, ackev_count == 2'(Most) && stands)
  `MRC_PROVE(okev, okev_count <= 2'(Most))
  `MRC_COVER(okev, okev_count == 2'(Most) && stands)
  `MRC_PROVE(eokev, eokev_count <= 2'(Most))
  `MRC_COVER(eokev, eokev_count == 2'(Most) && dut.okev_v && stands)

  // ---- what becomes a packet

  // Behind the first probe of a question comes the second one, whatever waits.
  localparam int unsigned MostPackets = 2;
  logic runs;
  assign runs = ctlpkt_ready_i && !cfg_i.req;
  logic [1:0] resp_count, eresp_count, stateq_count;
  formal_wait #(
      .Most(MostPackets)
  ) u_eresp (
      .clk_i,
      .rst_ni,
      .waits_i(eresp_valid_i && !eresp_ready_o && runs),
      .others_i(1'b0),
      .count_o(eresp_count)
  );
  formal_wait #(
      .Most(MostPackets)
  ) u_resp (
      .clk_i,
      .rst_ni,
      .waits_i(resp_valid_i && !resp_ready_o && runs),
      .others_i(dut.eresp_pop),
      .count_o(resp_count)
  );
  formal_wait #(
      .Most(MostPackets)
  ) u_stateq (
      .clk_i,
      .rst_ni,
      .waits_i(stateq_valid_i && !stateq_ready_o && runs),
      .others_i(dut.eresp_pop || (dut.resp_pop && dut.resp_v)),
      .count_o(stateq_count)
  );
  `MRC_PROVE(eresp, eresp_count <= 2'(MostPackets))
  `MRC_COVER(eresp, eresp_count == 2'(MostPackets) && dut.resp_v)
  `MRC_PROVE(resp, resp_count <= 2'(MostPackets))
  `MRC_COVER(resp, resp_count == 2'(MostPackets))
  `MRC_PROVE(stateq, stateq_count <= 2'(MostPackets))
  `MRC_COVER(stateq, stateq_count == 2'(MostPackets) && dut.resp_v)
endmodule
