// SPDX-License-Identifier: Apache-2.0
#include "pipeline/tx/tx_header.hpp"

#include <algorithm>
#include <boost/crc.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <utility>
#include <vector>

#include "gen/csr.hpp"
#include "pipeline/lib/convert.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "wire/bytes.hpp"
#include "wire/icrc.hpp"

namespace mrc::test::tx_header_test {
namespace {

/// Where the inner IP header begins.
constexpr std::pair<Encap, unsigned> kInner[] = {
    {Encap::Ipv6, 14}, {Encap::Srv6, 54}, {Encap::Srv6Srh, 78}, {Encap::Udp, 14}};

struct Bench : BlockBench<Bench> {
  Preset preset = *find_preset("tiny");
  Stream<Path> path;
  Stream<Ctlpkt> ctl, probe_in, eprq;
  TxHeader header{preset, path, ctl, probe_in, eprq};
  CsrOut csr;
  bool ready = true;
  std::vector<Hdr> got;
  std::vector<unsigned> at;

  void cycle() {
    if (header.hdr().valid() && ready) {
      got.push_back(header.hdr().data());
      at.push_back(cycles);
    }
    header.step(cfg, csr, ready);
    clock_all(header, path, ctl, probe_in, eprq);
    ++cycles;
  }
  void request(bool ts, Encap encap = Encap::Ipv6) {
    csr::TblQpCtx row{.dqpn = 0x77, .ts = ts, .encap = static_cast<uint8_t>(encap)};
    row.pack(cfg.data.data());
    cfg.index = 1;
    cfg.req = true;
  }
  void data(unsigned qp = 1, bool rtx = false) {
    Path p;
    p.pkt.qp = static_cast<QpIndex>(qp);
    p.pkt.opcode = 0xCA;
    p.pkt.plen = 64;
    p.pkt.rtx = rtx;
    path.load(p);
  }
  bool cfg_ack() const { return header.cfg_ack(); }
  void set_up(unsigned qp, QpState state) { configure(CfgTable::QpCtx, qp, csr::TblQpCtx{.state = state}); }
  /// DSCP and ECN of the packet that leaves next.
  unsigned next_tc() {
    const std::size_t n = got.size();
    run(8);
    REQUIRE(got.size() == n + 1);
    return wire::load_be<2>(header_bytes(got[n]) + 14) >> 4 & 0xff;
  }
  void control() {
    Ctlpkt c{.qp = 1, .opcode = 0xD1, .ext_len = 4};
    ctl.load(c);
  }
  void probe() {
    Ctlpkt c{.qp = 1, .plane = 1, .opcode = 0xDE, .ext_len = 16};
    probe_in.load(c);
  }
  void endpoint_request(unsigned tc) { eprq.load(request_of(tc)); }
  static Ctlpkt request_of(unsigned tc) {
    Ctlpkt c{.qp = 1, .tc = static_cast<uint8_t>(tc), .opcode = 0xD8, .ext_len = 16};
    return c;
  }
};

}  // namespace

TEST_CASE("tx_header passes one packet per cycle, control first", "[pipeline][tx_header]") {
  Bench b;
  b.ready = false;
  for (int i = 0; i < 6; ++i) {  // fills both stages and the input with data
    if (b.path.free()) b.data();
    b.cycle();
  }
  b.control();
  b.run(4);
  b.ready = true;
  b.run(10);
  REQUIRE(b.got.size() >= 6);
  CHECK_FALSE(b.got[0].ctl);
  CHECK_FALSE(b.got[1].ctl);
  CHECK(b.got[2].ctl);
  CHECK_FALSE(b.got[3].ctl);
  CHECK(b.got[1].qp == 1);  // whose payload it is
  CHECK(b.got[2].qp == 0);
  for (std::size_t i = 1; i < 6; ++i) CHECK(b.at[i] == b.at[i - 1] + 1);
}

TEST_CASE("tx_header takes a QP context only with stage A empty", "[pipeline][tx_header]") {
  Bench b;
  b.ready = false;
  for (int i = 0; i < 6; ++i) {
    if (b.path.free()) b.data();
    b.cycle();
  }
  b.control();  // waits in its FIFO
  b.request(true);
  b.run(20);
  CHECK_FALSE(b.header.cfg_ack());
  b.ready = true;
  b.run(20);
  CHECK(b.header.cfg_ack());
  b.cfg.req = false;
  b.cycle();
  CHECK_FALSE(b.header.cfg_ack());
}

TEST_CASE("tx_header stamps the tick of the cycle in which stage A is loaded", "[pipeline][tx_header]") {
  Bench b;
  b.request(true);
  b.run(2);
  b.cfg.req = false;
  b.run(254 - 2);  // cycle 254: out register, 255: in the FIFO, 256: stage A with tick 2
  b.data();
  b.run(3);
  b.data();  // loaded in 257, stage A in 259
  b.run(10);
  REQUIRE(b.got.size() == 2);
  const uint8_t* tseth = header_bytes(b.got[0]) + 14 + 40 + 8 + 12 + 4;
  CHECK(wire::load_be<4>(tseth) == 0x00020001);
  CHECK(b.got[0].hdr_len == 14 + 40 + 8 + 12 + 4 + 4 + 16);
  Bench c;
  c.request(true);
  c.run(2);
  c.cfg.req = false;
  c.run(253 - 2);
  c.data();  // stage A in cycle 255
  c.run(5);
  REQUIRE(c.got.size() == 1);
  CHECK(wire::load_be<2>(header_bytes(c.got[0]) + 78) == 1);
}

TEST_CASE("tx_header: M in bit 7, time stamps in microseconds", "[pipeline][tx_header]") {
  Bench b;
  b.csr.bth_m = b.csr.bth_m_high = b.csr.tsr_us = true;
  b.request(true);
  b.run(2);
  b.cfg.req = false;
  b.run(19 * 128);
  b.data();
  b.run(10);
  REQUIRE(b.got.size() == 1);
  const uint8_t* bth = header_bytes(b.got[0]) + 14 + 40 + 8;
  CHECK((bth[1] & 0xc0) == 0x80);
  CHECK(wire::load_be<4>(bth + 12 + 4) == 0x00028001);  // tick 19
}

TEST_CASE("tx_header sends control, probes, endpoint requests, data; requests in the data class, control queue",
          "[pipeline][tx_header]") {
  Bench b;
  b.request(false);
  b.run(2);
  b.cfg.req = false;
  b.run(2);
  b.data();
  b.endpoint_request(33);
  b.probe();
  b.control();
  b.run(10);
  REQUIRE(b.got.size() == 4);
  const auto opcode = [&](unsigned i) { return header_bytes(b.got[i])[62]; };
  CHECK(opcode(0) == 0xD1);
  CHECK(opcode(1) == 0xDE);
  CHECK(opcode(2) == 0xD8);
  CHECK(opcode(3) == 0xCA);
  CHECK(b.got[1].ctl);
  CHECK(b.got[1].plane == 1);
  CHECK(b.got[1].hdr_len == 14 + 40 + 8 + 12 + 16);
  const auto tc = [&](unsigned i) { return wire::load_be<2>(header_bytes(b.got[i]) + 14) >> 4 & 0xff; };
  CHECK(tc(0) == 46 << 2);
  CHECK(tc(1) == (4 << 2 | 2));
  CHECK(b.got[2].ctl);
  CHECK(tc(2) == (33 << 2 | 2));  // as endpoint wants it
  const auto dqpn = [&](unsigned i) { return wire::load_be<3>(header_bytes(b.got[i]) + 67); };
  CHECK(dqpn(1) == 0x77);
  CHECK(dqpn(2) == 2);
}

TEST_CASE("tx_header: a QP's class is its own, from QP_CLASS until Reset or Init", "[pipeline][tx_header][A-79]") {
  Bench b;
  b.csr.dscp_data = 5;
  b.csr.dscp_rtx = 9;
  constexpr unsigned kEct = 2;
  const auto data = [&](unsigned qp, bool rtx) {
    b.data(qp, rtx);
    return b.next_tc();
  };
  /// Data, retransmissions, a reliability probe and an EV probe of QP 1.
  const auto classes = [&](unsigned plain, unsigned rtx) {
    CHECK(data(1, false) == (plain << 2 | kEct));
    CHECK(data(1, true) == (rtx << 2 | kEct));
    b.probe();
    CHECK(b.next_tc() == (plain << 2 | kEct));
    b.probe_in.load(Bench::request_of(63));  // an EV probe of the QP: it travels as its data
    CHECK(b.next_tc() == (plain << 2 | kEct));
    Ctlpkt state;  // a question for the peer's state, from ack_gen's input
    state.qp = 1;
    state.opcode = 0xDE;
    state.ext_len = 16;
    b.ctl.load(state);
    CHECK(b.next_tc() == (plain << 2 | kEct));
    b.control();
    CHECK(b.next_tc() == 46 << 2);
    b.endpoint_request(17);  // endpoint's belong to no QP
    CHECK(b.next_tc() == (17 << 2 | kEct));
    CHECK(data(2, false) == (5 << 2 | kEct));
    CHECK(data(2, true) == (9 << 2 | kEct));
  };
  b.set_up(1, QpState::Init);
  b.set_up(2, QpState::Init);
  classes(5, 9);
  b.configure(CfgTable::QpClass, 1, csr::TblQpClass{.rtx = 40, .data = 20, .own = true});
  classes(20, 40);
  b.set_up(1, QpState::Rtr);
  b.set_up(1, QpState::Rts);
  classes(20, 40);
  SECTION("Reset and Init end it") {
    b.set_up(1, GENERATE(QpState::Reset, QpState::Init));
    classes(5, 9);
    b.set_up(1, QpState::Rts);
    classes(5, 9);
  }
  SECTION("so does a row without own") {
    b.configure(CfgTable::QpClass, 1, csr::TblQpClass{.rtx = 41, .data = 21, .own = false});
    classes(5, 9);
  }
  SECTION("another row takes its place, and 0 is a code point") {
    b.configure(CfgTable::QpClass, 1, csr::TblQpClass{.rtx = 63, .data = 0, .own = true});
    classes(0, 63);
  }
  SECTION("what passes stage A later has the new class, retransmissions of older ones too") {
    b.ready = false;
    b.data();
    b.run(4);  // beyond stage A
    b.data(1, true);
    b.cycle();
    b.configure(CfgTable::QpClass, 1, csr::TblQpClass{.rtx = 41, .data = 21, .own = true});
    b.ready = true;
    const std::size_t n = b.got.size();
    b.run(10);
    REQUIRE(b.got.size() == n + 2);
    const auto tc = [&](std::size_t i) { return wire::load_be<2>(header_bytes(b.got[i]) + 14) >> 4 & 0xff; };
    CHECK(tc(n) == (20 << 2 | kEct));
    CHECK(tc(n + 1) == (41 << 2 | kEct));
  }
}

TEST_CASE("tx_header takes all four encapsulations from the QP, each with its part of the ICRC",
          "[pipeline][tx_header]") {
  for (const auto& [encap, offset] : kInner) {
    CAPTURE(offset);
    Bench b;
    b.request(false, encap);
    b.run(2);
    b.cfg.req = false;
    b.run(2);
    b.data();
    b.run(10);
    REQUIRE(b.got.size() == 1);
    const Hdr& h = b.got[0];
    CHECK(h.hdr_len == offset + 40 + 8 + 12 + 4 + 16);
    CHECK(header_bytes(h)[offset + 40 + 8] == 0xCA);
    // The ICRC register over the inner packet's header: icrc() complements it.
    std::vector<uint8_t> inner(header_bytes(h) + offset, header_bytes(h) + h.hdr_len);
    CHECK(h.crc == ~wire::icrc(inner));
  }
}

TEST_CASE("tx_header begins the ICRC of SRv6 packets at the outer header if CTRL says so when stage B takes them",
          "[pipeline][tx_header][A-14]") {
  for (const auto& [encap, offset] : kInner) {
    CAPTURE(offset);
    Bench b;
    b.request(false, encap);
    b.run(2);
    b.cfg.req = false;
    b.run(2);
    // Into stage A in cycle 2 of each round, into stage B in cycle 3: the value of that cycle counts.
    for (unsigned on_in = 0; on_in < 6; ++on_in) {
      b.data();
      for (unsigned c = 0; c < 6; ++c) {
        b.csr.icrc_outer = c == on_in;
        b.cycle();
      }
    }
    b.run(4);
    REQUIRE(b.got.size() == 6);
    // By hand: eight bytes of ones, then frame bytes 14 on with ones for what routers and uSID change.
    std::vector<uint8_t> f(header_bytes(b.got[0]), header_bytes(b.got[0]) + b.got[0].hdr_len);
    const auto ones = [&](unsigned from, unsigned to) { std::fill(f.data() + from, f.data() + to, uint8_t{0xff}); };
    f[14] |= 0x0f;
    ones(15, 18);
    ones(21, 22);
    if (offset != 14) {
      ones(38, 54);
      f[offset] |= 0x0f;
      ones(offset + 1, offset + 4);
      ones(offset + 7, offset + 8);
    }
    if (offset == 78) ones(57, 58);
    ones(offset + 46, offset + 48);
    ones(offset + 52, offset + 53);
    std::vector<uint8_t> v(8, 0xff);
    v.insert(v.end(), f.begin() + 14, f.end());
    boost::crc_optimal<32, 0x04C11DB7, 0xFFFFFFFF, 0, true, true> crc;
    crc.process_bytes(v.data(), v.size());
    const bool differs = offset != 14;
    for (unsigned i = 0; i < 6; ++i) {
      CAPTURE(i);
      CHECK((b.got[i].crc == crc.checksum()) == (i == 3 || !differs));
      if (i != 3) CHECK(b.got[i].crc == b.got[0].crc);
    }
  }
}

TEST_CASE("tx_header under full load takes a table write after one packet", "[pipeline][tx_header]") {
  Bench b;
  unsigned waited = 0;
  for (int i = 0; i < 30; ++i) {
    if (b.path.free()) b.data();
    if (i == 10) b.request(false);
    if (i > 10 && !b.header.cfg_ack()) ++waited;
    b.cycle();
  }
  CHECK(b.header.cfg_ack());
  CHECK(waited <= 2);  // the packet in stage A leaves, then the write
}

}  // namespace mrc::test::tx_header_test
