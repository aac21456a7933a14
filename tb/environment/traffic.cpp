// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mrc::tb {

SourceMemory::SourceMemory(std::size_t size, uint64_t base, Rng rng) : bytes_(size + 256), size_(size), base_(base) {
  for (std::size_t i = 0; i + 8 <= bytes_.size(); i += 8) {
    const uint64_t r = rng.next();
    std::memcpy(&bytes_[i], &r, 8);
  }
}

MessageSizes message_sizes(const Scenario& scenario, const Preset& preset) {
  constexpr uint32_t kTestsOnly = 1024, kSmaller = 16;  // a window of fewer PSNs than MRC asks for
  if (scenario.signal_every == 0 || preset.max_mpr >= kTestsOnly) return {scenario.size_min, scenario.size_max};
  return {std::max(1u, scenario.size_min / kSmaller), std::max(1u, scenario.size_max / kSmaller)};
}

std::string QpNames::operator()(unsigned index) const {
  return first_ ? fmt::format("{:#x}", *first_ + index) : std::to_string(index);
}

std::string status_text(unsigned status) {
  for (const EnumValue& known : kCqStatusValues)
    if (known.value == status) return fmt::format("{:#x} ({})", status, known.name);
  return fmt::format("{:#x}", status);
}

// ---- Requester

Requester::Requester(const Preset& preset, const Scenario& scenario, const SourceMemory& source,
                     const std::vector<QpPlan>& plan, const std::vector<Region>& regions, uint64_t packets, Rng rng)
    : preset_(preset),
      scenario_(scenario),
      source_(source),
      budget_(packets),
      rng_(rng),
      empty_rng_(0, ""),
      sizes_(message_sizes(scenario, preset)) {
  for (const QpPlan& p : plan) qps_.push_back({.plan = p, .out = {}});
  for (const Region& r : regions) {
    if (r.gone) {
      gone_ = r;
    } else {
      pools_.push_back({.region = r, .blocks = {}});
    }
  }
  limit_ = scenario.outstanding != 0 ? scenario.outstanding : std::min(preset.wqe_depth, 16u);
  next_wr_ = static_cast<uint32_t>(rng_.next());
  empty_rng_ = Rng(next_wr_, "messages of no bytes");  // of its own: the other messages stay as they are
  overruns_ = may_overrun(scenario);
  no_bytes_ = scenario.link.no_bytes > 0;
  for (const LinkRule& rule : scenario.rules) no_bytes_ = no_bytes_ || rule.what.no_bytes > 0;
}

uint32_t Requester::draw_length(const QpPlan& plan) {
  constexpr uint32_t kFifo = 64;
  const unsigned mtu = 256u << plan.mtu;
  if (rng_.chance(scenario_.small_share)) return plan.fifo ? kFifo : static_cast<uint32_t>(rng_.between(1, 64));
  const double lo = std::log(sizes_.min), hi = std::log(sizes_.max + 1);
  auto n = static_cast<uint64_t>(std::exp(lo + rng_.unit() * (hi - lo)));
  n = std::clamp<uint64_t>(n, sizes_.min, sizes_.max);
  if (rng_.chance(scenario_.exact_share)) n = (n + mtu - 1) / mtu * mtu;
  return plan.fifo ? kFifo : static_cast<uint32_t>(n);
}

/// Is the next message of a QP one of no bytes: a signal behind so many, or by chance?
bool Requester::draws_no_bytes(const Qp& qp) {
  if (qp.plan.fifo) return false;
  return (scenario_.signal_every != 0 && qp.since_signal >= scenario_.signal_every) ||
         empty_rng_.chance(scenario_.zero_share);
}

