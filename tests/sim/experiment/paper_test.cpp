// SPDX-License-Identifier: Apache-2.0
// The paper's experiments (docs/design/results.md), each held to what was published, at a size for a test. Bounds are
// far enough from what is measured to be no nuisance, and near enough to fail when the mechanism does not work: where
// there is one to switch off, the test does that too.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sim/experiment/experiment.hpp"
#include "tests/sim/box.hpp"

namespace mrc::test::paper_test {

using namespace mrc::sim;

namespace {
ExperimentResult run(const std::string& text, uint64_t seed = 1) {
  return Experiment(parse_fabric_scenario(text, "s.toml"), seed).run();
}
ExperimentResult shipped(const std::string& name, uint64_t seed = 1, const std::string& more = "") {
  return run("base = \"" + name + "\"\n" + more, seed);
}
/// Time of a group over the least possible.
double over(const ExperimentResult& r, size_t group = 0) {
  const GroupResult& g = r.groups.at(group);
  return static_cast<double>(g.end - g.begin) / static_cast<double>(g.bound);
}
/// Completion time of the fastest flow over that of the slowest.
double evenness(const GroupResult& g) { return static_cast<double>(g.fct.min) / static_cast<double>(g.fct.max); }
constexpr uint64_t kSeeds[] = {1, 2, 3};
}  // namespace

TEST_CASE("paper: WRITEs of 32 KB on 4 QPs reach 96 % of 800 Gb/s", "[sim][paper][goodput]") {
  const ExperimentResult r = shipped("goodput-32k");
  REQUIRE(r.outcome == Outcome::Done);
  CHECK(r.groups[0].goodput_gbps > 764);
  CHECK(r.groups[0].goodput_gbps < 800 * 4096.0 / 4258);  // more than the headers leave would be a wrong clock
  CHECK(r.total.retransmissions == 0);
}

TEST_CASE("paper: a dead path is bypassed within tens of microseconds", "[sim][paper][bypass]") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const ExperimentResult r = shipped("path-bypass", seed);
    INFO(seed);
    REQUIRE(r.outcome == Outcome::Done);
    const EventResult& e = r.events.at(0);
    REQUIRE(e.measured);
    CHECK(over(r) < 1.165);
    CHECK(r.total.duplicates <= 19);             // of 195 000: nearly nothing was taken for lost that was on its way
    CHECK(e.after_gbps > 0.75 * e.before_gbps);  // an eighth of the uplinks is gone, a quarter of its plane's
    CHECK(r.lost > 0);
  }
  // As many packets as 1.5 of the largest window, and nothing known by time: the timer finds many of the losses, and
  // some of what it sends again is lost once more before all entropy values of the link are known.
  unsigned late = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const ExperimentResult r = shipped("path-bypass", seed,
                                       "reorder = 0\noverdue = 0\nsilence = 0\nloss_spares = false\n"
                                       "other_plane = false\nstrikes = 1\n");
    INFO(seed);
    REQUIRE(r.outcome == Outcome::Done);
    REQUIRE(r.events.at(0).recovery);
    CHECK(*r.events[0].recovery <= 120 * kUs);
    late += *r.events[0].recovery > 50 * kUs ? 1 : 0;
  }
  CHECK(late > 0);
  for (const uint64_t seed : kSeeds) {
    const ExperimentResult roce = shipped("roce-path-bypass", seed);
    INFO(seed);
    CHECK(roce.outcome == Outcome::Failed);
    CHECK(roce.groups[0].failed >= 1);
  }
}

TEST_CASE("incasts of 16 in 8 planes: what waits behind retransmissions is not taken for lost",
          "[sim][experiment][A-83]") {
  const std::string text = kIncastOf16;
  for (const bool nic : {false, true}) {
    uint64_t twice = 0, packets = 0;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      const ExperimentResult r = run((nic ? "nic_rules = true\n" : "") + text, seed);
      INFO(nic << " " << seed);
      REQUIRE(r.outcome == Outcome::Done);
      CHECK(r.total.timeouts == 0);
      CHECK(r.trims > 2000);
      twice += r.total.duplicates;
      packets += r.total.data_packets;
    }
    CHECK(twice < packets / 200);
  }
}

