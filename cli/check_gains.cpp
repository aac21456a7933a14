// SPDX-License-Identifier: Apache-2.0
#include "cli/check_gains.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

#include "cli/context.hpp"
#include "cli/log_input.hpp"
#include "cli/signals.hpp"

namespace mrc::cli {
namespace {

using log::EventKind;

/// In the order in which docs/adopt.md shows them.
constexpr std::array<std::pair<EventKind, const char*>, 4> kSteps{{
    {EventKind::Take, "take"},
    {EventKind::Answer, "answer"},
    {EventKind::Path, "path"},
    {EventKind::Cc, "cc"},
}};

uint64_t bit(EventKind kind) { return uint64_t{1} << static_cast<unsigned>(kind); }

std::unique_ptr<ref::Run> judged(const std::vector<std::string>& logs, ref::RunOptions how, uint64_t shows) {
  how.shows = shows;
  auto run = std::make_unique<ref::Run>(how);
  auto record = std::make_unique<log::Record>();
  for (const std::string& file : logs) {
    LogInput input(file);
    while (!g_stop && input.reader().next(*record)) run->take(record);
    if (g_stop) throw UsageError("--gains was stopped.", "Let it come to its end.");
    input.refuse_damage();
  }
  run->finish();
  return run;
}

std::string cell(const ref::Tally& tally) {
  uint64_t rests = 0;
  for (const auto& [reason, times] : tally.rests) rests += times;
  const uint64_t applied = tally.checked + tally.broken;
  return fmt::format("{:>16}", rests == 0 ? std::to_string(applied) : fmt::format("{} ({})", applied, rests));
}

}  // namespace

std::string gains(const std::vector<std::string>& logs, const ref::RunOptions& how) {
  std::vector<std::pair<std::string, std::unique_ptr<ref::Run>>> runs;
  runs.emplace_back("nothing", judged(logs, how, 0));
  uint64_t there = 0, shows = 0;
  {
    const std::unique_ptr<ref::Run> all = judged(logs, how, ~uint64_t{0});
    for (const auto& [number, profile] : all->judged()) there |= profile->shows;
  }
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
    const auto rule = static_cast<ref::Rule>(i);
    std::string line;
    bool changes = false;
    for (const auto& [name, run] : runs) {
      const std::string here = cell(run->tally(rule));
      changes |= !line.empty() && line.substr(line.size() - here.size()) != here;
      line += here;
    }
    if (changes) text += fmt::format("{:<18}{}\n", ref::info(rule).id, line);
    same += !changes;
  }
  return text + fmt::format("{} other rules do not depend on it.\n", same);
}

}  // namespace mrc::cli
