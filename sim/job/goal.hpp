// SPDX-License-Identifier: Apache-2.0
/// GOAL, the text of LogGOPSim and ATLAHS, and its binary form (docs/guide/training.md): schedules of ranks from files,
/// and into them.
#pragma once

#include <functional>
#include <istream>
#include <ostream>
#include <string>

#include "sim/job/schedule.hpp"

namespace mrc::sim {

// What a trace may have, in both forms.
inline constexpr uint32_t kMostGoalRanks = 1u << 20;
inline constexpr uint64_t kMostGoalAmount = 1'000'000'000'000'000;  ///< ns or bytes
inline constexpr unsigned kMostGoalCpu = 63;
/// Steps end on a cpu where nothing else is computed.
inline constexpr uint8_t kGoalMarkCpu = 63;

/// Reads a text to its end. Of memory it takes what one rank's block needs at a time: what was read goes into a file
/// without a name, as the ranks need it. One that waits for a later one is put behind it. `poll` is called now and
/// then; what it throws ends this. Throws InputError with `file` and line: what is no GOAL, what we do not have (any
/// source, any tag), ranks that do not exist, labels that nobody has, operations that wait for each other; no room for
/// that file.
std::unique_ptr<Schedule> read_goal(std::istream& in, const std::string& file, const std::function<void()>& poll = {});

/// Writes a schedule: times in ns, the end of a step as a calc of no time.
void write_goal(const Schedule& schedule, std::ostream& out);

/// Whether a file has the binary form, by its first bytes. They are read again.
bool is_goal_binary(std::istream& in);

/// As read_goal(), of the binary form that LogGOPSim's txt2bin writes. Operations have the numbers of its nodes as
/// lines. Throws InputError with `file`, byte, rank and node.
std::unique_ptr<Schedule> read_goal_binary(std::istream& in, const std::string& file,
                                           const std::function<void()>& poll = {});

/// As write_goal(), in the binary form; each stream is read twice.
void write_goal_binary(const Schedule& schedule, std::ostream& out);

}  // namespace mrc::sim
