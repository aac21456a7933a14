// SPDX-License-Identifier: Apache-2.0
/// One QP of a NIC, judged as responder: the same responder twice. `hi` takes a packet when it arrives, `lo` when the
/// NIC must have taken it and can have answered it; what the NIC shows lies between the two. Both are sound because
/// what has arrived only grows.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "log/record.hpp"
#include "reference/answer_time.hpp"
#include "reference/disturbances.hpp"
#include "reference/profile.hpp"
#include "reference/queue.hpp"
#include "reference/report.hpp"
#include "reference/responder.hpp"
#include "wire/packet.hpp"

namespace mrc::ref {

/// What all QPs of a NIC share.
struct ResponderWorld {
  ResponderWorld(const Profile& of, Report& to, Time late);

  Profile profile;
  Report& report;
  /// From a packet's last byte to the first one of its answer, at most, clocks and a frame under way included.
  Time latency = 0;
  AnswerTime free;             ///< what a latency is counted in
  Time port_change = 0;        ///< when a port, here or at the peer, was last seen to change; 0: never
  uint32_t up = ~uint32_t{0};  ///< planes whose port has a carrier, bit i is plane i
  /// Planes that peers say are usable, by their addresses without plane. A NIC need not answer on others.
  std::map<log::Ip, uint32_t> peer_ports;
  /// The address without the bits that tell its plane.
  log::Ip plain(log::Ip ip) const;
  /// A plane is left on which an answer can go to this peer.
  bool reaches(const log::Ip& peer) const;
  Time no_buffer = 0;      ///< the newest NACK NO_PKT_BUFFER of the NIC; 0: none
  bool unsure = false;     ///< frames are not whole: whether their ICRC was right is not known
  Disturbances disturbed;  ///< a carrier came or went by itself: what was on its way then may be lost
  bool shows_take = false, shows_answer = false;
  std::vector<Finding> untaken;  ///< packets that the device should have shown as taken; the first kMostUntaken
  uint64_t num_untaken = 0;
  static constexpr std::size_t kMostUntaken = 100;

  /// Findings that a silent drop would explain wait until the NIC's counter has been read.
  std::vector<Finding> held;
  std::map<Rule, uint64_t> held_count;
  void broken(Finding finding) { report.broken(std::move(finding)); }
  void doubt(Finding finding);
  /// The counter is known, or will never be: "silent_drops", if it was read.
  void decide(std::optional<uint64_t> dropped);
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
  uint8_t plane = 0;
  /// The device shows that it took it: from then on every answer has it. 0: it shows nothing.
  Time taken = 0;
  bool recorded = false;  ///< as a new one
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
  /// The device shows what its window takes: it came, and counts from its event on.
  void coming(const Came& came);
  void cut(unsigned plane, Time time);
  void took(const log::Event& event, Time time);
  /// What a SACK says was read.
  void read(const log::Event& event, Time time);
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
    Time free = 0;  ///< so much time to answer must have gone by
    bool met = false, covered = false;
    bool alone = false;  ///< whatever else is discarded, it is owed unless this packet is
  };
  struct Waiting {
    Came came;
    Time due = 0, free = 0;
    bool cancelled = false;
  };
  struct Trace {
    Time time = 0;
    const char* what = "";
    Seq psn = 0, more = 0;
  };

  /// New to hi, but an answer of this moment need not have it.
  struct Taking {
    Time by = 0;  ///< kNotNotified: a WRITE of no bytes; by then a later one is there, or what it asks for was read
    Seq psn = 0, payload = 0, udp = 0;
    bool notified = true;  ///< its take said that it is new
    bool refused = false;  ///< it was not told, and a NACK names it: it may never have been counted
  };
  /// A SACK's contents when they were read: of hi, and what it need not have.
  struct Read {
    Time at = 0;
    bool probe = false;
    uint32_t about = 0;  ///< probe id, or how far the PSN that it answers lies from cack_psn
    uint32_t cack_psn = 0, base = 0;
    Seq cack = 0, above = 0, payload = 0;
    Seq least = 0;               ///< all up to it must have been taken then
    std::array<Seq, 3> bytes{};  ///< by CTRL.nominal
    uint64_t bitmap = 0;
    std::vector<Taking> perhaps;
  };
  void data(const Came& came);
  void trimmed(const Came& came);
  void owe(Need need, Rule rule, const Came& came);
  void take_hi(const Came& came);
  void feed(const Waiting& waiting, Time now);
  void count_bytes(const Waiting& waiting, Time now);
  void judge_owed(Owed& owed, Time now);
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
  bool allowed_mpr(uint32_t mpr, Time time) const;
  void check_taken(const Went& went, Seq cack, Seq least);
  void check_sums(const wire::Packet& packet, const Went& went, const Responder::Sack& sack);
  /// Holds a SACK against what was read for it. False: the device does not show that.
  bool check_read(const wire::Packet& packet, const Went& went, Seq& least);
  /// The rule that it breaks, and what would be right.
  std::optional<std::pair<Rule, std::string>> differs(const wire::Packet& packet, const Read& read) const;
  Came choose(const std::vector<std::size_t>& copies, bool recorded);
  Time due(const Came& came) const;
  void wait(const Came& came, Time due);
  bool past(Time due, Time free, bool ack, Time now) const;
  bool overdue(Time due, Time now) const;
  bool held_back(const Waiting& waiting, Time now) const;
  void untaken(const Came& came);
  /// A NACK names what was shown as taken without saying whether it is new. False: there is no such.
  bool refuses(Seq psn);
  void forget(Time now);
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
  bool empty_ = false;    ///< a legal WRITE of no bytes came (A-19)
  Queue<Waiting> waiting_;
  Queue<Came> late_;  ///< beyond the window at their arrival
  Queue<Owed> owed_;
  Queue<std::pair<Time, Seq>> claims_;
  Time completed_at_ = 0;  ///< of the SACK that told of messages which no ACK has confirmed
  Seq claimed_;
  Seq acked_;  ///< messages confirmed
  Time nak_sent_ = 0;
  Time confirmed_ = 0;            ///< the newest ACK or NAK went
  uint32_t bytes_ = 0;            ///< since the last SACK
  Time sacked_ = 0;               ///< when that went
  bool refused_ = false;          ///< a packet was NACKed, so that it did not arrive
  Time requested_ = log::kNever;  ///< when a packet with A came while PSNs were missing
  Queue<Responder::Immediate> immediates_;
  bool immediates_lost_ = false;  ///< there were more than are kept
  uint64_t posted_ = 0, received_ = 0;
  /// Windows that were set, and when the next one was: an answer may say it for some time more.
  Queue<std::pair<uint32_t, Time>> windows_;
  Queue<Came> coming_;  ///< not taken yet
  Queue<Taking> taking_;
  Queue<Read> reads_;
  std::set<Seq> unreported_;
  std::set<Seq> early_;                         ///< reported before the NIC had to have taken them
  Queue<std::pair<Seq, uint64_t>> report_due_;  ///< PSN, SACKs that had gone when it was taken
  uint64_t sacks_ = 0;
  std::vector<Finding> suspects_;
  std::array<Trace, 16> traces_{};
  uint64_t num_traces_ = 0;
};

}  // namespace mrc::ref