bool Requester::allocate(Message& m, unsigned align) {
  // Any pool, starting with a random one: a region of its own block range, at least one guard byte on each side; where
  // regions' edges are what it is about, some end with the region.
  // Messages of a QP that is going to fail are never freed: they stay in the last pool, off the others' way.
  const bool apart = scenario_.bad_access > 0 && pools_.size() > 1;
  const std::size_t shared = pools_.size() - (apart ? 1 : 0);
  const bool last = apart && qps_[m.qp].plan.fails;
  const std::size_t first = last ? shared : rng_.below(shared);
  for (std::size_t k = 0; k < (last ? 1 : shared); ++k) {
    const std::size_t index = last ? shared : (first + k) % shared;
    Pool& pool = pools_[index];
    const uint64_t size = pool.region.length;
    const uint64_t need = (uint64_t{align} + m.length + 64) / 64 * 64;
    if (need > size) continue;
    uint64_t at = pool.head;
    bool at_end = false;           // it ends with the region
    if (at + need > size) at = 0;  // wrap: the rest stays unused
    if (!pool.blocks.empty()) {
      const bool wrapped = pool.head <= pool.tail;  // used: tail..size and 0..head
      if (wrapped ? (at < pool.head || at + need > pool.tail) : (at < pool.head && at + need > pool.tail)) continue;
    } else {
      at_end = scenario_.bad_access > 0 && rng_.chance(0.25);
      at = at_end ? size - need : 0;
      pool.tail = at;
    }
    pool.head = at + need;
    pool.blocks.push_back({m.id, pool.head, false});
    pool_of_[m.id] = index;
    m.rkey = pool.region.rkey;
    const uint64_t offset = at_end ? size - m.length : at + align;
    m.raddr = pool.region.va + offset;
    m.dest = pool.region.dest + offset;
    return true;
  }
  return false;
}

void Requester::freed(uint32_t id) {
  const auto found = pool_of_.find(id);
  if (found == pool_of_.end()) return;
  Pool& pool = pools_[found->second];
  pool_of_.erase(found);
  for (Pool::Block& b : pool.blocks) {
    if (b.id == id) b.free = true;
  }
  while (!pool.blocks.empty() && pool.blocks.front().free) {
    pool.tail = pool.blocks.front().end;
    pool.blocks.pop_front();
  }
  blocked_ = false;
}

const Wqe* Requester::make() {
  if (wait_ > 0) {
    --wait_;
    return nullptr;
  }
  if (pending_ && qps_[pending_->qp].dead) pending_.reset();
  if (blocked_) return nullptr;
  if (local_state_due_) {  // one more WQE on a QP that has failed: it must be refused at once
    local_state_due_ = false;
    for (std::size_t i = 0; i < qps_.size(); ++i) {
      Qp& qp = qps_[i];
      if (!qp.local_state) continue;
      qp.local_state = false;
      wqe_ = {.qp = static_cast<QpIndex>(i),
              .imm_valid = false,
              .wr_id = next_wr_++,
              .laddr = source_.base(),
              .raddr = 0,
              .rkey = 0,
              .length = 64,
              .imm = 0};
      refusals_[wqe_.wr_id] = {wqe_.qp, CqStatus::Flushed};
      offered_ = true;
      for (const Qp& other : qps_) local_state_due_ = local_state_due_ || other.local_state;
      return &wqe_;
    }
  }
  if (exhausted()) return nullptr;
  if (!pending_) {
    // The next QP with room, from a random place on: no fixed pattern, no starvation.
    const std::size_t n = qps_.size();
    cursor_ = (cursor_ + 1 + (rng_.chance(0.3) ? rng_.below(n) : 0)) % n;
    std::size_t i = cursor_, tried = 0;
    while (tried < n && (qps_[i].dead || qps_[i].out.size() >= limit_)) {
      i = (i + 1) % n;
      ++tried;
    }
    if (tried == n) {
      blocked_ = true;
      bool alive = false;
      for (const Qp& qp : qps_) alive = alive || !qp.dead;
      if (!alive) budget_ = packets_made_;  // every QP has failed as intended
      return nullptr;
    }
    cursor_ = i;
    Qp& qp = qps_[i];
    if (rng_.chance(scenario_.bad_wqes)) {
      // A length of 0, where that is not legal; or a QP that is not in use and that nobody moves to another state.
      const bool unused = scenario_.churn == 0 && qps_.size() < preset_.num_qps && rng_.chance(0.3);
      if (unused) {
        const auto index = static_cast<unsigned>(rng_.between(qps_.size(), preset_.num_qps - 1));
        return refused_wqe(index, static_cast<uint32_t>(rng_.below(1000)), CqStatus::LocState);
      }
      if (!qp.plan.zero_legal) return refused_wqe(static_cast<unsigned>(i), 0, CqStatus::LocLength);
    }
    const bool empty = draws_no_bytes(qp);
    if (empty && !qp.plan.zero_legal) {
      qp.since_signal = 0;
      return refused_wqe(static_cast<unsigned>(i), 0, CqStatus::LocLength);
    }
    pending_ = next_message(static_cast<unsigned>(i));
    if (empty) {
      pending_->length = 0;
      pending_->packets = 1;
      const bool room = std::ranges::count(qp.out, true, &Message::imm_valid) < int64_t{qp.plan.wimm_room};
      if (scenario_.signal_every != 0 && room && !pending_->imm_valid) {
        pending_->imm_valid = true;
        pending_->imm = static_cast<uint32_t>(empty_rng_.next());
      }
    }
  }
  Message m = *pending_;
  const bool aligned = rng_.chance(scenario_.aligned_share);
  if (m.length == 0) {  // neither address nor key mean anything
    m.raddr = empty_rng_.next();
    m.rkey = static_cast<uint32_t>(empty_rng_.next());
  } else if (!allocate(m, aligned ? 0 : static_cast<unsigned>(rng_.between(1, 63)))) {
    blocked_ = true;
    return nullptr;
  }
  pending_.reset();
  Qp& qp = qps_[m.qp];
  qp.since_signal = m.length == 0 ? 0 : qp.since_signal + 1;
  no_bytes_made_ += m.length == 0;
  m.laddr = source_.base() + (aligned ? rng_.below((source_.size() - m.length) / 64 + 1) * 64
                                      : rng_.below(source_.size() - m.length + 1));
  if (qp.plan.fails && !qp.failing && qp.made >= 5 && m.length > 1) {
    m.must_fail = true;
    qp.failing = true;
    leave_region(m, qp);
  }
  m.msn = qp.plan.msn++;
  if (m.imm_valid) m.rqmsn = qp.plan.rqmsn++;
  ++next_id_;
  ++next_wr_;
  ++qp.made;
  packets_made_ += m.packets;
  ++outstanding_;
  immediates_ += m.imm_valid;
  m.imms_before = static_cast<unsigned>(std::ranges::count(qp.out, true, &Message::imm_valid));
  held_ += m.imm_valid && qp.plan.wimm_waits && m.imms_before >= qp.plan.max_wimm;
  qp.out.push_back(m);
  offer_message(m);
  mail_.posted.push_back(m);
  if (scenario_.wqe_gap > 0) wait_ = static_cast<uint64_t>(rng_.unit() * 2 * scenario_.wqe_gap);
  return &wqe_;
}

