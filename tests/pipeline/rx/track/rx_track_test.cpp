// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rx/track/rx_track.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "gen/csr.hpp"

using namespace mrc;

namespace {

/// rx_track alone; everything it sends is collected.
struct Track {
  explicit Track(const char* name = "tiny")
      : preset(*find_preset(name)),
        verdict(preset.num_planes, preset.lane_fifo),
        track(preset, rxpkt, verdict, resp, ackev, ord, qperr) {}

  void cycle() {
    track.step(cfg, csr, {.imm_ok = imm_ok, .hold_ok = hold_ok, .over = over});
    for (unsigned p = 0; p < preset.num_planes; ++p) {
      if (take_verdict && verdict.lane(p).valid()) {
        verdicts.push_back(verdict.lane(p).head());
        verdict_at.push_back(now);
        verdict.lane(p).pop();
      }
    }
    if (take_resp && resp.has()) {
      resps.push_back(resp.head());
      resp_at.push_back(now);
      resp.pop();
    }
    if (take_ackev && ackev.has()) {
      acks.push_back(ackev.head());
      ack_at.push_back(now);
      ackev.pop();
    }
    if (take_ord && ord.has()) {
      ords.push_back(ord.head());
      ord.pop();
    }
    if (take_qperr && qperr.has()) {
      qperrs.push_back(qperr.head());
      qperr.pop();
    }
    rxpkt.clock();
    verdict.clock();
    resp.clock();
    ackev.clock();
    ord.clock();
    qperr.clock();
    track.clock();
    ++now;
    dup += track.pulses().dup;
    oor += track.pulses().oor;
    trim += track.pulses().trim;
    nores += track.pulses().nores;
  }
  void idle(unsigned n) {
    for (unsigned i = 0; i < n; ++i) cycle();
  }
  /// QP index qp; first PSN expected, MSN 0x20, TRIM_NACK, static MPR. Returns the cycles until the acknowledgement.
  unsigned configure(unsigned qp, uint32_t rq_psn, unsigned mpr_dest = 1) {
    return write(CfgTable::QpCtx, qp, context(rq_psn, mpr_dest));
  }
  static csr::TblQpCtx context(uint32_t rq_psn, unsigned mpr_dest) {
    csr::TblQpCtx row;
    row.state = static_cast<uint8_t>(QpState::Rtr);
    row.rq_psn = rq_psn;
    row.mpr = 7;  // the requestor's
    row.mpr_dest = static_cast<uint8_t>(mpr_dest);
    row.trim_nack = true;
    row.msn = 0x20;
    return row;
  }
  unsigned set_mpr(unsigned qp, unsigned mpr) {
    csr::TblQpMpr row;
    row.mpr = static_cast<uint8_t>(mpr);
    return write(CfgTable::QpMpr, qp, row);
  }
  template <class Row>
  unsigned write(CfgTable table, unsigned index, const Row& row) {
    cfg = {.req = true, .table = static_cast<uint8_t>(table), .index = static_cast<uint16_t>(index), .data = {}};
    row.pack(cfg.data.data());
    unsigned n = 0;
    while (!track.cfg_ack()) {
      cycle();
      ++n;
    }
    cfg.req = false;
    cycle();
    CHECK_FALSE(track.cfg_ack());
    return n;
  }
  static Rxpkt packet(uint32_t psn, unsigned plen = 1000) {
    Rxpkt p;
    p.qp = 1;
    p.plane = 1;
    p.buf_valid = true;
    p.psn = psn;
    p.plen = static_cast<uint16_t>(plen);
    p.size = p.plen;  // what rcvd_bytes counts
    p.haddr = 0x1000 + psn;
    p.entropy = 0xe0000000 + psn;
    p.ts = static_cast<uint16_t>(psn + 1);
    p.tsv = true;
    p.at = static_cast<uint16_t>(psn + 2);
    p.dmalen = 5000;
    return p;
  }
  void send(const Rxpkt& p) {
    clear();
    rxpkt.load(p);
    idle(24);
  }
  /// As fast as they are taken; then until all is quiet.
  void stream(const std::vector<Rxpkt>& packets) {
    clear();
    for (const Rxpkt& p : packets) {
      while (!rxpkt.free()) cycle();
      rxpkt.load(p);
      cycle();
    }
    idle(60);
  }
  /// What a probe hears.
  Resp ask(unsigned qp) {
    Rxpkt p;
    p.qp = static_cast<uint16_t>(qp);
    p.probe = true;
    send(p);
    REQUIRE(resps.size() == 1);
    REQUIRE(resps[0].kind == CtlKind::Sack);
    return resps[0];
  }
  void clear() {
    verdicts.clear();
    verdict_at.clear();
    qperrs.clear();
    resps.clear();
    resp_at.clear();
    acks.clear();
    ack_at.clear();
    ords.clear();
  }

  const Preset& preset;
  CfgBus cfg;
  CsrOut csr;
  Stream<Rxpkt> rxpkt;
  PlaneDemux<Verdict> verdict;
  Stream<Resp> resp{16};
  Stream<Ackev> ackev;
  Stream<Ord> ord;
  Stream<Qperr> qperr;
  RxTrack track;
  bool imm_ok = true, hold_ok = true;
  std::vector<uint8_t> over = std::vector<uint8_t>(preset.num_qps);
  bool take_verdict = true, take_resp = true, take_ackev = true, take_ord = true, take_qperr = true;
  unsigned now = 0, dup = 0, oor = 0, trim = 0, nores = 0;
  std::vector<Verdict> verdicts;
  std::vector<unsigned> verdict_at, resp_at, ack_at;
  std::vector<Resp> resps;
  std::vector<Ackev> acks;
  std::vector<Ord> ords;
  std::vector<Qperr> qperrs;
};

}  // namespace

TEST_CASE("a QP is configured in one cycle and one per row of 64", "[rx_track]") {
  CHECK(Track("tiny").configure(3, 0) == 1 + 2);
  CHECK(Track("asic800").configure(200, 0) == 1 + 16);
}

TEST_CASE("packets in order are placed, acknowledged per message, and reported when enough came", "[rx_track]") {
  Track t;
  t.configure(1, 0xffffff);
  t.send(Track::packet(0xffffff));
  REQUIRE(t.verdicts.size() == 1);
  CHECK(t.verdicts[0] == Verdict{.plane = 1, .place = true, .addr = 0x1000 + 0xffffff, .plen = 1000});
  CHECK(t.resps.empty());
  REQUIRE(t.ords.size() == 1);
  CHECK(t.ords[0].adv);
  CHECK(t.ords[0].cack == 0xffffff);
  CHECK(t.ords[0].snap == 0x1000);
  CHECK_FALSE(t.ords[0].imm_valid);
  CHECK(t.ords[0].length == 0);
  Rxpkt last = Track::packet(0);
  last.last = true;
  t.send(last);
  CHECK(t.resps.empty());
  REQUIRE(t.acks.size() == 1);
  CHECK(t.acks[0] == Ackev{.qp = 1, .plane = 1, .psn = 0, .msn = 0x21});
  CHECK(t.ords[0].snap == 0x2000);
  // 16 packets of at least 1024 reach the trigger of 16384.
  for (uint32_t psn = 1; psn < 14; ++psn) {
    t.send(Track::packet(psn));
    CHECK(t.resps.empty());
  }
  t.send(Track::packet(14));
  REQUIRE(t.resps.size() == 1);
  const Resp& r = t.resps[0];
  CHECK(r.kind == CtlKind::Sack);
  CHECK(r.psn == 14);
  CHECK(r.cack == 14);
  CHECK(r.base == 15);
  CHECK(r.bitmap == 0);
  CHECK(r.ooo == 0);
  CHECK(r.m == 0);
  CHECK(r.entropy == 0xe000000e);
  CHECK(r.ts == 15);
  CHECK(r.rcvd == 63);  // 16 * 1000 = 16000 bytes: 62.5 units
  t.send(Track::packet(15));
  CHECK(t.resps.empty());
}

