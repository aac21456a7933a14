// SPDX-License-Identifier: Apache-2.0
/// Results in words and as JSON. Nothing here prints.
#pragma once

#include <string>

#include "tb/cosim.hpp"

namespace mrc::tb {

/// What the result belongs to, and how to get it again.
struct RunInfo {
  std::string preset, scenario, bug;
  uint64_t seed = 0, packets = 0;
  std::string repro;  ///< one command line
  std::string mrc_version, compiler;
  std::string pcap_file, wave_file, json_file;  ///< written on failure; "" if not
  uint64_t wave_from = 0;                       ///< first cycle in wave_file
};

/// A short page for people: verdict, traffic, planes, speed.
std::string summary_text(const RunInfo& info, const CosimResult& result);
/// What is wrong, in packet terms; "" when nothing is.
std::string failure_text(const RunInfo& info, const CosimResult& result);
/// One JSON object with line end. Keys are described in docs/bench.md.
std::string result_json(const RunInfo& info, const CosimResult& result);

/// 1234567 -> "1 234 567".
std::string grouped(uint64_t value);

}  // namespace mrc::tb
