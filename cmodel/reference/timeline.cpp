// SPDX-License-Identifier: Apache-2.0
#include "reference/timeline.hpp"

#include <algorithm>

namespace mrc::ref {

/// Stretches become twice as long.
void Timeline::coarser() {
  ++shift_;
  std::vector<Counts> half;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const std::size_t at = ((first_ + i) >> 1) - (first_ >> 1);
    if (at == half.size()) half.emplace_back();
    for (std::size_t kind = 0; kind < kKinds; ++kind) half[at][kind] += counts_[i][kind];
  }
  counts_ = std::move(half);
  first_ >>= 1;
}

void Timeline::add(const Counts& counts, uint64_t stretch) {
  if (counts_.empty()) first_ = stretch;
  while (std::max(stretch, first_ + counts_.size() - !counts_.empty()) - std::min(stretch, first_) >= kMost) {
    coarser();
    stretch >>= 1;
  }
  if (stretch < first_) {
    counts_.insert(counts_.begin(), first_ - stretch, {});
    first_ = stretch;
  }
  if (stretch - first_ >= counts_.size()) counts_.resize(stretch - first_ + 1);
  for (std::size_t kind = 0; kind < kKinds; ++kind) counts_[stretch - first_][kind] += counts[kind];
}

void Timeline::add(const Timeline& other, std::initializer_list<Kind> kinds) {
  for (std::size_t i = 0; i < other.counts_.size(); ++i) {
    Counts some{};
    for (const Kind kind : kinds) some[kind] = other.counts_[i][kind];
    if (std::ranges::all_of(some, [](uint64_t n) { return n == 0; })) continue;
    while (shift_ < other.shift_) coarser();
    add(some, (other.first_ + i) >> (shift_ - other.shift_));
  }
}

}  // namespace mrc::ref
