// SPDX-License-Identifier: Apache-2.0
/// What collectives libraries ask of a NIC: WRITEs of no bytes, more immediates than may be outstanding,
/// a class of its own for each QP.
#include <catch2/catch_test_macros.hpp>
#include <tuple>

#include "tests/reference/tale.hpp"

namespace mrc::test::collectives_test {

using ref::Rule;

namespace {

log::Post work(uint32_t n, uint64_t bytes, bool immediate) {
  log::Post post;
  post.qp = kQp;
  post.wr_id = n;
  post.remote = 0x9000;
  post.rkey = 9;
  post.bytes = bytes;
  post.immediate = immediate;
  post.imm = immediate ? n : 0;
  return post;
}

log::Cqe done(uint32_t n, log::Status status = log::Status::Ok) {
  log::Cqe cqe;
  cqe.qp = kQp;
  cqe.wr_id = n;
  cqe.status = status;
  return cqe;
}

/// Message n: one packet.
wire::Packet message(bool sent, uint32_t n, uint32_t bytes, bool immediate, uint16_t rqmsn = 0) {
  wire::Packet p = Tale::write(sent, n, n % 8, false, bytes);
  if (!immediate) return p;
  p.bth->opcode = static_cast<uint8_t>(wire::Opcode::WriteOnlyImm);
  p.meth->rqmsn = rqmsn;
  p.immdt.emplace();
  p.immdt->value = n;
  return p;
}

wire::Packet ack(uint32_t n, uint8_t syndrome = 0x1f, uint32_t more = 1) {
  wire::Packet p = Tale::packet(wire::Opcode::Ack, true, kRqPsn + n);
  p.aeth->syndrome = syndrome;
  p.aeth->msn = n + more;
  return p;
}

ref::Profile with(uint32_t ref::Settings::*setting, uint32_t value) {
  ref::Profile profile = life_profile();
  profile.settings.*setting = value;
  return profile;
}

}  // namespace

TEST_CASE("a WRITE of no bytes is sent as an Only of nothing, where it is legal", "[reference][history][A-19]") {
  for (const uint32_t zero : {ref::kZeroLegal, ref::kZeroNak, ref::kZeroDrop}) {
    for (const bool immediate : {false, true}) {
      Tale tale(life_qp(), with(&ref::Settings::zero_length, zero));
      tale.push(work(0, 0, immediate));
      tale.frame(true, 0, message(true, 0, 0, immediate));
      tale.hears_sack(0, 0);
      tale.hears_ack(0);
      tale.push(done(0));
      CHECK(tale.wrong() == (zero == ref::kZeroLegal ? "" : "req.length "));
    }
  }
}

TEST_CASE("nothing in a packet fits no message of some bytes, nor some bytes one of nothing",
          "[reference][history][A-19]") {
  for (const auto& [bytes, dma, opcode, rule] : {std::tuple{0u, 64u, wire::Opcode::WriteOnly, Rule::ReqLength},
                                                 std::tuple{64u, 0u, wire::Opcode::WriteOnly, Rule::ReqDma},
                                                 std::tuple{0u, 0u, wire::Opcode::WriteFirst, Rule::ReqLength},
                                                 std::tuple{0u, 0u, wire::Opcode::WriteLast, Rule::ReqSequence}}) {
    Tale tale;
    wire::Packet p = message(true, 0, bytes, false);
    p.bth->opcode = static_cast<uint8_t>(opcode);
    p.reth->dma_length = dma;
    tale.frame(true, 0, p);
    CHECK(tale.broken(rule) == 1);
  }
}

TEST_CASE("a WRITE of no bytes is refused only where it is not legal", "[reference][history][A-19]") {
  for (const uint32_t zero : {ref::kZeroLegal, ref::kZeroNak}) {
    Tale tale(life_qp(), with(&ref::Settings::zero_length, zero));
    tale.push(work(0, 0, true));
    tale.push(work(1, 64, false));
    tale.push(done(0, log::Status::LocalLength));
    wire::Packet p = message(true, 0, 64, false);
    tale.frame(true, 0, p);
    tale.hears_sack(0, 0);
    tale.hears_ack(0);
    tale.push(done(1));
    CHECK(tale.wrong() == (zero == ref::kZeroLegal ? "req.zero " : ""));
  }
}

TEST_CASE("a WRITE of no bytes completes in its turn, whatever its R_Key and address are",
          "[reference][memory][A-19]") {
  for (const auto& [early, writes] : {std::pair{false, false}, {true, false}, {false, true}}) {
    Tale tale;
    const wire::Packet before = message(false, 0, 64, false), some = message(false, 1, 64, false);
    wire::Packet none = message(false, 2, 0, true);
    none.reth->r_key = 0xdead;
    none.reth->va = ~uint64_t{0};
    tale.frame(false, 0, before);
    tale.frame(false, 0, some);
    tale.frame(false, 1, none);
    log::Cqe cqe;
    cqe.qp = kQp;
    cqe.receive = true;
    cqe.imm = 2;
    cqe.msn = 2;
    const auto write = [](const wire::Packet& p) {
      return log::Host{log::HostOp::Write, kMemory + (p.reth->va - kVa), 64, 0, 0, p.payload, 0};
    };
    tale.push(write(before));
    if (early) tale.push(cqe);  // the data in front of it are not written yet
    tale.push(write(some));
    if (writes) tale.push(log::Host{log::HostOp::Write, 0xdead0000, 4, 0, 0, {1, 2, 3, 4}, 0});
    if (!early) tale.push(cqe);
    tale.frame(true, 0, ack(2));
    CHECK(tale.wrong() == (early ? "mem.cqe " : writes ? "mem.region " : ""));
  }
}

TEST_CASE("a WRITE of no bytes is NAKed only where it is to be refused so", "[reference.responder][A-19]") {
  for (const uint32_t zero : {ref::kZeroLegal, ref::kZeroNak, ref::kZeroDrop}) {
    for (const bool nak : {true, false}) {
      CAPTURE(zero, nak);
      Tale tale(life_qp(), with(&ref::Settings::zero_length, zero));
      tale.frame(false, 0, message(false, 0, 0, false));
      tale.frame(true, 0, nak ? ack(0, 0x61, 0) : ack(0));
      const std::string wrong = tale.wrong();
      CHECK((wrong.find("resp.zero") != std::string::npos) == (nak && zero == ref::kZeroLegal));
      CHECK((wrong.find("resp.nak-cause") != std::string::npos) == false);
      // It does not complete where it is refused.
      CHECK((wrong.find("resp.ack-order") != std::string::npos) == (!nak && zero != ref::kZeroLegal));
    }
  }
}

TEST_CASE("an immediate too many waits, is refused, or ends its QP: as the setting says",
          "[reference][history][A-62]") {
  for (const uint32_t over : {ref::kWimmWaits, ref::kWimmRefused, ref::kWimmError}) {
    for (const bool refused : {false, true}) {
      CAPTURE(over, refused);
      log::Qp qp = life_qp();
      qp.max_wimm = 1;
      Tale tale(qp, with(&ref::Settings::wimm_over, over));
      tale.push(work(0, 64, true));
      tale.push(work(1, 64, true));
      tale.frame(true, 0, message(true, 0, 64, true));
      if (refused) tale.push(done(1, log::Status::WimmOverrun));
      tale.hears_sack(0, 0);
      tale.hears_ack(0);
      tale.push(done(0));
      if (!refused) {
        tale.frame(true, 1, message(true, 1, 64, true, 1));
        tale.hears_sack(1, 1);
        tale.hears_ack(1);
        tale.push(done(1));
      }
      // Without a refusal nothing is wrong: the judge does not know when the device had room.
      CHECK(tale.wrong() == (refused && over == ref::kWimmWaits ? "req.wimm-over " : ""));
    }
  }
}

TEST_CASE("no immediate is refused while there is room, nor a WRITE without one", "[reference][history][A-62]") {
  for (const auto& [most, immediate, right] :
       {std::tuple{2u, true, false}, {1u, false, false}, {1u, true, true}, {0u, true, true}}) {
    log::Qp qp = life_qp();
    qp.max_wimm = most;
    Tale tale(qp, with(&ref::Settings::wimm_over, ref::kWimmRefused));
    if (most != 0) {
      tale.push(work(0, 64, true));
      tale.frame(true, 0, message(true, 0, 64, true));
    }
    tale.push(work(1, 64, immediate));
    tale.push(done(1, log::Status::WimmOverrun));
    CHECK((tale.broken(Rule::ReqWimmOver) == 0) == right);
  }
}

TEST_CASE("with max_wimm 0 none waits: each is refused", "[reference][history][A-62]") {
  log::Qp qp = life_qp();
  qp.max_wimm = 0;
  Tale tale(qp);
  tale.push(work(0, 64, true));
  tale.push(done(0, log::Status::WimmOverrun));
  CHECK(tale.wrong().empty());
}

TEST_CASE("a QP that an immediate too many has ended begins nothing that was posted long after",
          "[reference][history][A-62]") {
  for (const uint32_t over : {ref::kWimmRefused, ref::kWimmError}) {
    log::Qp qp = life_qp();
    qp.max_wimm = 1;
    Tale tale(qp, with(&ref::Settings::wimm_over, over));
    tale.push(work(0, 64, true));
    tale.push(work(1, 64, true));
    tale.frame(true, 0, message(true, 0, 64, true));
    tale.push(done(1, log::Status::WimmOverrun));
    tale.hears_ack(0);
    tale.push(done(0));
    tale.waits(1000 * kUs);
    tale.push(work(2, 64, false));
    tale.frame(true, 1, message(true, 1, 64, false));
    CHECK(tale.broken(Rule::ReqWimmOver) == (over == ref::kWimmError ? 1 : 0));
  }
}

TEST_CASE("immediates count from their first packet to their ACK", "[reference][history][A-62]") {
  for (const bool acked : {true, false}) {
    log::Qp qp = life_qp();
    qp.max_wimm = 1;
    Tale tale(qp);
    tale.frame(true, 0, message(true, 0, 64, true));
    tale.hears_sack(0, 0);  // it has arrived: it is outstanding all the same
    if (acked) tale.hears_ack(0);
    wire::Packet first = message(true, 1, kMtu, false), last = message(true, 2, 64, true, 1);
    first.bth->opcode = static_cast<uint8_t>(wire::Opcode::WriteFirst);
    first.meth->rqmsn = 1;
    last.bth->opcode = static_cast<uint8_t>(wire::Opcode::WriteLastImm);
    last.meth->msn = 1;
    last.reth->va = first.reth->va + kMtu;
    first.reth->dma_length = last.reth->dma_length = kMtu + 64;
    tale.frame(true, 1, first);
    if (!acked) tale.hears_ack(0);  // too late: the message has begun
    tale.frame(true, 0, last);
    CHECK(tale.wrong() == (acked ? "" : "req.max-wimm "));
  }
}

namespace {

/// Data on PSNs 0, 1, ... with these code points; the second transmission of PSN 0 with the third one.
std::string classes(const std::vector<uint8_t>& data, uint8_t rtx, const ref::Profile& profile = life_profile(),
                    const log::Qp& qp = life_qp()) {
  Tale tale(qp, profile);
  for (uint32_t n = 0; n < data.size(); ++n) {
    wire::Packet p = Tale::write(true, n, n);
    p.ipv6->dscp = data[n];
    tale.frame(true, n % 2, p);
  }
  wire::Packet nack = Tale::packet(wire::Opcode::Nack, false, kSqPsn);
  nack.neth->nack_psn = kSqPsn;
  nack.neth->reason = 1;
  nack.neth->cc_type = 2;
  nack.neth->entropy = ev(0);
  tale.frame(false, 0, nack);
  wire::Packet again = Tale::write(true, 0, 5, true);
  again.ipv6->dscp = rtx;
  tale.frame(true, 1, again);
  return tale.wrong();
}

}  // namespace

TEST_CASE("a QP has one class: any, but the same over its life", "[reference][history][A-79]") {
  CHECK(classes({4, 4, 4}, 8).empty());
  CHECK(classes({1, 1, 1}, 5).empty());
  CHECK(classes({63, 63}, 0).empty());
  CHECK(classes({1, 3, 1}, 5) == "wire.class ");
  CHECK(classes({1, 1}, 1) == "wire.class ");               // retransmissions travel apart
  CHECK(classes({46, 46}, 8) == "wire.class wire.class ");  // those of control are not free
  CHECK(classes({4}, 46) == "wire.class ");
  CHECK(classes({12}, 8) == "wire.trimmed ");
}

TEST_CASE("what a device says of its classes is held against it", "[reference][history][A-79]") {
  ref::Profile sets = life_profile();
  sets.classes = {{1, 2}, {3, 4}, {9, 9}};
  CHECK(classes({1, 1}, 2, sets).empty());
  CHECK(classes({3, 3}, 4, sets).empty());
  CHECK(classes({9, 9}, 9, sets).empty());
  CHECK(classes({1, 1}, 4, sets) == "wire.class ");
  CHECK(classes({5, 1}, 2, sets) == "wire.class ");
  ref::Profile nics = life_profile();
  nics.settings.notified_data = nics.settings.notified_rtx = true;
  CHECK(classes({4, 4}, 8, nics).empty());
  CHECK(classes({1, 1}, 8, nics) == "wire.class wire.class ");
  CHECK(classes({4, 4}, 5, nics) == "wire.class ");
  log::Qp own = life_qp();
  own.own_class = true;
  own.dscp_data = 1;
  own.dscp_rtx = 5;
  for (const ref::Profile& profile : {life_profile(), sets, nics}) {
    CHECK(classes({1, 1}, 5, profile, own).empty());
    CHECK(classes({4}, 5, profile, own) == "wire.class ");
    CHECK(classes({1}, 8, profile, own) == "wire.class ");
  }
}

TEST_CASE("a class that changes holds for what is built from then on", "[reference][history][A-79]") {
  for (const auto& [wait, right] : {std::pair{log::Time{0}, true}, {1000 * kUs, false}}) {
    log::Qp qp = life_qp();
    Tale tale(qp);
    tale.sends(0, 0);
    qp.state = log::QpState::Rts;
    qp.own_class = true;
    qp.dscp_data = 1;
    qp.dscp_rtx = 5;
    tale.push(qp);
    tale.waits(wait);
    tale.sends(1, 1);  // 4 as before
    wire::Packet p = Tale::write(true, 2, 2);
    p.ipv6->dscp = 1;
    tale.frame(true, 0, p);
    CHECK(tale.wrong() == (right ? "" : "wire.class "));
  }
}

TEST_CASE("the code point of an endpoint request is its caller's, of a QP's probe its data's",
          "[reference][history][A-60][A-79]") {
  for (const auto& [dscp, right] : {std::pair{4u, true}, {0u, true}, {63u, true}, {46u, false}}) {
    Tale tale;
    wire::Packet request = Tale::packet(wire::Opcode::EndpointRequest, true, 1);
    request.bth->dqp = 2;
    request.erth->op = 1;
    request.erth->ftype = 1;
    request.ipv6->dscp = static_cast<uint8_t>(dscp);
    tale.frame(true, 0, request);
    CHECK(tale.wrong() == (right ? "" : "wire.class "));
  }
  for (const uint8_t dscp : {uint8_t{4}, uint8_t{8}}) {
    Tale tale;
    tale.sends(0, 0);
    wire::Packet probe = Tale::packet(wire::Opcode::ProbeRequest, true, 0);
    probe.peth->spdcid = kQp;
    probe.peth->dpdcid = kPeerQp;
    probe.peth->ftype = 1;
    probe.ipv6->dscp = dscp;
    tale.frame(true, 0, probe);
    CHECK(tale.wrong() == (dscp == 4 ? "" : "wire.class "));
  }
}

}  // namespace mrc::test::collectives_test
