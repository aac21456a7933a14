// SPDX-License-Identifier: Apache-2.0
#include "reference/byte_counts.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::byte_counts_test {

using ref::ByteCounts;

namespace {

constexpr uint32_t kPsn = 100, kCount = 64;

/// A QP's life: each packet is answered, and counts as `nominal` says.
struct Life {
  ByteCounts& counts;
  uint32_t nominal = 0;
  uint32_t bytes = 0;
  std::optional<ByteCounts::Shown> last;

  void notify(uint32_t psn, std::size_t payload, bool answered = true) {
    wire::Packet p = wire::make_packet(wire::Opcode::WriteOnly, wire::Encapsulation::Ipv6);
    p.bth->psn = psn;
    p.payload.assign(payload, 0);
    wire::complete(p);
    counts.came(p, {});
    const auto more = static_cast<uint32_t>(nominal == 0 ? p.udp->length + 40 : nominal == 1 ? payload : payload + 40);
    bytes += more;
    if (!answered) return;
    wire::Packet sack = wire::make_packet(wire::Opcode::Sack, wire::Encapsulation::Ipv6);
    std::swap(sack.ipv6->src, sack.ipv6->dst);
    sack.bth->dqp = 7;
    sack.bth->psn = psn;
    sack.seth->cack_psn = psn;
    sack.seth->entropy = p.entropy({});
    sack.cc_state->rcvd_bytes = bytes / 256;
    last = counts.sent(sack);
  }
};

}  // namespace

TEST_CASE("SACKs show what packets count for", "[reference][A-55]") {
  for (const uint32_t nominal : {0U, 1U, 2U}) {
    ByteCounts counts;
    Life life{counts, nominal};
    for (uint32_t psn = kPsn; psn < kPsn + kCount; ++psn) life.notify(psn, 96);
    REQUIRE(life.last);
    CHECK(life.last->nominal == nominal);
    CHECK(life.last->sure);
  }
}

TEST_CASE("bytes of two lives of a QP are not added up", "[reference][A-55]") {
  // The second life has passed the PSN that the first one has reached: it has got less for it.
  for (const std::size_t payload : {20, 40, 60, 80}) {
    ByteCounts counts;
    Life first{counts};
    for (uint32_t psn = kPsn; psn < kPsn + 8; ++psn) first.notify(psn, 96);
    Life second{counts};
    for (uint32_t psn = kPsn; psn < kPsn + kCount; ++psn) {
      second.last.reset();
      second.notify(psn, payload, psn >= kPsn + 4);
      if (second.last) CHECK(second.last->nominal == 0);
    }
    CHECK(second.last);
  }
}

}  // namespace mrc::test::byte_counts_test
