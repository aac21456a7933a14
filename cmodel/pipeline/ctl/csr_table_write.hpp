// SPDX-License-Identifier: Apache-2.0
/// Which table writes csr refuses (docs/design/blocks/nic.md, "csr").
#pragma once

#include <array>
#include <cstdint>

#include "gen/csr.hpp"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "protocol/qp_state.hpp"

namespace mrc {

/// What becomes of a table write (CMD_STATUS).
struct CmdOutcome {
  CmdCode code = CmdCode::Ok;
  uint16_t detail = 0;
  bool operator==(const CmdOutcome&) const = default;
};

/// BadValue for the first attribute required by `to` whose value in the row is out of range, or Ok.
constexpr CmdOutcome judge_qp_values(QpState to, const csr::TblQpCtx& row, const Preset& p) {
  const auto bad = [](QpAttr a) { return CmdOutcome{CmdCode::BadValue, static_cast<uint16_t>(a)}; };
  const auto in_1_to = [](unsigned v, unsigned most) { return v >= 1 && v <= most; };
  switch (to) {
    case QpState::Init:
      if (row.profile >= p.num_profiles || row.backup >= p.evs_per_qp / p.num_planes) return bad(QpAttr::EvProfile);
      if (row.dest >= p.num_dests) return bad(QpAttr::CcProfile);
      break;
    case QpState::Rtr:
      if (row.mtu > 4) return bad(QpAttr::Path);
      if (row.max_wimm_dest > p.max_wimm) return bad(QpAttr::MaxWimmDest);
      if (!in_1_to(row.mpr_dest, p.max_mpr / 128)) return bad(QpAttr::MprDest);
      break;
    case QpState::Rts:
      if (row.max_wimm > p.max_wimm) return bad(QpAttr::MaxWimm);
      if (!in_1_to(row.mpr, p.max_mpr / 128)) return bad(QpAttr::Mpr);
      if (row.timeout > 24) return bad(QpAttr::Timeout);
      if (row.retry_exp > 25) return bad(QpAttr::RetryCnt);
      break;
    default:
      break;
  }
  return {};
}

/// A TBL_CMD of software: `table` and `index` as written, `data` = TBL_DATA0..15, `attrs` = QP_ATTR, `s` = state of QP
/// `index` (any value if there is none).
constexpr CmdOutcome judge_table_write(unsigned table, unsigned index, const std::array<uint32_t, 16>& data,
                                       unsigned attrs, QpState s, const Preset& p) {
  const CmdOutcome bad_index{CmdCode::BadIndex, 0};
  const CmdOutcome bad_transition{CmdCode::BadTransition, static_cast<uint16_t>(s)};
  const auto to = static_cast<QpState>(data[0] & 7u);
  switch (static_cast<CfgTable>(table)) {
    case CfgTable::QpCtx: {
      if (index >= p.num_qps) return bad_index;
      if (!qp_setup_allowed(s, to)) return bad_transition;
      const unsigned missing = qp_attrs_required(to) & ~attrs;
      if (missing != 0) return {CmdCode::MissingAttr, static_cast<uint16_t>(missing)};
      return judge_qp_values(to, csr::TblQpCtx::unpack(data.data()), p);
    }
    case CfgTable::QpState:
      if (index >= p.num_qps) return bad_index;
      return qp_state_allowed(s, to) ? CmdOutcome{} : bad_transition;
    case CfgTable::QpMpr:
    case CfgTable::EvState:
    case CfgTable::QpClass:
    case CfgTable::QpQpn:
      return index < p.num_qps ? CmdOutcome{} : bad_index;
    case CfgTable::Ev:
    case CfgTable::Mr:
    case CfgTable::CcProfile:
    case CfgTable::CcCtx:
    case CfgTable::EvGen:
    case CfgTable::PeerPorts:
      return {};
  }
  return bad_index;  // 12..15
}

}  // namespace mrc
