// SPDX-License-Identifier: Apache-2.0
/// Watches a run from outside: frames at both sides' ports, and what the device's blocks hand over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "gen/streams.hpp"
#include "tb/environment/plan.hpp"
#include "tests/tb/runs.hpp"
#include "wire/bytes.hpp"

namespace mrc::tb {

/// A frame at a port. Times are picoseconds of the run.
struct Seen {
  uint64_t ps = 0;  ///< its transmission begins; received ones: their first byte is there
  bool sent = false, rtx = false, lost = false;
  uint8_t plane = 0, opcode = 0;
  QpIndex qp = 0;  ///< index of the QP it is addressed to
  uint32_t psn = 0, entropy = 0;
  // of SACKs
  bool probe = false;
  uint32_t cack = 0, base = 0;
  uint64_t bitmap = 0;
  bool data() const { return opcode >= 0xC6 && opcode <= 0xCB; }
  /// The SACK says that `p` has arrived.
  bool reports(uint32_t p) const {
    if (((cack - p) & 0xffffff) < 0x800000) return true;
    const uint32_t bit = (p - base) & 0xffffff;
    return bit < 64 && (bitmap >> bit & 1) != 0;
  }
};

/// Frames at the ports of one side.
class Tap final : public FrameWatcher {
 public:
  void frame(bool sent, unsigned plane, uint64_t time_ps, const std::vector<uint8_t>& bytes, unsigned fate) override {
    const FrameInfo info = look_at(bytes);
    if (!info.mrc) return;
    Seen s;
    s.ps = time_ps;
    s.sent = sent;
    s.rtx = info.rtx;
    s.lost = (fate & kFateLost) != 0;
    s.plane = static_cast<uint8_t>(plane);
    s.opcode = info.opcode;
    s.qp = static_cast<QpIndex>(info.dqp - kQpnBase);
    s.psn = info.psn;
    s.entropy = info.entropy;
    if (s.opcode == 0xDC) {
      const uint8_t* sack = &bytes[info.inner + 60];
      s.probe = (sack[1] & 2) != 0;
      s.cack = static_cast<uint32_t>(wire::load_be<3>(sack + 13));
      s.base = (s.cack + static_cast<uint32_t>(static_cast<int16_t>(wire::load_be<2>(sack + 18)))) & 0xffffff;
      s.bitmap = wire::load_be<8>(sack + 20);
    }
    seen.push_back(s);
  }
  std::vector<Seen> seen;
};

/// What the device did, by cycle of the run.
struct DeviceLog {
  struct Packet {  ///< tx_path.path: a packet has its EV and plane
    uint64_t cycle;
    QpIndex qp;
    uint16_t ev_idx;
    uint8_t plane;
    uint32_t ev;
  };
  struct Control {  ///< ack_gen.ctlpkt, tx_probe.probe, endpoint.req
    uint64_t cycle;
    uint8_t plane, opcode;
    QpIndex qp;
    uint32_t ev;
  };
  struct EvChange {  ///< tx_path.evev
    uint64_t cycle;
    QpIndex qp;
    uint16_t ev_idx;
    uint8_t state;
  };
  struct Pins {  ///< link_up has changed
    uint64_t cycle;
    uint8_t link_up;
  };
  struct Completion {
    uint64_t cycle;
    Cqe cqe;
  };
  std::vector<Packet> packets;
  std::vector<Control> controls;
  std::vector<EvChange> changes;
  std::vector<Pins> pins;
  std::vector<Completion> completions;  ///< of the requestor
  uint64_t wqes = 0;                    ///< taken
  uint64_t begin = 0;                   ///< cycle of the first work request: traffic begins
};

/// A device that is passed through and watched.
class WatchedDut final : public Dut {
 public:
  WatchedDut(std::unique_ptr<Dut> dut, DeviceLog& log) : dut_(std::move(dut)), log_(log) {
    for (const StreamInfo& b : kCoreStreams) {
      const std::string_view name = b.name;
      if (name == "tx_path.path") path_ = b.word_offset;
      if (name == "tx_path.evev") evev_ = b.word_offset;
      if (name == "ack_gen.ctlpkt") control_[0] = b.word_offset;
      if (name == "tx_probe.probe") control_[1] = b.word_offset;
      if (name == "endpoint.req") control_[2] = b.word_offset;
    }
  }
  void outputs(mrc_pins_out& out) override {
    dut_->outputs(out);
    out_ = &out;
  }
  bool observe(const uint32_t*& core, const uint32_t*& lanes) override {
    if (!dut_->observe(core, lanes)) return false;
    const auto given = [&](unsigned offset) { return (core[offset] & 3) == 3; };
    if (given(path_)) {
      const Path p = Path::unpack(core + path_ + 1);
      log_.packets.push_back({cycle_, p.pkt.qp, p.ev_idx, p.plane, p.ev});
    }
    for (const unsigned offset : control_) {
      if (!given(offset)) continue;
      const Ctlpkt c = Ctlpkt::unpack(core + offset + 1);
      log_.controls.push_back({cycle_, c.plane, static_cast<uint8_t>(c.opcode), c.qp, c.ev});
    }
    if (given(evev_)) {
      const Evev e = Evev::unpack(core + evev_ + 1);
      log_.changes.push_back({cycle_, e.qp, e.ev_idx, e.state});
    }
    return true;
  }
  void step(const mrc_pins_in& in) override {
    if (in.link_up != link_up_) log_.pins.push_back({cycle_, in.link_up});
    link_up_ = in.link_up;
    if (in.wqe_valid) {
      if (log_.begin == 0) log_.begin = cycle_;
      log_.wqes += out_->wqe_ready;
    }
    if (out_->cqe_valid && in.cqe_ready) {
      if (const Cqe c = Cqe::unpack(out_->cqe); !c.recv) log_.completions.push_back({cycle_, c});
    }
    dut_->step(in);
    ++cycle_;
  }
  bool wave(const char* path, bool on) override { return dut_->wave(path, on); }
  bool can_wave() const override { return dut_->can_wave(); }
  std::string name() const override { return dut_->name(); }
  std::string version() const override { return dut_->version(); }

