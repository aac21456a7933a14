// SPDX-License-Identifier: Apache-2.0
// Writer and gate of skin A: packets of two planes become bursts into a memory that is slow, stalls, and fails. A byte
// is in memory when its burst is acknowledged, not before. Each completion that leaves is held against that.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Vmrc_fpga_host.h"
#include "tests/fpga/hooks.hpp"
#include "tests/fpga/host_core.hpp"

namespace mrc::test::host_test {
namespace {

/// Words of MRCH (docs/design/boards/axil.md), from the first behind its header on.
enum class Word : uint8_t { QpFailed, WrTaken, WrDone, WrFailed, RdTaken, RdDone, RdFailed, Strays };

constexpr unsigned kDepth = 4, kMaxOpen = 8, kMaxBeats = 16;
constexpr unsigned kWaitCycles = 40, kCountWrap = 64, kRun = 1, kDrain = 2, kLate = 4;  // bits of CORE_STATE

/// A burst in the memory.
struct Burst {
  uint64_t address = 0;
  unsigned beats = 0;
  std::vector<std::pair<uint64_t, uint8_t>> bytes;
  unsigned came = 0;
};

class Bench final : public HostCore<Vmrc_fpga_host> {
 public:
  explicit Bench(uint64_t seed) : HostCore(seed, "host") {
    top->idle_i = 1;
    while (!top->core_rst_no) cycle();
    failed_assertions();
  }

  /// Software writes CORE_HOLD. A core that is held has forgotten what it had to offer.
  void hold(bool on) {
    top->hold_we_i = 1;
    top->hold_i = on;
    cycle();
    top->hold_we_i = 0;
    if (on) forget();
  }
  uint32_t word(Word word) const { return top->regs_o[static_cast<unsigned>(word)]; }
  bool idle() const { return waiting() == 0 && bursts_.empty() && aws_.empty(); }

  double takes = 1.0, answers = 1.0, fails = 0.0;
  bool answers_stand = false;
  uint64_t bursts = 0, beats = 0, bytes = 0, errors = 0, longest = 0;
  bool stray = false;

 private:
  void drive_shell() override {
    auto& t = *top;
    t.m_axi_awready_i = rng.chance(takes);
    t.m_axi_wready_i = rng.chance(takes);
    if (!b_offered_)
      b_offered_ =
          !answers_stand && !bursts_.empty() && bursts_.front().came == bursts_.front().beats && rng.chance(answers);
    if (b_offered_ && !b_resp_) b_resp_ = rng.chance(fails) ? 2 + rng.below(2) : rng.below(2);
    t.m_axi_bvalid_i = b_offered_ || stray;
    t.m_axi_bresp_i = static_cast<uint8_t>(b_resp_.value_or(0));
  }

