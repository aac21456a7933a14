// SPDX-License-Identifier: Apache-2.0
#include "input/json.hpp"

#include <array>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace mrc::test::json_test {

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

TEST_CASE("JSON made of values is written as nlohmann/json writes it, in one line and indented", "[input][json]") {
  const std::vector<uint32_t> evs = {7, 0xffffffff};
  const std::map<std::string, uint64_t> rules = {{"b", 1}, {"a", ~uint64_t{0}}};
  const auto make = [&](auto json) {
    using J = decltype(json);
    json["text"] = "a \"quoted\" \\ line\n\x01 \xc3\xa9 \x7f";
    json["bad"] = std::string("\xff\xc3(");
    json["none"] = nullptr;
    json["flags"] = {{"yes", true}, {"no", false}};
    json["least"] = std::numeric_limits<int64_t>::min();
    json["small"] = uint8_t{200};
    json["evs"] = evs;
    json["array"] = std::array<int16_t, 3>{-1, 0, 1};
    json["rules"] = rules;
    json["empty"] = J::array();
    json["nothing"] = J::object();
    json["list"].push_back({{"nested", {{"deep", 1.5}}}, {"view", std::string_view("v")}});
    json["list"].push_back(J());
    json["text2"] = "first";
    json["text2"] = "second";
    return json;
  };
  const Json ours = make(Json());
  const auto theirs = make(nlohmann::ordered_json());
  for (const int indent : {-1, 0, 1, 2})
    CHECK(ours.dump(indent) == theirs.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace));
  const auto again = input::parse_json(ours.dump());
  REQUIRE(again);
  CHECK(again->dump() == ours.dump());
}

TEST_CASE("JSON: doubles are written as nlohmann/json writes them", "[input][json]") {
  uint64_t bits = 88172645463325252;
  std::vector<double> values = {0.0,          -0.0,
                                1.0,          0.1,
                                1e-5,         1e15,
                                1e16,         123456789012345678.0,
                                5e-324,       1.7976931348623157e308,
                                std::nan(""), std::numeric_limits<double>::infinity()};
  for (unsigned i = 0; i < 2000; ++i) {
    bits ^= bits << 13;
    bits ^= bits >> 7;
    bits ^= bits << 17;
    values.push_back(std::bit_cast<double>(bits));
  }
  for (const double value : values) CHECK(Json(value).dump() == nlohmann::json(value).dump());
  CHECK(Json(0.1f).dump() == nlohmann::json(0.1f).dump());
}

TEST_CASE("JSON: members are found, added and taken over; whole numbers are told from others", "[input][json]") {
  Json json{{"a", 1}, {"b", "two"}};
  CHECK(json.text_of("b") == "two");
  CHECK(json.text_of("a").empty());
  CHECK(json.text_of("c").empty());
  json.update({{"b", 3}, {"c", 4}});
  CHECK(json.dump() == R"({"a":1,"b":3,"c":4})");
  CHECK(json.find("c")->whole() == 4);
  for (const char* text : {"-1", "1.0", "1e2", "18446744073709551616", "\"1\"", "null", "-0"})
    CHECK_FALSE(input::parse_json(text)->whole());
  CHECK(input::parse_json("18446744073709551615")->whole() == ~uint64_t{0});
}

TEST_CASE("JSON: one document is a tree, everything else is none", "[input][json]") {
  CHECK(input::parse_json(" {} "));
  for (const char* text : {"", " ", "{} {}", "{", "{\"a\":1,\"a\":2}"}) CHECK_FALSE(input::parse_json(text));
}

}  // namespace mrc::test::json_test
