// SPDX-License-Identifier: Apache-2.0
#include "log/conversations.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>

#include "wire/packet.hpp"

namespace mrc::test::conversations_test {

using log::Conversations;
using log::Ip;

namespace {

constexpr Ip kOne{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
    kTwo{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
constexpr uint32_t kQp = 0x11, kPeerQp = 0x22, kPsn = 100;
constexpr log::Time kUs = 1'000'000;
constexpr const char* kAnew = "the QP was set up anew within the capture";

wire::Packet packet_of(wire::Opcode opcode, const Ip& from, const Ip& to, uint32_t dqp, uint32_t psn, uint32_t ev) {
  wire::Packet p = wire::make_packet(opcode, wire::Encapsulation::Ipv6);
  p.ipv6->src = from;
  p.ipv6->dst = to;
  p.bth->dqp = dqp;
  p.bth->psn = psn;
  p.bth->p_key = 0x8001;
  p.set_entropy(ev);
  if (p.reth) p.payload.assign(1024, 0);
  wire::complete(p);
  p.dscp_class = wire::DscpClass::Trimmable;
  return p;
}

/// QP 0x11 of kOne sends `count` packets to QP 0x22 of kTwo, each of which is answered.
struct Talk {
  uint32_t from = kPsn, count = 200;
  bool every_second = false;  ///< packets that the capture has: of one plane of two
  bool answers = true;
  uint32_t peer = kPeerQp;
  log::Time begin = 0;  ///< a packet and its answer in a microsecond
  log::Time end() const { return begin + kUs * count; }
  void report(Conversations& c) const {
    for (uint32_t psn = from; psn < from + count; ++psn) {
      if (every_second && psn % 2 != 0) continue;
      const log::CapturedAt at{.time = begin + kUs * (psn - from)};
      // Each QP has entropy values of its own: the answers of two are not mixed up.
      const uint32_t entropy = 0x1000 + psn + 0x100000 * (peer - kPeerQp);
      c.packet(packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, peer, psn, entropy), {}, at);
      if (!answers) continue;
      wire::Packet sack = packet_of(wire::Opcode::Sack, kTwo, kOne, kQp, psn, 7);
      sack.seth->cack_psn = psn;
      sack.seth->entropy = entropy;
      sack.seth->spdcid = static_cast<uint16_t>(peer);
      sack.seth->dpdcid = kQp;
      c.packet(sack, {}, at);
    }
  }
};

log::Qp only(const Conversations& c, const Ip& own) {
  const auto qps = c.qps(std::span(&own, 1));
  REQUIRE(qps.size() == 1);
  CHECK(qps.front().time == 0);
  return qps.front().qp;
}

}  // namespace

TEST_CASE("two flows that name each other are a conversation, seen whole", "[log][conversations]") {
  Conversations c;
  Talk{}.report(c);
  const log::Qp one = only(c, kOne), two = only(c, kTwo);
  CHECK(one.qp == kQp);
  CHECK(one.peer_qp == kPeerQp);
  CHECK(one.mtu == 1024);
  CHECK(one.pkey == 0x8001);
  CHECK(one.own_ip == kOne);
  CHECK(one.peer_ip == kTwo);
  CHECK(one.sq_psn == kPsn);
  CHECK(two.qp == kPeerQp);
  CHECK(two.peer_qp == kQp);
  CHECK(two.rq_psn == kPsn);
  CHECK((two.flags & log::kSeenWhole) != 0);
}

TEST_CASE("each fact about a way of data has the packets that it stands on", "[log][conversations]") {
  Conversations c;
  uint64_t number = 0;
  for (uint32_t psn = kPsn; psn < kPsn + 40; ++psn) {
    wire::Packet data = packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kPeerQp, psn, 0x1000 + psn);
    data.meth->msn = static_cast<uint16_t>(0xFFFF + (psn - kPsn) / 20);
    const uint8_t plane = psn % 4 == 0 ? 1 : 0;
    c.packet(data, {}, {0, ++number, plane});
    wire::Packet sack = packet_of(wire::Opcode::Sack, kTwo, kOne, kQp, psn, 7);
    sack.seth->cack_psn = psn;
    sack.seth->entropy = 0x1000 + psn;
    sack.seth->mpr = psn == kPsn + 7 ? 5 : 4;
    c.packet(sack, {}, {1, ++number});
  }
  wire::Packet immediate = packet_of(wire::Opcode::WriteOnlyImm, kOne, kTwo, kPeerQp, kPsn + 40, 0x1000);
  immediate.meth->msn = 1;
  immediate.meth->rqmsn = 9;
  c.packet(immediate, {}, {0, ++number, 1});
  wire::Packet nack = packet_of(wire::Opcode::Nack, kTwo, kOne, kQp, kPsn + 40, 7);
  nack.neth->nack_psn = kPsn + 40;
  nack.neth->entropy = 0x1000;
  nack.neth->reason = 1;
  c.packet(nack, {}, {1, ++number});
  c.end();
  const auto ways = c.facts();
  REQUIRE(ways.size() == 1);
  CHECK(ways[0].from == kOne);
  CHECK(ways[0].to == kTwo);
  CHECK(ways[0].dqp == kPeerQp);
  const auto fact = [&](const char* about) {
    const auto at = std::ranges::find(ways[0].facts, about, &log::Fact::about);
    REQUIRE(at != ways[0].facts.end());
    return *at;
  };
  const auto stands_on = [&](const char* about, const char* value, uint64_t packets, uint64_t first, uint64_t last) {
    INFO(about);
    CHECK(fact(about).value == value);
    CHECK(fact(about).packets == packets);
    CHECK(fact(about).first.number == first);
    CHECK(fact(about).last.number == last);
  };
  stands_on("P_Key", "0x8001", 41, 1, 81);
  stands_on("path MTU", "1024", 40, 1, 79);
  stands_on("headers", "IPv6", 41, 1, 81);
  stands_on("code point of data", "4", 41, 1, 81);
  stands_on("window", "granted by SACKs", 40, 2, 80);
  stands_on("largest grant", "640 PSNs", 1, 16, 16);
  stands_on("PSNs", "100 to 140", 41, 1, 81);
  stands_on("MSNs", "65535 to 1", 41, 1, 81);
  stands_on("RQMSNs", "9 to 9", 1, 81, 81);
  stands_on("plane", "0", 30, 3, 79);
  stands_on("time stamps", "not in data", 41, 1, 81);
  stands_on("NACKs", "of trimmed packets", 1, 82, 82);
  stands_on("seen whole", "from PSN 100 on", 41, 2, 82);
  // Eight answers that name a QP's packets are enough.
  stands_on("sender's QP", "0x11, by what answers name", 8, 2, 16);
  CHECK(fact("P_Key").first.capture == 0);
  CHECK(fact("window").first.capture == 1);
}

TEST_CASE("a QP of which a copy went between other addresses was not seen whole", "[log][conversations]") {
  constexpr Ip kOther{0xfd, 1}, kOtherPeer{0xfd, 2};
  for (const bool elsewhere : {false, true}) {
    Conversations c;
    Talk{.count = 40}.report(c);
    wire::Packet copy = packet_of(wire::Opcode::WriteMiddle, kOther, kOtherPeer, kPeerQp, kPsn + 39, 0x77);
    copy.bth->rtx = 1;
    if (elsewhere) c.packet(copy, {});
    wire::Packet sack = packet_of(wire::Opcode::Sack, kTwo, kOne, kQp, kPsn + 39, 7);
    sack.seth->cack_psn = kPsn + 39;
    sack.seth->entropy = 0x77;
    c.packet(sack, {});
    CHECK(((only(c, kTwo).flags & log::kSeenWhole) == 0) == elsewhere);
  }
}

TEST_CASE("an answer about such a copy counts before it is known whom the answers name", "[log][conversations]") {
  constexpr Ip kOther{0xfd, 1}, kOtherPeer{0xfd, 2};
  for (const bool elsewhere : {false, true}) {
    Conversations c;
    wire::Packet copy = packet_of(wire::Opcode::WriteMiddle, kOther, kOtherPeer, kPeerQp, kPsn, 0x77);
    if (elsewhere) c.packet(copy, {});
    wire::Packet sack = packet_of(wire::Opcode::Sack, kTwo, kOne, kQp, kPsn, 7);
    sack.seth->cack_psn = kPsn;
    sack.seth->entropy = 0x77;
    c.packet(sack, {});
    Talk{.count = 40}.report(c);
    CHECK(((only(c, kTwo).flags & log::kSeenWhole) == 0) == elsewhere);
  }
}

TEST_CASE("packets of one address of several tell no path MTU unless they fill it", "[log][conversations]") {
  Conversations c;
  for (uint32_t psn = kPsn; psn < kPsn + 8; ++psn) {
    c.packet(packet_of(wire::Opcode::WriteOnly, kOne, kTwo, kPeerQp, psn, 7), {});
  }
  const std::array<Ip, 2> both{kOne, {0xfd, 1}};
  REQUIRE(c.qps(both).size() == 1);
  CHECK(c.qps(both).front().qp.mtu == 0);
  CHECK(only(c, kOne).mtu == 4096);
}

TEST_CASE("a mark that another place alone saw does not show how packets came", "[log][conversations]") {
  for (const bool elsewhere : {false, true}) {
    Conversations c;
    for (uint32_t psn = kPsn; psn < kPsn + 40; ++psn) {
      wire::Packet p = packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kPeerQp, psn, 0x1000 + psn);
      p.ipv6->ecn = elsewhere && psn == kPsn + 20 ? 2 : 3;
      c.packet(p, {});
      p.ipv6->ecn = 3;
      if (elsewhere) c.again(p);
      wire::Packet sack = packet_of(wire::Opcode::Sack, kTwo, kOne, kQp, psn, 7);
      sack.seth->cack_psn = psn;
      sack.seth->entropy = 0x1000 + psn;
      sack.seth->m = 1;
      c.packet(sack, {});
    }
    CHECK(((only(c, kTwo).flags & log::kSeenMarks) == 0) == elsewhere);
  }
}

