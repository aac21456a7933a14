// SPDX-License-Identifier: Apache-2.0
#include "reference/requestor_peers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "log/address.hpp"
#include "log/packet.hpp"
#include "reference/numbers.hpp"

namespace mrc::ref {
namespace {

constexpr unsigned kRepeatsForEver = 15;  ///< EP_CTL.repeats
constexpr std::size_t kMostTries = 64;

using history::words;

}  // namespace

uint32_t RequestorPeers::mask() const {
  uint32_t mask = 0;
  const history::World& w = world_.world;
  for (unsigned plane = 0; plane < std::min(w.planes(), 30u); ++plane) {
    if (w.at(plane).up) mask |= 1u << (plane + (w.settings().ports_from_0 ? 0 : 1));
  }
  return mask;
}

/// All its QPs have one destination: else there may be an update for each.
bool RequestorPeers::alone(const Peer& peer) const {
  return std::ranges::all_of(peer.qps,
                             [&](const auto& one) { return one.second.dest == peer.qps.begin()->second.dest; });
}

void RequestorPeers::qp(const log::Qp& qp, Time time) {
  for (auto& [ip, peer] : peers_) {
    const auto at = peer.qps.find(qp.qp);
    if (at == peer.qps.end()) continue;
    if (qp.state == log::QpState::Reset || world_.world.plain(qp.peer_ip, qp.encap == 3) != ip) peer.qps.erase(at);
  }
  if (qp.state == log::QpState::Reset || qp.peer_ip == log::Ip{}) return;
  Peer& peer = peers_[world_.world.plain(qp.peer_ip, qp.encap == 3)];
  peer.qps[qp.qp] = qp;
  // What a NIC tells a peer of its own accord is its affair.
  peer.since = time;
  peer.tries.clear();
  peer.answer = peer.open = peer.changed = false;
}

void RequestorPeers::port(Time time) {
  for (auto& [ip, peer] : peers_) {
    if (peer.qps.empty()) continue;
    peer.notified = peer.answer = peer.open = false;
    peer.changed = true;
    peer.since = time;
    peer.free = world_.free.until(time);
    peer.tries.clear();
  }
}

void RequestorPeers::sent(const Seen& seen) {
  const wire::Packet& p = seen.packet;
  if (!p.erth || p.erth->op != static_cast<uint8_t>(wire::ErthOp::PortStatus) || p.error) return;
  const auto at = peers_.find(world_.world.plain(log::mapped_destination(p), p.ipv4.has_value()));
  if (at == peers_.end()) return;
  Peer& peer = at->second;
  Report& report = world_.world.report();
  const history::World& w = world_.world;
  const bool newest = p.erth->port_status_mask == mask();
  if (!newest) return;  // built before the change
  if (!peer.notified) report.ok(Rule::PeerUpdate);
  peer.notified = true;
  const Time interval = kTick * w.settings().ep_interval;
  if (!alone(peer)) {
    report.rests(Rule::PeerRepeats, "QPs of several destinations have this address");
  } else if (!peer.tries.empty() && peer.since + w.queue() < seen.first) {
    const auto came = [&] { return words(seen, w.profile().wire()); };
    const Try& before = peer.tries.back();
    const bool late = before.at + interval <= seen.first + w.lag() + 2 * kTick;
    const bool few = w.settings().ep_repeats == kRepeatsForEver || peer.tries.size() <= w.settings().ep_repeats;
    const bool wanted = !peer.answer || peer.heard + w.queue() >= seen.first;
    world_.world.check(Rule::PeerRepeats, late && few && wanted, &seen, nullptr, came, [&]() -> std::string {
      if (!wanted) return fmt::format("none: the update was answered at {}", words(peer.heard));
      if (!few) return fmt::format("none: EP_CTL.repeats is {}", w.settings().ep_repeats);
      return fmt::format("none before {}: the one before left at {}", words(before.at + interval), words(before.at));
    });
    if (peer.open) report.ok(Rule::PeerRepeat);
    // One that was on its way to its port when the answer came wants an answer of its own.
    if (seen.first < peer.heard + w.lag()) peer.answer = false;
  }
  if (peer.tries.size() >= kMostTries) peer.tries.pop_front();
  peer.tries.push_back({static_cast<uint16_t>(p.bth->psn), seen.first, p.erth->port_status_mask});
  peer.free = world_.free.until(seen.first);
  peer.due = seen.first + 2 * interval + w.queue();
  peer.open = peer.changed && !peer.answer &&
              (w.settings().ep_repeats == kRepeatsForEver || peer.tries.size() <= w.settings().ep_repeats);
}

void RequestorPeers::answered(const Seen& seen, bool sure) {
  const auto id = static_cast<uint16_t>(seen.packet.bth->psn);
  for (auto& [ip, peer] : peers_) {
    const auto at = std::ranges::find(peer.tries, id, &Try::id);
    if (at == peer.tries.end() || at->mask != mask()) continue;
    peer.open = false;
    // An answer to a try before the newest one may come too late to count, and once its interval is over the next try
    // may be the newest although it has not left. The interval may have begun while the try waited inside.
    const Time interval = kTick * world_.world.settings().ep_interval;
    const Time waited = world_.free.starved(at->at - std::min(at->at, interval), at->at);
    if (!sure || at + 1 != peer.tries.end() || peer.answer || seen.last + waited > at->at + interval) continue;
    peer.answer = true;
    peer.heard = seen.last;
  }
}

void RequestorPeers::missed(Rule rule, const log::Ip& ip, const Peer& peer, Time since, Time time, std::string right) {
  Finding f = world_.world.finding(rule, nullptr, nullptr,
                                   fmt::format("no port status update to {} with mask 0x{:x}, {} before",
                                               log::address_text(ip), mask(), peer.tries.size()),
                                   std::move(right));
  f.time = time;
  f.since = since;
  world_.world.report().broken(std::move(f));
}

void RequestorPeers::now(Time time) {
  history::World& w = world_.world;
  if (w.incomplete() != nullptr || !w.recorded()) return;
  for (auto& [ip, peer] : peers_) {
    if (peer.qps.empty() || mask() == 0) {
      peer.notified = true;
      peer.open = false;
      continue;
    }
    const Time free = world_.free.until(time);
    if (!peer.notified && free - peer.free > w.queue()) {
      peer.notified = true;
      missed(Rule::PeerUpdate, ip, peer, peer.since, time,
             fmt::format("one within {}: a port changed at {}", words(w.queue()), words(peer.since)));
    }
    if (peer.open && time > peer.due && free - peer.free > w.queue()) {
      peer.open = false;
      const Time at = peer.tries.empty() ? peer.since : peer.tries.back().at;
      missed(Rule::PeerRepeat, ip, peer, at, time,
             fmt::format("one within {} of {}, which nobody has answered", words(peer.due - at), words(at)));
    }
  }
}

}  // namespace mrc::ref
