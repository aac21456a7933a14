// SPDX-License-Identifier: Apache-2.0
/// Lists of events for the congestion controller as CSV (docs/guide/nscc.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/nscc.hpp"
#include "wire/result.hpp"

namespace mrc {

/// One line of the list.
struct NsccLine {
  uint32_t line = 0;     ///< line in the file, 1 is the first
  uint64_t time_ns = 0;  ///< as written
  uint64_t ticks = 0;    ///< time_ns in whole ticks
  NsccEvent event;
};

/// Reads a list: a header line that names the columns in any order, then one event per line in order of time. Blank
/// lines and lines that start with # are skipped. Columns: time_ns, kind (ack, nack, loss, send) and bytes must be
/// there; ecn, rtt_ns (empty: no sample), penalty, restore, reason (name or number; default trimmed) may. A cell that
/// says something about another kind than its line's is refused, unless it is the default. Errors have line and column.
wire::Result<std::vector<NsccLine>> nscc_read_events(std::string_view text, const std::string& name);

const char* nscc_kind_name(CcEvent kind);

}  // namespace mrc
