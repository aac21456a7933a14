// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// The bytes in front (docs/design/blocks/tx/tx_header.md): builds the header of a packet, Ethernet
/// to the last extension header, and the ICRC register after it. Control packets come before
/// probes, probes before endpoint requests, those before data packets. Two stages (A: bytes, B:
/// ICRC), one packet per cycle, latency 3 cycles with the input FIFO. Extension headers of control
/// packets are whole 32-bit words. Payload, pad and the final ICRC are the lane's business.
module mrc_tx_header
  import mrc_pkg::*;
  import mrc_addr_pkg::*;
#(
    parameter int unsigned NumQps = 4,
    parameter int unsigned TickCycles = 128,
    parameter int unsigned TickParts = 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input tx_header_csr_t csr_i,

    input logic path_valid_i,
    output logic path_ready_o,
    input path_t path_i,
    input logic ctlpkt_valid_i,
    output logic ctlpkt_ready_o,
    input ctlpkt_t ctlpkt_i,
    input logic probe_valid_i,
    output logic probe_ready_o,
    input ctlpkt_t probe_i,
    input logic eprq_valid_i,
    output logic eprq_ready_o,
    input ctlpkt_t eprq_i,

    output logic hdr_valid_o,
    input logic hdr_ready_i,
    output hdr_t hdr_o,


    input cfg_t cfg_i,
    output logic cfg_ack_o
);

  localparam int unsigned QpW = $clog2(NumQps);
  localparam int unsigned EthBits = 8 * EthBytes;
  localparam int unsigned Ip6Bits = 8 * Ipv6Bytes;
  localparam int unsigned SrhBits = 8 * SrhBytes;
  localparam int unsigned FrontBits = Ip6Bits + SrhBits;  // what may stand before the inner header
  localparam int unsigned BaseLen = Ipv6Bytes + UdpBytes + BthBytes;
  // Inner IPv6 header to the end of the largest extension.
  localparam int unsigned InnerBits = 8 * (BaseLen + ExtBytes);
  localparam int unsigned HdrBits = 8 * HdrBytes;
  localparam int unsigned MaxExtWords = ExtBytes / 4;

  if (NumQps < 2 || NumQps != 2 ** QpW) begin : gen_bad_params
    $error("%m: NumQps must be a power of two, at least 2");
  end

  // ICRC register after the eight bytes of ones that stand for the LRH, and what is read as ones;
  // what is reserved in front of the DQP apart.
  localparam logic [31:0] CrcAfterLrh = 32'hDEBB20E3;
  localparam hdr_ipv6_t Ip6Ones = '{
      dscp: 6'h3F,
      ecn: 2'h3,
      flow_label: 20'hFFFFF,
      hop_limit: 8'hFF,
      default: '0
  };
  localparam hdr_udp_t UdpOnes = '{checksum: 16'hFFFF, default: '0};
  localparam hdr_bth_t BthOnes = '{reserved4: 8'hFF, default: '0};
  localparam logic [InnerBits-1:0] IcrcOnes =
      InnerBits'({bytes_of_udp(UdpOnes), bytes_of_ipv6(Ip6Ones)});
  localparam logic [InnerBits-1:0] IcrcBth4 =
      InnerBits'(bytes_of_bth(BthOnes)) << (8 * (Ipv6Bytes + UdpBytes));
  // The same before the inner header, if it counts: besides, the destination address; segments
  // left.
  localparam hdr_ipv6_t OuterDst = '{dst: {128{1'b1}}, default: '0};
  localparam hdr_srh_t SrhOnes = '{segments_left: 8'hFF, default: '0};
  localparam logic [FrontBits-1:0] IcrcOuterOnes = FrontBits'(bytes_of_ipv6(Ip6Ones | OuterDst));
  localparam logic [FrontBits-1:0] IcrcSrhOnes = FrontBits'(bytes_of_srh(SrhOnes)) << Ip6Bits;

  typedef struct packed {
    logic [23:0] dqpn;
    logic [15:0] pkey;
    logic [1:0] encap;
    logic ts;
    logic [47:0] dmac;
    logic [127:0] dip;
    logic [127:0] srv6;
  } qp_t;

  // The traffic class of a QP.
  typedef struct packed {
    logic own;  // of its own; otherwise it is that of the NIC
    logic [5:0] data;
    logic [5:0] rtx;
  } class_t;

  typedef struct packed {
    logic [3:0] plane;
    logic ctl;
    logic outer;  // behind an outer IPv6 header
    logic srh;  // and a segment routing header
    logic [3:0] ext_words;
    logic [7:0] hdr_len;
    logic [63:0] laddr;
    logic [12:0] plen;
    qp_index_t qp;
    logic [EthBits-1:0] eth;
    logic [FrontBits-1:0] front;  // the outer IPv6 header, if any, and the SRH or zeros
    logic [InnerBits-1:0] inner;  // zeros behind the last extension header
  } stage_t;

  // ---- inputs

  // ctl: the control packet or, without one, the probe or, without both, the endpoint request.
  logic path_v, ack_v, probe_v, eprq_v, ctl_v, path_pop, ack_pop, probe_pop, eprq_pop;
  path_t path;
  ctlpkt_t ack, probe, eprq, ctl;
  logic [3:0][1:0] unused_counts;

  mrc_fifo #(
      .T(path_t),
      .Depth(2)
  ) u_path (
      .clk_i,
      .rst_ni,
      .valid_i(path_valid_i),
      .ready_o(path_ready_o),
      .data_i(path_i),
      .valid_o(path_v),
      .ready_i(path_pop),
      .data_o(path),
      .count_o(unused_counts[0])
  );

  mrc_fifo #(
      .T(ctlpkt_t),
      .Depth(2)
  ) u_ctlpkt (
      .clk_i,
      .rst_ni,
      .valid_i(ctlpkt_valid_i),
      .ready_o(ctlpkt_ready_o),
      .data_i(ctlpkt_i),
      .valid_o(ack_v),
      .ready_i(ack_pop),
      .data_o(ack),
      .count_o(unused_counts[1])
  );

  mrc_fifo #(
      .T(ctlpkt_t),
      .Depth(2)
  ) u_probe (
      .clk_i,
      .rst_ni,
      .valid_i(probe_valid_i),
      .ready_o(probe_ready_o),
      .data_i(probe_i),
      .valid_o(probe_v),
      .ready_i(probe_pop),
      .data_o(probe),
      .count_o(unused_counts[2])
  );

  mrc_fifo #(
      .T(ctlpkt_t),
      .Depth(2)
  ) u_eprq (
      .clk_i,
      .rst_ni,
      .valid_i(eprq_valid_i),
      .ready_o(eprq_ready_o),
      .data_i(eprq_i),
      .valid_o(eprq_v),
      .ready_i(eprq_pop),
      .data_o(eprq),
      .count_o(unused_counts[3])
  );

  assign ctl_v = ack_v || probe_v || eprq_v;
  assign ctl = ack_v ? ack : (probe_v ? probe : eprq);

  // ---- registers

  logic cfg_ack_q, cfg_ack_d;
  logic a_valid_q, a_valid_d;
  stage_t a_q, a_d;
  logic tick;
  logic [18:0] tick_q;
  logic cfg_wait, op_cfg, a_load, b_take, hdr_free;

  mrc_tick #(
      .Cycles(TickCycles),
      .Parts(TickParts)
  ) u_tick (
      .clk_i,
      .rst_ni,
      .tick_o(tick)
  );

  assign b_take = a_valid_q && hdr_free;
  // A table write stops the intake until it is done, so that stage A drains.
  assign cfg_wait = cfg_i.req && !cfg_ack_q;
  assign op_cfg = cfg_wait && !a_valid_q;
  assign a_load = !cfg_wait && (!a_valid_q || b_take) && (ctl_v || path_v);
  assign ack_pop = a_load && ack_v;
  assign probe_pop = a_load && probe_v && !ack_v;
  assign eprq_pop = a_load && eprq_v && !ack_v && !probe_v;
  assign path_pop = a_load && !ctl_v;
  assign a_valid_d = a_load || (a_valid_q && !b_take);
  assign cfg_ack_d = cfg_i.req && (cfg_ack_q || op_cfg);
  assign cfg_ack_o = cfg_ack_q;

  tbl_qp_ctx_t cfg_ctx;
  qp_t qp, qp_wdata;
  assign cfg_ctx = cfg_i.data;
  assign qp_wdata = '{
          dqpn: cfg_ctx.dqpn,
          pkey: cfg_ctx.pkey,
          encap: cfg_ctx.encap,
          ts: cfg_ctx.ts,
          dmac: cfg_ctx.dmac,
          dip: cfg_ctx.dip,
          srv6: cfg_ctx.srv6
      };

  logic cfg_ctx_we, cfg_class_we;
  logic [QpW-1:0] qp_raddr;
  tbl_qp_class_t cfg_class;
  class_t qp_class, class_wdata;
  assign cfg_ctx_we = op_cfg && cfg_i.tbl == CfgTableQpCtx;
  // A QP that begins anew has none.
  assign cfg_class_we = op_cfg && (cfg_i.tbl == CfgTableQpClass || (cfg_i.tbl == CfgTableQpCtx
      && (cfg_ctx.state == QpStateReset || cfg_ctx.state == QpStateInit)));
  assign cfg_class = cfg_i.data[$bits(tbl_qp_class_t)-1:0];
  assign class_wdata = '{
          own: cfg_class.own && cfg_i.tbl == CfgTableQpClass,
          data: cfg_class.data,
          rtx: cfg_class.rtx
      };
  assign qp_raddr = ctl_v ? ctl.qp[QpW-1:0] : path.pkt.qp[QpW-1:0];

  mrc_rf_1r1w #(
      .Width($bits(qp_t)),
      .Depth(NumQps)
  ) u_qp (
      .clk_i,
      .raddr_i(qp_raddr),
      .rdata_o(qp),
      .we_i(cfg_ctx_we),
      .waddr_i(cfg_i.index[QpW-1:0]),
      .wdata_i(qp_wdata)
  );

  mrc_rf_1r1w #(
      .Width($bits(class_t)),
      .Depth(NumQps)
  ) u_class (
      .clk_i,
      .raddr_i(qp_raddr),
      .rdata_o(qp_class),
      .we_i(cfg_class_we),
      .waddr_i(cfg_i.index[QpW-1:0]),
      .wdata_i(class_wdata)
  );

  // ---- stage A: what differs between data and control

  logic [3:0] plane;
  logic [31:0] ev;
  logic [7:0] opcode;
  logic [5:0] dscp;
  logic ect, ackreq, rtx, ts;
  logic [23:0] psn;
  logic [1:0] pad;
  logic [3:0] ext_words;
  logic [7:0] ext_len;
  logic [12:0] plen;
  logic has_imm, is_probe, is_request, of_endpoint;
  logic [5:0] dscp_first, dscp_again;  // of the QP: sent for the first time, and again
  logic [8*ExtBytes-1:0] ext;
  hdr_meth_t meth;
  hdr_tseth_t tseth;
  hdr_reth_t reth;
  hdr_immdt_t immdt;

  // What ack_gen sends is no request; what endpoint sends has its caller's code point.
  assign is_probe = ctl.opcode == OpcodeProbeRequest;
  assign is_request = ctl.opcode == OpcodeEndpointRequest && !ack_v;
  assign of_endpoint = !ack_v && !probe_v;
  assign dscp_first = qp_class.own ? qp_class.data : csr_i.dscp_data;
  // Bug 108: what is sent again is in the NIC's class.
  assign dscp_again = (qp_class.own && bug_i != BugClassOfTheNic) ? qp_class.rtx : csr_i.dscp_rtx;
  assign has_imm = path.pkt.opcode == OpcodeWriteLastImm
      || path.pkt.opcode == OpcodeWriteOnlyImm;
  assign meth = '{rqmsn: path.pkt.rqmsn, msn: path.pkt.msn};
  assign tseth = '{
          tx_timestamp16: csr_i.tsr_us ? tick_q[18:3] : tick_q[15:0],
          tsr: csr_i.tsr_us,
          reserved2_6: 11'd0,
          ftype: FtypeTimestamp16
      };
  assign reth = '{va: path.pkt.va, r_key: path.pkt.rkey, dma_length: path.pkt.dmalen};
  assign immdt = '{value: has_imm ? path.pkt.imm : 32'd0};

  always_comb begin
    if (ctl_v) begin
      plane = ctl.plane;
      ev = ctl.ev;
      opcode = ctl.opcode;
      // Probes of a QP are of the class of its data, so that they meet what data meet.
      dscp = csr_i.dscp_ctl;
      if (is_request && of_endpoint) begin
        dscp = ctl.tc;
      end else if (is_probe || is_request) begin
        dscp = dscp_first;
      end
      ect = is_probe || is_request;
      psn = ctl.psn;
      plen = 13'd0;
      ackreq = 1'b0;
      rtx = 1'b0;
      ts = 1'b0;
      ext_len = ctl.ext_len;
    end else begin
      plane = path.plane;
      ev = path.ev;
      opcode = path.pkt.opcode;
      dscp = path.pkt.rtx ? dscp_again : dscp_first;
      ect = 1'b1;
      psn = path.pkt.psn;
      plen = path.pkt.plen;
      ackreq = path.pkt.ackreq;
      rtx = path.pkt.rtx && bug_i != BugRtxBitMissing;
      ts = qp.ts;
      // TSETH and ImmDt are four bytes each.
      ext_len = 8'(MethBytes + RethBytes) + {5'd0, qp.ts, 2'd0} + {5'd0, has_imm, 2'd0};
    end
  end

  assign ext_words = ext_len[5:2];
  assign pad = 2'd0 - plen[1:0];

  always_comb begin
    ext = '0;
    if (ctl_v) begin
      for (int unsigned i = 0; i < MaxExtWords; i++) begin
        if (4'(i) < ext_words) begin
          ext[32*i+:32] = ctl.ext[32*i+:32];
        end
      end
    end else if (path_v) begin
      if (qp.ts) begin
        ext = ($bits(ext))'({
          bytes_of_immdt(immdt), bytes_of_reth(reth), bytes_of_tseth(tseth), bytes_of_meth(meth)
        });
      end else begin
        ext = ($bits(ext))'({bytes_of_immdt(immdt), bytes_of_reth(reth), bytes_of_meth(meth)});
      end
    end
  end

  // ---- stage A: addresses of the two NICs on the plane

  logic [127:0] own, peer;

  always_comb begin
    own = 128'd0;
    peer = 128'd0;
    if (a_load) begin
      own = at_plane(csr_i.ip, csr_i.ip_plane_enable, csr_i.ip_plane_lsb, plane[2:0]);
      // Bug 98: the peer's is the same on all planes.
      peer = at_plane(qp.dip, csr_i.ip_plane_enable && bug_i != BugPeerOnOnePlane,
                      csr_i.ip_plane_lsb, plane[2:0]);
    end
  end

  // ---- stage A: outer destination address

  logic [127:0] srv6_dst;
  logic [15:0] plane_bits, uplink_bits;
  assign plane_bits = {12'd0, plane} << csr_i.srv6_plane_lsb;
  assign uplink_bits = (ev[15:0] & ~(16'hFFFF << csr_i.srv6_uplink_bits)) << csr_i.srv6_uplink_lsb;

  always_comb begin
    srv6_dst = qp.srv6;
    for (int unsigned i = 0; i < 6; i++) begin
      if (qp.srv6[16*(5-i)+:16] != 16'd0) begin
        srv6_dst[16*(5-i)+:16] = qp.srv6[16*(5-i)+:16] | plane_bits;
      end
      if (csr_i.srv6_uplink_usid == 3'(i)) begin
        srv6_dst[16*(5-i)+:16] = srv6_dst[16*(5-i)+:16] | uplink_bits;
      end
    end
  end

  // ---- stage A: bytes

  logic has_outer, has_srh, endpoint;
  logic [15:0] flow, sport, udp_len;
  hdr_eth_t eth;
  hdr_ipv6_t outer_ip, inner_ip;
  hdr_srh_t srh;
  hdr_udp_t udp;
  hdr_bth_t bth;

  assign has_srh = qp.encap == EncapSrv6Srh;
  assign has_outer = qp.encap == EncapSrv6 || has_srh;
  assign endpoint = ctl_v && (opcode == OpcodeEndpointRequest || opcode == OpcodeEndpointResponse);
  assign flow = (qp.encap == EncapUdp) ? 16'd0 : (csr_i.ev_swap ? ev[31:16] : ev[15:0]);
  assign sport = csr_i.ev_swap ? ev[15:0] : ev[31:16];
  assign udp_len = 16'(UdpBytes + BthBytes + IcrcBytes) + {8'd0, ext_len} + {3'd0, plen}
      + {14'd0, pad};
  assign eth = '{dst: qp.dmac, src: csr_i.mac, ethertype: 16'(EthertypeIpv6)};
  assign inner_ip = '{
          version: 4'd6,
          dscp: dscp,
          ecn: {ect, 1'b0},
          flow_label: {4'd0, flow},
          payload_length: udp_len,
          next_header: 8'(ProtoUdp),
          hop_limit: 8'd64,
          src: own,
          dst: peer
      };
  always_comb begin
    outer_ip = inner_ip;
    outer_ip.payload_length = udp_len + 16'(has_srh ? SrhBytes + Ipv6Bytes : Ipv6Bytes);
    outer_ip.next_header = has_srh ? 8'(ProtoRouting) : 8'(ProtoIpv6);
    outer_ip.dst = srv6_dst;
  end
  // Bug 47: the only segment is the address that the packet goes to already.
  assign srh = '{
          next_header: 8'(ProtoIpv6),
          hdr_ext_len: 8'(SrhBytes / 8 - 1),
          routing_type: 8'(SrhRoutingType),
          segments_left: 8'd1,
          last_entry: 8'd0,
          flags: 8'd0,
          tag: 16'd0,
          segment: (bug_i == BugSrhTemplate) ? srv6_dst : peer
      };
  assign udp = '{
          src_port: sport,
          dst_port: csr_i.udp_port,
          length: udp_len,
          checksum: 16'd0
      };
  assign bth = '{
          opcode: opcode,
          m: csr_i.bth_m && csr_i.bth_m_high,
          se: csr_i.bth_m && !csr_i.bth_m_high,
          pad_count: pad,
          tver: 4'd0,
          p_key: qp.pkey,
          reserved4: 8'd0,
          dqp: endpoint ? 24'(EndpointDqp) : qp.dqpn,
          a: ackreq,
          reserved8_6: 1'b0,
          rtx: rtx,
          ts: ts,
          reserved8_3: 4'd0,
          psn: psn
      };

  always_comb begin
    a_d = '0;
    if (a_load) begin
      a_d.plane = plane;
      a_d.ctl = ctl_v;
      a_d.outer = has_outer;
      a_d.srh = has_srh;
      a_d.ext_words = ext_words;
      a_d.laddr = ctl_v ? 64'd0 : path.pkt.laddr;
      a_d.plen = plen;
      a_d.qp = ctl_v ? '0 : path.pkt.qp;
      a_d.eth = bytes_of_eth(eth);
      a_d.front[Ip6Bits-1:0] = bytes_of_ipv6(outer_ip);
      a_d.inner = {ext, bytes_of_bth(bth), bytes_of_udp(udp), bytes_of_ipv6(inner_ip)};
      if (has_srh) begin
        a_d.hdr_len = ext_len + 8'(EthBytes + Ipv6Bytes + SrhBytes + BaseLen);
        a_d.front[Ip6Bits+:SrhBits] = bytes_of_srh(srh);
      end else if (has_outer) begin
        a_d.hdr_len = ext_len + 8'(EthBytes + Ipv6Bytes + BaseLen);
      end else begin
        a_d.hdr_len = ext_len + 8'(EthBytes + BaseLen);
      end
    end
  end

  // ---- stage B: the header in one piece

  logic [HdrBits-1:0] hdr;

  always_comb begin
    hdr = HdrBits'({a_q.inner, a_q.eth});
    if (a_q.srh) begin
      hdr = HdrBits'({a_q.inner, a_q.front, a_q.eth});
    end else if (a_q.outer) begin
      hdr = HdrBits'({a_q.inner, a_q.front[Ip6Bits-1:0], a_q.eth});
    end
  end

  // ---- stage B: ICRC register

  // The register behind all of `inner`, of which the last words may be zeros that are not there:
  // they are taken back. With the outer header in it, what the register holds in front of the inner
  // header is worked out beside the inner header's share and moved over its length: all of it is
  // XOR.
  // Worked out while a_q waits too, so that hdr_ready_i is not in front of it.
  logic with_outer;
  logic [FrontBits-1:0] front;
  logic [InnerBits-1:0] inner;
  logic [31:0] crc, crc_inner, crc_front, crc_fours, crc_moved, crc_both;
  logic [3:0] missing_words;
  hdr_t hdr_d;

  // A register times a matrix of the package.
  function automatic logic [31:0] times(logic [31:0] register, logic [31:0][31:0] matrix);
    for (int unsigned i = 0; i < 32; i++) begin
      times[i] = ^(register & matrix[i]);
    end
  endfunction

  assign with_outer = csr_i.icrc_outer && a_q.outer;
  assign missing_words = 4'(MaxExtWords) - a_q.ext_words;

  always_comb begin
    inner = '0;
    if (a_valid_q) begin
      inner = a_q.inner | IcrcOnes;
      if (bug_i != BugIcrcMask) begin
        inner = inner | IcrcBth4;
      end
      if (!with_outer) begin
        inner[31:0] = inner[31:0] ^ CrcAfterLrh;
      end
    end
  end

  mrc_crc32 #(
      .Bytes(InnerBits / 8)
  ) u_crc (
      .en_i(a_valid_q),
      .data_i(inner),
      .crc_o(crc_inner)
  );

  // The outer header, and the SRH, or as many zeros if there is none.
  always_comb begin
    front = a_q.front | IcrcOuterOnes;
    if (a_q.srh) begin
      front = front | IcrcSrhOnes;
    end
    front[31:0] = front[31:0] ^ CrcAfterLrh;
  end

  mrc_crc32 #(
      .Bytes(InnerBits / 8)
  ) u_crc_front (
      .en_i(a_valid_q && with_outer),
      .data_i({front, {(InnerBits - FrontBits) {1'b0}}}),
      .crc_o(crc_front)
  );

  // Back by fours of words, and the outer share over what is left then; back by single words.
  always_comb begin
    unique case (missing_words[3:2])
      2'd1: crc_fours = times(crc_inner, CrcBack16);
      2'd2: crc_fours = times(crc_inner, CrcBack32);
      default: crc_fours = crc_inner;
    endcase
    crc_moved = 32'd0;
    if (a_valid_q && with_outer) begin
      unique case ({
        a_q.srh, missing_words[3:2]
      })
        3'd0: crc_moved = times(crc_front, CrcOver72);
        3'd1: crc_moved = times(crc_front, CrcOver56);
        3'd2: crc_moved = times(crc_front, CrcOver40);
        3'd5: crc_moved = times(crc_front, CrcOver80);
        3'd6: crc_moved = times(crc_front, CrcOver64);
        default: crc_moved = times(crc_front, CrcOver96);
      endcase
    end
    crc_both = crc_fours ^ crc_moved;
    unique case (missing_words[1:0])
      2'd1: crc = times(crc_both, CrcBack4);
      2'd2: crc = times(crc_both, CrcBack8);
      2'd3: crc = times(crc_both, CrcBack12);
      default: crc = crc_both;
    endcase
  end

  assign hdr_d = '{
          plane: a_q.plane,
          ctl: a_q.ctl,
          hdr_len: a_q.hdr_len,
          crc: crc,
          laddr: a_q.laddr,
          plen: a_q.plen,
          qp: a_q.qp,
          hdr: hdr
      };

  mrc_out_reg #(
      .T(hdr_t)
  ) u_hdr (
      .clk_i,
      .rst_ni,
      .load_i(b_take),
      .data_i(hdr_d),
      .free_o(hdr_free),
      .valid_o(hdr_valid_o),
      .ready_i(hdr_ready_i),
      .data_o(hdr_o)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cfg_ack_q <= 1'b0;
      a_valid_q <= 1'b0;
      tick_q <= 19'd0;
    end else begin
      cfg_ack_q <= cfg_ack_d;
      a_valid_q <= a_valid_d;
      tick_q <= tick_q + 19'(tick);
    end
  end

  always_ff @(posedge clk_i) begin
    if (a_load) begin
      a_q <= a_d;
    end
  end

  logic unused_ok;
  assign unused_ok = &{1'b0, unused_counts, cfg_i.index, cfg_ctx.mpr_dest, cfg_ctx.dest,
                       cfg_ctx.rqmsn, cfg_ctx.msn, cfg_ctx.max_wimm_dest, cfg_ctx.rq_psn,
                       cfg_ctx.max_wimm, cfg_ctx.sq_psn, cfg_ctx.retry_exp,
                       cfg_ctx.timeout, cfg_ctx.retry_linear, cfg_ctx.backup, cfg_ctx.profile,
                       cfg_ctx.mpr, cfg_ctx.rsvd13, cfg_ctx.cc, cfg_ctx.dyn_mpr, cfg_ctx.svc_time,
                       cfg_ctx.trim_nack, cfg_ctx.mtu, path.ev_idx, cfg_class.rsvd22,
                       cfg_class.rsvd14, cfg_class.rsvd1};

  // ---- what always holds

  `MRC_POPS_A_WORD(Path, path_pop, path_v)
  `MRC_ONE_HOT0(OneSource, {ack_pop, probe_pop, eprq_pop, path_pop},
      "two packets in one cycle")
  `MRC_ASSERT_IF(CfgWhenEmpty, op_cfg, !a_valid_q,
      "a table is written under a packet")
  `MRC_ASSERT_IF(SaysRtx, path_pop, rtx == path.pkt.rtx,
      "a retransmission does not say so")
  `MRC_ASSERT_IF(ClassOfItsQp, path_pop,
      dscp == (qp_class.own ? (path.pkt.rtx ? qp_class.rtx : qp_class.data)
                            : (path.pkt.rtx ? csr_i.dscp_rtx : csr_i.dscp_data)),
      "a data packet is not of its QP's class")
  `MRC_ASSERT_IF(NoRequestOfAckGen, ack_pop, ack.opcode != OpcodeEndpointRequest,
      "ack_gen sends a request")
  `MRC_ASSERT_IF(ExtFits, a_load, 32'(ext_len) <= ExtBytes,
      "more extension headers than fit")
  `MRC_ASSERT(OverAndBack, InnerBits == 8 * 96 && SrhBytes == 96 - 72 && MaxExtWords < 12,
      "the matrices are those of other lengths")

endmodule
