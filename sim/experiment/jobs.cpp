// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <utility>

#include "sim/experiment/endpoints.hpp"
#include "sim/job/chakra.hpp"
#include "sim/job/collectives.hpp"
#include "sim/job/goal.hpp"
#include "util/rng.hpp"

namespace mrc::sim {
namespace {

constexpr unsigned kUser = 1;
/// Operations of a rank that are read ahead: traces list all receives first, some of them.
constexpr uint32_t kTraceAhead = 4096;
/// A message has several WRITEs if it is larger; all but the last have kNoTag.
constexpr uint64_t kWriteBytes = uint64_t{1} << 30;
/// Times that are kept: of each rank in each step.
constexpr uint64_t kMostMarks = 64'000'000;

[[noreturn]] void refuse(const Source& source, std::string_view key, const std::string& what,
                         const std::string& remedy) {
  throw InputError(source.at(key) + ": " + what + ".", remedy);
}

Collective collective_of(const std::string& name) {
  for (const auto& [word, c] : {std::pair{"ring", Collective::Ring},
                                {"tree", Collective::Tree},
                                {"hierarchical", Collective::Hierarchical},
                                {"alltoall", Collective::AllToAll},
                                {"pipeline", Collective::Pipeline}}) {
    if (name == word) return c;
  }
  return Collective::None;
}

Over over_of(const std::string& name) {
  for (const auto& [word, o] : {std::pair{"tensor", Over::Tensor},
                                {"data", Over::Data},
                                {"expert", Over::Expert},
                                {"pipeline", Over::Pipeline}}) {
    if (name == word) return o;
  }
  return Over::All;
}

JobShape shape_of(const JobConfig& c, const Topology& t) {
  const auto hosts = t.hosts(), first = static_cast<uint32_t>(c.first);
  if (first >= hosts) {
    refuse(c.source, "first", fmt::format("first = {} is no NIC of this topology", first),
           fmt::format("NICs are 0 to {}.", hosts - 1));
  }
  const uint32_t ranks = c.ranks > 0 ? static_cast<uint32_t>(c.ranks) : hosts - first;
  if (ranks > hosts - first) {
    refuse(c.source, "ranks", fmt::format("{} ranks are more than the {} NICs there are", ranks, hosts - first),
           "Give fewer ranks or a larger topology.");
  }
  JobShape s;
  s.tensor = static_cast<uint32_t>(c.tensor);
  s.pipeline = static_cast<uint32_t>(c.pipeline);
  s.expert = static_cast<uint32_t>(c.expert);
  const uint64_t both = uint64_t{s.tensor} * s.pipeline;
  if (both > ranks || ranks % both != 0) {
    refuse(c.source, "tensor",
           fmt::format("{} ranks are not a multiple of tensor x pipeline = {} x {}", ranks, s.tensor, s.pipeline),
           "Give another number of ranks, or other groups.");
  }
  s.data = ranks / static_cast<uint32_t>(both);
  if (s.data % s.expert != 0) {
    refuse(c.source, "expert", fmt::format("data = {} is not a multiple of expert = {}", s.data, s.expert),
           "Give expert groups of another size.");
  }
  return s;
}

Phase phase_of(const PhaseConfig& c, const JobShape& shape) {
  Phase p;
  p.compute = from_us(c.compute_us);
  p.jitter = c.jitter;
  p.collective = collective_of(c.collective);
  p.over = over_of(c.over);
  p.bytes = static_cast<uint64_t>(c.bytes);
  p.buckets = static_cast<uint32_t>(c.buckets);
  p.local = static_cast<uint32_t>(c.local);
  p.pieces = static_cast<uint32_t>(c.pieces);
  p.window = static_cast<uint32_t>(c.window);
  p.skew = c.skew;
  const uint32_t n = group_of(shape, p.over, 0).count;
  if (p.collective == Collective::None) return p;
  if (n < 2) {
    refuse(c.source, "collective", fmt::format("{} over {} has groups of one rank", c.collective, c.over),
           "Choose other groups, or collective = \"none\".");
  }
  if (p.collective == Collective::Hierarchical && n % p.local != 0) {
    refuse(c.source, "local", fmt::format("groups of {} ranks are not a multiple of local = {}", n, p.local),
           "Give another local.");
  }
  if (p.collective == Collective::Pipeline && p.compute / (3 * uint64_t{p.buckets}) == 0) {
    refuse(c.source, "compute_us", "a pipeline whose stages compute nothing", "Write compute_us.");
  }
  return p;
}

std::string beside(const JobConfig& job, const std::string& file) {
  return (std::filesystem::path(job.source.file).parent_path() / file).string();
}

std::unique_ptr<Schedule> read_trace(const JobConfig& c, const Topology& t, const std::function<void()>& poll) {
  const std::string path = trace_path(c);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InputError(path + ": cannot read the trace: it is a folder.", "Name a file of GOAL, or rank 0's of Chakra.");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw InputError(fmt::format("{}: cannot read the trace: {}.", path, std::strerror(errno)),
                     "Name a file of GOAL, beside the scenario.");
  }
  const std::string groups = c.groups.empty() ? c.groups : beside(c, c.groups);
  if (!groups.empty() && !is_chakra(path)) {
    refuse(c.source, "groups", "groups with a trace that is none of Chakra's", "Leave out groups.");
  }
  std::unique_ptr<Schedule> schedule = is_chakra(path)      ? read_chakra(path, poll, groups)
                                       : is_goal_binary(in) ? read_goal_binary(in, path, poll)
                                                            : read_goal(in, path, poll);
  const uint64_t wanted = c.ranks > 0 ? static_cast<uint64_t>(c.ranks) : schedule->ranks();
  if (wanted != schedule->ranks()) {
    refuse(c.source, "ranks", fmt::format("ranks = {}, but {} has {}", wanted, path, schedule->ranks()),
           "Leave out ranks.");
  }
  if (c.first + schedule->ranks() > t.hosts()) {
    refuse(c.source, "trace",
           fmt::format("{} ranks are more than the {} NICs there are", schedule->ranks(),
                       t.hosts() - std::min<double>(c.first, t.hosts())),
           "Give a larger topology.");
  }
  return schedule;
}

/// NICs that are not taken yet, by rank.
std::vector<NodeId> place(const JobConfig& c, const Topology& t, uint32_t ranks, const std::vector<bool>& taken,
                          uint64_t seed) {
  std::vector<NodeId> nics;
  if (c.placement == "packed") {
    nics.resize(ranks);
    std::iota(nics.begin(), nics.end(), static_cast<NodeId>(c.first));
  } else if (c.first > 0) {
    refuse(c.source, "first", fmt::format("first with placement = \"{}\"", c.placement), "Leave out first.");
  } else if (c.placement == "random") {
    for (NodeId h = 0; h < t.hosts(); ++h) {
      if (!taken[h]) nics.push_back(h);
    }
    Rng rng(seed, "placement");
    for (size_t i = nics.size(); i > 1; --i) std::swap(nics[i - 1], nics[rng.below(i)]);
    if (nics.size() < ranks) {
      refuse(c.source, "ranks", fmt::format("{} ranks are more than the {} NICs that are free", ranks, nics.size()),
             "Give fewer ranks.");
    }
    nics.resize(ranks);
  } else {
    const auto gpus = static_cast<uint32_t>(c.gpus);
    if (t.leaves() % gpus != 0) {
      refuse(c.source, "gpus", fmt::format("{} T0s of a plane cannot be shared by {} rails", t.leaves(), gpus),
             "Give as many leaves as gpus, or a multiple.");
    }
    const uint32_t leaves = t.leaves() / gpus, room = leaves * t.hosts_per_leaf();
    if ((ranks + gpus - 1) / gpus > room) {
      refuse(c.source, "ranks",
             fmt::format("{} servers of {} ranks are more than the {} places of a rail", (ranks + gpus - 1) / gpus,
                         gpus, room),
             "Give fewer ranks, or more hosts_per_leaf.");
    }
    for (uint32_t r = 0; r < ranks; ++r) {
      const uint32_t server = r / gpus, rail = r % gpus;
      const uint32_t leaf = rail * leaves + server / t.hosts_per_leaf();
      nics.push_back(leaf * t.hosts_per_leaf() + server % t.hosts_per_leaf());
    }
  }
  for (const NodeId nic : nics) {
    if (nic >= t.hosts()) refuse(c.source, "placement", fmt::format("there is no nic{}", nic), "Give fewer ranks.");
    if (taken[nic]) {
      refuse(c.source, "first", fmt::format("nic{} has a rank of another job already", nic), "Place the jobs apart.");
    }
  }
  return nics;
}

/// What a message takes with nothing in its way: it is shared among the planes.
class Least {
 public:
  Least(const Scenario& scenario, const Topology& topology)
      : t_(topology),
        nic_(times(scenario, topology)),
        mtu_(static_cast<unsigned>(scenario.mtu)),
        headers_(data_frame(scenario, topology) - mtu_),
        whole_(Rate::gbps(topology.nic_gbps())),
        port_(Rate::gbps(topology.config().gbps)),
        sack_bytes_(static_cast<uint64_t>(std::max(scenario.sack_trigger, scenario.mtu))),
        sack_(scenario.transport == "roce" ? 0 : whole_.time(wire_bytes(sack_frame(topology)))) {}

