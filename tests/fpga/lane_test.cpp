// SPDX-License-Identifier: Apache-2.0
// fpga/rtl/mrc_fpga_lane.sv between a MAC and a core: three clocks of random ratios, frames of every length, bad ones,
// ones that are too long, resets in the middle. Every frame is found again as it was, or in a counter.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "Vmrc_fpga_lane.h"
#include "tests/fpga/unit.hpp"
#include "util/rng.hpp"

namespace mrc::test::lane_test {
namespace {

constexpr unsigned kWord = 64, kPort = 32, kMaxWords = 6, kWaitCycles = 100;
enum Count { kRxFrames, kRxFull, kRxLong, kRxCut, kRxBad, kTxFrames, kTxDrop, kTxLong, kTxCut, kTxFlush };
using Bytes = std::vector<uint8_t>;

/// Bytes that name the frame in their first eight.
Bytes make_frame(Rng& rng, uint64_t id, std::size_t size) {
  Bytes bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng.next());
  std::memcpy(bytes.data(), &id, sizeof id);
  return bytes;
}

uint64_t id_of(const Bytes& bytes) {
  uint64_t id = 0;
  REQUIRE(bytes.size() >= sizeof id);
  std::memcpy(&id, bytes.data(), sizeof id);
  return id;
}

/// Bytes that a keep of ones from below stands for; fails on holes.
unsigned bytes_of(uint64_t keep) {
  REQUIRE((keep & (keep + 1)) == 0);
  REQUIRE(keep != 0);
  unsigned n = 0;
  for (; keep != 0; keep >>= 1) ++n;
  return n;
}

uint64_t keep_of(std::size_t bytes) { return bytes >= 64 ? ~uint64_t{0} : (uint64_t{1} << bytes) - 1; }

/// The lane with its clocks: each has a period and something that happens at its edges.
class Bench : public Unit<Vmrc_fpga_lane> {
 public:
  enum Clock { kCore, kRx, kTx };

  explicit Bench(uint64_t seed) : Unit("lane"), rng(seed, "lane") {
    top->link_up_i = 1;
    top->m_tready_i = 1;
    settle();
    top->rst_ni = 1;  // an edge needs a level before it
    settle();
    top->rst_ni = 0;
    settle();
    for (unsigned i = 0; i < 12; ++i) edge(static_cast<Clock>(i % 3));
    top->rst_ni = 1;
    settle();
    for (unsigned i = 0; i < 12; ++i) edge(static_cast<Clock>(i % 3));
    failed_assertions();
  }

  /// Edges of all clocks, until `edges` of the core's have passed.
  void run(uint64_t edges) {
    const uint64_t end = cycles[kCore] + edges;
    while (cycles[kCore] < end) {
      unsigned next = kCore;
      for (unsigned i = 0; i < 3; ++i) {
        if (!stopped[i] && (next_[i] < next_[next] || (next_[i] == next_[next] && rng.chance(0.5)))) next = i;
      }
      next_[next] += period[next] + rng.below(3);  // some jitter
      for (unsigned i = 0; i < 3; ++i) {
        if (stopped[i]) next_[i] = std::max(next_[i], next_[next]);
      }
      step(static_cast<Clock>(next));
    }
  }
  uint32_t count(Count which) { return top->counts_o[which]; }

  Rng rng;
  std::array<uint64_t, 3> period{400, 310, 310}, cycles{};
  std::array<bool, 3> stopped{};
  /// Called at an edge: looks at the pins as they were before it, and says what they are after it.
  std::array<std::function<std::function<void()>()>, 3> act{};

