// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_tx_probe while tx_path takes its feedback and no table is written: how long what comes
/// waits. Two QPs, two destinations, two slots, two planes.
module formal_tx_probe
  import mrc_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input tx_probe_csr_t csr_i,
    input logic bad_valid_i,
    input badev_t bad_i,
    input logic pres_valid_i,
    input pres_t pres_i,
    input logic pans_valid_i,
    input pans_t pans_i,
    input logic fb_ready_i,
    input logic probe_ready_i,
    input logic [1:0] port_up_i,
    input cfg_t cfg_i
);
  `MRC_RESET

  logic bad_ready_o, pres_ready_o, pans_ready_o, fb_valid_o, probe_valid_o, cfg_ack_o;
  fb_t fb_o;
  ctlpkt_t probe_o;
  tx_probe_pulses_t pulses_o;
  mrc_tx_probe #(
      .NumPlanes(2),
      .NumQps(2),
      .ProbeSlots(2),
      .NumDests(2)
  ) dut (
      .bug_i(8'(Bug)),
      .*
  );

  // Whatever tx_header does: a visit finds no room and comes again.
  logic runs;
  assign runs = fb_ready_i && !cfg_i.req;

  localparam int unsigned Most = 2;
  logic [1:0] bad_count, pres_count, pans_count;
  formal_wait #(
      .Most(Most)
  ) u_pres (
      .clk_i,
      .rst_ni,
      .waits_i(pres_valid_i && !pres_ready_o && runs),
      .others_i(1'b0),
      .count_o(pres_count)
  );
  formal_wait #(
      .Most(Most)
  ) u_pans (
      .clk_i,
      .rst_ni,
      .waits_i(pans_valid_i && !pans_ready_o && runs && !dut.pres_pop),
      .others_i(1'b0),
      .count_o(pans_count)
  );
  formal_wait #(
      .Most(Most)
  ) u_bad (
      .clk_i,
      .rst_ni,
      .waits_i(bad_valid_i && !bad_ready_o && runs),
      .others_i(1'b0),
      .count_o(bad_count)
  );
  `MRC_PROVE(pres, pres_count <= 2'(Most))
  `MRC_COVER(pres, pres_count == 2'(Most))
  `MRC_PROVE(pans, pans_count <= 2'(Most))
  `MRC_COVER(pans, pans_count == 2'(Most) && dut.pres_v)
  `MRC_PROVE(bad, bad_count <= 2'(Most))
  `MRC_COVER(bad, bad_count == 2'd1 && dut.pans_v && probe_valid_o && !probe_ready_i)
endmodule
