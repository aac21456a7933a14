// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "log/reader.hpp"
#include "log/record.hpp"

namespace mrc::log {

/// Several logs as one, in the order of their times as far as each log has it: the next record is that of the log whose
/// next one is oldest. A device of the same name and profile in two logs is one device, of which each has a part; with
/// `apart` every log's devices are others. An End comes once, when all logs that know the device are over. False: a log
/// could not be read to its end, its error() says why; nothing comes after that.
bool merge(std::span<Reader* const> logs, bool apart, const std::function<void(const Record&)>& sink);

}  // namespace mrc::log
