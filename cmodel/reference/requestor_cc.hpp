// SPDX-License-Identifier: Apache-2.0
/// Congestion controllers that a device shows (events of kind cc): each window must be what NSCC makes of what the
/// controller was told, and what it was told must have come.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "reference/nscc.hpp"
#include "reference/queue.hpp"
#include "reference/requestor.hpp"
#include "reference/requestor_world.hpp"

namespace mrc::ref {

class RequestorCc {
 public:
  explicit RequestorCc(RequestorWorld& world);

  /// The device says that it shows all of these events.
  bool shown() const { return shown_; }
  void event(const log::Event& event, Time time);
  void qp(const log::Qp& qp);
  /// A SACK came for a QP; `flight`: what brought it, as sent; null: not known.
  void sack(const Seen& seen, const log::Qp& qp, const Requestor::Flight* flight);
  /// The same, and ACKs; `bytes`: nominal size of all that is reported of the QP; `all`: all that was sent.
  void arrived(const Seen& seen, const log::Qp& qp, double bytes, bool all);
  /// A data packet of a controlled QP left; `reported`: it is a copy of one that is reported already.
  void sent(const Seen& seen, const log::Qp& qp, bool reported);
  uint64_t memory() const;

 private:
  /// Of an acknowledgement.
  struct Notified {
    bool marked = false, restore = false, sampled = false;
    unsigned pen = 0;
    Time rtt = 0;  ///< with sampled
  };
  struct Heard {
    Time at = 0;
    unsigned m = 0, pen = 0;
    bool restore = false;
    std::optional<Notified> notified;  ///< what it was taken for
    bool once = false;                 ///< what brought it was sent once
    std::optional<Time> rtt;           ///< as the wire shows it, less the service time that its time stamp was moved by
  };
  struct Dest {
    explicit Dest(const Controller& of) : controller(of) {}
    Controller controller;
    std::vector<Nscc> states;  ///< empty: not known
    double fly = 0, window = 0, before = 0;
    Time window_at = 0;
    std::array<std::pair<Time, double>, 3> returned{};  ///< the newest first
    double granted = 0, on_wire = 0;
    Queue<Heard> heard;
    bool lost = false;            ///< there were more states than kMostStates
    bool mixed = false;           ///< an ACK told of packets before rcvd_bytes did
    double notified = 0;          ///< bytes acknowledged, as the controller was told
    double reported = 0;          ///< as SACKs reported them, and copies of what they had reported
    std::optional<Time> settled;  ///< when a QP of it had all reported that was sent, copies and all
  };
  struct Received {
    Seq units = 0;       ///< rcvd_bytes / 256
    double counted = 0;  ///< bytes of it in Dest::reported
  };

  void take(Dest& dest, const log::Event& event, Time time);
  void begins(Dest& dest);
  void follow(Dest& dest, const CcInput& input, double shown);
  void granted(Dest& dest, Time time);
  void fits(Dest& dest, const CcInput& input);
  static bool says(const Heard& heard, const Notified& notified);
  std::optional<Time> longer(const Heard& heard, const Notified& notified) const;
  bool give(Dest& dest, const Notified& notified, unsigned exchanges);
  Dest* find(uint32_t dest);

  RequestorWorld& world_;
  const bool shown_;
  std::size_t tries_ = 0;  ///< SACKs looked at, for what was told last
  std::map<uint32_t, Dest> dests_;
  std::map<uint32_t, Received> received_;  ///< by QP
};

}  // namespace mrc::ref
