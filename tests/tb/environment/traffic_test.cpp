// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/traffic.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace mrc::test::traffic_test {

using namespace mrc::tb;
using Catch::Matchers::ContainsSubstring;

namespace {

const Preset& kTiny = *find_preset("tiny");
constexpr uint64_t kBase = 0x7000'0000'1000;

/// A receiver with one message of 300 bytes on QP 2, at offset 1000 of its memory.
struct Receiver {
  SourceMemory source{4096, 0x5000, Rng(1, "test")};
  Responder responder{kTiny, source, 64 * 1024, kBase, 0};
  Message m;
  Receiver(bool imm = false) {
    m = {.id = 0,
         .qp = 1,
         .peer_qp = 2,
         .laddr = 0x5010,
         .dest = 1000,
         .length = 300,
         .imm = imm ? 99u : 0u,
         .packets = 2,
         .msn = 5,
         .rqmsn = 7,
         .imm_valid = imm};
    responder.posted(m);
  }
  const char* write(uint64_t from, unsigned length, int damage = -1) {
    uint8_t bytes[128];
    std::copy_n(source.at(m.laddr + from, length), length, bytes);
    if (damage >= 0) bytes[damage] ^= 1;
    return responder.write(kBase + m.dest + from, length, bytes);
  }
  const char* write_all(int damage = -1) {
    for (unsigned at = 0; at < 300; at += 100) {
      if (const char* wrong = write(at, 100, at == 100 ? damage : -1)) return wrong;
    }
    return nullptr;
  }
  Cqe delivery() const {
    return {.qp = 2, .recv = true, .status = CqStatus::Ok, .wr_id = 0, .imm = 99, .length = 300, .msn = 7};
  }
};

}  // namespace

TEST_CASE("a message is verified once its bytes are there and its sender knows", "[tb][traffic]") {
  Receiver r;
  CHECK(r.write_all() == nullptr);
  CHECK(r.responder.verify().empty());
  CHECK(r.responder.verified() == 0);
  r.responder.completed(0);
  CHECK(r.responder.verify().empty());
  CHECK(r.responder.verified() == 1);
  CHECK(r.responder.quiet());
  CHECK(r.responder.mail().freed == std::vector<uint32_t>{0});
  CHECK(r.responder.finish().empty());
  CHECK(std::string(r.write(0, 1)) == "where no message goes");  // nothing may come later
}

TEST_CASE("wrong, missing, double and stray bytes are found", "[tb][traffic]") {
  SECTION("wrong") {
    Receiver r;
    REQUIRE(r.write_all(17) == nullptr);
    r.responder.completed(0);
    CHECK_THAT(r.responder.verify(), ContainsSubstring("1 of 300 bytes are wrong, the first at offset 117"));
  }
  SECTION("missing") {
    Receiver r;
    REQUIRE(r.write(0, 100) == nullptr);
    r.responder.completed(0);
    CHECK(r.responder.verify().empty());
    CHECK_THAT(r.responder.finish(), ContainsSubstring("100 of 300 bytes arrived"));
  }
  SECTION("double") {
    Receiver r;
    REQUIRE(r.write_all() == nullptr);
    CHECK(std::string(r.write(200, 100)) == "to bytes that were already written");
  }
  SECTION("beyond the message") {
    Receiver r;
    CHECK(std::string(r.write(299, 2)) == "beyond its message");
  }
  SECTION("elsewhere") {
    Receiver r;
    const uint8_t byte = 1;
    CHECK(std::string(r.responder.write(kBase + 5000, 1, &byte)) == "where no message goes");
    CHECK(std::string(r.responder.write(kBase - 1, 1, &byte)) == "outside the memory that may be written");
    CHECK(std::string(r.responder.write(kBase + 64 * 1024, 1, &byte)) == "outside the memory that may be written");
  }
}

TEST_CASE("what a NIC had not written when its pin fell is not due, whatever its sender knows",
          "[tb][traffic][lives]") {
  for (const bool imm : {false, true}) {  // bytes are missing, or the immediate alone
    for (const bool before : {false, true}) {
      Receiver r(imm);
      REQUIRE((imm ? r.write_all() : r.write(0, 100)) == nullptr);
      if (before) r.responder.completed(0);
      CHECK(r.responder.verify(0, 10).empty());
      r.responder.cut_off();
      if (!before) r.responder.completed(0);
      CHECK(r.responder.quiet());
      CHECK(r.responder.verify(1, 10).empty());
      CHECK(r.responder.finish().empty());
      CHECK(r.responder.verified() == 0);
      CHECK(r.responder.mail().freed.empty());
      CHECK(r.responder.verify(12, 10).empty());
      CHECK(r.responder.mail().freed == std::vector<uint32_t>{0});  // then its memory is free
    }
  }
  Receiver whole;  // what is there whole is still looked at
  REQUIRE(whole.write_all(17) == nullptr);
  whole.responder.cut_off();
  whole.responder.completed(0);
  CHECK_THAT(whole.responder.verify(), ContainsSubstring("1 of 300 bytes are wrong"));
}

