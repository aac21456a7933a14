// SPDX-License-Identifier: Apache-2.0
/// NSCC, the congestion controller of one destination, in fixed point: values in, values out, no clock. Bit for bit
/// what the hardware does (docs/design/blocks/cc/cc_nscc.md; mrc.md section 8).
#pragma once

#include <cstdint>

#include "gen/protocol.hpp"
#include "protocol/nscc_config.hpp"

namespace mrc {

/// What the controller did last; 4 bit.
enum class NsccMode : uint8_t {
  Off = 0,           ///< no controller
  Start = 1,         ///< nothing heard yet
  Hold = 2,          ///< the window was left alone
  Limited = 3,       ///< the responder's penalty is on
  Fair = 4,          ///< fair increase
  Proportional = 5,  ///< proportional increase
  Fast = 6,          ///< fast increase
  Decrease = 7,      ///< multiplicative decrease
  Ignore = 8,        ///< quick adapt waits until the old window is through
  QuickAdapt = 9,    ///< quick adapt has set the window
  Loss = 10,         ///< the window shrank by a lost or trimmed packet
};
const char* nscc_mode_name(NsccMode mode);

/// One event.
struct NsccEvent {
  CcEvent kind = CcEvent::Ack;
  uint32_t now = 0;        ///< ticks of 128 ns, wraps
  uint32_t bytes = 0;      ///< newly received, trimmed, lost or sent; nominal size; at most 2^28 - 1
  bool ecn = false;        ///< Ack: the packet came with a mark (m = SKIP_ONCE)
  bool rtt_valid = false;  ///< Ack, Nack: there is an unambiguous sample
  uint16_t rtt = 0;        ///< ticks
  uint8_t pen = 0;         ///< Ack: rcv_cwnd_pen, 7 bit
  bool restore = false;    ///< Ack: restore_cwnd
  uint8_t reason = 0;      ///< Nack: reason code
};

/// State of one controller. The comments give the register's format; UQi.f as in NsccWords.
struct NsccState {
  uint64_t cwnd = 0;             ///< UQ28.16, bytes
  uint64_t saved_cwnd = 0;       ///< UQ28.16, meaningful with saved
  uint64_t max_wnd = 0;          ///< UQ28.16
  uint64_t inc = 0;              ///< UQ56.8, bytes^2
  uint64_t avg = 0;              ///< UQ16.24, ticks
  int32_t inflight = 0;          ///< 29 bit signed, bytes; may be negative for a while
  uint32_t received = 0;         ///< 28 bit, bytes, saturating; since the last adjustment
  uint32_t achieved = 0;         ///< 28 bit, bytes, saturating; since the last quick adapt period began
  uint32_t bytes_ignored = 0;    ///< 28 bit, bytes, saturating
  uint32_t bytes_to_ignore = 0;  ///< 28 bit, bytes
  uint32_t fi_count = 0;         ///< 28 bit, bytes, saturating
  uint32_t base_rtt = 0;         ///< 16 bit, ticks, at least 1
  uint32_t last_adjust = 0;      ///< 32 bit, ticks
  uint32_t last_dec = 0;         ///< 32 bit, ticks
  uint32_t qa_start = 0;         ///< 32 bit, ticks: when the quick adapt period began
  uint32_t qa_len = 0;           ///< 17 bit, ticks: how long it is
  bool saved = false;
  bool increasing = false;  ///< fast increase is on
  bool trigger = false;     ///< a packet was trimmed
  bool qa_armed = false;    ///< qa_start is meaningful ("qa_end != 0")
  NsccMode mode = NsccMode::Off;
  bool operator==(const NsccState&) const = default;
};

/// What an event made the controller decide. The floating-point reference compares its own decisions with these.
struct NsccDecisions {
  bool adjusted = false;   ///< the adjustment ran
  bool eta_added = false;  ///< with eta
  bool decreased = false;  ///< avg > target and a base_rtt since the last decrease
  bool avg_over = false;   ///< avg > target, where it was asked
  bool avg_checked = false;
  bool count_over = false;  ///< fi_count > cwnd, where it was asked
  bool count_checked = false;
  bool gate_under = false;  ///< achieved < max_wnd >> qa_gate, where it was asked
  bool gate_checked = false;
  bool adapted = false;  ///< quick adapt has set the window
  bool sampled = false;  ///< the moving average took a sample, and quick adapt was asked
  bool limited = false;
  NsccMode mode = NsccMode::Off;  ///< as in the state after the event
};

/// A new controller at time `now`.
NsccState nscc_init(const NsccWords& words, uint32_t now);

/// One event, in place.
NsccDecisions nscc_step(NsccState& state, const NsccWords& words, const NsccEvent& event);

/// cwnd in whole bytes, as the sender uses it; 2^28 - 1 without controller.
uint32_t nscc_cwnd_bytes(const NsccState& state, const NsccWords& words);

/// True when a packet of this nominal size may be sent: inflight + packet <= cwnd.
bool nscc_can_send(const NsccState& state, const NsccWords& words, uint32_t packet);

/// The same of the bare numbers: inflight + packet <= cwnd, all in bytes.
bool nscc_fits(int32_t inflight, uint32_t packet, uint32_t cwnd_bytes);

/// What a burst asks for that begins with a packet of `size`. A grant of 0 means refused, and with CTRL.nominal a
/// packet of no bytes counts for none: it asks for 1, and as a retransmission it needs no leave
/// (docs/design/blocks/cc/cc_nscc.md).
constexpr uint32_t nscc_least(uint32_t size) { return size == 0 ? 1 : size; }
constexpr bool nscc_needs_leave(uint32_t size) { return size != 0; }

/// What a burst may take of a window.
struct NsccGrant {
  bool ok = false;     ///< its first packet may go
  uint16_t bytes = 0;  ///< so much may go; 0 if not ok
  bool last = false;   ///< little is left behind it: less than a packet, or than the window / 2^ar_shift
};
/// A burst of up to `bytes`, with a first packet of `min`, towards a destination with a controller.
NsccGrant nscc_grant(int32_t inflight, uint32_t cwnd_bytes, uint16_t min, uint16_t bytes, const NsccWords& words);

/// inflight + bytes in the register's format (29 bit signed, saturating).
int32_t nscc_inflight(int32_t inflight, int64_t bytes);

/// The iterative divider of the contract: floor(num / den) in `bits` bits, all ones when it does not fit or den is 0.
/// num has 96 bits: hi 32, lo 64.
uint64_t nscc_divide(unsigned __int128 num, uint64_t den, unsigned bits);

}  // namespace mrc
