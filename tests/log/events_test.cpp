// SPDX-License-Identifier: Apache-2.0
/// What the judge makes of a log that tells what windows took, and of the same log without it.
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>
#include <vector>

#include "reference/judge.hpp"
#include "reference/mutation.hpp"
#include "tests/tb/runs.hpp"
#include "wire/decode.hpp"

namespace mrc::test::events_test {

using namespace mrc::tb;

namespace {

struct Recorded {
  CosimResult result;
  std::vector<log::Record> records;  ///< of the device
  ref::Profile profile;
};

Recorded recorded(const char* scenario, uint64_t packets) {
  CosimOptions o = short_run("tiny", scenario, packets, 3);
  Recorded r;
  o.log_shows = true;
  o.log = [&](const log::Record& record) {
    if (record.device == 0) r.records.push_back(record);
  };
  r.result = run_cosim(o);
  r.profile = ref::read_profile(std::get<log::Device>(r.records.front().body).profile, "log");
  return r;
}

struct Judged {
  std::map<std::string, uint64_t> broken;
  uint64_t inconclusive = 0;
  std::map<std::string, uint64_t> rests;  ///< by reason
};

Judged judge(const std::vector<log::Record>& records, const ref::Profile& profile) {
  ref::Judge judge(0, profile);
  for (const log::Record& record : records) judge.push(record);
  judge.finish();
  Judged j;
  for (std::size_t i = 0; i < ref::kNumRules; ++i) {
    const auto rule = static_cast<ref::Rule>(i);
    const ref::Tally& tally = judge.report().tally(rule);
    if (tally.broken != 0) j.broken[ref::info(rule).id] = tally.broken;
    j.inconclusive += tally.inconclusive;
    for (const auto& [reason, times] : tally.rests) j.rests[reason] += times;
  }
  return j;
}

/// The same, without the events.
std::vector<log::Record> silent(const std::vector<log::Record>& records) {
  std::vector<log::Record> out;
  for (const log::Record& r : records) {
    if (!std::holds_alternative<log::Event>(r.body)) out.push_back(r);
  }
  return out;
}

}  // namespace

TEST_CASE("nothing stays open in a log that tells what windows took, also where packets are discarded without a word",
          "[reference][events]") {
  for (const char* scenario : {"mixed", "slow-host", "late-data", "soak", "dynamic-mpr"}) {
    CAPTURE(scenario);
    const Recorded r = recorded(scenario, 500);
    REQUIRE(r.result.outcome == Outcome::Pass);
    const Judged j = judge(r.records, r.profile);
    CHECK(j.broken.empty());
    CHECK(j.inconclusive == 0);
    CHECK(j.rests.count("the QP's EVs are not known") == 0);
  }
}

TEST_CASE("a count that is wrong by one packet breaks a rule in a log with events, and passes without",
          "[reference][events]") {
  const Recorded r = recorded("reorder", 400);
  ref::Profile less = r.profile;
  less.shows = 0;
  REQUIRE(judge(r.records, r.profile).broken.empty());
  REQUIRE(judge(silent(r.records), less).broken.empty());
  const wire::WireConfig wire = r.profile.wire();
  unsigned edited = 0, seen = 0, seen_without = 0;
  for (std::size_t i = 0; i < r.records.size() && edited < 20; ++i) {
    const auto* frame = std::get_if<log::Frame>(&r.records[i].body);
    if (frame == nullptr || !frame->sent) continue;
    wire::Packet p = wire::decode(frame->bytes, wire);
    if (!p.seth || !p.cc_state || p.cc_state->ooo_count < 2) continue;
    if (++edited % 2 != 0) {
      ++p.cc_state->ooo_count;  // one less would contradict its own bitmap
    } else {
      p.cc_state->rcvd_bytes -= 2;  // less than the smallest packet, but more than rounding hides
    }
    std::vector<log::Record> wrong = r.records;
    std::get<log::Frame>(wrong[i].body).bytes = wire::encode(p, wire);
    seen += !judge(wrong, r.profile).broken.empty();
    seen_without += !judge(silent(wrong), less).broken.empty();
  }
  CHECK(edited >= 15);
  CHECK(seen + 2 >= edited);  // what is read in the cycle in which a packet is taken may have it or not
  CHECK(seen_without < edited / 2);
}

TEST_CASE("a log that is blurred, without events, some counters and completions of WRITEs, has no finding",
          "[reference][events]") {
  for (const char* scenario : {"mixed", "immediate"}) {
    const Recorded r = recorded(scenario, 200);
    ref::Profile less = r.profile;
    less.shows = 0;
    less.skew = 300'000;
    for (uint64_t n = 0; n < 8; ++n) {
      Rng rng(n, "blur");
      const auto blurred = ref::blur(r.records, less.skew, rng);
      CHECK(blurred.size() < r.records.size());
      const auto broken = judge(blurred, less).broken;
      for (const auto& [rule, times] : broken)
        UNSCOPED_INFO(scenario << ", blur " << n << ": " << rule << ' ' << times);
      CHECK(broken.empty());
    }
  }
}

}  // namespace mrc::test::events_test
