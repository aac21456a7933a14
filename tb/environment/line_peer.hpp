// SPDX-License-Identifier: Apache-2.0
/// The other end of a throughput measurement: sends and answers at line rate, whatever it is asked.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "gen/presets.hpp"
#include "protocol/psn.hpp"
#include "protocol/responses.hpp"
#include "protocol/rx_tracker.hpp"
#include "protocol/tx_header_build.hpp"
#include "tb/environment/frame.hpp"
#include "tb/environment/plan.hpp"
#include "tb/environment/traffic.hpp"
#include "util/rng.hpp"

namespace mrc::tb {

/// Host addresses of messages, one after the other through a memory, and again from its beginning. The bytes of a
/// message are those of the source memory at the same offset, so that every packet can be checked by itself.
class MessageRing {
 public:
  explicit MessageRing(uint64_t size) : size_(size) {}
  uint64_t take(uint32_t length) {
    const uint64_t step = (uint64_t{length} + 63) / 64 * 64;
    if (at_ + step > size_) at_ = 0;
    const uint64_t offset = at_;
    at_ += step;
    return offset;
  }

 private:
  uint64_t size_, at_ = 0;
};

/// The immediate of a message of queue pair `qp` (0 on).
constexpr uint32_t bench_immediate(unsigned qp, uint16_t msn) { return static_cast<uint32_t>(qp) << 16 | msn; }

/// With signals every other message, the second one first, has an immediate and no bytes.
constexpr bool bench_signal(const SidePlan::Qp& sender, uint16_t msn) { return (msn_dist(msn, sender.msn) & 1) != 0; }

/// The RQMSN of that message, when all messages of its sender have an immediate.
constexpr uint16_t bench_rqmsn(const SidePlan::Qp& sender, uint16_t msn) {
  return static_cast<uint16_t>(sender.rqmsn + msn_dist(msn, sender.msn));
}

/// The same of a signal, modulo 2^15.
constexpr uint16_t bench_signal_rqmsn(const SidePlan::Qp& sender, uint16_t msn) {
  return static_cast<uint16_t>(sender.rqmsn + msn_dist(msn, sender.msn) / 2);
}

/// Not a NIC: no queues, no processing time. It keeps the protocol's state per QP and speaks it properly (PSNs, MSNs,
/// ICRC, window, SACK, NACK, ACK, endpoint responses), so it can fill the ports with any packet size, which our own
/// NIC may not be able to do. Its frames carry real payload; of what it receives it checks every byte.
class LinePeer {
 public:
  struct Setup {
    const Preset& preset;
    const SidePlan& own;               ///< the peer's half of the plan
    const SidePlan& other;             ///< the device's
    const SourceMemory& source;        ///< what it sends
    const SourceMemory& other_source;  ///< what the device sends
    uint64_t seed;
  };
  explicit LinePeer(const Setup& setup);

  /// Messages from now on: so many packets of `payload` bytes each, with or without immediate. Those of the other side
  /// have one, or none, too.
  void messages(unsigned payload, unsigned packets, bool immediates);
  /// Behind each of them a WRITE with immediate of no bytes, as collectives signal; both ways.
  void signals(bool on) { signals_ = on; }
  void send(bool on) { sending_ = on; }
  /// Share of the ports' time that its data frames may take, control frames and all (1: as much as there is).
  void pace(double share) { pace_ = share; }
  double pace() const { return pace_; }
  /// Data frames, either way, do not come in streams but one by one, as told by send_one(): each asks for a SACK.
  void single(bool on) { single_ = on; }
  void send_one() { ++ones_; }
  /// Every n-th new packet is answered as if a switch had trimmed it on its last hop; 0: none.
  void trim_every(unsigned n) { trim_every_ = n; }

  /// A frame has arrived completely. Returns what is wrong with it, "" if nothing.
  std::string arrive(const Frame& frame, uint64_t now_ps);
  /// The frame that goes out on a plane whose port becomes free at `now_ps`; null: none.
  FramePtr next(unsigned plane, uint64_t now_ps);
  /// From time to time: what is not acknowledged for too long goes out again.
  void timers(uint64_t now_ps);

