// SPDX-License-Identifier: Apache-2.0
// Interrupts.
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <vector>

#include "tests/pipeline/ctl/csr_bench.hpp"

namespace mrc::test::csr_irq_test {

using namespace mrc::test::regs;

namespace {

/// What sets a latched bit of IRQ, and how long before: in cycle `begun` + `lead`.
struct Event {
  const char* name;
  unsigned bit, lead;
  std::function<void(Bench&)> prepare;
  std::function<void(Bench&, Csr::In&)> begin;
};

std::vector<Event> events() {
  // What is loaded before a cycle is csr's head two cycles later.
  return {
      {"qp_err", 1, 2, [](Bench& b) { b.bring_up(1); },
       [](Bench& b, Csr::In&) { b.qperr[1].load({.qp = 1, .status = CqStatus::RemAccess}); }},
      {"cmd, refused", 2, 2, [](Bench&) {},
       [](Bench&, Csr::In& in) {
         in.awvalid = in.wvalid = true;
         in.awaddr = csr::kTblCmd;
         in.wdata = Bench::order(kNoTable, 0);
         in.wstrb = 15;
       }},
      {"cmd, good", 2, 6, [](Bench&) {},
       [](Bench&, Csr::In& in) {
         in.awvalid = in.wvalid = true;
         in.awaddr = csr::kTblCmd;
         in.wdata = Bench::order(csr::kTblMrId, 0);
         in.wstrb = 15;
       }},
      {"evp", 3, 2, [](Bench& b) { b.write(csr::kEvpCmd, 1); },
       [](Bench& b, Csr::In&) { b.evr.load({.answered = false, .rtt = 0}); }},
      {"evq_drop", 4, 2,
       [](Bench& b) {
         for (unsigned i = 0; i < 16; ++i) {
           b.evev.load({.qp = 1, .state = kEvBad});
           b.cycle();
         }
         b.run(3);
       },
       [](Bench& b, Csr::In&) { b.evev.load({.qp = 1, .state = kEvBad}); }},
  };
}

}  // namespace

TEST_CASE("an interrupt is told until it is cleared, and none is lost", "[csr]") {
  SECTION("a bit is set in the cycle after its event, the pin one later; it stays until it is cleared") {
    for (const Event& e : events()) {
      CAPTURE(e.name);
      const uint32_t bit = 1u << e.bit;
      for (const uint32_t enabled : {bit, ~bit & 0x1e}) {
        for (unsigned look = e.lead; look <= e.lead + 1; ++look) {
          Bench b;
          e.prepare(b);
          b.write(csr::kIrqEnable, enabled);
          b.write(csr::kIrq, ~0u);
          b.run(2);
          REQUIRE((b.read(csr::kIrq) & 0x1e) == 0);
          for (unsigned i = 0; i <= e.lead + 1; ++i) {
            Csr::In in{.bready = true};
            if (i == 0) e.begin(b, in);
            if (i == look) {
              in.arvalid = true;
              in.araddr = csr::kIrq;
            }
            CHECK_FALSE(b.regs.out().irq);
            b.cycle(in);
            if (i == look) CHECK((b.regs.out().rdata & 0x1e) == (look == e.lead ? 0 : bit));
          }
          CHECK(b.regs.out().irq == (enabled == bit));
          b.cycle({.rready = true});
          b.run(500);
          CHECK(b.regs.out().irq == (enabled == bit));
          CHECK((b.read(csr::kIrq) & 0x1e) == bit);  // reading clears nothing
          CHECK(b.write(csr::kIrq, ~bit) == 0);      // nor does clearing the others, or no byte of it
          CHECK(b.write(csr::kIrq, ~0u, 0b1110) == 0);
          CHECK(b.write(csr::kIrq, 0) == 0);
          CHECK((b.read(csr::kIrq) & 0x1e) == bit);
          // Address and data in cycle 0, written in 1, the bit gone in 2, the pin in 3.
          b.cycle({.awvalid = true, .wvalid = true, .awaddr = csr::kIrq, .wdata = bit, .wstrb = 1});
          b.cycle();
          b.cycle({.bready = true});
          CHECK_FALSE(b.regs.out().irq);
          CHECK((b.read(csr::kIrq) & 0x1e) == 0);
        }
      }
    }
  }
  SECTION("one that comes while it is cleared stays; one before that does not") {
    for (const Event& e : events()) {
      for (const unsigned earlier : {0u, 1u, 2u, 3u}) {  // cycles from the event to the write that clears, and one
        CAPTURE(e.name, earlier);
        Bench b;
        e.prepare(b);
        b.write(csr::kIrqEnable, 0x1e);
        b.write(csr::kIrq, ~0u);
        b.run(2);
        // The command has the bus for itself: its write is over long before that of IRQ begins only if it is good.
        if (e.bit == 2 && e.lead == 2 && earlier < 3) continue;
        const unsigned taken = e.lead + earlier - 2;  // the write is one cycle later: earlier == 1 is the event's
        for (unsigned i = 0; i < e.lead + 8; ++i) {
          Csr::In in{.bready = true};
          if (i == 0) e.begin(b, in);
          if (i == taken) {
            in.awvalid = in.wvalid = true;
            in.awaddr = csr::kIrq;
            in.wdata = ~0u;
            in.wstrb = 15;
          }
          b.cycle(in);
        }
        const bool stays = earlier <= 1;
        CHECK((b.read(csr::kIrq) & 0x1e) == (stays ? 1u << e.bit : 0));
        CHECK(b.regs.out().irq == stays);
      }
    }
  }
  SECTION("evq is 1 while the queue holds an event, whatever is written") {
    Bench b;
    b.write(csr::kIrqEnable, 1);
    CHECK(b.read(csr::kIrq) == 0);
    for (unsigned i = 0; i < 2; ++i) {
      b.evev.load({.qp = 1, .state = kEvBad});
      b.cycle();
    }
    b.cycle();  // the first one is csr's head in cycle 2, in the queue in 3
    CHECK_FALSE(b.regs.out().irq);
    b.cycle();
    CHECK(b.regs.out().irq);
    CHECK(b.read(csr::kIrq) == 1);
    CHECK(b.write(csr::kIrq, ~0u) == 0);
    CHECK(b.read(csr::kIrq) == 1);
    CHECK(b.read(csr::kEvq) != 0);
    b.run(2);
    CHECK(b.regs.out().irq);  // there is one more
    b.cycle({.arvalid = true, .araddr = csr::kEvq});
    CHECK(b.regs.out().irq);
    b.cycle({.rready = true});
    CHECK_FALSE(b.regs.out().irq);
    CHECK(b.read(csr::kIrq) == 0);
  }
  SECTION("the pin follows IRQ_ENABLE one cycle later") {
    Bench b;
    REQUIRE(b.command(kNoTable, 0) != 0);
    b.run(5);
    CHECK_FALSE(b.regs.out().irq);
    CHECK(b.read(csr::kIrq) == 4);
    for (const bool on : {true, false}) {
      b.cycle({.awvalid = true, .wvalid = true, .awaddr = csr::kIrqEnable, .wdata = on ? 4u : 0x1bu, .wstrb = 15});
      b.cycle();
      CHECK(b.regs.out().irq != on);
      b.cycle({.bready = true});
      CHECK(b.regs.out().irq == on);
    }
    CHECK(b.read(csr::kIrq) == 4);
  }
}

}  // namespace mrc::test::csr_irq_test
