// SPDX-License-Identifier: Apache-2.0
#include "wire/pcap.hpp"

#include <fmt/format.h>

#include <istream>

#include "wire/bytes.hpp"

namespace mrc::wire {
namespace {

constexpr uint32_t kMicro = 0xA1B2C3D4, kNano = 0xA1B23C4D;
constexpr std::size_t kFileHeader = 24, kPacketHeader = 16;
constexpr const char* kRemedy = "A damaged file must be captured again.";

}  // namespace

bool PcapReader::next(CapturedFrame& frame) {
  if (over_) return false;
  if (!begun_) problem_ = begin();
  if (!problem_ && !over_) problem_ = packet(frame);
  over_ |= problem_.has_value();
  return !over_;
}

Error PcapReader::error(uint64_t offset, std::string what, std::string remedy) const {
  return {name_, static_cast<std::size_t>(offset), std::move(what), remedy.empty() ? kRemedy : std::move(remedy), 0, 0};
}

std::size_t PcapReader::read(uint8_t* to, std::size_t bytes) {
  in_.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(bytes));
  return static_cast<std::size_t>(in_.gcount());
}

uint32_t PcapReader::u32(const uint8_t* from) const {
  return big_ ? static_cast<uint32_t>(load_be<4>(from)) : load_le32(from);
}

std::optional<Error> PcapReader::begin() {
  begun_ = true;
  std::array<uint8_t, kFileHeader> head{};
  if (read(head.data(), head.size()) < head.size()) return error(0, "too short for a pcap file");
  for (const bool big : {false, true}) {
    big_ = big;
    const uint32_t magic = u32(head.data());
    if (magic != kMicro && magic != kNano) continue;
    ns_per_tick_ = magic == kNano ? 1 : 1000;
    const uint32_t version = u32(&head[4]);
    const unsigned major = big ? version >> 16 : version & 0xFFFF, minor = big ? version & 0xFFFF : version >> 16;
    if (major != 2) return error(4, fmt::format("pcap version {}.{}, this reader knows version 2", major, minor));
    const uint32_t link = u32(&head[20]);
    if ((link >> 26 & 1) != 0) fcs_bytes_ = static_cast<uint8_t>(link >> 28 << 1);
    interfaces_.push_back({{}, static_cast<uint16_t>(link), {}});
    at_ = kFileHeader;
    return std::nullopt;
  }
  return error(0, "not a pcap file, its magic number is missing");
}

std::optional<Error> PcapReader::packet(CapturedFrame& frame) {
  std::array<uint8_t, kPacketHeader> head{};
  const std::size_t there = read(head.data(), head.size());
  if (there == 0) {
    over_ = true;
    return std::nullopt;
  }
  if (there < head.size()) return error(at_, "the file ends inside a packet header");
  const uint64_t seconds = u32(head.data()), fraction = u32(&head[4]);
  const uint32_t captured = u32(&head[8]);
  if (captured > kMaxFrameBytes) {
    return error(at_ + 8, fmt::format("packet of {} bytes, at most {} are read", captured, kMaxFrameBytes),
                 "Cut its packets with 'editcap -s BYTES IN OUT'; a damaged file must be captured again.");
  }
  std::vector<uint8_t> bytes = std::move(frame.bytes);
  std::vector<std::string> comments = std::move(frame.comments);
  frame = {};
  frame.bytes = std::move(bytes);
  frame.comments = std::move(comments);
  frame.comments.clear();
  frame.bytes.resize(captured);
  const std::size_t got = read(frame.bytes.data(), captured);
  if (got < captured) {
    return error(at_ + 8,
                 fmt::format("packet of {} bytes is beyond the end of the file, {} bytes are left", captured, got));
  }
  frame.time_ns = seconds * 1'000'000'000 + fraction * ns_per_tick_;
  frame.original_length = u32(&head[12]);
  frame.fcs_bytes = fcs_bytes_;
  frame.link = interfaces_[0].link;
  frame.number = ++number_;
  at_ += kPacketHeader + captured;
  return std::nullopt;
}

}  // namespace mrc::wire