  IdealMessage operator()(NodeId from, NodeId to, uint64_t bytes) const {
    const uint64_t packets = (bytes + mtu_ - 1) / mtu_;
    const uint64_t wire = bytes + packets * (wire_bytes(headers_ + mtu_) - mtu_);
    const uint64_t before = (packets - 1) / t_.planes();  // packets of a plane in front of its last
    const auto least = static_cast<unsigned>(bytes - (packets - 1) * mtu_);
    const unsigned last = packets == 1 || (packets - 1) % t_.planes() == 0 ? least : mtu_;
    const unsigned first = packets == 1 ? least : mtu_, full = headers_ + mtu_;
    IdealMessage m{};
    m.wire = whole_.time(wire);
    const Time to_memory = nic_.packet_to_memory + nic_.lane_time(last, port_);
    m.arrives = nic_.work_to_wire + nic_.lane_time(headers_ + first, port_) + to_memory;
    if (before == 0) {
      m.arrives += t_.one_way(from, to, headers_ + last);
    } else {  // switches store the one in front of the last, whole
      m.arrives += port_.time((before - 1) * wire_bytes(full)) + t_.one_way(from, to, full) +
                   port_.time(wire_bytes(headers_ + last));
    }
    const Time answer = nic_.packet_to_answer + t_.one_way(to, from, sack_frame(t_));
    m.known = answer > to_memory ? answer - to_memory : 0;
    m.answers = bytes / sack_bytes_ * sack_;
    return m;
  }

