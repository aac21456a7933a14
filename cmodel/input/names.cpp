// SPDX-License-Identifier: Apache-2.0
#include "input/names.hpp"

#include <algorithm>
#include <vector>

namespace mrc::input {
namespace {

/// Letters changed, missing, added, or exchanged with their neighbour.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  constexpr size_t kLongest = 64;
  if (word.empty() || word.size() > kLongest) return {};
  std::string_view best;
  size_t least = std::max<size_t>(1, (word.size() + 1) / 3) + 1;
  for (const std::string_view name : known) {
    if (const size_t d = distance(word, name); d < least && d < name.size()) {
      least = d;
      best = name;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view name = nearest(word, known);
  return name.empty() ? "." : "; did you mean " + std::string(name) + "?";
}

}  // namespace mrc::input
