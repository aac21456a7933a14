// SPDX-License-Identifier: Apache-2.0
/// The one interface behind which a NIC stands, whatever its fidelity: fast protocol rules, the cycle-accurate model,
/// Verilated RTL.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gen/protocol.hpp"
#include "protocol/nscc_config.hpp"
#include "protocol/srv6.hpp"
#include "sim/engine/packet.hpp"
#include "sim/engine/units.hpp"

namespace mrc::sim {

class Fabric;
struct Shard;

/// Where a NIC's entropy values of reverse-path probes begin (register REV_SEED): another value for each node.
uint32_t reverse_seed(NodeId node);

/// Bytes of a frame that have come in when a cut-through switch, or an endpoint that is early(), gets it.
inline constexpr unsigned kEarlyBytes = 64;
/// These with what is around them, as wire_bytes() counts.
inline constexpr unsigned kHeaderBytes = kPreambleBytes + kEarlyBytes + kGapBytes;

/// What told a NIC that a packet was lost (docs/guide/fabric.md, "How a loss is known").
enum class LossCause : uint8_t { Port, Peer, Gap, SameEv, Overdue, Question, Timer, Returned };
inline constexpr unsigned kLossCauses = 8;
inline constexpr std::array<const char*, kLossCauses> kLossCauseNames{"port", "peer",     "gap",   "same EV",
                                                                      "time", "question", "timer", "sent back"};

/// A packet that a NIC took for lost, as its sender saw it.
struct LossNote {
  Time sent = 0;      ///< its transmission that did not come through; good to 128 ns
  Time known = 0;     ///< the NIC took it for lost
  Time again = 0;     ///< it was sent again; 0: not yet
  Time back = 0;      ///< reported received; 0: not yet
  uint64_t user = 0;  ///< WorkRequest::id
  uint32_t qpn = 0, psn = 0, entropy = 0;
  uint8_t plane = 0, again_plane = 0;
  LossCause cause = LossCause::Timer;
};

/// Counts of one endpoint since its start. Bytes are bytes of payload.
struct EndpointStats {
  uint64_t data_packets = 0;                            ///< WRITE packets sent, retransmissions included
  uint64_t data_bytes = 0;                              ///< payload of first transmissions
  uint64_t retransmissions = 0;                         ///< WRITE packets sent again
  uint64_t timeouts = 0;                                ///< retransmissions because of a timer
  uint64_t delivered_packets = 0;                       ///< new WRITE packets received
  uint64_t delivered_bytes = 0;                         ///< payload written to memory, each byte once
  uint64_t duplicates = 0;                              ///< WRITE packets received again
  uint64_t trimmed = 0;                                 ///< trimmed packets received
  uint64_t marked = 0;                                  ///< packets received with ECN-CE
  uint64_t returned = 0;                                ///< own packets that a switch trimmed and sent back
  uint64_t sacks = 0, nacks = 0, acks = 0, probes = 0;  ///< sent
  uint64_t completions = 0;                             ///< of work requests
  uint64_t failed_qps = 0;
  std::array<uint64_t, kLossCauses> found{};  ///< losses by what told of them; a trimmed packet is none
};

/// State of a QP's EVs, in numbers.
struct EvCounts {
  uint32_t good = 0, skip = 0, assumed_bad = 0, denied = 0;
};

/// One direction of talk between two endpoints is not enough: a QP is opened at both, with each other's numbers.
struct QpSpec {
  uint32_t qpn = 3;  ///< own number, 3 or more
  NodeId peer = 0;   ///< the other host: also the number in its address
  uint32_t peer_qpn = 3;
  uint32_t mtu = 4096;              ///< bytes: 256, 512, ... 4096
  Encap encap = Encap::Srv6;        ///< headers in front of UDP
  U128 path_template = 0;           ///< SRv6: address of the path, completed by path_rule for each EV
  Srv6Rule path_rule{};             ///< where plane and uplink go (protocol/srv6.hpp)
  std::vector<uint32_t> ev_active;  ///< EV set in use, by turns of the planes: entry i is of plane ev_plane(i)
  std::vector<uint32_t> ev_backup;
  uint32_t planes = 1;             ///< EV i belongs to plane i % planes
  bool congestion = true;          ///< has a congestion controller (NSCC)
  std::optional<NsccParams> nscc;  ///< of that; none: the endpoint's
  bool own_class = false;  ///< data and retransmissions have the code points below; otherwise those of the NIC (A-79)
  uint8_t dscp_data = 0, dscp_rtx = 0;

