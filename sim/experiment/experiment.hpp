// SPDX-License-Identifier: Apache-2.0
/// A scenario from its beginning to its end, and what came of it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/experiment/endpoints.hpp"
#include "sim/experiment/events.hpp"
#include "sim/experiment/failures.hpp"
#include "sim/experiment/jobs.hpp"
#include "sim/experiment/routes.hpp"
#include "sim/experiment/traffic.hpp"
#include "util/rng.hpp"

namespace mrc::sim {

/// State of the fabric at one time. Counts are since the beginning.
struct Sample {
  Time time = 0;
  uint64_t delivered = 0;     ///< bytes of payload
  uint64_t data_packets = 0;  ///< WRITE packets sent
  uint64_t retransmissions = 0;
  uint64_t trims = 0, marks = 0, drops = 0, lost = 0;
  /// Bytes of frames in each tier's links of each plane; kTiers names the tiers.
  std::array<std::array<uint64_t, 8>, 6> tier_bytes{};
  std::vector<uint64_t> group_delivered;  ///< of each group whose receivers have no other traffic
  /// Bytes that wait in the fullest port: T0 towards NICs, T0 towards T1, T1 (and T2) towards any.
  std::array<uint64_t, 3> deepest{};
  EvCounts evs;  ///< of the QPs that send (the first 512)
};

/// Numbers in their order.
struct Distribution {
  uint64_t count = 0;
  Time min = 0, median = 0, p99 = 0, p999 = 0, max = 0;
};
Distribution distribution(std::vector<Time> values);

/// A packet of the slowest flow that its sender took for lost.
struct LossStory {
  LossNote note;
  std::string by;  ///< its way: "plane 3 by T1-3-5"
};
/// The flow of a group that took longest, and why: what it lost, the latest back first.
struct SlowestFlow {
  static constexpr size_t kMostStories = 256;
  uint32_t flow = 0;  ///< index
  NodeId sender = 0;
  std::string from{}, to{};
  Time begun = 0, delivered = 0, done = 0;
  uint64_t lost = 0;                ///< packets, each as often as it was
  std::vector<LossStory> losses{};  ///< kMostStories at most
};

struct GroupResult {
  std::string label, pattern;
  uint64_t flows = 0, finished = 0, failed = 0, bytes = 0;
  Distribution fct;         ///< of the flows that have ended: from the first post until the sender knows
  Time begin = 0, end = 0;  ///< the first post; the last end
  /// The least time possible: all bytes with their headers at the rate of the busiest NIC, and one round trip.
  Time bound = 0;
  /// By which flows took longer than their own NICs' links allow: all bytes of this traffic there, their share of what
  /// else these carry meanwhile (shares.hpp), and one round trip. 0: not longer.
  Distribution late;
  double goodput_gbps = 0;  ///< delivered bytes over end - begin
  bool has_curve = false;
  /// What told of its losses; trimmed packets are none. Of endpoints that keep no account: nothing.
  std::array<uint64_t, kLossCauses> found{};
  std::optional<SlowestFlow> slowest{};  ///< of those that have ended
  /// A quantile of the completion times over the bound.
  double over(Time t) const { return bound > 0 ? static_cast<double>(t) / static_cast<double>(bound) : 0; }
};

struct EventResult {
  Time time = 0, lasts = 0;  ///< 0: for ever, or this is its end
  std::string text;
  double before_gbps = 0, lowest_gbps = 0, after_gbps = 0;
  /// Until the goodput is back at 90 % of what it is afterwards; none: there was no dip, or it never came back.
  std::optional<Time> recovery{};
  bool dip = false, measured = false;
};

struct PortResult {
  std::string name;  ///< "T0-0-3 to nic5"
  unsigned tier = 0, plane = 0;
  double load = 0;  ///< share of the time in which it sent
  uint64_t packets = 0, bytes = 0, deepest = 0, marks = 0, trims = 0, drops = 0, lost = 0;
};

/// Where links lead, from below.
inline constexpr std::array kTiers = {"NIC to T0", "T0 to NIC", "T0 to T1", "T1 to T0", "T1 to T2", "T2 to T1"};
/// One direction of all links between two tiers in a plane.
struct TierResult {
  unsigned tier = 0, plane = 0;
  uint64_t links = 0;
  double load = 0, most_load = 0;  ///< share of the time in which they sent: all on average, the busiest
  uint64_t packets = 0, bytes = 0, deepest = 0, marks = 0, trims = 0, drops = 0, lost = 0;
};
/// What data packets found in front of them in queues, in bytes.
struct DepthResult {
  const char* where = "";  ///< a tier's name; of T1 and T2 all ports
  uint64_t packets = 0, p50 = 0, p99 = 0, p999 = 0, p100 = 0;
};

enum class Outcome : uint8_t {
  Done,        ///< all flows have ended
  OpenEnd,     ///< the time is over, as it should be
  Failed,      ///< some flows failed, or bytes are missing
  Hang,        ///< nothing moves any more
  TimeLimit,   ///< the time is over
  Incomplete,  ///< stopped from outside, or for want of memory
  Empty,       ///< came to its end, but no byte was delivered
};
const char* outcome_name(Outcome outcome);

struct ExperimentResult {
  Outcome outcome = Outcome::Done;
  std::string reason;  ///< a sentence; empty when done
  bool out_of_memory = false;
  std::string scenario, description, transport;
  std::string problem;  ///< what a NIC of fidelity model or rtl did wrong, a sentence; empty: nothing
  uint64_t seed = 1;
  double failure_rates = 1;  ///< times what the scenario says
  Time time = 0;
  unsigned nics = 0, planes = 0, switches = 0, links = 0, qps = 0;
  double nic_gbps = 0;
  Time round_trip = 0;
  std::vector<GroupResult> groups;
  std::vector<Flow> flows;
  std::vector<JobResult> jobs;
  std::vector<Sample> samples;
  Time sample_period = 0;
  std::vector<EventResult> events;
  std::vector<FailureResult> failures;   ///< kinds that come at a rate
  std::vector<std::string> not_reached;  ///< events after the end of the run
  std::vector<PortResult> ports;         ///< of switches, that carried or lost anything
  std::vector<TierResult> tiers;         ///< by tier, then plane
  std::vector<DepthResult> depths;
  EndpointStats total;
  uint64_t trims = 0, marks = 0, drops = 0, lost = 0, discards = 0;
  uint64_t requested_bytes = 0;
  uint32_t reopened = 0;  ///< QPs of flows that failed and were set up anew, each as often as it was
  // The machine's side.
  uint64_t fabric_events = 0, memory = 0;
  uint64_t events_digest = 0;  ///< of time and place of all events
  uint64_t transmissions = 0;  ///< of all packets on all links
  unsigned threads = 1;
  double wall_seconds = 0, cpu_seconds = 0;
  double packets_per_second() const {
    return wall_seconds > 0 ? static_cast<double>(total.data_packets) / wall_seconds : 0;
  }
  /// The largest of (end - begin) / bound, of traffic and jobs.
  double over_bound() const;
};

struct ExperimentProgress {
  Time time = 0;
  double done = 0;  ///< 0 to 1
  double seconds = 0;
  uint64_t packets = 0;
  size_t flows = 0, finished = 0;
  uint64_t steps = 0, steps_done = 0;  ///< of jobs
};

/// Puts something between the fabric and a NIC: gets the host's number and its endpoint, gives what the fabric shall
/// see.
using EndpointWrap = std::function<std::unique_ptr<Endpoint>(NodeId host, std::unique_ptr<Endpoint> endpoint)>;

/// Thrown when a fabric is no longer wanted while it is being built.
struct Stopped {};

class Experiment {
 public:
  /// clocked: makes endpoints of fidelity model and rtl; without it they are refused. `stop`, set from outside, ends
  /// building with Stopped, and a run as Incomplete. Throws InputError: anything that cannot be built or run.
  Experiment(const Scenario& scenario, uint64_t seed, const ClockedMaker& clocked = {},
             const std::atomic<bool>* stop = nullptr, const EndpointWrap& wrap = {});
  ~Experiment();

