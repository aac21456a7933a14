// SPDX-License-Identifier: Apache-2.0
/// Records as lines for people and as JSON for programs.
#pragma once

#include <string>
#include <string_view>

#include "log/record.hpp"
#include "wire/packet.hpp"

namespace mrc::log {

/// "device", "port", "frame", ...: of a kind, by its number in the file.
std::string_view kind_name(std::size_t kind);
const char* name_of(QpState state);  ///< "reset", "init", "rtr", "rts", "error"
const char* name_of(HostOp op);      ///< "read", "read_done", "write", "visible"
const char* name_of(Status status);  ///< "ok", "local_length", ...
const char* name_of(EventKind kind);
/// "port 3", "host", "verbs", "events", "all".
std::string source_name(uint8_t source);

/// "12.345" of a time in ps: nanoseconds with all three decimals.
std::string time_text(Time time);

/// What a record says, without its device and time: "sent on port 1: WRITE Only ...". One line of printable characters.
/// Frames are read with `wire`.
std::string to_text(const Record& record, const wire::WireConfig& wire = {});
/// One JSON object, one line; names of fields as in record.hpp, bytes in hexadecimal, addresses as text.
std::string to_json(const Record& record);

}  // namespace mrc::log
