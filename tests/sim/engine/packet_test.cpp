// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/packet.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <string>

#include "tests/sim/box.hpp"
#include "wire/text.hpp"

namespace mrc::test::packet_test {

using namespace mrc::sim;

namespace {
std::vector<uint8_t> bytes_of(const std::string& hex) {
  size_t bad = 0;
  return *wire::from_hex(hex, bad);
}
/// Positions at which two frames of one length differ.
std::vector<size_t> differences(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  REQUIRE(a.size() == b.size());
  std::vector<size_t> at;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) at.push_back(i);
  }
  return at;
}
// base.md, "ICRC": the known answers for IPv4 and IPv6.
const char* const kIpv4 =
    "248a07a8fa22248a07a8fa22080045010040047840004011b4d5c0a80007c0a80007c00012b7002caca22460ffff000000d300cf1710463081"
    "8be28935d90e9a95505401be885e50000078f353f3";
}  // namespace

TEST_CASE("a pool gives packets again and counts those that are out", "[sim][packet]") {
  PacketPool pool;
  Packet* first = nullptr;
  {
    PacketPtr a = pool.make();
    first = a.get();
    a->dscp = 9;
    pool.attach(*a).bytes.assign(100, 1);
    CHECK(pool.live() == 1);
  }
  CHECK(pool.live() == 0);
  PacketPtr b = pool.make();
  CHECK(b.get() == first);
  CHECK(b->dscp == 0);
  CHECK(b->attachment() == nullptr);
  CHECK(b->hop_limit == 64);
  std::vector<PacketPtr> many;
  for (unsigned i = 0; i < 10'000; ++i) many.push_back(pool.make());
  CHECK(pool.live() == 10'001);
  CHECK(pool.memory() < 10'001 * 140);
}

TEST_CASE("fields are read from frames", "[sim][packet]") {
  PacketPool pool;
  const auto encapsulation = GENERATE(wire::Encapsulation::Ipv4, wire::Encapsulation::Ipv6, wire::Encapsulation::Srv6,
                                      wire::Encapsulation::Srv6Srh);
  std::array<uint8_t, 16> path{0x20, 0x01, 0x10, 0x00, 0x01, 0x00, 0x02, 0x00};
  const std::vector<uint8_t> frame = write_frame(encapsulation, 512, wire::kDscpTrimmable, path);
  const PacketPtr p = pool.from_frame(frame);
  CHECK(p->size == frame.size());
  CHECK(p->dscp == wire::kDscpTrimmable);
  CHECK(p->ecn == 2);
  CHECK(p->hop_limit == 64);
  CHECK(p->dst_host == 1);
  CHECK(p->dqp == 0x123);
  CHECK(p->psn == 0xabcdef);
  CHECK(p->payload == 512);
  CHECK(p->bth == kBthTs);
  const bool srv6 = encapsulation == wire::Encapsulation::Srv6 || encapsulation == wire::Encapsulation::Srv6Srh;
  CHECK(p->entropy == (encapsulation == wire::Encapsulation::Ipv4 ? 0xc0de0000u : 0xc0de1234u));
  CHECK(p->dst == (srv6 ? Address{0x2001100001000200u, 0} : host_address(1)));
}

TEST_CASE("a mark changes the ECN bits, and IPv4's checksum, and nothing else", "[sim][packet]") {
  PacketPool pool;
  const std::vector<uint8_t> before = bytes_of(kIpv4);
  const PacketPtr p = pool.from_frame(before);
  REQUIRE(p->ecn == 1);
  mark_ce(*p);
  // TOS 0x01 becomes 0x03 at byte 15, so the checksum 0xb4d5 at 24 and 25 becomes 2 less.
  CHECK(differences(before, frame_of(*p)) == std::vector<size_t>{15, 25});
  CHECK(frame_of(*p)[15] == 0x03);
  CHECK(frame_of(*p)[24] == 0xb4);
  CHECK(frame_of(*p)[25] == 0xd3);
  CHECK(wire::decode(frame_of(*p)).ecn() == 3);
}

TEST_CASE("code point, mark, hop limit and path leave the ICRC valid", "[sim][packet]") {
  PacketPool pool;
  const auto encapsulation = GENERATE(wire::Encapsulation::Ipv4, wire::Encapsulation::Ipv6, wire::Encapsulation::Srv6,
                                      wire::Encapsulation::Srv6Srh);
  const std::vector<uint8_t> before = write_frame(encapsulation, 64, 4, {0x20, 0x01, 0x10, 0x00, 1, 0, 2, 0});
  const PacketPtr p = pool.from_frame(before);
  p->dscp = 8;
  mark_ce(*p);
  p->hop_limit = 60;
  const bool srv6 = p->stack == Stack::Srv6 || p->stack == Stack::Srv6Srh;
  if (srv6) p->dst = shift_usid(p->dst);
  sync_forwarding(*p);
  const wire::Packet w = wire::decode(frame_of(*p));
  CHECK_FALSE(w.error);
  REQUIRE(w.icrc);
  CHECK(w.icrc->ok);
  CHECK(w.ecn() == 3);
  CHECK(w.dscp() == 8);
  if (srv6) {
    // Outer header at 14: traffic class in bytes 14 and 15, hop limit 21, uSIDs from 42 on.
    CHECK(differences(before, frame_of(*p)) == std::vector<size_t>{14, 15, 21, 42, 44});
    CHECK(w.ipv6->ecn == 2);
    CHECK(w.ipv6->hop_limit == 64);
  }
}

TEST_CASE("trimming cuts, re-marks, and rewrites no length, or the outermost only", "[sim][trim][A-15]") {
  PacketPool pool;
  const unsigned size = GENERATE(128u, 206u, 256u, 1000u, 4084u);
  const bool lengths = GENERATE(false, true);
  const auto encapsulation = GENERATE(wire::Encapsulation::Ipv4, wire::Encapsulation::Ipv6, wire::Encapsulation::Srv6,
                                      wire::Encapsulation::Srv6Srh);
  CAPTURE(size, encapsulation, lengths);
  const std::vector<uint8_t> before = write_frame(encapsulation, 4096);
  const PacketPtr p = pool.from_frame(before);
  trim(*p, size, wire::kDscpTrimmed, lengths);
  const auto after = frame_of(*p);
  CHECK(p->size == size);
  REQUIRE(after.size() == size);
  const wire::Packet w = wire::decode(after);
  CHECK_FALSE(w.error);
  CHECK(w.trimmed());
  CHECK(w.ecn() == 2);
  // With an SRH the BTH ends at byte 138.
  const bool has_bth = encapsulation != wire::Encapsulation::Srv6Srh || size >= 138;
  CHECK(w.bth.has_value() == has_bth);
  if (has_bth) CHECK(w.bth->psn == 0xabcdef);
  const wire::Packet old = wire::decode(before);
  std::vector<size_t> expected;
  if (w.ipv4) {
    CHECK(w.ipv4->total_length == (lengths ? size - 14 : old.ipv4->total_length));
    expected = {15, 24, 25};
    if (lengths) expected.insert(expected.end(), {16, 17});
  } else {
    const auto& outermost = old.outer_ipv6 ? old.outer_ipv6 : old.ipv6;
    CHECK((w.outer_ipv6 ? w.outer_ipv6 : w.ipv6)->payload_length == (lengths ? size - 54 : outermost->payload_length));
    if (w.outer_ipv6 && w.ipv6) CHECK(w.ipv6->payload_length == old.ipv6->payload_length);
    expected = {14, 15};
    if (lengths) expected.insert(expected.end(), {18, 19});
  }
  CHECK(w.udp->length == old.udp->length);
  // Nothing but these positions may differ.
  for (const size_t at : differences(std::span(before).first(size), after)) {
    CHECK(std::find(expected.begin(), expected.end(), at) != expected.end());
  }
}

TEST_CASE("a thread keeps the packets that it gives back, and what it has too many of goes to the others",
          "[sim][packet]") {
  PacketDepot depot;
  PacketPool mine(&depot), others(&depot), apart;
  const auto give_back_as = [](PacketPool& pool, std::vector<PacketPtr>& packets) {
    const WorkOfThread as(pool);
    packets.clear();
  };
  // One packet, with an attachment: the next one that the other makes.
  std::vector<PacketPtr> out;
  out.push_back(mine.make());
  mine.attach(*out[0]).bytes.assign(100, 1);
  const Packet* const first = out[0].get();
  give_back_as(others, out);
  CHECK(mine.live() == 1);
  CHECK(others.live() == -1);
  out.push_back(others.make());
  CHECK(out[0].get() == first);
  CHECK(out[0]->attachment() == nullptr);
  give_back_as(mine, out);
  CHECK(mine.live() + others.live() == 0);

  // A pool without the depot has its own again, whoever gives them back.
  out.push_back(apart.make());
  const Packet* const alone = out[0].get();
  give_back_as(mine, out);
  CHECK(apart.live() == 0);
  CHECK(apart.make().get() == alone);

  // All that one makes the other gives back, again and again.
  constexpr size_t kMany = 200'000;
  for (unsigned round = 0; round < 8; ++round) {
    for (size_t i = 0; i < kMany; ++i) out.push_back(mine.make());
    std::vector<const Packet*> all;
    for (const PacketPtr& packet : out) all.push_back(packet.get());
    std::sort(all.begin(), all.end());
    CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
    give_back_as(others, out);
  }
  // 682 packets in each 64 KiB; at most 64 times as many lie idle with the one who has too many, and one more with
  // each.
  CHECK(mine.memory() + others.memory() <= (kMany / 682 + 1 + 64 + 2) * 65536);
}

TEST_CASE("a packet shorter than the trim size is re-marked and stays whole", "[sim][trim]") {
  PacketPool pool;
  const auto encapsulation = GENERATE(wire::Encapsulation::Ipv4, wire::Encapsulation::Srv6);
  const std::vector<uint8_t> before = write_frame(encapsulation, 4);
  REQUIRE(before.size() < 256);
  const PacketPtr p = pool.from_frame(before);
  trim(*p, 256, wire::kDscpTrimmedLasthop);
  CHECK(p->size == before.size());
  CHECK(wire::decode(frame_of(*p)).dscp() == wire::kDscpTrimmedLasthop);
  // DSCP 4 becomes 16: 0x12 becomes 0x42 in the traffic class, of which IPv6's byte 14 holds the upper half. IPv4: byte
  // 15 and the checksum.
  if (encapsulation == wire::Encapsulation::Srv6) {
    CHECK(differences(before, frame_of(*p)) == std::vector<size_t>{14});
  } else {
    CHECK(differences(before, frame_of(*p)) == std::vector<size_t>{15, 25});
  }
}

TEST_CASE("bytes that are no IP packet stay as they are", "[sim][packet]") {
  PacketPool pool;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{14}, size_t{60}}) {
    const std::vector<uint8_t> before(size, 0xee);
    const PacketPtr p = pool.from_frame(before);
    mark_ce(*p);
    sync_forwarding(*p);
    trim(*p, 60, 12);
    const auto after = frame_of(*p);
    CHECK(std::vector<uint8_t>(after.begin(), after.end()) == before);
  }
  // an Ethernet header that promises IPv6, and a part of one
  std::vector<uint8_t> before = write_frame(wire::Encapsulation::Srv6Srh, 64);
  for (size_t size = 0; size < before.size(); ++size) {
    const PacketPtr p = pool.from_frame(std::span(before).first(size));
    mark_ce(*p);
    sync_forwarding(*p);
    trim(*p, 60, 12);
    CHECK(frame_of(*p).size() == std::min<size_t>(size, 60));
  }
}

}  // namespace mrc::test::packet_test
