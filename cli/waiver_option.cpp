// SPDX-License-Identifier: Apache-2.0
#include "cli/waiver_option.hpp"

#include <fmt/format.h>

#include <string_view>

#include "cli/context.hpp"
#include "input/file.hpp"
#include "input/names.hpp"
#include "reference/run.hpp"

namespace mrc::cli {
namespace {

constexpr input::FileKind kWaivers{"list of waivers", 1 << 20,
                                   "Write --waive RULE=REASON, or name an existing file that you may read."};

}  // namespace

void waiver_option(Command& command, std::vector<std::string>& to) {
  command
      .words("--waive", to,
             "findings of RULE do not count, for this reason; or a file of waivers (TOML: rule, reason, who, until)")
      .called("RULE=REASON|FILE");
}

ref::Waivers waivers_of(const std::vector<std::string>& options) {
  ref::Waivers all;
  std::vector<std::string_view> ids;
  ids.reserve(ref::kNumRules);
  for (const ref::RuleInfo& rule : ref::kRules) ids.emplace_back(rule.id);
  const auto add = [&](const std::string& id, ref::Waiver waiver) {
    if (!all.emplace(id, std::move(waiver)).second)
      throw UsageError("--waive: " + id + " is waived twice.", "Keep one waiver for each rule.");
  };
  for (const std::string& option : options) {
    const auto equals = option.find('=');
    const bool rule = equals != std::string::npos || ref::rule_of(option).has_value();
    if (!rule) {
      const std::string text = input::read_text(option, kWaivers);
      for (auto& [id, waiver] : ref::read_waivers(text, input::file_name(option), ref::today())) add(id, waiver);
      continue;
    }
    if (equals == std::string::npos || equals + 1 == option.size())
      throw UsageError("--waive " + option + " has no reason.", "Write --waive RULE=REASON.");
    const std::string id = option.substr(0, equals);
    if (!ref::rule_of(id)) {
      throw UsageError(with_full_stop("--waive: '" + id + "' is no rule" + input::did_you_mean(id, ids)),
                       "See 'mrc check --rules'.");
    }
    add(id, {option.substr(equals + 1), {}, {}});
  }
  return all;
}

}  // namespace mrc::cli
