// SPDX-License-Identifier: Apache-2.0
#include "reference/history_world.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "log/packet.hpp"
#include "wire/text.hpp"

namespace mrc::ref::history {

std::string words(Time time) { return fmt::format("{:.3f} us", static_cast<double>(time) / 1e6); }

namespace {

constexpr std::size_t kMostDowns = 64;
constexpr const char* kHoles = "frames do not show that the capture has all that came to its QPs";

std::string line(const Moment& m) {
  const wire::OpcodeInfo* info = wire::opcode_info(m.bth.opcode);
  std::string out = fmt::format("{:>14} {} plane {} {} PSN {}", words(m.time), m.sent ? "sent" : "came", m.plane,
                                info ? info->text : "?", m.bth.psn);
  if (m.bth.rtx) out += " rtx";
  if (m.bth.a) out += " A";
  if (m.trimmed) out += " trimmed";
  if (m.ce) out += " CE";
  out += fmt::format(" EV 0x{:08x}", m.entropy);
  if (m.bth.opcode == 0xDC) out += fmt::format(" cack {} ack_psn {}", m.first, m.second);
  if (m.bth.opcode == 0xDD) out += fmt::format(" reason 0x{:02x}", m.first);
  if (m.bth.opcode == 0xD1) out += fmt::format(" syndrome 0x{:02x} MSN {}", m.first, m.second);
  if (m.bytes != 0) out += fmt::format(" {} B", m.bytes);
  return out;
}

}  // namespace

std::string words(const Seen& seen, const wire::WireConfig& config) {
  return fmt::format("{} on plane {}", wire::summary(seen.packet, config), seen.frame.plane);
}

World::World(const Profile& profile, Report& report)
    : profile_(profile), report_(report), own_(profile), planes_(profile.planes) {
  for (const log::Qp& set : profile.qps) {
    qp(set, 0);
    recorded_ = false;
    if (QpWorld* known = local(set.qp)) known->from_log = false;
  }
}

void World::port(const log::Port& port, Time time) {
  if (port.plane >= log::kMaxPlanes) return;
  PortWorld& p = ports_[port.plane];
  if (p.up != port.up) {
    if (port.up) p.downs.emplace_back(p.since, time);
    if (p.downs.size() > kMostDowns) p.downs.pop_front();
    p.since = time;
  }
  p.up = port.up;
  p.ever_down |= !port.up;
  any_down_ |= !port.up;
}

Time World::down(unsigned plane, Time from, Time to) const {
  if (plane >= log::kMaxPlanes) return 0;
  const PortWorld& p = ports_[plane];
  Time sum = 0;
  const auto add = [&](Time begin, Time end) {
    begin = std::max(begin, from);
    end = std::min(end, to);
    if (begin < end) sum += end - begin;
  };
  for (const auto& [begin, end] : p.downs) add(begin, end);
  if (!p.up) add(p.since, to);
  return sum;
}

Time World::went_down(unsigned plane) const {
  if (plane >= log::kMaxPlanes) return 0;
  const PortWorld& p = ports_[plane];
  if (!p.up) return std::max<Time>(p.since, 1);
  return p.downs.empty() ? 0 : std::max<Time>(p.downs.back().first, 1);
}

/// Steps that were left out may not have been recorded; none leads back.
void World::walk(const log::Qp& set) {
  using enum log::QpState;
  static constexpr const char* kStates[] = {"RESET", "INIT", "RTR", "RTS", "ERROR"};
  const auto known = qps_.find(set.qp);
  if (known == qps_.end()) return;
  const log::QpState from = known->second.set.state, to = set.state;
  const bool back = from != Reset && to != Reset && to < from;
  check(
      Rule::QpWalk, !back && !(from == Reset && to == Error), nullptr, &known->second,
      [&] {
        return fmt::format("from {} to {}", kStates[static_cast<unsigned>(from)], kStates[static_cast<unsigned>(to)]);
      },
      [&] { return fmt::format("{} is left another way", kStates[static_cast<unsigned>(from)]); });
}

void World::qp(const log::Qp& set, Time time) {
  const bool inferred = (set.flags & log::kInferred) != 0;
  recorded_ |= !inferred;
  inferred_ |= inferred;
  some_hidden_ |= inferred && (set.flags & log::kSeenWhole) == 0;
  any_svc_time_ |= set.svc_time;
  const auto [at, fresh] = qps_.try_emplace(set.qp);
  QpWorld& qp = at->second;
  const bool ended = qp.set.state == log::QpState::Reset;
  if (fresh || (ended && set.state != log::QpState::Reset)) {
    if (!fresh) qp = QpWorld{};
    qp.incarnation = ++incarnations_;
    qp.again = !fresh;
    qp.from_log = !inferred;
    qp.since = qp.state_since = time;
  } else if (qp.set.state != set.state) {
    qp.before = qp.set.state;
    qp.state_since = time;
  } else if (ended && (qp.set.flags & log::kOrdered) != 0) {
    qp.state_since = time;  // the order acts
  }
  ++qp.changes;
  own_.qp(set);
  const bool sends = qp.set.state == log::QpState::Rts || qp.set.state == log::QpState::Error;
  if (sends && set.state != log::QpState::Reset && class_of(set) != class_of(qp.set)) {
    qp.class_before = class_of(qp.set);
    qp.class_since = time;
    qp.class_waited = waited(time);
  }
  const bool acts = ((qp.set.flags ^ set.flags) & log::kOrdered) != 0;
  if (!fresh && (qp.set.evs != set.evs || qp.set.denied != set.denied || acts)) qp.evs_since = time;
  const Peer old{plain(qp.set.peer_ip, qp.set.encap == 3), qp.set.peer_qp};
  const auto known = peers_.find(old);
  if (known != peers_.end() && known->second == set.qp) peers_.erase(known);
  if (set.state == log::QpState::Reset && !fresh) {
    qp.set.state = set.state;  // the rest of what it was stays: late packets are told apart by it
    qp.set.flags = static_cast<uint8_t>((qp.set.flags & ~log::kOrdered) | (set.flags & log::kOrdered));
  } else {
    qp.set = set;
  }
  peers_[{plain(qp.set.peer_ip, qp.set.encap == 3), qp.set.peer_qp}] = set.qp;
}

void World::host(const log::Host& host, Time time) {
  if (host.op == log::HostOp::Read) {
    if (reads_++ == 0) waits_since_ = time;
  } else if (host.op == log::HostOp::ReadDone && reads_ > 0 && --reads_ == 0) {
    waited_ += time - std::min(time, waits_since_);
  }
}

void World::frame(const Seen& seen) {
  const unsigned plane = seen.frame.plane;
  if (plane < log::kMaxPlanes) planes_seen_ |= uint64_t{1} << plane;
  planes_ = std::max(planes_, plane + 1);
  if (seen.doubtful) return;
  if ((seen.frame.flags & log::kMaybe) != 0) {
    maybe_ = true;
  } else {
    received_ |= !seen.frame.sent;
  }
}

const char* World::incomplete() const {
  if (holes_) return "the log has a gap";
  if (maybe_) return "frames were seen under way, not at the device";
  if (recorded_) return nullptr;
  if (some_hidden_) return kHoles;
  if (!received_) return "where the capture was taken is not known";
  const uint64_t all = planes_ >= 64 ? ~uint64_t{0} : (uint64_t{1} << planes_) - 1;
  return (planes_seen_ & all) == all ? nullptr : "not all planes are captured";
}

const char* World::hidden(const QpWorld& qp) const {
  if (!qp.inferred()) return incomplete();
  if (holes_) return "the log has a gap";
  return qp.seen(log::kSeenWhole) ? nullptr : kHoles;
}

const char* World::hidden() const {
  if (!inferred_) return incomplete();
  return holes_ ? "the log has a gap" : some_hidden_ ? kHoles : nullptr;
}

const char* World::no_qp() const {
  if (qps_.empty()) return "no QP is known";
  return inferred_ ? "the capture does not tell the packet's QP" : nullptr;
}

const char* World::under_way() const {
  if (maybe_) return "frames were seen under way, behind switches";
  return recorded_ || received_ ? nullptr : "where the capture was taken is not known";
}

bool World::is_peer(const log::Ip& plain_ip) const {
  const auto at = peers_.lower_bound({plain_ip, 0});
  return at != peers_.end() && at->first.first == plain_ip;
}

bool World::second_copy(const Seen& seen, const SecondCopy& last, unsigned plane) const {
  const unsigned here = seen.frame.plane;
  if (settings().one_copy || planes() < (settings().any_plane ? 2 : 3) || last.second || here == plane) return false;
  // The two may leave in either order: with any_plane the first one may stay on the plane of before.
  if (!settings().any_plane && !last.anywhere && here == last.before) return false;
  // Both were given to their ports at once: the later one waited for its own, and for what the host owed.
  const Time waiting = waited(seen.first) - std::min(waited(seen.first), last.waited);
  return seen.first <= last.at + std::min(lag() + waiting, queue()) + down(here, last.at, seen.first);
}

SecondCopy World::copy_of(const Seen& seen, bool second, const SecondCopy* last, uint8_t plane) const {
  return {second, last == nullptr || last->second, plane, seen.first, waited(seen.first)};
}

QpWorld* World::local(uint32_t qp) {
  const auto at = qps_.find(qp);
  return at == qps_.end() ? nullptr : &at->second;
}

QpWorld* World::of_sent(const wire::Packet& packet) {
  const auto at = peers_.find({plain(log::mapped_destination(packet), packet.ipv4.has_value()), packet.bth->dqp});
  return at == peers_.end() ? nullptr : local(at->second);
}

bool World::counts(const Seen& seen) {
  return seen.mrc() && !seen.packet.error && (seen.frame.flags & log::kFcsBad) == 0;
}

QpWorld* World::of_received(const Seen& seen) {
  if (!counts(seen)) return nullptr;
  QpWorld* const qp = local(seen.packet.bth->dqp);
  if (qp == nullptr || ((seen.packet.bth->p_key ^ qp->set.pkey) & 0x7FFF) != 0) return nullptr;
  return qp;
}

QpWorld* World::of_returned(const wire::Packet& packet) {
  if (!packet.bth) return nullptr;
  const bool ipv4 = packet.ipv4.has_value();
  // The switch may have exchanged the addresses.
  for (const log::Ip& to : {log::mapped_destination(packet), log::mapped_source(packet)}) {
    const auto at = peers_.find({plain(to, ipv4), packet.bth->dqp});
    if (at != peers_.end()) return local(at->second);
  }
  return nullptr;
}

void World::remember(QpWorld& qp, const Seen& seen) {
  const wire::Packet& p = seen.packet;
  Moment& m = qp.recent[qp.moments++ % qp.recent.size()];
  m = {seen.first,
       seen.frame.sent,
       p.trimmed(),
       p.ecn() == 3,
       seen.frame.plane,
       *p.bth,
       p.entropy(profile_.wire()),
       0,
       0,
       static_cast<uint32_t>(p.payload.size())};
  if (p.seth) {
    m.first = p.seth->cack_psn;
    m.second = (p.seth->cack_psn + static_cast<uint32_t>(p.seth->ack_psn_offset)) & 0xFFFFFF;
  }
  if (p.neth) m.first = p.neth->reason;
  if (p.aeth) {
    m.first = p.aeth->syndrome;
    m.second = p.aeth->msn;
  }
}

Finding World::finding(Rule rule, const Seen* seen, const QpWorld* qp, std::string came, std::string right) const {
  Finding f;
  f.rule = rule;
  f.time = seen != nullptr ? seen->first : now_;
  f.came = std::move(came);
  f.right = std::move(right);
  if (seen != nullptr) {
    f.frame = seen->frame.number;
    f.capture = seen->frame.capture;
  }
  if (qp != nullptr) {
    f.qp = qp->set.qp;
    const uint64_t there = std::min<uint64_t>(qp->moments, qp->recent.size());
    for (uint64_t i = qp->moments - there; i < qp->moments; ++i) {
      f.context.push_back(line(qp->recent[i % qp->recent.size()]));
    }
  }
  return f;
}

}  // namespace mrc::ref::history
