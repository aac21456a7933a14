// SPDX-License-Identifier: Apache-2.0
/// What TxInflight and its parts share: states, rows of the memories, what is known of a QP. Contract:
/// docs/design/blocks/tx/inflight/tx_inflight.md.
#pragma once

#include <array>
#include <cstdint>

#include "gen/nic_pulses.hpp"
#include "gen/streams.hpp"
#include "pipeline/lib/stream.hpp"
#include "pipeline/tx/inflight/tx_inflight_psns.hpp"
#include "protocol/flight.hpp"
#include "protocol/overdue.hpp"
#include "protocol/retry.hpp"
#include "protocol/silence.hpp"
#include "protocol/step_timer.hpp"
#include "protocol/tx_window.hpp"

namespace mrc::inflight {

/// Streams in.
struct In {
  Stream<Rec>& rec;     ///< from tx_path
  Stream<Ctl>& ctl;     ///< from rx_check
  Stream<Ccans>& rans;  ///< from cc_nscc, to rtxreq
};

/// Streams out.
struct Out {
  Stream<Retx>& retx;      ///< to tx_segment
  Stream<Upd>& upd;        ///< to tx_segment
  Stream<Fb>& fb;          ///< to tx_path
  Stream<Pres>& pres;      ///< to tx_probe
  Stream<Ccev>& ccev;      ///< to cc_nscc
  Stream<Ccreq>& rtxreq;   ///< to cc_nscc
  Stream<Okev>& okev;      ///< to ack_gen
  Stream<Qperr>& qperr;    ///< to csr
  Stream<Stateq>& stateq;  ///< to ack_gen
};

/// Registers rtx_inc_q, rto_inc_q, fail_inc_q, state_inc_q (counters) and freed_q (to tx_segment: a block is free
/// again).
struct Pulses : TxInflightPulses {
  bool freed = false;
};

/// State of the main machine.
enum class State : uint8_t {
  Idle,
  Rec,
  Reclaim,
  Ctl0,
  Ctl1,
  Row,
  Done,
  Same0,
  Same1,
  Ack,
  Retx0,
  Scan,
  Retx1,
  RetxW,
  Walk0,
  Walk,
  Notified0,
  Notified,
  Seek,
  Port0,
  Port1,
  Port2,
  Port3
};

/// What Record does in a cycle.
enum class Recording : uint8_t { No, Begin, Go };

/// Row of `win`.
struct WinBlock {
  BlockRow psns;
  BlockAges ages;
};

/// Row of `sent`: ticks modulo 2^12.
using Stamps = std::array<uint16_t, kBlockPsns>;

/// Row of `recs`.
struct Sent {
  uint16_t msn = 0;
  PoolRow row = 0;
  uint16_t ev_idx = 0;
  uint32_t idx = 0;
  uint16_t size = 0;
  bool rtx = false;
};

/// What is known of a QP.
struct Qp {
  uint32_t una = 0, nxt = 0, hi = 0;
  uint16_t msn_done = 0, msn_sent = 0;
  uint32_t rtx_lo = 0;
  bool live = false, fresh = false, held = false, kept = false, armed = false, rtx = false, inq = false, dup = false;
  bool stays = false;   ///< what is lost may still be in flight
  uint32_t base = 0;    ///< number of the first block held
  unsigned newest = 0;  ///< pool's number of the block of nxt - 1
  uint32_t start = 0;   ///< tick of the timer's last step
  StepMarks marks;
  uint32_t low = 0;  ///< lowest PSN not reported at the end of the timer's last walk
  uint8_t retry = 0;
  Flight fly;
  uint8_t credit = 0;  ///< of takes that fell short
  Owed owed;
  uint32_t rcvdl = 0;   ///< rcvd_bytes of the newest SACK
  uint8_t mprv = 0;     ///< newest MPR told
  uint32_t trip = 0;    ///< round trip of late (protocol/overdue.hpp)
  bool trims = false;   ///< that is of a trim
  uint16_t last = 0;    ///< stamp of the newest packet
  uint8_t queries = 0;  ///< questions (protocol/silence.hpp)
  uint16_t since = 0;   ///< stamp of the newest one
  // From QP_CTX.
  uint8_t timeout = 0, mtu = 0;
  uint16_t dest = 0;
  RetryLimits limits;
  bool cc = false, ts = false, dyn_mpr = false;

  bool outstanding() const { return una != nxt || msn_done != msn_sent; }
  /// Something is open, or bytes are in the flight.
  bool busy() const { return live && (outstanding() || fly.bytes() != 0); }
  /// Ticks of a step of the timer.
  uint32_t step() const { return retry_interval(timeout, retry, limits) / kTimerSteps; }
  /// True when the record of a PSN is there.
  bool owned(uint32_t psn) const {
    const uint32_t first = block_psn(base);
    return held && psn_dist(psn, first) < psn_dist(nxt, first);
  }
  /// *restart*
  void restart(uint32_t tick) {
    start = tick;
    marks.restart(nxt);
  }
  /// *Progress*
  void progress(uint32_t tick) {
    retry = 0;
    restart(tick);
  }
};

/// How long a QP keeps quiet.
struct Quiet {
  uint32_t pause = 0;  ///< ticks before it asks for its peer's state
  bool first = false;  ///< it has not asked
};

/// What the main machine keeps from one state to the next.
struct Now {
  State state = State::Idle;
  uint32_t tick = 0;     ///< of this cycle
  unsigned port_up = 0;  ///< of this cycle
  QpIndex qp = 0;        ///< of a retransmission, a walk, a reclaim, a look at what a port reports
  Rec rec{};
  Ctl ctl{};
  uint32_t block = 0;  ///< number of the block that is looked at
  uint32_t lim = 0;    ///< nxt when the operation began: PSNs that have a row for sure
  uint32_t took = 0;   ///< round trip of a SACK or NACK
  bool leave = false;  ///< what leave_qp has lost leaves the flight
  QpIndex leave_qp = 0;
  uint32_t leave_at = 0;  ///< the search goes on from here
};

}  // namespace mrc::inflight