TEST_CASE("holes are reported, and filling one moves cack over everything behind it", "[rx_track]") {
  Track t;
  t.configure(1, 60);
  for (const uint32_t psn : {61u, 62u, 63u, 64u, 65u, 67u}) {
    Rxpkt p = Track::packet(psn);
    p.last = psn == 62 || psn == 64;
    t.send(p);
    CHECK(t.verdicts.size() == 1);
    CHECK(t.ords.empty());
    CHECK(t.resps.empty());
  }
  Rxpkt ce = Track::packet(68);
  ce.ce = true;
  t.send(ce);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].cack == 59);
  CHECK(t.resps[0].base == 60);
  CHECK(t.resps[0].bitmap == 0b1'1011'1110);
  CHECK(t.resps[0].ooo == 7);
  CHECK(t.resps[0].m == 1);
  t.send(Track::packet(60));
  REQUIRE(t.ords.size() == 1);
  CHECK(t.ords[0].cack == 65);
  CHECK(t.resps.empty());
  REQUIRE(t.acks.size() == 1);  // one ACK for both messages, and for both rows
  CHECK(t.acks[0] == Ackev{.qp = 1, .plane = 1, .psn = 64, .msn = 0x22});
  Rxpkt rtx = Track::packet(66);
  rtx.rtx = true;
  t.send(rtx);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].cack == 68);
  CHECK(t.resps[0].base == 69);  // lowun (60 + 64) is above max: round again
  CHECK(t.resps[0].ooo == 0);
}

TEST_CASE("an AckReq is answered again when the hole behind it closes", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  Rxpkt ar = Track::packet(1);
  ar.ackreq = true;
  t.send(ar);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].bitmap == 0b10);
  t.send(Track::packet(0));
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Sack);
  CHECK(t.resps[0].cack == 1);
  CHECK(t.resps[0].psn == 0);
  t.send(Track::packet(2));
  CHECK(t.resps.empty());
}

TEST_CASE("the bitmap goes round a large window", "[rx_track]") {
  Track t("fpga100");
  t.configure(1, 10, 2);
  for (uint32_t psn = 11; psn < 190; ++psn) {
    Rxpkt p = Track::packet(psn, 0);
    t.send(p);
  }
  // 179 packets of 1024: SACKs at the 16th, 32nd, ... The last one was at the 176th, psn 186.
  std::vector<uint32_t> bases;
  for (uint32_t psn = 190; psn < 194; ++psn) {
    Rxpkt p = Track::packet(psn);
    p.ce = true;
    t.send(p);
    REQUIRE(t.resps.size() == 1);
    bases.push_back(t.resps[0].base);
    const uint32_t above = psn + 1 - t.resps[0].base;
    const uint64_t ones = above >= 64 ? ~uint64_t{0} : (uint64_t{1} << above) - 1;
    CHECK(t.resps[0].bitmap == (t.resps[0].base == 10 ? ones & ~uint64_t{1} : ones));
  }
  CHECK(bases == std::vector<uint32_t>{138, 10, 74, 138});
  SECTION("unless the packet itself is to be the base") {
    t.csr.sack_base_self = true;
    Rxpkt p = Track::packet(194);
    p.ackreq = true;
    t.send(p);
    CHECK(t.resps[0].base == 194);
    CHECK(t.resps[0].bitmap == 1);
    p = Track::packet(195);
    p.rtx = true;  // not a reason for that
    t.send(p);
    CHECK(t.resps[0].base == 10);  // 202 is not received yet
  }
}

TEST_CASE("duplicates are discarded and answered", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  Rxpkt first = Track::packet(0);
  t.send(first);
  t.send(first);
  CHECK(t.dup == 1);
  REQUIRE(t.verdicts.size() == 1);
  CHECK(t.verdicts[0] == Verdict{.plane = 1, .place = false, .addr = 0, .plen = 0});
  REQUIRE(t.resps.size() == 1);  // no message is complete: nothing to acknowledge again
  CHECK(t.resps[0].kind == CtlKind::Sack);
  CHECK(t.ords.empty());
  Rxpkt end = Track::packet(1);
  end.last = true;
  t.send(end);
  t.send(first);
  CHECK(t.dup == 2);
  REQUIRE(t.acks.size() == 1);
  CHECK(t.acks[0] == Ackev{.qp = 1, .plane = 1, .psn = 1, .msn = 0x21});
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Sack);
  CHECK(t.resps[0].rcvd == 8);  // 2000 bytes: the duplicate does not count
  t.send(Track::packet(5));
  t.send(Track::packet(5));
  CHECK(t.dup == 3);
  CHECK(t.acks.empty());  // above cack nothing is missing
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Sack);
  CHECK(t.resps[0].bitmap == 0b1000);
}

TEST_CASE("outside the window: NACK or silence, never placed", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  t.csr.oor_drop = GENERATE(false, true);
  t.send(Track::packet(127));
  CHECK(t.verdicts[0].place);
  t.send(Track::packet(128));
  CHECK(t.oor == 1);
  CHECK_FALSE(t.verdicts[0].place);
  if (t.csr.oor_drop) {
    CHECK(t.resps.empty());
  } else {
    REQUIRE(t.resps.size() == 1);
    CHECK(t.resps[0] == Resp{.kind = CtlKind::Nack,
                             .qp = 1,
                             .plane = 1,
                             .psn = 128,
                             .cack = 0,
                             .base = 0,
                             .bitmap = 0,
                             .ooo = 0,
                             .m = 0,
                             .pr = false,
                             .entropy = 0xe0000080,
                             .ts = 129,
                             .tsv = true,
                             .at = 130,
                             .mpr = 0,
                             .rcvd = 0,
                             .reason = 0x0B,
                             .msn = 0});
  }
}

TEST_CASE("a trimmed packet is nacked once it is new, and changes nothing", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  Rxpkt p = Track::packet(0, 0);
  p.buf_valid = false;
  p.trim = Trim::Trimmed;
  t.send(p);
  CHECK(t.verdicts.empty());
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Nack);
  CHECK(t.resps[0].reason == 0x01);
  p.trim = Trim::LastHop;
  t.send(p);
  CHECK(t.resps[0].reason == 0x02);
  t.send(Track::packet(0));  // it was not marked as received
  CHECK(t.verdicts[0].place);
  t.send(p);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Sack);
  p.psn = 1000;
  t.send(p);
  CHECK(t.resps[0].reason == 0x0B);
  CHECK(t.trim == 4);
  CHECK(t.oor == 1);
  CHECK(t.dup == 0);
  CHECK(t.nores == 0);
}

TEST_CASE("without TRIM_NACK trimmed packets stay without answer, others do not", "[rx_track]") {
  Track t;
  csr::TblQpCtx row = Track::context(0, 1);
  row.trim_nack = false;
  t.write(CfgTable::QpCtx, 1, row);
  t.configure(2, 0);  // has it
  Rxpkt p = Track::packet(0, 0);
  p.buf_valid = false;
  for (const Trim trim : {Trim::Trimmed, Trim::LastHop}) {
    p.qp = 1;
    p.trim = trim;
    t.send(p);
    CHECK(t.resps.empty());
    p.qp = 2;
    t.send(p);
    REQUIRE(t.resps.size() == 1);
    CHECK(t.resps[0].reason == (trim == Trim::Trimmed ? 1 : 2));
  }
  CHECK(t.trim == 4);
  p.qp = 1;
  p.trim = Trim::NoBuffer;
  t.send(p);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].reason == 0x07);
  p.trim = Trim::Trimmed;
  p.psn = 128;
  t.send(p);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].reason == 0x0B);
  p.psn = 0xffffff;  // a duplicate
  t.send(p);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Sack);
}

