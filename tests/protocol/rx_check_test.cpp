// SPDX-License-Identifier: Apache-2.0
#include "protocol/rx_check.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstring>

#include "protocol/responses.hpp"
#include "tests/protocol/rx_frames.hpp"

using namespace mrc;
using namespace mrc::test;

namespace {

Rxdesc write_desc(const Bytes& ext, uint16_t plen) {
  Rxdesc d;
  d.icrc_ok = true;
  d.opcode = 0xCA;
  d.dqp = 17;
  d.pkey = 0x7fff;
  d.psn = 55;
  d.plen = plen;
  d.buf_valid = plen != 0;
  std::memcpy(d.ext.data(), ext.data(), ext.size());
  return d;
}

std::array<RxQpCtx, 4> qps_in(QpState state) {
  std::array<RxQpCtx, 4> qps;
  qps[1] = {.state = state, .mtu = 0, .pkey = 0xffff};
  return qps;
}

csr::TblMr region() {
  csr::TblMr mr;
  mr.rkey = 0x1234'05'77;
  mr.valid = true;
  mr.va = 0x1000;
  mr.length = 0x100;
  mr.addr = 0x9000'0000;
  return mr;
}

}  // namespace

TEST_CASE("the first check that fails decides", "[rx_check]") {
  auto qps = qps_in(QpState::Rts);
  Rxdesc d = write_desc(Bytes(20), 256);
  CHECK(rx_drop(d, qps) == RxDrop::None);
  SECTION("parse error first") {
    d.err = RxErr::Udp;
    d.icrc_ok = false;
    CHECK(rx_drop(d, qps) == RxDrop::Parse);
  }
  SECTION("ICRC before QP, but not of a trimmed packet") {
    d.icrc_ok = false;
    d.dqp = 0;
    CHECK(rx_drop(d, qps) == RxDrop::Icrc);
    d.dqp = 17;
    for (const Trim t : {Trim::Trimmed, Trim::LastHop}) {
      d.trim = t;
      CHECK(rx_drop(d, qps) == RxDrop::None);
    }
    for (const Trim t : {Trim::NoBuffer, Trim::NoResource}) {  // came whole
      d.trim = t;
      CHECK(rx_drop(d, qps) == RxDrop::Icrc);
    }
  }
  SECTION("QP numbers 16 to 19 exist") {
    d.dqp = 15;
    CHECK(rx_drop(d, qps) == RxDrop::Qp);
    d.dqp = 20;
    CHECK(rx_drop(d, qps) == RxDrop::Qp);
    d.dqp = 18;  // in Reset
    CHECK(rx_drop(d, qps) == RxDrop::Qp);
  }
  SECTION("data and probes in Rtr, Rts and Error, control in Rts only") {
    for (const int opcode : {0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xCB, 0xDE}) {
      d.opcode = static_cast<uint8_t>(opcode);
      CHECK(rx_drop(d, qps_in(QpState::Reset)) == RxDrop::Qp);
      CHECK(rx_drop(d, qps_in(QpState::Init)) == RxDrop::Qp);
      CHECK(rx_drop(d, qps_in(QpState::Rtr)) == RxDrop::None);
      CHECK(rx_drop(d, qps_in(QpState::Rts)) == RxDrop::None);
      CHECK(rx_drop(d, qps_in(QpState::Error)) == RxDrop::None);
    }
    for (const int opcode : {0xDC, 0xDD, 0xD1}) {
      d.opcode = static_cast<uint8_t>(opcode);
      CHECK(rx_drop(d, qps_in(QpState::Reset)) == RxDrop::Qp);
      CHECK(rx_drop(d, qps_in(QpState::Init)) == RxDrop::Qp);
      CHECK(rx_drop(d, qps_in(QpState::Rtr)) == RxDrop::Qp);
      CHECK(rx_drop(d, qps_in(QpState::Rts)) == RxDrop::None);
      CHECK(rx_drop(d, qps_in(QpState::Error)) == RxDrop::Qp);
    }
  }
  SECTION("P_Key and length count in Error too") {
    qps = qps_in(QpState::Error);
    d.plen = 257;
    CHECK(rx_drop(d, qps) == RxDrop::Len);
    d.pkey = 1;
    CHECK(rx_drop(d, qps) == RxDrop::Pkey);
  }
  SECTION("unknown opcodes, and trimmed control packets") {
    for (const int opcode : {0xC5, 0xCC, 0xD7, 0xDA, 0xDB, 0xDF}) {
      d.opcode = static_cast<uint8_t>(opcode);
      CHECK(rx_drop(d, qps) == RxDrop::Qp);
    }
    for (const int opcode : {0xDC, 0xDD, 0xD1, 0xDE}) {
      d.opcode = static_cast<uint8_t>(opcode);
      d.trim = Trim::None;
      CHECK(rx_drop(d, qps) == RxDrop::None);
      d.trim = Trim::LastHop;
      CHECK(rx_drop(d, qps) == RxDrop::Qp);
      d.trim = Trim::Trimmed;
      CHECK(rx_drop(d, qps) == RxDrop::Qp);
    }
  }
  SECTION("endpoint packets go to QP 2, whole and sound, whatever their P_Key") {
    for (const int opcode : {0xD8, 0xD9}) {
      d = write_desc(Bytes(20), 0);
      d.opcode = static_cast<uint8_t>(opcode);
      d.dqp = 2;
      d.pkey = 0x1234;
      CHECK(rx_drop(d, qps) == RxDrop::None);
      for (const uint32_t dqp : {0u, 1u, 3u, 16u, 17u, 0x10002u}) {
        d.dqp = dqp;
        CHECK(rx_drop(d, qps) == RxDrop::Qp);
      }
      d.dqp = 2;
      d.icrc_ok = false;
      CHECK(rx_drop(d, qps) == RxDrop::Icrc);
      for (const Trim t : {Trim::Trimmed, Trim::LastHop}) {
        d.trim = t;
        CHECK(rx_drop(d, qps) == RxDrop::Qp);
      }
      d.err = RxErr::Length;
      CHECK(rx_drop(d, qps) == RxDrop::Parse);
    }
    d = write_desc(Bytes(20), 256);
    d.dqp = 2;  // a WRITE
    CHECK(rx_drop(d, qps) == RxDrop::Qp);
  }
  SECTION("P_Key without its top bit, before length") {
    d.pkey = 0x7ffe;
    d.plen = 257;
    CHECK(rx_drop(d, qps) == RxDrop::Pkey);
    d.pkey = 0xffff;
    CHECK(rx_drop(d, qps) == RxDrop::Len);
  }
  SECTION("First and Middle carry the MTU, the others at most that") {
    d.plen = 255;
    CHECK(rx_drop(d, qps) == RxDrop::None);
    d.opcode = 0xC6;
    CHECK(rx_drop(d, qps) == RxDrop::Len);
    d.opcode = 0xC7;
    CHECK(rx_drop(d, qps) == RxDrop::Len);
    d.plen = 256;
    CHECK(rx_drop(d, qps) == RxDrop::None);
    qps[1].mtu = 1;
    CHECK(rx_drop(d, qps) == RxDrop::Len);
    d.plen = 0;
    for (const Trim t : {Trim::Trimmed, Trim::LastHop, Trim::NoBuffer, Trim::NoResource}) {  // nothing to measure
      d.trim = t;
      CHECK(rx_drop(d, qps) == RxDrop::None);
    }
  }
}

