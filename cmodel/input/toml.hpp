// SPDX-License-Identifier: Apache-2.0
/// TOML files: what was written where, known keys, their types and limits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input/number.hpp"

namespace toml {
inline namespace v3 {
class key;
class node;
class table;
}  // namespace v3
}  // namespace toml

namespace mrc::input {

/// A TOML text with its tree.
class TomlFile {
 public:
  /// `what` ("scenario") and `remedy` are for syntax errors. Throws InputError with line and column, also for keys of
  /// more than kMaxDepth parts and values nested more deeply. `text` and `file` are kept.
  TomlFile(std::string_view text, std::string file, std::string_view what, const std::string& remedy);
  TomlFile(TomlFile&&) noexcept;
  ~TomlFile();

  const toml::table& root() const { return *root_; }
  const std::string& file() const { return file_; }
  /// "x.toml:3:7".
  std::string at(const toml::node& node) const;
  std::string at(const toml::key& key) const;
  /// A number, a date or a word as it was written. `name` must outlive it.
  Literal literal(const toml::node& node, std::string_view name) const;
  /// The tables of a list [[name]]. Throws InputError.
  std::vector<const toml::table*> tables(const toml::node& node, std::string_view name) const;
  [[noreturn]] void refuse(const toml::node& node, const std::string& what, const std::string& remedy) const;

 private:
  size_t offset(uint32_t line, uint32_t column) const;

  std::string text_, file_;
  std::vector<size_t> lines_;  // where they begin
  std::unique_ptr<toml::table> root_;
};

/// Where settings were written.
struct Source {
  struct Spot {
    uint32_t line = 0, column = 0;
  };
  std::string file;                                ///< or the name of a shipped scenario
  uint32_t line = 0, column = 0;                   ///< of the table
  std::map<std::string, Spot, std::less<>> lines;  ///< of its keys' values
  /// "file:12:5"; without a key, or if it was not written: the table's place.
  std::string at(std::string_view key = {}) const;
  bool has(std::string_view key) const { return lines.find(key) != lines.end(); }
  /// Begins a table: forgets the keys.
  void begin(const TomlFile& in, const toml::node& table);
};

/// One key of T. Exactly one of number, whole, flag, text is there. A flag takes true and false; with max = 1 it takes
/// 0 and 1 as well.
template <class T>
struct Key {
  const char* name;
  const char* doc;
  double min = 0, max = 0;
  bool integer = false;
  double& (*number)(T&) = nullptr;
  bool& (*flag)(T&) = nullptr;
  std::string& (*text)(T&) = nullptr;
  const char* words = nullptr;  ///< of a text: what it may be, "a|b"; null: anything
  bool or_zero = false;         ///< of a number: 0 as well
  uint32_t& (*whole)(T&) = nullptr;
  Range range() const { return {min, max, integer, or_zero}; }
  /// Of a number, a whole number or a flag (0 or 1).
  double value(T& t) const {
    if (flag) return flag(t) ? 1 : 0;
    return whole ? whole(t) : number(t);
  }
  /// The same; the value is within range().
  void set_value(T& t, double to) const {
    if (flag) {
      flag(t) = to != 0;
    } else if (whole) {
      whole(t) = static_cast<uint32_t>(to);
    } else {
      number(t) = to;
    }
  }
};

/// A key whatever it belongs to.
struct AnyKey {
  const char *name, *doc;
  Range range;
  double* number;
  bool* flag;
  std::string* text;
  const char* words;
  uint32_t* whole = nullptr;
};

/// Throws InputError with the place, the value as written and what it may be.
void set(const AnyKey& key, const TomlFile& file, const toml::node& node, Source& source);

/// "x.toml:3:1: unknown key bse in the scenario; did you mean base?"
[[noreturn]] void unknown_key(const TomlFile& file, const toml::key& key, std::string_view what,
                              std::span<const std::string_view> known, const std::string& remedy);

template <class T>
std::vector<std::string_view> names_of(std::span<const Key<T>> keys) {
  std::vector<std::string_view> names;
  for (const Key<T>& k : keys) names.push_back(k.name);
  return names;
}

/// Sets one key. False: no such key.
template <class T>
bool set_key(std::span<const Key<T>> keys, T& t, Source& source, const TomlFile& file, std::string_view name,
             const toml::node& node) {
  for (const Key<T>& k : keys) {
    if (name != k.name) continue;
    set({k.name, k.doc, k.range(), k.number ? &k.number(t) : nullptr, k.flag ? &k.flag(t) : nullptr,
         k.text ? &k.text(t) : nullptr, k.words, k.whole ? &k.whole(t) : nullptr},
        file, node, source);
    return true;
  }
  return false;
}

}  // namespace mrc::input
