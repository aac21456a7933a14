// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/driver.hpp"

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "gen/csr.hpp"

namespace mrc::test::driver_test {

using namespace mrc::tb;

namespace {

constexpr uint32_t kBusy = 1u << 31;
constexpr uint32_t kOrder = 2u << 24 | 7;  // row 7 of table 2

/// Registers that answer at once, and what they were asked.
struct Bus {
  Driver driver{Rng(1, "bus")};
  std::vector<std::string> requested;
  std::vector<std::string> reported;
  std::function<unsigned(uint16_t at)> write_resp = [](uint16_t) { return 0; };
  std::function<std::pair<uint32_t, unsigned>()> status = [] { return std::pair{0u, 0u}; };

  Driver::Done report(std::string name) {
    return [this, name](uint32_t, unsigned resp) { reported.push_back(fmt::format("{} {}", name, resp)); };
  }
  void run(unsigned cycles) {
    mrc_pins_in in{};
    mrc_pins_out out{};
    out.awready = out.wready = out.arready = 1;
    for (unsigned i = 0; i < cycles; ++i) {
      if (driver.idle()) return;
      driver.cycle(out, in);
      const bool wrote = in.awvalid && out.awready, read = in.arvalid && out.arready;
      if (out.bvalid && in.bready) out.bvalid = 0;
      if (out.rvalid && in.rready) out.rvalid = 0;
      if (wrote) {
        requested.push_back(fmt::format("write {:x} {:x}", in.awaddr, in.wdata));
        out.bvalid = 1;
        out.bresp = static_cast<uint8_t>(write_resp(in.awaddr));
      }
      if (read) {
        requested.push_back(fmt::format("read {:x}", in.araddr));
        const auto [data, resp] = status();
        out.rvalid = 1;
        out.rdata = data;
        out.rresp = static_cast<uint8_t>(resp);
      }
    }
  }
};

const std::vector<uint32_t> kRow = {5, 6};

}  // namespace

TEST_CASE("a row is written, ordered, and over when CMD_STATUS says so", "[tb][driver]") {
  Bus b;
  unsigned polls = 0;
  b.status = [&] { return std::pair{++polls < 4 ? kBusy : 0, 0u}; };
  b.driver.row(2, 7, kRow, b.report("row"));
  b.driver.read(csr::kId, b.report("read"));
  b.run(100);
  const std::vector<std::string> requested = {"write 80 5", "write 84 6", "write 70 2000007", "read cc",
                                              "read cc",    "read cc",    "read cc",          "read 0"};
  CHECK(b.requested == requested);
  CHECK(b.reported == std::vector<std::string>{"row 0", "read 0"});
  CHECK(b.driver.idle());
  CHECK(b.driver.unexpected() == 0);
  b.requested.clear();
  b.driver.row(2, 7, std::vector<uint32_t>{5, 8});
  b.run(100);
  CHECK(b.requested == std::vector<std::string>{"write 84 8", "write 70 2000007", "read cc"});  // word 0 is there
}

TEST_CASE("a command that never ends keeps the driver at it", "[tb][driver]") {
  Bus b;
  b.status = [] { return std::pair{kBusy | 1, 0u}; };
  b.driver.row(2, 7, kRow, b.report("row"));
  b.run(1000);
  CHECK_FALSE(b.driver.idle());
  CHECK(b.reported.empty());
  CHECK(b.requested.size() > 400);
}

TEST_CASE("whoever wants a row hears when it is refused, and nobody else's refusal is expected", "[tb][driver]") {
  Bus b;
  const auto outcome = [&] {
    b.reported.clear();
    b.driver.row(2, 7, kRow, b.report("row"));
    b.run(100);
    REQUIRE(b.reported.size() == 1);
    return b.reported[0];
  };
  b.status = [] { return std::pair{3u | 4u << 16, 0u}; };  // BadValue
  CHECK(outcome() == "row 2");
  b.status = [] { return std::pair{0u, 0u}; };
  CHECK(outcome() == "row 0");
  b.status = [] { return std::pair{kBusy, 2u}; };  // CMD_STATUS cannot be read
  CHECK(outcome() == "row 2");
  b.status = [] { return std::pair{0u, 0u}; };
  b.write_resp = [](uint16_t at) { return at == csr::kTblCmd ? 2 : 0; };  // TBL_CMD is not taken
  CHECK(outcome() == "row 2");
  b.write_resp = [](uint16_t) { return 0; };
  CHECK(outcome() == "row 0");
  CHECK(b.driver.unexpected() == 0);
  b.status = [] { return std::pair{1u, 0u}; };
  b.driver.row(2, 7, kRow);
  b.run(100);
  CHECK(b.driver.unexpected() == 1);
}

TEST_CASE("what is queued between the two halves of a row finds its command under way", "[tb][driver]") {
  Bus b;
  b.driver.begin_row(2, 7, std::span(kRow).first(1));
  b.write_resp = [&](uint16_t at) { return at == csr::kTblCmd && b.requested.size() > 2 ? 2 : 0; };
  b.driver.before_next([&] { b.reported.emplace_back("next"); });
  b.driver.write(csr::kTblCmd, kOrder, b.report("again"));
  b.driver.end_row(b.report("row"));
  b.run(100);
  CHECK(b.requested == std::vector<std::string>{"write 80 5", "write 70 2000007", "write 70 2000007", "read cc"});
  CHECK(b.reported == std::vector<std::string>{"next", "again 2", "row 0"});
}

}  // namespace mrc::test::driver_test
