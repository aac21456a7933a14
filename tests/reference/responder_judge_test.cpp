// SPDX-License-Identifier: Apache-2.0
/// Expectations are calculated by hand.
#include "reference/responder_judge.hpp"

#include <catch2/catch_test_macros.hpp>

#include "tests/reference/responder_bench.hpp"

namespace mrc::test::responder_judge_test {

using namespace mrc::ref;

TEST_CASE("a NIC that answers as it should is found right", "[reference.responder]") {
  ResponderBench b;
  b.start();
  b.put(false, b.write(0, 0, true), 10 * kUs);
  b.put(true, b.ack(0, 1), 11 * kUs);
  wire::Packet requested = b.write(2, 2, true);
  requested.bth->a = 1;
  b.put(false, requested, 12 * kUs);
  // With TSETH 4 bytes more: nominal 188, two of them are 376.
  wire::Packet answer = b.sack(0, 2, 0b10, 1, 2);
  answer.cc_state->tx_timestamp16 = 1002;
  b.put(true, answer, 13 * kUs);
  b.put(false, b.write(1, 1, true), 14 * kUs);
  b.put(true, b.ack(2, 3), 15 * kUs);
  answer = b.sack(2, 1, 0, 0, 3);
  answer.cc_state->tx_timestamp16 = 1001;
  b.put(true, answer, 15 * kUs);
  b.end(30 * kUs);
  CHECK(b.report.verdict() == Verdict::Pass);
  CHECK(b.ok(Rule::RespSackAsk) == 1);
  CHECK(b.ok(Rule::RespCackTaken) == 2);
  CHECK(b.ok(Rule::RespAckOrder) == 2);
  CHECK(b.ok(Rule::RespAckPsn) == 2);
  CHECK(b.ok(Rule::RespAckOwed) == 3);
  CHECK(b.ok(Rule::RespSackDrain) == 1);
}

TEST_CASE("cack_psn lies between what must have and what may have been taken", "[reference.responder]") {
  ResponderBench b;
  b.start();
  b.put(false, b.write(0, 0), 10 * kUs);
  b.put(false, b.write(1, 1), 10 * kUs + kUs / 2);
  b.put(true, b.ack(1, 2), 11 * kUs);
  SECTION("both are right while the NIC may still be busy") {
    b.put(true, b.sack(0xffffff, 0, 0, 0, 0), 12 * kUs);
    b.put(true, b.sack(1, 0, 0, 0, units(2)), 12 * kUs);
    b.end(13 * kUs);
    CHECK(b.all_broken() == 0);
  }
  SECTION("too much") {
    b.put(true, b.sack(2, 0, 0, 0, units(2)), 12 * kUs);
    b.end(13 * kUs);
    CHECK(b.broken(Rule::RespCackArrived) == 1);
  }
  SECTION("too little, 3 us later") {
    b.put(true, b.sack(0, 0, 0, 0, units(2)), 13 * kUs + kUs / 2);
    b.end(14 * kUs);
    CHECK(b.broken(Rule::RespCackTaken) == 1);
    CHECK(b.report.findings().at(0).right.starts_with("at least 1"));
  }
}

TEST_CASE("what a silent drop would explain is decided by the counter", "[reference.responder]") {
  for (const uint64_t drops : {0, 1}) {
    ResponderBench b(true);
    b.start();
    b.put(false, b.write(0, 0), 10 * kUs);
    b.put(true, b.sack(0xffffff, 0, 0, 0, 0), 10 * kUs + kLate);
    b.end(20 * kUs, drops);
    CHECK(b.broken(Rule::RespCackTaken) == 1 - drops);
    CHECK(b.report.tally(Rule::RespCackTaken).inconclusive == drops);
    CHECK(b.report.verdict() == (drops == 0 ? Verdict::Fail : Verdict::Inconclusive));
  }
}

TEST_CASE("a rule that holds more often than a silent drop explains its breach rests there", "[reference.responder]") {
  for (const uint64_t drops : {0, 1}) {
    ResponderBench b(true);
    b.start();
    b.put(false, b.write(0, 0), 10 * kUs);
    b.put(true, b.sack(0, 0, 0, 0, units(1)), 10 * kUs + kLate);
    b.put(false, b.write(1, 1), 20 * kUs);
    b.put(true, b.sack(0, 1, 0, 0, units(1)), 20 * kUs + kLate);
    b.end(30 * kUs, drops);
    CHECK(b.ok(Rule::RespCackTaken) == 1);
    CHECK(b.broken(Rule::RespCackTaken) == 1 - drops);
    const Tally& tally = b.report.tally(Rule::RespCackTaken);
    CHECK(tally.inconclusive == 0);
    CHECK(tally.rests.size() == drops);
  }
}

TEST_CASE("counts and sums have both bounds", "[reference.responder]") {
  ResponderBench b;
  b.start();
  for (const uint32_t psn : {0, 2, 4}) b.put(false, b.write(psn, static_cast<uint16_t>(psn)), 10 * kUs);
  b.put(true, b.ack(0, 1), 10 * kUs);
  const log::Time at = 10 * kUs + kLate;
  SECTION("right") { b.put(true, b.sack(0, 4, 0b1010, 2, units(3)), at); }
  SECTION("less in the bitmap is right") { b.put(true, b.sack(0, 4, 0, 2, units(3)), at); }
  const bool right = b.ok(Rule::RespBitmap) == 1;
  SECTION("a bit too many") {
    b.put(true, b.sack(0, 4, 0b1110, 2, units(3)), at);
    CHECK(b.broken(Rule::RespBitmap) == 1);
  }
  SECTION("shifted") {
    b.put(true, b.sack(0, 4, 0b0101, 2, units(3)), at);
    CHECK(b.broken(Rule::RespBitmap) == 1);
  }
  SECTION("ooo_count too large") {
    b.put(true, b.sack(0, 4, 0, 3, units(3)), at);
    CHECK(b.broken(Rule::RespOooMost) == 1);
  }
  SECTION("ooo_count too small") {
    b.put(true, b.sack(0, 4, 0, 1, units(3)), at);
    CHECK(b.broken(Rule::RespOooLeast) == 1);
  }
  SECTION("rcvd_bytes too large, by one unit") {
    b.put(true, b.sack(0, 4, 0, 2, units(3) + 1), at);
    CHECK(b.broken(Rule::RespNominal) == 1);
    CHECK(b.broken(Rule::RespBytes) == 1);
  }
  SECTION("rcvd_bytes rounded down: 300 bytes of payload are 2 units, 552 of nominal size are 3") {
    b.put(true, b.sack(0, 4, 0, 2, 2), at);
    CHECK(b.broken(Rule::RespNominal) == 1);
    CHECK(b.broken(Rule::RespBytes) == 0);
  }
  SECTION("mpr without dynamic MPR") {
    wire::Packet p = b.sack(0, 4, 0, 2, units(3));
    p.seth->mpr = 8;
    b.put(true, p, at);
    CHECK(b.broken(Rule::RespMpr) == 1);
  }
  b.end(at);
  CHECK(b.all_broken() == (right ? 0u : b.all_broken()));
}

TEST_CASE("what is owed comes in time, or is missed", "[reference.responder]") {
  ResponderBench b;
  b.start();
  b.put(false, b.write(0, 0), 10 * kUs);
  b.put(true, b.ack(0, 1), 11 * kUs);
  uint32_t zero_length = kZeroLegal;
  const log::Time at = 20 * kUs;
  Rule rule{};
  wire::Packet cause, answer;
  bool fails = true;
  SECTION("A") {
    cause = b.write(1, 1);
    cause.bth->a = 1;
    answer = b.sack(1, 1, 0, 0, units(2));
    rule = Rule::RespSackAsk;
  }
  SECTION("rtx") {
    cause = b.write(1, 1);
    cause.bth->rtx = 1;
    answer = b.sack(1, 1, 0, 0, units(2));
    rule = Rule::RespSackRtx;
  }
  SECTION("CE") {
    cause = b.write(1, 1);
    cause.ipv6->ecn = 3;
    answer = b.sack(1, 1, 0, 0, units(2));
    answer.seth->m = 1;
    rule = Rule::RespSackCe;
  }
  SECTION("a duplicate") {
    cause = b.write(0, 0);
    answer = b.sack(0, 0, 0, 0, units(1));
    rule = Rule::RespSackDup;
  }
  SECTION("a probe") {
    cause = b.packet(wire::Opcode::ProbeRequest, true);
    cause.peth->probe_id = 77;
    answer = b.sack(0, 77, 0, 0, units(1));
    answer.seth->pr = 1;
    rule = Rule::RespSackProbe;
  }
  SECTION("a trim of what is missing") {
    cause = b.write(1, 1);
    cause.payload.resize(20);
    cause.ipv6->dscp = b.profile.wire().dscp.trimmed;
    cause.dscp_class = wire::DscpClass::Trimmed;
    answer = b.nack(1, 1);
    rule = Rule::RespNackTrim;
  }
  SECTION("a trim of what is here") {
    cause = b.write(0, 0);
    cause.ipv6->dscp = b.profile.wire().dscp.trimmed;
    cause.dscp_class = wire::DscpClass::Trimmed;
    answer = b.sack(0, 0, 0, 0, units(1));
    rule = Rule::RespSackTrim;
    fails = false;
  }
  SECTION("outside the window") {
    cause = b.write(1 + 1024, 1);
    answer = b.nack(1 + 1024, 0x0b);
    rule = Rule::RespOorOwed;
    fails = false;
  }
  SECTION("a foreign memory key") {
    cause = b.write(1, 1);
    cause.reth->r_key = 8;
    answer = b.ack(1, 1, 0x62);
    rule = Rule::RespNakOwed;
  }
  SECTION("no bytes") {
    cause = b.write(1, 1);
    cause.reth->dma_length = 0;
    cause.payload.clear();
    answer = b.ack(1, 1, 0x61);
    rule = Rule::RespNakZero;
    zero_length = kZeroNak;
    fails = false;
  }
  for (const bool comes : {true, false}) {
    ResponderBench c = ResponderBench();
    c.profile.settings.zero_length = zero_length;
    c.start();
    c.put(false, c.write(0, 0), 10 * kUs);
    c.put(true, c.ack(0, 1), 11 * kUs);
    c.put(false, cause, at);
    if (comes) c.put(true, answer, at + kUs);
    if (comes && rule == Rule::RespNackTrim) {
      wire::Packet besides = c.sack(0, 0xffff, 0, 0, units(1));
      besides.seth->pr = 1;
      c.put(true, besides, at + kUs);
    }
    // A sign of life, long after.
    if (rule != Rule::RespNakOwed && rule != Rule::RespNakZero) c.put(true, c.ack(0, 1), at + 3 * kLate);
    c.end(at + 4 * kLate);
    INFO(info(rule).id << (comes ? " comes" : " does not come"));
    CHECK(c.ok(rule) == (comes ? 1u : 0u));
    CHECK(c.broken(rule) == (comes ? 0u : 1u));
    CHECK(info(rule).severity == (fails ? Severity::Fail : Severity::Deviates));
  }
}

TEST_CASE("the byte threshold is kept, ACKs come", "[reference.responder]") {
  for (const bool comes : {true, false}) {
    ResponderBench b;
    b.start();
    for (uint16_t i = 0; i < 16; ++i) b.put(false, b.write(i, i), 10 * kUs + i * 1000ll);  // 16 times 1024
    if (comes) {
      b.put(true, b.sack(15, 15, 0, 0, units(16)), 11 * kUs);
      b.put(true, b.ack(15, 16), 11 * kUs);
    }
    b.put(true, b.sack(15, 15, 0, 0, units(16)), 30 * kUs);
    b.end(40 * kUs);
    CHECK(b.broken(Rule::RespSackBytes) == (comes ? 0 : 1));
    CHECK((b.broken(Rule::RespAckOwed) != 0) == !comes);
    CHECK((b.ok(Rule::RespAckOwed) != 0) == comes);
  }
}

TEST_CASE("semantic ACKs confirm what is complete", "[reference.responder]") {
  ResponderBench b;
  b.start();
  b.put(false, b.write(0, 0), 10 * kUs);
  b.put(false, b.write(2, 2), 10 * kUs);
  SECTION("a message too many") {
    b.put(true, b.ack(2, 3), 11 * kUs);
    CHECK(b.broken(Rule::RespAckOrder) == 1);
  }
  SECTION("the wrong packet") {
    b.put(true, b.ack(2, 1), 11 * kUs);
    CHECK(b.broken(Rule::RespAckOrder) == 0);
    CHECK(b.broken(Rule::RespAckPsn) == 1);
  }
  SECTION("a NAK without cause") {
    b.put(true, b.ack(1, 1, 0x62), 11 * kUs);
    CHECK(b.broken(Rule::RespNakCause) == 1);
  }
  SECTION("a code that is none") {
    b.put(true, b.ack(1, 1, 0x60), 11 * kUs);
    CHECK(b.broken(Rule::RespNakCode) == 1);
  }
}

TEST_CASE("NACKs have their reasons", "[reference.responder]") {
  ResponderBench b;
  b.start();
  b.put(false, b.write(0, 0), 10 * kUs);
  SECTION("TRIMMED of what arrived whole long before") {
    b.put(true, b.nack(0, 1), 10 * kUs + kLate);
    CHECK(b.broken(Rule::RespNackHad) == 1);
  }
  SECTION("out of the window, inside it") {
    b.put(true, b.nack(1024, 0x0b), 11 * kUs);
    CHECK(b.broken(Rule::RespNackOor) == 0);  // cack_psn may not have moved yet
    b.put(true, b.nack(1023, 0x0b), 11 * kUs);
    CHECK(b.broken(Rule::RespNackOor) == 1);
    b.put(true, b.nack(1024, 0x0b), 10 * kUs + kLate);
    CHECK(b.broken(Rule::RespNackOor) == 2);
    b.put(true, b.nack(1025, 0x0b), 10 * kUs + kLate);
    CHECK(b.broken(Rule::RespNackOor) == 2);
  }
  SECTION("UNEXP_EVENT out of the blue") {
    b.put(true, b.nack(0, 0x19), 11 * kUs);
    CHECK(b.broken(Rule::RespNackUnexp) == 1);
  }
  SECTION("a packet that was refused has not arrived") {
    b.put(true, b.nack(0, 0x07), 11 * kUs);
    b.put(true, b.sack(0xffffff, 0, 0, 0, 0), 10 * kUs + kLate);
    CHECK(b.broken(Rule::RespCackTaken) == 0);
  }
}

TEST_CASE("frames that a NIC does not take, and such as it may take", "[reference.responder]") {
  ResponderBench b;
  b.start();
  wire::Packet p = b.write(0, 0);
  uint8_t flags = 0;
  bool may = false;
  SECTION("another P_Key") { p.bth->p_key = 0x1234; }
  SECTION("membership alone differs: it takes it") {
    p.bth->p_key = 0x7fff;
    may = true;
  }
  SECTION("another QP") { p.bth->dqp = 21; }
  SECTION("another tver") { p.bth->tver = 1; }
  SECTION("wrong FCS") { flags = log::kFcsBad; }
  SECTION("wrong ICRC") {
    p.icrc.emplace();
    p.icrc->ok = false;
    p.icrc->value = 1;
  }
  SECTION("seen under way") {
    flags = log::kMaybe;
    may = true;
  }
  SECTION("of a stranger") {
    p.ipv6->src[15] = 9;
    may = true;
  }
  b.put(false, p, 10 * kUs, flags);
  const bool must = p.bth->p_key == 0x7fff;
  b.put(true, b.sack(0, 0, 0, 0, units(1)), 11 * kUs);
  CHECK(b.broken(Rule::RespCackArrived) == (may ? 0 : 1));
  ResponderBench c;
  c.start();
  c.put(false, p, 10 * kUs, flags);
  c.put(true, c.sack(0xffffff, 0, 0, 0, 0), 10 * kUs + kLate);
  CHECK(c.broken(Rule::RespCackTaken) == (must ? 1 : 0));
}

TEST_CASE("immediates complete after all before them, in order, once", "[reference.responder]") {
  ResponderBench b;
  b.start();
  const auto immediate = [&](uint32_t psn, uint16_t n, uint32_t value) {
    wire::Packet p = b.packet(wire::Opcode::WriteOnlyImm, true);
    const wire::Packet w = b.write(psn, n);
    p.meth = w.meth;
    p.reth = w.reth;
    p.payload = w.payload;
    p.bth->psn = psn;
    p.meth->rqmsn = n;
    p.immdt->value = value;
    return p;
  };
  const auto done = [&](uint32_t rqmsn, uint32_t value, log::Time at) {
    log::Cqe cqe;
    cqe.qp = b.qp.qp;
    cqe.receive = true;
    cqe.rqmsn = rqmsn;
    cqe.imm = value;
    b.judge->completed(cqe, at);
  };
  b.put(false, immediate(1, 1, 11), 10 * kUs);
  b.put(false, immediate(2, 2, 22), 10 * kUs);
  SECTION("too early") {
    done(1, 11, 11 * kUs);
    CHECK(b.broken(Rule::RespCqeComplete) == 1);
  }
  b.put(false, b.write(0, 0), 12 * kUs);
  SECTION("right") {
    done(1, 11, 13 * kUs);
    done(2, 22, 13 * kUs);
    CHECK(b.all_broken() == 0);
    done(2, 22, 14 * kUs);
    CHECK(b.broken(Rule::RespCqeComplete) == 1);
  }
  SECTION("in the wrong order") {
    done(2, 22, 13 * kUs);
    CHECK(b.broken(Rule::RespCqeOrder) == 1);
  }
  SECTION("with another immediate") {
    done(1, 22, 13 * kUs);
    CHECK(b.broken(Rule::RespCqeImm) == 1);
  }
}

TEST_CASE("immediates whose completions nobody tells do not fill the memory", "[reference.responder]") {
  ResponderBench b;
  b.start();
  wire::Packet p = b.packet(wire::Opcode::WriteOnlyImm, true);
  p.reth->va = 0x1000;
  p.reth->r_key = 7;
  p.reth->dma_length = 4;
  p.payload.assign(4, 0x5a);
  uint64_t early = 0;
  for (uint32_t n = 0; n < 80'000; ++n) {
    p.bth->psn = n;
    p.meth->msn = p.meth->rqmsn = static_cast<uint16_t>(n);
    b.put(false, p, (10 + n) * kUs);
    if (n == 60'000) early = b.judge->memory();
  }
  CHECK(b.judge->memory() < early);
  log::Cqe cqe;
  cqe.qp = b.qp.qp;
  cqe.receive = true;
  cqe.rqmsn = 1;
  b.judge->completed(cqe, 80'020 * kUs);
  CHECK(b.broken(Rule::RespCqeComplete) == 0);
}

TEST_CASE("a QP in ERROR says so to each packet", "[reference.responder]") {
  for (const bool says : {true, false}) {
    ResponderBench b;
    b.start();
    log::Qp qp = b.qp;
    qp.state = log::QpState::Error;
    b.judge->qp(qp, 10 * kUs);
    b.put(false, b.write(0, 0), 20 * kUs);
    if (says) b.put(true, b.nack(0, 0x19), 21 * kUs);
    b.end(40 * kUs);
    CHECK(b.ok(Rule::RespUnexpOwed) == (says ? 1 : 0));
    CHECK(b.broken(Rule::RespUnexpOwed) == (says ? 0 : 1));
  }
}

TEST_CASE("every PSN is reported sooner or later", "[reference.responder]") {
  ResponderBench b;
  b.start();
  b.put(false, b.write(5, 5), 10 * kUs);
  for (unsigned i = 0; i < 100; ++i) b.put(true, b.sack(0xffffff, 5, 0, 1, units(1)), (20 + i) * kUs);
  CHECK(b.broken(Rule::RespReported) == 1);
}

TEST_CASE("a port that changes takes answers with it, and a hole in the log all", "[reference.responder]") {
  ResponderBench b;
  b.start();
  wire::Packet p = b.write(0, 0);
  p.bth->a = 1;
  b.put(false, p, 10 * kUs);
  SECTION("port") {
    b.judge->port({0, false}, 11 * kUs);
    b.judge->port({0, true}, 12 * kUs);
    b.put(true, b.ack(0, 1), 30 * kUs);
    b.end(40 * kUs);
    CHECK(b.report.tally(Rule::RespSackAsk).rests.size() == 1);
  }
  SECTION("hole") {
    b.judge->gap({0, 1, 0, "test"}, 11 * kUs);
    b.put(true, b.sack(77, 0, 0, 0, 9), 30 * kUs);
    b.end(40 * kUs);
  }
  CHECK(b.all_broken() == 0);
}

namespace {

/// Packets 0, 2 and 3 come and are taken at once; a SACK tells of them.
struct Notified {
  bool shown = true;
  uint32_t cack = 0, read_cack = 0;
  bool late = false;  ///< 3 is taken after the SACK was read, and before it was sent
  log::Time by = 0;   ///< every answer has 3 from then on
  uint16_t above = 2;
  uint32_t bytes = units(3);
  uint64_t bits = 0b110;
};

std::map<Rule, uint64_t> broken_by(const Notified& t) {
  ResponderBench b;
  if (t.shown) b.show();
  b.start();
  b.put(false, b.write(0, 0), 10 * kUs);
  b.put(false, b.write(2, 2), 10 * kUs);
  b.put(false, b.write(3, 3), 10 * kUs);
  if (t.shown) {
    for (const uint32_t psn : {0u, 2u}) b.take(psn, 10 * kUs + 100);
    if (!t.late) b.take(3, 10 * kUs + 100, log::TakeResult::New, t.by);
    b.read(2, t.read_cack, t.read_cack + 1, 10 * kUs + 200);
    if (t.late) b.take(3, 10 * kUs + 300);
  }
  b.put(true, b.sack(t.cack, 2, t.bits, t.above, t.bytes), 10 * kUs + 400'000);
  std::map<Rule, uint64_t> broken;
  for (const Finding& f : b.report.findings()) ++broken[f.rule];
  return broken;
}
using Rules = std::map<Rule, uint64_t>;

}  // namespace

TEST_CASE("where a device shows what it takes, one packet in a count is seen, that a latency hides",
          "[reference.responder]") {
  CHECK(broken_by({}).empty());
  CHECK(broken_by({.shown = false}).empty());
  // One packet less.
  CHECK(broken_by({.above = 1}) == Rules{{Rule::RespOooLeast, 1}});
  CHECK(broken_by({.shown = false, .above = 1}) == Rules{{Rule::RespOooLeast, 1}});  // fewer than its own bitmap has
  CHECK(broken_by({.shown = false, .above = 1, .bits = 0b010}).empty());
  CHECK(broken_by({.bytes = units(2)}) == Rules{{Rule::RespNominal, 1}});
  CHECK(broken_by({.shown = false, .bytes = units(2)}).empty());
  // One more: 3 has come, but was taken later.
  CHECK(broken_by({.late = true, .above = 1, .bytes = units(2), .bits = 0b010}).empty());
  CHECK(broken_by({.late = true, .above = 2, .bytes = units(2), .bits = 0b010}) == Rules{{Rule::RespOooMost, 1}});
  CHECK(broken_by({.late = true, .above = 1, .bytes = units(3), .bits = 0b010}) == Rules{{Rule::RespBytes, 1}});
  CHECK(broken_by({.late = true, .above = 1, .bytes = units(2)}) == Rules{{Rule::RespBitmap, 1}});
  CHECK(broken_by({.shown = false, .late = true}).empty());
  // An answer may have it and need not: each register by itself.
  for (const uint16_t above : {uint16_t{1}, uint16_t{2}}) {
    for (const unsigned counted : {2u, 3u})
      CHECK(broken_by({.by = 10 * kUs + 250, .above = above, .bytes = units(counted)}).empty());
  }
  // cack_psn is not what was read.
  CHECK(broken_by({.read_cack = 1}) == Rules{{Rule::RespAsRead, 1}});
  CHECK(broken_by({.cack = 1, .read_cack = 1, .above = 1}).contains(Rule::RespCackArrived));
}

TEST_CASE("what a device shows as taken has come, is new and inside the window", "[reference.responder]") {
  ResponderBench b;
  b.show();
  b.start();
  b.put(false, b.write(0, 0), 10 * kUs);
  b.take(0, 10 * kUs + 1);
  CHECK(b.broken(Rule::RespTakeOnce) == 0);
  b.take(1, 10 * kUs + 2);  // never came
  CHECK(b.broken(Rule::RespTakeOnce) == 1);
  b.take(0, 10 * kUs + 3);  // came once
  CHECK(b.broken(Rule::RespTakeOnce) == 2);
  b.put(false, b.write(0, 0), 11 * kUs);
  b.take(0, 11 * kUs + 1);  // twice, and is no new one
  CHECK(b.broken(Rule::RespTakeOnce) == 3);
  b.put(false, b.write(0, 0), 12 * kUs);
  b.take(0, 12 * kUs + 1, log::TakeResult::Other);
  CHECK(b.broken(Rule::RespTakeOnce) == 3);
  b.put(false, b.write(1 + 8 * 128, 5), 13 * kUs);
  b.take(1 + 8 * 128, 13 * kUs + 1);
  CHECK(b.broken(Rule::RespTakeOnce) == 4);
}

TEST_CASE("a packet that is not taken was discarded, if the device counts it", "[reference.responder]") {
  for (const int counted : {-1, 0, 1, 2}) {
    ResponderBench b;
    b.show();
    b.start();
    wire::Packet requested = b.write(0, 0);
    requested.bth->a = 1;
    b.put(false, requested, 10 * kUs);
    b.put(false, b.write(1, 1), 11 * kUs);
    b.take(1, 11 * kUs + 1);
    if (counted < 0) {
      b.judge->finish({}, 11 * kUs + kLate);
    } else {
      b.end(11 * kUs + kLate, static_cast<uint64_t>(counted));
    }
    CAPTURE(counted);
    CHECK(b.broken(Rule::RespTakeAll) == (counted == 0 ? 1u : 0u));
    CHECK(b.report.tally(Rule::RespTakeAll).inconclusive == (counted < 0 ? 1u : 0u));
    CHECK(b.all_broken() == (counted == 0 ? 1u : 0u));  // and nobody waits for its SACK
  }
}

TEST_CASE("what is owed for a packet that is shown as taken is owed from then on, whatever may be discarded",
          "[reference.responder]") {
  ResponderBench b;
  b.show();
  b.start();
  wire::Packet requested = b.write(0, 0);
  requested.bth->a = 1;
  b.put(false, requested, 10 * kUs);
  b.take(0, 10 * kUs + 1);
  b.end(10 * kUs + kLate, 7);
  CHECK(b.broken(Rule::RespSackAsk) == 1);
  CHECK(b.ok(Rule::RespTakeAll) == 1);
}

TEST_CASE("a take that fits two copies of a packet asks for what both ask for", "[reference.responder]") {
  for (const bool again : {true, false}) {
    ResponderBench b;
    b.show();
    b.start();
    wire::Packet first = b.write(0, 0);
    first.bth->a = 1;
    b.put(false, first, 10 * kUs);
    if (again) b.put(false, b.write(0, 0), 20 * kUs);  // nobody says which one was discarded
    b.take(0, 20 * kUs + 1);
    b.end(20 * kUs + kLate, 7);
    CHECK(b.broken(Rule::RespSackAsk) == (again ? 0u : 1u));
  }
}

TEST_CASE("two copies of a packet that are both taken ask for no more than both ask for", "[reference.responder]") {
  for (const unsigned requesting : {1u, 2u, 3u}) {
    ResponderBench b;
    b.show();
    b.start();
    for (const unsigned copy : {0u, 1u}) {
      wire::Packet p = b.write(0, 0);
      p.bth->a = requesting >> copy & 1;
      b.put(false, p, (10 + copy) * kUs);
    }
    b.take(0, 12 * kUs);
    b.take(0, 12 * kUs + 10, log::TakeResult::Other);
    b.end(12 * kUs + kLate, 7);
    CHECK(b.broken(Rule::RespSackAsk) == (requesting == 3 ? 2u : 0u));
  }
}

TEST_CASE("a copy that must be taken goes before one that may be discarded", "[reference.responder]") {
  for (const bool taken : {true, false}) {
    ResponderBench b;
    b.show();
    b.start();
    wire::Packet bad = b.write(0, 0);
    bad.reth->r_key = 8;
    b.put(false, bad, 10 * kUs, log::kMaybe);
    wire::Packet trimmed = b.write(0, 0);
    trimmed.payload.clear();
    trimmed.ipv6->dscp = b.profile.wire().dscp.trimmed;
    b.put(false, trimmed, 11 * kUs);
    if (taken) b.take(0, 11 * kUs + 1, log::TakeResult::Other);
    b.end(11 * kUs + kLate, 0);
    CHECK(b.broken(Rule::RespTakeAll) == (taken ? 0u : 1u));
  }
}

TEST_CASE("a copy that cannot be executed is the one that was not recorded, not a whole one", "[reference.responder]") {
  for (const bool bad : {true, false}) {
    ResponderBench b;
    b.show();
    b.start();
    wire::Packet without = b.write(0, 0);
    without.payload.clear();  // its ICRC is right
    if (bad) b.put(false, without, 10 * kUs);
    b.put(false, b.write(0, 0), 11 * kUs);
    b.take(0, 12 * kUs, log::TakeResult::Other);
    b.put(true, b.ack(0, 0, static_cast<uint8_t>(b.profile.settings.nak_invalid)), 13 * kUs);
    CHECK(b.broken(Rule::RespNakCause) == (bad ? 0u : 1u));
  }
}

TEST_CASE("a duplicate without a buffer for its payload need not bring an ACK again", "[reference.responder]") {
  struct Run {
    log::Time refused;  // another packet, for want of a buffer; 0: never
    unsigned broken;
  };
  for (const Run& run : {Run{0, 1}, Run{31 * kUs, 0}, Run{30 * kUs - 2 * kLate, 1}}) {
    ResponderBench b;
    b.start();
    b.put(false, b.write(0, 0), 5 * kUs);
    b.put(true, b.sack(0, 0, 0, 0, units(1)), 6 * kUs);
    b.put(true, b.ack(0, 1), 6 * kUs);
    const auto refused = [&] { b.put(true, b.nack(5, 7), run.refused); };
    if (run.refused != 0 && run.refused < 30 * kUs) refused();
    b.put(false, b.write(0, 0), 30 * kUs);
    b.put(true, b.sack(0, 0, 0, 0, units(1)), 31 * kUs);
    if (run.refused > 30 * kUs) refused();
    b.end(30 * kUs + 3 * kLate, 0);
    CHECK(b.broken(Rule::RespAckAgain) == run.broken);
  }
}

TEST_CASE("of a copy that may be discarded and a whole one nobody says which was refused", "[reference.responder]") {
  for (const bool bad : {true, false}) {
    ResponderBench b;
    b.show();
    b.start();
    wire::Packet wrong = b.write(0, 0);
    wrong.reth->dma_length += 1;  // a NIC may drop it without a word
    if (bad) b.put(false, wrong, 10 * kUs);
    b.put(false, b.write(0, 0), 12 * kUs);
    if (bad) b.take(0, 12 * kUs + 1, log::TakeResult::Other);
    b.end(12 * kUs + kLate, 0);
    CHECK(b.broken(Rule::RespTakeAll) == (bad ? 0u : 1u));
  }
}

TEST_CASE("a packet without its payload is not taken for its whole copy, which is new", "[reference.responder]") {
  for (const bool trimmed_first : {true, false}) {
    ResponderBench b;
    b.show();
    b.start();
    wire::Packet trimmed = b.write(0, 0);
    trimmed.payload.clear();
    trimmed.ipv6->dscp = b.profile.wire().dscp.trimmed;
    if (trimmed_first) b.put(false, trimmed, 10 * kUs);
    b.put(false, b.write(0, 0), 10 * kUs + 1);
    if (!trimmed_first) b.put(false, trimmed, 10 * kUs + 2);
    b.take(0, 11 * kUs, log::TakeResult::Other);
    b.take(0, 11 * kUs + 10);
    CHECK(b.broken(Rule::RespTakeOnce) == 0);
    CHECK(b.ok(Rule::RespTakeOnce) == 1);
  }
}

TEST_CASE("a trimmed copy of a packet that is there is not taken for a marked one that was discarded",
          "[reference.responder]") {
  for (const bool trimmed_came : {true, false}) {
    ResponderBench b;
    b.show();
    b.start();
    wire::Packet marked = b.write(0, 0), whole = b.write(0, 0), trimmed = b.write(0, 0);
    marked.ipv6->ecn = 3;
    whole.set_entropy(0x77);
    trimmed.payload.clear();
    trimmed.ipv6->dscp = b.profile.wire().dscp.trimmed;
    trimmed.dscp_class = wire::DscpClass::Trimmed;
    b.put(false, marked, 10 * kUs);
    b.put(false, whole, 11 * kUs);
    b.judge->event({log::EventKind::Take, b.qp.qp, {0, 0, 0, 0x77, 12 * kUs + 1}}, 12 * kUs);
    if (trimmed_came) b.put(false, trimmed, 13 * kUs);
    b.take(0, 14 * kUs, log::TakeResult::Other);
    b.end(14 * kUs + kLate, 7);
    CHECK(b.broken(Rule::RespSackCe) == (trimmed_came ? 0u : 1u));
  }
}

TEST_CASE("a frame that ends as its port goes down need not be taken", "[reference.responder]") {
  for (const bool just : {true, false}) {
    ResponderBench b;
    b.show();
    b.start();
    b.put(false, b.write(0, 0), 10 * kUs);
    b.judge->port({.plane = 0, .up = false}, 10 * kUs + (just ? 50'000 : 5 * kUs));
    b.end(400 * kUs, 0);
    CHECK(b.broken(Rule::RespTakeAll) == (just ? 0u : 1u));
  }
}

TEST_CASE("which of two copies that differ was recorded is not known", "[reference.responder]") {
  for (const uint32_t other : {100u, 200u}) {
    ResponderBench b;
    b.show();
    b.start();
    b.put(false, b.write(0, 0), 10 * kUs);
    wire::Packet copy = b.write(0, 0);
    copy.reth->dma_length = other;
    copy.payload.resize(other);
    b.put(false, copy, 11 * kUs);
    b.take(0, 12 * kUs);
    b.read(0, 0, 1, 12 * kUs + 10);
    for (const uint32_t bytes : {units(1), units(1) + 1}) {  // 184 and 284 bytes
      b.put(true, b.sack(0, 0, 0, 0, bytes), 12 * kUs + 20);
    }
    CHECK(b.all_broken() == (other == 100 ? 1u : 0u));
  }
}

namespace {

/// A packet that asks for a SACK, or completes a message, is taken; then its NIC is held back, or not.
struct Held {
  bool busy = false;       ///< its port sends without a pause
  log::Time read = 0;      ///< a host read takes so long, one after the other
  bool acks_busy = false;  ///< ACKs go all the time, their least distance apart
  Rule rule = Rule::RespSackAsk;
};

uint64_t missed(const Held& h) {
  ResponderBench b;
  b.show();
  b.profile.answer = 10 * kUs;
  b.profile.ack_gap = h.acks_busy ? kUs : 0;
  b.start();
  wire::Packet p = b.write(0, 0);
  p.bth->a = h.rule == Rule::RespSackAsk ? 1 : 0;
  b.put(false, p, 10 * kUs);
  b.take(0, 10 * kUs + 1);
  log::Qp other = b.qp;
  other.qp = 21;
  other.peer_qp = 31;
  b.judge->qp(other, 10 * kUs);
  for (log::Time at = 10 * kUs + 100; at < 40 * kUs; at += 100'000) {
    b.judge->now(at);
    if (h.busy || (h.acks_busy && at % kUs < 100'000)) {
      const wire::WireConfig config = b.profile.wire();
      wire::Packet sent = b.packet(h.busy ? wire::Opcode::WriteOnly : wire::Opcode::Ack, false);
      sent.bth->dqp = 31;
      wire::complete(sent);
      log::Frame frame;
      frame.sent = true;
      frame.bytes = wire::encode(sent, config);
      const wire::Packet seen = wire::decode(frame.bytes, config);
      b.judge->sent({frame, seen, at, h.busy ? at + 100'000 : at});
    }
    const log::Time begun = 10 * kUs + 100;
    if (h.read != 0 && (at - begun) % h.read == 0) {
      const auto host = [&](log::HostOp op, uint64_t tag) {
        log::Host one;
        one.op = op;
        one.tag = tag;
        b.judge->host(one, at);
      };
      const uint64_t tag = (at - begun) / h.read;
      if (tag != 0) host(log::HostOp::ReadDone, tag);
      host(log::HostOp::Read, tag + 1);
    }
  }
  b.end(40 * kUs);
  return b.broken(h.rule) + b.report.tally(h.rule).inconclusive;
}

}  // namespace

TEST_CASE("a latency counts while ports and the host let the NIC answer", "[reference.responder]") {
  for (const Rule rule : {Rule::RespSackAsk, Rule::RespAckOwed}) {
    CHECK(missed({.rule = rule}) == 1);
    CHECK(missed({.busy = true, .rule = rule}) == 0);
    CHECK(missed({.read = kUs, .rule = rule}) == 0);
    CHECK(missed({.read = 100'000, .rule = rule}) == 1);  // a quick one
  }
  CHECK(missed({.acks_busy = true, .rule = Rule::RespSackAsk}) == 1);
  CHECK(missed({.acks_busy = true, .rule = Rule::RespAckOwed}) == 0);
}

TEST_CASE("time to answer: the busiest port, and long idle spans at once", "[reference.responder]") {
  AnswerTime t(2, 100, 300, 1000, 0);
  t.now(10'000);
  CHECK(t.answers() == 10'000);
  t.sent(0, 10'000, 10'500);  // and a gap of 960 ps behind it
  t.sent(1, 10'100, 10'200);
  t.now(12'000);
  CHECK(t.answers() == 10'000 + 540);
  t.port(0, false, 12'000);
  t.sent(0, 12'000, 20'000);  // of a port that is down nobody speaks
  t.now(14'000);
  CHECK(t.answers() == 12'540);
  t.port(1, false, 14'000);
  t.now(1'000'000);
  CHECK(t.answers() == 12'540);
  t.port(1, true, 1'000'000);
  t.now(1'001'000);
  CHECK(t.answers() == 12'540);  // not up for all of that window
  t.now(5'000'000'000'000'000);
  CHECK(t.answers() == 12'540 + 5'000'000'000'000'000 - 1'001'000);
  CHECK(t.acks() == t.answers());
}

TEST_CASE("who does not share its links leaves windows alone", "[reference.responder][A-78]") {
  for (const bool share : {false, true}) {
    ResponderBench b;
    b.profile.settings.share = share;
    b.start();
    const auto breaks = [&](uint8_t pen, bool restore) {
      const uint64_t before = b.broken(Rule::RespWindow);
      wire::Packet p = b.sack(0xffffff, 0, 0, 0, 0);
      p.cc_state->rcv_cwnd_pen = pen;
      p.cc_state->restore_cwnd = restore;
      b.put(true, p, 10 * kUs);
      return b.broken(Rule::RespWindow) - before;
    };
    CHECK(breaks(0, false) == 0);
    CHECK(breaks(1, false) + breaks(0, true) == (share ? 0 : 2));
  }
}

TEST_CASE("mpr says a window that its owner has set lately", "[reference.responder]") {
  ResponderBench b;
  b.qp.dynamic_mpr = true;
  b.start();
  const auto says = [&](uint8_t mpr, log::Time at) {
    const uint64_t before = b.broken(Rule::RespMpr);
    wire::Packet p = b.sack(0xffffff, 0, 0, 0, 0);
    p.seth->mpr = mpr;
    b.put(true, p, at);
    return b.broken(Rule::RespMpr) == before;
  };
  CHECK(says(3, 10 * kUs));  // nobody has told
  CHECK(!says(9, 11 * kUs));
  b.qp.window = 2;
  b.judge->qp(b.qp, 20 * kUs);
  CHECK(says(2, 21 * kUs));
  CHECK(says(8, 21 * kUs));  // before
  CHECK(!says(3, 21 * kUs));
  b.qp.window = 20;
  b.judge->qp(b.qp, 200 * kUs);
  CHECK(says(2, 201 * kUs));
  CHECK(says(8, 201 * kUs));  // at most what was agreed
  CHECK(!says(20, 201 * kUs));
  CHECK(!says(2, 300 * kUs));
  b.qp.window = 5;
  b.qp.flags = log::kOrdered;
  b.judge->qp(b.qp, 300 * kUs);
  CHECK(says(5, 301 * kUs));
  CHECK(says(8, 500 * kUs));  // the order may not act yet
  b.qp.flags = 0;
  b.judge->qp(b.qp, 500 * kUs);
  CHECK(says(8, 501 * kUs));
  CHECK(!says(8, 600 * kUs));
}

}  // namespace mrc::test::responder_judge_test
