// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <new>
#include <system_error>

#include "sim/experiment/endpoints.hpp"
#include "sim/experiment/memory.hpp"
#include "sim/experiment/shares.hpp"
#include "sim/switch/switch.hpp"

namespace mrc::sim {
namespace {

/// Samples kept when their period is free: at this number every other one goes, and the period doubles.
constexpr size_t kMaxSamples = 2000;
constexpr uint32_t kMaxEvQps = 512;
/// A run goes on so long before it looks whether it shall stop: a window of the largest fabric.
constexpr Time kLeastSlice = kUs / 2;
constexpr Time kFirstSlices = 4 * kMs;  ///< at most, until one was busy
/// More than a window, and the rest of what the NICs of a job have under way.
constexpr Time kAfterJobs = 5 * kUs;
/// Goodput in a sample comes in whole packets and SACKs: less than this is a dip.
constexpr double kRecovered = 0.9;

double gbps(uint64_t bytes, Time time) {
  return time > 0 ? static_cast<double>(bytes) * 8000.0 / static_cast<double>(time) : 0;
}

}  // namespace

Distribution distribution(std::vector<Time> v) {
  Distribution d;
  d.count = v.size();
  if (v.empty()) return d;
  std::sort(v.begin(), v.end());
  // Nearest rank: the smallest value that so many are not above.
  const auto rank = [&](double q) {
    const auto n = static_cast<size_t>(std::ceil(q * static_cast<double>(v.size())));
    return v[std::clamp<size_t>(n, 1, v.size()) - 1];
  };
  d.min = v.front();
  d.median = rank(0.5);
  d.p99 = rank(0.99);
  d.p999 = rank(0.999);
  d.max = v.back();
  return d;
}

const char* outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::Done:
      return "done";
    case Outcome::OpenEnd:
      return "time over";
    case Outcome::Failed:
      return "failed";
    case Outcome::Hang:
      return "hang";
    case Outcome::TimeLimit:
      return "time limit";
    case Outcome::Empty:
      return "nothing moved";
    default:
      return "incomplete";
  }
}

double ExperimentResult::over_bound() const {
  double most = 0;
  for (const GroupResult& g : groups) {
    if (g.finished > 0 && g.bound > 0)
      most = std::max(most, static_cast<double>(g.end - g.begin) / static_cast<double>(g.bound));
  }
  for (const JobResult& j : jobs) {
    if (j.end > 0) most = std::max(most, static_cast<double>(j.end - j.begin) / static_cast<double>(j.bound));
  }
  return most;
}

