// SPDX-License-Identifier: Apache-2.0
// fpga/rtl/mrc_fpga_map.sv between a shell that stalls at random and a core of registers that answers late, or never.
// Every access is compared with a model of the map; nothing may hang.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "Vmrc_fpga_map.h"
#include "tests/fpga/unit.hpp"
#include "util/rng.hpp"

namespace mrc::test::map_test {
namespace {

constexpr unsigned kWaitCycles = 40, kPlanes = 2, kCounts = 10, kCountWrap = 16, kCoreWords = 0x80, kHostWords = 8;
constexpr uint32_t kBoard = 0x4d524342, kCore = 0x4d52434e, kLane = 0x4d52434c, kHost = 0x4d524348, kBuild = 0x20260042;
constexpr uint16_t kScratch = 0x18, kState = 0x1c, kLate = 0x20, kRefused = 0x24, kHold = 0x1010, kCoreState = 0x1014,
                   kRegs = 0x2000, kHostAt = 0x3000 + 0x1000 * kPlanes, kQpFailed = kHostAt + 0x10;
constexpr unsigned kOkay = 0, kSlvErr = 2;

/// One access of the shell and what came back.
struct Access {
  bool write = false;
  uint16_t address = 0;
  uint32_t data = 0;
  unsigned strb = 0xf;
};
struct Answer {
  unsigned resp = 0;
  uint32_t data = 0;
  uint64_t cycles = 0;
};

/// A core behind AXI4-Lite: words below kCoreWords can be read and written but for every fourth, which can be read
/// only.
class Core {
 public:
  explicit Core(Rng& rng) : rng_(rng) {
    for (uint32_t i = 0; i < kCoreWords; ++i) words[i] = 0xc0de0000 + i;
  }
  static bool writable(uint16_t address) { return address / 4u < kCoreWords && address / 4u % 4 != 3; }

  /// Chance in each cycle that AW, W and AR are taken, and that an answer comes.
  double takes = 1.0, answers = 1.0;
  /// It is in reset: it forgets what it was asked, and takes whatever is offered.
  bool in_reset = false;
  bool holds_writes = false, holds_reads = false;
  std::array<uint32_t, kCoreWords> words{};
  uint64_t writes = 0, reads = 0;

  /// Looks at the pins before an edge, and says what they are after it.
  template <class Top>
  void sample(const Top& t) {
    if (in_reset) {
      aw_.reset();
      w_.reset();
      ar_.reset();
      b_.reset();
      r_.reset();
      return;
    }
    if (t.m_axil_awvalid_o && t.m_axil_awready_i) {
      REQUIRE(!aw_);
      aw_ = t.m_axil_awaddr_o;
    }
    if (t.m_axil_wvalid_o && t.m_axil_wready_i) {
      REQUIRE(!w_);
      w_ = std::pair<uint32_t, unsigned>{t.m_axil_wdata_o, t.m_axil_wstrb_o};
    }
    if (t.m_axil_arvalid_o && t.m_axil_arready_i) {
      REQUIRE(!ar_);
      ar_ = t.m_axil_araddr_o;
    }
    if (t.m_axil_bvalid_i && t.m_axil_bready_o) b_.reset();
    if (t.m_axil_rvalid_i && t.m_axil_rready_o) r_.reset();
    if (aw_ && w_ && !b_ && !holds_writes && rng_.chance(answers)) {
      ++writes;
      b_ = kSlvErr;
      if (writable(*aw_)) {
        b_ = kOkay;
        for (unsigned i = 0; i < 4; ++i) {
          if ((w_->second >> i & 1) == 0) continue;
          const uint32_t mask = 0xffu << 8 * i;
          words[*aw_ / 4u] = (words[*aw_ / 4u] & ~mask) | (w_->first & mask);
        }
      }
      aw_.reset();
      w_.reset();
    }
    if (ar_ && !r_ && !holds_reads && rng_.chance(answers)) {
      ++reads;
      const bool known = *ar_ / 4u < kCoreWords;
      r_ = std::pair<uint32_t, unsigned>{known ? words[*ar_ / 4u] : 0, known ? kOkay : kSlvErr};
      ar_.reset();
    }
  }
  template <class Top>
  void drive(Top& t) {
    t.m_axil_awready_i = !aw_ && rng_.chance(takes);
    t.m_axil_wready_i = !w_ && rng_.chance(takes);
    t.m_axil_arready_i = !ar_ && rng_.chance(takes);
    t.m_axil_bvalid_i = b_.has_value();
    t.m_axil_bresp_i = static_cast<uint8_t>(b_.value_or(rng_.below(4)));
    t.m_axil_rvalid_i = r_.has_value();
    t.m_axil_rdata_i = r_ ? r_->first : static_cast<uint32_t>(rng_.next());
    t.m_axil_rresp_i = static_cast<uint8_t>(r_ ? r_->second : rng_.below(4));
  }

