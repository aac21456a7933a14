// SPDX-License-Identifier: Apache-2.0
/// A run that is about one of its devices.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <utility>

#include "input/json.hpp"
#include "reference/run.hpp"
#include "tests/reference/life.hpp"

namespace mrc::test::about_test {

using namespace mrc::ref;

namespace {

const Change kInconclusive{.name = "answer", .drop = true};  // of a probe; it may have been discarded
const Change kWrong{.name = "sack", .packet = [](wire::Packet& p) { p.seth->sack_bitmap = 8; }};

/// Two NICs, 0 and 1, the second one with a change in its life.
Run judged(std::optional<uint32_t> about, const Change& change) {
  std::vector<log::Record> records;
  for (const uint32_t device : {0U, 1U}) {
    std::vector<Change> changes{{.name = "device", .record = [&](log::Record& r) {
                                   Profile profile = life_profile();
                                   profile.silent_drops = device == 1;
                                   r.body = log::Device{device == 0 ? "dut" : "peer", to_json(profile)};
                                 }}};
    if (device == 1) changes.push_back(change);
    for (Happening& h : life(changes)) {
      h.record.device = device;
      records.push_back(std::move(h.record));
    }
  }
  std::ranges::stable_sort(records, {}, &log::Record::time);
  RunOptions options;
  options.about = about;
  Run run(std::move(options));
  for (const log::Record& record : records) run.push(record);
  run.finish();
  return run;
}

}  // namespace

TEST_CASE("what is inconclusive of a device that a run is not about is told, and does not count",
          "[reference][reference.about]") {
  using Catch::Matchers::ContainsSubstring, Catch::Matchers::StartsWith;
  CHECK(judged({}, kInconclusive).verdict() == Verdict::Inconclusive);
  CHECK(judged(1, kInconclusive).verdict() == Verdict::Inconclusive);
  const Run run = judged(0, kInconclusive);
  CHECK(run.verdict() == Verdict::Pass);
  CHECK_THAT(run.verdict_text(), StartsWith("pass, 1 inconclusive of peer, which do not count"));
  CHECK(run.share().inconclusive == 1);
  const auto json = input::parse_json(run.to_json());
  REQUIRE(json);
  CHECK_THAT(run.to_json(), ContainsSubstring("\"about\": \"dut\""));
}

TEST_CASE("what a device does wrong counts, whichever the run is about", "[reference][reference.about]") {
  for (const std::optional<uint32_t> about : {std::optional<uint32_t>{}, std::optional<uint32_t>{0}, {1}}) {
    const Run run = judged(about, kWrong);
    CHECK(run.verdict() == Verdict::Fail);
    CHECK(run.tally(Rule::RespBitmap).broken == 1);
  }
}

}  // namespace mrc::test::about_test