  /// What no endpoint could carry, in a sentence; empty: nothing. planes: the endpoint's.
  std::string problem(uint32_t endpoint_planes) const;
};

/// First address of message msn (modulo 2^16) sent to a QP: each has 4 GiB of its own, so that what arrives at the
/// receiver's memory says whose bytes it is.
constexpr uint64_t message_address(uint32_t peer_qpn, uint16_t msn) {
  return uint64_t{peer_qpn & 0xffffu} << 48 | uint64_t{msn} << 32;
}
/// What endpoints with memory keep at an address and expect there.
void fill_pattern(uint64_t address, std::span<uint8_t> bytes);

/// A WRITE to be sent.
struct WorkRequest {
  uint64_t id = 0;  ///< the caller's, given back in the completion
  uint32_t qpn = 3;
  uint64_t bytes = 0;  ///< 0, if the endpoint takes such, and more
  bool immediate = false;
  uint32_t imm = 0;
};

/// The sender knows that a work request has been executed.
struct Completion {
  NodeId node = 0;
  uint32_t qpn = 0;
  uint64_t id = 0;
  uint64_t bytes = 0;
  bool ok = true;                  ///< false: the QP failed
  CqStatus status = CqStatus::Ok;  ///< why, if the endpoint tells: of the oldest one, those behind it are Flushed
};
/// The receiver has all bytes of a message.
struct Delivery {
  NodeId node = 0;
  uint32_t qpn = 0;
  uint32_t msn = 0;  ///< 0, 1, ... without wrap
  uint64_t bytes = 0;
};

/// Hears of what endpoints did. Called inside the simulation: may post work requests.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void completed(const Completion&) {}
  virtual void delivered(const Delivery&) {}
  /// The time given to Fabric::due_at() has come.
  virtual void due(NodeId) {}
};

/// What an endpoint may do to the fabric it stands in. Handed over by Fabric; all calls are for the endpoint's own
/// node.
class Access {
 public:
  Access() = default;
  Access(Fabric& fabric, Shard& shard, NodeId node, PortId first, unsigned planes, NodeId number)
      : fabric_(&fabric), shard_(&shard), node_(node), first_(first), planes_(planes), number_(number) {}

  /// The number of this host, in addresses and for those who listen.
  NodeId node() const { return number_; }
  unsigned planes() const { return planes_; }
  /// Time of what is happening now.
  inline Time now() const;
  inline PacketPool& pool() const;
  /// There is something to send on this plane: Endpoint::pull() follows, at once (before kick() returns) if the port
  /// can take a packet, else when it can. Kicking a port that is asked anyhow costs nothing.
  inline void kick(unsigned plane) const;
  /// True: a packet would go out now.
  inline bool can_send(unsigned plane) const;
  /// When the port has finished what it sends now; in the past: it is idle.
  inline Time free_at(unsigned plane) const;
  inline bool link_up(unsigned plane) const;
  inline Rate rate(unsigned plane) const;
  /// Endpoint::wake() at that time; earlier calls are replaced, kNever cancels. Not in the past.
  inline void wake_at(Time time) const;

 private:
  Fabric* fabric_ = nullptr;
  Shard* shard_ = nullptr;
  NodeId node_ = 0;
  PortId first_ = 0;
  unsigned planes_ = 0;
  NodeId number_ = 0;
};

class Endpoint {
 public:
  virtual ~Endpoint() = default;

  // Called by the fabric.

  /// Once, before anything else, when the node is added. Links come later.
  virtual void attach(const Access& access) = 0;
  /// Once, at time 0, all links in place.
  virtual void start() {}
  /// The last byte of a packet has come in on a plane; or its first 64 bytes, if early().
  virtual void receive(PacketPtr packet, unsigned plane) = 0;
  /// Asked once: it takes packets byte by byte, and knows itself when the rest has come in.
  virtual bool early() const { return false; }
  /// Asked once: whatever the fabric calls it for touches nothing outside its node but through Access, so that nodes
  /// may be a few hundred nanoseconds apart in time (Fabric::allow_windows()).
  virtual bool apart() const { return false; }
  /// Calls will come soon: fetches what they need from memory. Four steps, of which each may read what the one before
  /// has fetched.
  virtual void fetch(unsigned) const {}
  /// The plane's port can take a packet now: the packet, or null. After null the port asks again only after kick().
  /// The packet's size, dst, entropy, src, dscp, ecn, stack must be set.
  virtual PacketPtr pull(unsigned plane) = 0;
  /// The time given to Access::wake_at has come.
  virtual void wake() {}
  /// The endpoint's MAC found its link down, or up again. (The port takes no packets while it is down.)
  virtual void link_changed(unsigned plane, bool up) = 0;

  // Called by whoever makes the traffic.

  /// False: the endpoint cannot have that QP; `why` says why, as a sentence without full stop.
  virtual bool open(const QpSpec& qp, std::string& why) = 0;
  /// Sets a QP up anew, as its peer's end must be: empty, on another path; what it had to send is forgotten, without a
  /// completion. False: the endpoint cannot.
  virtual bool reset(uint32_t) { return false; }
  /// False: no room now, or no such QP; try again after a completion.
  virtual bool post(const WorkRequest& request) = 0;
  /// Null: nobody listens.
  virtual void listen(Listener* listener) = 0;
  virtual EndpointStats stats() const = 0;
  /// What it took for lost, in order; the first 65536. Empty: it keeps no account.
  virtual std::span<const LossNote> losses() const { return {}; }
  virtual EvCounts ev_counts(uint32_t qpn) const = 0;
  /// The QP is some timer intervals from failing, so that it does not within a microsecond.
  virtual bool steady(uint32_t) const { return false; }
  /// "fast", "model", "rtl".
  virtual const char* fidelity() const = 0;
  /// First thing that it found wrong with what it did, a sentence without full stop; empty: nothing.
  virtual std::string problem() const { return {}; }
  /// Bytes it holds, as far as it knows.
  virtual uint64_t memory() const { return 0; }
};

}  // namespace mrc::sim
