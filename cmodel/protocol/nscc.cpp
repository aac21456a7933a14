// SPDX-License-Identifier: Apache-2.0
#include "protocol/nscc.hpp"

#include <algorithm>

#include "gen/headers.hpp"

namespace mrc {

namespace {

constexpr uint64_t kMaxCwnd = (uint64_t{1} << 44) - 1;
/// Reason of bytes that nobody will hear of any more: no NACK of the fabric.
constexpr uint8_t kGivenBack = 0;

constexpr bool is_trim(uint8_t reason) {
  const auto r = static_cast<wire::NackReason>(reason);
  return r == wire::NackReason::Trimmed || r == wire::NackReason::TrimmedLasthop;
}

/// a + b, at most 2^28 - 1.
uint32_t add28(uint32_t a, uint32_t b) { return std::min(a + b, kNsccMaxBytes); }

/// v / 2^shift to nearest, halves up.
constexpr U128 round_shift(U128 v, unsigned shift) { return (v + (U128{1} << (shift - 1))) >> shift; }

uint64_t to_q16(uint32_t bytes) { return uint64_t{bytes} << 16; }

/// 1.5 rate base_rtt, at least a packet, at most max_cwnd; UQ28.16.
uint64_t max_window(const NsccWords& w, uint32_t base_rtt) {
  const uint64_t product = uint64_t{base_rtt} * w.wnd_rate;  // UQ32.16
  return std::min(std::max(product, to_q16(w.mtu)), to_q16(w.max_cwnd));
}

/// The moving average takes a sample: avg += weight * (sample - avg).
void average(NsccState& s, const NsccWords& w, uint32_t sample) {
  const int64_t diff = (int64_t{sample} << 24) - static_cast<int64_t>(s.avg);  // signed 41 bit
  const __int128 product = __int128{diff} * w.ewma_weight;                     // 28 fraction bits more
  s.avg = static_cast<uint64_t>(static_cast<int64_t>(s.avg) + static_cast<int64_t>((product + (1 << 27)) >> 28));
}

void lower_base_rtt(NsccState& s, const NsccWords& w, uint32_t rtt) {
  if (rtt >= s.base_rtt) return;
  s.base_rtt = rtt;
  s.max_wnd = max_window(w, rtt);
}

/// cwnd - bytes, at least a packet.
void shrink(NsccState& s, const NsccWords& w, uint32_t bytes) {
  const uint64_t cut = to_q16(bytes);
  s.cwnd = std::max(s.cwnd > cut ? s.cwnd - cut : 0, to_q16(w.mtu));
}

/// True when the event ends here.
bool quick_adapt(NsccState& s, const NsccWords& w, NsccDecisions& d, uint32_t now, bool loss, bool ecn,
                 uint32_t delay) {
  if (w.disable_qa) return false;
  bool done = false;
  if (s.bytes_ignored < s.bytes_to_ignore && ecn) {
    done = true;
    s.mode = NsccMode::Ignore;
  } else if (!s.qa_armed || now - s.qa_start >= s.qa_len) {
    if (s.qa_armed && (s.trigger || loss || delay > w.qa_threshold)) {
      d.gate_checked = true;
      d.gate_under = to_q16(s.achieved) < s.max_wnd >> w.qa_gate;
      if (d.gate_under) {
        s.cwnd = to_q16(std::max(s.achieved, w.mtu));
        s.bytes_to_ignore = static_cast<uint32_t>(std::max(s.inflight, 0));
        s.bytes_ignored = 0;
        s.trigger = false;
        done = true;
        d.adapted = true;
        s.mode = NsccMode::QuickAdapt;
      }
    }
    s.achieved = 0;
    s.qa_armed = true;
    s.qa_start = now;
    s.qa_len = s.base_rtt + ((w.target + 255) >> 8);
  }
  if (done) {
    s.inc = 0;
    s.received = 0;
  }
  return done;
}

/// True when fast increase has taken the bytes.
bool fast_increase(NsccState& s, const NsccWords& w, NsccDecisions& d, uint32_t bytes, uint32_t delay) {
  if (delay < w.near_zero) {
    s.fi_count = add28(s.fi_count, bytes);
    d.count_checked = !s.increasing;
    d.count_over = to_q16(s.fi_count) > s.cwnd;
    if (d.count_over || s.increasing) {
      const uint64_t step = (uint64_t{bytes} * w.fi_scale + (1 << 7)) >> 8;  // UQ36.24 to 16 fraction bits
      s.cwnd = std::min(s.cwnd + step, s.max_wnd);
      s.increasing = true;
      return true;
    }
  } else {
    s.fi_count = 0;
  }
  s.increasing = false;
  return false;
}

void accumulate(NsccState& s, U128 more) {
  const U128 sum = more + s.inc;
  s.inc = sum >> 64 ? ~uint64_t{0} : static_cast<uint64_t>(sum);
}

void decrease(NsccState& s, const NsccWords& w, NsccDecisions& d, uint32_t now) {
  if (w.md_resets_fast) {
    s.increasing = false;
    s.fi_count = 0;
  }
  const uint64_t target = uint64_t{w.target} << 16;  // UQ16.24
  if (now - s.last_dec <= s.base_rtt) return;
  d.avg_checked = true;
  d.avg_over = s.avg > target;
  if (!d.avg_over) return;
  const uint64_t ratio = nscc_divide(U128{s.avg - target} << 28, s.avg, 28);  // UQ0.28
  const uint64_t cut = (ratio * w.gamma + (1 << 23)) >> 24;                   // UQ1.28
  const uint64_t least = uint64_t{w.max_md_jump} << 4;
  const uint64_t factor = std::max((uint64_t{1} << 28) - cut, least);
  s.cwnd = static_cast<uint64_t>(round_shift(U128{s.cwnd} * factor, 28));
  s.cwnd = std::max(s.cwnd, to_q16(w.mtu));
  s.last_dec = now;
  d.decreased = true;
}

void adjust(NsccState& s, const NsccWords& w, NsccDecisions& d, uint32_t now) {
  const uint64_t step = nscc_divide(U128{s.inc} << 24, s.cwnd, 44);
  uint64_t cwnd = s.cwnd + step;
  if (now - s.last_adjust >= w.adjust_period) {
    s.last_adjust = now;
    cwnd += w.eta;
    d.eta_added = true;
  }
  s.cwnd = std::min(cwnd, s.max_wnd);
  s.inc = 0;
  s.received = 0;
  d.adjusted = true;
}

void on_ack(NsccState& s, const NsccWords& w, NsccDecisions& d, const NsccEvent& e) {
  s.inflight = nscc_inflight(s.inflight, -int64_t{e.bytes});
  s.bytes_ignored = add28(s.bytes_ignored, e.bytes);
  s.received = add28(s.received, e.bytes);
  s.achieved = add28(s.achieved, e.bytes);

  if (e.pen > 0) {
    d.limited = true;
    s.mode = NsccMode::Limited;
    if (!s.saved) s.saved_cwnd = s.cwnd;
    s.saved = true;
    const uint64_t flying = to_q16(static_cast<uint32_t>(std::max(s.inflight, 0)));
    s.cwnd = std::min(s.cwnd, flying);
    shrink(s, w, static_cast<uint32_t>(uint64_t{e.pen} * e.bytes >> 7));
  } else if (e.restore && s.saved) {
    s.cwnd = s.saved_cwnd;
    s.saved = false;
    s.mode = NsccMode::Hold;
  }

  if (!e.rtt_valid) return;
  const uint32_t rtt = std::max<uint32_t>(e.rtt, 1);
  lower_base_rtt(s, w, rtt);
  const uint32_t delay = rtt - s.base_rtt;
  average(s, w, delay);
  d.sampled = true;

  if (quick_adapt(s, w, d, e.now, false, e.ecn, delay)) return;

  const uint32_t delay_q8 = delay << 8;
  const bool late = delay_q8 >= w.target;
  s.mode = d.limited ? NsccMode::Limited : NsccMode::Hold;
  if (!e.ecn && !d.limited) {
    if (late) {
      accumulate(s, round_shift(U128{w.fi} * e.bytes, 4));
      s.mode = NsccMode::Fair;
    } else if (fast_increase(s, w, d, e.bytes, delay)) {
      s.mode = NsccMode::Fast;
    } else {
      const uint64_t gain = (w.alpha * (w.target - delay_q8) + (1 << 5)) >> 6;  // UQ34.26 to UQ34.20
      accumulate(s, round_shift(U128{gain} * e.bytes, 12));
      s.mode = NsccMode::Proportional;
    }
  } else if (e.ecn && late) {
    decrease(s, w, d, e.now);
    if (d.decreased) s.mode = NsccMode::Decrease;
  }

  if (e.now - s.last_adjust >= w.adjust_period || s.received > w.adjust_bytes) adjust(s, w, d, e.now);
}

void on_nack(NsccState& s, const NsccWords& w, NsccDecisions& d, const NsccEvent& e) {
  s.inflight = nscc_inflight(s.inflight, -int64_t{e.bytes});
  if (e.rtt_valid && w.nack_rtt) lower_base_rtt(s, w, std::max<uint32_t>(e.rtt, 1));
  const bool trimmed = is_trim(e.reason);
  if (!trimmed && (!w.nack_any_reason || e.reason == kGivenBack)) return;
  average(s, w, w.nack_sample_cfg ? w.base_rtt : s.base_rtt);
  d.sampled = true;
  s.bytes_ignored = add28(s.bytes_ignored, e.bytes);
  s.trigger = true;
  if (quick_adapt(s, w, d, e.now, true, true, 0)) return;
  shrink(s, w, e.bytes);
  s.mode = NsccMode::Loss;
}

}  // namespace

const char* nscc_mode_name(NsccMode mode) {
  constexpr const char* kNames[] = {"off",  "start",    "hold",   "limited",     "fair", "proportional",
                                    "fast", "decrease", "ignore", "quick_adapt", "loss"};
  const auto index = static_cast<unsigned>(mode);
  return index < std::size(kNames) ? kNames[index] : "?";
}

uint64_t nscc_divide(U128 num, uint64_t den, unsigned bits) {
  const uint64_t ones = (uint64_t{1} << bits) - 1;
  U128 rem = num >> bits;
  if (rem >= den) return ones;
  uint64_t quotient = 0;
  for (unsigned i = bits; i-- > 0;) {
    rem = rem << 1 | (num >> i & 1);
    quotient <<= 1;
    if (rem >= den) {
      rem -= den;
      quotient |= 1;
    }
  }
  return quotient;
}

NsccState nscc_init(const NsccWords& w, uint32_t now) {
  NsccState s;
  if (!w.enable) return s;
  s.base_rtt = w.base_rtt;
  s.max_wnd = max_window(w, w.base_rtt);
  s.cwnd = s.max_wnd;
  s.last_adjust = now;
  s.last_dec = now;
  s.mode = NsccMode::Start;
  return s;
}

NsccDecisions nscc_step(NsccState& s, const NsccWords& w, const NsccEvent& event) {
  NsccDecisions d;
  NsccEvent e = event;
  e.bytes = std::min(e.bytes, kNsccMaxBytes);
  e.pen &= 0x7f;
  if (e.kind == CcEvent::Send) {
    s.inflight = nscc_inflight(s.inflight, e.bytes);
  } else if (!w.enable) {
    s.inflight = nscc_inflight(s.inflight, -int64_t{e.bytes});
  } else if (e.kind == CcEvent::Ack) {
    on_ack(s, w, d, e);
  } else if (e.kind == CcEvent::Nack) {
    on_nack(s, w, d, e);
  } else {
    shrink(s, w, e.bytes);
    s.bytes_ignored = add28(s.bytes_ignored, e.bytes);
    s.inflight = nscc_inflight(s.inflight, -int64_t{e.bytes});
    s.mode = NsccMode::Loss;
  }
  d.mode = s.mode;
  return d;
}

uint32_t nscc_cwnd_bytes(const NsccState& s, const NsccWords& w) {
  return w.enable ? static_cast<uint32_t>(std::min(s.cwnd, kMaxCwnd) >> 16) : kNsccMaxBytes;
}

bool nscc_can_send(const NsccState& s, const NsccWords& w, uint32_t packet) {
  return !w.enable || nscc_fits(s.inflight, packet, nscc_cwnd_bytes(s, w));
}

bool nscc_fits(int32_t inflight, uint32_t packet, uint32_t cwnd_bytes) {
  return int64_t{inflight} + packet <= int64_t{cwnd_bytes};
}

NsccGrant nscc_grant(int32_t inflight, uint32_t cwnd_bytes, uint16_t min, uint16_t bytes, const NsccWords& words) {
  const int64_t room = int64_t{cwnd_bytes} - inflight;
  if (min > room) return {};
  NsccGrant g{.ok = true, .bytes = bytes};
  if (room < bytes) g.bytes = static_cast<uint16_t>(room);
  const uint32_t share = words.ar_shift == 0 ? 0 : cwnd_bytes >> words.ar_shift;
  g.last = room - g.bytes < std::max(words.mtu, share);
  return g;
}

int32_t nscc_inflight(int32_t inflight, int64_t bytes) {
  constexpr int64_t kMax = (1 << 28) - 1, kMin = -(1 << 28);
  return static_cast<int32_t>(std::clamp(int64_t{inflight} + bytes, kMin, kMax));
}

}  // namespace mrc
