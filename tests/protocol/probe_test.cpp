// SPDX-License-Identifier: Apache-2.0
#include "protocol/probe.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::probe_test {

TEST_CASE("a probe id names slot and number; only the newest probe of a slot is answered", "[protocol][probe]") {
  CHECK(probe_id(1, 3, 4) == 7);
  CHECK(probe_slot(7, 4) == 3);
  CHECK(probe_answers(7, 1, 4));
  CHECK_FALSE(probe_answers(7, 2, 4));
  CHECK(probe_id(255, 63, 64) == 0x3fff);
  CHECK(probe_answers(0x3fff, 255, 64));
  CHECK_FALSE(probe_answers(0x7fff, 255, 64));  // 511: no number of eight bits
}

TEST_CASE("the interval doubles with each failure, as often as the cap says", "[protocol][probe]") {
  CHECK(probe_wait(781, 0) == 781);
  CHECK(probe_wait(781, 1) == 1562);
  CHECK(probe_wait(781, 6) == 49984);
  CHECK(probe_fails(0, 6) == 1);
  CHECK(probe_fails(5, 6) == 6);
  CHECK(probe_fails(6, 6) == 6);
  CHECK(probe_fails(3, 0) == 0);
  CHECK(probe_fails(14, 15) == 14);
  CHECK(probe_wait(0xffff, kProbeMaxFails) == 0x3fffc000);  // below 2^31: still told apart from the past
}

TEST_CASE("a slot is slow when an EV fails at the longest interval", "[protocol][probe]") {
  CHECK_FALSE(probe_slow(0, 6));
  CHECK_FALSE(probe_slow(5, 6));
  CHECK(probe_slow(6, 6));
  CHECK(probe_slow(0, 0));
  CHECK_FALSE(probe_slow(13, 15));
  CHECK(probe_slow(14, 15));      // 14 is the most that counts
  CHECK_FALSE(probe_slow(6, 4));  // the cap was lowered: the next failure
}

TEST_CASE("m of an answer: good, marked, or not wanted; a mark revives to SKIP unless the register says GOOD",
          "[protocol][probe]") {
  CHECK_FALSE(probe_refused(0));
  CHECK_FALSE(probe_refused(1));
  CHECK(probe_refused(2));
  CHECK(probe_refused(3));
  CHECK(probe_marked(1));
  for (const unsigned m : {0u, 2u, 3u}) CHECK_FALSE(probe_marked(m));
  CHECK(probe_revival(false, false) == FbKind::RevivedGood);
  CHECK(probe_revival(true, false) == FbKind::RevivedSkip);
  CHECK(probe_revival(false, true) == FbKind::RevivedGood);
  CHECK(probe_revival(true, true) == FbKind::RevivedGood);
}

TEST_CASE("a tick is reached also across the wrap", "[protocol][probe]") {
  CHECK(tick_reached(5, 5));
  CHECK(tick_reached(6, 5));
  CHECK_FALSE(tick_reached(4, 5));
  CHECK(tick_reached(3, 0xfffffff0));
  CHECK_FALSE(tick_reached(0xfffffff0, 3));
}

TEST_CASE("a PETH has its fields where the specification puts them", "[protocol][probe]") {
  const ControlPacket c = build_probe(0x0102, PdcIds::of(21, 0xab3456, false), 0x0708, false);
  CHECK(c.opcode == 0xDE);
  CHECK(c.psn == 0);
  CHECK(c.ext_len == 16);
  const uint8_t want[16] = {0, 0, 0, 0, 1, 2, 0, 0, 0, 0x15, 0x34, 0x56, 7, 8, 0, 1};  // spdcid 16 + 5
  for (unsigned i = 0; i < kMaxExtension; ++i) CHECK(c.ext[i] == (i < 16 ? want[i] : 0));
}

TEST_CASE("a PETH without QPNs, stamped in microseconds", "[protocol][probe]") {
  const ControlPacket c = build_probe(0x0102, PdcIds::of(21, 0xab3456, true), 0x7'1234, true);
  const uint8_t want[16] = {0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0xe2, 0x46, 0x80, 1};  // 0x71234 / 8 = 0xe246
  for (unsigned i = 0; i < kMaxExtension; ++i) CHECK(c.ext[i] == (i < 16 ? want[i] : 0));
}

TEST_CASE("an EV probe's id of 14 bits names slot and number", "[protocol][probe][A-32]") {
  CHECK(ev_probe_answers(7, 1, 4));
  CHECK_FALSE(ev_probe_answers(7, 2, 4));
  CHECK(ev_probe_answers(0x3fff, 255, 64));
  CHECK_FALSE(ev_probe_answers(0x3fff, 127, 64));
  CHECK_FALSE(ev_probe_answers(0x0404, 1, 4));  // 257: no number of eight bits
  CHECK(ev_probe_answers(0xc007, 1, 4));        // bits 15:14 of a request id do not count
}

TEST_CASE("the kind of the next probe: as the register says, or each in its turn", "[protocol][probe][A-32]") {
  for (const bool evp : {false, true}) {
    CHECK(probe_with_ev_probe(Revive::Either, evp) == evp);
    CHECK(probe_with_ev_probe(static_cast<Revive>(3), evp) == evp);
    CHECK(probe_with_ev_probe(Revive::EvProbe, evp));
    CHECK_FALSE(probe_with_ev_probe(Revive::Reliability, evp));
  }
}

}  // namespace mrc::test::probe_test
