// SPDX-License-Identifier: Apache-2.0
#include "sim/job/collectives.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "util/rng.hpp"

namespace mrc::sim {

RankGroup group_of(const JobShape& s, Over over, uint32_t rank) {
  const uint32_t t = rank % s.tensor, d = rank / s.tensor % s.data, p = rank / s.tensor / s.data;
  switch (over) {
    case Over::Tensor:
      return {rank - t, 1, s.tensor, t};
    case Over::Data:
      return {rank - d * s.tensor, s.tensor, s.data, d};
    case Over::Expert:
      return {rank - d % s.expert * s.tensor, s.tensor, s.expert, d % s.expert};
    case Over::Pipeline:
      return {rank - p * s.tensor * s.data, s.tensor * s.data, s.pipeline, p};
    default:
      return {0, 1, s.ranks(), rank};
  }
}

namespace {

using Numbers = std::vector<uint64_t>;

/// Operations that have been made and not read.
class Out {
 public:
  uint64_t add(Op::Kind kind, uint64_t amount, const Numbers& after, uint32_t peer = 0, uint32_t tag = 0) {
    if (made_ == ops_.size()) ops_.emplace_back();
    Op& op = ops_[made_++];
    op.set(kind, amount, peer, tag);
    op.after.assign(after.begin(), after.end());
    return number_++;
  }
  /// The newest one is Op::fence.
  void fence() { ops_[made_ - 1].fence = true; }
  bool next(Op& op) {
    if (read_ == made_) {
      read_ = made_ = 0;
      return false;
    }
    std::swap(op, ops_[read_++]);  // the places of both are used again
    return true;
  }

 private:
  std::vector<Op> ops_;
  size_t made_ = 0, read_ = 0;
  uint64_t number_ = 0;
};

/// A collective as one rank does it: some operations each time.
class Part {
 public:
  explicit Part(Numbers start) : start_(std::move(start)), tail(start_) {}
  virtual ~Part() = default;
  /// False: there are no more.
  virtual bool emit(Out& out) = 0;

 protected:
  Numbers start_;  ///< before its first

 public:
  Numbers tail;  ///< when these are done the rank has what it gets; once there are no more
};

constexpr uint64_t share(uint64_t bytes, uint64_t parts) { return std::max<uint64_t>(1, (bytes + parts - 1) / parts); }

/// Rings, one after the other: in each a rank sends a piece to the next, `moves` times, each time what it has just got.
class Rings final : public Part {
 public:
  struct Ring {
    RankGroup group;
    uint32_t moves;
    uint64_t piece;
  };
  Rings(std::vector<Ring> rings, uint32_t tag, Numbers start)
      : Part(std::move(start)), rings_(std::move(rings)), tag_(tag) {}

  bool emit(Out& out) override {
    while (ring_ < rings_.size() && (move_ == rings_[ring_].moves || rings_[ring_].group.count < 2)) {
      ++ring_;
      move_ = 0;
    }
    if (ring_ == rings_.size()) return false;
    const Ring& r = rings_[ring_];
    const RankGroup& g = r.group;
    out.add(Op::Kind::Send, r.piece, tail, g.rank(g.index + 1), tag_ + ring_);
    tail = {out.add(Op::Kind::Recv, r.piece, tail, g.rank(g.index + g.count - 1), tag_ + ring_)};
    out.fence();
    ++move_;
    return true;
  }

 private:
  std::vector<Ring> rings_;
  uint32_t tag_, ring_ = 0, move_ = 0;
};

std::vector<Rings::Ring> rings_of(const Phase& p, const RankGroup& g, uint64_t bytes) {
  const uint32_t n = g.count;
  if (p.collective == Collective::Ring) return {{g, 2 * (n - 1), share(bytes, n)}};
  // Reduce-scatter among those near, all-reduce of each one's part among those far, all-gather among those near.
  const uint32_t local = p.local, place = g.index % local, part = g.index / local;
  const RankGroup near{g.rank(part * local), g.stride, local, place};
  const RankGroup far{g.rank(place), g.stride * local, n / local, part};
  const uint64_t piece = share(bytes, local);
  return {{near, local - 1, piece}, {far, 2 * (far.count - 1), share(piece, far.count)}, {near, local - 1, piece}};
}

/// A binary tree, its root the group's first: sums go up to it, the sum comes down; pieces follow each other, `window`
/// at a time, so that those that go up do not fill the ports that sums come down by.
class Tree final : public Part {
 public:
  Tree(const RankGroup& group, uint64_t piece, uint32_t pieces, uint32_t window, uint32_t tag, Numbers start)
      : Part(std::move(start)),
        group_(group),
        piece_(piece),
        left_(pieces),
        window_(window),
        tag_(tag),
        heard_(start_) {}

