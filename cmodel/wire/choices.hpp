// SPDX-License-Identifier: Apache-2.0
/// The choices of WireConfig as options: what 'mrc decode' takes, what captures say, what JSON carries.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "wire/packet.hpp"
#include "wire/result.hpp"

namespace mrc::wire {

/// A choice between two: "--NAME", or "--NAME=false".
struct ChoiceFlag {
  const char* name;
  bool WireConfig::*value;
  const char* doc;
};
inline constexpr std::array<ChoiceFlag, 5> kChoiceFlags = {{
    {"udp-port-only", &WireConfig::udp_port_only, "packets to other UDP ports are none, 4791 and 4971 included (A-01)"},
    {"bth-se-first", &WireConfig::bth_se_first, "BTH byte 1: SE in bit 7, M in bit 6, as IBTA has it (A-02)"},
    {"ev-swap", &WireConfig::ev_swap, "source port carries EV[15:0], flow label EV[31:16] (A-03)"},
    {"eeth-op-high", &WireConfig::eeth_op_high, "EETH.op in bits 5:4 instead of 3:2"},
    {"icrc-outer", &WireConfig::icrc_outer,
     "ICRC of SRv6 packets from the outer IP header on, not from the inner one (A-14)"},
}};

/// Captures and their interfaces are described with this and the options to read them with.
inline constexpr std::string_view kReadWith = "mrc decode ";

/// Every choice: "--udp-port 4971 --icrc-outer --dscp no_trim=0 ...". Flags that are off are left out.
std::string to_options(const WireConfig& config);
/// Those choices in which `config` differs from `base`; "" if there are none.
std::string to_options(const WireConfig& config, const WireConfig& base);

/// Puts "trimmed=12" into the map. Otherwise an Error without input and offset, and the map is as it was.
std::optional<Error> read_dscp(std::string_view text, DscpMap& map);
/// Puts options as to_options() writes them into `config`: choices not named stay as they are. On an Error, which has
/// neither input nor offset, all stay.
std::optional<Error> read_options(std::string_view text, WireConfig& config);

}  // namespace mrc::wire
