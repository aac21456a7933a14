// SPDX-License-Identifier: Apache-2.0
/// Ports, timers, QPs of the fast endpoint.
#include "sim/nic/fast/endpoint_fast.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "pipeline/timing/lane_room.hpp"
#include "protocol/opcodes.hpp"
#include "protocol/srv6.hpp"
#include "sim/engine/codec.hpp"
#include "sim/engine/fabric.hpp"
#include "sim/switch/switch_config.hpp"
#include "util/rng.hpp"

namespace mrc::sim {

namespace {
Stack stack_of(Encap encap) {
  switch (encap) {
    case Encap::Srv6:
      return Stack::Srv6;
    case Encap::Srv6Srh:
      return Stack::Srv6Srh;
    default:
      return Stack::Ipv6;
  }
}
constexpr uint32_t kDirectQpns = 1 << 16;

/// Cycles of the NIC from one answer to the next, at least.
constexpr unsigned kAnswerPace = 4;

/// Bytes of a trimmed frame that still has its BTH and METH; without them nobody knows what was trimmed.
constexpr unsigned least_trimmed(Stack stack) {
  const unsigned ip = stack == Stack::Ipv4      ? wire::Ipv4::kBytes
                      : stack == Stack::Srv6    ? 2 * wire::Ipv6::kBytes
                      : stack == Stack::Srv6Srh ? 2 * wire::Ipv6::kBytes + wire::Srh::kBytes
                                                : wire::Ipv6::kBytes;
  return wire::Eth::kBytes + ip + wire::Udp::kBytes + wire::Bth::kBytes + wire::Meth::kBytes;
}
void append(Packet*& head, Packet*& tail, Packet* packet) {
  packet->next = nullptr;
  (head == nullptr ? head : tail->next) = packet;
  tail = packet;
}
void drop_list(Packet*& head) {
  while (head != nullptr) Recycle{}(std::exchange(head, head->next));
}
}  // namespace

FastConfig FastConfig::for_fabric(double gbps, Time base_rtt) {
  FastConfig config;
  NsccParams& nscc = config.nscc;
  nscc.rate_gbps = gbps;
  nscc.base_rtt = static_cast<uint32_t>(std::clamp<Time>(base_rtt / kNs, kNsccTickNs, 8'000'000));
  const double bdp = gbps / 8 * static_cast<double>(nscc.base_rtt);
  nscc.max_cwnd = static_cast<uint32_t>(std::clamp(1.25 * bdp, 2.0 * nscc.path_mtu, 2e8));
  nscc.target_delay = nscc.base_rtt / 2;
  nscc.qa_gate = 5;
  nscc.fi = nscc.path_mtu * 3 / 8.0;
  nscc.eta = nscc.path_mtu / 10.0;
  config.skip_ticks = static_cast<unsigned>(std::clamp<Time>((base_rtt - 1) / (kNsccTickNs * kNs) + 1, 1, 0xffff));
  config.timeout = 7;
  while (config.timeout < 24 && (1024 * kNs << config.timeout) < 64 * base_rtt) ++config.timeout;
  return config;
}

unsigned FastConfig::host_read_cycles(const Preset& preset) {
  const double prefetch_ns = 8.0 * preset.line_fifo * preset.host_bytes / preset.port_gbps;
  return std::max(1u, static_cast<unsigned>(0.4 * prefetch_ns * 1000 / preset.clock_ps));
}

void FastConfig::be_nic(const Preset& preset) {
  const Time cycle = preset.clock_ps;
  packet_to_answer = 40 * cycle;
  work_to_probe = 33 * cycle;
  work_to_wire = work_to_probe + host_read_cycles(preset) * cycle;
  lane_16_bytes = 16 * cycle / preset.port_bytes;
  packet_to_memory = 18 * cycle;
  burst_alone = 7 * cycle;
  lane_fifo = preset.tx_lane_fifo;
  mac_holds = true;
  wqe_depth = preset.wqe_depth;
  max_wimm = preset.max_wimm;
  wait_for_timer();
  nic_walks = nic_times = true;
  visit = 4 * cycle;
  clock = cycle;
}

void FastConfig::wait_for_timer() {
  port_loss = by_count = other_plane = loss_spares = false;
  lost_stays = true;
  overdue = silence = suspect = strikes = loss_share = 0;
  copies = 1;
}

void use_profile(FastConfig& config, const FabricProfile& profile) {
  config.dscp = dscp_of(profile);
  config.dscp_endpoint = static_cast<uint8_t>(profile.get("DSCP_TX.ep", config.dscp.trimmable));
}

const NsccParams* FastShared::keep(const std::optional<NsccParams>& params) {
  if (!params) return nullptr;
  const auto known = std::ranges::find(numbers_, *params);
  return known != numbers_.end() ? &*known : &numbers_.emplace_front(*params);
}

const NsccWords* FastShared::words(unsigned mtu_code, double gbps, const NsccParams* numbers) {
  for (const Entry& entry : entries_) {
    if (entry.mtu_code == mtu_code && entry.gbps == gbps && entry.params == numbers) return &entry.words;
  }
  NsccParams params = numbers != nullptr ? *numbers : config.nscc;
  params.path_mtu = 256u << mtu_code;
  if (gbps > 0) params.rate_gbps = gbps;
  // open() has seen that the settings are good; with the links' rates they may still leave the format.
  auto real = nscc_resolve(params);
  if (!real) {
    params.rate_gbps = config.nscc.rate_gbps;
    real = nscc_resolve(params);
  }
  return &entries_.emplace_front(Entry{mtu_code, gbps, numbers, nscc_words(*real)}).words;
}

FastEndpoint::FastEndpoint(std::shared_ptr<FastShared> shared) : shared_(std::move(shared)), config_(shared_->config) {}

FastEndpoint::~FastEndpoint() {
  for (Lane& lane : lanes_) {
    drop_list(lane.control);
    drop_list(lane.data);
    drop_list(lane.next);
  }
  drop_list(answers_);
}

void FastEndpoint::attach(const Access& access) {
  access_ = access;
  planes_ = std::min(access.planes(), kMaxPlanes);
  // From 1 on, as after reset, the first two dozen values of this register end in zeros: where their low bits choose
  // the uplink, the answers of all NICs would share one.
  entropy_lfsr_ = reverse_seed(access.node());
}

void FastEndpoint::start() {
  started_ = true;
  for (unsigned p = 0; p < planes_; ++p) {
    if (access_.link_up(p)) up_ |= 1u << p;
  }
  room_ = (1u << planes_) - 1u;
  for (const auto& dest : dests_) {
    if (!dest->cc) continue;
    dest->words = words(*dest);
    dest->state = nscc_init(*dest->words, tick());
  }
  if (up_ != room_) ports_changed();
  pump();
}

const NsccWords* FastEndpoint::words(const FastDest& dest) {
  double rate = 0;
  for (unsigned p = 0; p < planes_; ++p) {
    if (access_.rate(p).valid()) rate += access_.rate(p).gbps();
  }
  return shared_->words(dest.mtu_code, rate, dest.nscc);
}

FastQp* FastEndpoint::find(uint32_t qpn) const {
  if (qpn < by_qpn_.size()) return by_qpn_[qpn];
  if (by_high_qpn_.empty()) return nullptr;
  const auto it = by_high_qpn_.find(qpn);
  return it == by_high_qpn_.end() ? nullptr : it->second;
}

bool FastEndpoint::open(const QpSpec& spec, std::string& why) {
  why = spec.problem(access_.planes());
  if (!why.empty()) return false;
  if (find(spec.qpn) != nullptr) {
    why = "queue pair " + std::to_string(spec.qpn) + " is open already";
    return false;
  }
  const auto wrong = [](unsigned mpr) { return mpr == 0 || mpr > 32; };
  if (wrong(config_.mpr) || wrong(config_.mpr_dest)) {
    why = "a window of " + std::to_string(wrong(config_.mpr) ? config_.mpr : config_.mpr_dest) +
          " times 128 packets is not between 1 and 32";
    return false;
  }
  if (config_.lane_fifo <= kLaneUnderWay || config_.reorder == 0 || config_.wqe_depth == 0 ||
      config_.wqe_depth > 16384) {
    why = "lane_fifo is at least 9, reorder at least 1, wqe_depth between 1 and 16384";
    return false;
  }
  auto qp = std::make_unique<FastQp>();
  qp->mtu = spec.mtu;
  qp->mtu_code = static_cast<uint8_t>(std::countr_zero(spec.mtu) - 8);
  qp->cc = spec.congestion && config_.nscc.enable;
  if (qp->cc) {
    NsccParams params = spec.nscc.value_or(config_.nscc);
    params.path_mtu = spec.mtu;
    if (const auto real = nscc_resolve(params); !real) {
      why = real.error().input + ": " + real.error().what;
      return false;
    }
  }
  const NsccParams* numbers = qp->cc ? shared_->keep(spec.nscc) : nullptr;
  const auto known = dest_of_node_.find(spec.peer);
  if (qp->cc && known != dest_of_node_.end() && dests_[known->second]->cc && dests_[known->second]->nscc != numbers) {
    why = "queue pairs to one NIC share a congestion controller, and another one has other numbers for it";
    return false;
  }
  qp->index = static_cast<uint32_t>(qps_.size());
  const uint32_t walk = config_.nic_walks ? spec.qpn - kQpnBase : qp->index ^ spec.qpn << 4 ^ access_.node();
  if (!qp->ev.init(spec, walk, why)) return false;
  qp->qpn = spec.qpn;
  qp->peer_qpn = spec.peer_qpn;
  qp->peer = spec.peer;
  qp->ts = config_.time_stamps;
  qp->dscp_data = spec.own_class ? spec.dscp_data & 63 : config_.dscp.trimmable;
  qp->dscp_rtx = spec.own_class ? spec.dscp_rtx & 63 : config_.dscp.trimmable_retx;
  qp->encap = spec.encap;
  qp->stack = stack_of(spec.encap);
  qp->path_template = spec.path_template;
  qp->rule = spec.path_rule;
  qp->full = nominal_full(qp->mtu_code, qp->ts, config_.nominal);
  using wire::Opcode;
  const auto size = [&](Opcode opcode, unsigned payload) {
    return static_cast<uint16_t>(frame_size(qp->stack, static_cast<uint8_t>(opcode), qp->ts, payload));
  };
  qp->frame_full = size(Opcode::WriteMiddle, spec.mtu);
  qp->frame_control = {size(Opcode::Sack, 0), size(Opcode::Nack, 0), size(Opcode::Ack, 0)};
  qp->mpr = qp->mpr_max = static_cast<uint8_t>(config_.mpr);
  qp->mpr_now = qp->mpr_dest = static_cast<uint8_t>(config_.mpr_dest);
  qp->row_mask = static_cast<uint32_t>(std::bit_ceil(2u * config_.mpr_dest)) - 1;

  const auto [it, is_new] = dest_of_node_.try_emplace(spec.peer, static_cast<uint32_t>(dests_.size()));
  if (is_new) {
    dests_.push_back(std::make_unique<FastDest>());
    dests_.back()->peer = spec.peer;
  }
  qp->dest = it->second;
  FastDest& dest = *dests_[qp->dest];
  dest.newest_qp = qp->index;
  if (qp->cc && (!dest.cc || qp->mtu_code > dest.mtu_code)) {
    // The window is never smaller than the largest packet of all its QPs.
    const bool first = !dest.cc;
    dest.cc = true;
    dest.mtu_code = qp->mtu_code;
    dest.nscc = numbers;
    if (started_) {
      dest.words = words(dest);
      if (first) dest.state = nscc_init(*dest.words, tick());
      dest.state.cwnd = std::max(dest.state.cwnd, uint64_t{dest.words->mtu} << 16);
    }
  }
  if (spec.qpn < kDirectQpns) {
    if (by_qpn_.size() <= spec.qpn) by_qpn_.resize(spec.qpn + 1);
    by_qpn_[spec.qpn] = qp.get();
  } else {
    by_high_qpn_[spec.qpn] = qp.get();
  }
  if (config_.returned == Returned::Learn) by_peer_[uint64_t{spec.peer} << 32 | spec.peer_qpn] = qp.get();
  qps_.push_back(std::move(qp));
  if (started_ && up_ != (1u << planes_) - 1u) {
    dest.due = true;
    dest.sent = false;
    dest.tries = 0;
    port_status_timer(qps_.back()->dest);
  }
  return true;
}

bool FastEndpoint::post(const WorkRequest& request) {
  FastQp* qp = find(request.qpn);
  if (qp == nullptr || qp->failed || request.bytes > kMaxMessage) return false;
  if (request.bytes == 0 && config_.zero_length != ZeroLength::Legal) return false;
  if (qp->requests.size() >= config_.wqe_depth) return false;
  const bool waits = config_.max_wimm != 0 && config_.wimm_over == WimmOver::Wait;
  if (request.immediate && !waits && qp->immediates >= config_.max_wimm) {
    if (config_.wimm_over != WimmOver::Error) return false;
    if (listener_ != nullptr) {
      listener_->completed({access_.node(), qp->qpn, request.id, request.bytes, false, CqStatus::WimmOverrun});
    }
    fail(*qp, CqStatus::Flushed);
    return true;
  }
  Request entry;
  entry.id = request.id;
  WriteRequest& wqe = entry.message;
  wqe.length = static_cast<uint32_t>(request.bytes);
  wqe.raddr = config_.remote_va + message_address(qp->peer_qpn, qp->msn_tail);
  wqe.rkey = config_.rkey;
  wqe.imm_valid = request.immediate;
  wqe.imm = request.imm;
  wqe.rqmsn = qp->rqmsn;
  if (request.immediate) {
    ++qp->rqmsn;
    ++qp->immediates;
  }
  qp->requests.push_back(entry);
  ++qp->msn_tail;
  activate(*qp);
  // Not at once: what is posted at the same time takes turns with it.
  if (started_) schedule_wake(access_.now());
  return true;
}

EvCounts FastEndpoint::ev_counts(uint32_t qpn) const {
  const FastQp* qp = find(qpn);
  return qp == nullptr ? EvCounts{} : qp->ev.counts();
}

namespace {
template <class T>
void fetch_all(const T* object) {
  for (size_t i = 0; i < sizeof(T); i += 64) __builtin_prefetch(reinterpret_cast<const char*>(object) + i);
}
}  // namespace

void FastEndpoint::fetch(unsigned step) const {
  const auto few = [](const auto& list, auto&& f) {
    for (size_t i = 0; i < std::min<size_t>(list.size(), 4); ++i) f(list[i].get());
  };
  if (step == 0) {
    fetch_all(this);
  } else if (step == 1) {
    __builtin_prefetch(qps_.data());
    __builtin_prefetch(by_qpn_.data());
    __builtin_prefetch(dests_.data());
    if (!timers_.empty()) __builtin_prefetch(&timers_.top());
    for (unsigned p = 0; p < planes_; ++p) {
      if (lanes_[p].data != nullptr) fetch_all(lanes_[p].data);
      if (lanes_[p].control != nullptr) __builtin_prefetch(lanes_[p].control);
    }
  } else if (step == 2) {
    few(qps_, [](const FastQp* qp) { fetch_all(qp); });
    few(dests_, [](const FastDest* dest) { fetch_all(dest); });
  } else {
    few(qps_, [](const FastQp* qp) { qp->fetch(); });
  }
}

bool FastEndpoint::steady(uint32_t qpn) const {
  if (config_.retry.exponential == kRetryForever) return true;
  const FastQp* qp = find(qpn);
  return qp != nullptr && !qp->failed && qp->retry == 0 && config_.retry.linear > 1;
}

void FastEndpoint::set_mpr(uint32_t qpn, uint8_t mpr) {
  if (FastQp* qp = find(qpn)) qp->mpr_now = dynamic_mpr(mpr, qp->mpr_dest);
}
bool FastEndpoint::deny_ev(uint32_t qpn, unsigned ev_idx, bool deny) {
  FastQp* qp = find(qpn);
  return qp != nullptr && qp->ev.deny(ev_idx, deny);
}
unsigned FastEndpoint::ev_state(uint32_t qpn, unsigned ev_idx) const {
  const FastQp* qp = find(qpn);
  return qp == nullptr || ev_idx >= qp->ev.size() ? kEvDenied : qp->ev.state(ev_idx);
}
const NsccState* FastEndpoint::controller(NodeId peer) const {
  const auto it = dest_of_node_.find(peer);
  return it == dest_of_node_.end() || !dests_[it->second]->cc ? nullptr : &dests_[it->second]->state;
}
unsigned FastEndpoint::peer_planes(NodeId peer) const {
  const auto it = dest_of_node_.find(peer);
  return it == dest_of_node_.end() ? 0 : dests_[it->second]->peer_mask & ((1u << planes_) - 1u);
}
bool FastEndpoint::failed(uint32_t qpn) const {
  const FastQp* qp = find(qpn);
  return qp != nullptr && qp->failed;
}
bool FastEndpoint::end(uint32_t qpn, CqStatus status) {
  FastQp* qp = find(qpn);
  if (qp != nullptr) fail(*qp, status);
  return qp != nullptr;
}

uint64_t FastEndpoint::memory() const {
  uint64_t bytes = sizeof *this + qps_.capacity() * sizeof(void*) + by_qpn_.capacity() * sizeof(void*) +
                   dests_.capacity() * sizeof(void*) + run_.memory() + rtx_list_.memory() +
                   timers_.size() * sizeof(Timer) + slabs_.size() * sizeof(Block) * kSlabBlocks +
                   probes_.capacity() * sizeof(Probe) + unprobed_.memory() + wants_.memory();
  for (const auto& qp : qps_) {
    bytes += sizeof *qp + qp->ev.memory() + qp->requests.memory() + qp->lengths.memory() +
             qp->blocks.capacity() * sizeof(void*) + (qp->rows ? (qp->row_mask + 1) * sizeof(RxRow) : 0);
  }
  for (const auto& dest : dests_) bytes += sizeof *dest + dest->waiting.memory() + dest->rtx_waiting.memory();
  return bytes;
}

// Ports.

PacketPtr FastEndpoint::make_packet(const FastQp& qp, unsigned plane, uint32_t ev, uint8_t dscp, bool control) {
  PacketPtr packet = access_.pool().make();
  Packet& p = *packet;
  if (has_outer_ipv6(qp.encap)) {
    const U128 address = srv6_address(qp.path_template, plane, ev, qp.rule);
    p.dst = {static_cast<uint64_t>(address >> 64), static_cast<uint64_t>(address)};
    if (qp.encap == Encap::Srv6Srh) {
      p.segments_left = 1;
      access_.pool().attach(p).segment = host_address(qp.peer);
    }
  } else {
    p.dst = host_address(qp.peer);
  }
  p.entropy = qp.encap == Encap::Udp ? ev & 0xffff0000u : ev;
  p.src = access_.node();
  p.stack = qp.stack;
  p.dst_host = qp.peer;
  p.dscp = dscp & 63;
  p.ecn = control ? 0 : 2;
  p.dqp = qp.peer_qpn;
  p.bth = 0;
  p.payload = 0;
  p.tx_timestamp = 0;
  return packet;
}

void FastEndpoint::schedule_wake(Time time) {
  if (time >= wake_at_) return;
  wake_at_ = time;
  access_.wake_at(time);
}

void FastEndpoint::add_timer(Time time, TimerKind kind, uint32_t index) {
  timers_.push({time, kind, index});
  schedule_wake(time);
}

void FastEndpoint::put_control(PacketPtr packet, unsigned plane, Time delay) {
  if ((up_ >> plane & 1) == 0) return;  // lost at a port without carrier
  Lane& lane = lanes_[plane];
  packet->at_ps = access_.now() + delay;
  if (lane.idle && lane.control == nullptr) schedule_wake(packet->at_ps);
  append(lane.control, lane.control_tail, packet.release());
}

void FastEndpoint::put_data(PacketPtr packet, unsigned plane) {
  if ((up_ >> plane & 1) == 0) return;
  Lane& lane = lanes_[plane];
  packet->at_ps =
      std::max(pipe_, access_.now()) + config_.work_to_wire + config_.lane_time(packet->size, access_.rate(plane));
  if (lane.idle && lane.data == nullptr) schedule_wake(packet->at_ps);
  ++lane.packets;
  lane.bytes += packet->payload;
  append(lane.data, lane.data_tail, packet.release());
  look_for_room(plane);
}

void FastEndpoint::look_for_room(unsigned plane) {
  const Lane& lane = lanes_[plane];
  unsigned queued = lane.packets, bytes = lane.bytes, sending = 0;
  if (lane.next != nullptr && lane.next->at_ps > access_.now()) {
    sending = is_data_opcode(lane.next->opcode) ? 1 : 0;  // on its way into the MAC
  } else if (lane.data != nullptr) {
    sending = 1;
    --queued;
    bytes -= lane.data->payload;
  }
  const unsigned bit = 1u << plane;
  room_ = lane_room(queued + sending, bytes, config_.lane_fifo) ? room_ | bit : room_ & ~bit;
}

Packet** FastEndpoint::pick(Lane& lane, unsigned plane, Time now) const {
  if (lane.control == nullptr) return lane.data == nullptr ? nullptr : &lane.data;
  if (lane.data == nullptr) return &lane.control;
  if (!config_.mac_holds) {
    return lane.control->at_ps <= std::max(now, lane.data->at_ps) ? &lane.control : &lane.data;
  }
  // A lane that has begun with a data packet, whose payload it may still be waiting for, lets nothing overtake.
  const Time payload = config_.work_to_wire - config_.work_to_probe;
  const Time begun = lane.data->at_ps - config_.lane_time(lane.data->size, access_.rate(plane)) - payload;
  return std::max(lane.control->at_ps, lane.taken_at) <= std::max(begun, lane.taken_at) ? &lane.control : &lane.data;
}

Packet* FastEndpoint::take(Lane& lane, unsigned plane, Time now) const {
  Packet** head = pick(lane, plane, now);
  if (head == nullptr) return nullptr;
  Packet* packet = *head;
  // The MAC takes a frame before it has all of it.
  const bool early = config_.mac_holds && head == &lane.data;
  if (packet->at_ps > now + (early ? config_.lane_time(packet->size, access_.rate(plane)) : 0)) return nullptr;
  lane.taken_at = packet->at_ps;
  *head = packet->next;
  if (*head != nullptr) __builtin_prefetch(*head);
  packet->next = nullptr;
  if (head == &lane.data) {
    --lane.packets;
    lane.bytes -= packet->payload;
  }
  return packet;
}

PacketPtr FastEndpoint::pull(unsigned plane) {
  if (plane >= planes_) return nullptr;
  Lane& lane = lanes_[plane];
  const Time now = access_.now();
  Packet* packet = lane.next != nullptr ? lane.next : take(lane, plane, now);
  lane.next = nullptr;
  if (packet != nullptr && packet->at_ps > now) {
    lane.next = packet;
    packet = nullptr;
  } else if (packet != nullptr) {
    if (config_.mac_holds) {
      lane.next = take(lane, plane, now);
      if (lane.next != nullptr) {
        lane.taken_at = std::max(lane.taken_at, now + config_.lane_time(lane.next->size, access_.rate(plane)));
      }
    }
  }
  lane.idle = packet == nullptr;
  if (lane.idle && lane.next != nullptr) {
    schedule_wake(lane.next->at_ps);
  } else if (lane.idle) {
    if (Packet** head = pick(lane, plane, now); head != nullptr) schedule_wake((*head)->at_ps);
  }
  if ((room_ >> plane & 1) == 0) {
    look_for_room(plane);
    if ((room_ >> plane & 1) != 0) pump();
  }
  return PacketPtr(packet);
}

void FastEndpoint::wake() {
  wake_at_ = kNever;
  const Time now = access_.now();
  while (!timers_.empty() && timers_.top().time <= now) {
    const Timer timer = timers_.top();
    timers_.pop();
    switch (timer.kind) {
      case TimerKind::Retry:
        retry_timer(*qps_[timer.index]);
        break;
      case TimerKind::State:
        state_timer(*qps_[timer.index], timer.time);
        break;
      case TimerKind::Probe:
        probe_timer(timer.index);
        break;
      case TimerKind::PortStatus:
        port_status_timer(timer.index);
        break;
      case TimerKind::ReverseProbe:
        reverse_timer();
        break;
      case TimerKind::Memory:
        while (!placed_.empty() && placed_.front().time <= now) {
          const Placed placed = placed_.pop_front();
          if (listener_ != nullptr) listener_->delivered(placed.delivery);
        }
        break;
      case TimerKind::Suspect:
        query_suspect(timer.index);
        break;
      case TimerKind::Resume:
        take_waiting(*dests_[timer.index]);
        break;
      case TimerKind::RtxRequest: {
        FastDest& dest = *dests_[timer.index];
        dest.rtx_timer = false;
        while (!dest.rtx_waiting.empty()) rtx_list_.push_back(dest.rtx_waiting.pop_front());
        break;
      }
    }
  }
  take_answers();
  pump();
  Time next = timers_.empty() ? kNever : timers_.top().time;
  if (answers_ != nullptr) next = std::min(next, std::max(now, answers_at_));
  if (!rtx_list_.empty() && rtx_at_ > now) next = std::min(next, rtx_at_);
  for (unsigned p = 0; p < planes_; ++p) {
    Lane& lane = lanes_[p];
    if (!lane.idle) continue;
    const auto first = [&] {
      if (lane.next != nullptr) return lane.next->at_ps;
      Packet** head = pick(lane, p, now);
      return head == nullptr ? kNever : (*head)->at_ps;
    };
    if (first() <= now) access_.kick(p);
    if (lane.idle) next = std::min(next, first());
  }
  if (next > now && next != kNever) schedule_wake(next);
}

void FastEndpoint::flush_lane(unsigned plane) {
  Lane& lane = lanes_[plane];
  drop_list(lane.control);
  drop_list(lane.data);
  drop_list(lane.next);
  lane.packets = lane.bytes = 0;
  lane.idle = true;
  room_ |= 1u << plane;
}

void FastEndpoint::link_changed(unsigned plane, bool up) {
  if (plane >= planes_ || !started_) return;
  up_ = up ? up_ | 1u << plane : up_ & ~(1u << plane);
  // A MAC without carrier takes what it is given and loses it.
  if (!up) flush_lane(plane);
  ports_changed();
  if (!up && config_.port_loss) {
    for (const auto& qp : qps_) {
      lose_planes(*qp, 1u << plane, LossCause::Port);
      report_again(*qp);
    }
  }
  pump();
}

void FastEndpoint::receive(PacketPtr packet, unsigned plane) {
  const Packet& p = *packet;
  const NodeId own = access_.node();
  const bool trimmed = p.dscp == config_.dscp.trimmed || p.dscp == config_.dscp.trimmed_lasthop;
  const bool returned_code = config_.dscp_returned == p.dscp, peers = config_.returned == Returned::Peer;
  if ((trimmed || returned_code) && p.size < least_trimmed(p.stack)) return;
  if (!peers && rules::rx_came_back(trimmed, returned_code, p.src == own, p.dst_host == own)) {
    if (!is_data_opcode(p.opcode)) return;
    ++stats_.returned;
    if (config_.returned == Returned::Learn) take_answer(std::move(packet));
    return;
  }
  // The NIC looks at no destination address; with Peer a trimmed packet of our own is taken for the peer's, as there.
  if (p.dst_host != own && !(peers && trimmed)) {
    ++misdirected_;
    return;
  }
  if (p.trimmed && !trimmed) return;  // cut, and no code point says so: its ICRC is wrong
  if (p.ecn == 3) ++stats_.marked;
  using wire::Opcode;
  const auto opcode = static_cast<Opcode>(p.opcode);
  if (opcode >= Opcode::WriteFirst && opcode <= Opcode::WriteOnlyImm) {
    if (FastQp* qp = find(p.dqp)) on_data(*qp, *packet, plane, trimmed);
    return;
  }
  if (trimmed) return;
  if (opcode == Opcode::EndpointRequest || opcode == Opcode::EndpointResponse) {
    if (p.dqp == wire::kEndpointDqp) on_endpoint(p, plane);
    return;
  }
  FastQp* qp = find(p.dqp);
  if (qp == nullptr) return;
  if (opcode == Opcode::ProbeRequest) {
    on_probe(*qp, p, plane);
    return;
  }
  if (!qp->failed) take_answer(std::move(packet));
}

/// At once, or in its turn.
void FastEndpoint::take_answer(PacketPtr packet) {
  if (config_.clock == 0) {
    on_answer(*packet);
    pump();
    return;
  }
  if (answers_ == nullptr) schedule_wake(std::max(access_.now(), answers_at_));
  append(answers_, answers_tail_, packet.release());
}

void FastEndpoint::on_answer(const Packet& p) {
  if (is_data_opcode(p.opcode)) {
    on_returned(p);
    return;
  }
  FastQp* const found = find(p.dqp);
  if (found == nullptr || found->failed) return;
  FastQp& qp = *found;
  switch (static_cast<wire::Opcode>(p.opcode)) {
    case wire::Opcode::Sack:
      on_sack(qp, p);
      break;
    case wire::Opcode::Nack:
      on_nack(qp, p);
      break;
    case wire::Opcode::Ack:
      on_ack(qp, p);
      break;
    default:
      break;
  }
}

/// Those whose time has come. Each keeps the controller busy, the next one waits.
void FastEndpoint::take_answers() {
  const Time now = access_.now();
  while (answers_ != nullptr && answers_at_ <= now) {
    const PacketPtr packet(std::exchange(answers_, answers_->next));
    packet->next = nullptr;
    answers_at_ = now + kAnswerPace * config_.clock;
    on_answer(*packet);
  }
}

}  // namespace mrc::sim