 private:
  void edge(Clock clock) {
    auto& pin = clock == kCore ? top->clk_i : clock == kRx ? top->rx_clk_i : top->tx_clk_i;
    pin = 1;
    settle();
    pin = 0;
    settle();
    ++cycles[clock];
  }
  void step(Clock clock) {
    const auto drive = act[clock] ? act[clock]() : nullptr;
    edge(clock);
    if (drive) drive();
    settle();
  }
  std::array<uint64_t, 3> next_{};
};

/// Collects frames from words of the lane.
struct Collector {
  Bytes bytes;
  template <class Data>
  void add(const Data& data, uint64_t keep, bool last, unsigned width) {
    const unsigned n = bytes_of(keep);
    REQUIRE((last || n == width));
    const auto* from = reinterpret_cast<const uint8_t*>(&data[0]);
    bytes.insert(bytes.end(), from, from + n);
  }
};

/// What the MAC has sent, and how it may arrive.
struct Sent {
  uint64_t id;
  Bytes bytes;  // all that was sent of it
  bool bad, cut, too_long;
};

/// A MAC without ready: frames with gaps, bad ones, ones that are too long, resets.
class Mac {
 public:
  Mac(Bench& bench, double busy, double resets) : bench_(bench), busy_(busy), resets_(resets) {
    bench.act[Bench::kRx] = [this] { return [this] { drive(); }; };
    bench.act[Bench::kCore] = [this] {
      sample();
      return std::function<void()>();
    };
  }
  void stop() { going_ = false; }
  bool idle() const { return bytes_.empty(); }

  /// Every frame that was sent stands in `sent` until it has arrived or is known to be lost.
  std::deque<Sent> sent;
  uint64_t lost = 0, arrived = 0, cut = 0, too_long = 0, bad = 0, frames = 0;

 private:
  void drive() {
    auto& top = *bench_.top;
    auto& rng = bench_.rng;
    top.s_tvalid_i = 0;
    top.s_tdata_i[0] = static_cast<uint32_t>(rng.next());
    top.s_tlast_i = static_cast<uint8_t>(rng.chance(0.5));
    if (reset_ > 0) {
      top.rx_reset_i = --reset_ > 0;
      return;
    }
    if (rng.chance(resets_)) {
      reset_ = 1 + static_cast<unsigned>(rng.below(5));
      top.rx_reset_i = 1;
      if (at_ > 0) {  // what was sent of it is all there is
        sent.back().cut = true;
        sent.back().bytes.resize(at_);
      } else if (!bytes_.empty()) {
        sent.pop_back();
        --frames;
      }
      bytes_.clear();
      at_ = 0;
      return;
    }
    if (bytes_.empty()) {
      if (!going_ || !rng.chance(busy_)) return;
      const bool big = rng.chance(0.05);
      const std::size_t most = big ? 9 * kWord : kMaxWords * kWord;
      bytes_ = make_frame(rng, ++id_, rng.chance(0.3) ? kWord * (1 + rng.below(kMaxWords)) : rng.between(9, most));
      sent.push_back({id_, bytes_, rng.chance(0.1), false, bytes_.size() > std::size_t{kMaxWords} * kWord});
      ++frames;
    }
    if (!rng.chance(busy_)) return;
    const std::size_t n = std::min<std::size_t>(kWord, bytes_.size() - at_);
    std::memcpy(&top.s_tdata_i[0], bytes_.data() + at_, n);
    top.s_tkeep_i = keep_of(n);
    top.s_tvalid_i = 1;
    at_ += n;
    top.s_tlast_i = at_ == bytes_.size();
    top.s_tuser_i = top.s_tlast_i ? sent.back().bad : static_cast<uint8_t>(rng.chance(0.5));
    if (top.s_tlast_i) {
      bytes_.clear();
      at_ = 0;
    }
  }

