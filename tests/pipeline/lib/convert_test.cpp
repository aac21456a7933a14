// SPDX-License-Identifier: Apache-2.0
#include "pipeline/lib/convert.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <vector>

namespace mrc::test::convert_test {
namespace {

/// A struct of a stream with every field drawn at random, and its bits.
template <class Struct>
Struct drawn(std::mt19937& rng) {
  std::vector<uint32_t> words(Struct::kWords);
  for (uint32_t& w : words) w = static_cast<uint32_t>(rng());
  return Struct::unpack(words.data());
}

}  // namespace

TEST_CASE("what a SACK, NACK or ACK says goes through its stream and back", "[convert]") {
  std::mt19937 rng(1);
  for (int n = 0; n < 200; ++n) {
    const Ctl c = drawn<Ctl>(rng);
    CHECK(sack_of(ctl_of(c.qp, sack_of(c))) == sack_of(c));
    CHECK(nack_of(ctl_of(c.qp, nack_of(c))) == nack_of(c));
    CHECK(ack_of(ctl_of(c.qp, ack_of(c))) == ack_of(c));
    // All fields of the stream that a SACK has, all that it has not are zero.
    Ctl want = c;
    want.kind = CtlKind::Sack;
    want.reason = 0;
    want.msn = 0;
    CHECK(ctl_of(c.qp, sack_of(c)) == want);
    want = {.kind = CtlKind::Nack, .qp = c.qp, .psn = c.psn, .entropy = c.entropy, .reason = c.reason, .ts = c.ts};
    CHECK(ctl_of(c.qp, nack_of(c)) == want);
    want = {.kind = CtlKind::Ack, .qp = c.qp, .psn = c.psn, .reason = c.reason, .msn = c.msn};
    CHECK(ctl_of(c.qp, ack_of(c)) == want);
  }
}

TEST_CASE("a response says what its SACK, NACK or ACK says", "[convert]") {
  std::mt19937 rng(2);
  const Resp r = drawn<Resp>(rng);
  CHECK(sack_of(r) == Sack{.cack_psn = r.cack,
                           .psn = r.psn,
                           .base = r.base,
                           .bitmap = r.bitmap,
                           .entropy = r.entropy,
                           .rcvd_bytes = r.rcvd,
                           .ooo_count = r.ooo,
                           .tx_timestamp = r.ts,
                           .m = r.m,
                           .mpr = r.mpr,
                           .rcv_cwnd_pen = r.pen,
                           .restore_cwnd = r.restore,
                           .pr = r.pr});
  CHECK(static_cast<uint8_t>(nack_of(r).reason) == r.reason);
  CHECK((nack_of(r).psn == r.psn && nack_of(r).entropy == r.entropy && nack_of(r).tx_timestamp == r.ts));
  CHECK(ack_of(r) == Ack{.psn = r.psn, .msn = r.msn, .syndrome = r.reason});
}

TEST_CASE("a received packet goes through its stream; endpoint requests and what came back take an address along",
          "[convert]") {
  RxPacket p{.err = RxErr::Tver,
             .trim = Trim::LastHop,
             .ce = true,
             .icrc_ok = true,
             .opcode = 0xDC,
             .pad = 3,
             .ackreq = true,
             .rtx = true,
             .ts = true,
             .pkey = 0x8123,
             .dqp = 0xabcdef,
             .psn = 0xfedcba,
             .entropy = 0x12345678,
             .plen = 4096,
             .at = 0x4321};
  for (unsigned i = 0; i < kMaxExtension; ++i) p.ext[i] = static_cast<uint8_t>(i + 1);
  p.address = U128{0xc0c1c2c3c4c5c6c7} << 64 | 0xc8c9cacbcccdcecf;
  Rxdesc d{.buf_valid = true};
  put(p, d);
  CHECK(d.buf_valid);  // the lane's own
  CHECK(d.ext[0] == 0x04030201);
  CHECK(d.ext[8] == 0x24232221);
  RxPacket taken = packet_of(d);
  taken.address = p.address;
  CHECK(taken == p);
  p.opcode = 0xD8;
  for (const bool back : {false, true}) {
    if (back) {
      p.opcode = 0xCA;
      p.trim = Trim::Returned;
    }
    put(p, d);
    CHECK(d.ext[3] == 0x100f0e0d);
    CHECK(d.ext[4] == 0xc3c2c1c0);  // bytes 16 to 31
    CHECK(d.ext[7] == 0xcfcecdcc);
    CHECK(d.ext[8] == 0x24232221);
    CHECK((packet_of(d).address == p.address));
    d = {};
  }
}

TEST_CASE("a packet that came back keeps PSN, rtx and entropy on its way to its requestor", "[convert][A-80]") {
  for (const bool rtx : {false, true}) {
    const ReturnedPacket r{.psn = 0xfedcba, .rtx = rtx, .entropy = 0x12345678};
    Ctl want{.kind = CtlKind::Returned, .qp = 3, .psn = 0xfedcba, .m = rtx, .entropy = 0x12345678};
    CHECK(ctl_of(3, r) == want);
  }
}

TEST_CASE("a control packet and a WRITE keep every field on their way through the NIC", "[convert]") {
  std::mt19937 rng(3);
  const Ctlpkt c = drawn<Ctlpkt>(rng);
  Ctlpkt copy{.qp = c.qp, .plane = c.plane, .tc = c.tc, .ev = c.ev};
  put(packet_of(c), copy);
  CHECK(copy == c);
  const Pkt p = drawn<Pkt>(rng);
  const WritePacket w = packet_of(p);
  CHECK((w.psn == p.psn && w.msn == p.msn && w.ackreq == p.ackreq && w.rtx == p.rtx));
  Pkt from = p;
  from.rqmsn = from.plen = from.opcode = 0;
  from.va = from.laddr = from.rkey = from.dmalen = from.imm = 0;
  from.last = !p.last;
  put(w.part, from);
  CHECK(from == p);
  const Wqe wqe = drawn<Wqe>(rng);
  CHECK(request_of(wqe, 7) == WriteRequest{.laddr = wqe.laddr,
                                           .raddr = wqe.raddr,
                                           .rkey = wqe.rkey,
                                           .length = wqe.length,
                                           .imm_valid = wqe.imm_valid,
                                           .imm = wqe.imm,
                                           .rqmsn = 7});
}

TEST_CASE("QPs and QPNs are 16 apart", "[convert]") {
  CHECK(qpn_of(0) == 16);
  CHECK(qpn_of(255) == 271);
  CHECK(qpn_of(3, 2, 256) == 16 + 512 + 3);
  CHECK(qpn_of(255, 0xffff, 256) == 15);  // 24 bits
  CHECK(qpn_row(271, 256) == 255);
  CHECK(qpn_row(16 + 512 + 3, 256) == 3);
  CHECK(qpn_high(0x12345, 256) == 0x2345);
  CHECK(qpn_is(271, 0, 256));
  CHECK(!qpn_is(272, 0, 256));
  CHECK(qpn_is(272, 1, 256));
  CHECK(!qpn_is(15, 0xffff, 256));  // below the first
}

}  // namespace mrc::test::convert_test
