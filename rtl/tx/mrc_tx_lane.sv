// SPDX-License-Identifier: Apache-2.0
`include "mrc_assert.svh"

/// Payload and port of one plane (docs/design/blocks/tx/tx_lane.md): queues headers, prefetches
/// their payload from host memory, and serialises header, payload, pad and ICRC onto the port. One
/// chunk of at most PortBytes per cycle; a frame costs one cycle more than its chunks, and one more
/// if the ICRC does not fit the last beat. It may pause inside a frame when the host is slow. A
/// packet of which the host could not read a line leaves with the complement of its ICRC. While its
/// port stands still it takes control packets that find no place, and drops them.
module mrc_tx_lane
  import mrc_pkg::*;
#(
    parameter int unsigned PortBytes = 16,
    parameter int unsigned HostBytes = 32,
    parameter int unsigned TxLaneFifo = 16,
    parameter int unsigned LineFifo = 16,
    localparam int unsigned PortBits = 8 * PortBytes,
    localparam int unsigned HostBits = 8 * HostBytes
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [7:0] bug_i,
    input logic [3:0] plane_i,
    input tx_lane_csr_t csr_i,
    input logic [15:0] tick_i,

    input logic hdr_valid_i,
    input hdr_t hdr_i,
    output logic hdr_ready_ctl_o,
    output logic hdr_ready_data_o,
    output logic lane_room_o,
    output logic stands_o,
    output logic data_done_o,

    output logic rdreq_valid_o,
    input logic rdreq_ready_i,
    output rdreq_t rdreq_o,
    input logic rsp_valid_i,
    input logic [HostBits-1:0] rsp_data_i,
    input logic rsp_err_i,

    output logic tx_tvalid_o,
    output logic [PortBits-1:0] tx_tdata_o,
    output logic [PortBytes-1:0] tx_tkeep_o,
    output logic tx_tlast_o,
    input logic tx_tready_i,
    output tx_lane_pulses_t pulses_o
);

  localparam int unsigned CntW = $clog2(TxLaneFifo + 1);
  localparam int unsigned CreditW = $clog2(LineFifo + 1);
  localparam int unsigned NW = $clog2(PortBytes);  // byte position inside a beat
  localparam int unsigned BeatW = 8 - NW;
  localparam int unsigned HdrBeats = (HdrBytes + PortBytes - 1) / PortBytes;
  localparam int unsigned DataW = $clog2(TxLaneFifo);

  if (HostBytes % PortBytes != 0 || HostBytes > MaxLineBytes) begin : gen_bad_host
    $error("%m: HostBytes must be a multiple of PortBytes and at most MaxLineBytes");
  end

  typedef enum logic [2:0] {
    StIdle,
    StHdr,
    StPay,
    StIcrc,
    StFlush
  } state_e;

  typedef struct packed {
    logic [63:0] addr;
    logic [12:0] len;
    qp_index_t qp;
  } fetch_t;

  typedef struct packed {
    logic err;  // it could not be read
    logic [HostBits-1:0] data;
  } host_line_t;

  // What the serialiser needs of a header beside its bytes.
  typedef struct packed {
    logic [7:0] hdr_len;
    logic [31:0] crc;
    logic [12:0] plen;
  } entry_t;

  // ---- header queues

  logic ctl_v, data_v, ctl_pop, data_pop, data_push, ctl_ready;
  logic [CntW-1:0] data_count, fq_count_unused;
  logic [CntW-2:0] ctl_count_unused;
  logic [17:0] queued_q, queued_d;  // bytes of payload in u_data
  entry_t entry, ctl_head, data_head;

  assign entry = '{hdr_len: hdr_i.hdr_len, crc: hdr_i.crc, plen: hdr_i.plen};

  mrc_fifo #(
      .T(entry_t),
      .Depth(TxLaneFifo / 2)
  ) u_ctl (
      .clk_i,
      .rst_ni,
      .valid_i(hdr_valid_i && hdr_i.ctl),
      .ready_o(ctl_ready),
      .data_i(entry),
      .valid_o(ctl_v),
      .ready_i(ctl_pop),
      .data_o(ctl_head),
      .count_o(ctl_count_unused)
  );

  mrc_fifo #(
      .T(entry_t),
      .Depth(TxLaneFifo)
  ) u_data (
      .clk_i,
      .rst_ni,
      .valid_i(hdr_valid_i && !hdr_i.ctl),
      .ready_o(hdr_ready_data_o),
      .data_i(entry),
      .valid_o(data_v),
      .ready_i(data_pop),
      .data_o(data_head),
      .count_o(data_count)
  );

  // The headers' bytes, those of data first: one word per cycle comes, one leaves in Idle and
  // stands at the memory's output until the next does.
  logic ctl_push;
  logic [DataW-1:0] data_w_q, data_r_q;
  logic [DataW-2:0] ctl_w_q, ctl_r_q;
  logic [8*HdrBytes-1:0] cur_hdr;

  mrc_ram_1r1w #(
      .Width(8 * HdrBytes),
      .Depth(TxLaneFifo + TxLaneFifo / 2)
  ) u_hdr (
      .clk_i,
      .re_i(ctl_pop || data_pop),
      .raddr_i(ctl_v ? {2'b10, ctl_r_q} : {1'b0, data_r_q}),
      .rdata_o(cur_hdr),
      .we_i(ctl_push || data_push),
      .waddr_i(hdr_i.ctl ? {2'b10, ctl_w_q} : {1'b0, data_w_q}),
      .wdata_i(hdr_i.hdr)
  );

  assign ctl_push = hdr_valid_i && hdr_i.ctl && ctl_ready;
  assign data_push = hdr_valid_i && !hdr_i.ctl && hdr_ready_data_o;
  assign queued_d = queued_q + (data_push ? 18'(hdr_i.plen) : 18'd0)
      - (data_pop ? 18'(data_head.plen) : 18'd0);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      queued_q <= 18'd0;
      data_w_q <= '0;
      data_r_q <= '0;
      ctl_w_q <= '0;
      ctl_r_q <= '0;
    end else begin
      queued_q <= queued_d;
      data_w_q <= data_w_q + DataW'(data_push);
      data_r_q <= data_r_q + DataW'(data_pop);
      ctl_w_q <= ctl_w_q + (DataW - 1)'(ctl_push);
      ctl_r_q <= ctl_r_q + (DataW - 1)'(ctl_pop);
    end
  end

  // ---- a port that stands still

  logic waits, stands_q, stands_d, drop_inc_q;
  logic [15:0] since_q;  // tick at which the port began to wait

  assign waits = tx_tvalid_o && !tx_tready_i;
  // Bug 72: it is never noticed.
  assign stands_d = waits && csr_i.port_stall != 16'd0 && bug_i != BugPortStandsUntold
      && (stands_q || tick_i - since_q >= csr_i.port_stall);
  assign hdr_ready_ctl_o = ctl_ready || stands_q;
  assign stands_o = stands_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stands_q <= 1'b0;
      drop_inc_q <= 1'b0;
    end else begin
      stands_q <= stands_d;
      drop_inc_q <= hdr_valid_i && hdr_i.ctl && hdr_ready_ctl_o && !ctl_ready;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!waits) begin
      since_q <= tick_i;
    end
  end

  // ---- fetch

  // A WRITE of no bytes has nothing to fetch.
  logic fq_v, fq_pop, fq_ready, fq_push;
  fetch_t fq_head;
  assign fq_push = data_push && (hdr_i.plen != 13'd0 || bug_i == BugEmptyRead);

  mrc_fifo #(
      .T(fetch_t),
      .Depth(TxLaneFifo)
  ) u_fq (
      .clk_i,
      .rst_ni,
      .valid_i(fq_push),
      .ready_o(fq_ready),
      .data_i('{addr: hdr_i.laddr, len: hdr_i.plen, qp: hdr_i.qp}),
      .valid_o(fq_v),
      .ready_i(fq_pop),
      .data_o(fq_head),
      .count_o(fq_count_unused)
  );

  logic f_busy_q, f_busy_d;
  logic [63:0] f_addr_q, f_addr_d;
  logic [12:0] f_left_q, f_left_d, f_n;
  qp_index_t f_qp_q, f_qp_d;
  logic [CreditW-1:0] credit_q, credit_d;
  logic req_free, req_load, line_pop;

  assign f_n = (f_left_q < 13'(HostBytes)) ? f_left_q : 13'(HostBytes);
  assign req_load = f_busy_q && req_free && credit_q != '0;
  assign fq_pop = !f_busy_q && fq_v;

  always_comb begin
    f_busy_d = f_busy_q;
    f_addr_d = f_addr_q;
    f_left_d = f_left_q;
    f_qp_d = f_qp_q;
    credit_d = credit_q;
    if (req_load) begin
      f_addr_d = f_addr_q + 64'(f_n);
      f_left_d = f_left_q - f_n;
      f_busy_d = f_left_q != f_n;
    end else if (fq_pop) begin
      f_busy_d = 1'b1;
      f_addr_d = fq_head.addr;
      f_left_d = fq_head.len;
      f_qp_d = fq_head.qp;
    end
    if (req_load && !line_pop) begin
      credit_d = credit_q - CreditW'(1);
    end else if (line_pop && !req_load) begin
      credit_d = credit_q + CreditW'(1);
    end
  end

  mrc_out_reg #(
      .T(rdreq_t)
  ) u_rdreq (
      .clk_i,
      .rst_ni,
      .load_i(req_load),
      .data_i('{addr: f_addr_q, len: f_n[7:0], plane: plane_i, qp: f_qp_q}),
      .free_o(req_free),
      .valid_o(rdreq_valid_o),
      .ready_i(rdreq_ready_i),
      .data_o(rdreq_o)
  );

  logic line_v, lines_ready;
  host_line_t line, line_head;
  logic [CreditW-1:0] lines_count;

  assign line = '{err: rsp_err_i, data: rsp_data_i};

  mrc_fifo_ram #(
      .Width($bits(host_line_t)),
      .Depth(LineFifo)
  ) u_lines (
      .clk_i,
      .rst_ni,
      .valid_i(rsp_valid_i),
      .ready_o(lines_ready),
      .data_i(line),
      .valid_o(line_v),
      .ready_i(line_pop),
      .data_o(line_head),
      .count_o(lines_count)
  );

  // ---- serialiser

  state_e state_q, state_d;
  logic ctl_q, ctl_d;
  logic [7:0] cur_hdr_len_q;
  logic [BeatW-1:0] beat_q, beat_d;  // whole beats consumed of the header, or of the line
  logic [12:0] left_q, left_d;
  logic [31:0] crc_q, crc_d, crc_next;
  logic bad_q, bad_d;  // a line of this packet could not be read
  // Bytes from acc_n_q on are zero. It is 0 or 2 more than a multiple of 4, as headers are.
  logic [PortBits-1:0] acc_q, acc_d;
  logic [NW-1:0] acc_n_q, acc_n_d;
  logic tvalid_q, tvalid_d, tlast_q, tlast_d, tx_inc_q;
  logic beat_ctl_q, data_done_q;  // the beat is of a control packet; a data packet has gone
  logic [PortBits-1:0] tdata_q;
  logic [PortBytes-1:0] tkeep_q, tkeep_d;

  logic out_free, cur_load;
  logic [12:0] next_plen;
  logic [31:0] next_crc, icrc;
  logic append, append_end, beat_load;
  logic [PortBits-1:0] chunk, pay_chunk;
  logic [NW:0] chunk_n;
  logic [PortBits-1:0] turned, below, joined, over;
  logic [NW+1:0] total;
  logic [12:0] pay_n;
  logic [NW:0] pay_n4;
  logic [NW-2:0] pay_words;
  logic [7:0] hdr_left;
  logic hdr_done, pay_work, pay_go, pay_done, line_done;

  assign out_free = !tvalid_q || tx_tready_i;
  assign next_plen = ctl_v ? ctl_head.plen : data_head.plen;
  assign next_crc = ctl_v ? ctl_head.crc : data_head.crc;
  // Bug 70: a line that could not be read leaves no trace.
  assign icrc = (bad_q && bug_i != BugSpoiledWithGoodIcrc) ? crc_q : ~crc_q;

  // Payload of this cycle: n bytes of the line, zeros behind. Only the last step of a header or of
  // a packet is shorter than a beat.
  logic [8*HdrBeats*PortBytes-1:0] hdr_padded;
  logic [PortBits-1:0] crc_in, crc_message;

  assign hdr_padded = (8 * HdrBeats * PortBytes)'(cur_hdr);
  assign pay_n = (left_q < 13'(PortBytes)) ? left_q : 13'(PortBytes);
  assign pay_words = (NW - 1)'((pay_n + 13'd3) >> 2);
  assign pay_n4 = {pay_words, 2'b00};
  // Wide work does not look at the port's ready: a simulator settles what depends on a pin again
  // and again, and in hardware it would lengthen that path.
  assign pay_work = state_q == StPay && line_v;
  assign pay_go = pay_work && out_free;
  assign pay_done = left_q <= 13'(PortBytes);
  assign line_done = pay_n[NW] && beat_q == BeatW'(HostBytes / PortBytes - 1);
  assign hdr_left = cur_hdr_len_q - {beat_q, NW'(0)};
  assign hdr_done = hdr_left <= 8'(PortBytes);

  always_comb begin
    pay_chunk = '0;
    crc_in = '0;
    crc_message = '0;
    if (pay_work) begin
      pay_chunk = line_head.data[PortBits*32'(beat_q)+:PortBits]
          & ~({PortBits{1'b1}} << {pay_n[NW:0], 3'b000});
      crc_in = pay_chunk;
      if (bug_i == BugPadInCrc && pay_done) begin
        crc_in = pay_chunk | ({PortBits{1'b1}} << {pay_n[NW:0], 3'b000});
      end
      crc_in[31:0] = crc_in[31:0] ^ crc_q;
      crc_message = crc_in << {(NW - 1)'(PortBytes / 4) - pay_words, 5'b00000};
    end
  end

  mrc_crc32 #(
      .Bytes(PortBytes)
  ) u_crc (
      .en_i(pay_work),
      .data_i(crc_message),
      .crc_o(crc_next)
  );

  assign append = out_free && (state_q == StHdr || pay_work || state_q == StIcrc);
  assign append_end = state_q == StIcrc;

  always_comb begin
    chunk = '0;
    chunk_n = '0;
    unique case (state_q)
      StHdr: begin
        chunk = hdr_padded[PortBits*32'(beat_q)+:PortBits];
        chunk_n = hdr_done ? hdr_left[NW:0] : (NW + 1)'(PortBytes);
      end
      StPay: begin
        chunk = pay_chunk;
        chunk_n = pay_n4;
      end
      StIcrc: begin
        chunk = PortBits'(icrc);
        chunk_n = (NW + 1)'(4);
      end
      default: ;
    endcase
  end

  assign total = (NW + 2)'(acc_n_q) + (NW + 2)'(chunk_n);

  // The chunk behind the bytes that wait: it is turned by acc_n_q bytes, what does not fit the beat
  // comes out below them.
  always_comb begin
    turned = '0;
    below = '0;
    joined = '0;
    over = '0;
    if (state_q != StIdle) begin
      turned = chunk;
      for (int unsigned i = 2; i < NW; i++) begin
        if (acc_n_q[i]) begin
          turned = (turned << (8 << i)) | (turned >> (PortBits - (8 << i)));
        end
      end
      if (acc_n_q[1]) begin
        turned = (turned << 16) | (turned >> (PortBits - 16));
      end
      below = ~({PortBits{1'b1}} << {acc_n_q, 3'b000});
      joined = acc_q | (turned & ~below);
      over = turned & below;
    end
  end

  always_comb begin
    state_d = state_q;
    ctl_d = ctl_q;
    beat_d = beat_q;
    left_d = left_q;
    crc_d = crc_q;
    bad_d = bad_q;
    acc_d = acc_q;
    acc_n_d = acc_n_q;
    tvalid_d = tvalid_q && !tx_tready_i;
    tlast_d = tlast_q;
    tkeep_d = tkeep_q;
    beat_load = 1'b0;
    cur_load = 1'b0;
    ctl_pop = 1'b0;
    data_pop = 1'b0;
    line_pop = 1'b0;

    if (append) begin
      if (total >= (NW + 2)'(PortBytes) || append_end) begin
        beat_load = 1'b1;
        tlast_d = append_end && total <= (NW + 2)'(PortBytes);
        tkeep_d = (total >= (NW + 2)'(PortBytes)) ? '1 : ~({PortBytes{1'b1}} << total[NW-1:0]);
        acc_d = over;
        acc_n_d = (total >= (NW + 2)'(PortBytes)) ? NW'(total - (NW + 2)'(PortBytes)) : '0;
      end else begin
        acc_d = joined;
        acc_n_d = NW'(total);
      end
    end

    unique case (state_q)
      StIdle: begin
        ctl_pop = ctl_v;
        data_pop = !ctl_v && data_v;
        if (ctl_v || data_v) begin
          cur_load = 1'b1;
          ctl_d = ctl_v;
          beat_d = '0;
          left_d = next_plen;
          crc_d = next_crc;
          bad_d = 1'b0;
          acc_d = '0;
          acc_n_d = '0;
          state_d = StHdr;
        end
      end
      StHdr: begin
        if (out_free) begin
          beat_d = beat_q + BeatW'(1);
          if (hdr_done) begin
            beat_d = '0;
            state_d = (left_q == '0) ? StIcrc : StPay;
          end
        end
      end
      StPay: begin
        if (pay_go) begin
          crc_d = crc_next;
          left_d = left_q - pay_n;
          bad_d = bad_q || line_head.err;
          beat_d = beat_q + BeatW'(1);
          if (pay_done || line_done) begin
            line_pop = !(bug_i == BugLineUsedTwice && pay_done && line_done);
            beat_d = '0;
          end
          if (pay_done) begin
            state_d = StIcrc;
          end
        end
      end
      StIcrc: begin
        if (out_free) begin
          state_d = (total > (NW + 2)'(PortBytes)) ? StFlush : StIdle;
        end
      end
      StFlush: begin
        if (out_free) begin
          beat_load = 1'b1;
          tlast_d = 1'b1;
          tkeep_d = ~({PortBytes{1'b1}} << acc_n_q);
          state_d = StIdle;
        end
      end
      default: state_d = StIdle;
    endcase

    if (beat_load) begin
      tvalid_d = 1'b1;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      ctl_q <= 1'b0;
      f_busy_q <= 1'b0;
      credit_q <= CreditW'(LineFifo);
      tvalid_q <= 1'b0;
      tx_inc_q <= 1'b0;
      data_done_q <= 1'b0;
    end else begin
      state_q <= state_d;
      ctl_q <= ctl_d;
      f_busy_q <= f_busy_d;
      credit_q <= credit_d;
      tvalid_q <= tvalid_d;
      tx_inc_q <= beat_load && tlast_d;
      data_done_q <= tvalid_q && tx_tready_i && tlast_q && !beat_ctl_q;
    end
  end

  always_ff @(posedge clk_i) begin
    f_addr_q <= f_addr_d;
    f_left_q <= f_left_d;
    f_qp_q <= f_qp_d;
    beat_q <= beat_d;
    left_q <= left_d;
    crc_q <= crc_d;
    bad_q <= bad_d;
    acc_q <= acc_d;
    acc_n_q <= acc_n_d;
    tlast_q <= tlast_d;
    tkeep_q <= tkeep_d;
    if (cur_load) begin
      cur_hdr_len_q <= ctl_v ? ctl_head.hdr_len : data_head.hdr_len;
    end
    if (beat_load) begin
      tdata_q <= (state_q == StFlush) ? acc_q : joined;
      beat_ctl_q <= ctl_q;
    end
  end

  assign lane_room_o = data_count + CntW'(state_q != StIdle && !ctl_q) < CntW'(TxLaneFifo - 8)
      && queued_q <= 18'd16384;
  assign tx_tvalid_o = tvalid_q;
  assign tx_tdata_o = tdata_q;
  assign tx_tkeep_o = tkeep_q;
  assign tx_tlast_o = tlast_q;
  assign data_done_o = data_done_q;
  assign pulses_o.tx = tx_inc_q;
  assign pulses_o.drop = drop_inc_q;

  logic plane_unused;  // the top has chosen the lane by it
  assign plane_unused = &{1'b0, hdr_i.plane};

  // ---- what always holds

  `MRC_NEVER_FULL(Fq, fq_push, fq_ready)
  `MRC_ASSERT_IF(ReadsSomething, req_load, f_n != 13'd0,
      "the host is asked for a line of no bytes")
  `MRC_NEVER_FULL(Lines, rsp_valid_i, lines_ready)
  `MRC_POPS_A_WORD(Line, line_pop, line_v)
  `MRC_ASSERT(StateInRange, state_q <= StFlush,
      "no such state")
  `MRC_ONE_HOT0(OneHeader, {ctl_pop, data_pop},
      "two headers in one cycle")
  `MRC_ASSERT(CreditInRange, 32'(credit_q) <= LineFifo,
      "more credit than places for lines")
  `MRC_ASSERT_IF(RequestsWithCredit, req_load, credit_q != '0,
      "a line is asked for that has no place")
  `MRC_ASSERT(LinesReserved, 32'(credit_q) + 32'(lines_count) <= LineFifo,
      "a place for a line is given away twice")
  `MRC_ASSERT_IF(PaysWhatIsLeft, pay_work, left_q != 13'd0,
      "payload behind the end of the packet")
  `MRC_ASSERT_IF(LineUsedOnce, pay_go && (pay_done || line_done), line_pop,
      "a line stays when the packet or the line ends")
  `MRC_ASSERT_IF(QueuedNotBelow0, queued_q == 18'd0 && data_pop, data_head.plen == 13'd0,
      "the payload in the queue goes below 0")
  `MRC_ASSERT(QueuedInRange, 32'(queued_q) <= 32'(TxLaneFifo) * 4096,
      "more payload in the queue than its packets have")
  `MRC_ASSERT_IF(FlushHasBytes, state_q == StFlush, acc_n_q != '0,
      "a last beat without bytes")
  `MRC_ASSERT_IF(KeepOfABeat, tvalid_q, tkeep_q[0],
      "a beat without bytes")
  `MRC_ASSERT_IF(FullUnlessLast, tvalid_q, tlast_q || &tkeep_q,
      "a beat in the middle of a frame is not full")
  `MRC_ASSERT_IF(HeaderEndsInHalf, hdr_valid_i, hdr_i.hdr_len[1:0] == 2'd2,
      "a header is not 2 bytes longer than whole words")
  `MRC_ASSERT_IF(WaitInHalf, state_q != StIdle, acc_n_q == '0 || acc_n_q[1:0] == 2'd2,
      "the bytes that wait are not 2 more than whole words")
  `MRC_ASSERT_IF(BeatInHeader, state_q == StHdr, hdr_left != 8'd0,
      "bytes behind the header are consumed")
  `MRC_ASSERT_IF(BeatInLine, state_q == StPay, 32'(beat_q) < HostBytes / PortBytes,
      "bytes behind the line are consumed")
  `MRC_ASSERT_IF(SpoiledByALine, bad_q, state_q == StIdle || (state_q != StHdr && !ctl_q),
      "a packet counts as spoiled, and no line of it was read")
  `MRC_ASSERT_IF(HeaderInRange, state_q == StHdr, 32'(cur_hdr_len_q) <= HdrBytes,
      "a header is longer than it can be")

endmodule
