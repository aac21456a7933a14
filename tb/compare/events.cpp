// SPDX-License-Identifier: Apache-2.0
#include "tb/compare/events.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gen/nic_flow.hpp"
#include "protocol/qpn.hpp"

namespace mrc::tb {

std::string StreamRef::name() const {
  if (plane < 0) return info->name;
  const std::string_view n = info->name;
  const auto dot = n.find('.');
  return fmt::format("{}[{}]{}", n.substr(0, dot), plane, n.substr(dot));
}

unsigned num_streams(unsigned num_planes) { return kNumCoreStreams + num_planes * kNumLaneStreams; }

StreamRef stream_at(unsigned number) {
  if (number < kNumCoreStreams) return {&kCoreStreams[number], -1};
  number -= kNumCoreStreams;
  return {&kLaneStreams[number % kNumLaneStreams], static_cast<int>(number / kNumLaneStreams)};
}

const char* consumer_of(const StreamInfo& info) {
  for (const StreamFlow& f : kStreamFlow) {
    if (std::string_view(f.name) == info.name) return f.consumer;
  }
  return "?";
}

unsigned flow_rank(const StreamInfo& info) {
  for (unsigned i = 0; i < std::size(kStreamFlow); ++i) {
    if (std::string_view(kStreamFlow[i].name) == info.name) return i;
  }
  return static_cast<unsigned>(std::size(kStreamFlow));
}

std::vector<Event> EventLog::newest(std::size_t count, uint64_t last_cycle, int qp, std::span<const int> own) const {
  std::vector<Event> list;
  uint64_t at = at_, order = count_;
  const uint64_t oldest = at_ > mask_ + 1 ? at_ - (mask_ + 1) : 0;
  const auto word = [&](uint64_t i) { return ring_[i & mask_]; };
  while (list.size() < count && order > 0 && at > oldest) {
    const uint32_t length = word(at - 1) & ~kFiller;
    if (at < oldest + length) break;  // its beginning is overwritten
    const uint64_t begin = at - length;
    if (word(at - 1) & kFiller) {
      at = begin;
      continue;
    }
    Event e;
    e.order = --order;
    e.cycle = word(begin) | uint64_t{word(begin + 1)} << 32;
    e.stream = word(begin + 2) & 0xffff;
    const unsigned words = word(begin + 2) >> 16;
    for (unsigned i = 0; i < words; ++i) e.data.push_back(word(begin + 3 + i));
    at = begin;
    if (e.cycle > last_cycle) continue;
    if (qp >= 0 && event_qp(stream_at(e.stream), e.data.data(), own) != qp) continue;
    list.push_back(std::move(e));
  }
  std::reverse(list.begin(), list.end());
  return list;
}

int event_qp(const StreamRef& ref, const uint32_t* data, std::span<const int> own) {
  if (std::string_view(ref.info->struct_name) == "hdr_t") {
    const Hdr h = Hdr::unpack(data);
    const auto byte = [&](unsigned i) { return h.hdr[i / 4] >> (8 * (i % 4)) & 0xff; };
    const unsigned bth = (byte(20) == 41 ? 54u : byte(20) == 43 ? 78u : 14u) + 48;
    const uint32_t qp = (byte(bth + 5) << 16 | byte(bth + 6) << 8 | byte(bth + 7));
    return own.empty() ? -1 : own[qpn_row(qp, static_cast<unsigned>(own.size()))];
  }
  // What is discarded is of no QP.
  const std::string_view kind = ref.info->struct_name;
  if (kind == "verdict_t" && !Verdict::unpack(data).place) return -1;
  if (kind == "line_t" && Line::unpack(data).len == 0) return -1;
  for (const FieldInfo& f : ref.info->fields) {
    const std::string_view name = f.name;
    if (name == "qp" || name.ends_with(".qp")) return static_cast<int>(f.low64(data));
    if (name == "dqp") {
      const auto dqp = static_cast<unsigned>(f.low64(data));
      if (dqp < kQpnBase) return -1;
      return own.empty() ? static_cast<int>(dqp - kQpnBase) : qpn_row(dqp, static_cast<unsigned>(own.size()));
    }
  }
  return -1;
}

std::string field_text(const FieldInfo& f, const uint32_t* data) {
  if (f.width > 64) {
    std::string hex;
    for (unsigned i = (f.width + 31) / 32; i-- > 0;) hex += fmt::format("{:08x}", f.word(data, i));
    return fmt::format("0x{}", std::string_view(hex).substr(hex.size() - (f.width + 3) / 4));
  }
  const uint64_t value = f.low64(data);
  if (const char* name = f.name_of(value)) return name;
  const std::string_view n = f.name;
  const bool small =
      f.width <= 16 || n == "qp" || n == "row" || n.ends_with("len") || n.ends_with("length") || n.ends_with("idx");
  return small && !n.ends_with("opcode") && !n.ends_with("rkey") ? fmt::format("{}", value)
                                                                 : fmt::format("{:#x}", value);
}

std::string describe(std::span<const FieldInfo> fields, const uint32_t* data) {
  std::string text;
  for (const FieldInfo& f : fields) {
    if (f.width > 64) continue;
    if (f.low64(data) == 0 && std::string_view(f.name) != "qp") continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", f.name, field_text(f, data));
  }
  return text;
}

}  // namespace mrc::tb
