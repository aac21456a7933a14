// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/event_queue.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <vector>

#include "sim/engine/shard.hpp"
#include "util/rng.hpp"

namespace mrc::test::event_queue_test {

using namespace mrc::sim;

TEST_CASE("events come in the order of time and key, whenever they were scheduled", "[sim][event_queue]") {
  EventQueue queue;
  EventQueue::Event event{};
  queue.push(5000, 7);
  queue.push(5000, 3);
  queue.push(4999, 9);
  REQUIRE(queue.pop(kNever, event));
  CHECK((event.time == 4999 && event.key == 9));
  queue.push(5000, 1);
  for (const uint32_t key : {1u, 3u, 7u}) {
    REQUIRE(queue.pop(kNever, event));
    CHECK((event.time == 5000 && event.key == key));
  }
  CHECK_FALSE(queue.pop(kNever, event));
  CHECK(queue.next() == kNever);
}

TEST_CASE("nothing is taken at or after the limit", "[sim][event_queue]") {
  EventQueue queue;
  EventQueue::Event event{};
  queue.push(100 * kUs, 1);
  CHECK_FALSE(queue.pop(100 * kUs, event));
  CHECK(queue.next() == 100 * kUs);
  queue.push(1, 2);  // earlier than one that has been looked at
  REQUIRE(queue.pop(100 * kUs, event));
  CHECK(event.key == 2);
  REQUIRE(queue.pop(100 * kUs + 1, event));
  CHECK(event.key == 1);
}

TEST_CASE("a queue agrees with a sorted map over near, far and equal times", "[sim][event_queue]") {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "queue");
    EventQueue queue;
    std::multimap<std::pair<Time, uint32_t>, int> reference;
    Time now = 0;
    EventQueue::Event event{};
    for (unsigned i = 0; i < 200'000; ++i) {
      if (rng.below(2) == 0 || reference.empty()) {
        // up to 1 ps, 4 ns, 65 us, 1 s ahead
        const Time ahead = rng.below(Time{1} << std::array<unsigned, 6>{1, 8, 12, 17, 26, 40}[rng.below(6)]);
        const auto key = static_cast<uint32_t>(rng.below(1000));
        queue.push(now + ahead, key);
        reference.insert({{now + ahead, key}, 0});
      } else if (rng.below(8) == 0) {
        const Time limit = now + rng.below(1000);
        const bool there = reference.begin()->first.first < limit;
        REQUIRE(queue.pop(limit, event) == there);
        if (there) {
          REQUIRE(std::pair(event.time, event.key) == reference.begin()->first);
          reference.erase(reference.begin());
          now = event.time;
        }
      } else {
        REQUIRE(queue.pop(kNever, event));
        REQUIRE(std::pair(event.time, event.key) == reference.begin()->first);
        reference.erase(reference.begin());
        now = event.time;
      }
    }
  }
}

TEST_CASE("all that comes before a time can be taken without order", "[sim][event_queue]") {
  Rng rng(1, "take");
  EventWheel<10> queue;
  std::multimap<std::pair<Time, uint32_t>, int> reference;
  Time limit = 0;
  for (unsigned round = 0; round < 2000; ++round) {
    for (unsigned i = 0; i < 20; ++i) {
      const Time time = limit + rng.below(Time{1} << std::array<unsigned, 5>{1, 10, 17, 25, 40}[rng.below(5)]);
      const auto key = static_cast<uint32_t>(rng.below(1000));
      queue.push(time, key);
      reference.insert({{time, key}, 0});
    }
    if (rng.below(4) == 0) CHECK(queue.next() == reference.begin()->first.first);
    limit += rng.below(40'000);
    std::multimap<std::pair<Time, uint32_t>, int> taken;
    queue.take(limit, [&](const auto& event) { taken.insert({{event.time, event.key}, 0}); });
    const auto end = reference.lower_bound({limit, 0});
    REQUIRE(std::equal(taken.begin(), taken.end(), reference.begin(), end));
    reference.erase(reference.begin(), end);
  }
}

TEST_CASE("an empty queue can begin again at an earlier time", "[sim][event_queue]") {
  EventQueue queue;
  EventQueue::Event event{};
  for (const Time start : {Time{0}, 100 * kUs, 50 * kUs, Time{1}}) {
    queue.restart(start);
    queue.push(start + kUs, 2);
    queue.push(start, 1);
    for (const uint32_t key : {1u, 2u}) {
      REQUIRE(queue.pop(kNever, event));
      CHECK((event.key == key && event.time == start + (key - 1) * kUs));
    }
    CHECK_FALSE(queue.pop(kNever, event));
  }
}

TEST_CASE("events of a window lie side by side for each node, in the order in which they were given",
          "[sim][event_queue]") {
  HugeMemory huge;
  NearEvents near(huge);
  std::vector<uint32_t> counts(100);
  Rng rng(1, "near");
  for (unsigned round = 0; round < 3; ++round) {
    std::map<NodeId, std::vector<uint32_t>> reference;
    for (uint32_t i = 0; i < 500 * round; ++i) {
      const auto node = static_cast<NodeId>(rng.below(round == 1 ? 7 : 100));
      near.add(i, i + 1, node, counts);
      reference[node].push_back(i);
    }
    near.sort(counts);
    REQUIRE(near.nodes() == reference.size());
    size_t n = 0;
    for (const auto& [node, events] : reference) {
      CHECK(near.node(n) == node);
      const auto found = near.of(n++, counts);
      REQUIRE(found.size() == events.size());
      for (size_t i = 0; i < events.size(); ++i) {
        CHECK(found[i].ahead == events[i]);
        CHECK(found[i].key == events[i] + 1);
      }
    }
    near.clear(counts);
    CHECK(near.nodes() == 0);
    CHECK(std::count(counts.begin(), counts.end(), 0u) == 100);
  }
}

}  // namespace mrc::test::event_queue_test
