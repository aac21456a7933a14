// SPDX-License-Identifier: Apache-2.0
#include "pipeline/cc/cc_nscc.hpp"

#include "gen/csr.hpp"

namespace mrc {
namespace {

constexpr std::size_t kHurry = 8;  // events that wait

}  // namespace

CcNscc::CcNscc(const Preset& preset, const In& in, const Out& out)
    : dest_mask_(preset.num_dests - 1),
      profile_mask_(preset.num_cc_profiles - 1),
      in_(in),
      out_(out),
      ctx_(preset.num_dests),
      dests_(preset.num_dests),
      words_(preset.num_cc_profiles, nscc_from_row({})) {}

NsccState CcNscc::state(unsigned cc) const {
  NsccState s = ctx_[cc & dest_mask_];
  s.inflight = dests_[cc & dest_mask_].infl;
  return s;
}

CcNscc::Inside CcNscc::inside() const {
  if (begun_) return {Doing::Begun, cc_, dests_[cc_].cwin, e_};
  constexpr Doing kOf[] = {Doing::Idle, Doing::Works, Doing::Taken, Doing::Works, Doing::Done};
  return {kOf[static_cast<unsigned>(state_)], cc_, nscc_cwnd_bytes(s_, words(cc_)), e_};
}

void CcNscc::step(const CfgBus& cfg, uint32_t tick) {
  ack_.begin(cfg);
  pulses_next_ = {};
  begun_ = false;
  bool requests = false;  // may be answered in this cycle
  switch (state_) {
    case State::Idle:
      if (ack_.pending(cfg)) {
        configure(cfg);
      } else {
        requests = true;
        if (in_.ev.has() && out_.resume.free()) take(tick);
      }
      break;
    case State::Init:
      if (--left_ == 0) init(tick);
      break;
    case State::Count:
      count();
      break;
    case State::Work:
      requests = true;
      if (--left_ == 0) state_ = State::Store;
      break;
    case State::Store:
      store();
      break;
  }
  if (requests) answer();
}

void CcNscc::configure(const CfgBus& cfg) {
  if (cfg.is(CfgTable::CcCtx)) {
    cc_ = cfg.index & dest_mask_;
    dests_[cc_].prof = static_cast<uint8_t>(csr::TblCcCtx::unpack(cfg.data.data()).profile & profile_mask_);
    left_ = kNsccProductCycles;
    state_ = State::Init;
    return;
  }
  if (cfg.is(CfgTable::CcProfile)) words_[cfg.index & profile_mask_] = nscc_from_row(cfg.data);
  ack_.done();
}

void CcNscc::init(uint32_t tick) {
  NsccWords w = words(cc_);
  Dest& dest = dests_[cc_];
  dest.on = w.enable;
  w.enable = true;  // the start values are written whether or not there is a controller
  ctx_[cc_] = nscc_init(w, tick);
  dest.infl = 0;
  dest.wait = false;
  dest.cwin = nscc_cwnd_bytes(ctx_[cc_], w);
  begun_ = true;
  ack_.done();
  state_ = State::Idle;
}

void CcNscc::take(uint32_t tick) {
  e_ = in_.ev.head();
  if (in_.ev.count() >= kHurry && e_.kind == CcEvent::Ack && !e_.ecn && e_.pen == 0) e_.rtt_valid = false;
  in_.ev.pop();
  cc_ = e_.cc & dest_mask_;
  now_ = tick;
  state_ = State::Count;
}

/// The whole event. Only the flight changes now.
void CcNscc::count() {
  state_ = State::Idle;
  const NsccEvent e{.kind = e_.kind,
                    .now = now_,
                    .bytes = e_.bytes,
                    .ecn = e_.ecn != 0,
                    .rtt_valid = e_.rtt_valid != 0,
                    .rtt = e_.rtt,
                    .pen = e_.pen,
                    .restore = e_.restore != 0,
                    .reason = e_.reason};
  if (e.kind == CcEvent::Send) return;
  const NsccWords& w = words(cc_);
  s_ = ctx_[cc_];
  s_.inflight = dests_[cc_].infl;
  const uint32_t base_rtt = s_.base_rtt;
  made_ = nscc_step(s_, w, e);
  dests_[cc_].infl = s_.inflight;
  if (!w.enable) return;
  left_ = nscc_work_cycles(e, made_, s_.base_rtt != base_rtt);
  state_ = left_ == 0 ? State::Store : State::Work;
}

void CcNscc::store() {
  Dest& dest = dests_[cc_];
  ctx_[cc_] = s_;
  dest.cwin = nscc_cwnd_bytes(s_, words(cc_));
  if (dest.wait && nscc_fits(dest.infl, dest.want, dest.cwin)) {
    dest.wait = false;
    out_.resume.load({.cc = e_.cc});
  }
  pulses_next_.md = made_.decreased;
  pulses_next_.qa = made_.adapted;
  state_ = State::Idle;
}

/// One per cycle: what comes back first, then retransmissions.
void CcNscc::answer() {
  if (in_.ret.has()) {
    const Ccret ret = in_.ret.head();
    in_.ret.pop();
    Dest& dest = dests_[ret.cc & dest_mask_];
    dest.infl = nscc_inflight(dest.infl, -int64_t{ret.bytes});
  } else if (in_.rtxreq.has() && out_.rans.free()) {
    answer_rtxreq();
  } else if (in_.req.has() && out_.ans.free()) {
    answer_req();
  }
}

void CcNscc::answer_rtxreq() {
  const Ccreq req = in_.rtxreq.head();
  in_.rtxreq.pop();
  Dest& dest = dests_[req.cc & dest_mask_];
  const bool ok = !dest.on || nscc_fits(dest.infl, req.bytes, dest.cwin);
  if (ok) dest.infl = nscc_inflight(dest.infl, req.bytes);
  out_.rans.load({.cc = req.cc, .bytes = ok ? req.bytes : uint16_t{0}, .last = false});
  pulses_next_.hold = !ok;
}

/// Grants what fits of a burst, but at least its first packet.
void CcNscc::answer_req() {
  const Ccreq req = in_.req.head();
  in_.req.pop();
  const unsigned cc = req.cc & dest_mask_;
  Dest& dest = dests_[cc];
  const NsccGrant g =
      dest.on ? nscc_grant(dest.infl, dest.cwin, req.min, req.bytes, words(cc)) : NsccGrant{true, req.bytes, false};
  if (g.ok) {
    dest.infl = nscc_inflight(dest.infl, g.bytes);
  } else {
    dest.want = req.min;
  }
  dest.wait = !g.ok;
  out_.ans.load({.cc = req.cc, .bytes = g.bytes, .last = g.last});
  pulses_next_.hold = !g.ok;
}

}  // namespace mrc
