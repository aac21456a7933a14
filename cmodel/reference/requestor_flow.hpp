// SPDX-License-Identifier: Apache-2.0
/// One QP of a NIC, judged as requestor: the same requestor twice. `hi` hears what comes when it arrives, so it stands
/// for all that the NIC may know: what hi permits is right. `lo` hears it when the NIC must have heard it: what lo
/// forbids is wrong, and what it owes is owed.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "reference/queue.hpp"
#include "reference/requestor.hpp"
#include "reference/requestor_evs.hpp"
#include "reference/requestor_paths.hpp"
#include "reference/requestor_world.hpp"

namespace mrc::ref {

class RequestorFlow {
 public:
  RequestorFlow(const log::Qp& qp, bool from_log, RequestorWorld& world);

  void change(const log::Qp& qp, Time time);
  /// A data packet left.
  void sent(const Seen& seen);
  /// A reliability probe left.
  void probed(uint32_t ev, const wire::Peth& probe, Time time);
  /// The answer to a probe from NIC to NIC that went with this EV came.
  void ev_answered(uint32_t ev, bool marked) {
    paths_.answered(ev);
    evs_.answered(ev, marked);
  }
  /// The device says what becomes of an EV.
  void ev_event(const log::Event& event, Time time);
  /// It is in ERROR, or soon will be.
  void fail(Time time);
  /// A packet of the QP came back from a switch.
  void returned(const Seen& seen);
  /// A SACK, NACK or ACK came; `sure`: it reached the NIC.
  void received(const Seen& seen, bool sure);
  void posted(const log::Post& post, Time time);
  void completed(const log::Cqe& cqe, Time time);
  /// Everything before `time` is known.
  void advance(Time time);
  /// Deadlines; every now and then.
  void sweep(Time time);
  void finish(Time time, bool cut);

  /// The PSN of the packet that brought this SACK.
  Seq trigger(const wire::Seth& seth) const { return unwrap(seth.cack_psn, hi_.next()) + seth.ack_psn_offset; }
  const log::Qp& qp() const { return qp_; }
  const Requestor& hi() const { return hi_; }
  /// This packet, just sent, is a copy of one that was reported before.
  bool reported_before(const Seen& seen) const;
  /// It is the second of two copies.
  bool copied(const Seen& seen) const;
  const Requestor& lo() const { return lo_; }
  /// Work requests that have not completed.
  std::size_t works() const { return works_.size(); }
  uint64_t memory() const;

 private:
  struct Came {
    Time at = 0, due = 0;
    enum class What : uint8_t { Word, Nack, Ack } what = What::Word;
    Word word;
    Seq psn = 0;
    uint32_t ev = 0;
    uint8_t reason = 0;
  };
  struct Owed {
    Rule rule{};
    Seq psn = 0;
    Time since = 0, free = 0;  ///< free time then
    bool has_ev = false;       ///< its QP sent something soon after: within the latency
  };
  struct Work {
    uint64_t wr_id = 0;
    Seq packets = 0;
    bool sure = false;  ///< the device must not refuse it
    bool immediate = false;
    Time waited = 0;  ///< time in which the host had owed something when it was posted
    Time at = 0;      ///< posted
  };

  struct Grant {
    Time at = 0;
    Seq cack = -1;
    unsigned units = 0;  ///< of 128 PSNs
  };

  void begin();
  unsigned take(Requestor& of, const Came& came);
  void granted(const Word& word, Time time);
  void check_new(const Seen& seen, Seq psn);
  void check_again(const Seen& seen, Seq psn, bool copy);
  void owe(Rule rule, Seq psn, Time since);
  void aged(const Came& came);
  bool settled(const Owed& owed, Time time);
  void check_status(const log::Cqe& cqe, Time time);
  void finish_work(Time time);
  void idle(Time time);
  bool immediate_waits();
  void requests(Time time);
  bool lost_on(uint32_t ev, Time time) const;
  bool given_up_on(uint32_t ev, Time time) const;
  uint32_t ev_of_probe(const wire::Seth& answer) const;
  Time answers(const wire::Packet& sack) const;
  void hear_marks(const Seen& seen, bool sure);
  void timer(Time time);
  void suspect(Rule rule, Time since, std::string came, std::string right);
  void alive();
  /// All that has left is reported, and the ACK of some message of it has not come.
  bool lacks_ack() const { return hi_.open() == 0 && hi_.acked() < Seq{qp_.msn} + ended_; }
  bool may_be_dead() const { return failed_ || qp_.state != log::QpState::Rts; }
  Time lag() const { return world_.world.lag(); }
  Time interval() const;
  unsigned doublings() const;
  bool controlled() const { return qp_.controlled; }
  /// Its controller may hold back a packet, or has done so since.
  bool held_back(Time since) const;

  log::Qp qp_;
  bool evs_replaced_ = false;
  RequestorWorld& world_;
  bool from_log_;
  bool started_ = false;
  Requestor hi_, lo_;
  RequestorPaths paths_;
  RequestorEvs evs_;
  bool shows_evs_;
  Queue<Came> waiting_;  ///< heard by hi, not by lo
  Time longest_ = 0;     ///< from a packet to the SACK that it brought
  Time trimmed_ = 0;     ///< the newest NACK of a trimmed packet; 0: none
  Queue<Owed> owed_;
  Queue<Grant> grants_;  ///< windows heard, until the newest but those of long ago
  bool failed_ = false;  ///< it said so, or was told so
  Time failed_at_ = 0;
  Queue<Finding> suspects_;  ///< right unless the QP had failed by then
  // Work.
  Queue<Work> works_;
  Seq sure_ = 0;                  ///< packets of all work that the device must not refuse
  unsigned immediates_ = 0;       ///< not completed
  Queue<Seq> wimms_;              ///< messages with immediate that have left, and no ACK that lo has heard confirms
  Seq ended_ = 0;                 ///< messages whose last packet has left
  Time lacked_ = 0;               ///< the newest time known at which it lacked an ACK; 0: never
  Seq done_ = 0;                  ///< messages whose work has completed, well or with the QP's failure
  Time confirmed_ = 0;            ///< the newest ACK that lo has heard confirmed more
  std::array<bool, 256> naks_{};  ///< syndromes heard
  bool unexpected_ = false;       ///< UNEXP_EVENT heard
  Time fatal_ = 0;                ///< the first of these that is sure; 0: none
  Time failed_work_ = 0;          ///< work completed with the QP's failure; 0: none
  std::optional<Time> idle_free_;
  Time idle_since_ = 0;
  Time last_sent_ = 0, requested_ = 0;
  std::optional<std::pair<Time, uint16_t>> probe_;  ///< the newest one, and its time stamp
  Time again_ = 0;                                  ///< the newest retransmission
  Queue<std::pair<uint16_t, uint32_t>> probes_;     ///< id, EV: the newest of them
  Time state_queried_ = 0;  ///< the newest probe for the state alone; 0: none since something moved
  Time requests_judged_ = 0;
  Time moved_ = 0;         ///< it sent data or heard something; a probe may have been meant before that
  Time active_free_ = 0;   ///< free time when it last sent or heard something new
  unsigned tries_ = 0;     ///< retransmissions of the oldest PSN without progress
  bool excusable_ = true;  ///< none was sent again since then
  Time heard_ = 0;         ///< the newest SACK, NACK or ACK
  Time waited_ = 0;        ///< time in which the host owed something, at the newest progress
  unsigned excused_ = 0;   ///< of these, such as may have had their cause before it
};

}  // namespace mrc::ref