/// A WQE that must be refused with that status.
const Wqe* Requester::refused_wqe(unsigned qp, uint32_t length, CqStatus status) {
  wqe_ = {.qp = static_cast<QpIndex>(qp),
          .imm_valid = rng_.chance(0.5),
          .wr_id = next_wr_++,
          .laddr = source_.base(),
          .raddr = rng_.next(),
          .rkey = 0,
          .length = length,
          .imm = 0};
  refusals_[wqe_.wr_id] = {qp, status};
  offered_ = true;
  return &wqe_;
}

/// Before it has memory.
Message Requester::next_message(unsigned index) {
  const Qp& qp = qps_[index];
  Message m;
  m.id = next_id_;
  m.wr_id = next_wr_;
  m.qp = static_cast<QpIndex>(index);
  m.peer_qp = qp.plan.peer;
  const unsigned mtu = 256u << qp.plan.mtu;
  m.length = draw_length(qp.plan);
  m.imm_valid = rng_.chance(scenario_.imm_share) &&
                std::ranges::count(qp.out, true, &Message::imm_valid) < int64_t{qp.plan.wimm_room};
  m.imm = m.imm_valid ? static_cast<uint32_t>(rng_.next()) : 0;
  m.packets = (m.length + mtu - 1) / mtu;
  return m;
}

/// Its remote address or its key become wrong.
void Requester::leave_region(Message& m, const Qp& qp) {
  const Pool& pool = pools_[pool_of_[m.id]];
  switch (refusal_kind_++ % (gone_ ? 4 : 3)) {
    case 1:
      m.rkey ^= 1u << rng_.below(8);
      break;  // another key of the same row
    case 0:   // its first packet goes over the end
      m.raddr = pool.region.va + pool.region.length - rng_.between(1, std::min(m.length, 256u << qp.plan.mtu) - 1);
      break;
    case 3:  // a region that is gone
      m.rkey = gone_->rkey;
      m.raddr = gone_->va + rng_.below(gone_->length - m.length + 1);
      break;
    default:  // before the beginning, of several packets all
      m.raddr =
          pool.region.va - (m.packets == 1 && rng_.chance(0.7) ? rng_.between(1, 64) : m.length + rng_.below(4096));
      break;
  }
}

