// SPDX-License-Identifier: Apache-2.0
/// endpoint alone on a bench, for its tests.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "gen/csr.hpp"
#include "pipeline/ctl/endpoint.hpp"
#include "protocol/endpoint.hpp"
#include "tests/pipeline/block_bench.hpp"

namespace mrc::test::endpoint_bench {

constexpr U128 address(unsigned n) { return static_cast<U128>(0xfd00000000000000) << 64 | n; }

/// tiny with so many destinations.
inline Preset many_dests(unsigned number) {
  Preset p = *find_preset("tiny");
  p.num_dests = number;
  return p;
}

/// endpoint alone, its outputs taken at once. tiny: 2 planes, 4 destinations; a tick of 128 cycles, made here.
/// Until tick 2 no update leaves: the first one is that long after reset.
struct Bench : BlockBench<Bench> {
  Preset preset;
  Stream<Eprx> eprx;
  Stream<Want> want{16};
  Stream<Evp> evp;
  Stream<Ctlpkt> req;
  Stream<Resp> resp;
  Stream<Okev> okev;
  Stream<Pmask> pmask;
  Stream<Evr> evr;
  Stream<Pans> pans;
  Endpoint block{preset, {eprx, want, evp}, {req, resp, okev, pmask, evr, pans}};
  CsrOut csr;
  unsigned up;
  uint32_t tick0 = 0;  ///< tick of the first cycle
  bool take = true;
  unsigned reqs = 0, rsps = 0, drops = 0;
  std::vector<Ctlpkt> sent;
  std::vector<unsigned> sent_tick;
  std::vector<Resp> responses;
  std::vector<Okev> okevs;
  std::vector<Pmask> pmasks;
  std::vector<Evr> evrs;
  std::vector<Pans> panss;

  explicit Bench(const char* name = "tiny") : Bench(*find_preset(name)) {}
  explicit Bench(const Preset& one) : preset(one) {
    up = (1u << preset.num_planes) - 1;
    csr.ep_interval = 10;
    for (unsigned p = 0; p < 8; ++p) csr.rev_ev[p] = 0x10000000 + p;
  }
  bool cfg_ack() const { return block.cfg_ack(); }
  /// QP leads to a destination at address(1000 + dest).
  void set_up(unsigned qp, unsigned dest, QpState state = QpState::Init) {
    csr::TblQpCtx row{.dip = address(1000 + dest), .dest = static_cast<uint16_t>(dest), .state = state};
    configure(CfgTable::QpCtx, qp, row);
  }
  void cycle() {
    csr.tick = tick0 + cycles / 128;
    test::take(req, sent, take);
    test::take(resp, responses, take);
    test::take(okev, okevs, take);
    test::take(pmask, pmasks, take);
    test::take(evr, evrs, take);
    test::take(pans, panss, take);
    block.step(cfg, csr, up);
    clock_all(block, eprx, want, evp, req, resp, okev, pmask, evr, pans);
    if (block.pulses().req) sent_tick.push_back(csr.tick);
    reqs += block.pulses().req;
    rsps += block.pulses().rsp;
    drops += block.pulses().drop;
    ++cycles;
  }
  void run_to_tick(unsigned tick) {
    while (cycles < tick * 128) cycle();
  }
  /// Runs until n requests have left.
  const Ctlpkt& request(std::size_t n) {
    for (unsigned i = 0; i < 20'000 && sent.size() < n; ++i) cycle();
    REQUIRE(sent.size() == n);
    return sent.back();
  }
  void answer(uint32_t id, uint16_t ts = 0, uint16_t at = 0) {
    Eprx e{.resp = true, .id = static_cast<uint16_t>(id), .ts = ts, .at = at};
    eprx.load(e);
    run(6);
  }
  void hear(unsigned op, uint16_t id, U128 sip, uint32_t mask = 0, unsigned plane = 0) {
    Eprx e;
    e.op = static_cast<uint8_t>(op & 3u);
    e.id = id;
    e.plane = static_cast<uint8_t>(plane);
    e.mask = mask;
    e.ts = 0x1111;
    e.tsv = true;
    e.at = 0x2222;
    e.sip = sip;
    eprx.load(e);
    run(10);
  }
  void probe(unsigned dest, unsigned plane, uint32_t ev, bool tc_valid = false, uint8_t tc = 0) {
    evp.load({.dest = static_cast<uint16_t>(dest),
              .plane = static_cast<uint8_t>(plane),
              .ev = ev,
              .tc_valid = tc_valid,
              .tc = tc});
    run(3);
  }
};

inline const uint8_t* bytes(const Ctlpkt& c) { return reinterpret_cast<const uint8_t*>(c.ext.data()); }
inline unsigned op(const Ctlpkt& c) { return bytes(c)[1]; }
inline uint32_t mask(const Ctlpkt& c) {
  const uint8_t* b = bytes(c) + 4;
  return uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | b[3];
}

}  // namespace mrc::test::endpoint_bench
