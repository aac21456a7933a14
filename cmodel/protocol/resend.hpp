// SPDX-License-Identifier: Apache-2.0
/// Where what was lost is sent again (docs/protocol/loss.md section 5; assumption A-85).
#pragma once

#include <array>
#include <cstdint>

namespace mrc {

/// Of the planes `ok` those that are not to be avoided, if there are any.
constexpr unsigned planes_but(unsigned ok, unsigned avoided) {
  const unsigned good = ok & ~avoided;
  return good != 0 ? good : ok;
}

/// EVs of a QP that SACKs have named of late, each for one retransmission: their paths were alive a round trip ago.
class ProvenEvs {
 public:
  void heard(uint16_t ev, uint32_t tick) {
    for (Entry& e : ev_) {
      if (e.valid && e.ev == ev) {
        e.tick = tick;
        return;
      }
    }
    ev_[next_] = {tick, ev, true};
    next_ = static_cast<uint8_t>((next_ + 1) % ev_.size());
  }
  /// The newest one heard of within the last `memory` ticks that `good` accepts; 0xffff: none. It is given away.
  template <class Good>
  uint16_t take(uint32_t tick, uint32_t memory, Good&& good) {
    Entry* best = nullptr;
    for (Entry& e : ev_) {
      if (e.valid && tick - e.tick <= memory && (best == nullptr || tick - e.tick < tick - best->tick) && good(e.ev)) {
        best = &e;
      }
    }
    if (best == nullptr) return 0xffff;
    best->valid = false;
    return best->ev;
  }

 private:
  struct Entry {
    uint32_t tick = 0;
    uint16_t ev = 0;
    bool valid = false;
  };
  std::array<Entry, 4> ev_{};
  uint8_t next_ = 0;
};

}  // namespace mrc
