// SPDX-License-Identifier: Apache-2.0
// Packets right behind each other.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "tests/pipeline/tx/tx_path_bench.hpp"

namespace mrc::test::tx_path_rate_test {

using namespace mrc::test::tx_path;

TEST_CASE("tx_path: no pair of packets loses a cycle, and each gets the EV that it would get alone",
          "[pipeline][tx_path][throughput]") {
  const char* name = GENERATE("tiny", "asic800");
  Bench b(0, name);
  for (const unsigned qp : {0u, 1u, 3u}) b.set_up(qp, qp);
  // All runs of four packets of four QPs, one behind the other.
  std::vector<Pkt> pkts;
  for (unsigned run = 0; run < 256; ++run) {
    for (unsigned i = 0; i < 4; ++i) pkts.push_back(packet(run >> (2 * i) & 3));
  }
  b.stream(pkts);
  REQUIRE(b.got.size() == 1024);
  for (const unsigned g : b.gaps()) REQUIRE(g == 1);
  const unsigned evs = b.preset.evs_per_qp, planes = b.preset.num_planes;
  unsigned sent[4] = {};
  for (const Path& p : b.got) {
    REQUIRE(p.ev_idx == nth_ev(evs, p.pkt.qp, sent[p.pkt.qp]++));
    REQUIRE(p.plane == p.ev_idx % planes);
    REQUIRE(p.ev == 0xA000 + evs + p.ev_idx);
  }
  // What stood at distances 1, 2, 3: another QP, the same one in the same row, in another row.
  std::map<std::pair<unsigned, unsigned>, unsigned> pairs;
  for (std::size_t i = 0; i < b.got.size(); ++i) {
    for (unsigned d = 1; d <= 3 && i + d < b.got.size(); ++d) {
      const Path &x = b.got[i], &y = b.got[i + d];
      ++pairs[{d, x.pkt.qp != y.pkt.qp ? 0 : x.ev_idx / planes == y.ev_idx / planes ? 1 : 2}];
    }
  }
  CHECK(pairs.size() == 9);
  for (const auto& [what, n] : pairs) CHECK(n >= 10);
}

TEST_CASE("tx_path: a set of one group is walked at a packet per cycle, and sees each word of its row",
          "[pipeline][tx_path][throughput]") {
  Preset p = *find_preset("asic800");
  p.evs_per_qp = 8;
  {
    Bench b(p);
    b.stream(std::vector<Pkt>(100, packet(2)));
    for (const unsigned g : b.gaps()) REQUIRE(g == 1);
    for (unsigned i = 0; i < 100; ++i) REQUIRE(b.got[i].ev_idx == nth_ev(8, 2, i));
  }
  Bench b(p);
  for (uint16_t i = 0; i < 8; ++i) b.feed_back(i, 0xA008u + i);
  CHECK(b.skips == 8);
  b.stream(std::vector<Pkt>(4, packet(2)));
  // Keys 3, 1, 0 (modulo 8). 3 is restored with the first key, and used. With the second key 1 is restored, and 3 is
  // met as GOOD behind 0. Then 2 is restored, and 1 is met with the third key behind 0; 2 comes next.
  REQUIRE(b.got.size() == 4);
  CHECK(b.got[0].ev_idx == 3);
  CHECK(b.got[1].ev_idx == 3);
  CHECK(b.got[2].ev_idx == 1);
  CHECK(b.got[3].ev_idx == 2);
  CHECK(b.gaps() == Gaps{1, 2, 1});
}

TEST_CASE("tx_path: packets in a row that restore EVs of one group do not undo each other's work",
          "[pipeline][tx_path][throughput]") {
  Bench b(0, "asic800");
  // Key of QP 2 modulo 256: 0xE3. First group: 28, planes in the order 3 2 1 0 7 6 5 4. EVs 227 and 225 are skipped.
  b.feed_back(227, 0xA000 + 256 + 227);
  b.feed_back(225, 0xA000 + 256 + 225);
  CHECK(b.skips == 2);
  b.stream(std::vector<Pkt>(254 + 256, packet(2)));
  const unsigned first[6] = {226, 224, 231, 230, 229, 228};
  for (unsigned i = 0; i < 6; ++i) CHECK(b.got[i].ev_idx == first[i]);
  Evs second;
  for (unsigned i = 254; i < 254 + 256; ++i) second.insert(b.got[i].ev_idx);
  CHECK(second.size() == 256);
  for (const unsigned g : b.gaps()) REQUIRE(g == 1);
}

TEST_CASE("tx_path: a packet that walks into the next group takes a cycle more", "[pipeline][tx_path][throughput]") {
  Bench b;
  const std::vector<Pkt> pkts(6, packet(2));
  SECTION("the second of a group is denied") {
    b.deny(2);  // 3 | 2 of the order 3 2 1 0 7 6 ...: the packet behind 3 finds the group exhausted
    b.stream(pkts);
    CHECK(b.gaps() == Gaps{2, 1, 1, 1, 1});
  }
  SECTION("the first of a group is denied") {
    b.deny(3);  // the packet passes it and ends the group
    b.stream(pkts);
    CHECK(b.gaps() == Gaps{1, 1, 1, 1, 1});
  }
  SECTION("two groups are denied") {
    for (const unsigned ev : {1u, 0u, 7u, 6u}) b.deny(ev);
    b.stream(pkts);
    CHECK(b.gaps() == Gaps{1, 3, 1, 1, 1});
    CHECK(b.got[2].ev_idx == 5);
  }
  SECTION("a retransmission avoids the last of a group") {
    b.stream({packet(2),
              [] {
                Pkt p = packet(2);
                p.rtx = true;
                p.avoid_ev = 2;
                return p;
              }(),
              packet(2)});
    CHECK(b.gaps() == Gaps{2, 1});
    CHECK(b.got[1].ev_idx == 1);
    CHECK(b.got[2].ev_idx == 0);
  }
  SECTION("packets of another QP wait behind it") {
    b.set_up(1, 0);
    b.deny(2);
    b.stream({packet(2), packet(1), packet(2), packet(1), packet(1)});
    CHECK(b.gaps() == Gaps{1, 2, 1, 1});
  }
}

TEST_CASE("tx_path: an operation takes its own cycles out of a stream of packets, and one more",
          "[pipeline][tx_path][throughput]") {
  const unsigned backup = GENERATE(0u, 2u);
  Bench b;
  b.set_up(1, 0, backup);
  const auto feed = [&](FbKind kind, uint16_t ev_idx) {
    b.fb.load({.qp = 1, .ev_idx = ev_idx, .entropy = 0xA010u + ev_idx, .kind = kind});
  };
  const auto table = [&](CfgTable t, unsigned index, const std::array<uint32_t, 16>& data) {
    b.cfg = {true, static_cast<uint8_t>(t), static_cast<uint16_t>(index), data};
    for (int i = 0; i < 50 && !b.path.cfg_ack(); ++i) b.busy(1);
    REQUIRE(b.path.cfg_ack());
    b.cfg.req = false;
  };
  // A gap of one cycle, one to drain w, and those of the operation from its acceptance on.
  CHECK(hole(b, [&] { feed(FbKind{}, 0xffff); }) == 2 + 1);
  CHECK(hole(b, [&] { feed(FbKind{}, 5); }) == 2 + 2);
  CHECK(hole(b, [&] { feed(FbKind::SkipOnce, 5); }) == 2 + 2);
  CHECK(b.skips == 1);
  CHECK(hole(b, [&] { feed(FbKind::Loss, 6); }) == (backup ? 2 + 5 : 2 + 3));  // Fb, (Find, Test,) Judge
  CHECK(b.bads == 1);
  CHECK(hole(b, [&] { feed(FbKind::RevivedGood, 6); }) == (backup ? 2 + 4 : 2 + 2));
  CHECK(b.events.size() == 2);
  CHECK(hole(b, [&] { b.pfb.load({.qp = 1, .ev_idx = 6, .entropy = 0, .kind = FbKind::RevivedGood}); }) == 2 + 2);
  CHECK(hole(b, [&] { table(CfgTable::Ev, 0, {1}); }) == 2 + 1);
  CHECK(hole(b, [&] { table(CfgTable::PeerPorts, 0, {3}); }) == 2 + 1);
  CHECK(hole(b, [&] { table(CfgTable::Mr, 0, {}); }) == 2 + 1);
  CHECK(hole(b, [&] { table(CfgTable::EvState, 1, {5}); }) == 2 + 2);
  CHECK(hole(b, [&] { table(CfgTable::QpCtx, 1, {}); }) == 2 + 1 + 8);
  CHECK(hole(b, [&] { table(CfgTable::EvGen, 0, {0, 1}); }) == 2 + 1 + 16);
}

TEST_CASE("tx_path: feedback without end takes turns with packets", "[pipeline][tx_path][throughput]") {
  Bench b;
  const bool both = GENERATE(false, true);
  for (unsigned i = 0; i < 200; ++i) {
    if (b.pkt.free()) b.send();
    if (b.fb.free()) b.fb.load({.qp = 2, .ev_idx = 1, .entropy = 0, .kind = FbKind{}});
    if (both && b.pfb.free()) b.pfb.load({.qp = 2, .ev_idx = 1, .entropy = 0, .kind = FbKind{}});
    b.cycle();
  }
  REQUIRE(b.rec_at.size() > 30);
  // A packet, a cycle in which it leaves w, and two cycles of each feedback.
  for (const unsigned g : b.gaps(2)) REQUIRE(g == (both ? 6 : 4));
}

TEST_CASE("tx_path: packets without a path pass at one per cycle, among others too",
          "[pipeline][tx_path][nopath][throughput]") {
  Bench b;
  b.set_up(1, 0);
  b.set_up(0, 1);
  b.peer_ports(0, 0);
  std::vector<Pkt> pkts;
  for (unsigned i = 0; i < 96; ++i) {
    pkts.push_back(packet(i % 3));  // QP 1 reaches its peer on no plane
    pkts.back().voided = i % 4 == 3;
    pkts.back().psn = i;
  }
  b.stream(pkts);
  for (const unsigned g : b.gaps()) REQUIRE(g == 1);
  unsigned sent[3] = {}, none = 0;
  std::size_t path = 0;
  for (unsigned i = 0; i < 96; ++i) {
    const Rec& r = b.recs[i];
    REQUIRE(r.psn == i);
    REQUIRE(r.voided == (i % 4 == 3));
    if (i % 4 == 3 || i % 3 == 1) {
      REQUIRE(r.ev_idx == 0xffff);
      none += i % 4 != 3;
    } else {
      REQUIRE(r.ev_idx == nth_ev(16, i % 3, sent[i % 3]++));
      REQUIRE(b.got[path].ev_idx == r.ev_idx);
      REQUIRE(b.got[path++].pkt.psn == i);
    }
  }
  CHECK(path == b.got.size());
  CHECK(b.nopaths == none);
}

TEST_CASE("tx_path: a packet that waits for the path register keeps its EV, and holds operations up",
          "[pipeline][tx_path]") {
  Bench b;
  b.lose(12);  // for the scrub
  b.take_paths = false;
  b.busy(10);
  CHECK(b.recs.size() == 3);  // two in the FIFO, one in the register; the fourth is in e, the fifth in w
  b.fb.load({.qp = 2, .ev_idx = 5, .entropy = 0xA015, .kind = FbKind::SkipOnce});
  b.cfg = {true, static_cast<uint8_t>(CfgTable::Ev), 16 + 0, {0xBEEF}};
  for (unsigned i = 0; i < 2 * 64 * 4 * 16; ++i) b.cycle();
  CHECK(b.recs.size() == 3);
  CHECK(b.fb.count() == 1);
  CHECK_FALSE(b.path.cfg_ack());
  CHECK(b.bad.size() == 1);
  b.take_paths = true;
  for (int i = 0; i < 20; ++i) b.cycle();
  CHECK(b.path.cfg_ack());
  CHECK(b.skips == 1);
  REQUIRE(b.got.size() >= 8);
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(b.got[i].ev_idx == (i ^ 3u));
    CHECK(b.got[i].ev == 0xA010 + (i ^ 3u));  // the fourth has read EV 0 before it was written
  }
  CHECK(b.got[4].ev_idx == 7);
}

