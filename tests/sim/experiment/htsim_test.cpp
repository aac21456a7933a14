// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/htsim.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace mrc::test::htsim_test {

using namespace mrc::sim;

namespace {
struct Case {
  Scenario scenario;
  Topology topology;
  Traffic traffic;
  explicit Case(const std::string& traffic_text)
      : scenario(parse_fabric_scenario(
            "[topology]\nleaves = 2\nhosts_per_leaf = 2\nspines = 2\n[[traffic]]\n" + traffic_text, "s.toml")),
        topology(scenario.topology),
        traffic(make_traffic(scenario, topology, 1)) {}
  std::string matrix() const { return htsim_matrix(topology, traffic); }
  std::string why_no_matrix() const {
    try {
      return matrix();
    } catch (const mrc::InputError& e) {
      return e.what();
    }
  }
  std::string refusal(const std::string& log) const {
    try {
      read_htsim(log, "x.log", traffic);
    } catch (const mrc::InputError& e) {
      return e.what();
    }
    return "nothing";
  }
};
constexpr const char* kIncast =
    "pattern = \"incast\"\nto = \"nic0\"\nfirst = 1\nnodes = 2\nbytes = 5000\nstart_us = 2\n";
}  // namespace

TEST_CASE("the matrix of flows as htsim reads it", "[sim][htsim]") {
  CHECK(Case(kIncast).matrix() ==
        "Nodes 4\nConnections 2\n1->0 id 1 start 2000000 size 5000\n2->0 id 2 start 2000000 size 5000\n");
  CHECK(Case("pattern = \"ring\"\nnodes = 2\nbytes = 4000\n").matrix() ==
        "Nodes 4\nConnections 4\nTriggers 2\n"
        "0->1 id 1 start 0 size 2000 send_done_trigger 1\n1->0 id 2 start 0 size 2000 send_done_trigger 2\n"
        "0->1 id 3 trigger 2 size 2000\n1->0 id 4 trigger 1 size 2000\n"
        "trigger id 1 oneshot\ntrigger id 2 oneshot\n");
  CHECK(Case("pattern = \"flow\"\nbytes = 2147483647\n").matrix().find("size 2147483647\n") != std::string::npos);
  CHECK(Case("pattern = \"flow\"\nbytes = 2147483648\n").why_no_matrix() ==
        "s.toml:6:11: htsim's matrix cannot say a flow of 2147483648 bytes.");
}

TEST_CASE("what htsim's log says of flows", "[sim][htsim]") {
  const Case c(kIncast);
  const auto flows = read_htsim(
      "Nodes: 4 Connections: 2\nStarting simulation\nFlow Uec_1_0 flowId 1 uecSrc 0 starting at 2\n"
      "Flow Uec_1_0 flowId 1 uecSrc 0 finished at 17.25 total messages 1 total packets 2 RTS 0 total bytes 5000\n"
      "Flow Uec_2_0 flowId 2 uecSrc 1 starting at 2.5\n.Done\nFlow\nFlow x flowId y\n",
      "x.log", c.traffic);
  REQUIRE(flows.size() == 2);
  CHECK(flows[0].begun == 2 * kUs);
  CHECK(flows[0].done == 17'250 * kNs);
  CHECK(flows[1].begun == 2'500 * kNs);
  CHECK(flows[1].done == kNever);
  // Without a beginning the matrix says when.
  CHECK(read_htsim("Flow Uec_2_0 flowId 2 uecSrc 1 finished at 9\r\n", "x.log", c.traffic)[1].begun == 2 * kUs);
}

TEST_CASE("logs of another matrix are refused, with the line", "[sim][htsim]") {
  const Case c(kIncast);
  CHECK(c.refusal("") == "x.log: no flow begins or ends in it.");
  CHECK(c.refusal("\nFlow Uec_1_0 flowId 3 s finished at 9\n") ==
        "x.log:2: flow 3 is not of this matrix, which has 1 to 2.");
  CHECK(c.refusal("Flow Uec_1_0 flowId 0 s finished at 9\n") ==
        "x.log:1: flow 0 is not of this matrix, which has 1 to 2.");
  CHECK(c.refusal("Flow Uec_1_3 flowId 1 s finished at 9\n") == "x.log:1: flow 1 is not Uec_1_0, as in this matrix.");
  CHECK(c.refusal("Flow Uec_1_0 flowId 1 s finished at 9\nFlow Uec_1_0 flowId 1 s finished at 9\n") ==
        "x.log:2: flow 1 ends twice.");
  CHECK(c.refusal("Flow Uec_1_0 flowId 1 s finished at 1\n") == "x.log: flow 1 ends before it begins.");
  CHECK(c.refusal("Flow Uec_1_0 flowId 1 s finished at nan\n") == "x.log: no flow begins or ends in it.");
  CHECK(c.refusal("Flow Uec_1_0 flowId 1 s finished at 1e99\n") == "x.log: no flow begins or ends in it.");
}

}  // namespace mrc::test::htsim_test
