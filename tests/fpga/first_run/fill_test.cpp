// SPDX-License-Identifier: Apache-2.0
// mrc_fpga_fill with words of 32 bytes, four of them under way and counters of six bits, between software and a memory
// that is slow, forgets bytes, or fails.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "Vmrc_fpga_fill.h"
#include "tests/fpga/unit.hpp"
#include "util/rng.hpp"

namespace mrc::test::fill_test {
namespace {

constexpr unsigned kBytes = 32, kWrap = 64;
constexpr unsigned kAddrLo = 0x100, kAddrHi = 0x104, kWords = 0x108, kSeed = 0x10c, kJob = 0x110, kBad = 0x114,
                   kBadLo = 0x118, kBadHi = 0x11c, kErrors = 0x120, kStrays = 0x124;
using Word = std::array<uint8_t, kBytes>;

/// As docs/design/boards/first_run.md has it.
Word pattern(uint32_t seed, uint32_t n) {
  Word word;
  for (uint32_t i = 0; i < kBytes / 8; ++i) {
    uint64_t x = uint64_t{seed} << 32 | static_cast<uint32_t>(n * (kBytes / 8) + i);
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    std::memcpy(&word[8 * i], &x, 8);
  }
  return word;
}

class Bench : public RegisterUnit<Bench, Vmrc_fpga_fill> {
 public:
  explicit Bench(uint64_t seed) : RegisterUnit("fill"), rng(seed, "fill") {
    top->run_i = 1;
    reset();
  }

  void begin(uint64_t at, uint32_t words, uint32_t seed, uint32_t job) {
    REQUIRE(write(kAddrLo, static_cast<uint32_t>(at)));
    REQUIRE(write(kAddrHi, static_cast<uint32_t>(at >> 32)));
    REQUIRE(write(kWords, words));
    REQUIRE(write(kSeed, seed));
    REQUIRE(write(kJob, job));
  }
  void job(uint64_t at, uint32_t words, uint32_t seed, uint32_t what) {
    begin(at, words, seed, what);
    for (unsigned i = 0; read(kJob) != 0; ++i) {
      REQUIRE(i < 20'000);
      cycle();
    }
    CHECK(top->idle_o);
  }

  void cycle() {
    auto& t = *top;
    t.m_axi_awready_i = rng.chance(takes);
    t.m_axi_wready_i = rng.chance(takes);
    t.m_axi_arready_i = rng.chance(takes);
    t.m_axi_bvalid_i = stray_b || (!aws_.empty() && !ws_.empty() && rng.chance(gives));
    t.m_axi_bresp_i = static_cast<uint8_t>(!stray_b && t.m_axi_bvalid_i && fails(aws_.front()) ? 2 : 0);
    t.m_axi_rvalid_i = stray_r || (!ars_.empty() && rng.chance(gives));
    if (t.m_axi_rvalid_i && !stray_r) {
      const Word word = memory.contains(ars_.front()) ? memory[ars_.front()] : Word{};
      std::memcpy(&t.m_axi_rdata_i[0], word.data(), kBytes);
      t.m_axi_rresp_i = static_cast<uint8_t>(fails(ars_.front()) ? 3 : 0);
    }
    settle();
    REQUIRE(t.m_axi_bready_o);
    REQUIRE(t.m_axi_rready_o);
    open = aws_.size() + ars_.size();
    most = std::max(most, open);
    if (t.m_axi_bvalid_i && !stray_b) {
      if (t.m_axi_bresp_i == 0) memory[aws_.front()] = ws_.front();
      aws_.pop_front();
      ws_.pop_front();
    }
    if (t.m_axi_rvalid_i && !stray_r) ars_.pop_front();
    if (t.m_axi_awvalid_o && t.m_axi_awready_i) aws_.push_back(t.m_axi_awaddr_o);
    if (t.m_axi_arvalid_o && t.m_axi_arready_i) ars_.push_back(t.m_axi_araddr_o);
    if (t.m_axi_wvalid_o && t.m_axi_wready_i) {
      Word word;
      std::memcpy(word.data(), &t.m_axi_wdata_o[0], kBytes);
      ws_.push_back(word);
    }
    edge();
    stray_b = stray_r = false;
  }
  void run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) cycle();
  }

  Rng rng;
  double takes = 1.0, gives = 1.0;
  std::map<uint64_t, Word> memory;
  std::function<bool(uint64_t)> fails = [](uint64_t) { return false; };
  bool stray_b = false, stray_r = false;
  std::size_t open = 0, most = 0;

 private:
  std::deque<uint64_t> aws_, ars_;
  std::deque<Word> ws_;
};

}  // namespace

