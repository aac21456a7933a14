// SPDX-License-Identifier: Apache-2.0
#include "sim/switch/forwarding.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "wire/bytes.hpp"
#include "wire/text.hpp"

namespace mrc::test::forwarding_test {

using namespace mrc::sim;

namespace {
Address address(const std::string& text) {
  std::array<uint8_t, 16> a{};
  REQUIRE(mrc::wire::from_text(text, a));
  return {mrc::wire::load_be<8>(a.data()), mrc::wire::load_be<8>(a.data() + 8)};
}
struct Row {
  PacketPool pool;
  ForwardingTables tables;
  PacketPtr packet = pool.make();

  explicit Row(const std::string& dst) {
    packet->dst = address(dst);
    packet->stack = Stack::Srv6;
  }
  void local(uint32_t block, uint16_t usid) { tables.usid.set_local(usid_key(block, usid), UsidTable::Local::Node); }
  void adjacency(uint32_t block, uint16_t usid, uint16_t port) {
    tables.usid.set_local(usid_key(block, usid), UsidTable::Local::Adjacency, port);
  }
  void route(uint32_t block, uint16_t usid, uint16_t port) { tables.usid.set_route(usid_key(block, usid), port); }
  Decision go() { return forward(tables, *packet); }
};
}  // namespace

TEST_CASE("uN: 2001:1000:0100:0200:: becomes 2001:1000:0200:: and takes the route of the new address", "[sim][usid]") {
  Row row("2001:1000:0100:0200::");
  row.local(0x20011000, 0x0100);
  row.route(0x20011000, 0x0200, 7);
  const Decision d = row.go();
  CHECK(d.verdict == sim::Verdict::Forward);
  CHECK(d.port == 7);
  CHECK(row.packet->dst == address("2001:1000:0200::"));
  CHECK(row.packet->hop_limit == 63);
}

TEST_CASE("uN at the end of a carrier takes the next segment of the SRH", "[sim][usid]") {
  Row row("2001:3000:0500::");
  row.packet->stack = Stack::Srv6Srh;
  row.packet->segments_left = 1;
  row.pool.attach(*row.packet).segment = address("2001:3000:0500:0600::");
  row.local(0x20013000, 0x0500);
  row.route(0x20013000, 0x0600, 3);
  SECTION("which is a local SID again, and shifted away in the same visit") {
    const Decision d = row.go();
    CHECK(d.verdict == sim::Verdict::Forward);
    CHECK(d.port == 3);
    CHECK(row.packet->dst == address("2001:3000:0600::"));
  }
  SECTION("the known answer: the new address has a route") {
    row.route(0x20013000, 0x0500, 2);
    const Decision d = row.go();
    CHECK(d.verdict == sim::Verdict::Forward);
    CHECK(d.port == 2);
    CHECK(row.packet->dst == address("2001:3000:0500:0600::"));
  }
  CHECK(row.packet->segments_left == 0);
  CHECK(row.packet->hop_limit == 63);
}

TEST_CASE("uA: fcbb:0:0300:0200:d46:: becomes fcbb:0:0200:d46:: and leaves by its port", "[sim][usid]") {
  Row row("fcbb:0:0300:0200:d46::");
  row.adjacency(0xfcbb0000, 0x0300, 5);
  const Decision d = row.go();
  CHECK(d.verdict == sim::Verdict::Forward);
  CHECK(d.port == 5);
  CHECK(row.packet->dst == address("fcbb:0:0200:d46::"));
}

TEST_CASE("uN and then uA in one address are both this node's", "[sim][usid]") {
  Row row("fcbb:0:0100:0300:0200::");
  row.local(0xfcbb0000, 0x0100);
  row.adjacency(0xfcbb0000, 0x0300, 5);
  CHECK(row.go().port == 5);
  CHECK(row.packet->dst == address("fcbb:0:0200::"));
  CHECK(row.packet->hop_limit == 63);
}

TEST_CASE("a full carrier is shifted to its last uSID", "[sim][usid]") {
  Address a = address("fcbb:0:1:2:3:4:5:6");
  for (const char* next : {"fcbb:0:2:3:4:5:6:0", "fcbb:0:3:4:5:6::", "fcbb:0:4:5:6::", "fcbb:0:5:6::", "fcbb:0:6::"}) {
    CHECK_FALSE(argument_zero(a));
    a = shift_usid(a);
    CHECK(a == address(next));
  }
  CHECK(argument_zero(a));
}

TEST_CASE("the argument may have zeros in front", "[sim][usid]") {
  CHECK_FALSE(argument_zero(address("fcbb:0:1::1")));
  CHECK(shift_usid(address("fcbb:0:1::1")) == address("fcbb:0::1:0"));
}

TEST_CASE("the end of a carrier without a segment left is this node's own packet", "[sim][usid]") {
  Row row("2001:1000:0100::");
  row.local(0x20011000, 0x0100);
  SECTION("no SRH") {}
  SECTION("SRH used up") {
    row.packet->stack = Stack::Srv6Srh;
    row.pool.attach(*row.packet).segment = address("2001:1000:0200::");
  }
  CHECK(row.go().verdict == sim::Verdict::ToSelf);
}

TEST_CASE("transit: a foreign uSID is routed without a shift", "[sim][usid]") {
  Row row("2001:1000:0200:0300::");
  row.local(0x20011000, 0x0100);
  row.route(0x20011000, 0x0200, 9);
  CHECK(row.go().port == 9);
  CHECK(row.packet->dst == address("2001:1000:0200:0300::"));
}

TEST_CASE("all 48 bits must match", "[sim][usid]") {
  for (const char* other : {"2001:1001:0100:0200::", "2001:1000:0101:0200::", "a001:1000:0100:0200::"}) {
    Row row(other);
    row.local(0x20011000, 0x0100);
    row.route(0x20011000, 0x0200, 7);
    CHECK(row.go().verdict == sim::Verdict::NoRoute);
  }
}

TEST_CASE("a hop limit of 1 ends here", "[sim][usid]") {
  Row row("2001:1000:0100:0200::");
  row.local(0x20011000, 0x0100);
  row.route(0x20011000, 0x0200, 7);
  row.packet->hop_limit = 2;
  CHECK(row.go().verdict == sim::Verdict::Forward);
  CHECK(row.packet->hop_limit == 1);
  CHECK(row.go().verdict == sim::Verdict::HopLimit);
}

TEST_CASE("segments that lead back here for ever are given up", "[sim][usid]") {
  Row row("2001:1000:0100:0100:0100:0100:0100:0100");
  row.packet->stack = Stack::Srv6Srh;
  row.packet->segments_left = 1;
  row.pool.attach(*row.packet).segment = address("2001:1000:0100:0100:0100:0100:0100:0100");
  row.local(0x20011000, 0x0100);
  CHECK(row.go().verdict == sim::Verdict::TooManySids);
}

TEST_CASE("the table holds thousands of entries and replaces equal ones", "[sim][usid]") {
  UsidTable table;
  for (uint32_t i = 0; i < 5000; ++i) table.set_route(usid_key(0xfcbb0000, static_cast<uint16_t>(i)), 1);
  for (uint32_t i = 0; i < 5000; ++i) {
    table.set_route(usid_key(0xfcbb0000, static_cast<uint16_t>(i)), static_cast<uint16_t>(i));
  }
  CHECK(table.size() == 5000);
  bool good = true;
  for (uint32_t i = 0; i < 5000; ++i) good &= table.find(usid_key(0xfcbb0000, static_cast<uint16_t>(i))).route == i;
  CHECK(good);
  CHECK_FALSE(table.find(usid_key(0xfcbb0000, 5000)).used);
}

TEST_CASE("ECMP: one EV keeps its path, EVs spread evenly, seeds differ", "[sim][ecmp]") {
  HostRoutes routes;
  routes.set(42, routes.add_group({4, 5, 6, 7}));
  std::array<unsigned, 8> count{};
  unsigned same = 0;
  for (uint32_t ev = 0; ev < 8000; ++ev) {
    const Decision d = routes.find(42, 1, ev, 1);
    REQUIRE(d.verdict == sim::Verdict::Forward);
    REQUIRE(routes.find(42, 1, ev, 1).port == d.port);
    ++count[d.port];
    same += routes.find(42, 1, ev, 2).port == d.port;
  }
  // Binomial, n 8000, p 1/4: standard deviation 39; five of them.
  for (unsigned p = 4; p < 8; ++p) CHECK((count[p] > 1800 && count[p] < 2200));
  CHECK((same > 1800 && same < 2200));
  CHECK(count[0] + count[1] + count[2] + count[3] == 0);
  CHECK(routes.find(41, 1, 0, 1).verdict == sim::Verdict::NoRoute);
  CHECK(routes.find(43, 1, 0, 1).verdict == sim::Verdict::NoRoute);
}

TEST_CASE("ECMP goes around ports that are down; with none left it keeps its choice", "[sim][ecmp]") {
  HostRoutes routes;
  routes.set(0, routes.add_group({0, 1}));
  std::vector<uint16_t> before;
  for (uint32_t ev = 0; ev < 100; ++ev) before.push_back(routes.find(0, 1, ev, 1).port);
  routes.port_changed(0, false);
  for (uint32_t ev = 0; ev < 100; ++ev) REQUIRE(routes.find(0, 1, ev, 1).port == 1);
  routes.port_changed(1, false);
  for (uint32_t ev = 0; ev < 100; ++ev) REQUIRE(routes.find(0, 1, ev, 1).port == before[ev]);
  routes.port_changed(0, true);
  for (uint32_t ev = 0; ev < 100; ++ev) REQUIRE(routes.find(0, 1, ev, 1).port == 0);
}

}  // namespace mrc::test::forwarding_test
