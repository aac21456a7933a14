// SPDX-License-Identifier: Apache-2.0
#include "protocol/responses.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace mrc;

namespace {

const uint8_t* bytes(const Ctlpkt& c) { return reinterpret_cast<const uint8_t*>(c.ext.data()); }

}  // namespace

TEST_CASE("the SACK for a probe carries the probe's id instead of an offset", "[ack_gen]") {
  Resp r;
  r.kind = CtlKind::Sack;
  r.psn = 0x1234;
  r.cack = 0x1200;
  r.base = 0x1201;
  r.m = 1;
  Ctlpkt c;
  build_response(r, 0, {}, c);
  CHECK(c.ext[0] == 0x34002000);  // m 1, offset 0x0034
  r.pr = true;
  build_response(r, 0, {}, c);
  CHECK(c.ext[0] == 0x34122200);  // m 1, pr, id 0x1234
  CHECK(c.psn == 0x1200);
}

TEST_CASE("a SACK carries the window and the time stamp as given", "[ack_gen]") {
  Resp r;
  r.kind = CtlKind::Sack;
  r.mpr = 7;
  r.ts = 0xa1b2;
  Ctlpkt c;
  build_response(r, 0, {}, c);
  CHECK(bytes(c)[16] == 0);  // cc_type, cc_flags
  CHECK(bytes(c)[17] == 7);
  CHECK(bytes(c)[28] == 0xa1);
  CHECK(bytes(c)[29] == 0xb2);
}

TEST_CASE("the answer to an endpoint request: op and time stamp, all else zero", "[ack_gen]") {
  Resp r;
  r.kind = CtlKind::Endpoint;
  r.qp = 3;
  r.psn = 0x4321;
  r.reason = 1;
  r.ts = 0x0708;
  r.msn = 0xffff;
  r.entropy = 0xffffffff;
  Ctlpkt c;
  c.ext.fill(0xffffffff);
  build_response(r, 0xabcdef, {}, c);
  CHECK(c.qp == 3);
  CHECK(c.opcode == 0xD9);
  CHECK(c.psn == 0x4321);
  CHECK(c.ext_len == 36);
  for (unsigned i = 0; i < kExtBytes; ++i) {
    CAPTURE(i);
    CHECK(bytes(c)[i] == (i == 1 ? 1 << 2 : i == 28 ? 7 : i == 29 ? 8 : 0));
  }
}

TEST_CASE("service time moves a time stamp forward, if the QP may and the packet had one", "[ack_gen]") {
  Resp r;
  r.ts = 100;
  r.tsv = true;
  r.at = 0xfff0;
  CHECK(reflected_time(r, true, 0x5'0005, false) == 100 + 21);  // 0xfff0 to 0x10005, across the wrap
  CHECK(reflected_time(r, false, 0x5'0005, false) == 100);
  r.ts = 0xffff;
  CHECK(reflected_time(r, true, 0xfff2, false) == 1);
  r.tsv = false;
  CHECK(reflected_time(r, true, 0xfff2, false) == 0xffff);
}

TEST_CASE("a response prefers its plane, then one that both ends can use, then any that is up", "[ack_gen]") {
  CHECK(response_plane(3, 0xff, 0xff) == 3);
  CHECK(response_plane(3, 0xf0, 0xff) == 4);
  CHECK(response_plane(3, 0xff, 0xc0) == 6);
  CHECK(response_plane(3, 0xf8, 0x60) == 5);
  CHECK(response_plane(3, 0x0e, 0xf0) == 1);  // the peer hears nothing that we could send: its word may be old
  CHECK(response_plane(3, 0, 0xff) == 0);
}

TEST_CASE("the EETH's op in bits 5:4", "[ack_gen]") {
  Resp r;
  r.kind = CtlKind::Endpoint;
  r.reason = 1;
  Ctlpkt c;
  build_response(r, 0, {.eeth_op_high = true}, c);
  CHECK(c.ext[0] == 0x00001000);
}

TEST_CASE("SACK and NACK without QPNs are the same otherwise", "[ack_gen]") {
  Resp r;
  r.qp = 5;
  r.entropy = 0x01020304;
  for (const CtlKind kind : {CtlKind::Sack, CtlKind::Nack}) {
    r.kind = kind;
    Ctlpkt with, without;
    build_response(r, 0xab3456, {}, with);
    build_response(r, 0xab3456, {.pdcid_zero = true}, without);
    CHECK(with.ext[2] == 0x5634'1500);  // spdcid 5 + 16, dpdcid
    CHECK(without.ext[1] == 0x04030201);
    CHECK(without.ext[2] == 0);
    without.ext[2] = with.ext[2];
    CHECK(with == without);
  }
}
