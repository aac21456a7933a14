// SPDX-License-Identifier: Apache-2.0
/// For each rule of history the change of a right life that breaks it.
#pragma once

#include <map>
#include <vector>

#include "reference/run.hpp"
#include "tests/reference/life.hpp"

namespace mrc::test {

struct Breaking {
  std::vector<Change> changes;
  bool captured = false;         ///< breaks only what a capture tells
  bool seen_in_capture = false;  ///< a capture at the ports, with the NIC's profile, shows it
};

const std::map<ref::Rule, Breaking>& breaking();

}  // namespace mrc::test
