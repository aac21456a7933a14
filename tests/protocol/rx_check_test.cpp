// SPDX-License-Identifier: Apache-2.0
#include "protocol/rx_check.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "protocol/responses.hpp"
#include "tests/protocol/rx_frames.hpp"

namespace mrc::test::rx_check_test {
namespace {

RxPacket write_desc(const Bytes& ext, uint16_t plen) {
  RxPacket d{.icrc_ok = true, .opcode = 0xCA, .pkey = 0x7fff, .dqp = 17, .psn = 55, .plen = plen};
  std::memcpy(d.ext.data(), ext.data(), ext.size());
  return d;
}

/// The QPs with numbers 16 to 19.
using Qps = std::array<RxQpCtx, 4>;
Qps qps_in(QpState state) {
  Qps qps;
  qps[1] = {.state = state, .mtu = 0, .pkey = 0xffff};
  return qps;
}

RxDrop dropped(const RxPacket& d, const Qps& qps, ZeroLength zero = ZeroLength::Legal) {
  return rx_drop(d, d.dqp >= 16 && d.dqp < 20 ? &qps[d.dqp - 16] : nullptr, zero);
}

constexpr auto kZeroThree = static_cast<ZeroLength>(3);  // as Drop

MemoryRegion region() {
  MemoryRegion mr{.valid = true, .rkey = 0x1234'05'77, .va = 0x1000, .length = 0x100, .addr = 0x9000'0000};
  return mr;
}

}  // namespace

TEST_CASE("the first check that fails decides", "[rx_check]") {
  auto qps = qps_in(QpState::Rts);
  RxPacket d = write_desc(Bytes(20), 256);
  CHECK(dropped(d, qps) == RxDrop::None);
  SECTION("parse error first") {
    d.err = RxErr::Udp;
    d.icrc_ok = false;
    CHECK(dropped(d, qps) == RxDrop::Parse);
  }
  SECTION("ICRC before QP, but not of a trimmed packet") {
    d.icrc_ok = false;
    d.dqp = 0;
    CHECK(dropped(d, qps) == RxDrop::Icrc);
    d.dqp = 17;
    for (const Trim t : {Trim::Trimmed, Trim::LastHop}) {
      d.trim = t;
      CHECK(dropped(d, qps) == RxDrop::None);
    }
    for (const Trim t : {Trim::NoBuffer, Trim::NoResource}) {  // came whole
      d.trim = t;
      CHECK(dropped(d, qps) == RxDrop::Icrc);
    }
  }
  SECTION("of one that came back nothing but its opcode and its headers' form") {
    d.trim = Trim::Returned;
    d.icrc_ok = false;
    d.dqp = 0;
    d.pkey = 0;
    for (const int opcode : {0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xCB}) {
      d.opcode = static_cast<uint8_t>(opcode);
      CHECK(dropped(d, qps) == RxDrop::Returned);
    }
    for (const int opcode : {0xC5, 0xCC, 0xDC, 0xDD, 0xD1, 0xDE, 0xD8, 0xD9}) {
      d.opcode = static_cast<uint8_t>(opcode);
      d.dqp = opcode == 0xD8 || opcode == 0xD9 ? 2 : 17;
      CHECK(dropped(d, qps) == RxDrop::Qp);
    }
    d.err = RxErr::Short;
    CHECK(dropped(d, qps) == RxDrop::Parse);
  }
  SECTION("QP numbers 16 to 19 exist") {
    d.dqp = 15;
    CHECK(dropped(d, qps) == RxDrop::Qp);
    d.dqp = 20;
    CHECK(dropped(d, qps) == RxDrop::Qp);
    d.dqp = 18;  // in Reset
    CHECK(dropped(d, qps) == RxDrop::Qp);
  }
  SECTION("data and probes in Rtr, Rts and Error, control in Rts only") {
    for (const int opcode : {0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xCB, 0xDE}) {
      d.opcode = static_cast<uint8_t>(opcode);
      CHECK(dropped(d, qps_in(QpState::Reset)) == RxDrop::Qp);
      CHECK(dropped(d, qps_in(QpState::Init)) == RxDrop::Qp);
      CHECK(dropped(d, qps_in(QpState::Rtr)) == RxDrop::None);
      CHECK(dropped(d, qps_in(QpState::Rts)) == RxDrop::None);
      CHECK(dropped(d, qps_in(QpState::Error)) == RxDrop::None);
    }
    for (const int opcode : {0xDC, 0xDD, 0xD1}) {
      d.opcode = static_cast<uint8_t>(opcode);
      CHECK(dropped(d, qps_in(QpState::Reset)) == RxDrop::Qp);
      CHECK(dropped(d, qps_in(QpState::Init)) == RxDrop::Qp);
      CHECK(dropped(d, qps_in(QpState::Rtr)) == RxDrop::Qp);
      CHECK(dropped(d, qps_in(QpState::Rts)) == RxDrop::None);
      CHECK(dropped(d, qps_in(QpState::Error)) == RxDrop::Qp);
    }
  }
  SECTION("P_Key and length count in Error too") {
    qps = qps_in(QpState::Error);
    d.plen = 257;
    CHECK(dropped(d, qps) == RxDrop::Len);
    d.pkey = 1;
    CHECK(dropped(d, qps) == RxDrop::Pkey);
  }
  SECTION("unknown opcodes, and trimmed control packets") {
    for (const int opcode : {0xC5, 0xCC, 0xD7, 0xDA, 0xDB, 0xDF}) {
      d.opcode = static_cast<uint8_t>(opcode);
      CHECK(dropped(d, qps) == RxDrop::Qp);
    }
    for (const int opcode : {0xDC, 0xDD, 0xD1, 0xDE}) {
      d.opcode = static_cast<uint8_t>(opcode);
      d.trim = Trim::None;
      CHECK(dropped(d, qps) == RxDrop::None);
      d.trim = Trim::LastHop;
      CHECK(dropped(d, qps) == RxDrop::Qp);
      d.trim = Trim::Trimmed;
      CHECK(dropped(d, qps) == RxDrop::Qp);
    }
  }
  SECTION("endpoint packets go to QP 2, whole and sound, whatever their P_Key") {
    for (const int opcode : {0xD8, 0xD9}) {
      d = write_desc(Bytes(20), 0);
      d.opcode = static_cast<uint8_t>(opcode);
      d.dqp = 2;
      d.pkey = 0x1234;
      CHECK(dropped(d, qps) == RxDrop::None);
      for (const uint32_t dqp : {0u, 1u, 3u, 16u, 17u, 0x10002u}) {
        d.dqp = dqp;
        CHECK(dropped(d, qps) == RxDrop::Qp);
      }
      d.dqp = 2;
      d.icrc_ok = false;
      CHECK(dropped(d, qps) == RxDrop::Icrc);
      for (const Trim t : {Trim::Trimmed, Trim::LastHop}) {
        d.trim = t;
        CHECK(dropped(d, qps) == RxDrop::Qp);
      }
      d.err = RxErr::Length;
      CHECK(dropped(d, qps) == RxDrop::Parse);
    }
    d = write_desc(Bytes(20), 256);
    d.dqp = 2;  // a WRITE
    CHECK(dropped(d, qps) == RxDrop::Qp);
  }
  SECTION("P_Key without its top bit, before length") {
    d.pkey = 0x7ffe;
    d.plen = 257;
    CHECK(dropped(d, qps) == RxDrop::Pkey);
    d.pkey = 0xffff;
    CHECK(dropped(d, qps) == RxDrop::Len);
  }
  SECTION("First and Middle carry the MTU, the others at most that") {
    d.plen = 255;
    CHECK(dropped(d, qps) == RxDrop::None);
    d.opcode = 0xC6;
    CHECK(dropped(d, qps) == RxDrop::Len);
    d.opcode = 0xC7;
    CHECK(dropped(d, qps) == RxDrop::Len);
    d.plen = 256;
    CHECK(dropped(d, qps) == RxDrop::None);
    qps[1].mtu = 1;
    CHECK(dropped(d, qps) == RxDrop::Len);
    d.plen = 0;
    for (const Trim t : {Trim::Trimmed, Trim::LastHop, Trim::NoBuffer, Trim::NoResource}) {  // nothing to measure
      d.trim = t;
      CHECK(dropped(d, qps) == RxDrop::None);
    }
  }
}

TEST_CASE("a WRITE of no bytes is dropped if the register says so", "[rx_check][A-19]") {
  const auto qps = qps_in(QpState::Rts);
  for (const bool ts : {false, true}) {
    Bytes ext(24);
    ext[ts ? 23 : 19] = 1;  // DMA length 1; the other place is looked at by the other setting of ts only
    RxPacket d = write_desc(ext, 1);
    d.ts = ts;
    const auto only_drop_drops = [&] {
      CHECK(dropped(d, qps, ZeroLength::Drop) == RxDrop::Len);
      CHECK(dropped(d, qps, kZeroThree) == RxDrop::Len);
      CHECK(dropped(d, qps, ZeroLength::Nak) == RxDrop::None);
      CHECK(dropped(d, qps, ZeroLength::Legal) == RxDrop::None);
    };
    CHECK(dropped(d, qps, ZeroLength::Drop) == RxDrop::None);
    d.plen = 0;
    only_drop_drops();
    d.plen = 1;
    d.ts = !ts;  // now the DMA length is 0
    only_drop_drops();
    d.plen = 0;  // both
    only_drop_drops();
    d.trim = Trim::Trimmed;  // nothing to measure
    CHECK(dropped(d, qps, ZeroLength::Drop) == RxDrop::None);
  }
}

TEST_CASE("a WRITE of no bytes is one packet without payload and length, if the register says that it is legal",
          "[rx_check][A-19]") {
  for (unsigned opcode = 0xC0; opcode < 0xE0; ++opcode) {
    CAPTURE(opcode);
    const auto op = static_cast<uint8_t>(opcode);
    CHECK(rx_empty(op, 0, 0, ZeroLength::Legal) == (opcode == 0xCA || opcode == 0xCB));
    CHECK_FALSE(rx_empty(op, 1, 0, ZeroLength::Legal));
    CHECK_FALSE(rx_empty(op, 0, 1, ZeroLength::Legal));
    for (const ZeroLength zero : {ZeroLength::Nak, ZeroLength::Drop, kZeroThree}) CHECK_FALSE(rx_empty(op, 0, 0, zero));
  }
  const MemoryRegion mr = region();
  CHECK(rx_fault(mr, mr.rkey ^ 1, ~uint64_t{0}, 0, 0, false, true) == RxFault::None);  // nobody looks at VA and R_Key
  CHECK(rx_fault({}, 0, 0, 0, 0, false, true) == RxFault::None);
  CHECK(rx_fault(mr, mr.rkey, 0x1000, 0, 0, true, true) == RxFault::Invalid);  // its QP takes no immediates
}

TEST_CASE("the QP of a packet that came back sends to that QPN at that address, and is at work", "[rx_check][A-80]") {
  RxPacket d = write_desc(Bytes(20), 0);
  d.dqp = 0x123456;
  RxQpCtx q{.state = QpState::Rts, .dqpn = 0x123456, .fold = 0xabcd};
  CHECK(rx_returned(d, 0xabcd, q));
  CHECK_FALSE(rx_returned(d, 0xabcc, q));
  for (unsigned bit = 0; bit < 24; ++bit) {
    d.dqp = 0x123456 ^ 1u << bit;
    CHECK_FALSE(rx_returned(d, 0xabcd, q));
  }
  d.dqp = 0x123456;
  for (const QpState s : {QpState::Reset, QpState::Init, QpState::Rtr, QpState::Error}) {
    q.state = s;
    CHECK_FALSE(rx_returned(d, 0xabcd, q));
  }
  CHECK(return_key(0x123456, 0xabcd, 4) == ((0x56 ^ 0xcd) & 3));
  CHECK(return_key(0x123456, 0xabcd, 256) == (0x56 ^ 0xcd));
  CHECK(return_key(0x123456, 0xabcd, 4096) == (0x456 ^ 0xbcd));
}

TEST_CASE("the nominal size of a received WRITE: UDP length and 40, payload alone, or payload and 40", "[rx_check]") {
  // UDP 8, BTH 12, METH 4, RETH 16, ICRC 4: 44, and 40 are 84.
  CHECK(nominal_received(5, 3, 0xCA, false, Nominal::UdpLength) == 92);
  CHECK(nominal_received(5, 3, 0xCA, true, Nominal::UdpLength) == 96);
  CHECK(nominal_received(5, 3, 0xCB, true, Nominal::UdpLength) == 100);
  CHECK(nominal_received(5, 3, 0xC9, true, Nominal::UdpLength) == 100);
  CHECK(nominal_received(5, 3, 0xC9, false, Nominal::UdpLength) == 96);
  CHECK(nominal_received(5, 3, 0xC9, false, Nominal::Payload) == 5);
  CHECK(nominal_received(5, 3, 0xC9, true, Nominal::Payload40) == 45);
  CHECK(nominal_received(5, 3, 0xC9, true, static_cast<Nominal>(3)) == 100);  // as UdpLength
  CHECK(nominal_received(5, 2, 0xCA, false, Nominal::UdpLength) == 91);       // as the packet says, not as it should
  CHECK(nominal_received(4096, 0, 0xC9, false, Nominal::UdpLength) == 4184);
  CHECK(nominal_received(4096, 0, 0xC7, false, Nominal::UdpLength) == 4180);
  CHECK(nominal_received(4096, 0, 0xC7, false, Nominal::Payload) == 4096);
}

TEST_CASE("a region admits what lies inside it, to the last byte", "[rx_check]") {
  const MemoryRegion mr = region();
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
  CHECK(rx_fault(mr, key, 0x1000, 1, 1, true) == RxFault::Invalid);  // an immediate for a QP that takes none
  CHECK(rx_fault(mr, key ^ 1, 0x1000, 1, 1, true) == RxFault::Invalid);
  MemoryRegion off = mr;
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

TEST_CASE("a WRITE says where its payload goes", "[rx_check]") {
  const Bytes ext = write_ext(0x0a0b, 0x0c0d, 0x1010, 0x12340577, 0x33);
  RxPacket d = write_desc(ext, 0x20);
  const RxWrite want{.psn = 55,
                     .msn = 0x0c0d,
                     .rqmsn = 0x0a0b,
                     .last = true,
                     .va = 0x1010,
                     .rkey = 0x12340577,
                     .dma_length = 0x33,
                     .plen = 0x20,
                     .size = 0x20 + 84};
  CHECK(rx_write(d, Nominal::UdpLength) == want);
  SECTION("counted in payload bytes") { CHECK(rx_write(d, Nominal::Payload).size == 0x20); }
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
    RxWrite other = want;
    other.tx_timestamp = 0x7788;
    other.size = 0x20 + 92;
    other.imm_valid = true;
    other.imm = 0xcafef00d;
    CHECK(rx_write(d, Nominal::UdpLength) == other);
    d.opcode = 0xC7;
    other.last = false;
    other.imm_valid = false;
    other.imm = 0;
    other.size = 0x20 + 88;
    CHECK(rx_write(d, Nominal::UdpLength) == other);
  }
  SECTION("a packet without payload keeps only what its first headers say") {
    d.plen = 0;
    d.opcode = 0xCB;
    d.ts = true;  // its field is where the virtual address was: bytes 4 and 5, both 0 here
    for (const Trim t : {Trim::Trimmed, Trim::LastHop, Trim::NoBuffer, Trim::NoResource}) {
      d.trim = t;
      CHECK(rx_write(d, Nominal::UdpLength) == RxWrite{.psn = 55, .msn = 0x0c0d, .rqmsn = 0x0a0b, .last = true});
    }
  }
}

TEST_CASE("a response survives the wire", "[rx_check]") {
  // What the responder builds, the requestor takes apart again.
  const auto over_the_wire = [](const ControlPacket& c) {
    RxPacket d{.opcode = c.opcode, .psn = c.psn, .ext = c.ext};
    return d;
  };
  const PdcIds ids = PdcIds::of(18, 0x01'0011, false);
  const Sack s{.cack_psn = 0xffffff,
               .psn = 0x000003,
               .base = 0xfffffe,
               .bitmap = 0x8000'0000'0000'0001,
               .entropy = 0x11223344,
               .rcvd_bytes = 0x778899,
               .ooo_count = 0x7abc,
               .tx_timestamp = 0x5566,
               .m = 2,
               .mpr = 9,
               .rcv_cwnd_pen = 0x45,
               .restore_cwnd = true};
  CHECK(rx_sack(over_the_wire(build_sack(s, ids))) == s);
  Sack probed = s;
  probed.pr = true;
  probed.psn = 0x8003;
  CHECK(rx_sack(over_the_wire(build_sack(probed, ids))) == probed);
  const Nack n{.psn = 3, .entropy = 0x11223344, .tx_timestamp = 0x5566, .reason = wire::NackReason::PsnOorWindow};
  CHECK(rx_nack(over_the_wire(build_nack(n, ids))) == n);
  const Ack a{.psn = 3, .msn = 0xabcd, .syndrome = 0x1F};
  CHECK(rx_ack(over_the_wire(build_ack(a))) == a);
}

TEST_CASE("each byte of a SACK and a NACK is where mrc.md has it", "[rx_check]") {
  const PdcIds ids = PdcIds::of(18, 0xab'cdef, false);
  ControlPacket c = build_sack({.cack_psn = 0x00'0100,
                                .psn = 0x00'0103,
                                .base = 0x00'00ff,
                                .bitmap = 0x0102030405060708,
                                .entropy = 0x11223344,
                                .rcvd_bytes = 0x778899,
                                .ooo_count = 0x0910,
                                .tx_timestamp = 0x5566,
                                .m = 1},
                               ids);
  CHECK(c.opcode == 0xDC);
  CHECK(c.psn == 0x100);
  CHECK(c.ext_len == 36);
  const Bytes sack = {0x00, 0x20, 0x00, 0x03, 0x11, 0x22, 0x33, 0x44, 0x00, 0x12, 0xcd, 0xef,
                      0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0x01, 0x02, 0x03, 0x04,
                      0x05, 0x06, 0x07, 0x08, 0x55, 0x66, 0x09, 0x10, 0x00, 0x77, 0x88, 0x99};
  CHECK(Bytes(c.ext.begin(), c.ext.end()) == sack);
  c = build_nack(
      {.psn = 0x103, .entropy = 0x11223344, .tx_timestamp = 0x5566, .reason = wire::NackReason::TrimmedLasthop}, ids);
  CHECK(c.opcode == 0xDD);
  CHECK(c.psn == 0x103);
  CHECK(c.ext_len == 20);
  const Bytes nack = {0,    0,    2, 0, 0x11, 0x22, 0x33, 0x44, 0x00, 0x12,
                      0xcd, 0xef, 0, 0, 0x01, 0x03, 0x20, 0,    0x55, 0x66};
  CHECK(Bytes(c.ext.begin(), c.ext.begin() + 20) == nack);
  CHECK(Bytes(c.ext.begin() + 20, c.ext.end()) == Bytes(16));
}

TEST_CASE("a probe has an id and a time stamp", "[rx_check]") {
  RxPacket d = write_desc(counting(16), 0);  // id in bytes 4..5, time stamp in 12..13
  d.opcode = 0xDE;
  CHECK(rx_probe(d) == Probe{.id = 0x0506, .tx_timestamp = 0x0d0e});
}

TEST_CASE("an endpoint packet goes on with what its header says", "[rx_check]") {
  Bytes ext = counting(36);  // byte n is n + 1
  RxPacket d = write_desc(ext, 0);
  d.dqp = 2;
  d.psn = 0xab'cdef;
  d.at = 0x4321;
  d.entropy = 5;
  d.ackreq = d.ce = true;
  d.address = U128{0x1112131415161718} << 64 | 0x191a1b1c1d1e1f20;
  const U128 source = d.address;
  EndpointPacket want{.id = 0xcdef};
  SECTION("request") {
    d.opcode = 0xD8;
    want.op = 2;  // of byte 1, 0b00000010, bits 1:0
    want.mask = 0x05060708;
    want.tx_timestamp = 0x0d0e;
    want.source = source;
  }
  SECTION("request, other bits of byte 1 set") {
    ext[1] = 0xfd;
    d = write_desc(ext, 0);
    d.dqp = 2;
    d.psn = 0xab'cdef;
    d.address = source;
    d.opcode = 0xD8;
    want.op = 1;
    want.mask = 0x05060708;
    want.tx_timestamp = 0x0d0e;
    want.source = source;
  }
  SECTION("response") {
    ext[1] = 0xf7;  // bits 3:2: 01
    d = write_desc(ext, 0);
    d.dqp = 2;
    d.psn = 0xab'cdef;
    d.address = source;
    d.opcode = 0xD9;
    want.response = true;
    want.op = 1;
    want.tx_timestamp = 0x1d1e;
  }
  CHECK(rx_endpoint(d) == want);
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
  RxPacket d = write_desc(ext, 0);
  d.psn = 0x99;
  d.opcode = 0xDC;
  Sack want{.cack_psn = 0x0e0f10,
            .psn = 0x0e0f0e,
            .base = 0x0d8f11,
            .bitmap = 0x15161718191a1b1c,
            .entropy = 0x05060708,
            .rcvd_bytes = 0x222324,
            .ooo_count = 0x7f20,
            .tx_timestamp = 0x1d1e,
            .m = 2,
            .mpr = 18,
            .rcv_cwnd_pen = 0x45,
            .restore_cwnd = true};
  CHECK(rx_sack(d) == want);
  ext[32] = 0x7f;
  want.restore_cwnd = false;
  want.rcv_cwnd_pen = 0x7f;
  CHECK(rx_sack(write_desc(ext, 0)) == want);

  d = write_desc(counting(20), 0);
  d.psn = 0x99;
  CHECK(
      rx_nack(d) ==
      Nack{.psn = 0x0e0f10, .entropy = 0x05060708, .tx_timestamp = 0x1314, .reason = static_cast<wire::NackReason>(3)});
  CHECK(rx_ack(d) == Ack{.psn = 0x99, .msn = 0x0304, .syndrome = 1});
}

TEST_CASE("the SACK that answers a probe carries the probe's id", "[rx_check]") {
  Bytes ext(36);
  ext[1] = 0x22;  // m 1, pr
  ext[2] = 0xff;
  ext[3] = 0x01;
  ext[15] = 0x10;  // cack
  RxPacket d = write_desc(ext, 0);
  d.opcode = 0xDC;
  const Sack c = rx_sack(d);
  CHECK(c.pr);
  CHECK(c.m == 1);
  CHECK(c.psn == 0x00ff01);
  CHECK(c.cack_psn == 0x10);
  ext[1] = 0x20;
  d = write_desc(ext, 0);
  CHECK(rx_sack(d).psn == 0xffff11);  // 0x10 - 0xff
}

}  // namespace mrc::test::rx_check_test