TEST_CASE("incasts of 16 with losses: what is lost and waits for the window does not shut it",
          "[sim][experiment][A-91]") {
  std::string text = kIncastOf16;
  text.replace(text.find("1_000_000"), 9, "500_000");
  for (unsigned plane = 0; plane < 8; ++plane) {
    text += "[[event]]\nwhat = \"link-loss\"\nlink = \"nic0/" + std::to_string(plane) + "\"\nloss = 0.02\n";
  }
  double sum = 0, sum_stays = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    INFO(seed);
    const ExperimentResult r = run(text, seed), stays = run("lost_stays = true\n" + text, seed);
    REQUIRE((r.outcome == Outcome::Done && stays.outcome == Outcome::Done));
    CHECK(r.total.timeouts == 0);
    sum += over(r);
    sum_stays += over(stays);
  }
  CHECK(sum_stays > 1.5 * sum);
}

TEST_CASE("incasts of 16 x 1 MB with losses: no timer, since a SACK's count tells of those beyond its bitmap",
          "[sim][experiment][A-92]") {
  std::string text = kIncastOf16;
  for (unsigned plane = 0; plane < 8; ++plane) {
    text += "[[event]]\nwhat = \"link-loss\"\nlink = \"nic0/" + std::to_string(plane) + "\"\nloss = 0.02\n";
  }
  uint64_t by_bitmap = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    INFO(seed);
    const ExperimentResult r = run(text, seed), bits = run("by_count = false\n" + text, seed);
    REQUIRE((r.outcome == Outcome::Done && bits.outcome == Outcome::Done));
    CHECK(r.total.timeouts == 0);
    CHECK(over(r) < 4);
    by_bitmap += bits.total.timeouts;
  }
  CHECK(by_bitmap > 0);
}

TEST_CASE("paper: without one of eight links seven eighths of the rate are left, without four the half",
          "[sim][paper][plane]") {
  const ExperimentResult one = shipped("plane-loss");
  REQUIRE(one.outcome == Outcome::Done);
  REQUIRE((one.events.size() == 2 && one.events[0].measured && one.events[1].measured));
  const double before = one.events[0].before_gbps;
  CHECK(before > 750);
  CHECK(std::abs(one.events[0].after_gbps / before - 7.0 / 8) < 0.02);
  CHECK_FALSE(one.events[0].dip);  // in 5 us never below 90 % of the seven eighths
  CHECK(one.events[1].after_gbps / before > 0.98);
  CHECK(one.total.duplicates == 0);

  const ExperimentResult four = shipped("plane-loss-4");
  REQUIRE(four.outcome == Outcome::Done);
  REQUIRE(four.events.back().measured);
  CHECK(std::abs(four.events.back().after_gbps / before - 0.5) < 0.02);
}

