// SPDX-License-Identifier: Apache-2.0
/// Who sends what to whom and when: flows, what each waits for, and who posts their work requests.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "sim/experiment/channels.hpp"
#include "sim/experiment/scenario.hpp"

namespace mrc::sim {

/// Bytes from one NIC to another.
struct Flow {
  NodeId from = 0, to = 0;
  uint32_t group = 0;  ///< which flows it is reported with
  uint64_t bytes = 0;
  uint32_t message = 0;      ///< bytes of a WRITE
  uint32_t outstanding = 0;  ///< WRITEs a QP has posted at once; 0: all
  uint16_t qps = 1;
  int8_t qp_class = -1;           ///< of its QPs: of the fabric's profile; -1: none of their own
  bool immediates = false;        ///< behind its bytes a WRITE with immediate of no bytes on each QP
  Time start = 0;                 ///< not before
  uint32_t waits = 0;             ///< flows that must have ended before
  bool next_on_delivery = false;  ///< those below wait until the receiver has it; else until the sender knows
  std::vector<uint32_t> next;     ///< flows that wait for this one

  // Filled in by the run.
  Time begun = kNever;                       ///< posted
  Time delivered = kNever;                   ///< the receiver has all
  Time done = kNever;                        ///< the sender knows
  uint32_t to_deliver = 0, to_complete = 0;  ///< WRITEs
  bool failed = false;
};

/// Flows that are reported together.
struct FlowGroup {
  std::string label, pattern;
  Source source;
};

struct Traffic {
  std::vector<FlowGroup> groups;
  std::vector<Flow> flows;
};

/// Throws InputError: no such NIC, not enough of them, a trace that cannot be read, flows that wait for each other.
Traffic make_traffic(const Scenario& scenario, const Topology& topology, uint64_t seed);

/// Posts the work requests of flows, and knows when they have ended.
class Driver final : public Channels::User {
 public:
  /// The channels are opened between ask() and begin().
  /// reopen: so long after a QP was seen to have failed it is set up anew; 0: its flows have failed.
  Driver(Fabric& fabric, const Topology& topology, Channels& channels, Traffic& traffic, Time reopen = 0);

  /// Wants the QPs.
  void request();
  /// Schedules the flows.
  void begin();
  /// Called when the last flow has ended.
  std::function<void()> on_end;

  size_t begun() const { return begun_.load(std::memory_order_relaxed); }
  size_t finished() const { return finished_.load(); }
  size_t failed() const { return failed_.load(std::memory_order_relaxed); }
  bool over() const { return finished() == traffic_.flows.size(); }
  /// QPs have failed and are to be set up anew.
  bool reopening() const { return channels_.failures() != channels_.reopened(); }
  /// For Fabric::allow_windows(): until the fabric's window is over, what happens at a NIC leads to no work of another
  /// one.
  bool apart() const { return local_ && fabric_.now() >= waits_until_; }
  /// The last flow does not end within the fabric's window: bytes still have to arrive, and then an ACK.
  bool goes_on();
  /// An immediate that was seen before all bytes ahead of it on its QP: a sentence without full stop; empty: none.
  std::string problem() const;

  void completed(uint32_t channel, uint32_t id, bool ok) override;
  void delivered(uint32_t channel, uint32_t label, uint64_t bytes) override;

 private:
  /// The WRITEs of a flow.
  struct Split {
    uint32_t message;   ///< bytes of each but the last
    uint32_t messages;  ///< those with bytes
  };
  static Split split(const Flow& flow);
  /// Bytes of a flow on its k-th QP.
  static uint64_t share(const Flow& flow, uint32_t k);
  uint32_t first_channel(const Flow& flow) const { return channels_.first(flow.from, flow.to, flow.qp_class); }
  void start(uint32_t flow);
  void start_due();
  void release(Flow& flow, Time now);
  void watch();

  static constexpr NodeId kCandidates = 8;
  Fabric& fabric_;
  const Topology& topology_;
  Channels& channels_;
  Traffic& traffic_;
  Time reopen_;
  uint32_t failures_seen_ = 0;
  std::vector<bool> reopens_;  // by channel: it is seen to have failed
  std::vector<uint32_t> due_;  // flows that wait for their time, the earliest last
  std::atomic<size_t> begun_ = 0, finished_ = 0, failed_ = 0;
  bool local_ = true;                // whatever a flow waits for ends where that flow begins
  Time waits_until_ = 0;             // flows that wait for others need not wait for their time beyond this
  NodeId lags_ = 0;                  // before this one all NICs have received everything
  std::vector<uint64_t> requested_;  // bytes that a NIC will receive
  std::vector<uint64_t> arrived_;    // by channel, the receiver's: bytes since the newest immediate
  mutable std::mutex problem_mutex_;
  std::string problem_;
};

}  // namespace mrc::sim
