// SPDX-License-Identifier: Apache-2.0
/// What the judges of requestors share: time in which a NIC could have sent, ports, and findings that a silent drop
/// would explain.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "reference/disturbances.hpp"
#include "reference/history_world.hpp"
#include "reference/open_reads.hpp"
#include "reference/queue.hpp"

namespace mrc::ref {

/// Counts the time in which a NIC could have sent: as much of each moment as ports are up and free, and nothing while
/// the host lets it wait for data: for long, or so that all ports stand idle. A packet then waits for all before it.
class FreeTime {
 public:
  FreeTime(unsigned planes, double port_gbps, Time patience);
  void port(unsigned plane, bool up, Time time);
  void sent(unsigned plane, Time first, Time last, Time time);
  void read(uint64_t tag, Time time);
  void read_done(uint64_t tag, Time time);
  /// Until `time`, which never goes back.
  Time until(Time time);
  /// Time between two moments, the later one told already, in which all ports stood idle while the host owed data: so
  /// much longer frames may have waited inside. What was too long ago to be known counts as such.
  Time starved(Time from, Time to) const;
  /// Some port is up, and has been since before `since`.
  bool steady(Time since) const { return some_up_ && changed_ < since; }
  Time changed() const { return changed_; }

 private:
  unsigned planes_;
  Time gap_, patience_;  ///< a host access that takes longer makes the NIC wait
  Time at_ = 0, free_ = 0, changed_ = 0;
  bool some_up_ = true;
  std::array<bool, log::kMaxPlanes> up_{};
  std::array<Time, log::kMaxPlanes> busy_{};  ///< until then
  OpenReads reads_;
  Time starved_ = 0;
  Queue<std::pair<Time, Time>> samples_;  ///< starved_ now and then
};

/// What a packet counts for with rcvd_bytes and the controller.
double nominal_size(const wire::Packet& packet, const Settings& settings);

/// What all QPs of a NIC share.
struct RequestorWorld {
  RequestorWorld(const Profile& profile, Report& report);

  /// A finding that is none if the NIC has lost the packet that it stands on without a word.
  void doubt(Finding finding);
  /// The counter of silent drops, if it was read.
  void decide(std::optional<uint64_t> dropped);
  /// Ports here and at peers are as they were for long enough.
  bool steady(Time since) const { return free.steady(since) && peer_changed < since; }
  /// No port here or at peers was ever down.
  bool never_down() const { return !world.any_down() && !peer_down; }
  /// When the plane's port went down last, here or by the word of the QP's peer; 0: never.
  Time gone(const log::Qp& qp, unsigned plane) const;

  history::World world;
  FreeTime free;
  Time peer_changed = 0;  ///< a peer's word about its ports that differed from the one before
  bool peer_down = false;
  std::map<log::Ip, std::array<Time, log::kMaxPlanes>> peer_gone;  ///< peer -> newest word that the plane is down
  Time now = 0;
  Disturbances disturbed;       ///< a carrier came or went by itself: what was on its way then may be lost
  std::optional<Time> crowded;  ///< so many work requests were open that others may have waited behind them
  /// Marks of EVs in succession that did nothing and may each have been overtaken on another plane, by plane. A NIC
  /// that serves its ports in whatever order does not lose all of them that come on several planes.
  std::array<unsigned, log::kMaxPlanes> overtaken{};
  bool all_overtaken() const;
  Time probed = 0;  ///< newest probe of an EV, of any QP
  /// A destination's controller that is shown, and has nothing in flight.
  struct Empty {
    double window = 0;
    Time since = 0;
  };
  std::map<uint32_t, Empty> empty;

 private:
  std::vector<Finding> held_;
  std::map<Rule, uint64_t> held_count_;
};

}  // namespace mrc::ref
