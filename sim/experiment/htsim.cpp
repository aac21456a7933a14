// SPDX-License-Identifier: Apache-2.0
#include "sim/experiment/htsim.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "util/round.hpp"

namespace mrc::sim {
namespace {

constexpr uint64_t kMostBytes = 0x7fff'ffff;  // an int of htsim's
constexpr const char* kLogRemedy =
    "Give what htsim_uec printed for the matrix of this scenario and seed (mrc fabric --matrix).";

/// The words of a line, one after the other.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next() {
    const size_t begin = rest_.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    rest_.remove_prefix(begin);
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t\r"));
    rest_.remove_prefix(word.size());
    return word;
  }

 private:
  std::string_view rest_;
};

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return {};
  return value;
}

std::optional<Time> microseconds(std::string_view text) {
  const auto us = number<double>(text);
  if (!us || !std::isfinite(*us) || *us < 0 || *us > 1e12) return {};
  return static_cast<Time>(nearest(*us * static_cast<double>(kUs)));
}

struct Line {
  std::string_view name;  // Uec_<from>_<to>
  uint64_t id = 0;
  bool ends = false;
  Time time = 0;
};
/// None: a line of another kind.
std::optional<Line> read_line(std::string_view text) {
  Words words(text);
  Line line;
  if (words.next() != "Flow") return {};
  line.name = words.next();
  if (words.next() != "flowId") return {};
  const auto id = number<uint64_t>(words.next());
  if (!id) return {};
  line.id = *id;
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word != "starting" && word != "finished") continue;
    line.ends = word == "finished";
    if (words.next() != "at") return {};
    const auto time = microseconds(words.next());
    if (!time) return {};
    line.time = *time;
    return line;
  }
  return {};
}

}  // namespace

std::string htsim_matrix(const Topology& topology, const Traffic& traffic) {
  const auto refuse = [&](uint32_t group, const std::string& what, const std::string& remedy) {
    throw InputError(fmt::format("{}: htsim's matrix cannot say {}.", traffic.groups[group].source.at("pattern"), what),
                     remedy);
  };
  std::vector<uint32_t> before(traffic.flows.size(), kNone);
  size_t triggers = 0;
  for (uint32_t i = 0; i < traffic.flows.size(); ++i) {
    const Flow& f = traffic.flows[i];
    if (f.bytes > kMostBytes) {
      refuse(f.group, fmt::format("a flow of {} bytes", f.bytes), "Its largest has 2147483647.");
    }
    if (f.waits > 1) refuse(f.group, "a flow that waits for several", "Each may wait for one.");
    for (const uint32_t n : f.next) before[n] = i;
    triggers += f.next.empty() ? 0 : 1;
  }
  std::string out = fmt::format("Nodes {}\nConnections {}\n", topology.hosts(), traffic.flows.size());
  if (triggers > 0) out += fmt::format("Triggers {}\n", triggers);
  for (uint32_t i = 0; i < traffic.flows.size(); ++i) {
    const Flow& f = traffic.flows[i];
    out += fmt::format("{}->{} id {}", f.from, f.to, i + 1);
    if (before[i] == kNone) {
      out += fmt::format(" start {}", f.start);
    } else {
      out += fmt::format(" trigger {}", before[i] + 1);
    }
    out += fmt::format(" size {}", f.bytes);
    // htsim_uec knows recv_done_trigger, but its sinks never fire it.
    if (!f.next.empty()) out += fmt::format(" send_done_trigger {}", i + 1);
    out += '\n';
  }
  for (uint32_t i = 0; i < traffic.flows.size(); ++i) {
    if (!traffic.flows[i].next.empty()) out += fmt::format("trigger id {} oneshot\n", i + 1);
  }
  return out;
}

std::vector<HtsimFlow> read_htsim(std::string_view log, const std::string& file, const Traffic& traffic) {
  std::vector<HtsimFlow> flows(traffic.flows.size());
  size_t seen = 0, number_of_line = 0;
  while (!log.empty()) {
    const size_t end = log.find('\n');
    const std::string_view text = log.substr(0, end);
    log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
    ++number_of_line;
    const std::optional<Line> line = read_line(text);
    if (!line) continue;
    const auto refuse = [&](const std::string& what) {
      throw InputError(fmt::format("{}:{}: {}.", file, number_of_line, what), kLogRemedy);
    };
    if (line->id == 0 || line->id > flows.size()) {
      refuse(fmt::format("flow {} is not of this matrix, which has 1 to {}", line->id, flows.size()));
    }
    const Flow& f = traffic.flows[line->id - 1];
    const std::string name = fmt::format("Uec_{}_{}", f.from, f.to);
    if (line->name != name) refuse(fmt::format("flow {} is not {}, as in this matrix", line->id, name));
    Time& time = line->ends ? flows[line->id - 1].done : flows[line->id - 1].begun;
    if (time != kNever) refuse(fmt::format("flow {} {} twice", line->id, line->ends ? "ends" : "begins"));
    time = line->time;
    ++seen;
  }
  if (seen == 0) throw InputError(fmt::format("{}: no flow begins or ends in it.", file), kLogRemedy);
  for (size_t i = 0; i < flows.size(); ++i) {
    // Older ones print ends only.
    if (flows[i].done == kNever) continue;
    if (flows[i].begun == kNever && traffic.flows[i].waits == 0) flows[i].begun = traffic.flows[i].start;
    if (flows[i].begun != kNever && flows[i].begun > flows[i].done) {
      throw InputError(fmt::format("{}: flow {} ends before it begins.", file, i + 1), kLogRemedy);
    }
  }
  return flows;
}

}  // namespace mrc::sim
