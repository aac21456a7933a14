// SPDX-License-Identifier: Apache-2.0
#include "wire/icrc.hpp"

#include <algorithm>
#include <boost/crc.hpp>
#include <catch2/catch_test_macros.hpp>
#include <random>

#include "tests/wire/samples.hpp"
#include "wire/decode.hpp"
#include "wire/text.hpp"

namespace mrc::test::icrc_test {

using namespace mrc::wire;
using mrc::test::hex;

namespace {

/// CRC-32 bit by bit, by another implementation.
uint32_t boost_crc(std::span<const uint8_t> data) {
  boost::crc_basic<32> crc(0x04C11DB7, 0xFFFFFFFF, 0xFFFFFFFF, true, true);
  crc.process_bytes(data.data(), data.size());
  return crc.checksum();
}

/// The rule of the ICRC, written down once more: offsets are the fields replaced by ones.
uint32_t icrc_by_hand(std::vector<uint8_t> ip) {
  if (ip[0] >> 4 == 4) {
    for (size_t at : {1u, 8u, 10u, 11u, 26u, 27u, 32u}) ip[at] = 0xFF;
  } else {
    ip[0] |= 0x0F;
    for (size_t at : {1u, 2u, 3u, 7u, 46u, 47u, 52u}) ip[at] = 0xFF;
  }
  ip.insert(ip.begin(), 8, 0xFF);
  return boost_crc(ip);
}

/// The same when it starts at the outer header of SRv6: a frame from the Ethernet header to the byte before the ICRC.
uint32_t icrc_outer_by_hand(std::vector<uint8_t> frame) {
  const bool srh = frame[20] == 43;
  const std::vector<uint8_t> inner(frame.begin() + (srh ? 78 : 54), frame.end());
  std::vector<uint8_t> covered(8, 0xFF);
  frame[14] |= 0x0F;                                        // version, traffic class
  for (size_t at : {15u, 16u, 17u, 21u}) frame[at] = 0xFF;  // traffic class, flow label, hop limit
  for (size_t at = 38; at < 54; ++at) frame[at] = 0xFF;     // destination address
  if (srh) frame[57] = 0xFF;                                // segments left
  covered.insert(covered.end(), frame.begin() + 14, frame.begin() + (srh ? 78 : 54));
  std::vector<uint8_t> masked = inner;
  masked[0] |= 0x0F;
  for (size_t at : {1u, 2u, 3u, 7u, 46u, 47u, 52u}) masked[at] = 0xFF;
  covered.insert(covered.end(), masked.begin(), masked.end());
  return boost_crc(covered);
}

constexpr WireConfig kOuter{.icrc_outer = true};

}  // namespace

TEST_CASE("the CRC of any number of bytes, from anywhere on, is that of another implementation", "[wire.icrc.boost]") {
  std::mt19937 rng(1);
  std::vector<uint8_t> bytes(4200);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(rng());
  const auto same = [&](size_t from, size_t size) {
    const std::span<const uint8_t> some = std::span(bytes).subspan(from, size);
    const uint32_t all = crc_update(~uint32_t{0}, some.data(), size);
    const uint32_t first = crc_update(~uint32_t{0}, some.data(), size / 3);
    const uint32_t parts = crc_update(first, some.data() + size / 3, size - size / 3);
    return ~all == boost_crc(some) && parts == all;
  };
  for (size_t size = 0; size < 300; ++size) {
    for (size_t from = 0; from < 17; ++from) REQUIRE(same(from, size));
  }
  for (size_t size = 4000; size <= 4180; ++size) REQUIRE(same(size % 16, size));
}

TEST_CASE("the three known answers hold", "[wire.icrc.known]") {
  for (const auto& sample : mrc::test::known_answers()) {
    const auto ip = std::span(sample.frame).subspan(14, sample.frame.size() - 18);
    CHECK(icrc(ip) == sample.icrc);
    CHECK(icrc_by_hand({ip.begin(), ip.end()}) == sample.icrc);
    const Packet p = decode(sample.frame);
    REQUIRE(p.icrc);
    CHECK(p.icrc->value == sample.icrc);
    CHECK(p.icrc->ok);
    REQUIRE(p.error);  // RoCEv2 opcodes, not MRC's
    CHECK(p.error->code == ErrorCode::UnknownOpcode);
  }
}

TEST_CASE("the seed is the register after eight bytes of ones", "[wire.icrc.known]") {
  const std::vector<uint8_t> ones(8, 0xFF);
  CHECK(crc_update(0xFFFFFFFF, ones.data(), ones.size()) == kIcrcSeed);
  const std::string check = "123456789";  // the catalogued check value of CRC-32
  CHECK(~crc_update(0xFFFFFFFF, reinterpret_cast<const uint8_t*>(check.data()), check.size()) == 0xCBF43926);
}

TEST_CASE("zlib and Boost agree on every length and split", "[wire.icrc.boost]") {
  std::mt19937 rng(7);
  for (size_t size = 0; size < 300; ++size) {
    std::vector<uint8_t> data(size);
    std::generate(data.begin(), data.end(), [&] { return static_cast<uint8_t>(rng()); });
    const size_t cut = size ? rng() % size : 0;
    const uint32_t first = crc_update(0xFFFFFFFF, data.data(), cut);
    CHECK(~crc_update(first, data.data() + cut, size - cut) == boost_crc(data));
  }
}

TEST_CASE("ICRC of every opcode in every encapsulation agrees with Boost", "[wire.icrc.boost]") {
  std::mt19937 rng(8);
  for (const auto& frame : mrc::test::all_kinds(rng)) {
    const Packet p = decode(frame);
    REQUIRE(p.icrc);
    CHECK(p.icrc->ok);
    size_t ip = 14;
    if (p.outer_ipv6) ip += 40;
    if (p.srh) ip += 24;
    CHECK(icrc_by_hand({frame.begin() + static_cast<std::ptrdiff_t>(ip), frame.end() - 4}) == p.icrc->value);
  }
}

TEST_CASE("marks and hop limits do not break the ICRC, everything else does", "[wire.icrc.variant]") {
  std::mt19937 rng(9);
  for (const auto& frame : mrc::test::all_kinds(rng)) {
    Packet p = decode(frame);
    const uint32_t before = p.icrc->value;
    if (p.ipv4) {
      p.ipv4->dscp = 5;
      p.ipv4->ecn = 3;
      p.ipv4->ttl = 1;
    } else {
      p.ipv6->dscp = 5;
      p.ipv6->ecn = 3;
      p.ipv6->hop_limit = 1;
      p.ipv6->flow_label ^= 0xFFFFF;
    }
    if (p.outer_ipv6) p.outer_ipv6->dst[7] ^= 1;
    p.udp->checksum ^= 0x1234;
    p.bth->reserved4 ^= 0x55;
    complete(p);
    CHECK(decode(encode(p)).icrc->value == before);
    p.udp->src_port ^= 1;
    CHECK(decode(encode(p)).icrc->value != before);
    p.udp->src_port ^= 1;
    p.bth->reserved8_3 ^= 1;
    CHECK(decode(encode(p)).icrc->value != before);
  }
}

TEST_CASE("the ICRC from the outer header on agrees with Boost, and is the inner one where there is none",
          "[wire.icrc.boost][A-14]") {
  std::mt19937 rng(10);
  for (const auto& frame : mrc::test::all_kinds(rng)) {
    const Packet p = decode(frame);
    const auto other = encode(p, kOuter);
    REQUIRE(other.size() == frame.size());
    CHECK(std::equal(frame.begin(), frame.end() - 4, other.begin()));
    const Packet q = decode(other, kOuter);
    REQUIRE(q.icrc);
    CHECK(q.icrc->ok);
    CHECK(encode(q, kOuter) == other);
    if (!p.outer_ipv6) {
      CHECK(other == frame);
      continue;
    }
    CHECK(q.icrc->value == icrc_outer_by_hand({other.begin(), other.end() - 4}));
    // Each reading refuses what the other made.
    CHECK(decode(other).error->code == ErrorCode::BadIcrc);
    CHECK(decode(frame, kOuter).error->code == ErrorCode::BadIcrc);
    CHECK(decode(frame, kOuter).error->want == q.icrc->value);
  }
}

TEST_CASE("under the ICRC from the outer header on: every bit but what routers and uSID change",
          "[wire.icrc.variant][A-14]") {
  std::mt19937 rng(11);
  for (const auto encapsulation : {Encapsulation::Srv6, Encapsulation::Srv6Srh}) {
    const bool srh = encapsulation == Encapsulation::Srv6Srh;
    const auto frame = encode(mrc::test::random_packet(Opcode::WriteOnly, encapsulation, false, rng), kOuter);
    const size_t inner = srh ? 78 : 54;
    const auto outer = std::span(frame).subspan(14, inner - 14);
    const auto packet = std::span(frame).subspan(inner, frame.size() - inner - 4);
    const uint32_t value = icrc(packet, outer);
    for (size_t bit = 0; bit < 8 * outer.size(); ++bit) {
      std::vector<uint8_t> changed(outer.begin(), outer.end());
      const size_t at = bit / 8;
      changed[at] = static_cast<uint8_t>(changed[at] ^ 1u << bit % 8);
      const bool variant =
          (at == 0 && bit % 8 < 4) || (at >= 1 && at <= 3) || at == 7 || (at >= 24 && at < 40) || at == 43;
      CAPTURE(srh, bit);
      CHECK((icrc(packet, changed) == value) == variant);
    }
  }
}

}  // namespace mrc::test::icrc_test
