// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx/rx_check.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstring>

#include "tests/pipeline/block_bench.hpp"
#include "tests/protocol/rx_frames.hpp"

namespace mrc::test::rx_check_test {
namespace {

/// The order to free a lane's buffer.
Rxpkt rx_discard(unsigned plane) {
  Rxpkt p{.plane = static_cast<uint8_t>(plane), .drop = true, .buf_valid = true};
  return p;
}

struct Check : BlockBench<Check> {
  Check() : check(preset, desc, rxpkt, ctl, eprx) {}

  void cycle() {
    check.step(cfg, csr);
    test::take(rxpkt, pkts, take);
    test::take(ctl, ctls);
    test::take(eprx, eprxs, take_eprx);
    for (auto& d : desc) d.clock();
    clock_all(rxpkt, ctl, eprx, check);
    const RxCheck::Pulses& p = check.pulses();
    pulses[0] += p.drop_parse;
    pulses[1] += p.drop_icrc;
    pulses[2] += p.drop_qp;
    pulses[3] += p.drop_pkey;
    pulses[4] += p.drop_len;
    pulses[5] += p.access;
    pulses[6] += p.returned;
  }
  bool cfg_ack() const { return check.cfg_ack(); }
  void set_up(QpState state = QpState::Rts) {
    csr::TblQpCtx qp{.max_wimm_dest = 1, .pkey = 0xffff, .mtu = 4, .state = state};
    configure(CfgTable::QpCtx, 1, qp);
    csr::TblMr mr{.addr = 0x10000, .length = 4096, .valid = true, .rkey = 0x300};
    configure(CfgTable::Mr, 3, mr);
  }
  /// QP sends to QPN dqpn at dip.
  void sends_to(unsigned qp, uint32_t dqpn, U128 dip, QpState state = QpState::Rts) {
    csr::TblQpCtx row{.dip = dip, .pkey = 0xffff, .dqpn = dqpn, .mtu = 4, .state = state};
    configure(CfgTable::QpCtx, qp, row);
  }
  /// A WRITE packet of ours to QPN dqpn at dip, trimmed and sent back.
  static Rxdesc back(uint32_t psn, uint32_t dqpn, U128 dip, bool rtx = false) {
    Rxdesc d;
    d.trim = Trim::Returned;
    d.opcode = 0xC7;
    d.rtx = rtx;
    d.pkey = 0x1234;  // nobody's
    d.dqp = dqpn;
    d.psn = psn;
    d.entropy = 0xe000'0000 + psn;
    auto* at = reinterpret_cast<uint8_t*>(d.ext.data()) + 16;
    wire::store_be<8>(at, static_cast<uint64_t>(dip >> 64));
    wire::store_be<8>(at + 8, static_cast<uint64_t>(dip));
    return d;
  }
  /// Until it has gone through.
  void come(const Rxdesc& d, unsigned plane = 0) {
    desc[plane].push(d);
    run(6);
  }
  static Rxdesc good(uint32_t psn) {
    Rxdesc d{.icrc_ok = true, .opcode = 0xCA, .pkey = 0xffff, .dqp = 17, .psn = psn, .plen = 100, .buf_valid = true};
    const Bytes ext = write_ext(0, 0, 8, 0x300, 100);
    std::memcpy(d.ext.data(), ext.data(), ext.size());
    return d;
  }

