// SPDX-License-Identifier: Apache-2.0
/// Words of docs/reference/device.md, by the number of what they stand for, and how texts are written.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "input/json.hpp"

namespace mrc::tb {

inline constexpr std::array kLineStates = {"reset", "init", "rtr", "rts", "error"};
inline constexpr std::array kLineStatus = {
    "ok",      "local_length", "wimm_overrun", "remote_invalid", "remote_access", "remote_operation",
    "retries", "flushed",      "fatal",        "other"};
inline constexpr std::array kLineEncaps = {"ipv6", "srv6", "srh", "ipv4"};
inline constexpr std::array kLineQueues = {"reads", "writes", "completions"};
inline constexpr std::array kLineAttributes = {"ev_profile",    "cc_profile", "path",    "rq_psn",
                                               "max_wimm_dest", "mpr_dest",   "caps",    "sq_psn",
                                               "max_wimm",      "mpr",        "timeout", "retry_cnt"};
inline constexpr std::array kLineRefused = {"no", "transition", "attributes", "value"};
inline constexpr std::array kLineEvents = {"take", "answer", "heard", "lost", "path", "cc", "timer", "window", "qp"};

/// With quotes.
inline std::string json_text(std::string_view text) { return input::Json(text).dump(); }

}  // namespace mrc::tb
