// SPDX-License-Identifier: Apache-2.0
#include "input/csv.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>

namespace mrc::test::csv_test {

using input::Csv;

namespace {
constexpr input::CsvColumn kColumns[] = {
    {"id", true, "a name"}, {"bytes", true, "of the flow"}, {"share", false, "of all"}};

std::string refusal(std::string_view text, const std::function<void(Csv&)>& each) {
  try {
    Csv csv(text, "x.csv", kColumns);
    while (csv.next()) each(csv);
  } catch (const InputError& error) {
    CHECK_FALSE(error.remedy.empty());
    return error.what();
  }
  return "";
}
}  // namespace

TEST_CASE("columns by name in any order, with comments, blanks, CRLF and a byte order mark", "[input][csv]") {
  const std::string text = "\xef\xbb\xbf# c\r\n\r\n bytes ,\tid\r\n 1_000 , a\r\n# d\r\n0x10,b";
  Csv csv(text, "x.csv", kColumns);
  REQUIRE(csv.next());
  CHECK(csv.line() == 4);
  CHECK(csv.cell(0) == "a");
  CHECK(csv.whole(1, 1, 2000) == 1000);
  CHECK(csv.number(2, {0, 1}, 0.5) == 0.5);
  REQUIRE(csv.next());
  CHECK(csv.whole(1, 1, 2000) == 16);
  CHECK(csv.line() == 6);
  CHECK_FALSE(csv.next());
}

TEST_CASE("a wrong table is refused with line and column", "[input][csv]") {
  const auto bytes = [](Csv& csv) { csv.whole(1, 1, 10); };
  CHECK(refusal("", bytes) == "x.csv:1:1: no line that names the columns.");
  CHECK(refusal("# only\n", bytes) == "x.csv:1:1: no line that names the columns.");
  CHECK(refusal("a,5\n", bytes) == "x.csv:1:1: the first line does not name the columns.");
  CHECK(refusal("id,bites\n", bytes) == "x.csv:1:4: unknown column bites; did you mean bytes?");
  CHECK(refusal("id,bytes,colour\n", bytes) == "x.csv:1:10: unknown column colour.");
  CHECK(refusal("id,bytes,id\n", bytes) == "x.csv:1:10: column id appears twice.");
  CHECK(refusal("id\n", bytes) == "x.csv:1:1: column bytes is missing.");
  CHECK(refusal("id,bytes\na\n", bytes) == "x.csv:2:1: 1 cell, but 2 columns.");
  CHECK(refusal("id,bytes\na,1,2\n", bytes) == "x.csv:2:5: 3 cells, but 2 columns.");
  CHECK(refusal("id,bytes\na, 1.5\n", bytes) == "x.csv:2:4: bytes = 1.5 is not a whole number.");
  CHECK(refusal("id,bytes\na,\n", bytes) == "x.csv:2:3: bytes = \"\" is not a number.");
  CHECK(refusal("id,bytes\na,11\n", bytes) == "x.csv:2:3: bytes = 11 is out of range.");
}

}  // namespace mrc::test::csv_test
