// SPDX-License-Identifier: Apache-2.0
#include "pipeline/lib/icrc_words.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/protocol/rx_frames.hpp"
#include "wire/icrc.hpp"

namespace mrc::test::icrc_words_test {

TEST_CASE("icrc_words and icrc_bytes are the CRC of the wire library", "[pipeline][rx_lane]") {
  const Bytes data = counting(64);
  for (unsigned n = 0; n <= 64; ++n) {
    const uint32_t want = wire::crc_update(0x12345678, data.data(), n);
    if (n % 4 == 0) CHECK(icrc_words(0x12345678, data.data(), n) == want);
    CHECK(icrc_bytes(0x12345678, data.data(), n) == want);
  }
}

}  // namespace mrc::test::icrc_words_test
