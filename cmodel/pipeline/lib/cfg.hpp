// SPDX-License-Identifier: Apache-2.0
/// What csr broadcasts to the blocks: table writes and register values.
#pragma once

#include <array>
#include <cstdint>

#include "gen/csr_values.hpp"  // CsrOut: what blocks see of the registers
#include "gen/streams.hpp"
#include "util/check.hpp"

namespace mrc {

/// A table write (docs/design/blocks/conventions.md, "Configuration"). Stable while req is true.
struct CfgBus {
  bool req = false;
  uint8_t table = 0;  ///< CfgTable
  QpIndex index = 0;
  std::array<uint32_t, 16> data{};  ///< word 0 holds bits 31:0

  bool is(CfgTable t) const { return table == static_cast<uint8_t>(t); }
};

/// Register cfg_ack_q of a block. In step(): begin(cfg) once, pending(cfg) to ask, done() to acknowledge.
class CfgAck {
 public:
  bool value() const { return ack_; }
  /// True when the block has a table write to perform.
  bool pending(const CfgBus& cfg) const { return cfg.req && !ack_; }
  /// Rule for every state: without request the acknowledgement falls.
  void begin(const CfgBus& cfg) { next_ = ack_ && cfg.req; }
  void done() {
    MRC_CHECK(!ack_, "a table write is acknowledged twice");
    next_ = true;
  }
  void clock() { ack_ = next_; }

 private:
  bool ack_ = false, next_ = false;
};

}  // namespace mrc