  void sample() {
    auto& top = *bench_.top;
    if (!top.tvalid_o) return;
    in_.add(top.tdata_o, top.tkeep_o, top.tlast_o, kPort);
    if (!top.tlast_o) {
      REQUIRE(!top.tuser_o);
      return;
    }
    const uint64_t id = id_of(in_.bytes);
    while (!sent.empty() && sent.front().id != id) {
      ++lost;
      sent.pop_front();
    }
    REQUIRE(!sent.empty());
    const Sent& frame = sent.front();
    // Six words without an end are too long, also where a reset has cut what follows.
    const std::size_t size = frame.bytes.size(), most = std::size_t{kMaxWords} * kWord;
    const bool over = size > most || (frame.cut && size == most);
    if (over) {
      REQUIRE(in_.bytes.size() == std::size_t{kMaxWords} * kWord);
      REQUIRE(top.tuser_o);
      REQUIRE(std::equal(in_.bytes.begin(), in_.bytes.end(), frame.bytes.begin()));
      ++too_long;
    } else if (frame.cut) {
      REQUIRE(top.tuser_o);
      REQUIRE(in_.bytes.size() >= frame.bytes.size());
      REQUIRE(in_.bytes.size() <= frame.bytes.size() + kWord);
      REQUIRE(std::equal(frame.bytes.begin(), frame.bytes.end(), in_.bytes.begin()));
      ++cut;
    } else {
      REQUIRE(in_.bytes.size() == frame.bytes.size());
      REQUIRE(in_.bytes == frame.bytes);
      REQUIRE(top.tuser_o == frame.bad);
      ++arrived;
      bad += frame.bad;
    }
    in_.bytes.clear();
    sent.pop_front();
  }

  Bench& bench_;
  double busy_, resets_;
  bool going_ = true;
  Bytes bytes_;
  std::size_t at_ = 0;
  uint64_t id_ = 0;
  unsigned reset_ = 0;
  Collector in_;
};

}  // namespace

TEST_CASE("a lane receives every frame of a MAC that it has room for, and counts the others", "[fpga][lane]") {
  uint64_t full = 0, cut = 0, too_long = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Bench bench(seed);
    bench.period = {400, bench.rng.between(150, 900), 310};
    Mac mac(bench, seed % 3 == 0 ? 1.0 : 0.7, seed % 2 == 0 ? 0.02 : 0.0);
    bench.run(8000);
    mac.stop();
    bench.run(600);
    REQUIRE(mac.idle());
    const uint64_t lost = mac.lost + mac.sent.size();
    // A frame that is cut behind its largest length counts as too long alone.
    CHECK(bench.count(kRxFrames) == mac.arrived);
    CHECK(bench.count(kRxBad) == mac.bad);
    CHECK(bench.count(kRxFull) == lost);
    CHECK(bench.count(kRxCut) == mac.cut);
    CHECK(bench.count(kRxLong) == mac.too_long);
    CHECK(mac.frames == mac.arrived + mac.cut + mac.too_long + lost);
    CHECK(mac.arrived > 100);
    CHECK(failed_assertions() == std::vector<std::string>{});
    full += lost;
    cut += mac.cut;
    too_long += mac.too_long;
  }
  CHECK(full > 100);
  CHECK(cut > 100);
  CHECK(too_long > 50);
}

TEST_CASE("a lane loses nothing of a MAC that is slower than the core", "[fpga][lane]") {
  Bench bench(7);
  bench.period = {400, 1200, 310};  // a word of two beats in two cycles of the core, and more
  Mac mac(bench, 1.0, 0.0);
  bench.run(20000);
  mac.stop();
  bench.run(600);
  CHECK(bench.count(kRxFull) == 0);
  CHECK(mac.lost + mac.sent.size() == 0);
  CHECK(mac.arrived > 1000);
}

TEST_CASE("a keep with holes marks a received frame bad", "[fpga][lane]") {
  Bench bench(3);
  Bytes seen;
  std::vector<bool> user;
  bench.act[Bench::kCore] = [&] {
    if (bench.top->tvalid_o && bench.top->tlast_o) user.push_back(bench.top->tuser_o);
    return std::function<void()>();
  };
  struct Word {
    uint64_t keep;
    bool last;
  };
  // One after the other: a hole; a first word that is not full; none at all; and a good one.
  std::deque<Word> words{{0x5, true}, {0xFF, false}, {0xF, true}, {0, true}, {~uint64_t{0}, false}, {0x1, true}};
  bench.act[Bench::kRx] = [&] {
    return [&] {
      bench.top->s_tvalid_i = !words.empty();
      if (words.empty()) return;
      bench.top->s_tkeep_i = words.front().keep;
      bench.top->s_tlast_i = words.front().last;
      words.pop_front();
    };
  };
  bench.run(100);
  CHECK(user == std::vector<bool>{true, true, true, false});
  CHECK(bench.count(kRxBad) == 3);
}

