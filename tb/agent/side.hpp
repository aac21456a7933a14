// SPDX-License-Identifier: Apache-2.0
/// Everything around one NIC that is known by its calls alone: host with memory and queues, ports, its way to the other
/// NIC, and what is told of it to a log. What Station is to pins.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "log/record.hpp"
#include "tb/agent/fit.hpp"
#include "tb/agent/monitor.hpp"
#include "tb/environment/link.hpp"
#include "tb/environment/plan.hpp"
#include "tb/environment/traffic.hpp"
#include "tb/worker.hpp"
#include "util/rng.hpp"

namespace mrc::tb {

/// Frames that a NIC sent, by kind, and those that reached it.
struct FrameCounts {
  uint64_t data = 0, rtx = 0, sack = 0, nack = 0, ack = 0, other = 0, received = 0, at_down_port = 0;
  /// Carriers of real ports that came or went by themselves, and when.
  std::vector<std::pair<Time, log::Port>> carriers;
};

class AgentSide {
 public:
  struct Setup {
    const Preset& preset;
    const Scenario& scenario;
    uint64_t seed;
    bool is_dut;
    const SidePlan& own;
    const SidePlan& other;
    OpenNic& nic;
    const OpenNic& other_nic;
    uint64_t packets;  ///< data packets it sends
    std::string profile;
    Monitor::Sink sink;  ///< records of a log; empty: nobody wants them
    bool shows = false;  ///< its events go to the log
  };
  explicit AgentSide(const Setup& setup);

  /// Address, regions, queue pairs. `other` is the plan's other side. Throws Refusal.
  void bring_up();
  /// Takes queue pair `index` to RTS as the plan says. Throws Refusal.
  void connect_qp(unsigned index);
  /// Ends queue pair `index`. Throws Refusal.
  void reset_qp(unsigned index);
  /// Forgets what was due on it, after both sides connected it anew.
  void revived(unsigned index);
  void connect(AgentSide& other);

  // A life ends, in the middle of traffic.

  /// The NIC's pin falls. Throws Refusal.
  void reset_nic();
  /// Software takes all queue pairs to RESET. Throws Refusal.
  void reset_qps();
  /// Software knows nothing of before: what it sends and expects is that of a new life. connect() follows on both
  /// sides. Throws Refusal.
  void begin_life(uint64_t seed);

  /// From `from` to `to`: everything that is decided before is handed in, then the NIC runs. Throws Refusal and what
  /// the device throws.
  void run(Time from, Time to);
  /// After both have run to `now`: mail and frames go over. Returns what is wrong, "" if nothing.
  static std::string exchange(AgentSide& a, AgentSide& b, Time now);
  /// What tells the log the records of the time before `now`. The NIC may run on before it is called, not end().
  Worker::Job flush(Time now);
  /// Tells the log all that is left, the counters, if they are wanted, and the end. Throws Refusal.
  void end(Time now, bool counters, const log::End& end);

  void stop_traffic() { life_->requester.stop(); }
  void more(uint64_t packets) { life_->requester.more(packets); }
  /// Nobody controls paths and windows for a while.
  void rest(bool on) { resting_ = on; }
  bool traffic_done() const {
    return life_->requester.exhausted() && life_->requester.quiet() && life_->responder->quiet();
  }
  /// Calls that were made while it runs, and do not act yet.
  unsigned pending() const { return pending_; }
  bool dead(unsigned qp) const { return life_->requester.dead(qp); }
  Time last_progress() const { return last_progress_; }
  Time last_data() const { return last_data_; }
  /// Of those with a queue pair: not of what NICs ask each other.
  Time last_packet() const { return last_packet_; }
  const std::string& problem() const { return problem_; }
  Time problem_time() const { return problem_time_; }
  int problem_qp() const { return problem_qp_; }
  const Requester& requester() const { return life_->requester; }
  const Responder& responder() const { return *life_->responder; }
  const Link& link() const { return link_; }
  const FrameCounts& frames() const { return counts_; }

 private:
  struct Port {
    std::vector<FramePtr> queue;  ///< heap, earliest arrival first
    Time free = 0;
    bool up = true;            ///< before the first of flips
    bool gone = false;         ///< its carrier went by itself
    std::deque<Time> flips{};  ///< its changes from the beginning of this run() on, further than a frame is long
    Time last_flip = 0;
    bool up_at(Time t) const;
  };
  void ends(unsigned index);
  void regions();
  template <class Body>
  Body& add(Time time);
  void fail(std::string what, Time time, int qp = -1);
  Time next_flip(unsigned plane, bool up, Time last);
  void flips(Time from, Time to);
  void pauses(Time from, Time to);
  void report_pause(NicDevice::HostQueue queue, Time begin, Time end);
  void deliver(Time from, Time to);
  void post(Time from, Time to);
  template <typename Order>
  void orders(double share, Time& next, Time from, Time to, Order order);
  void called(unsigned index, bool pending);
  void ordered(unsigned index, Time time);
  void acts(unsigned index, Time time);
  void controller(Time from, Time to);
  void end_qps(Time from, Time to);
  void carrier(const log::Port& port, Time time);
  void take(Output& output, Time reached);
  void sent(SentFrame& frame, Time first);
  void read(const HostRead& read, Time time, Time reached);
  void wrote(const HostWrite& write, Time time);
  void completed(const log::Cqe& cqe, Time time);
  int index_of(uint32_t qpn) const;
  uint64_t preamble_ps() const;

  const Preset& preset_;
  const Scenario& scenario_;
  const SidePlan &own_, &other_;
  OpenNic& nic_;
  const OpenNic& other_nic_;
  const bool is_dut_;
  const uint32_t number_;  ///< in the log
  Monitor monitor_;
  const bool shows_;

  Rng host_rng_, control_rng_, port_rng_;
  /// What it sends and expects between two resets.
  struct Life {
    Life(const AgentSide& of, uint64_t seed, uint64_t packets);
    SourceMemory source;
    Requester requester;
    std::unique_ptr<Responder> responder;
  };
  std::unique_ptr<Life> life_;
  Link link_;
  std::vector<Port> ports_;
  Time read_ps_, read_jitter_ps_;
  std::array<Time, 3> stall_next_{};           ///< of short pauses; reads, writes, completions
  std::array<uint64_t, 2> pauses_reported_{};  ///< their begins and ends; of writes, of completions
  std::array<Time, 3> paused_until_{};
  Time next_control_ = 0, next_end_ = 0;
  std::unordered_map<uint64_t, Wqe> posted_;  ///< by wr_id
  std::vector<log::Qp> rows_;                 ///< as last told to the log, by QP
  std::vector<unsigned> open_orders_;         ///< calls of a queue pair that do not act yet
  unsigned pending_ = 0;
  bool fresh_ = false;               ///< the NIC knows no regions
  bool ending_ = false;              ///< a life has ended, and the next one has not begun
  uint64_t resets_ = 0, drops_ = 0;  ///< of the NIC; silent drops that it had counted in lives before
  bool resting_ = false;

  uint64_t frame_number_ = 0;
  Time reported_ = 0;
  Time shown_until_ = 0;  ///< events of this time and later may come

  FrameCounts counts_;
  Time last_progress_ = 0, last_data_ = 0, last_packet_ = 0;
  std::string problem_;
  Time problem_time_ = 0;
  int problem_qp_ = -1;
};

}  // namespace mrc::tb