  const Preset& preset = *find_preset("tiny");
  CsrOut csr;
  std::vector<Fifo<Rxdesc>> desc{2, Fifo<Rxdesc>(2)};
  Stream<Rxpkt> rxpkt;
  Stream<Ctl> ctl;
  Stream<Eprx> eprx;
  RxCheck check;
  bool take = true, take_eprx = true;
  unsigned pulses[7] = {};
  std::vector<Rxpkt> pkts;
  std::vector<Ctl> ctls;
  std::vector<Eprx> eprxs;
};

}  // namespace

TEST_CASE("before any configuration every QP is in Reset", "[rx_check]") {
  Check c;
  c.desc[0].push(Check::good(1));
  c.run(5);
  REQUIRE(c.pkts.size() == 1);
  CHECK(c.pkts[0] == rx_discard(0));
  CHECK(c.pulses[2] == 1);
}

TEST_CASE("a QP is named by all bits of its QPN", "[rx_check]") {
  Check c;
  c.set_up();
  const auto taken = [&](uint32_t dqpn) {
    const std::size_t before = c.pkts.size();
    const unsigned drops = c.pulses[2];
    Rxdesc d = Check::good(1);
    d.dqp = dqpn;
    c.come(d);
    REQUIRE(c.pkts.size() == before + 1);
    const Rxpkt& p = c.pkts.back();
    CHECK(p.drop == (c.pulses[2] != drops));
    if (!p.drop) CHECK(p.qp == 1);
    return !p.drop;
  };
  constexpr uint32_t kHigh = 0x2aaaaa;
  CHECK(taken(17));
  CHECK_FALSE(taken(17 + 4));
  CHECK_FALSE(taken(17 + 4 * kHigh));
  c.configure(CfgTable::QpQpn, 1, csr::TblQpQpn{.high = kHigh | 0xc00000});  // the upper two do not count
  CHECK(taken(17 + 4 * kHigh));
  for (unsigned bit = 0; bit < 22; ++bit) CHECK_FALSE(taken(17 + 4 * (kHigh ^ 1u << bit)));
  CHECK_FALSE(taken(17));
  SECTION("of its row alone") {
    c.configure(CfgTable::QpQpn, 0, csr::TblQpQpn{.high = 1});
    CHECK(taken(17 + 4 * kHigh));
    CHECK_FALSE(taken(17 + 4));
  }
  SECTION("the last QPNs below the first one name nobody") {
    c.configure(CfgTable::QpQpn, 1, csr::TblQpQpn{.high = 0x3fffff});
    CHECK_FALSE(taken((17 + 4 * 0x3fffffu) & 0xffffff));  // 13
    CHECK_FALSE(taken(13));
  }
  SECTION("a row for Rtr or Rts leaves it, one for Init or Reset ends it") {
    c.set_up(QpState::Rtr);
    CHECK(taken(17 + 4 * kHigh));
    c.set_up(QpState::Rts);
    CHECK(taken(17 + 4 * kHigh));
    c.configure(CfgTable::QpState, 1, csr::TblQpState{.state = QpState::Error});
    CHECK(taken(17 + 4 * kHigh));
    c.set_up(GENERATE(QpState::Init, QpState::Reset));
    c.set_up(QpState::Rts);
    CHECK(taken(17));
    CHECK_FALSE(taken(17 + 4 * kHigh));
  }
}

TEST_CASE("lanes take turns, one packet per cycle", "[rx_check]") {
  Check c;
  c.set_up();
  for (uint32_t i = 0; i < 4; ++i) {
    c.desc[0].push(Check::good(i));
    c.desc[1].push(Check::good(10 + i));
    c.cycle();
    c.cycle();
  }
  c.run(8);
  REQUIRE(c.pkts.size() == 8);
  for (uint32_t i = 0; i < 8; ++i) {
    CHECK(c.pkts[i].plane == i % 2);
    CHECK(c.pkts[i].psn == (i % 2) * 10 + i / 2);
    CHECK(c.pkts[i].haddr == 0x10008);
    CHECK(c.pkts[i].qp == 1);
  }
}

TEST_CASE("each failure counts once and frees a buffer if there is one", "[rx_check]") {
  Check c;
  c.set_up();
  Rxdesc d = Check::good(1);
  unsigned counter = 0;
  std::size_t discards = 1;
  SECTION("parse") {
    d.err = RxErr::Length;
    d.buf_valid = false;
    discards = 0;
  }
  SECTION("icrc") {
    counter = 1;
    d.icrc_ok = false;
  }
  SECTION("qp") {
    counter = 2;
    d.dqp = 16;
  }
  SECTION("pkey") {
    counter = 3;
    d.pkey = 0x1234;
  }
  SECTION("length") {
    counter = 4;
    d.opcode = 0xC7;
  }
  SECTION("nothing held") {
    counter = 4;
    d.opcode = 0xC7;
    d.plen = 0;
    d.buf_valid = false;
    discards = 0;
  }
  c.desc[1].push(d);
  c.run(6);
  for (unsigned i = 0; i < 7; ++i) CHECK(c.pulses[i] == (i == counter ? 1 : 0));
  REQUIRE(c.pkts.size() == discards);
  if (discards != 0) CHECK(c.pkts[0] == rx_discard(1));
  CHECK(c.ctls.empty());
}

TEST_CASE("an access fault goes on to the tracker", "[rx_check]") {
  Check c;
  c.set_up();
  Rxdesc d = Check::good(1);
  d.ext[4] = 0;  // DMA length 0: refused, but no access fault
  c.desc[0].push(d);
  c.cycle();
  d = Check::good(2);
  d.ext[3] = 0x00040000;  // R_Key 0x400
  c.desc[0].push(d);
  c.run(6);
  REQUIRE(c.pkts.size() == 2);
  CHECK(c.pkts[0].syndrome == 0x61);
  CHECK(c.pkts[1].syndrome == 0x62);
  CHECK_FALSE(c.pkts[1].drop);
  CHECK(c.pulses[5] == 1);
}

TEST_CASE("the syndromes of refused WRITEs are a register's", "[rx_check]") {
  Check c;
  c.set_up();
  c.csr.nak_invalid = 0x64;
  c.csr.nak_access = GENERATE(uint8_t{0x64}, uint8_t{0x65});  // the same for both is counted apart all the same
  Rxdesc d = Check::good(1);
  d.ext[4] = 0;  // DMA length 0
  c.desc[0].push(d);
  c.cycle();
  d = Check::good(2);
  d.ext[3] = 0x00040000;  // R_Key 0x400
  c.desc[0].push(d);
  c.run(6);
  REQUIRE(c.pkts.size() == 2);
  CHECK(c.pkts[0].syndrome == 0x64);
  CHECK(c.pkts[1].syndrome == c.csr.nak_access);
  CHECK(c.pkts[1].haddr == 0);
  CHECK(c.pulses[5] == 1);
}

TEST_CASE("control packets go to the transmit side; QP_STATE stops them", "[rx_check]") {
  Check c;
  c.set_up();
  Rxdesc d = Check::good(9);
  d.opcode = 0xD1;
  d.plen = 0;
  d.buf_valid = false;
  d.ext = {};
  d.ext[0] = 0x0500001f;  // syndrome 0x1F, MSN 5
  c.desc[0].push(d);
  c.run(5);
  REQUIRE(c.ctls.size() == 1);
  CHECK(c.ctls[0].kind == CtlKind::Ack);
  CHECK(c.ctls[0].msn == 5);
  CHECK(c.ctls[0].psn == 9);
  csr::TblQpState row{.state = QpState::Rtr};
  c.configure(CfgTable::QpState, 1, row);
  c.desc[0].push(d);
  c.cycle();
  c.desc[0].push(Check::good(1));
  c.run(5);
  CHECK(c.ctls.size() == 1);
  CHECK(c.pulses[2] == 1);
  CHECK(c.pkts.size() == 1);
}

TEST_CASE("a table write waits until stage A is empty, and keeps it empty for its cycle", "[rx_check]") {
  Check c;
  c.set_up();
  c.take = false;
  for (int i = 0; i < 12; ++i) {  // fill rxpkt's FIFO, its register, and stage A
    if (c.desc[0].ready()) c.desc[0].push(Check::good(1));
    c.cycle();
  }
  c.cfg = {.req = true, .table = static_cast<uint8_t>(CfgTable::Ev), .index = 0, .data = {}};
  c.run(10);
  CHECK_FALSE(c.check.cfg_ack());
  c.take = true;
  c.run(10);
  CHECK(c.check.cfg_ack());
  c.cfg.req = false;
  c.cycle();
  CHECK_FALSE(c.check.cfg_ack());
}

TEST_CASE("a table write waits for one packet, however many wait behind it", "[rx_check]") {
  Check c;
  c.set_up();
  unsigned waited = 0;
  for (int i = 0; i < 30; ++i) {
    if (c.desc[0].ready()) c.desc[0].push(Check::good(1));
    if (c.desc[1].ready()) c.desc[1].push(Check::good(2));
    if (i == 10) c.cfg = {.req = true, .table = static_cast<uint8_t>(CfgTable::Ev), .index = 0, .data = {}};
    if (i > 10 && !c.check.cfg_ack()) ++waited;
    c.cycle();
  }
  CHECK(c.check.cfg_ack());
  CHECK(waited <= 2);
}

TEST_CASE("a probe goes to the tracker", "[rx_check]") {
  Check c;
  c.set_up();
  Rxdesc d = Check::good(9);
  d.opcode = 0xDE;
  d.plen = 0;
  d.buf_valid = false;
  d.ext = {};
  d.ext[1] = 0x0000'3412;  // probe id 0x1234
  c.desc[1].push(d);
  c.run(5);
  REQUIRE(c.pkts.size() == 1);
  CHECK(c.pkts[0].probe);
  CHECK(c.pkts[0].psn == 0x1234);
  CHECK(c.pkts[0].plane == 1);
  CHECK(c.ctls.empty());
  for (const unsigned n : c.pulses) CHECK(n == 0);
}

TEST_CASE("what each state of a QP lets through", "[rx_check]") {
  struct Case {
    QpState state;
    std::size_t data, control;
    bool err;
  };
  const auto [state, data, control, err] =
      GENERATE(Case{QpState::Reset, 0, 0, false}, Case{QpState::Init, 0, 0, false}, Case{QpState::Rtr, 2, 0, false},
               Case{QpState::Rts, 2, 1, false}, Case{QpState::Error, 2, 0, true});
  const bool by_state_table = GENERATE(false, true);
  Check c;
  c.set_up(by_state_table ? QpState::Rts : state);
  if (by_state_table) {
    csr::TblQpState row{.state = state};
    c.configure(CfgTable::QpState, 1, row);
  }
  Rxdesc d = Check::good(5);
  c.desc[0].push(d);
  c.cycle();
  d.plen = 0;
  d.buf_valid = false;
  d.opcode = 0xDE;
  c.desc[0].push(d);
  c.cycle();
  d.opcode = 0xDD;
  c.desc[0].push(d);
  c.run(6);
  const std::size_t discards = data == 0 ? 1 : 0;
  REQUIRE(c.pkts.size() == data + discards);
  for (const Rxpkt& p : c.pkts) {
    CHECK(p.drop == (data == 0));
    CHECK(p.err == err);
  }
  CHECK(c.ctls.size() == control);
  CHECK(c.pulses[2] == 3 - data - control);
}

TEST_CASE("in Error a WRITE is still held against P_Key, length and region", "[rx_check]") {
  Check c;
  c.set_up(QpState::Error);
  Rxdesc d = Check::good(1);
  d.pkey = 1;
  c.desc[0].push(d);
  c.cycle();
  d = Check::good(2);
  d.opcode = 0xC6;
  c.desc[0].push(d);
  c.cycle();
  d = Check::good(3);
  d.ext[3] = 0x00040000;  // R_Key 0x400
  c.desc[0].push(d);
  c.run(6);
  REQUIRE(c.pkts.size() == 3);
  CHECK(c.pkts[0] == rx_discard(0));
  CHECK(c.pkts[1] == rx_discard(0));
  CHECK(c.pkts[2].err);
  CHECK(c.pkts[2].syndrome == 0x62);
  CHECK(c.pulses[3] == 1);
  CHECK(c.pulses[4] == 1);
  CHECK(c.pulses[5] == 1);
}

TEST_CASE("a WRITE of no bytes is taken as it is, NAKed or dropped, as software says", "[rx_check][A-19]") {
  Check c;
  c.set_up();
  const auto zero = GENERATE(ZeroLength::Legal, ZeroLength::Nak, ZeroLength::Drop, static_cast<ZeroLength>(3));
  const bool imm = GENERATE(false, true);
  const bool legal = zero == ZeroLength::Legal, dropped = !legal && zero != ZeroLength::Nak;
  c.csr.zero_length = zero;
  Rxdesc d = Check::good(1);
  d.opcode = imm ? 0xCB : 0xCA;
  d.plen = 0;
  d.buf_valid = false;
  Bytes ext = write_ext(0x0102, 0x0304, ~uint64_t{0}, 0x777, 0);  // VA and R_Key of nothing
  ext.resize(24);
  ext[23] = 9;  // the immediate
  std::memcpy(d.ext.data(), ext.data(), ext.size());
  SECTION("two zeros, in a packet that is all of its message") {
    c.come(d);
    REQUIRE(c.pkts.size() == (dropped ? 0 : 1));
    if (!dropped) {
      Rxpkt want;
      want.qp = 1;
      want.psn = 1;
      want.rqmsn = 0x0102;
      want.msn = 0x0304;
      want.last = true;
      want.imm_valid = imm;
      want.imm = imm ? 9 : 0;
      want.size = imm ? 88 : 84;
      want.syndrome = legal ? 0 : 0x61;
      CHECK(c.pkts[0] == want);
    }
    CHECK(c.pulses[4] == (dropped ? 1 : 0));
    c.csr.nominal = Nominal::Payload;
    c.come(d);
    if (!dropped) CHECK(c.pkts.back().size == 0);
  }
  SECTION("one zero is not legal, whichever it is") {
    d.plen = 100;
    d.buf_valid = true;
    c.come(d);
    d = Check::good(2);
    d.plen = 0;
    d.buf_valid = false;
    c.come(d);
    REQUIRE(c.pkts.size() == (dropped ? 1 : 2));
    CHECK(c.pkts[0].drop == dropped);
    CHECK(c.pkts[0].buf_valid);
    CHECK(c.pkts[0].haddr == 0);
    for (const Rxpkt& p : c.pkts) CHECK(p.syndrome == (dropped ? 0 : 0x61));
    CHECK(c.pulses[4] == (dropped ? 2 : 0));
  }
  SECTION("nor is one of a message with other packets") {
    for (const int opcode : {0xC6, 0xC7, 0xC8, 0xC9}) {
      d.opcode = static_cast<uint8_t>(opcode);
      c.come(d);
    }
    // First and Middle are too short; Last is NAKed, or dropped.
    REQUIRE(c.pkts.size() == (dropped ? 0 : 2));
    for (const Rxpkt& p : c.pkts) CHECK(p.syndrome == 0x61);
    CHECK(c.pulses[4] == (dropped ? 4 : 2));
  }
  SECTION("a QP that takes no immediates takes none of no bytes") {
    csr::TblQpCtx qp{.max_wimm_dest = GENERATE(uint8_t{0}, uint8_t{1}), .pkey = 0xffff, .state = QpState::Rts};
    c.configure(CfgTable::QpCtx, 1, qp);
    c.come(d);
    REQUIRE(c.pkts.size() == (dropped ? 0 : 1));
    if (!dropped) CHECK(c.pkts[0].syndrome == (legal && !(imm && qp.max_wimm_dest == 0) ? 0 : 0x61));
  }
  SECTION("P_Key and state of the QP count") {
    d.pkey = 1;
    c.come(d);
    CHECK(c.pulses[3] == 1);
    d.dqp = 18;
    c.come(d);
    CHECK(c.pulses[2] == 1);
    CHECK(c.pkts.empty());
  }
  CHECK(c.pulses[5] == 0);
}

TEST_CASE("a packet that came back is counted, and its requestor hears of it if software says so", "[rx_check][A-80]") {
  constexpr U128 kPeer = U128{0xfd00'0000'0000'0000} << 64 | 1;
  Check c;
  const auto mode = GENERATE(Returned::Drop, Returned::Learn);
  const bool learn = mode == Returned::Learn;
  c.csr.returned = mode;
  c.sends_to(1, 0x40, kPeer);
  c.sends_to(2, 0x41, kPeer);
  const bool rtx = GENERATE(false, true);
  c.come(Check::back(7, 0x41, kPeer, rtx), 1);
  CHECK(c.pulses[6] == 1);
  REQUIRE(c.ctls.size() == (learn ? 1 : 0));
  Ctl want{.kind = CtlKind::Returned, .qp = 2, .psn = 7, .m = rtx, .entropy = 0xe000'0007};
  if (learn) CHECK(c.ctls[0] == want);
  SECTION("the QP that it names here has nothing to do with it") {  // 17 is QP 1
    c.come(Check::back(7, 17, kPeer));
    CHECK(c.ctls.size() == (learn ? 1 : 0));
  }
  SECTION("another QPN, or the same one of another peer") {
    c.come(Check::back(7, 0x45, kPeer));
    c.come(Check::back(7, 0x41, kPeer + 4));  // the same rows
    c.come(Check::back(7, 0x42, kPeer));      // rows without a QP
    c.come(Check::back(7, 0x41, kPeer + 2));
    CHECK(c.pulses[6] == 5);
    CHECK(c.ctls.size() == (learn ? 1 : 0));
  }
  SECTION("a QP that is not at work, or not set up any more") {
    c.configure(CfgTable::QpState, 2, csr::TblQpState{.state = QpState::Error});
    c.come(Check::back(8, 0x41, kPeer));
    c.sends_to(2, 0x41, kPeer, QpState::Reset);
    c.come(Check::back(9, 0x41, kPeer));
    CHECK(c.ctls.size() == (learn ? 1 : 0));
    c.sends_to(2, 0x41, kPeer, QpState::Init);
    c.come(Check::back(10, 0x41, kPeer));
    c.sends_to(2, 0x41, kPeer, QpState::Rtr);
    c.come(Check::back(11, 0x41, kPeer));
    CHECK(c.ctls.size() == (learn ? 1 : 0));
    c.configure(CfgTable::QpState, 2, csr::TblQpState{.state = QpState::Rts});
    c.come(Check::back(12, 0x41, kPeer));
    CHECK(c.ctls.size() == (learn ? 2 : 0));
    CHECK(c.pulses[6] == 6);
  }
  SECTION("the plane in its address does not matter if planes have addresses") {
    c.csr.ip_plane_enable = true;
    c.sends_to(3, 0x43, kPeer | U128{2} << 64);
    for (unsigned plane = 0; plane < 8; ++plane) c.come(Check::back(plane, 0x43, kPeer | U128{plane} << 64));
    CHECK(c.ctls.size() == (learn ? 9 : 0));
    c.come(Check::back(9, 0x43, kPeer | U128{8} << 64));
    CHECK(c.ctls.size() == (learn ? 9 : 0));
  }
  SECTION("what is no WRITE is dropped") {
    Rxdesc d = Check::back(1, 0x41, kPeer);
    d.opcode = GENERATE(uint8_t{0xDC}, uint8_t{0xDE}, uint8_t{0xD8}, uint8_t{0xC0});
    if (d.opcode == 0xD8) d.dqp = 2;
    c.come(d);
    CHECK(c.pulses[2] == 1);
    CHECK(c.pulses[6] == 1);
    CHECK(c.ctls.size() == (learn ? 1 : 0));
  }
  SECTION("nor does it say anything if it could not be parsed") {
    Rxdesc d = Check::back(1, 0x41, kPeer);
    d.err = RxErr::Short;
    c.come(d);
    CHECK(c.pulses[0] == 1);
    CHECK(c.pulses[6] == 1);
  }
  CHECK(c.pkts.empty());
  CHECK(c.eprxs.empty());
}

TEST_CASE("of two QPs with one key the newer one hears of what came back", "[rx_check][A-80]") {
  constexpr U128 kPeer = U128{0xfd00'0000'0000'0000} << 64 | 1;
  Check c;  // four QPs: QPNs that differ by four have one row
  c.csr.returned = Returned::Learn;
  c.sends_to(1, 0x40, kPeer);
  c.come(Check::back(1, 0x40, kPeer));
  REQUIRE(c.ctls.size() == 1);
  CHECK(c.ctls[0].qp == 1);
  c.sends_to(3, 0x44, kPeer);
  c.come(Check::back(2, 0x40, kPeer));
  CHECK(c.ctls.size() == 1);
  c.come(Check::back(3, 0x44, kPeer));
  REQUIRE(c.ctls.size() == 2);
  CHECK(c.ctls[1].qp == 3);
  // The newer one goes: its row stands, and the older one is not found until it is set up again.
  c.sends_to(3, 0x44, kPeer, QpState::Reset);
  c.come(Check::back(4, 0x40, kPeer));
  c.come(Check::back(5, 0x44, kPeer));
  CHECK(c.ctls.size() == 2);
  c.sends_to(1, 0x40, kPeer);
  c.come(Check::back(6, 0x40, kPeer));
  REQUIRE(c.ctls.size() == 3);
  CHECK(c.ctls[2].qp == 1);
  CHECK(c.pulses[6] == 6);
}

TEST_CASE("a QP keeps the key that it had by IP_PLANE when its row was written", "[rx_check][A-80]") {
  // Its plane is 3; with IP_PLANE that is no part of the key.
  constexpr U128 kPeer = U128{0xfd00'0000'0000'0003} << 64 | 1;
  Check c;
  c.csr.returned = Returned::Learn;
  c.sends_to(1, 0x40, kPeer);
  c.csr.ip_plane_enable = true;
  c.come(Check::back(1, 0x40, kPeer));
  CHECK(c.ctls.empty());  // counted, and left to gap and timer
  CHECK(c.pulses[6] == 1);
  c.sends_to(1, 0x40, kPeer);
  c.come(Check::back(2, 0x40, kPeer));
  CHECK(c.ctls.size() == 1);
}

TEST_CASE("the size of a WRITE follows the register", "[rx_check]") {
  Check c;
  c.set_up();
  // UDP length + 40, payload, payload + 40; 3 is taken as the first.
  const unsigned nominal = GENERATE(0u, 1u, 2u, 3u);
  c.csr.nominal = static_cast<Nominal>(nominal);
  Rxdesc d = Check::good(1);
  d.plen = 99;
  d.pad = 1;
  c.desc[0].push(d);
  c.cycle();
  d.ts = true;
  d.opcode = 0xC9;
  c.desc[0].push(d);
  c.run(6);
  REQUIRE(c.pkts.size() == 2);
  constexpr unsigned kPlain[] = {184, 99, 139, 184};  // 99 + 1 + 84
  constexpr unsigned kBoth[] = {192, 99, 139, 192};   // and TSETH, ImmDt
  CHECK(c.pkts[0].size == kPlain[nominal]);
  CHECK(c.pkts[1].size == kBoth[nominal]);
  CHECK_FALSE(c.pkts[0].tsv);
  CHECK(c.pkts[1].tsv);
}

TEST_CASE("a WRITE without room for its payload goes to the tracker, if its ICRC is right", "[rx_check]") {
  Check c;
  c.set_up();
  Rxdesc d = Check::good(1);
  d.opcode = 0xC6;  // whose payload would be too short
  d.plen = 0;
  d.buf_valid = false;
  d.at = 0x1234;
  d.trim = GENERATE(Trim::NoBuffer, Trim::NoResource);
  c.desc[0].push(d);
  c.cycle();
  d.icrc_ok = false;
  c.desc[0].push(d);
  c.run(6);
  REQUIRE(c.pkts.size() == 1);
  Rxpkt want{.qp = 1, .psn = 1, .trim = d.trim, .at = 0x1234};
  CHECK(c.pkts[0] == want);
  CHECK(c.pulses[1] == 1);
}

TEST_CASE("endpoint packets go to the endpoint alone", "[rx_check]") {
  Check c;
  c.set_up();
  Rxdesc d;
  d.icrc_ok = true;
  d.opcode = 0xD8;
  d.pkey = 0x1234;  // nobody's
  d.dqp = 2;
  d.psn = 0xaa1234;
  d.at = 77;
  d.ext[0] = 0x0000'0100;  // op 1
  d.ext[1] = 0x0600'0000;  // mask 6
  d.ext[3] = 0x0000'5634;  // time stamp
  d.ext[7] = 0x0900'0000;  // last byte of the address
  c.desc[1].push(d);
  c.cycle();
  d.opcode = 0xD9;
  d.ext = {};
  d.ext[0] = 0x0000'0400;  // op 1
  d.ext[7] = 0x0000'5634;
  c.desc[1].push(d);
  c.run(6);
  REQUIRE(c.eprxs.size() == 2);
  CHECK(
      c.eprxs[0] ==
      Eprx{.resp = false, .op = 1, .id = 0x1234, .plane = 1, .mask = 6, .ts = 0x3456, .tsv = true, .at = 77, .sip = 9});
  CHECK(
      c.eprxs[1] ==
      Eprx{.resp = true, .op = 1, .id = 0x1234, .plane = 1, .mask = 0, .ts = 0x3456, .tsv = true, .at = 77, .sip = 0});
  CHECK(c.pkts.empty());
  CHECK(c.ctls.empty());
  for (const unsigned n : c.pulses) CHECK(n == 0);

  SECTION("another QP, though it exists") {
    d.dqp = 17;
    c.desc[0].push(d);
    c.run(6);
    CHECK(c.pulses[2] == 1);
  }
  SECTION("trimmed, which needs no ICRC") {
    d.trim = Trim::Trimmed;
    d.icrc_ok = false;
    c.desc[0].push(d);
    c.run(6);
    CHECK(c.pulses[2] == 1);
  }
  SECTION("wrong ICRC") {
    d.icrc_ok = false;
    c.desc[0].push(d);
    c.run(6);
    CHECK(c.pulses[1] == 1);
  }
  CHECK(c.eprxs.size() == 2);
  CHECK(c.pkts.empty());
}

TEST_CASE("an endpoint that stops stops the checks, without loss", "[rx_check]") {
  Check c;
  c.set_up();
  c.take_eprx = false;
  Rxdesc d{.icrc_ok = true, .opcode = 0xD9, .dqp = 2};
  unsigned sent = 0;
  for (int i = 0; i < 12 && sent < 3; ++i) {  // two in the endpoint's input, one in the output register
    if (c.desc[0].ready()) {
      d.psn = sent++;
      c.desc[0].push(d);
    }
    c.cycle();
  }
  c.run(4);
  c.desc[0].push(Check::good(9));
  c.run(6);
  CHECK(c.pkts.empty());
  c.take_eprx = true;
  c.run(10);
  CHECK(c.pkts.size() == 1);
  REQUIRE(c.eprxs.size() == 3);
  for (unsigned i = 0; i < 3; ++i) CHECK(c.eprxs[i].id == i);
}

}  // namespace mrc::test::rx_check_test
