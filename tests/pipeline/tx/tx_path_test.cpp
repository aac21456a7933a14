// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/tx_path.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "gen/csr.hpp"

using namespace mrc;

namespace {

/// tx_path alone, its outputs taken unless a test says otherwise. tiny: 2 planes, 16 EVs, so 8 groups. QP 2 leads to
/// destination 3.
struct Bench {
  Preset preset;
  Stream<Pkt> pkt;
  Stream<Fb> fb, pfb;
  Stream<Path> out;
  Stream<Rec> rec;
  Stream<Evev> evev;
  Stream<Badev> bad_out;
  TxPath path{preset, pkt, fb, pfb, out, rec, evev, bad_out};
  CfgBus cfg;
  CsrOut csr;
  bool take_events = true, take_paths = true, take_recs = true;
  unsigned room, up;
  unsigned cycles = 0, skips = 0, bads = 0, floors = 0, nopaths = 0;
  std::vector<Path> got;
  std::vector<Rec> recs;
  std::vector<Evev> events;
  std::vector<Badev> bad;
  std::vector<unsigned> at;      // cycle in which the path register became valid
  std::vector<unsigned> rec_at;  // and the rec register

  explicit Bench(unsigned backup = 0, const char* name = "tiny") : Bench(*find_preset(name), backup) {}
  explicit Bench(const Preset& p, unsigned backup = 0) : preset(p) {
    room = up = (1u << preset.num_planes) - 1;
    for (unsigned i = 0; i < 2 * preset.evs_per_qp; ++i) configure(CfgTable::Ev, i, {0xA000 + i});
    set_up(2, 3, backup);
  }
  void set_up(unsigned qp, unsigned dest, unsigned backup = 0) {
    csr::TblQpCtx row;
    row.profile = 1;
    row.backup = static_cast<uint8_t>(backup & 31);
    row.dest = static_cast<uint8_t>(dest);
    std::array<uint32_t, 16> w{};
    row.pack(w.data());
    configure(CfgTable::QpCtx, qp, w);
  }
  /// Returns the cycles until the acknowledgement.
  unsigned deny(unsigned ev_idx, bool on = true, unsigned qp = 2) {
    return configure(CfgTable::EvState, qp, {ev_idx | (on ? 1u << 16 : 0u)});
  }
  void deny_all(bool on = true) {
    for (unsigned i = 0; i < preset.evs_per_qp; ++i) deny(i, on);
  }
  void peer_ports(unsigned dest, unsigned mask) { configure(CfgTable::PeerPorts, dest, {mask}); }
  unsigned configure(CfgTable t, unsigned index, const std::array<uint32_t, 16>& data) {
    cfg = {true, static_cast<uint8_t>(t), static_cast<uint16_t>(index), data};
    const unsigned from = cycles;
    while (!path.cfg_ack()) cycle();
    const unsigned took = cycles - from;
    cfg.req = false;
    cycle();
    return took;
  }
  void cycle() {
    if (out.has() && take_paths) out.pop();
    if (rec.has() && take_recs) {
      recs.push_back(rec.head());
      rec.pop();
    }
    if (evev.has() && take_events) {
      events.push_back(evev.head());
      evev.pop();
    }
    if (bad_out.has()) {
      bad.push_back(bad_out.head());
      bad_out.pop();
    }
    const bool path_stays = out.valid() && !out.ready(), rec_stays = rec.valid() && !rec.ready();
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
    nopaths += path.pulses().nopath;
    ++cycles;
    if (out.valid() && !path_stays) {
      got.push_back(out.data());
      at.push_back(cycles);
    }
    if (rec.valid() && !rec_stays) rec_at.push_back(cycles);
  }
  void send(bool rtx = false, uint16_t avoid = 0, unsigned qp = 2) {
    Pkt p;
    p.qp = static_cast<uint16_t>(qp);
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
  /// Packets, one right behind the other; until the last record is out.
  void stream(const std::vector<Pkt>& pkts) {
    const std::size_t want = recs.size() + pkts.size();
    std::size_t next = 0;
    for (std::size_t i = 0; i < 100 * pkts.size() + 100 && recs.size() < want; ++i) {
      if (next < pkts.size() && pkt.free()) pkt.load(pkts[next++]);
      cycle();
    }
    REQUIRE(recs.size() == want);
  }
  /// Runs with a packet waiting in each cycle.
  void busy(unsigned n, unsigned qp = 2) {
    for (unsigned i = 0; i < n; ++i) {
      if (pkt.free()) send(false, 0, qp);
      cycle();
    }
  }
  /// Cycles between one packet and the next, from record `from` on.
  std::vector<unsigned> gaps(std::size_t from = 0) const {
    std::vector<unsigned> g;
    for (std::size_t i = from + 1; i < rec_at.size(); ++i) g.push_back(rec_at[i] - rec_at[i - 1]);
    return g;
  }
  /// A packet that finds no path: its record. Returns the cycles from the queue to the record.
  unsigned no_path(Pkt p = {}) {
    for (int i = 0; i < 5; ++i) cycle();
    p.qp = 2;
    const std::size_t n = recs.size(), paths = got.size();
    pkt.load(p);
    unsigned took = 0;
    for (; took < 200 && recs.size() == n; ++took) cycle();
    REQUIRE(recs.size() == n + 1);
    CHECK(got.size() == paths);
    CHECK(recs.back().ev_idx == 0xffff);
    return took;
  }
  void feed_back(uint16_t ev_idx, uint32_t entropy, FbKind kind = FbKind::SkipOnce) {
    fb.load({.qp = 2, .ev_idx = ev_idx, .entropy = entropy, .kind = kind});
    for (int i = 0; i < 5; ++i) cycle();
  }
  /// A packet was lost on the EV. Returns the cycles until the event register is valid.
  unsigned lose(uint16_t ev_idx) {
    fb.load({.qp = 2, .ev_idx = ev_idx, .entropy = 0, .kind = FbKind::Loss});
    return settle();
  }
  /// Probes revived the EV.
  unsigned revive(uint16_t ev_idx, bool skip = false) {
    pfb.load({.qp = 2, .ev_idx = ev_idx, .entropy = 0, .kind = skip ? FbKind::RevivedSkip : FbKind::RevivedGood});
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
using Gaps = std::vector<unsigned>;

Pkt packet(unsigned qp) {
  Pkt p;
  p.qp = static_cast<uint16_t>(qp);
  return p;
}

/// EV of the n-th packet of a QP whose EVs are all GOOD: its place in the pass, under the key of the pass.
unsigned nth_ev(unsigned evs, unsigned qp, unsigned n) {
  unsigned key = 0xACE1u ^ qp;
  for (unsigned pass = 0; pass < n / evs; ++pass) key = key & 1 ? key >> 1 ^ 0xB400u : key >> 1;
  return (n ^ key) % evs;
}

/// The one gap of a stream of packets of QP 2 that something opens; all the others are one cycle.
unsigned hole(Bench& b, const std::function<void()>& something) {
  b.busy(20);
  const std::size_t from = b.rec_at.size() - 1;
  something();
  b.busy(60);
  unsigned found = 0;
  for (const unsigned g : b.gaps(from)) {
    if (g == 1) continue;
    CHECK(found == 0);
    found = g;
  }
  return found;
}

}  // namespace

TEST_CASE("tx_path takes each EV once per pass, each plane once per group, a packet per cycle", "[pipeline][tx_path]") {
  Bench b;
  for (int i = 0; i < 200; ++i) {
    if (b.pkt.free()) b.send();
    b.cycle();
  }
  REQUIRE(b.got.size() > 190);
  for (std::size_t i = 1; i < b.at.size(); ++i) REQUIRE(b.at[i] - b.at[i - 1] == 1);
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
  b.feed_back(2, 0xA000 + 16 + 2);            // nothing accumulates
  b.feed_back(5, 0xA000 + 16 + 6);            // not what the profile holds there
  b.feed_back(6, 0xA000 + 16 + 6, FbKind{});  // no kind
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

TEST_CASE("tx_path skips an EV with two marks twice, if the register says so", "[pipeline][tx_path]") {
  Bench b;
  b.csr.skip_twice = GENERATE(false, true);
  for (int i = 0; i < 3; ++i) b.feed_back(2, 0xA000 + 16 + 2);
  CHECK(b.skips == (b.csr.skip_twice ? 2 : 1));
  for (int i = 0; i < 15; ++i) CHECK(b.send_one() != 2);  // a pass without EV 2
  if (b.csr.skip_twice) {
    for (int i = 0; i < 15; ++i) CHECK(b.send_one() != 2);
  }
  CHECK(b.pass(16).count(2) == 1);
}

TEST_CASE("tx_path: an EV with two marks counts as one in use", "[pipeline][tx_path]") {
  Bench b(2);
  b.csr.skip_twice = true;
  b.lose(3);  // 13 comes in
  b.feed_back(13, 0xA01D);
  b.feed_back(13, 0xA01D);
  CHECK(b.skips == 2);
  b.revive(3);  // 13 goes back
  CHECK(b.pass(12) == Evs{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  b.feed_back(0, 0xA010);
  b.feed_back(0, 0xA010);
  b.lose(0);
  CHECK(b.bads == 2);
  CHECK(b.floors == 0);
}

TEST_CASE("tx_path with a whole set of SKIP uses the one just restored", "[pipeline][tx_path]") {
  Bench b;
  for (uint16_t i = 0; i < 16; ++i) b.feed_back(i, 0xA010u + i);
  CHECK(b.skips == 16);
  CHECK(b.send_one() == 3);  // restored first; the walk went through the eight groups of the pass
  CHECK(b.send_one() == 3);  // key 1: EV 1 is restored, 0 is passed, 3 is GOOD now
  CHECK(b.send_one() == 1);  // 2 is restored; EV 1 is met in the next pass (key 8), behind 8 to 15 and 0
}

TEST_CASE("tx_path with a whole set of SKIP: a packet restores one EV, and uses a GOOD one wherever it is",
          "[pipeline][tx_path]") {
  Bench b;
  const auto mark_all = [&b] {  // returns how many were GOOD
    const unsigned before = b.skips;
    for (uint16_t i = 0; i < 16; ++i) b.feed_back(i, 0xA010u + i);
    return b.skips - before;
  };
  for (unsigned start = 0; start < 16; ++start) {
    unsigned met_first = 0;
    for (unsigned good = 0; good < 16; ++good) {
      CAPTURE(start, good);
      b.set_up(2, 3);
      for (unsigned i = 0; i < start; ++i) b.send_one();
      REQUIRE(mark_all() == 16);
      b.send_one();
      REQUIRE(mark_all() == 1);  // the one that was restored, and used for want of another
      b.deny(good);
      b.deny(good, false);
      REQUIRE(b.send_one() == good);
      const unsigned now_good = mark_all();  // it, and the one restored, if the walk met one before it
      REQUIRE((now_good == 1 || now_good == 2));
      met_first += now_good == 1;
    }
    CHECK(met_first == 1);
  }
  CHECK(b.nopaths == 0);
}

TEST_CASE("tx_path: a few GOOD EVs of a set are found from wherever the walk begins", "[pipeline][tx_path][nopath]") {
  Bench b;
  const auto check = [&b](const Evs& good, unsigned qp, unsigned start, bool rtx) {
    b.set_up(qp, 3);
    for (unsigned i = 0; i < start; ++i) {
      b.send(false, 0, qp);
      for (int k = 0; k < 4; ++k) b.cycle();
    }
    for (int k = 0; k < 4; ++k) b.cycle();
    for (unsigned ev = 0; ev < 16; ++ev) {
      if (good.count(ev) == 0) b.deny(ev, true, qp);
    }
    std::vector<Pkt> pkts(300, packet(qp));
    for (unsigned i = 0; rtx && i < 300; ++i) {
      pkts[i].rtx = true;
      pkts[i].avoid_ev = static_cast<uint16_t>(i % 16);
    }
    const std::size_t from = b.got.size(), first = b.recs.size();
    b.stream(pkts);
    CAPTURE(qp, start, rtx, *good.begin(), good.size());
    REQUIRE(b.nopaths == 0);
    Evs seen;
    for (std::size_t i = from; i < b.got.size(); ++i) seen.insert(b.got[i].ev_idx);
    REQUIRE(seen == good);
    for (unsigned i = 0; rtx && good.size() > 1 && i < 300; ++i) REQUIRE(b.recs[first + i].ev_idx != i % 16);
  };
  for (unsigned start = 0; start < 16; ++start) {
    const unsigned qp = start % 4;  // keys of their own
    for (unsigned ev = 0; ev < 16; ++ev) {
      check({ev}, qp, start, ev % 4 == 3);
      check({ev, (ev + 1) % 16}, qp, start, ev % 4 == 1);
      check({ev, (ev + 7) % 16}, qp, start + 16, ev % 4 == 2);
    }
    check({0, 1, 2, 3}, qp, start, false);
    check({3, 6, 9, 12}, qp, start, true);
    check({15, 14, 7, 0}, qp, start + 32, false);
  }
}

TEST_CASE("tx_path sends a retransmission on another EV", "[pipeline][tx_path]") {
  Bench b;
  CHECK(b.send_one(true, 3) == 2);
  CHECK(b.send_one(true, 7) == 1);
  CHECK(b.send_one(false, 0) == 0);
}

TEST_CASE("tx_path leaves out a plane that is down", "[pipeline][tx_path]") {
  Bench b;
  b.up = 2;
  for (int i = 0; i < 20; ++i) CHECK(b.send_one() % 2 == 1);
  b.up = 1;
  for (int i = 0; i < 20; ++i) CHECK(b.send_one() % 2 == 0);
}

TEST_CASE("tx_path: with all own ports down a packet counts as sent and lost, and the walk stays where it is",
          "[pipeline][tx_path][nopath]") {
  Bench b;
  CHECK(b.send_one() == 3);
  b.up = 0;
  Pkt p;
  p.psn = 0x123456;
  p.msn = 0x1234;
  p.idx = 77;
  p.rtx = true;
  p.last = true;
  p.size = 4200;
  // pkt in its register, in its FIFO, stages w and e, then rec in its register, in its FIFO, and taken.
  CHECK(b.no_path(p) == 7);
  CHECK(b.recs.back() == Rec{.qp = 2,
                             .psn = 0x123456,
                             .msn = 0x1234,
                             .idx = 77,
                             .ev_idx = 0xffff,
                             .rtx = true,
                             .last = true,
                             .size = 4200,
                             .voided = false});
  CHECK(b.nopaths == 1);
  b.up = 3;
  CHECK(b.send_one() == 2);  // the next of the first pass
  CHECK(b.nopaths == 1);
}

TEST_CASE("tx_path: a packet that is not needed any more goes to the window only, and is not counted",
          "[pipeline][tx_path][nopath]") {
  Bench b;
  b.feed_back(3, 0xA013);  // SKIP: the packet must not restore it
  Pkt p;
  p.psn = 9;
  p.voided = true;
  CHECK(b.no_path(p) == 7);
  CHECK(b.recs.back().voided);
  CHECK(b.recs.back().psn == 9);
  CHECK(b.nopaths == 0);
  CHECK(b.send_one() == 2);  // EV 3 is restored now, and passed
}

TEST_CASE("tx_path: a peer that can hear on no plane gets nothing; others do", "[pipeline][tx_path][nopath]") {
  Bench b;
  b.set_up(1, 0);
  b.peer_ports(3, 0);
  b.no_path();
  CHECK(b.nopaths == 1);
  Pkt p;
  p.qp = 1;
  b.pkt.load(p);
  for (int i = 0; i < 10; ++i) b.cycle();
  CHECK(b.got.size() == 1);
  b.up = 1;
  b.peer_ports(3, 2);  // what is up here is down there
  b.no_path();
  b.up = 3;
  b.peer_ports(3, 0xff);
  CHECK(b.send_one() == 3);
  b.peer_ports(7, 1);  // destination 7 modulo 4
  for (int i = 0; i < 6; ++i) CHECK(b.send_one() % 2 == 0);
  b.set_up(2, 3);  // setting a QP up again does not change what its peer said
  for (int i = 0; i < 6; ++i) CHECK(b.send_one() % 2 == 0);
}

TEST_CASE("tx_path: planes that a peer cannot hear on are left out, the others have equal shares",
          "[pipeline][tx_path]") {
  Bench b(0, "asic800");
  b.up = 0b1111'1110;
  b.peer_ports(3, 0b1101'1011);  // planes 1, 3, 4, 6, 7 remain
  unsigned share[8] = {};
  for (int i = 0; i < 500; ++i) ++share[b.send_one() % 8];
  for (const unsigned p : {0u, 2u, 5u}) CHECK(share[p] == 0);
  for (const unsigned p : {1u, 3u, 4u, 6u, 7u}) CHECK(share[p] == 100);
}

TEST_CASE("tx_path: a packet per cycle also with planes left out", "[pipeline][tx_path][throughput]") {
  for (const char* preset : {"tiny", "asic800"}) {
    Bench b(0, preset);
    b.set_up(0, 0);
    b.set_up(1, 1);
    b.up = 0b1111'1110;  // tiny: plane 1 only
    b.peer_ports(3, 0b1101'1011);
    b.peer_ports(1, 0b0000'0010);
    std::vector<Pkt> pkts;
    for (unsigned i = 0; i < 300; ++i) pkts.push_back(packet(i / 3 % 3));
    b.stream(pkts);
    for (const unsigned g : b.gaps()) REQUIRE(g == 1);
    CHECK(b.nopaths == 0);
    for (const Path& p : b.got) CHECK(((p.pkt.qp == 1 ? 0b10u : p.pkt.qp == 2 ? 0b1101'1010u : b.up) >> p.plane & 1));
  }
}

TEST_CASE("tx_path: with every EV denied or bad a packet has no path; the next starts where the walk ended",
          "[pipeline][tx_path][nopath]") {
  Bench b;
  b.csr.ev_min_active = 0;
  for (const uint16_t ev : {uint16_t{1}, uint16_t{6}, uint16_t{9}}) b.lose(ev);
  b.deny_all();
  // pkt register, FIFO, accepted, eight groups in w, e, rec in its FIFO.
  CHECK(b.no_path() == 2 + 1 + 8 + 1 + 2);
  CHECK(b.nopaths == 1);
  // The walk: groups 1 0 3 2 5 4 7 6 with key 3; it ended in the last with both planes passed. So the next one passes
  // that, and goes through the whole pass with key 1.
  CHECK(b.no_path() == 2 + 1 + 9 + 1 + 2);
  // The third begins at the end of that pass, key 8 is next: group 4, plane 0 first.
  b.deny_all(false);
  CHECK(b.send_one() == 8);
  CHECK(b.nopaths == 2);
}

TEST_CASE("tx_path: a retransmission may use the EV it was lost on if there is no other", "[pipeline][tx_path]") {
  Bench b;
  for (unsigned ev = 0; ev < 16; ++ev) {
    if (ev != 5) b.deny(ev);
  }
  CHECK(b.send_one(true, 5) == 5);
  CHECK(b.send_one(true, 4) == 5);
  b.deny(5);
  Pkt p;
  p.rtx = true;
  p.avoid_ev = 5;
  // EV 5 was in the last group but one of the pass (key 8). What is left of it, then the set is walked twice: with the
  // avoided EV left out, and without.
  CHECK(b.no_path(p) == 2 + 1 + 1 + 8 + 8 + 1 + 2);
}

TEST_CASE("tx_path: a restored EV whose plane falls during the walk is not waited for", "[pipeline][tx_path][nopath]") {
  Bench b;
  for (unsigned ev = 0; ev < 16; ++ev) {
    if (ev != 3) b.deny(ev);
  }
  b.feed_back(3, 0xA013);
  const std::size_t paths = b.got.size();
  b.send();
  for (int i = 0; i < 8; ++i) b.cycle();  // restored in the first group
  b.up = 1;
  for (int i = 0; i < 20; ++i) b.cycle();
  CHECK(b.nopaths == 1);
  CHECK(b.got.size() == paths);
  b.up = 3;
  CHECK(b.send_one() == 3);  // GOOD now
}

TEST_CASE("tx_path: a restored EV waits for room in its lane", "[pipeline][tx_path]") {
  Bench b;
  for (unsigned ev = 0; ev < 16; ++ev) {
    if (ev != 3) b.deny(ev);
  }
  b.feed_back(3, 0xA013);
  b.room = 1;
  b.send();
  for (int i = 0; i < 50; ++i) b.cycle();
  CHECK(b.got.empty());
  CHECK(b.nopaths == 0);
  b.room = 3;
  for (int i = 0; i < 5; ++i) b.cycle();
  REQUIRE(b.got.size() == 1);
  CHECK(b.got[0].ev_idx == 3);
}

TEST_CASE("tx_path: what is lost on a plane that is down, here or at the peer, leaves the EV", "[pipeline][tx_path]") {
  Bench b;
  b.up = 1;
  b.lose(3);
  b.up = 3;
  b.peer_ports(3, 2);
  b.lose(2);
  b.peer_ports(3, 3);
  CHECK(b.bads == 0);
  CHECK(b.events.empty());
  b.lose(2);
  CHECK(b.bads == 1);
  b.up = 2;
  b.revive(2);  // answers that were under way still count
  CHECK(b.events.size() == 2);
}

TEST_CASE("tx_path: feedback on a packet that had no path changes nothing", "[pipeline][tx_path][nopath]") {
  Bench b;
  b.lose(0xffff);  // 15 modulo 16, if it were an EV
  CHECK(b.bads == 0);
  CHECK(b.events.empty());
  CHECK(b.fb.count() == 0);
  CHECK(b.pass(16).size() == 16);
}

TEST_CASE("tx_path: DENIED EVs are passed over, stay denied whatever comes back, and return as GOOD",
          "[pipeline][tx_path][deny]") {
  Bench b;
  CHECK(b.deny(3) == 2);       // Idle, Deny
  CHECK(b.deny(16 + 4) == 2);  // EV 4: modulo 16
  CHECK(b.pass(14) == Evs{0, 1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  b.feed_back(3, 0xA013);
  b.feed_back(3, 0xA013, FbKind::AlwaysSkip);
  b.lose(3);
  b.revive(3);
  CHECK(b.skips + b.bads == 0);
  CHECK(b.events.empty());
  CHECK(b.pass(14).count(3) == 0);
  b.deny(3, false);
  b.deny(4, false);
  CHECK(b.pass(16).size() == 16);
}

TEST_CASE("tx_path: denying an EV lowers the number in use once, whatever the floor says",
          "[pipeline][tx_path][deny]") {
  Bench b;
  b.csr.ev_min_active = 14;
  b.deny(0);
  b.deny(0);
  b.feed_back(1, 0xA011);  // SKIP is in use
  b.deny(1);
  CHECK(b.lose(2) == 5);  // 14 in use: the floor
  CHECK(b.floors == 1);
  b.deny(0, false);
  b.deny(0, false);
  b.deny(5, false);  // not denied
  b.lose(2);         // 15: one may go
  CHECK(b.bads == 1);
  b.lose(3);
  CHECK(b.floors == 2);
  b.deny(2);  // bad: not in use
  b.lose(3);
  CHECK(b.floors == 3);
  b.deny(2, false);  // it is GOOD again: 15
  b.lose(3);
  CHECK(b.bads == 2);
  for (const unsigned ev : {4u, 5u, 6u}) b.deny(ev);  // the controller may go below
  CHECK(b.pass(11) == Evs{0, 2, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  CHECK(b.events.size() == 5);  // feedback's only
}

TEST_CASE("tx_path: a denied EV is not replaced from the backup set; a denied backup EV comes in as GOOD",
          "[pipeline][tx_path][deny]") {
  Bench b(2);
  b.deny(3);
  b.deny(13);  // Standby
  CHECK(b.pass(11) == Evs{0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11});
  b.lose(5);  // 13 is denied: 15 comes in
  CHECK(b.pass(11) == Evs{0, 1, 2, 4, 6, 7, 8, 9, 10, 11, 15});
  b.csr.ev_min_active = 12;
  b.deny(13, false);
  Evs seen;  // EV 13 may still belong to the pass that is not over
  for (int i = 0; i < 24; ++i) seen.insert(b.send_one());
  CHECK(seen == Evs{0, 1, 2, 4, 6, 7, 8, 9, 10, 11, 13, 15});
  b.lose(7);  // 12 in use, no Standby EV of plane 1: the floor
  CHECK(b.floors == 1);
}

TEST_CASE("tx_path fills a profile with AUTO values, one row per cycle", "[pipeline][tx_path][gen]") {
  Bench b;
  CHECK(b.configure(CfgTable::EvGen, 1, {0, 1, 0, 0, 0}) == 1 + 16);
  CHECK(b.pass(16).size() == 16);
  uint32_t ev[16] = {};
  for (const Path& p : b.got) ev[p.ev_idx] = p.ev;
  CHECK(ev[0] == 270369u);  // xorshift 13, 17, 5 from 1
  CHECK(ev[1] == 67634689u);
  CHECK(ev[2] == 2647435461u);
  CHECK(ev[3] == 307599695u);
  CHECK(ev[4] == 2398689233u);
}

TEST_CASE("tx_path: AUTO values outside the mask are those of init", "[pipeline][tx_path][gen]") {
  Bench b;
  CHECK(b.configure(CfgTable::EvGen, 1, {0, 1, 0, 0x0000C000, 0x00003FFF}) == 1 + 16);
  CHECK(b.pass(16).size() == 16);
  uint32_t ev[16] = {};
  for (const Path& p : b.got) ev[p.ev_idx] = p.ev;
  // From 00042021, 04080601, 9DCCA8C5, 1255994F, 8EF917D1: the sequence goes on with the whole value.
  CHECK(ev[0] == 0xE021);
  CHECK(ev[1] == 0xC601);
  CHECK(ev[2] == 0xE8C5);
  CHECK(ev[3] == 0xD94F);
  CHECK(ev[4] == 0xD7D1);
}

TEST_CASE("tx_path fills a profile by field expansion, EV numbers modulo max_val + 1", "[pipeline][tx_path][gen]") {
  Bench b;
  // Fields: bit 16 and bits 1:0 from the number 0..5, from 4 on. Profile 3 modulo 2.
  CHECK(b.configure(CfgTable::EvGen, 3, {1, 4, 5, 0x12340000, 0x00010003}) == 1 + 16 * 32);
  CHECK(b.pass(16).size() == 16);
  const uint32_t number[6] = {0x12340000, 0x12340001, 0x12340002, 0x12340003, 0x12350000, 0x12350001};
  for (const Path& p : b.got) {
    CAPTURE(p.ev_idx);
    CHECK(p.ev == number[(4 + p.ev_idx) % 6]);
  }
  // Profile 0 is as it was.
  csr::TblQpCtx row;
  std::array<uint32_t, 16> w{};
  row.pack(w.data());
  b.configure(CfgTable::QpCtx, 2, w);
  b.send_one();
  CHECK(b.got.back().ev == 0xA000u + b.got.back().ev_idx);
}

TEST_CASE("tx_path: packets wait while a profile is filled", "[pipeline][tx_path][gen]") {
  Bench b;
  b.send();
  b.cycle();
  b.cfg = {true, static_cast<uint8_t>(CfgTable::EvGen), 1, {1, 0, 15, 0, 15}};
  for (int i = 0; i < 512; ++i) b.cycle();
  CHECK(b.got.empty());
  CHECK_FALSE(b.path.cfg_ack());
  b.cycle();
  CHECK(b.path.cfg_ack());
  for (int i = 0; i < 5; ++i) b.cycle();
  REQUIRE(b.got.size() == 1);
  CHECK(b.got[0].ev == 3);
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
  b.feed_back(6, 0xA017, FbKind::AlwaysSkip);
  CHECK(b.bads == 0);
  b.feed_back(6, 0xA016, FbKind::AlwaysSkip);
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
  b.set_up(1, 0);
  const std::size_t from = b.recs.size();
  b.stream(std::vector<Pkt>(40, packet(1)));
  for (const unsigned g : b.gaps(from)) CHECK(g == 1);  // the feedback waits at the door and costs nothing
  CHECK(b.bads == 3);
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

TEST_CASE("an EV that is out of use is offered to the probes again, once in 64 cycles per EV of all QPs",
          "[pipeline][tx_path]") {
  Bench b;
  b.lose(5);
  REQUIRE(b.bad.size() == 1);
  // 4 QPs of 16 EVs, one looked at every 64 cycles; QPs 0, 1 and 3 have no context and are passed over.
  for (unsigned i = 0; i < 64 * 4 * 16; ++i) b.cycle();
  REQUIRE(b.bad.size() == 2);
  CHECK(b.bad[1].qp == 2);
  CHECK(b.bad[1].ev_idx == 5);
  CHECK(b.bad[1].ev == 0xA000 + 16 + 5);
  CHECK(b.events.size() == 1);  // no new event
  CHECK(b.bads == 1);
  b.revive(5);
  for (unsigned i = 0; i < 64 * 4 * 16; ++i) b.cycle();
  CHECK(b.bad.size() == 2);
}

TEST_CASE("packets go before the scrub, and DENIED EVs are not offered", "[pipeline][tx_path]") {
  Bench b;
  b.deny(3);
  b.lose(4);
  unsigned sent = 0;
  for (unsigned i = 0; i < 64 * 4 * 16; ++i) {
    if (b.pkt.free()) {
      b.send();
      ++sent;
    }
    b.cycle();
  }
  CHECK(b.bad.size() == 1);  // no idle cycle, no scrub
  CHECK(sent > 64 * 4 * 16 * 9 / 10);
  for (unsigned i = 0; i < 64 * 4 * 16 + 64; ++i) b.cycle();
  REQUIRE(b.bad.size() == 2);
  CHECK(b.bad[1].ev_idx == 4);
}

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
    b->csr.skip_twice = true;
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
          b->fb.load({.qp = static_cast<uint16_t>(qp), .ev_idx = ev_idx, .entropy = entropy, .kind = FbKind::SkipOnce});
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
