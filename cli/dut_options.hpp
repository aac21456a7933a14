// SPDX-License-Identifier: Apache-2.0
/// Preset, scenario and device by name, for the commands that run one.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/command.hpp"
#include "cli/context.hpp"
#include "cli/names_of.hpp"
#include "cli/rtl_device.hpp"
#include "cli/signals.hpp"
#include "gen/presets.hpp"
#include "input/names.hpp"
#include "input/number.hpp"
#include "tb/dut/guest.hpp"
#include "tb/dut/shared_dut.hpp"
#include "tb/environment/random_scenario.hpp"
#include "tb/environment/scenario.hpp"

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
  if (tb::is_random(name)) return tb::random_named(name, seed);
  if (const tb::Scenario* s = tb::find_scenario(name)) return *s;
  return tb::load_scenario(name);
}

/// --dut-process and --dut-timeout.
struct DutProcess {
  std::string process;  ///< "own", "shared"; "": own for a file, shared for our RTL and the model
  double limit_s = 60;

  bool own(const std::string& dut) const { return process.empty() ? dut != "rtl" && dut != "model" : process == "own"; }
  /// What a command line repeats of it, with a blank in front.
  std::string repro() const {
    return (process.empty() ? "" : " --dut-process " + process) +
           (limit_s == DutProcess{}.limit_s ? "" : " --dut-timeout " + input::digits(limit_s));
  }
};

inline void add_dut_process(Command& command, DutProcess& to) {
  command
      .text("--dut-process", to.process,
            "own: the device has a process of its own, default for FILE.so; shared: that of the bench, default "
            "for rtl")
      .one_of({"own", "shared"});
  command.real("--dut-timeout", to.limit_s, 0, 1e9,
               "seconds after which a call of a device in its own process has failed; 0: never");
}

/// A device in our process that ends it must not look like a pass.
inline void guard_against_exit() {
  static const bool once = [] {
    std::atexit([] {
      const tb::CallSite& site = tb::device_in_process();
      if (site.where() == tb::DeviceCall::None) return;
      remove_unfinished();
      std::fprintf(stderr,
                   "mrc: the device ended the process %s.\n  Run it with --dut-process own to keep the results.\n",
                   tb::place_text(site.where(), site.cycle).c_str());
      ::_exit(kUsage);
    });
    return true;
  }();
  static_cast<void>(once);
}

inline std::string dut_path(const std::string& dut, const Preset& preset, const Context& context, Flavour flavour) {
  if (dut == "rtl") return rtl_device(preset, flavour, context);
  std::error_code error;
  const auto path = std::filesystem::absolute(dut, error);
  return error ? dut : path.string();
}

using DutOpener = std::function<std::unique_ptr<tb::Dut>(std::string&)>;

/// What to do when there is no RTL; whoever asks says what else there is.
inline std::string rtl_remedy(const Context& context, const std::string& else_what = {}) {
  return "Build it in a clone, with 'cmake --build' (or call " + context.program + " through ./mrc)" + else_what + ".";
}

inline std::string dut_remedy(const std::string& dut, const Context& context) {
  if (dut == "rtl") return rtl_remedy(context, ", or use --dut model");
  return "--dut takes rtl, model, or the path of a shared object that speaks api/mrc_dut.h.";
}

/// What opens the device "rtl", "model" or a shared object. Throws Unsupported, when first called, for an object that
/// works and is of another preset or version.
inline DutOpener dut_opener(const std::string& dut, const Preset& preset, uint64_t seed, const Context& context,
                            const DutProcess& process = {}, Flavour flavour = Flavour::Fast) {
  const bool own = process.own(dut);
  if (dut == "model") {
    if (own) throw UsageError("the model has no process of its own.", "Leave out --dut-process, or --dut model.");
    return [&preset](std::string&) { return tb::make_model_dut(preset); };
  }
  const std::string path = dut_path(dut, preset, context, flavour);
  const tb::GuestOptions options{context.lib_dir / "mrc_device_host", process.limit_s, &g_stop};
  return [dut, path, own, options, &preset, seed, &context](std::string& error) -> std::unique_ptr<tb::Dut> {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      error =
          dut == "rtl" ? std::string("the RTL of preset ") + preset.name + " is not built" : dut + " does not exist";
      return nullptr;
    }
    if (!own) guard_against_exit();
    bool unsupported = false;
    auto device = own ? tb::open_guest(path, preset, seed, options, error, &unsupported)
                      : tb::open_dut(path, preset, seed, error, &unsupported);
    if (unsupported) throw Unsupported("no device: " + error + ".", dut_remedy(dut, context));
    return device;
  };
}

}  // namespace mrc::cli
