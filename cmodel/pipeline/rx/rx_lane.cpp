// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx/rx_lane.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "pipeline/lib/convert.hpp"
#include "pipeline/lib/icrc_words.hpp"
#include "util/check.hpp"

namespace mrc {

namespace {

/// Ones where the ICRC takes ones: inner byte 0 low half, bytes 1, 2, 3, 7, 46, 47, 52.
struct IcrcMask {
  alignas(32) uint8_t bytes[64] = {};
  constexpr IcrcMask() {
    bytes[0] = 0x0f;
    for (const unsigned at : {1u, 2u, 3u, 7u, 46u, 47u, 52u}) bytes[at] = 0xff;
  }
};
constexpr IcrcMask kIcrcMask;

constexpr unsigned kMaxChunk = 511;

}  // namespace

RxLane::RxLane(const Preset& preset, Fifo<Rxdesc>& desc, Fifo<Verdict>& verdict, Stream<Line>& line)
    : port_bytes_(preset.port_bytes),
      line_words_(preset.host_bytes / preset.port_bytes),
      buf_words_(preset.rx_buf_words),
      desc_out_(desc),
      verdict_(verdict),
      line_(line),
      descs_(preset.lane_fifo),
      words_(std::size_t{4} * preset.lane_fifo),
      buf_(std::size_t{preset.rx_buf_words} * preset.port_bytes) {}

void RxLane::step(const CsrOut& csr, const In& in) {
  // A lane without anything under way does nothing; the cycle after it last did something only clears the pulses.
  const bool busy =
      in.tvalid || in_valid_ || c_valid_ || fin_ || flush_ || reading_ || descs_.valid() || verdict_.valid();
  active_ = busy || rx_inc_ || ovf_inc_;
  if (!active_) return;
  if (port_bytes_ == 16) {
    run<16>(csr, in);
  } else {
    run<32>(csr, in);
  }
}

template <unsigned Pb>
void RxLane::run(const CsrOut& csr, const In& in) {
  rx_inc_next_ = ovf_inc_next_ = false;
  if (descs_.valid() && desc_out_.ready()) {
    desc_out_.push(descs_.head());
    descs_.pop();
  }
  const uint32_t wr = wr_, rd = rd_;
  drain<Pb>();
  if (fin_) finish<Pb>(csr);
  fin_ = false;
  if (c_valid_) collect<Pb>(wr, rd, csr.icrc_outer);
  c_valid_ = false;
  if (in_valid_ || flush_) align<Pb>(csr.icrc_outer);
  in_valid_ = in.tvalid;
  if (in.tvalid) {
    std::memcpy(align_ + Pb, in.tdata, Pb);
    in_last_ = in.tlast;
    in_err_ = in.tuser;
    in_len_ = in.tlast ? std::min(static_cast<unsigned>(std::countr_one(in.tkeep)), Pb) : Pb;
  }
}

/// Stage 1: cuts the frame into chunks that start at the inner IP header.
template <unsigned Pb>
void RxLane::align(bool icrc_outer) {
  if (flush_) {  // the rest of the old frame's last beat, which is prev
    const unsigned q = rx_inner_offset(enc_) % Pb;
    emit<Pb>(align_ + q, flush_len_, true, flush_err_);
  }
  const bool flushed = flush_;
  flush_ = false;
  if (!in_valid_) return;
  const uint8_t* v = align_ + Pb;
  if (beat_ == 0) {
    etype_ok_ = v[12] == 0x86 && v[13] == 0xDD && v[14] >> 4 == 6;
    tc_ = static_cast<uint8_t>(v[14] << 4 | v[15] >> 4);
    enc_ = RxEncap::Plain;  // until byte 20 is there
  }
  if (beat_ == kNextHeaderOffset / Pb) enc_ = rx_encap(v[kNextHeaderOffset % Pb]);
  if (beat_ == kSrhOffset / Pb) srh_ok_ = srh_ok(v + kSrhOffset % Pb);
  const unsigned off = rx_inner_offset(enc_), f = off / Pb, q = off % Pb;
  if (beat_ == 0) next_chunk_ = 0;
  if (icrc_outer && beat_ <= f) cover_outer<Pb>(off);
  if (beat_ != 0 && beat_ > f) {
    const unsigned from_beat = std::min(in_len_, q);
    emit<Pb>(align_ + q, Pb - q + from_beat, in_last_ && in_len_ <= q, in_err_);
    if (in_last_ && in_len_ > q) {
      flush_ = true;
      flush_len_ = in_len_ - q;
      flush_err_ = in_err_;
    }
  } else if (in_last_ && !flushed) {  // it ends before its inner header, or with it
    emit<Pb>(align_ + q, 0, true, in_err_);
  }
  std::memcpy(align_, v, Pb);
  beat_ = in_last_ ? 0 : std::min(beat_ + 1, 15u);
}

/// The outer headers' bytes of the beat into the ICRC. off: where the inner header begins.
template <unsigned Pb>
void RxLane::cover_outer(unsigned off) {
  const unsigned at = beat_ * Pb;
  if (beat_ == 0) {
    outer_crc_ = wire::kIcrcSeed;
    // With 16 bytes per beat the first does not tell yet what the frame is: its bytes count as an outer header's.
    off = std::max(off, rx_inner_offset(RxEncap::Outer));
  }
  const unsigned from = std::max(at, kIpOffset), to = std::min(at + Pb, off);
  uint8_t masked[Pb];
  for (unsigned i = from; i < to; ++i) masked[i - from] = align_[Pb + i - at] | wire::kIcrcOuterOnes[i - kIpOffset];
  outer_crc_ = icrc_bytes(outer_crc_, masked, to - from);
}

template <unsigned Pb>
void RxLane::emit(const uint8_t* from, unsigned len, bool eof, bool err) {
  c_valid_ = true;
  std::memcpy(chunk_ + Pb, from, Pb);
  if (len < Pb) std::memset(chunk_ + Pb + len, 0, Pb - len);
  c_len_ = len;
  c_index_ = next_chunk_;
  if (next_chunk_ < kMaxChunk) ++next_chunk_;
  c_eof_ = eof;
  c_err_ = err;
  c_tc_ = tc_;
  c_outer_ = enc_ != RxEncap::Plain;
  c_encap_ok_ = etype_ok_ && (enc_ != RxEncap::OuterSrh || srh_ok_);
}

/// Stage 2: ICRC, headers, payload of the chunk in c_q. wr and rd: the registers of this cycle.
template <unsigned Pb>
void RxLane::collect(uint32_t wr, uint32_t rd, bool icrc_outer) {
  constexpr unsigned kPacketWords = kMaxPayload / Pb;
  const uint8_t* c = chunk_ + Pb;
  const unsigned j = c_index_;
  if (j == 0) {
    frame_.crc = icrc_outer && c_outer_ ? outer_crc_ : wire::kIcrcSeed;
    frame_.bytes = 0;
    std::memset(frame_.head, 0, sizeof frame_.head);
  }
  // Behind the end of the frame before, which may stand beside chunk 0.
  if (j == 1) room_ = buf_words_ - (wr - rd) >= kPacketWords + 2;
  const size_t at = size_t{j} * Pb;
  if (at < sizeof kIcrcMask.bytes) {
    uint8_t masked[Pb];
    for (unsigned i = 0; i < Pb; ++i) masked[i] = c[i] | kIcrcMask.bytes[at + i];
    frame_.crc = icrc_words(frame_.crc, masked, c_len_ & ~3u);
  } else if (c_len_ == Pb) {
    frame_.crc = icrc_words(frame_.crc, c, Pb);
  } else {
    frame_.crc = icrc_words(frame_.crc, c, c_len_ & ~3u);
  }
  if (at < kRxHeadBytes) {
    std::memcpy(frame_.head + at, c, Pb);
  }
  frame_.bytes = std::min(frame_.bytes + c_len_, 16383u);
  if (j * Pb >= kRxHeadBytes && room_) {  // chunk pf + 1 starts at inner byte 96
    const unsigned offset = rx_payload_offset(frame_.head), pf = offset / Pb;
    if (j > pf && j - pf - 1 < kPacketWords + 2) write_buffer<Pb>(wr, j - pf - 1, chunk_ + offset % Pb);
  }
  last_chunk_ = j;
  if (c_eof_) {
    fin_ = true;
    frame_.mac_err = c_err_;
    frame_.tc = c_tc_;
    frame_.encap_ok = c_encap_ok_;
  }
  std::memcpy(chunk_, c, Pb);
}

template <unsigned Pb>
void RxLane::write_buffer(uint32_t wr, unsigned word, const uint8_t* bytes) {
  std::memcpy(buf_.data() + std::size_t{(wr + word) & (buf_words_ - 1)} * Pb, bytes, Pb);
}

/// The cycle after the last chunk: the payload's last word, and the frame's description.
template <unsigned Pb>
void RxLane::finish(const CsrOut& csr) {
  const unsigned offset = rx_payload_offset(frame_.head), pf = offset / Pb, pq = offset % Pb;
  if (room_ && last_chunk_ >= pf && last_chunk_ - pf < kMaxPayload / Pb + 2) {
    uint8_t word[Pb] = {};
    std::memcpy(word, chunk_ + pq, Pb - pq);
    write_buffer<Pb>(wr_, last_chunk_ - pf, word);
  }
  if (!descs_.ready()) {
    ovf_inc_next_ = true;
    return;
  }
  const RxParseCfg cfg{.udp_port = csr.udp_port,
                       .udp_only = csr.udp_only,
                       .ev_swap = csr.ev_swap,
                       .dscp_trimmed = csr.dscp_trimmed,
                       .dscp_lasthop = csr.dscp_lasthop,
                       .dscp_returned = csr.dscp_returned,
                       .dscp_returned_valid = csr.dscp_returned_valid,
                       .returned = csr.returned,
                       .ip = csr.ip,
                       .ip_plane = {.enable = csr.ip_plane_enable, .lsb = csr.ip_plane_lsb}};
  frame_.tick = static_cast<uint16_t>(csr.tick);
  Rxdesc d;
  put(rx_parse(frame_, cfg), d);
  d.buf_valid = d.plen != 0;
  if (d.buf_valid && (!room_ || !words_.ready())) {  // the description goes on without its payload
    ovf_inc_next_ = true;
    d.trim = room_ ? Trim::NoResource : Trim::NoBuffer;
    d.buf_valid = false;
    d.plen = 0;
  }
  rx_inc_next_ = true;
  descs_.push(d);
  if (d.buf_valid) {
    const unsigned words = (d.plen + Pb - 1) / Pb;
    words_.push(static_cast<uint16_t>(words));
    wr_ += words;
    MRC_CHECK(wr_ - rd_ <= buf_words_, "the receive buffer holds more words than it has");
  }
}

/// Reads the word at rd; it is there in the next cycle.
template <unsigned Pb>
void RxLane::read_buffer() {
  std::memcpy(word_, buf_.data() + std::size_t{rd_ & (buf_words_ - 1)} * Pb, Pb);
  ++rd_;
}

/// Buffer to host lines, as verdicts say. Runs before this cycle's buffer write: a read gives the old word.
template <unsigned Pb>
void RxLane::drain() {
  if (!reading_) {
    if (!verdict_.valid()) return;
    const Verdict& v = verdict_.head();
    if (!v.place && !line_.free()) return;
    MRC_CHECK(words_.valid(), "a verdict without its payload");
    verdict_.pop();
    words_.pop();
    if (!v.place) {
      rd_ += words_.head();
      Line& l = line_.load();
      l = Line{};
      l.last = true;
      return;
    }
    d_addr_ = v.addr;
    d_left_ = v.plen;
    d_qp_ = v.qp;
    d_word_ = 0;
    read_buffer<Pb>();
    reading_ = true;
    return;
  }
  MRC_CHECK(d_left_ != 0, "a packet without payload is read");
  const unsigned n = std::min(Pb, d_left_);
  const bool last = d_left_ == n, full = d_word_ + 1 == line_words_ || last;
  if (full && !line_.free()) return;
  auto* line = reinterpret_cast<uint8_t*>(asm_.data.data());
  std::memcpy(line + std::size_t{d_word_} * Pb, word_, Pb);
  d_left_ -= n;
  if (full) {
    const unsigned len = d_word_ * Pb + n, size = line_words_ * Pb;
    if (len < size) std::memset(line + len, 0, size - len);
    asm_.addr = d_addr_;
    asm_.len = static_cast<uint8_t>(len);
    asm_.last = last;
    asm_.qp = d_qp_;
    line_.load(asm_);
    d_addr_ += size;
    d_word_ = 0;
  } else {
    ++d_word_;
  }
  if (last) {
    reading_ = false;
  } else {
    read_buffer<Pb>();
  }
}

}  // namespace mrc
