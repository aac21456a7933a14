// SPDX-License-Identifier: Apache-2.0
#include "cli/check_gains.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "cli/context.hpp"
#include "cli/log_input.hpp"
#include "cli/signals.hpp"

namespace mrc::cli {
namespace {

using log::EventKind;

/// In the order in which docs/guide/adopt.md shows them.
constexpr std::array<std::pair<EventKind, const char*>, 4> kSteps{{
    {EventKind::Take, "take"},
    {EventKind::Answer, "answer"},
    {EventKind::Path, "path"},
    {EventKind::Cc, "cc"},
}};

uint64_t bit(EventKind kind) { return uint64_t{1} << static_cast<unsigned>(kind); }

/// What came of the logs: a judge of them may be as large as memory allows, so that no two are there at a time.
struct Judged {
  std::vector<ref::Tally> tallies;  ///< by rule
  uint64_t shown = 0;               ///< by any device, of what was asked for
};

Judged judged(const std::vector<std::string>& logs, ref::RunOptions how, uint64_t shows) {
  how.shows = shows;
  ref::Run run(how);
  auto record = std::make_unique<log::Record>();
  for (const std::string& file : logs) {
    LogInput input(file);
    while (!g_stop && input.reader().next(*record)) run.take(record);
    if (g_stop) throw UsageError("--gains was stopped.", "Let it come to its end.");
    input.refuse_damage();
  }
  run.finish();
  Judged all;
  for (std::size_t i = 0; i < ref::kNumRules; ++i) all.tallies.push_back(run.tally(static_cast<ref::Rule>(i)));
  for (const auto& [number, profile] : run.judged()) all.shown |= profile->shows;
  return all;
}

std::string cell(const ref::Tally& tally) {
  uint64_t rests = 0;
  for (const auto& [reason, times] : tally.rests) rests += times;
  const uint64_t applied = tally.checked + tally.broken;
  return fmt::format("{:>16}", rests == 0 ? std::to_string(applied) : fmt::format("{} ({})", applied, rests));
}

}  // namespace

std::string gains(const std::vector<std::string>& logs, const ref::RunOptions& how) {
  std::vector<std::pair<std::string, Judged>> runs;
  runs.emplace_back("nothing", judged(logs, how, 0));
  const uint64_t there = judged(logs, how, ~uint64_t{0}).shown;
  uint64_t shows = 0;
  for (const auto& [kind, name] : kSteps) {
    if ((there & bit(kind)) == 0) continue;
    shows |= bit(kind);
    runs.emplace_back(fmt::format("+ {}", name), judged(logs, how, shows));
  }
  if (shows == 0)
    throw UsageError("no device of these logs shows take, answer, path or cc.",
                     "Name them in 'shows' of its profile and record again; --device leaves the others out.");
  std::string text = fmt::format("times a rule was applied (was at rest), by what is shown\n{:<18}", "rule");
  for (const auto& [name, run] : runs) text += fmt::format("{:>16}", name);
  text += '\n';
  unsigned same = 0;
  for (std::size_t i = 0; i < ref::kNumRules; ++i) {
    std::string line;
    bool changes = false;
    for (const auto& [name, run] : runs) {
      const std::string here = cell(run.tallies[i]);
      changes |= !line.empty() && line.substr(line.size() - here.size()) != here;
      line += here;
    }
    if (changes) text += fmt::format("{:<18}{}\n", ref::kRules[i].id, line);
    same += !changes;
  }
  return text + fmt::format("{} other rules do not depend on it.\n", same);
}

}  // namespace mrc::cli
