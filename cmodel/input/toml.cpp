// SPDX-License-Identifier: Apache-2.0
#include "input/toml.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "input/json.hpp"
#include "input/names.hpp"
#include "input/toml_tree.hpp"

namespace mrc::input {
namespace {

/// What the parser behind this would not survive is refused before it sees it: depth, some characters above ASCII in
/// names without quotes, which TOML 1.0 does not allow anyway, and table headers without a name.
class PreCheck {
 public:
  PreCheck(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  void run() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = line_begin_ = 3;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '[' && begins_) check_header();
      if (c == '\n') {
        begins_ = depth_ == 0;
      } else if (c != ' ' && c != '\t') {
        begins_ = false;
      }
      if (c == '"' || c == '\'') {
        skip_text(c);
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      if (static_cast<unsigned char>(c) >= 0x80) {
        refuse("a character that is no ASCII outside of quotes", "Put the text into quotes.");
      }
      if (c == '\n') {
        new_line();
        parts_ = 1;
      } else if (c == '[' || c == '{') {
        parts_ = 1;
        if (++depth_ > kMaxDepth) refuse(fmt::format("more than {} arrays and tables inside each other", kMaxDepth));
      } else if (c == ']' || c == '}') {
        depth_ -= depth_ > 0;
        parts_ = 1;
      } else if (c == ',' || c == '=') {
        parts_ = 1;
      } else if (c == '.') {
        if (++parts_ > kMaxDepth) refuse(fmt::format("a name of more than {} parts", kMaxDepth));
      }
      ++at_;
    }
  }

 private:
  void new_line() {
    ++line_;
    line_begin_ = at_ + 1;
  }
  [[noreturn]] void refuse(const std::string& what, const char* remedy = "Nest less deeply.") const {
    const auto column = static_cast<uint32_t>(at_ - line_begin_ + 1);
    throw InputError(fmt::format("{}: {}.", place(file_, line_, column), what), remedy, line_, column);
  }
  /// [ or [[ at the beginning of a line: a name follows.
  void check_header() const {
    size_t at = at_ + (text_.substr(at_, 2) == "[[" ? 2 : 1);
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
    const char c = at < text_.size() ? text_[at] : '\0';
    const bool name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                      c == '-' || c == '"' || c == '\'';
    if (!name) refuse("a table without a name", "Write [name], or [[name]] for one of several.");
  }
  /// A text, over several lines if it begins with three quotes.
  void skip_text(char quote) {
    const std::string three(3, quote);
    const bool lines = text_.substr(at_, 3) == three;
    at_ += lines ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        if (!lines) return;
        new_line();
      }
      if (c == '\\' && quote == '"' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n') {
        at_ += 2;
        continue;
      }
      if (c == quote && (!lines || text_.substr(at_, 3) == three)) {
        at_ += lines ? 3 : 1;
        while (lines && at_ < text_.size() && text_[at_] == quote) ++at_;
        return;
      }
      ++at_;
    }
  }

  std::string_view text_, file_;
  size_t at_ = 0, line_begin_ = 0, depth_ = 0, parts_ = 1;
  uint32_t line_ = 1;
  bool begins_ = true;  // nothing but blanks in this line so far
};

std::string in_words(const char* words) {
  std::string out = "\"";
  for (const char* c = words; *c != 0; ++c) *c == '|' ? out += "\", \"" : out += *c;
  return out + "\"";
}

std::vector<std::string_view> split_words(std::string_view words) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto bar = words.find('|');
    out.push_back(words.substr(0, bar));
    if (bar == std::string_view::npos) return out;
    words.remove_prefix(bar + 1);
  }
}

}  // namespace

TomlFile::TomlFile(std::string_view text, std::string file, std::string_view what, const std::string& remedy)
    : text_(text), file_(std::move(file)) {
  PreCheck(text_, file_).run();
  lines_.push_back(0);
  for (size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1)) lines_.push_back(at + 1);
  try {
    root_ = std::make_unique<toml::table>(toml::parse(std::string_view(text_), std::string_view(file_)));
  } catch (const toml::parse_error& e) {
    std::string why(e.description());
    if (const auto newline = why.find('\n'); newline != std::string::npos) why.resize(newline);
    for (char& c : why) {
      if (static_cast<unsigned char>(c) < ' ') c = '?';
    }
    const auto where = e.source().begin;
    throw InputError(fmt::format("{}: unreadable {}: {}.", place(file_, where.line, where.column), what, why), remedy,
                     where.line, where.column);
  }
}

