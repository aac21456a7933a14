// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <vector>

#include "tests/pipeline/rx/track/rx_track_bench.hpp"

namespace mrc::test::rx_track_test {

using namespace mrc::test::rx_track;

TEST_CASE("a QP is configured in one cycle and one per row of 64", "[rx_track]") {
  CHECK(Track("tiny").configure(3, 0) == 1 + 2);
  CHECK(Track("asic800").configure(200, 0) == 1 + 16);
}

TEST_CASE("packets in order are placed, acknowledged per message, and reported when enough came", "[rx_track]") {
  Track t;
  t.configure(1, 0xffffff);
  t.send(Track::packet(0xffffff));
  REQUIRE(t.verdicts.size() == 1);
  CHECK(t.verdicts[0] == Verdict{.plane = 1, .place = true, .qp = 1, .addr = 0x1000 + 0xffffff, .plen = 1000});
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

TEST_CASE("an ACK that a duplicate or a probe brings says that it is told once more", "[rx_track][A-17]") {
  Track t;
  t.configure(1, 0xffffff);
  Rxpkt only = Track::packet(0xffffff);
  only.last = true;
  t.send(only);
  REQUIRE(t.acks.size() == 1);
  CHECK_FALSE(t.acks.back().again);
  const uint16_t msn = t.acks[0].msn;
  only.plane = 0;
  t.send(only);
  REQUIRE(t.acks.size() == 1);
  CHECK(t.acks[0] == Ackev{.qp = 1, .plane = 0, .psn = 0xffffff, .msn = msn, .again = true});
  Rxpkt probe = Track::packet(7);
  probe.probe = true;
  probe.plane = 1;
  t.send(probe);
  REQUIRE(t.acks.size() == 1);
  CHECK(t.acks[0] == Ackev{.qp = 1, .plane = 1, .psn = 0xffffff, .msn = msn, .again = true});
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

TEST_CASE("a verdict names the QP whose payload is placed, and none when it is discarded", "[rx_track]") {
  Track t;
  for (unsigned qp = 0; qp < t.preset.num_qps; ++qp) t.configure(qp, 0);
  for (unsigned qp = t.preset.num_qps; qp-- > 0;) {
    Rxpkt p = Track::packet(0);
    p.qp = static_cast<QpIndex>(qp);
    for (const bool place : {true, false}) {  // the second one is a duplicate
      t.send(p);
      REQUIRE(t.verdicts.size() == 1);
      CHECK(t.verdicts[0].place == place);
      CHECK(t.verdicts[0].qp == (place ? qp : 0));
    }
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
  CHECK(t.verdicts[0] == Verdict{.plane = 1, .place = false, .qp = 0, .addr = 0, .plen = 0});
  REQUIRE(t.resps.size() == 1);  // no message is complete: nothing to acknowledge again
  CHECK(t.resps[0].kind == CtlKind::Sack);
  CHECK(t.ords.empty());
  Rxpkt end = Track::packet(1);
  end.last = true;
  t.send(end);
  t.send(first);
  CHECK(t.dup == 2);
  REQUIRE(t.acks.size() == 1);
  CHECK(t.acks[0] == Ackev{.qp = 1, .plane = 1, .psn = 1, .msn = 0x21, .again = true});
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
  t.configure(CfgTable::QpCtx, 1, row);
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
  t.run(60);
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
  Rxpkt probe{.plane = 1, .probe = true, .qp = 1, .psn = 0x1234, .ts = 77, .tsv = true, .at = 79, .entropy = 0xe1};
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
  CHECK(t.acks[0] == Ackev{.qp = 1, .plane = 1, .psn = 0, .msn = 0x21, .again = true});
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
    t.acks[0].again = false;
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
  Rxpkt probe{.probe = true, .qp = 1, .psn = 9};
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
  t.configure(CfgTable::QpCtx, 9, row);
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
  t.configure(CfgTable::QpCtx, 1, row);
  t.configure(CfgTable::QpCtx, 2, row);
  const auto reported = [&](unsigned qp) {
    Rxpkt probe{.probe = true, .qp = static_cast<QpIndex>(qp)};
    t.send(probe);
    REQUIRE(t.resps.size() == 1);
    return unsigned{t.resps[0].mpr};
  };
  CHECK(reported(1) == 2);
  t.set_mpr(1, 0);  // at least one
  CHECK(reported(1) == 1);
  CHECK(reported(2) == 2);
  t.send(Track::packet(128));
  CHECK_FALSE(t.verdicts[0].place);
  t.set_mpr(1, 2);
  CHECK(reported(1) == 2);
  t.send(Track::packet(128));
  CHECK(t.verdicts[0].place);
  t.send(Track::packet(255));
  CHECK(t.verdicts[0].place);
  t.set_mpr(1, 1);
  t.set_mpr(1, 255);
  CHECK(reported(1) == 2);
  t.send(Track::packet(254));
  CHECK(t.verdicts[0].place);
  t.send(Track::packet(256));
  REQUIRE(t.resps.size() == 1);
  CHECK(t.resps[0].reason == 0x0B);
  t.set_mpr(16 + 1, 1);  // the table has 16 rows
  CHECK(reported(1) == 1);
  t.configure(CfgTable::QpCtx, 1, row);
  CHECK(reported(1) == 2);
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

TEST_CASE("rx_track: the row of Rts changes nothing, that of another state starts anew", "[rx_track]") {
  Track t;
  t.configure(1, 0);
  t.send(Track::packet(0));
  t.send(Track::packet(2));
  csr::TblQpCtx row = Track::context(50, 1);
  row.state = QpState::Rts;
  row.trim_nack = false;
  row.dyn_mpr = true;
  CHECK(t.configure(CfgTable::QpCtx, 1, row) == 1);
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
  row.state = GENERATE(QpState::Init, QpState::Rtr, QpState::Reset);
  CHECK(t.configure(CfgTable::QpCtx, 1, row) == 1 + 2);
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
  for (QpIndex qp = 0; qp < 4; ++qp) {
    p.qp = qp;
    t.rxpkt.load(p);
    t.run(16);
  }
  CHECK(t.resps.size() == 3);  // two errors in the queue behind it, one in the output register
  t.take_qperr = true;
  t.run(16);
  CHECK(t.resps.size() == 4);
  REQUIRE(t.qperrs.size() == 4);
  for (QpIndex qp = 0; qp < 4; ++qp) CHECK(t.qperrs[qp] == Qperr{.qp = qp, .status = CqStatus::RemInvalid});
}

}  // namespace mrc::test::rx_track_test
