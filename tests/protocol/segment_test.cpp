// SPDX-License-Identifier: Apache-2.0
#include "protocol/segment.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::segment_test {
namespace {

WriteRequest row(uint32_t length, bool imm = false) {
  return {.laddr = 0x1'0000'0000,
          .raddr = 0xfffff000,
          .rkey = 0xabcd,
          .length = length,
          .imm_valid = imm,
          .imm = 0x11223344,
          .rqmsn = 77};
}

WritePart cut(const WriteRequest& r, uint32_t idx, unsigned mtu) { return segment(r, idx, mtu); }

}  // namespace

TEST_CASE("a message of one packet is Only", "[protocol][segment]") {
  const WritePart p = cut(row(4096), 0, 4);
  CHECK(p.opcode == 0xCA);
  CHECK(p.plen == 4096);
  CHECK(p.last);
  CHECK(cut(row(1), 0, 0).opcode == 0xCA);
  CHECK(cut(row(1), 0, 0).plen == 1);
}

TEST_CASE("a message of three packets is First, Middle, Last and its addresses advance by the path MTU",
          "[protocol][segment]") {
  const WriteRequest r = row(2 * 1024 + 5);
  const WritePart first = cut(r, 0, 2), middle = cut(r, 1, 2), last = cut(r, 2, 2);
  CHECK(first.opcode == 0xC6);
  CHECK(middle.opcode == 0xC7);
  CHECK(last.opcode == 0xC8);
  CHECK((first.plen == 1024 && middle.plen == 1024 && last.plen == 5));
  CHECK((!first.last && !middle.last && last.last));
  CHECK(middle.va == 0xfffff400);
  CHECK(last.va == 0xfffff800);
  CHECK(last.laddr == 0x1'0000'0800);
  CHECK(last.dma_length == 2053);
}

TEST_CASE("a message of no bytes is one packet Only without payload, its address and key as they are",
          "[protocol][segment]") {
  for (const unsigned mtu : {0u, 4u}) {
    const WritePart p = cut(row(0), 0, mtu), imm = cut(row(0, true), 0, mtu);
    CHECK((p.opcode == 0xCA && imm.opcode == 0xCB));
    CHECK((p.last && p.plen == 0 && p.dma_length == 0));
    CHECK((p.va == 0xfffff000 && p.rkey == 0xabcd));
    CHECK((p.rqmsn == 0 && p.imm == 0));
    CHECK((imm.last && imm.plen == 0 && imm.rqmsn == 77 && imm.imm == 0x11223344));
  }
  CHECK(nominal_size(0, 0xCA, false, Nominal::UdpLength) == 84);
  CHECK(nominal_size(0, 0xCB, true, Nominal::UdpLength) == 92);
  CHECK(nominal_size(0, 0xCB, true, Nominal::Payload) == 0);
  CHECK(nominal_size(0, 0xCB, true, Nominal::Payload40) == 40);
}

TEST_CASE("a WRITE with immediate waits where max_wimm of them are on their way, but only before its first packet",
          "[protocol][segment]") {
  CHECK(wimm_held(0, true, 2, 0, 2));
  CHECK_FALSE(wimm_held(0, true, 1, 0, 2));
  CHECK_FALSE(wimm_held(1, true, 2, 0, 2));   // it has begun
  CHECK_FALSE(wimm_held(0, false, 2, 0, 2));  // without immediate
  CHECK(wimm_held(0, true, 1, 255, 2));       // the counts come round
  CHECK_FALSE(wimm_held(0, true, 0, 255, 2));
  CHECK(wimm_held(0, true, 32, 0, 32));
}

TEST_CASE("an exact multiple of the path MTU has a full last packet", "[protocol][segment]") {
  const WritePart p = cut(row(512), 1, 0);
  CHECK(p.opcode == 0xC8);
  CHECK(p.plen == 256);
}

TEST_CASE("immediate data change the opcode of the last packet, RQMSN is in all", "[protocol][segment]") {
  const WriteRequest r = row(300, true);
  CHECK(cut(r, 0, 0).opcode == 0xC6);
  CHECK(cut(r, 1, 0).opcode == 0xC9);
  CHECK(cut(row(10, true), 0, 0).opcode == 0xCB);
  CHECK(cut(r, 0, 0).rqmsn == 77);
  CHECK(cut(r, 1, 0).imm == 0x11223344);
  CHECK(cut(row(300), 1, 0).rqmsn == 0);
  CHECK(cut(row(300), 1, 0).imm == 0);
}

