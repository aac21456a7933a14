// SPDX-License-Identifier: Apache-2.0
/// Settings from TOML files: known keys, their types and limits, and where in the file each was written.
#pragma once

#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace toml {
inline namespace v3 {
class table;
class node;
}  // namespace v3
}  // namespace toml

namespace mrc::sim {

/// A file or a setting that cannot be used: one sentence, with file and line, and what to do.
class InputError : public std::runtime_error {
 public:
  InputError(const std::string& sentence, std::string remedy_text)
      : std::runtime_error(sentence), remedy(std::move(remedy_text)) {}
  std::string remedy;
};

/// Where settings were written.
struct Source {
  std::string file;                                    ///< or the name of a shipped scenario
  unsigned line = 0;                                   ///< of the table
  std::map<std::string, unsigned, std::less<>> lines;  ///< of its keys
  /// "file:12"; without a key, or if it was not written: the table's line.
  std::string at(std::string_view key = {}) const;
};

/// One key of T. Exactly one of number, flag, text is there.
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
};

namespace detail {
struct AnyKey {
  const char *name, *doc;
  double min, max;
  bool integer;
  double* number;
  bool* flag;
  std::string* text;
  const char* words;
};
void set(const AnyKey& key, const toml::node& node, Source& source);
[[noreturn]] void unknown_key(std::string_view key, const toml::node& node, const Source& source, std::string_view what,
                              std::string_view remedy);
}  // namespace detail

/// Sets one key. False: no such key.
template <class T>
bool set_key(std::span<const Key<T>> keys, T& t, Source& source, std::string_view name, const toml::node& node) {
  for (const Key<T>& k : keys) {
    if (name != k.name) continue;
    detail::set({k.name, k.doc, k.min, k.max, k.integer, k.number ? &k.number(t) : nullptr,
                 k.flag ? &k.flag(t) : nullptr, k.text ? &k.text(t) : nullptr, k.words},
                node, source);
    return true;
  }
  return false;
}

/// The whole text of a file. Throws InputError: `what` ("topology") is unreadable; with the remedy.
std::string read_text(const std::string& file, std::string_view what, const std::string& remedy);
/// Throws InputError with file and line.
toml::table parse_toml(std::string_view text, const std::string& file, std::string_view what,
                       const std::string& remedy);
unsigned line_of(const toml::node& node);

}  // namespace mrc::sim
