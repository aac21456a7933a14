// SPDX-License-Identifier: Apache-2.0
#include "tb/compare/pin_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace mrc::tb {
void PinRules::mask(mrc_pins_out& o) const {
  for_each_pin_out([&]<PinKind K, auto Pin, auto With, class S>(const PinOut<K, Pin, With, S>&) {
    if constexpr (K == PinKind::Words) {
      (o.*Pin)[S::kWords - 1] &= ~beyond<S>();
    } else if constexpr (K == PinKind::Length) {
      o.*Pin = static_cast<uint8_t>(std::min<unsigned>(o.*Pin, host_bytes_));
    } else if constexpr (K == PinKind::Plane || K == PinKind::Queue) {
      o.*Pin = static_cast<std::remove_reference_t<decltype(o.*Pin)>>(std::min<unsigned>(o.*Pin, highest(K)));
    } else if constexpr (K == PinKind::Keep) {
      for (uint32_t& keep : o.*Pin) keep &= keep_;
    } else if constexpr (has_bits(K)) {
      o.*Pin = static_cast<uint8_t>(o.*Pin & largest(K));
    }
  });
}

std::vector<PinRules::Stray> PinRules::list(const mrc_pins_out& o) const {
  std::vector<Stray> found;
  const auto look = [&](const std::string& name, const auto& pin, const std::string& last, uint64_t value,
                        uint64_t largest) {
    if ((value & ~largest) == 0) return;
    found.push_back({name, fmt::format("pin {} has bits beyond {}", name, last), pin.group, pin.block, value, largest});
  };
  const auto plane = fmt::format("plane {}", std::bit_width(planes_) - 1);
  const auto byte = fmt::format("byte {}", std::bit_width(keep_) - 1);
  for_each_pin_out([&]<PinKind K, auto Pin, auto With, class S>(const PinOut<K, Pin, With, S>& pin) {
    const auto& value = o.*Pin;
    if constexpr (K == PinKind::Bit) {
      look(pin.name, pin, "bit 0", value, 1);
    } else if constexpr (K == PinKind::Valids || K == PinKind::Mask) {
      look(pin.name, pin, plane, value, planes_);
    } else if constexpr (K == PinKind::Keep) {
      for (unsigned p = 0; planes_ >> p != 0; ++p) {
        if (o.*With >> p & 1) look(fmt::format("{}[{}]", pin.name, p), pin, byte, value[p], keep_);
      }
    } else {
      if (!(o.*With)) return;
      if constexpr (K == PinKind::Code) {
        look(pin.name, pin, "bit 1", value, 3);
      } else if constexpr (K == PinKind::Flag) {
        look(pin.name, pin, "bit 0", value, 1);
      } else if constexpr (K == PinKind::Plane || K == PinKind::Queue) {
        if (value > highest(K)) {
          found.push_back({pin.name,
                           fmt::format("pin {} names {} {}, there are {}", pin.name,
                                       K == PinKind::Plane ? "plane" : "QP", value, highest(K) + 1),
                           pin.group, pin.block, value, highest(K)});
        }
      } else if constexpr (K == PinKind::Words) {
        look(pin.name, pin, fmt::format("bit {}", S::kBits - 1), value[S::kWords - 1], uint32_t{~beyond<S>()});
      } else if constexpr (K == PinKind::Length) {
        if (value > host_bytes_) {
          found.push_back({pin.name, fmt::format("pin {} says {} bytes, a line has {}", pin.name, value, host_bytes_),
                           pin.group, pin.block, value, host_bytes_});
        }
      }
    }
  });
  return found;
}

}  // namespace mrc::tb