TEST_CASE("what is acknowledged before it is seen was not seen whole", "[log][conversations]") {
  for (const bool before : {false, true}) {
    Conversations c;
    const auto send = [&](uint32_t psn, bool again) {
      wire::Packet p = packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kPeerQp, psn, 0x1000 + psn);
      p.bth->rtx = again;
      c.packet(p, {});
    };
    send(kPsn, false);
    for (uint32_t psn = kPsn; psn < kPsn + 200; psn += 2) {
      send(psn + 2, false);
      if (!before) send(psn + 1, true);
      wire::Packet sack = packet_of(wire::Opcode::Sack, kTwo, kOne, kQp, psn, 7);
      sack.seth->cack_psn = psn + 1;  // it came by a port that is not captured
      sack.seth->ack_psn_offset = -1;
      sack.seth->entropy = 0x1000 + psn;
      c.packet(sack, {});
      if (before) send(psn + 1, true);
    }
    CHECK(((only(c, kTwo).flags & log::kSeenWhole) == 0) == before);
  }
}

TEST_CASE("a bitmap that names what was not seen shows a flow that was not seen whole", "[log][conversations]") {
  // Nothing is acknowledged in order. Of 40 answers 2 may be wrong (one in 16 of the others), 3 may not.
  for (const uint32_t strays : {0u, 2u, 3u, 20u}) {
    Conversations c;
    for (uint32_t i = 0; i < 40; ++i) {
      c.packet(packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kPeerQp, kPsn + i, 0x1000 + i), {});
      wire::Packet sack = packet_of(wire::Opcode::Sack, kTwo, kOne, kQp, kPsn, 7);
      sack.seth->cack_psn = kPsn - 1;
      sack.seth->ack_psn_offset = static_cast<int16_t>(i + 1);
      sack.seth->sack_offset = 1;
      sack.seth->sack_bitmap = uint64_t{1} << (i < strays ? 50 : i);
      sack.seth->entropy = 0x1000 + i;
      c.packet(sack, {});
    }
    INFO(strays << " answers name PSN " << kPsn + 50);
    CHECK(((only(c, kTwo).flags & log::kSeenWhole) != 0) == (strays <= 2));
  }
}

