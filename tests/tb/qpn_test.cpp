// SPDX-License-Identifier: Apache-2.0
// QPNs of which software has chosen the upper bits (QP_QPN).
#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "tb/compare/report.hpp"
#include "tb/environment/plan.hpp"
#include "tests/tb/runs.hpp"

namespace mrc::test::qpn_test {

using namespace mrc::tb;

namespace {

/// Frames to QPs, by their QPN.
class Numbers : public FrameWatcher {
 public:
  void frame(bool sent, unsigned, uint64_t, const std::vector<uint8_t>& bytes, unsigned) override {
    const FrameInfo info = look_at(bytes);
    if (sent && info.data()) (info.dqp >= kQpnBase + 4u ? high : low) += 1;
  }
  unsigned high = 0, low = 0;
};

}  // namespace

TEST_CASE("QPs with all 24 bits of a QPN work as others do", "[tb][rx_check]") {
  for (const char* scenario : {"mixed", "fuzz", "returned", "qp-error"}) {
    CAPTURE(scenario);
    CosimOptions o = short_run("tiny", scenario, 600, 7);
    o.scenario.qpn_share = 0.7;
    use_rtl(o);
    Numbers numbers;
    o.dut_frames = &numbers;
    const CosimResult r = run_cosim(o);
    INFO(r.problem << r.error << failure_text({}, r));
    CHECK(r.outcome == Outcome::Pass);
    CHECK(numbers.high > 0);
  }
}

TEST_CASE("a plan names each QP by one QPN, and it alone", "[tb][rx_check]") {
  Scenario s = *find_scenario("many-qps");
  s.qpn_share = 0.5;
  const Plan plan = make_plan(*find_preset("asic800"), s, 3);
  unsigned high = 0;
  for (unsigned qp = 0; qp < plan.dut.rows(); ++qp) {
    const uint32_t qpn = plan.dut.qpn(qp);
    CHECK(plan.dut.qp_of(qpn) == qp);
    CHECK(plan.dut.qp_of(qpn ^ 0x100) == plan.dut.rows());
    CHECK(plan.peer.peer_qpn(plan.dut.qps[qp].peer) == qpn);
    if (plan.dut.qps[qp].high == 0) continue;
    ++high;
    CHECK(qpn >= 1u << 23);
    CHECK(plan.dut.qp_of(kQpnBase + qp) == plan.dut.rows());
  }
  CHECK(high > 80);
  CHECK(high < 176);
}

}  // namespace mrc::test::qpn_test
