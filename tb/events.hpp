// SPDX-License-Identifier: Apache-2.0
/// Boundary handshakes: a hash over all of them, and the newest ones in full.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "gen/streams.hpp"

namespace mrc::tb {

/// A boundary by number: core ones first, then kNumLaneBoundaries per plane.
struct BoundaryRef {
  const BoundaryInfo* info;
  int plane;                 ///< -1: not per plane
  std::string name() const;  ///< "tx_path.path", "rx_lane[3].desc"
  std::string producer() const { return std::string(info->name).substr(0, std::string_view(info->name).find('.')); }
};
unsigned num_boundaries(unsigned num_planes);
BoundaryRef boundary(unsigned number);

/// Whose ready it is at a boundary: the block that takes the stream ("host" for pins).
const char* consumer_of(const BoundaryInfo& info);
/// Position in the data flow, for the order of several divergences in one cycle.
unsigned flow_rank(const BoundaryInfo& info);

/// A handshake: valid and ready in one cycle.
struct Event {
  uint64_t order = 0;  ///< gap-free, from 0
  uint64_t cycle = 0;
  unsigned boundary = 0;
  std::vector<uint32_t> data;
};

class EventLog {
 public:
  explicit EventLog(std::size_t words = std::size_t{1} << 18) : ring_(words), mask_(words - 1) {}

  void add(uint64_t cycle, unsigned number, const uint32_t* data, unsigned words) {
    mix(cycle << 12 | number);
    unsigned i = 0;
    for (; i + 2 <= words; i += 2) {
      uint64_t two;
      std::memcpy(&two, data + i, 8);
      mix(two);
    }
    if (i < words) mix(data[i]);
    put(static_cast<uint32_t>(cycle));
    put(static_cast<uint32_t>(cycle >> 32));
    put(number | words << 16);
    if ((at_ & mask_) + words <= mask_) {
      std::memcpy(&ring_[at_ & mask_], data, words * 4);
      at_ += words;
    } else {
      for (i = 0; i < words; ++i) put(data[i]);
    }
    put(words + 4);
    ++count_;
  }
  /// Over cycle, boundary and data of all events so far.
  uint64_t hash() const { return hash_; }
  uint64_t count() const { return count_; }

  /// The newest events up to `last_cycle`, oldest first. qp >= 0: only those of that QP.
  std::vector<Event> newest(std::size_t count, uint64_t last_cycle, int qp = -1, std::span<const int> own = {}) const;

 private:
  void mix(uint64_t x) {
    hash_ = (hash_ ^ x) * 0x9e3779b97f4a7c15u;
    hash_ ^= hash_ >> 29;
  }
  void put(uint32_t word) { ring_[at_++ & mask_] = word; }

  std::vector<uint32_t> ring_;  // per event: cycle lo, hi, number | words << 16, data, length of all that
  std::size_t mask_;
  uint64_t at_ = 0, count_ = 0;
  uint64_t hash_ = 0xcbf29ce484222325u;
};

/// The QP an event is about, -1 if its struct does not say. `own` gives the QP here for a QP of the peer: sent headers
/// name only that one.
int event_qp(const BoundaryRef& ref, const uint32_t* data, std::span<const int> own = {});

/// "qp=3 psn=0x1234 rtx=1": fields that are not zero, wide ones left out.
std::string describe(std::span<const FieldInfo> fields, const uint32_t* data);
/// A field's value: enum name, decimal, or hex when wide.
std::string field_text(const FieldInfo& field, const uint32_t* data);

}  // namespace mrc::tb
