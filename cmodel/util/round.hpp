// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mrc {

/// The whole number nearest to x >= 0, halves up. x + 0.5 would be rounded itself: 0.49999999999999994 became 1.
constexpr uint64_t nearest(double x) {
  const auto whole = static_cast<uint64_t>(x);
  return x - static_cast<double>(whole) >= 0.5 ? whole + 1 : whole;
}
static_assert(nearest(0) == 0 && nearest(0.49999999999999994) == 0 && nearest(0.5) == 1 && nearest(2.5) == 3);
static_assert(nearest(4503599627370497) == 4503599627370497);  // 2^52 + 1

}  // namespace mrc
