// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/tx/inflight/tx_inflight_fsm.hpp"

namespace mrc::inflight {

/// What a port reports: a plane went down, here or at a peer, so what was given to it is lost. The QPs with
/// something open are looked at, as the visits bring them by, a block of 16 PSNs in a turn; they ask their peers. One
/// function per state. Twin of mrc_tx_inflight_ports.
class Ports {
 public:
  Ports(Shared& shared, const Preset& preset)
      : s_(shared), planes_(preset.num_planes), dest_mask_(preset.num_dests - 1), looked_(preset.num_qps) {}

  /// First in each cycle.
  void begin() { over_ = left_ == 0 && soon_ == 0 && !at_on_; }
  /// A QP is looked at, and packets that were on their way to the window are there: request 5.
  bool due() const { return at_on_ && soon_ == 0; }
  /// *Visit* of a QP, before it changes anything: it may be the next one that is looked at.
  void visit(QpIndex index);
  /// PEER_PORTS. False: it waits until all QPs have been looked at for another peer.
  bool status(unsigned dest, unsigned mask, bool port_wait);
  /// QP_CTX: a QP begins anew, perhaps the one that is half done.
  void forget() { mid_ = false; }

  void seek(bool state_silent);
  void port0();
  void port1();
  void port2();
  void port3();
  /// Last in each cycle: a port that falls wins over what else happened. acked: register cfg_ack_q, some other block
  /// may still not know of the ports.
  void end(unsigned port_up, bool port_wait, bool acked);

 private:
  bool walks() const { return own_ || said_; }
  bool meant(const Qp& q) const { return own_ || of_peer(q); }
  bool of_peer(const Qp& q) const { return said_ && (q.dest & dest_mask_) == peer_; }
  void next_block();
  void read_next();

  Shared& s_;
  const unsigned planes_, dest_mask_;
  unsigned up_ = 0;                  ///< port_up of the cycle before
  std::vector<bool> looked_;         ///< QPs that have been looked at since a plane went down
  unsigned left_ = 0;                ///< QPs that are watched, and still to be looked at
  unsigned at_ = 0;                  ///< the QP that is looked at,
  bool at_on_ = false;               ///< if there is one
  bool mid_ = false;                 ///< it has been begun,
  uint32_t block_ = 0;               ///< and this is its next block
  unsigned soon_ = 0;                ///< cycles until one may be looked at
  bool own_ = false, said_ = false;  /// one's own port fell; a peer said that planes are down
  unsigned peer_ = 0, down_ = 0;     ///< which, and what planes
  // In this cycle:
  bool peer_fell_ = false;  ///< a peer says that planes are down
  bool waits_ = false;      ///< *Visit* is of a QP that is still to be looked at
  bool over_ = false;       ///< all had been looked at when it began
  // Kept from one state to the next.
  uint16_t rest_ = 0, lost_ = 0;
  uint32_t sum_ = 0;
};

}  // namespace mrc::inflight