TEST_CASE("an acknowledgment of more than was seen shows a flow that was not seen whole", "[log][conversations]") {
  // Each answer names a packet that was seen, and acknowledges one that went another way and nothing follows.
  for (const uint32_t strays : {0u, 2u, 3u, 20u}) {
    Conversations c;
    c.packet(packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kPeerQp, kPsn, 0x1000), {});
    for (uint32_t i = 0; i < 40; ++i) {
      wire::Packet sack = packet_of(wire::Opcode::Sack, kTwo, kOne, kQp, kPsn, 7);
      sack.seth->cack_psn = kPsn + (i < strays ? 1 : 0);
      sack.seth->ack_psn_offset = static_cast<int16_t>(i < strays ? -1 : 0);
      sack.seth->entropy = 0x1000;
      c.packet(sack, {});
    }
    for (uint32_t i = 0; i < log::Conversations::kLeastPackets; ++i) {
      c.packet(packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kPeerQp, kPsn, 0x1000), {});
    }
    INFO(strays << " answers acknowledge PSN " << kPsn + 1);
    CHECK(((only(c, kTwo).flags & log::kSeenWhole) != 0) == (strays <= 2));
  }
}

TEST_CASE("an entropy with which nothing was seen shows a flow that was not seen whole", "[log][conversations]") {
  for (const uint32_t strays : {1u, 20u}) {
    Conversations c;
    for (uint32_t i = 0; i < 40; ++i) {
      c.packet(packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kPeerQp, kPsn + i, 0x1000 + i), {});
      wire::Packet sack = packet_of(wire::Opcode::Sack, kTwo, kOne, kQp, kPsn, 7);
      sack.seth->cack_psn = kPsn + i;
      sack.seth->entropy = i >= 40 - strays ? 0x2000 : 0x1000 + i;
      c.packet(sack, {});
    }
    CHECK(((only(c, kTwo).flags & log::kSeenWhole) != 0) == (strays == 1));
  }
}