TEST_CASE("a WRITE of no bytes is dropped if the register says so", "[rx_check]") {
  const auto qps = qps_in(QpState::Rts);
  for (const bool ts : {false, true}) {
    Bytes ext(24);
    ext[ts ? 23 : 19] = 1;  // DMA length 1; the other place is looked at by the other setting of ts only
    Rxdesc d = write_desc(ext, 1);
    d.ts = ts;
    CHECK(rx_drop(d, qps, true) == RxDrop::None);
    d.plen = 0;
    CHECK(rx_drop(d, qps, true) == RxDrop::Len);
    CHECK(rx_drop(d, qps, false) == RxDrop::None);
    d.plen = 1;
    d.ts = !ts;  // now the DMA length is 0
    CHECK(rx_drop(d, qps, true) == RxDrop::Len);
    CHECK(rx_drop(d, qps, false) == RxDrop::None);
    d.trim = Trim::Trimmed;  // nothing to measure
    CHECK(rx_drop(d, qps, true) == RxDrop::None);
  }
}

TEST_CASE("the nominal size is the UDP length and 40, or the payload alone", "[rx_check]") {
  // UDP 8, BTH 12, METH 4, RETH 16, ICRC 4: 44, and 40 are 84.
  Rxdesc d;
  d.opcode = 0xCA;
  d.plen = 5;
  d.pad = 3;
  CHECK(rx_size(d, Nominal::UdpLength) == 92);
  d.ts = true;
  CHECK(rx_size(d, Nominal::UdpLength) == 96);
  d.opcode = 0xCB;
  CHECK(rx_size(d, Nominal::UdpLength) == 100);
  d.opcode = 0xC9;
  CHECK(rx_size(d, Nominal::UdpLength) == 100);
  d.ts = false;
  CHECK(rx_size(d, Nominal::UdpLength) == 96);
  CHECK(rx_size(d, Nominal::Payload) == 5);
  d.plen = 4096;
  d.pad = 0;
  CHECK(rx_size(d, Nominal::UdpLength) == 4184);
  d.opcode = 0xC7;
  CHECK(rx_size(d, Nominal::UdpLength) == 4180);
  CHECK(rx_size(d, Nominal::Payload) == 4096);
}

