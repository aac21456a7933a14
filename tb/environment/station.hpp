// SPDX-License-Identifier: Apache-2.0
/// Everything around one NIC: host with memory and queues, register bus, ports, and its way to the other NIC.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/pins.h"
#include "gen/csr.hpp"
#include "gen/presets.hpp"
#include "tb/environment/driver.hpp"
#include "tb/environment/fences.hpp"
#include "tb/environment/forger.hpp"
#include "tb/environment/host_errors.hpp"
#include "tb/environment/host_reads.hpp"
#include "tb/environment/host_writes.hpp"
#include "tb/environment/interrupts.hpp"
#include "tb/environment/link.hpp"
#include "tb/environment/mac.hpp"
#include "tb/environment/plan.hpp"
#include "tb/environment/recorder.hpp"
#include "tb/environment/scenario.hpp"
#include "tb/environment/sent_rules.hpp"
#include "tb/environment/traffic.hpp"
#include "tb/gen/counters.hpp"
#include "util/rng.hpp"

namespace mrc::tb {

/// What went over the ports of one plane, seen from the NIC.
struct PlaneCounters {
  uint64_t tx_frames = 0, rx_frames = 0;
  uint64_t tx_data = 0, tx_rtx = 0, tx_sack = 0, tx_nack = 0, tx_ack = 0, tx_other = 0;
  uint64_t tx_wire_bytes = 0;
  uint64_t tx_payload_frames_wire_bytes = 0;  ///< of first transmissions
};

/// Counter registers read at the end of a run.
struct NicCounters : CounterValues {
  std::array<uint32_t, kMaxPlanes> tx{}, rx{}, ovf{};
  /// Frames of the ports around the reading of tx and rx: probes never stop.
  std::array<uint64_t, kMaxPlanes> tx_before{}, tx_after{}, rx_before{}, rx_after{};
};

/// Told about frames at the NIC's ports.
class FrameWatcher {
 public:
  virtual ~FrameWatcher() = default;
  /// A frame begins at a port at `time_ps`; sent: by the NIC. `fate`: what the link did or will do to it.
  virtual void frame(bool sent, unsigned plane, uint64_t time_ps, const std::vector<uint8_t>& bytes, unsigned fate) = 0;
};

class Station {
 public:
  struct Setup {
    const Preset& preset;
    const Scenario& scenario;
    uint64_t seed;
    bool is_dut;
    const SidePlan& own;
    const SidePlan& other;
    uint64_t packets;  ///< data packets it sends
    Recorder* recorder = nullptr;
    uint64_t begin = 0;  ///< the cycle in which this life of the NIC begins, with a reset
  };
  explicit Station(const Setup& setup);

  /// One clock cycle: the inputs that belong to these outputs. `in` keeps what does not change.
  void cycle(const mrc_pins_out& out, mrc_pins_in& in);

  uint64_t now() const { return cycle_; }
  uint64_t now_ps() const { return cycle_ * preset_.clock_ps; }

  /// Source of the other side's messages: needed before the first cycle.
  void connect(Station& other);
  /// After a time window, on both: hands mail and frames over. Returns what is wrong, "" if nothing.
  static std::string exchange(Station& a, Station& b);

  /// The NIC is reset in the middle of what the station of its former life did: what is on the way to it still comes,
  /// and what its ports had whole still leaves.
  void take_over(Station& former);
  /// Of a NIC that is reset alone: its host goes on, and gives up all QPs.
  void keep_host(Station& former);
  /// The NIC's pin is low.
  bool in_reset() const { return cycle_ < begin_ + kResetCycles; }

