// SPDX-License-Identifier: Apache-2.0
/// What the checkers of history share: which QPs there are, which ports are up, how good the evidence is, and the words
/// of a finding. Numbers are unwrapped to 64 bits here and nowhere wrapped again.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log/record.hpp"
#include "log/unwrap.hpp"
#include "reference/checker.hpp"
#include "reference/own_addresses.hpp"
#include "reference/profile.hpp"
#include "reference/queue.hpp"
#include "reference/report.hpp"
#include "reference/second_copy.hpp"

namespace mrc::ref::history {

using log::Seq, log::unwrap;

inline bool is_data(const wire::Packet& p) { return p.bth && p.bth->opcode >= 0xC6 && p.bth->opcode <= 0xCB; }
inline bool is_first(uint8_t opcode) { return opcode == 0xC6 || opcode == 0xCA || opcode == 0xCB; }
inline bool is_last(uint8_t opcode) { return opcode >= 0xC8 && opcode <= 0xCB; }
inline bool is_imm(uint8_t opcode) { return opcode == 0xC9 || opcode == 0xCB; }

/// A frame of a QP, kept for the context of a finding.
struct Moment {
  Time time = 0;
  bool sent = false, trimmed = false, ce = false;
  uint8_t plane = 0;
  wire::Bth bth{};
  uint32_t entropy = 0, first = 0, second = 0;  ///< SACK: cack_psn, ack_psn; NACK: reason; ACK: syndrome, MSN
  uint32_t bytes = 0;
};

/// Code points that its owner gave the QP; none: the NIC's, or they are not told.
inline std::optional<TrafficClass> class_of(const log::Qp& qp) {
  if (!qp.own_class) return {};
  return TrafficClass{qp.dscp_data, qp.dscp_rtx};
}

/// A QP in one incarnation.
struct QpWorld {
  log::Qp set;
  uint64_t incarnation = 0;  ///< counts over all QPs
  uint64_t changes = 0;      ///< counts what its owner has told of it
  bool again = false;        ///< not the first incarnation of its number
  bool from_log = false;     ///< its creation stands in the log: nothing of it is hidden before
  bool inferred() const { return (set.flags & log::kInferred) != 0; }
  /// What came to it may not all be in the log, or not as it came.
  bool seen(log::QpFlag what) const { return !inferred() || (set.flags & what) != 0; }
  Time since = 0;  ///< of the incarnation
  Time state_since = 0;
  std::optional<Time> evs_since;  ///< its owner gave it other EVs, or denied or allowed some
  /// Its class as it was told before, and when the newest one was told: packets of before may still be inside.
  std::optional<TrafficClass> class_before;
  Time class_since = 0, class_waited = 0;  ///< 0: before it sent anything; World::waited() then
  log::QpState before = log::QpState::Reset;
  std::array<Moment, 12> recent{};
  uint64_t moments = 0;
};

struct PortWorld {
  bool up = true, ever_down = false;
  Time since = 0;
  Queue<std::pair<Time, Time>> downs;  ///< from, to: of late, oldest first
};

class World {
 public:
  World(const Profile& profile, Report& report);

  void port(const log::Port& port, Time time);
  /// What a record says of a QP, held against what was told before: ahead of qp().
  void walk(const log::Qp& set);
  void qp(const log::Qp& qp, Time time);
  void frame(const Seen& seen);
  void host(const log::Host& host, Time time);
  void gap() { holes_ = true; }
  /// Takes the frame into the context of its QP.
  void remember(QpWorld& qp, const Seen& seen);

  const Profile& profile() const { return profile_; }
  const Settings& settings() const { return profile_.settings; }
  Report& report() { return report_; }
  /// Between a cause and what it no longer allows, at most: hearing, deciding, waiting for the port.
  Time lag() const { return profile_.take + profile_.answer + profile_.skew; }

  /// As lag(), for packets whose port was chosen before: they wait for others, and for what the host keeps them
  /// waiting.
  Time queue() const { return 16 * lag(); }

  /// Time in which the host owed the device some answer, until `time`.
  Time waited(Time time) const {
    return reads_ == 0 || time < waits_since_ ? waited_ : waited_ + (time - waits_since_);
  }

  /// `seen` sends again what left on `plane` last, and may be the second of two copies: at once, on a third plane.
  bool second_copy(const Seen& seen, const SecondCopy& last, unsigned plane) const;
  /// What that is of `seen`, `second` or not. `last`: of the transmission before, on `plane`; null: none was seen.
  SecondCopy copy_of(const Seen& seen, bool second, const SecondCopy* last, uint8_t plane) const;

