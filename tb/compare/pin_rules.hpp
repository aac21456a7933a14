// SPDX-License-Identifier: Apache-2.0
/// Bits of output pins that a device of a preset does not have: a C structure has room for more than the pins are wide.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/pins.h"
#include "gen/presets.hpp"
#include "gen/streams.hpp"
#include "tb/compare/pins.hpp"

namespace mrc::tb {

/// Single-bit pins are 0 or 1, masks have a bit per plane, a beat has PortBytes bytes, a line HostBytes; numbers are
/// those of planes and QPs that there are. What a valid goes with is looked at when it is set.
class PinRules {
 public:
  explicit PinRules(const Preset& preset)
      : planes_((1u << preset.num_planes) - 1),
        keep_(static_cast<uint32_t>((uint64_t{1} << preset.port_bytes) - 1)),
        host_bytes_(preset.host_bytes),
        num_planes_(preset.num_planes),
        num_qps_(preset.num_qps) {}

  /// True: there are bits where no pin is.
  bool stray(const mrc_pins_out& o) const {
    unsigned wrong = 0;
    // Without branches: which planes are valid nobody can predict.
    for_each_pin_out([&]<PinKind K, auto Pin, auto With, class S>(const PinOut<K, Pin, With, S>&) {
      if constexpr (K == PinKind::Bit || K == PinKind::Valids || K == PinKind::Mask) {
        wrong |= ~largest(K) & o.*Pin;
      } else if constexpr (K == PinKind::Code || K == PinKind::Flag) {
        wrong |= when(o.*With) & ~largest(K) & o.*Pin;
      } else if constexpr (K == PinKind::Words) {
        wrong |= when(o.*With) & beyond<S>() & (o.*Pin)[S::kWords - 1];
      } else if constexpr (K == PinKind::Length) {
        wrong |= when(o.*With) & static_cast<unsigned>(o.*Pin > host_bytes_);
      } else if constexpr (K == PinKind::Plane || K == PinKind::Queue) {
        wrong |= when(o.*With) & static_cast<unsigned>(o.*Pin > highest(K));
      } else if constexpr (K == PinKind::Keep) {
        for (unsigned p = 0; p < kMaxPlanes; ++p) wrong |= when(o.*With & planes_ & 1u << p) & ~keep_ & (o.*Pin)[p];
      }
    });
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
  static constexpr bool has_bits(PinKind kind) {
    return kind == PinKind::Bit || kind == PinKind::Code || kind == PinKind::Flag || kind == PinKind::Valids ||
           kind == PinKind::Mask;
  }
  /// All bits that pins of these kinds have.
  unsigned largest(PinKind kind) const {
    return kind == PinKind::Bit || kind == PinKind::Flag ? 1u : kind == PinKind::Code ? 3u : planes_;
  }
  /// The last plane or QP that there is.
  unsigned highest(PinKind kind) const { return (kind == PinKind::Plane ? num_planes_ : num_qps_) - 1; }
  /// Bits of the last word of a packed struct that are no bits of it.
  template <class Struct>
  static constexpr uint32_t beyond() {
    static_assert(Struct::kBits % 32 != 0);
    return ~0u << Struct::kBits % 32;
  }
  static_assert(MRC_CQE_WORDS == Cqe::kWords && MRC_RDREQ_WORDS == Rdreq::kWords);

  unsigned planes_;
  uint32_t keep_;
  unsigned host_bytes_, num_planes_, num_qps_;
};

}  // namespace mrc::tb
