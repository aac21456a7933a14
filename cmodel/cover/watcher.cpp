// SPDX-License-Identifier: Apache-2.0
#include "cover/watcher.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cover/collectives.hpp"
#include "cover/psns.hpp"
#include "reference/own_addresses.hpp"

namespace mrc::cover {
namespace {

using log::Time;
using wire::Opcode;

constexpr int32_t kNear = 64;  ///< PSNs of a bitmap

/// What is known of a PSN that was sent.
struct Gone {
  unsigned times = 0;
  std::optional<RetryCause> requested;  ///< since it went last
};

struct Queue {
  log::Qp qp;
  uint32_t unacked = 0;  ///< requestor: oldest PSN that no SACK covers
  std::unordered_map<uint32_t, Gone> gone;
  uint32_t expected = 0;                       ///< responder: oldest PSN that has not come
  std::set<uint32_t> ahead;                    ///< those that have, behind it
  unsigned units = 0;                          ///< of the window as requestor, now
  std::map<uint32_t, bool> immediates;         ///< RQMSN -> something before it was missing when it came
  std::unordered_map<uint32_t, bool> trimmed;  ///< EV -> what was said of it last: trimmed, or marked
};

struct Open {
  uint32_t qp;
  uint64_t wr_id;
  uint64_t bytes;
  bool immediate;
};

NackReason reason_of(uint8_t code) {
  switch (code) {
    case 0x01:
      return NackReason::Trimmed;
    case 0x02:
      return NackReason::Lasthop;
    case 0x06:
      return NackReason::NoBitmap;
    case 0x07:
      return NackReason::NoBuffer;
    case 0x0a:
      return NackReason::NoResource;
    case 0x0b:
      return NackReason::OutOfWindow;
    case 0x19:
      return NackReason::Unexpected;
    default:
      return NackReason::Other;
  }
}

SackShape shape_of(uint64_t bits) {
  if (bits == 0) return SackShape::None;
  if (bits == ~uint64_t{0}) return SackShape::Full;
  if (std::has_single_bit(bits)) return SackShape::One;
  const int pieces = std::popcount(bits & ~(bits << 1));
  return pieces == 1 ? SackShape::Run : pieces < 4 ? SackShape::Pieces : SackShape::Many;
}

/// Nothing: a step that no NIC of ours makes. `trim`: what was said of the EV last was a trimmed packet.
std::optional<EvStep> step_of(log::EvState from, log::EvState to, bool trim) {
  using enum log::EvState;
  const auto one = [](log::EvState a, log::EvState b) {
    return static_cast<unsigned>(a) << 8 | static_cast<unsigned>(b);
  };
  static const std::map<unsigned, EvStep> steps = {
      {one(Good, Bad), EvStep::GoodBad},
      {one(Good, Denied), EvStep::GoodDenied},
      {one(Good, Backup), EvStep::GoodBackup},
      {one(Skip, Good), EvStep::SkipGood},
      {one(Skip, Bad), EvStep::SkipBad},
      {one(Skip, Denied), EvStep::SkipDenied},
      {one(Skip, Backup), EvStep::SkipBackup},
      {one(SkipTwice, Skip), EvStep::Skip2Skip},
      {one(SkipTwice, Bad), EvStep::Skip2Bad},
      {one(SkipTwice, Denied), EvStep::Skip2Denied},
      {one(SkipTwice, Backup), EvStep::Skip2Backup},
      {one(Bad, Good), EvStep::BadGood},
      {one(Bad, Skip), EvStep::BadSkip},
      {one(Bad, Denied), EvStep::BadDenied},
      {one(Denied, Good), EvStep::DeniedGood},
      {one(Backup, Good), EvStep::BackupGood},
      {one(Backup, Denied), EvStep::BackupDenied},
  };
  if (from == Good && to == Skip) return trim ? EvStep::GoodSkipTrim : EvStep::GoodSkipMark;
  if (from == Skip && to == SkipTwice) return trim ? EvStep::SkipSkip2Trim : EvStep::SkipSkip2Mark;
  const auto at = steps.find(one(from, to));
  return at == steps.end() ? std::nullopt : std::optional(at->second);
}

PlanesMask mask_of(unsigned up, unsigned planes) {
  if (up >= planes) return PlanesMask::All;
  return up == 0 ? PlanesMask::None : up == 1 ? PlanesMask::One : PlanesMask::Some;
}

class Watcher final : public ref::Checker {
 public:
  Watcher(const ref::Profile& profile, const ref::Report& report, Bins& bins)
      : profile_(profile),
        report_(report),
        bins_(bins),
        own_addresses_(profile),
        collectives_(make_collectives_watcher(profile, bins)),
        up_((uint64_t{2} << (profile.planes - 1)) - 1) {
    for (const log::Qp& known : profile.qps) qp(known, 0);
    for (const ref::Controller& c : profile.controllers) {
      const ref::Controller whole = c.with_defaults();
      targets_[c.dest] = static_cast<Time>((whole.base_rtt_ns + whole.target_ns) * 1000);
    }
  }