  QpWorld* local(uint32_t qp);
  /// The QP whose peer the packet goes to; null: none.
  QpWorld* of_sent(const wire::Packet& packet);
  /// The QP that a received packet names; null: none, or one that must ignore the packet.
  QpWorld* of_received(const Seen& seen);
  /// Whose packet came.
  Whose whose(const Seen& seen) const { return own_.whose(seen.packet); }
  /// The QP that has sent the packet that came back; null: none.
  QpWorld* of_returned(const wire::Packet& packet);
  /// The device must not ignore it for what it is: FCS, ICRC and headers are right.
  static bool counts(const Seen& seen);
  /// Some QP's address is that of its peer.
  bool is_peer(const log::Ip& plain_ip) const;
  /// Some QP moves the time stamps that it reflects.
  bool any_svc_time() const { return any_svc_time_; }
  bool qps_notified() const { return !qps_.empty(); }

  const PortWorld& at(unsigned plane) const { return ports_[plane]; }
  /// Time between two moments in which the port was down, or stood still.
  Time down(unsigned plane, Time from, Time to) const;
  /// When it went down last; 0: never.
  Time went_down(unsigned plane) const;
  bool any_down() const { return any_down_; }
  unsigned planes() const { return planes_; }
  /// Whether the device has sent the packet before: who keeps what it sent says so.
  using SentBefore = std::function<bool(const Seen&, const QpWorld&)>;
  void sent_before(SentBefore requested) { sent_before_ = std::move(requested); }
  bool sent_before(const Seen& seen, const QpWorld& qp) const { return sent_before_ && sent_before_(seen, qp); }
  /// Null: all the device sent and received on all planes is in the log. Else why not.
  const char* incomplete() const;
  /// Null: nothing came to the QP that is not in the log; some of what is there may not have come. Else why not.
  const char* hidden(const QpWorld& qp) const;
  /// The same of what came to the device.
  const char* hidden() const;
  /// A packet of no QP that is told: why nothing can be said. Null: there is none.
  const char* no_qp() const;
  /// The same for what it sent as it left the device: switches may have changed it under way.
  const char* under_way() const;
  /// What the log tells comes from the device itself, not from a capture beside it.
  bool recorded() const { return recorded_; }

  template <class Came, class Right>
  bool check(Rule rule, bool holds, const Seen* seen, const QpWorld* qp, Came&& came, Right&& right) {
    if (holds) {
      report_.ok(rule);
    } else {
      broken(rule, seen, qp, std::forward<Came>(came), std::forward<Right>(right));
    }
    return holds;
  }
  template <class Came, class Right>
  void broken(Rule rule, const Seen* seen, const QpWorld* qp, Came&& came, Right&& right) {
    if (report_.tally(rule).broken >= Report::kMostFindings) {
      Finding more;
      more.rule = rule;
      more.time = seen != nullptr ? seen->first : now_;
      if (seen != nullptr) {
        more.frame = seen->frame.number;
        more.capture = seen->frame.capture;
      }
      report_.broken(std::move(more));
    } else {
      notify(rule, seen, qp, came(), right());
    }
  }
  /// With the QP's last packets, not reported yet.
  Finding finding(Rule rule, const Seen* seen, const QpWorld* qp, std::string came, std::string right) const;
  void now(Time time) { now_ = time; }
  Time now() const { return now_; }
  uint64_t memory() const { return qps_.size() * sizeof(QpWorld); }

  log::Ip plain(const log::Ip& ip, bool ipv4) const { return plain_address(settings(), ip, ipv4); }

 private:
  using Peer = std::pair<log::Ip, uint32_t>;
  void notify(Rule rule, const Seen* seen, const QpWorld* qp, std::string came, std::string right) {
    report_.broken(finding(rule, seen, qp, std::move(came), std::move(right)));
  }

  const Profile& profile_;
  Report& report_;
  std::unordered_map<uint32_t, QpWorld> qps_;
  std::map<Peer, uint32_t> peers_;
  OwnAddresses own_;
  SentBefore sent_before_;
  std::array<PortWorld, log::kMaxPlanes> ports_{};
  bool any_down_ = false, any_svc_time_ = false, holes_ = false, maybe_ = false;
  bool recorded_ = false;     ///< by the device: its QPs stand in the log
  bool received_ = false;     ///< a frame certainly came to it
  bool inferred_ = false;     ///< QPs are those that frames tell of
  bool some_hidden_ = false;  ///< something came to one of them that is not in the log
  uint64_t reads_ = 0;        ///< without an answer
  Time waits_since_ = 0, waited_ = 0;
  uint64_t planes_seen_ = 0, incarnations_ = 0;
  unsigned planes_ = 1;
  Time now_ = 0;
};

/// "WRITE First PSN 7 rtx, EV 0x00010002, plane 1": what a finding says came.
std::string words(const Seen& seen, const wire::WireConfig& config);
/// "12.345 us".
std::string words(Time time);

}  // namespace mrc::ref::history