  bool emit(Out& out) override {
    if (left_ == 0 || group_.count < 2) return false;
    --left_;
    const uint32_t i = group_.index;
    std::vector<uint32_t> children;
    for (uint32_t c = 2 * i + 1; c <= 2 * i + 2 && c < group_.count; ++c) children.push_back(group_.rank(c));
    for (const uint32_t child : children) heard_ = {out.add(Op::Kind::Recv, piece_, heard_, child, tag_)};
    if (i != 0) {
      const uint32_t parent = group_.rank((i - 1) / 2);
      Numbers before = heard_;
      if (sums_.size() >= window_) before.push_back(sums_[sums_.size() - window_]);
      out.add(Op::Kind::Send, piece_, before, parent, tag_);
      tail = {out.add(Op::Kind::Recv, piece_, tail, parent, tag_)};
      sums_.push_back(tail.front());
    } else {
      tail = heard_;
    }
    for (const uint32_t child : children) out.add(Op::Kind::Send, piece_, tail, child, tag_);
    return true;
  }

 private:
  RankGroup group_;
  uint64_t piece_;
  uint32_t left_, window_, tag_;
  Numbers heard_;  // the children's pieces so far
  Numbers sums_;   // those that have come down
};

/// Each sends to each other, the next in the group first.
class AllToAll final : public Part {
 public:
  /// to: bytes by the receiver's place in the group.
  AllToAll(const RankGroup& group, std::vector<uint64_t> to, uint32_t window, uint32_t tag, Numbers start)
      : Part(std::move(start)), group_(group), to_(std::move(to)), window_(window), tag_(tag) {}

  bool emit(Out& out) override {
    if (++turn_ >= group_.count) return false;
    const uint32_t i = group_.index, to = (i + turn_) % group_.count, from = (i + group_.count - turn_) % group_.count;
    const Numbers before = sent_.size() < window_ ? start_ : Numbers{sent_[(turn_ - 1) % window_]};
    const uint64_t send = out.add(Op::Kind::Send, to_[to], before, group_.rank(to), tag_);
    if (sent_.size() < window_) {
      sent_.push_back(send);
    } else {
      sent_[(turn_ - 1) % window_] = send;
    }
    tail = {out.add(Op::Kind::Recv, to_[i], tail, group_.rank(from), tag_)};
    return true;
  }

 private:
  RankGroup group_;
  std::vector<uint64_t> to_;
  uint32_t window_, tag_, turn_ = 0;
  Numbers sent_;
};

/// Who is sent how much: Zipf's law for members in an order that is drawn.
std::vector<uint64_t> shares_of(const Phase& p, const RankGroup& g, uint64_t seed) {
  std::vector<uint64_t> to(g.count, p.bytes);
  if (p.skew <= 0) return to;
  std::vector<uint32_t> order(g.count);
  std::iota(order.begin(), order.end(), 0u);
  Rng rng(seed ^ Rng::hash(g.base), "skew");
  for (uint32_t i = g.count - 1; i > 0; --i) std::swap(order[i], order[rng.below(i + 1u)]);
  std::vector<double> weight(g.count);
  for (uint32_t i = 0; i < g.count; ++i) weight[i] = std::pow(i + 1.0, -p.skew);
  const double mean = std::accumulate(weight.begin(), weight.end(), 0.0) / g.count;
  for (uint32_t i = 0; i < g.count; ++i) {
    to[order[i]] = std::max<uint64_t>(1, static_cast<uint64_t>(static_cast<double>(p.bytes) * weight[i] / mean));
  }
  return to;
}

/// Random times: the same whenever they are asked for.
Time with_jitter(Time time, double jitter, uint64_t seed) {
  if (jitter <= 0) return time;
  const double unit = static_cast<double>(Rng::hash(seed) >> 11) * 0x1p-53;
  return time + static_cast<Time>(static_cast<double>(time) * jitter * unit);
}

/// Stages behind each other; micro-batches go through all of them and, backwards, through all of them again. A stage
/// begins a backward pass as soon as it can, and has no more micro-batches than stages from it on (1F1B).
class PipelinePart final : public Part {
 public:
  PipelinePart(const Phase& phase, const RankGroup& group, uint32_t tag, Numbers start, uint64_t seed)
      : Part(std::move(start)),
        phase_(phase),
        group_(group),
        tag_(tag),
        ahead_(std::min(phase.buckets, group.count - group.index)),
        seed_(seed),
        acts_(start_),
        grads_(start_) {}

