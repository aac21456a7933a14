// SPDX-License-Identifier: Apache-2.0
#include "tb/cosim.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "pipeline/nic.hpp"
#include "tb/compare/follower.hpp"
#include "tb/compare/snapshots.hpp"
#include "tb/environment/inside_tap.hpp"
#include "tb/environment/rx_tap.hpp"
#include "tb/environment/stream_tap.hpp"
#include "tb/worker.hpp"
#include "util/round.hpp"

namespace mrc::tb {
namespace {

/// Keeps the newest frames at a NIC's ports, and writes or passes on all of them if asked.
class FrameRing : public FrameWatcher {
 public:
  /// Of the NIC that `name` says, to `pcap` if it is not null; `next` is told, too, if it is not null.
  FrameRing(const char* name, FrameWatcher* next, std::ostream* pcap, const Preset& preset,
            const wire::WireConfig& wire, std::span<const std::string> comments)
      : name_(name), next_(next) {
    if (pcap) writer_.emplace(*pcap, wire, preset.num_planes, preset.port_gbps, comments);
    ring_.resize(kFrames);
  }
  void frame(bool sent, unsigned plane, uint64_t time_ps, const std::vector<uint8_t>& bytes, unsigned fate) override {
    if (next_) next_->frame(sent, plane, time_ps, bytes, fate);
    wire::CapturedFrame& f = ring_[count_++ % kFrames];
    f.interface = plane;
    f.time_ns = time_ps / 1000;
    f.bytes.assign(bytes.begin(), bytes.end());
    std::string comment = std::string(sent ? "sent by the " : "received by the ") + name_;
    if (const std::string text = fate_text(fate); !text.empty()) comment += "; link: " + text;
    f.comments.assign(1, comment);
    if (writer_) writer_->write(f);
  }
  /// About the capture as a whole, at its end.
  void note(const std::string& text) {
    if (writer_) writer_->note(text);
  }
  /// Writes no more.
  void mute() {
    next_ = nullptr;
    writer_.reset();
  }
  /// Those that began no later than `until_ns`.
  std::vector<wire::CapturedFrame> newest(uint64_t until_ns) const {
    std::vector<wire::CapturedFrame> list;
    const uint64_t n = std::min<uint64_t>(count_, kFrames);
    for (uint64_t i = count_ - n; i < count_; ++i) {
      if (ring_[i % kFrames].time_ns <= until_ns) list.push_back(ring_[i % kFrames]);
    }
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    return list;
  }

 private:
  static constexpr std::size_t kFrames = 256;
  const char* name_;
  FrameWatcher* next_;
  std::optional<wire::PcapngWriter> writer_;
  std::vector<wire::CapturedFrame> ring_;
  uint64_t count_ = 0;
};

class Run {
 public:
  explicit Run(const CosimOptions& o, std::unique_ptr<Dut> dut)
      : options_(o),
        preset_(*o.preset),
        plan_(make_plan(preset_, o.scenario, o.seed)),
        dut_recorder_(recorder(0, "dut", plan_.dut)),
        peer_recorder_(recorder(1, "peer", plan_.peer)),
        dut_station_(station(true)),
        peer_station_(station(false)),
        dut_(std::move(dut)),
        peer_(preset_),
        lockstep_(preset_, o.event_words),
        follower_(preset_, lockstep_),
        capture_comments_(comments_of(o, plan_.dut)),
        frames_("device", o.dut_frames, o.pcap, preset_, plan_.dut.wire(), capture_comments_),
        peer_frames_("peer", o.peer_frames, o.pcap_peer, preset_, plan_.peer.wire(), comments_of(o, plan_.peer)),
        round_rng_(o.seed, "rounds"),
        lives_rng_(o.seed, "lives"),
        kinds_rng_(o.seed, "kinds of lives") {
    dut_station_->connect(*peer_station_);
    peer_station_->connect(*dut_station_);
    std::vector<int> own(preset_.num_qps, -1);
    for (unsigned i = 0; i < preset_.num_qps; ++i) {
      if (plan_.dut.qps[i].peer < own.size()) own[plan_.dut.qps[i].peer] = static_cast<int>(i);
    }
    lockstep_.name_qps(std::move(own));
    dut_station_->watch(&frames_);
    if (o.peer_frames || o.pcap_peer) peer_station_->watch(&peer_frames_);
    window_ = std::max<uint64_t>(1, static_cast<uint64_t>(o.scenario.delay_ns * 1000) / preset_.clock_ps);
    const double timer_ps = 1.024e6 * static_cast<double>(uint64_t{1} << o.scenario.rto);
    const Scenario& s = o.scenario;
    quiet_cycles_ =
        3000 + static_cast<uint64_t>((s.delay_ns + s.jitter_ns + s.skew_ns + s.reorder_ns) * 1000 / preset_.clock_ps);
    hang_cycles_ = std::max<uint64_t>(200000, static_cast<uint64_t>(40 * timer_ps / preset_.clock_ps));
    if (o.scenario.hang_us > 0) hang_cycles_ = static_cast<uint64_t>(o.scenario.hang_us * 1e6 / preset_.clock_ps);
  }

