// SPDX-License-Identifier: Apache-2.0
#include "tests/rtl/unit.hpp"

#include "tests/fpga/hooks.hpp"

namespace mrc {

uint64_t corner(Rng& rng, unsigned bits) {
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  switch (rng.below(8)) {
    case 0:
      return rng.below(4) & mask;
    case 1:
      return mask - (rng.below(4) & mask);
    case 2:
      return uint64_t{1} << rng.below(bits);
    case 3:
      return (mask >> rng.below(bits)) & mask;
    case 4:
      return (rng.next() & mask) >> rng.below(bits);
    default:
      return rng.next() & mask;
  }
}

Unit::Unit() {
  top_ = std::make_unique<Vunit_top>(&context_, "unit_top");
  top_->rst_ni = 0;
  settle();  // an edge needs a level before it
  clock();
  top_->rst_ni = 1;
  clock();
  failed();
}
Unit::~Unit() {
  Verilated::threadContextp(&context_);  // it is where the model takes itself off a list
  top_->final();
}

std::vector<std::string> Unit::failed() {
  std::vector<std::string> names = failed_assertions();
  for (std::string& text : names) {
    const auto place = text.find("Assertion failed in ");
    const auto end = text.find(": ", place);
    const auto dot = text.rfind('.', end);
    if (place != text.npos) text = text.substr(dot + 1, end - dot - 1);
  }
  return names;
}

}  // namespace mrc
