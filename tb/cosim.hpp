// SPDX-License-Identifier: Apache-2.0
/// A whole run: device and model in lockstep, peer, links, hosts; and what came out of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gen/presets.hpp"
#include "tb/compare/events.hpp"
#include "tb/compare/lockstep.hpp"
#include "tb/compare/snapshots.hpp"
#include "tb/dut/dut.hpp"
#include "tb/environment/scenario.hpp"
#include "tb/environment/station.hpp"
#include "util/check.hpp"
#include "wire/pcapng.hpp"

namespace mrc::tb {

enum class Outcome {
  Pass,
  Mismatch,
  DataError,
  Hang,
  Incomplete,   ///< stopped from outside, or for want of memory
  Empty,        ///< came to its end, but no data packet reached the other side
  DeviceError,  ///< the device has ended, or does not come back: device_fault says where
  Assertion     ///< an assertion failed before anything differed: failed_assertion says which
};
/// "pass", "mismatch", "data_error", "hang", "incomplete", "empty", "device_error", "assertion".
const char* name_of(Outcome outcome);

struct Progress {
  uint64_t cycle, packets, budget;
  double done;  ///< share of the traffic, 0 to 1
  double seconds;
};

struct CosimOptions {
  const Preset* preset = nullptr;
  Scenario scenario;
  uint64_t packets = 100000;  ///< data packets of messages, both directions together
  uint64_t cycles = 0;        ///< not 0: no new messages after so many cycles of traffic, whatever packets says
  uint64_t seed = 1;
  unsigned bug = 0;
  /// Opens the device; null and a sentence in `error` when it cannot.
  std::function<std::unique_ptr<Dut>(std::string& error)> open;
  bool two_threads = true;                        ///< the peer runs beside the device; the result is the same
  std::ostream* pcap = nullptr;                   ///< every frame at the device's ports
  std::ostream* pcap_peer = nullptr;              ///< every frame at the peer's ports
  std::vector<std::string> capture_comments;      ///< about captures as a whole
  std::atomic<bool>* stop = nullptr;              ///< set from outside: end with Incomplete
  std::function<void(const Progress&)> progress;  ///< called a few times per second
  /// Told about every frame at the ports of the device, of the peer; each from the thread of its side.
  FrameWatcher* dut_frames = nullptr;
  FrameWatcher* peer_frames = nullptr;
  /// Takes what both NICs do as records of a log: device 0 "dut", device 1 "peer". Called between time windows.
  Recorder::Sink log;
  /// Waves of cycles [wave_from, wave_to): the run goes on to wave_to whatever differs, then ends.
  std::string wave_path;
  uint64_t wave_from = 0, wave_to = 0;
  /// Keeps copies of the process while it runs, when the device can write waves: CosimResult::snapshots writes those of
  /// the last cycles without another run. They are `snapshot_spacing` cycles apart or more.
  bool snapshots = false;
  uint64_t snapshot_spacing = 2000;
  bool log_streams = false;  ///< the log has counters of the streams between blocks (StreamTap)
  bool log_shows = false;    ///< the log's profiles say that events are told completely: the judge holds NICs to them
  /// For recordings: the inputs of every cycle, before and with traffic. The latter ends the run by returning false.
  std::function<void(const mrc_pins_in&)> record_setup;
  std::function<bool(const mrc_pins_in&)> record;
  uint64_t event_words = std::size_t{1} << 20;  ///< memory of the event log
  uint64_t window_events = 0;                   ///< so many of the newest ones for the result, also of runs that pass
};

/// Handshakes that a failure leaves in CosimResult::window.
inline constexpr std::size_t kWindowEvents = 4000;

struct StuckQp {
  std::string side;
  QpIndex qp;
  std::size_t messages;
  Message oldest;
  uint64_t arrived;  ///< bytes of the oldest message in the receiver's memory
};

/// What both sides of a run moved, in all lives.
struct CosimTotals {
  uint64_t data_packets = 0, messages = 0, bytes = 0, immediates = 0, refused = 0, failed_qps = 0;
  /// WRITEs that ended with a NAK: of no bytes or on an immediate too many, beyond their region.
  uint64_t naks_invalid = 0, naks_access = 0;
  uint64_t overruns = 0;  ///< receive completions of an immediate too many
  uint64_t no_bytes = 0;  ///< messages of no bytes
  uint64_t held = 0;      ///< WRITEs with immediate posted while max_wimm of their QP were out
  uint64_t writes_verified = 0;
  uint64_t longest_fence = 0;  ///< cycles
  /// Words stored wrong on request (ECC_INJECT), and what CNT_ECC_FIX and CNT_ECC_BAD said last.
  uint64_t ecc_injected = 0, ecc_fixed = 0, ecc_bad = 0;

