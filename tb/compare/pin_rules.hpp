// SPDX-License-Identifier: Apache-2.0
/// Bits of output pins that a device of a preset does not have: a C structure has room for more than the pins are wide.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/pins.h"
#include "gen/presets.hpp"
#include "gen/streams.hpp"

namespace mrc::tb {

/// Single-bit pins are 0 or 1, masks have a bit per plane, a beat has PortBytes bytes, a line HostBytes. What a valid
/// goes with is looked at when it is set.
class PinRules {
 public:
  explicit PinRules(const Preset& preset)
      : planes_((1u << preset.num_planes) - 1),
        keep_(static_cast<uint32_t>((uint64_t{1} << preset.port_bytes) - 1)),
        host_bytes_(preset.host_bytes) {}

  /// True: there are bits where no pin is.
  bool stray(const mrc_pins_out& o) const {
    unsigned wrong = kBit & (o.awready | o.wready | o.bvalid | o.arready | o.rvalid | o.wqe_ready | o.cqe_valid |
                             o.host_rd_valid | o.host_wr_valid);
    wrong |= ~planes_ & (o.tx_tvalid | o.tx_tlast);
    // Without branches: which planes are valid nobody can predict.
    wrong |= when(o.bvalid) & kResp & o.bresp;
    wrong |= when(o.rvalid) & kResp & o.rresp;
    wrong |= when(o.cqe_valid) & kCqe & o.cqe[MRC_CQE_WORDS - 1];
    wrong |= when(o.host_rd_valid) & kRdreq & o.host_rd[MRC_RDREQ_WORDS - 1];
    wrong |= when(o.host_wr_valid) & static_cast<unsigned>(o.host_wr_len > host_bytes_);
    for (unsigned p = 0; p < kMaxPlanes; ++p) wrong |= when(o.tx_tvalid & planes_ & 1u << p) & ~keep_ & o.tx_tkeep[p];
    return wrong != 0;
  }
  /// Takes them away: what is left can be used as it is.
  void mask(mrc_pins_out& o) const;

  struct Stray {
    std::string pin, text;    ///< "tx_tvalid", "pin tx_tvalid has bits beyond plane 1"
    const char* where;        ///< group of pins
    const char* block;        ///< that drives them
    uint64_t value, largest;  ///< as it is, and what it can be
  };
  std::vector<Stray> list(const mrc_pins_out& o) const;

 private:
  static unsigned when(unsigned valid) { return 0u - static_cast<unsigned>(valid != 0); }
  static constexpr unsigned kBit = ~1u, kResp = ~3u, kCqe = ~0u << Cqe::kBits % 32, kRdreq = ~0u << Rdreq::kBits % 32;
  static_assert(Cqe::kBits % 32 != 0 && Rdreq::kBits % 32 != 0);
  static_assert(MRC_CQE_WORDS == Cqe::kWords && MRC_RDREQ_WORDS == Rdreq::kWords);

  unsigned planes_;
  uint32_t keep_;
  unsigned host_bytes_;
};

}  // namespace mrc::tb
