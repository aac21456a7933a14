// SPDX-License-Identifier: Apache-2.0
#include "pipeline/lib/tick.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <vector>

namespace mrc::test::tick_test {
namespace {

Preset preset_of(unsigned cycles, unsigned parts) {
  Preset preset = *find_preset("tiny");
  preset.tick_cycles = cycles;
  preset.tick_parts = parts;
  return preset;
}

/// The cycles, counted from 1, that end with a tick.
std::vector<unsigned> ticks_of(unsigned cycles, unsigned parts, unsigned count) {
  Ticks ticks(preset_of(cycles, parts));
  std::vector<unsigned> at;
  for (unsigned i = 1; i <= count; ++i) {
    if (ticks.cycle()) at.push_back(i);
  }
  return at;
}

}  // namespace

TEST_CASE("ticks of every fraction of a cycle come when they are due", "[pipeline][ticks]") {
  // 322.265625 MHz: 41.25 cycles each, so the ends are 41.25, 82.5, 123.75, 165, and a cycle that is not over waits.
  CHECK(ticks_of(165, 4, 330) == std::vector<unsigned>{42, 83, 124, 165, 207, 248, 289, 330});
  CHECK(ticks_of(128, 1, 400) == std::vector<unsigned>{128, 256, 384});
  CHECK(ticks_of(7, 3, 14) == std::vector<unsigned>{3, 5, 7, 10, 12, 14});
  CHECK(ticks_of(5, 5, 4) == std::vector<unsigned>{1, 2, 3, 4});
  CHECK(ticks_of(1, 1, 3) == std::vector<unsigned>{1, 2, 3});
  for (unsigned cycles : {1u, 2u, 3u, 41u, 165u, 4095u, 4096u}) {
    for (unsigned parts : {1u, 2u, 4u, 17u, 4095u, 4096u}) {
      if (parts > cycles) continue;
      Ticks ticks(preset_of(cycles, parts));
      uint64_t seen = 0;
      for (uint64_t n = 1; n <= 20'000; ++n) {
        seen += ticks.cycle() ? 1 : 0;
        if (seen != n * parts / cycles) FAIL(cycles << " cycles, " << parts << " parts, cycle " << n);
      }
    }
  }
}

}  // namespace mrc::test::tick_test