  void port(const log::Port& port, Time) override {
    up_ = port.up ? up_ | uint64_t{1} << port.plane : up_ & ~(uint64_t{1} << port.plane);
    show_ports();
  }
  void qp(const log::Qp& qp, Time) override;
  void received(const ref::Seen& seen) override {
    collectives_->received(seen);
    frame(seen, false);
  }
  void sent(const ref::Seen& seen) override {
    collectives_->sent(seen);
    frame(seen, true);
  }
  using Checker::posted;
  void posted(const log::Post& post, Time time) override {
    collectives_->posted(post, time);
    open_.push_back({post.qp, post.wr_id, post.bytes, post.immediate});
  }
  void completed(const log::Cqe& cqe, Time) override;
  void event(const log::Event& event, Time) override;
  void counter(const log::Counter& counter, Time) override;
  void finish(const log::End&, Time) override;
  uint64_t memory() const override;

 private:
  /// Counters of a stream, as they read last.
  struct Stream {
    uint64_t moved = 0, waited = 0, cycles = 0;
  };

  void show_ports() {
    bins_.hit(Group::Planes, PlanesWho::Own, mask_of(static_cast<unsigned>(std::popcount(up_)), profile_.planes));
  }
  void frame(const ref::Seen& seen, bool sent);
  void encapsulation(const wire::Packet& packet, bool sent);
  void data(const wire::Packet& packet, bool sent, Opcode opcode);
  void data_comes(Queue& queue, const wire::Packet& packet, Opcode opcode);
  void data_goes(Queue& queue, const wire::Packet& packet);
  void sack(const wire::Packet& packet, bool sent);
  void nack(const wire::Packet& packet, bool sent);
  void endpoint(const wire::Packet& packet, bool sent);
  void path(const log::Event& event);
  void controller(const log::Event& event);
  void came_back(const wire::Packet& packet);
  void acknowledge(Queue& queue, uint32_t cack);
  static void arrive(Queue& queue, uint32_t cack);
  Queue* own(uint32_t number);
  Queue* queue_of(const wire::Packet& packet, bool sent);