  void start_traffic();
  /// Software looks around no more: what moves from now on, the NICs do by themselves.
  void rest(bool on) { resting_ = on; }
  /// No new messages: the run has lasted long enough.
  void stop_traffic() { requester_->stop(); }
  /// Another round of traffic.
  void more(uint64_t packets) { requester_->more(packets); }
  /// Queues the writes that reset a QP. One that has failed is told to go to RTS first, which must be refused.
  void reset_qp(unsigned qp);
  /// The same in the middle of its traffic: the host gives up what is open on it.
  void give_up_qp(unsigned qp);
  /// The host has nothing of that QP any more: no work request that the NIC has not taken, no completion that waits.
  bool gave_up(unsigned qp) const;
  /// Queues a fence behind that: until it has ended, something of the QPs may be in the NIC.
  void fence();
  /// It is connected as the plan now says; both sides must be reset and quiet. `rows`: queues the writes that do so;
  /// else the NIC is configured anew.
  void reconnect_qp(unsigned qp, bool rows);
  /// It is in RTS: its requester offers work again.
  void revive_qp(unsigned qp);
  bool configured() const { return driver_.idle() && cycle_ > begin_ + kResetCycles; }
  /// Software waits for so many cycles before it configures anything.
  void wait(uint64_t cycles) { wait_until_ = cycle_ + cycles; }
  /// Everything sent and completed, nothing on its way in this station.
  bool traffic_done() const { return requester_->exhausted() && requester_->quiet() && responder_->quiet(); }
  /// The host has nothing more to say about QPs that it gives up.
  bool host_quiet() const { return host_errors_.quiet(); }
  /// Queues a last look at all QPs and interrupts, and the reads of the counter registers into `counters`.
  void read_counters(NicCounters& counters);
  bool driver_idle() const { return driver_.idle(); }
  /// Compares counter registers with what the ports saw. "" if they fit.
  std::string check_counters(const NicCounters& counters) const;

  /// Cycle of the newest progress: a completion, or new payload in memory.
  uint64_t last_progress() const { return last_progress_; }
  uint64_t accesses_ended() const { return driver_.ended(); }  ///< of registers
  /// First thing that is wrong with what the NIC did, "" if nothing. `problem_block` is the block at those pins.
  const std::string& problem() const { return problem_; }
  const std::string& problem_block() const { return problem_block_; }
  uint64_t problem_cycle() const { return problem_cycle_; }
  int problem_qp() const { return problem_qp_; }

  void watch(FrameWatcher* watcher) { watcher_ = watcher; }
  /// From now on nobody is told what the NIC does.
  void record_no_more() { recorder_ = nullptr; }

  const Requester& requester() const { return *requester_; }
  const Responder& responder() const { return *responder_; }
  /// At the end, when nothing is on its way any more: what is missing in the host's memory, "" if nothing.
  std::string finish() const;
  Link& link() { return link_; }
  const Link& link() const { return link_; }
  const PlaneCounters& plane(unsigned p) const { return planes_[p]; }
  const std::unordered_map<uint32_t, uint32_t>& packets_per_ev() const { return per_ev_; }
  unsigned tx_frame_offset(unsigned plane) const { return tx_[plane].frame_offset(); }
  /// Cycle of the newest data frame at a port, either way.
  uint64_t last_data_cycle() const { return last_data_cycle_; }
  uint64_t first_data_ps() const { return first_data_ps_; }
  uint64_t last_data_ps() const { return last_data_ps_; }
  uint64_t csr_accesses() const { return csr_accesses_; }
  const Interrupts& interrupts() const { return interrupts_; }
  const Fences& fences() const { return fences_; }
  /// Words stored wrong on request, and the counters as they were read after the last of them.
  struct EccErrors {
    uint32_t injected = 0, fixed = 0, bad = 0;
  };
  const EccErrors& ecc() const { return ecc_; }
  const HostErrors& host_errors() const { return host_errors_; }
  const HostReads& host_reads() const { return host_reads_; }
  /// Data frames to this NIC that a port that was down lost, how many came again, and the longest time that took.
  struct Recovery {
    uint64_t lost = 0, recovered = 0, worst_ps = 0;
  };
  const Recovery& recovery() const { return recovery_; }
  /// The same of those that links lost.
  const Recovery& link_recovery() const { return link_recovery_; }
  /// Payload bytes that came to memory in each microsecond of traffic.
  const std::vector<uint32_t>& series() const { return series_; }

  static constexpr unsigned kResetCycles = 4;

 private:
  struct Read {
    uint64_t ready_cycle;
    const uint8_t* data;
    QpIndex qp;
  };
  void fail(std::string what, const char* block, int qp = -1);
  void hold_in_reset(mrc_pins_in& in);
  void host(const mrc_pins_out& out, mrc_pins_in& in);
  void answer(unsigned plane, mrc_pins_in& in);
  bool write(const mrc_pins_out& out);
  void ports(const mrc_pins_out& out, mrc_pins_in& in);
  void receive(mrc_pins_in& in, uint64_t now);
  void sent(FramePtr frame);
  void leave(FramePtr frame);
  bool forge(unsigned plane, uint64_t now);
  Moving moving();
  /// Tells the recorder, if there is one, when the next access begins.
  template <class Report>
  void reported(Report report);
  void random_access();
  void random_row();
  void careless_row(unsigned table, unsigned index, std::span<const uint32_t> words, Driver::Done done = {});
  void look_at_qp(unsigned qp);
  void look_at_interrupts();
  void interrupt_access();
  void fence_access();
  void see_fence(uint32_t value);
  void end_qp();
  void controller_access();
  void ecc_access();
  uint64_t within(Rng& rng, double us) const;
  void flap();
  void stand();
  /// Ports that have taken no beat for PORT_STALL: to the device their planes are as down (docs/design/blocks/nic.md).
  unsigned stalled() const;
  void cut();
  void port_lost(const FrameInfo& info) { port_lost_.push_back(key_of(info)); }
  void came(const Frame& frame, unsigned plane, uint64_t now);
  static void give_back(Station& station);
  bool distinct(const Frame& frame) const;
  static uint64_t key_of(const FrameInfo& info) { return uint64_t{info.dqp} << 24 | info.psn; }

