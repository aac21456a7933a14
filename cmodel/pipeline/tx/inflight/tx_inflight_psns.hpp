// SPDX-License-Identifier: Apache-2.0
/// Blocks of 16 PSNs: what tx_inflight keeps of a window in one row of its memories
/// (docs/design/blocks/tx/inflight/tx_inflight.md).
#pragma once

#include <cstdint>

#include "protocol/psn.hpp"
#include "protocol/step_timer.hpp"
#include "protocol/tx_window.hpp"

namespace mrc {

using BlockRow = PsnRow<uint16_t>;
using BlockAges = PsnAges<uint16_t>;

/// PSNs of a block.
inline constexpr unsigned kBlockPsns = kRowPsns<uint16_t>;

/// Number of the block that holds psn, 20 bits.
constexpr uint32_t psn_block(uint32_t psn) { return (psn & kPsnMask) / kBlockPsns; }

/// First PSN of a block.
constexpr uint32_t block_psn(uint32_t block) { return block * kBlockPsns & kPsnMask; }

/// (a - b) modulo 2^20: how many blocks a lies after b.
constexpr uint32_t block_dist(uint32_t a, uint32_t b) { return (a - b) & (kPsnMask / kBlockPsns); }

/// (block + n) modulo 2^20.
constexpr uint32_t block_add(uint32_t block, uint32_t n) { return (block + n) & (kPsnMask / kBlockPsns); }

/// True when a is one of lo .. hi, both included: blocks, modulo 2^20.
constexpr bool block_between(uint32_t a, uint32_t lo, uint32_t hi) { return block_dist(a, lo) <= block_dist(hi, lo); }

/// The blocks that the bitmap of a SACK and the window have in common.
struct SackBlocks {
  bool none = true;              ///< there are none
  uint32_t first = 0, last = 0;  ///< numbers of the first and the last of them
};

/// base: PSN of bit 0 of the bitmap; una, nxt: the window after the cumulative part of the SACK.
constexpr SackBlocks sack_blocks(uint32_t base, uint32_t una, uint32_t nxt) {
  const uint32_t newest = psn_add(nxt, -1), end = psn_add(base, kSackBits - 1);
  if (una == nxt || psn_before(newest, base) || psn_before(end, una)) return {};
  return {false, psn_block(psn_before(base, una) ? una : base), psn_block(psn_before(newest, end) ? newest : end)};
}

/// Number of the oldest block that a QP holds on to: that of the oldest packet out; of the newest packet when nothing
/// is out, since it may have to be sent again for the sake of its ACK.
constexpr uint32_t oldest_block(uint32_t una, uint32_t nxt) { return psn_block(una == nxt ? psn_add(una, -1) : una); }

}  // namespace mrc
