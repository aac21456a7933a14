// SPDX-License-Identifier: Apache-2.0
/// Who sends what to whom and when: flows, what each waits for, and the driver that posts their work requests.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "gen/protocol.hpp"
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

/// Which flow each message of a QP belongs to, by MSN. The sender's side puts them in, the receiver's takes them out:
/// they may be two threads.
class MessageLog {
 public:
  MessageLog() = default;
  MessageLog(MessageLog&& other) noexcept;
  MessageLog& operator=(MessageLog&&) = delete;
  ~MessageLog();

  // The sender's side.
  void put(uint32_t flow);
  /// The newest one was none.
  void unput() { put_.store(put_.load(std::memory_order_relaxed) - 1, std::memory_order_release); }

  // The receiver's side.
  /// Null: no such message, or it has been given up.
  const uint32_t* find(uint32_t msn) const;
  /// One message more is delivered: those before it are given up from time to time.
  void took();

 private:
  static constexpr uint32_t kBlock = 14;
  struct Block {
    std::array<uint32_t, kBlock> flow;
    Block* next = nullptr;
  };
  std::atomic<uint32_t> put_ = 0;
  uint32_t room_ = 0;  // up to this number in `newest_`
  Block *newest_ = nullptr, *oldest_ = nullptr;
  uint32_t first_ = 0, taken_ = 0;  // number of the first in `oldest_`
};

/// A QP between two NICs, used in one direction.
struct Channel {
  NodeId from = 0, to = 0;
  uint32_t from_qpn = 0, to_qpn = 0;
  uint32_t outstanding = 0, limit = 0;
  int8_t qp_class = -1;
  bool failed = false;
  struct Message {
    uint32_t flow, bytes;
  };
  std::vector<Message> queue;  ///< not posted yet, from `head` on
  size_t head = 0;
  MessageLog posted;
};

/// Opens the QPs, posts, listens.
class Driver final : public Listener {
 public:
  Driver(Fabric& fabric, const Topology& topology, const Scenario& scenario, Traffic& traffic, uint64_t seed);

  /// Opens all QPs and schedules the flows. `poll` is called now and then; what it throws ends this. Throws InputError:
  /// an endpoint cannot have a QP.
  void begin(const std::function<void()>& poll = {});
  /// Called when the last flow has ended.
  std::function<void()> on_end;

  size_t begun() const { return begun_.load(std::memory_order_relaxed); }
  size_t finished() const { return finished_.load(std::memory_order_relaxed); }
  size_t failed() const { return failed_.load(std::memory_order_relaxed); }
  bool over() const { return finished() == traffic_.flows.size(); }
  /// For Fabric::allow_windows(): until the fabric's window is over, what happens at a NIC leads to no work of another
  /// one, and the last flow does not end: bytes still have to arrive, and then an ACK.
  bool apart();
  const std::vector<Channel>& channels() const { return channels_; }
  /// Of the first QP from one NIC to another, null: there is none.
  const Channel* channel(NodeId from, NodeId to) const;
  void entropy_of(const Channel& channel, std::vector<uint32_t>& active, std::vector<uint32_t>& backup) const;

  void completed(const Completion& completion) override;
  void delivered(const Delivery& delivery) override;

 private:
  /// Of the QPs of that class from one NIC to another.
  static uint64_t key(NodeId from, NodeId to, int8_t qp_class) {
    return uint64_t{static_cast<uint8_t>(qp_class + 1)} << 56 | uint64_t{from} << 28 | to;
  }
  void start(uint32_t flow);
  void start_due();
  void pump(uint32_t channel);
  void release(Flow& flow, Time now);
  void message_over(uint32_t flow, bool ok);
  uint32_t channel_of(NodeId node, uint32_t qpn) const { return by_qpn_[node][qpn - kFirstQpn]; }

  static constexpr NodeId kCandidates = 8;
  static constexpr uint64_t kNodeMask = (1u << 28) - 1;
  static constexpr uint32_t kFirstQpn = kQpnBase;  ///< as the NIC numbers them
  Fabric& fabric_;
  const Topology& topology_;
  const Scenario& scenario_;
  Traffic& traffic_;
  uint64_t seed_;
  std::vector<Channel> channels_;
  std::unordered_map<uint64_t, uint32_t> first_channel_;  // of a pair; the others follow
  std::vector<std::vector<uint32_t>> by_qpn_;
  std::vector<uint32_t> due_;  // flows that wait for their time, the earliest last
  std::atomic<size_t> begun_ = 0, finished_ = 0, failed_ = 0;
  bool local_ = true;            // whatever a flow waits for ends where that flow begins
  Time waits_until_ = 0;         // flows that wait for others need not wait for their time beyond this
  NodeId lags_ = 0;              // before this one all NICs have received everything
  std::vector<uint64_t> asked_;  // bytes that a NIC will receive
};

}  // namespace mrc::sim
