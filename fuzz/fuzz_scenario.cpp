// SPDX-License-Identifier: Apache-2.0
/// Any text as a scenario of the bench: refused with a reason, or within its limits, and written and read again the
/// same.
#include "fuzz/checks.hpp"
#include "tb/environment/scenario.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mrc;
  using fuzz::must;
  fuzz::refuses_or_reads([&] {
    tb::Scenario s = tb::parse_scenario({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
    fuzz::must_be_in_range(tb::scenario_keys(), s, s);
    for (const auto& k : tb::scenario_keys()) must(k.range().has(k.value(s)));
    for (const tb::LinkRule& rule : s.rules) {
      must(rule.ev_share >= 0 && rule.ev_share <= 1 && rule.from_us >= 0 && rule.from_us < rule.until_us);
      must(rule.planes != 0 && (rule.to_dut || rule.to_peer));
    }
    must(s.dut_sends != 0 || s.peer_sends != 0);
    for (const Preset& preset : kPresets) fuzz::refuses_or_reads([&] { tb::check(s, preset); });
    s.description = "d";
    const std::string text = tb::scenario_toml(s);
    tb::Scenario again = tb::parse_scenario(text, "again.toml");
    for (const auto& k : tb::scenario_keys()) must(k.value(s) == k.value(again));
    must(s.rules.size() == again.rules.size());
    must(tb::scenario_toml(again) == text);
  });
  return 0;
}
