// SPDX-License-Identifier: Apache-2.0
/// Handshakes of streams: a hash over all of them, and the newest ones in full.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "gen/streams.hpp"

namespace mrc::tb {

/// A stream by number: core ones first, then kNumLaneStreams per plane.
struct StreamRef {
  const StreamInfo* info;
  int plane;                 ///< -1: not per plane
  std::string name() const;  ///< "tx_path.path", "rx_lane[3].desc"
  std::string producer() const { return std::string(info->name).substr(0, std::string_view(info->name).find('.')); }
};
unsigned num_streams(unsigned num_planes);
StreamRef stream_at(unsigned number);

/// Whose ready it is at a stream: the block that takes the stream ("host" for pins).
const char* consumer_of(const StreamInfo& info);
/// Position in the data flow, for the order of several divergences in one cycle.
unsigned flow_rank(const StreamInfo& info);

/// A handshake: valid and ready in one cycle.
struct Event {
  uint64_t order = 0;  ///< gap-free, from 0
  uint64_t cycle = 0;
  unsigned stream = 0;
  std::vector<uint32_t> data;
};

class EventLog {
 public:
  explicit EventLog(std::size_t words = std::size_t{1} << 18) : ring_(words), mask_(words - 1) {}

  void add(uint64_t cycle, unsigned number, const uint32_t* data, unsigned words) {
    add(cycle, number, data, words, data);
  }
  /// As add(), and compares on the way: not 0 when `other` differs from `data`.
  uint64_t add(uint64_t cycle, unsigned number, const uint32_t* data, unsigned words, const uint32_t* other) {
    if ((at_ & mask_) + words + 4 > ring_.size()) fill();
    uint32_t* to = &ring_[at_ & mask_];
    to[0] = static_cast<uint32_t>(cycle);
    to[1] = static_cast<uint32_t>(cycle >> 32);
    to[2] = number | words << 16;
    to += 3;
    // Two chains side by side: one multiplication waits for the one before.
    uint64_t a = (cycle << 12 | number) * kOdd, b = kOdd, wrong = 0;
    unsigned i = 0;
    for (; i + 4 <= words; i += 4) {
      const uint64_t x = two(data + i), y = two(data + i + 2);
      wrong |= (x ^ two(other + i)) | (y ^ two(other + i + 2));
      a = step(a, x);
      b = step(b, y);
      std::memcpy(to + i, &x, 8);
      std::memcpy(to + i + 2, &y, 8);
    }
    for (; i < words; ++i) {
      wrong |= data[i] ^ other[i];
      a = step(a, data[i]);
      to[i] = data[i];
    }
    to[words] = words + 4;
    at_ += words + 4;
    ++count_;
    hash_ = step(hash_, a ^ std::rotl(b, 32));
    hash_ ^= hash_ >> 29;
    return wrong;
  }
  /// Over cycle, stream and data of all events so far.
  uint64_t hash() const { return hash_; }
  uint64_t count() const { return count_; }

  /// The newest events up to `last_cycle`, oldest first. qp >= 0: only those of that QP.
  std::vector<Event> newest(std::size_t count, uint64_t last_cycle, int qp = -1, std::span<const int> own = {}) const;

 private:
  static constexpr uint64_t kOdd = 0x9e3779b97f4a7c15u;
  static uint64_t step(uint64_t hash, uint64_t x) { return (std::rotl(hash, 29) ^ x) * kOdd; }
  static uint64_t two(const uint32_t* words) {
    uint64_t x;
    std::memcpy(&x, words, 8);
    return x;
  }

  static constexpr uint32_t kFiller = uint32_t{1} << 31;
  /// To the end of the ring, so that no event is torn.
  void fill() {
    ring_[mask_] = kFiller | static_cast<uint32_t>(ring_.size() - (at_ & mask_));
    at_ = (at_ | mask_) + 1;
  }

  std::vector<uint32_t> ring_;  // per event: cycle lo, hi, number | words << 16, data, length of all that
  std::size_t mask_;
  uint64_t at_ = 0, count_ = 0;
  uint64_t hash_ = 0xcbf29ce484222325u;
};

/// The QP an event is about, -1 if its struct does not say. `own` gives the QP here for a QP of the peer: sent headers
/// name only that one.
int event_qp(const StreamRef& ref, const uint32_t* data, std::span<const int> own = {});

/// "qp=3 psn=0x1234 rtx=1": fields that are not zero, wide ones left out.
std::string describe(std::span<const FieldInfo> fields, const uint32_t* data);
/// A field's value: enum name, decimal, or hex when wide.
std::string field_text(const FieldInfo& field, const uint32_t* data);

}  // namespace mrc::tb
