// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/crc.hpp>
#include <catch2/catch_test_macros.hpp>
#include <random>

#include "tests/wire/samples.hpp"
#include "wire/decode.hpp"
#include "wire/icrc.hpp"
#include "wire/text.hpp"

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

}  // namespace

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
