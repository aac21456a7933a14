// SPDX-License-Identifier: Apache-2.0
/// endpoint: the rings of QPs that lead to a destination, and the chains by which an address finds its destination.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <ostream>
#include <vector>

#include "gen/csr.hpp"
#include "tests/pipeline/ctl/endpoint_bench.hpp"
#include "util/rng.hpp"

namespace mrc::test::endpoint_lists_test {

using namespace endpoint_bench;

/// Addresses with one fold, on each plane: n stands in two words.
constexpr U128 same_fold(unsigned n) { return address(0) | n | n << 16; }

/// Whose answer to a request is, and what it cost.
struct Found {
  int dest = -1;        ///< -1: it was dropped
  int qp = -1;          ///< through which it is answered
  unsigned cycles = 0;  ///< from its turn to the answer
  bool operator==(const Found&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Found& f) {
    return out << "dest " << f.dest << " qp " << f.qp << " cycles " << f.cycles;
  }
};

struct Lists : Bench {
  using Bench::Bench;

  /// Writes a row. Returns for how many cycles nothing else is done, that of the row among them.
  template <class Row>
  unsigned write(CfgTable table, unsigned qp, const Row& row) {
    run(40);               // a visit: it is the turn of peers' packets
    eprx.load({.op = 2});  // dropped in the first cycle in which something else is done
    run(2);                // on its way
    const unsigned from = cycles, before = drops;
    cfg = {true, static_cast<uint8_t>(table), static_cast<uint16_t>(qp), {}};
    row.pack(cfg.data.data());
    run_until([&] { return drops != before; }, 2000);
    const unsigned took = cycles - from - 1;
    CHECK(cfg_ack());
    cfg.req = false;
    run(2);
    CHECK(cfg_ack() == false);
    return took;
  }
  /// A QP leads to a destination at an address.
  unsigned lead(unsigned qp, unsigned dest, U128 dip, QpState state = QpState::Init) {
    return write(CfgTable::QpCtx, qp, csr::TblQpCtx{.dip = dip, .dest = static_cast<uint16_t>(dest), .state = state});
  }
  unsigned lead(unsigned qp, unsigned dest) { return lead(qp, dest, address(1000 + dest)); }
  /// Its row no longer stands.
  unsigned forget(unsigned qp) { return lead(qp, 0, 0, QpState::Reset); }
  unsigned reset(unsigned qp) { return write(CfgTable::QpState, qp, csr::TblQpState{.state = QpState::Reset}); }
  /// Whom an address finds.
  Found req(U128 sip, unsigned plane = 0) {
    run(40);
    const unsigned before = rsps + drops;
    eprx.load({.op = 0, .plane = static_cast<uint8_t>(plane), .mask = 0b110, .sip = sip});
    run(2);
    const unsigned from = cycles;
    run_until([&] { return rsps + drops != before; }, 2000);
    Found f{.cycles = cycles - from};
    run(4);
    REQUIRE(pmasks.size() == responses.size());
    if (!pmasks.empty()) f = {.dest = pmasks[0].dest, .qp = static_cast<int>(responses[0].qp), .cycles = f.cycles};
    pmasks.clear();
    responses.clear();
    return f;
  }
  Found req(unsigned dest) { return req(address(1000 + dest)); }
  int lender(unsigned dest) { return req(dest).qp; }
};

TEST_CASE("a request is answered two cycles after its turn, and a cycle later for each address in front of its own",
          "[endpoint][lists]") {
  Lists b;
  CHECK(b.req(same_fold(1)) == Found{.cycles = 1});  // an empty bucket
  for (unsigned d = 0; d < 4; ++d) b.lead(d, d, same_fold(d));
  for (unsigned d = 0; d < 4; ++d) CHECK(b.req(same_fold(d)) == Found{int(d), int(d), 2 + (3 - d)});
  CHECK(b.req(same_fold(4)) == Found{.cycles = 5});  // looked at all
  CHECK(b.req(address(1)) == Found{.cycles = 1});
  b.lead(3, 3, address(1));
  CHECK(b.req(address(1)) == Found{3, 3, 2});
  CHECK(b.req(same_fold(2)) == Found{2, 2, 2});
}

TEST_CASE("a QP that comes, leaves or moves takes seven cycles at the most", "[endpoint][lists]") {
  Lists b;
  CHECK(b.lead(0, 0) == 3);                 // Idle, Join, Chain
  CHECK(b.lead(0, 0) == 2);                 // Idle, Join
  CHECK(b.lead(0, 0, address(7)) == 4);     // Idle, Join, Unchain, Chain
  CHECK(b.lead(1, 0, address(7)) == 3);     // Idle, Join, Link
  CHECK(b.lead(2, 0, address(1000)) == 5);  // Idle, Join, Link, Unchain, Chain
  CHECK(b.lead(2, 1) == 4);                 // Idle, Leave, Join, Chain: others stay
  CHECK(b.lead(3, 1) == 3);                 // Idle, Join, Link
  CHECK(b.lead(3, 0, address(1000)) == 4);  // Idle, Leave, Join, Link
  CHECK(b.lead(2, 2) == 5);                 // Idle, Leave, Unchain, Join, Chain: nobody stays
  CHECK(b.lead(2, 0, address(9)) == 7);     // Idle, Leave, Unchain, Join, Link, Unchain, Chain
  CHECK(b.reset(2) == 2);                   // Idle, Leave
  CHECK(b.reset(2) == 2);                   // once more: it has a row
  CHECK(b.forget(2) == 2);                  // Idle, Leave
  CHECK(b.forget(2) == 1);                  // Idle
  CHECK(b.reset(2) == 1);                   // it has none
  CHECK(b.forget(0) == 2);
  CHECK(b.reset(1) == 2);
  CHECK(b.reset(3) == 2);  // the last one lends on
  CHECK(b.req(address(9)).qp == 3);
  CHECK(b.lead(1, 0, address(9)) == 2);  // Idle, Join: a ring of its own
  CHECK(b.req(address(9)).qp == 1);
  CHECK(b.lead(3, 0, address(9)) == 3);  // Idle, Join, Link: back from RESET
  CHECK(b.reset(3) == 2);
  CHECK(b.forget(1) == 3);  // Idle, Leave, Unchain: nobody is left
  CHECK(b.req(address(9)).qp == -1);
  CHECK(b.forget(3) == 2);  // its destination is none any more
  CHECK(b.write(CfgTable::QpState, 3, csr::TblQpState{.state = QpState::Error}) == 1);
  CHECK(b.write(CfgTable::PeerPorts, 3, csr::TblPeerPorts{.mask = 1}) == 1);
}

TEST_CASE("who leaves a chain takes a cycle more for each address in front of it", "[endpoint][lists]") {
  Lists b("asic800");
  const auto build = [&] {
    for (unsigned d = 0; d < 5; ++d) b.lead(d, d, same_fold(d));  // the chain is 4, 3, 2, 1, 0
  };
  const auto stand = [&](const std::vector<int>& chain) {
    for (int d = 0; d < 5; ++d) {
      const auto at = std::find(chain.begin(), chain.end(), d);
      CAPTURE(d);
      const Found f = b.req(same_fold(static_cast<unsigned>(d)));
      if (at == chain.end()) {
        CHECK(f == Found{.cycles = 1 + static_cast<unsigned>(chain.size())});
      } else {
        CHECK(f == Found{d, d, 2 + static_cast<unsigned>(at - chain.begin())});
      }
    }
  };
  build();
  SECTION("its last QP goes: head, middle, end, the only one") {
    stand({4, 3, 2, 1, 0});
    CHECK(b.forget(4) == 3);
    stand({3, 2, 1, 0});
    CHECK(b.forget(2) == 4);
    stand({3, 1, 0});
    CHECK(b.forget(0) == 5);
    stand({3, 1});
    CHECK(b.forget(1) == 4);
    stand({3});
    CHECK(b.forget(3) == 3);
    stand({});
    build();
    stand({4, 3, 2, 1, 0});
  }
  SECTION("its address changes, and it is the first of its new chain; and back") {
    CHECK(b.lead(0, 0, address(1)) == 8);  // Idle, Join, Unchain past four, Chain
    stand({4, 3, 2, 1});
    CHECK(b.req(address(1)) == Found{0, 0, 2});
    CHECK(b.lead(3, 3, address(1)) == 5);
    CHECK(b.req(address(1)) == Found{3, 3, 2});  // two with one address
    stand({4, 2, 1});
    CHECK(b.lead(4, 4, address(2)) == 4);
    stand({2, 1});
    CHECK(b.lead(0, 0, same_fold(0)) == 5);
    CHECK(b.req(address(1)) == Found{3, 3, 2});
    CHECK(b.lead(3, 3, same_fold(3)) == 4);
    CHECK(b.req(address(1)) == Found{.cycles = 1});
    CHECK(b.lead(4, 4, same_fold(4)) == 4);
    stand({4, 3, 0, 2, 1});
  }
  SECTION("its address becomes another one of the same fold") {
    CHECK(b.lead(2, 2, same_fold(9)) == 6);
    CHECK(b.req(same_fold(9)) == Found{2, 2, 2});
    CHECK(b.req(same_fold(2)) == Found{.cycles = 6});
    CHECK(b.lead(2, 2, same_fold(2)) == 4);
    stand({2, 4, 3, 1, 0});
  }
  SECTION("a QP that is alone moves to another destination of the chain, and changes its address") {
    CHECK(b.lead(1, 4, same_fold(7)) == 10);  // Unchain past 4, 3 and 2; Join, Link, Unchain, Chain
    CHECK(b.req(same_fold(7)) == Found{4, 1, 2});
    CHECK(b.req(same_fold(1)) == Found{.cycles = 5});
    CHECK(b.req(same_fold(4)) == Found{.cycles = 5});
    CHECK(b.forget(1) == 2);
    CHECK(b.req(same_fold(7)) == Found{4, 4, 2});  // the address that came last stays
  }
}

TEST_CASE("destinations whose addresses have one fold are all found", "[endpoint][lists]") {
  Lists b("asic800");
  for (unsigned d = 0; d < 256; ++d) b.lead(d, d, same_fold(d));
  for (unsigned d = 0; d < 256; ++d) CHECK(b.req(same_fold(d)) == Found{int(d), int(d), 2 + (255 - d)});
  CHECK(b.req(same_fold(256)) == Found{.cycles = 257});
  for (unsigned d = 0; d < 256; d += 2) CHECK(b.forget(d) == 3 + (255 - d));
  for (unsigned d = 1; d < 256; d += 2) CHECK(b.req(same_fold(d)) == Found{int(d), int(d), 2 + (255 - d) / 2});
  CHECK(b.req(same_fold(128)) == Found{.cycles = 129});
}

TEST_CASE("of two destinations with one address the newer one is found", "[endpoint][lists]") {
  Lists b;
  b.lead(0, 2, address(5));
  b.lead(1, 1, address(5));
  CHECK(b.req(address(5)) == Found{1, 1, 2});
  b.lead(2, 2, address(5));  // a QP more of the older one: its address is none that came
  CHECK(b.req(address(5)) == Found{1, 1, 2});
  b.lead(3, 0, address(5));
  CHECK(b.req(address(5)) == Found{0, 3, 2});
  b.csr.ip_plane_lsb = 80;  // the chains anew, by number
  b.run(50);
  CHECK(b.req(address(5)) == Found{2, 2, 2});
  b.lead(0, 2, address(6));  // and away
  CHECK(b.req(address(5)) == Found{1, 1, 2});
  b.forget(1);
  CHECK(b.req(address(5)) == Found{0, 3, 2});
  b.lead(0, 2, address(5));
  CHECK(b.req(address(5)) == Found{2, 0, 2});
  b.forget(3);
  CHECK(b.req(address(5)) == Found{2, 0, 2});
}

TEST_CASE("the ring of a destination: who lends next is the QP behind the one that leaves", "[endpoint][lists]") {
  Lists b("asic800");
  SECTION("one") {
    b.lead(4, 1);
    CHECK(b.lender(1) == 4);
    b.forget(4);
    CHECK(b.lender(1) == -1);
    b.lead(4, 1);
    CHECK(b.lender(1) == 4);
    b.lead(4, 1);  // once more
    b.reset(4);
    CHECK(b.lender(1) == 4);
    b.lead(4, 2);
    CHECK(b.lender(1) == -1);
    CHECK(b.lender(2) == 4);
  }
  SECTION("two") {
    b.lead(4, 1);
    b.lead(7, 1);
    CHECK(b.lender(1) == 7);
    SECTION("the lender leaves, comes back, and the other leaves") {
      b.reset(7);
      CHECK(b.lender(1) == 4);
      b.lead(7, 1);
      CHECK(b.lender(1) == 7);
      b.forget(4);
      CHECK(b.lender(1) == 7);
      b.forget(7);
      CHECK(b.lender(1) == -1);
    }
    SECTION("the other one leaves first") {
      b.reset(4);
      CHECK(b.lender(1) == 7);
      b.reset(7);
      CHECK(b.lender(1) == 7);
      b.forget(4);  // of those that are in RESET it is the lender that counts
      CHECK(b.lender(1) == 7);
      b.forget(7);
      CHECK(b.lender(1) == -1);
    }
    SECTION("the older one lends again, and stays where it is") {
      b.lead(4, 1);
      CHECK(b.lender(1) == 4);
      b.forget(4);
      CHECK(b.lender(1) == 7);
    }
  }
  SECTION("many") {
    for (const unsigned q : {10u, 11u, 12u, 13u, 14u, 15u}) b.lead(q, 1);  // 15 lends; behind it 10, 11 and so on
    CHECK(b.lender(1) == 15);
    b.reset(12);  // one from the middle
    b.forget(15);
    CHECK(b.lender(1) == 10);
    b.lead(12, 1);  // behind 10
    CHECK(b.lender(1) == 12);
    b.lead(13, 2);
    CHECK(b.lender(1) == 12);
    CHECK(b.lender(2) == 13);
    b.lead(12, 2);
    CHECK(b.lender(1) == 11);
    CHECK(b.lender(2) == 12);
    b.reset(11);
    CHECK(b.lender(1) == 14);
    b.reset(14);
    CHECK(b.lender(1) == 10);
    b.reset(10);
    CHECK(b.lender(1) == 10);
    b.forget(12);
    CHECK(b.lender(2) == 13);
  }
  SECTION("a lender in RESET that comes back, alone and behind another one") {
    b.lead(4, 1);
    b.reset(4);
    b.lead(4, 1);
    b.lead(7, 1);
    b.forget(7);
    CHECK(b.lender(1) == 4);
    b.reset(4);
    b.lead(7, 1);  // it does not stand in the ring that 4 has left
    CHECK(b.lender(1) == 7);
    b.reset(7);  // nobody else leads there
    CHECK(b.lender(1) == 7);
    b.lead(4, 1);
    CHECK(b.lender(1) == 4);
    b.forget(7);
    CHECK(b.lender(1) == 4);
    b.forget(4);
    CHECK(b.lender(1) == -1);
  }
  SECTION("a lender in RESET whose row is written for another destination takes its own with it") {
    b.lead(4, 1);
    b.lead(7, 1);
    b.reset(4);
    b.reset(7);
    b.lead(7, 2);
    CHECK(b.lender(1) == -1);
    CHECK(b.lender(2) == 7);
    b.lead(4, 1);
    CHECK(b.lender(1) == 4);
  }
}

TEST_CASE("a new IP_PLANE makes the chains anew", "[endpoint][lists][A-76]") {
  Lists b;
  const auto on = [](unsigned dest, unsigned plane) { return address(1000 + dest) | static_cast<U128>(plane) << 64; };
  b.lead(0, 0);
  b.lead(1, 1);
  b.lead(2, 3, on(3, 5));  // the bits of the plane do not count, once there are some
  CHECK(b.req(on(3, 5)) == Found{3, 2, 2});
  SECTION("the rows are found by the new rule") {
    b.csr.ip_plane_enable = true;
    b.run(1 + 4 + 4 + 3);
    for (const unsigned plane : {0u, 1u}) {
      CHECK(b.req(on(0, plane), plane) == Found{0, 0, 2});
      CHECK(b.req(on(3, plane), plane) == Found{3, 2, 2});
      CHECK(b.req(on(0, plane ^ 1), plane).dest == -1);
    }
    b.csr.ip_plane_lsb = 0;  // now the bits that tell the addresses apart: one bucket
    b.run(1 + 4 + 4 + 3);
    CHECK(b.req(address(1000), 0) == Found{1, 1, 2});  // 1000 and 1001 are one address, and the higher number is found
    CHECK(b.req(address(1001), 1) == Found{1, 1, 2});
    CHECK(b.req(on(3, 5) & ~U128{7}, 0) == Found{3, 2, 2});
    b.csr.ip_plane_enable = false;
    b.run(1 + 4 + 4 + 3);
    CHECK(b.req(address(1000)) == Found{0, 0, 2});
    CHECK(b.req(address(1001)) == Found{1, 1, 2});
    CHECK(b.req(on(3, 5)) == Found{3, 2, 2});
  }
  SECTION("all else waits, for 2 NumDests cycles and one per destination that has an address, and goes on then") {
    b.csr.ip_plane_enable = true;
    CHECK(b.reset(0) == 2);  // the change is long over
    b.csr.ip_plane_lsb = 3;
    const unsigned from = b.cycles;
    CHECK(b.configure(CfgTable::PeerPorts, 0, csr::TblPeerPorts{.mask = 1}) == 1 + 4 + 4 + 3 + 1);
    b.csr.ip_plane_lsb = 4;
    b.eprx.load({.op = 2});
    const unsigned before = b.drops;
    b.run(1 + 4 + 4 + 3);
    CHECK(b.drops == before);
    b.run(2);  // a visit may have its turn
    CHECK(b.drops == before + 1);
    CHECK(b.cycles > from);
  }
  SECTION("a change while the chains are made anew makes them once more") {
    for (unsigned at = 0; at < 16; ++at) {
      CAPTURE(at);
      b.csr.ip_plane_enable = true;
      b.csr.ip_plane_lsb = 0;
      b.run(at);
      b.csr.ip_plane_lsb = 64;
      b.run(30);
      CHECK(b.req(on(0, 1), 1) == Found{0, 0, 2});
      CHECK(b.req(on(1, 1), 1) == Found{1, 1, 2});
      CHECK(b.req(on(3, 0), 0) == Found{3, 2, 2});
      b.csr.ip_plane_enable = false;
      b.run(30);
      CHECK(b.req(on(1, 0), 1) == Found{1, 1, 2});
    }
  }
  SECTION("a look that is under way goes on by the rule by which it began") {
    b.lead(2, 3, address(1004));  // in the bucket of 1000, in front of it
    for (unsigned at = 0; at < 6; ++at) {
      CAPTURE(at);
      b.csr.ip_plane_enable = false;
      b.run(40);
      b.eprx.load({.op = 0, .plane = 1, .mask = 0b110, .sip = address(1000)});
      const unsigned rsps = b.rsps, drops = b.drops;
      b.run(at);
      b.csr.ip_plane_enable = true;
      b.run(40);
      const bool before = at > 2;  // in cycle 2 it has its turn, unless IP_PLANE is new by then
      CHECK(b.rsps - rsps == before);
      CHECK(b.drops - drops == !before);
    }
  }
  SECTION("nobody has an address") {
    for (const unsigned q : {0u, 1u, 2u}) b.forget(q);
    b.csr.ip_plane_enable = true;
    CHECK(b.configure(CfgTable::PeerPorts, 0, csr::TblPeerPorts{.mask = 1}) == 1 + 4 + 4 + 1);
    CHECK(b.req(on(0, 0)).dest == -1);
  }
}

TEST_CASE("a port that changes in any cycle of what a QP begins is told to all that are then to hear of it",
          "[endpoint][lists][port-loss]") {
  struct Move {
    unsigned qp, dest;
    QpState state;
    std::map<unsigned, unsigned> lends;  ///< afterwards: destination, lender
  };
  const std::vector<Move> moves{
      {0, 2, QpState::Init, {{1, 2}, {2, 0}}},          // alone, to a new one
      {0, 1, QpState::Init, {{1, 0}}},                  // alone, to an old one
      {2, 3, QpState::Init, {{0, 0}, {1, 1}, {3, 2}}},  // the lender of two
      {1, 3, QpState::Init, {{0, 0}, {1, 2}, {3, 1}}},  // the other one
      {3, 2, QpState::Init, {{0, 0}, {1, 2}, {2, 3}}},  // a new one
      {0, 0, QpState::Reset, {{1, 2}}},
      {2, 1, QpState::Reset, {{0, 0}, {1, 1}}},
  };
  for (const Move& m : moves) {
    for (unsigned at = 0; at < 10; ++at) {
      CAPTURE(m.qp, m.dest, at);
      Lists b;
      b.lead(0, 0);
      b.lead(1, 1);
      b.lead(2, 1);
      b.run_to_tick(2);
      b.csr.ep_interval = 1000;
      csr::TblQpCtx row{.dip = address(1000 + m.dest), .dest = static_cast<uint16_t>(m.dest), .state = m.state};
      b.cfg = {true, static_cast<uint8_t>(CfgTable::QpCtx), static_cast<uint16_t>(m.qp), {}};
      row.pack(b.cfg.data.data());
      b.run(at);
      b.up = 1;
      b.run(11);
      b.cfg.req = false;
      b.run(100);
      std::map<unsigned, unsigned> reported;
      for (const Ctlpkt& c : b.sent) reported[c.psn & 0xff] = c.qp;
      CHECK(reported == m.lends);
      CHECK(b.sent.size() == reported.size());  // each once
      b.run(3000);
      CHECK(b.sent.size() == reported.size());
    }
  }
}

/// What lists should say, by looking at everything: destinations in the order in which their addresses came, newest
/// first; per destination the QPs that lead there, in the order in which they will lend.
struct Plain {
  struct Qp {
    bool row = false, leads = false;
    unsigned dest = 0;
  };
  struct Dest {
    bool valid = false;
    U128 dip = 0;
    unsigned lender = 0;
    std::vector<unsigned> ring;
  };
  unsigned dest_mask;
  PlaneAddress rule;
  std::vector<Qp> qps;
  std::vector<Dest> dests;
  std::vector<unsigned> order;  ///< of addresses

