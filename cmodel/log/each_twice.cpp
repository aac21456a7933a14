// SPDX-License-Identifier: Apache-2.0
#include "log/each_twice.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "log/digest.hpp"
#include "log/frame_key.hpp"

namespace mrc::log {
namespace {

constexpr unsigned kLeastFrames = 16;  ///< of all senders
constexpr unsigned kLeastOfSender = 2;
constexpr uint64_t kAll = 4096, kOneOf = 16;  ///< later frames are looked at in part: of the same bytes all or none
constexpr uint64_t kEach = 8;                 ///< so often it is asked

/// All of the frame that tells it from others: what stands behind the headers has its ICRC at the end.
uint64_t all_of(std::span<const uint8_t> frame, uint64_t length) {
  constexpr std::size_t kFirst = 192, kLast = 16;
  const std::size_t head = std::min(frame.size(), kFirst), tail = std::min(frame.size(), kLast);
  std::array<uint8_t, kFirst + kLast + sizeof length> bytes{};
  std::copy_n(frame.begin(), head, bytes.begin());
  std::copy_n(frame.end() - static_cast<std::ptrdiff_t>(tail), tail, bytes.begin() + static_cast<std::ptrdiff_t>(head));
  for (std::size_t i = 0; i < sizeof length; ++i) bytes[head + tail + i] = static_cast<uint8_t>(length >> (8 * i));
  return digest(std::span(bytes).first(head + tail + sizeof length));
}

/// Source address of the innermost IP header.
uint64_t sender_of(std::span<const uint8_t> frame) {
  const std::span<const uint8_t> ip = innermost_ip(frame);
  const std::size_t at = is_ipv4(ip) ? 12 : 8, size = is_ipv4(ip) ? 4 : 16;
  return ip.size() < at + size ? 0 : digest(ip.subspan(at, size));
}

}  // namespace

void EachTwice::report(uint64_t sender, bool twice) {
  if (senders_.size() >= kMostSenders && !senders_.contains(sender)) return;
  Sender& s = senders_[sender];
  s.twice = s.twice << 1 | static_cast<uint64_t>(twice);
  s.frames = std::min(s.frames + 1, 64u);
}

void EachTwice::decide() {
  unsigned frames = 0, senders = 0;
  bool all = true, some = true;
  for (const auto& [address, s] : senders_) {
    if (s.frames < kLeastOfSender) continue;
    const auto twice = static_cast<unsigned>(std::popcount(s.twice));
    frames += s.frames;
    ++senders;
    all &= twice * 8 >= s.frames * 7;
    some &= s.frames < 8 || twice * 2 >= s.frames;
  }
  // Once it is so, copies that are lost change nothing.
  is_ = is_ ? some : all && senders >= 2 && frames >= kLeastFrames;
}

void EachTwice::forget_oldest() {
  const One& one = recent_.front();
  report(one.sender, one.paired);
  const auto alone = alone_.find(one.key);
  if (alone != alone_.end() && alone->second == oldest_) alone_.erase(alone);
  recent_.pop_front();
  if (++oldest_ % kEach == 0) decide();
}

void EachTwice::came(std::span<const uint8_t> frame, uint64_t length, uint64_t ns) {
  const uint64_t key = all_of(frame, length);
  if (++frames_ > kAll && (key >> 32) % kOneOf != 0) return;
  while (!recent_.empty() && (recent_.front().ns + kWindowNs < ns || recent_.size() >= kMost)) forget_oldest();
  const auto known = alone_.find(key);
  if (known != alone_.end() && ns <= recent_[known->second - oldest_].ns + kWindowNs) {
    recent_[known->second - oldest_].paired = true;
    alone_.erase(known);
    return;
  }
  alone_[key] = oldest_ + recent_.size();
  recent_.push_back({key, sender_of(frame), ns, false});
}

void EachTwice::end() {
  while (!recent_.empty()) forget_oldest();
  decide();
}

}  // namespace mrc::log
