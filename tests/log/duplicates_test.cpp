// SPDX-License-Identifier: Apache-2.0
#include "log/duplicates.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "wire/packet.hpp"

namespace mrc::test::duplicates_test {

using log::Duplicates;

namespace {

constexpr uint64_t kUs = 1000;

/// Data of that PSN.
std::vector<uint8_t> frame(uint32_t psn) {
  wire::Packet p = wire::make_packet(wire::Opcode::WriteOnly, wire::Encapsulation::Ipv6);
  p.bth->psn = psn;
  wire::complete(p);
  return wire::encode(p);
}

bool again(Duplicates& d, const std::vector<uint8_t>& bytes, uint64_t ns, uint64_t interface) {
  return d.again(bytes, bytes.size(), {.ns = ns, .interface = interface, .unique = true});
}

}  // namespace

TEST_CASE("a frame at another interface is the same for 100 us, and no longer", "[log][import]") {
  for (const bool late : {false, true}) {
    Duplicates d;
    CHECK_FALSE(again(d, frame(1), 0, 0));
    CHECK(again(d, frame(1), 100 * kUs + (late ? 1 : 0), 1) == !late);
  }
}

TEST_CASE("of a frame that was sent more often at one place than seen at another, the greater number counts",
          "[log][import]") {
  Duplicates d;
  CHECK_FALSE(again(d, frame(1), 0, 0));
  CHECK_FALSE(again(d, frame(1), 1, 0));  // sent twice
  CHECK(again(d, frame(1), 2, 1));
  CHECK(again(d, frame(1), 3, 1));
  CHECK_FALSE(again(d, frame(1), 4, 1));  // a third one, which the first place has not shown
}

TEST_CASE("a router changes what stands around the inner header, and the frame is the same", "[log][import]") {
  for (const auto encapsulation : {wire::Encapsulation::Srv6, wire::Encapsulation::Srv6Srh}) {
    wire::Packet p = wire::make_packet(wire::Opcode::WriteOnly, encapsulation);
    wire::complete(p);
    Duplicates d;
    CHECK_FALSE(again(d, wire::encode(p), 0, 0));
    p.outer_ipv6->dst[3] ^= 1;
    p.outer_ipv6->flow_label ^= 1;
    --p.outer_ipv6->hop_limit;
    if (p.srh) p.srh->segments_left ^= 1;
    CHECK(again(d, wire::encode(p), 10, 1));
    p.ipv6->dst[3] ^= 1;
    CHECK_FALSE(again(d, wire::encode(p), 20, 2));
  }
}

TEST_CASE("two frames that are alike, at two hops of each interface, are two", "[log][import]") {
  wire::Packet ack = wire::make_packet(wire::Opcode::Ack, wire::Encapsulation::Ipv6);
  wire::complete(ack);
  const std::vector<uint8_t> near = wire::encode(ack);
  --ack.ipv6->hop_limit;
  const std::vector<uint8_t> far = wire::encode(ack);
  for (const bool router : {false, true}) {
    Duplicates d;
    CHECK_FALSE(again(d, frame(1), 0, 0));
    CHECK(again(d, frame(1), 0, 1));
    std::vector<uint8_t> behind = frame(1);
    --behind[21];                              // hop limit
    for (const uint64_t interface : {0, 1}) {  // which show what they have shown in front of a router
      if (router) CHECK(again(d, behind, 0, interface));
    }
    const auto sent = [&](const std::vector<uint8_t>& bytes, uint64_t ns, uint64_t interface) {
      return !d.again(bytes, bytes.size(), {.ns = ns, .interface = interface});
    };
    CHECK(sent(near, 1, 0));
    CHECK_FALSE(sent(near, 2, 1));
    CHECK(sent(far, 3, 0) != router);
    CHECK_FALSE(sent(far, 4, 1));
  }
}

TEST_CASE("a probe that a switch has marked counts once besides the same one without the mark", "[log][import]") {
  Duplicates d;
  CHECK_FALSE(again(d, frame(1), 0, 0));
  CHECK(again(d, frame(1), 0, 1));  // the two interfaces show the same
  wire::Packet p = wire::make_packet(wire::Opcode::ProbeRequest, wire::Encapsulation::Ipv6);
  wire::complete(p);
  const std::vector<uint8_t> probe = wire::encode(p);
  const auto same = [&](uint64_t interface, bool marked) {
    return d.again(probe, probe.size(), {.ns = 1, .interface = interface, .marked = marked});
  };
  CHECK_FALSE(same(0, false));
  CHECK_FALSE(same(0, false));  // sent twice
  CHECK_FALSE(same(1, true));
  CHECK(same(1, true));
}

TEST_CASE("a frame at a seventh place counts: six are remembered", "[log][import]") {
  Duplicates d;
  CHECK_FALSE(again(d, frame(1), 0, 0));
  for (uint64_t place = 1; place < 6; ++place) CHECK(again(d, frame(1), place, place));
  CHECK_FALSE(again(d, frame(1), 6, 6));
  CHECK_FALSE(again(d, frame(1), 7, 7));
}

TEST_CASE("of frames within 100 us so many are remembered; beyond them the oldest counts again", "[log][import]") {
  constexpr uint32_t kMost = 1 << 16;  // the one that is asked about is one of them
  for (const bool full : {false, true}) {
    Duplicates d;
    const uint32_t frames = full ? kMost : kMost - 1;
    for (uint32_t psn = 0; psn < frames; ++psn) REQUIRE_FALSE(again(d, frame(psn), 0, 0));
    CHECK(again(d, frame(0), 1, 1) == !full);
    CHECK(again(d, frame(frames - 1), 1, 1));
  }
}

TEST_CASE("frames are told from others while those before them are forgotten one by one", "[log][import]") {
  // Some 100 are known at a time, of 4 lives of the table; every third one is seen at four places.
  Duplicates d;
  for (uint32_t psn = 0; psn < 5000; ++psn) {
    const uint64_t now = psn * kUs;
    REQUIRE_FALSE(again(d, frame(psn), now, 0));
    if (psn % 3 == 0) {
      for (uint64_t place = 1; place < 4; ++place) REQUIRE(again(d, frame(psn), now, place));
    }
    if (psn >= 100) REQUIRE(again(d, frame(psn - 100), now, 9));
    if (psn >= 101) REQUIRE_FALSE(again(d, frame(psn - 101), now, 9));
  }
}

}  // namespace mrc::test::duplicates_test