  const ref::Profile& profile_;
  const ref::Report& report_;
  Bins& bins_;
  ref::OwnAddresses own_addresses_;
  std::unique_ptr<ref::Checker> collectives_;
  uint64_t up_;  ///< planes
  std::unordered_map<uint32_t, Queue> queues_;
  std::unordered_multimap<uint32_t, uint32_t> by_peer_;  ///< peer's QP -> own one
  std::vector<Open> open_;                               ///< work requests, oldest first
  std::map<uint64_t, uint64_t> windows_;                 ///< of controllers
  std::map<uint64_t, Time> targets_;                     ///< of controllers: round trip, ps
  std::map<std::string, Stream, std::less<>> streams_;
};

void Watcher::qp(const log::Qp& qp, Time time) {
  own_addresses_.qp(qp);
  collectives_->qp(qp, time);
  const auto [at, fresh] = queues_.try_emplace(qp.qp);
  Queue& queue = at->second;
  const bool begins = fresh || queue.qp.state < log::QpState::Rtr || qp.state < log::QpState::Rtr ||
                      queue.qp.sq_psn != qp.sq_psn || queue.qp.rq_psn != qp.rq_psn;
  if (begins) {
    queue = {};
    queue.unacked = qp.sq_psn % kPsns;
    queue.expected = qp.rq_psn % kPsns;
    queue.units = qp.mpr;
  }
  const auto [first, last] = by_peer_.equal_range(qp.peer_qp);
  const bool known = std::any_of(first, last, [&](const auto& entry) { return entry.second == qp.qp; });
  if (!known) by_peer_.emplace(qp.peer_qp, qp.qp);
  queue.qp = qp;
}

Queue* Watcher::own(uint32_t number) {
  const auto at = queues_.find(number);
  return at == queues_.end() ? nullptr : &at->second;
}

/// Sent packets name the peer's QP, which two peers may share.
Queue* Watcher::queue_of(const wire::Packet& packet, bool sent) {
  if (!sent) return own(packet.bth->dqp);
  const auto [first, last] = by_peer_.equal_range(packet.bth->dqp);
  Queue* found = nullptr;
  for (auto at = first; at != last; ++at) {
    Queue* const queue = own(at->second);
    if (queue->qp.peer_qp != packet.bth->dqp) continue;
    if (found == nullptr || (packet.ipv6 && queue->qp.peer_ip == packet.ipv6->dst)) found = queue;
  }
  return found;
}

void Watcher::frame(const ref::Seen& seen, bool sent) {
  const wire::Packet& packet = seen.packet;
  if (!seen.mrc() || packet.error || (packet.icrc && !packet.icrc->ok)) return;
  if (!sent && own_addresses_.whose(packet) == ref::Whose::Own) return came_back(packet);
  show_ports();
  encapsulation(packet, sent);
  const auto way = sent ? ControlWay::Sent : ControlWay::Got;
  const auto opcode = static_cast<Opcode>(packet.bth->opcode);
  switch (opcode) {
    case Opcode::WriteFirst:
    case Opcode::WriteMiddle:
    case Opcode::WriteLast:
    case Opcode::WriteLastImm:
    case Opcode::WriteOnly:
    case Opcode::WriteOnlyImm:
      return data(packet, sent, opcode);
    case Opcode::Ack:
      if (!packet.aeth) return;
      return bins_.hit(Group::Control, way,
                       (packet.aeth->syndrome & 0x60) == 0x60 ? ControlPacket::Nak : ControlPacket::Ack);
    case Opcode::Sack:
      return sack(packet, sent);
    case Opcode::Nack:
      return nack(packet, sent);
    case Opcode::ProbeRequest:
      return bins_.hit(Group::Control, way, ControlPacket::Probe);
    case Opcode::EndpointRequest:
      return endpoint(packet, sent);
    case Opcode::EndpointResponse:
      return bins_.hit(Group::Control, way, ControlPacket::Response);
  }
}

/// Its sender may send it again at once.
void Watcher::came_back(const wire::Packet& packet) {
  if (profile_.settings.returned != ref::kLearnReturned) return;
  Queue* const queue = queue_of(packet, true);
  if (queue == nullptr) return;
  if (const auto gone = queue->gone.find(packet.bth->psn); gone != queue->gone.end())
    gone->second.requested = RetryCause::Returned;
}

void Watcher::encapsulation(const wire::Packet& packet, bool sent) {
  const EncapEncap encap = packet.srh          ? EncapEncap::Srh
                           : packet.outer_ipv6 ? EncapEncap::Srv6
                           : packet.ipv4       ? EncapEncap::Ipv4
                                               : EncapEncap::Ipv6;
  bins_.hit(Group::Encap, sent ? EncapWay::Sent : EncapWay::Got, encap);
}

void Watcher::data(const wire::Packet& packet, bool sent, Opcode opcode) {
  static const std::map<Opcode, DataOpcode> opcodes = {
      {Opcode::WriteFirst, DataOpcode::First}, {Opcode::WriteMiddle, DataOpcode::Middle},
      {Opcode::WriteLast, DataOpcode::Last},   {Opcode::WriteLastImm, DataOpcode::LastImm},
      {Opcode::WriteOnly, DataOpcode::Only},   {Opcode::WriteOnlyImm, DataOpcode::OnlyImm}};
  bins_.hit(Group::Data, sent ? DataWay::Sent : DataWay::Got, opcodes.at(opcode),
            packet.bth->rtx != 0 ? DataTurn::Again : DataTurn::New);
  Queue* const queue = queue_of(packet, sent);
  if (queue == nullptr) return;
  sent ? data_goes(*queue, packet) : data_comes(*queue, packet, opcode);
}

void Watcher::data_comes(Queue& queue, const wire::Packet& packet, Opcode opcode) {
  const uint32_t psn = packet.bth->psn;
  const int32_t at = distance(psn, queue.expected);
  const unsigned units = queue.qp.window != 0 ? queue.qp.window : queue.qp.mpr_dest;
  const auto window = static_cast<int32_t>(units * kUnit);
  const WindowAt place = at < 0                 ? WindowAt::Below
                         : at >= window         ? WindowAt::Beyond
                         : at >= window - kEdge ? WindowAt::Edge
                         : at == 0              ? WindowAt::Next
                         : at < kNear           ? WindowAt::Near
                                                : WindowAt::Far;
  const bool wraps = at < 0 ? psn > queue.expected : queue.expected + static_cast<uint32_t>(window) > kPsns;
  bins_.hit(Group::Window, place, wraps ? WindowWrap::Wraps : WindowWrap::Plain,
            packet.trimmed() ? WindowForm::Trimmed : WindowForm::Whole);
  if (packet.trimmed() || at < 0 || at >= window) return;
  const bool immediate = opcode == Opcode::WriteLastImm || opcode == Opcode::WriteOnlyImm;
  if (immediate && packet.meth) queue.immediates.try_emplace(packet.meth->rqmsn, at > 0);
  if (at > 0) {
    queue.ahead.insert(psn);
    return;
  }
  queue.expected = behind(queue.expected);
  while (queue.ahead.erase(queue.expected) != 0) queue.expected = behind(queue.expected);
}

/// The device's own word counts: packets it took although nobody here thought so.
void Watcher::arrive(Queue& queue, uint32_t cack) {
  while (distance(cack, queue.expected) >= 0 && distance(cack, queue.expected) < static_cast<int32_t>(1u << 16)) {
    queue.ahead.erase(queue.expected);
    queue.expected = behind(queue.expected);
  }
}

void Watcher::data_goes(Queue& queue, const wire::Packet& packet) {
  const uint32_t psn = packet.bth->psn;
  const int32_t at = distance(psn, queue.unacked);
  const auto window = static_cast<int32_t>(queue.units * kUnit);
  const FlightAt place = at <= 0                ? FlightAt::First
                         : at >= window - kEdge ? FlightAt::Edge
                         : at < kNear           ? FlightAt::Near
                                                : FlightAt::Far;
  const bool wraps = queue.unacked + static_cast<uint32_t>(window) > kPsns;
  Gone& gone = queue.gone[psn];
  bins_.hit(Group::Flight, place, wraps ? FlightWrap::Wraps : FlightWrap::Plain,
            gone.times > 0 ? FlightTurn::Again : FlightTurn::New);
  if (gone.times > 0) {
    const RetryTurn turn = gone.times == 1   ? RetryTurn::Second
                           : gone.times == 2 ? RetryTurn::Third
                           : gone.times == 3 ? RetryTurn::Fourth
                                             : RetryTurn::Later;
    bins_.hit(Group::Retry, gone.requested.value_or(RetryCause::Timer), turn);
  }
  ++gone.times;
  gone.requested.reset();
}

void Watcher::acknowledge(Queue& queue, uint32_t cack) {
  while (distance(cack, queue.unacked) >= 0 && distance(cack, queue.unacked) < static_cast<int32_t>(1u << 16)) {
    queue.gone.erase(queue.unacked);
    queue.unacked = behind(queue.unacked);
  }
}

void Watcher::sack(const wire::Packet& packet, bool sent) {
  if (!packet.seth) return;
  const wire::Seth& seth = *packet.seth;
  bins_.hit(Group::Control, sent ? ControlWay::Sent : ControlWay::Got,
            seth.pr != 0 ? ControlPacket::ProbeSack : ControlPacket::Sack);
  bins_.hit(Group::Sack, sent ? SackWay::Sent : SackWay::Got, shape_of(seth.sack_bitmap),
            seth.sack_offset == 0  ? SackBase::At
            : seth.sack_offset > 0 ? SackBase::Above
                                   : SackBase::Below);
  Queue* const queue = queue_of(packet, sent);
  if (queue == nullptr) return;
  if (sent) return arrive(*queue, seth.cack_psn);
  acknowledge(*queue, seth.cack_psn);
  if (queue->qp.dynamic_mpr && seth.mpr != 0) queue->units = seth.mpr;
  if (seth.m != 0) queue->trimmed[seth.entropy] = false;
  if (seth.sack_bitmap == 0) return;
  const uint32_t base = (seth.cack_psn + static_cast<uint32_t>(static_cast<int32_t>(seth.sack_offset))) % kPsns;
  const uint32_t highest = (base + 63u - static_cast<uint32_t>(std::countl_zero(seth.sack_bitmap))) % kPsns;
  for (uint32_t psn = queue->unacked; distance(psn, highest) < 0; psn = behind(psn)) {
    const auto bit = distance(psn, base);
    if (bit >= 0 && bit < kNear && (seth.sack_bitmap >> bit & 1) != 0) continue;
    const auto gone = queue->gone.find(psn);
    if (gone != queue->gone.end() && !gone->second.requested) gone->second.requested = RetryCause::Hole;
  }
}

void Watcher::nack(const wire::Packet& packet, bool sent) {
  if (!packet.neth) return;
  const NackReason reason = reason_of(packet.neth->reason);
  bins_.hit(Group::Control, sent ? ControlWay::Sent : ControlWay::Got, ControlPacket::Nack);
  bins_.hit(Group::Nack, sent ? NackWay::Sent : NackWay::Got, reason);
  Queue* const queue = sent ? nullptr : queue_of(packet, sent);
  if (queue == nullptr) return;
  const bool trimmed = reason == NackReason::Trimmed || reason == NackReason::Lasthop;
  if (trimmed) queue->trimmed[packet.neth->entropy] = true;
  if (const auto gone = queue->gone.find(packet.neth->nack_psn); gone != queue->gone.end())
    gone->second.requested = trimmed ? RetryCause::Trimmed : RetryCause::Refused;
}

void Watcher::endpoint(const wire::Packet& packet, bool sent) {
  if (!packet.erth) return;
  const bool update = packet.erth->op == 0;
  bins_.hit(Group::Control, sent ? ControlWay::Sent : ControlWay::Got,
            update ? ControlPacket::PortUpdate : ControlPacket::EvProbe);
  if (!update) return;
  const uint32_t mask =
      profile_.settings.ports_from_0 ? packet.erth->port_status_mask : packet.erth->port_status_mask >> 1;
  bins_.hit(Group::Planes, sent ? PlanesWho::Said : PlanesWho::Heard,
            mask_of(static_cast<unsigned>(std::popcount(mask)), profile_.planes));
}

void Watcher::completed(const log::Cqe& cqe, Time time) {
  collectives_->completed(cqe, time);
  Queue* const queue = own(cqe.qp);
  if (cqe.receive) {
    if (queue == nullptr) return;
    const auto at = queue->immediates.find(cqe.rqmsn);
    if (at == queue->immediates.end()) return;
    bins_.hit(Group::Delivery, at->second ? DeliveryOrder::Waited : DeliveryOrder::AtOnce);
    queue->immediates.erase(at);
    return;
  }
  bins_.hit(Group::Status, cqe.status);
  const auto open =
      std::ranges::find_if(open_, [&](const Open& one) { return one.qp == cqe.qp && one.wr_id == cqe.wr_id; });
  if (open == open_.end()) return;
  if (cqe.status == log::Status::Ok && queue != nullptr) {
    const uint64_t packets = (open->bytes + queue->qp.mtu - 1) / std::max<uint32_t>(queue->qp.mtu, 1);
    const MessageSize size = packets <= 1    ? MessageSize::One
                             : packets == 2  ? MessageSize::Two
                             : packets <= 16 ? MessageSize::Few
                                             : MessageSize::Many;
    const bool overtakes = std::any_of(open_.begin(), open, [&](const Open& one) { return one.qp != cqe.qp; });
    bins_.hit(Group::Message, size, open->immediate ? MessageKind::Immediate : MessageKind::Plain,
              overtakes ? MessageOrder::Overtakes : MessageOrder::Oldest);
  }
  open_.erase(open);
}

void Watcher::event(const log::Event& event, Time time) {
  collectives_->event(event, time);
  if (event.kind == log::EventKind::Path) path(event);
  if (event.kind == log::EventKind::Cc) controller(event);
}

void Watcher::path(const log::Event& event) {
  Queue* const queue = own(event.qp);
  if (queue == nullptr) return;
  const auto trimmed = queue->trimmed.find(static_cast<uint32_t>(event.arg[0]));
  const auto step = step_of(static_cast<log::EvState>(event.arg[1]), static_cast<log::EvState>(event.arg[2]),
                            trimmed != queue->trimmed.end() && trimmed->second);
  if (step) bins_.hit(Group::Ev, *step);
}

void Watcher::controller(const log::Event& event) {
  const log::CcNotified reported = log::CcNotified::unpack(event.arg[1]);
  const auto at = windows_.find(event.arg[0]);
  const bool grant =
      reported.kind == log::CcKind::Granted || reported.kind == log::CcKind::Returned;  // it names no window
  const uint64_t window = grant && at != windows_.end() ? at->second : event.arg[5];
  const uint64_t before = at == windows_.end() ? window : at->second;
  const unsigned change = window > before ? 0 : window == before ? 1 : 2;  // grows, stays, shrinks
  if (static_cast<unsigned>(reported.kind) <= static_cast<unsigned>(log::CcKind::Begins))
    bins_.hit(Group::Told, reported.kind, change);
  if (reported.kind == log::CcKind::Ack && reported.sampled) {
    const auto target = targets_.find(event.arg[0]);
    if (target != targets_.end())
      bins_.hit(Group::Nscc, reported.marked ? NsccMark::Marked : NsccMark::Plain,
                event.arg[3] > target->second ? NsccDelay::High : NsccDelay::Low, change);
  }
  if (!grant) windows_[event.arg[0]] = window;
}

void Watcher::counter(const log::Counter& counter, Time) {
  constexpr std::string_view kStream = "stream ";
  const std::string_view name = counter.name;
  if (!name.starts_with(kStream)) {
    const auto at = std::ranges::find(kCounterNames, name);
    if (at != kCounterNames.end() && counter.value != 0) bins_.hit(Group::Counter, at - kCounterNames.begin());
    return;
  }
  const std::size_t taker = name.find('>'), word = name.rfind(' ');
  if (taker == std::string_view::npos || word < taker) return;
  std::string stream(name.substr(kStream.size(), taker - kStream.size()));
  // Each lane has its own; the values read last are those of the run.
  Stream& counts = streams_[stream];
  const std::string_view what = name.substr(word + 1);
  (what == "moved" ? counts.moved : what == "blocked" ? counts.waited : counts.cycles) = counter.value;
}

void Watcher::finish(const log::End&, Time) {
  for (const auto& [name, counts] : streams_) {
    std::string plain = name;
    if (const auto lane = plain.find('['); lane != std::string::npos) plain.erase(lane, plain.find(']') - lane + 1);
    const auto at = std::ranges::find(kStreamStreams, std::string_view(plain));
    if (at == kStreamStreams.end()) continue;
    const auto place = at - kStreamStreams.begin();
    if (counts.moved != 0) bins_.hit(Group::Stream, place, StreamSeen::Moved);
    if (counts.waited != 0) bins_.hit(Group::Stream, place, StreamSeen::Waited);
    if (counts.cycles > counts.moved + counts.waited) bins_.hit(Group::Stream, place, StreamSeen::Empty);
  }
  for (std::size_t rule = 0; rule < ref::kNumRules; ++rule) {
    const ref::Tally& tally = report_.tally(static_cast<ref::Rule>(rule));
    if (tally.checked + tally.broken != 0) bins_.hit(Group::Rule, rule);
  }
}

uint64_t Watcher::memory() const {
  uint64_t bytes = open_.size() * sizeof(Open) + collectives_->memory();
  for (const auto& [number, queue] : queues_)
    bytes +=
        sizeof(Queue) + 64 * (queue.gone.size() + queue.ahead.size() + queue.immediates.size() + queue.trimmed.size());
  return bytes;
}

}  // namespace

std::unique_ptr<ref::Checker> make_watcher(const ref::Profile& profile, const ref::Report& report, Bins& bins) {
  return std::make_unique<Watcher>(profile, report, bins);
}

}  // namespace mrc::cover
