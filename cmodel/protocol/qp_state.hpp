// SPDX-License-Identifier: Apache-2.0
/// States of a QP and what each transition needs (docs/design/blocks/nic.md, "QP states"; mrc.md section 7).
#pragma once

#include <cstdint>

#include "gen/protocol.hpp"

namespace mrc {

/// Bit of an attribute in a set of them.
constexpr unsigned attr_bit(QpAttr a) { return 1u << static_cast<unsigned>(a); }

/// Attributes that setting a QP up to state `to` must carry.
constexpr unsigned qp_attrs_required(QpState to) {
  using enum QpAttr;
  switch (to) {
    case QpState::Init:
      return attr_bit(EvProfile) | attr_bit(CcProfile);
    case QpState::Rtr:
      return attr_bit(Path) | attr_bit(RqPsn) | attr_bit(MaxWimmDest) | attr_bit(MprDest) | attr_bit(Caps);
    case QpState::Rts:
      return attr_bit(SqPsn) | attr_bit(MaxWimm) | attr_bit(Mpr) | attr_bit(Timeout) | attr_bit(RetryCnt);
    default:
      return 0;
  }
}

/// True when setting it up may move a QP from `from` to `to`. INIT may be repeated; RESET is reached from everywhere.
constexpr bool qp_setup_allowed(QpState from, QpState to) {
  switch (to) {
    case QpState::Reset:
      return true;
    case QpState::Init:
      return from == QpState::Reset || from == QpState::Init;
    case QpState::Rtr:
      return from == QpState::Init;
    case QpState::Rts:
      return from == QpState::Rtr;
    default:
      return false;
  }
}

/// True when an order that carries no attributes may move a QP from `from` to `to`.
constexpr bool qp_state_allowed(QpState from, QpState to) {
  return to == QpState::Reset || (to == QpState::Error && from != QpState::Reset);
}

/// True when the NIC itself may put a QP in this state into Error: one that is set up, and only once.
constexpr bool qp_may_fail(QpState s) { return s == QpState::Init || s == QpState::Rtr || s == QpState::Rts; }

}  // namespace mrc
