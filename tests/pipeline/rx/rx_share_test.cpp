// SPDX-License-Identifier: Apache-2.0
/// Block rx_share (docs/design/blocks/rx/rx_share.md), cycle by cycle. What its rules are:
/// tests/protocol/rx_share_test.cpp.
#include "pipeline/rx/rx_share.hpp"

#include <catch2/catch_test_macros.hpp>

#include "gen/csr.hpp"
#include "tests/pipeline/block_bench.hpp"

namespace mrc::test::rx_share_test {
namespace {

constexpr uint32_t kLength = 100'000;

struct Share : BlockBench<Share> {
  Share() : preset(*find_preset("tiny")), share(preset, came) {
    csr.share_enable = true;
    csr.share_epoch = 3;
    csr.share_least = 2;
    csr.share_trims = 1;
    csr.share_pen = 9;
    csr.share_drain = 50'000;
  }
  void cycle() {
    share.step(cfg, csr);
    came.clock();
    share.clock();
  }
  /// A word, until the levels say what comes of it: the output register and four cycles.
  void report(const Came& word) {
    came.load(word);
    run(6);
  }
  void data(unsigned qp, uint16_t msn = 0x20, uint16_t plen = 1000, uint32_t length = kLength, uint16_t emsn = 0x20) {
    report({.qp = static_cast<QpIndex>(qp), .plen = plen, .msn = msn, .emsn = emsn, .length = length});
  }
  void trim(unsigned qp) { report({.qp = static_cast<QpIndex>(qp), .trimmed = true, .msn = 0x20, .emsn = 0x20}); }
  unsigned set_up(unsigned qp, uint16_t msn = 0x20, QpState state = QpState::Rtr) {
    csr::TblQpCtx row{.msn = msn, .state = state};
    const unsigned took = configure(CfgTable::QpCtx, qp, row);
    run(2);
    return took;
  }
  bool cfg_ack() const { return share.cfg_ack(); }
  void set_up_all() {
    for (unsigned qp = 0; qp < preset.num_qps; ++qp) set_up(qp);
  }
  /// Two senders with 99 000 bytes left each, one packet trimmed.
  void incast() {
    data(0);
    data(1);
    trim(0);
  }
  const ShareLevels& now() const { return share.levels(); }

