// SPDX-License-Identifier: Apache-2.0
/// What the tests of the fast endpoint share.
#pragma once

#include <malloc.h>

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>

#include "gen/headers.hpp"
#include "protocol/ev_set.hpp"
#include "sim/nic/fast/endpoint_fast.hpp"
#include "sim/nic/roce/endpoint_roce.hpp"
#include "tests/sim/fast_net.hpp"

namespace mrc::test::endpoint_fast {

using namespace mrc::sim;
using wire::Opcode;

inline constexpr uint8_t kFirst = 0xC6, kMiddle = 0xC7, kLast = 0xC8, kOnly = 0xCA, kOnlyImm = 0xCB;
inline unsigned ev_index(const Packet& p, unsigned size = 64) {
  for (unsigned i = 0; i < size; ++i) {
    if (ev_of(i) == p.entropy) return i;
  }
  return ~0u;
}

}  // namespace mrc::test::endpoint_fast
