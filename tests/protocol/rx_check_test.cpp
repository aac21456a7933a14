// SPDX-License-Identifier: Apache-2.0
#include "protocol/rx_check.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "protocol/responses.hpp"
#include "rx_frames.hpp"

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
    d.trim = Trim::Trimmed;
    CHECK(rx_drop(d, qps) == RxDrop::None);
  }
  SECTION("QP numbers 16 to 19 exist") {
    d.dqp = 15;
    CHECK(rx_drop(d, qps) == RxDrop::Qp);
    d.dqp = 20;
    CHECK(rx_drop(d, qps) == RxDrop::Qp);
    d.dqp = 18;  // in Reset
    CHECK(rx_drop(d, qps) == RxDrop::Qp);
  }
  SECTION("data and probes in Rtr and Rts, control in Rts only") {
    for (const QpState s : {QpState::Reset, QpState::Init, QpState::Error}) {
      CHECK(rx_drop(d, qps_in(s)) == RxDrop::Qp);
    }
    CHECK(rx_drop(d, qps_in(QpState::Rtr)) == RxDrop::None);
    d.opcode = 0xDE;
    CHECK(rx_drop(d, qps_in(QpState::Rtr)) == RxDrop::None);
    CHECK(rx_drop(d, qps_in(QpState::Init)) == RxDrop::Qp);
    d.opcode = 0xDC;
    CHECK(rx_drop(d, qps_in(QpState::Rtr)) == RxDrop::Qp);
    CHECK(rx_drop(d, qps_in(QpState::Rts)) == RxDrop::None);
  }
  SECTION("unknown opcodes, and trimmed control packets") {
    for (const uint8_t opcode : {uint8_t{0xC5}, uint8_t{0xCC}, uint8_t{0xD8}}) {
      d.opcode = opcode;
      CHECK(rx_drop(d, qps) == RxDrop::Qp);
    }
    for (const uint8_t opcode : {uint8_t{0xDD}, uint8_t{0xDE}}) {
      d.opcode = opcode;
      d.trim = Trim::LastHop;
      CHECK(rx_drop(d, qps) == RxDrop::Qp);
    }
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
    d.trim = Trim::Trimmed;
    d.plen = 0;
    CHECK(rx_drop(d, qps) == RxDrop::None);
  }
}

TEST_CASE("a region admits what lies inside it, to the last byte", "[rx_check]") {
  const csr::TblMr mr = region();
  const uint32_t key = mr.rkey;
  CHECK(rx_syndrome(mr, key, 0x1000, 0x100, 0x100) == 0);
  CHECK(rx_syndrome(mr, key, 0x10ff, 1, 1) == 0);
  CHECK(rx_syndrome(mr, key, 0x1001, 0x100, 0x100) == 0x62);
  CHECK(rx_syndrome(mr, key, 0x1100, 1, 1) == 0x62);
  CHECK(rx_syndrome(mr, key, 0x1101, 1, 1) == 0x62);
  CHECK(rx_syndrome(mr, key, 0x0fff, 1, 1) == 0x62);
  CHECK(rx_syndrome(mr, key, ~uint64_t{0}, 1, 1) == 0x62);
  CHECK(rx_syndrome(mr, key ^ 1, 0x1000, 1, 1) == 0x62);
  CHECK(rx_syndrome(mr, key, 0x1000, 0, 1) == 0x61);
  CHECK(rx_syndrome(mr, key ^ 1, 0x1000, 1, 0) == 0x61);
  csr::TblMr off = mr;
  off.valid = false;
  CHECK(rx_syndrome(off, key, 0x1000, 1, 1) == 0x62);
}

TEST_CASE("a WRITE becomes an order with its host address", "[rx_check]") {
  std::array<csr::TblMr, 8> mrs;
  mrs[5] = region();
  mrs[5].rkey = 0x123405'77;
  Bytes ext = write_ext(0x0a0b, 0x0c0d, 0x1010, 0x12340577, 0x33);
  Rxdesc d = write_desc(ext, 0x20);
  d.ackreq = d.ce = true;
  d.entropy = 0xdeadbeef;
  Rxpkt p;
  rx_data(d, 3, mrs, p);
  CHECK(p.plane == 3);
  CHECK_FALSE(p.drop);
  CHECK(p.buf_valid);
  CHECK(p.qp == 1);
  CHECK(p.psn == 55);
  CHECK(p.ackreq);
  CHECK_FALSE(p.rtx);
  CHECK(p.ce);
  CHECK(p.ts == 0);
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
    rx_data(d, 0, mrs, p);
    CHECK(p.ts == 0x7788);
    CHECK(p.imm_valid);
    CHECK(p.imm == 0xcafef00d);
    CHECK(p.haddr == 0x9000'0010);
    CHECK(p.last);
    d.opcode = 0xC7;
    rx_data(d, 0, mrs, p);
    CHECK_FALSE(p.last);
    CHECK_FALSE(p.imm_valid);
  }
  SECTION("a trimmed packet keeps only what its first headers say") {
    d.trim = Trim::LastHop;
    d.plen = 0;
    d.buf_valid = false;
    d.opcode = 0xCB;
    rx_data(d, 0, mrs, p);
    CHECK(p.trim == Trim::LastHop);
    CHECK(p.msn == 0x0c0d);
    CHECK(p.last);
    CHECK(p.dmalen == 0);
    CHECK_FALSE(p.imm_valid);
    CHECK(p.syndrome == 0);
    CHECK(p.haddr == 0);
  }
  SECTION("no access: no address") {
    d.plen = 0xf1;
    rx_data(d, 0, mrs, p);
    CHECK(p.syndrome == 0x62);
    CHECK(p.haddr == 0);
  }
}

TEST_CASE("a response survives the wire", "[rx_check]") {
  // What ack_gen builds, rx_check takes apart again.
  const auto over_the_wire = [](const Resp& r) {
    Ctlpkt c;
    build_response(r, 0x01'0011, c);
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
  CHECK(c.reason == 0);

  r.kind = CtlKind::Nack;
  r.reason = 0x0B;
  c = over_the_wire(r);
  CHECK(c.kind == CtlKind::Nack);
  CHECK(c.psn == 3);
  CHECK(c.reason == 0x0B);
  CHECK(c.entropy == 0x11223344);
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
  build_response(r, 0xab'cdef, c);
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
  build_response(r, 0xab'cdef, c);
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
  Rxpkt p;
  p.plen = 9;  // an older packet's
  rx_probe(d, 3, p);
  Rxpkt want;
  want.plane = 3;
  want.probe = true;
  want.qp = 1;
  want.psn = 0x0506;
  want.ce = true;
  want.ts = 0x0d0e;
  want.entropy = 0xdeadbeef;
  CHECK(p == want);
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
