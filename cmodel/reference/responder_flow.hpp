// SPDX-License-Identifier: Apache-2.0
/// One QP of a NIC, judged as responder: the same responder twice. `hi` takes a packet when it arrives, `lo` when the
/// NIC must have taken it and can have answered it; what the NIC shows lies between the two. Both are sound because
/// what has arrived only grows.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "log/record.hpp"
#include "reference/profile.hpp"
#include "reference/report.hpp"
#include "reference/responder.hpp"
#include "wire/packet.hpp"

namespace mrc::ref {

/// What all QPs of a NIC share.
struct ResponderWorld {
  Profile profile;
  Report& report;
  /// From a packet's last byte to the first one of its answer, at most, clocks and a frame under way included.
  Time latency = 0;
  Time port_change = 0;  ///< when a port, here or at the peer, was last seen to change; 0: never
  bool some_port = true;
  bool unsure = false;  ///< frames are not whole: whether their ICRC was right is not known

  /// Findings that a silent drop would explain wait until the NIC's counter has been read.
  std::vector<Finding> held;
  std::map<Rule, uint64_t> held_count;
  void broken(Finding finding) { report.broken(std::move(finding)); }
  void doubt(Finding finding);
  /// The counter is known, or will never be.
  void decide(bool none_dropped);
};

/// A packet that came for a QP.
struct Came {
  Arrival arrival;
  Time at = 0;       ///< of its last byte, at the latest
  Time error = 0;    ///< of its clock
  bool sure = true;  ///< the device must take it; false: it may
  uint32_t entropy = 0;
  uint64_t number = 0;
  uint32_t capture = 0;
};

/// A frame that left for a QP's peer.
struct Went {
  Time at = 0;
  uint64_t number = 0;
  uint32_t capture = 0;
  bool steady = true;  ///< its port has been up for longer than an answer takes
};

class ResponderFlow {
 public:
  ResponderFlow(const log::Qp& qp, ResponderWorld& world);

  /// Changed by its owner.
  void change(const log::Qp& qp, Time time);
  void came(const Came& came);
  /// An answer went: what was owed and is met. At once.
  void answered(const wire::Packet& packet, const Went& went);
  /// What it says, held against both responders. Once all that may have arrived before it is known.
  void check(const wire::Packet& packet, const Went& went);
  void completed(const log::Cqe& cqe, Time time);
  void receives(uint32_t count) { posted_ += count; }
  /// The QP is used as requestor: it may fail for reasons that are not looked at here.
  void requestor() { requestor_ = true; }
  /// Something came or was said that may put the QP into ERROR.
  void may_fail(Time time);
  /// Everything before `time` is known.
  void advance(Time time);
  void finish(Time time);

  const log::Qp& qp() const { return qp_; }
  Seq near() const { return hi_.cack(); }
  bool lo_has(Seq psn) const { return lo_.has(psn); }
  const Responder& hi() const { return hi_; }
  const Responder& lo() const { return lo_; }
  uint64_t memory() const;

 private:
  enum class State { Alive, Maybe, Dead };
  enum class Need { Sack, Mark, Duplicate, Probe, AnySack, TrimSack, NackTrim, SackOrNack, Oor, Ack, Nak, Unexp };
  struct Owed {
    Need need{};
    Rule rule{};
    Came came;
    Time due = 0;
    bool met = false, covered = false;
  };
  struct Waiting {
    Came came;
    Time due = 0;
    bool cancelled = false;
  };
  struct Trace {
    Time time = 0;
    const char* what = "";
    Seq psn = 0, more = 0;
  };

  void data(const Came& came);
  void trimmed(const Came& came);
  void owe(Need need, Rule rule, const Came& came);
  void take_hi(const Came& came);
  void feed(const Waiting& waiting);
  void count_bytes(const Waiting& waiting);
  void judge_owed(Owed& owed);
  void missed(const Owed& owed);
  bool overrun(const Arrival& packet) const;
  bool inside(Seq psn) const;
  bool quiet(Time since) const;
  void alive(Time time);
  void suspect(Finding finding);

  void sack_went(const wire::Packet& packet, const Went& went);
  void nack_went(const wire::Packet& packet, const Went& went);
  void ack_went(const wire::Packet& packet, const Went& went);
  void check_sack(const wire::Packet& packet, const Went& went);
  void check_sums(const wire::Packet& packet, const Went& went, Seq cack);
  void check_nack(const wire::Packet& packet, const Went& went);
  void check_ack(const wire::Packet& packet, const Went& went);
  void reported(const Responder::Sack& sack, const Went& went);

  void trace(Time time, const char* what, Seq psn, Seq more = 0);
  Finding finding(Rule rule, Time time, std::string came, std::string right) const;
  Finding finding(Rule rule, const Went& went, std::string came, std::string right) const;

  log::Qp qp_;
  ResponderWorld& world_;
  Responder hi_, lo_;
  State state_ = State::Alive;
  Time failed_ = 0;
  bool requestor_ = false, nacked_ = false;
  bool overran_ = false;  ///< there was an immediate too many, perhaps
  bool mixed_ = false;    ///< copies of one PSN differed: nothing is known of messages
  Seq size_slack_ = 0;    ///< by so much rcvd_bytes is not known
  unsigned faults_ = 0;   ///< bit: Fault, of packets that came
  std::deque<Waiting> waiting_;
  std::deque<Came> late_;  ///< beyond the window at their arrival
  std::deque<Owed> owed_;
  std::deque<std::pair<Time, Seq>> claims_;
  Seq claimed_;
  Seq acked_;  ///< messages confirmed
  Time nak_sent_ = 0;
  Time confirmed_ = 0;        ///< the newest ACK or NAK went
  uint32_t bytes_ = 0;        ///< since the last SACK
  Time sacked_ = 0;           ///< when that went
  bool refused_ = false;      ///< a packet was NACKed, so that it did not arrive
  Time asked_ = log::kNever;  ///< when a packet with A came while PSNs were missing
  std::deque<Responder::Immediate> immediates_;
  bool immediates_lost_ = false;  ///< there were more than are kept
  uint64_t posted_ = 0, received_ = 0;
  std::set<Seq> unreported_;
  std::deque<std::pair<Seq, uint64_t>> report_due_;  ///< PSN, SACKs that had gone when it was taken
  uint64_t sacks_ = 0;
  std::vector<Finding> suspects_;
  std::array<Trace, 16> traces_{};
  uint64_t num_traces_ = 0;
};

}  // namespace mrc::ref
