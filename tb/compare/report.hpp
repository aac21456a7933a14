// SPDX-License-Identifier: Apache-2.0
/// Results in words and as JSON. Nothing here prints.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "input/json.hpp"
#include "tb/cosim.hpp"

namespace mrc::tb {

/// What the result belongs to, and how to get it again.
struct RunInfo {
  std::string preset, scenario, bug;
  std::string drawn;        ///< what a scenario drawn from the seed is made of
  unsigned drawn_anew = 0;  ///< scenarios before it that moved nothing
  std::string run_id;       ///< of all files of the run
  uint64_t seed = 0, packets = 0;
  std::string repro;     ///< one command line
  input::Json versions;  ///< of the program; those of the device come to them
  std::string pcap_file, wave_file, json_file, scenario_file, page_file, trace_file,
      kanata_file;         ///< written on failure; "" if not
  uint64_t wave_from = 0;  ///< first cycle in wave_file
};

/// A short page for people: verdict, traffic, planes, speed.
std::string summary_text(const RunInfo& info, const CosimResult& result);
/// What is wrong, in packet terms; "" when nothing is.
std::string failure_text(const RunInfo& info, const CosimResult& result);
/// One JSON object with line end. Keys are described in docs/guide/bench.md.
std::string result_json(const RunInfo& info, const CosimResult& result);

/// Several runs, one per seed. The last one may have failed.
struct Sweep {
  struct Run {
    uint64_t seed = 0;
    std::string result, drawn;
    unsigned drawn_anew = 0;
    uint64_t packets = 0, cycles = 0, event_hash = 0;
    double seconds = 0;
  };
  std::vector<Run> runs;
  uint64_t passed = 0, packets = 0, cycles = 0, drawn_anew = 0;
  bool stopped = false;  ///< before all seeds had their run
  std::string reason;    ///< why
  std::string run_id;
  input::Json versions;  ///< as in RunInfo
  std::string failure;   ///< JSON of the run that failed

  void add(const RunInfo& info, const CosimResult& result);
  /// No more runs, and why.
  void stop(std::string why) {
    stopped = true;
    reason = std::move(why);
  }
};
/// A line about one run of several.
std::string sweep_line(const RunInfo& info, const CosimResult& result);
/// The line at the end.
std::string sweep_text(const Sweep& sweep, double seconds);
/// One JSON object with line end. Keys are described in docs/guide/bench.md.
std::string sweep_json(const Sweep& sweep, double seconds);

/// 1234567 -> "1 234 567".
std::string grouped(uint64_t value);

}  // namespace mrc::tb
