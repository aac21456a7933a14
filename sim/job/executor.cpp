// SPDX-License-Identifier: Apache-2.0
#include "sim/job/executor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "util/rng.hpp"

namespace mrc::sim {

namespace {
constexpr uint32_t kNone32 = 0xffffffff;
/// Mailboxes of a rank that stay where they are: those of a trace may each be used once.
constexpr size_t kBoxes = 64;
}  // namespace

/// An operation that has been read and is not done.
struct Executor::Live {
  Op::Kind kind = Op::Kind::Calc;
  uint8_t cpu = 0;
  bool begun = false;
  uint32_t peer = 0, tag = 0, line = 0, waits = 0;
  uint32_t first_edge = kNone32, last_edge = kNone32;
  uint32_t record = kNone32;  // in Rank::kept
  uint64_t amount = 0, number = 0, cause = OpRecord::kNone;
};

struct Executor::Rank {
  struct Edge {
    uint32_t to, next;
    bool begin;  // waits for the begin alone
  };
  struct Box {
    Ring<uint64_t> arrived;  // bytes of messages that nobody waits for
    Ring<uint32_t> waiting;  // operations
  };
  struct Cpu {
    bool busy = false;
    Ring<uint32_t> queue;
  };
  struct Calc {
    Time end;
    uint32_t slot;
  };
  std::unique_ptr<Stream> stream;
  std::vector<Live> slots;
  std::vector<uint32_t> free_slots;
  Ring<uint32_t> by_number;  // from the oldest that is not done on: its slot
  uint64_t oldest = 0;
  std::vector<Edge> edges;
  uint32_t free_edge = kNone32;
  uint32_t live = 0;
  uint64_t fence = OpRecord::kNone;  // the newest one
  Ring<uint32_t> ready;
  bool running = false;
  std::unordered_map<uint64_t, Box> boxes;
  std::vector<Cpu> cpus;
  std::vector<Calc> calcs;  // under way
  Time wake = kNever;
  uint64_t under_way = 0;
  RankResult result;
  std::vector<OpRecord> kept;
  Problem problem;
  Time problem_time = kNever;

