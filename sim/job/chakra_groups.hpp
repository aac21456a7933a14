// SPDX-License-Identifier: Apache-2.0
/// Process groups of Chakra's execution traces (docs/guide/training.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mrc::sim {

/// Ranks that do collectives together.
struct ProcessGroup {
  uint32_t number = 0;          ///< the same in all ranks' files
  std::vector<uint32_t> ranks;  ///< in the group's order
};

/// Groups that a rank knows, by name; and, of all ranks, which are the same: those of one name with the same ranks.
class ProcessGroups {
 public:
  static constexpr uint32_t kMost = 4094;  ///< different ones

  explicit ProcessGroups(uint32_t ranks) : ranks_(ranks) {}
  /// Another rank's file begins: what is known by `read_file` stays, what its nodes say is forgotten.
  void begin_rank() { own_.clear(); }
  /// A file of JSON: {"name": [ranks], ...}, as ASTRA-sim takes it. Throws InputError with file and line.
  void read_file(const std::string& path);
  /// What a metadata node of PyTorch says: a list of objects with pg_name and ranks, perhaps as an item of a list of
  /// Python; no ranks: all. Gives what is wrong, a sentence without full stop, or "". Of anything else: nothing.
  std::string read_node(std::string_view values);
  /// Null: nobody has named it.
  const ProcessGroup* find(const std::string& name) const;

 private:
  std::string add(const std::string& name, std::vector<uint32_t> ranks, bool own);

  uint32_t ranks_;
  std::map<std::string, ProcessGroup> own_, all_;
  std::map<std::pair<std::string, std::vector<uint32_t>>, uint32_t> numbers_;
};

}  // namespace mrc::sim
