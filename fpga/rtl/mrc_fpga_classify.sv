// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Tells the frames of a MAC apart: those of MRC go to the lane of their plane, all others aside.
/// See docs/design/boards/classify.md. All ways share the words; valid is one bit per way. A word
/// leaves when the next of its frame is there, or at once if it is the last, so that the way of a
/// frame is known with its second word. Nothing holds the MAC, and nobody the words: who has no
/// room drops. The MAC's reset comes out with the words (reset_o). Latency: three cycles.
module mrc_fpga_classify
  import mrc_pkg::*;
#(
    parameter int unsigned NumPlanes = 2,
    parameter logic [NumPlanes-1:0] Planes = '1,
    localparam int unsigned WordBytes = 64
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [47:0] mac_i,
    input logic [NumPlanes-1:0][127:0] ip_i,
    input logic [NumPlanes-1:0][47:0] usid_i,
    input logic [15:0] udp_port_i,
    input logic udp_only_i,
    input logic promisc_i,
    input logic side_i,
    input logic reset_i,
    input logic tvalid_i,
    input logic [WordBytes*8-1:0] tdata_i,
    input logic [WordBytes-1:0] tkeep_i,
    input logic tlast_i,
    input logic tuser_i,
    output logic reset_o,
    output logic [NumPlanes-1:0] tvalid_o,
    output logic side_tvalid_o,
    output logic [WordBytes*8-1:0] tdata_o,
    output logic [WordBytes-1:0] tkeep_o,
    output logic tlast_o,
    output logic tuser_o,
    output logic mrc_o,
    output logic off_o,
    output logic stray_o
);

  // Where what follows the first IPv6 header begins: UDP, an IPv6 header or an SRH, which has an
  // IPv6 header behind it; and their UDP headers. Bytes of a frame; the first word has 64.
  localparam int unsigned Next = EthBytes + Ipv6Bytes;
  localparam int unsigned NextUdp = Next + Ipv6Bytes;
  localparam int unsigned SrhNext = Next + SrhBytes;
  localparam int unsigned SrhNextUdp = SrhNext + Ipv6Bytes;
  // Of a UDP header up to its destination port.
  localparam int unsigned PortEnd = 4;

  if (Planes == '0) begin : gen_bad_planes
    $error("%m: a port without a plane needs no classifier");
  end

  // The word as it came; the word that waits for the next; the word that leaves.
  typedef struct packed {
    logic [WordBytes*8-1:0] data;
    logic [WordBytes-1:0] keep;
    logic last;
    logic user;
  } word_t;
  word_t in_q, word_q, out_q;
  logic in_valid_q, in_reset_q, valid_q, valid_d, reset_q, out_reset_q, first_q, first_d;
  logic take, leave;

  function automatic logic known(logic [15:0] dst_port, logic [15:0] port, logic only);
    return dst_port == port || (!only && (dst_port == 16'(UdpPort) || dst_port == 16'(UdpPortMrc)));
  endfunction

  // What the first word says: in_q, when it has come. Of what follows the first IPv6 header it has
  // ten bytes.
  hdr_eth_t eth;
  hdr_ipv6_t ip, next_ip;
  hdr_srh_t srh;
  hdr_udp_t udp;
  logic mine_q, mine_d, ipv6_q, ipv6_d, plain_q, plain_d, outer_q, outer_d, srh_q, srh_d;
  logic [NumPlanes-1:0] at_q, at_d;
  assign eth = eth_of(in_q.data[0+:8*EthBytes]);
  assign ip = ipv6_of(in_q.data[8*EthBytes+:8*Ipv6Bytes]);
  assign next_ip = ipv6_of((8 * Ipv6Bytes)'(in_q.data[8*WordBytes-1:8*Next]));
  assign srh = srh_of((8 * SrhBytes)'(in_q.data[8*WordBytes-1:8*Next]));
  assign udp = udp_of(in_q.data[8*Next+:8*UdpBytes]);
  assign mine_d = eth.dst == mac_i;
  assign ipv6_d = eth.ethertype == 16'(EthertypeIpv6) && ip.version == 4'd6;
  assign plain_d = ip.next_header == 8'(ProtoUdp) && known(udp.dst_port, udp_port_i, udp_only_i);
  assign outer_d = ip.next_header == 8'(ProtoIpv6)
      && next_ip.version == 4'd6 && next_ip.next_header == 8'(ProtoUdp);
  assign srh_d = ip.next_header == 8'(ProtoRouting) && srh.next_header == 8'(ProtoIpv6)
      && srh.hdr_ext_len == 8'(SrhBytes / 8 - 1) && srh.routing_type == 8'(SrhRoutingType)
      && srh.segments_left <= 8'd1;
  for (genvar p = 0; p < NumPlanes; p++) begin : gen_plane
    assign at_d[p] = Planes[p] && ((ip_i[p] != '0 && ip.dst == ip_i[p])
        || (usid_i[p] != '0 && ip.dst[127:80] == usid_i[p]));
  end

  // What the second word adds: in_q, while the first waits in word_q.
  hdr_ipv6_t srh_next_ip;
  hdr_udp_t next_udp, srh_next_udp;
  logic second, outer_mrc, srh_mrc, mrc, ours;
  assign next_udp = udp_of(in_q.data[8*(NextUdp-WordBytes)+:8*UdpBytes]);
  assign srh_next_ip = ipv6_of(in_q.data[8*(SrhNext-WordBytes)+:8*Ipv6Bytes]);
  assign srh_next_udp = udp_of(in_q.data[8*(SrhNextUdp-WordBytes)+:8*UdpBytes]);
  assign outer_mrc = outer_q && in_q.keep[NextUdp+PortEnd-1-WordBytes]
      && known(next_udp.dst_port, udp_port_i, udp_only_i);
  assign srh_mrc = srh_q && in_q.keep[SrhNextUdp+PortEnd-1-WordBytes]
      && srh_next_ip.version == 4'd6 && srh_next_ip.next_header == 8'(ProtoUdp)
      && known(srh_next_udp.dst_port, udp_port_i, udp_only_i);
  assign second = in_valid_q && !in_reset_q && !word_q.last;
  assign mrc = second && ipv6_q && (plain_q || outer_mrc || srh_mrc);
  assign ours = promisc_i || (mine_q && at_q != '0);

  // The way of a frame, and of a word that leaves.
  logic [NumPlanes-1:0] lanes, way_q, way_d, at;
  logic side, side_way_q, side_way_d;
  assign at = (at_q != '0) ? at_q : Planes;
  assign lanes = (mrc && ours) ? at & (~at + NumPlanes'(1)) : '0;
  assign side = !(mrc && ours) && side_i;

  assign take = in_valid_q && !in_reset_q;
  assign leave = valid_q && (word_q.last || take || in_reset_q);
  assign valid_d = take || (valid_q && !leave);
  always_comb begin
    first_d = first_q;
    way_d = way_q;
    side_way_d = side_way_q;
    if (leave) begin
      first_d = word_q.last;
      if (first_q) begin
        way_d = lanes;
        side_way_d = side;
      end
    end
    if (in_reset_q) begin
      first_d = 1'b1;
    end
  end

  logic [NumPlanes-1:0] tvalid_q;
  logic side_tvalid_q, mrc_q, off_q, stray_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_valid_q <= 1'b0;
      in_reset_q <= 1'b0;
      valid_q <= 1'b0;
      reset_q <= 1'b0;
      out_reset_q <= 1'b0;
      first_q <= 1'b1;
      tvalid_q <= '0;
      side_tvalid_q <= 1'b0;
      mrc_q <= 1'b0;
      off_q <= 1'b0;
      stray_q <= 1'b0;
    end else begin
      in_valid_q <= tvalid_i;
      in_reset_q <= reset_i;
      valid_q <= valid_d;
      reset_q <= in_reset_q;
      out_reset_q <= reset_q;
      first_q <= first_d;
      tvalid_q <= leave ? way_d : '0;
      side_tvalid_q <= leave && side_way_d;
      mrc_q <= leave && first_q && lanes != '0;
      off_q <= leave && first_q && lanes == '0 && !side;
      stray_q <= leave && first_q && mrc && !ours;
    end
  end

  always_ff @(posedge clk_i) begin
    in_q <= '{data: tdata_i, keep: tkeep_i, last: tlast_i, user: tuser_i};
    if (take) begin
      word_q <= in_q;
      mine_q <= mine_d;
      ipv6_q <= ipv6_d;
      plain_q <= plain_d;
      outer_q <= outer_d;
      srh_q <= srh_d;
      at_q <= at_d;
    end
    out_q <= word_q;
    way_q <= way_d;
    side_way_q <= side_way_d;
  end

  assign reset_o = out_reset_q;
  assign tvalid_o = tvalid_q;
  assign side_tvalid_o = side_tvalid_q;
  assign tdata_o = out_q.data;
  assign tkeep_o = out_q.keep;
  assign tlast_o = out_q.last;
  assign tuser_o = out_q.user;
  assign mrc_o = mrc_q;
  assign off_o = off_q;
  assign stray_o = stray_q;

  // Fields that tell nothing here.
  logic unused_fields;
  assign unused_fields = ^{eth.src, ip.dscp, ip.ecn, ip.flow_label, ip.payload_length, ip.hop_limit,
                           ip.src, next_ip, srh, srh_next_ip, udp, next_udp, srh_next_udp};

  `MRC_ONE_HOT0(OneWay, {tvalid_o, side_tvalid_o}, "a word goes two ways")
  `MRC_ASSERT(LeavesBeforeTheNext, !(take && valid_q) || leave, "a word is overwritten")

endmodule
