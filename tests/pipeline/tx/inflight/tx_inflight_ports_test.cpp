// SPDX-License-Identifier: Apache-2.0
// What a port reports: by hand, tiny has 4 QPs and 2 planes; packet i is on plane i mod 2.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <numeric>
#include <set>
#include <vector>

#include "tests/pipeline/tx/inflight/tx_inflight_bench.hpp"

namespace mrc::test::tx_inflight_ports_test {

using namespace mrc::inflight_test;

namespace {

/// Cycles in which all has been looked at, and all that was lost has been ordered.
constexpr unsigned kAll = 3000;

/// Numbers of the packets that were ordered, from order `from` on.
std::vector<unsigned> ordered(const Bench& b, std::size_t from = 0) {
  std::vector<unsigned> all;
  for (std::size_t n = from; n < b.retx.size(); ++n) all.push_back(psn_dist(b.retx[n].psn, Bench::kPsn));
  std::sort(all.begin(), all.end());
  return all;
}
std::vector<unsigned> every(unsigned from, unsigned to, unsigned step) {
  std::vector<unsigned> all;
  for (unsigned i = from; i < to; i += step) all.push_back(i);
  return all;
}
uint32_t bytes(const Bench& b) {
  return std::accumulate(b.ccev.begin(), b.ccev.end(), 0u, [](uint32_t n, const Ccev& e) { return n + e.bytes; });
}
/// A peer's ports; false: the table write still waits after `cycles`, and is under way.
bool peer_ports(Bench& b, uint16_t dest, uint8_t mask, unsigned cycles = 4000) {
  csr::TblPeerPorts row;
  row.mask = mask;
  row.pack(b.cfg.data.data());
  b.cfg.table = static_cast<uint8_t>(CfgTable::PeerPorts);
  b.cfg.index = dest;
  b.cfg.req = true;
  for (unsigned i = 0; i < cycles && !b.inflight.cfg_ack(); ++i) b.cycle();
  if (!b.inflight.cfg_ack()) return false;
  b.cfg.req = false;
  b.cycle();
  return true;
}

}  // namespace

TEST_CASE("tx_inflight: what was given to a plane that fell is lost at once, without congestion, and the QP asks",
          "[pipeline][tx_inflight][port-loss][A-82]") {
  const bool cc = GENERATE(false, true);
  Bench b(cc);
  b.sent_all(1, 20);
  b.run(200);  // a visit has armed the timer
  b.port_up = 0b01;
  b.run(kAll);
  CHECK(ordered(b) == every(1, 20, 2));
  CHECK(b.rtx_inc == 10);
  CHECK(b.fb.empty());  // no EV is to blame
  CHECK(b.rto_inc == 0);
  REQUIRE(b.stateq.size() == 1);
  CHECK(b.stateq[0].qp == 1);
  CHECK(b.state_inc == 1);
  if (!cc) {
    CHECK(b.ccev.empty());
    return;
  }
  // The newest block first: PSNs 17 and 19; then 1, 3 and so on to 15. All of them ask for their way back.
  REQUIRE(b.ccev.size() == 2);
  CHECK(b.ccev[0] == Ccev{.cc = 2, .kind = CcEvent::Nack, .bytes = 2 * 340});
  CHECK(b.ccev[1] == Ccev{.cc = 2, .kind = CcEvent::Nack, .bytes = 8 * 340});
  CHECK(b.granted.size() == 10);
}

TEST_CASE("tx_inflight: a look takes a visit, four cycles, and one per packet that is out",
          "[pipeline][tx_inflight][port-loss][A-82]") {
  Bench b(true);
  b.sent_all(1, 20);
  b.run(200);
  b.sack(1, 2, 17, 17, 0b10, 1);  // 18 has arrived
  while (b.cycles % 16 != 0) b.cycle();
  b.ccev.clear();
  const unsigned t = b.cycles;
  b.port_up = 0b01;
  while (b.stateq.empty()) b.cycle();
  const unsigned queries = b.cycles - 1;  // taken in that cycle
  while (b.ccev.empty()) b.cycle();
  const unsigned notified = b.cycles - 1;
  // soon is 63 after cycle t, 0 after t+63. A visit from t+64 on, one in four cycles; the grant; Seek of QP 1, which
  // asks: loaded two cycles before somebody takes it.
  CHECK(queries >= t + 66 + 2);
  CHECK(queries <= t + 70 + 2);
  // Seek; Port0, Port1, PSNs 16, 17 and 19, Port3.
  CHECK(notified == queries + 6);
  CHECK(b.ccev[0].bytes == 2 * 340);
}

TEST_CASE("tx_inflight: a port that falls while QPs are looked at has all looked at again",
          "[pipeline][tx_inflight][port-loss][A-82]") {
  const unsigned later = GENERATE(range(1u, 140u, 3u));
  CAPTURE(later);
  Bench b;
  b.sent_all(1, 40);
  b.sent_all(2, 3);
  b.run(200);
  b.port_up = 0b01;
  b.run(later);
  b.port_up = 0b00;
  b.run(kAll);
  CHECK(b.retx.size() == 43);  // each once: what was ordered before waits for its lane
  std::set<std::pair<unsigned, uint32_t>> once;
  for (const Retx& r : b.retx) once.insert({r.qp, r.psn});
  CHECK(once.size() == 43);
  CHECK(b.stateq.size() >= 2);
  CHECK(b.stateq.size() <= 5);
}

TEST_CASE("tx_inflight: a port that falls while QPs are looked at waits for what is on its way, too",
          "[pipeline][tx_inflight][port-loss][A-82]") {
  const unsigned later = GENERATE(range(56u, 90u));
  CAPTURE(later);
  Bench b;
  b.sent_all(1, 4);
  b.run(200);
  b.port_up = 0b01;
  b.run(later);
  b.port_up = 0b00;
  b.run(30);
  for (uint16_t q = 0; q < 4; ++q) {
    if (q != 1) b.sent(q, 0);
  }
  b.run(kAll);
  for (unsigned q = 0; q < 4; ++q) {
    CAPTURE(q);
    CHECK(std::count_if(b.retx.begin(), b.retx.end(), [q](const Retx& r) { return r.qp == q; }) == (q == 1 ? 4 : 1));
  }
}

TEST_CASE("tx_inflight: a port that is up again by its turn loses nothing, and the QP asks",
          "[pipeline][tx_inflight][port-loss][A-82]") {
  Bench b;
  b.sent_all(1, 20);
  b.run(200);
  b.port_up = 0b01;
  b.run(40);
  b.port_up = 0b11;
  b.run(kAll);
  CHECK(b.retx.empty());
  CHECK(b.stateq.size() == 1);
  b.run(kAll);
  CHECK(b.stateq.size() == 1);  // once
}

TEST_CASE("tx_inflight: what is reported between two looks at a QP is not lost",
          "[pipeline][tx_inflight][port-loss][A-82]") {
  const unsigned later = GENERATE(range(50u, 200u, 7u));
  const bool all = GENERATE(false, true);
  CAPTURE(later, all);
  Bench b(true);
  b.sent_all(1, 40);
  b.run(200);
  b.refuse = 0xf;  // nothing goes again until this is 0
  b.port_up = 0b01;
  b.run(later);
  Ctl c = all ? Bench::sack_of(1, 40, 39, 40, 0, 0) : Bench::sack_of(1, 34, 33, 34, 0, 0);
  c.rcvd = all ? 54 : 46;  // 13 600 and 11 560 bytes, rounded up
  b.give(c);
  b.run(kAll);
  b.refuse = 0;
  b.run(kAll);
  CHECK(ordered(b) == (all ? std::vector<unsigned>{} : every(35, 40, 2)));
  // Each byte leaves the flight once; three packets have entered it again, three have never left it.
  const uint32_t back = static_cast<uint32_t>(b.granted.size()) * 340;
  if (all) CHECK(bytes(b) == 40 * 340 + back);
  CHECK(b.granted.size() == (all ? 0 : 3));
}

TEST_CASE("tx_inflight: a QP that ends or is set up anew while it is looked at",
          "[pipeline][tx_inflight][port-loss][A-82]") {
  const bool anew = GENERATE(false, true);
  CAPTURE(anew);
  Bench b;
  b.take_stateq = false;  // three QPs can ask; then nobody is looked at, and the third one has been begun
  for (uint16_t q = 0; q < 4; ++q) b.sent_all(q, 40);
  b.run(200);
  b.port_up = 0b01;
  b.run(kAll);
  CHECK(b.state_inc == 3);
  const auto of = [&](unsigned q) {
    return std::count_if(b.retx.begin(), b.retx.end(), [q](const Retx& r) { return r.qp == q; });
  };
  uint16_t third = 0, last = 0;
  for (uint16_t q = 0; q < 4; ++q) {
    if (of(q) == 4) third = q;  // PSNs 32 to 39
    if (of(q) == 0) last = q;
  }
  CHECK(b.retx.size() == 20 + 20 + 4 + 0);
  REQUIRE(third != last);
  if (anew) {
    b.ctx.sq_psn = psn_add(Bench::kPsn, 1 << 20);
    b.configure(third);
    b.take_stateq = true;  // its window is far from where the look was
    b.run(kAll);
    CHECK(of(third) == 4);
  } else {
    b.set_state(third, QpState::Error);
    b.take_stateq = true;
    b.run(kAll);
    CHECK(of(third) == 4);
  }
  CHECK(of(last) == 20);
  // All is over: the next one is looked at.
  CHECK(peer_ports(b, static_cast<uint16_t>(3 - last), 0b10));
  b.run(kAll);
  CHECK(of(last) == 40);
}

TEST_CASE("tx_inflight: who becomes busy or leaves while QPs are looked at",
          "[pipeline][tx_inflight][port-loss][A-82]") {
  const auto acked = [](QpIndex qp) {
    Ctl a;
    a.kind = CtlKind::Ack;
    a.qp = qp;
    a.psn = psn_add(Bench::kPsn, 9);
    a.msn = 11;
    a.reason = 0x1f;
    return a;
  };
  const auto of = [](const Bench& b, unsigned q) {
    return std::count_if(b.retx.begin(), b.retx.end(), [q](const Retx& r) { return r.qp == q; });
  };
  SECTION("who leaves before its turn is not waited for") {
    const unsigned later = GENERATE(range(1u, 150u));
    CAPTURE(later);
    Bench b;
    b.sent_all(1, 40);
    for (const uint16_t q : {0, 2, 3}) b.sent_all(q, 10);
    b.run(200);
    CHECK(peer_ports(b, 2, 0b01, 4));  // the peer of QP 1
    b.run(later);
    b.ctl.load(acked(0));
    b.cycle();
    if (later % 2 != 0) {
      b.ctl.load(acked(3));
      b.cycle();
    }
    CHECK(peer_ports(b, 3, 0b10, 600));  // another one's: the first one's are done
    b.run(kAll);
    CHECK(of(b, 1) == 20);
    CHECK(b.retx.size() == 20);
    CHECK(peer_ports(b, 1, 0b10, 200));  // the peer of QP 2
    b.run(kAll);
    CHECK(of(b, 2) == 5);
  }
  SECTION("who comes is looked at, unless it has been") {
    Bench b(false, 8);
    b.take_stateq = false;  // three QPs can ask; then the fourth waits
    for (const uint16_t q : {1, 2, 3, 4}) {
      b.configure(q);
      b.sent_all(q, 10);
    }
    b.run(200);
    b.port_up = 0b01;
    b.run(1000);
    CHECK(b.state_inc == 3);
    CHECK(b.retx.size() == 15);
    const uint16_t one = b.retx[0].qp;  // it has been looked at
    REQUIRE(of(b, one) == 5);
    b.ctl.load(acked(one));
    b.run(100);
    CHECK(b.inflight.watched().size() == 3);
    b.sent(one, 10);
    b.sent(one, 11);  // on the plane that is down, as if it were given there before
    b.sent(0, 0);
    b.sent(0, 1);
    b.run(100);
    CHECK(b.inflight.watched().size() == 5);
    CHECK(of(b, 0) == 0);
    b.take_stateq = true;
    b.run(kAll);
    CHECK(of(b, 0) == 1);
    for (const unsigned q : {1u, 2u, 3u, 4u}) CHECK(of(b, q) == 5);
    b.port_up = 0b11;
    b.run(100);
    b.port_up = 0b10;  // the other plane: all are looked at
    b.run(kAll);
    CHECK(of(b, 0) == 2);
    for (const unsigned q : {1u, 2u, 3u, 4u}) CHECK(of(b, q) == (q == one ? 6 : 10));
  }
  SECTION("who leaves and comes before its turn is looked at once") {
    const unsigned later = GENERATE(range(1u, 120u, 3u));
    const unsigned pause = GENERATE(1u, 5u, 20u, 60u);
    CAPTURE(later, pause);
    Bench b;
    b.sent_all(1, 40);
    b.sent_all(0, 10);
    b.run(200);
    b.port_up = 0b01;
    b.run(later);
    b.ctl.load(acked(0));
    b.run(pause);
    b.sent(0, 10);
    b.run(kAll);
    CHECK(of(b, 1) == 20);
    CHECK(b.stateq.size() >= 1);  // it may have been away when all were looked at
    CHECK(b.stateq.size() <= 3);
    CHECK(peer_ports(b, 3, 0b10, 4));  // all is over: this one need not wait
    CHECK(peer_ports(b, 2, 0b10));
    b.run(kAll);
    CHECK(of(b, 1) == 40);
    CHECK(std::count_if(b.retx.begin(), b.retx.end(),
                        [](const Retx& r) { return r.qp == 0 && r.psn == psn_add(Bench::kPsn, 10); }) == 1);
  }
}

TEST_CASE("tx_inflight: a port that falls costs the QPs that are busy, not the others",
          "[pipeline][tx_inflight][port-loss][A-82]") {
  constexpr unsigned kQps = 64;
  Bench b(false, kQps);
  for (uint16_t q = 4; q < kQps; ++q) b.configure(q);
  CHECK(peer_ports(b, 2, 0b01, 4));
  CHECK(peer_ports(b, 3, 0b01, 70));  // nobody is busy: the 64 cycles alone
  b.run(70);
  for (uint16_t q = 0; q < kQps; ++q) {
    b.sent(q, 0);
    b.sent(q, 1);
  }
  b.run(8);
  b.take_retx = false;  // no order is in the way
  b.port_up = 0b01;
  b.run(64);
  CHECK(b.stateq.empty());
  b.run(kQps * (4 + 6 + 4));  // a visit, a turn of a PSN or two, and who comes by meanwhile
  CHECK(b.stateq.size() == kQps);
  std::set<unsigned> asked;
  for (const Stateq& s : b.stateq) asked.insert(s.qp);
  CHECK(asked.size() == kQps);
}

TEST_CASE("tx_inflight: 64 cycles after a port fell the packets on their way to the window are there",
          "[pipeline][tx_inflight][port-loss][A-82]") {
  const auto after = [](unsigned cycles) {
    Bench b;
    b.run(200);
    b.port_up = 0b01;
    b.run(cycles);
    b.sent(1, 0);
    Rec r = Bench::packet(1, 1);
    b.give(r);
    b.run(kAll);
    return ordered(b);
  };
  for (unsigned k = 0; k <= 56; k += 8) {
    CAPTURE(k);
    CHECK(after(k) == std::vector<unsigned>{1});
  }
  CHECK(after(80).empty());  // gap, EV and timer
}

TEST_CASE("tx_inflight: what waits for a lane is not lost, but for a second copy",
          "[pipeline][tx_inflight][port-loss][A-82]") {
  Bench b;
  b.sent_all(1, 6);
  b.run(200);
  b.nack(1, 3, 0);
  REQUIRE(ordered(b) == std::vector<unsigned>{3});  // chosen: its record is that of before
  SECTION("the first") {
    b.port_up = 0b01;
    b.run(kAll);
    CHECK(ordered(b) == std::vector<unsigned>{1, 3, 5});
  }
  SECTION("the first, sent again on the plane that falls") {
    b.resent(0, 9);
    b.port_up = 0b01;
    b.run(kAll);
    CHECK(ordered(b) == std::vector<unsigned>{1, 3, 3, 5});
  }
  SECTION("sent again on the other plane") {
    b.resent(0, 8);
    b.port_up = 0b01;
    b.run(kAll);
    CHECK(ordered(b) == std::vector<unsigned>{1, 3, 5});
  }
  SECTION("a second one") {
    b.resent(0, 9);
    b.nack(1, 3, 0);
    REQUIRE(ordered(b) == std::vector<unsigned>{3, 3});
    b.port_up = 0b01;
    b.run(kAll);
    CHECK(ordered(b) == std::vector<unsigned>{1, 3, 3, 3, 5});
  }
}

TEST_CASE("tx_inflight: a second peer's ports wait until the first one's are done",
          "[pipeline][tx_inflight][port-loss][A-82]") {
  Bench b;
  for (uint16_t q = 0; q < 4; ++q) b.sent_all(q, 20);
  b.run(200);
  const auto of = [&](unsigned q) {
    return std::count_if(b.retx.begin(), b.retx.end(), [q](const Retx& r) { return r.qp == q; });
  };
  CHECK(peer_ports(b, 2, 0b01, 4));         // the peer of QP 1: plane 1 is down
  CHECK(peer_ports(b, 0, 0b11, 4));         // all are up: nothing to do, so nothing to wait for
  CHECK_FALSE(peer_ports(b, 3, 0b10, 60));  // the peer of QP 0
  CHECK(b.retx.empty());
  CHECK(peer_ports(b, 3, 0b10));
  CHECK(of(1) > 0);  // the first one is done, its orders perhaps are not
  b.run(kAll);
  CHECK(of(0) == 10);
  CHECK(of(1) == 10);
  CHECK(of(2) == 0);
  CHECK(of(3) == 0);
  std::vector<unsigned> queries;
  for (const Stateq& s : b.stateq) queries.push_back(s.qp);
  CHECK(queries == std::vector<unsigned>{1, 0});  // those who send there
  for (const Retx& r : b.retx) CHECK(psn_dist(r.psn, Bench::kPsn) % 2 == r.qp);
}

TEST_CASE("tx_inflight: of nobody who is not meant a peer's ports tell, nor of what had no path",
          "[pipeline][tx_inflight][port-loss][A-82]") {
  Bench b;
  b.sent_all(1, 2);
  Rec r = Bench::packet(1, 2);
  r.ev_idx = 0xffff;
  b.give(r);
  b.run(200);
  CHECK(peer_ports(b, 1, 0b00));  // the peer of QP 2, which has sent nothing
  b.run(kAll);
  CHECK(b.retx.empty());
  CHECK(b.stateq.empty());
  CHECK(peer_ports(b, 2, 0b00));
  b.run(kAll);
  CHECK(ordered(b) == std::vector<unsigned>{0, 1});  // but not 2
}

TEST_CASE("tx_inflight: a QP whose ACK alone is missing asks when a port falls; one with nothing open does not",
          "[pipeline][tx_inflight][port-loss][A-82]") {
  Bench b;
  const bool silent = GENERATE(false, true);
  b.csr.state_silent = silent;
  b.sent_all(1, 10);
  b.sack(1, 10, 9, 10, 0, 0);
  b.sent_all(2, 10);
  b.sack(2, 10, 9, 10, 0, 0);
  Ctl a;
  a.kind = CtlKind::Ack;
  a.qp = 2;
  a.psn = psn_add(Bench::kPsn, 9);
  a.msn = 11;
  a.reason = 0x1f;
  b.give(a);
  b.port_up = 0b10;
  b.run(kAll);
  REQUIRE(b.stateq.size() == (silent ? 0 : 1));
  if (!silent) CHECK(b.stateq[0].qp == 1);
  CHECK(b.retx.empty());
}

TEST_CASE("tx_inflight: with CTRL.port_wait ports tell nothing", "[pipeline][tx_inflight][port-loss][A-82]") {
  Bench b;
  b.csr.port_wait = true;
  for (uint16_t q = 0; q < 4; ++q) b.sent_all(q, 20);
  b.run(200);
  b.port_up = 0;
  CHECK(peer_ports(b, 2, 0b01, 2));
  CHECK(peer_ports(b, 3, 0b01, 2));
  b.run(kAll);
  CHECK(b.retx.empty());
  CHECK(b.stateq.empty());
  b.csr.port_wait = false;  // nor later: the ports are what they were
  b.run(kAll);
  CHECK(b.retx.empty());
  CHECK(b.stateq.empty());
}

}  // namespace mrc::test::tx_inflight_ports_test
