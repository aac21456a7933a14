// SPDX-License-Identifier: Apache-2.0
#include "tb/agent/agent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "reference/profile.hpp"
#include "tb/worker.hpp"
#include "util/round.hpp"

namespace mrc::tb {
namespace {

constexpr Time kQuery = 5'000'000;  ///< how often somebody is asked whether this is enough
constexpr const char* kStopped = "stopped before the end";

/// The judge's profile as the log has it: without events if they do not count.
std::string profile_of(const OpenNic& nic, const SidePlan& plan, bool shows) {
  ref::Profile p = ref::read_profile(nic.info.profile, "profile of " + nic.info.name);
  if (!shows) p.shows = 0;
  p.all_completions = true;
  if (p.addresses.empty()) {
    for (unsigned d = 0; d < plan.dests; ++d) p.addresses.push_back(ip_bytes(plan.ip ^ d));
  }
  return ref::to_json(p);
}

NamedSettings without(NamedSettings list, const std::vector<std::string>& refused) {
  std::erase_if(list, [&](const auto& s) { return std::ranges::find(refused, s.first) != refused.end(); });
  return list;
}

class AgentRun {
 public:
  explicit AgentRun(const AgentOptions& o)
      : options_(o), preset_(*o.preset), round_rng_(o.seed, "rounds"), lives_rng_(o.seed, "lives") {
    dut_.device = o.dut;
    peer_.device = o.peer;
  }

