// SPDX-License-Identifier: Apache-2.0
/// Numbers as people write them. All options, TOML, JSON and CSV go through the two readers below
/// (docs/reference/inputs.md).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "input/error.hpp"

namespace mrc::input {

/// What was written, and where. It refers to texts that outlive it.
struct Literal {
  std::string_view text;          ///< as written: "1e6"
  std::string_view name;          ///< of a key, a column, a field, or an option with its dashes
  std::string_view file = {};     ///< empty: an option
  uint32_t line = 0, column = 0;  ///< from 1 on
  /// "x.toml:3:7: qps = 1e6", "--qps 1e6".
  std::string words() const;
};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "x.toml:3:7".
std::string place(std::string_view file, uint32_t line, uint32_t column);

/// Printable, in quotes where it is more than a word or a number, at most 40 characters.
std::string shown(std::string_view text);

/// A value without exponent, with as many digits as it needs: "1048576", "0.001".
std::string digits(double value);

/// A whole number from min to max. Also 1_000, 0xff, 0o17, 0b1, and 1e5 or 1.5e3, which are whole; nothing is rounded.
/// Throws InputError with the literal and the range as written; `doc` says what the number is. A negative value is
/// returned in two's complement.
uint64_t whole(const Literal& literal, int64_t min, uint64_t max, std::string_view doc);

/// The values that a number kept as double may have.
struct Range {
  double min = 0, max = 0;
  bool whole = false;    ///< whole numbers only, at most 2^53
  bool or_zero = false;  ///< 0 as well, which stands for something else
  bool has(double value) const;
  /// "a whole number from 1 to 256", "0, or a number from 0.001 to 1000".
  std::string words() const;
};

/// A number in a range; not nan, not inf. Throws InputError as whole() does.
double number(const Literal& literal, const Range& range, std::string_view doc);

}  // namespace mrc::input