Experiment::Experiment(const Scenario& scenario, uint64_t seed, const ClockedMaker& clocked,
                       const std::atomic<bool>* stop, const EndpointWrap& wrap)
    : scenario_(scenario),
      seed_(seed),
      stop_(stop),
      topology_(scenario.topology),
      traffic_(make_traffic(scenario, topology_, seed)),
      jobs_(scenario_, topology_, seed, [this] { poll(); }),
      failures_(scenario_, topology_, seed) {
  std::vector<std::string> fidelity(topology_.hosts(), scenario.endpoints),
      where(topology_.hosts(), scenario.source.at("endpoints"));
  for (const NodeConfig& n : scenario.nodes) {
    const auto first = static_cast<unsigned>(n.first), count = static_cast<unsigned>(n.count);
    if (first + count > topology_.hosts()) {
      throw InputError(fmt::format("{}: there is no nic{}.", n.source.at("count"), first + count - 1),
                       fmt::format("NICs are 0 to {}.", topology_.hosts() - 1));
    }
    for (unsigned h = first; h < first + count; ++h) {
      fidelity[h] = n.fidelity;
      where[h] = n.source.at("fidelity");
    }
  }
  check_memory(scenario_, memory_needed(scenario_, topology_, traffic_, &jobs_), memory_left());
  FabricOptions options{.seed = seed, .threads = scenario.threads};
  if (scenario.windows == "always") options.window_nodes = options.window_events = 0;
  try {
    fabric_ = std::make_unique<Fabric>(options);
  } catch (const std::system_error& e) {
    throw InputError(
        fmt::format("--threads {}: the system does not give so many: {}.", scenario.threads, e.code().message()),
        "Give fewer.");
  }
  const auto poll = [this] { this->poll(); };
  std::shared_ptr<FastShared> common;
  const auto make = [&](NodeId h) {
    auto endpoint = make_endpoint(scenario_, topology_, fidelity[h], where[h], clocked, common);
    return wrap ? wrap(h, std::move(endpoint)) : std::move(endpoint);
  };
  topology_.build(*fabric_, make, poll);
  routes_.emplace(topology_, *fabric_);
  channels_ = std::make_unique<Channels>(*fabric_, topology_, scenario_, seed);
  const Time reopen = scenario_.transport == "roce" ? from_us(scenario_.roce_reopen_us) : 0;
  driver_ = std::make_unique<Driver>(*fabric_, topology_, *channels_, traffic_, reopen);
  driver_->request();
  jobs_.request(*channels_);
  channels_->open(poll);
  driver_->begin();
  jobs_.begin(*fabric_, *channels_);
  driver_->on_end = jobs_.on_end = [this] {
    if (over()) fabric_->stop();
  };
  if (scenario.windows != "never") {
    fabric_->allow_windows([this] {
      if (stopped()) fabric_->stop();  // a slice of run() may hold seconds of work, a window holds microseconds
      return driver_->apart() && (!jobs_.over() || driver_->goes_on());
    });
  }
  check_time();
  const auto report = [this](const std::string& text, Time lasts) {
    log_.push_back({.time = fabric_->now(), .lasts = lasts, .text = text});
  };
  failures_.begin(*fabric_, report);
  events_.emplace(scenario_, topology_, *fabric_, seed_, [this](NodeId from, NodeId to) {
    std::vector<uint32_t> active, backup;
    if (const Channel* channel = channels_->find(from, to)) channels_->entropy_of(*channel, active, backup);
    return active;
  });
  events_->begin(report);
  group_of_receiver_.assign(topology_.hosts(), -1);
  has_curve_.assign(traffic_.groups.size(), true);
  for (const Flow& f : traffic_.flows) {
    int32_t& g = group_of_receiver_[f.to];
    if (g == -1) g = static_cast<int32_t>(f.group);
    if (g != static_cast<int32_t>(f.group)) has_curve_[f.group] = has_curve_[static_cast<size_t>(g)] = false;
  }
}

Experiment::~Experiment() = default;

/// Bytes of a flow on the wire, with headers.
uint64_t Experiment::wire_of(const Flow& flow) const {
  const auto mtu = static_cast<uint64_t>(scenario_.mtu);
  const uint64_t packets = (flow.bytes + mtu - 1) / mtu;
  const uint64_t empty = flow.immediates ? flow.qps * uint64_t{wire_bytes(empty_frame(topology_))} : 0;
  return flow.bytes + packets * (wire_bytes(data_frame(scenario_, topology_)) - mtu) + empty;
}

/// What so many bytes take at a NIC's rate, and one round trip.
Time Experiment::time_of(uint64_t bytes) const {
  return Rate::gbps(topology_.nic_gbps()).time(bytes) +
         topology_.base_rtt(data_frame(scenario_, topology_), sack_frame(topology_));
}

Time Experiment::bound_of(uint32_t group) const {
  std::vector<uint64_t> in(topology_.hosts()), out(topology_.hosts());
  for (const Flow& f : traffic_.flows) {
    if (f.group != group) continue;
    const uint64_t wire = wire_of(f);
    in[f.to] += wire;
    out[f.from] += wire;
  }
  uint64_t most = 0;
  for (NodeId h = 0; h < topology_.hosts(); ++h) most = std::max({most, in[h], out[h]});
  return time_of(most);
}

void Experiment::check_time() {
  if (scenario_.open_end) return;
  for (uint32_t g = 0; g < traffic_.groups.size(); ++g) {
    const Time bound = bound_of(g);
    if (bound <= from_us(scenario_.duration_us)) continue;
    const bool written = scenario_.source.lines.count("duration_us") > 0;
    const std::string where = written ? scenario_.source.at("duration_us") : traffic_.groups[g].source.at("bytes");
    throw InputError(
        fmt::format("{}: traffic {} needs {:.6g} us at least, but duration_us = {:g}: the scenario would never end.",
                    where, traffic_.groups[g].label, static_cast<double>(bound) / kUs, scenario_.duration_us),
        "Give a longer duration_us or fewer bytes, or write open_end = true.");
  }
  for (size_t j = 0; j < scenario_.jobs.size(); ++j) {
    if (jobs_.bound(j) <= from_us(scenario_.duration_us)) continue;
    throw InputError(fmt::format("{}: the job needs {:.6g} us at least, but duration_us = {:g}.",
                                 scenario_.jobs[j].source.at(scenario_.jobs[j].trace.empty() ? "steps" : "trace"),
                                 static_cast<double>(jobs_.bound(j)) / kUs, scenario_.duration_us),
                     "Give a longer duration_us or fewer steps, or write open_end = true.");
  }
}

