// SPDX-License-Identifier: Apache-2.0
/// What one NIC of the bench does, and what happens to it, as records of a log (log/record.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "log/record.hpp"
#include "reference/profile.hpp"
#include "tb/environment/frame.hpp"
#include "tb/environment/inside_tap.hpp"
#include "tb/environment/plan.hpp"
#include "tb/environment/rx_tap.hpp"

namespace mrc::tb {

struct NicCounters;

/// Told by the NIC's Station, cycle by cycle. It never asks and never draws: a run with one is the run without it.
class Recorder final : public RxSink, public InsideSink {
 public:
  static constexpr uint64_t kNone = ~uint64_t{0};
  using Sink = std::function<void(const log::Record&)>;

  struct Setup {
    uint32_t device;  ///< its number in the log
    const char* name;
    const Preset& preset;
    const SidePlan& plan;  ///< QPs are as it says when they are connected
  };
  explicit Recorder(const Setup& setup);

  /// Software is about to write the row that takes a QP to this state. `ordered`: it is told again when that is done.
  void moved(unsigned qp, QpState to, uint64_t now_ps, bool ordered = false);
  /// Software is about to write that row of a connected QP, or of its EV profile: one of its EVs is denied or allowed,
  /// another one stands at that place, its window as responder moves.
  void denied(unsigned qp, unsigned place, bool on, uint64_t now_ps);
  void ev(unsigned profile, unsigned place, uint32_t ev, uint64_t now_ps);
  void window(unsigned qp, unsigned units, uint64_t now_ps);
  /// The NIC's pin falls: all QPs are in RESET, nobody waits for reads.
  void reset(uint64_t now_ps);
  void posted(const Wqe& wqe, uint64_t now_ps);
  void completed(const Cqe& cqe, uint64_t now_ps);
  /// The host has taken a read, or answers one: per plane in order.
  void read(const Rdreq& read, uint64_t now_ps);
  void read_done(unsigned plane, const uint8_t* data, bool error, uint64_t now_ps);
  /// The host has taken a write: software sees it from now on.
  void wrote(uint64_t address, unsigned length, const uint8_t* data, uint64_t now_ps);
  void ports(unsigned up, uint64_t now_ps);
  /// A frame whose preamble begins at sent_ps.
  void sent(const Frame& frame);
  /// A frame is coming in whose preamble began at begun_ps, and: its last beat is at the NIC's pins.
  void begun(unsigned plane, uint64_t begun_ps) { coming_[plane] = begun_ps; }
  void received(const Frame& frame, uint64_t begun_ps, uint64_t now_ps);
  /// The same of a frame of which the NIC has seen the end alone, since it was reset meanwhile.
  void half_received(unsigned plane, uint64_t now_ps);

  /// The NIC shows its streams: what its window takes and its SACKs read is told (events), and what its lanes
  /// discard (silent_drops). `said`: the profile says that these events are complete. Before the first flush().
  void shows_streams(bool said);
  void event(log::EventKind kind, unsigned qp, std::array<uint64_t, 6> arg, uint64_t time_ps) override;
  /// No record before this time is handed over.
  void hold(uint64_t time_ps) override { held_ps_ = time_ps; }
  void described(unsigned plane) override { ++described_[plane]; }
  void lane_empty(unsigned plane, uint64_t now_ps) override;
  bool taken(unsigned qp, uint32_t psn) const override;
  /// The NIC shows what moves inside: all events of kind path and cc are told. Before the first flush().
  void shows_inside();
  /// Those that are none are left out.
  void controller(unsigned dest, log::CcNotified reported, uint64_t bytes, uint64_t rtt_ps, uint64_t window,
                  uint64_t time_ps) override;
  void path(unsigned qp, unsigned place, log::EvState from, log::EvState to, uint64_t time_ps) override;
  void hold_inside(uint64_t time_ps) override { held_inside_ps_ = time_ps; }

  /// A counter was read.
  void counter(std::string name, uint64_t value, uint64_t time_ps);

  /// Hands over, in the order of their times, all records before which no other can come any more, and says up to when
  /// that is. `now_ps`: of the next cycle.
  void flush(uint64_t now_ps, const Sink& sink);
  /// Hands over what is left, then the counters, if they were read, and the end.
  void end(uint64_t now_ps, const NicCounters* counters, log::End end, const Sink& sink);

 private:
  template <class Body>
  Body& add(uint64_t time);
  log::Frame& frame(const Frame& frame, uint64_t begin_ps);
  void shows(std::initializer_list<log::EventKind> kinds);
  void hand_over(uint64_t until, const Sink& sink);
  log::Qp qp(unsigned index) const;
  void changed(unsigned index, uint64_t now_ps);
  log::Status status(CqStatus status) const;

  const uint32_t device_;
  const Preset& preset_;
  struct Owned {  // by software
    QpState state = QpState::Reset;
    bool ordered = false;
    std::set<uint32_t> denied;
    uint32_t window = 0;
    std::vector<uint32_t> taken;  // newest PSN that was taken, per place of twice the largest window; kNoPsn: none
  };
  std::vector<Owned> owned_;                // of each QP
  std::vector<std::vector<uint32_t>> evs_;  // of each profile
  const SidePlan& plan_;
  std::vector<log::Record> records_;
  std::vector<uint32_t> order_;
  std::array<uint64_t, kMaxPlanes> coming_;  // preamble of the frame that is coming in; kNone: none
  unsigned up_;
  struct Read {
    uint64_t tag;
    uint64_t addr;
    uint32_t bytes;
  };
  std::array<std::deque<Read>, kMaxPlanes> reads_;
  uint64_t tags_ = 0, numbers_ = 0, resets_ = 0;
  uint64_t reported_ps_ = 0;  // of the last Until
  uint64_t held_ps_ = kNone, held_inside_ps_ = kNone;
  ref::Profile profile_;
  std::vector<bool> controlled_;  // of each destination
  bool shows_streams_ = false;
  std::array<uint64_t, kMaxPlanes> came_{}, came_ps_{};  // whole frames at the pins, and when the newest was whole
  std::array<uint64_t, kMaxPlanes> described_{}, discarded_{};
};

}  // namespace mrc::tb
