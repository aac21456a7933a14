// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "log/digest.hpp"
#include "reference/history_parts.hpp"
#include "reference/queue.hpp"

namespace mrc::ref::history {
namespace {

constexpr uint64_t kMostBytes = 32u << 20;  ///< of payload that is not written yet
constexpr std::size_t kMostOpen = 1 << 14;  ///< packets, those that were written lately among them
constexpr uint64_t kPage = 4096;
constexpr Seq kMemoryTail = 1024;
constexpr Seq kMemoryPsns = 16384;
constexpr uint32_t kMostPayload = 1u << 16;

/// Parts of a payload: from, to; apart from each other.
class Ranges {
 public:
  bool free(uint32_t from, uint32_t to) const {
    const auto apart = [&](const Part& p) { return from >= p.second || p.first >= to; };
    return apart(one_) && std::ranges::all_of(more_, apart);
  }
  /// Returns how many bytes are new.
  uint32_t add(uint32_t from, uint32_t to) {
    const uint32_t before = bytes_;
    if (bytes_ == 0) {
      one_ = {from, to};
      bytes_ = to - from;
    } else if (more_.empty() && touches(one_, from, to)) {
      one_ = {std::min(from, one_.first), std::max(to, one_.second)};
      bytes_ = one_.second - one_.first;
    } else {
      more_.push_back(one_);
      bytes_ += to - from;
      std::erase_if(more_, [&](const Part& p) {
        if (!touches(p, from, to)) return false;
        bytes_ -= std::min(to, p.second) - std::max(from, p.first);
        from = std::min(from, p.first);
        to = std::max(to, p.second);
        return true;
      });
      one_ = {from, to};
    }
    return bytes_ - before;
  }
  uint32_t bytes() const { return bytes_; }

 private:
  using Part = std::pair<uint32_t, uint32_t>;
  static bool touches(const Part& p, uint32_t from, uint32_t to) { return from <= p.second && p.first <= to; }
  Part one_{};              ///< mostly all
  std::vector<Part> more_;  ///< apart from it and each other
  uint32_t bytes_ = 0;
};

/// A packet whose payload may be written.
struct Payload {
  uint32_t qp = 0;
  uint64_t incarnation = 0;
  Seq psn = 0;
  uint64_t addr = 0;
  uint32_t length = 0;
  bool known = false;  ///< bytes holds
  bool over = false;   ///< all of it is written
  std::vector<uint8_t> bytes;
  Ranges written;        ///< by writes that were its own
  Ranges there;          ///< stand in memory, whosever write it was
  uint32_t visible = 0;  ///< bytes of `there` that software can see
};

struct Placed {
  bool came = false, done = false;  ///< all of it written
  bool notified = false;            ///< its immediate has completed
  bool empty = false;               ///< one came that has nothing to write (A-19)
  bool over() const { return done || empty; }
  std::weak_ptr<Payload> payload;
};

struct Immediate {
  Seq psn = 0;
  uint16_t rqmsn = 0;
  uint32_t value = 0;
  bool operator==(const Immediate&) const = default;
};

struct Target {
  uint64_t incarnation = 0;
  bool started = false, known_start = false;
  Queue<Placed> psns;                 ///< from base on
  Seq base = 0, next = 0;             ///< next: first PSN that is not written
  Queue<Immediate> immediates;        ///< that came and have not completed
  std::optional<uint16_t> completed;  ///< RQMSN of the last completion
  /// Acknowledged up to this PSN since this time, each later; `settled` so long ago that all must be written.
  Queue<std::pair<Time, Seq>> acked;
  std::optional<Seq> settled;
};

class MemoryPart final : public Part {
 public:
  explicit MemoryPart(World& world) : w_(world), wire_(world.profile().wire()) {}
  void region(const log::Mr& region, Time time) override;
  void received(const Seen& seen, QpWorld* qp) override;
  void host(const log::Host& host, Time time) override;
  void completed(const log::Cqe& cqe, Time time) override;
  void sent(const Seen& seen, QpWorld* qp) override;
  void finish(const log::End& end, Time time) override;
  uint64_t memory() const override { return bytes_ + oldest_.size() * (sizeof(Payload) + 128) + targets_.size() * 512; }

