// SPDX-License-Identifier: Apache-2.0
#include "protocol/rx_tracker.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::rx_tracker_test {
namespace {

constexpr unsigned code(wire::NackReason reason) { return static_cast<unsigned>(reason); }

}  // namespace

TEST_CASE("a PSN is new, known or outside, also across the wrap", "[rx_tracker]") {
  const uint32_t cack = 0xffffff;
  const RxRow row{.rcv = 0b100, .last = 0};
  CHECK(psn_class(0, cack, 1, 1, row) == PsnClass::New);
  CHECK(psn_class(2, cack, 1, 1, row) == PsnClass::DupAbove);
  CHECK(psn_class(127, cack, 1, 1, row) == PsnClass::New);
  CHECK(psn_class(128, cack, 1, 1, row) == PsnClass::OutOfWindow);
  CHECK(psn_class(128, cack, 2, 2, row) == PsnClass::New);
  CHECK(psn_class(130, cack, 1, 1, row) == PsnClass::OutOfWindow);  // its bit belongs to another PSN
  CHECK(psn_class(cack, cack, 1, 1, row) == PsnClass::DupBelow);
  CHECK(psn_class(0x800000, cack, 1, 1, row) == PsnClass::DupBelow);
  CHECK(psn_class(0x7fffff, cack, 1, 1, row) == PsnClass::OutOfWindow);
}

TEST_CASE("above the window: what a larger one would have had wants a bitmap, the rest is out of range",
          "[rx_tracker]") {
  CHECK(code(oor_reason(383, 0xffffff, 3)) == 0x06);
  CHECK(code(oor_reason(384, 0xffffff, 3)) == 0x0B);
  CHECK(code(oor_reason(0, 0xffff7f, 1)) == 0x0B);  // 128 after cack + 1
  CHECK(code(oor_reason(0xffffff, 0xffff7f, 1)) == 0x06);
  CHECK(code(oor_reason(0x7ffffe, 0xffffff, 32)) == 0x0B);
}

TEST_CASE("the reason of a NACK without payload is the one the packet came with", "[rx_tracker]") {
  CHECK(code(no_payload_reason(Trim::Trimmed)) == 0x01);
  CHECK(code(no_payload_reason(Trim::LastHop)) == 0x02);
  CHECK(code(no_payload_reason(Trim::NoBuffer)) == 0x07);
  CHECK(code(no_payload_reason(Trim::NoResource)) == 0x0A);
}

TEST_CASE("a dynamic window is between 128 PSNs and what the QP was set up with", "[rx_tracker]") {
  CHECK(dynamic_mpr(0, 8) == 1);
  CHECK(dynamic_mpr(1, 8) == 1);
  CHECK(dynamic_mpr(7, 8) == 7);
  CHECK(dynamic_mpr(8, 8) == 8);
  CHECK(dynamic_mpr(9, 8) == 8);
  CHECK(dynamic_mpr(255, 1) == 1);
}

TEST_CASE("behind a window that shrank a PSN is known, or outside", "[rx_tracker]") {
  const RxRow row{.rcv = 0b100, .last = 0};
  CHECK(psn_class(126, 0xffffff, 1, 3, row) == PsnClass::New);
  CHECK(psn_class(130, 0xffffff, 1, 3, row) == PsnClass::DupAbove);  // bit 2 of its row
  CHECK(psn_class(131, 0xffffff, 1, 3, row) == PsnClass::OutOfWindow);
  const RxRow ends{.rcv = uint64_t{1} << 63 | 1, .last = 0};
  CHECK(psn_class(383, 0xffffff, 1, 3, ends) == PsnClass::DupAbove);
  CHECK(psn_class(384, 0xffffff, 1, 3, ends) == PsnClass::OutOfWindow);  // the bit belongs to another PSN
  CHECK(psn_class(383, 0xffffff, 3, 3, ends) == PsnClass::DupAbove);
}

TEST_CASE("advance passes the ones, counts messages, and clears what it passed", "[rx_tracker]") {
  RxWindow w{.cack = 2, .max = 7, .ooo = 4};
  RxRow row{.rcv = 0b1011'1000, .last = 0b1001'0000};
  const RowAdvance a = row_advance(w, row);
  CHECK(a.count == 3);
  CHECK(a.messages == 1);
  CHECK(a.last_psn == 4);
  CHECK_FALSE(a.goes_on);
  CHECK(row == RxRow{.rcv = 0b1000'0000, .last = 0b1000'0000});
  CHECK(w == RxWindow{.cack = 5, .max = 7, .ooo = 1});
}

