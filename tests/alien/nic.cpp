// SPDX-License-Identifier: Apache-2.0
/// The alien: what software calls, ports.
#include "alien.hpp"

namespace alien {

void Alien::qp(mrc_nic_qp_t& c) {
  if (c.qp < kFirstQp || c.qp >= kFirstQp + kQps) throw Refused("there is no queue pair " + std::to_string(c.qp) + ".");
  if (c.encap != MRC_IPV6) throw Refused("this NIC sends IPv6 without more.", true);
  if (c.dynamic_mpr || c.svc_time || c.time_stamps || c.controlled)
    throw Refused("this NIC has no dynamic MPR, service time, time stamps or controllers.", true);
  Qp& q = qps_[c.qp];
  q.number = c.qp;
  if (c.state == MRC_QP_RESET) {
    q = Qp{};
    q.number = c.qp;
    q.life = ++life_;
    return;
  }
  if (c.state == MRC_QP_ERROR) {
    q.naks = false;
    return fail(q, MRC_CQE_FLUSHED);
  }
  const bool begins = q.state == MRC_QP_RESET || q.state == MRC_QP_INIT;
  c.mpr = c.mpr_dest = kSpan / 128;
  q.c = c;
  q.state = c.state;
  if (!begins || c.state == MRC_QP_INIT) return;
  q.life = ++life_;
  q.psn = c.sq_psn & kPsn;
  q.cack = (c.sq_psn - 1) & kPsn;
  q.msn = q.confirmed = q.expected = static_cast<uint16_t>(c.msn);
  q.rqmsn = static_cast<uint16_t>(c.rqmsn);
  q.progress = now_;
  q.seen_cack = (c.rq_psn - 1) & kPsn;
  window(1, q, c.rq_psn);
  q.evs.clear();
  if (c.num_evs == 0) {
    c.num_evs = std::min(16u, c.evs_room);
    for (uint32_t i = 0; i < c.num_evs; ++i) c.evs[i] = random();
  }
  c.backup = 0;
  q.c.num_evs = c.num_evs;
  for (uint32_t i = 0; i < c.num_evs; ++i) q.evs.push_back({c.evs[i], false});
}

bool Alien::post(const mrc_nic_post_t& request) {
  Qp& q = find(request.qp);
  if (q.work.size() >= 32) return false;
  Work w;
  w.post = request;
  if (request.bytes == 0) {
    w.refused = true;
    w.status = MRC_CQE_LOCAL_LENGTH;
  } else if (request.immediate != 0 && q.immediates >= q.c.max_wimm) {
    w.refused = true;
    w.status = MRC_CQE_WIMM_OVERRUN;
  } else if (request.immediate != 0) {
    ++q.immediates;
  }
  if (q.state != MRC_QP_RTS) {
    w.refused = true;
    w.status = MRC_CQE_FLUSHED;
  }
  if (!w.refused) {
    w.msn = q.msn++;
    w.rqmsn = q.rqmsn;
    if (request.immediate != 0) ++q.rqmsn;
  }
  q.work.push_back(w);
  at(now_, [this, number = q.number] {
    Qp& it = find(number);
    finish_work(it);
    send(it);
  });
  return true;
}

void Alien::serve(unsigned plane) {
  Port& port = ports_[plane];
  if (port.busy || !port.up) return;
  Queued next;
  while (next.frame.empty()) {
    std::deque<Queued>& from = port.control.empty() ? port.data : port.control;
    if (from.empty()) return;
    next = std::move(from.front());
    from.pop_front();
    if (!next.data) continue;
    Qp& q = find(next.qp);
    if (q.life != next.life || q.state != MRC_QP_RTS) {
      next.frame.clear();
      continue;
    }
    for (Sending& s : q.flight) {
      if (s.psn != next.psn) continue;
      s.queued = false;
      s.last = now_ + wire_time(next.frame.size());
      s.order = ++order_;
    }
  }
  port.busy = true;
  const Time last = now_ + wire_time(next.frame.size());
  const bool data = next.data;
  const uint32_t number = next.qp;
  out_frame(plane, now_, last, std::move(next.frame));
  at(last + kGap, [this, plane, data, number] {
    ports_[plane].busy = false;
    if (data) send(find(number));
    for (auto& [n, q] : qps_)
      if (data && n != number) send(q);
    serve(plane);
  });
}

void Alien::carrier(unsigned plane, bool up) {
  Port& port = ports_[plane];
  if (port.up == up) return;
  port.up = up;
  if (!up) {
    std::deque<Queued> lost;
    lost.swap(port.control);
    for (Queued& frame : port.data)  // sent and lost, as far as its owner knows
      for (auto& [n, q] : qps_)
        for (Sending& s : q.flight)
          if (n == frame.qp && s.psn == frame.psn && q.life == frame.life) {
            s.queued = false;
            s.last = now_;
          }
    port.data.clear();
    for (Queued& frame : lost) control(plane, std::move(frame.frame));
  }
  update();
  serve(plane);
  resume();
}

void Alien::update() {
  reported_ = false;
  ++request_;
  repeat_update(++round_);
}

void Alien::repeat_update(uint64_t round) {
  if (reported_ || round != round_) return;
  uint32_t mask = 0;
  for (unsigned i = 0; i < kPlanes; ++i) mask |= ports_[i].up ? 2u << i : 0u;
  Bytes body(16);
  set(body, 4, mask, 4);
  set(body, 12, now_ / 128'000 & 0xffff, 2);
  set(body, 14, 1, 2);
  for (auto& [n, q] : qps_) {
    if ((q.state != MRC_QP_RTR && q.state != MRC_QP_RTS) || (!usable(0) && !usable(1))) continue;
    Head h;
    h.opcode = kQuery;
    h.qp = 2;
    h.psn = request_;
    control(static_cast<unsigned>(order_++ % kPlanes), build(route(q, q.evs.front().value), h, kData, 2, body));
    break;  // all have the same peer
  }
  at(now_ + kRepeat, [this, round] { repeat_update(round); });
}

}  // namespace alien

namespace shell {
std::unique_ptr<Nic> make_nic(uint32_t planes, uint64_t seed) {
  if (planes != 0 && planes != alien::kPlanes) throw Refused("this NIC has 2 ports.", true);
  return std::make_unique<alien::Alien>(seed);
}
}  // namespace shell
