// SPDX-License-Identifier: Apache-2.0
#include "cover/bins.hpp"

namespace mrc::cover {

std::string Bins::to_text() const {
  std::string text = std::string(kTable) + ':';
  for (std::size_t bin = 0; bin < kNumBins; bin += 4) {
    unsigned digit = 0;
    for (std::size_t i = 0; i < 4 && bin + i < kNumBins; ++i) digit |= static_cast<unsigned>(has(bin + i)) << i;
    text += "0123456789abcdef"[digit];
  }
  return text;
}

}  // namespace mrc::cover
