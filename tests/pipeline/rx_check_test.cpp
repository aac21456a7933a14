// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx_check.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "tests/protocol/rx_frames.hpp"

using namespace mrc;
using namespace mrc::test;

namespace {

struct Check {
  Check() : check(preset, desc, rxpkt, ctl) {}

  void cycle() {
    check.step(cfg);
    if (take && rxpkt.has()) {
      pkts.push_back(rxpkt.head());
      rxpkt.pop();
    }
    if (ctl.has()) {
      ctls.push_back(ctl.head());
      ctl.pop();
    }
    for (auto& d : desc) d.clock();
    rxpkt.clock();
    ctl.clock();
    check.clock();
    const RxCheck::Pulses& p = check.pulses();
    pulses[0] += p.drop_parse;
    pulses[1] += p.drop_icrc;
    pulses[2] += p.drop_qp;
    pulses[3] += p.drop_pkey;
    pulses[4] += p.drop_len;
    pulses[5] += p.access;
  }
  void idle(unsigned n) {
    for (unsigned i = 0; i < n; ++i) cycle();
  }
  template <class Row>
  void write(CfgTable table, unsigned index, const Row& row) {
    cfg = {.req = true, .table = static_cast<uint8_t>(table), .index = static_cast<uint16_t>(index), .data = {}};
    row.pack(cfg.data.data());
    while (!check.cfg_ack()) cycle();
    cfg.req = false;
    cycle();
  }
  void set_up() {
    csr::TblQpCtx qp;
    qp.state = static_cast<uint8_t>(QpState::Rts);
    qp.pkey = 0xffff;
    qp.mtu = 4;
    write(CfgTable::QpCtx, 1, qp);
    csr::TblMr mr;
    mr.rkey = 0x300;
    mr.valid = true;
    mr.length = 4096;
    mr.addr = 0x10000;
    write(CfgTable::Mr, 3, mr);
  }
  static Rxdesc good(uint32_t psn) {
    Rxdesc d;
    d.icrc_ok = true;
    d.opcode = 0xCA;
    d.pkey = 0xffff;
    d.dqp = 17;
    d.psn = psn;
    d.plen = 100;
    d.buf_valid = true;
    const Bytes ext = write_ext(0, 0, 8, 0x300, 100);
    std::memcpy(d.ext.data(), ext.data(), ext.size());
    return d;
  }

  const Preset& preset = *find_preset("tiny");
  CfgBus cfg;
  std::vector<Fifo<Rxdesc>> desc{2, Fifo<Rxdesc>(2)};
  Stream<Rxpkt> rxpkt;
  Stream<Ctl> ctl;
  RxCheck check;
  bool take = true;
  unsigned pulses[6] = {};
  std::vector<Rxpkt> pkts;
  std::vector<Ctl> ctls;
};

}  // namespace

TEST_CASE("before any configuration every QP is in Reset", "[rx_check]") {
  Check c;
  c.desc[0].push(Check::good(1));
  c.idle(5);
  REQUIRE(c.pkts.size() == 1);
  CHECK(c.pkts[0] == rx_discard(0));
  CHECK(c.pulses[2] == 1);
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
  c.idle(8);
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
  c.idle(6);
  for (unsigned i = 0; i < 6; ++i) CHECK(c.pulses[i] == (i == counter ? 1 : 0));
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
  c.idle(6);
  REQUIRE(c.pkts.size() == 2);
  CHECK(c.pkts[0].syndrome == 0x61);
  CHECK(c.pkts[1].syndrome == 0x62);
  CHECK_FALSE(c.pkts[1].drop);
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
  c.idle(5);
  REQUIRE(c.ctls.size() == 1);
  CHECK(c.ctls[0].kind == CtlKind::Ack);
  CHECK(c.ctls[0].msn == 5);
  CHECK(c.ctls[0].psn == 9);
  struct State {
    void pack(uint32_t* words) const { words[0] = static_cast<uint32_t>(QpState::Rtr); }
  };
  c.write(CfgTable::QpState, 1, State{});
  c.desc[0].push(d);
  c.cycle();
  c.desc[0].push(Check::good(1));
  c.idle(5);
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
  c.idle(10);
  CHECK_FALSE(c.check.cfg_ack());
  c.take = true;
  c.idle(10);
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
  c.idle(5);
  REQUIRE(c.pkts.size() == 1);
  CHECK(c.pkts[0].probe);
  CHECK(c.pkts[0].psn == 0x1234);
  CHECK(c.pkts[0].plane == 1);
  CHECK(c.ctls.empty());
  for (const unsigned n : c.pulses) CHECK(n == 0);
}
