// SPDX-License-Identifier: Apache-2.0
/// Options that `mrc decode` and `mrc encode` share, and reading of whole files.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "cli/context.hpp"
#include "wire/packet.hpp"
#include "wire/result.hpp"

namespace mrc::cli {

/// What the user said about the open choices of the wire format.
struct WireOptions {
  wire::WireConfig config;
  std::vector<std::string> dscp;

  void add(CLI::App& command) {
    command.add_option("--udp-port", config.udp_port, "UDP destination port of MRC (assumption A-01)")
        ->capture_default_str();
    command
        .add_option("--dscp", dscp,
                    "code point of a class as NAME=N; names: no_trim, trimmable, trimmable_retx, "
                    "trimmed, trimmed_lasthop, control (A-04)")
        ->type_name("NAME=N")
        ->allow_extra_args(false);
    command.add_flag("--bth-m-first", config.bth_m_first, "BTH byte 1: M in bit 7, SE in bit 6 (A-02)");
    command.add_flag("--ev-swap", config.ev_swap, "source port carries EV[15:0], flow label EV[31:16] (A-03)");
    command.add_flag("--eeth-op-high", config.eeth_op_high, "EETH.op in bits 5:4 instead of 3:2");
    command.add_flag("--icrc-outer", config.icrc_outer,
                     "ICRC of SRv6 packets from the outer IP header on, not from the inner one (A-14)");
  }

  /// The choices, checked. Throws UsageError.
  wire::WireConfig checked() const {
    wire::WireConfig out = config;
    const std::map<std::string, uint8_t wire::DscpMap::*> fields = {
        {"no_trim", &wire::DscpMap::no_trim},
        {"trimmable", &wire::DscpMap::trimmable},
        {"trimmable_retx", &wire::DscpMap::trimmable_retx},
        {"trimmed", &wire::DscpMap::trimmed},
        {"trimmed_lasthop", &wire::DscpMap::trimmed_lasthop},
        {"control", &wire::DscpMap::control},
    };
    for (const std::string& text : dscp) {
      const size_t equals = text.find('=');
      const auto field = fields.find(text.substr(0, equals));
      if (equals == std::string::npos || field == fields.end()) {
        throw UsageError("'" + text + "' in --dscp does not name a class and its code point.",
                         "Write NAME=N with no_trim, trimmable, trimmable_retx, trimmed, trimmed_lasthop or control.");
      }
      unsigned value = 0;
      const char* const end = text.data() + text.size();
      const auto [stop, problem] = std::from_chars(text.data() + equals + 1, end, value);
      if (problem != std::errc() || stop != end || value > 63) {
        throw UsageError("code point in --dscp " + text + " is not a number of 6 bits.", "Give a number from 0 to 63.");
      }
      out.dscp.*(field->second) = static_cast<uint8_t>(value);
    }
    return out;
  }
};

/// A file as bytes. Throws UsageError when it cannot be read.
inline std::vector<uint8_t> read_file(const std::string& path) {
  std::error_code ignored;
  std::ifstream in(path, std::ios::binary);
  std::vector<uint8_t> out;
  // opening a folder succeeds, reading it throws
  if (in.is_open() && !std::filesystem::is_directory(path, ignored)) {
    out.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  } else {
    in.setstate(std::ios::badbit);
  }
  if (in.bad()) {
    throw UsageError("cannot read " + path + ".", "Name an existing file that you may read.");
  }
  return out;
}

/// An error of the wire library as the user sees it.
[[noreturn]] inline void refuse(const wire::Error& error) { throw UsageError(error.sentence() + ".", error.remedy); }

}  // namespace mrc::cli
