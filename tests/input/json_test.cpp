// SPDX-License-Identifier: Apache-2.0
#include "input/json.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace mrc;
using input::Json;
using input::JsonReader;

namespace {
std::string refusal(std::string_view text) {
  try {
    JsonReader reader(text, "x.json");
    while (reader.next()) {
    }
  } catch (const InputError& error) {
    CHECK_FALSE(error.remedy.empty());
    return error.what();
  }
  return "";
}
}  // namespace

TEST_CASE("JSON: documents one after the other, values with their place, numbers as written", "[input][json]") {
  JsonReader reader("{\"a\": 18446744073709551615,\n \"b\": [true, null, \"\\u00e9\\ud83d\\ude00\\n\"]}\n7", "x.json");
  const auto first = reader.next();
  REQUIRE(first);
  REQUIRE(first->is_object());
  CHECK(first->find("a")->text == "18446744073709551615");
  const Json* b = first->find("b");
  REQUIRE(b);
  CHECK(b->line == 2);
  CHECK(b->column == 7);
  REQUIRE(b->items.size() == 3);
  CHECK(b->items[0].flag());
  CHECK(b->items[1].kind == Json::Kind::Null);
  CHECK(b->items[2].text == "\xc3\xa9\xf0\x9f\x98\x80\n");
  CHECK_FALSE(first->find("c"));
  const auto second = reader.next();
  REQUIRE(second);
  CHECK(second->text == "7");
  CHECK(reader.offset() == 72);
  CHECK_FALSE(reader.next());
}

TEST_CASE("JSON that is none is refused with line and column", "[input][json]") {
  CHECK(refusal("{\"a\": }") == "x.json:1:7: not valid JSON: \"}\" instead of a value.");
  CHECK(refusal("{\n  a: 1}") == "x.json:2:3: not valid JSON: a instead of a name in quotes.");
  CHECK(refusal("[1, 2") == "x.json:1:6: not valid JSON: the end instead of a comma or ].");
  CHECK(refusal("\"abc") == "x.json:1:5: not valid JSON: the end instead of the text's closing quote.");
  CHECK(refusal("[01]") == "x.json:1:3: not valid JSON: 1 instead of a comma or ].");
  CHECK(refusal("[-]") == "x.json:1:3: not valid JSON: \"]\" instead of a digit.");
  CHECK(refusal("[\"\\x\"]") == "x.json:1:4: not valid JSON: x instead of an escape of JSON.");
  CHECK(refusal("[\"\\ud800\"]").starts_with("x.json:1:9: not valid JSON: "));
  CHECK(refusal("[\"\xc0\x80\"]") == "x.json:1:3: not valid JSON: a byte that is no UTF-8.");
  CHECK(refusal("[\"\xed\xa0\x80\"]") == "x.json:1:3: not valid JSON: a byte that is no UTF-8.");
  CHECK(refusal("nul") == "x.json:1:1: not valid JSON: n instead of a value.");
}

TEST_CASE("JSON: a name twice, numbers beyond every range, and depth are refused", "[input][json]") {
  CHECK(refusal("{\"a\": 1,\n\"b\": 2, \"a\": 3}") == "x.json:2:9: a is there twice, first in line 1.");
  CHECK(refusal("[1,\n1e999]") == "x.json:2:1: 1e999 is beyond every range.");
  CHECK(refusal(std::string(64, '[') + std::string(64, ']')).empty());
  CHECK(refusal(std::string(65, '[')) == "x.json:1:65: more than 64 arrays and objects inside each other.");
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "{\"a\":";
  CHECK(refusal(deep) == "x.json:1:321: more than 64 arrays and objects inside each other.");
}
