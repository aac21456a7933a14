// SPDX-License-Identifier: Apache-2.0
/// tx_inflight: what is lost leaves the flight when a retransmission of its QP is refused.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "tests/pipeline/tx/inflight/tx_inflight_bench.hpp"

namespace mrc::test::tx_inflight_leave_test {

using inflight_test::Bench;

constexpr uint8_t kTrimmed = 1;
constexpr uint32_t kSize = Bench::kSize;

/// QP 1 has sent so many packets, its controller refuses all retransmissions.
struct Refusing : Bench {
  explicit Refusing(unsigned sent) : Bench(true) {
    csr.time_wait = true;  // gaps alone
    refuse = 4;
    sent_all(1, sent);
  }
};

/// Events of destination `dest` that take bytes away as lost, and the feedback that blames an EV.
std::vector<uint32_t> left(const Bench& b, uint16_t dest) {
  std::vector<uint32_t> bytes;
  for (const Ccev& e : b.ccev) {
    if (e.cc == dest && e.kind == CcEvent::Loss) bytes.push_back(e.bytes);
  }
  return bytes;
}
std::vector<unsigned> blamed(const Bench& b, QpIndex qp) {
  std::vector<unsigned> evs;
  for (const Fb& f : b.fb) {
    if (f.qp == qp && f.kind == FbKind::Loss) evs.push_back(f.ev_idx);
  }
  return evs;
}
/// What QP 1 gives back at its end: the bytes that were still in flight.
uint32_t still_out(Bench& b) {
  const std::size_t before = b.ccev.size();
  b.set_state(1, QpState::Reset);
  b.run(20);
  uint32_t bytes = 0;
  for (std::size_t i = before; i < b.ccev.size(); ++i) bytes += b.ccev[i].bytes;
  return bytes;
}

TEST_CASE("tx_inflight: when a retransmission is refused, what its QP has lost leaves the flight",
          "[pipeline][tx_inflight][cc][A-91]") {
  // 3 is trimmed, of 4 to 30 all but 8, 9 and 21 arrive: these are lost. 31 to 39 are out.
  Refusing b(40);
  SECTION("at once") {}
  SECTION("in its turn, with EV_CTL.lost_stays") { b.csr.lost_stays = true; }
  SECTION("a loss shrinks no window") { b.csr.loss_shrinks = false; }
  const bool stays = b.csr.lost_stays;
  b.nack(1, 3, kTrimmed);
  const uint64_t bits = (uint64_t{1} << 28) - 1 - (1u << 0) - (1u << 5) - (1u << 6) - (1u << 18);
  b.sack(1, 3, 30, 3, bits, 24);
  b.run(400);
  CHECK(b.retx.empty());
  CHECK(blamed(b, 1) == (stays ? std::vector<unsigned>{} : std::vector<unsigned>{8, 9, 5}));
  const std::size_t lost = stays ? 0 : 3;
  CHECK(left(b, 2) == std::vector<uint32_t>(b.csr.loss_shrinks ? lost : 0, kSize));
  const auto nacked = std::ranges::count_if(b.ccev, [](const Ccev& e) { return e.kind == CcEvent::Nack; });
  CHECK(static_cast<std::size_t>(nacked) == 1 + (b.csr.loss_shrinks ? 0 : lost));

  // The window opens: each goes again once, is reported no more, and is in flight again.
  b.refuse = 0;
  b.run(200);
  REQUIRE(b.retx.size() == 4);
  const unsigned psns[] = {3, 8, 9, 21};
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(b.retx[i].psn == psn_add(Bench::kPsn, psns[i]));
    CHECK(b.retx[i].lost == (stays && i > 0));
  }
  CHECK(blamed(b, 1).size() == 3);
  // Bits of a SACK that tells no bytes take nothing.
  CHECK(still_out(b) == 40 * kSize);
}

TEST_CASE("tx_inflight: a search for what is lost looks at four blocks in a turn, and leaves the rest to the next",
          "[pipeline][tx_inflight][cc][A-91]") {
  // The window of tiny is 8 blocks: 2 is trimmed, 97 is lost, both ends of the search.
  Refusing b(112);
  b.nack(1, 2, kTrimmed);
  b.sack(1, 2, 101, 90, 0b1111'0111'1111, 100);
  b.run(400);
  // 2 is missing in the bitmap's SACK, and so are 3 to 89: but its base is 90, it says nothing of them.
  CHECK(blamed(b, 1) == std::vector<unsigned>{97 % 16});
  CHECK(left(b, 2) == std::vector<uint32_t>{kSize});
  CHECK(still_out(b) == 110 * kSize);
}

