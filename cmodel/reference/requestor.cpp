// SPDX-License-Identifier: Apache-2.0
#include "reference/requestor.hpp"

#include <algorithm>

namespace mrc::ref {

Requestor::Requestor(Seq first, Seq window, RequestorRules rules)
    : rules_(rules),
      base_(first),
      next_(first),
      cack_(first - 1),
      window_(window),
      highest_(first - 1),
      triggered_(first - 1) {}

Requestor::Flight* Requestor::at(Seq psn) {
  const Seq place = psn - base_;
  if (place < 0 || place >= static_cast<Seq>(flights_.size())) return nullptr;
  Flight& flight = flights_[static_cast<std::size_t>(place)];
  return flight.seen ? &flight : nullptr;
}

const Requestor::Flight* Requestor::find(Seq psn) const { return const_cast<Requestor*>(this)->at(psn); }

bool Requestor::sent(Seq psn, uint32_t ev, uint8_t plane, Time time, double size, std::optional<uint16_t> stamp,
                     bool again, const SecondCopy& copy) {
  if (psn < base_ || psn >= next_ + kMostPsns) return false;
  const auto place = static_cast<std::size_t>(psn - base_);
  if (place >= flights_.size()) flights_.resize(place + 1);
  Flight& flight = flights_[place];
  if (!flight.seen) {
    flight.seen = true;
    flight.size = size;
    flight.first = time;
    flight.reported = psn <= cack_;
    if (!flight.reported) ++open_;
  } else {
    if (flight.nacks != 0 && (causes(psn, time, 0) & ~kByNack) == 0) --flight.nacks;
    flight.earlier = flight.last;
    flight.ev_before = flight.ev;
  }
  flight.ev = ev;
  flight.plane = plane;
  flight.last = time;
  flight.again = again;
  flight.copy = copy;
  flight.stamp = stamp;
  ++flight.times;
  next_ = std::max(next_, psn + 1);
  trim();
  return true;
}

bool Requestor::report(Seq psn, Time time) {
  Flight* const flight = at(psn);
  if (flight == nullptr || flight->reported) return false;
  flight->reported = true;
  flight->notified = time;
  arrived_ += flight->size;
  --open_;
  return true;
}

unsigned Requestor::heard(const Word& word, Time time) {
  unsigned fresh = 0;
  for (Seq psn = std::max(cack_ + 1, base_); psn <= std::min(word.cack, next_ - 1); ++psn) fresh += report(psn, time);
  cack_ = std::max(cack_, std::min(word.cack, next_ - 1));
  Seq highest = word.cack;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((word.bitmap >> bit & 1) == 0) continue;
    const Seq psn = word.base + static_cast<Seq>(bit);
    if (psn >= next_) break;
    fresh += report(psn, time);
    highest = std::max(highest, psn);
  }
  if (word.trigger && *word.trigger < next_) {
    fresh += report(*word.trigger, time);
    highest = std::max(highest, *word.trigger);
    triggered_ = std::max(triggered_, *word.trigger);
    const Flight* const flight = find(*word.trigger);
    if (flight != nullptr) through_ = std::max(through_, flight->last);
    if (flight != nullptr && flight->times == 1) {
      Time& newest = triggers_[flight->ev];
      newest = std::max(newest, flight->last);
    }
  }
  through_ = std::max(through_, word.answers);
  answered_ = std::max(answered_, word.answers);
  if (word.stamp) returned_.heard(*word.stamp, time);
  if (fresh != 0) progress_ = time;
  gaps(word, time);
  highest_ = std::max(highest_, std::min(highest, next_ - 1));
  trim();
  return fresh;
}