TEST_CASE("one plane of two is not seen whole, and its QPs have the same numbers", "[log][conversations]") {
  Conversations c;
  Talk{.every_second = true}.report(c);
  CHECK(only(c, kTwo).qp == kPeerQp);
  CHECK((only(c, kTwo).flags & log::kSeenWhole) == 0);
}

TEST_CASE("what is known stays when the PSNs are given back", "[log][conversations]") {
  Conversations c;
  Talk{}.report(c);
  const log::Qp before = only(c, kTwo);
  CHECK((before.flags & log::kSeenWhole) != 0);
  c.end();
  CHECK(only(c, kTwo) == before);
}

TEST_CASE("beyond so many PSNs of all flows a flow has its newest ones, and others are as before",
          "[log][conversations]") {
  Conversations c;
  Talk{}.report(c);
  constexpr Ip kThree{0xfd, 3};
  // Each of these has the PSNs of four packets that are as far from each other as a window allows.
  constexpr uint32_t kStep = 4608;
  constexpr auto kFlows = static_cast<uint32_t>(Conversations::kMostPsns / (std::size_t{3} * kStep)) + 2;
  for (uint32_t flow = 0; flow < kFlows; ++flow) {
    for (uint32_t n = 0; n < 4; ++n) {
      c.packet(packet_of(wire::Opcode::WriteMiddle, kThree, kOne, 0x1000 + flow, n * kStep, n), {});
    }
  }
  CHECK(c.psns() <= Conversations::kMostPsns);
  CHECK((only(c, kTwo).flags & log::kSeenWhole) != 0);
}

TEST_CASE("packets that the captures miss leave nothing whole", "[log][conversations]") {
  Conversations c;
  Talk{}.report(c);
  c.lost();
  CHECK((only(c, kTwo).flags & log::kSeenWhole) == 0);
}

TEST_CASE("one direction alone tells the peer's QP and a stand-in for the own one", "[log][conversations]") {
  Conversations c;
  Talk{.answers = false}.report(c);
  const log::Qp one = only(c, kOne);
  CHECK(one.peer_qp == kPeerQp);
  CHECK((one.flags & log::kNumberless) != 0);
  CHECK(one.qp > 0xFFFFFF);
}

namespace {

/// What is told of a NIC by the second reading of these lives of its QP.
std::vector<log::QpChange> reported(const std::vector<Talk>& lives, const Ip& own, bool expect_anew = false) {
  Conversations first;
  for (const Talk& life : lives) life.report(first);
  Conversations c(first.lives());
  for (const Talk& life : lives) life.report(c);
  c.end();
  CHECK(c.unreported().contains(kAnew) == expect_anew);
  return c.qps(std::span(&own, 1));
}

}  // namespace

