// SPDX-License-Identifier: Apache-2.0
/// What is known of the packets from one address to a QP at another one (conversations.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "log/conversations.hpp"
#include "log/unwrap.hpp"
#include "log/votes.hpp"
#include "wire/packet.hpp"

namespace mrc::log {
namespace conversation {

inline constexpr Seq kTail = 2048;  ///< PSNs below the highest cack_psn that are still known
inline constexpr Seq kBegin = 512;  ///< PSNs of a flow's begin, in which the capture may not have been on all ports yet
inline constexpr uint64_t kLeastAhead = 2;  ///< answers: one may be wrong
inline constexpr uint64_t kLeastAnswers = 8, kLeastMarks = 4, kMostStrays = 16;

/// What tells a packet from another one of the same PSN.
struct First {
  uint16_t length = 0;  ///< UDP's
  bool read = false;    ///< what follows was not cut
  uint16_t msn = 0;
  uint32_t rkey = 0;
  uint64_t va = 0;
  bool differs(const First& o) const {
    return length != o.length || (read && o.read && std::tie(msn, rkey, va) != std::tie(o.msn, o.rkey, o.va));
  }
};
inline First first_of(const wire::Packet& p) {
  First first{.length = p.udp->length};
  if (!p.meth || !p.reth) return first;
  first = {p.udp->length, true, p.meth->msn, p.reth->r_key, p.reth->va};
  return first;
}

struct Copy {
  uint32_t entropy = 0;
  uint16_t stamp = 0;
  bool stamped = false, ce = false, trimmed = false;
};
inline constexpr std::size_t kMostCopies = 3;

/// There are many: they are small.
struct Psn {
  uint32_t entropy = 0;  ///< of the first copy, as what follows
  uint16_t stamp = 0;
  bool stamped : 1 = false, ce : 1 = false, trimmed : 1 = false;
  bool fresh : 1 = false;   ///< seen with rtx 0, not trimmed
  bool unseen : 1 = false;  ///< acknowledged before it was seen
  uint8_t count = 0;

  Copy first() const { return {entropy, stamp, stamped, ce, trimmed}; }
  void first(const Copy& c) {
    entropy = c.entropy;
    stamp = c.stamp;
    stamped = c.stamped;
    ce = c.ce;
    trimmed = c.trimmed;
  }
  /// So many of its copies are known.
  std::size_t copies() const { return std::min<std::size_t>(count, kMostCopies); }
};
static_assert(sizeof(Psn) == 8);

}  // namespace conversation

/// Packets one after the other that only a QP set up again sends.
struct Conversations::Row {
  unsigned packets = 0;
  std::optional<Time> since;  ///< its conversation was silent then, and it may be that the life began behind that
};

struct Conversations::Flow {
  using Copy = conversation::Copy;
  using Psn = conversation::Psn;

  const Key* key = nullptr;
  uint64_t packets = 0, own = 0;            ///< own: not trimmed, so that no switch has sent them back (A-80)
  Time oldest = 0, newest = 0;              ///< packets
  std::pair<Time, Time> silent{0, 0};       ///< the newest time of kSilence at least without any
  uint64_t sent_since = 0, said_since = 0;  ///< since then: data, but new ones that were trimmed; answers about data
  Votes<uint16_t> pkey;
  Votes<uint8_t> encap;
  Votes<uint8_t> dscp, dscp_again;  ///< of data, of retransmissions, whole ones
  Votes<uint32_t> mtu;              ///< payload of First and Middle packets
  Votes<bool> pdcid, mpr;           ///< whether they are above 0
  Votes<uint32_t> spdcid;
  Votes<uint32_t> names;                               ///< answers: DQP of the flow whose packets they name
  std::vector<std::pair<uint32_t, uint32_t>> unknown;  ///< PSN and entropy that some of them name, while none is known
  // Data.
  uint64_t sent = 0, odd = 0, again = 0;  ///< odd: PSNs that no window has
  bool anew = false, skipped = false;     ///< skipped: a new PSN came far ahead of all others
  std::deque<Psn> psns;                   ///< from base on
  std::map<Seq, std::array<Copy, conversation::kMostCopies - 1>> more;  ///< copies behind the first one
  Seq base = 0, top = 0, lowest = 0;
  Seq odd_next = 0, again_next = 0;
  Row odd_row, again_row;
  std::optional<uint32_t> msn, rcvd;    ///< of the highest PSN; rcvd_bytes of the highest cack_psn
  Seq msn_psn = 0;                      ///< that PSN
  bool msn_alone = false;               ///< no packet before it, or one with less than it can have
  std::optional<uint32_t> rcvd_before;  ///< what rcvd was: one SACK alone may be wrong
  Row msn_row, cack_row, rcvd_row, other_row, pdcid_row;
  // What answers say of them.
  std::optional<Seq> cack;
  uint64_t holes = 0;
  uint64_t ahead = 0;        ///< answers that acknowledge what has not been seen yet
  uint64_t unseen_gone = 0;  ///< PSNs of which they do, and which are forgotten
  Seq last_hole = -1, last_unseen = -1;
  uint64_t fits = 0, strays = 0;  ///< answers: all that they name was seen; some of it was not
  bool marked_later = false;      ///< another place saw a mark that this one does not have
  bool unread = false;            ///< some packet was cut inside its headers
  bool elsewhere = false;         ///< an answer names a packet that went from or to another address (A-76)
  uint64_t not_trimmed = 0, not_marked = 0;
  Shown answered, trims, marks, moved_by;  ///< answers: of packets that were seen, and what they show
  // What packets had first, and what they have reached; nobody judges by it.
  Reached psn_range, msn_range, rqmsn_range;
  Votes<bool> stamps;               ///< data: whether it has a time stamp
  std::map<uint8_t, Shown> planes;  ///< data: where it was seen
  Most granted;                     ///< SACKs: units of 128 PSNs
  Shown nacks;                      ///< answers: that packets were trimmed
  CapturedAt anew_at;               ///< the packet by which it was known that another life has begun
  conversation::First first;        ///< the packet of the lowest PSN
  uint64_t begun = 0;               ///< new packets with that PSN once more, which are other ones
  Shown contrary;                   ///< packets that only a QP set up again sends, fewer of them than show that
  Time contrary_since = 0;          ///< if it was set up again in front of the first of these, not before
  bool over = false;                ///< no more comes: whole is known
  std::optional<Seq> whole;