TEST_CASE("advance stops at once on a zero", "[rx_tracker]") {
  RxWindow w{.cack = 63, .max = 65, .ooo = 1};
  RxRow row{.rcv = 0b10, .last = 0b10};
  const RowAdvance a = row_advance(w, row);
  CHECK(a.count == 0);
  CHECK(a.messages == 0);
  CHECK_FALSE(a.goes_on);
  CHECK(row == RxRow{.rcv = 0b10, .last = 0b10});
  CHECK(w == RxWindow{.cack = 63, .max = 65, .ooo = 1});
}

TEST_CASE("advance goes on at a row's end if more has arrived", "[rx_tracker]") {
  RxWindow w{.cack = 0xffffbf, .max = 0xffffff, .ooo = 64};
  RxRow full{.rcv = ~uint64_t{0}, .last = uint64_t{1} << 63 | 1};
  RowAdvance a = row_advance(w, full);
  CHECK(a.count == 64);
  CHECK(a.messages == 2);
  CHECK(a.last_psn == 0xffffff);
  CHECK_FALSE(a.goes_on);
  CHECK(full == RxRow{});
  CHECK(w == RxWindow{.cack = 0xffffff, .max = 0xffffff, .ooo = 0});
  w = {.cack = 62, .max = 70, .ooo = 2};
  RxRow one{.rcv = uint64_t{1} << 63, .last = 0};
  a = row_advance(w, one);
  CHECK(a.count == 1);
  CHECK(a.messages == 0);
  CHECK(a.goes_on);
  CHECK(w == RxWindow{.cack = 63, .max = 70, .ooo = 1});
}

TEST_CASE("a packet is marked in its row, and moves cack when it is the next in order", "[rx_tracker]") {
  RxWindow w{.cack = 0xffffff, .max = 0xffffff, .ooo = 0};
  RxRow row;
  CHECK(row_take(w, row, 2, true).count == 0);
  CHECK(row == RxRow{.rcv = 0b100, .last = 0b100});
  CHECK(w == RxWindow{.cack = 0xffffff, .max = 2, .ooo = 1});
  CHECK(row_take(w, row, 1, false).count == 0);
  CHECK(row == RxRow{.rcv = 0b110, .last = 0b100});
  CHECK(w == RxWindow{.cack = 0xffffff, .max = 2, .ooo = 2});
  const RowAdvance a = row_take(w, row, 0, true);
  CHECK(a.count == 3);
  CHECK(a.messages == 2);
  CHECK(a.last_psn == 2);
  CHECK(row == RxRow{});
  CHECK(w == RxWindow{.cack = 2, .max = 2, .ooo = 0});
  CHECK(row_take(w, row, 3, false).messages == 0);  // in order: no bit stays
  CHECK(row == RxRow{});
  CHECK(w == RxWindow{.cack = 3, .max = 3, .ooo = 0});
}

TEST_CASE("the next row goes on only where cack has stopped", "[rx_tracker]") {
  RxWindow w{.cack = 63, .max = 64, .ooo = 1};
  RxRow row{.rcv = 1, .last = 1};
  CHECK(row_go_on(w, row, 0).count == 0);
  CHECK(row == RxRow{.rcv = 1, .last = 1});
  const RowAdvance a = row_go_on(w, row, 64);
  CHECK(a.count == 1);
  CHECK(a.messages == 1);
  CHECK(a.last_psn == 64);
  CHECK(w == RxWindow{.cack = 64, .max = 64, .ooo = 0});
  CHECK(row_go_on(w, row, 65).count == 0);
}

