// SPDX-License-Identifier: Apache-2.0
#include "sim/switch/queueing.hpp"

#include <catch2/catch_test_macros.hpp>

namespace mrc::test::queueing_test {

using namespace mrc::sim;

TEST_CASE("a queue takes bytes up to its limit and not one more", "[sim][admission]") {
  const SharedBuffer buffer{.total = 1 << 20};
  const QueueConfig config{.limit_bytes = 10'000};
  CHECK(admits(config, 9'000, 1'000, buffer));
  CHECK_FALSE(admits(config, 9'001, 1'000, buffer));
  CHECK(admits(config, 0, 10'000, buffer));
  CHECK_FALSE(admits(config, 0, 10'001, buffer));
}

TEST_CASE("the shared buffer takes bytes up to its size and not one more", "[sim][admission]") {
  SharedBuffer buffer{.total = 10'000, .used = 9'000};
  const QueueConfig config{.limit_bytes = 1 << 20};
  CHECK(admits(config, 0, 1'000, buffer));
  CHECK_FALSE(admits(config, 0, 1'001, buffer));
}

TEST_CASE("alpha bounds a queue by what is free", "[sim][admission]") {
  const QueueConfig config{.limit_bytes = 1 << 20, .alpha = 0.5};
  CHECK(admits(config, 2'500, 1'000, {.total = 10'000, .used = 3'000}));  // 3500 of 7000 free
  CHECK_FALSE(admits(config, 2'500, 1'001, {.total = 10'000, .used = 3'000}));
}

TEST_CASE("ECN: off, step, and RED's line", "[sim][ecn]") {
  Rng rng(1, "ecn");
  CHECK_FALSE(marks({}, 1 << 30, rng));
  const EcnConfig step{.mode = EcnConfig::Mode::Step, .min_bytes = 5'000};
  CHECK_FALSE(marks(step, 5'000, rng));
  CHECK(marks(step, 5'001, rng));
  const EcnConfig red{.mode = EcnConfig::Mode::Red, .min_bytes = 2'000, .max_bytes = 8'000, .probability = 0.5};
  const auto share = [&](uint64_t depth) {
    unsigned marked = 0;
    for (unsigned i = 0; i < 10'000; ++i) marked += marks(red, depth, rng);
    return marked;
  };
  CHECK(share(2'000) == 0);
  CHECK(share(8'001) == 10'000);
  // Middle of the line: half of 0.5. Standard deviation 43; five of them.
  const unsigned middle = share(5'000);
  CHECK((middle > 2'280 && middle < 2'720));
  const unsigned top = share(8'000);
  CHECK((top > 4'750 && top < 5'250));
}

TEST_CASE("only ECN-capable packets that are not marked yet are marked", "[sim][ecn]") {
  CHECK_FALSE(ecn_capable(0));
  CHECK(ecn_capable(1));
  CHECK(ecn_capable(2));
  CHECK_FALSE(ecn_capable(3));
}

namespace {
struct Queues {
  PacketPool pool;
  std::array<Queue, kQueues> queue{};
  PortConfig config;
  uint8_t turn = 0;
  ~Queues() {
    for (Queue& q : queue) {
      while (q.head != nullptr) Recycle{}(q.take());
    }
  }
  void put(unsigned q, unsigned size) {
    PacketPtr packet = pool.make();
    packet->size = static_cast<uint16_t>(size);
    queue[q].put(packet.release());
  }
  /// Serves one; its queue.
  unsigned serve() {
    const unsigned q = next_queue(queue, config, turn);
    if (q < kQueues) Recycle{}(queue[q].take());
    return q;
  }
};
}  // namespace

TEST_CASE("strict priority: the lowest number first", "[sim][scheduler]") {
  Queues q;
  CHECK(q.serve() == kQueues);
  q.put(2, 4000);
  q.put(2, 4000);
  q.put(1, 4000);
  CHECK(q.serve() == 1);
  q.put(0, 128);
  CHECK(q.serve() == 0);
  CHECK(q.serve() == 2);
  CHECK(q.serve() == 2);
  CHECK(q.serve() == kQueues);
}

TEST_CASE("weights share bytes, whatever the sizes of packets", "[sim][scheduler]") {
  Queues q;
  q.config.queue[0].weight = 1'000;  // a quarter for short packets
  q.config.queue[2].weight = 3'000;
  for (unsigned i = 0; i < 40'000; ++i) q.put(0, 128);
  for (unsigned i = 0; i < 2'000; ++i) q.put(2, 4'234);
  uint64_t bytes[kQueues] = {};
  for (unsigned i = 0; i < 20'000; ++i) {
    const unsigned n = next_queue(q.queue, q.config, q.turn);
    REQUIRE(q.queue[n].head != nullptr);
    bytes[n] += q.queue[n].head->size;
    Recycle{}(q.queue[n].take());
  }
  CHECK(bytes[2] > 2 * bytes[0]);
  const double ratio = static_cast<double>(bytes[2]) / static_cast<double>(bytes[0]);
  CHECK((ratio > 2.95 && ratio < 3.05));
}

TEST_CASE("a queue with a weight gets everything when it is alone, and saves nothing up", "[sim][scheduler]") {
  Queues q;
  q.config.queue[1].weight = q.config.queue[2].weight = 100;
  for (unsigned i = 0; i < 5; ++i) q.put(2, 4'000);
  for (unsigned i = 0; i < 5; ++i) CHECK(q.serve() == 2);
  CHECK(q.serve() == kQueues);
  q.put(1, 4'000);
  CHECK(q.serve() == 1);
  CHECK(q.queue[2].deficit < 4'000);
}

TEST_CASE("strict queues go before those with weights", "[sim][scheduler]") {
  Queues q;
  q.config.queue[1].weight = q.config.queue[2].weight = 4'000;
  q.put(1, 4'000);
  q.put(2, 4'000);
  q.put(3, 4'000);
  CHECK(q.serve() == 3);
  q.put(0, 64);
  CHECK(q.serve() == 0);
  CHECK(q.serve() < 3);
  CHECK(q.serve() < 3);
  CHECK(q.serve() == kQueues);
}

}  // namespace mrc::test::queueing_test
