// SPDX-License-Identifier: Apache-2.0
#include "tb/device_call.hpp"

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
                               "mrc_dut_wave",
                               "mrc_dut_close",
                               "exit"};

/// Bytes of the UTF-8 character that `text` begins with; 0: it is none.
std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t n = lead < 0x80                   ? 1
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (n == 0 || n > text.size()) return 0;
  uint32_t code = n == 1 ? lead : lead & (0x7fu >> n);
  for (std::size_t i = 1; i < n; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c & 0xc0) != 0x80) return 0;
    code = code << 6 | (c & 0x3f);
  }
  const bool too_long = (n == 3 && code < 0x800) || (n == 4 && code < 0x10000);
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  return too_long || control || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff ? 0 : n;
}

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

std::string printable(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    if (n == 0) {
      clean += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else {
      clean += text.substr(0, n);
    }
    text.remove_prefix(n == 0 ? 1 : n);
  }
  return clean;
}

}  // namespace mrc::tb