void Experiment::poll() const {
  if (stopped()) throw Stopped{};
}

/// Who has not ended, for a sentence.
std::string Experiment::not_ended() const {
  const size_t flows = traffic_.flows.size() - driver_->finished();
  if (jobs_.over()) return fmt::format("{} of {} flows have not ended", flows, traffic_.flows.size());
  const auto [steps, done] = jobs_.steps();
  return fmt::format("{} of {} steps have not ended: {}", steps - done, steps, jobs_.waiting());
}

uint64_t Experiment::delivered() const {
  uint64_t bytes = 0;
  for (NodeId h = 0; h < topology_.hosts(); ++h) bytes += fabric_->endpoint_at(h)->stats().delivered_bytes;
  return bytes;
}

void Experiment::sample(ExperimentResult& result) {
  Sample s;
  s.time = fabric_->now();
  s.group_delivered.assign(traffic_.groups.size(), 0);
  for (NodeId h = 0; h < topology_.hosts(); ++h) {
    const EndpointStats stats = fabric_->endpoint_at(h)->stats();
    s.delivered += stats.delivered_bytes;
    s.data_packets += stats.data_packets;
    s.retransmissions += stats.retransmissions;
    if (group_of_receiver_[h] >= 0)
      s.group_delivered[static_cast<size_t>(group_of_receiver_[h])] += stats.delivered_bytes;
  }
  for (NodeId n = topology_.hosts(); n < fabric_->nodes(); ++n) {
    const Switch& sw = *fabric_->switch_at(n);
    const bool leaf = topology_.tier_of(n) == 0;
    for (unsigned port = 0; port < fabric_->ports_of(n); ++port) {
      uint64_t depth = 0;
      for (unsigned q = 0; q < sw.used_queues(); ++q) {
        const QueueCounters c = sw.queue_counters(port, q);
        depth += sw.depth(port, q);
        s.trims += c.trim;
        s.marks += c.ecn_marked;
        s.drops += c.dropped_packets - c.tx_trim;
      }
      uint64_t& deepest = s.deepest[!leaf ? 2 : port < topology_.hosts_per_leaf() ? 0 : 1];
      deepest = std::max(deepest, depth);
    }
  }
  for (LinkId l = 0; l < fabric_->links(); ++l) {
    const unsigned tier = topology_.tier_of_link(l), plane = topology_.plane_of(l);
    for (const bool down : {false, true}) {
      const LinkStats stats = fabric_->stats(l, !down);
      s.lost += stats.lost;
      s.tier_bytes[2 * tier + down][plane] += stats.bytes;
    }
  }
  const auto& channels = channels_->all();
  for (size_t c = 0; c < std::min<size_t>(channels.size(), kMaxEvQps); ++c) {
    const EvCounts evs = fabric_->endpoint_at(channels[c].from)->ev_counts(channels[c].from_qpn);
    s.evs.good += evs.good;
    s.evs.skip += evs.skip;
    s.evs.assumed_bad += evs.assumed_bad;
    s.evs.denied += evs.denied;
  }
  result.samples.push_back(std::move(s));
}

void Experiment::thin(ExperimentResult& result) {
  size_t kept = 1;  // the first one stays where it is
  for (size_t i = 2; i < result.samples.size(); i += 2) result.samples[kept++] = std::move(result.samples[i]);
  result.samples.resize(kept);
  result.sample_period *= 2;
}