TEST_CASE("a packet that found no buffer or no queue entry is nacked once it is new, and changes nothing",
          "[rx_track]") {
  Track t;
  t.configure(1, 0);
  const bool buffer = GENERATE(true, false);
  t.csr.oor_drop = GENERATE(false, true);
  Rxpkt p = Track::packet(3, 0);
  p.buf_valid = false;
  p.trim = buffer ? Trim::NoBuffer : Trim::NoResource;
  p.ackreq = p.ce = p.last = p.imm_valid = true;
  t.send(p);
  CHECK(t.verdicts.empty());
  CHECK(t.ords.empty());
  REQUIRE(t.resps.size() == 1);
  Resp want;
  want.kind = CtlKind::Nack;
  want.qp = 1;
  want.plane = 1;
  want.psn = 3;
  want.entropy = 0xe0000003;
  want.ts = 4;
  want.tsv = true;
  want.at = 5;
  want.reason = buffer ? 0x07 : 0x0A;
  CHECK(t.resps[0] == want);
  CHECK(t.nores == 1);
  t.send(Track::packet(3));  // it was not marked as received
  CHECK(t.verdicts[0].place);
  t.send(p);  // now it is a duplicate
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Sack);
  CHECK(t.resps[0].bitmap == 0b1000);
  p.psn = 128;
  t.send(p);
  CHECK(t.resps.size() == (t.csr.oor_drop ? 0 : 1));
  if (!t.csr.oor_drop) CHECK(t.resps[0].reason == 0x0B);
  CHECK(t.nores == 1);
  CHECK(t.oor == 1);
  CHECK(t.trim + t.dup == 0);
}

TEST_CASE("a refused packet counts only when it is next in order, and then ends the QP", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  Rxpkt bad = Track::packet(1);
  bad.syndrome = 0x62;
  t.send(bad);
  CHECK_FALSE(t.verdicts[0].place);
  CHECK(t.resps.empty());
  Rxpkt good = Track::packet(0);
  good.last = true;
  t.send(good);
  CHECK(t.ords[0].cack == 0);  // 1 is as if lost
  CHECK(t.qperrs.empty());
  t.send(bad);
  REQUIRE(t.qperrs.size() == 1);
  CHECK(t.qperrs[0] == Qperr{.qp = 1, .status = CqStatus::RemAccess});
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Ack);
  CHECK(t.resps[0].reason == 0x62);
  CHECK(t.resps[0].psn == 1);
  CHECK(t.resps[0].msn == 0x21);
  t.send(Track::packet(2));
  CHECK_FALSE(t.verdicts[0].place);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].psn == 1);
  CHECK(t.resps[0].reason == 0x62);
  CHECK(t.qperrs.empty());  // once is enough
  bad.err = true;           // the QP is in Error meanwhile: the NAK goes on
  t.send(bad);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Ack);
  CHECK(t.resps[0].reason == 0x62);
  t.configure(1, 2);
  t.send(Track::packet(2));
  CHECK(t.verdicts[0].place);
}

TEST_CASE("a packet that failed its checks only frees the lane", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  Rxpkt p;
  p.drop = p.buf_valid = true;
  p.plane = 1;
  t.send(p);
  REQUIRE(t.verdicts.size() == 1);
  CHECK_FALSE(t.verdicts[0].place);
  CHECK(t.resps.empty());
  t.send(Track::packet(0));
  CHECK(t.ords[0].snap == 0x2000);  // but counts as issued
}

TEST_CASE("an immediate travels with its message number, in order or not", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  Rxpkt p = Track::packet(1);
  p.imm_valid = p.last = true;
  p.imm = 77;
  p.rqmsn = 3;
  t.send(p);
  REQUIRE(t.ords.size() == 1);
  CHECK(t.ords[0] == Ord{.qp = 1,
                         .imm_valid = true,
                         .rqmsn = 3,
                         .imm = 77,
                         .length = 5000,
                         .psn = 1,
                         .adv = false,
                         .cack = 0xffffff,
                         .snap = 0x1000});
}

TEST_CASE("a full response queue holds the tracker back without loss", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  t.take_resp = false;
  uint32_t psn = 0;
  for (unsigned i = 0; i < 400; ++i) {
    if (t.rxpkt.free() && psn < 60) {
      Rxpkt p = Track::packet(psn++);
      p.last = p.ackreq = true;
      t.rxpkt.load(p);
    }
    t.cycle();
  }
  // 16 SACKs queued, one in the output register, one being written, three in the queue before it: with the register
  // taken the stages do not go on.
  CHECK(t.ords.size() == 21);
  CHECK(psn == 27);  // three in the stages, two in the FIFO, one in the register before it
  t.take_resp = true;
  while (psn < 60) {
    Rxpkt p = Track::packet(psn++);
    p.last = p.ackreq = true;
    while (!t.rxpkt.free()) t.cycle();
    t.rxpkt.load(p);
    t.cycle();
  }
  t.idle(60);
  REQUIRE(t.resps.size() == 60);
  REQUIRE(t.acks.size() == 60);
  for (unsigned i = 0; i < 60; ++i) {
    CHECK(t.resps[i].kind == CtlKind::Sack);
    CHECK(t.resps[i].psn == i);
    CHECK(t.acks[i] == Ackev{.qp = 1, .plane = 1, .psn = i, .msn = static_cast<uint16_t>(0x21 + i)});
  }
}

TEST_CASE("a probe is answered with what is here, changes nothing, and repeats the newest ACK", "[rx_track]") {
  Track t;
  t.csr.sack_base_self = true;
  t.configure(1, 0);
  Rxpkt probe;
  probe.qp = 1;
  probe.plane = 1;
  probe.probe = true;
  probe.psn = 0x1234;
  probe.entropy = 0xe1;
  probe.ts = 77;
  probe.tsv = true;
  probe.at = 79;
  t.send(probe);
  REQUIRE(t.resps.size() == 1);  // no message is complete yet
  Resp want;
  want.kind = CtlKind::Sack;
  want.qp = 1;
  want.plane = 1;
  want.psn = 0x1234;
  want.cack = 0xffffff;
  want.pr = true;
  want.entropy = 0xe1;
  want.ts = 77;
  want.tsv = true;
  want.at = 79;
  CHECK(t.resps[0] == want);
  CHECK(t.verdicts.empty());
  CHECK(t.ords.empty());

  Rxpkt last = Track::packet(0);
  last.last = true;
  t.send(last);
  t.send(Track::packet(5));
  probe.ce = true;  // a mark, and the base is not the id all the same
  t.send(probe);
  REQUIRE(t.acks.size() == 1);
  CHECK(t.acks[0] == Ackev{.qp = 1, .plane = 1, .psn = 0, .msn = 0x21});
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].pr);
  CHECK(t.resps[0].m == 1);
  CHECK(t.resps[0].cack == 0);
  CHECK(t.resps[0].base == 1);
  CHECK(t.resps[0].bitmap == 0b10000);
  CHECK(t.resps[0].ooo == 1);
  CHECK(t.resps[0].rcvd == 8);  // 2000 bytes
  CHECK(t.dup + t.oor + t.trim == 0);
}

TEST_CASE("the semantic ACK is owed at once, or after each SACK", "[rx_track]") {
  Track t;
  const bool after = GENERATE(false, true);
  t.csr.ack_with_sack = after;
  t.configure(1, 0);
  const Ackev ack{.qp = 1, .plane = 1, .psn = 1, .msn = 0x21};
  const auto both = [&] {
    REQUIRE(t.resps.size() == 1);
    CHECK(t.resps[0].kind == CtlKind::Sack);
    REQUIRE(t.acks.size() == 1);
    CHECK(t.acks[0] == ack);
    CHECK((t.ack_at[0] > t.resp_at[0]) == after);
  };
  Rxpkt first = Track::packet(0), last = Track::packet(1), probe;
  first.ackreq = true;
  t.send(first);
  CHECK(t.resps.size() == 1);
  CHECK(t.acks.empty());  // no message is complete
  last.last = true;
  t.send(last);  // asks for no SACK
  CHECK(t.resps.empty());
  CHECK(t.acks.size() == (after ? 0 : 1));
  t.send(first);  // a duplicate
  both();
  probe.qp = 1;
  probe.plane = 1;
  probe.probe = true;
  t.send(probe);
  both();
  Rxpkt marked = Track::packet(2);
  marked.ce = true;
  t.send(marked);  // completes nothing
  CHECK(t.resps.size() == 1);
  CHECK(t.acks == (after ? std::vector{ack} : std::vector<Ackev>{}));
}

