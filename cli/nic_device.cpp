// SPDX-License-Identifier: Apache-2.0
#include "cli/nic_device.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/dut_options.hpp"
#include "input/names.hpp"
#include "sim/device/fast_device.hpp"
#include "tb/compare/bugs.hpp"
#include "tb/device/pins_device.hpp"
#include "tb/device/remote_device.hpp"
#include "tb/device/varied_device.hpp"

namespace mrc::cli {

namespace {

/// Our RTL with words that wait at random between its blocks (docs/reference/variants.md).
constexpr const char* kStalled = "rtl-stalled";

DutOpener stalled_opener(const Preset& preset, const Context& context) {
  const std::filesystem::path path = rtl_device(preset, Flavour::Stalled, context);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw UsageError(std::string("the RTL of preset ") + preset.name + " with stalls between its blocks is not built.",
                     "It is built for preset tiny, by 'cmake --build' or ./mrc in a clone.");
  return dut_opener(path.string(), preset, 1, context, {.process = "shared"});
}

/// A word of a command of the shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// A shared object is a guest: it gets a process of its own.
std::unique_ptr<tb::NicDevice> library_nic(const std::string& path, const Preset& preset,
                                           const tb::RemoteOptions& options) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw UsageError("no device: " + path + " does not exist, or is no file.",
                     "Name a shared object with the functions of cmodel/api/mrc_nic.h.");
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto whole = std::filesystem::absolute(path, error);
  return tb::start_device(
      fmt::format("exec {} nic --library {} --preset {}", quoted(self.string()), quoted(whole.string()), preset.name),
      options);
}

}  // namespace

std::unique_ptr<tb::NicDevice> any_nic(const std::string& name, const Preset& preset, const std::string& bug,
                                       double limit_s, const Context& context, bool shows) {
  if (name == "model" || name == "rtl" || name == "fast" || name == kStalled)
    return nic_device(name, preset, bug, context, shows);
  if (!bug.empty())
    throw Unsupported("'" + name + "' has no injected bugs of ours.", "Leave out --rtl-bug, or say --dut rtl.");
  const tb::RemoteOptions options{limit_s, &g_stop};
  try {
    if (name.ends_with(".so")) return library_nic(name, preset, options);
    return tb::is_address(name) ? tb::connect_device(name, options) : tb::start_device(name, options);
  } catch (const tb::DeviceGone& gone) {
    throw UsageError(gone.what(), "docs/guide/levels.md says what --dut and --peer take at L1 and L2.");
  }
}

std::unique_ptr<tb::NicDevice> varied_nic(std::unique_ptr<tb::NicDevice> inside, const std::string& variant) {
  const tb::Variant* found = tb::find_variant(variant);
  if (found == nullptr) {
    std::vector<std::string_view> names;
    for (const tb::Variant& v : tb::variants()) names.emplace_back(v.name);
    throw UsageError("unknown variant " + input::shown(variant) + input::did_you_mean(variant, names),
                     "'mrc cosim --variant list' prints the names.");
  }
  return tb::make_varied_device(std::move(inside), *found, 1);
}

std::unique_ptr<tb::NicDevice> nic_device(const std::string& name, const Preset& preset, const std::string& bug,
                                          const Context& context, bool shows) {
  if (name == "fast" && bug.empty()) return sim::make_fast_device({&preset, MRC_VERSION});
  tb::PinsOptions pins;
  pins.preset = &preset;
  pins.name = name;
  pins.shows = shows;
  if (name == "model") pins.version = MRC_VERSION;
  if (!bug.empty()) {
    const tb::Bug* found = tb::find_bug(bug);
    if (found == nullptr) {
      std::vector<std::string_view> names;
      for (const tb::Bug& b : tb::bugs()) names.emplace_back(b.name);
      throw UsageError("unknown RTL bug " + input::shown(bug) + input::did_you_mean(bug, names),
                       "'mrc cosim --rtl-bug list' prints the names.");
    }
    if (name != "rtl" && name != kStalled)
      throw Unsupported("the " + name + " has no injected bugs.", "Take rtl, or leave out --rtl-bug.");
    pins.bug = static_cast<uint8_t>(found->number);
    pins.name += " with bug " + std::string(found->name);
  }
  pins.open = [open = name == kStalled ? stalled_opener(preset, context) : dut_opener(name, preset, 1, context)](
                  uint64_t, std::string& error) { return open(error); };
  return tb::make_pins_device(pins);
}

}  // namespace mrc::cli