TEST_CASE("paper: links between T0 and T1 go down, what is left is used", "[sim][paper][links]") {
  // 5 of 256 links, the share that 20 of 1024 are.
  constexpr unsigned kPlanes = 8, kLeaves = 4, kSpines = 8;
  const ExperimentResult r = shipped("t0t1-links-down", 1,
                                     "[topology]\nleaves = 4\nhosts_per_leaf = 8\nspines = 8\n"
                                     "[[traffic]]\npattern = \"permutation\"\nshift = 8\nbytes = 60_000_000\n"
                                     "[[event]]\nwhat = \"link-down\"\nlink = \"random-uplink\"\nat_us = 100\n"
                                     "every_us = 60\ncount = 5\n");
  REQUIRE(r.outcome == Outcome::Done);
  REQUIRE(r.events.size() == 5);
  std::set<std::tuple<unsigned, unsigned, unsigned>> down;
  for (const EventResult& e : r.events) {
    unsigned plane = 0, leaf = 0, plane2 = 0, spine = 0;
    REQUIRE(std::sscanf(e.text.c_str(), "link T0-%u-%u:T1-%u-%u down", &plane, &leaf, &plane2, &spine) == 4);
    down.insert({plane, leaf, spine});
    CHECK_FALSE(e.dip);
  }
  // From one T0 to the next in a plane: the spines that both reach. Planes carry equal shares, so the worst one counts.
  double left = 0;
  for (unsigned leaf = 0; leaf < kLeaves; ++leaf) {
    unsigned worst = kSpines;
    for (unsigned plane = 0; plane < kPlanes; ++plane) {
      unsigned both = 0;
      for (unsigned spine = 0; spine < kSpines; ++spine) {
        both += down.count({plane, leaf, spine}) + down.count({plane, (leaf + 1) % kLeaves, spine}) == 0 ? 1 : 0;
      }
      worst = std::min(worst, both);
    }
    left += static_cast<double>(worst) / kSpines / kLeaves;
  }
  CHECK(left < 0.95);
  REQUIRE(r.events.back().measured);
  CHECK(r.events.back().after_gbps / r.events.front().before_gbps > 0.96 * left);
}

TEST_CASE("paper: an entropy value that loses a fifth leaves use at once", "[sim][paper][bad-ev]") {
  for (const uint64_t seed : kSeeds) {
    const ExperimentResult r = shipped("bad-ev-20", seed);
    INFO(seed);
    REQUIRE(r.outcome == Outcome::Done);
    CHECK(over(r) < 1.01);
    CHECK(r.lost >= 1);
    CHECK(r.lost < 20);  // probes among them
    REQUIRE(r.events.at(0).measured);
    CHECK(r.events[0].after_gbps > 0.97 * r.events[0].before_gbps);
    // It has to stay in use: it goes on losing.
    const ExperimentResult kept = shipped("bad-ev-20", seed, "min_active = 32\n[topology]\nbackup_evs = 0\n");
    CHECK(kept.lost > 60);
  }
}

TEST_CASE("paper: of two flows with a common entropy value ECN moves one, nothing is lost", "[sim][paper][shared-ev]") {
  for (const uint64_t seed : kSeeds) {
    const ExperimentResult r = shipped("shared-ev", seed);
    INFO(seed);
    REQUIRE(r.outcome == Outcome::Done);
    CHECK(r.marks > 500);
    CHECK(r.trims + r.drops == 0);
    CHECK(over(r, 0) < 1.03);
    CHECK(over(r, 1) < 1.03);
    const ExperimentResult unmarked = shipped("shared-ev", seed, "[topology]\necn = false\n");
    CHECK(unmarked.marks == 0);
    CHECK(over(unmarked, 0) > 1.08);
  }
}

TEST_CASE("paper: random loss of 0.1 % does little, of 1 % what the timer lets it", "[sim][paper][loss]") {
  for (const uint64_t seed : kSeeds) {
    INFO(seed);
    const ExperimentResult little = shipped("loss-0.1", seed), more = shipped("loss-1", seed);
    REQUIRE((little.outcome == Outcome::Done && more.outcome == Outcome::Done));
    CHECK(over(little) < 1.02);
    CHECK(over(more) < 1.08);
    // Half or less is left with a timer of 2.1 ms, as published.
    const ExperimentResult slow = shipped("loss-1", seed, "timeout = 11\noverdue = 0\nsilence = 0\n");
    REQUIRE(slow.outcome == Outcome::Done);
    CHECK(over(slow) > 2);
    // By the time of packets a loss is known a round trip later, whatever the timer, also of what was sent again.
    const ExperimentResult known = shipped("loss-1", seed, "timeout = 11\n");
    REQUIRE(known.outcome == Outcome::Done);
    CHECK(over(known) < 1.08);
    CHECK(known.total.timeouts == 0);
    CHECK(slow.total.timeouts > 0);
    const ExperimentResult roce = shipped("roce-loss-1", seed);
    CHECK(over(roce) > 1.4);
    CHECK(roce.total.retransmissions > 20 * more.total.retransmissions);
  }
}