  bool emit(Out& out) override {
    const bool first = group_.index == 0, last = group_.index + 1 == group_.count;
    const uint32_t batches = phase_.buckets;
    if (backward_ == batches) return false;
    // A backward pass takes twice as long.
    const Time third = phase_.compute / (3 * uint64_t{batches});
    const auto calc = [&](Time time, const Numbers& heard, bool from_other) {
      Numbers before = tail;
      if (from_other) before.push_back(heard.back());
      tail = {out.add(Op::Kind::Calc, with_jitter(time, phase_.jitter, seed_ ^ Rng::hash(++calcs_)), before)};
    };
    if (forward_ < batches && forward_ < backward_ + ahead_) {
      ++forward_;
      if (!first) acts_ = {out.add(Op::Kind::Recv, phase_.bytes, acts_, group_.rank(group_.index - 1), tag_)};
      calc(third, acts_, !first);
      if (!last) out.add(Op::Kind::Send, phase_.bytes, tail, group_.rank(group_.index + 1), tag_);
    } else {
      ++backward_;
      if (!last) grads_ = {out.add(Op::Kind::Recv, phase_.bytes, grads_, group_.rank(group_.index + 1), tag_ + 1)};
      calc(2 * third, grads_, !last);
      if (!first) out.add(Op::Kind::Send, phase_.bytes, tail, group_.rank(group_.index - 1), tag_ + 1);
    }
    return true;
  }

 private:
  const Phase& phase_;
  RankGroup group_;
  uint32_t tag_, ahead_, forward_ = 0, backward_ = 0;
  uint64_t seed_, calcs_ = 0;
  Numbers acts_, grads_;
};

constexpr uint32_t kTagsOfPhase = 4;

class JobStream final : public Stream {
 public:
  JobStream(const JobPlan& plan, uint32_t rank, uint32_t step) : plan_(plan), rank_(rank), step_(step) {}

  bool next(Op& op) override {
    while (!out_.next(op)) {
      if (!more()) return false;
    }
    return true;
  }

 private:
  /// Makes some operations, or takes a step towards it. False: that were all.
  bool more() {
    if (part_) {
      if (part_->emit(out_)) return true;
      last_ = std::move(part_->tail);
      part_.reset();
      ++bucket_;
    }
    if (step_ == plan_.steps) return false;
    if (phase_ == plan_.phases.size()) {
      tail_ = {out_.add(Op::Kind::Mark, step_, tail_)};
      out_.fence();
      ++step_;
      phase_ = 0;
      return true;
    }
    const Phase& phase = plan_.phases[phase_];
    const bool pipeline = phase.collective == Collective::Pipeline;
    if (bucket_ == 0) {
      last_ = tail_;
      compute(phase);
    }
    if (phase.collective == Collective::None || bucket_ == (pipeline ? 1 : phase.buckets)) {
      if (!computed_.empty()) last_.push_back(computed_.back());
      tail_ = std::move(last_);
      ++phase_;
      bucket_ = 0;
      return true;
    }
    Numbers start = last_;
    if (!computed_.empty()) start.push_back(computed_[bucket_]);
    begin(phase, std::move(start));
    return true;
  }

