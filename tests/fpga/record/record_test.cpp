// SPDX-License-Identifier: Apache-2.0
// The recorder at pins that move at random, with queues so small that each limit of docs/design/boards/record.md is
// met.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "Vmrc_fpga_record_small.h"
#include "gen/streams.hpp"
#include "input/error.hpp"
#include "tb/board/replay.hpp"
#include "tests/fpga/record/recorder.hpp"
#include "util/rng.hpp"

namespace mrc::test::record_test {

using Catch::Matchers::ContainsSubstring;
using tb::RecordEnd;

namespace {

constexpr const Preset& kTiny = *find_preset("tiny");
constexpr uint64_t kBase = 0x7fff'f000;
using Bench = RecorderBench<Vmrc_fpga_record_small, 32>;

/// Pins of a cycle without what means nothing in it.
mrc_pins_in meant(mrc_pins_in i) {
  if (i.awvalid == 0) i.awaddr = 0;
  if (i.wvalid == 0) i.wdata = i.wstrb = 0;
  if (i.arvalid == 0) i.araddr = 0;
  if (i.wqe_valid == 0) std::memset(i.wqe, 0, sizeof i.wqe);
  if (i.host_fail_valid == 0) i.host_fail[0] = 0;
  if (i.host_rsp_valid == 0) {
    i.host_rsp_plane = i.host_rsp_err = 0;
    std::memset(i.host_rsp_data, 0, sizeof i.host_rsp_data);
  }
  i.rx_tlast &= i.rx_tvalid;
  i.rx_tuser &= i.rx_tvalid;
  for (unsigned p = 0; p < 2; ++p) {
    if ((i.rx_tvalid >> p & 1) != 0) continue;
    i.rx_tkeep[p] = 0;
    std::memset(i.rx_tdata[p], 0, sizeof i.rx_tdata[p]);
  }
  return i;
}

/// Pins that move with some chance in each cycle, and what a core would answer, which is anything.
class Pins {
 public:
  explicit Pins(uint64_t seed, double moves) : rng_(seed, "pins"), moves_(moves) {}

  std::pair<mrc_pins_in, mrc_pins_out> next() {
    mrc_pins_in& i = in_;
    i.rst_n = 1;
    for (uint8_t* bit : {&i.awvalid, &i.wvalid, &i.bready, &i.arvalid, &i.rready, &i.wqe_valid, &i.cqe_ready,
                         &i.host_rd_ready, &i.host_fail_valid, &i.host_wr_ready}) {
      if (rng_.chance(moves_ / 4)) *bit ^= 1;
    }
    for (uint8_t* mask : {&i.link_up, &i.tx_tready}) {
      if (rng_.chance(moves_ / 4)) *mask = static_cast<uint8_t>(rng_.below(4));
    }
    if (rng_.chance(moves_)) {
      any(i.awaddr);
      any(i.wdata);
      i.wstrb = static_cast<uint8_t>(rng_.below(16));
      any(i.araddr);
    }
    if (rng_.chance(moves_ / 4)) {
      any(i.wqe);
      i.wqe[8] &= (1u << (Wqe::kBits % 32)) - 1;
      i.host_fail[0] = static_cast<uint32_t>(rng_.below(1u << 24));
    }
    i.host_rsp_valid = rng_.chance(moves_ / 2);
    i.host_rsp_plane = static_cast<uint8_t>(rng_.below(2));
    i.host_rsp_err = rng_.chance(0.1);
    any(i.host_rsp_data, 32);
    i.rx_tvalid = static_cast<uint8_t>((rng_.chance(moves_) ? 1 : 0) | (rng_.chance(moves_) ? 2 : 0));
    i.rx_tlast = static_cast<uint8_t>(rng_.below(4));
    i.rx_tuser = static_cast<uint8_t>(rng_.below(4));
    for (unsigned p = 0; p < 2; ++p) {
      i.rx_tkeep[p] = (1u << rng_.between(1, 16)) - 1;
      any(i.rx_tdata[p], 16);
    }
    return {in_, answers()};
  }

