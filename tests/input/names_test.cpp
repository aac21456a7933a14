// SPDX-License-Identifier: Apache-2.0
#include "input/names.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>

namespace mrc::test::names_test {

using mrc::input::did_you_mean;

TEST_CASE("a misspelt name finds the one that was meant, or none", "[input][names]") {
  constexpr std::string_view known[] = {"base", "qps", "loss", "size_max", "size_min", "hang_us"};
  CHECK(did_you_mean("bse", known) == "; did you mean base?");
  CHECK(did_you_mean("bsae", known) == "; did you mean base?");
  CHECK(did_you_mean("los", known) == "; did you mean loss?");
  CHECK(did_you_mean("sizemax", known) == "; did you mean size_max?");
  CHECK(did_you_mean("size_mxa", known) == "; did you mean size_max?");
  CHECK(did_you_mean("colour", known) == ".");
  CHECK(did_you_mean("", known) == ".");
  CHECK(did_you_mean(std::string(100'000, 'a'), known) == ".");
}

}  // namespace mrc::test::names_test