TEST_CASE("tx_path: a packet without a path does not wait for the path register; all wait for rec",
          "[pipeline][tx_path][nopath]") {
  Bench b;
  b.take_paths = false;
  Pkt none = packet(2);
  none.voided = true;
  b.stream({packet(2), packet(2), packet(2), none, none});
  CHECK(b.recs.size() == 5);
  CHECK(b.gaps() == Gaps{1, 1, 1, 1});
  b.take_paths = true;
  b.take_recs = false;
  for (int i = 0; i < 10; ++i) b.cycle();
  for (int i = 0; i < 20; ++i) {
    if (b.pkt.free()) b.pkt.load(none);
    b.cycle();
  }
  CHECK(b.rec_at.size() == 5 + 3);
  CHECK(b.nopaths == 0);
  b.take_recs = true;
  b.up = 0;
  for (int i = 0; i < 20; ++i) b.cycle();
  CHECK(b.nopaths == 0);  // voided ones only
  b.no_path();
  CHECK(b.nopaths == 1);
}

TEST_CASE("tx_path: the choice is made in the cycle in which e is free, by the room and ports of that cycle",
          "[pipeline][tx_path]") {
  Bench b;
  b.feed_back(7, 0xA017);  // first of the third group
  b.take_paths = false;
  b.busy(10);
  // 3 2 1 are out, 0 is in e. In w: 7 would be restored, 6 chosen.
  for (int i = 0; i < 10; ++i) b.cycle();
  SECTION("as it was") {
    b.take_paths = true;
    for (int i = 0; i < 8; ++i) b.cycle();
    CHECK(b.got[4].ev_idx == 6);
    CHECK(b.got[5].ev_idx == 5);
  }
  SECTION("plane 0 falls: nothing was restored before, and both are passed") {
    b.up = 2;
    b.take_paths = true;
    for (int i = 0; i < 8; ++i) b.cycle();
    CHECK(b.got[3].ev_idx == 0);  // its choice was made
    CHECK(b.got[4].ev_idx == 5);
  }
  SECTION("all ports fall: no path, and EV 7 stays SKIP") {
    b.up = 0;
    b.take_paths = true;
    for (int i = 0; i < 12; ++i) b.cycle();
    CHECK(b.got.size() == 4);
    CHECK(b.nopaths == b.recs.size() - 4);
    b.up = 3;
    CHECK(b.send_one() == 6);  // the first that restores and passes 7
  }
}