void Requester::offer_message(const Message& m) {
  wqe_ = {.qp = m.qp,
          .imm_valid = m.imm_valid,
          .wr_id = m.wr_id,
          .laddr = m.laddr,
          .raddr = m.raddr,
          .rkey = m.rkey,
          .length = m.length,
          .imm = m.imm};
  offered_ = true;
}

void Requester::taken() { offered_ = false; }

std::string Requester::completion(const Cqe& c) {
  const auto about = [&](const std::string& what) {
    return fmt::format("completion of WQE {:#x} on QP {} with status {}: {}", c.wr_id, names_(c.qp),
                       status_text(c.status), what);
  };
  blocked_ = false;
  if (given_up_.erase(c.wr_id) != 0) return {};
  if (const auto refusal = refusals_.find(c.wr_id); refusal != refusals_.end()) {
    // A QP that may fail can be in ERROR before the work that failed has completed; so can one whose peer fails.
    const bool fails = c.qp < qps_.size() && (qps_[c.qp].dead || qps_[c.qp].failing || qps_[c.qp].plan.may_fail);
    const bool flushed = c.status == CqStatus::Flushed && fails;
    if (c.status != refusal->second.status && !flushed)
      return about(fmt::format("status {} was due", status_text(refusal->second.status)));
    refusals_.erase(refusal);
    ++refused_;
    return {};
  }
  if (const auto lost = lost_.find(c.wr_id); lost != lost_.end()) {
    // An immediate too many may have been refused when it was posted, and be told of in its turn.
    if (c.status != CqStatus::Flushed && c.status != lost->second.status)
      return about("the QP had failed before: it must be flushed");
    lost_.erase(lost);
    return {};
  }
  if (c.qp >= qps_.size()) return about("no such QP");
  Qp& qp = qps_[c.qp];
  if (qp.out.empty()) return about("nothing is outstanding there");
  if (c.status == CqStatus::WimmOverrun) {  // of the WQE that was one too many, not of the oldest
    // At once, or in its turn: what counts is what was outstanding when it was posted.
    const auto refused = std::ranges::find(qp.out, c.wr_id, &Message::wr_id);
    const unsigned before = refused == qp.out.end() ? 0 : refused->imms_before;
    if (refused == qp.out.end() || before < qp.plan.max_wimm)
      return about(fmt::format("{} immediates were outstanding, {} are allowed", before, qp.plan.max_wimm));
    if (!may_refuse(qp, *refused)) return about("an immediate too many must wait until one before it has completed");
    return one_too_many(qp, c.wr_id);
  }
  const Message m = qp.out.front();
  if (m.wr_id != c.wr_id) return about(fmt::format("WQE {:#x} is older and not complete", m.wr_id));
  const bool ends =
      c.status == CqStatus::RetryExceeded || c.status == CqStatus::RemEvent || c.status == CqStatus::Flushed;
  if (ends && qp.plan.may_fail) {
    bury(qp, c.wr_id);
    return {};
  }
  const auto status = static_cast<unsigned>(c.status);
  if (no_bytes_ && qp.plan.may_fail && m.packets == 1 && status == scenario_.nak_invalid) {
    ++naks_invalid_;
    bury(qp, c.wr_id);
    return {};
  }
  if (overruns_ && qp.plan.may_fail && status == static_cast<unsigned>(scenario_.nak_invalid)) {
    ++naks_invalid_;  // it names the oldest message that was not complete
    bury(qp, c.wr_id);
    return {};
  }
  if (m.must_fail) {
    if (status != scenario_.nak_access) {
      return about(
          fmt::format("it leaves its memory region and must fail with status {}", status_text(scenario_.nak_access)));
    }
    ++naks_access_;
    bury(qp, c.wr_id);
    return {};
  }
  if (c.status != CqStatus::Ok) return about("it must end well");
  if (!short_ && (c.length != m.length || c.msn != m.msn)) {
    return about(fmt::format("length {} msn {} instead of length {} msn {}", c.length, c.msn, m.length, m.msn));
  }
  qp.out.pop_front();
  --outstanding_;
  ++completed_;
  completed_packets_ += m.packets;
  completed_bytes_ += m.length;
  mail_.completed.push_back(m.id);
  return {};
}

