// SPDX-License-Identifier: Apache-2.0
/// The names of a table's rows, which completion offers.
#pragma once

#include <iterator>
#include <string>
#include <vector>

namespace mrc::cli {

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  names.reserve(std::size(table));
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

}  // namespace mrc::cli
