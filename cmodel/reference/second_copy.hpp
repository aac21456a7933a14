// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "log/record.hpp"

namespace mrc::ref {

/// Of a packet's newest transmission: what tells whether the one after it may be the second of two copies.
struct SecondCopy {
  bool second = false;   ///< it was a second copy itself
  bool anywhere = true;  ///< the plane of before is not known: none was seen, or two copies went
  uint8_t before = 0;    ///< plane of the transmission before
  log::Time at = 0;      ///< its first byte
  log::Time waited = 0;  ///< time in which the host had owed something by then
};

}  // namespace mrc::ref