/// Is it an immediate too many, and does such a one not wait?
bool Requester::may_refuse(const Qp& qp, const Message& m) {
  return m.imm_valid && m.imms_before >= qp.plan.max_wimm && (!qp.plan.wimm_waits || qp.plan.max_wimm == 0);
}

/// Refused, and that is all: those behind it have the numbers that it does not take.
std::string Requester::one_too_many(Qp& qp, uint32_t wr_id) {
  const auto at = std::ranges::find(qp.out, wr_id, &Message::wr_id);
  for (auto later = at + 1; later != qp.out.end(); ++later) {
    --later->msn;
    if (later->imm_valid) --later->rqmsn;
  }
  --qp.plan.msn;
  --qp.plan.rqmsn;
  mail_.refused.push_back(at->id);
  --outstanding_;
  ++refused_;
  if (qp.plan.max_wimm != 0) packets_made_ -= at->packets;
  if (at->must_fail) qp.failing = false;
  qp.out.erase(at);
  return {};
}

/// The QP has failed: `done_wr_id` has its completion, the others will be flushed, and others send their packets.
void Requester::bury(Qp& qp, uint32_t done_wr_id) {
  qp.dead = qp.local_state = local_state_due_ = true;
  ++failed_qps_;
  for (const Message& rest : qp.out) {
    mail_.abandoned.push_back(rest.id);
    if (rest.wr_id != done_wr_id)
      lost_[rest.wr_id] = {rest.qp, may_refuse(qp, rest) ? CqStatus::WimmOverrun : CqStatus::Flushed};
    --outstanding_;
    packets_made_ -= rest.packets;
  }
  qp.out.clear();
}

void Requester::give_up(unsigned index) {
  Qp& qp = qps_[index];
  for (const Message& m : qp.out) {
    mail_.abandoned.push_back(m.id);
    given_up_[m.wr_id] = index;
    --outstanding_;
    packets_made_ -= m.packets;
  }
  for (auto* due : {&refusals_, &lost_}) {
    std::erase_if(*due, [&](const auto& each) {
      if (each.second.qp != index) return false;
      given_up_[each.first] = index;
      return true;
    });
  }
  qp.out.clear();
  qp.dead = true;
  qp.local_state = false;
  local_state_due_ = std::ranges::any_of(qps_, &Qp::local_state);
}

void Requester::revive(unsigned index, const QpPlan& plan) {
  Qp& qp = qps_[index];
  qp = {.plan = plan, .out = {}};
  std::erase_if(given_up_, [&](const auto& each) { return each.second == index; });
  blocked_ = false;
}

std::vector<Requester::Stuck> Requester::stuck() const {
  std::vector<Stuck> list;
  for (std::size_t i = 0; i < qps_.size(); ++i) {
    if (!qps_[i].out.empty()) list.push_back({static_cast<QpIndex>(i), qps_[i].out.size(), qps_[i].out.front()});
  }
  return list;
}

// ---- Responder

Responder::Responder(const Preset& preset, const SourceMemory& source, std::size_t size, uint64_t base, uint64_t)
    : source_(source),
      memory_(size, kFill),
      blocks_(size / kBlock, 0),
      base_(base),
      order_(preset.num_qps),
      imms_(preset.num_qps),
      next_rqmsn_(preset.num_qps),
      refuses_(preset.num_qps) {}

void Responder::posted(const Message& m) {
  messages_.push_back({.m = m});
  ++open_;
  own_blocks(m, m.id + 1);
  order_[m.peer_qp].push_back(m.id);
  if (!m.imm_valid) return;
  imms_[m.peer_qp].push_back(m.id);
  if (!next_rqmsn_[m.peer_qp]) next_rqmsn_[m.peer_qp] = m.rqmsn;
}

void Responder::completed(uint32_t id) {
  Received& r = messages_[id];
  r.sender_done = true;
  if (r.cut_off && lacks(r)) {
    abandoned(id);
  } else {
    done_.push_back(id);
  }
}

/// Bytes of it, or its immediate, have not come.
bool Responder::lacks(const Received& r) const {
  return r.written < r.m.length || (r.m.imm_valid && !r.delivered && !refuses_[r.m.peer_qp]);
}

