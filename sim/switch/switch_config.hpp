// SPDX-License-Identifier: Apache-2.0
/// What a switch is told once, at installation (mrc.md section 9, base.md "Trimming").
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "gen/fabric_profiles.hpp"
#include "sim/engine/units.hpp"
#include "wire/packet.hpp"

namespace mrc::sim {

/// Queues that an egress port may have. By default three: control and trimmed packets, retransmissions, data.
inline constexpr unsigned kQueues = 8;
enum : uint8_t { kQueueControl = 0, kQueueRetx = 1, kQueueData = 2 };

/// When a packet is marked as it enters a queue that has `depth` bytes, itself included. Only ECN-capable ones are.
struct EcnConfig {
  enum class Mode : uint8_t { Off, Step, Red } mode = Mode::Off;
  uint64_t min_bytes = 0;  ///< Step: marked above. Red: probability 0 up to here ...
  uint64_t max_bytes = 0;  ///< ... rising to `probability` here, 1 above
  double probability = 1.0;
};

struct QueueConfig {
  uint64_t limit_bytes = 1 << 20;  ///< admission fails beyond
  double alpha = 0;                ///< > 0: also beyond alpha times the free bytes of the shared buffer
  bool trim = false;               ///< failed admission: drop and trim; false: drop
  /// 0: strict priority, served before all others, lowest number first. Otherwise a share of what these leave, in
  /// bytes per round (deficit round robin); give at least one MTU for a fair start.
  uint32_t weight = 0;
  EcnConfig ecn{};
};

struct PortConfig {
  std::array<QueueConfig, kQueues> queue{};
  uint8_t trimmed_dscp = wire::kDscpTrimmed;  ///< code point of what this egress port's queues trim
};

/// More has no switch; queues count their bytes in 32 bits.
inline constexpr uint64_t kMostBufferBytes = 4'000'000'000;

struct SwitchConfig {
  std::string name;
  PortConfig to_switch;  ///< egress ports to other switches
  PortConfig to_host;    ///< egress ports to NICs
  std::array<uint8_t, 64> queue_of_dscp{};
  uint64_t trimmable = 0;    ///< bit d: packets with DSCP d may be trimmed; all others are dropped
  unsigned trim_size = 128;  ///< bytes from the destination MAC on, 60 and more
  /// Trimming rewrites the length (and with IPv4 the checksum) of the outermost IP header.
  bool trim_lengths = false;
  uint8_t trim_queue = kQueueControl;
  /// What cannot be queued, or whose link is down, is trimmed and sent back to its sender instead of on to its receiver
  /// . Needs routes to hosts.
  bool trim_to_sender = false;
  bool return_swapped = false;  ///< with its source and destination addresses exchanged; false: both as they were
  uint8_t returned_dscp = wire::kDscpTrimmed;  ///< code point of what is sent back
  uint64_t buffer_bytes = 64 << 20;            ///< shared by all queues; 1 to kMostBufferBytes
  Time latency = 500 * kNs;                    ///< from the arrival that counts to admission to the egress queue
  Time port_latency = 0;                       ///< of every port, paid on the way in and on the way out
  /// Arrival is that of the first 64 bytes instead of the last byte, on links that are not slower than any other of
  /// the switch (otherwise the egress port would run dry).
  bool cut_through = false;
  uint32_t usid_block = 0;  ///< upper 32 bits of SRv6 addresses
  uint16_t usid = 0;        ///< own uN; 0: none
  uint64_t ecmp_seed = 0;
  /// Groups of ports with equal cost do without one that is down, at once. False: until routes are set anew.
  bool own_routes = true;

  /// Everything by the recommendation (base.md "Trimming") for one port's rate times the base round trip: ECN 0.2 to
  /// 0.8 (off to hosts), trim at 1.0, retransmissions 1.5, control and trimmed drop at 1.0; strict priorities.
  static SwitchConfig recommended(std::string name, uint64_t plane_bdp_bytes, const wire::DscpMap& dscp = {});
  /// The same with a profile's code points and trim size, and its queues and thresholds if it has any: every share is a
  /// weight (kShareWeight), no queue has strict priority.
  static SwitchConfig of_profile(std::string name, uint64_t plane_bdp_bytes, const FabricProfile& profile);
  /// A sentence without full stop about what cannot work; empty: good.
  std::string check() const;
};

/// Bytes of a round for each per cent of the link: a full packet even with the smallest share that is in use, 4.
inline constexpr uint32_t kShareWeight = 1100;
/// A profile's code points, as the wire library has them.
wire::DscpMap dscp_of(const FabricProfile& profile);

}  // namespace mrc::sim
