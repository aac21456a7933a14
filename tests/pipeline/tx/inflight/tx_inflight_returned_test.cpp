// SPDX-License-Identifier: Apache-2.0
// Packets that a switch has sent back.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <set>
#include <vector>

#include "tests/pipeline/tx/inflight/tx_inflight_bench.hpp"

namespace mrc::test::tx_inflight_returned_test {

using namespace mrc::inflight_test;

namespace {

/// Packet i of the QP came back.
Ctl returned(QpIndex qp, unsigned i, bool rtx = false) {
  Ctl c;
  c.kind = CtlKind::Returned;
  c.qp = qp;
  c.psn = psn_add(Bench::kPsn, i);
  c.m = rtx ? 1 : 0;
  c.entropy = 0x1234;
  return c;
}

}  // namespace

TEST_CASE("tx_inflight: a packet that came back is a loss at once, and only if it is the one that is out",
          "[pipeline][tx_inflight]") {
  const bool cc = GENERATE(false, true);
  CAPTURE(cc);
  Bench b(cc);
  b.sent_all(1, 40);
  const std::size_t events = b.ccev.size();
  b.give(returned(1, 7));
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].lost);
  CHECK(b.retx[0].two);
  b.retx[0].lost = b.retx[0].two = false;
  CHECK(b.retx[0] == order_of(Bench::packet(1, 7)));
  REQUIRE(b.fb.size() == 1);  // its EV is to blame: the way to that switch is broken
  CHECK(b.fb[0] == Fb{.qp = 1, .ev_idx = 7, .entropy = 0, .kind = FbKind::Loss});
  REQUIRE(b.ccev.size() == events + (cc ? 1 : 0));
  if (cc) CHECK((b.ccev.back().kind == CcEvent::Loss && b.ccev.back().bytes == Bench::kSize));
  CHECK(b.upd.empty());
  CHECK(b.okev.empty());
  b.resent(0, 11);
  const auto nothing = [&](const Ctl& c) {
    b.give(c);
    CHECK(b.retx.size() == 1);
    CHECK(b.fb.size() == 1);
    CHECK(b.ccev.size() == events + (cc ? 1 : 0));
  };
  nothing(returned(1, 7));  // a copy of before it was sent again
  nothing(returned(1, 8, true));
  nothing(returned(1, 40));        // not sent
  nothing(returned(2, 7));         // nor of this QP
  nothing(returned(1, 0x800000));  // far away
  b.give(returned(1, 7, true));    // the one that is out
  REQUIRE(b.retx.size() == 2);
  CHECK(b.retx[1].psn == psn_add(Bench::kPsn, 7));
  CHECK(b.retx[1].avoid_ev == 11);
  REQUIRE(b.fb.size() == 2);
  CHECK(b.fb[1].ev_idx == 11);
}

TEST_CASE("tx_inflight: a packet that came back and has arrived, or waits already, changes nothing",
          "[pipeline][tx_inflight]") {
  Bench b(true);
  b.sent_all(1, 40);
  b.sack(1, 3, 5, 3, 0b100, 1);  // 5 has arrived, 3 and 4 have not
  const std::size_t events = b.ccev.size();
  b.give(returned(1, 5));
  b.give(returned(1, 2));  // acknowledged
  CHECK(b.retx.empty());
  CHECK(b.ccev.size() == events);
  b.refuse = 1u << 2;  // destination of QP 1
  b.give(returned(1, 4));
  b.run(60);
  CHECK(b.retx.empty());
  REQUIRE(b.fb.size() == 1);
  REQUIRE(b.ccev.size() == events + 1);
  b.give(returned(1, 4));  // it waits for its controller
  b.nack(1, 4, 1);         // and nobody is told again by a NACK that is late
  CHECK(b.ccev.size() == events + 1);
  b.refuse = 0;
  b.run(60);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].psn == psn_add(Bench::kPsn, 4));
}

TEST_CASE("tx_inflight: the earliest of the packets that came back goes first, and none of them is a retry",
          "[pipeline][tx_inflight][retry]") {
  Bench b;
  b.retries(0, 0, 20);  // one retry is one too many
  b.take_retx = false;
  b.sent_all(0, 40);
  for (const unsigned i : {20u, 30u, 0u, 10u}) b.give(returned(0, i));
  b.take_retx = true;
  b.run(60);
  REQUIRE(b.retx.size() == 4);
  std::vector<uint32_t> psns;
  for (const Retx& r : b.retx) psns.push_back(r.psn);
  for (const unsigned i : {0u, 10u, 20u, 30u}) {
    CHECK(std::count(psns.begin(), psns.end(), psn_add(Bench::kPsn, i)) == 1);
  }
  CHECK(b.fail_inc == 0);
  CHECK(b.qperr.empty());
}

TEST_CASE("tx_inflight: a QP that is over does not hear of what came back", "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(1, 20);
  b.set_state(1, QpState::Error);
  b.give(returned(1, 7));
  CHECK(b.retx.empty());
  CHECK(b.fb.empty());
}

TEST_CASE("tx_inflight: a packet that came back takes three cycles", "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(1, 20);
  std::vector<unsigned> done;
  for (unsigned i = 0; i < 200; ++i) {
    if (b.ctl.free()) b.ctl.load(returned(1, i % 20, true));  // none of them is out
    b.cycle();
    if (b.inflight.ctl_done()) done.push_back(b.cycles);
  }
  CHECK(b.retx.empty());
  std::set<unsigned> gaps;
  for (std::size_t i = 1; i < done.size(); ++i) gaps.insert(done[i] - done[i - 1]);
  CHECK(gaps == std::set<unsigned>{3 + 1});  // a visit is due every four cycles
}

TEST_CASE("tx_inflight: a packet that comes back before it is sent touches nobody's block", "[pipeline][tx_inflight]") {
  const int ahead = GENERATE(range(-4, 5));
  const unsigned phase = GENERATE(range(0u, 4u));
  CAPTURE(ahead, phase);
  Bench b;
  // QP 0 has had the blocks 0 to 7 and keeps the last; QP 1 has 0 now, where the map of QP 0 still points.
  b.sent_all(0, 128);
  Ctl ack;
  ack.kind = CtlKind::Ack;
  ack.psn = psn_add(Bench::kPsn, 127);
  ack.msn = 22;
  ack.reason = 0x1f;
  b.give(ack);
  b.sent_all(1, 16);
  b.run(phase);
  for (int i = 0; i < 12; ++i) {
    if (i == 4) b.rec.load(Bench::packet(0, 128));
    if (i == 4 + ahead) b.ctl.load(returned(0, 128));
    b.cycle();
  }
  b.run(40);
  b.retx.clear();
  b.give(returned(1, 0));
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].qp == 1);
  CHECK(b.retx[0].psn == Bench::kPsn);
}

}  // namespace mrc::test::tx_inflight_returned_test
