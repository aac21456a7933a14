// SPDX-License-Identifier: Apache-2.0
// mrc_fpga_gen with four QPs and counters of six bits, between software that writes its registers and a core that takes
// work requests when it likes and completes them in any order.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "Vmrc_fpga_gen.h"
#include "gen/streams.hpp"
#include "tests/fpga/unit.hpp"
#include "util/rng.hpp"

namespace mrc::test::gen_test {
namespace {

constexpr unsigned kQps = 4, kWrap = 64;
constexpr unsigned kShape = 0x10, kControl = 0x14, kQpSet = 0x18, kOp = 0x1c, kLaddr = 0x20, kRaddr = 0x28,
                   kRkey = 0x30, kLength = 0x34, kStride = 0x38, kLap = 0x3c, kCount = 0x40, kLimit = 0x44,
                   kPosted = 0x50, kGood = 0x54, kFailed = 0x58, kFirst = 0x5c, kFirstId = 0x60, kOpen = 0x64,
                   kCyclesLo = 0x68, kRecv = 0x70, kRecvFailed = 0x74, kStrays = 0x78;
constexpr uint32_t kRuns = 1, kBusy = 2, kCut = 4;

class Bench : public RegisterUnit<Bench, Vmrc_fpga_gen> {
 public:
  explicit Bench(uint64_t seed) : RegisterUnit("gen"), rng(seed, "gen") {
    top->run_i = 1;
    reset();
  }

  void set_up(uint32_t qps, uint32_t count, uint32_t limit, uint32_t lap = 0) {
    REQUIRE(write(kQpSet, qps));
    REQUIRE(write(kOp, 1));
    REQUIRE(write(kLaddr, 0x1000));
    REQUIRE(write(kLaddr + 4, 0xffffffff));
    REQUIRE(write(kRaddr, 0xfffffff0));
    REQUIRE(write(kRaddr + 4, 2));
    REQUIRE(write(kRkey, 0xabcd));
    REQUIRE(write(kLength, 77));
    REQUIRE(write(kStride, 0x100));
    REQUIRE(write(kLap, lap));
    REQUIRE(write(kCount, count));
    REQUIRE(write(kLimit, limit));
  }
  void complete(const Cqe& cqe) { to_come.push_back(cqe); }
  /// The completion of a work request that was taken.
  void complete(const Wqe& wqe, CqStatus status = CqStatus::Ok) {
    Cqe cqe;
    cqe.qp = wqe.qp;
    cqe.wr_id = wqe.wr_id;
    cqe.status = status;
    complete(cqe);
  }

  void cycle() {
    auto& t = *top;
    t.wqe_ready_i = rng.chance(takes);
    t.cqe_valid_i = !to_come.empty() && rng.chance(answers);
    if (t.cqe_valid_i) to_come.front().pack(&t.cqe_i[0]);
    settle();
    REQUIRE(t.cqe_ready_o);
    const Wqe wqe = Wqe::unpack(&t.wqe_o[0]);
    if (held_ && t.run_i) {
      REQUIRE(t.wqe_valid_o);
      REQUIRE(wqe == *held_);
    }
    held_.reset();
    if (t.wqe_valid_o && t.wqe_ready_i) taken.push_back(wqe);
    if (t.wqe_valid_o && !t.wqe_ready_i) held_ = wqe;
    if (t.cqe_valid_i) to_come.pop_front();
    edge();
    ++now;
  }
  void run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) cycle();
  }

  Rng rng;
  double takes = 1.0, answers = 1.0;
  std::vector<Wqe> taken;
  std::deque<Cqe> to_come;
  uint64_t now = 0;

 private:
  std::optional<Wqe> held_;
};

}  // namespace

