// SPDX-License-Identifier: Apache-2.0
#include "tb/cosim.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tb/compare/bugs.hpp"
#include "tb/compare/report.hpp"
#include "tb/environment/plan.hpp"
#include "tests/tb/runs.hpp"
#include "wire/decode.hpp"
#include "wire/pcapng.hpp"

namespace mrc::test::cosim_test {

using namespace mrc::tb;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("the same seed gives the same event log, on one thread or two; another seed another one", "[tb][cosim]") {
  CosimOptions o = short_run("tiny", "mixed", 500, 11);
  const CosimResult a = run_cosim(o);
  const CosimResult b = run_cosim(o);
  o.two_threads = true;
  const CosimResult c = run_cosim(o);
  use_rtl(o);
  const CosimResult d = run_cosim(o);
  o.seed = 12;
  const CosimResult e = run_cosim(o);
  for (const CosimResult* r : {&a, &b, &c, &d, &e}) REQUIRE(r->outcome == Outcome::Pass);
  CHECK(a.event_hash == b.event_hash);
  CHECK(a.event_hash == c.event_hash);
  CHECK(a.event_hash == d.event_hash);
  CHECK(a.event_hash != e.event_hash);
  CHECK(a.cycles == d.cycles);
}

TEST_CASE("when nothing arrives any more it is a hang, with the QPs that wait", "[tb][cosim][hang]") {
  CosimOptions o = short_run("tiny", "clean", 500);
  o.scenario.rules.push_back({.to_dut = false, .what = {.loss = 1}});
  o.scenario.peer_sends = 0;
  o.scenario.hang_us = 100;
  const CosimResult r = run_cosim(o);
  CHECK(r.outcome == Outcome::Hang);
  REQUIRE(r.stuck.size() == 4);
  CHECK(r.stuck[0].side == "device");
  CHECK(r.stuck[0].messages >= 2);  // NumWqes: more only while the pool has room
  CHECK(r.stuck[0].arrived == 0);
  CHECK(r.qp == 0);
  CHECK(r.qp_events.size() == 32);  // it did try
  CHECK_THAT(failure_text({}, r), ContainsSubstring("no progress for 100000 cycles while sending; 4 QPs"));
}

TEST_CASE("software ends QPs that send: each fails and is connected anew, all else arrives", "[tb][cosim]") {
  CosimOptions o = short_run("tiny", "clean", 4000);
  o.scenario.may_fail = true;
  o.scenario.rounds = 20;
  o.scenario.csr_gap = 200;
  o.scenario.size_min = 8192;
  const CosimResult without = run_cosim(o);
  CHECK(without.outcome == Outcome::Pass);
  CHECK(without.failed_qps == 0);
  o.scenario.ended = 0.05;
  const CosimResult r = run_cosim(o);
  CHECK(r.outcome == Outcome::Pass);
  CHECK(r.failed_qps >= 10);
  CHECK(r.data_packets > 500);
}

TEST_CASE("a run that is told to stop is incomplete", "[tb][cosim]") {
  std::atomic<bool> stop = true;
  CosimOptions o = short_run("tiny", "clean", 100000);
  o.stop = &stop;
  const CosimResult r = run_cosim(o);
  CHECK(r.outcome == Outcome::Incomplete);
  CHECK(r.cycles < 10000);
}

TEST_CASE("the capture holds every frame at the device's ports", "[tb][cosim][pcap]") {
  std::ostringstream file;
  CosimOptions o = short_run("tiny", "mixed", 300);
  o.pcap = &file;
  const CosimResult r = run_cosim(o);
  REQUIRE(r.outcome == Outcome::Pass);
  const std::string bytes = file.str();
  const auto capture = wire::read_pcapng({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "test");
  REQUIRE(capture);
  CHECK(capture->interfaces.size() == 2);
  uint64_t frames = 0;
  for (const PlaneCounters& p : r.dut.planes) frames += p.tx_frames + p.rx_frames;
  CHECK(capture->frames.size() == frames);
  for (const wire::CapturedFrame& f : capture->frames) {
    REQUIRE(f.comments.size() == 1);
    REQUIRE((f.comments[0].starts_with("sent by the device") || f.comments[0].starts_with("received by the device")));
  }
}

TEST_CASE("a capture says what the run drew", "[tb][cosim][pcap]") {
  bool other_port = false, outer = false;
  for (const uint64_t seed : {1, 4, 5}) {
    std::ostringstream file;
    CosimOptions o = short_run("tiny", "mixed", 100);
    o.seed = seed;
    o.pcap = &file;
    o.capture_comments = {"a comment of the caller"};
    const CosimResult r = run_cosim(o);
    REQUIRE(r.outcome == Outcome::Pass);
    CHECK(r.wire == make_plan(*o.preset, o.scenario, seed).peer.wire());
    const std::string bytes = file.str();
    const auto capture = wire::read_pcapng({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "test");
    REQUIRE(capture);
    REQUIRE_FALSE(capture->comments.empty());
    CHECK(capture->comments == r.capture_comments);
    CHECK(capture->comments.front() == "a comment of the caller");
    for (const wire::CapturedFrame& f : capture->frames) {
      REQUIRE(f.wire == r.wire);
      if (f.comments[0].starts_with("sent")) REQUIRE_FALSE(wire::decode(f.bytes, f.wire).error);
    }
    other_port = other_port || r.wire.udp_port != wire::kUdpPort;
    outer = outer || r.wire.icrc_outer;
  }
  CHECK(other_port);
  CHECK(outer);
}

TEST_CASE("large writes in one direction reach 99.5 percent of what the ports can carry", "[tb][cosim][goodput]") {
  // One direction, so that no SACKs of the other one take time on the wire.
  CosimOptions o = short_run("asic800", "clean", 12000);
  o.scenario.size_min = o.scenario.size_max = 65536;
  o.scenario.srv6_share = 1;
  o.scenario.srh_share = o.scenario.ts_share = 0;
  o.scenario.peer_sends = 0;
  const CosimResult r = run_cosim(o);
  REQUIRE(r.outcome == Outcome::Pass);
  CHECK(r.dut.limit_gbps > 769.5);
  CHECK(r.dut.limit_gbps < 769.7);
  INFO(r.dut.goodput_gbps);
  CHECK(r.dut.goodput_gbps > 0.995 * r.dut.limit_gbps);
  // Planes share equally.
  for (const PlaneCounters& p : r.dut.planes) CHECK(p.tx_data * 8 <= 12000 + 16 * 8);
}

TEST_CASE("large writes in both directions leave no time on the ports", "[tb][cosim][goodput]") {
  CosimOptions o = short_run("asic800", "clean", 24000);
  o.scenario.size_min = o.scenario.size_max = 65536;
  o.scenario.srv6_share = 1;
  o.scenario.ts_share = 0;
  const CosimResult r = run_cosim(o);
  REQUIRE(r.outcome == Outcome::Pass);
  for (const CosimResult::Side* side : {&r.dut, &r.peer}) {
    CHECK(side->busy > 0.985);
    CHECK(side->busy < 1.0001);
    CHECK(side->goodput_gbps > 0.97 * side->limit_gbps);  // SACKs and ACKs of the other direction take the rest
  }
}

TEST_CASE("JSON has what scripts read", "[tb][cosim][json]") {
  const CosimOptions o = short_run("tiny", "trim", 300);
  const CosimResult r = run_cosim(o);
  RunInfo info{.preset = "tiny",
               .scenario = "trim",
               .bug = {},
               .drawn = {},
               .drawn_anew = 0,
               .run_id = "0123abcd",
               .seed = 1,
               .packets = 300,
               .repro = "again",
               .versions = {{"mrcnic", "1"}, {"commit", "c"}},
               .pcap_file = {},
               .wave_file = {},
               .json_file = {},
               .scenario_file = {},
               .page_file = {},
               .trace_file = {},
               .kanata_file = {}};
  const auto j = nlohmann::json::parse(result_json(info, r));
  CHECK(j["result"] == "pass");
  CHECK(j["run"] == "0123abcd");
  CHECK(j["evidence"]["packets"] == r.data_packets);
  CHECK(j["evidence"]["cycles"] == r.cycles);
  CHECK(j["evidence"]["boundaries"] == r.events);
  CHECK(j["mismatches"] == 0);
  CHECK(j["data_packets"] >= 300);
  CHECK(j["cycles"] == r.cycles);
  CHECK(j["cycles_per_second"] > 0);
  CHECK(j["event_log_hash"].get<std::string>().size() == 16);
  CHECK(j["seed"] == 1);
  CHECK(j["versions"]["commit"] == "c");
  CHECK(j["versions"].contains("dut_tool"));
  CHECK(j["device"]["link"]["trimmed"] > 0);
  CHECK(j["device"]["planes"].size() == 2);
}

TEST_CASE("every preset passes mixed with the RTL", "[tb][seeds]") {
  for (const char* preset : {"fpga100", "asic800"}) {
    CosimOptions o = short_run(preset, "mixed", 4000, 5);
    use_rtl(o);
    const CosimResult r = run_cosim(o);
    INFO(preset << ": " << r.problem << r.error << failure_text({}, r));
    REQUIRE(r.outcome == Outcome::Pass);
  }
}

TEST_CASE("PSN, MSN and RQMSN wrap in the scenarios that promise it", "[tb][wrap]") {
  CosimOptions o = short_run("tiny", "immediate", 2500, 3);
  const Plan plan = make_plan(*o.preset, o.scenario, o.seed);
  for (const SidePlan::Qp& qp : plan.dut.qps) {
    CHECK(qp.sq_psn > (1u << 24) - 301);
    CHECK(qp.msn > 65536 - 13);
    CHECK(qp.rqmsn > 65536 - 13);
  }
  const CosimResult r = run_cosim(o);
  REQUIRE(r.outcome == Outcome::Pass);
  CHECK(r.dut.packets / 4 > 310);  // packets and messages per QP are more than what is left before the wrap
  CHECK(r.dut.messages / 4 > 13);
  CHECK(r.immediates == r.messages);
}

TEST_CASE("every injected bug is caught and its block named", "[tb][bugs]") {
  std::set<unsigned> numbers;
  for (const Bug& bug : bugs()) {
    CHECK(numbers.insert(bug.number).second);
    std::string reported;
    for (uint64_t seed = 1; seed <= 8 && reported.empty(); ++seed) {
      CosimOptions o = short_run(bug.preset, bug.scenario, 2500, seed);
      use_rtl(o);
      o.bug = bug.number;
      const CosimResult r = run_cosim(o);
      INFO(bug.name << " seed " << seed << ": " << r.error << r.problem);
      REQUIRE((r.outcome == Outcome::Mismatch || r.outcome == Outcome::Pass));
      if (r.outcome == Outcome::Mismatch) {
        reported = r.divergences.front().block;
        RunInfo info;
        info.repro = "x";
        CHECK_THAT(failure_text(info, r), ContainsSubstring(std::string("block ") + bug.block));
      }
    }
    INFO(bug.name);
    CHECK(reported == bug.block);
  }
  std::set<unsigned> all;  // 90 to 94: congestion control
  for (unsigned n = 1; n <= 75; ++n) all.insert(n);
  for (unsigned n = 90; n <= 130; ++n) all.insert(n);
  CHECK(numbers == all);
}

TEST_CASE("a device that cannot be used is refused with the reason", "[tb][dut]") {
  const Preset& tiny = *find_preset("tiny");
  std::string error;
  CHECK_FALSE(open_dut("/no/such/file.so", tiny, 1, error));
  CHECK_THAT(error, ContainsSubstring("/no/such/file.so"));
  CHECK_FALSE(open_dut(MRC_NO_DEVICE, tiny, 1, error));
  CHECK_THAT(error, ContainsSubstring("has no function mrc_dut_open"));
  CHECK_FALSE(open_dut(MRC_DUT_FPGA100, tiny, 1, error));
  CHECK_THAT(error, ContainsSubstring("the device is preset fpga100, not tiny"));
}

}  // namespace mrc::test::cosim_test
