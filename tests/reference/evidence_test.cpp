// SPDX-License-Identifier: Apache-2.0
#include "reference/evidence.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::evidence_test {
namespace {

ref::Evidence of(uint64_t judged, uint64_t cut, uint64_t damaged) {
  ref::Evidence e;
  e.imported.counts.judged = judged;
  e.imported.counts.damaged = damaged;
  e.imported.counts.left_out[static_cast<std::size_t>(log::LeftOut::CutBeforeBth)] = cut;
  return e;
}

}  // namespace

TEST_CASE("one packet in a hundred may be left unjudged, not two", "[reference][capture]") {
  CHECK_FALSE(of(99, 1, 0).too_little());
  CHECK(of(98, 2, 0).too_little() == "2 of 100 packets that may be MRC could not be checked");
  CHECK(of(98, 2, 0).remedies().size() == 1);
}

TEST_CASE("what is surely not MRC does not count against a capture", "[reference][capture]") {
  ref::Evidence e = of(1, 0, 0);
  e.imported.counts.left_out[static_cast<std::size_t>(log::LeftOut::Arp)] = 1'000'000;
  CHECK_FALSE(e.too_little());
}

TEST_CASE("one packet in ten may be damaged, not two", "[reference][capture]") {
  CHECK_FALSE(of(9, 0, 1).too_little());
  CHECK(of(8, 0, 2).too_little() == "2 of 10 packets were damaged");
}

TEST_CASE("a packet is named with its file when there are several", "[reference][capture]") {
  ref::Evidence e;
  e.files = {"a.pcap"};
  CHECK(e.packet(0, 17) == "packet 17");
  e.files = {"a.pcap", "b.pcapng"};
  CHECK(e.packet(1, 17) == "packet 17 of b.pcapng");
}

}  // namespace mrc::test::evidence_test