TEST_CASE("each life of a QP is a conversation of its own", "[log][conversations]") {
  const Talk first;
  struct Next {
    const char* what;
    Talk life;
  };
  for (const Next& next : {Next{"from a PSN far off", {.from = 8'000'000}}, Next{"from the same PSN", {}},
                           Next{"another QP of the peer", {.peer = kPeerQp + 1}}}) {
    INFO(next.what);
    Talk second = next.life, third;
    second.begin = first.end() + 200 * kUs;
    third.from = 4'000'000;
    third.begin = second.end() + 5000 * kUs;
    const bool other_qp = second.peer != kPeerQp;
    const auto one = reported({first, second, third}, kOne), two = reported({first, second, third}, kTwo);
    REQUIRE(one.size() == 5);
    using enum log::QpState;
    const log::Time begin = first.end() + 100 * kUs, late = second.end() + 2500 * kUs;
    const auto is = [](const log::QpChange& change, log::Time about, log::QpState state, uint32_t qp) {
      CHECK(change.time + kUs >= about);
      CHECK(change.time <= about + kUs);
      CHECK(change.qp.state == state);
      CHECK(change.qp.qp == qp);
    };
    is(one[0], 0, Rts, kQp);
    is(one[1], begin, Reset, kQp);
    is(one[2], begin, Rts, kQp);
    is(one[3], late, Reset, kQp);
    is(one[4], late, Rts, kQp);
    CHECK(one[0].qp.sq_psn == kPsn);
    CHECK(one[2].qp.sq_psn == second.from);
    CHECK(one[2].qp.peer_qp == second.peer);
    CHECK(one[4].qp.sq_psn == third.from);
    REQUIRE(two.size() == 5);
    is(two[1], begin, Reset, kPeerQp);
    is(two[2], begin, Rts, second.peer);
    is(two[3], late, Reset, second.peer);
    is(two[4], late, Rts, kPeerQp);
    for (const std::size_t life : {0, 2, 4}) CHECK((two[life].qp.flags & log::kSeenWhole) != 0);
    CHECK(two[2].qp.rq_psn == second.from);
    CHECK(other_qp == (two[2].qp.qp != two[0].qp.qp));
  }
}

TEST_CASE("lives that silence does not divide are not told", "[log][conversations]") {
  const Talk first;
  Talk second{.from = 8'000'000};
  second.begin = first.end() + 20 * kUs;
  CHECK(reported({first, second}, kOne, true).empty());
  SECTION("a packet of the life before comes while the QP is set up again") {
    second.begin = first.end() + 300 * kUs;
    const Talk late{.from = kPsn + first.count, .count = 1, .answers = false, .begin = second.begin - 60 * kUs};
    CHECK(reported({first, late, second}, kOne, true).empty());
  }
  SECTION("a first message, silence, and the rest") {
    const Talk begun{.count = 3, .begin = first.end() + 300 * kUs};
    const Talk rest{.from = kPsn + 3, .begin = begun.end() + 300 * kUs};
    const auto one = reported({first, begun, rest}, kOne);
    REQUIRE(one.size() == 3);
    CHECK(one[1].time > first.end());
    CHECK(one[1].time < begun.begin);
    CHECK(one[2].qp.sq_psn == kPsn);
  }
  SECTION("a life without answers") {
    second.begin = first.end() + 300 * kUs;
    CHECK(reported({first, second}, kOne).size() == 3);
    // The way back is not known.
    const Talk third{.from = 4'000'000, .count = 7, .answers = false, .begin = second.end() + 300 * kUs};
    CHECK(reported({first, second, third}, kOne, true).empty());
  }
}