 private:
  Rng& rng_;
  std::optional<uint16_t> aw_, ar_;
  std::optional<std::pair<uint32_t, unsigned>> w_, r_;
  std::optional<unsigned> b_;
};

/// The map with its clock, a core, and a shell that has one write and one read under way at a time.
class Bench : public Unit<Vmrc_fpga_map> {
 public:
  explicit Bench(uint64_t seed) : Unit("map"), rng(seed, "map"), core(rng) {
    top->link_up_i = 2;
    top->state_i = 1;
    for (unsigned i = 0; i < kHostWords; ++i) top->host_i[i] = 0xcd000000 + i;
    for (unsigned i = 0; i < kPlanes * kCounts; ++i) top->lane_counts_i[i] = 0xab000000 + i;
    reset([this] { cycle(); });
  }

  /// Begins an access; its direction must be idle.
  void begin(const Access& access) {
    Way& way = ways_[access.write];
    REQUIRE(way.idle);
    way = Way{false, access, true, access.write, access.write ? rng.chance(0.5) : false, now, std::nullopt};
  }
  bool idle(bool write) const { return ways_[write].idle; }
  std::optional<Answer>& answer(bool write) { return ways_[write].answer; }

  void cycle() {
    auto& t = *top;
    // What the shell offers in this cycle.
    Way& w = ways_[1];
    Way& r = ways_[0];
    if (!offered_[0]) offered_[0] = !w.idle && w.address && rng.chance(offers) && !(w.data_first && w.data);
    if (!offered_[1])
      offered_[1] = !w.idle && w.data && rng.chance(offers) && (w.data_first || !w.address || rng.chance(0.5));
    if (!offered_[2]) offered_[2] = !r.idle && r.address && rng.chance(offers);
    t.s_axil_awvalid_i = offered_[0];
    t.s_axil_awaddr_i = offered_[0] ? w.access.address : static_cast<uint16_t>(rng.next());
    t.s_axil_wvalid_i = offered_[1];
    t.s_axil_wdata_i = offered_[1] ? w.access.data : static_cast<uint32_t>(rng.next());
    t.s_axil_wstrb_i = static_cast<uint8_t>(offered_[1] ? w.access.strb : rng.below(16));
    t.s_axil_arvalid_i = offered_[2];
    t.s_axil_araddr_i = offered_[2] ? r.access.address : static_cast<uint16_t>(rng.next());
    t.s_axil_bready_i = rng.chance(ready);
    t.s_axil_rready_i = rng.chance(ready);
    core.drive(t);
    settle();
    if (t.rst_ni) {
      watch();
      core.sample(t);
    }
    edge();
    ++now;
  }

  /// One access from its beginning to its answer.
  Answer run(const Access& access) {
    begin(access);
    for (unsigned i = 0; i < 2000; ++i) {
      if (auto& done = answer(access.write)) return *std::exchange(done, std::nullopt);
      cycle();
    }
    FAIL("an access hangs");
    return {};
  }
  Answer read(uint16_t address) { return run({false, address}); }
  Answer write(uint16_t address, uint32_t data, unsigned strb = 0xf) { return run({true, address, data, strb}); }

  Rng rng;
  Core core;
  double offers = 1.0, ready = 1.0;
  uint64_t now = 0;
  std::vector<bool> holds;        ///< what was written to CORE_HOLD
  std::vector<uint32_t> cleared;  ///< bits of QP_FAILED that were written, by write