 private:
  using Open = std::shared_ptr<Payload>;
  /// A payload with its place, so that those of other places are not looked at.
  struct Place {
    uint64_t addr = 0;
    uint32_t length = 0;
    Open open;
    bool has(uint64_t at) const { return at >= addr && at - addr < length; }
  };
  using Page = std::vector<Place>;
  /// What a write has written: mostly bytes of one packet.
  struct Written {
    Open first;
    uint32_t bytes = 0;
    std::vector<std::pair<Open, uint32_t>> more;
  };
  struct Region {
    log::Mr set;
    Time since = 0;
  };
  void data(const Seen& seen, const QpWorld& qp, Target& t);
  void settle(Target& t, Time age) const;
  Target& of(const QpWorld& qp);
  const Region* region_of(const wire::Packet& p) const;
  void write(const log::Host& host);
  void others(const Page& page, const Payload& payload, uint64_t at, uint32_t bytes, const uint8_t* shown,
              uint64_t tag);
  void stands(const Open& payload, uint32_t from, uint32_t to, uint64_t tag);
  void visible(Payload& payload, uint32_t bytes);
  void done(const Payload& payload);
  static void moves(Target& t);
  void forget();
  void take_out(const Open& payload);
  const Open* find(const Page& page, uint64_t at, uint64_t stop, const uint8_t* shown, bool& again, bool& differs);
  bool inside(const log::Host& host);

