// SPDX-License-Identifier: Apache-2.0
`include "mrc_prove.svh"

/// mrc_rx_check: what it lets pass. Two QPs, two regions, two planes; all other widths are whole.
/// Tables are written at any time, descriptors are any bits, but that a buffer holds payload.
module formal_rx_check
  import mrc_pkg::*;
#(
    parameter int unsigned Bug = 0
) (
    input logic clk_i,
    input rx_check_csr_t csr_i,
    input cfg_t cfg_i,
    input logic [1:0] desc_valid_i,
    input rxdesc_t desc0_i,
    input rxdesc_t desc1_i,
    input logic rxpkt_ready_i,
    input logic ctl_ready_i,
    input logic eprx_ready_i
);
  `MRC_RESET

  logic cfg_ack_o, rxpkt_valid_o, ctl_valid_o, eprx_valid_o;
  logic [1:0] desc_ready_o;
  rxdesc_t desc_i[0:1];
  rxpkt_t rxpkt_o;
  ctl_t ctl_o;
  eprx_t eprx_o;
  rx_check_pulses_t pulses_o;
  assign desc_i[0] = desc0_i;
  assign desc_i[1] = desc1_i;
  mrc_rx_check #(
      .NumPlanes(2),
      .NumQps(2),
      .NumMrs(2)
  ) dut (
      .bug_i(8'(Bug)),
      .*
  );

  // A lane has payload of no other packets.
  function automatic logic buffer_ok(rxdesc_t d);
    return !d.buf_valid || (d.plen != 13'd0 && d.trim == TrimNone);
  endfunction
  `MRC_GIVEN(buffer_has_payload, buffer_ok(desc0_i) && buffer_ok(desc1_i))
  for (genvar p = 0; p < 2; p++) begin : gen_plane
    for (genvar i = 0; i < 2; i++) begin : gen_slot
      logic in;
      assign in = dut.gen_in[p].u_desc.count_q == 2'd2 || (dut.gen_in[p].u_desc.count_q == 2'd1
                  && dut.gen_in[p].u_desc.rptr_q == 1'(i));
      `MRC_HELP(payload, !in || buffer_ok(dut.gen_in[p].u_desc.mem_q[i]))
    end
    `MRC_HELP(desc_fifo, dut.gen_in[p].u_desc.count_q <= 2'd2 && dut.gen_in[p].u_desc.wptr_q
              == (dut.gen_in[p].u_desc.rptr_q ^ dut.gen_in[p].u_desc.count_q[0]))
  end
  `MRC_HELP(payload, !dut.a_valid_q || buffer_ok(dut.d_q))

  // The regions as they were written; the block keeps sums instead (lemma.inside, lemma.address).
  tbl_mr_t mr_q[0:1];
  always_ff @(posedge clk_i) begin
    if (dut.cfg_mr_we) begin
      mr_q[dut.cfg_mr_row] <= dut.cfg_mr;
    end
  end

  function automatic logic same_row(logic [224:0] row, tbl_mr_t written);
    return row == {written.rkey, written.va, 65'(written.va) + 65'(written.length),
                   written.addr - written.va};
  endfunction
  logic [1:0] mr_valid;  // rows that u_mr_valid has
  for (genvar i = 0; i < 2; i++) begin : gen_valid
    assign mr_valid[i] = dut.u_mr_valid.u_written.top_q[i] && dut.u_mr_valid.u_rows.mem_q[i];
  end
  `MRC_PROVE(rows, (!mr_valid[0] || same_row(dut.u_mr.mem_q[0], mr_q[0]))
                   && (!mr_valid[1] || same_row(dut.u_mr.mem_q[1], mr_q[1])))

  // A WRITE that will be written to memory; one without bytes, that is taken for one; what passes,
  // but for what came back, which is of no QP of its number.
  logic writes, passes, empties;
  assign passes = (dut.rxpkt_load && !dut.drop) || (dut.ctl_load && !dut.came_back);
  assign writes = dut.rxpkt_load && !dut.drop && dut.is_data && !dut.no_pay && !dut.empty
      && dut.syndrome == 8'd0;
  assign empties = dut.rxpkt_load && !dut.drop && dut.is_data && !dut.no_pay && dut.empty;

  `MRC_PROVE(inside, !writes || (dut.reth.va >= dut.mr.va && 65'(dut.reth.va) + 65'(dut.d_q.plen)
                                                            <= dut.mr.behind))
  `MRC_PROVE(of_its_key, !writes || (dut.mr_valid && dut.mr.rkey == dut.reth.r_key))
  `MRC_PROVE(address, !writes || dut.rxpkt_d.haddr == dut.reth.va + dut.mr.delta)
  `MRC_PROVE(length, !(dut.rxpkt_load && dut.rxpkt_d.syndrome == 8'd0
                       && dut.rxpkt_d.plen != 13'd0)
                     || (writes && dut.rxpkt_d.plen == dut.d_q.plen))
  `MRC_PROVE(pkey, !passes || dut.d_q.pkey[14:0] == dut.qp_row.pkey[14:0])
  `MRC_PROVE(error_reported, !(passes && dut.qp_state == QpStateError)
                         || (!dut.ctl_load && dut.rxpkt_d.err))
  // Only a QP that receives takes anything; which one it is, tables have said last.
  logic [1:0][2:0] reported_q;
  logic [1:0] qpn_q;  // a table has said the upper bits of the QPN:
  logic [1:0][22:0] high_q;
  logic [23:0] named;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reported_q <= {2{3'(QpStateReset)}};
      qpn_q <= 2'd0;
      high_q <= '0;
    end else if (dut.cfg_do && cfg_i.tbl == CfgTableQpQpn) begin
      qpn_q[cfg_i.index[0]] <= 1'b1;
      high_q[cfg_i.index[0]] <= cfg_i.data[22:0];
    end else if (dut.cfg_do && (cfg_i.tbl == CfgTableQpCtx || cfg_i.tbl == CfgTableQpState)) begin
      reported_q[cfg_i.index[0]] <= dut.cfg_ctx.state;
      if (cfg_i.tbl == CfgTableQpCtx && dut.cfg_ctx.state <= 3'(QpStateInit)) begin
        qpn_q[cfg_i.index[0]] <= 1'b1;
        high_q[cfg_i.index[0]] <= '0;
      end
    end
  end
  assign named = dut.d_q.dqp - 24'(QpnBase);
  for (genvar i = 0; i < 2; i++) begin : gen_reported
    `MRC_HELP(reported, reported_q[i] == (dut.u_state.u_written.top_q[i]
              ? dut.u_state.u_rows.mem_q[i]
                                  : 3'(QpStateReset)))
    `MRC_HELP(high, !qpn_q[i] || dut.u_high.mem_q[i] == high_q[i])
  end
  `MRC_PROVE(whole_qpn, !passes || (dut.d_q.dqp >= 24'(QpnBase)
             && (!qpn_q[named[0]] || named[23:1] == high_q[named[0]])))
  `MRC_COVER(whole_qpn, passes && dut.d_q.dqp == 24'hfffffe)
  `MRC_PROVE(receives, !passes || (reported_q[named[0]] == 3'(QpStateRts)
             || (!dut.ctl_load && (reported_q[named[0]] == 3'(QpStateRtr)
                                   || reported_q[named[0]] == 3'(QpStateError)))))
  `MRC_COVER(receives, dut.rxpkt_load && !dut.drop && reported_q[named[0]] == 3'(QpStateRtr)
             && named == 24'd1)
  `MRC_PROVE(icrc, !(passes || dut.eprx_load) || dut.trimmed || dut.d_q.icrc_ok)
  `MRC_PROVE(one_way, 2'(dut.rxpkt_load) + 2'(dut.ctl_load) + 2'(dut.eprx_load) <= 2'd1)
  `MRC_PROVE(mtu, !writes || {3'd0, dut.d_q.plen} <= dut.mtu)
  // Of no bytes is what has none in packet and header, and no other way to have none.
  `MRC_PROVE(empty, !empties || (dut.d_q.plen == 13'd0 && dut.reth.dma_length == 32'd0
             && dut.rxpkt_d.haddr == 64'd0 && csr_i.zero_length == 2'(ZeroLengthLegal)
             && (dut.rxpkt_d.syndrome == 8'd0 || dut.imm_op)))
  `MRC_COVER(empty, empties && dut.rxpkt_d.syndrome == 8'd0 && !dut.mr_valid)
  // What came back is nothing to our responder, and brings nothing unless a QP sends there.
  `MRC_PROVE(returned, !(dut.b_take && dut.came_back) || (!dut.eprx_load
             && !(dut.rxpkt_load && !dut.drop) && (!dut.ctl_load
             || (dut.ctl_d.kind == CtlKindReturned && csr_i.returned == 2'(ReturnedLearn)
                 && dut.u_state.u_written.top_q[dut.ctl_d.qp[0]]
                 && dut.u_state.u_rows.mem_q[dut.ctl_d.qp[0]] == QpStateRts
                 && dut.u_peer.mem_q[dut.ctl_d.qp[0]][39:16] == dut.d_q.dqp))))
  `MRC_PROVE(returned_kind, !dut.ctl_load
             || (dut.ctl_d.kind == CtlKindReturned) == dut.came_back)
  `MRC_COVER(returned, dut.ctl_load && dut.came_back && dut.ctl_d.qp == qp_index_t'(1)
             && dut.back_key == 1'b0)
  `MRC_COVER(writes, writes && dut.reth.va != dut.mr.va && dut.d_q.plen > 13'd1
                     && dut.mr.behind < 65'd4096)
  `MRC_COVER(rows, &mr_valid && mr_q[0].va > mr_q[1].addr && mr_q[0].length != 64'd0)
  `MRC_COVER(control, dut.ctl_load && dut.d_q.pkey[14:0] == 15'h7FFF)
  `MRC_COVER(error, passes && dut.qp_state == QpStateError)
  `MRC_COVER(endpoint, dut.eprx_load && dut.d_q.icrc_ok)
  `MRC_COVER(table_waits, dut.cfg_wait && dut.a_valid_q)
  `MRC_COVER(held, rxpkt_valid_o && !rxpkt_ready_i && dut.a_valid_q)

  // ---- what the lane keeps goes on to rx_track, which owes a verdict

  `MRC_PROVE(buffer_goes_on, !(dut.b_take && dut.d_q.buf_valid && dut.d_q.err == RxErrNone
             && dut.d_q.trim == TrimNone && dut.is_data)
             || (dut.rxpkt_load && dut.rxpkt_d.buf_valid && dut.rxpkt_d.plane == dut.plane_q))
  `MRC_COVER(buffer_goes_on, dut.rxpkt_load && dut.rxpkt_d.buf_valid && dut.drop)

  // ---- while all outputs are taken and no table is written, an input waits Most cycles at most

  localparam int unsigned Most = 4;
  logic k_q;
  always_ff @(posedge clk_i) k_q <= k_q;
  logic [4:0] wait_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wait_q <= '0;
    end else if (desc_valid_i[k_q] && !desc_ready_o[k_q] && rxpkt_ready_i && ctl_ready_i
                 && eprx_ready_i && !cfg_i.req) begin
      wait_q <= wait_q + 5'(wait_q != '1);
    end else begin
      wait_q <= '0;
    end
  end
  `MRC_PROVE(taken, wait_q <= 5'(Most))
  `MRC_COVER(taken, wait_q == 5'd1)
endmodule
