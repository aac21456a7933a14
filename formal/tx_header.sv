// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_tx_header while lanes take every header and no table is written: control packets pass
/// without a wait, whatever else there is, others behind them. Checksums are any
/// (formal/any_crc.sv).
module formal_tx_header
  import mrc_pkg::*;
#(
    parameter int unsigned NumQps = 2
) (
    input logic clk_i,
    input tx_header_csr_t csr_i,
    input logic path_valid_i,
    input path_t path_i,
    input logic ctlpkt_valid_i,
    input ctlpkt_t ctlpkt_i,
    input logic probe_valid_i,
    input ctlpkt_t probe_i,
    input logic eprq_valid_i,
    input ctlpkt_t eprq_i
);
  `MRC_RESET

  logic path_ready_o, ctlpkt_ready_o, probe_ready_o, eprq_ready_o, hdr_valid_o, cfg_ack_o;
  hdr_t hdr_o;
  mrc_tx_header #(
      .NumQps(NumQps)
  ) dut (
      .bug_i(8'd0),
      .hdr_ready_i(1'b1),
      .cfg_i('0),
      .*
  );

  // A control packet that came two cycles ago is in stage A, three ago at the output.
  logic [2:0] came_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      came_q <= '0;
    end else begin
      came_q <= {came_q[1:0], ctlpkt_valid_i && ctlpkt_ready_o};
    end
  end

  `MRC_PROVE(taken, ctlpkt_ready_o && (!came_q[2] || hdr_valid_o))
  `MRC_COVER(taken, came_q == 3'b111 && hdr_valid_o && !path_ready_o && !probe_ready_o
             && !eprq_ready_o)
  `MRC_HELP(head, dut.ack_v == came_q[0] && dut.u_ctlpkt.count_q <= 2'd1)
  `MRC_HELP(stage, !came_q[1] || dut.a_valid_q)

  // ---- the others, in their order: cycles in which one in front of them is taken apart

  localparam int unsigned Most = 1;
  logic [1:0] probe_count, eprq_count, path_count;
  formal_wait #(
      .Most(Most)
  ) u_probe (
      .clk_i,
      .rst_ni,
      .waits_i(probe_valid_i && !probe_ready_o),
      .others_i(dut.ack_pop),
      .count_o(probe_count)
  );
  formal_wait #(
      .Most(Most)
  ) u_eprq (
      .clk_i,
      .rst_ni,
      .waits_i(eprq_valid_i && !eprq_ready_o),
      .others_i(dut.ack_pop || dut.probe_pop),
      .count_o(eprq_count)
  );
  formal_wait #(
      .Most(Most)
  ) u_path (
      .clk_i,
      .rst_ni,
      .waits_i(path_valid_i && !path_ready_o),
      .others_i(dut.ack_pop || dut.probe_pop || dut.eprq_pop),
      .count_o(path_count)
  );
  `MRC_PROVE(probe, probe_count <= 2'(Most))
  `MRC_COVER(probe, probe_count == 2'(Most) && dut.ack_v)
  `MRC_PROVE(eprq, eprq_count <= 2'(Most))
  `MRC_COVER(eprq, eprq_count == 2'(Most) && dut.probe_v)
  `MRC_PROVE(path, path_count <= 2'(Most))
  `MRC_COVER(path, path_count == 2'(Most) && dut.eprq_v)
endmodule
