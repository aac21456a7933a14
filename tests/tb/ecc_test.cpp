// SPDX-License-Identifier: Apache-2.0
// Wrong bits in memories with a code: the RTL of tiny with Ecc 1, in lockstep with the model. A build that measures or
// traces has no such device: there the model stands in both places.
#include <catch2/catch_test_macros.hpp>

#include "tb/compare/report.hpp"
#include "tests/tb/runs.hpp"

namespace mrc::test::ecc_test {

using namespace mrc::tb;

namespace {

/// tiny with a code: mrc_dut_rtl_tiny_ecc (CMakeLists.txt).
const Preset& coded() {
  static const Preset preset = [] {
    Preset p = *find_preset("tiny");
    p.ecc = 1;
    return p;
  }();
  return preset;
}

/// Immediates that wait for earlier ones, and words of their memories that are stored wrong.
CosimOptions injected(const char* scenario, uint64_t packets, double two) {
  CosimOptions o = short_run("tiny", scenario, packets, 5);
  o.preset = &coded();
#ifdef MRC_DUT_TINY_ECC
  o.open = [](std::string& error) { return open_dut(MRC_DUT_TINY_ECC, coded(), 1, error); };
#else
  o.open = [](std::string&) { return make_model_dut(coded()); };
#endif
  o.scenario.csr_gap = 100;
  o.scenario.ecc = 0.7;
  o.scenario.ecc_two = two;
  o.scenario.may_fail = o.scenario.may_fail || two > 0;
  return o;
}

CosimResult passes(const CosimOptions& o) {
  CosimResult r = run_cosim(o);
  INFO(r.problem << r.error << failure_text({}, r));
  CHECK(r.outcome == Outcome::Pass);
  return r;
}

}  // namespace

TEST_CASE("words with one wrong bit are corrected and counted, in lockstep with the RTL", "[tb][ecc]") {
  const CosimResult r = passes(injected("immediate", 4000, 0));
  CHECK(r.data_packets >= 4000);
  CHECK(r.failed_qps == 0);
  CHECK(r.ecc_injected > 100);
  CHECK(r.ecc_fixed > 20);
  CHECK(r.ecc_bad == 0);
}

TEST_CASE("words with two wrong bits end their QP, never the NIC, in lockstep with the RTL", "[tb][ecc]") {
  CosimOptions o = injected("immediate", 2000, 0.05);
  o.scenario.rounds = 4;
  o.scenario.retry_linear = 5;
  o.scenario.retry_exp = 2;
  const CosimResult r = passes(o);
  CHECK(r.data_packets >= 2000);
  CHECK(r.failed_qps > 0);
  CHECK(r.ecc_fixed > 20);
  CHECK(r.ecc_bad > 0);
}

TEST_CASE("a NIC without a code takes no notice of ECC_INJECT", "[tb][ecc]") {
  CosimOptions o = injected("immediate", 1000, 1);
  o.preset = find_preset("tiny");
  use_rtl(o);
  const CosimResult r = passes(o);
  CHECK(r.failed_qps == 0);
  CHECK(r.ecc_injected > 20);
  CHECK(r.ecc_fixed + r.ecc_bad == 0);
}

}  // namespace mrc::test::ecc_test
