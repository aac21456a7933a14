// SPDX-License-Identifier: Apache-2.0

/// Turns what the responder owes into control packets: SACK, NACK and ACK with their extension
/// header bytes, on the plane the cause came from while that port is up. One per cycle. It queues
/// sixteen and merges none. Contract: docs/blocks/rx_reorder.md.
module mrc_ack_gen
  import mrc_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter int unsigned NumQps = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input logic [NumPlanes-1:0] port_up_i,
    input logic [MaxPlanes-1:0][31:0] rev_ev_i,
    input logic cfg_req_i,
    input logic [3:0] cfg_table_i,
    input logic [15:0] cfg_index_i,
    input logic [511:0] cfg_data_i,
    output logic cfg_ack_o,
    input logic resp_valid_i,
    output logic resp_ready_o,
    input resp_t resp_i,
    output logic ctlpkt_valid_o,
    input logic ctlpkt_ready_i,
    output ctlpkt_t ctlpkt_o
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned PlaneW = (NumPlanes > 1) ? $clog2(NumPlanes) : 1;

  logic head_valid, load, free, cfg_do, cfg_we, cfg_ack_q;
  logic [4:0] unused_count;
  resp_t r;
  ctlpkt_t out;
  tbl_qp_ctx_t cfg_ctx;
  logic [23:0] dqpn;
  logic [3:0] plane;
  logic [15:0] spdcid, ack_off, sack_off;
  logic [23:0] rcvd;

  mrc_fifo #(
      .T(resp_t),
      .Depth(16)
  ) u_resp (
      .clk_i,
      .rst_ni,
      .valid_i(resp_valid_i),
      .ready_o(resp_ready_o),
      .data_i(resp_i),
      .valid_o(head_valid),
      .ready_i(load),
      .data_o(r),
      .count_o(unused_count)
  );

  assign cfg_ctx = tbl_qp_ctx_t'(cfg_data_i);
  assign cfg_do = cfg_req_i && !cfg_ack_q;
  assign cfg_we = cfg_do && cfg_table_i == CfgTableQpCtx;
  assign load = head_valid && free && !cfg_do;
  assign cfg_ack_o = cfg_ack_q;

  mrc_rf_1r1w #(
      .Width(24),
      .Depth(NumQps)
  ) u_dqpn (
      .clk_i,
      .raddr_i(r.qp[QpW-1:0]),
      .rdata_o(dqpn),
      .we_i(cfg_we),
      .waddr_i(cfg_index_i[QpW-1:0]),
      .wdata_i(cfg_ctx.dqpn)
  );

  always_comb begin
    plane = 4'd0;
    if (port_up_i[r.plane[PlaneW-1:0]]) begin
      plane = r.plane;
    end else begin
      for (int unsigned p = NumPlanes; p > 0; p--) begin
        if (port_up_i[p-1]) begin
          plane = 4'(p - 1);
        end
      end
    end
  end

  assign spdcid = r.qp + 16'(QpnBase);
  // An answer to a probe has the probe's id there.
  assign ack_off = r.pr ? r.psn[15:0] : 16'(r.psn - r.cack);
  // Bug 27: the bitmap seems to start one PSN lower.
  assign sack_off = 16'(r.base - r.cack) - ((bug_i == 8'd27) ? 16'd1 : 16'd0);
  // Bug 28: rounded down.
  assign rcvd = r.rcvd - ((bug_i == 8'd28) ? 24'd1 : 24'd0);

  always_comb begin
    out = '0;
    if (load) begin
      out.qp = r.qp;
      out.plane = plane;
      out.ev = rev_ev_i[plane[2:0]];
      if (r.kind == CtlKindSack) begin
        out.opcode = OpcodeSack;
        out.psn = r.cack;
        out.ext_len = 8'(SethBytes + CcStateBytes);
        out.ext[1*8+5+:2] = r.m;
        out.ext[1*8+1] = r.pr;
        out.ext[2*8+:16] = {ack_off[7:0], ack_off[15:8]};
        out.ext[13*8+:24] = {r.cack[7:0], r.cack[15:8], r.cack[23:16]};
        out.ext[18*8+:16] = {sack_off[7:0], sack_off[15:8]};
        out.ext[20*8+:64] = {r.bitmap[7:0], r.bitmap[15:8], r.bitmap[23:16], r.bitmap[31:24],
            r.bitmap[39:32], r.bitmap[47:40], r.bitmap[55:48], r.bitmap[63:56]};
        out.ext[28*8+:16] = {r.ts[7:0], r.ts[15:8]};
        out.ext[30*8+:16] = {r.ooo[7:0], 1'b0, r.ooo[14:8]};
        out.ext[33*8+:24] = {rcvd[7:0], rcvd[15:8], rcvd[23:16]};
      end else if (r.kind == CtlKindNack) begin
        out.opcode = OpcodeNack;
        out.psn = r.psn;
        out.ext_len = 8'(NethBytes);
        out.ext[2*8+:8] = r.reason;
        out.ext[13*8+:24] = {r.psn[7:0], r.psn[15:8], r.psn[23:16]};
        out.ext[16*8+:8] = 8'h20;
        out.ext[18*8+:16] = {r.ts[7:0], r.ts[15:8]};
      end else begin
        out.opcode = OpcodeAck;
        out.psn = r.psn;
        out.ext_len = 8'(AethBytes);
        out.ext[0*8+:8] = r.reason;
        out.ext[2*8+:16] = {r.msn[7:0], r.msn[15:8]};
      end
      if (r.kind == CtlKindSack || r.kind == CtlKindNack) begin
        out.ext[4*8+:32] = {r.entropy[7:0], r.entropy[15:8], r.entropy[23:16], r.entropy[31:24]};
        out.ext[8*8+:16] = {spdcid[7:0], spdcid[15:8]};
        out.ext[10*8+:16] = {dqpn[7:0], dqpn[15:8]};
      end
    end
  end

  mrc_out_reg #(
      .T(ctlpkt_t)
  ) u_ctlpkt (
      .clk_i,
      .rst_ni,
      .load_i(load),
      .data_i(out),
      .free_o(free),
      .valid_o(ctlpkt_valid_o),
      .ready_i(ctlpkt_ready_i),
      .data_o(ctlpkt_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cfg_ack_q <= 1'b0;
    end else begin
      cfg_ack_q <= cfg_req_i;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{unused_count, cfg_index_i, cfg_ctx, dqpn, plane};

endmodule
