// SPDX-License-Identifier: Apache-2.0
/// NICs and their QPs are reset in the middle of traffic, and begin anew (docs/design/blocks/reset.md).
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <utility>

#include "reference/run.hpp"
#include "tb/compare/report.hpp"
#include "tb/environment/random_scenario.hpp"
#include "tests/tb/runs.hpp"

namespace mrc::test::lives_test {

using namespace mrc::tb;

namespace {

/// A busy run whose lives but the last end in that cycle of traffic.
CosimOptions resets_in(const char* preset, const char* scenario, uint32_t cycle, unsigned lives = 2) {
  CosimOptions o = short_run(preset, scenario, 300 * lives, cycle);
  o.scenario.lives = lives;
  o.scenario.reset_cycle = cycle;
  o.scenario.size_max = 8192;
  return o;
}

void passes(const CosimOptions& o) {
  const CosimResult r = run_cosim(o);
  INFO(o.scenario.name << ", reset in cycle " << o.scenario.reset_cycle << ", seed " << o.seed << ": "
                       << failure_text({}, r) << r.reason);
  REQUIRE(r.outcome == Outcome::Pass);
  CHECK(r.lives == o.scenario.lives);
  CHECK(r.writes_verified > 0);
}

/// How lives end: by both pins, by one, by software.
struct Kind {
  double alone, by_software;
};
constexpr Kind kPins{0, 0}, kAlone{1, 0}, kSoftware{0, 1};

void sweep(const char* preset, const Kind& kind, uint32_t cycles, uint32_t from) {
  static constexpr const char* kBusy[] = {"mixed", "trim", "immediate", "loss", "slow-host"};
  for (uint32_t i = 0; i < cycles; ++i) {
    CosimOptions o = resets_in(preset, kBusy[i % std::size(kBusy)], from + i);
    o.scenario.alone = kind.alone;
    o.scenario.by_software = kind.by_software;
    use_rtl(o);
    passes(o);
  }
}

/// Cycles within which a fence ends while ports and host take everything: all packets that it may have to wait for are
/// of 4096 bytes and in the same lane; their writes, of all planes, go one behind the other
/// (docs/design/blocks/reset.md).
uint64_t fence_bound(const Preset& p) {
  const double frame_ns = (4096 + 130) * 8.0 / p.port_gbps;
  const uint64_t sent = static_cast<uint64_t>((p.tx_lane_fifo + 26) * frame_ns * 1000 / p.clock_ps);
  const uint64_t placed = uint64_t{p.num_planes} * (p.lane_fifo + 12) * (4096 / p.host_bytes + 1);
  return sent + placed;
}

/// The model whose pin is not connected, from the second reset on.
class Deaf final : public Dut {
 public:
  explicit Deaf(std::unique_ptr<Dut> nic) : nic_(std::move(nic)) {}
  void outputs(mrc_pins_out& out) override { nic_->outputs(out); }
  void step(const mrc_pins_in& in) override {
    mrc_pins_in pins = in;
    if (++cycle_ > Station::kResetCycles) pins.rst_n = 1;
    nic_->step(pins);
  }
  bool observe(const uint32_t*& core, const uint32_t*& lanes) override { return nic_->observe(core, lanes); }
  bool wave(const char*, bool) override { return false; }
  bool can_wave() const override { return false; }
  std::string name() const override { return "deaf"; }
  std::string version() const override { return ""; }