  /// Copy `at` of a PSN that is held.
  Copy copy(Seq psn, std::size_t at) { return at == 0 ? find(psn)->first() : more[psn][at - 1]; }
  template <class Fits>
  bool any_copy(Seq psn, Fits&& fit) {
    const Psn* const one = find(psn);
    for (std::size_t i = 0; one != nullptr && i < one->copies(); ++i) {
      if (fit(copy(psn, i))) return true;
    }
    return false;
  }
  void add(Seq psn, const Copy& copy) {
    Psn& one = *find(psn);
    const std::size_t at = one.count % conversation::kMostCopies;
    if (at == 0) {
      one.first(copy);
    } else {
      more[psn][at - 1] = copy;
    }
    if (one.count != 0xFF) ++one.count;
  }
  Psn* find(Seq psn) {
    const Seq at = psn - base;
    return at < 0 || at >= static_cast<Seq>(psns.size()) ? nullptr : &psns[static_cast<std::size_t>(at)];
  }
  /// PSNs below `keep` are not asked for any more.
  void forget(Seq keep) {
    while (!psns.empty() && base < keep) {
      gone(base, psns.front());
      psns.pop_front();
      ++base;
    }
    more.erase(more.begin(), more.lower_bound(base));
  }
  void seen_at(Time time) {
    if (packets++ == 0) oldest = newest = time;
    if (time >= newest + kSilence) {
      silent = {newest, time};
      sent_since = said_since = 0;
    }
    oldest = std::min(oldest, time);
    newest = std::max(newest, time);
  }
  /// The newest time until `now` in which there was nothing.
  std::pair<Time, Time> silent_until(Time now) const {
    return now >= newest + kSilence ? std::pair(newest, now) : silent;
  }
  /// Everything up to `psn` has arrived at the receiver.
  void acknowledged(Seq psn) {
    bool unseen = false;
    for (Seq at = std::max({cack.value_or(lowest - 1) + 1, lowest, base}); at <= psn; ++at) {
      Psn& one = *find(at);
      one.unseen = one.count == 0;
      unseen |= one.unseen;
    }
    ahead += unseen;
    cack = psn;
  }
  /// Whether a SACK says that a packet has arrived which was not seen.
  bool names_unseen(Seq from, uint64_t bitmap) {
    for (; bitmap != 0; bitmap &= bitmap - 1) {
      const Seq psn = from + std::countr_zero(bitmap);
      const Psn* const one = find(psn);
      if (psn >= std::max(base, lowest) && (one == nullptr || one->count == 0)) return true;
    }
    return false;
  }
  void gone(Seq psn, const Psn& one) {
    if (one.unseen && one.count != 0) {
      ++unseen_gone;
      last_unseen = psn;
    }
    if (one.count != 0 || !cack || psn > *cack) return;
    ++holes;
    last_hole = psn;
  }
  /// Trims and marks came to the receiver as they were seen.
  static bool fit(const Shown& yes, uint64_t no) {
    return yes.packets >= conversation::kLeastMarks && no * conversation::kMostStrays <= yes.packets;
  }
  bool seen_trims() const { return fit(trims, not_trimmed) && !elsewhere; }
  bool seen_marks() const { return fit(marks, not_marked) && !marked_later && !elsewhere; }
  /// Nothing that was acknowledged is missing, from the first PSN on that is returned.
  std::optional<Seq> whole_from() const {
    if (over) return whole;
    if (unread || elsewhere || sent == 0 || answered.packets < conversation::kLeastAnswers ||
        (strays >= conversation::kLeastAhead && strays * conversation::kMostStrays > fits))
      return {};
    const bool late = ahead >= conversation::kLeastAhead;
    uint64_t missing = holes + (late ? unseen_gone : 0);
    Seq last = std::max(last_hole, late ? last_unseen : -1);
    for (std::size_t i = 0; i < psns.size(); ++i) {
      const Seq psn = base + static_cast<Seq>(i);
      const bool seen = psns[i].count != 0 && !(late && psns[i].unseen);
      if (seen || !cack || psn > *cack) continue;
      ++missing;
      last = psn;
    }
    if (missing <= odd) return lowest;  // a PSN that no window has explains one that is missing
    if (last < lowest + conversation::kBegin && top > last + 4 * (last - lowest) + 64) return last + 1;
    return {};
  }
};

}  // namespace mrc::log
