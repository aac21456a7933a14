// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>

#include "failure_watch.hpp"
#include "tb/report.hpp"

using namespace mrc;
using namespace mrc::tb;

TEST_CASE("explore plane loss", "[tb][failure][.x]") {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
  CosimOptions o = short_run("asic800", "plane-loss", 10'000'000, seed);
  o.scenario.cut_us = 60;
  o.scenario.size_min = o.scenario.size_max = 65536;
  o.cycles = 200'000;
  Watched w(o);
  w.run();
  fmt::print("{} {} cycles {} secs {}\n", name_of(w.result.outcome), w.result.problem, w.result.cycles, w.result.seconds);
  for (unsigned side : {0u, 1u}) {
    auto rtt = w.round_trips(side, 20, 55);
    fmt::print("side {} rtt n {} min {} median {} 99% {} max {}\n", side, rtt.size(), rtt.front(), median(rtt), rtt[rtt.size() * 99 / 100], rtt.back());
    auto l = w.losses(side);
    double worst = 0, first=1e9,last=0; unsigned never = 0, early=0;
    for (auto& x : l) { if (x.back_us < 0) ++never; worst = std::max(worst, x.back_us - x.sent_us); early += x.sent_us<50; first=std::min(first,x.sent_us); last=std::max(last,x.sent_us);}
    fmt::print("  losses {} never {} early {} first {} last {} worst {}\n", l.size(), never, early, first,last, worst);
    fmt::print("  rate to other: before {} after {} ratio {}\n", w.rate(1 - side, 20, 60), w.rate(1 - side, 100, 195), w.rate(1 - side, 100, 195) / w.rate(1 - side, 20, 60));
    const auto& rec = side ? w.result.dut.recovery : w.result.peer.recovery;
    fmt::print("  recovery lost {} rec {} worst {}\n", rec.lost, rec.recovered, rec.worst_ps * 1e-6);
    double lastd = 0; unsigned n=0;
    for (auto& s : w.tap[side].seen) if (s.sent && s.plane == 7 && s.data() && w.us(s.ps) > 60) {lastd = w.us(s.ps);++n;}
    fmt::print("  last data on plane 7: {} n {}\n", lastd,n);
    double lastc = 0; n=0;
    for (auto& s : w.tap[side].seen) if (s.sent && s.plane == 7 && !s.data() && w.us(s.ps) > 60) {lastc = w.us(s.ps);++n;}
    fmt::print("  last other on plane 7: {} n {}\n", lastc,n);
    std::string ser; const auto& series = side ? w.result.dut.series : w.result.peer.series;
    for (size_t i = 55; i < 100 && i < series.size(); ++i) ser += fmt::format(" {}", series[i]);
    fmt::print("  {}\n", ser);
  }
  uint64_t pin = w.device.pins.size() > 0 ? w.device.pins[0].cycle : 0;
  fmt::print("pin {} us {} begin {}\n", pin, w.us_of_cycle(pin), w.device.begin);
  uint64_t lp = 0, lc = 0;
  for (auto& p : w.device.packets) if (p.plane == 7) lp = p.cycle;
  for (auto& c : w.device.controls) if (c.plane == 7) lc = c.cycle;
  fmt::print("last path {} last control {} changes {}\n", lp - pin, lc - pin, w.device.changes.size());
  }
}
