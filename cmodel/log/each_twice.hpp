// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <unordered_map>

namespace mrc::log {

/// Tells an interface at which a mirror port shows every frame twice, unchanged: it copies what enters a switch and
/// what leaves it. One NIC that sends twice what it should send once is something else: frames of others come once
/// then. So nearly all frames of each sender have to come twice within 100 us, of two senders at least.
///
/// It is fed as frames are read, which is some 200 us before they are judged.
///
/// Of all but the first 4096 frames a part is looked at.
///
/// Bounded: it holds frames of 100 us, 4096 at most, and 64 senders.
class EachTwice {
 public:
  /// An Ethernet frame of the interface, about in the order of time.
  void came(std::span<const uint8_t> frame, uint64_t length, uint64_t ns);
  /// No more frames come.
  void end();
  /// As far as frames have come, and whether they come again is certain.
  bool is() const { return is_; }

 private:
  static constexpr uint64_t kWindowNs = 100'000;
  static constexpr std::size_t kMost = 4096, kMostSenders = 64;
  struct One {
    uint64_t key = 0, sender = 0, ns = 0;
    bool paired = false;
  };
  /// Of a sender's newest 64 frames, a bit each: it came twice.
  struct Sender {
    uint64_t twice = 0;
    unsigned frames = 0;
  };
  void report(uint64_t sender, bool twice);
  void forget_oldest();
  void decide();

  std::deque<One> recent_;  ///< those that came once so far, and whether another one has come since
  uint64_t frames_ = 0;
  uint64_t oldest_ = 0;                           ///< number of the first one of them
  std::unordered_map<uint64_t, uint64_t> alone_;  ///< by key: numbers
  std::map<uint64_t, Sender> senders_;
  bool is_ = false;
};

}  // namespace mrc::log
