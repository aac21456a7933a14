// SPDX-License-Identifier: Apache-2.0
/// tx_path: two copies of what was lost.
#include "tests/pipeline/tx/tx_path_bench.hpp"

namespace mrc::test::tx_path {
namespace {

Preset four_planes() {
  Preset p = *find_preset("tiny");
  p.num_planes = 4;
  return p;
}

/// 4 planes, 16 EVs in 4 groups. QP 2's first pass has key 0xACE1 ^ 2 = 0xACE3: low four bits 0011, so it begins in
/// group 0 with planes 3, 2, 1, 0.
struct Four : Bench {
  Four() : Bench(four_planes()) {}
  Four(const Four&) = delete;
  static Pkt lost(uint16_t avoid, bool two = true) {
    return {.qp = 2, .psn = 7, .rtx = true, .idx = 3, .avoid_ev = avoid, .lost = true, .two = two};
  }
  static Pkt fresh() { return {.qp = 2, .psn = 8}; }
  std::vector<unsigned> evs() const {
    std::vector<unsigned> found;
    for (const Path& p : got) found.push_back(p.ev_idx);
    return found;
  }
  std::vector<unsigned> recorded() const {
    std::vector<unsigned> found;
    for (const Rec& r : recs) found.push_back(r.ev_idx);
    return found;
  }
};

using List = std::vector<unsigned>;

}  // namespace

TEST_CASE("tx_path: two copies by hand: two paths, a record of the first behind the second",
          "[pipeline][tx_path][A-89]") {
  Four b;
  b.stream({Four::lost(1), Four::fresh()});
  CHECK(b.evs() == List{3, 2, 1});  // not plane 1, then neither that nor plane 3; what is new takes plane 1
  CHECK(b.recorded() == List{3, 1});
  REQUIRE(b.at.size() == 3);
  CHECK(b.at[1] == b.at[0] + 1);
  CHECK(b.at[2] == b.at[0] + 2);
  CHECK(b.rec_at == List{b.at[1], b.at[2]});
  for (unsigned i : {0u, 1u}) {
    CHECK(b.got[i].pkt.psn == 7);
    CHECK(b.got[i].pkt.idx == 3);
    CHECK(b.got[i].pkt.rtx);
    CHECK(b.got[i].pkt.two);
    CHECK(b.got[i].ev == 0xA000u + 16 + b.got[i].ev_idx);
    CHECK(b.got[i].plane == b.got[i].ev_idx % 4);
  }
  CHECK(b.recs[0].rtx);
  CHECK(b.recs[0].psn == 7);
  CHECK_FALSE(b.recs[0].voided);
}

TEST_CASE("tx_path: one copy with EV_CTL.one_copy, and where nobody asks for two", "[pipeline][tx_path][A-89]") {
  Four b;
  b.csr.one_copy = true;
  b.stream({Four::lost(1), Four::fresh()});
  CHECK(b.evs() == List{3, 2});
  CHECK(b.recorded() == List{3, 2});
  b.csr.one_copy = false;
  b.stream({Four::lost(1, false)});
  CHECK(b.got.size() == 3);
  CHECK(b.recs.size() == 3);
}

TEST_CASE("tx_path: two copies avoid the plane before whatever CTRL.any_plane is", "[pipeline][tx_path][A-89]") {
  Four b;
  b.csr.any_plane = true;
  b.stream({Four::lost(7), Four::fresh()});  // EV 7 is of plane 3, and so is the first one's, EV 3
  CHECK(b.evs() == List{3, 2, 1});
  Four c;
  c.csr.any_plane = true;
  c.stream({Four::lost(2), Four::fresh()});  // the copy passes over plane 2
  CHECK(c.evs() == List{3, 1, 2});
}

TEST_CASE("tx_path: a second copy waits for no lane", "[pipeline][tx_path][A-89]") {
  Four b;
  b.room = 1u << 3;
  b.stream({Four::lost(1)});
  CHECK(b.evs() == List{3});
  CHECK(b.recorded() == List{3});
  CHECK(b.rec_at == List{b.at[0] + 1});
  CHECK(b.nopaths == 0);
  b.room = 15;
  b.stream({Four::fresh()});
  CHECK(b.evs() == List{3, 2});  // where the first one has ended
}

TEST_CASE("tx_path: without a third plane there is one copy", "[pipeline][tx_path][A-89]") {
  SECTION("of two planes") {
    Bench b;  // tiny
    b.stream({Four::lost(1)});
    CHECK(b.got.size() == 1);
    REQUIRE(b.recs.size() == 1);
    CHECK(b.recs[0].ev_idx == b.got[0].ev_idx);
    CHECK(b.recs[0].ev_idx % 2 == 0);
    CHECK(b.rec_at[0] == b.at[0] + 1);
  }
  SECTION("whose ports are up") {
    Four b;
    b.up = 0b1010;
    b.stream({Four::lost(1), Four::fresh()});
    CHECK(b.evs() == List{3, 7});  // plane 1 has lost its turn in group 0, as with one copy
    CHECK(b.recorded() == List{3, 7});
    CHECK(b.rec_at == List{b.at[0] + 1, b.at[0] + 2});
  }
  SECTION("that has an EV in use: the copy looks at the whole set, and no longer") {
    Four b;
    for (unsigned ev = 0; ev < 16; ++ev) {
      if (ev % 4 == 0 || ev % 4 == 2) b.deny(ev);
    }
    b.stream({Four::lost(1)});
    CHECK(b.evs() == List{3});
    CHECK(b.recorded() == List{3});
    CHECK(b.rec_at[0] - b.at[0] <= 2 * 4);
    const std::size_t n = b.got.size();
    b.stream({Four::fresh(), Four::fresh()});  // the walk goes on: planes 1 and 3 in turn
    REQUIRE(b.got.size() == n + 2);
    CHECK(b.got[n].plane % 2 == 1);
    CHECK((b.got[n].plane ^ b.got[n + 1].plane) == 2);
  }
}

TEST_CASE("tx_path: what can go nowhere but where it was goes once", "[pipeline][tx_path][A-89]") {
  Four b;
  for (unsigned ev = 0; ev < 16; ++ev) {
    if (ev % 4 != 1) b.deny(ev);
  }
  b.stream({Four::lost(1)});
  REQUIRE(b.got.size() == 1);
  CHECK(b.got[0].plane == 1);
  CHECK(b.recorded() == List{b.got[0].ev_idx});
  CHECK(b.rec_at == b.at);
  CHECK(b.nopaths == 0);
}

TEST_CASE("tx_path: a packet without a path has no copy", "[pipeline][tx_path][A-89]") {
  Four b;
  b.up = 0;
  b.stream({Four::lost(1)});
  CHECK(b.got.empty());
  CHECK(b.recorded() == List{0xffff});
  CHECK(b.nopaths == 1);
}

TEST_CASE("tx_path: a record of two copies comes when both paths have been offered", "[pipeline][tx_path][A-89]") {
  Four b;
  b.take_paths = false;
  for (unsigned i = 0; i < 3; ++i) {  // two paths wait in the queue, one in the register
    b.pkt.load(Four::fresh());
    for (int k = 0; k < 10; ++k) b.cycle();
  }
  REQUIRE(b.got.size() == 3);
  REQUIRE(b.recs.size() == 3);
  b.pkt.load(Four::lost(b.got.back().ev_idx));
  for (const std::size_t paths : {3u, 4u, 5u}) {
    for (int k = 0; k < 20; ++k) b.cycle();
    REQUIRE(b.got.size() == paths);
    CHECK(b.recs.size() == (paths == 5 ? 4 : 3));
    b.out.pop();  // room for one more
  }
  CHECK(b.recs.back().ev_idx == b.got[3].ev_idx);
  CHECK(std::set<unsigned>{b.got[2].plane, b.got[3].plane, b.got[4].plane}.size() == 3);
}

TEST_CASE("tx_path: records that nobody takes hold up the second copy, not the first", "[pipeline][tx_path][A-89]") {
  Four b;
  b.take_recs = false;
  unsigned sent = 0;
  for (unsigned i = 0; i < 20; ++i) {  // all places for records are taken
    if (b.pkt.free() && sent < 3) {
      b.pkt.load(Four::fresh());
      ++sent;
    }
    b.cycle();
  }
  const std::size_t paths = b.got.size();
  REQUIRE(paths == 3);
  b.pkt.load(Four::lost(b.got.back().ev_idx));
  for (int i = 0; i < 20; ++i) b.cycle();
  CHECK(b.got.size() == paths + 1);
  b.take_recs = true;
  for (int i = 0; i < 20; ++i) b.cycle();
  CHECK(b.got.size() == paths + 2);
  REQUIRE(b.recs.size() == 4);
  CHECK(b.recs.back().ev_idx == b.got[paths].ev_idx);
}

TEST_CASE("tx_path: table writes and feedback wait for the second copy", "[pipeline][tx_path][A-89]") {
  Four b;
  b.stream({Four::fresh()});
  b.pkt.load(Four::lost(b.got.back().ev_idx));
  for (int i = 0; i < 3; ++i) b.cycle();  // the first one is in w
  b.fb.load({.qp = 2, .ev_idx = 0, .entropy = 0, .kind = FbKind::Loss});
  b.configure(CfgTable::PeerPorts, 3, {0});  // from then on there is no path
  for (int i = 0; i < 20; ++i) b.cycle();
  CHECK(b.got.size() == 3);
  CHECK(b.recs.size() == 2);
  CHECK(b.nopaths == 0);
}

}  // namespace mrc::test::tx_path
