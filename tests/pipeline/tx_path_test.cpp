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
  Stream<Fb> fb;
  Stream<Path> out;
  Stream<Rec> rec;
  TxPath path{preset, pkt, fb, out, rec};
  CfgBus cfg;
  unsigned room = 3, up = 3;
  unsigned cycles = 0, skips = 0;
  std::vector<Path> got;
  std::vector<unsigned> at;  // cycle in which the path register became valid

  Bench() {
    for (unsigned i = 0; i < 32; ++i) configure(CfgTable::Ev, i, {0xA000 + i});
    csr::TblQpCtx row;
    row.profile = 1;
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
    path.step(cfg, {room, up});
    path.clock();
    pkt.clock();
    fb.clock();
    out.clock();
    rec.clock();
    skips += path.skip_inc();
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
};

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
  b.feed_back(2, 0xA000 + 16 + 2);  // nothing accumulates
  b.feed_back(5, 0xA000 + 16 + 6);  // not what the profile holds there
  b.feed_back(6, 0xA000 + 16 + 6, 2);
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