void Responder::cut_off() {
  for (Received& r : messages_) {
    if (r.verified || r.abandoned) continue;
    r.cut_off = true;
    if (r.sender_done && lacks(r)) abandoned(r.m.id);
  }
}

void Responder::refused(uint32_t id) {
  Received& r = messages_[id];
  r.abandoned = true;
  --open_;
  std::erase(order_[r.m.peer_qp], id);
  std::erase(imms_[r.m.peer_qp], id);
  take_back(r);
}

void Responder::abandoned(uint32_t id) {
  Received& r = messages_[id];
  r.abandoned = true;
  if (r.verified) return;
  --open_;
  new_ghosts_.push_back(id);
}

void Responder::forget(unsigned qp) {
  order_[qp].clear();
  imms_[qp].clear();
  next_rqmsn_[qp].reset();
  refuses_[qp] = false;
}

void Responder::broken(unsigned qp) {
  refuses_[qp] = true;
  done_.insert(done_.end(), imms_[qp].begin(), imms_[qp].end());
}

/// The blocks of a message's memory are `id`'s.
void Responder::own_blocks(const Message& m, uint32_t id) {
  if (m.length == 0) return;
  for (uint64_t b = m.dest / kBlock; b <= (m.dest + m.length - 1) / kBlock; ++b) blocks_[b] = id;
}

/// The message's memory is free again.
void Responder::take_back(Received& r) {
  const auto at = [&](uint64_t offset) { return memory_.begin() + static_cast<std::ptrdiff_t>(offset); };
  std::fill(at(r.m.dest), at(r.m.dest + r.m.length), kFill);
  own_blocks(r.m, 0);
  mail_.freed.push_back(r.m.id);
}

std::string Responder::completion(const Cqe& c) {
  const auto about = [&](const std::string& what) {
    return fmt::format("receive completion on QP {}, RQMSN {}, immediate {:#x}: {}", here_(c.qp), c.msn, c.imm, what);
  };
  if (c.qp >= imms_.size()) return about("no such QP");
  if (c.status == CqStatus::WimmOverrun && overrun_from_) {
    const auto& due = imms_[c.qp];
    const bool known = std::ranges::any_of(due, [&](uint32_t id) { return messages_[id].m.imm == c.imm; });
    if (!known || static_cast<uint16_t>(c.msn - *next_rqmsn_[c.qp]) < *overrun_from_) {
      return about(fmt::format("refused although {} may be outstanding", *overrun_from_));
    }
    ++overruns_;
    // Its data may have been acknowledged before the QP was in ERROR: then its sender ends well, and nothing is due.
    refuses_[c.qp] = true;
    done_.insert(done_.end(), due.begin(), due.end());
    return {};
  }
  if (c.status != CqStatus::Ok) return about("status " + status_text(c.status));
  if (imms_[c.qp].empty()) return about("no immediate is due there");
  // Those in front of it may turn out to have been refused by their requestor, which need not know yet.
  auto& due = imms_[c.qp];
  const auto is = [&](uint32_t each) { return messages_[each].m.imm == c.imm && messages_[each].m.length == c.length; };
  const auto at = requestors_refuse_ ? std::ranges::find_if(due, is) : due.begin();
  uint16_t& next = *next_rqmsn_[c.qp];
  if (at == due.end() || !is(*at) || next != c.msn) {
    const Message& m = messages_[due.front()].m;
    return about(fmt::format("RQMSN {} with immediate {:#x} and length {} is next", next, m.imm, m.length));
  }
  const uint32_t id = *at;
  Received& r = messages_[id];
  for (auto each = due.begin(); each != at; ++each) messages_[*each].passed_over = true;
  due.erase(due.begin(), at + 1);
  ++next;
  ++deliveries_;
  r.delivered = true;
  auto& order = order_[c.qp];
  while (!order.empty()) {
    const Received& earlier = messages_[order.front()];
    if (earlier.passed_over && earlier.written == 0) {
      order.pop_front();
      continue;
    }
    if (earlier.written < earlier.m.length) {
      return about(fmt::format("{} bytes of message MSN {}, {}, are not in host memory yet",
                               earlier.m.length - earlier.written, earlier.m.msn,
                               earlier.m.id == id ? "its own" : "before it on that QP"));
    }
    order.pop_front();
    if (earlier.m.id == id) break;
  }
  if (!r.verified) {
    if (std::string wrong = check_bytes(r); !wrong.empty()) return about(wrong);
  }
  done_.push_back(id);
  return {};
}

