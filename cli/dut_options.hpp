// SPDX-License-Identifier: Apache-2.0
/// Preset, scenario and device by name, for the commands that run one.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.hpp"
#include "cli/rtl_device.hpp"
#include "gen/presets.hpp"
#include "input/names.hpp"
#include "input/number.hpp"
#include "tb/dut.hpp"
#include "tb/random_scenario.hpp"
#include "tb/scenario.hpp"

namespace mrc::cli {

/// Throws UsageError when there is no such preset.
inline const Preset& preset_from(const std::string& name) {
  if (const Preset* preset = find_preset(name)) return *preset;
  std::string names;
  std::vector<std::string_view> known;
  for (const Preset& p : kPresets) {
    names += (names.empty() ? "" : ", ") + std::string(p.name);
    known.push_back(p.name);
  }
  throw UsageError("unknown preset " + input::shown(name) + input::did_you_mean(name, known),
                   "Presets are " + names + ".");
}

/// A built-in scenario, one drawn from the seed ("random"), or a file. Throws tb::ScenarioError when it is none.
inline tb::Scenario scenario_from(const std::string& name, uint64_t seed) {
  if (name == tb::kRandomScenario) return tb::random_scenario(seed);
  if (const tb::Scenario* s = tb::find_scenario(name)) return *s;
  return tb::load_scenario(name);
}

inline std::filesystem::path dut_path(const std::string& dut, const Preset& preset, const Context& context,
                                      Flavour flavour = Flavour::Fast) {
  if (dut == "rtl") return rtl_device(preset, flavour, context);
  return std::filesystem::absolute(dut);
}

/// What opens the device "rtl", "model" or a shared object.
inline std::function<std::unique_ptr<tb::Dut>(std::string&)> dut_opener(const std::string& dut, const Preset& preset,
                                                                        uint64_t seed, const Context& context,
                                                                        Flavour flavour = Flavour::Fast) {
  if (dut == "model") return [&preset](std::string&) { return tb::make_model_dut(preset); };
  const std::filesystem::path path = dut_path(dut, preset, context, flavour);
  return [dut, path, &preset, seed](std::string& error) -> std::unique_ptr<tb::Dut> {
    if (!std::filesystem::exists(path)) {
      error =
          dut == "rtl" ? std::string("the RTL of preset ") + preset.name + " is not built" : dut + " does not exist";
      return nullptr;
    }
    return tb::open_dut(path, preset, seed, error);
  };
}

/// What to do when there is no RTL; whoever asks says what else there is.
inline std::string rtl_remedy(const Context& context) {
  return "Build it with 'cmake --build' (or call " + context.program + " through ./mrc).";
}

inline std::string dut_remedy(const std::string& dut, const Context& context) {
  if (dut == "rtl")
    return "Build it with 'cmake --build' (or call " + context.program + " through ./mrc), or use --dut model.";
  return "--dut takes rtl, model, or the path of a shared object that speaks tb/mrc_dut.h.";
}

}  // namespace mrc::cli
