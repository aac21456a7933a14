// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/inside_tap.hpp"

#include "gen/protocol.hpp"
#include "protocol/nscc_config.hpp"
#include "tb/environment/stream_words.hpp"

namespace mrc::tb {
namespace {

constexpr unsigned kStateBits = 3;

log::EvState state_of(unsigned state) {
  switch (state) {
    case kEvSkip:
    case kEvSkip3:
      return log::EvState::Skip;
    case kEvBad:
      return log::EvState::Bad;
    case kEvDenied:
      return log::EvState::Denied;
    case kEvStandby:
      return log::EvState::Backup;
    case kEvSkip2:
      return log::EvState::SkipTwice;
    default:
      return log::EvState::Good;
  }
}

log::CcNotified reported(const Ccev& e) {
  log::CcNotified t;
  t.kind = e.kind == CcEvent::Nack ? log::CcKind::Nack : e.kind == CcEvent::Loss ? log::CcKind::Loss : log::CcKind::Ack;
  t.marked = e.ecn;
  t.restore = e.restore;
  t.sampled = e.rtt_valid;
  t.pen = e.pen;
  t.reason = e.reason;
  return t;
}

}  // namespace

InsideTap::InsideTap(InsideSink& sink, const Preset& preset)
    : sink_(sink), preset_(preset), rows_(std::size_t{preset.num_qps} * (preset.evs_per_qp / preset.num_planes)) {}

void InsideTap::look(const mrc_inside_t& inside, const uint32_t* core, uint64_t now_ps) {
  controllers(inside, now_ps);
  grants(core, now_ps);
  states(inside, now_ps);
  judged(core, now_ps);
  sink_.hold_inside(taken_ ? taken_->at_ps : kNone);
}

/// An event counts from when it was taken; what came of it shows some cycles later. Where nothing comes of it there is
/// no controller.
void InsideTap::controllers(const mrc_inside_t& inside, uint64_t now_ps) {
  const uint32_t state = inside.cc_state;
  if (state == MRC_CC_TAKEN) {
    taken_ = Taken{Ccev::unpack(inside.cc_event), now_ps};
  } else if (state == MRC_CC_DONE && taken_) {
    const Ccev& e = taken_->event;
    sink_.controller(inside.cc_dest, reported(e), e.bytes, e.rtt * uint64_t{kNsccTickNs} * 1000, inside.cc_window,
                     taken_->at_ps);
    taken_.reset();
  } else if (state == MRC_CC_IDLE) {
    taken_.reset();
  } else if (state == MRC_CC_BEGUN && state_before_ != MRC_CC_BEGUN) {
    sink_.controller(inside.cc_dest, {.kind = log::CcKind::Begins}, 0, 0, inside.cc_window, now_ps);
  }
  state_before_ = state;
}

/// What is granted was decided in the cycle before it stands there.
void InsideTap::grants(const uint32_t* core, uint64_t now_ps) {
  const auto granted = [&](CoreStream stream, bool& stays) {
    const uint32_t* at = core + place(stream);
    if (!is_new(*at, stays)) return;
    const Ccans answer = Ccans::unpack(at + 1);
    if (answer.bytes == 0) return;
    sink_.controller(answer.cc, {.kind = log::CcKind::Granted}, answer.bytes, 0, 0, now_ps - preset_.clock_ps);
  };
  granted(CoreStream::CcNsccAns, ans_stays_);
  granted(CoreStream::CcNsccRans, rans_stays_);
  const uint32_t* at = core + place(CoreStream::TxSegmentRet);
  if ((*at & kValid) != 0 && (*at & kReady) != 0) {
    const Ccret back = Ccret::unpack(at + 1);
    sink_.controller(back.cc, {.kind = log::CcKind::Returned}, back.bytes, 0, 0, now_ps);
  }
}

void InsideTap::states(const mrc_inside_t& inside, uint64_t now_ps) {
  if (inside.ev_write == 0 || inside.ev_row >= rows_.size()) return;
  uint32_t& row = rows_[inside.ev_row];
  const unsigned groups = preset_.evs_per_qp / preset_.num_planes;
  for (unsigned plane = 0; plane < preset_.num_planes && row != inside.ev_states; ++plane) {
    const auto of = [&](uint32_t states) { return states >> (kStateBits * plane) & 7u; };
    if (of(row) == of(inside.ev_states)) continue;
    const unsigned qp = inside.ev_row / groups, place = inside.ev_row % groups * preset_.num_planes + plane;
    const log::EvState from = state_of(of(row)), to = state_of(of(inside.ev_states));
    if (to == log::EvState::Bad && from != log::EvState::Denied) {
      bad_ = Bad{qp, place, from};
    } else if (!bad_ || bad_->qp != qp || bad_->place != place) {
      sink_.path(qp, place, from, to, now_ps);
    }
  }
  row = inside.ev_states;
}

/// An EV is bad once the NIC says so: it may find that it needs it, and writes back what it was.
void InsideTap::judged(const uint32_t* core, uint64_t now_ps) {
  const uint32_t* at = core + place(CoreStream::TxPathEvev);
  if (!is_new(*at, evev_stays_) || !bad_) return;
  const Evev said = Evev::unpack(at + 1);
  if (said.state != kEvBad || said.qp != bad_->qp || said.ev_idx != bad_->place) return;
  if (!said.floor) sink_.path(bad_->qp, bad_->place, bad_->before, log::EvState::Bad, now_ps);
  bad_.reset();
}

}  // namespace mrc::tb