  CosimResult run() {
    const auto begin = Clock::now();
    std::optional<Worker> worker;
    if (options_.two_threads) worker.emplace();
    if (options_.snapshots && !waving() && dut_->can_wave() && dut_->in_process())
      snapshots_ = std::make_shared<Snapshots>(options_.snapshot_spacing);
    try {
      turns(worker ? &*worker : nullptr, begin);
    } catch (const CheckFailed& failed) {
      worker.reset();
      model_failed_ = FailedAssertion{failed.place, "model", failed.what(), dut_station_->now()};
    } catch (const std::bad_alloc&) {
      worker.reset();
      spare_.reset();  // the results need some
      reason_ = "there was not enough memory";
      out_of_memory_ = true;
    }
    worker.reset();
    CosimResult result = collect();
    end_log(result);
    result.seconds = seconds_since(begin);
    result.snapshots = std::move(snapshots_);
    dut_->close();
    if (const DeviceFault* fault = dut_->fault()) result.device_fault = *fault;
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  /// What is around one of the NICs in a life that begins in that cycle.
  std::unique_ptr<Station> station(bool dut, uint64_t begin = 0, unsigned life = 0) const {
    const SidePlan &own = dut ? plan_.dut : plan_.peer, &other = dut ? plan_.peer : plan_.dut;
    const uint64_t seed = life == 0 ? options_.seed : Rng::hash(options_.seed + life * uint64_t{0x9e3779b97f4a7c15});
    return std::make_unique<Station>(Station::Setup{preset_, options_.scenario, seed, dut, own, other, share(dut),
                                                    (dut ? dut_recorder_ : peer_recorder_).get(), begin});
  }

  std::unique_ptr<Recorder> recorder(uint32_t device, const char* name, const SidePlan& plan) const {
    if (!options_.log) return nullptr;
    return std::make_unique<Recorder>(Recorder::Setup{device, name, preset_, plan});
  }

  void log_window() {
    if (!options_.log) return;
    dut_recorder_->flush(dut_station_->now_ps(), options_.log);
    peer_recorder_->flush(peer_station_->now_ps(), options_.log);
  }

  void end_log(const CosimResult& result) {
    if (!options_.log) return;
    const bool done = phase_ == Phase::Done;
    if (dut_streams_) dut_streams_->finish(dut_station_->now_ps());
    if (peer_streams_) peer_streams_->finish(peer_station_->now_ps());
    // Only a run that came to its end, or waited for so long that it is a hang, owes everything that is open.
    const log::End end{!done && result.outcome != Outcome::Hang, name_of(result.outcome)};
    dut_recorder_->end(dut_station_->now_ps(), done ? &dut_counters_ : nullptr, end, options_.log);
    peer_recorder_->end(peer_station_->now_ps(), done ? &peer_counters_ : nullptr, end, options_.log);
  }

  /// Device and peer, time window by time window, until the run ends.
  void turns(Worker* worker, Clock::time_point begin) {
    auto reported = begin;
    uint64_t cycles = 0;
    const auto peer_work = [this, &cycles] { run_peer(cycles); };
    for (;;) {
      cycles = window();
      // Between two time windows the worker sleeps.
      if (snapshots_ && snapshots_->due(dut_station_->now())) {
        if (auto order = snapshots_->take(dut_station_->now())) write_waves(*order);
      }
      if (worker) {
        worker->post(peer_work);
        run_dut(cycles);
        worker->wait();
      } else {
        run_dut(cycles);
        run_peer(cycles);
      }
      log_window();
      if (const bool fine = Station::exchange(*dut_station_, *peer_station_).empty(); (!fine && !waving()) || failed())
        break;
      if (next_phase()) break;
      if (stopped()) {
        reason_ = kStopped;
        break;
      }
      if (options_.progress && Clock::now() - reported > std::chrono::milliseconds(200)) {
        reported = Clock::now();
        double done = static_cast<double>(completed()) / static_cast<double>(options_.packets);
        if (options_.cycles != 0) {
          done = phase_ == Phase::Configure
                     ? 0
                     : static_cast<double>(dut_station_->now() - traffic_begin_) / static_cast<double>(options_.cycles);
        }
        options_.progress({dut_station_->now(), completed(), options_.packets, done, seconds_since(begin)});
      }
    }
  }

  /// In a copy of the process, long after: the same cycles again, with waves. Only this thread is here, and files and
  /// screen belong to the process that the copy is of.
  [[noreturn]] void write_waves(const Snapshots::Order& order) noexcept {
    options_.wave_path = order.path;
    options_.wave_from = order.from;
    options_.wave_to = order.to;
    options_.record = nullptr;
    options_.record_setup = nullptr;
    options_.log = nullptr;
    dut_station_->record_no_more();
    peer_station_->record_no_more();
    dut_recorder_.reset();
    peer_recorder_.reset();
    frames_.mute();
    peer_frames_.mute();
    do {
      const uint64_t cycles = window();
      run_dut(cycles);
      run_peer(cycles);
      Station::exchange(*dut_station_, *peer_station_);
    } while (!next_phase() && !stopped());
    dut_->wave(nullptr, false);
    ::_exit(stopped() || dut_station_->now() <= options_.wave_from ? 1 : 0);
  }

  /// In the middle of traffic: by the pins of both NICs, of one of them while software resets the QPs of the other, or
  /// by software alone, all QPs or one.
  void end_life() {
    const Scenario& s = options_.scenario;
    ++life_;
    same_psns_ = lives_rng_.chance(s.same_psns);
    const bool alone = kinds_rng_.chance(s.alone), of_dut = kinds_rng_.chance(0.5);
    const bool pins = alone || !kinds_rng_.chance(s.by_software);
    renewed_.clear();
    for (unsigned i = 0; i < preset_.num_qps; ++i) {
      if (plan_.dut.qps[i].peer < preset_.num_qps) renewed_.push_back(i);
    }
    if (!pins && kinds_rng_.chance(0.5)) renewed_ = {renewed_[kinds_rng_.below(renewed_.size())]};
    if (pins) {  // who configures a NIC anew has the new numbers at once
      for (const unsigned qp : renewed_) {
        if (!same_psns_) renew_qp(plan_, qp, lives_rng_);
      }
    }
    const bool resets[] = {pins && (!alone || of_dut), pins && (!alone || !of_dut)};
    for (const bool dut : {true, false}) {
      if (resets[dut ? 0 : 1]) pin_falls(dut, alone);
    }
    if (pins && !alone) {
      dut_station_->connect(*peer_station_);
      peer_station_->connect(*dut_station_);
    }
    round_ = 0;
    reset_at_ = kNever;
    phase_begin_ = dut_station_->now();
    phase_ = Phase::Configure;
    if (!pins || alone) {
      soft_[0] = !resets[0];
      soft_[1] = !resets[1];
      give_up_qps();
      return;
    }
    // Now and then software is still at its tables when the next reset comes.
    if (lives_rng_.chance(0.2)) reset_at_ = dut_station_->now() + 1 + lives_rng_.below(4000);
  }

  static constexpr uint64_t kForNow = uint64_t{1} << 60;

  /// The pin of one NIC falls, whatever is going on. What is on the links still comes. With the other NIC's software
  /// knows nothing of before; alone it gives up its work, and waits for the other one's fence and the network.
  void pin_falls(bool dut, bool alone) {
    std::unique_ptr<Station>& station = dut ? dut_station_ : peer_station_;
    Recorder* recorder = (dut ? dut_recorder_ : peer_recorder_).get();
    auto next = this->station(dut, station->now(), life_);
    next->take_over(*station);
    if (alone) {
      next->keep_host(*station);
    } else {
      former_.add(*station);
    }
    if (alone) {
      next->wait(kForNow);
    } else if (same_psns_) {
      next->wait(Station::kResetCycles + network_cycles());
    }
    std::optional<RxTap>& tap = dut ? dut_tap_ : peer_tap_;
    if (tap) tap->cut(station->now_ps());
    if (recorder != nullptr) recorder->reset(station->now_ps());
    station = std::move(next);
    if (tap) tap.emplace(*recorder, preset_);
    if (auto& inside = dut ? dut_inside_ : peer_inside_) inside.emplace(*recorder, preset_);
  }

  /// Software resets QPs on the sides whose pins did not fall, and waits in Phase::Reset.
  void give_up_qps() {
    dut_station_->rest(true);
    for (const unsigned qp : renewed_) {
      if (soft_[0]) dut_station_->give_up_qp(qp);
      if (soft_[1]) peer_station_->give_up_qp(plan_.dut.qps[qp].peer);
    }
    if (soft_[0]) dut_station_->fence();
    if (soft_[1]) peer_station_->fence();
    quiet_since_ = dut_station_->now();
    phase_ = Phase::Reset;
  }

  /// The reset of a life whose traffic begins.
  void draw_reset() {
    const Scenario& s = options_.scenario;
    const auto most = static_cast<uint64_t>(2 * s.life_us * 1e6 / preset_.clock_ps);
    reset_at_ = dut_station_->now() + (s.reset_cycle != 0 ? s.reset_cycle : 1 + lives_rng_.below(most + 1));
  }
  bool last_life() const { return life_ + 1 >= options_.scenario.lives; }

  /// After so long the network holds nothing more of what QPs sent that send no more.
  uint64_t network_cycles() const {
    const Scenario& s = options_.scenario;
    const double ns = 20000 + 2 * s.delay_ns + s.jitter_ns + s.skew_ns + s.reorder_ns;
    return static_cast<uint64_t>(ns * 1000 / preset_.clock_ps);
  }

  enum class Phase { Configure, Traffic, Drain, Reset, Reconnect, Counters, Done };

  static std::vector<std::string> comments_of(const CosimOptions& o, const SidePlan& side) {
    std::vector<std::string> list = o.capture_comments;
    std::ranges::move(side.wire_notes(), std::back_inserter(list));
    return list;
  }

  uint64_t share(bool dut) const {
    const Scenario& s = options_.scenario;
    const bool a = s.dut_sends, b = s.peer_sends;
    const auto round = nearest(static_cast<double>(options_.packets) / (s.rounds + s.lives - 1));
    if (a && b) return dut ? (round + 1) / 2 : round / 2;
    return (dut ? a : b) ? round : 0;
  }
  uint64_t completed() const {
    return former_.data_packets + dut_station_->requester().completed_packets() +
           peer_station_->requester().completed_packets();
  }
  bool waving() const { return options_.wave_to != 0; }
  static constexpr const char* kStopped = "stopped before the end";
  bool stopped() const { return options_.stop && options_.stop->load(std::memory_order_relaxed); }
  bool failed() const {
    return dut_->fault() || (!waving() && (dut_->failed_assertion() || !divergences_.empty() ||
                                           !dut_station_->problem().empty() || !peer_station_->problem().empty()));
  }

  /// Cycles of the next time window: a reset ends one.
  uint64_t window() const { return last_life() ? window_ : std::min(window_, reset_at_ - dut_station_->now()); }

  void run_dut(uint64_t cycles) {
    const bool record = options_.record && phase_ == Phase::Traffic;
    for (uint64_t i = 0; i < cycles; ++i) {
      const uint64_t cycle = dut_station_->now();
      if (waving()) {
        if (cycle == options_.wave_from) dut_->wave(options_.wave_path.c_str(), true);
        if (cycle >= options_.wave_to) break;
      }
      Follower::Cycle& now = follower_.look(*dut_, lockstep_);
      if (dut_->fault() || (dut_->failed_assertion() && !waving())) break;
      shows_streams_ = now.data != nullptr;
      if (dut_recorder_ && shows_streams_)
        tap(dut_tap_, *dut_recorder_, follower_.core(), follower_.lanes(), *dut_station_);
      if (dut_recorder_ && shows_streams_ && options_.log_streams)
        tap(dut_streams_, *dut_recorder_, follower_.core(), follower_.lanes(), *dut_station_);
      if (dut_recorder_ && shows_streams_)
        tap(dut_inside_, *dut_recorder_, follower_.core(), dut_->inside(dut_now_) ? &dut_now_ : nullptr, *dut_station_);
      for (unsigned p = 0; follower_.pins().tx_tvalid >> p != 0; ++p)
        now.frame_offset[p] = static_cast<uint16_t>(dut_station_->tx_frame_offset(p));
      mrc_pins_in& in = dut_in_[follower_.ahead()];
      copy_held(in, held_);
      dut_station_->cycle(follower_.pins(), in);
      in.bug = static_cast<uint8_t>(options_.bug);
      now.in = &in;
      if (record) {
        recorded_ = recorded_ || !options_.record(in);
      } else if (options_.record_setup && phase_ == Phase::Configure) {
        options_.record_setup(in);
      }
      dut_->step(in);
      copy_held(held_, in);
      if (!dut_station_->problem().empty() && !waving()) {
        follower_.next();
        break;
      }
      if (follower_.next() && !catch_up()) return;
    }
    catch_up();
  }

  /// For the log: what the streams of a NIC show in this cycle.
  void tap(std::optional<RxTap>& tap, Recorder& recorder, const uint32_t* core, const uint32_t* lanes,
           const Station& station) const {
    if (station.in_reset()) return;
    if (!tap) {
      recorder.shows_streams(options_.log_shows);
      tap.emplace(recorder, preset_);
    }
    tap->look(core, lanes, station.now_ps());
  }

  /// The same for how busy the streams are.
  void tap(std::optional<StreamTap>& tap, Recorder& recorder, const uint32_t* core, const uint32_t* lanes,
           const Station& station) const {
    if (station.in_reset()) return;
    if (!tap) {
      tap.emplace(preset_, [&recorder](std::string name, uint64_t value, uint64_t time_ps) {
        recorder.counter(std::move(name), value, time_ps);
      });
    }
    tap->look(core, lanes, station.now_ps());
  }

  /// The same with what moves inside, if it shows that.
  void tap(std::optional<InsideTap>& tap, Recorder& recorder, const uint32_t* core, const mrc_inside_t* inside,
           const Station& station) const {
    if (!inside || station.in_reset()) return;
    if (!tap) {
      recorder.shows_inside();
      tap.emplace(recorder, preset_);
    }
    tap->look(*inside, core, station.now_ps());
  }

  /// Inputs that stay as they are while the station says nothing else: all but the data that have a valid.
  static void copy_held(mrc_pins_in& to, const mrc_pins_in& from) {
    std::memcpy(&to, &from, offsetof(mrc_pins_in, wqe));
  }

  /// The model does what the device has done. False: they differ, and the run ends there.
  bool catch_up() {
    const unsigned ahead = follower_.ahead();
    if (!divergences_.empty()) {  // waves go on without the model
      follower_.drop();
      return true;
    }
    const unsigned agreed = follower_.catch_up(dut_station_->now() - ahead, lockstep_, Station::kResetCycles);
    if (agreed == ahead) return true;
    divergences_ = lockstep_.divergences();
    for (Divergence& d : divergences_) {
      for (unsigned p = 0; p < preset_.num_planes; ++p) {
        if (d.where == fmt::format("pins tx[{}]", p))
          d.context = fmt::format("byte {} of the frame", follower_.at(agreed).frame_offset[p]);
      }
    }
    follower_.drop();
    return waving();
  }

  void run_peer(uint64_t cycles) {
    for (uint64_t i = 0; i < cycles; ++i) {
      peer_.outputs(peer_out_);
      if (peer_recorder_) {
        const uint32_t *core = nullptr, *lanes = nullptr;
        peer_.observe(core, lanes);
        tap(peer_tap_, *peer_recorder_, core, lanes, *peer_station_);
        if (options_.log_streams) tap(peer_streams_, *peer_recorder_, core, lanes, *peer_station_);
        peer_.inside(peer_now_);
        tap(peer_inside_, *peer_recorder_, core, &peer_now_, *peer_station_);
      }
      peer_station_->cycle(peer_out_, peer_in_);
      if (!peer_station_->problem().empty() && !waving()) return;
      peer_.step(peer_in_);
    }
  }

  /// True: the run ends here.
  bool next_phase() {
    const uint64_t now = dut_station_->now();
    if (waving() && now >= options_.wave_to) return true;
    if (recorded_) return true;
    if (!last_life() && now >= reset_at_) {
      end_life();
      return false;
    }
    uint64_t progress = std::max({dut_station_->last_progress(), peer_station_->last_progress(), phase_begin_});
    if (phase_ == Phase::Configure || phase_ == Phase::Reconnect) progress = std::max(progress, last_access(now));
    const auto next = [&](Phase phase) {
      phase_ = phase;
      phase_begin_ = now;
    };
    switch (phase_) {
      case Phase::Configure:
        if (dut_station_->configured() && peer_station_->configured()) {
          dut_station_->start_traffic();
          peer_station_->start_traffic();
          next(Phase::Traffic);
          traffic_begin_ = now;
          if (!last_life()) draw_reset();
        }
        break;
      case Phase::Traffic:
        if (options_.cycles != 0 && now - traffic_begin_ >= options_.cycles) {
          dut_station_->stop_traffic();
          peer_station_->stop_traffic();
        }
        if (dut_station_->traffic_done() && peer_station_->traffic_done()) {
          traffic_end_ = now;
          quiet_since_ = now;
          dut_station_->rest(true);
          peer_station_->rest(true);
          next(Phase::Drain);
        }
        break;
      case Phase::Drain:
        // Probes of bad EVs go on for as long as it takes to revive them; data frames do not.
        quiet_since_ = std::max({quiet_since_, dut_station_->last_data_cycle(), peer_station_->last_data_cycle()});
        if (!last_life()) {  // nothing is left to disturb
          reset_at_ = std::min(reset_at_, now + 1);
          break;
        }
        if (!dut_station_->host_quiet() || !peer_station_->host_quiet()) quiet_since_ = now;
        // A whole timer interval without a data frame: nobody believes that anything is missing.
        if (now - quiet_since_ > quiet_cycles_ && dut_station_->driver_idle()) {
          if (++round_ < options_.scenario.rounds) {
            reset_qps();
            quiet_since_ = now;
            next(Phase::Reset);
            break;
          }
          dut_station_->read_counters(dut_counters_);
          peer_station_->read_counters(peer_counters_);
          next(Phase::Counters);
        }
        break;
      case Phase::Reset: {
        const bool dut_idle = !soft_[0] || dut_station_->driver_idle(),
                   peer_idle = !soft_[1] || peer_station_->driver_idle();
        if (!dut_idle || !peer_idle) quiet_since_ = now;
        // What the QPs still had in the NICs has left; on the links, too, and answers that are not fenced.
        if (now - quiet_since_ < network_cycles()) break;
        if (std::ranges::any_of(renewed_, [&](unsigned qp) {
              return !dut_station_->gave_up(qp) || !peer_station_->gave_up(plan_.dut.qps[qp].peer);
            }))
          break;
        for (const unsigned qp : renewed_) {
          if (soft_[0] && soft_[1] && !same_psns_) renew_qp(plan_, qp, round_rng_);
          dut_station_->reconnect_qp(qp, soft_[0]);
          peer_station_->reconnect_qp(plan_.dut.qps[qp].peer, soft_[1]);
        }
        if (!soft_[0]) dut_station_->wait(0);  // its pin fell: it is configured now
        if (!soft_[1]) peer_station_->wait(0);
        next(Phase::Reconnect);
        break;
      }
      case Phase::Reconnect:
        if (!dut_station_->driver_idle() || !peer_station_->driver_idle()) break;
        for (const unsigned qp : renewed_) {  // now they are in RTS
          dut_station_->revive_qp(qp);
          peer_station_->revive_qp(plan_.dut.qps[qp].peer);
        }
        for (const bool dut : {true, false}) {
          Station& station = dut ? *dut_station_ : *peer_station_;
          station.rest(false);
          station.more(share(dut));
          station.start_traffic();
        }
        if (!last_life()) draw_reset();
        next(Phase::Traffic);
        break;
      case Phase::Counters:
        if (dut_station_->driver_idle() && peer_station_->driver_idle()) {
          next(Phase::Done);
          return true;
        }
        break;
      case Phase::Done:
        return true;
    }
    if (now - progress > hang_cycles_) {
      hang_ = true;
      return true;
    }
    return false;
  }

  /// When an access of registers ended last, on either side. Thousands of QPs take longer to set up than a hang does.
  uint64_t last_access(uint64_t now) {
    const uint64_t ended = dut_station_->accesses_ended() + peer_station_->accesses_ended();
    if (ended != accesses_) {
      accesses_ = ended;
      access_at_ = now;
    }
    return access_at_;
  }

  /// Resets the QPs that have failed on either side, and a quarter of the others.
  void reset_qps() {
    renewed_.clear();
    for (unsigned i = 0; i < preset_.num_qps; ++i) {
      const QpIndex peer = plan_.dut.qps[i].peer;
      if (peer >= preset_.num_qps) continue;
      if (!dut_station_->requester().dead(i) && !peer_station_->requester().dead(peer) && !round_rng_.chance(0.25))
        continue;
      renewed_.push_back(i);
      dut_station_->reset_qp(i);
      peer_station_->reset_qp(peer);
    }
    dut_station_->fence();
    peer_station_->fence();
    soft_[0] = soft_[1] = true;
    same_psns_ = false;
  }

  void add_side(CosimResult::Side& side, const Station& station, const NicCounters& counters) const {
    for (unsigned p = 0; p < preset_.num_planes; ++p) side.planes.push_back(station.plane(p));
    side.counters = counters;
    side.link = station.link().counters();
    side.packets = station.requester().completed_packets();
    side.bytes = station.requester().completed_bytes();
    side.messages = station.requester().completed();
    side.recovery = station.recovery();
    side.link_recovery = station.link_recovery();
    side.series = station.series();
    side.first_data_ps = station.first_data_ps();
    side.last_data_ps = station.last_data_ps();
    side.ev_min = ~uint64_t{0};
    for (const auto& [ev, count] : station.packets_per_ev()) {
      side.ev_min = std::min<uint64_t>(side.ev_min, count);
      side.ev_max = std::max<uint64_t>(side.ev_max, count);
      side.ev_packets += count;
      ++side.evs;
    }
    if (side.evs == 0) side.ev_min = 0;
    uint64_t wire = 0, all = 0;
    for (const PlaneCounters& p : side.planes) {
      wire += p.tx_payload_frames_wire_bytes;
      all += p.tx_wire_bytes;
    }
    const auto time_ns = static_cast<double>(side.last_data_ps - side.first_data_ps) / 1000;
    if (time_ns > 0 && wire > 0) {
      side.busy = static_cast<double>(all) * byte_ps(preset_) / 1000 / (time_ns * preset_.num_planes);
      side.goodput_gbps = static_cast<double>(side.bytes) * 8 / time_ns;
      side.limit_gbps =
          static_cast<double>(side.bytes) / static_cast<double>(wire) * preset_.num_planes * preset_.port_gbps;
    }
  }

  CosimResult collect() {
    CosimResult r;
    r.cycles = dut_station_->now();
    if (!divergences_.empty() && !waving()) r.cycles = divergences_.front().cycle;
    r.traffic_cycles = (traffic_end_ ? traffic_end_ : r.cycles) - std::min(traffic_begin_, r.cycles);
    r.wire = plan_.dut.wire();
    r.capture_comments = capture_comments_;
    r.dut_name = dut_->name();
    r.dut_version = dut_->version();
    r.dut_in_process = dut_->in_process();
    if (waving()) dut_->wave(nullptr, false);
    add_side(r.dut, *dut_station_, dut_counters_);
    add_side(r.peer, *peer_station_, peer_counters_);
    r.lives = life_ + 1;
    CosimTotals all = former_;
    for (const Station* s : {dut_station_.get(), peer_station_.get()}) all.add(*s);
    static_cast<CosimTotals&>(r) = all;
    r.events = lockstep_.log().count();
    r.event_hash = lockstep_.log().hash();
    r.compared_events = shows_streams_ ? r.events : 0;
    r.csr_accesses = dut_station_->csr_accesses();
    r.divergences = divergences_;

    const auto problem = [&](std::string text, std::string block, uint64_t cycle, int qp) {
      if (!r.problem.empty()) return;
      r.problem = std::move(text);
      r.problem_block = std::move(block);
      r.problem_cycle = cycle;
      r.problem_qp = qp;
    };
    const Station* stations[] = {dut_station_.get(), peer_station_.get()};
    for (const Station* s : stations) {
      const bool dut = s == dut_station_.get();
      // What the device did beyond the first difference does not count: the model found it a few cycles later.
      if (dut && !divergences_.empty() && s->problem_cycle() >= divergences_.front().cycle) continue;
      if (!s->problem().empty()) {
        problem((dut ? "at the device: " : "at the peer: ") + s->problem(), s->problem_block(), s->problem_cycle(),
                dut ? s->problem_qp() : -1);
      }
    }
    // What the device does after an assertion of its own has failed means nothing.
    if (const FailedAssertion* failed = dut_->failed_assertion()) r.failed_assertion = *failed;
    if (model_failed_) r.failed_assertion = model_failed_;
    const bool asserted = r.failed_assertion &&
                          (divergences_.empty() || divergences_.front().cycle > r.failed_assertion->cycle) &&
                          (r.problem.empty() || r.problem_cycle > r.failed_assertion->cycle);
    if (!asserted) r.failed_assertion.reset();
    r.assertions = dut_->assertions();
    if (asserted) {
      r.outcome = Outcome::Assertion;
      r.divergences.clear();
      r.problem.clear();
      r.problem_block.clear();
      r.problem_cycle = r.failed_assertion->cycle;
      r.cycles = std::min(r.cycles, r.failed_assertion->cycle);
    } else if (!divergences_.empty()) {
      r.outcome = Outcome::Mismatch;
      r.qp = divergences_.front().qp;
    } else if (!r.problem.empty()) {
      r.outcome = Outcome::DataError;
      r.qp = r.problem_qp;
    } else if (dut_->fault()) {
      r.outcome = stopped() ? Outcome::Incomplete : Outcome::DeviceError;
      r.problem_cycle = dut_->fault()->cycle;
      if (stopped()) r.reason = kStopped;
    } else if (hang_) {
      r.outcome = Outcome::Hang;
      for (const Station* s : stations) {
        const Station& other = s == dut_station_.get() ? *peer_station_ : *dut_station_;
        for (const Requester::Stuck& stuck : s->requester().stuck()) {
          r.stuck.push_back({s == dut_station_.get() ? "device" : "peer", stuck.qp, stuck.messages, stuck.oldest,
                             other.responder().written(stuck.oldest.id)});
        }
      }
      r.qp = r.stuck.empty()                    ? -1
             : r.stuck.front().side == "device" ? r.stuck.front().qp
                                                : r.stuck.front().oldest.peer_qp;
      static constexpr const char* kDoing[] = {
          "configuring",          "sending", "waiting for the ports to become quiet", "resetting QPs", "connecting QPs",
          "reading the counters", ""};
      problem(fmt::format("no progress for {} cycles while {}; {} QPs have messages that do not complete", hang_cycles_,
                          kDoing[static_cast<int>(phase_)], r.stuck.size()),
              "", dut_station_->now(), r.qp);
      if (r.stuck.empty()) {  // then it is a receiver that waits
        for (const Station* s : stations) {
          if (const std::string due = s->responder().finish(); !due.empty()) {
            r.problem += fmt::format("; at the {}: {}", s == dut_station_.get() ? "device" : "peer", due);
          }
        }
      }
    } else if (phase_ == Phase::Done) {
      for (const Station* s : stations) {
        const std::string who = s == dut_station_.get() ? "at the device: " : "at the peer: ";
        if (std::string wrong = s->finish(); !wrong.empty()) problem(who + wrong, "rx_place", r.cycles, -1);
        const NicCounters& counters = s == dut_station_.get() ? dut_counters_ : peer_counters_;
        if (std::string wrong = s->check_counters(counters); !wrong.empty()) problem(who + wrong, "csr", r.cycles, -1);
      }
      r.outcome = r.problem.empty() ? Outcome::Pass : Outcome::DataError;
      if (r.outcome == Outcome::Pass && r.data_packets == 0) {
        r.outcome = Outcome::Empty;
        r.reason = fmt::format("no data packet reached the other side: {} WQEs were refused and {} QPs failed before",
                               r.refused, r.failed_qps);
        if (r.refused + r.failed_qps == 0) r.reason = "no data packet was sent";
      }
    } else {
      r.outcome = Outcome::Incomplete;
      r.reason = reason_;
      r.out_of_memory = out_of_memory_;
      frames_.note("incomplete: " + reason_);
      peer_frames_.note("incomplete: " + reason_);
    }
    if (r.outcome == Outcome::Mismatch || r.outcome == Outcome::DataError || r.outcome == Outcome::Hang ||
        r.outcome == Outcome::DeviceError || r.outcome == Outcome::Assertion) {
      const uint64_t until = r.wrong_cycle();
      r.last_events = lockstep_.log().newest(32, until);
      if (r.qp >= 0) r.qp_events = lockstep_.log().newest(32, until, r.qp, lockstep_.qp_names());
      r.frames = frames_.newest((until + 1) * preset_.clock_ps / 1000);
      r.window = lockstep_.log().newest(std::max<uint64_t>(options_.window_events, kWindowEvents), until);
    } else if (options_.window_events > 0) {
      r.window = lockstep_.log().newest(options_.window_events, r.cycles);
    }
    r.qp_names.assign(lockstep_.qp_names().begin(), lockstep_.qp_names().end());
    return r;
  }

  CosimOptions options_;
  const Preset& preset_;
  Plan plan_;
  std::unique_ptr<Recorder> dut_recorder_, peer_recorder_;  // null: nobody wants a log
  std::optional<RxTap> dut_tap_, peer_tap_;
  std::optional<InsideTap> dut_inside_, peer_inside_;
  std::optional<StreamTap> dut_streams_, peer_streams_;
  mrc_inside_t dut_now_{}, peer_now_{};                  // each of its own thread
  std::unique_ptr<Station> dut_station_, peer_station_;  // of this life
  std::unique_ptr<Dut> dut_;
  Nic peer_;
  Lockstep lockstep_;
  Follower follower_;
  std::vector<std::string> capture_comments_;
  FrameRing frames_, peer_frames_;
  std::array<mrc_pins_in, Follower::kDepth> dut_in_{};
  mrc_pins_in held_{}, peer_in_{};
  mrc_pins_out peer_out_{};
  NicCounters dut_counters_, peer_counters_;
  std::vector<Divergence> divergences_;
  std::optional<FailedAssertion> model_failed_;
  uint64_t window_ = 1, hang_cycles_ = 0, quiet_cycles_ = 0;
  Phase phase_ = Phase::Configure;
  static constexpr uint64_t kNever = ~uint64_t{0};
  uint64_t reset_at_ = kNever;  // the first cycle of the next life
  unsigned life_ = 0;
  CosimTotals former_;  // of the lives before
  uint64_t accesses_ = 0, access_at_ = 0;
  uint64_t phase_begin_ = 0, traffic_begin_ = 0, traffic_end_ = 0, quiet_since_ = 0;
  bool hang_ = false, recorded_ = false, shows_streams_ = false;
  std::string reason_;  // why it ended early
  bool out_of_memory_ = false;
  /// Given back when there is no memory left.
  std::unique_ptr<char[]> spare_ = std::make_unique<char[]>(std::size_t{1} << 20);
  std::shared_ptr<Snapshots> snapshots_;
  unsigned round_ = 0;
  Rng round_rng_, lives_rng_, kinds_rng_;
  std::vector<unsigned> renewed_;  // QPs of the device that are connected anew
  bool soft_[2] = {true, true};    // by software on this side: device, peer
  bool same_psns_ = false;         // with the PSNs of before
};

}  // namespace

const char* name_of(Outcome outcome) {
  static constexpr const char* kNames[] = {"pass",       "mismatch", "data_error",   "hang",
                                           "incomplete", "empty",    "device_error", "assertion"};
  return kNames[static_cast<int>(outcome)];
}

void CosimTotals::add(const Station& s) {
  data_packets += s.requester().completed_packets();
  messages += s.requester().completed();
  bytes += s.requester().completed_bytes();
  immediates += s.responder().deliveries();
  refused += s.requester().refused();
  failed_qps += s.requester().failed_qps();
  naks_invalid += s.requester().naks_invalid();
  naks_access += s.requester().naks_access();
  overruns += s.responder().overruns();
  no_bytes += s.requester().no_bytes();
  held += s.requester().held();
  writes_verified += s.responder().verified();
  longest_fence = std::max(longest_fence, s.fences().longest());
  ecc_injected += s.ecc().injected;
  ecc_fixed += s.ecc().fixed;
  ecc_bad += s.ecc().bad;
}

CosimResult run_cosim(const CosimOptions& options) {
  std::string error;
  std::unique_ptr<Dut> dut = options.open(error);
  if (!dut) {
    CosimResult result;
    result.error = error;
    return result;
  }
  auto run = std::make_unique<Run>(options, std::move(dut));
  return run->run();
}

}  // namespace mrc::tb
