// SPDX-License-Identifier: Apache-2.0
#include "reference/waivers.hpp"

#include <fmt/format.h>

#include <chrono>
#include <vector>

#include "gen/rules.hpp"
#include "input/names.hpp"
#include "input/toml.hpp"
#include "input/toml_tree.hpp"

namespace mrc::ref {
namespace {

constexpr const char* kKeys = "A waiver has the keys rule, reason, who and until = 2026-12-31, each once.";

std::string date_text(int year, unsigned month, unsigned day) {
  return fmt::format("{:04}-{:02}-{:02}", year, month, day);
}

std::string text_of(const input::TomlFile& file, const toml::node& node, std::string_view key) {
  const auto text = node.value_exact<std::string>();
  if (!text || text->empty())
    file.refuse(node, fmt::format("{} is no text, or an empty one", key), "Write it in quotes.");
  return *text;
}

std::string rule_of_text(const input::TomlFile& file, const toml::node& node) {
  std::string id = text_of(file, node, "rule");
  std::vector<std::string_view> known;
  for (const RuleInfo& rule : kRules) {
    if (id == rule.id) return id;
    known.emplace_back(rule.id);
  }
  file.refuse(node, fmt::format("{} is no rule{}", input::shown(id), input::did_you_mean(id, known)),
              "See 'mrc check --rules'.");
}

std::string until_of(const input::TomlFile& file, const toml::node& node) {
  const auto date = node.value_exact<toml::date>();
  if (!date) file.refuse(node, "until is no date", "Write until = 2026-12-31, without quotes.");
  return date_text(date->year, date->month, date->day);
}

}  // namespace

std::string to_text(const Waiver& waiver) {
  if (waiver.who.empty()) return waiver.reason;
  return fmt::format("{} ({}, until {})", waiver.reason, waiver.who, waiver.until);
}

std::string today() {
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())};
  return date_text(int{day.year()}, unsigned{day.month()}, unsigned{day.day()});
}

Waivers read_waivers(std::string_view toml, const std::string& name, std::string_view today) {
  const input::TomlFile file(toml, name, "list of waivers", kKeys);
  Waivers all;
  for (const auto& [key, list] : file.root()) {
    if (key.str() != "waiver") {
      constexpr std::string_view kKnown[] = {"waiver"};
      input::unknown_key(file, key, "a list of waivers", kKnown, "Begin each waiver with [[waiver]].");
    }
    for (const toml::table* table : file.tables(list, "waiver")) {
      std::string rule;
      Waiver waiver;
      const toml::node* last = table;
      for (const auto& [field, node] : *table) {
        if (field.str() == "rule") {
          rule = rule_of_text(file, node);
        } else if (field.str() == "reason") {
          waiver.reason = text_of(file, node, "reason");
        } else if (field.str() == "who") {
          waiver.who = text_of(file, node, "who");
        } else if (field.str() == "until") {
          waiver.until = until_of(file, node);
          last = &node;
        } else {
          constexpr std::string_view kKnown[] = {"rule", "reason", "who", "until"};
          input::unknown_key(file, field, "a waiver", kKnown, kKeys);
        }
      }
      for (const auto& [field, text] : {std::pair{"rule", &rule}, std::pair{"reason", &waiver.reason},
                                        std::pair{"who", &waiver.who}, std::pair{"until", &waiver.until}}) {
        if (text->empty()) file.refuse(*table, fmt::format("a waiver without {}", field), kKeys);
      }
      if (waiver.until < today)
        file.refuse(*last,
                    fmt::format("the waiver of {} by {} ran out: it held until {}", rule, waiver.who, waiver.until),
                    "Mend the NIC, or have somebody decide anew and set another day.");
      if (!all.emplace(rule, waiver).second)
        file.refuse(*table, fmt::format("a second waiver of {}", rule), "Keep one for each rule.");
    }
  }
  return all;
}

}  // namespace mrc::ref
