// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx_path.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <vector>

#include "gen/csr.hpp"

using namespace mrc;

namespace {

/// tx_path alone, its output always taken. tiny: 2 planes, 16 EVs, so 8 groups.
struct Bench {
  Preset preset = *find_preset("tiny");
  Stream<Pkt> pkt;
  Stream<Fb> fb, pfb;
  Stream<Path> out;
  Stream<Rec> rec;
  Stream<Evev> evev;
  Stream<Badev> bad_out;
  TxPath path{preset, pkt, fb, pfb, out, rec, evev, bad_out};
  CfgBus cfg;
  CsrOut csr;
  bool take_events = true;
  unsigned room = 3, up = 3;
  unsigned cycles = 0, skips = 0, bads = 0, floors = 0;
  std::vector<Path> got;
  std::vector<Evev> events;
  std::vector<Badev> bad;
  std::vector<unsigned> at;  // cycle in which the path register became valid

  explicit Bench(unsigned backup = 0) {
    for (unsigned i = 0; i < 32; ++i) configure(CfgTable::Ev, i, {0xA000 + i});
    csr::TblQpCtx row;
    row.profile = 1;
    row.backup = static_cast<uint8_t>(backup & 31);
    std::array<uint32_t, 16> w{};
    row.pack(w.data());
    configure(CfgTable::QpCtx, 2, w);
  }
  void configure(CfgTable t, unsigned index, const std::array<uint32_t, 16>& data) {
    cfg = {true, static_cast<uint8_t>(t), static_cast<uint16_t>(index), data};
    while (!path.cfg_ack()) cycle();
    cfg.req = false;
    cycle();
  }
  void cycle() {
    if (out.has()) out.pop();
    if (rec.has()) rec.pop();
    if (evev.has() && take_events) {
      events.push_back(evev.head());
      evev.pop();
    }
    if (bad_out.has()) {
      bad.push_back(bad_out.head());
      bad_out.pop();
    }
    path.step(cfg, csr, {room, up});
    path.clock();
    pkt.clock();
    fb.clock();
    pfb.clock();
    evev.clock();
    bad_out.clock();
    out.clock();
    rec.clock();
    skips += path.pulses().skip;
    bads += path.pulses().bad;
    floors += path.pulses().floor;
    ++cycles;
    if (out.valid()) {
      got.push_back(out.data());
      at.push_back(cycles);
    }
  }
  void send(bool rtx = false, uint16_t avoid = 0) {
    Pkt p;
    p.qp = 2;
    p.rtx = rtx;
    p.avoid_ev = avoid;
    pkt.load(p);
  }
  unsigned send_one(bool rtx = false, uint16_t avoid = 0) {
    const std::size_t n = got.size();
    send(rtx, avoid);
    for (int i = 0; i < 200 && got.size() == n; ++i) cycle();
    REQUIRE(got.size() == n + 1);
    return got.back().ev_idx;
  }
  void feed_back(uint16_t ev_idx, uint32_t entropy, uint8_t kind = 1) {
    fb.load({.qp = 2, .ev_idx = ev_idx, .entropy = entropy, .kind = kind});
    for (int i = 0; i < 5; ++i) cycle();
  }
  /// A packet was lost on the EV. Returns the cycles until the event register is valid.
  unsigned lose(uint16_t ev_idx) {
    fb.load({.qp = 2, .ev_idx = ev_idx, .entropy = 0, .kind = 3});
    return settle();
  }
  /// Probes revived the EV.
  unsigned revive(uint16_t ev_idx, bool skip = false) {
    pfb.load({.qp = 2, .ev_idx = ev_idx, .entropy = 0, .kind = static_cast<uint8_t>(skip ? 5 : 4)});
    return settle();
  }
  unsigned settle() {
    unsigned until = 0;
    for (unsigned i = 1; i <= 30; ++i) {
      cycle();
      if (until == 0 && evev.valid()) until = i;
    }
    return until;
  }
  /// EVs of one pass of n packets, all different.
  std::set<unsigned> pass(unsigned n) {
    std::set<unsigned> evs;
    for (unsigned i = 0; i < n; ++i) evs.insert(send_one());
    CHECK(evs.size() == n);
    return evs;
  }
};

using Evs = std::set<unsigned>;

}  // namespace

