// SPDX-License-Identifier: Apache-2.0
#include "cover/collectives.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "cover/psns.hpp"
#include "reference/own_addresses.hpp"

namespace mrc::cover {
namespace {

using log::Time;
using wire::Opcode;

constexpr std::size_t kMost = 8192;  ///< PSNs of a QP that are remembered

bool is_write(const wire::Packet& p) { return p.bth->opcode >= 0xC6 && p.bth->opcode <= 0xCB; }
bool is_only(const wire::Packet& p) { return p.bth->opcode == 0xCA || p.bth->opcode == 0xCB; }
bool is_empty(const wire::Packet& p) {
  return is_only(p) && p.reth && p.reth->dma_length == 0 && (p.trimmed() || p.payload.empty());
}

/// Of the message that a packet belongs to.
struct Kind {
  bool empty = false, immediate = false;
};
Kind kind_of(const wire::Packet& p) {
  const bool immediate = p.bth->opcode == 0xC9 || p.bth->opcode == 0xCB || (p.meth && p.meth->rqmsn != 0);
  return {is_empty(p), immediate};
}

/// One direction of a QP.
struct Way {
  std::unordered_map<uint32_t, Kind> known;  ///< by PSN
  uint32_t next = 0;                         ///< oldest PSN that is not reported, or has not come
  std::set<uint32_t> ahead;                  ///< those that have, behind it
};

struct Sides {
  log::Qp qp;
  Way out, in;
  std::array<std::optional<uint8_t>, 3> codes{};  ///< by ClassPacket
  std::vector<log::EvState> states;               ///< by place
};

struct Work {
  uint32_t qp = 0;
  uint64_t wr_id = 0;
  bool immediate = false;
  WimmRoom room = WimmRoom::Free;
  WimmBehind behind = WimmBehind::Nothing;
};

class Collectives final : public ref::Checker {
 public:
  Collectives(const ref::Profile& profile, Bins& bins) : profile_(profile), bins_(bins), plain_(profile), own_(plain_) {
    for (const log::Qp& known : profile.qps) qp(known, 0);
  }

  void qp(const log::Qp& qp, Time) override;
  void received(const ref::Seen& seen) override;
  void sent(const ref::Seen& seen) override;
  using Checker::posted;
  void posted(const log::Post& post, Time) override;
  void completed(const log::Cqe& cqe, Time) override;
  void event(const log::Event& event, Time) override;
  uint64_t memory() const override;

 private:
  /// The profile, with packets that come back told apart whatever its device does.
  struct Apart : ref::Profile {
    explicit Apart(const ref::Profile& of) : Profile(of) { settings.returned = ref::kDropReturned; }
  };
  Sides* own(uint32_t number) {
    const auto at = queues_.find(number);
    return at == queues_.end() ? nullptr : &at->second;
  }
  Sides* of_sent(const wire::Packet& packet);
  bool came_back(const wire::Packet& packet);
  void beside(EmptyWay way, Way& of, const wire::Packet& packet, bool alone);
  void data_comes(Sides& queue, const wire::Packet& packet);
  void data_goes(Sides& queue, const wire::Packet& packet);
  void code_point(Sides& queue, const wire::Packet& packet);