 private:
  struct Way {
    bool idle = true;
    Access access;
    bool address = false, data = false, data_first = false;  ///< what is still to be taken
    uint64_t since = 0;
    std::optional<Answer> answer;
  };
  /// Handshakes of this cycle; an answer that waits must stay as it is.
  void watch() {
    auto& t = *top;
    Way& w = ways_[1];
    Way& r = ways_[0];
    if (t.hold_we_o) holds.push_back(t.hold_o);
    if (t.clear_o != 0) cleared.push_back(t.clear_o);
    if (held_[1]) REQUIRE((t.s_axil_bvalid_o && t.s_axil_bresp_o == held_[1]->resp));
    if (held_[0]) {
      REQUIRE((t.s_axil_rvalid_o && t.s_axil_rresp_o == held_[0]->resp && t.s_axil_rdata_o == held_[0]->data));
    }
    if (t.s_axil_bvalid_o) {
      REQUIRE((!w.idle && !w.address && !w.data));
      held_[1] = Answer{t.s_axil_bresp_o, 0, now - w.since};
      if (t.s_axil_bready_i) {
        w.idle = true;
        w.answer = std::exchange(held_[1], std::nullopt);
      }
    }
    if (t.s_axil_rvalid_o) {
      REQUIRE((!r.idle && !r.address));
      held_[0] = Answer{t.s_axil_rresp_o, t.s_axil_rdata_o, now - r.since};
      if (t.s_axil_rready_i) {
        r.idle = true;
        r.answer = std::exchange(held_[0], std::nullopt);
      }
    }
    if (t.s_axil_awvalid_i && t.s_axil_awready_o) w.address = offered_[0] = false;
    if (t.s_axil_wvalid_i && t.s_axil_wready_o) w.data = offered_[1] = false;
    if (t.s_axil_arvalid_i && t.s_axil_arready_o) r.address = offered_[2] = false;
    if (!w.address && !w.data && !w.idle && !taken_) {
      w.since = now;
      taken_ = true;
    }
    if (w.idle) taken_ = false;
    if (r.address) r.since = now + 1;
  }
  std::array<Way, 2> ways_;
  std::array<bool, 3> offered_{};
  std::array<std::optional<Answer>, 2> held_;
  bool taken_ = false;
};

/// What a read of the map says, but for the core's registers and the registers that change.
std::optional<uint32_t> constant(uint16_t address) {
  const unsigned page = address >> 12, word = (address & 0xfff) / 4;
  const bool lane = page >= 3 && page < 3 + kPlanes, host = page == 3 + kPlanes;
  if (page > 1 && !lane && !host) return std::nullopt;
  switch (word) {
    case 0:
      return page == 0 ? kBoard : page == 1 ? kCore : host ? kHost : kLane;
    case 1:
      return 0x100;
    case 2:
      return page == 1 ? 0x2000 : 0x1000;
    case 3:
      return page == 0 ? 0x1000 : page == 1 ? 0x3000 : host ? 0 : (page + 1) << 12;
    default:
      break;
  }
  if (page == 0) {
    if (word == 4) return kBuild;
    if (word == 5) return 64 << 16 | 32 << 8 | kPlanes;
    if (word >= 6 && word < 10) return 0;
  }
  if (page == 1 && word == 4) return 0;
  if (page == 1 && word == 5) return 1;
  if (host && word >= 4 && word < 4 + kHostWords) return 0xcd000000 + word - 4;
  if (lane) {
    if (word == 4) return page - 3;
    if (word == 5) return page - 3;  // the bench says that the link of plane 1 is up
    if (word >= 16 && word < 16 + kCounts) return 0xab000000 + (page - 3) * kCounts + word - 16;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("software finds each block of a board by walking the list", "[fpga][map]") {
  Bench bench(1);
  std::vector<uint32_t> ids;
  uint32_t at = 0, end = 0;
  do {
    REQUIRE(at >= end);
    REQUIRE(at % 0x1000 == 0);
    std::array<uint32_t, 4> header{};
    for (unsigned i = 0; i < 4; ++i) {
      const Answer answer = bench.read(static_cast<uint16_t>(at + 4 * i));
      REQUIRE(answer.resp == kOkay);
      header[i] = answer.data;
    }
    ids.push_back(header[0]);
    CHECK(header[1] >> 8 == 1);
    CHECK(header[2] % 0x1000 == 0);
    end = at + header[2];
    at = header[3];
    REQUIRE(ids.size() < 20);
  } while (at != 0);
  CHECK(ids == std::vector<uint32_t>{kBoard, kCore, kLane, kLane, kHost});
  CHECK(bench.read(kRegs).data == 0xc0de0000);
}

TEST_CASE("every word of a board's address space is a register, the core's, or refused", "[fpga][map]") {
  Bench bench(2);
  unsigned registers = 0;
  for (uint32_t address = 0; address < 0x10000; address += 4) {
    const auto at = static_cast<uint16_t>(address);
    CAPTURE(at);
    const uint64_t writes = bench.core.writes, reads = bench.core.reads;
    const Answer got = bench.read(static_cast<uint16_t>(at + bench.rng.below(4)));
    const bool core = address >> 12 == 2;
    REQUIRE(bench.core.reads == reads + core);
    if (core) {
      REQUIRE(got.resp == ((address & 0xfff) / 4 < kCoreWords ? kOkay : kSlvErr));
      if (got.resp == kOkay) REQUIRE(got.data == bench.core.words[(address & 0xfff) / 4]);
    } else if (const auto expected = constant(at)) {
      ++registers;
      REQUIRE(got.resp == kOkay);
      REQUIRE(got.data == *expected);
    } else {
      REQUIRE(got.resp == kSlvErr);
      REQUIRE(got.data == 0);
    }
    REQUIRE(got.cycles == (core ? 5 : 3));
    const uint32_t data = static_cast<uint32_t>(bench.rng.next());
    const Answer put = bench.write(static_cast<uint16_t>(at + bench.rng.below(4)), data);
    REQUIRE(bench.core.writes == writes + core);
    const bool good = core ? Core::writable(static_cast<uint16_t>(address & 0xfff))
                           : at == kScratch || at == kHold || at == kQpFailed;
    REQUIRE(put.resp == (good ? kOkay : kSlvErr));
    if (core && good) REQUIRE(bench.core.words[(address & 0xfff) / 4] == data);
    if (at == kScratch) {
      REQUIRE(bench.read(kScratch).data == data);
      REQUIRE(bench.write(kScratch, 0).resp == kOkay);
    }
  }
  CHECK(registers == 10 + 4 + 2 + kPlanes * (6 + kCounts) + 4 + kHostWords);
  CHECK(bench.holds.size() == 1);
  CHECK(bench.cleared.size() == 1);
}

TEST_CASE("writes and reads of a board's registers are right whatever waits for what", "[fpga][map]") {
  uint64_t accesses = 0, both = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Bench bench(seed);
    bench.offers = seed % 3 == 0 ? 1.0 : 0.4;
    bench.ready = seed % 4 == 0 ? 1.0 : 0.4;
    bench.core.takes = seed % 2 == 0 ? 1.0 : 0.5;
    bench.core.answers = 0.5;  // never as late as the limit
    // A direction's expectation is made when it begins: writes and reads go to words of their own.
    std::array<uint32_t, kCoreWords> words = bench.core.words;
    uint32_t scratch = 0, expected = 0;
    bool good_read = false, good_write = false;
    for (unsigned i = 0; i < 6000; ++i) {
      if (bench.idle(true)) {
        if (auto& done = bench.answer(true)) {
          REQUIRE(done->resp == (good_write ? kOkay : kSlvErr));
          done.reset();
          ++accesses;
        }
        Access access{true, 0, static_cast<uint32_t>(bench.rng.next()), static_cast<unsigned>(bench.rng.below(16))};
        const auto kind = bench.rng.below(4);
        const auto word = static_cast<uint16_t>(bench.rng.below(kCoreWords / 2 + 8));
        access.address = static_cast<uint16_t>(kind == 0 ? kScratch : kind == 1 ? bench.rng.next() : kRegs + 8 * word);
        const bool to_core = access.address >> 12 == 2;
        const auto at = static_cast<uint16_t>(access.address & 0xffc);
        // Odd words are read alone.
        if (!(to_core && at / 4 % 2 == 1)) {
          const unsigned word_at = access.address & 0xfffc;
          good_write = to_core ? Core::writable(at) : word_at == kScratch || word_at == kHold || word_at == kQpFailed;
          for (unsigned b = 0; good_write && b < 4; ++b) {
            if ((access.strb >> b & 1) == 0) continue;
            const uint32_t mask = 0xffu << 8 * b;
            uint32_t ignored = 0;
            uint32_t& value = to_core ? words[at / 4] : word_at == kScratch ? scratch : ignored;
            value = (value & ~mask) | (access.data & mask);
          }
          bench.begin(access);
        }
      }
      if (bench.idle(false)) {
        if (auto& done = bench.answer(false)) {
          REQUIRE(done->resp == (good_read ? kOkay : kSlvErr));
          REQUIRE(done->data == (good_read ? expected : 0));
          done.reset();
          ++accesses;
        }
        const bool to_core = bench.rng.chance(0.5);
        const auto word = static_cast<uint16_t>(bench.rng.below(kCoreWords / 2 + 8));
        const auto address = static_cast<uint16_t>(to_core ? kRegs + 8 * word + 4 : bench.rng.below(0x8000) & ~3u);
        if (to_core || (address >> 12 != 2 && address != kScratch)) {
          const unsigned at = (address & 0xfff) / 4;
          good_read = to_core ? at < kCoreWords : constant(address).has_value();
          expected = !good_read ? 0 : to_core ? words[at] : *constant(address);
          bench.begin({false, address});
        }
      }
      both += !bench.idle(true) && !bench.idle(false);
      bench.cycle();
    }
    for (unsigned i = 0; i < 400; ++i) bench.cycle();
    REQUIRE((bench.idle(true) && bench.idle(false)));
    bench.answer(true).reset();
    bench.answer(false).reset();
    CHECK(bench.core.words == words);
    CHECK(bench.read(kScratch).data == scratch);
    CHECK(bench.read(kLate).data == 0);
  }
  CHECK(accesses > 5000);
  CHECK(both > 10000);
}

TEST_CASE("the core's reset and the marks of failed QPs are written once, and byte by byte", "[fpga][map]") {
  Bench bench(7);
  CHECK(bench.write(kHold, 0xffffff01).resp == kOkay);
  CHECK(bench.write(kHold, 0xffffff01, 0xe).resp == kOkay);  // not the byte of bit 0
  CHECK(bench.write(kHold, 0xfffffffe).resp == kOkay);
  CHECK(bench.write(kCoreState, 1).resp == kSlvErr);
  CHECK(bench.holds == std::vector<bool>{true, false});
  CHECK(bench.write(kQpFailed, 0x80402010, 0x5).resp == kOkay);
  CHECK(bench.write(kQpFailed, 0xffffffff, 0).resp == kOkay);
  CHECK(bench.write(kQpFailed + 4, 0xffffffff).resp == kSlvErr);
  CHECK(bench.cleared == std::vector<uint32_t>{0x00400010});
  for (unsigned state = 0; state < 8; ++state) {
    bench.top->state_i = static_cast<uint8_t>(state);
    bench.top->hold_i = state >> 1 & 1;
    CHECK(bench.read(kCoreState).data == state);
    CHECK(bench.read(kHold).data == (state >> 1 & 1));
  }
}

TEST_CASE("a core in reset is asked nothing, and owes nothing behind it", "[fpga][map]") {
  Bench bench(8);
  for (const bool owes : {false, true}) {
    CAPTURE(owes);
    bench.core.holds_writes = bench.core.holds_reads = true;
    bench.begin({true, kRegs, 1});
    bench.begin({false, kRegs + 4});
    for (unsigned i = 0; i < (owes ? 2 * kWaitCycles : 10); ++i) bench.cycle();
    CHECK(bench.idle(true) == owes);
    bench.top->state_i = 2;
    bench.core.in_reset = true;
    for (unsigned i = 0; i < 4; ++i) bench.cycle();
    for (const bool write : {false, true}) {
      REQUIRE(bench.answer(write));
      CHECK(bench.answer(write)->resp == kSlvErr);
      CHECK(bench.answer(write)->data == 0);
      bench.answer(write).reset();
    }
    CHECK(bench.read(kState).data == 0);
    const uint32_t refused = bench.read(kRefused).data;
    CHECK(bench.write(kRegs + 4, 2).resp == kSlvErr);
    CHECK(bench.read(kRegs + 4).resp == kSlvErr);
    CHECK(bench.read(kRefused).data == refused + 2);
    CHECK(bench.write(kScratch, 5).resp == kOkay);
    bench.top->state_i = 1;
    bench.core.in_reset = bench.core.holds_writes = bench.core.holds_reads = false;
    CHECK(bench.write(kRegs + 4, 3 + owes).resp == kOkay);
    CHECK(bench.read(kRegs + 4).data == 3u + owes);
    CHECK(bench.core.words[0] == 0xc0de0000);
  }
  CHECK(bench.read(kLate).data == 2);
}

TEST_CASE("registers are read while the core owes a write", "[fpga][map]") {
  Bench bench(3);
  bench.core.holds_writes = true;
  bench.begin({true, kRegs, 1});
  for (unsigned i = 0; i < 10; ++i) bench.cycle();
  REQUIRE(!bench.idle(true));
  CHECK(bench.read(kRegs + 4).resp == kOkay);  // before the time is over
  CHECK(bench.read(0).data == kBoard);
  for (unsigned i = 0; i < 2 * kWaitCycles; ++i) bench.cycle();
  REQUIRE(bench.idle(true));
  CHECK(bench.answer(true)->resp == kSlvErr);
  CHECK(bench.answer(true)->cycles == kWaitCycles + 3);
  bench.answer(true).reset();
  CHECK(bench.read(kState).data == 1);
  CHECK(bench.read(kLate).data == 1);
  CHECK(bench.write(kRegs + 8, 2).resp == kSlvErr);
  CHECK(bench.write(kScratch, 7).resp == kOkay);
  CHECK(bench.read(kScratch).data == 7);
  CHECK(bench.read(kRefused).data == 1);
  CHECK(bench.read(kRegs + 4).data == 0xc0de0001);
  CHECK(bench.core.writes == 0);
}

TEST_CASE("a core that answers late is answered for, and its answer goes to nobody", "[fpga][map]") {
  Bench bench(4);
  bench.core.holds_writes = bench.core.holds_reads = true;
  CHECK(bench.write(kRegs + 8, 0x11).resp == kSlvErr);
  const Answer late = bench.read(kRegs + 12);
  CHECK(late.resp == kSlvErr);
  CHECK(late.data == 0);
  CHECK(bench.read(kState).data == 3);
  CHECK(bench.write(kRegs + 16, 0x22).resp == kSlvErr);
  CHECK(bench.read(kRegs + 20).resp == kSlvErr);
  bench.core.holds_writes = bench.core.holds_reads = false;
  for (unsigned i = 0; i < 10; ++i) bench.cycle();
  CHECK(bench.read(kState).data == 0);
  CHECK(bench.core.words[2] == 0x11);  // the late one took effect, the refused one did not
  CHECK(bench.core.words[4] == 0xc0de0004);
  CHECK(bench.write(kRegs + 16, 0x33).resp == kOkay);
  CHECK(bench.read(kRegs + 16).data == 0x33);
  CHECK(bench.read(kLate).data == 2);
  CHECK(bench.read(kRefused).data == 2);
}

TEST_CASE("accesses end in time and in their turn when the core holds them at random", "[fpga][map]") {
  Bench bench(5);
  bench.offers = bench.ready = 0.7;
  uint64_t late = 0, refused = 0, good = 0;
  unsigned expected = 0;
  for (unsigned i = 0; i < 40000; ++i) {
    if (bench.rng.chance(0.02)) bench.core.holds_writes = !bench.core.holds_writes;
    if (bench.rng.chance(0.02)) bench.core.holds_reads = !bench.core.holds_reads;
    for (const bool write : {false, true}) {
      if (!bench.idle(write)) continue;
      if (auto& done = bench.answer(write)) {
        CHECK(done->cycles <= kWaitCycles + 3 + 40);  // B and R may wait for the shell
        if (done->resp == kOkay) {
          ++good;
          // Even words are never written: a read of one has its own value, or another's answer was taken for it.
          if (!write) CHECK(done->data == 0xc0de0000 + expected);
        } else {
          (done->cycles > kWaitCycles ? late : refused) += 1;
        }
        done.reset();
      }
      const auto word = static_cast<uint16_t>(4 * bench.rng.below(kCoreWords / 4) + (write ? 1 : 2));
      if (!write) expected = word;
      bench.begin({write, static_cast<uint16_t>(kRegs + 4 * word), static_cast<uint32_t>(bench.rng.next())});
    }
    bench.cycle();
  }
  CHECK(late > 20);
  CHECK(refused > 200);
  CHECK(good > 500);
}

TEST_CASE("a board's counters wrap around", "[fpga][map]") {
  Bench bench(6);
  for (unsigned n = 1; n <= kCountWrap / 2 + 2; ++n) {
    CAPTURE(n);
    // Both directions are late in one cycle, then both are refused in one.
    bench.core.holds_writes = bench.core.holds_reads = true;
    for (unsigned pass = 0; pass < 2; ++pass) {
      bench.begin({true, kRegs, 0});
      bench.begin({false, kRegs});
      for (unsigned i = 0; i < 2 * kWaitCycles; ++i) bench.cycle();
      REQUIRE((bench.answer(true) && bench.answer(false)));
      CHECK(bench.answer(true)->resp == kSlvErr);
      CHECK(bench.answer(false)->resp == kSlvErr);
      bench.answer(true).reset();
      bench.answer(false).reset();
    }
    bench.core.holds_writes = bench.core.holds_reads = false;
    for (unsigned i = 0; i < 10; ++i) bench.cycle();
    CHECK(bench.read(kLate).data == 2 * n % kCountWrap);
    CHECK(bench.read(kRefused).data == 2 * n % kCountWrap);
  }
}

}  // namespace mrc::test::map_test
