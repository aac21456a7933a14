// SPDX-License-Identifier: Apache-2.0
#include "sim/switch/switch.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/engine/fabric.hpp"

namespace mrc::sim {

Switch::Switch(Fabric& fabric, Shard& shard, PortId first, unsigned ports, const SwitchConfig& config, uint64_t seed)
    : fabric_(fabric),
      shard_(shard),
      first_(first),
      config_(config),
      rng_(seed, "switch " + config.name),
      ports_(ports, &shard.tables),
      queues_(&shard.tables) {
  buffer_.total = config_.buffer_bytes;
  trimmed_codes_ = uint64_t{1} << config_.to_switch.trimmed_dscp | uint64_t{1} << config_.to_host.trimmed_dscp;
  if (config_.trim_to_sender) trimmed_codes_ |= uint64_t{1} << config_.returned_dscp;
  tables_.ecmp_seed = config_.ecmp_seed;
  for (Egress& egress : ports_) egress.config = &config_.to_switch;
  used_queues_ = config_.trim_queue + 1u;
  for (const uint8_t q : config_.queue_of_dscp) used_queues_ = std::max(used_queues_, q + 1u);
  data_queue_ = std::min<unsigned>(kQueueData, used_queues_ - 1);
  queues_ = std::pmr::vector<Queue>(size_t{ports} * used_queues_, &shard.tables);
  if (config_.usid != 0) add_node_sid(config_.usid);
}

void Switch::add_node_sid(uint16_t usid) {
  tables_.usid.set_local(usid_key(config_.usid_block, usid), UsidTable::Local::Node);
}
bool Switch::add_adjacency_sid(uint16_t usid, unsigned port) {
  if (port >= ports_.size()) return false;
  tables_.usid.set_local(usid_key(config_.usid_block, usid), UsidTable::Local::Adjacency, static_cast<uint16_t>(port));
  return true;
}
bool Switch::add_route(uint16_t usid, unsigned port) {
  if (port >= ports_.size()) return false;
  tables_.usid.set_route(usid_key(config_.usid_block, usid), static_cast<uint16_t>(port));
  return true;
}
bool Switch::add_host_route(uint32_t host, std::vector<uint16_t> ports) {
  return add_host_routes(host, 1, std::move(ports));
}
bool Switch::add_host_routes(uint32_t first_host, uint32_t hosts, std::vector<uint16_t> ports) {
  for (const uint16_t port : ports) {
    if (port >= ports_.size()) return false;
  }
  const uint16_t group = tables_.hosts.add_group(std::move(ports));
  for (uint32_t h = hosts; h-- > 0;) tables_.hosts.set(first_host + h, group);
  return true;
}

void Switch::set_port_config(unsigned port, bool to_host) {
  ports_[port].config = to_host ? &config_.to_host : &config_.to_switch;
}
void Switch::port_changed(unsigned port, bool up) {
  if (config_.own_routes) tables_.hosts.port_changed(static_cast<uint16_t>(port), up);
}

void Switch::receive(Packet* packet, unsigned ingress) {
  const Decision decision = forward(tables_, *packet);
  if (decision.verdict != Verdict::Forward) [[unlikely]] {
    ++shard_.losses[first_ + ingress].ingress_discards;
    Recycle{}(packet);
    return;
  }
  sync_forwarding(*packet);
  const PortId id = first_ + decision.port;
  Port& port = fabric_.ports_[id];
  Egress& egress = ports_[decision.port];
  if (!port.up) [[unlikely]] {
    if (may_return(*packet)) {
      QueueLosses& counters = queues(decision.port)[config_.queue_of_dscp[packet->dscp & 63]].losses();
      ++counters.dropped_packets;
      counters.dropped_bytes += packet->size;
      send_back(packet, counters);
      return;
    }
    ++shard_.losses[id].egress_discards;
    Recycle{}(packet);
    return;
  }
  const unsigned before = egress.waiting;
  if (!admit(egress, queues(decision.port), packet)) [[unlikely]]
    return;
  began(decision.port, before);
}

void Switch::fetch_way(const Packet& packet) const {
  if (packet.dst.hi == kHostPrefix) return;
  const uint16_t port = likely_port(tables_.usid, packet.dst);
  if (port >= ports_.size()) return;
  __builtin_prefetch(&fabric_.ports_[first_ + port], 1);
  fetch(port);
}

void Switch::began(unsigned index, unsigned before) {
  if (before != 0) return;  // the port's event is on its way
  const PortId id = first_ + index;
  Port& port = fabric_.ports_[id];
  if (port.free_ps > shard_.now) {
    fabric_.wake_port(shard_, id, port);
    return;
  }
  // Exactly this one waits.
  port_free(index);
}

void Switch::send_back(Packet* packet, QueueLosses& counters) {
  ++counters.trim;
  trim(*packet, config_.trim_size, config_.returned_dscp, config_.trim_lengths);
  turn_back(*packet, config_.return_swapped);
  const Decision decision =
      tables_.hosts.find(static_cast<uint32_t>(packet->dst.lo), packet->src, packet->entropy, tables_.ecmp_seed);
  if (decision.verdict != Verdict::Forward || !fabric_.ports_[first_ + decision.port].up) {
    ++counters.dropped_trim;
    Recycle{}(packet);
    return;
  }
  Egress& egress = ports_[decision.port];
  const unsigned before = egress.waiting, q = config_.trim_queue;
  const QueueConfig& config = egress.config->queue[q];
  Queue& queue = queues(decision.port)[q];
  if (!admits(config, queue.bytes, packet->size, buffer_)) {
    ++counters.dropped_trim;
    Recycle{}(packet);
    return;
  }
  ++counters.tx_trim;
  put(egress, queue, config, q, packet);
  began(decision.port, before);
}

bool Switch::admit(Egress& egress, std::span<Queue> queues, Packet* packet) {
  unsigned q = config_.queue_of_dscp[packet->dscp & 63];
  const QueueConfig* config = &egress.config->queue[q];
  Queue* queue = &queues[q];
  if (!admits(*config, queue->bytes, packet->size, buffer_)) [[unlikely]] {
    QueueLosses& counters = queue->losses();
    ++counters.dropped_packets;
    counters.dropped_bytes += packet->size;
    if (!config->trim || (config_.trimmable >> (packet->dscp & 63) & 1) == 0) {
      Recycle{}(packet);
      return false;
    }
    if (config_.trim_to_sender) {
      send_back(packet, counters);
      return false;
    }
    ++counters.trim;
    trim(*packet, config_.trim_size, egress.config->trimmed_dscp, config_.trim_lengths);
    q = config_.trim_queue;
    config = &egress.config->queue[q];
    queue = &queues[q];
    if (!admits(*config, queue->bytes, packet->size, buffer_)) {
      ++counters.dropped_trim;
      Recycle{}(packet);
      return false;
    }
    ++counters.tx_trim;
  }
  put(egress, *queue, *config, q, packet);
  return true;
}

inline void Switch::put(Egress& egress, Queue& queue, const QueueConfig& config, unsigned q, Packet* packet) {
  if (queue.bytes != 0 && q == data_queue_) found_[egress.config == &config_.to_host].add(queue.bytes);
  queue.put(packet);
  egress.used = static_cast<uint8_t>(egress.used | 1u << q);
  ++egress.waiting;
  buffer_.used += packet->size;
  if (buffer_.used > buffer_.watermark) buffer_.watermark = buffer_.used;
  if (queue.bytes > queue.watermark_bytes) queue.watermark_bytes = queue.bytes;
  if (config.ecn.mode != EcnConfig::Mode::Off && (trimmed_codes_ >> (packet->dscp & 63) & 1) == 0 &&
      ecn_capable(packet->ecn) && marks(config.ecn, queue.bytes, rng_)) {
    mark_ce(*packet);
    ++queue.ecn_marked;
  }
}

/// As next_queue(), which looks at every queue.
unsigned Switch::next(Egress& egress, std::span<Queue> queues) {
  if (egress.used == 0) return kQueues;
  const auto q = static_cast<unsigned>(std::countr_zero(egress.used));
  if (egress.config->queue[q].weight == 0) [[likely]]
    return q;
  return next_queue(queues, *egress.config, egress.turn);
}

void Switch::port_free(unsigned index) {
  Egress& egress = ports_[index];
  const std::span<Queue> queues = this->queues(index);
  const unsigned q = next(egress, queues);
  if (q == kQueues) return;
  const PortId id = first_ + index;
  Port& port = fabric_.ports_[id];
  Queue& queue = queues[q];
  Packet* packet = queue.take();
  if (queue.head == nullptr) {
    egress.used = static_cast<uint8_t>(egress.used & ~(1u << q));
  } else {
    __builtin_prefetch(queue.head);
  }
  --egress.waiting;
  buffer_.used -= packet->size;
  ++queue.sent_packets;
  queue.sent_bytes += packet->size;
  fabric_.transmit(shard_, id, port, packet);
  if (egress.waiting != 0) fabric_.wake_port(shard_, id, port);
}

void Switch::flush(unsigned index) { empty(index, false); }
void Switch::link_lost(unsigned index) { empty(index, true); }

void Switch::empty(unsigned index, bool returns) {
  Egress& egress = ports_[index];
  Packet *back = nullptr, *last = nullptr;
  for (Queue& queue : queues(index)) {
    while (queue.head != nullptr) {
      Packet* packet = queue.take();
      buffer_.used -= packet->size;
      ++queue.losses().dropped_packets;
      queue.losses().dropped_bytes += packet->size;
      if (returns && may_return(*packet)) {
        packet->next = nullptr;
        (back == nullptr ? back : last->next) = packet;
        last = packet;
      } else {
        Recycle{}(packet);
      }
    }
    queue.deficit = 0;
  }
  egress.waiting = 0;
  egress.used = 0;
  // Only now: the way back may begin at this port.
  while (back != nullptr) {
    Packet* packet = std::exchange(back, back->next);
    send_back(packet, queues(index)[config_.queue_of_dscp[packet->dscp & 63]].losses());
  }
}

std::vector<NamedCounter> Switch::queue_counter_list(unsigned port, unsigned queue) const {
  const QueueCounters c = queue_counters(port, queue);
  return {{"SAI_QUEUE_STAT_PACKETS", c.packets},
          {"SAI_QUEUE_STAT_BYTES", c.bytes},
          {"SAI_QUEUE_STAT_DROPPED_PACKETS", c.dropped_packets},
          {"SAI_QUEUE_STAT_DROPPED_BYTES", c.dropped_bytes},
          {"SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES", depth(port, queue)},
          {"SAI_QUEUE_STAT_WATERMARK_BYTES", c.watermark_bytes},
          {"SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS", c.ecn_marked},
          {"SAI_QUEUE_STAT_TRIM_PACKETS", c.trim},
          {"SAI_QUEUE_STAT_TX_TRIM_PACKETS", c.tx_trim},
          {"SAI_QUEUE_STAT_DROPPED_TRIM_PACKETS", c.dropped_trim}};
}

std::vector<NamedCounter> Switch::port_counters(unsigned index) const {
  const Port& port = fabric_.ports_[first_ + index];
  uint64_t in_packets = 0, in_bytes = 0;
  if (port.peer_node != kNone) {
    // What the far end began, without what was lost or is still on the wire.
    const PortId far = fabric_.port_id({port.peer_node, port.peer_index});
    const Port& peer = fabric_.ports_[far];
    const PortLosses lost = fabric_.losses(far);
    in_packets = peer.packets - lost.lost;
    in_bytes = peer.bytes - lost.lost_bytes;
    for (const Packet* packet = peer.head; packet != nullptr; packet = packet->next) {
      --in_packets;
      in_bytes -= packet->size;
    }
  }
  const PortLosses losses = fabric_.losses(first_ + index);
  QueueCounters sum;
  for (unsigned q = 0; q < used_queues_; ++q) {
    const QueueCounters c = queue_counters(index, q);
    sum.dropped_packets += c.dropped_packets;
    sum.ecn_marked += c.ecn_marked;
    sum.trim += c.trim;
    sum.tx_trim += c.tx_trim;
    sum.dropped_trim += c.dropped_trim;
  }
  return {{"SAI_PORT_STAT_IF_IN_UCAST_PKTS", in_packets},
          {"SAI_PORT_STAT_IF_IN_OCTETS", in_bytes},
          {"SAI_PORT_STAT_IF_IN_DISCARDS", losses.ingress_discards},
          {"SAI_PORT_STAT_IF_OUT_UCAST_PKTS", port.packets},
          {"SAI_PORT_STAT_IF_OUT_OCTETS", port.bytes},
          {"SAI_PORT_STAT_IF_OUT_DISCARDS", losses.egress_discards + sum.dropped_packets},
          {"SAI_PORT_STAT_ECN_MARKED_PACKETS", sum.ecn_marked},
          {"SAI_PORT_STAT_TRIM_PACKETS", sum.trim},
          {"SAI_PORT_STAT_TX_TRIM_PACKETS", sum.tx_trim},
          {"SAI_PORT_STAT_DROPPED_TRIM_PACKETS", sum.dropped_trim}};
}

std::vector<NamedCounter> Switch::switch_counters() const {
  QueueCounters sum;
  for (const Queue& q : queues_) {
    sum.tx_trim += q.counters().tx_trim;
    sum.dropped_trim += q.counters().dropped_trim;
  }
  return {{"SAI_SWITCH_STAT_TX_TRIM_PACKETS", sum.tx_trim},
          {"SAI_SWITCH_STAT_DROPPED_TRIM_PACKETS", sum.dropped_trim},
          {"SAI_BUFFER_POOL_STAT_CURR_OCCUPANCY_BYTES", buffer_.used},
          {"SAI_BUFFER_POOL_STAT_WATERMARK_BYTES", buffer_.watermark}};
}

uint64_t Switch::memory() const {
  size_t lost = 0;
  for (const Queue& q : queues_) lost += q.lost ? sizeof(QueueLosses) : 0;
  return sizeof *this + ports_.capacity() * sizeof(Egress) + queues_.capacity() * sizeof(Queue) + lost +
         tables_.usid.memory() + tables_.hosts.memory();
}

}  // namespace mrc::sim
