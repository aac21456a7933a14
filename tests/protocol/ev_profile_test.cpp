// SPDX-License-Identifier: Apache-2.0
#include "protocol/ev_profile.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace mrc::test::ev_profile_test {
namespace {

/// The error of a list, or "".
std::string refusal(const EvFieldList& list, uint64_t* field = nullptr) {
  const auto row = ev_generator(list);
  if (row) return "";
  if (field) *field = row.error().offset;
  return row.error().what;
}

}  // namespace

TEST_CASE("fields take the EV number's bits from the top, first field first", "[protocol][ev]") {
  // A: 8 bits, 1010 0101, low four bits from the number. B: 8 bits, zero, bits 7, 6 and 0 from the number.
  const std::vector<EvField> two{{8, 0xA5, 0x0F}, {8, 0x00, 0xC1}};
  // 1011 010: A = 1010 1011, B = 01.. ...0
  CHECK(ev_expand_fields(two, 0b1011'010) == 0xAB40);
  CHECK(ev_expand_fields(two, 0) == 0xA000);
  CHECK(ev_expand_fields(two, 0x7f) == 0xAFC1);
  const std::vector<EvField> three{{16, 0xC000, 0x3FFF}, {12, 0xABC, 0}, {4, 0, 0xF}};
  // 18 bits: 10 1010 1011 1100 (2ABC), 1101 (D)
  CHECK(ev_expand_fields(three, 0x2ABCD) == 0xEABCABCD);
  const std::vector<EvField> whole{{32, 0xdeadbeef, 0xffffffff}};
  CHECK(ev_expand_fields(whole, 0x80000001) == 0x80000001);
  const std::vector<EvField> fixed{{32, 0xdeadbeef, 0}};
  CHECK(ev_expand_fields(fixed, 0) == 0xdeadbeef);
}

TEST_CASE("the row has the fields side by side, and expands from the bottom to the same EVs", "[protocol][ev]") {
  const std::vector<EvField> three{{16, 0xC000, 0x3FFF}, {12, 0xABC, 0}, {4, 0, 0xF}};
  const auto row = ev_generator({.fields = three, .max_val = 0x3ffff, .seed = 5});
  REQUIRE(row);
  CHECK(row->init == 0xC000ABC0);
  CHECK(row->mask == 0x3FFF000F);
  CHECK(row->max_val == 0x3ffff);
  CHECK(row->seed == 5);
  CHECK(ev_expand(0xC000ABC0, 0x3FFF000F, 0x2ABCD) == 0xEABCABCD);
  // A set mask bit replaces what init holds there: 0101 with mask 0110 and number 01.
  CHECK(ev_expand(0b0101, 0b0110, 0b01) == 0b0011);
  CHECK(ev_expand(0xffffffff, 0x80000001, 0b10) == 0xfffffffe);
  const std::vector<EvField> two{{8, 0xA5, 0x0F}, {8, 0x00, 0xC1}};
  for (uint32_t n = 0; n < 128; ++n) CHECK(ev_expand(0xA500, 0x0FC1, n) == ev_expand_fields(two, n));
}

TEST_CASE("EV numbers count modulo max_val + 1", "[protocol][ev]") {
  CHECK(ev_number_next(4, 5) == 5);
  CHECK(ev_number_next(5, 5) == 0);
  CHECK(ev_number_next(0, 0) == 0);
  CHECK(ev_number_next(0xffffffff, 0xffffffff) == 0);
}

TEST_CASE("AUTO: xorshift of 32 bits", "[protocol][ev]") {
  // Marsaglia's generator 13, 17, 5 from 1.
  uint32_t v = 1;
  for (const uint32_t want : {270369u, 67634689u, 2647435461u, 307599695u, 2398689233u}) {
    v = ev_auto_next(v);
    CHECK(v == want);
  }
  CHECK(ev_auto_next(0) == 0);  // why the seed is not 0
}

TEST_CASE("AUTO: the bits of the mask travel, the others are those of init; no mask: all", "[protocol][ev]") {
  CHECK(ev_auto(0x1234ABCD, 0, 0xDEADBEEF) == 0xDEADBEEF);
  CHECK(ev_auto(0x1234ABCD, 0xffffffff, 0xDEADBEEF) == 0xDEADBEEF);
  CHECK(ev_auto(0, 0x0000ffff, 0xDEADBEEF) == 0x0000BEEF);
  CHECK(ev_auto(0xC000, 0x00003fff, 0xDEADBEEF) == 0x0000FEEF);
}

TEST_CASE("generated EVs are never 0", "[protocol][ev]") {
  const auto rows = [](std::initializer_list<uint32_t> values) {
    std::vector<uint32_t> out;
    bool zero = false;
    for (const uint32_t v : values) {
      if (const auto ev = ev_not_zero(v, zero)) out.push_back(*ev);
    }
    return out;
  };
  CHECK(rows({1, 2, 3}) == std::vector<uint32_t>{1, 2, 3});
  CHECK(rows({5, 0, 6, 0, 7}) == std::vector<uint32_t>{5, 6, 7});  // the next one takes its row
  CHECK(rows({0, 0, 5}) == std::vector<uint32_t>{8, 5});           // the second in a row is 8
  CHECK(rows({0, 0, 0, 5, 0}) == std::vector<uint32_t>{8, 5});     // the third begins anew
  CHECK(rows({0, 0, 0, 0}) == std::vector<uint32_t>{8, 8});        // a profile that gives nothing else
}

TEST_CASE("the API's limits are refused by name, with the field", "[protocol][ev]") {
  uint64_t at = 99;
  const std::vector<EvField> many(4, {1, 0, 1});
  CHECK(refusal({.fields = many, .format_fields = 3, .max_val = 15}, &at) == "too many fields: 4, the format has 3");
  CHECK(at == 0);
  CHECK(refusal({.fields = many, .format_fields = 4, .max_val = 15}).empty());

  const std::vector<EvField> wide{{16, 0, 0}, {16, 0, 0}, {1, 0, 0}};
  CHECK(refusal({.fields = wide}, &at) == "sum of widths: more than the format's 32 bits");
  CHECK(at == 2);
  CHECK(refusal({.fields = std::span(wide).first(2)}).empty());
  CHECK(refusal({.fields = std::span(wide).first(2), .format_width = 31}, &at) ==
        "sum of widths: more than the format's 31 bits");
  CHECK(at == 1);
  CHECK(refusal({.fields = many, .format_width = 33}) == "format: 33 bits");

  for (const unsigned width : {0u, 33u}) {
    const std::vector<EvField> f{{width, 0, 0}};
    CHECK(refusal({.fields = f}) == "width: " + std::to_string(width) + " is not 1..32");
  }
  const std::vector<EvField> init{{4, 15, 0}, {4, 16, 0}};
  CHECK(refusal({.fields = init}, &at) == "init_val: wider than the field's 4 bits");
  CHECK(at == 1);
  const std::vector<EvField> mask{{4, 0, 16}, {4, 0, 15}};
  CHECK(refusal({.fields = mask}, &at) == "mask: wider than the field's 4 bits");
  CHECK(at == 0);

  const std::vector<EvField> three_bits{{4, 0, 0b0101}, {4, 0, 0b1000}};
  CHECK(refusal({.fields = three_bits, .max_val = 7}).empty());
  CHECK(refusal({.fields = three_bits, .max_val = 8}) == "max_val: wider than the masks' 3 bits");
  CHECK(refusal({.fields = three_bits, .max_val = 5, .seed = 6}) == "seed: above max_val");
  CHECK(refusal({.fields = three_bits, .max_val = 5, .seed = 5}).empty());
  const std::vector<EvField> all{{32, 0xffffffff, 0xffffffff}};
  CHECK(refusal({.fields = all, .max_val = 0xffffffff}).empty());
  CHECK(refusal({.fields = {}, .max_val = 1}) == "max_val: wider than the masks' 0 bits");
}

TEST_CASE("a refusal says what to do", "[protocol][ev]") {
  const std::vector<EvField> f{{4, 16, 0}};
  const auto row = ev_generator({.fields = f});
  REQUIRE_FALSE(row);
  CHECK(row.error().input == "EV profile");
  CHECK(row.error().remedy == "Make init_val smaller or the field wider.");
}

}  // namespace mrc::test::ev_profile_test