 private:
  struct Packet {  // one PSN that is out
    uint64_t offset = 0;
    uint32_t length = 0;  // of its message
    uint32_t idx = 0, plen = 0;
    uint16_t msn = 0, rqmsn = 0;
    bool last = false, imm = false, sacked = false, queued = false;
    uint64_t again_ps = 0;  // not lost once more before
  };
  struct Qp {
    unsigned index = 0;  // here
    HdrQp hdr;
    // sender
    uint32_t nxt = 0, una = 0, hi = 0;
    uint16_t msn = 0, acked = 0;  // of the next message; all before this one are acknowledged
    unsigned window = 0;
    unsigned room = 0;        // immediates that may be out
    unsigned hold = 0;        // rounds in which others send first
    std::vector<Packet> out;  // by PSN modulo its size
    std::deque<uint32_t> retx;
    uint64_t progress_ps = 0;
    uint64_t message_offset = 0;
    uint32_t message_idx = 0, message_packets = 0, message_payload = 0;
    uint16_t signals = 0;  ///< of the messages that have begun
    // responder
    RxWindow rx;
    uint32_t lowun = 0, rcvd = 0, trig = 0;
    uint32_t ackpsn = 0;
    uint16_t emsn = 0;
    unsigned mpr = 0;
    bool ar = false, ackv = false, ack_due = false;
    std::vector<RxRow> rows;
  };
  Qp* qp_of(uint32_t dqp);
  Packet& packet(Qp& q, uint32_t psn) { return q.out[psn % q.out.size()]; }
  void order(Qp& q, uint32_t psn, uint64_t now_ps);
  bool may_begin(const Qp& q) const;
  void begin_message(Qp& q);
  std::string data(Qp& q, const Frame& frame, const FrameInfo& info);
  std::string immediate(const Qp& q, const FrameInfo& info, const wire::Meth& meth, const uint8_t* end) const;
  void control(Qp& q, const Frame& frame, const FrameInfo& info, uint64_t now_ps);
  void sack(Qp& q, unsigned plane, uint32_t psn, uint32_t entropy, uint16_t ts, bool pr);
  void ack(Qp& q, unsigned plane);
  void advanced(Qp& q, uint32_t first, RowAdvance a);
  PdcIds ids(const Qp& q) const;
  FramePtr control_frame(const ControlPacket& packet, const Qp& q, unsigned plane);
  FramePtr finish(std::span<const uint8_t> header, unsigned plane, const HdrQp& qp, std::span<const uint8_t> payload);
  FramePtr data_frame(Qp& q, uint32_t psn, unsigned plane, uint64_t now_ps, bool rtx);
  FramePtr next_data(unsigned plane, uint64_t now_ps);

  const Preset& preset_;
  const SidePlan &own_, &other_;
  const SourceMemory &source_, &other_source_;
  HdrNic nic_;
  bool icrc_outer_, tsr_us_, ack_with_sack_;
  Nominal nominal_;
  uint32_t sack_trigger_;
  uint64_t ack_gap_ps_, next_ack_ps_ = 0;  // least time between two ACKs
  MessageRing ring_;
  std::vector<Qp> qps_;
  struct Answer {
    unsigned qp;
    ControlPacket packet;
  };
  std::vector<std::deque<Answer>> responses_;  // per plane
  std::deque<unsigned> retx_qps_;
  std::deque<std::pair<unsigned, unsigned>> acks_;  // QP, plane
  std::size_t cursor_ = 0;
  unsigned payload_ = 64, packets_ = 1;
  bool immediates_ = false, signals_ = false;
  bool sending_ = false, single_ = false;
  uint64_t ones_ = 0;
  double pace_ = 1;
  std::vector<uint64_t> paced_ps_;  // per plane: no data frame before
  unsigned trim_every_ = 0, trim_count_ = 0;
  Rng rng_;
};

}  // namespace mrc::tb