ExperimentResult Experiment::run() {
  ExperimentResult r;
  r.scenario = scenario_.name;
  r.description = scenario_.description;
  r.transport = scenario_.transport;
  r.seed = seed_;
  r.failure_rates = scenario_.failure_rates;
  for (const Flow& f : traffic_.flows) r.requested_bytes += f.bytes;
  r.requested_bytes += jobs_.bytes();
  if (keep_waits) jobs_.keep(*keep_waits);
  const auto wall = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count(); };
  const Time duration = from_us(scenario_.duration_us), hang = from_us(scenario_.hang_us);
  const bool fixed = scenario_.sample_us > 0;
  r.sample_period = fixed ? from_us(scenario_.sample_us) : kUs;
  Time next_sample = scenario_.sampling ? r.sample_period : kNever, next_check = hang / 4;
  Time slice = std::max<Time>(10 * kUs * 1024 / std::max(topology_.hosts(), 1024u), kLeastSlice);
  double dearest = 0;  // processor time of a simulated picosecond, in the busiest slice
  Time progress_time = 0;
  uint64_t progress_bytes = 0;
  double reported = 0;
  if (scenario_.sampling) sample(r);
  r.outcome = Outcome::TimeLimit;
  while (!over()) {
    const Time now = fabric_->now();
    if (now >= duration) break;
    if (stopped()) {
      r.outcome = Outcome::Incomplete;
      r.reason = "stopped before the end";
      break;
    }
    const std::clock_t before = std::clock();
    RunEnd end = RunEnd::Reached;
    try {
      end = fabric_->run(std::min({duration, next_sample, next_check, now + slice}));
    } catch (const std::bad_alloc&) {
      spare_.reset();  // the results need some
      r.outcome = Outcome::Incomplete;
      r.reason = "there was not enough memory";
      r.out_of_memory = true;
      break;
    }
    if (end == RunEnd::Idle && !over()) {
      r.outcome = Outcome::Hang;
      r.reason = "nothing will ever happen again, but " + not_ended();
      break;
    }
    // As long as it takes to answer Ctrl-C at once: also when ranks that compute begin to send in the middle of it.
    const double after = seconds(), took = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    if (took < 0.02) slice *= 2;
    if (took > 0.1) slice /= 2;
    if (took > 0.02) dearest = std::max(dearest, took / static_cast<double>(std::max<Time>(fabric_->now() - now, 1)));
    const Time most = dearest > 0 ? static_cast<Time>(0.3 / dearest) : kFirstSlices;
    slice = std::max(std::min(slice, most), kLeastSlice);
    if (fabric_->now() >= next_sample) {
      sample(r);
      if (!fixed && r.samples.size() >= kMaxSamples) thin(r);
      if (fixed && r.samples.size() >= 50 * kMaxSamples) thin(r);
      next_sample = r.samples.back().time + r.sample_period;
    }
    if (fabric_->now() >= next_check) {
      const uint64_t bytes = delivered() + driver_->finished();
      // Nothing is under way when all that has begun has ended: flows wait for their time, ranks compute.
      const bool waiting =
          driver_->reopening() || (driver_->begun() == driver_->finished() && jobs_.quiet() && !jobs_.failed());
      if (bytes != progress_bytes || waiting) {
        progress_bytes = bytes;
        progress_time = fabric_->now();
      } else if (fabric_->now() - progress_time >= hang) {
        r.outcome = Outcome::Hang;
        r.reason = fmt::format("no byte has arrived for {:g} us, and {}",
                               static_cast<double>(fabric_->now() - progress_time) / kUs, not_ended());
        break;
      }
      next_check = fabric_->now() + hang / 4;
    }
    if (progress && after - reported > 0.2) {
      reported = after;
      ExperimentProgress p;
      p.time = fabric_->now();
      p.seconds = after;
      uint64_t bytes = 0;
      for (NodeId h = 0; h < topology_.hosts(); ++h) {
        const EndpointStats stats = fabric_->endpoint_at(h)->stats();
        bytes += stats.delivered_bytes;
        p.packets += stats.data_packets;
      }
      p.done = std::max(static_cast<double>(bytes) / static_cast<double>(r.requested_bytes),
                        scenario_.open_end ? static_cast<double>(p.time) / static_cast<double>(duration) : 0.0);
      p.flows = traffic_.flows.size();
      p.finished = driver_->finished();
      std::tie(p.steps, p.steps_done) = jobs_.steps();
      progress(p);
    }
  }
  r.wall_seconds = seconds();
  r.cpu_seconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
  if (over()) {
    r.outcome = Outcome::Done;
    // A job ends at some NIC, when others may be a window ahead: what all of them do until then.
    if (jobs_.any()) (void)fabric_->run(std::max(fabric_->now(), jobs_.end() + kAfterJobs));
  } else if (r.outcome == Outcome::TimeLimit) {
    if (scenario_.open_end) {
      r.outcome = Outcome::OpenEnd;
    } else {
      r.reason = fmt::format("duration_us = {:g} is over, but {}", scenario_.duration_us, not_ended());
    }
  }
  if (scenario_.sampling && r.samples.back().time < fabric_->now()) sample(r);
  finish(r);
  return r;
}