 private:
  std::unique_ptr<Dut> dut_;
  DeviceLog& log_;
  const mrc_pins_out* out_ = nullptr;
  uint64_t cycle_ = 0;
  unsigned path_ = 0, evev_ = 0, control_[3] = {};
  uint8_t link_up_ = 0xff;
};

/// A run of the RTL in lockstep, watched. Side 0 is the device, 1 the peer. Times are microseconds of traffic.
struct Watched {
  CosimOptions options;
  CosimResult result;
  DeviceLog device;
  Tap tap[2];
  std::vector<QpIndex> qp_of[2];  ///< the other side's QP of each QP

  explicit Watched(const CosimOptions& o) : options(o) {
    use_rtl(options);
    options.open = [this, open = options.open](std::string& error) -> std::unique_ptr<Dut> {
      std::unique_ptr<Dut> dut = open(error);
      if (!dut) return nullptr;
      return std::make_unique<WatchedDut>(std::move(dut), device);
    };
    options.dut_frames = &tap[0];
    options.peer_frames = &tap[1];
    const Plan plan = make_plan(*options.preset, options.scenario, options.seed);
    for (const SidePlan::Qp& q : plan.dut.qps) qp_of[0].push_back(q.peer);
    for (const SidePlan::Qp& q : plan.peer.qps) qp_of[1].push_back(q.peer);
    result = run_cosim(options);
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  double us(uint64_t ps) const {
    return (static_cast<double>(ps) - static_cast<double>(device.begin * options.preset->clock_ps)) * 1e-6;
  }
  double us_of_cycle(uint64_t cycle) const { return us(cycle * options.preset->clock_ps); }

  /// Payload bytes per microsecond that `side` sent and the other side's memory got, average over [from, until).
  double rate(unsigned side, double from, double until) const {
    const std::vector<uint32_t>& series = side == 0 ? result.peer.series : result.dut.series;
    double sum = 0;
    const auto a = static_cast<std::size_t>(from), b = std::min(static_cast<std::size_t>(until), series.size());
    for (std::size_t i = a; i < b; ++i) sum += series[i];
    return b > a ? sum / static_cast<double>(b - a) : 0;
  }
  /// From `from` on: how long until no average over 10 us before `until` is below `share` of `level` any more.
  double settled(unsigned side, double from, double until, double level, double share) const {
    double last = from;
    for (double t = from; t + 10 <= until; ++t) {
      if (rate(side, t, t + 10) < share * level) last = t + 10;
    }
    return last - from;
  }

  /// Of the data frames that `side` sends for the first time in [from, until): the time from a frame's begin at the
  /// port to the first byte of the SACK that reports it. Sorted.
  std::vector<double> round_trips(unsigned side, double from, double until) const {
    std::vector<double> times;
    std::map<QpIndex, std::deque<const Seen*>> waiting;  // by QP of the other side
    for (const Seen& s : tap[side].seen) {
      if (s.sent && s.data() && !s.rtx && us(s.ps) >= from && us(s.ps) < until) waiting[s.qp].push_back(&s);
      if (s.sent || s.opcode != 0xDC || s.probe) continue;
      std::erase_if(waiting[qp_of[side][s.qp]], [&](const Seen* sent) {
        if (!s.reports(sent->psn)) return false;
        times.push_back(static_cast<double>(s.ps - sent->ps) * 1e-6);
        return true;
      });
    }
    std::sort(times.begin(), times.end());
    return times;
  }
  double median_round_trip(unsigned side, double from, double until) const {
    const std::vector<double> times = round_trips(side, from, until);
    return times.empty() ? 0 : times[times.size() / 2];
  }

  struct Loss {
    const Seen* frame;
    double sent, back;  ///< it began at its port; its PSN arrived for the first time, below 0: never
  };
  /// Data frames that `side` sent and that never reached the other side's port. The order of a plane must be kept.
  std::vector<Loss> losses(unsigned side) const {
    std::deque<const Seen*> arrived[kMaxPlanes];
    std::map<std::pair<QpIndex, uint32_t>, double> came;  // QP and PSN: first arrival
    for (const Seen& s : tap[1 - side].seen) {
      if (s.sent || !s.data()) continue;
      arrived[s.plane].push_back(&s);
      came.emplace(std::pair{s.qp, s.psn}, us(s.ps));
    }
    std::vector<Loss> list;
    for (const Seen& s : tap[side].seen) {
      if (!s.sent || !s.data()) continue;
      std::deque<const Seen*>& queue = arrived[s.plane];
      if (!queue.empty() && queue.front()->qp == s.qp && queue.front()->psn == s.psn && queue.front()->rtx == s.rtx) {
        queue.pop_front();
        continue;
      }
      const auto found = came.find({s.qp, s.psn});
      list.push_back({&s, us(s.ps), found == came.end() ? -1 : found->second});
    }
    return list;
  }
  /// Longest time from a lost frame's begin to the arrival of its PSN; below 0: one never arrived.
  static double worst_recovery(const std::vector<Loss>& losses) {
    double worst = 0;
    for (const Loss& l : losses) {
      if (l.back < 0) return -1;
      worst = std::max(worst, l.back - l.sent);
    }
    return worst;
  }
};

}  // namespace mrc::tb
