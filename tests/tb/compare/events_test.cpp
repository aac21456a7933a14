// SPDX-License-Identifier: Apache-2.0
#include "tb/compare/events.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::events_test {

using namespace mrc::tb;

namespace {
constexpr auto kGrant = static_cast<unsigned>(CoreStream::TxSchedGrant);
constexpr auto kPkt = static_cast<unsigned>(CoreStream::TxSegmentPkt);

void add_pkt(EventLog& log, uint64_t cycle, QpIndex qp, uint32_t psn) {
  Pkt p;
  p.qp = qp;
  p.psn = psn;
  uint32_t words[Pkt::kWords];
  p.pack(words);
  log.add(cycle, kPkt, words, Pkt::kWords);
}
}  // namespace

TEST_CASE("the hash depends on cycle, boundary, data and order of all events", "[tb][events]") {
  const auto hash = [](auto&& fill) {
    EventLog log(1 << 10);
    fill(log);
    return log.hash();
  };
  const uint32_t a = 1, b = 2;
  const uint64_t base = hash([&](EventLog& l) { l.add(5, kGrant, &a, 1), l.add(6, kGrant, &b, 1); });
  CHECK(base == hash([&](EventLog& l) { l.add(5, kGrant, &a, 1), l.add(6, kGrant, &b, 1); }));
  CHECK(base != hash([&](EventLog& l) { l.add(5, kGrant, &b, 1), l.add(6, kGrant, &a, 1); }));
  CHECK(base != hash([&](EventLog& l) { l.add(5, kGrant, &a, 1), l.add(7, kGrant, &b, 1); }));
  CHECK(base != hash([&](EventLog& l) { l.add(5, kGrant + 1, &a, 1), l.add(6, kGrant, &b, 1); }));
  CHECK(base != hash([&](EventLog& l) { l.add(5, kGrant, &a, 1); }));
}

TEST_CASE("the newest events come back, whole, for one QP or all", "[tb][events]") {
  EventLog log(1 << 10);
  for (unsigned i = 0; i < 500; ++i) add_pkt(log, 10 + i, static_cast<uint16_t>(i % 3), i);
  CHECK(log.count() == 500);
  const auto all = log.newest(32, ~uint64_t{0});
  REQUIRE(all.size() == 32);
  for (unsigned i = 0; i < 32; ++i) {
    CHECK(all[i].order == 468 + i);
    CHECK(all[i].cycle == 478 + i);
    CHECK(Pkt::unpack(all[i].data.data()).psn == 468 + i);
  }
  const auto of_qp = log.newest(5, 500, 1);  // events 490 and before
  REQUIRE(of_qp.size() == 5);
  CHECK(Pkt::unpack(of_qp.back().data.data()).psn == 490);
  for (const Event& e : of_qp) CHECK(event_qp(stream_at(e.stream), e.data.data()) == 1);
  CHECK(log.newest(1000, ~uint64_t{0}).size() == 60);  // what the memory holds: 17 words each
  CHECK(describe(stream_at(kPkt).info->fields, of_qp.back().data.data()) == "qp=1 psn=0x1ea");
}

TEST_CASE("verdicts and lines are of the QP whose payload is placed, of none when it is discarded", "[tb][events]") {
  const auto qp = [](CoreStream at, const auto& word) {
    uint32_t words[64];
    word.pack(words);
    return event_qp(stream_at(static_cast<unsigned>(at)), words);
  };
  CHECK(qp(CoreStream::RxTrackVerdict, Verdict{.plane = 1, .place = true, .qp = 3}) == 3);
  CHECK(qp(CoreStream::RxTrackVerdict, Verdict{.plane = 1, .place = false}) == -1);
  CHECK(qp(CoreStream::RxPlaceLine, Line{.len = 1, .qp = 0}) == 0);
  CHECK(qp(CoreStream::RxPlaceLine, Line{.len = 0, .last = true}) == -1);
}

TEST_CASE("per-plane boundaries have their plane in the name", "[tb][events]") {
  CHECK(num_streams(8) == kNumCoreStreams + 24);
  CHECK(stream_at(0).name() == "host.wqe");
  CHECK(stream_at(kNumCoreStreams + 3 * kNumLaneStreams + 1).name() == "rx_lane[3].desc");
  CHECK(stream_at(kNumCoreStreams + 1).producer() == "rx_lane");
  for (unsigned b = 0; b < num_streams(1); ++b) {  // every stream has a taker and a place in the flow
    CHECK(std::string(consumer_of(*stream_at(b).info)) != "?");
    CHECK(flow_rank(*stream_at(b).info) < num_streams(1));
  }
}

}  // namespace mrc::test::events_test