  static uint64_t box_key(uint32_t from, uint32_t tag) { return uint64_t{from} << 32 | tag; }
  /// kNone32: it is done.
  uint32_t slot_of(uint64_t number) const {
    return number < oldest ? kNone32 : by_number[static_cast<uint32_t>(number - oldest)];
  }
  bool behind_fence() const { return fence != OpRecord::kNone && slot_of(fence) != kNone32; }
};

Executor::Executor(const Schedule& schedule, Wires& wires, uint32_t ahead)
    : Executor(schedule, wires, ahead, 0, std::vector<RankResult>(schedule.ranks())) {}

Executor::Executor(const Schedule& schedule, Wires& wires, uint32_t ahead, uint32_t step,
                   std::vector<RankResult> before)
    : wires_(wires), ahead_(ahead) {
  for (uint32_t r = 0; r < schedule.ranks(); ++r) {
    ranks_.push_back(std::make_unique<Rank>());
    ranks_.back()->stream = schedule.open_at(r, step);
    ranks_.back()->result = std::move(before[r]);
  }
}

Executor::~Executor() = default;

void Executor::begin(uint32_t number) { run(number, *ranks_[number]); }

void Executor::sent(uint32_t number, uint32_t id, bool ok) {
  Rank& rank = *ranks_[number];
  --rank.under_way;
  if (!ok) ++rank.result.failed;
  done(number, rank, id);
  run(number, rank);
}

void Executor::arrived(uint32_t number, uint32_t from, uint32_t tag, uint64_t bytes) {
  Rank& rank = *ranks_[number];
  const uint64_t key = Rank::box_key(from, tag);
  Rank::Box& box = rank.boxes[key];
  if (box.waiting.empty()) {
    box.arrived.push_back(bytes);
    return;
  }
  const uint32_t slot = box.waiting.pop_front();
  if (box.waiting.empty() && rank.boxes.size() > kBoxes) rank.boxes.erase(key);
  check_bytes(number, rank, rank.slots[slot], bytes);
  if (rank.slots[slot].record != kNone32) rank.kept[rank.slots[slot].record].late = true;
  done(number, rank, slot);
  run(number, rank);
}

void Executor::due(uint32_t number) {
  Rank& rank = *ranks_[number];
  rank.wake = kNever;
  const Time now = wires_.now(number);
  std::vector<Rank::Calc>& calcs = rank.calcs;
  for (size_t i = 0; i < calcs.size();) {
    if (calcs[i].end > now) {
      ++i;
      continue;
    }
    const uint32_t slot = calcs[i].slot;
    calcs.erase(calcs.begin() + static_cast<long>(i));
    Rank::Cpu& cpu = rank.cpus[rank.slots[slot].cpu];
    cpu.busy = false;
    const uint64_t before = rank.slots[slot].number;
    done(number, rank, slot);
    if (cpu.queue.empty()) continue;
    const uint32_t next = cpu.queue.pop_front();
    rank.slots[next].cause = before;
    start_calc(number, rank, next);
  }
  run(number, rank);
}

/// Starts what can be started, and reads on.
void Executor::run(uint32_t number, Rank& rank) {
  if (rank.running) return;  // called from within
  rank.running = true;
  Op op;
  for (;;) {
    while (!rank.ready.empty()) start(number, rank, rank.ready.pop_front());
    if (!rank.stream || rank.live >= ahead_ || rank.behind_fence()) break;
    if (!rank.stream->next(op)) {
      rank.stream.reset();
      break;
    }
    add(rank, op);
  }
  rank.running = false;
  Time first = kNever;
  for (const Rank::Calc& calc : rank.calcs) first = std::min(first, calc.end);
  if (first != rank.wake) wires_.wake_at(number, rank.wake = first);
  if (!rank.stream && rank.live == 0 && rank.result.end == kNever) {
    rank.result.end = wires_.now(number);
    wires_.ended(number);
  }
}

void Executor::add(Rank& rank, const Op& op) {
  if (rank.free_slots.empty()) {
    rank.free_slots.push_back(static_cast<uint32_t>(rank.slots.size()));
    rank.slots.emplace_back();
  }
  const uint32_t slot = rank.free_slots.back();
  rank.free_slots.pop_back();
  Live& live = rank.slots[slot];
  live = {.kind = op.kind, .cpu = op.cpu, .peer = op.peer, .tag = op.tag, .line = op.line, .amount = op.amount};
  live.number = rank.oldest + rank.by_number.size();
  rank.by_number.push_back(slot);
  ++rank.live;
  const auto wait_for = [&](uint64_t before, bool begin) {
    const uint32_t other = rank.slot_of(before);
    if (other == kNone32 && before == rank.fence) live.cause = before;  // as if it had been read before that was done
    if (other == kNone32 || (begin && rank.slots[other].begun)) return;
    uint32_t edge = rank.free_edge;
    if (edge == kNone32) {
      edge = static_cast<uint32_t>(rank.edges.size());
      rank.edges.emplace_back();
    } else {
      rank.free_edge = rank.edges[edge].next;
    }
    rank.edges[edge] = {slot, kNone32, begin};
    Live& from = rank.slots[other];
    (from.last_edge == kNone32 ? from.first_edge : rank.edges[from.last_edge].next) = edge;
    from.last_edge = edge;
    ++live.waits;
  };
  for (const uint64_t before : op.after) wait_for(before, false);
  for (const uint64_t before : op.after_begin) wait_for(before, true);
  if (op.fence) rank.fence = live.number;
  if (live.waits == 0) rank.ready.push_back(slot);
}

void Executor::has_begun(uint32_t number, Rank& rank, uint32_t slot) {
  Live& op = rank.slots[slot];
  op.begun = true;
  if (kept_ && rank.result.marks.size() == *kept_) [[unlikely]] {
    op.record = static_cast<uint32_t>(rank.kept.size());
    rank.kept.push_back({.number = op.number,
                         .cause = op.cause,
                         .amount = op.amount,
                         .begin = wires_.now(number),
                         .peer = op.peer,
                         .tag = op.tag,
                         .kind = op.kind});
  }
  for (uint32_t e = op.first_edge; e != kNone32; e = rank.edges[e].next) {
    const Rank::Edge edge = rank.edges[e];
    if (edge.begin) freed(rank, edge.to, op.number);
  }
}

/// What an operation waited for has begun, or is done.
void Executor::freed(Rank& rank, uint32_t slot, uint64_t by) {
  Live& op = rank.slots[slot];
  op.cause = by;
  if (--op.waits == 0) rank.ready.push_back(slot);
}

void Executor::start(uint32_t number, Rank& rank, uint32_t slot) {
  const Live op = rank.slots[slot];
  switch (op.kind) {
    case Op::Kind::Calc: {
      if (rank.cpus.size() <= op.cpu) rank.cpus.resize(op.cpu + 1u);
      Rank::Cpu& cpu = rank.cpus[op.cpu];
      cpu.busy ? static_cast<void>(cpu.queue.push_back(slot)) : start_calc(number, rank, slot);
      break;
    }
    case Op::Kind::Send:
      has_begun(number, rank, slot);
      ++rank.under_way;
      ++rank.result.messages;
      rank.result.bytes += op.amount;
      wires_.send(number, op.peer, op.amount, op.tag, slot);
      break;
    case Op::Kind::Recv:
      has_begun(number, rank, slot);
      start_recv(number, rank, slot);
      break;
    case Op::Kind::Mark:
      has_begun(number, rank, slot);
      rank.result.marks.push_back(wires_.now(number));
      done(number, rank, slot);
  }
}

void Executor::start_calc(uint32_t number, Rank& rank, uint32_t slot) {
  has_begun(number, rank, slot);
  const Time takes = rank.slots[slot].amount;
  rank.result.computed += takes;
  rank.cpus[rank.slots[slot].cpu].busy = true;
  rank.calcs.push_back({wires_.now(number) + takes, slot});
}

void Executor::start_recv(uint32_t number, Rank& rank, uint32_t slot) {
  const Live& op = rank.slots[slot];
  const uint64_t key = Rank::box_key(op.peer, op.tag);
  Rank::Box& box = rank.boxes[key];
  if (box.arrived.empty()) {
    box.waiting.push_back(slot);
    return;
  }
  const uint64_t bytes = box.arrived.pop_front();
  if (box.arrived.empty() && rank.boxes.size() > kBoxes) rank.boxes.erase(key);
  check_bytes(number, rank, op, bytes);
  done(number, rank, slot);
}

void Executor::done(uint32_t number, Rank& rank, uint32_t slot) {
  Live& op = rank.slots[slot];
  if (op.record != kNone32) rank.kept[op.record].done = wires_.now(number);
  for (uint32_t e = op.first_edge; e != kNone32;) {
    Rank::Edge& edge = rank.edges[e];
    if (!edge.begin) freed(rank, edge.to, op.number);
    const uint32_t next = edge.next;
    edge.next = rank.free_edge;
    rank.free_edge = e;
    e = next;
  }
  rank.by_number[static_cast<uint32_t>(op.number - rank.oldest)] = kNone32;
  rank.free_slots.push_back(slot);
  --rank.live;
  while (!rank.by_number.empty() && rank.by_number.front() == kNone32) {
    rank.by_number.pop_front();
    ++rank.oldest;
  }
}

void Executor::check_bytes(uint32_t number, Rank& rank, const Live& op, uint64_t bytes) {
  if (bytes == op.amount || !rank.problem.text.empty()) return;
  rank.problem = {fmt::format("{}, but {} bytes came", text_of(number, op), bytes), op.line};
  rank.problem_time = wires_.now(number);
}

std::string Executor::text_of(uint32_t number, const Live& op) const {
  switch (op.kind) {
    case Op::Kind::Recv:
      return fmt::format("rank {} waits for {} bytes from rank {} with tag {}", number, op.amount, op.peer, op.tag);
    case Op::Kind::Send:
      return fmt::format("rank {} sends {} bytes to rank {} with tag {}", number, op.amount, op.peer, op.tag);
    default:
      return fmt::format("rank {} computes", number);
  }
}

const RankResult& Executor::result(uint32_t rank) const { return ranks_[rank]->result; }

const std::vector<OpRecord>& Executor::kept(uint32_t rank) const { return ranks_[rank]->kept; }

uint64_t Executor::under_way() const {
  uint64_t sum = 0;
  for (const auto& rank : ranks_) sum += rank->under_way;
  return sum;
}

Executor::Problem Executor::problem() const {
  const Rank* first = nullptr;
  for (const auto& rank : ranks_) {
    if (rank->problem_time != kNever && (first == nullptr || rank->problem_time < first->problem_time))
      first = rank.get();
  }
  return first == nullptr ? Problem{} : first->problem;
}

Executor::Problem Executor::waiting() const {
  // Others may wait for that rank: the earliest operation in its stream tells most.
  const Live* found = nullptr;
  uint32_t whose = 0;
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    const Rank& rank = *ranks_[r];
    if (rank.by_number.empty()) continue;
    const Live& op = rank.slots[rank.by_number.front()];
    if (found != nullptr && op.number >= found->number) continue;
    found = &op;
    whose = r;
  }
  if (found == nullptr) return {};
  return {text_of(whose, *found), found->line};
}