TEST_CASE("a probe of a failed QP hears the NAK", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  Rxpkt bad = Track::packet(0);
  bad.syndrome = 0x62;
  t.send(bad);
  Rxpkt probe;
  probe.qp = 1;
  probe.probe = true;
  probe.psn = 9;
  t.send(probe);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Ack);
  CHECK(t.resps[0].reason == 0x62);
  CHECK(t.verdicts.empty());
}

TEST_CASE("every field of a SACK and of the ACK beside it", "[rx_track]") {
  const bool dyn = GENERATE(false, true);
  Track t("fpga100");
  csr::TblQpCtx row = Track::context(0, 2);
  row.dyn_mpr = dyn;
  t.write(CfgTable::QpCtx, 9, row);
  Rxpkt p = Track::packet(2, 500);
  p.qp = 9;
  p.size = 588;
  t.send(p);
  p = Track::packet(0, 500);
  p.qp = 9;
  p.size = 592;
  p.last = p.ce = true;
  t.send(p);
  REQUIRE(t.acks.size() == 1);
  CHECK(t.acks[0] == Ackev{.qp = 9, .plane = 1, .psn = 0, .msn = 0x21});
  REQUIRE(t.resps.size() == 1);
  Resp sack;
  sack.kind = CtlKind::Sack;
  sack.qp = 9;
  sack.plane = 1;
  sack.psn = 0;
  sack.cack = 0;
  sack.base = 1;
  sack.bitmap = 0b10;
  sack.ooo = 1;
  sack.m = 1;
  sack.entropy = 0xe0000000;
  sack.ts = 1;
  sack.tsv = true;
  sack.at = 2;
  sack.mpr = dyn ? 2 : 0;
  sack.rcvd = 5;  // 1180 bytes of nominal size: 4.6 units; the payload alone would be 4
  CHECK(t.resps[0] == sack);
  p = Track::packet(1, 500);
  p.qp = 9;
  p.tsv = false;
  p.ts = 0;
  p.ackreq = true;
  t.send(p);
  REQUIRE(t.resps.size() == 1);
  CHECK_FALSE(t.resps[0].tsv);
  CHECK(t.resps[0].ts == 0);
  CHECK(t.resps[0].at == 3);
  CHECK(t.resps[0].m == 0);
}

TEST_CASE("the trigger counts payload, at least 1024 a packet; rcvd_bytes counts nominal sizes", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  t.csr.sack_trigger = 8192 + 1024;
  Rxpkt p = Track::packet(0, 4096);
  p.size = 4700;
  t.send(p);
  p.psn = 1;
  t.send(p);
  CHECK(t.resps.empty());  // 8192, though 9400 in nominal sizes
  p = Track::packet(2, 1);
  p.size = 88;
  t.send(p);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].rcvd == 38);  // 9488 bytes: 37.06 units
}

TEST_CASE("a window that shrank leaves its PSNs without bitmap, not out of range", "[rx_track]") {
  Track t("asic800");
  t.configure(1, 0, 5);
  CHECK(t.set_mpr(1, 3) == 1);
  t.csr.oor_drop = GENERATE(false, true);
  struct Case {
    uint32_t psn;
    uint8_t reason;
  };
  for (const auto& [psn, reason] :
       {Case{383, 0}, Case{384, 0x06}, Case{639, 0x06}, Case{640, 0x0B}, Case{0x7fffff, 0x0B}}) {
    CAPTURE(psn);
    const unsigned nores = t.nores, oor = t.oor;
    t.send(Track::packet(psn));
    REQUIRE(t.verdicts.size() == 1);
    CHECK(t.verdicts[0].place == (reason == 0));
    CHECK(t.nores == nores + (reason == 0x06));
    CHECK(t.oor == oor + (reason == 0x0B));
    const bool nacked = reason == 0x06 || (reason == 0x0B && !t.csr.oor_drop);
    REQUIRE(t.resps.size() == (nacked ? 1 : 0));
    if (!nacked) continue;
    Resp want;
    want.kind = CtlKind::Nack;
    want.qp = 1;
    want.plane = 1;
    want.psn = psn;
    want.entropy = 0xe0000000 + psn;
    want.ts = static_cast<uint16_t>(psn + 1);
    want.tsv = true;
    want.at = static_cast<uint16_t>(psn + 2);
    want.reason = reason;
    CHECK(t.resps[0] == want);
    Rxpkt trimmed = Track::packet(psn, 0);  // the same without payload
    trimmed.buf_valid = false;
    for (const Trim trim : {Trim::Trimmed, Trim::NoBuffer, Trim::NoResource}) {
      trimmed.trim = trim;
      t.send(trimmed);
      REQUIRE(t.resps.size() == 1);
      CHECK(t.resps[0] == want);
    }
  }
}

TEST_CASE("what a window held when it shrank counts once cack comes there", "[rx_track]") {
  Track t("fpga100");
  t.configure(1, 0, 2);
  t.send(Track::packet(150));
  CHECK(t.verdicts[0].place);
  t.set_mpr(1, 1);
  t.send(Track::packet(150));  // it need not come again
  CHECK_FALSE(t.verdicts[0].place);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Sack);
  CHECK(t.resps[0].cack == 0xffffff);
  CHECK(t.dup == 1);
  Rxpkt trimmed = Track::packet(150, 0);
  trimmed.buf_valid = false;
  trimmed.trim = Trim::NoBuffer;
  t.send(trimmed);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Sack);
  trimmed.psn = 151;
  t.send(trimmed);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].reason == 0x06);
  for (uint32_t psn = 0; psn < 150; ++psn) t.send(Track::packet(psn));
  REQUIRE(t.ords.size() == 1);
  CHECK(t.ords[0].cack == 150);
  t.send(Track::packet(151 + 127));
  CHECK(t.verdicts[0].place);
  t.send(Track::packet(151 + 128));
  CHECK(t.resps[0].reason == 0x06);
}

TEST_CASE("a window grows again, up to what the QP was set up with, and SACKs tell it", "[rx_track]") {
  Track t("fpga100");
  csr::TblQpCtx row = Track::context(0, 2);
  row.dyn_mpr = true;
  t.write(CfgTable::QpCtx, 1, row);
  t.write(CfgTable::QpCtx, 2, row);
  const auto told = [&](unsigned qp) {
    Rxpkt probe;
    probe.qp = static_cast<uint16_t>(qp);
    probe.probe = true;
    t.send(probe);
    REQUIRE(t.resps.size() == 1);
    return unsigned{t.resps[0].mpr};
  };
  CHECK(told(1) == 2);
  t.set_mpr(1, 0);  // at least one
  CHECK(told(1) == 1);
  CHECK(told(2) == 2);
  t.send(Track::packet(128));
  CHECK_FALSE(t.verdicts[0].place);
  t.set_mpr(1, 2);
  CHECK(told(1) == 2);
  t.send(Track::packet(128));
  CHECK(t.verdicts[0].place);
  t.send(Track::packet(255));
  CHECK(t.verdicts[0].place);
  t.set_mpr(1, 1);
  t.set_mpr(1, 255);
  CHECK(told(1) == 2);
  t.send(Track::packet(254));
  CHECK(t.verdicts[0].place);
  t.send(Track::packet(256));
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].reason == 0x0B);
  t.set_mpr(16 + 1, 1);  // the table has 16 rows
  CHECK(told(1) == 1);
  t.write(CfgTable::QpCtx, 1, row);
  CHECK(told(1) == 2);
}