TEST_CASE("tx_path: a packet whose last port falls during its walk leaves the walk of its QP where it was",
          "[pipeline][tx_path][nopath]") {
  Bench b;
  for (const unsigned ev : {3u, 2u, 1u, 0u, 7u, 6u, 5u, 4u}) b.deny(ev);
  b.send();
  for (int i = 0; i < 5; ++i) b.cycle();  // register, FIFO, accepted, two groups
  b.up = 0;
  for (int i = 0; i < 5; ++i) b.cycle();
  CHECK(b.nopaths == 1);
  CHECK(b.got.empty());
  b.up = 3;
  for (const unsigned ev : {3u, 2u, 1u, 0u, 7u, 6u, 5u, 4u}) b.deny(ev, false);
  CHECK(b.send_one() == 3);
}

TEST_CASE("tx_path: a lane without room holds all packets behind the one that waits, and operations",
          "[pipeline][tx_path]") {
  Bench b;
  b.set_up(1, 0);
  b.room = 0;
  b.send();
  b.cycle();
  Pkt none = packet(1);
  none.voided = true;
  b.pkt.load(none);
  b.cycle();
  b.fb.load({.qp = 2, .ev_idx = 5, .entropy = 0xA015, .kind = FbKind::SkipOnce});
  for (int i = 0; i < 50; ++i) b.cycle();
  CHECK(b.recs.empty());
  CHECK(b.skips == 0);
  b.room = 1;
  for (int i = 0; i < 10; ++i) b.cycle();
  REQUIRE(b.recs.size() == 2);
  CHECK(b.recs[0].ev_idx == 2);
  CHECK(b.recs[1].voided);
  CHECK(b.skips == 1);
}

