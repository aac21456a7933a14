// SPDX-License-Identifier: Apache-2.0
// At random, beside the arithmetic without clock.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>

#include "tests/pipeline/block_bench.hpp"
#include "tests/pipeline/cc/cc_nscc_bench.hpp"

namespace mrc::test::cc_nscc_random_test {

using namespace mrc::test::cc_nscc;

namespace {

/// One destination of the random test: the arithmetic without clock, and what the requests go by.
struct Mirror {
  NsccWords words;
  NsccState s;
  int64_t cwin = 0;
  bool wait = false;
  int64_t want = 0;
};

/// Cycles of an event, from the section "Time an event takes".
unsigned time_of(const Ccev& e, const NsccWords& w, const NsccState& before, const NsccState& after,
                 const NsccDecisions& d) {
  if (e.kind == kOther || !w.enable) return 2;
  if (e.kind == kLoss) return 3;
  unsigned time = 3;
  if (e.kind == kNack) {
    time = e.reason == 1 || e.reason == 2 || (w.nack_any_reason && e.reason != 0) ? 8 : 4;
  } else if (e.rtt_valid) {
    switch (after.mode) {
      case NsccMode::Ignore:
      case NsccMode::QuickAdapt:
        time = 8;
        break;
      case NsccMode::Fair:
      case NsccMode::Fast:
        time = 13;
        break;
      case NsccMode::Proportional:
        time = 16;
        break;
      case NsccMode::Decrease:
        time = 30;
        break;
      default:
        time = 10;
    }
  }
  if (d.adjusted) time += 23;
  if (e.kind == kAck && e.pen != 0) time += 3;
  if (after.base_rtt < before.base_rtt) time += 3;
  return time;
}

constexpr unsigned kEvents = 40'000, kDests = 4;

/// The block, the arithmetic beside it, and what the block has to do in each cycle.
struct RandomRun {
  static constexpr uint64_t kSeed = 20'260'401;
  std::mt19937_64 rng{kSeed};
  Preset preset = four_profiles();
  Stream<Ccev> ev{CcNscc::kEvDepth};
  Stream<Ccreq> req, rtxreq;
  Stream<Ccret> ret;
  Stream<Ccans> ans, rans;
  Stream<Ccresume> resume;
  CcNscc block{preset, {ev, req, rtxreq, ret}, {ans, rans, resume}};
  uint32_t tick = 0xffff0000u;  // wraps in the course of the test
  CfgBus cfg;
  NsccReal real[kDests];
  Mirror mirror[kDests];
  std::unique_ptr<nscc_test::Source> sources[kDests];
  unsigned made = 0, done = 0, modes[16] = {}, md = 0, qa = 0, woken = 0, refused = 0, granted = 0, rrefused = 0;
  unsigned adjusted = 0, last = 0, partly = 0, returned = 0, hurried = 0;
  // The event in the machine: cycle of its pop, of its Store (none: the pop's), and what will be true then.
  unsigned cycle = 10, pop_at = 0, store_at = 0, idle_at = 0;
  unsigned cc = 0;
  uint16_t cc16 = 0;
  NsccDecisions decided;
  bool pulse_md = false, pulse_qa = false, pulse_hold = false;

  static Preset four_profiles() {
    Preset p = *find_preset("tiny");
    p.num_cc_profiles = 4;
    return p;
  }
  bool once_in(unsigned n) { return rng() % n == 0; }
  void clock() {
    block.step(cfg, tick);
    test::clock_all(block, ev, req, rtxreq, ret, ans, rans, resume);
  }

  RandomRun() {
    NsccParams params[kDests];
    params[0] = example();
    params[1].trimming = false;
    params[1].base_rtt = 5000;
    params[2] = example();
    params[2].nack_any_reason = params[2].nack_sample_cfg = true;
    params[2].md_resets_fast = params[2].nack_rtt = false;
    params[2].rate_gbps = 25;
    params[3].enable = false;
    for (uint16_t i = 0; i < kDests; ++i) {
      const auto r = nscc_resolve(params[i]);
      REQUIRE(r);
      real[i] = *r;
      Mirror& m = mirror[i];
      m.words = nscc_words(*r);
      m.s = nscc_init(m.words, tick);
      m.cwin = static_cast<int64_t>(m.s.cwnd >> 16);
      for (const CfgTable table : {CfgTable::CcProfile, CfgTable::CcCtx}) {
        cfg = {true, static_cast<uint8_t>(table), i, {}};
        if (table == CfgTable::CcProfile) {
          cfg.data = nscc_row(m.words);
        } else {
          csr::TblCcCtx{.profile = static_cast<uint8_t>(i)}.pack(cfg.data.data());
        }
        while (!block.cfg_ack()) clock();
        cfg.req = false;
        clock();
      }
    }
  }

  static void enter(Mirror& m, int64_t bytes) {
    m.s.inflight = static_cast<int32_t>(std::clamp<int64_t>(m.s.inflight + bytes, -(1 << 28), (1 << 28) - 1));
  }