TEST_CASE("a QP in Error answers everything with UNEXP_EVENT, or with nothing, and learns nothing", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  t.csr.err_silent = GENERATE(false, true);
  Rxpkt p = Track::packet(0);
  p.err = p.last = p.ackreq = p.ce = p.imm_valid = true;
  t.send(p);
  REQUIRE(t.verdicts.size() == 1);
  CHECK(t.verdicts[0] == Verdict{.plane = 1, .place = false, .addr = 0, .plen = 0});
  CHECK(t.ords.empty());
  Resp want;
  want.kind = CtlKind::Nack;
  want.qp = 1;
  want.plane = 1;
  want.psn = 0;
  want.entropy = 0xe0000000;
  want.ts = 1;
  want.tsv = true;
  want.at = 2;
  want.reason = 0x19;
  REQUIRE(t.resps.size() == (t.csr.err_silent ? 0 : 1));
  if (!t.csr.err_silent) CHECK(t.resps[0] == want);

  Rxpkt probe;
  probe.qp = 1;
  probe.plane = 1;
  probe.probe = probe.err = true;
  probe.psn = 0x1234;
  probe.entropy = 0xe1;
  probe.ts = 77;
  probe.tsv = true;
  probe.at = 78;
  t.send(probe);
  CHECK(t.verdicts.empty());
  want.psn = 0x1234;
  want.entropy = 0xe1;
  want.ts = 77;
  want.at = 78;
  REQUIRE(t.resps.size() == (t.csr.err_silent ? 0 : 1));
  if (!t.csr.err_silent) CHECK(t.resps[0] == want);

  for (const Trim trim : {Trim::Trimmed, Trim::NoBuffer}) {
    Rxpkt empty = Track::packet(5, 0);
    empty.buf_valid = false;
    empty.err = true;
    empty.trim = trim;
    t.send(empty);
    CHECK(t.verdicts.empty());
    REQUIRE(t.resps.size() == (t.csr.err_silent ? 0 : 1));
    if (!t.csr.err_silent) CHECK(t.resps[0].reason == 0x19);
  }
  p.syndrome = 0x62;
  t.send(p);
  CHECK(t.qperrs.empty());
  REQUIRE(t.resps.size() == (t.csr.err_silent ? 0 : 1));
  if (!t.csr.err_silent) CHECK(t.resps[0].reason == 0x19);
  CHECK(t.dup + t.oor + t.trim + t.nores == 0);
  t.send(Track::packet(0));
  CHECK(t.verdicts[0].place);
  CHECK(t.ords[0].cack == 0);
  CHECK(t.ords[0].snap == 0x3000);  // both discards count as issued
}

TEST_CASE("the row of Rts changes nothing, that of another state starts anew", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  t.send(Track::packet(0));
  t.send(Track::packet(2));
  csr::TblQpCtx row = Track::context(50, 1);
  row.state = static_cast<uint8_t>(QpState::Rts);
  row.trim_nack = false;
  row.dyn_mpr = true;
  CHECK(t.write(CfgTable::QpCtx, 1, row) == 1);
  Rxpkt p = Track::packet(1);
  p.ackreq = true;
  t.send(p);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].cack == 2);
  CHECK(t.resps[0].mpr == 0);
  p = Track::packet(3, 0);
  p.buf_valid = false;
  p.trim = Trim::Trimmed;
  t.send(p);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].reason == 0x01);
  row.state = static_cast<uint8_t>(GENERATE(QpState::Init, QpState::Rtr, QpState::Reset));
  CHECK(t.write(CfgTable::QpCtx, 1, row) == 1 + 2);
  p = Track::packet(50);
  p.ackreq = true;
  t.send(p);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].cack == 50);
  CHECK(t.resps[0].mpr == 1);
  CHECK(t.resps[0].rcvd == 4);  // 1000 bytes: counted from the start again
}

TEST_CASE("QP errors that nobody takes hold the tracker back, without loss", "[rx_track]") {
  Track t;
  for (unsigned qp = 0; qp < 4; ++qp) t.configure(qp, 0);
  t.take_qperr = false;
  Rxpkt p = Track::packet(0);
  p.syndrome = 0x61;
  for (uint16_t qp = 0; qp < 4; ++qp) {
    p.qp = qp;
    t.rxpkt.load(p);
    t.idle(16);
  }
  CHECK(t.resps.size() == 3);  // two errors in the queue behind it, one in the output register
  t.take_qperr = true;
  t.idle(16);
  CHECK(t.resps.size() == 4);
  REQUIRE(t.qperrs.size() == 4);
  for (uint16_t qp = 0; qp < 4; ++qp) CHECK(t.qperrs[qp] == Qperr{.qp = qp, .status = CqStatus::RemInvalid});
}

namespace {

/// The responder as sets of PSNs, a packet at a time: what must come of a sequence, whatever its timing.
struct Sets {
  struct Qp {
    uint32_t next = 0;  ///< first PSN missing; these tests stay far from the wrap
    std::set<uint32_t> above;
  };
  std::map<unsigned, Qp> qps;

