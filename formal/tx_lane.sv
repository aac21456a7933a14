// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_tx_lane from the host's lines to the ICRC, from its queue to the requests for lines, and
/// what it does with headers while its port takes nothing. Ports of 16 bytes, lines of 32, four of
/// them, as they come; bytes of headers are addresses (formal/address_ram.sv), checksums are any
/// (formal/any_crc.sv). The host answers what it likes, asked or not.
module formal_tx_lane
  import mrc_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input logic [3:0] plane_i,
    input logic hdr_valid_i,
    input hdr_t hdr_i,
    input logic rdreq_ready_i,
    input logic rsp_valid_i,
    input logic [255:0] rsp_data_i,
    input logic rsp_err_i,
    input logic tx_tready_i,
    input logic ticks_i
);
  `MRC_RESET

  // Ticks come at any time; the limit is any.
  tx_lane_csr_t csr_i;
  logic [15:0] tick_i, tick_q;
  assign tick_i = tick_q + 16'(ticks_i);
  always_ff @(posedge clk_i) begin
    csr_i <= csr_i;
    tick_q <= tick_i;
  end

  logic hdr_ready_ctl_o, hdr_ready_data_o, lane_room_o, stands_o, rdreq_valid_o;
  logic tx_tvalid_o, tx_tlast_o;
  rdreq_t rdreq_o;
  logic [127:0] tx_tdata_o;
  logic [15:0] tx_tkeep_o;
  tx_lane_pulses_t pulses_o;
  logic data_done_o;
  mrc_tx_lane #(
      .PortBytes(16),
      .HostBytes(32),
      .TxLaneFifo(16),
      .LineFifo(4)
  ) dut (
      .bug_i(8'(Bug)),
      .*
  );

  // ---- a line that could not be read, and the ICRC of its packet

  localparam logic [2:0] StHdr = 3'd1;
  localparam logic [2:0] StPay = 3'd2;
  localparam logic [2:0] StIcrc = 3'd3;
  logic spoiled_q, before_q, last_err_q, icrc;
  logic [1:0] lines_q;  // of this packet, up to 3
  assign icrc = dut.state_q == StIcrc;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {spoiled_q, before_q, last_err_q, lines_q} <= '0;
    end else if (dut.cur_load) begin
      {spoiled_q, last_err_q, lines_q} <= '0;
      before_q <= before_q || spoiled_q;
    end else if (dut.line_pop) begin
      spoiled_q <= spoiled_q || dut.line_head.err;
      last_err_q <= dut.line_head.err;
      lines_q <= lines_q + 2'(lines_q != '1);
    end
  end

  `MRC_PROVE(spoils, !(icrc && spoiled_q) || dut.chunk[31:0] == dut.crc_q)
  `MRC_PROVE(spares, !(icrc && !spoiled_q) || dut.chunk[31:0] == ~dut.crc_q)
  `MRC_COVER(spoils, icrc && spoiled_q && lines_q == 2'd2 && !last_err_q)
  `MRC_COVER(spares, icrc && !spoiled_q && lines_q == 2'd1 && before_q)

  // The lines wait in a queue: what is pushed is not put over the head.
  `MRC_HELP(queue, dut.u_lines.count_q <= 3'd4
            && dut.u_lines.wptr_q == 2'(dut.u_lines.rptr_q + dut.u_lines.count_q[1:0]))
  `MRC_HELP(fresh, dut.state_q != StHdr || !(dut.bad_q || spoiled_q))
  `MRC_HELP(begun, !(dut.state_q == StPay && dut.beat_q != '0) || dut.line_v)
  `MRC_HELP(of_the_line, dut.state_q != StPay || dut.beat_q <= 4'd1)
  `MRC_HELP(bad, dut.state_q != StPay
            || dut.bad_q == (spoiled_q || (dut.beat_q != '0 && dut.line_head.err)))
  `MRC_HELP(reported, !icrc || dut.bad_q == spoiled_q)

  // ---- what it asks for

  logic [63:0] addr_q;
  logic [12:0] len_q, sent_q;
  qp_index_t qp_q;
  rdreq_t requests;
  assign requests = dut.u_rdreq.data_i;

  always_ff @(posedge clk_i) begin
    if (dut.fq_pop) begin
      addr_q <= dut.fq_head.addr;
      len_q <= dut.fq_head.len;
      qp_q <= dut.fq_head.qp;
      sent_q <= '0;
    end else if (dut.req_load) begin
      sent_q <= sent_q + 13'(requests.len);
    end
  end

  `MRC_PROVE(requests_in_order, !dut.req_load || requests.addr == addr_q + 64'(sent_q))
  `MRC_PROVE(requests_all, !dut.req_load || (13'(requests.len) <= len_q - sent_q
             && (requests.len == 8'd32 || 13'(requests.len) == len_q - sent_q)
             && (dut.f_busy_d || 13'(requests.len) == len_q - sent_q)))
  `MRC_PROVE(requests_for_bytes, !dut.req_load || requests.len != 8'd0)
  `MRC_PROVE(requests_of_its_qp, !dut.req_load || (requests.qp == qp_q
             && requests.plane == plane_i))
  `MRC_COVER(requests, dut.req_load && sent_q == 13'd64 && requests.len == 8'd1
             && qp_q != '0 && dut.fq_v)
  `MRC_HELP(fetch, !dut.f_busy_q || (sent_q <= len_q && dut.f_addr_q == addr_q + 64'(sent_q)
            && dut.f_left_q == len_q - sent_q && dut.f_qp_q == qp_q && dut.f_left_q != '0))
  for (genvar i = 0; i < 16; i++) begin : gen_fq
    `MRC_HELP(bytes, 5'(4'(4'(i) - dut.u_fq.rptr_q)) >= dut.u_fq.count_q
              || dut.u_fq.mem_q[i].len != '0)
  end
  `MRC_HELP(fq, dut.u_fq.count_q <= 5'd16
            && dut.u_fq.wptr_q == 4'(dut.u_fq.rptr_q + dut.u_fq.count_q[3:0]))

  // ---- a port that stands still

  logic [16:0] waited_q;  // ticks while the port took nothing, up to 2^17 - 1
  logic taken, dropped;
  assign taken = hdr_valid_i && hdr_i.ctl && hdr_ready_ctl_o;
  assign dropped = taken && dut.u_ctl.count_o == 4'd8;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waited_q <= '0;
    end else if (!tx_tvalid_o || tx_tready_i) begin
      waited_q <= '0;
    end else begin
      waited_q <= waited_q + 17'(ticks_i && waited_q != '1);
    end
  end

  logic over;
  assign over = csr_i.port_stall != '0 && waited_q >= 17'(csr_i.port_stall);
  `MRC_PROVE(stands, stands_o == over)
  `MRC_PROVE(none_waits, !over || hdr_ready_ctl_o)
  `MRC_PROVE(drops_late, !dropped || over)
  `MRC_PROVE(queued_or_counted, !taken || (dut.ctl_push != dropped))
  `MRC_COVER(stands, stands_o && csr_i.port_stall == 16'd2 && !tx_tready_i)
  `MRC_COVER(dropped, dropped && csr_i.port_stall == 16'd2)
  `MRC_HELP(since, waited_q > 17'hFFFF || 16'(tick_q - dut.since_q) == waited_q[15:0])
endmodule
