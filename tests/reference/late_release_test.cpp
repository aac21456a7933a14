// SPDX-License-Identifier: Apache-2.0
/// Numbers that never go back in the order in which a NIC builds its answers (resp.ack-back, resp.cack-back,
/// resp.bytes), seen where ports release them: each in its own time.
#include <catch2/catch_test_macros.hpp>

#include "tests/reference/tale.hpp"

namespace mrc::test::late_release_test {

using ref::Rule;

namespace {

constexpr log::Time kLag = 13 * kUs;  ///< take and answer of a profile that promises nothing
constexpr Rule kBoth[] = {Rule::RespCackBack, Rule::RespAckBack};

/// A responder to which messages 0, 1, ... of one packet each come, on EVs of their own.
class Responder : public Tale {
 public:
  void comes(uint32_t n) { frame(false, n % 2, write(false, n, n)); }
  /// The SACK that packet `trigger` brings once all up to `cack` have come.
  void sacks(uint32_t cack, uint32_t trigger, unsigned plane, uint32_t rcvd_bytes = 0) {
    wire::Packet p = packet(wire::Opcode::Sack, true, kRqPsn + cack);
    p.seth->cack_psn = p.bth->psn;
    p.seth->ack_psn_offset = static_cast<int16_t>(static_cast<int>(trigger) - static_cast<int>(cack));
    p.seth->entropy = ev(trigger);
    p.cc_state->rcvd_bytes = rcvd_bytes;
    frame(true, plane, p);
  }
  void acks(uint32_t n, unsigned plane) {
    wire::Packet p = packet(wire::Opcode::Ack, true, kRqPsn + n);
    p.aeth->syndrome = 0x1F;
    p.aeth->msn = n + 1;
    frame(true, plane, p);
  }
  void answers(Rule rule, uint32_t n, unsigned plane) {
    rule == Rule::RespCackBack ? sacks(n, n, plane) : acks(n, plane);
  }
};

}  // namespace

TEST_CASE("what a port that stood still releases late goes back on no plane", "[reference][history]") {
  for (const Rule rule : kBoth) {
    INFO(ref::info(rule).id);
    Responder nic;
    nic.comes(0);
    nic.answers(rule, 0, 0);
    nic.comes(1);  // its answer is built, and waits at port 1
    nic.comes(2);
    nic.answers(rule, 2, 0);
    nic.waits(1000 * kUs);  // longer than any promise of the NIC: it is not the NIC that lets it wait
    nic.comes(3);
    nic.answers(rule, 3, 0);
    nic.waits(2 * kLag);
    nic.answers(rule, 1, 1);
    nic.answers(rule, 3, 1);
    CHECK(nic.broken(rule) == 0);
    CHECK(nic.rests(rule) == 1);  // and nobody says that it was held against the rule
    CHECK(nic.checked(rule) == 4);
  }
}

TEST_CASE("a number that goes back on one plane is found", "[reference][history]") {
  for (const Rule rule : kBoth) {
    for (const log::Time later : {kLag / 2, 2 * kLag}) {  // until a lag later two answers may pass each other
      INFO(ref::info(rule).id << " " << later);
      Responder nic;
      for (uint32_t n = 0; n < 3; ++n) nic.comes(n);
      nic.answers(rule, 2, 1);
      nic.waits(later);
      nic.answers(rule, 1, 1);
      CHECK(nic.broken(rule) == (later > kLag ? 1 : 0));
      CHECK(nic.rests(rule) == 0);
    }
  }
}

TEST_CASE("a number that grows all the time is found to go back", "[reference][history]") {
  for (const Rule rule : kBoth) {
    INFO(ref::info(rule).id);
    Responder nic;
    for (uint32_t n = 0; n < 20; ++n) {
      nic.comes(n);
      nic.answers(rule, n, 1);
      nic.waits(kLag / 4);
    }
    nic.answers(rule, 2, 1);
    CHECK(nic.broken(rule) == 1);
  }
}

TEST_CASE("an answer to what came after a newer number had left was built after it, whatever its plane",
          "[reference][history]") {
  for (const log::Time later : {kLag / 2, 2 * kLag}) {
    INFO(later);
    Responder nic;
    for (uint32_t n = 0; n < 3; ++n) nic.comes(n);
    nic.sacks(2, 2, 0);
    nic.waits(later);
    nic.comes(3);
    nic.sacks(1, 3, 1);
    CHECK(nic.broken(Rule::RespCackBack) == (later > kLag ? 1 : 0));
  }
}

TEST_CASE("a copy that came before excuses the answer that one that came after does not", "[reference][history]") {
  for (const bool before : {true, false}) {
    INFO(before);
    Responder nic;
    for (uint32_t n = 0; n < 3; ++n) {
      if (n != 1 || before) nic.comes(n);
    }
    nic.sacks(2, 2, 0);
    nic.waits(2 * kLag);
    nic.comes(1);
    nic.sacks(1, 1, 1);
    CHECK(nic.broken(Rule::RespCackBack) == (before ? 0 : 1));
    CHECK(nic.rests(Rule::RespCackBack) == (before ? 1 : 0));
  }
}

TEST_CASE("rcvd_bytes does not go back while cack_psn goes on", "[reference][history]") {
  // Four packets of 64 bytes are a unit at least, so no bound but that of before says anything.
  struct Case {
    const char* name;
    log::Time later;
    bool comes_later;
    unsigned plane;
    uint64_t broken, rests;
  };
  for (const Case& c :
       {Case{"a lag later, on its plane", 2 * kLag, false, 1, 1, 0}, Case{"within a lag", kLag / 2, false, 1, 0, 0},
        Case{"on another plane, of a packet of before", 2 * kLag, false, 0, 0, 1},
        Case{"on another plane, of a packet that came later", 2 * kLag, true, 0, 1, 0}}) {
    INFO(c.name);
    Responder nic;
    for (uint32_t n = 0; n < 3; ++n) nic.comes(n);
    if (!c.comes_later) nic.comes(3);
    nic.sacks(2, 2, 1, 2);
    nic.waits(c.later);
    if (c.comes_later) nic.comes(3);
    nic.sacks(3, 3, c.plane, 1);
    CHECK(nic.broken(Rule::RespBytes) == c.broken);
    CHECK(nic.rests(Rule::RespBytes) == c.rests);
    CHECK(nic.broken(Rule::RespCackBack) == 0);
  }
}

TEST_CASE("behind such an answer its plane releases no semantic ACK of before", "[reference][history]") {
  for (const bool shown : {true, false}) {
    INFO(shown);
    Responder nic;
    for (uint32_t n = 0; n < 3; ++n) nic.comes(n);
    nic.acks(2, 0);
    nic.waits(2 * kLag);
    nic.comes(3);
    nic.sacks(3, 3, shown ? 1 : 0);
    nic.waits(2 * kLag);
    nic.acks(1, 1);
    CHECK(nic.broken(Rule::RespAckBack) == (shown ? 1 : 0));
    CHECK(nic.rests(Rule::RespAckBack) == (shown ? 0 : 1));
  }
}

TEST_CASE("an update that waited where its own port stood still tells what was true before", "[reference][history]") {
  for (const bool stood : {true, false}) {
    INFO(stood);
    Tale tale;
    wire::Packet update = Tale::packet(wire::Opcode::EndpointRequest, true, 1);
    update.bth->dqp = 2;
    update.erth->op = 0;
    update.erth->port_status_mask = 0b110;
    tale.push(log::Port{1, false});
    tale.waits(kUs);
    if (stood) tale.push(log::Port{0, false});
    tale.waits(400 * kUs);
    if (stood) tale.push(log::Port{0, true});
    tale.frame(true, 0, update);
    CHECK(tale.broken(Rule::PeerMask) == (stood ? 0 : 1));
    CHECK(tale.rests(Rule::PeerMask) == (stood ? 1 : 0));
  }
}

}  // namespace mrc::test::late_release_test