  World& w_;
  wire::WireConfig wire_;
  std::unordered_map<uint32_t, Region> regions_;  ///< by R_Key; none is ever taken out
  const Region* newest_region_ = nullptr;         ///< that a write went to
  std::unordered_map<uint64_t, Page> open_;       ///< by each page of host memory that they touch
  Queue<Open> oldest_;
  std::unordered_map<uint64_t, Written> tags_;  ///< not visible yet
  std::unordered_map<uint32_t, Target> targets_;
  uint64_t bytes_ = 0;
  bool writes_notified_ = false, visible_notified_ = false, lost_ = false;
};

Target& MemoryPart::of(const QpWorld& qp) {
  Target& t = targets_[qp.set.qp];
  if (t.incarnation != qp.incarnation) {
    t = Target{};
    t.incarnation = qp.incarnation;
  }
  return t;
}

void MemoryPart::region(const log::Mr& region, Time time) {
  Region& known = regions_[region.rkey];
  if (!region.valid && known.set.bytes != 0) {
    known.set.valid = false;  // what was accepted before may still be written
    known.since = time;
  } else {
    known = {region, time};
  }
}

const MemoryPart::Region* MemoryPart::region_of(const wire::Packet& p) const {
  const auto at = regions_.find(p.reth->r_key);
  if (at == regions_.end()) return nullptr;
  const log::Mr& mr = at->second.set;
  const uint64_t va = p.reth->va;
  if (!mr.write || va < mr.va || va - mr.va > mr.bytes || p.payload.size() > mr.bytes - (va - mr.va)) return nullptr;
  if (!mr.valid && w_.now() > at->second.since + w_.lag()) return nullptr;
  return &at->second;
}

void MemoryPart::received(const Seen& seen, QpWorld* qp) {
  const wire::Packet& p = seen.packet;
  if (qp == nullptr || !is_data(p) || p.trimmed() || !p.reth) return;
  data(seen, *qp, of(*qp));
}

void MemoryPart::data(const Seen& seen, const QpWorld& qp, Target& t) {
  const wire::Packet& p = seen.packet;
  if (!t.started) {
    t.started = true;
    t.known_start = qp.from_log;
    t.base = t.next = qp.from_log ? unwrap(qp.set.rq_psn, 0) : Seq{p.bth->psn};
  }
  const Seq psn = unwrap(p.bth->psn, t.next);
  const Seq window = Seq{std::max(qp.set.mpr_dest, 32u)} * 128;
  if (psn < t.base || psn > t.next + window || psn >= t.base + kMemoryPsns) return;  // never placed, or long ago
  const auto at = static_cast<std::size_t>(psn - t.base);
  if (at >= t.psns.size()) t.psns.resize(at + 1);
  Placed& placed = t.psns[at];
  if (is_imm(p.bth->opcode)) {
    // Copies may differ, and which one the NIC takes is its own affair.
    const Immediate imm{psn, p.meth->rqmsn, p.immdt ? p.immdt->value : 0};
    const bool known = placed.notified || (placed.came && std::ranges::find(t.immediates, imm) != t.immediates.end());
    if (!known) t.immediates.push_back(imm);
    if (t.immediates.size() > 4096) t.immediates.pop_front();
  }
  placed.came = true;
  if (p.payload.empty() && p.reth->dma_length == 0 && w_.settings().zero_length == kZeroLegal &&
      is_first(p.bth->opcode) && is_last(p.bth->opcode)) {
    placed.empty = true;
    moves(t);
    return;
  }
  const Region* const region = region_of(p);
  if (region == nullptr || p.payload.empty() || p.payload.size() > kMostPayload || placed.done) return;
  const uint64_t addr = region->set.addr + (p.reth->va - region->set.va);
  if (Open known = placed.payload.lock()) {
    // Again: one of both may be written. With other bytes it is another payload.
    if (known->addr == addr && (!known->known || !seen.whole || known->bytes.empty() || known->bytes == p.payload))
      return;
  }
  auto payload = std::make_shared<Payload>();
  payload->qp = qp.set.qp;
  payload->incarnation = qp.incarnation;
  payload->psn = psn;
  payload->addr = addr;
  payload->length = static_cast<uint32_t>(p.payload.size());
  payload->known = seen.whole;
  if (seen.whole) payload->bytes = p.payload;
  bytes_ += payload->length;
  placed.payload = payload;
  for (uint64_t page = addr / kPage; page <= (addr + payload->length - 1) / kPage; ++page) {
    Page& there = open_[page];
    // What was written before to the same place is over.
    std::erase_if(there, [&](const Place& o) { return o.addr == addr && o.open->written.bytes() >= o.length; });
    there.push_back({addr, payload->length, payload});
  }
  oldest_.push_back(std::move(payload));
  while (bytes_ > kMostBytes || oldest_.size() > kMostOpen) forget();
}

void MemoryPart::forget() {
  const Open payload = oldest_.front();
  oldest_.pop_front();
  if (payload->written.bytes() < payload->length) {
    lost_ = true;
    bytes_ -= payload->length;
  }
  take_out(payload);
}

void MemoryPart::take_out(const Open& payload) {
  for (uint64_t page = payload->addr / kPage; page <= (payload->addr + payload->length - 1) / kPage; ++page) {
    const auto there = open_.find(page);
    if (there == open_.end()) continue;
    std::erase_if(there->second, [&](const Place& p) { return p.open == payload; });
    if (there->second.empty()) open_.erase(there);
  }
}

bool MemoryPart::inside(const log::Host& host) {
  const auto takes = [&](const Region& region) {
    const log::Mr& mr = region.set;
    if (!mr.valid && w_.now() > region.since + 16 * w_.lag()) return false;
    return mr.write && host.addr >= mr.addr && host.addr - mr.addr <= mr.bytes &&
           host.bytes <= mr.bytes - (host.addr - mr.addr);
  };
  if (newest_region_ != nullptr && takes(*newest_region_)) return true;
  for (const auto& [rkey, region] : regions_) {
    if (!takes(region)) continue;
    newest_region_ = &region;
    return true;
  }
  return false;
}

void MemoryPart::host(const log::Host& host, Time) {
  if (host.op == log::HostOp::Write) {
    writes_notified_ = true;
    write(host);
  } else if (host.op == log::HostOp::Visible) {
    visible_notified_ = true;
    const auto at = tags_.find(host.tag);
    if (at == tags_.end()) return;
    visible(*at->second.first, at->second.bytes);
    for (const auto& [payload, bytes] : at->second.more) visible(*payload, bytes);
    tags_.erase(at);
  }
}

void MemoryPart::write(const log::Host& host) {
  if (host.bytes == 0) return;  // it writes nothing
  const auto came = [&] { return fmt::format("{} B written to host address 0x{:x}", host.bytes, host.addr); };
  if (regions_.empty()) {
    w_.report().rests(Rule::MemRegion, "no region is known");
    w_.report().rests(Rule::MemSource, "no region is known");
    return;
  }
  if (!w_.check(Rule::MemRegion, inside(host), nullptr, nullptr, came,
                [] { return std::string("an address inside a region that allows writes"); })) {
    return;
  }
  const uint8_t* const shown = host.data.size() == host.bytes ? host.data.data() : nullptr;
  // A write may hold the end of one packet and the begin of the next.
  uint64_t at = host.addr;
  const uint64_t stop = host.addr + host.bytes;
  while (at < stop) {
    bool again = false, differs = false;
    const auto page = open_.find(at / kPage);
    const Open* const best =
        page == open_.end()
            ? nullptr
            : find(page->second, at, stop, shown == nullptr ? nullptr : shown + (at - host.addr), again, differs);
    if (best == nullptr) {
      if (const char* why = lost_ ? "too many packets were open" : w_.incomplete()) {
        w_.report().rests(Rule::MemSource, why);
      } else if (again && !differs) {
        w_.check(Rule::MemOnce, false, nullptr, nullptr, came,
                 [] { return std::string("nothing: these bytes were written before"); });
      } else {
        w_.check(Rule::MemSource, false, nullptr, nullptr, came, [&] {
          return std::string(differs ? "the bytes of the packet that goes there"
                                     : "nothing: no packet that may be written goes there");
        });
      }
      return;
    }
    const Open& payload = *best;
    const auto to = static_cast<uint32_t>(std::min<uint64_t>(stop - payload->addr, payload->length));
    const auto from = static_cast<uint32_t>(at - payload->addr);
    w_.report().ok(Rule::MemSource);
    w_.report().ok(Rule::MemOnce);
    others(page->second, *payload, at, to - from, shown == nullptr ? nullptr : shown + (at - host.addr), host.tag);
    payload->written.add(from, to);
    stands(payload, from, to, host.tag);
    at += to - from;
  }
}

/// Other packets that a write of so many bytes may have been for. A copy of the same packet is written with it: another
/// length than the longest may be right. Of any other one with the same bytes they stand in memory from now on.
void MemoryPart::others(const Page& page, const Payload& payload, uint64_t at, uint32_t bytes, const uint8_t* shown,
                        uint64_t tag) {
  for (const Place& place : page) {
    const Open& other = place.open;
    if (!place.has(at) || other.get() == &payload) continue;
    const auto from = static_cast<uint32_t>(at - other->addr);
    const uint32_t to = std::min(from + bytes, other->length);
    const bool copy = other->qp == payload.qp && other->incarnation == payload.incarnation &&
                      other->psn == payload.psn && other->addr == payload.addr;
    if (copy && other->written.free(from, to)) {
      other->written.add(from, to);
    } else if (shown != nullptr && other->known &&
               (other->bytes.empty() || !std::equal(shown, shown + (to - from), other->bytes.begin() + from))) {
      continue;
    }
    stands(other, from, to, tag);
  }
}

void MemoryPart::stands(const Open& payload, uint32_t from, uint32_t to, uint64_t tag) {
  if (payload->written.bytes() >= payload->length && !payload->over) {
    payload->over = true;
    bytes_ -= payload->length;
    payload->bytes = {};
  }
  const uint32_t fresh = payload->there.add(from, to);
  if (fresh == 0) return;
  if (visible_notified_ && tag != 0) {
    if (tags_.size() > (1u << 16)) tags_.clear();
    Written& written = tags_[tag];
    if (written.first == nullptr) {
      written = {payload, fresh, {}};
    } else {
      written.more.emplace_back(payload, fresh);
    }
  } else {
    visible(*payload, fresh);
  }
}

/// The packet whose bytes from `at` on may be written and, if shown, are those; of several the one that takes most.
const MemoryPart::Open* MemoryPart::find(const Page& page, uint64_t at, uint64_t stop, const uint8_t* shown,
                                         bool& again, bool& differs) {
  const Open* best = nullptr;
  uint32_t most = 0;
  for (const Place& place : page) {
    if (!place.has(at)) continue;
    const Payload& p = *place.open;
    const auto from = static_cast<uint32_t>(at - p.addr);
    const auto to = static_cast<uint32_t>(std::min<uint64_t>(stop - p.addr, p.length));
    if (!p.written.free(from, to)) {
      again = true;
      continue;
    }
    if (shown != nullptr && p.known && !std::equal(p.bytes.begin() + from, p.bytes.begin() + to, shown)) {
      differs = true;
      continue;
    }
    if (to - from > most) {
      best = &place.open;
      most = to - from;
    }
  }
  return best;
}

void MemoryPart::visible(Payload& payload, uint32_t bytes) {
  payload.visible += bytes;
  if (payload.visible >= payload.length) done(payload);
}

void MemoryPart::done(const Payload& payload) {
  const auto found = targets_.find(payload.qp);
  if (found == targets_.end() || found->second.incarnation != payload.incarnation) return;
  Target& t = found->second;
  const Seq at = payload.psn - t.base;
  if (at < 0 || at >= static_cast<Seq>(t.psns.size())) return;
  t.psns[static_cast<std::size_t>(at)].done = true;
  moves(t);
}

/// Over all that has nothing left to be written.
void MemoryPart::moves(Target& t) {
  while (t.next - t.base < static_cast<Seq>(t.psns.size()) && t.psns[static_cast<std::size_t>(t.next - t.base)].over())
    ++t.next;
  while (!t.psns.empty() && t.base < t.next - kMemoryTail) {
    t.psns.pop_front();
    ++t.base;
  }
}

void MemoryPart::completed(const log::Cqe& cqe, Time) {
  QpWorld* const qp = w_.local(cqe.qp);
  if (qp == nullptr || !cqe.receive || cqe.status != log::Status::Ok) return;
  Target& t = of(*qp);
  const char* why = w_.incomplete();
  if (why == nullptr && (!t.known_start || !qp->from_log)) why = "the QP is older than the log";
  if (why != nullptr) {
    w_.report().rests(Rule::MemCqe, why);
    w_.report().rests(Rule::MemCqeOrder, why);
    return;
  }
  const auto came = [&] { return fmt::format("completion of immediate 0x{:x}, RQMSN {}", cqe.imm, cqe.rqmsn); };
  const uint16_t right = t.completed ? static_cast<uint16_t>(*t.completed + 1) : qp->set.rqmsn;
  const auto due = [&](const Immediate& i) { return i.rqmsn == right; };
  auto at = std::ranges::find_if(t.immediates, [&](const Immediate& i) { return due(i) && i.value == cqe.imm; });
  if (at == t.immediates.end()) at = std::ranges::find_if(t.immediates, due);
  w_.check(Rule::MemCqeOrder, at != t.immediates.end() && at->value == cqe.imm && (cqe.rqmsn & 0xFFFF) == right,
           nullptr, qp, came, [&] {
             return at == t.immediates.end() ? fmt::format("none: no packet with RQMSN {} has come", right)
                                             : fmt::format("immediate 0x{:x}, RQMSN {}", at->value, right);
           });
  t.completed = right;
  if (at == t.immediates.end()) return;
  if (!writes_notified_ || lost_) {
    w_.report().rests(Rule::MemCqe, lost_ ? "too many packets were open" : "no host writes are recorded");
  } else {
    w_.check(Rule::MemCqe, t.next > at->psn, nullptr, qp, came, [&] {
      return fmt::format("none before all is written: of PSN {} not all bytes are",
                         static_cast<uint32_t>(t.next & 0xFFFFFF));
    });
  }
  const Seq psn = at->psn;
  if (psn >= t.base) t.psns[static_cast<std::size_t>(psn - t.base)].notified = true;
  erase_if(t.immediates, [&](const Immediate& i) { return i.psn == psn; });
}

/// What an ACK says is complete; whether it is written is asked at the end, since a host may keep writes waiting.
void MemoryPart::sent(const Seen& seen, QpWorld* qp) {
  const wire::Packet& p = seen.packet;
  if (qp == nullptr || !p.aeth || p.aeth->syndrome != static_cast<uint8_t>(wire::AethSyndrome::Ack) ||
      !World::counts(seen))
    return;
  Target& t = of(*qp);
  if (!t.started) return;
  const Seq psn = unwrap(p.bth->psn, t.next);
  if (t.acked.empty() || psn > t.acked.back().second) t.acked.emplace_back(seen.frame.last, psn);
  settle(t, w_.queue());
}

void MemoryPart::settle(Target& t, Time age) const {
  while (!t.acked.empty() && (t.acked.front().second < t.next || t.acked.front().first + age < w_.now())) {
    t.settled = std::max(t.settled.value_or(t.acked.front().second), t.acked.front().second);
    t.acked.pop_front();
  }
}

void MemoryPart::finish(const log::End& end, Time) {
  for (auto& [number, t] : targets_) {
    settle(t, end.cut ? w_.queue() : w_.lag());
    QpWorld* const qp = w_.local(number);
    if (!t.settled || qp == nullptr || qp->incarnation != t.incarnation) continue;
    const char* why = w_.incomplete();
    if (why == nullptr && !t.known_start) why = "the QP is older than the log";
    if (why == nullptr && !writes_notified_) why = "no host writes are recorded";
    if (why == nullptr && lost_) why = "too many packets were open";
    if (why != nullptr) {
      w_.report().rests(Rule::MemWritten, why);
      continue;
    }
    const auto low = [](Seq psn) { return static_cast<uint32_t>(psn & 0xFFFFFF); };
    w_.check(
        Rule::MemWritten, t.next > *t.settled, nullptr, qp,
        [&low, settled = *t.settled, next = t.next] {
          return fmt::format("PSN {} is acknowledged, and not all bytes of PSN {} are written", low(settled),
                             low(next));
        },
        [] { return std::string("all bytes of what is acknowledged written, at the end"); });
  }
}

}  // namespace

std::unique_ptr<Part> make_memory_part(World& world) { return std::make_unique<MemoryPart>(world); }

}  // namespace mrc::ref::history
