// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <vector>

#include "tests/reference/life.hpp"

namespace mrc::test {

/// The frames of a life as a capture at the ports of its NIC.
void write_capture(std::ostream& out, const std::vector<Happening>& story);

}  // namespace mrc::test
