// SPDX-License-Identifier: Apache-2.0
// The list of a first run on boards at preset tiny: one board whose planes are cabled to each other, and two. Then with
// what goes wrong on a table: each time the list must stop at the step that says so, and its registers must tell why.
#include "tests/fpga/first_run/one_cable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "clone_paths.hpp"
#include "gen/csr.hpp"
#include "tests/fpga/first_run/bring_up.hpp"

namespace mrc::test::one_cable_test {
namespace {

const std::string kList = MRC_SOURCE_DIR "/fpga/bring_up/one_cable.list";
constexpr uint64_t kSourceAt = 0x100000, kTargetAt = 0x200000;
constexpr uint32_t kBytes = 0x10000;
/// Between two reads of a poll the list waits up to seconds; here its microseconds are so many cycles, and so many at
/// the most.
constexpr unsigned kCyclesOfUs = 100, kMostCycles = 40'000;

/// At preset tiny. 1 MiB at 80 Gb/s would be 104 858 cycles of 1 ns; the memory of the bench and two lanes do better.
std::map<std::string, uint32_t> tiny(uint32_t own, uint32_t peer) {
  return {{"OWN", own}, {"PEER", peer}, {"LINE", 32}, {"LINES", 2048}, {"RATE_CYCLES", 104'858}};
}

void wait(OneCable& site, uint32_t us) {
  site.run(static_cast<unsigned>(std::min<uint64_t>(uint64_t{us} * kCyclesOfUs, kMostCycles)));
}

BringUpResult bring_up(OneCable& site, unsigned boards, const BringUpList& list = read_bring_up(kList)) {
  std::vector<BringUpBoard> all;
  for (unsigned b = 0; b < boards; ++b) {
    all.push_back({&site.bus(b), boards == 1 ? tiny(1, 1) : tiny(b + 1, 2 - b)});
  }
  const BringUpResult result = run_bring_up(list, all, [&](uint32_t us) { wait(site, us); });
  for (const std::string& line : result.said) UNSCOPED_INFO(line);
  return result;
}

bool arrived(const OneCable& site, unsigned from, unsigned to, uint32_t bytes) {
  for (uint32_t b = 0; b < bytes; ++b) {
    if (site.memory_at(from, kSourceAt + b) != site.memory_at(to, kTargetAt + b)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("one cable: a board whose planes are cabled to each other goes from its ID to line rate",
          "[fpga][gen][top]") {
  OneCable site(1, 1);
  const BringUpResult result = bring_up(site, 1);
  CHECK(result.failed.empty());
  CHECK(arrived(site, 0, 0, kBytes));
  CHECK(result.shown.at("MRCB:0x10") == 0x20261126);
  CHECK(site.carried > 2048);
  CHECK(site.board(0).failed_assertion() == nullptr);
  // What it has shown at line rate is what the bench of the core says of the wire.
  CHECK(result.shown.at("MRCG:0x68") > 40'000);
}

TEST_CASE("two boards, plane to plane: each writes to the other", "[fpga][gen][top]") {
  OneCable site(2, 2);
  const BringUpResult result = bring_up(site, 2);
  CHECK(result.failed.empty());
  for (unsigned b = 0; b < 2; ++b) {
    CHECK(arrived(site, b, 1 - b, kBytes));
    CHECK(site.board(b).failed_assertion() == nullptr);
  }
}

TEST_CASE("one cable: a cable that is not there is seen as the list says", "[fpga][gen][top]") {
  OneCable site(1, 3);
  site.link_up = 1;
  const BringUpResult result = bring_up(site, 1);
  CHECK(result.failed == "both links are up");
  CHECK(result.looks.at("MRCL.0:0x14") == 1);
  CHECK(result.looks.at("MRCL.1:0x14") == 0);
}

TEST_CASE("one cable: a cable that carries nothing is seen as the list says", "[fpga][gen][top]") {
  OneCable site(1, 4);
  site.carries = [](unsigned, unsigned) { return false; };
  const BringUpResult result = bring_up(site, 1);
  CHECK(result.failed == "the first write");
  CHECK(result.looks.at("MRCL.0:0x54") + result.looks.at("MRCL.1:0x54") > 0);
  CHECK(result.looks.at("MRCL.0:0x40") + result.looks.at("MRCL.1:0x40") == 0);
  CHECK(result.looks.at("MRCN:0x1188") > 0);
  CHECK(result.looks.at("MRCN:0x1174") == 0);
}

TEST_CASE("one cable: a fibre that is broken one way is seen as the list says", "[fpga][gen][top]") {
  OneCable site(1, 5);
  site.carries = [](unsigned, unsigned plane) { return plane == 0; };
  const BringUpResult result = bring_up(site, 1);
  // The first write may still end, by the other plane; counters cannot agree.
  CHECK((result.failed == "the first write" || result.failed == "counters agree"));
  CHECK(result.looks.at("MRCL.0:0x40") == 0);
  CHECK(result.looks.at("MRCL.1:0x40") > 0);
}

TEST_CASE("one cable: a wrong key is seen as the list says", "[fpga][gen][top]") {
  OneCable site(1, 6);
  BringUpList list = read_bring_up(kList);
  // The generator has another key than the region.
  for (BringUpStep& step : list.steps) {
    for (Access& access : step.accesses) {
      if (access.at.text == "MRCG:0x30") access.value = "0x1235";
    }
  }
  const BringUpResult result = bring_up(site, 1, list);
  CHECK(result.failed == "the first write");
  CHECK(result.looks.at("MRCG:0x58") == 1);
  CHECK((result.looks.at("MRCG:0x5c") & 0xff) == 98);
  CHECK(result.looks.at("MRCN:0x1174") > 0);
  CHECK_FALSE(arrived(site, 0, 0, 32));
}

TEST_CASE("one cable: memory that fails is seen as the list says", "[fpga][gen][top]") {
  SECTION("reads of the source, from the beginning") {
    OneCable site(1, 7);
    site.board(0).memory.read_fails = [](uint64_t at) { return at / 0x1000 == kSourceAt / 0x1000; };
    const BringUpResult result = bring_up(site, 1);
    CHECK(result.failed == "memory keeps a pattern");
    CHECK(result.looks.at("MRCG:0x120") == 0x1000 / 32);
  }
  SECTION("a write of the pattern") {
    OneCable site(1, 8);
    site.board(0).memory.write_fails = [](uint64_t at) { return at == kSourceAt + 0x40; };
    const BringUpResult result = bring_up(site, 1);
    CHECK(result.failed == "memory keeps a pattern");
    CHECK(result.looks.at("MRCG:0x120") == 1);
  }
  SECTION("writes of the NIC alone") {
    OneCable site(1, 9);
    // The first one is the checker's.
    unsigned pieces = 0;
    site.board(0).memory.write_fails = [&pieces](uint64_t at) { return at == kTargetAt && ++pieces == 2; };
    const BringUpResult result = bring_up(site, 1);
    CHECK(result.failed == "the first write");
    CHECK(result.looks.at("MRCH:0x1c") == 1);
  }
}

TEST_CASE("one cable: more work requests than the core has places", "[fpga][gen][top]") {
  OneCable site(1, 10);
  BringUpList list = read_bring_up(kList);
  // Of one QP alone, 200 open, where the core takes 8.
  for (BringUpStep& step : list.steps) {
    for (Access& access : step.accesses) {
      if (step.name == "counters agree" && access.at.text == "MRCG:0x18") access.value = "1";
      if (step.name == "counters agree" && access.at.text == "MRCG:0x44") access.value = "200";
    }
  }
  const BringUpResult result = bring_up(site, 1, list);
  CHECK(result.failed.empty());
  CHECK(arrived(site, 0, 0, kBytes));
}

TEST_CASE("a core that is reset cuts a run, and a job goes on behind it", "[fpga][gen][top]") {
  OneCable site(1, 11);
  RegisterBus& bus = site.bus(0);
  REQUIRE(bring_up(site, 1).failed.empty());
  constexpr uint16_t kGen = 0x6000, kHold = 0x1010, kState = 0x1014;
  REQUIRE(bus.read(kGen) == 0x4d524347);
  site.carries = [](unsigned, unsigned) { return false; };
  bus.write(kGen + 0x14, 1);
  bus.write(kGen + 0x100, kSourceAt);
  bus.write(kGen + 0x10c, 1);
  bus.write(kGen + 0x110, 2);
  bus.write(kHold, 1);
  while ((bus.read(kState) & 3) != 0) site.run(10);
  CHECK(bus.read(kGen + 0x14) == 4);
  CHECK(bus.read(kGen + 0x64) == 0);
  site.run(2000);
  CHECK(bus.read(kGen + 0x110) == 2);
  CHECK_THROWS(bus.write(kGen + 0x14, 1));
  bus.write(kHold, 0);
  while (bus.read(kState) != 1) site.run(10);
  while (bus.read(kGen + 0x110) != 0) site.run(10);
  CHECK(bus.read(kGen + 0x114) == 0);
  CHECK(bus.read(kGen + 0x120) == 0);
  CHECK(site.board(0).failed_assertion() == nullptr);
}

TEST_CASE("the list wants the version of the register map, where the core answers first", "[fpga][gen]") {
  const BringUpList list = read_bring_up(kList);
  const std::string version = fmt::format("MRCN:0x1{:03x}", csr::kVersion);
  const auto step = std::ranges::find(list.steps, "the core runs", &BringUpStep::name);
  REQUIRE(step != list.steps.end());
  const auto access = std::ranges::find_if(step->accesses, [&](const Access& a) { return a.at.text == version; });
  REQUIRE(access != step->accesses.end());
  CHECK(access->kind == Access::Kind::Expect);
  CHECK(std::stoul(access->mask, nullptr, 0) == 0xffffffff);
  CHECK(std::stoul(access->value, nullptr, 0) == csr::kVersionReset);
}

TEST_CASE("the list's rows of queue pairs have the layout of the register map", "[fpga][gen]") {
  constexpr uint32_t kCore = 0x1000;
  const BringUpList list = read_bring_up(kList);
  const auto step = std::ranges::find(list.steps, "two queue pairs", &BringUpStep::name);
  REQUIRE(step != list.steps.end());
  std::array<uint32_t, csr::TblQpCtx::kWords> words{};
  unsigned rts = 0;
  for (const Access& access : step->accesses) {
    if (access.kind != Access::Kind::Write) continue;
    const uint32_t at = access.at.offset - kCore;
    const uint32_t value = access.value[0] == '$' ? list.constants.at(access.value.substr(1))
                                                  : static_cast<uint32_t>(std::stoul(access.value, nullptr, 0));
    if (at >= csr::kTblData0 && at < csr::kTblData0 + 4 * words.size()) words[(at - csr::kTblData0) / 4] = value;
    if (at != csr::kTblCmd || csr::TblQpCtx::unpack(words.data()).state != QpState::Rts) continue;
    csr::TblQpCtx row{.dmac = 0x0200'0000'0001,
                      .max_wimm_dest = 32,
                      .rq_psn = 0x100,
                      .max_wimm = 32,
                      .sq_psn = 0x100,
                      .timeout = 7,
                      .pkey = 0xffff,
                      .retry_linear = 7,
                      .dqpn = 17 - value,
                      .mpr_dest = 1,
                      .mpr = 1,
                      .trim_nack = true,
                      .mtu = 2,
                      .state = QpState::Rts};
    row.dip = csr::TblQpCtx::unpack(words.data()).dip;  // the peer's address: of constants
    std::array<uint32_t, csr::TblQpCtx::kWords> wanted{};
    row.pack(wanted.data());
    CHECK(value == rts++);
    CHECK(words == wanted);
  }
  CHECK(rts == 2);
}

TEST_CASE("a list that cannot be read says where and why", "[fpga][gen]") {
  const std::string path = MRC_BINARY_DIR "/bad.list";
  const std::map<std::string, std::string> bad{
      {"write MRCB:0x10 1\n", ":1: 'write' stands in no step"},
      {"step a\nwrote MRCB:0x10 1\n", ":2: 'wrote' is not known"},
      {"step a\nwrite MRCB:0x11 1\n", ":2: 'MRCB:0x11' is no register"},
      {"step a\nwrite MRCB.x:0x10 1\n", ":2: 'MRCB.x:0x10' is no register"},
      {"step a\nwrite MRCB:0x10 $X\n", ":2: '$X' is no number"},
      {"step a\nexpect MRCB:0x10 1\n", ":2: a word is missing"},
      {"step a\nwrite MRCB:0x10 1 2\n", ":2: a word too many"},
      {"step a\nwrite MRCB:0x10 0x100000000\n", ":2: '0x100000000' is no number"}};
  for (const auto& [text, error] : bad) {
    CAPTURE(text);
    std::ofstream(path) << text;
    try {
      read_bring_up(path);
      FAIL_CHECK("read");
    } catch (const std::runtime_error& e) {
      CHECK(std::string(e.what()) == path + error);
    }
  }
}

}  // namespace mrc::test::one_cable_test
