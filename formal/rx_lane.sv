// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_rx_lane from its buffer to host memory: the lines of a packet cover it once, in order, with
/// its words, name its QP and say which is the last; the buffer never holds more than it has.
/// Frames are any bytes. Ports of 16 bytes, lines of 32, a buffer of 512 words; words are their
/// addresses (formal/address_ram.sv), checksums are any (formal/any_crc.sv).
module formal_rx_lane
  import mrc_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
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

  localparam int unsigned Words = 512;
  logic desc_valid_o, verdict_ready_o, line_valid_o;
  rxdesc_t desc_o;
  line_t line_o;
  rx_lane_pulses_t pulses_o;
  mrc_rx_lane #(
      .PortBytes(16),
      .HostBytes(32),
      .LaneFifo(2),
      .RxBufWords(Words)
  ) dut (
      .bug_i(8'(Bug)),
      .tick_i(16'd0),
      .*
  );

  // ---- the packet that drains

  // A verdict is about the oldest packet: as long as that is.
  logic [12:0] words;
  assign words = (dut.v.plen + 13'd15) >> 4;
  `MRC_GIVEN(verdict_is_the_packets, !(dut.v_pop && dut.v.place)
             || (dut.v.plen != 13'd0 && words == {4'd0, dut.pl_words}))

  logic starts, places, open_q, begun_q;
  logic [63:0] addr_q;
  qp_index_t qp_q;
  logic [12:0] plen_q, sent_q;
  logic [8:0] word_q;
  assign starts = dut.v_pop && dut.v.place;
  assign places = dut.line_load && !dut.v_pop;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q <= 1'b0;
      begun_q <= 1'b0;
    end else begin
      begun_q <= begun_q || starts;
      open_q <= starts || (open_q && !(places && dut.line_d.last));
    end
  end
  always_ff @(posedge clk_i) begin
    if (starts) begin
      addr_q <= dut.v.addr;
      qp_q <= dut.v.qp;
      plen_q <= dut.v.plen;
      word_q <= dut.rd_q[8:0];
      sent_q <= 13'd0;
    end else if (places) begin
      sent_q <= sent_q + 13'(dut.line_d.len);
    end
  end

  logic [12:0] end_of_line;
  assign end_of_line = sent_q + 13'(dut.line_d.len);
  `MRC_PROVE(lines_follow, !places || (open_q && dut.line_d.addr == addr_q + 64'(sent_q)))
  `MRC_PROVE(lines_full, !places || (dut.line_d.len != 8'd0
             && (dut.line_d.last ? dut.line_d.len <= 8'd32 : dut.line_d.len == 8'd32)))
  `MRC_PROVE(last_once, !places || (dut.line_d.last == (end_of_line == plen_q)
                                    && end_of_line <= plen_q))
  `MRC_PROVE(of_its_qp, !places || dut.line_d.qp == qp_q)
  `MRC_PROVE(whole, !dut.v_pop || !open_q)
  // A word of one byte keeps eight bits of its address.
  logic [8:0] first, second;
  assign first = word_q + sent_q[12:4];
  assign second = first + 9'd1;
  `MRC_PROVE(its_words, !places || (dut.line_d.data[7:0] == first[7:0]
             && (dut.line_d.len <= 8'd16 || dut.line_d.data[135:128] == second[7:0])))
  // What is discarded brings one line without bytes, of no QP.
  `MRC_PROVE(discarded, !(dut.v_pop && !dut.v.place)
             || (dut.line_load && dut.line_d.len == 8'd0 && dut.line_d.last
                 && dut.line_d.qp == '0))
  `MRC_COVER(lines, places && dut.line_d.last && sent_q == 13'd64 && dut.line_d.len == 8'd17)
  `MRC_COVER(next, dut.v_pop && begun_q)
  `MRC_COVER(discarded, dut.v_pop && !dut.v.place && dut.pl_words == 9'd3)

  // ---- what it tells of a frame

  `MRC_PROVE(buffer_is_payload, !(dut.desc_push && dut.desc_d.buf_valid)
             || (dut.desc_d.trim == TrimNone && dut.desc_d.err == RxErrNone
                 && dut.desc_d.plen != 13'd0 && dut.desc_d.plen <= 13'd4096
                 && dut.desc_d.opcode >= OpcodeWriteFirst
                 && dut.desc_d.opcode <= OpcodeWriteOnlyImm))
  `MRC_PROVE(buffer_is_queued, !dut.desc_push || dut.desc_d.buf_valid == dut.pl_push)
  `MRC_COVER(buffer, dut.desc_push && dut.desc_d.buf_valid && dut.desc_d.plen == 13'd33)

  // ---- the queue of packets in the buffer

  for (genvar i = 0; i < 8; i++) begin : gen_in
    logic in;
    assign in = {1'b0, 3'(3'(i) - dut.u_pl.rptr_q)} < dut.u_pl.count_q;
    `MRC_HELP(words, !in || (dut.u_pl.mem_q[i] != 9'd0 && dut.u_pl.mem_q[i] <= 9'd256))
  end
  `MRC_HELP(pl_fifo, dut.u_pl.count_q <= 4'd8
            && dut.u_pl.wptr_q == dut.u_pl.rptr_q + dut.u_pl.count_q[2:0])

  // ---- the drain

  `MRC_HELP(open, open_q == (dut.dstate_q == 1'b1))
  `MRC_HELP(left, !open_q || (dut.d_left_q != 13'd0 && plen_q <= 13'd4096
            && plen_q - sent_q - {8'd0, dut.d_k_q, 4'd0} == dut.d_left_q
            && dut.d_left_q <= plen_q - sent_q
            && sent_q <= plen_q && sent_q[4:0] == 5'd0))
  `MRC_HELP(qp, !open_q || dut.d_qp_q == qp_q)
  `MRC_HELP(to, !open_q || dut.d_addr_q == addr_q + 64'(sent_q))
  logic [8:0] reads;
  assign reads = word_q + sent_q[12:4] + {8'd0, dut.d_k_q};
  `MRC_HELP(at, !open_q || (dut.u_buf.gen_addresses.at_q == reads && dut.rd_q[8:0] == reads + 9'd1))
  `MRC_HELP(kept, !open_q || dut.d_k_q == 1'b0 || dut.asm_q[0][7:0] == 8'(reads - 9'd1))
endmodule
