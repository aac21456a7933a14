// SPDX-License-Identifier: Apache-2.0
// What memory fails is told to the core: mrc_fpga_fails with four QPs, and a core that takes reports when it likes.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <optional>

#include "Vmrc_fpga_fails.h"
#include "gen/streams.hpp"
#include "tests/fpga/unit.hpp"
#include "util/rng.hpp"

namespace mrc::test::fails_test {
namespace {

constexpr unsigned kQps = 4;

class Bench : public Unit<Vmrc_fpga_fails> {
 public:
  explicit Bench(uint64_t seed) : Unit("fails"), rng(seed, "fails") { reset(); }

  /// A cycle in which a read or a write of these QPs fails.
  void cycle(std::optional<unsigned> read = {}, std::optional<unsigned> write = {}) {
    auto& t = *top;
    t.rd_fail_i = read.has_value();
    t.rd_qp_i = static_cast<uint8_t>(read.value_or(rng.below(kQps)));
    t.wr_fail_i = write.has_value();
    t.wr_qp_i = static_cast<uint8_t>(write.value_or(rng.below(kQps)));
    t.host_fail_ready_i = rng.chance(takes);
    settle();
    if (held_) REQUIRE((t.host_fail_valid_o && t.host_fail_o == *held_));
    held_.reset();
    if (t.host_fail_valid_o) offer();
    // What fails in this cycle is on offer in the next but one, at the earliest.
    for (const auto& [qp, reason] : before_) {
      if (qp && !owed[*qp]) owed[*qp] = reason;
    }
    before_ = {std::pair{write, CqStatus::HostWrite}, {read, CqStatus::HostRead}};
    edge();
  }
  void run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) cycle();
  }

  Rng rng;
  double takes = 1.0;
  std::array<std::optional<CqStatus>, kQps> owed;  ///< what is to be told of each QP
  std::array<unsigned, kQps> reported{};
  unsigned reads = 0, writes = 0;  ///< reports by their reason
  unsigned longest = 0;            ///< reports of others taken while a QP waited

 private:
  void offer() {
    const uint32_t bits = top->host_fail_o;
    const Qperr report = Qperr::unpack(&bits);
    REQUIRE(report.qp < kQps);
    if (fresh_) {
      REQUIRE(owed[report.qp]);
      REQUIRE(report.status == *owed[report.qp]);
      owed[report.qp].reset();
      passed_[report.qp] = 0;
    }
    fresh_ = top->host_fail_ready_i != 0;
    if (!fresh_) {
      held_ = bits;
      return;
    }
    ++reported[report.qp];
    ++(report.status == CqStatus::HostRead ? reads : writes);
    for (unsigned qp = 0; qp < kQps; ++qp) {
      if (owed[qp]) longest = std::max(longest, ++passed_[qp]);
    }
  }

  std::array<std::pair<std::optional<unsigned>, CqStatus>, 2> before_{};
  std::array<unsigned, kQps> passed_{};
  std::optional<uint32_t> held_;
  bool fresh_ = true;
};

}  // namespace

TEST_CASE("reads and writes that fail together are told to the core, of every QP", "[fpga][host]") {
  // All of them, while the core takes none: one of each waits, the first.
  Bench bench(1);
  bench.takes = 0.0;
  for (unsigned qp = 0; qp < kQps; ++qp) bench.cycle(qp, (qp + 1) % kQps);
  for (unsigned i = 0; i < 100; ++i) bench.cycle(i % kQps, i * 3 % kQps);
  bench.takes = 1.0;
  bench.run(20);
  for (unsigned qp = 0; qp < kQps; ++qp) {
    CAPTURE(qp);
    CHECK(bench.reported[qp] >= 1);
    CHECK(bench.reported[qp] <= 2);  // one was on offer, and has failed again since
  }
  CHECK(bench.reads + bench.writes <= kQps + 1);
  CHECK(failed_assertions() == std::vector<std::string>{});

  unsigned reads = 0, writes = 0, longest = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    Bench random(seed);
    random.takes = seed % 2 == 0 ? 1.0 : 0.3;
    const double fails = seed % 4 < 2 ? 0.9 : 0.05;
    const auto one = [&] {
      return random.rng.chance(fails) ? std::optional(static_cast<unsigned>(random.rng.below(kQps))) : std::nullopt;
    };
    for (unsigned i = 0; i < 4000; ++i) {
      const auto read = one();
      random.cycle(read, one());
    }
    random.takes = 1.0;
    random.run(20);
    for (unsigned qp = 0; qp < kQps; ++qp) {
      CHECK_FALSE(random.owed[qp]);
      CHECK(random.reported[qp] > 50);
    }
    reads += random.reads;
    writes += random.writes;
    longest = std::max(longest, random.longest);
  }
  CHECK(reads > 2000);
  CHECK(writes > 2000);
  CHECK(longest <= kQps);
  CHECK(longest >= kQps - 1);
}

}  // namespace mrc::test::fails_test
