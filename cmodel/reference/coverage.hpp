// SPDX-License-Identifier: Apache-2.0
/// Which rules were applied in which situations, over many runs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "input/error.hpp"
#include "reference/report.hpp"

namespace mrc::ref {

/// Of the rules as they are: 16 hex digits over ids, texts, marks, citations and severities.
std::string rules_version();

class Coverage {
 public:
  /// The device of a run.
  void add(const Report& report, const std::string& device);
  void add_run() { ++runs_; }
  /// Sums. Throws InputError: the other one is of other rules.
  void merge(const Coverage& other);

  uint64_t runs() const { return runs_; }
  /// Times the rule was applied.
  uint64_t applied(Rule rule) const;
  uint64_t applied(Rule rule, At at, Fares fares) const;

  std::string to_json() const;
  /// Rules as rows, how the device fared as columns; at the end the rules that were never applied. `full`: rows for
  /// what the judge was told as well.
  std::string to_text(bool full) const;

 private:
  friend Coverage read_coverage(std::string_view json, const std::string& file);
  uint64_t runs_ = 0;
  std::set<std::string> devices_;
  std::map<Rule, std::map<std::size_t, uint64_t>> counts_;  ///< by Situation::index()
};

/// What to_json() writes. Throws InputError: not that, or made with other rules.
Coverage read_coverage(std::string_view json, const std::string& file);

}  // namespace mrc::ref
