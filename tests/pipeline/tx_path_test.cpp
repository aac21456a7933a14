// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx_path.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <set>
#include <vector>

#include "gen/csr.hpp"

using namespace mrc;

namespace {

/// tx_path alone, its output always taken. tiny: 2 planes, 16 EVs, so 8 groups. QP 2 leads to destination 3.
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
  bool take_events = true;
  unsigned room, up;
  unsigned cycles = 0, skips = 0, bads = 0, floors = 0, nopaths = 0;
  std::vector<Path> got;
  std::vector<Rec> recs;
  std::vector<Evev> events;
  std::vector<Badev> bad;
  std::vector<unsigned> at;  // cycle in which the path register became valid

  explicit Bench(unsigned backup = 0, const char* name = "tiny") : preset(*find_preset(name)) {
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
  unsigned deny(unsigned ev_idx, bool on = true) {
    return configure(CfgTable::EvState, 2, {ev_idx | (on ? 1u << 16 : 0u)});
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
    if (out.has()) out.pop();
    if (rec.has()) {
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
  // pkt in its register, in its FIFO, Idle, NoPath, then rec in its FIFO.
  CHECK(b.no_path(p) == 6);
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
  CHECK(b.no_path(p) == 6);
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

TEST_CASE("tx_path takes three cycles per packet also with planes left out", "[pipeline][tx_path]") {
  for (const bool peer : {false, true}) {
    Bench b;
    if (peer) {
      b.peer_ports(3, 2);
    } else {
      b.up = 2;
    }
    for (int i = 0; i < 100; ++i) {
      if (b.pkt.free()) b.send();
      b.cycle();
    }
    REQUIRE(b.at.size() > 25);
    for (std::size_t i = 1; i < b.at.size(); ++i) REQUIRE(b.at[i] - b.at[i - 1] == 3);
  }
}

TEST_CASE("tx_path: with every EV denied or bad a packet has no path; the next starts where the walk ended",
          "[pipeline][tx_path][nopath]") {
  Bench b;
  b.csr.ev_min_active = 0;
  for (const uint16_t ev : {uint16_t{1}, uint16_t{6}, uint16_t{9}}) b.lose(ev);
  b.deny_all();
  // pkt register, FIFO, Idle, nine groups in Walk, NoPath, rec in its FIFO.
  CHECK(b.no_path() == 2 + 1 + 9 + 1 + 2);
  CHECK(b.nopaths == 1);
  // The walk: groups 1 0 3 2 5 4 7 6 with key 3, then group 0 with key 1, where it ended with both planes passed. So
  // the next packet begins in group 1, plane 1 first.
  b.deny_all(false);
  CHECK(b.send_one() == 3);
  CHECK(b.nopaths == 1);
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
  // The set is walked twice: with the avoided EV left out, and without.
  CHECK(b.no_path(p) == 2 + 1 + 18 + 1 + 2);
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
  b.feed_back(3, 0xA013, 2);
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
  CHECK(sent > 64 * 4 * 16 / 4);
  for (unsigned i = 0; i < 64 * 4 * 16 + 64; ++i) b.cycle();
  REQUIRE(b.bad.size() == 2);
  CHECK(b.bad[1].ev_idx == 4);
}