 private:
  /// NICs of the contrast take no time of their own.
  static FastConfig times(const Scenario& scenario, const Topology& topology) {
    FastConfig config = nic_settings(scenario, topology);
    if (scenario.transport == "roce") {
      config.work_to_wire = config.packet_to_memory = config.packet_to_answer = 0;
      config.lane_16_bytes = 1;
    }
    return config;
  }

  const Topology& t_;
  FastConfig nic_;
  unsigned mtu_, headers_;
  Rate whole_, port_;
  uint64_t sack_bytes_;
  Time sack_;  // of what one takes; those of RoCE are not counted
};

}  // namespace

std::string trace_path(const JobConfig& job) { return beside(job, job.trace); }

/// One job. Ranks are called by the threads of their NICs.
class Jobs::Running final : public Wires {
 public:
  Running(Jobs& jobs, const JobConfig& said, JobShape shape, std::vector<NodeId> placed)
      : config(said), nics(std::move(placed)), jobs_(jobs) {
    plan.shape = shape;
    plan.steps = trace() ? 0 : static_cast<uint32_t>(config.steps);
    for (const PhaseConfig& p : config.phases) plan.phases.push_back(phase_of(p, shape));
  }

  const JobConfig& config;
  JobPlan plan;
  std::vector<NodeId> nics;
  std::unique_ptr<Schedule> schedule;
  IdealResult ideal;
  std::unique_ptr<Executor> executor;
  Fabric* fabric = nullptr;
  Channels* channels = nullptr;
  IdealNetwork network;
  std::optional<uint32_t> kept;
  std::vector<char> begun;
  Time resume = 0;
  uint32_t restarts = 0, repeated = 0;

