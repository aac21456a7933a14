// SPDX-License-Identifier: Apache-2.0
/// The bench of tx_path.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "gen/csr.hpp"
#include "pipeline/tx/tx_path.hpp"
#include "tests/pipeline/block_bench.hpp"

namespace mrc::test::tx_path {

/// tx_path alone, its outputs taken unless a test says otherwise. tiny: 2 planes, 16 EVs, so 8 groups. QP 2 leads to
/// destination 3.
struct Bench : BlockBench<Bench> {
  Preset preset;
  Stream<Pkt> pkt;
  Stream<Fb> fb, pfb;
  Stream<Path> out;
  Stream<Rec> rec;
  Stream<Evev> evev;
  Stream<Badev> bad_out;
  TxPath path{preset, pkt, fb, pfb, out, rec, evev, bad_out};
  CsrOut csr;
  bool take_events = true, take_paths = true, take_recs = true;
  unsigned room, up;
  unsigned skips = 0, bads = 0, floors = 0, nopaths = 0;
  std::vector<Path> got;
  std::vector<Rec> recs;
  std::vector<Evev> events;
  std::vector<Badev> bad;
  std::vector<unsigned> at;      // cycle in which the path register became valid
  std::vector<unsigned> rec_at;  // and the rec register

  explicit Bench(unsigned backup = 0, const char* name = "tiny") : Bench(*find_preset(name), backup) {}
  explicit Bench(const Preset& p, unsigned backup = 0) : preset(p) {
    room = up = (1u << preset.num_planes) - 1;
    for (unsigned i = 0; i < 2 * preset.evs_per_qp; ++i) configure(CfgTable::Ev, i, {0xA000 + i});
    set_up(2, 3, backup);
  }
  void set_up(unsigned qp, unsigned dest, unsigned backup = 0) {
    csr::TblQpCtx row{.dest = static_cast<uint16_t>(dest), .profile = 1, .backup = static_cast<uint8_t>(backup & 31)};
    configure(CfgTable::QpCtx, qp, row);
  }
  /// Returns the cycles until the acknowledgement.
  unsigned deny(unsigned ev_idx, bool on = true, unsigned qp = 2) {
    return configure(CfgTable::EvState, qp, {ev_idx | (on ? 1u << 16 : 0u)});
  }
  void deny_all(bool on = true) {
    for (unsigned i = 0; i < preset.evs_per_qp; ++i) deny(i, on);
  }
  void peer_ports(unsigned dest, unsigned mask) { configure(CfgTable::PeerPorts, dest, {mask}); }
  bool cfg_ack() const { return path.cfg_ack(); }
  void cycle() {
    if (out.has() && take_paths) out.pop();
    take(rec, recs, take_recs);
    take(evev, events, take_events);
    take(bad_out, bad);
    const bool path_stays = out.valid() && !out.ready(), rec_stays = rec.valid() && !rec.ready();
    path.step(cfg, csr, {room, up});
    clock_all(path, pkt, fb, pfb, evev, bad_out, out, rec);
    skips += path.pulses().skip;
    bads += path.pulses().bad;
    floors += path.pulses().floor;
    nopaths += path.pulses().nopath;
    ++cycles;
    if (out.valid() && !path_stays) {
      got.push_back(out.data());
      at.push_back(cycles);
    }
    if (rec.valid() && !rec_stays) rec_at.push_back(cycles);
  }
  void send(bool rtx = false, uint16_t avoid = 0, unsigned qp = 2) {
    Pkt p{.qp = static_cast<QpIndex>(qp), .rtx = rtx, .avoid_ev = avoid};
    pkt.load(p);
  }
  unsigned send_one(bool rtx = false, uint16_t avoid = 0) {
    const std::size_t n = got.size();
    send(rtx, avoid);
    for (int i = 0; i < 200 && got.size() == n; ++i) cycle();
    REQUIRE(got.size() == n + 1);
    return got.back().ev_idx;
  }
  /// Packets, one right behind the other; until the last record is out.
  void stream(const std::vector<Pkt>& pkts) {
    const std::size_t want = recs.size() + pkts.size();
    std::size_t next = 0;
    for (std::size_t i = 0; i < 100 * pkts.size() + 100 && recs.size() < want; ++i) {
      if (next < pkts.size() && pkt.free()) pkt.load(pkts[next++]);
      cycle();
    }
    REQUIRE(recs.size() == want);
  }
  /// Runs with a packet waiting in each cycle.
  void busy(unsigned n, unsigned qp = 2) {
    for (unsigned i = 0; i < n; ++i) {
      if (pkt.free()) send(false, 0, qp);
      cycle();
    }
  }
  /// Cycles between one packet and the next, from record `from` on.
  std::vector<unsigned> gaps(std::size_t from = 0) const {
    std::vector<unsigned> g;
    for (std::size_t i = from + 1; i < rec_at.size(); ++i) g.push_back(rec_at[i] - rec_at[i - 1]);
    return g;
  }
  /// A packet that finds no path: its record. Returns the cycles from the queue to the record.
  unsigned no_path(Pkt p = {}) {
    for (int i = 0; i < 5; ++i) cycle();
    p.qp = 2;
    const std::size_t n = recs.size(), paths = got.size();
    pkt.load(p);
    unsigned took = 0;
    for (; took < 200 && recs.size() == n; ++took) cycle();
    REQUIRE(recs.size() == n + 1);
    CHECK(got.size() == paths);
    CHECK(recs.back().ev_idx == 0xffff);
    return took;
  }
  void feed_back(uint16_t ev_idx, uint32_t entropy, FbKind kind = FbKind::SkipOnce) {
    fb.load({.qp = 2, .ev_idx = ev_idx, .entropy = entropy, .kind = kind});
    for (int i = 0; i < 5; ++i) cycle();
  }
  /// A packet was lost on the EV. Returns the cycles until the event register is valid.
  unsigned lose(uint16_t ev_idx) {
    fb.load({.qp = 2, .ev_idx = ev_idx, .entropy = 0, .kind = FbKind::Loss});
    return settle();
  }
  /// Probes revived the EV.
  unsigned revive(uint16_t ev_idx, bool skip = false) {
    pfb.load({.qp = 2, .ev_idx = ev_idx, .entropy = 0, .kind = skip ? FbKind::RevivedSkip : FbKind::RevivedGood});
    return settle();
  }
  unsigned settle() {
    unsigned until = 0;
    for (unsigned i = 1; i <= 30; ++i) {
      cycle();
      if (until == 0 && evev.valid()) until = i;
    }
    return until;
  }
  /// EVs of one pass of n packets, all different.
  std::set<unsigned> pass(unsigned n) {
    std::set<unsigned> evs;
    for (unsigned i = 0; i < n; ++i) evs.insert(send_one());
    CHECK(evs.size() == n);
    return evs;
  }
};

using Evs = std::set<unsigned>;
using Gaps = std::vector<unsigned>;

inline Pkt packet(unsigned qp) {
  Pkt p{.qp = static_cast<QpIndex>(qp)};
  return p;
}

/// EV of the n-th packet of a QP whose EVs are all GOOD: its place in the pass, under the key of the pass.
inline unsigned nth_ev(unsigned evs, unsigned qp, unsigned n) {
  unsigned key = 0xACE1u ^ qp;
  for (unsigned pass = 0; pass < n / evs; ++pass) key = key & 1 ? key >> 1 ^ 0xB400u : key >> 1;
  return (n ^ key) % evs;
}

/// The one gap of a stream of packets of QP 2 that something opens; all the others are one cycle.
inline unsigned hole(Bench& b, const std::function<void()>& something) {
  b.busy(20);
  const std::size_t from = b.rec_at.size() - 1;
  something();
  b.busy(60);
  unsigned found = 0;
  for (const unsigned g : b.gaps(from)) {
    if (g == 1) continue;
    CHECK(found == 0);
    found = g;
  }
  return found;
}

}  // namespace mrc::test::tx_path
