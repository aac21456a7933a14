// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/inflight/tx_inflight_psns.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::tx_inflight_psns_test {

TEST_CASE("blocks of 16 PSNs count modulo 2^20", "[protocol][window]") {
  CHECK(psn_block(0) == 0);
  CHECK(psn_block(15) == 0);
  CHECK(psn_block(16) == 1);
  CHECK(psn_block(0xffffff) == 0xfffff);
  CHECK(block_psn(0xfffff) == 0xfffff0);
  CHECK(block_psn(0x100000) == 0);
  CHECK(block_add(0xfffff, 1) == 0);
  CHECK(block_dist(2, 0xfffff) == 3);
}

TEST_CASE("a QP holds on to the block of its oldest packet out, or to that of its newest", "[protocol][window]") {
  CHECK(oldest_block(0x20, 0x25) == 2);
  CHECK(oldest_block(0x2f, 0x30) == 2);
  CHECK(oldest_block(0x25, 0x25) == 2);
  CHECK(oldest_block(0x30, 0x30) == 2);  // 0x2f is the newest
  CHECK(oldest_block(0, 0) == 0xfffff);
}

TEST_CASE("the blocks of a SACK are those of its bitmap inside the window", "[protocol][window]") {
  const auto is = [](const SackBlocks& b, uint32_t first, uint32_t last) {
    return !b.none && b.first == first && b.last == last;
  };
  CHECK(is(sack_blocks(0x20, 0x20, 0x200), 2, 5));  // 64 PSNs on their borders
  CHECK(is(sack_blocks(0x21, 0x20, 0x200), 2, 6));  // not on them: one more
  CHECK(is(sack_blocks(0x10, 0x3f, 0x200), 3, 4));  // what is below the window does not count
  CHECK(is(sack_blocks(0x10, 0x15, 0x2a), 1, 2));   // nor what is above
  CHECK(is(sack_blocks(0x10, 0x4f, 0x200), 4, 4));  // its last PSN is the oldest out
  CHECK(is(sack_blocks(0x2a, 0x15, 0x2b), 2, 2));   // its first PSN is the newest sent
  CHECK(is(sack_blocks(0xfffff0, 0xfffff0, 0x200), 0xfffff, 2));
  CHECK(sack_blocks(0x10, 0x50, 0x200).none);  // all of it acknowledged
  CHECK(sack_blocks(0x2b, 0x15, 0x2b).none);   // none of it sent
  CHECK(sack_blocks(0x10, 0x15, 0x15).none);   // nothing out
}

}  // namespace mrc::test::tx_inflight_psns_test