/// Packets of which the word says nothing although it speaks of that many later ones. The highest PSN known to
/// have arrived is that of a packet that brought a SACK: whether bits of bitmaps count is open.
void Requestor::gaps(const Word& word, Time time) {
  const Seq n = std::max<Seq>(rules_.reorder, 1);
  if (word.above < n) return;
  wide_ = time;
  const Seq from = std::max({word.base, word.cack + 1, cack_ + 1});
  for (Seq psn = from; psn < word.base + 64 && psn + n <= triggered_; ++psn) {
    Flight* const flight = at(psn);
    if (flight == nullptr || flight->reported || flight->lost != 0 || flight->times != 1) continue;
    if (flight->last < time) flight->lost = time;
  }
}

void Requestor::nacked(Seq psn, uint8_t reason, uint32_t ev, Time time) {
  Flight* const flight = at(psn);
  if (flight == nullptr) return;
  flight->named = time;
  ++flight->nacks;
  flight->named_reason = reason;
  if (flight->reported || flight->last >= time) return;
  if (flight->ev != ev || (flight->times > 1 && flight->ev_before == ev)) return;
  flight->nacked = time;
  flight->reason = reason;
}

void Requestor::returned(Seq psn, bool again, Time time) {
  Flight* const flight = at(psn);
  if (flight != nullptr && !flight->reported && flight->again == again) flight->returned = time;
}

Seq Requestor::oldest() const {
  if (open_ == 0) return next_;
  Seq psn = std::max(cack_ + 1, base_);
  for (; psn < next_; ++psn) {
    const Flight* const flight = find(psn);
    if (flight != nullptr && !flight->reported) break;
  }
  return psn;
}

unsigned Requestor::causes(Seq psn, Time time, Time lag, Time inside) const {
  const Flight* const flight = find(psn);
  if (flight == nullptr) return 0;
  unsigned causes = 0;
  if (flight->named != 0 && flight->named > flight->earlier) causes |= kByNack;
  // Each of several NACKs that came together causes one; the frames may wait inside.
  if (flight->nacks != 0 && time <= flight->named + kWait * lag) causes |= kByNack;
  if (flight->returned != 0 && flight->returned > flight->last) causes |= kByReturn;
  const Seq n = std::max<Seq>(rules_.reorder, 1);
  // The frame may have waited inside while words about later ones came.
  if (flight->times == 1 && wide_ != 0 && psn + n <= highest_) causes |= kByGap;
  const auto trigger = triggers_.find(flight->ev);
  if (rules_.same_ev && trigger != triggers_.end() && trigger->second > flight->last) causes |= kBySameEv;
  // New packets are given to ports in the order of PSNs, and leave them in any other.
  const bool requested = answered_ != 0 && answered_ + inside > flight->last;
  const bool later = requested || through_ > flight->last || (flight->times == 1 && triggered_ > psn);
  if (rules_.by_time && (later || returned_.after(flight->stamp))) causes |= kByTime;
  // The clock runs from when the device meant to send, which may lie before the frame by what the host and other
  // frames kept it waiting: half an interval, or the transmission before.
  const bool half = time + lag >= flight->last + rules_.interval / 2;
  if (half || (flight->times > 1 && time + lag >= flight->earlier + rules_.interval)) {
    causes |= kByTimer;
    if (psn + 1 == next_ && open_ == 0) causes |= kByMissingAck;
  }
  return causes;
}

bool Requestor::owed(Seq psn) const {
  const Flight* const flight = find(psn);
  if (flight == nullptr || flight->reported) return false;
  return (flight->nacked != 0 && flight->nacked > flight->last) || (flight->lost != 0 && flight->lost > flight->last);
}

std::optional<Seq> Requestor::owed() const {
  for (Seq psn = oldest(); psn < next_; ++psn) {
    if (owed(psn)) return psn;
  }
  return {};
}

void Requestor::trim() {
  const Seq keep = std::max(cack_ - kTail, next_ - kMostPsns);
  while (base_ < keep && !flights_.empty()) {
    const Flight& flight = flights_.front();
    if (flight.seen && !flight.reported) --open_;
    flights_.pop_front();
    ++base_;
  }
}

}  // namespace mrc::ref