  AgentResult run() {
    const auto begin = Clock::now();
    try {
      prepare();
      turns(begin);
    } catch (const Refusal& refusal) {
      if (refusal.unsupported)
        throw CannotPlay(refusal.what(), "docs/guide/levels.md says which scenarios which NICs can play.");
      stop_with(AgentOutcome::DeviceError, refusal.what());
    } catch (const DeviceGone& gone) {
      stop_with(AgentOutcome::DeviceError, gone.what());
    }
    collect();
    result_.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return std::move(result_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase { Traffic, Drain, Reset, Reconnect, Done, Ending };

  void stop_with(AgentOutcome outcome, std::string sentence) {
    while (sentence.ends_with('.')) sentence.pop_back();
    result_.outcome = outcome;
    result_.problem = std::move(sentence);
    result_.problem_time = now_;
    decided_ = true;
  }

  /// Opens both, finds out what they can play, and brings them into the planned state.
  void prepare() {
    OpenRequest request;
    request.planes = preset_.num_planes;
    request.seed = options_.seed;
    dut_.info = dut_.device->open(request);
    peer_.info = peer_.device->open(request);
    scenario_ = fit(options_.scenario, preset_, dut_, peer_, result_.left_out);
    check(scenario_, preset_);
    plan_ = make_plan(preset_, scenario_, options_.seed);
    fit(plan_, preset_, scenario_, dut_, peer_);
    std::vector<std::string> refused;
    request.settings = settings_of(plan_.dut, preset_, scenario_);
    open_with(dut_, request, refused);
    if (!options_.dut_profile.empty()) dut_.info.profile = options_.dut_profile;
    fit_requestor(plan_.dut, scenario_, dut_, without(request.settings, refused));
    if (!refused.empty())
      result_.left_out.push_back(fmt::format("settings that the device has not: {}", fmt::join(refused, ", ")));
    request.seed = options_.seed + 1;
    request.settings =
        agreed(settings_of(plan_.peer, preset_, scenario_), dut_.info.profile, refused, scenario_.peer_port != 0);
    refused.clear();
    const NamedSettings wanted = request.settings;
    open_with(peer_, request, refused);
    fit_requestor(plan_.peer, scenario_, peer_, without(request.settings, refused));
    const ref::Settings of_dut = ref::read_profile(dut_.info.profile, "profile of the device").settings;
    const ref::Settings of_peer = ref::read_profile(peer_.info.profile, "profile of the peer").settings;
    for (const std::string& name : refused) {
      // One that cannot be set may be as it must be.
      const bool must = std::ranges::any_of(
          ref::settings(), [&](const ref::Setting& s) { return name == s.name && s.get(of_dut) != s.get(of_peer); });
      if (must)
        throw CannotPlay(fmt::format("the device has another {} than the peer can have.", name),
                         "Take another --peer, or another scenario.");
    }
    if (!refused.empty())
      result_.left_out.push_back(fmt::format("settings that the peer has not: {}", fmt::join(refused, ", ")));
    result_.dut = dut_.info;
    result_.peer = peer_.info;
    const std::string dut_profile = profile_of(dut_, plan_.dut, options_.shows);
    result_.shows = ref::read_profile(dut_profile, "profile").shows;
    sides_[0].emplace(AgentSide::Setup{preset_, scenario_, options_.seed, true, plan_.dut, plan_.peer, dut_, peer_,
                                       share(true), dut_profile, options_.log, options_.shows});
    sides_[1].emplace(AgentSide::Setup{preset_, scenario_, options_.seed, false, plan_.peer, plan_.dut, peer_, dut_,
                                       share(false), profile_of(peer_, plan_.peer, options_.shows), options_.log,
                                       options_.shows});
    dut().connect(peer());
    peer().connect(dut());
    dut().bring_up();
    peer().bring_up();
    for (unsigned i = 0; i < preset_.num_qps; ++i) {
      if (plan_.dut.qps[i].peer < preset_.num_qps) connect(i);
    }
  }

  /// A pair of queue pairs. Devices that have the same capabilities for all of them get those of the first.
  void connect(unsigned index) {
    SidePlan::Qp &a = plan_.dut.qps[index], &b = plan_.peer.qps[a.peer];
    const auto try_it = [&] {
      dut().connect_qp(index);
      try {
        peer().connect_qp(a.peer);
      } catch (const Refusal&) {
        dut().reset_qp(index);  // for another try
        throw;
      }
    };
    if (!first_qp_) {
      first_qp_ = index;
      return try_it();
    }
    if (same_caps_) take_caps(a, b);
    why_.clear();
    const auto or_else = [&](const char* what, const auto& change) {
      try {
        try_it();
        return true;
      } catch (const Refusal& refusal) {
        if (!refusal.unsupported) throw;
        std::string why = refusal.what();
        if (why.ends_with('.')) why.pop_back();
        if (why == why_) {  // it was not that
          result_.left_out.pop_back();
          same_caps_ = false;
        }
        result_.left_out.push_back(fmt::format("{}: {}", what, why));
        why_ = std::move(why);
        change();
        return false;
      }
    };
    if (!same_caps_ && or_else("capabilities that differ between queue pairs", [&] {
          same_caps_ = true;
          take_caps(a, b);
        }))
      return;
    if (a.cc && or_else("the controller of a queue pair", [&] { a.cc = b.cc = false; })) return;
    try_it();
  }
  void take_caps(SidePlan::Qp& a, SidePlan::Qp& b) {
    const SidePlan::Qp &x = plan_.dut.qps[*first_qp_], &y = plan_.peer.qps[x.peer];
    a.ts = b.ts = x.ts;
    a.trim_nack = x.trim_nack;
    b.trim_nack = y.trim_nack;
    a.svc_time = x.svc_time;
    b.svc_time = y.svc_time;
  }

  uint64_t share(bool dut) const {
    const bool a = scenario_.dut_sends, b = scenario_.peer_sends;
    const auto round = nearest(static_cast<double>(options_.packets) / scenario_.rounds);
    if (a && b) return dut ? (round + 1) / 2 : round / 2;
    return (dut ? a : b) ? round : 0;
  }

  void turns(Clock::time_point begin) {
    const Time clock = preset_.clock_ps;
    window_ = std::max(clock, static_cast<Time>(scenario_.delay_ns * 1000) / clock * clock);
    const double timer_ps = 1.024e6 * static_cast<double>(uint64_t{1} << scenario_.rto);
    quiet_ =
        3000 * clock +
        static_cast<Time>((scenario_.delay_ns + scenario_.jitter_ns + scenario_.skew_ns + scenario_.reorder_ns) * 1000);
    // Or until memory of abandoned messages is free again.
    const auto drained = static_cast<Time>(2000 * drained_ns(scenario_, preset_));
    hang_ = std::max({200000 * clock, static_cast<Time>(40 * timer_ps), drained});
    if (scenario_.hang_us > 0) hang_ = static_cast<Time>(scenario_.hang_us * 1e6);
    auto reported = begin;
    draw_reset();
    for (;;) {
      const bool ends = !last_life() && phase_ <= Phase::Drain && reset_at_ > now_;
      const Time to = std::min(now_ + window_, ends ? reset_at_ : log::kNever);
      run_both(to);
      now_ = to;
      if (!dut().problem().empty() || !peer().problem().empty()) break;
      if (!AgentSide::exchange(dut(), peer(), now_).empty()) break;
      monitor_.post(dut().flush(now_));
      monitor_.post(peer().flush(now_));
      if (next_phase()) break;
      if (options_.enough && now_ >= queried_ + kQuery) {
        queried_ = now_;
        monitor_.wait();
        if (options_.enough()) {
          stop_with(AgentOutcome::Incomplete, "a rule is broken, and nothing that follows says more");
          break;
        }
      }
      if (options_.stop && options_.stop->load(std::memory_order_relaxed)) {
        stop_with(AgentOutcome::Incomplete, kStopped);
        break;
      }
      if (options_.progress && Clock::now() - reported > std::chrono::milliseconds(200)) {
        reported = Clock::now();
        const uint64_t done = dut().requester().completed_packets() + peer().requester().completed_packets();
        options_.progress({now_, done, static_cast<double>(done) / static_cast<double>(options_.packets),
                           std::chrono::duration<double>(reported - begin).count()});
      }
    }
  }

  /// Both NICs run to time `to`: neither can reach the other before it.
  void run_both(Time to) {
    peer_thread_.post([this, from = now_, to] { peer().run(from, to); });
    std::exception_ptr wrong;
    try {
      dut().run(now_, to);
    } catch (...) {
      wrong = std::current_exception();
    }
    try {
      peer_thread_.wait();
    } catch (...) {
      if (wrong == nullptr) wrong = std::current_exception();
    }
    if (wrong != nullptr) std::rethrow_exception(wrong);
  }

  /// True: the run ends here.
  bool next_phase() {
    const auto next = [&](Phase phase) {
      phase_ = phase;
      phase_begin_ = now_;
    };
    if (!last_life() && now_ >= reset_at_ && phase_ <= Phase::Drain) {
      end_life();
      next(Phase::Ending);
      return false;
    }
    switch (phase_) {
      case Phase::Traffic:
        if (dut().traffic_done() && peer().traffic_done()) {
          traffic_end_ = now_;
          dut().rest(true);
          next(Phase::Drain);
        }
        break;
      case Phase::Drain: {
        if (!last_life()) reset_at_ = now_;  // nothing is left to disturb
        const Time since = std::max({phase_begin_, dut().last_data(), peer().last_data()});
        if (now_ <= since + quiet_) break;
        ++result_.rounds;
        if (result_.rounds < scenario_.rounds && reset_qps()) {
          next(Phase::Reset);
          break;
        }
        phase_ = Phase::Done;
        return true;
      }
      case Phase::Reset: {
        if (dut().pending() + peer().pending() != 0) break;
        // What the QPs still had in the NICs and on the links has left.
        const double ns = 20000 + 2 * scenario_.delay_ns + scenario_.reorder_ns;
        if (now_ < since_packets() + static_cast<Time>(ns * 1000)) break;
        for (const unsigned qp : renewed_) {
          renew_qp(plan_, qp, round_rng_);
          fit(plan_, preset_, scenario_, dut_, peer_);
          dut().connect_qp(qp);
          peer().connect_qp(plan_.dut.qps[qp].peer);
        }
        next(Phase::Reconnect);
        break;
      }
      case Phase::Reconnect:
        if (dut().pending() + peer().pending() != 0) break;
        for (const unsigned qp : renewed_) {
          dut().revived(qp);
          peer().revived(plan_.dut.qps[qp].peer);
        }
        renewed_.clear();
        draw_reset();
        dut().rest(false);
        dut().more(share(true));
        peer().more(share(false));
        next(Phase::Traffic);
        break;
      case Phase::Ending:
        if (dut().pending() + peer().pending() != 0 || (wait_ != 0 && now_ < since_packets() + wait_)) break;
        begin_life();
        next(Phase::Reconnect);
        break;
      case Phase::Done:
        return true;
    }
    if (now_ - std::max({dut().last_progress(), peer().last_progress(), phase_begin_}) <= hang_) return false;
    static constexpr const char* kDoing[] = {
        "sending",      "waiting for the ports to become quiet", "resetting queue pairs", "connecting queue pairs", "",
        "ending a life"};
    stop_with(AgentOutcome::Hang, fmt::format("no progress for {} us while {}; {}", hang_ / 1'000'000,
                                              kDoing[static_cast<int>(phase_)], stuck()));
    return true;
  }

  /// When the phase began, or a queue pair's packet left for the last time since then: a NIC whose host is slow has
  /// packets inside for long.
  Time since_packets() { return std::max({phase_begin_, dut().last_packet(), peer().last_packet()}); }

  bool last_life() const { return life_ + 1 >= scenario_.lives; }

  /// When the life whose traffic begins ends.
  void draw_reset() {
    if (last_life()) return;
    reset_at_ = now_ + 1 + lives_rng_.below(static_cast<uint64_t>(2e6 * scenario_.life_us) + 1);
  }

  /// In the middle of traffic: by the pins of both NICs, of one of them while software takes the queue pairs of the
  /// other to RESET, or by software alone.
  void end_life() {
    ++life_;
    for (const bool at_dut : {true, false}) {
      count(at_dut);
      side(at_dut).stop_traffic();
    }
    dut().rest(true);
    same_psns_ = lives_rng_.chance(scenario_.same_psns);
    const bool alone = lives_rng_.chance(scenario_.alone), of_dut = lives_rng_.chance(0.5);
    const bool pins = alone || !lives_rng_.chance(scenario_.by_software);
    for (const bool at_dut : {true, false}) {
      if (pins && (!alone || at_dut == of_dut)) {
        side(at_dut).reset_nic();
      } else {
        side(at_dut).reset_qps();
      }
    }
    // What a NIC that was not reset still had inside has left; or, with the same PSNs, the network.
    const double ns = 20000 + 2 * scenario_.delay_ns + scenario_.jitter_ns + scenario_.skew_ns + scenario_.reorder_ns;
    wait_ = alone || !pins || same_psns_ ? static_cast<Time>(ns * 1000) : 0;
  }

  void begin_life() {
    for (unsigned i = 0; i < preset_.num_qps && !same_psns_; ++i) {
      if (plan_.dut.qps[i].peer < preset_.num_qps) renew_qp(plan_, i, lives_rng_);
    }
    fit(plan_, preset_, scenario_, dut_, peer_);
    const uint64_t seed = Rng::hash(options_.seed + life_ * uint64_t{0x9e3779b97f4a7c15});
    for (const bool at_dut : {true, false}) side(at_dut).begin_life(seed);
    dut().connect(peer());
    peer().connect(dut());
    for (unsigned i = 0; i < preset_.num_qps; ++i) {
      if (plan_.dut.qps[i].peer >= preset_.num_qps) continue;
      dut().connect_qp(i);
      peer().connect_qp(plan_.dut.qps[i].peer);
    }
  }

  std::string stuck() {
    for (const bool at_dut : {true, false}) {
      AgentSide &from = at_dut ? dut() : peer(), &to = at_dut ? peer() : dut();
      const auto list = from.requester().stuck();
      if (list.empty()) continue;
      const Requester::Stuck& s = list.front();
      result_.problem_qp = (at_dut ? dut_ : peer_).info.qp_first + s.qp;
      return fmt::format(
          "{} queue pairs of the {} wait: QP {:#x} has {} messages, of the oldest one {} of {} bytes "
          "have arrived",
          list.size(), at_dut ? "device" : "peer", (at_dut ? dut_ : peer_).info.qp_first + s.qp, s.messages,
          to.responder().written(s.oldest.id), s.oldest.length);
    }
    for (const bool at_dut : {true, false}) {
      if (std::string due = (at_dut ? dut() : peer()).responder().finish(); !due.empty())
        return fmt::format("at the {}: {}", at_dut ? "device" : "peer", due);
    }
    return "nothing waits for the other side";
  }

  /// Resets the queue pairs that have failed on either side, and a quarter of the others. False: a NIC cannot.
  bool reset_qps() {
    renewed_.clear();
    for (unsigned i = 0; i < preset_.num_qps; ++i) {
      const QpIndex other = plan_.dut.qps[i].peer;
      if (other >= preset_.num_qps) continue;
      if (!dut().dead(i) && !peer().dead(other) && !round_rng_.chance(0.25)) continue;
      try {
        dut().reset_qp(i);
        peer().reset_qp(other);
      } catch (const Refusal& refusal) {
        if (!refusal.unsupported || !renewed_.empty()) throw;
        std::string why = refusal.what();
        if (why.ends_with('.')) why.pop_back();
        result_.left_out.push_back("rounds: " + why);
        return false;
      }
      renewed_.push_back(i);
    }
    return true;
  }

  /// What one side has done in this life.
  void count(bool at_dut) {
    AgentResult& r = result_;
    const AgentSide& s = side(at_dut);
    AgentResult::Side& to = at_dut ? r.dut_side : r.peer_side;
    to.packets += s.requester().completed_packets();
    to.messages += s.requester().completed();
    to.bytes += s.requester().completed_bytes();
    r.data_packets += s.requester().completed_packets();
    r.messages += s.requester().completed();
    r.bytes += s.requester().completed_bytes();
    r.immediates += s.responder().deliveries();
    r.refused += s.requester().refused();
    r.failed_qps += s.requester().failed_qps();
    r.verified += s.responder().verified();
  }

  void collect() {
    AgentResult& r = result_;
    monitor_.wait();
    r.time = now_;
    r.traffic_time = traffic_end_ != 0 ? traffic_end_ : now_;
    if (!sides_[0] || !sides_[1]) return;
    for (const bool at_dut : {true, false}) {
      const AgentSide& s = side(at_dut);
      AgentResult::Side& to = at_dut ? r.dut_side : r.peer_side;
      to.frames = s.frames();
      to.link = s.link().counters();
      count(at_dut);
      if (!decided_ && !s.problem().empty()) {
        stop_with(AgentOutcome::DataError, fmt::format("at the {}: {}", at_dut ? "device" : "peer", s.problem()));
        r.problem_time = s.problem_time();
        if (s.problem_qp() >= 0)
          r.problem_qp = (at_dut ? dut_ : peer_).info.qp_first + static_cast<uint32_t>(s.problem_qp());
      }
    }
    if (!decided_) {
      for (const bool at_dut : {true, false}) {
        if (std::string wrong = (at_dut ? dut() : peer()).responder().finish(); !wrong.empty() && !decided_)
          stop_with(AgentOutcome::DataError, fmt::format("at the {}: {}", at_dut ? "device" : "peer", wrong));
      }
    }
    if (!decided_) {
      r.outcome = AgentOutcome::Pass;
      if (r.data_packets == 0) {
        stop_with(AgentOutcome::Empty,
                  r.refused + r.failed_qps == 0
                      ? "no data packet was sent"
                      : fmt::format("no data packet reached the other side: {} work requests were refused and {} queue "
                                    "pairs failed before",
                                    r.refused, r.failed_qps));
      }
    }
    // Only a run that came to its end, or waited for so long that it is a hang, owes everything that is open.
    const bool whole = r.outcome == AgentOutcome::Pass || r.outcome == AgentOutcome::Empty;
    const bool owes = whole || r.outcome == AgentOutcome::Hang;
    const log::End end{!owes, name_of(r.outcome)};
    for (auto& side : sides_) {
      try {
        side->end(now_, owes, end);
      } catch (const std::runtime_error& error) {
        stop_with(AgentOutcome::DeviceError, error.what());
        side->end(now_, false, {true, name_of(r.outcome)});
      }
    }
  }

  AgentSide& dut() { return *sides_[0]; }
  AgentSide& peer() { return *sides_[1]; }
  AgentSide& side(bool at_dut) { return *sides_[at_dut ? 0 : 1]; }

  const AgentOptions& options_;
  const Preset& preset_;
  OpenNic dut_, peer_;
  Scenario scenario_;
  Plan plan_;
  std::optional<AgentSide> sides_[2];
  // They end before what they work on.
  Worker monitor_, peer_thread_;
  Rng round_rng_, lives_rng_;
  AgentResult result_;
  bool decided_ = false, same_caps_ = false;
  std::string why_;  ///< a queue pair was refused last
  std::optional<unsigned> first_qp_;
  Phase phase_ = Phase::Traffic;
  Time now_ = 0, window_ = 1, quiet_ = 0, hang_ = 0, phase_begin_ = 0, traffic_end_ = 0, queried_ = 0;
  unsigned life_ = 0;
  bool same_psns_ = false;                  ///< the next life begins with the PSNs of this one
  Time reset_at_ = log::kNever, wait_ = 0;  ///< when this life ends, and how long the next one waits
  std::vector<unsigned> renewed_;
};

}  // namespace

const char* name_of(AgentOutcome outcome) {
  static constexpr const char* kNames[] = {"pass", "data_error", "hang", "incomplete", "empty", "device_error"};
  return kNames[static_cast<int>(outcome)];
}

AgentResult run_agent(const AgentOptions& options) { return AgentRun(options).run(); }

}  // namespace mrc::tb
