// SPDX-License-Identifier: Apache-2.0
#include "sim/settings.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

namespace mrc::sim {

std::string Source::at(std::string_view key) const {
  unsigned l = line;
  if (const auto found = lines.find(key); found != lines.end()) l = found->second;
  return l == 0 ? file : file + ":" + std::to_string(l);
}

unsigned line_of(const toml::node& node) { return node.source().begin.line; }

namespace detail {
namespace {
std::string in_words(const char* words) {
  std::string out = "\"";
  for (const char* c = words; *c != 0; ++c) *c == '|' ? out += "\", \"" : out += *c;
  return out + "\"";
}
bool one_of(std::string_view value, std::string_view words) {
  while (true) {
    const auto bar = words.find('|');
    if (value == words.substr(0, bar)) return true;
    if (bar == std::string_view::npos) return false;
    words.remove_prefix(bar + 1);
  }
}
}  // namespace

void set(const AnyKey& key, const toml::node& node, Source& source) {
  const unsigned line = line_of(node);
  const std::string where = source.file + (line ? ":" + std::to_string(line) : "");
  if (key.flag) {
    const auto value = node.value_exact<bool>();
    if (!value)
      throw InputError(fmt::format("{}: {} is not true or false.", where, key.name),
                       std::string("Write true or false: ") + key.doc + ".");
    *key.flag = *value;
  } else if (key.text) {
    const auto value = node.value_exact<std::string>();
    if (!value)
      throw InputError(fmt::format("{}: {} is not a text.", where, key.name),
                       std::string("Write it in quotes: ") + key.doc + ".");
    if (key.words && !one_of(*value, key.words)) {
      throw InputError(fmt::format("{}: {} = \"{}\" is not known.", where, key.name, *value),
                       "Use " + in_words(key.words) + ": " + key.doc + ".");
    }
    *key.text = *value;
  } else {
    if (!node.is_number())
      throw InputError(fmt::format("{}: {} is not a number.", where, key.name),
                       std::string("Write a number: ") + key.doc + ".");
    const double value = *node.value<double>();
    if (!(value >= key.min && value <= key.max) || (key.integer && value != std::floor(value))) {
      throw InputError(fmt::format("{}: {} = {} is out of range.", where, key.name, value),
                       fmt::format("Use {} from {} to {}: {}.", key.integer ? "a whole number" : "a number", key.min,
                                   key.max, key.doc));
    }
    *key.number = value;
  }
  source.lines.insert_or_assign(key.name, line);
}

void unknown_key(std::string_view key, const toml::node& node, const Source& source, std::string_view what,
                 std::string_view remedy) {
  throw InputError(fmt::format("{}:{}: unknown key {} in {}.", source.file, line_of(node), key, what),
                   std::string(remedy));
}
}  // namespace detail

std::string read_text(const std::string& file, std::string_view what, const std::string& remedy) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(file, ignored);
  std::ifstream in(file, std::ios::binary);
  std::string text;
  if (in && !folder) text.assign(std::istreambuf_iterator<char>(in), {});
  if (!in.good() || folder) throw InputError(fmt::format("{}: no {} that can be read.", file, what), remedy);
  return text;
}

toml::table parse_toml(std::string_view text, const std::string& file, std::string_view what,
                       const std::string& remedy) {
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& e) {
    std::string why(e.description());
    if (const auto newline = why.find('\n'); newline != std::string::npos) why.resize(newline);
    throw InputError(fmt::format("{}:{}: unreadable {}: {}.", file, e.source().begin.line, what, why), remedy);
  }
}

}  // namespace mrc::sim