TEST_CASE("a run posts what its registers say, QP by QP, and counts what comes back", "[fpga][gen]") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Bench bench(seed);
    bench.takes = 0.2 + 0.2 * static_cast<double>(seed % 5);
    const auto set = static_cast<uint32_t>(bench.rng.between(1, 15));
    const auto count = static_cast<uint32_t>(bench.rng.between(1, 60)),
               limit = static_cast<uint32_t>(bench.rng.between(1, 9));
    const auto lap = static_cast<uint32_t>(bench.rng.below(6));
    bench.set_up(set, count, limit, lap);
    REQUIRE(bench.write(kControl, 1));
    const uint64_t begin = bench.now;
    uint32_t good = 0, failed = 0, recv = 0, recv_failed = 0;
    std::size_t reported = 0;
    uint64_t last = 0;
    std::optional<Wqe> first;
    CqStatus why = CqStatus::Ok;
    while ((bench.read(kControl) & kBusy) != 0) {
      REQUIRE(bench.now < begin + 10'000);
      REQUIRE(bench.read(kOpen) <= limit);
      // Completions of what was taken, those of receives between them.
      if (reported < bench.taken.size() && bench.to_come.empty() && bench.rng.chance(0.4)) {
        const Wqe wqe = bench.taken[reported++];
        const CqStatus status = bench.rng.chance(0.2) ? CqStatus::RemAccess : CqStatus::Ok;
        status == CqStatus::Ok ? ++good : ++failed;
        if (status != CqStatus::Ok && !first) {
          first = wqe;
          why = status;
        }
        bench.complete(wqe, status);
        last = bench.now;
      } else if (bench.to_come.empty() && bench.rng.chance(0.2)) {
        Cqe cqe;
        cqe.recv = true;
        cqe.status = bench.rng.chance(0.5) ? CqStatus::RemOp : CqStatus::Ok;
        cqe.status == CqStatus::Ok ? ++recv : ++recv_failed;
        bench.complete(cqe);
      }
      bench.cycle();
    }
    bench.run(10);
    REQUIRE(bench.taken.size() == count);
    unsigned qp = 3;
    for (uint32_t n = 0; n < count; ++n) {
      CAPTURE(n);
      const Wqe& wqe = bench.taken[n];
      do {
        qp = (qp + 1) % kQps;
      } while ((set >> qp & 1) == 0);
      const uint64_t far = uint64_t{0x100} * (lap == 0 ? n : n % lap);
      CHECK(wqe.qp == qp);
      CHECK(wqe.laddr == 0xffffffff00001000 + far);
      CHECK(wqe.raddr == 0x2fffffff0 + far);
      CHECK(wqe.rkey == 0xabcd);
      CHECK(wqe.length == 77);
      CHECK(wqe.imm_valid);
      CHECK(wqe.imm == wqe.wr_id);
      CHECK(wqe.wr_id == (1u << 24 | n));
    }
    CHECK(bench.read(kPosted) == count);
    CHECK(bench.read(kGood) == good);
    CHECK(bench.read(kFailed) == failed);
    CHECK(bench.read(kRecv) == recv % kWrap);
    CHECK(bench.read(kRecvFailed) == recv_failed % kWrap);
    CHECK(bench.read(kStrays) == 0);
    CHECK(bench.read(kCyclesLo) == (last - begin) % (kWrap * kWrap));
    CHECK(bench.read(kControl) == 0);
    CHECK(bench.read(kFirst) == (first ? uint32_t{first->qp} << 16 | 0x100 | static_cast<uint32_t>(why) : 0));
    if (first) CHECK(bench.read(kFirstId) == first->wr_id);
  }
}

TEST_CASE("a run that is stopped ends with what is open", "[fpga][gen]") {
  Bench bench(1);
  bench.set_up(1, 0, 5);
  REQUIRE(bench.write(kControl, 1));
  bench.takes = 0.0;
  bench.run(5);
  REQUIRE(bench.write(kControl, 0));  // one is on offer: it stays
  bench.run(5);
  CHECK(bench.top->wqe_valid_o);
  CHECK(bench.read(kControl) == kBusy);
  bench.takes = 1.0;
  bench.run(5);
  CHECK(bench.taken.size() == 1);
  CHECK(bench.read(kOpen) == 1);
  bench.complete(bench.taken[0]);
  bench.run(2);
  CHECK(bench.read(kControl) == 0);
  CHECK(bench.read(kGood) == 1);
  // The next run begins with new numbers.
  REQUIRE(bench.write(kControl, 1));
  bench.run(3);
  CHECK(bench.taken.at(1).wr_id == 2u << 24);
}

TEST_CASE("a run of which nothing ends is given up, and what comes later is a stray", "[fpga][gen]") {
  Bench bench(2);
  bench.set_up(3, 4, 8);
  REQUIRE(bench.write(kControl, 1));
  bench.run(1000);
  CHECK(bench.read(kControl) == kBusy);
  CHECK(bench.read(kOpen) == 4);
  CHECK_FALSE(bench.write(kControl, 1));
  CHECK_FALSE(bench.write(kControl, 4));
  REQUIRE(bench.write(kControl, 2));
  CHECK(bench.read(kControl) == kCut);
  CHECK(bench.read(kOpen) == 0);
  bench.complete(bench.taken[0]);
  bench.run(2);
  CHECK(bench.read(kStrays) == 1);
  // Nor are they those of the next run.
  REQUIRE(bench.write(kControl, 1));
  bench.run(6);
  CHECK(bench.read(kControl) == kBusy);
  bench.complete(bench.taken[1], CqStatus::Flushed);
  bench.run(2);
  CHECK(bench.read(kStrays) == 1);
  CHECK(bench.read(kFailed) == 0);
  CHECK(bench.read(kOpen) == 4);
  for (unsigned n = 4; n < 8; ++n) bench.complete(bench.taken.at(n));
  bench.run(5);
  CHECK(bench.read(kGood) == 4);
  CHECK(bench.read(kControl) == 0);
  // And one that comes twice.
  bench.complete(bench.taken[7]);
  bench.run(2);
  CHECK(bench.read(kStrays) == 2);
  REQUIRE(bench.write(kControl, 4));
  CHECK(bench.read(kStrays) == 0);
  CHECK(bench.read(kGood) == 0);
}