TEST_CASE("an immediate is delivered after its data and all data before it", "[tb][traffic]") {
  SECTION("too early") {
    Receiver r(true);
    REQUIRE(r.write(0, 100) == nullptr);
    CHECK_THAT(r.responder.completion(r.delivery()),
               ContainsSubstring("200 bytes of message MSN 5, its own, are not in host memory yet"));
  }
  SECTION("another value") {
    Receiver r(true);
    REQUIRE(r.write_all() == nullptr);
    Cqe c = r.delivery();
    c.imm = 98;
    CHECK_THAT(r.responder.completion(c), ContainsSubstring("is next"));
  }
  SECTION("right, and only once") {
    Receiver r(true);
    REQUIRE(r.write_all() == nullptr);
    CHECK(r.responder.completion(r.delivery()).empty());
    CHECK_THAT(r.responder.completion(r.delivery()), ContainsSubstring("no immediate is due there"));
  }
  SECTION("with wrong bytes") {
    Receiver r(true);
    REQUIRE(r.write_all(3) == nullptr);
    CHECK_THAT(r.responder.completion(r.delivery()), ContainsSubstring("bytes are wrong"));
  }
}

TEST_CASE("after an immediate too many nothing waits for the immediates of that QP", "[tb][traffic]") {
  Receiver r(true);
  r.responder.expect_overruns(1);
  Message second = r.m;  // the one too many
  second.id = 1;
  second.dest = 2000;
  second.msn = 6;
  second.rqmsn = 8;
  r.responder.posted(second);
  Cqe refusal = r.delivery();
  refusal.status = CqStatus::WimmOverrun;
  CHECK_THAT(r.responder.completion(refusal), ContainsSubstring("refused although 1 may be outstanding"));
  CHECK(r.write_all() == nullptr);
  r.responder.completed(0);
  CHECK(r.responder.verify().empty());
  CHECK(r.responder.verified() == 0);  // its immediate is due
  refusal.msn = 8;
  CHECK(r.responder.completion(refusal).empty());
  CHECK(r.responder.verify().empty());
  CHECK(r.responder.verified() == 1);
  CHECK_FALSE(r.responder.quiet());  // the other one's sender has yet to hear of it
  r.responder.abandoned(1);
  CHECK(r.responder.quiet());
}

TEST_CASE("WQEs complete once, in order, with what they said", "[tb][traffic]") {
  const Scenario s;
  const SourceMemory source(1 << 20, 0x10000, Rng(1, "test"));
  const std::vector<Region> regions{{.rkey = 0x100, .va = 0x40000, .length = 1 << 20, .dest = 0}};
  Requester requester(kTiny, s, source, {{.peer = 3, .mtu = 1, .msn = 65535, .rqmsn = 9}}, regions, 1000,
                      Rng(1, "test"));
  std::vector<Wqe> wqes;
  while (const Wqe* w = requester.offer()) {
    CHECK(requester.offer() == w);  // stays until taken
    CHECK(source.at(w->laddr, w->length) != nullptr);
    CHECK(w->raddr - 0x40000 + w->length <= 1 << 20);
    wqes.push_back(*w);
    requester.taken();
  }
  REQUIRE(wqes.size() == 8);  // WqeDepth: not more than a QP holds
  const auto completion = [&](unsigned i) {
    return Cqe{.qp = 0,
               .recv = false,
               .status = CqStatus::Ok,
               .wr_id = wqes[i].wr_id,
               .imm = 0,
               .length = wqes[i].length,
               .msn = static_cast<uint16_t>(65535 + i)};
  };
  CHECK_THAT(requester.completion(completion(1)), ContainsSubstring("is older and not complete"));
  Cqe wrong = completion(0);
  wrong.length += 1;
  CHECK_THAT(requester.completion(wrong), ContainsSubstring("instead of length"));
  wrong = completion(0);
  wrong.status = CqStatus::RemAccess;
  CHECK_THAT(requester.completion(wrong), ContainsSubstring("it must end well"));
  CHECK(requester.completion(completion(0)).empty());
  CHECK(requester.completion(completion(1)).empty());
  CHECK_THAT(requester.completion(completion(0)), ContainsSubstring("is older and not complete"));
  CHECK(requester.completed() == 2);
  CHECK(requester.mail().completed == std::vector<uint32_t>{0, 1});
}

