// SPDX-License-Identifier: Apache-2.0
/// The bench of rx_track.
#pragma once

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "gen/csr.hpp"
#include "pipeline/rx/track/rx_track.hpp"
#include "tests/pipeline/block_bench.hpp"

namespace mrc::test::rx_track {

/// rx_track alone; everything it sends is collected.
struct Track : BlockBench<Track> {
  using BlockBench::configure;

  explicit Track(const char* name = "tiny")
      : preset(*find_preset(name)),
        verdict(preset.num_planes, preset.lane_fifo),
        track(preset, rxpkt, verdict, resp, ackev, ord, qperr, came) {}

  void cycle() {
    track.step(cfg, csr, {.imm_ok = imm_ok, .hold_ok = hold_ok, .over = over, .share = share, .fat = fat});
    for (unsigned p = 0; p < preset.num_planes; ++p) {
      if (take_verdict && verdict.lane(p).valid()) {
        verdicts.push_back(verdict.lane(p).head());
        verdict_at.push_back(now);
        verdict.lane(p).pop();
      }
    }
    if (take(resp, resps, take_resp)) resp_at.push_back(now);
    if (take(ackev, acks, take_ackev)) ack_at.push_back(now);
    take(ord, ords, take_ord);
    take(came, cames, take_came);
    take(qperr, qperrs, take_qperr);
    clock_all(rxpkt, verdict, resp, ackev, ord, qperr, came, track);
    ++now;
    dup += track.pulses().dup;
    oor += track.pulses().oor;
    trim += track.pulses().trim;
    nores += track.pulses().nores;
  }
  /// QP index qp; first PSN expected, MSN 0x20, TRIM_NACK, static MPR. Returns the cycles until the acknowledgement.
  unsigned configure(unsigned qp, uint32_t rq_psn, unsigned mpr_dest = 1) {
    return configure(CfgTable::QpCtx, qp, context(rq_psn, mpr_dest));
  }
  static csr::TblQpCtx context(uint32_t rq_psn, unsigned mpr_dest) {
    csr::TblQpCtx row;
    row.state = QpState::Rtr;
    row.rq_psn = rq_psn;
    row.mpr = 7;  // the requestor's
    row.mpr_dest = static_cast<uint8_t>(mpr_dest);
    row.trim_nack = true;
    row.msn = 0x20;
    return row;
  }
  unsigned set_mpr(unsigned qp, unsigned mpr) {
    csr::TblQpMpr row{.mpr = static_cast<uint8_t>(mpr)};
    return configure(CfgTable::QpMpr, qp, row);
  }
  bool cfg_ack() const { return track.cfg_ack(); }
  static Rxpkt packet(uint32_t psn, unsigned plen = 1000) {
    Rxpkt p;
    p.qp = 1;
    p.plane = 1;
    p.buf_valid = true;
    p.psn = psn;
    p.plen = static_cast<uint16_t>(plen);
    p.size = p.plen;  // what rcvd_bytes counts
    p.haddr = 0x1000 + psn;
    p.entropy = 0xe0000000 + psn;
    p.ts = static_cast<uint16_t>(psn + 1);
    p.tsv = true;
    p.at = static_cast<uint16_t>(psn + 2);
    p.dmalen = 5000;
    return p;
  }
  void send(const Rxpkt& p) {
    clear();
    rxpkt.load(p);
    run(24);
  }
  /// As fast as they are taken; then until all is quiet.
  void stream(const std::vector<Rxpkt>& packets) {
    clear();
    for (const Rxpkt& p : packets) {
      while (!rxpkt.free()) cycle();
      rxpkt.load(p);
      cycle();
    }
    run(60);
  }
  /// What a probe hears.
  Resp req(unsigned qp) {
    Rxpkt p{.probe = true, .qp = static_cast<QpIndex>(qp)};
    send(p);
    REQUIRE(resps.size() == 1);
    REQUIRE(resps[0].kind == CtlKind::Sack);
    return resps[0];
  }
  void clear() {
    verdicts.clear();
    verdict_at.clear();
    qperrs.clear();
    resps.clear();
    resp_at.clear();
    acks.clear();
    ack_at.clear();
    ords.clear();
    cames.clear();
  }

  const Preset& preset;
  CsrOut csr;
  Stream<Rxpkt> rxpkt;
  PlaneDemux<Verdict> verdict;
  Stream<Resp> resp{16};
  Stream<Ackev> ackev;
  Stream<Ord> ord;
  Stream<Qperr> qperr;
  Stream<Came> came;
  RxTrack track;
  bool imm_ok = true, hold_ok = true, fat = false;
  ShareLevels share;
  std::vector<uint8_t> over = std::vector<uint8_t>(preset.num_qps);
  bool take_verdict = true, take_resp = true, take_ackev = true, take_ord = true, take_qperr = true, take_came = true;
  unsigned now = 0, dup = 0, oor = 0, trim = 0, nores = 0;
  std::vector<Verdict> verdicts;
  std::vector<unsigned> verdict_at, resp_at, ack_at;
  std::vector<Resp> resps;
  std::vector<Ackev> acks;
  std::vector<Ord> ords;
  std::vector<Qperr> qperrs;
  std::vector<Came> cames;
};

}  // namespace mrc::test::rx_track
