// SPDX-License-Identifier: Apache-2.0
#include "input/toml.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace mrc::test::toml_test {

using input::TomlFile;

namespace {
std::string refusal(const std::string& text) {
  try {
    TomlFile file(text, "x.toml", "scenario", "Write TOML.");
  } catch (const InputError& error) {
    CHECK_FALSE(error.remedy.empty());
    return error.what();
  }
  return "";
}
std::string repeated(const std::string& what, unsigned times) {
  std::string out;
  while (times-- > 0) out += what;
  return out;
}
}  // namespace

TEST_CASE("control characters of the input do not reach the terminal", "[input][toml]") {
  const InputError error("x.toml: kind = \"a\tb\x1b[m\x7f\xc3\xa9\" is not known.", "Use\n.");
  CHECK(std::string(error.what()) == "x.toml: kind = \"a?b?[m?\xc3\xa9\" is not known.");
  CHECK(error.remedy == "Use?.");
}

TEST_CASE("TOML that the parser behind it would not survive is refused before", "[input][toml]") {
  CHECK(refusal("# " + repeated("[", 100) + "\na = \"" + repeated("[.", 100) + "\"").empty());
  CHECK(refusal("a = '''" + repeated("[\n.", 100) + "'''\nb = 'x'").empty());
  CHECK(refusal("a = \"\"\"\\\"" + repeated("{.", 100) + "\"\"\"\"").empty());
  CHECK(refusal(repeated("a.", 63) + "a = 1").empty());
  CHECK(refusal("\n" + repeated("a.", 50'000) + "a = 1") == "x.toml:2:128: a name of more than 64 parts.");
  CHECK(refusal("[" + repeated("a.", 50'000) + "a]") == "x.toml:1:129: a name of more than 64 parts.");
  CHECK(refusal("a = " + repeated("[", 50'000)) == "x.toml:1:69: more than 64 arrays and tables inside each other.");
  CHECK(refusal("a = " + repeated("{a=", 50'000)) == "x.toml:1:197: more than 64 arrays and tables inside each other.");
  CHECK(refusal("a = 1\nbas\xcc\x9c = 2") == "x.toml:2:4: a character that is no ASCII outside of quotes.");
  CHECK(refusal("\xef\xbb\xbf\"\xcc\x9c\" = '\xc3\xa9' # \xc3\xa9").empty());
  CHECK(refusal("a = 1\n [[[b]]]") == "x.toml:2:2: a table without a name.");
  CHECK(refusal("[") == "x.toml:1:1: a table without a name.");
  CHECK(refusal("a = [\n[1],\n[ [2] ]\n]\n[ b ]\n[[ \"c\" ]]").empty());
  CHECK(refusal("a = 1\nb = \n").starts_with("x.toml:2:5: unreadable scenario: "));
}

}  // namespace mrc::test::toml_test