  /// True when the packet is new.
  bool take(unsigned qp, uint32_t psn) {
    Qp& q = qps[qp];
    if (psn < q.next || psn >= 0x80'0000 || !q.above.insert(psn).second) return false;
    while (q.above.erase(q.next) != 0) ++q.next;
    return true;
  }
  /// A SACK of the QP says so.
  void check(unsigned qp, const Resp& r) {
    const Qp& q = qps[qp];
    CHECK(r.cack == psn_add(q.next, -1));
    CHECK(r.ooo == q.above.size());
    uint64_t bitmap = 0;
    for (const uint32_t psn : q.above) {
      if (psn_dist(psn, r.base) < 64) bitmap |= uint64_t{1} << psn_dist(psn, r.base);
    }
    CHECK(r.bitmap == bitmap);
  }
};

Rxpkt packet_of(unsigned qp, uint32_t psn) {
  Rxpkt p = Track::packet(psn, 0);
  p.qp = static_cast<uint16_t>(qp);
  return p;
}

/// Cycles from the first verdict to the last.
unsigned span(const Track& t) { return t.verdict_at.back() - t.verdict_at.front(); }

}  // namespace

TEST_CASE("a packet per cycle, and each sees what the one before it has done: every pair at distances 1, 2 and 3",
          "[rx_track][rate]") {
  // Two QPs with PSNs 1 and 70 above a hole at 0, in two rows. Between the pair: a third QP, in order.
  const std::vector<uint32_t> psns = {0, 1, 2, 63, 64, 70, 71, 0xffffff};
  const unsigned other = GENERATE(0u, 1u);  // of the same QP, or of another
  const uint32_t first = GENERATE_COPY(from_range(psns));
  for (const uint32_t second : psns) {
    for (unsigned distance = 1; distance <= 3; ++distance) {
      CAPTURE(other, first, second, distance);
      Track t("fpga100");
      Sets sets;
      t.csr.sack_trigger = 0xfffff;
      for (unsigned qp = 0; qp < 3; ++qp) t.configure(qp, 0);
      for (unsigned qp = 0; qp < 2; ++qp) {
        for (const uint32_t psn : {1u, 70u}) {
          t.send(packet_of(qp, psn));
          sets.take(qp, psn);
        }
      }
      std::vector<Rxpkt> list = {packet_of(0, first)};
      for (unsigned i = 1; i < distance; ++i) list.push_back(packet_of(2, i - 1));
      list.push_back(packet_of(other, second));
      for (uint32_t i = 0; i < 3; ++i) list.push_back(packet_of(2, distance - 1 + i));
      t.stream(list);
      REQUIRE(t.verdicts.size() == list.size());
      for (std::size_t i = 0; i < list.size(); ++i) {
        CAPTURE(i);
        CHECK(t.verdicts[i].place == sets.take(list[i].qp, list[i].psn));
      }
      CHECK(span(t) == list.size() - 1);
      for (unsigned qp = 0; qp < 3; ++qp) sets.check(qp, t.ask(qp));
    }
  }
}

TEST_CASE("a packet per cycle also where cack runs into the next row, which costs one more", "[rx_track][rate]") {
  const unsigned distance = GENERATE(1u, 2u, 3u);
  const uint32_t second = GENERATE(0u, 5u, 64u, 66u, 67u, 120u);
  CAPTURE(distance, second);
  Track t("fpga100");
  Sets sets;
  t.csr.sack_trigger = 0xfffff;
  for (unsigned qp = 0; qp < 3; ++qp) t.configure(qp, 0);
  for (uint32_t psn = 1; psn < 66; ++psn) {  // all of the first row but 0, and a little of the next
    t.send(packet_of(0, psn));
    sets.take(0, psn);
  }
  std::vector<Rxpkt> list = {packet_of(0, 0)};
  for (unsigned i = 1; i < distance; ++i) list.push_back(packet_of(2, i - 1));
  list.push_back(packet_of(0, second));
  for (uint32_t i = 0; i < 6; ++i) list.push_back(packet_of(2, distance - 1 + i));
  t.stream(list);
  REQUIRE(t.verdicts.size() == list.size());
  for (std::size_t i = 0; i < list.size(); ++i) CHECK(t.verdicts[i].place == sets.take(list[i].qp, list[i].psn));
  CHECK(span(t) == list.size());
  sets.check(0, t.ask(0));
}

TEST_CASE("packets in order: one per cycle, with immediates and message ends", "[rx_track][rate]") {
  Track t;
  t.csr.sack_trigger = 0xfffff;
  for (unsigned qp = 0; qp < 4; ++qp) t.configure(qp, 0);
  const unsigned qps = GENERATE(1u, 4u);
  std::vector<Rxpkt> list;
  for (uint32_t i = 0; i < 500; ++i) {
    list.push_back(packet_of(i % qps, i / qps));
    list.back().last = list.back().imm_valid = i % 3 == 0;
  }
  t.stream(list);
  REQUIRE(t.verdicts.size() == 500);
  CHECK(span(t) == 499);
  CHECK(t.ords.size() == 500);
  CHECK(t.acks.size() == 167);
}

TEST_CASE("packets out of order: one per cycle, and one for each row that cack runs out of", "[rx_track][rate]") {
  Track t("asic800");
  t.csr.sack_trigger = 0xfffff;
  t.configure(1, 0, 8);
  std::vector<Rxpkt> list;
  for (uint32_t from = 0; from < 768; from += 256) {  // 256 backwards: the last one fills four rows
    for (uint32_t i = 256; i > 0; --i) list.push_back(packet_of(1, from + i - 1));
  }
  t.stream(list);
  REQUIRE(t.verdicts.size() == 768);
  // Four rows that cack runs out of, for by then some of the next 256 are there; nothing follows the last 256.
  CHECK(span(t) == 767 + 2 * 4);
  REQUIRE(t.ords.size() == 3);  // one for all passes of a packet
  CHECK(t.ords[0].cack == 255);
  CHECK(t.ords[2].cack == 767);
}

TEST_CASE("a SACK for every packet: four cycles each", "[rx_track][rate]") {
  Track t;
  t.csr.sack_trigger = 0;
  t.configure(1, 0);
  std::vector<Rxpkt> list;
  for (uint32_t psn = 0; psn < 100; ++psn) list.push_back(packet_of(1, psn));
  t.stream(list);
  REQUIRE(t.resps.size() == 100);
  CHECK(t.resp_at.back() - t.resp_at.front() == 4 * 99);
  CHECK(t.verdicts.size() == 100);
}

TEST_CASE("NACKs leave at one per cycle, and a SACK waits for them", "[rx_track][rate]") {
  Track t;
  t.configure(1, 0);
  std::vector<Rxpkt> list = {packet_of(1, 3)};
  list[0].ce = true;
  for (unsigned i = 0; i < 20; ++i) {
    list.push_back(packet_of(1, 5));
    list.back().buf_valid = false;
    list.back().trim = Trim::Trimmed;
  }
  t.stream(list);
  REQUIRE(t.resps.size() == 21);
  for (unsigned i = 0; i < 20; ++i) {
    CHECK(t.resps[i].kind == CtlKind::Nack);
    CHECK(t.resp_at[i] == t.resp_at[0] + i);
  }
  CHECK(t.resps[20].kind == CtlKind::Sack);
  CHECK(t.resps[20].bitmap == 0b1000);
}

TEST_CASE("a SACK is never older than its rows: what cack has passed meanwhile is no hole", "[rx_track]") {
  const unsigned between = GENERATE(0u, 1u, 2u, 3u, 4u);  // packets between the one that asks and the one that fills
  Track t;
  t.configure(1, 0);
  t.configure(2, 0);
  std::vector<Rxpkt> list = {packet_of(1, 1)};
  list[0].ce = true;
  for (uint32_t i = 0; i < between; ++i) list.push_back(packet_of(2, i));
  list.push_back(packet_of(1, 0));
  t.stream(list);
  REQUIRE(t.resps.size() == 1);
  const Resp& r = t.resps[0];
  CAPTURE(between);
  // PSN 0 is in Track one cycle after PSN 1, or so many more; the base is chosen two cycles after it, the SACK is
  // loaded five cycles after it, and each sees what Track has written in the cycle before.
  CHECK(r.cack == (between <= 3 ? 1 : 0xffffff));
  CHECK(r.ooo == (between <= 3 ? 0 : 1));
  CHECK(r.base == (between == 0 ? 2 : 0));
  CHECK(r.bitmap == (between == 0 ? 0 : 0b10));
}

TEST_CASE("whatever holds the outputs back, nothing is lost, doubled or overtaken", "[rx_track]") {
  const unsigned seed = GENERATE(range(1u, 13u));
  CAPTURE(seed);
  std::minstd_rand rng(seed);
  const auto chance = [&](unsigned percent) { return rng() % 100 < percent; };
  Track t("fpga100");
  Sets sets;
  t.csr.ack_with_sack = seed % 3 == 0;
  t.csr.sack_trigger = seed % 2 != 0 ? 0xfffff : 4096;
  constexpr unsigned kQps = 3;
  for (unsigned qp = 0; qp < kQps; ++qp) t.configure(qp, 0, 2);
  std::vector<bool> place;
  unsigned discards = 0;
  for (unsigned cycle = 0; cycle < 6000; ++cycle) {
    if (t.rxpkt.free() && chance(80)) {
      const auto qp = static_cast<unsigned>(rng() % kQps);
      // Rows are passed often, and cack may lag behind: the window is never reached.
      const uint32_t next = sets.qps[qp].next;
      const uint32_t psn = chance(50) ? next : psn_add(next, static_cast<int64_t>(rng() % 120) - 20);
      Rxpkt p = packet_of(qp, psn);
      p.last = psn % 5 == 0;
      p.ce = chance(5);
      t.rxpkt.load(p);
      place.push_back(sets.take(qp, psn));
      if (!place.back()) ++discards;
    }
    t.take_verdict = chance(90);
    t.take_resp = chance(50);
    t.take_ackev = chance(70);
    t.take_ord = chance(80);
    t.cycle();
  }
  t.take_verdict = t.take_resp = t.take_ackev = t.take_ord = true;
  t.idle(200);
  REQUIRE(t.verdicts.size() == place.size());
  for (std::size_t i = 0; i < place.size(); ++i) REQUIRE(t.verdicts[i].place == place[i]);
  CHECK(place.size() > 1500);
  CHECK(t.dup == discards);
  CHECK(t.oor + t.nores + t.trim == 0);
  for (unsigned qp = 0; qp < kQps; ++qp) {
    CHECK(sets.qps[qp].next > 300);
    uint32_t cack = 0xffffff;
    for (const Ord& o : t.ords) {
      if (o.qp != qp) continue;
      CHECK(psn_dist(o.cack, cack) < kPsnHalf);
      cack = o.cack;
    }
    CHECK(cack == sets.qps[qp].next - 1);
  }
  const std::vector<Ackev> acks = t.acks;
  for (unsigned qp = 0; qp < kQps; ++qp) {
    const Resp r = t.ask(qp);  // repeats the newest ACK
    sets.check(qp, r);
    const uint32_t done = (sets.qps[qp].next - 1) / 5;  // message k ends with PSN 5 k
    const Ackev newest{
        .qp = static_cast<uint16_t>(qp), .plane = 0, .psn = 5 * done, .msn = static_cast<uint16_t>(0x20 + done + 1)};
    REQUIRE(t.acks.size() == 1);
    CHECK(t.acks[0] == newest);
    uint16_t msn = 0x20;
    for (const Ackev& a : acks) {
      if (a.qp != qp) continue;
      CHECK(a.psn == 5u * (a.msn - 0x21u));
      CHECK(a.msn >= msn);
      msn = a.msn;
    }
    if (!t.csr.ack_with_sack) CHECK(msn == newest.msn);
  }
}

TEST_CASE("cack stays where it is when its next row has been passed, and used anew, between two passes", "[rx_track]") {
  Track t;  // two rows per QP
  t.configure(1, 0);
  for (uint32_t psn = 1; psn < 128; ++psn) {
    if (psn != 64) t.send(packet_of(1, psn));
  }
  // 0 fills the first row and goes on at 64; before that pass, 64 itself fills the second row, and 192 has bit 0 in it.
  t.stream({packet_of(1, 0), packet_of(1, 64), packet_of(1, 192)});
  REQUIRE(t.verdicts.size() == 3);
  for (const Verdict& v : t.verdicts) CHECK(v.place);
  const Resp r = t.ask(1);
  CHECK(r.cack == 127);
  CHECK(r.ooo == 1);
  REQUIRE(t.ords.empty());
  t.send(packet_of(1, 192));
  CHECK(t.dup == 1);
}

TEST_CASE("without a free row, packets that are not next in order are refused, the next one is not", "[rx_track]") {
  Track t;  // six rows for four QPs of two
  for (unsigned qp = 0; qp < 4; ++qp) t.configure(qp, 0);
  for (unsigned qp = 0; qp < 3; ++qp) {
    for (const uint32_t psn : {1u, 64u}) {
      t.send(packet_of(qp, psn));
      CHECK(t.verdicts.at(0).place);
    }
  }
  Rxpkt p = packet_of(3, 1);
  p.ackreq = p.imm_valid = true;
  t.send(p);
  CHECK(t.verdicts.at(0) == Verdict{.plane = 1, .place = false, .addr = 0, .plen = 0});
  CHECK(t.ords.empty());
  REQUIRE(t.resps.size() == 1);
  Resp want;
  want.kind = CtlKind::Nack;
  want.qp = 3;
  want.plane = 1;
  want.psn = 1;
  want.entropy = 0xe0000001;
  want.ts = 2;
  want.tsv = true;
  want.at = 3;
  want.reason = 0x06;
  CHECK(t.resps[0] == want);
  CHECK(t.nores == 1);
  t.send(packet_of(2, 2));  // its row is there
  CHECK(t.verdicts.at(0).place);
  t.send(packet_of(3, 0));
  CHECK(t.verdicts.at(0).place);
  CHECK(t.ords.at(0).cack == 0);
  CHECK(t.nores == 1);
  Rxpkt bad = packet_of(3, 5);  // refused anyway: as if lost
  bad.syndrome = 0x62;
  t.send(bad);
  CHECK(t.resps.empty());

  SECTION("a row that is passed is free again, in the next cycle") {
    t.stream({packet_of(0, 0), packet_of(3, 5), packet_of(3, 100)});
    CHECK(t.verdicts.at(1).place);        // the row of 0, 1 and 2
    CHECK_FALSE(t.verdicts.at(2).place);  // no second one
    CHECK(t.ask(3).bitmap == 0b10000);    // PSN 5, from 1 on
  }
  SECTION("the rows of a QP that is set up again are free") {
    CHECK(t.configure(1, 0) == 1 + 2);
    t.stream({packet_of(3, 5), packet_of(3, 100), packet_of(1, 9)});
    CHECK(t.verdicts.at(0).place);
    CHECK(t.verdicts.at(1).place);
    CHECK_FALSE(t.verdicts.at(2).place);
    CHECK(t.ask(1).ooo == 0);
  }
}

TEST_CASE("every row is handed out again and again", "[rx_track]") {
  Track t;
  for (unsigned qp = 0; qp < 4; ++qp) t.configure(qp, 0);
  for (uint32_t round = 0; round < 40; ++round) {
    std::vector<Rxpkt> list;
    for (const uint32_t ahead : {1u, 0u}) {
      for (unsigned qp = 0; qp < 4; ++qp) list.push_back(packet_of(qp, 2 * round + ahead));
    }
    t.stream(list);
    for (const Verdict& v : t.verdicts) REQUIRE(v.place);
  }
  for (unsigned qp = 0; qp < 4; ++qp) CHECK(t.ask(qp).cack == 79);
  CHECK(t.nores + t.dup + t.oor == 0);
}

TEST_CASE("without room for a completion no packet goes on, not even one that brings none", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  t.send(packet_of(1, 0));
  CHECK(t.verdicts.size() == 1);
  t.verdicts.clear();
  t.hold_ok = false;
  t.rxpkt.load(packet_of(1, 0));  // a duplicate
  t.idle(50);
  CHECK(t.verdicts.empty());
  CHECK(t.dup == 0);
  t.hold_ok = true;
  t.idle(10);
  CHECK(t.verdicts.size() == 1);
  CHECK(t.dup == 1);
}

TEST_CASE("a trimmed packet brings a SACK of what has arrived, and so does every packet until it is here",
          "[rx_track][A-74]") {
  const bool silent = GENERATE(false, true);
  CAPTURE(silent);
  Track t;
  t.csr.trim_silent = silent;
  t.configure(1, 0);
  const auto trimmed = [&](uint32_t psn, bool sack) {
    Rxpkt p = packet_of(1, psn);
    p.buf_valid = false;
    p.trim = Trim::Trimmed;
    t.send(p);
    CAPTURE(psn);
    REQUIRE(t.resps.size() == (sack && !silent ? 2 : 1));
    CHECK(t.resps[0].kind == CtlKind::Nack);
    CHECK(t.resps[0].psn == psn);
  };
  const auto arrives = [&](uint32_t psn, bool sack) {
    t.send(packet_of(1, psn));
    CAPTURE(psn);
    CHECK(t.verdicts.at(0).place);
    REQUIRE(t.resps.size() == (sack && !silent ? 1 : 0));
    if (!t.resps.empty()) {
      CHECK(t.resps[0].kind == CtlKind::Sack);
      CHECK_FALSE(t.resps[0].pr);
      CHECK(t.resps[0].psn == psn);
    }
  };
  arrives(0, false);
  trimmed(4, true);
  if (!silent) {  // as an answer to a probe, with a number that nobody gives to one
    CHECK(t.resps[1].kind == CtlKind::Sack);
    CHECK(t.resps[1].pr);
    CHECK(t.resps[1].m == 0);
    CHECK(t.resps[1].psn == 0xffff);
    CHECK(t.resps[1].cack == 0);
  }
  trimmed(2, false);  // nothing has arrived since that SACK
  arrives(3, true);   // sent before the newest trimmed one
  arrives(6, true);   // and after it
  arrives(1, true);
  arrives(4, true);
  arrives(2, true);  // cack is 4 now: both are here
  arrives(5, false);
  arrives(7, false);
  trimmed(9, true);
  t.configure(1, 0);  // another connection knows nothing of it
  arrives(0, false);
}

TEST_CASE("while immediates have no room, those that are not next in order are refused", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  t.imm_ok = false;
  Rxpkt p = packet_of(1, 2);
  t.send(p);
  CHECK(t.verdicts.at(0).place);  // no immediate
  p = packet_of(1, 1);
  p.imm_valid = p.last = p.ackreq = true;
  t.send(p);
  CHECK_FALSE(t.verdicts.at(0).place);
  CHECK(t.ords.empty());
  CHECK(t.nores == 1);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Nack);
  CHECK(t.resps[0].reason == 0x0A);
  CHECK(t.resps[0].psn == 1);
  p.psn = 2;
  t.send(p);  // a duplicate is one all the same
  CHECK(t.dup == 1);
  p.psn = 0;
  t.send(p);
  CHECK(t.verdicts.at(0).place);
  REQUIRE(t.ords.size() == 1);
  CHECK(t.ords[0].imm_valid);
  p.psn = 1;
  t.imm_ok = true;
  p.psn = 4;
  t.send(p);
  CHECK(t.verdicts.at(0).place);
  CHECK(t.nores == 1);
}

