// SPDX-License-Identifier: Apache-2.0
#include "log/address.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::address_test {

using namespace mrc::log;

TEST_CASE("an IPv4 address is read and written as one, and as it is mapped into IPv6", "[log][address]") {
  const auto ip = address_of("10.0.0.1");
  REQUIRE(ip);
  CHECK((*ip)[11] == 0xff);
  CHECK(address_of("::ffff:10.0.0.1") == ip);
  CHECK(address_text(*ip) == "10.0.0.1");
  CHECK(address_text(address_of("fd00::a").value()) == "fd00::a");
  CHECK(address_text(Ip{}) == "::");
  CHECK_FALSE(address_of("10.0.0"));
  CHECK_FALSE(address_of(""));
}

}  // namespace mrc::test::address_test
