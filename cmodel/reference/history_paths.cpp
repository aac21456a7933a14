// SPDX-License-Identifier: Apache-2.0
#include "reference/history_paths.hpp"

#include <fmt/format.h>

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
  auto& ports = peers_[w_.plain(World::source(p), p.ipv4.has_value())];
  const unsigned first = w_.settings().ports_from_0 ? 0 : 1;
  for (unsigned plane = 0; plane + first < 32; ++plane) {
    PeerPort& port = ports[plane];
    const bool up = (p.erth->port_status_mask >> (plane + first) & 1) != 0;
    any_peer_down_ |= !up && plane < w_.planes();
    // What only may have come is a word for use, none against it.
    if (!up && (seen.frame.flags & log::kMaybe) != 0) continue;
    if (!port.told || port.up != up) port = {true, up, seen.last};
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
    } else {
      const PeerPort& there = peer->second[plane];
      w_.check(Rule::PathPeerDown, there.up || seen.first <= there.since + w_.queue() + seen.frame.error, &seen, &qp,
               came, [&] {
                 return fmt::format("nothing on plane {}: the peer said at {} that its port is down", plane,
                                    words(there.since));
               });
    }
  }
  if (qp.set.evs.empty()) {
    w_.report().rests(Rule::PathSet, "the QP's EVs are not told");
    w_.report().rests(Rule::PathPlane, "the QP's EVs are not told");
    return;
  }
  const EvSet& set = set_of(qp);
  const auto at = set.planes.find(ev);
  const bool member = at != set.planes.end();
  w_.check(Rule::PathSet, member, &seen, &qp, came, [] { return std::string("an EV of the QP's set"); });
  if (!member) return;
  if (at->second == 0) {
    w_.report().rests(Rule::PathPlane, "the planes of the QP's EVs are not told");
    return;
  }
  w_.check(Rule::PathPlane, (at->second >> plane & 1) != 0, &seen, &qp, came,
           [&] { return fmt::format("plane {}, that of EV 0x{:08x}", std::countr_zero(at->second), ev); });
}

void Paths::again(const Seen& seen, const QpWorld& qp, Requestor& r, const SentPsn& before) {
  if (qp.set.evs.size() < 8 + qp.set.denied.size() || w_.any_down() || any_peer_down_) {
    w_.report().rests(Rule::PathFresh, "there may be no other EV");
    return;
  }
  const uint32_t ev = seen.packet.entropy(wire_);
  ++r.again;
  r.same_ev += ev == before.entropy ? 1 : 0;
  if (r.again < 16) return;
  w_.check(
      Rule::PathFresh, r.same_ev * 2 <= r.again, &seen, &qp,
      [&] { return fmt::format("{} of {} retransmissions on the EV of the transmission before", r.same_ev, r.again); },
      [] { return std::string("few of them"); });
  r.again = r.same_ev = 0;
}

}  // namespace mrc::ref::history
