// SPDX-License-Identifier: Apache-2.0
#include "reference/responder.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace mrc::ref {

const char* name_of(Fate fate) {
  static constexpr const char* kNames[] = {"new",
                                           "duplicate up to cack",
                                           "duplicate above cack",
                                           "beyond the window of now",
                                           "outside",
                                           "refused",
                                           "trimmed",
                                           "trimmed, here already",
                                           "probe",
                                           "in error"};
  return kNames[static_cast<std::size_t>(fate)];
}

Responder::Responder(Seq first, Seq msn, Seq window, ResponderRules rules)
    : rules_(rules), cack_(first - 1), window_(window), now_(window), completed_(msn) {}

Fate Responder::fate(const Arrival& packet) const {
  if (dead_) return Fate::Dead;
  if (packet.what == Arrival::What::Probe) return Fate::Probe;
  const bool trimmed = packet.what == Arrival::What::Trimmed;
  if (packet.psn <= cack_) return trimmed ? Fate::TrimmedHad : Fate::Below;
  if (has(packet.psn)) return trimmed ? Fate::TrimmedHad : Fate::Above;
  if (packet.psn > cack_ + window_) return Fate::Outside;
  if (packet.psn > cack_ + now_) return Fate::Beyond;
  if (trimmed) return Fate::Trimmed;
  return packet.fault != Fault::None && !rules_.faulty_arrive ? Fate::Refused : Fate::New;
}

Fate Responder::take(const Arrival& packet) {
  const Fate fate = this->fate(packet);
  const Piece piece{packet.payload, packet.udp, packet.imm, packet.rqmsn, packet.last, packet.immediate};
  if (fate == Fate::New) {
    if (packet.fault == Fault::None)
      faulty_.erase(packet.psn);
    else if (faulty_.size() < static_cast<std::size_t>(window_))
      faulty_.insert(packet.psn);
    add(packet.psn, piece);
    since_sack_ += std::max<uint32_t>(packet.payload, 1024);
  } else if ((fate == Fate::Above || fate == Fate::Below) && packet.fault == Fault::None &&
             faulty_.erase(packet.psn) != 0) {
    if (packet.last) ends_[packet.psn] = piece;
  } else if (fate == Fate::Refused) {
    if (faulty_.size() < static_cast<std::size_t>(window_)) faulty_.insert(packet.psn);
  }
  settle();
  return fate;
}

void Responder::add(Seq psn, const Piece& piece) {
  pieces_[psn] = piece;
  ++above_;
  ++count_;
  payload_ += piece.payload;
  udp_ += piece.udp;
  if (piece.last) ends_[psn] = piece;
}

/// cack goes over what is contiguous, messages complete in order, what is old is forgotten.
void Responder::settle() {
  for (auto next = pieces_.upper_bound(cack_); next != pieces_.end() && next->first == cack_ + 1; ++next) {
    ++cack_;
    --above_;
  }
  while (!ends_.empty() && ends_.begin()->first <= cack_ &&
         (faulty_.empty() || *faulty_.begin() > ends_.begin()->first)) {
    const auto& [psn, piece] = *ends_.begin();
    if (piece.immediate) immediates.push_back({completed_, piece.imm, piece.rqmsn});
    done_.emplace(completed_++, std::pair{psn, piece});
    ends_.erase(ends_.begin());
  }
  while (done_.size() > kDone) done_.erase(done_.begin());
  while (!pieces_.empty() && pieces_.begin()->first < cack_ - window_) pieces_.erase(pieces_.begin());
}

void Responder::raise(Seq cack, const Responder& other) {
  for (Seq psn = cack_ + 1; psn <= cack; ++psn) {
    if (has(psn)) continue;
    const auto it = other.pieces_.find(psn);
    add(psn, it == other.pieces_.end() ? Piece{} : it->second);
  }
  settle();
}

