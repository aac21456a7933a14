// SPDX-License-Identifier: Apache-2.0
#include "protocol/nscc_float.hpp"

#include <algorithm>
#include <cmath>

#include "gen/headers.hpp"

namespace mrc {

NsccFloat::NsccFloat(const NsccReal& config, uint64_t now_ticks) : config_(config) {
  if (!config.enable) return;
  base_rtt_ = config.base_rtt;
  max_wnd_ = std::min(std::max(config.wnd_rate * base_rtt_, config.mtu), config.max_cwnd);
  cwnd_ = max_wnd_;
  last_adjust_ = last_dec_ = static_cast<double>(now_ticks);
  mode_ = NsccMode::Start;
}

void NsccFloat::adopt(const NsccState& s, uint64_t now_ticks) {
  const auto unwrap = [now_ticks](uint32_t ticks) {
    return static_cast<double>(now_ticks) - static_cast<uint32_t>(static_cast<uint32_t>(now_ticks) - ticks);
  };
  cwnd_ = std::ldexp(static_cast<double>(s.cwnd), -16);
  saved_cwnd_ = s.saved ? std::ldexp(static_cast<double>(s.saved_cwnd), -16) : 0;
  max_wnd_ = std::ldexp(static_cast<double>(s.max_wnd), -16);
  inc_ = std::ldexp(static_cast<double>(s.inc), -8);
  avg_ = std::ldexp(static_cast<double>(s.avg), -24);
  inflight_ = s.inflight;
  received_ = s.received;
  achieved_ = s.achieved;
  bytes_ignored_ = s.bytes_ignored;
  bytes_to_ignore_ = s.bytes_to_ignore;
  count_ = s.fi_count;
  base_rtt_ = s.base_rtt;
  last_adjust_ = unwrap(s.last_adjust);
  last_dec_ = unwrap(s.last_dec);
  qa_end_ = s.qa_armed ? unwrap(s.qa_start) + s.qa_len : 0;
  increasing_ = s.increasing;
  trigger_ = s.trigger;
  mode_ = s.mode;
}

void NsccFloat::step(const NsccEvent& e, uint64_t now_ticks) {
  now_ = static_cast<double>(now_ticks);
  follow_ = nullptr;
  event(e);
}

void NsccFloat::step(const NsccEvent& e, uint64_t now_ticks, const NsccDecisions& decisions, const Bounds& bounds) {
  now_ = static_cast<double>(now_ticks);
  follow_ = &decisions;
  bounds_ = bounds;
  event(e);
  follow_ = nullptr;
}

bool NsccFloat::decide(bool mine, bool checked, bool theirs, double margin, double bound) {
  if (!follow_) return mine;
  if (checked && mine == theirs) return mine;
  if (checked && std::abs(margin) <= bound) {
    ++knife_edges_;
    return theirs;
  }
  ++errors_;
  return mine;
}

void NsccFloat::event(const NsccEvent& e) {
  const double bytes = e.bytes;
  if (e.kind == CcEvent::Send) {
    inflight_ += bytes;
  } else if (!config_.enable) {
    inflight_ -= bytes;
  } else if (e.kind == CcEvent::Ack) {
    on_ack(bytes, e.ecn, e.rtt_valid, std::max<double>(e.rtt, 1), e.pen, e.restore);
  } else if (e.kind == CcEvent::Nack) {
    on_nack(bytes, e.reason, e.rtt_valid, std::max<double>(e.rtt, 1));
  } else {
    on_inferred_loss(bytes);
  }
  // The range of the quantity, not part of the pseudo code: a NIC never has 256 MiB in flight.
  inflight_ = std::clamp(inflight_, -268435456.0, 268435455.0);
}

void NsccFloat::update_base_rtt(double rtt) {
  if (rtt >= base_rtt_) return;
  base_rtt_ = rtt;
  max_wnd_ = std::min(std::max(config_.wnd_rate * base_rtt_, config_.mtu), config_.max_cwnd);
}

void NsccFloat::sample(double delay) { avg_ += config_.ewma_weight * (delay - avg_); }

void NsccFloat::on_ack(double bytes, bool ecn, bool has_rtt, double rtt, double pen, bool restore) {
  inflight_ -= bytes;
  bytes_ignored_ += bytes;
  received_ += bytes;
  achieved_ += bytes;
  const bool limited = penalty(pen, restore, bytes);
  if (!has_rtt) return;
  update_base_rtt(rtt);
  const double delay = rtt - base_rtt_;
  sample(delay);
  if (quick_adapt(false, ecn, delay)) return;

  mode_ = limited ? NsccMode::Limited : NsccMode::Hold;
  if (!ecn && delay >= config_.target && !limited) {
    inc_ += config_.fi * bytes;
    mode_ = NsccMode::Fair;
  } else if (!ecn && delay < config_.target && !limited) {
    if (fast_increase(bytes, delay)) {
      mode_ = NsccMode::Fast;
    } else {
      inc_ += config_.alpha * bytes * (config_.target - delay);
      mode_ = NsccMode::Proportional;
    }
  } else if (ecn && delay >= config_.target) {
    multiplicative_decrease();
  }
  if (now_ - last_adjust_ >= config_.adjust_period || received_ > config_.adjust_bytes) adjust();
}

void NsccFloat::adjust() {
  cwnd_ += inc_ / cwnd_;
  if (now_ - last_adjust_ >= config_.adjust_period) {
    last_adjust_ = now_;
    cwnd_ += config_.eta;
  }
  cwnd_ = std::min(cwnd_, max_wnd_);
  inc_ = 0;
  received_ = 0;
}

void NsccFloat::multiplicative_decrease() {
  if (config_.md_resets_fast) {
    increasing_ = false;
    count_ = 0;
  }
  if (now_ - last_dec_ <= base_rtt_) return;
  const bool over = decide(avg_ > config_.target, follow_ && follow_->avg_checked, follow_ && follow_->avg_over,
                           avg_ - config_.target, bounds_.avg_ticks);
  if (!over) return;
  cwnd_ *= std::max(1 - config_.gamma * (avg_ - config_.target) / avg_, config_.max_md_jump);
  cwnd_ = std::max(cwnd_, config_.mtu);
  last_dec_ = now_;
  mode_ = NsccMode::Decrease;
}

bool NsccFloat::quick_adapt(bool loss, bool ecn, double delay) {
  if (config_.disable_qa) return false;
  bool done = false;
  if (bytes_ignored_ < bytes_to_ignore_ && ecn) {
    done = true;
    mode_ = NsccMode::Ignore;
  } else if (now_ >= qa_end_) {
    const bool wanted = trigger_ || loss || (config_.qa_threshold < 65535 && delay > config_.qa_threshold);
    if (qa_end_ != 0 && wanted) {
      const double gate = std::ldexp(max_wnd_, -static_cast<int>(config_.qa_gate));
      if (decide(achieved_ < gate, follow_ && follow_->gate_checked, follow_ && follow_->gate_under, achieved_ - gate,
                 bounds_.gate_bytes)) {
        cwnd_ = std::max(achieved_, config_.mtu);
        bytes_to_ignore_ = inflight_;
        bytes_ignored_ = 0;
        trigger_ = false;
        done = true;
        mode_ = NsccMode::QuickAdapt;
      }
    }
    achieved_ = 0;
    qa_end_ = now_ + base_rtt_ + config_.target;
  }
  if (done) {
    inc_ = 0;
    received_ = 0;
  }
  return done;
}

bool NsccFloat::fast_increase(double bytes, double delay) {
  if (delay < config_.near_zero) {
    count_ += bytes;
    const bool over =
        increasing_ || decide(count_ > cwnd_, follow_ && follow_->count_checked, follow_ && follow_->count_over,
                              count_ - cwnd_, bounds_.cwnd_relative * cwnd_);
    if (over) {
      cwnd_ = std::min(cwnd_ + bytes * config_.fi_scale, max_wnd_);
      increasing_ = true;
      return true;
    }
  } else {
    count_ = 0;
  }
  increasing_ = false;
  return false;
}

bool NsccFloat::penalty(double pen, bool restore, double bytes) {
  if (pen > 0) {
    mode_ = NsccMode::Limited;
    if (saved_cwnd_ == 0) saved_cwnd_ = cwnd_;
    cwnd_ = std::min(cwnd_, inflight_);
    cwnd_ = std::max(config_.mtu, cwnd_ - std::floor(pen * bytes / 128));
  } else if (restore && saved_cwnd_ > 0) {
    cwnd_ = saved_cwnd_;
    saved_cwnd_ = 0;
    mode_ = NsccMode::Hold;
  }
  return pen > 0;
}

void NsccFloat::on_inferred_loss(double bytes) {
  cwnd_ = std::max(cwnd_ - bytes, config_.mtu);
  bytes_ignored_ += bytes;
  inflight_ -= bytes;
  mode_ = NsccMode::Loss;
}

void NsccFloat::on_nack(double bytes, uint8_t reason, bool has_rtt, double rtt) {
  inflight_ -= bytes;
  if (has_rtt && config_.nack_rtt) update_base_rtt(rtt);
  const bool trimmed = reason == static_cast<uint8_t>(wire::NackReason::Trimmed) ||
                       reason == static_cast<uint8_t>(wire::NackReason::TrimmedLasthop);
  if (!trimmed && (!config_.nack_any_reason || reason == 0)) return;
  sample(config_.nack_sample_cfg ? config_.base_rtt : base_rtt_);
  bytes_ignored_ += bytes;
  trigger_ = true;
  if (quick_adapt(true, true, 0)) return;
  cwnd_ = std::max(cwnd_ - bytes, config_.mtu);
  mode_ = NsccMode::Loss;
}

}  // namespace mrc