uint64_t Experiment::memory() const {
  uint64_t bytes = fabric_->memory() + jobs_.memory();
  for (NodeId h = 0; h < topology_.hosts(); ++h) bytes += fabric_->endpoint_at(h)->memory();
  return bytes;
}

void Experiment::finish(ExperimentResult& r) {
  r.time = fabric_->now();
  r.nics = topology_.hosts();
  r.planes = topology_.planes();
  r.switches = topology_.switches();
  r.links = topology_.links();
  r.qps = static_cast<unsigned>(channels_->all().size());
  r.nic_gbps = topology_.nic_gbps();
  r.round_trip = topology_.base_rtt(data_frame(scenario_, topology_), sack_frame(topology_));
  r.fabric_events = fabric_->events();
  r.events_digest = fabric_->digest();
  r.threads = fabric_->threads();
  r.memory = memory();
  for (NodeId h = 0; h < topology_.hosts(); ++h) {
    const Endpoint& endpoint = *fabric_->endpoint_at(h);
    const EndpointStats s = endpoint.stats();
    EndpointStats& t = r.total;
    t.data_packets += s.data_packets;
    t.data_bytes += s.data_bytes;
    t.retransmissions += s.retransmissions;
    t.timeouts += s.timeouts;
    t.delivered_packets += s.delivered_packets;
    t.delivered_bytes += s.delivered_bytes;
    t.duplicates += s.duplicates;
    t.trimmed += s.trimmed;
    t.marked += s.marked;
    t.returned += s.returned;
    t.sacks += s.sacks;
    t.nacks += s.nacks;
    t.acks += s.acks;
    t.probes += s.probes;
    t.completions += s.completions;
    t.failed_qps += s.failed_qps;
    for (unsigned c = 0; c < kLossCauses; ++c) t.found[c] += s.found[c];
  }
  count_ports(r);

  std::vector<std::vector<Time>> fct(traffic_.groups.size()), late(traffic_.groups.size());
  const std::vector<uint64_t> share =
      shares(traffic_.flows, topology_.hosts(), [this](const Flow& f) { return wire_of(f); });
  for (uint32_t g = 0; g < traffic_.groups.size(); ++g) {
    GroupResult group;
    group.label = traffic_.groups[g].label;
    group.pattern = traffic_.groups[g].pattern;
    group.bound = bound_of(g);
    group.begin = kNever;
    group.has_curve = has_curve_[g];
    r.groups.push_back(std::move(group));
  }
  for (const Flow& f : traffic_.flows) {
    GroupResult& g = r.groups[f.group];
    ++g.flows;
    if (f.begun != kNever) g.begin = std::min(g.begin, f.begun);
    if (f.failed) ++g.failed;
    if (f.done == kNever || f.failed) continue;
    ++g.finished;
    g.bytes += f.bytes;
    g.end = std::max(g.end, f.done);
    const Time took = f.done - f.begun;
    fct[f.group].push_back(took);
    late[f.group].push_back(took - std::min(took, time_of(share[static_cast<size_t>(&f - traffic_.flows.data())])));
  }
  for (uint32_t g = 0; g < r.groups.size(); ++g) {
    GroupResult& group = r.groups[g];
    if (group.begin == kNever) group.begin = 0;
    group.fct = distribution(std::move(fct[g]));
    group.late = distribution(std::move(late[g]));
    if (group.finished > 0) group.goodput_gbps = gbps(group.bytes, group.end - group.begin);
  }
  r.reopened = channels_->reopened();
  const bool twice = jobs_.restarted() || r.reopened > 0;
  const bool all_there =
      twice ? r.total.delivered_bytes >= r.requested_bytes : r.total.delivered_bytes == r.requested_bytes;
  if (r.outcome == Outcome::Done && (driver_->failed() > 0 || !all_there)) {
    r.outcome = Outcome::Failed;
    r.reason = driver_->failed() > 0
                   ? fmt::format("{} of {} flows failed", driver_->failed(), traffic_.flows.size())
                   : fmt::format("{} bytes were delivered, {} were sent", r.total.delivered_bytes, r.requested_bytes);
  }
  if (r.outcome == Outcome::OpenEnd && r.total.delivered_bytes == 0) {
    r.outcome = Outcome::Empty;
    r.reason = "no byte was delivered before the end";
  }
  for (NodeId h = 0; h < topology_.hosts(); ++h) {
    if (const std::string wrong = fabric_->endpoint_at(h)->problem(); !wrong.empty() && r.problem.empty()) {
      r.problem = topology_.node_name(h) + ": " + wrong;
    }
  }
  if (r.problem.empty()) r.problem = driver_->problem();
  if (r.problem.empty()) r.problem = jobs_.problem();
  if (!r.problem.empty()) {
    r.outcome = Outcome::Failed;
    r.reason = r.problem;
  }
  r.events = log_;
  if (r.outcome != Outcome::Incomplete) r.not_reached = events_->after(r.time);
  r.jobs = jobs_.results();
  r.failures = failures_.results();
  find_recovery(r);
  report_losses(r);
  report_waits(r);
  r.flows = std::move(traffic_.flows);
}

