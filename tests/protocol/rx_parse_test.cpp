// SPDX-License-Identifier: Apache-2.0
#include "protocol/rx_parse.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/protocol/rx_frames.hpp"

namespace mrc::test::rx_parse_test {
namespace {

/// What a lane would have collected of the inner bytes.
RxFrame collected(const Bytes& inner, uint8_t tc = 0x12) {
  RxFrame f;
  std::copy_n(inner.begin(), std::min<std::size_t>(inner.size(), kRxHeadBytes), f.head);
  f.bytes = static_cast<uint32_t>(inner.size());
  if (inner.size() >= 64) {
    f.crc = wire::icrc_headers(inner.data(), 6);
    f.crc = wire::crc_update(f.crc, inner.data() + 60, inner.size() - 60);
  }
  f.tc = tc;
  f.encap_ok = true;
  return f;
}

constexpr U128 kPeer = U128{0xfd00'0000'0000'0000} << 64 | 1, kUs = kPeer + 1;  // as Packet has them

/// By the NIC that the packet is sent to.
RxPacket parsed(const RxFrame& f, RxParseCfg cfg = {}) {
  cfg.ip = kUs;
  return rx_parse(f, cfg);
}

Packet small_write() {
  Packet p;
  p.ext = write_ext(0x0102, 0x0304, 0x1122334455667788, 0xaabbccdd, 5);
  p.payload = counting(5);
  return p;
}

}  // namespace

TEST_CASE("every field of a WRITE's description comes from its place", "[rx_parse]") {
  Packet p = small_write();
  p.opcode = 0xCA;
  p.pkey = 0x8123;
  p.dqp = 0x010203;
  p.psn = 0xfedcba;
  p.ackreq = p.rtx = true;
  const RxPacket d = parsed(collected(p.inner()));
  CHECK(d.err == RxErr::None);
  CHECK(d.trim == Trim::None);
  CHECK_FALSE(d.ce);
  CHECK(d.icrc_ok);
  CHECK(d.opcode == 0xCA);
  CHECK(d.pad == 3);
  CHECK(d.ackreq);
  CHECK(d.rtx);
  CHECK_FALSE(d.ts);
  CHECK(d.pkey == 0x8123);
  CHECK(d.dqp == 0x010203);
  CHECK(d.psn == 0xfedcba);
  CHECK(d.entropy == 0x12345678);
  CHECK(d.plen == 5);
  CHECK(wire::load_be<4>(&d.ext[0]) == 0x01020304);  // METH
  CHECK(wire::load_be<4>(&d.ext[4]) == 0x11223344);
  CHECK(wire::load_be<4>(&d.ext[16]) == 5);
  CHECK(wire::load_be<4>(&d.ext[20]) == 0x01020304);  // payload
  CHECK(d.ext[24] == 5);
}

TEST_CASE("ev_swap exchanges the halves of the entropy", "[rx_parse]") {
  CHECK(parsed(collected(small_write().inner()), {.ev_swap = true}).entropy == 0x56781234);
}

TEST_CASE("the code point says whether a packet was trimmed, and CE is 3", "[rx_parse]") {
  const Bytes inner = small_write().inner();
  CHECK(parsed(collected(inner, 12 << 2)).trim == Trim::Trimmed);
  CHECK(parsed(collected(inner, 16 << 2)).trim == Trim::LastHop);
  CHECK(parsed(collected(inner, 16 << 2), {.dscp_trimmed = 16}).trim == Trim::Trimmed);
  CHECK(parsed(collected(inner, 12 << 2)).plen == 0);
  CHECK(parsed(collected(inner, 4 << 2 | 3)).ce);
  CHECK_FALSE(parsed(collected(inner, 4 << 2 | 1)).ce);
}

TEST_CASE("a trimmed packet that came back is told apart by its addresses or its code point", "[rx_parse][A-80]") {
  // Our address as the source, or another's as the destination: the switch has left the addresses. Both ours: it has
  // exchanged those of a NIC that sends to itself. Only from the peer to us it may be the peer's.
  struct Case {
    U128 src, dst;
    bool back;
    U128 receiver;  // of the packet that came back
  };
  constexpr U128 kOther = kUs + 1;
  constexpr Case kCases[] = {{kPeer, kUs, false, kPeer},
                             {kUs, kPeer, true, kPeer},
                             {kPeer, kOther, true, kPeer},
                             {kUs, kUs, true, kUs},
                             {kOther, kPeer, true, kOther}};
  for (const Case& c : kCases) {
    Bytes inner = small_write().inner();
    wire::store_be<8>(&inner[8], static_cast<uint64_t>(c.src >> 64));
    wire::store_be<8>(&inner[16], static_cast<uint64_t>(c.src));
    wire::store_be<8>(&inner[24], static_cast<uint64_t>(c.dst >> 64));
    wire::store_be<8>(&inner[32], static_cast<uint64_t>(c.dst));
    CAPTURE(inner[23], inner[39]);
    const auto of = [&](unsigned dscp, const RxParseCfg& cfg) {
      return parsed(collected(inner, static_cast<uint8_t>(dscp << 2)), cfg);
    };
    for (const Returned mode : {Returned::Drop, Returned::Learn, Returned::Peer, static_cast<Returned>(3)}) {
      const bool reported = mode == Returned::Drop || mode == Returned::Learn;
      CAPTURE(static_cast<unsigned>(mode));
      CHECK(of(12, {.returned = mode}).trim == (c.back && reported ? Trim::Returned : Trim::Trimmed));
      CHECK(of(16, {.returned = mode}).trim == (c.back && reported ? Trim::Returned : Trim::LastHop));
      CHECK(of(4, {.returned = mode}).trim == Trim::None);  // not trimmed: whoever it is from
      CHECK(of(21, {.returned = mode}).trim == Trim::None);
      // A code point of its own says so whatever the addresses are, also if it is one of the other two.
      RxParseCfg own{.dscp_returned = 21, .dscp_returned_valid = true, .returned = mode};
      CHECK(of(21, own).trim == (reported ? Trim::Returned : Trim::None));
      CHECK(of(12, own).trim == (c.back && reported ? Trim::Returned : Trim::Trimmed));
      own.dscp_returned = 16;
      CHECK(of(16, own).trim == (reported ? Trim::Returned : Trim::LastHop));
      own.dscp_returned_valid = false;
      CHECK(of(16, own).trim == (c.back && reported ? Trim::Returned : Trim::LastHop));
    }
    const RxPacket d = of(12, {});
    CHECK(d.err == RxErr::None);
    CHECK(d.plen == 0);
    CHECK((d.address == c.receiver));
  }
}

TEST_CASE("a packet that came back has any length, and addresses are held against the plane's", "[rx_parse][A-80]") {
  RxFrame f = collected(small_write().inner(), 21 << 2);
  f.head[45] ^= 4;  // UDP length
  CHECK(parsed(f, {.dscp_returned = 21}).err == RxErr::Length);
  const RxParseCfg own{.dscp_returned = 21, .dscp_returned_valid = true};
  CHECK(parsed(f, own).err == RxErr::None);
  CHECK(parsed(f, own).plen == 0);
  f.tc = 12 << 2;
  CHECK(parsed(f).trim == Trim::Trimmed);
  f.head[31] = 5;  // to us on plane 5
  CHECK(parsed(f).trim == Trim::Returned);
  CHECK(parsed(f, {.ip_plane = {.enable = true}}).trim == Trim::Trimmed);
  CHECK(parsed(f, {.ip_plane = {.enable = true, .lsb = 63}}).trim == Trim::Returned);
  f.head[23] = 2;  // from us, on plane 3
  f.head[15] = 3;
  CHECK(parsed(f, {.ip_plane = {.enable = true}}).trim == Trim::Returned);
  CHECK((parsed(f, {.ip_plane = {.enable = true}}).address == (kUs | U128{5} << 64)));
}

TEST_CASE("the first thing wrong names the error", "[rx_parse]") {
  const Packet good = small_write();
  RxFrame f = collected(good.inner());
  SECTION("MAC error before all else") {
    f.mac_err = true;
    f.bytes = 0;
    CHECK(parsed(f).err == RxErr::Mac);
  }
  SECTION("short: 63 bytes, and nothing at all") {
    f.bytes = 63;
    f.encap_ok = false;
    CHECK(parsed(f).err == RxErr::Short);
    CHECK(parsed(RxFrame{}).err == RxErr::Short);
    CHECK(parsed(RxFrame{}).icrc_ok);  // as the contract has it: no byte, no wrong byte
  }
  SECTION("short: 67 bytes with a time stamp, whatever else it is") {
    f.head[56] |= 0x10;
    f.bytes = 67;
    f.encap_ok = false;
    CHECK(parsed(f).err == RxErr::Short);
    f.bytes = 68;
    CHECK(parsed(f).err == RxErr::Encap);
    f.encap_ok = true;
    CHECK(parsed(f).err == RxErr::Length);
    f.tc = 12 << 2;
    CHECK(parsed(f).err == RxErr::None);
    f.bytes = 67;
    CHECK(parsed(f).err == RxErr::Short);
    f.head[56] ^= 0x10;
    CHECK(parsed(f).err == RxErr::None);
    f.bytes = 64;
    CHECK(parsed(f).err == RxErr::None);
  }
  SECTION("not IPv6 outside") {
    f.encap_ok = false;
    CHECK(parsed(f).err == RxErr::Encap);
  }
  SECTION("not IPv6 inside") {
    f.head[0] = 0x45;
    CHECK(parsed(f).err == RxErr::Encap);
  }
  SECTION("not UDP") {
    f.head[6] = 6;
    CHECK(parsed(f).err == RxErr::Encap);
  }
  SECTION("another UDP port") {
    const auto received = [&](uint16_t port, const RxParseCfg& cfg) {
      Packet p = good;
      p.udp_port = port;
      return parsed(collected(p.inner()), cfg).err == RxErr::None;
    };
    // Port of the register, port of the packet: received, received by a NIC that is restricted.
    constexpr struct {
      uint16_t own, port;
      bool any, only;
    } kCases[] = {{4791, 4791, true, true},   {4791, 4971, true, false},    {4971, 4791, true, false},
                  {4971, 4971, true, true},   {9000, 9000, true, true},     {9000, 4791, true, false},
                  {9000, 4971, true, false},  {4791, 9000, false, false},   {4971, 4790, false, false},
                  {4791, 4970, false, false}, {4791, 0x12b6, false, false}, {4791, 0xb712, false, false}};
    for (const auto& c : kCases) {
      CAPTURE(c.own, c.port);
      CHECK(received(c.port, {.udp_port = c.own}) == c.any);
      CHECK(received(c.port, {.udp_port = c.own, .udp_only = true}) == c.only);
    }
  }
  SECTION("tver") {
    Packet p = good;
    p.tver = 1;
    CHECK(parsed(collected(p.inner())).err == RxErr::Tver);
  }
  SECTION("IP length against the frame") {
    f.bytes += 4;
    CHECK(parsed(f).err == RxErr::Length);
    CHECK(parsed(f).plen == 0);
  }
  SECTION("UDP length against IP length") {
    f.head[45] ^= 4;
    CHECK(parsed(f).err == RxErr::Length);
  }
  SECTION("trimmed packets may keep any length") {
    f.head[45] ^= 4;
    f.tc = 12 << 2;
    CHECK(parsed(f).err == RxErr::None);
  }
  SECTION("an ICRC that is off is no parse error") {
    f.crc ^= 1;
    CHECK(parsed(f).err == RxErr::None);
    CHECK_FALSE(parsed(f).icrc_ok);
  }
}

TEST_CASE("a WRITE carries 0 to 4096 bytes behind all its headers", "[rx_parse]") {
  Packet p = small_write();
  p.payload = counting(4096);
  CHECK(parsed(collected(p.inner())).plen == 4096);
  p.payload = counting(4097);
  CHECK(parsed(collected(p.inner())).err == RxErr::Length);
  p.payload.clear();
  CHECK(parsed(collected(p.inner())).err == RxErr::None);
  CHECK(parsed(collected(p.inner())).plen == 0);
  p.opcode = 0xCB;  // the immediate is missing: 4 bytes short
  CHECK(parsed(collected(p.inner())).err == RxErr::Length);
  p.ext.resize(24);
  CHECK(parsed(collected(p.inner())).err == RxErr::None);
  p.ts = true;
  CHECK(parsed(collected(p.inner())).err == RxErr::Length);
}

TEST_CASE("control packets have one length each", "[rx_parse]") {
  struct Case {
    uint8_t opcode;
    std::size_t ext;
  };
  const auto [opcode, ext] =
      GENERATE(Case{0xDC, 36}, Case{0xDD, 20}, Case{0xD1, 4}, Case{0xDE, 16}, Case{0xD8, 16}, Case{0xD9, 36});
  Packet p;
  p.opcode = opcode;
  p.ext = counting(ext);
  CHECK(parsed(collected(p.inner())).err == RxErr::None);
  CHECK(parsed(collected(p.inner())).icrc_ok);
  CHECK(parsed(collected(p.inner())).plen == 0);
  p.ext = counting(ext + 4);
  CHECK(parsed(collected(p.inner())).err == RxErr::Length);
  p.ext = counting(ext - 4);  // an ACK without its AETH is 64 bytes: not too short to be looked at
  CHECK(parsed(collected(p.inner())).err == RxErr::Length);
}

TEST_CASE("every bit of the ICRC counts", "[rx_parse]") {
  RxFrame f = collected(small_write().inner());
  CHECK(parsed(f).icrc_ok);
  for (unsigned bit = 0; bit < 32; ++bit) {
    f.crc ^= 1u << bit;
    CHECK_FALSE(parsed(f).icrc_ok);
    f.crc ^= 1u << bit;
  }
}

TEST_CASE("the inner header stands behind Ethernet, an outer header, or that and a routing header", "[rx_parse]") {
  CHECK(rx_inner_offset(rx_encap(17)) == 14);
  CHECK(rx_inner_offset(rx_encap(41)) == 14 + 40);
  CHECK(rx_inner_offset(rx_encap(43)) == 14 + 40 + 24);
  CHECK(rx_inner_offset(rx_encap(0)) == 14);
}

TEST_CASE("a routing header is one segment of SRv6 in front of IPv6, or none of ours", "[rx_parse]") {
  const Bytes good = {41, 2, 4, 0};
  CHECK(srh_ok(good.data()));
  for (unsigned at = 0; at < 4; ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      Bytes other = good;
      other[at] = static_cast<uint8_t>(value);
      const bool same = value == good[at] || (at == 3 && value == 1);
      CHECK(srh_ok(other.data()) == same);
    }
  }
}

TEST_CASE("a description keeps the time its frame was complete, good or not", "[rx_parse]") {
  RxFrame f = collected(small_write().inner());
  f.tick = 0xfedc;
  CHECK(parsed(f).at == 0xfedc);
  f.mac_err = true;
  CHECK(parsed(f).at == 0xfedc);
}

TEST_CASE("a description has the inner source address, and the bytes behind the BTH as they came", "[rx_parse]") {
  Packet p;
  p.opcode = 0xD8;
  p.ext = counting(16);
  Bytes inner = p.inner();
  for (unsigned i = 0; i < 32; ++i) inner[8 + i] = static_cast<uint8_t>(0xC0 + i);  // source, destination
  RxPacket d = parsed(collected(inner));
  CHECK(d.err == RxErr::None);
  CHECK((d.address == (U128{0xc0c1c2c3c4c5c6c7} << 64 | 0xc8c9cacbcccdcecf)));
  for (unsigned i = 0; i < 16; ++i) CHECK(d.ext[i] == i + 1);
  p.opcode = 0xD9;
  p.ext = counting(36);
  d = parsed(collected(p.inner()));
  CHECK(d.err == RxErr::None);
  for (unsigned i = 0; i < 36; ++i) CHECK(d.ext[i] == i + 1);
}

}  // namespace mrc::test::rx_parse_test
