// SPDX-License-Identifier: Apache-2.0
/// mrc cosim --results: a file with one JSON line per seed, which outlives every way to end (docs/guide/regress.md).
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "input/json.hpp"

namespace mrc::cli {

/// What failures have in common: block and field of a divergence, rule of a finding, name of an assertion, else the
/// outcome; of a run that deviates the rule of its first deviation. "" for a pass. `result` is the JSON of one run at
/// any level.
std::string signature_of(const input::Json& result);

/// A file of results that grows by whole lines, each on the disk before the next run begins. One process writes it. A
/// line of versions stands before the lines of seeds that this build wrote.
class SeedResults {
 public:
  /// Opens it, or makes it; a last line without an end, of a process that was killed, is taken away.
  /// Throws UsageError: it cannot be opened, read or locked; a line is none of ours.
  explicit SeedResults(const std::string& path);
  SeedResults(const SeedResults&) = delete;
  SeedResults& operator=(const SeedResults&) = delete;
  ~SeedResults();

  /// The seed has its line.
  bool has(uint64_t seed) const { return seeds_.count(seed) != 0; }
  /// Adds the line of a run. Throws UsageError when the disk refuses; the file has whole lines then too.
  void add(uint64_t seed, int exit_code, const input::Json& result);

 private:
  [[noreturn]] void fail(const std::string& what, int why) const;
  void read_seeds();
  void write(const input::Json& line);

  std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;     ///< bytes of whole lines
  std::string made_by_;  ///< the newest line's versions
  std::set<uint64_t> seeds_;
};

}  // namespace mrc::cli