  bool trace() const { return !config.trace.empty(); }
  uint32_t ahead() const { return trace() ? kTraceAhead : Executor::kAhead; }
  bool ended_all() const {
    for (uint32_t r = 0; r < nics.size(); ++r) {
      if (executor->result(r).end == kNever) return false;
    }
    return true;
  }
  Time start() const { return from_us(config.start_us); }
  void begin() {
    executor = std::make_unique<Executor>(*schedule, *this, ahead());
    go_on_at(start());
    if (config.restart_us > 0) watch();
  }
  void go_on_at(Time time) {
    resume = time;
    begun.assign(nics.size(), 0);
    for (const NodeId nic : nics) fabric->due_at(nic, time);
  }
  bool has_failed() const {
    for (uint32_t r = 0; r < nics.size(); ++r) {
      if (executor->result(r).failed > 0) return true;
    }
    return false;
  }
  /// Looks for failed QPs now and then. A hook, so that it is the same time by any number of threads.
  void watch() {
    if (ended_all() || (has_failed() && !restart())) return;
    fabric->at(fabric->now() + std::max<Time>(1, from_us(config.restart_us / kLooks)), [this] { watch(); });
  }
  /// All ranks go back, and on after a while. False: the NICs cannot set up QPs anew.
  bool restart();
  void due(uint32_t rank) {
    if (fabric->now_at(nics[rank]) < resume) return;  // of before a restart
    if (std::exchange(begun[rank], 1) != 0) {
      executor->due(rank);
    } else {
      executor->begin(rank);
    }
  }

  Time now(uint32_t rank) const override { return fabric->now_at(nics[rank]); }
  void send(uint32_t rank, uint32_t peer, uint64_t bytes, uint32_t tag, uint32_t id) override {
    const uint32_t channel = channels->first(nics[rank], nics[peer], -1, kUser);
    for (; bytes > kWriteBytes; bytes -= kWriteBytes) {
      channels->add(channel, {kNoTag, kNoTag, static_cast<uint32_t>(kWriteBytes)});
    }
    channels->add(channel, {id, tag, static_cast<uint32_t>(bytes)});
    channels->pump(channel);
  }
  void wake_at(uint32_t rank, Time time) override { fabric->due_at(nics[rank], time); }
  void ended(uint32_t) override {
    if (jobs_.ended_.fetch_add(1) + 1 == jobs_.ranks_ && jobs_.on_end) jobs_.on_end();
  }

 private:
  Jobs& jobs_;
};

bool Jobs::Running::restart() {
  std::vector<bool> mine(jobs_.places_.size());
  for (const NodeId nic : nics) mine[nic] = true;
  for (uint32_t c = 0; c < channels->all().size(); ++c) {
    const Channel& channel = channels->at(c);
    if (channel.user != kUser || !mine[channel.from]) continue;
    if (!channels->reset(c)) return false;
    jobs_.parts_[c] = 0;
  }
  // From the last step that all have ended, or the checkpoint before it.
  size_t done = plan.steps, most = 0;
  std::vector<RankResult> before;
  for (uint32_t r = 0; r < nics.size(); ++r) {
    before.push_back(executor->result(r));
    done = std::min(done, before[r].marks.size());
    most = std::max(most, before[r].marks.size());
  }
  const auto from = trace() ? 0u : static_cast<uint32_t>(done - done % static_cast<size_t>(config.checkpoint));
  for (RankResult& rank : before) {
    if (std::exchange(rank.end, kNever) != kNever) jobs_.ended_.fetch_sub(1);
    rank.failed = 0;
    rank.marks.resize(std::min<size_t>(rank.marks.size(), from));
  }
  ++restarts;
  repeated += static_cast<uint32_t>(std::min<size_t>(most + 1, std::max(1u, plan.steps)) - from);
  executor = std::make_unique<Executor>(*schedule, *this, ahead(), from, std::move(before));
  if (kept) executor->keep(*kept);
  go_on_at(fabric->now() + from_us(config.restart_us));
  return true;
}