 private:
  template <class T>
  void any(T& to, std::size_t bytes = sizeof(T)) {
    for (std::size_t b = 0; b < bytes; ++b) reinterpret_cast<uint8_t*>(&to)[b] = static_cast<uint8_t>(rng_.next());
  }
  mrc_pins_out answers() {
    mrc_pins_out& o = out_;
    if (!rng_.chance(moves_)) return o;
    for (uint8_t* bit : {&o.awready, &o.wready, &o.bvalid, &o.arready, &o.rvalid, &o.wqe_ready, &o.cqe_valid,
                         &o.host_rd_valid, &o.host_wr_valid, &o.host_wr_last, &o.irq, &o.host_fail_ready}) {
      *bit = rng_.chance(0.5);
    }
    o.bresp = static_cast<uint8_t>(rng_.below(4));
    o.rresp = static_cast<uint8_t>(rng_.below(4));
    any(o.rdata);
    any(o.cqe);
    o.cqe[4] &= (1u << (Cqe::kBits % 32)) - 1;
    any(o.host_rd);
    o.host_rd[2] &= (1u << (Rdreq::kBits % 32)) - 1;
    o.host_wr_len = static_cast<uint8_t>(rng_.below(33));
    o.host_wr_plane = static_cast<uint8_t>(rng_.below(2));
    any(o.host_wr_qp);
    any(o.host_wr_addr);
    any(o.host_wr_data, 32);
    o.tx_tvalid = static_cast<uint8_t>(rng_.below(4));
    o.tx_tlast = static_cast<uint8_t>(rng_.below(4));
    for (unsigned p = 0; p < 2; ++p) {
      o.tx_tkeep[p] = static_cast<uint32_t>(rng_.below(1u << 16));
      any(o.tx_tdata[p], 16);
    }
    return o;
  }
  Rng rng_;
  double moves_;
  mrc_pins_in in_{};
  mrc_pins_out out_{};
};

/// A device that is what was driven: it holds the pins that it is given against those, and answers the same.
class Script final : public tb::Dut {
 public:
  void outputs(mrc_pins_out& o) override { o = all.at(at_).second; }
  void step(const mrc_pins_in& i) override {
    const mrc_pins_in a = meant(i), b = meant(all.at(at_).first);
    CAPTURE(at_);
    REQUIRE(std::memcmp(&a, &b, sizeof a) == 0);
    ++at_;
  }
  bool observe(const uint32_t*&, const uint32_t*&) override { return false; }
  bool wave(const char*, bool) override { return false; }
  bool can_wave() const override { return false; }
  std::string name() const override { return "script"; }
  std::string version() const override { return {}; }

  std::vector<std::pair<mrc_pins_in, mrc_pins_out>> all;

 private:
  std::size_t at_ = 0;
};

/// A record of what pins did, and its replay.
struct Recording {
  explicit Recording(uint64_t seed, double moves = 0.2, uint32_t blocks = 64) : bench(seed), pins(seed, moves) {
    bench.arm(kBase, blocks);
  }
  void run(unsigned cycles) {
    for (unsigned n = 0; n < cycles; ++n) {
      script.all.push_back(pins.next());
      bench.cycle(script.all.back().first, script.all.back().second);
    }
  }
  void stop() {
    REQUIRE(bench.write(mrcx::kControl, mrcx::kStop));
    run(1);
  }
  tb::ReplayResult replay(bool cut = false) {
    std::istringstream in(bench.dump());
    tb::RecordReader reader(in, "dump", kTiny);
    tb::ReplayOptions options;
    options.cut = cut;
    return tb::replay(reader, script, kTiny, options);
  }
  /// It is equal to its end, for this reason, and the registers say the same.
  tb::ReplayResult require_equal(RecordEnd why) {
    const tb::ReplayResult result = replay();
    REQUIRE_FALSE(result.first);
    REQUIRE(result.end == why);
    REQUIRE(bench.why() == static_cast<unsigned>(why));
    REQUIRE(bench.read64(mrcx::kCycles) == result.cycles);
    REQUIRE(result.cycles <= script.all.size());
    return result;
  }

  Bench bench;
  Pins pins;
  Script script;
};

}  // namespace

TEST_CASE("what a recorder has seen is what was driven, in every cycle, whatever the memory does", "[fpga][record]") {
  uint64_t events = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    CAPTURE(seed);
    Recording r(seed, seed % 3 == 0 ? 0.02 : 0.05, 64);
    if (seed % 4 == 0) r.bench.memory.takes = 0.7;
    if (seed % 4 == 1) r.bench.memory.acknowledges = 0.3;
    const auto cycles = static_cast<unsigned>(1 + Rng(seed, "cycles").below(2500));
    r.run(cycles);
    REQUIRE(r.bench.state() >= 2);
    if (seed % 2 == 0) {
      r.stop();
      r.bench.finish();
      // The recorder is a cycle behind the pins.
      CHECK(r.require_equal(RecordEnd::Stopped).cycles == cycles - 1);
    } else {
      r.bench.finish();
      CHECK(r.require_equal(RecordEnd::Held).cycles == cycles);
    }
    events += r.bench.read64(mrcx::kBytes) / 32;
    CHECK(r.bench.read(mrcx::kFailed) == 0);
    CHECK(r.bench.read(mrcx::kStrays) == 0);
    CHECK(r.bench.memory.bursts() * 4 * 32 == r.bench.read64(mrcx::kBytes));
  }
  CHECK(events > 10'000);
}

TEST_CASE("a record ends where its region does, with whole events and its end", "[fpga][record]") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Recording r(seed, 0.1, 1 + static_cast<uint32_t>(seed % 2));
    r.run(3000);
    r.bench.finish();
    const auto result = r.require_equal(RecordEnd::Full);
    // Of a word at most there is less than an event and the end may need.
    CHECK(r.bench.read64(mrcx::kBytes) == 4096 * (1 + seed % 2));
    CHECK(result.cycles < 3000);
    CHECK(result.compared + 16 >= result.cycles);
  }
}