TEST_CASE("a QP of which one packet alone is of another life is not told where others of its NIC begin anew",
          "[log][conversations]") {
  struct Case {
    bool begins, shares;  ///< another QP begins anew, of one of the two NICs
    log::Time later;
    std::size_t reported;
  };
  constexpr Ip kThree{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3};
  for (const auto& [begins, shares, later, reported] :
       {Case{true, true, 20 * kUs, 0}, Case{false, true, 20 * kUs, 1}, Case{true, false, 20 * kUs, 1},
        Case{true, true, 3000 * kUs, 1}}) {
    CAPTURE(begins, shares, later);
    Conversations c;
    const Talk first{.count = 100};
    first.report(c);
    const Ip& from = shares ? kOne : kThree;
    const auto other = [&](uint32_t psn, log::Time time) {
      c.packet(packet_of(wire::Opcode::WriteMiddle, from, kThree, 0x33, psn, 0x5000 + psn), {}, {.time = time});
    };
    for (uint32_t psn = 0; psn < 100; ++psn) other(psn, kUs * psn);
    for (uint32_t psn = 0; begins && psn < 10; ++psn) other(psn, first.end() + 20 * kUs + kUs * psn);
    const bool goes_on = later > 1000 * kUs;
    if (goes_on) Talk{.from = kPsn + first.count, .count = 1500, .begin = first.end()}.report(c);
    Talk{.count = 1, .answers = false, .begin = first.end() + later}.report(c);
    CHECK(c.qps(std::span(&kOne, 1)).size() - (begins || !shares ? 0 : 1) == reported);
  }
}

TEST_CASE("what switches may have sent back tells nothing of a QP", "[log][conversations]") {
  Conversations c;
  // Data of kTwo's, on their way back to it: the addresses are exchanged, the QP is that of kOne.
  for (uint32_t psn = 0; psn < 8; ++psn) {
    wire::Packet back = packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kQp, psn, 0x9000 + psn);
    back.bth->p_key = 0x8002;
    back.dscp_class = wire::DscpClass::Trimmed;
    c.packet(back, {});
  }
  CHECK(c.qps(std::span(&kOne, 1)).empty());
  const wire::Packet own = packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kQp, kPsn, 0x1000);
  for (uint32_t packets = 0; packets < 4; ++packets) c.packet(own, {});
  CHECK(only(c, kOne).pkey == 0x8001);
}

TEST_CASE("a QP of which one packet alone is of another life within a life that is told, is not told",
          "[log][conversations]") {
  for (const bool begins : {false, true}) {
    const Talk first{.count = 100};
    const log::Time begin = first.end() + 300 * kUs;
    Conversations c(log::Lives{{{kOne, kTwo, kPeerQp}, {begin - 100 * kUs}}, {{kTwo, kOne, kQp}, {begin - 100 * kUs}}});
    first.report(c);
    const Talk second{.count = 100, .begin = begin};
    second.report(c);
    Talk{.count = 1, .answers = false, .begin = second.end() + 20 * kUs}.report(c);
    for (uint32_t psn = 0; psn < 100 + (begins ? 10U : 0U); ++psn) {  // another QP, which begins anew
      c.packet(packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, 0x33, psn % 100, 0x5000 + psn), {},
               {.time = begin + kUs * psn});
    }
    c.end();
    CHECK(c.unreported().contains(kAnew) == begins);
  }
}

TEST_CASE("QPs of a NIC show together that it begins anew", "[log][conversations]") {
  for (const unsigned qps : {5u, 6u}) {
    Conversations c;
    for (const log::Time begin : {log::Time{0}, 120 * kUs}) {
      for (unsigned i = 0; i < qps; ++i) {
        const auto report = [&](uint32_t psn) {
          c.packet(packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kPeerQp + i, psn, 0x1000 + psn), {},
                   {.time = begin + kUs * (psn + i)});
        };
        if (begin != 0) {
          report(kPsn);  // one packet of the second life
        } else {
          for (uint32_t psn = kPsn; psn < kPsn + 10; ++psn) report(psn);
        }
      }
    }
    CHECK(c.qps(std::span(&kOne, 1)).empty() == (qps == 6));
  }
}

TEST_CASE("two QPs of a NIC that send another packet with their first PSN show that it begins anew",
          "[log][conversations]") {
  for (const auto& [qps, length, anew] :
       {std::tuple{2U, 1000U, true}, std::tuple{1U, 1000U, false}, std::tuple{2U, 1024U, false}}) {
    CAPTURE(qps, length);
    Conversations c;
    const auto report = [&](unsigned qp, uint32_t psn, std::size_t bytes, log::Time time) {
      wire::Packet p = packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kPeerQp + qp, psn, 0x1000 + psn);
      p.payload.assign(bytes, 0);
      wire::complete(p);
      c.packet(p, {}, {.time = time});
    };
    for (unsigned qp = 0; qp < qps; ++qp) {
      for (uint32_t psn = kPsn; psn < kPsn + 10; ++psn) report(qp, psn, 1024, kUs * (psn + qp));
      report(qp, kPsn, length, 200 * kUs);
    }
    CHECK(c.qps(std::span(&kOne, 1)).empty() == anew);
  }
}

