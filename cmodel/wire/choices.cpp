// SPDX-License-Identifier: Apache-2.0
#include "wire/choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "util/printable.hpp"

namespace mrc::wire {

namespace {

struct DscpName {
  const char* name;
  uint8_t DscpMap::*value;
};
constexpr std::array<DscpName, 7> kDscpNames = {{
    {"no_trim", &DscpMap::no_trim},
    {"trimmable", &DscpMap::trimmable},
    {"trimmable_retx", &DscpMap::trimmable_retx},
    {"trimmed", &DscpMap::trimmed},
    {"trimmed_lasthop", &DscpMap::trimmed_lasthop},
    {"control", &DscpMap::control},
    {"returned", &DscpMap::returned},
}};

template <class Number>
bool read_number(std::string_view text, Number low, Number high, Number& to) {
  Number value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < low || value > high) return false;
  to = value;
  return true;
}

/// A word as errors quote it: it comes from outside.
std::string quoted(std::string_view word) { return printable(word, 60); }

/// Takes the next word off the text, "" at its end.
std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

/// All choices if `base` is null, else those that differ.
std::string options(const WireConfig& config, const WireConfig* base) {
  std::string out;
  const auto add = [&](const std::string& option) { out += (out.empty() ? "--" : " --") + option; };
  if (!base || config.udp_port != base->udp_port) add(fmt::format("udp-port {}", config.udp_port));
  for (const ChoiceFlag& flag : kChoiceFlags) {
    const bool on = config.*flag.value;
    if (base ? on != base->*flag.value : on) add(fmt::format("{}{}", flag.name, on ? "" : "=false"));
  }
  for (const DscpName& code : kDscpNames) {
    const uint8_t value = config.dscp.*code.value;
    if (base ? value != base->dscp.*code.value : value != kNoDscp) {
      add(fmt::format("dscp {}={}", code.name, value == kNoDscp ? "none" : std::to_string(value)));
    }
  }
  return out;
}

}  // namespace

std::string to_options(const WireConfig& config) { return options(config, nullptr); }

std::string to_options(const WireConfig& config, const WireConfig& base) { return options(config, &base); }

std::optional<Error> read_dscp(std::string_view text, DscpMap& map) {
  const size_t equals = text.find('=');
  const auto* const code = std::find_if(kDscpNames.begin(), kDscpNames.end(),
                                        [&](const DscpName& known) { return known.name == text.substr(0, equals); });
  if (equals == std::string_view::npos || code == kDscpNames.end()) {
    return Error{
        {},
        0,
        fmt::format("'{}' in --dscp does not name a class and its code point", quoted(text)),
        "Write NAME=N with no_trim, trimmable, trimmable_retx, trimmed, trimmed_lasthop, control or returned."};
  }
  // Without one, switches send nothing back that their code point tells apart.
  if (code->value == &DscpMap::returned && text.substr(equals + 1) == "none") {
    map.returned = kNoDscp;
    return std::nullopt;
  }
  if (!read_number<uint8_t>(text.substr(equals + 1), 0, 63, map.*code->value)) {
    return Error{{},
                 0,
                 fmt::format("code point in --dscp {} is not a number of 6 bits", quoted(text)),
                 "Give a number from 0 to 63."};
  }
  return std::nullopt;
}

std::optional<Error> read_options(std::string_view text, WireConfig& config) {
  WireConfig out = config;
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
    if (word == "--udp-port") {
      const std::string_view port = next_word(text);
      if (!read_number<uint16_t>(port, 1, 65535, out.udp_port)) {
        return Error{
            {}, 0, fmt::format("'{}' in --udp-port is no UDP port", quoted(port)), "Give a number from 1 to 65535."};
      }
      continue;
    }
    if (word == "--dscp") {
      if (auto problem = read_dscp(next_word(text), out.dscp)) return problem;
      continue;
    }
    const std::string_view name = word.substr(0, word.find('='));
    const std::string_view value = word.substr(name.size());
    const auto* const flag = std::find_if(kChoiceFlags.begin(), kChoiceFlags.end(), [&](const ChoiceFlag& known) {
      return name.starts_with("--") && name.substr(2) == known.name;
    });
    if (flag == kChoiceFlags.end() || !(value.empty() || value == "=false")) {
      return Error{{},
                   0,
                   fmt::format("'{}' is no option of the wire format", quoted(word)),
                   "Take options from 'mrc decode --help', one blank between them; a newer mrc may know more of them."};
    }
    out.*flag->value = value.empty();
  }
  config = out;
  return std::nullopt;
}

}  // namespace mrc::wire