  void sample_shell() override {
    auto& t = *top;
    if (t.state_o == 0) forget_inside();
    // What is offered stays, and a burst keeps the rules of AXI4.
    std::array<uint64_t, 2> aw{t.m_axi_awaddr_o, t.m_axi_awlen_o};
    if (held_aw_) REQUIRE((t.m_axi_awvalid_o && aw == *held_aw_));
    held_aw_.reset();
    std::array<uint8_t, 129> w{};
    std::memcpy(w.data(), &t.m_axi_wdata_o[0], 64);
    std::memcpy(w.data() + 64, &t.m_axi_wstrb_o, 8);
    w[128] = t.m_axi_wlast_o;
    if (held_w_) REQUIRE((t.m_axi_wvalid_o && w == *held_w_));
    held_w_.reset();
    if (t.m_axi_bvalid_i && b_offered_) answer();
    if (t.m_axi_awvalid_o) {
      if (!t.m_axi_awready_i) {
        held_aw_ = aw;
      } else {
        const unsigned n = t.m_axi_awlen_o + 1u;
        REQUIRE(t.m_axi_awaddr_o % kHostLine == 0);
        REQUIRE(n <= kMaxBeats);
        REQUIRE(t.m_axi_awaddr_o / 4096 == (t.m_axi_awaddr_o + n * kHostLine - 1) / 4096);
        REQUIRE((t.m_axi_awsize_o == 6 && t.m_axi_awburst_o == 1 && t.m_axi_awid_o == 0));
        aws_.push_back({t.m_axi_awaddr_o, n, {}, 0});
        ++bursts;
        longest = std::max<uint64_t>(longest, n);
      }
    }
    if (t.m_axi_wvalid_o) {
      if (!t.m_axi_wready_i) {
        held_w_ = w;
      } else {
        ws_.push_back(w);
        ++beats;
      }
    }
    // Beats may come before the address of their burst.
    while (!ws_.empty() && (!aws_.empty() || (!bursts_.empty() && bursts_.back().came < bursts_.back().beats))) {
      if (bursts_.empty() || bursts_.back().came == bursts_.back().beats) {
        bursts_.push_back(aws_.front());
        aws_.pop_front();
      }
      Burst& burst = bursts_.back();
      const auto& beat = ws_.front();
      for (unsigned i = 0; i < kHostLine; ++i) {
        if ((beat[64 + i / 8] >> i % 8 & 1) != 0)
          burst.bytes.emplace_back(burst.address + burst.came * kHostLine + i, beat[i]);
      }
      ++burst.came;
      REQUIRE(beat[128] == (burst.came == burst.beats));
      ws_.pop_front();
    }
  }

  /// The oldest burst is acknowledged: its bytes are in memory, or it has failed.
  void answer() {
    const Burst burst = bursts_.front();
    bursts_.pop_front();
    REQUIRE(!burst.bytes.empty());
    for (const auto& [address, byte] : burst.bytes) {
      check(address, &byte, 1);
      write(address, 1);
    }
    bytes += burst.bytes.size();
    if (*b_resp_ >= 2) {
      failed[packet_at(burst.bytes.front().first).qp] = true;
      ++errors;
    }
    b_offered_ = false;
    b_resp_.reset();
  }

  std::deque<Burst> aws_, bursts_;
  std::deque<std::array<uint8_t, 129>> ws_;
  std::optional<std::array<uint64_t, 2>> held_aw_;
  std::optional<std::array<uint8_t, 129>> held_w_;
  std::optional<uint64_t> b_resp_;
  bool b_offered_ = false;
};

}  // namespace

TEST_CASE("packets are written byte by byte where they belong, whatever the memory does", "[fpga][host]") {
  uint64_t bursts = 0, longest = 0, completions = 0;
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    CAPTURE(seed);
    Bench bench(seed);
    bench.offers = seed % 2 == 0 ? 1.0 : 0.6;
    bench.takes = seed % 3 == 0 ? 1.0 : 0.5;
    bench.answers = seed % 4 == 0 ? 1.0 : 0.1;
    bench.host = seed % 5 == 0 ? 0.05 : 0.8;
    const std::size_t most = seed % 4 == 1 ? 4096 : 700;
    uint64_t seen = 0;
    unsigned sent = 0;
    for (unsigned i = 0; i < 8000; ++i) {
      if (bench.waiting() < 4) bench.send_any(most);
      // Completions of packets that were taken, and some that wait for none.
      for (; seen < bench.taken; ++seen) {
        if (bench.cqes.size() < 6 && bench.rng.chance(0.4)) bench.complete(bench.rng.chance(0.7), 1, sent++);
      }
      bench.cycle();
    }
    bench.takes = bench.answers = bench.host = bench.offers = 1.0;
    bench.run(3000);
    REQUIRE(bench.idle());
    bench.require_written();
    CHECK(bench.unwritten == 0);
    CHECK(bench.left.size() == sent);
    for (unsigned i = 0; i < sent; ++i) REQUIRE(bench.left[i].wr_id == i);
    CHECK(bench.word(Word::Strays) == 0);
    CHECK(bench.taken > kCountWrap);
    CHECK(bench.word(Word::WrTaken) == bench.taken % kCountWrap);
    CHECK(bench.word(Word::WrDone) == bench.taken % kCountWrap);
    CHECK(failed_assertions() == std::vector<std::string>{});
    bursts += bench.bursts;
    longest = std::max(longest, bench.longest);
    completions += sent;
  }
  CHECK(bursts > 2000);
  CHECK(longest == kMaxBeats);
  CHECK(completions > 400);
}