void Responder::without(Seq psn) {
  const auto it = pieces_.find(psn);
  if (it == pieces_.end()) return;
  --count_;
  payload_ -= it->second.payload;
  udp_ -= it->second.udp;
  pieces_.erase(it);
  ends_.erase(psn);
  if (psn > cack_) {
    --above_;
    return;
  }
  above_ += cack_ - psn;
  cack_ = psn - 1;
  while (!done_.empty() && done_.rbegin()->second.first >= psn) {
    const auto& [end, piece] = done_.rbegin()->second;
    if (end != psn) ends_[end] = piece;
    done_.erase(std::prev(done_.end()));
    --completed_;
  }
}

unsigned Responder::demands(const Arrival& packet, Fate fate) const {
  const bool notified = !done_.empty();  // there is an ACK to repeat
  switch (fate) {
    case Fate::New:
      return (packet.request || packet.rtx || packet.ce || since_sack_ >= rules_.sack_trigger ? kSack : 0u) |
             (notified && done_.rbegin()->second.first >= packet.psn ? kAck : 0u);
    case Fate::Below:
      return kSack | (notified ? kAck : 0u);
    case Fate::Above:
      return kSack;
    case Fate::Beyond:
      return kNackNoBitmap;
    case Fate::Outside:
      return rules_.oor_drop ? 0 : kNackOor;
    case Fate::Refused:
      return (packet.psn == cack_ + 1 && (packet.fault != Fault::Zero || !rules_.zero_drop)) ? kNak : 0u;
    case Fate::Trimmed:
      return rules_.trim_nack ? kNackTrimmed | (rules_.trim_silent ? 0u : kSackUnrequested) : 0u;
    case Fate::TrimmedHad:
      return kSack;
    case Fate::Probe:
      return kSackProbe | (notified ? kAck : 0u);
    case Fate::Dead:
      return rules_.err_silent ? 0 : kNackUnexp;
  }
  return 0;
}

Seq Responder::above(Seq psn) const {
  if (psn < cack_) return cack_ - psn + above_;
  return above_ - std::distance(pieces_.upper_bound(cack_), pieces_.upper_bound(psn));
}

Seq Responder::bytes(unsigned nominal) const {
  return nominal == 1 ? payload_ : (nominal == 2 ? payload_ : udp_) + 40 * count_;
}

bool Responder::differs(const Arrival& packet) const {
  const auto it = pieces_.find(packet.psn);
  return it != pieces_.end() &&
         (it->second.last != packet.last || it->second.immediate != packet.immediate || it->second.imm != packet.imm ||
          (packet.immediate && it->second.rqmsn != packet.rqmsn) || gap(packet) != 0);
}

Seq Responder::gap(const Arrival& packet) const {
  const auto it = pieces_.find(packet.psn);
  return it == pieces_.end() ? 0 : std::abs(static_cast<Seq>(it->second.udp) - static_cast<Seq>(packet.udp));
}

std::optional<Seq> Responder::end_of(Seq msn) const {
  const auto it = done_.find(msn);
  return it == done_.end() ? std::nullopt : std::optional{it->second.first};
}

bool Responder::permits(const Sack& sack) const {
  if (dead_ || sack.cack != cack_ || sack.above != above_) return false;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((sack.bitmap >> bit & 1) != 0 && !has(sack.base + bit)) return false;
  }
  return true;
}

Responder::Sack Responder::sack(Seq base) const {
  Sack sack{cack_, above_, base, 0};
  for (unsigned bit = 0; bit < 64; ++bit) sack.bitmap |= uint64_t{has(base + bit)} << bit;
  return sack;
}

unsigned Responder::enabled() const {
  if (dead_) return rules_.err_silent ? 0 : kNackUnexp;
  return kSack | kSackProbe | (done_.empty() ? 0u : kAck) | (faulty_.count(cack_ + 1) != 0 ? kNak : 0u);
}

std::size_t Responder::memory() const {
  return sizeof *this + (pieces_.size() + ends_.size() + done_.size() + faulty_.size()) * 80 +
         immediates.size() * sizeof(Immediate);
}

}  // namespace mrc::ref