TEST_CASE("tx_path: packets in a row get the EVs that they get one at a time, whatever state the EVs are in",
          "[pipeline][tx_path][throughput][property]") {
  const char* name = GENERATE("tiny", "asic800");
  const unsigned seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
  CAPTURE(name, seed);
  Bench fast(2, name), slow(2, name);
  std::mt19937 rng(seed);
  const unsigned evs = fast.preset.evs_per_qp;
  for (Bench* b : {&fast, &slow}) {
    std::mt19937 r(seed);
    b->csr.skip_mode = SkipMode::Twice;
    for (const unsigned qp : {0u, 1u, 3u}) b->set_up(qp, qp, qp);
    b->peer_ports(1, 0b1010'1010);
    if (seed % 2) b->peer_ports(0, 0);
    for (unsigned qp = 0; qp < 4; ++qp) {
      for (unsigned ev = 0; ev < evs; ++ev) {
        const auto entropy = 0xA000 + evs + ev;
        const auto ev_idx = static_cast<uint16_t>(ev);
        const unsigned fate = r() % 16;
        if (fate < seed) b->deny(ev, true, qp);
        for (unsigned n = fate < 12 ? 0 : fate - 12; n != 0; --n) {
          b->fb.load({.qp = static_cast<QpIndex>(qp), .ev_idx = ev_idx, .entropy = entropy, .kind = FbKind::SkipOnce});
          for (int i = 0; i < 5; ++i) b->cycle();
        }
      }
    }
    REQUIRE(b->skips > 5);
  }
  std::vector<Pkt> pkts;
  for (unsigned i = 0, qp = 0; i < 1500; ++i) {
    if (rng() % 3 != 0) qp = rng() % 4;
    Pkt p = packet(qp);
    p.psn = i;
    p.rtx = rng() % 4 == 0;
    p.avoid_ev = static_cast<uint16_t>(rng() % evs);
    p.voided = rng() % 16 == 0;
    pkts.push_back(p);
  }
  for (const Pkt& p : pkts) slow.stream({p});
  std::size_t next = 0;
  for (unsigned i = 0; i < 200000 && fast.recs.size() < pkts.size(); ++i) {
    const bool stall = seed > 3;
    if (next < pkts.size() && fast.pkt.free()) fast.pkt.load(pkts[next++]);
    fast.take_paths = !stall || rng() % 3 != 0;
    fast.take_recs = !stall || rng() % 3 != 0;
    fast.cycle();
  }
  REQUIRE(fast.recs == slow.recs);
  REQUIRE(fast.got.size() == slow.got.size());
  for (std::size_t i = 0; i < fast.got.size(); ++i) {
    REQUIRE(fast.got[i].pkt.psn == slow.got[i].pkt.psn);
    REQUIRE(fast.got[i].ev_idx == slow.got[i].ev_idx);
    REQUIRE(fast.got[i].ev == slow.got[i].ev);
  }
  CHECK(fast.nopaths == slow.nopaths);
}

}  // namespace mrc::test::tx_path_rate_test
