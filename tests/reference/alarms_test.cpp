// SPDX-License-Identifier: Apache-2.0
/// NICs that are right and were accused: what they did, told again, breaks no rule; a step further, it still does.
#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "tests/reference/tale.hpp"

namespace mrc::test::alarms_test {

using ref::Rule;

TEST_CASE("the first word that a requestor hears is a cause as good as any other", "[reference][history]") {
  for (const uint32_t psn : {1u, 3u}) {  // 1 is missing in that word, 3 was sent behind all it tells of
    Tale tale;
    for (uint32_t n = 0; n < 4; ++n) tale.sends(n, n);
    tale.hears_sack(0, 2);
    tale.sends(psn, 4 + psn, true);
    CHECK(tale.broken(Rule::ReqRtxCause) == (psn == 3 ? 1 : 0));
  }
}

TEST_CASE("a packet that waited inside with an older time stamp than a SACK returns may count as lost",
          "[reference][history][A-83]") {
  for (const uint16_t stamp : {20, 30}) {
    Tale tale;
    const auto sends = [&](uint32_t n, uint16_t at, bool again) {
      wire::Packet p = Tale::write(true, n, n + (again ? 2 : 0), again);
      p.bth->ts = 1;
      p.tseth.emplace();
      p.tseth->tx_timestamp16 = at;
      p.tseth->ftype = 1;
      tale.frame(true, n % 2, p);
    };
    sends(0, 10, false);
    wire::Packet sack = Tale::packet(wire::Opcode::Sack, false, kSqPsn);
    sack.seth->cack_psn = sack.bth->psn;
    sack.cc_state->tx_timestamp16 = 30;
    tale.frame(false, 0, sack);
    sends(1, stamp, false);
    sends(1, 40, true);
    CHECK(tale.broken(Rule::ReqRtxCause) == (stamp < 30 ? 0 : 1));
  }
}

TEST_CASE("a SACK of what was never sent comes from nobody, and moves nothing", "[reference][history]") {
  for (const bool plain : {true, false}) {
    Tale tale;
    tale.sends(0, 0);
    tale.sends(1, 0, true);  // overtakes its first transmission, which waits at the other port
    tale.hears_sack(5000, 5000);
    tale.sends(2, 0);
    if (plain) tale.sends(1, 1);
    tale.waits(1000 * kUs);
    CHECK(tale.broken(Rule::ReqRtxUnsent) == (plain ? 0 : 1));
  }
}

TEST_CASE("a packet that found no EV it could use is sent for the first time as a retransmission",
          "[reference][history]") {
  for (const auto& [long_before, twice] : {std::pair{true, false}, {false, true}, {false, false}}) {
    ref::Profile profile = life_profile();
    profile.settings.skip_mode =
        twice ? ref::kSkipModeTwice : ref::kSkipModeOnce;  // then a QP with one EV may have none for a packet
    Tale tale(life_qp(), profile);
    tale.sends(0, 0);
    if (long_before) tale.waits(60 * kUs);
    tale.sends(1, 2, true);
    tale.sends(2, 4);
    tale.waits(1000 * kUs);
    CHECK(tale.broken(Rule::ReqRtxUnsent) == (long_before || twice ? 0 : 1));
  }
}

TEST_CASE("a packet may find no EV while its owner denies and allows them", "[reference][history]") {
  for (const bool moved : {true, false}) {
    Tale tale;
    tale.sends(0, 0);
    log::Qp now = life_qp();
    now.state = log::QpState::Rts;
    if (moved) now.denied = {3};
    tale.push(now);
    tale.sends(1, 2, true);
    tale.sends(2, 4);
    tale.waits(1000 * kUs);
    CHECK(tale.broken(Rule::ReqRtxUnsent) == (moved ? 0 : 1));
  }
}

TEST_CASE("the immediate of any copy of a packet may complete", "[reference][history]") {
  for (const uint32_t imm : {1u, 2u, 3u}) {  // 3: no copy has it
    Tale tale;
    tale.frame(false, 0, Tale::write(false, 0, 1));  // not what its sender sent
    for (const uint32_t value : {1u, 2u}) {
      wire::Packet p = Tale::packet(wire::Opcode::WriteOnlyImm, false, kRqPsn);
      p.set_entropy(ev(3));
      p.reth = Tale::write(false, 0, 3).reth;
      p.meth->rqmsn = static_cast<uint16_t>(life_qp().rqmsn);
      p.payload.assign(p.reth->dma_length, 0);
      p.immdt->value = value;
      tale.frame(false, 0, p);
    }
    log::Cqe cqe;
    cqe.qp = kQp;
    cqe.receive = true;
    cqe.imm = imm;
    cqe.rqmsn = life_qp().rqmsn;
    tale.push(cqe);
    CHECK(tale.broken(Rule::MemCqeOrder) == (imm == 3 ? 1 : 0));
  }
}

TEST_CASE("a SACK cannot name a duplicate from long ago, and may look like another packet's", "[reference][history]") {
  for (const uint32_t ago : {0u, 1u << 22}) {
    Tale tale;
    tale.frame(false, 0, Tale::write(false, 0, 1));
    tale.frame(false, 0, Tale::write(false, 1, 3));
    wire::Packet old = Tale::write(false, 0, 5);
    if (ago != 0) {
      old.bth->psn = (kRqPsn - ago) & 0xFFFFFF;
      tale.frame(false, 0, old);
    }
    wire::Packet sack = Tale::packet(wire::Opcode::Sack, true, kRqPsn + 1);
    sack.seth->cack_psn = sack.bth->psn;
    sack.seth->ack_psn_offset = -1;
    sack.seth->entropy = ev(5);
    tale.frame(true, 0, sack);
    CHECK(tale.broken(Rule::RespEntropy) == (ago != 0 ? 0 : 1));
  }
}

TEST_CASE("packets may leave with EVs that their owner has replaced meanwhile", "[reference][history]") {
  for (const uint32_t number : {0u, 9u}) {  // one of the set before, one of neither
    Tale tale;
    log::Qp now = life_qp();
    now.state = log::QpState::Rts;
    now.evs.front() = 0x77770000;
    tale.push(now);
    tale.sends(0, number);
    CHECK(tale.broken(Rule::PathSet) == (number == 0 ? 0 : 1));
  }
}

TEST_CASE("a NACK of a probe names its id, which may be the PSN of a packet as well", "[reference][history]") {
  for (const uint32_t own : {3u, 5u}) {  // EV of the probe in the answer, and one of nobody
    Tale tale;
    tale.frame(false, 0, Tale::write(false, 0, 1));
    wire::Packet probe = Tale::packet(wire::Opcode::ProbeRequest, false, 0);
    probe.set_entropy(ev(3));
    probe.peth->probe_id = kRqPsn;
    probe.peth->ftype = 1;
    tale.frame(false, 0, probe);
    wire::Packet nack = Tale::packet(wire::Opcode::Nack, true, kRqPsn);
    nack.neth->nack_psn = kRqPsn;
    nack.neth->reason = static_cast<uint8_t>(wire::NackReason::UnexpEvent);
    nack.neth->entropy = ev(own);
    tale.frame(true, 0, nack);
    CHECK(tale.broken(Rule::RespEntropy) == (own == 3 ? 0 : 1));
  }
}

TEST_CASE("a NAK may wait behind completions that the host does not take", "[reference][history]") {
  // A completion of before comes between the NAK and the work request, the failed one does so, or none.
  struct Case {
    std::optional<log::Status> between;
    log::Time later;
    bool wrong;
  };
  for (const Case& c :
       {Case{log::Status::Ok, 80 * kUs, false}, Case{log::Status::Ok, 220 * kUs, true},
        Case{log::Status::RemoteInvalid, 80 * kUs, true}, Case{{}, 80 * kUs, true}, Case{{}, 10 * kUs, false}}) {
    CAPTURE(c.between.has_value(), c.later);
    Tale tale;
    for (uint32_t n = 0; n < 2; ++n) tale.push(log::Post{kQp, n, 0x100, 0x9000, 64, 9});
    tale.sends(0, 0);
    tale.sends(1, 1);
    wire::Packet nak = Tale::packet(wire::Opcode::Ack, false, kSqPsn + 1);
    nak.aeth->syndrome = 0x61;
    nak.aeth->msn = 1;
    tale.frame(false, 0, nak);
    if (c.between) {
      log::Cqe cqe{kQp, false, *c.between};
      cqe.wr_id = *c.between == log::Status::Ok ? 0 : 1;
      tale.push(cqe);
    }
    tale.waits(c.later);
    tale.push(log::Post{kQp, 2, 0x100, 0x9000, 64, 9});
    tale.waits(100 * kUs);
    tale.sends(2, 2);
    CHECK(tale.broken(Rule::QpFatal) == (c.wrong ? 1 : 0));
  }
}

TEST_CASE("work completes well in the order in which it was posted; what is refused or fails need not wait",
          "[reference][history]") {
  struct Case {
    std::vector<std::pair<uint64_t, log::Status>> completions;
    unsigned wrong;
    unsigned wrong_unsignalled;  ///< when some completions are not told
  };
  using enum log::Status;
  for (const Case& c : {Case{{{0, Ok}, {1, Ok}, {2, Ok}}, 0, 0}, Case{{{1, Ok}}, 1, 0}, Case{{{1, Ok}, {0, Ok}}, 2, 1},
                        Case{{{0, Ok}, {2, Ok}}, 1, 0}, Case{{{1, LocalLength}, {0, Ok}, {2, Ok}}, 0, 0},
                        Case{{{0, Fatal}, {1, Flushed}}, 0, 0}}) {
    for (const bool all_notified : {true, false}) {
      CAPTURE(c.completions.size(), c.completions.front().first, all_notified);
      ref::Profile profile = life_profile();
      profile.all_completions = all_notified;
      Tale tale(life_qp(), profile);
      for (uint32_t n = 0; n < 3; ++n) tale.push(log::Post{kQp, n, 0x100, 0x9000, 64, 9});
      for (uint32_t n = 0; n < 3; ++n) tale.sends(n, n);
      tale.hears_ack(2);
      for (const auto& [id, status] : c.completions) {
        log::Cqe cqe{kQp, false, status};
        cqe.wr_id = id;
        tale.push(cqe);
      }
      CHECK(tale.broken(Rule::ReqCqeOrder) == (all_notified ? c.wrong : c.wrong_unsignalled));
    }
  }
}

TEST_CASE("who has one EV left sends again on it; who has others does not", "[reference][history]") {
  for (const unsigned others : {0u, 3u, 7u}) {
    Tale tale;
    for (uint32_t n = 0; n < 80; ++n) {
      const uint32_t number = n % (others + 1);
      tale.sends(n, number);
      wire::Packet nack = Tale::packet(wire::Opcode::Nack, false, kSqPsn + n);
      nack.neth->nack_psn = nack.bth->psn;
      nack.neth->reason = 1;
      tale.frame(false, 0, nack);
      tale.sends(n, number, true);
    }
    CHECK((tale.broken(Rule::PathFresh) != 0) == (others == 7));
  }
}

TEST_CASE("a longer packet with the same bytes does not keep an immediate waiting", "[reference][memory]") {
  for (const auto& [written, copy] : {std::pair{true, true}, {false, true}, {true, false}, {false, false}}) {
    Tale tale;
    wire::Packet right = Tale::write(false, 0, 0), longer = Tale::write(false, 0, 0, false, 600);
    longer.reth->dma_length = 64;
    if (!copy) longer.bth->psn = kRqPsn + 40;  // of a later message
    tale.frame(false, 0, longer);
    tale.frame(false, 0, right);
    for (uint32_t at = 0; at < (written ? 64u : 32u); at += 32) {
      tale.push(log::Host{log::HostOp::Write, kMemory + at, 32, 0, 0, std::vector<uint8_t>(32, 0), 0});
    }
    wire::Packet last = Tale::packet(wire::Opcode::WriteOnlyImm, false, kRqPsn + 1);
    last.meth->msn = 1;
    last.reth->va = kVa + 0x400;
    last.reth->r_key = 7;
    last.reth->dma_length = 4;
    last.payload.assign(4, 1);
    last.immdt->value = 77;
    tale.frame(false, 1, last);
    tale.push(log::Host{log::HostOp::Write, kMemory + 0x400, 4, 0, 0, std::vector<uint8_t>(4, 1), 0});
    log::Cqe cqe;
    cqe.qp = kQp;
    cqe.receive = true;
    cqe.imm = 77;
    tale.push(cqe);
    CHECK(tale.broken(Rule::MemCqe) == (written ? 0 : 1));
  }
}

TEST_CASE("what stands in front of the inner header may have been looked at or not", "[reference][history]") {
  enum class Damage { None, Length, LengthBelowInner, Ethertype, Version, Icrc };
  for (const auto damage :
       {Damage::None, Damage::Length, Damage::LengthBelowInner, Damage::Ethertype, Damage::Version, Damage::Icrc}) {
    log::Qp qp = life_qp();
    qp.encap = 1;
    Tale tale(qp);
    log::Post post;
    post.qp = kQp;
    post.wr_id = 5;
    post.addr = 0x200000;
    post.remote = 0x9000;
    post.bytes = 64;
    post.rkey = 9;
    tale.push(post);
    tale.sends(0, 0);
    wire::Packet ack = Tale::packet(wire::Opcode::Ack, false, kSqPsn);
    ack.aeth->syndrome = 0x1F;
    ack.aeth->msn = 1;
    ack.outer_ipv6 = ack.ipv6;
    tale.frame(false, 0, ack, [&](std::vector<uint8_t>& bytes) {
      if (damage == Damage::Length) bytes[19] = 4;
      if (damage == Damage::LengthBelowInner) bytes[19] = static_cast<uint8_t>(bytes[19] - 4);
      if (damage == Damage::Ethertype) bytes[12] ^= 0x40;
      if (damage == Damage::Version) bytes[14] ^= 0x10;
      if (damage == Damage::Icrc) bytes.back() ^= 1;
    });
    log::Cqe cqe;
    cqe.qp = kQp;
    cqe.wr_id = 5;
    tale.push(cqe);
    INFO(static_cast<int>(damage));
    CHECK(tale.broken(Rule::ReqCqeAck) == (damage == Damage::Icrc ? 1 : 0));
  }
}

TEST_CASE("a NACK UNEXP_EVENT may end a QP that has sent nothing: it may be about a former life",
          "[reference][history]") {
  for (const bool notified : {true, false}) {
    Tale tale;
    const auto unexpected = [&](bool sent, uint32_t psn) {
      wire::Packet p = Tale::packet(wire::Opcode::Nack, sent, psn);
      p.neth->nack_psn = p.bth->psn;
      p.neth->reason = static_cast<uint8_t>(wire::NackReason::UnexpEvent);
      p.neth->entropy = ev(1);
      tale.frame(sent, 0, p);
    };
    tale.frame(false, 0, Tale::write(false, 0, 1));
    if (notified) unexpected(false, kSqPsn + 900);
    unexpected(true, kRqPsn);
    tale.waits(100 * kUs);
    CHECK(tale.broken(Rule::RespNackUnexp) == (notified ? 0 : 1));
  }
}

TEST_CASE("packets inside a NIC whose host is slow leave after their QP's reset", "[reference][history]") {
  // The lag is 13 us. What the host owed from 5 us after the reset on does not count, but not for ever.
  struct Late {
    log::Time read, waits;
    bool right;
  };
  for (const auto& [read, waits, right] :
       {Late{0, 12 * kUs, true}, Late{0, 20 * kUs, false}, Late{10 * kUs, 20 * kUs, true},
        Late{10 * kUs, 30 * kUs, false}, Late{400 * kUs, 420 * kUs, false}}) {
    INFO(read << " " << waits);
    Tale tale;
    tale.sends(0, 0);
    tale.waits(60 * kUs);
    log::Qp qp = life_qp();
    qp.state = log::QpState::Reset;
    tale.push(qp);
    tale.waits(5 * kUs);
    if (read != 0) {
      tale.push(log::Host{log::HostOp::Read, kMemory, 64, 0, 1, {}, 0});
      tale.waits(read);
      tale.push(log::Host{log::HostOp::ReadDone, kMemory, 64, 0, 1, std::vector<uint8_t>(64, 0), 0});
    }
    tale.waits(waits - read - 5 * kUs);
    tale.sends(0, 2, true);
    CHECK(tale.broken(Rule::QpState) == (right ? 0 : 1));
  }
}

TEST_CASE("packets leave a port that stood still after their QP's reset", "[reference][history]") {
  // The lag is 13 us. The port stands from 5 us before the reset to 80 us behind it.
  for (const auto& [plane, later, right] :
       {std::tuple{0u, 12 * kUs, true}, {0u, 14 * kUs, false}, {1u, 1 * kUs, false}}) {
    INFO(plane << " " << later);
    Tale tale;
    tale.sends(0, 0);
    tale.push(log::Port{0, false});
    tale.waits(5 * kUs);
    log::Qp qp = life_qp();
    qp.state = log::QpState::Reset;
    tale.push(qp);
    tale.waits(80 * kUs);
    tale.push(log::Port{0, true});
    tale.waits(later);
    tale.sends(0, 2 + plane, true);
    CHECK(tale.broken(Rule::QpState) == (right ? 0 : 1));
  }
}

TEST_CASE("a reset that was ordered may act later, and counts from then on", "[reference][history]") {
  for (const auto& [acts, later, right] :
       {std::tuple{false, 300 * kUs, true}, {true, 12 * kUs, true}, {true, 14 * kUs, false}}) {
    INFO(acts << " " << later);
    Tale tale;
    tale.sends(0, 0);
    log::Qp qp = life_qp();
    qp.state = log::QpState::Reset;
    qp.flags = log::kOrdered;
    tale.push(qp);
    tale.waits(100 * kUs);
    qp.flags = 0;
    if (acts) tale.push(qp);
    tale.waits(later);
    tale.sends(0, 2, true);
    CHECK(tale.broken(Rule::QpState) == (right ? 0 : 1));
    CHECK(tale.rests(Rule::QpState) == (acts ? 0 : 1));
  }
}

TEST_CASE("a port status update that waited at its port tells what was true when it was built",
          "[reference][history]") {
  for (const log::Time later : {15 * kUs, 150 * kUs, 250 * kUs}) {  // a frame may wait for 208 us
    INFO(later);
    Tale tale;
    wire::Packet update = Tale::packet(wire::Opcode::EndpointRequest, true, 1);
    update.bth->dqp = 2;
    update.erth->op = 0;
    update.erth->port_status_mask = 0b110;
    tale.frame(true, 0, update);
    tale.push(log::Port{1, false});
    tale.waits(later);
    update.bth->psn = 2;
    tale.frame(true, 0, update);
    CHECK(tale.broken(Rule::PeerMask) == (later == 250 * kUs ? 1 : 0));
  }
}

TEST_CASE("an update that is not for the endpoint's QPN takes no plane from anybody", "[reference][history]") {
  for (const uint32_t dqp : {2U, 3U}) {
    INFO(dqp);
    Tale tale;
    wire::Packet update = Tale::packet(wire::Opcode::EndpointRequest, false, 1);
    update.bth->dqp = dqp;
    update.erth->op = 0;
    update.erth->port_status_mask = 0b100;
    tale.frame(false, 1, update);
    tale.waits(250 * kUs);  // a frame may wait for 208 us
    tale.sends(0, 0);
    CHECK(tale.broken(Rule::PathPeerDown) == (dqp == 2 ? 1 : 0));
  }
}

TEST_CASE("a SACK may wait behind an ACK in a port that stood still, but not while others leave",
          "[reference][history]") {
  for (const bool others : {false, true}) {
    log::Qp qp = life_qp();
    qp.rq_psn = kRqPsn;
    qp.flags = log::kSeenWhole;
    Tale tale = Tale::captured(qp);
    const auto acknowledges = [&](uint32_t n) {
      wire::Packet ack = Tale::packet(wire::Opcode::Ack, true, kRqPsn + n);
      ack.aeth->syndrome = 0x1F;
      ack.aeth->msn = n + 1;
      tale.frame(true, 0, ack);
    };
    const auto comes = [&](uint32_t n) {
      wire::Packet p = Tale::write(false, n, 1);
      p.bth->a = 1;
      tale.frame(false, 0, p);
    };
    comes(0);
    wire::Packet sack = Tale::packet(wire::Opcode::Sack, true, kRqPsn);
    sack.seth->cack_psn = sack.bth->psn;
    sack.seth->entropy = ev(1);
    sack.cc_state->rcvd_bytes = 1;
    tale.frame(true, 0, sack);
    for (uint32_t n = 1; n < 10; ++n) comes(n);
    tale.waits(100 * kUs);
    if (others) {  // by the same port, long after these packets have come
      tale.sends(0, 0);
      tale.waits(100 * kUs);
    }
    acknowledges(9);
    CHECK(tale.broken(Rule::RespSackAsk) == (others ? 1 : 0));
  }
}

}  // namespace mrc::test::alarms_test
