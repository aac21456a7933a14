// SPDX-License-Identifier: Apache-2.0
#include "cli/nic_device.hpp"

#include <string_view>
#include <vector>

#include "cli/dut_options.hpp"
#include "input/names.hpp"
#include "sim/device/fast_device.hpp"
#include "tb/compare/bugs.hpp"
#include "tb/device/pins_device.hpp"

namespace mrc::cli {

std::unique_ptr<tb::NicDevice> nic_device(const std::string& name, const Preset& preset, const std::string& bug,
                                          const Context& context) {
  if (name == "fast" && bug.empty()) return sim::make_fast_device({&preset, MRC_VERSION});
  tb::PinsOptions pins;
  pins.preset = &preset;
  pins.name = name;
  if (name == "model") pins.version = MRC_VERSION;
  if (!bug.empty()) {
    const tb::Bug* found = tb::find_bug(bug);
    if (found == nullptr) {
      std::vector<std::string_view> names;
      for (const tb::Bug& b : tb::bugs()) names.emplace_back(b.name);
      throw UsageError("unknown RTL bug " + input::shown(bug) + input::did_you_mean(bug, names),
                       "'mrc cosim --rtl-bug list' prints the names.");
    }
    if (name != "rtl")
      throw Unsupported("the " + name + " has no injected bugs.", "Say --endpoint rtl, or leave out --rtl-bug.");
    pins.bug = static_cast<uint8_t>(found->number);
    pins.name += " with bug " + std::string(found->name);
  }
  pins.open = dut_opener(name, preset, 1, context);
  return tb::make_pins_device(pins);
}

}  // namespace mrc::cli
