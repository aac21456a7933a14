// SPDX-License-Identifier: Apache-2.0
#include "sim/job/ideal.hpp"

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "sim/engine/ring.hpp"
#include "util/rng.hpp"

namespace mrc::sim {
namespace {

/// NICs take turns by so many bytes, or by a 64th of a message that has more.
constexpr uint64_t kTurnBytes = 16384, kMostTurns = 64;

class Ideal final : public Wires {
 public:
  Ideal(const Schedule& schedule, const IdealNetwork& network, uint32_t ahead)
      : network_(network),
        executor_(schedule, *this, ahead),
        ports_(schedule.ranks()),
        steps_(schedule.steps()),
        alike_(schedule.alike()) {}

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
      if (alike_ && under_way_ == 0 && look()) return rest();
    }
    IdealResult result = until_now();
    result.problem = executor_.problem();
    if (result.problem.text.empty() && ended_ < ranks) result.problem = executor_.waiting();
    return result;
  }

  Time now(uint32_t) const override { return now_; }
  void send(uint32_t rank, uint32_t peer, uint64_t bytes, uint32_t tag, uint32_t id) override {
    uint32_t slot = static_cast<uint32_t>(messages_.size());
    if (free_.empty()) {
      messages_.emplace_back();
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    IdealMessage m = network_(rank, peer, bytes);
    m.arrives = std::max(m.arrives, m.wire);
    const uint64_t turn = std::max(kTurnBytes, (bytes + kMostTurns - 1) / kMostTurns);
    const auto turns = static_cast<uint32_t>(std::max<uint64_t>(1, (bytes + turn - 1) / turn));
    const double share = turns == 1 ? 1 : static_cast<double>(turn) / static_cast<double>(bytes);
    messages_[slot] = {rank, peer, tag, id, bytes, turns, 0, 0, static_cast<Time>(static_cast<double>(m.wire) * share),
                       m};
    ++under_way_;
    ports_[rank].newest_send = executor_.result(rank).marks.size();
    for (uint32_t i = 0; i < turns; ++i) ports_[rank].out.put(peer, slot);
    go_out(rank);
  }
  void wake_at(uint32_t rank, Time time) override {
    ports_[rank].wake = time;
    if (time != kNever) push(time, Event::Due, rank);
  }
  void ended(uint32_t) override { ++ended_; }

 private:
  struct Event {
    enum Kind : uint32_t { Due, Out, Comes, In, Arrived, Known };
    Time time;
    uint64_t order;
    Kind kind;
    uint32_t index;  // of the rank, or the message
    bool operator<(const Event& other) const { return time != other.time ? time > other.time : order > other.order; }
  };
  struct Message {
    uint32_t from, to, tag, id;
    uint64_t bytes;
    uint32_t turns, sent, taken;
    Time turn;  // of the port, for each turn but the last
    IdealMessage times;
  };
  /// A port in one direction, and what waits for it: of each peer a queue of turns of messages.
  struct Side {
    Time until = 0;          // busy
    bool requested = false;  // an event is on its way
    void put(uint32_t peer, uint32_t message) {
      if (newest == nullptr || newest_peer != peer) {
        newest = &queues[peer];
        newest_peer = peer;
      }
      if (newest->empty()) active.push_back(newest);
      newest->push_back(message);
    }
    uint32_t take() {
      Ring<uint32_t>* const queue = active.pop_front();
      const uint32_t message = queue->pop_front();
      if (!queue->empty()) active.push_back(queue);
      return message;
    }
    Ring<Ring<uint32_t>*> active;  // those that are not empty, by turn
    std::unordered_map<uint32_t, Ring<uint32_t>> queues;
    Ring<uint32_t>* newest = nullptr;
    uint32_t newest_peer = 0;
  };
  struct Port {
    Side out, in;
    Time wake = kNever;
    size_t newest_send = 0;  // the step that it was in
  };

  static Time wire(const Message& m, uint32_t turn) {
    return turn + 1 < m.turns ? m.turn : m.times.wire - m.turn * (m.turns - 1);
  }
  /// False: nothing waits, or the port is busy, and an event comes when it is not.
  bool free(Side& side, Event::Kind kind, uint32_t rank) {
    if (side.active.empty()) return false;
    if (side.until <= now_) return true;
    if (!side.requested) push(side.until, kind, rank);
    side.requested = true;
    return false;
  }
  void go_out(uint32_t rank) {
    Side& side = ports_[rank].out;
    while (free(side, Event::Out, rank)) {
      const uint32_t slot = side.take();
      Message& m = messages_[slot];
      side.until = now_ + wire(m, m.sent++);
      // Its first byte reaches the receiver when it could take it at its rate.
      push(now_ + m.times.arrives - m.times.wire, Event::Comes, slot);
    }
  }
  void go_in(uint32_t rank) {
    Side &side = ports_[rank].in, &back = ports_[rank].out;
    while (free(side, Event::In, rank)) {
      const uint32_t slot = side.take();
      Message& m = messages_[slot];
      if (m.times.answers > 0) {
        back.until = std::max(back.until, now_) + m.times.answers * (m.taken + 1) / m.turns -
                     m.times.answers * m.taken / m.turns;
      }
      side.until = now_ + wire(m, m.taken++);
      if (m.taken == m.turns) push(side.until, Event::Arrived, slot);
    }
  }

  void push(Time time, Event::Kind kind, uint32_t index) { events_.push({time, order_++, kind, index}); }

  void handle(const Event& event) {
    if (event.kind == Event::Due) {
      Port& port = ports_[event.index];
      if (port.wake != event.time) return;  // replaced
      port.wake = kNever;
      executor_.due(event.index);
      return;
    }
    if (event.kind == Event::Out || event.kind == Event::In) {
      const bool out = event.kind == Event::Out;
      (out ? ports_[event.index].out : ports_[event.index].in).requested = false;
      return out ? go_out(event.index) : go_in(event.index);
    }
    const Message m = messages_[event.index];
    if (event.kind == Event::Comes) {
      ports_[m.to].in.put(m.from, event.index);
      go_in(m.to);
    } else if (event.kind == Event::Arrived) {
      push(now_ + m.times.known, Event::Known, event.index);
      executor_.arrived(m.to, m.from, m.tag, m.bytes);
    } else {
      free_.push_back(event.index);
      --under_way_;
      newest_known_ = now_;
      executor_.sent(m.from, m.id, true);
    }
  }

  /// What all ranks have done so far.
  IdealResult until_now() const {
    IdealResult result;
    for (uint32_t r = 0; r < ports_.size(); ++r) {
      const RankResult& rank = executor_.result(r);
      if (rank.end != kNever) result.end = std::max(result.end, rank.end);
      result.messages += rank.messages;
      result.bytes += rank.bytes;
      if (result.marks.size() < rank.marks.size()) result.marks.resize(rank.marks.size());
      for (size_t s = 0; s < rank.marks.size(); ++s) result.marks[s] = std::max(result.marks[s], rank.marks[s]);
    }
    return result;
  }

  /// All ranks compute after the same number of steps, have sent nothing since, no message is under way, and all is as
  /// after some step before: what follows does so again and again.
  bool look() {
    const size_t steps = executor_.result(0).marks.size();
    if (events_.size() != ports_.size() || steps < quiet_.size() || steps == steps_) return false;
    Time end = newest_known_;
    for (uint32_t r = 0; r < ports_.size(); ++r) {
      const std::vector<Time>& marks = executor_.result(r).marks;
      if (marks.size() != steps || ports_[r].wake == kNever || ports_[r].newest_send >= steps) return false;
      end = std::max(end, marks.back());
    }
    quiet_.resize(steps);
    Quiet q{.time = now_, .end = end, .state = 1};
    const auto add = [&](uint64_t value) { q.state = Rng::hash(q.state ^ Rng::hash(value)); };
    // What comes next, in its order: of each rank one.
    for (auto left = events_; !left.empty(); left.pop()) {
      add(left.top().index);
      add(left.top().time - now_);
    }
    for (uint32_t r = 0; r < ports_.size(); ++r) {
      add(std::max(ports_[r].out.until, now_) - now_);
      add(std::max(ports_[r].in.until, now_) - now_);
      add(executor_.state_hash(r));
    }
    const auto same = std::ranges::find_if(quiet_, [&](const Quiet& old) { return old.state == q.state; });
    period_ = static_cast<size_t>(quiet_.end() - same);
    const bool found = period_ > 0 && std::all_of(same, quiet_.end(), [](const Quiet& old) { return old.state != 0; });
    quiet_.push_back(q);
    return found;
  }

  IdealResult rest() const {
    IdealResult result = until_now();
    const uint64_t steps = result.marks.size();
    const Time again = quiet_.back().time - quiet_[steps - period_].time;
    result.messages = result.messages / steps * steps_;
    result.bytes = result.bytes / steps * steps_;
    while (result.marks.size() < steps_) result.marks.push_back(result.marks[result.marks.size() - period_] + again);
    uint64_t like = steps_;
    for (; like > steps; like -= period_) result.end += again;
    result.end += quiet_[like].end;
    return result;
  }

  struct Quiet {
    Time time = 0, end = 0;  // end: all operations of the step are done
    uint64_t state = 0;      // a hash of everything but that time; 0: not known
  };

  const IdealNetwork& network_;
  Time now_ = 0;
  Time newest_known_ = 0;
  uint64_t under_way_ = 0;
  uint64_t order_ = 0;
  uint32_t ended_ = 0;
  std::priority_queue<Event> events_;
  std::vector<Message> messages_;
  std::vector<uint32_t> free_;
  Executor executor_;
  std::vector<Port> ports_;
  uint64_t steps_;
  bool alike_;
  std::vector<Quiet> quiet_ = std::vector<Quiet>(1);  // after 0, 1, ... steps
  size_t period_ = 0;
};

}  // namespace

IdealResult run_ideal(const Schedule& schedule, const IdealNetwork& network, uint32_t ahead,
                      const std::function<void()>& poll) {
  return Ideal(schedule, network, ahead).run(poll);
}

}  // namespace mrc::sim