TEST_CASE("a piece is filled and checked word by word", "[fpga][gen]") {
  std::size_t most = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Bench bench(seed);
    bench.takes = 0.3 + 0.1 * static_cast<double>(seed % 8);
    bench.gives = 0.2 + 0.2 * static_cast<double>(seed % 5);
    const uint32_t words = seed == 1 ? 0 : seed == 2 ? 1 : static_cast<uint32_t>(bench.rng.between(2, 60));
    // The last one goes over the end of the address space.
    const uint64_t at = seed == 12 ? 0 - uint64_t{2 * kBytes} : 0x40ffffffe0 + 0x1000 * seed;
    const auto word = [&](uint32_t n) { return (at & ~uint64_t{kBytes - 1}) + uint64_t{kBytes} * n; };
    bench.job(at, words, 7, 1);
    CHECK(bench.memory.size() == words);
    for (uint32_t n = 0; n < words; ++n) CHECK(bench.memory.at(word(n)) == pattern(7, n));
    CHECK(bench.read(kErrors) == 0);
    bench.job(at, words, 7, 2);
    CHECK(bench.read(kBad) == 0);
    CHECK(bench.read(kErrors) == 0);
    CHECK(bench.most <= 4);
    most = std::max(most, bench.most);
    // Another seed: no word is right.
    bench.job(at, words, 8, 2);
    CHECK(bench.read(kBad) == words % kWrap);
    if (words < 2) continue;
    // One bit in one word, and two words that have changed their places.
    const auto one = static_cast<uint32_t>(bench.rng.below(words));
    bench.memory[word(one)][bench.rng.below(kBytes)] ^= static_cast<uint8_t>(1u << bench.rng.below(8));
    bench.job(at, words, 7, 2);
    CHECK(bench.read(kBad) == 1);
    CHECK((uint64_t{bench.read(kBadHi)} << 32 | bench.read(kBadLo)) == word(one));
    bench.memory[word(one)] = pattern(7, one);
    std::swap(bench.memory[word(0)], bench.memory[word(words - 1)]);
    bench.job(at, words, 7, 2);
    CHECK(bench.read(kBad) == 2);
    CHECK((uint64_t{bench.read(kBadHi)} << 32 | bench.read(kBadLo)) == word(0));
  }
  CHECK(most == 4);
}

TEST_CASE("errors and strays of memory are counted by the checker, and wrap around", "[fpga][gen]") {
  Bench bench(20);
  bench.fails = [](uint64_t at) { return at == 0x20 || at == 0x60; };
  bench.job(0, 10, 1, 1);
  CHECK(bench.read(kErrors) == 2);
  bench.fails = [](uint64_t at) { return at == 0x40; };
  bench.job(0, 10, 1, 2);
  CHECK(bench.read(kErrors) == 1);
  CHECK(bench.read(kBad) == 2);  // those whose write had failed
  bench.fails = [](uint64_t) { return true; };
  bench.job(0, 70, 1, 2);
  CHECK(bench.read(kErrors) == 70 - kWrap);
  CHECK(bench.read(kBad) == 0);
  for (unsigned i = 0; i < kWrap + 3; ++i) {
    bench.stray_b = i % 2 == 0;
    bench.stray_r = !bench.stray_b;
    bench.cycle();
  }
  CHECK(bench.read(kStrays) == 3);
  bench.stray_b = bench.stray_r = true;
  bench.cycle();
  CHECK(bench.read(kStrays) == 5);
  CHECK(bench.read(kJob) == 0);
}

TEST_CASE("a job waits while it is held, and memory is awaited", "[fpga][gen]") {
  Bench bench(21);
  bench.gives = 0.0;
  bench.begin(0x1000, 20, 3, 1);
  bench.run(20);
  bench.top->run_i = 0;
  bench.run(20);
  CHECK_FALSE(bench.top->idle_o);
  bench.gives = 1.0;
  bench.run(20);
  CHECK(bench.top->idle_o);
  CHECK(bench.read(kJob) == 1);
  const std::size_t before = bench.memory.size();
  CHECK(before == 4);
  bench.run(20);
  CHECK(bench.memory.size() == before);
  bench.top->run_i = 1;
  bench.run(40);
  CHECK(bench.read(kJob) == 0);
  CHECK(bench.memory.size() == 20);
}

TEST_CASE("every word of the checker's registers is as the contract says", "[fpga][gen]") {
  Bench bench(22);
  const std::map<unsigned, uint32_t> rw{{kAddrLo, ~(kBytes - 1)}, {kAddrHi, ~0u}, {kWords, ~0u}, {kSeed, ~0u}};
  for (unsigned at = 0x10; at < 0x1000; at += 4) {
    CAPTURE(at);
    CHECK(bench.write(at, ~0u) == rw.contains(at));
    CHECK(bench.try_read(at).has_value() == (at >= kAddrLo && at <= kStrays));
    for (unsigned strobes = 0; strobes < 15; ++strobes) REQUIRE_FALSE(bench.write(at, 1, strobes));
  }
  for (const auto& [at, mask] : rw) CHECK(bench.read(at) == mask);
  for (const auto& [at, mask] : rw) CHECK(bench.write(at, at * 0x01000193));
  for (const auto& [at, mask] : rw) CHECK(bench.read(at) == (at * 0x01000193 & mask));
  CHECK_FALSE(bench.write(kJob, 0));
  CHECK_FALSE(bench.write(kJob, 3));
  bench.gives = 0.0;
  CHECK(bench.write(kJob, 2));
  for (const auto& [at, mask] : rw) CHECK_FALSE(bench.write(at, 1));
  CHECK_FALSE(bench.write(kJob, 1));
}

}  // namespace mrc::test::fill_test
