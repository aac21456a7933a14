// SPDX-License-Identifier: Apache-2.0
// Acks that come while the machine works at an event.
#include <catch2/catch_test_macros.hpp>

#include "tests/pipeline/cc/cc_nscc_bench.hpp"

using namespace mrc;
using namespace mrc::test::cc_nscc;

namespace {

Ccev with_pen(Ccev e, uint8_t pen) {
  e.pen = pen;
  return e;
}
Ccev with_restore(Ccev e) {
  e.restore = true;
  return e;
}
Ccev to(uint16_t cc, Ccev e) {
  e.cc = cc;
  return e;
}

/// Taken by a machine that a first event keeps for 16 cycles, before these came.
std::vector<Ccev> behind_another(std::vector<Ccev> events) {
  Bench b;
  b.ev_queue = std::move(events);
  b.ev_queue.insert(b.ev_queue.begin(), ack(1, 150));
  b.run(300);
  REQUIRE_FALSE(b.taken.empty());
  b.taken.erase(b.taken.begin());
  return b.taken;
}

}  // namespace

TEST_CASE("cc_nscc: which Acks join", "[pipeline][cc_nscc][A-77]") {
  const uint32_t half = 1u << 27;
  struct Pair {
    const char* what;
    Ccev a, b;
    bool join;
  };
  const Pair pairs[] = {
      {"two Acks", ack(1000, 150), ack(2000, 140), true},
      {"both marked", ack(1000, 150, true), ack(2000, 140, true), true},
      {"the older one marked", ack(1000, 150, true), ack(2000, 140), false},
      {"the newer one marked", ack(1000, 150), ack(2000, 140, true), false},
      {"both without sample", ack_without_rtt(1000), ack_without_rtt(2000), true},
      {"the older one without sample", ack_without_rtt(1000), ack(2000, 140), false},
      {"the newer one without sample", ack(1000, 150), ack_without_rtt(2000), false},
      {"a penalty first", with_pen(ack(1000, 150), 1), ack(2000, 140), false},
      {"a penalty behind", ack(1000, 150), with_pen(ack(2000, 140), 64), false},
      {"the same penalty twice", with_pen(ack(1000, 150), 3), with_pen(ack(2000, 140), 3), false},
      {"restore twice", with_restore(ack(1000, 150)), with_restore(ack(2000, 140)), true},
      {"restore first", with_restore(ack(1000, 150)), ack(2000, 140), false},
      {"restore behind", ack(1000, 150), with_restore(ack(2000, 140)), false},
      {"another controller", ack(1000, 150), to(1, ack(2000, 140)), false},
      {"the same controller under another number", ack(1000, 150), to(4, ack(2000, 140)), false},
      {"a NACK behind", ack(1000, 150), nack(2000), false},
      {"a NACK first", nack(1000), ack(2000, 140), false},
      {"two NACKs", nack(1000), nack(2000), false},
      {"two losses", loss(1000), loss(2000), false},
      {"the largest", ack(half - 1, 150), ack(half - 1, 140), true},
      {"the older one too large", ack(half, 150), ack(1, 140), false},
      {"the newer one too large", ack(1, 150), ack(half, 140), false},
  };
  for (const Pair& p : pairs) {
    CAPTURE(p.what);
    CHECK(cc_joins(p.a, p.b) == p.join);
    const auto taken = behind_another({p.a, p.b});
    if (p.join) {
      Ccev both = p.b;
      both.bytes = p.a.bytes + p.b.bytes;
      CHECK(taken == std::vector<Ccev>{both});
    } else {
      CHECK(taken == std::vector<Ccev>{p.a, p.b});
    }
  }
}

TEST_CASE("cc_nscc: an Ack that finds the machine idle goes alone, those behind it in one event",
          "[pipeline][cc_nscc][A-77]") {
  Bench b;
  b.send(0, 10'000);
  b.taken.clear();
  b.popped.clear();
  for (uint32_t i = 1; i <= 4; ++i) b.ev_queue.push_back(ack(i * 1000, static_cast<uint16_t>(150 + i)));
  b.run(60);
  CHECK(b.taken == std::vector<Ccev>{ack(1000, 151), ack(9000, 154)});  // 2000 + 3000 + 4000, the last one's sample
  REQUIRE(b.popped.size() == 2);
  CHECK(b.popped[1] - b.popped[0] == 16);  // the first one's time, as if nobody had come
  CHECK(b.block.state(0).inflight == 0);
  CHECK(b.block.state(0).received == 10'000);
  CHECK(b.block.state(0).achieved == 9000);  // quick adapt's period began with the first
}

TEST_CASE("cc_nscc: nothing passes what waits", "[pipeline][cc_nscc][A-77]") {
  const auto taken = behind_another({ack(10, 150), ack(20, 150), nack(30), ack(40, 150), to(2, ack(50, 150)),
                                     ack(60, 150), ack(70, 150), ack(80, 150, true), ack(90, 150, true)});
  // What joins is right behind: the NACK, the other controller and the mark each keep their places.
  CHECK(taken == std::vector<Ccev>{ack(30, 150), nack(30), ack(40, 150), to(2, ack(50, 150)), ack(130, 150),
                                   ack(170, 150, true)});
}

TEST_CASE("cc_nscc: a joined Ack is worth what its Acks are, one after the other", "[pipeline][cc_nscc][A-77]") {
  // Samples alike, no adjustment between them: 25 ticks below the target of 75, so each byte adds the same to inc.
  Bench one, three;
  one.event(ack(1000, 150));
  for (int i = 0; i < 3; ++i) one.event(ack(1000, 150));
  three.ev_queue = {ack(1000, 150), ack(1000, 150), ack(1000, 150), ack(1000, 150)};
  three.run(80);
  CHECK(three.taken.size() == 2);
  const NsccState a = one.block.state(0), b = three.block.state(0);
  CHECK(b.inflight == a.inflight);
  CHECK(b.received == a.received);
  CHECK(b.bytes_ignored == a.bytes_ignored);
  CHECK(b.cwnd == a.cwnd);
  // Each product is rounded to 2^-8 byte^2, by half a unit at most.
  CHECK(b.inc + 2 >= a.inc);
  CHECK(b.inc <= a.inc + 2);
  CHECK(b.avg < a.avg);  // two samples instead of four
}
