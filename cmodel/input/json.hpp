// SPDX-License-Identifier: Apache-2.0
/// JSON as a tree, to read and to write. Of a document that was read, every value knows where it was written, and every
/// number is as it was written.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "input/number.hpp"

namespace mrc::input {

inline constexpr unsigned kMaxDepth = 64;              ///< arrays and objects inside each other, parts of a TOML key
inline constexpr uint32_t kMaxJsonValues = 4'000'000;  ///< of one document

struct JsonMember;

/// Made of what C++ has: `Json j; j["name"] = "x"; j["sent"] = {{"data", 1}, {"acks", 2.5}}; j["evs"] = a_vector;`.
struct Json {
  enum class Kind : uint8_t { Null, False, True, Number, Text, Array, Object };
  Kind kind = Kind::Null;
  uint32_t line = 1, column = 1;
  std::string text;  ///< of a text, without escapes; of a number, as written
  std::vector<Json> items;
  std::vector<JsonMember> members;  ///< in their order, no name twice

  Json();
  Json(std::nullptr_t);
  Json(std::string_view value);
  Json(const std::string& value) : Json(std::string_view(value)) {}
  Json(const char* value) : Json(std::string_view(value)) {}
  /// A flag; a whole number; a double with as many digits as tell it from others, null if it is not finite.
  template <class T>
  requires std::is_arithmetic_v<T> Json(T value) {
    if constexpr (std::same_as<T, bool>) {
      kind = value ? Kind::True : Kind::False;
    } else if constexpr (std::floating_point<T>) {
      set(static_cast<double>(value));
    } else if constexpr (std::is_signed_v<T>) {
      set(static_cast<int64_t>(value));
    } else {
      set(static_cast<uint64_t>(value));
    }
  }
  /// An array of what a container holds; an object of a map.
  template <class T>
  requires(!std::convertible_to<const T&, std::string_view>) && requires(const T& t) {
    t.begin();
    t.end();
  }
  Json(const T& values) : kind(Kind::Array) {
    if constexpr (requires { typename T::mapped_type; }) {
      kind = Kind::Object;
      for (const auto& [name, value] : values) (*this)[name] = value;
    } else {
      for (const auto& value : values) items.emplace_back(value);
    }
  }
  /// An object.
  Json(std::initializer_list<JsonMember> of);
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();
  static Json array();
  static Json object();

  bool is_object() const { return kind == Kind::Object; }
  bool is_array() const { return kind == Kind::Array; }
  bool is_text() const { return kind == Kind::Text; }
  bool is_number() const { return kind == Kind::Number; }
  bool is_flag() const { return kind == Kind::True || kind == Kind::False; }
  bool flag() const { return kind == Kind::True; }
  /// A number without sign, point and exponent, of 64 bits at most.
  std::optional<uint64_t> whole() const;
  /// Null: no member of that name, or no object.
  const Json* find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  /// A member's text; "" without one.
  const std::string& text_of(std::string_view name) const;
  /// For whole() and number(). `name` and `file` must outlive it.
  Literal literal(std::string_view name, std::string_view file) const { return {text, name, file, line, column}; }

  /// The member of that name, at the end if it is new; null becomes an object.
  Json& operator[](std::string_view name);
  /// Takes the members of an object.
  void update(Json object);
  /// One item more; null becomes an array.
  void push_back(Json value);
  /// In one line, or with `indent` blanks more for each level. Bytes that are no UTF-8 become U+FFFD.
  std::string dump(int indent = -1) const;

 private:
  void set(int64_t value);
  void set(uint64_t value);
  void set(double value);
};

struct JsonMember {
  JsonMember() = default;
  JsonMember(std::string_view n, Json v) : name(n), value(static_cast<Json&&>(v)) {}

  std::string name;
  uint32_t line = 1, column = 1;  ///< of the name
  Json value;
};

/// The only document of a text; nothing if it is no JSON, or more than one.
std::optional<Json> parse_json(std::string_view text);

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
