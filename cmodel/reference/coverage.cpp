// SPDX-License-Identifier: Apache-2.0
#include "reference/coverage.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <vector>

#include "input/json.hpp"
#include "log/digest.hpp"

namespace mrc::ref {
namespace {

using input::Json;
constexpr const char* kRemedy =
    "Name a file that 'mrc check --coverage FILE' or 'mrc rule-coverage -o FILE' has written.";

std::string situation_text(std::size_t index) {
  return fmt::format("{}, {}", name_of(Situation::at(index)), name_of(Situation::fares(index)));
}

std::optional<std::size_t> situation_of(std::string_view text) {
  for (std::size_t i = 0; i < Situation::kNumber; ++i) {
    if (text == situation_text(i)) return i;
  }
  return {};
}

std::optional<Rule> rule_named(std::string_view id) {
  for (std::size_t i = 0; i < kNumRules; ++i) {
    if (id == kRules[i].id) return static_cast<Rule>(i);
  }
  return {};
}

}  // namespace

std::string rules_version() {
  std::string all;
  for (const RuleInfo& rule : kRules) {
    all += fmt::format("{}\n{}\n{}\n{}\n{}\n", rule.id, rule.text, rule.mark, rule.cite,
                       static_cast<unsigned>(rule.severity));
  }
  return fmt::format("{:016x}", log::digest({reinterpret_cast<const uint8_t*>(all.data()), all.size()}));
}

void Coverage::add(const Report& report, const std::string& device) {
  devices_.insert(device);
  for (std::size_t i = 0; i < kNumRules; ++i) {
    const auto rule = static_cast<Rule>(i);
    for (std::size_t s = 0; s < Situation::kNumber; ++s) {
      if (const uint64_t times = report.applied(rule, s); times != 0) counts_[rule][s] += times;
    }
  }
}

void Coverage::merge(const Coverage& other) {
  runs_ += other.runs_;
  devices_.insert(other.devices_.begin(), other.devices_.end());
  for (const auto& [rule, cells] : other.counts_) {
    for (const auto& [situation, times] : cells) counts_[rule][situation] += times;
  }
}

uint64_t Coverage::applied(Rule rule) const {
  uint64_t sum = 0;
  if (const auto found = counts_.find(rule); found != counts_.end()) {
    for (const auto& [situation, times] : found->second) sum += times;
  }
  return sum;
}

uint64_t Coverage::applied(Rule rule, At at, Fares fares) const {
  const auto found = counts_.find(rule);
  if (found == counts_.end()) return 0;
  const auto cell = found->second.find(static_cast<std::size_t>(at) * kNumFares + static_cast<std::size_t>(fares));
  return cell == found->second.end() ? 0 : cell->second;
}

std::string Coverage::to_json() const {
  Json json;
  json["coverage"] = 1;
  json["rules"] = rules_version();
  json["runs"] = runs_;
  json["devices"] = devices_;
  Json& applied = json["applied"] = Json::object();
  for (const auto& [rule, cells] : counts_) {
    Json& row = applied[info(rule).id] = Json::object();
    for (const auto& [situation, times] : cells) row[situation_text(situation)] = times;
  }
  return json.dump(1) + "\n";
}

std::string Coverage::to_text(bool full) const {
  const auto line = [](std::string_view name, const std::array<uint64_t, kNumFares>& cells) {
    std::string text = fmt::format("{:<26}", name);
    for (const uint64_t cell : cells) text += cell == 0 ? fmt::format(" {:>11}", "-") : fmt::format(" {:>11}", cell);
    return text + "\n";
  };
  std::string text = fmt::format("{:<26}", "rule");
  for (std::size_t f = 0; f < kNumFares; ++f) text += fmt::format(" {:>11}", name_of(static_cast<Fares>(f)));
  text += "\n";
  std::string never;
  std::size_t applied_rules = 0, situations = 0;
  for (std::size_t i = 0; i < kNumRules; ++i) {
    const auto rule = static_cast<Rule>(i);
    const auto found = counts_.find(rule);
    if (found == counts_.end()) {
      never += fmt::format("  {}: {}.\n", kRules[i].id, kRules[i].text);
      continue;
    }
    ++applied_rules;
    situations += found->second.size();
    std::array<uint64_t, kNumFares> sums{};
    std::array<std::array<uint64_t, kNumFares>, kNumAt> rows{};
    for (const auto& [situation, times] : found->second) {
      const auto fares = static_cast<std::size_t>(Situation::fares(situation));
      sums[fares] += times;
      rows[static_cast<std::size_t>(Situation::at(situation))][fares] += times;
    }
    text += line(kRules[i].id, sums);
    for (std::size_t at = 0; full && at < kNumAt; ++at) {
      if (rows[at] != std::array<uint64_t, kNumFares>{})
        text += line(fmt::format("  {}", name_of(static_cast<At>(at))), rows[at]);
    }
  }
  if (!never.empty()) text += "never applied:\n" + never;
  return text + fmt::format("{} runs, {} of {} rules applied, in {} situations altogether\n", runs_, applied_rules,
                            kNumRules, situations);
}

Coverage read_coverage(std::string_view text, const std::string& file) {
  const auto refuse = [&](const std::string& what) { throw InputError(fmt::format("{}: {}.", file, what), kRemedy); };
  const std::optional<Json> json = input::parse_json(text);
  const Json none;
  const auto member = [&](const char* name) -> const Json& {
    const Json* found = json ? json->find(name) : nullptr;
    return found != nullptr ? *found : none;
  };
  const Json &version = member("coverage"), &rules = member("rules"), &devices = member("devices");
  const Json& applied = member("applied");
  const auto runs = member("runs").whole();
  if (!json || !json->contains("coverage") || !applied.is_object() || !runs || !devices.is_array())
    refuse("no coverage of rules");
  if (version.whole() != 1) refuse("coverage of another version than 1");
  if (!rules.is_text() || rules.text != rules_version())
    throw InputError(fmt::format("{}: made with other rules than those of this mrc ({}).", file, rules_version()),
                     "Judge the logs again: 'mrc check LOG --coverage FILE'.");
  Coverage coverage;
  coverage.runs_ = *runs;
  for (const Json& device : devices.items) {
    if (!device.is_text()) refuse("a device that is no name");
    coverage.devices_.insert(device.text);
  }
  for (const input::JsonMember& row : applied.members) {
    const std::string& id = row.name;
    const Json& cells = row.value;
    const auto rule = rule_named(id);
    if (!rule || !cells.is_object()) refuse(fmt::format("no rule '{}'", id));
    for (const input::JsonMember& cell : cells.members) {
      const auto situation = situation_of(cell.name);
      const auto times = cell.value.whole();
      if (!situation || !times) refuse(fmt::format("no situation '{}' of rule {}", cell.name, id));
      coverage.counts_[*rule][*situation] += *times;
    }
  }
  return coverage;
}

}  // namespace mrc::ref