TEST_CASE("tx_path takes each EV once per pass, each plane once per group, three cycles per packet",
          "[pipeline][tx_path]") {
  Bench b;
  for (int i = 0; i < 200; ++i) {
    if (b.pkt.free()) b.send();
    b.cycle();
  }
  REQUIRE(b.got.size() > 50);
  for (std::size_t i = 1; i < b.at.size(); ++i) REQUIRE(b.at[i] - b.at[i - 1] == 3);
  for (std::size_t pass = 0; pass + 16 <= b.got.size(); pass += 16) {
    std::set<unsigned> evs;
    for (std::size_t i = 0; i < 16; i += 2) {
      const Path &x = b.got[pass + i], &y = b.got[pass + i + 1];
      CHECK((x.plane ^ y.plane) == 1);
      CHECK(x.ev_idx / 2 == y.ev_idx / 2);
      for (const Path& p : {x, y}) {
        CHECK(p.plane == p.ev_idx % 2);
        CHECK(p.ev == 0xA000u + 16 + p.ev_idx);
        evs.insert(p.ev_idx);
      }
    }
    CHECK(evs.size() == 16);
  }
  // Key of QP 2: 0xACE1 ^ 2 = 0xACE3, low four bits 0011: EV index = position ^ 3.
  for (unsigned i = 0; i < 16; ++i) CHECK(b.got[i].ev_idx == (i ^ 3u));
  // Next key: 0x5671 ^ 0xB400 = 0xE271.
  for (unsigned i = 0; i < 16; ++i) CHECK(b.got[16 + i].ev_idx == (i ^ 1u));
}

TEST_CASE("tx_path skips a marked EV once and restores it on the way", "[pipeline][tx_path]") {
  Bench b;
  b.feed_back(2, 0xA000 + 16 + 2);
  CHECK(b.skips == 1);
  b.feed_back(2, 0xA000 + 16 + 2);     // nothing accumulates
  b.feed_back(5, 0xA000 + 16 + 6);     // not what the profile holds there
  b.feed_back(6, 0xA000 + 16 + 6, 0);  // no kind
  CHECK(b.skips == 1);
  // Order of the first pass: 3 2 1 0 7 6 5 4 ...
  CHECK(b.send_one() == 3);
  CHECK(b.send_one() == 1);
  CHECK(b.send_one() == 0);
  for (int i = 3; i < 15; ++i) CHECK(b.send_one() != 2);
  std::set<unsigned> second;
  for (int i = 0; i < 16; ++i) second.insert(b.send_one());
  CHECK(second.count(2) == 1);
}

TEST_CASE("tx_path with a whole set of SKIP uses the one just restored", "[pipeline][tx_path]") {
  Bench b;
  for (uint16_t i = 0; i < 16; ++i) b.feed_back(i, 0xA010u + i);
  CHECK(b.skips == 16);
  CHECK(b.send_one() == 3);  // restored first; the walk went through eight groups and one more (evs 1, 0)
  CHECK(b.send_one() == 3);  // GOOD now, and first of the next group (key 1)
  CHECK(b.send_one() == 2);  // restored next; eight groups and one more do not come across EV 3
}

TEST_CASE("tx_path sends a retransmission on another EV", "[pipeline][tx_path]") {
  Bench b;
  CHECK(b.send_one(true, 3) == 2);
  CHECK(b.send_one(true, 7) == 1);
  CHECK(b.send_one(false, 0) == 0);
}

TEST_CASE("tx_path leaves out a plane that is down and waits when all are", "[pipeline][tx_path]") {
  Bench b;
  b.up = 2;
  for (int i = 0; i < 20; ++i) CHECK(b.send_one() % 2 == 1);
  b.up = 0;
  b.send();
  const std::size_t n = b.got.size();
  for (int i = 0; i < 100; ++i) b.cycle();
  CHECK(b.got.size() == n);
  b.up = 1;
  for (int i = 0; i < 100; ++i) b.cycle();
  REQUIRE(b.got.size() == n + 1);
  CHECK(b.got.back().plane == 0);
}

