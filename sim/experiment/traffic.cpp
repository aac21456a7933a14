// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "input/file.hpp"
#include "sim/experiment/endpoints.hpp"
#include "sim/experiment/trace.hpp"
#include "util/rng.hpp"

namespace mrc::sim {
namespace {

constexpr uint32_t kWholeFlow = 1u << 30;
/// What NCCL writes into its peer's FIFO for each step, and the sizes that it writes for it by turns.
constexpr uint32_t kFifoBytes = 64, kLeastPiece = 4096, kPieces = 9;
constexpr size_t kMaxFlows = 8'000'000;
constexpr uint64_t kMaxWrites = 32'000'000;  // each takes some ten bytes while it waits

constexpr input::FileKind kTraceFile{"trace", input::kCsvBytes, "docs/guide/fabric.md says what a trace looks like."};

class Maker {
 public:
  Maker(const Scenario& scenario, const Topology& topology, uint64_t seed)
      : scenario_(scenario), t_(topology), seed_(seed) {}

  Traffic make() {
    for (size_t i = 0; i < scenario_.traffic.size(); ++i) {
      c_ = &scenario_.traffic[i];
      rng_ = Rng(Rng::hash(seed_ + i), "traffic");
      if (c_->pattern == "flow") flow();
      if (c_->pattern == "permutation") permutation();
      if (c_->pattern == "incast") incast();
      if (c_->pattern == "ring") ring();
      if (c_->pattern == "alltoall") alltoall();
      if (c_->pattern == "nccl") nccl();
      if (c_->pattern == "trace") trace();
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::string_view key, const std::string& what, const std::string& remedy) const {
    throw InputError(c_->source.at(key) + ": " + what + ".", remedy);
  }
  NodeId host(std::string_view key, const std::string& name) const {
    const NodeId node = t_.find_node(name);
    if (node >= t_.hosts()) {
      refuse(key, fmt::format("{} = \"{}\" is no NIC of this topology", key, name),
             fmt::format("NICs are nic0 to nic{}.", t_.hosts() - 1));
    }
    return node;
  }
  void group(const char* suffix = "") {
    out_.groups.push_back({(c_->label.empty() ? c_->pattern : c_->label) + suffix, c_->pattern, c_->source});
  }
  uint32_t add(NodeId from, NodeId to, uint64_t bytes, Time start) {
    if (out_.flows.size() >= kMaxFlows) refuse({}, "more than 8 million flows", "Use fewer nodes.");
    Flow f;
    f.from = from;
    f.to = to;
    f.group = static_cast<uint32_t>(out_.groups.size() - 1);
    f.bytes = bytes;
    f.message = c_->message > 0 ? static_cast<uint32_t>(c_->message) : kWholeFlow;
    f.outstanding = static_cast<uint32_t>(c_->outstanding);
    f.qps = static_cast<uint16_t>(c_->qps);
    f.qp_class = static_cast<int8_t>(c_->qp_class);
    check_class("class", c_->qp_class);
    writes_ += std::max<uint64_t>((bytes + f.message - 1) / f.message, 1);
    if (writes_ > kMaxWrites) {
      refuse("message",
             fmt::format("{} or more WRITEs, {} bytes in pieces of {}, are more than the {} that fit into memory",
                         writes_, bytes, f.message, kMaxWrites),
             "Give a larger message, or fewer bytes.");
    }
    f.start = start + (c_->jitter_us > 0 ? rng_.below(static_cast<uint64_t>(c_->jitter_us * kUs) + 1) : 0);
    out_.flows.push_back(std::move(f));
    return static_cast<uint32_t>(out_.flows.size() - 1);
  }
  void check_class(const char* key, double qp_class) const {
    if (qp_class < t_.profile().classes) return;
    refuse(key,
           fmt::format("{} = {} is none of profile {}, which has {}", key, qp_class, t_.profile().name,
                       t_.profile().classes),
           "Count from 0, or choose another profile of the topology.");
  }
  Time start() const { return static_cast<Time>(c_->start_us * kUs); }
  void after(uint32_t flow, uint32_t before) {
    out_.flows[before].next.push_back(flow);
    ++out_.flows[flow].waits;
  }
  /// The NICs that take part; `except` is left out.
  std::vector<NodeId> members(NodeId except = kNone) const {
    const auto first = static_cast<NodeId>(c_->first), stride = static_cast<NodeId>(c_->stride);
    if (first >= t_.hosts()) {
      refuse("first", fmt::format("first = {} is no NIC of this topology", first),
             fmt::format("NICs are 0 to {}.", t_.hosts() - 1));
    }
    const auto wanted = static_cast<size_t>(c_->nodes);
    std::vector<NodeId> list;
    std::vector<bool> taken(t_.hosts());
    // Around the fabric; where a step leads to one that is in already, the next one is taken.
    NodeId at = first;
    const size_t most = t_.hosts() - (except != kNone ? 1 : 0);
    const size_t count = wanted != 0 ? wanted : most;
    if (count > most) {
      refuse("nodes", fmt::format("nodes = {} are more than the {} there are", count, most),
             "Give fewer nodes or a larger topology.");
    }
    while (list.size() < count) {
      while (taken[at] || at == except) at = (at + 1) % t_.hosts();
      taken[at] = true;
      list.push_back(at);
      at = (at + stride) % t_.hosts();
    }
    return list;
  }
  /// Lists of NICs, each of which does the same. Of several groups, member i of group g is number g + i * groups of the
  /// NICs from `first` on, by `stride`: neighbours are in different groups, the members of one under different T0s.
  std::vector<std::vector<NodeId>> groups(NodeId except = kNone) const {
    const auto wanted = static_cast<size_t>(c_->groups), stride = static_cast<size_t>(c_->stride);
    if (wanted == 1) return {members(except)};
    const auto first = static_cast<size_t>(c_->first), nodes = static_cast<size_t>(c_->nodes);
    if (nodes == 0) refuse("groups", "groups without nodes", "Write nodes, the NICs of each group.");
    const size_t there = first < t_.hosts() ? (t_.hosts() - first + stride - 1) / stride : 0;
    const size_t count = wanted != 0 ? wanted : there / nodes;
    if (count == 0 || count * nodes > there) {
      refuse("groups",
             fmt::format("{} of {} NICs each are more than the {} there are",
                         count == 1 || count == 0 ? std::string("1 group") : fmt::format("{} groups", count), nodes,
                         there),
             "Give fewer groups or nodes, or a smaller first or stride.");
    }
    std::vector<std::vector<NodeId>> lists(count);
    for (size_t g = 0; g < count; ++g) {
      for (size_t i = 0; i < nodes; ++i) lists[g].push_back(static_cast<NodeId>(first + (g + i * count) * stride));
    }
    return lists;
  }
  bool one_group() const { return c_->groups == 1; }
  uint64_t bytes() const { return static_cast<uint64_t>(c_->bytes); }
  void at_least_two(const std::vector<NodeId>& list) const {
    if (list.size() < 2) refuse("nodes", fmt::format("{} needs at least two NICs", c_->pattern), "Give more nodes.");
  }

  void flow() {
    group();
    const NodeId from = host("from", c_->from), to = host("to", c_->to);
    if (from == to) refuse("to", fmt::format("a flow from {} to itself", c_->from), "Choose another receiver.");
    add(from, to, bytes(), start());
  }

  void permutation() {
    group();
    if (!one_group()) refuse("groups", "a permutation in groups", "Leave out groups.");
    const std::vector<NodeId> list = members();
    at_least_two(list);
    const size_t n = list.size(), shift = static_cast<size_t>(c_->shift);
    if (shift >= n) {
      refuse("shift", fmt::format("shift = {} is not below the {} NICs that take part", shift, n),
             "Use a smaller shift, or 0 for a random permutation.");
    }
    std::vector<size_t> to(n);
    std::iota(to.begin(), to.end(), size_t{0});
    if (shift != 0) {
      for (size_t i = 0; i < n; ++i) to[i] = (i + shift) % n;
    } else {  // Sattolo's: one cycle, so nobody sends to itself
      for (size_t i = n - 1; i > 0; --i) std::swap(to[i], to[rng_.below(i)]);
    }
    for (size_t i = 0; i < n; ++i) add(list[i], list[to[i]], bytes(), start());
  }

  void incast() {
    group();
    if (!one_group()) {
      if (c_->victims > 0) refuse("victims", "victims of an incast in groups", "Leave out victims, or groups.");
      for (const std::vector<NodeId>& list : groups()) {
        at_least_two(list);
        for (size_t i = 1; i < list.size(); ++i) add(list[i], list[0], bytes(), start());
      }
      return;
    }
    const NodeId to = host("to", c_->to);
    const std::vector<NodeId> senders = members(to);
    for (const NodeId from : senders) add(from, to, bytes(), start());
    const auto victims = static_cast<unsigned>(c_->victims);
    if (victims == 0) return;
    group(" victim");
    // Receivers beside the incast's, senders that have nothing to do with it.
    std::vector<bool> busy(t_.hosts());
    busy[to] = true;
    for (const NodeId from : senders) busy[from] = true;
    std::vector<NodeId> receivers, free;
    for (NodeId h = 0; h < t_.hosts(); ++h) {
      if (h != to && t_.leaf_of(h) == t_.leaf_of(to) && receivers.size() < victims) receivers.push_back(h);
    }
    for (const NodeId r : receivers) busy[r] = true;
    for (NodeId h = t_.hosts(); h-- > 0;) {
      if (!busy[h] && t_.leaf_of(h) != t_.leaf_of(to)) free.push_back(h);
    }
    for (NodeId h = t_.hosts(); h-- > 0;) {
      if (!busy[h] && t_.leaf_of(h) == t_.leaf_of(to)) free.push_back(h);
    }
    if (receivers.size() < victims || free.size() < victims) {
      refuse("victims",
             fmt::format("{} victims need as many neighbours of {} ({}) and idle NICs ({})", victims, c_->to,
                         receivers.size(), free.size()),
             "Give fewer victims or senders, or more hosts_per_leaf.");
    }
    for (unsigned v = 0; v < victims; ++v) {
      add(free[v], receivers[v], c_->victim_bytes > 0 ? static_cast<uint64_t>(c_->victim_bytes) : bytes(), start());
    }
  }

  /// Reduce-scatter and all-gather: 2 (n - 1) steps of a chunk to the next; each sends on what it has just received.
  void ring() {
    group();
    for (const std::vector<NodeId>& list : groups()) ring_of(list);
  }
  void ring_of(const std::vector<NodeId>& list) {
    at_least_two(list);
    const auto n = static_cast<uint32_t>(list.size());
    const uint64_t chunk = std::max<uint64_t>(1, (bytes() + n - 1) / n);
    const auto first = static_cast<uint32_t>(out_.flows.size());
    for (uint32_t step = 0; step < 2 * (n - 1); ++step) {
      for (uint32_t i = 0; i < n; ++i) {
        const uint32_t f = add(list[i], list[(i + 1) % n], chunk, start());
        out_.flows[f].next_on_delivery = true;
        if (step > 0) after(f, first + (step - 1) * n + (i + n - 1) % n);
      }
    }
  }

  void alltoall() {
    group();
    for (const std::vector<NodeId>& list : groups()) alltoall_of(list);
  }
  void alltoall_of(const std::vector<NodeId>& list) {
    at_least_two(list);
    const auto n = static_cast<uint32_t>(list.size()), window = static_cast<uint32_t>(c_->window);
    const auto first = static_cast<uint32_t>(out_.flows.size());
    for (uint32_t step = 0; step + 1 < n; ++step) {
      for (uint32_t i = 0; i < n; ++i) {
        const uint32_t f = add(list[i], list[(i + step + 1) % n], bytes(), start());
        if (step >= window) after(f, first + (step - window) * n + i);
      }
    }
  }

  /// Each NIC to the next, step by step: the receiver says where to write, by a WRITE of 64 bytes; then the sender
  /// writes a piece on each QP, and behind it a WRITE with immediate of no bytes on each.
  void nccl() {
    if (scenario_.transport != "mrc") {
      refuse("pattern", "pattern = \"nccl\" needs WRITEs of no bytes, which RoCE's NICs do not take",
             "Use transport = \"mrc\".");
    }
    if (scenario_.zero_length != 0) {
      refuse("pattern", "pattern = \"nccl\" needs WRITEs of no bytes, but zero_length refuses them",
             "Leave out zero_length.");
    }
    if (scenario_.max_wimm == 0 || (scenario_.wimm_over != 0 && c_->window > scenario_.max_wimm)) {
      refuse("pattern", "pattern = \"nccl\" has more WRITEs with immediate on a QP than max_wimm, which refuses them",
             "Give a larger max_wimm, or wimm_over = 0.");
    }
    check_class("fifo_class", c_->fifo_class);
    group();
    const auto data = static_cast<uint32_t>(out_.groups.size() - 1);
    group(" fifo");
    for (const std::vector<NodeId>& list : groups()) {
      at_least_two(list);
      for (size_t i = 0; i < list.size(); ++i) nccl_pair(list[i], list[(i + 1) % list.size()], data);
    }
  }
  void nccl_pair(NodeId from, NodeId to, uint32_t data) {
    const auto window = static_cast<uint32_t>(c_->window);
    const auto qps = static_cast<uint64_t>(c_->qps);
    const auto first = static_cast<uint32_t>(out_.flows.size());
    uint64_t left = bytes();
    for (uint32_t step = 0; left > 0; ++step) {
      const uint64_t piece =
          c_->message > 0 ? static_cast<uint64_t>(c_->message) : uint64_t{kLeastPiece} << step % kPieces;
      const uint64_t now = std::min(left, piece * qps);
      left -= now;
      const uint32_t fifo = add(to, from, kFifoBytes, start());
      Flow& f = out_.flows[fifo];
      f.message = kFifoBytes;
      f.qps = 1;
      f.qp_class = static_cast<int8_t>(c_->fifo_class);
      f.next_on_delivery = true;
      const uint32_t step_data = add(from, to, now, start());
      Flow& d = out_.flows[step_data];
      d.group = data;
      d.message = static_cast<uint32_t>(piece);
      d.immediates = d.next_on_delivery = true;
      after(step_data, fifo);
      if (step >= window) after(fifo, first + 2 * (step - window) + 1);
    }
  }

  void trace() {
    group();
    if (c_->file.empty()) refuse("file", "a trace without a file", "Write file = \"trace.csv\".");
    const std::string path = (std::filesystem::path(c_->source.file).parent_path() / c_->file).string();
    const std::vector<TraceFlow> lines = parse_trace(input::read_text(path, kTraceFile), path, t_);
    const auto first = static_cast<uint32_t>(out_.flows.size());
    for (const TraceFlow& line : lines) {
      const uint32_t f = add(line.from, line.to, line.bytes, start() + static_cast<Time>(line.start_us * kUs));
      out_.flows[f].next_on_delivery = true;
    }
    for (uint32_t i = 0; i < lines.size(); ++i) {
      for (const uint32_t before : lines[i].after) after(first + i, first + before);
    }
  }

  const Scenario& scenario_;
  const Topology& t_;
  uint64_t seed_;
  const TrafficConfig* c_ = nullptr;
  Rng rng_{0, ""};
  uint64_t writes_ = 0;
  Traffic out_;
};

}  // namespace

Traffic make_traffic(const Scenario& scenario, const Topology& topology, uint64_t seed) {
  return Maker(scenario, topology, seed).make();
}

Driver::Driver(Fabric& fabric, const Topology& topology, Channels& channels, Traffic& traffic, Time reopen)
    : fabric_(fabric), topology_(topology), channels_(channels), traffic_(traffic), reopen_(reopen) {
  channels.use(0, *this);
}

void Driver::request() {
  for (const Flow& f : traffic_.flows) channels_.want(f.from, f.to, f.qp_class, f.qps);
}

void Driver::begin() {
  arrived_.assign(channels_.all().size(), 0);
  requested_.assign(topology_.hosts(), 0);
  for (const Flow& f : traffic_.flows) {
    requested_[f.to] += f.bytes;
    if (f.waits > 0) waits_until_ = std::max(waits_until_, f.start);
    if (f.waits > 1) local_ = false;
    for (const uint32_t n : f.next) {
      if (traffic_.flows[n].from != (f.next_on_delivery ? f.to : f.from)) local_ = false;
    }
  }
  for (uint32_t f = 0; f < traffic_.flows.size(); ++f) {
    if (traffic_.flows[f].waits == 0) due_.push_back(f);
  }
  std::stable_sort(due_.begin(), due_.end(),
                   [&](uint32_t a, uint32_t b) { return traffic_.flows[a].start < traffic_.flows[b].start; });
  std::reverse(due_.begin(), due_.end());
  if (!due_.empty()) fabric_.at(traffic_.flows[due_.back()].start, [this] { start_due(); });
  reopens_.assign(channels_.all().size(), false);
  if (reopen_ > 0) watch();
}

/// Looks for failed QPs now and then. A hook, so that it is the same time by any number of threads.
void Driver::watch() {
  if (over()) return;
  if (channels_.failures() != failures_seen_) {
    failures_seen_ = channels_.failures();
    for (uint32_t c = 0; c < reopens_.size(); ++c) {
      if (!channels_.at(c).failed || !channels_.at(c).reopens || reopens_[c]) continue;
      reopens_[c] = true;
      fabric_.at(fabric_.now() + reopen_, [this, c] {
        reopens_[c] = false;
        channels_.reopen(c);
      });
    }
  }
  fabric_.at(fabric_.now() + std::max<Time>(1, reopen_ / kLooks), [this] { watch(); });
}

std::string Driver::problem() const {
  const std::scoped_lock lock(problem_mutex_);
  return problem_;
}

bool Driver::goes_on() {
  const auto lacks = [&](NodeId h) { return fabric_.endpoint_at(h)->stats().delivered_bytes < requested_[h]; };
  const auto steady = [&](uint32_t index) {
    const Channel& c = channels_.at(index);
    return fabric_.endpoint_at(c.from)->steady(c.from_qpn);
  };
  while (lags_ < requested_.size() && !lacks(lags_)) ++lags_;
  // A NIC that nobody who sends to it is about to give up.
  for (NodeId h = lags_; h < std::min<size_t>(lags_ + kCandidates, requested_.size()); ++h) {
    const std::vector<uint32_t>& qps = channels_.of(h);
    if (lacks(h) &&
        std::all_of(qps.begin(), qps.end(), [&](uint32_t c) { return channels_.at(c).to != h || steady(c); })) {
      return true;
    }
  }
  return false;
}

void Driver::start_due() {
  while (!due_.empty() && traffic_.flows[due_.back()].start <= fabric_.now()) {
    const uint32_t f = due_.back();
    due_.pop_back();
    start(f);
  }
  if (!due_.empty()) fabric_.at(traffic_.flows[due_.back()].start, [this] { start_due(); });
}

Driver::Split Driver::split(const Flow& f) {
  const uint64_t messages = (f.bytes + f.message - 1) / f.message;
  if (messages >= f.qps) return {f.message, static_cast<uint32_t>(messages)};
  // One flow of one message on several QPs: each takes a part.
  const auto parts = static_cast<uint32_t>(std::min<uint64_t>(f.qps, f.bytes));
  const auto message = static_cast<uint32_t>((f.bytes + parts - 1) / parts);
  return {message, static_cast<uint32_t>((f.bytes + message - 1) / message)};
}

uint64_t Driver::share(const Flow& f, uint32_t k) {
  const Split s = split(f);
  if (k >= s.messages) return 0;
  const uint64_t own = (s.messages - 1 - k) / f.qps + 1;
  const bool last = (s.messages - 1) % f.qps == k;
  return own * s.message - (last ? uint64_t{s.messages} * s.message - f.bytes : 0);
}

void Driver::start(uint32_t index) {
  Flow& f = traffic_.flows[index];
  f.begun = fabric_.now_at(f.from);
  begun_.fetch_add(1, std::memory_order_relaxed);
  const Split pieces = split(f);
  f.to_deliver = f.to_complete = pieces.messages + (f.immediates ? f.qps : 0u);
  const uint32_t first = first_channel(f);
  uint64_t left = f.bytes;
  for (uint32_t m = 0; left > 0; ++m) {
    const auto size = static_cast<uint32_t>(std::min<uint64_t>(left, pieces.message));
    channels_.add(first + m % f.qps, {index, index, size}, f.outstanding);
    left -= size;
  }
  for (unsigned k = 0; f.immediates && k < f.qps; ++k) {
    channels_.add(first + k, {index, index, 0, true}, f.outstanding);
  }
  for (unsigned k = 0; k < f.qps; ++k) channels_.pump(first + k);
}

void Driver::completed(uint32_t, uint32_t index, bool ok) {
  Flow& f = traffic_.flows[index];
  if (!ok) f.failed = true;
  if (--f.to_complete != 0) return;
  f.done = fabric_.now_at(f.from);
  const bool last = finished_.fetch_add(1) + 1 == traffic_.flows.size();
  if (f.failed) {
    failed_.fetch_add(1, std::memory_order_relaxed);
  } else if (!f.next_on_delivery) {
    release(f, f.done);
  }
  if (last && on_end) on_end();
}

void Driver::delivered(uint32_t channel, uint32_t index, uint64_t bytes) {
  Flow& f = traffic_.flows[index];
  if (f.immediates && bytes != 0) arrived_[channel] += bytes;
  if (f.immediates && bytes == 0) {
    // What the receiver goes by: all bytes ahead of an immediate on its QP are there.
    const uint64_t wanted = share(f, channel - first_channel(f));
    uint64_t& arrived = arrived_[channel];
    if (arrived != wanted) {
      const std::scoped_lock lock(problem_mutex_);
      if (problem_.empty()) {
        const Channel& c = channels_.at(channel);
        problem_ = fmt::format("{} saw an immediate of queue pair {} when {} of the {} bytes ahead of it had arrived",
                               topology_.node_name(c.to), c.to_qpn, arrived, wanted);
      }
    }
    arrived = 0;
  }
  if (--f.to_deliver != 0) return;
  f.delivered = fabric_.now_at(f.to);
  if (f.next_on_delivery) release(f, f.delivered);
}

void Driver::release(Flow& f, Time now) {
  for (const uint32_t n : f.next) {
    Flow& next = traffic_.flows[n];
    if (--next.waits != 0) continue;
    if (next.start <= now) {
      start(n);
    } else {
      fabric_.at(next.start, [this, n] { start(n); });
    }
  }
}

}  // namespace mrc::sim
