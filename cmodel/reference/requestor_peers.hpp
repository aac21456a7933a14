// SPDX-License-Identifier: Apache-2.0
/// Port status updates that a NIC owes its peers: each is told of each change, again and again until it answers.
#pragma once

#include <map>

#include "reference/queue.hpp"
#include "reference/requestor_world.hpp"

namespace mrc::ref {

class RequestorPeers {
 public:
  explicit RequestorPeers(RequestorWorld& world) : world_(world) {}

  void qp(const log::Qp& qp, Time time);
  void port(Time time);
  /// An endpoint request left / a response came.
  void sent(const Seen& seen);
  void answered(const Seen& seen, bool sure);
  void now(Time time);

 private:
  struct Try {
    uint16_t id = 0;
    Time at = 0;
    uint32_t mask = 0;
  };
  struct Peer {
    std::map<uint32_t, log::Qp> qps;  ///< that lead there
    bool notified = true;             ///< of the newest change
    Time since = 0;                   ///< the newest change, or the QP that made it a peer
    Time free = 0;                    ///< free time then
    Queue<Try> tries;                 ///< of this change
    bool answer = false, open = false;
    bool changed = false;  ///< a port has, since it is a peer
    Time heard = 0;        ///< the answer
    Time due = 0;          ///< of the next try
  };
  bool alone(const Peer& peer) const;
  uint32_t mask() const;
  void missed(Rule rule, const log::Ip& ip, const Peer& peer, Time since, Time time, std::string right);

  RequestorWorld& world_;
  std::map<log::Ip, Peer> peers_;
};

}  // namespace mrc::ref
