// SPDX-License-Identifier: Apache-2.0
#include "reference/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace mrc::ref {

std::string time_text(Time time) { return fmt::format("{:.3f} us", static_cast<double>(time) / 1e6); }

const char* name_of(Verdict verdict) {
  static constexpr const char* kNames[] = {"pass", "deviates", "inconclusive", "fail", "broken"};
  return kNames[static_cast<std::size_t>(verdict)];
}

void Delays::add(Time delay) {
  const std::size_t high = delay < 8 ? 0 : static_cast<std::size_t>(std::bit_width(delay)) - 3;
  ++steps_[high * 8 + (high == 0 ? delay : delay >> (high - 1) & 7)];
  ++count_;
  longest_ = std::max(longest_, delay);
}

Time Delays::within(double share) const {
  const auto wanted = static_cast<uint64_t>(std::ceil(share * static_cast<double>(count_)));
  uint64_t sum = 0;
  for (unsigned i = 0; i < steps_.size(); ++i) {
    sum += steps_[i];
    if (sum == 0 || sum < wanted) continue;
    const unsigned high = i / 8;
    return std::min(longest_, high == 0 ? Time{i} : (Time{8} + i % 8 + 1) << (high - 1));
  }
  return longest_;
}

void Report::broken(Finding finding) {
  Tally& tally = tallies_[static_cast<std::size_t>(finding.rule)];
  apply(finding.rule);
  timeline_.add(Timeline::Findings, finding.time);
  Place& last = last_[static_cast<std::size_t>(finding.rule)];
  if (tally.broken == 0 || finding.time >= last.time) last = {finding.time, finding.frame, finding.capture};
  if (tally.broken++ >= kMostFindings) return;
  const Severity severity = info(finding.rule).severity;
  finding.device = device_;
  finding.verdict = severity == Severity::Fail       ? Verdict::Fail
                    : severity == Severity::Deviates ? Verdict::Deviates
                                                     : Verdict::Broken;
  findings_.push_back(std::move(finding));
}

void Report::discarded(Rule rule, uint64_t count, bool notified) {
  const bool held = tallies_[static_cast<std::size_t>(rule)].checked >= count;
  for (uint64_t i = 0; i < count; ++i) {
    if (notified && held) {
      rests(rule, "a packet that the device discarded would explain it (its counter silent_drops is above 0)");
    } else {
      inconclusive(rule, "the device may have discarded the packet without a word");
    }
  }
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
