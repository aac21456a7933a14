// SPDX-License-Identifier: Apache-2.0
/// What losses say of paths: which EV is bad, which plane is under suspicion (docs/protocol/loss.md section 6;
/// assumptions ).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace mrc {

/// Losses on an EV, with nothing heard of it in between, that make it ASSUMED_BAD. One does (mrc.md section 5). It
/// takes `strikes` while other planes of the QP, half of all at least, lose too: that may be the world and not the
/// path.
constexpr unsigned strikes_needed(unsigned others, unsigned planes, unsigned strikes) {
  return 2 * others >= planes && others != 0 && strikes > 1 ? strikes : 1;
}

/// True when other planes that lost of late say that the world is bad, not a path: bit p of `others` is plane p.
constexpr bool loss_world(unsigned others, unsigned planes) {
  return others != 0 && 2 * static_cast<unsigned>(std::popcount(others)) >= planes;
}

/// Losses of a bad world of which one counts (EV_CTL.loss_share).
constexpr unsigned loss_shares(unsigned loss_share) { return 1u << std::min(loss_share, 4u); }

/// True when a loss makes its EV ASSUMED_BAD. spared: losses of a bad world since one of them has counted.
constexpr bool loss_counts(bool bad_world, unsigned spared, unsigned loss_share) {
  return !bad_world || (spared + 1) % loss_shares(loss_share) == 0;
}

/// What a QP of a NIC with a clock knows of the world: planes that lost in this epoch and in the one before, and losses
/// that did not count (docs/design/blocks/tx/tx_path.md, "A loss in a bad world").
class LossWorld {
 public:
  /// An EV in use, of a plane that can be used, has lost something. tick: 128 ns; loss_share: not 0. Returns whether
  /// the loss counts.
  constexpr bool lost(unsigned plane, uint32_t tick, unsigned planes, unsigned loss_share) {
    const auto epoch = static_cast<uint8_t>(tick >> 10 & 15);
    const unsigned age = (epoch - epoch_) & 15u;
    before_ = age == 0 ? before_ : age == 1 ? now_ : uint8_t{0};
    if (age != 0) now_ = 0;
    epoch_ = epoch;
    const bool bad = loss_world((now_ | before_) & ~(1u << plane), planes);
    const bool counts = loss_counts(bad, spared_, loss_share);
    if (bad) spared_ = static_cast<uint8_t>((spared_ + 1) % loss_shares(loss_share));
    now_ |= static_cast<uint8_t>(1u << plane);
    return counts;
  }

 private:
  uint8_t epoch_ = 0, now_ = 0, before_ = 0, spared_ = 0;
};

/// Losses of a QP or towards a peer, by planes: when each plane lost last, in ticks.
class LossPlanes {
 public:
  void lost(unsigned plane, uint32_t tick) {
    at_[plane] = tick;
    any_ |= static_cast<uint8_t>(1u << plane);
  }
  /// How many other planes have lost something within the last `memory` ticks.
  unsigned others(unsigned plane, uint32_t tick, uint32_t memory) const {
    unsigned n = 0;
    for (unsigned p = 0; p < at_.size(); ++p) {
      if (p != plane && (any_ >> p & 1) != 0 && tick - at_[p] <= memory) ++n;
    }
    return n;
  }

 private:
  std::array<uint32_t, 8> at_{};
  uint8_t any_ = 0;
};

/// EVs of one plane that have lost something within a round trip, as far as two or more can be told from one.
class PlaneLosses {
 public:
  /// An EV has lost something. trip: ticks of a round trip. Returns how many EVs of the plane have, since the first.
  unsigned lost(uint16_t ev, uint32_t tick, uint32_t trip) {
    if (count_ == 0 || tick - first_ > trip) {
      first_ = tick;
      count_ = 0;
    }
    for (unsigned i = 0; i < count_; ++i) {
      if (ev_[i] == ev) return count_;
    }
    if (count_ < ev_.size()) ev_[count_++] = ev;
    return count_;
  }
  void clear() { count_ = 0; }

 private:
  std::array<uint16_t, 4> ev_{};
  uint32_t first_ = 0;
  uint8_t count_ = 0;
};

}  // namespace mrc