TEST_CASE("the generator's counters wrap around", "[fpga][gen]") {
  Bench bench(3);
  bench.set_up(15, 0, 2, 3);
  REQUIRE(bench.write(kControl, 1));
  std::size_t reported = 0;
  uint32_t failed = 0, good = 0;
  while (bench.taken.size() < 3 * kWrap) {
    if (reported < bench.taken.size()) {
      const bool bad = reported % 2 != 0;
      ++(bad ? failed : good);
      bench.complete(bench.taken[reported++], bad ? CqStatus::Flushed : CqStatus::Ok);
    }
    Cqe recv;
    recv.recv = true;
    if (bench.to_come.size() < 2) bench.complete(recv);
    bench.cycle();
  }
  REQUIRE(bench.write(kControl, 0));
  while (!bench.to_come.empty()) bench.cycle();
  CHECK(bench.read(kPosted) == (good + failed + bench.read(kOpen)) % kWrap);
  CHECK(bench.read(kGood) == good % kWrap);
  CHECK(bench.read(kFailed) == failed % kWrap);
  CHECK(good + failed > 2 * kWrap);
  CHECK(bench.taken[kWrap].wr_id == 1u << 24);
}

TEST_CASE("a core that is reset cuts a run, and a run begins anew behind it", "[fpga][gen]") {
  Bench bench(4);
  bench.set_up(1, 10, 4);
  REQUIRE(bench.write(kControl, 1));
  bench.takes = 0.0;
  bench.run(4);
  bench.top->run_i = 0;
  Cqe late;
  late.recv = true;
  bench.complete(late);
  bench.run(4);
  CHECK_FALSE(bench.top->wqe_valid_o);
  CHECK(bench.read(kControl) == kCut);
  CHECK(bench.read(kOpen) == 0);
  CHECK(bench.read(kRecv) == 0);  // while it is in reset nothing counts
  CHECK_FALSE(bench.write(kControl, 1));
  bench.top->run_i = 1;
  bench.takes = 1.0;
  REQUIRE(bench.write(kControl, 1));
  bench.run(8);
  CHECK(bench.taken.size() == 4);
  CHECK(bench.read(kControl) == (kRuns | kBusy));
}

TEST_CASE("every word of the generator's registers is as the contract says", "[fpga][gen]") {
  Bench bench(5);
  const std::map<unsigned, uint32_t> rw{{kQpSet, 15},   {kOp, 1},          {kLaddr, ~0u}, {kLaddr + 4, ~0u},
                                        {kRaddr, ~0u},  {kRaddr + 4, ~0u}, {kRkey, ~0u},  {kLength, ~0u},
                                        {kStride, ~0u}, {kLap, ~0u},       {kCount, ~0u}, {kLimit, 0xffff}};
  for (unsigned at = 0x10; at < 0x1000; at += 4) {
    CAPTURE(at);
    const bool ro = at == kShape || (at >= kPosted && at <= kStrays);
    if (at != kControl) CHECK(bench.write(at, ~0u) == rw.contains(at));
    CHECK(bench.try_read(at).has_value() == (ro || at == kControl || rw.contains(at)));
    for (unsigned strobes = 0; strobes < 15; ++strobes) REQUIRE_FALSE(bench.write(at, 0, strobes));
  }
  CHECK(bench.read(kShape) == (64u << 16 | kQps));
  for (const auto& [at, mask] : rw) CHECK(bench.read(at) == mask);
  for (const auto& [at, mask] : rw) CHECK(bench.write(at, at * 0x01000193));
  for (const auto& [at, mask] : rw) CHECK(bench.read(at) == (at * 0x01000193 & mask));
  // A run needs a QP and a place.
  CHECK(bench.write(kQpSet, 0));
  CHECK_FALSE(bench.write(kControl, 1));
  CHECK(bench.write(kQpSet, 1));
  CHECK(bench.write(kLimit, 0));
  CHECK_FALSE(bench.write(kControl, 1));
  CHECK(bench.write(kLimit, 1));
  CHECK_FALSE(bench.write(kControl, 3));
  CHECK(bench.write(kControl, 1));
  for (const auto& [at, mask] : rw) CHECK_FALSE(bench.write(at, 1));
  CHECK(bench.read(kRkey) == kRkey * 0x01000193);
}

}  // namespace mrc::test::gen_test