  const Topology& topology() const { return topology_; }
  Fabric& fabric() { return *fabric_; }
  const Jobs& jobs() const { return jobs_; }

  /// Called between slices of the run.
  std::function<void(const ExperimentProgress&)> progress;
  /// What the end of that step of the jobs waited for is told.
  std::optional<uint32_t> keep_waits;
  /// Results have a list of ports, which has millions where the fabric has.
  bool keep_ports = true;

  /// Bytes held by fabric and endpoints.
  uint64_t memory() const;
  /// Once.
  ExperimentResult run();

 private:
  void check_time();
  void sample(ExperimentResult& result);
  void thin(ExperimentResult& result);
  uint64_t delivered() const;
  void finish(ExperimentResult& result);
  void count_ports(ExperimentResult& result) const;
  void report_losses(ExperimentResult& result) const;
  void report_waits(ExperimentResult& result) const;
  std::string way_of(const LossNote& note, NodeId from, NodeId to) const;
  void find_recovery(ExperimentResult& result) const;
  uint64_t wire_of(const Flow& flow) const;
  Time bound_of(uint32_t group) const;
  Time time_of(uint64_t bytes) const;

  bool over() const { return driver_->over() && jobs_.over(); }
  std::string not_ended() const;
  void poll() const;
  bool stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }

  Scenario scenario_;
  uint64_t seed_;
  const std::atomic<bool>* stop_;
  Topology topology_;
  Traffic traffic_;
  Jobs jobs_;
  std::unique_ptr<Fabric> fabric_;
  std::optional<Routes> routes_;
  std::unique_ptr<Channels> channels_;
  std::unique_ptr<Driver> driver_;
  Failures failures_;
  /// Given back when there is no memory left.
  std::unique_ptr<char[]> spare_ = std::make_unique<char[]>(size_t{4} << 20);
  std::optional<Events> events_;
  std::vector<EventResult> log_;
  std::vector<int32_t> group_of_receiver_;
  std::vector<bool> has_curve_;
};

}  // namespace mrc::sim
