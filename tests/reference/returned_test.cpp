// SPDX-License-Identifier: Apache-2.0
/// Packets of the device's own that a switch has trimmed and sent back. The peer's QP has the number of one of
/// the device's, so that they look like a trimmed packet of the peer's.
#include <catch2/catch_test_macros.hpp>
#include <tuple>

#include "tests/reference/tale.hpp"

namespace mrc::test::returned_test {

using ref::Rule;

namespace {

enum class Switch {
  Leaves,     ///< the addresses as they are
  Exchanges,  ///< source and destination: nothing tells it from a peer's packet
  Marks,      ///< the same, with a code point of its own
};

constexpr uint8_t kReturned = 11;

ref::Profile device(uint32_t returned, bool code_point) {
  ref::Profile profile = life_profile();
  profile.settings.returned = returned;
  profile.settings.returned_valid = code_point;
  profile.settings.dscp_returned = kReturned;
  return profile;
}

log::Qp twin() {
  log::Qp qp = life_qp();
  qp.peer_qp = kQp;
  return qp;
}

/// PSN 0 of the device, as it comes back.
wire::Packet back(Switch how, bool again = false) {
  wire::Packet p = Tale::write(true, 0, 0, again);
  p.bth->dqp = kQp;
  if (how != Switch::Leaves) std::swap(p.ipv6->src, p.ipv6->dst);
  p.ipv6->dscp = how == Switch::Marks ? kReturned : 12;
  p.payload.resize(20);
  return p;
}

wire::Packet sends(uint32_t n, uint32_t ev_number, bool again = false) {
  wire::Packet p = Tale::write(true, n, ev_number, again);
  p.bth->dqp = kQp;
  return p;
}

wire::Packet nack() {
  wire::Packet p = Tale::packet(wire::Opcode::Nack, true, kSqPsn);
  p.bth->dqp = kQp;
  p.neth->nack_psn = kSqPsn;
  p.neth->reason = 1;
  p.neth->cc_type = 2;
  p.neth->entropy = ev(0);
  p.neth->spdcid = p.neth->dpdcid = kQp;
  return p;
}

wire::Packet sack() {
  wire::Packet p = Tale::packet(wire::Opcode::Sack, true, kRqPsn - 1);
  p.bth->dqp = kQp;
  p.seth->cack_psn = kRqPsn - 1;
  p.seth->pr = 1;
  p.seth->ack_psn_offset = -1;
  p.seth->entropy = ev(0);
  p.seth->spdcid = p.seth->dpdcid = kQp;
  return p;
}

}  // namespace

TEST_CASE("what came back is answered with nothing", "[reference][history][A-80]") {
  for (const auto& [how, returned, answered, wrong] : {
           std::tuple{Switch::Leaves, ref::kDropReturned, false, ""},
           {Switch::Leaves, ref::kDropReturned, true, "resp.returned resp.returned "},
           {Switch::Leaves, ref::kLearnReturned, true, "resp.returned resp.returned "},
           {Switch::Leaves, ref::kNotDistinct, true, ""},
           {Switch::Marks, ref::kDropReturned, false, ""},
           {Switch::Marks, ref::kDropReturned, true, "resp.returned resp.returned "},
           {Switch::Exchanges, ref::kDropReturned, true, ""},
       }) {
    CAPTURE(static_cast<int>(how), returned, answered);
    log::Qp qp = twin();
    qp.rq_psn = kSqPsn;  // the PSN fits its window
    Tale tale(qp, device(returned, how == Switch::Marks));
    tale.frame(true, 0, sends(0, 0));
    tale.frame(false, 0, back(how));
    if (answered) {
      tale.frame(true, 0, nack());
      wire::Packet besides = sack();
      besides.bth->psn = besides.seth->cack_psn = kSqPsn - 1;
      tale.frame(true, 0, besides);
    }
    CHECK(tale.wrong() == wrong);
    if (!answered) CHECK(tale.checked(Rule::RespReturned) == 1);
  }
}

TEST_CASE("where no address is told, nothing is said of what came back", "[reference][history][A-80]") {
  log::Qp qp = twin();
  qp.rq_psn = kSqPsn;
  qp.own_ip = {};
  for (const bool answered : {true, false}) {
    Tale tale(qp, device(ref::kDropReturned, false));
    tale.frame(true, 0, sends(0, 0));
    tale.frame(false, 0, back(Switch::Leaves));
    if (answered) tale.frame(true, 0, nack());
    CHECK(tale.wrong().empty());
    CHECK(tale.rests(Rule::RespReturned) == 1);
  }
}

TEST_CASE("a peer's packet of the same number is answered, whatever came back", "[reference][history][A-80]") {
  log::Qp qp = twin();
  qp.rq_psn = kSqPsn;
  Tale tale(qp, device(ref::kDropReturned, false));
  tale.frame(true, 0, sends(0, 0));
  tale.frame(false, 0, back(Switch::Leaves));
  wire::Packet peers = back(Switch::Leaves);
  std::swap(peers.ipv6->src, peers.ipv6->dst);
  tale.frame(false, 1, peers);
  tale.frame(true, 0, nack());
  wire::Packet besides = sack();
  besides.bth->psn = besides.seth->cack_psn = kSqPsn - 1;
  tale.frame(true, 0, besides);
  CHECK(tale.wrong().empty());
}

namespace {

wire::Packet stamped(wire::Packet p, uint16_t at) {
  p.bth->ts = 1;
  p.tseth.emplace();
  p.tseth->tx_timestamp16 = at;
  p.tseth->ftype = 1;
  return p;
}

/// One about PSN 0 of the peer's, or the device's own.
wire::Packet answer(bool negative, uint32_t entropy, uint16_t stamp) {
  wire::Packet p = negative ? nack() : sack();
  if (negative) {
    p.neth->entropy = entropy;
    p.neth->tx_timestamp16 = stamp;
  } else {
    p.bth->psn = p.seth->cack_psn = kSqPsn;
    p.seth->pr = 0;
    p.seth->ack_psn_offset = 0;
    p.seth->entropy = entropy;
    p.cc_state->tx_timestamp16 = stamp;
  }
  return p;
}

}  // namespace

TEST_CASE("an answer to a packet of the device's own that came back before it was captured rests",
          "[reference][history][A-80]") {
  struct Case {
    uint32_t entropy;
    uint16_t stamp;
    bool twin, comes_back, rests, moved = false;
  };
  enum class Answer { Sack, NackTrimmed, NackOther };
  for (const Answer kind : {Answer::Sack, Answer::NackTrimmed, Answer::NackOther}) {
    for (const auto& [entropy, time, twins, comes_back, rests, moved] : {
             Case{ev(5), 30, true, false, true},        // neither EV nor time stamp is the peer's
             Case{ev(5), 20, true, false, false},       // a peer's packet is answered, with another EV
             Case{ev(5), 20, true, true, true},         // by chance, where packets come back
             Case{ev(3), 30, true, false, false},       // the EV of the peer's next packet
             Case{ev(5), 21, true, false, true, true},  // time stamps seem moved: the stamp shows nothing
             Case{ev(5), 30, false, false, false},      // no packet of its own looks like one to this QP
         }) {
      CAPTURE(static_cast<int>(kind), entropy, time, twins, comes_back);
      log::Qp qp = twins ? twin() : life_qp();
      qp.rq_psn = kSqPsn;
      qp.flags = log::kSeenWhole;
      qp.svc_time = moved;
      Tale tale = Tale::captured(qp);
      const auto goes = [&, twins = twins](wire::Packet p) {
        if (!twins) p.bth->dqp = kPeerQp;
        tale.frame(true, 0, p);
      };
      goes(stamped(sends(0, 0), 30));
      for (const uint32_t n : {0u, 1u}) {
        wire::Packet peers = Tale::write(false, n, 1 + 2 * n);
        peers.bth->psn = kSqPsn + n;
        tale.frame(false, 1, stamped(peers, 20));
      }
      if (comes_back) tale.frame(false, 0, stamped(back(Switch::Exchanges), 30));
      wire::Packet notified = answer(kind != Answer::Sack, entropy, time);
      if (kind == Answer::NackOther) notified.neth->reason = static_cast<uint8_t>(wire::NackReason::NoPktBuffer);
      goes(notified);
      // What comes back is trimmed. A NACK of another reason has to have another sign beside it.
      CHECK(tale.broken(Rule::RespEntropy) == (rests && (kind != Answer::NackOther || comes_back) ? 0 : 1));
    }
  }
}

TEST_CASE("a NACK that names an EV of another QP's packets may answer what came back", "[reference][history][A-80]") {
  for (const bool others : {true, false}) {
    log::Qp qp = twin();
    qp.rq_psn = kSqPsn;
    qp.flags = log::kSeenWhole;
    Tale tale = Tale::captured(qp);
    qp.qp = qp.peer_qp = kQp + 1;
    qp.flags |= log::kInferred;
    qp.state = log::QpState::Rts;
    tale.push(qp);
    wire::Packet second = sends(0, others ? 5 : 6);
    second.bth->dqp = kQp + 1;
    tale.frame(true, 0, second);
    tale.frame(true, 0, sends(0, 0));
    wire::Packet peers = Tale::write(false, 0, 1);
    peers.bth->psn = kSqPsn;
    tale.frame(false, 1, peers);
    tale.frame(true, 0, answer(true, ev(5), 0));  // without time stamps its EV alone tells
    CHECK(tale.broken(Rule::RespEntropy) == (others ? 0 : 1));
  }
}

TEST_CASE("a packet that came back with all its bytes has the switch's code point", "[reference][history][A-80]") {
  const auto classed = [](uint32_t n, uint8_t dscp, bool again = false) {
    wire::Packet p = sends(n, n, again);
    p.ipv6->dscp = dscp;
    return p;
  };
  constexpr uint8_t kSwitchs = 20;
  for (const bool not_before : {false, true}) {
    Tale tale = Tale::captured(twin());
    tale.frame(false, 0, Tale::write(false, 0, 1));
    for (const uint32_t n : {0u, 1u, 2u}) tale.frame(true, 0, classed(n, 4));
    tale.frame(true, 0, classed(1, kSwitchs));
    for (const uint32_t n : {0u, 1u}) tale.frame(true, 0, classed(n, 8, true));
    tale.frame(true, 0, classed(1, kSwitchs, true));
    if (not_before) {
      tale.frame(true, 0, classed(3, kSwitchs));
      tale.frame(true, 0, classed(2, kSwitchs, true));
    }
    CHECK(tale.broken(Rule::WireClass) == (not_before ? 2 : 0));
    CHECK(tale.rests(Rule::WireClass) == 2);
  }
  // The first packet of a capture may be the one that came back, and show the wrong one.
  for (const bool later : {false, true}) {
    Tale tale = Tale::captured(twin());
    tale.frame(false, 0, Tale::write(false, 0, 1));
    tale.frame(true, 0, classed(0, kSwitchs));
    for (const uint32_t n : {1u, 2u}) tale.frame(true, 0, classed(n, 4));
    if (later) tale.frame(true, 0, classed(3, kSwitchs));
    CHECK(tale.broken(Rule::WireClass) == (later ? 1 : 0));
  }
}

TEST_CASE("a device that learns of what came back sends it again at once, another has no cause",
          "[reference][history][A-80]") {
  for (const uint32_t returned : {ref::kDropReturned, ref::kLearnReturned, ref::kNotDistinct}) {
    for (const Switch how : {Switch::Leaves, Switch::Marks}) {
      CAPTURE(returned, static_cast<int>(how));
      Tale tale(twin(), device(returned, true));
      tale.frame(true, 0, sends(0, 0));
      tale.frame(false, 0, back(how));
      tale.frame(true, 1, sends(0, 3, true));
      CHECK((tale.wrong().find("req.rtx-cause") == std::string::npos) == (returned == ref::kLearnReturned));
    }
  }
}

TEST_CASE("what came back late says nothing of the packet that was sent again", "[reference][history][A-80]") {
  for (const bool again : {true, false}) {
    Tale tale(twin(), device(ref::kLearnReturned, false));
    tale.frame(true, 0, sends(0, 0));
    tale.frame(false, 0, back(Switch::Leaves));
    tale.frame(true, 1, sends(0, 3, true));
    tale.frame(false, 0, back(Switch::Leaves, again));  // of the newest transmission, or another copy of the first
    tale.frame(true, 0, sends(0, 4, true));
    CHECK(tale.broken(Rule::ReqRtxCause) == (again ? 0 : 1));
  }
}

TEST_CASE("what came back may go again twice at once, on a third plane", "[reference][history][A-80][A-89]") {
  struct Case {
    unsigned plane;
    log::Time behind;
    bool thrice, right;
  };
  for (const Case& c : {Case{2, 0, false, true}, Case{2, 0, true, false}, Case{0, 0, false, false},
                        Case{1, 0, false, false}, Case{2, 20 * kUs, false, false}}) {
    CAPTURE(c.plane, c.behind, c.thrice);
    ref::Profile profile = device(ref::kLearnReturned, false);
    profile.planes = 4;
    Tale tale(twin(), profile);
    tale.frame(true, 0, sends(0, 0));
    tale.frame(false, 0, back(Switch::Leaves));
    tale.frame(true, 1, sends(0, 3, true));
    tale.waits(c.behind);
    tale.frame(true, c.plane, sends(0, 4, true));
    if (c.thrice) tale.frame(true, 3, sends(0, 5, true));
    CHECK(tale.broken(Rule::ReqRtxCause) == (c.right ? 0 : 1));
  }
}

TEST_CASE("each packet that came back counts once, and no other does", "[reference.responder][A-80]") {
  for (const auto& [counted, right] : {std::pair{0u, false}, {1u, false}, {2u, true}, {3u, false}}) {
    ref::Profile profile = device(ref::kDropReturned, true);
    profile.silent_drops = false;
    Tale tale(twin(), profile);
    tale.frame(false, 0, back(Switch::Leaves));
    tale.frame(false, 0, back(Switch::Marks));
    tale.waits(100 * kUs);
    tale.push(log::Counter{"returned", counted});
    CHECK(tale.wrong() == (right ? "" : "resp.returned-count "));
  }
  // The last one may not be counted yet; and frames may have been discarded for want of room.
  for (const auto& [wait, drops, right] :
       {std::tuple{log::Time{0}, 0u, true}, {100 * kUs, 0u, false}, {100 * kUs, 1u, true}}) {
    ref::Profile profile = device(ref::kDropReturned, true);
    Tale tale(twin(), profile);
    tale.frame(false, 0, back(Switch::Leaves));
    tale.waits(wait);
    tale.push(log::Counter{"returned", 0});
    tale.push(log::Counter{"silent_drops", drops});
    CHECK(tale.wrong() == (right ? "" : "resp.returned-count "));
  }
}

}  // namespace mrc::test::returned_test
