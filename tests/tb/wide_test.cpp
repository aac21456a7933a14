// SPDX-License-Identifier: Apache-2.0
// Large sizes: the widest window, MaxMpr 8192, and 4096 QPs and destinations. A configuration with MRC_WIDE builds
// their RTL.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "gen/headers.hpp"
#include "tb/compare/report.hpp"
#include "tests/tb/runs.hpp"

namespace mrc::test::wide_test {

using namespace mrc::tb;

namespace {

/// tiny with a window of 8192 PSNs, and room for it: the sizes of mrc_dut_rtl_tiny_wide (CMakeLists.txt).
const Preset& wide() {
  static const Preset preset = [] {
    Preset p = *find_preset("tiny");
    p.max_mpr = 8192;
    p.num_blocks = 640;
    p.num_rx_rows = 144;
    return p;
  }();
  return preset;
}

/// One QP whose window is full of the smallest full packets: its round trip takes longer than 8192 of them.
CosimOptions full_window(uint64_t packets) {
  CosimOptions o = short_run("tiny", "clean", packets, 3);
  o.preset = &wide();
  o.open = [](std::string&) { return make_model_dut(wide()); };
  Scenario& s = o.scenario;
  s.qps = 1;
  s.peer_sends = false;
  s.size_min = s.size_max = 262144;
  s.mtu_min = s.mtu_max = 0;
  s.srv6_share = s.imm_share = 0;
  s.delay_ns = 90000;
  s.rto = 9;
  s.wrap_share = 1;
  s.reorder_ns = 20000;
  s.link.loss = 0.0002;
  s.link.reorder = 0.002;
  s.reorder_pkts = 1000;
  return o;
}

/// Counts the PSNs between the newest packet and the newest that is acknowledged.
class Window : public FrameWatcher {
 public:
  void frame(bool sent, unsigned, uint64_t, const std::vector<uint8_t>& bytes, unsigned) override {
    const FrameInfo info = look_at(bytes);
    if (sent && info.data() && !info.rtx) {
      newest_ = any_ && before(info.psn, newest_) ? newest_ : info.psn;
      if (!any_) acked_ = info.psn - 1;
      any_ = true;
      widest = std::max(widest, (newest_ - acked_) & kMask);
    } else if (!sent && any_ && info.is(wire::Opcode::Sack)) {
      const uint32_t cack = wire::Seth::read(&bytes[info.inner + 60]).cack_psn;
      if (before(acked_, cack)) acked_ = cack;
    }
  }
  uint32_t widest = 0;