TEST_CASE("a signal of no bytes is delivered once all bytes of the messages before it are in memory",
          "[tb][traffic][A-19]") {
  Receiver r;
  Message signal;
  signal.id = 1;
  signal.qp = 1;
  signal.peer_qp = 2;
  signal.imm = 77;
  signal.packets = 1;
  signal.msn = 6;
  signal.rqmsn = 7;
  signal.imm_valid = true;
  r.responder.posted(signal);
  Cqe delivery = r.delivery();
  delivery.imm = 77;
  delivery.length = 0;
  SECTION("too early") {
    REQUIRE(r.write(0, 100) == nullptr);
    CHECK_THAT(r.responder.completion(delivery),
               ContainsSubstring("200 bytes of message MSN 5, before it on that QP, are not in host memory yet"));
  }
  SECTION("with a length") {
    REQUIRE(r.write_all() == nullptr);
    delivery.length = 4;
    CHECK_THAT(r.responder.completion(delivery), ContainsSubstring("length 0 is next"));
  }
  SECTION("with another number") {
    REQUIRE(r.write_all() == nullptr);
    delivery.msn = 8;
    CHECK_THAT(r.responder.completion(delivery), ContainsSubstring("RQMSN 7"));
  }
  SECTION("in its place") {
    REQUIRE(r.write_all() == nullptr);
    CHECK(r.responder.completion(delivery).empty());
    r.responder.completed(0);
    r.responder.completed(1);
    CHECK(r.responder.verify().empty());
    CHECK(r.responder.verified() == 2);
    CHECK(r.responder.verified_bytes() == 300);
    CHECK(r.responder.finish().empty());
  }
  SECTION("it has no memory of its own") {
    REQUIRE(r.write_all() == nullptr);
    CHECK(r.responder.qp_at(kBase) == -1);
    const uint8_t byte = 1;
    CHECK(std::string(r.responder.write(kBase, 1, &byte)) == "where no message goes");
  }
}

namespace {

/// Messages of one QP until one has been made that `wanted` likes; each completes at once.
template <class Wanted>
std::vector<Message> made_until(Requester& requester, Wanted wanted) {
  std::vector<Message> list;
  for (unsigned i = 0; i < 500; ++i) {
    if (requester.offer() == nullptr) continue;
    requester.taken();
    list.push_back(requester.mail().posted.back());
    if (wanted(list.back())) break;
  }
  return list;
}

}  // namespace

TEST_CASE("behind so many WRITEs of a QP comes a signal", "[tb][traffic][A-19]") {
  Scenario s;
  s.signal_every = 3;
  s.imm_share = 0;
  s.outstanding = 64;
  const SourceMemory source(1 << 20, 0x10000, Rng(1, "test"));
  const std::vector<Region> regions{{.rkey = 1, .va = 1 << 20, .length = 1 << 20, .dest = 0}};
  Requester requester(kTiny, s, source, {{.peer = 0, .mtu = 2}}, regions, 2000, Rng(7, "test"));
  const auto list = made_until(requester, [](const Message& m) { return m.id == 11; });
  REQUIRE(list.size() == 12);
  for (const Message& m : list) {
    CHECK((m.length == 0) == (m.id % 4 == 3));
    CHECK(m.imm_valid == (m.length == 0));
    if (m.imm_valid) CHECK(m.rqmsn == m.id / 4);
  }
  CHECK(requester.no_bytes() == 3);
}

TEST_CASE("an immediate too many is refused only where it may be", "[tb][traffic][A-62]") {
  Scenario s;
  s.imm_share = 1;
  s.may_fail = true;
  s.outstanding = 64;
  const SourceMemory source(1 << 20, 0x10000, Rng(1, "test"));
  const std::vector<Region> regions{{.rkey = 1, .va = 1 << 20, .length = 1 << 20, .dest = 0}};
  for (const bool waits : {true, false}) {
    Requester requester(kTiny, s, source, {{.peer = 0, .mtu = 2, .may_fail = true, .max_wimm = 1, .wimm_waits = waits}},
                        regions, 2000, Rng(7, "test"));
    const auto list = made_until(requester, [](const Message& m) { return m.id == 1; });
    REQUIRE(list.size() == 2);
    const Cqe refusal{.qp = 0,
                      .recv = false,
                      .status = CqStatus::WimmOverrun,
                      .wr_id = list[1].wr_id,
                      .imm = 0,
                      .length = 0,
                      .msn = 0};
    if (waits) {
      CHECK_THAT(requester.completion(refusal), ContainsSubstring("must wait until one before it has completed"));
      CHECK(requester.held() == 1);
    } else {
      CHECK(requester.completion(refusal).empty());
      CHECK(requester.held() == 0);
    }
  }
}

