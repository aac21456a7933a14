// SPDX-License-Identifier: Apache-2.0
#include "tb/environment/rx_tap.hpp"

#include <algorithm>

#include "tb/environment/stream_words.hpp"
#include "wire/packet.hpp"

namespace mrc::tb {
namespace {

constexpr unsigned kDesc = kLaneStreams[static_cast<unsigned>(LaneStream::RxLaneDesc)].word_offset;

/// Cycles from the handshake of rxpkt until what Track writes can be read: the FIFO, Fetch, Map, Track.
constexpr uint64_t kToTrack = 4;

/// What the window makes of a packet that gets no verdict. Of a WRITE of no bytes no stream tells whether it was new.
log::TakeResult without_verdict(const Rxpkt& p) {
  if (p.probe) return log::TakeResult::Probe;
  const bool empty = p.trim == Trim::None && p.plen == 0 && p.syndrome == 0 && !p.err;
  return empty ? log::TakeResult::Empty : log::TakeResult::Other;
}

}  // namespace

void RxTap::report(const Waiting& waiting, log::TakeResult result, uint64_t by_ps) {
  const Rxpkt& p = waiting.packet;
  newest_ps_ = std::max(newest_ps_, waiting.earliest_ps);
  if (p.drop) return;
  sink_.event(log::EventKind::Take, p.qp,
              {p.psn, static_cast<uint64_t>(result), p.plane, p.entropy, std::max(newest_ps_, by_ps)}, newest_ps_);
}

void RxTap::cut(uint64_t now_ps) {
  for (const Waiting& w : waiting_) {
    if (w.earliest_ps >= now_ps) break;
    const bool again = w.packet.buf_valid && sink_.taken(w.packet.qp, w.packet.psn);
    report(w,
           !w.packet.buf_valid ? without_verdict(w.packet)
           : again             ? log::TakeResult::Other
                               : log::TakeResult::New,
           now_ps);
  }
  waiting_.clear();
}

/// Packets without payload get no verdict: they count as judged once those before them are.
void RxTap::without_buffer() {
  while (!waiting_.empty() && !waiting_.front().packet.buf_valid) {
    report(waiting_.front(), without_verdict(waiting_.front().packet), 0);
    waiting_.pop_front();
  }
}

/// Sack has read the registers in the cycle before the one in which its answer stands there.
void RxTap::answer(const Resp& r, uint64_t now_ps) {
  if (r.kind != CtlKind::Sack) return;
  sink_.event(log::EventKind::Answer, r.qp, {static_cast<uint64_t>(wire::Opcode::Sack), r.pr, r.psn, r.cack, r.base},
              now_ps - preset_.clock_ps);
}

void RxTap::look(const uint32_t* core, const uint32_t* lanes, uint64_t now_ps) {
  if (const uint32_t* at = core + place(CoreStream::RxTrackVerdict); is_new(*at, verdict_stays_) && !waiting_.empty()) {
    const Verdict verdict = Verdict::unpack(at + 1);
    report(waiting_.front(), verdict.place ? log::TakeResult::New : log::TakeResult::Other, now_ps);
    waiting_.pop_front();
    newest_ps_ = std::max(newest_ps_, now_ps);
    without_buffer();
  }
  if (const uint32_t* at = core + place(CoreStream::RxTrackResp); is_new(*at, resp_stays_)) {
    answer(Resp::unpack(at + 1), now_ps);
  }
  if (const uint32_t* at = core + place(CoreStream::RxCheckRxpkt); (*at & kValid) != 0 && (*at & kReady) != 0) {
    waiting_.push_back({Rxpkt::unpack(at + 1), now_ps + kToTrack * preset_.clock_ps});
    without_buffer();
  }
  for (unsigned p = 0; p < preset_.num_planes; ++p, lanes += kObsLaneWords) {
    const uint32_t flags = lanes[kDesc];
    if ((flags & kValid) == 0) {
      sink_.lane_empty(p, now_ps);
    } else if ((flags & kReady) != 0) {
      sink_.described(p);
    }
  }
  sink_.hold(waiting_.empty() ? kNone : std::max(newest_ps_, waiting_.front().earliest_ps));
}

}  // namespace mrc::tb
