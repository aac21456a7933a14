// SPDX-License-Identifier: Apache-2.0
#include "protocol/tx_header_build.hpp"

#include <array>
#include <boost/crc.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wire/bytes.hpp"
#include "wire/decode.hpp"
#include "wire/icrc.hpp"

namespace mrc::test::tx_header_build_test {
namespace {

constexpr U128 u128(uint64_t hi, uint64_t lo) { return static_cast<U128>(hi) << 64 | lo; }

/// A header and its length.
struct Header {
  std::array<uint8_t, kMaxHeader> bytes;
  unsigned length = 0;

  Header() { bytes.fill(0xee); }
  std::span<const uint8_t> used() const { return {bytes.data(), length}; }
};

Header data_header(const WritePacket& packet, Way way, const HdrQp& qp, const HdrNic& nic, uint32_t tick) {
  Header h;
  h.length = build_data_header(packet, way, qp, nic, tick, h.bytes);
  return h;
}
Header ctl_header(const ControlPacket& packet, Way way, const HdrQp& qp, const HdrNic& nic,
                  std::optional<uint8_t> request = {}) {
  Header h;
  h.length = build_ctl_header(packet, way, qp, nic, h.bytes, request);
  return h;
}

std::string hex(const Header& h, unsigned from, unsigned to) {
  std::string s;
  for (unsigned i = from; i < to; ++i) {
    char b[3];
    std::snprintf(b, sizeof b, "%02x", h.bytes[i]);
    s += b;
  }
  return s;
}

HdrNic nic() {
  HdrNic n{.mac = 0x020000000001, .ip = u128(0xfd00000000000000, 1)};
  return n;
}

HdrQp qp() {
  HdrQp q{.dqpn = 0x000123, .pkey = 0xffff, .dmac = 0x020000000002, .dip = u128(0xfd00000000000000, 2)};
  return q;
}

constexpr Way kWay{5, 0xC1232345};

WritePacket packet() {
  return {.part = {.opcode = 0xCA,
                   .va = 0x0011223344556677,
                   .laddr = 0x1000,
                   .rkey = 0xcafe0001,
                   .dma_length = 6,
                   .imm = 0xaabbccdd,
                   .rqmsn = 0x0304,
                   .plen = 6,
                   .last = true},
          .psn = 0xfffffe,
          .msn = 0x0102,
          .ackreq = true};
}

/// The register after eight bytes of ones and the masked bytes, by another CRC.
uint32_t reference(const Header& h, unsigned inner) {
  std::vector<uint8_t> v(8, 0xff);
  v.insert(v.end(), h.bytes.begin() + inner, h.bytes.begin() + h.length);
  uint8_t* p = v.data() + 8;
  p[0] |= 0x0f;
  for (const unsigned i : {1u, 2u, 3u, 7u, 46u, 47u, 52u}) p[i] = 0xff;
  boost::crc_optimal<32, 0x04C11DB7, 0xFFFFFFFF, 0, true, true> crc;
  crc.process_bytes(v.data(), v.size());
  return crc.checksum();
}

/// The same from the outer IPv6 header on (frame byte 14), `inner` being 54 or 78.
uint32_t outer_reference(const Header& h, unsigned inner) {
  std::vector<uint8_t> f(h.bytes.begin(), h.bytes.begin() + h.length);
  f[14] |= 0x0f;
  for (const unsigned i : {15u, 16u, 17u, 21u}) f[i] = 0xff;
  for (unsigned i = 38; i < 54; ++i) f[i] = 0xff;  // destination
  if (inner == 78) f[57] = 0xff;                   // segments left
  f[inner] |= 0x0f;
  for (const unsigned i : {1u, 2u, 3u, 7u, 46u, 47u, 52u}) f[inner + i] = 0xff;
  std::vector<uint8_t> v(8, 0xff);
  v.insert(v.end(), f.begin() + 14, f.end());
  boost::crc_optimal<32, 0x04C11DB7, 0xFFFFFFFF, 0, true, true> crc;
  crc.process_bytes(v.data(), v.size());
  return crc.checksum();
}

/// The whole frame: header, payload 0, 1, 2, ..., padding and ICRC, as a lane makes it.
std::vector<uint8_t> frame(const Header& h, unsigned plen, Encap encap, bool icrc_outer) {
  std::vector<uint8_t> v(h.bytes.begin(), h.bytes.begin() + h.length);
  for (unsigned i = 0; i < plen; ++i) v.push_back(static_cast<uint8_t>(i));
  while (v.size() < h.length + (plen + 3u) / 4 * 4) v.push_back(0);
  const uint32_t crc =
      ~wire::crc_update(header_crc(h.used(), encap, icrc_outer), v.data() + h.length, v.size() - h.length);
  for (unsigned i = 0; i < 4; ++i) v.push_back(static_cast<uint8_t>(crc >> 8 * i));
  return v;
}

}  // namespace

TEST_CASE("header of a WRITE Only without encapsulation, byte by byte", "[protocol][header]") {
  Header h = data_header(packet(), kWay, qp(), nic(), 0xbeef);
  CHECK(h.length == 14 + 40 + 8 + 12 + 4 + 16);
  CHECK(hex(h, 0, 14) == "02000000000202000000000186dd");
  // DSCP 4, ECT(0): 0x12; length 8 + 12 + 20 + 6 + 2 + 4 = 52
  CHECK(hex(h, 14, 54) ==
        "612023450034"
        "1140"
        "fd000000000000000000000000000001"
        "fd000000000000000000000000000002");
  CHECK(hex(h, 54, 62) == "c123136b00340000");
  // M and SE 0, pad 2
  CHECK(hex(h, 62, 74) ==
        "ca20ffff00000123"
        "80fffffe");
  CHECK(hex(h, 74, 78) == "03040102");
  CHECK(hex(h, 78, 94) == "0011223344556677cafe000100000006");
  CHECK(hex(h, 94, 152) == std::string(116, '0'));
  CHECK(header_crc(h.used(), Encap::Ipv6, false) == reference(h, 14));
}

TEST_CASE("M in bit 7 or 6 of BTH byte 1, time stamps in microseconds", "[protocol][header][A-02]") {
  HdrQp q = qp();
  q.ts = true;
  HdrNic n = nic();
  n.bth_m = n.tsr_us = true;
  Header h = data_header(packet(), kWay, q, n, 0x7'fff9);
  CHECK(hex(h, 62, 66) == "caa0ffff");  // M, pad 2
  CHECK(hex(h, 78, 82) == "ffff8001");  // behind METH
  n.bth_m = false;
  h = data_header(packet(), kWay, q, n, 0x8'0009);
  CHECK(hex(h, 62, 66) == "ca20ffff");
  CHECK(hex(h, 78, 82) == "00018001");
  ControlPacket c{.opcode = 0xD1, .ext_len = 4};
  n.bth_m = true;
  h = ctl_header(c, {}, q, n);
  CHECK(hex(h, 62, 64) == "d180");
  n.bth_m_high = false;
  h = ctl_header(c, {}, q, n);
  CHECK(hex(h, 62, 64) == "d140");
  h = data_header(packet(), kWay, q, n, 0);
  CHECK(hex(h, 62, 66) == "ca60ffff");
}

TEST_CASE("retransmission with time stamp, immediate and SRv6", "[protocol][header]") {
  WritePacket p = packet();
  p.part.opcode = 0xC9;
  p.rtx = true;
  p.ackreq = false;
  HdrQp q = qp();
  q.ts = true;
  q.encap = Encap::Srv6;
  q.srv6 = u128(0xfcbb000001000200, 0x0300000000000000);
  HdrNic n = nic();
  n.srv6 = {12, 1, 4, 6};
  n.ev_swap = true;
  const Header h = data_header(p, kWay, q, n, 0xbeef);
  CHECK(h.length == 14 + 40 + 40 + 8 + 12 + 4 + 4 + 16 + 4);
  // DSCP 8, ECT(0): 0x22; inner length 8 + 12 + 28 + 8 + 4 = 60; outer 100. The flow label is EV[31:16] now.
  // uSIDs 0100 0200 0300 take plane 5 at bit 12; uSID 1 also EV[5:0] = 5 at bit 4.
  CHECK(hex(h, 14, 54) ==
        "6220c12300642940"
        "fd000000000000000000000000000001"
        "fcbb00005100525053000000"
        "00000000");
  CHECK(hex(h, 54, 62) == "6220c123003c1140");
  CHECK(hex(h, 94, 102) == "2345136b003c0000");
  CHECK(hex(h, 102, 114) ==
        "c920ffff00000123"
        "30fffffe");
  CHECK(hex(h, 114, 122) == "03040102beef0001");
  CHECK(hex(h, 122, 142) == "0011223344556677cafe000100000006aabbccdd");
  CHECK(header_crc(h.used(), Encap::Srv6, false) == reference(h, 54));
  CHECK(header_crc(h.used(), Encap::Srv6, true) == outer_reference(h, 54));
  CHECK(header_crc(h.used(), Encap::Srv6, true) != reference(h, 54));
}

TEST_CASE("header of a control packet", "[protocol][header]") {
  ControlPacket c{.opcode = 0xDC, .psn = 0x001234, .ext_len = 36};
  for (unsigned i = 0; i < 36; ++i) c.ext[i] = static_cast<uint8_t>(i + 1);
  HdrQp q = qp();
  q.ts = true;  // not for control packets
  Header h = ctl_header(c, {3, 0x10000003}, q, nic());
  CHECK(h.length == 110);
  // DSCP 46, ECN 0: 0xb8; length 8 + 12 + 36 + 4 = 60
  CHECK(hex(h, 14, 22) == "6b800003003c1140");
  CHECK(hex(h, 54, 62) == "1000136b003c0000");
  CHECK(hex(h, 62, 74) == "dc00ffff0000012300001234");
  CHECK(hex(h, 74, 78) == "01020304");
  CHECK(hex(h, 106, 112) == "212223240000");
  // The same as a probe: DSCP 4, ECT(0) instead, 4 << 2 | 2 = 0x12.
  c.opcode = 0xDE;
  h = ctl_header(c, {3, 0x10000003}, q, nic());
  CHECK(hex(h, 14, 22) == "61200003003c1140");
  CHECK(hex(h, 62, 74) == "de00ffff0000012300001234");
  CHECK(header_crc(h.used(), Encap::Ipv6, false) == reference(h, 14));
}

TEST_CASE("SRv6 template: zero uSIDs take no plane, the uplink goes in whether zero or not", "[protocol][srv6]") {
  const U128 templ = u128(0xfcbb000000000a00, 0);
  CHECK(srv6_address(templ, 7, 0xffffffff, {12, 0, 0, 0}) == u128(0xfcbb000000007a00, 0));
  CHECK(srv6_address(templ, 7, 0xffffffff, {12, 0, 2, 3}) == u128(0xfcbb0000001c7a00, 0));
  CHECK(srv6_address(templ, 7, 0xffffffff, {12, 5, 12, 8}) == u128(0xfcbb000000007a00, 0xf000));
  CHECK(srv6_address(templ, 7, 0xffffffff, {12, 6, 0, 8}) == u128(0xfcbb000000007a00, 0));
  CHECK(srv6_address(templ, 7, 0xffffffff, {12, 7, 0, 8}) == u128(0xfcbb000000007a00, 0));
  CHECK(srv6_address(templ, 7, 0, {15, 6, 0, 8}) == u128(0xfcbb000000008a00, 0));  // cut to 16 bits
}

TEST_CASE("SRv6 with SRH, byte by byte: outer header to the template's address, one segment to the peer",
          "[protocol][srv6]") {
  HdrQp q = qp();
  q.encap = Encap::Srv6Srh;
  q.srv6 = u128(0xfcbb000001000200, 0x0300000000000000);
  HdrNic n = nic();
  n.srv6 = {12, 0, 0, 0};
  Header h = data_header(packet(), kWay, q, n, 0);
  CHECK(h.length == 14 + 40 + 24 + 40 + 8 + 12 + 4 + 16);
  // inner length 8 + 12 + 20 + 8 + 4 = 52; outer 52 + 40 + 24 = 116; next header 43
  CHECK(hex(h, 14, 54) ==
        "6120234500742b40"
        "fd000000000000000000000000000001"
        "fcbb00005100520053000000"
        "00000000");
  CHECK(hex(h, 54, 78) ==
        "2902040100000000"
        "fd000000000000000000000000000002");
  CHECK(hex(h, 78, 118) ==
        "6120234500341140"
        "fd000000000000000000000000000001"
        "fd000000000000000000000000000002");
  CHECK(hex(h, 118, 126) == "c123136b00340000");
  CHECK(header_crc(h.used(), Encap::Srv6Srh, false) == reference(h, 78));
  CHECK(header_crc(h.used(), Encap::Srv6Srh, true) == outer_reference(h, 78));
  CHECK(header_crc(h.used(), Encap::Srv6Srh, true) != reference(h, 78));
}

TEST_CASE("one address per plane: own and the peer's, inside, outside and in the SRH", "[protocol][header][A-76]") {
  HdrQp q = qp();
  q.encap = Encap::Srv6Srh;
  q.srv6 = u128(0xfcbb000001000200, 0x0300000000000000);
  HdrNic n = nic();
  n.srv6 = {12, 0, 0, 0};
  n.ip = u128(0xfd00000000000007, 1);
  n.ip_plane.enable = true;
  Header h = data_header(packet(), kWay, q, n, 0);  // plane 5
  CHECK(hex(h, 22, 54) ==
        "fd000000000000050000000000000001"
        "fcbb00005100520053000000"
        "00000000");
  CHECK(hex(h, 62, 78) == "fd000000000000050000000000000002");
  CHECK(hex(h, 86, 118) ==
        "fd000000000000050000000000000001"
        "fd000000000000050000000000000002");
  n.ip_plane.lsb = 4;
  ControlPacket c{.opcode = 0xDC, .ext_len = 36};
  h = ctl_header(c, {3, 0}, qp(), n);
  CHECK(hex(h, 22, 54) ==
        "fd000000000000070000000000000031"
        "fd000000000000000000000000000032");
}

TEST_CASE("the wire library takes every encapsulation apart as it was meant", "[protocol][header]") {
  for (const Encap encap : {Encap::Ipv6, Encap::Srv6, Encap::Srv6Srh, Encap::Udp}) {
    for (const bool swap : {false, true}) {
      for (const unsigned kind : {0u, 1u, 2u, 3u}) {
        const bool control = kind & 1, outer = kind & 2;
        CAPTURE(static_cast<unsigned>(encap), swap, control, outer);
        HdrQp q = qp();
        q.ts = true;
        q.encap = encap;
        q.srv6 = u128(0xfcbb000001000200, 0x0300000000000000);
        HdrNic n = nic();
        n.ev_swap = swap;
        Header h;
        if (control) {
          ControlPacket c;
          c.opcode = 0xD8;
          c.psn = 0x4321;
          c.ext_len = 16;
          c.ext = {0, 1, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 5, 0, 1};  // op 1, mask 0x600, tick 5, ftype 1
          h = ctl_header(c, kWay, q, n);
        } else {
          h = data_header(packet(), kWay, q, n, 0xbeef);
        }
        wire::WireConfig config{.ev_swap = swap, .icrc_outer = outer};
        const wire::Packet p = wire::decode(frame(h, control ? 0 : 6, encap, outer), config);
        REQUIRE_FALSE(p.error);
        REQUIRE(p.icrc);
        CHECK(p.icrc->ok);
        CHECK(p.dscp() == 4);
        CHECK(p.ecn() == 2);
        CHECK(p.entropy(config) == (encap == Encap::Udp ? (swap ? 0x00002345u : 0xC1230000u) : 0xC1232345u));
        CHECK(p.outer_ipv6.has_value() == (encap == Encap::Srv6 || encap == Encap::Srv6Srh));
        REQUIRE(p.srh.has_value() == (encap == Encap::Srv6Srh));
        if (p.srh) {
          CHECK(p.srh->segments_left == 1);
          CHECK(p.srh->last_entry == 0);
          CHECK(p.srh->segment == p.ipv6->dst);
          CHECK(p.outer_ipv6->dst != p.ipv6->dst);
        }
        CHECK(p.bth->psn == (control ? 0x4321 : 0xfffffe));
        if (control) {
          REQUIRE(p.erth);
          CHECK(p.bth->dqp == 2);
          CHECK(p.erth->op == 1);
          CHECK(p.erth->port_status_mask == 0x600);
          CHECK(p.erth->tx_timestamp16 == 5);
        } else {
          CHECK(p.bth->dqp == 0x123);
          CHECK(p.reth->dma_length == 6);
          CHECK(p.payload == std::vector<uint8_t>{0, 1, 2, 3, 4, 5});
        }
      }
    }
  }
}

TEST_CASE("endpoint requests and responses go to QPN 2, whatever QP lends them its address", "[protocol][header]") {
  ControlPacket c{.ext_len = 36};
  for (const unsigned opcode : {0xD8u, 0xD9u, 0xDCu, 0xDEu}) {
    c.opcode = static_cast<uint8_t>(opcode);
    const Header h = ctl_header(c, {}, qp(), nic());
    CHECK(hex(h, 67, 70) == (opcode < 0xDC ? "000002" : "000123"));
    CHECK(hex(h, 64, 66) == "ffff");  // P_Key of the QP
  }
}

TEST_CASE("the class of a packet is its QP's or the NIC's; of a request of endpoint its caller's",
          "[protocol][header][A-79][A-60]") {
  HdrNic n = nic();
  n.dscp_data = 1;
  n.dscp_rtx = 2;
  n.dscp_ctl = 3;
  HdrQp q = qp();
  q.cls = {.own = false, .data = 40, .rtx = 63};
  const auto tc = [](const Header& h) { return wire::load_be<2>(h.bytes.data() + 14) >> 4 & 0xff; };
  for (const bool own : {false, true}) {
    q.cls.own = own;
    const unsigned plain = (own ? 40 : 1) << 2 | 2, rtx = (own ? 63 : 2) << 2 | 2;
    WritePacket w = packet();
    CHECK(tc(data_header(w, kWay, q, n, 0)) == plain);
    w.rtx = true;
    CHECK(tc(data_header(w, kWay, q, n, 0)) == rtx);
    for (const unsigned opcode : {0xDEu, 0xD8u, 0xD9u, 0xDCu, 0xDDu, 0xD1u}) {
      ControlPacket c{.opcode = static_cast<uint8_t>(opcode), .ext_len = 16};
      CAPTURE(own, opcode);
      const bool requests = opcode == 0xDE || opcode == 0xD8;
      CHECK(tc(ctl_header(c, kWay, q, n)) == (requests ? plain : 3u << 2));
      CHECK(tc(ctl_header(c, kWay, q, n, uint8_t{55})) == (opcode == 0xD8 ? 55u << 2 | 2 : requests ? plain : 3u << 2));
    }
  }
  // The outer header has the same class.
  q.encap = Encap::Srv6;
  const Header h = data_header(packet(), kWay, q, n, 0);
  CHECK(tc(h) == (40u << 2 | 2));
  CHECK((wire::load_be<2>(h.bytes.data() + 54) >> 4 & 0xff) == (40u << 2 | 2));
}

TEST_CASE("the largest header fits: a SACK behind SRv6 with SRH", "[protocol][header]") {
  ControlPacket c{.opcode = 0xDC, .ext_len = 36};
  c.ext.fill(0xff);
  HdrQp q = qp();
  q.encap = Encap::Srv6Srh;
  const Header h = ctl_header(c, {}, q, nic());
  CHECK(h.length == 174);
  CHECK(hex(h, 170, 176) == "ffffffff0000");
}

}  // namespace mrc::test::tx_header_build_test
