// SPDX-License-Identifier: Apache-2.0
/// The alien as a requestor.
#include "alien.hpp"

namespace alien {

/// Makes packets of what is posted, as far as the window goes, and reads their payload.
void Alien::cut(Qp& q) {
  for (Work& w : q.work) {
    while (!w.refused && w.cut < w.post.bytes && apart(q.psn, q.cack) <= static_cast<int32_t>(kSpan)) {
      const auto n = static_cast<uint32_t>(std::min<uint64_t>(q.c.mtu, w.post.bytes - w.cut));
      const bool first = w.cut == 0, last = w.cut + n == w.post.bytes, imm = w.post.immediate != 0;
      Sending s;
      s.psn = q.psn;
      s.msn = w.msn;
      s.head.opcode = first && last ? (imm ? kOnlyImm : kOnly)
                      : first       ? kFirst
                      : last        ? (imm ? kLastImm : kLast)
                                    : kMiddle;
      s.head.pkey = static_cast<uint16_t>(q.c.pkey);
      s.head.qp = q.c.peer_qp;
      s.head.psn = q.psn;
      s.head.pad = static_cast<uint8_t>(-n & 3);
      put(s.body, imm ? w.rqmsn : 0, 2);
      put(s.body, w.msn, 2);
      put(s.body, w.post.remote + w.cut, 8);
      put(s.body, w.post.rkey, 4);
      put(s.body, w.post.bytes, 4);
      if (has_imm(s.head.opcode)) put(s.body, w.post.imm, 4);
      reads_[++tag_] = {q.number, q.psn, q.life};
      out_read(now_, tag_, w.post.addr + w.cut, n);
      w.cut += n;
      q.psn = (q.psn + 1) & kPsn;
      q.flight.push_back(std::move(s));
    }
    if (w.cut < w.post.bytes && !w.refused) return;
  }
}

void Alien::read_done(uint64_t tag, const Bytes& data, uint32_t status) {
  const auto at = reads_.find(tag);
  if (at == reads_.end()) return;
  const Read read = at->second;
  reads_.erase(at);
  Qp& q = find(read.qp);
  if (q.life != read.life) return;
  if (status != 0) return fail(q, MRC_CQE_OTHER);
  for (Sending& s : q.flight) {
    if (s.psn != read.psn) continue;
    s.body.insert(s.body.end(), data.begin(), data.end());
    s.body.resize(s.body.size() + s.head.pad);
    s.read = true;
  }
  send(q);
}

void Alien::send(Qp& q) {
  if (q.state != MRC_QP_RTS) return;
  cut(q);
  for (Sending& s : q.flight)
    if (s.wanted && !start(q, s)) return;
  for (Sending& s : q.flight) {
    if (s.sent) continue;
    if (!s.read || !start(q, s)) return;
  }
}

/// The next EV of the walk whose port can take a packet; a retransmission takes another one than it had.
std::optional<unsigned> Alien::choose(Qp& q, uint32_t not_this, uint32_t& entropy) {
  const std::size_t n = q.evs.size();
  for (std::size_t i = 0; i < 2 * n; ++i) {
    if (q.turn % n == 0) q.key = (random() & 0xff) / kPlanes * kPlanes;
    const std::size_t index = (q.turn + q.key) % n;
    const auto plane = static_cast<unsigned>(index % kPlanes);
    if (usable(plane) && ports_[plane].data.size() >= 2) return {};  // its turn comes; planes stay equal
    ++q.turn;
    if (!usable(plane)) continue;
    Entropy& e = q.evs[index];
    const bool skipped = e.skip;
    e.skip = false;
    if (skipped || (e.value == not_this && i < n)) continue;
    entropy = e.value;
    return plane;
  }
  return {};
}

bool Alien::start(Qp& q, Sending& s) {
  uint32_t entropy = 0;
  const std::optional<unsigned> plane = choose(q, s.sent ? s.entropy : 0, entropy);
  if (!plane) return false;
  const bool full = apart(s.psn, q.cack) >= static_cast<int32_t>(kSpan);
  s.head.query = full || ends_message(s.head.opcode) || s.psn % 4 == 0;
  s.head.again = s.sent && fault_ != Fault::Rtx;
  s.entropy = entropy;
  s.queued = true;
  s.wanted = false;
  ports_[*plane].data.push_back(
      {build(route(q, entropy), s.head, s.sent ? kAgain : kData, 2, s.body), q.number, q.life, s.psn, true});
  s.tries += s.sent;
  s.sent = true;
  s.last = now_;
  serve(*plane);
  tick(q);
  return true;
}

/// Everything up to cack is there.
void Alien::reported(Qp& q, uint32_t cack) {
  if (apart(cack, q.cack) <= 0) return;
  q.cack = cack;
  q.progress = now_;
  q.retries = 0;
  for (Sending& s : q.flight)
    if (apart(s.psn, cack) <= 0) s.here = true, s.wanted = false;
}

void Alien::heard_sack(Qp& q, const Packet& p) {
  const auto cack = static_cast<uint32_t>(p.word(13, 3));
  if (apart(cack, q.psn) >= 0 || apart(cack, q.cack) < -static_cast<int32_t>(kSpan)) return;
  const bool probe = (p.word(1, 1) & 2) != 0;
  const auto offset = static_cast<int16_t>(p.word(2, 2));
  const auto base = static_cast<uint32_t>(static_cast<int32_t>(cack) + static_cast<int16_t>(p.word(18, 2))) & kPsn;
  const uint64_t bits = p.word(20, 8);
  const auto entropy = static_cast<uint32_t>(p.word(4, 4));
  const uint64_t count = p.word(30, 2) & 0x7fff;
  const uint32_t trigger = (cack + static_cast<uint32_t>(offset)) & kPsn;
  Sending* cause = nullptr;
  uint32_t highest = cack;
  reported(q, cack);
  for (Sending& s : q.flight) {
    const int32_t at = apart(s.psn, base);
    const bool bit = at >= 0 && at < 64 && (bits >> at & 1) != 0;
    if ((bit || (!probe && s.psn == trigger)) && s.sent) s.here = true, s.wanted = false;
    if (!probe && s.psn == trigger) cause = &s;
    if (s.here && apart(s.psn, highest) > 0) highest = s.psn;
  }
  if ((p.word(1, 1) >> 5 & 3) != 0 && cause != nullptr && cause->entropy == entropy) skip(q, entropy);
  // Gaps: enough that came later, or one that was sent later on the same EV.
  bool oldest = true;
  for (Sending& s : q.flight) {
    if (s.here || !s.sent) continue;
    const int32_t at = apart(s.psn, base);
    const bool covered = at >= 0 && at < 64;
    const bool many = count >= 64 && covered && apart(highest, s.psn) >= 64;
    const bool same = oldest && cause != nullptr && cause->tries == 0 && cause->entropy == entropy &&
                      s.entropy == entropy && s.order < cause->order;
    oldest = false;
    if ((many || same) && !s.gap_reported && !s.queued) s.gap_reported = s.wanted = true;
  }
  finish_work(q);
  send(q);
}

void Alien::heard_nack(Qp& q, const Packet& p) {
  const auto reason = static_cast<uint8_t>(p.word(2, 1));
  const auto psn = static_cast<uint32_t>(p.word(13, 3)), entropy = static_cast<uint32_t>(p.word(4, 4));
  if (reason == 0x19) return fail(q, MRC_CQE_FATAL);
  if (reason == 1) skip(q, entropy);
  bool oldest = true;
  for (Sending& s : q.flight) {
    if (s.here || !s.sent) continue;
    if (s.psn == psn && s.entropy == entropy && !s.queued) {
      if (reason > 2 && oldest && !retry(q)) return;
      return again(q, s);
    }
    oldest = false;
  }
}

void Alien::heard_ack(Qp& q, const Packet& p) {
  const auto syndrome = static_cast<uint8_t>(p.word(0, 1));
  const auto msn = static_cast<uint16_t>(p.word(1, 3));
  const auto more = static_cast<int16_t>(msn - q.confirmed);
  if (more < 0 || static_cast<int16_t>(q.msn - msn) < 0) return;
  for (const Sending& s : q.flight)
    if (!s.sent && static_cast<int16_t>(msn - s.msn) > 0) return;  // of messages that were never sent
  if (more > 0) {
    q.confirmed = msn;
    q.progress = now_;
    q.retries = 0;
    for (const Sending& s : q.flight)
      if (static_cast<int16_t>(msn - s.msn) > 0 && ends_message(s.head.opcode)) reported(q, s.psn);
  }
  finish_work(q);
  if (syndrome != 0x1f && (syndrome & 0xe0) == 0x60) {
    return fail(q, syndrome == 0x61   ? MRC_CQE_REMOTE_INVALID
                   : syndrome == 0x62 ? MRC_CQE_REMOTE_ACCESS
                                      : MRC_CQE_REMOTE_OPERATION);
  }
  send(q);
}

/// Completes what is confirmed, in the order in which it was posted.
void Alien::finish_work(Qp& q) {
  while (!q.work.empty()) {
    const Work& w = q.work.front();
    if (!w.refused && static_cast<int16_t>(q.confirmed - w.msn) <= 0) break;
    if (!w.refused && w.post.immediate != 0) --q.immediates;
    out_completion(now_, q.number, w.post.wr_id, w.status);
    q.work.pop_front();
  }
  while (!q.flight.empty() && q.flight.front().here && static_cast<int16_t>(q.confirmed - q.flight.front().msn) > 0)
    q.flight.pop_front();
}

/// False: that was one too many.
bool Alien::retry(Qp& q) {
  ++q.retries;
  if (q.c.retry_exp >= 25 || q.retries <= q.c.retry_linear + q.c.retry_exp) return true;
  fail(q, MRC_CQE_RETRIES);
  return false;
}

void Alien::tick(Qp& q) {
  if (q.ticking) return;
  q.ticking = true;
  at(now_ + (Time{1'024'000} << std::min(q.c.timeout, 24u)) / 8, [this, number = q.number, life = q.life] {
    Qp& it = find(number);
    if (it.life != life) return;
    it.ticking = false;
    if (it.state != MRC_QP_RTS || it.flight.empty()) return;
    bool oldest = true, all_here = true;
    const Time wait = interval(it);
    Sending* newest = nullptr;
    for (Sending& s : it.flight) {
      if (!s.sent) continue;
      newest = &s;
      if (s.here) continue;
      all_here = false;
      const bool first = oldest;
      oldest = false;
      if (s.queued || now_ < std::max(s.last, it.progress) + wait) continue;
      if (first && !retry(it)) return;
      s.wanted = true;
    }
    if (all_here && newest != nullptr && !newest->queued && now_ >= std::max(newest->last, it.progress) + wait) {
      if (!retry(it)) return;
      newest->wanted = true;  // everything has arrived and a confirmation is missing
    }
    send(it);
    tick(it);
  });
}

void Alien::fail(Qp& q, uint32_t status) {
  if (q.state == MRC_QP_ERROR) return;
  q.state = MRC_QP_ERROR;
  q.flight.clear();
  for (const Work& w : q.work) {
    out_completion(now_, q.number, w.post.wr_id, status);
    status = MRC_CQE_FLUSHED;
  }
  q.work.clear();
}

}  // namespace alien