  /// The compute of all buckets at once, so that they can overlap with it.
  void compute(const Phase& phase) {
    computed_.clear();
    if (phase.compute == 0 || phase.collective == Collective::Pipeline) return;
    for (uint32_t b = 0; b < phase.buckets; ++b) {
      const Time time = phase.compute / phase.buckets;
      const Numbers& before = b == 0 ? tail_ : Numbers{computed_.back()};
      computed_.push_back(out_.add(Op::Kind::Calc, with_jitter(time, phase.jitter, seed() ^ Rng::hash(b + 1)), before));
    }
  }

  void begin(const Phase& phase, Numbers start) {
    const RankGroup group = group_of(plan_.shape, phase.over, rank_);
    const uint64_t bytes = share(phase.bytes, phase.buckets);
    const auto tag = static_cast<uint32_t>(phase_ * kTagsOfPhase);
    switch (phase.collective) {
      case Collective::Tree:
        part_ = std::make_unique<Tree>(group, share(bytes, phase.pieces), phase.pieces, phase.window, tag,
                                       std::move(start));
        break;
      case Collective::AllToAll: {
        Phase bucket = phase;
        bucket.bytes = bytes;
        part_ = std::make_unique<AllToAll>(group, shares_of(bucket, group, Rng::hash(plan_.seed ^ moment())),
                                           phase.window, tag, std::move(start));
        break;
      }
      case Collective::Pipeline:
        part_ = std::make_unique<PipelinePart>(phase, group, tag, std::move(start), seed());
        break;
      default:
        part_ = std::make_unique<Rings>(rings_of(phase, group, bytes), tag, std::move(start));
    }
  }

  /// Of the step and the phase; the rank's own.
  uint64_t moment() const { return Rng::hash(uint64_t{step_} << 20 | phase_); }
  uint64_t seed() const { return Rng::hash(plan_.seed ^ moment() ^ Rng::hash(~uint64_t{rank_})); }

  const JobPlan& plan_;
  uint32_t rank_, step_;
  size_t phase_ = 0;
  uint32_t bucket_ = 0;
  std::unique_ptr<Part> part_;
  Numbers tail_, last_, computed_;  // what the phase before, the bucket before, the compute of each bucket end with
  Out out_;
};

class Job final : public Schedule {
 public:
  explicit Job(const JobPlan& plan) : plan_(plan) {}
  uint32_t ranks() const override { return plan_.shape.ranks(); }
  uint32_t steps() const override { return plan_.steps; }
  bool alike() const override {
    return std::ranges::all_of(plan_.phases, [](const Phase& p) {
      return (p.jitter <= 0 || p.compute == 0) && (p.skew <= 0 || p.collective != Collective::AllToAll);
    });
  }
  std::unique_ptr<Stream> open_at(uint32_t rank, uint32_t step) const override {
    return std::make_unique<JobStream>(plan_, rank, step);
  }

  void peers(uint32_t rank, std::vector<uint32_t>& to) const override {
    for (const Phase& p : plan_.phases) {
      const RankGroup g = group_of(plan_.shape, p.over, rank);
      if (g.count < 2 || p.collective == Collective::None) continue;
      const uint32_t i = g.index;
      if (p.collective == Collective::Tree) {
        if (i != 0) to.push_back(g.rank((i - 1) / 2));
        for (uint32_t c = 2 * i + 1; c <= 2 * i + 2 && c < g.count; ++c) to.push_back(g.rank(c));
      } else if (p.collective == Collective::AllToAll) {
        for (uint32_t k = 1; k < g.count; ++k) to.push_back(g.rank(i + k));
      } else if (p.collective == Collective::Pipeline) {
        if (i != 0) to.push_back(g.rank(i - 1));
        if (i + 1 < g.count) to.push_back(g.rank(i + 1));
      } else {
        for (const Rings::Ring& r : rings_of(p, g, p.bytes)) {
          if (r.group.count > 1) to.push_back(r.group.rank(r.group.index + 1));
        }
      }
    }
  }

 private:
  JobPlan plan_;
};

}  // namespace

std::unique_ptr<Schedule> make_schedule(const JobPlan& plan) { return std::make_unique<Job>(plan); }

}  // namespace mrc::sim