TEST_CASE("pins that move faster than memory takes them end a record, which holds nobody", "[fpga][record]") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    Recording r(seed, 0.9);
    r.bench.memory.takes = seed % 2 == 0 ? 0.5 : 0;
    r.run(500);
    r.bench.memory.takes = 1;
    r.bench.finish();
    const auto result = r.require_equal(RecordEnd::TooFast);
    // The FIFO of 16 events, and 8 words, were full.
    CHECK(result.cycles >= 16);
    CHECK(result.cycles < 200);
    CHECK(result.compared == result.cycles);
  }
}

TEST_CASE("memory that fails a write ends a record, and what stands before it is replayed", "[fpga][record]") {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    Recording r(seed, 0.05);
    const uint64_t bad = kBase + 128 * (seed * 5);
    r.bench.memory.fails = [&](uint64_t at) { return at == bad; };
    r.run(2000);
    r.bench.finish();
    CHECK(r.bench.why() == static_cast<unsigned>(RecordEnd::Failed));
    CHECK(r.bench.read(mrcx::kFailed) == 1);
    CHECK(r.bench.read64(mrcx::kBytes) == bad - kBase);
    CHECK_THROWS_AS(r.replay(), InputError);
    Recording again(seed, 0.05);  // the script goes on where it is
    r.script = {};
    for (unsigned n = 0; n < 2000; ++n) r.script.all.push_back(again.pins.next());
    const auto result = r.replay(true);
    CHECK_FALSE(result.first);
    CHECK(result.end == RecordEnd::None);
    CHECK(result.cycles % 16 == 0);
    CHECK(result.cycles > 0);
  }
  // Every write fails, the header's too.
  Recording r(9);
  r.bench.memory.fails = [](uint64_t) { return true; };
  r.run(300);
  r.bench.finish();
  CHECK(r.bench.why() == static_cast<unsigned>(RecordEnd::Failed));
  CHECK(*r.bench.read(mrcx::kFailed) >= 1);
  CHECK(r.bench.dump().empty());
}

TEST_CASE("a record ends when its cycles have no more numbers", "[fpga][record]") {
  Recording r(5, 0, 4096);
  r.run((1u << 17) + 100);
  r.bench.finish();
  CHECK(r.require_equal(RecordEnd::TooLong).cycles == (1u << 17) - 1);
}

