// SPDX-License-Identifier: Apache-2.0
#include "reference/requestor.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::requestor_test {

using namespace mrc::ref;

TEST_CASE("a requestor permits new PSNs inside its window and old ones with a cause", "[reference.requestor]") {
  Requestor r(100, 4, {3, true, 1000});
  CHECK(r.enabled() == Requestor::kNew);
  for (Seq psn = 100; psn < 104; ++psn) {
    CHECK(r.permits(psn, false, 10, 0));
    CHECK(r.sent(psn, 7, 0, 10));
  }
  CHECK_FALSE(r.permits(104, false, 10, 0));
  CHECK_FALSE(r.permits(101, true, 11, 0));
  CHECK(r.enabled() == 0);
  CHECK(r.open() == 4);
  CHECK(r.oldest() == 100);
  CHECK(r.permits(101, true, 510, 0));  // half an interval: it may have been meant so much earlier
  r.nacked(101, 1, 8, 20);              // of another EV: an earlier transmission, if there was one
  CHECK_FALSE(r.owed());
  CHECK(r.causes(101, 21, 0) == kByNack);
  r.nacked(101, 1, 7, 20);
  CHECK(r.owed() == Seq{101});
  CHECK(r.enabled() == Requestor::kAgain);
  CHECK(r.sent(101, 9, 0, 30));
  CHECK_FALSE(r.owed());
  CHECK(r.permits(101, true, 31, 0));  // this frame may be older than the NACK: the one that it caused follows
  CHECK(r.sent(101, 10, 0, 31));
  CHECK_FALSE(r.permits(101, true, 32, 0));

  CHECK(r.heard({100, 101, 0b110, 2, Seq{103}, 0}, 40) == 3);
  CHECK(r.open() == 1);
  CHECK(r.oldest() == 101);
  CHECK(r.limit() == 104);
  CHECK(r.permits(104, false, 41, 0));
  CHECK(r.heard({103, 104, 0, 0, Seq{101}, 0}, 50) == 1);
  CHECK(r.heard({103, 104, 0, 0, Seq{101}, 0}, 51) == 0);
  CHECK(r.progress() == 50);
  CHECK(r.open() == 0);
  CHECK(r.oldest() == r.next());
}

TEST_CASE("what was given later has brought a SACK, though a packet waited at its port and left behind it (A-83)",
          "[reference.requestor]") {
  for (const bool by_time : {false, true}) {
    Requestor r(0, 128, {64, false, 100'000, by_time});
    r.sent(1, 7, 1, 10);
    r.heard({-1, 0, 0b10, 1, Seq{1}, 0}, 20);
    r.sent(0, 8, 0, 30);
    r.sent(2, 7, 1, 31);
    CHECK(r.causes(0, 40, 1) == (by_time ? kByTime : 0));
    CHECK(r.causes(2, 40, 1) == 0);
    r.sent(0, 9, 1, 41, 0, {}, true);  // from then on what was sent later counts
    CHECK(r.causes(0, 50, 1) == 0);
    r.sent(3, 7, 1, 60);
    r.heard({-1, 0, 0b1010, 2, Seq{3}, 0}, 70);
    CHECK(r.causes(0, 80, 1) == (by_time ? kByTime : 0));
  }
}

TEST_CASE("the newest time stamp that SACKs have returned, over the wrap, and forgotten after 2 ms",
          "[reference.requestor][A-83]") {
  ReturnedStamp r;
  CHECK_FALSE(r.after(0));
  r.heard(0xfff0, 10);
  CHECK_FALSE(r.after({}));
  CHECK(r.after(0xffef));
  CHECK_FALSE(r.after(0xfff0));
  CHECK_FALSE(r.after(0xfff1));
  r.heard(0xff00, 20);  // an older one came later
  CHECK(r.after(0xffef));
  r.heard(3, 30);
  CHECK(r.after(0xfff0));
  CHECK(r.after(2));
  CHECK_FALSE(r.after(3));
  CHECK_FALSE(r.after(0x8003));  // half of the range: nobody can tell
  r.heard(0xf000, 30 + 1'999'999'999);
  CHECK(r.after(2));
  r.heard(0xf000, 30 + 2'000'000'000);
  CHECK_FALSE(r.after(2));
  CHECK(r.after(0xefff));
}

TEST_CASE("of NACKs that come together each may cause a retransmission, which waits inside", "[reference.requestor]") {
  for (const unsigned nacks : {2U, 3U}) {
    Requestor r(0, 128, {4, true, 100'000});
    r.sent(0, 7, 0, 10);
    for (unsigned n = 0; n < nacks; ++n) r.nacked(0, 2, 7, 20);
    r.sent(0, 8, 0, 30);
    r.sent(0, 9, 0, 31);
    CHECK((r.causes(0, 32, 1) == kByNack) == (nacks == 3));
    CHECK(r.causes(0, 37, 1) == 0);
  }
}

TEST_CASE("a retransmission that a gap caused leaves the NACKs theirs", "[reference.requestor]") {
  Requestor r(0, 128, {1, false, 100'000});
  for (Seq psn = 0; psn < 3; ++psn) r.sent(psn, 7, 0, 10);
  r.heard({-1, 0, 0b110, 2, Seq{2}, 0}, 15);
  r.nacked(0, 2, 7, 20);
  r.nacked(0, 2, 7, 20);
  for (const Time at : {30, 31, 32}) {
    CHECK(r.causes(0, at, 1) != 0);
    r.sent(0, 8, 0, at);
  }
  CHECK(r.causes(0, 33, 1) == 0);
}

TEST_CASE("a gap is lost once enough packets above it have arrived, once", "[reference.requestor]") {
  Requestor r(0, 128, {3, false, 1000});
  for (Seq psn = 0; psn < 8; ++psn) r.sent(psn, static_cast<uint32_t>(psn), 0, 10);
  r.heard({-1, 0, 0b110, 2, Seq{2}, 0}, 20);
  CHECK_FALSE(r.owed());
  r.heard({-1, 0, 0b1110, 3, Seq{3}, 0}, 21);
  CHECK(r.owed() == Seq{0});
  CHECK(r.causes(0, 22, 0) == kByGap);
  r.sent(0, 9, 0, 30);
  r.heard({-1, 0, 0b11111110, 7, Seq{7}, 0}, 40);
  CHECK_FALSE(r.owed());
  CHECK(r.causes(0, 41, 0) == 0);
}

TEST_CASE("PSNs that no window holds are not taken, old ones are forgotten", "[reference.requestor]") {
  Requestor r(0, 128, {});
  CHECK_FALSE(r.sent(-1, 0, 0, 1));
  CHECK_FALSE(r.sent(Requestor::kMostPsns, 0, 0, 1));
  for (Seq psn = 0; psn < 100'000; ++psn) {
    r.sent(psn, 0, 0, 1);
    r.heard({psn, psn + 1, 0, 0, {}, 0}, 1);
  }
  CHECK(r.base() == 99'999 - Requestor::kTail);
  CHECK(r.memory() < 400'000);
  CHECK(r.find(5) == nullptr);
}

}  // namespace mrc::test::requestor_test
