// SPDX-License-Identifier: Apache-2.0
/// States of EVs that a device shows (events of kind path), against what came back about them: who goes to SKIP was
/// marked, who goes bad has lost a packet, who comes back was probed, and data take EVs that are in use.
#pragma once

#include <array>
#include <unordered_map>
#include <vector>

#include "reference/queue.hpp"
#include "reference/requestor_world.hpp"

namespace mrc::ref {

/// Of one QP.
class RequestorEvs {
 public:
  RequestorEvs(const log::Qp& qp, RequestorWorld& world, Time time);

  void change(const log::Qp& qp, Time time);
  /// `lost`: some packet of that EV counts as lost by now.
  /// `lost`: a packet of the EV is lost; `given_up`: one may have been, and is reported before it is sent again.
  void event(const log::Event& event, bool lost, bool given_up, Time time);
  /// A mark came: SETH.m, or a NACK TRIMMED (kSkipOnce). `sure`: it is about the newest transmission of its packet
  /// `psn`, and reached the NIC on that plane.
  void marked(uint32_t ev, unsigned m, bool sure, history::Seq psn, unsigned plane, Time time);
  /// A data packet leaves.
  void sent(const Seen& seen);
  /// A reliability probe leaves, or a probe of either kind is answered.
  void probed(uint32_t ev, Time time);
  void answered(uint32_t ev, bool marked);  ///< marked: with SKIP_ONCE
  /// A packet of that EV counts as lost: it was sent again.
  void lost(uint32_t ev, Time time);
  /// An answer came that tells of these packets: on another plane than a mark of one of them and at about the same time
  /// it may be worked through before it, and the NIC knows nothing of that packet any more. `bits`: from `base` on.
  void heard(history::Seq before, history::Seq base, uint64_t bits, unsigned plane, Time time);
  /// The packet was sent again.
  void again(history::Seq psn);
  /// So few were in use at some time since then that a lost packet need not have cost its EV anything.
  bool floored(Time since) const { return at_floor() || (left_floor_ != 0 && left_floor_ >= since); }
  /// The QP has failed, or may have: nothing is owed.
  void forget() {
    owed_.clear();
    doubts_.clear();
  }
  void now(Time time);
  /// `cut`: the log ends before the device does.
  void finish(bool cut, Time time);
  uint64_t memory() const { return places_.size() * sizeof(Place) + marks_.size() * sizeof(Mark); }

  static constexpr unsigned kSkipOnce = 1, kAlwaysSkip = 2;  ///< SETH.m

 private:
  /// A moment, and the time in which the host had owed something then; 0: never.
  struct Then {
    Time at = 0, waited = 0;
  };
  struct Place {
    uint32_t ev = 0;
    uint32_t was = 0;  ///< the EV before, of which a packet may be lost that counts against the place; 0: none
    uint8_t plane = 0;
    log::EvState state = log::EvState::Good;
    bool known = true;       ///< its state is that; false: its owner has put another EV here
    Time left_good = 0;      ///< when it was GOOD for the last time
    Time waited = 0;         ///< time in which the host had owed something, then
    Time skipped = 0;        ///< when it went to SKIP for the last time
    Then left_skip;          ///< when it was in SKIP for the last time
    Time bad = 0;            ///< since when it is bad, or was bad last
    Time back = 0;           ///< when it stopped to be bad; 0: never
    Time probe = 0;          ///< newest reliability probe
    Time lost = 0;           ///< newest packet of it that was sent again
    unsigned answers = 0;    ///< to probes since its state changed
    unsigned marked = 0;     ///< of these
    unsigned early = 0;      ///< answers while it was not bad: a device that goes on probing may count them
    bool probed_on = false;  ///< it stopped to be bad without answers: probes of that time may go on
  };
  struct Mark {
    Time at = 0;
    uint32_t ev = 0;
    unsigned m = 0;
    bool used = false;
  };
  struct Owed {
    Time at = 0, due = 0;
    std::size_t place = 0;
    uint32_t ev = 0;
    history::Seq psn = 0;
    unsigned plane = 0;
    bool alone = true;  ///< nothing else came or went about its packet at about the same time
  };
  bool may(log::EvState from, log::EvState to) const;
  void left_good(std::size_t place);
  log::EvState read(uint64_t state) const;
  std::size_t good() const;
  bool lately(const Then& then, const Seen& seen) const;
  bool scarce(const Seen& seen, const Place& place) const;
  bool bad_serves(const Seen& seen, const Place& place) const;
  void judge(const Owed& owed, Time time);
  bool settled(Time time) const { return time > changed_ + world_.world.lag(); }
  /// Its owner has not touched the QP's EVs since long before. Setting them up for the first time is none: a mark about
  /// one that carried a packet finds it set up.
  bool untouched(Time time) const { return touched_ == 0 || time > touched_ + world_.world.lag(); }
  void goes_bad(std::size_t place, bool lost, bool given_up, Time time);
  void doubtful(Time time);
  bool take_mark(uint32_t ev, unsigned m, Time time);
  std::size_t in_use() const;
  bool at_floor() const { return in_use() <= world_.world.settings().min_active; }
  log::EvState first_state(std::size_t place) const;
  template <class Came, class Right>
  void check(Rule rule, bool holds, const Seen* seen, Came&& came, Right&& right);
  bool once(uint32_t ev) const;
  Place* find(uint32_t ev);

  log::Qp qp_;
  RequestorWorld& world_;
  std::vector<Place> places_;
  std::unordered_map<uint32_t, std::vector<std::size_t>> by_ev_;
  Queue<Mark> marks_;
  Queue<Owed> owed_;
  struct Doubt {
    Time at = 0, due = 0;
    uint32_t ev = 0;
    bool inside = false;  ///< one of its packets waited inside, and may have been given up there
  };
  std::array<Then, 2> scarce_{};  ///< when no EV was GOOD, and when at most one was, the last time
  Time left_floor_ = 0;           ///< when more than the least number came to be in use, the last time
  Queue<Doubt> doubts_;           ///< gone bad without a loss that is seen yet
  struct Joined {
    Time at = 0;
    uint8_t plane = 0;
  };
  Queue<Joined> joined_;  ///< backup EVs that came into use
  Time changed_ = 0;      ///< the QP, by its owner
  Time touched_ = 0;      ///< its EVs, once they were set up
};

}  // namespace mrc::ref
