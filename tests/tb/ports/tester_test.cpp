// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tb/ports/ports_tester.hpp"

namespace mrc::test::tester {
namespace {
using namespace tb;
using Catch::Matchers::ContainsSubstring;

constexpr Time kUs = 1'000'000, kUntil = 1000 * kUs;

/// A NIC without ports that is behind the clock when it is first asked at kUntil or later, and catches up, or not.
class Laggard final : public NicDevice {
 public:
  explicit Laggard(bool catches_up) : catches_up_(catches_up) {}
  DeviceInfo open(const OpenRequest&) override { return {}; }
  void address(uint64_t, const log::Ip&) override {}
  QpConfig qp_now(uint32_t) const override { return {}; }
  bool qp(const QpConfig&) override { return true; }
  std::pair<log::QpState, Time> query(uint32_t) override { return {}; }
  bool mr(const log::Mr&) override { return true; }
  bool post(const log::Post&) override { return true; }
  void recv(uint32_t, uint32_t) override {}
  void port(unsigned, bool, Time) override {}
  bool ev(uint32_t, uint32_t, bool) override { return true; }
  bool mpr(uint32_t, unsigned) override { return true; }
  void rx(unsigned, Time, std::span<const uint8_t>, bool) override {}
  void memory(bool) override {}
  void host_done(uint64_t, Time, std::span<const uint8_t>, uint32_t) override {}
  Advanced advance(Time until, Time) override {
    if (until < kUntil) return {until, {}};
    if (++requested_ == 1 || !catches_up_) return {kUntil - kUs, {}};
    if (requested_ > 2) return {until, {}};
    return {until, {{kUntil - kUs / 2, HostWrite{7, {}}}}};
  }
  Counters counters() override { return {}; }

 private:
  bool catches_up_;
  unsigned requested_ = 0;
};

PortsTester tester_of(bool catches_up, Time jitter) {
  PortsTester tester(std::make_unique<Laggard>(catches_up), std::make_unique<PacketPorts>(std::vector<std::string>{}),
                     WallTime{20, jitter});
  tester.open({});
  return tester;
}

TEST_CASE("what a NIC does late, yet before the end of a wait, is heard before that end is told", "[ports]") {
  PortsTester tester = tester_of(true, 10 * kUntil);
  const Advanced ran = tester.advance(kUntil, 0);
  REQUIRE(ran.out.size() == 1);
  CHECK(ran.out[0].time == kUntil - kUs / 2);
  CHECK(std::get<HostWrite>(ran.out[0].body).addr == 7);
  CHECK(ran.reached < kUntil);
  const Advanced rest = tester.advance(kUntil, 0);
  CHECK(rest.out.empty());
  CHECK(rest.reached == kUntil);
}

TEST_CASE("a NIC that is further behind than its process promises breaks the test bed, it has not failed", "[ports]") {
  PortsTester tester = tester_of(false, 100 * kUs);
  CHECK_THROWS_WITH(tester.advance(kUntil, 0), ContainsSubstring("the test bed is broken: the NIC's process was ") &&
                                                   ContainsSubstring("us behind, and promises 100.0."));
}

}  // namespace
}  // namespace mrc::test::tester
