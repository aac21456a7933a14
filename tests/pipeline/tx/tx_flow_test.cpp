// SPDX-License-Identifier: Apache-2.0
/// tx_sched, tx_segment and tx_inflight in a loop with a controller and a peer: whatever the network does, the flight
/// of every controller comes out at zero, and every work request completes once.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "gen/csr.hpp"
#include "pipeline/tx/inflight/tx_inflight.hpp"
#include "pipeline/tx/segment/tx_segment.hpp"
#include "pipeline/tx/tx_sched.hpp"
#include "protocol/psn.hpp"

namespace mrc::test::tx_flow_test {
namespace {

/// What the network does to a packet or its answer, in percent.
struct Weather {
  unsigned loss = 0, trim = 0, sack_loss = 0, ack_loss = 0;
  unsigned stray = 0;  ///< NACK of a packet that arrives all the same
  unsigned stall = 0;  ///< of the ports
  unsigned jitter = 1;
};

/// One destination's controller, as simple as can be: bytes in flight against a window that moves at random.
struct Controller {
  int64_t infl = 0;  ///< may not become negative: nobody gives back more than was asked for
  int64_t window = 3000;
  bool wants = false;
};

struct Flow {
  static constexpr unsigned kQps = 4;

  Preset preset = *find_preset("tiny");
  Fifo<Wqe> wqe{2};
  Fifo<Grant> grant{2};
  Stream<Sched> push;
  Stream<Grant> park;
  Stream<Ccresume> resume;
  Stream<Ccreq> req, rtxreq;
  Stream<Ccret> ret;
  Stream<Ccans> ans, rans;
  Stream<Pkt> pkt;
  Fifo<Cqe> cqe{2};
  Stream<Rec> rec;
  Stream<Ctl> ctl;
  Stream<Retx> retx;
  Stream<Upd> upd;
  Stream<Fb> fb;
  Stream<Pres> pres;
  Stream<Stateq> stateq;
  Stream<Ccev> ccev;
  Stream<Okev> okev;
  Stream<Qperr> qperr_i, qperr_s;
  TxSched sched{preset, push, park, resume, grant};
  TxSegment segment{preset, {wqe, grant, retx, upd, ans}, {pkt, push, park, req, ret, cqe, qperr_s}};
  TxInflight inflight{preset, {rec, ctl, rans}, {retx, upd, fb, pres, ccev, rtxreq, okev, qperr_i, stateq}};
  CfgBus cfg;
  CsrOut csr;
  std::mt19937 rng;
  Weather weather;
  uint64_t now = 0;

  std::array<Controller, 4> controllers;
  std::deque<Rec> path;
  bool stall = false;                                      // the ports take nothing
  std::multimap<uint64_t, std::pair<Pkt, unsigned>> wire;  // arrival, and the QP's life it belongs to
  std::multimap<uint64_t, std::pair<Ctl, unsigned>> back;

  /// A QP's peer.
  struct Peer {
    uint32_t cack = 0;  // next expected
    uint16_t msn = 0;
    uint64_t bytes = 0;
    uint32_t done_psn = 0;
    std::map<uint32_t, bool> above;  // received, and whether it is a message's last
  };
  std::array<Peer, kQps> peers;
  std::array<unsigned, kQps> life{};
  std::array<std::set<uint32_t>, kQps> open;  // work requests that have not completed
  std::set<uint32_t> forgotten;               // of QPs that were reset
  std::deque<Wqe> wqes;
  uint32_t posted = 0;
  unsigned wrong_cqes = 0, bad_status = 0, failed = 0, voided = 0, refused = 0;
  std::set<QpIndex> to_error;  // QPs that csr has to put into Error

