// SPDX-License-Identifier: Apache-2.0
/// For each rule of the requestor a life that keeps it and a change of it that breaks it.
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "tests/reference/requestor_life.hpp"

namespace mrc::test::requestor_rules_test {

using log::CcKind;
using log::EvState;

namespace {

using Bench = RequestorBench;
/// `wrong`: with the change.
using Life = std::function<void(Bench&, bool wrong)>;
using Lives = std::map<Rule, Life>;

Lives of_packets() {
  return {
      {Rule::ReqRtxEvidence,
       [](Bench& b, bool wrong) {
         twelve(b);
         if (!wrong) b.nack(3, 1, 11 * kUs);
         b.data(3, 12 * kUs, true);
       }},
      {Rule::ReqRtxReported,
       [](Bench& b, bool wrong) {
         twelve(b);
         b.sack(-1, 1, 0b0110, 2, 11 * kUs);
         b.data(wrong ? 1 : 0, 60 * kUs, true);
         b.end(61 * kUs);
       }},
      {Rule::ReqMprNow,
       [](Bench& b, bool wrong) {
         b.qp.dynamic_mpr = true;
         twelve(b);
         b.sack(9, 9, 0, 0, 11 * kUs, 1);
         b.data(wrong ? 138 : 137, 60 * kUs);
       }},
      {Rule::ReqRetries,
       [](Bench& b, bool wrong) {
         b.start();
         b.data(0, 10 * kUs);
         b.data(0, 30 * kUs, true);
         b.data(0, 60 * kUs, true);
         if (wrong) b.data(0, 100 * kUs, true);
       }},
      {Rule::ReqNackAgain,
       [](Bench& b, bool wrong) {
         twelve(b);
         b.nack(3, 1, 11 * kUs);
         if (!wrong) b.data(3, 20 * kUs, true, 0x20000);
         b.sack(11, 11, 0, 0, 60 * kUs);
         b.end(70 * kUs);
       }},
      {Rule::ReqGapAgain,
       [](Bench& b, bool wrong) {
         twelve(b);
         b.sack(2, 9, 0b1111110, 6, 11 * kUs);
         if (!wrong) b.data(3, 20 * kUs, true, 0x20000);
         b.sack(11, 11, 0, 0, 60 * kUs);
         b.end(70 * kUs);
       }},
      {Rule::ReqTimeAgain,
       [](Bench& b, bool wrong) {
         b.profile.settings.loss_time = b.profile.settings.loss_again = true;
         b.qp.timeout = 10;  // 1.05 ms
         b.qp.time_stamps = true;
         b.start();
         const auto sent = [&b](uint32_t n, log::Time at, bool again) {
           wire::Packet p = b.packet(wire::Opcode::WriteOnly, false, true);
           p.bth->psn = (kFirst + n) & 0xFFFFFF;
           p.bth->rtx = again ? 1 : 0;
           p.reth->dma_length = 100;
           p.payload.assign(100, 0x5a);
           p.tseth->tx_timestamp16 = static_cast<uint16_t>(at / kTick);
           p.set_entropy(again ? 0x20000 : ev_of(n));
           b.put(true, p, at);
         };
         sent(0, 10 * kUs, false);
         sent(1, 90 * kUs, false);
         wire::Packet p = b.packet(wire::Opcode::Sack, true);
         p.seth->cack_psn = p.bth->psn = (kFirst - 1) & 0xFFFFFF;
         p.seth->ack_psn_offset = 2;
         p.seth->sack_offset = 1;
         p.seth->sack_bitmap = 0b10;
         p.seth->entropy = ev_of(1);
         p.cc_state->ooo_count = 1;
         p.cc_state->tx_timestamp16 = static_cast<uint16_t>(90 * kUs / kTick);
         b.put(false, p, 93 * kUs);
         if (!wrong) sent(0, 103 * kUs, true);
         b.sack(1, 1, 0, 0, 180 * kUs);
         b.end(190 * kUs);
       }},
      {Rule::ReqTimer,
       [](Bench& b, bool wrong) {
         b.start();
         b.data(0, 10 * kUs);
         if (!wrong) b.data(0, 30 * kUs, true);
         b.end(108 * kUs);
       }},
      {Rule::ReqMoves,
       [](Bench& b, bool wrong) {
         b.start();
         b.post(100, 10 * kUs);
         if (!wrong) b.data(0, 20 * kUs);
         b.end(60 * kUs);
       }},
      {Rule::ReqAsks,
       [](Bench& b, bool wrong) {
         b.qp.timeout = 6;  // 65.536 us: three quarters and 32 us are 81.2 us
         b.start();
         b.data(0, 10 * kUs);
         if (!wrong) probe(b, 0x10001, 0xFFFE, 30 * kUs);
         b.end(95 * kUs);
       }},
      {Rule::ReqAsksOnce,
       [](Bench& b, bool wrong) {
         b.start();
         b.data(0, 10 * kUs);
         probe(b, 0x10001, 0xFFFE, 50 * kUs);
         if (!wrong) b.sack(-1, 0, 0, 0, 55 * kUs);
         probe(b, 0x10001, 0xFFFE, 60 * kUs);
       }},
      {Rule::ReqCqeOwed,
       [](Bench& b, bool wrong) {
         b.start();
         b.post(100, 10 * kUs, 70);
         b.data(0, 11 * kUs);
         b.ack(0, 0x1F, 13 * kUs);
         if (!wrong) b.done(70, log::Status::Ok, 14 * kUs);
         b.end(60 * kUs);
       }},
      {Rule::QpFails,
       [](Bench& b, bool wrong) {
         b.start();
         b.post(100, 10 * kUs, 70);
         b.data(0, 11 * kUs);
         b.ack(0, 0x62, 13 * kUs);
         if (!wrong) b.done(70, log::Status::RemoteAccess, 14 * kUs);
         b.end(60 * kUs);
       }},
      {Rule::QpFlushAll,
       [](Bench& b, bool wrong) {
         b.start();
         b.post(100, 10 * kUs, 70);
         b.post(100, 10 * kUs, 71);
         b.data(0, 11 * kUs);
         b.ack(0, 0x62, 13 * kUs);
         b.done(70, log::Status::RemoteAccess, 14 * kUs);
         if (!wrong) b.done(71, log::Status::Flushed, 15 * kUs);
         b.end(60 * kUs);
       }},
      {Rule::QpStatus,
       [](Bench& b, bool wrong) {
         b.start();
         b.post(100, 10 * kUs, 70);
         b.data(0, 11 * kUs);
         b.ack(0, 0x62, 13 * kUs);
         b.done(70, wrong ? log::Status::RemoteInvalid : log::Status::RemoteAccess, 14 * kUs);
         b.end(60 * kUs);
       }},
  };
}

Lives of_paths() {
  return {
      {Rule::PathBlamed,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         loses(b);
         b.data(5, 200 * kUs, false, wrong ? 0x10000 : 0x10003);
       }},
      {Rule::PathProbed,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         loses(b);
         goes(b, 0, EvState::Good, EvState::Bad, 136 * kUs);
         if (!wrong) probe(b, 0x10000, 1, 150 * kUs);
         b.end(400 * kUs);
       }},
      {Rule::PathEqual,
       [](Bench& b, bool wrong) {
         two_planes(b);
         sprays(b, 0, 10 * kUs, !wrong);
       }},
      {Rule::PathStates,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         mark(b, 0, 1, 110 * kUs);
         goes(b, 0, wrong ? EvState::Bad : EvState::Good, EvState::Skip, 111 * kUs);
       }},
      {Rule::PathSkip,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         mark(b, 0, wrong ? 0 : 1, 110 * kUs);
         goes(b, 0, EvState::Good, EvState::Skip, 111 * kUs);
       }},
      {Rule::PathMarked,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         mark(b, 0, 1, 110 * kUs);
         if (!wrong) goes(b, 0, EvState::Good, EvState::Skip, 111 * kUs);
         b.end(200 * kUs);
       }},
      {Rule::PathUsed,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         mark(b, 0, 1, 110 * kUs);
         goes(b, 0, EvState::Good, EvState::Skip, 111 * kUs);
         if (!wrong) goes(b, 0, EvState::Skip, EvState::Good, 150 * kUs);
         b.data(8, 151 * kUs);
       }},
      {Rule::PathDenied,
       [](Bench& b, bool wrong) {
         has_evs(b);
         owner(b, {0}, false, 10 * kUs);
         b.data(wrong ? 8 : 9, 60 * kUs);
       }},
      {Rule::PathAllowed,
       [](Bench& b, bool wrong) {
         has_evs(b);
         owner(b, {0}, false, 10 * kUs);
         owner(b, {}, false, 20 * kUs);
         uses_others(b, 16 * 8 - 1, 21 * kUs);
         b.data(127, 40 * kUs, false, wrong ? 0x10001 : 0x10000);
       }},
      {Rule::PathBad,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         if (!wrong) loses(b);
         const log::Time at = (wrong ? 104 : 136) * kUs;  // half of the timer's interval is not over
         goes(b, 6, EvState::Backup, EvState::Good, at);
         goes(b, 0, EvState::Good, EvState::Bad, at);
         if (wrong) b.until(300 * kUs);
       }},
      {Rule::PathReplaced,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         loses(b);
         goes(b, wrong ? 7 : 6, EvState::Backup, EvState::Good, 136 * kUs);
         goes(b, 0, EvState::Good, EvState::Bad, 136 * kUs);
       }},
      {Rule::PathFloor,
       [](Bench& b, bool wrong) {
         shows_evs(b, 0);  // eight in use, of which one or five may go bad
         const unsigned n = wrong ? 5 : 1;
         for (unsigned i = 0; i < n; ++i) mark(b, i, 2, (140 + i) * kUs);
         for (unsigned i = 0; i < n; ++i) goes(b, i, EvState::Good, EvState::Bad, 145 * kUs);
       }},
      {Rule::PathRevived,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         loses(b);
         goes(b, 0, EvState::Good, EvState::Bad, 136 * kUs);
         for (unsigned i = 0; i < (wrong ? 1u : 2u); ++i) {
           probe(b, 0x10000, static_cast<uint16_t>(i), (150 + 20 * i) * kUs);
           answer(b, 0x10000, (151 + 20 * i) * kUs);
         }
         goes(b, 0, EvState::Bad, EvState::Good, 180 * kUs);
       }},
      {Rule::PathRevivedAs,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         loses(b);
         goes(b, 0, EvState::Good, EvState::Bad, 136 * kUs);
         for (unsigned i = 0; i < 2; ++i) {
           probe(b, 0x10000, static_cast<uint16_t>(i), (150 + 20 * i) * kUs);
           answer(b, 0x10000, (151 + 20 * i) * kUs);
         }
         goes(b, 0, EvState::Bad, wrong ? EvState::Skip : EvState::Good, 180 * kUs);
       }},
      {Rule::PathSkipTime,
       [](Bench& b, bool wrong) {
         b.profile.settings.skip_mode = kSkipModeTime;
         b.profile.settings.skip_ticks = 100;  // 12.8 us
         shows_evs(b);
         mark(b, 0, 1, 110 * kUs);
         goes(b, 0, EvState::Good, EvState::Skip, 111 * kUs);
         goes(b, 0, EvState::Skip, EvState::Good, (wrong ? 123 : 124) * kUs);
       }},
      {Rule::PathProbeGap,
       [](Bench& b, bool wrong) {
         shows_evs(b);
         loses(b);
         goes(b, 0, EvState::Good, EvState::Bad, 136 * kUs);
         probe(b, 0x10000, 1, (wrong ? 140 : 150) * kUs);
       }},
      {Rule::PeerUpdate,
       [](Bench& b, bool wrong) {
         two_ports(b);
         if (!wrong) update(b, 1, 105 * kUs);
         if (!wrong) update_answered(b, 1, 106 * kUs);
         b.end(200 * kUs);
       }},
      {Rule::PeerRepeat,
       [](Bench& b, bool wrong) {
         two_ports(b);
         update(b, 1, 105 * kUs);
         if (!wrong) update(b, 2, 145 * kUs);
         if (!wrong) update_answered(b, 2, 146 * kUs);
         b.end(200 * kUs);
       }},
      {Rule::PeerRepeats,
       [](Bench& b, bool wrong) {
         two_ports(b);
         update(b, 1, 135 * kUs);
         update(b, 2, (wrong ? 138 : 150) * kUs);
         update_answered(b, 2, 151 * kUs);
         b.end(200 * kUs);
       }},
  };
}

