// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ctl/fence.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <functional>

#include "gen/csr.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/nic_pair.hpp"
#include "util/rng.hpp"

namespace mrc::test::fence_test {
namespace {

/// fence alone, at tiny: two planes. Streams are filled and emptied by hand.
struct Bench {
  Preset preset = *find_preset("tiny");
  Stream<Retx> retx;
  Stream<Pkt> pkt;
  Stream<Path> path;
  Stream<Ctl> ctl;
  Stream<Rxpkt> rxpkt;
  Stream<Ord> ord;
  Fence fence{preset, {retx, pkt, path, ctl, rxpkt, ord}};

  void cycle(const Fence::In& in = {}) {
    fence.step(in);
    pop_all(retx, pkt, path, ctl, rxpkt, ord);
    clock_all(retx, pkt, path, ctl, rxpkt, ord, fence);
  }
  void run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) cycle();
  }
  bool busy() const { return csr::kFenceBusy.get(fence.owed()) != 0; }
};

/// A stage: what goes into it, and what says that a word of it is done.
struct Case {
  const char* name;
  unsigned most;
  void (*in)(Bench&);
  Fence::In done;
  uint32_t owed;  ///< what FENCE reads while that stage alone owes
};

constexpr uint32_t kFront = 3, kLanes = 1;  // busy and core; busy

const Case kCases[] = {
    {"orders", 11, [](Bench& b) { b.retx.load({}); }, {.order_done = true}, kFront},
    {"answers", 3, [](Bench& b) { b.ctl.load({}); }, {.ctl_done = true}, kFront},
    {"tracked", 6, [](Bench& b) { b.rxpkt.load({}); }, {.posted = true}, kFront},
    {"packets", 8, [](Bench& b) { b.pkt.load({}); }, {.rec_done = true}, kFront},
    {"ordered", 3, [](Bench& b) { b.ord.load({}); }, {.ord_done = true}, kFront},
    {"sent", 8, [](Bench& b) { b.path.load({.plane = 1}); }, {.data_done = 2}, kLanes | 2u << 8},
    {"placed",
     16,
     [](Bench& b) {
       Rxpkt& p = b.rxpkt.load();
       p = {};
       p.plane = 1;
       p.buf_valid = true;
     },
     {.done_valid = true, .done_plane = 1},
     kFront | 2u << 16},
};

}  // namespace

TEST_CASE("a fence around nothing ends at once", "[fence]") {
  Bench b;
  CHECK(b.fence.owed() == 0);
  b.cycle({.go = true});
  for (const uint32_t owed : {3u, 3u, 1u, 0u, 0u}) {  // Front, Core, Lanes, Idle
    CHECK(b.fence.owed() == owed);
    b.cycle();
  }
}

TEST_CASE("each stage of a fence counts what it holds, and no more", "[fence]") {
  for (const Case& c : kCases) {
    CAPTURE(c.name);
    for (unsigned before = 1; before <= c.most; ++before) {
      Bench b;
      const bool tracked = c.done.done_valid;  // such a word is in `tracked`, too, which is told at once
      const auto judge = [&] {
        b.cycle();
        b.cycle({.posted = tracked});
      };
      for (unsigned i = 0; i < before; ++i) {
        c.in(b);
        b.cycle();
        if (i + 1 < before) judge();
      }
      b.cycle({.go = true});  // the last word stands in front of the stage
      judge();
      b.run(4);
      CHECK(b.fence.owed() == (tracked ? kLanes | 2u << 16 : c.owed));
      // Words that come later are not waited for.
      for (unsigned i = before; i < std::min(before + 2, c.most); ++i) {
        c.in(b);
        b.cycle();
        judge();
      }
      for (unsigned i = 0; i < before; ++i) {
        CHECK(b.busy());
        b.cycle(c.done);
      }
      b.run(3);
      CHECK_FALSE(b.busy());
    }
  }
}

TEST_CASE("a fence waits until no packet goes on in its next row", "[fence]") {
  Bench b;
  b.cycle({.go = true, .goes_on = true});
  for (unsigned i = 0; i < 50; ++i) {
    CHECK(b.fence.owed() == 3);
    b.cycle({.goes_on = true});
  }
  b.cycle();
  b.cycle();
  b.cycle();
  CHECK_FALSE(b.busy());
}

