// SPDX-License-Identifier: Apache-2.0
/// What a requestor of one QP and incarnation has sent and heard.
#pragma once

#include <optional>

#include "reference/history_world.hpp"
#include "reference/queue.hpp"
#include "reference/returned_stamp.hpp"
#include "reference/second_copy.hpp"

namespace mrc::ref::history {

/// One PSN as it was sent. The content is that of the first transmission.
struct SentPsn {
  bool seen = false;
  bool plain = false;      ///< with rtx = 0
  bool early = false;      ///< with rtx = 1 first: its first transmission may still wait inside the device
  bool nacked = false;     ///< a NACK named it
  bool again = false;      ///< rtx of the last transmission
  bool came_back = false;  ///< a switch has sent back what may be its newest transmission (A-80)
  bool whole = false;      ///< hash holds
  bool moved = false;      ///< the QP's owner has just changed its EVs
  uint8_t opcode = 0, plane = 0;
  uint16_t length = 0, msn = 0, rqmsn = 0;
  uint32_t rkey = 0, dma = 0, imm = 0;
  uint32_t entropy = 0;                        ///< of the last transmission
  uint32_t icrc = 0;                           ///< of the last transmission; 0: not in the capture
  uint32_t plain_entropy = 0, plain_icrc = 0;  ///< of the last one with rtx = 0
  uint8_t plain_plane = 0;
  std::optional<uint16_t> stamp;  ///< of the last transmission
  SecondCopy copy;                ///< of the last transmission
  uint64_t va = 0, hash = 0;
  Time first = 0;    ///< first byte of the first transmission
  Time earlier = 0;  ///< first byte of the transmission before that; of the first one: when it was posted
  Time last = 0;     ///< first byte of the last transmission
};

struct Posted {
  log::Post post;
  Time time = 0;
  std::optional<Seq> msn;   ///< its first packet was walked over
  bool failed = false;      ///< completed, not well
  bool late = false;        ///< posted when the NIC knew that its QP has failed
  unsigned immediates = 0;  ///< of those before it that had not completed when it was posted
};

/// The way over the PSNs in their order, whatever the order on the wire was.
struct Walk {
  Seq next = 0;                   ///< PSN
  bool synchronous = false;       ///< whether it is inside a message is known
  bool inside = false;            ///< of a message
  std::optional<Seq> msn, rqmsn;  ///< of the next message; of the next immediate
  uint64_t va = 0, sum = 0;       ///< next VA, bytes so far
  uint32_t dma = 0, rkey = 0;
  uint16_t message_rqmsn = 0;
  bool same_rqmsn = true, known_start = false;
  bool bound = false;           ///< front of posts_ that was sent is this message
  std::size_t post = 0;         ///< its place in posts
  std::size_t outstanding = 0;  ///< immediates before it that were not acknowledged when its first packet left
  Time first_sent = 0;
};

struct Requestor {
  uint64_t incarnation = 0;
  bool started = false;
  Queue<SentPsn> sent;    ///< from base on
  Seq base = 0, top = 0;  ///< top: behind the highest PSN sent
  SentPsn below;          ///< the one before base
  Seq lowest = 0;         ///< first PSN seen
  Walk walk;
  // Heard.
  std::optional<Seq> cack;   ///< highest
  std::optional<Seq> limit;  ///< highest PSN that any word heard allowed
  Seq reported = 0;          ///< highest PSN that any word heard says has come; valid with `any`
  bool any = false;
  Time answered = 0;  ///< last SACK that answers a probe
  Time waited = 0;    ///< World::waited() then
  ReturnedStamp returned;
  Time overtaken = 0;  ///< last transmission of a packet that was reported: what was sent before may be lost
  Seq acked = 0;       ///< messages acknowledged: highest MSN of an ACK
  bool acked_any = false;
  std::optional<Time> fatal;  ///< a NAK or NACK UNEXP_EVENT came
  Time fatal_waited = 0;      ///< World::waited() then
  // Posted.
  Queue<Posted> posts;
  std::size_t next_post = 0;  ///< first one whose message was not walked over
  bool before_posts = false;  ///< messages were sent before any work request was told
  bool posts_notified = false;
  Queue<Seq> immediates;         ///< MSNs of immediates not acknowledged
  unsigned open_immediates = 0;  ///< posted and not completed
  std::optional<Time> overrun;   ///< one too many was refused, which ends the QP (A-62)
  bool failed = false;           ///< a fatal completion
  // path.fresh
  std::array<uint32_t, 16> recent_evs{};  ///< of the last packets sent
  uint64_t packets = 0;
  uint32_t again = 0, same_ev = 0;

  SentPsn* find(Seq psn) {
    const Seq at = psn - base;
    if (at < 0 || at >= static_cast<Seq>(sent.size())) return nullptr;
    SentPsn& s = sent[static_cast<std::size_t>(at)];
    return s.seen ? &s : nullptr;
  }
};

}  // namespace mrc::ref::history
