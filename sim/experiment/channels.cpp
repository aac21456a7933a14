// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/channels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/experiment/endpoints.hpp"
#include "util/rng.hpp"

namespace mrc::sim {

MessageLog::MessageLog(MessageLog&& other) noexcept
    : put_(other.put_.load()),
      room_(other.room_),
      newest_(std::exchange(other.newest_, nullptr)),
      oldest_(std::exchange(other.oldest_, nullptr)),
      first_(other.first_),
      taken_(other.taken_) {}

MessageLog::~MessageLog() { clear(); }

void MessageLog::clear() {
  while (oldest_ != nullptr) delete std::exchange(oldest_, oldest_->next);
  newest_ = nullptr;
  put_ = 0;
  room_ = first_ = taken_ = 0;
}

void MessageLog::put(uint32_t label) {
  const uint32_t n = put_.load(std::memory_order_relaxed);
  if (n == room_) {
    auto* block = new Block;
    (newest_ == nullptr ? oldest_ : newest_->next) = block;
    newest_ = block;
    room_ += kBlock;
  }
  newest_->label[n + kBlock - room_] = label;
  put_.store(n + 1, std::memory_order_release);
}

const uint32_t* MessageLog::find(uint32_t msn) const {
  if (msn - first_ >= put_.load(std::memory_order_acquire) - first_) return nullptr;
  const Block* block = oldest_;
  uint32_t i = msn - first_;
  for (; i >= kBlock; i -= kBlock) block = block->next;
  return &block->label[i];
}

void MessageLog::took() {
  ++taken_;
  // The newest block is the other side's, too.
  while (taken_ - first_ >= kBlock && put_.load(std::memory_order_acquire) - first_ > kBlock) {
    delete std::exchange(oldest_, oldest_->next);
    first_ += kBlock;
  }
}

Channels::Channels(Fabric& fabric, const Topology& topology, const Scenario& scenario, uint64_t seed)
    : fabric_(fabric), topology_(topology), scenario_(scenario), seed_(seed), by_qpn_(topology.hosts()) {}

const Channel* Channels::find(NodeId from, NodeId to) const {
  for (unsigned user = 0; user < kUsers; ++user) {
    for (int8_t c = -1; c < 4; ++c) {
      const auto found = first_channel_.find(key(from, to, c, user));
      if (found != first_channel_.end()) return &channels_[found->second];
    }
  }
  return nullptr;
}

void Channels::entropy_of(const Channel& channel, std::vector<uint32_t>& active, std::vector<uint32_t>& backup) const {
  const auto index = static_cast<uint64_t>(&channel - channels_.data());
  topology_.entropy(channel.from, channel.to, Rng::hash(seed_ ^ (scenario_.shared_evs ? 0 : Rng::hash(index + 1))),
                    active, backup);
  if (scenario_.common_evs == 0) return;
  std::vector<uint32_t> common, unused;
  topology_.entropy(channel.from, channel.to, Rng::hash(seed_), common, unused);
  const size_t planes = topology_.planes(), end = static_cast<size_t>(scenario_.common_evs) * planes;
  const uint32_t uplink = (1u << topology_.path_rule().uplink_bits) - 1;
  for (size_t i = 0; i < std::min(end, active.size()); ++i) {
    // The uplink that it takes away from another one goes to that one: still each as often as any other.
    for (size_t k = i + planes; k < active.size(); k += planes) {
      if (((active[k] ^ common[i]) & uplink) != 0) continue;
      std::swap(active[k], active[i]);
      break;
    }
    active[i] = common[i];
  }
}

void Channels::want(NodeId from, NodeId to, int8_t qp_class, uint16_t qps, unsigned user) {
  const uint64_t pair = key(from, to, qp_class, user);
  const auto [it, is_new] = wanted_.try_emplace(pair, qps);
  if (is_new) order_.push_back(pair);
  it->second = std::max(it->second, qps);
}

void Channels::open(const std::function<void()>& poll) {
  for (const uint64_t pair : order_) {
    first_channel_[pair] = static_cast<uint32_t>(channels_.size());
    for (unsigned k = 0; k < wanted_[pair]; ++k) {
      Channel c;
      c.from = static_cast<NodeId>(pair >> 28 & kNodeMask);
      c.to = static_cast<NodeId>(pair & kNodeMask);
      c.user = static_cast<uint8_t>(pair >> 63);
      c.qp_class = static_cast<int8_t>(static_cast<int>(pair >> 56 & 0x7f) - 1);
      c.reopens = c.user == 0 && scenario_.transport == "roce" && scenario_.roce_reopen_us > 0;
      c.from_qpn = kFirstQpn + static_cast<uint32_t>(by_qpn_[c.from].size());
      by_qpn_[c.from].push_back(static_cast<uint32_t>(channels_.size()));
      c.to_qpn = kFirstQpn + static_cast<uint32_t>(by_qpn_[c.to].size());
      by_qpn_[c.to].push_back(static_cast<uint32_t>(channels_.size()));
      channels_.push_back(std::move(c));
    }
  }
  wanted_.clear();
  order_ = {};
  QpSpec spec;
  spec.mtu = static_cast<uint32_t>(scenario_.mtu);
  spec.encap = topology_.encap();
  spec.path_rule = topology_.path_rule();
  spec.planes = topology_.planes();
  spec.congestion = scenario_.congestion;
  for (const Channel& c : channels_) {
    if (poll) poll();
    spec.own_class = c.qp_class >= 0;
    if (spec.own_class) {
      const FabricPair& own = topology_.profile().data[static_cast<uint8_t>(c.qp_class)];
      spec.dscp_data = own.data;
      spec.dscp_rtx = own.rtx;
    }
    for (const bool there : {true, false}) {
      const NodeId here = there ? c.from : c.to;
      spec.qpn = there ? c.from_qpn : c.to_qpn;
      spec.peer_qpn = there ? c.to_qpn : c.from_qpn;
      spec.peer = there ? c.to : c.from;
      if (topology_.srv6()) spec.path_template = topology_.path_template(here, spec.peer);
      if (there) {
        entropy_of(c, spec.ev_active, spec.ev_backup);
      } else {
        // A receiver sends nothing but answers on it. The NIC holds few sets: one for all that it receives on.
        const uint64_t set = nic_rules(scenario_) ? ~uint64_t{c.to} : static_cast<uint64_t>(&c - channels_.data() + 1);
        topology_.entropy(c.to, c.from, Rng::hash(~seed_ ^ Rng::hash(set)), spec.ev_active, spec.ev_backup);
      }
      std::string why;
      if (!fabric_.endpoint_at(here)->open(spec, why)) {
        throw InputError(
            fmt::format("{}: {} cannot have a queue pair: {}.", scenario_.source.file, topology_.node_name(here), why),
            "Change the scenario's settings, or the fidelity of this NIC.");
      }
    }
  }
  for (NodeId h = 0; h < topology_.hosts(); ++h) fabric_.endpoint_at(h)->listen(this);
  fabric_.listen(this);
}

void Channels::add(uint32_t index, const Channel::Message& message, uint32_t limit) {
  Channel& c = channels_[index];
  c.limit = limit;
  c.queue.push_back(message);
}

void Channels::pump(uint32_t index) {
  Channel& c = channels_[index];
  Endpoint& endpoint = *fabric_.endpoint_at(c.from);
  while (c.head < c.queue.size()) {
    const Channel::Message m = c.queue[c.head];
    if (c.failed) {
      if (c.reopens) return;
      ++c.head;
      users_[c.user]->completed(index, m.id, false);
      continue;
    }
    if (c.limit != 0 && c.outstanding >= c.limit) return;
    c.posted.put(m.label);  // before post(): it may call back
    ++c.head;
    ++c.outstanding;
    if (!endpoint.post({.id = uint64_t{c.user} << kUserShift | m.id,
                        .qpn = c.from_qpn,
                        .bytes = m.bytes,
                        .immediate = m.immediate})) {
      c.posted.unput();
      --c.head;
      --c.outstanding;
      if (c.outstanding == 0) {  // nothing would ever make room
        c.failed = true;
        c.reopens = false;
      }
      if (!c.failed) return;
    }
  }
  c.queue.clear();
  c.head = 0;
}

bool Channels::reset(uint32_t index) {
  Channel& c = channels_[index];
  if (!fabric_.endpoint_at(c.from)->reset(c.from_qpn) || !fabric_.endpoint_at(c.to)->reset(c.to_qpn)) return false;
  c.queue.clear();
  c.head = 0;
  c.outstanding = c.completed = 0;
  c.failed = false;
  c.posted.clear();
  return true;
}

void Channels::reopen(uint32_t index) {
  Channel& c = channels_[index];
  std::vector<Channel::Message> left = std::exchange(c.again, {});
  left.insert(left.end(), c.queue.begin() + static_cast<long>(c.head), c.queue.end());
  // What has arrived, but whose ACK has not.
  c.skips += c.posted.taken() - c.completed;
  ++reopened_;
  c.reopens = reset(index);
  c.failed = !c.reopens;
  c.queue = std::move(left);
  pump(index);
}

void Channels::completed(const Completion& completion) {
  const uint32_t index = channel_of(completion.node, completion.qpn);
  Channel& c = channels_[index];
  --c.outstanding;
  if (completion.ok) {
    ++c.completed;
  } else {
    if (!c.failed && c.reopens) failures_.fetch_add(1, std::memory_order_relaxed);
    c.failed = true;
    if (c.reopens) {
      const auto id = static_cast<uint32_t>(completion.id);
      c.again.push_back({id, id, static_cast<uint32_t>(completion.bytes), completion.bytes == 0});
      return;
    }
  }
  users_[c.user]->completed(index, static_cast<uint32_t>(completion.id), completion.ok);
  if (c.head < c.queue.size()) pump(index);
}

void Channels::delivered(const Delivery& delivery) {
  const uint32_t index = channel_of(delivery.node, delivery.qpn);
  Channel& c = channels_[index];
  const uint32_t* found = c.posted.find(delivery.msn);
  if (found == nullptr) return;
  const uint32_t label = *found;
  c.posted.took();
  if (c.skips > 0) {
    --c.skips;
    return;
  }
  users_[c.user]->delivered(index, label, delivery.bytes);
}

void Channels::due(NodeId node) {
  for (User* user : users_) {
    if (user != nullptr) user->due(node);
  }
}

}  // namespace mrc::sim