TEST_CASE("the longest message has 2^24 packets of 256 bytes, the last one a byte short", "[protocol][segment]") {
  CHECK(kMaxMessage == 0xffffffff);
  const WriteRequest r = row(0xffffffff, true);
  const WritePart first = cut(r, 0, 0), second = cut(r, 1, 0), before = cut(r, 0xfffffe, 0), last = cut(r, 0xffffff, 0);
  CHECK((first.opcode == 0xC6 && first.plen == 256 && !first.last));
  CHECK((second.opcode == 0xC7 && second.plen == 256 && !second.last));
  CHECK(second.va == 0xfffff100);
  CHECK((before.opcode == 0xC7 && before.plen == 256 && !before.last));
  CHECK((last.opcode == 0xC9 && last.plen == 255 && last.last));
  CHECK(last.va == 0xfffff000ull + 0xffffff00ull);
  CHECK(last.laddr == 0x1'0000'0000ull + 0xffffff00ull);
  CHECK(last.dma_length == 0xffffffff);
  // One byte more than the packets before it, and the largest path MTU: 2^20 packets.
  CHECK((cut(row(0xffffff01), 0xffffff, 0).plen == 1 && cut(row(0xffffff01), 0xffffff, 0).last));
  CHECK((cut(row(0xffffff00), 0xfffffe, 0).plen == 256 && cut(row(0xffffff00), 0xfffffe, 0).last));
  CHECK_FALSE(cut(r, 0xffffe, 4).last);
  CHECK((cut(r, 0xfffff, 4).last && cut(r, 0xfffff, 4).plen == 4095));
}

TEST_CASE("a message of more than 2^31 bytes goes on behind its 2^23rd packet", "[protocol][segment]") {
  const WriteRequest r = row(0x80000001);
  CHECK((cut(r, 0x7fffff, 0).plen == 256 && !cut(r, 0x7fffff, 0).last));
  CHECK((cut(r, 0x800000, 0).plen == 1 && cut(r, 0x800000, 0).last));
  CHECK(cut(r, 0x800000, 0).va == 0xfffff000ull + 0x80000000ull);
}

TEST_CASE("the nominal size is UDP length + 40, padding, time stamp and immediate included", "[protocol][segment]") {
  // UDP 8, BTH 12, METH 4, RETH 16, ICRC 4, and 40.
  CHECK(nominal_size(4096, 0xC7, false, Nominal::UdpLength) == 4180);
  CHECK(nominal_size(4096, 0xC7, true, Nominal::UdpLength) == 4184);
  CHECK(nominal_size(4096, 0xCB, true, Nominal::UdpLength) == 4188);  // the largest: 14 bits
  CHECK(nominal_size(1, 0xCA, false, Nominal::UdpLength) == 88);      // three bytes of padding
  CHECK(nominal_size(2, 0xCA, false, Nominal::UdpLength) == 88);
  CHECK(nominal_size(3, 0xCA, false, Nominal::UdpLength) == 88);
  CHECK(nominal_size(4, 0xCA, false, Nominal::UdpLength) == 88);
  CHECK(nominal_size(5, 0xC9, false, Nominal::UdpLength) == 96);
  CHECK(nominal_size(256, 0xC6, false, Nominal::UdpLength) == 340);
  CHECK(nominal_size(256, 0xC8, false, Nominal::UdpLength) == 340);
  for (const bool ts : {false, true}) {
    CHECK(nominal_size(5, 0xC9, ts, Nominal::Payload) == 5);  // CTRL.nominal
    CHECK(nominal_full(0, ts, Nominal::Payload) == 256);
  }
  CHECK(nominal_full(0, false, Nominal::UdpLength) == 340);
  CHECK(nominal_full(2, true, Nominal::UdpLength) == 1112);
  CHECK(nominal_full(4, true, Nominal::UdpLength) == 4184);
}

}  // namespace mrc::test::segment_test