TEST_CASE("a region admits what lies inside it, to the last byte", "[rx_check]") {
  const csr::TblMr mr = region();
  const uint32_t key = mr.rkey;
  CHECK(rx_fault(mr, key, 0x1000, 0x100, 0x100) == RxFault::None);
  CHECK(rx_fault(mr, key, 0x10ff, 1, 1) == RxFault::None);
  CHECK(rx_fault(mr, key, 0x1001, 0x100, 0x100) == RxFault::Access);
  CHECK(rx_fault(mr, key, 0x1100, 1, 1) == RxFault::Access);
  CHECK(rx_fault(mr, key, 0x1101, 1, 1) == RxFault::Access);
  CHECK(rx_fault(mr, key, 0x0fff, 1, 1) == RxFault::Access);
  CHECK(rx_fault(mr, key, ~uint64_t{0}, 1, 1) == RxFault::Access);
  CHECK(rx_fault(mr, key ^ 1, 0x1000, 1, 1) == RxFault::Access);
  CHECK(rx_fault(mr, key, 0x1000, 0, 1) == RxFault::Invalid);
  CHECK(rx_fault(mr, key ^ 1, 0x1000, 1, 0) == RxFault::Invalid);
  csr::TblMr off = mr;
  off.valid = false;
  CHECK(rx_fault(off, key, 0x1000, 1, 1) == RxFault::Access);
}

TEST_CASE("register NAK_CODE gives the syndromes", "[rx_check]") {
  const NakCodes usual, other{.invalid = 0x70, .access = 0x7f};
  CHECK(usual.of(RxFault::None) == 0);
  CHECK(usual.of(RxFault::Invalid) == 0x61);
  CHECK(usual.of(RxFault::Access) == 0x62);
  CHECK(other.of(RxFault::None) == 0);
  CHECK(other.of(RxFault::Invalid) == 0x70);
  CHECK(other.of(RxFault::Access) == 0x7f);
}

