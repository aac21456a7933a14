// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/interrupts.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <string>

#include "gen/protocol.hpp"
#include "tests/tb/environment/two_models.hpp"

namespace mrc::test::interrupts_test {

using namespace mrc::tb;

namespace {

constexpr const Preset& kTiny = *find_preset("tiny");
constexpr uint32_t kQpErr = 2, kEvpBit = 8;
constexpr uint32_t kFailed = 4 | 0x84 << 8, kEnded = 4, kSends = 3;  // QP_INFO

using Spoil = std::function<void(mrc_pins_out&, uint64_t cycle)>;

struct Said {
  std::string problem;
  uint32_t seen = 0;  ///< bits of IRQ
  unsigned pin = 0;   ///< cycles in which it was up
};

/// Two models; what the first one shows may be spoiled. Returns what its software has to say of its interrupts.
Said software_says(const Scenario& s, uint64_t packets, const Spoil& spoil = {}) {
  TwoModels two(kTiny, s, packets);
  Said said;
  two.shows = [&](mrc_pins_out& out, uint64_t cycle) {
    if (spoil) spoil(out, cycle);
    said.pin += out.irq;
  };
  two.run();
  CHECK(two.peer.problem().empty());
  said.problem = two.dut.problem();
  CHECK((said.problem.empty() || two.dut.problem_block() == "csr"));
  said.seen = two.dut.interrupts().all_seen();
  return said;
}

Scenario often(const char* name) {
  Scenario s = *find_scenario(name);
  s.csr_gap = 100;
  return s;
}

}  // namespace

TEST_CASE("pin irq is held against what software knows", "[tb][interrupts]") {
  Interrupts i(4);
  CHECK_FALSE(i.stray(false));
  CHECK(i.stray(true));  // nothing is enabled
  i.looks(false);
  CHECK(i.seen(0x1f, false).empty());
  CHECK(i.all_seen() == 0x1f);
  i.enabling(kEvpBit);
  CHECK_FALSE(i.stray(true));  // the pin may be up before the write is answered
  i.enabled(kEvpBit);
  CHECK_FALSE(i.stray(true));
  i.looks(false);
  CHECK(i.seen(kEvpBit, true).empty());
  i.looks(false);
  CHECK(i.seen(kEvpBit, false) == "pin irq is down, IRQ is 0x8, IRQ_ENABLE 0x8");
  i.looks(false);
  CHECK(i.seen(0x17, false).empty());
  i.looks(false);
  CHECK(i.seen(0x17, true).empty());  // one that is enabled has come since
  i.looks(true);
  CHECK(i.seen(0x17, true) == "pin irq was up, IRQ is 0x17, IRQ_ENABLE 0x8");
  i.looks(true);
  CHECK(i.seen(0x1f, true).empty());
  i.enabling(0);
  CHECK_FALSE(i.stray(true));
  i.enabled(0);
  CHECK(i.stray(true));
}

TEST_CASE("an error of a QP that QP_INFO shows is told by IRQ", "[tb][interrupts]") {
  Interrupts i(4);
  const auto read = [&](uint32_t irq) {
    i.looks(false);
    return i.seen(irq, false);
  };
  i.info(1, kSends);
  CHECK(read(0).empty());
  i.info(1, kFailed);
  CHECK(read(~kQpErr & 0x1f) == "QP 1 has failed, IRQ is 0x1d");
  CHECK(read(0).empty());  // said once
  i.info(1, kFailed);      // known
  CHECK(read(0).empty());
  i.info(2, kFailed);  // in RESET when the NIC began
  CHECK(read(kQpErr).empty());
  i.info(3, kEnded);  // software's own doing
  CHECK(read(0).empty());
  i.cleared(0x1d);
  i.info(3, kFailed);
  CHECK(read(0) == "QP 3 has failed, IRQ is 0x0");
  // After a clear nobody knows when it failed, until it is seen without an error.
  i.cleared(kQpErr);
  i.info(0, kFailed);
  CHECK(read(0).empty());
  i.info(0, kSends);
  i.info(0, kFailed);
  i.cleared(kQpErr);  // told, and cleared
  CHECK(read(0).empty());
}

TEST_CASE("software sees each interrupt, and nothing is wrong with them", "[tb][interrupts]") {
  uint32_t seen = 0;
  for (const char* name : {"mixed", "qp-error", "retry-exhaust", "dynamic-mpr"}) {
    Scenario s = often(name);
    s.control = 0.3;
    const Said said = software_says(s, 1500);
    INFO(name);
    CHECK(said.problem == "");
    CHECK(said.pin != 0);
    seen |= said.seen;
  }
  CHECK(seen == 0x1f);
}

TEST_CASE("software that does not wait for its commands is refused, and nothing is wrong with that",
          "[tb][interrupts]") {
  Scenario s = often("mixed");
  s.churn = 1;  // nothing but rows, and what is written before they are in effect
  uint64_t refused = 0, taken = 0;
  bool before = false;
  const Said said = software_says(s, 1500, [&](mrc_pins_out& o, uint64_t) {
    if (o.bvalid && !before) ++(o.bresp != 0 ? refused : taken);
    before = o.bvalid != 0;
  });
  CHECK(said.problem == "");
  CHECK(refused > 20);
  CHECK(taken > refused);
}

TEST_CASE("a NIC whose interrupts are wrong is found by its software", "[tb][interrupts]") {
  const Scenario errors = often("retry-exhaust"), losses = often("mixed");
  const auto wrong = [](const Scenario& s, const Spoil& spoil) { return software_says(s, 1500, spoil).problem; };
  CHECK(wrong(losses, [](mrc_pins_out& o, uint64_t) { o.irq = 1; }) == "pin irq is up while IRQ_ENABLE is 0");
  CHECK(wrong(losses, [](mrc_pins_out& o, uint64_t) { o.irq = 0; }).starts_with("pin irq is down, IRQ is 0x"));
  CHECK(wrong(losses, [](mrc_pins_out& o, uint64_t) { o.irq ^= 1; }) == "pin irq is up while IRQ_ENABLE is 0");
  // It is up for ever once it was up.
  bool up = false;
  CHECK(wrong(losses, [&](mrc_pins_out& o, uint64_t) { o.irq = up = up || o.irq; }).starts_with("pin irq"));
  // Reads of IRQ never show qp_err; which read it is shows in its data alone, so all reads of few bits lose it.
  const auto forgets = [](mrc_pins_out& o, uint64_t) {
    if (o.rvalid && o.rdata < 0x20) o.rdata &= ~kQpErr;
    o.irq = 0;
  };
  Scenario silent = errors;
  silent.csr_gap = 0;  // nobody enables anything; software looks at the end
  const std::string said = wrong(silent, forgets);
  CHECK(said.starts_with("QP "));
  CHECK(said.find(" has failed, IRQ is 0x") != std::string::npos);
}

}  // namespace mrc::test::interrupts_test