 private:
  static constexpr uint32_t kMask = 0xffffff;
  static bool before(uint32_t a, uint32_t b) { return ((b - a - 1) & kMask) < 0x7fffff; }
  bool any_ = false;
  uint32_t newest_ = 0, acked_ = 0;
};

void check_full(CosimOptions o) {
  Window window;
  o.dut_frames = &window;
  const CosimResult r = run_cosim(o);
  INFO(r.problem << r.error << failure_text({}, r));
  CHECK(r.outcome == Outcome::Pass);
  CHECK(r.data_packets >= o.packets);
  CHECK(r.dut.counters.rtx > 0);
  CHECK(window.widest > 7000);
  CHECK(window.widest <= 8192);
}

/// asic800 with 4096 QPs and destinations, and room for them: the sizes of mrc_dut_rtl_asic800_large (CMakeLists.txt).
const Preset& large() {
  static const Preset preset = [] {
    Preset p = *find_preset("asic800");
    p.num_qps = p.num_mrs = p.num_dests = 4096;
    p.num_wqes = 7936;
    p.num_blocks = 4608;
    return p;
  }();
  return preset;
}

/// All QPs are in use.
CosimOptions all_in_use(const char* scenario, uint64_t packets) {
  CosimOptions o = short_run("asic800", scenario, packets, 3);
  o.preset = &large();
  o.open = [](std::string&) { return make_model_dut(large()); };
  o.scenario.qps = 0;
  return o;
}

/// Each QP has a destination of its own, and ports of both NICs go down and come up.
CosimOptions ports_fall(uint64_t packets) {
  CosimOptions o = all_in_use("many-peers", packets);
  Scenario& s = o.scenario;
  s.dests = 4096;
  s.flap_us = 60;
  s.flap_down_us = 40;
  s.peer_flap = true;
  s.hang_us = 4000;
  return o;
}

/// More than 1000 QPs bring bytes in an epoch of 33 us, some more than their share.
CosimOptions many_share(uint64_t packets) {
  CosimOptions o = all_in_use("share", packets);
  Scenario& s = o.scenario;
  s.share_epoch = 8;
  s.share_drain = 500;
  s.mtu_min = s.mtu_max = 0;
  s.size_max = 1024;
  return o;
}

/// The destinations and numbers of port updates that were sent, by their ids, and of answers that came.
class Updates : public FrameWatcher {
 public:
  void frame(bool sent, unsigned, uint64_t, const std::vector<uint8_t>& bytes, unsigned) override {
    const FrameInfo info = look_at(bytes);
    if (!info.mrc || (info.psn & 0xc000) != 0) return;
    if (sent && info.is(wire::Opcode::EndpointRequest)) {
      sent_to.insert(info.psn & 0xfff);
      numbers.insert(info.psn >> 12 & 3);
    } else if (!sent && info.is(wire::Opcode::EndpointResponse)) {
      answered.insert(info.psn & 0xfff);
    }
  }
  std::set<uint32_t> sent_to, numbers, answered;
};

void check_all(const CosimOptions& o) {
  const CosimResult r = run_cosim(o);
  INFO(r.problem << r.error << failure_text({}, r));
  CHECK(r.outcome == Outcome::Pass);
  CHECK(r.data_packets >= o.packets);
}

void check_updates(CosimOptions o) {
  Updates updates;
  o.dut_frames = &updates;
  check_all(o);
  CHECK(updates.sent_to.size() == 4096);
  CHECK(updates.numbers.size() > 1);
  CHECK(updates.answered.size() > 3500);
}

}  // namespace

TEST_CASE("a window of 8192 PSNs is filled, and loses nothing", "[tb][wide]") { check_full(full_window(30000)); }

#ifdef MRC_DUT_TINY_WIDE
TEST_CASE("a window of 8192 PSNs in lockstep with the RTL", "[tb][wide]") {
  CosimOptions o = full_window(30000);
  o.open = [](std::string& error) { return open_dut(MRC_DUT_TINY_WIDE, wide(), 1, error); };
  check_full(o);
}
#endif

TEST_CASE("4096 QPs are in use at once", "[tb][wide]") { check_all(all_in_use("many-qps", 20000)); }
TEST_CASE("4096 QPs, mixed traffic", "[tb][wide]") { check_all(all_in_use("mixed", 20000)); }
TEST_CASE("4096 destinations hear of ports that fall", "[tb][wide]") { check_updates(ports_fall(20000)); }

#ifdef MRC_DUT_ASIC800_LARGE
TEST_CASE("4096 QPs in lockstep with the RTL", "[tb][wide]") {
  for (const char* scenario : {"many-qps", "mixed"}) {
    CosimOptions o = all_in_use(scenario, 20000);
    o.open = [](std::string& error) { return open_dut(MRC_DUT_ASIC800_LARGE, large(), 1, error); };
    check_all(o);
  }
}

TEST_CASE("4096 QPs share a link in lockstep with the RTL", "[tb][wide]") {
  CosimOptions o = many_share(30000);
  o.open = [](std::string& error) { return open_dut(MRC_DUT_ASIC800_LARGE, large(), 1, error); };
  check_all(o);
}

TEST_CASE("4096 destinations in lockstep with the RTL", "[tb][wide]") {
  CosimOptions o = ports_fall(20000);
  o.open = [](std::string& error) { return open_dut(MRC_DUT_ASIC800_LARGE, large(), 1, error); };
  check_updates(o);
}
#endif

}  // namespace mrc::test::wide_test
