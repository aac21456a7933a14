// SPDX-License-Identifier: Apache-2.0
// What the RTL shows of its inside (mrc_dut_inside) is what the model shows, in every cycle.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "pipeline/nic.hpp"
#include "tests/tb/runs.hpp"

namespace mrc::test::inside_test {

using namespace mrc::tb;

namespace {

struct Seen {
  uint64_t cycles = 0, taken = 0, done = 0, begun = 0, rows = 0;
  std::string differs;
};

std::string text_of(const mrc_inside_t& i) {
  std::string out = "controllers " + std::to_string(i.cc_state);
  if (i.cc_state != MRC_CC_IDLE) out += " of " + std::to_string(i.cc_dest);
  if (i.cc_state == MRC_CC_TAKEN) {
    for (const uint32_t word : i.cc_event) out += " " + std::to_string(word);
  }
  if (i.cc_state == MRC_CC_DONE || i.cc_state == MRC_CC_BEGUN) out += ", window " + std::to_string(i.cc_window);
  if (i.ev_write != 0) out += ", row " + std::to_string(i.ev_row) + " is " + std::to_string(i.ev_states);
  return out;
}

/// The RTL, and beside it the model with the same pins.
class Both final : public Dut {
 public:
  Both(std::unique_ptr<Dut> rtl, const Preset& preset, Seen& seen)
      : rtl_(std::move(rtl)), model_(preset), seen_(seen) {}
  void outputs(mrc_pins_out& out) override { rtl_->outputs(out); }
  bool observe(const uint32_t*& core, const uint32_t*& lanes) override { return rtl_->observe(core, lanes); }
  bool wave(const char*, bool) override { return false; }
  bool can_wave() const override { return false; }
  std::string name() const override { return rtl_->name(); }
  std::string version() const override { return rtl_->version(); }
  void step(const mrc_pins_in& in) override {
    if (in.rst_n != 0) compare();
    rtl_->step(in);
    model_.step(in);
    ++seen_.cycles;
  }

 private:
  void compare() {
    mrc_inside_t rtl{}, model{};
    if (!rtl_->inside(rtl)) {
      seen_.differs = "the RTL does not show its inside";
      return;
    }
    model_.inside(model);
    seen_.taken += model.cc_state == MRC_CC_TAKEN;
    seen_.done += model.cc_state == MRC_CC_DONE;
    seen_.begun += model.cc_state == MRC_CC_BEGUN;
    seen_.rows += model.ev_write != 0;
    if (!seen_.differs.empty() || text_of(rtl) == text_of(model)) return;
    seen_.differs = "cycle " + std::to_string(seen_.cycles) + ": RTL " + text_of(rtl) + "; model " + text_of(model);
  }

  std::unique_ptr<Dut> rtl_;
  Nic model_;
  Seen& seen_;
};

}  // namespace

TEST_CASE("controllers and states of EVs that the RTL shows are those of the model, cycle by cycle", "[tb][inside]") {
  const auto [preset, scenario, packets] = GENERATE(
      std::tuple{"tiny", "mixed", 1500u}, std::tuple{"tiny", "bad-ev", 600u}, std::tuple{"tiny", "qp-error", 600u},
      std::tuple{"tiny", "penalty", 400u}, std::tuple{"asic800", "mixed", 800u});
  INFO(preset << " " << scenario);
  CosimOptions o = short_run(preset, scenario, packets);
  o.scenario.cc_share = 1;
  use_rtl(o);
  Seen seen;
  o.open = [open = o.open, &seen, &p = *o.preset](std::string& error) -> std::unique_ptr<Dut> {
    std::unique_ptr<Dut> rtl = open(error);
    if (!rtl) return nullptr;
    return std::make_unique<Both>(std::move(rtl), p, seen);
  };
  const CosimResult r = run_cosim(o);
  INFO(r.error << r.problem);
  CHECK(r.outcome == Outcome::Pass);
  CHECK(seen.differs == "");
  CHECK(seen.begun > 0);
  CHECK(seen.rows > 20);
  CHECK(seen.done <= seen.taken);
  CHECK(seen.done > 10);
}

}  // namespace mrc::test::inside_test
