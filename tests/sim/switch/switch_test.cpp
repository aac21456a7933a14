// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/sim/box.hpp"

namespace mrc::test::switch_test {

using namespace mrc::sim;

namespace {
constexpr uint8_t kData = wire::kDscpTrimmable, kRetx = wire::kDscpTrimmableRetx, kControl = wire::kDscpControl,
                  kNoTrim = wire::kDscpNoTrim, kTrimmed = wire::kDscpTrimmed, kLasthop = wire::kDscpTrimmedLasthop;

/// Everything is immediate: no latency, no fibre. 100 Gb/s: 80 ps a byte.
SwitchConfig plain() {
  SwitchConfig config = SwitchConfig::recommended("sw", 1 << 20);
  config.latency = 0;
  return config;
}
constexpr LinkConfig kShort{.gbps = 100, .metres = 0};
}  // namespace

TEST_CASE("a packet takes the time of its bytes twice, fibre, FEC, ports and switch", "[sim][switch]") {
  SwitchConfig config = plain();
  config.latency = 300 * kNs;
  config.port_latency = 20 * kNs;
  Star star(2, config, {.gbps = 100, .metres = 10, .fec = 50 * kNs});
  star[0].send(1, 1000, kData);
  star.fabric.run(kMs);
  REQUIRE(star[1].got.size() == 1);
  // Frame 1000 + FCS 4 + preamble 8 = 1012 bytes of 80 ps, twice; fibre 50 ns and FEC 50 ns, twice; switch 300 ns,
  // its two ports 20 ns each.
  CHECK(star[1].got[0].time == 2 * 1012 * 80 + 2 * 100 * kNs + 300 * kNs + 2 * 20 * kNs);
  CHECK(star[1].got[0].packet.hop_limit == 63);
  CHECK_FALSE(star[1].got[0].packet.trimmed);
}

TEST_CASE("cut-through decides after 64 bytes, unless the way in is slower than a way out", "[sim][switch]") {
  SwitchConfig config = plain();
  config.cut_through = true;
  Star star(3, config, kShort);
  const bool slow = GENERATE(false, true);
  if (slow) CHECK_FALSE(star.fabric.set_rate(0, 50));
  star[0].send(1, 1000, kData);
  star.fabric.run(kMs);
  REQUIRE(star[1].got.size() == 1);
  // 8 + 64 bytes in, then 1012 out; or 1012 bytes of 160 ps in.
  CHECK(star[1].got[0].time == (slow ? 1012 * 160 + 1012 * 80 : (72 + 1012) * 80));
}

TEST_CASE("packets behind each other leave without a gap between them but the Ethernet one", "[sim][switch]") {
  Star star(2, plain(), kShort);
  for (unsigned i = 0; i < 5; ++i) star[0].send(1, 20, kData).psn = i;  // padded to 64
  star.fabric.run(kMs);
  REQUIRE(star[1].got.size() == 5);
  for (unsigned i = 0; i < 5; ++i) {
    CHECK(star[1].got[i].packet.psn == i);
    CHECK(star[1].got[i].time == (2 * 72 + 84 * i) * 80);
  }
}

TEST_CASE("control overtakes retransmissions, these overtake data", "[sim][switch]") {
  Star star(4, plain(), kShort);
  for (unsigned i = 0; i < 4; ++i) star[0].send(3, 4000, kData);
  star[1].send(3, 4000, kRetx);
  star[1].send(3, 4000, kRetx);
  star[2].send(3, 9000, kControl);  // comes when the retransmission goes
  star.fabric.run(kMs);
  // The first data and the first retransmission come in at the same time, and host 0's port is first: data goes.
  std::vector<uint8_t> order;
  for (const Got& got : star[3].got) order.push_back(got.packet.dscp);
  CHECK(order == std::vector<uint8_t>{kData, kRetx, kControl, kRetx, kData, kData, kData});
}

TEST_CASE("a full queue trims, at the size and with the code point of the port", "[sim][trim]") {
  const unsigned size = GENERATE(128u, 206u, 256u, 60u);
  const bool asymmetric = GENERATE(false, true);
  SwitchConfig config = plain();
  config.trim_size = size;
  if (!asymmetric) config.to_host.trimmed_dscp = kTrimmed;
  // Room for one packet behind the one in transmission.
  config.to_host.queue[kQueueData].limit_bytes = 4000;
  Star star(3, config, kShort);
  for (const unsigned from : {0u, 1u}) {
    star[from].send(2, 4000, kData).psn = 10 * from;
    star[from].send(2, 4000, kData).psn = 10 * from + 1;
  }
  star.fabric.run(kMs);
  // 0 goes out, 10 waits; then 1 comes as 0 is finished and 10 goes out, so it waits; 11 is trimmed.
  REQUIRE(star[2].got.size() == 4);
  std::vector<uint32_t> order;
  for (const Got& got : star[2].got) order.push_back(got.packet.psn);
  CHECK(order == std::vector<uint32_t>{0, 10, 11, 1});
  const Packet& trimmed = star[2].got[2].packet;
  CHECK(trimmed.size == size);
  CHECK(trimmed.dscp == (asymmetric ? kLasthop : kTrimmed));
  CHECK(trimmed.trimmed);
  CHECK(trimmed.ecn == 2);
  const auto queue = star.sw().queue_counter_list(2, kQueueData);
  CHECK(value(queue, "SAI_QUEUE_STAT_TRIM_PACKETS") == 1);
  CHECK(value(queue, "SAI_QUEUE_STAT_TX_TRIM_PACKETS") == 1);
  CHECK(value(queue, "SAI_QUEUE_STAT_DROPPED_TRIM_PACKETS") == 0);
  CHECK(value(queue, "SAI_QUEUE_STAT_DROPPED_PACKETS") == 1);
  CHECK(value(queue, "SAI_QUEUE_STAT_DROPPED_BYTES") == 4000);
  CHECK(value(queue, "SAI_QUEUE_STAT_PACKETS") == 3);
  CHECK(value(queue, "SAI_QUEUE_STAT_BYTES") == 12'000);
  CHECK(value(queue, "SAI_QUEUE_STAT_WATERMARK_BYTES") == 4000);
  CHECK(value(queue, "SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES") == 0);
  CHECK(value(star.sw().queue_counter_list(2, kQueueControl), "SAI_QUEUE_STAT_PACKETS") == 1);
  const auto port = star.sw().port_counters(2);
  CHECK(value(port, "SAI_PORT_STAT_TRIM_PACKETS") == 1);
  CHECK(value(port, "SAI_PORT_STAT_TX_TRIM_PACKETS") == 1);
  CHECK(value(port, "SAI_PORT_STAT_DROPPED_TRIM_PACKETS") == 0);
  CHECK(value(port, "SAI_PORT_STAT_IF_OUT_UCAST_PKTS") == 4);
  CHECK(value(port, "SAI_PORT_STAT_IF_OUT_OCTETS") == 12'000 + size);
  CHECK(value(port, "SAI_PORT_STAT_IF_OUT_DISCARDS") == 1);
  CHECK(value(star.sw().port_counters(0), "SAI_PORT_STAT_IF_IN_UCAST_PKTS") == 2);
  CHECK(value(star.sw().port_counters(0), "SAI_PORT_STAT_IF_IN_OCTETS") == 8000);
  CHECK(value(star.sw().switch_counters(), "SAI_SWITCH_STAT_TX_TRIM_PACKETS") == 1);
  CHECK(star.sw().buffer().used == 0);
}

TEST_CASE("towards a switch the code point is TRIMMED, and the next hop does not trim again", "[sim][trim]") {
  Fabric fabric;
  std::vector<Box*> box;
  for (unsigned n = 0; n < 3; ++n) {
    auto b = std::make_unique<Box>();
    box.push_back(b.get());
    (void)fabric.add_endpoint("b" + std::to_string(n), std::move(b), 1);
  }
  SwitchConfig config = plain();
  config.to_switch.queue[kQueueData].limit_bytes = 4000;
  const NodeId first = *fabric.add_switch(config, 3), second = *fabric.add_switch(config, 2);
  (void)fabric.connect({0, 0}, {first, 0}, kShort);
  (void)fabric.connect({1, 0}, {first, 1}, kShort);
  (void)fabric.connect({first, 2}, {second, 0}, kShort);
  (void)fabric.connect({second, 1}, {2, 0}, kShort);
  fabric.switch_at(first)->add_host_route(2, {2});
  fabric.switch_at(second)->add_host_route(2, {1});
  for (const unsigned from : {0u, 1u, 0u, 1u}) box[from]->send(2, 4000, kData);
  fabric.run(kMs);
  REQUIRE(box[2]->got.size() == 4);
  CHECK(box[2]->got[2].packet.dscp == kTrimmed);
  CHECK(value(fabric.switch_at(second)->switch_counters(), "SAI_SWITCH_STAT_TX_TRIM_PACKETS") == 0);
}

TEST_CASE("what must not be trimmed is dropped", "[sim][trim]") {
  SwitchConfig config = plain();
  uint8_t dscp = kNoTrim;
  SECTION("code point NO_TRIM") {}
  SECTION("a queue that drops") {
    dscp = kData;
    config.to_host.queue[kQueueData].trim = false;
  }
  SECTION("an exempted class") {
    dscp = kData;
    config.trimmable &= ~(uint64_t{1} << kData);
  }
  config.to_host.queue[kQueueData].limit_bytes = 4000;
  Star star(3, config, kShort);
  for (const unsigned from : {0u, 1u, 0u, 1u}) star[from].send(2, 4000, dscp);
  star.fabric.run(kMs);
  CHECK(star[2].got.size() == 3);
  const QueueCounters& counters = star.sw().queue_counters(2, kQueueData);
  CHECK(counters.dropped_packets == 1);
  CHECK(counters.trim == 0);
  CHECK(counters.tx_trim == 0);
  CHECK(star.fabric.pool().live() == 0);
}

TEST_CASE("a trimmed packet that finds the trim queue full is dropped, and so is one that comes in trimmed",
          "[sim][trim]") {
  SwitchConfig config = plain();
  config.to_host.queue[kQueueData].limit_bytes = 0;
  config.to_host.queue[kQueueControl].limit_bytes = 128;
  Star star(4, config, kShort);
  star[0].send(3, 4000, kControl);  // too long for its queue
  star[1].send(3, 4000, kData);     // trimmed, goes out at once
  star[2].send(3, 4000, kData);     // trimmed, waits
  star[0].send(3, 128, kTrimmed);   // comes when the queue is empty again
  star.fabric.run(kMs);
  CHECK(star[3].got.size() == 3);
  CHECK(star.sw().queue_counters(3, kQueueControl).dropped_packets == 1);
  CHECK(star.sw().queue_counters(3, kQueueControl).trim == 0);
  Star full(5, config, kShort);
  for (unsigned n = 0; n < 3; ++n) full[n].send(4, 4000, kData);
  full[3].send(4, 3990, kTrimmed);  // comes just before, too long
  full.fabric.run(kMs);
  const QueueCounters& counters = full.sw().queue_counters(4, kQueueData);
  CHECK(full[4].got.size() == 2);
  CHECK(counters.trim == 3);
  CHECK(counters.tx_trim == 2);
  CHECK(counters.dropped_trim == 1);
  CHECK(counters.dropped_packets == 3);
  CHECK(full.sw().queue_counters(4, kQueueControl).dropped_packets == 1);
  CHECK(full.fabric.pool().live() == 0);
}

TEST_CASE("retransmissions have a queue and a limit of their own", "[sim][trim]") {
  SwitchConfig config = plain();
  config.to_host.queue[kQueueData].limit_bytes = 0;
  config.to_host.queue[kQueueRetx].limit_bytes = 8000;
  Star star(3, config, kShort);
  star[0].send(2, 4000, kRetx);
  star[1].send(2, 4000, kRetx);
  star[1].send(2, 4000, kData);
  star.fabric.run(kMs);
  CHECK(star.sw().queue_counters(2, kQueueRetx).packets == 2);
  CHECK(star.sw().queue_counters(2, kQueueRetx).trim == 0);
  CHECK(star.sw().queue_counters(2, kQueueData).trim == 1);
}

TEST_CASE("a full buffer stops every queue of the switch, until a packet leaves", "[sim][switch]") {
  SwitchConfig config = plain();
  config.buffer_bytes = 8000;
  config.to_host.queue[kQueueData].trim = false;
  Star star(6, config, kShort);
  // 3 packets each to hosts 4 and 5: the first of each is in transmission, two fit, two do not.
  for (const unsigned from : {0u, 1u, 2u}) star[from].send(4, 4000, kData);
  star[3].send(5, 4000, kData);
  star[4].send(5, 4000, kData);
  star.fabric.run(kMs);
  // In order of ports: 0 goes, 1 waits, 2 waits, 3 goes (through the buffer, which is full): dropped. 4 likewise.
  CHECK(star[4].got.size() == 3);
  CHECK(star[5].got.empty());
  CHECK(star.sw().queue_counters(5, kQueueData).dropped_packets == 2);
  CHECK(star.sw().buffer().watermark == 8000);
  CHECK(value(star.sw().switch_counters(), "SAI_BUFFER_POOL_STAT_WATERMARK_BYTES") == 8000);
  CHECK(value(star.sw().switch_counters(), "SAI_BUFFER_POOL_STAT_CURR_OCCUPANCY_BYTES") == 0);
}

TEST_CASE("queues to switches mark, queues to hosts do not; trimmed packets are never marked", "[sim][ecn]") {
  SwitchConfig config = SwitchConfig::recommended("sw", 20'000);
  config.latency = 0;
  CHECK(config.to_switch.queue[kQueueData].ecn.min_bytes == 4'000);
  CHECK(config.to_switch.queue[kQueueData].ecn.max_bytes == 16'000);
  CHECK(config.to_switch.queue[kQueueData].limit_bytes == 20'000);
  CHECK(config.to_switch.queue[kQueueRetx].limit_bytes == 30'000);
  CHECK(config.to_host.queue[kQueueData].ecn.mode == EcnConfig::Mode::Off);
  const bool everywhere = GENERATE(false, true);
  if (everywhere) {
    for (QueueConfig& queue : config.to_host.queue) queue.ecn = {.mode = EcnConfig::Mode::Step, .min_bytes = 4'000};
  }
  Star star(4, config, kShort);
  for (unsigned i = 0; i < 10; ++i) {
    for (unsigned n = 0; n < 3; ++n) star[n].send(3, 1'000, n == 2 ? kNoTrim : kData);
    star[2].send(3, 4'100, kTrimmed);
  }
  star.fabric.run(kMs);
  unsigned marked = 0, trimmed_marked = 0;
  for (const Got& got : star[3].got) {
    marked += got.packet.ecn == 3;
    trimmed_marked += got.packet.ecn == 3 && (got.packet.dscp == kTrimmed || got.packet.dscp == kLasthop);
  }
  CHECK((marked > 0) == everywhere);
  CHECK(trimmed_marked == 0);
  CHECK(star.sw().queue_counters(3, kQueueData).ecn_marked >= marked);
  CHECK((value(star.sw().port_counters(3), "SAI_PORT_STAT_ECN_MARKED_PACKETS") > 0) == everywhere);
}

TEST_CASE("packets that are not ECN-capable are not marked", "[sim][ecn]") {
  SwitchConfig config = plain();
  config.to_host.queue[kQueueData].ecn = {.mode = EcnConfig::Mode::Step, .min_bytes = 0};
  Star star(2, config, kShort);
  for (uint8_t ecn = 0; ecn < 4; ++ecn) star[0].send(1, 1000, kData).ecn = ecn & 3;
  star.fabric.run(kMs);
  REQUIRE(star[1].got.size() == 4);
  CHECK(star[1].got[0].packet.ecn == 0);
  for (unsigned i = 1; i < 4; ++i) CHECK(star[1].got[i].packet.ecn == 3);
  CHECK(star.sw().queue_counters(1, kQueueData).ecn_marked == 2);
}

TEST_CASE("what has no way on is discarded where it came in", "[sim][switch]") {
  Star star(2, plain(), kShort);
  star[0].send(7, 1000, kData);
  star[0].send(1, 1000, kData).hop_limit = 1;
  star[0].send(1, 1000, kData);
  star.fabric.run(kMs);
  CHECK(star[1].got.size() == 1);
  CHECK(value(star.sw().port_counters(0), "SAI_PORT_STAT_IF_IN_DISCARDS") == 2);
  CHECK(star.fabric.pool().live() == 0);
}

TEST_CASE("a frame goes through two switches byte by byte as it should", "[sim][switch][bytes]") {
  // T0 is uN 0100, T1 0200; the downlink is 0300 there.
  Fabric fabric;
  auto a = std::make_unique<Box>(), b = std::make_unique<Box>();
  Box &from = *a, &to = *b;
  (void)fabric.add_endpoint("a", std::move(a), 1);
  (void)fabric.add_endpoint("b", std::move(b), 1);
  SwitchConfig config = plain();
  config.usid_block = 0x20011000;
  config.usid = 0x0100;
  const NodeId t0 = *fabric.add_switch(config, 2);
  config.usid = 0x0200;
  const NodeId t1 = *fabric.add_switch(config, 2);
  (void)fabric.connect({0, 0}, {t0, 0}, kShort);
  (void)fabric.connect({t0, 1}, {t1, 0}, kShort);
  (void)fabric.connect({t1, 1}, {1, 0}, kShort);
  fabric.switch_at(t0)->add_route(0x0200, 1);
  const bool adjacency = GENERATE(false, true);
  if (adjacency)
    fabric.switch_at(t1)->add_adjacency_sid(0x0300, 1);
  else
    fabric.switch_at(t1)->add_route(0x0300, 1);
  const std::vector<uint8_t> frame =
      write_frame(wire::Encapsulation::Srv6, 512, kData, {0x20, 0x01, 0x10, 0x00, 1, 0, 2, 0, 3, 0, 4, 0});
  from.send(fabric.pool().from_frame(frame));
  fabric.run(kMs);
  REQUIRE(to.got.size() == 1);
  std::vector<uint8_t> expected = frame;
  expected[21] = 62;  // two hops
  const std::vector<uint8_t> rest =
      adjacency ? std::vector<uint8_t>{4, 0, 0, 0, 0, 0, 0, 0} : std::vector<uint8_t>{3, 0, 4, 0, 0, 0, 0, 0};
  std::copy(rest.begin(), rest.end(), expected.begin() + 42);
  CHECK(to.got[0].bytes == expected);
  const wire::Packet w = wire::decode(to.got[0].bytes);
  CHECK_FALSE(w.error);
  CHECK(w.icrc->ok);
}

TEST_CASE("a marked and a trimmed frame are byte for byte as they should be", "[sim][switch][bytes]") {
  SwitchConfig config = plain();
  config.trim_size = 128;
  config.trim_lengths = GENERATE(false, true);
  config.to_host.queue[kQueueData].limit_bytes = 3000;
  config.to_host.queue[kQueueData].ecn = {.mode = EcnConfig::Mode::Step, .min_bytes = 0};
  Star star(2, config, kShort);
  const std::vector<uint8_t> small = write_frame(wire::Encapsulation::Ipv6, 1024),
                             large = write_frame(wire::Encapsulation::Ipv6, 4096);
  star[0].send(star.fabric.pool().from_frame(small));
  star[0].send(star.fabric.pool().from_frame(large));
  star.fabric.run(kMs);
  REQUIRE(star[1].got.size() == 2);
  // IPv6 traffic class (DSCP 4, ECT(0): 0x12) lies in bytes 14 and 15: 0x61 0x2.; hop limit is byte 21.
  std::vector<uint8_t> expected = small;
  REQUIRE(expected[14] == 0x61);
  REQUIRE((expected[15] & 0xf0) == 0x20);
  expected[15] = static_cast<uint8_t>((expected[15] & 0x0f) | 0x30);
  expected[21] = 63;
  CHECK(star[1].got[0].bytes == expected);
  // TRIMMED_LASTHOP 16, ECT(0): 0x42; the length stays, or becomes 128 - 54 = 74.
  expected.assign(large.begin(), large.begin() + 128);
  expected[14] = 0x64;
  expected[15] = static_cast<uint8_t>((expected[15] & 0x0f) | 0x20);
  if (config.trim_lengths) {
    expected[18] = 0;
    expected[19] = 74;
  }
  expected[21] = 63;
  CHECK(star[1].got[1].bytes == expected);
}

TEST_CASE("settings that cannot work are refused with their reason", "[sim][config]") {
  SwitchConfig config = plain();
  const auto why = [&] {
    Fabric fabric;
    const auto result = fabric.add_switch(config, 4);
    return result ? std::string() : result.error().what;
  };
  CHECK(why().empty());
  SECTION("trim size") {
    config.trim_size = 59;
    CHECK(why() == "trim size 59 is not between 60 and 9216 bytes");
  }
  SECTION("trim queue") {
    config.trim_queue = 8;
    CHECK(why() == "trim queue 8 does not exist, there are 8 queues");
  }
  SECTION("queue of a code point") {
    config.queue_of_dscp[9] = 9;
    CHECK(why() == "code point 9 goes to queue 9, there are 8 queues");
  }
  SECTION("RED") {
    config.to_switch.queue[2].ecn = {.mode = EcnConfig::Mode::Red, .min_bytes = 5, .max_bytes = 5};
    CHECK(why() == "ECN's upper threshold of 5 bytes is not above the lower one of 5");
  }
  SECTION("probability") {
    config.to_switch.queue[2].ecn.probability = 1.5;
    CHECK(why() == "ECN's probability is not between 0 and 1");
  }
  SECTION("trimmed ones must not be trimmable") {
    config.to_host.trimmed_dscp = kData;
    CHECK(why() == "trimmed packets get code point 4, which may be trimmed again");
  }
  SECTION("code point") {
    config.to_host.trimmed_dscp = 64;
    CHECK(why() == "code point 64 has more than 6 bits");
  }
  SECTION("buffer") {
    config.buffer_bytes = 0;
    CHECK(why() == "the buffer has no bytes");
    config.buffer_bytes = 4'000'000'001;
    CHECK(why() == "the buffer of 4000000001 bytes has more than 4000000000");
  }
  SECTION("block") {
    config.usid_block = 0xfd000000;
    CHECK(why() == "the uSID block fd00:0000 is the one of hosts");
  }
}

}  // namespace mrc::test::switch_test
