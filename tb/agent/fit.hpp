// SPDX-License-Identifier: Apache-2.0
/// What a scenario means for two NICs of which nothing is known but ports, host and verbs (docs/guide/levels.md): which
/// of its keys can be played, and the calls that bring both NICs into the planned state.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gen/presets.hpp"
#include "tb/device/device.hpp"
#include "tb/environment/plan.hpp"
#include "tb/environment/scenario.hpp"

namespace mrc::tb {

using NamedSettings = std::vector<std::pair<std::string, uint64_t>>;

/// The scenario cannot be played with these NICs: what() is a sentence.
class CannotPlay : public mrc::InputError {
 public:
  using mrc::InputError::InputError;
};

/// A device under test or its peer, open.
struct OpenNic {
  NicDevice* device = nullptr;
  DeviceInfo info;
  bool has(std::string_view cap) const;
};

/// The scenario that both NICs can play, with a sentence in `left_out` about each key that is changed for it. Throws
/// CannotPlay: not the ports of the preset, half of a NIC.
Scenario fit(const Scenario& scenario, const Preset& preset, const OpenNic& dut, const OpenNic& peer,
             std::vector<std::string>& left_out);

/// Makes the plan one that both NICs have room for.
void fit(Plan& plan, const Preset& preset, const Scenario& scenario, const OpenNic& dut, const OpenNic& peer);
/// What a profile says of a setting; nothing: it is none that a judge knows.
std::optional<uint32_t> reported(const std::string& profile, std::string_view setting);

/// What a requestor does with messages of no bytes and with immediates that are too many: as its profile says, or as it
/// was set.
void fit_requestor(SidePlan& side, const Scenario& scenario, const OpenNic& nic, const NamedSettings& granted);

/// Registers of a plan that are not as after reset, by name, and of controllers what the scenario has changed.
NamedSettings settings_of(const SidePlan& side, const Preset& preset, const Scenario& scenario);

/// Opens a NIC with those of the settings that it has; the names of the others go to `refused`.
void open_with(OpenNic& nic, OpenRequest request, std::vector<std::string>& refused);

/// The peer's settings: its own, and in what both must agree about those that the device says it has.
NamedSettings agreed(NamedSettings own, const std::string& dut_profile, const std::vector<std::string>& refused,
                     bool own_port);

/// A QP of a plan as a call.
QpConfig qp_config(const SidePlan& side, const OpenNic& own, const OpenNic& other, uint64_t other_mac, unsigned index,
                   const NicDevice& device);

log::Ip ip_bytes(U128 address);

}  // namespace mrc::tb
