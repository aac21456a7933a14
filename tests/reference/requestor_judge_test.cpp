// SPDX-License-Identifier: Apache-2.0
#include "tests/reference/requestor_life.hpp"

namespace mrc::test::requestor_judge_test {

using Bench = RequestorBench;

TEST_CASE("a retransmission without evidence deviates, with each kind of evidence it is right",
          "[reference.requestor]") {
  Bench b;
  b.start();
  for (uint32_t n = 0; n < 12; ++n) b.data(n, 10 * kUs + n * log::Time{1000});
  bool right = true, twice = false;
  SECTION("a NACK, which may be older than a transmission that was on its way out") {
    b.nack(3, 1, 11 * kUs);
    twice = true;
  }
  SECTION("six packets above it reported, five are the tolerance") { b.sack(2, 9, 0b1111110, 6, 11 * kUs); }
  SECTION("four packets above it reported") {
    b.sack(2, 7, 0b11110, 4, 11 * kUs);
    right = false;
  }
  SECTION("one sent later on the same EV brought a SACK") { b.sack(2, 11, uint64_t{1} << 8, 1, 11 * kUs); }
  SECTION("the same, and the NIC does not look at it") {
    b.profile.settings.same_ev = false;
    b.start();
    for (uint32_t n = 0; n < 12; ++n) b.data(n, 10 * kUs + n * log::Time{1000});
    b.sack(2, 11, uint64_t{1} << 8, 1, 11 * kUs);
    right = false;
  }
  SECTION("nothing at all") { right = false; }
  b.data(3, 12 * kUs, true);
  CHECK(b.broken(Rule::ReqRtxEvidence) == (right ? 0 : 1));
  CHECK(b.ok(Rule::ReqRtxEvidence) == (right ? 1 : 0));
  // Each gap is good for one; then the timer.
  b.data(3, 13 * kUs, true);
  CHECK(b.broken(Rule::ReqRtxEvidence) == (twice ? 0u : right ? 1u : 2u));
  b.data(3, 14 * kUs, true);
  CHECK(b.broken(Rule::ReqRtxEvidence) == (twice ? 1u : right ? 2u : 3u));
  b.data(3, 31 * kUs, true);
  CHECK(b.broken(Rule::ReqRtxEvidence) == (twice ? 1u : right ? 2u : 3u));
}

TEST_CASE("a retransmission may go twice at once, on a third plane", "[reference.requestor][A-89]") {
  struct Case {
    const char* what;
    unsigned planes, plane;
    log::Time behind;
    bool one_copy, any_plane, right;
  };
  for (const Case& c : {Case{"on a third plane", 4, 2, 1000, false, false, true},
                        {"the port's queue is long", 4, 2, 2 * kUs, false, false, true},
                        {"later than any queue", 4, 2, 2 * kUs + 1, false, false, false},
                        {"on the plane of the first copy", 4, 1, 1000, false, true, false},
                        {"on the plane of before", 4, 0, 1000, false, false, false},
                        {"on that plane the first copy may go", 4, 0, 1000, false, true, true},
                        {"of two planes", 2, 0, 1000, false, false, false},
                        {"of two planes, where the first copy may go", 2, 0, 1000, false, true, true},
                        {"one copy goes", 4, 2, 1000, true, false, false}}) {
    CAPTURE(c.what);
    Bench b;
    b.profile.planes = c.planes;
    b.profile.settings.one_copy = c.one_copy;
    b.profile.settings.any_plane = c.any_plane;
    b.start();
    for (uint32_t n = 0; n < 12; ++n) b.data(n, 10 * kUs + n * log::Time{1000});
    b.sack(2, 9, 0b1111110, 6, 11 * kUs);
    b.data(3, 12 * kUs, true, 0, 1);
    REQUIRE(b.broken(Rule::ReqRtxEvidence) == 0);
    b.data(3, 12 * kUs + c.behind, true, 0, c.plane);
    CHECK(b.broken(Rule::ReqRtxEvidence) == (c.right ? 0 : 1));
    if (!c.right) continue;
    b.data(3, 12 * kUs + c.behind + 1000, true, 0, c.planes - 1);  // not a third time
    CHECK(b.broken(Rule::ReqRtxEvidence) == 1);
  }
}

TEST_CASE("what has long been reported is not sent again", "[reference.requestor]") {
  Bench b;
  b.start();
  for (uint32_t n = 0; n < 4; ++n) b.data(n, 10 * kUs + n * log::Time{1000});
  SECTION("soon after the report it may still be on its way out") {
    b.sack(-1, 0, 0b0110, 2, 11 * kUs);
    b.data(1, 30 * kUs, true);
    CHECK(b.broken(Rule::ReqRtxReported) == 0);
  }
  SECTION("32 us later it is not") {
    b.sack(-1, 0, 0b0110, 2, 11 * kUs);
    b.data(1, 60 * kUs, true);
    CHECK(b.broken(Rule::ReqRtxReported) == 1);
  }
  SECTION("the newest one is repeated as long as its ACK is missing") {
    b.sack(3, 3, 0, 0, 11 * kUs);
    b.data(3, 60 * kUs, true);
    CHECK(b.broken(Rule::ReqRtxReported) == 0);
    CHECK(b.broken(Rule::ReqRtxEvidence) == 0);
  }
  SECTION("what is not reported is") {
    b.sack(-1, 1, 0b0110, 2, 11 * kUs);
    b.data(0, 60 * kUs, true);
    CHECK(b.broken(Rule::ReqRtxReported) == 0);
    CHECK(b.ok(Rule::ReqRtxReported) == 1);
  }
}

TEST_CASE("a window that has shrunk holds from the latency on", "[reference.requestor]") {
  Bench b;
  b.qp.dynamic_mpr = true;
  b.start();
  for (uint32_t n = 0; n < 130; ++n) b.data(n, 10 * kUs + n * log::Time{1000});
  b.sack(9, 9, 0, 0, 11 * kUs, 1);  // from now on 9 + 128 = 137 at most
  b.data(137, 12 * kUs);
  b.data(138, 12 * kUs);
  CHECK(b.broken(Rule::ReqMprNow) == 0);  // the old one may hold: 9 + 256
  b.data(139, 60 * kUs);
  CHECK(b.broken(Rule::ReqMprNow) == 1);
  CHECK(b.ok(Rule::ReqMprNow) == 132);
  b.sack(8, 8, 0, 0, 61 * kUs, 2);  // overtaken: changes nothing
  b.data(140, 62 * kUs);
  CHECK(b.broken(Rule::ReqMprNow) == 2);
  b.sack(9, 9, 0, 0, 63 * kUs, 2);
  b.data(141, 64 * kUs);
  CHECK(b.broken(Rule::ReqMprNow) == 2);
}

TEST_CASE("what is lost is sent again in time", "[reference.requestor]") {
  for (const bool comes : {true, false}) {
    for (const bool by_nack : {true, false}) {
      Bench b;
      b.start();
      for (uint32_t n = 0; n < 12; ++n) b.data(n, 10 * kUs + n * log::Time{1000});
      const Rule rule = by_nack ? Rule::ReqNackAgain : Rule::ReqGapAgain;
      if (by_nack) {
        b.nack(3, 1, 11 * kUs);
      } else {
        b.sack(2, 9, 0b1111110, 6, 11 * kUs);
      }
      if (comes) b.data(3, 20 * kUs, true, 0x20000);
      b.sack(11, 11, 0, 0, 60 * kUs);
      b.end(70 * kUs);
      INFO((by_nack ? "NACK" : "gap") << (comes ? " comes" : " does not come"));
      CHECK(b.broken(rule) == (comes ? 0 : 1));
      CHECK(b.ok(rule) == (comes ? 1 : 0));
    }
  }
}

TEST_CASE("with a port down the planes that are left may have no EV in use", "[reference.requestor][A-66]") {
  // Its latency is 2 us.
  for (const log::Time sends : {log::Time{0}, 12 * kUs, 20 * kUs}) {
    CAPTURE(sends);
    const bool soon = sends == 12 * kUs;
    Bench b;
    b.profile.planes = 2;
    b.start();
    wire::Packet down = b.packet(wire::Opcode::EndpointRequest, true);
    down.bth->dqp = 2;
    down.erth->op = 0;
    down.erth->port_status_mask = 0b010;
    b.put(false, down, 5 * kUs);
    for (uint32_t n = 0; n < 12; ++n) b.data(n, 10 * kUs + n * log::Time{1000});
    b.nack(3, 1, 11 * kUs);
    if (sends != 0) b.data(12, sends);
    b.sack(11, 11, 0, 0, 60 * kUs);
    b.end(70 * kUs);
    CHECK(b.broken(Rule::ReqNackAgain) == (soon ? 1 : 0));
    CHECK(b.resting(Rule::ReqNackAgain) == (soon ? 0 : 1));
  }
}

TEST_CASE("nothing is owed where the NIC could not, or need not", "[reference.requestor]") {
  Bench b;
  SECTION("the port was busy") {
    b.start();
    b.data(0, 10 * kUs);
    b.nack(0, 1, 11 * kUs);
    // Frames of 40 us, one after the other.
    for (unsigned i = 0; i < 4; ++i) {
      log::Frame frame;
      frame.sent = true;
      wire::Packet none;
      b.until((12 + 40 * i) * kUs);
      frame.last = (52 + 40 * i) * kUs;
      b.judge->sent({frame, none, (12 + 40 * i) * kUs, frame.last});
    }
    b.data(0, 172 * kUs, true, 0x20000);
    b.end(173 * kUs);
  }
  SECTION("it was about an earlier transmission") {
    b.start();
    b.data(0, 10 * kUs);
    b.nack(0, 1, 11 * kUs);
    b.data(0, 12 * kUs, true, 0x20000);
    b.nack(0, 1, 13 * kUs);
    b.sack(0, 0, 0, 0, 60 * kUs);
    b.end(61 * kUs);
  }
  SECTION("it has arrived meanwhile") {
    b.start();
    b.data(0, 10 * kUs);
    b.nack(0, 1, 11 * kUs);
    b.sack(0, 0, 0, 0, 20 * kUs);
    b.end(100 * kUs);
  }
  SECTION("the QP has failed") {
    b.start();
    b.data(0, 10 * kUs);
    b.nack(0, 1, 11 * kUs);
    b.ack(0, 0x62, 20 * kUs);
    b.post(100, 21 * kUs);
    b.done(0, log::Status::RemoteAccess, 22 * kUs);
    b.end(900 * kUs);
  }
  CHECK(b.all() == 0);
}

TEST_CASE("a timer that is over leads to a retransmission or a probe", "[reference.requestor]") {
  Bench b;
  b.start();
  b.data(0, 10 * kUs);
  // Four intervals and 32 us: 97.5 us.
  SECTION("neither") {
    b.end(108 * kUs);
    CHECK(b.broken(Rule::ReqTimer) == 1);
  }
  SECTION("not yet") {
    b.end(107 * kUs);
    CHECK(b.broken(Rule::ReqTimer) == 0);
  }
  SECTION("a retransmission") {
    b.data(0, 30 * kUs, true);
    b.end(108 * kUs);
    CHECK(b.broken(Rule::ReqTimer) == 0);
    CHECK(b.ok(Rule::ReqTimer) == 1);
  }
  SECTION("a probe") {
    b.put(true, b.packet(wire::Opcode::ProbeRequest, false), 50 * kUs);
    b.end(108 * kUs);
    CHECK(b.broken(Rule::ReqTimer) == 0);
  }
  SECTION("two retries are allowed, the third is one too many") {
    b.data(0, 30 * kUs, true);
    b.data(0, 60 * kUs, true);
    CHECK(b.broken(Rule::ReqRetries) == 0);
    CHECK(b.ok(Rule::ReqRetries) == 2);
    b.data(0, 100 * kUs, true);
    CHECK(b.broken(Rule::ReqRetries) == 1);
  }
  SECTION("what was given to a port that is down is no retry, if the NIC knows it") {
    for (const bool waits : {false, true}) {
      Bench c;
      c.profile.planes = 2;
      c.profile.settings.port_wait = waits;
      c.start();
      c.data(0, 10 * kUs, false, 0, 1);
      c.data(0, 30 * kUs, true, 0, 1);
      wire::Packet down = c.packet(wire::Opcode::EndpointRequest, true);
      down.bth->dqp = 2;
      down.erth->op = 0;
      down.erth->port_status_mask = 0b010;
      c.put(false, down, 40 * kUs);
      for (const log::Time at : {50 * kUs, 70 * kUs, 100 * kUs}) c.data(0, at, true, 0, 0);
      CHECK(c.broken(Rule::ReqRetries) == (waits ? 2 : 1));
    }
  }
  SECTION("one that had its cause before the progress does not count, the next ones do") {
    b.data(1, 11 * kUs);
    b.sack(-1, 1, 0b10, 1, 12 * kUs);
    b.data(0, 13 * kUs, true);
    b.data(0, 35 * kUs, true);
    b.data(0, 60 * kUs, true);
    CHECK(b.broken(Rule::ReqRetries) == 0);
    b.data(0, 100 * kUs, true);
    CHECK(b.broken(Rule::ReqRetries) == 1);
  }
  SECTION("progress begins anew") {
    b.data(1, 11 * kUs);
    b.data(0, 30 * kUs, true);
    b.data(0, 60 * kUs, true);
    b.sack(-1, 1, 0b10, 1, 70 * kUs);
    b.data(0, 100 * kUs, true);
    CHECK(b.broken(Rule::ReqRetries) == 0);
  }
}

TEST_CASE("work may wait behind more than its device has room for", "[reference.requestor]") {
  for (const auto& [of_qp, of_all, works] :
       {std::tuple{0u, 0u, 2}, {1u, 0u, 1}, {1u, 0u, 2}, {0u, 2u, 2}, {0u, 2u, 3}}) {
    CAPTURE(of_qp, of_all, works);
    Bench b;
    b.profile.qp_works = of_qp;
    b.profile.all_works = of_all;
    b.start();
    for (int n = 0; n < works; ++n) b.post(100, 10 * kUs);
    b.end(60 * kUs);
    const bool crowded = (of_qp == 1 && works == 2) || works == 3;
    CHECK(b.broken(Rule::ReqMoves) == (crowded ? 0 : 1));
  }
}

TEST_CASE("work that is posted is sent", "[reference.requestor]") {
  for (const bool comes : {true, false}) {
    Bench b;
    b.start();
    b.post(100, 10 * kUs);
    if (comes) b.data(0, 20 * kUs);
    b.end(60 * kUs);
    CHECK(b.broken(Rule::ReqMoves) == (comes ? 0 : 1));
    CHECK(b.ok(Rule::ReqMoves) == (comes ? 1 : 0));
  }
  // Time in which the ports stand idle for the host's sake does not count, however quickly it answers each read.
  for (const bool read : {true, false}) {
    Bench b;
    b.start();
    b.post(100, 10 * kUs);
    for (log::Time at = 10 * kUs; at < 60 * kUs; at += kUs) {
      b.until(at);
      const auto tag = at / kUs;
      if (read) b.judge->host({log::HostOp::Read, 0x1000, 64, tag, 0, {}, 0}, at);
      b.until(at + kUs - 1);
      if (read) b.judge->host({log::HostOp::ReadDone, 0x1000, 64, tag, 0, {}, 0}, at + kUs - 1);
    }
    b.end(60 * kUs);
    CHECK(b.broken(Rule::ReqMoves) == (read ? 0 : 1));
  }
  Bench b;
  b.profile.settings.zero_length = kZeroNak;
  b.start();
  b.post(0, 10 * kUs);  // may be refused
  b.end(600 * kUs);
  CHECK(b.all() == 0);
}

TEST_CASE("what is confirmed completes, once the QP has failed everything does", "[reference.requestor]") {
  Bench b;
  b.start();
  b.post(100, 10 * kUs, 70);
  b.post(100, 10 * kUs, 71);
  b.data(0, 11 * kUs);
  b.data(1, 12 * kUs);
  SECTION("an ACK and no completion") {
    b.ack(1, 0x1F, 13 * kUs);
    b.done(70, log::Status::Ok, 14 * kUs);
    b.end(60 * kUs);
    CHECK(b.broken(Rule::ReqCqeOwed) == 1);
    CHECK(b.all() == 1);
  }
  SECTION("an ACK and both completions") {
    b.ack(1, 0x1F, 13 * kUs);
    b.done(70, log::Status::Ok, 14 * kUs);
    b.done(71, log::Status::Ok, 14 * kUs);
    b.end(60 * kUs);
    CHECK(b.ok(Rule::ReqCqeOwed) == 1);
    CHECK(b.all() == 0);
  }
  SECTION("a NAK and nothing") {
    b.ack(0, 0x62, 13 * kUs);
    b.end(60 * kUs);
    CHECK(b.broken(Rule::QpFails) == 1);
    CHECK(b.all() == 1);
  }
  SECTION("a NAK and one of two") {
    b.ack(0, 0x62, 13 * kUs);
    b.done(70, log::Status::RemoteAccess, 14 * kUs);
    b.end(60 * kUs);
    CHECK(b.ok(Rule::QpFails) == 1);
    CHECK(b.ok(Rule::QpStatus) == 1);
    CHECK(b.broken(Rule::QpFlushAll) == 1);
    CHECK(b.all() == 1);
  }
  SECTION("a NAK and both, but another code") {
    b.ack(0, 0x62, 13 * kUs);
    b.done(70, log::Status::RemoteInvalid, 14 * kUs);
    b.done(71, log::Status::Flushed, 14 * kUs);
    b.end(60 * kUs);
    CHECK(b.broken(Rule::QpStatus) == 1);
    CHECK(b.ok(Rule::QpFlushAll) == 1);
    CHECK(b.all() == 1);
  }
  SECTION("an error before all retries") {
    b.data(0, 30 * kUs, true);
    b.sack(-1, 1, 0b10, 1, 31 * kUs);
    b.done(70, log::Status::Retries, 60 * kUs);
    CHECK(b.broken(Rule::QpStatus) == 0);  // it was sent twice, 1 + 1 are allowed
  }
  SECTION("an error at once") {
    b.done(70, log::Status::Retries, 14 * kUs);
    CHECK(b.broken(Rule::QpStatus) == 1);
  }
  SECTION("an error after all timers, of a packet that waited for its data meanwhile") {
    b.sack(1, 1, 0, 0, 20 * kUs);
    b.data(2, 69 * kUs);
    b.done(71, log::Status::Retries, 70 * kUs);
    CHECK(b.broken(Rule::QpStatus) == 0);
  }
  SECTION("an error too early for all timers") {
    b.sack(1, 1, 0, 0, 20 * kUs);
    b.data(2, 30 * kUs);
    b.done(71, log::Status::Retries, 31 * kUs);
    CHECK(b.broken(Rule::QpStatus) == 1);
  }
  SECTION("an error when timers may have run out without a transmission") {
    b.done(70, log::Status::Retries, 60 * kUs);
    CHECK(b.broken(Rule::QpStatus) == 0);
    CHECK_FALSE(b.report.tally(Rule::QpStatus).rests.empty());
  }
}

TEST_CASE("who has replaced EVs may know a later packet of the same one", "[reference.requestor]") {
  for (const bool replaced : {true, false}) {
    Bench b;
    b.qp.evs = {ev_of(0), ev_of(1)};
    b.start();
    b.data(0, 10 * kUs);
    if (replaced) {
      b.qp.evs = {0x77770000, ev_of(1)};
      b.judge->qp(b.qp, 11 * kUs);
    }
    b.data(1, 12 * kUs);
    b.sack(-1, 1, 0b10, 1, 13 * kUs);
    b.data(0, 14 * kUs, true);
    CHECK(b.broken(Rule::ReqRtxEvidence) == (replaced ? 0 : 1));
  }
}

TEST_CASE("an EV may stay in use after a loss while half of the planes lose besides its own, if the NIC has that rule",
          "[reference.requestor][A-87]") {
  for (const uint32_t share : {0u, 4u}) {
    for (const unsigned others : {0u, 1u, 2u, 3u}) {
      for (const bool shown : {false, true}) {
        INFO(share << ": " << others << " other planes lose" << (shown ? ", as the device says" : ""));
        Bench b;
        b.profile.planes = 4;
        for (uint32_t n = 0; n < 16; ++n) {
          b.qp.evs.push_back(0x10000 + n);
          b.qp.ev_planes.push_back(n % 4);
        }
        b.profile.shows = uint64_t{1} << static_cast<unsigned>(log::EventKind::Path);
        b.profile.settings.loss_share = share;
        b.start();
        for (uint32_t n = 0; n < 4; ++n) b.data(n, 10 * kUs + n * log::Time{1000}, false, 0, n);
        for (uint32_t n = 0; n < others; ++n) {
          if (shown) {
            b.judge->event({log::EventKind::Path, b.qp.qp, {ev_of(n), 0, static_cast<uint64_t>(log::EvState::Bad), n}},
                           20 * kUs);
          } else {
            b.data(n, 30 * kUs, true, 0x1000F, 3);
          }
        }
        b.data(3, 32 * kUs, true, 0x1000E, 2);
        b.data(5, 70 * kUs, false, ev_of(3), 3);
        CHECK(b.broken(Rule::PathBlamed) == (share != 0 && others >= 2 ? 0 : 1));
      }
    }
  }
}

TEST_CASE("an EV whose packet was lost is left alone until a probe on it is answered", "[reference.requestor]") {
  Bench b;
  for (uint32_t n = 0; n < 16; ++n) b.qp.evs.push_back(0x10000 + n);
  b.profile.shows = uint64_t{1} << static_cast<unsigned>(log::EventKind::Path);
  b.profile.settings.probe_interval = 100;  // 12.8 us
  b.start();
  for (uint32_t n = 0; n < 4; ++n) b.data(n, 10 * kUs + n * log::Time{1000});
  SECTION("a timer") {
    b.data(3, 30 * kUs, true, 0x1000F);    // says that EV 3 has lost it
    b.data(4, 40 * kUs, false, ev_of(3));  // chosen before
    CHECK(b.broken(Rule::PathBlamed) == 0);
    b.data(5, 70 * kUs, false, ev_of(3));
    CHECK(b.broken(Rule::PathBlamed) == 1);
    b.data(6, 70 * kUs, false, ev_of(6));
    CHECK(b.broken(Rule::PathBlamed) == 1);
    SECTION("no probe") {
      b.judge->event({log::EventKind::Path, b.qp.qp, {ev_of(3), 0, static_cast<uint64_t>(log::EvState::Bad), 3}},
                     71 * kUs);
      b.end(200 * kUs);
      CHECK(b.broken(Rule::PathProbed) == 1);
    }
    SECTION("a probe that is answered") {
      wire::Packet probe = b.packet(wire::Opcode::ProbeRequest, false);
      probe.set_entropy(ev_of(3));
      b.put(true, probe, 80 * kUs);
      wire::Packet answer = b.packet(wire::Opcode::Sack, true);
      answer.seth->cack_psn = answer.bth->psn = kFirst;
      answer.seth->pr = 1;
      answer.seth->entropy = ev_of(3);
      b.put(false, answer, 90 * kUs);
      b.data(7, 91 * kUs, false, ev_of(3));
      b.end(200 * kUs);
      CHECK(b.broken(Rule::PathBlamed) == 1);
    }
    SECTION("the device says that it is in use again") {
      log::Event event;
      event.kind = log::EventKind::Path;
      event.qp = b.qp.qp;
      event.arg[0] = ev_of(3);
      b.judge->event(event, 90 * kUs);
      b.data(7, 91 * kUs, false, ev_of(3));
      CHECK(b.broken(Rule::PathBlamed) == 1);
    }
  }
  SECTION("so few are in use that it has to stay") {  // 8 of 16
    for (uint32_t n = 8; n < 16; ++n) {
      b.judge->event({log::EventKind::Path, b.qp.qp, {0x10000 + n, 0, static_cast<uint64_t>(log::EvState::Bad), n}},
                     15 * kUs);
    }
    b.data(3, 30 * kUs, true, ev_of(4));
    b.data(5, 70 * kUs, false, ev_of(3));
    CHECK(b.broken(Rule::PathBlamed) == 0);
  }
  SECTION("it was trimmed") {
    b.nack(3, 1, 11 * kUs);
    b.data(3, 30 * kUs, true, 0x1000F);
    b.data(5, 70 * kUs, false, ev_of(3));
    CHECK(b.broken(Rule::PathBlamed) == 0);
  }
}

TEST_CASE("planes are used alike", "[reference.requestor]") {
  for (const bool even : {true, false}) {
    Bench b;
    two_planes(b);
    sprays(b, 0, 10 * kUs, even);
    CHECK(b.ok(Rule::PathEqual) == (even ? 1 : 0));
    CHECK(b.broken(Rule::PathEqual) == (even ? 0 : 1));
  }
}

}  // namespace mrc::test::requestor_judge_test
