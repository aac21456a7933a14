// SPDX-License-Identifier: Apache-2.0
#include "tb/dut/device_call.hpp"

#include <fmt/format.h>

#include <array>

namespace mrc::tb {
namespace {

constexpr std::array kNames = {"",
                               "dlopen",
                               "mrc_dut_open",
                               "mrc_dut_info",
                               "mrc_dut_outputs",
                               "mrc_dut_observe",
                               "mrc_dut_step",
                               "mrc_dut_assertions",
                               "mrc_dut_wave",
                               "mrc_dut_close",
                               "exit"};

}  // namespace

const char* name_of(DeviceCall call) {
  const auto index = static_cast<std::size_t>(call);
  return index < kNames.size() ? kNames[index] : "";
}

DeviceCall CallSite::where() const {
  const uint32_t value = call.load(std::memory_order_relaxed);
  return value < kNames.size() ? static_cast<DeviceCall>(value) : DeviceCall::None;
}

std::string call_text(DeviceCall call, uint64_t cycle) {
  switch (call) {
    case DeviceCall::Outputs:
    case DeviceCall::Observe:
    case DeviceCall::Step:
    case DeviceCall::Assertions:
    case DeviceCall::Wave:
      return fmt::format("{} of cycle {}", name_of(call), cycle);
    case DeviceCall::None:
      return "its last call";
    default:
      return name_of(call);
  }
}

std::string place_text(DeviceCall call, uint64_t cycle) {
  if (call == DeviceCall::None) return fmt::format("between two calls in cycle {}", cycle);
  if (call == DeviceCall::Exit) return "after mrc_dut_close";
  return "in " + call_text(call, cycle);
}

}  // namespace mrc::tb
