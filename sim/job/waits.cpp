// SPDX-License-Identifier: Apache-2.0
#include "sim/job/waits.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace mrc::sim {
namespace {

/// Operations of a rank, by number, and its sends and receives of each peer and tag in their order.
class Kept {
 public:
  explicit Kept(const std::vector<OpRecord>& records) : records_(records) {
    for (size_t i = 0; i < records.size(); ++i) {
      const OpRecord& r = records[i];
      by_number_[r.number] = i;
      if (r.kind != Op::Kind::Send && r.kind != Op::Kind::Recv) continue;
      std::vector<size_t>& list = by_peer_[{r.kind, r.peer, r.tag}];
      place_[r.number] = list.size();
      list.push_back(i);
    }
  }
  /// Null: it is not of this step.
  const OpRecord* find(uint64_t number) const {
    const auto at = by_number_.find(number);
    return at == by_number_.end() ? nullptr : &records_[at->second];
  }
  /// The how-many-th message to that peer, or from it.
  size_t place(uint64_t number) const { return place_.at(number); }
  const OpRecord* send(uint32_t to, uint32_t tag, size_t place) const {
    const auto at = by_peer_.find({Op::Kind::Send, to, tag});
    return at == by_peer_.end() || place >= at->second.size() ? nullptr : &records_[at->second[place]];
  }

 private:
  using Peer = std::tuple<Op::Kind, uint32_t, uint32_t>;  // and tag
  const std::vector<OpRecord>& records_;
  std::unordered_map<uint64_t, size_t> by_number_, place_;
  std::map<Peer, std::vector<size_t>> by_peer_;
};

}  // namespace

WaitChain chain_of(const Executor& executor, uint32_t step, uint32_t last, const IdealNetwork& network) {
  WaitChain chain;
  chain.step = step;
  chain.rank = last;
  std::unordered_map<uint32_t, Kept> kept;
  const auto of = [&](uint32_t rank) -> const Kept& {
    return kept.try_emplace(rank, executor.kept(rank)).first->second;
  };
  uint32_t rank = last;
  const std::vector<OpRecord>& own = executor.kept(last);
  const auto mark = std::find_if(own.rbegin(), own.rend(), [](const OpRecord& r) { return r.kind == Op::Kind::Mark; });
  const OpRecord* at = mark == own.rend() ? nullptr : &*mark;
  for (const OpRecord& r : own) {  // a trace has none: what was done last
    if (mark == own.rend() && r.done != kNever && (at == nullptr || r.done >= at->done)) at = &r;
  }
  while (at != nullptr) {
    if (at->kind == Op::Kind::Calc) {
      ++chain.computations;
      chain.computed += at->done - at->begin;
    } else if (at->kind == Op::Kind::Recv && at->late) {
      const OpRecord* send = of(at->peer).send(rank, at->tag, of(rank).place(at->number));
      if (send == nullptr) break;  // of the step before
      LateMessage wait{.from = at->peer, .to = rank, .bytes = at->amount, .begin = send->begin, .end = at->done};
      wait.ideal = network(wait.from, wait.to, wait.bytes).arrives;
      ++chain.messages;
      chain.under_way += wait.end - wait.begin;
      chain.ideal += wait.ideal;
      chain.slowest.push_back(wait);
      rank = wait.from;
      at = send;
    }
    at = at->cause == OpRecord::kNone ? nullptr : of(rank).find(at->cause);
  }
  std::ranges::stable_sort(chain.slowest, std::ranges::greater{}, &LateMessage::over);
  if (chain.slowest.size() > WaitChain::kMost) chain.slowest.resize(WaitChain::kMost);
  return chain;
}

}  // namespace mrc::sim
