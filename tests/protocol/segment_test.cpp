// SPDX-License-Identifier: Apache-2.0
#include "protocol/segment.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace mrc;

namespace {

WorkRow row(uint32_t length, bool imm = false) {
  WorkRow r;
  r.wqe = {.qp = 3,
           .imm_valid = imm,
           .wr_id = 9,
           .laddr = 0x1'0000'0000,
           .raddr = 0xfffff000,
           .rkey = 0xabcd,
           .length = length,
           .imm = 0x11223344};
  r.rqmsn = 77;
  return r;
}

Pkt cut(const WorkRow& r, uint32_t idx, unsigned mtu) {
  Pkt p;
  segment(r, idx, mtu, p);
  return p;
}

}  // namespace

TEST_CASE("a message of one packet is Only", "[protocol][segment]") {
  const Pkt p = cut(row(4096), 0, 4);
  CHECK(p.opcode == 0xCA);
  CHECK(p.plen == 4096);
  CHECK(p.last);
  CHECK(cut(row(1), 0, 0).opcode == 0xCA);
  CHECK(cut(row(1), 0, 0).plen == 1);
}

TEST_CASE("a message of three packets is First, Middle, Last and its addresses advance by the path MTU",
          "[protocol][segment]") {
  const WorkRow r = row(2 * 1024 + 5);
  const Pkt first = cut(r, 0, 2), middle = cut(r, 1, 2), last = cut(r, 2, 2);
  CHECK(first.opcode == 0xC6);
  CHECK(middle.opcode == 0xC7);
  CHECK(last.opcode == 0xC8);
  CHECK((first.plen == 1024 && middle.plen == 1024 && last.plen == 5));
  CHECK((!first.last && !middle.last && last.last));
  CHECK(middle.va == 0xfffff400);
  CHECK(last.va == 0xfffff800);
  CHECK(last.laddr == 0x1'0000'0800);
  CHECK(last.dmalen == 2053);
  CHECK(last.idx == 2);
}

TEST_CASE("an exact multiple of the path MTU has a full last packet", "[protocol][segment]") {
  const Pkt p = cut(row(512), 1, 0);
  CHECK(p.opcode == 0xC8);
  CHECK(p.plen == 256);
}

TEST_CASE("immediate data change the opcode of the last packet, RQMSN is in all", "[protocol][segment]") {
  const WorkRow r = row(300, true);
  CHECK(cut(r, 0, 0).opcode == 0xC6);
  CHECK(cut(r, 1, 0).opcode == 0xC9);
  CHECK(cut(row(10, true), 0, 0).opcode == 0xCB);
  CHECK(cut(r, 0, 0).rqmsn == 77);
  CHECK(cut(r, 1, 0).imm == 0x11223344);
  CHECK(cut(row(300), 1, 0).rqmsn == 0);
  CHECK(cut(row(300), 1, 0).imm == 0);
}

TEST_CASE("the largest message has 2^23 packets of 256 bytes", "[protocol][segment]") {
  const Pkt p = cut(row(kMaxMessage), (1u << 23) - 1, 0);
  CHECK(p.last);
  CHECK(p.plen == 256);
  CHECK(p.va == 0xfffff000ull + 0x7fffff00ull);
}

TEST_CASE("the nominal size is UDP length + 40, padding, time stamp and immediate included", "[protocol][segment]") {
  // UDP 8, BTH 12, METH 4, RETH 16, ICRC 4, and 40.
  CHECK(nominal_size(4096, 0xC7, false, false) == 4180);
  CHECK(nominal_size(4096, 0xC7, true, false) == 4184);
  CHECK(nominal_size(4096, 0xCB, true, false) == 4188);  // the largest: 14 bits
  CHECK(nominal_size(1, 0xCA, false, false) == 88);      // three bytes of padding
  CHECK(nominal_size(2, 0xCA, false, false) == 88);
  CHECK(nominal_size(3, 0xCA, false, false) == 88);
  CHECK(nominal_size(4, 0xCA, false, false) == 88);
  CHECK(nominal_size(5, 0xC9, false, false) == 96);
  CHECK(nominal_size(256, 0xC6, false, false) == 340);
  CHECK(nominal_size(256, 0xC8, false, false) == 340);
  for (const bool ts : {false, true}) {
    CHECK(nominal_size(5, 0xC9, ts, true) == 5);  // CTRL.payload_bytes
    CHECK(nominal_full(0, ts, true) == 256);
  }
  CHECK(nominal_full(0, false, false) == 340);
  CHECK(nominal_full(2, true, false) == 1112);
  CHECK(nominal_full(4, true, false) == 4184);
}
