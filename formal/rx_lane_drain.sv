// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_rx_lane while rx_place takes lines: how long a verdict waits. Frames are any bytes. Ports of
/// 16 bytes, lines of 32; words are their addresses (formal/address_ram.sv), checksums are any
/// (formal/any_crc.sv).
module formal_rx_lane_drain
  import mrc_pkg::*;
(
    input logic clk_i,
    input rx_lane_csr_t csr_i,
    input logic rx_tvalid_i,
    input logic [127:0] rx_tdata_i,
    input logic [15:0] rx_tkeep_i,
    input logic rx_tlast_i,
    input logic rx_tuser_i,
    input logic desc_ready_i,
    input logic verdict_valid_i,
    input verdict_t verdict_i,
    input logic line_ready_i
);
  `MRC_RESET

  logic desc_valid_o, verdict_ready_o, line_valid_o;
  rxdesc_t desc_o;
  line_t line_o;
  rx_lane_pulses_t pulses_o;
  mrc_rx_lane #(
      .PortBytes(16),
      .HostBytes(32),
      .LaneFifo(2),
      .RxBufWords(512)
  ) dut (
      .bug_i(8'd0),
      .tick_i(16'd0),
      .*
  );

  // A verdict is about a packet that waits for one, and that has payload.
  logic waits;
  assign waits = verdict_valid_i && !verdict_ready_o && line_ready_i && dut.pl_valid;
  `MRC_GIVEN(place_has_payload, !(dut.v_pop && dut.v.place) || dut.v.plen != 13'd0)

  localparam int unsigned Most = 1;
  logic [1:0] count;
  formal_wait #(
      .Most(Most)
  ) u_wait (
      .clk_i,
      .rst_ni,
      .waits_i(waits),
      .others_i(dut.d_put),
      .count_o(count)
  );
  `MRC_PROVE(taken, count <= 2'(Most))
  `MRC_COVER(taken, count == 2'(Most) && dut.v.place)

  // The packet before it has so many words, 256 at most.
  logic [13:0] puts_q;
  function automatic logic [13:0] words_of(logic [12:0] bytes);
    return ({1'b0, bytes} + 14'd15) >> 4;
  endfunction
  always_ff @(posedge clk_i) begin
    if (dut.v_pop) begin
      puts_q <= words_of(dut.v.plen);
    end else if (dut.d_put) begin
      puts_q <= puts_q - 14'd1;
    end
  end
  `MRC_PROVE(words, !dut.d_put || puts_q != 14'd0)
  `MRC_COVER(words, dut.d_put && puts_q == 14'd1)
  `MRC_HELP(left, dut.dstate_q == 1'b0 || dut.d_left_q != 13'd0)
  `MRC_HELP(words, dut.dstate_q == 1'b0 || puts_q == words_of(dut.d_left_q))
endmodule