TEST_CASE("a table write waits for the packets in the stages, and for cack and SACKs they have left to do",
          "[rx_track]") {
  const unsigned wait = GENERATE(range(0u, 16u));
  CAPTURE(wait);
  Track t("fpga100");
  t.configure(1, 0);
  for (uint32_t psn = 1; psn < 66; ++psn) t.send(packet_of(1, psn));
  t.clear();
  Rxpkt p = packet_of(1, 0);
  p.ackreq = true;
  t.rxpkt.load(p);
  t.idle(wait);
  t.configure(1, 1000);
  t.idle(24);
  // The packet is of the old connection, or of the new one as soon as its turn comes after the table write.
  REQUIRE(t.verdicts.size() == 1);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.verdicts[0].place == (wait > 2));
  CHECK(t.resps[0].kind == CtlKind::Sack);
  CHECK(t.resps[0].cack == (wait > 2 ? 65 : 999));
  t.send(packet_of(1, 1000));
  CHECK(t.ords.at(0).cack == 1000);
}

TEST_CASE("a packet that fills two rows is answered once", "[rx_track]") {
  Track t("fpga100");
  t.csr.sack_trigger = 0xfffff;
  t.configure(1, 0);
  for (uint32_t psn = 1; psn < 128; ++psn) t.send(packet_of(1, psn));
  t.csr.sack_trigger = 1;
  Rxpkt p = packet_of(1, 0);
  p.rtx = true;
  p.last = p.imm_valid = true;
  t.send(p);  // two rows, one SACK, one order, one ACK
  CHECK(t.verdicts.size() == 1);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].cack == 127);
  REQUIRE(t.ords.size() == 1);
  CHECK(t.ords[0].cack == 127);
  CHECK(t.ords[0].imm_valid);
  REQUIRE(t.acks.size() == 1);
  CHECK(t.acks[0].psn == 0);
  CHECK(t.acks[0].msn == 0x21);
}