namespace {

/// The core's transmission: frames with gaps, and a MAC that takes them, with pauses and resets.
class Core {
 public:
  Core(Bench& bench, double busy, double ready, double reset_chance)
      : bench_(bench), busy_(busy), ready_(ready), resets_(reset_chance) {
    bench.act[Bench::kCore] = [this] { return core(); };
    bench.act[Bench::kTx] = [this] { return mac(); };
  }
  void stop() { going_ = false; }
  /// The longest time that a beat of the core has waited, in its cycles.
  uint64_t longest = 0, frames = 0, arrived = 0, cut = 0, too_long = 0, resets = 0;
  std::deque<Bytes> sent;
  uint64_t lost = 0;
  bool tready_ = true;

 private:
  std::function<void()> core() {
    auto& top = *bench_.top;
    const bool taken = top.tvalid_i && top.tready_o;
    waited_ = top.tvalid_i && !taken ? waited_ + 1 : 0;
    longest = std::max(longest, waited_);
    return [this, taken, &top] {
      auto& rng = bench_.rng;
      if (top.tvalid_i && !taken) return;
      top.tvalid_i = 0;
      if (bytes_.empty()) {
        if (!going_ || !rng.chance(busy_)) return;
        const std::size_t most = rng.chance(0.03) ? 9 * kWord : kMaxWords * kWord;
        bytes_ = make_frame(rng, ++id_, rng.between(9, most));
        sent.push_back(bytes_);
        ++frames;
      }
      if (!rng.chance(busy_)) return;
      const std::size_t n = std::min<std::size_t>(kPort, bytes_.size() - at_);
      std::memcpy(&top.tdata_i[0], bytes_.data() + at_, n);
      top.tkeep_i = static_cast<uint32_t>(keep_of(n));
      at_ += n;
      top.tlast_i = at_ == bytes_.size();
      top.tvalid_i = 1;
      if (top.tlast_i) {
        bytes_.clear();
        at_ = 0;
      }
    };
  }

  std::function<void()> mac() {
    auto& top = *bench_.top;
    // In reset a MAC takes and gives nothing.
    if (top.tx_reset_i) {
      cut += !out_.bytes.empty();
      out_.bytes.clear();
    } else {
      REQUIRE((out_.bytes.empty() || top.m_tvalid_o));  // no gap inside a frame
      if (top.m_tvalid_o && top.m_tready_i) word();
    }
    return [this, &top] {
      auto& rng = bench_.rng;
      top.m_tready_i = tready_ && rng.chance(ready_);
      if (reset_ > 0) {
        --reset_;
      } else if (rng.chance(resets_)) {
        reset_ = 2 + static_cast<unsigned>(rng.below(20));
        ++resets;
      }
      top.tx_reset_i = reset_ > 0;
    };
  }

  void word() {
    auto& top = *bench_.top;
    out_.add(top.m_tdata_o, top.m_tkeep_o, top.m_tlast_o, kWord);
    const uint64_t id = id_of(out_.bytes);
    while (!sent.empty() && id_of(sent.front()) != id) {
      ++lost;
      sent.pop_front();
    }
    REQUIRE(!sent.empty());
    const Bytes& frame = sent.front();
    REQUIRE(out_.bytes.size() <= frame.size());
    REQUIRE(std::equal(out_.bytes.begin(), out_.bytes.end(), frame.begin()));
    if (!top.m_tlast_o) return;
    const bool over = frame.size() > std::size_t{kMaxWords} * kWord;
    REQUIRE(out_.bytes.size() == (over ? std::size_t{kMaxWords} * kWord : frame.size()));
    REQUIRE(top.m_tuser_o == over);
    too_long += over;
    arrived += !over;
    out_.bytes.clear();
    sent.pop_front();
  }

