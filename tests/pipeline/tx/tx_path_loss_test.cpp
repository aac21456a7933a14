// SPDX-License-Identifier: Apache-2.0
/// tx_path: a loss in a bad world.
#include "tests/pipeline/tx/tx_path_bench.hpp"

namespace mrc::test::tx_path {
namespace {

constexpr uint32_t kEpoch = 1024;

/// With loss_share, at the beginning of an epoch.
struct Worlds : Bench {
  explicit Worlds(unsigned share, const char* name = "asic800") : Bench(0, name) {
    csr.loss_share = static_cast<uint8_t>(share);
    csr.tick = 32 * kEpoch;
  }
  /// The next EV of a plane that is in use loses something, at this tick. Returns whether the loss has counted.
  bool loses(unsigned plane) {
    const unsigned before = bads;
    lose(static_cast<uint16_t>(plane + preset.num_planes * group_[plane]));
    if (bads != before) ++group_[plane];
    return bads != before;
  }
  /// Losses on one plane until one counts, that one with them.
  unsigned until_one_counts(unsigned plane) {
    for (unsigned n = 1; n <= 20; ++n) {
      if (loses(plane)) return n;
    }
    return 0;
  }
  void all_planes_lose() {
    for (unsigned p = 0; p < preset.num_planes; ++p) (void)loses(p);
  }

 private:
  unsigned group_[8] = {};
};

}  // namespace

TEST_CASE("tx_path: by hand, four planes of eight that lose are a bad world", "[pipeline][tx_path][A-87]") {
  Worlds b(2);
  for (unsigned p = 0; p < 4; ++p) CHECK(b.loses(p));
  CHECK_FALSE(b.loses(4));
  CHECK(b.events.size() == 4);
  CHECK_FALSE(b.loses(4));
  CHECK_FALSE(b.loses(5));
  CHECK(b.loses(4));
  CHECK(b.events.size() == 5);
  CHECK(b.events.back().ev_idx == 4);
  CHECK(b.bads == 5);
  CHECK(b.until_one_counts(7) == 4);
}

TEST_CASE("tx_path: in a bad world one loss of 2^loss_share counts", "[pipeline][tx_path][A-87]") {
  const unsigned share = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u);
  CAPTURE(share);
  Worlds b(share);
  for (unsigned p = 0; p < 4; ++p) CHECK(b.loses(p));
  const unsigned of = share < 4 ? 1u << share : 16u;
  for (unsigned plane = 0; plane < 8; ++plane) CHECK(b.until_one_counts((plane + 4) % 8) == of);
}

TEST_CASE("tx_path: with two planes the other one is half of the world; with one there is no world",
          "[pipeline][tx_path][A-87]") {
  Worlds b(1, "tiny");
  CHECK(b.loses(0));
  CHECK(b.loses(0));  // one's own plane says nothing
  CHECK_FALSE(b.loses(1));
  CHECK(b.loses(0));
  CHECK_FALSE(b.loses(0));
}

TEST_CASE("tx_path: losses of two epochs before are forgotten, but for an epoch that wraps",
          "[pipeline][tx_path][A-87]") {
  const uint32_t start = 32 * kEpoch + 1000;
  SECTION("the epoch after still counts, the second one does not") {
    const unsigned epochs = GENERATE(0u, 1u, 2u, 3u, 14u, 15u);
    CAPTURE(epochs);
    Worlds b(4);
    b.csr.tick = start;
    for (unsigned p = 0; p < 4; ++p) CHECK(b.loses(p));
    b.csr.tick = 32 * kEpoch + epochs * kEpoch + (epochs == 0 ? 1023 : 0);
    CHECK(b.loses(4) == (epochs > 1));
  }
  SECTION("by sixteen epochs the loss is one of now, by seventeen one of just before") {
    const unsigned epochs = GENERATE(16u, 17u, 18u);
    CAPTURE(epochs);
    Worlds b(4);
    b.csr.tick = start;
    for (unsigned p = 0; p < 4; ++p) CHECK(b.loses(p));
    b.csr.tick = start + epochs * kEpoch;
    CHECK(b.loses(4) == (epochs == 18));
  }
  SECTION("each loss moves the epochs on: what was now is before, and then gone") {
    Worlds b(4);
    for (unsigned p = 0; p < 3; ++p) CHECK(b.loses(p));
    b.csr.tick += kEpoch;
    CHECK(b.loses(3));  // three others, of the epoch before
    CHECK_FALSE(b.loses(4));
    b.csr.tick += kEpoch;
    CHECK(b.loses(5));  // planes 3 and 4 only
  }
}