TEST_CASE("what goes from stage to stage is waited for to its end", "[fence]") {
  Bench b;
  b.retx.load({});
  b.cycle();
  b.cycle();                      // inside tx_segment
  b.cycle({.go = true});          //
  b.pkt.load({});                 // the order becomes a packet
  b.cycle();                      //
  b.cycle({.order_done = true});  // told one cycle later: the packet stands there already
  b.run(5);
  CHECK(b.fence.owed() == 3);   // packets owe it
  b.path.load({.plane = 0});    //
  b.cycle();                    //
  b.cycle({.rec_done = true});  //
  b.run(5);
  CHECK(b.fence.owed() == (1u | 1u << 8));  // the lane of plane 0 does
  b.cycle({.data_done = 1});                //
  b.cycle();                                //
  CHECK_FALSE(b.busy());
}

namespace {

Wqe write_to(unsigned qp, const Preset& preset, uint32_t length) {
  Wqe w{.qp = static_cast<QpIndex>(qp), .raddr = 0x8000, .rkey = (qp % preset.num_mrs) << 8, .length = length};
  return w;
}

/// Two NICs whose QPs 0 to 2 write to each other without an end.
struct Busy : NicPair {
  explicit Busy(const Preset& preset) : NicPair(preset), preset_(preset) {
    set_up();
    for (unsigned qp = 0; qp < 3; ++qp) connect_qp(qp, 2);
  }
  void post(unsigned qp, uint32_t length, unsigned count = 4) {
    for (Host& h : host) {
      for (unsigned i = 0; i < count; ++i) h.wqes.push_back(write_to(qp, preset_, length));
    }
  }
  void reset(unsigned side, unsigned qp) {
    write_row(side, csr::kTblQpStateId, qp, csr::TblQpState{.state = QpState::Reset});
  }
  uint32_t fence(unsigned side) { return read(side, csr::kFence); }
  void begin(unsigned side) { REQUIRE(write(side, csr::kFence, 1) == 0); }
  bool ends(unsigned side, unsigned reads) {
    for (unsigned i = 0; i < reads; ++i) {
      if (csr::kFenceBusy.get(fence(side)) == 0) return true;
    }
    return false;
  }

 private:
  const Preset preset_;
};

}  // namespace

