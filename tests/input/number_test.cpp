// SPDX-License-Identifier: Apache-2.0
#include "input/number.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::number_test {

using input::Literal;

namespace {

constexpr uint64_t kMax = ~uint64_t{0};

/// "=7", or "sentence / remedy".
std::string whole(std::string_view text, int64_t min, uint64_t max) {
  try {
    const uint64_t value = input::whole({text, "--n"}, min, max, "things");
    return "=" + (min < 0 ? std::to_string(static_cast<int64_t>(value)) : std::to_string(value));
  } catch (const InputError& error) {
    return std::string(error.what()) + " / " + error.remedy;
  }
}

std::string number(std::string_view text, const input::Range& range) {
  try {
    return "=" + input::digits(input::number({text, "rate", "x.toml", 3, 8}, range, "Gb/s"));
  } catch (const InputError& error) {
    CHECK(error.line == 3);
    CHECK(error.column == 8);
    return std::string(error.what()) + " / " + error.remedy;
  }
}

}  // namespace

TEST_CASE("whole numbers: every literal has its value or its words", "[input][number]") {
  const std::string range = " / Use a whole number from 1 to 256: things.";
  const struct {
    const char* text;
    std::string expected;
  } table[] = {
      {"1", "=1"},
      {"256", "=256"},
      {"+7", "=7"},
      {"007", "=7"},
      {"1_0", "=10"},
      {"0x64", "=100"},
      {"0xf_f", "=255"},
      {"0o17", "=15"},
      {"0b101", "=5"},
      {"1e2", "=100"},
      {"2.5e1", "=25"},
      {"25.0", "=25"},
      {"2560e-1", "=256"},
      {"0", "--n 0 is out of range." + range},
      {"-0", "--n -0 is out of range." + range},
      {"257", "--n 257 is out of range." + range},
      {"-1", "--n -1 is out of range." + range},
      {"1e6", "--n 1e6 is out of range." + range},
      {"0x101", "--n 0x101 is out of range." + range},
      {"18446744073709551616", "--n 18446744073709551616 is out of range." + range},
      {"1e999999999999", "--n 1e999999999999 is out of range." + range},
      {"inf", "--n inf is out of range." + range},
      {"1.5", "--n 1.5 is not a whole number." + range},
      {"1e-1", "--n 1e-1 is not a whole number." + range},
      {"", "--n \"\" is not a number." + range},
      {"nan", "--n nan is not a number." + range},
      {"-", "--n - is not a number." + range},
      {"--1", "--n --1 is not a number." + range},
      {"0x", "--n 0x is not a number." + range},
      {"0xg", "--n 0xg is not a number." + range},
      {"1e", "--n 1e is not a number." + range},
      {"1__0", "--n 1__0 is not a number." + range},
      {"_1", "--n _1 is not a number." + range},
      {"1_", "--n 1_ is not a number." + range},
      {"10k", "--n 10k is not a number." + range},
      {" 1", "--n \" 1\" is not a number." + range},
      {"1\x1b[m", "--n \"1?[m\" is not a number." + range},
  };
  for (const auto& row : table) {
    INFO(row.text);
    CHECK(whole(row.text, 1, 256) == row.expected);
  }
}

TEST_CASE("whole numbers are exact up to the last one", "[input][number]") {
  CHECK(whole("18446744073709551615", 0, kMax) == "=18446744073709551615");
  CHECK(whole("0xffffffffffffffff", 0, kMax) == "=18446744073709551615");
  CHECK(whole("9007199254740993", 0, kMax) == "=9007199254740993");
  CHECK(whole("1e19", 0, kMax) == "=10000000000000000000");
  CHECK(whole("18446744073709551616", 0, kMax) ==
        "--n 18446744073709551616 is out of range. / Use a whole number of at least 0, below 2^64: things.");
  CHECK(whole("0x10000000000000000", 0, kMax).starts_with("--n 0x10000000000000000 is out of range."));
  CHECK(whole("2e19", 0, kMax).starts_with("--n 2e19 is out of range."));
  CHECK(whole("-1", -1, 24) == "=-1");
  CHECK(whole("-2", -1, 24) == "--n -2 is out of range. / Use a whole number from -1 to 24: things.");
  CHECK(whole("-9223372036854775808", INT64_MIN, 1) == "=-9223372036854775808");
  CHECK(whole("-9223372036854775809", INT64_MIN, 1).starts_with("--n -9223372036854775809 is out of range."));
}

TEST_CASE("numbers kept as double: range as written, no nan, no rounding into the range", "[input][number]") {
  const input::Range whole{0, 1048576, true}, real{0.001, 1e9}, zero{0.001, 6400, false, true};
  const std::string of_whole = " / Use a whole number from 0 to 1048576: Gb/s.";
  const std::string of_real = " / Use a number from 0.001 to 1000000000: Gb/s.";
  CHECK(number("1048576", whole) == "=1048576");
  CHECK(number("1e5", whole) == "=100000");
  CHECK(number("1.04858e+06", whole) == "x.toml:3:8: rate = 1.04858e+06 is out of range." + of_whole);
  CHECK(number("9007199254740993", whole) == "x.toml:3:8: rate = 9007199254740993 is out of range." + of_whole);
  CHECK(number("0.5", whole) == "x.toml:3:8: rate = 0.5 is not a whole number." + of_whole);
  CHECK(number("0.001", real) == "=0.001");
  CHECK(number("1e9", real) == "=1000000000");
  CHECK(number("1e-9", real) == "x.toml:3:8: rate = 1e-9 is out of range." + of_real);
  CHECK(number("1e-999", real) == "x.toml:3:8: rate = 1e-999 is out of range." + of_real);
  CHECK(number("1e999", real) == "x.toml:3:8: rate = 1e999 is out of range." + of_real);
  CHECK(number("-inf", real) == "x.toml:3:8: rate = -inf is out of range." + of_real);
  CHECK(number("nan", real) == "x.toml:3:8: rate = nan is not a number." + of_real);
  CHECK(number("0", real) == "x.toml:3:8: rate = 0 is out of range." + of_real);
  CHECK(number("0", zero) == "=0");
  CHECK(number("1e-300", zero) ==
        "x.toml:3:8: rate = 1e-300 is out of range. / Use 0, or a number from 0.001 to 6400: Gb/s.");
  CHECK(number("-1", {-1, 24, true}) == "=-1");
}

TEST_CASE("what is shown is short, printable, and quoted unless it is a word", "[input][number]") {
  CHECK(input::shown("nic0/1") == "nic0/1");
  CHECK(input::shown("") == "\"\"");
  CHECK(input::shown("a b") == "\"a b\"");
  CHECK(input::shown("\x01\xff") == "\"??\"");
  CHECK(input::shown(std::string(50, '9')) == std::string(40, '9') + "...");
  CHECK(input::digits(1048576) == "1048576");
  CHECK(input::digits(1e15) == "1000000000000000");
  CHECK(input::digits(0.9999) == "0.9999");
}

}  // namespace mrc::test::number_test