TEST_CASE("the first reading tells no QP that was set up anew", "[log][conversations]") {
  Conversations c;
  Talk{}.report(c);
  SECTION("from a PSN far off") { Talk{.from = 8'000'000}.report(c); }
  SECTION("from the same PSN") { Talk{}.report(c); }
  CHECK(c.qps(std::span(&kOne, 1)).empty());
  CHECK(c.unreported().at(kAnew) == 1);
}

TEST_CASE("lower MSNs and byte counts, or another QP's packets, are another life of a QP", "[log][conversations]") {
  constexpr uint32_t kLife = 200;
  struct Second {
    const char* what;
    uint32_t from = kPsn + kLife, dqp = kPeerQp;
    bool msns = true, bytes = true, anew = true;
  };
  for (const Second& second :
       {Second{"it goes on", kPsn + kLife, kPeerQp, true, true, false},
        Second{"MSNs from 0", kPsn + kLife, kPeerQp, false, true, true},
        Second{"bytes from 0, PSNs a little farther", kPsn + kLife + 900, kPeerQp, true, false, true},
        Second{"another QP of the peer", kPsn, kPeerQp + 1, true, true, true}}) {
    INFO(second.what);
    Conversations c;
    const auto live = [&](uint32_t from, uint32_t dqp, uint32_t msn, uint32_t bytes) {
      for (uint32_t psn = from; psn < from + kLife; ++psn) {
        // An entropy value of its own: the answers of two lives are not mixed up.
        const uint32_t entropy = 0x1000 + psn + 0x100000 * dqp;
        wire::Packet p = packet_of(wire::Opcode::WriteOnly, kOne, kTwo, dqp, psn, entropy);
        p.meth->msn = static_cast<uint16_t>(msn++);
        c.packet(p, {});
        wire::Packet sack = packet_of(wire::Opcode::Sack, kTwo, kOne, kQp, psn, 7);
        sack.seth->cack_psn = psn;
        sack.seth->entropy = entropy;
        sack.cc_state->rcvd_bytes = bytes += 5;
        c.packet(sack, {});
      }
    };
    live(kPsn, kPeerQp, 0, 0);
    live(second.from, second.dqp, second.msns ? kLife : 0, second.bytes ? 5 * kLife : 0);
    const auto qps = c.qps(std::span(&kOne, 1));
    const bool reported = std::ranges::any_of(qps, [](const log::QpChange& change) { return change.qp.qp == kQp; });
    CHECK(reported != second.anew);
    CHECK(c.unreported().contains(kAnew) == second.anew);
  }
}

TEST_CASE("an MSN that is too high in one packet does not make those behind it another life", "[log][conversations]") {
  for (const uint32_t wrong : {0U, 50U, 100U}) {
    INFO(wrong);
    Conversations c;
    for (uint32_t n = 0; n < 200; ++n) {
      wire::Packet p = packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kPeerQp, kPsn + n, 0x1000 + n);
      p.meth->msn = static_cast<uint16_t>(7 + n / 100 + (n == wrong ? 3 : 0));
      c.packet(p, {});
      wire::Packet sack = packet_of(wire::Opcode::Sack, kTwo, kOne, kQp, kPsn + n, 7);
      sack.seth->cack_psn = kPsn + n;
      sack.seth->entropy = 0x1000 + n;
      c.packet(sack, {});
    }
    CHECK((only(c, kTwo).flags & log::kSeenWhole) != 0);
    CHECK_FALSE(c.unreported().contains(kAnew));
  }
}

TEST_CASE("SACKs of no window are of another life, also before it sends data", "[log][conversations]") {
  for (const uint32_t probes : {5U, 6U}) {
    Conversations c;
    Talk{}.report(c);
    for (uint32_t n = 0; n < probes; ++n) {
      wire::Packet sack = packet_of(wire::Opcode::Sack, kTwo, kOne, kQp, kPsn + 0x400000, 7);
      sack.seth->cack_psn = kPsn + 0x400000;
      sack.seth->pr = 1;
      c.packet(sack, {}, {.time = Talk{}.end() + kUs * n});
    }
    CHECK(c.unreported().contains(kAnew) == (probes == 6));
  }
}

