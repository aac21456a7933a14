// SPDX-License-Identifier: Apache-2.0
#include "reference/report.hpp"

#include <algorithm>

namespace mrc::ref {

const char* name_of(Verdict verdict) {
  static constexpr const char* kNames[] = {"pass", "deviates", "inconclusive", "fail", "broken"};
  return kNames[static_cast<std::size_t>(verdict)];
}

void Report::broken(Finding finding) {
  Tally& tally = tallies_[static_cast<std::size_t>(finding.rule)];
  if (tally.broken++ >= kMostFindings) return;
  const Severity severity = info(finding.rule).severity;
  finding.device = device_;
  finding.verdict = severity == Severity::Fail       ? Verdict::Fail
                    : severity == Severity::Deviates ? Verdict::Deviates
                                                     : Verdict::Broken;
  findings_.push_back(std::move(finding));
}

Verdict Report::verdict() const {
  Verdict worst = Verdict::Pass;
  for (std::size_t i = 0; i < kNumRules; ++i) {
    if (tallies_[i].inconclusive != 0) worst = std::max(worst, Verdict::Inconclusive);
  }
  for (const Finding& f : findings_) worst = std::max(worst, f.verdict);
  return worst;
}

}  // namespace mrc::ref