  const Preset& preset_;
  const Scenario& scenario_;
  const SidePlan& own_;
  bool is_dut_;
  Recorder* recorder_;
  uint64_t cycle_, begin_, wait_until_ = 0;
  bool traffic_ = false, resting_ = false;

  Rng host_rng_, csr_rng_;
  Driver driver_;
  std::unique_ptr<SourceMemory> source_;
  std::unique_ptr<Requester> requester_;
  std::unique_ptr<Responder> responder_;
  HostWrites host_writes_;
  HostReads host_reads_;
  HostErrors host_errors_;
  SentRules sent_rules_;
  Interrupts interrupts_;
  Fences fences_;
  bool irq_ = false;         // the pin in this cycle
  uint64_t line_cycle_ = 0;  // of the newest line at the pins
  uint64_t cqe_cycle_ = 0;   // of the newest completion there
  std::size_t other_host_size_;

  std::array<std::deque<Read>, kMaxPlanes> reads_;
  std::array<uint64_t, kMaxPlanes> read_ready_{};  // no answer overtakes on its plane
  unsigned reads_pending_ = 0;                     // mask
  unsigned last_rsp_ = 0;
  uint64_t read_cycles_, read_jitter_;
  uint32_t stall_threshold_;
  double pause_per_cycle_, cqe_pause_per_cycle_;
  uint64_t pause_cycles_, cqe_pause_cycles_, pause_until_ = 0, cqe_pause_until_ = 0;
  uint64_t next_csr_ = 0, csr_accesses_ = 0;
  EccErrors ecc_;
  Rng flap_rng_, stand_rng_;
  unsigned ports_up_;
  std::array<uint64_t, kMaxPlanes> flap_at_{}, stand_at_{};  // cycle of a port's next change
  unsigned standing_ = 0;                                    // ports that take nothing
  std::array<uint64_t, kMaxPlanes> waits_from_{};            // cycle from which on a beat waits at the port
  uint64_t frames_at_down_ports_ = 0, traffic_begin_ = 0;
  uint64_t connected_ps_ = ~uint64_t{0};  // since when all QPs have been connected; the largest number: they are not
  std::vector<uint64_t> port_lost_;       // sent here, lost at a port; handed over between time windows
  std::vector<std::pair<uint64_t, uint64_t>> link_lost_;  // on a link, and when it was sent; as port_lost_
  // sent to here, lost at a port, on a link: since when
  std::unordered_map<uint64_t, uint64_t> missing_, missing_on_links_;
  Recovery recovery_, link_recovery_;
  std::vector<uint32_t> series_;
  uint64_t series_next_ = 0, series_bytes_ = 0;

  Rng reset_rng_;  // inputs while the pin is low
  std::vector<TxMac> tx_;
  std::vector<RxMac> rx_;
  Link link_;
  std::optional<Forger> forger_;  // of a peer that does what it may not
  unsigned forged_last_ = 0;      // ports whose newest frame is forged
  ForgedFrames forged_;           // of the other side
  std::array<PlaneCounters, kMaxPlanes> planes_{};
  /// Frames that came back and that the NIC must count; others that may look so.
  uint64_t returned_ = 0, returned_before_ = 0, perhaps_returned_ = 0;
  std::unordered_map<uint32_t, uint32_t> per_ev_;
  uint64_t first_data_ps_ = 0, last_data_ps_ = 0, last_data_cycle_ = 0;
  FrameWatcher* watcher_ = nullptr;

  uint64_t last_progress_ = 0, progress_bytes_ = 0;
  std::string problem_, problem_block_;
  uint64_t problem_cycle_ = 0;
  int problem_qp_ = -1;
};

}  // namespace mrc::tb
