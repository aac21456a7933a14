// SPDX-License-Identifier: Apache-2.0
#include "protocol/tx_header_build.hpp"

#include <boost/crc.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <string>
#include <vector>

using namespace mrc;

namespace {

constexpr U128 u128(uint64_t hi, uint64_t lo) { return static_cast<U128>(hi) << 64 | lo; }

std::string hex(const Hdr& h, unsigned from, unsigned to) {
  std::string s;
  for (unsigned i = from; i < to; ++i) {
    char b[3];
    std::snprintf(b, sizeof b, "%02x", header_bytes(h)[i]);
    s += b;
  }
  return s;
}

HdrNic nic() {
  HdrNic n;
  n.mac = 0x020000000001;
  n.ip = u128(0xfd00000000000000, 1);
  return n;
}

HdrQp qp() {
  HdrQp q;
  q.dqpn = 0x000123;
  q.pkey = 0xffff;
  q.dmac = 0x020000000002;
  q.dip = u128(0xfd00000000000000, 2);
  return q;
}

Path path() {
  Path p;
  p.pkt = {.qp = 1,
           .psn = 0xfffffe,
           .msn = 0x0102,
           .rqmsn = 0x0304,
           .opcode = 0xCA,
           .va = 0x0011223344556677,
           .rkey = 0xcafe0001,
           .dmalen = 6,
           .imm = 0xaabbccdd,
           .laddr = 0x1000,
           .plen = 6,
           .rtx = false,
           .ackreq = true,
           .last = true,
           .idx = 0,
           .profile = 0,
           .avoid_ev = 0};
  p.ev = 0xC1232345;
  p.ev_idx = 4;
  p.plane = 5;
  return p;
}

/// The register after eight bytes of ones and the masked bytes, by another CRC.
uint32_t reference(const Hdr& h, unsigned inner) {
  std::vector<uint8_t> v(8, 0xff);
  v.insert(v.end(), header_bytes(h) + inner, header_bytes(h) + h.hdr_len);
  uint8_t* p = v.data() + 8;
  p[0] |= 0x0f;
  for (const unsigned i : {1u, 2u, 3u, 7u, 46u, 47u, 52u}) p[i] = 0xff;
  boost::crc_optimal<32, 0x04C11DB7, 0xFFFFFFFF, 0, true, true> crc;
  crc.process_bytes(v.data(), v.size());
  return crc.checksum();
}

}  // namespace

TEST_CASE("header of a WRITE Only without encapsulation, byte by byte", "[protocol][header]") {
  Hdr h;
  build_data_header(path(), qp(), nic(), 0xbeef, h);
  CHECK(h.plane == 5);
  CHECK_FALSE(h.ctl);
  CHECK(h.hdr_len == 14 + 40 + 8 + 12 + 4 + 16);
  CHECK(h.laddr == 0x1000);
  CHECK(h.plen == 6);
  CHECK(hex(h, 0, 14) == "02000000000202000000000186dd");
  // DSCP 4, ECT(0): 0x12; length 8 + 12 + 20 + 6 + 2 + 4 = 52
  CHECK(hex(h, 14, 54) ==
        "612023450034"
        "1140"
        "fd000000000000000000000000000001"
        "fd000000000000000000000000000002");
  CHECK(hex(h, 54, 62) == "c12312b700340000");
  // M in bit 6, pad 2
  CHECK(hex(h, 62, 74) ==
        "ca60ffff00000123"
        "80fffffe");
  CHECK(hex(h, 74, 78) == "03040102");
  CHECK(hex(h, 78, 94) == "0011223344556677cafe000100000006");
  CHECK(hex(h, 94, 152) == std::string(116, '0'));
  CHECK(header_crc(h, false) == reference(h, 14));
}

TEST_CASE("retransmission with time stamp, immediate and SRv6", "[protocol][header]") {
  Path p = path();
  p.pkt.opcode = 0xC9;
  p.pkt.rtx = true;
  p.pkt.ackreq = false;
  HdrQp q = qp();
  q.ts = true;
  q.srv6_encap = true;
  q.srv6 = u128(0xfcbb000001000200, 0x0300000000000000);
  HdrNic n = nic();
  n.srv6 = {12, 1, 4, 6};
  n.ev_swap = true;
  n.bth_m = false;
  Hdr h;
  build_data_header(p, q, n, 0xbeef, h);
  CHECK(h.hdr_len == 14 + 40 + 40 + 8 + 12 + 4 + 4 + 16 + 4);
  // DSCP 8, ECT(0): 0x22; inner length 8 + 12 + 28 + 8 + 4 = 60; outer 100. The flow label is EV[31:16] now.
  // uSIDs 0100 0200 0300 take plane 5 at bit 12; uSID 1 also EV[5:0] = 5 at bit 4.
  CHECK(hex(h, 14, 54) ==
        "6220c12300642940"
        "fd000000000000000000000000000001"
        "fcbb00005100525053000000"
        "00000000");
  CHECK(hex(h, 54, 62) == "6220c123003c1140");
  CHECK(hex(h, 94, 102) == "234512b7003c0000");
  CHECK(hex(h, 102, 114) ==
        "c920ffff00000123"
        "30fffffe");
  CHECK(hex(h, 114, 122) == "03040102beef0001");
  CHECK(hex(h, 122, 142) == "0011223344556677cafe000100000006aabbccdd");
  CHECK(header_crc(h, true) == reference(h, 54));
}

TEST_CASE("header of a control packet", "[protocol][header]") {
  Ctlpkt c;
  c.plane = 3;
  c.ev = 0x10000003;
  c.opcode = 0xDC;
  c.psn = 0x001234;
  c.ext_len = 36;
  for (unsigned i = 0; i < 36; ++i) reinterpret_cast<uint8_t*>(c.ext.data())[i] = static_cast<uint8_t>(i + 1);
  HdrQp q = qp();
  q.ts = true;  // not for control packets
  Hdr h;
  build_ctl_header(c, q, nic(), false, h);
  CHECK(h.ctl);
  CHECK(h.plane == 3);
  CHECK(h.plen == 0);
  CHECK(h.hdr_len == 110);
  // DSCP 46, ECN 0: 0xb8; length 8 + 12 + 36 + 4 = 60
  CHECK(hex(h, 14, 22) == "6b800003003c1140");
  CHECK(hex(h, 54, 62) == "100012b7003c0000");
  CHECK(hex(h, 62, 74) == "dc40ffff0000012300001234");
  CHECK(hex(h, 74, 78) == "01020304");
  CHECK(hex(h, 106, 112) == "212223240000");
  // The same as a probe: DSCP 4, ECT(0) instead, 4 << 2 | 2 = 0x12.
  build_ctl_header(c, q, nic(), true, h);
  CHECK(h.ctl);
  CHECK(hex(h, 14, 22) == "61200003003c1140");
  CHECK(hex(h, 62, 74) == "dc40ffff0000012300001234");
  CHECK(header_crc(h, false) == reference(h, 14));
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
