// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "input/csv.hpp"

namespace mrc::sim {
namespace {

enum Column : size_t { kId, kStart, kFrom, kTo, kBytes, kAfter };
constexpr input::CsvColumn kColumns[] = {
    {"id", false, "a name of its own"}, {"start_us", false, "when it begins, microseconds"},
    {"from", true, "sender"},           {"to", true, "receiver"},
    {"bytes", true, "of the flow"},     {"after", false, "flows that must have arrived before"},
};
constexpr uint64_t kMaxBytes = 1'000'000'000'000'000;

/// A name in column after.
struct Wait {
  uint32_t flow;
  std::string_view id;
  uint32_t line, column;
};

NodeId nic(const input::Csv& csv, size_t column, const Topology& topology) {
  const NodeId node = topology.find_node(csv.cell(column));
  if (node >= topology.hosts()) {
    csv.refuse(column, fmt::format("{} is no NIC of this topology", input::shown(csv.cell(column))),
               fmt::format("NICs are nic0 to nic{}.", topology.hosts() - 1));
  }
  return node;
}

/// Flows that wait for each other would never begin.
void refuse_loops(const std::vector<TraceFlow>& flows, const std::string& file) {
  std::vector<size_t> left(flows.size());
  std::vector<std::vector<uint32_t>> next(flows.size());
  std::vector<uint32_t> ready;
  for (uint32_t f = 0; f < flows.size(); ++f) {
    left[f] = flows[f].after.size();
    if (left[f] == 0) ready.push_back(f);
    for (const uint32_t before : flows[f].after) next[before].push_back(f);
  }
  size_t begun = 0;
  while (!ready.empty()) {
    const uint32_t f = ready.back();
    ready.pop_back();
    ++begun;
    for (const uint32_t n : next[f]) {
      if (--left[n] == 0) ready.push_back(n);
    }
  }
  if (begun == flows.size()) return;
  const auto stuck = std::find_if(left.begin(), left.end(), [](size_t n) { return n > 0; }) - left.begin();
  throw InputError(fmt::format("{}: this flow waits for itself, directly or through others: it would never begin.",
                               input::place(file, flows[static_cast<size_t>(stuck)].line, 1)),
                   "Remove one of the dependencies in column after.");
}

}  // namespace

std::vector<TraceFlow> parse_trace(std::string_view text, const std::string& file, const Topology& topology) {
  input::Csv csv(text, file, kColumns);
  std::vector<TraceFlow> flows;
  std::unordered_map<std::string_view, uint32_t> ids;
  std::vector<Wait> waits;
  while (csv.next()) {
    const auto index = static_cast<uint32_t>(flows.size());
    TraceFlow& f = flows.emplace_back();
    f.line = csv.line();
    f.start_us = csv.number(kStart, {0, 1e9}, 0);
    f.bytes = csv.whole(kBytes, 1, kMaxBytes);
    f.from = nic(csv, kFrom, topology);
    f.to = nic(csv, kTo, topology);
    if (f.from == f.to) {
      csv.refuse(kTo, fmt::format("a flow from {} to itself", csv.cell(kFrom)), "Choose another receiver.");
    }
    const std::string_view id = csv.cell(kId);
    if (!id.empty() && !ids.emplace(id, index).second) {
      csv.refuse(kId, fmt::format("id {} is there twice", input::shown(id)), "Give each flow an id of its own.");
    }
    for (std::string_view rest = csv.cell(kAfter); !rest.empty();) {
      const size_t end = std::min(rest.find(';'), rest.size());
      if (end > 0) waits.push_back({index, rest.substr(0, end), csv.line(), csv.literal(kAfter).column});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  if (flows.empty()) {
    throw InputError(file + ": the trace has no flows.", "Write a line for each below the names of the columns.");
  }
  for (const Wait& w : waits) {
    const auto found = ids.find(w.id);
    if (found == ids.end()) {
      throw InputError(fmt::format("{}: after names {}, which is no flow.", input::place(file, w.line, w.column),
                                   input::shown(w.id)),
                       "Name ids of other lines, with ; between them.", w.line, w.column);
    }
    flows[w.flow].after.push_back(found->second);
  }
  refuse_loops(flows, file);
  return flows;
}

}  // namespace mrc::sim