 private:
  std::unique_ptr<Dut> nic_;
  uint64_t cycle_ = 0;
};

}  // namespace

TEST_CASE("a pin reset in any cycle: the new life knows nothing of the former one", "[tb][lives]") {
  sweep("tiny", kPins, 10, 700);
  sweep("asic800", kPins, 1, 900);
  for (const char* scenario : {"mixed", "many-peers", "qp-error", "link-flap", "port-stands", "host-errors"}) {
    CosimOptions o = resets_in("tiny", scenario, 0, 4);
    o.scenario.life_us = 3;
    use_rtl(o);
    passes(o);
  }
}

TEST_CASE("pin resets cycle by cycle: with 500 more seeds", "[tb][lives]") {
  sweep("tiny", kPins, 500, 100);
  sweep("asic800", kPins, 50, 100);
}

TEST_CASE("one NIC is reset alone, and software resets the QPs of the other", "[tb][lives]") {
  sweep("tiny", kAlone, 4, 700);
  for (const char* scenario : {"qp-error", "link-flap", "host-errors"}) {
    CosimOptions o = resets_in("tiny", scenario, 800, 3);
    o.scenario.alone = 1;
    o.scenario.same_psns = 1;
    use_rtl(o);
    passes(o);
  }
}

TEST_CASE("software resets QPs in the middle of traffic, all of them or one", "[tb][lives]") {
  sweep("tiny", kSoftware, 6, 700);
  for (const char* scenario : {"many-peers", "port-stands", "immediate"}) {
    CosimOptions o = resets_in("tiny", scenario, 800, 3);
    o.scenario.by_software = 1;
    use_rtl(o);
    passes(o);
  }
}

TEST_CASE("work for QPs that software has reset waits until they are in RTS again", "[tb][lives]") {
  // One had work left when the other one's pins fell.
  for (const uint64_t seed : {910157u, 910233u, 920036u, 922018u}) {
    CosimOptions o = short_run("tiny", "mixed", 300, seed);
    o.scenario = random_scenario(seed);
    passes(o);
  }
}

TEST_CASE("a QP that was refused for the grant of a QP that is reset goes on", "[tb][lives]") {
  // Lives of a few cycles, and windows that the first QP fills: with these seeds it gives its grant back unused.
  for (const uint64_t seed : {1u, 8u}) {
    CosimOptions o = short_run("tiny", "clean", 1600, seed);
    o.scenario.cc_share = 1;
    o.scenario.cc_rate_gbps = 50;
    o.scenario.cc_rtt_ns = 500;
    o.scenario.delay_ns = 100;
    o.scenario.lives = 40;
    o.scenario.life_us = 0.05;
    o.scenario.by_software = 1;
    use_rtl(o);
    passes(o);
  }
}

TEST_CASE("resets of one NIC, and by software, cycle by cycle: with 500 more seeds", "[tb][lives]") {
  for (const Kind& kind : {kAlone, kSoftware}) {
    sweep("tiny", kind, 250, 100);
    sweep("asic800", kind, 25, 100);
  }
}

TEST_CASE("a fence ends in time while ports and host take everything", "[tb][lives]") {
  for (uint32_t cycle = 400; cycle < 2000; cycle += 400) {
    CosimOptions o = resets_in("tiny", "clean", cycle, 3);
    o.scenario.by_software = 1;
    o.open = [&](std::string&) { return make_model_dut(*o.preset); };
    const CosimResult r = run_cosim(o);
    REQUIRE(r.outcome == Outcome::Pass);
    INFO("reset in cycle " << cycle);
    CHECK(r.longest_fence > 0);
    CHECK(r.longest_fence < fence_bound(*o.preset));
  }
}

TEST_CASE("the same numbers and PSNs once more", "[tb][lives]") {
  for (uint32_t cycle = 600; cycle < 606; ++cycle) {
    CosimOptions o = resets_in("tiny", "mixed", cycle, 3);
    o.scenario.same_psns = 1;
    use_rtl(o);
    passes(o);
  }
}

TEST_CASE("a run of one life is what it was, whatever is said of others", "[tb][lives]") {
  CosimOptions o = short_run("tiny", "mixed", 300);
  const CosimResult plain = run_cosim(o);
  o.scenario.life_us = 1;
  o.scenario.same_psns = 1;
  CHECK(run_cosim(o).event_hash == plain.event_hash);
  o.scenario.lives = 2;
  CHECK(run_cosim(o).event_hash != plain.event_hash);
}

TEST_CASE("a NIC that is not reset is found out in the cycle of the reset", "[tb][lives]") {
  CosimOptions o = resets_in("tiny", "mixed", 700);
  o.open = [&](std::string&) { return std::make_unique<Deaf>(make_model_dut(*o.preset)); };
  const CosimResult r = run_cosim(o);
  REQUIRE(r.outcome == Outcome::Mismatch);
  CHECK(r.lives == 2);
  CHECK(r.divergences.front().cycle <= r.cycles);
  CHECK(r.wrong_cycle() > 700);
}

TEST_CASE("the judge of a log knows lives: nothing is owed across a reset", "[tb][lives]") {
  for (const char* scenario : {"mixed", "trim", "loss", "immediate"}) {
    for (const double same : {0.0, 1.0}) {
      CosimOptions o = resets_in("tiny", scenario, 800, 3);
      o.scenario.same_psns = same;
      o.scenario.alone = o.scenario.by_software = same / 2;
      o.log_shows = true;
      ref::Run judge({});
      o.log = [&](const log::Record& record) { judge.push(record); };
      passes(o);
      judge.finish();
      INFO(scenario << ", same PSNs " << same << ": " << judge.to_text(""));
      CHECK(judge.verdict() == ref::Verdict::Pass);
      CHECK(judge.packets() > 100);
    }
  }
}

}  // namespace mrc::test::lives_test
