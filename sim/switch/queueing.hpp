// SPDX-License-Identifier: Apache-2.0
/// Rules of a switch's egress port: admission, marking, who is next (mrc.md section 9, base.md "Trimming").
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "sim/engine/packet.hpp"
#include "sim/switch/switch_config.hpp"
#include "util/rng.hpp"

namespace mrc::sim {

/// What a queue counts when a packet is not admitted, as in SAI.
struct QueueLosses {
  uint64_t dropped_packets = 0,
           dropped_bytes = 0;  ///< admission failed (also if a trimmed copy went out), or discarded
  uint64_t trim = 0;           ///< admission failed, trimmed
  uint64_t tx_trim = 0;        ///< of these, taken by the trim queue
  uint64_t dropped_trim = 0;   ///< of these, refused by the trim queue
};
/// Counters of a queue, as in SAI.
struct QueueCounters : QueueLosses {
  uint64_t packets = 0, bytes = 0;  ///< transmitted
  uint64_t watermark_bytes = 0;
  uint64_t ecn_marked = 0;
};

/// Packets waiting, first in first out. A large fabric has ten million of these, most of which never lose a packet:
/// what is counted when they do has memory of its own. Depths have 32 bits: SwitchConfig::check() holds the buffer to
/// that.
struct alignas(64) Queue {
  Packet *head = nullptr, *tail = nullptr;
  uint32_t bytes = 0, watermark_bytes = 0;
  uint32_t packets = 0;
  int32_t deficit = 0;  ///< bytes it may still send in this round
  uint64_t sent_packets = 0, sent_bytes = 0, ecn_marked = 0;
  std::unique_ptr<QueueLosses> lost;  ///< null: nothing was

  QueueLosses& losses() {
    if (lost == nullptr) lost = std::make_unique<QueueLosses>();
    return *lost;
  }
  QueueCounters counters() const {
    QueueCounters all{lost ? *lost : QueueLosses{}};
    all.packets = sent_packets;
    all.bytes = sent_bytes;
    all.watermark_bytes = watermark_bytes;
    all.ecn_marked = ecn_marked;
    return all;
  }

  void put(Packet* packet) {
    packet->next = nullptr;
    (head == nullptr ? head : tail->next) = packet;
    tail = packet;
    bytes += packet->size;
    ++packets;
  }
  Packet* take() {
    Packet* packet = head;
    head = packet->next;
    bytes -= packet->size;
    --packets;
    return packet;
  }
};

/// What all queues of a switch share. A packet counts from its admission until its transmission begins.
struct SharedBuffer {
  uint64_t total = 0, used = 0, watermark = 0;
};

static_assert(sizeof(Queue) == 64, "one cache line");

/// May `size` more bytes join a queue that has `depth`?
inline bool admits(const QueueConfig& config, uint64_t depth, unsigned size, const SharedBuffer& buffer) {
  if (depth + size > config.limit_bytes || buffer.used + size > buffer.total) return false;
  return config.alpha <= 0 ||
         static_cast<double>(depth + size) <= config.alpha * static_cast<double>(buffer.total - buffer.used);
}

/// Does a packet that makes the queue `depth` bytes deep get ECN-CE? Draws only between the thresholds.
inline bool marks(const EcnConfig& config, uint64_t depth, Rng& rng) {
  if (config.mode == EcnConfig::Mode::Off || depth <= config.min_bytes) return false;
  if (config.mode == EcnConfig::Mode::Step || depth > config.max_bytes) return true;
  return rng.unit() * static_cast<double>(config.max_bytes - config.min_bytes) <
         config.probability * static_cast<double>(depth - config.min_bytes);
}

/// ECN-capable transport, not marked yet.
constexpr bool ecn_capable(uint8_t ecn) { return ecn == 1 || ecn == 2; }

/// The queue that sends next, kQueues if all are empty. `turn` is the port's round robin pointer.
inline unsigned next_queue(std::span<Queue> queues, const PortConfig& config, uint8_t& turn) {
  bool waiting = false;
  for (unsigned q = 0; q < queues.size(); ++q) {
    if (queues[q].head == nullptr) continue;
    if (config.queue[q].weight == 0) return q;
    waiting = true;
  }
  if (!waiting) return kQueues;
  // Deficit round robin: a queue that is met gets its weight once, then sends while it has enough.
  for (;; turn = static_cast<uint8_t>((turn + 1) % (2 * queues.size()))) {
    // Even positions: the queue is met. Odd: it is being served.
    const unsigned q = turn / 2;
    Queue& queue = queues[q];
    if (config.queue[q].weight == 0) continue;
    if (queue.head == nullptr) {
      queue.deficit = 0;
      continue;
    }
    if (turn % 2 == 0) {
      queue.deficit += static_cast<int32_t>(config.queue[q].weight);
    } else if (queue.deficit >= queue.head->size) {
      queue.deficit -= queue.head->size;
      return q;
    }
  }
}

}  // namespace mrc::sim