TEST_CASE("tx_path: only a loss of an EV in use, on a plane that can be used, says something of the world",
          "[pipeline][tx_path][A-87]") {
  Worlds b(4);
  for (unsigned p = 0; p < 3; ++p) CHECK(b.loses(p));
  SECTION("a loss of an EV that is out of use") {
    b.deny(3);
    b.lose(3);
    CHECK(b.loses(4));
    b.csr.loss_share = 1;
    CHECK_FALSE(b.loses(5));
    b.lose(4);  // ASSUMED_BAD already
    CHECK(b.loses(5));
  }
  SECTION("a loss on a plane that is down") {
    b.up = 0xf7;
    CHECK_FALSE(b.loses(3));
    b.up = 0xff;
    CHECK(b.loses(4));
  }
  SECTION("marks and revivals") {
    b.feed_back(3, 0xA000 + 256 + 3, FbKind::SkipOnce);
    b.feed_back(11, 0xA000 + 256 + 11, FbKind::AlwaysSkip);
    b.settle();
    CHECK(b.bads == 4);
    b.revive(11);
    CHECK(b.loses(4));
  }
  SECTION("an EV in SKIP is in use") {
    b.feed_back(3, 0xA000 + 256 + 3, FbKind::SkipOnce);
    CHECK(b.loses(3));
    CHECK_FALSE(b.loses(4));
    CHECK_FALSE(b.loses(5));
  }
}

TEST_CASE("tx_path: what the floor keeps in use has lost something all the same", "[pipeline][tx_path][A-87]") {
  Worlds b(1);
  b.csr.ev_min_active = 256;
  for (unsigned p = 0; p < 4; ++p) CHECK_FALSE(b.loses(p));
  CHECK(b.floors == 4);
  CHECK_FALSE(b.loses(4));  // spared: no event
  CHECK(b.floors == 4);
  CHECK_FALSE(b.loses(4));  // counts
  CHECK(b.floors == 5);
}

TEST_CASE("tx_path: a QP set up again knows nothing of its world, other QPs have their own",
          "[pipeline][tx_path][A-87]") {
  Worlds b(3);
  b.set_up(1, 3);
  b.all_planes_lose();
  CHECK_FALSE(b.loses(0));
  const unsigned bads = b.bads;
  b.fb.load({.qp = 1, .ev_idx = 9, .entropy = 0, .kind = FbKind::Loss});
  b.settle();
  CHECK(b.bads == bads + 1);
  b.set_up(2, 3);
  b.lose(20);
  CHECK(b.bads == bads + 2);
}

TEST_CASE("tx_path: without loss_share each loss counts, and leaves no trace", "[pipeline][tx_path][A-87]") {
  Worlds b(0);
  for (unsigned i = 0; i < 16; ++i) CHECK(b.loses(i % 8));
  b.csr.loss_share = 4;
  for (unsigned p = 0; p < 4; ++p) CHECK(b.loses(p));
  CHECK_FALSE(b.loses(4));
  b.csr.loss_share = 0;
  CHECK(b.loses(4));
}

TEST_CASE("tx_path: losses that were spared are kept when loss_share changes", "[pipeline][tx_path][A-87]") {
  Worlds b(4);
  for (unsigned p = 0; p < 4; ++p) CHECK(b.loses(p));
  for (unsigned i = 0; i < 10; ++i) CHECK_FALSE(b.loses(4));
  b.csr.loss_share = 2;  // 10 spared: the eleventh does not count, the twelfth does
  CHECK_FALSE(b.loses(4));
  CHECK(b.loses(4));
}

TEST_CASE("tx_path: a loss that counts in a bad world brings a backup EV in, one that does not brings none",
          "[pipeline][tx_path][A-87]") {
  Bench b(2, "asic800");
  b.csr.loss_share = 1;
  for (uint16_t ev = 0; ev < 4; ++ev) b.lose(ev);
  CHECK(b.lose(4) == 0);
  CHECK(b.bads == 4);
  CHECK(b.lose(4) != 0);
  CHECK(b.bads == 5);
  const auto evs = b.pass(240);
  CHECK(evs.count(4) == 0);
  CHECK(evs.count(30 * 8 + 4) == 1);
  CHECK(evs.count(30 * 8 + 5) == 0);
}

}  // namespace mrc::test::tx_path