  /// What the block has to answer in this cycle.
  Ccans reply(const Ccreq& a, bool first_copy) {
    Mirror& m = mirror[a.cc % kDests];
    const int64_t room = m.cwin - m.s.inflight;
    const bool on = m.words.enable, ok = !on || (first_copy ? a.min : a.bytes) <= room;
    const int64_t bytes = !ok ? 0 : on ? std::min<int64_t>(a.bytes, room) : a.bytes;
    if (ok) {
      enter(m, bytes);
      if (first_copy) m.wait = false;
      ++granted;
      partly += bytes != a.bytes;
    } else if (first_copy) {
      m.wait = true;
      m.want = a.min;
      ++refused;
    } else {
      ++rrefused;
    }
    pulse_hold = !ok;
    const int64_t least = std::max<int64_t>(m.words.mtu, m.words.ar_shift != 0 ? m.cwin >> m.words.ar_shift : 0);
    const bool is_last = on && ok && first_copy && room - bytes < least;
    last += is_last;
    return Ccans{a.cc, static_cast<uint16_t>(bytes), is_last};
  }

  /// Time, events and asks; outputs are taken or not. The shape of the traffic changes every 500 events.
  void traffic() {
    tick += once_in(8);
    if (once_in(2000)) tick += static_cast<uint32_t>(rng() % 400);
    if (once_in(20'000)) tick += static_cast<uint32_t>(rng());

    const bool calm = made / 500 % 8 != 7;  // then the block is in no hurry
    if (ev.free() && (!calm || ev.count() < 7) && req.free() && made < kEvents && !once_in(4)) {
      const auto dest = static_cast<uint16_t>(rng() % 16 == 0 ? 3 : rng() % 3);
      if (!sources[dest] || made % 500 == dest) {
        sources[dest] = std::make_unique<nscc_test::Source>(nscc_test::kShapes[rng() % std::size(nscc_test::kShapes)],
                                                            real[dest], rng(), tick);
      }
      const Mirror& m = mirror[dest];
      const NsccEvent e = sources[dest]->next(static_cast<double>(m.s.cwnd) / 65536, m.s.inflight);
      const auto to = static_cast<uint16_t>(dest + (once_in(100) ? 4 : 0));
      if (e.kind == CcEvent::Send && !once_in(20)) {
        const auto bytes = static_cast<uint16_t>(std::min(e.bytes, 65535u));
        req.load({.cc = to,
                  .min = static_cast<uint16_t>(bytes == 0 || once_in(2) ? bytes : 1 + rng() % bytes),
                  .bytes = bytes});
      } else {
        ev.load({.cc = to,
                 .kind = e.kind,
                 .bytes = e.bytes,
                 .ecn = e.ecn,
                 .rtt_valid = e.rtt_valid,
                 .rtt = e.rtt,
                 .pen = e.pen,
                 .restore = e.restore,
                 .reason = e.reason});
        ++made;
      }
    } else if (req.free() && once_in(3)) {
      const auto min = static_cast<uint16_t>(64 + rng() % 5000);
      req.load({.cc = static_cast<uint16_t>(rng() % kDests),
                .min = min,
                .bytes = static_cast<uint16_t>(min + (once_in(2) ? rng() % 5000 : 0))});
    }
    if (rtxreq.free() && once_in(12)) {
      rtxreq.load(one(static_cast<uint16_t>(rng() % kDests), static_cast<uint16_t>(64 + rng() % 5000)));
    }
    if (ret.free() && once_in(40)) {
      ret.load({.cc = static_cast<uint16_t>(rng() % 16), .bytes = static_cast<uint16_t>(1 + rng() % 4000)});
    }
    if (ans.has() && !once_in(4)) ans.pop();
    if (rans.has() && !once_in(4)) rans.pop();
    if (resume.has() && !once_in(8)) resume.pop();
  }

  /// What the answering part has to do in a cycle.
  struct Answers {
    std::optional<Ccans> say, rsay;
    bool pops_req = false, pops_rtxreq = false, pops_ret = false;
  };
  Answers answer(bool requests) {
    Answers a;
    auto& [say, rsay, pops_req, pops_rtxreq, pops_ret] = a;
    if (requests && ret.has()) {
      pops_ret = true;
      enter(mirror[ret.head().cc % kDests], -int64_t{ret.head().bytes});
      ++returned;
    } else if (requests && rtxreq.has() && rans.free()) {
      pops_rtxreq = true;
      rsay = reply(rtxreq.head(), false);
    } else if (requests && req.has() && ans.free()) {
      pops_req = true;
      say = reply(req.head(), true);
    }
    return a;
  }

  void take_event() {
    Ccev e = ev.head();
    if (ev.count() >= 8 && e.kind == kAck && !e.ecn && e.pen == 0 && e.rtt_valid) {
      e.rtt_valid = false;
      ++hurried;
    }
    cc16 = e.cc;
    cc = e.cc % kDests;
    Mirror& m = mirror[cc];
    const NsccState before = m.s;
    decided = {};
    if (e.kind != kOther) {
      decided = nscc_step(m.s, m.words,
                          {.kind = e.kind,
                           .now = tick,
                           .bytes = e.bytes,
                           .ecn = e.ecn,
                           .rtt_valid = e.rtt_valid,
                           .rtt = e.rtt,
                           .pen = e.pen,
                           .restore = e.restore,
                           .reason = e.reason});
    }
    pop_at = cycle;
    idle_at = cycle + time_of(e, m.words, before, m.s, decided);
    store_at = e.kind == kOther || !m.words.enable ? pop_at : idle_at - 1;
    ++modes[static_cast<unsigned>(m.s.mode)];
    adjusted += decided.adjusted;
  }

  /// The Store of an event; true: it resumes who was refused.
  bool store() {
    Mirror& m = mirror[cc];
    m.cwin = static_cast<int64_t>(m.s.cwnd >> 16);
    const bool resumes = m.wait && m.s.inflight + m.want <= m.cwin;
    if (resumes) m.wait = false;
    pulse_md = decided.decreased;
    pulse_qa = decided.adapted;
    md += pulse_md;
    qa += pulse_qa;
    woken += resumes;
    return resumes;
  }

  /// One cycle: what it has to do, from the registers before it, and whether it does.
  void step() {
    traffic();
    REQUIRE(block.pulses().md == pulse_md);
    REQUIRE(block.pulses().qa == pulse_qa);
    REQUIRE(block.pulses().hold == pulse_hold);
    pulse_md = pulse_qa = pulse_hold = false;
    const bool idle = cycle >= idle_at;
    const auto [say, rsay, pops_req, pops_rtxreq, pops_ret] =
        answer(idle || (cycle != pop_at + 1 && cycle != store_at));
    const bool pops_ev = idle && ev.has() && resume.free();
    if (pops_ev) take_event();
    const bool resumes = !idle && cycle == store_at && store_at != pop_at && store();
    const bool ans_stays = ans.valid() && !ans.ready(), rans_stays = rans.valid() && !rans.ready();
    const bool resume_stays = resume.valid() && !resume.ready();
    const std::size_t ev_count = ev.count() + (ev.valid() && ev.ready()) - pops_ev;
    const std::size_t req_count = req.count() + (req.valid() && req.ready()) - pops_req;
    const std::size_t rtxreq_count = rtxreq.count() + (rtxreq.valid() && rtxreq.ready()) - pops_rtxreq;
    const std::size_t ret_count = ret.count() + (ret.valid() && ret.ready()) - pops_ret;

    clock();

    REQUIRE(ev.count() == ev_count);
    REQUIRE(req.count() == req_count);
    REQUIRE(rtxreq.count() == rtxreq_count);
    REQUIRE(ret.count() == ret_count);
    REQUIRE(ans.valid() == (ans_stays || say.has_value()));
    REQUIRE(rans.valid() == (rans_stays || rsay.has_value()));
    REQUIRE(resume.valid() == (resume_stays || resumes));
    if (say.has_value()) REQUIRE(ans.data() == *say);
    if (rsay.has_value()) REQUIRE(rans.data() == *rsay);
    if (resumes) REQUIRE(resume.data().cc == cc16);
    if (cycle + 1 == idle_at) {  // the event's last cycle
      const NsccState now = block.state(cc);
      if (mirror[cc].words.enable) {
        REQUIRE(now == mirror[cc].s);
      } else {
        REQUIRE(now.inflight == mirror[cc].s.inflight);
      }
      ++done;
    }
  }

  /// The test has been everywhere.
  void check_coverage() const {
    for (unsigned mode = 0; mode <= 10; ++mode) {
      CAPTURE(mode, modes[mode]);
      CHECK(modes[mode] >= (mode == 1 ? 1 : 10));
    }
    CHECK(md >= 100);
    CHECK(qa >= 50);
    CHECK(woken >= 100);
    CHECK(refused >= 1000);
    CHECK(rrefused >= 1000);
    CHECK(granted >= 1000);
    CHECK(last >= 100);
    CHECK(partly >= 100);
    CHECK(returned >= 1000);
    CHECK(adjusted >= 1000);
    CHECK(hurried >= 100);
  }
};

}  // namespace

TEST_CASE("cc_nscc: 40 000 random events go through the states of the arithmetic, asks between them",
          "[pipeline][cc_nscc]") {
  CAPTURE(RandomRun::kSeed);
  RandomRun run;
  for (; run.done < kEvents; ++run.cycle) {
    REQUIRE(run.cycle < 2'000'000);
    CAPTURE(run.cycle, run.done);
    run.step();
  }
  run.check_coverage();
}

}  // namespace mrc::test::cc_nscc_random_test
