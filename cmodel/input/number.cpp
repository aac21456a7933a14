// SPDX-License-Identifier: Apache-2.0
#include "input/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace mrc::input {
namespace {

constexpr double kExact = 9007199254740992.0;  // 2^53

enum class Fault { None, NotANumber, NotWhole, OutOfRange };

/// A number taken apart: sign, digits without leading zeros, and the power of ten of the last one.
struct Decimal {
  bool negative = false;
  std::string digits;
  int64_t exponent = 0;
};

/// Digits of a base, single underscores between them. Takes them off the text; false: there are none.
bool take_digits(std::string_view& text, unsigned base, std::string& to) {
  const auto value = [](char c) -> unsigned {
    if (is_digit(c)) return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
    return c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A') + 10 : 99;
  };
  size_t at = 0;
  while (at < text.size()) {
    const bool gap = text[at] == '_' && at > 0;
    if (gap && (at + 1 == text.size() || value(text[at + 1]) >= base)) break;
    if (gap) ++at;
    if (value(text[at]) >= base) break;
    to += text[at++];
  }
  text.remove_prefix(at);
  return at > 0;
}

/// 0x, 0o, 0b: the value, nothing if it does not fit. `fault` is None if the text is such a number at all.
std::optional<uint64_t> with_base(std::string_view text, unsigned base, Fault& fault) {
  std::string all;
  if (!take_digits(text, base, all) || !text.empty()) {
    fault = Fault::NotANumber;
    return std::nullopt;
  }
  uint64_t value = 0;
  if (std::from_chars(all.data(), all.data() + all.size(), value, static_cast<int>(base)).ec != std::errc{}) {
    fault = Fault::OutOfRange;
    return std::nullopt;
  }
  return value;
}

Fault take_apart(std::string_view text, Decimal& out) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    out.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text == "inf" || text == "infinity") return Fault::OutOfRange;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'o' || text[1] == 'b')) {
    Fault fault = Fault::None;
    const unsigned base = text[1] == 'x' ? 16 : text[1] == 'o' ? 8 : 2;
    if (const auto value = with_base(text.substr(2), base, fault)) out.digits = std::to_string(*value);
    return fault;
  }
  bool any = take_digits(text, 10, out.digits);
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    const size_t before = out.digits.size();
    any = take_digits(text, 10, out.digits) || any;
    out.exponent = -static_cast<int64_t>(out.digits.size() - before);
  }
  if (!any) return Fault::NotANumber;
  if (!text.empty() && (text[0] == 'e' || text[0] == 'E')) {
    text.remove_prefix(1);
    const bool down = !text.empty() && text[0] == '-';
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
    std::string power;
    if (!take_digits(text, 10, power)) return Fault::NotANumber;
    int64_t e = 0;
    for (const char c : power) e = std::min<int64_t>(e * 10 + (c - '0'), 1'000'000'000);
    out.exponent += down ? -e : e;
  }
  if (!text.empty()) return Fault::NotANumber;
  out.digits.erase(0, std::min(out.digits.find_first_not_of('0'), out.digits.size()));
  if (out.digits.empty()) out.exponent = 0;
  while (!out.digits.empty() && out.digits.back() == '0') {
    out.digits.pop_back();
    ++out.exponent;
  }
  return Fault::None;
}

Fault to_whole(std::string_view text, int64_t min, uint64_t max, uint64_t& out) {
  Decimal d;
  if (const Fault fault = take_apart(text, d); fault != Fault::None) return fault;
  if (d.exponent < 0) return Fault::NotWhole;
  if (static_cast<int64_t>(d.digits.size()) + d.exponent > 20) return Fault::OutOfRange;
  d.digits.append(d.digits.empty() ? 0 : static_cast<size_t>(d.exponent), '0');
  uint64_t value = 0;
  if (!d.digits.empty() &&
      std::from_chars(d.digits.data(), d.digits.data() + d.digits.size(), value).ec != std::errc{}) {
    return Fault::OutOfRange;
  }
  if (d.negative && value != 0) {
    if (min >= 0 || value > uint64_t{0} - static_cast<uint64_t>(min)) return Fault::OutOfRange;
    out = uint64_t{0} - value;
    return Fault::None;
  }
  if (value > max || (min > 0 && value < static_cast<uint64_t>(min))) return Fault::OutOfRange;
  out = value;
  return Fault::None;
}

Fault to_real(std::string_view text, double& out) {
  Decimal d;
  if (const Fault fault = take_apart(text, d); fault != Fault::None) return fault;
  const std::string plain = (d.digits.empty() ? "0" : d.digits) + "e" + std::to_string(d.exponent);
  if (std::from_chars(plain.data(), plain.data() + plain.size(), out).ec != std::errc{}) return Fault::OutOfRange;
  if (d.negative) out = -out;
  return Fault::None;
}

[[noreturn]] void refuse(const Literal& literal, Fault fault, const std::string& range, std::string_view doc) {
  const char* why = fault == Fault::NotANumber ? "is not a number"
                    : fault == Fault::NotWhole ? "is not a whole number"
                                               : "is out of range";
  throw InputError(fmt::format("{} {}.", literal.words(), why),
                   fmt::format("Use {}{}{}.", range, doc.empty() ? "" : ": ", doc), literal.line, literal.column);
}

}  // namespace

std::string place(std::string_view file, uint32_t line, uint32_t column) {
  return fmt::format("{}:{}:{}", file, line, column);
}

std::string shown(std::string_view text) {
  constexpr size_t kMost = 40;
  bool word = !text.empty();
  std::string out;
  for (const char c : text.substr(0, kMost)) {
    const bool plain = is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("_+-./:").find(c) != std::string_view::npos;
    word = word && plain;
    out += c >= ' ' && c <= '~' ? c : '?';
  }
  if (text.size() > kMost) out += "...";
  return word ? out : '"' + out + '"';
}

std::string Literal::words() const {
  if (file.empty()) return fmt::format("{} {}", name, shown(text));
  return fmt::format("{}: {} = {}", place(file, line, column), name, shown(text));
}

std::string digits(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e18) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

uint64_t whole(const Literal& literal, int64_t min, uint64_t max, std::string_view doc) {
  uint64_t value = 0;
  const Fault fault = to_whole(literal.text, min, max, value);
  if (fault == Fault::None) return value;
  refuse(literal, fault,
         max == std::numeric_limits<uint64_t>::max() ? fmt::format("a whole number of at least {}, below 2^64", min)
                                                     : fmt::format("a whole number from {} to {}", min, max),
         doc);
}

bool Range::has(double value) const {
  if (whole && value != std::floor(value)) return false;
  return (value >= min && value <= max) || (or_zero && value == 0);
}

std::string Range::words() const {
  return fmt::format("{}{} from {} to {}", or_zero ? "0, or " : "", whole ? "a whole number" : "a number", digits(min),
                     digits(max));
}

double number(const Literal& literal, const Range& range, std::string_view doc) {
  double value = 0;
  Fault fault;
  if (range.whole) {
    const auto min = static_cast<int64_t>(range.or_zero ? std::min(range.min, 0.0) : range.min);
    uint64_t exact = 0;
    fault = to_whole(literal.text, min, static_cast<uint64_t>(std::min(range.max, kExact)), exact);
    value = static_cast<double>(static_cast<int64_t>(exact));
  } else {
    fault = to_real(literal.text, value);
  }
  if (fault == Fault::None && !range.has(value)) fault = Fault::OutOfRange;
  if (fault == Fault::None) return value;
  refuse(literal, fault, range.words(), doc);
}

}  // namespace mrc::input
