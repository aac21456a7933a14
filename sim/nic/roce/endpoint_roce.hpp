// SPDX-License-Identifier: Apache-2.0
/// Single-path RoCE as the contrast to MRC: one path per queue pair, go-back-N, DCQCN. As simple as it can be and still
/// behave as such a NIC does.
///
/// - Path: one EV for ever, chosen by a hash of the two queue pair numbers and hosts. With Encap::Ipv6 the switches
/// choose
///   by their own hash (ECMP); with SRv6 the EV names the path. With several planes the same hash chooses the plane.
/// - Receiver: takes packets in order only. The first packet beyond a gap brings a NAK, everything else until the gap
/// is
///   closed is thrown away. An ACK for every 16 KB, for AckReq and at the end of a message.
/// - Sender: a NAK or the timer sends it back to the packet missing; everything from there on is sent again.
/// - A queue pair whose timer has expired too often has failed. reset() at both ends sets it up anew: other PSNs, so
///   that nothing under way is taken for its own, and another path.
/// - Congestion: DCQCN (CNPs, at most one per 50 us and queue pair; alpha, fast recovery, additive and hyper increase
/// by
///   a timer), or a fixed rate. No PFC: what does not fit into a queue is dropped, never trimmed.
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

#include "sim/engine/endpoint.hpp"
#include "sim/engine/ring.hpp"
#include "wire/packet.hpp"

namespace mrc::sim {

struct RoceConfig {
  Time packet_to_answer = 25 * kNs, work_to_wire = 20 * kNs;
  uint32_t ack_bytes = 16384;  ///< received, for an ACK
  uint32_t window = 4096;      ///< packets in flight, at most
  Time timeout = 1 * kMs;      ///< without progress: back to the oldest packet
  unsigned retries = 7;        ///< timeouts in a row; one more: the queue pair fails
  bool dcqcn = true;           ///< false: `rate_gbps` always
  double rate_gbps = 0;        ///< at first, and at most; 0: that of the port
  double min_gbps = 1;
  double alpha_g = 1.0 / 256;  ///< weight of a CNP in alpha
  Time cnp_interval = 50 * kUs;
  Time alpha_interval = 55 * kUs;
  Time rate_interval = 300 * kUs;  ///< of increases
  unsigned fast_recoveries = 5;
  double additive_gbps = 5, hyper_gbps = 50;
  wire::DscpMap dscp{};
};

class RoceEndpoint final : public Endpoint {
 public:
  explicit RoceEndpoint(const RoceConfig& config = {});
  ~RoceEndpoint() override;

  void attach(const Access& access) override;
  void start() override;
  void receive(PacketPtr packet, unsigned plane) override;
  bool apart() const override { return true; }
  PacketPtr pull(unsigned plane) override;
  void wake() override;
  void link_changed(unsigned plane, bool up) override;
  bool open(const QpSpec& spec, std::string& why) override;
  bool reset(uint32_t qpn) override;
  bool post(const WorkRequest& request) override;
  void listen(Listener* listener) override { listener_ = listener; }
  EndpointStats stats() const override { return stats_; }
  /// The one EV in use.
  EvCounts ev_counts(uint32_t qpn) const override;
  bool steady(uint32_t qpn) const override;
  const char* fidelity() const override { return "roce"; }

  /// What DCQCN lets a queue pair send now; 0: no such queue pair.
  double rate_gbps(uint32_t qpn) const;
  uint64_t cnps() const { return cnps_; }
  /// Packets received for another host: dropped.
  uint64_t misdirected() const { return misdirected_; }

 private:
  struct Message {
    uint64_t id;
    uint32_t bytes, first, packets, imm;  // first: PSN
    bool immediate;
  };
  struct Qp {
    QpSpec spec;
    uint32_t ev = 0, life = 0;  // life: how often it has been set up anew
    unsigned plane = 0;
    Stack stack = Stack::Ipv6;
    // Sender.
    uint32_t una = 0, next = 0, end = 0;  // oldest unacknowledged, next to be sent, behind the last one posted
    uint32_t sent = 0;                    // behind the newest ever sent
    Ring<Message> messages;
    uint32_t msn = 0;  // of the oldest incomplete
    unsigned retries = 0;
    bool failed = false, timer = false;
    Time progress = 0, next_send = 0, ready = 0;
    // DCQCN.
    double rate = 0, target = 0, alpha = 1;
    unsigned increases = 0;
    bool adapting = false;
    Time last_cnp = 0, next_alpha = 0, next_increase = 0;
    // Receiver.
    uint32_t expected = 0, delivered = 0, unacked = 0;
    bool nak_sent = false;
    Time next_cnp = 0;
  };
  struct Timer {
    Time time;
    uint32_t qp;
    bool operator<(const Timer& other) const { return time > other.time; }
  };
  struct Lane {
    Packet *head = nullptr, *tail = nullptr;  // control
    std::vector<uint32_t> qps;
    uint32_t turn = 0;
    bool idle = true;
    Time wake = kNever;
  };

  Qp* find(uint32_t qpn);
  const Qp* find(uint32_t qpn) const;
  PacketPtr make(const Qp& qp, uint8_t opcode, bool data);
  void answer(const Qp& qp, uint8_t opcode, uint32_t psn, uint8_t syndrome);
  PacketPtr next_packet(Qp& qp);
  void on_data(Qp& qp, const Packet& packet);
  void on_answer(Qp& qp, const Packet& packet);
  void on_cnp(Qp& qp);
  void acknowledge(Qp& qp, uint32_t next);
  uint64_t path_hash(const Qp& qp) const;
  void adapt(Qp& qp);
  void timer(Qp& qp);
  void start_timer(Qp& qp);
  void fail(Qp& qp);
  void kick(Qp& qp);
  void schedule_wake(Time time);
  double full_rate(const Qp& qp) const;

  RoceConfig config_;
  Access access_;
  Listener* listener_ = nullptr;
  EndpointStats stats_;
  uint64_t cnps_ = 0, misdirected_ = 0;
  bool started_ = false;
  std::vector<std::unique_ptr<Qp>> qps_;
  std::vector<Lane> lanes_;
  std::priority_queue<Timer> timers_;
  Time wake_at_ = kNever;
};

}  // namespace mrc::sim
