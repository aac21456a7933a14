// SPDX-License-Identifier: Apache-2.0
// The recorder at the pins of the RTL core in runs of the bench, and the model that is driven by its records.
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "Vmrc_fpga_record_fpga100.h"
#include "Vmrc_fpga_record_tiny.h"
#include "clone_paths.hpp"
#include "tb/board/replay.hpp"
#include "tb/compare/bugs.hpp"
#include "tests/fpga/record/recorder.hpp"
#include "tests/tb/runs.hpp"
#include "util/rng.hpp"

namespace mrc::test::core_test {

using namespace mrc::tb;

namespace {

using Tiny = RecorderBench<Vmrc_fpga_record_tiny, 32>;
using Fpga100 = RecorderBench<Vmrc_fpga_record_fpga100, 64>;
constexpr uint64_t kBase = 0x12'0000'0000;

struct Recorded {
  CosimResult run;
  ReplayResult replay;
  uint64_t cycles = 0, bytes = 0;
  std::optional<uint64_t> differs;
};

/// A run of the bench whose device is the RTL, with a bug; what its recorder has written is replayed by the model.
template <class Bench>
Recorded record_run(const char* preset, const char* path, const char* scenario, uint64_t packets, uint64_t seed,
                    unsigned bug = 0) {
  const Preset& p = *find_preset(preset);
  Bench bench(seed);
  bench.arm(kBase, 1u << 14);
  CosimOptions o = short_run(preset, scenario, packets, seed);
  Recorded r;
  RecordedDut<Bench>* dut = nullptr;
  o.open = [&](std::string& error) -> std::unique_ptr<Dut> {
    auto rtl = open_dut(path, p, seed, error);
    REQUIRE(rtl);
    auto made = std::make_unique<RecordedDut<Bench>>(std::move(rtl), bench, p, make_model_dut(p));
    made->bug = static_cast<uint8_t>(bug);
    made->reported = &r.differs;
    dut = made.get();
    return made;
  };
  // Before the device goes.
  o.record = [&](const mrc_pins_in&) {
    r.cycles = dut->cycles;
    return true;
  };
  r.run = run_cosim(o);
  bench.finish();
  r.bytes = bench.read64(mrcx::kBytes);
  std::istringstream in(bench.dump());
  RecordReader reader(in, "dump", p);
  const auto model = make_model_dut(p);
  r.replay = replay(reader, *model, p, {});
  CHECK(bench.read64(mrcx::kCycles) == r.replay.cycles);
  return r;
}

}  // namespace

TEST_CASE("a core's pins, recorded in runs of the bench, make the model do the same", "[fpga][record]") {
  for (const auto& [scenario, packets] : {std::pair{"mixed", 800}, {"loss", 400}, {"host-errors", 100}}) {
    CAPTURE(scenario);
    const Recorded r = record_run<Tiny>("tiny", MRC_DUT_TINY, scenario, packets, 3);
    REQUIRE(r.run.outcome == Outcome::Pass);
    CHECK_FALSE(r.differs);
    CHECK_FALSE(r.replay.first);
    CHECK(r.replay.end == RecordEnd::Held);
    CHECK(r.replay.cycles >= r.cycles);
    CHECK(r.replay.compared == r.replay.cycles);
    CHECK(r.replay.windows == (r.replay.cycles + 1023) / 1024);
    WARN(scenario << ": " << r.replay.cycles << " cycles, " << r.bytes << " bytes");
  }
}

TEST_CASE("so do those of a core of fpga100", "[fpga][record]") {
  const Recorded r = record_run<Fpga100>("fpga100", MRC_DUT_FPGA100, "mixed", 200, 2);
  REQUIRE(r.run.outcome == Outcome::Pass);
  CHECK_FALSE(r.differs);
  CHECK_FALSE(r.replay.first);
  CHECK(r.replay.end == RecordEnd::Held);
  CHECK(r.replay.cycles >= r.cycles);
  WARN("fpga100: " << r.replay.cycles << " cycles, " << r.bytes << " bytes");
}

TEST_CASE("an error of the core is in the window in which its pins differ first", "[fpga][record]") {
  unsigned shown = 0;
  for (const Bug& bug : bugs()) {
    if (std::string_view(bug.preset) != "tiny" || bug.number % 4 != 0) continue;
    CAPTURE(bug.name);
    const Recorded r = record_run<Tiny>("tiny", MRC_DUT_TINY, bug.scenario, 250, 1, bug.number);
    REQUIRE(r.run.outcome == Outcome::Pass);  // the bench has seen the model
    REQUIRE(r.replay.first.has_value() == r.differs.has_value());
    if (!r.differs) continue;
    ++shown;
    CHECK(r.replay.first->from <= *r.differs);
    CHECK(*r.differs < r.replay.first->to);
  }
  CHECK(shown >= 8);
}

TEST_CASE("the sample of a record is what the recorder writes", "[fpga][record]") {
  const Preset& tiny = *find_preset("tiny");
  Tiny bench(1);
  bench.arm(kBase, 64);
  const auto model = make_model_dut(tiny);
  Rng rng(1, "sample");
  mrc_pins_in in{};
  mrc_pins_out out{};
  in.rst_n = in.rready = in.bready = 1;
  in.link_up = in.tx_tready = 3;
  for (unsigned cycle = 0; cycle < 2600; ++cycle) {
    model->outputs(out);
    // Registers are read one after the other, and frames come that are none.
    in.arvalid = cycle % 16 == 3 || (in.arvalid != 0 && out.arready == 0);
    if (cycle % 16 == 3) in.araddr = static_cast<uint16_t>(cycle / 16 * 4);
    in.rx_tvalid = in.rx_tlast = static_cast<uint8_t>(cycle % 65 == 9 ? 1 + cycle % 2 : 0);
    for (unsigned p = 0; p < 2; ++p) {
      in.rx_tkeep[p] = 0xffff;
      for (unsigned b = 0; b < 16; ++b) in.rx_tdata[p][b] = static_cast<uint8_t>(rng.next());
    }
    bench.cycle(in, out);
    model->step(in);
  }
  bench.finish();
  const std::string wrote = bench.dump(), path = MRC_SOURCE_DIR "/tests/fpga/record/tiny.mrcx";
  if (const char* write = std::getenv("MRC_RECORDS"); write != nullptr && std::string_view(write) == "write") {
    std::ofstream(path, std::ios::binary) << wrote;
  }
  std::ifstream file(path, std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == wrote);
}

}  // namespace mrc::test::core_test
