// SPDX-License-Identifier: Apache-2.0
/// Options with numbers and texts. Every number of every command is read here: as written, within its range.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "input/number.hpp"

namespace mrc::cli {

inline constexpr uint64_t kAnySeed = std::numeric_limits<uint64_t>::max();

namespace detail {
template <class T>
CLI::Option* add_number(CLI::App& command, const std::string& name, std::optional<std::string> preset, std::string type,
                        T read) {
  CLI::Option* option = command.add_option_function<std::string>(name, [name, read](const std::string& text) {
    read(input::Literal{text, name});
  });
  option->type_name(std::move(type));
  if (preset) option->default_str(*preset);
  return option;
}
}  // namespace detail

/// A whole number from min to max; its value before is the default that --help shows, if it has one.
template <class T>
requires std::unsigned_integral<T> || std::same_as<T, std::optional<uint64_t>> CLI::Option* number_option(
    CLI::App& command, const std::string& name, T& to, uint64_t min, uint64_t max, const std::string& doc) {
  std::optional<std::string> preset;
  if constexpr (std::unsigned_integral<T>) preset = std::to_string(to);
  CLI::Option* option = detail::add_number(
      command, name, preset, max == kAnySeed ? fmt::format("{}..2^64-1", min) : fmt::format("{}..{}", min, max),
      [&to, min, max, doc](const input::Literal& literal) {
        const uint64_t value = input::whole(literal, static_cast<int64_t>(min), max, doc);
        if constexpr (std::unsigned_integral<T>) {
          to = static_cast<T>(value);
        } else {
          to = value;
        }
      });
  return option->description(doc);
}

/// A number from min to max.
inline CLI::Option* real_option(CLI::App& command, const std::string& name, double& to, double min, double max,
                                const std::string& doc) {
  return detail::add_number(command, name, input::digits(to),
                            fmt::format("{}..{}", input::digits(min), input::digits(max)),
                            [&to, min, max, doc](const input::Literal& literal) {
                              to = input::number(literal, {min, max}, doc);
                            })
      ->description(doc);
}

/// A text that may not be empty: a name, a file.
inline CLI::Option* text_option(CLI::App& command, const std::string& name, std::string& to, const std::string& doc) {
  CLI::Option* option = command.add_option(name, to, doc);
  option->check(CLI::Validator(
      [name, doc](std::string& text) -> std::string {
        if (text.empty()) throw UsageError(name + " \"\" is empty.", "Give a value, or leave it out: " + doc + ".");
        return {};
      },
      ""));
  if (!to.empty()) option->default_str(to);
  return option;
}

/// Throws UsageError when both were given.
inline void exclude(const CLI::App& command, const std::string& one, const std::string& other, const std::string& why) {
  if (command.count(one) == 0 || command.count(other) == 0) return;
  throw UsageError(fmt::format("{} and {} do not go together: {}.", one, other, why),
                   fmt::format("Leave out {} or {}.", one, other));
}

}  // namespace mrc::cli