  const Preset preset;
  CsrOut csr;
  Stream<Came> came;
  RxShare share;
};

}  // namespace

TEST_CASE("rx_share says nothing until SHARE is enabled", "[pipeline][rx_share]") {
  for (const bool on : {false, true}) {
    Share s;
    s.csr.share_enable = on;
    s.set_up_all();
    CHECK(s.now().drained == on);
    s.incast();
    CHECK(s.now().arm == on);
    CHECK_FALSE(s.now().drained);
  }
}

TEST_CASE("rx_share takes a word per cycle, and its levels follow four cycles later", "[pipeline][rx_share]") {
  Share s;
  s.set_up_all();
  s.data(0);
  s.trim(0);
  CHECK_FALSE(s.now().arm);  // one QP
  for (unsigned qp = 1; qp < 4; ++qp) {
    CHECK(s.came.free());
    s.came.load({.qp = static_cast<QpIndex>(qp), .plen = 1000, .msn = 0x20, .emsn = 0x20, .length = kLength});
    s.cycle();
  }
  // Loaded in cycle 0, in the FIFO from 2 on: A works in 2, B in 3, C and the levels in 4; QPs are counted by B.
  s.run(1);
  CHECK_FALSE(s.now().arm);
  s.run(1);
  CHECK(s.now().arm);
}

TEST_CASE("at most fifteen messages ahead count", "[pipeline][rx_share]") {
  // 15 messages of 10 000 bytes begin, or 16: the same is left, 149 000 bytes.
  for (const unsigned ahead : {15u, 16u, 0x7fffu}) {
    Share s;
    s.csr.share_least = 1;
    s.csr.share_drain = 149'000;
    s.set_up_all();
    s.data(0, static_cast<uint16_t>(0x20 + ahead - 1), 1000, 10'000);
    s.trim(0);
    CHECK(s.now().arm);
    s.csr.share_drain = 149'001;
    s.run(2);
    CHECK_FALSE(s.now().arm);
    CHECK(s.now().drained);
  }
  // Half of the numbers ahead is behind.
  Share s;
  s.csr.share_drain = 1;
  s.set_up_all();
  s.data(0, 0x20 + 0x7fff, 1000, 10'000);
  CHECK(s.now().drained);
}

TEST_CASE("a message of no bytes ahead of others counts as none for them", "[pipeline][rx_share][A-19]") {
  Share s;
  s.csr.share_drain = 1;
  s.set_up_all();
  // Messages 0x20 to 0x22 are on their way, the last is of no bytes and comes first.
  s.data(0, 0x22, 0, 0);
  CHECK(s.now().drained);
  s.data(0, 0x20, 1000, 10'000);
  CHECK(s.now().drained);
  s.data(0, 0x21, 1000, 10'000);
  CHECK(s.now().drained);
  s.data(0, 0x22, 0, 0, 0x23);  // all that has begun is there
  s.data(0, 0x23, 1000, 10'000, 0x23);
  CHECK_FALSE(s.now().drained);  // the next one counts again
  // What counted already stays, and a message of no bytes behind it adds nothing.
  s.csr.share_drain = 9'000;
  s.data(0, 0x24, 0, 0, 0x23);
  CHECK_FALSE(s.now().drained);
  s.csr.share_drain = 9'001;
  s.run(2);
  CHECK(s.now().drained);
}

TEST_CASE("what is counted stops at its width", "[pipeline][rx_share]") {
  Share s;
  s.csr.share_least = 1;
  s.set_up_all();
  // 15 messages of 4 GiB less a byte: 2^32 - 1 are left of them, less what comes later.
  s.data(0, 0x2e, 1000, 0xffff'ffff);
  s.trim(0);
  s.csr.share_drain = 0xffff'ffff;
  s.run(2);
  CHECK(s.now().arm);
  s.data(0, 0x2e, 1, 0xffff'ffff);
  CHECK(s.now().drained);
  // 256 trimmed packets are 255, and 4097 packets of 4096 bytes 2^24 - 1: no more than 7/4 of a share of its own.
  s.csr.share_drain = 1000;
  for (uint32_t epoch = 1; epoch < 6; ++epoch) {
    s.csr.tick = 8 * epoch;
    for (unsigned i = 0; i < 256; ++i) s.trim(0);
    for (unsigned i = 0; epoch == 4 && i < 4097; ++i) s.data(0, 0x2e, 4096);
    s.data(0, 0x2e, 1);
    s.csr.share_trims = 255;
    s.run(2);
    CHECK(s.now().penal == (epoch >= 3));  // three epochs with a QP lie behind
    CHECK_FALSE(s.share.fat(0));
  }
}

TEST_CASE("who had more than 7/4 of its share is told so with the first packet of the next epoch, until that ends",
          "[pipeline][rx_share]") {
  Share s;
  s.csr.share_drain = 10'000;
  s.set_up_all();
  for (uint32_t epoch = 1; epoch < 5; ++epoch) {
    s.csr.tick = 8 * epoch;
    s.trim(1);
    for (unsigned i = 0; i < 8; ++i) s.data(0);
    s.data(1);
    CHECK(s.now().penal == (epoch == 4));
    CHECK(s.share.fat(0) == (epoch == 4));  // 8 of 9 packets, and the share is 4.5: 8 > 7.875
    CHECK_FALSE(s.share.fat(1));
  }
  s.csr.tick = 40;
  s.run(2);
  CHECK_FALSE(s.share.fat(0));
}

TEST_CASE("after fifteen incasts the generation comes again", "[pipeline][rx_share]") {
  Share s;
  s.set_up_all();
  CHECK(s.now().gen == 1);
  for (unsigned i = 1; i <= 31; ++i) {
    s.csr.share_drain = 50'000;
    const auto msn = static_cast<uint16_t>(0x20 + i - 1);
    s.data(0, msn, 1000, kLength, msn);
    CHECK(s.now().gen == 1 + i % 15);
    s.data(0, msn, 1000, kLength, static_cast<uint16_t>(msn + 1));  // complete
    CHECK(s.now().drained);
  }
}

TEST_CASE("an epoch whose number does not follow forgets the one before", "[pipeline][rx_share]") {
  for (const uint32_t next : {1U, 2U}) {
    Share s;
    s.set_up_all();
    s.incast();
    s.csr.tick = 8 * next;
    s.run(2);
    CHECK(s.now().arm == (next == 1));  // QPs and trims of the one before count
  }
  // The tick wraps: with 8 ticks an epoch the number goes from 2^29 - 1 to 0.
  Share s;
  s.csr.tick = 0xffff'ffff;
  s.set_up_all();
  s.incast();
  CHECK(s.now().arm);
  s.csr.tick = 0;
  s.run(2);
  CHECK_FALSE(s.now().arm);
  // With one tick an epoch it goes round.
  Share t;
  t.csr.share_epoch = 0;
  t.csr.tick = 0xffff'ffff;
  t.set_up_all();
  t.incast();
  t.csr.tick = 0;
  t.run(2);
  CHECK(t.now().arm);
}

TEST_CASE("messages that came before the policy was on count as ahead, until all is there", "[pipeline][rx_share]") {
  Share s;
  s.set_up_all();
  // rx_track tells nothing while it is off: messages 0x20 to 0x22 have come, and 0x23 is the first that is told of.
  s.csr.share_drain = 399'000;
  s.data(0, 0x23, 1000, kLength, 0x23);
  CHECK_FALSE(s.now().drained);  // four messages of 100 000 bytes but for 1000
  s.csr.share_drain = 399'001;
  s.run(2);
  CHECK(s.now().drained);
  s.csr.share_drain = 1;
  s.run(2);
  CHECK_FALSE(s.now().drained);
  s.data(0, 0x23, 1000, kLength, 0x24);  // complete
  CHECK(s.now().drained);
  // 2^15 messages: the number seems to be an old one.
  s.data(1, 0x20 + 0x7fff, 1000, kLength, 0x20 + 0x7fff);
  CHECK(s.now().drained);
  s.data(1, 0x20 + 0x7ffe, 1000, kLength, 0x20 + 0x7ffe);
  CHECK_FALSE(s.now().drained);
}

TEST_CASE("what is left of a QP goes when it is set up anew", "[pipeline][rx_share]") {
  Share s;
  s.set_up_all();
  s.incast();
  CHECK(s.now().arm);
  CHECK(s.set_up(2, 0x20, QpState::Rts) == 1);  // at work since Rtr: nothing changes
  s.set_up(0, 0x20, QpState::Rts);
  CHECK(s.now().arm);
  s.set_up(0, 0x77);
  CHECK(s.now().arm);  // 99 000 of QP 1
  s.set_up(1, 0x77, QpState::Reset);
  CHECK(s.now().drained);
  s.data(0, 0x77, 1000, 60'000);
  CHECK_FALSE(s.now().drained);  // the first message of the new connection
}

TEST_CASE("a table write waits for the words inside, and no word passes it", "[pipeline][rx_share]") {
  Share s;
  s.set_up_all();
  const Came word{.qp = 0, .plen = 1000, .msn = 0x20, .emsn = 0x20, .length = kLength};
  s.came.load(word);
  s.run(2);
  s.came.load({.qp = 1, .plen = 1000, .msn = 0x20, .emsn = 0x20, .length = kLength});
  s.cycle();                // the first is in b now
  CHECK(s.set_up(3) == 3);  // B, C, and the write
  s.run(6);
  CHECK_FALSE(s.now().drained);
  s.trim(1);
  CHECK(s.now().arm);  // the second came behind it
}

TEST_CASE("with nothing to drain no window is restored", "[pipeline][rx_share]") {
  Share s;
  s.csr.share_drain = 0;
  s.set_up_all();
  CHECK_FALSE(s.now().drained);
  s.data(0, 0x20, 1000, 1000, 0x21);
  CHECK_FALSE(s.now().drained);
}

}  // namespace mrc::test::rx_share_test