  explicit Plain(const Preset& p) : dest_mask(p.num_dests - 1), qps(p.num_qps), dests(p.num_dests) {}

  unsigned bucket(U128 a) const { return address_fold(a, rule) & dest_mask; }
  /// How many addresses of its bucket stand up to a destination.
  unsigned place(unsigned dest) const {
    unsigned n = 0;
    for (const unsigned d : order) {
      if (bucket(dests[d].dip) != bucket(dests[dest].dip)) continue;
      ++n;
      if (d == dest) break;
    }
    return n;
  }
  /// Cycles of Unchain.
  unsigned out(unsigned dest) {
    const unsigned n = place(dest);
    std::erase(order, dest);
    return n;
  }
  /// Cycles of Leave and of what it begins.
  unsigned leave(unsigned q, bool keep) {
    if (!qps[q].row) return 0;
    const unsigned dest = qps[q].dest;
    Dest& d = dests[dest];
    const auto at = std::find(d.ring.begin(), d.ring.end(), q);
    if (d.ring.size() > 1 && at != d.ring.end()) {
      const auto next = at + 1 == d.ring.end() ? d.ring.begin() : at + 1;
      if (d.lender == q) d.lender = *next;
      d.ring.erase(at);
    } else if (d.valid && d.lender == q && !keep) {
      d.ring.clear();
      d.valid = false;
      return 1 + out(dest);
    } else if (at != d.ring.end()) {
      d.ring.clear();
    }
    return 1;
  }
  unsigned join(unsigned q, unsigned dest, U128 dip) {
    Dest& d = dests[dest];
    unsigned cycles = 1;
    if (std::find(d.ring.begin(), d.ring.end(), q) == d.ring.end()) {
      const auto at = std::find(d.ring.begin(), d.ring.end(), d.lender);
      if (at != d.ring.end()) ++cycles;
      d.ring.insert(at == d.ring.end() ? at : at + 1, q);
    }
    if (d.valid && at_plane(d.dip, 0, rule) != at_plane(dip, 0, rule)) {
      cycles += out(dest) + 1;
      order.insert(order.begin(), dest);
    } else if (!d.valid) {
      ++cycles;
      order.insert(order.begin(), dest);
    }
    d.valid = true;
    d.dip = dip;
    d.lender = q;
    return cycles;
  }
  unsigned lead(unsigned q, unsigned dest, U128 dip) {
    const unsigned cycles = qps[q].row && qps[q].dest != dest ? leave(q, false) : 0;
    qps[q] = {true, true, dest};
    return 1 + cycles + join(q, dest, dip);
  }
  unsigned forget(unsigned q) {
    const unsigned cycles = leave(q, false);
    qps[q].row = qps[q].leads = false;
    return 1 + cycles;
  }
  unsigned reset(unsigned q) {
    const unsigned cycles = leave(q, true);
    qps[q].leads = false;
    return 1 + cycles;
  }
  unsigned plane(const PlaneAddress& r) {
    if (r == rule) return 0;
    rule = r;
    std::sort(order.rbegin(), order.rend());
    return static_cast<unsigned>(1 + 2 * dests.size() + order.size());
  }
  Found req(U128 sip, unsigned plane) const {
    unsigned looked = 0;
    for (const unsigned d : order) {
      if (bucket(dests[d].dip) != bucket(sip)) continue;
      ++looked;
      if (at_plane(dests[d].dip, plane, rule) == sip) return {int(d), int(dests[d].lender), 1 + looked};
    }
    return {.cycles = 1 + looked};
  }
  /// A lender is one of those that lead there, while there is one; each stands in the ring of its destination alone.
  void check() const {
    std::vector<std::vector<unsigned>> lead(dests.size());
    for (unsigned q = 0; q < qps.size(); ++q) {
      if (qps[q].leads) lead[qps[q].dest].push_back(q);
    }
    for (unsigned d = 0; d < dests.size(); ++d) {
      std::vector<unsigned> ring = dests[d].ring;
      std::sort(ring.begin(), ring.end());
      REQUIRE(ring == lead[d]);
      if (ring.empty()) continue;
      REQUIRE(dests[d].valid);
      REQUIRE(std::binary_search(ring.begin(), ring.end(), dests[d].lender));
    }
  }
};

TEST_CASE("thousands of set-ups, moves and resets: addresses, lenders and cycles are those of a plain list",
          "[endpoint][lists][random]") {
  struct Size {
    const char* preset;
    unsigned qps, dests, steps;
  };
  for (const auto& [preset, qps, dests, steps] :
       {Size{"tiny", 4, 4, 3000}, {"asic800", 24, 8, 3000}, {"asic800", 256, 256, 1500}}) {
    CAPTURE(preset, qps);
    Lists b(preset);
    Plain plain(b.preset);
    Rng rng(qps, "endpoint lists");
    // Addresses: of one fold, of one NIC on its planes, of two NICs that differ in few bits.
    const auto draw = [&] {
      const auto n = static_cast<unsigned>(rng.below(dests));
      if (rng.chance(0.3)) return same_fold(n);
      return address(n) | static_cast<U128>(rng.below(3)) << 64;
    };
    for (unsigned step = 0; step < steps; ++step) {
      CAPTURE(step);
      const auto q = static_cast<unsigned>(rng.below(qps));
      const auto d = static_cast<unsigned>(rng.below(dests));
      const bool same = rng.chance(0.4) && plain.dests[d].valid;  // the address that the destination has
      const U128 dip = same ? plain.dests[d].dip : draw();
      const auto what = rng.below(100);
      unsigned costs = 0;
      if (what < 3) {
        b.csr.ip_plane_enable = rng.chance(0.6);
        b.csr.ip_plane_lsb = static_cast<uint8_t>(rng.chance(0.5) ? 64 : rng.below(128));
        costs = plain.plane({b.csr.ip_plane_enable, b.csr.ip_plane_lsb});
        b.run(costs);
      } else if (what < 60) {
        costs = plain.lead(q, d, dip);
        REQUIRE(b.lead(q, d, dip) == costs);
      } else if (what < 80) {
        costs = plain.reset(q);
        REQUIRE(b.reset(q) == costs);
      } else {
        costs = plain.forget(q);
        REQUIRE(b.forget(q) == costs);
      }
      plain.check();
      const auto requested = static_cast<unsigned>(rng.below(dests));
      const unsigned plane = static_cast<unsigned>(rng.below(b.preset.num_planes));
      const bool known = rng.chance(0.8) && plain.dests[requested].valid;
      const U128 sip = known ? at_plane(plain.dests[requested].dip, plane, plain.rule) : draw();
      REQUIRE(b.req(sip, plane) == plain.req(sip, plane));
    }
    // At the end all of them.
    for (const auto& dest : plain.dests) {
      const U128 sip = at_plane(dest.dip, 1, plain.rule);
      REQUIRE(b.req(sip, 1) == plain.req(sip, 1));
    }
  }
}

}  // namespace mrc::test::endpoint_lists_test