TEST_CASE("a WRITE becomes an order with its host address", "[rx_check]") {
  std::array<csr::TblMr, 8> mrs;
  mrs[5] = region();
  mrs[5].rkey = 0x123405'77;
  Bytes ext = write_ext(0x0a0b, 0x0c0d, 0x1010, 0x12340577, 0x33);
  Rxdesc d = write_desc(ext, 0x20);
  d.ackreq = d.ce = true;
  d.entropy = 0xdeadbeef;
  d.at = 0x4321;
  const RxQpCtx rts{.state = QpState::Rts, .mtu = 4, .pkey = 0xffff};
  Rxpkt p;
  rx_data(d, 3, rts, mrs, Nominal::UdpLength, {}, p);
  CHECK(p.plane == 3);
  CHECK_FALSE(p.drop);
  CHECK(p.buf_valid);
  CHECK(p.qp == 1);
  CHECK(p.psn == 55);
  CHECK(p.ackreq);
  CHECK_FALSE(p.rtx);
  CHECK(p.ce);
  CHECK(p.ts == 0);
  CHECK_FALSE(p.tsv);
  CHECK(p.at == 0x4321);
  CHECK_FALSE(p.err);
  CHECK(p.size == 0x20 + 84);
  CHECK(p.entropy == 0xdeadbeef);
  CHECK(p.rqmsn == 0x0a0b);
  CHECK(p.msn == 0x0c0d);
  CHECK_FALSE(p.imm_valid);
  CHECK(p.imm == 0);
  CHECK(p.last);
  CHECK(p.plen == 0x20);
  CHECK(p.dmalen == 0x33);
  CHECK(p.haddr == 0x9000'0010);
  CHECK(p.syndrome == 0);

  SECTION("in Error the packet says so, and is the same otherwise") {
    Rxpkt q;
    rx_data(d, 3, {.state = QpState::Error, .mtu = 4, .pkey = 0xffff}, mrs, Nominal::UdpLength, {}, q);
    CHECK(q.err);
    q.err = false;
    CHECK(q == p);
    rx_data(d, 3, {.state = QpState::Rtr, .mtu = 4, .pkey = 0xffff}, mrs, Nominal::UdpLength, {}, q);
    CHECK(q == p);
  }
  SECTION("counted in payload bytes") {
    rx_data(d, 3, rts, mrs, Nominal::Payload, {}, p);
    CHECK(p.size == 0x20);
  }
  SECTION("with time stamp and immediate everything moves") {
    Bytes e(28);
    std::copy_n(ext.begin(), 4, e.begin());
    e[4] = 0x77;
    e[5] = 0x88;
    std::copy_n(ext.begin() + 4, 16, e.begin() + 8);
    wire::store_be<4>(&e[24], 0xcafef00d);
    d = write_desc(e, 0x20);
    d.ts = true;
    d.opcode = 0xC9;
    rx_data(d, 0, rts, mrs, Nominal::UdpLength, {}, p);
    CHECK(p.ts == 0x7788);
    CHECK(p.tsv);
    CHECK(p.size == 0x20 + 92);
    CHECK(p.imm_valid);
    CHECK(p.imm == 0xcafef00d);
    CHECK(p.haddr == 0x9000'0010);
    CHECK(p.last);
    d.opcode = 0xC7;
    rx_data(d, 0, rts, mrs, Nominal::UdpLength, {}, p);
    CHECK_FALSE(p.last);
    CHECK_FALSE(p.imm_valid);
  }
  SECTION("a packet without payload keeps only what its first headers say") {
    d.plen = 0;
    d.buf_valid = false;
    d.opcode = 0xCB;
    d.ts = true;  // its field is where the virtual address was: bytes 4 and 5, both 0 here
    for (const Trim t : {Trim::Trimmed, Trim::LastHop, Trim::NoBuffer, Trim::NoResource}) {
      d.trim = t;
      rx_data(d, 0, {.state = QpState::Error, .mtu = 4, .pkey = 0xffff}, mrs, Nominal::UdpLength, {}, p);
      Rxpkt want;
      want.qp = 1;
      want.psn = 55;
      want.ackreq = want.ce = true;
      want.trim = t;
      want.tsv = true;
      want.at = 0x4321;
      want.err = true;
      want.entropy = 0xdeadbeef;
      want.msn = 0x0c0d;
      want.rqmsn = 0x0a0b;
      want.last = true;
      CHECK(p == want);
    }
  }
  SECTION("no access: no address") {
    d.plen = 0xf1;
    rx_data(d, 0, rts, mrs, Nominal::UdpLength, {}, p);
    CHECK(p.syndrome == 0x62);
    CHECK(p.haddr == 0);
  }
}

TEST_CASE("a response survives the wire", "[rx_check]") {
  // What ack_gen builds, rx_check takes apart again.
  const auto over_the_wire = [](const Resp& r) {
    Ctlpkt c;
    build_response(r, 0x01'0011, {}, c);
    Rxdesc d;
    d.opcode = c.opcode;
    d.psn = c.psn;
    d.dqp = kQpnBase + 1;
    d.ext = c.ext;
    return rx_control(d);
  };
  Resp r;
  r.qp = 2;
  r.psn = 0x000003;
  r.cack = 0xffffff;
  r.base = 0xfffffe;
  r.bitmap = 0x8000'0000'0000'0001;
  r.ooo = 0x7abc;
  r.m = 2;
  r.entropy = 0x11223344;
  r.ts = 0x5566;
  r.rcvd = 0x778899;
  Ctl c = over_the_wire(r);
  CHECK(c.kind == CtlKind::Sack);
  CHECK(c.qp == 1);
  CHECK(c.psn == 3);
  CHECK(c.cack == 0xffffff);
  CHECK(c.base == 0xfffffe);
  CHECK(c.bitmap == 0x8000'0000'0000'0001);
  CHECK(c.ooo == 0x7abc);
  CHECK(c.m == 2);
  CHECK_FALSE(c.pr);
  CHECK(c.entropy == 0x11223344);
  CHECK(c.ts == 0x5566);
  CHECK(c.rcvd == 0x778899);
  CHECK(c.reason == 0);

  r.kind = CtlKind::Nack;
  r.reason = 0x0B;
  c = over_the_wire(r);
  CHECK(c.kind == CtlKind::Nack);
  CHECK(c.psn == 3);
  CHECK(c.reason == 0x0B);
  CHECK(c.entropy == 0x11223344);
  CHECK(c.ts == 0x5566);
  CHECK(c.cack == 0);

  r.kind = CtlKind::Ack;
  r.msn = 0xabcd;
  r.reason = 0x1F;
  c = over_the_wire(r);
  CHECK(c.kind == CtlKind::Ack);
  CHECK(c.psn == 3);
  CHECK(c.msn == 0xabcd);
  CHECK(c.reason == 0x1F);
  CHECK(c.entropy == 0);
}

TEST_CASE("each byte of a SACK and a NACK is where mrc.md has it", "[rx_check]") {
  Resp r;
  r.qp = 2;
  r.psn = 0x00'0103;
  r.cack = 0x00'0100;
  r.base = 0x00'00ff;
  r.bitmap = 0x0102030405060708;
  r.ooo = 0x0910;
  r.m = 1;
  r.entropy = 0x11223344;
  r.ts = 0x5566;
  r.rcvd = 0x778899;
  Ctlpkt c;
  build_response(r, 0xab'cdef, {}, c);
  CHECK(c.opcode == 0xDC);
  CHECK(c.psn == 0x100);
  CHECK(c.ext_len == 36);
  const auto* e = reinterpret_cast<const uint8_t*>(c.ext.data());
  const Bytes sack = {0x00, 0x20, 0x00, 0x03, 0x11, 0x22, 0x33, 0x44, 0x00, 0x12, 0xcd, 0xef,
                      0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0x01, 0x02, 0x03, 0x04,
                      0x05, 0x06, 0x07, 0x08, 0x55, 0x66, 0x09, 0x10, 0x00, 0x77, 0x88, 0x99};
  CHECK(Bytes(e, e + 36) == sack);
  r.kind = CtlKind::Nack;
  r.reason = 2;
  build_response(r, 0xab'cdef, {}, c);
  CHECK(c.psn == 0x103);
  CHECK(c.ext_len == 20);
  const Bytes nack = {0,    0,    2, 0, 0x11, 0x22, 0x33, 0x44, 0x00, 0x12,
                      0xcd, 0xef, 0, 0, 0x01, 0x03, 0x20, 0,    0x55, 0x66};
  CHECK(Bytes(e, e + 20) == nack);
  CHECK(Bytes(e + 20, e + 36) == Bytes(16));
}

TEST_CASE("a probe goes on with its id, and nothing that could be placed", "[rx_check]") {
  Bytes ext = counting(16);  // id in bytes 4..5, time stamp in 12..13
  Rxdesc d = write_desc(ext, 0);
  d.opcode = 0xDE;
  d.ackreq = d.rtx = d.ce = true;
  d.entropy = 0xdeadbeef;
  d.at = 0x4321;
  Rxpkt p;
  p.plen = 9;  // an older packet's
  const QpState state = GENERATE(QpState::Rtr, QpState::Rts, QpState::Error);
  rx_probe(d, 3, {.state = state, .mtu = 0, .pkey = 0}, p);
  Rxpkt want;
  want.plane = 3;
  want.probe = true;
  want.qp = 1;
  want.psn = 0x0506;
  want.ce = true;
  want.ts = 0x0d0e;
  want.tsv = true;
  want.at = 0x4321;
  want.err = state == QpState::Error;
  want.entropy = 0xdeadbeef;
  CHECK(p == want);
}

TEST_CASE("an endpoint packet goes on with what its header says", "[rx_check]") {
  Bytes ext = counting(36);  // byte n is n + 1
  Rxdesc d = write_desc(ext, 0);
  d.dqp = 2;
  d.psn = 0xab'cdef;
  d.at = 0x4321;
  d.entropy = 5;
  d.ackreq = d.ce = true;
  Eprx want;
  want.id = 0xcdef;
  want.plane = 3;
  want.tsv = true;
  want.at = 0x4321;
  SECTION("request") {
    d.opcode = 0xD8;
    want.op = 2;  // of byte 1, 0b00000010, bits 1:0
    want.mask = 0x05060708;
    want.ts = 0x0d0e;
    want.sip = U128{0x1112131415161718} << 64 | 0x191a1b1c1d1e1f20;
  }
  SECTION("request, other bits of byte 1 set") {
    ext[1] = 0xfd;
    d = write_desc(ext, 0);
    d.dqp = 2;
    d.psn = 0xab'cdef;
    d.at = 0x4321;
    d.opcode = 0xD8;
    want.op = 1;
    want.mask = 0x05060708;
    want.ts = 0x0d0e;
    want.sip = U128{0x1112131415161718} << 64 | 0x191a1b1c1d1e1f20;
  }
  SECTION("response") {
    ext[1] = 0xf7;  // bits 3:2: 01
    d = write_desc(ext, 0);
    d.dqp = 2;
    d.psn = 0xab'cdef;
    d.at = 0x4321;
    d.opcode = 0xD9;
    want.resp = true;
    want.op = 1;
    want.ts = 0x1d1e;
  }
  CHECK(rx_endpoint(d, 3) == want);
}

TEST_CASE("every field of a SACK and a NACK is taken from its bytes", "[rx_check]") {
  Bytes ext = counting(36);  // byte n is n + 1
  ext[1] = 0x40;             // m 2
  ext[2] = 0xff;             // ack_psn_offset -2
  ext[3] = 0xfe;
  ext[18] = 0x80;  // sack_offset -32767
  ext[19] = 0x01;
  ext[30] = 0xff;  // the reserved bit counts for nothing
  ext[32] = 0xc5;
  Rxdesc d = write_desc(ext, 0);
  d.psn = 0x99;
  d.opcode = 0xDC;
  Ctl want;
  want.kind = CtlKind::Sack;
  want.qp = 1;
  want.psn = 0x0e0f0e;
  want.cack = 0x0e0f10;
  want.base = 0x0d8f11;
  want.bitmap = 0x15161718191a1b1c;
  want.ooo = 0x7f20;
  want.m = 2;
  want.entropy = 0x05060708;
  want.ts = 0x1d1e;
  want.rcvd = 0x222324;
  want.pen = 0x45;
  want.restore = true;
  want.mpr = 18;
  CHECK(rx_control(d) == want);
  ext[32] = 0x7f;
  d = write_desc(ext, 0);
  d.opcode = 0xDC;
  want.restore = false;
  want.pen = 0x7f;
  CHECK(rx_control(d) == want);

  d = write_desc(counting(20), 0);
  d.psn = 0x99;
  d.opcode = 0xDD;
  want = {};
  want.kind = CtlKind::Nack;
  want.qp = 1;
  want.psn = 0x0e0f10;
  want.entropy = 0x05060708;
  want.reason = 3;
  want.ts = 0x1314;
  CHECK(rx_control(d) == want);
  d.opcode = 0xD1;
  want = {};
  want.kind = CtlKind::Ack;
  want.qp = 1;
  want.psn = 0x99;
  want.reason = 1;
  want.msn = 0x0304;
  CHECK(rx_control(d) == want);
}

TEST_CASE("the SACK that answers a probe carries the probe's id", "[rx_check]") {
  Bytes ext(36);
  ext[1] = 0x22;  // m 1, pr
  ext[2] = 0xff;
  ext[3] = 0x01;
  ext[15] = 0x10;  // cack
  Rxdesc d = write_desc(ext, 0);
  d.opcode = 0xDC;
  Ctl c = rx_control(d);
  CHECK(c.pr);
  CHECK(c.m == 1);
  CHECK(c.psn == 0x00ff01);
  CHECK(c.cack == 0x10);
  ext[1] = 0x20;
  d = write_desc(ext, 0);
  d.opcode = 0xDC;
  CHECK(rx_control(d).psn == 0xffff11);  // 0x10 - 0xff
}
