// SPDX-License-Identifier: Apache-2.0
/// What packets of captures show, and which ones (conversations.hpp).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "log/conversations.hpp"

namespace mrc::log {

/// Packets that show something.
struct Shown {
  uint64_t packets = 0;
  CapturedAt first, last;
  void add(const CapturedAt& at) {
    if (packets++ == 0) first = at;
    last = at;
  }
};

/// The values that packets have, a few of them.
template <class T>
class Votes {
 public:
  void add(T value, const CapturedAt& at = {}) {
    ++all_;
    auto known = std::ranges::find(kept_, value, &Vote::value);
    if (known == kept_.end()) {
      if (kept_.size() == kMost) return;
      known = kept_.insert(known, {value, {}});
    }
    known->shown.add(at);
  }
  uint64_t all() const { return all_; }
  /// What at least three quarters of them have.
  std::optional<T> most() const {
    for (const Vote& vote : kept_) {
      if (vote.shown.packets * 4 >= all_ * 3) return vote.value;
    }
    return {};
  }
  /// The one that comes first among the most frequent.
  std::optional<T> best() const {
    const auto at = std::ranges::max_element(kept_, {}, [](const Vote& vote) { return vote.shown.packets; });
    return at == kept_.end() ? std::nullopt : std::optional(at->value);
  }
  /// Packets that have it.
  Shown shown(T value) const {
    const auto at = std::ranges::find(kept_, value, &Vote::value);
    return at == kept_.end() ? Shown{} : at->shown;
  }

 private:
  static constexpr std::size_t kMost = 16;
  struct Vote {
    T value;
    Shown shown;
  };
  std::vector<Vote> kept_;
  uint64_t all_ = 0;
};

/// A number that goes up modulo 2^bits: the first one, and the highest that was seen.
struct Reached {
  uint32_t first = 0, highest = 0;
  Shown by;  ///< last: the packet with the highest one
  void add(uint32_t now, unsigned bits, const CapturedAt& at) {
    if (by.packets++ == 0) {
      first = highest = now;
      by.first = by.last = at;
    }
    const uint32_t half = 1u << (bits - 1), ahead = (now - highest) & (2 * half - 1);
    if (ahead == 0 || ahead >= half) return;
    highest = now;
    by.last = at;
  }
  std::string text() const { return fmt::format("{} to {}", first, highest); }
};

/// The largest number, and who has it.
struct Most {
  uint32_t value = 0;
  Shown by;
  void add(uint32_t now, const CapturedAt& at) {
    if (now > value) *this = {now, {}};
    if (now == value) by.add(at);
  }
};

}  // namespace mrc::log