Lives of_controllers() {
  return {
      {Rule::CcStart,
       [](Bench& b, bool wrong) {
         controlled(b);
         notified(b, {.kind = CcKind::Begins}, 0, wrong ? 16000 : 24000, kUs);
       }},
      {Rule::CcAck,
       // A delay of 6 ticks, above the target of 5: fair increase, fi x bytes; then inc / cwnd = 100 x 1000 / 20000 = 5
       // and eta = 50.
       [](Bench& b, bool wrong) {
         begins(b);
         notified(b, {.kind = CcKind::Granted}, 5000, 0, 2 * kUs);
         notified(b, {.kind = CcKind::Loss}, 4000, 20000, 2 * kUs + 1);
         const log::Time at = exchange(b, 10, 3 * kUs);
         notified(b, {.kind = CcKind::Ack}, 1000, wrong ? 20000 : 20055, at, kPeriod + 6 * kTick);
       }},
      {Rule::CcPenalty,
       [](Bench& b, bool wrong) {
         begins(b);
         notified(b, {.kind = CcKind::Granted}, 10000, 0, 2 * kUs);
         const log::Time at = exchange(b, 10, 3 * kUs, 0, 64);
         // 10000 bytes are in flight afterwards, and half of the 1000 new ones is taken off.
         notified(b, {.kind = CcKind::Ack, .pen = 64}, 1000, wrong ? 23500 : 9500, at);
       }},
      {Rule::CcNack,
       [](Bench& b, bool wrong) {
         begins(b);
         notified(b, {.kind = CcKind::Granted}, 5000, 0, 2 * kUs);
         notified(b, {.kind = CcKind::Nack, .reason = 1}, 1000, wrong ? 24000 : 23000, 3 * kUs);
       }},
      {Rule::CcLoss,
       [](Bench& b, bool wrong) {
         begins(b);
         notified(b, {.kind = CcKind::Granted}, 5000, 0, 2 * kUs);
         notified(b, {.kind = CcKind::Loss}, 1000, wrong ? 12000 : 23000, 3 * kUs);
       }},
      {Rule::CcGrant,
       [](Bench& b, bool wrong) {
         begins(b);
         notified(b, {.kind = CcKind::Granted}, wrong ? 25001 : 25000, 0, 2 * kUs);
       }},
      {Rule::CcSent,
       [](Bench& b, bool wrong) {
         begins(b);
         notified(b, {.kind = CcKind::Granted}, wrong ? 99 : 100, 0, 2 * kUs);
         b.data(0, 2 * kUs);
       }},
      {Rule::CcHeard,
       [](Bench& b, bool wrong) {
         begins(b);
         const log::Time at = exchange(b, 10, 3 * kUs, wrong ? 0 : 1);
         notified(b, {.kind = CcKind::Ack, .marked = true}, 1000, 24000, at);
       }},
      {Rule::CcRtt,
       [](Bench& b, bool wrong) {
         begins(b);
         const log::Time at = exchange(b, 10, 3 * kUs);
         notified(b, {.kind = CcKind::Ack}, 1000, 24000, at, wrong ? kPeriod - 3 * kTick : kPeriod);
       }},
      {Rule::CcBytes,
       [](Bench& b, bool wrong) {
         begins(b);
         const log::Time at = exchange(b, 10, 3 * kUs);
         notified(b, {.kind = CcKind::Ack}, wrong ? 1281 : 1280, 24000, at);
       }},
  };
}

const Lives& lives() {
  static const Lives all = [] {
    Lives made = of_packets();
    made.merge(of_paths());
    made.merge(of_controllers());
    return made;
  }();
  return all;
}

}  // namespace

TEST_CASE("each rule of the requestor has a life that keeps it and one that breaks it", "[reference.requestor]") {
  for (std::size_t i = 0; i < kNumRules; ++i) {
    if (std::string(kRules[i].part) != "requestor") continue;
    INFO(kRules[i].id);
    const auto life = lives().find(static_cast<Rule>(i));
    REQUIRE(life != lives().end());
    for (const bool wrong : {false, true}) {
      INFO((wrong ? "broken" : "kept"));
      Bench b;
      life->second(b, wrong);
      std::string found;
      for (const Finding& f : b.report.findings()) {
        found += std::string(info(f.rule).id) + ": " + f.came + "; right: " + f.right + "\n";
      }
      INFO(found);
      CHECK((b.broken(life->first) != 0) == wrong);
      if (!wrong) CHECK(b.ok(life->first) != 0);
    }
  }
}

}  // namespace mrc::test::requestor_rules_test
