// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <unordered_map>

#include "reference/history_requestor.hpp"

namespace mrc::ref::history {

/// path.*: which port and entropy value data leave with.
class Paths {
 public:
  explicit Paths(World& world) : w_(world), wire_(world.profile().wire()) {}
  /// A peer may have said something of its ports.
  void received(const Seen& seen);
  /// Its owner has set it: packets may leave later with the EVs that it has now.
  void changed(const QpWorld& qp) { set_of(qp); }
  /// A data packet of that QP.
  void sent(const Seen& seen, const QpWorld& qp);
  /// The same, when again() has been told.
  static void used(Requestor& r, uint32_t ev) { r.recent_evs[r.packets++ % r.recent_evs.size()] = ev; }
  /// It is a retransmission; `before` is still the transmission before.
  void again(const Seen& seen, const QpWorld& qp, Requestor& r, const SentPsn& before);
  /// Some peer has said that one of its ports is down.
  bool any_peer_down() const { return any_peer_down_; }

 private:
  struct PeerPort {
    bool notified = false, up = true;
    Time since = 0;   ///< the word that changed it
    Time newest = 0;  ///< the last word
  };
  struct EvSet {
    uint64_t incarnation = 0, changes = 0;
    /// EV -> bits of the planes it may leave from. An EV whose place another one has taken stays: packets that it was
    /// chosen for may leave later.
    std::unordered_map<uint32_t, uint64_t> planes;
  };
  const EvSet& set_of(const QpWorld& qp);
  /// The QP's last packets went out on so many EVs besides this one: it had a choice.
  static bool choice(const Requestor& r, uint32_t ev);

  World& w_;
  wire::WireConfig wire_;
  static constexpr std::size_t kMostPeers = 4096;  ///< of those that are no QP's peer
  std::map<log::Ip, std::array<PeerPort, log::kMaxPlanes>> peers_;
  std::unordered_map<uint32_t, EvSet> sets_;
  bool any_peer_down_ = false;
};

}  // namespace mrc::ref::history