TEST_CASE("the trigger counts at least 1024 a packet and saturates", "[rx_tracker]") {
  CHECK(sack_trigger_add(5, 0) == 1029);
  CHECK(sack_trigger_add(5, 1024) == 1029);
  CHECK(sack_trigger_add(5, 4096) == 4101);
  CHECK(sack_trigger_add(0x1f'ffff, 1) == 0x1f'ffff);
  CHECK(sack_trigger_add(0x1f'fbfe, 1) == 0x1f'fffe);
  CHECK(sack_trigger_add(0x1f'fbff, 1) == 0x1f'ffff);
}

TEST_CASE("the cyclic base goes round the window", "[rx_tracker]") {
  CHECK(sack_cyclic_base(100, 99, 105) == 100);
  CHECK(sack_cyclic_base(105, 99, 105) == 105);
  CHECK(sack_cyclic_base(106, 99, 105) == 100);  // all reported: from the start again
  CHECK(sack_cyclic_base(98, 99, 105) == 100);   // behind cack
  CHECK(sack_cyclic_base(100, 99, 99) == 100);   // nothing above cack
  CHECK(sack_cyclic_base(0, 0xfffff0, 5) == 0);
}

TEST_CASE("a bitmap joins two rows and ends at the highest PSN", "[rx_tracker]") {
  CHECK(sack_bitmap(0xff, 0, 64, 200) == 0xff);
  CHECK(sack_bitmap(0xf000'0000'0000'0000, 0x5, 60, 200) == 0x5f);
  CHECK(sack_bitmap(~uint64_t{0}, ~uint64_t{0}, 60, 200) == ~uint64_t{0});
  CHECK(sack_bitmap(~uint64_t{0}, ~uint64_t{0}, 60, 62) == 0b111);
  CHECK(sack_bitmap(~uint64_t{0}, ~uint64_t{0}, 60, 59) == 0);
  CHECK(sack_bitmap(~uint64_t{0}, ~uint64_t{0}, 60, 58) == 0);  // all of it above max
  CHECK(sack_bitmap(~uint64_t{0}, ~uint64_t{0}, 0xffffff, 0) == 0b11);
}

TEST_CASE("received bytes count in units of 256, rounded up, modulo 2^24", "[rx_tracker]") {
  CHECK(sack_rcvd(0) == 0);
  CHECK(sack_rcvd(1) == 1);
  CHECK(sack_rcvd(256) == 1);
  CHECK(sack_rcvd(257) == 2);
  CHECK(sack_rcvd(0xffffff00) == 0xffffff);
  CHECK(sack_rcvd(0xffffff01) == 0);
}

TEST_CASE("a trimmed packet is missing until all up to the newest one have arrived", "[protocol][rx_tracker][A-74]") {
  mrc::TrimMiss miss;
  miss.arrived(5);
  CHECK_FALSE(miss.any);
  miss.trimmed(0xffffff);
  miss.trimmed(1);  // newer, over the wrap
  miss.trimmed(0xfffffe);
  CHECK(miss.psn == 1);
  miss.arrived(0xffffff);
  CHECK(miss.any);
  miss.arrived(0);
  CHECK(miss.any);
  miss.arrived(1);
  CHECK_FALSE(miss.any);
  miss.trimmed(0);  // after all had arrived: the only one
  CHECK(miss.psn == 0);
}

TEST_CASE("what makes a packet bring a SACK, one cause at a time", "[protocol][rx_tracker]") {
  mrc::SackDue due;
  CHECK_FALSE(due.arrived(1000, false, false, 10, 0));
  due.trig = 999;
  CHECK_FALSE(due.arrived(1000, false, false, 11, 0));
  due.trig = 1000;
  CHECK(due.arrived(1000, false, false, 12, 0));
  due.trig = 0;
  CHECK(due.arrived(1000, false, true, 13, 0));
  CHECK(due.arrived(1000, true, false, 14, 0));
  CHECK_FALSE(due.arrived(1000, false, false, 15, 0));  // nothing was missing when it was asked for

  CHECK(due.arrived(1000, true, false, 15, 2));         // asked for while two have arrived beyond a gap
  CHECK_FALSE(due.arrived(1000, false, false, 15, 3));  // remembered as long as something is missing
  CHECK(due.arrived(1000, false, false, 19, 0));        // and told once nothing is
  CHECK_FALSE(due.arrived(1000, false, false, 20, 0));

  due.tmiss.trimmed(22);
  CHECK(due.arrived(1000, false, false, 21, 0));
  CHECK(due.arrived(1000, false, false, 22, 0));  // the trimmed packet itself
  CHECK_FALSE(due.arrived(1000, false, false, 23, 0));
}

}  // namespace mrc::test::rx_tracker_test
