// SPDX-License-Identifier: Apache-2.0
// WRITEs with immediate: how many of a QP may be on their way, and what becomes of the next one.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <initializer_list>
#include <vector>

#include "tests/pipeline/tx/segment/tx_segment_bench.hpp"

namespace mrc::test::tx_segment_wimm_test {

using namespace mrc::test::tx_segment;

namespace {

constexpr bool kImm = true;

/// QP 1 may have so many immediates on their way; its PSNs begin with 0x100, its MSNs with 0, its RQMSNs with 5.
struct Limited : Bench {
  Limited(uint8_t max_wimm, WimmOver over, const Preset& p = roomy()) : Bench(4, 0x100, 0, p) {
    csr.wimm_over = over;
    csr::TblQpCtx r = row(1, 0x100, 0);
    r.max_wimm = max_wimm;
    configure(1, r);
  }
};

/// The peer has all of QP 1 before this PSN, and the messages before this MSN.
Upd acknowledged(uint32_t psn, uint16_t msn) {
  return {.qp = 1, .una = 0x100 + psn, .ack = true, .msn = msn, .syndrome = 0x1f, .mpr = 0};
}

/// QP 1 has one immediate on its way, the next one is held, and 38 messages stand behind it.
struct Held : Limited {
  Held() : Limited(1, WimmOver::Wait, deep()) {
    post(1, 100, 20, kImm);
    post(1, 100, 21, kImm);
    for (uint32_t i = 2; i < 40; ++i) post(1, 100, 20 + i, i % 8 == 7);
    run(60);
    REQUIRE(sent_by(1) == 1);
  }
  static Preset deep() {
    Preset p = roomy();
    p.wqe_depth = 64;
    p.num_wqes = 128;
    return p;
  }
  void all_flushed(std::size_t from) {
    REQUIRE(cqes.size() == 40);
    for (std::size_t i = from; i < 40; ++i) {
      expect(i, 1, CqStatus::Flushed, static_cast<uint32_t>(20 + i), 100, static_cast<uint16_t>(i));
    }
    CHECK(sent_by(1) == 1);
  }
  /// Set up anew it does all that a QP does.
  void again() {
    csr::TblQpCtx r = row(1, 0x100, 0);
    r.max_wimm = 1;
    configure(1, r);
    pkts.clear();
    cqes.clear();
    post(1, 100, 80, kImm);
    post(1, 100, 81, kImm);
    run(40);
    REQUIRE(sent_by(1) == 1);
    CHECK((pkts[0].psn == 0x100 && pkts[0].msn == 0 && pkts[0].rqmsn == 5));
    update(acknowledged(1, 1));
    CHECK(sent_by(1) == 2);
    update(acknowledged(2, 2));
    CHECK(cqes.size() == 2);
  }
};

}  // namespace

TEST_CASE("tx_segment: one WRITE with immediate more than max_wimm waits, with what is behind it, and no other QP does",
          "[pipeline][tx_segment][wimm]") {
  Limited b(2, WimmOver::Wait);
  b.post(1, 100, 20, kImm);
  b.post(1, 100, 21);  // without immediate: does not count
  b.post(1, 600, 22, kImm);
  b.post(1, 600, 23, kImm);  // waits
  b.post(1, 100, 24);        // behind it
  b.post(1, 100, 25, kImm);
  b.post(0, 100, 30, kImm);
  b.run(60);
  CHECK(b.wqe.count() == 0);  // nothing holds the host's queue
  CHECK(b.cqes.empty());
  CHECK(b.sent_by(0) == 1);
  REQUIRE(b.sent_by(1) == 5);
  b.run(500);
  CHECK(b.sent_by(1) == 5);
  b.update({.qp = 1, .una = 0x101, .ack = false, .msn = 0, .syndrome = 0, .mpr = 0});  // a SACK lets nobody go
  CHECK(b.sent_by(1) == 5);
  b.update(acknowledged(1, 1));  // 20
  CHECK(b.sent_by(1) == 5 + 3 + 1);
  b.update(acknowledged(2, 2));  // 21 gives nothing back
  CHECK(b.sent_by(1) == 9);
  b.update(acknowledged(5, 3));  // 22
  REQUIRE(b.sent_by(1) == 10);
  b.update(acknowledged(10, 6));
  REQUIRE(b.cqes.size() == 6);
  uint32_t psn = 0x100;
  std::vector<uint16_t> rqmsns;
  for (const Pkt& p : b.pkts) {
    if (p.qp != 1) continue;
    CHECK(p.psn == psn++);
    if (p.last) rqmsns.push_back(p.rqmsn);
  }
  CHECK(rqmsns == std::vector<uint16_t>{5, 0, 6, 7, 0, 8});
  for (uint32_t i = 0; i < 6; ++i) CHECK((b.cqes[i].status == CqStatus::Ok && b.cqes[i].wr_id == 20 + i));
  CHECK(b.qperrs.empty());
}

TEST_CASE("tx_segment: a QP that waits for an immediate to complete gives its controller's grant back",
          "[pipeline][tx_segment][wimm][cc]") {
  Bench b(4, 0x100, 0);
  csr::TblQpCtx r = Bench::row(1, 0x100, 0);
  r.max_wimm = 1;
  r.cc = true;
  r.dest = 2;
  b.configure(1, r);
  b.grant_packets(2, 100);
  b.post(1, 256 * 3, 20, kImm);
  b.post(1, 256 * 3, 21, kImm);
  b.run(80);
  CHECK(b.sent_by(1) == 3);
  uint32_t granted = 0, returned = 0, sent = 0;
  const auto account = [&] {
    granted = returned = sent = 0;
    for (const uint16_t g : b.granted) granted += g;
    for (const Ccret& c : b.rets) returned += c.bytes;
    for (const Pkt& p : b.pkts) sent += p.size;
  };
  account();
  CHECK(returned != 0);
  CHECK(granted == returned + sent);
  const std::size_t requests = b.requests.size();
  b.run(200);
  CHECK(b.requests.size() == requests);  // and asks for no other
  b.update(acknowledged(3, 1));
  b.run(40);
  CHECK(b.sent_by(1) == 6);
  account();
  CHECK(granted == returned + sent);
}

TEST_CASE("tx_segment: one WRITE with immediate more than max_wimm is refused, and the QP goes on",
          "[pipeline][tx_segment][wimm]") {
  Limited b(2, WimmOver::Refuse);
  b.csr.zero_length = ZeroLength::Nak;
  b.post(1, 100, 20, kImm);
  b.post(1, 100, 21);  // without immediate: does not count
  b.post(1, 100, 22, kImm);
  b.run(30);
  CHECK(b.pkts.size() == 3);
  b.update(acknowledged(1, 1));  // the first is complete
  REQUIRE(b.cqes.size() == 1);
  b.post(1, 100, 23, kImm);
  b.run(20);
  CHECK(b.pkts.size() == 4);
  CHECK(b.pkts[3].rqmsn == 7);
  b.update(acknowledged(2, 2));  // 21: gives nothing back
  REQUIRE(b.cqes.size() == 2);
  b.post(1, 0, 24, kImm);  // a wrong length comes first
  b.run(10);
  REQUIRE(b.cqes.size() == 3);
  b.expect(2, 1, CqStatus::LocLength, 24, 0, 0);
  b.pkts.clear();
  b.post(1, 100, 25, kImm);  // the third
  b.post(1, 100, 26);
  b.run(30);
  REQUIRE(b.cqes.size() == 4);
  b.expect(3, 1, CqStatus::WimmOverrun, 25, 0, 0);
  REQUIRE(b.pkts.size() == 1);  // 26 takes the MSN after 23's: 25 has none, and no RQMSN
  CHECK(b.pkts[0].msn == 4);
  b.update(acknowledged(5, 5));
  b.run(10);
  REQUIRE(b.cqes.size() == 7);
  b.expect(4, 1, CqStatus::Ok, 22, 100, 2);
  b.expect(5, 1, CqStatus::Ok, 23, 100, 3);
  b.expect(6, 1, CqStatus::Ok, 26, 100, 4);
  b.post(1, 100, 30, kImm);  // both are free again
  b.post(1, 100, 31, kImm);
  b.run(30);
  REQUIRE(b.pkts.size() == 3);
  CHECK(b.pkts[1].rqmsn == 8);
  CHECK(b.pkts[2].rqmsn == 9);
  CHECK(b.qperrs.empty());
}

TEST_CASE("tx_segment: one WRITE with immediate more than max_wimm ends the QP if software says so",
          "[pipeline][tx_segment][wimm]") {
  for (const unsigned mode : {2u, 3u}) {
    CAPTURE(mode);
    Limited b(1, static_cast<WimmOver>(mode));
    b.post(1, 100, 20, kImm);
    b.post(1, 100, 21, kImm);  // one too many
    b.run(30);
    CHECK(b.sent_by(1) == 1);
    REQUIRE(b.cqes.size() == 1);
    b.expect(0, 1, CqStatus::WimmOverrun, 21, 0, 0);
    REQUIRE(b.qperrs.size() == 1);
    CHECK(b.qperrs[0] == Qperr{.qp = 1, .status = CqStatus::WimmOverrun});
    // Until csr has put the QP into ERROR. What finds no room in qperr waits, and loses nothing.
    b.take_qperr = false;
    for (uint32_t i = 0; i < 6; ++i) b.queue.push_back(Bench::work(1, 100, 30 + i, kImm));
    b.run(50);
    CHECK(b.cqes.size() == 1 + 3);  // the register and its FIFO of two
    CHECK(b.wqe.count() == 2);
    b.take_qperr = true;
    b.run(50);
    REQUIRE(b.cqes.size() == 1 + 6);
    for (uint32_t i = 0; i < 6; ++i) b.expect(1 + i, 1, CqStatus::WimmOverrun, 30 + i, 0, 0);
    CHECK(b.qperrs.size() == 7);
    b.set_state(1, QpState::Error);
    b.post(1, 100, 40, kImm);
    b.run(30);
    REQUIRE(b.cqes.size() == 9);
    b.expect(7, 1, CqStatus::Flushed, 20, 100, 0);
    b.expect(8, 1, CqStatus::Flushed, 40, 0, 0);
    CHECK(b.qperrs.size() == 7);
    b.post(0, 100, 50, kImm);  // other QPs
    b.run(20);
    CHECK(b.sent_by(0) == 1);
  }
}

TEST_CASE("tx_segment: with max_wimm 0 every WRITE with immediate is refused", "[pipeline][tx_segment][wimm]") {
  for (const unsigned mode : {0u, 1u, 2u}) {
    CAPTURE(mode);
    Limited b(0, static_cast<WimmOver>(mode));
    b.post(1, 100, 20, kImm);
    b.post(1, 100, 21);
    b.post(1, 0, 22, kImm);
    b.run(30);
    REQUIRE(b.cqes.size() == 2);
    b.expect(0, 1, CqStatus::WimmOverrun, 20, 0, 0);
    b.expect(1, 1, CqStatus::WimmOverrun, 22, 0, 0);
    CHECK(b.pkts.size() == 1);
    CHECK(b.qperrs.size() == (mode == 2 ? 2 : 0));
  }
}

TEST_CASE("tx_segment: an immediate that completes while the next is about to be held wakes the QP",
          "[pipeline][tx_segment][wimm]") {
  // The ACK of what is out, and the request that is to be held, at all distances; a message without immediate may
  // complete in front of it, or behind it.
  unsigned first = 0, waited = 0;
  for (const unsigned shape : {0u, 1u, 2u, 3u}) {
    for (unsigned ack = 0; ack < 24; ++ack) {
      for (unsigned more = 0; more < 24; ++more) {
        CAPTURE(shape, ack, more);
        Limited b(1, WimmOver::Wait);
        uint16_t msgs = 0;
        for (const bool imm : {(shape & 1) == 0, (shape & 1) != 0}) {
          b.post(1, 100, msgs++, imm);
        }
        if ((shape & 2) != 0) b.post(1, 100, msgs++);
        b.run(40);
        REQUIRE(b.sent_by(1) == msgs);
        const uint16_t out = msgs;
        for (unsigned i = 0; i < 30; ++i) {
          if (i == ack) b.upd.load(acknowledged(out, out));
          if (i == 4) b.queue.push_back(Bench::work(1, 100, msgs++, kImm));  // held, unless the ACK comes first
          if (i == 4 + more / 2) b.queue.push_back(Bench::work(1, 100, msgs++, more % 2 != 0));  // beside all that
          b.cycle();
        }
        const unsigned early = b.sent_by(1);
        b.run(60);
        const bool third = more % 2 == 0;  // has no immediate: it goes behind the second
        REQUIRE(b.sent_by(1) == out + 1u + third);
        first += early == out + 1u + third;
        if (!third) {
          b.update(acknowledged(out + 1u, static_cast<uint16_t>(out + 1)));
          ++waited;
          REQUIRE(b.sent_by(1) == msgs);
        }
        b.update(acknowledged(msgs, msgs));
        REQUIRE(b.cqes.size() == msgs);
        b.post(1, 100, msgs, kImm);  // the QP is where others are: once, or not at all
        b.run(40);
        REQUIRE(b.sent_by(1) == msgs + 1u);
      }
    }
  }
  CHECK(first > 500);
  CHECK(waited > 500);
}

TEST_CASE("tx_segment: a QP that is held is flushed and set up anew like any other", "[pipeline][tx_segment][wimm]") {
  SECTION("software puts it into ERROR") {
    Held b;
    b.set_state(1, QpState::Error);
    b.run(100);
    b.all_flushed(0);
    b.again();
  }
  SECTION("the peer refuses the message that is out") {
    Held b;
    b.upd.load({.qp = 1, .una = 0x100, .ack = true, .msn = 0, .syndrome = 0x62, .mpr = 0});
    b.run(150);
    b.expect(0, 1, CqStatus::RemAccess, 20, 100, 0);
    b.all_flushed(1);
    b.again();
  }
  SECTION("it is set up anew: what it had is forgotten, nothing of it leaves") {
    Held b;
    b.request(1, Bench::row(1, 0x500, 7));
    b.finish_cfg();
    b.run(60);
    CHECK(b.sent_by(1) == 1);
    CHECK(b.cqes.empty());
    b.again();
  }
  SECTION("it is reset, and set up anew later") {
    Held b;
    b.set_state(1, QpState::Reset);
    b.run(100);
    CHECK(b.sent_by(1) == 1);
    b.again();
  }
}

TEST_CASE("tx_segment: the limit of immediates holds while software changes what is done about it",
          "[pipeline][tx_segment][wimm]") {
  Preset preset = roomy();
  preset.wqe_depth = 32;
  Limited b(2, WimmOver::Wait, preset);
  uint32_t posted = 0;
  uint16_t done = 0;
  const auto post = [&](WimmOver over) {
    b.csr.wimm_over = over;
    b.post(1, 100, posted++, kImm);
    b.run(30);
    REQUIRE(b.sent_by(1) <= done + 2u);
  };
  for (int i = 0; i < 5; ++i) post(WimmOver::Wait);  // two are out, three wait
  post(WimmOver::Refuse);                            // five are not two: it is taken, and waits
  post(WimmOver::Error);
  CHECK(b.cqes.empty());
  CHECK(b.qperrs.empty());
  CHECK(b.sent_by(1) == 2);
  for (; done < 5;) {
    ++done;
    b.update(acknowledged(done, done));
    CHECK(b.sent_by(1) == done + 2u);
  }
  CHECK(b.cqes.size() == 5);
  post(WimmOver::Refuse);  // two are out
  REQUIRE(b.cqes.size() == 6);
  b.expect(5, 1, CqStatus::WimmOverrun, 7, 0, 0);
  post(WimmOver::Error);
  REQUIRE(b.cqes.size() == 7);
  CHECK(b.qperrs.size() == 1);
  post(WimmOver::Wait);
  CHECK(b.cqes.size() == 7);
  CHECK(b.sent_by(1) == 7);
  b.update(acknowledged(6, 6));
  CHECK(b.sent_by(1) == 8);
}

TEST_CASE("tx_segment: immediates are counted over the wrap of their counts", "[pipeline][tx_segment][wimm]") {
  Limited b(3, WimmOver::Wait);
  for (uint16_t i = 0; i < 600; ++i) {
    b.post(1, 10, i, kImm);
    if (i >= 4) b.update(acknowledged(i - 3u, static_cast<uint16_t>(i - 3)));
    b.run(10);
    REQUIRE(b.sent_by(1) == (i < 3 ? i + 1u : i < 4 ? 3u : i));
  }
}

}  // namespace mrc::test::tx_segment_wimm_test
