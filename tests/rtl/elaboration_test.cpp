// SPDX-License-Identifier: Apache-2.0
// Parameters that a module of the RTL refuses when it is elaborated, with its sentence; and the last ones that it
// takes.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdio>
#include <string>

#include "clone_paths.hpp"

namespace mrc::test::elaboration_test {

using Catch::Matchers::ContainsSubstring;

namespace {

struct Elaboration {
  bool taken;
  std::string said;
};

/// A module of rtl/mrc_nic.f with its defaults, but for these parameters.
Elaboration elaborate(const std::string& module, const std::string& parameters) {
  const std::string command = "cd \"" MRC_SOURCE_DIR "\" && \"" MRC_VERILATOR "\" --lint-only -Wno-lint --top-module " +
                              module + " " + parameters + " -f rtl/mrc_nic.f 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Elaboration e;
  std::array<char, 4096> text{};
  for (std::size_t n = 0; (n = std::fread(text.data(), 1, text.size(), pipe)) != 0;) e.said.append(text.data(), n);
  e.taken = ::pclose(pipe) == 0;
  return e;
}

void refused(const std::string& module, const std::string& parameters, const std::string& words) {
  INFO(module << " " << parameters);
  const Elaboration e = elaborate(module, parameters);
  CHECK_FALSE(e.taken);
  CHECK_THAT(e.said, ContainsSubstring(words));
}

void taken(const std::string& module, const std::string& parameters) {
  const Elaboration e = elaborate(module, parameters);
  INFO(module << " " << parameters << ": " << e.said);
  CHECK(e.taken);
}

}  // namespace

TEST_CASE("rx_reorder with 8 entries for immediates or fewer is refused", "[rtl][elaboration]") {
  refused("mrc_rx_reorder", "-GNumImms=8", "NumImms = 8, must be more than 8");
  taken("mrc_rx_reorder", "-GNumImms=9");
}

TEST_CASE("a NIC whose counters of done packets could come round is refused", "[rtl][elaboration]") {
  const std::string rest = " -GRxBufWords=2048 -GPortBytes=16";
  refused("mrc_nic", "-GHostBytes=32" + rest, "RxBufWords = 2048, too many: DoneAhead = 20");
  taken("mrc_nic", "-GHostBytes=64" + rest);
}

TEST_CASE("ticks that cannot be counted are refused", "[rtl][elaboration]") {
  refused("mrc_tick", "-GCycles=8 -GParts=0", "Parts = 0, must be 1 to Cycles = 8");
  refused("mrc_tick", "-GCycles=8 -GParts=9", "Parts = 9, must be 1 to Cycles = 8");
  refused("mrc_nic", "-GTickCycles=32 -GTickParts=33", "TickParts = 33 in TickCycles = 32");
  refused("mrc_nic", "-GTickCycles=4097", "TickCycles = 4097, must be 1 to TickCycles in at most 4096");
  taken("mrc_nic", "-GTickCycles=4096 -GTickParts=4096");
  taken("mrc_nic", "-GTickCycles=165 -GTickParts=4");
}

TEST_CASE("a NIC has 131072 QPs, 4096 regions and 4096 destinations at most", "[rtl][elaboration]") {
  const std::string pools = " -GNumWqes=262144 -GNumBlocks=262144";
  refused("mrc_nic", "-GNumQps=262144" + pools, "NumQps = 262144, must be a power of two, 2 to 131072");
  refused("mrc_nic", "-GNumMrs=8192", "NumMrs = 8192, must be a power of two, 2 to 4096");
  refused("mrc_nic", "-GNumDests=8192", "NumDests = 8192, must be a power of two, 2 to 4096");
  refused("mrc_nic", "-GNumQps=8192 -GNumWqes=262145 -GNumBlocks=8193",
          "NumWqes = 262145, must be more than NumQps, 262144");
  refused("mrc_nic", "-GNumQps=8192 -GNumWqes=8193 -GNumBlocks=262145",
          "NumBlocks = 262145, must be more than NumQps, 262144");
  taken("mrc_nic", "-GNumQps=131072 -GNumMrs=4096 -GNumDests=4096" + pools);
}

TEST_CASE("tx_probe with more than 64 slots is refused", "[rtl][elaboration]") {
  refused("mrc_tx_probe", "-GProbeSlots=128", "ProbeSlots must be a power of two, 2 to 64");
  taken("mrc_tx_probe", "-GProbeSlots=64");
}

}  // namespace mrc::test::elaboration_test
