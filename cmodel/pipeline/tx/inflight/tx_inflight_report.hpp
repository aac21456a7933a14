// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pipeline/lib/cfg.hpp"
#include "pipeline/tx/inflight/tx_inflight_pkg.hpp"
#include "protocol/timestamp.hpp"
#include "util/check.hpp"

namespace mrc::inflight {

/// What is told to the blocks around it, where several operations say the same, and the counters' pulses. Whoever calls
/// has seen that the outputs are free. Twin of mrc_tx_inflight_report.
class Report {
 public:
  explicit Report(const Out& to) : out(to) {}

  /// An event for the QP's controller. Loads ccev.
  void event(const Qp& q, CcEvent kind, uint32_t bytes, uint8_t reason = 0) {
    MRC_CHECK(q.cc, "an event of a QP without a controller");
    out.ccev.load({.cc = q.dest, .kind = kind, .bytes = bytes, .reason = reason});
  }
  /// *Give back*: what the QP has in flight will not be heard of any more. Loads ccev.
  void give_back(Qp& q) {
    MRC_CHECK(q.cc || q.fly.bytes() == 0, "a QP without a controller has bytes in a flight");
    if (q.cc && q.fly.bytes() != 0) event(q, CcEvent::Nack, q.fly.take_all());
  }
  /// The QP has failed: its work requests complete with `status`, then Flushed. Loads upd and qperr.
  void failed(const Qp& q, QpIndex index, CqStatus status) {
    pulses_next.fail = true;
    out.upd.load({.qp = index,
                  .una = q.una,
                  .ack = true,
                  .msn = q.msn_done,
                  .syndrome = static_cast<uint8_t>(status),
                  .mpr = 0});
    out.qperr.load({.qp = index, .status = status});
  }
  /// A packet gives a round-trip sample.
  static bool rtt_valid(const Qp& q, bool rtx, const CsrOut& csr) { return q.ts && (!rtx || csr.rtt_rtx); }
  /// The sample.
  static uint16_t rtt(const Now& now, const CsrOut& csr) { return ticks_since(now.ctl.ts, now.tick, csr.tsr_us); }
  /// How long the packet and its answer took, by its time stamp.
  static uint32_t took(const Now& now, const CsrOut& csr) { return round_trip(now.ctl.ts, now.tick, csr.tsr_us); }

  void clock() {
    pulses = pulses_next;
    pulses_next = {};
  }

  const Out out;
  Pulses pulses, pulses_next;
};

}  // namespace mrc::inflight
