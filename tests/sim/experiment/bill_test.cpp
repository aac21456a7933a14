// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/bill.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <string>

#include "sim/experiment/scenario.hpp"

namespace mrc::test::bill_test {

using namespace mrc::sim;
using Catch::Approx;

namespace {
std::map<std::string, double> bill(const Topology& topology, const PartsTable& parts = {}) {
  std::map<std::string, double> lines;
  for (const BillLine& line : bill_of(topology, parts)) lines[line.key] = line.value;
  return lines;
}
std::map<std::string, double> bill(const std::string& text, const PartsTable& parts = {}) {
  return bill(Topology(parse_topology(text, "t.toml")), parts);
}
}  // namespace

// Two T0 of two NICs, two T1, two planes of 100 Gb/s: 8 links to NICs of 2 m, 8 of 30 m.
TEST_CASE("the bill of a small fabric by hand", "[sim][topology][bill]") {
  PartsTable parts;
  parts.module_gbps = 200;
  parts.switch_watts = 100;
  parts.optics_watts = 10;
  const std::string text = "planes = 2\ngbps = 100\nleaves = 2\nhosts_per_leaf = 2\nspines = 2\n";
  auto b = bill(text, parts);
  CHECK(b["switches"] == 8);
  CHECK(b["switch_ports"] == 4);
  CHECK(b["ports"] == 24);
  CHECK(b["switched_tbps"] == Approx(2.4));
  CHECK(b["cable_km"] == Approx(0.256));
  CHECK(b["optics"] == 2 * (4 + 4));  // two links of 100 in a module of 200, at both ends
  CHECK(b["worst_hops"] == 3);
  CHECK(b["bisection"] == 1);
  CHECK(b["nic_link_percent"] == 50);
  CHECK(b["t0_t1_percent"] == 50);
  CHECK(b["t0_t1_percent_spread"] == 25);
  CHECK(b["watts"] == 8 * 100 + 16 * 10);
  parts.copper_metres = 2;
  CHECK(bill(text, parts)["optics"] == 2 * 4);
}

// What the MRC paper says of 131 072 NICs in two tiers against three tiers of 64-port switches, all links optical: 60 %
// of the switches (3 / 64 of one for each NIC against 5 / 64), 67 % of the optics (4 against 6), and 0.4 % of a NIC's
// capacity for a lost link between T0 and T1 (one of 256), where all planes take equal shares.
TEST_CASE("the paper's claims about two tiers follow from the topologies", "[sim][topology][bill]") {
  auto two = bill(Topology(load_fabric_scenario("mrc-131072").topology));
  auto three = bill(Topology(load_fabric_scenario("three-tiers").topology));
  CHECK(two["nics"] == 131072);
  CHECK(three["nics"] == 65536);
  const auto share = [&](const char* key) { return two[key] / two["nics"] / (three[key] / three["nics"]); };
  CHECK(share("switches") == Approx(0.6));
  CHECK(share("optics") == Approx(2.0 / 3));
  CHECK(two["t0_t1_percent"] == Approx(0.390625));
  CHECK(three["t0_t1_percent"] == Approx(3.125));
  CHECK(two["worst_hops"] == 3);
  CHECK(three["worst_hops"] == 5);
  CHECK(two["bisection"] == 1);
  CHECK(three["bisection"] == 1);
}

}  // namespace mrc::test::bill_test
