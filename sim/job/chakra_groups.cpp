// SPDX-License-Identifier: Apache-2.0
#include "sim/job/chakra_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "input/error.hpp"
#include "input/file.hpp"
#include "input/json.hpp"

namespace mrc::sim {
namespace chakra_groups {
namespace {

constexpr const char* kRemedy = "Write {\"name\": [0, 1, 2], ...}: docs/guide/training.md.";
constexpr input::FileKind kFile{"file of process groups", input::kJsonBytes, kRemedy};

/// Nothing: not a list of ranks.
std::optional<std::vector<uint32_t>> ranks_of(const input::Json& list) {
  if (!list.is_array()) return {};
  std::vector<uint32_t> ranks;
  for (const input::Json& item : list.items) {
    const auto rank = item.whole();
    if (!rank || *rank > ~uint32_t{0}) return {};
    ranks.push_back(static_cast<uint32_t>(*rank));
  }
  return ranks;
}

}  // namespace
}  // namespace chakra_groups

std::string ProcessGroups::add(const std::string& name, std::vector<uint32_t> ranks, bool own) {
  if (ranks.empty()) {
    ranks.resize(ranks_);
    std::iota(ranks.begin(), ranks.end(), 0u);
  }
  std::vector<uint32_t> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.back() >= ranks_) {
    return fmt::format("process group {} has rank {}, but ranks are 0 to {}", input::shown(name), sorted.back(),
                       ranks_ - 1);
  }
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    return fmt::format("process group {} has rank {} twice", input::shown(name), *twice);
  }
  std::map<std::string, ProcessGroup>& known = own ? own_ : all_;
  if (const auto old = known.find(name); old != known.end() && old->second.ranks != ranks) {
    return fmt::format("process group {} is there twice, with other ranks", input::shown(name));
  }
  const auto next = static_cast<uint32_t>(numbers_.size() + 1);  // 0: all ranks, without a name
  const uint32_t number = numbers_.try_emplace({name, ranks}, next).first->second;
  if (number > kMost) return fmt::format("more than {} process groups", kMost);
  known[name] = {number, std::move(ranks)};
  return {};
}

void ProcessGroups::read_file(const std::string& path) {
  const std::string text = input::read_text(path, chakra_groups::kFile);
  input::JsonReader reader(text, path);
  const auto document = reader.next();
  if (!document || !document->is_object()) {
    throw InputError(path + ": not an object of process groups.", chakra_groups::kRemedy);
  }
  for (const input::JsonMember& member : document->members) {
    const auto ranks = chakra_groups::ranks_of(member.value);
    const std::string wrong = ranks ? add(member.name, *ranks, false)
                                    : fmt::format("process group {} is no list of ranks", input::shown(member.name));
    if (!wrong.empty()) throw InputError(fmt::format("{}:{}: {}.", path, member.line, wrong), chakra_groups::kRemedy);
  }
}

std::string ProcessGroups::read_node(std::string_view values) {
  const size_t begin = values.find("[{"), end = values.rfind("}]");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
  const auto list = input::parse_json(values.substr(begin, end + 2 - begin));
  if (!list || !list->is_array()) return {};
  for (const input::Json& item : list->items) {
    const input::Json *name = item.find("pg_name"), *ranks = item.find("ranks");
    if (name == nullptr || ranks == nullptr) continue;
    const auto read = chakra_groups::ranks_of(*ranks);
    if (!read || name->text.empty()) return "has a process group whose ranks are no list";
    if (std::string wrong = add(name->text, *read, true); !wrong.empty()) return "says: " + wrong;
  }
  return {};
}

const ProcessGroup* ProcessGroups::find(const std::string& name) const {
  for (const auto* known : {&own_, &all_}) {
    if (const auto found = known->find(name); found != known->end()) return &found->second;
  }
  return nullptr;
}

}  // namespace mrc::sim
