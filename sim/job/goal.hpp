// SPDX-License-Identifier: Apache-2.0
/// GOAL, the text of LogGOPSim and ATLAHS (docs/guide/training.md): schedules of ranks from files, and into them.
#pragma once

#include <functional>
#include <istream>
#include <ostream>
#include <string>

#include "sim/job/schedule.hpp"

namespace mrc::sim {

/// Reads a text to its end. Of memory it takes what one rank's block needs at a time: what was read goes into a file
/// without a name, as the ranks need it. One that waits for a later one is put behind it. `poll` is called now and
/// then; what it throws ends this. Throws InputError with `file` and line: what is no GOAL, what we do not have (any
/// source, any tag), ranks that do not exist, labels that nobody has, operations that wait for each other; no room for
/// that file.
std::unique_ptr<Schedule> read_goal(std::istream& in, const std::string& file, const std::function<void()>& poll = {});

/// Writes a schedule: times in ns, the end of a step as a calc of no time.
void write_goal(const Schedule& schedule, std::ostream& out);

}  // namespace mrc::sim
