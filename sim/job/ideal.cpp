// SPDX-License-Identifier: Apache-2.0
#include "sim/job/ideal.hpp"

#include <algorithm>
#include <queue>

namespace mrc::sim {
namespace {

class Ideal final : public Wires {
 public:
  Ideal(const Schedule& schedule, const IdealNetwork& network, uint32_t ahead)
      : network_(network), executor_(schedule, *this, ahead), ports_(schedule.ranks()) {}

  IdealResult run(const std::function<void()>& poll) {
    constexpr uint64_t kPoll = 1u << 16;
    const auto ranks = static_cast<uint32_t>(ports_.size());
    for (uint32_t r = 0; r < ranks; ++r) executor_.begin(r);
    for (uint64_t n = 1; !events_.empty(); ++n) {
      if (poll && n % kPoll == 0) poll();
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      handle(event);
    }
    IdealResult result;
    result.problem = executor_.problem();
    if (result.problem.text.empty() && ended_ < ranks) result.problem = executor_.waiting();
    for (uint32_t r = 0; r < ranks; ++r) {
      const RankResult& rank = executor_.result(r);
      if (rank.end != kNever) result.end = std::max(result.end, rank.end);
      result.messages += rank.messages;
      result.bytes += rank.bytes;
      if (result.marks.size() < rank.marks.size()) result.marks.resize(rank.marks.size());
      for (size_t s = 0; s < rank.marks.size(); ++s) result.marks[s] = std::max(result.marks[s], rank.marks[s]);
    }
    return result;
  }

  Time now(uint32_t) const override { return now_; }
  void send(uint32_t rank, uint32_t peer, uint64_t bytes, uint32_t tag, uint32_t id) override {
    const IdealMessage m = network_(rank, peer, bytes);
    Port& port = ports_[rank];
    const Time begins = std::max(now_, port.sends_until);
    port.sends_until = begins + m.wire;
    uint32_t slot = static_cast<uint32_t>(messages_.size());
    if (free_.empty()) {
      messages_.emplace_back();
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    messages_[slot] = {rank, peer, tag, id, bytes, m};
    // Its first byte reaches the receiver when it could take it at its rate.
    push(begins + std::max(m.arrives, m.wire) - m.wire, Event::Comes, slot);
  }
  void wake_at(uint32_t rank, Time time) override {
    ports_[rank].wake = time;
    if (time != kNever) push(time, Event::Due, rank);
  }
  void ended(uint32_t) override { ++ended_; }

 private:
  struct Event {
    enum Kind : uint32_t { Due, Comes, Arrived, Known };
    Time time;
    uint64_t order;
    Kind kind;
    uint32_t index;  // of the rank, or the message
    bool operator<(const Event& other) const { return time != other.time ? time > other.time : order > other.order; }
  };
  struct Port {
    Time sends_until = 0, receives_until = 0, wake = kNever;
  };
  struct Message {
    uint32_t from, to, tag, id;
    uint64_t bytes;
    IdealMessage times;
  };

  void push(Time time, Event::Kind kind, uint32_t index) { events_.push({time, order_++, kind, index}); }

  void handle(const Event& event) {
    if (event.kind == Event::Due) {
      Port& port = ports_[event.index];
      if (port.wake != event.time) return;  // replaced
      port.wake = kNever;
      executor_.due(event.index);
      return;
    }
    const Message m = messages_[event.index];
    if (event.kind == Event::Comes) {
      Port& port = ports_[m.to];
      port.receives_until = std::max(now_, port.receives_until) + m.times.wire;
      push(port.receives_until, Event::Arrived, event.index);
    } else if (event.kind == Event::Arrived) {
      push(now_ + m.times.known, Event::Known, event.index);
      executor_.arrived(m.to, m.from, m.tag, m.bytes);
    } else {
      free_.push_back(event.index);
      executor_.sent(m.from, m.id, true);
    }
  }

  const IdealNetwork& network_;
  Time now_ = 0;
  uint64_t order_ = 0;
  uint32_t ended_ = 0;
  std::priority_queue<Event> events_;
  std::vector<Message> messages_;
  std::vector<uint32_t> free_;
  Executor executor_;
  std::vector<Port> ports_;
};

}  // namespace

IdealResult run_ideal(const Schedule& schedule, const IdealNetwork& network, uint32_t ahead,
                      const std::function<void()>& poll) {
  return Ideal(schedule, network, ahead).run(poll);
}

}  // namespace mrc::sim
