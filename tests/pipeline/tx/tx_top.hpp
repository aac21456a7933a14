// SPDX-License-Identifier: Apache-2.0
/// The transmit blocks wired together as in the NIC, with a host memory and a peer around them.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include "gen/csr.hpp"
#include "pipeline/tx/inflight/tx_inflight.hpp"
#include "pipeline/tx/segment/tx_segment.hpp"
#include "pipeline/tx/tx_fetch.hpp"
#include "pipeline/tx/tx_header.hpp"
#include "pipeline/tx/tx_lane.hpp"
#include "pipeline/tx/tx_path.hpp"
#include "pipeline/tx/tx_probe.hpp"
#include "pipeline/tx/tx_sched.hpp"
#include "protocol/psn.hpp"
#include "tests/pipeline/block_bench.hpp"

namespace mrc::test {

using Bytes = std::vector<uint8_t>;

/// What host memory holds at an address.
inline uint8_t host_byte(uint64_t addr) { return static_cast<uint8_t>((addr * 0x9E3779B97F4A7C15ull) >> 56); }

struct TxTop {
  explicit TxTop(const Preset& p)
      : preset(p),
        wqe(2),
        grant(2),
        rdreq(p.num_planes),
        sched(p, push, park, resume, grant),
        segment(p, {wqe, grant, retx, upd, ans}, {pkt, push, park, req, ret, cqe, seg_qperr}),
        path(p, pkt, fb, pfb, path_out, rec, evev, bad),
        inflight(p, {rec, ctl, rans}, {retx, upd, fb, pres, ccev, rtxreq, okev, inf_qperr, stateq}),
        probes(p, {bad, pres, pans}, pfb, probe),
        header(p, path_out, ctlpkt, probe, eprq),
        fetch(p, pointers(rdreq)),
        frames(p.num_planes),
        partial(p.num_planes) {
    for (unsigned i = 0; i < p.num_planes; ++i) lanes.push_back(std::make_unique<TxLane>(p, i, rdreq[i]));
    port_up = (1u << p.num_planes) - 1;
    tready = port_up;
    csr.mac = 0x020000000001;
    csr.ip = 1;
  }

  static std::vector<Stream<Rdreq>*> pointers(std::vector<Stream<Rdreq>>& v) {
    std::vector<Stream<Rdreq>*> out;
    for (auto& s : v) out.push_back(&s);
    return out;
  }

  /// One clock cycle. reverse: the blocks step in the opposite order, which must not make a difference.
  void cycle() {
    const unsigned n = preset.num_planes;
    unsigned room = 0;
    for (unsigned p = 0; p < n; ++p) room |= unsigned{lanes[p]->lane_room()} << p;
    const Hdr& h = header.hdr().data();
    const bool hdr_ready = h.ctl ? lanes[h.plane]->hdr_ready_ctl() : lanes[h.plane]->hdr_ready_data();
    const bool hdr_taken = header.hdr().valid() && hdr_ready;

    // Host memory: requests come back after host_latency cycles, one per cycle.
    std::optional<Rdreq> answer;
    if (!requests.empty() && requests.front().first <= now) {
      answer = requests.front().second;
      requests.pop_front();
      for (unsigned i = 0; i < preset.host_bytes; ++i) {
        line[i] = i < answer->len ? host_byte(answer->addr + i) : uint8_t{0xEE};
      }
    }
    if (fetch.rdreq().valid() && host_ready) requests.emplace_back(now + host_latency, fetch.rdreq().data());

    // The wire.
    for (unsigned p = 0; p < n; ++p) {
      if (!lanes[p]->tvalid()) continue;
      beats += 1;
      if (!(tready >> p & 1)) continue;
      const unsigned keep = static_cast<unsigned>(std::popcount(lanes[p]->tkeep()));
      if (capture) partial[p].insert(partial[p].end(), lanes[p]->tdata(), lanes[p]->tdata() + keep);
      if (lanes[p]->tlast()) {
        ++frame_count;
        if (capture) {
          frames[p].push_back(std::move(partial[p]));
          partial[p].clear();
          if (on_frame) on_frame(p, frames[p].back());
        }
      }
    }
    // Host queues.
    take(evev, events);
    if (!wqes.empty() && wqe.ready()) {
      wqe.push(wqes.front());
      wqes.pop_front();
    }
    if (cqe.valid()) {
      cqes.push_back(cqe.head());
      cqe.pop();
    }
    if (!ctls.empty() && ctl.free()) {
      ctl.load(ctls.front());
      ctls.pop_front();
    }
    const auto drain = [](auto&... s) { ((s.has() ? s.pop() : void()), ...); };
    drain(okev, stateq, inf_qperr, seg_qperr);

    csr.tick = static_cast<uint32_t>(now / preset.tick_cycles);
    const auto step_block = [&](unsigned k) {
      switch (k) {
        case 0:
          sched.step(cfg);
          break;
        case 1:
          segment.step(cfg, csr, inflight.pulses().freed);
          break;
        case 2:
          path.step(cfg, csr, {room, port_up});
          break;
        case 3:
          inflight.step(cfg, csr, port_up, segment.sends(inflight.visit_qp()));
          break;
        case 4:
          header.step(cfg, csr, hdr_ready);
          break;
        case 5:
          fetch.step(host_ready);
          break;
        case 6:
          if (hdr_taken) lanes[h.plane]->push_hdr(h);
          break;
        case 7:
          probes.step(cfg, csr, port_up);
          break;
        default: {
          const unsigned p = k - 8;
          const bool rsp = answer && answer->plane == p;
          lanes[p]->step({.tready = (tready >> p & 1) != 0, .rsp_valid = rsp, .rsp = line.data()});
        }
      }
    };
    const unsigned blocks = 8 + n;
    for (unsigned k = 0; k < blocks; ++k) step_block(reverse ? blocks - 1 - k : k);

    skips += path.pulses().skip;
    probes_sent += probes.pulses().sent;
    revived += probes.pulses().revived;
    rtxs += inflight.pulses().rtx;
    rtos += inflight.pulses().rto;
    clock_all(sched, segment, path, inflight, probes, header, fetch);
    for (auto& l : lanes) {
      l->clock();
      tx_inc += l->tx_inc();
    }
    clock_all(wqe, grant, push, park, resume, req, ret, ans, rtxreq, rans, ccev, okev, inf_qperr, seg_qperr, retx, upd,
              fb, pfb, evev, bad, pres, stateq, probe, pkt, cqe, path_out, rec, ctl, ctlpkt);
    for (auto& s : rdreq) s.clock();
    ++now;
  }