TomlFile::TomlFile(TomlFile&&) noexcept = default;
TomlFile::~TomlFile() = default;

size_t TomlFile::offset(uint32_t line, uint32_t column) const {
  if (line == 0 || line > lines_.size()) return text_.size();
  size_t at = lines_[line - 1];
  if (at == 0 && text_.starts_with("\xef\xbb\xbf")) at = 3;
  for (uint32_t c = 1; c < column && at < text_.size(); ++c) {  // columns count characters
    ++at;
    while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xC0) == 0x80) ++at;
  }
  return at;
}

std::string TomlFile::at(const toml::node& node) const {
  const auto begin = node.source().begin;
  return begin.line == 0 ? file_ : place(file_, begin.line, begin.column);
}

std::string TomlFile::at(const toml::key& key) const {
  const auto begin = key.source().begin;
  return begin.line == 0 ? file_ : place(file_, begin.line, begin.column);
}

Literal TomlFile::literal(const toml::node& node, std::string_view name) const {
  const auto begin = node.source().begin;
  const size_t from = offset(begin.line, begin.column);
  size_t to = from;
  while (to < text_.size() && std::string_view(",]}# \t\r\n").find(text_[to]) == std::string_view::npos) ++to;
  return {std::string_view(text_).substr(from, to - from), name, file_, begin.line, begin.column};
}

void TomlFile::refuse(const toml::node& node, const std::string& what, const std::string& remedy) const {
  throw InputError(fmt::format("{}: {}.", at(node), what), remedy, node.source().begin.line,
                   node.source().begin.column);
}

std::vector<const toml::table*> TomlFile::tables(const toml::node& node, std::string_view name) const {
  const toml::array* list = node.as_array();
  if (!list || !list->is_array_of_tables()) {
    refuse(node, fmt::format("{} is no list of tables", name), fmt::format("Begin each with a line [[{}]].", name));
  }
  std::vector<const toml::table*> out;
  for (const toml::node& item : *list) out.push_back(item.as_table());
  return out;
}

std::string Source::at(std::string_view key) const {
  Spot spot{line, column};
  if (const auto found = lines.find(key); found != lines.end()) spot = found->second;
  return spot.line == 0 ? file : place(file, spot.line, spot.column);
}

void Source::begin(const TomlFile& in, const toml::node& table) {
  file = in.file();
  line = table.source().begin.line;
  column = table.source().begin.column;
  lines.clear();
}

void set(const AnyKey& key, const TomlFile& file, const toml::node& node, Source& source) {
  const auto wrong_type = [&](const char* what, const char* remedy) {
    file.refuse(node, fmt::format("{} is not {}", key.name, what), fmt::format("{}: {}.", remedy, key.doc));
  };
  if (key.flag) {
    const bool or_number = key.range.max == 1;
    if (const auto value = node.value_exact<bool>()) {
      *key.flag = *value;
    } else if (or_number && node.is_number()) {
      *key.flag = number(file.literal(node, key.name), key.range, key.doc) != 0;
    } else {
      wrong_type(or_number ? "a number" : "true or false", "Write true or false");
    }
  } else if (key.text) {
    const auto value = node.value_exact<std::string>();
    if (!value) wrong_type("a text", "Write it in quotes");
    if (key.words) {
      const auto known = split_words(key.words);
      if (std::find(known.begin(), known.end(), *value) == known.end()) {
        file.refuse(node, fmt::format("{} = \"{}\" is not known", key.name, *value),
                    fmt::format("Use {}: {}.", in_words(key.words), key.doc));
      }
    }
    *key.text = *value;
  } else {
    if (!node.is_number()) wrong_type("a number", "Write a number");
    const double value = number(file.literal(node, key.name), key.range, key.doc);
    if (key.whole) {
      *key.whole = static_cast<uint32_t>(value);
    } else {
      *key.number = value;
    }
  }
  source.lines.insert_or_assign(key.name, Source::Spot{node.source().begin.line, node.source().begin.column});
}

void unknown_key(const TomlFile& file, const toml::key& key, std::string_view what,
                 std::span<const std::string_view> known, const std::string& remedy) {
  throw InputError(
      fmt::format("{}: unknown key {} in {}{}", file.at(key), shown(key.str()), what, did_you_mean(key.str(), known)),
      remedy, key.source().begin.line, key.source().begin.column);
}

}  // namespace mrc::input