TEST_CASE("a record is begun while the core is in reset, in a region that there is, and once", "[fpga][record]") {
  Bench bench(1);
  const mrc_pins_in held{};
  mrc_pins_in runs{};
  runs.rst_n = 1;
  const auto start = [&](const mrc_pins_in& in) {
    const bool good = bench.write(mrcx::kControl, mrcx::kStart);
    bench.cycle(in, {});
    return good;
  };
  const auto set = [&](unsigned at, uint32_t value) {
    const bool good = bench.write(at, value);
    bench.cycle(held, {});
    return good;
  };
  bench.memory.region(kBase, 8192);
  CHECK_FALSE(start(held));  // no region
  CHECK(set(mrcx::kSize, 2));
  CHECK(set(mrcx::kBase, static_cast<uint32_t>(kBase) + 0x123));
  CHECK(bench.read(mrcx::kBase) == kBase);
  CHECK(set(mrcx::kBase + 4, 0xffffffff));
  CHECK(set(mrcx::kBase, 0xfffff000));
  CHECK_FALSE(start(held));  // beyond 2^64
  CHECK(set(mrcx::kSize, 1));
  CHECK(bench.read(mrcx::kControl) == 0);
  CHECK(set(mrcx::kSize, 2));
  CHECK(set(mrcx::kBase, static_cast<uint32_t>(kBase)));
  CHECK(set(mrcx::kBase + 4, 0));
  bench.cycle(runs, {});
  CHECK_FALSE(start(runs));  // it runs
  CHECK(bench.state() == 0);
  bench.cycle(held, {});
  CHECK(start(held));
  CHECK(bench.state() == 1);
  CHECK_FALSE(start(held));
  CHECK_FALSE(set(mrcx::kBase, 0));
  CHECK_FALSE(set(mrcx::kBase + 4, 0));
  CHECK_FALSE(set(mrcx::kSize, 1));
  CHECK(bench.read(mrcx::kSize) == 2);
  CHECK_FALSE(bench.write(mrcx::kStatus, 0));
  CHECK_FALSE(bench.read(0x1c));
  CHECK(bench.read(mrcx::kShape) == (4u << 16 | 32u << 8 | 4u));
  // Stopped before it begins: a record of no cycle.
  CHECK(bench.write(mrcx::kControl, mrcx::kStop));
  bench.cycle(held, {});
  bench.finish();
  CHECK(bench.why() == static_cast<unsigned>(RecordEnd::Stopped));
  CHECK(bench.read64(mrcx::kCycles) == 0);
  std::istringstream in(bench.dump());
  tb::RecordReader reader(in, "dump", kTiny);
  tb::RecordWindow window;
  CHECK_FALSE(reader.next(window));
  CHECK(reader.end() == RecordEnd::Stopped);
  CHECK(reader.header().build_id == 0x20260042);
  // A stop when nothing is recorded does nothing.
  CHECK(bench.write(mrcx::kControl, mrcx::kStop));
  bench.cycle(held, {});
  CHECK(bench.state() == 0);
}

TEST_CASE("records follow each other, each from its core's first cycle", "[fpga][record]") {
  Recording r(3, 0.05);
  for (unsigned life = 0; life < 4; ++life) {
    CAPTURE(life);
    if (life != 0) {
      r.script = {};
      r.bench.arm(kBase + 0x100000 * life, 64);
    }
    r.run(100 + 77 * life);
    r.bench.finish();
    CHECK(r.require_equal(RecordEnd::Held).cycles == 100 + 77 * life);
  }
}

TEST_CASE("a record that is damaged, cut or foreign is refused, and never taken for another board", "[fpga][record]") {
  Recording r(7, 0.05);
  r.run(120);
  r.stop();
  r.bench.finish();
  const std::string good = r.bench.dump();
  const auto read = [&](const std::string& bytes, const Preset& preset = kTiny) {
    std::istringstream in(bytes);
    tb::RecordReader reader(in, "dump", preset);
    tb::RecordWindow window;
    uint64_t cycles = 0;
    std::string digests;
    while (reader.next(window)) {
      cycles = window.to;
      digests += std::to_string(window.digest.value_or(0)) + " ";
    }
    return std::pair{cycles, digests};
  };
  const auto whole = read(good);
  REQUIRE(whole.first == 119);
  // The zeros behind the end.
  std::size_t end = good.size();
  while (end > 0 && good[end - 1] == 0) --end;
  end = (end + 31) / 32 * 32;
  // Every byte, two of its bits: it is told, or it meant nothing.
  unsigned reported = 0, meant_nothing = 0;
  for (std::size_t at = 0; at < end; ++at) {
    CAPTURE(at);
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << at % 8));
    try {
      const auto other = read(bad);
      REQUIRE(other == whole);
      ++meant_nothing;
    } catch (const InputError& error) {
      REQUIRE_FALSE(error.remedy.empty());
      ++reported;
    }
  }
  CHECK(reported + meant_nothing == end);
  // Unused bytes of checks' words alone: 12 of them in each, and of the last one none is checked by a later one.
  CHECK(meant_nothing == 0);
  for (std::size_t size = 0; size < end; ++size) {
    CAPTURE(size);
    REQUIRE_THROWS_AS(read(good.substr(0, size)), InputError);
  }
  CHECK_THROWS_WITH(read("MRCY" + good.substr(4)), ContainsSubstring("is no record of a board's pins"));
  CHECK_THROWS_WITH(read(good, *find_preset("fpga100")), ContainsSubstring("preset fpga100 has 2, 32, 64 and 16"));
  std::string newer = good;
  newer[4] = 3;
  CHECK_THROWS_WITH(read(newer), ContainsSubstring("has version 3.0 of the format"));
  CHECK_THROWS_WITH(read(good.substr(0, end - 32)), ContainsSubstring("in the middle of a record"));
}

}  // namespace mrc::test::record_test
