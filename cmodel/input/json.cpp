// SPDX-License-Identifier: Apache-2.0
#include "input/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "input/number.hpp"

namespace mrc::input {
namespace {
constexpr const char* kRemedy = "Write JSON as RFC 8259 has it, in UTF-8.";

void append_utf8(std::string& to, uint32_t c) {
  const auto put = [&](uint32_t byte) { to += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}
/// Written as nlohmann/json writes it: doubles, escapes, what stands for bytes that are no UTF-8.
template <class T>
std::string written(const T& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool is_plain(char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; }

void append_text(std::string& to, const std::string& text) {
  if (!std::all_of(text.begin(), text.end(), is_plain)) {
    to += written(text);
    return;
  }
  to += '"';
  to += text;
  to += '"';
}

/// Writes a tree.
class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  void value(const Json& json) {
    switch (json.kind) {
      case Json::Kind::Null:
        out_ += "null";
        break;
      case Json::Kind::False:
        out_ += "false";
        break;
      case Json::Kind::True:
        out_ += "true";
        break;
      case Json::Kind::Number:
        out_ += json.text;
        break;
      case Json::Kind::Text:
        append_text(out_, json.text);
        break;
      case Json::Kind::Array:
        list('[', json.items, ']', [&](const Json& item) { value(item); });
        break;
      case Json::Kind::Object:
        list('{', json.members, '}', [&](const JsonMember& m) {
          append_text(out_, m.name);
          out_ += indent_ < 0 ? ":" : ": ";
          value(m.value);
        });
        break;
    }
  }
  std::string take() { return std::move(out_); }

 private:
  template <class T, class Write>
  void list(char begin, const std::vector<T>& of, char end, const Write& write) {
    out_ += begin;
    ++depth_;
    for (const T& one : of) {
      if (&one != &of.front()) out_ += ',';
      line();
      write(one);
    }
    --depth_;
    if (!of.empty()) line();
    out_ += end;
  }
  void line() {
    if (indent_ < 0) return;
    out_ += '\n';
    out_.append(static_cast<size_t>(indent_) * depth_, ' ');
  }

  int indent_;
  size_t depth_ = 0;
  std::string out_;
};
}  // namespace

Json::Json() = default;
Json::Json(std::nullptr_t) {}
Json::Json(std::string_view value) : kind(Kind::Text), text(value) {}
Json::Json(std::initializer_list<JsonMember> of) : kind(Kind::Object), members(of) {}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json Json::array() {
  Json json;
  json.kind = Kind::Array;
  return json;
}

Json Json::object() {
  Json json;
  json.kind = Kind::Object;
  return json;
}

void Json::set(int64_t value) {
  kind = Kind::Number;
  text = std::to_string(value);
}

void Json::set(uint64_t value) {
  kind = Kind::Number;
  text = std::to_string(value);
}

void Json::set(double value) {
  if (!std::isfinite(value)) return;
  kind = Kind::Number;
  text = written(value);
}

std::optional<uint64_t> Json::whole() const {
  uint64_t value = 0;
  if (!is_number()) return std::nullopt;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const std::string& Json::text_of(std::string_view name) const {
  static const std::string none;
  const Json* member = find(name);
  return member != nullptr && member->is_text() ? member->text : none;
}

Json& Json::operator[](std::string_view name) {
  for (JsonMember& m : members) {
    if (m.name == name) return m.value;
  }
  kind = Kind::Object;
  return members.emplace_back(name, Json()).value;
}

void Json::update(Json object) {
  for (JsonMember& m : object.members) (*this)[m.name] = std::move(m.value);
}

void Json::push_back(Json value) {
  kind = Kind::Array;
  items.push_back(std::move(value));
}

std::string Json::dump(int indent) const {
  Writer writer(indent);
  writer.value(*this);
  return writer.take();
}

std::optional<Json> parse_json(std::string_view text) {
  try {
    JsonReader reader(text, {});
    std::optional<Json> document = reader.next();
    if (document && reader.next()) return std::nullopt;
    return document;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

const Json* Json::find(std::string_view name) const {
  for (const JsonMember& m : members) {
    if (m.name == name) return &m.value;
  }
  return nullptr;
}

JsonReader::JsonReader(std::string_view text, std::string_view file, uint32_t line)
    : text_(text), file_(file), line_(line) {
  if (text_.starts_with("\xef\xbb\xbf")) at_ = line_begin_ = 3;
}

void JsonReader::refuse(size_t at, const std::string& what, const std::string& remedy) const {
  throw InputError(fmt::format("{}: {}.", place(file_, line_, column(at)), what), remedy, line_, column(at));
}

void JsonReader::syntax(const char* expected) const {
  const std::string saw = at_ >= text_.size() ? "the end" : shown(text_.substr(at_, 1));
  refuse(at_, fmt::format("not valid JSON: {} instead of {}", saw, expected), kRemedy);
}

void JsonReader::blanks() {
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      line_begin_ = at_ + 1;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

std::optional<Json> JsonReader::next() {
  blanks();
  begin_ = at_;
  values_ = 0;
  if (at_ == text_.size()) return std::nullopt;
  return value(1);
}

Json JsonReader::value(unsigned depth) {
  blanks();
  if (++values_ > kMaxJsonValues) {
    refuse(at_, fmt::format("more than {} values in one document", kMaxJsonValues),
           "Write one document after the other instead of an array of all.");
  }
  Json out;
  out.line = line_;
  out.column = column(at_);
  const char c = peek();
  if ((c == '{' || c == '[') && depth > kMaxDepth) {
    refuse(at_, fmt::format("more than {} arrays and objects inside each other", kMaxDepth), "Nest less deeply.");
  }
  if (c == '{') {
    object(out, depth);
  } else if (c == '[') {
    array(out, depth);
  } else if (c == '"') {
    out.kind = Json::Kind::Text;
    out.text = quoted();
  } else if (c == '-' || is_digit(c)) {
    out.kind = Json::Kind::Number;
    out.text = number();
  } else if (c == 't') {
    word("true");
    out.kind = Json::Kind::True;
  } else if (c == 'f') {
    word("false");
    out.kind = Json::Kind::False;
  } else if (c == 'n') {
    word("null");
  } else {
    syntax("a value");
  }
  return out;
}

void JsonReader::object(Json& to, unsigned depth) {
  to.kind = Json::Kind::Object;
  ++at_;
  blanks();
  if (peek() == '}') {
    ++at_;
    return;
  }
  for (;;) {
    blanks();
    if (peek() != '"') syntax("a name in quotes");
    JsonMember& m = to.members.emplace_back();
    m.line = line_;
    m.column = column(at_);
    m.name = quoted();
    blanks();
    if (peek() != ':') syntax("a colon");
    ++at_;
    m.value = value(depth + 1);
    blanks();
    if (peek() == ',') {
      ++at_;
      continue;
    }
    if (peek() != '}') syntax("a comma or }");
    ++at_;
    break;
  }
  std::vector<const JsonMember*> sorted;
  for (const JsonMember& m : to.members) sorted.push_back(&m);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  const auto twice =
      std::adjacent_find(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->name == b->name; });
  if (twice == sorted.end()) return;
  const JsonMember& second = **(twice + 1);
  throw InputError(fmt::format("{}: {} is there twice, first in line {}.", place(file_, second.line, second.column),
                               shown(second.name), (*twice)->line),
                   "Keep one of them.", second.line, second.column);
}

void JsonReader::array(Json& to, unsigned depth) {
  to.kind = Json::Kind::Array;
  ++at_;
  blanks();
  if (peek() == ']') {
    ++at_;
    return;
  }
  for (;;) {
    to.items.push_back(value(depth + 1));
    blanks();
    if (peek() == ',') {
      ++at_;
      continue;
    }
    if (peek() != ']') syntax("a comma or ]");
    ++at_;
    return;
  }
}

void JsonReader::word(std::string_view w) {
  if (text_.substr(at_, w.size()) != w) syntax("a value");
  at_ += w.size();
}

std::string JsonReader::number() {
  const size_t begin = at_;
  if (peek() == '-') ++at_;
  if (!is_digit(peek())) syntax("a digit");
  if (peek() == '0') {
    ++at_;
  } else {
    while (is_digit(peek())) ++at_;
  }
  if (peek() == '.') {
    ++at_;
    if (!is_digit(peek())) syntax("a digit");
    while (is_digit(peek())) ++at_;
  }
  if (peek() == 'e' || peek() == 'E') {
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    if (!is_digit(peek())) syntax("a digit");
    while (is_digit(peek())) ++at_;
  }
  const std::string_view all = text_.substr(begin, at_ - begin);
  double ignored = 0;
  if (std::from_chars(all.data(), all.data() + all.size(), ignored).ec != std::errc{}) {
    refuse(begin, shown(all) + " is beyond every range", "Give a number that fits what it is for.");
  }
  return std::string(all);
}

std::string JsonReader::quoted() {
  std::string out;
  ++at_;
  for (;;) {
    if (at_ >= text_.size()) syntax("the text's closing quote");
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (c == '"') break;
    if (c < 0x20) syntax("a printable character (write line ends as \\n)");
    if (c == '\\') {
      ++at_;
      escape(out);
    } else if (c < 0x80) {
      out += text_[at_++];
    } else {
      utf8(out);
    }
  }
  ++at_;
  return out;
}

void JsonReader::utf8(std::string& to) {
  const auto byte = [&](size_t i) { return i < text_.size() ? static_cast<unsigned char>(text_[i]) : 0u; };
  const unsigned first = byte(at_);
  const unsigned more = first >= 0xF0 && first <= 0xF4 ? 3 : first >= 0xE0 ? 2 : first >= 0xC2 ? 1 : 0;
  bool good = more != 0 && first <= 0xF4;
  for (unsigned i = 1; i <= more; ++i) good = good && (byte(at_ + i) & 0xC0) == 0x80;
  const unsigned second = byte(at_ + 1);
  if (first == 0xE0) good = good && second >= 0xA0;
  if (first == 0xED) good = good && second < 0xA0;
  if (first == 0xF0) good = good && second >= 0x90;
  if (first == 0xF4) good = good && second < 0x90;
  if (!good) refuse(at_, "not valid JSON: a byte that is no UTF-8", kRemedy);
  to.append(text_.substr(at_, more + 1));
  at_ += more + 1;
}

uint32_t JsonReader::hex4() {
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i, ++at_) {
    const char c = peek();
    const int digit = is_digit(c)            ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) syntax("four hexadecimal digits");
    value = value << 4 | static_cast<uint32_t>(digit);
  }
  return value;
}

void JsonReader::escape(std::string& to) {
  constexpr std::string_view kShort = "\"\\/bfnrt", kMeaning = "\"\\/\b\f\n\r\t";
  const char c = peek();
  if (const size_t at = kShort.find(c); at_ < text_.size() && at != std::string_view::npos) {
    ++at_;
    to += kMeaning[at];
    return;
  }
  if (c != 'u') syntax("an escape of JSON");
  ++at_;
  uint32_t code = hex4();
  if (code >= 0xD800 && code < 0xDC00) {
    if (text_.substr(at_, 2) != "\\u") syntax("the second half of a surrogate pair");
    at_ += 2;
    const uint32_t low = hex4();
    if (low < 0xDC00 || low >= 0xE000) syntax("the second half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code < 0xE000) {
    syntax("the first half of a surrogate pair");
  }
  append_utf8(to, code);
}

}  // namespace mrc::input