  const ref::Profile& profile_;
  Bins& bins_;
  Apart plain_;
  ref::OwnAddresses own_;
  std::unordered_map<uint32_t, Sides> queues_;
  std::vector<Work> works_;
};

void Collectives::qp(const log::Qp& qp, Time) {
  own_.qp(qp);
  const auto [at, fresh] = queues_.try_emplace(qp.qp);
  Sides& queue = at->second;
  if (fresh || queue.qp.state < log::QpState::Rtr || qp.state < log::QpState::Rtr || queue.qp.sq_psn != qp.sq_psn ||
      queue.qp.rq_psn != qp.rq_psn) {
    queue = {};
    queue.out.next = qp.sq_psn % kPsns;
    queue.in.next = qp.rq_psn % kPsns;
  }
  if (queue.states.size() != qp.evs.size()) {
    queue.states.assign(qp.evs.size(), log::EvState::Good);
    std::fill_n(queue.states.rbegin(), std::min<std::size_t>(qp.backup, qp.evs.size()), log::EvState::Backup);
  }
  queue.qp = qp;
}

Sides* Collectives::of_sent(const wire::Packet& packet) {
  Sides* found = nullptr;
  for (auto& [number, queue] : queues_) {
    if (queue.qp.peer_qp != packet.bth->dqp) continue;
    if (found == nullptr || (packet.ipv6 && queue.qp.peer_ip == packet.ipv6->dst)) found = &queue;
  }
  return found;
}

bool Collectives::came_back(const wire::Packet& packet) {
  const ref::Settings& s = profile_.settings;
  const bool code = s.returned_valid && packet.dscp() == s.dscp_returned;
  if (!is_write(packet) || !packet.trimmed() || (!code && own_.whose(packet) != ref::Whose::Own)) return false;
  bins_.hit(Group::Back, code ? BackTold::Code : BackTold::Address,
            s.returned == ref::kDropReturned    ? BackMode::Dropped
            : s.returned == ref::kLearnReturned ? BackMode::Learned
                                                : BackMode::Peers,
            packet.bth->rtx != 0 ? BackTurn::Again : BackTurn::New);
  return true;
}

void Collectives::received(const ref::Seen& seen) {
  const wire::Packet& packet = seen.packet;
  if (!seen.mrc() || packet.error || came_back(packet)) return;
  Sides* const queue = own(packet.bth->dqp);
  if (queue == nullptr) return;
  if (is_write(packet)) return data_comes(*queue, packet);
  if (!packet.seth && !packet.aeth) return;
  const uint32_t cack = packet.seth ? packet.seth->cack_psn : packet.bth->psn;
  if (packet.aeth && (packet.aeth->syndrome & 0x60) == 0x60) return;
  if (distance(cack, queue->out.next) >= 0) queue->out.next = behind(cack);
}

void Collectives::sent(const ref::Seen& seen) {
  const wire::Packet& packet = seen.packet;
  if (!seen.mrc() || packet.error || (!is_write(packet) && !packet.peth)) return;
  Sides* const queue = of_sent(packet);
  if (queue == nullptr) return;
  code_point(*queue, packet);
  if (is_write(packet)) data_goes(*queue, packet);
}

/// The messages next to one of no bytes, whichever is seen first.
void Collectives::beside(EmptyWay way, Way& of, const wire::Packet& packet, bool alone) {
  const uint32_t psn = packet.bth->psn;
  const Kind kind = kind_of(packet);
  const auto hit = [&](Kind empty, EmptyBeside what) {
    bins_.hit(Group::Empty, way, empty.immediate ? EmptyKind::Immediate : EmptyKind::Plain, what);
  };
  const auto in_front = [](Kind k) {
    return k.empty ? EmptyBeside::BehindEmpty : k.immediate ? EmptyBeside::BehindImmediate : EmptyBeside::BehindPlain;
  };
  const auto next = [](Kind k) {
    return k.empty ? EmptyBeside::BeforeEmpty : k.immediate ? EmptyBeside::BeforeImmediate : EmptyBeside::BeforePlain;
  };
  if (kind.empty && alone) hit(kind, EmptyBeside::Alone);
  const auto front = of.known.find(before(psn)), back = of.known.find(behind(psn));
  if (front != of.known.end()) {
    if (kind.empty) hit(kind, in_front(front->second));
    if (front->second.empty) hit(front->second, next(kind));
  }
  if (back != of.known.end()) {
    if (kind.empty) hit(kind, next(back->second));
    if (back->second.empty) hit(back->second, in_front(kind));
  }
  if (of.known.size() > kMost) of.known.clear();
  of.known[psn] = kind;
}

void Collectives::data_comes(Sides& queue, const wire::Packet& packet) {
  Way& in = queue.in;
  const uint32_t psn = packet.bth->psn;
  const int32_t at = distance(psn, in.next);
  const auto window = static_cast<int32_t>((queue.qp.window != 0 ? queue.qp.window : queue.qp.mpr_dest) * kUnit);
  if (is_empty(packet)) {
    const auto hit = [&](NoughtFate fate) { bins_.hit(Group::Nought, NoughtWay::Got, fate); };
    if (packet.trimmed()) return hit(NoughtFate::Trimmed);
    if (packet.bth->rtx != 0) hit(NoughtFate::Again);
    if (at < 0 || in.ahead.contains(psn)) hit(NoughtFate::Twice);
    if (at > 0 && at < window) hit(NoughtFate::Ahead);
    if (at >= window - kEdge && at < window) hit(NoughtFate::Edge);
  }
  if (packet.trimmed() || at >= window || at < -window) return;
  beside(EmptyWay::Got, in, packet, at == 0 && in.ahead.empty());
  if (at > 0) in.ahead.insert(psn);
  if (at != 0) return;
  in.next = behind(in.next);
  while (in.ahead.erase(in.next) != 0) in.next = behind(in.next);
}

void Collectives::data_goes(Sides& queue, const wire::Packet& packet) {
  Way& out = queue.out;
  const uint32_t psn = packet.bth->psn;
  const auto window = static_cast<int32_t>(queue.qp.mpr * kUnit);
  if (is_empty(packet)) {
    if (packet.bth->rtx != 0) bins_.hit(Group::Nought, NoughtWay::Sent, NoughtFate::Again);
    if (distance(psn, out.next) >= window - kEdge) bins_.hit(Group::Nought, NoughtWay::Sent, NoughtFate::Edge);
  }
  if (packet.bth->rtx == 0) beside(EmptyWay::Sent, out, packet, psn == out.next);
  const bool timed = profile_.settings.skip_mode == ref::kSkipModeTime;
  const bool none = !queue.states.empty() && std::ranges::find(queue.states, log::EvState::Good) == queue.states.end();
  if (timed && none && std::ranges::find(queue.states, log::EvState::Skip) != queue.states.end())
    bins_.hit(Group::Skip, SkipMode::Time, SkipEnd::Used);
}

void Collectives::code_point(Sides& queue, const wire::Packet& packet) {
  const ClassPacket what = packet.peth            ? ClassPacket::Probe
                           : packet.bth->rtx != 0 ? ClassPacket::Again
                                                  : ClassPacket::Data;
  const auto index = static_cast<std::size_t>(what);
  const uint32_t nics = what == ClassPacket::Again ? profile_.settings.dscp_rtx : profile_.settings.dscp_data;
  queue.codes[index] = packet.dscp();
  const bool differ = std::ranges::any_of(queues_, [&](const auto& other) {
    return other.second.codes[index] && *other.second.codes[index] != packet.dscp();
  });
  bins_.hit(Group::Class, queue.qp.own_class || packet.dscp() != nics ? ClassWhose::Own : ClassWhose::Nic, what,
            differ ? ClassOthers::Differ : ClassOthers::Same);
}

void Collectives::posted(const log::Post& post, Time) {
  const Sides* const queue = own(post.qp);
  if (queue == nullptr || works_.size() > kMost) return;
  uint32_t open = 0;
  for (Work& work : works_) {
    if (work.qp != post.qp) continue;
    open += work.immediate ? 1 : 0;
    if (work.behind == WimmBehind::Nothing) work.behind = post.immediate ? WimmBehind::Immediate : WimmBehind::Plain;
  }
  const uint32_t most = queue->qp.max_wimm;
  works_.push_back({post.qp, post.wr_id, post.immediate,
                    open >= most       ? WimmRoom::Waited
                    : open + 1 == most ? WimmRoom::Last
                                       : WimmRoom::Free,
                    WimmBehind::Nothing});
}

void Collectives::completed(const log::Cqe& cqe, Time) {
  if (cqe.receive) return;
  const auto work =
      std::ranges::find_if(works_, [&](const Work& one) { return one.qp == cqe.qp && one.wr_id == cqe.wr_id; });
  if (work == works_.end()) return;
  if (work->immediate && cqe.status == log::Status::Ok) bins_.hit(Group::Wimm, work->room, work->behind);
  works_.erase(work);
}

void Collectives::event(const log::Event& event, Time) {
  using enum log::EvState;
  Sides* const queue = event.kind == log::EventKind::Path ? own(event.qp) : nullptr;
  if (queue == nullptr) return;
  const auto from = static_cast<log::EvState>(event.arg[1]), to = static_cast<log::EvState>(event.arg[2]);
  if (event.arg[3] < queue->states.size()) queue->states[event.arg[3]] = to;
  if ((from != Skip && from != SkipTwice) || to == Skip || to == SkipTwice || to > SkipTwice) return;
  const auto mode = static_cast<SkipMode>(std::min(profile_.settings.skip_mode, ref::kSkipModeTime));
  bins_.hit(Group::Skip, mode,
            to == Good     ? SkipEnd::Good
            : to == Bad    ? SkipEnd::Bad
            : to == Denied ? SkipEnd::Denied
                           : SkipEnd::Backup);
}

uint64_t Collectives::memory() const {
  uint64_t bytes = works_.size() * sizeof(Work) + own_.memory();
  for (const auto& [number, queue] : queues_)
    bytes += sizeof queue + 48 * (queue.out.known.size() + queue.in.known.size() + queue.in.ahead.size());
  return bytes;
}

}  // namespace

std::unique_ptr<ref::Checker> make_collectives_watcher(const ref::Profile& profile, Bins& bins) {
  return std::make_unique<Collectives>(profile, bins);
}

}  // namespace mrc::cover