TEST_CASE("tx_path waits for room and takes the other plane first", "[pipeline][tx_path]") {
  Bench b;
  b.room = 1;
  CHECK(b.send_one() == 2);  // group 1, key 1: plane 1 has no room
  b.send();
  for (int i = 0; i < 50; ++i) b.cycle();
  CHECK(b.got.size() == 1);  // plane 1 of this group is GOOD: the packet waits for it
  b.room = 3;
  for (int i = 0; i < 5; ++i) b.cycle();
  REQUIRE(b.got.size() == 2);
  CHECK(b.got.back().ev_idx == 3);
}

TEST_CASE("tx_path acknowledges a QP context after one cycle per group", "[pipeline][tx_path]") {
  Bench b;
  b.cfg = {true, static_cast<uint8_t>(CfgTable::QpCtx), 1, {}};
  unsigned n = 0;
  while (!b.path.cfg_ack()) {
    b.cycle();
    ++n;
  }
  CHECK(n == 9);  // Idle, then 8 groups
  b.cfg.req = false;
  b.cycle();
  b.cfg = {true, static_cast<uint8_t>(CfgTable::Mr), 1, {}};
  b.cycle();
  CHECK(b.path.cfg_ack());
}

TEST_CASE("tx_path leaves the backup set alone until it is needed", "[pipeline][tx_path]") {
  Bench b(2);  // groups 6 and 7
  CHECK(b.pass(12) == Evs{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(b.pass(12) == Evs{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(b.events.empty());
}

TEST_CASE("tx_path: one loss takes an EV out and a Standby EV of its plane comes in", "[pipeline][tx_path]") {
  Bench b(2);
  // fb in its register, in its FIFO, Idle, Fb, Find, Test, Judge.
  CHECK(b.lose(3) == 7);
  REQUIRE(b.events.size() == 1);
  CHECK(b.events[0] == Evev{.qp = 2, .ev_idx = 3, .state = kEvBad, .floor = false});
  REQUIRE(b.bad.size() == 1);
  CHECK(b.bad[0] == Badev{.qp = 2, .ev_idx = 3, .ev = 0xA013});
  CHECK(b.bads == 1);
  CHECK(b.pass(12) == Evs{0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13});
  b.lose(3);  // it is out already
  CHECK(b.events.size() == 1);
  CHECK(b.lose(5) == 9);  // one group further
  CHECK(b.pass(12) == Evs{0, 1, 2, 4, 6, 7, 8, 9, 10, 11, 13, 15});
  // No Standby EV is left in plane 1; those of plane 0 do not stand in.
  CHECK(b.lose(13) == 9);
  CHECK(b.pass(11) == Evs{0, 1, 2, 4, 6, 7, 8, 9, 10, 11, 15});
  CHECK(b.lose(4) == 7);
  CHECK(b.pass(11) == Evs{0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 15});
  CHECK(b.bads == 4);
  CHECK(b.floors == 0);
}

TEST_CASE("tx_path: a revived EV sends a backup EV of its plane back", "[pipeline][tx_path]") {
  Bench b(2);
  b.lose(3);
  b.lose(5);
  b.lose(7);  // nothing stands in
  CHECK(b.pass(11) == Evs{0, 1, 2, 4, 6, 8, 9, 10, 11, 13, 15});
  CHECK(b.revive(3) == 4);  // pfb in its register, in its FIFO, Idle, Fb
  CHECK(b.events.back() == Evev{.qp = 2, .ev_idx = 3, .state = kEvGood, .floor = false});
  CHECK(b.pass(11) == Evs{0, 1, 2, 3, 4, 6, 8, 9, 10, 11, 15});
  b.revive(3);  // it is in use
  b.revive(0);
  CHECK(b.events.size() == 4);
  b.revive(5, true);  // to SKIP: the walk restores it before a packet uses it
  CHECK(b.events.back() == Evev{.qp = 2, .ev_idx = 5, .state = kEvGood, .floor = false});
  CHECK(b.pass(10) == Evs{0, 1, 2, 3, 4, 6, 8, 9, 10, 11});
  b.revive(7);
  Evs seen;  // EV 7 may still belong to the pass that is not over: 24 packets hold a whole one in any case
  for (int i = 0; i < 24; ++i) seen.insert(b.send_one());
  CHECK(seen == Evs{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(b.bad.size() == 3);
}

TEST_CASE("tx_path: an EV of the backup set that revives does not send itself back first", "[pipeline][tx_path]") {
  Bench b(2);
  b.lose(3);   // 13 comes in
  b.lose(13);  // 15 comes in
  CHECK(b.pass(12) == Evs{0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 15});
  b.revive(13);  // 15 goes back
  CHECK(b.pass(12) == Evs{0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13});
  b.revive(3);
  CHECK(b.pass(12) == Evs{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("tx_path: at the floor an EV stays in use as it was, and an event tells", "[pipeline][tx_path]") {
  Bench b;
  b.csr.ev_min_active = 14;
  CHECK(b.lose(0) == 5);  // Idle, Fb, Judge
  b.lose(1);
  CHECK(b.bads == 2);
  b.feed_back(2, 0xA012);  // SKIP
  b.lose(2);
  CHECK(b.floors == 1);
  CHECK(b.bads == 2);
  REQUIRE(b.events.size() == 3);
  CHECK(b.events[2] == Evev{.qp = 2, .ev_idx = 2, .state = kEvBad, .floor = true});
  CHECK(b.bad.size() == 2);
  CHECK(b.send_one() == 3);
  CHECK(b.send_one() == 7);  // 2 was SKIP still, and is restored; 1 and 0 are out
  for (int i = 0; i < 11; ++i) b.send_one();
  CHECK(b.pass(14) == Evs{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  b.revive(0);  // fifteen in use: one may go again
  b.lose(2);
  CHECK(b.bads == 3);
  b.lose(3);
  CHECK(b.floors == 2);
  b.csr.ev_min_active = 0;
  for (uint16_t i = 0; i < 16; ++i) b.lose(i);
  CHECK(b.bads == 3 + 14);  // nothing holds them any more
  CHECK(b.floors == 2);
}

TEST_CASE("tx_path: ALWAYS_SKIP is as bad as a loss, if the profile still holds that entropy", "[pipeline][tx_path]") {
  Bench b;
  b.feed_back(6, 0xA017, 2);
  CHECK(b.bads == 0);
  b.feed_back(6, 0xA016, 2);
  CHECK(b.bads == 1);
  CHECK(b.pass(15).count(6) == 0);
}

TEST_CASE("tx_path: events that nobody takes hold feedback up, not packets", "[pipeline][tx_path]") {
  Bench b;
  b.csr.ev_min_active = 0;
  b.take_events = false;
  for (uint16_t i = 0; i < 5; ++i) b.lose(i);
  CHECK(b.bads == 3);  // two events in the FIFO, one in the register
  CHECK(b.pass(13) == Evs{3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  b.take_events = true;
  b.settle();
  CHECK(b.bads == 5);
  CHECK(b.events.size() == 5);
}

TEST_CASE("tx_path: with the backup set in use planes stay equally loaded", "[pipeline][tx_path]") {
  Bench b(3);
  for (const unsigned ev : {1, 3, 5}) b.lose(static_cast<uint16_t>(ev));  // three of plane 1
  b.lose(0);
  unsigned plane[2] = {};
  for (int i = 0; i < 100; ++i) ++plane[b.send_one() % 2];
  CHECK(plane[0] == 50);
  CHECK(plane[1] == 50);
}

TEST_CASE("tx_path: setting a QP up again makes its EVs as new", "[pipeline][tx_path]") {
  Bench b(2);
  b.lose(3);
  csr::TblQpCtx row;
  row.profile = 1;
  row.backup = 1;
  std::array<uint32_t, 16> w{};
  row.pack(w.data());
  b.configure(CfgTable::QpCtx, 2, w);
  CHECK(b.pass(14) == Evs{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
}
