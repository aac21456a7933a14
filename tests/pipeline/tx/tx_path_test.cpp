// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <set>
#include <vector>

#include "tests/pipeline/tx/tx_path_bench.hpp"

namespace mrc::test::tx_path_test {

using namespace mrc::test::tx_path;

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
  const bool twice = GENERATE(false, true);
  b.csr.skip_mode = twice ? SkipMode::Twice : SkipMode::Pass;
  for (int i = 0; i < 3; ++i) b.feed_back(2, 0xA000 + 16 + 2);
  CHECK(b.skips == (twice ? 2 : 1));
  for (int i = 0; i < 15; ++i) CHECK(b.send_one() != 2);  // a pass without EV 2
  if (twice) {
    for (int i = 0; i < 15; ++i) CHECK(b.send_one() != 2);
  }
  CHECK(b.pass(16).count(2) == 1);
}

TEST_CASE("tx_path: an EV with two marks counts as one in use", "[pipeline][tx_path]") {
  Bench b(2);
  b.csr.skip_mode = SkipMode::Twice;
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
  Pkt p{.psn = 0x123456, .msn = 0x1234, .rtx = true, .last = true, .idx = 77, .size = 4200};
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
  Pkt p{.psn = 9, .voided = true};
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
  Pkt p{.qp = 1};
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
  Pkt p{.rtx = true, .avoid_ev = 5};
  // EV 5 was in the last group but one of the pass (key 8). What is left of it, then the set is walked twice: with the
  // avoided EV left out, and without.
  CHECK(b.no_path(p) == 2 + 1 + 1 + 8 + 8 + 1 + 2);
}

TEST_CASE("tx_path: what was lost goes on another plane, if one has an EV in use", "[pipeline][tx_path][A-85]") {
  Bench b;
  const auto again = [&](uint16_t avoid, bool lost) {
    Pkt p{.qp = 2, .rtx = true, .avoid_ev = avoid, .lost = lost};
    const std::size_t n = b.got.size();
    b.pkt.load(p);
    for (int i = 0; i < 200 && b.got.size() == n; ++i) b.cycle();
    REQUIRE(b.got.size() == n + 1);
    return b.got.back().ev_idx % 2u;
  };
  for (uint16_t ev = 0; ev < 16; ++ev) CHECK(again(ev, true) == 1u - ev % 2u);
  unsigned same = 0;  // about half of what was trimmed; and with CTRL.any_plane
  for (uint16_t ev = 0; ev < 16; ++ev) same += again(0, false) == 0;
  CHECK(same >= 6);
  b.csr.any_plane = true;
  same = 0;
  for (uint16_t ev = 0; ev < 16; ++ev) same += again(0, true) == 0;
  CHECK(same >= 6);
  b.csr.any_plane = false;
  b.up = 1;  // no other plane
  CHECK(again(4, true) == 0);
  b.up = 3;
  for (unsigned ev = 1; ev < 16; ev += 2) b.deny(ev);  // plane 1 has none in use
  CHECK(again(4, true) == 0);
  CHECK(b.got.back().ev_idx != 4);
  CHECK(b.nopaths == 0);
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

TEST_CASE("tx_path: a value 0 takes no row of a profile that is filled, and costs its cycles",
          "[pipeline][tx_path][gen]") {
  Bench b;
  // Numbers 0..3 in bits 1:0, from 2 on: 2 3 (0) 1 2 3 (0) 1 ...: 16 rows of 21 values.
  CHECK(b.configure(CfgTable::EvGen, 1, {1, 2, 3, 0, 3}) == 1 + 21 * 32);
  b.pass(16);
  const uint32_t row[3] = {2, 3, 1};
  for (const Path& p : b.got) {
    CAPTURE(p.ev_idx);
    CHECK(p.ev == row[p.ev_idx % 3]);
  }
  // Nothing but 0: a second 0 in a row is 8. AUTO with a mask of one bit: the bits of the values, but for single 0s.
  CHECK(b.configure(CfgTable::EvGen, 1, {1, 0, 0, 0, 0}) == 1 + 2 * 16 * 32);
  b.got.clear();
  b.pass(16);
  for (const Path& p : b.got) CHECK(p.ev == 8);
  CHECK(b.configure(CfgTable::EvGen, 1, {0, 0, 0, 0, 0}) == 1 + 2 * 16);
  b.got.clear();
  b.pass(16);
  for (const Path& p : b.got) CHECK(p.ev == 8);
  uint32_t v = 1;
  std::vector<uint32_t> want;
  unsigned values = 0;
  for (bool zero = false; want.size() < 16; ++values) {
    v ^= v << 13;
    v ^= v >> 17;
    v ^= v << 5;
    if ((v & 1) != 0) {
      want.push_back(1);
      zero = false;
    } else if (zero) {
      want.push_back(8);
      zero = false;
    } else {
      zero = true;
    }
  }
  CHECK(b.configure(CfgTable::EvGen, 1, {0, 1, 0, 0, 1}) == 1 + values);
  b.got.clear();
  b.pass(16);
  for (const Path& p : b.got) CHECK(p.ev == want[p.ev_idx]);
}

TEST_CASE("tx_path: packets wait while a profile is filled", "[pipeline][tx_path][gen]") {
  Bench b;
  b.send();
  b.cycle();
  b.cfg = {true, static_cast<uint8_t>(CfgTable::EvGen), 1, {1, 0, 15, 16, 15}};
  for (int i = 0; i < 512; ++i) b.cycle();
  CHECK(b.got.empty());
  CHECK_FALSE(b.path.cfg_ack());
  b.cycle();
  CHECK(b.path.cfg_ack());
  for (int i = 0; i < 5; ++i) b.cycle();
  REQUIRE(b.got.size() == 1);
  CHECK(b.got[0].ev == 16 + 3);
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

}  // namespace mrc::test::tx_path_test