TEST_CASE("sentences name a queue pair and a status as logs do", "[tb][traffic]") {
  CHECK(QpNames()(3) == "3");
  CHECK(QpNames(0x3f00)(3) == "0x3f03");
  CHECK(status_text(CqStatus::WimmOverrun) == "0x83 (WimmOverrun)");
  CHECK(status_text(0xfe) == "0xfe");
  const Scenario s;
  const SourceMemory source(1 << 20, 0x10000, Rng(1, "test"));
  Requester requester(kTiny, s, source, {{.peer = 3, .mtu = 1}},
                      {{.rkey = 0x100, .va = 0x40000, .length = 1 << 20, .dest = 0}}, 10, Rng(1, "test"));
  const Cqe nobodys{.qp = 0, .recv = false, .status = CqStatus::Flushed, .wr_id = 17, .imm = 0, .length = 0, .msn = 0};
  CHECK(requester.completion(nobodys) ==
        "completion of WQE 0x11 on QP 0 with status 0x85 (Flushed): nothing is outstanding there");
  requester.names(QpNames(0x3f00));
  CHECK_THAT(requester.completion(nobodys), ContainsSubstring("on QP 0x3f00 with"));
  Receiver r;
  r.responder.names(QpNames(0x3f00), QpNames(0x10));
  CHECK(r.responder.finish() == "message MSN 5 from QP 0x11 to QP 0x3f02: 0 of 300 bytes arrived");
}

TEST_CASE("an immediate refused when it was posted may be told of after its QP has failed", "[tb][traffic][A-62]") {
  Scenario s;
  s.imm_share = 1;
  s.may_fail = true;
  s.outstanding = 64;
  const SourceMemory source(1 << 20, 0x10000, Rng(1, "test"));
  const std::vector<Region> regions{{.rkey = 1, .va = 1 << 20, .length = 1 << 20, .dest = 0}};
  for (const unsigned max_wimm : {0u, 1u}) {
    for (const bool waits : {true, false}) {
      Requester requester(kTiny, s, source,
                          {{.peer = 0, .mtu = 2, .may_fail = true, .max_wimm = max_wimm, .wimm_waits = waits}}, regions,
                          2000, Rng(7, "test"));
      const auto list = made_until(requester, [](const Message& m) { return m.id == 2; });
      REQUIRE(list.size() == 3);
      const auto completion = [&](unsigned of, CqStatus status) {
        return Cqe{.qp = 0, .recv = false, .status = status, .wr_id = list[of].wr_id, .imm = 0, .length = 0, .msn = 0};
      };
      CHECK(requester.completion(completion(0, CqStatus::RetryExceeded)).empty());
      CHECK_FALSE(requester.quiet());
      // A WRITE of a failed QP ends well never, and one that had to wait was not refused.
      CHECK_THAT(requester.completion(completion(1, CqStatus::Ok)), ContainsSubstring("it must be flushed"));
      const std::string refused = requester.completion(completion(1, CqStatus::WimmOverrun));
      if (waits && max_wimm != 0) {
        CHECK_THAT(refused, ContainsSubstring("it must be flushed"));
        CHECK(requester.completion(completion(1, CqStatus::Flushed)).empty());
      } else {
        CHECK(refused.empty());
      }
      CHECK(requester.completion(completion(2, CqStatus::Flushed)).empty());
      while (requester.offer() != nullptr) requester.taken();  // the one that is posted to a QP that has failed
    }
  }
}

TEST_CASE("memory of messages never overlaps and comes back", "[tb][traffic]") {
  Scenario s;
  s.size_min = 100;
  s.size_max = 20000;
  const SourceMemory source(1 << 20, 0x10000, Rng(1, "test"));
  std::vector<Region> regions;
  for (unsigned i = 0; i < 3; ++i)
    regions.push_back({.rkey = i, .va = i << 20, .length = 64 * 1024, .dest = i * 65536});
  std::vector<QpPlan> qps(8, {.peer = 0, .mtu = 2});
  Requester requester(kTiny, s, source, qps, regions, 20000, Rng(7, "test"));
  std::vector<Message> live;
  Rng rng(5, "test");
  uint64_t made = 0;
  while (!requester.exhausted()) {
    if (requester.offer()) {
      requester.taken();
      const Message m = requester.mail().posted.back();
      for (const Message& other : live) {
        REQUIRE((m.dest + m.length < other.dest || other.dest + other.length < m.dest));  // at least one byte between
      }
      live.push_back(m);
      ++made;
    } else {
      REQUIRE(!live.empty());
      const std::size_t i = rng.below(live.size());
      for (std::size_t k = 0; k < live.size(); ++k) {  // the oldest of that QP completes
        if (live[k].qp != live[i].qp) continue;
        const Message m = live[k];
        REQUIRE(requester
                    .completion({.qp = m.qp,
                                 .recv = false,
                                 .status = CqStatus::Ok,
                                 .wr_id = m.wr_id,
                                 .imm = 0,
                                 .length = m.length,
                                 .msn = m.msn})
                    .empty());
        requester.freed(m.id);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(k));
        break;
      }
    }
  }
  CHECK(made > 1000);
}

}  // namespace mrc::test::traffic_test
