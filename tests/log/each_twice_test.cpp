// SPDX-License-Identifier: Apache-2.0
#include "log/each_twice.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "log/duplicates.hpp"
#include "wire/packet.hpp"

namespace mrc::test::each_twice_test {

namespace {

constexpr uint64_t kUs = 1000;

/// Data of that PSN, from one of some senders; IPv4 from odd ones.
std::vector<uint8_t> frame(uint8_t sender, uint32_t psn) {
  const auto encapsulation = sender % 2 == 0 ? wire::Encapsulation::Ipv6 : wire::Encapsulation::Ipv4;
  wire::Packet p = wire::make_packet(wire::Opcode::WriteOnly, encapsulation);
  if (p.ipv6) p.ipv6->src[15] = sender;
  if (p.ipv4) p.ipv4->src[3] = sender;
  p.bth->psn = psn;
  wire::complete(p);
  return wire::encode(p);
}

/// An interface that shows frames of senders, each so often, the copies so much later.
struct Interface {
  log::EachTwice twice;
  uint64_t now = 0;
  uint32_t psn = 0;
  void show(uint8_t sender, unsigned times, uint64_t later = 1) {
    const std::vector<uint8_t> bytes = frame(sender, psn++);
    for (unsigned i = 0; i < times; ++i) twice.came(bytes, bytes.size(), now + i * later);
    now += 2 * kUs;
  }
};

}  // namespace

TEST_CASE("every frame of two senders twice within 100 us: a mirror port shows both directions", "[log][import]") {
  for (const bool late : {false, true}) {
    Interface i;
    for (unsigned n = 0; n < 64; ++n) i.show(n % 4 == 0, 2, 100 * kUs + (late ? 1 : 0));
    i.twice.end();
    CHECK(i.twice.is() == !late);
  }
}

TEST_CASE("sixteen frames of two senders tell a mirror port, fifteen do not", "[log][import]") {
  for (const unsigned frames : {15u, 16u}) {
    Interface i;
    for (unsigned n = 0; n < frames; ++n) i.show(n < 2, 2);
    i.twice.end();
    CHECK(i.twice.is() == (frames == 16));
  }
}

TEST_CASE("a NIC that sends all that it sends twice is no mirror port", "[log][import]") {
  for (const unsigned others : {0u, 1u}) {
    Interface i;
    for (unsigned n = 0; n < 2000; ++n) {
      i.show(0, 2);
      if (n % 8 == 0 && others != 0) i.show(1, 1);
      REQUIRE_FALSE(i.twice.is());
    }
  }
}

TEST_CASE("retransmissions that look like what was sent before make no mirror port", "[log][import]") {
  Interface i;
  for (unsigned n = 0; n < 2000; ++n) {
    i.show(n % 2, n % 4 < 2 ? 2 : 1);
    REQUIRE_FALSE(i.twice.is());
  }
}

TEST_CASE("copies that a mirror port loses change nothing; when they end, it is none any more", "[log][import]") {
  Interface i;
  for (unsigned n = 0; n < 200; ++n) i.show(n % 2, 2);
  REQUIRE(i.twice.is());
  for (unsigned n = 0; n < 2000; ++n) {
    i.show(n % 2, n % 3 == 0 ? 1 : 2);
    REQUIRE(i.twice.is());
  }
  for (unsigned n = 0; n < 4000; ++n) i.show(n % 2, 1);
  CHECK_FALSE(i.twice.is());
}

TEST_CASE("where every frame comes twice, two are one, also beside another interface", "[log][import]") {
  log::Duplicates d;
  const auto again = [&](uint64_t interface, bool each_twice) {
    const std::vector<uint8_t> bytes = frame(0, 1);
    return d.again(bytes, bytes.size(), {.ns = 0, .interface = interface, .unique = true, .each_twice = each_twice});
  };
  CHECK_FALSE(again(0, true));
  CHECK(again(0, true));
  CHECK_FALSE(again(0, true));  // sent twice, so it comes four times
  CHECK(again(0, true));
  CHECK(again(1, false));
  CHECK(again(1, false));
  CHECK_FALSE(again(1, false));
}

}  // namespace mrc::test::each_twice_test
