// SPDX-License-Identifier: Apache-2.0
/// JSON as a tree in which every value knows where it was written and every number is as it was written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/number.hpp"

namespace mrc::input {

inline constexpr unsigned kMaxDepth = 64;              ///< arrays and objects inside each other, parts of a TOML key
inline constexpr uint32_t kMaxJsonValues = 4'000'000;  ///< of one document

struct JsonMember;

struct Json {
  enum class Kind : uint8_t { Null, False, True, Number, Text, Array, Object };
  Kind kind = Kind::Null;
  uint32_t line = 1, column = 1;
  std::string text;  ///< of a text, without escapes; of a number, as written
  std::vector<Json> items;
  std::vector<JsonMember> members;  ///< in their order, no name twice

  bool is_object() const { return kind == Kind::Object; }
  bool is_array() const { return kind == Kind::Array; }
  bool is_text() const { return kind == Kind::Text; }
  bool is_number() const { return kind == Kind::Number; }
  bool is_flag() const { return kind == Kind::True || kind == Kind::False; }
  bool flag() const { return kind == Kind::True; }
  /// Null: no member of that name, or no object.
  const Json* find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// For whole() and number(). `name` and `file` must outlive it.
  Literal literal(std::string_view name, std::string_view file) const { return {text, name, file, line, column}; }
};

struct JsonMember {
  std::string name;
  uint32_t line = 1, column = 1;  ///< of the name
  Json value;
};

/// Documents one after the other in one text.
class JsonReader {
 public:
  /// `line` is that of the text's beginning.
  JsonReader(std::string_view text, std::string_view file, uint32_t line = 1);
  /// The next document; nothing when only blanks are left. Throws InputError: not JSON, deeper than kMaxDepth, more
  /// than kMaxJsonValues, a name twice in an object, a number beyond every range, text that is no UTF-8.
  std::optional<Json> next();
  /// Byte at which the document begins that next() has read last, or could not read.
  size_t offset() const { return begin_; }

 private:
  void blanks();
  Json value(unsigned depth);
  void object(Json& to, unsigned depth);
  void array(Json& to, unsigned depth);
  std::string quoted();
  void escape(std::string& to);
  uint32_t hex4();
  std::string number();
  void word(std::string_view w);
  void utf8(std::string& to);
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  uint32_t column(size_t at) const { return static_cast<uint32_t>(at - line_begin_ + 1); }
  [[noreturn]] void refuse(size_t at, const std::string& what, const std::string& remedy) const;
  [[noreturn]] void syntax(const char* expected) const;

  std::string_view text_, file_;
  size_t at_ = 0, begin_ = 0, line_begin_ = 0;
  uint32_t line_ = 1, values_ = 0;
};

}  // namespace mrc::input
