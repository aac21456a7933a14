// SPDX-License-Identifier: Apache-2.0
/// QPNs of ours: their low bits name the QP's row, the upper ones are software's (docs/design/blocks/rx/rx_check.md).
#pragma once

#include <cstdint>

#include "gen/protocol.hpp"

namespace mrc {

inline constexpr uint32_t kQpnMask = 0xffffff;

/// The row that a QPN names. rows: a power of two.
constexpr uint32_t qpn_row(uint32_t qpn, unsigned rows) { return (qpn - kQpnBase) & (rows - 1); }

/// Upper bits that a QPN can have beside so many rows.
constexpr uint32_t qpn_high(uint32_t high, unsigned rows) { return high & (kQpnMask / rows); }

/// This is a QPN of the row that it names, with these upper bits.
constexpr bool qpn_is(uint32_t qpn, uint32_t high, unsigned rows) {
  return qpn >= kQpnBase && (qpn - kQpnBase) / rows == high;
}

/// QPN of a QP.
constexpr uint32_t qpn_of(unsigned qp, uint32_t high = 0, unsigned rows = 1) {
  return (qp + kQpnBase + high * rows) & kQpnMask;
}

/// A QP_CTX row for this state begins with a QPN of no upper bits.
constexpr bool qpn_anew(QpState to) { return to == QpState::Reset || to == QpState::Init; }

}  // namespace mrc
