// SPDX-License-Identifier: Apache-2.0
/// Which addresses are the device's own, and whose a trimmed packet is: a switch whose link is down, or whose queue is
/// full, may send it back to its sender.
#pragma once

#include <set>

#include "log/record.hpp"
#include "reference/profile.hpp"

namespace mrc::ref {

/// Address without what the plane puts into it; IPv4 as ::ffff:a.b.c.d, whatever stood before.
log::Ip plain_address(const Settings& settings, log::Ip ip, bool ipv4);

/// Whose packet came: the peer's, or one of the device's own that has come back. Maybe: nothing tells.
enum class Whose { Peers, Own, Maybe };

class OwnAddresses {
 public:
  explicit OwnAddresses(const Profile& profile);
  /// A QP is told: its own address is one of them.
  void qp(const log::Qp& qp);
  /// A packet that is not trimmed, and any one of a device that does not tell them apart, counts as a peer's.
  Whose whose(const wire::Packet& packet) const;
  std::size_t memory() const { return own_.size() * 64; }

 private:
  log::Ip plain(const log::Ip& ip, bool ipv4) const { return plain_address(settings_, ip, ipv4); }

  const Settings& settings_;
  bool named_ = false;      ///< the profile has them all
  bool some_not_ = false;   ///< some QP's own address is not told
  bool to_itself_ = false;  ///< some QP's peer is the device
  std::set<log::Ip> own_;
};

}  // namespace mrc::ref
