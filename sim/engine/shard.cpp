// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/shard.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

namespace mrc::sim {

void NearEvents::sort(std::vector<uint32_t>& counts) {
  // In the order of their numbers they lie side by side in memory, too.
  std::sort(nodes_.begin(), nodes_.end());
  uint32_t sum = 0;
  for (const NodeId node : nodes_) sum += std::exchange(counts[node], sum);
  sorted_.resize(given_.size());
  for (const Given& given : given_) sorted_[counts[given.node]++] = given.event;
  given_.clear();
}

void NearEvents::clear(std::vector<uint32_t>& counts) {
  for (const NodeId node : nodes_) counts[node] = 0;
  nodes_.clear();
}

struct Team::Members {
  std::vector<std::thread> threads;
  const std::function<void(unsigned)>* work = nullptr;  // null: go home
  std::atomic<uint32_t> turn{0}, busy{0};

  void go_home();
  void member(unsigned number) {
    for (uint32_t seen = 0;;) {
      wait(turn, [&](uint32_t value) { return value != seen; });
      ++seen;
      if (work == nullptr) return;
      (*work)(number);
      if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1) busy.notify_one();
    }
  }
  /// A window is over soon: looks for a while before it sleeps.
  template <class F>
  static void wait(const std::atomic<uint32_t>& value, F&& good) {
    for (unsigned i = 0; i < kLooks; ++i) {
      if (good(value.load(std::memory_order_acquire))) return;
      if (i % 64 == 63) std::this_thread::yield();
    }
    for (uint32_t now = value.load(std::memory_order_acquire); !good(now);
         now = value.load(std::memory_order_acquire)) {
      value.wait(now, std::memory_order_acquire);
    }
  }
  static constexpr unsigned kLooks = 4096;
};

void Team::Members::go_home() {
  work = nullptr;
  turn.fetch_add(1, std::memory_order_release);
  turn.notify_all();
  for (std::thread& thread : threads) thread.join();
}

Team::Team(unsigned threads) : members_(std::make_unique<Members>()) {
  try {
    for (unsigned t = 1; t < threads; ++t) members_->threads.emplace_back([this, t] { members_->member(t); });
  } catch (...) {
    members_->go_home();
    throw;
  }
}

Team::~Team() { members_->go_home(); }

void Team::run(const std::function<void(unsigned)>& f) {
  members_->work = &f;
  members_->busy.store(static_cast<uint32_t>(members_->threads.size()), std::memory_order_relaxed);
  members_->turn.fetch_add(1, std::memory_order_release);
  members_->turn.notify_all();
  f(0);
  Members::wait(members_->busy, [](uint32_t value) { return value == 0; });
}

}  // namespace mrc::sim
