// SPDX-License-Identifier: Apache-2.0
#include "reference/history_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "log/packet.hpp"

namespace mrc::ref::history {

const Paths::EvSet& Paths::set_of(const QpWorld& qp) {
  EvSet& set = sets_[qp.set.qp];
  if (set.incarnation != qp.incarnation) set = {qp.incarnation, 0, {}};
  if (set.changes != qp.changes) {
    set.changes = qp.changes;
    const uint32_t mask = qp.set.encap != 3 ? 0xFFFFFFFFu : wire_.ev_swap ? 0xFFFFu : 0xFFFF0000u;
    for (std::size_t i = 0; i < qp.set.evs.size(); ++i) {
      uint64_t& planes = set.planes[qp.set.evs[i] & mask];
      if (i < qp.set.ev_planes.size() && qp.set.ev_planes[i] < log::kMaxPlanes) {
        planes |= uint64_t{1} << qp.set.ev_planes[i];
      }
    }
  }
  return set;
}

void Paths::received(const Seen& seen) {
  const wire::Packet& p = seen.packet;
  if (!World::counts(seen) || !p.erth || p.erth->op != 0 || p.trimmed()) return;
  const log::Ip from = w_.plain(log::mapped_source(p), p.ipv4.has_value());
  if (peers_.size() >= kMostPeers && !w_.is_peer(from)) return;
  auto& ports = peers_[from];
  // Where ports count from is a choice. Of a NIC that does not say, what either reading calls up is up; port 0
  // is there in one of them alone.
  const uint32_t mask = p.erth->port_status_mask;
  const bool from_0 = w_.settings().ports_from_0, notified = from_0 || !w_.profile().name.empty();
  const uint32_t planes_up = notified ? mask >> (from_0 ? 0 : 1) : (mask & 1) != 0 ? mask : mask | mask >> 1;
  for (unsigned plane = 0; plane < (from_0 ? 32 : 31); ++plane) {
    PeerPort& port = ports[plane];
    const bool up = (planes_up >> plane & 1) != 0;
    any_peer_down_ |= !up && plane < w_.planes();
    // What only may have come, or is not for the endpoint's QPN, is a word for use, none against it.
    if (!up && ((seen.frame.flags & log::kMaybe) != 0 || p.bth->dqp != wire::kEndpointDqp)) continue;
    if (!port.notified || port.up != up) port = {true, up, seen.last};
    port.newest = seen.last;
  }
}

void Paths::sent(const Seen& seen, const QpWorld& qp) {
  const wire::Packet& p = seen.packet;
  const uint32_t ev = p.entropy(wire_);
  const unsigned plane = seen.frame.plane;
  const auto came = [&] { return words(seen, wire_); };
  if (plane < log::kMaxPlanes) {
    const PortWorld& port = w_.at(plane);
    w_.check(Rule::PathDown, port.up || seen.first <= port.since + w_.queue() + seen.frame.error, &seen, &qp, came,
             [&] { return fmt::format("nothing: port {} has been down since {}", plane, words(port.since)); });
    const auto peer = peers_.find(w_.plain(qp.set.peer_ip, qp.set.encap == 3));
    if (peer == peers_.end()) {
      w_.report().ok(Rule::PathPeerDown);
    } else if (const char* why = w_.incomplete()) {
      w_.report().rests(Rule::PathPeerDown, why);
    } else if (const PeerPort& there = peer->second[plane]; !there.up && qp.again && there.newest < qp.since) {
      w_.report().rests(Rule::PathPeerDown, "the QP was set up again since the peer said it");
    } else {
      w_.check(Rule::PathPeerDown, there.up || seen.first <= there.since + w_.queue() + seen.frame.error, &seen, &qp,
               came, [&] {
                 return fmt::format("nothing on plane {}: the peer said at {} that its port is down", plane,
                                    words(there.since));
               });
    }
  }
  if (qp.set.evs.empty()) {
    w_.report().rests(Rule::PathSet, "the QP's EVs are not known");
    w_.report().rests(Rule::PathPlane, "the QP's EVs are not known");
    return;
  }
  const EvSet& set = set_of(qp);
  const auto at = set.planes.find(ev);
  const bool member = at != set.planes.end();
  w_.check(Rule::PathSet, member, &seen, &qp, came, [] { return std::string("an EV of the QP's set"); });
  if (!member) return;
  if (at->second == 0) {
    w_.report().rests(Rule::PathPlane, "the planes of the QP's EVs are not known");
    return;
  }
  w_.check(Rule::PathPlane, (at->second >> plane & 1) != 0, &seen, &qp, came,
           [&] { return fmt::format("plane {}, that of EV 0x{:08x}", std::countr_zero(at->second), ev); });
}

bool Paths::choice(const Requestor& r, uint32_t ev) {
  constexpr std::size_t kOthers = 4;
  std::array<uint32_t, kOthers> others{};
  std::size_t known = 0;
  const std::size_t there = std::min<uint64_t>(r.packets, r.recent_evs.size());
  for (std::size_t i = 0; i < there && known < kOthers; ++i) {
    const auto end = others.begin() + static_cast<std::ptrdiff_t>(known);
    if (r.recent_evs[i] != ev && std::find(others.begin(), end, r.recent_evs[i]) == end)
      others[known++] = r.recent_evs[i];
  }
  return known == kOthers;
}

/// Which EVs are bad or denied is hidden; those that the QP's last packets took are not. With four others in use a NIC
/// that takes any of them takes the old one in a fifth of all cases: in 24 of 32 never.
void Paths::again(const Seen& seen, const QpWorld& qp, Requestor& r, const SentPsn& before) {
  constexpr uint32_t kTries = 32, kMostSame = 24;
  if (w_.any_down() || any_peer_down_ || !choice(r, before.entropy)) {
    w_.report().rests(Rule::PathFresh, "there may be no other EV");
    return;
  }
  const uint32_t ev = seen.packet.entropy(wire_);
  ++r.again;
  r.same_ev += ev == before.entropy ? 1 : 0;
  if (r.again < kTries) return;
  w_.check(
      Rule::PathFresh, r.same_ev <= kMostSame, &seen, &qp,
      [&] {
        return fmt::format("{} of {} retransmissions on the EV of the transmission before, while others were in use",
                           r.same_ev, r.again);
      },
      [] { return std::string("few of them"); });
  r.again = r.same_ev = 0;
}

}  // namespace mrc::ref::history
