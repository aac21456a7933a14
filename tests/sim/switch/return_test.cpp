// SPDX-License-Identifier: Apache-2.0
// Switches that send what they trim back to its sender.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/sim/box.hpp"

namespace mrc::test::return_test {

using namespace mrc::sim;

namespace {
constexpr uint8_t kData = wire::kDscpTrimmable, kControl = wire::kDscpControl, kReturned = 13;

SwitchConfig returns(bool swapped) {
  SwitchConfig config = SwitchConfig::recommended("sw", 1 << 20);
  config.latency = 0;
  config.trim_to_sender = true;
  config.return_swapped = swapped;
  config.returned_dscp = kReturned;
  config.queue_of_dscp[kReturned] = kQueueControl;
  return config;
}
constexpr LinkConfig kShort{.gbps = 100, .metres = 0};

void check_returned(const Packet& p, uint32_t psn, uint32_t sender, uint32_t receiver, bool swapped) {
  CHECK(p.psn == psn);
  CHECK(p.dscp == kReturned);
  CHECK(p.size == 128);
  CHECK(p.trimmed);
  CHECK(p.src == (swapped ? receiver : sender));
  CHECK(p.dst_host == (swapped ? sender : receiver));
}
}  // namespace

TEST_CASE("a full queue sends what it trims back to its sender, addresses as they were or exchanged",
          "[sim][switch][returned]") {
  const bool swapped = GENERATE(false, true);
  SwitchConfig config = returns(swapped);
  config.to_host.queue[kQueueData].limit_bytes = 4000;  // one packet behind the one in transmission
  Star star(3, config, kShort);
  for (const unsigned from : {0u, 1u}) {
    star[from].send(2, 4000, kData).psn = 10 * from;
    star[from].send(2, 4000, kData).psn = 10 * from + 1;
  }
  star.fabric.run(kMs);
  CHECK(star[2].got.size() == 3);
  CHECK(star[0].got.empty());
  REQUIRE(star[1].got.size() == 1);
  check_returned(star[1].got[0].packet, 11, 1, 2, swapped);
  const QueueCounters c = star.sw().queue_counters(2, kQueueData);
  CHECK(c.dropped_packets == 1);
  CHECK(c.trim == 1);
  CHECK(c.tx_trim == 1);
  CHECK(star.sw().queue_counters(1, kQueueControl).packets == 1);
  CHECK(star.sw().buffer().used == 0);
}

TEST_CASE("a dead link's packets go back to their senders, what waits for it too; control is lost",
          "[sim][switch][returned]") {
  const bool swapped = GENERATE(false, true);
  Star star(3, returns(swapped), kShort);
  for (uint32_t i = 0; i < 4; ++i) star[0].send(2, 4000, kData).psn = i;
  for (uint32_t i = 10; i < 12; ++i) star[1].send(2, 4000, kData).psn = i;
  // 0 and 10 come in after 4012 bytes of 80 ps, 321 ns. Then 0 goes out and 10 waits, and the link dies.
  star.fabric.run(330 * kNs);
  star.fabric.set_link(2, false);
  star[0].send(2, 100, kControl);
  star.fabric.run(kMs);
  CHECK(star[2].got.empty());
  // 0 was on the link.
  REQUIRE(star[0].got.size() == 3);
  for (uint32_t i = 0; i < 3; ++i) check_returned(star[0].got[i].packet, 1 + i, 0, 2, swapped);
  REQUIRE(star[1].got.size() == 2);
  for (uint32_t i = 0; i < 2; ++i) check_returned(star[1].got[i].packet, 10 + i, 1, 2, swapped);
  CHECK(star.sw().queue_counters(2, kQueueData).tx_trim == 5);
  CHECK(star.fabric.stats(2, false).lost == 1);
  CHECK(value(star.sw().port_counters(2), "SAI_PORT_STAT_IF_OUT_DISCARDS") == 6);
  CHECK(star.sw().buffer().used == 0);
}

TEST_CASE("a switch that is rebooted sends nothing back, and one without a way to the sender drops",
          "[sim][switch][returned]") {
  Star star(3, returns(false), kShort);
  for (uint32_t i = 0; i < 4; ++i) star[0].send(2, 4000, kData).psn = i;
  star[1].send(2, 4000, kData).psn = 10;
  star.fabric.run(330 * kNs);
  REQUIRE_FALSE(star.fabric.reboot(star.node, 10 * kUs));
  star.fabric.run(kMs);
  CHECK(star[0].got.empty());
  CHECK(star[1].got.empty());

  Star other(3, returns(false), kShort);
  other[0].send(2, 4000, kData);
  other.fabric.run(100 * kNs);
  other.fabric.set_link(2, false);
  other.fabric.switch_at(other.node)->add_host_route(0, {});
  other.fabric.run(kMs);
  CHECK(other[0].got.empty());
  CHECK(other.sw().queue_counters(2, kQueueData).dropped_trim == 1);
}

TEST_CASE("a returned frame is byte for byte as it should be", "[sim][switch][returned][bytes]") {
  const bool swapped = GENERATE(false, true);
  Star star(2, returns(swapped), kShort);
  std::vector<uint8_t> frame = write_frame(wire::Encapsulation::Ipv6, 4096);
  star[0].send(star.fabric.pool().from_frame(frame));
  star.fabric.run(100 * kNs);
  star.fabric.set_link(1, false);
  star.fabric.run(kMs);
  REQUIRE(star[0].got.size() == 1);
  // Code point 13, ECT(0): 0x36. Source at 22, destination at 38.
  frame.resize(128);
  frame[14] = 0x63;
  frame[15] = static_cast<uint8_t>((frame[15] & 0x0f) | 0x60);
  frame[21] = 63;
  if (swapped) std::swap_ranges(frame.begin() + 22, frame.begin() + 38, frame.begin() + 38);
  CHECK(star[0].got[0].bytes == frame);
}

TEST_CASE("a returned frame with SRv6 goes to its sender by its outer header, the inner one stays or is exchanged",
          "[sim][switch][returned][bytes]") {
  const bool swapped = GENERATE(false, true);
  SwitchConfig config = returns(swapped);
  config.usid_block = 0x20010db8;
  Star star(2, config, kShort);
  star.sw().add_route(0x77, 1);
  // 2001:db8:77::
  std::vector<uint8_t> frame = write_frame(wire::Encapsulation::Srv6, 4096, kData, {0x20, 0x01, 0x0d, 0xb8, 0, 0x77});
  star[0].send(star.fabric.pool().from_frame(frame));
  star.fabric.run(100 * kNs);
  star.fabric.set_link(1, false);
  star.fabric.run(kMs);
  REQUIRE(star[0].got.size() == 1);
  const std::vector<uint8_t>& got = star[0].got[0].bytes;
  REQUIRE(got.size() == 128);
  const auto address = [&](size_t at) {
    return std::vector<uint8_t>(got.begin() + long(at), got.begin() + long(at) + 16);
  };
  std::vector<uint8_t> sender(16), receiver(16);
  sender[0] = receiver[0] = 0xfd;
  receiver[15] = 1;
  CHECK(address(14 + 24) == sender);
  CHECK(address(14 + 40 + 8) == (swapped ? receiver : sender));
  CHECK(address(14 + 40 + 24) == (swapped ? sender : receiver));
  if (swapped) CHECK(address(14 + 8) == receiver);
  CHECK(star[0].got[0].packet.dqp == 0x123);
}

TEST_CASE("code points of returned packets that cannot work are refused", "[sim][config][returned]") {
  SwitchConfig config = returns(false);
  config.returned_dscp = kData;
  CHECK(config.check() == "returned packets get code point 4, which may be trimmed again");
  config.returned_dscp = 64;
  CHECK(config.check() == "code point 64 has more than 6 bits");
  config.trim_to_sender = false;
  CHECK(config.check().empty());
}

}  // namespace mrc::test::return_test
