// SPDX-License-Identifier: Apache-2.0
/// Clock cycles that cc_nscc takes for an event (docs/design/blocks/cc/cc_nscc.md, "Time an event takes").
#pragma once

#include "protocol/nscc.hpp"

namespace mrc {

/// Cycles of a state with a product.
inline constexpr unsigned kNsccProductCycles = 3;
/// Cycles of the divisions: of a decrease, of the adjustment.
inline constexpr unsigned kNsccMdDivCycles = 14, kNsccAdjDivCycles = 22;

/// Cycles between the states Count and Store, for a destination with a controller. base_fell: the event has lowered
/// base_rtt.
constexpr unsigned nscc_work_cycles(const NsccEvent& e, const NsccDecisions& d, bool base_fell) {
  if (e.kind == CcEvent::Loss) return 0;
  unsigned cycles = 0;
  if (e.kind == CcEvent::Ack) {
    if (e.pen != 0) cycles += kNsccProductCycles;  // Pen
    if (!e.rtt_valid) return cycles;
  }
  cycles += 1;                                  // Rtt
  if (base_fell) cycles += kNsccProductCycles;  // Wnd
  if (!d.sampled) return cycles;
  cycles += kNsccProductCycles + 1;  // Avg, Qa
  if (e.kind == CcEvent::Nack || d.mode == NsccMode::Ignore || d.mode == NsccMode::QuickAdapt) return cycles;
  cycles += 2;  // Choose, Due
  if (d.mode == NsccMode::Fair || d.mode == NsccMode::Fast) cycles += kNsccProductCycles;
  if (d.mode == NsccMode::Proportional) cycles += 2 * kNsccProductCycles;                 // Gain, Gain2
  if (d.mode == NsccMode::Decrease) cycles += kNsccMdDivCycles + 2 * kNsccProductCycles;  // MdDiv, MdCut, MdMul
  if (d.adjusted) cycles += kNsccAdjDivCycles + 1;                                        // AdjDiv, Adj
  return cycles;
}

/// Cycles from one event to the next, the states Idle, Count and Store among them.
constexpr unsigned nscc_cycles(const NsccEvent& e, const NsccDecisions& d, bool base_fell) {
  return d.mode == NsccMode::Off ? 2 : nscc_work_cycles(e, d, base_fell) + 3;
}

}  // namespace mrc