  void add(const Station& station);
};

struct CosimResult : CosimTotals {
  Outcome outcome = Outcome::Incomplete;
  std::string error;   ///< the device could not be opened
  std::string reason;  ///< why it is incomplete or empty: a sentence without full stop
  bool out_of_memory = false;
  uint64_t cycles = 0, traffic_cycles = 0;
  double seconds = 0;
  unsigned lives = 1;  ///< of both NICs, and as many resets less one
  uint64_t events = 0, event_hash = 0;
  uint64_t compared_events = 0;  ///< handshakes at streams that device and model both showed
  std::string dut_name, dut_version;
  bool dut_in_process = true;   ///< false: the device ran in a process of its own
  unsigned assertions = 0;      ///< that the device checked of itself in every cycle
  bool model_checks = kChecks;  ///< the models checked themselves
  /// The first one that failed; "model" stands in the place of a check in one of the models.
  std::optional<FailedAssertion> failed_assertion;
  /// Why the device went on no more. After the end of the run it changes nothing.
  std::optional<DeviceFault> device_fault;

  // what is wrong
  std::vector<Divergence> divergences;
  std::string problem, problem_block;  ///< data errors and hangs
  uint64_t problem_cycle = 0;
  int problem_qp = -1;
  std::vector<Event> last_events, qp_events;
  std::vector<Event> window;  ///< the newest handshakes: CosimOptions::window_events, or kWindowEvents of a failure
  std::vector<int> qp_names;  ///< the QP here for each QP of the peer
  int qp = -1;
  std::vector<wire::CapturedFrame> frames;    ///< newest ones at the device's ports
  wire::WireConfig wire;                      ///< how to read them
  std::vector<std::string> capture_comments;  ///< those of the options and what else to know about fields
  std::vector<StuckQp> stuck;

  /// From which waves of the end can be written, null if there are none.
  std::shared_ptr<Snapshots> snapshots;

  // what happened
  struct Side {
    std::vector<PlaneCounters> planes;
    NicCounters counters;
    LinkCounters link;
    uint64_t packets = 0, bytes = 0, messages = 0;
    uint64_t first_data_ps = 0, last_data_ps = 0;
    uint64_t ev_min = 0, ev_max = 0, evs = 0, ev_packets = 0;  ///< packets per entropy value used
    /// Payload bits per nanosecond, and what the ports could carry of these packets.
    double goodput_gbps = 0, limit_gbps = 0;
    double busy = 0;                  ///< share of the ports' time that frames of any kind took
    Station::Recovery recovery;       ///< of data frames to this side that ports which were down lost
    Station::Recovery link_recovery;  ///< of those that links lost
    std::vector<uint32_t> series;     ///< payload bytes that reached this side's memory, per microsecond of traffic
  };
  Side dut, peer;
  uint64_t csr_accesses = 0;

  /// Cycle of the first thing that is wrong.
  uint64_t wrong_cycle() const { return divergences.empty() ? problem_cycle : divergences.front().cycle; }
};

CosimResult run_cosim(const CosimOptions& options);

}  // namespace mrc::tb
