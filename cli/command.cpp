// SPDX-License-Identifier: Apache-2.0
#include "cli/command.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "cli/context.hpp"
#include "input/number.hpp"

namespace mrc::cli {

Option& Option::required() {
  is_required = true;
  return *this;
}

Option& Option::called(std::string name) {
  value = std::move(name);
  return *this;
}

Option& Option::shows(std::string text) {
  preset = std::move(text);
  return *this;
}

Option& Option::optional(std::string implied) {
  is_optional = true;
  return shows(std::move(implied));
}

Option& Option::one_each() {
  is_one_each = true;
  return *this;
}

Option& Option::one_of(std::vector<std::string> values) {
  is_exclusive = true;
  return such_as(std::move(values));
}

Option& Option::such_as(std::vector<std::string> values) {
  choices = std::move(values);
  return *this;
}

Option& Option::under(std::string title) {
  heading = std::move(title);
  return *this;
}

Option& Option::needs(Option& other) {
  needed = &other;
  return *this;
}

Option& Option::excludes(Option& other) {
  excluded = &other;
  return *this;
}

Command& Command::command(const std::string& name, const std::string& doc) {
  Command& below = commands_.emplace_back(name, doc);
  below.footer_ = footer_;
  return below;
}

Option& Command::add(Option option) { return options_.emplace_back(std::move(option)); }

Option& Command::flag(const std::string& names, bool& to, const std::string& doc) {
  return add({.names = names, .doc = doc, .is_flag = true, .flag = &to});
}

Option& Command::value(const std::string& names, std::function<void(const std::string&)> take, const std::string& doc) {
  return add({.names = names, .doc = doc, .take = std::move(take)});
}

Option& Command::words(const std::string& names, std::vector<std::string>& to, const std::string& doc) {
  return add({.names = names, .doc = doc, .words = &to});
}

Option& Command::text(const std::string& names, std::string& to, const std::string& doc) {
  const auto take = [names, &to, doc](const std::string& text) {
    if (text.empty()) throw UsageError(names + " \"\" is empty.", "Give a value, or leave it out: " + doc + ".");
    to = text;
  };
  return value(names, take, doc).shows(to);
}

Option& Command::whole(const std::string& names, std::function<void(uint64_t)> to, uint64_t min, uint64_t max,
                       const std::string& doc) {
  const auto take = [names, to = std::move(to), min, max, doc](const std::string& text) {
    to(input::whole({text, names}, static_cast<int64_t>(min), max, doc));
  };
  return value(names, take, doc)
      .called(max == kAnySeed ? fmt::format("{}..2^64-1", min) : fmt::format("{}..{}", min, max));
}

Option& Command::real(const std::string& names, double& to, double min, double max, const std::string& doc) {
  const auto take = [names, &to, min, max, doc](const std::string& text) {
    to = input::number({text, names}, {min, max}, doc);
  };
  return value(names, take, doc)
      .called(fmt::format("{}..{}", input::digits(min), input::digits(max)))
      .shows(input::digits(to));
}

Command* Command::find(std::string_view name) {
  for (Command& below : commands_) {
    if (below.name_ == name) return &below;
  }
  return nullptr;
}

std::size_t Command::count(std::string_view name) const {
  for (const Option& option : options_) {
    if (option.names == name) return option.count;
  }
  throw std::logic_error("mrc " + name_ + " has no option " + std::string(name));
}

void exclude(const Command& command, const std::string& one, const std::string& other, const std::string& why) {
  if (command.count(one) == 0 || command.count(other) == 0) return;
  throw UsageError(fmt::format("{} and {} do not go together: {}.", one, other, why),
                   fmt::format("Leave out {} or {}.", one, other));
}

}  // namespace mrc::cli