TEST_CASE("paper: a 7:1 incast has equal shares and leaves its neighbour alone", "[sim][paper][incast]") {
  const std::string longer =
      "[[traffic]]\npattern = \"incast\"\nto = \"nic0\"\nnodes = 7\nfirst = 4\nbytes = 30_000_000\n"
      "victims = 1\nvictim_bytes = 180_000_000\n";
  for (const uint64_t seed : kSeeds) {
    const ExperimentResult r = shipped("incast-victim", seed, longer);
    INFO(seed);
    REQUIRE(r.outcome == Outcome::Done);
    CHECK(r.trims > 100);
    CHECK(over(r, 0) < 1.02);
    CHECK(evenness(r.groups[0]) > 0.7);  // 0.46 to 0.51 with quick adapt below an eighth of the window
    CHECK(over(r, 1) < 1.02);
  }
}

TEST_CASE("paper: in a permutation every flow has its NIC's rate", "[sim][paper][permutation]") {
  for (const uint64_t seed : kSeeds) {
    const ExperimentResult r = shipped("permutation-400g", seed);
    INFO(seed);
    REQUIRE(r.outcome == Outcome::Done);
    CHECK(over(r) < 1.07);
    CHECK(evenness(r.groups[0]) > 0.93);
    CHECK(over(shipped("roce-permutation-400g", seed)) > 2);
  }
}

TEST_CASE("a 64:1 incast ends within 1.04 of the least time, in eight planes within 1.08", "[sim][paper][incast]") {
  double sum = 0;  // one seed in ten is above 1.04
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const ExperimentResult r = shipped("incast", seed);
    INFO(seed);
    REQUIRE(r.outcome == Outcome::Done);
    CHECK(over(r) < 1.05);
    sum += over(r);
    CHECK(r.total.timeouts == 0);
  }
  CHECK(sum / 10 < 1.04);
  for (const uint64_t seed : kSeeds) {
    INFO(seed);
    const ExperimentResult planes = shipped("incast", seed, "[topology]\nplanes = 8\ngbps = 100\n");
    REQUIRE(planes.outcome == Outcome::Done);
    CHECK(over(planes) < 1.08);
    CHECK(planes.total.timeouts < 10);
  }
}

TEST_CASE("receivers that share: 64:1 ends within 1.04 in one plane and in eight, shares are even at every size",
          "[sim][paper][incast]") {
  for (const char* planes : {"", "[topology]\nplanes = 8\ngbps = 100\n"}) {
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      const ExperimentResult r = shipped("incast", seed, "share = true\n" + std::string(planes));
      INFO(planes << seed);
      REQUIRE(r.outcome == Outcome::Done);
      CHECK(over(r) < 1.04);
    }
  }
  for (const unsigned senders : {7u, 16u}) {
    const std::string longer =
        "[[traffic]]\npattern = \"incast\"\nto = \"nic0\"\nfirst = 1\nbytes = 30_000_000\nnodes = " +
        std::to_string(senders) + "\n";
    for (const bool share : {false, true}) {
      INFO(senders << share);
      const ExperimentResult r = shipped("incast", 1, (share ? "share = true\n" : "") + longer);
      REQUIRE(r.outcome == Outcome::Done);
      CHECK((evenness(r.groups[0]) > 0.8) == share);
      CHECK(over(r) < 1.02);
    }
  }
  // Where nobody shares a receiver, nothing changes.
  CHECK(shipped("permutation", 1, "share = true\n").events_digest == shipped("permutation").events_digest);
}

}  // namespace mrc::test::paper_test