  void run(unsigned cycles) {
    for (unsigned i = 0; i < cycles; ++i) cycle();
  }
  /// Runs until the condition holds; false after `limit` cycles.
  bool run_until(const std::function<bool()>& done, unsigned limit) {
    for (unsigned i = 0; i < limit; ++i) {
      if (done()) return true;
      cycle();
    }
    return done();
  }

  unsigned acks() const {
    return unsigned{sched.cfg_ack()} + segment.cfg_ack() + path.cfg_ack() + inflight.cfg_ack() + header.cfg_ack() +
           probes.cfg_ack();
  }
  void write_table(CfgTable table, unsigned index, const uint32_t* data, unsigned words) {
    cfg.table = static_cast<uint8_t>(table);
    cfg.index = static_cast<QpIndex>(index);
    cfg.data.fill(0);
    std::copy(data, data + words, cfg.data.begin());
    cfg.req = true;
    if (!run_until([&] { return acks() == 6; }, 10000)) throw std::runtime_error("no cfg ack");
    cfg.req = false;
    if (!run_until([&] { return acks() == 0; }, 10)) throw std::runtime_error("cfg ack stays");
  }
  static csr::TblQpCtx default_ctx(unsigned qp) {
    csr::TblQpCtx c;
    c.state = QpState::Rts;
    c.mtu = 2;
    c.mpr = 1;
    c.dqpn = 0x100 + qp;
    c.pkey = 0xffff;
    c.sq_psn = 0xffff00 + 3 * qp;
    c.msn = 0;
    c.max_wimm = 32;
    c.timeout = 7;
    c.retry_linear = 7;
    c.retry_exp = 25;
    c.dmac = 0x020000000002;
    c.dip = 2;
    return c;
  }
  void write_ctx(unsigned qp, const csr::TblQpCtx& c) {
    uint32_t w[16];
    c.pack(w);
    write_table(CfgTable::QpCtx, qp, w, 16);
  }
  /// EVs of a profile: entropy 0xC0000000 | profile << 16 | index.
  void write_evs(unsigned profile) {
    for (unsigned i = 0; i < preset.evs_per_qp; ++i) {
      const uint32_t ev = entropy(profile, i);
      write_table(CfgTable::Ev, profile * preset.evs_per_qp + i, &ev, 1);
    }
  }
  static uint32_t entropy(unsigned profile, unsigned index) { return 0xC0000000u | profile << 16 | index; }

  const Preset preset;
  CfgBus cfg;
  CsrOut csr;
  Fifo<Wqe> wqe;
  Fifo<Grant> grant;
  Stream<Sched> push;
  Stream<Grant> park;
  Stream<Ccresume> resume;
  Stream<Ccreq> req, rtxreq;
  Stream<Ccret> ret;
  Stream<Ccans> ans, rans;
  Stream<Ccev> ccev;
  Stream<Okev> okev;
  Stream<Qperr> inf_qperr, seg_qperr;
  Stream<Retx> retx;
  Stream<Upd> upd;
  Stream<Fb> fb, pfb;
  Stream<Evev> evev;
  Stream<Badev> bad;
  Stream<Pres> pres;
  Stream<Pans> pans;  // nothing answers EV probes here
  Stream<Stateq> stateq;
  Stream<Ctlpkt> probe;
  Stream<Pkt> pkt;
  Fifo<Cqe> cqe{2};
  Stream<Path> path_out;
  Stream<Rec> rec;
  Stream<Ctl> ctl;
  Stream<Ctlpkt> ctlpkt, eprq;
  std::vector<Stream<Rdreq>> rdreq;

  TxSched sched;
  TxSegment segment;
  TxPath path;
  TxInflight inflight;
  TxProbe probes;
  TxHeader header;
  TxFetch fetch;
  std::vector<std::unique_ptr<TxLane>> lanes;

  // Surroundings.
  unsigned port_up = 0, tready = 0, host_latency = 20;
  bool host_ready = true, reverse = false, capture = true;
  uint64_t now = 0, beats = 0, frame_count = 0, tx_inc = 0, skips = 0, rtxs = 0, rtos = 0, probes_sent = 0, revived = 0;
  std::deque<Wqe> wqes;
  std::vector<Cqe> cqes;
  std::vector<Evev> events;
  std::deque<Ctl> ctls;
  std::deque<std::pair<uint64_t, Rdreq>> requests;
  std::array<uint8_t, kMaxLineBytes> line{};
  std::vector<std::vector<Bytes>> frames;
  std::vector<Bytes> partial;
  std::function<void(unsigned plane, const Bytes&)> on_frame;
};

}  // namespace mrc::test
