// SPDX-License-Identifier: Apache-2.0
/// Settings of docs/protocol/assumptions.md, by name, as registers and rows of our NIC.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gen/presets.hpp"
#include "tb/device/device.hpp"

namespace mrc::tb {

struct PinsSettings {
  std::map<uint16_t, uint32_t> registers;  ///< by offset: those that get another value than after reset
  struct Bits {
    unsigned lsb, width;
    uint64_t value;
  };
  std::vector<Bits> controller;  ///< of rows of CC_PROFILE
  QpConfig qp;                   ///< how QPs begin

  /// Value of a register.
  uint32_t get(uint32_t offset, uint32_t reset) const;
  void apply(std::array<uint32_t, 16>& controller_row) const;
};

/// Throws Refusal (unsupported): a name that the NIC does not have, or a value beyond the field.
PinsSettings read_settings(const std::vector<std::pair<std::string, uint64_t>>& settings, const Preset& preset);

/// The device's profile for a judge (docs/reference/judge.md), one line of JSON.
std::string profile_json(const std::string& name, unsigned planes, const Preset& preset,
                         const std::vector<std::pair<std::string, uint64_t>>& settings, bool silent_drops,
                         const std::vector<const char*>& shows = {});

/// From the last byte of a frame until the window has it, and from there to the first byte of an answer, at most, ps
/// (docs/reference/device.md, Latency).
inline constexpr Time kTakeTime = 3'000'000, kAnswerTime = 10'000'000;

}  // namespace mrc::tb
