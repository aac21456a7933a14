// SPDX-License-Identifier: Apache-2.0
/// Between frames in beats of the core's port, as a bench gives and takes them, and words of a MAC in clocks of its
/// own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "util/rng.hpp"

namespace mrc {

inline constexpr unsigned kWordBytes = 64;

/// A word of an AXI4-Stream of 512 bit.
struct MacWord {
  bool valid = false, last = false, user = false;
  uint64_t keep = 0;
  uint8_t data[kWordBytes] = {};
};

/// Frames whole in one shape, later whole in the other one.
class FrameStore {
 public:
  struct Stored {
    std::vector<uint8_t> bytes;
    bool bad = false;
  };
  void add(const uint8_t* data, unsigned bytes, bool last, bool bad) {
    coming_.bytes.insert(coming_.bytes.end(), data, data + bytes);
    if (!last) return;
    coming_.bad = bad;
    waiting_ += coming_.bytes.size();
    whole_.push_back(std::move(coming_));
    coming_ = {};
  }
  bool empty() const { return whole_.empty(); }
  std::size_t waiting() const { return waiting_; }
  const Stored& front() const { return whole_.front(); }
  /// The next `most` bytes of the first frame, how many there are, and whether it ends with them.
  std::pair<unsigned, bool> part(uint8_t* to, unsigned most) const {
    const auto& bytes = whole_.front().bytes;
    const auto n = static_cast<unsigned>(std::min<std::size_t>(most, bytes.size() - at_));
    std::memcpy(to, bytes.data() + at_, n);
    return {n, at_ + n == bytes.size()};
  }
  void advance(unsigned bytes) {
    at_ += bytes;
    if (at_ < whole_.front().bytes.size()) return;
    waiting_ -= at_;
    whole_.pop_front();
    at_ = 0;
  }

 private:
  Stored coming_;
  std::deque<Stored> whole_;
  std::size_t at_ = 0, waiting_ = 0;
};

}  // namespace mrc