Jobs::Jobs(const Scenario& scenario, const Topology& topology, uint64_t seed, const std::function<void()>& poll)
    : places_(topology.hosts()) {
  if (scenario.jobs.empty()) return;
  const auto least = std::make_shared<const Least>(scenario, topology);
  std::vector<bool> taken(topology.hosts());
  for (size_t j = 0; j < scenario.jobs.size(); ++j) {
    const JobConfig& config = scenario.jobs[j];
    std::unique_ptr<Schedule> schedule;
    JobShape shape;
    if (config.trace.empty()) {
      shape = shape_of(config, topology);
    } else {
      schedule = read_trace(config, topology, poll);
      shape.data = schedule->ranks();
    }
    const uint64_t own_seed = Rng::hash(seed ^ Rng::hash(j + 1));
    if (shape.ranks() * static_cast<uint64_t>(config.steps) > kMostMarks) {
      refuse(config.source, "steps",
             fmt::format("{:.0f} steps of {} ranks are more than {} in all", config.steps, shape.ranks(), kMostMarks),
             "Give fewer steps.");
    }
    jobs_.push_back(
        std::make_unique<Running>(*this, config, shape, place(config, topology, shape.ranks(), taken, own_seed)));
    Running& job = *jobs_.back();
    job.plan.seed = own_seed;
    for (uint32_t r = 0; r < job.nics.size(); ++r) {
      taken[job.nics[r]] = true;
      places_[job.nics[r]] = {&job, r};
    }
    ranks_ += job.nics.size();
    job.schedule = job.trace() ? std::move(schedule) : make_schedule(job.plan);
    job.network = [least, &job](uint32_t from, uint32_t to, uint64_t bytes) {
      return (*least)(job.nics[from], job.nics[to], bytes);
    };
    job.ideal = run_ideal(*job.schedule, job.network, job.ahead(), poll);
    const auto& [wrong, line] = job.ideal.problem;
    if (wrong.empty()) continue;
    if (!job.trace()) refuse(config.source, {}, "the job cannot end: " + wrong, "Correct its phases.");
    const std::string path = trace_path(config);
    std::ifstream in(path, std::ios::binary);
    const bool nodes = is_chakra(path) || is_goal_binary(in);
    throw InputError(
        fmt::format("{}: the job cannot end: {}.",
                    nodes ? fmt::format("{}: node {}", path, line) : fmt::format("{}:{}", path, line), wrong),
        fmt::format("Look for the other side of that message. Of each rank {} operations are read ahead.",
                    kTraceAhead));
  }
}

Jobs::~Jobs() = default;

void Jobs::pairs(const std::function<void(NodeId, NodeId)>& f) const {
  std::vector<uint32_t> peers;
  for (const auto& job : jobs_) {
    for (uint32_t r = 0; r < job->nics.size(); ++r) {
      peers.clear();
      job->schedule->peers(r, peers);
      std::sort(peers.begin(), peers.end());
      peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
      for (const uint32_t peer : peers) f(job->nics[r], job->nics[peer]);
    }
  }
}

void Jobs::request(Channels& channels) const {
  pairs([&](NodeId from, NodeId to) { channels.want(from, to, -1, 1, kUser); });
}

void Jobs::begin(Fabric& fabric, Channels& channels) {
  channels.use(kUser, *this);
  channels_ = &channels;
  parts_.assign(channels.all().size(), 0);
  for (const auto& job : jobs_) {
    job->fabric = &fabric;
    job->channels = &channels;
    job->begin();
  }
}

void Jobs::completed(uint32_t channel, uint32_t id, bool ok) {
  if (id == kNoTag) return;  // a part
  const Place& place = places_[channels_->at(channel).from];
  place.job->executor->sent(place.rank, id, ok);
}

void Jobs::delivered(uint32_t channel, uint32_t label, uint64_t bytes) {
  uint64_t& before = parts_[channel];
  if (label == kNoTag) {
    before += bytes;
    return;
  }
  const Place& place = places_[channels_->at(channel).to];
  const Place& from = places_[channels_->at(channel).from];
  place.job->executor->arrived(place.rank, from.rank, label, std::exchange(before, 0) + bytes);
}

void Jobs::due(NodeId node) {
  if (const Place& place = places_[node]; place.job != nullptr) place.job->due(place.rank);
}

void Jobs::keep(uint32_t step) {
  for (const auto& job : jobs_) {
    job->kept = step;
    job->executor->keep(step);
  }
}

bool Jobs::failed() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job->has_failed(); });
}

bool Jobs::restarted() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job->restarts > 0; });
}

bool Jobs::quiet() const {
  return std::all_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job->executor->under_way() == 0; });
}

