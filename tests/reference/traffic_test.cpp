// SPDX-License-Identifier: Apache-2.0
#include "reference/traffic.hpp"

#include <catch2/catch_test_macros.hpp>
#include <numeric>

namespace mrc::test::traffic_test {

using ref::Time;
using ref::Timeline;
using ref::Way;

namespace {

constexpr log::Ip kOne{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
    kTwo{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
constexpr uint32_t kQp = 0x11, kPeerQp = 0x22, kEvA = 0xC000'0001, kEvB = 0xC000'0002;
constexpr Time kUs = 1'000'000;

struct Data {
  wire::Opcode opcode;
  uint32_t psn = 0, ev = kEvA;
  uint16_t msn = 0;
  bool again = false, trimmed = false, marked = false;
};

/// QP 0x11 of kOne sends to QP 0x22 of kTwo.
class Bench {
 public:
  /// `both`: kOne is judged as well, as device 0; kTwo is device 1.
  explicit Bench(bool both = true) : two_(traffic_.observer(1, profile_)) {
    log::Qp qp;
    qp.state = log::QpState::Rts;
    qp.qp = kPeerQp;
    qp.peer_qp = kQp;
    qp.own_ip = kTwo;
    qp.peer_ip = kOne;
    two_->qp(qp, 0);
    if (!both) return;
    one_ = traffic_.observer(0, profile_);
    std::swap(qp.qp, qp.peer_qp);
    std::swap(qp.own_ip, qp.peer_ip);
    one_->qp(qp, 0);
  }
  void sends(Time us, const Data& d) {
    if (one_) frame(*one_, true, us, packet(d), d.ev & 1 ? 0 : 1);
  }
  void arrives(Time us, const Data& d) { frame(*two_, false, us, packet(d), d.ev & 1 ? 0 : 1); }
  /// It goes and comes.
  void goes(Time us, const Data& d) {
    sends(us, d);
    arrives(us, d);
  }
  void sack(Time us, uint32_t cack, uint8_t mpr = 0) {
    wire::Packet p = answer(wire::Opcode::Sack);
    p.seth->cack_psn = cack;
    p.seth->mpr = mpr;
    both(us, p);
  }
  void nack(Time us, uint32_t psn) {
    wire::Packet p = answer(wire::Opcode::Nack);
    p.neth->nack_psn = psn;
    p.neth->reason = 1;
    both(us, p);
  }
  void ack(Time us, uint32_t psn, uint8_t syndrome = 0x1F) {
    wire::Packet p = answer(wire::Opcode::Ack);
    p.bth->psn = psn;
    p.aeth->syndrome = syndrome;
    both(us, p);
  }
  Way way() const {
    const auto ways = traffic_.ways();
    REQUIRE(ways.size() == 1);
    return ways.front();
  }
  const ref::Traffic& traffic() const { return traffic_; }

 private:
  static wire::Packet make(wire::Opcode opcode, const log::Ip& from, const log::Ip& to, uint32_t dqp) {
    wire::Packet p = wire::make_packet(opcode, wire::Encapsulation::Ipv6);
    p.ipv6->src = from;
    p.ipv6->dst = to;
    p.bth->dqp = dqp;
    p.dscp_class = wire::DscpClass::Trimmable;
    return p;
  }
  static wire::Packet packet(const Data& d) {
    wire::Packet p = make(d.opcode, kOne, kTwo, kPeerQp);
    p.bth->psn = d.psn & 0xFFFFFF;
    p.bth->rtx = d.again;
    p.meth->msn = d.msn;
    p.set_entropy(d.ev);
    if (d.marked) p.ipv6->ecn = 3;
    if (d.trimmed) p.dscp_class = wire::DscpClass::Trimmed;
    return p;
  }
  static wire::Packet answer(wire::Opcode opcode) { return make(opcode, kTwo, kOne, kQp); }
  void both(Time us, const wire::Packet& p) {
    frame(*two_, true, us, p, 0);
    if (one_) frame(*one_, false, us, p, 0);
  }
  static void frame(ref::Checker& to, bool sent, Time us, const wire::Packet& p, uint8_t plane) {
    log::Frame frame;
    frame.sent = sent;
    frame.plane = plane;
    const ref::Seen seen{frame, p, us * kUs, us * kUs};
    sent ? to.sent(seen) : to.received(seen);
  }

  ref::Profile profile_;
  ref::Traffic traffic_;
  std::unique_ptr<ref::Checker> one_, two_;
};

using enum wire::Opcode;

/// A message of three packets with an immediate, one of one packet; 101 is lost, 102 marked, 103 trimmed.
void notify(Bench& b) {
  b.goes(10, {WriteFirst, 100, kEvA});
  b.sends(11, {WriteMiddle, 101, kEvB});
  b.sends(12, {WriteLastImm, 102, kEvA});
  b.arrives(12, {WriteLastImm, 102, kEvA, 0, false, false, true});
  b.sack(20, 100, 2);
  b.sends(21, {WriteOnly, 103, kEvB, 1});
  b.arrives(21, {WriteOnly, 103, kEvB, 1, false, true});
  b.nack(25, 103);
  b.goes(26, {WriteMiddle, 101, kEvA, 0, true});
  b.goes(27, {WriteOnly, 103, kEvA, 1, true});
  b.sack(30, 103);
}

std::array<uint64_t, Timeline::kKinds> sum(const Timeline& timeline) {
  std::array<uint64_t, Timeline::kKinds> all{};
  for (const auto& counts : timeline.counts()) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += counts[i];
  }
  return all;
}

}  // namespace

TEST_CASE("a way between two QPs is counted as by hand", "[reference][traffic]") {
  Bench b;
  notify(b);
  const Way way = b.way();
  CHECK(way.from == kOne);
  CHECK(way.to == kTwo);
  CHECK(way.qp == kQp);
  CHECK(way.peer_qp == kPeerQp);
  CHECK(way.sender == 0);
  CHECK(way.receiver == 1);
  CHECK(way.first_psn == 100);
  CHECK(way.last_psn == 103);
  CHECK(way.packets == 6);
  CHECK(way.again == 2);
  CHECK(way.lost == 1);
  CHECK(way.trimmed == 1);
  CHECK(way.marked == 1);
  CHECK(way.arrived == 5);
  CHECK(way.missing == 0);
  CHECK(way.outstanding == 3);
  CHECK(way.granted == 256);
  CHECK(way.evs == std::map<unsigned, uint64_t>{{0, 1}, {1, 1}});
  CHECK(way.completions.count() == 1);
  CHECK(way.completions.longest() == 20 * kUs);
  CHECK(way.untimed == 0);
  // Six transmissions and three answers, each once.
  CHECK(sum(b.traffic().timeline()) == std::array<uint64_t, Timeline::kKinds>{9, 2, 1, 1, 0});
}

TEST_CASE("a receiver alone tells of a way what came to it", "[reference][traffic]") {
  Bench b(false);
  notify(b);
  const Way way = b.way();
  CHECK(way.qp == kQp);
  CHECK_FALSE(way.sender.has_value());
  CHECK(way.packets == 5);
  CHECK(way.again == 2);
  CHECK(way.lost == 1);  // 101, of which nothing came before
  CHECK(way.missing == 0);
  CHECK(way.completions.longest() == 20 * kUs);
}

TEST_CASE("an ACK ends a message with an immediate, a NAK does not", "[reference][traffic]") {
  Bench b;
  b.goes(10, {WriteOnlyImm, 100});
  SECTION("ACK") {
    b.ack(14, 100);
    CHECK(b.way().completions.longest() == 4 * kUs);
  }
  SECTION("NAK") {
    b.ack(14, 100, 0x60);
    CHECK(b.way().completions.count() == 0);
  }
  SECTION("a SACK of what was not sent") {
    b.sack(14, 101);
    CHECK(b.way().completions.count() == 0);
  }
}

TEST_CASE("a message whose begin was not seen is not timed", "[reference][traffic]") {
  Bench b;
  b.goes(10, {WriteMiddle, 100});
  b.goes(11, {WriteLastImm, 101});
  b.sack(12, 101);
  CHECK(b.way().completions.count() == 0);
  CHECK(b.way().untimed == 1);
}

TEST_CASE("PSNs that were acknowledged and never seen are missing", "[reference][traffic]") {
  Bench b;
  b.goes(10, {WriteMiddle, 0xFFFFFF});
  b.goes(11, {WriteMiddle, 0x1000002});  // 2, behind the wrap
  b.sack(12, 1);
  CHECK(b.way().missing == 2);  // 0 and 1
  CHECK(b.way().last_psn == 2);
}

TEST_CASE("ways beyond those that are held are counted", "[reference][traffic]") {
  ref::Profile profile;
  ref::Traffic traffic;
  const auto one = traffic.observer(0, profile);
  wire::Packet p = wire::make_packet(WriteOnly, wire::Encapsulation::Ipv6);
  log::Frame frame;
  for (uint32_t qp = 0; qp < ref::Traffic::kMostWays + 7; ++qp) {
    p.bth->dqp = qp + 16;
    one->sent({frame, p, 0, 0});
  }
  CHECK(traffic.ways().size() == ref::Traffic::kMostWays);
  CHECK(traffic.beyond() == 7);
}

TEST_CASE("a timeline becomes coarser and loses nothing", "[reference][traffic]") {
  Timeline t;
  for (const Time time : {2048, 1024, 0}) t.add(Timeline::Again, time);
  CHECK(t.width() == 1024);
  CHECK(t.counts().size() == 3);
  t.add(Timeline::Again, 1024 * 200);
  CHECK(t.width() == 2048);
  REQUIRE(t.counts().size() == 101);
  CHECK(t.counts()[0][Timeline::Again] == 2);
  CHECK(t.counts()[1][Timeline::Again] == 1);
  CHECK(t.counts()[100][Timeline::Again] == 1);
  Timeline late;
  late.add(Timeline::Again, Time{1} << 40);
  late.add(Timeline::Packets, Time{1} << 40);
  t.add(late, {Timeline::Again});
  CHECK(sum(t) == std::array<uint64_t, Timeline::kKinds>{0, 5, 0, 0, 0});
  CHECK(t.counts().size() <= Timeline::kMost);
  t.add(Timeline::Findings, ~Time{0});
  CHECK(sum(t) == std::array<uint64_t, Timeline::kKinds>{0, 5, 0, 0, 1});
}

TEST_CASE("a table has its columns below each other", "[reference][traffic]") {
  CHECK(ref::to_text({{"from", "packets"}, {{"fd00::1", "7"}, {"x", ""}}}, "  ") ==
        "  from     packets\n  fd00::1  7\n  x\n");
}

}  // namespace mrc::test::traffic_test
