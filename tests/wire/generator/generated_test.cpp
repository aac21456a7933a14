// SPDX-License-Identifier: Apache-2.0
/// What generate.py makes of the YAML files in this folder.
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <random>
#include <string>

#include "sample/cmodel/gen/csr.hpp"
#include "sample/cmodel/gen/csr_values.hpp"
#include "sample/cmodel/gen/nic_flow.hpp"
#include "sample/cmodel/gen/nic_pulses.hpp"
#include "sample/cmodel/gen/presets.hpp"

namespace mrc::test::generated_test {
namespace {

/// A packed struct as SystemVerilog defines it: fields one behind the other, first field on top.
class BitString {
 public:
  void add(uint64_t value, unsigned width) {
    for (unsigned i = width; i-- > 0;) bits_ += (i < 64 && value >> i & 1) ? '1' : '0';
  }
  uint32_t word(unsigned index) const {
    uint32_t out = 0;
    for (unsigned i = 0; i < 32; ++i) {
      const size_t at = 32 * index + i;
      if (at < bits_.size() && bits_[bits_.size() - 1 - at] == '1') out |= 1u << i;
    }
    return out;
  }

 private:
  std::string bits_;
};

}  // namespace

TEST_CASE("small structs pack to the words worked out by hand", "[wire.gen.pack]") {
  uint32_t w = 0;
  Word{.high = 0x1234, .low = 0xABCD}.pack(&w);
  CHECK(w == 0x1234ABCD);
  Inner{.flag = true, .psn = 0xABCDEF}.pack(&w);
  CHECK(w == 0x1ABCDEF);
  Inner{.flag = false, .psn = 0xFFABCDEF}.pack(&w);
  CHECK(w == 0x0ABCDEF);  // cut to the field's width
  CHECK(Word::unpack(&(w = 0x00010002)) == Word{.high = 1, .low = 2});
  static_assert(Word::kBits == 32 && Word::kWords == 1 && Inner::kBits == 25);
}

TEST_CASE("a struct with every kind of field packs like a SystemVerilog packed struct", "[wire.gen.pack]") {
  static_assert(Sample::kBits == 5 + 137 + 70 + 64 + 25 + 3 + 31 && Sample::kWords == 11);
  std::mt19937 rng(3);
  for (int round = 0; round < 100; ++round) {
    Sample s;
    BitString want;
    s.top = static_cast<uint8_t>(rng() & 31);
    want.add(s.top, 5);
    for (auto& word : s.huge) word = static_cast<uint32_t>(rng());
    s.huge[4] &= 0x1FF;
    want.add(s.huge[4], 9);
    for (int i = 3; i >= 0; --i) want.add(s.huge[static_cast<size_t>(i)], 32);
    const uint64_t big_high = rng() & 63, big_low = uint64_t{rng()} << 32 | rng();
    s.big = U128{big_high} << 64 | big_low;
    want.add(big_high, 6);
    want.add(big_low, 64);
    s.wide = uint64_t{rng()} << 32 | rng();
    want.add(s.wide, 64);
    s.inner.flag = rng() & 1;
    s.inner.psn = rng() & 0xFFFFFF;
    want.add(s.inner.flag, 1);
    want.add(s.inner.psn, 24);
    s.color = rng() & 1 ? Color::Blue : Color::Red;
    want.add(static_cast<uint64_t>(s.color), 3);
    s.low = static_cast<uint32_t>(rng()) >> 1;
    want.add(s.low, 31);

    uint32_t words[Sample::kWords];
    std::memset(words, 0xEE, sizeof words);
    s.pack(words);
    for (unsigned i = 0; i < Sample::kWords; ++i) CHECK(words[i] == want.word(i));
    CHECK(Sample::unpack(words) == s);
    for (const FieldInfo& field : Sample::kFields) {
      if (std::string(field.name) == "inner.psn") CHECK(field.low64(words) == s.inner.psn);
      if (std::string(field.name) == "wide") CHECK(field.low64(words) == s.wide);
      if (std::string(field.name) == "huge") CHECK(field.word(words, 4) == s.huge[4]);
      if (std::string(field.name) == "color") {
        CHECK(std::string(field.name_of(field.low64(words))) == (s.color == Color::Blue ? "Blue" : "Red"));
      }
    }
  }
}

TEST_CASE("streams follow each other in whole words", "[wire.gen.stream]") {
  static_assert(kObsCoreWords == (1 + 11) + (1 + 1) && kObsLaneWords == 2);
  CHECK(std::string(kCoreStreams[0].name) == "a_block.first");
  CHECK(kCoreStreams[0].word_offset == 0);
  CHECK(kCoreStreams[static_cast<unsigned>(CoreStream::BBlockSecond)].word_offset == 12);
  CHECK(kCoreStreams[1].fields.size() == 2);
  CHECK(kPsnW == 24);
  CHECK(kBig == 0x123456789ABCDEF0ull);
}

TEST_CASE("registers and tables keep their layout", "[wire.gen.csr]") {
  CHECK(csr::kCtrl == 0x10);
  CHECK(csr::kCtrlReset == 0x51);
  CHECK(csr::kCtrlMode.get(0xFFFFFFD0) == 5);
  CHECK(csr::kCtrlMode.set(0, 0xF) == 0x70);
  CHECK(csr::kCounterCount == 4);
  CHECK(csr::kRegisters[1].count == 4);
  uint32_t words[2];
  csr::TblRow{.key = 0xFFEEDDCCBB, .valid = true}.pack(words);
  CHECK(words[0] == 0xDDCCBB01);
  CHECK(words[1] == 0x0000FFEE);
}

TEST_CASE("register values begin as after reset, and follow the registers", "[wire.gen.nic]") {
  CsrOut v;
  CHECK(v.enable);
  CHECK(v.mode == 5);
  CHECK(v.pair == (0x2ABu << 16 | 0x1234u));
  CHECK(v.list == std::array<uint32_t, 2>{7, 0x80000000u});
  publish(v, [](uint32_t offset) {
    return offset == csr::kCtrl   ? csr::kCtrlMode.set(0, 2)
           : offset == csr::kWide ? csr::kWideHigh.set(csr::kWideLow.set(~0u, 9), 3)
                                  : offset;
  });
  CHECK(!v.enable);
  CHECK(v.mode == 2);
  CHECK(v.pair == (3u << 16 | 9u));
  CHECK(v.list == std::array<uint32_t, 2>{csr::kOne, csr::kTwo});
}

TEST_CASE("pulses are counted by their registers", "[wire.gen.nic]") {
  std::string counted;
  const auto add = [&](uint32_t offset) { counted += std::to_string(offset) + " "; };
  ABlockPulses{}.count(add);
  CHECK(counted.empty());
  ABlockPulses{.seen = true}.count(add);
  CHECK(counted == std::to_string(csr::kSeen) + " ");
}

TEST_CASE("the flow names each stream and who takes it", "[wire.gen.nic]") {
  CHECK(std::size(kStreamFlow) == 3);
  CHECK(std::string(kStreamFlow[0].name) == "a_block.first");
  CHECK(std::string(kStreamFlow[0].consumer) == "b_block");
  CHECK(std::string(kStreamFlow[2].consumer) == "host");
}

TEST_CASE("presets are found by name", "[wire.gen.preset]") {
  REQUIRE(find_preset("large"));
  CHECK(find_preset("large")->width == 64);
  CHECK(find_preset("medium") == nullptr);
}

}  // namespace mrc::test::generated_test
