// SPDX-License-Identifier: Apache-2.0
/// Settings by name, for platforms whose modules are made from files or command lines (SystemC's CCI is no part of
/// SystemC 2.3.4).
///
///     TrimmingSwitchConfig config{.settings = SwitchConfig::recommended("t0", 100'000)};
///     set(config, "port_latency_ns", 40);
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/fabric.hpp"
#include "sim/systemc/nic.hpp"
#include "sim/systemc/trimming_switch.hpp"

namespace mrc::systemc {

/// Report a name that is not there (with those that are), and a value that the parameter cannot have. Switches
/// (cut_through, trim_lengths) are 0 or 1.
void set(TrimmingSwitchConfig& config, std::string_view name, double value);
void set(NicConfig& config, std::string_view name, double value);
void set(sim::LinkConfig& config, std::string_view name, double value);
double get(const TrimmingSwitchConfig& config, std::string_view name);
double get(const NicConfig& config, std::string_view name);
double get(const sim::LinkConfig& config, std::string_view name);
std::vector<std::string> names(const TrimmingSwitchConfig& config);
std::vector<std::string> names(const NicConfig& config);
std::vector<std::string> names(const sim::LinkConfig& config);

}  // namespace mrc::systemc