Time Jobs::end() const {
  Time last = 0;
  for (const auto& job : jobs_) {
    for (uint32_t r = 0; r < job->nics.size(); ++r) {
      if (const Time end = job->executor->result(r).end; end != kNever) last = std::max(last, end);
    }
  }
  return last;
}

uint64_t Jobs::bytes() const {
  uint64_t sum = 0;
  for (const auto& job : jobs_) sum += job->ideal.bytes;
  return sum;
}

const Schedule& Jobs::schedule(size_t job) const { return *jobs_[job]->schedule; }

Time Jobs::bound(size_t job) const { return jobs_[job]->start() + jobs_[job]->ideal.end; }

std::pair<uint64_t, uint64_t> Jobs::steps() const {
  uint64_t all = 0, done = 0;
  for (const auto& job : jobs_) {
    if (job->trace()) {
      ++all;
      done += job->ended_all() ? 1 : 0;
      continue;
    }
    all += job->plan.steps;
    size_t least = job->plan.steps;
    for (uint32_t r = 0; r < job->nics.size(); ++r) least = std::min(least, job->executor->result(r).marks.size());
    done += least;
  }
  return {all, done};
}

std::string Jobs::problem() const {
  for (const auto& job : jobs_) {
    if (const auto found = job->executor->problem(); !found.text.empty()) return found.text;
  }
  return {};
}

std::string Jobs::waiting() const {
  for (const auto& job : jobs_) {
    if (const auto found = job->executor->waiting(); !found.text.empty()) return found.text;
  }
  return {};
}

uint64_t Jobs::memory() const {
  constexpr uint64_t kRank = 16'000;  // with what it has read ahead
  uint64_t bytes = 0;
  for (const auto& job : jobs_) {
    bytes += job->executor ? job->executor->memory() : job->nics.size() * (kRank + job->plan.steps * sizeof(Time));
  }
  return bytes;
}

/// A trace as one step.
StepResult Jobs::whole(const Running& job, const JobResult& r) {
  StepResult step{.begin = r.begin, .end = r.end, .bound = r.bound};
  Time first = kNever;
  for (uint32_t n = 0; n < r.ranks; ++n) {
    const Time end = job.executor->result(n).end;
    first = std::min(first, end);
    if (end == r.end) step.last = n;
  }
  step.spread = r.end - first;
  return step;
}

std::vector<JobResult> Jobs::results() const {
  std::vector<JobResult> list;
  for (const auto& job : jobs_) {
    JobResult r;
    r.label = job->config.label.empty() ? "job" : job->config.label;
    r.ranks = static_cast<uint32_t>(job->nics.size());
    r.wanted = job->plan.steps;
    r.messages = job->ideal.messages;
    r.bytes = job->ideal.bytes;
    r.calls = job->schedule->calls;
    r.begin = job->start();
    r.bound = job->ideal.end;
    r.nics = job->nics;
    r.restarts = job->restarts;
    r.repeated = job->repeated;
    r.stopped = job->restarts * from_us(job->config.restart_us);
    size_t ended = job->plan.steps;
    for (uint32_t n = 0; n < r.ranks; ++n) {
      const RankResult& rank = job->executor->result(n);
      ended = std::min(ended, rank.marks.size());
      r.failed += rank.failed;
      r.computed += rank.computed;
      if (rank.end != kNever) r.end = std::max(r.end, rank.end);
    }
    if (job->trace()) {
      r.wanted = 1;
      if (job->ended_all()) r.steps.push_back(whole(*job, r));
    }
    for (size_t s = 0; s < ended; ++s) {
      StepResult step;
      step.begin = s == 0 ? r.begin : r.steps.back().end;
      step.bound = job->ideal.marks[s] - (s == 0 ? 0 : job->ideal.marks[s - 1]);
      Time first = kNever;
      for (uint32_t n = 0; n < r.ranks; ++n) {
        const Time end = job->executor->result(n).marks[s];
        first = std::min(first, end);
        if (end <= step.end) continue;
        step.end = end;
        step.last = n;
      }
      step.spread = step.end - first;
      r.steps.push_back(step);
    }
    if (job->kept && *job->kept < r.steps.size()) {
      r.waits = chain_of(*job->executor, *job->kept, r.steps[*job->kept].last, job->network);
    }
    list.push_back(std::move(r));
  }
  return list;
}

}  // namespace mrc::sim