uint64_t Executor::state_hash(uint32_t number) const {
  const Rank& rank = *ranks_[number];
  uint64_t hash = rank.by_number.size();
  const auto add = [&](uint64_t value) { hash = Rng::hash(hash ^ Rng::hash(value)); };
  for (uint32_t i = 0; i < rank.by_number.size(); ++i) {
    const uint32_t slot = rank.by_number[i];
    add(slot == kNone32);
    if (slot == kNone32) continue;
    const Live& op = rank.slots[slot];
    add(static_cast<uint64_t>(op.kind) << 40 | uint64_t{op.cpu} << 33 | uint64_t{op.begun} << 32 | op.waits);
    add(uint64_t{op.peer} << 32 | op.tag);
    if (op.kind != Op::Kind::Mark) add(op.amount);
  }
  return hash;
}

uint64_t Executor::memory() const {
  uint64_t bytes = 0;
  for (const auto& rank : ranks_) {
    bytes += sizeof(Rank) + rank->slots.capacity() * sizeof(Live) + rank->edges.capacity() * sizeof(Rank::Edge) +
             rank->kept.capacity() * sizeof(OpRecord) + rank->by_number.memory() + rank->ready.memory() +
             rank->result.marks.capacity() * sizeof(Time);
    bytes += rank->boxes.size() * (sizeof(Rank::Box) + 48);
  }
  return bytes;
}

}  // namespace mrc::sim
