// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Receive lane of one plane: aligns the port's beats to the inner IP header, checks the ICRC while
/// the bytes pass, describes each frame, keeps its payload until a verdict comes and writes it out
/// in host lines. One beat per cycle; the descriptor is pushed three cycles after the last beat
/// (four when the alignment leaves bytes over). It never stops the port: payload that does not fit
/// is dropped and the descriptor says so; a frame without room for its descriptor is dropped whole;
/// both are counted. It knows no QPs. Contract: docs/design/blocks/rx/rx_lane.md.
module mrc_rx_lane
  import mrc_pkg::*;
  import mrc_addr_pkg::*;
#(
    parameter int unsigned PortBytes = 16,
    parameter int unsigned HostBytes = 32,
    parameter int unsigned LaneFifo = 4,
    parameter int unsigned RxBufWords = 1024
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input rx_lane_csr_t csr_i,
    input logic [15:0] tick_i,
    input logic rx_tvalid_i,
    input logic [PortBytes*8-1:0] rx_tdata_i,
    input logic [PortBytes-1:0] rx_tkeep_i,
    input logic rx_tlast_i,
    input logic rx_tuser_i,
    output logic desc_valid_o,
    input logic desc_ready_i,
    output rxdesc_t desc_o,
    input logic verdict_valid_i,
    output logic verdict_ready_o,
    input verdict_t verdict_i,
    output logic line_valid_o,
    input logic line_ready_i,
    output line_t line_o,
    output rx_lane_pulses_t pulses_o
);

  localparam int unsigned Bits = PortBytes * 8;
  // Length of a chunk, 0..PortBytes.
  localparam int unsigned LenW = $clog2(PortBytes + 1);
  // Beat and byte in which the inner IP header starts, without and with an outer IPv6 header. With
  // an SRH too it starts at the byte at which it starts without both, some beats later.
  localparam int unsigned EncapBytes = EthBytes + Ipv6Bytes;
  localparam int unsigned BeatPlain = EthBytes / PortBytes;
  localparam int unsigned BytePlain = EthBytes % PortBytes;
  localparam int unsigned BeatEncap = EncapBytes / PortBytes;
  localparam int unsigned ByteEncap = EncapBytes % PortBytes;
  localparam int unsigned BeatSrh = (EncapBytes + SrhBytes) / PortBytes;
  // Beat that holds the outer next header, and where.
  localparam int unsigned NhBeat = (EthBytes + Ipv6NextHeaderByte) / PortBytes;
  localparam int unsigned NhByte = (EthBytes + Ipv6NextHeaderByte) % PortBytes;
  // The SRH's next header, length, routing type and segments left are all in the beat in which it
  // starts.
  localparam int unsigned SrhByte = ByteEncap;
  localparam int unsigned SrhJudged = SrhSegmentsLeftByte + 1;
  // Where the extension headers begin behind the inner IP header, and the bytes of a packet that
  // has none, its ICRC included.
  localparam int unsigned ExtByte = Ipv6Bytes + UdpBytes + BthBytes;
  localparam int unsigned BareBytes = ExtByte + IcrcBytes;
  localparam int unsigned WriteBytes = BareBytes + MethBytes + RethBytes;
  // Chunk in which the payload starts (the same for all header lengths), its first byte without
  // TSETH and ImmDt, and the words that a packet may take.
  localparam int unsigned PayChunk = (ExtByte + MethBytes + RethBytes) / PortBytes;
  localparam int unsigned PayByte = (ExtByte + MethBytes + RethBytes) % PortBytes;
  localparam int unsigned PktWords = 4096 / PortBytes;
  localparam int unsigned HdrChunks = (ExtByte + ExtBytes) / PortBytes;
  // What the ICRC takes as ones: in an IP header, in UDP and BTH; besides, in the outer headers the
  // destination address, and segments left of the SRH.
  localparam hdr_ipv6_t IpOnes = '{
      dscp: 6'h3F,
      ecn: 2'h3,
      flow_label: 20'hFFFFF,
      hop_limit: 8'hFF,
      default: '0
  };
  localparam hdr_ipv6_t DstOnes = '{dst: {128{1'b1}}, default: '0};
  localparam hdr_srh_t SrhOnes = '{segments_left: 8'hFF, default: '0};
  localparam hdr_udp_t UdpOnes = '{checksum: 16'hFFFF, default: '0};
  localparam hdr_bth_t BthOnes = '{reserved4: 8'hFF, default: '0};
  // By beats of the port that may hold outer headers, by chunks behind them.
  localparam int unsigned OuterBeats = BeatSrh + 1;
  localparam int unsigned InnerChunks = 64 / PortBytes;
  localparam logic [768-1:0] OuterOnes = 768'({
      bytes_of_srh(SrhOnes), bytes_of_ipv6(IpOnes | DstOnes)
  }) << (8 * EthBytes);
  localparam logic [512-1:0] InnerOnes = 512'({
      bytes_of_bth(BthOnes), bytes_of_udp(UdpOnes), bytes_of_ipv6(IpOnes)
  });
  localparam int unsigned BufAw = $clog2(RxBufWords);
  localparam int unsigned WordsW = $clog2(PktWords + 1);
  localparam int unsigned LineWords = HostBytes / PortBytes;
  localparam int unsigned LineWordW = (LineWords > 1) ? $clog2(LineWords) : 1;
  localparam logic [31:0] IcrcStart = 32'hDEBB20E3;
  // XORed into the bytes behind the Ethernet header; with two of them the rest goes past the step.
  localparam logic [Bits-1:0] OuterStart = Bits'(IcrcStart) << (8 * EthBytes);
  localparam logic [31:0] OuterStartRest = (PortBytes == 16) ? IcrcStart >> 16 : 32'd0;

  if (PortBytes != 16 && PortBytes != 32) begin : gen_bad_port_bytes
    $error("%m: PortBytes = %0d, must be 16 or 32", PortBytes);
  end
  if ((EncapBytes + SrhBytes) % PortBytes != BytePlain) begin : gen_bad_srh
    $error("%m: SrhBytes = %0d, must keep the alignment", SrhBytes);
  end
  if ((RxBufWords & (RxBufWords - 1)) != 0 || RxBufWords < 2 * PktWords) begin : gen_bad_rx_buf
    $error("%m: RxBufWords = %0d, must be a power of two, two packets at least", RxBufWords);
  end

  // The register before four bytes of zeros.
  function automatic logic [31:0] word_back(logic [31:0] register);
    for (int unsigned i = 0; i < 32; i++) begin
      word_back[i] = ^(register & CrcBack4[i]);
    end
  endfunction

  // ---- stage 0: the port's beat

  logic in_valid_q, in_last_q, in_err_q;
  logic [Bits-1:0] in_data_q;
  logic [LenW-1:0] in_n_q, in_n_d;

  always_comb begin
    in_n_d = LenW'(PortBytes);
    if (rx_tvalid_i && rx_tlast_i) begin
      for (int unsigned i = 1; i < PortBytes; i++) begin
        if (!rx_tkeep_i[i] && rx_tkeep_i[i-1]) begin
          in_n_d = LenW'(i);
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_valid_q <= 1'b0;
    end else begin
      in_valid_q <= rx_tvalid_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (rx_tvalid_i) begin
      in_data_q <= rx_tdata_i;
      in_n_q <= in_n_d;
      in_last_q <= rx_tlast_i;
      in_err_q <= rx_tuser_i;
    end
  end

  // ---- stage 1: align to the inner IP header

  typedef enum logic [1:0] {
    EncPlain,
    EncOuter,
    EncSrh
  } rx_encap_e;

  logic [3:0] b_q, b_d;
  logic [Bits-1:0] prev_q;
  logic etype_ok_q, etype_ok_in, srh_ok_q, srh_ok_in;
  rx_encap_e enc_q, enc_in, enc;
  logic outer;
  logic [7:0] tc_q, tc_in;
  logic flush_q, flush_d, flush_err_q;
  logic [LenW-1:0] flush_len_q, flush_len_d;
  logic [8:0] j_q, j_d;

  logic c_outer_q, c_outer_d;
  logic c_valid_q, c_valid_d, c_eof_q, c_eof_d, c_err_q, c_err_d, c_etype_ok_q, c_etype_ok_d;
  logic [7:0] c_tc_q, c_tc_d;
  logic [Bits-1:0] c_data_q, c_data_d, aligned;
  logic [LenW-1:0] c_len_q, c_len_d, off, n_head;
  logic [8:0] c_j_q;
  logic behind;

  always_comb begin
    enc_in = EncPlain;
    if (in_data_q[8*NhByte+:8] == 8'(ProtoIpv6)) begin
      enc_in = EncOuter;
    end else if (in_data_q[8*NhByte+:8] == 8'(ProtoRouting)) begin
      enc_in = EncSrh;
    end
  end

  // The flush belongs to the frame before the one in in_q.
  assign enc = (!flush_q && b_q == 4'(NhBeat) && NhBeat != 0) ? enc_in : enc_q;
  assign outer = enc == EncOuter;
  // The SRH as far as it is judged; the Ethernet header and the first bytes of the IP header.
  hdr_srh_t srh_in;
  hdr_eth_t eth_in;
  hdr_ipv6_t ip_in;
  assign srh_in = srh_of((8 * SrhBytes)'(in_data_q[8*SrhByte+:8*SrhJudged]));
  assign eth_in = eth_of(in_data_q[0+:8*EthBytes]);
  assign ip_in = ipv6_of((8 * Ipv6Bytes)'(in_data_q[8*EthBytes+:16]));
  assign srh_ok_in = srh_in.next_header == 8'(ProtoIpv6) &&
      srh_in.hdr_ext_len == 8'(SrhBytes / 8 - 1) &&
      srh_in.routing_type == 8'(SrhRoutingType) && srh_in.segments_left <= 8'd1;
  assign etype_ok_in = eth_in.ethertype == 16'(EthertypeIpv6) && ip_in.version == 4'd6;
  assign tc_in = {ip_in.dscp, ip_in.ecn};
  assign off = outer ? LenW'(ByteEncap) : LenW'(BytePlain);
  assign behind = b_q > ((enc == EncSrh) ? 4'(BeatSrh) : outer ? 4'(BeatEncap) : 4'(BeatPlain));
  assign n_head = (in_n_q < off) ? in_n_q : off;
  assign aligned = outer ? {in_data_q[ByteEncap*8-1:0], prev_q[Bits-1:ByteEncap*8]} :
      {in_data_q[BytePlain*8-1:0], prev_q[Bits-1:BytePlain*8]};

  always_comb begin
    c_valid_d = 1'b0;
    c_len_d = '0;
    c_eof_d = 1'b0;
    c_err_d = in_err_q;
    flush_d = 1'b0;
    flush_len_d = in_n_q - off;
    if (flush_q) begin
      c_valid_d = 1'b1;
      c_len_d = flush_len_q;
      c_eof_d = 1'b1;
      c_err_d = flush_err_q;
    end else if (in_valid_q && behind) begin
      c_valid_d = 1'b1;
      c_len_d = LenW'(PortBytes) - off + n_head;
      c_eof_d = in_last_q && in_n_q <= off;
      flush_d = in_last_q && in_n_q > off;
    end else if (in_valid_q && in_last_q) begin
      c_valid_d = 1'b1;
      c_eof_d = 1'b1;
    end
  end

  always_comb begin
    c_data_d = aligned;
    if (c_valid_d && c_len_d != LenW'(PortBytes)) begin
      c_data_d = aligned & ~({Bits{1'b1}} << {c_len_d, 3'd0});
    end
  end

  // A frame of one beat carries its own fields, the registers do not have them yet. A frame that
  // ends before its SRH has been looked at is Short, whatever is said here.
  assign c_tc_d = (!flush_q && b_q == '0) ? tc_in : tc_q;
  assign c_etype_ok_d = (!flush_q && b_q == '0) ? etype_ok_in :
      etype_ok_q && (srh_ok_q || enc != EncSrh);

  // A frame that ends in beat 0 is Short; its next header is looked at only if that beat has it.
  assign c_outer_d = (b_q != '0) ? enc != EncPlain : NhBeat == 0 && enc_in != EncPlain;

  always_comb begin
    b_d = b_q;
    if (in_valid_q) begin
      if (in_last_q) begin
        b_d = '0;
      end else if (b_q != 4'd15) begin
        b_d = b_q + 4'd1;
      end
    end
  end

  always_comb begin
    j_d = j_q;
    if (c_valid_d) begin
      if (c_eof_d) begin
        j_d = '0;
      end else if (j_q != 9'd511) begin
        j_d = j_q + 9'd1;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      b_q <= '0;
      j_q <= '0;
      flush_q <= 1'b0;
      c_valid_q <= 1'b0;
      enc_q <= EncPlain;
    end else begin
      b_q <= b_d;
      j_q <= j_d;
      flush_q <= flush_d;
      c_valid_q <= c_valid_d;
      if (in_valid_q && b_q == 4'(NhBeat)) begin
        enc_q <= enc_in;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (in_valid_q) begin
      prev_q <= in_data_q;
      if (b_q == '0) begin
        etype_ok_q <= etype_ok_in;
        tc_q <= tc_in;
      end
      if (b_q == 4'(BeatEncap)) begin
        srh_ok_q <= srh_ok_in;
      end
    end
    if (flush_d) begin
      flush_len_q <= flush_len_d;
      flush_err_q <= in_err_q;
    end
    if (c_valid_d) begin
      c_data_q <= c_data_d;
      c_len_q <= c_len_d;
      c_j_q <= j_q;
      c_eof_q <= c_eof_d;
      c_err_q <= c_err_d;
      c_tc_q <= c_tc_d;
      c_outer_q <= c_outer_d;
      c_etype_ok_q <= c_etype_ok_d;
    end
  end

  // ---- stage 1: ICRC of the outer headers

  // Always to the end of a step: beat 0 has them behind the Ethernet header, the beat in which the
  // inner header starts has them in front.
  logic outer_en;
  logic [Bits-1:0] outer_bytes, outer_x;
  logic [31:0] crc_o_q, crc_o_d, crc_o_next;

  assign outer_en = csr_i.icrc_outer && in_valid_q && !behind;

  always_comb begin
    outer_bytes = '0;
    outer_x = '0;
    if (outer_en) begin
      for (int unsigned k = 0; k < OuterBeats; k++) begin
        if (b_q == 4'(k)) begin
          outer_bytes = in_data_q | OuterOnes[Bits*k+:Bits];
        end
      end
      outer_x = outer_bytes ^ Bits'(crc_o_q);
      if (b_q == '0) begin
        outer_x = (outer_bytes & ({Bits{1'b1}} << (8 * EthBytes))) ^ OuterStart;
      end else if (b_q == 4'(BeatEncap) && enc != EncSrh) begin
        outer_x = outer_x << (Bits - 8 * ByteEncap);
      end else if (b_q == 4'(BeatSrh)) begin
        outer_x = outer_x << (Bits - 8 * BytePlain);
      end
    end
  end

  assign crc_o_d = crc_o_next ^ ((b_q == '0) ? OuterStartRest : 32'd0);

  mrc_crc32 #(
      .Bytes(PortBytes)
  ) u_crc_outer (
      .en_i(outer_en),
      .data_i(outer_x),
      .crc_o(crc_o_next)
  );

  always_ff @(posedge clk_i) begin
    if (outer_en) begin
      crc_o_q <= crc_o_d;
    end
  end

  // ---- stage 2: ICRC, header bytes, payload

  logic [HdrChunks-1:0][Bits-1:0] h_q;
  logic [767:0] h;
  logic [Bits-1:0] prevc_q;
  logic [31:0] crc_q, crc_d;
  logic [13:0] n_q, n_d;
  logic [14:0] n_sum;
  logic room_q, room_d;
  logic fin_q, fin_err_q, fin_etype_ok_q;
  logic [7:0] fin_tc_q;
  logic [8:0] fin_j_q;
  logic [BufAw:0] wr_q, wr_d, rd_q, rd_d, used;

  assign h = h_q;

  // Bytes of the chunk with ones where the ICRC wants them.
  logic [Bits-1:0] crc_ones, crc_in;
  logic [31:0] crc_start, crc_next;
  logic crc_en;
  logic [LenW-3:0] crc_words;
  logic [2:0] fin_zeros_q;  // words of zeros that the register has taken in behind the frame

  always_comb begin
    crc_ones = '0;
    for (int unsigned k = 0; k < InnerChunks; k++) begin
      if (c_j_q == 9'(k)) begin
        crc_ones = InnerOnes[Bits*k+:Bits];
      end
    end
  end

  assign crc_start = (c_j_q != '0) ? crc_q : (csr_i.icrc_outer && c_outer_q) ? crc_o_q : IcrcStart;
  assign crc_words = c_len_q[LenW-1:2];
  assign crc_in = (c_data_q | crc_ones) ^ Bits'(crc_start);

  // What is behind the end of a frame is taken in as zeros, and the register compared with what it
  // is then. A last word that is not whole is taken in, too: such a frame is never right.
  mrc_crc32 #(
      .Bytes(PortBytes)
  ) u_crc (
      .en_i(crc_en),
      .data_i(crc_in),
      .crc_o(crc_next)
  );

  assign crc_en = c_valid_q && crc_words != '0;
  assign crc_d = crc_en ? crc_next : crc_start;

  assign n_sum = ((c_j_q == '0) ? 15'd0 : {1'b0, n_q}) + 15'(c_len_q);
  assign n_d = n_sum[14] ? 14'd16383 : n_sum[13:0];
  assign used = wr_q - rd_q;
  // Bug 15: less than a packet may take.
  assign room_d = (bug_i == BugRxBufferOverflow)
      ? used <= (BufAw + 1)'(RxBufWords - (PktWords - 1))
      : used <= (BufAw + 1)'(RxBufWords - (PktWords + 2));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fin_q <= 1'b0;
    end else begin
      fin_q <= c_valid_q && c_eof_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (c_valid_q) begin
      crc_q <= crc_d;
      fin_zeros_q <= crc_en ? 3'((LenW - 2)'(PortBytes / 4) - crc_words) : 3'd0;
      n_q <= n_d;
      prevc_q <= c_data_q;
      fin_err_q <= c_err_q;
      fin_tc_q <= c_tc_q;
      fin_etype_ok_q <= c_etype_ok_q;
      fin_j_q <= c_j_q;
      // Behind the end of the frame before, which may stand beside chunk 0.
      if (c_j_q == 9'd1) begin
        room_q <= room_d;
      end
      if (c_j_q == '0) begin
        h_q <= {{(768 - Bits) {1'b0}}, c_data_q};
      end else if (c_j_q < 9'(HdrChunks)) begin
        h_q[c_j_q[2:0]] <= c_data_q;
      end
    end
  end

  // ---- payload words into the buffer

  hdr_ipv6_t ip;
  hdr_udp_t udp;
  hdr_bth_t bth;
  logic buf_we, imm;
  logic [BufAw-1:0] buf_waddr;
  logic [Bits-1:0] buf_wdata, pay_next;
  logic [8:0] pay_m;
  logic [1:0] pay_shift;

  assign ip = ipv6_of(h[0+:8*Ipv6Bytes]);
  assign udp = udp_of(h[8*Ipv6Bytes+:8*UdpBytes]);
  assign bth = bth_of(h[8*(Ipv6Bytes+UdpBytes)+:8*BthBytes]);
  assign imm = bth.opcode == OpcodeWriteLastImm || bth.opcode == OpcodeWriteOnlyImm;
  assign pay_shift = {1'b0, bth.ts} + {1'b0, imm};
  assign pay_next = fin_q ? '0 : c_data_q;
  // The last chunk of a frame and the next frame's payload are never that close.
  assign pay_m = fin_q ? fin_j_q - 9'(PayChunk) : c_j_q - 9'(PayChunk + 1);
  assign buf_we = room_q && pay_m < 9'(PktWords + 2) &&
      (fin_q ? fin_j_q >= 9'(PayChunk) : (c_valid_q && c_j_q > 9'(PayChunk)));
  assign buf_waddr = wr_q[BufAw-1:0] + BufAw'(pay_m);

  logic [2*Bits-1:0] pay_pair;
  assign pay_pair = {pay_next, prevc_q};

  always_comb begin
    unique case (pay_shift)
      2'd0: buf_wdata = pay_pair[PayByte*8+:Bits];
      2'd1: buf_wdata = pay_pair[(PayByte+4)*8+:Bits];
      default: buf_wdata = pay_pair[(PayByte+8)*8+:Bits];
    endcase
  end

  // ---- description of the frame

  rxdesc_t desc_d;
  logic desc_push, desc_fifo_ready, data_op, bad_length;
  trim_e trim;
  rx_err_e err;
  logic [13:0] pay_over;
  logic [14:0] pay_len;
  logic [12:0] plen;
  logic [WordsW-1:0] words, pl_words;
  logic [$clog2(LaneFifo+1)-1:0] unused_desc_count, unused_verdict_count;
  logic [$clog2(4*LaneFifo+1)-1:0] unused_pl_count;
  logic pl_push, pl_ready, pl_valid, pl_pop, pay_lost;

  assign data_op = bth.opcode >= OpcodeWriteFirst && bth.opcode <= OpcodeWriteOnlyImm;
  assign pay_over = 14'(WriteBytes) + {10'd0, pay_shift, 2'b00} + 14'(bth.pad_count);
  // Negative: the top bit.
  assign pay_len = {1'b0, n_q} - {1'b0, pay_over};

  always_comb begin
    bad_length = {1'b0, ip.payload_length} + 17'(Ipv6Bytes) != {3'd0, n_q} ||
        udp.length != ip.payload_length || n_q[1:0] != 2'd0;
    if (data_op && (pay_len[14] || pay_len > 15'd4096)) begin
      bad_length = 1'b1;
    end
    if (bth.opcode == OpcodeSack && n_q != 14'(BareBytes + SethBytes + CcStateBytes)) begin
      bad_length = 1'b1;
    end
    if (bth.opcode == OpcodeEndpointResponse && n_q != 14'(BareBytes + EethBytes)) begin
      bad_length = 1'b1;
    end
    if (bth.opcode == OpcodeNack && n_q != 14'(BareBytes + NethBytes)) begin
      bad_length = 1'b1;
    end
    if (bth.opcode == OpcodeAck && n_q != 14'(BareBytes + AethBytes)) begin
      bad_length = 1'b1;
    end
    if (bth.opcode == OpcodeProbeRequest && n_q != 14'(BareBytes + PethBytes)) begin
      bad_length = 1'b1;
    end
    if (bth.opcode == OpcodeEndpointRequest && n_q != 14'(BareBytes + ErthBytes)) begin
      bad_length = 1'b1;
    end
  end

  // Trimmed by the code point; one of our own that came back by a code point too, or by addresses.
  trim_e marked;
  logic src_own, dst_own, distinct, code_back, came_back, not_trimmed;

  always_comb begin
    marked = TrimNone;
    if (fin_tc_q[7:2] == csr_i.dscp_trimmed) begin
      marked = TrimTrimmed;
    end else if (fin_tc_q[7:2] == csr_i.dscp_lasthop) begin
      marked = TrimLastHop;
    end
  end

  always_comb begin
    src_own = 1'b0;
    dst_own = 1'b0;
    if (fin_q) begin
      src_own = is_own(ip.src, csr_i.ip, csr_i.ip_plane_enable, csr_i.ip_plane_lsb);
      dst_own = is_own(ip.dst, csr_i.ip, csr_i.ip_plane_enable, csr_i.ip_plane_lsb);
    end
  end

  assign distinct = csr_i.returned == ReturnedDrop || csr_i.returned == ReturnedLearn;
  assign code_back = csr_i.dscp_returned_valid && fin_tc_q[7:2] == csr_i.dscp_returned;
  // Bug 106: no address is looked at.
  assign came_back = code_back || (marked != TrimNone && (src_own || !dst_own)
                                   && bug_i != BugReturnedAsPeers);
  assign trim = (distinct && came_back) ? TrimReturned : marked;
  // Without the addresses: of a packet that nobody marked they say nothing.
  assign not_trimmed = marked == TrimNone && !(distinct && code_back);

  // Both that sources name are taken, whichever is sent.
  logic known_port;
  assign known_port = udp.dst_port == 16'(UdpPort) || udp.dst_port == 16'(UdpPortMrc);

  always_comb begin
    err = RxErrNone;
    if (fin_err_q) begin
      err = RxErrMac;
    end else if (n_q < 14'(BareBytes) || (n_q < 14'(BareBytes + TsethBytes) && bth.ts)) begin
      err = RxErrShort;
    end else if (!fin_etype_ok_q || ip.version != 4'd6 || ip.next_header != 8'(ProtoUdp)) begin
      err = RxErrEncap;
    end else if (udp.dst_port != csr_i.udp_port && (csr_i.udp_only || !known_port)) begin
      err = RxErrUdp;
    end else if (bth.tver != 4'd0) begin
      err = RxErrTver;
    end else if (not_trimmed && bad_length) begin
      err = RxErrLength;
    end
  end

  // Bug 16: the CRC's upper byte is not looked at, as it is without the zeros.
  logic [31:0] crc_diff, crc_bare;

  always_comb begin
    crc_diff = crc_q ^ CrcResidue[fin_zeros_q];
    crc_bare = '1;
    if (bug_i == BugIcrc24Bits) begin
      crc_bare = crc_diff;
      for (int unsigned w = 0; w < 8; w++) begin
        if (3'(w) < fin_zeros_q) begin
          crc_bare = word_back(crc_bare);
        end
      end
    end
  end

  assign plen = (data_op && err == RxErrNone && not_trimmed) ? pay_len[12:0] : 13'd0;
  // The payload has no words in the buffer, or no entry in the queue.
  assign pay_lost = plen != 13'd0 && !(room_q && pl_ready);

  always_comb begin
    desc_d = '0;
    if (fin_q) begin
      desc_d.err = err;
      desc_d.trim = trim;
      if (pay_lost) begin
        // Bug 39: want of buffer is told as want of a queue entry.
        desc_d.trim = (room_q || bug_i == BugNoBufferNoResource) ? TrimNoResource : TrimNoBuffer;
      end
      // Bug 17: congestion marks are not seen.
      desc_d.ce = fin_tc_q[1:0] == 2'd3 && bug_i != BugCeLost;
      desc_d.icrc_ok = (crc_diff == 32'd0 || crc_bare[23:0] == 24'd0) && n_q[1:0] == 2'd0;
      desc_d.opcode = bth.opcode;
      desc_d.pad = bth.pad_count;
      desc_d.ackreq = bth.a;
      desc_d.rtx = bth.rtx;
      desc_d.ts = bth.ts;
      desc_d.pkey = bth.p_key;
      desc_d.dqp = bth.dqp;
      desc_d.psn = bth.psn;
      desc_d.entropy = csr_i.ev_swap ? {ip.flow_label[15:0], udp.src_port}
                                     : {udp.src_port, ip.flow_label[15:0]};
      desc_d.plen = pay_lost ? 13'd0 : plen;
      desc_d.buf_valid = plen != 13'd0 && !pay_lost;
      desc_d.at = tick_i;
      desc_d.ext = h[8*ExtByte+:8*ExtBytes];
      // Who answers an endpoint request wants to know where it came from.
      if (bth.opcode == OpcodeEndpointRequest) begin
        desc_d.ext[8*ErthBytes+:128] = h[8*Ipv6SrcByte+:128];
      end
      // And whose packet came back, where it was to go.
      if (trim == TrimReturned) begin
        desc_d.ext[8*ErthBytes+:128] = src_own ? h[8*Ipv6DstByte+:128] : h[8*Ipv6SrcByte+:128];
      end
    end
  end

  assign words = WordsW'((plen + 13'(PortBytes - 1)) >> $clog2(PortBytes));
  assign desc_push = fin_q && desc_fifo_ready;
  assign pl_push = desc_push && plen != 13'd0 && !pay_lost;
  assign wr_d = pl_push ? wr_q + (BufAw + 1)'(words) : wr_q;

  mrc_fifo #(
      .T(rxdesc_t),
      .Depth(LaneFifo)
  ) u_desc (
      .clk_i,
      .rst_ni,
      .valid_i(desc_push),
      .ready_o(desc_fifo_ready),
      .data_i(desc_d),
      .valid_o(desc_valid_o),
      .ready_i(desc_ready_i),
      .data_o(desc_o),
      .count_o(unused_desc_count)
  );

  mrc_fifo #(
      .T(logic [WordsW-1:0]),
      .Depth(4 * LaneFifo)
  ) u_pl (
      .clk_i,
      .rst_ni,
      .valid_i(pl_push),
      .ready_o(pl_ready),
      .data_i(words),
      .valid_o(pl_valid),
      .ready_i(pl_pop),
      .data_o(pl_words),
      .count_o(unused_pl_count)
  );

  logic rx_inc_q, ovf_inc_q;

  assign pulses_o = '{rx: rx_inc_q, ovf: ovf_inc_q};

  // ---- drain: buffer to host lines

  typedef enum logic {
    DIdle,
    DRead
  } dstate_e;

  dstate_e dstate_q, dstate_d;
  logic [63:0] d_addr_q, d_addr_d;
  qp_index_t d_qp_q, d_qp_d;
  logic [12:0] d_left_q, d_left_d, d_n;
  logic [LineWordW-1:0] d_k_q, d_k_d;
  logic [Bits-1:0] asm_q[0:LineWords-1];
  logic [LineWords-1:0][Bits-1:0] line_data;
  logic buf_re, d_full, d_end, d_put;
  logic [Bits-1:0] buf_rdata, word;
  verdict_t v;
  logic v_valid, v_pop, line_load, line_free;
  line_t line_d;

  mrc_fifo #(
      .T(verdict_t),
      .Depth(LaneFifo)
  ) u_verdict (
      .clk_i,
      .rst_ni,
      .valid_i(verdict_valid_i),
      .ready_o(verdict_ready_o),
      .data_i(verdict_i),
      .valid_o(v_valid),
      .ready_i(v_pop),
      .data_o(v),
      .count_o(unused_verdict_count)
  );

  mrc_ram_1r1w #(
      .Width(Bits),
      .Depth(RxBufWords)
  ) u_buf (
      .clk_i,
      .re_i(buf_re),
      .raddr_i(rd_q[BufAw-1:0]),
      .rdata_o(buf_rdata),
      .we_i(buf_we),
      .waddr_i(buf_waddr),
      .wdata_i(buf_wdata)
  );

  mrc_out_reg #(
      .T(line_t)
  ) u_line (
      .clk_i,
      .rst_ni,
      .load_i(line_load),
      .data_i(line_d),
      .free_o(line_free),
      .valid_o(line_valid_o),
      .ready_i(line_ready_i),
      .data_o(line_o)
  );

  assign d_end = d_left_q <= 13'(PortBytes);
  assign d_n = d_end ? d_left_q : 13'(PortBytes);
  assign d_full = d_end || d_k_q == LineWordW'(LineWords - 1);
  assign d_put = dstate_q == DRead && (!d_full || line_free);
  assign pl_pop = v_pop;

  always_comb begin
    word = buf_rdata;
    if (d_put && d_n != 13'(PortBytes)) begin
      word = buf_rdata & ~({Bits{1'b1}} << {d_n[LenW-1:0], 3'd0});
    end
  end

  // The words collected so far, this one, zeros.
  always_comb begin
    line_data = '0;
    if (d_put && d_full) begin
      for (int unsigned k = 0; k < LineWords; k++) begin
        if (LineWordW'(k) < d_k_q) begin
          line_data[k] = asm_q[k];
        end else if (LineWordW'(k) == d_k_q) begin
          line_data[k] = word;
        end
      end
    end
  end

  always_comb begin
    dstate_d = dstate_q;
    d_addr_d = d_addr_q;
    d_qp_d = d_qp_q;
    d_left_d = d_left_q;
    d_k_d = d_k_q;
    rd_d = rd_q;
    buf_re = 1'b0;
    v_pop = 1'b0;
    line_load = 1'b0;
    unique case (dstate_q)
      DIdle: begin
        if (v_valid && pl_valid && (v.place || line_free)) begin
          v_pop = 1'b1;
          if (v.place) begin
            d_addr_d = v.addr;
            d_qp_d = v.qp;
            d_left_d = v.plen;
            d_k_d = '0;
            buf_re = 1'b1;
            rd_d = rd_q + (BufAw + 1)'(1);
            dstate_d = DRead;
          end else begin
            rd_d = rd_q + (BufAw + 1)'(pl_words);
            line_load = 1'b1;
          end
        end
      end
      DRead: begin
        if (d_put) begin
          d_left_d = d_left_q - d_n;
          if (d_full) begin
            line_load = 1'b1;
            d_addr_d = d_addr_q + 64'(HostBytes);
            d_k_d = '0;
          end else begin
            d_k_d = d_k_q + LineWordW'(1);
          end
          if (d_end) begin
            dstate_d = DIdle;
          end else begin
            buf_re = 1'b1;
            rd_d = rd_q + (BufAw + 1)'(1);
          end
        end
      end
      default: dstate_d = DIdle;
    endcase
  end

  always_comb begin
    line_d.addr = 64'd0;
    line_d.len = 8'd0;
    line_d.last = 1'b1;
    line_d.plane = 4'd0;  // rx_place knows it
    line_d.qp = '0;
    if (dstate_q == DRead) begin
      line_d.addr = d_addr_q;
      line_d.len = 8'(d_k_q) * 8'(PortBytes) + 8'(d_n);
      // Bug 64: a packet that ends with a full line does not say where it ends.
      line_d.last = d_end && !(bug_i == BugFullLineNeverLast && line_d.len == 8'(HostBytes));
      // Bug 65: of the packet behind it, if its verdict is there.
      line_d.qp = (bug_i == BugQpOfNextPacket && v_valid) ? v.qp : d_qp_q;
    end
  end
  assign line_d.data = 1024'(line_data);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      dstate_q <= DIdle;
      wr_q <= '0;
      rd_q <= '0;
      rx_inc_q <= 1'b0;
      ovf_inc_q <= 1'b0;
    end else begin
      dstate_q <= dstate_d;
      wr_q <= wr_d;
      rd_q <= rd_d;
      rx_inc_q <= desc_push;
      ovf_inc_q <= fin_q && (!desc_fifo_ready || pay_lost);
    end
  end

  always_ff @(posedge clk_i) begin
    d_addr_q <= d_addr_d;
    d_qp_q <= d_qp_d;
    d_left_q <= d_left_d;
    d_k_q <= d_k_d;
    if (d_put) begin
      asm_q[d_k_q] <= word;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{v.plane, pay_pair, prev_q, h};

  // Fields of received headers that say nothing here.
  logic unused_fields;
  assign unused_fields = ^{eth_in.dst, eth_in.src, ip_in.flow_label, ip_in.payload_length,
                           ip_in.next_header, ip_in.hop_limit, ip_in.src, ip_in.dst,
                           srh_in.last_entry, srh_in.flags, srh_in.tag, srh_in.segment,
                           ip.dscp, ip.ecn, ip.flow_label[19:16], ip.hop_limit, udp.checksum,
                           bth.m, bth.se, bth.reserved4, bth.reserved8_6, bth.reserved8_3};

  // ---- what always holds

  `MRC_POPS_A_WORD(Verdict, v_pop, v_valid)
  `MRC_POPS_A_WORD(Pl, pl_pop, pl_valid)
  `MRC_NEVER_FULL(Pl, pl_push, pl_ready)
  `MRC_NEVER_FULL(Desc, desc_push, desc_fifo_ready)
  `MRC_ASSERT_IF(VerdictHasPayload, v_valid, dstate_q != DIdle || pl_valid,
      "a verdict without its payload")
  `MRC_ASSERT(BufferHolds, used <= (BufAw + 1)'(RxBufWords),
      "the receive buffer holds more words than it has")
  `MRC_ASSERT_IF(WrittenBeforeRead, buf_re, rd_q != wr_q,
      "a word is read that is not written")
  `MRC_ASSERT_IF(ReadsWhatIsLeft, dstate_q == DRead, d_left_q != 13'd0,
      "a packet without payload is read")
  `MRC_ASSERT_IF(LineFits, dstate_q == DRead, 32'(d_k_q) < LineWords,
      "a word behind the end of the line")
  `MRC_ASSERT_IF(FullUnlessLast, line_load, line_d.last || line_d.len == 8'(HostBytes),
      "a line that is not full has others behind it")
  `MRC_ASSERT_IF(PlacedLineHasBytes, line_load,
      dstate_q != DRead || (line_d.len != 8'd0 && line_d.len <= 8'(HostBytes)),
      "a line of a packet that is placed has no bytes, or too many")
  `MRC_ASSERT_IF(PayloadFits, desc_push, plen <= 13'd4096,
      "more payload than a packet may have")
  `MRC_ASSERT_IF(TrimmedHasNone, desc_push, desc_d.trim == TrimNone || !pl_push,
      "a packet that was trimmed, or came back, has payload")
  `MRC_ASSERT_IF(NotTrimmedIsNone, fin_q, not_trimmed == (trim == TrimNone),
      "addresses say that a packet was trimmed")
  `MRC_ASSERT_IF(LostHasNone, desc_push && pay_lost, !pl_push,
      "payload that was lost is in the queue")

endmodule