TEST_CASE("an AckReq is not forgotten while more packets come before the hole closes", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  Rxpkt ar = packet_of(1, 1);
  ar.ackreq = true;
  t.stream({ar, packet_of(1, 2), packet_of(1, 3)});
  CHECK(t.resps.size() == 1);
  t.send(packet_of(1, 0));
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].cack == 3);
}

TEST_CASE("a SACK whose base is its packet leaves the round of the others alone", "[rx_track]") {
  Track t("fpga100");
  t.csr.sack_trigger = 0xfffff;
  t.configure(1, 10, 2);
  std::vector<Rxpkt> list;
  for (uint32_t psn = 11; psn < 100; ++psn) list.push_back(packet_of(1, psn));
  t.stream(list);
  CHECK(t.ask(1).base == 10);
  t.csr.sack_base_self = true;
  Rxpkt p = packet_of(1, 12);  // again
  p.ackreq = true;
  t.send(p);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].base == 12);
  CHECK(t.ask(1).base == 74);
}

TEST_CASE("a SACK shows the rows as they were when it read them", "[rx_track]") {
  const unsigned between = GENERATE(range(0u, 5u));
  const bool row_here = GENERATE(false, true);
  CAPTURE(between, row_here);
  Track t;
  t.configure(1, 32);
  t.configure(2, 0);
  if (row_here) t.send(packet_of(1, 70));
  std::vector<Rxpkt> list = {packet_of(1, 33)};
  list[0].ce = true;
  for (uint32_t i = 0; i < between; ++i) list.push_back(packet_of(2, i));
  list.push_back(packet_of(1, 64));
  t.stream(list);
  REQUIRE(t.resps.size() == 1);
  const Resp& r = t.resps[0];
  // The packet that asks is in Track in cycle 0. The map of the second row is read in cycle 3, its bits in cycle 4, the
  // registers in cycle 5. PSN 64 is in Track in cycle 1 + between, and shows from the cycle after it.
  const bool seen = between + 2 <= (row_here ? 4 : 3);
  CHECK(r.base == 32);
  CHECK(r.bitmap == (0b10u | uint64_t{seen} << 32 | uint64_t{row_here} << 38));
  CHECK(r.ooo == 1u + row_here + (between + 2 <= 5));
}

TEST_CASE("an output that nobody takes holds the tracker back, whatever the packets are for it", "[rx_track]") {
  Track t;
  t.csr.sack_trigger = 0xfffff;
  t.configure(1, 0);
  const int held = GENERATE(0, 1, 2);
  CAPTURE(held);
  (held == 0 ? t.take_verdict : held == 1 ? t.take_ackev : t.take_ord) = false;
  uint32_t psn = 0;
  const auto load = [&] {
    for (unsigned i = 0; i < 100; ++i) {
      if (t.rxpkt.free() && psn < 20) {
        Rxpkt p = packet_of(1, psn++);
        p.last = true;
        t.rxpkt.load(p);
      }
      t.cycle();
    }
  };
  load();
  // What the consumer's FIFO and the output register hold; three packets in the stages, three before them.
  const unsigned gone = held == 0 ? t.preset.lane_fifo + 1 : 3;
  CHECK(psn == gone + 6);
  CHECK(t.verdicts.size() == (held == 0 ? 0 : gone));
  CHECK(t.acks.size() == (held == 1 ? 0 : gone));
  CHECK(t.ords.size() == (held == 2 ? 0 : gone));
  t.take_verdict = t.take_ackev = t.take_ord = true;
  load();
  CHECK(t.verdicts.size() == 20);
  REQUIRE(t.acks.size() == 20);
  REQUIRE(t.ords.size() == 20);
  for (uint32_t i = 0; i < 20; ++i) {
    CHECK(t.acks[i].psn == i);
    CHECK(t.ords[i].cack == i);
  }
}

TEST_CASE("an immediate too many: the next packet, and each after it, hears NAK invalid request", "[rx_track][A-62]") {
  Track t;
  t.configure(1, 10);
  t.configure(2, 10);
  t.csr.nak_invalid = 0x65;
  Rxpkt last = Track::packet(10);
  last.last = true;
  t.send(last);  // a message is complete: MSN 0x21 is next
  t.over[1] = 1;
  Rxpkt p = Track::packet(13);
  p.err = GENERATE(true, false);  // the QP is in Error already, or not yet
  t.send(p);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].kind == CtlKind::Ack);
  CHECK(t.resps[0].qp == 1);
  CHECK(t.resps[0].plane == 1);
  CHECK(t.resps[0].reason == 0x65);
  CHECK(t.resps[0].psn == 11);  // the oldest message that is not complete begins there
  CHECK(t.resps[0].msn == 0x21);
  CHECK(t.qperrs.empty());  // rx_reorder has said so
  REQUIRE(t.verdicts.size() == 1);
  CHECK_FALSE(t.verdicts[0].place);
  CHECK(t.ords.empty());
  const Resp nak = t.resps[0];
  t.over[1] = 0;  // the NAK goes on until the QP is connected anew
  p.psn = 11;
  p.err = true;
  t.send(p);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0] == nak);
  Rxpkt probe;
  probe.qp = 1;
  probe.plane = 1;
  probe.probe = true;
  t.send(probe);
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0] == nak);
  Rxpkt other = Track::packet(10);  // others go on
  other.qp = 2;
  t.send(other);
  REQUIRE(t.verdicts.size() == 1);
  CHECK(t.verdicts[0].place);
  t.configure(1, 10);
  t.send(Track::packet(10));
  REQUIRE(t.verdicts.size() == 1);
  CHECK(t.verdicts[0].place);
}

TEST_CASE("an immediate too many: what failed a check in front says nothing", "[rx_track][A-62]") {
  Track t;
  t.configure(1, 10);
  t.over[1] = 1;
  Rxpkt p = Track::packet(10);
  p.drop = true;
  t.send(p);
  CHECK(t.resps.empty());
  CHECK(t.verdicts.size() == 1);
}

TEST_CASE("the NAK for an immediate too many always says that it is a NAK", "[rx_track][A-62][A-70]") {
  Track t;
  t.configure(1, 10);
  t.csr.nak_invalid = 0xe1;
  t.over[1] = 1;
  t.send(Track::packet(10));
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].reason == 0x61);
}
