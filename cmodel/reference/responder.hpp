// SPDX-License-Identifier: Apache-2.0
/// The responder of one QP in one incarnation, as mrc.md section 6 has it: a set of PSNs that have arrived, and sums
/// over this set. A value: whoever wants to know what two different orders of arrival lead to keeps two of them.
///
/// Numbers are unwrapped: a PSN is an int64_t that goes on counting, a message number too. Nothing here knows 24 bits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "log/unwrap.hpp"

namespace mrc::ref {

using log::Seq, log::unwrap;

/// What is wrong with a packet, so that its message is answered with a NAK instead of being completed.
enum class Fault : uint8_t { None, Zero, Access, Invalid };

/// A packet that asks something of a responder.
struct Arrival {
  enum class What : uint8_t { Data, Trimmed, Probe };
  What what = What::Data;
  Seq psn = 0;
  bool request = false, rtx = false, ce = false;  ///< A, rtx, ECN-CE
  bool last = false, immediate = false;           ///< last packet of its message; that completes with an immediate
  Fault fault = Fault::None;
  uint32_t payload = 0, udp = 0;  ///< bytes of payload; UDP length
  uint32_t imm = 0;
  uint16_t rqmsn = 0;
  uint16_t probe = 0;  ///< id
  /// Another part of a message, or of another size.
  bool differs(const Arrival& other) const {
    return last != other.last || immediate != other.immediate || imm != other.imm || rqmsn != other.rqmsn ||
           payload != other.payload || udp != other.udp || fault != other.fault;
  }
};

/// What became of it.
enum class Fate : uint8_t {
  New,         ///< recorded, placed
  Below,       ///< up to cack: a duplicate
  Above,       ///< a duplicate above cack
  Beyond,      ///< inside the largest window, beyond the one of now (A-59)
  Outside,     ///< outside the window (A-12)
  Refused,     ///< counts as lost: its message cannot be executed (A-19, A-24)
  Trimmed,     ///< only its headers came
  TrimmedHad,  ///< the same, and the whole packet is here already
  Probe,
  Dead,  ///< the QP is in ERROR
};
const char* name_of(Fate fate);

// Answers a responder may owe, as bits.
inline constexpr unsigned kSack = 1;       ///< triggered by this packet
inline constexpr unsigned kSackProbe = 2;  ///< with pr and the probe's id
inline constexpr unsigned kNackTrimmed = 4;
inline constexpr unsigned kNackOor = 8;
inline constexpr unsigned kNackNoBitmap = 16;
inline constexpr unsigned kNackUnexp = 32;
inline constexpr unsigned kAck = 64;               ///< the newest semantic ACK
inline constexpr unsigned kNak = 128;              ///< of the message that is next in order
inline constexpr unsigned kSackUnrequested = 256;  ///< besides the NACK of a trim (A-74)

/// Choices of the register that decide what a responder does.
struct ResponderRules {
  uint32_t sack_trigger = 16384;  ///< A-09
  bool oor_drop = false;          ///< A-12
  bool trim_nack = true;          ///< A-13
  bool zero_drop = false;         ///< A-19
  bool err_silent = false;        ///< A-57
  bool trim_silent = false;       ///< A-74
  /// Packets at fault go into the set as well: they did arrive. A-24 counts them as lost.
  bool faulty_arrive = false;
};

class Responder {
 public:
  /// Of a QP whose first PSN is `first` and whose first message has number `msn`; `window` and `now` in PSNs.
  Responder(Seq first, Seq msn, Seq window, ResponderRules rules = {});

  /// The packet was taken: what it is, and from then on part of the sums.
  Fate take(const Arrival& packet);
  /// What take() would make of it.
  Fate fate(const Arrival& packet) const;
  /// Answers that a packet of this fate demands, at once or within the time a NIC needs. Call after take().
  unsigned demands(const Arrival& packet, Fate fate) const;

  /// Dynamic MPR: the window of now, at most the largest one.
  void narrow(Seq now) { now_ = now < window_ ? now : window_; }
  /// All PSNs up to `cack` have arrived, says somebody who knows. What is not here is as `other` has it.
  void raise(Seq cack, const Responder& other);
  /// The packet did not arrive after all. Nothing happens if it lies more than a window below cack.
  void without(Seq psn);
  void fail() { dead_ = true; }

  Seq cack() const { return cack_; }
  bool has(Seq psn) const { return psn <= cack_ || pieces_.count(psn) != 0; }
  /// Highest PSN that has arrived, at least cack.
  Seq highest() const { return above_ == 0 ? cack_ : pieces_.rbegin()->first; }
  /// PSNs above `psn` that have arrived.
  Seq above(Seq psn) const;
  Seq above() const { return above_; }
  /// New packets so far, and sums over them.
  Seq count() const { return count_; }
  Seq payload() const { return payload_; }
  Seq udp() const { return udp_; }
  /// Sum of nominal sizes: 0 UDP length + 40, 1 payload, 2 payload + 40.
  Seq bytes(unsigned nominal) const;

  /// It has arrived already, and was another part of a message, or of another size, then.
  bool differs(const Arrival& packet) const;
  /// By how many bytes that one's size differs from the one that counts.
  Seq gap(const Arrival& packet) const;

  /// Number of the oldest message that is not complete.
  Seq completed() const { return completed_; }
  /// Last PSN of message `msn`, if it is complete and not long ago.
  std::optional<Seq> end_of(Seq msn) const;
  /// Immediates of complete messages, oldest first, until dropped by the caller.
  struct Immediate {
    Seq msn = 0;
    uint32_t imm = 0;
    uint16_t rqmsn = 0;
  };
  std::vector<Immediate> immediates;

  Seq window() const { return window_; }
  bool dead() const { return dead_; }
  std::size_t memory() const;

  /// True of a SACK that this state could send: cack, out-of-order count, and each bit set.
  struct Sack {
    Seq cack = 0, above = 0, base = 0;
    uint64_t bitmap = 0;
  };
  bool permits(const Sack& sack) const;
  /// The SACK with all that 64 bits from `base` on can say.
  Sack sack(Seq base) const;
  /// Answers that could be sent now without lying.
  unsigned enabled() const;
  /// Bytes since the last SACK, each packet at least 1024: a SACK is owed from rules.sack_trigger on.
  uint32_t owed() const { return since_sack_; }
  void sacked() { since_sack_ = 0; }

 private:
  struct Piece {
    uint32_t payload = 0, udp = 0, imm = 0;
    uint16_t rqmsn = 0;
    bool last = false, immediate = false;
  };
  void add(Seq psn, const Piece& piece);
  void settle();

  ResponderRules rules_;
  Seq cack_, window_, now_;
  Seq above_ = 0;                              ///< of pieces_, those above cack
  std::map<Seq, Piece> pieces_;                ///< what has arrived, from one window below cack on
  std::map<Seq, Piece> ends_;                  ///< of these, last packets of messages that are not complete
  std::set<Seq> faulty_;                       ///< PSNs that arrived at fault: their messages never complete
  std::map<Seq, std::pair<Seq, Piece>> done_;  ///< complete messages and their last packets, the newest kDone
  Seq completed_;
  Seq count_ = 0, payload_ = 0, udp_ = 0;
  uint32_t since_sack_ = 0;
  bool dead_ = false;

  static constexpr std::size_t kDone = 8192;
};

}  // namespace mrc::ref
