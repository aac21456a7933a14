// SPDX-License-Identifier: Apache-2.0
// rtl/lib beside the model's primitives: the same at every port in every cycle; and its assertions, each of which
// fails.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "pipeline/lib/icrc_words.hpp"
#include "pipeline/lib/pool.hpp"
#include "pipeline/lib/ram.hpp"
#include "pipeline/lib/stream.hpp"
#include "tests/rtl/unit.hpp"

namespace mrc::test::lib_test {
namespace {

constexpr unsigned kCycles = 20000;
using Names = std::vector<std::string>;

/// Byte i of a packed array of bytes.
uint8_t byte_of(uint64_t packed, unsigned i) { return static_cast<uint8_t>(packed >> (8 * i)); }

}  // namespace

TEST_CASE("RTL FIFOs of every small depth do what the model's do", "[rtl][lib]") {
  Unit unit;
  Rng rng(1, "fifo");
  std::array<Fifo<uint8_t>, 4> regs{Fifo<uint8_t>(1), Fifo<uint8_t>(2), Fifo<uint8_t>(3), Fifo<uint8_t>(5)};
  std::array<Fifo<uint8_t>, 4> rams{Fifo<uint8_t>(2), Fifo<uint8_t>(3), Fifo<uint8_t>(4), Fifo<uint8_t>(5)};
  unsigned full = 0, empty = 0;
  for (unsigned cycle = 0; cycle < kCycles; ++cycle) {
    // Sometimes mostly pushed, sometimes mostly popped, so that all of them get full and empty.
    const double busy = (cycle / 200) % 2 != 0 ? 0.9 : 0.3;
    unsigned valid = 0, ready = 0;
    for (unsigned i = 0; i < 4; ++i) {
      valid |= static_cast<unsigned>(rng.chance(busy)) << i;
      ready |= static_cast<unsigned>(rng.chance(1.2 - busy)) << i;
    }
    const auto data = static_cast<uint8_t>(rng.next());
    unit->fifo_valid_i = static_cast<uint8_t>(valid);
    unit->fifo_ready_i = static_cast<uint8_t>(ready);
    unit->fifo_data_i = data;
    unit.settle();
    const auto compare = [&](Fifo<uint8_t>& model, unsigned i, unsigned ready_o, unsigned valid_o, uint64_t data_o,
                             uint64_t count_o) {
      REQUIRE((ready_o >> i & 1) == model.ready());
      REQUIRE((valid_o >> i & 1) == model.valid());
      REQUIRE(byte_of(count_o, i) == model.count());
      if (model.valid()) REQUIRE(byte_of(data_o, i) == model.head());
      full += !model.ready();
      empty += !model.valid();
      const bool push = (valid >> i & 1) != 0 && model.ready(), pop = (ready >> i & 1) != 0 && model.valid();
      if (push) model.push(data);
      if (pop) model.pop();
      model.clock();
    };
    for (unsigned i = 0; i < 4; ++i) {
      compare(regs[i], i, unit->fifo_ready_o, unit->fifo_valid_o, unit->fifo_data_o, unit->fifo_count_o);
      compare(rams[i], i, unit->fram_ready_o, unit->fram_valid_o, unit->fram_data_o, unit->fram_count_o);
    }
    unit.clock();
  }
  CHECK(full > 1000);
  CHECK(empty > 1000);
  CHECK(unit.failed() == Names{});
}

TEST_CASE("RTL pools hand out what the model's do", "[rtl][lib]") {
  Unit unit;
  Rng rng(1, "pool");
  constexpr std::array<unsigned, 3> kN{2, 3, 8};
  for (unsigned i = 0; i < 3; ++i) {
    Pool model(kN[i]);
    std::vector<unsigned> out;
    unsigned none = 0;
    for (unsigned cycle = 0; cycle < kCycles; ++cycle) {
      const double busy = (cycle / 100) % 2 != 0 ? 0.9 : 0.2;
      const bool take = model.valid() && rng.chance(busy);
      const bool give = !out.empty() && rng.chance(1 - busy);
      const std::size_t which = give ? rng.below(out.size()) : 0;
      unit->pool_take_i = static_cast<uint8_t>(take << i);
      unit->pool_give_i = static_cast<uint8_t>(give << i);
      unit->pool_data_i = static_cast<uint8_t>(give ? out[which] : rng.next());
      unit.settle();
      REQUIRE((unit->pool_valid_o >> i & 1) == model.valid());
      REQUIRE(byte_of(unit->pool_free_o, i) == model.free());
      if (model.valid()) REQUIRE(byte_of(unit->pool_data_o, i) == model.offer());
      none += !model.valid();
      if (give) {
        model.give(out[which]);
        out.erase(out.begin() + static_cast<std::ptrdiff_t>(which));
      }
      if (take) {
        out.push_back(model.offer());
        model.take();
      }
      model.clock();
      unit.clock();
    }
    CHECK(none > 100);
    unit->pool_take_i = unit->pool_give_i = 0;
  }
  CHECK(unit.failed() == Names{});
}

TEST_CASE("a number that is not out, given back to an RTL pool, fails an assertion", "[rtl][lib][assertions]") {
  Unit unit;
  const auto cycle = [&](bool take, bool give, unsigned number) {
    unit->pool_take_i = take;
    unit->pool_give_i = give;
    unit->pool_data_i = static_cast<uint8_t>(number);
    unit.clock();
    return unit.failed();
  };
  CHECK(cycle(true, false, 0) == Names{});
  CHECK(cycle(false, true, 0) == Names{});
  CHECK(cycle(false, true, 0) == Names{"GivenOnce"});  // twice: from now on 0 is there two times
  CHECK(cycle(true, false, 0) == Names{});
  CHECK(cycle(true, false, 0) == Names{"TakenOnce"});
  Unit fresh;
  fresh->pool_give_i = 1;
  fresh->pool_data_i = 1;
  fresh.clock();
  CHECK(fresh.failed() == Names{"GivenOnce"});  // never handed out
  Unit none;
  none->pool_take_i = 1;
  for (unsigned i = 0; i < 2; ++i) none.clock();
  CHECK(none.failed() == Names{});
  none.clock();
  CHECK(none.failed() == Names{"TakesANumber"});
}

TEST_CASE("RTL memories of a depth that is no power of two", "[rtl][lib]") {
  Unit unit;
  Rng rng(1, "ram");
  Ram1r1w<uint8_t> ram(5);
  Rf1r1w<uint8_t> rf(5);
  std::array<bool, 5> known{};  // nobody knows what is in a row that was not written
  bool read = false;
  for (unsigned cycle = 0; cycle < kCycles; ++cycle) {
    const std::array<unsigned, 3> at{static_cast<unsigned>(rng.below(5)), static_cast<unsigned>(rng.below(5)),
                                     static_cast<unsigned>(rng.below(5))};
    const auto to = static_cast<unsigned>(rng.below(5));
    const auto data = static_cast<uint8_t>(rng.next());
    const bool we = rng.chance(0.5), re = rng.chance(0.5) && known[at[0]];
    unit->ram_re_i = re;
    unit->ram_we_i = we;
    unit->ram_raddr_i = static_cast<uint16_t>(at[0] | at[1] << 3 | at[2] << 6);
    unit->ram_waddr_i = static_cast<uint8_t>(to);
    unit->ram_wdata_i = data;
    unit.settle();
    if (read) REQUIRE(unit->ram_o == ram.rdata());
    for (unsigned i = 0; i < 3; ++i) {
      if (!known[at[i]]) continue;
      if (i == 0) REQUIRE(unit->rf1_o == rf[at[i]]);
      if (i < 2) REQUIRE(byte_of(unit->rf2_o, i) == rf[at[i]]);
      REQUIRE(byte_of(unit->rfn_o, i) == rf[at[i]]);
    }
    if (re) ram.read(at[0]);
    if (we) {
      ram.write(to, data);
      rf.write(to, data);
    }
    ram.clock();
    rf.clock();
    unit.clock();
    read = read || re;
    known[to] = known[to] || we;
  }
  CHECK(unit.failed() == Names{});
  unit->ram_we_i = 1;
  unit->ram_waddr_i = 5;
  unit->ram_re_i = 0;
  unit.clock();
  CHECK(unit.failed() == Names{"WritesARow", "WritesARow", "WritesARow", "WritesARow"});
}

TEST_CASE("ticks of every fraction of a cycle come when they are due", "[rtl][lib]") {
  struct Clock {
    uint64_t cycles, parts;
  };
  constexpr std::array<Clock, 5> kClocks{{{165, 4}, {7, 3}, {2, 1}, {5, 5}, {1, 1}}};
  Unit unit;
  std::array<uint64_t, kClocks.size()> ticks{0, 0, 0, 1, 1};
  for (uint64_t n = 1; n < kCycles; ++n) {  // a Unit has one cycle behind it
    for (unsigned i = 0; i < kClocks.size(); ++i) {
      REQUIRE(ticks[i] == n * kClocks[i].parts / kClocks[i].cycles);
      ticks[i] += unit->tick_o >> i & 1;
    }
    unit.clock();
  }
  CHECK(unit.failed() == Names{});
}

TEST_CASE("the RTL arbiter grants as the model's from every place and for every request", "[rtl][lib]") {
  constexpr std::array<unsigned, 4> kN{1, 2, 3, 5};
  for (unsigned a = 0; a < kN.size(); ++a) {
    const unsigned n = kN[a];
    for (unsigned last = 0; last < n; ++last) {
      for (unsigned request = 0; request < 1u << n; ++request) {
        for (const bool take : {false, true}) {
          Unit unit;
          RrArb model(n);
          const auto step = [&](unsigned req, bool taken) {
            unit->arb_req_i = static_cast<uint8_t>(req);
            unit->arb_take_i = taken;
            unit.settle();
            const int granted = model.pick([&](unsigned i) { return (req >> i & 1) != 0; });
            REQUIRE((unit->arb_any_o >> a & 1) == (req != 0));
            const uint64_t gnt = unit->arb_gnt_o >> (5 * a) & 31;
            REQUIRE(gnt == (granted < 0 ? 0 : uint64_t{1} << granted));
            if (granted >= 0) REQUIRE(byte_of(unit->arb_idx_o, a) == granted);
            if (taken && granted >= 0) model.take(static_cast<unsigned>(granted));
            unit.clock();
          };
          step(1u << last, true);  // it was the last
          step(request, take);
          step((1u << n) - 1, false);
          REQUIRE(unit.failed() == Names{});
        }
      }
    }
  }
}

TEST_CASE("the RTL merge loses nothing, keeps the order of each input, and serves all of them", "[rtl][lib]") {
  Unit unit;
  Rng rng(1, "merge");
  std::array<std::deque<uint8_t>, 3> sent;
  std::array<uint8_t, 3> next{}, offer{};
  std::array<bool, 3> offered{};
  std::array<unsigned, 3> arrived{};
  for (unsigned cycle = 0; cycle < kCycles; ++cycle) {
    uint64_t data = 0;
    unsigned valid = 0;
    for (unsigned i = 0; i < 3; ++i) {
      if (!offered[i] && rng.chance(0.5)) {
        offered[i] = true;
        offer[i] = static_cast<uint8_t>(i << 6 | (next[i]++ & 63));
      }
      valid |= static_cast<unsigned>(offered[i]) << i;
      data |= uint64_t{offer[i]} << (8 * i);
    }
    unit->merge_valid_i = static_cast<uint8_t>(valid);
    unit->merge_data_i = static_cast<uint32_t>(data);
    unit->merge_ready_i = rng.chance(0.8);
    unit.settle();
    for (unsigned i = 0; i < 3; ++i) {
      if (offered[i] && (unit->merge_ready_o >> i & 1) != 0) {
        sent[i].push_back(offer[i]);
        offered[i] = false;
      }
    }
    if (unit->merge_valid_o && unit->merge_ready_i) {
      const unsigned from = unit->merge_data_o >> 6;
      REQUIRE(from < 3);
      REQUIRE_FALSE(sent[from].empty());
      REQUIRE(sent[from].front() == unit->merge_data_o);
      sent[from].pop_front();
      ++arrived[from];
    }
    unit.clock();
  }
  for (unsigned i = 0; i < 3; ++i) CHECK(arrived[i] > kCycles / 5);
  CHECK(unit.failed() == Names{});
}

TEST_CASE("an RTL output register that is loaded while nobody has taken its word fails an assertion",
          "[rtl][lib][assertions]") {
  Unit unit;
  OutReg<uint8_t> model;
  Rng rng(1, "reg");
  for (unsigned cycle = 0; cycle < 1000; ++cycle) {
    const bool ready = rng.chance(0.5), load = model.free(ready) && rng.chance(0.5);
    const auto data = static_cast<uint8_t>(rng.next());
    unit->reg_ready_i = ready;
    unit->reg_load_i = load;
    unit->reg_data_i = data;
    unit.settle();
    REQUIRE(unit->reg_free_o == model.free(ready));
    REQUIRE(unit->reg_valid_o == model.valid());
    if (model.valid()) REQUIRE(unit->reg_data_o == model.data());
    if (load) model.load(data);
    model.clock(ready);
    unit.clock();
  }
  CHECK(unit.failed() == Names{});
  unit->reg_load_i = 1;
  unit->reg_ready_i = 1;
  unit.clock();
  CHECK(unit.failed() == Names{});
  unit->reg_ready_i = 0;
  unit.clock();
  CHECK(unit.failed() == Names{"LoadsWhenFree"});
}

TEST_CASE("an offer that goes or changes before it is taken fails an assertion", "[rtl][lib][assertions]") {
  Unit unit;
  const auto cycle = [&](bool valid, bool ready, unsigned data) {
    unit->held_valid_i = valid;
    unit->held_ready_i = ready;
    unit->held_data_i = static_cast<uint8_t>(data);
    unit.clock();
    return unit.failed();
  };
  CHECK(cycle(true, false, 1) == Names{});
  CHECK(cycle(true, false, 1) == Names{});
  CHECK(cycle(true, true, 1) == Names{});
  CHECK(cycle(true, true, 2) == Names{});
  CHECK(cycle(false, false, 3) == Names{});
  CHECK(cycle(true, false, 4) == Names{});
  CHECK(cycle(true, true, 5) == Names{"Held"});  // changed
  CHECK(cycle(true, false, 6) == Names{});
  CHECK(cycle(false, false, 6) == Names{"Held"});  // gone
  unit->rst_ni = 0;
  CHECK(cycle(true, false, 7) == Names{});  // nothing holds in reset
  CHECK(cycle(false, false, 7) == Names{});
}

TEST_CASE("the RTL's CRC steps as the bytes one by one, for each number of bytes", "[rtl][lib]") {
  Unit unit;
  Rng rng(1, "crc");
  constexpr std::array<unsigned, 3> kBytes{16, 32, 96};
  std::array<uint8_t, 96> data{};
  const auto check = [&](unsigned which, unsigned length, uint32_t reg) {
    // A shorter message is aligned to the end; the old register is XORed into its first four bytes.
    std::array<uint8_t, 96> padded{};
    for (unsigned i = 0; i < length; ++i) {
      padded[kBytes[which] - length + i] =
          static_cast<uint8_t>(data[i] ^ (i < 4 ? static_cast<uint8_t>(reg >> (8 * i)) : 0));
    }
    std::memcpy(&unit->crc_data_i[0], padded.data(), padded.size());
    unit->crc_en_i = static_cast<uint8_t>(1u << which);
    unit.settle();
    REQUIRE(unit->crc_o[which] == icrc_bytes(reg, data.data(), length));
    REQUIRE(unit->crc_o[(which + 1) % 3] == 0);
  };
  for (unsigned which = 0; which < 3; ++which) {
    for (unsigned bit = 0; bit < 8 * kBytes[which]; ++bit) {  // every column of the masks
      data.fill(0);
      data[bit / 8] = static_cast<uint8_t>(1u << (bit % 8));
      check(which, kBytes[which], 0);
    }
    for (unsigned length = 4; length <= kBytes[which]; ++length) {
      for (uint8_t& byte : data) byte = static_cast<uint8_t>(rng.next());
      check(which, length, static_cast<uint32_t>(corner(rng, 32)));
    }
  }
}

}  // namespace mrc::test::lib_test
