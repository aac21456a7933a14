// SPDX-License-Identifier: Apache-2.0
/// A responder that shares its links: expectations are calculated by hand.
#include "protocol/rx_share.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

using namespace mrc;

namespace {

constexpr uint32_t kMessage = 1u << 20, kPacket = 4096, kEpoch = 128;  // ticks

/// A responder and some QPs that all send one message of 1 MiB.
struct Bench {
  ShareWords words{.on = true};  // 16.4 us, 4 QPs, pen 8, 24 trims, drain 1 MiB
  ShareNic nic;
  std::vector<ShareQp> qps;
  explicit Bench(unsigned count) : qps(count) {}

  void time(uint32_t tick) { share_time(words, nic, tick); }
  /// That many packets of a QP; the first of all begins its message.
  void data(unsigned qp, unsigned packets, bool trimmed = false) {
    for (unsigned i = 0; i < packets; ++i) {
      const bool first = qps[qp].msn == 0;
      qps[qp].msn = 1;
      share_arrived(words, nic, qps[qp], kPacket, trimmed, first ? 1 : 0, kMessage, false);
    }
  }
  ShareAnswer sack(unsigned qp) { return share_answer(words, nic, qps[qp]); }
  /// `packets` of each QP in each of four epochs, and `trims` trimmed ones.
  void four_epochs(const std::vector<unsigned>& packets, unsigned trims) {
    for (uint32_t epoch = 0; epoch < 4; ++epoch) {
      time(epoch * kEpoch);
      for (unsigned qp = 0; qp < qps.size(); ++qp) {
        data(qp, packets[qp]);
        if (epoch == 0) sack(qp);
      }
      data(0, trims, true);
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
  for (const Case& c : {Case{4, 1, 4 * kMessage - 5 * kPacket, true}, Case{3, 1, 0, false}, Case{4, 0, 0, false},
                        Case{4, 1, 4 * kMessage, false}}) {
    Bench b(c.qps);
    b.words.drain = c.drain;
    b.time(0);
    for (unsigned qp = 0; qp < c.qps; ++qp) b.data(qp, 1);
    if (c.trims != 0) b.data(0, 1, true);
    CHECK(share_arms(b.words, b.nic, b.qps[1]) == c.pen);
    CHECK(b.sack(1).pen == (c.pen ? 1 : 0));
    CHECK(b.sack(1).pen == 0);  // once
    b.words.on = false;
    CHECK_FALSE(share_arms(b.words, b.nic, b.qps[2]));
    CHECK(b.sack(2).pen == 0);
  }
}

TEST_CASE("what is left is what has begun less what has arrived; below the drain windows are restored",
          "[protocol][share]") {
  Bench b(4);
  b.words.drain = 100 * kPacket;
  b.time(0);
  for (unsigned qp = 0; qp < 4; ++qp) b.data(qp, 1);
  CHECK(b.nic.left == 4UL * (kMessage - kPacket));
  b.data(0, 1, true);
  CHECK(b.nic.left == 4UL * (kMessage - kPacket));  // trimmed: it did not arrive
  for (unsigned qp = 0; qp < 4; ++qp) CHECK(b.sack(qp).pen == 1);
  // 256 packets each; 100 in all are still to come: not below the drain.
  for (unsigned qp = 0; qp < 3; ++qp) b.data(qp, 255);
  b.data(3, 155);
  CHECK(b.nic.left == 100UL * kPacket);
  CHECK_FALSE(b.sack(3).restore);
  b.data(3, 1);
  CHECK(b.sack(3).restore);
  CHECK(b.sack(3).restore);  // again: a SACK may be lost
  // A message of 1 MiB more, and two behind it that nobody has seen: an incast again, a generation later.
  const uint8_t before = b.nic.generation;
  share_arrived(b.words, b.nic, b.qps[0], kPacket, true, 3, kMessage, false);
  CHECK(b.nic.left == 3UL * kMessage + 99UL * kPacket);
  CHECK(b.nic.generation == before + 1);
  CHECK(b.sack(0).pen == 1);
  // All that has begun is there: whatever was guessed of the two is over.
  share_arrived(b.words, b.nic, b.qps[0], kPacket, false, 0, kMessage, true);
  CHECK(b.nic.left == 99UL * kPacket);
}

TEST_CASE("who has more than 7/4 of its share of the epoch before is held back while packets are trimmed",
          "[protocol][share]") {
  // 7, 4, 3, 2 of 16 packets: the share is 4.
  Bench b(4);
  b.words.drain = kMessage / 16;  // 4 MiB are left, and 1/8 of that is more
  b.four_epochs({7, 4, 3, 2}, 24);
  CHECK(b.sack(0).pen == 0);  // 7 * 4 * 4 = 112 = 7 * 16
  Bench c(4);
  c.words.drain = kMessage / 16;
  c.four_epochs({8, 4, 3, 1}, 24);
  CHECK(c.sack(0).pen == 8);  // 128 > 112
  CHECK(c.sack(1).pen == 0);
  // Also when its bytes of this epoch have begun to come.
  c.data(0, 1);
  CHECK(c.sack(0).pen == 8);
  // One trimmed packet less; less than eight times the drain left; an epoch without anybody.
  Bench d(4);
  d.words.drain = kMessage / 16;
  d.four_epochs({8, 4, 3, 1}, 23);
  CHECK(d.sack(0).pen == 0);
  c.words.drain = static_cast<uint32_t>(c.nic.left / 8 + 1);
  CHECK(c.sack(0).pen == 0);
  c.words.drain = kMessage / 16;
  c.time(6 * kEpoch);
  CHECK(c.nic.warm == 0);
  CHECK(c.sack(0).pen == 0);
}

TEST_CASE("numbers of epochs and generations go round, counters stop at their ends", "[protocol][share]") {
  CHECK(share_number(0) == 1);
  CHECK(share_number(254) == 255);
  CHECK(share_number(255) == 1);
  Bench b(1);
  b.time(0);
  b.nic.sum = kShareSum;
  b.nic.trims = kShareCount;
  b.nic.qps = kShareCount;
  b.qps[0].now = kShareBytes;
  b.qps[0].epoch = 0;
  b.data(0, 1);
  b.data(0, 1, true);
  CHECK(b.nic.sum == kShareSum);
  CHECK(b.nic.trims == kShareCount);
  CHECK(b.nic.qps == kShareCount);
  b.qps[0].now = kShareBytes;
  b.data(0, 1);
  CHECK(b.qps[0].now == kShareBytes);
  share_left(b.words, b.nic, b.qps[0], 0);
  for (unsigned i = 0; i < 15; ++i) {
    const uint8_t was = b.nic.generation;
    share_left(b.words, b.nic, b.qps[0], b.words.drain);
    CHECK(b.nic.generation == (was == 15 ? 1 : was + 1));
    share_left(b.words, b.nic, b.qps[0], 0);
  }
  CHECK(b.nic.left == 0);
}
