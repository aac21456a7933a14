// SPDX-License-Identifier: Apache-2.0
// A link dies under traffic, and switches send its packets back to their senders.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "sim/experiment/experiment.hpp"
#include "tests/sim/fast_net.hpp"

namespace mrc::test::returned_test {

using namespace mrc::sim;

namespace {
/// Two planes, two T0s of four NICs, four T1s: all go through the T1s.
std::string scenario(const std::string& topology, const std::string& more) {
  return more + "[topology]\nleaves = 2\nhosts_per_leaf = 4\nspines = 4\nplanes = 2\ngbps = 100\n" + topology +
         "[[traffic]]\npattern = \"permutation\"\nshift = 4\nbytes = 1_000_000\n"
         "[[event]]\nwhat = \"link-down\"\nlink = \"T0-0-0:T1-0-1\"\nat_us = 20\n";
}
constexpr const char* kToSender = "trim = \"to-sender\"\n";

/// What passed the links of NICs: data out, and all of it in.
struct Seen {
  ExperimentResult result;
  std::vector<Recorder::Seen> out, in;
};
Seen run(const std::string& text) {
  Experiment e(parse_fabric_scenario(text, "s.toml"), 1);
  std::vector<std::unique_ptr<Recorder>> out, in;
  const Topology& t = e.topology();
  for (NodeId h = 0; h < t.hosts(); ++h) {
    for (unsigned p = 0; p < t.planes(); ++p) {
      e.fabric().set_tap(t.host_link(h, p), true, out.emplace_back(std::make_unique<Recorder>()).get());
      e.fabric().set_tap(t.host_link(h, p), false, in.emplace_back(std::make_unique<Recorder>()).get());
    }
  }
  Seen seen;
  seen.result = e.run();
  for (const auto& r : out) seen.out.insert(seen.out.end(), r->seen.begin(), r->seen.end());
  for (const auto& r : in) seen.in.insert(seen.in.end(), r->seen.begin(), r->seen.end());
  return seen;
}
unsigned nacks(const Seen& seen) {
  unsigned n = 0;
  for (const auto& s : seen.out) n += s.packet.opcode == static_cast<uint8_t>(wire::Opcode::Nack);
  return n;
}
using PacketName = std::tuple<uint32_t, uint32_t, uint32_t>;  // sender, its peer's QP, PSN
}  // namespace

TEST_CASE("a dead link's packets come back: each loss is known within a round trip, and no NACK goes anywhere",
          "[sim][experiment][returned]") {
  for (const bool swapped : {false, true}) {
    const Seen seen =
        run(scenario(std::string(kToSender) + (swapped ? "return_swapped = true\nreturned_dscp = 13\n" : ""),
                     swapped ? "returned = \"learn\"\nreturned_dscp = 13\n" : "returned = \"learn\"\n"));
    const ExperimentResult& r = seen.result;
    REQUIRE(r.outcome == Outcome::Done);
    CHECK(r.total.delivered_bytes == r.requested_bytes);
    CHECK(r.total.returned > 10);
    CHECK(nacks(seen) == 0);
    CHECK(r.total.trimmed == 0);
    CHECK(r.total.timeouts == 0);
    // When a packet left first, when it came back, and when it was sent again.
    std::map<PacketName, Time> left, back;
    std::map<PacketName, std::vector<Time>> again;
    for (const auto& s : seen.out) {
      if (!is_write(s.packet)) continue;
      const PacketName key{s.packet.src, s.packet.dqp, s.packet.psn};
      if ((s.packet.bth & kBthRtx) == 0)
        left[key] = s.time;
      else
        again[key].push_back(s.time);
    }
    unsigned returned = 0;
    for (const auto& s : seen.in) {
      if (!is_write(s.packet) || !s.packet.trimmed) continue;
      const uint32_t sender = swapped ? s.packet.dst_host : s.packet.src;
      const PacketName key{sender, s.packet.dqp, s.packet.psn};
      ++returned;
      REQUIRE(left.contains(key));
      if ((s.packet.bth & kBthRtx) != 0) continue;
      back[key] = s.time;
      CHECK(s.time - left.at(key) <= r.round_trip);
      REQUIRE(again.contains(key));
      // Its place in the queue of retransmissions is all that it still waits for.
      CHECK(again.at(key).front() - left.at(key) <= 2 * r.round_trip);
    }
    CHECK(returned == r.total.returned);
  }
}

TEST_CASE("what comes back is counted by NICs that do not learn from it; taken for the peer's it brings false NACKs",
          "[sim][experiment][returned]") {
  const Seen drop = run(scenario(kToSender, ""));
  REQUIRE(drop.result.outcome == Outcome::Done);
  CHECK(drop.result.total.returned > 10);
  CHECK(nacks(drop) == 0);
  const Seen learn = run(scenario(kToSender, "returned = \"learn\"\n"));
  CHECK(learn.result.groups[0].end < drop.result.groups[0].end);
  const Seen peer = run(scenario(kToSender, "returned = \"peer\"\n"));
  REQUIRE(peer.result.outcome == Outcome::Done);
  CHECK(peer.result.total.returned == 0);
  CHECK(nacks(peer) > 10);
  // Without the switches' doing nothing comes back.
  CHECK(run(scenario("", "")).result.total.returned == 0);
}

TEST_CASE("an incast whose packets come back to their senders ends, and the receiver NACKs none",
          "[sim][experiment][returned]") {
  const Seen seen = run(
      "returned = \"learn\"\n[topology]\nkind = \"single\"\nhosts = 9\nplanes = 2\ngbps = 100\ntrim = \"to-sender\"\n"
      "[[traffic]]\npattern = \"incast\"\nbytes = 300_000\n");
  REQUIRE(seen.result.outcome == Outcome::Done);
  CHECK(seen.result.total.returned > 100);
  CHECK(nacks(seen) == 0);
}

TEST_CASE("trim takes true, false and to-sender, and nothing else", "[sim][topology][returned]") {
  const auto config = [](const std::string& value) { return parse_topology("trim = " + value + "\n", "t.toml"); };
  CHECK(config("\"to-sender\"").to_sender);
  CHECK(config("\"to-sender\"").trim);
  CHECK_FALSE(config("true").to_sender);
  CHECK_FALSE(config("false").trim);
  CHECK_THROWS_WITH(config("\"back\""), "t.toml:1:8: trim = back is not known.");
}

}  // namespace mrc::test::returned_test