TEST_CASE("tx_inflight: what is found lost while others leave the flight leaves with the next refusal",
          "[pipeline][tx_inflight][cc][A-91]") {
  // A SACK finds 45 and 91 lost. Another one finds 10, sooner or later in the search for these.
  unsigned last = 0;
  for (unsigned wait = 0; wait < 60; ++wait) {
    CAPTURE(wait);
    Refusing b(112);
    b.nack(1, 3, kTrimmed);
    b.ctl.load(Bench::sack_of(1, 3, 103, 40, ~uint64_t{0} & ~(uint64_t{1} << 5) & ~(uint64_t{1} << 51), 62));
    b.run(2 + wait);
    b.sack(1, 3, 103, 3, (uint64_t{1} << 37) - 1 - 1 - (1u << 7), 97);
    b.run(300);
    std::vector<unsigned> evs = blamed(b, 1);
    REQUIRE(evs.size() == 3);
    if (evs.back() == 10) ++last;
    std::ranges::sort(evs);
    CHECK(evs == std::vector<unsigned>{10, 91 % 16, 45 % 16});
    CHECK(left(b, 2) == std::vector<uint32_t>(3, kSize));
  }
  CHECK(last > 0);
}

TEST_CASE("tx_inflight: two QPs that are refused have what they lost leave the flight one after the other",
          "[pipeline][tx_inflight][cc][A-91]") {
  Refusing b(40);
  b.refuse = 4 | 2;
  b.sent_all(2, 40);
  for (const QpIndex qp : {QpIndex{1}, QpIndex{2}}) {
    b.nack(qp, 3, kTrimmed);
    b.sack(qp, 3, 20, 3, 0b11'1111'1111'1110'1110, 14);  // 7 is lost
  }
  b.run(400);
  CHECK(b.retx.empty());
  CHECK(blamed(b, 1) == std::vector<unsigned>{7});
  CHECK(blamed(b, 2) == std::vector<unsigned>{7});
  CHECK(left(b, 2) == std::vector<uint32_t>{kSize});
  CHECK(left(b, 1) == std::vector<uint32_t>{kSize});
}

TEST_CASE("tx_inflight: a QP that ends or is set up anew while its losses leave the flight",
          "[pipeline][tx_inflight][cc][A-91]") {
  Refusing b(100);
  const bool anew = GENERATE(false, true);
  const unsigned wait = GENERATE(range(0u, 40u));
  b.nack(1, 3, kTrimmed);
  Ctl sack = Bench::sack_of(1, 3, 60, 3, (uint64_t{1} << 58) - 1 - 0x55'5555, 46);
  b.ctl.load(sack);
  b.run(20 + wait);
  const std::size_t blamed_before = blamed(b, 1).size();
  if (anew) {
    b.configure(1);
  } else {
    b.set_state(1, QpState::Reset);
  }
  b.run(100);
  CHECK(blamed(b, 1).size() <= blamed_before + 1);
  uint32_t bytes = 0;
  for (const Ccev& e : b.ccev) bytes += e.bytes;
  CHECK(bytes == 100 * kSize);
  // Others go on.
  b.sent_all(2, 20);
  b.refuse = 0;
  b.sack(2, 3, 12, 3, 0b11'1111'1100, 8);
  b.run(100);
  CHECK(b.retx.size() == 2);
}

TEST_CASE("tx_inflight: a packet that counts for no bytes leaves the flight as one of none",
          "[pipeline][tx_inflight][cc][A-91]") {
  Bench b(true);
  b.csr.time_wait = true;
  b.refuse = 4;
  for (unsigned i = 0; i < 40; ++i) {
    Rec r = Bench::packet(1, i);
    if (i == 8) r.size = 0;
    b.give(r);
  }
  b.run(30);
  b.nack(1, 3, kTrimmed);
  b.sack(1, 3, 30, 3, ((uint64_t{1} << 28) - 1 - 1) & ~(uint64_t{1} << 5), 26);
  b.run(200);
  CHECK(left(b, 2) == std::vector<uint32_t>{0});
  CHECK(still_out(b) == 38 * kSize);
}

}  // namespace mrc::test::tx_inflight_leave_test
