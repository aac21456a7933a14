// SPDX-License-Identifier: Apache-2.0
// Answers that begin behind another one (docs/design/blocks/tx/inflight/tx_inflight.md, "Behind an answer").
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <vector>

#include "tests/pipeline/tx/inflight/tx_inflight_bench.hpp"

namespace mrc::test::tx_inflight_chain_test {

using namespace mrc::inflight_test;

namespace {

constexpr uint8_t kGood = 0, kNak = 0x63;

/// An ACK of everything before packet `upto`, of messages before `msn`.
Ctl ack_of(QpIndex qp, unsigned upto, uint16_t msn, uint8_t syndrome = kGood) {
  Ctl c;
  c.kind = CtlKind::Ack;
  c.qp = qp;
  c.psn = psn_add(Bench::kPsn, static_cast<int64_t>(upto) - 1);
  c.msn = msn;
  c.reason = syndrome;
  return c;
}

/// Gives answers, from *from on, as fast as the block takes them; in which cycles it has told tx_segment of one.
std::vector<unsigned> notified_at(Bench& b, const std::vector<Ctl>& answers, unsigned cycles,
                                  std::size_t* from = nullptr) {
  std::size_t first = 0;
  std::size_t& given = from ? *from : first;
  std::vector<unsigned> at;
  for (unsigned i = 0; i < cycles; ++i) {
    if (given < answers.size() && b.ctl.free()) b.ctl.load(answers[given++]);
    const std::size_t before = b.upd.size();
    b.cycle();
    if (b.upd.size() != before) at.push_back(b.cycles);
  }
  return at;
}

std::vector<unsigned> gaps(const std::vector<unsigned>& at) {
  std::vector<unsigned> result;
  for (std::size_t i = 1; i < at.size(); ++i) result.push_back(at[i] - at[i - 1]);
  return result;
}

}  // namespace

TEST_CASE("tx_inflight: three answers go behind one, then a visit has its turn", "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(0, 8);
  std::vector<Ctl> answers;
  for (unsigned i = 0; i < 8; ++i) answers.push_back(ack_of(0, i + 1, 10));
  // An ACK a cycle, four of them; a cycle of Idle for the visit, one for the next ACK.
  CHECK(gaps(notified_at(b, answers, 40)) == std::vector<unsigned>{1, 1, 1, 3, 1, 1, 1});
}

TEST_CASE("tx_inflight: a SACK of one block behind another takes four cycles", "[pipeline][tx_inflight][throughput]") {
  Bench b(true);
  b.sent_all(0, 8);
  std::vector<Ctl> answers;
  for (unsigned i = 0; i < 6; ++i) answers.push_back(Bench::sack_of(0, i + 1, i, i + 1, 0, 0));
  CHECK(gaps(notified_at(b, answers, 60)) == std::vector<unsigned>{4, 4, 4, 6, 4});
}

TEST_CASE("tx_inflight: an answer behind another waits for the outputs", "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(0, 9);
  const bool sacks = GENERATE(false, true);
  std::vector<Ctl> answers;
  for (unsigned i = 0; i < 9; ++i) {
    answers.push_back(sacks ? Bench::sack_of(0, i + 1, i, i + 1, 0, 0) : ack_of(0, i + 1, 10));
  }
  std::size_t given = 0;
  b.take_upd = false;
  CHECK(notified_at(b, answers, 100, &given).empty());
  CHECK(given < 9);
  b.take_upd = true;
  notified_at(b, answers, 200, &given);
  std::vector<uint32_t> una;
  for (const Upd& u : b.upd) una.push_back(u.una);
  std::vector<uint32_t> each;
  for (unsigned i = 1; i <= 9; ++i) each.push_back(psn_add(Bench::kPsn, i));
  CHECK(una == each);
}

TEST_CASE("tx_inflight: an answer behind a NAK finds its QP ended", "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(0, 8);
  notified_at(b, {ack_of(0, 1, 10), ack_of(0, 0, 10, kNak), ack_of(0, 5, 10)}, 40);
  REQUIRE(b.upd.size() == 2);
  CHECK(b.upd[0].una == psn_add(Bench::kPsn, 1));
  CHECK(b.upd[1].una == psn_add(Bench::kPsn, 1));
  CHECK(b.upd[1].syndrome == kNak);
  REQUIRE(b.qperr.size() == 1);
}

TEST_CASE("tx_inflight: a table write, a retransmission and a block to give back go before an answer behind another",
          "[pipeline][tx_inflight]") {
  Bench b;
  b.sent_all(0, 8);
  b.sent_all(1, 1);
  std::vector<Ctl> answers;
  for (unsigned i = 0; i < 8; ++i) answers.push_back(ack_of(0, i + 1, 10));

  SECTION("a table write is carried out behind the answer that it met") {
    b.cfg.table = static_cast<uint8_t>(CfgTable::QpState);
    b.cfg.index = 3;
    b.cfg.data[0] = static_cast<uint32_t>(QpState::Error);
    std::size_t given = 0;
    unsigned waited = 0;
    for (unsigned i = 0; i < 30 && !b.inflight.cfg_ack(); ++i) {
      if (given < answers.size() && b.ctl.free()) b.ctl.load(answers[given++]);
      if (b.upd.size() == 1) b.cfg.req = true;
      if (b.cfg.req) ++waited;
      b.cycle();
    }
    CHECK(b.inflight.cfg_ack());
    CHECK(waited <= 3);
  }
  SECTION("a retransmission is ordered before the third answer behind a NACK") {
    Ctl nack;
    nack.kind = CtlKind::Nack;
    nack.qp = 1;
    nack.psn = Bench::kPsn;
    nack.reason = 2;
    answers.insert(answers.begin(), nack);
    std::size_t given = 0;
    for (unsigned i = 0; i < 40 && b.retx.empty(); ++i) {
      if (given < answers.size() && b.ctl.free()) b.ctl.load(answers[given++]);
      b.cycle();
    }
    REQUIRE(b.retx.size() == 1);
    CHECK(b.upd.size() <= 3);
  }
}

TEST_CASE("tx_inflight: a NACK of a packet that is about to be sent touches nobody's block",
          "[pipeline][tx_inflight]") {
  const int ahead = GENERATE(range(-4, 5));
  const unsigned phase = GENERATE(range(0u, 4u));
  CAPTURE(ahead, phase);
  Bench b;
  // QP 0 has had the blocks 0 to 7 and keeps the last; QP 1 has 0 now, where the map of QP 0 still points.
  b.sent_all(0, 128);
  b.give(ack_of(0, 128, 22));
  b.sent_all(1, 16);
  b.run(phase);
  Ctl nack;
  nack.kind = CtlKind::Nack;
  nack.psn = psn_add(Bench::kPsn, 128);
  nack.reason = 2;
  for (int i = 0; i < 12; ++i) {
    if (i == 4) b.rec.load(Bench::packet(0, 128));
    if (i == 4 + ahead) b.ctl.load(nack);
    b.cycle();
  }
  b.run(40);
  b.retx.clear();
  b.nack(1, 0, 2);
  REQUIRE(b.retx.size() == 1);
  CHECK(b.retx[0].qp == 1);
  CHECK(b.retx[0].psn == Bench::kPsn);
}

}  // namespace mrc::test::tx_inflight_chain_test
