// SPDX-License-Identifier: Apache-2.0
/// Throughput and latency of a device (docs/design/performance.md): host, ports and a peer that keeps up with anything.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/pins.h"
#include "gen/csr.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "tb/dut/dut.hpp"
#include "tb/environment/driver.hpp"
#include "tb/environment/line_peer.hpp"
#include "tb/environment/line_rate.hpp"
#include "tb/environment/mac.hpp"
#include "tb/environment/plan.hpp"
#include "tb/environment/scenario.hpp"

namespace mrc::tb {

enum class Direction { Send, Receive, Both };
const char* name_of(Direction direction);

struct BenchOptions {
  const Preset* preset = nullptr;
  std::function<std::unique_ptr<Dut>(std::string& error)> open;
  unsigned payload = 4096;       ///< bytes of a packet
  Encap encap = Encap::Srv6;     ///< Ipv6, Srv6 or Srv6Srh
  unsigned message_packets = 1;  ///< packets of a message
  unsigned qps = 0;              ///< 0: all of the preset
  bool timestamps = false;       ///< TSETH in every data packet
  bool immediates = false;       ///< every message is a WRITE with immediate, both ways
  bool signals = false;          ///< behind every message a WRITE with immediate of no bytes, both ways
  bool cc = false;               ///< the device's QPs have a congestion controller
  double cc_rate_gbps = 0;       ///< rate that its window is made of, 0 to 1600; 0: the ports' together
  bool ack_with_sack = false;    ///< register CTRL of both: an ACK with a SACK only
  double delay_ns = 500;         ///< of each link
  double host_ns = 0;  ///< latency of each read from the host; 0: 0.4 to 0.7 of what the preset's prefetch hides
  unsigned dests = 1;  ///< destinations (addresses of the one peer) that the QPs are spread over
  unsigned reorder_pkts = csr::kReorderPkts.get(csr::kReorderReset);           ///< register REORDER of the device
  uint32_t sack_trigger = csr::kSackTriggerBytes.get(csr::kSackTriggerReset);  ///< register of the device, bytes (A-09)
  uint64_t seed = 1;
  uint64_t warm_cycles = 45000, cycles = 45000;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(uint64_t cycles)> progress;  ///< told from time to time how many cycles have gone by
};

/// What was measured of one direction, seen from the device.
struct Flow {
  double goodput_gbps = 0;  ///< payload: first transmissions that left (send), bytes placed in memory (receive)
  double packets_per_second = 0;
  double control_gbps = 0;                          ///< time of control frames on the wire of this direction
  double control_share = 0;                         ///< the same as share of the ports' capacity
  double retransmitted_share = 0;                   ///< share of the ports' capacity that went to packets sent again
  double limit_gbps = 0;                            ///< payload that fits beside this control traffic
  double ratio = 0;                                 ///< goodput / limit
  double ratio_of_data = 0;                         ///< goodput / what fits without any control traffic
  double plane_share_min = 0, plane_share_max = 0;  ///< of the data frames' wire time
  double pace = 1;                                  ///< receive: share of line rate that the peer ended up with
  uint64_t drops = 0;                     ///< receive: frames or payloads for which the device had no room (CNT_OVF)
  double offered_gbps = 0;                ///< payload of first transmissions on the wire
  double sacks = 0, acks = 0, nacks = 0;  ///< control frames of this direction per data packet of the other
};

/// One stream between blocks: share of the cycles with a transfer, and with valid but not ready.
struct Occupancy {
  double busy = 0, blocked = 0;
};

struct Throughput {
  Direction direction = Direction::Send;
  Flow send, receive;                          ///< those that the direction has
  std::map<std::string, Occupancy> occupancy;  ///< by stream, mean over the planes where there is one per plane
  uint64_t cycles = 0;
  double seconds = 0;
  bool complete = true;  ///< false: stopped from outside
  /// The worse one, of Both.
  const Flow& worst() const {
    return direction == Direction::Send      ? send
           : direction == Direction::Receive ? receive
           : send.ratio < receive.ratio      ? send
                                             : receive;
  }
};

/// Which interval.
enum class Latency { WqeToWire, WireToMemory, WireToSack, SackToWindow, NackToRetransmission };
inline constexpr unsigned kNumLatencies = 5;
const char* name_of(Latency latency);

struct LatencyResult {
  std::array<std::vector<uint32_t>, kNumLatencies> samples;  ///< cycles, sorted
  double load = 0;                                           ///< share of the limit that was offered; 0: one by one
  bool complete = true;
};

class NicBench {
 public:
  explicit NicBench(const BenchOptions& options);
  ~NicBench();

  /// Opens the device and brings it to where traffic can begin. "" or why not.
  std::string start();
  /// Steady state of a direction: warm-up, then options.cycles. `problem` gets what is wrong with what the device did,
  /// "" if nothing. Called again, it goes on with the device as it is: what an earlier direction has done to it (EVs
  /// that are out of use, queues) is still there.
  Throughput measure(Direction direction, std::string& problem);
  /// Latencies, on a bench of its own. load 0: single packets; else this share of the limit in both directions.
  LatencyResult latencies(double load, std::string& problem);

  /// Null, or why the device went on no more: `problem` of the above says it, too. After close(), also what went wrong
  /// then.
  const DeviceFault* fault() const;
  void close();
  /// Cycles so far, configuration included.
  uint64_t cycles() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mrc::tb
