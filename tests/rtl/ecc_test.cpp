// SPDX-License-Identifier: Apache-2.0
// mrc_ecc and mrc_ram_ecc: every word with one wrong bit and with two; the memory beside the model's.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <memory>

#include "Vecc.h"
#include "pipeline/lib/ram_ecc.hpp"
#include "util/rng.hpp"
#include "verilated.h"

namespace mrc::test::ecc_test {
namespace {

class Ecc {
 public:
  Ecc() : top_(std::make_unique<Vecc>(&context_)) {
    clock();
    top_->rst_ni = 1;
  }
  Vecc* operator->() { return top_.get(); }
  void settle() {
    Verilated::threadContextp(&context_);
    top_->eval();
  }
  void clock() {
    top_->clk_i = 0;
    settle();
    top_->clk_i = 1;
    settle();
  }
  void flip(unsigned bit) { top_->flip_i[bit / 32] ^= 1u << bit % 32; }
  uint64_t word(unsigned i) const { return top_->word_o[2 * i] | uint64_t{top_->word_o[2 * i + 1]} << 32; }

 private:
  VerilatedContext context_;
  std::unique_ptr<Vecc> top_;
};

constexpr std::array<unsigned, 4> kWidths{64, 57, 24, 1};
using Word = std::array<uint32_t, 3>;

uint64_t low(uint64_t word, unsigned width) { return width == 64 ? word : word & ((uint64_t{1} << width) - 1); }

}  // namespace

TEST_CASE("each wrong bit of a word is corrected, each two are detected", "[rtl][lib][ecc]") {
  Ecc ecc;
  Rng rng(1, "ecc");
  std::array<unsigned, 3> seen{};
  for (unsigned run = 0; run < 12; ++run) {
    const uint64_t word = run == 0 ? 0 : run == 1 ? ~uint64_t{0} : rng.next();
    ecc->word_i = word;
    ecc->flip_i = {};
    const auto check = [&](unsigned i, unsigned flips) {
      ecc.settle();
      REQUIRE((ecc->fixed_o >> i & 1) == (flips == 1));
      REQUIRE((ecc->bad_o >> i & 1) == (flips == 2));
      if (flips < 2) REQUIRE(ecc.word(i) == low(word, kWidths[i]));
      ++seen[flips];
    };
    for (unsigned i = 0; i < kWidths.size(); ++i) {
      const unsigned bits = kWidths[i] + 8;
      check(i, 0);
      for (unsigned a = 0; a < bits; ++a) {
        ecc.flip(a);
        check(i, 1);
        for (unsigned b = a + 1; b < bits; ++b) {
          ecc.flip(b);
          check(i, 2);
          ecc.flip(b);
        }
        ecc.flip(a);
      }
    }
  }
  // 72, 65, 32 and 9 bits
  CHECK(seen == std::array<unsigned, 3>{12 * 4, 12 * (72 + 65 + 32 + 9), 12 * (2556 + 2080 + 496 + 36)});
}

TEST_CASE("a RTL memory with a code does what the model's does, whatever is injected", "[rtl][lib][ecc]") {
  Ecc ecc;
  Rng rng(1, "ram_ecc");
  RamEcc<Word> ram(5, true, EccMemory::RxReorderEnts);
  static_assert(static_cast<unsigned>(EccMemory::RxReorderEnts) == 2);  // u_ram's
  std::array<bool, 5> known{};
  bool read = false;
  unsigned fixed = 0, bad = 0, good = 0, seq = 0, inject = 0;
  for (unsigned cycle = 0; cycle < 20000; ++cycle) {
    if (rng.chance(0.1)) {
      const unsigned memory = rng.chance(0.8) ? 2 : static_cast<unsigned>(rng.below(4));
      inject = memory | static_cast<unsigned>(rng.below(4)) << 8 | unsigned{rng.chance(0.3)} << 10 | (seq++ & 15) << 11;
    }
    const auto from = static_cast<unsigned>(rng.below(5)), to = static_cast<unsigned>(rng.below(5));
    const Word data{static_cast<uint32_t>(rng.next()), static_cast<uint32_t>(rng.next()),
                    static_cast<uint32_t>(rng.next()) & 0xffffff};
    const bool we = rng.chance(0.5), re = rng.chance(0.5) && known[from];
    ecc->inject_i = static_cast<uint16_t>(inject);
    ecc->re_i = re;
    ecc->raddr_i = static_cast<uint8_t>(from);
    ecc->we_i = we;
    ecc->waddr_i = static_cast<uint8_t>(to);
    for (unsigned i = 0; i < 3; ++i) ecc->wdata_i[i] = data[i];
    ecc.settle();
    REQUIRE(ecc->plain_says_o == 0);
    if (read) {
      REQUIRE(ecc->ram_fixed_o == ram.fixed());
      REQUIRE(ecc->ram_bad_o == ram.bad());
      for (unsigned i = 0; i < 3; ++i) {
        REQUIRE(ecc->plain_o[i] == ram.rdata()[i]);
        if (!ram.bad()) REQUIRE(ecc->rdata_o[i] == ram.rdata()[i]);
      }
      ++(ram.bad() ? bad : ram.fixed() ? fixed : good);
    }
    ram.inject(static_cast<uint16_t>(inject));
    if (re) ram.read(from);
    if (we) ram.write(to, data);
    ram.clock();
    ecc.clock();
    read = read || re;
    known[to] = known[to] || we;
  }
  CHECK(fixed > 1000);
  CHECK(bad > 1000);
  CHECK(good > 1000);
}

}  // namespace mrc::test::ecc_test