std::string Experiment::way_of(const LossNote& note, NodeId from, NodeId to) const {
  std::string way = fmt::format("plane {}", note.plane);
  if (topology_.clos() && topology_.srv6() && topology_.leaf_of(from) != topology_.leaf_of(to)) {
    const uint32_t uplink = note.entropy & ((1u << topology_.path_rule().uplink_bits) - 1);
    way += fmt::format(" by T1-{}-{}", note.plane, uplink % topology_.spines());
  }
  return way;
}

/// What messages of a chain of waits lost, and the last failure on their way.
void Experiment::report_waits(ExperimentResult& r) const {
  for (JobResult& job : r.jobs) {
    if (!job.waits) continue;
    for (LateMessage& wait : job.waits->slowest) {
      const NodeId from = job.nics[wait.from], to = job.nics[wait.to];
      const uint32_t qpn = channels_->at(channels_->first(from, to, -1, 1)).from_qpn;
      std::vector<std::string> ways = {topology_.node_name(from) + "/", topology_.node_name(to) + "/"};
      uint64_t lost = 0;
      const LossNote* last = nullptr;
      for (const LossNote& note : fabric_->endpoint_at(from)->losses()) {
        if (note.qpn != qpn || note.sent < wait.begin || note.sent > wait.end) continue;
        ++lost;
        if (last == nullptr || note.back >= last->back) last = &note;
      }
      if (last != nullptr) {
        const std::string way = way_of(*last, from, to);
        if (const size_t by = way.find("T1-"); by != std::string::npos) ways.push_back(way.substr(by));
        wait.reported.push_back(fmt::format(
            "{} lost; the last back: PSN {} of {:.3f} us on {}, known at {:.3f} ({}), again at {:.3f} on plane {}",
            lost, last->psn, static_cast<double>(last->sent) / kUs, way, static_cast<double>(last->known) / kUs,
            kLossCauseNames[static_cast<unsigned>(last->cause)], static_cast<double>(last->again) / kUs,
            last->again_plane));
      }
      const auto event = std::find_if(log_.rbegin(), log_.rend(), [&](const EventResult& e) {
        return e.time <= wait.end && !e.text.ends_with(" ends") &&
               std::ranges::any_of(ways, [&](const std::string& way) {
                 return (e.text + " ").find(way.back() == '/' ? way : way + " ") != std::string::npos;
               });
      });
      if (event != log_.rend()) {
        wait.reported.push_back(fmt::format("at {:.3f} us: {}", static_cast<double>(event->time) / kUs, event->text));
      }
    }
  }
}