TEST_CASE("answers to nothing that was seen count, also before it is known whose packets they name",
          "[log][conversations]") {
  for (const uint32_t early : {0U, 4U}) {
    Conversations c;
    c.packet(packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kPeerQp, kPsn, 0x1000 + kPsn), {});
    for (uint32_t n = 0; n < early; ++n) {  // of another plane
      wire::Packet sack = packet_of(wire::Opcode::Sack, kTwo, kOne, kQp, kPsn, 7);
      sack.seth->cack_psn = kPsn;
      sack.seth->ack_psn_offset = static_cast<int16_t>(n + 1);
      sack.seth->entropy = 0x9000 + n;
      c.packet(sack, {});
    }
    Talk{.count = 12}.report(c);
    CHECK(((only(c, kTwo).flags & log::kSeenWhole) != 0) == (early == 0));
  }
}

TEST_CASE("a way that began anew speaks for all ways of the QP, of a NIC with several addresses",
          "[log][conversations]") {
  constexpr Ip kOther{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
  for (const bool anew : {false, true}) {
    Conversations c;
    Talk{}.report(c);
    const auto other = [&](uint32_t from) {
      for (uint32_t psn = from; psn < from + 40; ++psn) {
        c.packet(packet_of(wire::Opcode::WriteMiddle, kOther, kTwo, kPeerQp, psn, 0x1000 + psn), {});
        wire::Packet sack = packet_of(wire::Opcode::Sack, kTwo, kOther, kQp, psn, 7);
        sack.seth->cack_psn = psn;
        sack.seth->entropy = 0x1000 + psn;
        c.packet(sack, {});
      }
    };
    for (int lives = 0; anew && lives < 2; ++lives) other(5000);
    const std::array own{kOne, kOther};
    const auto qps = c.qps(own);
    CHECK(std::ranges::any_of(qps, [](const log::QpChange& q) { return q.qp.own_ip == kOne; }) != anew);
  }
}

TEST_CASE("a QP of which packets were cut inside their headers is not seen whole", "[log][conversations]") {
  for (const bool cut : {false, true}) {
    Conversations c;
    Talk{}.report(c);
    const wire::Packet again = packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kPeerQp, kPsn, 0x1000);
    if (cut) c.unread(again, {}, {.time = Talk{}.end()});
    CHECK(((only(c, kTwo).flags & log::kSeenWhole) != 0) != cut);
  }
}

TEST_CASE("packets that were cut inside their headers tell by their PSNs that a QP was set up anew",
          "[log][conversations]") {
  for (const uint32_t packets : {5U, 6U}) {
    Conversations c;
    Talk{}.report(c);
    for (uint32_t psn = kPsn; psn < kPsn + packets; ++psn) {
      c.unread(packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kPeerQp, psn, 0x1000 + psn), {}, {.time = 500 * kUs});
    }
    CHECK(c.unreported().contains(kAnew) == (packets == 6));
  }
}

TEST_CASE("of a QP between whose addresses packets of its NIC are cut, it is said that they may come back",
          "[log][conversations]") {
  const auto own_unread = [](const wire::Packet& packet, bool before_bth) {
    Conversations c;
    Talk{}.report(c);
    before_bth ? c.cut(packet) : c.unread(packet, {}, {.time = Talk{}.end()});
    CHECK((only(c, kTwo).flags & log::kSeenWhole) != 0);
    return (only(c, kTwo).flags & log::kOwnUnread) != 0;
  };
  for (const bool before_bth : {false, true}) {
    for (const uint32_t other : {kPeerQp, kPeerQp + 1}) {
      CHECK(own_unread(packet_of(wire::Opcode::WriteMiddle, kTwo, kOne, other, kPsn, 0x1000), before_bth));
    }
    CHECK(!own_unread(packet_of(wire::Opcode::WriteMiddle, kOne, kTwo, kPeerQp + 1, kPsn, 0x1000), before_bth));
  }
}

}  // namespace mrc::test::conversations_test
