// SPDX-License-Identifier: Apache-2.0
#include "reference/requestor_judge.hpp"

#include <algorithm>

#include "log/packet.hpp"

namespace mrc::ref {
namespace {

constexpr uint32_t kEndpointQp = 2;

}  // namespace

RequestorJudge::RequestorJudge(const Profile& profile, Report& report)
    : world_(profile, report), cc_(world_), peers_(world_) {
  for (const log::Qp& qp : profile.qps) {
    if (qp.state != log::QpState::Reset) flows_[qp.qp] = std::make_unique<RequestorFlow>(qp, false, world_);
  }
}

RequestorFlow* RequestorJudge::find(uint32_t qp) {
  const auto at = flows_.find(qp);
  return at == flows_.end() ? nullptr : at->second.get();
}

const RequestorFlow* RequestorJudge::flow(uint32_t qp) const {
  const auto at = flows_.find(qp);
  return at == flows_.end() ? nullptr : at->second.get();
}

void RequestorJudge::port(const log::Port& port, Time time) {
  world_.world.port(port, time);
  world_.free.port(port.plane, port.up, std::max<Time>(time, 1));
  peers_.port(time);
}

void RequestorJudge::qp(const log::Qp& qp, Time time) {
  if ((qp.flags & log::kInferred) != 0) return;  // its window, timer and retries are not known
  world_.world.qp(qp, time);
  cc_.qp(qp);
  peers_.qp(qp, time);
  const auto at = flows_.find(qp.qp);
  if (qp.state == log::QpState::Reset) {
    if (at == flows_.end()) return;
    at->second->finish(time, true);
    flows_.erase(at);
    return;
  }
  if (at != flows_.end()) return at->second->change(qp, time);
  flows_[qp.qp] = std::make_unique<RequestorFlow>(qp, true, world_);
}

/// The NIC must not ignore it. What facts leave open (a stranger's address, reserved bits, a port that is down) it may.
bool RequestorJudge::sure(const Seen& seen, const log::Qp& qp) const {
  const wire::Packet& p = seen.packet;
  if ((seen.frame.flags & log::kMaybe) != 0 || seen.doubtful || !seen.whole) return false;
  if (p.bth->reserved8_6 != 0 || p.bth->reserved8_3 != 0 || p.bth->reserved4 != 0) return false;
  const history::World& w = world_.world;
  const bool ipv4 = p.ipv4.has_value();
  const log::Ip none{};
  if (qp.own_ip != none && w.plain(log::mapped_destination(p), ipv4) != w.plain(qp.own_ip, ipv4)) return false;
  if (qp.peer_ip != none && w.plain(log::mapped_source(p), ipv4) != w.plain(qp.peer_ip, ipv4)) return false;
  if (p.outer_ipv6.has_value() != (qp.encap == 1 || qp.encap == 2) || p.srh.has_value() != (qp.encap == 2))
    return false;
  return seen.frame.plane >= log::kMaxPlanes || w.at(seen.frame.plane).up;
}

void RequestorJudge::received(const Seen& seen) {
  world_.world.frame(seen);
  if (!seen.mrc()) return;
  if (history::World::counts(seen) && world_.world.whose(seen) == Whose::Own) {
    const history::QpWorld* const sender = world_.world.of_returned(seen.packet);
    RequestorFlow* const flow = sender == nullptr ? nullptr : find(sender->set.qp);
    if (flow != nullptr && history::is_data(seen.packet)) flow->returned(seen);
    return;
  }
  if (seen.packet.erth) return port_status(seen);
  if (seen.packet.eeth) return endpoint_answered(seen);
  history::QpWorld* const qp = world_.world.of_received(seen);
  if (qp == nullptr || seen.packet.trimmed()) return;
  world_.world.remember(*qp, seen);
  RequestorFlow* const flow = find(qp->set.qp);
  if (flow != nullptr && seen.packet.seth) {
    const Seq trigger = flow->trigger(*seen.packet.seth);
    cc_.sack(seen, flow->qp(), flow->hi().find(trigger));
  }
  if (flow != nullptr && (seen.packet.seth || seen.packet.neth || seen.packet.aeth)) {
    flow->received(seen, sure(seen, flow->qp()));
    if (!seen.packet.neth) {
      const Requestor& hi = flow->hi();
      cc_.arrived(seen, flow->qp(), hi.arrived(), hi.open() == 0);
    }
  }
}

void RequestorJudge::port_status(const Seen& seen) {
  const wire::Packet& p = seen.packet;
  if (!history::World::counts(seen) || p.erth->op != 0 || p.trimmed()) return;
  uint32_t& mask = peer_ports_.try_emplace(log::mapped_source(p), ~uint32_t{0}).first->second;
  const uint32_t lowest = world_.world.settings().ports_from_0 ? 1 : 2;
  const uint32_t all = ((uint32_t{1} << std::min(world_.world.planes(), 30u)) - 1) * lowest;
  if ((mask & all) != (p.erth->port_status_mask & all)) world_.peer_changed = std::max<Time>(seen.last, 1);
  mask = p.erth->port_status_mask;
  world_.peer_down |= (mask & all) != all;
  const log::Ip peer = world_.world.plain(log::mapped_source(p), p.ipv4.has_value());
  if ((mask & all) == all || !world_.world.is_peer(peer)) return;
  auto& gone = world_.peer_gone[peer];
  for (unsigned plane = 0; plane < std::min(world_.world.planes(), 30u); ++plane) {
    if ((mask & lowest << plane) == 0) gone[plane] = std::max<Time>(seen.last, 1);
  }
}

/// A probe from NIC to NIC serves all QPs that have its EV and its destination.
void RequestorJudge::endpoint_sent(const Seen& seen) {
  peers_.sent(seen);
  const wire::Packet& p = seen.packet;
  if (!p.erth || p.erth->op != static_cast<uint8_t>(wire::ErthOp::EvProbe) || p.error) return;
  const uint32_t ev = p.entropy(world_.world.profile().wire());
  ev_probes_[static_cast<uint16_t>(p.bth->psn)] = ev;
  world_.probed = seen.first;
}

void RequestorJudge::endpoint_answered(const Seen& seen) {
  if (!history::World::counts(seen) || seen.packet.trimmed()) return;
  peers_.answered(seen, (seen.frame.flags & log::kMaybe) == 0 && !seen.doubtful);
  const auto probe = ev_probes_.find(static_cast<uint16_t>(seen.packet.bth->psn));
  if (probe == ev_probes_.end()) return;
  for (auto& [number, flow] : flows_) flow->ev_answered(probe->second, false);
}

void RequestorJudge::sent(const Seen& seen) {
  world_.world.frame(seen);
  world_.free.sent(seen.frame.plane, seen.first, seen.last, seen.first);
  if (!seen.mrc()) return;
  if (seen.packet.bth->dqp == kEndpointQp) return endpoint_sent(seen);
  history::QpWorld* const qp = world_.world.of_sent(seen.packet);
  if (qp == nullptr) return;
  world_.world.remember(*qp, seen);
  RequestorFlow* const flow = find(qp->set.qp);
  if (flow == nullptr || seen.packet.error) return;
  const wire::Packet& p = seen.packet;
  if (history::is_data(p) && p.reth && !p.trimmed()) {
    flow->sent(seen);
    if (!flow->copied(seen)) cc_.sent(seen, flow->qp(), flow->reported_before(seen));  // a second copy needs no leave
  }
  if (p.peth) flow->probed(p.entropy(world_.world.profile().wire()), *p.peth, seen.first);
  // It tells its peer that it has failed.
  const bool nak = p.aeth && (p.aeth->syndrome & 0xE0) != 0;
  const bool unexpected = p.neth && p.neth->reason == static_cast<uint8_t>(wire::NackReason::UnexpEvent);
  if (nak || unexpected) flow->fail(seen.first);
}

void RequestorJudge::host(const log::Host& host, Time time) {
  world_.world.host(host, time);
  if (host.op == log::HostOp::Read) world_.free.read(host.tag, time);
  if (host.op == log::HostOp::ReadDone) world_.free.read_done(host.tag, time);
}

void RequestorJudge::posted(const log::Post& post, Time time) {
  if (RequestorFlow* const flow = find(post.qp)) flow->posted(post, time);
}

void RequestorJudge::completed(const log::Cqe& cqe, Time time) {
  if (RequestorFlow* const flow = find(cqe.qp)) flow->completed(cqe, time);
}

/// The device says itself what becomes of an EV (arguments: EV, from, to, cause): no need to guess.
void RequestorJudge::event(const log::Event& event, Time time) {
  cc_.event(event, time);
  if (event.kind != log::EventKind::Path) return;
  if (RequestorFlow* const flow = find(event.qp)) flow->ev_event(event, time);
}

void RequestorJudge::counter(const log::Counter& counter, Time time) {
  if (counter.name == "silent_drops") silent_drops_ = counter.value;
  if (counter.name == "carriers_by_themselves") world_.disturbed.add(time);
}

void RequestorJudge::gap(const log::Gap&, Time) { world_.world.gap(); }

/// More work requests are open than the device has room for: those of other QPs may wait behind them.
bool RequestorJudge::crowded() const {
  const Profile& p = world_.world.profile();
  if (p.qp_works == 0 && p.all_works == 0) return false;
  std::size_t sum = 0, most = 0;
  for (const auto& [number, flow] : flows_) {
    sum += flow->works();
    most = std::max(most, flow->works());
  }
  return (p.qp_works != 0 && most > p.qp_works) || (p.all_works != 0 && sum > p.all_works);
}

void RequestorJudge::now(Time time) {
  world_.now = time;
  world_.world.now(time);
  if (time < swept_ + world_.world.lag() / 2) return;
  swept_ = time;
  if (crowded()) world_.crowded = time;
  for (auto& [number, flow] : flows_) flow->sweep(time);
  peers_.now(time);
}

void RequestorJudge::finish(const log::End& end, Time time) {
  world_.now = time;
  peers_.now(time);
  for (auto& [number, flow] : flows_) flow->finish(time, end.cut);
  world_.decide(silent_drops_);
}

uint64_t RequestorJudge::memory() const {
  uint64_t bytes = sizeof *this + world_.world.memory() + cc_.memory();
  for (const auto& [number, flow] : flows_) bytes += flow->memory();
  return bytes;
}

}  // namespace mrc::ref
