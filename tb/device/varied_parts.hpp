// SPDX-License-Identifier: Apache-2.0
/// Inside of tb/device/varied_device.hpp: what a variant changes. The table is in variants.cpp, the device around
/// another one in varied_device.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "tb/device/varied_device.hpp"
#include "util/rng.hpp"
#include "wire/packet.hpp"

namespace mrc::tb {

/// What becomes of an output.
enum class Act : uint8_t {
  Keep,
  Edited,
  Drop,
  Twice,
  Move,  ///< of a frame: it leaves through the next port
  Hold,  ///< it comes behind the next one of its kind
  Late,  ///< it comes 3 us later, what follows does not wait for it
};

/// What a variant may look at and remember.
struct VariedState {
  Rng rng{0, "varied"};
  unsigned planes = 1;
  double share = 0.125;
  std::map<uint32_t, QpConfig> qps;             ///< by own number
  std::map<uint32_t, std::set<uint32_t>> sent;  ///< PSNs of data, by the peer's QP
  std::map<uint32_t, uint64_t> memory;          ///< of the variant, by QP

  bool sometimes() { return rng.chance(share); }
  /// The queue pair that sends this; null: none.
  const QpConfig* qp_of(const wire::Packet& p) const;
};

/// How a variant is made: each function is null or says what becomes of an output, which it may change.
/// What a device does not hear that its owner orders.
enum class Deaf : uint8_t { No, Deny, Allow, Window };

struct VariedRow {
  Variant variant;
  Act (*frame)(wire::Packet&, VariedState&) = nullptr;
  Act (*write)(HostWrite&, VariedState&) = nullptr;
  Act (*cqe)(log::Cqe&, VariedState&) = nullptr;
  Act (*event)(log::Event&, VariedState&) = nullptr;
  // Random delays up to so many ns: frames of data, of control, writes of memory, completions.
  unsigned data_ns = 0, control_ns = 0, write_ns = 0, cqe_ns = 0;
  unsigned again_ns = 0;          ///< as data_ns, of retransmissions; first transmissions do not wait for them
  bool again_pass = false;        ///< a retransmission may overtake another
  unsigned burst_ns = 0;          ///< frames leave at multiples of it
  bool writes_pass = false;       ///< a write may overtake another
  bool evs_mixed = false;         ///< entropy values in another order, each on its plane
  const char* setting = nullptr;  ///< of open()
  uint64_t value = 0;
  double share = 0.125;  ///< of what fits, that is changed
  Deaf deaf = Deaf::No;
  bool remembers = false;  ///< what waits inside is not lost with a reset
};
std::span<const VariedRow> varied_rows();

}  // namespace mrc::tb
