// SPDX-License-Identifier: Apache-2.0
/// The bench of cc_nscc.
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "gen/csr.hpp"
#include "pipeline/cc/cc_nscc.hpp"
#include "tests/pipeline/block_bench.hpp"
#include "tests/protocol/nscc_drive.hpp"

namespace mrc::test::cc_nscc {

inline constexpr CcEvent kAck = CcEvent::Ack, kNack = CcEvent::Nack, kLoss = CcEvent::Loss, kOther = CcEvent::Send;

/// BDP = 93.75 Gb/s x 12.8 us = 150 000 B, so scaling_a = 1; base_rtt is 100 ticks; a full packet has 4000 B.
/// target = 75 ticks; max_wnd = 225 000; adjust_bytes = 32 000; adjust_period = 100 ticks; "about zero" is under 8.
inline NsccParams example() {
  NsccParams p;
  p.rate_gbps = 93.75;
  p.base_rtt = 12800;
  p.mtu = 4000;
  p.ar_shift = 0;  // last: less than one packet is left
  return p;
}

/// Asks for one packet of this size.
inline Ccreq one(uint16_t cc, uint16_t bytes) { return {.cc = cc, .min = bytes, .bytes = bytes}; }

inline NsccWords words_of(const NsccParams& p) {
  const auto real = nscc_resolve(p);
  REQUIRE(real);
  return nscc_words(*real);
}

/// What left in which cycle: the first in which the output register shows it.
template <class T>
struct Seen {
  unsigned cycle;
  T data;
  bool operator==(const Seen&) const = default;
};

/// cc_nscc alone: 4 destinations, 2 profiles (0: example(), 1: no controller), all destinations on profile 0.
/// An input loaded before cycle c is at the head of its FIFO in c + 1.
struct Bench : BlockBench<Bench> {
  Preset preset = *find_preset("tiny");
  Stream<Ccev> ev{CcNscc::kEvDepth};
  Stream<Ccreq> req, rtxreq;
  Stream<Ccret> ret;
  Stream<Ccans> ans, rans;
  Stream<Ccresume> resume;
  CcNscc block{preset, {ev, req, rtxreq, ret}, {ans, rans, resume}};
  uint32_t tick = 1000;
  bool take_ans = true, take_rans = true, take_resume = true;
  std::vector<Ccev> ev_queue;  // goes in as the FIFO takes it
  std::vector<Ccreq> req_queue, rtxreq_queue;
  std::vector<Ccret> ret_queue;
  std::vector<unsigned> popped;  // cycles in which an event was
  std::vector<Seen<Ccans>> answers, ranswers;
  std::vector<Seen<Ccresume>> resumes;
  std::vector<unsigned> md, qa, hold;  // cycles in which the pulses are high

  explicit Bench(const NsccParams& params = example()) {
    profile(0, words_of(params));
    NsccParams off;
    off.enable = false;
    profile(1, words_of(off));
    for (uint16_t cc = 0; cc < 4; ++cc) bind(cc, 0);
  }

  bool cfg_ack() const { return block.cfg_ack(); }
  /// These return the cycles from the request to the acknowledgement.
  unsigned profile(uint16_t index, const NsccWords& words) {
    return configure(CfgTable::CcProfile, index, nscc_row(words));
  }
  unsigned bind(uint16_t cc, uint8_t row) { return configure(CfgTable::CcCtx, cc, csr::TblCcCtx{.profile = row}); }

  template <class T>
  static void feed(Stream<T>& to, std::vector<T>& from) {
    if (from.empty() || !to.free()) return;
    to.load(from.front());
    from.erase(from.begin());
  }
  template <class T>
  static void watch(Stream<T>& s, bool take, unsigned cycle, bool& shown, std::vector<Seen<T>>& seen) {
    if (s.valid() && !shown) seen.push_back({cycle, s.data()});
    shown = s.valid() && !s.ready();
    if (s.has() && take) s.pop();
  }
  void cycle() {
    watch(ans, take_ans, cycles, ans_shown_, answers);
    watch(rans, take_rans, cycles, rans_shown_, ranswers);
    watch(resume, take_resume, cycles, resume_shown_, resumes);
    if (block.pulses().md) md.push_back(cycles);
    if (block.pulses().qa) qa.push_back(cycles);
    if (block.pulses().hold) hold.push_back(cycles);
    feed(ev, ev_queue);
    feed(req, req_queue);
    feed(rtxreq, rtxreq_queue);
    feed(ret, ret_queue);
    const std::size_t after = ev.count() + (ev.valid() && ev.ready());
    block.step(cfg, tick);
    clock_all(block, ev, req, rtxreq, ret, ans, rans, resume);
    if (ev.count() != after) popped.push_back(cycles);
    ++cycles;
  }

  /// The event, at `ticks` after the start, and how long it takes: until another one could be popped.
  unsigned event(const Ccev& e, uint32_t ticks = 0) {
    tick = 1000 + ticks;
    ev_queue = {e, {.kind = kOther}};
    popped.clear();
    run(80);
    REQUIRE(popped.size() == 2);
    return popped[1] - popped[0];
  }
  /// Asks for `bytes` in packets of 60 000 at most, granted all.
  void send(uint16_t cc, uint32_t bytes) {
    answers.clear();
    for (; bytes != 0;) {
      const auto size = static_cast<uint16_t>(std::min(bytes, 60000u));
      req_queue.push_back(one(cc, size));
      bytes -= size;
    }
    run(30);
    for (const auto& a : answers) REQUIRE(a.data.bytes != 0);
    answers.clear();
  }
  /// One ask and its answer.
  Ccans requests(uint16_t cc, uint16_t bytes) {
    answers.clear();
    req_queue = {one(cc, bytes)};
    run(6);
    REQUIRE(answers.size() == 1);
    return answers[0].data;
  }
  Ccans rtxreqs(uint16_t cc, uint16_t bytes) {
    ranswers.clear();
    rtxreq_queue = {one(cc, bytes)};
    run(6);
    REQUIRE(ranswers.size() == 1);
    return ranswers[0].data;
  }

 private:
  bool ans_shown_ = false, rans_shown_ = false, resume_shown_ = false;
};

inline Ccev ack(uint32_t bytes, uint16_t rtt, bool ecn = false) {
  return {.kind = kAck, .bytes = bytes, .ecn = ecn, .rtt_valid = true, .rtt = rtt};
}
inline Ccev ack_without_rtt(uint32_t bytes) { return {.kind = kAck, .bytes = bytes}; }
inline Ccev nack(uint32_t bytes, uint8_t reason = 1) { return {.kind = kNack, .bytes = bytes, .reason = reason}; }
inline Ccev loss(uint32_t bytes) { return {.kind = kLoss, .bytes = bytes}; }

inline uint64_t q16(uint32_t bytes) { return uint64_t{bytes} << 16; }

}  // namespace mrc::test::cc_nscc