  explicit Flow(uint32_t seed) : rng(seed) {
    csr.reorder = 8;
    for (QpIndex q = 0; q < kQps; ++q) connect(q);
  }
  unsigned below(unsigned n) { return static_cast<unsigned>(rng() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }
  /// QPs 0, 1, 2 share a controller.
  static uint8_t dest_of(unsigned q) { return q == 3 ? 2 : 1; }

  void table(CfgTable t, unsigned index) {
    cfg.table = static_cast<uint8_t>(t);
    cfg.index = static_cast<QpIndex>(index);
    cfg.req = true;
    unsigned limit = 100000;
    while (!(sched.cfg_ack() && segment.cfg_ack() && inflight.cfg_ack())) {
      REQUIRE(--limit != 0);
      cycle();
    }
    cfg.req = false;
    run(2);
  }
  void connect(QpIndex q) {
    csr::TblQpCtx r;
    r.state = QpState::Rts;
    r.mpr = 1;
    r.cc = true;
    r.ts = q & 1u;
    r.dest = dest_of(q);
    r.max_wimm = 32;
    r.retry_linear = 7;
    r.retry_exp = 25;
    r.sq_psn = rng() & kPsnMask;
    r.msn = static_cast<uint16_t>(rng());
    ++life[q];
    peers[q] = Peer{};
    peers[q].cack = r.sq_psn;
    peers[q].msn = r.msn;
    r.pack(cfg.data.data());
    table(CfgTable::QpCtx, q);
  }
  void set_state(unsigned q, QpState s) {
    cfg.data.fill(0);
    cfg.data[0] = static_cast<uint32_t>(s);
    table(CfgTable::QpState, q);
  }
  void post(QpIndex q) {
    Wqe w{};
    w.qp = q;
    w.imm_valid = chance(20);
    w.wr_id = posted++;
    w.length = chance(10) ? 0 : chance(50) ? 1 + below(400) : 1 + below(6000);
    open[q].insert(w.wr_id);
    wqes.push_back(w);
  }

  void control() {
    if (ccev.has()) {
      const Ccev& e = ccev.head();
      Controller& c = controllers.at(e.cc);
      c.infl -= e.bytes;
      REQUIRE(c.infl >= 0);
      ccev.pop();
    }
    // The first packet, if there is any room; of a burst what fits beyond it.
    const auto may = [&](const Ccreq& a) {
      Controller& c = controllers.at(a.cc);
      const int64_t room = c.window - c.infl;
      const int64_t bytes = room <= 0 ? 0 : std::clamp<int64_t>(room, a.min, a.bytes);
      c.infl += bytes;
      refused += bytes == 0;
      return static_cast<uint16_t>(bytes);
    };
    if (ret.has()) {
      Controller& c = controllers.at(ret.head().cc);
      c.infl -= ret.head().bytes;
      REQUIRE(c.infl >= 0);
      ret.pop();
    } else if (rtxreq.has() && rans.free()) {
      const Ccreq a = rtxreq.head();
      rans.load({.cc = a.cc, .bytes = may(a), .last = false});
      rtxreq.pop();
    } else if (req.has() && ans.free()) {
      const Ccreq a = req.head();
      Controller& c = controllers.at(a.cc);
      const uint16_t bytes = may(a);
      c.wants = bytes == 0;
      ans.load({.cc = a.cc, .bytes = bytes, .last = bytes != 0 && c.infl >= c.window});
      req.pop();
    }
    if (now % 500 == 0) {
      for (Controller& c : controllers) c.window = 300 + below(20000);
    }
    Controller& c = controllers[now % 4];
    if (c.wants && c.infl < c.window && resume.free()) {
      resume.load({.cc = static_cast<uint16_t>(now % 4)});
      c.wants = false;
    }
  }
  void send() {
    if (now % 256 == 0) stall = chance(weather.stall);
    if (pkt.has() && path.size() < 4 && !stall) {
      const Pkt& p = pkt.head();
      voided += p.voided;
      path.push_back({.qp = p.qp,
                      .psn = p.psn,
                      .msn = p.msn,
                      .row = p.row,
                      .idx = p.idx,
                      .ev_idx = static_cast<uint16_t>(below(16)),
                      .rtx = p.rtx,
                      .last = p.last,
                      .size = p.size,
                      .voided = p.voided});
      if (!p.voided && !chance(weather.loss)) wire.emplace(now + 100 + below(weather.jitter), std::pair{p, life[p.qp]});
      pkt.pop();
    }
    if (!path.empty() && rec.free()) {
      rec.load(path.front());
      path.pop_front();
    }
  }
  void answer(const Ctl& c) { back.emplace(now + 50 + below(weather.jitter), std::pair{c, life[c.qp]}); }
  void arrive(const Pkt& p) {
    Peer& peer = peers[p.qp];
    Ctl c{.qp = p.qp, .psn = p.psn, .ts = 0};
    const bool trim = chance(weather.trim);
    if (trim || chance(weather.stray)) {
      c.kind = CtlKind::Nack;
      constexpr uint8_t reasons[] = {1, 2, 0x07};
      c.reason = reasons[below(3)];
      answer(c);
      if (trim) return;
    }
    bool ack = psn_before(p.psn, peer.cack);
    if (!ack && peer.above.emplace(p.psn, p.last).second) peer.bytes += p.size;
    for (auto it = peer.above.find(peer.cack); it != peer.above.end(); it = peer.above.find(peer.cack)) {
      if (it->second) {
        ++peer.msn;
        ack = true;
      }
      peer.above.erase(it);
      peer.cack = psn_add(peer.cack, 1);
    }
    c.kind = CtlKind::Sack;
    c.cack = psn_add(peer.cack, -1);
    c.base = peer.cack;
    for (const auto& [psn, last] : peer.above) {
      if (psn_dist(psn, c.base) < 64) c.bitmap |= uint64_t{1} << psn_dist(psn, c.base);
    }
    c.ooo = static_cast<uint16_t>(peer.above.size());
    c.m = chance(10) ? 1 : 0;
    c.rcvd = static_cast<uint32_t>((peer.bytes + 255) / 256) & 0xff'ffffu;
    if (!chance(weather.sack_loss)) answer(c);
    if (ack && !chance(weather.ack_loss)) {
      Ctl a{.kind = CtlKind::Ack, .qp = p.qp, .psn = c.cack, .reason = 0x1f, .msn = peer.msn};
      answer(a);
    }
  }
  void network() {
    while (!wire.empty() && wire.begin()->first <= now) {
      const auto [p, born] = wire.begin()->second;
      wire.erase(wire.begin());
      if (born == life[p.qp]) arrive(p);
    }
    if (!back.empty() && back.begin()->first <= now && ctl.free()) {
      const auto [c, born] = back.begin()->second;
      back.erase(back.begin());
      if (born == life[c.qp]) ctl.load(c);
    }
  }
  void host() {
    if (!wqes.empty() && wqe.ready()) {
      wqe.push(wqes.front());
      wqes.pop_front();
    }
    if (cqe.valid()) {
      const Cqe c = cqe.head();
      cqe.pop();
      wrong_cqes += open[c.qp].erase(c.wr_id) + forgotten.erase(c.wr_id) != 1;
      bad_status += c.status != CqStatus::Ok;
    }
    if (qperr_i.has()) {
      to_error.insert(qperr_i.head().qp);
      ++failed;
      qperr_i.pop();
    }
    const auto drain = [](auto&... s) { ((s.has() ? s.pop() : void()), ...); };
    drain(fb, pres, stateq, okev);
  }
  void cycle() {
    control();
    send();
    network();
    host();
    csr.tick = static_cast<uint32_t>(now / preset.tick_cycles);
    sched.step(cfg);
    segment.step(cfg, csr, inflight.pulses().freed);
    inflight.step(cfg, csr, 3, segment.sends(inflight.visit_qp()));
    sched.clock();
    segment.clock();
    inflight.clock();
    const auto clock = [](auto&... s) { (s.clock(), ...); };
    clock(wqe, grant, push, park, resume, req, rtxreq, ret, ans, rans, pkt, cqe, rec, ctl, retx, upd, fb, pres, stateq,
          ccev, okev, qperr_i);
    ++now;
  }
  void run(unsigned n) {
    for (unsigned i = 0; i < n; ++i) cycle();
  }
  bool finish(unsigned limit) {
    const auto done = [&] { return std::all_of(open.begin(), open.end(), [](const auto& o) { return o.empty(); }); };
    for (unsigned i = 0; i < limit && !done(); ++i) cycle();
    return done();
  }
  /// Work requests of QPs that are reset are forgotten by the NIC.
  void reset(QpIndex q) {
    set_state(q, QpState::Reset);
    forgotten.insert(open[q].begin(), open[q].end());
    open[q].clear();
    ++life[q];  // what is under way does not arrive
    run(2000);  // what is inside leaves
  }
};

constexpr Weather kWeathers[] = {
    {},
    {.loss = 5, .jitter = 40},
    {.trim = 10, .jitter = 40},
    {.loss = 3, .trim = 3, .sack_loss = 30, .ack_loss = 30, .jitter = 1},
    {.stray = 20, .stall = 50, .jitter = 100},
    {.loss = 10, .trim = 10, .sack_loss = 20, .ack_loss = 20, .stray = 10, .stall = 20, .jitter = 300},
};

}  // namespace

TEST_CASE("whatever the network does, the flight of every controller comes out at zero",
          "[pipeline][tx_flow][cc][property]") {
  unsigned voided = 0, refused = 0;
  for (uint32_t seed = 0; seed < 24; ++seed) {
    Flow f(seed);
    f.weather = kWeathers[seed % std::size(kWeathers)];
    f.csr.same_ev = seed / 6 % 2 == 0;
    f.csr.nominal = static_cast<Nominal>(seed / 12 % 3);
    CAPTURE(seed);
    for (unsigned i = 0; i < 80; ++i) f.post(static_cast<QpIndex>(f.below(Flow::kQps)));
    REQUIRE(f.finish(3'000'000));
    f.run(20000);  // dozens of timer intervals
    for (const Controller& c : f.controllers) CHECK(c.infl == 0);
    CHECK(f.wrong_cqes == 0);
    CHECK(f.bad_status == 0);
    CHECK(f.failed == 0);
    voided += f.voided;
    refused += f.refused;
  }
  CHECK(voided > 0);
  CHECK(refused > 500);
}

TEST_CASE("QPs that fail or are reset at any time give back exactly what they had",
          "[pipeline][tx_flow][cc][property]") {
  unsigned failed = 0;
  for (uint32_t seed = 100; seed < 124; ++seed) {
    Flow f(seed);
    f.weather = kWeathers[seed % std::size(kWeathers)];
    CAPTURE(seed);
    for (unsigned round = 0; round < 12; ++round) {
      for (unsigned i = 0; i < 8; ++i) f.post(static_cast<QpIndex>(f.below(Flow::kQps)));
      f.run(500 + f.below(4000));
      const auto q = static_cast<QpIndex>(f.below(Flow::kQps));
      Ctl end{.qp = q};
      switch (f.below(4)) {
        case 0:  // the peer refuses
          end.kind = CtlKind::Ack;
          end.reason = 0x62;
          end.msn = f.peers[q].msn;
          f.answer(end);
          break;
        case 1:  // the peer is in Error
          end.kind = CtlKind::Nack;
          end.reason = 0x19;
          f.answer(end);
          break;
        case 2:
          f.set_state(q, QpState::Error);
          break;
        default:
          break;
      }
      f.run(f.below(300));
      for (const QpIndex e : std::exchange(f.to_error, {})) f.set_state(e, QpState::Error);
      f.run(f.below(300));
      if (f.chance(20)) f.run(3000);
      f.reset(q);
      f.connect(q);
    }
    REQUIRE(f.finish(3'000'000));
    f.run(20000);
    for (const Controller& c : f.controllers) CHECK(c.infl == 0);
    CHECK(f.wrong_cqes == 0);
    failed += f.failed;
  }
  CHECK(failed > 50);
}

TEST_CASE("reset one after the other, QPs leave nothing in flight", "[pipeline][tx_flow][cc][property]") {
  for (uint32_t seed = 200; seed < 224; ++seed) {
    Flow f(seed);
    f.weather = kWeathers[seed % std::size(kWeathers)];
    CAPTURE(seed);
    for (unsigned i = 0; i < 60; ++i) f.post(static_cast<QpIndex>(f.below(Flow::kQps)));
    f.run(200 + f.below(10000));
    for (QpIndex q = 0; q < Flow::kQps; ++q) f.reset(q);
    for (const Controller& c : f.controllers) CHECK(c.infl == 0);
  }
}

}  // namespace mrc::test::tx_flow_test