  Bench& bench_;
  double busy_, ready_, resets_;
  bool going_ = true;
  Bytes bytes_;
  std::size_t at_ = 0;
  uint64_t id_ = 0, waited_ = 0;
  unsigned reset_ = 0;
  Collector out_;
};

}  // namespace

TEST_CASE("a lane sends whole frames without a gap, and counts what a reset of the MAC costs", "[fpga][lane]") {
  uint64_t cuts = 0, flushes = 0, too_long = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Bench bench(seed);
    bench.period = {400, 310, bench.rng.between(150, 900)};
    Core core(bench, seed % 3 == 0 ? 1.0 : 0.7, seed % 4 == 0 ? 1.0 : 0.8, seed % 2 == 0 ? 0.01 : 0.0);
    bench.run(8000);
    core.stop();
    bench.run(1500);
    // A frame of which nothing was taken before a reset is cut too, if it stood on offer.
    const uint64_t came = core.arrived + core.too_long;
    const uint64_t gone = bench.count(kTxCut) + bench.count(kTxFlush) + bench.count(kTxDrop);
    CHECK(bench.count(kTxFrames) + bench.count(kTxLong) + bench.count(kTxDrop) == core.frames);
    CHECK(came + gone == core.frames);
    CHECK(bench.count(kTxCut) >= core.cut);
    CHECK(core.longest <= kWaitCycles + 2);
    CHECK(core.arrived > 100);
    if (core.resets == 0) CHECK(gone == bench.count(kTxDrop));
    CHECK(failed_assertions() == std::vector<std::string>{});
    cuts += bench.count(kTxCut);
    flushes += bench.count(kTxFlush);
    too_long += core.too_long;
  }
  CHECK(cuts > 50);
  CHECK(flushes > 20);
  CHECK(too_long > 50);
}

TEST_CASE("a MAC that stands still, or has no clock, holds the core for one wait only", "[fpga][lane]") {
  const bool clockless = GENERATE_COPY(false, true);
  CAPTURE(clockless);
  Bench bench(5);
  Core core(bench, 1.0, 1.0, 0.0);
  bench.run(2000);
  const uint64_t before = core.arrived;
  CHECK(core.longest < 10);
  CHECK(bench.count(kTxDrop) == 0);
  core.tready_ = false;
  bench.stopped[Bench::kTx] = clockless;
  bench.run(4000);
  CHECK(core.longest >= kWaitCycles);
  CHECK(core.longest <= kWaitCycles + 2);
  CHECK(bench.count(kTxDrop) > 300);  // at the rate of the core, but for the one wait
  core.tready_ = true;
  bench.stopped[Bench::kTx] = false;
  bench.run(2000);
  core.stop();
  bench.run(200);
  CHECK(core.arrived > before + 100);
  CHECK(core.arrived + core.too_long + bench.count(kTxDrop) == core.frames);
}

TEST_CASE("a lane whose link is down takes and drops frames without a wait", "[fpga][lane]") {
  Bench bench(6);
  Core core(bench, 1.0, 1.0, 0.0);
  bench.run(500);
  core.tready_ = false;
  bench.top->link_up_i = 0;
  bench.run(4000);
  CHECK(core.longest < 10);
  CHECK(bench.count(kTxDrop) > 300);
  core.tready_ = true;
  bench.top->link_up_i = 1;
  bench.run(1000);
  core.stop();
  bench.run(200);
  CHECK(core.arrived + core.too_long + bench.count(kTxDrop) == core.frames);
}

}  // namespace mrc::test::lane_test