TEST_CASE("a fence ends under full load", "[fence]") {
  const char* name = GENERATE("tiny", "fpga100", "asic800");
  CAPTURE(name);
  Busy pair(*find_preset(name));
  bool over[2] = {};
  unsigned touched = 0;
  pair.tap = [&](NicPair& p) {
    for (unsigned side = 0; side < 2; ++side) {
      const mrc_pins_out& out = p.host[side].out;
      if (!over[side]) continue;
      touched += out.host_rd_valid && Rdreq::unpack(out.host_rd).qp == 1;
      touched += out.host_wr_valid && out.host_wr_qp == 1;
    }
  };
  for (unsigned round = 0; round < 6; ++round) {
    CAPTURE(round);
    const std::size_t done = pair.host[0].cqes.size();
    for (const unsigned qp : {0u, 1u, 2u}) pair.post(qp, 60'000);
    REQUIRE(pair.run_until([&] { return pair.host[0].cqes.size() > done; }, 100'000));
    pair.run(37 * round);
    for (unsigned side = 0; side < 2; ++side) pair.reset(side, 1);
    for (unsigned side = 0; side < 2; ++side) {
      pair.begin(side);
      REQUIRE(pair.ends(side, 2000));
      over[side] = true;
    }
    pair.run(3000);  // others go on all the while
    CHECK(touched == 0);
    over[0] = over[1] = false;
    // A row may come at once: nothing of before counts as the new connection's.
    pair.connect_qp(1, 2);
    const auto good = [&] {
      return std::ranges::count_if(pair.host[0].cqes,
                                   [](const Cqe& c) { return c.qp == 1 && c.status == CqStatus::Ok; });
    };
    const auto before = good();
    pair.post(1, 3000, 1);
    REQUIRE(pair.run_until([&] { return good() == before + 1; }, 400'000));
    REQUIRE(pair.run_until([&] { return pair.host[0].wqes.empty() && pair.host[1].wqes.empty(); }, 400'000));
  }
}

TEST_CASE("a port that stands keeps a fence, and FENCE names it", "[fence]") {
  Busy pair(*find_preset("tiny"));
  Host& a = pair.host[0];
  pair.tap = [](NicPair& p) { p.host[0].in.tx_tready = 0xfd; };  // plane 1 takes nothing
  pair.post(1, 4000, 2);
  pair.run(400);
  pair.reset(0, 1);
  pair.begin(0);
  CHECK_FALSE(pair.ends(0, 300));
  CHECK(csr::kFenceTx.get(pair.fence(0)) == 2);
  CHECK(csr::kFenceRx.get(pair.fence(0)) == 0);
  CHECK(csr::kFenceCore.get(pair.fence(0)) == 0);
  pair.begin(0);  // begins anew, and waits for the same
  CHECK_FALSE(pair.ends(0, 300));
  CHECK(csr::kFenceTx.get(pair.fence(0)) == 2);
  a.wqes.push_back(write_to(2, *find_preset("tiny"), 256));  // all else goes on
  pair.tap = nullptr;
  a.in.tx_tready = 0xff;
  CHECK(pair.ends(0, 1000));
  REQUIRE(pair.run_until([&] { return !a.cqes.empty() && a.cqes.back().qp == 2; }, 5000));
}

TEST_CASE("a host that takes nothing keeps a fence", "[fence]") {
  Busy pair(*find_preset("tiny"));
  Host& b = pair.host[1];
  SECTION("lines") {
    b.in.host_wr_ready = 0;
    for (Host& h : pair.host) h.wqes.clear();
    pair.host[0].wqes.push_back(write_to(1, *find_preset("tiny"), 4000));
    pair.run(600);
    pair.begin(1);
    CHECK_FALSE(pair.ends(1, 300));
    CHECK(csr::kFenceRx.get(pair.fence(1)) != 0);
    b.in.host_wr_ready = 1;
    CHECK(pair.ends(1, 200));
  }
  SECTION("completions") {
    b.in.cqe_ready = 0;
    for (unsigned i = 0; i < 20; ++i) {
      Wqe w = write_to(1, *find_preset("tiny"), 16);
      w.imm_valid = true;
      pair.host[0].wqes.push_back(w);
    }
    pair.run(3000);
    pair.begin(1);
    CHECK_FALSE(pair.ends(1, 300));
    CHECK(csr::kFenceCore.get(pair.fence(1)) != 0);
    b.in.cqe_ready = 1;
    CHECK(pair.ends(1, 200));
  }
}

TEST_CASE("a fence that begins anew waits for what is inside by then", "[fence]") {
  Bench b;
  b.path.load({.plane = 0});
  b.cycle();
  b.cycle();
  b.cycle({.go = true});
  b.run(5);
  CHECK(b.fence.owed() == (1u | 1u << 8));
  b.path.load({.plane = 1});  // came later: the first fence does not wait for it
  b.cycle();
  b.cycle();
  CHECK(b.fence.owed() == (1u | 1u << 8));
  b.cycle({.go = true});
  b.run(5);
  CHECK(b.fence.owed() == (1u | 3u << 8));  // the second for both
  b.cycle({.data_done = 1});
  b.cycle();
  CHECK(b.fence.owed() == (1u | 2u << 8));
  for (unsigned i = 0; i < 20; ++i) {  // again and again: never over
    b.cycle({.go = true});
    b.cycle();
    CHECK(b.busy());
  }
  b.cycle({.data_done = 2});
  b.run(4);
  CHECK_FALSE(b.busy());
}

TEST_CASE("packets that vanish end a fence", "[fence]") {
  const char* name = GENERATE("tiny", "asic800");
  const unsigned seed = GENERATE(1u, 2u, 3u);
  CAPTURE(name, seed);
  Busy pair(*find_preset(name));
  Rng rng(seed, "fence");
  pair.tap = [&](NicPair& p) {
    for (Host& h : p.host) {
      mrc_pins_in& in = h.in;
      // A frame that is spoilt is lost, and ordered again; what comes meanwhile may make that unneeded.
      if (in.rx_tlast != 0 && rng.chance(0.1)) in.rx_tuser = in.rx_tlast;
      if (rng.chance(0.0005)) in.link_up ^= 1;  // without links there is no path
      if (rng.chance(0.0005)) in.link_up ^= 2;
    }
  };
  for (unsigned round = 0; round < 4; ++round) {
    for (const unsigned qp : {0u, 1u, 2u}) pair.post(qp, 9000);
    pair.run(20'000 + 777 * round);
    const unsigned qp = round % 3;
    for (unsigned side = 0; side < 2; ++side) pair.reset(side, qp);
    for (unsigned side = 0; side < 2; ++side) {
      pair.begin(side);
      CHECK(pair.ends(side, 3000));
    }
    pair.connect_qp(qp, 2);
  }
  for (unsigned qp = 0; qp < 3; ++qp) {
    for (unsigned side = 0; side < 2; ++side) pair.reset(side, qp);
  }
  pair.tap = nullptr;
  for (Host& h : pair.host) h.in.link_up = 0xff;
  pair.run(20'000);
  for (unsigned side = 0; side < 2; ++side) {  // nothing is inside, and nothing is counted as if it were
    pair.begin(side);
    CHECK(pair.ends(side, 3));
  }
}

}  // namespace mrc::test::fence_test