std::string Responder::check_bytes(const Received& r) const {
  if (r.m.length == 0) return {};
  const uint8_t* want = source_.at(r.m.laddr, r.m.length);
  const uint8_t* got = memory_.data() + r.m.dest;
  if (std::memcmp(want, got, r.m.length) == 0) return {};
  const auto [w, g] = std::mismatch(want, want + r.m.length, got);
  const auto offset = static_cast<uint64_t>(w - want);
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < r.m.length; ++i) wrong += want[i] != got[i];
  return fmt::format("{} of {} bytes are wrong, the first at offset {}: {:#04x} instead of {:#04x}", wrong, r.m.length,
                     offset, *g, *w);
}

std::string Responder::try_verify(uint32_t id) {
  Received& r = messages_[id];
  if (r.verified || r.abandoned || !r.sender_done || lacks(r)) return {};
  if (std::string wrong = check_bytes(r); !wrong.empty()) {
    return fmt::format("message MSN {} from QP {} to QP {}: {}", r.m.msn, there_(r.m.qp), here_(r.m.peer_qp), wrong);
  }
  // Guard bytes: the rest of the first and the last block.
  const uint64_t begin = r.m.dest / kBlock * kBlock, end = (r.m.dest + r.m.length + kBlock - 1) / kBlock * kBlock;
  const auto untouched = [](uint8_t b) { return b == kFill; };
  const auto at = [&](uint64_t offset) { return memory_.begin() + static_cast<std::ptrdiff_t>(offset); };
  if (!std::all_of(at(begin), at(r.m.dest), untouched) || !std::all_of(at(r.m.dest + r.m.length), at(end), untouched)) {
    return fmt::format("message MSN {} to QP {}: bytes beside it were written", r.m.msn, here_(r.m.peer_qp));
  }
  r.verified = true;
  --open_;
  ++verified_;
  verified_bytes_ += r.m.length;
  take_back(r);
  auto& order = order_[r.m.peer_qp];
  while (!order.empty() && messages_[order.front()].verified) order.pop_front();
  return {};
}

std::string Responder::verify(uint64_t now, uint64_t quiet) {
  for (const uint32_t id : new_ghosts_) ghosts_.emplace_back(now, id);
  new_ghosts_.clear();
  while (!ghosts_.empty() && now - ghosts_.front().first > quiet) {
    take_back(messages_[ghosts_.front().second]);
    ghosts_.pop_front();
  }
  for (auto* list : {&written_, &done_}) {
    for (const uint32_t id : *list) {
      if (std::string wrong = try_verify(id); !wrong.empty()) return wrong;
    }
    list->clear();
  }
  return {};
}

double drained_ns(const Scenario& scenario, const Preset& preset) {
  constexpr double kUsual = 40'000, kLargest = 4096;  // ns; bytes
  const double batches = std::ceil(kLargest / preset.host_bytes / preset.line_fifo) + 1;
  const double batch = (scenario.read_ns + scenario.read_jitter_ns) / std::max(0.1, 1 - scenario.stall);
  const double links = 2 * (scenario.delay_ns + scenario.jitter_ns + scenario.reorder_ns);
  const double pause =
      (scenario.pause > 0 ? scenario.pause_ns : 0) + (scenario.cqe_pause > 0 ? scenario.cqe_pause_ns : 0);
  return kUsual + links + (preset.tx_lane_fifo + preset.lane_fifo) * batches * batch + preset.lane_fifo * pause;
}

std::string Responder::finish() const {
  for (const Received& r : messages_) {
    if (r.verified || r.abandoned) continue;
    return fmt::format("message MSN {} from QP {} to QP {}: {} of {} bytes arrived{}", r.m.msn, there_(r.m.qp),
                       here_(r.m.peer_qp), r.written, r.m.length,
                       r.m.imm_valid && !r.delivered ? ", its immediate was not delivered" : "");
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (blocks_[b] != 0) continue;
    for (std::size_t i = b * kBlock; i < (b + 1) * kBlock; ++i) {
      if (memory_[i] != kFill)
        return fmt::format("byte {:#x} of host memory was written although no message goes there", i);
    }
  }
  return {};
}

}  // namespace mrc::tb
