// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace mrc::log {

/// What stands for bytes that a log does not hold: equal bytes have equal digests. Never 0. FNV-1a over 8 bytes at a
/// time, the rest byte by byte; not for secrets.
uint64_t digest(std::span<const uint8_t> bytes);

}  // namespace mrc::log