TEST_CASE("packets without odd ends are written at a line per cycle", "[fpga][host]") {
  Bench bench(3);
  for (unsigned i = 0; i < 200; ++i) bench.send(i % 2, 0, 1024, 0x1000 + 1024 * i);
  bench.run(200 * 16 + 20);
  CHECK(bench.taken == 200);
  CHECK(bench.bursts >= 199);
  CHECK(bench.beats >= 199 * 16);
}

TEST_CASE("completions wait for their packets, and for nothing else", "[fpga][host]") {
  Bench bench(4);
  bench.complete(true, 0, 0);
  bench.run(4);
  CHECK(bench.left.size() == 1);  // nothing before it
  // A memory that takes everything and acknowledges nothing.
  bench.answers_stand = true;
  for (unsigned i = 0; i < 20; ++i) bench.send(i % 2, i % kHostQps, 200, 0x10000 + 333 * i);
  bench.run(20);
  CHECK(bench.taken > 0);
  bench.complete(false, 0, 1);
  bench.run(4);
  CHECK(bench.left.size() == 2);
  for (unsigned i = 2; i < 10; ++i) bench.complete(i % 2 == 0, 0, i);
  bench.run(400);
  CHECK(bench.left.size() == 2);
  CHECK(bench.cqes.size() == 8 - kDepth);
  CHECK(bench.taken == kMaxOpen);  // no more last lines are taken
  bench.answers_stand = false;
  bench.run(400);
  CHECK(bench.left.size() == 10);
  CHECK(bench.taken == 20);
  CHECK(bench.idle());
  // A host that takes nothing: writes go on, and more packets are done than counters count.
  bench.host = 0.0;
  for (unsigned i = 10; i < 20; ++i) bench.complete(true, 1, i);
  for (unsigned i = 0; i < 100; ++i) bench.send(i % 2, i % kHostQps, 100, 0x20000 + 150 * i);
  bench.run(2000);
  CHECK(bench.taken == 120);
  CHECK(bench.left.size() == 10);
  bench.host = 1.0;
  bench.run(100);
  CHECK(bench.left.size() == 20);
}

TEST_CASE("a completion behind a failed write says so, until its QP is cleared", "[fpga][host]") {
  Bench bench(5);
  bench.send(0, 2, 300, 0x10001);
  bench.fails = 1.0;
  bench.run(60);
  CHECK(bench.word(Word::QpFailed) == 4);
  bench.fails = 0.0;
  bench.send(1, 2, 300, 0x20001);
  bench.complete_failed(2);
  bench.top->clear_i = 4;
  bench.run(1);
  bench.top->clear_i = 0;
  CHECK(bench.word(Word::QpFailed) == 0);
  bench.complete(true, 2, 4);
  bench.run(10);
  REQUIRE(bench.left.size() == 5);
  CHECK(static_cast<unsigned>(bench.left[4].status) == kStatusOk);

  // At random: whose write failed before its completion left is told.
  uint64_t errors = 0, reported = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Bench random(seed);
    random.fails = 0.002;
    random.answers = 0.3;
    random.host = 0.7;
    uint64_t seen = 0;
    for (unsigned i = 0; i < 4000; ++i) {
      if (random.waiting() < 4) random.send_any(500);
      for (; seen < random.taken; ++seen) {
        if (random.cqes.size() < 6) random.complete(true, static_cast<unsigned>(random.rng.below(kHostQps)), 0);
      }
      random.cycle();
    }
    errors += random.errors;
    CHECK(random.word(Word::WrFailed) == random.errors % kCountWrap);
    for (const Cqe& cqe : random.left) reported += static_cast<unsigned>(cqe.status) == kStatusRemOp;
  }
  CHECK(errors > 3);
  CHECK(reported > 50);
}

