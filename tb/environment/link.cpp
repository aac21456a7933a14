// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/link.hpp"

#include <algorithm>
#include <cstring>

#include "gen/headers.hpp"
#include "gen/streams.hpp"
#include "tb/environment/mac.hpp"
#include "wire/bytes.hpp"

namespace mrc::tb {
namespace {

constexpr unsigned kEth = 14, kIp6 = 40;

void set_traffic_class(std::vector<uint8_t>& b, unsigned tc) {
  b[14] = static_cast<uint8_t>((b[14] & 0xf0) | tc >> 4);
  b[15] = static_cast<uint8_t>((b[15] & 0x0f) | tc << 4);
}
unsigned traffic_class(const std::vector<uint8_t>& b) { return (b[14] & 15u) << 4 | b[15] >> 4; }

}  // namespace

void trim_frame(std::vector<uint8_t>& b, unsigned size, uint8_t dscp, unsigned lengths) {
  set_traffic_class(b, unsigned{dscp} << 2 | (traffic_class(b) & 3));
  if (b.size() > size) {
    const FrameInfo f = look_at(b);
    b.resize(size);
    if (lengths == 2) fix_lengths(b, f);
    if (lengths == 1) wire::store_be<2>(&b[kEth + 4], size - kEth - kIp6);
  }
}

void corrupt_frame(std::vector<uint8_t>& b, Rng& rng) {
  if (rng.chance(0.25)) {
    // The residue after the four ICRC bytes shall differ in its top byte only: run the CRC register backwards.
    uint32_t e = static_cast<uint32_t>(rng.between(1, 255)) << 24;
    for (unsigned i = 0; i < 32; ++i) e = e >> 31 ? ((e ^ 0xEDB88320u) << 1) | 1 : e << 1;
    uint8_t* at = &b[b.size() - 4];
    wire::store_le32(at, wire::load_le32(at) ^ e);
    return;
  }
  const unsigned flips = static_cast<unsigned>(rng.between(1, 3));
  uint64_t first = 0;
  for (unsigned i = 0; i < flips; ++i) {
    uint64_t bit = rng.below(b.size() * 8);
    if (i > 0 && bit == first) bit = (bit + 1) % (b.size() * 8);
    if (i == 0) first = bit;
    b[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
  }
}

bool make_rogue(std::vector<uint8_t>& b, unsigned num_qps, uint8_t trimmed_dscp, Rng& rng, bool icrc_outer) {
  const FrameInfo f = look_at(b);
  if (!f.data()) return false;
  uint8_t* bth = &b[f.inner + 48];
  switch (rng.below(14)) {
    case 0:  // P_Key; bit 15 (membership) does not count, another one does
      bth[2 + rng.below(2)] ^= static_cast<uint8_t>(1u << rng.below(7));
      break;
    case 1:  // no such QP
      wire::store_be<3>(bth + 5, rng.chance(0.5) ? rng.below(kQpnBase) : kQpnBase + num_qps + rng.below(1000));
      break;
    case 2:
      bth[1] |= static_cast<uint8_t>(rng.between(1, 15));
      break;
    case 3:  // another UDP port
      b[f.inner + 42 + rng.below(2)] ^= static_cast<uint8_t>(1u << rng.below(8));
      break;
    case 13: {  // the other port in use: not taken by a NIC that is restricted to its own, else a duplicate
      const bool takes_mrc = wire::load_be<2>(&b[f.inner + 42]) == wire::kUdpPort;
      wire::store_be<2>(&b[f.inner + 42], takes_mrc ? wire::kUdpPortMrc : wire::kUdpPort);
      break;
    }
    case 4:  // another protocol
      b[12 + rng.below(2)] ^= static_cast<uint8_t>(1u << rng.below(8));
      break;
    case 5: {  // the path ends inside the frame
      b.resize(rng.between(20, std::min<uint64_t>(b.size() - 1, 140)));
      if (b.size() < kMinFrameBytes - kFcsBytes) b.resize(kMinFrameBytes - kFcsBytes);
      return true;
    }
    case 6:  // outside the window
      wire::store_be<3>(bth + 9, (f.psn + 0x2000 + rng.below(0x3f0000)) & 0xffffff);
      break;
    case 7:  // long past
      wire::store_be<3>(bth + 9, (f.psn - 0x2000 - rng.below(0x3f0000)) & 0xffffff);
      break;
    case 8: {  // not ours
      static constexpr uint8_t kOpcodes[] = {0x00, 0x2a, 0xC5, 0xCC, 0xD8, 0xD9, 0xDE, 0xFF};
      bth[0] = kOpcodes[rng.below(std::size(kOpcodes))];
      break;
    }
    case 9: {                                                            // a middle packet that is not full
      const uint64_t headers = 12 + 4 + 16 + ((bth[8] & 0x10) ? 4 : 0);  // as a middle packet: no ImmDt
      const uint64_t payload = b.size() - f.inner - 48 - headers - 4;
      if ((payload & (payload - 1)) == 0) return false;
      bth[0] = rng.chance(0.5) ? 0xC6 : 0xC7;
      break;
    }
    case 10:  // a giant
      b.insert(b.end() - 4, 4100, 0x5a);
      fix_lengths(b, f);
      break;
    case 11:  // lengths that lie
      b[f.inner + (rng.chance(0.5) ? 4 : 44) + rng.below(2)] ^= static_cast<uint8_t>(rng.between(1, 255));
      if (rng.chance(0.2)) b.insert(b.end(), rng.between(1, 7), 0);
      break;
    default:  // a control packet that says it is trimmed
      bth[0] = 0xDC;
      set_traffic_class(b, unsigned{trimmed_dscp} << 2);
      b.resize(std::min<size_t>(b.size(), 160));
      wire::store_be<2>(&b[kEth + 4], b.size() - kEth - kIp6);
      return true;
  }
  fix_icrc(b, f.inner, icrc_outer);
  return true;
}

void penalize(std::vector<uint8_t>& b, unsigned penalty, bool icrc_outer) {
  const unsigned inner = look_at(b).inner;
  b[inner + 60 + 32] = static_cast<uint8_t>(penalty == 0 ? 0x80 : penalty);  // behind IPv6, UDP, BTH: byte 32
  fix_icrc(b, inner, icrc_outer);
}

bool empty_write(std::vector<uint8_t>& b, bool icrc_outer, Emptied what) {
  const FrameInfo f = look_at(b);
  if (!f.mrc || (!f.is(wire::Opcode::WriteOnly) && !f.is(wire::Opcode::WriteOnlyImm))) return false;
  uint8_t* bth = &b[f.inner + 48];
  const unsigned reth = f.inner + 48 + 12 + 4 + ((bth[8] & 0x10) ? 4 : 0);
  const unsigned headers = reth + 16 + (f.is(wire::Opcode::WriteOnlyImm) ? 4 : 0);
  if (b.size() <= headers + 4) return false;
  if (what != Emptied::Payload) wire::store_be<4>(&b[reth + 12], 0);
  if (what != Emptied::Length) {
    bth[1] &= 0xcf;  // pad count
    b.resize(headers + 4);
  }
  fix_lengths(b, f);
  fix_icrc(b, f.inner, icrc_outer);
  return true;
}

void swap_addresses(std::vector<uint8_t>& b) {
  const FrameInfo f = look_at(b);
  const auto swap = [&](unsigned at, unsigned bytes) {
    std::swap_ranges(b.begin() + at, b.begin() + at + bytes, b.begin() + at + bytes);
  };
  swap(0, 6);
  swap(f.inner + 8, 16);
  if (f.outer != 0) swap(kEth + 8, 16);
}

void route_frame(std::vector<uint8_t>& b) {
  const FrameInfo f = look_at(b);
  if (!f.mrc || f.outer == 0) return;
  --b[kEth + 7];
  b[kEth + 1] ^= 0x0f;
  b[kEth + 2] ^= 0xff;
  b[kEth + 3] ^= 0xff;
  const auto destination = b.begin() + kEth + 24;
  if (f.outer == kIp6) {
    std::copy(destination + 6, destination + 16, destination + 4);  // behind the locator of four bytes
    std::fill(destination + 14, destination + 16, uint8_t{0});
  } else {
    uint8_t* srh = &b[kEth + kIp6];
    srh[3] = 0;  // segments left
    std::copy(srh + 8, srh + 24, destination);
  }
}

Link::Link(const Preset& preset, const Scenario& scenario, uint64_t seed, bool to_peer)
    : preset_(preset),
      scenario_(scenario),
      rng_(seed, to_peer ? "link to peer" : "link to dut"),
      return_rng_(seed, to_peer ? "frames to peer that come back" : "frames to dut that come back"),
      ev_salt_(Rng::hash(seed ^ (to_peer ? 1 : 2))),
      to_peer_(to_peer),
      trimmed_(wire::kDscpTrimmed),
      lasthop_(wire::kDscpTrimmedLasthop) {}

const Impairment& Link::rule_for(unsigned plane, uint32_t entropy, uint64_t now_ps) const {
  const double us = now_ps < begin_ps_ ? 0 : static_cast<double>(now_ps - begin_ps_) * 1e-6;
  for (const LinkRule& rule : scenario_.rules) {
    if (!(rule.planes >> plane & 1) || !(to_peer_ ? rule.to_peer : rule.to_dut)) continue;
    if (us < rule.from_us || us >= rule.until_us) continue;
    if (rule.ev_share < 1) {
      const double at = static_cast<double>(Rng::hash(ev_salt_ ^ entropy) >> 11) * 0x1p-53;
      if (at >= rule.ev_share) continue;
    }
    return rule.what;
  }
  return scenario_.link;
}

/// The same for each copy of a packet, on whatever plane.
bool Link::never_arrives(const FrameInfo& info) const {
  if (scenario_.never_arrive <= 0) return false;
  const uint64_t packet = uint64_t{info.dqp} << 24 | info.psn;
  return static_cast<double>(Rng::hash(ev_salt_ + packet) >> 11) * 0x1p-53 < scenario_.never_arrive;
}

unsigned Link::trim_size(Rng& rng) const {
  static constexpr unsigned kSizes[] = {128, 206, 256, 4084};
  return scenario_.trim_size != 0 ? scenario_.trim_size : kSizes[rng.below(std::size(kSizes))];
}

void Link::trim(Frame& frame, const Impairment& what) {
  const unsigned size = trim_size(rng_);
  const bool lasthop = rng_.chance(what.lasthop);
  trim_frame(frame.bytes, size, lasthop ? lasthop_ : trimmed_, scenario_.trim_lengths);
  if (receiver_) {
    for (unsigned i = 0; i < 16; ++i)
      frame.bytes[look_at(frame.bytes).inner + 24 + i] = static_cast<uint8_t>(*receiver_ >> (8 * (15 - i)));
  }
  frame.fate |= kFateTrimmed;
  if (lasthop) frame.fate |= kFateLastHop;
  ++counters_.trimmed;
}

/// A switch has no way on for a data frame, and one back.
void Link::give_back(FramePtr frame, const Impairment& what) {
  const bool marked = return_rng_.chance(what.return_marked) && returned_code_;
  trim_frame(frame->bytes, trim_size(return_rng_), marked ? *returned_code_ : trimmed_, scenario_.trim_lengths);
  frame->fate |= kFateTrimmed | kFateReturned;
  if (return_rng_.chance(what.return_swap)) {
    swap_addresses(frame->bytes);
    frame->fate |= kFateSwapped;
  }
  ++counters_.returned;
  double late_ns = 0;  // some come when their packet has long been sent again
  if (return_rng_.chance(what.reorder)) {
    late_ns = return_rng_.unit() * scenario_.reorder_ns;
    frame->fate |= kFateDelayed;
  }
  last_fate_ = frame->fate;
  deliver(std::move(frame), static_cast<uint64_t>(late_ns * 1000), back_);
}

void Link::transmit(FramePtr frame) {
  const FrameInfo info = look_at(frame->bytes);
  const Impairment& what = rule_for(frame->plane, info.entropy, frame->sent_ps);
  const bool spoiled = (frame->fate & kFateSpoiled) != 0;
  last_fate_ = 0;
  ++counters_.frames;
  if (Rng::hash(ev_salt_ ^ counters_.frames) & 1) route_frame(frame->bytes);  // others go on one link only
  const bool data = info.data();
  double loss = what.loss;
  if (!data) loss += what.trim / 8;
  if (data && never_arrives(info)) {
    last_fate_ = kFateLost;
    ++counters_.lost;
    ++counters_.data_lost;
    return;
  }
  if (rng_.chance(loss)) {
    if (data && gives_back(what)) {
      give_back(std::move(frame), what);
      return;
    }
    last_fate_ = kFateLost;
    ++counters_.lost;
    counters_.data_lost += data;
    return;
  }
  FramePtr copy;
  if (rng_.chance(what.duplicate)) {
    copy = std::make_unique<Frame>(*frame);
    copy->fate |= kFateDuplicate;
  } else if (data && rng_.chance(what.rogue) && !spoiled) {  // a rogue's ICRC is right
    copy = std::make_unique<Frame>(*frame);
    copy->fate |= kFateRogue;
    if (!make_rogue(copy->bytes, preset_.num_qps, trimmed_, rng_, icrc_outer_)) copy.reset();
  }
  if ((data || (info.mrc && info.is(wire::Opcode::ProbeRequest))) &&
      rng_.chance(what.ecn)) {  // reliability probes are of the data class
    set_traffic_class(frame->bytes, traffic_class(frame->bytes) | 3);
    frame->fate |= kFateMarked;
    ++counters_.marked;
  }
  if (data && rng_.chance(what.trim)) {
    if (gives_back(what)) {
      give_back(std::move(frame), what);
      if (copy) finish_copy(std::move(copy), 0);
      return;
    }
    trim(*frame, what);
  }
  if (info.mrc && info.is(wire::Opcode::Sack) && rng_.chance(what.penalty)) {
    penalize(frame->bytes, rng_.chance(0.5) ? 0 : static_cast<unsigned>(rng_.between(1, 127)), icrc_outer_);
    frame->fate |= kFatePenalty;
    ++counters_.penalties;
  }
  const Emptied emptied = !zero_legal_                  ? Emptied::All
                          : counters_.no_bytes % 2 == 0 ? Emptied::Payload
                                                        : Emptied::Length;
  if (rng_.chance(what.no_bytes) && !spoiled && !(frame->fate & kFateTrimmed) &&
      empty_write(frame->bytes, icrc_outer_, emptied)) {
    frame->fate |= kFateNoBytes;
    ++counters_.no_bytes;
  }
  if (rng_.chance(what.corrupt)) {
    corrupt_frame(frame->bytes, rng_);
    frame->fate |= kFateCorrupt;
    frame->mac_error = rng_.chance(scenario_.mac_errors);
    if (frame->mac_error) frame->fate |= kFateMacError;
    ++counters_.corrupt;
  }
  double extra_ns = scenario_.jitter_ns > 0 ? rng_.unit() * scenario_.jitter_ns : 0;
  if (scenario_.skew_ns > 0) {
    extra_ns += static_cast<double>(Rng::hash(~ev_salt_ ^ info.entropy) >> 11) * 0x1p-53 * scenario_.skew_ns;
  }
  if (rng_.chance(what.reorder)) {
    extra_ns += rng_.unit() * scenario_.reorder_ns;
    frame->fate |= kFateDelayed;
    ++counters_.delayed;
  }
  last_fate_ = frame->fate;
  const auto extra_ps = static_cast<uint64_t>(extra_ns * 1000);
  deliver(std::move(frame), extra_ps, out_);
  if (copy) finish_copy(std::move(copy), extra_ps);
}

/// The second copy of a frame goes on.
void Link::finish_copy(FramePtr copy, uint64_t extra_ps) {
  last_fate_ |= copy->fate;
  (copy->fate & kFateRogue ? counters_.rogues : counters_.duplicates) += 1;
  const uint64_t later_ps = extra_ps + static_cast<uint64_t>(rng_.unit() * scenario_.reorder_ns * 1000);
  deliver(std::move(copy), later_ps, out_);
}

void Link::forged(FramePtr frame) {
  frame->fate |= kFateForged;
  ++counters_.forged;
  last_fate_ = frame->fate;
  deliver(std::move(frame), 0, out_);
}

void Link::deliver(FramePtr frame, uint64_t extra_ps, std::vector<FramePtr>& to) {
  const uint64_t length = kPreambleBytes + frame->bytes.size() + kFcsBytes;  // a switch has it all before it goes on
  frame->arrive_ps =
      frame->sent_ps + length * byte_ps(preset_) + static_cast<uint64_t>(scenario_.delay_ns * 1000) + extra_ps;
  frame->seq = seq_++;
  to.push_back(std::move(frame));
}

}  // namespace mrc::tb
