// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/frame.hpp"

#include <span>

#include "gen/headers.hpp"
#include "wire/bytes.hpp"
#include "wire/icrc.hpp"

namespace mrc::tb {

std::string fate_text(unsigned fate) {
  static constexpr struct {
    unsigned bit;
    const char* text;
  } kNames[] = {{kFateLost, "lost"},
                {kFateTrimmed, "trimmed"},
                {kFateLastHop, "trimmed at the last hop"},
                {kFateMarked, "ECN-CE"},
                {kFateCorrupt, "bits flipped"},
                {kFateMacError, "wrong FCS"},
                {kFateDuplicate, "duplicate"},
                {kFateRogue, "rogue copy"},
                {kFateDelayed, "delayed"},
                {kFatePenalty, "window penalty"},
                {kFateNoBytes, "payload taken out"},
                {kFateSpoiled, "a line could not be read"},
                {kFateHalf, "the receiver was reset meanwhile"},
                {kFateReturned, "sent back"},
                {kFateSwapped, "addresses exchanged"},
                {kFateForged, "forged"}};
  std::string text;
  for (const auto& n : kNames) {
    if (fate & n.bit) text += (text.empty() ? "" : ", ") + std::string(n.text);
  }
  return text;
}

FrameInfo look_at(const std::vector<uint8_t>& b) {
  FrameInfo f;
  if (b.size() < 74) return f;
  f.outer = b[20] == 41 ? 40 : b[20] == 43 ? 64 : 0;
  f.inner = 14 + f.outer;
  const unsigned tc = (b[14] & 15u) << 4 | b[15] >> 4;
  f.dscp = static_cast<uint8_t>(tc >> 2);
  f.ecn = tc & 3;
  const unsigned bth = f.inner + 48;
  if (b.size() < bth + 12) return f;
  f.mrc = true;
  f.opcode = b[bth];
  f.dqp = b[bth + 5] << 16 | b[bth + 6] << 8 | b[bth + 7];
  f.ackreq = b[bth + 8] & 0x80;
  f.rtx = b[bth + 8] & 0x20;
  f.psn = b[bth + 9] << 16 | b[bth + 10] << 8 | b[bth + 11];
  const unsigned udp = f.inner + 40;
  f.entropy = static_cast<uint32_t>(b[udp] << 24 | b[udp + 1] << 16 | b[f.inner + 2] << 8 | b[f.inner + 3]);
  return f;
}

size_t payload_of(const std::vector<uint8_t>& frame, const FrameInfo& info) {
  const size_t bth = info.inner + wire::Ipv6::kBytes + wire::Udp::kBytes;
  const bool ts = (frame[bth + 8] & 0x10) != 0;
  const size_t pad = frame[bth + 1] >> 4 & 3;
  const size_t around = bth + wire::Bth::kBytes + wire::Meth::kBytes + (ts ? wire::Tseth::kBytes : 0) +
                        wire::Reth::kBytes + (has_immediate(info.opcode) ? wire::Immdt::kBytes : 0) + pad +
                        wire::kIcrcBytes;
  return frame.size() > around ? frame.size() - around : 0;
}

void fix_lengths(std::vector<uint8_t>& b, const FrameInfo& f) {
  const uint64_t inner = b.size() - f.inner - wire::Ipv6::kBytes;
  wire::store_be<2>(&b[f.inner + 4], inner);
  wire::store_be<2>(&b[f.inner + 44], inner);
  if (f.outer) wire::store_be<2>(&b[wire::Eth::kBytes + 4], inner + f.outer);
}

uint32_t right_icrc(const std::vector<uint8_t>& frame, unsigned inner, bool icrc_outer) {
  constexpr unsigned kEth = 14;
  const std::span<const uint8_t> bytes(frame);
  return wire::icrc(bytes.subspan(inner, frame.size() - inner - wire::kIcrcBytes),
                    bytes.subspan(kEth, icrc_outer ? inner - kEth : 0));
}

void fix_icrc(std::vector<uint8_t>& b, unsigned inner, bool icrc_outer) {
  wire::store_le32(&b[b.size() - wire::kIcrcBytes], right_icrc(b, inner, icrc_outer));
}

}  // namespace mrc::tb
