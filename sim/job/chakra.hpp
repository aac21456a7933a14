// SPDX-License-Identifier: Apache-2.0
/// Execution traces of Chakra (MLCommons): a file for each rank, of nodes in the wire format of protobuf
/// (docs/guide/training.md).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sim/job/schedule.hpp"

namespace mrc::sim {

/// Whether a trace is one, by its name: "job.0.et".
bool is_chakra(const std::string& path);

/// Reads the files of all ranks: `path` is rank 0's, "job.0.et", with the others beside it, from 1 on as far as there
/// are any. Of memory it takes what one rank needs at a time. `poll` is called now and then; what it throws ends this.
/// Throws InputError with file and node: what is no Chakra, what we do not have, nodes that wait for none that is there
/// or for themselves; no room on the disk (stored.hpp). groups_file: names process groups (chakra_groups.hpp) that the
/// traces do not name themselves; empty: none.
std::unique_ptr<Schedule> read_chakra(const std::string& path, const std::function<void()>& poll = {},
                                      const std::string& groups_file = {});

}  // namespace mrc::sim
