// SPDX-License-Identifier: Apache-2.0
/// How often and how late a QP tries again before it fails (docs/design/blocks/tx/inflight/tx_inflight.md, "Retry";
/// mrc.md section 7; assumption A-35).
#pragma once

#include <algorithm>
#include <cstdint>

#include "gen/headers.hpp"

namespace mrc {

/// Of a QP: retry_linear and retry_exp of its QP_CTX row.
struct RetryLimits {
  uint8_t linear = 7;        ///< retries at the interval of `timeout`
  uint8_t exponential = 25;  ///< further retries, each after twice the interval before; kRetryForever: no limit
};

/// Exponential retries that never end.
inline constexpr unsigned kRetryForever = 25;

/// True when a QP that has tried again `retry` times without progress may not do so once more.
constexpr bool retry_exhausted(unsigned retry, RetryLimits l) {
  return retry >= unsigned{l.linear} + l.exponential && l.exponential != kRetryForever;
}

/// Interval of the timer in ticks after `retry` retries, with `timeout` of the QP_CTX row.
constexpr uint32_t retry_interval(unsigned timeout, unsigned retry, RetryLimits l) {
  const unsigned shift = retry > l.linear ? retry - l.linear : 0;
  return uint32_t{8} << std::min(timeout + shift, 27u);
}

/// The counter after one more retry: six bits, saturating.
constexpr uint8_t retry_next(unsigned retry) { return static_cast<uint8_t>(std::min(retry + 1, 63u)); }

/// True for the reasons of a NACK that count as a retry. A trimmed packet says that the path works: it does not.
constexpr bool nack_counts(wire::NackReason reason) {
  using wire::NackReason;
  switch (reason) {
    case NackReason::NoBitmap:
    case NackReason::NoPktBuffer:
    case NackReason::NoResource:
    case NackReason::PsnOorWindow:
      return true;
    default:
      return false;
  }
}

/// True for a NACK that counts as a retry, as a timeout does: one of these reasons, about the oldest packet not
/// reported. `missing`: psn is in the window and not reported; una: the window's first PSN; low: the lowest PSN not
/// reported when the timer last looked. An ACK may have moved una to a packet that a SACK had reported before: then
/// `low` is the one. NACKs of other packets are no retries, or a window full of refused packets would be hundreds.
constexpr bool nack_is_retry(wire::NackReason reason, uint32_t psn, bool missing, uint32_t una, uint32_t low) {
  return nack_counts(reason) && missing && (psn == una || psn == low);
}

}  // namespace mrc
