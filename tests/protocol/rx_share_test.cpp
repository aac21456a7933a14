// SPDX-License-Identifier: Apache-2.0
/// A responder that shares its links: expectations are calculated by hand.
#include "protocol/rx_share.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

namespace mrc::test::rx_share_test {
namespace {

constexpr uint32_t kMessage = 1u << 20, kPacket = 4096, kEpoch = 128;  // ticks

/// A responder and some QPs that all send one message of 1 MiB, MSN 0.
struct Bench {
  ShareWords words{.on = true};  // 16.4 us, 4 QPs, pen 8, 24 trims, drain 1 MiB
  ShareNic nic;
  std::vector<ShareQp> qps;
  std::vector<uint8_t> armed;
  explicit Bench(unsigned count) : qps(count), armed(count) {}

  void time(uint32_t tick) { share_time(words, nic, tick); }
  void came(unsigned qp, const ShareCame& is) {
    const ShareBegun begun = share_begins(qps[qp], is);
    share_sums(nic, qps[qp], share_counts(nic, qps[qp], begun));
  }
  void data(unsigned qp, unsigned packets) {
    for (unsigned i = 0; i < packets; ++i) came(qp, {.bytes = kPacket, .msn = 0, .emsn = 0, .length = kMessage});
  }
  void trims(unsigned qp, unsigned packets) {
    for (unsigned i = 0; i < packets; ++i) came(qp, {.trimmed = true, .msn = 0, .emsn = 0});
  }
  bool saves(unsigned qp) { return share_saves(share_levels(words, nic), armed[qp]); }
  ShareAnswer sack(unsigned qp) {
    const bool fat = qps[qp].fat && qps[qp].turn == nic.turn;
    return share_answer(share_levels(words, nic), words.pen, fat, armed[qp]);
  }
  /// `packets` of each QP in each of four epochs, and `trimmed` ones.
  void four_epochs(const std::vector<unsigned>& packets, unsigned trimmed) {
    for (uint32_t epoch = 0; epoch < 4; ++epoch) {
      time(epoch * kEpoch);
      for (unsigned qp = 0; qp < qps.size(); ++qp) data(qp, packets[qp]);
      trims(0, trimmed);
      for (unsigned qp = 0; epoch == 0 && qp < qps.size(); ++qp) sack(qp);
    }
    time(4 * kEpoch);
  }
};

}  // namespace

TEST_CASE("a sender saves its window when an incast begins: enough QPs, enough left, something trimmed",
          "[protocol][share]") {
  struct Case {
    unsigned qps, trims;
    uint32_t drain;
    bool pen;
  };
  for (const Case& c : {Case{4, 1, 4 * (kMessage - kPacket), true}, Case{3, 1, 0, false}, Case{4, 0, 0, false},
                        Case{4, 1, 4 * (kMessage - kPacket) + 1, false}}) {
    Bench b(c.qps);
    b.words.drain = c.drain;
    b.time(0);
    for (unsigned qp = 0; qp < c.qps; ++qp) b.data(qp, 1);
    b.trims(0, c.trims);
    CHECK(b.saves(1) == c.pen);
    CHECK(b.sack(1).pen == (c.pen ? 1 : 0));
    CHECK(b.sack(1).pen == 0);  // once
    b.words.on = false;
    CHECK_FALSE(b.saves(2));
    CHECK(b.sack(2).pen == 0);
  }
}

TEST_CASE("what is left is what has begun less what has arrived; below the drain windows are restored",
          "[protocol][share]") {
  Bench b(4);
  b.words.drain = 100 * kPacket;
  b.time(0);
  b.trims(0, 1);  // begins nothing: nobody knows how long its message is
  CHECK(b.nic.total == 0);
  for (unsigned qp = 0; qp < 4; ++qp) b.data(qp, 1);
  CHECK(b.nic.total == 4UL * (kMessage - kPacket));
  b.trims(0, 1);
  CHECK(b.nic.total == 4UL * (kMessage - kPacket));  // it did not arrive
  for (unsigned qp = 0; qp < 4; ++qp) CHECK(b.sack(qp).pen == 1);
  // 256 packets each; 100 in all are still to come: not below the drain.
  for (unsigned qp = 0; qp < 3; ++qp) b.data(qp, 255);
  b.data(3, 155);
  CHECK(b.nic.total == 100UL * kPacket);
  CHECK_FALSE(b.sack(3).restore);
  b.data(3, 1);
  CHECK(b.sack(3).restore);
  CHECK(b.sack(3).restore);  // again: a SACK may be lost
  // The third message behind the first, the two between are unseen: an incast again, a generation later.
  const uint8_t before = b.nic.gen;
  b.came(0, {.bytes = kPacket, .msn = 3, .emsn = 1, .length = kMessage});
  CHECK(b.nic.total == 3UL * kMessage + 98UL * kPacket);
  CHECK(b.sack(0).pen == 1);
  CHECK(b.nic.gen == before + 1);
  // Messages 0 to 3 are complete: whatever was guessed of them is over.
  b.came(0, {.bytes = kPacket, .msn = 1, .emsn = 4, .length = kMessage});
  CHECK(b.nic.total == 99UL * kPacket);
}

TEST_CASE("who has more than 7/4 of its share of the epoch before is held back while packets are trimmed",
          "[protocol][share]") {
  // 7, 4, 3, 2 of 16 packets: the share is 4. Each QP is judged when it sends again.
  const auto all_send = [](Bench& b) {
    for (unsigned qp = 0; qp < b.qps.size(); ++qp) b.data(qp, 1);
  };
  Bench b(4);
  b.words.drain = kMessage / 16;  // 4 MiB are left, and 1/8 of that is more
  b.four_epochs({7, 4, 3, 2}, 24);
  all_send(b);
  CHECK(b.sack(0).pen == 0);  // 7 * 4 * 4 = 112 = 7 * 16
  Bench c(4);
  c.words.drain = kMessage / 16;
  c.four_epochs({8, 4, 3, 1}, 24);
  CHECK(c.sack(0).pen == 0);  // nothing came in this epoch
  all_send(c);
  CHECK(c.sack(0).pen == 8);  // 128 > 112
  CHECK(c.sack(1).pen == 0);
  c.data(0, 1);
  CHECK(c.sack(0).pen == 8);
  // One trimmed packet less; less than eight times the drain left; an epoch without anybody.
  Bench d(4);
  d.words.drain = kMessage / 16;
  d.four_epochs({8, 4, 3, 1}, 23);
  all_send(d);
  CHECK(d.sack(0).pen == 0);
  c.words.drain = static_cast<uint32_t>(c.nic.total / 8 + 1);
  CHECK(c.sack(0).pen == 0);
  c.words.drain = kMessage / 16;
  c.time(6 * kEpoch);
  CHECK(c.nic.warm == 0);
  CHECK(c.sack(0).pen == 0);
}

}  // namespace mrc::test::rx_share_test
