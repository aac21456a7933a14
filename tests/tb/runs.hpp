// SPDX-License-Identifier: Apache-2.0
/// Short runs for tests.
#pragma once

#include <string>

#include "tb/cosim.hpp"

namespace mrc::tb {

inline CosimOptions short_run(const char* preset, const char* scenario, uint64_t packets, uint64_t seed = 1) {
  CosimOptions o;
  o.preset = find_preset(preset);
  o.scenario = *find_scenario(scenario);
  o.packets = packets;
  o.seed = seed;
  o.two_threads = false;
  o.event_words = std::size_t{1} << 18;
  const Preset& p = *o.preset;
  o.open = [&p](std::string&) { return make_model_dut(p); };
  return o;
}

#ifdef MRC_DUT_TINY  // test_tb alone has them
/// The Verilated RTL of a preset.
inline void use_rtl(CosimOptions& o) {
  const std::string name = o.preset->name;
  const std::string path = name == "tiny" ? MRC_DUT_TINY : name == "fpga100" ? MRC_DUT_FPGA100 : MRC_DUT_ASIC800;
  const Preset& p = *o.preset;
  o.open = [path, &p](std::string& error) { return open_dut(path, p, 1, error); };
}

/// The Verilated RTL of preset tiny that asserts what it takes for granted.
inline void use_asserted_tiny(CosimOptions& o) {
  o.preset = find_preset("tiny");
  const Preset& p = *o.preset;
  o.open = [&p](std::string& error) { return open_dut(MRC_DUT_TINY_ASSERTED, p, 1, error); };
}
#endif

}  // namespace mrc::tb