TEST_CASE("an answer that nobody asked for is told", "[fpga][host]") {
  Bench bench(6);
  bench.stray = true;
  bench.run(1);
  bench.stray = false;
  bench.send(0, 0, 64, 0x1000);
  bench.complete(true, 0, 0);
  bench.run(40);
  CHECK(bench.word(Word::Strays) == 1);
  CHECK(bench.left.size() == 1);
  CHECK(bench.idle());
}

TEST_CASE("a core that is held begins anew when memory has answered, and not before", "[fpga][host]") {
  Bench bench(7);
  bench.answers_stand = true;
  bench.send(0, 1, 300, 0x10001);
  bench.complete(true, 1, 0);
  bench.run(60);
  bench.send(1, 2, 1000, 0x20000);
  bench.run(5);  // lines without an end
  bench.hold(true);
  CHECK(bench.top->core_rst_no == 0);
  CHECK(bench.top->hold_o == 1);
  CHECK(bench.top->state_o == kDrain);
  bench.run(kWaitCycles - 1);
  CHECK(bench.top->state_o == kDrain);
  bench.run(1);
  CHECK(bench.top->state_o == (kDrain | kLate));
  bench.hold(false);
  bench.run(3 * kWaitCycles);
  CHECK(bench.top->hold_o == 0);
  CHECK(bench.top->state_o == (kDrain | kLate));
  CHECK(bench.top->core_rst_no == 0);
  CHECK(bench.bytes == 0);
  bench.answers_stand = false;
  bench.run(20);
  CHECK(bench.top->state_o == kRun);
  CHECK(bench.top->core_rst_no == 1);
  CHECK(bench.bytes == 300);
  // Nothing is left of the packet without an end, where the next one is written too.
  bench.send(1, 3, 200, 0x20000);
  bench.complete(true, 3, 1);
  bench.run(40);
  CHECK(bench.bytes == 500);
  REQUIRE(!bench.left.empty());
  CHECK(bench.left.back().wr_id == 1);
  CHECK(bench.word(Word::WrTaken) == 2);
  CHECK(bench.word(Word::WrDone) == 2);
  // Held while others on the bus await something, then without a drain; let go by a second write.
  bench.top->idle_i = 0;
  bench.hold(true);
  bench.run(20);
  CHECK(bench.top->state_o == kDrain);
  bench.top->idle_i = 1;
  bench.run(20);
  CHECK(bench.top->state_o == 0);
  bench.hold(false);
  bench.run(2);
  CHECK(bench.top->state_o == kRun);

  // At random, at any time: each burst is answered to the core that has begun it, and completions are those of a core.
  uint64_t drains = 0, left = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    Bench random(seed);
    random.offers = 0.8;
    random.takes = 0.7;
    random.answers = 0.1;
    random.host = 0.6;
    for (unsigned life = 0; life < 30; ++life) {
      CAPTURE(life);
      uint64_t seen = random.taken;
      for (uint64_t i = random.rng.between(1, 300); i > 0; --i) {
        if (random.waiting() < 4) random.send_any(3000);
        for (; seen < random.taken; ++seen)
          random.complete(true, static_cast<unsigned>(random.rng.below(kHostQps)), life);
        random.cycle();
      }
      random.hold(true);
      drains += !random.idle();
      const std::size_t before = random.left.size();
      random.run(static_cast<unsigned>(random.rng.below(100)));
      random.hold(false);
      for (unsigned i = 0; random.top->state_o != kRun; ++i) {
        REQUIRE(i < 10000);
        random.cycle();
      }
      CHECK(random.idle());
      left += random.left.size() - before;
      CHECK(random.word(Word::WrTaken) == random.taken % kCountWrap);
      CHECK(random.word(Word::WrDone) == random.taken % kCountWrap);
    }
    for (std::size_t i = 1; i < random.left.size(); ++i) REQUIRE(random.left[i - 1].wr_id <= random.left[i].wr_id);
    CHECK(random.word(Word::Strays) == 0);
  }
  CHECK(drains > 100);
  CHECK(left > 20);
}

}  // namespace mrc::test::host_test