/// What found the losses of each group, and the story of its slowest flow.
void Experiment::report_losses(ExperimentResult& r) const {
  const auto& flows = traffic_.flows;
  for (uint32_t f = 0; f < flows.size(); ++f) {
    const Flow& flow = flows[f];
    if (flow.done == kNever || flow.failed) continue;
    std::optional<SlowestFlow>& slowest = r.groups[flow.group].slowest;
    if (slowest && slowest->done - slowest->begun >= flow.done - flow.begun) continue;
    slowest = SlowestFlow{.flow = f, .begun = flow.begun, .delivered = flow.delivered, .done = flow.done};
  }
  for (NodeId h = 0; h < topology_.hosts(); ++h) {
    for (const LossNote& note : fabric_->endpoint_at(h)->losses()) {
      if (note.user >= flows.size()) continue;  // a job's
      GroupResult& group = r.groups[flows[note.user].group];
      ++group.found[static_cast<unsigned>(note.cause)];
      if (!group.slowest || note.user != group.slowest->flow) continue;
      SlowestFlow& slowest = *group.slowest;
      ++slowest.lost;
      slowest.losses.push_back({note, way_of(note, flows[note.user].from, flows[note.user].to)});
    }
  }
  for (GroupResult& group : r.groups) {
    if (!group.slowest) continue;
    SlowestFlow& slowest = *group.slowest;
    slowest.sender = flows[slowest.flow].from;
    slowest.from = topology_.node_name(flows[slowest.flow].from);
    slowest.to = topology_.node_name(flows[slowest.flow].to);
    const auto end = [](const LossStory& s) { return s.note.back != 0 ? s.note.back : kNever; };
    std::stable_sort(slowest.losses.begin(), slowest.losses.end(),
                     [&](const LossStory& a, const LossStory& b) { return end(a) > end(b); });
    if (slowest.losses.size() > SlowestFlow::kMostStories) slowest.losses.resize(SlowestFlow::kMostStories);
  }
}

void Experiment::find_recovery(ExperimentResult& r) const {
  const auto& s = r.samples;
  if (s.size() < 8) return;
  const auto rate = [&](size_t i) { return gbps(s[i].delivered - s[i - 1].delivered, s[i].time - s[i - 1].time); };
  // The end of traffic, when flows run out, tells nothing: the last flow but one in ten.
  Time quiet = r.time;
  if (!traffic_.flows.empty()) {
    std::vector<Time> ends;
    for (const Flow& f : traffic_.flows) ends.push_back(f.done == kNever ? r.time : f.done);
    std::sort(ends.begin(), ends.end());
    quiet = ends[ends.size() / 10];
    quiet -= std::min(quiet, 2 * r.sample_period + r.round_trip);
  }
  const auto median_between = [&](Time from, Time to) {
    std::vector<double> rates;
    for (size_t i = 1; i < s.size(); ++i) {
      if (s[i - 1].time >= from && s[i].time <= to) rates.push_back(rate(i));
    }
    if (rates.empty()) return -1.0;
    std::nth_element(rates.begin(), rates.begin() + static_cast<long>(rates.size() / 2), rates.end());
    return rates[rates.size() / 2];
  };
  for (size_t e = 0; e < r.events.size(); ++e) {
    EventResult& event = r.events[e];
    Time before = 0, after = quiet;
    for (const EventResult& other : r.events) {
      if (other.time < event.time) before = std::max(before, other.time);
      if (other.time > event.time) after = std::min(after, other.time);
    }
    // Levels: half of the time to the event before, to the one behind, so that what those did is over.
    event.before_gbps = median_between(event.time - (event.time - before) / 2, event.time);
    event.after_gbps = after > event.time ? median_between(event.time + (after - event.time) / 2, after) : -1;
    if (event.before_gbps <= 0 || event.after_gbps <= 0) continue;
    event.measured = true;
    event.lowest_gbps = event.after_gbps;
    const double level = kRecovered * std::min(event.before_gbps, event.after_gbps);
    Time last_low = 0;
    for (size_t i = 1; i < s.size() && s[i].time <= after; ++i) {
      if (s[i].time <= event.time) continue;
      event.lowest_gbps = std::min(event.lowest_gbps, rate(i));
      if (rate(i) < level && (last_low == 0 ? s[i].time <= event.time + (after - event.time) / 2
                                            : s[i - 1].time <= last_low + 10 * r.sample_period)) {
        event.dip = true;
        last_low = s[i].time;
      }
    }
    if (event.dip) event.recovery = last_low - event.time;
  }
}

}  // namespace mrc::sim
